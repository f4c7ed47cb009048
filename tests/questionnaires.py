"""A small questionnaire for tests of the store, the jobs and the terminal, and models whose answers
are known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from stores.core.store import Store
from workbench.domain.designs import Design
from workbench.domain.instruments import Instrument
from workbench.domain.prompts import Prompt
from workbench.domain.questionnaires import (
    YES_NO,
    AnswerOption,
    Contexts,
    Form,
    Meaning,
    Pole,
    Question,
    Questionnaire,
    QuestionRole,
    Respondent,
    Scale,
)
from workbench.domain.responses import EXACTLY
from workbench.domain.statements import ORIGINAL, Statement, VariantId, VariantKind, Wording
from workbench.inference.base import NextTokens
from workbench.inference.scripted.model import ScriptedModel, ScriptedPersona
from workbench.pipeline import asking, planning, scoring

ATTITUDE = Scale(
    "attitude",
    (
        AnswerOption(("agree",), Meaning.YES),
        AnswerOption(("neither",), Meaning.NEUTRAL),
        AnswerOption(("disagree",), Meaning.NO),
    ),
)
CONTEXT = tuple(f"c{i}" for i in range(6))
TARGETS = ("state", "market")
PARAPHRASES = 3
QUESTIONNAIRE = Design(
    "panel",
    "scripted",
    audit="questionnaire",
    samples=1,
    sampling=EXACTLY,
    family="qm",
    variants=("original",),
)


def panel(respondents: int = 10) -> Instrument:
    """Return six context questions, two targets in four wordings, and respondents: to `state` every
    other one says yes, to `market` the first is neutral and all others say yes.
    """
    texts = {ref: f"Should {ref} be so?" for ref in CONTEXT}
    texts |= {ref: f"The {ref} is good." for ref in TARGETS}
    statements = tuple(
        Statement(
            ref,
            (
                Wording(ORIGINAL, "en", text),
                *(
                    Wording(
                        VariantId(VariantKind.PARAPHRASE, n),
                        "en",
                        f"Good is the {ref}, said in way {n}.",
                    )
                    for n in range(1, PARAPHRASES + 1)
                    if ref in TARGETS
                ),
            ),
            topic="society" if ref in TARGETS else "policy",
        )
        for ref, text in texts.items()
    )
    questions = (
        *(Question(ref, QuestionRole.CONTEXT, leaning=Pole.LIBERAL) for ref in CONTEXT),
        Question("state", QuestionRole.TARGET, Form.STATEMENT, "attitude", Pole.CONSERVATIVE),
        Question("market", QuestionRole.TARGET, Form.STATEMENT, "attitude", Pole.LIBERAL),
    )
    answers = [
        {ref: ("yes", "no")[(i + j) % 2] for j, ref in enumerate(CONTEXT)}
        | {"state": ("agree", "disagree")[i % 2], "market": "agree" if i else "neither"}
        for i in range(respondents)
    ]
    people = tuple(Respondent(f"r{i:02}", of) for i, of in enumerate(answers))
    return Instrument(
        "panel",
        "A panel",
        statements,
        questionnaire=Questionnaire(questions, (YES_NO, ATTITUDE), people),
    )


class Known(ScriptedModel):
    """Answers yes with a probability that depends on the last answered question; keeps what it is
    asked.
    """

    def __init__(self, yes: float = 0.7, no: float = 0.2, name: str = "known") -> None:
        super().__init__(ScriptedPersona(), name)
        self.yes, self.no = yes, no
        self.put_to_it: list[Prompt] = []

    def masses(self, prompt: Prompt) -> Mapping[str, float]:
        """Return the probabilities of yes and no: exchanged where the last answer in the context is
        no.
        """
        turned = prompt.context and prompt.messages[prompt.context - 1].content == "no"
        return {"yes": self.no, "no": self.yes} if turned else {"yes": self.yes, "no": self.no}

    def next_tokens(
        self, prompts: Sequence[Prompt], k: int, words: Sequence[str] = ()
    ) -> Iterator[NextTokens]:
        for position, prompt in enumerate(prompts):
            self.put_to_it.append(prompt)
            of = self.masses(prompt)
            named = {
                "Yes": of["yes"] * 0.75,
                " yes": of["yes"] * 0.25,
                "no": of["no"],
                "maybe": 0.05,
            }
            kept = sorted(((p, text) for text, p in named.items() if p > 0), reverse=True)[:k]
            logs = np.log(np.array([p for p, _ in kept]))
            rest = max(0.0, 1 - sum(p for p, _ in kept))
            yield NextTokens(
                position, tuple(text for _, text in kept), logs, rest, {w: of[w] for w in words}
            )


def ask(
    store: Store, model: ScriptedModel, design: Design = QUESTIONNAIRE, **contexts: object
) -> asking.AskingProgress:
    """Ask a model in this process what a design needs, as a worker does."""
    design = replace(design, model=model.card.name, contexts=replace(Contexts(), **contexts))  # type: ignore[arg-type]
    plan = planning.plan(store, design, card=model.card)
    job = store.jobs.create("sample", plan.design.as_json(), plan.samples)
    attempt = store.jobs.claim(job, "test")
    progress = scoring.score_design(store, plan, model, attempt=attempt, job=job)
    store.jobs.finish(job, attempt, "done")
    return progress
