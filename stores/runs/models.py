"""Models, and the prompts that they are asked.

A prompt may be asked only until its verdict is settled. A plan of N answers to it stays a plan of
N. It also records the rule of settlement, and the number of answers after which the prompt was
settled: the other answers are neither missing nor failed.
"""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from stores.core.base import Aggregate, decode_text, now, table, text_ids
from stores.instruments.templates import PROBES
from stores.runs.run_rows import Run, run_values
from workbench.domain.names import parted, placeless
from workbench.domain.prompts import Message, Probe, Prompt, Template
from workbench.domain.readings import ReaderCard
from workbench.domain.responses import ModelCard, Sampling
from workbench.errors import ConflictError
from workbench.stats.proportions import VerdictRule


def model_id(connection: sqlite3.Connection, card: ModelCard) -> int:
    """Return the rowid of a model, inserting a new one. Call inside a transaction."""
    return int(
        table(connection, "model").lookup({"key": card.key}, asdict(card) | {"first_seen": now()})
    )


def forget_places(connection: sqlite3.Connection, name: str) -> int:
    """Replace paths that earlier versions took for the version of a served model (see `placeless`).

    Returns the number of changed models. No two models become one, as different paths have
    different digests, so no runs are merged or split. Call inside a transaction.
    """
    fields = "name, revision, backend, dtype, chat_format, encoding, snapshot, occasion"
    n_changed = 0
    rows = connection.execute(
        f"select id, {fields} from model where name = ? and backend = 'openai'", (name,)
    )
    for id_, *values in rows.fetchall():
        card = ModelCard(*values)
        updated_card = replace(
            card, revision=placeless(card.revision), snapshot=placeless(card.snapshot)
        )
        if updated_card != card:
            n_changed += connection.execute(
                "update or ignore model set key = ?, revision = ?, snapshot = ? where id = ?",
                (updated_card.key, updated_card.revision, updated_card.snapshot, id_),
            ).rowcount
    return n_changed


def last_snapshot(
    connection: sqlite3.Connection, card: ModelCard, job_id: int
) -> tuple[str, bool] | None:
    """Return the snapshot of a served model that answered last, or None if none has answered.

    The second value tells whether it answered in this job. Such a snapshot takes precedence.
    """
    values = _fields_without_snapshot(card) | {"job": job_id}
    row = connection.execute(_LAST, values).fetchone()
    return None if row is None else (str(row[0]), bool(row[1]))


def answered_by_others(
    connection: sqlite3.Connection, card: ModelCard, sampling_key: bytes, attempt_id: int
) -> list[tuple[bytes, int, int]]:
    """Return the numbers of answers of other snapshots of a served model in the job of an attempt.

    Each is (key of the prompt, rowid of the model, number of answers).
    """
    values = _fields_without_snapshot(card) | {
        "snapshot": card.snapshot,
        "sampling": sampling_key,
        "attempt": attempt_id,
    }
    return connection.execute(_BY_OTHERS, values).fetchall()


def model_ids_of_name(connection: sqlite3.Connection, name: str) -> frozenset[int]:
    """Return the rowids of the models that a name refers to.

    `NAME@REVISION` refers to the models of a hub id that a job asked by this name, or whose commit
    begins with the revision. Any other name refers to the models of that name.
    """
    base, revision = parted(name)
    values = {"model": name, "base": base, "revision": revision}
    return frozenset(row[0] for row in connection.execute(_MEANT, values))


def _fields_without_snapshot(card: ModelCard) -> dict[str, object]:
    fields: dict[str, object] = {
        "name": card.name,
        "revision": card.revision,
        "backend": card.backend,
    }
    return fields | {
        "dtype": card.dtype,
        "chat_format": card.chat_format,
        "encoding": card.encoding,
    }


def newest_model(
    connection: sqlite3.Connection,
    name: str,
    card: ModelCard | None,
    dtype: str,
    chat_format: str,
    occasion: str = "",
    until: str = "",
) -> int | None:
    """Return the rowid of exactly this model or, without a card, of the newest one.

    The newest one has this name, and a job asked it with these settings on this occasion. If
    `until` is given, it was known at that time. Returns None if there is none.

    This is all that is known before a model is loaded: a plan names a dtype and a chat format, or
    uses the defaults, and the same name with other settings is another model with other answers.
    """
    if card is not None:
        row = connection.execute("select id from model where key = ?", (card.key,)).fetchone()
    else:
        values = {
            "model": name,
            "dtype": dtype,
            "chat_format": chat_format,
            "occasion": occasion,
            "until": until,
        }
        values |= dict(zip(("base", "revision"), parted(name), strict=True))
        row = connection.execute(_NEWEST, values).fetchone()
    return None if row is None else int(row[0])


_ALIKE = """
    m.name = :name and m.revision = :revision and m.backend = :backend and m.dtype = :dtype
        and m.chat_format = :chat_format and m.encoding = :encoding
"""

_LAST = f"""
    select m.snapshot,
        exists (select 1 from draw d join attempt a on a.id = d.attempt_id where d.model_id = m.id
            and a.job_id = :job)
        or exists (
            select 1 from draft d join attempt a on a.id = d.attempt_id where d.model_id = m.id
                and a.job_id = :job
        ) as here,
        max(
            coalesce((select at from draw where id = (select max(d.id) from draw d
                where d.model_id = m.id)), ''),
            coalesce((select max(d.at) from draft d where d.model_id = m.id), '')
        ) as last
    from model m where {_ALIKE} and last <> '' order by here desc, last desc, m.id desc limit 1
"""

_BY_OTHERS = f"""
    select p.key, d.model_id, sum(d.n - d.failed)
    from draw d join prompt p on p.id = d.prompt_id join model m on m.id = d.model_id
    where {_ALIKE} and m.snapshot <> :snapshot and d.sampling_id = (select id from sampling
        where key = :sampling)
        and d.attempt_id in (
            select a.id from attempt a where a.job_id = (select b.job_id from attempt b
                where b.id = :attempt)
        )
    group by d.prompt_id, d.model_id
"""

_MEANT = """
    select m.id from model m
    where m.name = :model or (m.name = :base and :revision <> '' and (
        substr(m.revision, 1, length(:revision)) = :revision or exists (
            select 1 from draw d where d.model_id = m.id and d.attempt_id in (
                select a.id from attempt a join job j on j.id = a.job_id
                    where json_extract(j.spec, '$.model') = :model
            )
        )
    ))
"""

_NEWEST = """
    with alike as materialized (
        select a.id from attempt a join job j on j.id = a.job_id
        where coalesce(json_extract(j.spec, '$.chat_format'), '') = :chat_format
            and (:dtype <> '' or coalesce(json_extract(j.spec, '$.dtype'), '') = '')
    )
    select m.id from model m
    where (m.name = :model or m.name = :base) and m.occasion = :occasion
        and (:revision = '' or m.name = :model or m.revision = :revision or exists (
            select 1 from draw d where d.model_id = m.id and d.attempt_id in (
                select a.id from attempt a join job j on j.id = a.job_id
                    where json_extract(j.spec, '$.model') = :model
            )
        ))
        and (:until <> '' or m.backend <> 'transformers' or m.encoding <> 'unknown')
        and (:dtype = '' or m.dtype = :dtype or m.dtype like :dtype || '+%') and (:until = ''
            or m.first_seen <= :until)
        and exists (
            select 1 from draw d where d.model_id = m.id and d.attempt_id in (select id from alike)
        )
    order by (select max(d.id) from draw d where d.model_id = m.id) desc limit 1
"""
# The model that answered last, because snapshots may return. Older specifications lack both fields.
# Runs with an unknown encoding get no additions.


def read_prompt(connection: sqlite3.Connection, probe_id: int) -> Prompt:
    """Return the prompt of a probe."""
    chat, messages, body = connection.execute(_PROMPT, (probe_id,)).fetchone()
    context = [] if body is None else json.loads(decode_text(body))
    turns = tuple(Message(role, content) for role, content in [*context, *json.loads(messages)])
    return Prompt(turns, bool(chat), len(context))


def wordings_of(
    connection: sqlite3.Connection,
    instrument: str,
    language: str,
    templates: Sequence[Template],
    probes: Sequence[Probe],
) -> dict[tuple[str, str], int]:
    """Return the rowid of the wording of each probe's statement and variant.

    The wording belongs to the version of the statement whose texts are in all of its prompts: the
    current version if possible, otherwise the newest. Raises ConflictError if no version has them.
    """
    texts_by_version: dict[str, dict[int, dict[str, tuple[int, str]]]] = defaultdict(
        lambda: defaultdict(dict)
    )
    for ref, version, kind, ordinal, rowid, body in connection.execute(
        "select s.ref, s.version, w.kind, w.ordinal, w.id, x.body from wording w "
        "join text x on x.id = w.text_id join statement s on s.id = w.statement_id "
        "join instrument i on i.id = s.instrument_id where i.name = ? and w.language = ? "
        "order by s.current desc, s.version desc",
        (instrument, language),
    ):
        texts_by_version[ref][version][f"{kind}-{ordinal}" if ordinal else kind] = (
            rowid,
            decode_text(body),
        )
    template_by_key = {(template.name, template.inverted): template for template in templates}
    probes_by_ref: dict[str, list[Probe]] = defaultdict(list)
    for probe in probes:
        probes_by_ref[probe.statement].append(probe)
    rowid_by_wording: dict[tuple[str, str], int] = {}
    for ref, statement_probes in probes_by_ref.items():
        texts = next(
            (
                candidate
                for candidate in texts_by_version[ref].values()
                if all(
                    _has_version_text(planned_probe, template_by_key, candidate)
                    for planned_probe in statement_probes
                )
            ),
            None,
        )
        if texts is None:
            raise ConflictError(
                f"{ref} was changed, renamed or taken out while this was planned; nothing was "
                "asked. Start or resume it again: it asks what is there now"
            )
        rowid_by_wording |= {
            (ref, probe.variant): texts[probe.variant][0] for probe in statement_probes
        }
    return rowid_by_wording


def _has_version_text(
    probe: Probe, named: Mapping[tuple[str, bool], Template], texts: Mapping[str, tuple[int, str]]
) -> bool:
    """Return whether a probe's prompt has the text of a version."""
    if probe.variant not in texts:
        return False
    template = named[probe.template, probe.inverted]
    rendered = template.render(
        texts[probe.variant][1] + probe.below, dict(probe.axes).get("model_name", "")
    )
    prompt = probe.bare or probe.prompt
    return (rendered.messages[-1:] if prompt.context else rendered.messages) == prompt.messages[
        prompt.context :
    ]


def add_prompts(connection: sqlite3.Connection, prompts: Iterable[Prompt]) -> None:
    """Write new prompts. A context that several share is written once."""
    prompts = list(prompts)
    contexts: dict[tuple[Message, ...], str] = {}
    for prompt in prompts:
        if prompt.context:
            context = prompt.messages[: prompt.context]
            if context not in contexts:
                contexts[context] = _messages(context)
    ids = text_ids(connection, contexts.values())
    connection.executemany(
        "insert into prompt (key, chat, messages, context_id) values (?, ?, ?, ?) on conflict "
        "(key) do nothing",
        (
            (
                prompt.key,
                prompt.chat,
                _messages(prompt.messages[prompt.context :]),
                ids[contexts[prompt.messages[: prompt.context]]] if prompt.context else None,
            )
            for prompt in prompts
        ),
    )


def _messages(messages: Sequence[Message]) -> str:
    return json.dumps([[message.role, message.content] for message in messages], ensure_ascii=False)


_PROMPT = """
    select p.chat, p.messages, x.body
    from probe b join prompt p on p.id = b.prompt_id left join text x on x.id = p.context_id
        where b.id = ?
"""


@dataclass(frozen=True, slots=True)
class SettledBy:
    """The rule by which prompts are settled."""

    rule: VerdictRule
    reader: str
    reader_version: str

    @classmethod
    def of(cls, rule: VerdictRule, card: ReaderCard) -> SettledBy:
        return cls(rule, card.name, card.version)

    def describe(self) -> str:
        """Return a description of the rule."""
        rule = self.rule
        return (
            f"N {rule.samples}, {rule.minimum} readable needed, rule {rule.rule} ({rule.low:g}, "
            f"{rule.high:g}), reader {self.reader} {self.reader_version[:8]}"
        )


@dataclass(frozen=True, slots=True)
class SavedAnswers:
    """The answers of a run that settlement saved."""

    prompts: int
    "number of prompts that are asked until settled"
    settled: int
    "number of prompts that were settled before all N answers were drawn"
    drawn: int
    "number of answers received for these prompts, up to the plan"
    planned: int
    "number of answers planned for them"
    left: int
    "number of answers saved at settled prompts"
    rules: tuple[SettledBy, ...] = ()


class Settlements(Aggregate):
    """The methods on prompts that are asked until settled."""

    def note(
        self, model_id: int, sampling_id: int, settled_by_prompt: Mapping[bytes, SettledBy]
    ) -> None:
        """Record that planned prompts are asked until settled, and by which rule."""
        with self.store.write() as connection:
            rules = table(connection, "verdict_rule")
            ids = {
                settled_by: rules.lookup(
                    {
                        **asdict(settled_by.rule),
                        "reader": settled_by.reader,
                        "reader_version": settled_by.reader_version,
                    }
                )
                for settled_by in dict.fromkeys(settled_by_prompt.values())
            }
            connection.executemany(
                _NOTE,
                (
                    (ids[rule], ids[rule], model_id, sampling_id, key)
                    for key, rule in settled_by_prompt.items()
                ),
            )

    def settle(self, model_id: int, sampling_id: int, answers: Mapping[bytes, int]) -> None:
        """Record the number of answers after which each of these prompts was settled."""
        if answers:
            with self.store.write() as connection:
                connection.executemany(
                    _SETTLE,
                    (
                        (n_answers, model_id, sampling_id, key)
                        for key, n_answers in sorted(answers.items())
                    ),
                )

    def next_answer_numbers(
        self,
        seeds: Mapping[bytes, int],
        model: str,
        sampling: Sampling,
        card: ModelCard | None,
        *,
        dtype: str = "",
        chat_format: str = "",
        occasion: str = "",
    ) -> dict[bytes, int]:
        """Return the number of the first answer that was not requested yet, for each prompt.

        Answers are numbered by seed. Requested numbers stay used even if the answer failed: a
        server that respects seeds would give the same answer again.
        """
        rowid = newest_model(self.connection, model, card, dtype, chat_format, occasion)
        if rowid is None:
            return {}
        rows = self.connection.execute(_ASKED, {"model": rowid, "sampling": sampling.key})
        return {key: next_number for key, seed, next_number in rows if seeds.get(key) == seed}

    def answered_by(
        self,
        model: str,
        sampling: Sampling,
        *,
        dtype: str = "",
        chat_format: str = "",
        occasion: str = "",
    ) -> tuple[int, int] | None:
        """Return the rowids of the model and the sampling whose stored answers a plan counts.

        The model is not loaded yet. Returns None if no model was asked so.
        """
        rowid = newest_model(self.connection, model, None, dtype, chat_format, occasion)
        row = self.connection.execute(
            "select id from sampling where key = ?", (sampling.key,)
        ).fetchone()
        return None if rowid is None or row is None else (rowid, int(row[0]))

    def probes(self, run: Run) -> frozenset[int]:
        """Return the rowids of a run's probes whose prompts are asked until settled."""
        if self.connection.execute("select 1 from verdict_rule limit 1").fetchone() is None:
            return frozenset()
        return frozenset(
            row[0] for row in self.connection.execute(_PROBES, run_values(self.connection, run))
        )

    def spared(self, run: Run) -> SavedAnswers | None:
        """Return the answers of a run that settlement saved.

        Returns None if all prompts were to be asked N times.
        """
        if self.connection.execute("select 1 from verdict_rule limit 1").fetchone() is None:
            return None
        rows: Sequence[tuple[int, int, int | None, int]] = self.connection.execute(
            _SPARED, run_values(self.connection, run)
        ).fetchall()
        if not rows:
            return None
        settled_counts = [
            (n_planned, n_received)
            for n_planned, n_received, settled_at, _ in rows
            if settled_at is not None and settled_at <= n_received < n_planned
        ]
        return SavedAnswers(
            len(rows),
            len(settled_counts),
            sum(min(n_planned, n_received) for n_planned, n_received, _, _ in rows),
            sum(n_planned for n_planned, _, _, _ in rows),
            sum(n_planned - n_received for n_planned, n_received in settled_counts),
            tuple(self._rules(dict.fromkeys(rule for *_, rule in rows))),
        )

    def _rules(self, rowids: Iterable[int]) -> Iterable[SettledBy]:
        for rowid in rowids:
            *rule, reader, version = self.connection.execute(_BY_ID, (rowid,)).fetchone()
            yield SettledBy(VerdictRule(*rule), reader, version)


_BY_ID = (
    "select samples, minimum, rule, low, high, reader, reader_version from verdict_rule "
    "where id = ?"
)
_OF_PROMPT = (
    "where model_id = ? and sampling_id = ? and prompt_id = (select id from prompt where key = ?)"
)
_NOTE = (
    f"update planned set settled_at = iif(rule_id is ?, settled_at, null), rule_id = ? {_OF_PROMPT}"
)
_SETTLE = f"update planned set settled_at = ? {_OF_PROMPT}"
_ASKED = """
    select p.key, d.seed, max(d.first + coalesce(d.asked, d.n))
    from draw d join prompt p on p.id = d.prompt_id
    where d.model_id = :model and d.sampling_id = (select id from sampling where key = :sampling)
    group by p.id, d.seed
"""
_SCOPE = f"""
    from instrument i
    join statement s on s.id in (select value from json_each(:scope))
    join wording w on w.statement_id = s.id and w.language = :language
    join probe p on p.wording_id = w.id and {PROBES}
    join planned n on n.prompt_id = p.prompt_id and n.model_id = :model
        and n.sampling_id = :sampling
        and n.rule_id is not null
"""
_PROBES = f"select p.id {_SCOPE} where i.name = :instrument"
_SPARED = f"""
    with used as materialized (
        select distinct n.prompt_id, n.n, n.rule_id, iif(r.samples >= n.n, n.settled_at, null)
            as settled_at
        {_SCOPE} join verdict_rule r on r.id = n.rule_id where i.name = :instrument
    )
    select u.n, coalesce(sum(d.n - d.failed), 0), u.settled_at, u.rule_id
    from used u left join draw d on d.prompt_id = u.prompt_id and d.model_id = :model
        and d.sampling_id = :sampling
        and (:fingerprint is null or d.fingerprint = :fingerprint)
    group by u.prompt_id
"""
