"""Home says what there is, what runs, and what to do next."""

from __future__ import annotations

import ast
import os
import threading
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest
from textual.widgets import OptionList

from stores.annotation.annotator import Annotator
from stores.core.store import Store
from tests.conftest import instrument
from tests.tui.annotation_stores import QUEUE, answers, labelling_store
from tests.tui.bias_stores import asked, full
from tests.tui.conftest import flowing, hostile_instrument, made, screen_text, until
from workbench import registry
from workbench.audits.bias_score.judged import judge_bias
from workbench.domain.annotations import DisagreementReason
from workbench.domain.designs import Design
from workbench.domain.statements import VariantKind
from workbench.inference.scripted.model import ScriptedModel, ScriptedPersona
from workbench.jobs import launch
from workbench.pipeline import asking, planning
from workbench.pipeline.drafting import draft_by_rule
from workbench.tui.app import WorkbenchApp
from workbench.tui.home import home
from workbench.tui.home.home import HomeScreen
from workbench.tui.keymap import screens
from workbench.tui.kit.base import Background
from workbench.tui.kit.command_dialog import ReportDialog
from workbench.tui.overview import Judgement, read_judgement
from workbench.tui.review.review import ReviewScreen
from workbench.tui.statements.drafts import DraftsScreen


def answered(path: Path, *, agree: float = 1.0) -> Path:
    """Let a scripted model answer everything of a small instrument, in this process."""
    with Store.open(path) as store:
        plan = planning.plan(store, Design("small", "scripted", samples=30))
        job = launch.create(store, plan.design, plan)
        attempt = store.jobs.claim(job, "test")
        model = ScriptedModel(ScriptedPersona(agree=agree, unreadable=0.0))
        asking.collect(store, plan, model, attempt=attempt, job=job)
        store.jobs.finish(job, attempt, "done", "all is stored")
    return path


async def test_a_figure_that_fails_says_so_in_its_place_and_the_others_stand(
    path: Path, faults: list[BaseException]
) -> None:
    def broken(*_: object) -> None:
        raise KeyError(17)

    app, patch = WorkbenchApp(answered(path)), pytest.MonkeyPatch()
    patch.setattr(type(registry.audit("bias_score")), "answered", broken)
    async with app.run_test(size=(80, 40)) as pilot:
        await until(pilot, lambda: "of 3 stances" in screen_text(app))
        text = flowing(app)
        assert "Bias could not be worked out workbench has a fault here (KeyError: 17)." in text
        assert "F5 tries again" in text
        log = Path(os.environ["XDG_STATE_HOME"]) / "workbench" / "faults.log"
        assert "raise KeyError(17)" in log.read_text(encoding="utf-8")
        assert isinstance(faults.pop(), KeyError)
        patch.undo()
        await pilot.press("f5")
        await until(pilot, lambda: "could not be worked out" not in screen_text(app))


def test_no_worker_of_any_screen_can_end_the_program() -> None:
    """Every class with workers shows what one of them cannot do, and no worker is started that ends
    the app.
    """
    for module in {kind.__module__ for kind in screens()} | {"workbench.tui.app"}:
        tree = ast.parse(Path(str(import_module(module).__file__)).read_text(encoding="utf-8"))
        for call in (one for one in ast.walk(tree) if isinstance(one, ast.Call)):
            if (
                getattr(call.func, "id", "") == "work"
                or getattr(call.func, "attr", "") == "run_worker"
            ):
                assert "exit_on_error" in {one.arg for one in call.keywords}, (
                    f"{module}:{call.lineno}"
                )
        for kind in (one for one in tree.body if isinstance(one, ast.ClassDef)):
            decorated = [
                one for one in kind.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)
            ]
            calls = (
                one
                for one in ast.walk(ast.Module(list(decorated), []))
                if isinstance(one, ast.Call)
            )
            if any(getattr(one.func, "id", "") in ("work", "worker") for one in calls):
                assert issubclass(getattr(import_module(module), kind.name), Background), (
                    f"{module}.{kind.name}"
                )


@pytest.mark.e2e
async def test_an_empty_store_says_how_to_get_an_instrument(tmp_path: Path) -> None:
    app = WorkbenchApp(made(tmp_path / "empty.db"))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "import the shipped instrument veldania" in screen_text(app))
        assert "i imports your own files, with a preview" in screen_text(app)


async def test_enter_imports_the_shipped_instrument_where_there_is_none(tmp_path: Path) -> None:
    store_path = made(tmp_path / "empty.db")
    app = WorkbenchApp(store_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "import the shipped" in screen_text(app))
        await pilot.press("enter")
        await until(pilot, lambda: "Instrument  veldania" in screen_text(app))
        assert "i Import" in screen_text(app)
    with Store.open(store_path) as store:
        assert store.instruments.names() == ("veldania",)


async def test_an_instrument_without_answers_leads_to_a_job(path: Path) -> None:
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "3 statements · 18 wordings · en" in screen_text(app))
        assert "then n: ask a model" in screen_text(app)
        await until(pilot, lambda: "checking" not in screen_text(app))


async def test_the_newest_run_is_told_by_the_share_that_does_not_depend_on_the_number_of_answers(
    path: Path,
) -> None:
    app = WorkbenchApp(answered(path))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "of 3 stances" in screen_text(app))
        text = screen_text(app)
        assert "keeps 0.0 % of 3 stances" in text  # always agreeing fails negation and opposite
        await pilot.press("W")
        await until(pilot, lambda: isinstance(app.screen, ReportDialog))
        await pilot.press("escape")
        assert "answers of 1 model" in text
        assert "✓ done" in text


async def test_the_cursor_stays_on_its_line_when_a_job_appears(path: Path) -> None:
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        facts = app.screen.query_one("#facts", OptionList)
        await until(pilot, lambda: facts.option_count == 2)
        assert facts.highlighted_option is not None
        assert facts.highlighted_option.id == "next:job", "the first thing to do"
        await pilot.press("G")
        assert facts.highlighted_option.id == "instrument:small"
        await pilot.press("g")
        assert facts.highlighted_option.id == "next:job"
        await pilot.press("down")
        with Store.open(path) as store:
            launch.create(store, Design("small", "scripted", samples=2))
        assert isinstance(app.screen, HomeScreen)
        app.screen.action_refresh()
        await until(pilot, lambda: "Job 1" in screen_text(app))
        assert facts.highlighted_option is not None
        assert facts.highlighted_option.id == "instrument:small"


@pytest.mark.e2e
async def test_progress_of_a_job_is_seen_without_a_key(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.tui.home.home.REFRESH_S", 0.05)
    with Store.open(path) as store:
        job = launch.create(store, Design("small", "scripted", samples=2))
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "◌ queued" in screen_text(app))
        with Store.open(path) as store:
            store.jobs.claim(job, "test")
        await until(pilot, lambda: "▸ running" in screen_text(app))


@pytest.mark.parametrize("busy", [False, True])
async def test_labels_decisions_and_flags_are_on_home_without_a_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, busy: bool
) -> None:
    monkeypatch.setattr("workbench.tui.home.home.REFRESH_S", 0.02)
    path = labelling_store(tmp_path / "audit.db", answers(3))
    if busy:
        with Store.open(path) as store:
            store.jobs.claim(launch.create(store, Design("small", "scripted", samples=2)), "test")
    app = WorkbenchApp(path)
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: "6 labels" in screen_text(app))
        for name, label in (("ana", "agree"), ("ben", "disagree")):
            with Annotator.open(path, QUEUE, name) as person:
                item = person.item(1)
                person.label(item.unit, label)
        await until(
            pilot,
            lambda: "4 labels" in screen_text(app) and "1 item  of the queue" in screen_text(app),
        )
        with Store.open(path) as store:
            codebook = store.queues.get(QUEUE).codebook
            store.labels.decide(1, codebook, "agree", DisagreementReason.OTHER, "", "eva")
        await until(pilot, lambda: "adjudicate  →" not in screen_text(app))
        with Annotator.open(path, QUEUE, "ana") as person:
            item = person.next()
            assert item is not None
            person.label(item.unit, "agree")
            person.remark(item.unit, flagged=True, note="")
        await until(pilot, lambda: "1 item  flagged" in screen_text(app))


async def test_f5_judges_anew_what_has_not_changed(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged: list[Store] = []

    told: list[str] = []

    def judge(store: Store, tell: Callable[[str], None]) -> Judgement:
        judged.append(store)
        return read_judgement(store, lambda what: (told.append(what), tell(what)))

    monkeypatch.setattr(home, "read_judgement", judge)
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: len(judged) == 1 and home.JUDGING not in screen_text(app))
        total = int(told[0].split()[2].rstrip(":"))
        assert [int(what.split()[0]) for what in told] == list(range(1, total + 1)), (
            "how far it is, of how much"
        )
        await pilot.press("f5")
        await until(pilot, lambda: len(judged) == 2)


async def test_the_notice_of_a_slow_store_is_shown(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stores.core.machines.file_system", lambda _path: "nfs4")
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "network file system (nfs4)" in screen_text(app))


@pytest.mark.e2e
async def test_hostile_names_are_shown_literally(tmp_path: Path) -> None:
    app = WorkbenchApp(made(tmp_path / "audit.db", hostile_instrument(), instrument()))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "[bold]host" in screen_text(app))


@pytest.mark.e2e
async def test_enter_on_a_line_opens_what_it_is_about(path: Path) -> None:
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "small" in screen_text(app))
        await pilot.press("G", "enter")
        assert app.current_mode == "statements"


@pytest.mark.e2e
async def test_labels_the_classifier_and_the_bias_stand_on_home_and_enter_goes_there(
    tmp_path: Path,
) -> None:
    path = full(tmp_path / "bias.db")
    with Store.open(path) as store:
        judged = judge_bias(store)
        totals = {model: judged.report.figure(model).total for model in judged.report.tally.models}
    app = WorkbenchApp(path)
    async with app.run_test(size=(110, 40)) as pilot:
        await until(pilot, lambda: "Bias        droite-13b" in screen_text(app))
        text = screen_text(app)
        assert "Classifier  " in text
        total = totals["droite-13b"]
        assert f"droite-13b  {total.value:+.2f} [{total.low:+.2f}, {total.high:+.2f}]" in text
        assert f"+{len(totals) - 1}  → 6" in text, "one line tells of the others"
        assert "leans right" in text
        assert "milieu-1b  " not in text
        facts = app.screen.query_one(OptionList)
        facts.highlighted = next(
            n
            for n, option in enumerate(facts.options)
            if (option.id or "").startswith("results:bias")
        )
        await pilot.press("enter")
        await until(pilot, lambda: app.current_mode == "results")


@pytest.mark.e2e
async def test_answers_that_nobody_labelled_lead_to_annotation(tmp_path: Path) -> None:
    app = WorkbenchApp(asked(tmp_path / "bias.db"))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "then n: draw answers for people to label" in screen_text(app))
        await pilot.press("a")
        await until(pilot, lambda: app.current_mode == "annotate")


@pytest.mark.e2e
async def test_what_waits_stands_on_home_and_enter_goes_there(path: Path) -> None:
    with Store.open(path) as store:
        draft_by_rule(store, "small", (VariantKind.NEGATION,))
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(
            pilot,
            lambda: (
                "To do       3 drafts  of wordings of small to review  → 2, P" in screen_text(app)
            ),
        )
        facts = app.screen.query_one("#facts", OptionList)
        facts.highlighted = [option.id for option in facts.options].index("todo:drafts small")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, DraftsScreen))


async def test_the_review_queue_waits_until_it_is_known_what_waits(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = threading.Event()

    def judged(store: Store, tell: Callable[[str], None]) -> Judgement:
        assert known.wait(60)
        return read_judgement(store, tell)

    monkeypatch.setattr(home, "read_judgement", judged)
    app = WorkbenchApp(answered(path))
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: "Responses" in screen_text(app))
        await pilot.press("V")
        assert isinstance(app.screen, HomeScreen)
        await until(pilot, lambda: home.WAITING in screen_text(app))
        known.set()
        await until(pilot, lambda: isinstance(app.screen, ReviewScreen))


@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
async def test_what_waits_is_read_first_with_its_keys_and_v_stands_below(
    path: Path, size: tuple[int, int]
) -> None:
    with Store.open(answered(path)) as store:
        draft_by_rule(store, "small", (VariantKind.NEGATION,))
    app = WorkbenchApp(path)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: "→ 2, P" in screen_text(app))
        lines = screen_text(app).splitlines()
        waits, there = (
            next(n for n, line in enumerate(lines) if words in line)
            for words in ("→ 2, P", "Instrument")
        )
        assert waits < there
        assert lines[-1].startswith("Enter Open V Review")


async def test_home_says_what_is_new_since_it_was_last_looked_at(path: Path) -> None:
    for news in ("", "1 job ended", ""):
        if news:
            with Store.open(path) as store:
                job = store.jobs.create("train", {"name": "x"}, 1)
                with store.write() as connection:
                    connection.execute("update job set state = 'cancelled' where id = ?", (job,))
        app = WorkbenchApp(path)
        async with app.run_test(size=(80, 24)) as pilot:
            await until(pilot, lambda: "Instrument" in screen_text(app))  # noqa: B023
            assert (f"New         {news}  since 20" in screen_text(app)) is bool(news), screen_text(
                app
            )
