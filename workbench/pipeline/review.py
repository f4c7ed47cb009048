"""What waits for an auditor under a run, in the order of `workbench.domain.reviews`, and what was looked at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from stores.annotation.review_queries import ReadAnswer, Remarked
from stores.core.store import Store, at_once
from stores.runs.run_rows import Run
from workbench import registry
from workbench.domain.counting import plural
from workbench.domain.readings import PEOPLE, STANCES, ReaderCard, ReaderKind, Readings, Stance
from workbench.domain.responses import EXACT
from workbench.domain.reviews import BY_AUDITORS, UNREAD_SHARE, Judged, Ranked, Signal, ranked
from workbench.domain.rulings import Ruling, Verdict
from workbench.domain.statements import VariantId, VariantKind
from workbench.evidence.contradictions import contradictions, read_by_all
from workbench.evidence.kept import Part, kept
from workbench.evidence.other_language import in_other_languages
from workbench.evidence.readings import Source, source_of
from workbench.evidence.reviewed import Drawn, as_drawn, deciders, drawn_since, run_key, samples_of
from workbench.evidence.ruling_subjects import possible
from workbench.evidence.rulings import RulingsOn, on_answers, rulings_on
from workbench.pipeline.checking import check_report


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

    @property
    def read_by(self) -> str:
        """The name of who reads the answers."""
        return PEOPLE if self.card is None else self.card.name

    def looked_at(self, ref: str, auditor: str | None) -> bool:
        """Return whether an auditor, or anybody, has decided on a statement or something below it."""
        deciders = self.deciders(ref)
        return bool(deciders) if auditor is None else auditor in deciders

    def deciders(self, ref: str) -> tuple[str, ...]:
        """Return who has decided on a statement or something below it, in the order in which they did; what counts
        says `workbench.evidence.reviewed`.
        """
        return deciders(self.rulings.statements.get(ref, ()), self.drawn)

    def as_drawn(self, ruling: Ruling) -> bool:
        """Return whether a ruling is on an answer that had been drawn at random by then."""
        return as_drawn(ruling, self.drawn)

    def waiting(self, auditor: str | None) -> tuple[Ranked, ...]:
        """Return the statements that an auditor, or anybody, has not looked at."""
        return tuple(one for one in self.queue if not self.looked_at(one.ref, auditor))


@at_once
def review(store: Store, run: Run, readings: Readings) -> Review:
    """Return the queue of a run. Verdicts are those without rulings, so that ruling does not reorder the queue.

    Raises UsageError where nothing can be judged.
    """
    plain = Readings(readings.by, rulings=False)
    source = _source(store, run, plain)
    by_rule = source.reader is not None and registry.audit(run.audit).by_rule
    if by_rule and run.sampling.mode != EXACT:
        read_by_all(store, run)  # what is read now is no part of what the queue rests on
    parts = (Part.ANSWERS, Part.READINGS, Part.MATERIAL, Part.REMARKS, Part.FINDINGS)
    made = kept(store, ("review", run, plain), parts, lambda: _unruled(store, run, plain, source, by_rule=by_rule))
    return with_rulings(store, made)


def _unruled(store: Store, run: Run, plain: Readings, source: Source, *, by_rule: bool) -> Review:
    """Return the facts on a run's statements without rulings, before ranking."""
    judged = registry.audit(run.audit).judged_for_review(store, run, plain) or _unjudged(store, run, source.reader)
    signals = [(ref, one) for ref, found in judged.signals.items() for one in found]
    signals += _remarks(store, run)
    signals += contradictions(store, run, by_rule=by_rule)
    signals += in_other_languages(store, run)
    signals += _findings(store, run)
    signals += [(ref, Signal("outdated", f"version {asked}, now {now}"))
                for ref, (asked, now) in store.runs.outdated(run).items()]  # fmt: skip
    return Review(run, source.card, source.reader, judged, (), RulingsOn(), found=tuple(signals))


def with_rulings(store: Store, of: Review) -> Review:
    """Return a queue updated with auditors' new rulings; nothing else is read again."""
    on = rulings_on(store, of.run)
    drawn = drawn_since(samples_of(store, of.run, of.card))
    queue = ranked(of.judged.statements, [*of.found, *_ruled(on, drawn)])
    return replace(of, queue=queue, rulings=on, drawn=drawn)


def known_to_wait(store: Store, run: Run, judged: Judged | None) -> int:
    """Return how many items of a run wait for an auditor by what is known at once: verdicts (`judged`), rulings and the
    control sample. No answer is read, so what readers disagree on and what checks find is not counted.
    """
    on = rulings_on(store, run)
    sample = store.control_samples.newest(run_key(store, run)) if store.control_samples.any() else None
    drawn = drawn_since(() if sample is None else (sample,))
    signals = [(ref, one) for ref, found in (judged.signals.items() if judged is not None else ()) for one in found]
    ruled = tuple(_ruled(on, drawn))
    refs = tuple(dict.fromkeys((*(judged.statements if judged is not None else ()), *(ref for ref, _ in ruled))))
    of = Review(run, None, None, Judged(refs, None), ranked(refs, [*signals, *ruled]), on, drawn)
    asked = {ref for ref, one in ruled if one.reason in BY_AUDITORS}
    waiting = sum(one.ref in asked or not of.looked_at(one.ref, None) for one in of.queue)
    if sample is None:
        return waiting
    decided = {at for at, rulings in on_answers(store, run, sample.reader).items() if _decided(rulings)}
    return waiting + sum((one.prompt, one.text) not in decided for one in sample.items)


def _decided(rulings: Iterable[Ruling]) -> bool:
    return any(one.verdict is not Verdict.LOOK_AGAIN for one in rulings)


def _source(store: Store, run: Run, readings: Readings) -> Source:
    """Return the reader of a run's answers: a rule or a classifier; None without either, or without answers."""
    if registry.audit(run.audit).free_text and readings.by is None and not store.classifiers.list():
        return Source(None, None)
    return source_of(store, [run], readings)


def answers_of(store: Store, of: Review, ref: str | None = None) -> tuple[ReadAnswer, ...]:
    """Return the answers of a run, or of one statement, with their readings; none without a reader."""
    if of.reader is None or of.card is None:
        return ()
    classified = of.card.kind is ReaderKind.CLASSIFIER
    return store.review_queries.answers(of.run, of.reader, ref, classified=classified)


def _unjudged(store: Store, run: Run, reader: int | None) -> Judged:
    """Return the statements of a run without verdicts; where a rule reads its answers, with what it makes of them."""
    cells = {cell[5]: cell for cell in store.runs.cells(run)}
    refs = tuple(dict.fromkeys(ref for ref, *_ in cells.values()))
    if reader is None or registry.audit(run.audit).free_text:
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
            Signal(reason, words, variants, prompts=prompts, prompt_words=tuple(words for _, words in found))
        )
    return Judged(refs, None, signals)


def _of_prompt(counts: Counter[str | None], planned: int) -> Iterator[tuple[str, str]]:
    """Yield (reason, what was found) of the answers to a prompt, by their readings."""
    silent, total = counts[None], counts.total()
    if silent and silent >= UNREAD_SHARE * total:
        yield "unreadable", f"{silent} of {total} without a reading"
    if (total - silent) * 3 < planned * 2:
        yield "insufficient", f"{total - silent} readable of {planned} planned"
    elif not counts.keys() - {None, *STANCES} and abs(counts[Stance.AGREE] - counts[Stance.DISAGREE]) <= 1:
        yield "near", f"{counts[Stance.AGREE]} to {counts[Stance.DISAGREE]}"


def _ruled(on: RulingsOn, drawn: Drawn) -> Iterator[tuple[str, Signal]]:
    """Yield where an auditor wants another look that nobody has had since, and where auditors contradict each other.

    What somebody says of a drawn answer is not told: others have yet to decide on it.
    """
    for ref, of in on.statements.items():
        asked = [one for one in of if one.verdict is Verdict.LOOK_AGAIN]
        open_ = [one for one in asked if not any(two.at > one.at and two.verdict is not one.verdict for two in of)]
        if open_:
            yield ref, Signal("look_again", "; ".join(_asked(one, drawn) for one in open_))
    for ref, n in on.disputed.items():
        yield ref, Signal("disputed", f"about {plural(n, 'thing')}")


def _asked(one: Ruling, drawn: Drawn) -> str:
    return "about a drawn answer" if as_drawn(one, drawn) else f"{one.auditor}: {one.reason}"


def _remarks(store: Store, run: Run) -> Iterator[tuple[str, Signal]]:
    flags: dict[str, list[Remarked]] = {}
    for one in store.review_queries.remarks(run):
        if one.flagged:
            flags.setdefault(one.ref, []).append(one)
        if one.note:
            yield one.ref, Signal("noted", one.note, (one.variant,), one.answers)
    for ref, of in flags.items():
        variants, answers = (one.variant for one in of), (at for one in of for at in one.answers)
        yield ref, Signal("flagged", plural(len(of), "flag"), tuple(dict.fromkeys(variants)), tuple(answers))


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
