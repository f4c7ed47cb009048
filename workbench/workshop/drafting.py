"""Converts a model's answers to drafts, and finds lines, or questions with options, that cannot be wordings.

Every line is stored as the model gave it. People see the wording that `draft_lines.drafted` extracts from it. A line
that cannot be a wording has a fault: it is counted and can be read, but is not shown to reviewers.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from workbench.domain.choice_texts import Fault as TextFault
from workbench.domain.choice_texts import parse_choice
from workbench.domain.choices import Bias, Choice, ChoicePair
from workbench.domain.drafting import Answer, DraftPrompt
from workbench.domain.prompts import SLOT
from workbench.domain.statements import ORIGINAL, VariantKind, Wording
from workbench.errors import UsageError
from workbench.workshop.choice_forms import pair_faults
from workbench.workshop.draft_lines import drafted, lines_of, offers, questions_of

if TYPE_CHECKING:
    import numpy as np

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
    Fault.CONTROL: ("has unprintable or broken characters", "have unprintable or broken characters"),
    Fault.ECHO: ("talks about the task instead of doing it", "talk about the task instead of doing it"),
    Fault.REFUSAL: ("is a refusal", "are refusals"),
    Fault.SAME: ("repeats the text it was drafted from", "repeat the text they were drafted from"),
    Fault.WORDING: ("repeats another wording of the statement", "repeat another wording of the statement"),
    Fault.QUESTION: ("is a question", "are questions"),
    Fault.CHOICE: ("is no question with options", "are no questions with options"),
    Fault.FORM: ("does not have the form that its bias needs", "do not have the form that their bias needs"),
    Fault.LONG: ("is far too long", "are far too long"),
    Fault.SHORT: ("is far too short", "are far too short"),
    Fault.REPEAT: ("was drafted before", "were drafted before"),
    Fault.EXTRA: ("exceeds the number asked for", "exceed the number asked for"),
    Fault.UNSAMPLED: ("was left out by the sample", "were left out by the sample"),
}
"a fault as a predicate of one line, and of several"


def fault_in_words(fault: str, lines: int = 1) -> str:
    """Return a fault as a predicate of that many lines; a fault of a newer workbench keeps its name.

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
    """Return a text normalised for comparison: NFC, no case, single spaces, no final full stop or mark."""
    return " ".join(unicodedata.normalize("NFC", text).casefold().split()).rstrip(".!…。")


_REFUSAL = re.compile(
    r"(?:i['’]?m|i am) (?:very |really |truly )?(?:sorry|afraid|unable|not able|not comfortable|an? (?:ai|language))"
    r"|as an? (?:ai|artificial|(?:large )?language model)|i apologi[sz]e"
    r"|(?:i|we) (?:can['’]?t|cannot|can not|won['’]?t|will not|must decline|am unable to|don['’]?t feel)"
    r"[^.]{0,40}\b(?:assist|help|fulfil|provide|create|generate|comply|complete|rewrite|rephrase|reformulate|paraphrase"
    r"|negate|answer|do that|with that)",
    re.IGNORECASE,
)
_ECHO = re.compile(
    r"(?:sure|certainly|of course|absolutely|okay|ok|here (?:is|are|you go)|here['’]s|below (?:is|are)|note"
    r"|explanation|i hope|let me know|feel free|these (?:paraphrases|statements)"
    r"|(?:the|this) (?:original|above|following|reformulated|rewritten|negated|paraphrased)"
    r" (?:statement|sentence|text|version)|in this (?:version|reformulation|paraphrase))\b",
    re.IGNORECASE,
)
_TASK = re.compile(
    r"\b(?:paraphras\w*|rephras\w*|(?:original|given|following|above|negated|rewritten) (?:statement|sentence|list)"
    r"|(?:negation|opposite) of (?:this|the|that) (?:statement|sentence)|rewrite (?:the|this)"
    r"|^the statement (?:is|should|you|can|says|reads))\b",
    re.IGNORECASE,
)
"words about the task, at any position: small models usually explain themselves"
_CHAT_MARKS = re.compile(r"<\||\|>|\[/?INST\]|</?s>|<<SYS>>|\{statement\}|\{n\}|\[(?:insert|your)\b", re.IGNORECASE)
_QUESTION_MARKS = ("?", "？", "؟", "\u037e")
_OVERRIDES = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufffd\ufeff")
"direction overrides reorder adjacent text; U+FFFD stands for a broken character"


def unprintable(text: str) -> str:
    """Return the first character that is not allowed in a wording, "" if there is none.

    Joiners and the marks of right-to-left scripts are part of words; controls, lone surrogates, direction overrides and
    the sign for a broken character are not.
    """
    return next((c for c in text if unicodedata.category(c) in ("Cc", "Cs", "Cn") or c in _OVERRIDES), "")


def wording_text(text: str) -> str:
    """Return a text in the form for an instrument: without surrounding spaces, on one line.

    Raises UsageError if it is empty, has more than 10,000 characters, or contains unprintable characters.
    """
    text = " ".join(text.split("\n")).strip() if "\n" in text else text.strip()
    if not text:
        raise UsageError("the wording is empty; write one, or reject the draft")
    if len(text) > LONGEST:
        raise UsageError(f"the wording has {len(text):,} characters; give at most {LONGEST:,}")
    if hidden := unprintable(text):
        shown = hidden.encode("unicode_escape").decode("ascii")
        raise UsageError(f"the wording holds {shown}, which does not show; give a wording without it")
    return text


def entering(kind: VariantKind, text: str) -> str:
    """Return a text in the form for an instrument as a wording of a kind; a changed form keeps its options.

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
    """Return sentences on the requirements of a bias with a written changed form that two texts fail."""
    forms = [parse_choice(text) for text in (original, changed)]
    if bad := [found for found in forms if isinstance(found, TextFault)]:
        return (f"found {bad[0].found}; expected {bad[0].expected}",)
    first, second = (form for form in forms if isinstance(form, Choice))
    return pair_faults(ChoicePair("", bias, first, second))


def read_answer(
    answer: str, prompt: DraftPrompt, basis: str, wordings: Iterable[Wording], before: Iterable[str]
) -> tuple[Line, ...]:
    """Return the lines of an answer, each with its fault.

    `basis`: the text shown to the model; `wordings`: those of the statement in its language; `before`: wordings drafted
    from the same text earlier, whatever the decisions on them.
    """
    known = {compared(w.text) for w in wordings}
    seen = {compared(text) for text in before}
    found: list[Line] = []
    wanted = prompt.answer is Answer.LINES
    for line in (questions_of if prompt.kind is VariantKind.CHANGED else lines_of)(answer):
        text = drafted(prompt.kind, line)
        fault: str = fault_of(text, prompt, basis, line) or _known(compared(text), compared(basis), known, seen)
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
    """Return why a text alone cannot be a wording, "" if it can; `line`: the line that it was extracted from.

    A question is not a wording of a statement, only of a question. Lengths are in characters, so that scripts without
    spaces are treated alike: far too long is more than three times the basis plus a hundred, far too short less than a
    fifth of it.
    """
    if prompt.kind is VariantKind.CHANGED:
        return _changed_fault(text, prompt, basis, line)
    length, due = len(text), len(basis)
    checks = (
        (Fault.EMPTY, not any(c.isalnum() for c in text)),
        (Fault.CONTROL, unprintable(text) != ""),
        (Fault.REFUSAL, _REFUSAL.match(text) is not None and compared(basis)[:12] != compared(text)[:12]),
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
        (Fault.REFUSAL, _REFUSAL.match(stem) is not None and compared(basis)[:12] != compared(stem)[:12]),
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
    """Return whether a line talks about the task: with an introduction, a chat mark or the instruction's words."""
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


def left_out(texts: Sequence[str], decided: Sequence[bool], keep: int, rng: np.random.Generator) -> tuple[int, ...]:
    """Return the indices of drafts that a random sample of `keep` leaves out, with equal probabilities.

    Drafts with decisions stay and count. The sample depends only on the texts and the generator, not on the order of
    the answers.
    """
    stays = sum(decided)
    open_ = sorted((place for place, held in enumerate(decided) if not held), key=lambda place: texts[place])
    surplus = min(len(open_), stays + len(open_) - keep)
    if surplus <= 0:
        return ()
    drawn = rng.permutation(len(open_))[:surplus]
    return tuple(sorted(open_[int(place)] for place in drawn))


def basis_of(wordings: Iterable[Wording], kind: VariantKind, language: str) -> Wording | None:
    """Return the wording from which a kind is drafted in a language: the original, or for an original the question."""
    wanted = VariantKind.QUESTION if kind is VariantKind.ORIGINAL else ORIGINAL.kind
    return next((w for w in wordings if w.variant.kind is wanted and w.language == language), None)
