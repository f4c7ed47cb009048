"""The pending items of a run for an auditor, and the items that were reviewed.

Their order is that of `workbench.domain.reviews`.
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
from workbench.domain.readings import PEOPLE, STANCES, ReaderCard, ReaderKind, ReadingChoice, Stance
from workbench.domain.responses import EXACT
from workbench.domain.reviews import (
    BY_AUDITORS,
    UNREAD_SHARE,
    ControlItem,
    RankedStatement,
    RunSignals,
    Signal,
    ranked,
)
from workbench.domain.reviews import DrawnStratum as DrawnStratum
from workbench.domain.rulings import Ruled, Ruling, RulingVerdict, Subject
from workbench.domain.statements import ORIGINAL, VariantId, VariantKind
from workbench.errors import UsageError
from workbench.evidence.control_sample import RuledControlSample, control_sample, items_of_all_draws
from workbench.evidence.listed_rulings import (
    DrawTimes,
    control_samples_of,
    deciders,
    first_draw_times,
    is_on_drawn_answer,
    is_reviewed,
    open_requests,
    run_key,
)
from workbench.evidence.readings import ReadingSource, source_of
from workbench.evidence.refusals import in_other_languages
from workbench.evidence.ruling_subjects import (
    contradictions,
    possible_readings,
    read_by_all,
    short_answer,
)
from workbench.evidence.rulings import RulingsInForce, rulings_in_force, rulings_on_answers
from workbench.pipeline.checking import check_report
from workbench.stats.resampling import derive_rng
from workbench.stats.samples import allocated, drawn

Given = tuple[str, str, str]
"""wording, and keys of prompt and text in hexadecimal of an answer

Without a text, the key is that of a prompt.
"""


@dataclass(frozen=True, eq=False, slots=True)
class Review:
    """The queue of a run."""

    run: Run
    card: ReaderCard | None
    "the reader of the answers, or None without one"
    reader: int | None
    judged: RunSignals
    queue: tuple[RankedStatement, ...]
    rulings: RulingsInForce
    drawn: DrawTimes = field(default_factory=dict)
    found: tuple[tuple[str, Signal], ...] = ()
    "every (ref, reason) that does not depend on rulings"
    given: Mapping[str, tuple[Given, ...]] = field(default_factory=dict)
    "ref -> the answers of a statement's item, if anybody ruled on something below the statement"
    texts: Mapping[str, str] = field(default_factory=dict)
    "ref -> original wording"

    @property
    def read_by(self) -> str:
        """The name of the reader of the answers."""
        return PEOPLE if self.card is None else self.card.name

    def looked_at(self, ref: str, auditor: str | None) -> bool:
        """Return whether an auditor, or anybody, has reviewed a statement.

        See `workbench.evidence.listed_rulings`.
        """
        return is_reviewed(self.rulings, ref, auditor)

    def deciders(self, ref: str) -> tuple[str, ...]:
        """Return the auditors who have decided on a statement, in the order of their decisions."""
        return deciders(self.rulings.statements.get(ref, ()))

    def ruled(self, ref: str, auditor: str | None) -> tuple[int, int]:
        """Return the numbers of ruled answers and of all answers of an item.

        The rulings are those of an auditor, or of anybody. Of computed probabilities prompts are
        counted.

        A ruling on the prompt or the wording counts for its answers. The result is (0, 0) without a
        ruling.
        """
        answers = self.given.get(ref, ())
        subjects = [
            ruling.subject
            for ruling in self.rulings.statements.get(ref, ())
            if auditor in (None, ruling.auditor) and ruling.verdict is not RulingVerdict.LOOK_AGAIN
        ]
        n_ruled = sum(any(_covers(subject, answer) for subject in subjects) for answer in answers)
        return (n_ruled, len(answers)) if n_ruled else (0, 0)

    def as_drawn(self, ruling: Ruling) -> bool:
        """Return whether a ruling is on an answer that had been sampled at random by then."""
        return is_on_drawn_answer(ruling, self.drawn)

    def waiting(self, auditor: str | None) -> tuple[RankedStatement, ...]:
        """Return the statements that an auditor, or anybody, has not reviewed."""
        return tuple(item for item in self.queue if not self.looked_at(item.ref, auditor))


def _covers(subject: Subject, answer: Given) -> bool:
    """Return whether a subject below a statement is an answer, its prompt or its wording."""
    variant, prompt, text = answer
    fields = subject.named
    if "prompt" in fields:
        return fields["prompt"] == prompt and fields.get("text", text) == text
    return fields.get("variant") == variant


@at_once
def review(store: Store, run: Run, readings: ReadingChoice) -> Review:
    """Return the queue of a run.

    Verdicts are those without rulings, so that a ruling does not reorder the queue. Raises
    UsageError if nothing can be judged.
    """
    without_rulings = ReadingChoice(readings.by, rulings=False)
    source = _source(store, run, without_rulings)
    by_rule = source.reader is not None and registry.audit(run.audit).nature.by_rule
    if by_rule and run.sampling.mode != EXACT:
        # The readings made now are not among the facts on which the queue rests.
        read_by_all(store, run)
    parts = (
        StoreSection.ANSWERS,
        StoreSection.READINGS,
        StoreSection.MATERIAL,
        StoreSection.REMARKS,
        StoreSection.FINDINGS,
    )
    unruled = cached_result(
        store,
        ("review", run, without_rulings),
        parts,
        lambda: _unruled(store, run, without_rulings, source, by_rule=by_rule),
    )
    return with_rulings(store, unruled)


def _unruled(
    store: Store, run: Run, plain: ReadingChoice, source: ReadingSource, *, by_rule: bool
) -> Review:
    """Return the facts on a run's statements without rulings, before ranking."""
    judgements = registry.audit(run.audit).judged_for_review(store, run, plain) or _unjudged(
        store, run, source.reader
    )
    signals = [
        (ref, signal) for ref, ref_signals in judgements.signals.items() for signal in ref_signals
    ]
    signals += _remarks(store, run)
    signals += contradictions(store, run, by_rule=by_rule)
    signals += in_other_languages(store, run)
    signals += _findings(store, run)
    signals += [
        (ref, Signal("outdated", f"version {asked_version}, now {current_version}"))
        for ref, (asked_version, current_version) in store.runs.outdated(run).items()
    ]
    return Review(
        run,
        source.card,
        source.reader,
        judgements,
        (),
        RulingsInForce(),
        found=tuple(signals),
        texts=_original_texts(store, run),
    )


def _original_texts(store: Store, run: Run) -> dict[str, str]:
    """Return the original wording of each statement, as it was asked."""
    wordings = {
        statement.ref: statement.wording(ORIGINAL, run.language)
        for statement in store.runs.instrument(run).statements
    }
    return {ref: wording.text for ref, wording in wordings.items() if wording is not None}


def with_rulings(store: Store, review: Review) -> Review:
    """Return a queue updated with auditors' new rulings. Nothing else is read again."""
    run_rulings = rulings_in_force(store, review.run)
    samples = first_draw_times(control_samples_of(store, review.run, review.card))
    queue = ranked(review.judged.statements, [*review.found, *_ruled(run_rulings, samples)])
    opened_items = (
        item
        for item in queue
        if any(
            ruling.subject.kind is not Ruled.STATEMENT
            for ruling in run_rulings.statements.get(item.ref, ())
        )
    )
    answers = {
        item.ref: review.given.get(item.ref) or _given(store, review.run, item.ref)
        for item in opened_items
    }
    return replace(review, queue=queue, rulings=run_rulings, drawn=samples, given=answers)


def _given(store: Store, run: Run, ref: str) -> tuple[Given, ...]:
    """Return the answers of a model to a statement, as far as they can be ruled on."""
    if run.sampling.mode == EXACT:
        return tuple(
            (prompt.variant, prompt.key.hex(), "")
            for prompt in store.review_queries.prompts(run, ref)
        )
    answers = store.review_queries.given(run, ref)
    return tuple((answer.variant, answer.prompt.hex(), answer.text.hex()) for answer in answers)


@dataclass(frozen=True, slots=True)
class PendingItems:
    """The number of items that are known to be pending for an auditor under a run."""

    items: int
    "statements and sampled answers"
    again: frozenset[bytes] = frozenset()
    "uids of the rulings that request a second look"

    @property
    def words(self) -> str:
        """The number of pending items as text: `at least 3 items, 1 to look at again`."""
        second_looks = f", {len(self.again):,} to look at again" if self.again else ""
        return f"at least {plural(self.items, 'item')}{second_looks}"


def pending_items(store: Store, run: Run, judged: RunSignals | None) -> PendingItems:
    """Return the pending items that are known at once.

    They are known from verdicts (`judged`), rulings and the control sample.

    No answer is read, so disagreement of readers and findings of checks are not counted.
    """
    run_rulings = rulings_in_force(store, run)
    newest = (
        store.control_samples.newest(run_key(store, run)) if store.control_samples.any() else None
    )
    samples = () if newest is None else control_samples_of(store, run, newest.reader)
    sample_times = first_draw_times(samples)
    signals = [
        (ref, signal)
        for ref, ref_signals in (judged.signals.items() if judged is not None else ())
        for signal in ref_signals
    ]
    ruling_signals = tuple(_ruled(run_rulings, sample_times))
    refs = tuple(
        dict.fromkeys(
            (
                *(judged.statements if judged is not None else ()),
                *(ref for ref, _ in ruling_signals),
            )
        )
    )
    n_pending = sum(
        not is_reviewed(run_rulings, item.ref) for item in ranked(refs, [*signals, *ruling_signals])
    )
    second_looks = frozenset(
        ruling.uid
        for rulings in run_rulings.statements.values()
        for ruling in open_requests(rulings)
    )
    if newest is None:
        return PendingItems(n_pending, second_looks)
    decided = {
        answer
        for answer, rulings in rulings_on_answers(store, run, newest.reader).items()
        if _decided(rulings)
    }
    return PendingItems(
        n_pending
        + sum((item.prompt, item.text) not in decided for item in items_of_all_draws(samples)),
        second_looks,
    )


def _decided(rulings: Iterable[Ruling]) -> bool:
    return any(ruling.verdict is not RulingVerdict.LOOK_AGAIN for ruling in rulings)


def _source(store: Store, run: Run, readings: ReadingChoice) -> ReadingSource:
    """Return the reader of a run's answers: a rule or a classifier.

    It is None without either, or without answers.
    """
    if (
        registry.audit(run.audit).nature.free_text
        and readings.by is None
        and not store.classifiers.list()
    ):
        return ReadingSource(None, None)
    return source_of(store, [run], readings)


def answers_of(store: Store, review: Review, ref: str | None = None) -> tuple[ReadAnswer, ...]:
    """Return the answers of a run, or of one statement, with their readings.

    The result is empty if the run has no reader.
    """
    if review.reader is None or review.card is None:
        return ()
    is_classified = review.card.kind is ReaderKind.CLASSIFIER
    return store.review_queries.answers(review.run, review.reader, ref, classified=is_classified)


def _unjudged(store: Store, run: Run, reader: int | None) -> RunSignals:
    """Return the statements of a run without verdicts.

    If a rule reads its answers, its counts give signals.
    """
    cells = {cell[5]: cell for cell in store.runs.cells(run)}
    refs = tuple(dict.fromkeys(ref for ref, *_ in cells.values()))
    if reader is None or registry.audit(run.audit).nature.free_text:
        return RunSignals(refs, None)
    axes = {asked_probe.probe: asked_probe.axes for asked_probe in store.raw_answers.probes(run)}
    counts: dict[int, Counter[str | None]] = {}
    for probe, label, _, count in store.runs.counts(run, [reader]):
        counts.setdefault(probe, Counter())[
            label if label in possible_readings(axes[probe]) else None
        ] += count
    planned = store.runs.planned(run)
    findings: dict[tuple[str, str], list[tuple[tuple[str, str, bool], str]]] = {}
    for probe, labels in counts.items():
        ref, kind, ordinal, template, inverted, *_ = cells[probe]
        location = str(VariantId(VariantKind(kind), ordinal)), template, bool(inverted)
        for reason, text in _of_prompt(labels, planned.get(probe, 0)):
            findings.setdefault((ref, reason), []).append((location, text))
    signals: dict[str, list[Signal]] = {}
    for (ref, reason), prompt_findings in findings.items():
        prompts = tuple(position for position, _ in prompt_findings)
        example = "; ".join(
            f"{' '.join(position[:2])}: {finding}" for position, finding in prompt_findings[:2]
        )
        remainder = f" and {len(prompt_findings) - 2} more" if len(prompt_findings) > 2 else ""
        text = f"{plural(len(prompt_findings), 'prompt')}: {example}{remainder}"
        variants = tuple(dict.fromkeys(variant for variant, *_ in prompts))
        signals.setdefault(ref, []).append(
            Signal(
                reason,
                text,
                variants,
                prompts=prompts,
                prompt_words=tuple(finding for _, finding in prompt_findings),
                size=len(prompt_findings),
            )
        )
    return RunSignals(refs, None, signals)


def _of_prompt(counts: Counter[str | None], planned: int) -> Iterator[tuple[str, str]]:
    """Yield (reason, finding) of the answers to a prompt, by their readings."""
    n_unread, total = counts[None], counts.total()
    if n_unread and n_unread >= UNREAD_SHARE * total:
        yield "unreadable", f"{n_unread} of {total} without a reading"
    if (total - n_unread) * 3 < planned * 2:
        yield "insufficient", f"{total - n_unread} readable of {planned} planned"
    elif (
        not counts.keys() - {None, *STANCES}
        and abs(counts[Stance.AGREE] - counts[Stance.DISAGREE]) <= 1
    ):
        yield "near", f"{counts[Stance.AGREE]} to {counts[Stance.DISAGREE]}"


def _ruled(on: RulingsInForce, drawn: DrawTimes) -> Iterator[tuple[str, Signal]]:
    """Yield the open requests for a second look, and the contradictions of auditors.

    The rulings on a sampled answer are not quoted: other auditors have yet to decide on it.
    """
    for ref, rulings in on.statements.items():
        if requests := open_requests(rulings):
            answers = (
                ruling.subject.named
                for ruling in requests
                if "text" in ruling.subject.named and not is_on_drawn_answer(ruling, drawn)
            )
            keys = tuple(
                (bytes.fromhex(fields["prompt"]), bytes.fromhex(fields["text"]))
                for fields in answers
            )
            yield (
                ref,
                Signal(
                    "look_again",
                    "; ".join(_request_words(ruling, drawn) for ruling in requests),
                    answers=keys,
                ),
            )
    for ref, n_subjects in on.disputed.items():
        yield ref, Signal("disputed", f"about {plural(n_subjects, 'thing')}")


def _request_words(request: Ruling, drawn: DrawTimes) -> str:
    """Return who requested a second look, at what, and why."""
    if is_on_drawn_answer(request, drawn):
        return "about a drawn answer"
    kind = request.subject.kind
    location_by_kind = {
        Ruled.STATEMENT: "",
        Ruled.WORDING: f", on {request.subject.named.get('variant')}",
        Ruled.PROMPT: ", on a prompt",
    }.get(kind, ", on an answer")
    return f"{request.auditor}{location_by_kind}: {request.reason}"


def _remarks(store: Store, run: Run) -> Iterator[tuple[str, Signal]]:
    flags: dict[str, list[Remarked]] = {}
    for entry in store.review_queries.remarks(run):
        if entry.flagged:
            flags.setdefault(entry.ref, []).append(entry)
        if entry.note:
            yield entry.ref, Signal("noted", entry.note, (entry.variant,), entry.answers)
    for ref, remarks in flags.items():
        variants, answers = (
            (remark.variant for remark in remarks),
            (answer for flagged in remarks for answer in flagged.answers),
        )
        yield (
            ref,
            Signal(
                "flagged",
                plural(len(remarks), "flag"),
                tuple(dict.fromkeys(variants)),
                tuple(answers),
            ),
        )


def _findings(store: Store, run: Run) -> Iterator[tuple[str, Signal]]:
    for open_finding in check_report(store, run.instrument, run.language).open:
        finding = open_finding.finding
        if finding.ref is not None and finding.severity != "note":
            variants = () if finding.variant is None else (str(finding.variant),)
            yield finding.ref, Signal("finding", f"{finding.severity} {finding.code}", variants)


def looked_at_by(review: Review) -> Mapping[str, int]:
    """Return the number of statements of the queue that each auditor has reviewed."""
    names = sorted(
        {ruling.auditor for rulings in review.rulings.statements.values() for ruling in rulings}
    )
    return {name: sum(review.looked_at(item.ref, name) for item in review.queue) for name in names}


WORDS = 80
"the number of characters of a sampled answer that its row shows"


def control_of(store: Store, review: Review) -> RuledControlSample | None:
    """Return the control sample of a run as its reader read it, or None if it has none."""
    sample = control_sample(store, review.run, review.card)
    return None if sample is None else replace(sample, items=_in_words(store, review, sample.items))


def _in_words(
    store: Store, review: Review, items: Sequence[ControlItem]
) -> tuple[ControlItem, ...]:
    """Return sampled answers with their texts, which people can read."""

    def words(item: ControlItem) -> str:
        text = " ".join((store.ruled_things.text(item.text) or "").split()) or "(blank)"
        quote = f"“{text[:WORDS].rstrip()} …”" if len(text) > WORDS else f"“{text}”"
        prompts = store.ruled_things.prompts(key=item.prompt.hex())
        prompt = next(
            (
                candidate
                for candidate in prompts
                if (candidate.instrument, candidate.ref) == (review.run.instrument, item.ref)
            ),
            None,
        )
        if prompt is None:
            return quote
        order = "swapped" if prompt.inverted else "printed"
        return f"{quote} · {prompt.variant} · {prompt.template} {order}"

    return tuple(replace(item, words=words(item)) for item in items)


def take_back(store: Store, review: Review) -> int:
    """Remove the newest draw of a run without decisions, and return its number of answers.

    Raises UsageError if there is none, or somebody has decided on an answer that it alone holds,
    also if they withdrew the decision: choosing among draws after seeing decisions would bias the
    rate.
    """
    control = control_of(store, review)
    if control is None:
        raise UsageError(f"{review.run.label} has no control sample; --draw N draws one")
    if n_decided := _ever_decided(store, control):
        raise UsageError(
            f"auditors have decided on {n_decided:,} of {len(control.sample.items):,} answers of "
            f"the newest draw (seed {control.sample.seed}); it stays, and what they decided "
            "counts, also where they took a decision back"
        )
    store.control_samples.remove(control.sample.uid)
    return len(control.sample.items)


def _ever_decided(store: Store, control: RuledControlSample) -> int:
    """Return the number of the newest draw's own answers that have a decision.

    Withdrawn decisions count, too.
    """
    earlier = {(item.prompt, item.text) for item in items_of_all_draws(control.samples[:-1])}
    own_answers = {
        (item.prompt.hex(), item.text.hex())
        for item in control.sample.items
        if (item.prompt, item.text) not in earlier
    }
    decided = {
        (names["prompt"], names["text"])
        for event in store.rulings.events()
        if "text" in (names := event.subject.named)
        and event.verdict not in (None, RulingVerdict.LOOK_AGAIN)
    }
    return len(own_answers & decided)


def draw_control_sample(
    store: Store, review: Review, n: int, *, seed: int, drawn_by: str = ""
) -> RuledControlSample:
    """Draw n answers and add them to the control sample.

    Half of them are of statements that pass every test and half of the others. They are drawn from
    all answers, so that some may be drawn again. Raises UsageError if drawn answers are pending, or
    the run has no answers that a rule reads.
    """
    if review.run.sampling.mode == EXACT:
        raise UsageError(
            f"{review.run.label} has computed probabilities and no answers, so nothing can be "
            "misread"
        )
    if review.card is None or review.reader is None:
        raise UsageError(
            f"{review.run.label} has no answers read by a rule or a classifier, so nothing can be "
            "misread"
        )
    last = control_of(store, review)
    if last is not None and last.waiting(None):
        raise UsageError(
            f"there is a control sample (seed {last.sample.seed}); {len(last.waiting(None)):,} "
            "answers are open. Decide these before you draw more, or take the draw back: --undraw"
        )
    if any(sample.seed == seed for sample in control_samples_of(store, review.run, review.card)):
        raise UsageError(
            f"seed {seed} has drawn these answers already; give another seed, because one seed "
            "draws one sample"
        )
    answers = answers_of(store, review)
    if not answers:
        raise UsageError(f"{review.run.label} has no answers yet")
    strata, items = sample_answers(answers, review.judged.stratum, n, seed)
    store.control_samples.add(
        run_key(store, review.run), review.card, seed, strata, items, drawn_by
    )
    control = control_of(store, review)
    assert control is not None, "it was just written"
    return control


def sample_answers(
    answers: Sequence[ReadAnswer], stratum: Callable[[str], str], n: int, seed: int
) -> tuple[dict[str, DrawnStratum], list[ControlItem]]:
    """Return a draw of n answers: the strata of their statements, and each drawn text once.

    The texts are in the order of the draw. stratum : the name of the stratum of a statement, by its
    ref
    """
    groups = {
        name: [answer for answer in answers if stratum(answer.ref) == name]
        for name in sorted({stratum(answer.ref) for answer in answers})
    }
    sizes = [sum(answer.count for answer in group) for group in groups.values()]
    strata = {
        name: DrawnStratum(size, n_drawn)
        for name, size, n_drawn in zip(groups, sizes, allocated(sizes, n), strict=True)
    }
    rng = derive_rng(seed, "control sample")
    order = iter(
        rng.permutation(sum(drawn_stratum.drawn for drawn_stratum in strata.values())).tolist()
    )
    items: list[ControlItem] = []
    for name, group in groups.items():
        positions_by_index: dict[int, list[int]] = {}
        for answer_index in drawn([answer.count for answer in group], strata[name].drawn, rng):
            positions_by_index.setdefault(int(answer_index), []).append(next(order))
        items += [
            ControlItem(
                answer.ref,
                name,
                answer.prompt,
                answer.text,
                answer.label,
                answer.count,
                tuple(sorted(order_numbers)),
            )
            for answer, order_numbers in (
                (group[index], positions) for index, positions in positions_by_index.items()
            )
        ]
    items.sort(key=lambda item: item.places)
    return strata, items


BETWEEN = 2
"the number of queued statements between two answers of the control sample"
Waiting = RankedStatement | ControlItem


class ItemState(StrEnum):
    """The state of an item, as one auditor sees it."""

    OPEN = "open"
    HELD = "held"
    "another auditor reviews it now"
    YOU = "by you"
    OTHERS = "by others"


def with_control_sample(
    statements: Sequence[RankedStatement], drawn: Sequence[ControlItem]
) -> Iterator[Waiting]:
    """Yield the pending items: a sampled answer, two statements, and so on.

    It ends when none are left.
    """
    remaining = iter(statements)
    for item in drawn:
        yield item
        yield from islice(remaining, BETWEEN)
    yield from remaining


def item_name(item: Waiting) -> str:
    """Return the text that people type to rule on an item."""
    return item.ref if isinstance(item, RankedStatement) else short_answer(item.prompt, item.text)


@dataclass(frozen=True, eq=False, slots=True)
class ReviewProgress:
    """A queue as one auditor sees it."""

    of: Review
    control: RuledControlSample | None = None
    auditor: str | None = None
    "the auditor, or None if everybody's decisions count"
    held: Mapping[str, str] = field(default_factory=dict)
    "ref -> the auditor who reviews the statement now"

    @property
    def items(self) -> tuple[Waiting, ...]:
        """All items of the queue, in rank, with the control sample mixed in."""
        return tuple(
            with_control_sample(
                self.of.queue, self.control.items if self.control is not None else ()
            )
        )

    def deciders(self, item: Waiting) -> tuple[str, ...]:
        """Return the auditors who have decided on an item."""
        if isinstance(item, RankedStatement):
            return self.of.deciders(item.ref)
        return (
            tuple(ruling.auditor for ruling in self.control.rulings_on(item))
            if self.control is not None
            else ()
        )

    def holder(self, item: Waiting) -> str:
        """Return the other auditor who reviews an item now, or an empty string.

        The control sample is for everybody.
        """
        auditor = self.held.get(item.ref, "") if isinstance(item, RankedStatement) else ""
        return "" if auditor == self.auditor else auditor

    def state(self, item: Waiting) -> ItemState:
        """Return the state of an item.

        If a second opinion is requested it is open for auditors who have given none.
        """
        deciders = self.deciders(item)
        if self.auditor in deciders and not _asked_again(item):
            return ItemState.YOU
        if deciders and not _wants_another(item):
            return ItemState.OTHERS
        return ItemState.HELD if self.holder(item) else ItemState.OPEN

    def upcoming(self, item: str = "") -> tuple[Waiting, ...]:
        """Return the items that an auditor reviews next, in rank.

        First come those that are open and nobody else reviews, and the control sample, which
        everybody decides on, then those that others decided on alone. After an `item` (its name)
        those behind it come first, so that skipped items come last.
        """
        open_items: list[Waiting] = []
        second_opinions: list[Waiting] = []
        passed: tuple[list[Waiting], list[Waiting]] = ([], [])
        for candidate in self.items:
            if item_name(candidate) == item:  # earlier items come after all later ones
                passed, open_items, second_opinions = (open_items, second_opinions), [], []
                continue
            state = self.state(candidate)
            if state is ItemState.OPEN or (
                state is ItemState.OTHERS
                and not isinstance(candidate, RankedStatement)
                and self.auditor
            ):
                open_items.append(candidate)
            elif state is ItemState.OTHERS and self.auditor and not self.holder(candidate):
                second_opinions.append(candidate)
        return (*open_items, *passed[0], *second_opinions, *passed[1])

    def found(self, item: str) -> Waiting | None:
        """Return an item by its name, or None if it is no longer in the queue."""
        return next((item_ for item_ in self.items if item_name(item_) == item), None)


def _asked_again(item: Waiting) -> bool:
    """Return whether there is an open request for a second look at an item."""
    return isinstance(item, RankedStatement) and any(
        signal.reason == "look_again" for signal in item.signals
    )


def _wants_another(item: Waiting) -> bool:
    return isinstance(item, RankedStatement) and any(
        signal.reason in BY_AUDITORS for signal in item.signals
    )


@at_once
def progress_of(store: Store, review: Review, auditor: str | None) -> ReviewProgress:
    """Return a queue as an auditor sees it now."""
    return ReviewProgress(
        review,
        control_of(store, review),
        auditor,
        store.review_leases.held(run_key(store, review.run)),
    )


def shows_same(progress: ReviewProgress, other: ReviewProgress) -> bool:
    """Return whether two states of a queue look the same on a screen."""
    return _seen(progress) == _seen(other)


def _seen(progress: ReviewProgress) -> tuple[object, ...]:
    queue_review, control = progress.of, progress.control
    rulings = queue_review.rulings.statements, queue_review.rulings.things, queue_review.drawn
    sample = None if control is None else (control.samples, control.rulings)
    return (
        queue_review.run,
        queue_review.card,
        queue_review.queue,
        queue_review.judged.passed,
        rulings,
        sample,
        progress.auditor,
        progress.held,
    )


@at_once
def looked_again(store: Store, progress: ReviewProgress, auditor: str | None) -> ReviewProgress:
    """Return the progress with new rulings, samples and leases.

    Statements keep their order, whatever their scores are now, because somebody is going through
    them. New ones come last.
    """
    updated, index_by_ref = (
        with_rulings(store, progress.of),
        {item.ref: index for index, item in enumerate(progress.of.queue)},
    )
    queue = sorted(updated.queue, key=lambda item: index_by_ref.get(item.ref, len(index_by_ref)))
    return progress_of(store, replace(updated, queue=tuple(queue)), auditor)


def take_next(store: Store, progress: ReviewProgress, item: str = "") -> Waiting | None:
    """Return the next item for an auditor, after an `item`, and lease it to them.

    It is None if nothing else is pending.

    Two auditors at once are given different statements: if another one was quicker, the next is
    taken.
    """
    for candidate in progress.upcoming(item):
        if open_item(store, progress, candidate):
            return candidate
    return None


def open_item(store: Store, progress: ReviewProgress, item: Waiting) -> bool:
    """Lease an item to its auditor, or return False if another one reviews it.

    The control sample is leased to nobody.
    """
    if progress.auditor is None or not isinstance(item, RankedStatement):
        return True
    return (
        store.review_leases.take(run_key(store, progress.of.run), [item.ref], progress.auditor)
        is not None
    )
