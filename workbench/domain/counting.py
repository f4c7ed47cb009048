"""Numbers with what they count, for sentences that people read."""

from __future__ import annotations


def counted(n: int, noun: str) -> str:
    """Return a number and its noun.

    Examples
    --------
    >>> counted(1, "prompt"), counted(1200, "prompt")
    ('1 prompt', '1,200 prompts')
    """
    return f"{n:,} {noun}" + ("" if n == 1 else "s")
