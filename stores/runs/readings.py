"""Readings of answers by rules, classifiers and people.

The newest revision of each reader counts. Of an output with a thought, the answer after it is read
(see the view `given_answer`). The readings for a bias score are counted in the database without
copying every response.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from stores.annotation.annotation_items import first_wording
from stores.annotation.people import reader_id
from stores.core.base import Aggregate, Transactions, decode_text, execute_named, now, text_ids
from stores.core.values import checked_confidence
from stores.instruments.templates import PROBES
from stores.runs.run_rows import AnswerTally, Run, run_values, version
from workbench.domain.readings import ReaderCard, Reading
from workbench.domain.responses import known_origin
from workbench.domain.rulings import Effect
from workbench.domain.thinking import is_plain, split

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CUT_OFF = "cut off in thought"
"the reason why an output has no answer"
ANSWER_ID = "iif(h.text_id is null, r.text_id, h.answer_id)"
"""SQL for the rowid of a response's answer, given `r` and `HELD`, or null if it has none. If
outputs without an answer do not matter, join the view `given_answer` instead."""
HELD = "left join thought h on h.text_id = r.text_id"


def add_thoughts(connection: sqlite3.Connection, outputs: Mapping[str, int]) -> None:
    """Record which of these outputs (text -> rowid) have a thought.

    Call inside the transaction that inserts them.
    """
    answer_by_output = {
        rowid: output.answer
        for text, rowid in outputs.items()
        if not is_plain(text) and (output := split(text)).answer != text
    }
    ids = text_ids(
        connection, (answer for answer in answer_by_output.values() if answer is not None)
    )
    connection.executemany(
        "insert into thought (text_id, answer_id) values (?, ?) on conflict do nothing",
        (
            (rowid, None if answer is None else ids[answer])
            for rowid, answer in answer_by_output.items()
        ),
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
    "None if the output ends within the thought"
    seed: int | None
    "None if it is not known, see `known_origin`"
    at: str
    "empty if it is not known"
    job: int


def thoughts_of(
    connection: sqlite3.Connection, run: Run, statement: str | None = None, *, limit: int
) -> tuple[ThoughtRow, ...]:
    """Return the first outputs with a thought of a run, or of one of its statements.

    The most frequent outputs of a prompt come first.
    """
    values = run_values(connection, run) | {"statement": statement, "limit": limit}
    thought_rows = []
    for (
        body,
        count,
        ref,
        kind,
        ordinal,
        template,
        inverted,
        seed,
        drawn_at,
        job,
    ) in connection.execute(_SQL, values):
        output = split(decode_text(body))
        variant = f"{kind}-{ordinal}" if ordinal else kind
        columns = (ref, variant, template, inverted, count, output.thinking, output.answer)
        thought_rows.append(ThoughtRow(*columns, *known_origin(run.model, seed, drawn_at), job))
    return tuple(thought_rows)


_SQL = f"""
    select x.body, r.count, s.ref, w.kind, w.ordinal, t.name, t.inverted, d.seed, d.at, a.job_id
    from instrument i
    join statement s on s.id in (select value from json_each(:scope)) and (:statement is null
        or s.ref = :statement)
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


class Readings(Aggregate):
    """The methods on readings."""

    def reader(self, card: ReaderCard) -> int:
        """Return the rowid of a reader, inserting a new one."""
        identity = (card.kind.value, card.name, card.version)
        sql = "select id from reader where kind = ? and name = ? and version = ?"
        if (row := self.connection.execute(sql, identity).fetchone()) is not None:
            return int(row[0])
        with self.store.write() as connection:
            return reader_id(connection, card.kind, card.name, card.version)

    def count(self, reader: int) -> int:
        """Return a reader's number of readings."""
        sql = "select count(*) from reading where reader_id = ?"
        return self.store.remembered(
            (sql, reader), lambda: int(self.connection.execute(sql, (reader,)).fetchone()[0])
        )

    def unread(
        self, run: Run, readers: Mapping[bytes, int]
    ) -> Iterator[list[tuple[int, int, bytes, str]]]:
        """Yield the unread answers of a run, some thousand at a time.

        Each is (rowid of the answer, rowid and key of the template, answer). Answers that are
        stored meanwhile are not included.

        `readers` maps the key of a template to the rowid of the reader for the answers to it.
        Answers to other templates are left out.
        """
        import numpy as np

        keys: dict[int, bytes] = dict(self.connection.execute("select id, key from template"))
        units = self._unread_units(run, keys, readers)
        pairs = np.stack([units // TEMPLATES, units % TEMPLATES], axis=1)
        for start in range(0, len(pairs), AT_ONCE):
            chunk = pairs[start : start + AT_ONCE].tolist()
            ids = json.dumps([text_id for text_id, _ in chunk])
            bodies = dict(self.connection.execute(_BODIES, (ids,)))
            yield [
                (text_id, template_id, keys[template_id], decode_text(bodies[text_id]))
                for text_id, template_id in chunk
            ]

    def _unread_units(
        self, run: Run, keys: Mapping[int, bytes], readers: Mapping[bytes, int]
    ) -> NDArray[np.int64]:
        """Return the units of a run's answers that their readers have not read (see `_unit`).

        Parameters
        ----------
        keys : rowid of a template -> its key
        readers : key of a template -> rowid of the reader, as in `unread`
        """
        import numpy as np

        _, templates, texts, _ = answers_of(self.store, run)
        units = np.unique(_unit(texts, templates))
        reader_by_template = np.zeros(max(keys, default=0) + 1, dtype=np.int64)
        for rowid, key in keys.items():
            reader_by_template[rowid] = readers.get(key, 0)
        unit_readers = reader_by_template[units % TEMPLATES]
        is_unread = unit_readers > 0
        for reader in set(readers.values()):
            units_read, _, _ = read_units(self.store, [reader])
            is_read = np.isin(units, units_read, assume_unique=True)
            is_unread &= ~(is_read & (unit_readers == reader))
        return units[is_unread]

    def add(self, readings: Iterable[tuple[int, int, int, Reading]]) -> None:
        """Write readings in one transaction, where a reader has none yet.

        Each is (rowid of the answer, of its template, of the reader, reading). Existing readings of
        a reader are kept.
        """
        with self.store.write() as connection:
            _insert(connection, readings)


AT_ONCE = 5000
"the number of answers that are read in one step"
_BODIES = "select id, body from text where id in (select value from json_each(?))"
TEMPLATES = 2**20
"more than the templates of any store, so that a text and a template are one number"


def _unit(texts: NDArray[np.int32], templates: NDArray[np.int32]) -> NDArray[np.int64]:
    import numpy as np

    return texts * np.int64(TEMPLATES) + templates


def answers_of(store: Transactions, run: Run) -> NDArray[np.int32]:
    """Return the answers of a run as an array with the rows probe, template, text and count.

    The first three are rowids. The answers of the last requested run are cached: they are 16 bytes
    each.
    """
    import numpy as np

    cached: dict[Run, NDArray[np.int32]] = store.remembered("answers", dict)
    if run not in cached:
        cached.clear()
        rows = store.connection.execute(_ANSWERS, run_values(store.connection, run))
        cached[run] = np.fromiter(chain.from_iterable(rows), dtype=np.int32).reshape(-1, 4).T
    return cached[run]


def read_units(
    store: Transactions, readers: Sequence[int]
) -> tuple[NDArray[np.int64], NDArray[np.int64], tuple[tuple[str | None, bool], ...]]:
    """Return the readings of answers by rules: the units, the kind of each, and the kinds.

    A unit is a text as an answer to a template (see `_unit`). The units ascend. The kind of a unit
    is an index into the kinds. A kind is a label, and whether an answer without a label refuses.
    """
    import numpy as np

    def read() -> tuple[NDArray[np.int64], NDArray[np.int64], tuple[tuple[str | None, bool], ...]]:
        kinds: dict[tuple[str | None, bool], int] = {(None, False): 0}

        def rows() -> Iterator[int]:
            for unit, label, refused in store.connection.execute(
                _READ_UNITS, {"readers": json.dumps(list(readers))}
            ):
                yield unit
                yield kinds.setdefault((label, bool(refused)), len(kinds))

        units, kind_indices = np.fromiter(rows(), dtype=np.int64).reshape(-1, 2).T
        order = np.argsort(units, kind="stable")
        return units[order], kind_indices[order], tuple(kinds)

    return store.remembered(("read", tuple(readers)), read)


_ANSWERS = f"""
    select p.id, p.template_id, r.text_id, r.count
    from instrument i
    join statement s on s.id in (select value from json_each(:scope))
    join wording w on w.statement_id = s.id and w.language = :language
    join probe p on p.wording_id = w.id and {PROBES}
    join draw d on d.prompt_id = p.prompt_id and d.model_id = :model and d.sampling_id = :sampling
        and (:fingerprint is null or d.fingerprint = :fingerprint)
    join given_answer r on r.draw_id = d.id
    where i.name = :instrument
"""

_READ_UNITS = f"""
    select u.text_id * {TEMPLATES} + u.template_id, g.label, g.label is null
        and g.reason = 'refusal'
    from reading g join unit u on u.id = g.unit_id
    where g.reader_id in (select value from json_each(:readers)) and u.wording_id is null
        and u.template_id is not null
"""


def tally(store: Transactions, run: Run, readers: Sequence[int]) -> AnswerTally:
    """Return the number of answers of each kind to each probe of a run (see `Runs.counts`)."""
    import numpy as np

    answer_probes, templates, texts, counts = answers_of(store, run)
    units, unit_kinds, kinds = read_units(store, readers)
    answer_units = _unit(texts, templates)
    answer_kinds = np.zeros(len(answer_units), dtype=np.int64)
    if len(units):
        indices = np.minimum(np.searchsorted(units, answer_units), len(units) - 1)
        answer_kinds = np.where(units[indices] == answer_units, unit_kinds[indices], 0)
    probes, columns = np.unique(answer_probes, return_inverse=True)
    table = np.bincount(
        answer_kinds * len(probes) + columns, weights=counts, minlength=len(kinds) * len(probes)
    )
    return AnswerTally(
        probes.astype(np.int64), kinds, table.astype(np.int64).reshape(len(kinds), len(probes))
    )


@dataclass(frozen=True, slots=True)
class RuleReading:
    """The reading of a text as an answer to a template, by a rule or a classifier."""

    text: str
    template: bytes
    "the template's key"
    reader: int
    "rowid of the rule or classifier"
    reading: Reading


def insert_readings(connection: sqlite3.Connection, readings: Sequence[RuleReading]) -> None:
    """Insert readings of stored texts and templates. Call inside a transaction."""
    texts = text_ids(connection, (item.text for item in readings))
    keys = {item.template for item in readings}
    templates = {
        key: rowid
        for rowid, key in connection.execute("select id, key from template")
        if key in keys
    }
    _insert(
        connection,
        (
            (texts[item.text], templates[item.template], item.reader, item.reading)
            for item in readings
        ),
    )


def _insert(
    connection: sqlite3.Connection, readings: Iterable[tuple[int, int, int, Reading]]
) -> None:
    """Insert new readings: rowids of the text, the template and the reader, and the reading.

    Existing readings are kept.
    """
    read_at, rows = now(), list(readings)
    units = dict.fromkeys((text, template) for text, template, _, _ in rows)
    connection.executemany(
        "insert into unit (text_id, template_id) values (?, ?) on conflict do nothing", units
    )
    connection.executemany(
        "insert into reading (unit_id, reader_id, revision, label, reason, start, stop, "
        "confidence, at) values ((select id from unit where text_id = ? and template_id = ? and "
        "wording_id is null), ?, 1, ?, ?, ?, ?, ?, ?) on conflict do nothing",
        (
            (
                text,
                template,
                reader,
                reading.label,
                reading.reason,
                reading.start,
                reading.stop,
                checked_confidence(reading.confidence),
                read_at,
            )
            for text, template, reader, reading in rows
        ),
    )


@dataclass(frozen=True, slots=True)
class BiasCell:
    """The number of answers of one cell that have one reading."""

    ref: str
    kind: str
    ordinal: int
    template: str
    by_rule: bool
    label: str | None
    "None if it is unread"
    kept: bool
    "whether the confidence reaches the threshold, which is always true for rules and people"
    count: int
    relation: str
    "relation of the wording to the original, in the version that was asked"
    leaning: str | None
    "the side that agreement with the original indicates, in that version"
    truncated: bool = False
    "whether these outputs were cut off in thought, without an answer"
    by_person: bool = False
    "whether a person's label counts"
    untested: bool = False
    """whether the text was training data of a classifier and has no label for this wording, so
    that no test covers it"""
    prompt: int = 0
    "rowid of the prompt. Two models that were asked the same have the same one."
    left_out: bool = False
    "whether an auditor's ruling excludes these answers"


@dataclass(frozen=True, slots=True)
class BiasResponse:
    """One distinct answer with the reading that counts."""

    text: str
    "the answer, or an empty string if the output ends within a thought"
    count: int
    wording: str
    kind: str
    ordinal: int
    template: str
    label: str | None
    confidence: float | None
    by_rule: bool
    relation: str
    "relation of the wording to the original"
    model: str
    revision: str
    sampling: str
    seed: int | None
    "None if it is not known, see `known_origin`"
    at: str
    "empty if it is not known"
    code_version: str
    job: int
    thinking: str = ""
    "the thought before the answer, which has no reading"
    truncated: bool = False
    "whether the output ends within the thought, so that there is no answer"
    version: str = ""
    "as in `ResponseRow`"
    ruled: str = ""
    "effect of an auditor's ruling: `read anew`, `left out`, or an empty string without a ruling"
    probe: int = 0
    "rowid of the probe"
    unruled: str | None = None
    "label before rulings"


class UnitSource(NamedTuple):
    """A model that gave the text of a unit as an answer."""

    unit: int
    model_id: int
    language: str
    "language of the wording"
    answers: int


class LabelledCell(NamedTuple):
    """The number of answers of one cell that have one text which a person labelled."""

    ref: str
    kind: str
    ordinal: int
    template: str
    unit: int
    label: str
    reading: str | None
    "the classifier's label, or None if it is below the threshold or missing"
    answers: int


@dataclass(frozen=True, slots=True)
class RuledAnswers:
    """The effects of auditors' rulings in a run."""

    probes: Collection[int]
    "rowids of probes whose answers are excluded"
    answers: Mapping[tuple[int, bytes], Effect]
    "(probe, key of the answer's text) -> effect"
    confirmed: Collection[tuple[int, bytes]] = ()
    """(probe, key of the answer's text) of readings that an auditor confirmed. They count like
    labels by people if `labelled` is given."""


NONE_RULED = RuledAnswers((), {})


class BiasReadings(Aggregate):
    """The methods on readings of free text."""

    def cells(
        self,
        run: Run,
        reader: int | None,
        threshold: float,
        people: Mapping[int, str] | None = None,
        labelled: Mapping[int, str] | None = None,
        ruled: RuledAnswers = NONE_RULED,
    ) -> tuple[BiasCell, ...]:
        """Return the numbers of a run's answers by cell and reading.

        An answer has the reading of a rule if that could read it. Otherwise it has that of the
        classifier or, if `people` (unit -> label) is given, of people. For texts in `labelled`
        (unit -> label) that label replaces the classifier's. Without it, no cell is `by_person` or
        `untested`. Rulings (`ruled`) take precedence over all of them.
        """
        values = _values(self.connection, run, reader, people, labelled, ruled) | {
            "threshold": threshold
        }
        rows = self.connection.execute(_CELLS, values)
        return tuple(
            BiasCell(
                ref,
                kind,
                ordinal,
                template,
                bool(by_rule),
                label,
                bool(is_counted),
                count,
                relation,
                leaning,
                bool(truncated),
                bool(by_person),
                bool(untested),
                prompt,
                bool(left_out),
            )
            for (
                ref,
                kind,
                ordinal,
                template,
                by_rule,
                label,
                is_counted,
                by_person,
                untested,
                count,
                relation,
                leaning,
                truncated,
                prompt,
                left_out,
            ) in rows
        )

    def givers(self, audit: str, units: Sequence[int]) -> tuple[UnitSource, ...]:
        """Return the models that gave the texts of these units as answers to their wordings.

        Each has its number of such answers.
        """
        rows = self.connection.execute(_GIVERS, {"audit": audit, "units": json.dumps(list(units))})
        return tuple(UnitSource(*row) for row in rows)

    def labelled_cells(
        self,
        run: Run,
        reader: int | None,
        threshold: float,
        labelled: Mapping[int, str],
        ruled: RuledAnswers,
    ) -> tuple[LabelledCell, ...]:
        """Return the numbers of answers that count by a person's label of their text.

        Each has the classifier's reading, too.
        """
        values = _values(self.connection, run, reader, None, labelled, ruled) | {
            "threshold": threshold
        }
        return tuple(LabelledCell(*row) for row in self.connection.execute(_LABELLED_CELLS, values))

    def asked_after(self, run: Run, time: str) -> int:
        """Return the number of answers of a run that were drawn after a time."""
        row = self.connection.execute(
            _ASKED_AFTER, run_values(self.connection, run) | {"at": time}
        ).fetchone()
        return int(row[0])

    def responses(
        self,
        run: Run,
        reader: int | None,
        ref: str,
        *,
        template: str | None = None,
        people: Mapping[int, str] | None = None,
        labelled: Mapping[int, str] | None = None,
        ruled: RuledAnswers = NONE_RULED,
        offset: int = 0,
        limit: int = 200,
    ) -> tuple[BiasResponse, ...]:
        """Return the distinct answers to a statement with the readings that count.

        The most frequent answers come first.
        """
        values = _values(self.connection, run, reader, people, labelled, ruled) | {
            "ref": ref,
            "template": template,
            "offset": offset,
            "limit": limit,
        }
        return tuple(
            BiasResponse(
                text=(output := split(decode_text(row["output"]))).answer or "",
                thinking=output.thinking,
                truncated=output.answer is None,
                count=row["count"],
                wording=decode_text(row["wording"]),
                kind=row["kind"],
                ordinal=row["ordinal"],
                template=row["template"],
                label=row["label"],
                confidence=row["confidence"],
                by_rule=bool(row["by_rule"]),
                relation=row["relation"],
                model=run.model,
                revision=run.revision,
                sampling=str(run.sampling),
                seed=known_origin(run.model, row["seed"], row["at"])[0],
                at=known_origin(run.model, row["seed"], row["at"])[1],
                code_version=row["code_version"],
                job=row["job_id"],
                version=version(
                    run.backend, run.revision, run.snapshot, row["fingerprint"] or run.fingerprint
                ),
                ruled=_effect_text(row),
                probe=row["probe_id"],
                unruled=row["unruled"],
            )
            for row in execute_named(self.connection, _RESPONSES, values)
        )


def _effect_text(row: sqlite3.Row) -> str:
    """Return the effect of a ruling on an answer, or an empty string without a ruling."""
    if row["left_out"]:
        return "left out"
    return "read anew" if row["ruled"] else ""


def _values(
    connection: sqlite3.Connection,
    run: Run,
    reader: int | None,
    people: Mapping[int, str] | None,
    labelled: Mapping[int, str] | None,
    ruled: RuledAnswers,
) -> dict[str, object]:
    return run_values(connection, run) | {
        "out": json.dumps(list(ruled.probes)),
        "ruled": json.dumps(
            list(_by_rowid(connection, ruled, with_confirmed=labelled is not None))
        ),
        "reader": reader,
        "people": _as_json(people),
        "labelled": _as_json(labelled),
    }


def _by_rowid(
    connection: sqlite3.Connection, ruled: RuledAnswers, *, with_confirmed: bool
) -> Iterator[tuple[int, int, str | None, int]]:
    """Yield the probe, the rowid of the text, the label and the effect of each ruling on an answer.

    The effect is 0 for another reading, 1 for an exclusion and 2 for a confirmed reading.
    """
    confirmed = [(answer_key, None, 2) for answer_key in ruled.confirmed if with_confirmed]
    effects = [
        (answer_key, effect.label, int(effect.left_out))
        for answer_key, effect in ruled.answers.items()
    ]
    for (probe, key), label, verdict in (*effects, *confirmed):
        row = connection.execute("select id from text where key = ?", (key,)).fetchone()
        if row is not None:
            yield probe, int(row[0]), label, verdict


def _as_json(labels: Mapping[int, str] | None) -> str | None:
    return (
        None if labels is None else json.dumps({str(unit): label for unit, label in labels.items()})
    )


_BARE = """(
    select b.prompt_id from probe b where b.audit = p.audit and b.wording_id = p.wording_id
    and b.template_id = p.template_id and json(b.axes) = json_remove(p.axes, '$.persona')
)"""
"""the same prompt without the persona of `p`, since models are compared on prompts that differ
only in the persona"""

_READ = f"""
    with put as materialized (
        select s.ref, s.ordinal as place, s.leaning, w.id
            as wording_id, w.kind, w.ordinal, w.relation,
            w.text_id as wording_text, {first_wording("w", "s")} as unit_wording
        from statement s join wording w on w.statement_id = s.id and w.language = :language
        where s.id in (select value from json_each(:scope))
    ),
    answered as (
        select u.*, p.id as probe_id, t.id as template_id, t.name as template, d.id as draw_id,
            iif(:persona is null, d.prompt_id, coalesce({_BARE}, d.prompt_id)) as prompt_id,
            {ANSWER_ID} as text_id, r.text_id as output_id, r.count
        from put u
        join probe p on p.wording_id = u.wording_id and {PROBES}
        join template t on t.id = p.template_id
        join draw d on d.prompt_id = p.prompt_id and d.model_id = :model
            and d.sampling_id = :sampling
        and (:fingerprint is null or d.fingerprint = :fingerprint)
        join response r on r.draw_id = d.id
        {HELD}
    ),
    given as (
        select cast(key as integer) as unit_id, value as label, null as confidence
        from json_each(:people) where :people is not null
        union all
        select g.unit_id, g.label, g.confidence from reading g where g.reader_id = :reader
            and :people is null
    ),
    labelled as (
        select cast(key as integer) as unit_id, value as label from json_each(:labelled)
            where :labelled is not null
    ),
    trained as (
        select distinct v.text_id from queue q
        join queue_item i on i.queue_id = q.id and i.attention is null and i.done > 0
        join unit v on v.id = i.unit_id
        where q.purpose = 'training' and :labelled is not null
    ),
    ruled as materialized (
        select value ->> 0 as probe_id, value ->> 1 as text_id, value ->> 2 as label, value ->> 3
            as verdict
        from json_each(:ruled)
    ),
    read as (
        select a.*, h.id is not null and z.verdict is not 0 as by_rule,
            iif(z.verdict is 0, z.label, coalesce(b.label, l.label, g.label)) as label,
            coalesce(b.label, l.label, g.label) as unruled,
            iif(l.label is null and coalesce(z.verdict, 1) = 1, g.confidence, null) as confidence,
            z.verdict is 0 or (h.id is null and (z.verdict is 2 or l.label is not null))
                as by_person,
            h.id is null and l.label is null and coalesce(z.verdict, 1) = 1
                and a.text_id in (select text_id from trained) as untested,
            z.verdict is 0 as ruled,
            z.verdict is 1 or a.probe_id in (select value from json_each(:out)) as left_out,
            iif(h.id is null and z.verdict is null and l.label is not null, u.id, null)
                as labelled_unit,
            g.label as reading, g.confidence as sureness
        from answered a
        left join unit v on v.text_id = a.text_id and v.template_id = a.template_id
            and v.wording_id is null
        left join reading b on b.unit_id = v.id and b.label is not null and b.reader_id = (
            select max(y.reader_id) from reading y join reader k on k.id = y.reader_id
                and k.kind = 'rule'
            where y.unit_id = v.id
        )
        left join reader h on h.id = b.reader_id
        left join ruled z on z.probe_id = a.probe_id and z.text_id = a.text_id
            and (:labelled is null or :people is not null or h.id is not null or z.verdict is 1)
        left join unit u on u.text_id = a.text_id and u.wording_id = a.unit_wording
            and u.template_id is null
        left join given g on g.unit_id = u.id
        left join labelled l on l.unit_id = u.id
    )
"""

_CELLS = f"""
    {_READ}
    select ref, kind, ordinal, template, by_rule, label,
        by_rule or confidence is null or confidence >= :threshold as kept, by_person, untested, sum(count), relation,
        leaning, text_id is null as truncated, min(prompt_id), left_out
    from read group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 15 order by place, kind, ordinal, template
"""  # noqa: E501

_GIVERS = """
    select unit, model_id, language, sum(count) from (
        select distinct u.id as unit, d.id as draw_id, d.model_id, w.language, r.output_id, r.count
        from unit u
        join wording f on f.id = u.wording_id
        join statement v on v.id = f.statement_id
        join statement s on s.instrument_id = v.instrument_id and s.ref = v.ref
        join wording w on w.statement_id = s.id and w.language = f.language and w.kind = f.kind
            and w.ordinal = f.ordinal and w.text_id = f.text_id
        join probe p on p.wording_id = w.id and p.audit = :audit
        join draw d on d.prompt_id = p.prompt_id
        join given_answer r on r.draw_id = d.id and r.text_id = u.text_id
        where u.template_id is null and u.id in (select value from json_each(:units))
    ) group by 1, 2, 3 order by 1, 2
"""
"Versions of a statement share prompts, so each draw counts once."

_ASKED_AFTER = f"""
    select coalesce(sum(r.count), 0) from statement s
    join wording w on w.statement_id = s.id and w.language = :language
    join probe p on p.wording_id = w.id and {PROBES}
    join draw d on d.prompt_id = p.prompt_id and d.model_id = :model and d.sampling_id = :sampling
        and d.at > :at
    join response r on r.draw_id = d.id
    where s.id in (select value from json_each(:scope))
"""

_LABELLED_CELLS = f"""
    {_READ}
    select ref, kind, ordinal, template, labelled_unit, label,
        iif(sureness is null or sureness >= :threshold, reading, null), sum(count)
    from read where labelled_unit is not null and not left_out group by 1, 2, 3, 4, 5, 6, 7
    order by place, kind, ordinal, template, labelled_unit
"""

_RESPONSES = f"""
    {_READ}
    select x.body as output, q.count, y.body as wording, q.kind, q.ordinal, q.template, q.label,
        case when q.by_rule then null else q.confidence end as confidence, q.by_rule,
        d.seed, d.at, e.code_version, e.job_id, q.relation, d.fingerprint, q.ruled, q.left_out, q.probe_id,
        q.unruled
    from read q
    join text x on x.id = q.output_id
    join text y on y.id = q.wording_text
    join draw d on d.id = q.draw_id
    join attempt e on e.id = d.attempt_id
    where q.ref = :ref and (:template is null or q.template = :template)
    order by q.kind, q.ordinal, q.template, q.count desc, q.output_id limit :limit offset :offset
"""  # noqa: E501
