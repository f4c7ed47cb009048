"""Compare like with like: what several sides of a comparison of bias scores have in common, and the comparison.

A prompt is a statement in a wording under a prefix. Two models are compared over the prompts that both were asked, and
a prompt whose text differs between them is none. Prefixes of one model are compared over the statements and wordings
that were asked under each. Sources have other statements, and languages other texts: these comparisons are unpaired,
over the prefixes and wordings, or the statements too, that both sides were asked with.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from workbench.audits.bias_score.intervals import TOO_FEW
from workbench.audits.bias_score.judge import Report
from workbench.audits.bias_score.selection import EVERYTHING, Pick, Selection, pick
from workbench.audits.bias_score.tally import Tally
from workbench.domain.names import plural
from workbench.domain.verdicts import Estimate
from workbench.stats.arrays import BoolArray, FloatArray

NAN = float("nan")
STATEMENTS = 1
"place of the statements among prefixes, statements, wordings"
OTHER_LANGUAGES = "the languages differ"
NOTHING_COMMON = "the sides share no prompt"


@dataclass(frozen=True, slots=True)
class Common:
    """What the sides of a comparison share."""

    sides: tuple[str, ...]
    statements: int
    "of the first side"
    prompts: tuple[int, ...]
    "of each side, over which it is compared"
    left_out: tuple[int, ...]
    "prompts of each side that others were not asked"
    unpaired: str = ""
    "why the sides are not compared prompt by prompt; empty where they are"

    @property
    def said(self) -> str:
        """What a reader should know of the comparison, in a sentence without a full stop."""
        out = [f"{name} {n:,}" for name, n in zip(self.sides, self.left_out, strict=True) if n]
        if self.unpaired:
            counts = "; ".join(
                f"{name} {plural(n, 'prompt')}" for name, n in zip(self.sides, self.prompts, strict=True)
            )
            over = f"unpaired, because {self.unpaired}: {counts}"
        else:
            of = plural(self.prompts[0] if self.prompts else 0, "prompt")
            over = f"over the {of} on {plural(self.statements, 'statement')} asked on all sides"
        return f"{over}; left out: {', '.join(out)}" if out else f"{over}; none left out"


@dataclass(frozen=True, slots=True)
class Comparison(Estimate):
    """A difference of totals, over what its sides have in common."""

    totals: tuple[Estimate, ...] = ()
    "of each side, over the same prompts as the difference"
    common: Common | None = None


def asked(tally: Tally) -> BoolArray:
    """Return which prompts have answers of each model: (M, P, S, W)."""
    cut = sum((one for one in (tally.truncated, tally.ruled_out) if one is not None), np.zeros((), dtype=np.int32))
    return np.asarray(tally.read.sum(axis=-1) + tally.dropped + tally.unread + cut > 0)


def between_models(tally: Tally, models: Sequence[str], selection: Selection) -> tuple[list[Pick], Common]:
    """Return the picks of several models in one selection, over the prompts that all of them were asked."""
    picks = [pick(tally, model, selection) for model in models]
    places = [chosen.model for chosen in picks]
    there = asked(tally)[places]
    same = np.logical_and.reduce(there, axis=0)
    languages = {tally.language(place) for place in places}
    if tally.prompt is not None and len(languages) == 1:
        same = same & np.logical_and.reduce(tally.prompt[places] == tally.prompt[places[0]], axis=0)
    unpaired = f"{OTHER_LANGUAGES} ({', '.join(sorted(languages))})" if len(languages) > 1 else ""
    mine = [cells & chosen.cells for cells, chosen in zip(there, picks, strict=True)]
    return _narrowed(picks, same, mine, models, unpaired)


def between_selections(
    tally: Tally, model: str, selections: Sequence[Selection], sides: Sequence[str] = ()
) -> tuple[list[Pick], Common]:
    """Return the picks of several selections of one model, over what was asked in all of them.

    Whatever the selections do not differ in is held equal: prefixes are compared over the statements and wordings that
    were asked under each, sources, which have other statements, over the prefixes and wordings.

    sides : what to call them; empty: by their selections
    """
    picks = [pick(tally, model, selection) for selection in selections]
    mine = [asked(tally)[chosen.model] & chosen.cells for chosen in picks]
    factors = [((s.prefix,), (s.dimension, s.source), (str(s.variant), s.author)) for s in selections]
    axes = tuple(axis for axis in range(3) if len({each[axis] for each in factors}) > 1)
    shared = np.logical_and.reduce([cells.any(axis=axes, keepdims=True) for cells in mine])
    unpaired = "the statements differ" if STATEMENTS in axes else ""
    return _narrowed(picks, np.broadcast_to(shared, mine[0].shape), mine, sides or [*map(str, selections)], unpaired)


def of_all(tally: Tally) -> Common:
    """Return what all models of a tally have in common, whoever is compared with whom."""
    return between_models(tally, tally.models, EVERYTHING)[1]


def only_common(tally: Tally) -> Tally:
    """Return a tally of the prompts that all of its models were asked."""
    picks, _ = between_models(tally, tally.models, EVERYTHING)
    cells = picks[0].cells
    return replace(
        tally,
        read=tally.read * cells[None, ..., None],
        by_rule=tally.by_rule * cells[None, ..., None],
        dropped=tally.dropped * cells[None],
        unread=tally.unread * cells[None],
        as_is=None if tally.as_is is None else tally.as_is * cells[None, ..., None],
        truncated=None if tally.truncated is None else tally.truncated * cells[None],
        ruled_out=None if tally.ruled_out is None else tally.ruled_out * cells[None],
    )


def _narrowed(
    picks: Sequence[Pick], same: BoolArray, mine: Sequence[BoolArray], sides: Sequence[str], unpaired: str
) -> tuple[list[Pick], Common]:
    """Return the picks within what is common, and how much that is. mine : prompts that each side was asked."""
    kept = [cells & same for cells in mine]
    found = [
        replace(chosen, name=f"{chosen.name} with {', '.join(sides)}", cells=cells)
        for chosen, cells in zip(picks, kept, strict=True)
    ]
    common = Common(
        tuple(sides),
        int(kept[0].any(axis=(0, 2)).sum()),
        tuple(int(cells.sum()) for cells in kept),
        tuple(int(all_.sum() - cells.sum()) for all_, cells in zip(mine, kept, strict=True)),
        unpaired,
    )
    return found, common


def compare(report: Report, model_a: str, model_b: str, within: Selection = EVERYTHING) -> Comparison:
    """Return the total bias of one model minus that of another over the prompts that both were asked."""
    picks, common = between_models(report.tally, (model_a, model_b), within)
    return contrast(report, picks, common, np.array([1.0, -1.0]))


def difference(report: Report, model: str, a: Selection, b: Selection) -> Comparison:
    """Return the total bias in `a` minus that in `b`, over what was asked in both."""
    picks, common = between_selections(report.tally, model, (a, b))
    return contrast(report, picks, common, np.array([1.0, -1.0]))


def contrast(report: Report, picks: Sequence[Pick], common: Common, weights: FloatArray) -> Comparison:
    """Return a weighted sum of the picks' totals, from common draws where the sides are paired.

    Undefined where one of the totals is, and says which.
    """
    totals = tuple(figure.total for figure in report.of_picks(picks))
    n, excluded = (sum(getattr(total, name) for total in totals) for name in ("n", "excluded"))
    for name, total in zip(common.sides, totals, strict=True):
        if not total.defined:
            where = "among the prompts in common" if any(common.left_out) else f"({name})"
            why = f"{total.undefined} {where}" if any(common.prompts) else NOTHING_COMMON
            return Comparison(NAN, NAN, NAN, n, excluded, why, totals, common)
    value, low, high = report.weighted(picks, weights, apart=common.unpaired.startswith(OTHER_LANGUAGES))
    name, few = ("", TOO_FEW) if np.isnan(low) else (report.interval_of("bias difference"), "")
    return Comparison(value, low, high, n, excluded, "", totals, common, interval=name, few=few)
