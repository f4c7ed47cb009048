"""Compares two forms of a multiple-choice question: options that moved, were added, or were removed.

In a comparison by words, reordered options look like other options. Here options are matched by text.
"""

from __future__ import annotations

from dataclasses import dataclass

from workbench.domain.choices import LETTERS, Choice


@dataclass(frozen=True, slots=True)
class OptionLine:
    """One option of either form."""

    letter: str
    "capital letter in the changed form, or in the original if the option was removed"
    text: str
    was: str | None = None
    "its letter in the original; None: new"
    gone: bool = False
    "whether the changed form lacks it"

    @property
    def mark(self) -> str:
        """The change: `+` new, `−` removed, `was C` with another letter; empty if unchanged."""
        if self.gone:
            return "−"
        if self.was is None:
            return "+"
        return "" if self.was == self.letter else f"was {self.was}"


def option_lines(original: Choice, changed: Choice) -> tuple[OptionLine, ...]:
    """Return the options of the changed form in order; removed ones are at their original positions.

    Examples
    --------
    >>> scale = ("Good", "So-so", "Bad")
    >>> [f"{one.letter} {one.mark}" for one in option_lines(Choice("?", scale), Choice("?", scale[::-1]))]
    ['A was C', 'B ', 'C was A']
    """
    lines = [
        OptionLine(LETTERS[place].upper(), option, _letter(original, option))
        for place, option in enumerate(changed.options)
    ]
    for place, option in enumerate(original.options):
        if option not in changed.options:
            letter = LETTERS[place].upper()
            before = LETTERS[place - 1].upper() if place else None
            after = next((at + 1 for at, line in enumerate(lines) if before and line.was == before), 0)
            lines.insert(after, OptionLine(letter, option, letter, gone=True))
    return tuple(lines)


def word_pairs(before: str, after: str) -> tuple[tuple[str, str], ...]:
    """Return each word with its form after typos; () if the words do not correspond.

    Examples
    --------
    >>> word_pairs("Good or bad?", "Gopd or bad?")
    (('Good', 'Gopd'), ('or', 'or'), ('bad?', 'bad?'))
    """
    was, now = before.split(" "), after.split(" ")
    alike = [(old, new) for old, new in zip(was, now, strict=False) if len(old) == len(new)]
    return tuple(alike) if len(alike) == len(was) == len(now) else ()


def _letter(choice: Choice, option: str) -> str | None:
    return LETTERS[choice.options.index(option)].upper() if option in choice.options else None
