"""Judged predictions ─show→ a book: what the tables need to know of runs, prompts and people."""

from __future__ import annotations

from workbench.audits.by_persona import with_personas
from workbench.audits.questionnaire.asked import asked, token_shares
from workbench.audits.questionnaire.figures import AskedRow, Condition, TokenShares
from workbench.audits.questionnaire.judged import QuestionnaireJudged
from workbench.audits.questionnaire.methods import methods
from workbench.audits.questionnaire.results import Predictor, Results
from workbench.domain.statements import ORIGINAL, VariantId


def results_of(judged: QuestionnaireJudged) -> Results:
    """Return what tables are made of: `workbench.audits.questionnaire.book.book` takes it."""

    def old(model: str, condition: Condition, target: str | None, wording: VariantId | None) -> int:
        return judged.gathered[model].old(condition, target, wording)

    def shares(model: str, target: str, condition: Condition) -> TokenShares:
        return token_shares(judged, model, target, condition)

    def people(model: str, target: str, condition: Condition, wording: VariantId) -> tuple[AskedRow, ...]:
        return asked(judged, model, target, condition, wording)

    statements = judged.instrument.statements
    names = sorted(judged.reports, key=lambda name: (name.casefold(), name))  # stays when a model is asked more
    return Results(
        instrument=judged.instrument.name,
        questionnaire=judged.questionnaire,
        options=judged.choice.options,
        reports={name: judged.reports[name] for name in names},
        predictors={name: _predictor(judged, name) for name in names},
        old=old,
        shares=shares,
        asked=people,
        texts={one.ref: text.text for one in statements if (text := one.wording(ORIGINAL, judged.instrument.language))},
        rulings=(ruled := tuple(judged.rulings.sentences())),
        notes=[note for note in judged.notes if note not in ruled],
        answered=judged.answered,
        personas=with_personas({name: judged.runs[name] for name in names}),
        methods=methods(judged),
    )


def _predictor(judged: QuestionnaireJudged, name: str) -> Predictor:
    run, found = judged.runs[name], judged.gathered[name]
    return Predictor(
        version=run.version,
        revision=run.revision,
        dtype=run.dtype,
        computed=run.computed,
        prompts=len(found.probe),
        failed=len(found.failed),
        outdated=int(found.outdated.sum()),
    )


__all__ = ["results_of"]
