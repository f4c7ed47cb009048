"""Jobs in a shell: their probe, asking otherwise, hiding and deleting; nothing waits where nobody
can answer.
"""

from __future__ import annotations

import io
import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from stores.core.store import Store
from stores.jobs.job_rows import PROBE, UNREADABLE, Job
from tests.cli.test_commands import run
from workbench import registry
from workbench.classifier.config import TrainConfig
from workbench.cli import main
from workbench.commands.again import command_like
from workbench.data import shipped_drafting
from workbench.domain import job_kinds
from workbench.domain.designs import Design
from workbench.domain.probe_results import ProbedAnswer, ProbeResult, ProbeWish
from workbench.domain.questionnaires import Contexts
from workbench.domain.responses import EXACTLY, WHEN_DECIDED, Sampling
from workbench.formats.read import read_shipped
from workbench.jobs import launch
from workbench.pipeline import planning
from workbench.pipeline.checking import CHECK, CheckSpec
from workbench.pipeline.drafting import DraftSpec
from workbench.pipeline.training import ClassifySpec, TrainSpec

HOSTILE = "\x1b[31mred\x1b[0m [@click=app.bell]x[/] ‮agree"
FOUND = ProbeResult(
    "chat",
    1,
    (
        ProbedAnswer("env-01", "original", "personal-1", "printed", HOSTILE, "", "unreadable"),
        ProbedAnswer("env-02", "negation", "personal-2", "swapped", "I agree.", "agree", ""),
    ),
)


def job(path: Path, number: int = 1) -> Job:
    with Store.open(path) as store:
        return store.jobs.get(number)


def asked(path: Path, question: str = PROBE, found: ProbeResult | None = FOUND) -> None:
    """Queue a job that waits for a person."""
    with Store.open(path) as store:
        plan = planning.plan(store, Design("veldania", "scripted", samples=2))
        number = launch.create(
            store, plan.design, plan, probe=None if found is None else ProbeWish(result=found)
        )
        attempt = store.jobs.claim(number, "1")
        assert store.jobs.pause_for_people(number, attempt, "It waits.", question)


def ended(path: Path, kind: str = job_kinds.SAMPLE, spec: dict[str, Any] | None = None) -> int:
    """Store a job that failed."""
    with Store.open(path) as store:
        given = Design("veldania", "scripted").as_json() if spec is None else spec
        number = store.jobs.create(kind, given, 10)
        store.jobs.finish(number, store.jobs.claim(number, "1"), "failed", "no such model")
        return number


def test_a_job_that_waits_for_a_person_says_what_for_and_what_can_be_done(
    demo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked(demo)
    _, out, _ = run(capsys, "jobs", demo)
    for act in ("probe", "resume", "edit", "cancel"):
        assert f"workbench jobs {demo} {act} 1" in out
    assert "Continue:" in out
    data = json.loads(run(capsys, "jobs", demo, "--json")[1])[0]
    assert (data["question"], data["probe"]["result"]["family"]) == (PROBE, "chat")


def test_the_answers_of_a_probe_are_painted_and_never_sent(
    demo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked(demo)
    code, out, _ = run(capsys, "jobs", demo, "probe")
    assert code == 0
    assert "Probe: 1 of 2 answers are readable (50 %)" in out
    assert ("\x1b" in out, "‮" in out) == (False, False)
    assert "[@click=app.bell]x[/]" in out
    data = json.loads(run(capsys, "jobs", demo, "probe", "--json")[1])
    assert data["probe"]["answers"][0]["text"] == HOSTILE


def test_a_job_without_a_probe_says_so(demo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ended(demo)
    assert "Job 1 has had no probe." in run(capsys, "jobs", demo, "probe")[1]


def test_going_on_anyway_is_remembered(
    demo: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch, "spawn", lambda *_: 0)
    asked(demo, UNREADABLE, None)
    assert "Continue anyway: workbench jobs" in run(capsys, "jobs", demo)[1]
    assert run(capsys, "jobs", demo, "resume", 1)[0] == 0
    assert (job(demo).question, job(demo).patient) == ("", True)


DESIGNS = [
    Design("veldania", "scripted"),
    Design(
        "veldania",
        "openai:m@http://127.0.0.1:9/v1",
        samples=3,
        seed=9,
        family="user",
        templates=("personal-1",),
    ),
    Design(
        "veldania", "scripted", variants=("original", "negation"), statements=("env-03", "soc-01")
    ),
    Design("veldania", "smollm2", dtype="float16", chat_format="smollm2+no-default-system"),
    Design("veldania", "scripted", sampling=Sampling(0.4, 0.5, 7, 33, WHEN_DECIDED)),
    Design("veldania", "scripted", sampling=EXACTLY, samples=1),
    Design(
        "veldania_panel",
        "scripted",
        "questionnaire",
        1,
        EXACTLY,
        family="qm",
        contexts=Contexts(("qm", "zero-shot"), respondents=4, every=3, questions=5),
    ),
]


@pytest.mark.e2e
@pytest.mark.parametrize("number", range(len(DESIGNS) + 4))
def test_editing_begins_with_a_command_that_asks_exactly_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """The command that is printed is run: the job that it queues has the same specification."""
    monkeypatch.setattr(launch, "spawn", lambda *_: 0)
    monkeypatch.setattr("workbench.inference.load.check_reachable", lambda *_, **__: None)
    path = tmp_path / "s.db"
    shown = [one for one in registry.asking() if one.demonstration() is not None]
    with Store.open(path, create=True) as store:
        if number < len(DESIGNS):
            asks = DESIGNS[number]
            store.instruments.add(read_shipped(asks.instrument))
            family = (
                registry.audit(asks.audit).defaults.family
                if asks.audit == "questionnaire"
                else asks.family
            )
            asks = replace(asks, family=family)
        else:
            of = shown[number - len(DESIGNS)].demonstration()
            assert of is not None
            store.instruments.add(read_shipped(of.instrument))
            asks = of.design(store, "scripted")
        plan = planning.plan(store, asks)
        launch.create(store, plan.design, plan)
        store.jobs.request_stop(1)
    command = json.loads(run(capsys, "jobs", path, "edit", 1, "--json")[1])["command"]
    code, _, err = run(capsys, *command[1:], "--yes", "--detach")
    assert code == 0, err
    assert job(path, 2).spec == job(path).spec


def test_a_command_is_printed_for_every_kind_of_job(
    demo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paraphrase = next(prompt for prompt in shipped_drafting() if prompt.kind == "paraphrase")
    config = replace(TrainConfig.for_base("minilm"), steps=7)
    jobs: list[tuple[str, dict[str, Any], str]] = [
        (job_kinds.TRAIN, TrainSpec("mine", config, training=("a", "b")).as_json(), "train"),
        (
            job_kinds.CLASSIFY,
            ClassifySpec("mine", instrument="veldania", models=("m",)).as_json(),
            "classify",
        ),
        (
            job_kinds.DRAFT,
            DraftSpec("veldania", "m", (paraphrase,), ("env-03",), "en", 5).as_json(),
            "draft",
        ),
        (CHECK, CheckSpec("veldania", "", "nli", ("en",)).as_json(), "check"),
    ]
    for kind, spec, verb in jobs:
        number = ended(demo, kind, spec)
        out = run(capsys, "jobs", demo, "edit", number)[1]
        assert out.startswith(f"workbench {verb} {demo} ")
        assert main([*out.split()[1:], "--help"]) == 0, "the command line knows every option of it"
    assert "--steps 7" in run(capsys, "jobs", demo, "edit", 1)[1]
    assert "--calls" not in run(capsys, "jobs", demo, "edit", 3)[1], "as it ships"


def test_drafts_with_prompts_that_options_do_not_say_are_not_made_up(
    demo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = replace(
        next(prompt for prompt in shipped_drafting() if prompt.kind == "paraphrase"),
        user="Say {statement}",
    )
    number = ended(demo, job_kinds.DRAFT, DraftSpec("veldania", "m", (own,)).as_json())
    code, out, err = run(capsys, "jobs", demo, "edit", number)
    assert (code, out) == (2, "")
    assert "--prompt FILE" in err


def test_changed_numbers_of_drafts_are_said(demo: Path) -> None:
    prompts = tuple(
        prompt.adjusted(calls=9, temperature=0.3)
        for prompt in shipped_drafting()
        if not prompt.bias
    )
    number = ended(demo, job_kinds.DRAFT, DraftSpec("veldania", "m", prompts[:1]).as_json())
    with Store.open(demo) as store:
        values = command_like(store, store.jobs.get(number)).values()
    assert (values["calls"], values["temperature"]) == (9, 0.3)


def test_hidden_jobs_are_counted_and_listed_when_asked_for(
    demo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ended(demo)
    assert "Job 1 is hidden" in run(capsys, "jobs", demo, "hide")[1]
    assert "1 hidden job left out; --hidden lists all." in run(capsys, "jobs", demo)[1]
    assert json.loads(run(capsys, "jobs", demo, "--json")[1]) == []
    assert json.loads(run(capsys, "jobs", demo, "--json", "--hidden")[1])[0]["hidden"] is True
    assert "no such model" in run(capsys, "jobs", demo, "--hidden")[1]
    assert "is listed again" in run(capsys, "jobs", demo, "show", 1)[1]
    assert "no such model" in run(capsys, "jobs", demo)[1]


def test_deleting_says_what_goes_and_asks(demo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    number = ended(demo)
    code, out, err = run(capsys, "jobs", demo, "delete", number)
    assert (code, "Also deleted: 1 attempt" in " ".join(out.split())) == (2, True)
    assert "give --yes" in err
    assert job(demo).state == "failed"
    code, out, _ = run(capsys, "jobs", demo, "delete", number, "--yes")
    assert (code, "Deleted job 1." in out) == (0, True)
    assert json.loads(run(capsys, "jobs", demo, "--json", "--hidden")[1]) == []


def test_acts_take_only_their_own_options(demo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ended(demo)
    assert "leave it out with hide" in run(capsys, "jobs", demo, "hide", 1, "--hidden")[2]
    assert (
        "answers the question of resume, retry and delete"
        in run(capsys, "jobs", demo, "hide", 1, "--yes")[2]
    )


@pytest.mark.e2e
def test_a_dry_run_says_that_a_probe_comes_first(
    demo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    long = ("run", demo, "--model", "scripted", "--dry-run")
    assert "First a probe: 20 answers" in run(capsys, *long)[1]
    assert "First a probe" not in run(capsys, *long, "--no-probe")[1]
    assert json.loads(run(capsys, *long, "--json")[1])["probe"] is True
    assert "First a probe" not in run(capsys, *long, "--statements", 1, "--samples", 1)[1]
    code, _, err = run(capsys, *long, "--least-readable", 2)
    assert (code, "--least-readable: found 2.0; give 0 to 1" in err) == (2, True)


@pytest.mark.e2e
def test_a_run_without_a_terminal_prints_its_probe_and_waits_for_nobody(
    demo: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mute = tmp_path / "mute.toml"
    mute.write_text('answers = ["Well."]\n')
    few = ("run", demo, "--model", f"scripted:{mute}", "--yes", "--statements", 2, "--samples", 5)
    code, out, _ = run(capsys, *few)
    assert (code, job(demo).state, job(demo).done) == (3, "paused", 0)
    assert "Probe: 0 of 20 answers are readable" in out
    assert "fewer than 25 % stop a run" in " ".join(out.split())
    assert f"Change the settings: workbench jobs {demo} edit 1" in out
    run(capsys, "jobs", demo, "cancel", 1)
    code, out, _ = run(
        capsys, *few, "--least-readable", 0, "--samples", 1, "--templates", 3, "--statements", 4
    )
    assert "Probe: 0 of 20" in out
    assert (code, job(demo, 2).state, job(demo, 2).done) == (3, "paused", 100), (
        "its first answers are all unreadable"
    )
    assert asdict(job(demo, 2))["probe"]["result"]["by_rule"] is True


class Typed(io.StringIO):
    """What a person types at a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("typed", "state", "done"), [("y\ny\n", "done", 240), ("\nn\n", "cancelled", 0)]
)
def test_a_person_at_a_terminal_sees_the_probe_and_is_asked(
    demo: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    typed: str,
    state: str,
    done: int,
) -> None:
    monkeypatch.setattr("sys.stdin", Typed(typed))
    code, out, err = run(
        capsys,
        "run",
        demo,
        "--model",
        "scripted",
        "--statements",
        2,
        "--templates",
        2,
        "--samples",
        5,
    )
    assert "Continue the run? [y/N]" in err
    assert "Answers of the probe" in out
    assert (job(demo).state, job(demo).done) == (state, done), out
    assert code == (0 if state == "done" else 3)
    assert ("workbench jobs" in out.splitlines()[-1]) == (state == "cancelled")


@pytest.mark.e2e
def test_a_command_that_was_changed_is_run_and_takes_the_jobs_place(
    demo: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch, "spawn", lambda *_: 0)
    asked(demo)
    monkeypatch.setattr("workbench.cli.jobs.at_terminal", lambda: True)
    monkeypatch.setattr("workbench.cli.jobs.edited", lambda line: f"{line} --seed 9 --yes --detach")
    code, out, _ = run(capsys, "jobs", demo, "edit", 1)
    assert (code, "Job 2 is running" in out) == (0, True)
    assert (job(demo).state, job(demo, 2).spec["seed"]) == ("cancelled", 9)
    monkeypatch.setattr("workbench.cli.jobs.edited", lambda _: "")
    assert "Nothing was started." in run(capsys, "jobs", demo, "edit", 2)[1]
