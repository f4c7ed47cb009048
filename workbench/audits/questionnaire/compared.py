"""The comparison of models by their predictions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from stores.core.store import Store, at_once
from workbench.audits.comparison.judge import (
    Compared,
    ComparedSide,
    ItemVerdict,
    VerdictKind,
    factors_of,
)
from workbench.audits.questionnaire import effect_tables as effects
from workbench.audits.questionnaire.figures import Condition
from workbench.audits.questionnaire.judged import QuestionnaireJudged
from workbench.audits.questionnaire.score import PredictionReport
from workbench.audits.questionnaire.tables import Results, estimate_of, under
from workbench.domain.statements import ORIGINAL
from workbench.errors import UnknownName
from workbench.figures.table import AnyTable, Kind

BIAS, RIGHT = "bias", "right"

WORDS = {
    "above": "more yes",
    "below": "less yes",
    "none": "no bias shown",
    "few": "few",
    "": "no interval",
}


@at_once
def compared(
    store: Store,
    judged: QuestionnaireJudged,
    results: Results,
    names: Sequence[str],
    conditions: Sequence[Condition] = (),
) -> Compared:
    """Return the comparison of models.

    Raises UnknownName if the models share no condition.

    Parameters
    ----------
    conditions : verdicts are under the first one that all models share, differences under all of
        these. Empty: only the first condition that all models share
    """
    shared = _conditions(judged, names, conditions)
    verdict_condition = shared[0]
    targets_by_model = [judged.reports[name].predictions.targets for name in names]
    targets = [ref for ref in results.targets if all(ref in refs for refs in targets_by_model)]
    kinds = (
        VerdictKind(
            BIAS,
            "bias of targets",
            WORDS["above"],
            WORDS["below"],
            "target",
            tested=False,
            neither=(WORDS["none"], WORDS["few"], WORDS[""]),
        ),
        *(
            VerdictKind(f"{RIGHT}:{ref}", ref, "right", "wrong", "respondent", listed=False)
            for ref in targets
        ),
    )
    choice = replace(
        under(results, str(verdict_condition)), conditions=dict.fromkeys(names, shared)
    )

    def own(first: str, second: str) -> AnyTable:
        """Return the table of differences between two models."""
        return effects.compared(results, choice, second, first)

    return Compared(
        f"{judged.instrument.name}: {' and '.join(names)}",
        kinds,
        [_side(store, judged, name, verdict_condition, targets) for name in names],
        results.texts,
        "mean accuracy",
        Kind.SHARE,
        (own,),
        left_out=(
            f"Verdicts are under the condition {verdict_condition}, in the original wording.",
            *_not_shared(names, conditions, shared),
            *(
                f"{name}: {n:,} prompts show answers, questions or instructions that have changed "
                "since."
                for name in names
                if (n := judged.count_outdated(name, verdict_condition, None, ORIGINAL))
            ),
        ),
    )


def _conditions(
    judged: QuestionnaireJudged, names: Sequence[str], named: Sequence[Condition]
) -> tuple[Condition, ...]:
    """Return the conditions that all models share: the named ones, or without names the first.

    Raises UnknownName if there are none.
    """
    conditions_by_model = [judged.reports[name].conditions for name in names]
    shared = tuple(
        condition
        for condition in conditions_by_model[0]
        if all(condition in conditions for conditions in conditions_by_model)
    )
    selected = shared[:1]
    requested = "one condition"
    if named:
        selected = tuple(condition for condition in shared if condition in named)
        requested = f"the condition {', '.join(repr(str(condition)) for condition in named)}"
    if not selected:
        available = ", ".join(map(str, shared)) or "none"
        raise UnknownName(
            f"{' and '.join(names)} were not all asked under {requested}; they share: {available}"
        )
    return selected


def _not_shared(
    names: Sequence[str], named: Sequence[Condition], shared: Sequence[Condition]
) -> list[str]:
    """Return a sentence on named conditions that the models do not share, if there are any."""
    missing_conditions = [str(condition) for condition in named if condition not in shared]
    if not missing_conditions:
        return []
    return [
        f"Not asked of all of {' and '.join(names)}: the condition {', '.join(missing_conditions)}."
    ]


def _side(
    store: Store,
    judged: QuestionnaireJudged,
    name: str,
    condition: Condition,
    targets: Sequence[str],
) -> ComparedSide:
    """Return one side of a comparison: the verdicts of a model under a condition."""
    report, run = judged.reports[name], judged.runs[name]
    figures = report.condition(condition)
    instrument = store.runs.instrument(run)
    texts = {
        statement.ref: wording.text
        for statement in instrument.statements
        if (wording := statement.wording(ORIGINAL, run.language)) is not None
    }
    verdict_texts = {
        figure.target: WORDS[figure.direction]
        for figure in figures.targets
        if figure.target in targets
    }
    verdicts = {
        BIAS: {ref: ItemVerdict(verdict, texts.get(ref)) for ref, verdict in verdict_texts.items()}
    }
    verdicts |= {
        f"{RIGHT}:{ref}": _people(report, condition, ref, texts.get(ref, "")) for ref in targets
    }
    return ComparedSide(
        name, run.model, factors_of(run), verdicts, run.last, estimate_of(figures.accuracy)
    )


def _people(
    report: PredictionReport, condition: Condition, ref: str, text: str
) -> dict[str, ItemVerdict]:
    """Return by respondent whether the model predicts the answer to a target."""
    cell, row = (
        report.prediction_index.cell(condition, ORIGINAL),
        report.predictions.targets.index(ref),
    )
    verdict_texts = {(True, True): "right", (True, False): "wrong"}
    rows = zip(
        report.prediction_index.respondents,
        cell.counted[row].tolist(),
        cell.readable[row].tolist(),
        cell.correct[row].tolist(),
        strict=True,
    )
    return {
        person: ItemVerdict(verdict_texts.get((readable, correct), "unreadable"), text)
        for person, is_counted, readable, correct in rows
        if is_counted
    }
