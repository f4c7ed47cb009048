"""From what a model answered to drafts: lines, what is taken off them, and why a line cannot be a wording.

Every line is kept as the model gave it. The wording that a person is shown is the line without what `bare` takes off; a
line that cannot be a wording has a fault, is counted and can be read, and does not come before a reviewer.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from workbench.domain.drafting import Answer, DraftPrompt
from workbench.domain.prompts import SLOT
from workbench.domain.statements import ORIGINAL, VariantKind, Wording
from workbench.errors import UsageError

if TYPE_CHECKING:
    import numpy as np

LONGEST = 10_000
"characters that a wording may have"
SHINGLE = 5
"so many words in a row of the instruction make a line an echo of it"


class Fault(StrEnum):
    """Why a line does not come before a reviewer."""

    EMPTY = "empty"
    CONTROL = "control"
    ECHO = "echo"
    REFUSAL = "refusal"
    SAME = "same"
    WORDING = "wording"
    QUESTION = "question"
    LONG = "long"
    SHORT = "short"
    REPEAT = "repeat"
    EXTRA = "extra"
    UNSAMPLED = "unsampled"


FAULTS = {
    Fault.EMPTY: "empty",
    Fault.CONTROL: "holds characters that do not print, or broken ones",
    Fault.ECHO: "speaks of the task instead of doing it",
    Fault.REFUSAL: "a refusal",
    Fault.SAME: "the same as the text it was drafted from",
    Fault.WORDING: "the same as another wording of the statement",
    Fault.QUESTION: "a question",
    Fault.LONG: "far too long",
    Fault.SHORT: "far too short",
    Fault.REPEAT: "was drafted before",
    Fault.EXTRA: "more than was asked for",
    Fault.UNSAMPLED: "left out by the sample",
}
"what a fault is called before people"


def fault_in_words(fault: str) -> str:
    """Return what a fault is called before people; one of a newer workbench is named as it stands."""
    return FAULTS[Fault(fault)] if fault in tuple(Fault) else fault


@dataclass(frozen=True, slots=True)
class Line:
    """One line of an answer."""

    text: str
    "exactly as the model gave it"
    fault: str = ""


def lines_of(answer: str) -> tuple[str, ...]:
    """Return the lines of an answer that are not blank, each as it stands. An answer that is all blank is one line.

    Examples
    --------
    >>> lines_of("1. One.\\n\\n2. Two.")
    ('1. One.', '2. Two.')
    >>> lines_of("")
    ('',)
    """
    return tuple(line for line in answer.split("\n") if line.strip()) or (answer,)


_MARKER = re.compile(r"(?:[-*•‣▪–—]|\(?\d{1,3}(?:[.):\]]|\s*[-–—](?=\s))|[a-z]\))\s+")
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
    """Return a line without what stands around a wording.

    Taken off, again and again while something comes off: blanks; a bullet or a number of up to three digits (`3.`,
    `(3)`, `3 -`); a name such as `Paraphrase 3:`; emphasis (`**…**`, backticks); one pair of quotation marks around the
    whole. Nothing inside is touched.

    Examples
    --------
    >>> bare('12. **"Taxes should fall."**')
    'Taxes should fall.'
    >>> bare("3.5 percent is enough.")
    '3.5 percent is enough.'
    >>> bare('"Freedom" is a word, as is "duty"')
    '"Freedom" is a word, as is "duty"'
    """
    text = line.strip()
    for _ in range(8):
        before = text
        text = _without_marker(text)
        for mark in _EMPHASIS:
            if _around(text, mark, mark):
                text = text[len(mark) : -len(mark)].strip()
        if text[:1] in _QUOTES and _around(text, text[0], _QUOTES[text[0]]):
            text = text[1:-1].strip()
        if text == before:
            break
    return text


def _without_marker(text: str) -> str:
    if found := _MARKER.match(text):
        text = text[found.end() :]
    found = _LABEL.match(text)
    return text[found.end() :] if found and found.end() > 2 and found.group().strip(" \t:") else text


def _around(text: str, first: str, last: str) -> bool:
    """Return whether marks stand around the whole text, and nowhere else in it."""
    inside = text[len(first) : len(text) - len(last)]
    whole = len(text) > len(first) + len(last) and text.startswith(first) and text.endswith(last)
    return whole and ((first not in inside and last not in inside) or (first == "'" and inside.count("'") == 1))


def compared(text: str) -> str:
    """Return a text as it is compared: NFC, no case, one blank between words, no full stop or mark at the end."""
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
"words on the task, wherever they stand: a small model explains itself more often than not"
_CHAT_MARKS = re.compile(r"<\||\|>|\[/?INST\]|</?s>|<<SYS>>|\{statement\}|\{n\}|\[(?:insert|your)\b", re.IGNORECASE)
_QUESTION_MARKS = ("?", "？", "؟", "\u037e")
_OVERRIDES = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufffd\ufeff")
"direction overrides reorder what stands beside them; U+FFFD stands for a broken character"


def unprintable(text: str) -> str:
    """Return the first character that no wording may hold, "" where there is none.

    Joiners and the marks of right-to-left scripts are part of words; controls, lone surrogates, direction overrides and
    the sign for a broken character are not.
    """
    return next((c for c in text if unicodedata.category(c) in ("Cc", "Cs", "Cn") or c in _OVERRIDES), "")


def wording_text(text: str) -> str:
    """Return a text as it may enter an instrument: no blanks around it, one line.

    Raises UsageError where it is empty, has more than 10,000 characters, or holds what does not print.
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


def read_answer(
    answer: str, prompt: DraftPrompt, basis: str, wordings: Iterable[Wording], before: Iterable[str]
) -> tuple[Line, ...]:
    """Return the lines of an answer, each with its fault.

    `basis` is the text that the model was shown, `wordings` are those of the statement in its language, and `before`
    the wordings drafted from the same text earlier, whatever was decided about them.
    """
    known = {compared(w.text) for w in wordings}
    seen = {compared(text) for text in before}
    found: list[Line] = []
    wanted = prompt.answer is Answer.LINES
    for line in lines_of(answer):
        text = bare(line)
        fault: str = fault_of(text, prompt, basis) or _known(compared(text), compared(basis), known, seen)
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


def fault_of(text: str, prompt: DraftPrompt, basis: str) -> str:
    """Return why a text by itself cannot be a wording, "" where it can.

    A question is no wording of a statement, and none that an original could become; of a question it is one. Lengths
    are characters, so that scripts without blanks are measured alike: far too long is three times the basis and
    a hundred more, far too short a fifth of it.
    """
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


def asks(text: str) -> bool:
    """Return whether a text ends as a question does."""
    return text.rstrip().endswith(_QUESTION_MARKS)


def _is_echo(text: str, prompt: DraftPrompt, basis: str) -> bool:
    """Return whether a line speaks of the task: an introduction, a remark, a chat mark, or words of the instruction."""
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
    """Return the places of drafts that a sample of `keep` leaves out, each draft as likely as the next.

    What people decided on already stays and counts. Which are drawn depends on the texts and the generator alone, not
    on the order in which the answers came.
    """
    stays = sum(decided)
    open_ = sorted((place for place, held in enumerate(decided) if not held), key=lambda place: texts[place])
    surplus = min(len(open_), stays + len(open_) - keep)
    if surplus <= 0:
        return ()
    drawn = rng.permutation(len(open_))[:surplus]
    return tuple(sorted(open_[int(place)] for place in drawn))


def basis_of(wordings: Iterable[Wording], kind: VariantKind, language: str) -> Wording | None:
    """Return the wording that a kind is drafted from in a language: the original, or for an original the question."""
    wanted = VariantKind.QUESTION if kind is VariantKind.ORIGINAL else ORIGINAL.kind
    return next((w for w in wordings if w.variant.kind is wanted and w.language == language), None)
