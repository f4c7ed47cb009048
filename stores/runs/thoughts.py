"""Outputs with a thought, and the answer after it, which is the part that is read (see the view `given_answer`)."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass

from stores.core.texts import restored, text_ids
from stores.instruments.templates import PROBES
from stores.runs.run_rows import Run, run_values
from workbench.domain.thinking import split

CUT_OFF = "cut off in thought"
"why an output has no answer"
ANSWER_ID = "iif(h.text_id is null, r.text_id, h.answer_id)"
"""SQL for the rowid of a response's answer, null if it has none, given `r` and `HELD`; if outputs without an answer do
not matter, join the view `given_answer` instead"""
HELD = "left join thought h on h.text_id = r.text_id"


def add_thoughts(connection: sqlite3.Connection, outputs: Mapping[str, int]) -> None:
    """Record which of these outputs (text -> rowid) have a thought. Call inside the transaction that inserts them."""
    found = {rowid: output.answer for text, rowid in outputs.items() if (output := split(text)).answer != text}
    ids = text_ids(connection, (answer for answer in found.values() if answer is not None))
    connection.executemany(
        "insert into thought (text_id, answer_id) values (?, ?) on conflict do nothing",
        ((rowid, None if answer is None else ids[answer]) for rowid, answer in found.items()),
    )


@dataclass(frozen=True, slots=True)
class ThoughtRow:
    """An output with a thought."""

    statement: str
    variant: str
    template: str
    inverted: int
    "1: the labels were in the swapped order"
    count: int
    thinking: str
    answer: str | None
    "None: the output ends within the thought"
    seed: int
    at: str
    job: int


def thoughts_of(
    connection: sqlite3.Connection, run: Run, statement: str | None = None, *, limit: int
) -> tuple[ThoughtRow, ...]:
    """Return the first outputs with a thought of a run, or of one of its statements; for each prompt the most frequent
    first.
    """
    values = run_values(connection, run) | {"statement": statement, "limit": limit}
    found = []
    for body, count, ref, kind, ordinal, template, inverted, *rest in connection.execute(_SQL, values):
        output = split(restored(body))
        variant = f"{kind}-{ordinal}" if ordinal else kind
        columns = (ref, variant, template, inverted, count, output.thinking, output.answer, *rest)
        found.append(ThoughtRow(*columns))
    return tuple(found)


_SQL = f"""
    select x.body, r.count, s.ref, w.kind, w.ordinal, t.name, t.inverted, d.seed, d.at, a.job_id
    from instrument i
    join statement s on s.id in (select value from json_each(:scope)) and (:statement is null or s.ref = :statement)
    join wording w on w.statement_id = s.id and w.language = :language
    join probe p on p.wording_id = w.id and {PROBES}
    join template t on t.id = p.template_id
    join draw d on d.prompt_id = p.prompt_id and d.model_id = :model and d.sampling_id = :sampling
    join attempt a on a.id = d.attempt_id
    join response r on r.draw_id = d.id
    join thought h on h.text_id = r.text_id
    join text x on x.id = r.text_id
    where i.name = :instrument
    order by s.ordinal, w.kind, w.ordinal, t.name, t.inverted, r.count desc, r.text_id limit :limit
"""
