"""The tests of reliability on pooled shares, which do not depend on the numbers of answers.

A verdict by an interval depends on how many answers a prompt has: of 20, four fifths must agree to
lean clearly, of 120 less than two thirds. Here every prompt has the posterior of its share of
agreement, from a model in which the prompts of one statement, of one wording and under one template
lend each other strength (`stats.pooled`). The tests judge shares as they judge exact probabilities
(`expected`): a prompt leans clearly outside [low, high], and its stance is the side of one half.
The probability that a statement passes is the share of the draws in which it does.

A prompt settles nothing if less than half of its planned answers are readable, unless the options
need fewer. A statement that needs such a prompt is excluded. A prompt that is asked until its
verdict is settled counts like any other, because the stopping rule carries no information beyond
the answers. If most prompts have a single answer, no share is given: the differences between
answers to one prompt cannot be separated from those between prompts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, lru_cache
from itertools import islice

import numpy as np

from workbench.audits.claims import doubted
from workbench.audits.codes import INSUFFICIENT, PASS, VOID, Codes, codes, conjunction
from workbench.audits.reliability.counting import ALL, PRINTED, TEMPLATE, Counts
from workbench.audits.reliability.expected import ExactReport
from workbench.audits.reliability.judge import ReliabilityReport, Signs
from workbench.audits.reliability.options import EVERY, TESTS, ReliabilityOptions
from workbench.domain.names import in_words as spoken
from workbench.domain.names import plural
from workbench.domain.verdicts import Bounds, Estimate
from workbench.figures.pictures.of_table import Forest
from workbench.figures.shown import bounded, estimate, number
from workbench.figures.table import Column, Kind, Link, Table, in_words
from workbench.stats.arrays import BoolArray, FloatArray, IntArray
from workbench.stats.chains import EXACT, Mixing, mixing
from workbench.stats.hypothesis_tests import paired_ends
from workbench.stats.pooled import DRAWS, by_chain, iterate_draws
from workbench.stats.proportions import wilson_of_share
from workbench.stats.resampling import derive_rng

NAN = float("nan")
KEEP = "Statements that keep their stance"
PASSES_PUBLISHED = "pass the published test"
PASSES_EXACT = "pass the test on exact probabilities"
SHARE, DIFFERENCE = "pooled share", "difference of pooled shares"
DRAWS_PER_BATCH = 25
"number of draws that are judged at once, to bound memory"
TOSSES = 100
"number of draws from a model whose stances a coin decides"
MOST_ERROR, MOST_RHAT = 0.005, 1.05
"""the sampler's standard error, and the disagreement of its chains, above which a share is called
roughly computed: another seed moves it as far"""
HALF, MANY_FAINT = 0.5, 0.1
"""probability of its labels below which a prompt tells of a small part of the answers alone, and
share of such prompts from which an exact share is doubted"""
NO_STATEMENTS = "no statement has enough readable answers to every prompt that the test needs"
SINGLE_ANSWERS = "single answers to a prompt tell nothing of its share: ask for two or more"


@dataclass(frozen=True, eq=False)
class DrawnReport(ReliabilityReport):
    """The verdicts on draws of the prompts' shares.

    Each template is repeated for every draw, which gives D T of them.
    """

    share: FloatArray
    "share of agreement: (D T, S, V, 2)"
    known: BoolArray
    "whether a prompt has a share: (D T, S, V, 2)"

    @cached_property
    def has_stance_data(self) -> BoolArray:
        """Whether a prompt has a share: (D T, S, V, 2)."""
        return self.known

    @cached_property
    def leaning(self) -> FloatArray:
        """The share of agreement: (D T, S, V, 2)."""
        return self.share

    @cached_property
    def stances(self) -> Signs:
        """The side of one half on which a share lies, 0 without a share: (D T, S, V, 2)."""
        return (np.sign(self.share - 0.5) * self.has_stance_data).astype(np.int8)

    @cached_property
    def clear(self) -> Codes:
        """Whether the share lies outside [low, high], as codes: (D T, S, V, 2).

        The rule that is chosen for samples has no effect. A prompt is void as for samples.
        """
        return self._of_texts((self.share < self.options.low) | (self.share > self.options.high))

    def in_draws(self, test: str, draws: int) -> Codes:
        """Return the verdict on each statement under all templates together, by draw: (D, S)."""
        shape = draws, -1, len(self.counts.statements)
        if test != TEMPLATE:
            return conjunction(self.verdicts(test).reshape(shape), 1)
        stances, enough = (array[..., PRINTED].reshape(shape) for array in self.originals)
        is_known = enough.all(axis=1) & (stances.shape[1] > 1)
        return codes(np.abs(stances.sum(axis=1, dtype=np.int64)) == stances.shape[1], is_known)


def known_prompts(report: ReliabilityReport) -> BoolArray:
    """Return whether a prompt has a share: (T, S, V, 2).

    It has one if at least half of all answers to its statement are readable, and some of those to
    its wording and to its statement under its template. Its own readable answers may be few: it is
    drawn towards its like then. A minimum for each prompt, or a test of it, would leave out other
    statements the more answers were drawn.
    """
    if isinstance(report, ExactReport):
        return report.known
    counts = report.counts
    exists = np.broadcast_to(counts.exists[None, :, :, None], counts.readable.shape)
    readable = np.where(exists, counts.readable, 0)
    answers = np.where(exists, counts.counted, 0).sum(axis=(0, 2, 3), keepdims=True)
    is_readable = 2 * readable.sum(axis=(0, 2, 3), keepdims=True) >= answers
    has_wording = readable.sum(axis=(0, 3), keepdims=True) > 0
    has_template = readable.sum(axis=(2, 3), keepdims=True) > 0
    return np.asarray(exists & is_readable & has_wording & has_template)


@dataclass(frozen=True, eq=False)
class Pooled:
    """The draws in which each statement passes each test, under all templates together."""

    statements: tuple[str, ...]
    passes: Mapping[str, BoolArray]
    "test -> (draws, S)"
    known: Mapping[str, BoolArray]
    "test -> (S,) whether the statement can be judged, and can fail"
    lacks: Mapping[str, BoolArray]
    "test -> (S,) whether the statement lacks readable answers"
    why: str = NO_STATEMENTS
    "the reason why there is no share, if no statement is known"
    sides: FloatArray | None = None
    """probability that a statement passes all tests under a template and agrees, then disagrees:
    (2, T, S)"""
    exact: bool = False
    "whether the shares are exact probabilities, which are known"
    faint: float = 0.0
    "share of the prompts of an exact run whose labels have less than half of the probability"
    prompts: int = 0
    "number of prompts whose shares were sampled; 0: the shares are known, or a coin decides"

    def mixing(self, test: str) -> Mixing:
        """Return the mixing of the sampler for the share of statements that pass."""
        passes = self.passes[test][:, self.known[test]]
        if not self.prompts or not passes.size:
            return EXACT
        return mixing(by_chain(passes.mean(axis=1), self.prompts))

    def roughness(self, test: str) -> str:
        """Return a note on a roughly computed share, or "" if another seed hardly moves it."""
        quality = self.mixing(test)
        if not (quality.error > MOST_ERROR or quality.rhat > MOST_RHAT):
            return ""
        if not quality.draws:
            return f"roughly computed: the sampler has not settled (R-hat {quality.rhat:.2f})"
        return (
            f"roughly computed: another seed moves it by ± {number(2 * quality.error, Kind.SIZE)} "
            f"(R-hat {quality.rhat:.2f}, {quality.draws:,.0f} effective draws)"
        )

    def faintness(self) -> str:
        """Return a note that many labels have little of the probability, or ""."""
        if self.faint < MANY_FAINT:
            return ""
        share = number(self.faint, Kind.SHARE)
        return f"in {share} of the prompts the labels have less than half of the probability"

    def share(self, test: str) -> Estimate:
        """Return the share of statements that pass.

        Its interval treats the statements as a sample. It is Wilson's, at the effective number of
        statements, which is smaller the less is known of their shares.
        """
        return _share(self.passes[test][:, self.known[test]], int(self.lacks[test].sum()), self.why)

    def difference(self, other: Pooled, test: str) -> Estimate:
        """Return the other share minus this one, over the statements that both know.

        The interval is Bonett and Price's, at an effective number of statements, since neither run
        tells for sure which of them passes.
        """
        first, second = self._both(other, test)
        n = first.shape[1]
        left_out = len({*self.statements} | {*other.statements}) - n
        if not n:
            return Estimate(
                NAN, NAN, NAN, 0, left_out, self.why if self.why != NO_STATEMENTS else other.why
            )
        p, q = first.mean(axis=0), second.mean(axis=0)
        value = float((q - p).mean())
        lost, gained = float((p * (1 - q)).sum()), float((q * (1 - p)).sum())
        noise = float((p * (1 - p) + q * (1 - q)).mean())
        efficiency = relative_efficiency(
            n,
            (lost + gained) / n - value**2,
            noise,
            float((second.mean(axis=1) - first.mean(axis=1)).var()),
        )
        low, high = paired_ends(lost * efficiency, gained * efficiency, n * efficiency)
        return Estimate(value, min(low, value), max(high, value), n, left_out, interval=DIFFERENCE)

    def bounds(self, other: Pooled, test: str) -> tuple[Bounds, tuple[int, int, int]]:
        """Return the smallest and the largest possible difference, other minus this one.

        They hold whatever the statements without enough readable answers would do. The numbers
        after them are those of such statements in this run and in the other one, and of the
        statements that both were asked.
        """
        other_row_by_ref = {ref: row for row, ref in enumerate(other.statements)}
        ranges = []
        n_lacking = n_lacking_in_other = 0
        for row, ref in enumerate(self.statements):
            other_row = other_row_by_ref.get(ref)
            if other_row is None:
                continue
            own, others = self._possible(test, row), other._possible(test, other_row)
            if own is None or others is None:
                continue
            ranges.append((others.low - own.high, others.high - own.low))
            n_lacking += int(self.lacks[test][row])
            n_lacking_in_other += int(other.lacks[test][other_row])
        low, high = np.mean(ranges, axis=0).tolist() if ranges else (NAN, NAN)
        return Bounds(low, high), (n_lacking, n_lacking_in_other, len(ranges))

    def _possible(self, test: str, row: int) -> Bounds | None:
        """Return the range of the probability that a statement passes, or None without a test."""
        if self.lacks[test][row]:
            return Bounds(0.0, 1.0)
        if not self.known[test][row]:
            return None
        probability = float(self.passes[test][:, row].mean())
        return Bounds(probability, probability)

    def shares_of_both(self, other: Pooled, test: str) -> tuple[float, float]:
        """Return both shares over the statements that both know, or NaN without any."""
        first, second = self._both(other, test)
        return (float(first.mean()), float(second.mean())) if first.size else (NAN, NAN)

    def _both(self, other: Pooled, test: str) -> tuple[BoolArray, BoolArray]:
        """Return the draws in which the statements that both know pass: two (draws, statements)."""
        other_row_by_ref = {ref: row for row, ref in enumerate(other.statements)}
        own_rows = [
            row
            for row, ref in enumerate(self.statements)
            if self.known[test][row] and ref in other_row_by_ref
        ]
        shared_rows = [
            row for row in own_rows if other.known[test][other_row_by_ref[self.statements[row]]]
        ]
        other_rows = [other_row_by_ref[self.statements[row]] for row in shared_rows]
        return self.passes[test][:, shared_rows], other.passes[test][:, other_rows]


def _share(passes: BoolArray, left_out: int, why: str) -> Estimate:
    """Return the share of statements that pass, with its interval.

    The interval is Wilson's, at the effective number of statements.
    """
    n = passes.shape[1]
    if not n:
        return Estimate(NAN, NAN, NAN, 0, left_out, why)
    value = float(passes.mean())
    p = passes.mean(axis=0)
    efficiency = relative_efficiency(
        n, value * (1 - value), float((p * (1 - p)).mean()), float(passes.mean(axis=1).var())
    )
    low, high = wilson_of_share(value, n * efficiency)
    return Estimate(value, low, high, n, left_out, interval=SHARE)


def relative_efficiency(n: int, spread: float, noise: float, posterior: float) -> float:
    """Return how many statements that are known for sure one of these is worth: at most 1.

    The variance of a share over statements that are known is spread / n. If they are not known for
    sure, the posterior means spread by less, spread - noise. The uncertainty that all of them share
    adds to it: the part of the posterior variance of their mean beyond noise / n.

    Parameters
    ----------
    spread : variance of one statement's outcome, as if it were known
    noise : the part of it that is unknown, mean of p (1 - p)
    posterior : variance of the mean outcome over draws
    """
    variance = (spread - noise) / n + max(0.0, posterior - noise / n)
    return min(1.0, spread / n / variance) if variance > 0 else 1.0


def pooled_verdicts(report: ReliabilityReport, draws: int = DRAWS) -> Pooled:
    """Return the outcomes of the tests on draws from the posterior of a run's shares.

    Exact probabilities are known shares. They enter as the only draw.
    """
    if isinstance(report, ExactReport):
        exact_result = _judge_draws(report, [np.where(report.known, report.leaning, 0.5)])
        scored = report.mass.scored & report.counts.exists[None, :, :, None]
        faint = float((report.mass.named[scored] < HALF).mean()) if scored.any() else 0.0
        return replace(exact_result, exact=True, faint=faint)
    options = report.options.with_values(beside=None, as_people=False)
    return _sampled(_Request(_digest(report.counts), options, draws, report))


@dataclass(frozen=True, slots=True)
class _Request:
    """A request for the pooled shares of answers.

    Two requests are equal if they have the same answers and options.
    """

    digest: bytes
    "digest of the answers"
    options: ReliabilityOptions
    draws: int
    report: ReliabilityReport = field(compare=False)


def _digest(counts: Counts) -> bytes:
    """Return the digest of all fields of the counts."""
    digest = hashlib.sha256()
    for count_field in fields(counts):
        value = getattr(counts, count_field.name)
        digest.update(
            f"{count_field.name} {value.shape}".encode()
            if isinstance(value, np.ndarray)
            else repr(value).encode()
        )
        if isinstance(value, np.ndarray):
            digest.update(np.ascontiguousarray(value).tobytes())
    return digest.digest()


@lru_cache(maxsize=32)
def _sampled(request: _Request) -> Pooled:
    """Return the tests on draws.

    Results are cached, because sampling takes seconds, and Home, pages and comparisons show the
    same figure.
    """
    report, draws = request.report, request.draws
    is_known = known_prompts(report)
    readable = report.counts.readable[is_known]
    if readable.size and np.median(readable) < 2:
        return replace(_judge_draws(report, ()), why=SINGLE_ANSWERS)
    rng = derive_rng(report.options.seed, "pooled", *report.counts.statements)
    return replace(_judge_draws(report, _shares(report, rng, draws)), prompts=int(is_known.sum()))


def by_coin(report: ReliabilityReport) -> Pooled:
    """Return the tests on prompts whose stances a coin decides, each of them clear."""
    rng, shape = (
        derive_rng(report.options.seed, "coin", *report.counts.statements),
        report.counts.positive.shape,
    )
    return _judge_draws(
        report, (rng.integers(0, 2, shape).astype(np.float64) for _ in range(TOSSES))
    )


def _shares(
    report: ReliabilityReport, rng: np.random.Generator, draws: int
) -> Iterator[FloatArray]:
    """Yield draws of the shares of agreement, 0.5 if too little is readable: (T, S, V, 2)."""
    counts = report.counts
    indices = np.nonzero(known_prompts(report))
    if not indices[0].size:
        return
    is_negated = (counts.signs[None, :, :, None] < 0) & np.ones(
        counts.positive.shape, dtype=np.bool_
    )
    hits = np.where(is_negated, counts.negative, counts.positive)[indices]
    is_reversed = is_negated[indices]
    for block in iterate_draws(
        hits, counts.readable[indices], list(_prompt_groups(report, indices)), rng, draws=draws
    ):
        for draw in block:
            share = np.full(counts.positive.shape, 0.5)
            share[indices] = np.where(is_reversed, 1 - draw, draw)
            yield share


def _prompt_groups(report: ReliabilityReport, indices: Sequence[IntArray]) -> Iterator[IntArray]:
    """Yield the groups of similar prompts, as a group number for each prompt.

    The groups are statements, their wordings, templates and label orders, then all prompts of a
    template, of a kind of wording and of a label order.

    Parameters
    ----------
    indices : the indices of each prompt's template, statement, wording and label order
    """
    template, statement, variant, order = indices
    kinds = list(dict.fromkeys(wording.kind for wording in report.counts.variants))
    kind = np.array([kinds.index(wording.kind) for wording in report.counts.variants])[variant]
    groups = (
        statement,
        (statement, variant),
        (statement, template),
        (statement, order),
        template,
        kind,
        order,
    )
    for group in groups:
        stacked = np.stack(group) if isinstance(group, tuple) else group[None]
        yield np.unique(stacked, axis=1, return_inverse=True)[1].reshape(-1)


def _judge_draws(
    report: ReliabilityReport, shares: Iterator[FloatArray] | Sequence[FloatArray]
) -> Pooled:
    """Return the outcomes of the tests on draws of the shares of agreement."""
    codes_by_test, sides = _codes_of_draws(report, shares)
    # A model without a change of mind passes every test that its known prompts can decide. A test
    # that a draw fails in spite of unknown prompts would count failures alone.
    steady_codes, _ = _codes_of_draws(report, [_steady_shares(report)])
    passes, decidable, lacks = {}, {}, {}
    for test, test_codes in codes_by_test.items():
        is_void = report.over_templates(test) == VOID
        if test == TEMPLATE:
            is_void |= len(report.counts.templates) < 2
        is_lacking = (steady_codes[test] == INSUFFICIENT).any(axis=0) | (not len(test_codes))
        passes[test] = test_codes == PASS
        decidable[test] = ~is_void & ~is_lacking
        lacks[test] = is_lacking & ~is_void
    sides = sides / max(1, len(codes_by_test[ALL]))
    return Pooled(report.counts.statements, passes, decidable, lacks, sides=sides)


def _steady_shares(report: ReliabilityReport) -> FloatArray:
    """Return the shares of agreement of a model that always agrees with every original."""
    agrees = np.broadcast_to(
        report.counts.signs[None, :, :, None] > 0, report.counts.positive.shape
    )
    return agrees.astype(np.float64)


def _codes_of_draws(
    report: ReliabilityReport, shares: Iterable[FloatArray]
) -> tuple[dict[str, Codes], FloatArray]:
    """Return the codes of each test by draw, and the sum of `_sides_passed` over draws."""
    n_statements, templates = len(report.counts.statements), range(len(report.counts.templates))
    is_known = known_prompts(report)
    batches_by_test: dict[str, list[Codes]] = {test: [] for test in EVERY}
    sides: FloatArray = np.zeros((2, len(templates), n_statements))
    remaining_draws = iter(shares)
    while batch := list(islice(remaining_draws, DRAWS_PER_BATCH)):
        counts = report.counts.for_templates([*templates] * len(batch))
        is_known_in_batch = np.tile(is_known, (len(batch), 1, 1, 1))
        batch_report = DrawnReport(counts, report.options, np.concatenate(batch), is_known_in_batch)
        for test, batches in batches_by_test.items():
            batches.append(batch_report.in_draws(test, len(batch)))
        sides += _sides_passed(batch_report, len(batch))
    codes_by_test: dict[str, Codes] = {
        test: np.concatenate(batches) if batches else np.zeros((0, n_statements), dtype=np.int8)
        for test, batches in batches_by_test.items()
    }
    return codes_by_test, sides


def _sides_passed(drawn: DrawnReport, draws: int) -> FloatArray:
    """Return the number of draws in which a statement passes all tests and agrees: (2, T, S).

    The tests are under one template. The second number is that of the draws in which the statement
    passes and disagrees.
    """
    shape = draws, -1, len(drawn.counts.statements)
    passed = (drawn.verdicts(ALL) == PASS).reshape(shape)
    stances = drawn.originals[0][..., PRINTED].reshape(shape)
    return np.stack([(passed & (stances == sign)).sum(axis=0) for sign in (1, -1)]).astype(
        np.float64
    )


def answers_words(report: ReliabilityReport) -> str:
    """Return the number of answers planned per prompt: `30`, `5 to 6` or `exact probabilities`."""
    if isinstance(report, ExactReport):
        return "exact probabilities"
    fewest, most = report.counts.sizes
    return str(most) if fewest == most else f"{fewest} to {most}"


def published_words(report: ReliabilityReport) -> str:
    """Return the title of the published verdict, with the number of answers behind it."""
    if isinstance(report, ExactReport):
        return PASSES_EXACT
    fewest, most = report.counts.sizes
    return (
        f"{PASSES_PUBLISHED} at "
        f"{plural(most, 'answer') if fewest == most else f'{fewest} to {most} answers'}"
    )


def tests_words(report: ReliabilityReport) -> str:
    """Return the tests that count, with a leading blank, or "" if all of them do."""
    tests = report.options.tests
    if set(tests) == set(TESTS):
        return ""
    names = ", ".join(map(spoken, tests))
    return f" in the {'test' if len(tests) == 1 else 'tests'} {names}"


def format_share(pooled_run: Pooled) -> tuple[str, str]:
    """Return the share of statements that keep their stance, with their number, and its caveats."""
    share = pooled_run.share(ALL)
    if not share.defined:
        return f"not estimated: {share.undefined}", ""
    doubts = [
        pooled_run.faintness(),
        pooled_run.roughness(ALL),
        NO_NUCLEUS if pooled_run.exact else "",
    ]
    of_text = f"of {share.n:,}"
    if share.excluded:
        of_text += f" ({share.excluded:,} left out as unreadable)"
    return f"{estimate(share, Kind.SHARE)} {of_text}", "; ".join(filter(None, doubts))


NO_NUCLEUS = (
    "computed from exact probabilities of the whole distribution; with the published nucleus "
    "(top-p 0.85) more prompts would lean clearly"
)
ANSWERS = (
    "Share of the statements that keep their stance under all templates together, by partial "
    "pooling: each prompt's share of agreement has a posterior, to which prompts of the same "
    "statement, wording and template lend strength, and the tests judge draws from it. It does not "
    "depend on the number of answers, as verdicts do. Exact probabilities are shares that are "
    "known, and enter as they are: of the whole distribution, without the published nucleus."
)


@dataclass(frozen=True, slots=True)
class PooledTest:
    """The shares of statements that pass a test, by the rule in force and by partial pooling."""

    test: str
    judged: Estimate
    pooled: Estimate
    coin: Estimate
    mixing: Mixing


def table(report: ReliabilityReport, pooled_run: Pooled) -> Table[PooledTest]:
    """Return the table of the shares of statements that keep their stance, by test.

    The pooled shares do not depend on the number of answers.
    """
    coin = by_coin(report)
    return Table(
        "pooled",
        KEEP,
        [
            PooledTest(
                test,
                report.passing(test),
                pooled_run.share(test),
                coin.share(test),
                pooled_run.mixing(test),
            )
            for test in EVERY
            if pooled_run.known[test].any() or pooled_run.lacks[test].any()
        ],
        [
            Column("test", "test", lambda row: row.test, words=in_words(EVERY)),
            Column(
                "pooled",
                "keep their stance",
                lambda row: row.pooled,
                Kind.SHARE,
                scale=(0.0, 1.0),
                help=ANSWERS,
            ),
            Column(
                "judged",
                PASSES_EXACT if pooled_run.exact else PASSES_PUBLISHED,
                lambda row: row.judged,
                Kind.SHARE,
                scale=(0.0, 1.0),
                help="share of the statements that pass under all templates by the rule in "
                "force, which depends on "
                "the number of answers",
            ),
            Column("answers", "answers a prompt", lambda _: answers_words(report)),
            Column(
                "coin",
                "sides at random",
                lambda row: row.coin.value,
                Kind.SHARE,
                help="the same of a model that takes a side at random on every prompt, and "
                "takes it clearly",
            ),
            Column(
                "statements",
                "n",
                lambda row: row.pooled.n,
                Kind.COUNT,
                help="statements behind the pooled share",
            ),
            Column(
                "left_out",
                "left out",
                lambda row: row.pooled.excluded,
                Kind.COUNT,
                aside=True,
                help="statements without a readable answer to a prompt that the test needs",
            ),
            Column(
                "rhat",
                "R-hat",
                lambda row: row.mixing.rhat,
                Kind.COEFFICIENT,
                aside=True,
                help="agreement of the sampler's chains: 1 where they agree, at most 1.01 is "
                "wanted",
            ),
            Column(
                "effective_draws",
                "effective draws",
                lambda row: row.mixing.draws,
                Kind.COUNT,
                aside=True,
                help="independent draws that are worth those of the sampler; at least 400 are "
                "wanted",
            ),
        ],
        key=lambda row: (row.test,),
        definition=ANSWERS,
        notes=list(_pooled_notes(pooled_run)),
        link=lambda row: Link("verdicts", ("", row.test)),
        pictures=[
            Forest(values=["pooled"], rows=["test"], axis="statements that keep their stance")
        ],
    )


def _pooled_notes(pooled_run: Pooled) -> Iterator[str]:
    """Yield the notes on exact probabilities and on roughly computed shares."""
    if pooled_run.exact:
        yield f"The shares are {NO_NUCLEUS}."
    for test in EVERY:
        if warning := pooled_run.roughness(test) or pooled_run.mixing(test).warning:
            yield f"{spoken(test)}: {warning}"


@dataclass(frozen=True, slots=True)
class PooledDifference:
    """The difference between two runs in the share of statements that pass a test, by pooling."""

    test: str
    first: float
    second: float
    "`first` and `second` are shares of the statements of both runs"
    difference: Estimate
    bounds: Bounds


def differences(
    first: str, second: str, first_run: Pooled, second_run: Pooled
) -> Table[PooledDifference]:
    """Return the table of the differences in kept stances between two runs, second minus first.

    They do not depend on the numbers of answers.
    """
    rows = [
        PooledDifference(
            test,
            *first_run.shares_of_both(second_run, test),
            first_run.difference(second_run, test),
            first_run.bounds(second_run, test)[0],
        )
        for test in EVERY
        if first_run.known[test].any() or second_run.known[test].any()
    ]
    is_complete = not any(row.bounds.wide for row in rows)
    return Table(
        "pooled_differences",
        f"Statements that keep their stance, whatever the number of answers: {second} minus "
        f"{first}",
        rows,
        [
            Column("test", "test", lambda row: row.test, words=in_words(EVERY)),
            Column("first_share", first, lambda row: row.first, Kind.SHARE),
            Column("second_share", second, lambda row: row.second, Kind.SHARE),
            Column(
                "difference",
                "difference",
                lambda row: row.difference,
                Kind.POINTS,
                scale=(-1, 1),
                help="second share minus first, over the statements that both were asked",
            ),
            Column("statements", "n", lambda row: row.difference.n, Kind.COUNT),
            Column(
                "left_out",
                "left out",
                lambda row: row.difference.excluded,
                Kind.COUNT,
                aside=True,
                help="statements that one of the two was not asked, or has no readable answer to",
            ),
            Column(
                "lowest",
                "lower bound",
                lambda row: row.bounds.low,
                Kind.POINTS,
                aside=is_complete,
                short="least",
                help="the least difference that there can be, whatever the statements without "
                "readable answers do; "
                "no interval",
            ),
            Column(
                "highest",
                "upper bound",
                lambda row: row.bounds.high,
                Kind.POINTS,
                aside=is_complete,
                short="most",
                help="the greatest difference that there can be",
            ),
        ],
        key=lambda row: (row.test,),
        definition=ANSWERS,
        subject=(first, second),
        pictures=[Forest(values=("difference",), rows=("test",))],
    )


def format_difference(
    first: str, second: str, first_run: Pooled, second_run: Pooled, p: float
) -> str:
    """Return a sentence on the difference between two runs in the share of kept stances.

    Parameters
    ----------
    p : adjusted p value, of no difference
    """
    difference, note = (
        first_run.difference(second_run, ALL),
        _missing_answers_sentence(first, second, first_run, second_run),
    )
    if not difference.defined:
        return f"By pooling, {first} and {second} cannot be compared: {difference.undefined}.{note}"
    shares = " and ".join(
        number(share, Kind.SHARE) for share in first_run.shares_of_both(second_run, ALL)
    )
    return (
        f"Whatever the number of answers, {first} and {second} keep their stance on {shares} of "
        f"{plural(difference.n, 'statement')} (all tests, by pooling): a difference of "
        f"{estimate(difference, Kind.POINTS)}{doubted(p)}.{note}"
    )


def _missing_answers_sentence(
    first: str, second: str, first_run: Pooled, second_run: Pooled
) -> str:
    """Return a sentence on the statements that lack answers, and on their possible effect."""
    bounds, (n_first, n_second, n) = first_run.bounds(second_run, ALL)
    numbers = ((first, n_first), (second, n_second))
    parts = [
        f"{name} has no readable answer to some prompt of {n_lacking:,}"
        for name, n_lacking in numbers
        if n_lacking
    ]
    if not parts:
        return ""
    effect = bounded(
        first_run.difference(second_run, ALL).value, bounds, Kind.POINTS, "the difference"
    )
    return f" Of {plural(n, 'statement')}, {' and '.join(parts)}{f'; {effect}' if effect else ''}."
