"""The progress of a queue's auditors: open, decided and leased items, and each auditor's next item."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import islice

from stores.core.store import Store, at_once
from workbench.domain.control_samples import ControlItem
from workbench.domain.reviews import BY_AUDITORS, Ranked
from workbench.evidence.listed_rulings import run_key
from workbench.evidence.ruling_subjects import short_answer
from workbench.pipeline.control import Control, control_of
from workbench.pipeline.review import Review, with_rulings

BETWEEN = 2
"statements of the queue between two answers of the control sample"
Waiting = Ranked | ControlItem


class State(StrEnum):
    """What became of an item, as one auditor sees it."""

    OPEN = "open"
    HELD = "held"
    "another auditor looks at it now"
    YOU = "by you"
    OTHERS = "by others"


def mixed(statements: Sequence[Ranked], drawn: Sequence[ControlItem]) -> Iterator[Waiting]:
    """Yield the pending items: a drawn answer, two statements, a drawn answer, ... until none are left."""
    rest = iter(statements)
    for item in drawn:
        yield item
        yield from islice(rest, BETWEEN)
    yield from rest


def name(item: Waiting) -> str:
    """Return what people type to rule on an item."""
    return item.ref if isinstance(item, Ranked) else short_answer(item.prompt, item.text)


@dataclass(frozen=True, eq=False, slots=True)
class Progress:
    """A queue as one auditor sees it."""

    of: Review
    control: Control | None = None
    auditor: str | None = None
    "None: nobody in particular, so that everybody's decisions count"
    held: Mapping[str, str] = field(default_factory=dict)
    "ref -> who looks at the statement now"

    @property
    def items(self) -> tuple[Waiting, ...]:
        """Return everything that was ever to be looked at, in rank, with the control sample mixed in."""
        return tuple(mixed(self.of.queue, self.control.sample.items if self.control is not None else ()))

    def deciders(self, item: Waiting) -> tuple[str, ...]:
        """Return who has decided on an item."""
        if isinstance(item, Ranked):
            return self.of.deciders(item.ref)
        return tuple(one.auditor for one in self.control.of(item)) if self.control is not None else ()

    def holder(self, item: Waiting) -> str:
        """Return which other auditor looks at an item now; empty: nobody. The control sample is for everybody."""
        who = self.held.get(item.ref, "") if isinstance(item, Ranked) else ""
        return "" if who == self.auditor else who

    def state(self, item: Waiting) -> State:
        """Return what became of an item. Where another opinion is wanted it is open for whoever has given none."""
        deciders = self.deciders(item)
        if self.auditor in deciders and not _asked_again(item):
            return State.YOU
        if deciders and not _wants_another(item):
            return State.OTHERS
        return State.HELD if self.holder(item) else State.OPEN

    def upcoming(self, item: str = "") -> tuple[Waiting, ...]:
        """Return what an auditor looks at next, in rank: what is open and nobody else looks at, and the control sample,
        which everybody decides on; then what others decided on alone. After an `item` (its name) those behind it come
        first, so that what was passed over comes last.
        """
        open_: list[Waiting] = []
        second: list[Waiting] = []
        before: tuple[list[Waiting], list[Waiting]] = ([], [])
        for one in self.items:
            if name(one) == item:  # those so far go behind the rest
                before, open_, second = (open_, second), [], []
                continue
            state = self.state(one)
            if state is State.OPEN or (state is State.OTHERS and not isinstance(one, Ranked) and self.auditor):
                open_.append(one)
            elif state is State.OTHERS and self.auditor and not self.holder(one):
                second.append(one)
        return (*open_, *before[0], *second, *before[1])

    def found(self, item: str) -> Waiting | None:
        """Return an item by its name; None where it is in the queue no more."""
        return next((one for one in self.items if name(one) == item), None)


def _asked_again(item: Waiting) -> bool:
    """Return whether somebody asked for another look that nobody has had since."""
    return isinstance(item, Ranked) and any(one.reason == "look_again" for one in item.signals)


def _wants_another(item: Waiting) -> bool:
    return isinstance(item, Ranked) and any(one.reason in BY_AUDITORS for one in item.signals)


@at_once
def progress_of(store: Store, of: Review, auditor: str | None) -> Progress:
    """Return a queue as an auditor sees it now."""
    return Progress(of, control_of(store, of), auditor, store.review_leases.held(run_key(store, of.run)))


def same(one: Progress, two: Progress) -> bool:
    """Return whether two looks at a queue show the same."""
    return _seen(one) == _seen(two)


def _seen(progress: Progress) -> tuple[object, ...]:
    of, control = progress.of, progress.control
    rulings = of.rulings.statements, of.rulings.things, of.drawn
    sample = None if control is None else (control.sample, control.rulings)
    return of.run, of.card, of.queue, of.judged.passed, rulings, sample, progress.auditor, progress.held


@at_once
def looked_again(store: Store, known: Progress, auditor: str | None) -> Progress:
    """Return the same with what was ruled, drawn and leased meanwhile. Statements keep the order in which they are
    known, whatever their scores are now: somebody is going through them. New ones come last.
    """
    of, at = with_rulings(store, known.of), {one.ref: place for place, one in enumerate(known.of.queue)}
    queue = sorted(of.queue, key=lambda one: at.get(one.ref, len(at)))
    return progress_of(store, replace(of, queue=tuple(queue)), auditor)


def take_next(store: Store, progress: Progress, item: str = "") -> Waiting | None:
    """Return what an auditor looks at next, after an `item`, and lease it to them; None where nothing else waits.

    Two auditors at once are given different statements: where another one was quicker, the next is taken.
    """
    for one in progress.upcoming(item):
        if open_item(store, progress, one):
            return one
    return None


def open_item(store: Store, progress: Progress, item: Waiting) -> bool:
    """Lease an item to its auditor; False where another one looks at it. The control sample is leased to nobody."""
    if progress.auditor is None or not isinstance(item, Ranked):
        return True
    return store.review_leases.take(run_key(store, progress.of.run), [item.ref], progress.auditor) is not None
