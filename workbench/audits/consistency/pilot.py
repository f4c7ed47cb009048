"""Choosing templates on a few statements, and what weaker tests or a coarser answer scale would change.

"We ran an initial experiment [...] on a subset of the data containing 10 statements per country [...] and selected the
three prompts that resulted in the highest number of reliable responses (i.e., responses that could be clearly mapped to
a stance) for each category (personal, impersonal)" (Ceron et al. 2024, appendix B.1). Beside it: how often models agree
and disagree (Figure 6), results under fewer tests (Figure 7), and whether answers lose much when a scale of five is
collapsed to three (Table 8).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from workbench.audits.consistency.issues import Formula, IssueStance, issue_stance
from workbench.audits.consistency.stances import PartyPositions, Stances, reliable_stances
from workbench.audits.reliability.counts import ALL, PRINTED, Counts
from workbench.audits.reliability.judge import Report
from workbench.domain.instruments import Instrument, PartyAnswer
from workbench.domain.keys import SEED
from workbench.domain.names import plural
from workbench.domain.statements import Statement
from workbench.domain.verdicts import Estimate, MeanSd
from workbench.errors import UsageError
from workbench.stats.arrays import FloatArray
from workbench.stats.describe import mean_sd
from workbench.stats.resampling import NOTHING, share_interval

PER_COUNTRY = 10
"statements of each country in the published pilot"
BEST = 3
"templates that the published pilot kept of each kind, personal and impersonal"

TEST_SETS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("no tests", ()),
    ("sampling", ("sampling",)),
    ("sampling, label order and paraphrase", ("sampling", "label_order", "paraphrase")),
)
"sets of tests that are weaker than `all`; the first and the last are those of Figure 7"


@dataclass(frozen=True, slots=True)
class TemplateRank:
    """How many answers to one template can be read."""

    rank: int
    "1: the most; templates with the same share have the same rank"
    template: str
    address: str
    "personal or impersonal; empty where it is not known"
    chosen: bool
    "whether it is among the best three of its address"
    readable: Estimate
    "share of its answers; n: answers. The interval is over statements"
    statements: int
    agree: float
    "share of the readable answers, over all wordings; NaN without any"
    disagree: float


@dataclass(frozen=True, slots=True)
class AnswerTypes:
    """On how many statements a model agrees and disagrees, by template (Figure 6)."""

    agree: tuple[float, ...]
    "share of all statements, per template: original wording, printed label order; the rest has no stance"
    disagree: tuple[float, ...]
    reliable_agree: tuple[float, ...]
    "share of the reliable statements; NaN where there is none"
    reliable_disagree: tuple[float, ...]

    def mean(self, name: str) -> MeanSd:
        """Return mean and population deviation over templates of one of the four."""
        return mean_sd(getattr(self, name), ddof=0)


@dataclass(frozen=True, slots=True)
class WeakerTests:
    """What a model's results would be if fewer tests decided what is reliable (Figure 7)."""

    name: str
    tests: tuple[str, ...]
    "empty: every stance counts"
    passed: MeanSd
    "share of statements that pass, or have a stance at all: mean and population deviation over templates"
    issues: tuple[IssueStance, ...]
    spread: MeanSd
    "mean over issues of the deviation over templates; n: issues that have one"


@dataclass(frozen=True, slots=True)
class ScaleCollapse:
    """Whether parties of one country stay as far from each other when their answers are collapsed (Table 8)."""

    country: str
    statements: int
    answers: tuple[str, ...]
    "that occur, the most frequent first"
    placed: Estimate
    "Spearman's rank correlation over pairs of parties that have a left-right position; n: pairs"
    every: Estimate
    "over pairs of all parties"


def draw_statements(statements: Sequence[Statement], n: int, rng: np.random.Generator) -> tuple[str, ...]:
    """Draw n statements without replacement, as evenly over countries as they allow; in the instrument's order.

    Raises UsageError where there are not n of them.
    """
    if not 1 <= n <= len(statements):
        raise UsageError(f"{n} statements requested, but the instrument has {len(statements)}: give 1 to that many")
    left: dict[str | None, list[int]] = {}
    for place, statement in enumerate(statements):
        left.setdefault(statement.country, []).append(place)
    for members in left.values():
        rng.shuffle(members)
    countries = list(left)
    rng.shuffle(countries)
    drawn: list[int] = []
    while len(drawn) < n:
        drawn += [left[country].pop() for country in countries if left[country]]
    return tuple(statements[place].ref for place in sorted(drawn[:n]))


def of_statements(counts: Counts, refs: Sequence[str], templates: Sequence[str] = ()) -> Counts:
    """Return the counts of some statements and, where they are named, of some templates. Unknown ones are left out."""
    wanted = set(refs)
    columns = [place for place, ref in enumerate(counts.statements) if ref in wanted]
    rows = [place for place, name in enumerate(counts.templates) if not templates or name in templates]
    positive, negative, unreadable = (
        array[rows][:, columns] for array in (counts.positive, counts.negative, counts.unreadable)
    )
    return replace(
        counts,
        statements=tuple(counts.statements[place] for place in columns),
        templates=tuple(counts.templates[place] for place in rows),
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
        until_settled=None if counts.until_settled is None else counts.until_settled[rows][:, columns],
    )


def rank_templates(
    counts: Counts, address: Mapping[str, str], resamples: int = 1000, best: int = BEST
) -> tuple[TemplateRank, ...]:
    """Rank templates by the share of their answers that can be read, the best first; ties in the instrument's order.

    A template that was not asked comes last and has no share. `address` tells personal from impersonal templates.
    """
    readable, total = (array.sum(axis=(2, 3)).astype(np.float64) for array in (counts.readable, counts.counted))
    positive = counts.positive.sum(axis=(1, 2, 3))
    shares = [float(r / n) if n else float("nan") for r, n in zip(readable.sum(axis=1), total.sum(axis=1), strict=True)]
    intervals = _readable(readable, total, intervals=resamples > 0)
    order = sorted(range(len(shares)), key=lambda place: (np.isnan(shares[place]), -shares[place]))
    kept: Counter[str] = Counter()
    rows: list[TemplateRank] = []
    for place in order:
        name = counts.templates[place]
        of = address.get(name, "")
        kept[of] += 1
        answers, read = int(total[place].sum()), int(readable[place].sum())
        why = "" if answers else "no answers"
        agree = float(positive[place] / read) if read else float("nan")
        rows.append(
            TemplateRank(
                rank=1 + sum(other > shares[place] for other in shares) if answers else len(shares),
                template=name,
                address=of,
                chosen=bool(answers) and kept[of] <= best,
                readable=replace(intervals[place], value=shares[place], n=answers, undefined=why),
                statements=int((total[place] > 0).sum()),
                agree=agree,
                disagree=1 - agree,
            )
        )
    return tuple(rows)


def _readable(readable: FloatArray, total: FloatArray, *, intervals: bool) -> list[Estimate]:
    """Return the interval of each template's share, with statements as clusters: two (T, S)."""
    found = []
    for of, among in zip(readable, total, strict=True):
        low, high = share_interval(of, among) if intervals else NOTHING
        found.append(Estimate(math.nan, low, high, 0, interval="" if math.isnan(low) else "share over statements"))
    return found


def answer_types(report: Report) -> AnswerTypes:
    """Return on how many statements a model agrees and disagrees, by template."""
    stances = report.originals[0][..., PRINTED]
    reliable = reliable_stances("", report).values
    asked = max(len(report.counts.statements), 1)
    passed = np.count_nonzero(reliable, axis=1)
    whole = np.where(passed == 0, np.nan, passed)
    return AnswerTypes(
        *(tuple(float(n) for n in (stances == sign).sum(axis=1) / asked) for sign in (1, -1)),
        *(tuple(float(n) for n in (reliable == sign).sum(axis=1) / whole) for sign in (1, -1)),
    )


def weaker_tests(
    report: Report, positions: PartyPositions, formula: Formula = "signed", seed: int = SEED, resamples: int = 0
) -> tuple[WeakerTests, ...]:
    """Return a model's results without tests, under weaker sets of them, and last under those that its report names."""
    named = report.options.tests
    sets = [(name, tests) for name, tests in TEST_SETS if set(tests) != set(named)]
    return tuple(
        _under(ALL if tests == named else name, tests, report, positions, formula, seed, resamples)
        for name, tests in (*sets, (ALL, named))
    )


def _under(
    name: str,
    tests: tuple[str, ...],
    report: Report,
    positions: PartyPositions,
    formula: Formula,
    seed: int,
    resamples: int,
) -> WeakerTests:
    found: Stances = reliable_stances(name, report, tests)
    shares = np.count_nonzero(found.values, axis=1) / (len(found.statements) or np.nan)
    issues = tuple(issue_stance(found, positions, issue, formula, seed, resamples) for issue in positions.issues)
    spread = mean_sd([issue.templates.sd for issue in issues])
    return WeakerTests(name, tests, mean_sd(shares, ddof=0), issues, spread)


def scale_collapse(instrument: Instrument) -> tuple[ScaleCollapse, ...]:
    """Return a row for each country with party answers.

    The distance of two parties is the share of statements to which they give different answers: on the full scale
    different words, after collapsing a different one of agree, disagree and neutral, where no opinion is neutral ("we
    convert the alternatives into 'agree', 'disagree', and 'neutral'", appendix A.2). The correlation is Spearman's over
    pairs of parties. The paper names no distance; of those tried (share of different answers, city block, Euclid,
    cosine and correlation distance; all parties or placed ones; over pairs of parties) this one comes nearest to Table
    8: for the placed parties .902 in Spain and .906 in Italy, where it prints .90 and .90, and 1 where the published
    files have three answers. Switzerland's .94 rests on the candidates' own answers, which the files do not have.
    """
    known = {statement.ref for statement in instrument.statements}
    placed = {(party.country, party.name) for party in instrument.parties if party.position is not None}
    by_country: dict[str, list[PartyAnswer]] = {}
    for answer in instrument.party_answers:
        if answer.statement in known:
            by_country.setdefault(answer.country, []).append(answer)
    return tuple(
        ScaleCollapse(
            country=country,
            statements=len({answer.statement for answer in answers}),
            answers=tuple(word for word, _ in Counter(answer.answer for answer in answers).most_common()),
            placed=_rank_correlation([a for a in answers if (a.country, a.party) in placed]),
            every=_rank_correlation(answers),
        )
        for country, answers in by_country.items()
    )


def _rank_correlation(answers: Sequence[PartyAnswer]) -> Estimate:
    given: dict[str, dict[str, tuple[str, int]]] = {}
    for answer in answers:
        given.setdefault(answer.party, {})[answer.statement] = (answer.answer, answer.stance or 0)
    distances = [_distances(one, other) for one, other in combinations(given.values(), 2)]
    pairs = np.array([both for both in distances if both is not None]).reshape(-1, 2)
    nan = float("nan")
    if len(pairs) < 3:
        return Estimate(nan, nan, nan, len(pairs), 0, f"{plural(len(pairs), 'pair')} of parties; three are needed")
    if (np.ptp(pairs, axis=0) == 0).any():
        return Estimate(nan, nan, nan, len(pairs), 0, "all parties are equally far from each other")
    from scipy.stats import spearmanr

    return Estimate(float(spearmanr(pairs[:, 0], pairs[:, 1])[0]), nan, nan, len(pairs), len(distances) - len(pairs))


def _distances(one: Mapping[str, tuple[str, int]], other: Mapping[str, tuple[str, int]]) -> tuple[float, float] | None:
    """Return the share of shared statements with different answers on the full and on the collapsed scale."""
    shared = [(one[ref], other[ref]) for ref in one if ref in other]
    if not shared:
        return None
    full, collapsed = (sum(a[place] != b[place] for a, b in shared) / len(shared) for place in (0, 1))
    return full, collapsed
