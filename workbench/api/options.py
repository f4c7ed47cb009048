"""Options as keyword arguments: those of the command line, by name, with their types.

`typed.py` has the types. `python -m tests.typed_options` writes them anew from the declared
options.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from keyword import iskeyword
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from workbench.errors import UsageError
from workbench.formats.mapping import pairs_text
from workbench.options.option import Option, Type


def given(options: Iterable[Option], values: Mapping[str, Any], of: str) -> SimpleNamespace:
    """Return every option with its given value or its default.

    Texts are read as on the command line, so that `"1-5"` or `"all"` mean the same. Several names
    are a text with commas, a list or a tuple. Raises UsageError for an unknown option, FieldError
    for an invalid value.
    """
    option_by_name = {keyword_of(option): option for option in options}
    for name in values:
        if name not in option_by_name:
            similar = get_close_matches(name, option_by_name, n=1)
            hint = (
                f"did you mean {similar[0]!r}?"
                if similar
                else f"available: {', '.join(option_by_name)}"
            )
            raise UsageError(f"{of} takes no {name!r}; {hint}")
    defaults = {option.name: option.default for option in option_by_name.values()}
    return SimpleNamespace(
        **defaults
        | {
            option_by_name[name].name: _value(option_by_name[name], value)
            for name, value in values.items()
        }
    )


def keyword_of(option: Option) -> str:
    """Return the name of an option as a keyword argument."""
    name = option.name.rstrip("_")
    return option.name if iskeyword(name) else name


def several(names: str | Iterable[str] | None) -> tuple[str, ...]:
    """Return the names in a text between semicolons, or else between commas.

    Messages list runs between semicolons. Other collections of names are returned as they are.

    Examples
    --------
    >>> several("a, b"), several("a (T 1, p 1); b"), several(["a, b"]), several(None)
    (('a', 'b'), ('a (T 1, p 1)', 'b'), ('a, b',), ())
    """
    if isinstance(names, str):
        return tuple(
            name.strip() for name in names.split(";" if ";" in names else ",") if name.strip()
        )
    return tuple(map(str, names or ()))


def _value(option: Option, value: Any) -> Any:
    """Return the value of an option from an argument. Raises FieldError for an invalid one."""
    if value is None:
        return option.default
    if option.type is Type.FLAG:
        if not isinstance(value, bool):
            raise option.error(f"found {value!r}; give True or False")
        return value
    if isinstance(value, Mapping):
        value = pairs_text(value.items())
    is_list = isinstance(value, Iterable) and not isinstance(value, str | Path)
    if is_list and not takes_several(option):
        raise option.error(f"found {value!r}; give one value")
    if isinstance(value, set | frozenset):
        raise option.error(f"found {value!r}, which has no order; give a list")
    if is_list:
        value = tuple(map(str, value))
    if option.many or option.several or isinstance(option.metavar, tuple):
        return several(value if is_list else str(value))
    if option.type in (Type.TEXT, Type.PATH):
        return option.read(",".join(map(str, value)) if is_list else str(value))
    if isinstance(value, str):
        return option.read(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise option.error(f"found {value!r}; give {option.type.value}")
    if option.type is Type.WHOLE and value != int(value):
        raise option.error(f"found {value!r}; give {option.type.value}")
    return option.checked(int(value) if option.type is Type.WHOLE else float(value))


def takes_several(option: Option) -> bool:
    """Return whether an option takes several values, as its usage line says."""
    return (
        option.many or option.several or isinstance(option.metavar, tuple) or "…" in option.metavar
    )
