"""Stores in which an instrument is asked under two families of templates that share names, and
edited in between.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from stores.core.store import Store
from stores.runs.run_rows import Answered
from stores.runs.scores import ScoredPrompt
from tests.conftest import new_store
from workbench.domain.designs import Design
from workbench.domain.instruments import Instrument
from workbench.domain.keys import content_key
from workbench.domain.prompts import Template
from workbench.domain.responses import EXACTLY, ModelCard, Sampling
from workbench.domain.statements import NEGATION, ORIGINAL, Statement, Wording
from workbench.pipeline import planning
from workbench.readers.verbalizers import forms_by_prompt

FAMILIES, NAMES, LANGUAGES, REFS = (
    ("chat", "user"),
    ("personal-1", "personal-2"),
    ("en", "de"),
    ("a", "b"),
)
MODELS = ("one", "two")
LABELS = ("agree", "disagree")

Step = tuple[str, str, str]


@dataclass
class Made:
    """The instrument as it is at one time; an edit of a text is one more revision of it."""

    texts: Counter[tuple[str, ...]] = field(default_factory=Counter)

    def template(self, family: str, name: str, *, inverted: bool) -> Template:
        first, second = reversed(LABELS) if inverted else LABELS
        revision = self.texts["template", family, name, str(inverted)]
        return Template(
            name=name,
            inverted=inverted,
            user=f"{family} {name}, {revision} times edited: {first} or {second}? {{statement}}",
            positive="agree",
            negative="disagree",
            family=family,
        )

    def statement(self, ref: str) -> Statement:
        text = f"{ref}, {self.texts['statement', ref]} times edited"
        wordings = [
            Wording(variant, language, f"{variant} of {text} in {language}")
            for language in LANGUAGES
            for variant in (ORIGINAL, NEGATION)
        ]
        return Statement(ref, tuple(wordings))

    def instrument(self) -> Instrument:
        templates = [
            self.template(family, name, inverted=inverted)
            for family in FAMILIES
            for name in NAMES
            for inverted in (False, True)
        ]
        return Instrument(
            "small", "Small", tuple(map(self.statement, REFS)), templates=tuple(templates)
        )


def said(model: str, key: bytes) -> tuple[tuple[str, int], ...]:
    """Return what a model answers to a prompt: numbers that hardly another prompt has."""
    rng = np.random.default_rng(list(content_key([model, key.hex()])))
    agree, disagree, neither = (int(n) for n in rng.integers(1, 60, 3))
    return (("agree", agree), ("disagree", disagree), ("It depends.", neither))


def log(model: str, key: bytes, form: str) -> float:
    """Return the log-probability that a model gives to a label after a prompt."""
    return -6 - int.from_bytes(content_key([model, key.hex(), form])[:4]) / 2**32


def ask(
    store: Store,
    model: str,
    family: str,
    language: str,
    refs: Sequence[str],
    *,
    exact: bool = False,
    revision: str = "r1",
) -> None:
    """Ask what is missing as a job does; `exact`: compute the probabilities of labels in place of
    answers.
    """
    sampling = EXACTLY if exact else Sampling()
    design = Design(
        "small",
        model,
        samples=1,
        sampling=sampling,
        family=family,
        language=language,
        statements=tuple(refs),
        template_language="en",
    )
    card = ModelCard(model, revision, "scripted", "float32", "none")
    plan = planning.plan(store, design, card=card)
    store.runs.add_probes("reliability", "small", plan.design.language, plan.templates, plan.probes)
    job = store.jobs.create("sample", plan.design.as_json(), len(plan.prompts))
    attempt = store.jobs.claim(job, "1.0")
    ids = store.runs.begin(card, sampling)
    if exact:
        forms = forms_by_prompt(plan.templates, plan.probes)
        scores = [
            ScoredPrompt(key, tuple((form, log(model, key, form)) for form in forms[key]))
            for key in plan.prompts
        ]
        store.scores.add(*ids, attempt, scores, {})
    else:
        who = model if revision == "r1" else f"{model} {revision}"
        batch = [
            Answered(key, 1, sum(n for _, n in said(who, key)), said(who, key))
            for key, _ in plan.requests()
        ]
        store.runs.add(*ids, attempt, batch)
    store.jobs.finish(job, attempt, "done")


def play(path: Path, steps: Sequence[Step]) -> Path:
    """Fill a new store with an instrument that is edited and asked in this order."""
    made = Made()
    with new_store(path) as store:
        store.instruments.add(made.instrument())
        for what, first, second in steps:
            if what in ("ask", "ask one", "score"):
                model, family = first.split()
                ask(
                    store,
                    model,
                    family,
                    second,
                    REFS[:1] if what == "ask one" else REFS,
                    exact=what == "score",
                )
            else:
                made.texts[(what, *first.split(), *filter(None, [second]))] += 1
                store.instruments.add(made.instrument())
    return path


@contextmanager
def played(steps: Sequence[Step]) -> Iterator[Store]:
    """Yield such a store."""
    with (
        TemporaryDirectory() as folder,
        Store.open(play(Path(folder) / "audit.db", steps)) as store,
    ):
        yield store
