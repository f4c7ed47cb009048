"""Made-up shares of answers to multiple-choice questions, for trying what needs human answers. Nobody was asked.

The shares of a question with k options are one draw from a Dirichlet distribution, rounded to thousandths: independent
of what the question says, of other questions and of their number. An audit that finds more than chance in them errs.
"""

from __future__ import annotations

import numpy as np

from workbench.errors import UsageError
from workbench.stats.resampling import derive_rng

STEPS = 1000
"shares are whole numbers of these parts, and sum to 1 exactly"


def synthetic_shares(key: str, options: int, seed: int, concentration: int = 2) -> tuple[float, ...]:
    """Return a share an option, drawn for this key under this seed.

    `concentration` is that of every option: 1, all shares are equally likely; the greater, the more alike. A gamma
    variable of a whole shape is the sum of so many exponential ones, -ln(1 - u): uniform numbers are all that is drawn,
    whose stream numpy keeps between versions. Raises UsageError for fewer than two options or a concentration below 1.

    Examples
    --------
    >>> sum(synthetic_shares("parks", 5, seed=8))
    1.0
    """
    if options < 2 or concentration < 1:
        raise UsageError(f"found {options} options and concentration {concentration}; give 2 or more, and 1 or more")
    uniform = derive_rng(seed, "answer shares", key).random((options, concentration))
    gamma = -np.log1p(-uniform).sum(axis=1)
    parts = STEPS * gamma / gamma.sum()
    whole = np.floor(parts).astype(int)
    for place in np.argsort(whole - parts, kind="stable")[: STEPS - whole.sum()]:  # largest remainders first
        whole[place] += 1
    return tuple(int(part) / STEPS for part in whole)
