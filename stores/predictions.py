"""What a model predicted of people's answers: the next tokens of every prompt of a questionnaire run.

One query reads all of a run, because every figure of Questionnaire Modeling is a mean over all of its prompts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stores.base import Aggregate
from stores.run_rows import Run, run_values

Tokens = tuple[tuple[str, float], ...]
"(text, log-probability in nats), the likeliest first"


@dataclass(frozen=True, slots=True)
class PredictionRow:
    """One prompt that was asked, and what came of it."""

    probe: int
    "rowid"
    ref: str
    kind: str
    ordinal: int
    template: str
    labels: tuple[str, str]
    "what yes and no are called in the template"
    axes: Mapping[str, str]
    "condition, and where it has them context, respondent and seed"
    tokens: Tokens
    "empty where the prompt failed"
    rest: float
    "probability of all tokens that are not named"
    words: Mapping[str, float] | None
    "label -> probability over the whole vocabulary; None where the backend does not say"
    failed: str = ""
    "why there are no tokens, for people; empty where there are"


class Predictions(Aggregate):
    """The verbs on predictions."""

    def of_run(self, run: Run) -> tuple[PredictionRow, ...]:
        """Return all prompts of a run that were asked, in the order of the statements, as they were put, the oldest
        of each first. A cell of the design whose context was changed meanwhile has several.
        """
        values = run_values(self.connection, run)
        return self._rows(_OF_RUN, values)

    def of_probe(self, run: Run, probe_id: int) -> PredictionRow | None:
        """Return one prompt of a run; None where it was not asked."""
        values = run_values(self.connection, run) | {"probe": probe_id}
        return next(iter(self._rows(_OF_PROBE, values)), None)

    def code_versions(self, run: Run) -> tuple[str, ...]:
        """Return the versions of the code with which a model's prompts under a sampling were computed."""
        rows = self.connection.execute(_VERSIONS, {"model": run.model_id, "sampling": run.sampling_id})
        return tuple(row[0] for row in rows)

    def designs(self, run: Run) -> tuple[Mapping[str, Any], ...]:
        """Return the specifications of the jobs that asked a run's prompts. A prompt may have the text of one that only
        another model was asked; what this one was asked for is said here.
        """
        rows = self.connection.execute(_DESIGNS, {"model": run.model_id, "sampling": run.sampling_id})
        found = (json.loads(row[0]) for row in rows)
        return tuple(
            spec for spec in found if (spec.get("audit"), spec.get("instrument")) == (run.audit, run.instrument)
        )

    def _rows(self, sql: str, values: Mapping[str, object]) -> tuple[PredictionRow, ...]:
        """Return rows; where a prompt was asked again after it failed, the newest attempt says why it failed."""
        axes: dict[str, Mapping[str, str]] = {}
        rows = {row[0]: _as_row(row, axes) for row in self.connection.execute(sql, values)}
        return tuple(rows.values())

    def chat_formats(self, runs: Iterable[Run]) -> dict[int, str]:
        """Return what tells apart the chat formats in which models were asked, by the models' rowids."""
        wanted = json.dumps([run.model_id for run in runs])
        rows = self.connection.execute(
            "select id, chat_format from model where id in (select value from json_each(:wanted))", {"wanted": wanted}
        )
        return dict(rows.fetchall())


def _as_row(row: Sequence[Any], known: dict[str, Mapping[str, str]]) -> PredictionRow:
    """Return a row as a value. `known`: axes by their JSON, which all targets of a respondent have in common."""
    probe, ref, kind, ordinal, template, yes, no, axes, tokens, rest, words, reason = row
    if axes not in known:
        known[axes] = json.loads(axes)
    return PredictionRow(
        probe=probe,
        ref=ref,
        kind=kind,
        ordinal=ordinal,
        template=template,
        labels=(yes, no),
        axes=known[axes],
        tokens=() if tokens is None else tuple(map(tuple, json.loads(tokens))),
        rest=float("nan") if tokens is None else rest,
        words=None if words is None else json.loads(words),
        failed="" if tokens is not None else reason or "no reason was given",
    )


_ROWS = """
    select p.id, s.ref, w.kind, w.ordinal, t.name, t.positive, t.negative, p.axes, n.tokens, n.rest, n.words, d.reason
    from instrument i
    join statement s on s.id in (select value from json_each(:scope))
    join wording w on w.statement_id = s.id and w.language = :language
    join probe p on p.wording_id = w.id and p.audit = :audit
    join template t on t.id = p.template_id
    join draw d on d.prompt_id = p.prompt_id and d.model_id = :model and d.sampling_id = :sampling
    left join next_tokens n on n.prompt_id = p.prompt_id and n.model_id = :model
    where i.name = :instrument
"""
_OF_RUN = f"{_ROWS} order by s.ordinal, p.id, d.id"
_OF_PROBE = f"{_ROWS} and p.id = :probe order by d.id"

_DESIGNS = """
    select j.spec from job j where j.id in (
        select a.job_id from attempt a where a.id in (
            select distinct d.attempt_id from draw d where d.model_id = :model and d.sampling_id = :sampling
        )
    ) order by j.id
"""

_VERSIONS = """
    select distinct a.code_version from draw d join attempt a on a.id = d.attempt_id
    where d.model_id = :model and d.sampling_id = :sampling order by a.code_version
"""
