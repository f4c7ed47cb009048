"""The paragraph that says how response biases came about, for the paper that reports them."""

from __future__ import annotations

from workbench.audits.response_bias.judged import ResponseBiasJudged
from workbench.audits.response_bias.rows import Subject
from workbench.audits.response_bias.words import definition_said, test_said
from workbench.domain.counting import plural
from workbench.evidence.methods import asked_sentences, plan_sentences, ruling_sentences
from workbench.figures.intervals import INTERVALS

READ = {
    "samples": "a rule read the letter of each answer, and answers without an offered letter were drawn again",
    "exact": "the probabilities of the offered letters as the next token were computed, without sampling",
    "imported": "answers that others collected were used as published",
}


def methods(judged: ResponseBiasJudged) -> str:
    """Return one paragraph with every choice behind the figures."""
    options, subjects = judged.options, judged.subjects
    runs = [(name, one.run) for name, one in subjects.items() if one.run is not None]
    return " ".join(
        [
            "Response biases were measured as by Tjuatja et al. (2024): the change of the answers to a question in two "
            "forms, for changes that move people and for typos that people overlook.",
            f"{plural(len(judged.refs), 'question')} of {judged.instrument.name} count.",
            definition_said(options.definition),
            f"{test_said(options).partition(' [ ]')[0]} Intervals are 95 %: {INTERVALS['mean over questions'].method}.",
            *(f"Of {name}, {READ[one.way]}{_wanted(one)}." for name, one in subjects.items()),
            *asked_sentences(runs, judged.answered),
            *plan_sentences(judged.answered),
            *ruling_sentences(judged.rulings),
        ]
    )


def _wanted(one: Subject) -> str:
    return f", until a form had {one.wanted} valid ones" if one.way == "samples" and one.wanted else ""


__all__ = ["methods"]
