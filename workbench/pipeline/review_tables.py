"""The queue of an auditor as figures: what waits and why, the weights, who looked at what, how often readers err."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from workbench.domain.control_samples import ControlItem
from workbench.domain.counting import plural
from workbench.domain.reviews import NOT_PASSED, PASSED, REASONS, Ranked, Reason
from workbench.domain.rulings import Verdict, disputed
from workbench.domain.verdicts import Estimate
from workbench.evidence.ruling_subjects import UNREADABLE, short_answer
from workbench.figures.table import Column, Kind, Table
from workbench.pipeline.control import Control
from workbench.pipeline.review import Review, progress

BETWEEN = 2
"statements of the queue between two answers of the control sample"
Waiting = Ranked | ControlItem


def mixed(statements: Sequence[Ranked], drawn: Sequence[ControlItem]) -> Iterator[Waiting]:
    """Yield what waits: a drawn answer, two statements, a drawn answer, ... until nothing is left."""
    rest = iter(statements)
    for item in drawn:
        yield item
        yield from (one for one, _ in zip(rest, range(BETWEEN), strict=False))
    yield from rest


def waiting(of: Review, control: Control | None, auditor: str | None) -> tuple[Waiting, ...]:
    """Return what an auditor, or anybody, has not decided on, in the order in which it is looked at."""
    drawn = () if control is None else control.waiting(auditor)
    return tuple(mixed(of.waiting(auditor), drawn))


def name(item: Waiting) -> str:
    """Return what people type to rule on an item."""
    return item.ref if isinstance(item, Ranked) else short_answer(item.prompt, item.text)


def queue(of: Review, control: Control | None = None, auditor: str | None = None) -> Table[Waiting]:
    """Return what waits, ranked statements with the control sample mixed in."""
    rows = waiting(of, control, auditor)
    places = {name(row): place for place, row in enumerate(rows, start=1)}
    columns: list[Column[Waiting]] = [
        Column("place", "#", lambda row: places[name(row)], Kind.COUNT),
        Column("item", "item", name, least=19),
        Column("statement", "statement", lambda row: row.ref, aside=True),
        Column("score", "score", lambda row: row.score if isinstance(row, Ranked) else None, Kind.COUNT,
               help="the weights of its reasons, added up; none for the control sample"),
        Column("why", "why", why, Kind.PROSE, least=24),
        Column("inclusion", "inclusion", lambda row: _inclusion(control, row), Kind.SHARE, aside=True,
               help="probability with which it came into the queue"),
        Column("reasons", "reasons", lambda row: [one.reason for one in row.signals] if isinstance(row, Ranked) else [],
               Kind.WORDS, aside=True),
    ]  # fmt: skip
    return Table(
        "review",
        "What waits for an auditor",
        rows,
        columns,
        key=lambda row: (name(row),),
        definition="The score of a statement is the sum of the weights of the reasons that apply to it, each once. "
        "Statements of one score stand in the instrument's order. What passes is judged without rulings.",
        empty="Nothing waits: no reason applies, or everything was looked at.",
    )


def why(row: Waiting) -> str:
    """Say in one sentence why an item is in the queue."""
    return row.why() if isinstance(row, Ranked) else f"drawn at random, an answer to {row.ref}"


def _inclusion(control: Control | None, row: Waiting) -> float:
    if isinstance(row, Ranked) or control is None:
        return 1.0
    return control.sample.strata[row.stratum].inclusion


def reasons() -> Table[Reason]:
    """Return the reasons with their weights."""
    return Table(
        "reasons",
        "Reasons and their weights",
        tuple(REASONS.values()),
        [
            Column("reason", "reason", lambda row: row.title),
            Column("weight", "weight", lambda row: row.weight, Kind.COUNT),
            Column("meaning", "applies where", lambda row: row.meaning, Kind.PROSE, least=24),
        ],
        key=lambda row: (row.key,),
    )


@dataclass(frozen=True, slots=True)
class Auditor:
    """How far somebody is."""

    name: str
    statements: int
    answers: int
    "of the control sample"


def auditors(of: Review, control: Control | None = None) -> Table[Auditor]:
    """Return how far each auditor is. All have the same order, and each one's progress is their own."""
    done = progress(of)
    items = () if control is None else control.sample.items
    drawn = {who.auditor for item in items for who in (control.of(item) if control is not None else ())}
    rows = [
        Auditor(who, done.get(who, 0), 0 if control is None else sum(control.looked_at(item, who) for item in items))
        for who in sorted({*done, *drawn})
    ]
    return Table(
        "auditors",
        "Auditors",
        rows,
        [
            Column("auditor", "auditor", lambda row: row.name),
            Column("looked_at", "statements", lambda row: row.statements, Kind.COUNT),
            Column("queue", "of", lambda _: len(of.queue), Kind.COUNT, help="statements that a reason applies to"),
            Column("control", "drawn answers", lambda row: row.answers, Kind.COUNT),
            Column(
                "control_of", "of ", lambda _: len(items), Kind.COUNT, help="distinct answers of the control sample"
            ),
        ],
        key=lambda row: (row.name,),
        empty="Nobody has ruled on anything of this run yet.",
    )


@dataclass(frozen=True, slots=True)
class Pair:
    """Two auditors on the things that both decided on."""

    one: str
    two: str
    things: int
    same: int


def shared(of: Review) -> tuple[Pair, ...]:
    """Return every two auditors who decided on a thing."""
    tallies: dict[tuple[str, str], list[bool]] = {}
    for rulings in of.rulings.things:
        decided = sorted((one for one in rulings if one.verdict is not Verdict.LOOK_AGAIN), key=lambda one: one.auditor)
        for a, b in combinations(decided, 2):
            tallies.setdefault((a.auditor, b.auditor), []).append(not disputed((a, b)))
    return tuple(Pair(*who, len(same), sum(same)) for who, same in sorted(tallies.items()))


def agreement(of: Review) -> Table[Pair]:
    """Return how often two auditors' rulings on one thing have the same effect."""
    return Table(
        "agreement",
        "Agreement of auditors",
        shared(of),
        [
            Column("one", "auditor", lambda row: row.one),
            Column("two", "and", lambda row: row.two),
            Column("things", "both decided", lambda row: row.things, Kind.COUNT),
            Column("same", "the same", lambda row: row.same, Kind.COUNT),
            Column("share", "share", lambda row: row.same / row.things, Kind.SHARE),
        ],
        key=lambda row: (row.one, row.two),
        definition="Things on which both ruled, and how often the two rulings have one effect on figures: exclusion "
        "and fault are one, readings have to be the same. Look again is no decision.",
    )


@dataclass(frozen=True, slots=True)
class ErrorRow:
    """How often the reader errs: in a stratum, or in all."""

    name: str
    answers: int
    drawn: int
    counted: int
    undecided: int
    misread: int
    rate: Estimate | float | None


def errors(control: Control) -> Table[ErrorRow]:
    """Return how often the reader misreads answers, from the control sample alone."""
    strata = control.strata()
    rows = [
        ErrorRow(one.name, one.size, one.drawn, one.counted, one.undecided, one.misread,
                 one.misread / one.counted if one.counted else None)
        for one in strata
    ]  # fmt: skip
    size, drawn, counted, undecided, misread = (
        sum(column)
        for column in zip(
            *((one.size, one.drawn, one.counted, one.undecided, one.misread) for one in strata), strict=True
        )
    )
    rows.append(ErrorRow("all answers", size, drawn, counted, undecided, misread, control.rate))
    return Table(
        "errors",
        f"How often {control.sample.reader.name} misreads",
        rows,
        [
            Column("stratum", "answers to statements", lambda row: row.name),
            Column("answers", "answers", lambda row: row.answers, Kind.COUNT),
            Column("drawn", "drawn", lambda row: row.drawn, Kind.COUNT),
            Column("counted", "decided", lambda row: row.counted, Kind.COUNT),
            Column("undecided", "not settled", lambda row: row.undecided, Kind.COUNT, aside=True),
            Column("misread", "misread", lambda row: row.misread, Kind.COUNT),
            Column("rate", "share", lambda row: row.rate, Kind.SHARE, scale=(0.0, 1.0)),
        ],
        key=lambda row: (row.name,),
        definition="Drawn answers up to the first that nobody decided on, in the order of the draw. The share of all "
        "answers weights the strata by their answers. Rulings on other answers play no part.",
        notes=[
            f"drawn with seed {control.sample.seed}" + f" by {control.sample.drawn_by}" * bool(control.sample.drawn_by)
        ],
    )


def answers_drawn(control: Control) -> Table[ControlItem]:
    """Return every item of the control sample: for programs."""
    return Table(
        "drawn",
        "The control sample",
        control.sample.items,
        [
            Column("subject", "answer", name),
            Column("statement", "statement", lambda row: row.ref),
            Column("stratum", "stratum", lambda row: row.stratum),
            Column("inclusion", "inclusion", lambda row: _inclusion(control, row), Kind.SHARE),
            Column("times", "drawn", lambda row: len(row.places), Kind.COUNT),
            Column("answers", "given", lambda row: row.answers, Kind.COUNT),
            Column("reads", "read as", lambda row: row.label or UNREADABLE),
            Column("looked_at", "decided", lambda row: control.looked_at(row, None), Kind.MARK),
        ],
        key=lambda row: (name(row),),
    )


def title(of: Review, blind: bool) -> str:
    """Return the heading; without the model where it is hidden."""
    return f"{of.run.instrument}: review" if blind else f"{of.run.label}: review"


def told(of: Review, control: Control | None, auditor: str | None, *, blind: bool = False) -> tuple[str, ...]:
    """Say what the queue is about, and how far an auditor, or everybody together, is."""
    left = len(of.waiting(auditor))
    run = f"{of.run.instrument} · model hidden" if blind else of.run.label
    read = f" · read by {of.card.name}" if of.card else ""
    who = auditor or "somebody"
    there = f"{len(of.queue):,} of {plural(len(of.judged.statements), 'statement')} have a reason"
    said = [f"{run}{read}", f"{there}; {who} has looked at {len(of.queue) - left:,} of them, {left:,} wait"]
    if of.judged.passed is not None:
        kinds = (PASSED, NOT_PASSED)
        looked = [
            f"{sum(of.looked_at(ref, None) for ref in of.judged.statements if of.judged.stratum(ref) == kind):,} of "
            f"{sum(of.judged.stratum(ref) == kind for ref in of.judged.statements):,} {kind}"
            for kind in kinds
        ]
        said.append(f"statements that auditors looked at: {', '.join(looked)}")
    if control is None and of.reader is not None:
        said.append("No control sample is drawn, so nobody knows how often the reader errs: --draw N draws one.")
    if control is not None:
        items = control.sample.items
        n = len(items) - len(control.waiting(auditor))
        said.append(f"control sample: {who} has decided on {n:,} of {plural(len(items), 'different answer')}")
    return tuple(said)
