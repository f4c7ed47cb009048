"""From the shipped folder to figures: what is known of the ideal predictor, and of models that
always say the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm

from stores.core.store import Store
from tests.jobs.test_jobs import ended, wait
from tests.questionnaires import ask
from tests.synthetic import IdealScore, generate, known
from workbench.audits.questionnaire.figures import Condition, ConditionFigures
from workbench.audits.questionnaire.judged import QuestionnaireJudged, judge_questionnaire
from workbench.audits.questionnaire.score import PredictionReport
from workbench.data import shipped_instrument_folder
from workbench.domain.designs import Design
from workbench.domain.questionnaires import Contexts
from workbench.domain.responses import EXACTLY
from workbench.evidence.runs import AnswerSelection
from workbench.formats.native import read_csv
from workbench.inference.scripted.model import ScriptedModel, ScriptedPersona
from workbench.inference.scripted.personas import load_ideal
from workbench.jobs import launch
from workbench.synthetic.spec import read_population

NAME = "scripted:ideal@veldania_panel"
PANEL = shipped_instrument_folder("veldania_panel")
ASKED = Design(
    "veldania_panel", NAME, audit="questionnaire", samples=1, sampling=EXACTLY, family="qm"
)
ORIGINAL = replace(ASKED, variants=("original",))
QM, ZERO_SHOT, RANDOM, REDUCED = (
    Condition(c) for c in ("qm", "zero-shot", "random", "reduced-75-kept")
)


@pytest.fixture(scope="module")
def truth() -> dict[str, IdealScore]:
    population = read_population(PANEL / "generator.toml")
    respondents = generate(population, population.respondents, population.seed)
    return {figure.target: figure for figure in known(population, respondents)}


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with Store.open(tmp_path_factory.mktemp("ideal") / "panel.db", create=True) as store:
        store.instruments.add(read_csv(PANEL))
        yield store


@pytest.fixture(scope="module")
def judged(imported: Store) -> QuestionnaireJudged:
    """The ideal predictor and two constant ones, asked and judged."""
    ideal = load_ideal(PANEL / "generator.toml", NAME)
    assert (
        ask(
            imported, ideal, ORIGINAL, conditions=("qm", "zero-shot", "random", REDUCED.name)
        ).failed
        == 0
    )
    for answer in ("yes", "no"):
        model = ScriptedModel(ScriptedPersona(answers=(answer,)), f"scripted:{answer}.toml")
        assert ask(imported, model, ORIGINAL, conditions=("qm", "zero-shot")).failed == 0
    return judge_questionnaire(imported)


def figures(judged: QuestionnaireJudged, model: str, name: str) -> ConditionFigures:
    report = judged.reports[model]
    (found,) = [condition for condition in report.conditions if condition.name == name]
    return report.condition(found)


@pytest.mark.e2e
def test_the_ideal_predictor_reaches_what_is_known_and_has_no_bias(
    judged: QuestionnaireJudged, truth: dict[str, IdealScore]
) -> None:
    found = figures(judged, NAME, "qm")
    assert [figure.target for figure in found.targets] == list(truth)
    limit = norm.ppf(1 - 0.05 / (2 * len(truth)))  # Bonferroni: 5 % for all seven targets together
    for figure in found.targets:
        of = truth[figure.target]
        assert (figure.respondents, figure.unreadable) == (of.respondents, 0)
        assert figure.without == pytest.approx(0, abs=1e-12)
        assert figure.human == pytest.approx(of.human)
        assert figure.majority == pytest.approx(of.majority)
        assert figure.p_yes == pytest.approx(of.expected), (
            "it was shown exactly what each one answered"
        )
        assert figure.bias.value == pytest.approx(of.expected - of.human)
        assert figure.bias.low <= 0 <= figure.bias.high
        assert abs(figure.bias.value) < limit * of.bias_sd
        assert figure.accuracy.low <= of.accuracy <= figure.accuracy.high
        assert abs(figure.accuracy.value - of.accuracy) < limit * of.accuracy_sd
        assert figure.bias_se == pytest.approx(of.bias_sd, rel=0.25), (
            "errors are those that the population implies"
        )
    assert found.accuracy.value == pytest.approx(
        np.mean([figure.accuracy.value for figure in found.targets])
    )
    assert found.accuracy.value > found.majority + 0.15


@pytest.mark.e2e
def test_the_ideal_predictor_says_without_context_what_most_people_say(
    judged: QuestionnaireJudged,
) -> None:
    population = read_population(PANEL / "generator.toml")
    share = dict(
        zip(
            [i.ref for i in population.items],
            population.weights() @ population.p_yes(),
            strict=True,
        )
    )
    for figure in figures(judged, NAME, "zero-shot").targets:
        assert figure.p_yes == pytest.approx(share[figure.target])
        assert figure.accuracy.value in (
            pytest.approx(figure.human),
            pytest.approx(1 - figure.human),
        )


def test_the_less_of_the_context_there_is_the_less_the_ideal_predictor_expects_of_itself(
    judged: QuestionnaireJudged, truth: dict[str, IdealScore]
) -> None:
    expected = {c.name: certainty(judged.reports[NAME], c.name) for c in (QM, REDUCED, ZERO_SHOT)}
    assert expected["qm"] == pytest.approx(
        np.average([k.accuracy for k in truth.values()], weights=_sizes(truth))
    )
    assert expected["qm"] > expected[REDUCED.name] + 0.01
    assert expected[REDUCED.name] > expected["zero-shot"] + 0.1
    limit = 4 * max(k.accuracy_sd for k in truth.values())
    for figure in figures(judged, NAME, REDUCED.name).targets:
        assert abs(figure.bias.value) < limit, "it is calibrated on what it sees, however little"


def test_random_answers_mislead_the_ideal_predictor(judged: QuestionnaireJudged) -> None:
    assert (
        figures(judged, NAME, "random").accuracy.value
        < figures(judged, NAME, "qm").accuracy.value - 0.15
    )


@pytest.mark.parametrize(("answer", "always"), [("yes", 1.0), ("no", 0.0)])
@pytest.mark.parametrize("condition", ["qm", "zero-shot"])
def test_a_model_that_always_says_the_same_has_the_bias_that_this_implies(
    judged: QuestionnaireJudged,
    truth: dict[str, IdealScore],
    answer: str,
    always: float,
    condition: str,
) -> None:
    found = figures(judged, f"scripted:{answer}.toml", condition)
    for figure in found.targets:
        human = truth[figure.target].human
        assert figure.bias.value == pytest.approx(always - human, abs=1e-12)
        assert figure.accuracy.value == pytest.approx(human if always else 1 - human, abs=1e-12)
        assert figure.p_yes == always
        assert (figure.yes, figure.no) == (
            (figure.respondents, 0) if always else (0, figure.respondents)
        )
    assert found.absolute_bias.value == pytest.approx(
        np.mean([abs(always - k.human) for k in truth.values()])
    )


def test_the_ideal_predictor_takes_every_wording_for_the_same_question(
    imported: Store, judged: object
) -> None:
    model = load_ideal(PANEL / "generator.toml", NAME)
    assert ask(imported, model, ASKED, conditions=("qm",), respondents=20).failed == 0
    report = judge_questionnaire(imported, AnswerSelection(models=(NAME,))).reports[NAME]
    found = report.variability(QM)
    assert len(found) == 7
    for figure in found:
        assert figure.k == 12
        assert figure.sd.value == pytest.approx(0, abs=1e-12)
        assert figure.rms.value == pytest.approx(abs(figure.wordings[0].bias))


@pytest.mark.e2e
def test_a_worker_process_knows_the_ideal_predictor_by_its_name(tmp_path: Path) -> None:
    with Store.open(tmp_path / "panel.db", create=True) as store:
        store.instruments.add(read_csv(PANEL))
        design = replace(ORIGINAL, contexts=Contexts(("qm", "zero-shot"), respondents=3))
        job = wait(store, launch.start(store, design), ended)
        assert job.state == "done", job.message
        (run,) = store.runs.list("questionnaire")
        assert (run.model, run.failed) == (NAME, 0)
        assert run.revision == load_ideal(PANEL / "generator.toml", NAME).card.revision


def certainty(report: PredictionReport, condition: str) -> float:
    """Return the mean of the greater of p(yes) and p(no), over the people who answered."""
    predictions = report.predictions
    (place,) = [place for place, c in enumerate(predictions.conditions) if c.name == condition]
    rows = predictions.condition == place
    greater = np.maximum(predictions.yes[rows], predictions.no[rows])
    if condition == "zero-shot":  # a prompt stands for everybody who answered its target
        return float(
            np.average(
                greater,
                weights=(~np.isnan(predictions.human)).sum(axis=1)[predictions.target[rows]],
            )
        )
    return float(greater.mean())


def _sizes(truth: dict[str, IdealScore]) -> list[int]:
    return [figure.respondents for figure in truth.values()]
