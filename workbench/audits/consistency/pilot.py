"""The choice of templates on a few statements, and the effects of weaker tests or coarser scales.

"We ran an initial experiment [...] on a subset of the data containing 10 statements per country
[...] and selected the three prompts that resulted in the highest number of reliable responses
(i.e., responses that could be clearly mapped to a stance) for each category (personal, impersonal)"
(Ceron et al. 2024, appendix B.1). The module also computes how often models agree and disagree
(Figure 6), results under fewer tests (Figure 7), and the information that answers lose when a scale
of five is collapsed to three (Table 8).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from stores.core.store import Store, at_once
from stores.runs.run_rows import Run
from workbench.audits.audit import FigureVerb, Printed
from workbench.audits.chosen_run import find_run
from workbench.audits.consistency.options import OFFERED, ConsistencyOptions, Formula
from workbench.audits.consistency.stances import (
    IssueStance,
    PartyPositions,
    Stances,
    issue_stance,
    party_positions,
    reliable_stances,
)
from workbench.audits.reliability.counting import ALL, PRINTED, Counts
from workbench.audits.reliability.judge import ReliabilityReport, judge
from workbench.audits.reliability.judged import with_answer_kinds
from workbench.audits.reliability.options import READ_BY
from workbench.audits.reliability.verdicts import counts
from workbench.domain.instruments import Instrument, PartyAnswer
from workbench.domain.keys import SEED
from workbench.domain.names import plural
from workbench.domain.responses import DTYPES
from workbench.domain.statements import Statement
from workbench.domain.verdicts import Estimate, MeanSd
from workbench.entry_points import DEFAULT_AUDIT
from workbench.errors import UsageError
from workbench.evidence.answered import AnsweredPlan, answered_data, answered_header, answered_plan
from workbench.evidence.readings import source_of
from workbench.evidence.refusals import refusals_of
from workbench.evidence.runs import AnswerSelection, template_notes
from workbench.figures.pictures.of_table import Forest
from workbench.figures.table import AnyTable, Column, Kind, Link, Table
from workbench.options.option import Option, Section, Type, flag, refuse
from workbench.options.shared import (
    ASKED_WITH,
    DRAWN,
    DTYPE,
    FAMILY,
    INSTRUMENT,
    LANGUAGE,
    MODEL,
    SAMPLES,
    SAMPLING,
    SERVED,
    STARTING,
    TEMPLATE_VERSION,
    TEMPLATES,
    VARIANTS,
    WITHOUT_RULINGS,
)
from workbench.options.shared import SEED as SEEDED
from workbench.stats.arrays import FloatArray
from workbench.stats.describe import mean_sd
from workbench.stats.resampling import NOTHING, derive_rng, share_interval, too_few_alike

if TYPE_CHECKING:
    from workbench.domain.designs import Design

PER_COUNTRY = 10
"number of statements of each country in the published pilot"
BEST = 3
"number of templates that the published pilot kept of each kind, personal and impersonal"

TEST_SETS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("no tests", ()),
    ("sampling", ("sampling",)),
    ("sampling, label order and paraphrase", ("sampling", "label_order", "paraphrase")),
)
"sets of tests that are weaker than `all`; the first and the last are those of Figure 7"


@dataclass(frozen=True, slots=True)
class TemplateRank:
    """The share of readable answers to one template, and its rank."""

    rank: int
    "1: the largest share; templates with the same share have the same rank"
    template: str
    address: str
    "personal or impersonal, or empty if it is unknown"
    chosen: bool
    "whether it is among the best three of its address"
    readable: Estimate
    "share of readable answers, with the number of answers as n and an interval over statements"
    statements: int
    agree: float
    "share of the readable answers over all wordings, or NaN without any"
    disagree: float


@dataclass(frozen=True, slots=True)
class AnswerTypes:
    """The shares of statements on which a model agrees and disagrees, by template (Figure 6)."""

    agree: tuple[float, ...]
    """share of all statements, per template, in the original wording and printed label order; other
    statements have no stance"""
    disagree: tuple[float, ...]
    reliable_agree: tuple[float, ...]
    "share of the reliable statements, or NaN without any"
    reliable_disagree: tuple[float, ...]

    def mean(self, name: str) -> MeanSd:
        """Return mean and population deviation over templates of one of the four shares."""
        return mean_sd(getattr(self, name), ddof=0)


@dataclass(frozen=True, slots=True)
class WeakerTests:
    """A model's results if fewer tests decided which stances are reliable (Figure 7)."""

    name: str
    tests: tuple[str, ...]
    "if it is empty, every stance counts"
    passed: MeanSd
    """share of statements that pass all tests, or without tests have a stance: mean and population
    deviation over templates"""
    issues: tuple[IssueStance, ...]
    spread: MeanSd
    "mean over issues of the deviation over templates; n: issues that have one"


@dataclass(frozen=True, slots=True)
class ScaleCollapse:
    """The correlation of party distances before and after answers are collapsed (Table 8)."""

    country: str
    statements: int
    answers: tuple[str, ...]
    "the different answers, the most frequent first"
    placed: Estimate
    "Spearman's rank correlation over pairs of parties that have a left-right position; n: pairs"
    every: Estimate
    "the same over pairs of all parties"


def draw_statements(
    statements: Sequence[Statement], n: int, rng: np.random.Generator
) -> tuple[str, ...]:
    """Return n statements, drawn without replacement, in the instrument's order.

    The numbers of the countries' statements are as equal as possible. Raises UsageError if there
    are fewer than n statements.
    """
    if not 1 <= n <= len(statements):
        raise UsageError(
            f"{n} statements requested, but the instrument has {len(statements)}: give 1 to that "
            "many"
        )
    remaining: dict[str | None, list[int]] = {}
    for index, statement in enumerate(statements):
        remaining.setdefault(statement.country, []).append(index)
    for members in remaining.values():
        rng.shuffle(members)
    countries = list(remaining)
    rng.shuffle(countries)
    sample: list[int] = []
    while len(sample) < n:
        sample += [remaining[country].pop() for country in countries if remaining[country]]
    return tuple(statements[index].ref for index in sorted(sample[:n]))


def select_counts(counts: Counts, refs: Sequence[str], templates: Sequence[str] = ()) -> Counts:
    """Return the counts of some statements and, if they are named, of some templates.

    Unknown ones are ignored.
    """
    selected = set(refs)
    columns = [column for column, ref in enumerate(counts.statements) if ref in selected]
    rows = [row for row, name in enumerate(counts.templates) if not templates or name in templates]
    positive, negative, unreadable = (
        array[rows][:, columns] for array in (counts.positive, counts.negative, counts.unreadable)
    )
    return replace(
        counts,
        statements=tuple(counts.statements[column] for column in columns),
        templates=tuple(counts.templates[row] for row in rows),
        positive=positive,
        negative=negative,
        unreadable=unreadable,
        exists=counts.exists[columns],
        relations=None if counts.relations is None else counts.relations[columns],
        failed=None if counts.failed is None else counts.failed[rows][:, columns],
        planned=None if counts.planned is None else counts.planned[rows][:, columns],
        truncated=None if counts.truncated is None else counts.truncated[rows][:, columns],
        left_out=None if counts.left_out is None else counts.left_out[rows][:, columns],
        prompts=None if counts.prompts is None else counts.prompts[rows][:, columns],
        blank=None if counts.blank is None else counts.blank[columns],
        until_settled=None
        if counts.until_settled is None
        else counts.until_settled[rows][:, columns],
    )


def rank_templates(
    counts: Counts, address: Mapping[str, str], *, resamples: int = 1000, best: int = BEST
) -> tuple[TemplateRank, ...]:
    """Return the templates by their share of readable answers, the best first.

    Templates with the same share are in the instrument's order. A template that was not asked comes
    last and has no share.

    Parameters
    ----------
    address : personal or impersonal, by template
    resamples : 0 for no intervals
    best : number of templates of each address to mark as chosen
    """
    readable, total = (
        array.sum(axis=(2, 3)).astype(np.float64) for array in (counts.readable, counts.counted)
    )
    positive = counts.positive.sum(axis=(1, 2, 3))
    n_answers, n_readable = total.sum(axis=1), readable.sum(axis=1)
    # NaN for a template that was not asked
    shares = n_readable / np.where(n_answers > 0, n_answers, np.nan)
    agree = positive / np.where(n_readable > 0, n_readable, np.nan)
    intervals = _readable(readable, total, intervals=resamples > 0)
    order = sorted(range(len(shares)), key=lambda row: (np.isnan(shares[row]), -shares[row]))
    n_by_address: Counter[str] = Counter()
    ranks: list[TemplateRank] = []
    for row in order:
        name = counts.templates[row]
        own_address = address.get(name, "")
        n_by_address[own_address] += 1
        is_asked = bool(n_answers[row])
        share = replace(
            intervals[row],
            value=float(shares[row]),
            n=int(n_answers[row]),
            undefined="" if is_asked else "no answers",
        )
        ranks.append(
            TemplateRank(
                rank=1 + int((shares > shares[row]).sum()) if is_asked else len(shares),
                template=name,
                address=own_address,
                chosen=is_asked and n_by_address[own_address] <= best,
                readable=share,
                statements=int((total[row] > 0).sum()),
                agree=float(agree[row]),
                disagree=1 - float(agree[row]),
            )
        )
    return tuple(ranks)


def _readable(readable: FloatArray, total: FloatArray, *, intervals: bool) -> list[Estimate]:
    """Return the interval of each template's share, with statements as clusters: two (T, S)."""
    results = []
    for n_readable, n_answers in zip(readable, total, strict=True):
        few = too_few_alike(n_readable, n_answers) if intervals else ""
        low, high = share_interval(n_readable, n_answers) if intervals and not few else NOTHING
        name = "" if math.isnan(low) else "share over statements"
        results.append(Estimate(math.nan, low, high, 0, interval=name, few=few))
    return results


def answer_types(report: ReliabilityReport) -> AnswerTypes:
    """Return the shares of statements on which a model agrees and disagrees, by template."""
    stances = report.originals[0][..., PRINTED]
    reliable = reliable_stances("", report).values
    n_statements = max(len(report.counts.statements), 1)
    n_reliable = np.count_nonzero(reliable, axis=1)
    denominators = np.where(n_reliable == 0, np.nan, n_reliable)
    return AnswerTypes(
        *(
            tuple(float(share) for share in (stances == sign).sum(axis=1) / n_statements)
            for sign in (1, -1)
        ),
        *(
            tuple(float(share) for share in (reliable == sign).sum(axis=1) / denominators)
            for sign in (1, -1)
        ),
    )


def weaker_tests(
    report: ReliabilityReport,
    positions: PartyPositions,
    formula: Formula = "signed",
    seed: int = SEED,
    resamples: int = 0,
) -> tuple[WeakerTests, ...]:
    """Return a model's results without tests, under weaker sets, and last under its own tests.

    Its own tests are those that the report's options name.
    """
    own_tests = report.options.tests
    sets = [(name, tests) for name, tests in TEST_SETS if set(tests) != set(own_tests)]
    return tuple(
        _under(
            ALL if tests == own_tests else name,
            tests,
            report,
            positions,
            formula,
            seed,
            resamples,
        )
        for name, tests in (*sets, (ALL, own_tests))
    )


def _under(
    name: str,
    tests: tuple[str, ...],
    report: ReliabilityReport,
    positions: PartyPositions,
    formula: Formula,
    seed: int,
    resamples: int,
) -> WeakerTests:
    """Return a model's results under one set of tests."""
    stances: Stances = reliable_stances(name, report, tests)
    shares = np.count_nonzero(stances.values, axis=1) / (len(stances.statements) or np.nan)
    issues = tuple(
        issue_stance(stances, positions, issue, formula, seed, resamples)
        for issue in positions.issues
    )
    mean_deviation = mean_sd([issue.templates.sd for issue in issues])
    return WeakerTests(name, tests, mean_sd(shares, ddof=0), issues, mean_deviation)


def scale_collapse(instrument: Instrument) -> tuple[ScaleCollapse, ...]:
    """Return the correlation of party distances for each country with party answers.

    The distance of two parties is the share of statements to which they give different answers. On
    the full scale these are different words, after collapsing a different one of agree, disagree
    and neutral, where no opinion is neutral ("we convert the alternatives into 'agree', 'disagree',
    and 'neutral'", appendix A.2). The correlation is Spearman's over pairs of parties. The paper
    names no distance. Tried were the share of different answers, city block, Euclid, cosine and
    correlation distance, for all parties or placed ones, over pairs of parties. This one comes
    nearest to Table 8: for the placed parties .902 in Spain and .906 in Italy, where it prints .90
    and .90, and 1 where the published files have three answers. Switzerland's .94 is based on the
    candidates' own answers, which the files do not have.
    """
    refs = {statement.ref for statement in instrument.statements}
    placed = {
        (party.country, party.name) for party in instrument.parties if party.position is not None
    }
    by_country: dict[str, list[PartyAnswer]] = {}
    for answer in instrument.party_answers:
        if answer.statement in refs:
            by_country.setdefault(answer.country, []).append(answer)
    return tuple(
        ScaleCollapse(
            country=country,
            statements=len({answer.statement for answer in answers}),
            answers=tuple(
                text for text, _ in Counter(answer.answer for answer in answers).most_common()
            ),
            placed=_rank_correlation(
                [answer for answer in answers if (answer.country, answer.party) in placed]
            ),
            every=_rank_correlation(answers),
        )
        for country, answers in by_country.items()
    )


def _rank_correlation(answers: Sequence[PartyAnswer]) -> Estimate:
    """Return the rank correlation of the distances of parties on the two scales."""
    answers_by_party: dict[str, dict[str, _TwoScales]] = {}
    for answer in answers:
        on_scales = _TwoScales(answer.answer, answer.stance or 0)
        answers_by_party.setdefault(answer.party, {})[answer.statement] = on_scales
    distances = [
        _distances(first, second) for first, second in combinations(answers_by_party.values(), 2)
    ]
    pairs = np.array([pair for pair in distances if pair is not None]).reshape(-1, 2)
    n = len(pairs)
    nan = float("nan")
    if n < 3:
        reason = f"{plural(n, 'pair')} of parties; three are needed"
        return Estimate(nan, nan, nan, n, 0, reason)
    full, collapsed = pairs[:, 0], pairs[:, 1]
    if np.ptp(full) == 0 or np.ptp(collapsed) == 0:
        return Estimate(nan, nan, nan, n, 0, "all parties are equally far from each other")
    # Spearman's
    rho = np.corrcoef(_ranks(full), _ranks(collapsed))[0, 1]
    return Estimate(float(rho), nan, nan, n, len(distances) - n)


class _TwoScales(NamedTuple):
    """The answer of a party to one statement, on both scales."""

    full: str
    "the answer in its words"
    collapsed: int
    "1 agree, -1 disagree, 0 neutral or no opinion"


def _ranks(values: FloatArray) -> FloatArray:
    """Return the ranks of values. Equal values have their mean rank."""
    _, indices, frequencies = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(frequencies) - (frequencies - 1) / 2)[indices])


def _distances(
    answers: Mapping[str, _TwoScales], other_answers: Mapping[str, _TwoScales]
) -> tuple[float, float] | None:
    """Return the share of different answers on the full and on the collapsed scale.

    It is over the statements that both parties answered. None if there are none.
    """
    shared = [(answers[ref], other_answers[ref]) for ref in answers if ref in other_answers]
    if not shared:
        return None
    full = sum(a.full != b.full for a, b in shared)
    collapsed = sum(a.collapsed != b.collapsed for a, b in shared)
    return full / len(shared), collapsed / len(shared)


STANCES = ("agree", "disagree", "reliable_agree", "reliable_disagree")


def pilot_tables(judged: PilotJudged) -> Iterator[AnyTable]:
    """Yield the tables of a pilot. The one of scales needs parties' answers."""
    yield template_ranks(judged.ranks)
    yield stance_shares(judged.templates, judged.types)
    if judged.weaker:
        yield weaker_sets(judged.weaker)
    if judged.scales:
        yield answer_scales(judged.scales)


def template_ranks(ranks: Sequence[TemplateRank], name: str = "") -> Table[TemplateRank]:
    """Return the table of templates by readable answers.

    With the `name` of a model, rows are links to its statements.
    """
    return Table(
        "templates",
        "Templates by share of readable answers",
        ranks,
        [
            Column("rank", "rank", lambda row: row.rank, Kind.COUNT),
            Column("template", "template", lambda row: row.template),
            Column("address", "address", lambda row: row.address),
            Column("chosen", "", lambda row: row.chosen, Kind.MARK, mark="✓"),
            Column("readable", "readable", lambda row: row.readable, Kind.SHARE, scale=(0, 1)),
            Column("answers", "answers", lambda row: row.readable.n, Kind.COUNT),
            Column(
                "agree", "agree", lambda row: row.agree, Kind.SHARE, help="of the readable answers"
            ),
            Column(
                "disagree",
                "disagree",
                lambda row: row.disagree,
                Kind.SHARE,
                help="of the readable answers",
            ),
        ],
        key=lambda row: (row.template,),
        notes=[f"✓ the best {BEST} of each address"],
        definition="Share of the answers with a readable stance, over all wordings.",
        empty="No model has answered yet.",
        link=(lambda row: Link("template_statements", (name, row.template))) if name else None,
        pictures=[Forest(values=["readable"], rows=["template"], series="address")],
    )


def stance_shares(templates: Sequence[str], types: AnswerTypes) -> Table[tuple[str, int]]:
    """Return the table of a model's stances on originals under each template (Figure 6)."""

    def of(name: str) -> Callable[[tuple[str, int]], float | MeanSd]:
        """Return the function from a row to its value in a column. The index -1 is the mean."""
        return lambda row: types.mean(name) if row[1] < 0 else getattr(types, name)[row[1]]

    return Table(
        "answer_types",
        "Statements by stance on the original wording",
        [*((name, index) for index, name in enumerate(templates)), ("mean over templates", -1)],
        [
            Column("template", "template", lambda row: row[0]),
            *(Column(name, name.replace("_", ": "), of(name), Kind.SHARE) for name in STANCES),
        ],
        key=lambda row: (row[0],),
        notes=[
            "“reliable:” columns are shares of the reliable statements, other columns shares of all"
        ],
        pictures=[Forest(values=STANCES, rows=["template"], axis="share of statements")],
    )


def weaker_sets(weaker: Sequence[WeakerTests]) -> Table[WeakerTests]:
    """Return the table of results under each set of tests (Figure 7).

    It has the share of passing statements, and the variation of issue stances over templates.
    """
    return Table(
        "weaker_tests",
        "Under weaker sets of tests: mean (sd) over templates",
        weaker,
        [
            Column("tests", "tests", lambda row: row.name),
            Column(
                "passed", "passing statements", lambda row: row.passed, Kind.SHARE, short="pass"
            ),
            Column(
                "spread",
                "mean sd of the issues",
                lambda row: row.spread,
                Kind.COEFFICIENT,
                short="sd",
                help="how much stances on issues depend on the template",
            ),
            *(
                Column(
                    issue.issue,
                    issue.issue.replace("_", " "),
                    _stance(index),
                    Kind.SCORE,
                    aside=True,
                )
                for index, issue in enumerate(weaker[-1].issues if weaker else ())
            ),
        ],
        key=lambda row: (row.name,),
        definition="The figures if fewer tests decided which stances are reliable.",
        empty="No model has answered yet.",
        detail=lambda row: [
            f"{plural(len(row.tests), 'test')}: "
            f"{', '.join(test.replace('_', ' ') for test in row.tests)}"
            if row.tests
            else "no test"
        ],
    )


def _stance(place: int) -> Callable[[WeakerTests], MeanSd]:
    """Return the function from a row to its stance on one issue."""
    return lambda row: row.issues[place].templates


def answer_scales(scales: Sequence[ScaleCollapse]) -> Table[ScaleCollapse]:
    """Return the table of the correlations of party distances on both scales (Table 8)."""
    return Table(
        "answer_scales",
        "Distances between parties on the full and on the collapsed answer scale",
        scales,
        [
            Column("country", "country", lambda row: row.country),
            Column("statements", "statements", lambda row: row.statements, Kind.COUNT),
            Column("answers", "answers", lambda row: len(row.answers), Kind.COUNT),
            Column("placed", "placed parties", lambda row: row.placed, Kind.COEFFICIENT),
            Column("placed_pairs", "pairs", lambda row: row.placed.n, Kind.COUNT),
            Column("every", "all parties", lambda row: row.every, Kind.COEFFICIENT),
            Column("every_pairs", "pairs", lambda row: row.every.n, Kind.COUNT),
        ],
        key=lambda row: (row.country,),
        definition="Spearman's rank correlation between the distances of parties on all their "
        "answers and on agree, "
        "neutral and disagree only: 1 if collapsing the scale changes nothing. A distance is the "
        "share of "
        "statements that two parties answer differently.",
        empty="The instrument has no answers from parties, so it has no answer scale.",
        detail=lambda row: [f"parties answered: {', '.join(row.answers)}"],
    )


@dataclass(frozen=True, eq=False)
class PilotJudged:
    """The ranked templates of a pilot, and its other figures."""

    run: Run
    statements: tuple[str, ...]
    ranks: tuple[TemplateRank, ...]
    templates: tuple[str, ...]
    "names in the order of `types`"
    types: AnswerTypes
    weaker: tuple[WeakerTests, ...]
    scales: tuple[ScaleCollapse, ...]
    answered: AnsweredPlan


@at_once
def judge_pilot(
    store: Store,
    which: AnswerSelection,
    options: ConsistencyOptions,
    statements: tuple[str, ...] = (),
) -> PilotJudged:
    """Return the figures of a pilot, with the templates that a model was asked with.

    `statements` are refs, and empty stands for all that were asked. Raises UnknownName or
    AmbiguousRun if no or several runs fit, and UsageError if none of the selected statements or
    templates was asked.
    """
    run = find_run(
        store,
        DEFAULT_AUDIT,
        next(iter(which.models), None),
        which.instrument,
        which.sampling,
        dtype=which.dtype,
        templates=which.templates,
        snapshot=which.snapshot,
        fingerprint=which.fingerprint,
    )
    source = source_of(store, [run], which.readings)
    reader, rulings = source.reader or 0, source.rulings(run)
    all_counts = counts(store, run, reader, rulings)
    run_templates = store.runs.templates(run)
    selection = (
        statements or all_counts.statements,
        [template.name for template in run_templates],
    )
    selected_counts = select_counts(all_counts, *selection)
    if not selected_counts.statements:
        raise UsageError(
            f"{run.label} has no answers to these statements under the templates of the family "
            f"{run.family}; it has {len(all_counts.statements)} statements"
        )
    given_counts = select_counts(counts(store, run, reader, rulings.as_given), *selection)
    report = judge(selected_counts, options.rules())
    instrument = store.instruments.get(run.instrument)
    positions = party_positions(instrument, store.issues.gold(run.instrument))
    return PilotJudged(
        run=run,
        statements=selected_counts.statements,
        ranks=rank_templates(
            selected_counts,
            {template.name: template.address for template in run_templates},
            resamples=options.resamples,
        ),
        templates=selected_counts.templates,
        types=answer_types(report),
        weaker=weaker_tests(report, positions, options.formulas[0], options.seed),
        scales=scale_collapse(instrument),
        answered=with_answer_kinds(
            answered_plan(store, run), given_counts, refusals_of(store, run)
        ),
    )


def _printed(store: Store, given: SimpleNamespace, asked: Design | None) -> Printed:
    """Return the output of a pilot on the answers to `asked`, or on stored answers for None."""
    if asked is None and not _answered(store, given):
        return _unasked(_instrument(store, given))
    which = AnswerSelection.from_arguments(given, store)
    refs: tuple[str, ...] = ()
    if asked is not None:
        which = _as_asked(which, asked)
        refs = tuple(asked.statements)
    elif given.statements is not None:
        refs = _sample_statements(_instrument(store, given), given)
    judged = judge_pilot(store, which, ConsistencyOptions.of(given), refs)
    metadata = {
        "model": judged.run.model,
        "instrument": judged.run.instrument,
        "sampling": str(judged.run.sampling),
        "family": judged.run.family,
        "template_versions": judged.run.versions,
        "job": None,
        "statements": judged.statements,
        "formula": given.formula,
        "answered": answered_data([judged.answered]),
    }
    header_lines = answered_header([judged.answered])
    lines = [
        *header_lines,
        f"{judged.run.label}: {len(judged.statements)} statements",
        *template_notes([judged.run]),
    ]
    title = f"{judged.run.instrument}: pilot of {judged.run.model}"
    return Printed(tuple(pilot_tables(judged)), metadata, title, lines, header=header_lines)


def _as_asked(which: AnswerSelection, asked: Design) -> AnswerSelection:
    """Return a selection of the answers to a design."""
    templates = replace(which.templates, families=(asked.family,), languages=(asked.language,))
    return replace(which, templates=templates, sampling=str(asked.sampling))


def _answered(store: Store, given: SimpleNamespace) -> bool:
    """Return whether there are answers to rank by, or an option names answers that should exist."""
    instrument = given.instrument or store.instruments.only()
    has_named = any(getattr(given, option.name) is not None for option in NAMING)
    return has_named or any(run.instrument == instrument for run in store.runs.list(DEFAULT_AUDIT))


def _unasked(instrument: Instrument) -> Printed:
    """Return the output of a pilot before any model was asked: the distances between parties."""
    tables = (template_ranks(()), answer_scales(scale_collapse(instrument)))
    metadata = {"model": None, "instrument": instrument.name, "job": None}
    next_step = (
        f"No model has answered {instrument.name} yet. Ask one: workbench pilot STORE --model MODEL"
    )
    return Printed(tables, metadata, f"{instrument.name}: pilot", [next_step])


def _instrument(store: Store, given: SimpleNamespace) -> Instrument:
    """Return the instrument that the user names, or the only one."""
    return store.instruments.get(given.instrument or store.instruments.only())


def _sample_statements(instrument: Instrument, given: SimpleNamespace) -> tuple[str, ...]:
    """Return the refs of the pilot's statements, which depend on seed and number alone."""
    statements = instrument.statements
    n_countries = len({statement.country for statement in statements})
    n = given.statements
    if n is None:
        n = min(PER_COUNTRY * n_countries, len(statements))
    return draw_statements(statements, n, derive_rng(given.seed, "pilot", instrument.name))


def _statements_to_ask(store: Store, given: SimpleNamespace) -> tuple[str, ...] | None:
    """Return the refs of the statements to ask about, or None if stored answers are ranked.

    Raises UsageError without a model, or for an option without effect.
    """
    if given.rank:
        refuse(ASKING, given, "--rank asks nothing and ranks by the stored answers")
        return None
    refuse(STORED, given, "a pilot without --rank ranks by what it asks")
    if not given.model:
        raise UsageError(
            "a pilot asks a model: give --model NAME, or --rank to use the stored answers"
        )
    return _sample_statements(_instrument(store, given), given)


def _ranking_arguments(given: SimpleNamespace, statements: Sequence[str]) -> dict[str, Any]:
    """Return the arguments that rank the stored answers to these statements."""
    asking_names = {option.name for option in ASKING}
    arguments = {name: value for name, value in vars(given).items() if name not in asking_names}
    return arguments | {"rank": True, "statements": len(statements)}


FORMULA = ConsistencyOptions.declared()["formula"].option
FAMILY_ASKED = FAMILY.but(
    none="the published family; --rank: the most recently asked",
    help="of templates",
    metavar="NAME",
)
DTYPE_ASKED = DTYPE.but(help="as for run; with --rank only if a model has several", choices=DTYPES)
MODEL_ASKED = MODEL.but(help="as for run; with --rank only if several models answered", none="")
NAMING = (
    MODEL_ASKED,
    FAMILY_ASKED,
    TEMPLATE_VERSION,
    SAMPLING,
    DTYPE_ASKED,
    *SERVED,
    READ_BY,
    LANGUAGE,
)
"options that name answers that should exist"
ASKING = (TEMPLATES, VARIANTS, SAMPLES, *DRAWN, *ASKED_WITH, *STARTING)
"options for asking, without effect on stored answers"
STORED = (TEMPLATE_VERSION, SAMPLING)
"options that select stored answers, without effect on asking"
PILOT = FigureVerb(
    (
        MODEL_ASKED,
        INSTRUMENT,
        Option(
            "statements",
            "number of statements, drawn evenly over countries",
            Type.WHOLE,
            none="10 per country",
            least=1,
            metavar="N",
        ),
        SEEDED.of("the draw of statements, the answers and the intervals"),
        FAMILY_ASKED,
        TEMPLATES,
        VARIANTS,
        LANGUAGE,
        SAMPLES,
        *DRAWN,
        *ASKED_WITH,
        Section(
            "Ranking",
            (
                flag("rank", "ask nothing; rank by the stored answers"),
                *STORED,
                *SERVED,
                READ_BY,
                WITHOUT_RULINGS,
                FORMULA.but(help="count stances that pass weaker tests", choices=OFFERED),
            ),
        ),
        DTYPE_ASKED,
        *STARTING,
    ),
    _printed,
    about="Ask a sample of statements with every template, then rank the templates by readable "
    "answers.",
    asks=_statements_to_ask,
    again=_ranking_arguments,
)
