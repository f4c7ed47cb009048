"""The random control sample of a run: drawn over passed and failed statements alike, and what rulings say of it.

Flagged statements are a biased sample, so how often the reader errs is estimated from the control sample alone. A drawn
answer is decided by a ruling on that answer, or on the reading of it: *confirmed* or *misread*. Answers stand in one
random order, and those up to the first that nobody decided count, so that picking among them changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from stores.core.store import Store
from workbench.domain.control_samples import ControlItem, ControlSample, Drawn
from workbench.domain.responses import EXACT
from workbench.domain.rulings import Ruling, Verdict, disputed
from workbench.domain.verdicts import Estimate
from workbench.errors import UsageError
from workbench.evidence.listed_rulings import run_key, samples_of
from workbench.evidence.rulings import on_answers
from workbench.pipeline.review import Review, answers_of
from workbench.stats.resampling import derive_rng
from workbench.stats.samples import Stratum, allocated, drawn, misread_rate

WORDS = 80
"characters of a drawn answer that its row shows"


@dataclass(frozen=True, slots=True)
class StratumFound:
    """What is known of one stratum."""

    name: str
    size: int
    drawn: int
    counted: int
    "drawn answers up to the first that nobody decided, without those of `undecided`"
    misread: int
    undecided: int
    "auditors contradict each other, or leave the answer out without saying whether it is misread"


@dataclass(frozen=True, eq=False, slots=True)
class Control:
    """A control sample with what was ruled on it."""

    sample: ControlSample
    rulings: Mapping[tuple[bytes, bytes], tuple[Ruling, ...]] = field(default_factory=dict)

    def of(self, item: ControlItem) -> tuple[Ruling, ...]:
        """Return the rulings on an item, one an auditor, without those that only ask for another look."""
        found = self.rulings.get((item.prompt, item.text), ())
        return tuple(one for one in found if one.verdict is not Verdict.LOOK_AGAIN)

    def looked_at(self, item: ControlItem, auditor: str | None) -> bool:
        """Return whether an auditor, or anybody, has decided on an item."""
        return any(auditor in (None, one.auditor) for one in self.of(item))

    def waiting(self, auditor: str | None) -> tuple[ControlItem, ...]:
        """Return the items that an auditor, or anybody, has not decided on."""
        return tuple(item for item in self.sample.items if not self.looked_at(item, auditor))

    def strata(self) -> tuple[StratumFound, ...]:
        """Return the counts of each stratum."""
        return tuple(self._stratum(name, of) for name, of in self.sample.strata.items())

    def _stratum(self, name: str, of: Drawn) -> StratumFound:
        items = [item for item in self.sample.items if item.stratum == name]
        counted = misread = undecided = 0
        for _, n in sorted((place, n) for n, item in enumerate(items) for place in item.places):
            if not self.looked_at(items[n], None):
                break
            wrong = self.misread(items[n])
            counted += wrong is not None
            misread += bool(wrong)
            undecided += wrong is None
        return StratumFound(name, of.size, of.drawn, counted, misread, undecided)

    def misread(self, item: ControlItem) -> bool | None:
        """Return whether the reader misread an answer that was looked at; None: auditors did not settle that.

        A right reading that is what the reader said is no error.
        """
        found = self.of(item)
        if disputed(found) or any(one.verdict not in (Verdict.CONFIRMED, Verdict.MISREAD) for one in found):
            return None
        return any(one.verdict is Verdict.MISREAD and one.label != item.label for one in found)

    @property
    def rate(self) -> Estimate:
        """The share of all answers of the run that the reader misreads."""
        return misread_rate([Stratum(one.size, one.counted, one.misread) for one in self.strata()])


def control_of(store: Store, of: Review) -> Control | None:
    """Return the newest control sample of a run as its reader read it; None where none was drawn."""
    if of.card is None:
        return None
    found = samples_of(store, of.run, of.card)
    return Control(_in_words(store, of, found[-1]), on_answers(store, of.run, of.card)) if found else None


def _in_words(store: Store, of: Review, sample: ControlSample) -> ControlSample:
    """Return a sample with the words of its answers, for people."""

    def words(item: ControlItem) -> str:
        text = " ".join((store.ruled_things.text(item.text) or "").split()) or "(blank)"
        shown = f"“{text[:WORDS].rstrip()} …”" if len(text) > WORDS else f"“{text}”"
        every = store.ruled_things.prompts(key=item.prompt.hex())
        put = next((one for one in every if (one.instrument, one.ref) == (of.run.instrument, item.ref)), None)
        if put is None:
            return shown
        return f"{shown} · {put.variant} · {put.template} {'swapped' if put.inverted else 'printed'}"

    return replace(sample, items=tuple(replace(item, words=words(item)) for item in sample.items))


def take_back(store: Store, of: Review) -> int:
    """Remove the newest control sample of a run, on which nobody has decided; return how many answers it had.

    Raises UsageError where there is none, or somebody has decided on an answer of it: choosing among samples after
    seeing decisions would bias the rate.
    """
    control = control_of(store, of)
    if control is None:
        raise UsageError(f"{of.run.label} has no control sample; --draw N draws one")
    items = control.sample.items
    if decided := len(items) - len(control.waiting(None)):
        raise UsageError(
            f"auditors have decided on {decided:,} of {len(items):,} answers of the control sample (seed "
            f"{control.sample.seed}); it stays. Take these rulings back first"
        )
    store.control_samples.remove(control.sample.uid)
    return len(items)


def draw(store: Store, of: Review, n: int, *, seed: int, drawn_by: str = "") -> Control:
    """Draw n answers, half of them of statements that pass every test and half of the others, and keep them.

    Raises UsageError where a sample waits to be worked through, or the run has no answers that a rule reads.
    """
    if of.run.sampling.mode == EXACT:
        raise UsageError(f"{of.run.label} has computed probabilities and no answers, so nothing can be misread")
    if of.card is None or of.reader is None:
        raise UsageError(f"{of.run.label} has no answers read by a rule or a classifier, so nothing can be misread")
    there = control_of(store, of)
    if there is not None and there.waiting(None):
        raise UsageError(
            f"there is a control sample (seed {there.sample.seed}); {len(there.waiting(None)):,} answers are open. "
            "Decide these before you draw another, or take it back: --undraw"
        )
    if any(one.seed == seed for one in samples_of(store, of.run, of.card)):
        raise UsageError(
            f"the control sample of seed {seed} is decided; give another seed, because one seed draws one sample"
        )
    answers = answers_of(store, of)
    groups = {name: [one for one in answers if of.judged.stratum(one.ref) == name]
              for name in sorted({of.judged.stratum(one.ref) for one in answers})}  # fmt: skip
    sizes = [sum(one.count for one in group) for group in groups.values()]
    if not sizes:
        raise UsageError(f"{of.run.label} has no answers yet")
    strata = {name: Drawn(size, m) for name, size, m in zip(groups, sizes, allocated(sizes, n), strict=True)}
    rng = derive_rng(seed, "control sample")
    order = iter(rng.permutation(sum(one.drawn for one in strata.values())).tolist())
    items: list[ControlItem] = []
    for name, group in groups.items():
        places: dict[int, list[int]] = {}
        for at in drawn([one.count for one in group], strata[name].drawn, rng):
            places.setdefault(int(at), []).append(next(order))
        items += [
            ControlItem(one.ref, name, one.prompt, one.text, one.label, one.count, tuple(sorted(of_one)))
            for one, of_one in ((group[at], found) for at, found in places.items())
        ]
    items.sort(key=lambda one: one.places)
    store.control_samples.add(run_key(store, of.run), of.card, seed, strata, items, drawn_by)
    made = control_of(store, of)
    assert made is not None, "it was just written"
    return made
