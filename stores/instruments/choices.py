"""Multiple-choice questions: which statements are such, and what models answered to them elsewhere.

Questions and answers come with the import of their instrument (`choice_imports`). What models answer here are runs.
"""

from __future__ import annotations

from stores.core.base import Aggregate, instrument_id_of
from stores.instruments.choice_rows import read_answer_sets, read_items
from workbench.domain.choices import AnswerSet, ChoiceItem


class Choices(Aggregate):
    """The verbs on multiple-choice questions."""

    def items(self, instrument: str) -> dict[str, ChoiceItem]:
        """Return the current statements that are questions, by ref, in their order; empty where none is one."""
        return read_items(self.connection, instrument_id_of(self.connection, instrument))

    def answer_sets(self, instrument: str) -> tuple[AnswerSet, ...]:
        """Return the answers that were imported, in the order in which they came; questions in that of their file."""
        return tuple(read_answer_sets(self.connection, instrument_id_of(self.connection, instrument)).values())

    def models(self, instrument: str) -> tuple[str, ...]:
        """Return the models whose answers were imported, in the order in which they came."""
        rows = self.connection.execute(
            "select model from answer_set where instrument_id = ? group by model order by min(id)",
            (instrument_id_of(self.connection, instrument),),
        )
        return tuple(row[0] for row in rows)

    def instruments_with_answers(self) -> tuple[str, ...]:
        """Return the names of instruments with imported answers, in the order of the instruments."""
        rows = self.connection.execute(
            "select name from instrument i where exists (select 1 from answer_set a where a.instrument_id = i.id) "
            "order by i.id"
        )
        return tuple(row[0] for row in rows)
