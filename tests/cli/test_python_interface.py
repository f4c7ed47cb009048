"""`import workbench`: the figures of the shell as values, rows as data frames, runs; nothing changes unless asked."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

import workbench
from stores.core.store import Store
from tests.cli.test_annotation_commands import label
from tests.conftest import instrument, new_store
from tests.jobs.test_response_bias_runs import DESIGN, ask, first_option, pairs
from tests.questionnaire_stores import card, ideal, panel, predict
from tests.stores.test_thoughts import asked, persona
from tests.tui import bias_stores
from tests.tui.audit_runs import audited
from workbench import registry
from workbench.cli.main import main
from workbench.domain.choice_statements import with_pairs
from workbench.domain.instruments import Instrument
from workbench.errors import FieldError, NotAStore, ReadOnlyStore, StoreError, UnknownName, UsageError
from workbench.help import topic
from workbench.tidy.kinds import KINDS

BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
HOSTILE = "<script>alert(1)</script> \x1b[31m"
FEW = {"bias_score": {"draws": 50}, "consistency": {"resamples": 50}}
"options that make figures quick"


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A store with answers for each audit."""
    folder = tmp_path_factory.mktemp("stores")
    judged = audited(folder / "judged.db")
    with new_store(folder / "people.db") as store:
        store.instruments.add(panel())
        predict(store, ideal(store), card("tuned"), conditions=("qm", "zero-shot"))
    with new_store(folder / "choices.db") as store:
        store.instruments.add(with_pairs(Instrument(DESIGN.instrument, "Choices", ()), pairs(), ()))
        ask(store, first_option(invalid=0.25), replace(DESIGN, samples=4))
    with new_store(folder / "sides.db") as store:
        store.instruments.add(bias_stores.sided())
        asked(store, "scripted", audit="statement_labels", instrument="two-tests", samples=1, family="labels")
    return {
        "reliability": judged,
        "consistency": judged,
        "bias_score": bias_stores.full(folder / "bias.db"),
        "statement_labels": folder / "sides.db",
        "questionnaire": folder / "people.db",
        "response_bias": folder / "choices.db",
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
        assert [table["name"] for table in printed["tables"]] == [one.figure.name for one in found.tables.values()]
        for name, table in found.tables.items():
            assert table.name == name
            assert list(table) == table.to_dict()["rows"]
            assert table._repr_html_().startswith("<section")
        assert found._repr_html_().startswith("<p>")
        assert found.methods or audit in ("statement_labels", "questionnaire")
    assert hashed(path) == before


@pytest.mark.e2e
def test_rows_are_those_of_an_export_and_data_frames_have_their_types(stores: dict[str, Path], tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas", reason="the extra `data` is not installed")
    pytest.importorskip("pyarrow", reason="the extra `data` is not installed")
    with workbench.open(stores["bias_score"]) as store:
        store.export(tmp_path / "out", tuple(KINDS), format="jsonl")
        for kind in KINDS:
            rows: workbench.Rows = getattr(store, kind)()
            lines = (tmp_path / "out" / f"{kind}.jsonl").read_text(encoding="utf-8").splitlines()
            assert list(rows) == [json.loads(line) for line in lines]
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
    assert not path.with_name(f"{path.name}-wal").exists() or not path.with_name(f"{path.name}-wal").stat().st_size


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
            store.results(judge_void="yes")
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
    path, file, few = tmp_path / "x.db", tmp_path / "plan.toml", {"statements": "4", "samples": 6, "templates": "2"}
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
        plan = store.plan(file, "scripted", judged={"rule": "coded", "judge_void": True}, **few)
        assert plan.check() == ()
        with pytest.raises(UsageError):
            store.plan(file, "scripted", **few)
        assert store.plan(file).hash == plan.hash
        asked = workbench.run(store, plan=file)
        assert (asked.model, asked.audit, asked.answers) == ("scripted", "reliability", 576)
        (table,) = plan.check()
        assert {row["what"] for row in table if row["differs"]} == set()
        assert asked.results(rule="coded", judge_void=True).header[0].endswith("points as planned.")
        assert "rule: planned coded, done printed" in asked.results().header[0]
        assert workbench.run(store, plan=plan).job is None


def test_an_older_store_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    with new_store(path) as store:
        store.connection.execute("pragma user_version = 3")
    before = hashed(path)
    with pytest.raises(StoreError, match="Open it once for writing"):
        workbench.open(path)
    assert hashed(path) == before


@pytest.mark.e2e
def test_importing_the_package_loads_nothing_until_a_name_is_used() -> None:
    code = (
        "import sys, workbench; light = 'workbench.api' not in sys.modules and 'numpy' not in sys.modules;"
        "workbench.open; print(light, 'workbench.api' in sys.modules, {'torch', 'pandas', 'textual'} & {*sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True True set()"
    assert set(workbench.__all__) <= set(dir(workbench))
    assert (Path(workbench.__file__).parent / "py.typed").is_file()


@pytest.mark.e2e
def test_the_page_of_help_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("pandas", reason="the extra `data` is not installed")
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


@pytest.mark.e2e
def test_a_notebook_shows_results_as_tables(tmp_path: Path) -> None:
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed")
    pytest.importorskip("pandas", reason="the extra `data` is not installed")
    assert main(["init", str(tmp_path / "x.db"), "--demo"]) == 0
    blocks = BLOCK.findall(topic("python").text)[:-1]
    found = "store.results(model='scripted')"
    cells = [*blocks, f"{found}", f"{found}.tables['verdicts']", "store.answers()"]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbclient.NotebookClient(book, timeout=240, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [cell.outputs[-1]["data"]["text/html"] for cell in book.cells[-3:]]
    assert "<caption>" in shown[0]
    assert "label order" in shown[1]
    assert "prompt_key" in shown[2]


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
