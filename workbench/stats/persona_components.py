"""Variance components of shares due to personas, which precede the prompts: personas crossed with prompts.

Prompts (cells) lie within statements, and each is asked with every persona. With y of persona p, statement s and prompt
c of it: y = mean + statement + prompt + persona + persona x statement + persona x prompt + sampling. The terms with a
persona have ANOVA estimators, unbalanced in the number of prompts of a statement (Searle, Casella and McCulloch 1992,
Variance Components, chapter 5): mean squares are set equal to their expectations, and negative estimates are kept.

Personas are chosen, not drawn at random: the components describe these personas and have no interval. Differences
between personas have intervals.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workbench.stats.arrays import FloatArray

NAN = float("nan")


@dataclass(frozen=True, slots=True)
class PersonaComponents:
    """Variances of shares; NaN if there are too few prompts to estimate one."""

    persona: float
    "of the differences between personas that are the same on all statements"
    persona_statement: float
    "of the effects of a persona on single statements"
    persona_prompt: float
    "of the effects of a persona on single prompts of a statement"
    sampling: float
    "of the mean of a prompt's answers"
    personas: int
    statements: int
    prompts: int
    "number of prompts that count with every persona"


def persona_components(value: FloatArray, noise: FloatArray) -> PersonaComponents:
    """Return the components of (P, S, C) shares, NaN where a prompt does not count with a persona.

    Only prompts that count with every persona are used. `noise`: sampling variance of each share.

    Examples
    --------
    >>> import numpy as np
    >>> base = np.linspace(0.2, 0.6, 4)[None, :, None] + np.zeros((2, 4, 3))
    >>> moved = base + np.array([0.0, 0.2])[:, None, None]
    >>> found = persona_components(moved, np.zeros_like(moved))
    >>> round(found.persona, 4), round(found.persona_statement, 4), found.prompts
    (0.02, 0.0, 12)
    """
    personas = len(value)
    common = np.asarray(np.isfinite(value).all(axis=0))
    sizes = common.sum(axis=1)
    there = sizes > 0
    n, statements = int(sizes.sum()), int(there.sum())
    if personas < 2 or not n:
        return PersonaComponents(NAN, NAN, NAN, NAN, personas, statements, n)
    y, of, size = np.where(common, value, 0.0)[:, there], common[there], sizes[there].astype(np.float64)
    sampling = float(noise[:, common].mean())
    by_statement = y.sum(axis=2) / size
    by_persona = y.sum(axis=(1, 2)) / n
    whole = float(by_persona.mean())
    statement = by_statement.mean(axis=0)
    of_prompt = y.mean(axis=0)
    inner = np.where(of, y - by_statement[:, :, None] - of_prompt[None] + statement[None, :, None], 0.0)
    crossed = by_statement - by_persona[:, None] - statement[None] + whole
    df = personas - 1
    ms_prompt = _mean_square(float((inner**2).sum()), df * (n - statements))
    ms_statement = _mean_square(float((size * crossed**2).sum()), df * (statements - 1))
    ms_persona = n * float(((by_persona - whole) ** 2).sum()) / df
    squares = float((size**2).sum()) / n
    each = (n - squares) / (statements - 1) if statements > 1 else NAN
    prompt = ms_prompt - sampling
    left = ms_prompt if np.isfinite(ms_prompt) else sampling
    of_statement = (ms_statement - left) / each
    return PersonaComponents(
        (ms_persona - left - squares * of_statement) / n, of_statement, prompt, sampling, personas, statements, n
    )


def _mean_square(total: float, df: int) -> float:
    return total / df if df > 0 else NAN


__all__ = ["PersonaComponents", "persona_components"]
