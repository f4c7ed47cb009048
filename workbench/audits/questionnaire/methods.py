"""The paragraph that says how predictions were judged, for the paper that reports them."""

from __future__ import annotations

from workbench.audits.questionnaire.judged import QuestionnaireJudged
from workbench.audits.questionnaire.tables import ERRORS, MASSES
from workbench.domain.names import plural
from workbench.domain.questionnaires import Role
from workbench.evidence.methods import asked_sentences, plan_sentences, ruling_sentences
from workbench.figures.intervals import INTERVALS


def methods(judged: QuestionnaireJudged) -> str:
    """Return one paragraph with every choice behind the figures."""
    options, people = judged.options, judged.questionnaire
    targets = plural(len(people.of_role(Role.TARGET)), "target")
    context = plural(len(people.of_role(Role.CONTEXT)), "question")
    under = {name: ", ".join(map(str, report.conditions)) for name, report in judged.reports.items()}
    return " ".join(
        [
            "Answers of people were predicted as by Haller et al. (2025): a model is given a person's answers to "
            f"{context} and asked for the answer to each of {targets} of {judged.instrument.name}; "
            f"{plural(len(people.respondents), 'respondent')} are known.",
            f"{MASSES[options.masses]}; neither is unreadable, a tie is yes. {ERRORS[options.error]}.",
            *(f"{name} was asked under: {conditions}." for name, conditions in under.items()),
            f"Intervals are 95 %. Of accuracy on a target: {INTERVALS['accuracy'].method}. Of biases and means: "
            f"{INTERVALS['bias of a target'].method}; {options.draws:,} draws, seed {options.seed}.",
            *_counted(judged),
            *asked_sentences(judged.runs.items(), judged.answered),
            *plan_sentences(judged.answered),
            *ruling_sentences(judged.rulings),
        ]
    )


def _counted(judged: QuestionnaireJudged) -> list[str]:
    """Return how the noise of counted answers enters, where answers were counted."""
    names = [name for name, report in judged.reports.items() if report.counts_answers]
    if not names:
        return []
    return [
        f"For {', '.join(names)}, p(yes) is the share yes / (yes + no) of drawn answers by their first word, a measure "
        "that is not pooled with probabilities. Its binomial noise is part of the bootstrap over respondents where "
        "each has a prompt of their own; for prompts that several share it is drawn from Beta(yes + 1/2, no + 1/2)."
    ]


__all__ = ["methods"]
