"""Rows of answers, and of their readings."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import NamedTuple

from stores.core.store import Store
from stores.runs.data_rows import Cell, Given, Read
from workbench import registry
from workbench.domain.instruments import with_words
from workbench.domain.personas import AXIS
from workbench.domain.readings import ReaderKind
from workbench.domain.thinking import split
from workbench.errors import WorkbenchError
from workbench.evidence.rule_reading import template_reader
from workbench.tidy.choice import Choice, People
from workbench.tidy.columns import (
    ANSWER_KEY,
    CELL,
    DRAW,
    MODEL,
    MODEL_KEY,
    OUTPUT,
    PROMPT_KEY,
    READING,
    SAMPLING,
    Field,
    Row,
    Rows,
    Type,
    truth,
    whole,
)
from workbench.tidy.verdicts import overall
from workbench.tidy.write import HELD

Card = tuple[str, str, str]
"(kind, name, version) of a reader"


class Place(NamedTuple):
    """An answer in one cell of a design."""

    given: Given
    cell: Cell
    about: Row
    "values of `CELL`, `MODEL` and `SAMPLING`"
    read: tuple[Read, ...]


class Answers:
    """The chosen answers, each in every cell of a design with its prompt."""

    def __init__(self, store: Store, choice: Choice):
        self._store = store
        self._people = People(store, names=choice.names)
        self._models = choice.chosen(store)
        self._stands_before = store.runs.persona_names()
        self._cells = store.data_rows.cells(choice.audits, choice.instruments)
        self._standing = store.data_rows.standing()
        names = [field.name if field.name != "model" else "name" for field in MODEL]
        models = store.data_rows.models()
        self._of_model = {at: tuple(row[name] or None for name in names) for at, row in models.items()}
        names = ["mode", *(field.name for field in SAMPLING[1:])]
        samplings = store.data_rows.samplings()
        self._of_sampling = {at: tuple(_none(row[name]) for name in names) for at, row in samplings.items()}
        self.model_keys = {at: row["key"].hex() for at, row in models.items()}
        self._of_cell: dict[int, Row] = {}
        self._of_read: dict[tuple[Read, ...], tuple[Row, ...]] = {}

    def __iter__(self) -> Iterator[Place]:
        for given in self._store.data_rows.given(self._models):
            of_draw = (*self._of_model[given.model], *self._of_sampling[given.sampling])
            for cell in self._cells.get(given.prompt, ()):
                if (of_cell := self._of_cell.get(cell.probe)) is None:
                    of_cell = self._of_cell[cell.probe] = self._cell(cell)
                read = () if given.answer is None else self._standing.of(given.answer, cell)
                yield Place(given, cell, (*of_cell, *of_draw), read)

    def _cell(self, cell: Cell) -> Row:
        persona, factors = self._people.axes(cell.axes)
        return (
            cell.audit, cell.instrument, cell.statement, cell.statement_version, cell.statement_current, cell.country,
            cell.topic, cell.dimension, cell.leaning, cell.language, cell.variant, cell.wording, cell.family,
            cell.template, cell.template_version, cell.order, persona, self._stands_before.get(cell.axes.get(AXIS, "")),
            json.dumps(factors, sort_keys=True, ensure_ascii=False),
        )  # fmt: skip

    def readings(self, of: tuple[Read, ...]) -> tuple[Row, ...]:
        """Return the values of several readings, cached because most answers share them."""
        if of not in self._of_read:
            if len(self._of_read) >= HELD:
                self._of_read.clear()
            self._of_read[of] = tuple(map(self.reading, of))
        return self._of_read[of]

    def reading(self, of: Read) -> Row:
        """Return the values of `READING`."""
        name = self._people.reader(of.reader_kind, of.reader)
        return (of.reader_kind, name, of.reader_version or None, of.codebook, of.label, of.reason, of.confidence)


def _none(value: object) -> object:
    return None if value == "" else value


def _usual(store: Store) -> tuple[Callable[[Cell], Card | None], Card | None]:
    """Return the default readers of answers: the rule of a cell's template, with the lexicon of its instrument, and the
    classifier of free text.
    """
    templates, brought = store.data_rows.templates(), store.data_rows.lexicons()
    known: dict[tuple[int, str], Card | None] = {}

    def cards(cell: Cell) -> Card | None:
        at = cell.template_id, cell.instrument
        if at not in known:
            [template] = with_words([templates[cell.template_id]], brought.get(cell.instrument, ()))
            rule = template_reader(template)
            known[at] = None if rule is None else _card(rule.card.kind, rule.card.name, rule.card.version)
        return known[at]

    try:
        newest = store.classifiers.get(None)
    except WorkbenchError:
        return cards, None
    return cards, _card(ReaderKind.CLASSIFIER, newest.name, newest.version)


def _card(kind: ReaderKind, name: str, version: str) -> Card:
    return kind.value, name, version


def read_answers(store: Store, choice: Choice) -> Iterator[Row]:
    """Yield the rows of answers."""
    verdicts = overall(store, choice)
    rules, classifier = _usual(store)
    free_text = registry.free_text()
    answers = Answers(store, choice)
    for given, cell, about, read in answers:
        output = split(given.text)
        usual = classifier if cell.audit in free_text else rules(cell)
        label, reader = next(((one.label, one.reader) for one in read if one[:3] == usual), (None, None))
        row = (
            *about, given.draw, given.seed, given.fingerprint or None, given.job, given.at,
            1 if choice.expand else given.n, output.answer, output.thinking or None, output.answer is None, label,
            reader, answers.readings(read),
            verdicts.get((cell.probe, given.model, given.sampling)), given.output, cell.prompt_key, given.key,
            answers.model_keys[given.model],
        )  # fmt: skip
        for _ in range(given.n if choice.expand else 1):
            yield row


def read_readings(store: Store, choice: Choice) -> Iterator[Row]:
    """Yield one row per answer and reader."""
    answers = Answers(store, choice)
    for given, cell, about, read in answers:
        for one in read:
            row = (
                *about, given.draw, given.seed, given.fingerprint or None, given.job, given.at,
                1 if choice.expand else given.n, split(given.text).answer, *answers.reading(one), one.at,
                given.output, cell.prompt_key, given.key, answers.model_keys[given.model],
            )  # fmt: skip
            for _ in range(given.n if choice.expand else 1):
                yield row


COUNT = whole("count", "how often the draw gave this answer; 1 in each row where rows were expanded")
TEXT = Field("text", "the answer, without what was thought before it", empty="the output ends within its thought")
ANSWERS = Rows(
    "answers",
    "Answers",
    "One row for each distinct answer of each draw (expanded: one for each answer), in each cell of a design that has "
    "its prompt.",
    (
        *CELL,
        *MODEL,
        *SAMPLING,
        *DRAW,
        COUNT,
        TEXT,
        Field("thinking", "what was thought before the answer; nothing reads it", empty="no thought was shown"),
        truth("truncated", "whether the output ends within its thought, so that there is no answer"),
        Field(
            "label",
            "what the usual reader read: the rule of the template; of free text the newest classifier",
            empty="unreadable or refused; or nobody has read it, and reader is empty too",
        ),
        Field("reader", "who read label", empty="the usual reader has not read it"),
        Field("readings", "every reading of the answer that stands, with its reader", Type.RECORDS, parts=READING),
        Field(
            "verdict",
            "verdict on the statement under this template over all tests, with the audit's usual options: pass, fail, "
            "insufficient, void",
            empty="the audit has no verdicts on statements, or the answer is in no result (another version is)",
        ),
        OUTPUT,
        PROMPT_KEY,
        ANSWER_KEY,
        MODEL_KEY,
    ),
    read_answers,
    notes=(
        "An answer whose prompt stands in several cells of a design, as where an edit left a wording untouched, has a "
        "row in each. statement_current keeps those of statements as they are now; draw_id and output_id tell "
        "answers apart.",
        "Auditors' rulings are rows of their own: they name prompts, answers and models by prompt_key, answer_key and "
        "model_key. Verdicts count them.",
    ),
)
READINGS = Rows(
    "readings",
    "Readings",
    "One row for each answer and each reader whose reading of it stands.",
    (
        *CELL,
        *MODEL,
        *SAMPLING,
        *DRAW,
        COUNT,
        TEXT,
        *READING,
        Field("read_at", "when it was read (UTC, ISO 8601)"),
        OUTPUT,
        PROMPT_KEY,
        ANSWER_KEY,
        MODEL_KEY,
    ),
    read_readings,
    notes=("Labels that people changed are kept as events: those are rows of labels.",),
)
