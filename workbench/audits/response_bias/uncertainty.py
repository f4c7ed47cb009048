"""How spread out a model's answers are, whether a changed form spreads them, and whether they then change more.

Tjuatja et al. 2024, section 2.1 equation 1, figures 6, 8 and 9.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from workbench.audits.response_bias.deltas import Deltas
from workbench.audits.response_bias.options import ENTROPY_RULES, EntropyRule
from workbench.audits.response_bias.table import Table, divided, valid_answers, valid_shares
from workbench.domain.choices import Bias
from workbench.errors import UnknownName
from workbench.stats.arrays import FloatArray, IntArray
from workbench.stats.correlation import Pearson, pearson
from workbench.stats.distances import normalised_entropy
from workbench.stats.one_sample import MeanTest, mean_test

RESOLUTION = 1e-9
"differences of entropies and of percentage points at or below this are rounding"
_RECORDED_INSTEAD = {Bias.ODD_EVEN: 4, Bias.OPINION_FLOAT: 6}
"options of q' by which the authors normalise, whatever their files record"


def entropies(table: Table, rule: EntropyRule = "offered") -> FloatArray:
    """Return the normalised entropy of the answers to each form, (K, 2); NaN without answers or a second option.

    Parameters
    ----------
    rule : `offered`: of valid answers, by the options really offered, in [0, 1]. `csv`: of all answers with a letter,
        by the options that the source records, 4 and 6 for the changed forms of odd/even and opinion floating; above
        1 is possible where letters were answered that were not offered. Raises UnknownName for others.
    """
    if rule not in ENTROPY_RULES:
        raise UnknownName(f"there is no entropy rule {rule!r}. Available: {', '.join(ENTROPY_RULES)}")
    if rule == "offered":
        return normalised_entropy(valid_answers(table), table.offered)
    options = table.recorded.copy()
    if table.condition is None and table.bias in _RECORDED_INSTEAD:
        options[:, 1] = _RECORDED_INSTEAD[table.bias]
    return normalised_entropy(table.counts, options)


@dataclass(frozen=True, slots=True)
class Spread:
    """Mean normalised entropy of a file's questions, all of them, whichever a definition leaves out."""

    rule: EntropyRule
    original: float
    "NaN where no question has one"
    changed: float
    change: MeanTest
    "of H(q') - H(q), over questions that have both"


def spread(tables: Sequence[Table], rule: EntropyRule = "offered") -> Spread:
    """Return the entropy per form and its change, over questions: of several draws each question has their mean."""
    found = np.array(list(_mean_of_draws(tables, rule).values())).reshape(-1, 2)
    original, changed = (float(form[~np.isnan(form)].mean()) if (form == form).any() else np.nan for form in found.T)
    return Spread(rule, original, changed, mean_test(found[:, 1] - found[:, 0], RESOLUTION))


def _mean_of_draws(tables: Sequence[Table], rule: EntropyRule) -> dict[str, FloatArray]:
    """Return the mean entropies of both forms of each question, by key, over the draws in which its form has one."""
    keys = list(dict.fromkeys(key for table in tables for key in table.keys))
    place = {key: row for row, key in enumerate(keys)}
    sums, times = np.zeros((2, len(keys), 2))
    for table in tables:
        rows, found = [place[key] for key in table.keys], entropies(table, rule)
        sums[rows] += np.nan_to_num(found)
        times[rows] += ~np.isnan(found)
    return dict(zip(keys, divided(sums, times), strict=True))


def change_against_uncertainty(found: Deltas, tables: Sequence[Table], rule: EntropyRule = "offered") -> Pearson:
    """Return the correlation, over questions, of |delta| and the entropy of the answers to the original form.

    Of several draws the entropy is their mean.
    """
    uncertainty = _mean_of_draws(tables, rule)
    return pearson(np.abs(found.values), [uncertainty[key][0] for key in found.keys])


@dataclass(frozen=True, slots=True)
class ValidShares:
    """How many of the drawn answers were an offered letter, by question."""

    shares: FloatArray
    "a question each: the mean of its forms"
    histogram: IntArray
    "questions with a share in [0, 0.1), [0.1, 0.2), …, [0.9, 1]"
    mean: float
    "NaN without questions"
    without: int
    "questions without any valid answer"


def validity(tables: Iterable[Table], bins: int = 10) -> ValidShares:
    """Return the share of valid answers per question, and a histogram (figure 6); without those never asked."""
    found = [valid_shares(table) for table in tables]
    forms = np.concatenate(found) if found else np.zeros((0, 2))
    asked = ~np.isnan(forms)
    shares = divided(np.where(asked, forms, 0.0).sum(axis=1), asked.sum(axis=1).astype(np.float64))
    shares = shares[~np.isnan(shares)]
    histogram, _ = np.histogram(shares, bins=bins, range=(0, 1))
    mean = float(shares.mean()) if shares.size else float("nan")
    return ValidShares(shares, histogram.astype(np.int64), mean, int((shares == 0).sum()))
