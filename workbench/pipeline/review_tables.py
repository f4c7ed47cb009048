"""The queue of an auditor as figures: pending items, reasons, weights, progress and error rates."""

from __future__ import annotations

from collections.abc import Sequence
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
    RankedStatement,
    ReviewReason,
)
from workbench.domain.rulings import RulingVerdict, disputed
from workbench.domain.verdicts import Estimate
from workbench.evidence.control_sample import RuledControlSample
from workbench.evidence.listed_rulings import decisions, reviewed_summary
from workbench.evidence.ruling_subjects import UNREADABLE
from workbench.figures.book import Book, Entry
from workbench.figures.shown import estimate, number
from workbench.figures.table import Column, Kind, Link, Table
from workbench.pipeline.review import (
    ItemState,
    Review,
    ReviewProgress,
    Waiting,
    item_name,
    looked_at_by,
)

SCORED = (
    "The score of a statement is the sum of the points of its reasons: for each reason its "
    "points, and more for every "
    "further test, prompt or answer, up to a most. What auditors ask for comes first."
)
EQUAL = (
    "Of equal scores the one with more tests, prompts and answers comes first, then the "
    "instrument's order. Tests are judged without rulings."
)
POINTS = "; ".join(f"{reason.title} {reason.formula}" for reason in REASONS.values())
STRATA = {
    PASSED: "statements that pass every test",
    NOT_PASSED: "statements that do not pass every test",
    ALL_ANSWERS: "all statements",
}
"stratum of the control sample -> its statements in words"
OPINION = "opinion"
"name for programs of both reasons that auditors themselves gave, in a blind review"


def waiting(progress: ReviewProgress) -> tuple[Waiting, ...]:
    """Return the items that an auditor, or anybody, has not decided on, in rank."""
    return tuple(
        item
        for item in progress.items
        if progress.state(item) is not ItemState.YOU and _waits(progress, item)
    )


def _waits(progress: ReviewProgress, item: Waiting) -> bool:
    return progress.auditor is not None or progress.state(item) is not ItemState.OTHERS


def queue_table(
    progress: ReviewProgress, *, every: bool = False, blind: bool = False
) -> Table[Waiting]:
    """Return the pending items: ranked statements with the control sample mixed in.

    With `every`, for a screen, the table has all items that were ever pending.
    """
    rows = progress.items if every else waiting(progress)
    columns = _brief_queue_columns(progress, rows, every=every, blind=blind)
    if not every:
        columns = _with_item_columns(columns, progress, blind=blind)
    return Table(
        "review",
        "Items for an auditor",
        rows,
        columns,
        key=lambda row: (item_name(row),),
        definition="" if every else f"{SCORED} {EQUAL}",
        empty=nothing_waits(progress),
        link=lambda row: Link(ITEM, (item_name(row),)),
        detail=(lambda row: _detail(progress, row, blind=blind)) if every else None,
    )


def _brief_queue_columns(
    progress: ReviewProgress, rows: Sequence[Waiting], *, every: bool, blind: bool
) -> list[Column[Waiting]]:
    """Return the columns of the queue on a screen."""
    ranks = {item_name(row): rank for rank, row in enumerate(progress.items, start=1)}
    states = {item_name(row): decision_words(progress, row, blind=blind) for row in rows}
    sampled_names = {
        item_name(row): f"{row.ref}, an answer"
        for row in rows
        if not isinstance(row, RankedStatement)
    }

    def reason(row: Waiting) -> str:
        if every and isinstance(row, RankedStatement):
            return row.brief(blind=blind)
        return reason_in_queue(row, blind=blind)

    texts = progress.of.texts
    text_column: Column[Waiting] = Column(
        "text",
        "text",
        lambda row: texts.get(row.ref, ""),
        Kind.PROSE,
        aside=True,
        least=30,
        help="the original wording",
    )
    return [
        Column("place", "#", lambda row: ranks[item_name(row)], Kind.COUNT),
        Column("statement", "statement", lambda row: row.ref, aside=not every, words=sampled_names),
        *([text_column] if every else []),
        Column(
            "score",
            "score",
            lambda row: row.score if isinstance(row, RankedStatement) else None,
            Kind.COUNT,
            help=f"{SCORED} {EQUAL} A drawn answer has none. Points: {POINTS}.",
        ),
        Column(
            "state",
            "decided",
            lambda row: states[item_name(row)],
            least=9,
            help="who has decided on it: by a ruling on the statement itself, or on the drawn "
            "answer. Until then it says how many of its answers are ruled on. “Look again” keeps "
            "an item open until somebody decides on just that",
        ),
        Column("why", "why", reason, Kind.PROSE, least=34),
    ]


def _with_item_columns(
    columns: Sequence[Column[Waiting]], progress: ReviewProgress, *, blind: bool
) -> list[Column[Waiting]]:
    """Return columns with the name of the item, its inclusion and its reasons beside them."""
    rank_column, *other_columns = columns
    return [
        rank_column,
        Column("item", "item", item_name, least=19),
        *other_columns,
        Column(
            "inclusion",
            "inclusion",
            lambda row: _inclusion(progress.control, row),
            Kind.SHARE,
            aside=True,
            help="probability with which it came into the queue",
        ),
        Column(
            "reasons", "reasons", lambda row: _reasons(row, blind=blind), Kind.WORDS, aside=True
        ),
    ]


def nothing_waits(progress: ReviewProgress) -> str:
    """Return the reason why nothing is pending.

    Everything with a reason was reviewed, or no reason applies, also to statements that fail.
    """
    review = progress.of
    if progress.items:
        return "Nothing is pending: every item is decided."
    n_failing = sum(review.judged.stratum(ref) == NOT_PASSED for ref in review.judged.statements)
    text = "Nothing is pending: no reason applies to any statement."
    if not n_failing:
        return text
    noun = (
        "1 statement does not pass, but not"
        if n_failing == 1
        else f"{n_failing:,} statements do not pass, but none"
    )
    return f"{text} {noun} narrowly, by a single wording or for too few answers, and readers agree."


def _detail(progress: ReviewProgress, row: Waiting, *, blind: bool) -> tuple[str, ...]:
    """Return the findings of a statement's reasons, or how an answer was sampled.

    A cell has no room for them.
    """
    if isinstance(row, RankedStatement):
        return (*row.parts(blind=blind),)
    return drawn_words(progress, row)


def scored_words() -> str:
    """Return the explanation of a statement's score, and of the order of equal scores."""
    return f"{SCORED} {EQUAL}"


def drawn_words(progress: ReviewProgress, row: ControlItem) -> tuple[str, ...]:
    """Return the way in which an answer came into the control sample.

    It has no score.
    """
    chance = number(_inclusion(progress.control, row), Kind.SHARE)
    return (
        f"Drawn from the answers to {STRATA[row.stratum]}, each with a chance of {chance}; it "
        "has no score.",
    )


ITEM = "item"
"name of a row's detail: the answers of the item"


def reason_in_queue(row: Waiting, *, blind: bool = False) -> str:
    """Return in one sentence why an item is in the queue.

    A `blind` sentence omits the rulings of others.
    """
    if isinstance(row, RankedStatement):
        return row.why(blind=blind)
    return (
        f"drawn at random: {row.words}" if row.words else f"drawn at random, an answer to {row.ref}"
    )


def decision_words(progress: ReviewProgress, item: Waiting, *, blind: bool = False) -> str:
    """Return in a few words who has decided on an item, or reviews it.

    A `blind` text omits the names of others.

    Everybody decides on a sampled answer, so for an auditor it is open whatever others did, and
    nobody is named.
    """
    item_state = progress.state(item)
    if item_state is ItemState.YOU:
        return f"{_own_verdict(progress, item)} · {item_state}".removeprefix(" · ")
    if not isinstance(item, RankedStatement):
        is_open = item_state is ItemState.OTHERS and progress.auditor is not None
        return (ItemState.OPEN if is_open else item_state).value
    if item_state is ItemState.HELD:
        return "with somebody" if blind else f"with {progress.holder(item)}"
    if item_state is ItemState.OTHERS and not blind:
        return f"by {', '.join(progress.deciders(item))}"
    n_ruled, n_answers = (
        progress.of.ruled(item.ref, progress.auditor) if item_state is ItemState.OPEN else (0, 0)
    )
    suffix = " by you" if progress.auditor else ""
    return f"{n_ruled:,} of {n_answers:,} ruled{suffix}" if n_ruled else item_state.value


def _own_verdict(progress: ReviewProgress, item: Waiting) -> str:
    """Return an auditor's last decision on an item."""
    review = progress.of
    if isinstance(item, RankedStatement):
        rulings = list(decisions(review.rulings.statements.get(item.ref, ())))
    else:
        rulings = [] if progress.control is None else list(progress.control.rulings_on(item))
    own_rulings = [
        ruling
        for ruling in rulings
        if ruling.auditor == progress.auditor and ruling.verdict is not RulingVerdict.LOOK_AGAIN
    ]
    return str(max(own_rulings, key=lambda ruling: ruling.at).verdict) if own_rulings else ""


def _reasons(row: Waiting, *, blind: bool) -> list[str]:
    if not isinstance(row, RankedStatement):
        return []
    return [
        OPINION if blind and signal.reason in BY_AUDITORS else signal.reason
        for signal in row.signals
    ]


def _inclusion(control: RuledControlSample | None, row: Waiting) -> float:
    if isinstance(row, RankedStatement) or control is None:
        return 1.0
    return control.inclusion(row.stratum)


def reasons() -> Table[ReviewReason]:
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
class AuditorProgress:
    """The progress of one auditor."""

    name: str
    statements: int
    answers: int | None
    "answers of the control sample, or None if they are withheld"


def hidden_until(progress: ReviewProgress, *, blind: bool = False) -> str:
    """Return when an auditor is shown the decisions on the control sample and the error rate.

    It is empty if that is now.

    They are shown once the auditor has decided on all of it. Without a name nobody is known to have
    yet to decide, so they are shown unless the review is `blind`.
    """
    control = progress.control
    if control is None or not (n_pending := len(control.waiting(progress.auditor or ""))):
        return ""
    if progress.auditor is None:
        return (
            "shown in a blind review once you have given your name and decided your control items"
            if blind
            else ""
        )
    return f"shown once you have decided the {plural(n_pending, 'control item')} left to you"


def auditors(progress: ReviewProgress, *, blind: bool = False) -> Table[AuditorProgress]:
    """Return the progress of each auditor.

    All have the same order.

    A `blind` review has only one's own progress. Others' decisions on the control sample are
    withheld as `hidden_until` says.
    """
    review, control, own_name = progress.of, progress.control, progress.auditor
    withheld_until = hidden_until(progress, blind=blind)
    n_reviewed = looked_at_by(review)
    items = () if control is None else control.items
    sample_auditors = {
        ruling.auditor
        for item in items
        for ruling in (control.rulings_on(item) if control is not None else ())
    }
    rows = [
        AuditorProgress(
            auditor,
            n_reviewed.get(auditor, 0),
            None
            if withheld_until and auditor != own_name
            else sum(control.looked_at(item, auditor) for item in items if control is not None),
        )
        for auditor in sorted({*n_reviewed, *sample_auditors})
        if auditor == own_name or not blind
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
                lambda _: len(review.queue),
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
        definition=f"What others decided on drawn answers is {withheld_until}."
        if withheld_until and not blind
        else "",
        empty="You have not ruled on this run yet." if blind else "This run has no rulings yet.",
        link=lambda row: Link("rulings", (row.name,)),
    )


@dataclass(frozen=True, slots=True)
class AuditorPair:
    """The rulings of two auditors on the subjects that both decided on."""

    one: str
    two: str
    things: int
    same: int


def rulings_of_pairs(progress: ReviewProgress, *, blind: bool = False) -> tuple[AuditorPair, ...]:
    """Return every two auditors who decided on the same subject.

    If others' decisions are withheld, only pairs with oneself are included.
    """
    review, own_name = progress.of, progress.auditor
    is_own_only = blind or bool(hidden_until(progress, blind=blind))
    tallies: dict[tuple[str, str], list[bool]] = {}
    for rulings in review.rulings.things:
        decisions_ = sorted(
            (ruling for ruling in rulings if ruling.verdict is not RulingVerdict.LOOK_AGAIN),
            key=lambda ruling: ruling.auditor,
        )
        for left, right in combinations(decisions_, 2):
            tallies.setdefault((left.auditor, right.auditor), []).append(
                not disputed((left, right))
            )
    return tuple(
        AuditorPair(*pair, len(agreements), sum(agreements))
        for pair, agreements in sorted(tallies.items())
        if not is_own_only or own_name in pair
    )


def agreement(progress: ReviewProgress, *, blind: bool = False) -> Table[AuditorPair]:
    """Return the share of subjects on which two auditors' rulings have the same effect."""
    return Table(
        "agreement",
        "Agreement of auditors",
        rulings_of_pairs(progress, blind=blind),
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
    """The error rate of the reader: in a stratum, or in all."""

    name: str
    answers: int
    drawn: int
    counted: int
    undecided: int
    misread: int
    rate: Estimate | float | None


def errors(control: RuledControlSample, kept_back: str = "") -> Table[ErrorRow]:
    """Return the table of misreading rates, estimated from the control sample alone.

    It has no rows while the rates are withheld.
    """
    strata = control.strata()
    rows = [
        ErrorRow(
            stratum.name,
            stratum.size,
            round(stratum.drawn),
            round(stratum.counted),
            round(stratum.undecided),
            round(stratum.misread),
            stratum.misread / stratum.counted if stratum.counted else None,
        )
        for stratum in strata
    ]
    size, n_drawn, n_counted, n_undecided, n_misread = (
        sum(column)
        for column in zip(
            *(
                (stratum.size, stratum.drawn, stratum.counted, stratum.undecided, stratum.misread)
                for stratum in strata
            ),
            strict=True,
        )
    )
    rows.append(
        ErrorRow(
            "all answers",
            round(size),
            round(n_drawn),
            round(n_counted),
            round(n_undecided),
            round(n_misread),
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


def _draws(control: RuledControlSample) -> list[str]:
    """Return the auditors who sampled, with their seeds.

    If there are several draws, a sentence tells that all of them count, and the result of the first
    alone.
    """
    draws = (
        f"seed {sample.seed}" + f" by {sample.drawn_by}" * bool(sample.drawn_by)
        for sample in control.samples
    )
    if len(control.samples) == 1:
        return [f"drawn with {next(draws)}"]
    first, n = control.first.rate, len(control.samples)
    rate = first.undefined or estimate(first, Kind.SHARE)
    return [
        f"{n:,} draws ({', '.join(draws)}): all of them count, and an answer that several draws "
        "hold counts once",
        f"the first draw alone: {rate}. Further draws that depended on it move the share of all "
        "draws a little, so decide beforehand how many answers you draw",
    ]


def answers_drawn(control: RuledControlSample, auditor: str | None = None) -> Table[ControlItem]:
    """Return every item of the control sample, for programs.

    `auditor` is whose decisions count, or None for anybody's.
    """
    return Table(
        "drawn",
        "The control sample",
        control.items,
        [
            Column("subject", "answer", item_name),
            Column("statement", "statement", lambda row: row.ref),
            Column("stratum", "stratum", lambda row: row.stratum),
            Column("inclusion", "inclusion", lambda row: _inclusion(control, row), Kind.SHARE),
            Column("times", "drawn", lambda row: len(row.places), Kind.COUNT),
            Column("answers", "given", lambda row: row.answers, Kind.COUNT),
            Column("reads", "read as", lambda row: row.label or UNREADABLE),
            Column("looked_at", "decided", lambda row: control.looked_at(row, auditor), Kind.MARK),
        ],
        key=lambda row: (item_name(row),),
    )


def title(review: Review, blind: bool) -> str:
    """Return the heading, without the model if it is hidden."""
    return f"{review.run.instrument}: review" if blind else f"{review.run.label}: review"


def queue_sentences(progress: ReviewProgress, *, blind: bool = False) -> tuple[str, ...]:
    """Return sentences on the subject of the queue, and the progress of one or of all auditors."""
    review, auditor = progress.of, progress.auditor
    n_left = len(review.waiting(auditor))
    run = f"{review.run.instrument} · model hidden" if blind else review.run.label
    reader = f" · read by {review.card.name}" if review.card else ""
    subject = f"{auditor} has" if auditor else "auditors have"
    statements = plural(len(review.judged.statements), "statement")
    size = f"{len(review.queue):,} of {statements} have a reason"
    lines = [
        f"{run}{reader}",
        f"{size}; {subject} reviewed {len(review.queue) - n_left:,} of them; "
        f"{n_left:,} are pending",
    ]
    lines += [reviewed_shares(review), control_sample_words(progress, blind=blind)]
    return tuple(filter(None, lines))


def reviewed_shares(review: Review) -> str:
    """Return a sentence on how many statements were reviewed among those that pass, and the others.

    It is empty if the run has no verdicts.
    """
    if review.judged.passed is None:
        return ""
    reviewed = [ref for ref in review.judged.statements if review.looked_at(ref, None)]
    return reviewed_summary(review.judged.statements, review.judged.passed, reviewed)


def control_sample_words(progress: ReviewProgress, *, blind: bool = False) -> str:
    """Return the progress of the control sample, and when its rate is shown.

    It is empty if none can be drawn.
    """
    review, control = progress.of, progress.control
    if control is None:
        no_sample = (
            "No control sample yet, so the reader's error rate is unknown: --draw N draws one."
        )
        return no_sample if review.reader is not None else ""
    items = control.items
    n_decided = len(items) - len(control.waiting(progress.auditor))
    draws = len(control.samples)
    total = plural(len(items), "different answer") + f" of {draws:,} draws" * (draws > 1)
    if withheld_until := hidden_until(progress, blind=blind):
        own_progress = (
            f"{progress.auditor} has decided on {n_decided:,} of {total}"
            if progress.auditor
            else total
        )
        return f"control sample: {own_progress}; how often the reader errs is {withheld_until}"
    if progress.auditor is None:
        hint = "; --as NAME withholds others' decisions until you have decided" * bool(
            control.waiting("")
        )
        return f"control sample: auditors have decided on {n_decided:,} of {total}{hint}"
    return f"control sample: {progress.auditor} has decided on {n_decided:,} of {total}"


def misread_words(progress: ReviewProgress, *, blind: bool = False) -> str:
    """Return in a few words how often the reader errs, or when that is shown.

    It is empty without a control sample.

    Without a name the rate is only in the table of misreadings: the user may be about to decide.
    """
    control = progress.control
    if control is None:
        return ""
    if withheld_until := hidden_until(progress, blind=blind):
        return f"misread: {withheld_until}"
    if progress.auditor is None:
        return "misread: Tab shows how often the reader errs"
    rate, n_decided = control.rate, round(sum(stratum.counted for stratum in control.strata()))
    if rate.undefined:
        return f"misread: {rate.undefined}"
    warning = f", {rate.few}" if rate.few else ""
    return f"misread {estimate(rate, Kind.SHARE)} ({n_decided:,} decided{warning})"


def book(progress: ReviewProgress, *, blind: bool = False) -> Book:
    """Return the queue with every item, and the tables beside it."""
    review, control = progress.of, progress.control
    withheld_until, pairs = (
        hidden_until(progress, blind=blind),
        rulings_of_pairs(progress, blind=blind),
    )
    contents = [
        Entry("review", "queue", partial(queue_table, progress, every=True, blind=blind)),
        *(
            [Entry("errors", "misread", partial(errors, control, withheld_until))]
            if control is not None
            else []
        ),
        Entry("auditors", "auditors", partial(auditors, progress, blind=blind)),
        *(
            [Entry("agreement", "agreement", partial(agreement, progress, blind=blind))]
            if pairs
            else []
        ),
        Entry("reasons", "points", reasons),
    ]
    return Book(title(review, blind), contents)
