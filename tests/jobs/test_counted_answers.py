"""A questionnaire asked of an endpoint that names no probabilities: answers are drawn, and yes and
no are counted.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stores.core.store import Store
from tests.cli.test_commands import data, run
from tests.jobs.faulty_server import Asked, FaultyServer, Refused
from tests.jobs.test_jobs import ended, wait
from tests.questionnaires import Known, ask, panel
from workbench.audits.questionnaire.figures import Condition
from workbench.audits.questionnaire.judged import (
    QuestionnaireJudged,
    judge_questionnaire,
    prompt_asked,
)
from workbench.domain.readings import USUAL
from workbench.domain.responses import EXACT, SAMPLED
from workbench.domain.rulings import RulingVerdict
from workbench.evidence import ruling_subjects as subjects
from workbench.pipeline.review import draw_control_sample, review

N = 12
GERMAN = "Das kann ich nicht sagen, weil ich dazu keine Meinung habe."
SAID = ("Yes.", "No", "yes, I do", GERMAN)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "panel.db"
    with Store.open(file, create=True) as store:
        store.instruments.add(panel())
    return file


def without_probabilities(asked: Asked) -> dict[str, Any]:
    """Answer as an endpoint that refuses log-probabilities: twice yes, once no, once neither, by
    the seed.
    """
    if (
        asked.body.get("logprobs")
        or asked.body.get("top_logprobs")
        or asked.path.endswith("/v1/completions")
    ):
        raise Refused({"message": "logprobs is not supported", "param": "logprobs"})
    draw = random.Random(f"{asked.body.get('seed')} {asked.body['messages'][-1]['content']}")
    texts = [draw.choice(SAID) for _ in range(asked.body.get("n", 1))]
    return {"choices": [{"index": i, "message": {"content": text}} for i, text in enumerate(texts)]}


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    with FaultyServer() as served:
        served.respond = without_probabilities
        yield served


def test_an_endpoint_without_probabilities_is_asked_for_answers_and_figures_say_so(
    path: Path, server: FaultyServer, capsys: pytest.CaptureFixture[str]
) -> None:
    how = ("run", path, "--audit", "questionnaire", "--model", server.name, "--no-probe", "--yes")
    asked = (*how, "--conditions", "qm,zero-shot", "--variants", "original")
    code, out, err = run(capsys, *asked)
    assert code == 1
    assert "or draw answers in place of them (--samples N)" in out + err
    code, out, err = run(capsys, *asked, "--samples", str(N))
    assert code == 0, out + err
    with Store.open(path) as store:
        judged = judge_questionnaire(store)
        (name,) = judged.reports
        report, found = judged.reports[name], judged.gathered[name]
        assert judged.runs[name].sampling.mode == SAMPLED
        assert (
            judged.runs[name].sampling.temperature,
            judged.runs[name].sampling.max_new_tokens,
        ) == (1.0, 16)
        assert found.predictions.answers is not None
        assert set(found.predictions.answers.tolist()) == {N}
        given = store.raw_answers.of_run(judged.runs[name])
        for row, probe in enumerate(found.probe.tolist()):
            counts = given[probe]
            yes, no = counts.get("Yes.", 0) + counts.get("yes, I do", 0), counts.get("No", 0)
            assert (found.predictions.yes[row], found.predictions.no[row]) == (yes / N, no / N)
            assert found.other[row] == pytest.approx(counts.get(GERMAN, 0) / N)
        zero = report.condition(Condition("zero-shot"))
        assert all(one.bias.high > one.bias.low for one in zero.targets if one.bias.interval)
        assert any(one.bias.interval for one in zero.targets)
        prompt = prompt_asked(store, judged, name, int(found.probe[0]))
        assert prompt.answers == N
        assert sum(one.probability for one in prompt.tokens) == pytest.approx(1)
        assert {one.text: one.mark for one in prompt.tokens}.items() <= {
            "Yes.": "yes",
            "yes, I do": "yes",
            "No": "no",
            GERMAN: "other",
        }.items()
        (came,) = judged.answered
        assert (came.unit, came.planned, came.answered) == ("answers", 6 * N, 6 * N)
        silent = {probe: of.get(GERMAN, 0) for probe, of in given.items()}
        shown = dict(zip(found.probe.tolist(), found.predictions.prompt.tolist(), strict=True))  # type: ignore[union-attr]
        assert came.parts["unreadable"].count == sum(silent[probe] for probe in shown)
        assert came.parts["foreign"].count == sum(silent.values())
        rulings_on_drawn_answers_count(store, judged)
        of = review(store, judged.runs[name], USUAL)
        found = {signal.reason for one in of.queue for signal in one.signals}
        assert {"unreadable", "near"} & found
        assert len(draw_control_sample(store, of, 10, seed=1).sample.items) > 1
    code, out, _ = run(capsys, "show", path, "questionnaire", "--condition", "qm,zero-shot")
    assert code == 0
    said = " ".join(out.split())
    assert f"p(yes) is yes / (yes + no) among {N} answers to each prompt" in said
    assert "counted answers" in said
    assert re.search(r"unreadable [0-9.]+ %, in another language [0-9.]+ %", said)


def rulings_on_drawn_answers_count(store: Store, before: QuestionnaireJudged) -> None:
    """An answer read anew has its right reading, one that is excluded counts nowhere, and the
    header stays.
    """
    (name,) = before.reports
    probe = int(before.gathered[name].probe[0])
    given = store.raw_answers.of_run(before.runs[name])[probe]
    (put, *_) = store.ruled_things.prompts(probe=probe)
    of = {one.words: one for one in subjects.subjects_below(store, subjects.prompt_subject(put))}
    text = next(text for text in given if text in of and text != GERMAN)
    right = "disagree" if text != "No" else "agree"

    def rule(verdict: RulingVerdict, reading: str | None = None) -> QuestionnaireJudged:
        subjects.add_ruling(
            store, of[text], verdict, auditor="otto", reason="looked", reading=reading
        )
        return judge_questionnaire(store)

    def of_prompt(judged: QuestionnaireJudged) -> tuple[float, float]:
        found = judged.gathered[name].predictions
        return round(float(found.yes[0]) * N, 6), round(float(found.no[0]) * N, 6)

    yes, no = of_prompt(before)
    moved = given[text] if right == "agree" else -given[text]
    assert of_prompt(rule(RulingVerdict.MISREAD, right)) == (yes + moved, no - moved)
    out = rule(RulingVerdict.EXCLUDED)
    assert out.answered[0].parts == before.answered[0].parts
    answers = out.gathered[name].predictions.answers
    assert answers is not None
    assert answers[0] == N - given[text]
    (last,) = (one for of in store.rulings.standing().values() for one in of)
    store.rulings.undo(last, auditor="otto")


def test_counted_answers_and_probabilities_of_one_model_are_two_runs_that_are_never_pooled(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for more in ((), ("--samples", "6")):
        code, out, err = run(
            capsys,
            "run",
            path,
            "--audit",
            "questionnaire",
            "--model",
            "scripted",
            "--no-probe",
            "--yes",
            *more,
        )
        assert code == 0, out + err
    with Store.open(path) as store:
        judged = judge_questionnaire(store)
        assert sorted(judged.reports) == ["scripted · counted answers", "scripted · probabilities"]
        modes = {name: run.sampling.mode for name, run in judged.runs.items()}
        assert modes == {"scripted · probabilities": EXACT, "scripted · counted answers": SAMPLED}
        exact = judged.gathered["scripted · probabilities"].predictions
        assert exact.answers is None
        assert not np.array_equal(
            exact.yes, judged.gathered["scripted · counted answers"].predictions.yes
        )
    found = data(capsys, "show", path, "questionnaire", "--table", "correlation")
    (table,) = (one for one in found["tables"] if one["name"] == "correlation")
    assert {(row["target"], row["measure"]) for row in table["rows"]} >= {
        ("all", "probabilities"),
        ("all", "counted answers"),
    }


def test_a_plan_says_what_is_counted_and_a_job_is_asked_again_in_the_same_way(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    how = ("run", path, "--audit", "questionnaire", "--model", "scripted")
    code, out, _ = run(capsys, *how, "--samples", "4", "--dry-run")
    assert code == 0
    assert "4 samples each" in out
    assert "a measure that is never pooled with probabilities" in " ".join(out.split())
    code, _, err = run(capsys, *how, "--temperature", "0.5", "--dry-run")
    assert code == 2
    assert "or draw answers and count the two labels with --samples N" in " ".join(err.split())
    code, _, err = run(capsys, *how, "--samples", "4", "--until-decided", "--dry-run")
    assert code == 2


def test_a_worker_counts_answers_in_a_process_of_its_own(path: Path, server: FaultyServer) -> None:
    from dataclasses import replace

    from tests.questionnaires import QUESTIONNAIRE
    from workbench.audits.questionnaire.options import COUNTED
    from workbench.jobs import launch

    with Store.open(path) as store:
        design = replace(QUESTIONNAIRE, model=server.name, samples=5, sampling=COUNTED)
        job = wait(store, launch.start(store, design), ended)
        assert job.state == "done", launch.log_tail(path, job.id)
        assert json.loads(json.dumps(job.spec))["sampling"]["mode"] == SAMPLED
        ask(store, Known())
        assert len(judge_questionnaire(store).reports) == 2
