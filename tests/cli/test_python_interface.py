"""`import workbench`: the figures of the shell as values, rows as data frames, runs; nothing
changes unless asked.
"""

from __future__ import annotations

import ast
import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import workbench
from stores.core.store import Store
from tests import typed_options
from tests.choice_questions import asked_store
from tests.cli.test_annotation_commands import label
from tests.conftest import instrument, new_store
from tests.jobs.test_response_bias_runs import DESIGN, ask, pairs
from tests.questionnaire_stores import card, ideal, panel, predict
from tests.stores.test_thoughts import asked, persona
from tests.tui import bias_stores
from tests.tui.annotation_stores import answers, labelling_store
from tests.tui.audit_runs import NO, UNREADABLE, YES, audited
from workbench import registry
from workbench.cli.main import main
from workbench.domain.designs import Design
from workbench.domain.instruments import Instrument, with_pairs
from workbench.domain.responses import Sampling
from workbench.errors import (
    FieldError,
    InputError,
    JobError,
    NotAStore,
    OlderStore,
    ReadOnlyStore,
    StoreError,
    UnknownName,
    UsageError,
    WorkbenchError,
)
from workbench.formats.read import read_shipped
from workbench.help import topic
from workbench.inference.scripted.answers import LetterHabits
from workbench.inference.scripted.model import ScriptedModel, ScriptedPersona
from workbench.jobs import launch
from workbench.options.option import Option, Type
from workbench.tidy.answers import in_a_word
from workbench.tidy.columns import ValueType as Kind
from workbench.tidy.export import KINDS

BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
HOSTILE = "<script>alert(1)</script> \x1b[31m"
FEW = {"bias_score": {"draws": 50}, "consistency": {"resamples": 50}}
"options that make figures quick"


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A store with answers for each audit, and `pair` with those of two models to the first."""
    folder = tmp_path_factory.mktemp("stores")
    judged = audited(folder / "judged.db")
    pair = audited(
        audited(folder / "pair.db"), lambda probe: ((NO, 20), (YES, 9), (UNREADABLE, 1)), "other"
    )
    with new_store(folder / "people.db") as store:
        store.instruments.add(panel())
        for model in ("tuned", "plain"):
            predict(store, ideal(store), card(model), conditions=("qm", "zero-shot"))
    with new_store(folder / "choices.db") as store:
        store.instruments.add(with_pairs(Instrument(DESIGN.instrument, "Choices", ()), pairs(), ()))
        for model in ("first", "second"):
            habits = LetterHabits(weights=(3.0, 1.0), by_text=0.0, invalid=0.25)
            ask(
                store,
                ScriptedModel(ScriptedPersona(letters=habits), name=model),
                replace(DESIGN, samples=4, model=model),
            )
    with new_store(folder / "sides.db") as store:
        store.instruments.add(bias_stores.sided())
        asked(
            store,
            "scripted",
            audit="statement_labels",
            instrument="two-tests",
            samples=1,
            family="labels",
        )
    with new_store(folder / "halves.db") as store:
        store.instruments.add(read_shipped("veldania"))
        ask(
            store,
            ScriptedModel(),
            Design("veldania", "scripted", "contamination", 1, Sampling(), family="guided"),
        )
    with new_store(folder / "survey.db") as store:
        store.instruments.add(read_shipped("veldania_panel"))
        asked_ = Design(
            "veldania_panel", "scripted", "representation", 4, Sampling(), family="survey"
        )
        ask(store, ScriptedModel(), asked_)
    return {
        "reliability": judged,
        "consistency": judged,
        "bias_score": bias_stores.full(folder / "bias.db"),
        "statement_labels": folder / "sides.db",
        "questionnaire": folder / "people.db",
        "response_bias": folder / "choices.db",
        "contamination": folder / "halves.db",
        "representation": folder / "survey.db",
        "pair": pair,
    }


def hashed(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()


@pytest.mark.e2e
@pytest.mark.parametrize("audit", registry.SHIPPED)
def test_figures_are_those_that_the_shell_prints(
    audit: str, stores: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    path, options = stores[audit], FEW.get(audit, {})
    flags = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    words = registry.audit(audit).command.replace("STORE", str(path)).split()
    assert main([*words, *flags, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    before = hashed(path)
    with workbench.open(path) as store:
        assert audit in store.audits
        found = store.results(audit, **options)
        assert json.loads(json.dumps(found.to_dict())) == printed
        assert [table["name"] for table in printed["tables"]] == [
            one.figure.name for one in found.tables.values()
        ]
        for name, table in found.tables.items():
            assert table.name == name
            assert list(table) == table.to_dict()["rows"]
            assert table._repr_html_().startswith("<section")
        assert found._repr_html_().startswith("<p>")
        assert found.methods or audit in ("statement_labels", "questionnaire", "contamination")
    assert hashed(path) == before


SAMPLES: dict[str, Any] = {
    "sampling": "T 1",
    "dtype": "float32",
    "snapshot": "unknown",
    "fingerprint": "each",
    "language": "en",
    "persona": "none",
    "family": "chat",
    "template_version": "chat=2",
    "tests": "sampling,negation",
    "template": "personal-1",
    "failed": "negation",
    "issue": "Law and order",
    "party": "nl/Greens",
    "labels": "instrument",
    "show": "targets,tokens",
    "target": "t1",
    "condition": "qm,zero-shot",
    "bias": "odd_even,acquiescence",
    "questions": "odd_even",
    "question": "q1",
    "queue": "test",
    "reader": "label-words",
}
"a value as it is typed for options without choices; several are separated by commas"
SEVERAL = {
    "language",
    "family",
    "template_version",
    "tests",
    "show",
    "condition",
    "bias",
    "persona",
}


def typed(option: Option, store: workbench.Store, audit: str) -> Any:
    """Return a value other than the default, as it is typed."""
    if option.type is Type.FLAG:
        return True
    if option.choices:
        return next(name for name in reversed([*option.choices]) if name != option.default)
    there = {"model": store.models[0], "instrument": store.instruments[0]}
    if audit in registry.audits() and registry.audit(audit).asks:
        there["family"] = registry.audit(audit).defaults.family
    if (named := {**SAMPLES, **there}.get(option.name)) is not None:
        return named
    wanted = {
        "draws": "120",
        "resamples": "40",
        "alpha": "0.01",
        "low": "0.4",
        "high": "0.6",
        "threshold": "0.5",
    }
    return wanted.get(option.name, "3" if option.type is Type.WHOLE else "0.25")


@pytest.mark.e2e
@pytest.mark.parametrize("audit", registry.SHIPPED)
def test_every_option_says_in_python_what_it_says_in_the_shell(
    audit: str, stores: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    of, path, quick = registry.audit(audit), stores[audit], FEW.get(audit, {})
    words = of.command.replace("STORE", str(path)).split()
    same, refused = [], []
    with workbench.open(path, write=True) as store:
        for option in of.figure_options:
            if option.name == "compare":
                continue  # below
            value = typed(option, store, audit)
            options: dict[str, Any] = {**quick, option.name: value}
            flags = [word for name, one in options.items() for word in _flag(name, one)]
            code = main([*words, *flags, "--json"])
            printed = capsys.readouterr().out
            for given in (
                [value, value.split(","), tuple(value.split(","))]
                if option.name in SEVERAL
                else [value]
            ):
                asked = {**options, option.name: given}
                if code:
                    with pytest.raises(WorkbenchError):
                        store.results(audit, **asked)
                else:
                    found = store.results(audit, **asked)
                    assert json.loads(json.dumps(found.to_dict())) == json.loads(printed), (
                        option.name
                    )
            (refused if code else same).append(option.name)
    assert len(same) > len(refused), (same, refused)


def _flag(name: str, value: object) -> list[str]:
    flag = f"--{name.replace('_', '-')}"
    return [flag] if value is True else [flag, str(value)]


COMPARED = {"reliability": "pair", "consistency": "pair"}
"audit -> the store in which there are two models"


@pytest.mark.e2e
@pytest.mark.parametrize(
    "audit", [name for name in registry.SHIPPED if registry.audit(name).compares]
)
def test_runs_are_compared_in_python_as_in_the_shell(
    audit: str, stores: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    path, quick = stores[COMPARED.get(audit, audit)], FEW.get(audit, {})
    words = registry.audit(audit).command.replace("STORE", str(path)).split()
    with workbench.open(path, write=True) as store:
        first, second = store.models[:2]
        flags = [word for name, one in quick.items() for word in _flag(name, one)]
        assert main([*words, *flags, "--json", "--compare", first, second]) == 0
        printed = json.loads(capsys.readouterr().out)
        for given in (f"{first},{second}", f"{first}; {second}", [first, second], (first, second)):
            found = store.results(audit, **quick, compare=given)
            assert json.loads(json.dumps(found.to_dict())) == printed
        for runs in ((first, second), ([first, second],), ((name for name in (first, second)),)):
            assert store.compare(*runs, audit=audit, **quick).to_dict() == found.to_dict()
        assert (
            store.results(audit, **quick, compare=(name for name in (first, second))).to_dict()
            == found.to_dict()
        )
        with pytest.raises(WorkbenchError, match="which has no order; give a list"):
            store.results(audit, **quick, compare={first, second})
        asked = workbench.Run(store, audit, second, None, 0)
        assert asked.results(**quick, compare=[first, second]).to_dict() == found.to_dict(), (
            "another model, too"
        )
        with pytest.raises(UsageError, match="two or more"):
            store.compare(first, audit=audit)
        with pytest.raises(UsageError, match="two or more"):
            store.compare(audit=audit)


MISTAKES = """
from typing import Any
import workbench
store = workbench.open("x.db")
store.results("reliability", minimum=6, tests=["sampling", "negation"], as_published=True)
store.results("consistency", resamples=200, compare=("a", "b"))
for audit in store.audits:
    store.results(audit, model="x", family=["chat"])
added: dict[str, Any] = {"longest": 3}
store.results("brevity", **added)
store.compare("a", "b", audit="bias_score", as_published=True)
store.plan("plan.toml", ["a"], judged={"as_published": True}, samples=6)
workbench.run(store, "scripted", statements=4, temperature="server").results(as_published=True)
store.agreement(queue="test", seed=2)
for row in store.answers()[:2]:
    print(row["label"])
store.results(minimun=3)
store.results("reliability", minimum="many")
store.results("reliability", as_published="printd")
store.results("consistency", unit="responses")
store.compare("a", "b", audit="consistency", resample=3)
store.plan("plan.toml", judged={"ruler": "coded"})
store.plan("plan.toml", sample=6)
workbench.run(store, "scripted", sample=6)
workbench.run(store, "scripted", samples="6")
workbench.run(store, "scripted").results(ruler="coded")
store.agreement(ques="test")
"""


@pytest.mark.e2e
def test_a_type_checker_rejects_a_misspelt_option_and_a_value_of_another_type(
    tmp_path: Path,
) -> None:
    file = tmp_path / "study.py"
    file.write_text(MISTAKES)
    root = Path(workbench.__file__).parents[1]
    cache = Path(os.environ.get("WORKBENCH_MYPY_CACHE", tmp_path / "cache"))
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--follow-imports=silent",
        "--config-file",
        "pyproject.toml",
    ]
    done = subprocess.run(
        [*command, "--cache-dir", str(cache), str(file)], capture_output=True, text=True, cwd=root
    )
    found = {int(one) for one in re.findall(r"study\.py:(\d+): error", done.stdout)}
    lines = MISTAKES.splitlines()
    assert found == set(range(1 + lines.index("store.results(minimun=3)"), len(lines) + 1)), (
        done.stdout + done.stderr
    )


def test_commands_that_start_jobs_are_methods(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    with workbench.open(path, write=True, create=True) as store:
        store.opened.instruments.add(instrument())
        drafted = store.draft(model="rule", kind="negation", statements=2)
        assert (drafted.job, drafted.data["drafts"]) == (None, 2)
        assert drafted.message == "2 drafts wait for review."
        with pytest.raises(UsageError, match="draft takes no 'kinds'; did you mean 'kind'"):
            store.draft(model="rule", kinds="negation")  # type: ignore[call-arg]
        with pytest.raises(UsageError, match=r"no free-text answers|no classifier"):
            store.classify()
    with workbench.open(path) as store, pytest.raises(ReadOnlyStore, match="draft writes to it"):
        store.draft(model="rule", kind="negation")


def test_a_report_is_a_method_with_the_options_of_the_verb(
    stores: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, folder = stores["reliability"], tmp_path / "out"
    assert main(["report", str(path), str(folder), "--seed", "3", "--json"]) == 0
    of_shell = {file: hashed(Path(file)) for file in json.loads(capsys.readouterr().out)["files"]}
    shutil.rmtree(folder)
    with workbench.open(path) as store:
        written = store.report(folder, seed=3)
        assert {file: hashed(Path(file)) for file in written.data["files"]} == of_shell
        assert written.message.startswith(f"{folder / 'report.html'}  ")
        with pytest.raises(UnknownName, match="nonsense"):
            store.report(tmp_path / "none", audit=["reliability", "nonsense"])
        with pytest.raises(FieldError, match="found 'some'; give failed, all or none"):
            store.report(tmp_path / "none", answers="some")  # type: ignore[arg-type]
    assert not (tmp_path / "none").exists()


def test_instruments_and_rows_are_exported_as_in_the_shell(
    stores: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = stores["reliability"]
    with workbench.open(path) as store:
        (name,) = store.instruments
        written = store.export(tmp_path / "instrument", "instrument", people="none")
        rows = store.export(tmp_path / "rows", ["answers", "labels"], instrument=[name])
        with pytest.raises(UsageError, match="--expand: only for rows"):
            store.export(tmp_path / "none", "instrument", expand=True)
        with pytest.raises(UsageError, match="--people is only for an instrument"):
            store.export(tmp_path / "none", people="pseudonyms")
        with pytest.raises(UsageError, match="export takes no 'persons'"):
            store.export(tmp_path / "none", persons="none")  # type: ignore[call-overload]
    assert not (tmp_path / "none").exists()
    assert [file.name for file in rows.files] == ["answers.csv", "labels.csv"]
    assert main(["export", str(path), str(tmp_path / "shell"), "--people", "none", "--json"]) == 0
    files = json.loads(capsys.readouterr().out)["files"]
    assert [hashed(file) for file in written.files] == [hashed(Path(file)) for file in files]
    assert written.format == "csv"


def test_prompts_are_written_as_in_the_shell(
    stores: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, words = (
        stores["reliability"],
        ["--layout", "inspect", "--samples", "2", "--statements", "1"],
    )
    assert main(["prompts", str(path), str(tmp_path / "shell"), *words, "--json"]) == 0
    of_shell = json.loads(capsys.readouterr().out)
    with workbench.open(path) as store:
        written = store.prompts(tmp_path / "python", layout="inspect", samples=2, statements=1)
        with pytest.raises(UsageError, match="--exact computes probabilities"):
            store.prompts(tmp_path / "none", exact=True)
        with pytest.raises(UsageError, match="--bias belongs to --audit response_bias"):
            store.prompts(tmp_path / "none", bias="odd_even")
    assert dict(written.data) == {**of_shell, "folder": str(tmp_path / "python")}
    for name in of_shell["files"]:
        assert hashed(tmp_path / "python" / name) == hashed(tmp_path / "shell" / name)


def test_a_queue_is_drawn_as_in_the_shell(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.db"
    with new_store(path) as opened:
        opened.instruments.add(instrument())
    words = ["--name", "sides", "--purpose", "test", "--codebook", "side", "--limit", "2", "--json"]
    assert main(["sample", str(path), *words, "--dry-run"]) == 0
    of_shell = json.loads(capsys.readouterr().out)
    with workbench.open(path) as store, pytest.raises(ReadOnlyStore, match="sample writes to it"):
        store.sample(name="sides", purpose="test", codebook="side")
    with workbench.open(path, write=True) as store:
        drawn = store.sample(name="sides", purpose="test", codebook="side", limit=2)
        assert drawn.message.startswith("sides: 2 items for test, 4 labels to give")
        assert store.opened.queues.get("sides").needed == 4
    assert json.loads(json.dumps(drawn.data)) == {**of_shell, "made": True}


def test_people_issues_and_rulings_are_changed_as_in_the_shell(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.db"
    assert main(["init", str(path), "--demo"]) == 0
    with workbench.open(path, write=True) as store:
        for previous in ("none", "0"):
            labelled = store.label_issue(("for-01", "law_and_order", "1"), annotator="Ada")
            assert labelled.message == f"for-01 law_and_order: +1 (before: {previous})"
            store.label_issue(("for-01", "law_and_order", "0"), annotator="Ada")
        assert store.describe_person("Ada", set={"country": "Italy"}).data == {
            "person": "Ada",
            "fields": {"country": "Italy"},
        }
        exported = store.export_issue_labels(tmp_path / "labels.csv")
        assert store.import_issue_labels(tmp_path / "labels.csv").data["added"] == 0
        ruled = store.rule("for-01", "excluded", reason="unclear", as_="Bob")
        (ruling,) = ruled.data
        assert ruled.message == "Bob rules excluded: for-01."
        store.export_rulings(tmp_path / "rulings.jsonl")
        with pytest.raises(UsageError, match="give --as NAME"):
            store.undo_ruling(ruling["uid"])
        assert store.undo_ruling(ruling["uid"], as_="Bob").data["undoes"] == ruling["uid"]
        assert store.import_rulings(tmp_path / "rulings.jsonl").data == {"added": 0, "known": 1}
        with pytest.raises(UsageError, match="give your name: --annotator NAME"):
            store.set_gold_minimum(1)
        assert store.opened.instruments.names() == ("veldania",), "the connection is as it was"
    with workbench.open(path) as store, pytest.raises(ReadOnlyStore, match="rule writes to it"):
        store.rule("for-01", "excluded", reason="unclear", as_="Bob")
    capsys.readouterr()
    assert main(["issues", str(path), "--export", str(tmp_path / "shell.csv"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["labels"] == exported.data["labels"]


def test_labels_and_codebooks_are_moved_and_changed_as_in_the_shell(tmp_path: Path) -> None:
    first = labelling_store(tmp_path / "first.db", answers(2))
    second = Path(shutil.copy(first, tmp_path / "second.db"))
    label(first, "ana", ("agree", "agree"))
    label(first, "bob", ("agree", "neutral"))
    with workbench.open(first, write=True) as store:
        n_events = store.export_labels(tmp_path / "labels.csv").data["events"]
        (disputed,) = [
            item.context.unit for item in store.opened.labels.judged("stance") if item.open
        ]
        decided = store.adjudicate(disputed, label="neutral", annotator="eve", reason="slip")
        assert decided.message == f"Item {disputed} is neutral, decided by eve."
        file = tmp_path / "stance.toml"
        store.export_codebook(file)
        file.write_text(file.read_text().replace('question = "', 'question = "Really: ', 1))
        assert store.change_codebook(file, annotator="eve").data["version"] == 2
        assert store.restore_codebook(1, annotator="eve").data["codebook"] == "stance"
        with pytest.raises(UsageError, match="give your name: --annotator NAME"):
            store.restore_codebook(1)
    with workbench.open(second, write=True) as store:
        assert store.import_labels(tmp_path / "labels.csv").data["added"] == n_events
        merged = store.merge_labels(first).data
        assert (merged["known"], merged["added"]) == (n_events, 1), "the decision is new"
        with pytest.raises(UsageError, match="is this store itself"):
            store.merge_labels(second)


def test_statements_are_written_and_changed_as_in_the_shell(tmp_path: Path) -> None:
    with workbench.open(tmp_path / "x.db", write=True, create=True) as store:
        store.start_instrument("mine", title="Mine")
        added = store.add_statement("s-1", text="Taxes should rise.", person="Ada", tags="a,b")
        assert added.data == {"said": added.message, "refs": ["s-1"]}
        store.add_wording(("s-1", "negation"), text="Taxes should not rise.", person="Ada")
        store.edit_wording("s-1", text="Taxes must rise.", person="Ada")
        store.set_field({"topic": "money"}, refs="s-1", person="Ada")
        store.replace_text(("must", "may"), refs="s-1", person="Ada")
        store.rename_statement(("s-1", "s-2"), person="Ada")
        texts = {row["variant"]: row["wording"] for row in store.statements()}
        assert texts == {"original": "Taxes may rise.", "negation": "Taxes should not rise."}
        undone = store.undo_edit(person="Ada")
        assert undone.message.startswith("Undone: ")
        assert {row["statement"] for row in store.statements()} == {"s-1"}
        with pytest.raises(UsageError, match="give REF NEW"):
            store.rename_statement(("s-1",), person="Ada")
        with pytest.raises(UnknownName, match="no instrument is named 'other'"):
            store.archive_statements("s-1", instrument="other", person="Ada")


def test_questions_and_their_forms_are_written_as_in_the_shell(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "town.db"
    asked_store(path).close()
    assert main(["choices", str(path), "forms", "--json"]) == 0
    of_shell = json.loads(capsys.readouterr().out)
    with workbench.open(path, write=True) as store:
        text = "How are the trees?\nA. Good\nB. Fair\nC. Bad"
        added = store.add_question(bias="odd_even", key="trees", text=text, person="Ada")
        assert added.data["refs"] == ["odd_even.trees"]
        made = store.make_forms(questions=["fares", "weather"], person="Ada")
        assert made.data["written"]
        of_both = [each for each in of_shell["proposals"] if "sights" not in each["ref"]]
        assert made.data["proposals"] == of_both
        again = store.make_forms(questions=["fares", "weather"], person="Ada")
        assert (again.data["written"], again.data["there"]) == (False, 2)
        store.perturb_questions(kinds=["key_typo"], draws=2, questions="fares", person="Ada")
        variants = {row["variant"] for row in store.statements(search="buses")}
        assert variants == {"original", "changed", "key_typo-1", "key_typo-2"}
        with pytest.raises(UnknownName, match="--kinds: found 'nothing'"):
            store.perturb_questions(kinds="nothing")


def test_jobs_are_steered_as_in_the_shell(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch, "spawn", lambda *_: 0)
    path = tmp_path / "x.db"
    with new_store(path) as opened:
        opened.instruments.add(instrument())
        launch.create(opened, Design("small", "scripted", samples=2))
    with workbench.open(path, write=True) as store:
        paused = store.pause_job()
        assert paused.message == "Job 1 is paused. Continue: workbench jobs STORE resume 1"
        assert (paused.data["id"], paused.data["state"]) == (1, "paused")
        assert store.set_concurrency(1, 4).message == "Job 1: at most 4 at once."
        assert store.resume_job(1).data["state"] == "queued"
        assert store.cancel_job(1).data["state"] == "cancelled"
        with pytest.raises(JobError, match="nothing that job 1 asked has failed"):
            store.retry_job(1)
        assert [job["state"] for job in store.jobs()] == ["cancelled"]
        assert store.hide_job(1).data["hidden"]
        assert (len(store.jobs()), len(store.jobs(hidden=True))) == (0, 1)
        assert not store.unhide_job(1).data["hidden"]
        assert store.delete_job(1).data["deleted"] == 1
        with pytest.raises(UsageError, match="Jobs it fits: none"):
            store.cancel_job()
    capsys.readouterr()
    assert main(["jobs", str(path), "--json", "--hidden"]) == 0
    assert json.loads(capsys.readouterr().out) == []


def test_a_control_sample_is_drawn_and_withdrawn_as_in_the_shell(
    stores: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = Path(shutil.copy(stores["consistency"], tmp_path / "x.db"))
    with workbench.open(path, write=True) as store:
        drawn = store.draw_control_sample(6, as_="Ada", seed=4)
        assert re.fullmatch(r"Drew 6 answers of smol · .* \(seed 4\)\.", drawn.message)
        assert (drawn.data["drawn"], drawn.data["different"]) == (6, 6)
        with pytest.raises(UsageError, match="6 answers are open"):
            store.draw_control_sample(6)
        withdrawn = store.withdraw_control_sample(model="smol")
        assert withdrawn.data["answers"] == 6
        with pytest.raises(UnknownName, match="no reliability answers by nobody"):
            store.draw_control_sample(6, model="nobody")
        store.draw_control_sample(6, as_="Ada", seed=4)
    capsys.readouterr()
    assert main(["review", str(path), "--json"]) == 0
    of_shell = json.loads(capsys.readouterr().out)
    assert (of_shell["control"]["seed"], of_shell["control"]["drawn_by"]) == (4, "Ada")
    with workbench.open(path) as store:
        assert json.loads(json.dumps(store.review().to_dict())) == of_shell
        blind = store.review(as_="Eva", blind=True).to_dict()
        assert blind["control"]["withheld"]
        assert "model" not in blind["run"]


def test_answers_of_a_survey_are_moved_as_in_the_shell(tmp_path: Path) -> None:
    file = tmp_path / "survey.csv"
    file.write_text("respondent,ref,variant,answer\nzoe,a-1,original,1\n", encoding="utf-8")
    with new_store(tmp_path / "x.db") as opened:
        opened.instruments.add(replace(instrument(), survey=()))
    with workbench.open(tmp_path / "x.db", write=True) as store:
        added = store.import_survey_answers(file)
        assert added.message.startswith("1 answers of 1 respondent added to small")
        assert added.data["added"] == 1
    with workbench.open(tmp_path / "x.db") as store:
        assert store.export_survey_answers(tmp_path / "out.csv").data["answers"] == 1
        (row,) = store.respondents("small").tables["respondents"]
        assert (row["respondent"], row["answered"]) == ("zoe", 1)
        with pytest.raises(ReadOnlyStore, match="import_survey_answers writes to it"):
            store.import_survey_answers(file)


def test_questionnaires_are_changed_as_in_the_shell(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    with new_store(path) as opened:
        opened.instruments.add(read_shipped("veldania_panel"))
    with workbench.open(path, write=True) as store:
        mapped = store.set_scale("four_point", map={"rather yes": "neutral"}, person="Ada")
        assert mapped.message.startswith("1,213 answers mean something else now.")
        assert mapped.data["scale"]["name"] == "four_point"
        changed = store.set_question("fin-01", yes="none", person="Ada")
        assert changed.message == "fin-01: context, question, four_point, a yes leans nowhere"
        assert changed.data["question"]["leaning"] is None
        with pytest.raises(UsageError, match="give what to change"):
            store.set_question("fin-01", person="Ada")


def test_the_types_are_those_of_the_declared_options() -> None:
    """`python -m tests.typed_options` writes them anew."""
    assert typed_options.PLACE.read_text(encoding="utf-8") == typed_options.typed()


def test_every_public_member_says_what_it_is() -> None:
    silent = []
    for file in (Path(workbench.__file__).parent / "api").glob("*.py"):
        for of in ast.parse(file.read_text(encoding="utf-8")).body:
            if not isinstance(of, ast.ClassDef | ast.FunctionDef) or of.name.startswith("_"):
                continue
            if ast.get_docstring(of) is None:
                silent.append(of.name)
            for one, after in pairwise((*getattr(of, "body", ()), None)):
                if isinstance(one, ast.AnnAssign) and not one.target.id.startswith("_"):  # type: ignore[union-attr]
                    documented = isinstance(after, ast.Expr) and isinstance(
                        after.value, ast.Constant
                    )
                    if isinstance(of, ast.ClassDef) and not documented:
                        silent.append(f"{of.name}.{ast.unparse(one.target)}")
                elif (
                    isinstance(one, ast.FunctionDef)
                    and not one.name.startswith("_")
                    and isinstance(of, ast.ClassDef)
                ):
                    stub = any(getattr(by, "id", "") == "overload" for by in one.decorator_list)
                    if ast.get_docstring(one) is None and not stub:
                        silent.append(f"{of.name}.{one.name}")
    assert silent == []


@pytest.mark.e2e
def test_a_row_says_why_an_answer_has_no_label(tmp_path: Path) -> None:
    path = tmp_path / "words.db"
    said = {
        "Beneficial.": "agree",
        "I cannot answer that.": "refused",
        "Both beneficial and harmful.": "ambiguous",
        "": "empty",
        "Hm.": "unreadable",
    }
    with new_store(path) as made:
        made.instruments.add(instrument())
        asked(made, persona(tmp_path, *said, "<think>Some would"))
    with workbench.open(path) as store:
        rows = list(store.answers())
        assert {row["text"]: row["reading"] for row in rows} == said | {None: "cut off"}
        assert all((row["label"] == row["reading"]) == (row["label"] is not None) for row in rows)
        (one, *_) = store.readings()
        assert one["reading"] in said.values()
        assert {row["reading"] for row in rows for _ in row["readings"]} <= set(said.values())
    assert in_a_word("person", None, "") == "withdrawn"


@pytest.mark.e2e
def test_rows_and_tables_have_a_length_an_index_and_times(stores: dict[str, Path]) -> None:
    import polars
    import pyarrow

    with workbench.open(stores["bias_score"]) as store:
        for kind in (*KINDS, "statements"):
            of: workbench.Rows = getattr(store, kind)()
            rows = list(of)
            assert (
                len(of)
                == len(rows)
                == of.to_arrow().num_rows
                == len(of.to_pandas())
                == len(of.to_polars())
            )
            if rows:
                assert (of[0], of[-1], of[1:3]) == (rows[0], rows[-1], rows[1:3])
                name = next(iter(of.columns))
                assert of[name] == [row[name] for row in rows]
                assert "<table" in of._repr_html_()
            with pytest.raises(IndexError, match=f"there are {len(rows):,} rows"):
                of[len(rows)]
            with pytest.raises(UnknownName, match="there is no column 'gone'"):
                of["gone"]
        assert (
            len(store.answers(expand=True))
            == sum(1 for _ in store.answers(expand=True))
            > len(store.answers())
        )
        (row, *_) = store.answers()
        frame = store.answers().to_pandas()
        assert isinstance(row["time"], datetime)
        assert row["time"].utcoffset() == timedelta(0)
        assert str(frame["time"].dtype) == "datetime64[us, UTC]"
        assert frame["time"][0].to_pydatetime() == row["time"]
        assert store.answers().to_arrow().schema.field("time").type == pyarrow.timestamp(
            "us", "UTC"
        )
        assert store.answers().to_polars()["time"].dtype == polars.Datetime("us", "UTC")
        table = store.results("bias_score", draws=50).tables["bias"]
        assert (table[0], table[-1]) == tuple([*table][at] for at in (0, -1))
        assert table[table.columns[0]] == [one[table.columns[0]] for one in table]
        assert (
            list(table.to_pandas().columns)
            == table.to_arrow().column_names
            == table.to_polars().columns
        )


@pytest.mark.e2e
def test_statements_imports_and_agreement_are_those_of_the_shell(
    tmp_path: Path, stores: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    from tests.tui.annotation_stores import answers, labelling_store

    source, path = tmp_path / "statements.csv", tmp_path / "new.db"
    source.write_text("ref,original\na-1,Taxes should rise.\na-2,Borders should open.\n")
    with workbench.open(path, write=True, create=True) as store:
        assert store.import_file(source, name="mine", dry_run=True)["written"] is False
        assert store.instruments == ()
        found = store.import_file(source, name="mine")
        assert (store.instruments, found["written"]) == (("mine",), True)
        assert main(["statements", str(path), "--json"]) == 0
        printed = json.loads(capsys.readouterr().out)
        assert [(row["statement"], row["wording"]) for row in store.statements()] == [
            (one["ref"], wording["text"]) for one in printed for wording in one["wordings"]
        ]
        assert store.statements(search="Borders")["statement"] == ["a-2"]
        with pytest.raises(UsageError, match="--left-right belongs to"):
            store.import_file(source, left_right="x.csv")
        theirs = tmp_path / "theirs.csv"
        theirs.write_text('Theses of 2024\n\n"thesis, short",size\nTolls should go.,"1,5"\n')
        with pytest.raises(UsageError, match="--header-row 3"):
            store.import_file(theirs, dry_run=True)
        named = {"original": "thesis, short", "ref": "#"}
        found = store.import_file(
            theirs, map=named, ignore="size", header_row=3, decimal=",", dry_run=True
        )
        assert (found["format"], found["added"], found["wordings"]) == ("csv", 1, 1)
        with pytest.raises(UnknownName, match="Available: mine"):
            store.statements(instrument="other")
    with workbench.open(path) as store, pytest.raises(ReadOnlyStore, match="write=True"):
        store.import_file(source)
    queued = labelling_store(tmp_path / "queued.db", answers(4))
    for who in ("ana", "ben"):
        label(queued, who, ("agree", "agree", "neutral"))
    with workbench.open(queued) as store:
        (queue,) = {one.name for one in store.opened.queues.list()}
        capsys.readouterr()
        assert main(["agreement", str(queued), "--queue", queue, "--json"]) == 0
        assert json.loads(json.dumps(store.agreement(queue).to_dict())) == json.loads(
            capsys.readouterr().out
        )


@pytest.mark.e2e
def test_rows_are_those_of_an_export_and_data_frames_have_their_types(
    stores: dict[str, Path], tmp_path: Path
) -> None:
    import pandas

    with workbench.open(stores["bias_score"]) as store:
        store.export(tmp_path / "out", tuple(KINDS), format="jsonl")
        for kind in KINDS:
            rows: workbench.Rows = getattr(store, kind)()
            lines = (tmp_path / "out" / f"{kind}.jsonl").read_text(encoding="utf-8").splitlines()
            times = [field.name for field in rows.of.fields if field.type is Kind.TIME]
            assert list(rows) == [
                row | {name: datetime.fromisoformat(row[name]) for name in times}
                for row in map(json.loads, lines)
            ]
            frame = rows.to_pandas()
            assert isinstance(frame, pandas.DataFrame)
            assert (list(frame.columns), len(frame)) == (list(rows.columns), len(lines))
            assert rows.to_arrow().num_rows == len(lines)
        (one, *_) = store.models
        assert {row["model"] for row in store.answers(model=one)} == {one}
        assert sum(1 for _ in store.answers(model=one, expand=True)) == sum(
            r["count"] for r in store.answers(model=one)
        )
        assert "p-" in {row["annotator"][:2] for row in store.labels()}
        assert {row["annotator"] for row in store.labels(names=True)} == {"ana"}
        table = store.results("bias_score", draws=50).tables["bias"]
        assert len(table.to_pandas()) == len(table) > 0


@pytest.mark.e2e
def test_what_models_said_is_text_in_a_notebook(tmp_path: Path) -> None:
    path = tmp_path / "hostile.db"
    with new_store(path) as made:
        made.instruments.add(instrument())
        asked(made, persona(tmp_path, HOSTILE))
    with workbench.open(path) as store:
        shown = store.answers()._repr_html_()
    assert "&lt;script&gt;alert(1)&lt;/script&gt; ␛[31m" in shown
    assert "<script" not in shown
    assert "\x1b" not in shown
    assert "The first 10 rows; there are more." in shown


@pytest.mark.e2e
def test_a_store_that_is_open_for_reading_stays_as_it_is_also_where_answers_have_to_be_read_first(
    tmp_path: Path,
) -> None:
    path = tmp_path / "unread.db"
    with new_store(path) as made:
        made.instruments.add(instrument())
        asked(made, persona(tmp_path, "Beneficial.", "Harmful."))
        with made.write() as connection:
            connection.execute("delete from reading")
        made.connection.execute("pragma wal_checkpoint(truncate)")
    before = hashed(path)
    with workbench.open(path) as store:
        assert not store.writable
        counts = {one["label"] for one in store.answers()}
        assert counts == {"agree", "disagree"}
        assert len(store.results().tables["verdicts"]) == 3
        with pytest.raises(ReadOnlyStore, match="write=True"):
            workbench.run(store, "scripted")
        with pytest.raises(ReadOnlyStore), store.opened.write():
            pass
    assert hashed(path) == before
    assert (
        not path.with_name(f"{path.name}-wal").exists()
        or not path.with_name(f"{path.name}-wal").stat().st_size
    )


def test_mistakes_raise_classes_of_the_project(stores: dict[str, Path], tmp_path: Path) -> None:
    with workbench.open(stores["reliability"]) as store:
        with pytest.raises(UnknownName, match="Models with answers: smol"):
            store.answers(model="nobody")
        with pytest.raises(UnknownName, match="no audit is named"):
            store.results("reliable")
        with pytest.raises(UsageError, match="did you mean 'minimum'"):
            store.results(minimun=3)
        with pytest.raises(FieldError, match="give 0 or more"):
            store.results("consistency", resamples=-1)
        with pytest.raises(FieldError, match="a whole number"):
            store.results(minimum="many")
        with pytest.raises(FieldError, match="True or False"):
            store.results(as_published="yes")
        with pytest.raises(UnknownName, match="--what has no"):
            store.export(tmp_path / "out", "answer")
    with pytest.raises(NotAStore, match="workbench init"):
        workbench.open(tmp_path / "none.db")
    (tmp_path / "text.db").write_text("no store at all")
    with pytest.raises(StoreError):
        workbench.open(tmp_path / "text.db")
    with pytest.raises(UsageError, match="write=True"):
        workbench.open(tmp_path / "new.db", create=True)
    with workbench.open(tmp_path / "new.db", write=True, create=True) as made:
        assert (made.models, made.instruments, made.writable) == ((), (), True)
    with pytest.raises(AttributeError, match="no attribute 'opened'"):
        _ = workbench.opened


@pytest.mark.e2e
def test_a_plan_is_frozen_followed_and_checked(tmp_path: Path) -> None:
    path, file, few = (
        tmp_path / "x.db",
        tmp_path / "plan.toml",
        {"statements": "4", "samples": 6, "templates": "2"},
    )
    assert main(["init", str(path), "--demo"]) == 0
    with workbench.open(path) as store, pytest.raises(ReadOnlyStore, match="write=True"):
        store.plan(file, "scripted", **few)
    with workbench.open(path, write=True) as store:
        with pytest.raises(UsageError, match="found no model and no plan"):
            workbench.run(store)
        with pytest.raises(UsageError, match="an option of reliability"):
            store.plan(file, "scripted", judged={"ruler": "coded"}, **few)
        with pytest.raises(UsageError, match="the correction 'bonferroni'"):
            store.plan(file, "scripted", correction="bonferroni", **few)
        plan = store.plan(file, "scripted", judged={"as_published": True}, **few)
        assert plan.check() == ()
        with pytest.raises(UsageError):
            store.plan(file, "scripted", **few)
        assert store.plan(file).hash == plan.hash
        asked = workbench.run(store, plan=file)
        assert (asked.model, asked.audit, asked.answers) == ("scripted", "reliability", 576)
        (table,) = plan.check()
        assert {row["what"] for row in table if row["differs"]} == set()
        assert asked.results(as_published=True).header[0].endswith("points as planned.")
        assert "as_published: planned yes, done no" in asked.results().header[0]
        assert workbench.run(store, plan=plan).job is None


def test_an_older_store_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    with new_store(path) as store:
        store.connection.execute("pragma user_version = 3")
    before = hashed(path)
    for write in (False, True):
        with pytest.raises(OlderStore, match=r"schema 3,.*open it once with"):
            workbench.open(path, write=write)
    assert hashed(path) == before


@pytest.mark.e2e
def test_importing_the_package_loads_nothing_until_a_name_is_used() -> None:
    code = (
        "import sys, workbench; light = 'workbench.api' not in sys.modules and 'numpy' not in "
        "sys.modules;"
        "workbench.open; print(light, 'workbench.api' in sys.modules, {'torch', 'pandas', "
        "'textual'} & {*sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True True set()"
    assert set(workbench.__all__) <= set(dir(workbench))
    assert (Path(workbench.__file__).parent / "py.typed").is_file()


@pytest.mark.e2e
def test_the_page_of_help_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init", "x.db", "--demo"]) == 0
    blocks = BLOCK.findall(topic("python").text)
    assert len(blocks) > 5
    names: dict[str, Any] = {"__name__": "page"}
    for block in blocks:
        exec(block, names)
    out = capsys.readouterr().out
    assert "576 answers are stored; they were asked for by job 1" in out
    assert "the store has no answers by nobody. Models with answers: scripted" in out
    with workbench.open("x.db", write=True) as store:
        again = workbench.run(store, "scripted", statements="4", samples=6, templates="2")
        assert (again.job, again.answers) == (None, 576)
        assert again.results().to_dict() == store.results(model="scripted").to_dict()


NOTEBOOK = """
import matplotlib
matplotlib.use("agg")
import pandas as pd
import polars as pl
import statsmodels.formula.api as smf
import workbench
---
store = workbench.open("pair.db")
store.results("reliability", model="smol")
---
answers = store.answers().to_pandas()
shares = answers.pivot_table("count", "model", "reading", "sum", fill_value=0)
shares
---
verdicts = pl.from_arrow(store.verdicts().to_arrow()).filter(pl.col("test") == "all")
verdicts.group_by("model", "verdict").len().sort("model", "verdict")
---
axes = shares.div(shares.sum(axis=1), axis=0).plot.barh(stacked=True)
axes.figure.savefig("readings.svg")
---
changes = store.compare(*store.models).tables["changes"]
changes.to_pandas()[["verdict", "n", "lost", "difference", "difference_low", "difference_high", "p"]]
---
read = answers.dropna(subset="label")
read = read.loc[read.index.repeat(read["count"])].assign(agrees=lambda of: (of["label"] == "agree").astype(float))
mixed = smf.mixedlm("agrees ~ C(model) + C(variant)", read, groups="statement").fit()
mixed.params
---
store.results("reliability", model="smol").tables["kappas"]
"""
"what a researcher does with two models' answers; cells between lines"


@pytest.mark.e2e
@pytest.mark.filterwarnings("ignore::statsmodels.tools.sm_exceptions.ConvergenceWarning")
def test_a_notebook_of_a_researcher_runs(
    tmp_path: Path, stores: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pandas, polars and statsmodels work on what the store hands out, while an event loop runs as
    in Jupyter.
    """
    monkeypatch.chdir(tmp_path)
    shutil.copy(stores["pair"], tmp_path)
    shown = asyncio.run(cells(NOTEBOOK.split("---\n")))
    assert "label order" in shown[1]._repr_html_()
    assert set(shown[2].columns) == {"agree", "disagree", "empty", "unreadable"}
    assert shown[2].to_numpy().sum() == 2 * 2880
    assert shown[3].filter(model="smol")["len"].sum() == 12
    assert (tmp_path / "readings.svg").stat().st_size > 1000
    assert "stance" in set(shown[5]["verdict"])
    assert shown[6]["C(model)[T.smol]"] > 0
    assert "<caption>" in shown[7]._repr_html_()


async def cells(texts: Sequence[str]) -> list[Any]:
    """Run cells as a notebook does; return the value of each one's last line, if it is an
    expression.
    """
    names: dict[str, Any] = {"__name__": "notebook"}
    shown = []
    for text in texts:
        tree = ast.parse(text)
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, "cell", "exec"), names)
        shown.append(
            None
            if last is None
            else eval(compile(ast.Expression(last.value), "cell", "eval"), names)
        )
    return shown


def test_people_label_and_the_rows_follow(tmp_path: Path) -> None:
    from tests.tui.annotation_stores import answers, labelling_store

    path = labelling_store(tmp_path / "queued.db", answers(4))
    with workbench.open(path) as store:
        assert [row for row in store.labels() if row["labelled"] == "answer"] == []
        label(path, "ana", ("agree", "agree", "neutral"))
        found = [row for row in store.labels() if row["labelled"] == "answer"]
        assert sorted(row["label"] for row in found) == ["agree", "agree", "neutral"]
        assert all(row["note"] == f"because of {row['label']}" for row in found)
    with Store.open(path) as opened:
        assert {row["annotator"] for row in found} == {
            one.pseudonym for one in opened.people.list() if one.name == "ana"
        }


def test_a_closed_store_says_so(stores: dict[str, Path]) -> None:
    with workbench.open(stores["pair"]) as store:
        assert store.models
    for act in (lambda: store.models, store.answers, store.results):
        with pytest.raises(WorkbenchError, match="the store is closed; open it again"):
            act()
    assert repr(store).endswith("closed>")
    store.close()


def test_a_survey_is_imported_with_weights_and_groups(tmp_path: Path) -> None:
    from tests.core.test_formats_surveys import columns, sav

    path = sav(tmp_path / "land.sav", columns())
    with workbench.open(tmp_path / "land.db", write=True, create=True) as store:
        found = store.import_file(
            path, weight="w1*w2", groups=["land", "age:18-49/50+"], unordered="worst"
        )
    assert (found["survey"]["respondents"], len(found["survey"]["questions"])) == (60, 5)
    assert set(found["survey"]["groups"]["land"]) == {"Veldania", "Nordmark"}
    assert found["survey"]["weights"]["effective_n"] < found["survey"]["weights"]["people"] == 60


def test_python_and_import_bring_in_the_labels_that_labels_import_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from tests.tui.annotation_stores import answers, label_studio_table, labelling_store

    paths = [
        labelling_store(tmp_path / f"{name}.db", answers(3))
        for name in ("python", "import", "labels")
    ]
    file = label_studio_table(tmp_path / "min.json", paths[0], "agree", "neutral", "disagree")
    with workbench.open(paths[0], write=True) as store:
        foreseen = store.import_file(file, codebook="stance", dry_run=True)
        assert (foreseen["added"], foreseen["written"]) == (3, False)
        assert list(store.opened.exchange.events()) == []
        found = store.import_file(file, codebook="stance")
        assert (found["format"], found["added"], found["annotators"]) == ("labels", 3, ["user 1"])
        assert store.import_file(file)["known"] == 3
        with pytest.raises(UsageError, match="--name names an instrument"):
            store.import_file(file, name="theirs")
        with pytest.raises(InputError, match="--skip of import"):
            store.import_file(_with_another_text(file))
        assert store.import_file(_with_another_text(file), skip=True)["unmatched"] == 1
        source = tmp_path / "statements.csv"
        source.write_text("ref,original\na-1,Taxes should rise.\n")
        with pytest.raises(UsageError, match="--into belongs to --format labels; this is csv"):
            store.import_file(source, into="theirs")
    file = label_studio_table(tmp_path / "min.json", paths[0], "agree", "neutral", "disagree")
    assert main(["import", str(paths[1]), str(file), "--json"]) == 0
    by_import = json.loads(capsys.readouterr().out)
    assert main(["labels", str(paths[2]), "--import", str(file), "--json"]) == 0
    by_labels = json.loads(capsys.readouterr().out)
    assert {name: by_import[name] for name in by_labels} == by_labels
    assert by_import == found
    for path in paths:
        with workbench.open(path) as store:
            events = sorted(store.opened.exchange.events(), key=lambda event: event.response)
        assert [(event.label, event.annotator) for event in events] == [
            ("agree", "user 1"),
            ("neutral", "user 1"),
            ("disagree", "user 1"),
        ]


def _with_another_text(file: Path) -> Path:
    """Add a label of a text that no store has to a file of Label Studio."""
    tasks = json.loads(file.read_text())[:3]
    file.write_text(json.dumps([*tasks, {**tasks[0], "text": "Unknown.", "annotation_id": 9}]))
    return file
