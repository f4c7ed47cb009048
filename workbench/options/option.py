"""The declaration of an option, which defines its flag, form field, check and record.

An invalid value raises `FieldError`, which refers to the option: a form marks the field, and the
command line names the flag.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from enum import Enum
from pathlib import Path
from typing import Any

from workbench.errors import FieldError, UsageError
from workbench.regular_files import check_regular


class Type(Enum):
    """The type of a value."""

    TEXT = "text"
    WHOLE = "a whole number"
    NUMBER = "a number"
    FLAG = "yes or no"
    PATH = "a path"


ALL = ("", "all")
"input that means None in an optional field"
THOUSANDS = re.compile(r"[1-9]\d{0,2}(,\d{3})+(\.\d+)?")
NEAR = 0.78
"least similarity of a typed word to a known one (difflib) for it to be suggested"
"`THOUSANDS`: a number with commas between thousands, where other commas are decimal commas"
LONG = 24
"most characters of all choices in a usage line, beyond which the help lists them"
MOST_WHOLE = 2**63 - 1
"the largest whole number that a store can hold"
METAVARS = {Type.WHOLE: "N", Type.NUMBER: "X", Type.TEXT: "NAME", Type.PATH: "FILE"}


@dataclass(frozen=True, slots=True, eq=False)
class Option:
    """The name, values and default of an option."""

    name: str
    "name as in code and in JSON: `top_p` is the flag `--top-p`"
    help: str = ""
    type: Type = Type.TEXT
    default: Any = None
    none: str = ""
    "meaning of None as the default: `the only one`"
    choices: Mapping[str, str] | Sequence[str] = ()
    "names, or names with their meanings"
    least: float | None = None
    above: float | None = None
    "exclusive lower bound"
    most: float | None = None
    check: Callable[[Any], str] | None = None
    "returns the fault of a value, to follow `found X; `, or an empty string if it is valid"
    unit: str = ""
    label: str = ""
    "label of the form field, if it is not the name in words"
    metavar: str | tuple[str, ...] = ""
    "placeholder of the value in a usage line, or several for an option with several values"
    positional: bool = False
    required: bool = False
    many: bool = False
    "whether it may be repeated, so that its value is a tuple"
    several: bool = False
    "whether it takes every word up to the next option, so that its value is a tuple"
    bare: Any = None
    "the value of the flag without a value, if allowed"
    words: tuple[str, ...] = ()
    "words allowed instead of a number"
    completes: str = ""
    "kind of names in a store for completion: models, instruments, queues"

    @property
    def flag(self) -> str:
        """The option as typed.

        It is `--top-p`, or a positional one as in its usage line.
        """
        return (
            self.name.upper() if self.positional else f"--{self.name.rstrip('_').replace('_', '-')}"
        )

    @property
    def word(self) -> str:
        """The option without the dashes of its flag: `top-p`."""
        return self.flag.removeprefix("--")

    @property
    def title(self) -> str:
        """The label of the option in a form."""
        return self.label or self.name.replace("_", " ")

    @property
    def explained(self) -> str:
        """The help, with the unit and the default."""
        default_text = self.none
        if not default_text and self.default not in (None, False, "", ()):
            default_text = f"{self.text()} {self.unit}".strip()
        choices_listed = (
            ", ".join(self.choices)
            if len("|".join(self.choices)) > LONG and not self.positional
            else ""
        )
        help_text = (
            f"{self.help}: {choices_listed}"
            if self.help and choices_listed
            else self.help or choices_listed
        )
        return f"{help_text} (default: {default_text})".lstrip() if default_text else help_text

    def but(self, **changes: Any) -> Option:
        """Return a copy of the option with changes, such as another help or default."""
        return replace(self, **changes)

    def of(self, what: str) -> Option:
        """Return the option with help about its use: `seed of the bootstrap intervals`."""
        return replace(self, help=f"{self.name} of {what}")

    def text(self, value: Any = None) -> str:
        """Return a value, or else the default, as it is typed."""
        chosen_value = self.default if value is None else value
        if chosen_value is None:
            return ""
        if isinstance(chosen_value, float):
            return f"{chosen_value:g}"
        return (
            ",".join(map(str, chosen_value))
            if isinstance(chosen_value, tuple | list)
            else str(chosen_value)
        )

    def read(self, text: str) -> Any:
        """Return the value of typed text.

        Raises FieldError.

        Examples
        --------
        >>> Option("tries", type=Type.WHOLE, least=1).read("1,000")
        1000
        >>> Option("overlap", type=Type.NUMBER).read("0,2")
        0.2
        >>> Option("respondents", type=Type.WHOLE, none="all").read("all") is None
        True
        """
        stripped = text.strip()
        if self.type in (Type.WHOLE, Type.NUMBER):
            if self.none and stripped.casefold() in ALL:
                return None
            if stripped.casefold() in self.words:
                return stripped.casefold()
            return self.checked(self._number(stripped))
        if self.type is Type.PATH:
            return self.checked(Path(text))
        if self.choices:
            return self.checked(self._choice(stripped))
        return self.checked(text)

    def needed(self, text: str) -> Any:
        """Return the value of a required field.

        Raises FieldError.
        """
        value = self.read(text)
        if value is None:
            raise self.error(
                f"found no value; give {self.type.value}"
                + (f", {self._bounds}" if self._bounds else "")
            )
        return value

    def checked(self, value: Any) -> Any:
        """Return a valid value.

        Raises FieldError for an invalid one.
        """
        if isinstance(value, int) and abs(value) > MOST_WHOLE:
            raise self.error(
                f"found a number of {len(str(abs(value)))} digits; give one up to {MOST_WHOLE:,}"
            )
        if (
            isinstance(value, int | float)
            and not isinstance(value, bool)
            and not self._within(value)
        ):
            raise self.error(f"found {value:,}; give {self._bounds}")
        if isinstance(value, Path):
            try:
                check_regular(value)
            except UsageError as error:
                raise self.error(str(error)) from error
        if self.check is not None and (fault := self.check(value)):
            raise self.error(f"found {value!r}; {fault}")
        return value

    def error(self, reason: str) -> FieldError:
        """Return the error for an invalid value of this option."""
        return FieldError(self.name, reason, label=self.title, flag=self.flag)

    def record(self, value: Any) -> Any:
        """Return a value for the record of a result."""
        if isinstance(value, Enum):
            return value.value
        if isinstance(value, Path):
            return str(value)
        return list(value) if isinstance(value, tuple | set | frozenset) else value

    def _number(self, typed: str) -> float:
        plain = typed.replace(",", "" if THOUSANDS.fullmatch(typed) else ".")
        try:
            return int(plain) if self.type is Type.WHOLE else float(plain)
        except ValueError:
            bounds = f", {self._bounds}" if self._bounds else ""
            words = f"; or {_or(self.words)}" if self.words else ""
            raise self.error(f"found {typed!r}; give {self.type.value}{bounds}{words}") from None

    def _choice(self, typed: str) -> str:
        name_by_plain = {_normalised_name(name): name for name in self.choices}
        if _normalised_name(typed) not in name_by_plain:
            matches = get_close_matches(_normalised_name(typed), name_by_plain, 1, NEAR)
            suggestion = f"did you mean {name_by_plain[matches[0]]}? Otherwise " if matches else ""
            raise self.error(f"found {typed!r}; {suggestion}give {_or(tuple(self.choices))}")
        return name_by_plain[_normalised_name(typed)]

    def _within(self, value: float) -> bool:
        return (
            math.isfinite(value)
            and (self.least is None or value >= self.least)
            and (self.above is None or value > self.above)
            and (self.most is None or value <= self.most)
        )

    @property
    def _bounds(self) -> str:
        """The bounds of a number as text.

        They read as `0 or more`, `more than 0 and at most 1` or `1 to 100`.
        """
        if self.above is not None:
            return f"more than {self.above:g}" + (
                "" if self.most is None else f" and at most {self.most:g}"
            )
        if self.least is not None and self.most is not None:
            return f"{self.least:,.10g} to {self.most:,.10g}"
        if self.least is not None:
            return f"{self.least:,.10g} or more"
        return f"at most {self.most:,.10g}" if self.most is not None else ""


@dataclass(frozen=True, slots=True)
class Section:
    """Options under a heading of their own."""

    title: str
    options: Sequence[Option]
    about: str = ""
    one_of: bool = False
    "whether its options exclude each other"
    brief: bool = False
    "whether help only names them, since another page says what they do"


def flag(name: str, help: str) -> Option:  # noqa: A002  as the field is called
    """Return an option without a value."""
    return Option(name, help, Type.FLAG, default=False)


def recorded(options: Iterable[Option], values: object) -> dict[str, Any]:
    """Return the options' values for the record of a result.

    They come from the attributes of `values`.
    """
    return {option.name: option.record(getattr(values, option.name)) for option in options}


def chosen(options: Iterable[Option], values: object) -> dict[str, Any]:
    """Return the options' values for the record of a result.

    Options that `values` lacks have their defaults.
    """
    return {
        option.name: option.record(getattr(values, option.name, option.default))
        for option in options
    }


def refuse(options: Iterable[Option], values: object, reason: str) -> None:
    """Raise UsageError, with the reason, if options without effect are given."""
    if given_flags := [
        option.flag
        for option in options
        if getattr(values, option.name) not in (option.default, None, ())
    ]:
        pronoun = "it" if len(given_flags) == 1 else "them"
        raise UsageError(f"found {', '.join(given_flags)}; {reason}, so leave {pronoun} out")


def _normalised_name(name: str) -> str:
    """Return a normalised name: `key typo` and `Key-Typo` are `key_typo`."""
    return name.strip().casefold().replace("-", "_").replace(" ", "_")


def _or(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
