"""Options as keyword arguments: those of the command line, by name, with their types.

`typed.py` has the types: `python -m tests.typed_options` writes them anew from the declared
options.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from workbench.errors import UsageError
from workbench.options.option import Option, Type

NOT_ASKED = (
    "store",
    "audit",
    "model",
    "plan",
    "yes",
    "detach",
    "dry_run",
    "json",
    "no_probe",
    "least_readable",
)
"options of `run` that do not apply in a program"


def given(options: Iterable[Option], values: Mapping[str, Any], of: str) -> SimpleNamespace:
    """Return every option with its given value or its default.

    Texts are read as on the command line, so that `"1-5"` or `"all"` mean the same; several names
    are a text with commas, a list or a tuple. Raises UsageError for an unknown option, FieldError
    for an invalid value.
    """
    known = {option.name.rstrip("_"): option for option in options}
    for name in values:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"available: {', '.join(known)}"
            raise UsageError(f"{of} takes no {name!r}; {hint}")
    found = {option.name: option.default for option in known.values()}
    return SimpleNamespace(
        **found | {known[name].name: _value(known[name], value) for name, value in values.items()}
    )


def several(names: str | Iterable[str] | None) -> tuple[str, ...]:
    """Return names: of a text those between semicolons, as messages list runs, or else between
    commas.

    Examples
    --------
    >>> several("a, b"), several("a (T 1, p 1); b"), several(["a, b"]), several(None)
    (('a', 'b'), ('a (T 1, p 1)', 'b'), ('a, b',), ())
    """
    if isinstance(names, str):
        return tuple(
            part.strip() for part in names.split(";" if ";" in names else ",") if part.strip()
        )
    return tuple(map(str, names or ()))


def _value(option: Option, value: Any) -> Any:
    if value is None:
        return option.default
    if option.type is Type.FLAG:
        if not isinstance(value, bool):
            raise option.error(f"found {value!r}; give True or False")
        return value
    listed = isinstance(value, Iterable) and not isinstance(value, str | Path)
    if listed and not takes_several(option):
        raise option.error(f"found {value!r}; give one value")
    if isinstance(value, set | frozenset):
        raise option.error(f"found {value!r}, which has no order; give a list")
    if listed:
        value = tuple(map(str, value))
    if option.many or option.several or isinstance(option.metavar, tuple):
        return several(value if listed else str(value))
    if option.type in (Type.TEXT, Type.PATH):
        return option.read(",".join(map(str, value)) if listed else str(value))
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
