"""Readings of responses by rules: as answers arrive, and later by other rules.

The template of an answer determines its rule: answers with a label are read by label words, answers with a number by
the number. No rule reads free text, only people and classifiers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import cast

from stores.core.store import Store
from stores.runs.rule_readings import RuleReading
from stores.runs.run_rows import Answered, Run
from workbench import registry
from workbench.data import lexicon
from workbench.domain.prompts import FREE_TEXT, LETTER, LIKERT, Probe, Template
from workbench.domain.readings import LABEL_WORDS, ReaderCard
from workbench.domain.thinking import split
from workbench.errors import UnknownName, UsageError
from workbench.evidence.kept import Part, kept
from workbench.readers.base import Reader
from workbench.readers.choice_letter import ChoiceLetter
from workbench.readers.first_word import FirstWord
from workbench.readers.label_words import LabelWords
from workbench.readers.likert import Likert

RULES = (LABEL_WORDS, "label-words-coded")
"rules that read labels by words: ours, and the published one"


def readers() -> tuple[str, ...]:
    """Return the names of the rules that can read labels, including those of other packages."""
    return registry.names(registry.READERS, RULES)


@lru_cache(maxsize=256)
def label_reader(positive: str, negative: str, language: str, name: str, words: str = "") -> LabelWords:
    """Return the rule that reads answers to a template with these labels; `words`: the lexicon of its instrument.

    Raises UnknownName.
    """
    if name not in RULES:
        raise UnknownName(f"there is no reader {name!r}. Available: {', '.join(readers())}")
    held = lexicon(language, words)
    return LabelWords(positive, negative, held, rule="coded" if name == "label-words-coded" else "ours")


def stance_reader(template: Template) -> LabelWords:
    """Return the rule that reads free text for agreement and disagreement. Raises UnknownName."""
    pair = lexicon(template.language, template.words).stance
    return label_reader(pair.positive, pair.negative, template.language, LABEL_WORDS, template.words)


def template_reader(template: Template, name: str = LABEL_WORDS) -> Reader | None:
    """Return the rule that reads answers to a template; None for free text."""
    if template.scale == FREE_TEXT:
        return None
    if template.scale == LIKERT:
        return Likert()
    if template.scale == LETTER:
        return ChoiceLetter()
    if template.audit in registry.audits() and registry.audit(template.audit).defaults.counted is not None:
        return FirstWord(template.positive, template.negative)
    labels = template.positive, template.negative, template.language
    if (made := registry.load_added(registry.READERS, name)) is not None:
        return cast("Reader", made(*labels))
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
        """Return the number of answers without content: empty ones for free text, otherwise unreadable ones, and those
        cut off.
        """
        return self.truncated + (self.blank if free_text else self.unreadable)

    @classmethod
    def of(cls, store: Store, templates: Sequence[Template], probes: Iterable[Probe]) -> BatchReader:
        by_name = {(t.name, t.inverted): t for t in templates}
        of_prompt: dict[bytes, list[Template]] = {}
        for probe in probes:
            template = by_name[probe.template, probe.inverted]
            held = of_prompt.setdefault(probe.prompt.key, [])
            if template not in held:
                held.append(template)
        cards = {reader.card for template in templates if (reader := template_reader(template)) is not None}
        return cls({card: store.readings.reader(card) for card in cards}, of_prompt)

    def read(self, batch: Iterable[Answered]) -> list[RuleReading]:
        """Return the rules' readings of a batch of answers; thoughts before an answer are not read."""
        readings = []
        for item in batch:
            outputs = [(split(text).answer, count) for text, count in item.answers]
            self.truncated += sum(count for answer, count in outputs if answer is None)
            self.blank += sum(count for answer, count in outputs if answer is not None and not answer.strip())
            for number, template in enumerate(self.templates[item.prompt_key]):
                rule = template_reader(template)
                if rule is None:
                    continue
                for answer, count in outputs:
                    if answer is None:
                        continue
                    reading = rule.read(answer)
                    readings.append(RuleReading(answer, template.key, self.readers[rule.card], reading))
                    if reading.label is None and not number:
                        self.unreadable += count
                        self.refused += count if reading.reason == "refusal" else 0
        return readings


def read(store: Store, run: Run, name: str = LABEL_WORDS) -> tuple[int, ReaderCard]:
    """Let a rule read every answer of a run that it has not read; return its rowid and card.

    Readings are stored, so this costs one query once they are there, and none while no answer has come since.
    """
    return kept(store, ("rule reading", run, name), (Part.ANSWERS, Part.MATERIAL), lambda: _read(store, run, name))


def _read(store: Store, run: Run, name: str) -> tuple[int, ReaderCard]:
    templates = store.runs.templates(run)
    if not templates:
        raise UsageError(f"{run.label} has no answers yet; start a job first")
    rules = {t.key: rule for t in templates if (rule := template_reader(t, name)) is not None}
    if not rules:
        raise UsageError(f"{run.label} has free-text answers, which no rule reads; train a classifier, or label them")
    readers = {rule.card: store.readings.reader(rule.card) for rule in rules.values()}
    by_template = {key: readers[rule.card] for key, rule in rules.items()}
    while unread := store.readings.unread(run, by_template):
        store.readings.add([RuleReading(text, key, by_template[key], rules[key].read(text)) for key, text in unread])
    card = next(iter(readers))
    return readers[card], card
