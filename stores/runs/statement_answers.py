"""A model's exact answers to each statement of a run, with their readings, for documents.

One query reads a whole run. Equal answers to one wording in one order are one row, over all templates.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from stores.core.base import Aggregate
from stores.core.texts import restored
from stores.instruments.template_versions import PROBES
from stores.runs.run_rows import Run, run_values
from workbench.domain.statements import VariantId, VariantKind
from workbench.domain.thinking import Output, split


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
    "the reader's reading; None: unreadable or unread"
    count: int


class StatementAnswers(Aggregate):
    """The methods on answers by statement."""

    def of_run(self, run: Run, reader: int | None, *, by_template: bool = False) -> Iterator[StatementAnswer]:
        """Yield the answers in the order of statements and wordings, for each the most frequent first.

        `reader`: rowid of the rule or classifier whose readings are shown; None: no readings.
        """
        values = run_values(self.connection, run) | {"reader": reader}
        sql = _ANSWERS.format(template="t.name" if by_template else "''")
        known: dict[object, Output] = {}
        for ref, kind, ordinal, inverted, template, body, label, count in self.connection.execute(sql, values):
            if (output := known.get(body)) is None:
                output = known[body] = split(restored(body))
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
        """Return the times of the first and the last answers of a run's model under its sampling, in UTC; empty if
        there are none.
        """
        values = {"model": run.model_id, "sampling": run.sampling_id}
        first, last = self.connection.execute(_BETWEEN, values).fetchone()
        return first or "", last or ""


_BETWEEN = "select min(at), max(at) from draw where model_id = :model and sampling_id = :sampling"

_ANSWERS = f"""
    with asked as (
        select s.ordinal as place, s.ref, w.id as wording, w.kind, w.ordinal, t.inverted, {{template}} as template,
            p.template_id, p.prompt_id
        from instrument i
        join statement s on s.id in (select value from json_each(:scope))
        join wording w on w.statement_id = s.id and w.language = :language
        join probe p on p.wording_id = w.id and {PROBES}
        join template t on t.id = p.template_id
        where i.name = :instrument
    ), given as materialized (
        select a.place, a.ref, a.wording, a.kind, a.ordinal, a.inverted, a.template, a.template_id, r.text_id,
            coalesce(h.answer_id, r.text_id) as answer_id, r.count as n
        from asked a
        join draw d on d.prompt_id = a.prompt_id and d.model_id = :model and d.sampling_id = :sampling
            and (:fingerprint is null or d.fingerprint = :fingerprint)
        join response r on r.draw_id = d.id
        left join thought h on h.text_id = r.text_id
    ), answer as (
        select distinct g.answer_id, g.template_id, iif(
            exists (select 1 from unit u where u.text_id = g.answer_id and u.wording_id is not null), g.wording, 0
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
    join labelled l on l.answer_id = g.answer_id and l.template_id = g.template_id and l.wording in (0, g.wording)
    join text x on x.id = g.text_id
    group by g.place, g.ref, g.wording, g.inverted, g.template, g.text_id, l.label
    order by g.place, g.ref, g.kind <> 'original', g.kind, g.ordinal, g.inverted, g.template, total desc, x.key
"""  # labels are looked up once for each text, not for each prompt: twice as fast

__all__ = ["StatementAnswer", "StatementAnswers"]
