"""Values as JSON has them."""

from __future__ import annotations

import math
from dataclasses import asdict, is_dataclass
from enum import Enum
from typing import Any


def to_json_values(value: Any) -> Any:
    """Return a value as plain JSON types. Undefined numbers are None."""
    if is_dataclass(value) and not isinstance(value, type):
        return {key: to_json_values(item) for key, item in asdict(value).items()}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, dict):
        return {str(key): to_json_values(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [to_json_values(item) for item in value]
    if hasattr(value, "item") and callable(value.item):  # numpy scalars
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
