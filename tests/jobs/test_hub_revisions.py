"""Models of the hub at a revision: the commit that it stands for is the model's identity. The cache
is the hub here.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from stores.core.store import Store
from tests.inference.saved_models import save_t5
from tests.jobs.test_check_jobs import tiny_bert
from tests.jobs.test_snapshots import go_on
from workbench.audits.chosen_run import find_run
from workbench.audits.consistency.judged import judge_consistency
from workbench.classifier.config import TrainConfig
from workbench.classifier.dataset import Example
from workbench.classifier.model import inspect
from workbench.classifier.model import load as load_base
from workbench.classifier.train import train
from workbench.domain.designs import Design
from workbench.domain.findings import LABELS
from workbench.domain.names import parted
from workbench.domain.responses import Sampling
from workbench.errors import AmbiguousRun, ModelError, UnknownName
from workbench.evidence.runs import AnswerSelection
from workbench.inference.encoder import load_encoder, load_entailment
from workbench.jobs import launch
from workbench.pipeline.checking import CHECK, CheckSpec, plan_check
from workbench.pipeline.planning import spoken_name

FIRST, SECOND = "1" * 40, "2" * 40


def on_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: Path, second: Path) -> str:
    """Put two commits of a model into a hub's cache, the first of them tagged v1; return the
    model's id.
    """
    repository = tmp_path / "hub" / "models--somebody--tiny"
    for commit, saved in ((FIRST, first), (SECOND, second)):
        shutil.copytree(saved, repository / "snapshots" / commit)
    for name, commit in (("main", SECOND), ("v1", FIRST)):
        (repository / "refs").mkdir(exist_ok=True)
        (repository / "refs" / name).write_text(commit)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    return "somebody/tiny"


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The id of a language model with two commits of the same weights."""
    saved = Path(save_t5(tmp_path / "saved"))
    return on_hub(tmp_path, monkeypatch, saved, saved)


@pytest.fixture
def pairs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The id of a model of pairs of sentences with two commits of other weights."""
    folders = [tmp_path / "first", tmp_path / "second"]
    for place, folder in enumerate(folders):
        folder.mkdir()
        tiny_bert(folder, LABELS, seed=place)
    return on_hub(tmp_path, monkeypatch, *folders)


def encoder(name: str) -> tuple[str, str, list[float]]:
    model = load_encoder(name)
    return model.card.name, model.card.revision, model.encode(["A b."])[0].tolist()


def nli(name: str) -> tuple[str, str, list[float]]:
    model = load_entailment(name)
    (said,) = model.judge([("A b.", "C d.")])
    return model.card.name, model.card.revision, [said.entailment, said.neutral, said.contradiction]


def base(name: str) -> tuple[str, str, list[float]]:
    model = load_base(name)
    return inspect(name).place, model.revision, model.network.classifier.weight.flatten().tolist()


@pytest.mark.parametrize("load", [encoder, nli, base])
def test_encoders_inference_models_and_bases_are_loaded_at_the_commit_that_is_named(
    pairs: str, tmp_path: Path, load: Callable[[str], tuple[str, str, list[float]]]
) -> None:
    wanted = [load(str(tmp_path / folder))[2] for folder in ("first", "second")]
    assert wanted[0] != pytest.approx(wanted[1], abs=1e-3), "the two commits say different things"
    for revision, commit, said in (
        ("@v1", FIRST, 0),
        (f"@{FIRST}", FIRST, 0),
        ("", SECOND, 1),
        ("@main", SECOND, 1),
    ):
        name, found, numbers = load(f"{pairs}{revision}")
        assert (name, found) == (pairs, commit)
        assert numbers == pytest.approx(wanted[said])
    with pytest.raises(ModelError, match=f"{pairs}@v2"):
        load(f"{pairs}@v2")


def test_a_check_and_a_training_record_the_commit(
    filled: Store, pairs: str, tmp_path: Path
) -> None:
    asked = CheckSpec("small", f"{pairs}@v1", pairs)
    job = go_on(
        filled, launch.create_job(filled, CHECK, asked.as_json(), plan_check(filled, asked).total)
    )
    assert job.state == "done", launch.log_tail(filled.path, job.id, 50)
    recorded = filled.connection.execute("select name, revision from model order by id").fetchall()
    assert list(map(tuple, recorded)) == [(pairs, FIRST), (pairs, SECOND)]
    config = TrainConfig(
        base=f"{pairs}@v1", steps=1, batch=2, warmup=0, eval_every=1, max_length=64
    )
    rows = [
        Example(n, f"{label} {n}", "a", "a b", label)
        for n, label in enumerate(("agree", "disagree") * 2)
    ]
    card = train(config, rows, [], tmp_path / "trained", date="2026-01-02").card
    assert card is not None
    assert (card.base_revision, card.config.base) == (FIRST, f"{pairs}@v1")


def asked(store: Store, model: str) -> None:
    sampling = Sampling(max_new_tokens=2)
    design = Design(
        "small", model, samples=1, sampling=sampling, statements=("a-1",), variants=("original",)
    )
    job = go_on(store, launch.create(store, design))
    assert job.state == "done", launch.log_tail(store.path, job.id, 50)


@pytest.mark.e2e
def test_a_tag_and_the_commit_that_it_stands_for_are_one_model_and_another_commit_is_another(
    filled: Store, hub: str
) -> None:
    asked(filled, f"{hub}@v1")
    asked(filled, f"{hub}@{FIRST}")
    (run,) = filled.runs.list("reliability")
    assert (run.model, run.revision) == (hub, FIRST)
    draws = filled.connection.execute("select count(*) from draw").fetchone()[0]
    assert draws == run.prompts, "the commit was not asked what the tag had answered"
    asked(filled, hub)
    assert sorted(run.revision for run in filled.runs.list("reliability")) == [FIRST, SECOND]
    with pytest.raises(AmbiguousRun, match=f"revision {FIRST[:12]}(.|\n)*revision {SECOND[:12]}"):
        find_run(filled, "reliability", hub)
    for name in (f"{hub}@v1", f"{hub}@{FIRST}", f"{hub}@{FIRST[:7]}"):
        assert find_run(filled, "reliability", name).revision == FIRST
    with pytest.raises(UnknownName):
        find_run(filled, "reliability", f"{hub}@v2")
    found = judge_consistency(filled, AnswerSelection(models=(f"{hub}@v1",)))
    assert [one.run.revision for one in found.runs] == [FIRST]


def test_a_prompt_calls_a_model_by_its_name_without_the_revision() -> None:
    assert spoken_name("somebody/tiny@v1") == "tiny"


@pytest.mark.parametrize(
    "name", ["./tiny@v1", "/models/tiny@v1", "a/b/tiny@v1", "scripted:x@y", "openai:a@http://h/v1"]
)
def test_paths_and_served_models_have_no_revision(name: str) -> None:
    assert parted(name) == (name, "")
