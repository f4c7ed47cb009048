"""Prompts asked of models, and their answers: the verbs on the runs of `stores.runs.run_rows`.

Where label probabilities were computed instead of answers drawn (`Sampling.mode`), a prompt has a draw of one without
any response, so it counts as asked wherever that matters; the probabilities are in `scores`.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, replace
from typing import Any

from stores.annotation.people import people_of
from stores.core.base import Aggregate, instrument_id_of, now
from stores.instruments import template_versions
from stores.instruments.instruments import Instruments
from stores.instruments.statement_rows import read_statements
from stores.instruments.template_versions import PROBES
from stores.instruments.templates import TEMPLATE_COLUMNS, as_template
from stores.instruments.texts import restored, text_ids
from stores.jobs.job_rows import write_progress
from stores.runs.models import answered_by_others, last_snapshot, model_id, models_meant, newest_model
from stores.runs.prompts import add_prompts, read_prompt, wordings_of
from stores.runs.rule_readings import RuleReading, insert_readings
from stores.runs.run_rows import Answered, Failures, ResponseRow, Run, run_values, version, way_values
from stores.runs.run_versions import LIVE
from stores.runs.thoughts import ANSWER_ID, CUT_OFF, HELD, add_thoughts
from workbench.domain.instruments import Instrument
from workbench.domain.issue_gold import gold_labels
from workbench.domain.keys import KEY_BYTES
from workbench.domain.prompts import Probe, Prompt, Template
from workbench.domain.responses import EXACT, ModelCard, Sampling
from workbench.domain.thinking import split


class Runs(Aggregate):
    """The verbs on prompts, draws and responses."""

    def stored(
        self,
        keys: Sequence[bytes],
        model: str,
        sampling: Sampling,
        card: ModelCard | None,
        *,
        dtype: str = "",
        chat_format: str = "",
    ) -> dict[bytes, int]:
        """Return how many answers each of these prompts has already. `card` None: see `newest_model`."""
        rowid = newest_model(self.connection, model, card, dtype, chat_format)
        if rowid is None:
            return {}
        counts = self.connection.execute(
            "select p.key, sum(d.n - d.failed) from draw d join prompt p on p.id = d.prompt_id "
            "where d.model_id = ? and d.sampling_id = (select id from sampling where key = ?) group by p.id",
            (rowid, sampling.key),
        )
        wanted = set(keys)
        return {key: n for key, n in counts if key in wanted}

    def add_probes(
        self, audit: str, instrument: str, language: str, templates: Sequence[Template], probes: Sequence[Probe]
    ) -> None:
        """Write the prompts of a plan and the design cells that lead to them, in one transaction.

        Each belongs to the version of its statement that has the text of the prompt, so answers never come to stand
        beside another text. Raises ConflictError where none has: somebody changed it since the plan was made.
        """
        with self.store.write() as connection:
            ids = template_versions.register(connection, instrument_id_of(connection, instrument), templates)
            template_ids = {(t.name, t.inverted): ids[t.key] for t in templates}
            wordings = wordings_of(connection, instrument, language, templates, probes)
            add_prompts(connection, {probe.prompt.key: probe.prompt for probe in probes}.values())
            connection.executemany(
                "insert into probe (audit, wording_id, template_id, axes, prompt_id) "
                "values (?, ?, ?, ?, (select id from prompt where key = ?)) on conflict do nothing",
                (
                    (
                        audit,
                        wordings[p.statement, p.variant],
                        template_ids[p.template, p.inverted],
                        json.dumps(dict(p.axes), sort_keys=True, ensure_ascii=False),
                        p.prompt.key,
                    )
                    for p in probes
                ),
            )

    def begin(self, card: ModelCard, sampling: Sampling) -> tuple[int, int]:
        """Return the rowids of a model and a sampling, inserting what is new."""
        with self.store.write() as connection:
            return model_id(connection, card), _sampling_id(connection, sampling)

    def note_plan(self, model_id: int, sampling_id: int, keys: Iterable[bytes], n: int) -> None:
        """Note that n answers to each of these prompts are planned. A smaller plan does not lower a larger one: what a
        job began to ask for stays planned when it is cancelled, or part of it fails.
        """
        with self.store.write() as connection:
            connection.executemany(_PLAN, ((model_id, sampling_id, key, n) for key in keys))

    def add(
        self,
        model_id: int,
        sampling_id: int,
        attempt_id: int,
        batch: Iterable[Answered],
        *,
        job: tuple[int, int, str] | None = None,
        readings: Iterable[RuleReading] = (),
    ) -> None:
        """Write the answers of a batch in one transaction: with them a rule's readings of these answers, and with
        `job` = (id, done, progress) how far the job is.

        Raises AttemptEnded, having written nothing, where the attempt has ended.
        """
        with self.store.write(attempt_id) as connection:
            batch = list(batch)
            ids = text_ids(connection, (text for item in batch for text, _ in item.answers))
            add_thoughts(connection, ids)
            at = now()
            for item in batch:
                draw = connection.execute(
                    "insert into draw (prompt_id, model_id, sampling_id, attempt_id, seed, n, failed, reason, decided, "
                    "fingerprint, at) values ((select id from prompt where key = ?), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
                    "returning id",
                    (
                        item.prompt_key, item.model_id or model_id, sampling_id, attempt_id, item.seed, item.n,
                        item.failed, item.reason, item.decided, item.fingerprint, at,
                    ),
                ).fetchone()[0]  # fmt: skip
                connection.executemany(
                    "insert into response (draw_id, text_id, count) values (?, ?, ?)",
                    ((draw, ids[text], count) for text, count in item.answers),
                )
            insert_readings(connection, readings)
            write_progress(connection, job)

    def last_snapshot(self, card: ModelCard, job_id: int) -> tuple[str, bool] | None:
        """Return the snapshot of a served model that answered last, and whether in this job; None: none has."""
        return last_snapshot(self.connection, card, job_id)

    def by_other_snapshots(self, card: ModelCard, sampling: Sampling, attempt_id: int) -> list[tuple[bytes, int, int]]:
        """Return (prompt's key, rowid of the model, answers) of what other snapshots answered in the same job."""
        return answered_by_others(self.connection, card, sampling.key, attempt_id)

    def models(self, names: Iterable[str]) -> frozenset[int]:
        """Return the rowids of the models that these names mean; a hub id may have a revision after an `@`."""
        return frozenset().union(*(models_meant(self.connection, name) for name in names))

    def list(
        self,
        audit: str | None = None,
        instrument: str | None = None,
        model: str | None = None,
        *,
        versions: Mapping[str, int] | None = None,
    ) -> tuple[Run, ...]:
        """Return the runs that match, the newest last: one for each family of templates.

        `versions`: name of a template -> the version that counts; of others see `template_versions.asked`.
        """
        meant = None if model is None else json.dumps(sorted(models_meant(self.connection, model)))
        rows = self.connection.execute(_RUNS, {"audit": audit, "instrument": instrument, "models": meant})
        runs = [_as_run(row) for row in rows]
        families: dict[tuple[object, ...], list[str]] = defaultdict(list)
        for run in runs:
            families[run.way].append(run.family)
        several = template_versions.several(self.connection)
        found = []
        for one in runs:
            run = replace(one, families=tuple(families[one.way]))
            if (run.instrument, run.audit, run.family) in several:
                run = self._of_versions(run, versions or {})
            if run.prompts:
                found.append(run)
        return tuple(found)

    def _of_versions(self, run: Run, wanted: Mapping[str, int]) -> Run:
        """Return a run with the versions of its templates that count, and counts of what was asked under these."""
        values = way_values(run)
        chosen = template_versions.asked(self.connection, values, wanted)
        values |= template_versions.bound(self.connection, values, chosen)
        return self._recounted(replace(run, versions=chosen), values)

    def _recounted(self, run: Run, values: Mapping[str, object]) -> Run:
        """Return a run with counts of what these values bind."""
        prompts, answered, responses, failed, samples, last = self.connection.execute(_RECOUNTED, values).fetchone()
        return replace(
            run,
            prompts=prompts,
            answered=answered or 0,
            responses=responses or 0,
            failed=failed or 0,
            samples=samples or 0,
            last=last or run.last,
        )

    def fingerprints(self, run: Run) -> dict[str, int]:
        """Return how many answers of a run came under each `system_fingerprint`, the most first; "": none was reported.
        Of prompts that are scored each is one.
        """
        found = Counter[str]()
        for _, fingerprint, _, count in self.connection.execute(_PRINTED, run_values(self.connection, run)):
            found[fingerprint] += count
        return dict(found.most_common())

    def printed(self, run: Run) -> tuple[tuple[int, str, int, int], ...]:
        """Return (prompt, fingerprint, text, how often) of every answer of a run; prompt and text are rowids, and a
        prompt that is scored has no text (0).
        """
        return tuple(self.connection.execute(_PRINTED, run_values(self.connection, run)).fetchall())

    def of_fingerprint(self, run: Run, fingerprint: str) -> Run:
        """Return the part of a run that was answered under one `system_fingerprint`."""
        part = replace(run, fingerprint=fingerprint)
        return self._recounted(part, run_values(self.connection, part))

    def cells(self, run: Run) -> tuple[tuple[str, str, int, str, int, int, str], ...]:
        """Return every planned cell of a run as (ref, kind, ordinal, template, inverted, probe, relation).

        A run has one version of each template, so the name tells it from the others.
        """
        rows = self.connection.execute(_CELLS, run_values(self.connection, run))
        return tuple(rows.fetchall())

    def asked(self, run: Run) -> Iterator[tuple[int, str, str, str]]:
        """Yield every probe of a run with what its prompt is made of: (probe, system, user, wording)."""
        rows = self.connection.execute(_ASKED, run_values(self.connection, run))
        return ((probe, system or "", user, restored(body, packed)) for probe, system, user, body, packed in rows)

    def counts(self, run: Run, reader_ids: Sequence[int]) -> tuple[tuple[int, str | None, int], ...]:
        """Return (probe, label, how many answers) for every answered probe of a run.

        `reader_ids` are the readers whose readings count; each template has exactly one of them. An answer that none
        of them has read is counted as unreadable: call `Readings.unread` first.
        """
        sql = _COUNTS.format(readers=_listed(reader_ids))
        return tuple(self.connection.execute(sql, run_values(self.connection, run)).fetchall())

    def planned(self, run: Run) -> dict[int, int]:
        """Return how many answers were planned for each probe of a run that was asked, by its rowid; answers that a
        prompt has beyond its plan count, too.
        """
        return dict(self.connection.execute(_PLANNED, run_values(self.connection, run)).fetchall())

    def truncated(self, run: Run) -> dict[int, int]:
        """Return how many answers of each probe (rowid) were cut off in thought. Costs nothing where none was."""
        if self.connection.execute("select 1 from thought where answer_id is null limit 1").fetchone() is None:
            return {}
        return dict(self.connection.execute(_TRUNCATED, run_values(self.connection, run)).fetchall())

    def failures(self, run: Run) -> Failures:
        """Return what has no answer because everything asked of it failed. Costs nothing where nothing did."""
        if not run.failed:
            return Failures()
        answered: dict[str, bool] = {}
        probes, reasons = set(), Counter[str]()
        for probe, ref, n, reason in self.connection.execute(_FAILURES, run_values(self.connection, run)):
            answered[ref] = answered.get(ref, False) or n > 0
            if not n:
                probes.add(probe)
                reasons[reason] += 1
        frequent = next((reason for reason, _ in reasons.most_common() if reason), "")
        return Failures(frozenset(probes), tuple(ref for ref, any_ in answered.items() if not any_), frequent)

    def instrument(self, run: Run) -> Instrument:
        """Return the instrument with its statements in the versions that a run is about, as they were put then, and
        with what people said of those.
        """
        instrument = Instruments(self.store).get(run.instrument)
        scope = str(run_values(self.connection, run)["scope"])
        rowid = self.connection.execute("select id from instrument where name = ?", (run.instrument,)).fetchone()[0]
        people = people_of(self.connection, rowid, scope)
        condition = "s.id in (select value from json_each(:scope))"
        labels = gold_labels(people.issue_labels)
        found = read_statements(self.connection, condition, {"scope": scope}, labels)
        return replace(
            instrument,
            statements=tuple(found.values()),
            issue_labels=people.issue_labels,
            party_answers=people.party_answers,
            survey=people.survey,
        )

    def outdated(self, run: Run) -> dict[str, tuple[int, int]]:
        """Return the statements that were changed since a run: ref -> (version that was asked, current version)."""
        rows = self.connection.execute(_OUTDATED, run_values(self.connection, run))
        return {ref: (asked, current) for ref, asked, current in rows}

    def templates(self, run: Run) -> tuple[Template, ...]:
        """Return the templates that a run used, both orders, in the versions that it is about."""
        rows = self.connection.execute(_TEMPLATES, run_values(self.connection, run))
        versions = {one.name: one.version for one in run.versions}
        return tuple(replace(found, version=versions.get(found.name, 1)) for found in map(as_template, rows))

    def responses(
        self, run: Run, probe_id: int, reader_ids: Sequence[int], *, offset: int = 0, limit: int = -1
    ) -> tuple[ResponseRow, ...]:
        """Return the distinct answers to one probe's prompt, the most frequent first, each with how these readers
        read it and where it comes from.
        """
        rows = self.connection.execute(
            _RESPONSES.format(readers=_listed(reader_ids)),
            run_values(self.connection, run) | {"probe": probe_id, "offset": offset, "limit": limit},
        )
        outputs = [(split(restored(row[0], row[1])), row) for row in rows]
        return tuple(
            ResponseRow(
                text=output.answer or "",
                thinking=output.thinking,
                truncated=output.answer is None,
                count=row[2],
                label=row[3],
                reason=CUT_OFF if output.answer is None else row[4] or "",
                start=row[5],
                stop=row[6],
                reader=row[7] or "",
                model=run.model,
                revision=run.revision,
                backend=run.backend,
                dtype=run.dtype,
                sampling=run.sampling,
                seed=row[8],
                at=row[9],
                code_version=row[10],
                job=row[11],
                template=run.called(row[12]),
                order="swapped" if row[13] else "printed",
                version=version(run.backend, run.revision, run.snapshot, row[14] or run.fingerprint),
            )
            for output, row in outputs
        )

    def encodings(self) -> tuple[tuple[str, str], ...]:
        """Return the models that were asked here and ran on some machine of ours, with how their turns were encoded."""
        rows = self.connection.execute(
            "select distinct m.name, m.encoding from model m where m.backend = 'transformers' "
            "and exists (select 1 from draw d where d.model_id = m.id) order by m.name, m.encoding"
        )
        return tuple((name, encoding) for name, encoding in rows)

    def prompt(self, probe_id: int) -> Prompt:
        """Return what the model saw."""
        return read_prompt(self.connection, probe_id)

    def totals(self) -> tuple[int, int]:
        """Return how many answers are stored, and to how many draws; prompts that were only scored have no answer."""
        row = self.connection.execute(
            "select coalesce(sum(d.n - d.failed), 0), count(*) from draw d join sampling g on g.id = d.sampling_id "
            "where g.mode <> ?",
            (EXACT,),
        ).fetchone()
        return int(row[0]), int(row[1])


def _as_run(row: Sequence[Any]) -> Run:
    return Run(
        audit=row[0],
        instrument=row[1],
        language=row[2],
        family=row[3],
        model=row[4],
        revision=row[5],
        backend=row[6],
        dtype=row[7],
        sampling=Sampling(*row[8:14]),
        model_id=row[14],
        sampling_id=row[15],
        prompts=row[16],
        answered=row[17],
        responses=row[18],
        failed=row[19],
        samples=row[20],
        last=row[21],
        encoding=row[22],
        snapshot=row[23],
    )


def _sampling_id(connection: sqlite3.Connection, sampling: Sampling) -> int:
    assert len(sampling.key) == KEY_BYTES
    connection.execute(
        "insert into sampling (key, temperature, top_p, top_k, max_new_tokens, stop, mode) "
        "values (?, ?, ?, ?, ?, ?, ?) on conflict (key) do nothing",
        (sampling.key, *astuple(sampling)),
    )
    return int(connection.execute("select id from sampling where key = ?", (sampling.key,)).fetchone()[0])


def _listed(rowids: Sequence[int]) -> str:
    """Return rowids for an `in (…)`: whole numbers of our own, never a person's text."""
    return ",".join(str(int(rowid)) for rowid in rowids) or "0"


_RUNS = f"""
    with placed as materialized (
        select w.id, i.id as instrument, w.language
        from wording w
        join statement s on s.id = w.statement_id
        join instrument i on i.id = s.instrument_id
        where {LIVE} and (:instrument is null or i.name = :instrument)
    ),
    asked as (
        select d.model_id, d.sampling_id, d.prompt_id, sum(d.n - d.failed) as n, sum(d.failed) as failed,
            max(d.at) as last, max(d.id) as newest
        from draw d group by d.model_id, d.sampling_id, d.prompt_id
    ),
    used as (
        select distinct p.prompt_id, p.audit, w.instrument, w.language, t.family
        from probe p join placed w on w.id = p.wording_id join template t on t.id = p.template_id
        where :audit is null or p.audit = :audit
    ),
    run as (
        select u.audit, u.instrument, u.language, u.family, a.model_id, a.sampling_id, count(*) as prompts,
            sum(a.n > 0) as answered, sum(a.n) as responses, sum(a.failed) as failed, max(a.n) as samples,
            max(a.last) as last, max(a.newest) as newest
        from asked a cross join used u on u.prompt_id = a.prompt_id
        group by u.audit, u.instrument, u.language, u.family, a.model_id, a.sampling_id
    )
    select r.audit, i.name, r.language, r.family, m.name, m.revision, m.backend, m.dtype,
        g.temperature, g.top_p, g.top_k, g.max_new_tokens, g.stop, g.mode, m.id, g.id,
        r.prompts, r.answered, r.responses, r.failed, r.samples, r.last, m.encoding, m.snapshot
    from run r
    join instrument i on i.id = r.instrument
    join model m on m.id = r.model_id
    join sampling g on g.id = r.sampling_id
    where :models is null or m.id in (select value from json_each(:models))
    order by r.last, r.newest, r.audit, i.name, r.language, m.id, g.id, r.prompts, r.family
"""  # names are joined to what is counted, not to every prompt: of 130,000 prompts three times as fast

_RECOUNTED = f"""
    with used as (
        select distinct p.prompt_id
        from instrument i
        join statement s on s.instrument_id = i.id
        join wording w on w.statement_id = s.id and w.language = :language
        join probe p on p.wording_id = w.id and {PROBES}
        where i.name = :instrument and {LIVE}
    ),
    asked as (
        select sum(d.n - d.failed) as n, sum(d.failed) as failed, max(d.at) as last
        from used u join draw d on d.prompt_id = u.prompt_id
        where d.model_id = :model and d.sampling_id = :sampling
        and (:fingerprint is null or d.fingerprint = :fingerprint) group by d.prompt_id
    )
    select count(*), sum(n > 0), sum(n), sum(failed), max(n), max(last) from asked
"""

_SCOPE = f"""
    from instrument i
    join statement s on s.id in (select value from json_each(:scope))
    join wording w on w.statement_id = s.id and w.language = :language
    join probe p on p.wording_id = w.id and {PROBES}
    join template t on t.id = p.template_id
    where i.name = :instrument
"""

_OUTDATED = """
    select s.ref, s.version, c.version
    from statement s join statement c on c.instrument_id = s.instrument_id and c.ref = s.ref and c.current = 1
    where s.id in (select value from json_each(:scope)) and s.current = 0 order by s.ordinal
"""

_CELLS = f"select s.ref, w.kind, w.ordinal, t.name, t.inverted, p.id, w.relation {_SCOPE} order by s.ordinal"

_ASKED = f"""
    select a.probe, a.system, a.user, x.body, x.packed
    from (select p.id as probe, t.system, t.user, w.text_id {_SCOPE}) a join text x on x.id = a.text_id
"""

_COUNTS = f"""
    with answered as (
        select p.id as probe, p.template_id, r.text_id, r.count
        from instrument i
        join statement s on s.id in (select value from json_each(:scope))
        join wording w on w.statement_id = s.id and w.language = :language
        join probe p on p.wording_id = w.id and {PROBES}
        join draw d on d.prompt_id = p.prompt_id and d.model_id = :model and d.sampling_id = :sampling
        and (:fingerprint is null or d.fingerprint = :fingerprint)
        join given_answer r on r.draw_id = d.id
        where i.name = :instrument
    )
    select a.probe, g.label, sum(a.count)
    from answered a
    left join unit u on u.text_id = a.text_id and u.template_id = a.template_id and u.wording_id is null
    left join reading g on g.unit_id = u.id and g.reader_id in ({{readers}})
    group by a.probe, g.label
"""

_PLAN = """
    insert into planned (model_id, sampling_id, prompt_id, n) values (?, ?, (select id from prompt where key = ?), ?)
    on conflict (model_id, sampling_id, prompt_id) do update set n = max(n, excluded.n)
"""

_PRINTED = f"""
    select d.prompt_id, d.fingerprint, coalesce(r.text_id, 0), coalesce(sum(r.count), count(distinct d.id))
    from draw d left join response r on r.draw_id = d.id
    where d.model_id = :model and d.sampling_id = :sampling and d.n > d.failed
        and (:fingerprint is null or d.fingerprint = :fingerprint) and d.prompt_id in (
            select p.prompt_id
            from instrument i
            join statement s on s.id in (select value from json_each(:scope))
            join wording w on w.statement_id = s.id and w.language = :language
            join probe p on p.wording_id = w.id and {PROBES}
            where i.name = :instrument
        )
    group by d.prompt_id, d.fingerprint, r.text_id
"""

_PLANNED = f"""
    select p.id, max(sum(d.n - d.failed), iif(:fingerprint is null, coalesce(max(n.n), sum(d.n)), sum(d.n)))
    from instrument i
    join statement s on s.id in (select value from json_each(:scope))
    join wording w on w.statement_id = s.id and w.language = :language
    join probe p on p.wording_id = w.id and {PROBES}
    join draw d on d.prompt_id = p.prompt_id and d.model_id = :model and d.sampling_id = :sampling
        and (:fingerprint is null or d.fingerprint = :fingerprint)
    left join planned n on n.prompt_id = p.prompt_id and n.model_id = :model and n.sampling_id = :sampling
    where i.name = :instrument
    group by p.id
"""

_FAILURES = f"""
    select p.id, s.ref, sum(d.n - d.failed), max(d.reason)
    from instrument i
    join statement s on s.id in (select value from json_each(:scope))
    join wording w on w.statement_id = s.id and w.language = :language
    join probe p on p.wording_id = w.id and {PROBES}
    join draw d on d.prompt_id = p.prompt_id and d.model_id = :model and d.sampling_id = :sampling
        and (:fingerprint is null or d.fingerprint = :fingerprint)
    where i.name = :instrument
    group by p.id order by s.ordinal
"""

_TEMPLATES = f"""
    select distinct {TEMPLATE_COLUMNS}, t.id {_SCOPE}
    and exists (
        select 1 from draw d where d.prompt_id = p.prompt_id and d.model_id = :model and d.sampling_id = :sampling
        and (:fingerprint is null or d.fingerprint = :fingerprint)
    )
    order by t.id
"""

_TRUNCATED = f"""
    select p.id, sum(r.count)
    from instrument i
    join statement s on s.id in (select value from json_each(:scope))
    join wording w on w.statement_id = s.id and w.language = :language
    join probe p on p.wording_id = w.id and {PROBES}
    join draw d on d.prompt_id = p.prompt_id and d.model_id = :model and d.sampling_id = :sampling
        and (:fingerprint is null or d.fingerprint = :fingerprint)
    join response r on r.draw_id = d.id
    join thought h on h.text_id = r.text_id and h.answer_id is null
    where i.name = :instrument
    group by p.id
"""

_RESPONSES = f"""
    select x.body, x.packed, r.count, g.label, g.reason, g.start, g.stop, e.name, d.seed, d.at, a.code_version,
        a.job_id, t.name, t.inverted, d.fingerprint
    from probe p
    join template t on t.id = p.template_id
    join draw d on d.prompt_id = p.prompt_id and d.model_id = :model and d.sampling_id = :sampling
        and (:fingerprint is null or d.fingerprint = :fingerprint)
    join attempt a on a.id = d.attempt_id
    join response r on r.draw_id = d.id
    {HELD}
    join text x on x.id = r.text_id
    left join unit u on u.text_id = {ANSWER_ID} and u.template_id = p.template_id and u.wording_id is null
    left join reading g on g.unit_id = u.id and g.reader_id in ({{readers}})
    left join reader e on e.id = g.reader_id
    where p.id = :probe
    order by r.count desc, r.text_id, d.id limit :limit offset :offset
"""
