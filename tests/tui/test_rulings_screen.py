"""Ruling from the screens of results: four keys from what is flagged, undone with z, and never seen
by annotators.
"""

from __future__ import annotations

import re
from pathlib import Path
from sqlite3 import DatabaseError
from threading import Event
from typing import Any

import pytest
from textual.coordinate import Coordinate
from textual.pilot import Pilot

from stores.annotation.annotator import Annotator
from stores.core.store import Store
from tests.conftest import new_store
from tests.jobs.test_response_bias_runs import ask, first_option, pairs
from tests.questionnaire_stores import ideal, panel, predict
from tests.tui.audit_runs import audited
from tests.tui.bias_stores import asked, full
from tests.tui.conftest import flowing, screen_text, shown, until
from tests.tui.issue_stores import issue_store, label
from workbench import registry
from workbench.audits.questionnaire.judged import judge_questionnaire, prompt_asked
from workbench.audits.questionnaire.options import PredictionOptions
from workbench.audits.response_bias.options import ChangeOptions
from workbench.data import shipped_templates
from workbench.domain.annotations import Purpose
from workbench.domain.instruments import Instrument, with_pairs
from workbench.domain.rulings import Ruled, Ruling, RulingVerdict, Subject
from workbench.evidence import ruling_subjects as subjects
from workbench.pipeline.queues import QueueSpec, make_queue
from workbench.tui.annotation.adjudicate import AdjudicateScreen
from workbench.tui.annotation.annotate import AnnotateScreen
from workbench.tui.annotation.issue_cases import IssueGoldScreen
from workbench.tui.app import WorkbenchApp
from workbench.tui.kit import key_gate
from workbench.tui.kit.base import of_store
from workbench.tui.kit.person_dialog import PersonDialog
from workbench.tui.results.answers import WholeAnswerScreen
from workbench.tui.results.choice_question import QuestionScreen
from workbench.tui.results.questionnaire_prompt import PromptScreen
from workbench.tui.results.responses import ResponsesScreen
from workbench.tui.results.result_screen import Settings, screen_class
from workbench.tui.results.result_screen import load as load_choices
from workbench.tui.rulings.dialog import RulingDialog
from workbench.tui.statements import statement as statement_screen
from workbench.tui.statements.statement import StatementScreen
from workbench.tui.widgets.record_table import FluidTable

BiasScreen = screen_class(registry.audit("bias_score"))


async def settle(app: WorkbenchApp, pilot: Pilot[int]) -> None:
    await pilot.pause()
    await until(pilot, lambda: all(worker.is_finished for worker in app.workers))
    await pilot.pause()


async def press(app: WorkbenchApp, pilot: Pilot[int], *keys: str) -> None:
    for key in keys:
        await pilot.press(key)
        await settle(app, pilot)


def standing(path: Path) -> list[Ruling]:
    with Store.open(path) as store:
        return [one for of in store.rulings.standing().values() for one in of]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return audited(tmp_path / "audited.db")


@pytest.mark.e2e
async def test_four_keys_lead_from_a_flagged_statement_to_a_ruling_and_z_takes_it_back(
    path: Path,
) -> None:
    app = WorkbenchApp(path, start="audit", annotator="otto")
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(app, pilot)
        await press(app, pilot, "down", "r", "x", "enter")
        (ruling,) = standing(path)
        assert (ruling.subject.kind, ruling.subject.named["statement"]) == (
            Ruled.STATEMENT,
            "env-03",
        )
        assert (ruling.verdict, ruling.auditor) == (RulingVerdict.EXCLUDED, "otto")
        text = screen_text(app)
        assert "rulings: 1 excluded (1 verdict, 11 tests of 1 statement differ)" in " ".join(
            text.split()
        )
        assert "ruled by otto: excluded" in text
        await press(app, pilot, "A")
        assert "without rulings (1 excluded): A counts it" in screen_text(app)
        await press(app, pilot, "A", "r", "z")
        assert standing(path) == []
        assert "ruled by" not in screen_text(app)
        assert "rulings: " not in screen_text(app).split("undone")[0]


@pytest.mark.e2e
async def test_an_answer_is_read_anew_from_the_raw_answers(path: Path) -> None:
    app = WorkbenchApp(path, start="audit", annotator="otto")
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(app, pilot)
        await press(app, pilot, "down", "enter", "enter", "enter")
        assert isinstance(app.screen, ResponsesScreen)
        await press(app, pilot, "r", "m", "2")
        assert isinstance(app.screen, RulingDialog)
        assert re.search(r"this answer, whoever reads it +\S+ · \S+ · \S+", screen_text(app)), (
            "words and no key"
        )
        assert "/=" not in screen_text(app)
        assert "it says disagree" in screen_text(app)
        await press(app, pilot, *"no doubt", "enter")
        (ruling,) = standing(path)
        assert (ruling.verdict, ruling.label, ruling.reason) == (
            RulingVerdict.MISREAD,
            "disagree",
            "no doubt",
        )
        assert "ruled by otto: misread (disagree) – no doubt" in screen_text(app)
        await press(app, pilot, "escape", "escape", "escape")
        assert "rulings: 1 misread (" in screen_text(app)


@pytest.mark.e2e
async def test_a_ruling_on_an_answer_is_for_the_model_in_sight_and_a_makes_it_for_all(
    path: Path,
) -> None:
    audited(path, model="other")
    app = WorkbenchApp(path, start="audit", annotator="otto")
    async with app.run_test(size=(80, 30)) as pilot:
        await settle(app, pilot)
        await press(app, pilot, "down", "enter", "enter", "enter")
        assert isinstance(app.screen, ResponsesScreen)
        in_sight = app.screen.run_in_sight()
        assert in_sight is not None
        await press(app, pilot, "r", "x")
        assert "applies to this model alone" in screen_text(app)
        await press(app, pilot, "escape", "w")
        assert "applies to all models" in screen_text(app), "it is about the wording"
        await press(app, pilot, "escape", "escape", "r", "x", "enter")
        (ruling,) = standing(path)
        with Store.open(path) as store:
            assert ruling.subject.model == store.data_rows.models()[in_sight.model_id]["key"].hex()
        await press(app, pilot, "r", "a", "x")
        assert "applies to all models · a to this model alone" in screen_text(app)
        await press(app, pilot, "enter")
        assert [one.subject.model for one in standing(path)] == [ruling.subject.model, ""]


@pytest.mark.e2e
async def test_the_verdict_brings_the_thing_that_it_is_about(path: Path) -> None:
    app = WorkbenchApp(path, start="audit", annotator="otto")
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(app, pilot)
        await press(app, pilot, "down", "enter", "enter", "enter", "r", "w", "enter")
        await press(app, pilot, "r", "t", "enter", "r", "shift+tab", "c", "enter")
        kinds = {(one.verdict, one.subject.kind) for one in standing(path)}
        assert kinds == {
            (RulingVerdict.WORDING_AT_FAULT, Ruled.WORDING),
            (RulingVerdict.TEMPLATE_AT_FAULT, Ruled.PROMPT),
            (RulingVerdict.CONFIRMED, Ruled.STATEMENT),
        }


@pytest.mark.e2e
async def test_a_reason_is_needed_a_name_is_asked_for_once_and_escape_rules_nothing(
    path: Path,
) -> None:
    app = WorkbenchApp(path, start="audit")
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(app, pilot)
        await press(app, pilot, "r", "m")
        assert (
            "Misread is for answers and readings: Esc, then V or 4, Enter opens them."
            in screen_text(app)
        )
        await press(app, pilot, "x", "delete", "enter")
        assert "A ruling needs a reason: type one." in screen_text(app)
        await press(app, pilot, "escape", "escape")
        assert standing(path) == []
        await press(app, pilot, "r", "x", "enter")
        assert isinstance(app.screen, PersonDialog)
        await press(app, pilot, "escape")
        assert standing(path) == []
        await press(app, pilot, "r", "x", "enter", *"eva", "enter")
        await press(app, pilot, "down", "r", "l", "enter")
        assert [one.auditor for one in standing(path)] == ["eva", "eva"]


@pytest.mark.e2e
async def test_what_another_auditor_ruled_is_shown_and_contradicting_it_is_said(path: Path) -> None:
    with Store.open(path) as store:
        thing = subjects.find_subject(store, "soc-07")
        subjects.add_ruling(
            store, thing, RulingVerdict.EXCLUDED, auditor="eva", reason="odd", reading=None
        )
    app = WorkbenchApp(path, start="audit", annotator="otto")
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(app, pilot)
        await press(app, pilot, "r")
        assert "this statement (soc-07) ruled by eva: excluded – odd" in screen_text(app)
        await press(app, pilot, "z", "enter")
        assert "You take back what eva ruled: excluded." in screen_text(app)
        assert "Taking back eva's ruling needs a reason: type one." in screen_text(app)
        await press(app, pilot, "escape")
        assert len(standing(path)) == 1, (
            "another auditor's ruling is taken back with a reason alone"
        )
        await press(app, pilot, "c", "enter", "n")
        assert "auditors contradict each other about 1 thing" in screen_text(app)


@pytest.mark.e2e
async def test_whoever_has_no_name_yet_says_why_before_a_ruling_is_taken_back_and_hears_whose_it_was(
    path: Path,
) -> None:
    with Store.open(path) as store:
        subjects.add_ruling(
            store,
            subjects.find_subject(store, "soc-07"),
            RulingVerdict.EXCLUDED,
            auditor="eva",
            reason="odd",
            reading=None,
        )
    app = WorkbenchApp(path, start="audit")
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(app, pilot)
        await press(app, pilot, "r")
        assert "z undo eva's" in screen_text(app)
        await press(app, pilot, "z", *"it fits", "enter")
        assert isinstance(app.screen, PersonDialog)
        assert len(standing(path)) == 1
        await press(app, pilot, *"ivy", "enter")
        assert standing(path) == []
        assert "undone: eva's excluded on soc-07" in screen_text(app)
    with Store.open(path) as store:
        last = store.rulings.events()[-1]
    assert (last.auditor, last.reason) == ("ivy", "it fits")


@pytest.mark.e2e
async def test_a_right_reading_that_the_reader_gives_already_is_refused_with_what_to_do(
    path: Path,
) -> None:
    app = WorkbenchApp(path, start="audit", annotator="otto")
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(app, pilot)
        await press(app, pilot, "down", "enter", "enter", "enter", "r", "m")
        dialog = app.screen
        assert isinstance(dialog, RulingDialog)
        labels = dialog._thing.labels
        assert dialog._thing.read is not None
        reader, label = dialog._thing.read
        await press(app, pilot, str(labels.index(label) + 1))
        assert f"{reader}, the reader that counts, already reads it as {label}" in shown(
            app, "#trouble"
        )
        assert not dialog.box.has_focus
        await press(app, pilot, "enter")
        assert "Nothing is stored yet: type the number of the right reading" in shown(
            app, "#trouble"
        )
        await press(app, pilot, str((labels.index(label) + 1) % 2 + 1))
        assert dialog.box.has_focus


@pytest.mark.e2e
async def test_free_answers_are_ruled_on_from_their_table(tmp_path: Path) -> None:
    path = full(tmp_path / "free.db")
    app = WorkbenchApp(path, start="results", annotator="otto")
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(app, pilot)
        assert isinstance(app.screen, BiasScreen)
        for _ in range(6):
            await press(app, pilot, "enter")
            view = getattr(app.screen, "view", None)
            if view is not None and view.sheet.table.name == "answers":
                break
        await press(app, pilot, "enter")
        assert isinstance(app.screen, WholeAnswerScreen)
        await press(app, pilot, "r", "m", "3", "enter")
        (ruling,) = standing(path)
        assert (ruling.subject.kind, ruling.label) == (Ruled.ANSWER, "neutral")
        assert "ruled by otto: misread (neutral)" in screen_text(app)
        table = app.screen.view.sheet.table  # type: ignore[attr-defined]
        ruled = [(row.label, row.ruled, row.unruled) for row in table.rows if row.ruled]
        assert len(ruled) == 1
        assert ruled[0][:2] == ("neutral", "read anew")
        assert f"was {ruled[0][2]}" in flowing(app)
        await press(app, pilot, "enter")
        assert f"neutral by ruling (was {ruled[0][2]})" in flowing(app)


@pytest.mark.e2e
async def test_the_page_of_a_statement_shows_its_rulings_and_rules_on_its_wordings(
    path: Path,
) -> None:
    with Store.open(path) as store:
        for name in ("soc-07", "soc-07/negation/personal-1", "env-03"):
            subjects.add_ruling(
                store,
                subjects.find_subject(store, name),
                RulingVerdict.EXCLUDED,
                auditor="eva",
                reason=f"odd {name}",
                reading=None,
            )
    app = WorkbenchApp(path, start="statements", annotator="otto")
    async with app.run_test(size=(100, 60)) as pilot:
        await settle(app, pilot)
        await press(app, pilot, "enter")
        assert isinstance(app.screen, StatementScreen)
        text = " ".join(screen_text(app).split())
        assert "statement eva: excluded – odd soc-07" in text
        assert "negation/personal-1 eva: excluded" in text
        assert "env-03" not in text.split("Rulings")[1].split("Parties")[0]
        await press(app, pilot, "down", "r", "w", "enter")
        ruling = next(one for one in standing(path) if one.auditor == "otto")
        assert ruling.subject.kind is Ruled.WORDING
        assert "otto: wording at fault" in " ".join(screen_text(app).split())


@pytest.mark.e2e
async def test_no_statement_is_ruled_on_before_it_is_on_the_screen(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_read, read = Event(), statement_screen.read_sheet

    def late(*of: Any) -> Any:
        may_read.wait(120)
        return read(*of)

    may_read.set()
    monkeypatch.setattr(statement_screen, "read_sheet", late)
    app = WorkbenchApp(path, start="statements", annotator="otto")
    async with app.run_test(size=(100, 60)) as pilot:
        await settle(app, pilot)
        await press(app, pilot, "enter")
        may_read.clear()
        await pilot.press("right_square_bracket", "r")
        assert isinstance(app.screen, StatementScreen), "no dialog opened"
        may_read.set()
        await settle(app, pilot)
        assert standing(path) == []
        # Keys that follow a dropped one at once are dropped, too, however fast the machine.
        monkeypatch.setattr(key_gate, "LULL_S", 0.0)
        await press(app, pilot, "r")
        assert isinstance(app.screen, RulingDialog)


@pytest.mark.e2e
async def test_the_screen_of_a_persons_prompt_shows_what_was_ruled_on_it(tmp_path: Path) -> None:
    with new_store(tmp_path / "people.db") as store:
        store.instruments.add(panel())
        predict(store, ideal(store), conditions=("qm", "zero-shot"))
        judged = judge_questionnaire(store, options=PredictionOptions(draws=100))
        (model,) = judged.gathered
        probe = int(judged.gathered[model].probe[0])
        found = prompt_asked(store, judged, model, probe)
        (put, *_) = store.ruled_things.prompts(probe=probe)
        subjects.add_ruling(
            store,
            subjects.prompt_subject(put),
            RulingVerdict.EXCLUDED,
            auditor="eva",
            reason="odd",
            reading=None,
        )
    app = WorkbenchApp(tmp_path / "people.db", annotator="otto")
    async with app.run_test(size=(80, 30)) as pilot:
        await app.push_screen(PromptScreen(found, model, "yes", "top10", probe))
        await settle(app, pilot)
        assert "eva: excluded – odd" in flowing(app)
        await press(app, pilot, "r", "tab", "c", "enter")
        assert "otto: confirmed" in flowing(app)


@pytest.mark.e2e
async def test_the_screen_of_a_question_shows_what_was_ruled_on_either_form(tmp_path: Path) -> None:
    path = tmp_path / "choices.db"
    with new_store(path) as store:
        blank = Instrument("choices", "Choices", (), templates=shipped_templates("response_bias"))
        store.instruments.add(with_pairs(blank, pairs()))
        ask(store, first_option())
    audit = registry.audit("response_bias")
    loaded = of_store(path, lambda store: load_choices(store, audit, Settings(ChangeOptions())))
    findings = loaded.source
    (name,) = findings.reports
    place = findings.places[0]
    found = findings.question(name, place, findings.questions(name, place)[0].key)
    with Store.open(path) as store:
        (put, *_) = store.ruled_things.prompts(probe=found.changed.probe)
        subjects.add_ruling(
            store,
            subjects.prompt_subject(put),
            RulingVerdict.EXCLUDED,
            auditor="eva",
            reason="odd",
            reading=None,
        )
    app = WorkbenchApp(path, annotator="otto")
    async with app.run_test(size=(100, 40)) as pilot:
        await app.push_screen(QuestionScreen(loaded, found))
        await settle(app, pilot)
        assert "eva: excluded – odd" in flowing(app)


@pytest.mark.e2e
async def test_a_question_is_judged_again_once_answers_to_it_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "choices.db"
    with new_store(path) as store:
        blank = Instrument("choices", "Choices", (), templates=shipped_templates("response_bias"))
        store.instruments.add(with_pairs(blank, pairs()))
        ask(store, first_option())
    app = WorkbenchApp(path, start="response_bias", annotator="otto")
    async with app.run_test(size=(100, 40)) as pilot:
        await settle(app, pilot)
        await press(app, pilot, "enter", "enter")
        assert isinstance(app.screen, QuestionScreen)
        before = shown(app, "#original")
        await press(app, pilot, "enter", "r", "x", "enter", "escape")
        assert isinstance(app.screen, QuestionScreen)
        await until(pilot, lambda: shown(app, "#original") != before)
        assert "20 valid answers of 20" in before
        assert "20 valid answers of 20" not in shown(app, "#original")


SECRET = "the auditor thinks this is misread"


def ruled_everywhere(path: Path) -> None:
    """Rule on every answer, prompt, wording and statement of a store."""
    with Store.open(path) as store:
        for ref in dict.fromkeys(put.ref for put in store.ruled_things.prompts()):
            statement = subjects.statement_subject(store, store.instruments.only(), ref)
            store.rulings.rule(
                statement.subject, RulingVerdict.LOOK_AGAIN, auditor="zora", reason=SECRET
            )
            for put in store.ruled_things.prompts(ref=ref):
                prompt = subjects.prompt_subject(put)
                for thing in (prompt, *subjects.subjects_below(store, prompt)):
                    subject = Subject(thing.subject.kind, thing.subject.named)
                    store.rulings.rule(
                        subject, RulingVerdict.CONFIRMED, auditor="zora", reason=SECRET
                    )


def queued(path: Path) -> Path:
    """Return a store whose answers ana has labelled all and ben some, each time otherwise than
    ana.
    """
    asked(path)
    with Store.open(path) as store:
        make_queue(store, QueueSpec("round", Purpose.TEST, per_stratum=1, labels=2))
    for name, said, most in (("ana", "agree", 99), ("ben", "neutral", 3)):
        with Annotator.open(path, "round", name) as person:
            while most and (item := person.next()) is not None:
                person.label(item.unit, said)
                most -= 1
    return path


@pytest.mark.e2e
@pytest.mark.parametrize("work", ["label", "decide"])
async def test_annotators_and_adjudicators_at_work_see_no_ruling(tmp_path: Path, work: str) -> None:
    path = queued(tmp_path / "free.db")
    ruled_everywhere(path)
    app = WorkbenchApp(path, annotator="ben")
    async with app.run_test(size=(100, 30)) as pilot:
        await app.push_screen(
            AnnotateScreen("round", "ben") if work == "label" else AdjudicateScreen("round")
        )
        await settle(app, pilot)
        seen = [screen_text(app)]
        assert "agree" in seen[0]
        for key in ("g", "escape", "r", "a", "v", "escape", "z", "question_mark"):
            await press(app, pilot, key)
            seen.append(screen_text(app))
        for text in seen:
            assert "zora" not in text
            assert "auditor thinks" not in " ".join(text.split())
            assert "ruled" not in text


@pytest.mark.e2e
async def test_who_decides_on_issue_labels_sees_no_ruling_and_cannot_rule_there(
    tmp_path: Path,
) -> None:
    path = issue_store(tmp_path / "issues.db", "a-1", "a-2")
    with Store.open(path) as store:
        for ref in ("a-1", "a-2"):
            thing = subjects.statement_subject(store, "small", ref)
            store.rulings.rule(thing.subject, RulingVerdict.EXCLUDED, auditor="zora", reason=SECRET)
    label(path, "ana", {"a-1": {"law_and_order": 1}, "a-2": {"law_and_order": 0}})
    app = WorkbenchApp(path, annotator="ben")
    async with app.run_test(size=(100, 30)) as pilot:
        await app.push_screen(IssueGoldScreen("small"))
        await settle(app, pilot)
        for key in ("r", "tab", "r", "tab", "enter"):
            await press(app, pilot, key)
            assert not isinstance(app.screen, RulingDialog)
            assert "zora" not in screen_text(app)
            assert "r Rule" not in screen_text(app)


@pytest.mark.e2e
def test_the_connection_of_an_annotator_cannot_read_rulings(tmp_path: Path) -> None:
    path = queued(tmp_path / "free.db")
    ruled_everywhere(path)
    with (
        Annotator.open(path, "round", "ben") as person,
        pytest.raises(DatabaseError, match="prohibited"),
    ):
        person.connection.execute("select * from ruling").fetchall()


def first_reading(app: WorkbenchApp) -> str:
    found = app.screen.query_one(FluidTable)
    return found.get_cell_at(Coordinate(found.cursor_row, 1)).plain


@pytest.mark.e2e
@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
async def test_the_row_of_a_misread_answer_has_the_reading_that_figures_use_beside_that_of_the_reader(
    path: Path, size: tuple[int, int]
) -> None:
    app = WorkbenchApp(path, start="audit", annotator="otto")
    async with app.run_test(size=size) as pilot:
        await settle(app, pilot)
        await press(app, pilot, "down", "enter", "enter")
        before = flowing(app)
        await press(app, pilot, "enter")
        read = first_reading(app)
        assert read == "+ agree"
        await press(app, pilot, "r", "m", "2", *"no", "enter")
        assert first_reading(app) == "− disagree, ruled"
        assert "− disagree by a person's ruling; the reader: + agree" in flowing(app)
        await press(app, pilot, "d")
        assert "disagree, ruled" in first_reading(app), (
            "it is among the answers that count as disagreement"
        )
        await press(app, pilot, "0", "enter")
        assert "the reader: + agree" in flowing(app)
        await press(app, pilot, "escape", "escape")
        assert flowing(app) != before, "the wordings are judged with the ruling"
        await press(app, pilot, "escape", "escape", "A", "enter", "enter", "enter")
        assert first_reading(app) == read, "figures without rulings rest on the reader"
        assert "ruled by otto: misread (disagree) – no" in flowing(app)


@pytest.mark.e2e
async def test_a_long_reason_leaves_the_answer_in_sight_and_is_whole_with_the_whole_answer(
    path: Path,
) -> None:
    reason = (
        " ".join(["it repeats the words of the prompt and asserts nothing,"] * 5)
        + " so it is no answer"
    )
    with Store.open(path) as store:
        subjects.add_ruling(
            store,
            subjects.find_subject(store, "env-03"),
            RulingVerdict.LOOK_AGAIN,
            auditor="eva",
            reason=reason,
            reading=None,
        )
    app = WorkbenchApp(path, start="audit", annotator="otto")
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(app, pilot)
        await press(app, pilot, "down", "enter", "enter", "enter")
        text = app.screen.query_one("#text").region
        assert text.y < app.screen.query_one("#answer").region.bottom - 1, (
            "the answer begins in sight"
        )
        assert "… (Enter shows all)" in flowing(app)
        await press(app, pilot, "enter")
        assert isinstance(app.screen, WholeAnswerScreen)
        assert "so it is no answer" in flowing(app)
