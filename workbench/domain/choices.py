"""Multiple-choice questions in two forms, and how often each letter was answered: what response
biases are made of.

A survey question is put as it is and in a changed form that moves people's answers in a known way;
or with typos that people overlook. The changed form may move a model's answers, or it
may not (Tjuatja, Chen, Wu, Talwalkar, Neubig 2024, table 1).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

LETTERS = "abcdefghijklmnopqrstuvwxyz"


class Bias(StrEnum):
    """A change of a question that is known to move people's answers."""

    ACQUIESCENCE = "acquiescence"
    ALLOW_FORBID = "allow_forbid"
    RESPONSE_ORDER = "response_order"
    OPINION_FLOAT = "opinion_float"
    ODD_EVEN = "odd_even"


class Perturbation(StrEnum):
    """A change that people overlook."""

    KEY_TYPO = "key_typo"
    "a letter of a word is another"
    MIDDLE_RANDOM = "middle_random"
    "the inner letters of a word are in random order"
    LETTER_SWAP = "letter_swap"
    "two neighbouring letters of a word are exchanged"


class Arm(StrEnum):
    """One of the two forms of a question that are compared."""

    ORIGINAL = "original"
    CHANGED = "changed"
    "with the bias, or with the perturbation"


@dataclass(frozen=True, slots=True)
class Choice:
    """The text of a question and its options."""

    stem: str
    options: tuple[str, ...]
    "without their letters, in the order in which they stand"

    @property
    def letters(self) -> str:
        """Return the letters that are offered: `abc`."""
        return LETTERS[: len(self.options)]

    def lettered(self) -> str:
        """Return the whole text as a model sees it: the stem, then a line an option, `A. …`."""
        named = zip(LETTERS.upper(), self.options, strict=False)
        return "\n".join([self.stem, *(f"{letter}. {option}" for letter, option in named)])


@dataclass(frozen=True, slots=True)
class ChoicePair:
    """One question in the two forms of one bias, with whatever is known of it."""

    key: str
    "of the question in its survey; the same key may stand under several biases"
    bias: Bias
    original: Choice
    changed: Choice | None
    "None: its text is not known, only answers to it"
    topic: str | None = None
    perturbed: Mapping[tuple[Perturbation, int], Choice] = field(default_factory=dict)
    "(perturbation, draw from 1) -> the original with errors"
    middle_removed: bool | None = None
    """odd/even: the survey had five options and the middle one was removed (True), or four and one
    was added (False)"""
    shares: tuple[float, ...] = ()
    "human shares of the original's options, in their order; empty where nobody was asked"
    variant: str = ""
    "of the bias, where a source words it in several ways: `reword`; a key stands once in each"
    warnings: tuple[str, ...] = ()
    "what is improbable in the file that the texts came from, as sentences"


@dataclass(frozen=True, slots=True)
class ArmAnswers:
    """The number of answers with each letter to one form of a question."""

    counts: Mapping[str, int]
    """letter -> times, as answered: letters that were not offered too; the empty string for answers
    without a letter"""
    recorded: int
    "number of options as the source records it, right or wrong"
    offered: int
    "number of options that were really offered"
    invalid: int = 0
    truncated: int = 0
    "answers that were cut off in thought"
    "answers that were drawn again because they were no offered letter"


@dataclass(frozen=True, slots=True)
class AnsweredPair:
    """The answers of one model to both forms of one question."""

    key: str
    original: ArmAnswers
    changed: ArmAnswers


@dataclass(frozen=True, slots=True)
class AnswerSet:
    """One model's answers to all questions of one bias under one condition, in the order of the
    source.
    """

    model: str
    bias: Bias
    condition: Perturbation | None
    "None: the changed form has the bias; else the changed form is the original with errors"
    pairs: tuple[AnsweredPair, ...]
    draw: int = 1
    "of the perturbation"
    mapped_back: bool = True
    """response order: answers to the changed form are letters of the original order already.
    Odd/even: they are, where `recorded` is what was offered. False: letters as they were offered,
    which whoever counts has to name back"""
    variant: str = ""
    "of the bias, as in `ChoicePair`: sets of different variants are no repetitions of one another"
    warnings: tuple[str, ...] = ()
    """what is improbable in the file that the answers came from, as sentences; shown with every
    result"""


@dataclass(frozen=True, slots=True)
class ChoiceItem:
    """A statement that is a multiple-choice question, with its bias and forms.

    The texts are the statement's wordings: `original`, `changed` and the typos, each as
    `Choice.lettered`.
    """

    ref: str
    "of the statement"
    key: str
    "of the question in its survey, as in `ChoicePair`"
    bias: Bias
    variant: str = ""
    middle_removed: bool | None = None
    shares: tuple[float, ...] = ()
    warnings: tuple[str, ...] = ()
    "as in `ChoicePair`"


ChoiceItems = Mapping[str, ChoiceItem]
"by the statement's ref"


def over_biases(items: Iterable[ChoiceItem]) -> tuple[str, ...]:
    """Return the refs with one of every bias first, then a second one of each: the first few are of
    all biases.
    """
    seen: dict[tuple[Bias, str], int] = {}
    places = []
    for item in items:
        kind = (item.bias, item.variant)
        seen[kind] = seen.get(kind, 0) + 1
        places.append((seen[kind], item.ref))
    return tuple(ref for _, ref in sorted(places, key=lambda place: place[0]))


def ref_of(bias: Bias, key: str, variant: str = "") -> str:
    """Return the ref of a question's statement: a key stands once under each bias, so the bias is
    part of it.

    Examples
    --------
    >>> ref_of(Bias.ODD_EVEN, "GAP_W82"), ref_of(Bias.ACQUIESCENCE, "GAP_W82", "reword")
    ('odd_even.GAP_W82', 'acquiescence-reword.GAP_W82')
    """
    return f"{bias}{'-' if variant else ''}{variant}.{key}"


def key_in(ref: str) -> str:
    """Return the key in a ref that `ref_of` made, or the ref itself if it is another one.

    Examples
    --------
    >>> key_in("odd_even.GAP_W82"), key_in("acquiescence-reword.GAP_W82"), key_in("town.q1")
    ('GAP_W82', 'GAP_W82', 'town.q1')
    """
    kind, _, key = ref.partition(".")
    return key if key and kind.partition("-")[0] in tuple(Bias) else ref


_OPTION = re.compile(r"([A-Z])\.(?: (.*)|)")
_EXPECTED = "the question, then an option a line: 'A. …', 'B. …'"
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a text is no multiple-choice question."""

    found: str
    expected: str


def parse_choice(text: str) -> Choice | Fault:
    r"""Return the question that a text is, or what is wrong with it.

    Lines may end as on Windows, and empty ones may follow the last option.

    Examples
    --------
    >>> parse_choice("Better or worse?\nA. Better\nB. Worse")
    Choice(stem='Better or worse?', options=('Better', 'Worse'))
    >>> parse_choice("Better or worse?\nA. Better\nC. Worse").found
    'options with the letters A, C'
    """
    lines = text.replace("\r\n", "\n").rstrip("\n").split("\n")
    matches = [_OPTION.fullmatch(line) for line in lines]
    if not text.strip():
        return Fault("an empty text", _EXPECTED)
    begin = len(lines)
    while begin and matches[begin - 1]:
        begin -= 1
    named = [(match[1], match[2] or "") for match in matches[begin:] if match]
    if (
        begin == 0
        and len(named) > 1
        and "".join(letter for letter, _ in named[1:]) == _capitals(len(named) - 1)
    ):
        # A stem of one line that looks like an option: "A. Smith says:".
        begin, named = (
            1,
            named[1:],
        )
    return _choice(lines, begin, named)


def _choice(lines: list[str], begin: int, named: list[tuple[str, str]]) -> Choice | Fault:
    letters = [letter for letter, _ in named]
    if not letters:
        last = next((line for line in lines if _OPTION.fullmatch(line)), None) and _short(lines[-1])
        return Fault(
            f"{last!r} as the last line" if last else "a question without lettered options",
            _EXPECTED,
        )
    stem = "\n".join(lines[:begin])
    if not stem.strip():
        return Fault("options without a question", _EXPECTED)
    if "".join(letters) != _capitals(len(letters)):
        return Fault(
            f"options with the letters {', '.join(letters)}",
            f"letters in order: {_named(len(letters))}",
        )
    if len(letters) == 1:
        return Fault(f"a question with one option, {_short(named[0][1])!r}", "two options or more")
    empty = next((letter for letter, option in named if not option.strip()), None)
    if empty is not None:
        return Fault(f"an empty option {empty}", "some text after every letter")
    options = tuple(option for _, option in named)
    twice = next(
        (option for place, option in enumerate(options) if option in options[:place]), None
    )
    if twice is not None:
        return Fault(f"the option {_short(twice)!r} twice", "every option once")
    return Choice(stem, options)


def _capitals(n: int) -> str:
    return LETTERS[:n].upper()


def _named(n: int) -> str:
    return ", ".join(_capitals(n))


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
