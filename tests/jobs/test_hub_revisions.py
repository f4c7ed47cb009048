"""Models of the hub at a revision: the commit that it stands for is the model's identity. The cache is the hub here."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from stores.store import Store
from tests.inference.saved_models import save_t5
from tests.jobs.test_snapshots import go_on
from workbench import pipeline
from workbench.domain.designs import Design
from workbench.domain.names import parted
from workbench.domain.responses import Sampling
from workbench.errors import AmbiguousRun, UnknownName
from workbench.jobs import launch
from workbench.pipeline.planning import spoken_name

FIRST, SECOND = "1" * 40, "2" * 40


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The id of a model with two commits, the first of them tagged v1."""
    repository = tmp_path / "hub" / "models--somebody--tiny"
    saved = Path(save_t5(tmp_path / "saved"))
    for commit in (FIRST, SECOND):
        shutil.copytree(saved, repository / "snapshots" / commit)
    for name, commit in (("main", SECOND), ("v1", FIRST)):
        (repository / "refs").mkdir(exist_ok=True)
        (repository / "refs" / name).write_text(commit)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    return "somebody/tiny"


def asked(store: Store, model: str) -> None:
    sampling = Sampling(max_new_tokens=2)
    design = Design("small", model, samples=1, sampling=sampling, statements=("a-1",), variants=("original",))
    job = go_on(store, launch.create(store, design))
    assert job.state == "done", launch.log_tail(store.path, job.id, 50)


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
        pipeline.find_run(filled, "reliability", hub)
    for name in (f"{hub}@v1", f"{hub}@{FIRST}", f"{hub}@{FIRST[:7]}"):
        assert pipeline.find_run(filled, "reliability", name).revision == FIRST
    with pytest.raises(UnknownName):
        pipeline.find_run(filled, "reliability", f"{hub}@v2")
    found = pipeline.consistency(filled, pipeline.ConsistencyChoice(models=(f"{hub}@v1",)))
    assert [one.run.revision for one in found.runs] == [FIRST]


def test_a_prompt_calls_a_model_by_its_name_without_the_revision() -> None:
    assert spoken_name("somebody/tiny@v1") == "tiny"


@pytest.mark.parametrize(
    "name", ["./tiny@v1", "/models/tiny@v1", "a/b/tiny@v1", "scripted:x@y", "openai:a@http://h/v1"]
)
def test_paths_and_served_models_have_no_revision(name: str) -> None:
    assert parted(name) == (name, "")
