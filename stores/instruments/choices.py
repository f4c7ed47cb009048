"""Multiple-choice questions: their statements, and imported answers of models.

Questions and answers are imported with their instrument (`choice_imports`). Answers of models asked here are runs.
"""

from __future__ import annotations

from stores.core.base import Aggregate, instrument_id_of
from stores.instruments.choice_rows import read_answer_sets, read_items
from workbench.domain.choices import AnswerSet, ChoiceItem


class Choices(Aggregate):
    """The methods on multiple-choice questions."""

    def items(self, instrument: str) -> dict[str, ChoiceItem]:
        """Return the current statements that are questions, by ref, in order; empty if there are none."""
        return read_items(self.connection, instrument_id_of(self.connection, instrument))

    def answer_sets(self, instrument: str) -> tuple[AnswerSet, ...]:
        """Return the imported answers, in the order of import; questions in the order of their file."""
        return tuple(read_answer_sets(self.connection, instrument_id_of(self.connection, instrument)).values())

    def models(self, instrument: str) -> tuple[str, ...]:
        """Return the models whose answers were imported, in the order of import."""
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
