"""Rows of answers, and of their readings: made by columns, as most values recur."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stores.core.store import Store
from stores.runs.data_rows import Cell, Draw, Reading, Responses
from workbench import registry
from workbench.domain.choices import LETTERS
from workbench.domain.instruments import with_words
from workbench.domain.prompts import AXIS
from workbench.domain.readings import ReaderKind
from workbench.domain.responses import IMPORTED, known_origin, known_parameter
from workbench.domain.thinking import split
from workbench.errors import WorkbenchError
from workbench.evidence.letters import OPTIONS
from workbench.evidence.readings import STANCE_CODEBOOK, template_reader
from workbench.options.shared import THRESHOLD
from workbench.readers import label_words
from workbench.readers import rules as first_word
from workbench.readers import rules as likert
from workbench.tidy.columns import (
    ANSWER_KEY,
    BY_PEOPLE,
    CELL,
    DRAW,
    MODEL,
    MODEL_KEY,
    NO_LABEL,
    OUTPUT,
    PROMPT_KEY,
    READING,
    SAMPLING,
    Batch,
    Choice,
    Coded,
    Field,
    People,
    Row,
    Rows,
    Type,
    cell_values,
    model_values,
    time,
    truth,
    whole,
)
from workbench.tidy.figures import overall

HELD = 100_000
"distinct readings that are held"
DRAWS = 1024
"draws whose answers are in memory together"
AMBIGUOUS = frozenset({label_words.NO_CHOICE, label_words.BOTH, first_word.BOTH, likert.SEVERAL})
"reasons of rules that found several labels, or numbers"
CUT_OFF, UNREAD, NOT_OFFERED, UNCERTAIN = "cut off", "unread", "not offered", "uncertain"
NOT_READ: Row = (None, None, None, None, None, UNREAD, None, None)
"values of `READING` of an answer that the usual reader has not read"
READING_LABEL = 4
"place of the label in the values of `READING`; the word for it follows"
UNKNOWN_END = 2
"place of the value of `truncated` that says nothing"

Card = tuple[str, str, str]
"(kind, name, version) of a reader"
Ints = NDArray[np.int64]


def in_a_word(kind: str, label: str | None, reason: str) -> str:
    """Return a reading's label, or why it has none."""
    if label is not None:
        return label
    if kind not in (ReaderKind.RULE, ReaderKind.CLASSIFIER):
        return "withdrawn"
    if reason == label_words.REFUSAL:
        return "refused"
    if reason == label_words.NO_TEXT:
        return "empty"
    return "ambiguous" if reason in AMBIGUOUS else "unreadable"


@dataclass(frozen=True, slots=True)
class Part:
    """Some answers, each in every cell of a design with its prompt. All arrays have a place for
    each of these.
    """

    columns: Sequence[Coded]
    "those of `CELL`, `MODEL` and `SAMPLING`"
    draws: Sequence[Draw]
    draw: Ints
    "place in `draws`"
    cell: Ints
    "place in `Answers.cells`"
    count: Ints
    outputs: Sequence[tuple[int, str | None, str | None, str | None]]
    "(rowid, answer, thought, key) of distinct texts"
    output: Ints
    "place in `outputs`"
    readings: Sequence[tuple[Reading, ...]]
    "distinct answers' readings in the cells that share them"
    reading: Ints
    "place in `readings`"

    def of_draw(self) -> list[Any]:
        """Return the columns of `DRAW`."""
        made = ((one.id, one.seed, one.fingerprint or None, one.job, one.at) for one in self.draws)
        return [Coded(values, self.draw) for values in zip(*made, strict=True)]

    def at(self, rows: Ints) -> Part:
        """Return the answers at these places."""
        columns = [Coded(one.values, one.codes[rows]) for one in self.columns]
        return Part(
            columns,
            self.draws,
            self.draw[rows],
            self.cell[rows],
            self.count[rows],
            self.outputs,
            self.output[rows],
            self.readings,
            self.reading[rows],
        )


class Answers:
    """The chosen answers, by columns."""

    def __init__(self, store: Store, choice: Choice):
        self._store, self._expand = store, choice.expand
        self._people = People(store, names=choice.names)
        self._models = choice.chosen(store)
        by_prompt = store.data_rows.cells(choice.audits, choice.instruments)
        self._prompts = np.array(sorted(by_prompt), dtype=np.int64)
        self._cells = np.array(
            [len(by_prompt[prompt]) for prompt in self._prompts.tolist()], dtype=np.int64
        )
        self._first = np.cumsum(self._cells) - self._cells
        self.cells = [cell for prompt in self._prompts.tolist() for cell in by_prompt[prompt]]
        personas = store.runs.persona_names()
        rows = [
            cell_values(cell, self._people, personas.get(cell.axes.get(AXIS, "")))
            for cell in self.cells
        ]
        self._of_cell = _columns(rows, CELL)
        models, samplings = store.data_rows.models(), store.data_rows.samplings()
        self._of_model = _columns([*map(model_values, models.values())], MODEL)
        names = ["mode", *(field.name for field in SAMPLING[1:])]
        self._of_sampling = _columns(
            [
                tuple(_none(known_parameter(row, name)) for name in names)
                for row in samplings.values()
            ],
            SAMPLING,
        )
        self._names = {at: row["name"] for at, row in models.items()}
        self.imported = frozenset(
            at for at, row in models.items() if row["backend"] == IMPORTED.rstrip(":")
        )
        self._model_places, self._sampling_places = _places(models), _places(samplings)
        self.model_keys = [row["key"].hex() for row in models.values()]
        self.prompt_keys = [cell.prompt_key for cell in self.cells]
        sides: dict[tuple[int, int], int] = {}
        beside = [
            sides.setdefault((one.template_id, one.wording_id), len(sides)) for one in self.cells
        ]
        self._sides, self._beside = [*sides], np.array(beside, dtype=np.int64)
        self._read: dict[Row, Row] = {}

    def __iter__(self) -> Iterator[Part]:
        for draws, responses in self._store.data_rows.given(self._models, DRAWS):
            if (part := self._part(draws, responses)) is not None:
                yield part

    def _part(self, draws: Sequence[Draw], responses: Responses) -> Part | None:
        prompts = np.array([one.prompt for one in draws], dtype=np.int64)
        known = np.isin(prompts, self._prompts)
        place = np.searchsorted(self._prompts, prompts)
        drawn, written, counts = np.array(responses, dtype=np.int64).reshape(-1, 3).T
        draw_ids = np.array([one.id for one in draws], dtype=np.int64)
        draw = np.searchsorted(draw_ids, drawn)
        kept = (draw_ids[draw] == drawn) & known[draw]
        draw, written, counts = draw[kept], written[kept], counts[kept]
        if not draw.size:
            return None
        cells, first = self._cells[place[draw]], self._first[place[draw]]
        rows = np.repeat(np.arange(draw.size), cells)
        cell = first[rows] + np.arange(rows.size) - np.repeat(np.cumsum(cells) - cells, cells)
        draw, written, counts = draw[rows], written[rows], counts[rows]
        ids, output = np.unique(written, return_inverse=True)
        texts = self._store.data_rows.outputs(ids.tolist())
        outputs = [_output(at, texts[at].text, texts[at].key) for at in ids.tolist()]
        readings, reading = self._readings([texts[at].answer for at in ids.tolist()], output, cell)
        model = np.array([self._model_places[one.model] for one in draws], dtype=np.int64)[draw]
        sampling = np.array([self._sampling_places[one.sampling] for one in draws], dtype=np.int64)[
            draw
        ]
        draws = [self._with_known_origin(one) for one in draws]
        columns = [
            *(Coded(values, cell) for values in self._of_cell),
            *(Coded(values, model) for values in self._of_model),
            *(Coded(values, sampling) for values in self._of_sampling),
        ]
        return Part(columns, draws, draw, cell, counts, outputs, output, readings, reading)

    def _with_known_origin(self, draw: Draw) -> Draw:
        """Return a draw without the seed and the time that stand in for those that nobody knows."""
        seed, at = known_origin(self._names[draw.model], draw.seed or 0, draw.at or "")
        return draw._replace(seed=seed, at=at or None)

    def _readings(
        self, answers: Sequence[int | None], output: Ints, cell: Ints
    ) -> tuple[list[tuple[Reading, ...]], Ints]:
        """Return the readings of answers (rowids) in cells: what is distinct, and the place of
        each.
        """
        standing = self._store.data_rows.standing({one for one in answers if one is not None})
        asked, place = _distinct(output, self._beside[cell])
        found: list[tuple[Reading, ...]] = []
        for at, beside in asked:
            text, (template, wording) = answers[at], self._sides[beside]
            found.append(
                ()
                if text is None
                else (
                    *standing.get((text, "template_id", template), ()),
                    *standing.get((text, "wording_id", wording), ()),
                )
            )
        return found, place

    def keys(self, part: Part) -> list[Any]:
        """Return the columns that name an output, a prompt, an answer and a model."""
        ids, keys = [one[0] for one in part.outputs], [one[3] for one in part.outputs]
        model = np.array([self._model_places[one.model] for one in part.draws], dtype=np.int64)[
            part.draw
        ]
        return [
            Coded(ids, part.output),
            Coded(self.prompt_keys, part.cell),
            Coded(keys, part.output),
            Coded(self.model_keys, model),
        ]

    def batch(self, part: Part, columns: Sequence[Any]) -> Batch:
        """Return columns with one row for each answer, or for all alike."""
        return Batch(columns, part.count if self._expand else None)

    def count(self, part: Part) -> Any:
        """Return the column of counts."""
        return Coded((1,), np.zeros_like(part.count)) if self._expand else part.count

    def reading(self, of: Reading) -> Row:
        """Return the values of `READING`, which most readings share."""
        if (found := self._read.get(of[:-1])) is None:
            if len(self._read) >= HELD:
                self._read.clear()
            name = self._people.reader(of.reader_kind, of.reader)
            word = in_a_word(of.reader_kind, of.label, of.reason)
            version = of.reader_version or None
            found = (
                of.reader_kind,
                name,
                version,
                of.codebook,
                of.label,
                word,
                of.reason,
                of.confidence,
            )
            self._read[of[:-1]] = found
        return found


def _output(at: int, text: str, key: str | None) -> tuple[int, str | None, str | None, str | None]:
    output = split(text)
    return at, output.answer, output.thinking or None, key


def _columns(rows: Sequence[Row], fields: Sequence[Field]) -> list[Sequence[Any]]:
    """Return the values of rows by columns."""
    return [*zip(*rows, strict=True)] or [() for _ in fields]


def _places(of: Any) -> dict[int, int]:
    return {at: place for place, at in enumerate(of)}


def _none(value: object) -> object:
    return None if value == "" else value


def _usual(store: Store) -> tuple[Callable[[Cell], Card | None], Card | None]:
    """Return the default readers of answers: the rule of a cell's template, with the lexicon of its
    instrument, and the classifier of free text.
    """
    templates, brought = store.data_rows.templates(), store.data_rows.lexicons()
    known: dict[tuple[int, str], Card | None] = {}

    def cards(cell: Cell) -> Card | None:
        at = cell.template_id, cell.instrument
        if at not in known:
            [template] = with_words([templates[cell.template_id]], brought.get(cell.instrument, ()))
            rule = template_reader(template)
            known[at] = (
                None if rule is None else _card(rule.card.kind, rule.card.name, rule.card.version)
            )
        return known[at]

    try:
        newest = store.classifiers.get(None)
    except WorkbenchError:
        return cards, None
    return cards, _card(ReaderKind.CLASSIFIER, newest.name, newest.version)


def _card(kind: ReaderKind, name: str, version: str) -> Card:
    return kind.value, name, version


def read_answers(store: Store, choice: Choice) -> Iterator[Batch]:
    """Yield the rows of answers."""
    verdicts = overall(store, choice)
    rules, classifier = _usual(store)
    free_text = registry.free_text()
    answers = Answers(store, choice)
    usual = [classifier if cell.audit in free_text else rules(cell) for cell in answers.cells]
    cards: dict[_Counted, int] = {}
    by_cell = [
        _Counted(one, int(cell.axes.get(OPTIONS, 0)), cell.audit in free_text)
        for one, cell in zip(usual, answers.cells, strict=True)
    ]
    card = np.array([cards.setdefault(one, len(cards)) for one in by_cell], dtype=np.int64)
    named = [*cards]
    for part in answers:
        texts = [one[1] for one in part.outputs]
        cut = np.array([text is None for text in texts], dtype=np.int64)[part.output]
        elsewhere = np.array([one.model in answers.imported for one in part.draws], dtype=np.bool_)[
            part.draw
        ]
        truncated = np.where(elsewhere & (cut == 0), UNKNOWN_END, cut)
        listed: dict[tuple[Row, ...], int] = {}
        codes = [
            listed.setdefault(tuple(map(answers.reading, of)), len(listed)) for of in part.readings
        ]
        reading = np.array(codes, dtype=np.int64)[part.reading]
        sets = [*listed]
        pairs, pair = _distinct(reading, card[part.cell])
        read = [named[by].reading(sets[of]) for of, by in pairs]
        judged, verdict = _distinct(part.cell, part.draw)
        asked = [
            (answers.cells[at].probe, part.draws[by].model, part.draws[by].sampling)
            for at, by in judged
        ]
        yield answers.batch(
            part,
            [
                *part.columns,
                *part.of_draw(),
                answers.count(part),
                Coded(texts, part.output),
                Coded([one[2] for one in part.outputs], part.output),
                Coded((False, True, None), truncated),
                Coded([one[4] for one in read], pair),
                Coded([*(one[5] for one in read), CUT_OFF], np.where(cut, len(read), pair)),
                Coded([one[1] for one in read], pair),
                Coded(sets, reading),
                Coded([verdicts.get(one) for one in asked], verdict),
                *answers.keys(part),
            ],
        )


@dataclass(frozen=True, slots=True)
class _Counted:
    """Which reading of an answer its audit counts, with the audit's usual options and before
    rulings.
    """

    card: Card | None
    "the usual reader, or None if people's labels count"
    n_options: int
    "options of the question; 0: the answers are not letters"
    is_free_text: bool

    def reading(self, readings: Sequence[Row]) -> Row:
        """Return the values of `READING` of the reading that counts."""
        if not self.is_free_text:
            return _offered(_by(self.card, readings), self.n_options)
        by_rule = [
            row for row in readings if row[0] == ReaderKind.RULE and row[READING_LABEL] is not None
        ]
        if by_rule:
            return by_rule[-1]
        return _by_people(readings) if self.card is None else _certain(_by(self.card, readings))


def _by(card: Card | None, readings: Sequence[Row]) -> Row:
    """Return the values of `READING` of the reading by one reader."""
    return next((row for row in readings if row[:3] == card), NOT_READ)


def _by_people(readings: Sequence[Row]) -> Row:
    """Return the reading that people settled: the newest adjudication, or the label that all of
    them gave.
    """
    labelled = [row for row in readings if row[0] in BY_PEOPLE and row[3] == STANCE_CODEBOOK]
    labelled = [row for row in labelled if row[READING_LABEL] is not None]
    decided = [row for row in labelled if row[0] == ReaderKind.ADJUDICATION]
    if decided:
        return decided[-1]
    labels = {row[READING_LABEL] for row in labelled}
    return labelled[0] if len(labels) == 1 else NOT_READ


def _certain(values: Row) -> Row:
    """Return the values of a classifier's reading, without a label if its confidence does not
    count.
    """
    confidence = values[-1]
    if confidence is None or confidence >= THRESHOLD.default:
        return values
    return (*values[:READING_LABEL], None, UNCERTAIN, *values[READING_LABEL + 2 :])


def _offered(values: Row, n_options: int) -> Row:
    """Return the values of a reading, without a label if it is a letter that the question does not
    offer.

    n_options : of the question; 0: the answers are not letters
    """
    label = values[READING_LABEL]
    if not n_options or label is None or label in LETTERS[:n_options]:
        return values
    return (*values[:READING_LABEL], None, NOT_OFFERED, *values[READING_LABEL + 2 :])


def _distinct(first: Ints, second: Ints) -> tuple[list[tuple[int, int]], Ints]:
    """Return the distinct pairs of codes, and the place of each row's."""
    size = int(second.max(initial=0)) + 1
    found, place = np.unique(first * size + second, return_inverse=True)
    return [divmod(one, size) for one in found.tolist()], place


def read_readings(store: Store, choice: Choice) -> Iterator[Batch]:
    """Yield one row per answer and reader."""
    answers = Answers(store, choice)
    for whole_part in answers:
        sizes = np.array([len(of) for of in whole_part.readings], dtype=np.int64)
        taken = sizes[whole_part.reading]
        part = whole_part.at(np.repeat(np.arange(taken.size), taken))
        if not part.draw.size:
            continue
        first = np.cumsum(sizes) - sizes
        within = np.arange(part.draw.size) - np.repeat(np.cumsum(taken) - taken, taken)
        read = [one for of in part.readings for one in of]
        code = first[part.reading] + within
        yield answers.batch(
            part,
            [
                *part.columns,
                *part.of_draw(),
                answers.count(part),
                Coded([one[1] for one in part.outputs], part.output),
                *(Coded(values, code) for values in zip(*map(answers.reading, read), strict=True)),
                Coded([one.at for one in read], code),
                *answers.keys(part),
            ],
        )


def count_answers(store: Store, choice: Choice) -> int:
    """Return the number of rows of answers."""
    counted = store.data_rows.counted(choice.chosen(store), expand=choice.expand)
    cells = store.data_rows.cells(choice.audits, choice.instruments)
    return sum(n * len(cells.get(prompt, ())) for prompt, n in counted.items())


COUNT = whole(
    "count", "how often the draw gave this answer; 1 in each row where rows were expanded"
)
TEXT = Field(
    "text",
    "the answer, without what was thought before it",
    empty="the output ends within its thought",
)
ANSWERS = Rows(
    "answers",
    "Answers",
    "One row for each distinct answer of each draw (expanded: one for each answer), in each cell "
    "of a design that has "
    "its prompt.",
    (
        *CELL,
        *MODEL,
        *SAMPLING,
        *DRAW,
        COUNT,
        TEXT,
        Field(
            "thinking",
            "what was thought before the answer; nothing reads it",
            empty="no thought was shown",
        ),
        truth(
            "truncated",
            "whether the output ends within its thought, so that there is no answer",
            empty="imported, with an answer: how its output ended is not stored",
        ),
        Field(
            "label",
            "what the audit counts, before rulings: the reading by the rule of the template; of "
            "free text the "
            "number that a rule read, otherwise the newest classifier's label, or without a "
            "classifier the label "
            "that people settled",
            recurs=True,
            empty="there is no label: reading says why",
        ),
        Field(
            "reading",
            f"the label, or why there is none: {NO_LABEL}, {CUT_OFF} (the output ends within its "
            "thought), "
            f"{UNCERTAIN} (the classifier's confidence is below {THRESHOLD.default:g}, which "
            f"does not count), {UNREAD} "
            "(the usual reader has not read it)",
            recurs=True,
        ),
        Field("reader", "who read label", empty="the usual reader has not read it", recurs=True),
        Field(
            "readings",
            "every reading of the answer that stands, with its reader",
            Type.RECORDS,
            parts=READING,
        ),
        Field(
            "verdict",
            "verdict on the statement under this template over all tests, with the audit's usual "
            "options: pass, fail, "
            "insufficient, void",
            empty="the audit has no verdicts on statements, or the answer is in no result "
            "(another version is)",
            recurs=True,
        ),
        OUTPUT,
        PROMPT_KEY,
        ANSWER_KEY,
        MODEL_KEY,
    ),
    read_answers,
    notes=(
        "An answer whose prompt stands in several cells of a design, as where an edit left a "
        "wording untouched, has a "
        "row in each. statement_current keeps those of statements as they are now; draw_id and "
        "output_id tell "
        "answers apart.",
        "Auditors' rulings are rows of their own: they name prompts, answers and models by "
        "prompt_key, answer_key and "
        "model_key. Verdicts count them.",
    ),
    count=count_answers,
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
        time("read_at", "when it was read"),
        OUTPUT,
        PROMPT_KEY,
        ANSWER_KEY,
        MODEL_KEY,
    ),
    read_readings,
    notes=(
        "Labels that people changed are kept as events: those are rows of labels.",
        "A row is what a reader read. A letter that a question does not offer is a label here, "
        "and none in answers.",
    ),
)
