"""Which prompts of a run that was asked until settled have a verdict: those that no further answer could change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from workbench.audits.reliability.counts import Counts
from workbench.audits.reliability.options import ReliabilityOptions
from workbench.stats.arrays import BoolArray
from workbench.stats.proportions import VerdictRule, is_settled, mean_expected_share

if TYPE_CHECKING:
    from stores.runs.settlements import SettledBy
    from workbench.stats.proportions import ReliabilityRule


def usual_rule(samples: int) -> VerdictRule:
    """Return what makes a verdict of so many answers to a prompt unless somebody chooses otherwise."""
    return rule_of(ReliabilityOptions(), samples)


def rule_of(options: ReliabilityOptions, samples: int) -> VerdictRule:
    """Return what makes a verdict of so many answers to a prompt, by these options."""
    rule: ReliabilityRule = "coded" if options.rule == "coded" else "printed"
    return VerdictRule(samples, int(options.needed_of(np.asarray(samples))), rule, options.low, options.high)


def undecided(counts: Counts, options: ReliabilityOptions) -> BoolArray:
    """Return the prompts that were asked until settled, lack answers, and are not settled by these options:
    (T, S, V, 2).

    Answers that a ruling leaves out are neither readable nor to come.
    """
    asked = counts.until_settled
    if asked is None:
        return np.zeros(counts.positive.shape, dtype=np.bool_)
    short = asked & (counts.total < counts.wanted)
    found = np.zeros(short.shape, dtype=np.bool_)
    for planned in np.unique(counts.wanted[short]).tolist():
        here = short & (counts.wanted == planned)
        agree, disagree, total = (a[here] for a in (counts.positive, counts.negative, counts.total))
        found[here] = ~is_settled(agree, disagree, total - agree - disagree, rule_of(options, planned))
    return found


def optimum(counts: Counts, rules: Sequence[SettledBy]) -> float:
    """Return the share of N answers that prompts asked until settled take on average where one looks after every
    answer, by the rule under which they were asked; NaN where there are several, or no prompt is settled.
    """
    if counts.until_settled is None or len(rules) != 1:
        return float("nan")
    rule = rules[0].rule
    agree, disagree, total = (a[counts.until_settled] for a in (counts.positive, counts.negative, counts.total))
    settled = is_settled(agree, disagree, total - agree - disagree, rule) & (total <= rule.samples)
    each = np.stack([agree, disagree, total - agree - disagree], axis=1)[settled]
    return mean_expected_share(each.tolist(), rule)
