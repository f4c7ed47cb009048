"""Mean κ of several models in one table, with people's last: the published comparison of models with people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from workbench.audits.reliability.agreement import COMPARED, LABEL_ORDER, AgreementRow, as_people
from workbench.audits.reliability.agreement_tables import OVER_STATEMENTS
from workbench.audits.reliability.human_bound import Bound
from workbench.audits.reliability.judge import Report
from workbench.domain.instruments import SurveyAnswer
from workbench.domain.statements import RELATION_OF, Relation
from workbench.domain.verdicts import MeanSd
from workbench.figures.table import Column, Kind, Table

PEOPLE = "people"
UNANSWERED = "No model has answered yet."


@dataclass(frozen=True, slots=True)
class MeanKappas:
    """Mean κ over templates, or over respondents, for each comparison."""

    name: str
    raw: Mapping[str, MeanSd]
    "paraphrase, negation, opposite, label_order"
    flipped: Mapping[str, MeanSd]
    "with the variant's stances turned round where they should be"
    statements: Mapping[str, int] = field(default_factory=dict)
    "of each comparison; empty for people"
    people: bool = False


def model_kappas(
    reports: Mapping[str, Report], people: Sequence[Bound], survey: Sequence[SurveyAnswer], *, restricted: bool
) -> Table[MeanKappas]:
    """Return mean κ of every model, and of people (Ceron et al. 2024, Table 2).

    Parameters
    ----------
    restricted : whether a model's κ is over the statements that people answered alone, as published. Raises UsageError
        where nobody answered
    """
    rows = [_of_model(name, report, survey, restricted) for name, report in reports.items()]
    if people:
        raw = {bound.name: bound.raw_mean for bound in people}
        rows.append(MeanKappas(PEOPLE, raw, {bound.name: bound.flipped_mean for bound in people}, people=True))
    kinds = [kind.value for kind in COMPARED]
    turned = [kind.value for kind in COMPARED if RELATION_OF[kind] is Relation.FLIPPED]
    over = "the statements that people answered" if restricted else "all statements"
    return Table(
        "model_kappas_as_people" if restricted else "model_kappas",
        f"Mean κ of each model over {over}",
        rows,
        [
            Column("model", "model", lambda row: row.name),
            *(_kappa(name, name, "raw") for name in kinds),
            *(_kappa(f"{name}_flipped", f"{name}, flipped", "flipped", name, aside=True) for name in turned),
            _kappa(LABEL_ORDER, "label order", "raw", aside=True),
            *(_statements(name) for name in kinds),
        ],
        key=lambda row: ("people" if row.people else "model", row.name),
        definition=f"{OVER_STATEMENTS} Mean and sd over templates; people's are over respondents.",
        notes=[] if people else ["Nobody has answered the instrument; people answer with: workbench survey STORE"],
        empty=UNANSWERED,
    )


def _of_model(name: str, report: Report, survey: Sequence[SurveyAnswer], restricted: bool) -> MeanKappas:
    only, counted = as_people(report, survey) if restricted else (None, ())
    found: Sequence[AgreementRow] = report.agreement(only)
    every = dict.fromkeys((row.name for row in found), len(report.counts.statements))
    return MeanKappas(
        name,
        {row.name: row.raw_mean for row in found},
        {row.name: row.flipped_mean for row in found},
        every | {one.name: one.statements for one in counted},
    )


def _kappa(key: str, title: str, way: str, name: str = "", *, aside: bool = False) -> Column[MeanKappas]:
    return Column(
        key, title, lambda row: getattr(row, way).get(name or key), Kind.COEFFICIENT, aside=aside, help="mean (sd)"
    )


def _statements(name: str) -> Column[MeanKappas]:
    return Column(
        f"{name}_statements", f"{name}: statements", lambda row: row.statements.get(name), Kind.COUNT, aside=True
    )
