"""Texts that people could label, a million of them: as columns, without their bodies, which are
read in parts.
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
"texts that are read in one step"


class Place(NamedTuple):
    """Where a text stands."""

    instrument: str
    ref: str
    variant: str
    template: str
    scale: str
    "of the template: answers on the scale `likert` may need no person"
    model: str


class Candidate(NamedTuple):
    """A text that could be labelled, once per prefix and model that gave it."""

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
    "how often the model gave this text as an answer to this wording under this template"


@dataclass(frozen=True, eq=False, slots=True)
class Candidates:
    """Texts that could be labelled, in a fixed order: a row each of four columns."""

    texts: NDArray[np.int32]
    "rowids"
    wordings: NDArray[np.int32]
    "rowids"
    answers: NDArray[np.int32]
    codes: NDArray[np.int32]
    "which of the places each stands at"
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
            for text, (rowid, wording, code, answers) in zip(
                bodies, zip(*columns, strict=True), strict=True
            ):
                at = self.places[code]
                yield Candidate(
                    rowid,
                    wording,
                    text,
                    at.instrument,
                    at.ref,
                    at.variant,
                    at.template,
                    at.scale,
                    at.model,
                    answers,
                )

    def bodies(self, rows: NDArray[np.int64]) -> Sequence[str]:
        """Return the texts of some rows."""
        return self.read(self.texts[rows].tolist())

    def only(self, chosen: NDArray[np.bool_]) -> Candidates:
        """Return the rows that are chosen."""
        texts, wordings, answers, codes = (
            column[chosen] for column in (self.texts, self.wordings, self.answers, self.codes)
        )
        return Candidates(texts, wordings, answers, codes, self.places, self.read)

    def pooled(self, several: str) -> Candidates:
        """Return each text once beside its wording, with all its answers. The prefix and the model
        are `several` where there are several.
        """
        import numpy as np

        order = np.lexsort((self.wordings, self.texts))  # stable: the first of equals stands first
        new = np.ones(len(order), dtype=bool)
        new[1:] = (np.diff(self.texts[order]) != 0) | (np.diff(self.wordings[order]) != 0)
        if new.all():
            return self
        starts = np.flatnonzero(new)
        answers = np.add.reduceat(self.answers[order], starts)
        first = order[starts]
        codes, places = self.codes[first], list(self.places)
        numbers = {place: code for code, place in enumerate(places)}
        for at in np.flatnonzero(np.diff(np.append(starts, len(order))) > 1).tolist():
            end = starts[at + 1] if at + 1 < len(starts) else len(order)
            given = [
                self.places[code] for code in set(self.codes[order[starts[at] : end]].tolist())
            ]
            place = self.places[codes[at]]
            place = place._replace(
                template=place.template if len({one.template for one in given}) == 1 else several,
                model=place.model if len({one.model for one in given}) == 1 else several,
            )
            if place not in numbers:
                numbers[place] = len(places)
                places.append(place)
            codes[at] = numbers[place]
        back = np.argsort(first)
        return Candidates(
            self.texts[first][back],
            self.wordings[first][back],
            answers[back],
            codes[back],
            places,
            self.read,
        )

    @classmethod
    def joined(cls, several: Sequence[Candidates]) -> Candidates:
        """Return the rows of several, one after the other."""
        import numpy as np

        first, *more = several
        if not more:
            return first
        before = np.cumsum([0, *(len(one.places) for one in several)])
        codes = [
            one.codes + np.int32(start) for one, start in zip(several, before[:-1], strict=True)
        ]
        return cls(
            np.concatenate([one.texts for one in several]),
            np.concatenate([one.wordings for one in several]),
            np.concatenate([one.answers for one in several]),
            np.concatenate(codes),
            [place for one in several for place in one.places],
            first.read,
        )


def bodies(connection: sqlite3.Connection, rowids: Sequence[int]) -> Sequence[str]:
    """Return the texts of these rowids."""
    found = dict(connection.execute(_BODIES, (json.dumps(rowids),)))
    return [restored(found[rowid]) for rowid in rowids]


def answers(
    connection: sqlite3.Connection,
    audit: str,
    instrument: str | None,
    models: Iterable[str],
    language: str | None,
) -> Candidates:
    """Return every distinct answer to every wording under every template by every model; see
    `Queues.candidates`.

    One scan gives four numbers for each answer; where it stands, and in which order, is looked up
    for each prompt.
    """
    import numpy as np

    asked = {"audit": audit, "instrument": instrument, "language": language}
    wordings = {row[0]: row[1:] for row in connection.execute(_WORDINGS, asked)}
    templates = {rowid: (name, scale) for rowid, name, scale in connection.execute(_TEMPLATES)}
    wanted = set(models)
    named = {
        rowid: name for rowid, name in connection.execute(_MODELS) if not wanted or name in wanted
    }
    names = sorted(set(named.values()))
    cells: dict[tuple[Any, ...], int] = {}
    (last,) = connection.execute("select coalesce(max(id), 0) from probe").fetchone()
    cell_of = np.full(last + 1, -1, dtype=np.int32)
    before, held = 0, set[int]()
    for probe, prompt, wording, template in connection.execute(_PROBES, (audit,)):
        if wording in wordings:
            cell = cells.setdefault((*wordings[wording], *templates[template]), len(cells))
            before, held = prompt, held if prompt == before else set()
            if cell not in held:  # versions of a statement share prompts, so each draw counts once
                held.add(cell)
                cell_of[probe] = cell
    model_of = np.zeros(max(named, default=0) + 1, dtype=np.int32)
    model_of[[*named]] = [names.index(name) for name in named.values()]
    asked = {"audit": audit, "wordings": json.dumps([*wordings]), "models": json.dumps([*named])}
    cursor, parts = connection.execute(_GIVEN, asked), [np.zeros((3, 0), dtype=np.int32)]
    while some := cursor.fetchmany(AT_ONCE):
        probes, by, given, times = np.array(some, dtype=np.int32).T
        part = np.stack([given, cell_of[probes] * len(names) + model_of[by], times])
        parts.append(part[:, cell_of[probes] >= 0])
    texts, codes, counts = np.concatenate(parts, axis=1)
    order = np.lexsort((codes, texts))
    texts, codes, counts = texts[order], codes[order], counts[order]
    del parts, order
    starts = np.flatnonzero(
        np.concatenate([[True], (np.diff(texts) != 0) | (np.diff(codes) != 0)])[: len(texts)]
    )
    counts = np.add.reduceat(counts, starts) if len(starts) else counts
    texts, codes = texts[starts], codes[starts]
    there = np.zeros(int(codes.max(initial=-1)) + 1, dtype=np.bool_)
    there[codes] = True
    codes = (np.cumsum(there, dtype=np.int32) - 1)[codes]
    listed = [*cells]
    firsts, places, ties = [], list[Place](), list[tuple[Any, ...]]()
    for code in np.flatnonzero(there).tolist():
        first, name, ref, kind, ordinal, template, scale = listed[code // len(names)]
        model = names[code % len(names)]
        firsts.append(first)
        places.append(
            Place(name, ref, str(VariantId(VariantKind(kind), ordinal)), template, scale, model)
        )
        ties.append(((name, ref, kind, ordinal, template, model), (first, scale)))
    ranks = {place: rank for rank, place in enumerate(sorted({place for place, _ in ties}))}
    tied = np.empty(len(ties), dtype=np.int32)
    tied[sorted(range(len(ties)), key=lambda code: ties[code][1])] = np.arange(len(ties))
    ranked = np.array([ranks[place] for place, _ in ties], dtype=np.int32)
    by_key = np.zeros(int(texts.max(initial=0)) + 1, dtype=np.int32)
    every = np.fromiter(
        chain.from_iterable(connection.execute(_BY_KEY, (len(by_key),))), dtype=np.int32
    )
    by_key[every] = np.arange(len(every))
    order = np.lexsort((tied[codes], by_key[texts], ranked[codes]))
    return Candidates(
        texts[order],
        np.array(firsts, dtype=np.int32)[codes[order]],
        counts[order],
        codes[order],
        places,
        partial(bodies, connection),
    )


def of_rows(connection: sqlite3.Connection, rows: Iterable[tuple[int, int, Place]]) -> Candidates:
    """Return (rowid of the text, of the wording, where) as columns."""
    import numpy as np

    numbers: dict[Place, int] = {}
    table = [
        (text, wording, numbers.setdefault(place, len(numbers))) for text, wording, place in rows
    ]
    texts, wordings, codes = np.array(table, dtype=np.int32).reshape(-1, 3).T
    return Candidates(
        texts, wordings, np.ones_like(texts), codes, [*numbers], partial(bodies, connection)
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
