"""Numbers with what they count, for sentences that people read."""

from __future__ import annotations


def plural(n: int, noun: str) -> str:
    """Return a number and its noun.

    Examples
    --------
    >>> plural(1, "prompt"), plural(1200, "prompt"), plural(5, "bias")
    ('1 prompt', '1,200 prompts', '5 biases')
    """
    return f"{n:,} {noun}" + ("" if n == 1 else "es" if noun.endswith("s") else "s")
