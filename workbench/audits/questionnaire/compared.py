"""Models' predictions side by side: on which targets they are biased another way, and whose predictions are right.

Accuracies are compared person by person: each gives one answer to a target, so that McNemar's test of the pairs is over
people, as the claim is. Which person was predicted rightly is not shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from stores.core.store import Store, at_once
from workbench.audits.comparison.values import Compared, Judged, Side, Verdicts, factors_of
from workbench.audits.questionnaire import between_tables as between
from workbench.audits.questionnaire.figures import Condition
from workbench.audits.questionnaire.judged import QuestionnaireJudged
from workbench.audits.questionnaire.results import Results, estimate_of, under
from workbench.audits.questionnaire.score import Report
from workbench.domain.statements import ORIGINAL
from workbench.errors import UnknownName
from workbench.figures.table import AnyTable, Kind

BIAS, RIGHT = "bias", "right"
WORDS = {"above": "more yes", "below": "less yes", "none": "no bias shown", "few": "few", "": "no interval"}


@at_once
def compared(
    store: Store,
    judged: QuestionnaireJudged,
    results: Results,
    names: Sequence[str],
    conditions: Sequence[Condition] = (),
) -> Compared:
    """Return the comparison of models.

    conditions : verdicts are under the first that all models were asked under, differences under all of these. Empty:
    the first condition that all were asked under alone.

    Raises UnknownName where they share none.
    """
    shared = _conditions(judged, names, conditions)
    chosen = shared[0]
    asked = [judged.reports[name].predictions.targets for name in names]
    targets = [ref for ref in results.targets if all(ref in of for of in asked)]
    kinds = (
        Verdicts(BIAS, "bias of targets", WORDS["above"], WORDS["below"], "target", tested=False),
        *(Verdicts(f"{RIGHT}:{ref}", ref, "right", "wrong", "respondent", listed=False) for ref in targets),
    )
    choice = replace(under(results, str(chosen)), conditions=dict.fromkeys(names, shared))

    def own(first: str, second: str) -> AnyTable:
        return between.compared(results, choice, second, first)

    return Compared(
        f"{judged.instrument.name}: {' and '.join(names)}",
        kinds,
        [_side(store, judged, name, chosen, targets) for name in names],
        results.texts,
        "mean accuracy",
        Kind.SHARE,
        (own,),
        left_out=(
            f"Verdicts are under the condition {chosen}, in the original wording.",
            *_not_shared(names, conditions, shared),
            *(f"{name}: {n:,} prompts show answers, questions or instructions that have changed since."
              for name in names if (n := judged.gathered[name].old(chosen, None, ORIGINAL))),
        ),
    )  # fmt: skip


def _conditions(judged: QuestionnaireJudged, names: Sequence[str], named: Sequence[Condition]) -> tuple[Condition, ...]:
    """Return the conditions that all models were asked under: those that are named, or the first there is."""
    every = [judged.reports[name].conditions for name in names]
    shared = tuple(one for one in every[0] if all(one in of for of in every))
    found = tuple(one for one in shared if one in named) if named else shared[:1]
    if not found:
        there = ", ".join(map(str, shared)) or "none"
        what = f"the condition {', '.join(repr(str(one)) for one in named)}" if named else "one condition"
        raise UnknownName(f"{' and '.join(names)} were not all asked under {what}; they share: {there}")
    return found


def _not_shared(names: Sequence[str], named: Sequence[Condition], shared: Sequence[Condition]) -> list[str]:
    """Say which of the conditions that are named some model was not asked under."""
    missing = [str(one) for one in named if one not in shared]
    return [f"Not asked of all of {' and '.join(names)}: the condition {', '.join(missing)}."] if missing else []


def _side(store: Store, judged: QuestionnaireJudged, name: str, condition: Condition, targets: Sequence[str]) -> Side:
    report, run = judged.reports[name], judged.runs[name]
    figures = report.condition(condition)
    asked = store.runs.instrument(run)
    texts = {one.ref: w.text for one in asked.statements if (w := one.wording(ORIGINAL, run.language)) is not None}
    words = {one.target: WORDS[one.direction] for one in figures.targets if one.target in targets}
    found = {BIAS: {ref: Judged(word, texts.get(ref)) for ref, word in words.items()}}
    found |= {f"{RIGHT}:{ref}": _people(report, condition, ref, texts.get(ref, "")) for ref in targets}
    return Side(name, run.model, factors_of(run), found, run.last, estimate_of(figures.accuracy))


def _people(report: Report, condition: Condition, ref: str, text: str) -> dict[str, Judged]:
    """Return of everybody who was asked whether the model predicts the answer to a target."""
    cell, at = report.layout.cell(condition, ORIGINAL), report.predictions.targets.index(ref)
    words = {(True, True): "right", (True, False): "wrong"}
    rows = zip(
        report.layout.respondents,
        cell.counted[at].tolist(),
        cell.readable[at].tolist(),
        cell.correct[at].tolist(),
        strict=True,
    )
    return {
        person: Judged(words.get((readable, correct), "unreadable"), text)
        for person, counted, readable, correct in rows
        if counted
    }


__all__ = ["compared"]
