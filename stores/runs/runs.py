"""Prompts asked of models, and their answers: the methods on the runs of `stores.runs.run_rows`.

If label probabilities were computed instead of drawing answers (`Sampling.mode`), a prompt has a
draw of one without a response, so that it counts as asked. The probabilities are in `scores`.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import chain
from typing import TYPE_CHECKING

from stores.annotation.people import people_of
from stores.core.base import (
    Aggregate,
    decode_text,
    execute_named,
    instrument_id_of,
    now,
    table,
    text_ids,
)
from stores.core.contents import StoreSection, cached_result
from stores.core.values import checked_count
from stores.instruments import instruments as lexicon_rows
from stores.instruments import templates as template_versions
from stores.instruments.instruments import Instruments
from stores.instruments.issues import n_labellers_needed
from stores.instruments.templates import as_template
from stores.instruments.versions import read_statements
from stores.jobs.job_rows import write_progress
from stores.runs.models import (
    add_prompts,
    answered_by_others,
    forget_places,
    last_snapshot,
    model_id,
    model_ids_of_name,
    newest_model,
    read_prompt,
    wordings_of,
)
from stores.runs.readings import CUT_OFF, RuleReading, add_thoughts, insert_readings, tally
from stores.runs.run_lists import (
    BY_TEXT,
    CELLS,
    FAILURES,
    FORMS,
    GAVE,
    OUTDATED,
    PLACED,
    PLANNED,
    PRINTED,
    RESPONSES,
    TEMPLATES,
    TRUNCATED,
    WORDINGS,
    add_personas,
    find_runs,
    persona_names,
    read_personas,
    recounted,
)
from stores.runs.run_rows import (
    LIVE,
    Answered,
    AnswerTally,
    EarlierImport,
    Failures,
    ResponseRow,
    Run,
    run_values,
    version,
    way_values,
)
from workbench.domain.instruments import Instrument, gold_labels, with_words
from workbench.domain.keys import KEY_BYTES
from workbench.domain.prompts import Persona, Probe, Prompt, Template
from workbench.domain.responses import EXACT, ModelCard, Sampling, known_origin
from workbench.domain.thinking import split

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Runs(Aggregate):
    """The methods on prompts, draws and responses."""

    def stored(
        self,
        keys: Sequence[bytes],
        model: str,
        sampling: Sampling,
        card: ModelCard | None,
        *,
        dtype: str = "",
        chat_format: str = "",
        occasion: str = "",
    ) -> dict[bytes, int]:
        """Return the number of stored answers to each of these prompts.

        If `card` is None, the model is that of `newest_model`.
        """
        rowid = newest_model(self.connection, model, card, dtype, chat_format, occasion)
        if rowid is None:
            return {}
        counts = self.connection.execute(
            "select p.key, sum(d.n - d.failed) from draw d join prompt p on p.id = d.prompt_id "
            "where d.model_id = ? and d.sampling_id = (select id from sampling where key = ?) "
            "group by p.id",
            (rowid, sampling.key),
        )
        requested_keys = set(keys)
        return {key: count for key, count in counts if key in requested_keys}

    def earlier_imports(self, model: str, sampling: Sampling) -> list[EarlierImport]:
        """Return the imported answers of a model under a sampling, by revision."""
        answers: dict[str, Counter[tuple[bytes, str]]] = {}
        seeds: dict[str, set[int]] = {}
        for revision, seed, prompt, body, count in self.connection.execute(
            _IMPORTED, (model, sampling.key)
        ):
            answers.setdefault(revision, Counter())[prompt, decode_text(body)] += count
            seeds.setdefault(revision, set()).add(seed)
        return [
            EarlierImport(model_revision, answer_counts, frozenset(seeds[model_revision]))
            for model_revision, answer_counts in answers.items()
        ]

    def add_probes(
        self,
        audit: str,
        instrument: str,
        language: str,
        templates: Sequence[Template],
        probes: Sequence[Probe],
        personas: Sequence[Persona] = (),
    ) -> None:
        """Write the prompts of a plan, their design cells and their personas in one transaction.

        Each prompt belongs to the version of its statement with the same text, so answers are never
        assigned to another text. Raises ConflictError if there is none, because the statement was
        changed since the plan was made.
        """
        with self.store.write() as connection:
            ids = template_versions.register(
                connection, instrument_id_of(connection, instrument), templates
            )
            template_ids = {
                (template.name, template.inverted): ids[template.key] for template in templates
            }
            wordings = wordings_of(connection, instrument, language, templates, probes)
            add_prompts(connection, {probe.prompt.key: probe.prompt for probe in probes}.values())
            add_personas(connection, personas)
            connection.executemany(
                "insert into probe (audit, wording_id, template_id, axes, prompt_id) "
                "values (?, ?, ?, ?, (select id from prompt where key = ?)) on conflict do nothing",
                (
                    (
                        audit,
                        wordings[probe.statement, probe.variant],
                        template_ids[probe.template, probe.inverted],
                        json.dumps(dict(probe.axes), sort_keys=True, ensure_ascii=False),
                        probe.prompt.key,
                    )
                    for probe in probes
                ),
            )

    def begin(self, card: ModelCard, sampling: Sampling) -> tuple[int, int]:
        """Return the rowids of a model and a sampling, inserting new ones."""
        with self.store.write() as connection:
            return model_id(connection, card), _sampling_id(connection, sampling)

    def note_plan(self, model_id: int, sampling_id: int, keys: Iterable[bytes], n: int) -> None:
        """Record that n answers to each of these prompts are planned.

        A smaller plan does not replace a larger one: answers stay planned if their job is cancelled
        or fails partly.
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
        readings: Sequence[RuleReading] = (),
    ) -> None:
        """Write the answers of a batch in one transaction.

        A rule's readings of them and the job's progress, `job` = (id, done, progress), are written
        with them. Raises AttemptEnded, having written nothing, if the attempt has ended.
        """
        with self.store.write(attempt_id) as connection:
            batch = list(batch)
            ids = text_ids(connection, (text for item in batch for text, _ in item.answers))
            add_thoughts(connection, ids)
            drawn_at, responses = now(), list[tuple[int, int, int]]()
            for item in batch:
                draw = connection.execute(
                    "insert into draw (prompt_id, model_id, sampling_id, attempt_id, seed, n, "
                    "failed, reason, decided, fingerprint, at, first, asked) values ((select id "
                    "from prompt where key = ?), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) returning id",
                    (
                        item.prompt_key,
                        item.model_id or model_id,
                        sampling_id,
                        attempt_id,
                        item.seed,
                        item.n,
                        item.failed,
                        item.reason,
                        item.decided,
                        item.fingerprint,
                        drawn_at,
                        item.first,
                        item.asked,
                    ),
                ).fetchone()[0]
                responses += (
                    (draw, ids[text], checked_count(count)) for text, count in item.answers
                )
            connection.executemany(
                "insert into response (draw_id, text_id, count) values (?, ?, ?)", responses
            )
            insert_readings(connection, readings)
            write_progress(connection, job)

    def forget_places(self, name: str) -> int:
        """Replace paths that are stored as versions of a served model.

        Returns the number of changed models. See `models.forget_places`.
        """
        with self.store.write() as connection:
            return forget_places(connection, name)

    def last_snapshot(self, card: ModelCard, job_id: int) -> tuple[str, bool] | None:
        """Return the snapshot of a served model that answered last, or None if none has answered.

        The second value tells whether it answered in this job.
        """
        return last_snapshot(self.connection, card, job_id)

    def by_other_snapshots(
        self, card: ModelCard, sampling: Sampling, attempt_id: int
    ) -> list[tuple[bytes, int, int]]:
        """Return the numbers of answers of other snapshots in the same job.

        Each is (key of the prompt, rowid of the model, number of answers).
        """
        return answered_by_others(self.connection, card, sampling.key, attempt_id)

    def asked_of(self, run: Run) -> frozenset[bytes]:
        """Return the keys of all prompts that a run's model was asked under its sampling."""
        rows = self.connection.execute(
            "select distinct p.key from draw d join prompt p on p.id = d.prompt_id "
            "where d.model_id = ? and d.sampling_id = ?",
            (run.model_id, run.sampling_id),
        )
        return frozenset(key for (key,) in rows)

    def asked_models(self) -> tuple[str, ...]:
        """Return the names of the models that have answered."""
        rows = self.connection.execute(
            "select distinct m.name from model m where exists (select 1 from draw d where "
            "d.model_id = m.id) order by 1"
        )
        return tuple(name for (name,) in rows)

    def has_answers(self, audits: Iterable[str]) -> bool:
        """Return whether any prompt of these audits has an answer.

        Prompts about archived statements are ignored.
        """
        return bool(
            self.connection.execute(_HAS_ANSWERS, (json.dumps(list(audits)),)).fetchone()[0]
        )

    def models(self, names: Iterable[str]) -> frozenset[int]:
        """Return the rowids of the models with these names.

        A hub id may have a revision after an `@`.
        """
        return frozenset().union(*(model_ids_of_name(self.connection, name) for name in names))

    def list(
        self,
        audit: str | None = None,
        instrument: str | None = None,
        model: str | None = None,
        *,
        versions: Mapping[str, int] | None = None,
        personas: bool = False,
    ) -> tuple[Run, ...]:
        """Return the matching runs, the newest last.

        There is one per family of templates.

        `versions` maps the name of a template to the version that counts. For other templates see
        `template_versions.asked`. With `personas`, the runs with personas are included, one per
        persona.
        """
        if versions:
            requested_versions = dict(versions)
            key = (
                "runs",
                audit,
                instrument,
                model,
                tuple(sorted(requested_versions.items())),
                personas,
            )
            return self.store.remembered(
                key,
                lambda: find_runs(
                    self.connection, audit, instrument, model, requested_versions, personas=personas
                ),
            )
        parts = StoreSection.ANSWERS, StoreSection.MATERIAL
        all_runs = cached_result(
            self.store,
            "runs",
            parts,
            lambda: find_runs(self.connection, None, None, None, {}, personas=True),
        )
        model_ids = None if model is None else model_ids_of_name(self.connection, model)
        return tuple(
            run
            for run in all_runs
            if (personas or not run.persona)
            and (audit is None or run.audit == audit)
            and (instrument is None or run.instrument == instrument)
            and (model_ids is None or run.model_id in model_ids)
        )

    def personas(self) -> dict[str, Persona]:
        """Return the personas of prompts, by key (hexadecimal)."""
        return read_personas(self.connection)

    def persona_names(self) -> dict[str, str]:
        """Return the displayed name of each persona, by key (hexadecimal)."""
        return persona_names(self.connection)

    def has_results_of_job(self, run: Run, job: int) -> bool:
        """Return whether a job produced any answer or probability of a run."""
        values = {"model": run.model_id, "sampling": run.sampling_id, "job": job}
        return bool(self.connection.execute(_BROUGHT, values).fetchone()[0])

    def fingerprints(self, run: Run) -> dict[str, int]:
        """Return the number of a run's answers by `system_fingerprint`, the most frequent first.

        An empty fingerprint was not reported. Each scored prompt counts as one.
        """
        counts = Counter[str]()
        for _, fingerprint, _, count in self.connection.execute(
            PRINTED, run_values(self.connection, run)
        ):
            counts[fingerprint] += count
        return dict(counts.most_common())

    def printed(self, run: Run) -> tuple[tuple[int, str, int, int], ...]:
        """Return the prompt, fingerprint, text and count of every answer of a run.

        Prompt and text are rowids. A scored prompt has text 0.
        """
        return tuple(self.connection.execute(PRINTED, run_values(self.connection, run)).fetchall())

    def of_fingerprint(self, run: Run, fingerprint: str) -> Run:
        """Return the part of a run with one `system_fingerprint`."""
        partial_run = replace(run, fingerprint=fingerprint)
        return recounted(self.connection, partial_run, run_values(self.connection, partial_run))

    def cells(self, run: Run) -> tuple[tuple[str, str, int, str, int, int, str], ...]:
        """Return every planned cell of a run.

        A cell is (ref, kind, ordinal, template, inverted, probe, relation). A run has one version
        of each template, so the name identifies it.
        """

        def read() -> tuple[tuple[str, str, int, str, int, int, str], ...]:
            return tuple(
                self.connection.execute(CELLS, run_values(self.connection, run)).fetchall()
            )

        return self.store.remembered(("cells", run), read)

    def forms(self, run: Run) -> dict[tuple[str, int], tuple[str, str]]:
        """Return the system prompt and the user's turn of a run's templates, with slots.

        They are by (name, inverted).
        """
        rows = self.connection.execute(FORMS, run_values(self.connection, run))
        return {(name, inverted): (system or "", user) for name, inverted, system, user in rows}

    def wordings(self, run: Run) -> dict[tuple[str, str, int], str]:
        """Return the text of every wording that a run may ask about, by (ref, kind, ordinal)."""
        rows = self.connection.execute(WORDINGS, run_values(self.connection, run))
        return {(ref, kind, ordinal): decode_text(body) for ref, kind, ordinal, body in rows}

    def counts(self, run: Run, reader_ids: Sequence[int]) -> AnswerTally:
        """Return the number of answers of each kind to each answered probe of a run.

        `reader_ids` are the readers whose readings count, exactly one per template. Answers without
        a reading count as unreadable: call `Readings.unread` first.
        """
        return self.store.remembered(
            ("counts", run, *reader_ids), lambda: tally(self.store, run, reader_ids)
        )

    def counts_by_text(
        self, run: Run, reader_ids: Sequence[int], probes: Collection[int], texts: Iterable[bytes]
    ) -> tuple[tuple[int, bytes, str | None, int], ...]:
        """Return the numbers of answers with one of these texts to one of these probes.

        Each is (probe, key of the answer's text, label, number of answers).
        """
        selection = {
            "probes": json.dumps(list(probes)),
            "texts": json.dumps([key.hex() for key in texts]),
        }
        rows = self.connection.execute(
            BY_TEXT.format(readers=_id_list(reader_ids)),
            run_values(self.connection, run) | selection,
        )
        return tuple(rows.fetchall())

    def given_answers(
        self, run: Run, answers: Iterable[tuple[str, str]]
    ) -> frozenset[tuple[str, str]]:
        """Return those of the answers that a run's model gave.

        An answer is (key of the prompt, key of the text), both hexadecimal.
        """
        values = way_values(run)

        def was_given(prompt: str, text: str) -> bool:
            keys = {"prompt": bytes.fromhex(prompt), "text": bytes.fromhex(text)}
            return self.connection.execute(GAVE, values | keys).fetchone() is not None

        return frozenset(answer for answer in answers if was_given(*answer))

    def probes_of(
        self, run: Run, refs: Iterable[str], prompts: Iterable[str]
    ) -> tuple[tuple[int, str, int, str, int, bytes], ...]:
        """Return a run's probes about some statements, or with some prompts (hexadecimal keys).

        Each is (probe, ref, version of the statement, kind, ordinal, key of the prompt).
        """
        selection = {"refs": json.dumps(list(refs)), "prompts": json.dumps(list(prompts))}
        return tuple(
            self.connection.execute(PLACED, run_values(self.connection, run) | selection).fetchall()
        )

    def model_key(self, run: Run) -> bytes:
        """Return the key of a run's model, which identifies it in every store."""
        row = self.connection.execute(
            "select key from model where id = ?", (run.model_id,)
        ).fetchone()
        return bytes(row[0])

    def planned(self, run: Run) -> dict[int, int]:
        """Return the number of planned answers of each asked probe of a run, by rowid.

        Answers beyond the plan are included.
        """
        probes, n_planned = self.planned_counts(run)
        return dict(zip(probes.tolist(), n_planned.tolist(), strict=True))

    def planned_counts(self, run: Run) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the probes of `planned` and their numbers of answers as two arrays."""
        import numpy as np

        probes, _, planned, received, requested = self._plan(run)
        if run.fingerprint is not None:
            planned = requested
        n_planned = np.maximum(received, np.where(planned < 0, requested, planned))
        was_asked = requested >= 0
        return probes[was_asked], n_planned[was_asked]

    def plan_progress(self, run: Run) -> tuple[int, int]:
        """Return the numbers of planned and of received answers of a run.

        Planned answers include those to unasked prompts. For one fingerprint, the received answers
        are the plan.
        """

        import numpy as np

        def read() -> tuple[int, int]:
            _, prompts, planned, received, requested = self._plan(run)
            _, first_indices = np.unique(
                prompts, return_index=True
            )  # several probes may share a prompt
            n_planned = np.where(planned < 0, requested, planned)[first_indices]
            is_planned = n_planned >= 0
            return int(n_planned[is_planned].sum()), int(
                np.minimum(received[first_indices], n_planned)[is_planned].sum()
            )

        planned, received = cached_result(
            self.store, ("kept of plan", run), (StoreSection.ANSWERS, StoreSection.MATERIAL), read
        )
        return (received, received) if run.fingerprint is not None else (planned, received)

    def _plan(self, run: Run) -> NDArray[np.int64]:
        """Return an array with a row for each of probe, prompt, planned, received and requested.

        It has a column for each probe of a run. -1 means not planned, or never asked.
        """
        import numpy as np

        def read() -> NDArray[np.int64]:
            rows = self.connection.execute(PLANNED, run_values(self.connection, run))
            return np.fromiter(chain.from_iterable(rows), dtype=np.int64).reshape(-1, 5).T

        return self.store.remembered(("plan", run), read)

    def truncated(self, run: Run) -> dict[int, int]:
        """Return the number of answers of each probe (rowid) that were cut off in thought.

        This is fast if there are none.
        """
        if (
            self.connection.execute(
                "select 1 from thought where answer_id is null limit 1"
            ).fetchone()
            is None
        ):
            return {}
        return dict(self.connection.execute(TRUNCATED, run_values(self.connection, run)).fetchall())

    def failures(self, run: Run) -> Failures:
        """Return the prompts without an answer because all requests failed.

        This is fast if there are no failures.
        """
        if not run.failed:
            return Failures()
        has_answer_by_ref: dict[str, bool] = {}
        probes, reasons = set(), Counter[str]()
        for probe, ref, n_answers, reason in self.connection.execute(
            FAILURES, run_values(self.connection, run)
        ):
            has_answer_by_ref[ref] = has_answer_by_ref.get(ref, False) or n_answers > 0
            if not n_answers:
                probes.add(probe)
                reasons[reason] += 1
        frequent = next((reason for reason, _ in reasons.most_common() if reason), "")
        return Failures(
            frozenset(probes),
            tuple(ref for ref, has_answer in has_answer_by_ref.items() if not has_answer),
            frequent,
        )

    def instrument(self, run: Run) -> Instrument:
        """Return the instrument with its statements in a run's versions and wordings.

        It has people's labels and answers for these.
        """
        parts = StoreSection.ANSWERS, StoreSection.MATERIAL, StoreSection.FINDINGS
        return cached_result(self.store, ("instrument", run), parts, lambda: self._instrument(run))

    def _instrument(self, run: Run) -> Instrument:
        instrument = Instruments(self.store).get(run.instrument)
        scope = str(run_values(self.connection, run)["scope"])
        rowid = self.connection.execute(
            "select id from instrument where name = ?", (run.instrument,)
        ).fetchone()[0]
        people = people_of(self.connection, rowid, scope)
        condition = "s.id in (select value from json_each(:scope))"
        labels = gold_labels(people.issue_labels, fewest=n_labellers_needed(self.connection, rowid))
        query = "select id from statement where instrument_id = ? and current = 1"
        current_ids = {statement_id for (statement_id,) in self.connection.execute(query, (rowid,))}
        if current_ids == set(json.loads(scope)) and people.issue_labels == instrument.issue_labels:
            statements = instrument.statements
        else:
            statements = tuple(
                read_statements(self.connection, condition, {"scope": scope}, labels).values()
            )
        return replace(
            instrument,
            statements=statements,
            issue_labels=people.issue_labels,
            party_answers=people.party_answers,
            survey=people.survey,
        )

    def outdated(self, run: Run) -> dict[str, tuple[int, int]]:
        """Return the statements changed since a run: ref -> (version asked, current version)."""
        rows = self.connection.execute(OUTDATED, run_values(self.connection, run))
        return {
            ref: (asked_version, current_version) for ref, asked_version, current_version in rows
        }

    def templates(self, run: Run) -> tuple[Template, ...]:
        """Return the templates of a run in both label orders, in the versions that count."""
        parts = StoreSection.ANSWERS, StoreSection.MATERIAL
        return cached_result(self.store, ("templates", run), parts, lambda: self._templates(run))

    def _templates(self, run: Run) -> tuple[Template, ...]:
        rows = self.connection.execute(TEMPLATES, run_values(self.connection, run))
        versions = {asked_template.name: asked_template.version for asked_template in run.versions}
        templates = (
            replace(template, version=versions.get(template.name, 1))
            for template in map(as_template, rows)
        )
        return with_words(templates, lexicon_rows.lexicons_of(self.connection, run.instrument))

    def responses(
        self,
        run: Run,
        probe_id: int,
        reader_ids: Sequence[int],
        *,
        offset: int = 0,
        limit: int = -1,
    ) -> tuple[ResponseRow, ...]:
        """Return the distinct answers to one probe's prompt, the most frequent first.

        Each has the reading by these readers and its origin.
        """
        values = run_values(self.connection, run) | {
            "probe": probe_id,
            "offset": offset,
            "limit": limit,
        }
        rows = execute_named(
            self.connection, RESPONSES.format(readers=_id_list(reader_ids)), values
        )
        outputs = [
            (
                split(decode_text(row["output"])),
                row,
                known_origin(run.model, row["seed"], row["at"]),
            )
            for row in rows
        ]
        return tuple(
            ResponseRow(
                text=output.answer or "",
                thinking=output.thinking,
                truncated=output.answer is None,
                count=row["count"],
                label=row["label"],
                reason=CUT_OFF if output.answer is None else row["reason"] or "",
                start=row["start"],
                stop=row["stop"],
                reader=row["reader"] or "",
                model=run.model,
                revision=run.revision,
                backend=run.backend,
                dtype=run.dtype,
                sampling=run.sampling,
                seed=seed,
                at=drawn_at,
                code_version=row["code_version"],
                job=row["job_id"],
                template=run.called(row["template"]),
                order="swapped" if row["inverted"] else "printed",
                version=version(
                    run.backend, run.revision, run.snapshot, row["fingerprint"] or run.fingerprint
                ),
            )
            for output, row, (seed, drawn_at) in outputs
        )

    def encodings(self) -> tuple[tuple[str, str], ...]:
        """Return the local models that were asked, with the encoding of their turns."""
        rows = self.connection.execute(
            "select distinct m.name, m.encoding from model m where m.backend = 'transformers' "
            "and exists (select 1 from draw d where d.model_id = m.id) order by m.name, m.encoding"
        )
        return tuple((name, encoding) for name, encoding in rows)

    def prompt(self, probe_id: int) -> Prompt:
        """Return the prompt that the model saw at a probe."""
        return read_prompt(self.connection, probe_id)

    def totals(self) -> tuple[int, int]:
        """Return the numbers of stored answers and of draws.

        Prompts that were only scored have no answer and do not count.
        """
        row = self.connection.execute(
            "select coalesce(sum(d.n - d.failed), 0), count(*) from draw d join sampling g on "
            "g.id = d.sampling_id where g.mode <> ?",
            (EXACT,),
        ).fetchone()
        return int(row[0]), int(row[1])


_IMPORTED = """
    select m.revision, d.seed, p.key, x.body, r.count
    from model m
    join draw d on d.model_id = m.id
    join prompt p on p.id = d.prompt_id
    join response r on r.draw_id = d.id
    join text x on x.id = r.text_id
    where m.name = ? and m.backend = 'imported' and d.sampling_id = (select id from sampling
        where key = ?)
    order by m.id, d.id
"""


def _sampling_id(connection: sqlite3.Connection, sampling: Sampling) -> int:
    assert len(sampling.key) == KEY_BYTES
    return int(table(connection, "sampling").lookup({"key": sampling.key}, asdict(sampling)))


def _id_list(rowids: Sequence[int]) -> str:
    """Return rowids as the text of an `in (…)`.

    They are our own whole numbers, never user input.
    """
    return ",".join(str(int(rowid)) for rowid in rowids) or "0"


_BROUGHT = """
    select exists(select 1 from draw d join attempt a on a.id = d.attempt_id
            where d.model_id = :model and d.sampling_id = :sampling and a.job_id = :job)
        or exists(select 1 from score s join attempt a on a.id = s.attempt_id
            where s.model_id = :model and a.job_id = :job)
        or exists(select 1 from next_tokens t join attempt a on a.id = t.attempt_id
            where t.model_id = :model and a.job_id = :job)
"""
_HAS_ANSWERS = f"""
    select exists(
        select 1
        from json_each(?) a
        join probe p on p.audit = a.value
        join draw d on d.prompt_id = p.prompt_id and d.n > d.failed
        join wording w on w.id = p.wording_id
        join statement s on s.id = w.statement_id and {LIVE}
    )
"""
_PLAN = """
    insert into planned (model_id, sampling_id, prompt_id, n) values (?, ?, (select id from prompt
        where key = ?), ?)
    on conflict (model_id, sampling_id, prompt_id) do update set n = max(n, excluded.n)
"""
