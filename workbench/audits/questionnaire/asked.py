"""From any figure of Questionnaire Modeling down to the prompts behind it, and to one raw prompt with its tokens."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from stores.core.store import Store
from stores.runs.predictions import PredictionRow
from stores.runs.run_rows import Run
from workbench.audits.questionnaire.figures import (
    NEVER_ASKED,
    UNREADABLE,
    AskedRow,
    Condition,
    TokenShares,
)
from workbench.audits.questionnaire.judged import QuestionnaireJudged
from workbench.audits.questionnaire.masses import Mark, counted, said, shares, spelled, top_masses, vocabulary_masses
from workbench.audits.questionnaire.options import Masses
from workbench.audits.questionnaire.plan import CONTEXT, RESPONDENT
from workbench.audits.questionnaire.rows import Gathered, condition_of, variant_of
from workbench.domain.prompts import Prompt
from workbench.domain.questionnaires import Question, Role
from workbench.domain.responses import EXACT
from workbench.domain.statements import ORIGINAL, VariantId
from workbench.errors import UnknownName
from workbench.readers.verbalizers import PUBLISHED_TOP
from workbench.stats.arrays import BoolArray


@dataclass(frozen=True, slots=True)
class TokenRow:
    """One of the likeliest next tokens."""

    text: str
    probability: float
    mark: Mark
    "what it spells, blanks around it and case aside"
    counted: bool
    "whether it is among those over which the published masses are summed"
    times: int = 0
    "how often it was drawn, of an answer; 0 of a token"


@dataclass(frozen=True, slots=True)
class Provenance:
    """Who predicted, when and with what."""

    model: str
    version: str
    "of the model, in words"
    backend: str
    dtype: str
    seed: int
    "of what was drawn for the context; 0: nothing was"
    at: str
    code_version: str
    job: int


@dataclass(frozen=True, slots=True)
class PromptAsked:
    """One prompt as the model was given it, and the distribution of its next token."""

    prompt: Prompt
    "its first `context` messages are the person's answered questions"
    target: str
    variant: VariantId
    condition: Condition
    respondent: str
    "empty where nobody's answers are shown"
    template: str
    context: str
    "what tells the context from others; empty where there is none"
    outdated: bool
    "whether it would be put differently now"
    tokens: tuple[TokenRow, ...]
    "the likeliest first"
    rest: float
    "probability of all tokens that are not among them"
    yes: float
    no: float
    provenance: Provenance
    answers: int = 0
    "how many were drawn, of which `tokens` are the distinct ones; 0: they are next tokens"


def asked(
    judged: QuestionnaireJudged,
    model: str,
    target: str,
    condition: Condition,
    variant: VariantId = ORIGINAL,
) -> tuple[AskedRow, ...]:
    """Return what was predicted of each person who answered a target with yes or no and was asked about.

    Where the backend does not say the chosen masses, nothing was predicted and nobody's answer was missed. Raises
    UnknownName for a model or target that is not there.
    """
    found = judged.gathered[judged.name(model)]
    question, place = target_of(judged, target)
    of = found.predictions
    rows: dict[int, int] = {}
    for row in np.flatnonzero(_those(found, place, condition, variant)):
        person = int(of.respondent[row])
        everybody = person == NEVER_ASKED
        rows |= dict.fromkeys(range(len(of.respondents)), int(row)) if everybody else {person: int(row)}
    known = {person for person, row in rows.items() if not math.isnan(of.yes[row])}
    answered = [person for person in sorted(known) if not math.isnan(of.human[place, person])]
    return tuple(_asked_row(judged, found, question, place, person, rows[person]) for person in answered)


def target_of(judged: QuestionnaireJudged, ref: str) -> tuple[Question, int]:
    """Return a target and its place. Raises UnknownName, listing those there are."""
    targets = judged.questionnaire.of_role(Role.TARGET)
    for place, question in enumerate(targets):
        if question.ref == ref:
            return question, place
    raise UnknownName(
        f"{judged.instrument.name} has no target {ref!r}. Its targets: {', '.join(q.ref for q in targets)}"
    )


def _those(found: Gathered, target: int, condition: Condition, variant: VariantId) -> BoolArray:
    """Return which prompts are about one wording of one target under one condition."""
    of = found.predictions
    if condition not in of.conditions or variant not in of.wordings:
        return np.zeros(len(found.probe), dtype=bool)
    where = (of.target == target) & (of.condition == of.conditions.index(condition))
    chosen: BoolArray = where & (of.wording == of.wordings.index(variant))
    return chosen


def _asked_row(
    judged: QuestionnaireJudged, found: Gathered, question: Question, target: int, person: int, row: int
) -> AskedRow:
    of = found.predictions
    respondent, human = judged.questionnaire.respondents[person], int(of.human[target, person])
    yes, no = float(of.yes[row]), float(of.no[row])
    predicted = _predicted(yes, no)
    return AskedRow(
        respondent=respondent.name,
        value=respondent.answers.get(question.ref, ""),
        human=human,
        yes=yes,
        no=no,
        p_yes=yes / (yes + no) if yes + no > 0 else float("nan"),
        predicted=predicted,
        correct=predicted == human,
        probe=int(found.probe[row]),
        outdated=bool(found.outdated[row]),
    )


def _predicted(yes: float, no: float) -> int:
    """Return the predicted answer (Haller et al. 2025, section 3.2): a tie is a yes."""
    if not yes + no > 0:
        return UNREADABLE
    return int(not no > yes)


def prompt_asked(store: Store, judged: QuestionnaireJudged, model: str, probe: int) -> PromptAsked:
    """Return one prompt of a run with its context, its tokens and where they come from.

    Raises UnknownName where the run has no such prompt with next tokens.
    """
    name = judged.name(model)
    run, found = judged.runs[name], judged.gathered[name]
    row = store.predictions.of_probe(run, probe)
    known = None if row is None else _distribution(store, run, row, judged.options.masses)
    if row is None or known is None:
        raise UnknownName(f"{name} has no next tokens of the prompt {probe}")
    tokens, rest, (yes, no), by = known
    condition = condition_of(row.axes)
    return PromptAsked(
        prompt=store.runs.prompt(probe),
        target=row.ref,
        variant=variant_of(row),
        condition=condition,
        respondent=row.axes.get(RESPONDENT, ""),
        template=row.template,
        context=row.axes.get(CONTEXT, ""),
        outdated=bool(found.outdated[found.probe == probe].any()),
        tokens=tokens,
        rest=rest,
        yes=yes,
        no=no,
        provenance=Provenance(run.model, run.version, run.backend, run.dtype, condition.seed, *by),
        answers=sum(one.times for one in tokens),
    )


def _distribution(
    store: Store, run: Run, row: PredictionRow, masses: Masses
) -> tuple[tuple[TokenRow, ...], float, tuple[float, float], tuple[str, str, int]] | None:
    """Return next tokens, or the answers that were drawn, the most frequent first; the probability of all others; that
    of yes and no; and when this came, by which code and in which job. None where there is nothing.
    """
    if run.sampling.mode != EXACT:
        answers, by = store.predictions.given(run, row.probe)
        n = sum(answers.values())
        drawn = tuple(TokenRow(text, k / n, said(text, row.labels), True, k) for text, k in answers.items())
        return (drawn, 0.0, shares(counted(answers, row.labels))[:2], by) if n else None
    scores = store.scores.of_probe(run, row.probe)
    if scores is None or not row.tokens:
        return None
    tokens = tuple(
        TokenRow(text, math.exp(log), spelled(text, row.labels), counted=place < PUBLISHED_TOP)
        for place, (text, log) in enumerate(row.tokens)
    )
    whole = masses == "vocabulary"
    yes, no, *_ = vocabulary_masses(row.words, row.labels) if whole else top_masses(row.tokens, row.labels)
    return tokens, row.rest, (yes, no), (scores.at, scores.code_version, scores.job)


def token_shares(judged: QuestionnaireJudged, model: str, target: str, condition: Condition) -> TokenShares:
    """Return where the probability goes after the original wording of a target, on average over its prompts.

    NaN where nothing is known. Raises UnknownName for a model or target that is not there.
    """
    found = judged.gathered[judged.name(model)]
    chosen = _those(found, target_of(judged, target)[1], condition, ORIGINAL)
    chosen &= ~np.isnan(found.predictions.yes)
    n = int(chosen.sum())
    if not n:
        nothing = float("nan")
        return TokenShares(nothing, nothing, nothing, nothing, 0)
    yes, no, other = (float(of[chosen].mean()) for of in (found.predictions.yes, found.predictions.no, found.other))
    return TokenShares(yes, no, other, max(0.0, 1.0 - yes - no - other), n)


__all__ = [
    "PromptAsked",
    "Provenance",
    "TokenRow",
    "asked",
    "prompt_asked",
    "target_of",
    "token_shares",
]
