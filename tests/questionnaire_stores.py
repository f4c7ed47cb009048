"""Stores in which models have predicted a small questionnaire: real prompts, and probabilities that
are chosen.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace

from stores.core.store import Store
from stores.runs.scores import NextTokenTable, ScoredPrompt
from workbench.domain.designs import Design
from workbench.domain.instruments import Instrument
from workbench.domain.prompts import Persona, Probe
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
from workbench.domain.responses import EXACTLY, ModelCard
from workbench.domain.statements import ORIGINAL, Statement, VariantId, VariantKind, Wording
from workbench.pipeline import planning

NAME = "panel"
AGREEMENT = Scale(
    "agreement",
    (
        AnswerOption(("agree",), Meaning.YES),
        AnswerOption(("neither",), Meaning.NEUTRAL),
        AnswerOption(("disagree",), Meaning.NO),
    ),
)
CONTEXT, TARGETS = tuple(f"c{i}" for i in range(10)), ("t0", "t1")
FIRST, SECOND = (VariantId(VariantKind.PARAPHRASE, n) for n in (1, 2))

Masses = tuple[float, float]
"p(yes), p(no)"
Predict = Callable[[Probe], Masses | str]
"what a model makes of a prompt: masses, or why it fails"


def people(n: int = 10) -> tuple[Respondent, ...]:
    """Return respondents, no two of the same answers up to 1,024: `t0` is agreed with by the even
    ones, `t1` by all but the last, and r00 is neutral there.
    """
    return tuple(
        Respondent(
            f"r{i:02}",
            {ref: ("yes", "no")[i >> j & 1] for j, ref in enumerate(CONTEXT)}
            | {"t0": ("agree", "disagree")[i % 2], "t1": _second(i, n)},
        )
        for i in range(n)
    )


def _second(i: int, n: int) -> str:
    return "neither" if i == 0 else "disagree" if i == n - 1 else "agree"


def panel(respondents: int = 10, name: str = NAME) -> Instrument:
    """Return a questionnaire of ten context questions and two targets, each with two
    paraphrases.
    """
    questions = [Question(ref, QuestionRole.CONTEXT) for ref in CONTEXT]
    questions += [
        Question(ref, QuestionRole.TARGET, Form.STATEMENT, AGREEMENT.name, leaning)
        for ref, leaning in zip(TARGETS, (Pole.LIBERAL, Pole.CONSERVATIVE), strict=True)
    ]
    statements = [
        Statement(ref, (Wording(ORIGINAL, "en", f"Should {ref} be so?"),)) for ref in CONTEXT
    ]
    statements += [
        Statement(
            ref,
            (
                Wording(ORIGINAL, "en", f"{ref} is good."),
                Wording(FIRST, "en", f"Good is {ref}."),
                Wording(SECOND, "en", f"One may call {ref} good."),
            ),
        )
        for ref in TARGETS
    ]
    asked = Questionnaire(tuple(questions), (YES_NO, AGREEMENT), people(respondents))
    return Instrument(
        name=name, title="A small panel", statements=tuple(statements), questionnaire=asked
    )


def card(model: str = "oracle", dtype: str = "float32", **told: str) -> ModelCard:
    return replace(ModelCard(model, "r1", "transformers", dtype, "none", "1"), **told)


def predict(
    store: Store,
    by: Predict,
    model: ModelCard | None = None,
    *,
    conditions: Iterable[str] = ("qm",),
    variants: tuple[str, ...] = ("original",),
    words: bool = True,
    instrument: str = NAME,
    questions: int = 0,
    respondents: int = 0,
    every: int = 2,
    seed: int = 1,
    personas: tuple[Persona, ...] = (),
) -> None:
    """Store what a model makes of every prompt of a design that it has not answered yet."""
    model = model or card()
    contexts = Contexts(tuple(conditions), respondents, every, questions)
    design = Design(
        instrument,
        model.name,
        "questionnaire",
        1,
        EXACTLY,
        seed,
        family="qm",
        variants=variants,
        contexts=contexts,
        personas=personas,
    )
    plan = planning.plan(store, design, card=model)
    store.runs.add_probes("questionnaire", instrument, "en", plan.templates, plan.probes, personas)
    model_id, sampling_id = store.runs.begin(model, EXACTLY)
    job = store.jobs.create("sample", design.as_json(), len(plan.prompts))
    attempt = store.jobs.claim(job, "code-1")
    found = {
        probe.prompt.key: by(probe)
        for probe in plan.probes
        if not plan.stored.get(probe.prompt.key)
    }
    failed = {key: reason for key, reason in found.items() if isinstance(reason, str)}
    tables = {key: table(*of, words=words) for key, of in found.items() if not isinstance(of, str)}
    scored = [ScoredPrompt(key, (), failed.get(key, "")) for key in found]
    store.scores.add(model_id, sampling_id, attempt, scored, tables)
    store.jobs.finish(job, attempt, "done")


def table(yes: float, no: float, *, words: bool = True) -> NextTokenTable:
    """Return next tokens: yes and no in several spellings, others, and beyond the tenth place some
    more yes.
    """
    left = max(0.0, 0.98 - yes - no)
    tokens = [(" Yes", yes * 0.75), ("yes", yes * 0.25), ("NO", no * 0.5), (" no", no * 0.5)]
    tokens += [(f"other{i}", left / 6) for i in range(6)]
    tokens += [("YES ", 0.01)]
    named = tuple((text, math.log(p)) for text, p in tokens if p > 0)
    if len(named) < 11:  # the eleventh place is beyond the ten that count
        named = (
            *named[:-1],
            *((f"rare{i}", math.log(1e-9)) for i in range(11 - len(named))),
            named[-1],
        )
    beyond = {"yes": yes + 0.02, "no": no} if words else None
    return NextTokenTable(named, 0.01, beyond)


def answer_of(store: Store, probe: Probe, instrument: str = NAME) -> bool:
    """Return what the person of a prompt answered to its target."""
    people_ = store.questionnaires.get(instrument)
    assert people_ is not None
    name = dict(probe.axes)["respondent"]
    (person,) = (one for one in people_.respondents if one.name == name)
    return person.answers[probe.statement] == "agree"


def ideal(store: Store, certain: float = 0.9) -> Predict:
    """Return a model that knows everybody's answer, and says so with this share of yes and no
    together.
    """

    def by(probe: Probe) -> Masses:
        if "respondent" not in dict(probe.axes):
            return 0.3, 0.3
        return (certain, 0.0) if answer_of(store, probe) else (0.0, certain)

    return by
