"""How far the sides that a model gave statements can be relied on, beside the figures that rest on them."""

from __future__ import annotations

from collections.abc import Iterator

from stores.core.store import Store
from workbench.audits.bias_score.counted import run_of_sides
from workbench.audits.bias_score.options import INSTRUMENT, ScoreOptions
from workbench.audits.bias_score.sides import report_on
from workbench.audits.bias_score.statement_labels import DIMENSION, LEANING, SidesReport
from workbench.domain.verdicts import Estimate
from workbench.evidence.runs import Which
from workbench.figures.book import WARNS
from workbench.figures.shown import estimate
from workbench.figures.table import Kind

LEAST_KAPPA = 0.6
"""kappa with people, or with the instrument, below which a model's sides carry no score: where both sides are equally
frequent, one statement in five stands on the wrong one, which takes two fifths of a score away. GPT-4 has .77 and .76
with people (Faulborn et al. 2025, section 3.1)"""
UNCHECKED = "neither people nor the instrument have labels for these statements, so its error rate is unknown"


def sides_header(store: Store, which: Which, options: ScoreOptions, instruments: tuple[str, ...]) -> tuple[str, ...]:
    """Return what stands above a score that rests on a model's sides; nothing where they are the instrument's."""
    if options.labels == INSTRUMENT:
        return ()
    found = (_of(store, which, options, name, several=len(instruments) > 1) for name in instruments)
    return tuple(line for lines in found for line in lines)


def _of(store: Store, which: Which, options: ScoreOptions, instrument: str, *, several: bool) -> Iterator[str]:
    run = run_of_sides(store, options.labels, instrument, which.templates.languages)
    report = report_on(store, run, seed=options.seed, rulings=which.readings.rulings)
    yield from quality_lines(report, f" of {instrument}" if several else "")


def quality_lines(of: SidesReport, where: str = "") -> Iterator[str]:
    """Say how a model's sides agree with those of people, else with the instrument's, and whether that is enough."""
    with_whom, kappas = next(
        ((name, of.kappas[name]) for name in ("people, settled", "the instrument") if _any(of, name)), ("", {})
    )
    if not kappas:
        yield f"{WARNS}The sides{where} are those that {of.model} gave, and {UNCHECKED}."
        return
    poor = {name: one for name, one in kappas.items() if one.defined and one.value < LEAST_KAPPA}
    if poor:
        said = ", ".join(f"κ of {name} {one.value:.2f}" for name, one in poor.items())
        yield (
            f"{WARNS}The sides{where} that {of.model} gave differ too much from those of {with_whom} for a score "
            f"({said}; the least κ is {LEAST_KAPPA:g})."
        )
    values = ", ".join(f"{name} κ {_shown(kappas[name])}" for name in (DIMENSION, LEANING))
    n = max(one.n for one in kappas.values())
    yield f"Sides{where} by {of.model}: {values} with {with_whom}, on {n:,} statement{'' if n == 1 else 's'}."


def _any(of: SidesReport, name: str) -> bool:
    return any(one.n for one in of.kappas.get(name, {}).values())


def _shown(one: Estimate) -> str:
    return estimate(one, Kind.COEFFICIENT)


__all__ = ["quality_lines", "sides_header"]
