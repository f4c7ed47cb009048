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


def speed(per_second: float) -> str:
    """Return a rate as people compare it: in three significant digits at most.

    Examples
    --------
    >>> speed(0.26), speed(12.34), speed(99.97), speed(39_113.3)
    ('0.3', '12.3', '100', '39,100')
    """
    return f"{per_second:.1f}" if per_second < 99.95 else f"{float(f'{per_second:.3g}'):,.0f}"
