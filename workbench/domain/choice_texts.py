"""A multiple-choice question as one text: the stem, then a line an option, `A. …`; what `Choice.lettered` writes.

Stems may have several lines, options may not. A text is read exactly or refused with what is wrong in it: a question
whose options were misread would be asked with answers that it does not have.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from workbench.domain.choices import LETTERS, Choice

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
    if begin == 0 and len(named) > 1 and "".join(letter for letter, _ in named[1:]) == _capitals(len(named) - 1):
        begin, named = 1, named[1:]  # a stem of one line that looks like an option: "A. Smith says:"
    return _choice(lines, begin, named)


def _choice(lines: list[str], begin: int, named: list[tuple[str, str]]) -> Choice | Fault:
    letters = [letter for letter, _ in named]
    if not letters:
        last = next((line for line in lines if _OPTION.fullmatch(line)), None) and _short(lines[-1])
        return Fault(f"{last!r} as the last line" if last else "a question without lettered options", _EXPECTED)
    stem = "\n".join(lines[:begin])
    if not stem.strip():
        return Fault("options without a question", _EXPECTED)
    if "".join(letters) != _capitals(len(letters)):
        return Fault(f"options with the letters {', '.join(letters)}", f"letters in order: {_named(len(letters))}")
    if len(letters) == 1:
        return Fault(f"a question with one option, {_short(named[0][1])!r}", "two options or more")
    empty = next((letter for letter, option in named if not option.strip()), None)
    if empty is not None:
        return Fault(f"an empty option {empty}", "some text after every letter")
    options = tuple(option for _, option in named)
    twice = next((option for place, option in enumerate(options) if option in options[:place]), None)
    if twice is not None:
        return Fault(f"the option {_short(twice)!r} twice", "every option once")
    return Choice(stem, options)


def _capitals(n: int) -> str:
    return LETTERS[:n].upper()


def _named(n: int) -> str:
    return ", ".join(_capitals(n))


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
