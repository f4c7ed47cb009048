"""Lines of a model's answer, and the wordings in them.

Marks around a wording are removed, and the inside stays unchanged. A changed form of a
multiple-choice question is a draft of several lines: the question, and its options.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from workbench.domain.choices import Bias, Choice, ChoicePair, parse_choice
from workbench.domain.choices import ChoiceFault as TextFault
from workbench.domain.drafting import SINGLE, DraftedAnswer, DraftPrompt
from workbench.domain.prompts import SLOT
from workbench.domain.statements import ORIGINAL, RELATION_OF, Relation, VariantKind, Wording
from workbench.errors import UsageError
from workbench.workshop.choice_forms import pair_faults, pair_hints

if TYPE_CHECKING:
    import numpy as np

YES_NO = ("Yes", "No")
"""options of every written changed form (Tjuatja et al. 2024, table 1)

They are added to a question without options.
"""
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
    stem, options = _parted([text_line for text_line in line.split("\n") if text_line.strip()])
    yes_no_by_word = {option.lower(): option for option in YES_NO}
    # The letters are removed already, so a number belongs to the option.
    option_texts = [unmarked(option) for option in options]
    if all(option.endswith(".") for option in option_texts):
        option_texts = [option.rstrip(" .") for option in option_texts]
    return Choice(
        bare(stem),
        tuple(yes_no_by_word.get(option.lower(), option) for option in option_texts) or YES_NO,
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
        match = _OPTION.fullmatch(line.strip())
        n_options = len(_parted(parts[-1])[1]) if parts else 0
        if match and parts and ord(match[1]) - ord("A") == n_options:
            parts[-1].append(line)
        else:
            parts.append([line])
    return tuple("\n".join(part) for part in parts) or (answer,)


def offers(line: str) -> bool:
    """Return whether a part of an answer has options."""
    return bool(_parted([text_line for text_line in line.split("\n") if text_line.strip()])[1])


def _parted(lines: list[str]) -> tuple[str, list[str]]:
    """Return the question and its options, without letters."""
    options: list[str] = []
    stem = list(lines)
    while len(stem) > 1 and (match := _OPTION.fullmatch(stem[-1].strip())):
        options.insert(0, match[2])
        stem.pop()
    text = "\n".join(stem)
    if not options and (trailing := _BEHIND.search(text)):
        return text[: trailing.start()], [trailing[1], trailing[2]]
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
"a number or letter before a wording, while `30 - 40 hours` begins with none"
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

    Removed are spaces, one bullet, one number of up to three digits (`3.`, `(3)`, `3 -`), one name
    such as `Paraphrase 3:`, and, repeatedly, emphasis (`**…**`, backticks) and quotation marks
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
        previous = text
        for pattern in markers.copy():
            end = _end_of_marker(pattern, text)
            if end:
                text = text[end:]
                markers.remove(pattern)
        text = unmarked(text)
        if text == previous:
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
        previous = text
        for mark in _EMPHASIS:
            if _around(text, mark, mark):
                text = text[len(mark) : -len(mark)].strip()
        if text[:1] in _QUOTES and _around(text, text[0], _QUOTES[text[0]]):
            text = text[1:-1].strip()
        if text == previous:
            break
    return text


def _end_of_marker(pattern: re.Pattern[str], text: str) -> int:
    """Return the end of a marker at the beginning of a text, or 0 if there is none."""
    match = pattern.match(text)
    if match is None or (pattern is _LABEL and not match.group().strip(" \t:")):
        return 0
    return match.end()


def _around(text: str, first: str, last: str) -> bool:
    """Return whether marks surround the whole text and do not occur inside it."""
    inner = text[len(first) : len(text) - len(last)]
    is_surrounded = (
        len(text) > len(first) + len(last) and text.startswith(first) and text.endswith(last)
    )
    return is_surrounded and (
        (first not in inner and last not in inner) or (first == "'" and inner.count("'") == 1)
    )


LONGEST = 10_000
"the largest number of characters of a wording"
SHINGLE = 5
"number of consecutive words of the instruction that make a line an echo of it"


class DraftFault(StrEnum):
    """The reason why a line is not shown to reviewers."""

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
    DraftFault.EMPTY: ("is empty", "are empty"),
    DraftFault.CONTROL: (
        "has unprintable or broken characters",
        "have unprintable or broken characters",
    ),
    DraftFault.ECHO: (
        "talks about the task instead of doing it",
        "talk about the task instead of doing it",
    ),
    DraftFault.REFUSAL: ("is a refusal", "are refusals"),
    DraftFault.SAME: (
        "repeats the text it was drafted from",
        "repeat the text they were drafted from",
    ),
    DraftFault.WORDING: (
        "repeats another wording of the statement",
        "repeat another wording of the statement",
    ),
    DraftFault.QUESTION: ("is a question", "are questions"),
    DraftFault.CHOICE: ("is no question with options", "are no questions with options"),
    DraftFault.FORM: (
        "does not have the form that its bias needs",
        "do not have the form that their bias needs",
    ),
    DraftFault.LONG: ("is far too long", "are far too long"),
    DraftFault.SHORT: ("is far too short", "are far too short"),
    DraftFault.REPEAT: ("was drafted before", "were drafted before"),
    DraftFault.EXTRA: ("exceeds the number asked for", "exceed the number asked for"),
    DraftFault.UNSAMPLED: ("was left out by the sample", "were left out by the sample"),
}
"a fault as a predicate of one line, and of several"


def fault_in_words(fault: str, lines: int = 1) -> str:
    """Return a fault as a predicate of that many lines.

    A fault of a newer workbench keeps its name.

    >>> fault_in_words("echo"), fault_in_words("echo", 3)
    ('talks about the task instead of doing it', 'talk about the task instead of doing it')
    """
    return FAULTS[DraftFault(fault)][lines != 1] if fault in tuple(DraftFault) else fault


@dataclass(frozen=True, slots=True)
class AnswerLine:
    """One line of an answer."""

    text: str
    "exactly as the model gave it"
    fault: str = ""


def compared(text: str) -> str:
    """Return a text normalised for comparison.

    It is NFC, without case, with single spaces, and without a final full stop or mark.
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
"words about the task, at any position, as small models usually explain themselves"
_CHAT_MARKS = re.compile(
    r"<\||\|>|\[/?INST\]|</?s>|<<SYS>>|\{statement\}|\{n\}|\[(?:insert|your)\b", re.IGNORECASE
)
_QUESTION_MARKS = ("?", "？", "؟", "\u037e")
_OVERRIDES = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufffd\ufeff")
"""characters that are never allowed

Direction overrides reorder adjacent text, and U+FFFD stands for a broken character.
"""


def unprintable(text: str) -> str:
    """Return the first character that is not allowed in a wording, or empty if there is none.

    Joiners and the marks of right-to-left scripts are part of words. Controls, lone surrogates,
    direction overrides and the sign for a broken character are not.
    """
    return next(
        (
            character
            for character in text
            if unicodedata.category(character) in ("Cc", "Cs", "Cn") or character in _OVERRIDES
        ),
        "",
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
    if forbidden := unprintable(text):
        escaped = forbidden.encode("unicode_escape").decode("ascii")
        raise UsageError(
            f"the wording holds {escaped}, which does not show; give a wording without it"
        )
    return text


def entering(kind: VariantKind, text: str) -> str:
    """Return a text in the form for an instrument as a wording of a kind.

    A changed form keeps its options.

    Raises UsageError, naming the fault.
    """
    if kind is not VariantKind.CHANGED:
        return wording_text(text)
    as_written = parse_choice(text.strip())
    parsed = parse_choice(drafted(kind, text)) if isinstance(as_written, TextFault) else as_written
    if isinstance(parsed, TextFault):
        fault = as_written if isinstance(as_written, TextFault) else parsed
        raise UsageError(f"found {fault.found}; expected {fault.expected}")
    for part in (parsed.stem, *parsed.options):
        wording_text(part)
    return parsed.lettered()


def form_faults(bias: Bias, original: str, changed: str) -> tuple[str, ...]:
    """Return sentences on the requirements of a bias that two texts fail.

    The bias has a written changed form.
    """
    forms = [parse_choice(text) for text in (original, changed)]
    if faults := [form for form in forms if isinstance(form, TextFault)]:
        return (f"found {faults[0].found}; expected {faults[0].expected}",)
    first, second = (form for form in forms if isinstance(form, Choice))
    return pair_faults(ChoicePair("", bias, first, second))


def read_answer(
    answer: str, prompt: DraftPrompt, basis: str, wordings: Iterable[Wording], before: Iterable[str]
) -> tuple[AnswerLine, ...]:
    """Return the lines of an answer, each with its fault.

    `basis` is the text shown to the model, `wordings` are those of the statement in its language,
    and `before` are wordings drafted from the same text earlier, whatever the decisions on them.
    """
    known_texts = {compared(wording.text) for wording in wordings}
    earlier_texts = {compared(text) for text in before}
    lines: list[AnswerLine] = []
    takes_several = prompt.answer is DraftedAnswer.LINES
    for line in (questions_of if prompt.kind is VariantKind.CHANGED else lines_of)(answer):
        text = drafted(prompt.kind, line)
        fault: str = fault_of(text, prompt, basis, line) or _repetition_fault(
            compared(text), compared(basis), known_texts, earlier_texts
        )
        if not fault and not takes_several and any(not line_.fault for line_ in lines):
            fault = DraftFault.EXTRA
        if not fault:
            earlier_texts.add(compared(text))
        lines.append(AnswerLine(line, str(fault)))
    return tuple(lines)


def _repetition_fault(text: str, basis: str, wordings: set[str], earlier_drafts: set[str]) -> str:
    if text == basis:
        return DraftFault.SAME
    if text in wordings:
        return DraftFault.WORDING
    return DraftFault.REPEAT if text in earlier_drafts else ""


def fault_of(text: str, prompt: DraftPrompt, basis: str, line: str = "") -> str:
    """Return the reason why a text alone cannot be a wording, or an empty string if it can.

    `line` is the line that it was extracted from. A question is not a wording of a statement, only
    of a question. Lengths are in characters, so that scripts without spaces are treated alike: far
    too long is more than three times the basis plus a hundred, far too short less than a fifth of
    it.
    """
    if prompt.kind is VariantKind.CHANGED:
        return _changed_fault(text, prompt, basis, line)
    length, basis_length = len(text), len(basis)
    checks = (
        (DraftFault.EMPTY, not any(character.isalnum() for character in text)),
        (DraftFault.CONTROL, unprintable(text) != ""),
        (
            DraftFault.REFUSAL,
            _REFUSAL.match(text) is not None and compared(basis)[:12] != compared(text)[:12],
        ),
        (DraftFault.ECHO, _is_echo(text, prompt, basis)),
        (
            DraftFault.QUESTION,
            asks(text) and (prompt.kind is VariantKind.ORIGINAL or not asks(basis)),
        ),
        (DraftFault.LONG, length > min(LONGEST, 3 * basis_length + 100)),
        (DraftFault.SHORT, length < basis_length / 5 or length < 3),
    )
    return next((fault for fault, holds in checks if holds), "")


def _changed_fault(text: str, prompt: DraftPrompt, basis: str, line: str) -> str:
    """Return the reason why a text cannot be the changed form of a question.

    A line without options must end like a question. It is then given the options Yes and No.
    """
    stem = text.partition("\nA. ")[0]
    checks = (
        (DraftFault.EMPTY, not any(character.isalnum() for character in stem)),
        (DraftFault.CONTROL, any(unprintable(part) for part in text.split("\n"))),
        (
            DraftFault.REFUSAL,
            _REFUSAL.match(stem) is not None and compared(basis)[:12] != compared(stem)[:12],
        ),
        (DraftFault.ECHO, _is_echo(stem, prompt, basis)),
        (DraftFault.CHOICE, not asks(stem) and not offers(line or text)),
        (DraftFault.LONG, len(text) > min(LONGEST, 3 * len(basis) + 100)),
        (DraftFault.FORM, prompt.bias is not None and form_faults(prompt.bias, basis, text) != ()),
    )
    return next((fault for fault, holds in checks if holds), "")


def asks(text: str) -> bool:
    """Return whether a text ends like a question."""
    return text.rstrip().endswith(_QUESTION_MARKS)


def _is_echo(text: str, prompt: DraftPrompt, basis: str) -> bool:
    """Return whether a line talks about the task.

    It has an introduction, a chat mark or the instruction's words.
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
    return {tuple(words[index : index + SHINGLE]) for index in range(len(words) - SHINGLE + 1)}


def excluded_indices(
    texts: Sequence[str], decided: Sequence[bool], keep: int, rng: np.random.Generator
) -> tuple[int, ...]:
    """Return the indices of drafts that a random sample of `keep` leaves out.

    All have equal probabilities.

    Drafts with decisions stay and count. The sample depends only on the texts and the generator,
    not on the order of the answers.
    """
    n_decided = sum(decided)
    open_indices = sorted(
        (index for index, is_decided in enumerate(decided) if not is_decided),
        key=lambda index: texts[index],
    )
    n_left_out = min(len(open_indices), n_decided + len(open_indices) - keep)
    if n_left_out <= 0:
        return ()
    sampled = rng.permutation(len(open_indices))[:n_left_out]
    return tuple(sorted(open_indices[int(index)] for index in sampled))


def basis_of(wordings: Iterable[Wording], kind: VariantKind, language: str) -> Wording | None:
    """Return the wording from which a kind is drafted in a language.

    It is the original, or for an original the question.
    """
    basis_kind = VariantKind.QUESTION if kind is VariantKind.ORIGINAL else ORIGINAL.kind
    return next(
        (
            wording
            for wording in wordings
            if wording.variant.kind is basis_kind and wording.language == language
        ),
        None,
    )


NEGATORS = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|neither|nor|nowhere|without|cannot)\b|n['’]t\b",
    re.IGNORECASE,
)
_QUANTIFIED = re.compile(
    r"(?:all|every|everyone|everybody|each|only|some|many|most|few|any|both|no)\b", re.IGNORECASE
)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
FEW_NEW, MANY_NEW = 0.15, 0.95
"""shares of words that the other text lacks

Below the first almost nothing was varied, and above the second everything.
"""


def draft_hints(
    kind: VariantKind,
    language: str,
    basis: str,
    line: str,
    current_wordings: Iterable[Wording],
    bias: Bias | None = None,
) -> tuple[str, ...]:
    """Return hints on a drafted line, given the current wordings of its statement.

    `bias` is the bias of the question if the draft is a changed form.
    """
    wordings = [wording for wording in current_wordings if wording.language == language]
    current_basis = basis_of(wordings, kind, language)
    other_wordings = [
        wording for wording in wordings if wording.variant.kind is not kind or kind not in SINGLE
    ]
    basis_name = "question" if kind is VariantKind.ORIGINAL else "original"
    basis_hints = (
        ()
        if current_basis is not None and current_basis.text == basis
        else (f"the {basis_name} was changed since this was drafted",)
    )
    return (*basis_hints, *hints(kind, language, basis, drafted(kind, line), other_wordings, bias))


def hints(
    kind: VariantKind,
    language: str,
    basis: str,
    text: str,
    wordings: Iterable[Wording],
    bias: Bias | None = None,
) -> tuple[str, ...]:
    """Return hints, in sentences.

    `basis` is the text that it was drafted from, and `wordings` are those of the statement in its
    language.
    """
    is_english = language.split("-")[0] == "en"
    if kind is VariantKind.CHANGED:
        found_hints = list(_worded(basis, text, bias)) if is_english else []
    else:
        found_hints = [
            *(_meaning(kind, basis, text) if is_english else ()),
            *_form(kind, basis, text),
        ]
    for wording in wordings:
        if compared(wording.text) == compared(text):
            found_hints.append(f"the same text as the {wording.variant} that is there")
    return tuple(found_hints)


def _worded(basis: str, text: str, bias: Bias | None) -> Iterator[str]:
    """Yield hints on both forms of a question with a written changed form."""
    original, changed = parse_choice(basis), parse_choice(text)
    if bias is not None and isinstance(original, Choice) and isinstance(changed, Choice):
        yield from form_faults(bias, basis, text)
        yield from pair_hints(ChoicePair("", bias, original, changed))


def _meaning(kind: VariantKind, basis: str, text: str) -> Iterator[str]:
    """Yield hints on negators, in English."""
    n_before, n_after = len(NEGATORS.findall(basis)), len(NEGATORS.findall(text))
    has_same_meaning = RELATION_OF[kind] is Relation.SAME and kind is not VariantKind.ORIGINAL
    if kind is VariantKind.NEGATION:
        if n_before == n_after:
            yield "no negation was added or taken away"
        if match := _QUANTIFIED.match(basis):
            yield f"the original begins with “{match.group()}”: look at what the negation denies"
        if re.search(r"\b(?:and|or|but|because|unless|if)\b", basis, re.IGNORECASE):
            yield "the original has several parts: look at which of them is denied"
    elif kind is VariantKind.OPPOSITE and n_after > n_before:
        yield "it has a negation more: an opposite does without"
    elif has_same_meaning and n_before != n_after:
        yield "it has another number of negations than the original: is the meaning the same?"


def _form(kind: VariantKind, basis: str, text: str) -> Iterator[str]:
    """Yield hints on features of all scripts: numbers, length, common words, the end."""
    numbers, other_numbers = sorted(_NUMBER.findall(basis)), sorted(_NUMBER.findall(text))
    if numbers != other_numbers:
        yield f"other numbers: {_listed(numbers)} in the original, {_listed(other_numbers)} here"
    new_share = _new_words(basis, text)
    should_vary = kind not in (VariantKind.NEGATION, VariantKind.ORIGINAL)
    if should_vary and new_share < FEW_NEW:
        yield "next to nothing was varied"
    if kind is VariantKind.NEGATION and new_share > 0.5:
        yield "a negation changes little else: most words differ"
    if should_vary and new_share > MANY_NEW:
        yield "hardly a word in common: is it about the same matter?"
    if len(text) > 1.8 * len(basis) + 10:
        yield "much longer than the original"
    if basis[-1:] in ".!。" and text[-1:] not in ".!。…":
        yield "no full stop at the end, as the original has"
    if asks(basis) and not asks(text) and kind is not VariantKind.ORIGINAL:
        yield "no question, as the original is"


def _new_words(basis: str, text: str) -> float:
    """Return the share of the text's words that the basis lacks."""
    basis_words = set(re.findall(r"\w+", compared(basis)))
    text_words = re.findall(r"\w+", compared(text))
    return (
        sum(word not in basis_words for word in text_words) / len(text_words) if text_words else 0.0
    )


def _listed(numbers: list[str]) -> str:
    return ", ".join(numbers) or "none"
