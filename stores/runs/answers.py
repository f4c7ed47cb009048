"""Models' original answers: by prompt, by version of a statement, or by words.

One query reads a whole run for audits that count the answers themselves, because a figure of such
an audit is a mean over all of its prompts.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from stores.core.base import Aggregate, decode_text, execute_named, instrument_id_of
from stores.instruments.templates import PROBES
from stores.runs.models import newest_model
from stores.runs.run_rows import Run, run_values
from stores.runs.run_rows import version as version_of
from workbench.domain.responses import ModelCard, Sampling, known_origin, known_parameter
from workbench.domain.statements import VariantId, VariantKind
from workbench.domain.thinking import Output, split

K = TypeVar("K")

Counts = Mapping[str, int]
"distinct answer -> count"


@dataclass(frozen=True, slots=True)
class AskedProbe:
    """One cell of a design that a model was asked."""

    probe: int
    "rowid"
    ref: str
    kind: str
    ordinal: int
    template: str
    family: str
    axes: Mapping[str, str]


class RawAnswers(Aggregate):
    """The methods on answers as they were drawn."""

    def of_prompts(
        self,
        keys: Sequence[bytes],
        model: str,
        sampling: Sampling,
        card: ModelCard | None,
        *,
        dtype: str = "",
        chat_format: str = "",
        occasion: str = "",
    ) -> dict[bytes, Counts]:
        """Return the answers to each of these prompts, without prompts that were never asked.

        If `card` is None, the model is that of `newest_model`.
        """
        rowid = newest_model(self.connection, model, card, dtype, chat_format, occasion)
        if rowid is None:
            return {}
        requested_keys = set(keys)
        rows = self.connection.execute(_OF_PROMPTS, {"model": rowid, "sampling": sampling.key})
        return _grouped(row for row in rows if row[0] in requested_keys)

    def of_models(
        self, models: Iterable[int], sampling: Sampling, keys: Sequence[bytes]
    ) -> dict[int, dict[bytes, Counts]]:
        """Return the answers of each of these models (rowids) to prompts."""
        requested_keys, answers_by_model = set(keys), {}
        for model in models:
            rows = self.connection.execute(_OF_PROMPTS, {"model": model, "sampling": sampling.key})
            answers_by_model[model] = _grouped(row for row in rows if row[0] in requested_keys)
        return answers_by_model

    def of_run(self, run: Run) -> dict[int, Counts]:
        """Return the answers to each probe of a run, by its rowid."""
        return _grouped(self.connection.execute(_OF_RUN, run_values(self.connection, run)))

    def texts(self, run: Run) -> Iterator[tuple[int, str]]:
        """Yield every distinct answer of a run, with its rowid."""
        rows = self.connection.execute(_TEXTS, run_values(self.connection, run))
        return ((text_id, decode_text(body)) for text_id, body in rows)

    def of_statements(self, run: Run, texts: Iterable[int]) -> dict[str, int]:
        """Return the number of times that these answers (rowids) were given, by statement (ref).

        Statements without one of these answers are left out.
        """
        values = run_values(self.connection, run) | {"texts": json.dumps(list(texts))}
        return dict(self.connection.execute(_OF_STATEMENTS, values).fetchall())

    def probes(self, run: Run) -> tuple[AskedProbe, ...]:
        """Return the asked cells, in the order of the statements."""
        rows = self.connection.execute(_PROBES, run_values(self.connection, run))
        return tuple(
            AskedProbe(probe, ref, kind, ordinal, template, family, json.loads(axes))
            for probe, ref, kind, ordinal, template, family, axes in rows
        )


def _grouped(rows: Iterable[tuple[K, int, str | bytes, int]]) -> dict[K, Counts]:
    """Return the answers of each key, from rows of (key, rowid of the text, stored text, count)."""
    counts_by_key: dict[K, dict[str, int]] = {}
    text_by_id: dict[int, str] = {}
    for key, text_id, body, count in rows:
        if text_id not in text_by_id:
            text_by_id[text_id] = decode_text(body)
        counts_by_key.setdefault(key, {})[text_by_id[text_id]] = count
    return dict(counts_by_key)


_SCOPE = f"""
    from instrument i
    join statement s on s.id in (select value from json_each(:scope))
    join wording w on w.statement_id = s.id and w.language = :language
    join probe p on p.wording_id = w.id and {PROBES}
"""

_OF_PROMPTS = """
    select p.key, x.id, x.body, sum(r.count)
    from draw d
    join prompt p on p.id = d.prompt_id
    join given_answer r on r.draw_id = d.id
    join text x on x.id = r.text_id
    where d.model_id = :model and d.sampling_id = (select id from sampling where key = :sampling)
    group by p.id, x.id
"""

_OF_RUN = f"""
    select p.id, x.id, x.body, sum(r.count)
    {_SCOPE}
    join draw d on d.prompt_id = p.prompt_id and d.model_id = :model and d.sampling_id = :sampling
        and (:fingerprint is null or d.fingerprint = :fingerprint)
    join given_answer r on r.draw_id = d.id
    join text x on x.id = r.text_id
    where i.name = :instrument
    group by p.id, x.id
"""

_GIVEN = f"""
    {_SCOPE}
    join draw d on d.prompt_id = p.prompt_id and d.model_id = :model and d.sampling_id = :sampling
        and (:fingerprint is null or d.fingerprint = :fingerprint)
    join given_answer r on r.draw_id = d.id
    where i.name = :instrument
"""

_TEXTS = (
    f"select x.id, x.body from (select distinct r.text_id {_GIVEN}) g join text x on x.id = "
    "g.text_id"
)

_OF_STATEMENTS = f"""
    select s.ref, sum(r.count) {_GIVEN} and r.text_id in (select value from json_each(:texts))
        group by s.ref
"""

_PROBES = f"""
    select p.id, s.ref, w.kind, w.ordinal, t.name, t.family, p.axes
    {_SCOPE}
    join template t on t.id = p.template_id
    where i.name = :instrument and exists (
        select 1 from draw d where d.prompt_id = p.prompt_id and d.model_id = :model
            and d.sampling_id = :sampling
        and (:fingerprint is null or d.fingerprint = :fingerprint)
    )
    order by s.ordinal, p.id
"""


@dataclass(frozen=True, slots=True)
class StatementAnswer:
    """A distinct answer to one wording."""

    ref: str
    variant: str
    order: str
    "order of the two labels: `printed` or `swapped`"
    template: str
    "empty if the answers to all templates are combined"
    text: str
    "empty if the output ends within a thought"
    truncated: bool
    label: str | None
    "the reader's label, or None if it is unreadable or unread"
    count: int


class StatementAnswers(Aggregate):
    """The methods on answers by statement."""

    def of_run(
        self, run: Run, reader: int | None, *, by_template: bool = False
    ) -> Iterator[StatementAnswer]:
        """Yield the answers in the order of statements and wordings.

        Those to one wording begin with the most frequent.

        `reader` is the rowid of the rule or classifier whose readings are included. None includes
        no readings.
        """
        values = run_values(self.connection, run) | {"reader": reader}
        sql = _ANSWERS.format(template="t.name" if by_template else "''")
        output_by_body: dict[object, Output] = {}
        for ref, kind, ordinal, inverted, template, body, label, count in self.connection.execute(
            sql, values
        ):
            if (output := output_by_body.get(body)) is None:
                output = output_by_body[body] = split(decode_text(body))
            yield StatementAnswer(
                ref,
                str(VariantId(VariantKind(kind), ordinal)),
                "swapped" if inverted else "printed",
                template,
                output.answer or "",
                output.answer is None,
                label,
                count,
            )

    def between(self, run: Run) -> tuple[str, str]:
        """Return the times of a run's first and last answers, in UTC.

        They are of the model under its sampling. They are empty if there are no answers, or if the
        times are not known.
        """
        values = {"model": run.model_id, "sampling": run.sampling_id}
        first, last = self.connection.execute(_BETWEEN, values).fetchone()
        (_, first), (_, last) = (known_origin(run.model, 0, time or "") for time in (first, last))
        return first, last


_BETWEEN = "select min(at), max(at) from draw where model_id = :model and sampling_id = :sampling"

_ANSWERS = f"""
    with asked as (
        select s.ordinal as place, s.ref, w.id as wording, w.kind, w.ordinal, t.inverted,
            {{template}} as template,
            p.template_id, p.prompt_id
        from instrument i
        join statement s on s.id in (select value from json_each(:scope))
        join wording w on w.statement_id = s.id and w.language = :language
        join probe p on p.wording_id = w.id and {PROBES}
        join template t on t.id = p.template_id
        where i.name = :instrument
    ), given as materialized (
        select a.place, a.ref, a.wording, a.kind, a.ordinal, a.inverted, a.template, a.template_id,
            r.text_id,
            coalesce(h.answer_id, r.text_id) as answer_id, r.count as n
        from asked a
        join draw d on d.prompt_id = a.prompt_id and d.model_id = :model
            and d.sampling_id = :sampling
            and (:fingerprint is null or d.fingerprint = :fingerprint)
        join response r on r.draw_id = d.id
        left join thought h on h.text_id = r.text_id
    ), answer as (
        select distinct g.answer_id, g.template_id, iif(
            exists (select 1 from unit u where u.text_id = g.answer_id
                and u.wording_id is not null), g.wording, 0
        ) as wording
        from given g
    ), labelled as materialized (
        select a.*, (
            select b.label from unit u join reading b on b.unit_id = u.id and b.reader_id = :reader
            where u.text_id = a.answer_id and (
                (u.template_id = a.template_id and u.wording_id is null) or u.wording_id = a.wording
            )
            order by b.revision desc limit 1
        ) as label
        from answer a
    )
    select g.ref, g.kind, g.ordinal, g.inverted, g.template, x.body, l.label, sum(g.n) as total
    from given g
    join labelled l on l.answer_id = g.answer_id and l.template_id = g.template_id
        and l.wording in (0, g.wording)
    join text x on x.id = g.text_id
    group by g.place, g.ref, g.wording, g.inverted, g.template, g.text_id, l.label
    order by g.place, g.ref, g.kind <> 'original', g.kind, g.ordinal, g.inverted, g.template,
        total desc, x.key
"""  # labels are looked up once for each text, not for each prompt: twice as fast


@dataclass(frozen=True, slots=True)
class VersionAnswer:
    """One distinct answer in one draw, with its origin."""

    text: str
    "the answer, or an empty string if the output ends within a thought"
    count: int
    variant: str
    language: str
    wording: str
    audit: str
    template: str
    inverted: int
    "1: the labels were in the swapped order"
    model: str
    version: str
    "version of the model, as text"
    temperature: float | None
    "None if it is not known"
    seed: int | None
    "None if it is not known, see `known_origin`"
    at: str
    "empty if it is not known"
    code_version: str
    job: int
    probe: int
    "rowid of the probe"
    thinking: str = ""
    truncated: bool = False
    "whether the output ends within the thought, so that there is no answer"
    instrument: str = ""
    ref: str = ""


def answers_to(
    connection: sqlite3.Connection,
    instrument: str,
    ref: str,
    version: int,
    *,
    offset: int = 0,
    limit: int = 200,
) -> tuple[VersionAnswer, ...]:
    """Return a page of the answers to prompts with this version's texts.

    Raises UnknownName if there is no such instrument.
    """
    values = {
        "instrument": instrument_id_of(connection, instrument),
        "ref": ref,
        "version": version,
        "offset": offset,
        "limit": limit,
    }
    return tuple(_answer(row) for row in execute_named(connection, _TO_VERSION, values))


def answers_with(
    connection: sqlite3.Connection, words: str, *, offset: int = 0, limit: int = 200
) -> tuple[VersionAnswer, ...]:
    """Return a page of the answers that may contain these words, the newest first, each once.

    SQLite ignores case only in ASCII. Any other character matches all, so the caller has to check
    the answers with `workbench.domain.names`. The texts are read through each time, so that no
    write is slower for an index: 200,000 answers of 1,000 characters take 0.4 to 1.1 seconds a
    page.
    """
    patterns = [f"%{''.join(_literal(character) for character in word)}%" for word in words.split()]
    values = {"likes": json.dumps(patterns), "offset": offset, "limit": limit}
    return tuple(_answer(row) for row in execute_named(connection, _WITH_WORDS, values))


def _literal(sign: str) -> str:
    """Return the pattern of `like` for a character. Any character fits one outside of ASCII."""
    if not sign.isascii():
        return "_"
    return f"\\{sign}" if sign in "%_\\" else sign


def _answer(row: sqlite3.Row) -> VersionAnswer:
    output = split(decode_text(row["output"]))
    seed, drawn_at = known_origin(row["model"], row["seed"], row["at"])
    return VersionAnswer(
        text=output.answer or "",
        count=row["count"],
        variant=f"{row['kind']}-{row['ordinal']}" if row["ordinal"] else row["kind"],
        language=row["language"],
        wording=decode_text(row["wording"]),
        audit=row["audit"],
        template=row["template"],
        inverted=row["inverted"],
        model=row["model"],
        version=version_of(
            row["backend"], row["revision"], row["snapshot"], row["fingerprint"] or None
        ),
        temperature=known_parameter(row, "temperature"),
        seed=seed,
        at=drawn_at,
        code_version=row["code_version"],
        job=row["job_id"],
        probe=row["probe"],
        thinking=output.thinking,
        truncated=output.answer is None,
        instrument=row["instrument"],
        ref=row["ref"],
    )


_SQL = """
    with edited as (
        select v.instrument_id, v.template_id, min(v.version) as version
        from template_version v join template t on t.id = v.template_id
        where exists (
            select 1 from template_version e join template u on u.id = e.template_id
            where e.instrument_id = v.instrument_id and e.version <> v.version
                and (u.audit, u.family, u.name, u.language) = (t.audit, t.family, t.name,
                    t.language)
        )
        group by v.instrument_id, v.template_id
    ){before}
    select x.body as output, r.count, w.kind, w.ordinal, w.language, y.body as wording, p.audit,
        t.name || coalesce(' version ' || v.version, '') as template, t.inverted,
        m.name as model, m.backend, m.revision, m.snapshot, d.fingerprint, g.temperature, g.server,
            d.seed, d.at,
        a.code_version, a.job_id, p.id as probe, i.name as instrument, s.ref
    from {sources}
    join instrument i on i.id = s.instrument_id
    join text y on y.id = w.text_id
    join template t on t.id = p.template_id
    left join edited v on v.template_id = t.id and v.instrument_id = i.id
    join model m on m.id = d.model_id
    join sampling g on g.id = d.sampling_id
    join attempt a on a.id = d.attempt_id
    join text x on x.id = r.{output}
    {where} limit :limit offset :offset
"""

_TO_VERSION = _SQL.format(
    before="",
    sources="""statement s
    join wording w on w.statement_id = s.id
    join probe p on p.wording_id = w.id
    join draw d on d.prompt_id = p.prompt_id
    join response r on r.draw_id = d.id""",
    output="text_id",
    where="""where s.instrument_id = :instrument and s.ref = :ref and s.version = :version
    order by m.name, w.id, t.id, d.id, r.count desc, r.text_id""",
)

_WITH_WORDS = _SQL.format(
    before=""", hit as materialized (
        select o.id from text o
        where not exists (select 1 from json_each(:likes) l where o.body not like l.value escape '\\')
    )""",  # noqa: E501
    sources="""given_answer r
    join draw d on d.id = r.draw_id
    join probe p on p.id = (select max(q.id) from probe q where q.prompt_id = d.prompt_id)
    join wording w on w.id = p.wording_id
    join statement s on s.id = w.statement_id""",
    output="output_id",
    where="where r.text_id in (select id from hit) order by d.id desc, r.text_id",
)
"a prompt that several versions of a statement share counts once"
