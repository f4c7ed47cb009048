"""Questionnaire Modeling from the store to its figures: 2,000 respondents x 7 targets, three
conditions.

The baseline is the plain way: one object a prompt in the order of the statements with all of its
twenty tokens, every context made again as turns to see what changed since, draws anew for each
condition. Both read the same masses, and the figures drawn together are those drawn apart, which is
checked.
"""

from __future__ import annotations

import json
import math
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))


from stores.core.store import Store
from stores.runs.run_rows import run_values
from stores.runs.scores import NextTokenTable, ScoredPrompt
from tests.synthetic import generate
from workbench.audits.questionnaire.asking import Conversations, context_key, people
from workbench.audits.questionnaire.judged import QuestionnaireJudged, judge_questionnaire
from workbench.audits.questionnaire.options import PredictionOptions
from workbench.audits.questionnaire.reading import top_masses
from workbench.audits.questionnaire.score import PredictionReport, compute_figures, judge
from workbench.data import SHIPPED_QUESTIONNAIRE, shipped_instrument_folder, shipped_templates
from workbench.domain.designs import Design
from workbench.domain.questionnaires import Contexts, Survey
from workbench.domain.responses import EXACTLY, ModelCard
from workbench.formats.read import read_instrument
from workbench.pipeline import planning
from workbench.synthetic.spec import read_population

RESPONDENTS, TOKENS, REPEATS = 2_000, 20, 3
TINY_RESPONDENTS = 12
CONDITIONS = ("qm", "zero-shot", "random")
OPTIONS = PredictionOptions()

_PLAIN = """
    select p.id, s.ref, w.kind, w.ordinal, t.name, t.positive, t.negative, p.axes, n.tokens, n.words
    from instrument i
    join statement s on s.id in (select value from json_each(:scope))
    join wording w on w.statement_id = s.id and w.language = :language
    join probe p on p.wording_id = w.id and p.audit = :audit
    join template t on t.id = p.template_id
    join draw d on d.prompt_id = p.prompt_id and d.model_id = :model and d.sampling_id = :sampling
    left join next_tokens n on n.prompt_id = p.prompt_id and n.model_id = :model
    where i.name = :instrument order by s.ordinal, p.id
"""


@dataclass(frozen=True, slots=True)
class Row:
    """One prompt, as the plain way holds it."""

    probe: int
    ref: str
    kind: str
    ordinal: int
    template: str
    labels: tuple[str, str]
    axes: dict[str, str]
    tokens: tuple[tuple[str, float], ...]
    words: dict[str, float]


def build(path: Path, respondents: int) -> int:
    """Fill a store with a questionnaire and random next tokens, and return the prompts."""
    rng, folder = np.random.default_rng(1), shipped_instrument_folder(SHIPPED_QUESTIONNAIRE)
    made = read_instrument("csv", folder)
    assert made.questionnaire is not None
    drawn = generate(read_population(folder / "generator.toml"), respondents, 1)
    made = replace(made, questionnaire=replace(made.questionnaire, respondents=drawn))
    card = ModelCard("synthetic", "1", "none", "none", "none")
    design = Design(
        made.name,
        card.name,
        "questionnaire",
        1,
        EXACTLY,
        family="qm",
        variants=("original",),
        contexts=Contexts(CONDITIONS),
    )
    with Store.open(path, create=True) as store:
        store.instruments.add(made)
        plan = planning.plan(store, design, card=card)
        store.runs.add_probes(
            "questionnaire", made.name, made.language, plan.templates, plan.probes
        )
        model, sampling = store.runs.begin(card, EXACTLY)
        job = store.jobs.create("sample", design.as_json(), len(plan.prompts))
        attempt = store.jobs.claim(job, "bench")
        tables = {key: _table(rng) for key in plan.prompts}
        store.scores.add(
            model, sampling, attempt, [ScoredPrompt(key, (), "") for key in tables], tables
        )
        store.jobs.finish(job, attempt, "done")
    return len(plan.prompts)


def _table(rng: np.random.Generator) -> NextTokenTable:
    yes, no, *others = rng.dirichlet(np.ones(TOKENS))
    named = [("Yes", yes), (" no", no), *((f"other{place}", p) for place, p in enumerate(others))]
    named.sort(key=lambda token: -token[1])
    return NextTokenTable(
        tuple((text, math.log(p)) for text, p in named), 0.0, {"yes": yes, "no": no}
    )


def judged(path: Path) -> QuestionnaireJudged:
    """Read and judge, from opening the store."""
    with Store.open(path) as store:
        return judge_questionnaire(store, options=OPTIONS)


def plain(path: Path) -> float:
    """Return the mean p(yes) of the ten likeliest tokens, having read the run and made every
    context again.
    """
    with Store.open(path) as store:
        (run,) = store.runs.list("questionnaire")
        instrument, answers = (
            store.instruments.get(run.instrument),
            store.questionnaires.get(run.instrument),
        )
        assert answers is not None
        found = store.connection.execute(_PLAIN, run_values(store.connection, run)).fetchall()
        rows = [
            Row(
                probe,
                ref,
                kind,
                ordinal,
                name,
                (positive, negative),
                json.loads(axes),
                tuple(map(tuple, json.loads(tokens))),
                json.loads(words),
            )
            for probe, ref, kind, ordinal, name, positive, negative, axes, tokens, words in found
        ]
    now = {}
    for condition, seed in (("qm", 0), ("random", 1)):
        survey = Survey(answers, Contexts(), seed)
        asking = Conversations(
            instrument.statements, shipped_templates("questionnaire"), run.language, survey
        )
        for person in people(survey):
            now[condition, person.name] = context_key(asking.context(condition, person))
    chosen = {(row.ref, row.kind, row.ordinal, *sorted(row.axes.items())): row for row in rows}
    current = [
        row.axes.get("context")
        in (None, now.get((row.axes["condition"], row.axes.get("respondent", ""))))
        for row in chosen.values()
    ]
    assert all(current), "nothing was changed"
    return float(np.mean([top_masses(row.tokens, row.labels)[0] for row in chosen.values()]))


def drawn_apart(report: PredictionReport) -> PredictionReport:
    """Return the figures of every condition, each with draws of its own."""
    again = judge(report.predictions, report.options)
    for condition in again.conditions:
        again.condition(condition)
    return again


def drawn_at_once(report: PredictionReport) -> PredictionReport:
    """Return the same with draws that the conditions share."""
    again = judge(report.predictions, report.options)
    compute_figures((again, condition) for condition in again.conditions)
    return again


T = TypeVar("T")


def timed(act: Callable[[], T], times: int) -> tuple[float, T]:
    """Return the median seconds of an act, and what it returns."""
    seconds = []
    for _ in range(times):
        started = time.perf_counter()
        found = act()
        seconds.append(time.perf_counter() - started)
    return float(np.median(seconds)), found


def main(*, tiny: bool = False) -> list[tuple[str, str, str]]:
    """Return rows of the benchmark table: what, measured, against the baseline."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "panel.db"
        times = 1 if tiny else REPEATS
        prompts = build(path, TINY_RESPONDENTS if tiny else RESPONDENTS)
        ours, found = timed(lambda: judged(path), times)
        slow, mean = timed(lambda: plain(path), times)
        (report,) = found.reports.values()
        assert math.isclose(mean, float(report.predictions.yes.mean()))
        apart, one = timed(lambda: drawn_apart(report), times)
        at_once, other = timed(lambda: drawn_at_once(report), times)
        assert all(repr(one.condition(c)) == repr(other.condition(c)) for c in report.conditions)
        options = replace(OPTIONS, masses="vocabulary")
        changed, _ = timed(lambda: found.with_options(options), times)
    return [
        (
            f"predictions of {prompts:,} prompts, store to arrays",
            f"{ours:.2f} s",
            f"{slow / ours:.1f}x",
        ),
        ("the plain way (an object a prompt, every context made again)", f"{slow:.2f} s", "1x"),
        (
            "the same predictions by other masses",
            f"{changed * 1000:.0f} ms",
            f"{slow / changed:,.0f}x",
        ),
        (
            f"figures of {len(CONDITIONS)} conditions, drawn together",
            f"{at_once:.2f} s",
            f"{apart / at_once:.1f}x",
        ),
        ("each drawn for itself", f"{apart:.2f} s", "1x"),
    ]


if __name__ == "__main__":
    for row in main():
        print(" | ".join(row))
