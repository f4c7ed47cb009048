"""Answers, readings and labels as rows for other programs, with all related data.

Answers are read by columns, some draws at a time in the order of writing, so five million of them
take no more memory than a few thousand. Related data (cells of designs, models, samplings) are read
once and shared by all rows.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from stores.core.base import Aggregate, decode_text, execute_named
from stores.core.identity import uid_of
from stores.instruments import instruments as lexicon_rows
from stores.instruments.templates import TEMPLATE_COLUMNS, as_template
from workbench.domain.instruments import BroughtLexicon
from workbench.domain.prompts import Template


class ReadingRow(NamedTuple):
    """A reading of an answer."""

    reader_kind: str
    reader: str
    reader_version: str
    codebook: str | None
    label: str | None
    "None if it is unreadable, or a withdrawn label"
    reason: str
    confidence: float | None
    at: str


@dataclass(frozen=True, slots=True)
class DesignCell:
    """One cell of a design."""

    probe: int
    "rowid"
    audit: str
    instrument: str
    statement: str
    statement_version: int
    statement_current: bool
    country: str | None
    topic: str | None
    dimension: str | None
    leaning: str | None
    language: str
    variant: str
    relation: str
    "relation of the wording to the original"
    wording: str
    wording_id: int
    """rowid of the first wording with this text, to which the readings of people and classifiers
    refer"""
    template_id: int
    family: str
    template: str
    template_version: int | None
    order: str
    axes: Mapping[str, str]
    prompt_key: str
    "in hexadecimal, as rulings refer to it"


class Draw(NamedTuple):
    """Answers to one prompt that were drawn together. Integers are rowids, except the seed."""

    id: int
    prompt: int
    model: int
    sampling: int
    seed: int | None
    "None if it is not known"
    fingerprint: str
    job: int | None
    at: str | None
    "None if it is not known"


class OutputText(NamedTuple):
    """A text that a model wrote, once for all equal answers."""

    text: str
    "as written, including thoughts"
    key: str | None
    "key of the answer's text, in hexadecimal, or None if the output ends within its thought"
    answer: int | None
    "rowid of the answer's text"


StoredModel = sqlite3.Row
"a row of the table `model`"
Responses = Sequence[tuple[int, int, int]]
"(draw, output, count) of each distinct answer"


class DataRows(Aggregate):
    """The methods on rows for other programs. All of them only read."""

    def uid(self) -> bytes:
        """Return the uid of this store, from which pseudonyms are computed.

        No file may contain it.
        """
        return uid_of(self.connection)

    def cells(
        self, audits: Collection[str] = (), instruments: Collection[str] = ()
    ) -> dict[int, list[DesignCell]]:
        """Return the cells of designs by prompt (rowid).

        By default they are of all audits and instruments.
        """
        text_by_id: dict[int, str] = {}
        axes_by_json: dict[str, Mapping[str, str]] = {}
        cells_by_prompt: dict[int, list[DesignCell]] = {}
        for row in execute_named(
            self.connection, _CELLS, {"audits": _names(audits), "instruments": _names(instruments)}
        ):
            if row["text_id"] not in text_by_id:
                text_by_id[row["text_id"]] = decode_text(row["body"])
            if row["axes"] not in axes_by_json:
                axes_by_json[row["axes"]] = json.loads(row["axes"])
            cells_by_prompt.setdefault(row["prompt_id"], []).append(
                _cell(row, text_by_id[row["text_id"]], axes_by_json[row["axes"]])
            )
        return cells_by_prompt

    def models(self) -> dict[int, StoredModel]:
        """Return every model by its rowid."""
        return {row["id"]: row for row in execute_named(self.connection, "select * from model")}

    def samplings(self) -> dict[int, sqlite3.Row]:
        """Return every sampling by its rowid."""
        return {row["id"]: row for row in execute_named(self.connection, "select * from sampling")}

    def templates(self) -> dict[int, Template]:
        """Return every template by its rowid."""
        rows = self.connection.execute(f"select {TEMPLATE_COLUMNS}, t.id from template t")
        return {row[-1]: as_template(row) for row in rows}

    def lexicons(self) -> dict[str, tuple[BroughtLexicon, ...]]:
        """Return the lexicons of instruments, by the instrument's name."""
        names = [name for (name,) in self.connection.execute("select name from instrument")]
        return {
            name: lexicons
            for name in names
            if (lexicons := lexicon_rows.lexicons_of(self.connection, name))
        }

    def answering(self) -> tuple[str, ...]:
        """Return the names of the models that answered or were asked for probabilities."""
        rows = self.connection.execute(
            "select distinct m.name from model m where exists (select 1 from draw d where "
            "d.model_id = m.id) order by 1"
        )
        return tuple(name for (name,) in rows)

    def given(
        self, models: Collection[int], draws: int
    ) -> Iterator[tuple[Sequence[Draw], Responses]]:
        """Yield the distinct answers of these models (rowids) in the order of writing.

        Each step has so many draws.
        """
        cursor = self.connection.execute(_DRAWS, {"models": json.dumps(sorted(models))})
        while rows := cursor.fetchmany(draws):
            first_and_last = rows[0][0], rows[-1][0]
            yield (
                [Draw._make(row) for row in rows],
                self.connection.execute(_RESPONSES, first_and_last).fetchall(),
            )

    def outputs(self, outputs: Collection[int]) -> dict[int, OutputText]:
        """Return the texts with these rowids that models wrote."""
        return {
            text_id: OutputText(decode_text(body), None if key is None else key.hex(), answer)
            for text_id, body, key, answer in self.connection.execute(
                _OUTPUTS, (json.dumps(sorted(outputs)),)
            )
        }

    def counted(self, models: Collection[int], *, expand: bool) -> dict[int, int]:
        """Return the numbers of answers of these models (rowids), by prompt (rowid).

        Equal answers of a draw count once unless `expand`.
        """
        sql = _COUNTED.format("sum(r.count)" if expand else "count(*)")
        return dict(self.connection.execute(sql, {"models": json.dumps(sorted(models))}))

    def answers(self) -> int:
        """Return the number of answers of all models."""
        return int(
            self.connection.execute("select coalesce(sum(count), 0) from response").fetchone()[0]
        )

    def scored(self, models: Collection[int]) -> int:
        """Return the number of prompts for which these models gave only probabilities."""
        row = self.connection.execute(_SCORED, {"models": json.dumps(sorted(models))}).fetchone()
        return int(row[0])

    def standing(self, answers: Collection[int]) -> Standing:
        """Return each reader's newest readings of answers (rowids of their texts)."""
        readings: Standing = {}
        texts = json.dumps(sorted(answers))
        for kind, sql in _STANDING.items():
            if (
                self.connection.execute(
                    f"select 1 from unit where {kind} is not null limit 1"
                ).fetchone()
                is not None
            ):
                for text_id, target_id, *values in self.connection.execute(sql, (texts,)):
                    readings.setdefault((text_id, kind, target_id), []).append(ReadingRow(*values))
        return readings

    def labels(self, instruments: Collection[str] = ()) -> Iterator[sqlite3.Row]:
        """Yield every label that a person gave to an answer or decided on, in the order of time."""
        yield from execute_named(self.connection, _LABELS, {"instruments": _names(instruments)})

    def issue_labels(self, instruments: Collection[str] = ()) -> Iterator[sqlite3.Row]:
        """Yield every label of a statement for a policy issue, in the order of time."""
        yield from execute_named(
            self.connection, _ISSUE_LABELS, {"instruments": _names(instruments)}
        )

    def last(self) -> str:
        """Return the time of the newest exportable data: answer, label or ruling."""
        return str(self.connection.execute(_LAST).fetchone()[0] or "")


Standing = dict[tuple[int, str, int], list[ReadingRow]]
"""(text, `template_id` or `wording_id`, its rowid) -> readings of the text. The rules read it
with the template, people and classifiers with the wording."""


def _cell(row: sqlite3.Row, wording: str, axes: Mapping[str, str]) -> DesignCell:
    ordinal = f"-{row['ordinal']}" if row["ordinal"] else ""
    return DesignCell(
        probe=row["probe"],
        audit=row["audit"],
        instrument=row["instrument"],
        statement=row["ref"],
        statement_version=row["version"],
        statement_current=bool(row["current"]),
        country=row["country"],
        topic=row["topic"],
        dimension=row["dimension"],
        leaning=row["leaning"],
        language=row["language"],
        variant=f"{row['kind']}{ordinal}",
        relation=row["relation"],
        wording=wording,
        wording_id=row["first"],
        template_id=row["template_id"],
        family=row["family"],
        template=row["template"],
        template_version=row["template_version"],
        order="swapped" if row["inverted"] else "printed",
        axes=axes,
        prompt_key=row["key"].hex(),
    )


def _names(names: Collection[str]) -> str | None:
    """Return names for `json_each`. None stands for all."""
    return json.dumps(sorted(names)) if names else None


_CELLS = """
    with first as materialized (
        select s.instrument_id, s.ref, w.language, w.kind, w.ordinal, w.text_id, min(w.id) as id
        from statement s join wording w on w.statement_id = s.id group by 1, 2, 3, 4, 5, 6
    ),
    numbered as materialized (
        select instrument_id, template_id, max(version) as version from template_version
            group by 1, 2
    )
    select p.id as probe, p.audit, i.name as instrument, s.ref, s.version, s.current, s.country,
        s.topic, s.dimension,
        s.leaning, w.language, w.kind, w.ordinal, w.relation,
        w.text_id, x.body, f.id as first, t.id as template_id, t.family,
        t.name as template, v.version as template_version, t.inverted, p.axes, p.prompt_id, q.key
    from instrument i
    join statement s on s.instrument_id = i.id
    join wording w on w.statement_id = s.id
    join probe p on p.wording_id = w.id
    join text x on x.id = w.text_id
    join template t on t.id = p.template_id
    join prompt q on q.id = p.prompt_id
    join first f on f.instrument_id = s.instrument_id and f.ref = s.ref and f.language = w.language
        and f.kind = w.kind
        and f.ordinal = w.ordinal and f.text_id = w.text_id
    left join numbered v on v.instrument_id = i.id and v.template_id = t.id
    where (:audits is null or p.audit in (select value from json_each(:audits)))
        and (:instruments is null or i.name in (select value from json_each(:instruments)))
    order by p.id
"""

_DRAWS = """
    select d.id, d.prompt_id, d.model_id, d.sampling_id, d.seed, d.fingerprint, a.job_id, d.at
    from draw d left join attempt a on a.id = d.attempt_id
    where +d.model_id in (select value from json_each(:models))
    order by d.id
"""
"`+` keeps SQLite to the order of writing, which needs no sorting"
_RESPONSES = (
    "select draw_id, text_id, count from response where draw_id between ? and ? order "
    "by draw_id, text_id"
)
_OUTPUTS = """
    select x.id, x.body, iif(h.text_id is null, x.key, (select y.key from text y
        where y.id = h.answer_id)),
        iif(h.text_id is null, x.id, h.answer_id)
    from json_each(?) j cross join text x on x.id = j.value left join thought h on h.text_id = x.id
"""
_COUNTED = """
    select d.prompt_id, {} from draw d join response r on r.draw_id = d.id
    where d.model_id in (select value from json_each(:models)) group by 1
"""

_SCORED = """
    select count(*) from draw d join sampling g on g.id = d.sampling_id and g.mode = 'exact'
    where d.model_id in (select value from json_each(:models))
"""

_NEWEST = """
    not exists (
        select 1 from reading n
        where n.unit_id = b.unit_id and n.reader_id = b.reader_id and n.codebook_id is b.codebook_id
            and (n.at, coalesce(n.uid, x''), n.revision) > (b.at, coalesce(b.uid, x''), b.revision)
    )
"""

_READ = f"""
    select u.text_id, u.{{kind}}, e.kind, e.name, e.version, c.name, b.label, b.reason,
        b.confidence, b.at
    from json_each(?) j
    cross join unit u on u.text_id = j.value and u.{{kind}} is not null and u.{{other}} is null
    cross join reading b on b.unit_id = u.id
    join reader e on e.id = b.reader_id
    left join codebook c on c.id = b.codebook_id
    where {_NEWEST}
    order by e.kind, e.name, e.version, b.at
"""
_STANDING = {
    "template_id": _READ.format(kind="template_id", other="wording_id"),
    "wording_id": _READ.format(kind="wording_id", other="template_id"),
}

_LABELS = f"""
    select i.name as instrument, s.ref as statement, s.version
        as statement_version, w.language, w.kind, w.ordinal,
        o.body as wording, x.body as text, x.key as answer_key, e.kind as role, e.name as annotator,
        c.name as codebook, b.label, b.reason, coalesce(nullif(b.note, ''), (
            select m.note from remark m where m.unit_id = u.id and m.reader_id = e.id
                order by m.at desc, m.uid desc
            limit 1
        )) as note, (
            select m.flagged from remark m where m.unit_id = u.id and m.reader_id = e.id
                order by m.at desc, m.uid desc
            limit 1
        ) as flagged, b.elapsed_ms, iif(b.dated, b.at, null) as given_at, {_NEWEST} as newest
    from reading b
    join reader e on e.id = b.reader_id and e.kind in ('person', 'adjudication', 'import')
    join unit u on u.id = b.unit_id and u.wording_id is not null
    join wording w on w.id = u.wording_id
    join statement s on s.id = w.statement_id
    join instrument i on i.id = s.instrument_id
    join text o on o.id = w.text_id
    join text x on x.id = u.text_id
    left join codebook c on c.id = b.codebook_id
    where :instruments is null or i.name in (select value from json_each(:instruments))
    order by b.at, b.uid, u.id, b.revision
"""

_ISSUE_LABELS = """
    select i.name as instrument, s.ref as statement, s.version as statement_version, e.kind as role,
        e.name as annotator, l.issue, l.label, iif(e.kind = 'import', null, l.at)
            as given_at, not exists (
            select 1 from issue_label n where n.statement_id = l.statement_id and n.issue = l.issue
                and n.reader_id = l.reader_id and n.revision > l.revision
        ) as newest
    from issue_label l
    join statement s on s.id = l.statement_id
    join instrument i on i.id = s.instrument_id
    join reader e on e.id = l.reader_id
    where :instruments is null or i.name in (select value from json_each(:instruments))
    order by l.at, s.ordinal, l.issue, l.reader_id, l.revision
"""

_LAST = """
    select max(at) from (
        select max(at) as at from draw union all select max(at) from reading
            union all select max(at) from issue_label
        union all select max(at) from ruling union all select max(imported_at) from instrument
    )
"""
