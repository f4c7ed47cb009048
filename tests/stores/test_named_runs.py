"""What lists and figures print as the name of a run is accepted as its name, of local and of served
models.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from stores.core.store import Store
from stores.runs.run_rows import Run
from tests.cli.test_commands import data, run
from tests.conftest import instrument, new_store
from tests.jobs.test_personas_asked import DESIGN, Swayed, ask
from workbench.audits.chosen_run import find_run, run_named
from workbench.domain.responses import ModelCard
from workbench.errors import AmbiguousRun, UnknownName, UsageError
from workbench.evidence.runs import AnswerSelection, models_named, named_runs, names_of_models
from workbench.tui.results.options_dialog import run_words

SERVED = ModelCard(
    "openai:gpt-9@http://gpu7/v1", "unknown", "openai", "", "", snapshot="gpt-9-2026-01"
)


class Served(Swayed):
    """Answers as a server would that reports a snapshot."""

    @property
    def card(self) -> ModelCard:
        return SERVED


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store in which a local and a served model answered without a persona and with two of
    them.
    """
    path = tmp_path_factory.mktemp("named") / "audit.db"
    with new_store(path) as store:
        store.instruments.add(instrument())
        ask(store, replace(DESIGN, model=SERVED.name), Served())
        ask(store)
    return path


def short(run: Run) -> str:
    """Return the name that help pages print: the model and the persona."""
    return " · ".join([run.model, *([f"persona {run.persona_name}"] if run.persona else [])])


@pytest.mark.parametrize("name_of", [short, lambda run: run.named, lambda run: run.label])
def test_every_run_is_found_by_its_printed_names(
    asked: Path, name_of: Callable[[Run], str]
) -> None:
    with Store.open(asked) as store:
        runs = named_runs(store.runs.list(personas=True))
        assert len(runs) == 6
        there = {name: run.model for name, run in runs.items()}
        for name, named in runs.items():
            assert run_named(name_of(named), there | {named.label: named.model}) in (
                name,
                named.label,
            )
            assert find_run(store, "reliability", name_of(named)).named == named.named
            assert models_named(store, name_of(named)) == {named.model_id}


def test_names_with_and_without_a_persona_mean_these_personas() -> None:
    assert AnswerSelection(models=("m",)).templates.personas == ()
    assert AnswerSelection(models=("m", "n · persona nurse")).templates.personas == (
        "none",
        "nurse",
    )
    assert AnswerSelection(models=("m",)).with_personas_in(
        ["m", "m · persona nurse"]
    ).templates.personas == (
        "none",
        "nurse",
    )


def test_a_name_that_several_runs_have_names_them() -> None:
    there = {"m · snapshot 1": "m", "m · snapshot 2": "m", "m · snapshot 2 · persona nurse": "m"}
    with pytest.raises(AmbiguousRun, match="'m' was asked in 3 ways"):
        run_named("m", there)
    assert run_named("m · snapshot 2", there) == "m · snapshot 2"
    assert run_named("m · persona nurse", there) == "m · snapshot 2 · persona nurse"
    with pytest.raises(UnknownName, match="m · persona teacher"):
        run_named("m · persona teacher", there)


def test_what_takes_models_takes_the_names_of_their_runs_but_no_persona(asked: Path) -> None:
    with Store.open(asked) as store:
        whole = f"{SERVED.name} · snapshot {SERVED.snapshot}"
        assert names_of_models(store, [whole, "scripted", "nobody"]) == (
            SERVED.name,
            "scripted",
            "nobody",
        )
        with pytest.raises(UsageError, match=f"is a run with a persona.*name {SERVED.name}$"):
            names_of_models(store, [f"{whole} · persona nurse"])


@pytest.mark.parametrize("audit", ["reliability", "consistency"])
@pytest.mark.parametrize("model", ["scripted", SERVED.name])
def test_show_compares_a_model_with_its_persona(
    asked: Path, model: str, audit: str, capsys: pytest.CaptureFixture[str]
) -> None:
    compared = data(capsys, "show", asked, audit, "--compare", model, f"{model} · persona nurse")
    snapshot = f" · snapshot {SERVED.snapshot}" if model == SERVED.name else ""
    assert [row["run"] for row in compared["tables"][0]["rows"]] == [
        f"{model}{snapshot}",
        f"{model}{snapshot} · persona nurse",
    ]


@pytest.mark.e2e
def test_a_report_holds_the_runs_that_are_named(
    asked: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = f"{SERVED.name} · persona nurse"
    code, _, err = run(capsys, "report", asked, tmp_path / "out", "--compare", SERVED.name, name)
    assert (code, err) == (0, "")
    assert "side by side" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


def test_no_two_lines_of_the_list_of_runs_are_the_same(asked: Path) -> None:
    with Store.open(asked) as store:
        lines = [run_words(run).plain for run in store.runs.list("reliability", personas=True)]
    assert len(set(lines)) == 6
    first = [line.partition("\n")[0] for line in lines]
    assert [line.split(" · ")[1] for line in first] == [
        "persona none",
        "persona nurse",
        "persona talk",
    ] * 2


def test_names_that_lists_cut_fold_or_lengthen_are_taken_back(
    asked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Store.open(asked) as store:
        label = next(
            run.label for run in store.runs.list(personas=True) if run.persona_name == "nurse"
        )
    for audit in ("reliability", "consistency"):
        for model, nurse in (
            (SERVED.name[:-4] + "…", label),
            ("open ai:gpt-9 @http://gpu7/v1", label[:-15] + "…"),
        ):
            compared = data(capsys, "show", asked, audit, "--compare", model, nurse)
            persona = [row["run"].partition("persona ")[2] for row in compared["tables"][0]["rows"]]
            assert persona == ["", "nurse"]
        assert data(capsys, "show", asked, audit, "--model", label)
    code, _, err = run(
        capsys, "show", asked, "consistency", "--compare", SERVED.name, "scripted · persona…"
    )
    assert (code, "may be 2 names" in err) == (2, True)


@pytest.mark.parametrize(
    ("persona", "choices"),
    [("all", "--persona none, nurse or talk"), ("nurse,talk", "--persona nurse or talk")],
)
def test_an_audit_of_one_run_says_which_personas_can_be_given(
    asked: Path, persona: str, choices: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = run(
        capsys, "show", asked, "reliability", "--model", "scripted", "--persona", persona
    )
    assert (code, f"Give {choices}:" in err) == (2, True)
    compared = data(
        capsys, "show", asked, "consistency", "--model", "scripted", "--persona", persona
    )
    respondents = {row["respondent"] for row in compared["tables"][0]["rows"]}
    assert {"scripted · persona nurse", "scripted · persona talk"} <= respondents
    assert ("scripted" in respondents) == (persona == "all")
