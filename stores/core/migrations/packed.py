"""Texts as stores held them before schema 19: those of 1,024 characters or more, and those that UTF-8 cannot hold, were
compressed in a column of their own (`packed`).
"""

from __future__ import annotations

import zlib

from stores.core.texts import restored, stored


def unpacked(body: str | None, packed: bytes | None) -> str | bytes:
    """Return the body of a text as it is stored since."""
    if body is not None:
        return body
    assert packed is not None, "the table's check lets exactly one of the two be null"
    return stored(restored(zlib.decompress(packed)))


def as_packed(text: str) -> tuple[str | None, bytes | None]:
    """Return (body, packed) of a text, plain wherever it can be."""
    body = stored(text)
    return (body, None) if isinstance(body, str) else (None, zlib.compress(body))
