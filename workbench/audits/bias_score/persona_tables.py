"""The left/right bias by persona: with each, without one, and the paired difference."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.audits.bias_score.columns import ALL, over_notes, plain, said, score, subject
from workbench.audits.bias_score.judged import BiasJudged
from workbench.audits.bias_score.selection import Selection
from workbench.audits.bias_score.shared_prompts import Comparison, compare
from workbench.audits.by_persona import WithPersona, columns, with_personas
from workbench.domain.statements import Dimension
from workbench.figures.book import Entry
from workbench.figures.table import Column, Kind, Link, Table


@dataclass(frozen=True, slots=True)
class PersonaRow:
    """What a persona makes of a model's bias."""

    runs: WithPersona
    dimension: Dimension | None
    found: Comparison


def entries(judged: BiasJudged, dimension: Dimension | None) -> list[Entry]:
    """Return the table by persona, where a model is among the models of a score with and without one."""
    if not _with_personas(judged):
        return []
    return [Entry("persona_bias", "bias by persona", lambda: persona_bias(judged, dimension), choices=("dimension",))]


def _with_personas(judged: BiasJudged) -> tuple[WithPersona, ...]:
    return with_personas({name: of[0] for name, of in judged.runs.items()})


def persona_bias(judged: BiasJudged, dimension: Dimension | None = None) -> Table[PersonaRow]:
    """Return the bias with each persona and without one, over the prompts that were asked with both."""
    dimensions = (None, *Dimension) if dimension is None else (dimension,)
    rows = [
        PersonaRow(one, each, compare(judged.report, one.name, one.baseline, Selection(each)))
        for one in _with_personas(judged)
        for each in dimensions
    ]
    return Table(
        "persona_bias",
        "Bias by persona",
        rows,
        [
            *columns(lambda row: row.runs),
            Column("dimension", "dimension", lambda row: str(row.dimension or ALL)),
            score("with", "with it", lambda row: row.found.totals[0]),
            score("without", "without", lambda row: row.found.totals[1]),
            Column("difference", "difference", lambda row: plain(row.found), Kind.SCORE, scale=(-2.0, 2.0)),
            Column("answers", "answers", lambda row: row.found.n, Kind.COUNT, aside=True, help="of both that count"),
        ],
        key=lambda row: (row.runs.baseline, row.runs.persona, str(row.dimension or ALL)),
        definition="Both totals are over the prompts that were asked with and without the persona, from the same "
        "draws. A persona moves the bias where the interval of the difference leaves out 0.",
        notes=over_notes((f"{row.runs.name} − {row.runs.baseline}", row.found) for row in rows[:1]),
        link=lambda row: Link("statements", subject(row.runs.name, Selection(row.dimension))),
        detail=lambda row: said(row.found),
    )


__all__ = ["entries", "persona_bias"]
