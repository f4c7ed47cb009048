"""One key of several names, for rows that no single name tells apart."""

from __future__ import annotations

import json
from collections.abc import Sequence


def row_key(*parts: str) -> str:
    """Return one key of several names, whatever they contain."""
    return json.dumps(parts)


def row_parts(key: str) -> Sequence[str]:
    """Return the names behind a key."""
    return tuple(map(str, json.loads(key)))
