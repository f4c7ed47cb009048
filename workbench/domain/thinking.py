"""The thinking of a model before its answer, and the answer.

A thought is told by its marks: a pair around it (`<think>` … `</think>`), the channels of harmony,
or the phrases of Granite 3. Which families write which marks was looked up in the reasoning parsers
of vLLM. What is inside is stored and never read; an output that ends inside has no answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

BEGIN, END = "⟦thinking⟧", "⟦/thinking⟧"
"around a thought in an output that is stored, whatever the model's own marks are"
REFUSED = "⟦refusal⟧"
"begins the answer of a model that refused in a field of its own, whatever its words are"
_SPELLED = "⟦/thinking ⟧"
"stands for the end in a thought that has it in its text"

TAG = r"(?:\w+[:|])?(?:think|thinking|thought|reasoning|scratchpad|reflection|analysis)"
"""`<think>` (DeepSeek, Qwen, GLM, SmolLM3), `<seed:think>` (Seed-OSS), `<mm:think>` (MiniMax),
`<thought>` (EXAONE Deep), `<reflection>` (Reflection 70B); `<scratchpad>` and `<analysis>` are
asked for by prompts
"""
PAIRS = (
    ("[THINK]", "[/THINK]"),  # Magistral
    ("◁think▷", "◁/think▷"),  # Kimi-VL
    ("<|channel>", "<channel|>"),  # Gemma 4
    ("<unused94>", "<unused95>"),  # MedGemma
    ("<|inner_prefix|>", "<|inner_suffix|>"),  # Apertus
    ("<|START_THINKING|>", "<|END_THINKING|>"),  # Command A
    ("<|begin_of_thought|>", "<|end_of_thought|>"),  # OpenThinker, Sky-T1
)
CHANNEL, MESSAGE, FINAL = "<|channel|>", "<|message|>", "final"
"of harmony (gpt-oss): what stands in other channels than `final` is no answer"
HARMONY = (CHANNEL, MESSAGE, "<|start|>", "<|end|>", "<|return|>", "<|call|>", "<|constrain|>")
"the tokens that are part of it"

Pair = tuple[str, str]

_OPENING = re.compile(r"\s*(?:analysis(?:[A-Z]|assistantfinal)|Here(?:'s| is) my thought)")
_BODY = re.compile(
    r"<\|channel\|>\s*(\w+)[^<]*(?:<\|constrain\|>[^<]*)?<\|message\|>"
    r"(.*?)(?:(?=<\|(?:end|return|call|start|channel)\|>)|\Z)",
    re.DOTALL,
)
_STRIPPED = re.compile(
    r"\A\s*analysis(?=[A-Z]|assistantfinal)(.*?)(?:assistantfinal(.*))?\Z", re.DOTALL
)
"harmony without its tokens, as decoders leave it that drop special tokens"
_GRANITE = re.compile(
    r"\A\s*Here(?:'s| is) my thought process:(.*?)(?:Here(?:'s| is) my response:(.*))?\Z", re.DOTALL
)
_FENCED = re.compile(
    r"\A\s*```(?:think(?:ing)?|thoughts?|reasoning|scratchpad)[ \t]*\n(.*?)(?:\n```[ \t]*(.*))?\Z",
    re.DOTALL | re.I,
)
"a thought in a fence of Markdown"
_CONCLUDED = re.compile(
    r"(?:\A|.*[\n.!?:*])[\s*_#>]*final answer[*_]{0,2}\s*:[*_]{0,2}\s*(?=\S)", re.S | re.I
)
"reasoning without marks: the answer is what follows the last `Final answer:`"
_OWN = re.compile(
    r"<(?P<tag>[^<>/\s]*(?:think|thought|reason)[^<>/\s]*)>|\[(?P<square>\w*(?:THINK|THOUGHT|REASON)\w*)\]",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Output:
    """A model's output in two parts: thinking and answer."""

    thinking: str
    "empty where there is none, or a server does not show it"
    answer: str | None
    "None: the output ends within the thought"

    @property
    def stored(self) -> str:
        """The output as one text that `split` separates again into both parts."""
        thinking = self.thinking.replace(END, _SPELLED)
        if self.answer is None:
            return BEGIN + thinking
        alone = not thinking and split(self.answer) == self
        return self.answer if alone else f"{BEGIN}{thinking}{END}{self.answer}"


def split(text: str, own: Sequence[Pair] = ()) -> Output:
    """Return the thinking and the answer of an output.

    `own` are the marks of a chat template that no known family has.

    Of several thoughts all are thinking, and what stands between them is answer. An end without a
    beginning belongs to a thought that began in the prompt: all before it is thinking. Whitespace
    after a thought belongs to the marks.

    Examples
    --------
    >>> split("<think>Some would agree.</think> Disagree")
    Output(thinking='Some would agree.', answer='Disagree')
    >>> split("Some would agree.</think>Disagree").answer
    'Disagree'
    >>> split("<think>Some would").answer is None
    True
    >>> split("Disagree")
    Output(thinking='', answer='Disagree')
    """
    if not own and not _is_suspect(text):
        return _concluded(text)
    if text.startswith(BEGIN):
        thinking, ended, answer = text.removeprefix(BEGIN).partition(END)
        return Output(thinking, answer if ended else None)
    if CHANNEL in text:
        return _channels(text)
    if found := _STRIPPED.match(text) or _GRANITE.match(text) or _FENCED.match(text):
        return Output(found[1].strip(), None if found[2] is None else found[2].lstrip())
    made = _marked(text, tuple(own))
    return _concluded(text) if made == Output("", text) else made


def refusal(text: str) -> str:
    """Return the stored answer of a model that refused in a field of its own.

    Examples
    --------
    >>> refusal("I can't."), is_refusal(refusal("I can't.")), is_refusal("I can't.")
    ("⟦refusal⟧ I can't.", True, False)
    """
    return f"{REFUSED} {text}"


def is_refusal(answer: str) -> bool:
    """Return whether an answer is a refusal because its server or its log says so."""
    return answer.startswith(REFUSED)


def is_plain(text: str) -> bool:
    """Return whether a text surely has no thinking, as most have none. `split` decides on the
    others.
    """
    return not _is_suspect(text) and "answer" not in text.casefold()


def _concluded(text: str) -> Output:
    """Return the reasoning before the last `Final answer:` of a text without marks, and what
    follows it.
    """
    if "answer" not in text.casefold() or (found := _CONCLUDED.match(text)) is None:
        return Output("", text)
    thinking = re.sub(
        r"[\s*_#>]*final answer[*_]{0,2}\s*:[*_]{0,2}\s*\Z", "", found[0], flags=re.I
    ).strip()
    return Output(thinking, text[found.end() :]) if thinking else Output("", text)


def _is_suspect(text: str) -> bool:
    """Whether a text has a part of some mark. Of a long answer, one pattern for all would take ten
    times as long.
    """
    return (
        "<" in text
        or "```" in text
        or "THINK]" in text
        or "⟦" in text
        or "◁" in text
        or _OPENING.match(text) is not None
    )


def in_thought(text: str, own: Sequence[Pair] = ()) -> bool:
    """Whether an output that goes on is within a thought."""
    return split(text, own).answer is None


def opening(text: str, own: Sequence[Pair] = ()) -> str:
    """Return the opening mark of an unfinished thought at the end of a text, or an empty string."""
    mark = ""
    for found in _marks(tuple(own)).finditer(text):
        if mark:
            mark = "" if found[0].casefold() == _end_of(mark, tuple(own)) else mark
        elif _end_of(found[0], tuple(own)):
            mark = found[0]
    return mark


def end_of(mark: str, own: Sequence[Pair] = ()) -> str:
    """Return the closing mark of an opening mark, as written."""
    ends = dict((*PAIRS, *own))
    return ends.get(mark) or f"</{mark[1:]}"


def own_pairs(template: str) -> tuple[Pair, ...]:
    """Return the marks that a chat template has of its own: pairs whose name speaks of thought, of
    which both halves stand in its text.
    """
    found: list[Pair] = []
    for match in _OWN.finditer(template):
        name = match["tag"] or match["square"]
        pair = (f"<{name}>", f"</{name}>") if match["tag"] else (f"[{name}]", f"[/{name}]")
        if (
            pair[1] in template
            and pair not in (*found, *PAIRS)
            and not re.fullmatch(TAG, name, re.I)
        ):
            found.append(pair)
    return tuple(found)


def mark_texts(own: Sequence[Pair] = ()) -> frozenset[str]:
    """Return the marks that are tokens of their own in some vocabulary."""
    return frozenset((*HARMONY, *(mark for pair in (*PAIRS, *own) for mark in pair)))


def is_mark(token: str, own: Sequence[Pair] = ()) -> bool:
    """Whether a token of a vocabulary is a mark of thoughts."""
    return token in mark_texts(own) or re.fullmatch(rf"</?{TAG}>", token, re.I) is not None


def _marked(text: str, own: tuple[Pair, ...]) -> Output:
    thoughts: list[str] = []
    outside: list[str] = []
    place, end = 0, ""
    for found in _marks(own).finditer(text):
        mark = found[0].casefold()
        if end:
            if mark != end:
                continue
            thoughts.append(text[place : found.start()])
            end = ""
        else:
            outside.append(text[place : found.start()])
            end = _end_of(mark, own)
            if not end:  # the end of a thought that began before all of this
                thoughts = [text[: found.start()]]
                outside = []
        place = found.end()
    if place == 0:
        return Output("", text)
    if end:
        return Output(
            "\n\n".join(
                part.strip() for part in (*thoughts, *outside, text[place:]) if part.strip()
            ),
            None,
        )
    answer = "".join((*outside, text[place:])).lstrip()
    return Output("\n\n".join(part.strip() for part in thoughts if part.strip()), answer)


def _channels(text: str) -> Output:
    bodies = [(found[1], found[2]) for found in _BODY.finditer(text)]
    thinking = "\n\n".join(
        body.strip() for channel, body in bodies if channel != FINAL and body.strip()
    )
    final = [body for channel, body in bodies if channel == FINAL]
    return Output(thinking, "".join(final).lstrip() if final else None)


@lru_cache(maxsize=64)
def _marks(own: tuple[Pair, ...]) -> re.Pattern[str]:
    literal = sorted((mark for pair in (*PAIRS, *own) for mark in pair), key=len, reverse=True)
    return re.compile("|".join((*map(re.escape, literal), rf"</?{TAG}>")), re.I)


@lru_cache(maxsize=256)
def _end_of(mark: str, own: tuple[Pair, ...]) -> str:
    """Return the closing mark of a mark in lower case, or an empty string if it is one itself."""
    ends = {begin.casefold(): end.casefold() for begin, end in (*PAIRS, *own)}
    mark = mark.casefold()
    if mark in ends:
        return ends[mark]
    return f"</{mark[1:]}" if re.fullmatch(rf"<{TAG}>", mark) else ""
