"""Comparison of runs of the reliability audit: which verdicts and stances are the same."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
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
    ComparedSide,
    ItemVerdict,
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
    differences,
    format_difference,
    pooled_verdicts,
)
from workbench.audits.reliability.verdicts import run_verdicts
from workbench.domain.instruments import Instrument
from workbench.domain.names import plural
from workbench.domain.readings import USUAL, ReadingChoice
from workbench.domain.statements import ORIGINAL, Statement, VariantId
from workbench.domain.verdicts import Estimate, Verdict
from workbench.errors import UsageError
from workbench.evidence.rulings import RulingNotes
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
"the stance is that on the original, if it is the same under all templates"
A = TypeVar("A", bound=np.generic)


NOT_ASKED = -1.0
"the weight of a prompt that a run was not asked"
LARGEST_DIFFERENCE = 0.5
"the largest plausible difference of the shares of two runs"


@at_once
def compared(
    store: Store,
    runs: Mapping[str, Run],
    options: ReliabilityOptions | None = None,
    *,
    readings: ReadingChoice = USUAL,
) -> Compared:
    """Return the comparison of runs, under the templates that all runs of a family were asked.

    Parameters
    ----------
    runs : name -> run. Raises UsageError if they are of several instruments
    """
    instruments = sorted({run.instrument for run in runs.values()})
    if len(instruments) > 1:
        raise UsageError(
            f"found runs on {' and '.join(instruments)}, which have no statement in common; "
            "compare runs on one instrument (--instrument)"
        )
    verdicts = {
        name: run_verdicts(store, run, options, readings=readings) for name, run in runs.items()
    }
    reports = {name: run_result.report for name, run_result in verdicts.items()}
    comparison = compare_judged(
        runs, reports, {name: store.runs.instrument(run) for name, run in runs.items()}
    )
    return replace(
        comparison,
        rulings=RulingNotes.joined([run_result.told for run_result in verdicts.values()]),
    )


def compare_judged(
    runs: Mapping[str, Run],
    reports: Mapping[str, ReliabilityReport],
    asked: Mapping[str, Instrument],
) -> Compared:
    """Return the comparison of runs that are judged.

    Parameters
    ----------
    asked : the instrument of each run, as it was asked

    Raises UsageError if runs of one family have no template in common.
    """
    shared = shared_templates(runs, reports)
    comparison = _Comparison(
        runs, {name: _under(reports[name], shared[name]) for name in runs}, asked
    )
    equal_reports, notes, untested = at_equal_numbers(comparison.reports)
    sides = [comparison.side(name, equal_reports[name]) for name in runs]
    is_unpaired = bool(unpaired_because(sides))
    is_one_model = set(differing(sides)) <= {*OF_TIME}
    differences_of_pairs: list[Callable[[str, str], AnyTable]] = []
    if not is_unpaired:
        differences_of_pairs.append(comparison.differences)
        if is_one_model:
            differences_of_pairs.append(comparison.drift)
    return Compared(
        f"{comparison.first_run.instrument}: {' and '.join(runs)}",
        KINDS,
        sides,
        comparison.original_texts(),
        "keep their stance",
        Kind.SHARE,
        differences=differences_of_pairs,
        left_out=(*templates_left_out(reports, shared), *notes),
        untested=untested,
        finds=None if is_unpaired else partial(comparison.finding, is_one_model=is_one_model),
    )


class _Comparison:
    """Judged runs under the templates that all of their family were asked."""

    def __init__(
        self,
        runs: Mapping[str, Run],
        reports: Mapping[str, ReliabilityReport],
        asked: Mapping[str, Instrument],
    ) -> None:
        self.runs = runs
        self.reports = reports
        self._asked = asked
        self._shares: dict[str, Pooled] = {}
        self._drifts: dict[tuple[str, str], Table[Drift]] = {}

    @property
    def first_run(self) -> Run:
        """The run that is named first."""
        return next(iter(self.runs.values()))

    def original_texts(self) -> dict[str, str]:
        """Return the text of each statement's original in the first run, by ref."""
        instrument = self._asked[next(iter(self.runs))]
        texts = {}
        for item in instrument.statements:
            wording = item.wording(ORIGINAL, self.first_run.language)
            if wording is not None:
                texts[item.ref] = wording.text
        return texts

    def side(self, name: str, equal_report: ReliabilityReport) -> ComparedSide:
        """Return a run's verdicts on every statement.

        Parameters
        ----------
        equal_report : the report on as many answers to each prompt as every run has
        """
        report = self.reports[name]
        return replace(
            _side(name, self.runs[name], equal_report, self._asked[name]),
            main=partial(self._main, name),
            beside={
                PASSES_PUBLISHED: NO_PUBLISHED_TEST
                if isinstance(report, ExactReport)
                else report.passing(ALL),
                "answers a prompt": answers_words(report),
            },
        )

    def _main(self, name: str) -> Estimate:
        """Return the share of statements that keep their stance."""
        return self._pooled(name).share(ALL)

    def _pooled(self, name: str) -> Pooled:
        """Return the pooled shares of a run, computed once."""
        if name not in self._shares:
            self._shares[name] = pooled_verdicts(self.reports[name])
        return self._shares[name]

    def differences(self, first: str, second: str) -> AnyTable:
        """Return the table of the differences of two runs."""
        return differences(first, second, self._pooled(first), self._pooled(second))

    def drift(self, first: str, second: str) -> Table[Drift]:
        """Return the table of the agreement of two runs of one model, computed once."""
        if (first, second) not in self._drifts:
            language = self.first_run.language
            first_report, second_report = self.reports[first], self.reports[second]
            self._drifts[first, second] = drift(
                (first, second),
                (first_report, second_report),
                (
                    dict(texts_asked(self._asked[first], first_report, language)),
                    dict(texts_asked(self._asked[second], second_report, language)),
                ),
            )
        return self._drifts[first, second]

    def finding(self, first: str, second: str, *, is_one_model: bool) -> Finding:
        """Return the finding on the difference of two runs, and on the drift of one model."""
        difference = self._pooled(first).difference(self._pooled(second), ALL)
        p_values = [p_of(difference)]
        all_prompts = None
        if is_one_model:
            all_prompts = self.drift(first, second).rows[0]
            p_values.append(all_prompts.found.p)
        sentences = partial(self._sentences, first, second, all_prompts)
        return AdjustedFinding(tuple(p_values), sentences, "difference of runs")

    def _sentences(
        self, first: str, second: str, all_prompts: Drift | None, adjusted: Sequence[float]
    ) -> Iterator[OfModel]:
        """Yield the sentences of a finding, with adjusted p values."""
        first_shares, second_shares = self._pooled(first), self._pooled(second)
        difference = first_shares.difference(second_shares, ALL)
        reach = None
        if not adjusted[0] < LEVEL:
            units = plural(difference.n, "statement")
            reach = reach_of(difference, LARGEST_DIFFERENCE, Kind.POINTS, units, "a difference")
        sentence = format_difference(first, second, first_shares, second_shares, adjusted[0])
        yield OfModel(sentence, "", p=adjusted[0], reach=reach)
        if all_prompts is not None:
            yield OfModel(drift_sentence(all_prompts, adjusted[1]), "", p=adjusted[1])


NO_PUBLISHED_TEST = Estimate(
    math.nan, math.nan, math.nan, 0, 0, "exact probabilities: the test is one of drawn answers"
)
DRIFT = (
    "Test-retest agreement of prompts that both runs were asked in the same words. same: share of "
    "the prompts whose majority of readable answers is the same, a tie being none; κ: Cohen's, of "
    "these majorities; change: mean absolute change of the share of agreement. Draws differ even "
    "if the model does not, so beside these stands what the draws alone make of them (all answers "
    "to a prompt taken as exchangeable), and p is the one-sided permutation test of more change "
    "than that. Intervals take statements as a sample. Of exact probabilities nothing is drawn."
)


NOT_SAMPLED = (
    "Nothing is said of draws: probabilities are computed, or prompts were asked until "
    "settled, so that their answers are not exchangeable."
)


@dataclass(frozen=True, slots=True)
class Drift:
    """The agreement of a model's answers to some prompts on two occasions."""

    prompts: str
    statements: int
    found: Retest


def drift(
    names: tuple[str, str],
    reports: tuple[ReliabilityReport, ReliabilityReport],
    texts: tuple[Mapping[str, object], Mapping[str, object]],
) -> Table[Drift]:
    """Return the table of the agreement of two runs of one model, prompt by prompt.

    It is over all prompts, and under each template.

    Parameters
    ----------
    texts : ref -> what was asked of it, in each run; statements with other words are excluded
    """
    is_sampled = not any(
        isinstance(report, ExactReport) or report.counts.until_settled is not None
        for report in reports
    )
    return Table(
        "drift",
        f"Prompts that were asked again: {' and '.join(names)}",
        _drift_rows(names, reports, texts, is_sampled=is_sampled),
        [*_agreement_columns(), *_drift_test_columns()],
        key=lambda row: (row.prompts,),
        definition=DRIFT,
        notes=() if is_sampled else (NOT_SAMPLED,),
        subject=names,
        pictures=[Forest(values=("same", "kappa"), rows=("prompts",))],
    )


def _drift_rows(
    names: tuple[str, str],
    reports: tuple[ReliabilityReport, ReliabilityReport],
    texts: tuple[Mapping[str, object], Mapping[str, object]],
    *,
    is_sampled: bool,
) -> list[Drift]:
    """Return the agreement over all prompts, and under each template if there are several.

    Parameters
    ----------
    is_sampled : whether both runs have independent samples, so that their noise can be estimated
    """
    counts, other_counts = (report.counts for report in reports)
    refs = [ref for ref in counts.statements if ref in texts[1] and texts[0][ref] == texts[1][ref]]
    variants = [variant for variant in counts.variants if variant in other_counts.variants]
    first, second = (
        _for_and_against(report, counts.templates, refs, variants) for report in reports
    )
    was_asked = np.all([(side != NOT_ASKED).all(axis=-1) for side in (first, second)], axis=0)
    statement = np.broadcast_to(np.arange(len(refs))[:, None, None], was_asked.shape[1:])
    groups_of_prompts = [(ALL_PROMPTS, slice(None))]
    if len(counts.templates) > 1:
        groups_of_prompts += [
            (name, slice(index, index + 1)) for index, name in enumerate(counts.templates)
        ]
    rows = []
    for name, templates in groups_of_prompts:
        mask = was_asked[templates]
        statement_of_prompt = np.broadcast_to(statement, mask.shape)[mask]
        agreement = retest(
            first[templates][mask],
            second[templates][mask],
            statement_of_prompt,
            derive_rng(reports[0].options.seed, "drift", *names, name),
            drawn=is_sampled,
        )
        rows.append(Drift(name, len(np.unique(statement_of_prompt)), agreement))
    return rows


def _agreement_columns() -> list[Column[Drift]]:
    """Return the columns of the agreement, and of that by sampling alone."""
    return [
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
    ]


def _drift_test_columns() -> list[Column[Drift]]:
    """Return the columns of the test, and of the number of prompts and statements."""
    return [
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
    ]


def drift_sentence(drift: Drift, p: float) -> str:
    """Return a sentence on how well a model's answers on two occasions agree.

    It compares them with the agreement that sampling alone would give.

    Parameters
    ----------
    p : adjusted p value
    """
    agreement = drift.found
    if not agreement.change.n:
        return "No prompt has readable answers in both."
    sentence = (
        f"Of {plural(agreement.same.n, 'prompt')} with a majority in both, it is the same on "
        f"{estimate(agreement.same, Kind.SHARE)}; shares of agreement change by "
        f"{estimate(agreement.change, Kind.SIZE)}"
    )
    if math.isnan(p):
        return f"{sentence}."
    by_noise = (
        number(agreement.same_by_noise, Kind.SHARE),
        number(agreement.change_by_noise, Kind.SIZE),
    )
    return (
        f"{sentence}; if only the draws differed, {by_noise[0]} and {by_noise[1]} (p "
        f"{number(p, Kind.P_VALUE)})."
    )


def _for_and_against(
    report: ReliabilityReport,
    templates: Sequence[str],
    refs: Sequence[str],
    variants: Sequence[VariantId],
) -> npt.NDArray[np.float64]:
    """Return the weight for and against each prompt: (T, S, V, 2, 2).

    It is `NOT_ASKED` if the wording does not exist or was not asked.
    """
    counts = report.counts
    mass: tuple[npt.NDArray[np.generic], ...] = (counts.positive, counts.negative)
    was_asked = counts.exists[None, :, :, None] & (counts.total > 0)
    if isinstance(report, ExactReport):
        mass, was_asked = (report.mass.positive, report.mass.negative), report.known
    weights = np.where(was_asked[..., None], np.stack(mass, axis=-1), NOT_ASKED)
    axes = ((counts.templates, templates), (counts.statements, refs), (counts.variants, variants))
    return np.asarray(
        weights[
            np.ix_(
                *(
                    [available.index(axis_name) for axis_name in selected]
                    for available, selected in axes
                )
            )
        ]
    )


def unequal_numbers(reports: Mapping[str, ReliabilityReport]) -> str:
    """Return a note that some runs ask for more answers to a prompt than others, or "" if not."""
    sampled = {
        name: report.counts.sizes[1]
        for name, report in reports.items()
        if not isinstance(report, ExactReport)
    }
    if sampled and len(sampled) < len(reports):
        return "some verdicts are of samples, others of exact probabilities"
    if len(set(sampled.values())) < 2:
        return ""
    return (
        "a prompt has unequally many answers "
        f"({', '.join(f'{name} {n_planned}' for name, n_planned in sampled.items())})"
    )


def at_equal_numbers(
    reports: Mapping[str, ReliabilityReport],
) -> tuple[Mapping[str, ReliabilityReport], Sequence[str], str]:
    """Return reports on equally many answers to each prompt, notes, and why this is impossible.

    Verdicts depend on the number of answers, so some answers of the runs with more are drawn at
    random. The last part is empty if the numbers are equal now. Otherwise verdicts are not tested.
    """
    unequal = unequal_numbers(reports)
    if not unequal or any(isinstance(report, ExactReport) for report in reports.values()):
        return reports, (), unequal
    if any(report.counts.until_settled is not None for report in reports.values()):
        return reports, (), f"{unequal}, asked until the verdict was settled"
    fewest, seed = (
        min(report.counts.sizes[1] for report in reports.values()),
        next(iter(reports.values())).options.seed,
    )
    thinned_reports = {
        name: judge(
            thinned(report.counts, fewest, derive_rng(seed, "thinned", name)), report.options
        )
        for name, report in reports.items()
    }
    sample_text = (
        f"of {plural(fewest, 'answer')} to a prompt, drawn at random where it has more (seed "
        f"{seed})"
    )
    return thinned_reports, [f"Verdicts are {sample_text}, because {unequal}."], ""


def shared_templates(
    runs: Mapping[str, Run], reports: Mapping[str, ReliabilityReport]
) -> dict[str, tuple[str, ...]]:
    """Return the templates under which each run is judged: those that all of its family were asked.

    Raises UsageError if runs of one family have none in common.
    """
    shared = {}
    for name, run in runs.items():
        family_templates = [
            reports[other].counts.templates
            for other, other_run in runs.items()
            if other_run.family == run.family
        ]
        shared[name] = tuple(
            template
            for template in reports[name].counts.templates
            if all(template in other_templates for other_templates in family_templates)
        )
        if not shared[name]:
            raise UsageError(
                f"{name} shares no template with the other runs, so nothing can be compared"
            )
    return shared


def templates_left_out(
    reports: Mapping[str, ReliabilityReport], shared: Mapping[str, Sequence[str]]
) -> Iterator[str]:
    """Yield a note on each run with templates that another run lacks."""
    for name, report in reports.items():
        excluded = [
            template for template in report.counts.templates if template not in shared[name]
        ]
        if excluded:
            yield (
                f"{name}: answers to {', '.join(excluded)} do not count, because another run "
                "lacks these templates."
            )


def _under(report: ReliabilityReport, templates: Sequence[str]) -> ReliabilityReport:
    """Return a report under only some of its templates."""
    counts = report.counts
    if tuple(templates) == counts.templates:
        return report
    indices = [counts.templates.index(name) for name in templates]

    def some(values: npt.NDArray[A] | None) -> npt.NDArray[A] | None:
        return None if values is None else values[indices]

    if isinstance(report, ExactReport):
        mass = report.mass
        reduced_mass = replace(
            mass,
            templates=tuple(templates),
            positive=mass.positive[indices],
            negative=mass.negative[indices],
            failed=some(mass.failed),
            prompts=some(mass.prompts),
            left_out=some(mass.left_out),
        )
        return judge_exact(reduced_mass, report.options)
    return judge(counts.for_templates(indices), report.options)


def _side(name: str, run: Run, report: ReliabilityReport, asked: Instrument) -> ComparedSide:
    """Return a run's verdicts on every statement, over its templates."""
    counts, texts = report.counts, dict(texts_asked(asked, report, run.language))
    verdicts_by_kind = {
        kind.name: {
            ref: ItemVerdict(word, texts[ref])
            for ref, word in zip(counts.statements, _words(report, kind.name), strict=True)
        }
        for kind in KINDS
    }
    return ComparedSide(name, run.model, factors_of(run), verdicts_by_kind, run.last)


def _words(report: ReliabilityReport, name: str) -> list[str]:
    """Return the word for each statement: a verdict, or the stance under all templates."""
    if name != STANCE:
        return [verdict(code).value for code in report.over_templates(name)]
    stances, enough = (array[..., PRINTED] for array in report.originals)
    sums, is_known = stances.sum(axis=0, dtype=np.int64), np.asarray(enough.all(axis=0))
    words = {len(stances): "agree", -len(stances): "disagree"}
    parts = zip(sums.tolist(), is_known.tolist(), strict=True)
    return [
        words.get(stance_sum, "mixed" if has_stance else "few") for stance_sum, has_stance in parts
    ]


def texts_asked(
    asked: Instrument, report: ReliabilityReport, language: str
) -> Iterator[tuple[str, object]]:
    """Yield the wordings of each statement as they were asked, with their expected relations."""
    counts, statements = report.counts, {item.ref: item for item in asked.statements}
    for row, ref in enumerate(counts.statements):
        item = statements.get(ref)
        yield (
            ref,
            tuple(
                (str(variant), int(sign), _text_of_wording(item, variant, language))
                for variant, sign, exists in zip(
                    counts.variants, counts.signs[row], counts.exists[row], strict=True
                )
                if exists
            ),
        )


def _text_of_wording(statement: Statement | None, variant: VariantId, language: str) -> str:
    """Return the text of a statement's wording, or "" if the statement or the wording is
    missing.
    """
    wording = statement.wording(variant, language) if statement is not None else None
    return "" if wording is None else wording.text
