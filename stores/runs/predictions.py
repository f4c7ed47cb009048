"""A model's predictions of people's answers: next tokens of all prompts of a questionnaire run.

One query reads a whole run, because every figure of Questionnaire Modeling is a mean over all of
its prompts. They are read one by one in storage order: a run has up to a million prompts, and
sorting would need all of them in memory.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from stores.core.base import Aggregate, decode_text
from stores.instruments.templates import OF_PERSONA, PROBES, TEMPLATE_COLUMNS, as_template
from stores.runs.models import newest_model
from stores.runs.run_rows import Run, run_values, way_values
from stores.runs.runs import Runs
from workbench.domain.prompts import Template
from workbench.domain.responses import EXACT, Sampling, known_origin

Tokens = tuple[tuple[str, float], ...]
"(text, log-probability in nats), the most likely first"
NO_REASON = "no reason was given"

_decoded = json.JSONDecoder().raw_decode
"""like `json.loads` without skipping surrounding spaces, which takes a quarter of the time for a
run's short texts"""


@dataclass(frozen=True, slots=True)
class PredictionRow:
    """The result of one asked prompt."""

    probe: int
    "rowid"
    ref: str
    kind: str
    ordinal: int
    template: str
    labels: tuple[str, str]
    "the template's words for yes and no"
    axes: Mapping[str, str]
    "condition and, if any, context, respondent and seed"
    tokens: Tokens
    "empty if the prompt failed"
    rest: float
    "total probability of all other tokens"
    words: Mapping[str, float] | None
    "label -> probability over the whole vocabulary, or None if it is not available"
    failed: str = ""
    "why there are no tokens, for display, or an empty string if there are"


@dataclass(frozen=True, slots=True)
class AskedWording:
    """One wording of a statement in a template, shared by the prompts of many respondents."""

    ref: str
    place: int
    "position of the statement in its instrument"
    kind: str
    ordinal: int
    template: Template
    "in the version that was asked"


class Predicted(NamedTuple):
    """The result of one prompt of a run."""

    probe: int
    "rowid"
    put: int
    "index in `RunPredictions.put`. The next field is an index in `axes`."
    axes: int
    tokens: Sequence[tuple[str, float]]
    "empty if the prompt failed"
    words: Mapping[str, float] | None
    "label -> probability over the whole vocabulary, or None if it is not available"
    failed: str
    "why there are neither tokens nor answers, for display, or an empty string if there are"
    prompt: int = 0
    "rowid of the prompt's text, which other probes may share"
    answers: Mapping[str, int] | None = None
    "distinct answer -> count if answers were drawn, or None if probabilities were computed"


class RunPredictions:
    """All asked prompts of a run, to be read once, in arbitrary order.

    A cell of the design whose context was changed has several prompts. The newest has the highest
    rowid.
    """

    def __init__(
        self, connection: sqlite3.Connection, values: Mapping[str, object], *, drawn: bool = False
    ) -> None:
        """Prepare the query. `drawn` tells that answers were drawn, without probabilities."""
        self.put: list[AskedWording] = []
        "the wordings in templates that rows have referred to so far, by index, like `axes`"
        self.axes: list[Mapping[str, str]] = []
        "condition and, if any, context, respondent and seed"
        self._connection, self._values, self._drawn = connection, values, drawn

    def __iter__(self) -> Iterator[Predicted]:
        put_indices: dict[tuple[int, int], int] = {}
        axes_indices: dict[str, int] = {}
        answers_by_prompt = self._given() if self._drawn else {}
        for (
            probe,
            prompt,
            wording,
            template,
            axes,
            tokens,
            words,
            reason,
        ) in self._connection.execute(_OF_RUN, self._values):
            if (wording, template) not in put_indices:
                put_indices[wording, template] = len(self.put)
                self.put.append(self._read_put(wording, template))
            if axes not in axes_indices:
                axes_indices[axes] = len(self.axes)
                self.axes.append(json.loads(axes))
            answers = answers_by_prompt.get(prompt, {}) if self._drawn else None
            yield Predicted(
                probe=probe,
                put=put_indices[wording, template],
                axes=axes_indices[axes],
                tokens=() if tokens is None else _decoded(tokens)[0],
                words=None if words is None else _decoded(words)[0],
                failed="" if tokens is not None or answers else reason or NO_REASON,
                prompt=prompt,
                answers=answers,
            )

    def _given(self) -> dict[int, dict[str, int]]:
        """Return the answers to each prompt, by its rowid."""
        answers_by_prompt: dict[int, dict[str, int]] = {}
        text_by_id: dict[int, str] = {}
        for prompt, text_id, body, count in self._connection.execute(_GIVEN, self._values):
            if text_id not in text_by_id:
                text_by_id[text_id] = decode_text(body)
            answers_by_prompt.setdefault(prompt, {})[text_by_id[text_id]] = count
        return answers_by_prompt

    def _read_put(self, wording: int, template: int) -> AskedWording:
        ref, position, kind, ordinal, *template_values = self._connection.execute(
            _PUT, {"wording": wording, "template": template}
        ).fetchone()
        return AskedWording(ref, position, kind, ordinal, as_template(template_values))


class Predictions(Aggregate):
    """The methods on predictions."""

    def runs(
        self,
        audit: str,
        instrument: str | None = None,
        *,
        versions: Mapping[str, int] | None = None,
    ) -> tuple[Run, ...]:
        """Return the runs of an audit that a job asked for their instrument, the newest last.

        Prompts of different instruments may have the same text, so answers alone do not show that a
        design was asked.
        """
        return tuple(
            run
            for run in Runs(self.store).list(audit, instrument, versions=versions, personas=True)
            if self._is_asked(run)
        )

    def of_run(self, run: Run, only: str = "") -> RunPredictions:
        """Return all asked prompts of a run.

        With `only`, they are limited to this condition in the original wording.
        """
        drawn = run.sampling.mode != EXACT
        return RunPredictions(
            self.connection, run_values(self.connection, run) | {"only": only}, drawn=drawn
        )

    def given(self, run: Run, probe_id: int) -> tuple[dict[str, int], tuple[str, str, int]]:
        """Return the answers drawn for one prompt of a run, and the origin of the newest one.

        The origin is its time, code version and job (rowid).
        """
        values = run_values(self.connection, run) | {"probe": probe_id}
        rows = self.connection.execute(_GIVEN_TO, values).fetchall()
        origin_row = self.connection.execute(_GIVEN_BY, values).fetchone() if rows else None
        drawn_at, code_version, job = origin_row or ("", "", 0)
        origin = known_origin(run.model, 0, drawn_at)[1], code_version, job
        return {decode_text(body): count for body, count in rows}, origin

    def of_probe(self, run: Run, probe_id: int) -> PredictionRow | None:
        """Return the result of one prompt of a run, or None if it was not asked."""
        values = run_values(self.connection, run) | {"probe": probe_id}
        rows = self.connection.execute(_OF_PROBE, values).fetchall()
        return _as_row(rows[-1]) if rows else None

    def code_versions(self, run: Run) -> tuple[str, ...]:
        """Return the code versions that computed a model's prompts under a sampling."""
        rows = self.connection.execute(
            _VERSIONS, {"model": run.model_id, "sampling": run.sampling_id}
        )
        return tuple(row[0] for row in rows)

    def designs(self, run: Run) -> tuple[Mapping[str, Any], ...]:
        """Return the specifications of the jobs that asked a run's prompts.

        Jobs that had nothing to ask because all was stored are included. Prompts may share their
        text with prompts that only another model was asked, so jobs define a model's design.
        """
        rows = self.connection.execute(_DESIGNS, self._jobs_of(run))
        return tuple(spec for (text,) in rows if _is_of(spec := json.loads(text), run))

    def drawn_from(self, run: Run) -> tuple[tuple[Mapping[str, Any], frozenset[str]], ...]:
        """Return the specifications of `designs` by attempt, with the people stored at that time.

        The people are given by name. A design that samples some of the stored people samples others
        when there are more.
        """
        people_rows = self.connection.execute(_PEOPLE, {"instrument": run.instrument}).fetchall()
        rows = self.connection.execute(_ATTEMPTS, self._jobs_of(run))
        return tuple(
            (spec, frozenset(name for name, stored_at in people_rows if stored_at <= started))
            for text, started in rows
            if _is_of(spec := json.loads(text), run)
        )

    def chat_formats(self, runs: Iterable[Run]) -> dict[int, str]:
        """Return the identifiers of models' chat formats, by the models' rowids."""
        model_ids = json.dumps([run.model_id for run in runs])
        rows = self.connection.execute(
            "select id, chat_format from model where id in (select value from json_each(:wanted))",
            {"wanted": model_ids},
        )
        return dict(rows.fetchall())

    def _is_asked(self, run: Run) -> bool:
        row = self.connection.execute(_ANY_DESIGN, way_values(run)).fetchone()
        return row is not None or bool(self._idle(run))

    def _jobs_of(self, run: Run) -> Mapping[str, object]:
        return {
            "model": run.model_id,
            "sampling": run.sampling_id,
            "idle": json.dumps(self._idle(run)),
        }

    def _idle(self, run: Run) -> list[int]:
        """Return the jobs (rowids) that found a whole run stored.

        They have no draws that identify their model: it is the one whose answers a plan counted as
        stored at that time.
        """
        values = way_values(run) | {"model": run.model}
        job_ids = []
        for job, text, ended_at in self.connection.execute(_IDLE, values):
            spec = json.loads(text)
            dtype, chat_format, occasion = (
                str(spec.get(name) or "") for name in ("dtype", "chat_format", "occasion")
            )
            if Sampling(
                **spec.get("sampling", {})
            ).key == run.sampling.key and run.model_id == newest_model(
                self.connection, run.model, None, dtype, chat_format, occasion, until=ended_at
            ):
                job_ids.append(int(job))
        return job_ids


def _is_of(spec: Mapping[str, Any], run: Run) -> bool:
    return (spec.get("audit"), spec.get("instrument"), spec.get("family", run.family)) == (
        run.audit,
        run.instrument,
        run.family,
    )


def _as_row(row: Sequence[Any]) -> PredictionRow:
    probe, ref, kind, ordinal, template, yes, no, axes, tokens, rest, words, reason = row
    return PredictionRow(
        probe=probe,
        ref=ref,
        kind=kind,
        ordinal=ordinal,
        template=template,
        labels=(yes, no),
        axes=json.loads(axes),
        tokens=() if tokens is None else tuple(map(tuple, json.loads(tokens))),
        rest=float("nan") if tokens is None else rest,
        words=None if words is None else json.loads(words),
        failed="" if tokens is not None else reason or NO_REASON,
    )


_OF_RUN = f"""
    select p.id, a.prompt_id, p.wording_id, p.template_id, p.axes, n.tokens, n.words,
        iif(n.tokens is null, (select d.reason from draw d where d.id = a.newest), '')
    from (
        select d.prompt_id, max(d.id) as newest from draw d
        where d.model_id = :model and d.sampling_id = :sampling
        and (:fingerprint is null or d.fingerprint = :fingerprint) group by d.prompt_id
    ) a
    cross join probe p on p.prompt_id = a.prompt_id and p.audit = :audit
    and p.template_id in (select value from json_each(:templates)) and {OF_PERSONA}
        and p.wording_id in (
        select w.id from wording w
        where w.language = :language and w.statement_id in (select value from json_each(:scope))
            and (:only = '' or w.kind = 'original')
    ) and (:only = '' or json_extract(p.axes, '$.condition') = :only)
    left join next_tokens n on n.prompt_id = a.prompt_id and n.model_id = :model
        and (select mode from sampling where id = :sampling) = 'exact'
"""  # in the order of prompts all tables are read sequentially: five times as fast as by statements

_GIVEN = """
    select d.prompt_id, x.id, x.body, sum(r.count)
    from draw d join given_answer r on r.draw_id = d.id join text x on x.id = r.text_id
    where d.model_id = :model and d.sampling_id = :sampling
    and (:fingerprint is null or d.fingerprint = :fingerprint)
    group by d.prompt_id, x.id
"""

_GIVEN_TO = """
    select x.body, sum(r.count)
    from probe p join draw d on d.prompt_id = p.prompt_id
    join given_answer r on r.draw_id = d.id join text x on x.id = r.text_id
    where p.id = :probe and d.model_id = :model and d.sampling_id = :sampling
    and (:fingerprint is null or d.fingerprint = :fingerprint)
    group by x.id order by sum(r.count) desc, x.id
"""
_GIVEN_BY = """
    select d.at, a.code_version, coalesce(a.job_id, 0)
    from probe p join draw d on d.prompt_id = p.prompt_id join attempt a on a.id = d.attempt_id
    where p.id = :probe and d.model_id = :model and d.sampling_id = :sampling
    and (:fingerprint is null or d.fingerprint = :fingerprint)
    order by d.id desc limit 1
"""

_PUT = f"""
    select s.ref, s.ordinal, w.kind, w.ordinal, {TEMPLATE_COLUMNS}
    from wording w join statement s on s.id = w.statement_id join template t on t.id = :template
        where w.id = :wording
"""

_OF_PROBE = f"""
    select p.id, s.ref, w.kind, w.ordinal, t.name, t.positive, t.negative, p.axes, n.tokens,
        n.rest, n.words, d.reason
    from instrument i
    join statement s on s.id in (select value from json_each(:scope))
    join wording w on w.statement_id = s.id and w.language = :language
    join probe p on p.wording_id = w.id and {PROBES}
    join template t on t.id = p.template_id
    join draw d on d.prompt_id = p.prompt_id and d.model_id = :model and d.sampling_id = :sampling
        and (:fingerprint is null or d.fingerprint = :fingerprint)
    left join next_tokens n on n.prompt_id = p.prompt_id and n.model_id = :model
    where i.name = :instrument and p.id = :probe order by d.id
"""  # if a prompt was asked again after a failure, the newest attempt has the reason

_WITH_DRAWS = (
    "select distinct d.attempt_id from draw d where d.model_id = :model and "
    "d.sampling_id = :sampling"
)
_DESIGNS = f"""
    select j.spec from job j where j.id in (select a.job_id from attempt a
        where a.id in ({_WITH_DRAWS}))
        or j.id in (select value from json_each(:idle))
    order by j.id
"""
_ATTEMPTS = f"""
    select j.spec, a.started_at from attempt a join job j on j.id = a.job_id
    where a.id in ({_WITH_DRAWS}) or j.id in (select value from json_each(:idle))
    order by a.id
"""

_OF_INSTRUMENT = """
    json_extract(j.spec, '$.audit') = :audit and json_extract(j.spec, '$.instrument') = :instrument
    and coalesce(json_extract(j.spec, '$.family'), :family) = :family
"""
_ANY_DESIGN = f"""
    select 1 from draw d where d.model_id = :model and d.sampling_id = :sampling
        and d.attempt_id in (
        select a.id from attempt a where a.job_id in (select j.id from job j where {_OF_INSTRUMENT})
    ) limit 1
"""

_IDLE = f"""
    select j.id, j.spec, j.finished_at from job j
    where j.state = 'done' and {_OF_INSTRUMENT} and json_extract(j.spec, '$.model') = :model
        and coalesce(json_extract(j.progress, '$.answers'), 0) = 0
    order by j.id
"""

_PEOPLE = """
    select r.name, r.at from respondent r join instrument i on i.id = r.instrument_id
        where i.name = :instrument
"""

_VERSIONS = """
    select distinct a.code_version from draw d join attempt a on a.id = d.attempt_id
    where d.model_id = :model and d.sampling_id = :sampling order by a.code_version
"""
