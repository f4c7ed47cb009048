"""Separates the thinking of a model before its answer from the answer.

A thought is told by its marks: a pair around it (`<think>` … `</think>`), the channels of harmony,
or the phrases of Granite 3. Which families write which marks was looked up in the reasoning parsers
of vLLM. The content is stored and never read, and an output that ends inside a thought has no
answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

BEGIN, END = "⟦thinking⟧", "⟦/thinking⟧"
"marks around a thought in a stored output, whatever the model's own marks are"
REFUSED = "⟦refusal⟧"
"beginning of the answer of a model that refused in a field of its own, whatever its words are"
_SPELLED = "⟦/thinking ⟧"
"stands for the end mark in a thought that has it in its text"

TAG = r"(?:\w+[:|])?(?:think|thinking|thought|reasoning|scratchpad|reflection|analysis)"
"""names of tags around thoughts

`<think>` is of DeepSeek, Qwen, GLM and SmolLM3, `<seed:think>` of Seed-OSS, `<mm:think>` of
MiniMax, `<thought>` of EXAONE Deep, and `<reflection>` of Reflection 70B. Prompts ask for
`<scratchpad>` and `<analysis>`.
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
"tokens of harmony (gpt-oss), where text in other channels than `final` is no answer"
HARMONY = (CHANNEL, MESSAGE, "<|start|>", "<|end|>", "<|return|>", "<|call|>", "<|constrain|>")
"the tokens of harmony"

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
"reasoning without marks, whose answer follows the last `Final answer:`"
_OWN = re.compile(
    r"<(?P<tag>[^<>/\s]*(?:think|thought|reason)[^<>/\s]*)>|\[(?P<square>\w*(?:THINK|THOUGHT|REASON)\w*)\]",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Output:
    """A model's output in two parts: thinking and answer."""

    thinking: str
    "an empty string without a thought, or if a server does not show it"
    answer: str | None
    "None if the output ends within the thought"

    @property
    def stored(self) -> str:
        """The output as one text that `split` separates again into both parts."""
        thinking = self.thinking.replace(END, _SPELLED)
        if self.answer is None:
            return BEGIN + thinking
        is_plain_answer = not thinking and split(self.answer) == self
        return self.answer if is_plain_answer else f"{BEGIN}{thinking}{END}{self.answer}"


def split(text: str, own: Sequence[Pair] = ()) -> Output:
    """Return the thinking and the answer of an output.

    `own`: the marks of a chat template that no known family has. Of several thoughts all are
    thinking, and the text between them is answer. An end without a beginning belongs to a thought
    that began in the prompt: all before it is thinking. Whitespace after a thought belongs to the
    marks.

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
    if match := _STRIPPED.match(text) or _GRANITE.match(text) or _FENCED.match(text):
        return Output(match[1].strip(), None if match[2] is None else match[2].lstrip())
    marked = _marked(text, tuple(own))
    return _concluded(text) if marked == Output("", text) else marked


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
    """Return whether a text surely has no thinking, as most have none.

    `split` decides on the others.
    """
    return not _is_suspect(text) and "answer" not in text.casefold()


def _concluded(text: str) -> Output:
    """Return the parts of a text without marks around its last `Final answer:`.

    The reasoning precedes it.
    """
    if "answer" not in text.casefold() or (match := _CONCLUDED.match(text)) is None:
        return Output("", text)
    thinking = re.sub(
        r"[\s*_#>]*final answer[*_]{0,2}\s*:[*_]{0,2}\s*\Z", "", match[0], flags=re.I
    ).strip()
    return Output(thinking, text[match.end() :]) if thinking else Output("", text)


def _is_suspect(text: str) -> bool:
    """Return whether a text has a part of some mark.

    Of a long answer, one pattern for all marks would take ten times as long.
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
    """Return whether an output that goes on is within a thought."""
    return split(text, own).answer is None


def opening(text: str, own: Sequence[Pair] = ()) -> str:
    """Return the opening mark of an unfinished thought at the end of a text, or an empty string."""
    mark = ""
    for match in _marks(tuple(own)).finditer(text):
        if mark:
            mark = "" if match[0].casefold() == _end_of(mark, tuple(own)) else mark
        elif _end_of(match[0], tuple(own)):
            mark = match[0]
    return mark


def end_of(mark: str, own: Sequence[Pair] = ()) -> str:
    """Return the closing mark of an opening mark, as written."""
    ends_by_beginning = dict((*PAIRS, *own))
    return ends_by_beginning.get(mark) or f"</{mark[1:]}"


def own_pairs(template: str) -> tuple[Pair, ...]:
    """Return the marks that a chat template has of its own.

    They are pairs whose name speaks of thought, of which both halves stand in its text.
    """
    pairs: list[Pair] = []
    for match in _OWN.finditer(template):
        name = match["tag"] or match["square"]
        pair = (f"<{name}>", f"</{name}>") if match["tag"] else (f"[{name}]", f"[/{name}]")
        if (
            pair[1] in template
            and pair not in (*pairs, *PAIRS)
            and not re.fullmatch(TAG, name, re.I)
        ):
            pairs.append(pair)
    return tuple(pairs)


def mark_texts(own: Sequence[Pair] = ()) -> frozenset[str]:
    """Return the marks that are tokens of their own in some vocabulary."""
    return frozenset((*HARMONY, *(mark for pair in (*PAIRS, *own) for mark in pair)))


def is_mark(token: str, own: Sequence[Pair] = ()) -> bool:
    """Return whether a token of a vocabulary is a mark of thoughts."""
    return token in mark_texts(own) or re.fullmatch(rf"</?{TAG}>", token, re.I) is not None


def _marked(text: str, own: tuple[Pair, ...]) -> Output:
    thoughts: list[str] = []
    outside: list[str] = []
    position, end = 0, ""
    for match in _marks(own).finditer(text):
        mark = match[0].casefold()
        if end:
            if mark != end:
                continue
            thoughts.append(text[position : match.start()])
            end = ""
        else:
            outside.append(text[position : match.start()])
            end = _end_of(mark, own)
            # The end of a thought that began before all of this.
            if not end:
                thoughts = [text[: match.start()]]
                outside = []
        position = match.end()
    if position == 0:
        return Output("", text)
    if end:
        return Output(
            "\n\n".join(
                part.strip() for part in (*thoughts, *outside, text[position:]) if part.strip()
            ),
            None,
        )
    answer = "".join((*outside, text[position:])).lstrip()
    return Output("\n\n".join(part.strip() for part in thoughts if part.strip()), answer)


def _channels(text: str) -> Output:
    bodies = [(match[1], match[2]) for match in _BODY.finditer(text)]
    thinking = "\n\n".join(
        body.strip() for channel, body in bodies if channel != FINAL and body.strip()
    )
    answers = [body for channel, body in bodies if channel == FINAL]
    return Output(thinking, "".join(answers).lstrip() if answers else None)


@lru_cache(maxsize=64)
def _marks(own: tuple[Pair, ...]) -> re.Pattern[str]:
    literal = sorted((mark for pair in (*PAIRS, *own) for mark in pair), key=len, reverse=True)
    return re.compile("|".join((*map(re.escape, literal), rf"</?{TAG}>")), re.I)


@lru_cache(maxsize=256)
def _end_of(mark: str, own: tuple[Pair, ...]) -> str:
    """Return the closing mark of a mark in lower case, or an empty string if it is one itself."""
    ends_by_beginning = {begin.casefold(): end.casefold() for begin, end in (*PAIRS, *own)}
    mark = mark.casefold()
    if mark in ends_by_beginning:
        return ends_by_beginning[mark]
    return f"</{mark[1:]}" if re.fullmatch(rf"<{TAG}>", mark) else ""
