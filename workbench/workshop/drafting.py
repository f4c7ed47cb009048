"""Lines of an answer, and the wordings in them: surrounding marks are removed, and the inside stays
unchanged.

A changed form of a multiple-choice question is a draft of several lines: the question, and its
options.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from workbench.domain.choices import Bias, Choice, ChoicePair, parse_choice
from workbench.domain.choices import Fault as TextFault
from workbench.domain.drafting import SINGLE, Answer, DraftPrompt
from workbench.domain.prompts import SLOT
from workbench.domain.statements import ORIGINAL, RELATION_OF, Relation, VariantKind, Wording
from workbench.errors import UsageError
from workbench.workshop.choice_forms import pair_faults, pair_hints

if TYPE_CHECKING:
    import numpy as np

YES_NO = ("Yes", "No")
"""options of every written changed form (Tjuatja et al. 2024, table 1), added to a question without
options"""
_OPTION = re.compile(r"\W{0,4}([A-Z])\W{0,2}[.):\]]\W{0,3}\s+(\S.*)")
_BEHIND = re.compile(r"\s+\(?A[.):]\s*(Yes)\W{1,4}B[.):]\s*(No)\b\W*$", re.IGNORECASE)
"options on the line of the question"


def drafted(kind: VariantKind, line: str) -> str:
    """Return the wording in a draft.

    Examples
    --------
    >>> drafted(VariantKind.NEGATION, "1. Taxes should not fall.")
    'Taxes should not fall.'
    >>> drafted(VariantKind.CHANGED, "**Wouldn't you agree?**\\n\\n(A) Yes.\\n(B) No.")
    "Wouldn't you agree?\\nA. Yes\\nB. No"
    """
    if kind is not VariantKind.CHANGED:
        return bare(line)
    stem, options = _parted([one for one in line.split("\n") if one.strip()])
    known = {said.lower(): said for said in YES_NO}
    # The letters are off: a number belongs to the option.
    shown = [unmarked(option) for option in options]
    if all(option.endswith(".") for option in shown):
        shown = [option.rstrip(" .") for option in shown]
    return Choice(
        bare(stem), tuple(known.get(one.lower(), one) for one in shown) or YES_NO
    ).lettered()


def questions_of(answer: str) -> tuple[str, ...]:
    """Return the parts of an answer: questions with their options, and all other lines.

    Examples
    --------
    >>> questions_of("Here it is:\\n\\nIs it?\\nA. Yes\\nB. No\\nI hope this helps!")
    ('Here it is:', 'Is it?\\nA. Yes\\nB. No', 'I hope this helps!')
    """
    parts: list[list[str]] = []
    for line in answer.split("\n"):
        if not line.strip():
            continue
        found = _OPTION.fullmatch(line.strip())
        given = len(_parted(parts[-1])[1]) if parts else 0
        if found and parts and ord(found[1]) - ord("A") == given:
            parts[-1].append(line)
        else:
            parts.append([line])
    return tuple("\n".join(part) for part in parts) or (answer,)


def offers(line: str) -> bool:
    """Return whether a part of an answer has options."""
    return bool(_parted([one for one in line.split("\n") if one.strip()])[1])


def _parted(lines: list[str]) -> tuple[str, list[str]]:
    """Return the question and its options, without letters."""
    options: list[str] = []
    stem = list(lines)
    while len(stem) > 1 and (found := _OPTION.fullmatch(stem[-1].strip())):
        options.insert(0, found[2])
        stem.pop()
    text = "\n".join(stem)
    if not options and (behind := _BEHIND.search(text)):
        return text[: behind.start()], [behind[1], behind[2]]
    return text, options


def lines_of(answer: str) -> tuple[str, ...]:
    """Return the unchanged non-blank lines of an answer. A blank answer is one line.

    Examples
    --------
    >>> lines_of("1. One.\\n\\n2. Two.")
    ('1. One.', '2. Two.')
    >>> lines_of("")
    ('',)
    """
    return tuple(line for line in answer.split("\n") if line.strip()) or (answer,)


_BULLET = re.compile(r"[-*•‣▪–—]\s+")
_MARKER = re.compile(r"(?:\(?[0-9]{1,3}(?:[.):\]]|\s*[-–—](?=\s+[^\W\d]))|[a-z]\))\s+")
"a number or letter before a wording; `30 - 40 hours` begins with none"
_LABEL = re.compile(
    r"(?:the\s+)?(?:(?:paraphrased?|reformulat(?:ed|ion)|rewritten|rephrased|negated|negation|opposite|original"
    r"|political(?:ly)?(?: opposite)?)\s*)?"
    r"(?:statement|question|version|sentence|answer|output|paraphrase|reformulation|negation|opposite|rewrite)?"
    r"\s*\d{0,3}\s*:\s+",
    re.IGNORECASE,
)
_EMPHASIS = ("**", "__", "*", "_", "`")
_QUOTES = {'"': '"', "“": "”", "”": "”", "„": "“", "«": "»", "»": "«", "‘": "’", "'": "'", "‹": "›"}


def bare(line: str) -> str:
    """Return a line without the marks around a wording.

    Removed: spaces; one bullet; one number of up to three digits (`3.`, `(3)`, `3 -`); one name
    such as `Paraphrase 3:`; and, repeatedly, emphasis (`**…**`, backticks) and quotation marks
    around the whole. The inside stays unchanged, and so does a second number: it is part of the
    wording.

    Examples
    --------
    >>> bare('12. **"Taxes should fall."**')
    'Taxes should fall.'
    >>> bare("3.5 percent is enough.")
    '3.5 percent is enough.'
    >>> bare("2. 30 - 40 hours of work a week are enough.")
    '30 - 40 hours of work a week are enough.'
    >>> bare('"Freedom" is a word, as is "duty"')
    '"Freedom" is a word, as is "duty"'
    """
    text = line.strip()
    markers = [_BULLET, _MARKER, _LABEL]
    for _ in range(8):
        before = text
        for pattern in markers.copy():
            end = _end_of_marker(pattern, text)
            if end:
                text = text[end:]
                markers.remove(pattern)
        text = unmarked(text)
        if text == before:
            break
    return text


def unmarked(line: str) -> str:
    """Return a text without the emphasis and quotation marks around the whole of it.

    Examples
    --------
    >>> unmarked('**"1. May"**')
    '1. May'
    """
    text = line.strip()
    for _ in range(8):
        before = text
        for mark in _EMPHASIS:
            if _around(text, mark, mark):
                text = text[len(mark) : -len(mark)].strip()
        if text[:1] in _QUOTES and _around(text, text[0], _QUOTES[text[0]]):
            text = text[1:-1].strip()
        if text == before:
            break
    return text


def _end_of_marker(pattern: re.Pattern[str], text: str) -> int:
    """Return where a marker at the beginning of a text ends, or 0 if there is none."""
    found = pattern.match(text)
    if found is None or (pattern is _LABEL and not found.group().strip(" \t:")):
        return 0
    return found.end()


def _around(text: str, first: str, last: str) -> bool:
    """Return whether marks surround the whole text and do not occur inside it."""
    inside = text[len(first) : len(text) - len(last)]
    whole = len(text) > len(first) + len(last) and text.startswith(first) and text.endswith(last)
    return whole and (
        (first not in inside and last not in inside) or (first == "'" and inside.count("'") == 1)
    )


LONGEST = 10_000
"most characters of a wording"
SHINGLE = 5
"number of consecutive words of the instruction that make a line an echo of it"


class Fault(StrEnum):
    """Why a line is not shown to reviewers."""

    EMPTY = "empty"
    CONTROL = "control"
    ECHO = "echo"
    REFUSAL = "refusal"
    SAME = "same"
    WORDING = "wording"
    QUESTION = "question"
    CHOICE = "choice"
    FORM = "form"
    LONG = "long"
    SHORT = "short"
    REPEAT = "repeat"
    EXTRA = "extra"
    UNSAMPLED = "unsampled"


FAULTS = {
    Fault.EMPTY: ("is empty", "are empty"),
    Fault.CONTROL: (
        "has unprintable or broken characters",
        "have unprintable or broken characters",
    ),
    Fault.ECHO: (
        "talks about the task instead of doing it",
        "talk about the task instead of doing it",
    ),
    Fault.REFUSAL: ("is a refusal", "are refusals"),
    Fault.SAME: ("repeats the text it was drafted from", "repeat the text they were drafted from"),
    Fault.WORDING: (
        "repeats another wording of the statement",
        "repeat another wording of the statement",
    ),
    Fault.QUESTION: ("is a question", "are questions"),
    Fault.CHOICE: ("is no question with options", "are no questions with options"),
    Fault.FORM: (
        "does not have the form that its bias needs",
        "do not have the form that their bias needs",
    ),
    Fault.LONG: ("is far too long", "are far too long"),
    Fault.SHORT: ("is far too short", "are far too short"),
    Fault.REPEAT: ("was drafted before", "were drafted before"),
    Fault.EXTRA: ("exceeds the number asked for", "exceed the number asked for"),
    Fault.UNSAMPLED: ("was left out by the sample", "were left out by the sample"),
}
"a fault as a predicate of one line, and of several"


def fault_in_words(fault: str, lines: int = 1) -> str:
    """Return a fault as a predicate of that many lines; a fault of a newer workbench keeps its
    name.

    >>> fault_in_words("echo"), fault_in_words("echo", 3)
    ('talks about the task instead of doing it', 'talk about the task instead of doing it')
    """
    return FAULTS[Fault(fault)][lines != 1] if fault in tuple(Fault) else fault


@dataclass(frozen=True, slots=True)
class Line:
    """One line of an answer."""

    text: str
    "exactly as the model gave it"
    fault: str = ""


def compared(text: str) -> str:
    """Return a text normalised for comparison: NFC, no case, single spaces, no final full stop or
    mark.
    """
    return " ".join(unicodedata.normalize("NFC", text).casefold().split()).rstrip(".!…。")


_REFUSAL = re.compile(
    r"(?:i['’]?m|i am) (?:very |really |truly )?(?:sorry|afraid|unable|not able|not "
    r"comfortable|an? (?:ai|language))"
    r"|as an? (?:ai|artificial|(?:large )?language model)|i apologi[sz]e"
    r"|(?:i|we) (?:can['’]?t|cannot|can not|won['’]?t|will not|must decline|am unable "
    r"to|don['’]?t feel)"
    r"[^.]{0,40}\b(?:assist|help|fulfil|provide|create|generate|comply|complete|rewrite|rephrase|reformulate|paraphrase"
    r"|negate|answer|do that|with that)",
    re.IGNORECASE,
)
_ECHO = re.compile(
    r"(?:sure|certainly|of course|absolutely|okay|ok|here (?:is|are|you go)|here['’]s|below "
    r"(?:is|are)|note"
    r"|explanation|i hope|let me know|feel free|these (?:paraphrases|statements)"
    r"|(?:the|this) (?:original|above|following|reformulated|rewritten|negated|paraphrased)"
    r" (?:statement|sentence|text|version)|in this (?:version|reformulation|paraphrase))\b",
    re.IGNORECASE,
)
_TASK = re.compile(
    r"\b(?:paraphras\w*|rephras\w*|(?:original|given|following|above|negated|rewritten) "
    r"(?:statement|sentence|list)"
    r"|(?:negation|opposite) of (?:this|the|that) (?:statement|sentence)|rewrite (?:the|this)"
    r"|^the statement (?:is|should|you|can|says|reads))\b",
    re.IGNORECASE,
)
"words about the task, at any position: small models usually explain themselves"
_CHAT_MARKS = re.compile(
    r"<\||\|>|\[/?INST\]|</?s>|<<SYS>>|\{statement\}|\{n\}|\[(?:insert|your)\b", re.IGNORECASE
)
_QUESTION_MARKS = ("?", "？", "؟", "\u037e")
_OVERRIDES = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufffd\ufeff")
"direction overrides reorder adjacent text; U+FFFD stands for a broken character"


def unprintable(text: str) -> str:
    """Return the first character that is not allowed in a wording, "" if there is none.

    Joiners and the marks of right-to-left scripts are part of words; controls, lone surrogates,
    direction overrides and the sign for a broken character are not.
    """
    return next(
        (c for c in text if unicodedata.category(c) in ("Cc", "Cs", "Cn") or c in _OVERRIDES), ""
    )


def wording_text(text: str) -> str:
    """Return a text in the form for an instrument: without surrounding spaces, on one line.

    Raises UsageError if it is empty, has more than 10,000 characters, or contains unprintable
    characters.
    """
    text = " ".join(text.split("\n")).strip() if "\n" in text else text.strip()
    if not text:
        raise UsageError("the wording is empty; write one, or reject the draft")
    if len(text) > LONGEST:
        raise UsageError(f"the wording has {len(text):,} characters; give at most {LONGEST:,}")
    if hidden := unprintable(text):
        shown = hidden.encode("unicode_escape").decode("ascii")
        raise UsageError(
            f"the wording holds {shown}, which does not show; give a wording without it"
        )
    return text


def entering(kind: VariantKind, text: str) -> str:
    """Return a text in the form for an instrument as a wording of a kind; a changed form keeps its
    options.

    Raises UsageError, naming the fault.
    """
    if kind is not VariantKind.CHANGED:
        return wording_text(text)
    wrong = parse_choice(text.strip())
    found = parse_choice(drafted(kind, text)) if isinstance(wrong, TextFault) else wrong
    if isinstance(found, TextFault):
        fault = wrong if isinstance(wrong, TextFault) else found
        raise UsageError(f"found {fault.found}; expected {fault.expected}")
    for part in (found.stem, *found.options):
        wording_text(part)
    return found.lettered()


def form_faults(bias: Bias, original: str, changed: str) -> tuple[str, ...]:
    """Return sentences on the requirements of a bias with a written changed form that two texts
    fail.
    """
    forms = [parse_choice(text) for text in (original, changed)]
    if bad := [found for found in forms if isinstance(found, TextFault)]:
        return (f"found {bad[0].found}; expected {bad[0].expected}",)
    first, second = (form for form in forms if isinstance(form, Choice))
    return pair_faults(ChoicePair("", bias, first, second))


def read_answer(
    answer: str, prompt: DraftPrompt, basis: str, wordings: Iterable[Wording], before: Iterable[str]
) -> tuple[Line, ...]:
    """Return the lines of an answer, each with its fault.

    `basis`: the text shown to the model; `wordings`: those of the statement in its language;
    `before`: wordings drafted from the same text earlier, whatever the decisions on them.
    """
    known = {compared(w.text) for w in wordings}
    seen = {compared(text) for text in before}
    found: list[Line] = []
    wanted = prompt.answer is Answer.LINES
    for line in (questions_of if prompt.kind is VariantKind.CHANGED else lines_of)(answer):
        text = drafted(prompt.kind, line)
        fault: str = fault_of(text, prompt, basis, line) or _known(
            compared(text), compared(basis), known, seen
        )
        if not fault and not wanted and any(not other.fault for other in found):
            fault = Fault.EXTRA
        if not fault:
            seen.add(compared(text))
        found.append(Line(line, str(fault)))
    return tuple(found)


def _known(text: str, basis: str, known: set[str], seen: set[str]) -> str:
    if text == basis:
        return Fault.SAME
    if text in known:
        return Fault.WORDING
    return Fault.REPEAT if text in seen else ""


def fault_of(text: str, prompt: DraftPrompt, basis: str, line: str = "") -> str:
    """Return why a text alone cannot be a wording, "" if it can; `line`: the line that it was
    extracted from.

    A question is not a wording of a statement, only of a question. Lengths are in characters, so
    that scripts without spaces are treated alike: far too long is more than three times the basis
    plus a hundred, far too short less than a fifth of it.
    """
    if prompt.kind is VariantKind.CHANGED:
        return _changed_fault(text, prompt, basis, line)
    length, due = len(text), len(basis)
    checks = (
        (Fault.EMPTY, not any(c.isalnum() for c in text)),
        (Fault.CONTROL, unprintable(text) != ""),
        (
            Fault.REFUSAL,
            _REFUSAL.match(text) is not None and compared(basis)[:12] != compared(text)[:12],
        ),
        (Fault.ECHO, _is_echo(text, prompt, basis)),
        (Fault.QUESTION, asks(text) and (prompt.kind is VariantKind.ORIGINAL or not asks(basis))),
        (Fault.LONG, length > min(LONGEST, 3 * due + 100)),
        (Fault.SHORT, length < due / 5 or length < 3),
    )
    return next((fault for fault, holds in checks if holds), "")


def _changed_fault(text: str, prompt: DraftPrompt, basis: str, line: str) -> str:
    """Return why a text cannot be the changed form of a question.

    A line without options must end like a question; it is then offered with Yes and No.
    """
    stem = text.partition("\nA. ")[0]
    checks = (
        (Fault.EMPTY, not any(c.isalnum() for c in stem)),
        (Fault.CONTROL, any(unprintable(part) for part in text.split("\n"))),
        (
            Fault.REFUSAL,
            _REFUSAL.match(stem) is not None and compared(basis)[:12] != compared(stem)[:12],
        ),
        (Fault.ECHO, _is_echo(stem, prompt, basis)),
        (Fault.CHOICE, not asks(stem) and not offers(line or text)),
        (Fault.LONG, len(text) > min(LONGEST, 3 * len(basis) + 100)),
        (Fault.FORM, prompt.bias is not None and form_faults(prompt.bias, basis, text) != ()),
    )
    return next((fault for fault, holds in checks if holds), "")


def asks(text: str) -> bool:
    """Return whether a text ends like a question."""
    return text.rstrip().endswith(_QUESTION_MARKS)


def _is_echo(text: str, prompt: DraftPrompt, basis: str) -> bool:
    """Return whether a line talks about the task: with an introduction, a chat mark or the
    instruction's words.
    """
    if text.endswith((":", "：")) or _CHAT_MARKS.search(text):
        return True
    if _ECHO.match(text) and compared(text).split()[:2] != compared(basis).split()[:2]:
        return True
    if _TASK.search(text) and not _TASK.search(basis):
        return True
    instruction = f"{prompt.system or ''} {prompt.template.user}".replace(SLOT, " ")
    return bool(_shingles(instruction) & (_shingles(text) - _shingles(basis)))


def _shingles(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", text.casefold())
    return {tuple(words[place : place + SHINGLE]) for place in range(len(words) - SHINGLE + 1)}


def left_out(
    texts: Sequence[str], decided: Sequence[bool], keep: int, rng: np.random.Generator
) -> tuple[int, ...]:
    """Return the indices of drafts that a random sample of `keep` leaves out, with equal
    probabilities.

    Drafts with decisions stay and count. The sample depends only on the texts and the generator,
    not on the order of the answers.
    """
    stays = sum(decided)
    open_ = sorted(
        (place for place, held in enumerate(decided) if not held), key=lambda place: texts[place]
    )
    surplus = min(len(open_), stays + len(open_) - keep)
    if surplus <= 0:
        return ()
    drawn = rng.permutation(len(open_))[:surplus]
    return tuple(sorted(open_[int(place)] for place in drawn))


def basis_of(wordings: Iterable[Wording], kind: VariantKind, language: str) -> Wording | None:
    """Return the wording from which a kind is drafted in a language: the original, or for an
    original the question.
    """
    wanted = VariantKind.QUESTION if kind is VariantKind.ORIGINAL else ORIGINAL.kind
    return next((w for w in wordings if w.variant.kind is wanted and w.language == language), None)


NEGATORS = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|neither|nor|nowhere|without|cannot)\b|n['’]t\b",
    re.IGNORECASE,
)
_QUANTIFIED = re.compile(
    r"(?:all|every|everyone|everybody|each|only|some|many|most|few|any|both|no)\b", re.IGNORECASE
)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
FEW_NEW, MANY_NEW = 0.15, 0.95
"""share of words that the other text lacks: below the first, almost nothing was varied; above the
second, everything"""


def draft_hints(
    kind: VariantKind,
    language: str,
    basis: str,
    line: str,
    held: Iterable[Wording],
    bias: Bias | None = None,
) -> tuple[str, ...]:
    """Return hints on a drafted line, given the current wordings of its statement.

    `bias`: for a changed form, the bias of its question.
    """
    wordings = [w for w in held if w.language == language]
    now = basis_of(wordings, kind, language)
    others = [w for w in wordings if w.variant.kind is not kind or kind not in SINGLE]
    of = "question" if kind is VariantKind.ORIGINAL else "original"
    changed = (
        ()
        if now is not None and now.text == basis
        else (f"the {of} was changed since this was drafted",)
    )
    return (*changed, *hints(kind, language, basis, drafted(kind, line), others, bias))


def hints(
    kind: VariantKind,
    language: str,
    basis: str,
    text: str,
    wordings: Iterable[Wording],
    bias: Bias | None = None,
) -> tuple[str, ...]:
    """Return hints, in sentences.

    `basis`: the text that it was drafted from; `wordings`: those of the statement in its language.
    """
    english = language.split("-")[0] == "en"
    if kind is VariantKind.CHANGED:
        found = list(_worded(basis, text, bias)) if english else []
    else:
        found = [*(_meaning(kind, basis, text) if english else ()), *_form(kind, basis, text)]
    for wording in wordings:
        if compared(wording.text) == compared(text):
            found.append(f"the same text as the {wording.variant} that is there")
    return tuple(found)


def _worded(basis: str, text: str, bias: Bias | None) -> Iterator[str]:
    """Check both forms of a question with a written changed form."""
    original, changed = parse_choice(basis), parse_choice(text)
    if bias is not None and isinstance(original, Choice) and isinstance(changed, Choice):
        yield from form_faults(bias, basis, text)
        yield from pair_hints(ChoicePair("", bias, original, changed))


def _meaning(kind: VariantKind, basis: str, text: str) -> Iterator[str]:
    """Check negators, in English."""
    before, after = len(NEGATORS.findall(basis)), len(NEGATORS.findall(text))
    same = RELATION_OF[kind] is Relation.SAME and kind is not VariantKind.ORIGINAL
    if kind is VariantKind.NEGATION:
        if before == after:
            yield "no negation was added or taken away"
        if found := _QUANTIFIED.match(basis):
            yield f"the original begins with “{found.group()}”: look at what the negation denies"
        if re.search(r"\b(?:and|or|but|because|unless|if)\b", basis, re.IGNORECASE):
            yield "the original has several parts: look at which of them is denied"
    elif kind is VariantKind.OPPOSITE and after > before:
        yield "it has a negation more: an opposite does without"
    elif same and before != after:
        yield "it has another number of negations than the original: is the meaning the same?"


def _form(kind: VariantKind, basis: str, text: str) -> Iterator[str]:
    """Check features of all scripts: numbers, length, common words, the end."""
    numbers, others = sorted(_NUMBER.findall(basis)), sorted(_NUMBER.findall(text))
    if numbers != others:
        yield f"other numbers: {_listed(numbers)} in the original, {_listed(others)} here"
    new = _new_words(basis, text)
    varied = kind not in (VariantKind.NEGATION, VariantKind.ORIGINAL)
    if varied and new < FEW_NEW:
        yield "next to nothing was varied"
    if kind is VariantKind.NEGATION and new > 0.5:
        yield "a negation changes little else: most words differ"
    if varied and new > MANY_NEW:
        yield "hardly a word in common: is it about the same matter?"
    if len(text) > 1.8 * len(basis) + 10:
        yield "much longer than the original"
    if basis[-1:] in ".!。" and text[-1:] not in ".!。…":
        yield "no full stop at the end, as the original has"
    if asks(basis) and not asks(text) and kind is not VariantKind.ORIGINAL:
        yield "no question, as the original is"


def _new_words(basis: str, text: str) -> float:
    """Return the share of the text's words that the basis lacks."""
    before = set(re.findall(r"\w+", compared(basis)))
    after = re.findall(r"\w+", compared(text))
    return sum(word not in before for word in after) / len(after) if after else 0.0


def _listed(numbers: list[str]) -> str:
    return ", ".join(numbers) or "none"
