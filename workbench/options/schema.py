"""The options of an audit as one dataclass: each field makes the flag, its check, the key on screen, the words above
tables, the record beside a result, and the row of a report.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from types import SimpleNamespace
from typing import Any, Self

from workbench.domain.names import in_words
from workbench.options.option import Option, Type, flag
from workbench.options.shared import SAME_WITHIN

TYPES = {bool: Type.FLAG, int: Type.WHOLE, float: Type.NUMBER}
OURS = object()
"of an option for which there is no other published value"
AS_PUBLISHED = flag("as_published", "judge by the published rules where the usual ones differ")


@dataclass(frozen=True, slots=True)
class Declared:
    """What a field of `Options` declares."""

    option: Option
    read: Callable[[Any], Any]
    "makes the field's value of what the command line, a form or a program gives"
    words: str | Mapping[Any, str] | None
    key: str
    back: str
    steps: tuple[Any, ...]
    source: str
    judges: bool
    published: Any = OURS
    "the value that `--as-published` sets; a person does not choose this option otherwise"

    def said(self, value: Any) -> str:
        """Return a value in the words of the line above tables; empty where they leave it out."""
        if self.words is None:
            return ""
        return self.words.format(value) if isinstance(self.words, str) else self.words[value]


@dataclass(frozen=True, slots=True)
class Parameter:
    """One choice behind figures, as a report lists it."""

    name: str
    value: str
    meaning: str
    source: str
    "where the value comes from: `Ceron et al. 2024, section 5.4`, `chosen here`"


def _same(value: Any) -> Any:
    return value


def option(
    default: Any,
    help: str,  # noqa: A002  as the field is called
    *,
    read: Callable[[Any], Any] = _same,
    words: str | Mapping[Any, str] | None = None,
    key: str = "",
    back: str = "",
    steps: Sequence[Any] = (),
    source: str = "",
    judges: bool = True,
    published: Any = OURS,
    **more: Any,
) -> Any:
    """Declare an option as a field of a dataclass derived from `Options`.

    Parameters
    ----------
    default : as it is typed
    words : the value in the line above tables: a format, or the words of each value; None: the line leaves it out
    key, steps : the key on screen, and the values that it steps through; the choices if no steps are named. Without
        either a result says what there is, and None means the first of it. Of an option of several names: each name
    back : the key that steps through them the other way
    source : where the default was published; empty: nowhere
    judges : False: it chooses among figures that are judged already, so that no plan and no report has it
    published : the value that the one switch `as_published` sets, in place of a flag and a key of its own
    more : further fields of `Option`
    """
    made = Option("", help, **{"type": TYPES.get(type(default), Type.TEXT), "default": default, **more})
    return of_shared(
        made, read=read, words=words, key=key, back=back, steps=steps, source=source, judges=judges, published=published
    )


def of_shared(
    made: Option,
    *,
    read: Callable[[Any], Any] = _same,
    words: str | Mapping[Any, str] | None = None,
    key: str = "",
    back: str = "",
    steps: Sequence[Any] = (),
    source: str = "",
    judges: bool = True,
    published: Any = OURS,
    later: bool = False,
) -> Any:
    """Declare an option that others have, too, as a field of a dataclass derived from `Options`; see `option`.

    later : it is given by its name alone
    """
    values = steps or tuple(made.choices) or ((False, True) if made.type is Type.FLAG else ())
    declared = Declared(made, read, words, key, back, tuple(map(read, values)), source, judges, published)
    return field(default=read(made.default), metadata={"declared": declared}, kw_only=later)


@dataclass(frozen=True)
class Options:
    """The base of an audit's options, a frozen dataclass whose fields are made by `option`; itself of an audit without.

    Raises FieldError for a value that its option does not allow.
    """

    same_within: float | None = of_shared(SAME_WITHIN, later=True, source="ours: differences are tested against none")

    def __post_init__(self) -> None:
        for name, one in self.declared().items():
            value = getattr(self, name)
            if value is not None and not isinstance(value, Enum | bool):
                one.option.checked(value)
                if one.option.choices and value not in (*one.option.choices, one.option.default):
                    raise one.option.error(f"found {value!r}; give {' or '.join(one.option.choices)}")

    @classmethod
    def declared(cls) -> dict[str, Declared]:
        """Return what each field declares, by its name."""
        own_first = sorted(fields(cls), key=lambda one: bool(one.kw_only))
        found = {one.name: one.metadata["declared"] for one in own_first}
        unnamed = {name: one for name, one in found.items() if one.option.name != name}  # shared options stay the same
        return found | {name: replace(one, option=one.option.but(name=name)) for name, one in unnamed.items()}

    @classmethod
    def published(cls) -> dict[str, Any]:
        """Return the values that `as_published` sets, by their names."""
        return {name: one.published for name, one in cls.declared().items() if one.published is not OURS}

    @classmethod
    def offered(cls) -> dict[str, Declared]:
        """Return what a person chooses, by its name: `as_published` in place of the options that it sets."""
        declared, settled = cls.declared(), cls.published()
        keys = [declared[name].key for name in settled if declared[name].key]
        switch = Declared(AS_PUBLISHED, _same, None, keys[0] if keys else "", "", (False, True), "ours", judges=True)
        return {name: one for name, one in declared.items() if name not in settled} | (
            {AS_PUBLISHED.name: switch} if settled else {}
        )

    @classmethod
    def flags(cls) -> tuple[Option, ...]:
        """Return the options in order, for the command line, forms and the Python interface."""
        return tuple(one.option for one in cls.offered().values())

    @classmethod
    def judging(cls) -> tuple[Option, ...]:
        """Return the options of how answers are judged, which a frozen plan has."""
        return tuple(one.option for one in cls.offered().values() if one.judges)

    @classmethod
    def of(cls, given: SimpleNamespace) -> Self:
        """Return the values that a command line, a form or a program gives, and defaults for the others."""
        values = {name: one.read(getattr(given, name, one.option.default)) for name, one in cls.declared().items()}
        return cls(**values).but(as_published=True) if getattr(given, AS_PUBLISHED.name, False) else cls(**values)

    @property
    def as_published(self) -> bool:
        """Whether the published rules are in force wherever the usual ones differ."""
        settled = self.published()
        return bool(settled) and all(getattr(self, name) == value for name, value in settled.items())

    def published_said(self) -> str:
        """Return what `as_published` sets, in words; empty where it is not in force."""
        if not self.as_published:
            return ""
        settled = {name: self.declared()[name] for name in self.published()}
        told = (
            one.said(getattr(self, name)) or f"{one.option.title} {getattr(self, name)}"
            for name, one in settled.items()
        )
        return f"As published: {'; '.join(told)}"

    def but(self, **values: Any) -> Self:
        """Return the options with other values; `as_published` sets or resets those that it stands for."""
        if (switch := values.pop(AS_PUBLISHED.name, None)) is None:
            return replace(self, **values)
        settled = self.published()
        now = settled if switch else {name: getattr(type(self)(), name) for name in settled}
        return replace(self, **{**now, **values})

    def record(self) -> dict[str, Any]:
        """Return the values as plain ones, for the record of a result."""
        return {name: one.option.record(getattr(self, name)) for name, one in self.declared().items()}

    def judging_as(self, other: Options) -> bool:
        """Return whether other options judge answers alike: they differ at most in what is shown of the figures."""
        names = [name for name, one in self.declared().items() if one.judges]
        return all(getattr(self, name) == getattr(other, name) for name in names)

    def usual(self, names: Iterable[str]) -> Self:
        """Return the options with the usual values of some."""
        declared = self.offered()
        return self.but(**{name: declared[name].read(declared[name].option.default) for name in names})

    def stepped(self, name: str, step: int = 1, there: Sequence[Any] = ()) -> Self:
        """Return the options with the next value of one of them, around the ends: what its key does.

        there : its values, of an option that declares none
        """
        steps, value = there or self.offered()[name].steps, getattr(self, name)
        if there and value is None:
            value = there[0]
        after = steps[(steps.index(value) + step) % len(steps)] if value in steps else steps[0]
        return self.but(**{name: after})

    def words(self, there: Mapping[str, Sequence[Any]] | None = None) -> Iterator[tuple[str, str]]:
        """Yield (option, its value in words) for the line above tables. An option without a key has no name there: its
        words stand above every table.

        there : the values of options that declare none
        """
        for name, one in self.declared().items():
            value, values = getattr(self, name), (there or {}).get(name, ())
            value = values[0] if values and value is None else value
            if text := one.said(value):
                place = f" ({values.index(value) + 1} of {len(values)})" if len(values) > 1 and value in values else ""
                yield name if one.key else "", f"{text}{place}"

    def parameters(self) -> Iterator[Parameter]:
        """Yield the rows of a report's table of choices."""
        for name, one in self.declared().items():
            if one.judges:
                value, usual = getattr(self, name), one.read(one.option.default)
                several = ", ".join(map(in_words, value)) if isinstance(value, tuple) else ""
                text = several or (one.option.none if value is None else one.option.text(value)) or "none"
                shown = {"True": "yes", "False": "no"}.get(text, text)
                source = (one.source or "as usual") if value == usual else "chosen here"
                yield Parameter(one.option.title, shown, one.option.help, source)


__all__ = ["Declared", "Options", "Parameter", "of_shared", "option"]
