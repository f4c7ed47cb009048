"""Runs of the reliability audit side by side: which statements keep their verdicts, and which their
stance.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from stores.core.store import Store, at_once
from stores.runs.run_rows import Run
from workbench.audits.claims import LEVEL, AdjustedFinding, Finding, OfModel, p_of, reach_of
from workbench.audits.codes import verdict
from workbench.audits.comparison.judge import (
    OF_TIME,
    Compared,
    Judged,
    Side,
    VerdictKind,
    differing,
    factors_of,
    unpaired_because,
)
from workbench.audits.reliability.counting import ALL, PRINTED, TEMPLATE, thinned
from workbench.audits.reliability.expected import ExactReport
from workbench.audits.reliability.expected import judge as judge_exact
from workbench.audits.reliability.judge import ReliabilityReport, judge
from workbench.audits.reliability.options import TESTS, ReliabilityOptions
from workbench.audits.reliability.pooled import (
    PASSES_PUBLISHED,
    Pooled,
    answers_words,
    difference_said,
    differences,
    pooled,
)
from workbench.audits.reliability.verdicts import run_verdicts
from workbench.domain.instruments import Instrument
from workbench.domain.names import plural
from workbench.domain.readings import USUAL, Readings
from workbench.domain.statements import ORIGINAL, Statement, VariantId
from workbench.domain.verdicts import Estimate, Verdict
from workbench.errors import UsageError
from workbench.evidence.rulings import Told
from workbench.figures.pictures.of_table import Forest
from workbench.figures.shown import estimate, number
from workbench.figures.table import AnyTable, Column, Kind, Table
from workbench.stats.agreement import Retest, retest
from workbench.stats.resampling import derive_rng

STANCE, ALL_PROMPTS = "stance", "all"
TITLES = {ALL: "all tests"}
KINDS = (
    *(
        VerdictKind(
            name, TITLES.get(name, name.replace("_", " ")), Verdict.PASS.value, Verdict.FAIL.value
        )
        for name in (ALL, *TESTS, TEMPLATE)
    ),
    VerdictKind(STANCE, "stance", "agree", "disagree", neither=("mixed",)),
)
"the stance is that on the original, where it is the same under all templates"
A = TypeVar("A", bound=np.generic)


LARGEST_DIFFERENCE = 0.5
"the largest plausible difference of the shares of two runs"


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
            f"found runs on {' and '.join(instruments)}, which have no statement in common; "
            "compare runs on one "
            "instrument (--instrument)"
        )
    verdicts = {
        name: run_verdicts(store, run, options, readings=readings) for name, run in runs.items()
    }
    reports = {name: of_run.report for name, of_run in verdicts.items()}
    found = beside(runs, reports, {name: store.runs.instrument(run) for name, run in runs.items()})
    return replace(found, rulings=Told.joined([of_run.told for of_run in verdicts.values()]))


def beside(
    runs: Mapping[str, Run],
    reports: Mapping[str, ReliabilityReport],
    asked: Mapping[str, Instrument],
) -> Compared:
    """Return the comparison of runs that are judged; `asked`: the instrument as it was put to each.

    Raises UsageError where runs of one family have no template in common.
    """
    shared = shared_templates(runs, reports)
    under = {name: _under(reports[name], shared[name]) for name in runs}
    equal, said, untested = at_equal_numbers(under)

    @cache
    def shares(name: str) -> Pooled:
        return pooled(under[name])

    def main(name: str) -> Estimate:
        return shares(name).share(ALL)

    sides = [
        replace(
            _side(name, run, equal[name], asked[name]),
            main=partial(main, name),
            beside={
                PASSES_PUBLISHED: under[name].passing(ALL),
                "answers a prompt": answers_words(under[name]),
            },
        )
        for name, run in runs.items()
    ]

    def differ(first: str, second: str) -> AnyTable:
        return differences(first, second, shares(first), shares(second))

    @cache
    def drifted(first: str, second: str) -> Table[Drift]:
        texts = [dict(texts_asked(asked[name], under[name], language)) for name in (first, second)]
        return drift((first, second), (under[first], under[second]), (texts[0], texts[1]))

    def finds(first: str, second: str) -> Finding:
        one, other = shares(first), shares(second)
        again = drifted(first, second).rows[0] if one_model else None

        def said(adjusted: Sequence[float]) -> Iterator[OfModel]:
            difference = one.difference(other, ALL)
            units = plural(difference.n, "statement")
            reach = reach_of(difference, LARGEST_DIFFERENCE, Kind.POINTS, units, "a difference")
            text = difference_said(first, second, one, other, adjusted[0])
            yield OfModel(text, "", p=adjusted[0], reach=None if adjusted[0] < LEVEL else reach)
            if again is not None:
                yield OfModel(drift_said(again, adjusted[1]), "", p=adjusted[1])

        p = p_of(one.difference(other, ALL))
        return AdjustedFinding(
            (p,) if again is None else (p, again.found.p), said, "difference of runs"
        )

    apart, one_model = bool(unpaired_because(sides)), set(differing(sides)) <= {*OF_TIME}
    first, language = asked[next(iter(runs))], next(iter(runs.values())).language
    return Compared(
        f"{next(iter(runs.values())).instrument}: {' and '.join(runs)}",
        KINDS,
        sides,
        {
            s.ref: w.text
            for s in first.statements
            if (w := s.wording(ORIGINAL, language)) is not None
        },
        "keep their stance",
        Kind.SHARE,
        differences=[] if apart else [differ, drifted] if one_model else [differ],
        left_out=(*templates_left_out(reports, shared), *said),
        untested=untested,
        finds=None if apart else finds,
    )


DRIFT = (
    "Test-retest agreement of prompts that both runs were asked in the same words. same: share "
    "of the prompts whose "
    "majority of readable answers is the same, a tie being none; κ: Cohen's, of these "
    "majorities; change: mean "
    "absolute change of the share of agreement. Draws differ even if the model does not, so "
    "beside these stands what "
    "the draws alone make of them (all answers to a prompt taken as exchangeable), and p is the "
    "one-sided permutation "
    "test of more change than that. Intervals take statements as a sample. Of exact "
    "probabilities nothing is drawn."
)


@dataclass(frozen=True, slots=True)
class Drift:
    """How alike a model's answers to some prompts are on two occasions."""

    prompts: str
    statements: int
    found: Retest


def drift(
    names: tuple[str, str],
    reports: tuple[ReliabilityReport, ReliabilityReport],
    texts: tuple[Mapping[str, object], Mapping[str, object]],
) -> Table[Drift]:
    """Return how alike two runs of one model are prompt by prompt: over all prompts, and under each
    template.

    texts : ref -> what was asked of it, in each run; statements that were asked in other words are
        left out
    """
    one, other = reports
    refs = [
        ref for ref in one.counts.statements if ref in texts[1] and texts[0][ref] == texts[1][ref]
    ]
    variants = [each for each in one.counts.variants if each in other.counts.variants]
    sides = [_for_and_against(report, one.counts.templates, refs, variants) for report in reports]
    there = np.all([side.sum(axis=-1) >= 0 for side in sides], axis=0)
    statement = np.broadcast_to(np.arange(len(refs))[:, None, None], there.shape[1:])
    drawn = not any(
        isinstance(of, ExactReport) or of.counts.until_settled is not None for of in reports
    )

    def row(name: str, at: slice) -> Drift:
        asked, rng = there[at], derive_rng(one.options.seed, "drift", *names, name)
        of = np.broadcast_to(statement, asked.shape)[asked]
        found = retest(sides[0][at][asked], sides[1][at][asked], of, rng, drawn=drawn)
        return Drift(name, len(np.unique(of)), found)

    each = [(name, slice(at, at + 1)) for at, name in enumerate(one.counts.templates)]
    return Table(
        "drift",
        f"Prompts that were asked again: {' and '.join(names)}",
        [row(*rows) for rows in ((ALL_PROMPTS, slice(None)), *(each if len(each) > 1 else ()))],
        [
            Column("prompts", "prompts", lambda row: row.prompts),
            Column(
                "same",
                "same",
                lambda row: row.found.same,
                Kind.SHARE,
                scale=(0.0, 1.0),
                help="share of the prompts whose majority is the same in both",
            ),
            Column(
                "same_by_draws",
                "by draws",
                lambda row: row.found.same_by_noise,
                Kind.SHARE,
                help="the same if nothing but the draws differed",
            ),
            Column(
                "kappa",
                "κ",
                lambda row: row.found.kappa,
                Kind.COEFFICIENT,
                scale=(-1.0, 1.0),
                help="Cohen's, of the majorities",
            ),
            Column(
                "change",
                "change",
                lambda row: row.found.change,
                Kind.SIZE,
                scale=(0.0, 1.0),
                help="mean absolute change of the share of agreement",
            ),
            Column(
                "change_by_draws",
                "by draws",
                lambda row: row.found.change_by_noise,
                Kind.SIZE,
                help="the same if nothing but the draws differed",
            ),
            Column(
                "p",
                "p",
                lambda row: row.found.p,
                Kind.P_VALUE,
                help="of no more change than the draws make",
            ),
            Column(
                "n",
                "n",
                lambda row: row.found.change.n,
                Kind.COUNT,
                help="prompts with a readable answer in both",
            ),
            Column(
                "no_majority",
                "no majority",
                lambda row: row.found.same.excluded,
                Kind.COUNT,
                aside=True,
                help="prompts without a majority in one of the two",
            ),
            Column("statements", "statements", lambda row: row.statements, Kind.COUNT, aside=True),
        ],
        key=lambda row: (row.prompts,),
        definition=DRIFT,
        notes=()
        if drawn
        else (
            "Nothing is said of draws: probabilities are computed, or "
            "prompts were asked until "
            "settled, so that their answers are not exchangeable.",
        ),
        subject=names,
        pictures=[Forest(values=("same", "kappa"), rows=("prompts",))],
    )


def drift_said(of: Drift, p: float) -> str:
    """Say how alike a model's answers are on two occasions, beside what draws alone make of them. p
    : adjusted
    """
    found = of.found
    if not found.change.n:
        return "No prompt has readable answers in both."
    said = (
        f"Of {plural(found.same.n, 'prompt')} with a majority in both, it is the same on "
        f"{estimate(found.same, Kind.SHARE)}; shares of agreement change by "
        f"{estimate(found.change, Kind.SIZE)}"
    )
    if math.isnan(p):
        return f"{said}."
    alone = number(found.same_by_noise, Kind.SHARE), number(found.change_by_noise, Kind.SIZE)
    return (
        f"{said}; if only the draws differed, {alone[0]} and {alone[1]} (p "
        f"{number(p, Kind.P_VALUE)})."
    )


def _for_and_against(
    report: ReliabilityReport,
    templates: Sequence[str],
    refs: Sequence[str],
    variants: Sequence[VariantId],
) -> npt.NDArray[np.float64]:
    """Return how much speaks for and against each prompt, (T, S, V, 2, 2); -1 where the wording is
    not there or was not asked.
    """
    counts = report.counts
    mass: tuple[npt.NDArray[np.generic], ...] = (counts.positive, counts.negative)
    asked = counts.exists[None, :, :, None] & (counts.total > 0)
    if isinstance(report, ExactReport):
        mass, asked = (report.mass.positive, report.mass.negative), report.known
    both = np.where(asked[..., None], np.stack(mass, axis=-1), -1.0)
    axes = ((counts.templates, templates), (counts.statements, refs), (counts.variants, variants))
    return np.asarray(both[np.ix_(*([has.index(one) for one in wanted] for has, wanted in axes))])


def unequal_numbers(reports: Mapping[str, ReliabilityReport]) -> str:
    """Say that some runs ask for more answers to a prompt than others; empty where they ask for as
    many.
    """
    sampled = {
        name: of.counts.sizes[1] for name, of in reports.items() if not isinstance(of, ExactReport)
    }
    if sampled and len(sampled) < len(reports):
        return "some verdicts are of samples, others of exact probabilities"
    if len(set(sampled.values())) < 2:
        return ""
    return (
        "a prompt has unequally many answers "
        f"({', '.join(f'{name} {most}' for name, most in sampled.items())})"
    )


def at_equal_numbers(
    reports: Mapping[str, ReliabilityReport],
) -> tuple[Mapping[str, ReliabilityReport], Sequence[str], str]:
    """Return reports on equally many answers to each prompt, since verdicts depend on how many
    there are: of runs with more, some are drawn at random. Then what to say of it, and why verdicts
    are not tested where it cannot be done.
    """
    unequal = unequal_numbers(reports)
    if not unequal or any(isinstance(of, ExactReport) for of in reports.values()):
        return reports, (), unequal
    if any(of.counts.until_settled is not None for of in reports.values()):
        return reports, (), f"{unequal}, asked until the verdict was settled"
    fewest, seed = (
        min(of.counts.sizes[1] for of in reports.values()),
        next(iter(reports.values())).options.seed,
    )
    thin = {
        name: judge(thinned(of.counts, fewest, derive_rng(seed, "thinned", name)), of.options)
        for name, of in reports.items()
    }
    drawn = (
        f"of {plural(fewest, 'answer')} to a prompt, drawn at random where it has more (seed "
        f"{seed})"
    )
    return thin, [f"Verdicts are {drawn}, because {unequal}."], ""


def shared_templates(
    runs: Mapping[str, Run], reports: Mapping[str, ReliabilityReport]
) -> dict[str, tuple[str, ...]]:
    """Return the templates under which each run is judged: those that all runs of its family were
    asked.

    Raises UsageError where runs of one family have none in common.
    """
    found = {}
    for name, run in runs.items():
        others = [
            reports[other].counts.templates for other, of in runs.items() if of.family == run.family
        ]
        found[name] = tuple(
            one for one in reports[name].counts.templates if all(one in each for each in others)
        )
        if not found[name]:
            raise UsageError(
                f"{name} shares no template with the other runs, so nothing can be compared"
            )
    return found


def templates_left_out(
    reports: Mapping[str, ReliabilityReport], shared: Mapping[str, Sequence[str]]
) -> Iterator[str]:
    for name, report in reports.items():
        alone = [one for one in report.counts.templates if one not in shared[name]]
        if alone:
            yield (
                f"{name}: answers to {', '.join(alone)} do not count, because another run "
                "lacks these templates."
            )


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
    """Return what is said of each statement: a verdict, or the stance that its original has under
    all templates.
    """
    if name != STANCE:
        return [verdict(code).value for code in report.over_templates(name)]
    stances, enough = (array[..., PRINTED] for array in report.originals)
    sums, known = stances.sum(axis=0, dtype=np.int64), np.asarray(enough.all(axis=0))
    words = {len(stances): "agree", -len(stances): "disagree"}
    parts = zip(sums.tolist(), known.tolist(), strict=True)
    return [words.get(of, "mixed" if there else "few") for of, there in parts]


def texts_asked(
    asked: Instrument, report: ReliabilityReport, language: str
) -> Iterator[tuple[str, object]]:
    """Yield of each statement what was asked of it: its wordings, with what is expected of each."""
    counts, statements = report.counts, {one.ref: one for one in asked.statements}
    for place, ref in enumerate(counts.statements):
        of = statements.get(ref)
        yield (
            ref,
            tuple(
                (str(variant), int(sign), _text(of, variant, language))
                for variant, sign, there in zip(
                    counts.variants, counts.signs[place], counts.exists[place], strict=True
                )
                if there
            ),
        )


def _text(of: Statement | None, variant: VariantId, language: str) -> str:
    wording = of.wording(variant, language) if of is not None else None
    return "" if wording is None else wording.text
