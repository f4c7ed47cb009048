"""The load of a GPU while a job runs on it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Gpu:
    """One reading of one GPU."""

    index: int
    name: str
    used: int
    "bytes in use by all processes"
    total: int
    busy: float
    "share of the time in which it computed, in [0, 1]"
    tokens_a_second: float = 0.0
    """tokens of the job, or 0 if not known yet

    A model that lies on several GPUs takes every token through each of them.
    """

    def describe(self) -> str:
        """Return the reading in one line.

        Examples
        --------
        >>> Gpu(0, "NVIDIA H200", 31_200_000_000, 150_754_820_096, 0.87, 12_345.6).describe()
        'GPU 0 NVIDIA H200: 31.2 of 150.8 GB, 87 % busy, 12,346 tokens a second'
        """
        speed = f", {self.tokens_a_second:,.0f} tokens a second" if self.tokens_a_second else ""
        memory = f"{self.used / 1e9:.1f} of {self.total / 1e9:.1f} GB"
        return f"GPU {self.index} {self.name}: {memory}, {self.busy * 100:.0f} % busy{speed}"
