"""The random control sample of a run, with what rulings say of it.

It is drawn over passed and failed statements alike.

Flagged statements are a biased sample, so how often the reader errs is estimated from the control
sample alone. A drawn answer is decided by a ruling on that answer, or on the reading of it:
*confirmed* or *misread*. Answers stand in one random order, and those up to the first that nobody
decided count, so that picking among them changes nothing.

Draws add up: a further draw continues the order of those before it, and none is dropped. An answer
that several draws hold counts once. Within a stratum each answer is in at least one draw with the
same probability, 1 - prod_d (1 - n_d / N_d), so the share of a stratum is that of its answers that
were drawn.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, takewhile
from math import prod

from stores.core.store import Store
from stores.runs.run_rows import Run
from workbench.domain.readings import ReaderCard
from workbench.domain.reviews import ControlItem, ControlSample
from workbench.domain.rulings import Ruling, RulingVerdict, disputed
from workbench.domain.verdicts import Estimate
from workbench.evidence.listed_rulings import control_samples_of
from workbench.evidence.rulings import rulings_on_answers
from workbench.stats.samples import Stratum, misread_rate


@dataclass(frozen=True, slots=True)
class DecidedStratum:
    """The decided answers of one stratum.

    An answer in several draws counts once. Where several answers have its text, the number of drawn
    ones is an expected value.
    """

    name: str
    size: int
    drawn: float
    counted: float
    "drawn answers up to the first that nobody decided, without those of `undecided`"
    misread: float
    undecided: float
    "auditors contradict each other, or leave the answer out without saying whether it is misread"


def _places(items: Sequence[ControlItem]) -> list[tuple[int, int]]:
    """Return (place in the random order, index of the item) of drawn answers, in that order."""
    return sorted((place, index) for index, item in enumerate(items) for place in item.places)


def items_of_all_draws(samples: Sequence[ControlSample]) -> tuple[ControlItem, ...]:
    """Return every answer that a draw holds, once, in the order of the draws.

    `samples` has the oldest draw first.

    The places of a draw follow those of the draws before it. An answer whose statement passes now
    and did not before belongs to the stratum of its newest draw.
    """
    item_by_key: dict[tuple[bytes, bytes], ControlItem] = {}
    for start, sample in zip((0, *_ends(samples)), samples, strict=False):
        for item in sample.items:
            previous = item_by_key.get((item.prompt, item.text))
            places = (
                *(previous.places if previous else ()),
                *(start + place for place in item.places),
            )
            item_by_key[item.prompt, item.text] = replace(item, places=places)
    return tuple(sorted(item_by_key.values(), key=lambda item: item.places))


def _ends(samples: Sequence[ControlSample]) -> tuple[int, ...]:
    """Return the end of each draw in the order of all."""
    return tuple(
        accumulate(sum(stratum.drawn for stratum in sample.strata.values()) for sample in samples)
    )


@dataclass(frozen=True, eq=False, slots=True)
class RuledControlSample:
    """The control sample of a run with what was ruled on it: all draws, which add up."""

    samples: tuple[ControlSample, ...]
    "the draws, the oldest first; at least one"
    items: tuple[ControlItem, ...]
    "see `items_of_all_draws`"
    rulings: Mapping[tuple[bytes, bytes], tuple[Ruling, ...]] = field(default_factory=dict)

    @property
    def sample(self) -> ControlSample:
        """The newest draw."""
        return self.samples[-1]

    @property
    def first(self) -> RuledControlSample:
        """The first draw alone: nothing that was known of the reader moved it."""
        return RuledControlSample(
            self.samples[:1], items_of_all_draws(self.samples[:1]), self.rulings
        )

    def inclusion(self, stratum: str) -> float:
        """Return the probability with which an answer of a stratum is in at least one draw."""
        return 1 - prod(
            1 - sample.strata[stratum].inclusion
            for sample in self.samples
            if stratum in sample.strata
        )

    def rulings_on(self, item: ControlItem) -> tuple[Ruling, ...]:
        """Return the rulings on an item, one an auditor.

        Those that only ask for another look are left out.
        """
        rulings = self.rulings.get((item.prompt, item.text), ())
        return tuple(ruling for ruling in rulings if ruling.verdict is not RulingVerdict.LOOK_AGAIN)

    def looked_at(self, item: ControlItem, auditor: str | None) -> bool:
        """Return whether an auditor, or anybody, has decided on an item."""
        return any(auditor in (None, ruling.auditor) for ruling in self.rulings_on(item))

    def waiting(self, auditor: str | None) -> tuple[ControlItem, ...]:
        """Return the items that an auditor, or anybody, has not decided on."""
        return tuple(item for item in self.items if not self.looked_at(item, auditor))

    def strata(self) -> tuple[DecidedStratum, ...]:
        """Return the counts of each stratum, which has the size that it had at its newest draw."""
        sizes = {
            name: stratum.size for sample in self.samples for name, stratum in sample.strata.items()
        }
        return tuple(self._stratum(name, size) for name, size in sizes.items())

    def _stratum(self, name: str, size: int) -> DecidedStratum:
        count_by_misread: dict[bool | None, float] = {None: 0, False: 0, True: 0}
        for item, n_held in self._that_count(name):
            count_by_misread[self.misread(item)] += n_held
        items = [item for item in self.items if item.stratum == name]
        n_drawn = sum(self._once(items, _places(items)).values())
        return DecidedStratum(
            name,
            size,
            n_drawn,
            count_by_misread[False] + count_by_misread[True],
            count_by_misread[True],
            count_by_misread[None],
        )

    def _that_count(self, stratum: str) -> Iterator[tuple[ControlItem, float]]:
        """Yield the answers of a stratum up to the first that nobody decided.

        Each comes with the number of its drawn answers.
        """
        items = [item for item in self.items if item.stratum == stratum]
        decided = list(
            takewhile(
                lambda place_and_index: self.looked_at(items[place_and_index[1]], None),
                _places(items),
            )
        )
        yield from ((items[index], n_held) for index, n_held in self._once(items, decided).items())

    def readings(self, stratum: str) -> Mapping[tuple[str | None, str | None], float]:
        """Return the number of answers for each pair of readings.

        A pair is (reading of the reader, reading of the auditors).
        """
        count_by_pair: dict[tuple[str | None, str | None], float] = {}
        for item, n_held in self._that_count(stratum):
            if (misread := self.misread(item)) is not None:
                right = next(
                    (
                        ruling.label
                        for ruling in self.rulings_on(item)
                        if ruling.verdict is RulingVerdict.MISREAD
                    ),
                    None,
                )
                pair = item.label, right if misread else item.label
                count_by_pair[pair] = count_by_pair.get(pair, 0) + n_held
        return count_by_pair

    def _once(
        self, items: Sequence[ControlItem], places: Sequence[tuple[int, int]]
    ) -> dict[int, float]:
        """Return the number of answers of each item in some places (place, item).

        Answers in several draws count once.

        A draw of k of the n answers of an item adds k (1 - m / n) to the m that earlier draws hold,
        on average.
        """
        ends = _ends(self.samples)
        counts = Counter((bisect_right(ends, place), index) for place, index in places)
        n_by_index: dict[int, float] = {}
        for (_, index), k in sorted(counts.items()):
            n_before = n_by_index.get(index, 0)
            n_by_index[index] = n_before + k * (1 - n_before / items[index].answers)
        return n_by_index

    def misread(self, item: ControlItem) -> bool | None:
        """Return whether the reader misread a decided answer.

        It is None if auditors did not settle it. A right reading that is what the reader said is no
        error.
        """
        rulings = self.rulings_on(item)
        if disputed(rulings) or any(
            ruling.verdict not in (RulingVerdict.CONFIRMED, RulingVerdict.MISREAD)
            for ruling in rulings
        ):
            return None
        return any(
            ruling.verdict is RulingVerdict.MISREAD and ruling.label != item.label
            for ruling in rulings
        )

    @property
    def rate(self) -> Estimate:
        """The share of all answers of the run that the reader misreads."""
        return misread_rate(
            [Stratum(stratum.size, stratum.counted, stratum.misread) for stratum in self.strata()]
        )


def control_sample(store: Store, run: Run, card: ReaderCard | None) -> RuledControlSample | None:
    """Return the control sample of a run as a reader read it, or None if none was drawn."""
    if card is None or not (samples := control_samples_of(store, run, card)):
        return None
    return RuledControlSample(
        samples, items_of_all_draws(samples), rulings_on_answers(store, run, card)
    )
