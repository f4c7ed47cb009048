"""Models' predictions side by side: on which targets they are biased another way, and whose predictions are right.

Accuracies are compared person by person: each gives one answer to a target, so that McNemar's test of the pairs is over
people, as the claim is. Which person was predicted rightly is not shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from stores.core.store import Store
from workbench.audits.comparison.values import Compared, Judged, Side, Verdicts, factors_of
from workbench.audits.questionnaire.book import two_models
from workbench.audits.questionnaire.figures import Condition
from workbench.audits.questionnaire.judged import QuestionnaireJudged
from workbench.audits.questionnaire.results import Results, estimate_of, under
from workbench.audits.questionnaire.score import Report
from workbench.domain.statements import ORIGINAL
from workbench.errors import UnknownName
from workbench.figures.table import AnyTable, Kind

BIAS, RIGHT = "bias", "right"
WORDS = {"above": "more yes", "below": "less yes", "none": "no bias shown", "few": "few", "": "no interval"}


def compared(
    store: Store, judged: QuestionnaireJudged, results: Results, names: Sequence[str], condition: str = ""
) -> Compared:
    """Return the comparison of models under one condition, as it is printed; empty: the first that all were asked.

    Raises UnknownName where they share none.
    """
    chosen = _condition(judged, names, condition)
    targets = [ref for ref in results.targets if all(ref in judged.reports[name].predictions.targets for name in names)]
    kinds = (
        Verdicts(BIAS, "bias of targets", WORDS["above"], WORDS["below"], "target", tested=False),
        *(Verdicts(f"{RIGHT}:{ref}", ref, "right", "wrong", "respondent", listed=False) for ref in targets),
    )
    choice = replace(under(results, str(chosen)).only(*names))

    def own(first: str, second: str) -> AnyTable:
        return two_models(results, choice, second, first)

    return Compared(
        f"{judged.instrument.name}: {' and '.join(names)}",
        kinds,
        [_side(store, judged, name, chosen, targets) for name in names],
        results.texts,
        "mean accuracy",
        Kind.SHARE,
        (own,),
        left_out=(
            f"Under the condition {chosen}, in the original wording.",
            *(f"{name}: {n:,} prompts show answers, questions or instructions that were changed since."
              for name in names if (n := judged.gathered[name].old(chosen, None, ORIGINAL))),
        ),
    )  # fmt: skip


def _condition(judged: QuestionnaireJudged, names: Sequence[str], named: str) -> Condition:
    every = [judged.reports[name].conditions for name in names]
    shared = [one for one in every[0] if all(one in of for of in every)]
    found = next((one for one in shared if not named or named in (str(one), one.name)), None)
    if found is None:
        there = ", ".join(map(str, shared)) or "none"
        what = f"the condition {named!r}" if named else "one condition"
        raise UnknownName(f"{' and '.join(names)} were not all asked under {what}; they share: {there}")
    return found


def _side(store: Store, judged: QuestionnaireJudged, name: str, condition: Condition, targets: Sequence[str]) -> Side:
    report, run = judged.reports[name], judged.runs[name]
    figures = report.condition(condition)
    asked = store.runs.instrument(run)
    texts = {one.ref: w.text for one in asked.statements if (w := one.wording(ORIGINAL, run.language)) is not None}
    found = {BIAS: {one.target: Judged(WORDS[one.direction], texts.get(one.target)) for one in figures.targets}}
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
