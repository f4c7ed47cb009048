"""Determines the versions of statements that a run uses, so that old results refer to the old text."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence

from stores.instruments.questionnaires import who_says_yes_or_no
from stores.instruments.templates import PROBES

Cell = tuple[object, ...]
"""(kind, ordinal, template, axes) of a prompt, without the parts that an edit changes (the context, the number of
options, and for a question of a questionnaire its form, and so the template) and without the person that it is about"""
People = Mapping[Cell, frozenset[str]]
"the people that the prompts of a cell are about; a prompt about nobody counts as one"
NOBODY = ""

LIVE = """
    exists (
        select 1 from statement live
        where live.instrument_id = s.instrument_id and live.ref = s.ref and live.current = 1
    )
"""
"whether a version `s` belongs to a statement that is not archived"


def scope_of(connection: sqlite3.Connection, run: Mapping[str, object]) -> str:
    """Return the rowids of a run's statements, as a JSON list.

    For each current statement, this is the newest version that the model has answered wherever it answered the previous
    one; if it has answered none, the current version. So existing results change only when this model is asked again,
    not by an edit or by asking another model about the new text. The current version counts as the newest, even if an
    edit was undone and others were made after it. For prompts about people, as many people must be answered for as
    before, without those whose answers no longer mean yes or no, because they are not asked about.
    Only prompts under the run's templates count: a statement that was changed together with a template was not asked
    under it before. `run` binds instrument, audit, language, model and sampling, and what `PROBES` needs.
    """
    chosen: dict[str, int] = {}
    several: dict[str, list[int]] = {}
    for ref, rowid, current, versions in connection.execute(_VERSIONS, run):  # for each ref, the current version last
        if versions > 1:
            several.setdefault(ref, []).append(rowid)
        if current:
            chosen[ref] = rowid
    answered = _answered(connection, run) if several else {}
    for ref, rowids in several.items():
        asked = [(rowid, answered[rowid]) for rowid in rowids if rowid in answered]
        if asked:
            chosen[ref] = _taken_over(connection, run, asked, _silent(connection, run, ref, asked))
    return json.dumps(list(chosen.values()))


def _answered(connection: sqlite3.Connection, run: Mapping[str, object]) -> dict[int, People]:
    """Return the cells that the model has answered, for each statement with several versions."""
    found: dict[int, dict[Cell, set[str]]] = {}
    for rowid, person, *cell in connection.execute(_ANSWERED, run):
        found.setdefault(rowid, {}).setdefault(tuple(cell), set()).add(person or NOBODY)
    return {rowid: {cell: frozenset(of) for cell, of in cells.items()} for rowid, cells in found.items()}


def _silent(
    connection: sqlite3.Connection, run: Mapping[str, object], ref: str, asked: Sequence[tuple[int, People]]
) -> frozenset[str]:
    """Return the people who were asked about but whose answer to a question no longer means yes or no."""
    people = frozenset().union(*(of for _, cells in asked for of in cells.values())) - {NOBODY}
    return people - who_says_yes_or_no(connection, str(run["instrument"]), ref) if people else frozenset()


def _taken_over(
    connection: sqlite3.Connection,
    run: Mapping[str, object],
    asked: Sequence[tuple[int, People]],
    silent: frozenset[str],
) -> int:
    """Return the version that counts, from answered versions in order from the oldest to the current one."""
    (chosen, has), *newer = asked
    for rowid, cells in newer:
        values = {"statement": rowid, "language": run["language"]}
        wordings = set(connection.execute(_WORDINGS, values).fetchall())
        held = Counter({cell: len(of - silent) for cell, of in cells.items()})
        if all(held[cell] >= len(of - silent) for cell, of in has.items() if cell[:2] in wordings):
            chosen, has = rowid, cells
    return chosen


_VERSIONS = f"""
    select s.ref, s.id, s.current, count(*) over (partition by s.ref)
    from instrument i join statement s on s.instrument_id = i.id
    where i.name = :instrument and {LIVE}
    order by s.ref, s.current, s.version
"""

_ANSWERED = f"""
    select s.id, p.axes ->> '$.respondent', w.kind, w.ordinal,
        iif(p.audit = 'questionnaire', null, p.template_id),
        json_remove(p.axes, '$.context', '$.options', '$.respondent')
    from instrument i
    join statement s on s.instrument_id = i.id
    join wording w on w.statement_id = s.id and w.language = :language
    join probe p on p.wording_id = w.id and {PROBES}
    where i.name = :instrument and {LIVE}
        and exists (
            select 1 from statement o where o.instrument_id = s.instrument_id and o.ref = s.ref and o.id <> s.id
        )
        and exists (
            select 1 from draw d
            where d.prompt_id = p.prompt_id and d.model_id = :model and d.sampling_id = :sampling and d.n > d.failed
        )
"""

_WORDINGS = "select kind, ordinal from wording where statement_id = :statement and language = :language"
