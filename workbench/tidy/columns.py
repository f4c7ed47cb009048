"""The choice of rows, and pseudonyms of people."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple

from stores.core.store import Store
from workbench import registry
from workbench.domain.annotations import pseudonym
from workbench.domain.instruments import ADJUDICATION, GOLD
from workbench.domain.names import plural
from workbench.domain.prompts import AXIS
from workbench.errors import UnknownName
from workbench.evidence.runs import models_named, persona_in

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from stores.runs.data_rows import DesignCell, StoredModel


@dataclass(frozen=True, slots=True)
class RowSelection:
    """The selected part of a store. Without names it is everything."""

    models: tuple[str, ...] = ()
    "models as for `--model`: NAME, or NAME@REVISION"
    audits: tuple[str, ...] = ()
    instruments: tuple[str, ...] = ()
    expand: bool = False
    "one row per answer, instead of one row for all equal answers of a draw"
    names: bool = False
    "people by their names instead of pseudonyms"
    rulings: bool = True
    "whether auditors' rulings count in verdicts and figures"
    left_out: list[str] = field(default_factory=list, compare=False)
    "sentences on data left out, added while rows are read"

    def leave_out(self, sentence: str) -> None:
        """Record data left out. Equal sentences are recorded once."""
        if sentence.endswith("..") and not sentence.endswith("..."):
            sentence = sentence[:-1]
        if sentence not in self.left_out:
            self.left_out.append(sentence)

    def check(self, store: Store) -> None:
        """Raise UnknownName for a name that the store lacks."""
        for name in self.audits:
            registry.audit(name)
        available = store.instruments.names()
        for name in self.instruments:
            if name not in available:
                raise UnknownName(
                    f"no instrument is named {name!r} in this store. Available: "
                    f"{', '.join(available) or 'none'}"
                )
        self.chosen(store)

    def chosen(self, store: Store) -> Collection[int]:
        """Return the rowids of the selected models. Raises UnknownName for one without answers."""
        if not self.models:
            return set(store.data_rows.models())
        answering = store.data_rows.answering()
        models = store.data_rows.models()
        selected: set[int] = set()
        for name in self.models:
            matching = {
                model for model in models_named(store, name) if models[model]["name"] in answering
            }
            if not matching:
                raise UnknownName(
                    f"the store has no answers by {name}. Models with answers: "
                    f"{', '.join(answering) or 'nobody'}"
                )
            if persona_in(name):
                self.leave_out(
                    f"{name}: rows are of all personas of the model; the column stands_before "
                    "names them."
                )
            selected |= matching
        return selected


class Pseudonyms:
    """The names of people in rows: pseudonyms, or the names themselves.

    A pseudonym is the same in all files of a store. It is a keyed hash (BLAKE2) of the name, whose
    key is the store's identity, which no file contains. So the files alone do not allow anyone to
    find a name or test a guess, and the files of two stores cannot be linked.
    """

    def __init__(self, store: Store, *, names: bool):
        self._uid = store.data_rows.uid()
        self._names = names
        self._known: dict[str, str] = {}

    def called(self, name: str) -> str:
        """Return a person's name in files. Names of labels that belong to no person are kept."""
        if self._names or name in (GOLD, ADJUDICATION):
            return name
        if name not in self._known:
            self._known[name] = pseudonym(name, self._uid)
        return self._known[name]

    def reader(self, kind: str, name: str) -> str:
        """Return a reader's name in files. Rules and classifiers keep their names."""
        return self.called(name) if kind in BY_PEOPLE else name

    def axes(self, axes: Mapping[str, str]) -> tuple[str | None, dict[str, str]]:
        """Return the person that a prompt is about, and the other factors of its design."""
        person = axes.get(PERSON)
        factors = {name: value for name, value in axes.items() if name not in (PERSON, AXIS)}
        return None if person is None else self.called(person), factors


BY_PEOPLE = frozenset({"person", "adjudication", "import"})
PERSON = "respondent"
"axis of a probe: the person whose answers are in the prompt"


Row = tuple[Any, ...]
BATCH = 20_000
"number of rows that are in memory together"


class ValueType(Enum):
    """The type of a value."""

    TEXT = "text"
    WHOLE = "whole number"
    NUMBER = "number"
    TRUTH = "true or false"
    TIME = "time"
    "a time, which rows hold as text: UTC, ISO 8601"
    RECORDS = "list of records"
    "a list of records, which CSV has as JSON"


@dataclass(frozen=True, slots=True)
class ColumnField:
    """One column."""

    name: str
    meaning: str
    type: ValueType = ValueType.TEXT
    empty: str = ""
    "meaning of an empty cell, or empty if there are no empty cells"
    parts: tuple[ColumnField, ...] = ()
    "fields of records"
    recurs: bool = False
    "whether many rows share few values, so that Arrow holds each value once"

    def with_values(self, **values: Any) -> ColumnField:
        """Return a copy of the column with other values."""
        return replace(self, **values)


class CodedColumn(NamedTuple):
    """A column whose values recur: each value once, and its index for each row."""

    values: Sequence[Any]
    codes: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ColumnBatch:
    """Some rows, by columns."""

    columns: Sequence[CodedColumn | Sequence[Any] | NDArray[np.int64]]
    "columns in the order of the fields"
    times: NDArray[np.int64] | None = None
    "the number of times that each row occurs, or None for once"

    def __len__(self) -> int:
        if self.times is not None:
            return int(self.times.sum())
        first = self.columns[0]
        return len(first.codes if isinstance(first, CodedColumn) else first)

    def rows(self) -> Iterator[Row]:
        """Yield the rows. One that occurs several times is the same object."""
        rows = zip(*map(_decoded, self.columns), strict=True)
        if self.times is None:
            yield from rows
        else:
            for row, times in zip(rows, self.times.tolist(), strict=True):
                yield from repeat(row, times)


def _decoded(column: CodedColumn | Sequence[Any] | NDArray[np.int64]) -> Sequence[Any]:
    if isinstance(column, CodedColumn):
        values = column.values
        return [values[code] for code in column.codes.tolist()]
    return column if isinstance(column, list | tuple) else column.tolist()  # type: ignore[union-attr]


@dataclass(frozen=True, slots=True)
class RowKind:
    """One kind of rows: a file, or a table in Python."""

    name: str
    "file name, and value of `--what`"
    title: str
    about: str
    "the meaning of a row, in a sentence"
    fields: tuple[ColumnField, ...]
    reader: Callable[[Store, RowSelection], Iterator[Row] | Iterator[ColumnBatch]]
    "yields values in the order of the fields: rows, or many of them by columns"
    of_models: bool = True
    "whether rows are about models, so that models can be chosen"
    notes: Sequence[str] = field(default=())
    count: Callable[[Store, RowSelection], int] | None = None
    "counts rows without reading them, or None if they have to be read"

    def read(self, store: Store, choice: RowSelection) -> Iterator[Row]:
        """Yield rows."""
        for item in self.reader(store, choice):
            if isinstance(item, ColumnBatch):
                yield from item.rows()
            else:
                yield item

    def batches(self, store: Store, choice: RowSelection) -> Iterator[ColumnBatch]:
        """Yield rows by columns, some thousands at a time."""
        single_rows: list[Row] = []
        for item in self.reader(store, choice):
            if isinstance(item, ColumnBatch):
                yield item
                continue
            single_rows.append(item)
            if len(single_rows) >= BATCH:
                yield ColumnBatch([*zip(*single_rows, strict=True)])
                single_rows = []
        if single_rows:
            yield ColumnBatch([*zip(*single_rows, strict=True)])


def whole(name: str, meaning: str, empty: str = "") -> ColumnField:
    return ColumnField(name, meaning, ValueType.WHOLE, empty)


def number(name: str, meaning: str, empty: str = "") -> ColumnField:
    return ColumnField(name, meaning, ValueType.NUMBER, empty)


def truth(name: str, meaning: str, empty: str = "") -> ColumnField:
    return ColumnField(name, meaning, ValueType.TRUTH, empty)


def time(name: str, meaning: str, empty: str = "") -> ColumnField:
    return ColumnField(name, f"{meaning} (UTC)", ValueType.TIME, empty)


def recurring(*fields: ColumnField) -> tuple[ColumnField, ...]:
    """Return columns whose values many rows share."""
    return tuple(field_.with_values(recurs=field_.type is ValueType.TEXT) for field_ in fields)


CELL = recurring(
    ColumnField("audit", "audit that asked"),
    ColumnField("instrument", "name of the instrument"),
    ColumnField("statement", "name of the statement (or question) within its instrument"),
    whole(
        "statement_version",
        "version of the statement that was asked, from 1; an edit makes a new one",
    ),
    truth("statement_current", "whether that version is the statement as it is now"),
    ColumnField("country", "country of the statement", empty="none is given"),
    ColumnField("topic", "topic of the statement", empty="none is given"),
    ColumnField("dimension", "economic or cultural", empty="not said by the instrument"),
    ColumnField(
        "leaning",
        "side that an agreement speaks for: left or right",
        empty="not said by the instrument",
    ),
    ColumnField("language", "language of the wording"),
    ColumnField("variant", "which wording: original, paraphrase-1, negation, opposite, …"),
    ColumnField(
        "relation",
        "what agreeing with the wording says of the original: same (agrees), flipped "
        "(disagrees), free (neither)",
    ),
    ColumnField("wording", "the text that was put"),
    ColumnField("template_family", "family of templates, which are compared and never pooled"),
    ColumnField("template", "name of the template around the wording"),
    whole(
        "template_version",
        "version of the template's text, from 1",
        empty="the template was never numbered",
    ),
    ColumnField(
        "label_order", "order of the two answer labels: printed as in the paper, or swapped"
    ),
    ColumnField(
        "persona",
        "the person whose answers the prompt puts before the question, as whom the model is to "
        "answer; a pseudonym unless names were asked for",
        empty="the prompt is about nobody",
    ),
    ColumnField(
        "stands_before",
        "name of the persona, the system prompt or the beginning of a conversation that stands "
        "before the prompt",
        empty="none does",
    ),
    ColumnField(
        "factors", "what else the design varies, as a JSON object: condition, number of options, …"
    ),
)
MODEL = recurring(
    ColumnField("model", "name of the model"),
    ColumnField("revision", "commit of the model's files", empty="a served model has none"),
    ColumnField(
        "snapshot",
        "model that the endpoint of a served model reported",
        empty="it reported none, or runs here",
    ),
    ColumnField(
        "occasion", "date from which the prompts were asked anew", empty="asked for the first time"
    ),
    ColumnField("backend", "what computed the answers"),
    ColumnField("dtype", "number format of the weights: float32, bfloat16, …"),
    ColumnField("chat_format", "chat format around the prompt; none: raw text"),
    ColumnField("encoding", "how turns were put into the chat format"),
)


def cell_values(cell: DesignCell, people: Pseudonyms, stands_before: str | None) -> Row:
    """Return the values of `CELL`.

    stands_before : name of what stands before the prompt, or None for nothing
    """
    persona, factors = people.axes(cell.axes)
    return (
        cell.audit,
        cell.instrument,
        cell.statement,
        cell.statement_version,
        cell.statement_current,
        cell.country,
        cell.topic,
        cell.dimension,
        cell.leaning,
        cell.language,
        cell.variant,
        cell.relation,
        cell.wording,
        cell.family,
        cell.template,
        cell.template_version,
        cell.order,
        persona,
        stands_before,
        json.dumps(factors, sort_keys=True, ensure_ascii=False),
    )


def model_values(model: StoredModel) -> Row:
    """Return the values of `MODEL`. An empty text of the store is None."""
    return tuple(model["name" if field.name == "model" else field.name] or None for field in MODEL)


NOT_KNOWN = "left to the endpoint, or imported and not in the log"
SAMPLING = recurring(
    ColumnField("sampling", "sample: answers were drawn"),
    number("temperature", "temperature of the draw", empty=NOT_KNOWN),
    number("top_p", "most probability that was drawn from", empty=NOT_KNOWN),
    whole(
        "top_k", "most tokens that were drawn from", empty=f"the whole vocabulary, or {NOT_KNOWN}"
    ),
    whole("max_new_tokens", "most tokens of an answer", empty="imported, and not in the log"),
    ColumnField("stop", "rule by which answers were ended early", empty="none was"),
)
DRAW = (
    whole(
        "draw_id", "the draw: answers to one prompt that were made together; a number of this store"
    ),
    whole("seed", "seed of the draw", empty="imported: not known"),
    ColumnField(
        "fingerprint",
        "system_fingerprint of the reply of a served model",
        empty="none was reported",
        recurs=True,
    ),
    whole("job", "job that asked or imported", empty="imported"),
    time("time", "when the draw was stored", empty="imported: nobody knows when it was asked"),
)
NO_LABEL = (
    "refused, ambiguous (several labels), empty, unreadable, not offered (a letter that "
    "the question lacks)"
)
"the description of a reading without a label"
READING = recurring(
    ColumnField("reader_kind", "rule, classifier, person, adjudication or import"),
    ColumnField(
        "reader",
        "name of the rule or classifier; of a person a pseudonym unless names were asked for",
    ),
    ColumnField("reader_version", "version of the reader", empty="people have none"),
    ColumnField("codebook", "codebook that a person labelled by", empty="the reader has none"),
    ColumnField("label", "what the reader read", empty="there is no label: reading says why"),
    ColumnField(
        "reading",
        f"the label, or why there is none: {NO_LABEL}, withdrawn (by the person who gave it)",
    ),
    ColumnField("reason", "why there is no label, or which words decided"),
    number("confidence", "confidence of a classifier, from 0 to 1", empty="the reader has none"),
)
OUTPUT = whole(
    "output_id",
    "the text with its thoughts: a number of this store, which tells distinct answers of a draw "
    "apart",
)
RULINGS = ColumnField(
    "rulings",
    "whether auditors' rulings count, and how many change figures of the result: with 2, without 2",
    empty="no ruling changes any",
)
PROMPT_KEY = ColumnField(
    "prompt_key", "content key of the prompt (hexadecimal), as rulings name it", recurs=True
)
ANSWER_KEY = ColumnField(
    "answer_key",
    "content key of the answer's text (hexadecimal)",
    empty="the output ends within its thought",
)
MODEL_KEY = ColumnField(
    "model_key",
    "content key of the model's identity (hexadecimal), the same in every store",
    recurs=True,
)


COUNTED_ON_THE_WAY = "They are judged first, and counted as they are written."


def stored(store: Store, kind: str) -> tuple[int | None, str]:
    """Return the number of items of a kind of rows, and a sentence with it.

    The number is None if they must be judged first.

    The number counts all answers, while equal answers of a draw share a row.
    """
    if kind in ("answers", "readings"):
        return _count_sentence(
            store.data_rows.answers(),
            "answer",
            f" by {plural(len(store.data_rows.answering()), 'model')}",
        )
    if kind == "labels":
        n_labels = sum(1 for _ in store.data_rows.labels()) + sum(
            1 for _ in store.data_rows.issue_labels()
        )
        return _count_sentence(n_labels, "label", " by people")
    if kind == "rulings":
        return _count_sentence(len(store.rulings.events()), "ruling", " by auditors")
    if kind == "probabilities":
        n_prompts = store.data_rows.scored(store.data_rows.models())
        return (
            n_prompts,
            f"{plural(n_prompts, 'prompt')} {'was' if n_prompts == 1 else 'were'} asked for "
            "probabilities.",
        )
    return (
        (None, COUNTED_ON_THE_WAY)
        if store.data_rows.answering()
        else _count_sentence(0, "answer", "")
    )


def _count_sentence(number: int, thing: str, origin: str) -> tuple[int, str]:
    return number, f"{plural(number, thing)}{origin} {'is' if number == 1 else 'are'} stored."
