"""Rows of answers, and of their readings, made by columns, as most values recur."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stores.core.store import Store
from stores.runs.data_rows import DesignCell, Draw, ReadingRow, Responses
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
    CodedColumn,
    ColumnBatch,
    ColumnField,
    Pseudonyms,
    Row,
    RowKind,
    RowSelection,
    ValueType,
    cell_values,
    model_values,
    time,
    truth,
    whole,
)
from workbench.tidy.figures import overall

HELD = 100_000
"number of distinct readings that are cached"
DRAWS = 1024
"number of draws whose answers are in memory together"
AMBIGUOUS = frozenset({label_words.NO_CHOICE, label_words.BOTH, first_word.BOTH, likert.SEVERAL})
"reasons of rules that found several labels, or numbers"
CUT_OFF, UNREAD, NOT_OFFERED, UNCERTAIN = "cut off", "unread", "not offered", "uncertain"
NOT_READ: Row = (None, None, None, None, None, UNREAD, None, None)
"values of `READING` of an answer that the default reader has not read"
READING_LABEL = 4
"index of the label in the values of `READING`, before that of the word for it"
UNKNOWN_END = 2
"index of the value of `truncated` for an unknown end"

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
class AnswersPart:
    """Some answers, each in every cell of a design with its prompt.

    All arrays have an entry for each of these.
    """

    columns: Sequence[CodedColumn]
    "the columns of `CELL`, `MODEL` and `SAMPLING`"
    draws: Sequence[Draw]
    draw: Ints
    "index in `draws`"
    cell: Ints
    "index in `Answers.cells`"
    count: Ints
    outputs: Sequence[tuple[int, str | None, str | None, str | None]]
    "(rowid, answer, thought, key) of distinct texts"
    output: Ints
    "index in `outputs`"
    readings: Sequence[tuple[ReadingRow, ...]]
    "distinct answers' readings in the cells that share them"
    reading: Ints
    "index in `readings`"

    def of_draw(self) -> list[Any]:
        """Return the columns of `DRAW`."""
        rows = (
            (draw_.id, draw_.seed, draw_.fingerprint or None, draw_.job, draw_.at)
            for draw_ in self.draws
        )
        return [CodedColumn(values, self.draw) for values in zip(*rows, strict=True)]

    def at(self, rows: Ints) -> AnswersPart:
        """Return the answers at these indices."""
        columns = [CodedColumn(column.values, column.codes[rows]) for column in self.columns]
        return AnswersPart(
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


class AnswerColumns:
    """The selected answers, by columns."""

    def __init__(self, store: Store, choice: RowSelection):
        self._store, self._expand = store, choice.expand
        self._people = Pseudonyms(store, names=choice.names)
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
                tuple(_none_if_empty(known_parameter(row, name)) for name in names)
                for row in samplings.values()
            ],
            SAMPLING,
        )
        self._names = {rowid: row["name"] for rowid, row in models.items()}
        self.imported = frozenset(
            rowid for rowid, row in models.items() if row["backend"] == IMPORTED.rstrip(":")
        )
        self._model_places, self._sampling_places = (
            _index_by_rowid(models),
            _index_by_rowid(samplings),
        )
        self.model_keys = [row["key"].hex() for row in models.values()]
        self.prompt_keys = [cell.prompt_key for cell in self.cells]
        sides: dict[tuple[int, int], int] = {}
        side_codes = [
            sides.setdefault((cell.template_id, cell.wording_id), len(sides)) for cell in self.cells
        ]
        self._sides, self._beside = [*sides], np.array(side_codes, dtype=np.int64)
        self._read: dict[Row, Row] = {}

    def __iter__(self) -> Iterator[AnswersPart]:
        for draws, responses in self._store.data_rows.given(self._models, DRAWS):
            if (part := self._read_part(draws, responses)) is not None:
                yield part

    def _read_part(self, draws: Sequence[Draw], responses: Responses) -> AnswersPart | None:
        prompts = np.array([draw_.prompt for draw_ in draws], dtype=np.int64)
        is_known = np.isin(prompts, self._prompts)
        prompt_index = np.searchsorted(self._prompts, prompts)
        drawn_ids, output_ids, counts = np.array(responses, dtype=np.int64).reshape(-1, 3).T
        draw_ids = np.array([draw_.id for draw_ in draws], dtype=np.int64)
        draw = np.searchsorted(draw_ids, drawn_ids)
        is_kept = (draw_ids[draw] == drawn_ids) & is_known[draw]
        draw, output_ids, counts = draw[is_kept], output_ids[is_kept], counts[is_kept]
        if not draw.size:
            return None
        n_cells, first_cells = self._cells[prompt_index[draw]], self._first[prompt_index[draw]]
        rows = np.repeat(np.arange(draw.size), n_cells)
        cell = (
            first_cells[rows]
            + np.arange(rows.size)
            - np.repeat(np.cumsum(n_cells) - n_cells, n_cells)
        )
        draw, output_ids, counts = draw[rows], output_ids[rows], counts[rows]
        ids, output = np.unique(output_ids, return_inverse=True)
        texts = self._store.data_rows.outputs(ids.tolist())
        outputs = [
            _output(output_id, texts[output_id].text, texts[output_id].key)
            for output_id in ids.tolist()
        ]
        readings, reading = self._readings(
            [texts[output_id].answer for output_id in ids.tolist()], output, cell
        )
        model = np.array([self._model_places[draw_.model] for draw_ in draws], dtype=np.int64)[draw]
        sampling = np.array(
            [self._sampling_places[draw_.sampling] for draw_ in draws], dtype=np.int64
        )[draw]
        draws = [self._with_known_origin(draw_) for draw_ in draws]
        columns = [
            *(CodedColumn(values, cell) for values in self._of_cell),
            *(CodedColumn(values, model) for values in self._of_model),
            *(CodedColumn(values, sampling) for values in self._of_sampling),
        ]
        return AnswersPart(columns, draws, draw, cell, counts, outputs, output, readings, reading)

    def _with_known_origin(self, draw: Draw) -> Draw:
        """Return a draw without a seed and a time that stand in for unknown ones."""
        seed, stored_at = known_origin(self._names[draw.model], draw.seed or 0, draw.at or "")
        return draw._replace(seed=seed, at=stored_at or None)

    def _readings(
        self, answers: Sequence[int | None], output: Ints, cell: Ints
    ) -> tuple[list[tuple[ReadingRow, ...]], Ints]:
        """Return the distinct readings of answers in cells, and the index of each one's.

        Answers are rowids.
        """
        readings_by_side = self._store.data_rows.standing(
            {text_id for text_id in answers if text_id is not None}
        )
        pairs, indices = _distinct(output, self._beside[cell])
        readings: list[tuple[ReadingRow, ...]] = []
        for output_index, side_index in pairs:
            answer, (template, wording) = answers[output_index], self._sides[side_index]
            readings.append(
                ()
                if answer is None
                else (
                    *readings_by_side.get((answer, "template_id", template), ()),
                    *readings_by_side.get((answer, "wording_id", wording), ()),
                )
            )
        return readings, indices

    def keys(self, part: AnswersPart) -> list[Any]:
        """Return the columns that name an output, a prompt, an answer and a model."""
        ids, keys = [item[0] for item in part.outputs], [item[3] for item in part.outputs]
        model = np.array([self._model_places[draw_.model] for draw_ in part.draws], dtype=np.int64)[
            part.draw
        ]
        return [
            CodedColumn(ids, part.output),
            CodedColumn(self.prompt_keys, part.cell),
            CodedColumn(keys, part.output),
            CodedColumn(self.model_keys, model),
        ]

    def batch(self, part: AnswersPart, columns: Sequence[Any]) -> ColumnBatch:
        """Return columns with one row for each answer, or for all equal ones."""
        return ColumnBatch(columns, part.count if self._expand else None)

    def count(self, part: AnswersPart) -> Any:
        """Return the column of counts."""
        return CodedColumn((1,), np.zeros_like(part.count)) if self._expand else part.count

    def reading(self, row: ReadingRow) -> Row:
        """Return the values of `READING`, which most readings share."""
        if (values := self._read.get(row[:-1])) is None:
            if len(self._read) >= HELD:
                self._read.clear()
            name = self._people.reader(row.reader_kind, row.reader)
            word = in_a_word(row.reader_kind, row.label, row.reason)
            version = row.reader_version or None
            values = (
                row.reader_kind,
                name,
                version,
                row.codebook,
                row.label,
                word,
                row.reason,
                row.confidence,
            )
            self._read[row[:-1]] = values
        return values


def _output(
    rowid: int, text: str, key: str | None
) -> tuple[int, str | None, str | None, str | None]:
    output = split(text)
    return rowid, output.answer, output.thinking or None, key


def _columns(rows: Sequence[Row], fields: Sequence[ColumnField]) -> list[Sequence[Any]]:
    """Return the values of rows by columns."""
    return [*zip(*rows, strict=True)] or [() for _ in fields]


def _index_by_rowid(rowids: Any) -> dict[int, int]:
    return {rowid: index for index, rowid in enumerate(rowids)}


def _none_if_empty(value: object) -> object:
    return None if value == "" else value


def _default_readers(store: Store) -> tuple[Callable[[DesignCell], Card | None], Card | None]:
    """Return the default readers of answers.

    They are the rule of a cell's template, with the lexicon of its instrument, and the classifier
    of free text.
    """
    templates, lexicons = store.data_rows.templates(), store.data_rows.lexicons()
    card_by_key: dict[tuple[int, str], Card | None] = {}

    def cards(cell: DesignCell) -> Card | None:
        key = cell.template_id, cell.instrument
        if key not in card_by_key:
            [template] = with_words(
                [templates[cell.template_id]], lexicons.get(cell.instrument, ())
            )
            rule = template_reader(template)
            card_by_key[key] = (
                None if rule is None else _card(rule.card.kind, rule.card.name, rule.card.version)
            )
        return card_by_key[key]

    try:
        newest = store.classifiers.get(None)
    except WorkbenchError:
        return cards, None
    return cards, _card(ReaderKind.CLASSIFIER, newest.name, newest.version)


def _card(kind: ReaderKind, name: str, version: str) -> Card:
    return kind.value, name, version


def read_answers(store: Store, choice: RowSelection) -> Iterator[ColumnBatch]:
    """Yield the rows of answers."""
    verdicts = overall(store, choice)
    rules, classifier = _default_readers(store)
    answers = AnswerColumns(store, choice)
    counted_readings, counted_codes = _counted_readings(answers.cells, rules, classifier)
    for part in answers:
        texts = [text for _, text, _, _ in part.outputs]
        thoughts = [thought for _, _, thought, _ in part.outputs]
        is_cut_off = np.array([text is None for text in texts], dtype=np.int64)[part.output]
        is_imported = np.array(
            [draw_.model in answers.imported for draw_ in part.draws], dtype=np.bool_
        )[part.draw]
        truncated = np.where(is_imported & (is_cut_off == 0), UNKNOWN_END, is_cut_off)
        yield answers.batch(
            part,
            [
                *part.columns,
                *part.of_draw(),
                answers.count(part),
                CodedColumn(texts, part.output),
                CodedColumn(thoughts, part.output),
                CodedColumn((False, True, None), truncated),
                *_reading_columns(
                    answers, part, counted_readings, counted_codes[part.cell], is_cut_off
                ),
                _verdict_column(answers, part, verdicts),
                *answers.keys(part),
            ],
        )


def _counted_readings(
    cells: Sequence[DesignCell], rules: Callable[[DesignCell], Card | None], classifier: Card | None
) -> tuple[list[_CountedReading], Ints]:
    """Return the distinct readings that count, and the index of that of each cell.

    Parameters
    ----------
    rules, classifier : the default readers, as `_default_readers` returns them
    """
    free_text = registry.free_text()
    code_by_counted: dict[_CountedReading, int] = {}
    codes = []
    for cell in cells:
        is_free_text = cell.audit in free_text
        default_card = classifier if is_free_text else rules(cell)
        counted = _CountedReading(default_card, int(cell.axes.get(OPTIONS, 0)), is_free_text)
        codes.append(code_by_counted.setdefault(counted, len(code_by_counted)))
    return [*code_by_counted], np.array(codes, dtype=np.int64)


def _reading_columns(
    answers: AnswerColumns,
    part: AnswersPart,
    counted_readings: Sequence[_CountedReading],
    counted_codes: Ints,
    is_cut_off: Ints,
) -> list[CodedColumn]:
    """Return the columns of the reading that counts, and of all readings.

    Parameters
    ----------
    counted_codes : for each answer, the index in `counted_readings`
    is_cut_off : for each answer, 1 if it was cut off, else 0
    """
    code_by_values: dict[tuple[Row, ...], int] = {}
    codes = [
        code_by_values.setdefault(tuple(map(answers.reading, readings)), len(code_by_values))
        for readings in part.readings
    ]
    reading_codes = np.array(codes, dtype=np.int64)[part.reading]
    reading_sets = [*code_by_values]
    pairs, pair_codes = _distinct(reading_codes, counted_codes)
    counted_values = [
        counted_readings[counted_code].reading(reading_sets[reading_code])
        for reading_code, counted_code in pairs
    ]
    words = [*(values[5] for values in counted_values), CUT_OFF]
    return [
        CodedColumn([values[READING_LABEL] for values in counted_values], pair_codes),
        CodedColumn(words, np.where(is_cut_off, len(counted_values), pair_codes)),
        CodedColumn([values[1] for values in counted_values], pair_codes),
        CodedColumn(reading_sets, reading_codes),
    ]


def _verdict_column(
    answers: AnswerColumns, part: AnswersPart, verdicts: Mapping[tuple[int, int, int], str]
) -> CodedColumn:
    """Return the column of the verdict on the probe, model and sampling of each answer."""
    pairs, codes = _distinct(part.cell, part.draw)
    values = []
    for cell_index, draw_index in pairs:
        draw = part.draws[draw_index]
        key = (answers.cells[cell_index].probe, draw.model, draw.sampling)
        values.append(verdicts.get(key))
    return CodedColumn(values, codes)


@dataclass(frozen=True, slots=True)
class _CountedReading:
    """The reading of an answer that its audit counts, with default options and before rulings."""

    card: Card | None
    "the default reader, or None if people's labels count"
    n_options: int
    "number of options of the question, or 0 if the answers are not letters"
    is_free_text: bool

    def reading(self, readings: Sequence[Row]) -> Row:
        """Return the values of `READING` of the reading that counts."""
        if not self.is_free_text:
            return _without_label_not_offered(_reading_by(self.card, readings), self.n_options)
        by_rule = [
            row for row in readings if row[0] == ReaderKind.RULE and row[READING_LABEL] is not None
        ]
        if by_rule:
            return by_rule[-1]
        return (
            _by_people(readings)
            if self.card is None
            else _certain(_reading_by(self.card, readings))
        )


def _reading_by(card: Card | None, readings: Sequence[Row]) -> Row:
    """Return the values of `READING` of the reading by one reader."""
    return next((row for row in readings if row[:3] == card), NOT_READ)


def _by_people(readings: Sequence[Row]) -> Row:
    """Return the reading that people settled.

    It is the newest adjudication, or the label that all of them gave.
    """
    labelled = [row for row in readings if row[0] in BY_PEOPLE and row[3] == STANCE_CODEBOOK]
    labelled = [row for row in labelled if row[READING_LABEL] is not None]
    decided = [row for row in labelled if row[0] == ReaderKind.ADJUDICATION]
    if decided:
        return decided[-1]
    labels = {row[READING_LABEL] for row in labelled}
    return labelled[0] if len(labels) == 1 else NOT_READ


def _certain(values: Row) -> Row:
    """Return the values of a classifier's reading.

    It has no label if its confidence does not count.
    """
    confidence = values[-1]
    if confidence is None or confidence >= THRESHOLD.default:
        return values
    return (*values[:READING_LABEL], None, UNCERTAIN, *values[READING_LABEL + 2 :])


def _without_label_not_offered(values: Row, n_options: int) -> Row:
    """Return the values of a reading, without a label that the question does not offer.

    Labels of such a question are letters.

    n_options : number of options of the question, or 0 if the answers are not letters
    """
    label = values[READING_LABEL]
    if not n_options or label is None or label in LETTERS[:n_options]:
        return values
    return (*values[:READING_LABEL], None, NOT_OFFERED, *values[READING_LABEL + 2 :])


def _distinct(first: Ints, second: Ints) -> tuple[list[tuple[int, int]], Ints]:
    """Return the distinct pairs of codes, and the index of each row's."""
    size = int(second.max(initial=0)) + 1
    codes, indices = np.unique(first * size + second, return_inverse=True)
    return [divmod(code, size) for code in codes.tolist()], indices


def read_readings(store: Store, choice: RowSelection) -> Iterator[ColumnBatch]:
    """Yield one row per answer and reader."""
    answers = AnswerColumns(store, choice)
    for whole_part in answers:
        sizes = np.array(
            [len(answer_readings) for answer_readings in whole_part.readings], dtype=np.int64
        )
        n_readings = sizes[whole_part.reading]
        part = whole_part.at(np.repeat(np.arange(n_readings.size), n_readings))
        if not part.draw.size:
            continue
        first_codes = np.cumsum(sizes) - sizes
        within = np.arange(part.draw.size) - np.repeat(
            np.cumsum(n_readings) - n_readings, n_readings
        )
        readings = [reading for answer_readings in part.readings for reading in answer_readings]
        code = first_codes[part.reading] + within
        yield answers.batch(
            part,
            [
                *part.columns,
                *part.of_draw(),
                answers.count(part),
                CodedColumn([output[1] for output in part.outputs], part.output),
                *(
                    CodedColumn(values, code)
                    for values in zip(*map(answers.reading, readings), strict=True)
                ),
                CodedColumn([reading.at for reading in readings], code),
                *answers.keys(part),
            ],
        )


def count_answers(store: Store, choice: RowSelection) -> int:
    """Return the number of rows of answers."""
    count_by_prompt = store.data_rows.counted(choice.chosen(store), expand=choice.expand)
    cells = store.data_rows.cells(choice.audits, choice.instruments)
    return sum(count * len(cells.get(prompt, ())) for prompt, count in count_by_prompt.items())


COUNT = whole(
    "count", "how often the draw gave this answer; 1 in each row where rows were expanded"
)
TEXT = ColumnField(
    "text",
    "the answer, without what was thought before it",
    empty="the output ends within its thought",
)
ANSWERS = RowKind(
    "answers",
    "Answers",
    "One row for each distinct answer of each draw (expanded: one for each answer), in each cell "
    "of a design that has its prompt.",
    (
        *CELL,
        *MODEL,
        *SAMPLING,
        *DRAW,
        COUNT,
        TEXT,
        ColumnField(
            "thinking",
            "what was thought before the answer; nothing reads it",
            empty="no thought was shown",
        ),
        truth(
            "truncated",
            "whether the output ends within its thought, so that there is no answer",
            empty="imported, with an answer: how its output ended is not stored",
        ),
        ColumnField(
            "label",
            "what the audit counts, before rulings: the reading by the rule of the template; of "
            "free text the number that a rule read, otherwise the newest classifier's label, or "
            "without a classifier the label that people settled",
            recurs=True,
            empty="there is no label: reading says why",
        ),
        ColumnField(
            "reading",
            f"the label, or why there is none: {NO_LABEL}, {CUT_OFF} (the output ends within its "
            f"thought), {UNCERTAIN} (the classifier's confidence is below {THRESHOLD.default:g}, "
            f"which does not count), {UNREAD} (the usual reader has not read it)",
            recurs=True,
        ),
        ColumnField(
            "reader", "who read label", empty="the usual reader has not read it", recurs=True
        ),
        ColumnField(
            "readings",
            "every reading of the answer that stands, with its reader",
            ValueType.RECORDS,
            parts=READING,
        ),
        ColumnField(
            "verdict",
            "verdict on the statement under this template over all tests, with the audit's usual "
            "options: pass, fail, insufficient, void",
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
        "wording untouched, has a row in each. statement_current keeps those of statements as "
        "they are now; draw_id and output_id tell answers apart.",
        "Auditors' rulings are rows of their own: they name prompts, answers and models by "
        "prompt_key, answer_key and model_key. Verdicts count them.",
    ),
    count=count_answers,
)
READINGS = RowKind(
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
