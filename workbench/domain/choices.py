"""Multiple-choice questions in two forms, and the number of answers with each letter.

Response biases are made of these. A survey question is put as it is and in a changed form that
moves people's answers in a known way, or with typos that people overlook. The changed form may move
a model's answers, or it may not (Tjuatja, Chen, Wu, Talwalkar, Neubig 2024, table 1).
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
    "texts of the options without their letters, in the order in which they stand"

    @property
    def letters(self) -> str:
        """The letters that are offered: `abc`."""
        return LETTERS[: len(self.options)]

    def lettered(self) -> str:
        """Return the whole text as a model sees it.

        The stem comes first, then each option on a line, `A. …`.
        """
        lettered_options = zip(LETTERS.upper(), self.options, strict=False)
        return "\n".join(
            [self.stem, *(f"{letter}. {option}" for letter, option in lettered_options)]
        )


@dataclass(frozen=True, slots=True)
class ChoicePair:
    """One question in the two forms of one bias, with whatever is known of it."""

    key: str
    "key of the question in its survey, which may stand under several biases"
    bias: Bias
    original: Choice
    changed: Choice | None
    "None if its text is not known, only answers to it"
    topic: str | None = None
    perturbed: Mapping[tuple[Perturbation, int], Choice] = field(default_factory=dict)
    "(perturbation, draw from 1) -> the original with errors"
    middle_removed: bool | None = None
    """whether the middle one of five options was removed, for odd/even

    If False, the survey had four options and one was added.
    """
    shares: tuple[float, ...] = ()
    """human shares of the original's options, in their order

    They are empty if nobody was asked.
    """
    variant: str = ""
    """variant of the bias, if a source words it in several ways: `reword`

    A key stands once in each.
    """
    warnings: tuple[str, ...] = ()
    "improbable facts in the file of the texts, as sentences"


@dataclass(frozen=True, slots=True)
class ArmAnswers:
    """The number of answers with each letter to one form of a question."""

    counts: Mapping[str, int]
    """letter -> times, as answered

    Letters that were not offered count, too. The empty string stands for answers without a letter.
    """
    recorded: int
    "number of options as the source records it, right or wrong"
    offered: int
    "number of options that were really offered"
    invalid: int = 0
    truncated: int = 0
    "`truncated`: answers that were cut off in thought"
    "`invalid`: answers that were drawn again because they were no offered letter"


@dataclass(frozen=True, slots=True)
class AnsweredPair:
    """The answers of one model to both forms of one question."""

    key: str
    original: ArmAnswers
    changed: ArmAnswers


@dataclass(frozen=True, slots=True)
class AnswerSet:
    """One model's answers to all questions of one bias under one condition.

    The answers are in the order of the source.
    """

    model: str
    bias: Bias
    condition: Perturbation | None
    "None if the changed form has the bias, else the errors by which it differs from the original"
    pairs: tuple[AnsweredPair, ...]
    draw: int = 1
    "number of the perturbation's draw"
    mapped_back: bool = True
    """whether letters of the changed form are already those of the original order

    For odd/even, they are if `recorded` is the number of options that was offered. If False,
    letters are those that were offered, and the counting code has to map them back.
    """
    variant: str = ""
    """variant of the bias, as in `ChoicePair`

    Sets of different variants are no repetitions of one another.
    """
    warnings: tuple[str, ...] = ()
    """improbable facts in the file of the answers, as sentences

    They are shown with every result.
    """


@dataclass(frozen=True, slots=True)
class ChoiceItem:
    """A statement that is a multiple-choice question, with its bias and forms.

    The texts are the statement's wordings: `original`, `changed` and the typos, each as
    `Choice.lettered`.
    """

    ref: str
    "ref of the statement"
    key: str
    "key of the question in its survey, as in `ChoicePair`"
    bias: Bias
    variant: str = ""
    middle_removed: bool | None = None
    shares: tuple[float, ...] = ()
    warnings: tuple[str, ...] = ()
    "the same as in `ChoicePair`"


ChoiceItems = Mapping[str, ChoiceItem]
"items by the statement's ref"


def over_biases(items: Iterable[ChoiceItem]) -> tuple[str, ...]:
    """Return the refs with one of every bias first, then a second one of each.

    So the first few are of all biases.
    """
    counts: dict[tuple[Bias, str], int] = {}
    refs_by_rank = []
    for item in items:
        kind = (item.bias, item.variant)
        counts[kind] = counts.get(kind, 0) + 1
        refs_by_rank.append((counts[kind], item.ref))
    return tuple(ref for _, ref in sorted(refs_by_rank, key=lambda ranked: ranked[0]))


def ref_of(bias: Bias, key: str, variant: str = "") -> str:
    """Return the ref of a question's statement.

    A key stands once under each bias, so the bias is part of the ref.

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
class ChoiceFault:
    """The reason why a text is not a multiple-choice question."""

    found: str
    expected: str


def parse_choice(text: str) -> Choice | ChoiceFault:
    r"""Return the question in a text, or the fault of the text.

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
        return ChoiceFault("an empty text", _EXPECTED)
    first_option = len(lines)
    while first_option and matches[first_option - 1]:
        first_option -= 1
    lettered_options = [(match[1], match[2] or "") for match in matches[first_option:] if match]
    if (
        first_option == 0
        and len(lettered_options) > 1
        and "".join(letter for letter, _ in lettered_options[1:])
        == _capitals(len(lettered_options) - 1)
    ):
        # A stem of one line that looks like an option: "A. Smith says:".
        first_option, lettered_options = (
            1,
            lettered_options[1:],
        )
    return _choice(lines, first_option, lettered_options)


def _choice(lines: list[str], begin: int, named: list[tuple[str, str]]) -> Choice | ChoiceFault:
    letters = [letter for letter, _ in named]
    if not letters:
        last = next((line for line in lines if _OPTION.fullmatch(line)), None) and _short(lines[-1])
        return ChoiceFault(
            f"{last!r} as the last line" if last else "a question without lettered options",
            _EXPECTED,
        )
    stem = "\n".join(lines[:begin])
    if not stem.strip():
        return ChoiceFault("options without a question", _EXPECTED)
    if "".join(letters) != _capitals(len(letters)):
        return ChoiceFault(
            f"options with the letters {', '.join(letters)}",
            f"letters in order: {_named(len(letters))}",
        )
    if len(letters) == 1:
        return ChoiceFault(
            f"a question with one option, {_short(named[0][1])!r}", "two options or more"
        )
    empty = next((letter for letter, option in named if not option.strip()), None)
    if empty is not None:
        return ChoiceFault(f"an empty option {empty}", "some text after every letter")
    options = tuple(option for _, option in named)
    repeated = next(
        (option for index, option in enumerate(options) if option in options[:index]), None
    )
    if repeated is not None:
        return ChoiceFault(f"the option {_short(repeated)!r} twice", "every option once")
    return Choice(stem, options)


def _capitals(n: int) -> str:
    return LETTERS[:n].upper()


def _named(n: int) -> str:
    return ", ".join(_capitals(n))


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
