"""Queues of texts that people are asked to label.

They are drawn so that training and test sets never share a text.

A test set is drawn in proportion to answers, because its figures are about answers. See
`annotation.sampling`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from functools import lru_cache, partial

import numpy as np

from stores.annotation.candidates import AT_ONCE, Candidates, DesignPlace
from stores.annotation.queues import NewItem
from stores.core.store import Store
from workbench import registry
from workbench.annotation.sampling import (
    DrawnSample,
    OfferedTexts,
    comparable_text,
    draw,
    draw_answers,
)
from workbench.data import attention_items
from workbench.domain.annotations import Codebook, LabelSubject, Purpose
from workbench.domain.keys import SEED
from workbench.domain.names import plural
from workbench.domain.prompts import LIKERT
from workbench.errors import UsageError
from workbench.evidence import readings as free_text
from workbench.evidence.readings import codebook_of
from workbench.evidence.runs import names_of_models
from workbench.readers.rules import Likert
from workbench.stats.resampling import derive_rng

PER_STRATUM = 4
"Faulborn et al. 2025, section 3.4"
SEVERAL = "several"
"the prefix or model of a text that several gave"


@dataclass(frozen=True, slots=True)
class QueueSpec:
    """The sampling of a queue, which is stored with it."""

    name: str
    purpose: Purpose
    codebook: str = "stance"
    instrument: str | None = None
    models: tuple[str, ...] = ()
    "names of models, or empty for all"
    per_stratum: int = PER_STRATUM
    "number of texts from each prefix x wording x model, on average for a test set"
    labels: int = 1
    "number of people who label an overlapping item, while the others get one"
    overlap: float = 1.0
    "share of the items that overlap, or above 1 their number in each stratum"
    seed: int = SEED
    held_out: float = 0.0
    """share of the statements of a test set that no training set may use

    With 0, only response texts are kept apart.
    """
    limit: int | None = None
    "the largest number of items in all, or None for what the strata give"
    attention: int = 0
    "number of items with a known label, mixed in for everybody"


@dataclass(frozen=True, slots=True)
class QueueProposal:
    """The items that a queue would hold."""

    spec: QueueSpec
    codebook: Codebook
    items: tuple[NewItem, ...]
    sample: DrawnSample
    candidates: int
    by_rule: int
    "number of answers that a rule reads, so that no person has to"
    held_out: tuple[str, ...]
    "statements that only this set may use"
    given: int = 0
    "number of labels that its items have already, at most as many per item as it needs"

    @property
    def labels(self) -> int:
        return sum(item.needed for item in self.items)

    @property
    def to_give(self) -> int:
        """The number of labels that people still have to give."""
        return self.labels - self.given

    def _labels_in_words(self) -> str:
        if not self.given:
            return f"{self.labels:,} labels to give"
        if not self.to_give:
            return f"all {self.labels:,} labels are there already, none to give"
        return f"{self.labels:,} labels: {self.given:,} there already, {self.to_give:,} to give"

    def describe(self) -> str:
        """Return the description of the queue for a person who is about to make it."""
        spec, sample = self.spec, self.sample
        n_texts = sum(item.attention is None for item in self.items)
        lines = [
            f"{spec.name}: {n_texts:,} items for {spec.purpose.value}, {self._labels_in_words()}, "
            f"codebook {self.codebook.name}",
            f"from {self.candidates:,} different texts in {_strata(sample.strata)}, "
            f"{spec.per_stratum} of each"
            + (" on average" if sample.frame else "")
            + (
                f" ({_strata(sample.short)} {'has' if sample.short == 1 else 'have'} fewer)"
                if sample.short
                else ""
            ),
        ]
        if (frame := sample.frame) is not None:
            lines.append(
                "drawn in proportion to the answers, so that figures represent all "
                f"{frame.answers:,}; {plural(frame.certain_units, 'frequent text')} with "
                f"{frame.certain_answers / frame.answers:.0%} of the answers taken with certainty"
            )
        if sample.held_back:
            lines.append(
                f"{sample.held_back:,} texts are left out, because the other set has them or "
                "their statements"
            )
        if self.by_rule:
            lines.append(f"{self.by_rule:,} answers are whole numbers; a rule reads these")
        if self.held_out:
            lines.append(
                f"{len(self.held_out):,} statements are held out: training sets will not use them"
            )
        if spec.attention:
            n_attention = sum(item.attention is not None for item in self.items)
            lines.append(
                f"{n_attention} attention items with a known label are mixed in for everybody"
            )
        return "\n".join(lines)


def _strata(n: int) -> str:
    return f"{n:,} {'stratum' if n == 1 else 'strata'}"


def propose_queue(store: Store, spec: QueueSpec) -> QueueProposal:
    """Draw a queue without making it. It reads only. Raises UsageError, UnknownName."""
    codebook = codebook_of(store, None, spec.codebook)
    if not 0 <= spec.held_out < 1:
        raise UsageError(
            f"found a held-out share of {spec.held_out:g}; give 0 or more and less than 1"
        )
    if spec.held_out and spec.purpose is not Purpose.TEST:
        raise UsageError(
            "only a test set holds out statements; training sets then leave them out automatically"
        )
    if spec.attention < 0:
        raise UsageError(f"found {spec.attention} attention items; give 0 or more")
    spec = replace(spec, models=names_of_models(store, spec.models))
    offers, by_rule = _readable_by_people(_candidates(store, spec, codebook))
    if not offers:
        raise UsageError(_nothing(store, spec, codebook))
    rng = derive_rng(spec.seed, "queue", spec.name)
    taken_texts, taken_statements, held_out = _kept_apart(store, spec, offers, rng)
    if held_out:
        offers = offers.only(
            np.array([place.ref in held_out for place in offers.places])[offers.codes]
        )
    drawing: Callable[..., DrawnSample] = draw
    if spec.purpose is Purpose.TEST:
        n_strata = len({_stratum(offers.places[code]) for code in np.unique(offers.codes)})
        offers = offers.pooled(SEVERAL)
        drawing = partial(draw_answers, strata=n_strata)
    sample = drawing(
        _offered(offers),
        spec.per_stratum,
        rng,
        labels=spec.labels,
        overlap=spec.overlap,
        taken_texts=taken_texts,
        taken_statements=taken_statements,
        limit=spec.limit,
    )
    if not sample.picks:
        raise UsageError(
            f"no texts left to draw: all {len(offers):,} belong to the other set. Sample more "
            "answers, or use fewer texts per stratum there"
        )
    items = [
        NewItem(
            int(offers.wordings[pick.index]),
            pick.needed,
            pick.stratum,
            text_id=int(offers.texts[pick.index]),
            inclusion=pick.inclusion,
            answers=pick.answers,
        )
        for pick in sample.picks
    ]
    counts = zip(items, store.queues.labelled(codebook.name, items), strict=True)
    n_given = sum(min(n_labels, item.needed) for item, n_labels in counts)
    items += _attention(spec, codebook, items, offers, rng)
    return QueueProposal(
        spec, codebook, tuple(items), sample, len(offers), by_rule, tuple(sorted(held_out)), n_given
    )


def make_queue(store: Store, spec: QueueSpec, proposal: QueueProposal | None = None) -> int:
    """Draw a queue, unless it was drawn already, and write it. Return its rowid."""
    proposal = proposal or propose_queue(store, spec)
    frame = proposal.sample.frame
    stored_spec = asdict(spec) | {
        "purpose": spec.purpose.value,
        "held_out_statements": proposal.held_out,
        "frame": None if frame is None else asdict(frame),
    }
    return store.queues.create(
        spec.name, spec.purpose, proposal.codebook, proposal.items, stored_spec
    )


def _candidates(store: Store, spec: QueueSpec, codebook: Codebook) -> Candidates:
    if codebook.subject is LabelSubject.STATEMENT:
        return store.queues.statements(spec.instrument)
    return Candidates.joined(
        [
            store.queues.candidates(name, spec.instrument, spec.models)
            for name in registry.free_text()
        ]
    )


def _readable_by_people(candidates: Candidates) -> tuple[Candidates, int]:
    """Return the candidates that no rule for numbers reads, and the number of the others."""
    rule = Likert()
    is_by_rule = np.array([place.scale == LIKERT for place in candidates.places], dtype=np.bool_)[
        candidates.codes
    ]
    rows = np.flatnonzero(is_by_rule)
    for start in range(0, len(rows), AT_ONCE):
        chunk = rows[start : start + AT_ONCE]
        is_by_rule[chunk] = [rule.read(text).label is not None for text in candidates.bodies(chunk)]
    return candidates.only(~is_by_rule) if is_by_rule.any() else candidates, int(is_by_rule.sum())


def _offered(candidates: Candidates) -> OfferedTexts:
    """Return the candidates for sampling, with their statements and strata."""
    refs = {place.ref: 0 for place in candidates.places}
    strata = {_stratum(place): 0 for place in candidates.places}
    for names in (refs, strata):
        names.update((name, number) for number, name in enumerate(names))
    codes = np.array(
        [(refs[place.ref], strata[_stratum(place)]) for place in candidates.places], dtype=np.int32
    )
    statement, stratum = codes.reshape(-1, 2)[candidates.codes].T
    return OfferedTexts(
        [*refs], [*strata], statement, stratum, candidates.answers, candidates.bodies
    )


def _stratum(place: DesignPlace) -> str:
    return _named(place.template, place.variant, place.model)


@lru_cache(maxsize=4096)
def _named(*parts: str) -> str:
    return " · ".join(filter(None, parts))


def _nothing(store: Store, spec: QueueSpec, codebook: Codebook) -> str:
    location = f" on {spec.instrument}" if spec.instrument else ""
    givers = f" by {', '.join(spec.models)}" if spec.models else ""
    if codebook.subject is LabelSubject.STATEMENT:
        return f"the store has no statements{location}; import an instrument first"
    models = ", ".join(free_text.free_text_models(store))
    available = f". Models with answers: {models}" if models else ""
    return (
        f"the store has no free-text answers{givers}{location}{available}. {free_text.how_to_ask()}"
    )


def _kept_apart(
    store: Store, spec: QueueSpec, offers: Candidates, rng: np.random.Generator
) -> tuple[set[str], set[str], set[str]]:
    """Return the texts and statements of the other set, and those held out for this one.

    The last are statements.
    """
    other = {Purpose.TRAINING: Purpose.TEST, Purpose.TEST: Purpose.TRAINING}.get(spec.purpose)
    if other is None:
        return set(), set(), set()
    members = store.queues.members([other], spec.codebook)
    texts = {comparable_text(text) for text, _, _ in members}
    used_refs = {ref for _, _, ref in members}
    if spec.purpose is Purpose.TRAINING:
        held_out_lists = [
            queue.spec.get("held_out_statements") for queue in store.queues.list(Purpose.TEST)
        ]
        return (
            texts,
            {ref for refs in held_out_lists if isinstance(refs, list) for ref in refs},
            set(),
        )
    if not spec.held_out:
        return texts, set(), set()
    refs = {offers.places[code].ref for code in np.unique(offers.codes)}
    free = sorted(refs - used_refs)
    n_wanted = max(1, round(spec.held_out * len(refs)))
    if len(free) < n_wanted:
        raise UsageError(
            f"{n_wanted} statements should be held out, but training sets use all except "
            f"{len(free):,}. Make the test set first, or hold out a smaller share"
        )
    return texts, set(), {free[index] for index in rng.permutation(len(free))[:n_wanted]}


def _attention(
    spec: QueueSpec,
    codebook: Codebook,
    items: list[NewItem],
    offers: Candidates,
    rng: np.random.Generator,
) -> Iterable[NewItem]:
    """Return items with a known label whatever the statement, each beside a statement of the queue.

    `offers` are texts that models gave. An item is none of these, or it could be a response too.
    """
    if not spec.attention:
        return []
    attention_texts = {comparable_text(text) for text, _ in attention_items(codebook.name)}
    given_texts = {
        text for offer in offers if (text := comparable_text(offer.text)) in attention_texts
    }
    unused = [
        item
        for item in attention_items(codebook.name)
        if comparable_text(item[0]) not in given_texts
    ]
    if not unused:
        raise UsageError(
            f"there are no shipped attention items for the codebook {codebook.name}; give 0"
        )
    wordings = [item.wording_id for item in items]
    if spec.attention > len(unused):
        raise UsageError(
            f"found {spec.attention} attention items; {len(unused)} are shipped for {codebook.name}"
        )
    selected = [unused[index] for index in rng.permutation(len(unused))[: spec.attention]]
    return [
        NewItem(
            wordings[int(rng.integers(len(wordings)))], 0, "attention", text=text, attention=label
        )
        for text, label in selected
    ]
