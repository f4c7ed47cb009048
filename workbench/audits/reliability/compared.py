"""Runs of the reliability audit side by side: which statements keep their verdicts, and which their stance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from stores.core.store import Store, at_once
from stores.runs.run_rows import Run
from workbench.audits.claims import Claim, Finding, p_of
from workbench.audits.codes import verdict
from workbench.audits.comparison.judge import Compared, Judged, Side, VerdictKind, factors_of, unpaired_because
from workbench.audits.reliability.counting import ALL, PRINTED, TEMPLATE, thinned
from workbench.audits.reliability.expected import ExactReport
from workbench.audits.reliability.expected import judge as judge_exact
from workbench.audits.reliability.judge import ReliabilityReport, judge
from workbench.audits.reliability.options import TESTS, ReliabilityOptions
from workbench.audits.reliability.pooled import Pooled, difference_said, differences, pooled
from workbench.audits.reliability.verdicts import run_verdicts
from workbench.domain.instruments import Instrument
from workbench.domain.names import plural
from workbench.domain.readings import USUAL, Readings
from workbench.domain.statements import ORIGINAL, Statement, VariantId
from workbench.domain.verdicts import Verdict
from workbench.errors import UsageError
from workbench.evidence.runs import told_apart
from workbench.figures.table import AnyTable, Kind
from workbench.stats.resampling import derive_rng

STANCE = "stance"
TITLES = {ALL: "all tests"}
KINDS = (
    *(
        VerdictKind(name, TITLES.get(name, name.replace("_", " ")), Verdict.PASS.value, Verdict.FAIL.value)
        for name in (ALL, *TESTS, TEMPLATE)
    ),
    VerdictKind(STANCE, "stance", "agree", "disagree", neither=("mixed",)),
)
"the stance is that on the original, where it is the same under all templates"
A = TypeVar("A", bound=np.generic)


def named_runs(runs: Sequence[Run]) -> dict[str, Run]:
    """Return runs by names that tell them apart: the model's, with as much as it takes of how it was asked."""
    names = told_apart(
        [run.named for run in runs],
        [run.instrument for run in runs],
        [run.family for run in runs],
        [str(run.sampling) for run in runs],
        [run.language for run in runs],
        [run.short_version for run in runs],
        [run.dtype for run in runs],
        [run.encoded for run in runs],
        [f"run {run.model_id}.{run.sampling_id}" for run in runs],
    )
    return dict(zip(names, runs, strict=True))


@at_once
def compared(
    store: Store,
    runs: Mapping[str, Run],
    options: ReliabilityOptions | None = None,
    *,
    readings: Readings = USUAL,
) -> Compared:
    """Return the comparison of runs, under the templates that those of one family were all asked.

    runs : name -> run. Raises UsageError where they are of several instruments.
    """
    instruments = sorted({run.instrument for run in runs.values()})
    if len(instruments) > 1:
        raise UsageError(
            f"found runs on {' and '.join(instruments)}, which have no statement in common; compare runs on one "
            "instrument (--instrument)"
        )
    reports = {name: run_verdicts(store, run, options, readings=readings).report for name, run in runs.items()}
    return beside(runs, reports, {name: store.runs.instrument(run) for name, run in runs.items()})


def beside(
    runs: Mapping[str, Run], reports: Mapping[str, ReliabilityReport], asked: Mapping[str, Instrument]
) -> Compared:
    """Return the comparison of runs that are judged; `asked`: the instrument as it was put to each.

    Raises UsageError where runs of one family have no template in common.
    """
    shared = shared_templates(runs, reports)
    under = {name: _under(reports[name], shared[name]) for name in runs}
    equal, said, untested = at_equal_numbers(under)
    sides = [
        replace(_side(name, run, equal[name], asked[name]), main=under[name].passing(ALL)) for name, run in runs.items()
    ]

    @cache
    def shares(name: str) -> Pooled:
        return pooled(under[name])

    def differ(first: str, second: str) -> AnyTable:
        return differences(first, second, shares(first), shares(second))

    def finds(first: str, second: str) -> Finding:
        one, other = shares(first), shares(second)
        return Claim((p_of(one.difference(other, ALL)),), partial(_difference, first, second, one, other))

    apart = bool(unpaired_because(sides))
    first, language = asked[next(iter(runs))], next(iter(runs.values())).language
    return Compared(
        f"{next(iter(runs.values())).instrument}: {' and '.join(runs)}",
        KINDS,
        sides,
        {s.ref: w.text for s in first.statements if (w := s.wording(ORIGINAL, language)) is not None},
        "passes all tests",
        Kind.SHARE,
        differences=[] if apart else [differ],
        left_out=(*templates_left_out(reports, shared), *said),
        untested=untested,
        finds=None if apart else finds,
    )


def _difference(first: str, second: str, one: Pooled, other: Pooled, adjusted: Sequence[float]) -> Iterator[str]:
    yield difference_said(first, second, one, other, adjusted[0])


def unequal_numbers(reports: Mapping[str, ReliabilityReport]) -> str:
    """Say that some runs ask for more answers to a prompt than others; empty where they ask for as many."""
    sampled = {name: of.counts.sizes[1] for name, of in reports.items() if not isinstance(of, ExactReport)}
    if sampled and len(sampled) < len(reports):
        return "some verdicts are of samples, others of exact probabilities"
    if len(set(sampled.values())) < 2:
        return ""
    return f"a prompt has unequally many answers ({', '.join(f'{name} {most}' for name, most in sampled.items())})"


def at_equal_numbers(
    reports: Mapping[str, ReliabilityReport],
) -> tuple[Mapping[str, ReliabilityReport], Sequence[str], str]:
    """Return reports on equally many answers to each prompt, since verdicts depend on how many there are: of runs with
    more, some are drawn at random. Then what to say of it, and why verdicts are not tested where it cannot be done.
    """
    unequal = unequal_numbers(reports)
    if not unequal or any(isinstance(of, ExactReport) for of in reports.values()):
        return reports, (), unequal
    if any(of.counts.until_settled is not None for of in reports.values()):
        return reports, (), f"{unequal}, asked until the verdict was settled"
    fewest, seed = min(of.counts.sizes[1] for of in reports.values()), next(iter(reports.values())).options.seed
    thin = {
        name: judge(thinned(of.counts, fewest, derive_rng(seed, "thinned", name)), of.options)
        for name, of in reports.items()
    }
    drawn = f"of {plural(fewest, 'answer')} to a prompt, drawn at random where it has more (seed {seed})"
    return thin, [f"Verdicts are {drawn}, because {unequal}."], ""


def shared_templates(runs: Mapping[str, Run], reports: Mapping[str, ReliabilityReport]) -> dict[str, tuple[str, ...]]:
    """Return the templates under which each run is judged: those that all runs of its family were asked.

    Raises UsageError where runs of one family have none in common.
    """
    found = {}
    for name, run in runs.items():
        others = [reports[other].counts.templates for other, of in runs.items() if of.family == run.family]
        found[name] = tuple(one for one in reports[name].counts.templates if all(one in each for each in others))
        if not found[name]:
            raise UsageError(f"{name} shares no template with the other runs, so nothing can be compared")
    return found


def templates_left_out(reports: Mapping[str, ReliabilityReport], shared: Mapping[str, Sequence[str]]) -> Iterator[str]:
    for name, report in reports.items():
        alone = [one for one in report.counts.templates if one not in shared[name]]
        if alone:
            yield f"{name}: answers to {', '.join(alone)} do not count, because another run lacks these templates."


def _under(report: ReliabilityReport, templates: Sequence[str]) -> ReliabilityReport:
    """Return a report under some of its templates alone."""
    counts = report.counts
    if tuple(templates) == counts.templates:
        return report
    places = [counts.templates.index(name) for name in templates]

    def some(array: npt.NDArray[A] | None) -> npt.NDArray[A] | None:
        return None if array is None else array[places]

    if isinstance(report, ExactReport):
        mass = report.mass
        less = replace(
            mass,
            templates=tuple(templates),
            positive=mass.positive[places],
            negative=mass.negative[places],
            failed=some(mass.failed),
            prompts=some(mass.prompts),
            left_out=some(mass.left_out),
        )
        return judge_exact(less, report.options)
    return judge(counts.under(places), report.options)


def _side(name: str, run: Run, report: ReliabilityReport, asked: Instrument) -> Side:
    """Return a run's verdicts on every statement, over its templates."""
    counts, texts = report.counts, dict(texts_asked(asked, report, run.language))
    found = {
        kind.name: {
            ref: Judged(word, texts[ref])
            for ref, word in zip(counts.statements, _words(report, kind.name), strict=True)
        }
        for kind in KINDS
    }
    return Side(name, run.model, factors_of(run), found, run.last)


def _words(report: ReliabilityReport, name: str) -> list[str]:
    """Return what is said of each statement: a verdict, or the stance that its original has under all templates."""
    if name != STANCE:
        return [verdict(code).value for code in report.over_templates(name)]
    stances, enough = (array[..., PRINTED] for array in report.originals)
    sums, known = stances.sum(axis=0, dtype=np.int64), np.asarray(enough.all(axis=0))
    words = {len(stances): "agree", -len(stances): "disagree"}
    parts = zip(sums.tolist(), known.tolist(), strict=True)
    return [words.get(of, "mixed" if there else "few") for of, there in parts]


def texts_asked(asked: Instrument, report: ReliabilityReport, language: str) -> Iterator[tuple[str, object]]:
    """Yield of each statement what was asked of it: its wordings, with what is expected of each."""
    counts, statements = report.counts, {one.ref: one for one in asked.statements}
    for place, ref in enumerate(counts.statements):
        of = statements.get(ref)
        yield (
            ref,
            tuple(
                (str(variant), int(sign), _text(of, variant, language))
                for variant, sign, there in zip(counts.variants, counts.signs[place], counts.exists[place], strict=True)
                if there
            ),
        )


def _text(of: Statement | None, variant: VariantId, language: str) -> str:
    wording = of.wording(variant, language) if of is not None else None
    return "" if wording is None else wording.text
