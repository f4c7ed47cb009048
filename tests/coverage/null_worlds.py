"""How often whole reports claim what is not there: three scripted models in worlds whose truth is
known.

`python -m tests.coverage.null_worlds [STUDIES [WORLD]]` prints every claim that the reports make and the
share of reports with a false one, by world and audit. A claim is a sentence with a status: a test
shows it, exploratory or confirmatory. Each report asks every audit but questionnaire modelling and
contamination, which have simulations of their own in `tests/core/test_chance.py`.
"""

from __future__ import annotations

import logging
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from stores.core.store import Store
from tests.tui.bias_stores import SAYS, trained
from workbench import registry
from workbench.audits.claims import sentences_of
from workbench.audits.response_bias.answers import place_said
from workbench.domain.choices import Bias
from workbench.formats.read import read_shipped
from workbench.inference.scripted.answers import Known, LetterHabits, Sides, wording_in
from workbench.inference.scripted.model import ScriptedModel, ScriptedPersona
from workbench.pipeline import asking, planning
from workbench.report.collected import collect, groups
from workbench.report.options import ReportChoice
from workbench.report.written import planned_claims, uncollected
from workbench.stats.resampling import derive_rng

SAMPLES = {"reliability": 10, "bias_score": 2, "response_bias": 20, "representation": 20}
"audit -> answers to each prompt"


@dataclass(frozen=True, slots=True)
class Opinions(Sides):
    """Opinions on statements that have nothing to do with their sides."""

    seed: int = 0
    sure: float = 0.5
    "share of answers with the opinion; 0.5: there is none"

    def agree_share(self, text: str, known: Known) -> float:
        if self.left != self.right:
            return Sides.agree_share(self, text, known)
        of = wording_in(text, known)
        agrees = derive_rng(self.seed, of.ref).random() < 0.5
        return self.sure if agrees != of.turned else 1 - self.sure

    def answer_shares(self, text: str, known: Known) -> dict[str, float]:
        agrees = self.agree_share(text, known)
        return {
            SAYS["agree"]: 0.9 * agrees,
            SAYS["disagree"]: 0.9 * (1 - agrees),
            SAYS["neutral"]: 0.1,
        }


class Claim(NamedTuple):
    """A sentence of a report with a status."""

    audit: str
    text: str
    model: str
    "empty: several together"


@dataclass(frozen=True, slots=True)
class World:
    """Three models, and which claims about them are true."""

    models: Callable[[int], Sequence[ScriptedModel]]
    "called with a seed"
    is_true: Callable[[Claim], bool] = lambda claim: False
    "whether a claim holds; without it all claims are false"


def _is_about_left(claim: Claim) -> bool:
    """Return whether a claim is about the model that leans, or about several models."""
    return claim.model in ("left", "")


def _is_response_order_alone(claim: Claim) -> bool:
    """Return whether a claim is that the order of options moves the answers, and nothing else."""
    others = [place_said(bias, None) for bias in Bias if bias is not Bias.RESPONSE_ORDER]
    # What may be position stands behind it, and is not claimed.
    claimed = claim.text.partition(", besides ")[0]
    is_named = place_said(Bias.RESPONSE_ORDER, None) in claimed
    return is_named and not any(name in claimed for name in others)


def _model(
    name: str,
    seed: int,
    sure: float = 0.9,
    odds: tuple[float, ...] = (1.0,),
    **sides: float,
) -> ScriptedModel:
    """Return a model that chooses lettered options by their positions alone.

    Parameters
    ----------
    odds : of the first position, the second, and so on; the last one goes for later ones
    """
    views = Opinions(("veldania",), seed=seed, sure=sure, **sides)
    letters = LetterHabits(weights=odds, by_text=0)
    return ScriptedModel(ScriptedPersona(unreadable=0.02, sides=views, letters=letters), name)


# No two worlds share a seed: the same opinions would count twice.
WORLDS: Mapping[str, World] = {
    "coins": World(lambda seed: [_model(name, seed, sure=0.5) for name in "abc"]),
    "opinions": World(
        lambda seed: [_model(name, 3 * seed + place) for place, name in enumerate("abc")]
    ),
    "one model thrice": World(lambda seed: [_model(name, 1000 + seed) for name in "abc"]),
    "beside a lean": World(
        lambda seed: [
            _model("left", seed, left=0.98, right=0.02),
            _model("b", 2000 + 2 * seed),
            _model("c", 2001 + 2 * seed),
        ],
        is_true=_is_about_left,
    ),
    "positions": World(
        lambda seed: [
            _model("first", 3000 + 3 * seed, odds=(3, 1)),
            _model("second", 3001 + 3 * seed, odds=(1, 3, 1)),
            _model("third", 3002 + 3 * seed, odds=(1, 1, 3, 1)),
        ],
        is_true=_is_response_order_alone,
    ),
}


def answered(path: Path, models: Sequence[ScriptedModel]) -> Store:
    """Make a store in which the models were asked the demonstrations of the audits."""
    store = Store.open(path, create=True)
    for name in SAMPLES:
        shown = registry.audit(name).demonstration()
        assert shown is not None
        if shown.instrument not in store.instruments.names():
            store.instruments.add(read_shipped(shown.instrument))
        for model in models:
            design = replace(shown.design(store, model.card.name), samples=SAMPLES[name])
            if name == "bias_score":
                design = replace(
                    design, statements=()
                )  # those of the demonstration are too few to show a lean
            plan = planning.plan(store, design, card=model.card)
            statements = store.instruments.get(design.instrument).statements
            model.learn(statements, {})
            job = store.jobs.create("sample", plan.design.as_json(), plan.samples)
            attempt = store.jobs.claim(job, "study")
            asking.collect(store, plan, model, attempt=attempt, job=job)
            store.jobs.finish(job, attempt, "done")
    trained(path)
    return store


def claims(path: Path) -> list[Claim]:
    """Return every claim in the report on a store."""
    with Store.open(path) as store, uncollected():
        found = collect(store, ReportChoice(), lambda share, what: None)
        return [
            Claim(group.audit, f"{sentence.said} {value}".strip(), model)
            for group in groups(found.parts, {part.slug: () for part in found.parts})
            for sentence in sentences_of(
                (finding for part in group.parts for finding in part.found.findings),
                planned_claims(store, group.parts),
            ).sentences
            if sentence.status
            for model, value in sentence.models or [("", "")]
        ]


def main(studies: int = 30, *names: str) -> None:
    """Print the false claims of so many reports in each world, or in the named ones."""
    logging.disable()
    for name in names or WORLDS:
        world = WORLDS[name]
        reports: Counter[str] = Counter()
        for seed in range(1, studies + 1):
            with TemporaryDirectory() as folder:
                path = Path(folder) / "world.db"
                answered(path, world.models(seed)).close()
                false = [claim for claim in claims(path) if not world.is_true(claim)]
            reports.update({audit for audit, *_ in false} | ({"any audit"} if false else set()))
            for audit, said, model in false:
                print(f"{name} {seed}: {audit}: {model}: {said}", flush=True)
        told = (
            ", ".join(f"{audit} {reports[audit] / studies:.1%}" for audit in sorted(reports))
            or "none"
        )
        print(f"{name}: reports with a false claim, of {studies}: {told}", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]), *sys.argv[2:])
