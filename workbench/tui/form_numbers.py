"""Numbers as people type them into forms: read with an error that names the field."""

from __future__ import annotations

import math

from workbench.errors import UsageError


def whole(name: str, text: str, least: int) -> int:
    """Return a whole number; commas between thousands may stand. Raises UsageError."""
    try:
        value = int(text.strip().replace(",", ""))
    except ValueError:
        raise UsageError(f"{name}: {text.strip()!r} is not a whole number") from None
    if value < least:
        raise UsageError(f"{name}: {value} is too few; give {least} or more")
    return value


def number(name: str, text: str, *, most: float = math.inf, zero: bool = False) -> float:
    """Return a finite number above 0, or from 0 on where `zero` may be. Raises UsageError."""
    try:
        value = float(text)
    except ValueError:
        raise UsageError(f"{name}: {text.strip()!r} is not a number") from None
    low = value >= 0 if zero else value > 0
    if not low or not value <= most or math.isinf(value):
        least = "0 or more" if zero else "more than 0"
        raise UsageError(f"{name}: give {least}" + (f" and at most {most:g}" if math.isfinite(most) else ""))
    return value
