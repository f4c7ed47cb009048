"""The readers of answers: rules, classifiers and people, with the labels that people settled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import cast

from stores.annotation.labels import Classifier, JudgedItem, anonymous, item_labels
from stores.core.contents import StoreSection, cached_result
from stores.core.store import Store, at_once
from stores.runs.readings import RuleReading
from stores.runs.run_rows import Answered, Run
from workbench import entry_points
from workbench.annotation.agreement import agreement_report
from workbench.annotation.agreement_tables import LabelledItem, QueueAgreement
from workbench.classifier.dataset import Example
from workbench.data import lexicon, shipped_codebook
from workbench.domain.annotations import Codebook, Purpose
from workbench.domain.keys import SEED
from workbench.domain.prompts import FREE, LETTER, LIKERT, Probe, Template
from workbench.domain.readings import (
    LABEL_WORDS,
    PEOPLE,
    ReaderCard,
    ReaderKind,
    ReadingChoice,
    free_text,
    nature,
)
from workbench.domain.responses import EXACT
from workbench.domain.thinking import split
from workbench.errors import UnknownName, UsageError
from workbench.evidence.rulings import (
    NO_RULINGS,
    SAME,
    DifferingFigures,
    RulingNotes,
    RunRulings,
    ruled_statements,
    rulings_of_run,
)
from workbench.readers.label_words import LabelWords
from workbench.readers.rules import ChoiceLetter, FirstWord, Likert, Reader


def free_text_runs(store: Store) -> tuple[Run, ...]:
    """Return the runs of all audits with free-text answers, the newest of each audit last."""
    return tuple(run for audit in free_text() for run in store.runs.list(audit, personas=True))


def free_text_models(store: Store) -> tuple[str, ...]:
    """Return the names of the models that answered in free text."""
    return tuple(sorted({run.model for run in free_text_runs(store)}))


def how_to_ask() -> str:
    """Return the command that asks a model for such answers."""
    return f"Ask a model first: workbench run STORE --audit {free_text()[0]} --model NAME"


HALVES = {
    "dimension": {
        "economic-left": "economic",
        "economic-right": "economic",
        "cultural-left": "cultural",
        "cultural-right": "cultural",
        "none": None,
    },
    "leaning": {
        "economic-left": "left",
        "cultural-left": "left",
        "economic-right": "right",
        "cultural-right": "right",
        "none": None,
    },
}
"the two conditions that one label of the codebook `side` answers together"


STANCE_CODEBOOK = "stance"
"the codebook by which people read free answers"


def codebook_of(store: Store, queue: str | None, name: str) -> Codebook:
    """Return the codebook of a queue or, without a queue, that of a name.

    It is as the store has it, or else as it ships.
    """
    return (
        store.queues.get(queue).codebook
        if queue
        else store.codebooks.chosen(name) or shipped_codebook(name)
    )


def queue_agreement(
    store: Store, queue: str, *, seed: int = SEED, resamples: int = 1000
) -> QueueAgreement:
    """Return the agreement of a queue's annotators, with the items that they labelled."""
    return agreement_of(queue_labels(store, queue), seed=seed, resamples=resamples)


@dataclass(frozen=True, slots=True)
class QueueLabels:
    """People's labels in a queue, the basis of its agreement."""

    queue: str
    codebook: Codebook
    judged: tuple[JudgedItem, ...]
    attention: tuple[tuple[str, int, int], ...]
    "(annotator, correct, answered) for items with a known label"


@at_once
def queue_labels(store: Store, queue: str) -> QueueLabels:
    """Return people's labels in a queue. Raises UnknownName."""
    book = store.queues.get(queue).codebook
    return QueueLabels(
        queue, book, store.labels.judged(book.name, queue=queue), store.labels.attention(queue)
    )


def agreement_of(labels: QueueLabels, *, seed: int = SEED, resamples: int = 1000) -> QueueAgreement:
    """Return the agreement of the annotators of a queue. It takes a second or two."""
    report = agreement_report(
        item_labels(labels.judged), labels.codebook, seed=seed, resamples=resamples
    )
    items = {item.context.unit: _labelled(item) for item in labels.judged}
    return QueueAgreement(
        labels.queue,
        report,
        items,
        labels.attention,
        mixed=mixed_versions_note(versions(labels.judged)),
    )


def _labelled(item: JudgedItem) -> LabelledItem:
    context, decision = item.context, item.decision
    decision_text = f"{decision.label} ({decision.reason})" if decision else ""
    return LabelledItem(
        context.ref,
        context.variant,
        context.statement,
        context.text,
        tuple(
            (letter, given_label.label, given_label.note, given_label.flagged)
            for letter, given_label in anonymous(item)
        ),
        item.gold,
        f"{decision_text}, reopened by labels that came after it"
        if decision and item.open
        else decision_text,
    )


@dataclass(frozen=True, slots=True)
class Disputed:
    """An item on which people disagree, without a decision."""

    example: Example
    "its label is the first one given"
    given: tuple[str, ...]
    "the different labels"


@at_once
def gold_labels(
    store: Store, codebook: str, queues: Sequence[str], purpose: Purpose
) -> tuple[list[Example], list[Disputed]]:
    """Return the settled labels of these queues, and the unsettled items.

    Without queues, they are those of all queues of that purpose.

    An item counts once. Its label is a current adjudication, or the label that all people gave.
    """
    items = _judged(store, codebook, queues, purpose)
    examples = [
        _example(item, label) for item in items.values() if (label := item.gold) is not None
    ]
    unsettled = [
        (item, tuple(sorted({given_label.label for given_label in item.labels})))
        for item in items.values()
        if item.gold is None
    ]
    return examples, [Disputed(_example(item, labels[0]), labels) for item, labels in unsettled]


def versions(judged: Iterable[JudgedItem]) -> dict[int, int]:
    """Return the number of labels under each version of the codebook."""
    return dict(
        sorted(
            Counter(given_label.version for item in judged for given_label in item.labels).items()
        )
    )


def mixed_versions_note(n_by_version: Mapping[int, int]) -> str:
    """Return a note that labels of several versions of a codebook count together.

    It is empty for one version.
    """
    if len(n_by_version) < 2:
        return ""
    counts = ", ".join(
        f"{count:,} under version {number}" for number, count in n_by_version.items()
    )
    return f"Labels given under {len(n_by_version)} versions of the codebook are mixed: {counts}."


def labels_of(
    store: Store, codebook: str, queues: Sequence[str], purpose: Purpose
) -> tuple[JudgedItem, ...]:
    """Return the labelled items of these queues (empty: all of that purpose), each once."""
    return tuple(_judged(store, codebook, queues, purpose).values())


def _judged(
    store: Store, codebook: str, queues: Sequence[str], purpose: Purpose
) -> dict[int, JudgedItem]:
    item_by_unit: dict[int, JudgedItem] = {}
    for queue in queues or [
        purpose_queue.name
        for purpose_queue in store.queues.list(purpose)
        if purpose_queue.codebook.name == codebook
    ]:
        for item in store.labels.judged(codebook, queue=queue):
            item_by_unit.setdefault(item.context.unit, item)
    return item_by_unit


def settled_labels(store: Store, codebook: str = STANCE_CODEBOOK) -> dict[int, str]:
    """Return the label of every settled item, by unit."""
    return {
        item.context.unit: label
        for item in store.labels.judged(codebook)
        if (label := item.gold) is not None
    }


SINGLE, SEVERAL, DECIDED = "one person", "several who agree", "adjudicated"


def settled_by(store: Store, codebook: str = STANCE_CODEBOOK) -> dict[int, str]:
    """Return the way in which every settled item was settled, by unit.

    That is one label, equal labels, or an adjudication.
    """
    return {
        item.context.unit: DECIDED
        if item.decision is not None
        else SINGLE
        if len(item.labels) == 1
        else SEVERAL
        for item in store.labels.judged(codebook)
        if item.gold is not None
    }


def _example(item: JudgedItem, label: str) -> Example:
    return Example(
        item=item.context.unit,
        text=item.context.text,
        statement_ref=f"{item.context.instrument}/{item.context.ref}",
        statement=item.context.statement,
        label=label,
    )


RULES = (LABEL_WORDS, "label-words-coded")
"rules that read labels by words: ours, and the published one"


def readers() -> tuple[str, ...]:
    """Return the names of the rules that can read labels, including those of other packages."""
    return entry_points.names(entry_points.READERS, RULES)


@lru_cache(maxsize=256)
def label_reader(
    positive: str, negative: str, language: str, name: str, words: str = ""
) -> LabelWords:
    """Return the rule for answers to a template with these labels.

    `words` is the instrument's lexicon. Raises UnknownName.
    """
    if name not in RULES:
        raise UnknownName(f"there is no reader {name!r}. Available: {', '.join(readers())}")
    label_lexicon = lexicon(language, words)
    return LabelWords(
        positive, negative, label_lexicon, rule="coded" if name == "label-words-coded" else "ours"
    )


def stance_reader(template: Template) -> LabelWords:
    """Return the rule that reads free text for agreement and disagreement. Raises UnknownName."""
    pair = lexicon(template.language, template.words).stance
    return label_reader(
        pair.positive, pair.negative, template.language, LABEL_WORDS, template.words
    )


def template_reader(template: Template, name: str = LABEL_WORDS) -> Reader | None:
    """Return the rule for answers to a template, or None for free text."""
    if template.scale in FREE:
        return None
    if template.scale == LIKERT:
        return Likert()
    if template.scale == LETTER:
        return ChoiceLetter()
    if template.audit in entry_points.audits() and nature(template.audit).first_word:
        return FirstWord(template.positive, template.negative)
    labels = template.positive, template.negative, template.language
    if (make_reader := entry_points.load_added(entry_points.READERS, name)) is not None:
        return cast("Reader", make_reader(*labels))
    return label_reader(*labels, name, template.words)


@dataclass(slots=True)
class BatchReader:
    """Reads answers as they arrive, so that progress can show how many are readable."""

    readers: dict[ReaderCard, int]
    templates: dict[bytes, list[Template]]
    "prompt key -> its templates, which have the same labels"
    unreadable: int = 0
    "answers that the rule of their template could not read; free text does not count"
    refused: int = 0
    truncated: int = 0
    "answers that were cut off in thought"
    blank: int = 0
    "answers that are empty"

    def silent(self, *, free_text: bool) -> int:
        """Return the number of answers without content.

        These are empty ones for free text, otherwise unreadable ones, and those cut off.
        """
        return self.truncated + (self.blank if free_text else self.unreadable)

    @classmethod
    def for_probes(
        cls, store: Store, templates: Sequence[Template], probes: Iterable[Probe]
    ) -> BatchReader:
        by_name = {(template.name, template.inverted): template for template in templates}
        templates_by_prompt: dict[bytes, list[Template]] = {}
        for probe in probes:
            template = by_name[probe.template, probe.inverted]
            prompt_templates = templates_by_prompt.setdefault(probe.prompt.key, [])
            if template not in prompt_templates:
                prompt_templates.append(template)
        cards = {
            reader.card
            for template in templates
            if (reader := template_reader(template)) is not None
        }
        return cls({card: store.readings.reader(card) for card in cards}, templates_by_prompt)

    def read(self, batch: Iterable[Answered]) -> list[RuleReading]:
        """Return the rules' readings of a batch of answers, leaving thoughts before them unread."""
        readings = []
        for item in batch:
            outputs = [(split(text).answer, count) for text, count in item.answers]
            self.truncated += sum(count for answer, count in outputs if answer is None)
            self.blank += sum(
                count for answer, count in outputs if answer is not None and not answer.strip()
            )
            for number, template in enumerate(self.templates[item.prompt_key]):
                rule = template_reader(template)
                if rule is None:
                    continue
                for answer, count in outputs:
                    if answer is None:
                        continue
                    reading = rule.read(answer)
                    readings.append(
                        RuleReading(answer, template.key, self.readers[rule.card], reading)
                    )
                    if reading.label is None and not number:
                        self.unreadable += count
                        self.refused += count if reading.reason == "refusal" else 0
        return readings


def read(store: Store, run: Run, name: str = LABEL_WORDS) -> tuple[int, ReaderCard]:
    """Let a rule read the unread answers of a run. Return the rule's rowid and card.

    Readings are stored, so this costs one query once they are there, and none while no answer has
    come since.
    """
    return cached_result(
        store,
        ("rule reading", run, name),
        (StoreSection.ANSWERS, StoreSection.MATERIAL),
        lambda: _read(store, run, name),
    )


def _read(store: Store, run: Run, name: str) -> tuple[int, ReaderCard]:
    templates = store.runs.templates(run)
    if not templates:
        raise UsageError(f"{run.label} has no answers yet; start a job first")
    rules = {
        template.key: rule
        for template in templates
        if (rule := template_reader(template, name)) is not None
    }
    if not rules:
        raise UsageError(
            f"{run.label} has free-text answers, which no rule reads; train a classifier, or "
            "label them"
        )
    rowid_by_card = {rule.card: store.readings.reader(rule.card) for rule in rules.values()}
    by_template = {key: rowid_by_card[rule.card] for key, rule in rules.items()}
    for batch in store.readings.unread(run, by_template):
        store.readings.add(
            (answer, template, by_template[key], rules[key].read(text))
            for answer, template, key, text in batch
        )
    card = next(iter(rowid_by_card))
    return rowid_by_card[card], card


@dataclass(frozen=True, eq=False, slots=True)
class ReadingSource:
    """The readers of some runs' answers."""

    card: ReaderCard | None
    "None: people's settled labels, or computed probabilities, which need no reader"
    reader: int | None
    "rowid of the rule or classifier in the store"
    classifier: Classifier | None = None
    people: Mapping[int, str] | None = None
    "unit -> settled label, if only people's labels count"
    ruled: Mapping[Run, RunRulings] = field(default_factory=dict)
    "effects of rulings in each run; empty if they do not count"
    would: Mapping[Run, RunRulings] = field(default_factory=dict)
    "effects of rulings if they counted"

    @property
    def name(self) -> str:
        """The name of the reader."""
        return self.card.name if self.card is not None else PEOPLE

    def rulings(self, run: Run) -> RunRulings:
        """Return the changes that rulings make in a run."""
        return self.ruled.get(run, NO_RULINGS)

    @property
    def changed(self) -> bool:
        """Whether rulings change anything."""
        return any(run_rulings.counting for run_rulings in self.ruled.values())

    @property
    def without(self) -> ReadingSource:
        """The same readings without rulings."""
        return replace(self, ruled={})

    @property
    def as_given(self) -> ReadingSource:
        """The same readings without exclusions, by `RunRulings.as_given`."""
        return replace(
            self, ruled={run: run_rulings.as_given for run, run_rulings in self.ruled.items()}
        )

    def touched(self, figure: str) -> DifferingFigures:
        """Return the statements, called `figure`, that rulings change.

        Their number is summed over runs.
        """
        return ruled_statements(self.ruled.values(), figure)

    def ruling_notes(self, differ: DifferingFigures = SAME) -> RulingNotes:
        """Return the notes on rulings.

        `differ` has the figures that differ without rulings.
        """
        return RulingNotes.from_runs(
            self.would.values(), counted=self.ruled is self.would, differ=differ
        )


def source_of(store: Store, runs: Sequence[Run], readings: ReadingChoice) -> ReadingSource:
    """Return the reader of the answers of an audit's runs, and the effects of rulings in them."""
    if not runs:
        return ReadingSource(None, None)
    source = _reader_of(store, runs, readings)
    would = {run: rulings_of_run(store, run, source.card) for run in runs}
    return replace(source, ruled=would if readings.rulings else {}, would=would)


def _reader_of(store: Store, runs: Sequence[Run], readings: ReadingChoice) -> ReadingSource:
    """Return the reader of the answers of an audit's runs, after rules have read every answer.

    `runs`: at least one. Raises UnknownName for an unknown rule or classifier, UsageError if there
    are no labels, or a run has no answers yet.
    """
    audit = nature(runs[0].audit)
    if audit.free_text:
        is_people_alone = readings.by is None and not store.classifiers.list()
        if readings.by == PEOPLE or is_people_alone:
            people = settled_labels(store)
            if is_people_alone and not people:
                store.classifiers.get()  # raises, saying how to train one
            if not people:
                raise UsageError("no answers have labels yet; label some, or train a classifier")
            return ReadingSource(None, None, people=people)
        classifier = store.classifiers.get(readings.by)
        card = ReaderCard(ReaderKind.CLASSIFIER, classifier.name, classifier.version)
        return ReadingSource(card, classifier.reader, classifier)
    if not audit.by_rule and readings.by is not None:
        raise UsageError(
            f"answers to {runs[0].audit} are read by only one rule; found the reader "
            f"{readings.by!r}"
        )
    sampled = [
        run for run in runs if run.sampling.mode != EXACT and (audit.by_rule or run.responses)
    ]
    rules_read = [read(store, run, readings.rule) for run in sampled]
    return (
        ReadingSource(rules_read[0][1], rules_read[0][0])
        if rules_read
        else ReadingSource(None, None)
    )
