"""The data of an auditor's queue: answers of a run, readings, labels of people, flags and notes."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from stores.annotation.annotation_items import first_wording
from stores.annotation.queues import LEASE_S
from stores.core.base import Aggregate, decode_text, later, now
from stores.instruments.templates import PROBES
from stores.runs.run_lists import named_axes
from stores.runs.run_rows import Run, run_values
from workbench.domain.keys import content_key
from workbench.domain.statements import VariantId, VariantKind


@dataclass(frozen=True, slots=True)
class ReadAnswer:
    """A distinct answer to one prompt of a run, with the reading by a rule or a classifier."""

    ref: str
    variant: str
    template: str
    inverted: bool
    prompt: bytes
    text: bytes
    "key of the answer's text"
    label: str | None
    "None if it is unreadable or unread"
    count: int
    reason: str = ""
    "reason of the reading, in a sentence"
    start: int | None = None
    stop: int | None = None
    "the deciding words are `text[start:stop]`"
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class AskedPrompt:
    """A prompt about a statement."""

    probe: int
    "rowid"
    key: bytes
    variant: str
    template: str
    inverted: bool
    axes: Mapping[str, str]
    "further factors of an audit: whom the prompt is about, and how much it says about them"


@dataclass(frozen=True, slots=True)
class AnswerLabel:
    """The label of an answer by a classifier, an annotator or an adjudicator."""

    ref: str
    variant: str
    prompt: bytes
    text: bytes
    kind: str
    who: str
    label: str | None
    "None if it is unreadable or withdrawn"


@dataclass(frozen=True, slots=True)
class Remarked:
    """A current flag or note of an annotator."""

    ref: str
    variant: str
    flagged: bool
    note: str
    answers: tuple[tuple[bytes, bytes], ...] = ()
    "keys of prompt and text of its answers, or an empty tuple for a remark on a wording"


class ReviewQueries(Aggregate):
    """The methods on the data of an auditor's queue."""

    def answers(
        self,
        run: Run,
        reader: int,
        ref: str | None = None,
        *,
        classified: bool = False,
        texts: Collection[int] | None = None,
    ) -> tuple[ReadAnswer, ...]:
        """Return the answers of a run, or those about one statement, each text once per prompt.

        Outputs cut off in thought are not answers.

        Parameters
        ----------
        reader : rowid of a rule or of a classifier
        classified : whether it is a classifier. Then unread answers are left out, and also numbers
            that a rule reads.
        texts : rowids of the required texts, or None to include all
        """
        texts_json = None if texts is None else json.dumps(sorted(texts))
        values = run_values(self.connection, run) | {
            "reader": reader,
            "ref": ref,
            "texts": texts_json,
        }
        rows = self.connection.execute(_CLASSIFIED if classified else _READ, values)
        return tuple(map(_read_answer, rows))

    def read_differently(self, run: Run, readers: Collection[int]) -> frozenset[int]:
        """Return the rowids of texts on which these rules differ.

        Some of the rules read such a text as agree or disagree, and others do not.

        The texts answer templates of a run. Answers of other runs to these templates are included.
        """
        values = run_values(self.connection, run) | {
            "readers": json.dumps(sorted(readers)),
            "n": len(readers),
        }
        return frozenset(text_id for (text_id,) in self.connection.execute(_DIFFERENT, values))

    def rowids(self, texts: Collection[bytes]) -> frozenset[int]:
        """Return the rowids of texts by their keys."""
        rows = (
            self.connection.execute("select id from text where key = ?", (key,)).fetchone()
            for key in texts
        )
        return frozenset(int(row[0]) for row in rows if row is not None)

    def given(
        self, run: Run, ref: str | None = None, texts: Collection[int] | None = None
    ) -> tuple[ReadAnswer, ...]:
        """Return the answers of a run without labels.

        They can be limited to those about one statement or with these texts (rowids).
        """
        texts_json = None if texts is None else json.dumps(sorted(texts))
        values = run_values(self.connection, run) | {"ref": ref, "texts": texts_json}
        return tuple(map(_read_answer, self.connection.execute(_GIVEN, values)))

    def prompts(self, run: Run, ref: str) -> tuple[AskedPrompt, ...]:
        """Return the prompts about one statement that a run's model was asked.

        Each comes once, in the order of cells.
        """
        values = run_values(self.connection, run) | {"ref": ref}
        return tuple(
            AskedPrompt(
                probe,
                bytes(prompt),
                _variant(kind, ordinal),
                template,
                bool(inverted),
                named_axes(self.connection, axes),
            )
            for probe, prompt, kind, ordinal, template, inverted, axes in self.connection.execute(
                _PROMPTS, values
            )
        )

    def text(self, key: bytes) -> str:
        """Return a text by its key."""
        return decode_text(
            self.connection.execute("select body from text where key = ?", (key,)).fetchone()[0]
        )

    def labelled(self, run: Run) -> tuple[AnswerLabel, ...]:
        """Return the newest labels of classifiers and people for the answers of a run."""
        texts = [text_id for (text_id,) in self.connection.execute(_LABELLED_TEXTS)]
        if not texts:
            return ()
        newest: dict[tuple[bytes, bytes, str, str], AnswerLabel] = {}
        for (
            ref,
            variant_kind,
            ordinal,
            prompt,
            text,
            reader_kind,
            reader_name,
            label,
        ) in self.connection.execute(
            _LABELLED, run_values(self.connection, run) | {"texts": json.dumps(texts)}
        ):
            newest[prompt, text, reader_kind, reader_name] = AnswerLabel(
                ref,
                _variant(variant_kind, ordinal),
                bytes(prompt),
                bytes(text),
                reader_kind,
                reader_name,
                label,
            )
        return tuple(newest.values())

    def remarks(self, run: Run) -> tuple[Remarked, ...]:
        """Return the current flags and notes on answers of a run, and on its wordings."""
        if self.connection.execute("select not exists(select 1 from remark)").fetchone()[0]:
            return ()
        newest: dict[tuple[int, int], Remarked] = {}
        answers_by_unit: dict[int, dict[tuple[bytes, bytes], None]] = {}
        for (
            unit,
            reader,
            ref,
            kind,
            ordinal,
            flagged,
            note,
            _,
            _,
            prompt,
            text,
        ) in self.connection.execute(_REMARKS, run_values(self.connection, run)):
            newest[unit, reader] = Remarked(ref, _variant(kind, ordinal), bool(flagged), note)
            if prompt is not None:
                answers_by_unit.setdefault(unit, {})[bytes(prompt), bytes(text)] = None
        current_remarks = (
            (unit, remark) for (unit, _), remark in newest.items() if remark.flagged or remark.note
        )
        return tuple(
            replace(remark, answers=tuple(answers_by_unit.get(unit, ())))
            for unit, remark in current_remarks
        )


def _read_answer(row: tuple[Any, ...]) -> ReadAnswer:
    (
        ref,
        kind,
        ordinal,
        template,
        inverted,
        prompt,
        text,
        label,
        reason,
        start,
        stop,
        confidence,
        count,
    ) = row
    return ReadAnswer(
        ref,
        _variant(kind, ordinal),
        template,
        bool(inverted),
        bytes(prompt),
        bytes(text),
        label,
        count,
        reason or "",
        start,
        stop,
        confidence,
    )


def _variant(kind: str, ordinal: int) -> str:
    return str(VariantId(VariantKind(kind), ordinal))


_FROM = f"""
    from instrument i
    join statement s on s.id in (select value from json_each(:scope))
    join wording w on w.statement_id = s.id and w.language = :language
    join probe p on p.wording_id = w.id and {PROBES}
    join template t on t.id = p.template_id
    join prompt q on q.id = p.prompt_id
    join draw d on d.prompt_id = p.prompt_id and d.model_id = :model and d.sampling_id = :sampling
        and (:fingerprint is null or d.fingerprint = :fingerprint)
    join given_answer r on r.draw_id = d.id
"""
_UNIT = f"u.template_id is null and u.wording_id = {first_wording('w', 's')}"

_READING = "g.label, g.reason, g.start, g.stop, g.confidence"
_ANSWERS = f"""
    select ref, kind, ordinal, template, inverted, prompt, text, label, reason, start, stop,
        confidence, sum(count)
    from (
        select min(p.id) as probe, s.ref, w.kind, w.ordinal, t.name as template, t.inverted, q.key
            as prompt,
            x.key as text, {{reading}}, r.count, s.ordinal as place
        {_FROM}
        join text x on x.id = r.text_id
        {{readings}}
        where i.name = :instrument and (:ref is null or s.ref = :ref)
            and (:texts is null or r.text_id in (select value from json_each(:texts)))
        group by q.id, d.id, r.text_id, r.output_id
    )
    group by prompt, text order by place, probe, sum(count) desc, text
"""
"Prompts that several cells share count once."
_READ = _ANSWERS.format(
    reading=_READING,
    readings="""
        left join unit u on u.text_id = r.text_id and u.template_id = p.template_id
            and u.wording_id is null
        left join reading g on g.unit_id = u.id and g.reader_id = :reader
    """,
)
_CLASSIFIED = _ANSWERS.format(
    reading=_READING,
    readings=f"""
        join unit u on u.text_id = r.text_id and {_UNIT}
        join reading g on g.unit_id = u.id and g.reader_id = :reader and not exists (
            select 1 from unit v
            join reading b on b.unit_id = v.id and b.label is not null
            join reader e on e.id = b.reader_id and e.kind = 'rule'
            where v.text_id = r.text_id and v.template_id = p.template_id and v.wording_id is null
        )
    """,
)
"The classifier does not read numbers that a rule reads."
_GIVEN = _ANSWERS.format(
    reading="null as label, null as reason, null as start, null as stop, null as confidence",
    readings="",
)

_PROMPTS = f"""
    select min(p.id), q.key, w.kind, w.ordinal, t.name, t.inverted, p.axes
    from instrument i
    join statement s on s.id in (select value from json_each(:scope)) and s.ref = :ref
    join wording w on w.statement_id = s.id and w.language = :language
    join probe p on p.wording_id = w.id and {PROBES}
    join template t on t.id = p.template_id
    join prompt q on q.id = p.prompt_id
    where i.name = :instrument and exists (
        select 1 from draw d where d.prompt_id = p.prompt_id and d.model_id = :model
            and d.sampling_id = :sampling
            and (:fingerprint is null or d.fingerprint = :fingerprint)
    )
    group by q.id order by min(p.id)
"""

_DIFFERENT = """
    select distinct u.text_id
    from unit u join reading g on g.unit_id = u.id and g.reader_id in (select value
        from json_each(:readers))
    where u.wording_id is null and u.template_id in (select value from json_each(:templates))
    group by u.id
    having sum(g.label = 'agree') not in (0, :n) or sum(g.label = 'disagree') not in (0, :n)
"""
_BY_PEOPLE = "kind in ('classifier', 'person', 'adjudication')"
_LABELLED_TEXTS = f"""
    select distinct u.text_id from reading g join unit u on u.id = g.unit_id
        and u.template_id is null
    where g.reader_id in (select id from reader where {_BY_PEOPLE})
"""
"They are far fewer than the answers of a run, which take time to scan."

_LABELLED = f"""
    select s.ref, w.kind, w.ordinal, q.key, x.key, e.kind, e.name, g.label
    {_FROM}
    join text x on x.id = r.text_id
    join unit u on u.text_id = r.text_id and {_UNIT}
    join reading g on g.unit_id = u.id
    join reader e on e.id = g.reader_id and e.{_BY_PEOPLE}
    where i.name = :instrument and r.text_id in (select value from json_each(:texts))
    order by g.at, coalesce(g.uid, x''), g.revision
"""

_REMARKS = f"""
    select m.unit_id, m.reader_id, s.ref, w.kind, w.ordinal, m.flagged, m.note, m.at, m.uid, q.key,
        x.key
    {_FROM}
    join text x on x.id = r.text_id
    join unit u on u.text_id = r.text_id and {_UNIT}
    join remark m on m.unit_id = u.id
    where i.name = :instrument
    union
    select m.unit_id, m.reader_id, s.ref, w.kind, w.ordinal, m.flagged, m.note, m.at, m.uid, null,
        null
    from instrument i
    join statement s on s.id in (select value from json_each(:scope))
    join wording w on w.statement_id = s.id and w.language = :language
    join unit u on u.text_id = w.text_id and {_UNIT}
    join remark m on m.unit_id = u.id
    where i.name = :instrument
    order by 8, 9
"""


class ReviewLeases(Aggregate):
    """The methods on leases. A run is given as by `pipeline.review.named`, an item by its ref."""

    def take(
        self, run: Mapping[str, str], items: Sequence[str], auditor: str, lease_s: int = LEASE_S
    ) -> str | None:
        """Lease the first item without another lease and return it, or None if all have leases.

        Earlier leases of this auditor in this run are released.
        """
        key = _key(run)
        with self.store.write() as connection:
            current_time = now()
            connection.execute(
                "delete from review_lease where run_key = ? and (auditor = ? or until <= ?)",
                (key, auditor, current_time),
            )
            leased_items = {
                item
                for (item,) in connection.execute(
                    "select item from review_lease where run_key = ?", (key,)
                )
            }
            free_item = next((item for item in items if item not in leased_items), None)
            if free_item is not None:
                until = later(current_time, timedelta(seconds=lease_s))
                connection.execute(
                    "insert into review_lease values (?, ?, ?, ?)", (key, free_item, auditor, until)
                )
        return free_item

    def release(self, run: Mapping[str, str], auditor: str) -> None:
        """Release an auditor's leases in a run."""
        with self.store.write() as connection:
            connection.execute(
                "delete from review_lease where run_key = ? and auditor = ?", (_key(run), auditor)
            )

    def held(self, run: Mapping[str, str]) -> dict[str, str]:
        """Return the leases of a run as item -> auditor."""
        rows = self.connection.execute(
            "select item, auditor from review_lease where run_key = ? and until > ?",
            (_key(run), now()),
        )
        return dict(rows.fetchall())


def _key(run: Mapping[str, str]) -> bytes:
    return content_key(dict(run))
