"""The queue of an auditor as figures: what waits and why, the weights, who looked at what, how
often readers err.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import combinations

from workbench.domain.names import plural
from workbench.domain.reviews import (
    ALL_ANSWERS,
    ANOTHER_OPINION,
    BY_AUDITORS,
    NOT_PASSED,
    PASSED,
    REASONS,
    ControlItem,
    Ranked,
    Reason,
)
from workbench.domain.rulings import Verdict, disputed
from workbench.domain.verdicts import Estimate
from workbench.evidence.control_sample import Control
from workbench.evidence.listed_rulings import decisions, reviewed_words
from workbench.evidence.ruling_subjects import UNREADABLE
from workbench.figures.book import Book, Entry
from workbench.figures.shown import estimate, number
from workbench.figures.table import Column, Kind, Link, Table
from workbench.pipeline.review import Progress, Review, State, Waiting, looked_at_by, name

SCORED = (
    "The score of a statement is the sum of the points of its reasons: for each reason its "
    "points, and more for every "
    "further test, prompt or answer, up to a most. What auditors ask for comes first."
)
EQUAL = (
    "Of equal scores the one with more tests, prompts and answers comes first, then the "
    "instrument's order. "
    "Tests are judged without rulings."
)
POINTS = "; ".join(f"{one.title} {one.formula}" for one in REASONS.values())
STRATA = {
    PASSED: "statements that pass every test",
    NOT_PASSED: "statements that do not pass every test",
    ALL_ANSWERS: "all statements",
}
"stratum of the control sample -> its statements in words"
OPINION = "opinion"
"name for programs of both reasons that auditors themselves gave, in a blind review"


def waiting(progress: Progress) -> tuple[Waiting, ...]:
    """Return what an auditor, or anybody, has not decided on, in rank."""
    return tuple(
        one
        for one in progress.items
        if progress.state(one) is not State.YOU and _waits(progress, one)
    )


def _waits(progress: Progress, item: Waiting) -> bool:
    return progress.auditor is not None or progress.state(item) is not State.OTHERS


def queue(progress: Progress, *, every: bool = False, blind: bool = False) -> Table[Waiting]:
    """Return what waits, or, for a screen, `every` item that ever did: ranked statements with the
    control sample mixed in.
    """
    places = {name(row): place for place, row in enumerate(progress.items, start=1)}
    rows = progress.items if every else waiting(progress)
    states = {name(row): state(progress, row, blind=blind) for row in rows}
    place: Column[Waiting] = Column("place", "#", lambda row: places[name(row)], Kind.COUNT)
    item: Column[Waiting] = Column("item", "item", name, least=19)
    statement: Column[Waiting] = Column(
        "statement",
        "statement",
        lambda row: row.ref,
        aside=not every,
        words={name(row): f"{row.ref}, an answer" for row in rows if not isinstance(row, Ranked)},
    )
    score: Column[Waiting] = Column(
        "score",
        "score",
        lambda row: row.score if isinstance(row, Ranked) else None,
        Kind.COUNT,
        help=f"{SCORED} {EQUAL} A drawn answer has none. Points: {POINTS}.",
    )
    decided: Column[Waiting] = Column(
        "state",
        "decided",
        lambda row: states[name(row)],
        least=9,
        help="who has decided on it: by a ruling on the statement itself, or on the drawn "
        "answer. Until then it says "
        "how many of its answers are ruled on. “Look again” keeps an item open until somebody "
        "decides on just that",
    )
    why_: Column[Waiting] = Column(
        "why",
        "why",
        lambda row: (
            row.brief(blind=blind) if every and isinstance(row, Ranked) else why(row, blind=blind)
        ),
        Kind.PROSE,
        least=24,
    )
    inclusion: Column[Waiting] = Column(
        "inclusion",
        "inclusion",
        lambda row: _inclusion(progress.control, row),
        Kind.SHARE,
        aside=True,
        help="probability with which it came into the queue",
    )
    reasons: Column[Waiting] = Column(
        "reasons", "reasons", lambda row: _reasons(row, blind=blind), Kind.WORDS, aside=True
    )
    in_short = [place, statement, score, decided, why_]
    return Table(
        "review",
        "Items for an auditor",
        rows,
        in_short if every else [place, item, statement, score, decided, why_, inclusion, reasons],
        key=lambda row: (name(row),),
        definition="" if every else f"{SCORED} {EQUAL}",
        empty=nothing_waits(progress),
        link=lambda row: Link(ITEM, (name(row),)),
        detail=(lambda row: _detail(progress, row, blind=blind)) if every else None,
    )


def nothing_waits(progress: Progress) -> str:
    """Say why nothing is pending: everything with a reason was looked at, or no reason applies,
    also to what fails.
    """
    of = progress.of
    if progress.items:
        return "Nothing is pending: every item is decided."
    failing = sum(of.judged.stratum(ref) == NOT_PASSED for ref in of.judged.statements)
    said = "Nothing is pending: no reason applies to any statement."
    if not failing:
        return said
    which = (
        "1 statement does not pass, but not"
        if failing == 1
        else f"{failing:,} statements do not pass, but none"
    )
    return (
        f"{said} {which} narrowly, by a single wording or for too few answers, and readers agree."
    )


def _detail(progress: Progress, row: Waiting, *, blind: bool) -> tuple[str, ...]:
    """Return what was found for each reason, which a cell has no room for, or how an answer was
    drawn.
    """
    if isinstance(row, Ranked):
        return (*row.parts(blind=blind),)
    return drawn_words(progress, row)


def scored_words() -> str:
    """Say what the score of a statement is, and which of two equal ones comes first."""
    return f"{SCORED} {EQUAL}"


def drawn_words(progress: Progress, row: ControlItem) -> tuple[str, ...]:
    """Say how an answer came into the control sample; it has no score."""
    chance = number(_inclusion(progress.control, row), Kind.SHARE)
    return (
        f"Drawn from the answers to {STRATA[row.stratum]}, each with a chance of {chance}; it "
        "has no score.",
    )


ITEM = "item"
"name of what stands behind a row: the answers of the item"


def why(row: Waiting, *, blind: bool = False) -> str:
    """Say in one sentence why an item is in the queue; `blind`: without what other auditors
    ruled.
    """
    if isinstance(row, Ranked):
        return row.why(blind=blind)
    return (
        f"drawn at random: {row.words}" if row.words else f"drawn at random, an answer to {row.ref}"
    )


def state(progress: Progress, item: Waiting, *, blind: bool = False) -> str:
    """Say in a few words who has decided on an item, or looks at it; `blind`: others without their
    names.

    Everybody decides on a drawn answer, so for an auditor it is open whatever others did, and
    nobody is named.
    """
    found = progress.state(item)
    if found is State.YOU:
        return f"{_own_verdict(progress, item)} · {found}".removeprefix(" · ")
    if not isinstance(item, Ranked):
        open_ = found is State.OTHERS and progress.auditor is not None
        return (State.OPEN if open_ else found).value
    if found is State.HELD:
        return "with somebody" if blind else f"with {progress.holder(item)}"
    if found is State.OTHERS and not blind:
        return f"by {', '.join(progress.deciders(item))}"
    n, of = progress.of.ruled(item.ref, progress.auditor) if found is State.OPEN else (0, 0)
    by = " by you" if progress.auditor else ""
    return f"{n:,} of {of:,} ruled{by}" if n else found.value


def _own_verdict(progress: Progress, item: Waiting) -> str:
    """Return what an auditor decided last on an item."""
    of = progress.of
    if isinstance(item, Ranked):
        every = list(decisions(of.rulings.statements.get(item.ref, ())))
    else:
        every = [] if progress.control is None else list(progress.control.of(item))
    mine = [
        one
        for one in every
        if one.auditor == progress.auditor and one.verdict is not Verdict.LOOK_AGAIN
    ]
    return str(max(mine, key=lambda one: one.at).verdict) if mine else ""


def _reasons(row: Waiting, *, blind: bool) -> list[str]:
    if not isinstance(row, Ranked):
        return []
    return [OPINION if blind and one.reason in BY_AUDITORS else one.reason for one in row.signals]


def _inclusion(control: Control | None, row: Waiting) -> float:
    if isinstance(row, Ranked) or control is None:
        return 1.0
    return control.inclusion(row.stratum)


def reasons() -> Table[Reason]:
    """Return the reasons with their weights."""
    return Table(
        "reasons",
        "Reasons and their points",
        tuple(REASONS.values()),
        [
            Column("reason", "reason", lambda row: row.title),
            Column("weight", "points", lambda row: row.weight, Kind.COUNT),
            Column(
                "each", "each further", lambda row: f"{row.each} a {row.unit}" if row.each else ""
            ),
            Column("most", "at most", lambda row: row.most or row.weight, Kind.COUNT),
            Column("meaning", "applies if", lambda row: row.meaning, Kind.PROSE, least=24),
        ],
        key=lambda row: (row.key,),
        detail=lambda row: (f"{row.title} {row.formula}: {row.meaning}",),
        definition=f"A blind review calls what other auditors ruled “{ANOTHER_OPINION}” and no "
        "more.",
    )


@dataclass(frozen=True, slots=True)
class Auditor:
    """How far somebody is."""

    name: str
    statements: int
    answers: int | None
    "of the control sample; None: not told yet"


def withheld(progress: Progress, *, blind: bool = False) -> str:
    """Return when an auditor is told what was decided on the control sample and how often the
    reader errs; empty: now.

    That is once they have decided on all of it themselves. Without a name nobody is known to have
    yet to decide, so it is told unless the review is `blind`.
    """
    control = progress.control
    if control is None or not (left := len(control.waiting(progress.auditor or ""))):
        return ""
    if progress.auditor is None:
        return (
            "shown in a blind review once you have given your name and decided your control items"
            if blind
            else ""
        )
    return f"shown once you have decided the {plural(left, 'control item')} left to you"


def auditors(progress: Progress, *, blind: bool = False) -> Table[Auditor]:
    """Return how far each auditor is. All have the same order, and each one's progress is their
    own.

    In a `blind` review there is only one's own. What others decided on the control sample is told
    as `withheld` says.
    """
    of, control, me = progress.of, progress.control, progress.auditor
    kept_back = withheld(progress, blind=blind)
    done = looked_at_by(of)
    items = () if control is None else control.items
    drawn = {
        who.auditor for item in items for who in (control.of(item) if control is not None else ())
    }
    rows = [
        Auditor(
            who,
            done.get(who, 0),
            None
            if kept_back and who != me
            else sum(control.looked_at(item, who) for item in items if control is not None),
        )
        for who in sorted({*done, *drawn})
        if who == me or not blind
    ]
    return Table(
        "auditors",
        "Auditors",
        rows,
        [
            Column("auditor", "auditor", lambda row: row.name),
            Column("looked_at", "statements", lambda row: row.statements, Kind.COUNT),
            Column(
                "queue",
                "in the queue",
                lambda _: len(of.queue),
                Kind.COUNT,
                help="statements with a reason",
            ),
            Column("control", "drawn answers", lambda row: row.answers, Kind.COUNT),
            Column(
                "control_of",
                "drawn in all",
                lambda _: len(items),
                Kind.COUNT,
                help="distinct answers of the control sample",
            ),
        ],
        key=lambda row: (row.name,),
        definition=f"What others decided on drawn answers is {kept_back}."
        if kept_back and not blind
        else "",
        empty="You have not ruled on this run yet." if blind else "This run has no rulings yet.",
        link=lambda row: Link("rulings", (row.name,)),
    )


@dataclass(frozen=True, slots=True)
class Pair:
    """Two auditors on the things that both decided on."""

    one: str
    two: str
    things: int
    same: int


def shared(progress: Progress, *, blind: bool = False) -> tuple[Pair, ...]:
    """Return every two auditors who decided on a thing; where others' decisions are withheld, those
    with oneself.
    """
    of, me = progress.of, progress.auditor
    own = blind or bool(withheld(progress, blind=blind))
    tallies: dict[tuple[str, str], list[bool]] = {}
    for rulings in of.rulings.things:
        decided = sorted(
            (one for one in rulings if one.verdict is not Verdict.LOOK_AGAIN),
            key=lambda one: one.auditor,
        )
        for a, b in combinations(decided, 2):
            tallies.setdefault((a.auditor, b.auditor), []).append(not disputed((a, b)))
    return tuple(
        Pair(*who, len(same), sum(same))
        for who, same in sorted(tallies.items())
        if not own or me in who
    )


def agreement(progress: Progress, *, blind: bool = False) -> Table[Pair]:
    """Return how often two auditors' rulings on one thing have the same effect."""
    return Table(
        "agreement",
        "Agreement of auditors",
        shared(progress, blind=blind),
        [
            Column("one", "auditor", lambda row: row.one),
            Column("two", "and", lambda row: row.two),
            Column("things", "both decided", lambda row: row.things, Kind.COUNT),
            Column("same", "the same", lambda row: row.same, Kind.COUNT),
            Column("share", "share", lambda row: row.same / row.things, Kind.SHARE),
        ],
        key=lambda row: (row.one, row.two),
        definition="Subjects on which both ruled, and how often the two have the same effect on "
        "figures: exclusion "
        "and fault count as the same, readings must be equal. “Look again” is not a decision.",
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


def errors(control: Control, kept_back: str = "") -> Table[ErrorRow]:
    """Return how often the reader misreads answers, from the control sample alone; no rows where
    that is kept back.
    """
    strata = control.strata()
    rows = [
        ErrorRow(
            one.name,
            one.size,
            round(one.drawn),
            round(one.counted),
            round(one.undecided),
            round(one.misread),
            one.misread / one.counted if one.counted else None,
        )
        for one in strata
    ]
    size, drawn, counted, undecided, misread = (
        sum(column)
        for column in zip(
            *((one.size, one.drawn, one.counted, one.undecided, one.misread) for one in strata),
            strict=True,
        )
    )
    rows.append(
        ErrorRow(
            "all answers",
            round(size),
            round(drawn),
            round(counted),
            round(undecided),
            round(misread),
            control.rate,
        )
    )
    return Table(
        "errors",
        f"How often {control.sample.reader.name} misreads",
        () if kept_back else rows,
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
        definition="Drawn answers up to the first undecided one, in the order of the draws. The "
        "share of all "
        "answers weights the strata by their answers. Rulings on other answers do not count.",
        notes=[] if kept_back else _draws(control),
        empty=f"{kept_back.capitalize()}.",
    )


def _draws(control: Control) -> list[str]:
    """Say who drew with which seed; of several draws that all of them count, and what the first
    alone gives.
    """
    by = (
        f"seed {one.seed}" + f" by {one.drawn_by}" * bool(one.drawn_by) for one in control.samples
    )
    if len(control.samples) == 1:
        return [f"drawn with {next(by)}"]
    first, n = control.first.rate, len(control.samples)
    alone = first.undefined or estimate(first, Kind.SHARE)
    return [
        f"{n:,} draws ({', '.join(by)}): all of them count, and an answer that several draws "
        "hold counts once",
        f"the first draw alone: {alone}. Further draws that depended on it move the share of all "
        "draws a little, "
        "so decide beforehand how many answers you draw",
    ]


def answers_drawn(control: Control, auditor: str | None = None) -> Table[ControlItem]:
    """Return every item of the control sample: for programs. `auditor`: who decided it; None:
    anybody.
    """
    return Table(
        "drawn",
        "The control sample",
        control.items,
        [
            Column("subject", "answer", name),
            Column("statement", "statement", lambda row: row.ref),
            Column("stratum", "stratum", lambda row: row.stratum),
            Column("inclusion", "inclusion", lambda row: _inclusion(control, row), Kind.SHARE),
            Column("times", "drawn", lambda row: len(row.places), Kind.COUNT),
            Column("answers", "given", lambda row: row.answers, Kind.COUNT),
            Column("reads", "read as", lambda row: row.label or UNREADABLE),
            Column("looked_at", "decided", lambda row: control.looked_at(row, auditor), Kind.MARK),
        ],
        key=lambda row: (name(row),),
    )


def title(of: Review, blind: bool) -> str:
    """Return the heading; without the model where it is hidden."""
    return f"{of.run.instrument}: review" if blind else f"{of.run.label}: review"


def told(progress: Progress, *, blind: bool = False) -> tuple[str, ...]:
    """Say what the queue is about, and how far an auditor, or everybody together, is."""
    of, auditor = progress.of, progress.auditor
    left = len(of.waiting(auditor))
    run = f"{of.run.instrument} · model hidden" if blind else of.run.label
    read = f" · read by {of.card.name}" if of.card else ""
    who = f"{auditor} has" if auditor else "auditors have"
    there = f"{len(of.queue):,} of {plural(len(of.judged.statements), 'statement')} have a reason"
    said = [
        f"{run}{read}",
        f"{there}; {who} reviewed {len(of.queue) - left:,} of them; {left:,} are pending",
    ]
    said += [shares(of), sampled(progress, blind=blind)]
    return tuple(filter(None, said))


def shares(of: Review) -> str:
    """Say how many statements that pass, and that do not, auditors have reviewed; empty where there
    are no verdicts.
    """
    if of.judged.passed is None:
        return ""
    looked = [ref for ref in of.judged.statements if of.looked_at(ref, None)]
    return reviewed_words(of.judged.statements, of.judged.passed, looked)


def sampled(progress: Progress, *, blind: bool = False) -> str:
    """Say how far the control sample is, and when its rate is told; empty where none can be
    drawn.
    """
    of, control = progress.of, progress.control
    if control is None:
        none = "No control sample yet, so the reader's error rate is unknown: --draw N draws one."
        return none if of.reader is not None else ""
    items = control.items
    n = len(items) - len(control.waiting(progress.auditor))
    draws = len(control.samples)
    of_all = plural(len(items), "different answer") + f" of {draws:,} draws" * (draws > 1)
    if kept_back := withheld(progress, blind=blind):
        mine = (
            f"{progress.auditor} has decided on {n:,} of {of_all}" if progress.auditor else of_all
        )
        return f"control sample: {mine}; how often the reader errs is {kept_back}"
    if progress.auditor is None:
        open_ = "; --as NAME withholds others' decisions until you have decided" * bool(
            control.waiting("")
        )
        return f"control sample: auditors have decided on {n:,} of {of_all}{open_}"
    return f"control sample: {progress.auditor} has decided on {n:,} of {of_all}"


def misread(progress: Progress, *, blind: bool = False) -> str:
    """Say in a few words how often the reader errs, or when that is told; empty without a control
    sample.

    Who has not given a name is told by the table of misreadings alone: they may be about to decide.
    """
    control = progress.control
    if control is None:
        return ""
    if kept_back := withheld(progress, blind=blind):
        return f"misread: {kept_back}"
    if progress.auditor is None:
        return "misread: Tab shows how often the reader errs"
    rate, decided = control.rate, round(sum(one.counted for one in control.strata()))
    if rate.undefined:
        return f"misread: {rate.undefined}"
    few = f", {rate.few}" if rate.few else ""
    return f"misread {estimate(rate, Kind.SHARE)} ({decided:,} decided{few})"


def book(progress: Progress, *, blind: bool = False) -> Book:
    """Return the queue with every item, and what stands beside it."""
    of, control = progress.of, progress.control
    kept_back, shared_ = withheld(progress, blind=blind), shared(progress, blind=blind)
    contents = [
        Entry("review", "queue", partial(queue, progress, every=True, blind=blind)),
        *(
            [Entry("errors", "misread", partial(errors, control, kept_back))]
            if control is not None
            else []
        ),
        Entry("auditors", "auditors", partial(auditors, progress, blind=blind)),
        *(
            [Entry("agreement", "agreement", partial(agreement, progress, blind=blind))]
            if shared_
            else []
        ),
        Entry("reasons", "points", reasons),
    ]
    return Book(title(of, blind), contents)
