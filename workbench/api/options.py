"""Options as keyword arguments: those of the command line, by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from types import SimpleNamespace
from typing import Any

from workbench.errors import UsageError
from workbench.options.option import Option, Type


def given(options: Iterable[Option], values: Mapping[str, Any], of: str) -> SimpleNamespace:
    """Return every option with its given value or its default.

    Texts are read as on the command line, so that `"1-5"` or `"all"` mean the same; several names may be a list.
    Raises UsageError for an unknown option, FieldError for an invalid value.
    """
    known = {option.name.rstrip("_"): option for option in options}
    for name in values:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"available: {', '.join(known)}"
            raise UsageError(f"{of} takes no {name!r}; {hint}")
    found = {option.name: option.default for option in known.values()}
    return SimpleNamespace(**found | {known[name].name: _value(known[name], value) for name, value in values.items()})


def _value(option: Option, value: Any) -> Any:
    if value is None:
        return option.default
    if option.type is Type.FLAG:
        if not isinstance(value, bool):
            raise option.error(f"found {value!r}; give True or False")
        return value
    several = isinstance(value, list | tuple)
    if several and (option.many or isinstance(option.metavar, tuple)):
        return tuple(map(str, value))
    if option.type in (Type.TEXT, Type.PATH):
        return option.read(",".join(map(str, value)) if several else str(value))
    if isinstance(value, str):
        return option.read(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise option.error(f"found {value!r}; give {option.type.value}")
    if option.type is Type.WHOLE and value != int(value):
        raise option.error(f"found {value!r}; give {option.type.value}")
    return option.checked(int(value) if option.type is Type.WHOLE else float(value))
