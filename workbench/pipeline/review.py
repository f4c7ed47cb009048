"""What waits for an auditor under a run, in the order of `workbench.domain.reviews`, and what was
looked at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import islice

from stores.annotation.reviews import ReadAnswer, Remarked
from stores.core.contents import StoreSection, cached_result
from stores.core.store import Store, at_once
from stores.runs.run_rows import Run
from workbench import registry
from workbench.domain.names import plural
from workbench.domain.readings import PEOPLE, STANCES, ReaderCard, ReaderKind, Readings, Stance
from workbench.domain.responses import EXACT
from workbench.domain.reviews import (
    BY_AUDITORS,
    UNREAD_SHARE,
    ControlItem,
    Judged,
    Ranked,
    Signal,
    ranked,
)
from workbench.domain.reviews import Drawn as DrawnStratum
from workbench.domain.rulings import Ruled, Ruling, Subject, Verdict
from workbench.domain.statements import VariantId, VariantKind
from workbench.errors import UsageError
from workbench.evidence.control_sample import Control, control_sample, of_all_draws
from workbench.evidence.listed_rulings import (
    Drawn,
    as_drawn,
    asked_again,
    deciders,
    drawn_since,
    is_reviewed,
    run_key,
    samples_of,
)
from workbench.evidence.readings import Source, source_of
from workbench.evidence.refusals import in_other_languages
from workbench.evidence.ruling_subjects import contradictions, possible, read_by_all, short_answer
from workbench.evidence.rulings import RulingsOn, on_answers, rulings_on
from workbench.pipeline.checking import check_report
from workbench.stats.resampling import derive_rng
from workbench.stats.samples import allocated, drawn

Given = tuple[str, str, str]
"wording, keys of prompt and text in hexadecimal of an answer; without a text: of a prompt"


@dataclass(frozen=True, eq=False, slots=True)
class Review:
    """The queue of a run."""

    run: Run
    card: ReaderCard | None
    "who reads the answers; None: nobody does"
    reader: int | None
    judged: Judged
    queue: tuple[Ranked, ...]
    rulings: RulingsOn
    drawn: Drawn = field(default_factory=dict)
    found: tuple[tuple[str, Signal], ...] = ()
    "every (ref, reason) that rulings have no part in"
    given: Mapping[str, tuple[Given, ...]] = field(default_factory=dict)
    """ref -> what the item of a statement shows, where anybody ruled on something below the
    statement"""

    @property
    def read_by(self) -> str:
        """The name of who reads the answers."""
        return PEOPLE if self.card is None else self.card.name

    def looked_at(self, ref: str, auditor: str | None) -> bool:
        """Return whether an auditor, or anybody, has reviewed a statement: see
        `workbench.evidence.listed_rulings`.
        """
        return is_reviewed(self.rulings, ref, auditor)

    def deciders(self, ref: str) -> tuple[str, ...]:
        """Return who has decided on a statement, in the order in which they did."""
        return deciders(self.rulings.statements.get(ref, ()))

    def ruled(self, ref: str, auditor: str | None) -> tuple[int, int]:
        """Return how many answers (prompts, of computed probabilities) of an item an auditor, or
        anybody, ruled on, be it by a ruling on the prompt or the wording, and how many there are;
        (0, 0): on none.
        """
        given = self.given.get(ref, ())
        done = [
            one.subject
            for one in self.rulings.statements.get(ref, ())
            if auditor in (None, one.auditor) and one.verdict is not Verdict.LOOK_AGAIN
        ]
        n = sum(any(_covers(subject, one) for subject in done) for one in given)
        return (n, len(given)) if n else (0, 0)

    def as_drawn(self, ruling: Ruling) -> bool:
        """Return whether a ruling is on an answer that had been drawn at random by then."""
        return as_drawn(ruling, self.drawn)

    def waiting(self, auditor: str | None) -> tuple[Ranked, ...]:
        """Return the statements that an auditor, or anybody, has not reviewed."""
        return tuple(one for one in self.queue if not self.looked_at(one.ref, auditor))


def _covers(subject: Subject, given: Given) -> bool:
    """Return whether something below a statement is an answer, its prompt or its wording."""
    variant, prompt, text = given
    named = subject.named
    if "prompt" in named:
        return named["prompt"] == prompt and named.get("text", text) == text
    return named.get("variant") == variant


@at_once
def review(store: Store, run: Run, readings: Readings) -> Review:
    """Return the queue of a run. Verdicts are those without rulings, so that ruling does not
    reorder the queue.

    Raises UsageError where nothing can be judged.
    """
    plain = Readings(readings.by, rulings=False)
    source = _source(store, run, plain)
    by_rule = source.reader is not None and registry.audit(run.audit).nature.by_rule
    if by_rule and run.sampling.mode != EXACT:
        read_by_all(store, run)  # what is read now is no part of what the queue rests on
    parts = (
        StoreSection.ANSWERS,
        StoreSection.READINGS,
        StoreSection.MATERIAL,
        StoreSection.REMARKS,
        StoreSection.FINDINGS,
    )
    made = cached_result(
        store,
        ("review", run, plain),
        parts,
        lambda: _unruled(store, run, plain, source, by_rule=by_rule),
    )
    return with_rulings(store, made)


def _unruled(store: Store, run: Run, plain: Readings, source: Source, *, by_rule: bool) -> Review:
    """Return the facts on a run's statements without rulings, before ranking."""
    judged = registry.audit(run.audit).judged_for_review(store, run, plain) or _unjudged(
        store, run, source.reader
    )
    signals = [(ref, one) for ref, found in judged.signals.items() for one in found]
    signals += _remarks(store, run)
    signals += contradictions(store, run, by_rule=by_rule)
    signals += in_other_languages(store, run)
    signals += _findings(store, run)
    signals += [
        (ref, Signal("outdated", f"version {asked}, now {now}"))
        for ref, (asked, now) in store.runs.outdated(run).items()
    ]
    return Review(run, source.card, source.reader, judged, (), RulingsOn(), found=tuple(signals))


def with_rulings(store: Store, of: Review) -> Review:
    """Return a queue updated with auditors' new rulings; nothing else is read again."""
    on = rulings_on(store, of.run)
    drawn = drawn_since(samples_of(store, of.run, of.card))
    queue = ranked(of.judged.statements, [*of.found, *_ruled(on, drawn)])
    worked_on = (
        one
        for one in queue
        if any(two.subject.kind is not Ruled.STATEMENT for two in on.statements.get(one.ref, ()))
    )
    given = {one.ref: of.given.get(one.ref) or _given(store, of.run, one.ref) for one in worked_on}
    return replace(of, queue=queue, rulings=on, drawn=drawn, given=given)


def _given(store: Store, run: Run, ref: str) -> tuple[Given, ...]:
    """Return what a model gave to a statement, as far as it can be ruled on."""
    if run.sampling.mode == EXACT:
        return tuple(
            (one.variant, one.key.hex(), "") for one in store.review_queries.prompts(run, ref)
        )
    every = store.review_queries.given(run, ref)
    return tuple((one.variant, one.prompt.hex(), one.text.hex()) for one in every)


@dataclass(frozen=True, slots=True)
class Waits:
    """What waits for an auditor under a run, as far as it is known."""

    items: int
    "statements and drawn answers"
    again: frozenset[bytes] = frozenset()
    "uids of the rulings that want another look"

    @property
    def words(self) -> str:
        """Return how many wait: `at least 3 items, 1 to look at again`."""
        again = f", {len(self.again):,} to look at again" if self.again else ""
        return f"at least {plural(self.items, 'item')}{again}"


def known_to_wait(store: Store, run: Run, judged: Judged | None) -> Waits:
    """Return what waits for an auditor by what is known at once: verdicts (`judged`), rulings and
    the control sample. No answer is read, so what readers disagree on and what checks find is not
    counted.
    """
    on = rulings_on(store, run)
    newest = (
        store.control_samples.newest(run_key(store, run)) if store.control_samples.any() else None
    )
    samples = () if newest is None else samples_of(store, run, newest.reader)
    drawn = drawn_since(samples)
    signals = [
        (ref, one)
        for ref, found in (judged.signals.items() if judged is not None else ())
        for one in found
    ]
    ruled = tuple(_ruled(on, drawn))
    refs = tuple(
        dict.fromkeys(
            (*(judged.statements if judged is not None else ()), *(ref for ref, _ in ruled))
        )
    )
    waiting = sum(not is_reviewed(on, one.ref) for one in ranked(refs, [*signals, *ruled]))
    again = frozenset(one.uid for of in on.statements.values() for one in asked_again(of))
    if newest is None:
        return Waits(waiting, again)
    decided = {
        at for at, rulings in on_answers(store, run, newest.reader).items() if _decided(rulings)
    }
    return Waits(
        waiting + sum((one.prompt, one.text) not in decided for one in of_all_draws(samples)), again
    )


def _decided(rulings: Iterable[Ruling]) -> bool:
    return any(one.verdict is not Verdict.LOOK_AGAIN for one in rulings)


def _source(store: Store, run: Run, readings: Readings) -> Source:
    """Return the reader of a run's answers: a rule or a classifier; None without either, or without
    answers.
    """
    if (
        registry.audit(run.audit).nature.free_text
        and readings.by is None
        and not store.classifiers.list()
    ):
        return Source(None, None)
    return source_of(store, [run], readings)


def answers_of(store: Store, of: Review, ref: str | None = None) -> tuple[ReadAnswer, ...]:
    """Return the answers of a run, or of one statement, with their readings; none without a
    reader.
    """
    if of.reader is None or of.card is None:
        return ()
    classified = of.card.kind is ReaderKind.CLASSIFIER
    return store.review_queries.answers(of.run, of.reader, ref, classified=classified)


def _unjudged(store: Store, run: Run, reader: int | None) -> Judged:
    """Return the statements of a run without verdicts; where a rule reads its answers, with what it
    makes of them.
    """
    cells = {cell[5]: cell for cell in store.runs.cells(run)}
    refs = tuple(dict.fromkeys(ref for ref, *_ in cells.values()))
    if reader is None or registry.audit(run.audit).nature.free_text:
        return Judged(refs, None)
    axes = {one.probe: one.axes for one in store.raw_answers.probes(run)}
    counts: dict[int, Counter[str | None]] = {}
    for probe, label, _, n in store.runs.counts(run, [reader]):
        counts.setdefault(probe, Counter())[label if label in possible(axes[probe]) else None] += n
    planned = store.runs.planned(run)
    said: dict[tuple[str, str], list[tuple[tuple[str, str, bool], str]]] = {}
    for probe, of in counts.items():
        ref, kind, ordinal, template, inverted, *_ = cells[probe]
        at = str(VariantId(VariantKind(kind), ordinal)), template, bool(inverted)
        for reason, words in _of_prompt(of, planned.get(probe, 0)):
            said.setdefault((ref, reason), []).append((at, words))
    signals: dict[str, list[Signal]] = {}
    for (ref, reason), found in said.items():
        prompts = tuple(at for at, _ in found)
        example = "; ".join(f"{' '.join(at[:2])}: {words}" for at, words in found[:2])
        more = f" and {len(found) - 2} more" if len(found) > 2 else ""
        words = f"{plural(len(found), 'prompt')}: {example}{more}"
        variants = tuple(dict.fromkeys(variant for variant, *_ in prompts))
        signals.setdefault(ref, []).append(
            Signal(
                reason,
                words,
                variants,
                prompts=prompts,
                prompt_words=tuple(words for _, words in found),
                size=len(found),
            )
        )
    return Judged(refs, None, signals)


def _of_prompt(counts: Counter[str | None], planned: int) -> Iterator[tuple[str, str]]:
    """Yield (reason, what was found) of the answers to a prompt, by their readings."""
    silent, total = counts[None], counts.total()
    if silent and silent >= UNREAD_SHARE * total:
        yield "unreadable", f"{silent} of {total} without a reading"
    if (total - silent) * 3 < planned * 2:
        yield "insufficient", f"{total - silent} readable of {planned} planned"
    elif (
        not counts.keys() - {None, *STANCES}
        and abs(counts[Stance.AGREE] - counts[Stance.DISAGREE]) <= 1
    ):
        yield "near", f"{counts[Stance.AGREE]} to {counts[Stance.DISAGREE]}"


def _ruled(on: RulingsOn, drawn: Drawn) -> Iterator[tuple[str, Signal]]:
    """Yield where an auditor wants another look at something on which nobody has decided since, and
    where auditors contradict each other.

    What somebody says of a drawn answer is not told: others have yet to decide on it.
    """
    for ref, of in on.statements.items():
        if open_ := asked_again(of):
            answers = (
                one.subject.named
                for one in open_
                if "text" in one.subject.named and not as_drawn(one, drawn)
            )
            keys = tuple(
                (bytes.fromhex(named["prompt"]), bytes.fromhex(named["text"])) for named in answers
            )
            yield (
                ref,
                Signal("look_again", "; ".join(_asked(one, drawn) for one in open_), answers=keys),
            )
    for ref, n in on.disputed.items():
        yield ref, Signal("disputed", f"about {plural(n, 'thing')}")


def _asked(one: Ruling, drawn: Drawn) -> str:
    if as_drawn(one, drawn):
        return "about a drawn answer"
    kind = one.subject.kind
    on = {
        Ruled.STATEMENT: "",
        Ruled.WORDING: f", on {one.subject.named.get('variant')}",
        Ruled.PROMPT: ", on a prompt",
    }.get(kind, ", on an answer")
    return f"{one.auditor}{on}: {one.reason}"


def _remarks(store: Store, run: Run) -> Iterator[tuple[str, Signal]]:
    flags: dict[str, list[Remarked]] = {}
    for one in store.review_queries.remarks(run):
        if one.flagged:
            flags.setdefault(one.ref, []).append(one)
        if one.note:
            yield one.ref, Signal("noted", one.note, (one.variant,), one.answers)
    for ref, of in flags.items():
        variants, answers = (one.variant for one in of), (at for one in of for at in one.answers)
        yield (
            ref,
            Signal(
                "flagged", plural(len(of), "flag"), tuple(dict.fromkeys(variants)), tuple(answers)
            ),
        )


def _findings(store: Store, run: Run) -> Iterator[tuple[str, Signal]]:
    for one in check_report(store, run.instrument, run.language).open:
        finding = one.finding
        if finding.ref is not None and finding.severity != "note":
            variants = () if finding.variant is None else (str(finding.variant),)
            yield finding.ref, Signal("finding", f"{finding.severity} {finding.code}", variants)


def looked_at_by(of: Review) -> Mapping[str, int]:
    """Return how many statements of the queue each auditor has looked at."""
    names = sorted({one.auditor for rulings in of.rulings.statements.values() for one in rulings})
    return {name: sum(of.looked_at(one.ref, name) for one in of.queue) for name in names}


WORDS = 80
"characters of a drawn answer that its row shows"


def control_of(store: Store, of: Review) -> Control | None:
    """Return the control sample of a run as its reader read it; None where none was drawn."""
    found = control_sample(store, of.run, of.card)
    return None if found is None else replace(found, items=_in_words(store, of, found.items))


def _in_words(store: Store, of: Review, items: Sequence[ControlItem]) -> tuple[ControlItem, ...]:
    """Return drawn answers with their words, for people."""

    def words(item: ControlItem) -> str:
        text = " ".join((store.ruled_things.text(item.text) or "").split()) or "(blank)"
        shown = f"“{text[:WORDS].rstrip()} …”" if len(text) > WORDS else f"“{text}”"
        every = store.ruled_things.prompts(key=item.prompt.hex())
        put = next(
            (one for one in every if (one.instrument, one.ref) == (of.run.instrument, item.ref)),
            None,
        )
        if put is None:
            return shown
        return (
            f"{shown} · {put.variant} · {put.template} {'swapped' if put.inverted else 'printed'}"
        )

    return tuple(replace(item, words=words(item)) for item in items)


def take_back(store: Store, of: Review) -> int:
    """Remove the newest draw of a run, on which nobody ever decided; return how many answers it
    had.

    Raises UsageError where there is none, or somebody has decided on an answer that it alone holds,
    also where they took that back: choosing among draws after seeing decisions would bias the rate.
    """
    control = control_of(store, of)
    if control is None:
        raise UsageError(f"{of.run.label} has no control sample; --draw N draws one")
    if decided := _ever_decided(store, control):
        raise UsageError(
            f"auditors have decided on {decided:,} of {len(control.sample.items):,} answers of "
            "the newest draw (seed "
            f"{control.sample.seed}); it stays, and what they decided counts, also where they "
            "took a decision back"
        )
    store.control_samples.remove(control.sample.uid)
    return len(control.sample.items)


def _ever_decided(store: Store, control: Control) -> int:
    """Return on how many answers that the newest draw alone holds somebody decided, be it taken
    back or not.
    """
    earlier = {(one.prompt, one.text) for one in of_all_draws(control.samples[:-1])}
    mine = {
        (one.prompt.hex(), one.text.hex())
        for one in control.sample.items
        if (one.prompt, one.text) not in earlier
    }
    decided = {
        (named["prompt"], named["text"])
        for one in store.rulings.events()
        if "text" in (named := one.subject.named) and one.verdict not in (None, Verdict.LOOK_AGAIN)
    }
    return len(mine & decided)


def draw(store: Store, of: Review, n: int, *, seed: int, drawn_by: str = "") -> Control:
    """Draw n answers, half of them of statements that pass every test and half of the others, and
    add them to the control sample. It is drawn from all answers, so that some may be drawn again.

    Raises UsageError where drawn answers wait to be decided, or the run has no answers that a rule
    reads.
    """
    if of.run.sampling.mode == EXACT:
        raise UsageError(
            f"{of.run.label} has computed probabilities and no answers, so nothing can be misread"
        )
    if of.card is None or of.reader is None:
        raise UsageError(
            f"{of.run.label} has no answers read by a rule or a classifier, so nothing can be "
            "misread"
        )
    there = control_of(store, of)
    if there is not None and there.waiting(None):
        raise UsageError(
            f"there is a control sample (seed {there.sample.seed}); {len(there.waiting(None)):,} "
            "answers are open. "
            "Decide these before you draw more, or take the draw back: --undraw"
        )
    if any(one.seed == seed for one in samples_of(store, of.run, of.card)):
        raise UsageError(
            f"seed {seed} has drawn these answers already; give another seed, because one seed "
            "draws one sample"
        )
    answers = answers_of(store, of)
    if not answers:
        raise UsageError(f"{of.run.label} has no answers yet")
    strata, items = sampled(answers, of.judged.stratum, n, seed)
    store.control_samples.add(run_key(store, of.run), of.card, seed, strata, items, drawn_by)
    made = control_of(store, of)
    assert made is not None, "it was just written"
    return made


def sampled(
    answers: Sequence[ReadAnswer], stratum: Callable[[str], str], n: int, seed: int
) -> tuple[dict[str, DrawnStratum], list[ControlItem]]:
    """Return a draw of n answers: the strata of their statements, and each drawn text once, in the
    order of the draw.

    stratum : the name of the stratum of a statement, by its ref
    """
    groups = {
        name: [one for one in answers if stratum(one.ref) == name]
        for name in sorted({stratum(one.ref) for one in answers})
    }
    sizes = [sum(one.count for one in group) for group in groups.values()]
    strata = {
        name: DrawnStratum(size, m)
        for name, size, m in zip(groups, sizes, allocated(sizes, n), strict=True)
    }
    rng = derive_rng(seed, "control sample")
    order = iter(rng.permutation(sum(one.drawn for one in strata.values())).tolist())
    items: list[ControlItem] = []
    for name, group in groups.items():
        places: dict[int, list[int]] = {}
        for at in drawn([one.count for one in group], strata[name].drawn, rng):
            places.setdefault(int(at), []).append(next(order))
        items += [
            ControlItem(
                one.ref, name, one.prompt, one.text, one.label, one.count, tuple(sorted(of_one))
            )
            for one, of_one in ((group[at], found) for at, found in places.items())
        ]
    items.sort(key=lambda one: one.places)
    return strata, items


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
    """Yield the pending items: a drawn answer, two statements, a drawn answer, ... until none are
    left.
    """
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
        """Return everything that was ever to be looked at, in rank, with the control sample mixed
        in.
        """
        return tuple(mixed(self.of.queue, self.control.items if self.control is not None else ()))

    def deciders(self, item: Waiting) -> tuple[str, ...]:
        """Return who has decided on an item."""
        if isinstance(item, Ranked):
            return self.of.deciders(item.ref)
        return (
            tuple(one.auditor for one in self.control.of(item)) if self.control is not None else ()
        )

    def holder(self, item: Waiting) -> str:
        """Return which other auditor looks at an item now; empty: nobody. The control sample is for
        everybody.
        """
        who = self.held.get(item.ref, "") if isinstance(item, Ranked) else ""
        return "" if who == self.auditor else who

    def state(self, item: Waiting) -> State:
        """Return what became of an item. Where another opinion is wanted it is open for whoever has
        given none.
        """
        deciders = self.deciders(item)
        if self.auditor in deciders and not _asked_again(item):
            return State.YOU
        if deciders and not _wants_another(item):
            return State.OTHERS
        return State.HELD if self.holder(item) else State.OPEN

    def upcoming(self, item: str = "") -> tuple[Waiting, ...]:
        """Return what an auditor looks at next, in rank: what is open and nobody else looks at, and
        the control sample, which everybody decides on; then what others decided on alone. After an
        `item` (its name) those behind it come first, so that what was passed over comes last.
        """
        open_: list[Waiting] = []
        second: list[Waiting] = []
        before: tuple[list[Waiting], list[Waiting]] = ([], [])
        for one in self.items:
            if name(one) == item:  # those so far go behind the rest
                before, open_, second = (open_, second), [], []
                continue
            state = self.state(one)
            if state is State.OPEN or (
                state is State.OTHERS and not isinstance(one, Ranked) and self.auditor
            ):
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
    return Progress(
        of, control_of(store, of), auditor, store.review_leases.held(run_key(store, of.run))
    )


def same(one: Progress, two: Progress) -> bool:
    """Return whether two looks at a queue show the same."""
    return _seen(one) == _seen(two)


def _seen(progress: Progress) -> tuple[object, ...]:
    of, control = progress.of, progress.control
    rulings = of.rulings.statements, of.rulings.things, of.drawn
    sample = None if control is None else (control.samples, control.rulings)
    return (
        of.run,
        of.card,
        of.queue,
        of.judged.passed,
        rulings,
        sample,
        progress.auditor,
        progress.held,
    )


@at_once
def looked_again(store: Store, known: Progress, auditor: str | None) -> Progress:
    """Return the same with what was ruled, drawn and leased meanwhile. Statements keep the order in
    which they are known, whatever their scores are now: somebody is going through them. New ones
    come last.
    """
    of, at = (
        with_rulings(store, known.of),
        {one.ref: place for place, one in enumerate(known.of.queue)},
    )
    queue = sorted(of.queue, key=lambda one: at.get(one.ref, len(at)))
    return progress_of(store, replace(of, queue=tuple(queue)), auditor)


def take_next(store: Store, progress: Progress, item: str = "") -> Waiting | None:
    """Return what an auditor looks at next, after an `item`, and lease it to them; None where
    nothing else waits.

    Two auditors at once are given different statements: where another one was quicker, the next is
    taken.
    """
    for one in progress.upcoming(item):
        if open_item(store, progress, one):
            return one
    return None


def open_item(store: Store, progress: Progress, item: Waiting) -> bool:
    """Lease an item to its auditor; False where another one looks at it. The control sample is
    leased to nobody.
    """
    if progress.auditor is None or not isinstance(item, Ranked):
        return True
    return (
        store.review_leases.take(run_key(store, progress.of.run), [item.ref], progress.auditor)
        is not None
    )
