"""Texts that people could label, a million of them, as columns.

Their bodies are not in the columns and are read in parts.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from stores.annotation.annotation_items import first_wording
from stores.core.base import decode_text
from stores.runs.run_rows import LIVE
from workbench.domain.statements import VariantId, VariantKind

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

AT_ONCE = 10_000
"number of texts that are read in one step"


class DesignPlace(NamedTuple):
    """The position of a text in the design: statement, variant, template and model."""

    instrument: str
    ref: str
    variant: str
    template: str
    scale: str
    "scale of the template: answers on the scale `likert` may need no person"
    model: str


class Candidate(NamedTuple):
    """A text that could be labelled, once per template and model that gave it."""

    text_id: int
    wording_id: int
    text: str
    instrument: str
    ref: str
    variant: str
    template: str
    scale: str
    model: str
    answers: int
    "number of times that the model gave this text as an answer to this wording under this template"


@dataclass(frozen=True, eq=False, slots=True)
class Candidates:
    """Texts that could be labelled, in a fixed order, as four columns with a row each."""

    texts: NDArray[np.int32]
    "rowids"
    wordings: NDArray[np.int32]
    "rowids"
    answers: NDArray[np.int32]
    codes: NDArray[np.int32]
    "indices into `places`"
    places: Sequence[DesignPlace]
    read: Callable[[Sequence[int]], Sequence[str]]
    "returns the texts of these rowids"

    def __len__(self) -> int:
        return len(self.texts)

    def __iter__(self) -> Iterator[Candidate]:
        for start in range(0, len(self), AT_ONCE):
            rows = slice(start, start + AT_ONCE)
            columns = (
                column[rows].tolist()
                for column in (self.texts, self.wordings, self.codes, self.answers)
            )
            bodies = self.read(self.texts[rows].tolist())
            for body, (text_id, wording_id, code, answers) in zip(
                bodies, zip(*columns, strict=True), strict=True
            ):
                place = self.places[code]
                yield Candidate(
                    text_id,
                    wording_id,
                    body,
                    place.instrument,
                    place.ref,
                    place.variant,
                    place.template,
                    place.scale,
                    place.model,
                    answers,
                )

    def bodies(self, rows: NDArray[np.int64]) -> Sequence[str]:
        """Return the texts of some rows."""
        return self.read(self.texts[rows].tolist())

    def only(self, chosen: NDArray[np.bool_]) -> Candidates:
        """Return the selected rows."""
        texts, wordings, answers, codes = (
            column[chosen] for column in (self.texts, self.wordings, self.answers, self.codes)
        )
        return Candidates(texts, wordings, answers, codes, self.places, self.read)

    def pooled(self, several: str) -> Candidates:
        """Return each text once per wording, with the sum of its answers.

        Where a text has several templates or several models, that field is `several`.
        """
        import numpy as np

        order = np.lexsort((self.wordings, self.texts))  # stable: the first of equals stands first
        is_first = _is_first_of_group(self.texts[order], self.wordings[order])
        if is_first.all():
            return self
        starts = np.flatnonzero(is_first)
        answers = np.add.reduceat(self.answers[order], starts)
        first_rows = order[starts]
        codes = self.codes[first_rows]
        places = _PlaceCodes(self.places)
        group_sizes = np.diff(np.append(starts, len(order)))
        for index in np.flatnonzero(group_sizes > 1).tolist():
            rows = order[starts[index] : starts[index] + group_sizes[index]]
            group = [self.places[code] for code in set(self.codes[rows].tolist())]
            place = _pooled_place(self.places[codes[index]], group, several)
            codes[index] = places.code_of(place)
        original_order = np.argsort(first_rows)
        return Candidates(
            self.texts[first_rows][original_order],
            self.wordings[first_rows][original_order],
            answers[original_order],
            codes[original_order],
            places.places,
            self.read,
        )

    @classmethod
    def joined(cls, several: Sequence[Candidates]) -> Candidates:
        """Return the rows of several tables, one after the other."""
        import numpy as np

        first, *others = several
        if not others:
            return first
        offsets = np.cumsum([0, *(len(candidates.places) for candidates in several)])
        codes = [
            candidates.codes + np.int32(offset)
            for candidates, offset in zip(several, offsets[:-1], strict=True)
        ]
        return cls(
            np.concatenate([candidates.texts for candidates in several]),
            np.concatenate([candidates.wordings for candidates in several]),
            np.concatenate([candidates.answers for candidates in several]),
            np.concatenate(codes),
            [place for candidates in several for place in candidates.places],
            first.read,
        )


class _PlaceCodes:
    """Places with an index each, to which new ones can be added."""

    def __init__(self, places: Sequence[DesignPlace]) -> None:
        self.places = list(places)
        self._code_by_place = {place: code for code, place in enumerate(places)}

    def code_of(self, place: DesignPlace) -> int:
        """Return the index of a place, which is added if it is new."""
        if place not in self._code_by_place:
            self._code_by_place[place] = len(self.places)
            self.places.append(place)
        return self._code_by_place[place]


def _pooled_place(first: DesignPlace, group: Sequence[DesignPlace], several: str) -> DesignPlace:
    """Return the place of one text with several places, the first of which is `first`."""
    has_one_template = len({place.template for place in group}) == 1
    has_one_model = len({place.model for place in group}) == 1
    return first._replace(
        template=first.template if has_one_template else several,
        model=first.model if has_one_model else several,
    )


def _is_first_of_group(*columns: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return whether each row of sorted columns differs from the row before it."""
    import numpy as np

    is_first = np.ones(len(columns[0]), dtype=np.bool_)
    is_first[1:] = np.any([np.diff(column) != 0 for column in columns], axis=0)
    return is_first


def bodies(connection: sqlite3.Connection, rowids: Sequence[int]) -> Sequence[str]:
    """Return the texts of these rowids."""
    body_by_id = dict(connection.execute(_BODIES, (json.dumps(rowids),)))
    return [decode_text(body_by_id[rowid]) for rowid in rowids]


def answers(
    connection: sqlite3.Connection,
    audit: str,
    instrument: str | None,
    models: Iterable[str],
    language: str | None,
) -> Candidates:
    """Return every distinct answer to every wording under every template by every model.

    See `Queues.candidates`. One scan gives four numbers for each answer. Its place and the order
    are looked up for each prompt.
    """
    import numpy as np

    design = _Design(
        _asked_cells(connection, audit, instrument, language), _requested_models(connection, models)
    )
    counts = _merged(_answer_counts(connection, audit, design))
    is_used = np.zeros(int(counts.codes.max(initial=-1)) + 1, dtype=np.bool_)
    is_used[counts.codes] = True
    used_places = [design.place_of(code) for code in np.flatnonzero(is_used).tolist()]
    codes = (np.cumsum(is_used, dtype=np.int32) - 1)[counts.codes]
    order = _order(connection, counts.texts, codes, used_places)
    first_wordings = [used_place.cell.wording_id for used_place in used_places]
    return Candidates(
        counts.texts[order],
        np.array(first_wordings, dtype=np.int32)[codes[order]],
        counts.answers[order],
        codes[order],
        [used_place.place for used_place in used_places],
        partial(bodies, connection),
    )


class _Cell(NamedTuple):
    """A wording under a template. The versions of a statement share it."""

    wording_id: int
    "rowid of the first wording among the versions of the statement"
    instrument: str
    ref: str
    kind: str
    ordinal: int
    template: str
    scale: str


@dataclass(frozen=True, eq=False, slots=True)
class _AskedCells:
    """The cells that were asked."""

    wording_ids: Sequence[int]
    "rowids of the selected wordings, asked or not"
    cells: Sequence[_Cell]
    by_probe: NDArray[np.int32]
    """rowid of a probe -> index of its cell, or -1 if it has no selected wording or only repeats a
    prompt of its cell"""


@dataclass(frozen=True, slots=True)
class _RequestedModels:
    """The models whose answers are read."""

    names: Sequence[str]
    "sorted"
    index_by_id: dict[int, int]
    "rowid -> index of the model's name in `names`"

    def by_id(self) -> NDArray[np.int32]:
        """Return the indices of names at the rowids of the models."""
        import numpy as np

        indices = np.zeros(max(self.index_by_id, default=0) + 1, dtype=np.int32)
        indices[[*self.index_by_id]] = [*self.index_by_id.values()]
        return indices


class _UsedPlace(NamedTuple):
    """The cell and the model of a code that has answers."""

    cell: _Cell
    model: str

    @property
    def place(self) -> DesignPlace:
        cell = self.cell
        variant = str(VariantId(VariantKind(cell.kind), cell.ordinal))
        return DesignPlace(
            cell.instrument, cell.ref, variant, cell.template, cell.scale, self.model
        )

    @property
    def sort_key(self) -> tuple[object, ...]:
        """The place in the design. Places of equal keys are ordered by `tie_key`."""
        cell = self.cell
        return (cell.instrument, cell.ref, cell.kind, cell.ordinal, cell.template, self.model)

    @property
    def tie_key(self) -> tuple[int, str]:
        return self.cell.wording_id, self.cell.scale


@dataclass(frozen=True, slots=True)
class _Design:
    """The cells and models. A cell and a model have one number, their code."""

    asked: _AskedCells
    models: _RequestedModels

    def place_of(self, code: int) -> _UsedPlace:
        """Return the cell and the model of a code."""
        cell, model = divmod(code, len(self.models.names))
        return _UsedPlace(self.asked.cells[cell], self.models.names[model])


def _asked_cells(
    connection: sqlite3.Connection, audit: str, instrument: str | None, language: str | None
) -> _AskedCells:
    """Return the cells of an audit. Without an instrument or a language, all of them count."""
    import numpy as np

    values = {"instrument": instrument, "language": language}
    wordings = {row[0]: row[1:] for row in connection.execute(_WORDINGS, values)}
    templates = {rowid: (name, scale) for rowid, name, scale in connection.execute(_TEMPLATES)}
    index_by_cell: dict[_Cell, int] = {}
    (last_probe,) = connection.execute("select coalesce(max(id), 0) from probe").fetchone()
    by_probe = np.full(last_probe + 1, -1, dtype=np.int32)
    previous_prompt = 0
    seen_cells = set[int]()
    for probe, prompt, wording_id, template_id in connection.execute(_PROBES, (audit,)):
        if wording_id not in wordings:
            continue
        cell = _Cell._make((*wordings[wording_id], *templates[template_id]))
        index = index_by_cell.setdefault(cell, len(index_by_cell))
        if prompt != previous_prompt:
            previous_prompt = prompt
            seen_cells = set()
        # Versions of a statement share prompts, so each draw counts once.
        if index not in seen_cells:
            seen_cells.add(index)
            by_probe[probe] = index
    return _AskedCells([*wordings], [*index_by_cell], by_probe)


def _requested_models(connection: sqlite3.Connection, models: Iterable[str]) -> _RequestedModels:
    """Return the models of these names, or all models if there are none."""
    requested = set(models)
    name_by_id = {
        rowid: name
        for rowid, name in connection.execute(_MODELS)
        if not requested or name in requested
    }
    names = sorted(set(name_by_id.values()))
    return _RequestedModels(names, {rowid: names.index(name) for rowid, name in name_by_id.items()})


class _Counts(NamedTuple):
    """Numbers of answers, as columns with a row for each text and code."""

    texts: NDArray[np.int32]
    "rowids"
    codes: NDArray[np.int32]
    answers: NDArray[np.int32]


def _answer_counts(connection: sqlite3.Connection, audit: str, design: _Design) -> _Counts:
    """Return the numbers of answers to each probe by each model, in any order."""
    import numpy as np

    model_by_id = design.models.by_id()
    cell_by_probe = design.asked.by_probe
    values = {
        "audit": audit,
        "wordings": json.dumps(design.asked.wording_ids),
        "models": json.dumps([*design.models.index_by_id]),
    }
    cursor = connection.execute(_GIVEN, values)
    chunks = [np.zeros((3, 0), dtype=np.int32)]
    while rows := cursor.fetchmany(AT_ONCE):
        probes, models, texts, answer_counts = np.array(rows, dtype=np.int32).T
        cells = cell_by_probe[probes]
        codes = cells * len(design.models.names) + model_by_id[models]
        chunks.append(np.stack([texts, codes, answer_counts])[:, cells >= 0])
    return _Counts(*np.concatenate(chunks, axis=1))


def _merged(counts: _Counts) -> _Counts:
    """Return one row for each text and code, sorted by both, with the sum of its answers."""
    import numpy as np

    order = np.lexsort((counts.codes, counts.texts))
    texts = counts.texts[order]
    codes = counts.codes[order]
    starts = np.flatnonzero(_is_first_of_group(texts, codes))
    if not len(starts):
        return counts
    return _Counts(texts[starts], codes[starts], np.add.reduceat(counts.answers[order], starts))


def _order(
    connection: sqlite3.Connection,
    texts: NDArray[np.int32],
    codes: NDArray[np.int32],
    used_places: Sequence[_UsedPlace],
) -> NDArray[np.int64]:
    """Return the order of rows: by the place in the design, by the key of the text, and by ties."""
    import numpy as np

    sorted_keys = sorted({used_place.sort_key for used_place in used_places})
    rank_by_key = {key: rank for rank, key in enumerate(sorted_keys)}
    place_ranks = np.array(
        [rank_by_key[used_place.sort_key] for used_place in used_places], dtype=np.int32
    )
    tie_ranks = np.empty(len(used_places), dtype=np.int32)
    tie_ranks[sorted(range(len(used_places)), key=lambda code: used_places[code].tie_key)] = (
        np.arange(len(used_places))
    )
    text_ranks = np.zeros(int(texts.max(initial=0)) + 1, dtype=np.int32)
    sorted_ids = np.fromiter(
        chain.from_iterable(connection.execute(_BY_KEY, (len(text_ranks),))), dtype=np.int32
    )
    text_ranks[sorted_ids] = np.arange(len(sorted_ids))
    return np.lexsort((tie_ranks[codes], text_ranks[texts], place_ranks[codes]))


def of_rows(
    connection: sqlite3.Connection, rows: Iterable[tuple[int, int, DesignPlace]]
) -> Candidates:
    """Return (rowid of the text, of the wording, place) rows as columns."""
    import numpy as np

    code_by_place: dict[DesignPlace, int] = {}
    table = [
        (text_id, wording_id, code_by_place.setdefault(place, len(code_by_place)))
        for text_id, wording_id, place in rows
    ]
    texts, wordings, codes = np.array(table, dtype=np.int32).reshape(-1, 3).T
    return Candidates(
        texts, wordings, np.ones_like(texts), codes, [*code_by_place], partial(bodies, connection)
    )


_BODIES = "select id, body from text where id in (select value from json_each(?))"
_TEMPLATES = "select id, name, scale from template"
_MODELS = "select id, name from model"
_PROBES = (
    "select id, prompt_id, wording_id, template_id from probe where audit = ? order by prompt_id"
)
_BY_KEY = "select id from text where id < ? order by key"
_WORDINGS = f"""
    select w.id, {first_wording("w", "s")}, i.name, s.ref, w.kind, w.ordinal
    from wording w
    join statement s on s.id = w.statement_id and {LIVE}
    join instrument i on i.id = s.instrument_id and (:instrument is null or i.name = :instrument)
    where :language is null or w.language = :language
"""
_GIVEN = """
    select p.id, d.model_id, r.text_id, r.count
    from probe p
    join draw d on d.prompt_id = p.prompt_id and d.model_id in (select value
        from json_each(:models))
    join given_answer r on r.draw_id = d.id
    where p.audit = :audit and p.wording_id in (select value from json_each(:wordings))
"""
