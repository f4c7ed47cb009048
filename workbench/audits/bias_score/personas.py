"""The left/right bias with a persona and without one."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.audits.bias_score.counting import Selection
from workbench.audits.bias_score.factors import BiasDifference, compare
from workbench.audits.bias_score.judged import BiasJudged
from workbench.audits.bias_score.tables import (
    ALL,
    as_estimate,
    over_notes,
    prompt_sentences,
    score,
    subject,
)
from workbench.audits.by_persona import WithPersona, columns, with_personas
from workbench.domain.statements import Dimension
from workbench.figures.book import Entry
from workbench.figures.table import Column, Kind, Link, Table


@dataclass(frozen=True, slots=True)
class PersonaBias:
    """The bias of a model with a persona, compared with that without one."""

    runs: WithPersona
    dimension: Dimension | None
    found: BiasDifference


def by_persona(judged: BiasJudged, dimension: Dimension | None) -> list[Entry]:
    """Return the entry of the table by persona.

    There is none unless a model is among the models of a score with and without a persona.
    """
    if not _with_personas(judged):
        return []
    return [
        Entry(
            "persona_bias",
            "bias by persona",
            lambda: persona_bias(judged, dimension),
            choices=("dimension",),
        )
    ]


def _with_personas(judged: BiasJudged) -> tuple[WithPersona, ...]:
    """Return the pairs of a model with a persona and the same model without one."""
    return with_personas({name: runs[0] for name, runs in judged.runs.items()})


def persona_bias(judged: BiasJudged, dimension: Dimension | None = None) -> Table[PersonaBias]:
    """Return the bias with each persona and without one.

    It is over the prompts that were asked with both.
    """
    dimensions = (None, *Dimension) if dimension is None else (dimension,)
    rows = [
        PersonaBias(
            pair,
            row_dimension,
            compare(judged.report, pair.name, pair.baseline, Selection(row_dimension)),
        )
        for pair in _with_personas(judged)
        for row_dimension in dimensions
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
            Column(
                "difference",
                "difference",
                lambda row: as_estimate(row.found),
                Kind.SCORE,
                scale=(-2.0, 2.0),
            ),
            Column(
                "answers",
                "answers",
                lambda row: row.found.n,
                Kind.COUNT,
                aside=True,
                help="of both that count",
            ),
        ],
        key=lambda row: (row.runs.baseline, row.runs.persona, str(row.dimension or ALL)),
        definition="Both totals are over the prompts that were asked with and without the "
        "persona, from the same "
        "draws. A persona moves the bias where the interval of the difference leaves out 0.",
        notes=over_notes((f"{row.runs.name} − {row.runs.baseline}", row.found) for row in rows[:1]),
        link=lambda row: Link("statements", subject(row.runs.name, Selection(row.dimension))),
        detail=lambda row: prompt_sentences(row.found),
    )
