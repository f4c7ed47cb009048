"""Content keys, which name the same thing in every store.

So stores merge without renumbering.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable
from hashlib import blake2b
from typing import Any

KEY_BYTES = 16


def text_key(text: str) -> bytes:
    """Return the 16-byte key of a string, exactly as it stands.

    There is no normalisation, since model output is kept exact. A lone surrogate, which a tokenizer
    can emit and UTF-8 cannot hold, is keyed by its escaped form.
    """
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=KEY_BYTES).digest()


def content_key(value: Any) -> bytes:
    """Return the 16-byte key of a JSON-like value: NFC text, sorted keys, no blanks."""
    return text_key(canonical(value))


def canonical(value: Any) -> str:
    """Return the canonical text of a JSON-like value, used as its key."""
    written = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return unicodedata.normalize("NFC", written)


def list_key(elements: Iterable[str]) -> bytes:
    """Return the `content_key` of a list from the canonical texts of its elements.

    These may be known from before. A canonical text begins and ends with a character that never
    combines with others, so that joined ones are as if they had been normalised together.
    """
    return text_key(f"[{','.join(elements)}]")


SEED = 1
