"""Importing from Home: choose, look, write; nothing is written before."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from textual.widgets import Input

from stores.core.store import Store
from tests.conftest import instrument, new_store
from tests.core.test_party_files import COLUMNS, POSITIONS, book
from tests.stores.test_imported_logs import about, probes
from tests.tui.annotation_stores import answers, label_studio_table, labelling_store
from tests.tui.audit_runs import small
from tests.tui.conftest import flowing, until
from workbench.data import shipped_instrument_folder
from workbench.pipeline.importing import ImportRequest, read_import, write_import
from workbench.tui.app import WorkbenchApp
from workbench.tui.home.home import HomeScreen
from workbench.tui.home.importing import ImportScreen, completed, path_of
from workbench.tui.kit.dialogs import ConfirmScreen

GOOD = (
    "ref,original,negation\ns-1,Taxes are too high.,Taxes are not too "
    "high.\ns-2,[bold]Trains\x1b[31m are late.,\n"
)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    folder = tmp_path / "files"
    (folder / "deeper").mkdir(parents=True)
    (folder / "deeper" / "mine.csv").write_text(GOOD)
    (folder / "bad.csv").write_text("ref,original\ns-1,Yes\ns-1,No\n")
    (folder / "picture.png").write_text("")
    (folder / "theirs.csv").write_text("ref;these;gewicht\ns-1;Steuern sind zu hoch.;3\n")
    monkeypatch.chdir(folder)
    new_store(tmp_path / "audit.db").close()
    return tmp_path / "audit.db"


def names(path: Path) -> tuple[str, ...]:
    with Store.open(path) as store:
        return store.instruments.names()


@pytest.mark.e2e
async def test_a_file_is_chosen_looked_at_and_written(path: Path) -> None:
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await until(pilot, lambda: isinstance(app.screen, HomeScreen))
        await pilot.press("i")
        await until(pilot, lambda: "bad.csv" in flowing(app))
        assert "picture.png" not in flowing(app)
        await pilot.press("j", "enter")
        await until(pilot, lambda: "mine.csv" in flowing(app))
        await pilot.press("j", "enter")
        await until(pilot, lambda: "Would import mine: 2 statements (2 new" in flowing(app))
        assert "Format csv" in flowing(app)
        assert "s-1 2 Taxes are too high." in flowing(app)
        assert "[bold]Trains␛[31m are late." in flowing(app)
        assert names(path) == ()
        await pilot.press("escape", "enter")
        await until(pilot, lambda: "Would import mine" in flowing(app))
        await pilot.press("f5")
        await until(
            pilot,
            lambda: (
                isinstance(app.screen, HomeScreen) and "Imported mine: 2 statements" in flowing(app)
            ),
        )
    assert names(path) == ("mine",)


@pytest.mark.e2e
async def test_leaving_writes_nothing_and_a_fault_names_file_row_and_remedy(path: Path) -> None:
    app = WorkbenchApp(path)
    async with app.run_test(size=(130, 30)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, HomeScreen))
        await pilot.press("i", "j", "j", "enter")
        await until(pilot, lambda: "bad.csv, line 3, column 'ref'" in flowing(app))
        assert "Nothing was imported." in flowing(app)
        await pilot.press("f5", "f")
        await until(pilot, lambda: "expected an object" in flowing(app))
        await pilot.press("slash", *"deeper/m", "tab", "enter")
        await until(pilot, lambda: "Would import mine" in flowing(app))
        await pilot.press("n", *"other", "enter")
        await until(pilot, lambda: "Would import other: 2 statements (2 new" in flowing(app))
        await pilot.press("slash", "ctrl+u", *"theirs.csv", "enter")
        await until(pilot, lambda: "e fills in these columns" in flowing(app))
        await pilot.press("e")
        assert "original=these,-=gewicht" in flowing(app)
        await pilot.press("enter")
        await until(pilot, lambda: "Would import theirs: 1 statement (1 new" in flowing(app))
        assert "original from these; left out: gewicht" in flowing(app)
        await pilot.press("escape", "escape")
        # A name and a mapping were typed.
        await until(pilot, lambda: isinstance(app.screen, ConfirmScreen))
        await pilot.press("y")
        await until(pilot, lambda: isinstance(app.screen, HomeScreen))
    assert names(path) == ()


@pytest.mark.e2e
async def test_words_of_answers_and_a_sheet_are_typed_where_they_are_missed(
    path: Path, tmp_path: Path
) -> None:
    rows = [[*row[:6], "teils" if row[6] == "neutral" else row[6], row[7]] for row in POSITIONS]
    book(tmp_path / "files" / "wahl.xlsx", A=[COLUMNS, *rows], B=[COLUMNS, *rows[:2]])
    app = WorkbenchApp(path)
    async with app.run_test(size=(110, 30)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, HomeScreen))
        await pilot.press("i", "slash", *"wahl.xlsx", "enter")
        await until(pilot, lambda: "2 tables of positions: A, B" in flowing(app))
        await pilot.press("e", "tab", "tab", *"A", "enter")
        await until(pilot, lambda: "wahl.xlsx, row 4, column" in flowing(app))
        await pilot.press("e", "tab", *"teils=neutral", "enter")
        await until(pilot, lambda: "Would import wahl: 2 statements (2 new" in flowing(app))
        assert "Format wahlomat" in flowing(app)
        assert "teils (2)" in flowing(app)
        await pilot.press("e")
        typed = {
            box.id: box.value for box in app.screen.query(Input) if box.id in ("answers", "sheet")
        }
        assert typed == {"answers": "teils=neutral", "sheet": "A"}


@pytest.mark.e2e
async def test_a_header_below_a_title_and_weights_are_typed_where_they_are_missed(
    path: Path, tmp_path: Path
) -> None:
    (tmp_path / "files" / "theirs.csv").write_text("Harbour survey\n\nq1;w\nyes;0,5\nno;1,5\n")
    app = WorkbenchApp(path)
    async with app.run_test(size=(110, 30)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, HomeScreen))
        await pilot.press("i", "slash", *"theirs.csv", "enter")
        await until(pilot, lambda: "--header-row 3" in flowing(app))
        assert "e has a field for it." in flowing(app)
        await pilot.press("e", *["tab"] * 4, *"header-row=3", "space", *"decimal=,", "enter")
        await until(pilot, lambda: "What can be imported" in flowing(app))
        await pilot.press("p", *"weight=w", "enter")
        await until(pilot, lambda: "weights: sum 2, from 0.5 to 1.5" in flowing(app))
        assert "Format survey" in flowing(app)


@pytest.mark.e2e
async def test_the_shipped_instruments_are_one_key_away(path: Path) -> None:
    app = WorkbenchApp(path)
    async with app.run_test(size=(130, 30)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, HomeScreen))
        await pilot.press("i", "w")
        await until(pilot, lambda: "veldania_panel" in flowing(app))
        await pilot.press("j", "enter")
        await until(pilot, lambda: "Would import veldania: 56 statements" in flowing(app))
        await pilot.press("f5")
        await until(pilot, lambda: isinstance(app.screen, HomeScreen))
        await pilot.press("i", "w", "j", "enter")
        await until(pilot, lambda: "(0 new, 0 changed, 56 unchanged" in flowing(app))
        assert isinstance(app.screen, ImportScreen)


@pytest.mark.e2e
async def test_another_language_is_said_to_be_added_before_and_after(
    path: Path, tmp_path: Path
) -> None:
    with Store.open(path) as store:
        write_import(
            store,
            read_import(ImportRequest(tmp_path / "files" / "deeper" / "mine.csv"))
            or pytest.fail("no instrument"),
        )
    german = "ref,language,original\ns-1,de,Die Steuern sind zu hoch.\n"
    (tmp_path / "files" / "deeper" / "mine.csv").write_text(german)
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await until(pilot, lambda: isinstance(app.screen, HomeScreen))
        await pilot.press("i", "slash", *"deeper/m", "tab", "enter")
        await until(pilot, lambda: "- added: de 1 wording and 34 templates" in flowing(app))
        assert "- kept: en 3 wordings and 34 templates. The file has" in flowing(app)
        await pilot.press("f5")
        await until(
            pilot,
            lambda: isinstance(app.screen, HomeScreen) and "added: de 1 wording" in flowing(app),
        )
    with Store.open(path) as store:
        assert [len(s.wordings) for s in store.instruments.get("mine").statements] == [3, 1]


def test_a_path_is_completed_by_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "statements.csv").touch()
    assert completed("mi", tmp_path) == "mine/"
    assert completed("mine/s", tmp_path) == "mine/statements.csv"
    assert completed(f"{tmp_path}/mi", Path("/")) == f"{tmp_path}/mine/"
    assert completed("none", tmp_path) is None
    assert completed("", tmp_path) is None
    assert completed("a\x00", tmp_path) is None
    assert path_of(" mine ", tmp_path) == tmp_path / "mine"
    assert path_of("  ", tmp_path) is None
    assert shipped_instrument_folder().is_dir()


@pytest.mark.e2e
async def test_a_survey_is_told_its_weights_and_groups(path: Path) -> None:
    from tests.core.test_formats_surveys import columns, sav

    sav(path.parent / "files" / "land.sav", columns())
    app = WorkbenchApp(path)
    async with app.run_test(size=(130, 40)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, HomeScreen))
        await pilot.press("i", "slash", *"land.sav", "enter")
        await until(pilot, lambda: "5 survey questions, 60 respondents" in flowing(app))
        assert "Format survey" in flowing(app)
        await pilot.press("p", *"weight=w1 groups=age", "enter")
        await until(pilot, lambda: "which are too many for groups" in flowing(app))
        await pilot.press("p", *":18-49/50+", "enter")
        await until(pilot, lambda: "group age: 18-49" in flowing(app))
        await pilot.press("f5")
        await until(pilot, lambda: isinstance(app.screen, HomeScreen))
    assert names(path) == ("land",)


@pytest.mark.e2e
async def test_answers_of_models_come_in_after_a_word_where_much_is_left_out(path: Path) -> None:
    with Store.open(path) as store:
        store.instruments.add(small())
    rows = [{"ref": "nowhere", "template": "t", "answer": "Yes."}]
    rows += [{**about(probe), "answer": "Yes."} for probe in probes()[:4]]
    (path.parent / "files" / "log.jsonl").write_text(
        "\n".join(map(json.dumps, rows)), encoding="utf-8"
    )
    app = WorkbenchApp(path)
    async with app.run_test(size=(130, 40), notifications=True) as pilot:
        await until(pilot, lambda: isinstance(app.screen, HomeScreen))
        await pilot.press("i", "slash", *"log.jsonl", "enter")
        await until(pilot, lambda: "s imports the others." in flowing(app))
        assert "1 answer: its statement is none of the instrument (entry 1)" in flowing(app)
        await pilot.press("f5", "p", *"model=m family=chat", "enter")
        await until(pilot, lambda: "imported:m: 4 answers" in flowing(app))
        await pilot.press("s")
        await until(
            pilot,
            lambda: "s imports the others." not in flowing(app) and "imported:m" in flowing(app),
        )
        await pilot.press("f5")
        await until(
            pilot, lambda: isinstance(app.screen, HomeScreen) and "4 answers stored" in flowing(app)
        )
    with Store.open(path) as store:
        assert store.runs.totals()[0] == 4


@pytest.mark.e2e
async def test_labels_are_looked_at_given_a_queue_and_written(path: Path) -> None:
    labelling_store(path, answers(3))
    file = label_studio_table(
        path.parent / "files" / "min.json", path, "agree", "neutral", "disagree"
    )
    tasks = json.loads(file.read_text())
    file.write_text(
        json.dumps([*tasks, {**tasks[0], "text": "An answer of another store", "annotation_id": 9}])
    )
    with Store.open(path) as store, store.write() as connection:
        connection.execute("delete from queue_item")
        connection.execute("delete from queue")
    app = WorkbenchApp(path)
    async with app.run_test(size=(100, 40), notifications=True) as pilot:
        await until(pilot, lambda: isinstance(app.screen, HomeScreen))
        await pilot.press("i", "slash", *"min.json", "enter")
        await until(pilot, lambda: "s imports the others." in flowing(app))
        assert "min.json, line 4, column 'response': found 'An answer of another store'" in flowing(
            app
        ).replace(" █", "")
        await pilot.press("f5", "s")
        await until(
            pilot, lambda: "Would import min.json: 3 events added on 3 items" in flowing(app)
        )
        shown = flowing(app).replace(" █ ", " ")
        for told in (
            "1 about unknown texts left out",
            "labels of label-studio",
            "p makes a queue of these items.",
        ):
            assert told in shown
        assert "user 1 neutral" in flowing(app)
        await pilot.press("n", "e", "p", *"queue=theirs", "enter")
        await until(pilot, lambda: "found 'queue=theirs'; give into=…" in flowing(app))
        await pilot.press(*(["backspace"] * 12), *"into=theirs purpose=test", "enter")
        await until(pilot, lambda: "the new queue theirs holds them" in flowing(app))
        with Store.open(path) as store:
            assert (list(store.exchange.events()), store.queues.list()) == ([], ())
        await pilot.press("f5")
        await until(
            pilot,
            lambda: (
                isinstance(app.screen, HomeScreen) and "Imported min.json: 3 events" in flowing(app)
            ),
        )
    with Store.open(path) as store:
        assert sorted(event.label or "" for event in store.exchange.events()) == [
            "agree",
            "disagree",
            "neutral",
        ]
        (queue,) = store.queues.list()
        assert (queue.name, queue.purpose, queue.items) == ("theirs", "test", 3)


@pytest.mark.e2e
async def test_labels_for_policy_issues_are_looked_at_and_written(path: Path) -> None:
    with Store.open(path) as store:
        store.instruments.add(instrument())
    file = path.parent / "files" / "issues.csv"
    file.write_text("ref,issue,annotator,label\na-1,law_and_order,ada,-1\n")
    app = WorkbenchApp(path)
    async with app.run_test(size=(100, 40), notifications=True) as pilot:
        await until(pilot, lambda: isinstance(app.screen, HomeScreen))
        await pilot.press("i", "slash", *"issues.csv", "enter")
        await until(pilot, lambda: "Would import small: Labels: 1 new" in flowing(app))
        assert "ada -1 a-1 law_and_order" in flowing(app)
        await pilot.press("f5")
        await until(pilot, lambda: isinstance(app.screen, HomeScreen))
    with Store.open(path) as store:
        labels = store.instruments.get("small").issue_labels
    assert [(one.statement, one.label) for one in labels if one.annotator == "ada"] == [("a-1", -1)]
