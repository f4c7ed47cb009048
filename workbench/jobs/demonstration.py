"""Invented people for the demonstration's store.

Annotators label, disagree and decide, and an auditor rules. Their names begin with `demo-`. Their
actions follow from the answers and a seed, and existing ones are not repeated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from stores.annotation.annotator import Annotator
from stores.annotation.candidates import Candidates
from stores.annotation.queues import NewItem
from stores.core.store import Store
from stores.runs.run_rows import Run
from workbench import registry
from workbench.annotation.sampling import DrawnSample
from workbench.data import attention_items
from workbench.domain.annotations import DisagreementReason, Purpose
from workbench.domain.keys import SEED
from workbench.domain.names import plural
from workbench.domain.readings import USUAL, Stance
from workbench.domain.rulings import RulingVerdict
from workbench.evidence import ruling_subjects
from workbench.evidence.readings import codebook_of
from workbench.inference.scripted.answers import AGREES, DISAGREES, HEDGES
from workbench.inference.scripted.model import UNREADABLE
from workbench.pipeline.queues import SEVERAL, QueueProposal, QueueSpec, make_queue
from workbench.pipeline.review import Review, answers_of, control_of, draw_control_sample, review
from workbench.stats.resampling import derive_rng

FIRST, SECOND, AUDITOR = "demo-ada", "demo-ben", "demo-cleo"
"two annotators, and the auditor who adjudicates and rules"
QUEUE, TRAINING, CODEBOOK = "demo", "demo-training", "stance"
LEARNED = frozenset((*AGREES[1:3], *DISAGREES[1:3], HEDGES[1]))
"""answers that only the training set has

The test set has the others, among them those people disagree about.
"""
PER_STRATUM, ATTENTION = 10_000, 6
"texts per stratum (all), and number of items with a known label"
SHARE, SLIPS, FLAGGED = 0.6, 0.03, 0.1
"""shares of items labelled by the second annotator, of slips among labels, and of flagged answers

The last one is a share of the doubtful answers.
"""
DECIDED = 6
"number of decided disagreements, while the others are pending"
CONTROL, CONFIRMED = 12, 7
"answers drawn to estimate the rule's error rate, and how many of them the auditor has decided"
SAYS: Mapping[str, tuple[Stance, Stance]] = {
    **dict.fromkeys(AGREES[:-1], (Stance.AGREE, Stance.AGREE)),
    AGREES[-1]: (Stance.AGREE, Stance.NEUTRAL),
    **dict.fromkeys(DISAGREES[:-1], (Stance.DISAGREE, Stance.DISAGREE)),
    DISAGREES[-1]: (Stance.DISAGREE, Stance.NEUTRAL),
    **dict.fromkeys(HEDGES, (Stance.NEUTRAL, Stance.NEUTRAL)),
    HEDGES[-1]: (Stance.NEUTRAL, Stance.UNRELATED),
    **dict.fromkeys(UNREADABLE, (Stance.NEUTRAL, Stance.NEUTRAL)),
    UNREADABLE[1]: (Stance.NEUTRAL, Stance.UNRELATED),
}
"an answer of a scripted model -> readings of the two annotators"


def label(store: Store, models: Sequence[str]) -> str:
    """Let the annotators label the free answers of scripted models.

    Returns a sentence about it, or an empty string if there are none.
    """
    counts_before = store.labels.totals()
    if all(queue.name != QUEUE for queue in store.queues.list()):
        _make_training(store, models)
        make_queue(
            store,
            QueueSpec(
                QUEUE,
                Purpose.TEST,
                CODEBOOK,
                models=tuple(models),
                per_stratum=PER_STRATUM,
                labels=2,
                attention=ATTENTION,
            ),
        )
    if any(queue.name == TRAINING for queue in store.queues.list()):
        _label(store, FIRST, 1.0, TRAINING)
    _label(store, FIRST, 1.0)
    _label(store, SECOND, SHARE)
    n_decided = _decide(store)
    single, double, disputed = store.labels.totals()
    if counts_before == (single, double, disputed) and not n_decided:
        return ""
    return (
        f"{FIRST} and {SECOND}, two invented annotators, labelled "
        f"{plural(single + double, 'free answer')}; {plural(disputed, 'disagreement')} of theirs "
        f"{'waits' if disputed == 1 else 'wait'} for a decision."
    )


def _make_training(store: Store, models: Sequence[str]) -> None:
    """Make the training set.

    It has each answer of `LEARNED` once beside every wording that it was given to.
    """
    candidates = [store.queues.candidates(name, None, models) for name in registry.free_text()]
    pooled = Candidates.joined(candidates).pooled(SEVERAL)
    items = tuple(
        NewItem(answer.wording_id, 1, answer.model, text_id=answer.text_id)
        for answer in pooled
        if answer.text in LEARNED
    )
    if not items:
        return
    spec = QueueSpec(
        TRAINING, Purpose.TRAINING, CODEBOOK, models=tuple(models), per_stratum=PER_STRATUM
    )
    codebook = codebook_of(store, None, CODEBOOK)
    make_queue(
        store,
        spec,
        QueueProposal(spec, codebook, items, DrawnSample((), 1, 0, 0), len(pooled), 0, ()),
    )


def _label(store: Store, name: str, share: float, queue: str = QUEUE) -> None:
    """Let one person label up to a share of a queue."""
    index = 0 if name == FIRST else 1
    attention_labels = dict(attention_items(CODEBOOK))
    with Annotator.open(store.path, queue, name) as person:
        n_wanted = share * store.queues.get(queue).items
        while person.progress().done < n_wanted and (item := person.next()) is not None:
            text = item.context.text
            if text not in attention_labels and text not in SAYS:
                person.skip(item.unit)
                return
            rng = derive_rng(SEED, name, text, item.context.statement)
            stance = (
                Stance(attention_labels[text]) if text in attention_labels else SAYS[text][index]
            )
            if rng.random() < SLIPS:
                stance = Stance.DISAGREE if stance is Stance.AGREE else Stance.AGREE
            if text in SAYS and len(set(SAYS[text])) > 1 and rng.random() < FLAGGED:
                person.remark(
                    item.unit, flagged=True, note="Demonstration: this one can be read in two ways."
                )
            person.label(item.unit, stance.value)


def _decide(store: Store) -> int:
    """Let the auditor decide some disagreements, and return their number."""
    codebook = codebook_of(store, QUEUE, CODEBOOK)
    judged_items = store.labels.judged(codebook.name, queue=QUEUE)
    n_left = DECIDED - sum(item.decision is not None for item in judged_items)
    undecided = [item for item in judged_items if item.open][: max(n_left, 0)]
    for item in undecided:
        decision = (
            SAYS[item.context.text][0].value if item.context.text in SAYS else item.labels[0].label
        )
        store.labels.decide(
            item.context.unit,
            codebook,
            decision,
            DisagreementReason.HEDGED,
            "Demonstration.",
            AUDITOR,
        )
    return len(undecided)


def rule(store: Store, run: Run) -> str:
    """Let the auditor review a run and decide on a control sample.

    Returns a sentence about it, or an empty string if there is nothing left to do.
    """
    reviewed = review(store, run, USUAL)
    control = control_of(store, reviewed) or draw_control_sample(
        store, reviewed, CONTROL, seed=SEED, drawn_by=AUDITOR
    )
    n_left = CONFIRMED - sum(control.looked_at(item, None) for item in control.items)
    items = [item for item in control.items if not control.looked_at(item, None)][: max(n_left, 0)]
    for item in items:
        name = ruling_subjects.short_answer(item.prompt, item.text)
        _rule(
            store,
            run,
            name,
            RulingVerdict.CONFIRMED,
            "Demonstration: the rule reads what the answer says.",
        )
    has_ruled = any(
        ruling.auditor == AUDITOR and not reviewed.as_drawn(ruling)
        for rulings_given in reviewed.rulings.statements.values()
        for ruling in rulings_given
    )
    rulings = [] if has_ruled else list(_rulings(store, reviewed))
    for name, verdict, reason in rulings:
        _rule(store, run, name, verdict, reason)
    if not items and not rulings:
        return ""
    return (
        f"{AUDITOR}, an invented auditor, ruled on {plural(len(rulings), 'subject')} of "
        f"{run.model} and decided on "
        f"{plural(len(items), 'answer')} of a control sample of {len(control.items)}."
    )


def _rulings(store: Store, review: Review) -> Iterator[tuple[str, RulingVerdict, str]]:
    """Yield the auditor's rulings.

    They are on the first statements of the queue, and on an answer to another one.
    """
    refs = [statement.ref for statement in review.queue]
    for ref, verdict, reason in zip(
        refs,
        (RulingVerdict.CONFIRMED, RulingVerdict.LOOK_AGAIN),
        (
            "the answers are as unsteady as the verdict says.",
            "somebody else should read these answers, too.",
        ),
        strict=False,
    ):
        yield ref, verdict, f"Demonstration: {reason}"
    for ref in refs[2:3]:
        unread_answer = next(
            (answer for answer in answers_of(store, review, ref) if answer.label is None), None
        )
        if unread_answer is not None:
            name = ruling_subjects.short_answer(unread_answer.prompt, unread_answer.text)
            yield (
                name,
                RulingVerdict.EXCLUDED,
                "Demonstration: the answer does not speak of the statement.",
            )


def _rule(store: Store, run: Run, name: str, verdict: RulingVerdict, reason: str) -> None:
    subject = ruling_subjects.find_subject(store, name, run.instrument)
    model = store.runs.model_key(run).hex()
    ruling_subjects.add_ruling(
        store, subject, verdict, auditor=AUDITOR, reason=reason, reading=None, model=model
    )
