"""A model's probabilities of continuations of prompts, and its most likely next tokens.

Scores belong to a run like answers: each scored prompt has a draw of one under the exact sampling,
without a response, which records the time, the job and the code version, or the reason of a
failure.
"""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from stores.core.base import Aggregate, decode_text, now, text_ids
from stores.instruments.templates import PROBES
from stores.jobs.job_rows import write_progress
from stores.runs.models import newest_model
from stores.runs.run_rows import Run, run_values
from workbench.domain.keys import text_key
from workbench.domain.prompts import SPELLINGS
from workbench.domain.responses import ModelCard


@dataclass(frozen=True, slots=True)
class ScoredPrompt:
    """The probabilities of one prompt's continuations, ready to be written."""

    prompt_key: bytes
    scores: tuple[tuple[str, float], ...]
    """(continuation, log-probability in nats), or empty if the prompt could not be scored or
    only its next tokens were requested"""
    reason: str = ""
    "reason of a failure, for display"
    fingerprint: str = ""
    "fingerprint of the replies, see `Drawn`"
    version: str = SPELLINGS
    "version of the spellings"


@dataclass(frozen=True, slots=True)
class NextTokenTable:
    """The most likely next tokens of one prompt, in descending order."""

    tokens: tuple[tuple[str, float], ...]
    "(text, log-probability in nats)"
    rest: float
    "total probability of all other tokens"
    words: Mapping[str, float] | None = None
    """word -> probability of all tokens of the vocabulary that spell it, or None if it is not
    available"""


@dataclass(frozen=True, slots=True)
class ProbeScores:
    """The computed probabilities of one probe, and their origin."""

    scores: tuple[tuple[str, float], ...]
    table: NextTokenTable | None
    "None if it is not available"
    template: str
    order: str
    at: str
    code_version: str
    job: int
    failed: str = ""
    "why there are no scores"


class Scores(Aggregate):
    """The methods on computed probabilities."""

    def stored(
        self,
        forms: Mapping[bytes, Sequence[str]],
        model: str,
        card: ModelCard | None,
        *,
        dtype: str = "",
        chat_format: str = "",
        occasion: str = "",
    ) -> dict[bytes, int]:
        """Return the prompts whose continuations are all scored by the current version.

        They are by key, each with 1. If `card` is None, the model is that of `newest_model`.
        """
        rowid = newest_model(self.connection, model, card, dtype, chat_format, occasion)
        if rowid is None:
            return {}
        scored_forms: dict[bytes, set[bytes]] = defaultdict(set)
        for prompt, text in self.connection.execute(_SCORED, (rowid, SPELLINGS)):
            scored_forms[prompt].add(text)
        keys = {
            form: text_key(form)
            for form in {form for prompt_forms in forms.values() for form in prompt_forms}
        }
        return {
            prompt: 1
            for prompt, prompt_forms in forms.items()
            if scored_forms[prompt].issuperset(keys[form] for form in prompt_forms)
        }

    def stored_next(
        self,
        model: str,
        card: ModelCard | None,
        *,
        dtype: str = "",
        chat_format: str = "",
        occasion: str = "",
    ) -> dict[bytes, int]:
        """Return the prompts whose next tokens are stored.

        They are by key, each with 1. `card` is as in `stored`.
        """
        rowid = newest_model(self.connection, model, card, dtype, chat_format, occasion)
        return {} if rowid is None else dict.fromkeys(self.with_tokens(rowid), 1)

    def with_tokens(self, model_id: int) -> Set[bytes]:
        """Return the keys of the prompts whose next tokens are stored."""
        rows = self.connection.execute(
            "select p.key from next_tokens n join prompt p on p.id = n.prompt_id where "
            "n.model_id = ?",
            (model_id,),
        )
        return {row[0] for row in rows}

    def add(
        self,
        model_id: int,
        sampling_id: int,
        attempt_id: int,
        scored: Iterable[ScoredPrompt],
        tables: Mapping[bytes, NextTokenTable],
        *,
        job: tuple[int, int, str] | None = None,
    ) -> None:
        """Write computed probabilities in one transaction, with the job's progress.

        The progress is `job` = (id, done, progress). Existing values are overwritten: the same
        model gives the same probabilities, up to rounding. Raises AttemptEnded, having written
        nothing, if the attempt has ended.
        """
        with self.store.write(attempt_id) as connection:
            scored_at = now()
            scored = list(scored)
            ids = text_ids(connection, (form for item in scored for form, _ in item.scores))
            origin = (model_id, attempt_id, scored_at)
            connection.executemany(
                _ADD_SCORE,
                (
                    (item.prompt_key, ids[form], log_probability, item.version, *origin)
                    for item in scored
                    for form, log_probability in item.scores
                ),
            )
            for item in scored:
                values = {
                    "prompt": item.prompt_key,
                    "model": model_id,
                    "sampling": sampling_id,
                    "attempt": attempt_id,
                }
                connection.execute(
                    _ADD_DRAW,
                    values
                    | {
                        "failed": int(bool(item.reason)),
                        "reason": item.reason,
                        "print": item.fingerprint,
                        "at": scored_at,
                    },
                )
            connection.executemany(
                _ADD_TOKENS,
                (
                    (key, json.dumps(table.tokens), table.rest, _words(table), *origin)
                    for key, table in tables.items()
                ),
            )
            write_progress(connection, job)

    def versions(self, run: Run) -> tuple[str, ...]:
        """Return the versions of the spellings in a run's scores, the newest first."""
        rows = self.connection.execute(_VERSIONS, run_values(self.connection, run))
        return tuple(sorted((row[0] for row in rows), key=int, reverse=True))

    def of_run(self, run: Run, version: str = SPELLINGS) -> dict[int, dict[str, float]]:
        """Return the log-probabilities of the continuations of every scored probe of a run.

        They are in nats, by rowid of the probe and continuation.
        """
        text_by_id: dict[int, str] = {}
        scores_by_probe: dict[int, dict[str, float]] = defaultdict(dict)
        for probe, text_id, log_probability in self.connection.execute(
            _OF_RUN, run_values(self.connection, run) | {"version": version}
        ):
            if text_id not in text_by_id:
                text_by_id[text_id] = _text(self.connection, text_id)
            scores_by_probe[probe][text_by_id[text_id]] = log_probability
        return dict(scores_by_probe)

    def of_probe(self, run: Run, probe_id: int) -> ProbeScores | None:
        """Return the computed probabilities of one probe of a run, or None if it was not asked."""
        values = {
            "model": run.model_id,
            "sampling": run.sampling_id,
            "fingerprint": run.fingerprint,
            "probe": probe_id,
        }
        row = self.connection.execute(_PROVENANCE, values).fetchone()
        if row is None:
            return None
        template, inverted, scored_at, version, job, failed, reason = row
        scores = self.connection.execute(_OF_PROBE, values).fetchall()
        return ProbeScores(
            scores=tuple((decode_text(body), log_probability) for body, log_probability in scores),
            table=self._table(values),
            template=template,
            order="swapped" if inverted else "printed",
            at=scored_at,
            code_version=version,
            job=job,
            failed=reason if failed else "",
        )

    def tables_of_run(self, run: Run) -> dict[int, NextTokenTable]:
        """Return the most likely next tokens of every probe of a run, by the probe's rowid.

        Probes without them are left out.
        """
        rows = self.connection.execute(_TABLES, run_values(self.connection, run))
        return {probe: _as_table(tokens, rest, words) for probe, tokens, rest, words in rows}

    def _table(self, values: Mapping[str, object]) -> NextTokenTable | None:
        row = self.connection.execute(_TOKENS, values).fetchone()
        return None if row is None else _as_table(*row)


def _as_table(tokens: str, rest: float, words: str | None) -> NextTokenTable:
    token_pairs = tuple((text, log_probability) for text, log_probability in json.loads(tokens))
    return NextTokenTable(token_pairs, rest, None if words is None else json.loads(words))


def _words(table: NextTokenTable) -> str | None:
    return (
        None
        if table.words is None
        else json.dumps(dict(table.words), sort_keys=True, ensure_ascii=False)
    )


def _text(connection: sqlite3.Connection, rowid: int) -> str:
    return decode_text(
        *connection.execute("select body from text where id = ?", (rowid,)).fetchone()
    )


OF_PRINT = """
    (:fingerprint is null or exists (
        select 1 from draw d where d.prompt_id = p.prompt_id and d.model_id = :model
            and d.sampling_id = :sampling
            and d.fingerprint = :fingerprint
    ))
"""
"SQL for whether a prompt was scored under a fingerprint"

_SCORED = """
    select p.key, x.key from score c join prompt p on p.id = c.prompt_id join text x
        on x.id = c.text_id
    where c.model_id = ? and c.version = ?
"""

_ADD_SCORE = """
    insert into score (prompt_id, text_id, log_probability, version, model_id, attempt_id, at)
    values ((select id from prompt where key = ?), ?, ?, ?, ?, ?, ?)
    on conflict (model_id, prompt_id, text_id) do update
    set log_probability = excluded.log_probability, version = excluded.version,
        attempt_id = excluded.attempt_id,
        at = excluded.at
"""

_ADD_DRAW = """
    insert into draw (prompt_id, model_id, sampling_id, attempt_id, seed, n, failed, reason,
        fingerprint, at)
    select p.id, :model, :sampling, :attempt, 0, 1, :failed, :reason, :print, :at from prompt p
    where p.key = :prompt and not exists (
        select 1 from draw d where d.prompt_id = p.id and d.model_id = :model
            and d.sampling_id = :sampling
            and d.n > d.failed
    )
"""

_ADD_TOKENS = """
    insert into next_tokens (prompt_id, tokens, rest, words, model_id, attempt_id, at)
    values ((select id from prompt where key = ?), ?, ?, ?, ?, ?, ?)
    on conflict (model_id, prompt_id) do update
    set tokens = excluded.tokens, rest = excluded.rest, words = excluded.words,
        attempt_id = excluded.attempt_id, at = excluded.at
"""

_OF_RUN = f"""
    select p.id, c.text_id, c.log_probability
    from instrument i
    join statement s on s.id in (select value from json_each(:scope))
    join wording w on w.statement_id = s.id and w.language = :language
    join probe p on p.wording_id = w.id and {PROBES}
    join score c on c.prompt_id = p.prompt_id and c.model_id = :model and c.version = :version
    where i.name = :instrument
"""

_VERSIONS = f"""
    select distinct c.version
    from instrument i
    join statement s on s.id in (select value from json_each(:scope))
    join wording w on w.statement_id = s.id and w.language = :language
    join probe p on p.wording_id = w.id and {PROBES}
    join score c on c.prompt_id = p.prompt_id and c.model_id = :model
    where i.name = :instrument and {OF_PRINT}
"""

_TABLES = f"""
    select p.id, n.tokens, n.rest, n.words
    from instrument i
    join statement s on s.id in (select value from json_each(:scope))
    join wording w on w.statement_id = s.id and w.language = :language
    join probe p on p.wording_id = w.id and {PROBES}
    join next_tokens n on n.prompt_id = p.prompt_id and n.model_id = :model
    where i.name = :instrument and {OF_PRINT}
"""

_PROVENANCE = """
    select t.name, t.inverted, d.at, a.code_version, a.job_id, d.failed, d.reason
    from probe p
    join template t on t.id = p.template_id
    join draw d on d.prompt_id = p.prompt_id and d.model_id = :model and d.sampling_id = :sampling
        and (:fingerprint is null or d.fingerprint = :fingerprint)
    join attempt a on a.id = d.attempt_id
    where p.id = :probe order by d.failed, d.id desc limit 1
"""

_OF_PROBE = """
    select x.body, c.log_probability
    from probe p join score c on c.prompt_id = p.prompt_id and c.model_id = :model join text x
        on x.id = c.text_id
    where p.id = :probe order by c.log_probability desc, x.id
"""

_TOKENS = """
    select n.tokens, n.rest, n.words
    from probe p join next_tokens n on n.prompt_id = p.prompt_id and n.model_id = :model
    where p.id = :probe
"""
