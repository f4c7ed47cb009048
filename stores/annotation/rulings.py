"""Auditors' rulings, and the control samples for checking readers.

Rulings are events that are kept permanently. Those in force are computed per auditor and subject.
Rulings and samples identify their subjects by content, not by rowids, so they can be moved between
stores unchanged. Annotators cannot read them: an annotator's connection sees only what
`stores.core.permissions` lists.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from stores.annotation.annotation_items import first_wording
from stores.core.base import Aggregate, decode_text, execute_named, later, now, now_after
from stores.runs.run_lists import named_axes
from stores.runs.run_rows import Run
from workbench.domain.keys import KEY_BYTES, content_key
from workbench.domain.names import person_name
from workbench.domain.readings import ReaderCard, ReaderKind
from workbench.domain.reviews import ControlItem, ControlSample, DrawnStratum
from workbench.domain.rulings import Ruled, Ruling, RulingVerdict, Subject
from workbench.domain.statements import VariantId, VariantKind
from workbench.errors import ConflictError, UsageError

LONGEST_REASON = 2000
"in characters"


class Rulings(Aggregate):
    """The methods on rulings. Each one that writes is one transaction."""

    def rule(
        self,
        subject: Subject,
        verdict: RulingVerdict,
        *,
        auditor: str,
        reason: str,
        label: str | None = None,
    ) -> Ruling:
        """Append a ruling, which supersedes the same auditor's earlier ruling on the subject.

        For `label` see `Ruling`.
        """
        if label is not None and verdict is not RulingVerdict.MISREAD:
            raise UsageError(
                f"a right reading belongs to {RulingVerdict.MISREAD}, not to {verdict}"
            )
        return self._append(
            subject, verdict, label, _reason(reason), person_name(auditor, "auditor")
        )

    def undo(self, ruling: Ruling, *, auditor: str, reason: str = "") -> Ruling:
        """Withdraw a ruling in force.

        Its auditor's previous ruling on the subject is in force again.

        Raises ConflictError if it is no longer in force, and UsageError if it is another auditor's
        and no reason is given.
        """
        auditor = person_name(auditor, "auditor")
        if auditor != ruling.auditor and not reason.strip():
            raise UsageError(
                f"this is {ruling.auditor}'s ruling {ruling.verdict}; taking it back needs a "
                "reason; say why"
            )
        return self._append(
            ruling.subject, None, None, " ".join(reason.split()), auditor, ruling.uid
        )

    def _append(
        self,
        subject: Subject,
        verdict: RulingVerdict | None,
        label: str | None,
        reason: str,
        auditor: str,
        undoes: bytes | None = None,
    ) -> Ruling:
        with self.store.write() as connection:
            events = _events(connection, "where subject_key = ?", (subject.key,))
            if undoes is not None and undoes not in {
                ruling.uid for ruling in _rulings_in_force(events)
            }:
                raise ConflictError(
                    "this ruling was taken back or superseded meanwhile; look at the newest"
                )
            # What another clock dated ahead of this one does not count.
            latest_time = later(now(), timedelta(seconds=1))
            (newest,) = connection.execute(
                "select max(at) from ruling where at < ?", (latest_time,)
            ).fetchone()
            time = now_after(max((*(event.at for event in events), newest or "")))
            ruling = Ruling(
                secrets.token_bytes(16), subject, verdict, label, reason, auditor, time, undoes
            )
            _insert(connection, [ruling])
        return ruling

    def events(self, subject: Subject | None = None) -> tuple[Ruling, ...]:
        """Return all events, or those about a subject, the oldest first."""
        clause, values = ("where subject_key = ?", (subject.key,)) if subject else ("", ())
        return _events(self.connection, clause, values)

    def count(self) -> int:
        """Return the number of events."""
        return int(self.connection.execute("select count(*) from ruling").fetchone()[0])

    def standing(self, kind: Ruled | None = None) -> dict[bytes, tuple[Ruling, ...]]:
        """Return the rulings in force, one per auditor, by the keys of their subjects.

        The oldest come first.
        """
        rulings_by_key: dict[bytes, tuple[Ruling, ...]] = {}
        clause, values = ("where kind = ?", (kind.value,)) if kind else ("", ())
        for ruling in _rulings_in_force(_events(self.connection, clause, values)):
            key = ruling.subject.key
            rulings_by_key[key] = (*rulings_by_key.get(key, ()), ruling)
        return rulings_by_key

    def newest(self, auditor: str) -> Ruling | None:
        """Return the newest ruling in force of an auditor, or None if there is none."""
        rulings_in_force = _rulings_in_force(
            _events(self.connection, "where auditor = ?", (auditor,))
        )
        return rulings_in_force[-1] if rulings_in_force else None

    def merge(self, events: Iterable[Ruling]) -> int:
        """Add events of another store or a file.

        They keep their times. Returns the number of new ones.
        """
        with self.store.write() as connection:
            return _insert(connection, events)


def _rulings_in_force(events: Iterable[Ruling]) -> tuple[Ruling, ...]:
    """Return the newest ruling of each auditor and subject that was not withdrawn.

    The events come in order.
    """
    events = tuple(events)
    withdrawn_uids = {event.undoes for event in events}
    newest = {
        (event.subject.key, event.auditor): event
        for event in events
        if event.verdict is not None and event.uid not in withdrawn_uids
    }
    return tuple(sorted(newest.values(), key=lambda ruling: (ruling.at, ruling.uid)))


def _events(
    connection: sqlite3.Connection, where: str, values: tuple[object, ...]
) -> tuple[Ruling, ...]:
    return tuple(
        map(
            _ruling,
            execute_named(connection, f"select * from ruling {where} order by at, uid", values),
        )
    )


def _ruling(row: sqlite3.Row) -> Ruling:
    subject = Subject(Ruled(row["kind"]), json.loads(row["subject"]))
    verdict = None if row["verdict"] is None else RulingVerdict(row["verdict"])
    return Ruling(
        row["uid"],
        subject,
        verdict,
        row["label"],
        row["reason"],
        row["auditor"],
        row["at"],
        row["undoes"],
    )


def _insert(connection: sqlite3.Connection, rulings: Iterable[Ruling]) -> int:
    return connection.executemany(
        "insert into ruling (uid, kind, subject_key, subject, verdict, label, reason, auditor, "
        "at, undoes) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (uid) do nothing",
        (
            (
                ruling.uid,
                ruling.subject.kind.value,
                ruling.subject.key,
                json.dumps(dict(ruling.subject.named), sort_keys=True, ensure_ascii=False),
                ruling.verdict.value if ruling.verdict else None,
                ruling.label,
                ruling.reason,
                ruling.auditor,
                ruling.at,
                ruling.undoes,
            )
            for ruling in rulings
        ),
    ).rowcount


def _reason(text: str) -> str:
    """Return a normalised reason. Raises UsageError if it is invalid."""
    reason = " ".join(text.split())
    if not reason:
        raise UsageError("a ruling needs a reason; say why")
    if len(reason) > LONGEST_REASON:
        raise UsageError(
            f"the reason has {len(reason):,} characters; give at most {LONGEST_REASON:,}"
        )
    if not reason.isprintable():
        raise UsageError(
            "the reason holds a character that does not show; give a reason without it"
        )
    return reason


DIGITS = 8
"the number of hexadecimal digits of a key that people copy"


@dataclass(frozen=True, slots=True)
class PutPrompt:
    """A prompt as an audit asked it."""

    key: bytes
    instrument: str
    ref: str
    version: int
    language: str
    variant: str
    wording: str
    template: str
    inverted: bool
    scale: str
    audit: str
    axes: Mapping[str, str]

    @property
    def order(self) -> str:
        return "swapped" if self.inverted else "printed"


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """An answer to a prompt."""

    prompt: bytes
    key: bytes
    "of the answer's text"
    text: str
    count: int
    "number of times that all models gave it"


@dataclass(frozen=True, slots=True)
class GivenReading:
    """A rule's or classifier's reading of an answer."""

    kind: str
    reader: str
    version: str
    label: str | None
    "None if it is unreadable"


@dataclass(frozen=True, slots=True)
class AnswerSource:
    """The source of an answer: a model with a sampling and, if served, a fingerprint."""

    model_id: int
    sampling_id: int
    fingerprint: str | None

    def is_of(self, run: Run) -> bool:
        """Return whether a run includes the answers of this source."""
        is_same_source = (self.model_id, self.sampling_id) == (run.model_id, run.sampling_id)
        return is_same_source and run.fingerprint in (None, self.fingerprint)


class RuledThings(Aggregate):
    """The methods on subjects of rulings."""

    def versions(self, instrument: str, ref: str) -> tuple[int, ...]:
        """Return the versions of a statement, unasked ones first.

        Those that a model was asked follow. Each group is in order, from oldest to newest.
        """
        rows = self.connection.execute(_VERSIONS, {"instrument": instrument, "ref": ref})
        return tuple(version for (version,) in rows)

    def variants(self, instrument: str, ref: str, version: int) -> tuple[tuple[str, str, str], ...]:
        """Return (language, variant, text) of every wording of a statement."""
        values = {"instrument": instrument, "ref": ref, "version": version}
        rows = self.connection.execute(_WORDINGS, values)
        return tuple(
            (language, _variant(kind, ordinal), decode_text(body))
            for language, kind, ordinal, body in rows
        )

    def prompts(
        self,
        *,
        instrument: str | None = None,
        ref: str | None = None,
        key: str | None = None,
        probe: int | None = None,
    ) -> tuple[PutPrompt, ...]:
        """Return the prompts that match all given criteria.

        They are the instrument, the statement, a prefix of the key (in hexadecimal), and a probe.
        """
        clauses = ["exists (select 1 from draw d where d.prompt_id = p.prompt_id)"]
        values: dict[str, object] = {"instrument": instrument, "ref": ref, "probe": probe}
        clauses += [_CLAUSES[name] for name, value in values.items() if value is not None]
        if key is not None:
            is_full_key = len(key) == 2 * KEY_BYTES
            values["key"] = bytes.fromhex(key) if is_full_key else key
            clauses.append("q.key = :key" if is_full_key else "lower(hex(q.key)) glob :key || '*'")
        sql = _PROMPTS.format(where=" and ".join(clauses))
        return tuple(
            PutPrompt(
                bytes(row["key"]),
                row["instrument"],
                row["ref"],
                row["version"],
                row["language"],
                _variant(row["kind"], row["ordinal"]),
                decode_text(row["body"]),
                row["template"],
                bool(row["inverted"]),
                row["scale"] or "",
                row["audit"],
                named_axes(self.connection, row["axes"]),
            )
            for row in execute_named(self.connection, sql, values)
        )

    def text(self, key: bytes) -> str | None:
        """Return a text by its key, or None if the store lacks it."""
        row = self.connection.execute("select body from text where key = ?", (key,)).fetchone()
        return None if row is None else decode_text(row[0])

    def probes(self, named: Mapping[str, str]) -> frozenset[int]:
        """Return the rowids of the probes of a subject.

        The subject is a prompt, a wording, or a whole statement.
        """
        clause = _OF_PROMPT if "prompt" in named else _OF_STATEMENT
        values = {**named, "key": bytes.fromhex(named.get("prompt", ""))}
        rows = self.connection.execute(_PROBES.format(where=clause), values)
        criteria = {name: named[name] for name in ("language", "variant") if name in named}
        return frozenset(
            probe
            for probe, language, kind, ordinal in rows
            if criteria.items()
            <= {"language": language, "variant": _variant(kind, ordinal)}.items()
        )

    def answers(self, prompt: bytes) -> tuple[GivenAnswer, ...]:
        """Return the distinct answers to a prompt, the most frequent first."""
        rows = self.connection.execute(_ANSWERS, {"prompt": prompt})
        return tuple(
            GivenAnswer(prompt, bytes(key), decode_text(body), count) for key, body, count in rows
        )

    def givers(self, prompt: str, text: str) -> frozenset[AnswerSource]:
        """Return the sources of an answer to a prompt.

        The answer is given by the key of its text, the prompt by its own key, both in hexadecimal.
        """
        values = {"prompt": bytes.fromhex(prompt), "text": bytes.fromhex(text)}
        return frozenset(AnswerSource(*row) for row in self.connection.execute(_GIVERS, values))

    def readings(self, prompt: bytes, text: bytes) -> tuple[GivenReading, ...]:
        """Return the readings of an answer to a prompt by rules and classifiers.

        The answer is given by the key of its text. The readings are those of each reader's newest
        version.
        """
        rows = self.connection.execute(_READINGS, {"prompt": prompt, "text": text})
        reading_by_reader = {
            name: GivenReading(kind, name, version, label) for kind, name, version, label in rows
        }
        return tuple(reading_by_reader.values())


def _variant(kind: str, ordinal: int) -> str:
    return str(VariantId(VariantKind(kind), ordinal))


_VERSIONS = """
    select s.version from statement s join instrument i on i.id = s.instrument_id
    where i.name = :instrument and s.ref = :ref
    order by exists (select 1 from wording w join probe p on p.wording_id = w.id
        where w.statement_id = s.id), s.version
"""

_WORDINGS = """
    select w.language, w.kind, w.ordinal, x.body
    from instrument i join statement s on s.instrument_id = i.id and s.ref = :ref
        and s.version = :version
    join wording w on w.statement_id = s.id join text x on x.id = w.text_id
    where i.name = :instrument order by w.language, w.id
"""

_CLAUSES = {"instrument": "i.name = :instrument", "ref": "s.ref = :ref", "probe": "p.id = :probe"}
_PROMPTS = """
    select distinct q.key, i.name as instrument, s.ref, s.version, w.language, w.kind, w.ordinal,
        x.body,
        t.name as template, t.inverted, t.scale, p.audit, p.axes
    from probe p
    join prompt q on q.id = p.prompt_id
    join wording w on w.id = p.wording_id
    join text x on x.id = w.text_id
    join statement s on s.id = w.statement_id
    join instrument i on i.id = s.instrument_id
    join template t on t.id = p.template_id
    where {where}
    order by s.version desc, w.id, t.id, p.id
"""

_OF_PROMPT = "q.key = :key"
_OF_STATEMENT = "i.name = :instrument and s.ref = :statement and s.version = :version"
_PROBES = """
    select p.id, w.language, w.kind, w.ordinal
    from probe p
    join prompt q on q.id = p.prompt_id
    join wording w on w.id = p.wording_id
    join statement s on s.id = w.statement_id
    join instrument i on i.id = s.instrument_id
    where {where}
"""

_ANSWERS = """
    select x.key, x.body, sum(r.count) from prompt q
    join draw d on d.prompt_id = q.id
    join given_answer r on r.draw_id = d.id
    join text x on x.id = r.text_id
    where q.key = :prompt group by x.id order by 3 desc, x.id
"""

_GIVERS = """
    select distinct d.model_id, d.sampling_id, d.fingerprint from prompt q
    join draw d on d.prompt_id = q.id
    join given_answer r on r.draw_id = d.id
    join text x on x.id = r.text_id and x.key = :text
    where q.key = :prompt
"""

_READINGS = f"""
    select distinct e.kind, e.name, e.version, g.label
    from prompt q
    join probe p on p.prompt_id = q.id
    join wording w on w.id = p.wording_id
    join statement s on s.id = w.statement_id
    join text x on x.key = :text
    join unit u on u.text_id = x.id and (
        (u.template_id = p.template_id and u.wording_id is null)
        or (u.template_id is null and u.wording_id = {first_wording("w", "s")})
    )
    join reading g on g.unit_id = u.id
    join reader e on e.id = g.reader_id and e.kind in ('rule', 'classifier')
    where q.key = :prompt order by e.id
"""


class ControlSamples(Aggregate):
    """The methods on control samples.

    A stored sample never changes. One on which nobody decided can be removed.
    """

    def add(
        self,
        run: Mapping[str, str],
        reader: ReaderCard,
        seed: int,
        strata: Mapping[str, DrawnStratum],
        items: Sequence[ControlItem],
        drawn_by: str,
    ) -> None:
        """Write a sample in one transaction."""
        uid = secrets.token_bytes(16)
        sample = ControlSample(
            uid, dict(run), reader, seed, dict(strata), drawn_by, now(), tuple(items)
        )
        with self.store.write() as connection:
            _insert_sample(connection, sample)

    def remove(self, uid: bytes) -> None:
        """Delete a sample on which nobody has decided, in one transaction."""
        with self.store.write() as connection:
            connection.execute("delete from control_item where sample = ?", (uid,))
            connection.execute("delete from control_sample where uid = ?", (uid,))

    def every(self) -> tuple[ControlSample, ...]:
        """Return all samples, the oldest first."""
        return tuple(
            map(
                self._sample,
                execute_named(self.connection, "select * from control_sample order by at, uid"),
            )
        )

    def merge(self, samples: Iterable[ControlSample]) -> int:
        """Add the samples of another store, with their times. Returns the number of new ones."""
        with self.store.write() as connection:
            return sum(_insert_sample(connection, sample) for sample in samples)

    def newest(self, run: Mapping[str, str]) -> ControlSample | None:
        """Return the newest sample of a run, of any reader, or None if there is none."""
        rows = execute_named(
            self.connection,
            "select * from control_sample where run = ? order by at desc, uid desc",
            (_written(run),),
        )
        return next((self._sample(row) for row in rows), None)

    def any(self) -> bool:
        """Return whether there is any sample."""
        return (
            self.connection.execute("select 1 from control_sample limit 1").fetchone() is not None
        )

    def of_run(self, run: Mapping[str, str], reader: ReaderCard) -> tuple[ControlSample, ...]:
        """Return the samples of a run for one reader, the oldest first."""
        rows = execute_named(
            self.connection,
            "select * from control_sample where run_key = ? order by at, uid",
            (_key(run, reader),),
        ).fetchall()
        return tuple(map(self._sample, rows))

    def _sample(self, row: sqlite3.Row) -> ControlSample:
        return ControlSample(
            bytes(row["uid"]),
            json.loads(row["run"]),
            ReaderCard(ReaderKind(row["reader_kind"]), row["reader"], row["reader_version"]),
            row["seed"],
            {name: DrawnStratum(*sizes) for name, sizes in json.loads(row["strata"]).items()},
            row["drawn_by"],
            row["at"],
            self._items(bytes(row["uid"])),
        )

    def _items(self, sample: bytes) -> tuple[ControlItem, ...]:
        rows = execute_named(
            self.connection,
            "select * from control_item where sample = ? order by ordinal",
            (sample,),
        )
        return tuple(
            ControlItem(
                row["ref"],
                row["stratum"],
                bytes(row["prompt"]),
                bytes(row["text"]),
                row["label"],
                row["answers"],
                tuple(json.loads(row["places"])),
            )
            for row in rows
        )


def _insert_sample(connection: sqlite3.Connection, sample: ControlSample) -> int:
    """Write a sample with its items. Returns 1, or 0 if it exists. Call inside a transaction."""
    sizes = json.dumps(
        {name: [stratum.size, stratum.drawn] for name, stratum in sample.strata.items()}
    )
    added = connection.execute(
        "insert into control_sample (uid, run_key, run, reader_kind, reader, reader_version, "
        "seed, strata, drawn_by, "
        "at) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (uid) do nothing",
        (
            sample.uid,
            _key(sample.run, sample.reader),
            _written(sample.run),
            sample.reader.kind.value,
            sample.reader.name,
            sample.reader.version,
            sample.seed,
            sizes,
            sample.drawn_by,
            sample.at,
        ),
    ).rowcount
    if added:
        connection.executemany(
            "insert into control_item (sample, ordinal, ref, stratum, prompt, text, label, "
            "answers, places) values (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                (
                    sample.uid,
                    ordinal,
                    item.ref,
                    item.stratum,
                    item.prompt,
                    item.text,
                    item.label,
                    item.answers,
                    json.dumps(item.places),
                )
                for ordinal, item in enumerate(sample.items)
            ),
        )
    return added


def _written(run: Mapping[str, str]) -> str:
    return json.dumps(dict(run), sort_keys=True, ensure_ascii=False)


def _key(run: Mapping[str, str], reader: ReaderCard) -> bytes:
    return content_key(
        {"run": dict(run), "reader": [reader.kind.value, reader.name, reader.version]}
    )
