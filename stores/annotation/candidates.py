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
from typing import TYPE_CHECKING, Any, NamedTuple

from stores.annotation.annotation_items import first_wording
from stores.core.base import restored
from stores.runs.run_rows import LIVE
from workbench.domain.statements import VariantId, VariantKind

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

AT_ONCE = 10_000
"number of texts that are read in one step"


class Place(NamedTuple):
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
    places: Sequence[Place]
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
        is_first = np.ones(len(order), dtype=bool)
        is_first[1:] = (np.diff(self.texts[order]) != 0) | (np.diff(self.wordings[order]) != 0)
        if is_first.all():
            return self
        starts = np.flatnonzero(is_first)
        answers = np.add.reduceat(self.answers[order], starts)
        first_rows = order[starts]
        codes, places = self.codes[first_rows], list(self.places)
        code_by_place = {place: code for code, place in enumerate(places)}
        for index in np.flatnonzero(np.diff(np.append(starts, len(order))) > 1).tolist():
            end = starts[index + 1] if index + 1 < len(starts) else len(order)
            text_places = [
                self.places[code] for code in set(self.codes[order[starts[index] : end]].tolist())
            ]
            place = self.places[codes[index]]
            place = place._replace(
                template=place.template
                if len({text_place.template for text_place in text_places}) == 1
                else several,
                model=place.model
                if len({text_place.model for text_place in text_places}) == 1
                else several,
            )
            if place not in code_by_place:
                code_by_place[place] = len(places)
                places.append(place)
            codes[index] = code_by_place[place]
        original_order = np.argsort(first_rows)
        return Candidates(
            self.texts[first_rows][original_order],
            self.wordings[first_rows][original_order],
            answers[original_order],
            codes[original_order],
            places,
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


def bodies(connection: sqlite3.Connection, rowids: Sequence[int]) -> Sequence[str]:
    """Return the texts of these rowids."""
    body_by_id = dict(connection.execute(_BODIES, (json.dumps(rowids),)))
    return [restored(body_by_id[rowid]) for rowid in rowids]


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

    values = {"audit": audit, "instrument": instrument, "language": language}
    wordings = {row[0]: row[1:] for row in connection.execute(_WORDINGS, values)}
    templates = {rowid: (name, scale) for rowid, name, scale in connection.execute(_TEMPLATES)}
    requested_models = set(models)
    name_by_model = {
        rowid: name
        for rowid, name in connection.execute(_MODELS)
        if not requested_models or name in requested_models
    }
    model_names = sorted(set(name_by_model.values()))
    cells: dict[tuple[Any, ...], int] = {}
    (last_probe,) = connection.execute("select coalesce(max(id), 0) from probe").fetchone()
    cell_of = np.full(last_probe + 1, -1, dtype=np.int32)
    previous_prompt, seen_cells = 0, set[int]()
    for probe, prompt, wording_id, template_id in connection.execute(_PROBES, (audit,)):
        if wording_id in wordings:
            cell = cells.setdefault((*wordings[wording_id], *templates[template_id]), len(cells))
            previous_prompt, seen_cells = prompt, seen_cells if prompt == previous_prompt else set()
            if (
                cell not in seen_cells
            ):  # versions of a statement share prompts, so each draw counts once
                seen_cells.add(cell)
                cell_of[probe] = cell
    model_of = np.zeros(max(name_by_model, default=0) + 1, dtype=np.int32)
    model_of[[*name_by_model]] = [model_names.index(name) for name in name_by_model.values()]
    values = {
        "audit": audit,
        "wordings": json.dumps([*wordings]),
        "models": json.dumps([*name_by_model]),
    }
    cursor, chunks = connection.execute(_GIVEN, values), [np.zeros((3, 0), dtype=np.int32)]
    while rows := cursor.fetchmany(AT_ONCE):
        probes, models_of_answers, text_ids, answer_counts = np.array(rows, dtype=np.int32).T
        chunk = np.stack(
            [
                text_ids,
                cell_of[probes] * len(model_names) + model_of[models_of_answers],
                answer_counts,
            ]
        )
        chunks.append(chunk[:, cell_of[probes] >= 0])
    texts, codes, counts = np.concatenate(chunks, axis=1)
    order = np.lexsort((codes, texts))
    texts, codes, counts = texts[order], codes[order], counts[order]
    del chunks, order
    starts = np.flatnonzero(
        np.concatenate([[True], (np.diff(texts) != 0) | (np.diff(codes) != 0)])[: len(texts)]
    )
    counts = np.add.reduceat(counts, starts) if len(starts) else counts
    texts, codes = texts[starts], codes[starts]
    is_used = np.zeros(int(codes.max(initial=-1)) + 1, dtype=np.bool_)
    is_used[codes] = True
    codes = (np.cumsum(is_used, dtype=np.int32) - 1)[codes]
    cell_keys = [*cells]
    first_wordings, places, ties = [], list[Place](), list[tuple[Any, ...]]()
    for code in np.flatnonzero(is_used).tolist():
        first_id, name, ref, kind, ordinal, template_id, scale = cell_keys[code // len(model_names)]
        model = model_names[code % len(model_names)]
        first_wordings.append(first_id)
        places.append(
            Place(name, ref, str(VariantId(VariantKind(kind), ordinal)), template_id, scale, model)
        )
        ties.append(((name, ref, kind, ordinal, template_id, model), (first_id, scale)))
    rank_by_place = {
        place_key: rank
        for rank, place_key in enumerate(sorted({place_key for place_key, _ in ties}))
    }
    tie_ranks = np.empty(len(ties), dtype=np.int32)
    tie_ranks[sorted(range(len(ties)), key=lambda code: ties[code][1])] = np.arange(len(ties))
    place_ranks = np.array([rank_by_place[place_key] for place_key, _ in ties], dtype=np.int32)
    key_ranks = np.zeros(int(texts.max(initial=0)) + 1, dtype=np.int32)
    sorted_ids = np.fromiter(
        chain.from_iterable(connection.execute(_BY_KEY, (len(key_ranks),))), dtype=np.int32
    )
    key_ranks[sorted_ids] = np.arange(len(sorted_ids))
    order = np.lexsort((tie_ranks[codes], key_ranks[texts], place_ranks[codes]))
    return Candidates(
        texts[order],
        np.array(first_wordings, dtype=np.int32)[codes[order]],
        counts[order],
        codes[order],
        places,
        partial(bodies, connection),
    )


def of_rows(connection: sqlite3.Connection, rows: Iterable[tuple[int, int, Place]]) -> Candidates:
    """Return (rowid of the text, of the wording, place) rows as columns."""
    import numpy as np

    code_by_place: dict[Place, int] = {}
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
