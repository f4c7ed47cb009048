"""The paragraph on the methods of predicted answers."""

from __future__ import annotations

from workbench.audits.questionnaire.judged import QuestionnaireJudged
from workbench.audits.questionnaire.tables import ERRORS, MASSES
from workbench.domain.names import plural
from workbench.domain.questionnaires import QuestionRole
from workbench.evidence.methods import asked_sentences, plan_sentences, ruling_sentences
from workbench.figures.intervals import INTERVALS
from workbench.stats.weights import spread_of


def methods(judged: QuestionnaireJudged) -> str:
    """Return one paragraph on the methods, with every option of the figures."""
    options, questionnaire = judged.options, judged.questionnaire
    targets = plural(len(questionnaire.of_role(QuestionRole.TARGET)), "target")
    context = plural(len(questionnaire.of_role(QuestionRole.CONTEXT)), "question")
    conditions_by_model = {
        name: ", ".join(map(str, report.conditions)) for name, report in judged.reports.items()
    }
    return " ".join(
        [
            "Answers of people were predicted as by Haller et al. (2025): a model is given a "
            "person's answers to "
            f"{context} and asked for the answer to each of {targets} of {judged.instrument.name}; "
            f"{plural(len(questionnaire.respondents), 'respondent')} are known.",
            f"{MASSES[options.masses]}; neither is unreadable, a tie is yes. "
            f"{ERRORS[options.error]}.",
            *(
                f"{name} was asked under: {conditions}."
                for name, conditions in conditions_by_model.items()
            ),
            f"Intervals are 95 %. Of accuracy on a target: {INTERVALS['accuracy'].method}. Of "
            f"biases and means: {INTERVALS['bias of a target'].method}; {options.draws:,} draws, "
            f"seed {options.seed}.",
            *_weighted(judged),
            *_counted(judged),
            *asked_sentences(judged.runs.items(), judged.answered),
            *plan_sentences(judged.answered),
            *ruling_sentences(judged.rulings),
        ]
    )


def _weighted(judged: QuestionnaireJudged) -> list[str]:
    """Return a sentence on the use of weights, or none if respondents have no weights."""
    if all(run_predictions.weights is None for run_predictions in judged.gathered.values()):
        return []
    if judged.options.unweighted:
        return ["The respondents have weights, which were not used: everybody counts once."]
    return [
        "Shares of people, accuracies and biases count respondents by their weights. Draws are of "
        "respondents, who bring their weights; degrees of freedom and Wilson's interval take the "
        "effective number, (Σ w)² / Σ w² (Kish 1965), over all respondents "
        f"{spread_of([person.weight for person in judged.questionnaire.respondents])}."
    ]


def _counted(judged: QuestionnaireJudged) -> list[str]:
    """Return a sentence on the noise of counted answers, or none if no answers were counted."""
    names = [name for name, report in judged.reports.items() if report.counts_answers]
    if not names:
        return []
    return [
        f"For {', '.join(names)}, p(yes) is the share yes / (yes + no) of drawn answers by their "
        "first word, a measure that is not pooled with probabilities. Its binomial noise is part "
        "of the bootstrap over respondents where each has a prompt of their own; for prompts that "
        "several share it is drawn from Beta(yes + 1/2, no + 1/2)."
    ]
