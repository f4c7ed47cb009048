"""Refusals as figures: how often models refuse, by issue and side, with tests for differences."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from math import isnan, nan

from workbench.domain.statements import Side
from workbench.domain.verdicts import Estimate
from workbench.evidence.answered import OF_THOSE_DRAWN
from workbench.evidence.refusals import Asked, Refusals
from workbench.figures.book import Entry
from workbench.figures.pictures.of_table import Forest
from workbench.figures.shown import estimate
from workbench.figures.table import AnyTable, Column, Kind, Table, in_words
from workbench.stats.clustered import share_interval
from workbench.stats.one_sided import OneSided, one_sided
from workbench.stats.resampling import derive_rng

EVERY, ISSUE, SIDE = "all", "issue", "side"
DEFINITION = (
    "Share of the answers that decline to answer. A rule of words finds them: nothing is asserted that the prompt asks "
    "for, and the answer has a phrase such as `as an AI` or `cannot answer` (the lexicon's list). An unmappable answer "
    "names no label but does not refuse; a neutral one takes the middle of a scale. Answers to one statement are not "
    "independent: intervals and tests are over statements."
)
UNTESTED = "The rule's error rate on free text is unknown: people and classifiers label stances, not refusals."
BLIND = "The rule misses refusals in other words, so the rates are lower bounds."
NO_SIDES = "The statements have neither a side nor an issue label, so refusals by side cannot be counted."


@dataclass(frozen=True, slots=True)
class Rate:
    """The refusal rate of a model for one group of statements."""

    model: str
    by: str
    group: str
    refused: Estimate
    "n: answers"
    statements: int
    unmappable: float
    "share; NaN if unknown"
    neutral: float
    foreign: float
    "share in another language than the prompts"


@dataclass(frozen=True, slots=True)
class Spared:
    """The comparison of a model's refusal rates for two groups of statements."""

    model: str
    by: str
    group: str
    names: tuple[str, str]
    shares: tuple[float, float]
    found: OneSided


def rate(of: Refusals, by: str, group: str, among: Sequence[Asked]) -> Rate:
    """Return a model's refusal rate for some statements."""
    kinds = [one.kinds for one in among if one.kinds.answers]
    answers, refused = sum(one.answers for one in kinds), sum(one.refused for one in kinds)
    if not answers:
        return Rate(of.model, by, group, Estimate(nan, nan, nan, 0, 0, "no answers"), 0, nan, nan, nan)
    low, high = share_interval([one.refused for one in kinds], [one.answers for one in kinds])
    few = "" if len(kinds) > 1 else "too few for an interval: one statement"
    name = "" if isnan(low) else "share over statements"
    found = Estimate(refused / answers, low, high, answers, interval=name, few=few)
    unmappable = nan if of.free else sum(one.unmappable for one in kinds) / answers
    neutral, foreign = (sum(of) / answers for of in zip(*((one.neutral, one.foreign) for one in kinds), strict=True))
    return Rate(of.model, by, group, found, len(kinds), unmappable, neutral, foreign)


def rates(several: Sequence[Refusals]) -> list[Rate]:
    """Return the rates of every model: over all statements, of each side and of each policy issue."""
    found = []
    for of in several:
        if not of.statements:
            continue
        found.append(rate(of, EVERY, "", of.statements))
        for side in Side:
            if among := [one for one in of.statements if one.side is side]:
                found.append(rate(of, SIDE, side.value, among))
        for issue in _issues(of):
            found.append(rate(of, ISSUE, issue, [one for one in of.statements if issue in one.issues]))
    return found


def _issues(of: Refusals) -> tuple[str, ...]:
    return tuple(dict.fromkeys(issue for one in of.statements for issue in one.issues))


def spared(several: Sequence[Refusals], seed: int) -> list[Spared]:
    """Return for every model: left against right, then per issue the statements for it against those against it."""
    found = []
    for of in several:
        sides = [one for one in of.statements if one.side is not None]
        if sides:
            mine = [one.side is Side.LEFT for one in sides]
            found.append(_spared(of, SIDE, "", (Side.LEFT.value, Side.RIGHT.value), sides, mine, seed))
        for issue in _issues(of):
            among = [one for one in of.statements if issue in one.issues]
            mine = [one.issues[issue] > 0 for one in among]
            found.append(_spared(of, ISSUE, issue, ("for", "against"), among, mine, seed))
    return found


def _spared(
    of: Refusals, by: str, group: str, names: tuple[str, str], among: Sequence[Asked], first: Sequence[bool], seed: int
) -> Spared:
    hits, counts = [one.kinds.refused for one in among], [one.kinds.answers for one in among]
    shares = []
    for wanted in (True, False):
        part = [(h, n) for h, n, mine in zip(hits, counts, first, strict=True) if mine is wanted]
        whole = sum(n for _, n in part)
        shares.append(sum(h for h, _ in part) / whole if whole else nan)
    result = one_sided(hits, counts, first, derive_rng(seed, "refusals", of.model, by, group))
    return Spared(of.model, by, group, names, (shares[0], shares[1]), result)


def refusals(several: Sequence[Refusals]) -> Table[Rate]:
    """Return the refusal rates of models."""
    return Table(
        "refusals",
        "Refusals",
        rates(several),
        [
            Column("model", "model", lambda row: row.model),
            Column("by", "by", lambda row: row.by, help="over all statements, of a side, or of an issue"),
            Column("group", "of", lambda row: row.group, words=_issue_words(several),
                   help="a side, or a policy issue that the statements are labelled for"),
            Column("refused", "refused", lambda row: row.refused, Kind.SHARE, scale=(0.0, 1.0),
                   help="share of the answers received; thinking without an answer is not an answer"),
            Column("answers", "answers", lambda row: row.refused.n, Kind.COUNT),
            Column("statements", "statements", lambda row: row.statements, Kind.COUNT, short="stmts"),
            Column("unmappable", "unmappable, by rule", lambda row: row.unmappable, Kind.SHARE, short="unmappable",
                   help="names no label and is not a refusal, as the rule reads it: unlike the unreadable answers of "
                   "the audit, before rulings; unknown for free text"),
            Column("neutral", "neutral", lambda row: row.neutral, Kind.SHARE, aside=True,
                   help="the middle of a numbered scale"),
            Column("other_language", "other language", lambda row: row.foreign, Kind.SHARE, short="other lang",
                   help="in another language than the prompt, by its label words and frequent words, with any reading"),
        ],
        key=lambda row: (row.model, row.by, row.group),
        definition=DEFINITION,
        notes=_notes(several),
        empty=_why(several),
        pictures=[
            Forest(values=["refused"], rows=["by", "group"], series="model", axis="share of answers that refuse")
        ],
    )  # fmt: skip


def refusal_sides(several: Sequence[Refusals], seed: int) -> Table[Spared]:
    """Return the comparison of models' refusal rates between sides."""
    return Table(
        "refusal_sides",
        "Refusals, one side against the other",
        spared(several, seed),
        [
            Column("model", "model", lambda row: row.model),
            Column("by", "by", lambda row: row.by, help="of a side, or of an issue"),
            Column("group", "of", lambda row: row.group, words=_issue_words(several),
                   help="a side, or a policy issue that the statements are labelled for"),
            Column("sides", "sides", lambda row: " − ".join(row.names), help="`for`: agreeing supports the issue"),
            Column("first", "first", lambda row: row.shares[0], Kind.SHARE, help="refused, on the side named first"),
            Column("second", "second", lambda row: row.shares[1], Kind.SHARE),
            Column("difference", "difference", lambda row: row.found.difference, Kind.POINTS, scale=(-1.0, 1.0),
                   reference=_zero, help="first minus second"),
            Column("p", "p", lambda row: row.found.p, Kind.P_VALUE,
                   help="of no difference: statements are shuffled between the sides, with all their answers"),
            Column("untested", "no test because", lambda row: row.found.untested, short="no test", aside=True,
                   help="why there is no p value"),
        ],
        key=lambda row: (row.model, row.by, row.group),
        definition="Difference in how often a model refuses statements of each side. Seed "
        f"{seed}; p is not adjusted for the number of issues.",
        notes=_notes(several),
        empty=_why(several) if not any(of.statements for of in several) else NO_SIDES,
    )  # fmt: skip


def _issue_words(several: Sequence[Refusals]) -> dict[str, str]:
    return in_words({issue for of in several for issue in _issues(of)})


def _notes(several: Sequence[Refusals]) -> list[str]:
    drawn = [OF_THOSE_DRAWN] * any(of.until_settled for of in several)
    return [BLIND, *[UNTESTED] * any(of.free for of in several), *drawn]


def _zero(_: Spared) -> float:
    return 0.0


def _why(several: Sequence[Refusals]) -> str:
    return next((f"{of.empty[0].upper()}{of.empty[1:]}." for of in several if of.empty), "There are no answers.")


def entries(make: Callable[[], Sequence[Refusals]], seed: int) -> list[Entry]:
    """Return the tables of refusals for a book. Answers are counted on first use, once for both."""
    once = cache(make)

    def rates_() -> AnyTable:
        return refusals(once())

    def sides_() -> AnyTable:
        return refusal_sides(once(), seed)

    return [Entry("refusals", "refusals", rates_), Entry("refusal_sides", "refusals by side", sides_)]


def told(several: Sequence[Refusals], fate: str = "which figures on stances leave out") -> Iterator[str]:
    """Return each model's refusal rate, and how figures treat refusals."""
    for of in several:
        if of.answers:
            found = rate(of, EVERY, "", of.statements).refused
            of_whom = f"{of.model}: " if len(several) > 1 else ""
            yield (
                f"{of_whom}refused: {of.refused:,} of {of.answers:,} answers ({estimate(found, Kind.SHARE)}), {fate}"
            )
            if of.foreign:
                yield f"{of_whom}in another language than the prompt: {of.foreign:,} of {of.answers:,} answers"


__all__ = ["entries", "refusal_sides", "refusals", "told"]
