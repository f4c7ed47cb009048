"""A questionnaire is asked from the form of a sampling job: its own fields in place of those that
draw answers.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from textual.widget import Widget
from textual.widgets import Button, Collapsible, Input, Label, OptionList, Select, Static

from stores.core.store import Store
from stores.jobs.job_rows import Job
from tests.conftest import instrument
from tests.tui.conftest import made, screen_text, shown, until
from workbench.commands.run import RunCommand
from workbench.domain.designs import Design
from workbench.domain.instruments import Instrument
from workbench.domain.questionnaires import (
    YES_NO,
    Contexts,
    Form,
    Question,
    Questionnaire,
    QuestionRole,
    Respondent,
)
from workbench.domain.responses import EXACTLY, Sampling
from workbench.errors import UsageError
from workbench.jobs import launch
from workbench.tui.app import WorkbenchApp
from workbench.tui.design_form import SAMPLED_WHOLE
from workbench.tui.jobs.job_form import JobForm
from workbench.tui.jobs.job_lines import hint, job_details, subject
from workbench.tui.jobs.jobs import JobsScreen
from workbench.tui.kit.dialogs import TextScreen
from workbench.tui.kit.start_form import NOT_YET, STARTS_WITH
from workbench.tui.widgets.fields import TickList

SIZES = pytest.mark.parametrize("size", [(80, 24), (140, 40)])
SAMPLED = ("samples", "temperature", "top_p", "top_k", "max_new_tokens", "answers")
OWN = "questionnaire-"
ASKED = tuple(
    f"{OWN}{name}" for name in ("conditions", "respondents", "every", "context_questions")
)


def panel() -> Instrument:
    """Four context questions, two targets, five people who answered all of them."""
    refs = ("c-1", "c-2", "c-3", "c-4", "t-1", "t-2")
    roles = [QuestionRole.TARGET if ref.startswith("t") else QuestionRole.CONTEXT for ref in refs]
    questions = tuple(
        Question(ref, role, Form.STATEMENT) for ref, role in zip(refs, roles, strict=True)
    )
    people = tuple(
        Respondent(f"r-{n}", {ref: "yes" if (n + k) % 2 else "no" for k, ref in enumerate(refs)})
        for n in range(5)
    )
    base = replace(instrument(*refs, name="panel"), survey=(), party_answers=(), issue_labels=())
    return replace(base, questionnaire=Questionnaire(questions, (YES_NO,), people))


@pytest.fixture
def both(tmp_path: Path) -> Path:
    """A store whose first instrument has no questionnaire."""
    return made(tmp_path / "audit.db", instrument(name="a-small"), panel())


def visible_fields(app: WorkbenchApp, names: tuple[str, ...]) -> list[str]:
    """Return the fields that the form has for the audit on show, those in closed folds included."""

    def there(name: str) -> bool:
        around = app.screen.query(f"#row_{name}, #{name}").first().ancestors_with_self
        return all(
            one.display
            for one in around
            if isinstance(one, Widget) and not isinstance(one, Collapsible.Contents)
        )

    return [name for name in names if there(name)]


def marked(app: WorkbenchApp) -> list[str]:
    return [str(label.content) for label in app.screen.query(".name.-trouble").results(Label)]


def put(app: WorkbenchApp, **typed: str) -> None:
    for name, text in typed.items():
        field(app, name).value = text


def field(app: WorkbenchApp, name: str) -> Input:
    return app.screen.query_one(f"#{OWN}{name}, #{name}", Input)


@pytest.mark.e2e
@SIZES
async def test_the_form_has_the_fields_that_a_questionnaire_needs_and_no_others(
    both: Path, size: tuple[int, int]
) -> None:
    app = WorkbenchApp(both, start="jobs")
    async with app.run_test(size=size) as pilot:
        await pilot.press("n", "s")
        await until(pilot, lambda: "prompts planned" in shown(app, "#plan"))
        assert visible_fields(app, SAMPLED) == list(SAMPLED)
        assert visible_fields(app, ASKED) == []
        app.screen.query_one("#audit", Select).value = "questionnaire"
        await until(pilot, lambda: "questionnaire audit of smollm2 on panel" in shown(app, "#plan"))
        assert visible_fields(app, SAMPLED) == ["answers"]
        assert visible_fields(app, (*ASKED, "seed", "dtype", "cluster", "chat_format")) == [
            *ASKED,
            "seed",
            "dtype",
            "cluster",
            "chat_format",
        ]
        # 5 people, 2 targets: 5 x 2 originals, and 1 person (one in 10, at least one) x 2 x 3
        # paraphrases.
        assert "16 prompts planned" in shown(app, "#plan")
        assert "Start  F5" in screen_text(app)
        assert "no sampling" in screen_text(app)
        app.screen.query_one("#answers", Select).value = SAMPLED_WHOLE
        await until(pilot, lambda: "30 samples each" in shown(app, "#plan"))
        assert visible_fields(app, SAMPLED) == list(SAMPLED)
        await until(pilot, lambda: "another measure than probabilities" in shown(app, "#note"))
        app.screen.query_one("#audit", Select).value = "reliability"
        await until(pilot, lambda: "reliability audit of smollm2 on panel" in shown(app, "#plan"))
        assert visible_fields(app, SAMPLED) == list(SAMPLED)


def jobs_of(path: Path) -> int:
    with Store.open(path) as store:
        return len(store.jobs.list())


@pytest.mark.e2e
async def test_enter_in_a_field_starts_nothing_and_says_what_does(both: Path) -> None:
    app = WorkbenchApp(both, start="jobs")
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await pilot.press("n", "s")
        await until(pilot, lambda: "prompts planned" in shown(app, "#plan"))
        for name in ("model", "statements", "samples"):
            app.screen.query_one(f"#{name}", Input).focus()
            await pilot.press("enter")
            await until(pilot, lambda: STARTS_WITH in screen_text(app))
            app.screen.query_one("#told", Static).update("")
            await pilot.pause(0.1)
            assert isinstance(app.screen, JobForm)
    assert jobs_of(both) == 0


@pytest.mark.e2e
async def test_f5_starts_nothing_that_is_still_being_worked_out(
    both: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = WorkbenchApp(both, start="jobs")
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await pilot.press("n", "s")
        await until(pilot, lambda: "reliability audit of smollm2 on a-small" in shown(app, "#plan"))
        # Nothing but F5 ends the pause.
        monkeypatch.setattr("workbench.tui.kit.start_form.PAUSE_S", 3600)
        app.screen.query_one("#audit", Select).value = "questionnaire"
        await until(pilot, lambda: "Working out the plan" in shown(app, "#plan"))
        assert "reliability" not in shown(app, "#plan")
        assert app.screen.query_one("#start", Button).disabled
        await pilot.press("f5")
        assert shown(app, "#told") == NOT_YET
        await until(pilot, lambda: "questionnaire audit of smollm2 on panel" in shown(app, "#plan"))
        await pilot.pause(0.1)
        assert isinstance(app.screen, JobForm)
    assert jobs_of(both) == 0


@pytest.mark.e2e
async def test_an_audit_is_offered_without_an_empty_choice(both: Path) -> None:
    app = WorkbenchApp(both, start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("n", "s")
        await until(pilot, lambda: "prompts planned" in shown(app, "#plan"))
        for name in ("instrument", "audit", "family"):
            app.screen.query_one(f"#{name}", Select).expanded = True
            await pilot.pause()
            offered = app.screen.query_one(f"#{name} OptionList", OptionList)
            words = [
                str(offered.get_option_at_index(n).prompt) for n in range(offered.option_count)
            ]
            assert words
            assert "…" not in words
            app.screen.query_one(f"#{name}", Select).expanded = False


@pytest.mark.e2e
async def test_an_instrument_with_targets_opens_with_its_own_audit_and_what_was_chosen_stays(
    tmp_path: Path,
) -> None:
    path = made(tmp_path / "audit.db", panel(), instrument(name="z-small"))
    app = WorkbenchApp(path, start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("n", "s")
        await until(pilot, lambda: "questionnaire audit of smollm2 on panel" in shown(app, "#plan"))
        assert visible_fields(app, ASKED) == list(ASKED)
        app.screen.query_one("#instrument", Select).value = "z-small"
        await until(pilot, lambda: "reliability audit of smollm2 on z-small" in shown(app, "#plan"))
        app.screen.query_one("#audit", Select).value = "bias_score"
        await until(pilot, lambda: "bias_score audit of smollm2 on z-small" in shown(app, "#plan"))
        app.screen.query_one("#instrument", Select).value = "panel"
        await until(pilot, lambda: "bias_score audit of smollm2 on panel" in shown(app, "#plan"))


@pytest.mark.e2e
async def test_each_field_of_a_questionnaire_changes_what_is_planned(both: Path) -> None:
    app = WorkbenchApp(both, start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("n", "s")
        await until(pilot, lambda: "prompts planned" in shown(app, "#plan"))
        app.screen.query_one("#audit", Select).value = "questionnaire"
        await until(pilot, lambda: "16 prompts planned" in shown(app, "#plan"))
        put(app, every="1")
        await until(pilot, lambda: "40 prompts planned" in shown(app, "#plan"))
        app.screen.query_one("#variants", TickList).deselect_all().select("original")
        await until(pilot, lambda: "10 prompts planned" in shown(app, "#plan"))
        put(app, statements="1")
        await until(pilot, lambda: "5 prompts planned" in shown(app, "#plan"))
        put(app, respondents="2")
        await until(pilot, lambda: "2 prompts planned" in shown(app, "#plan"))
        put(app, conditions="QM, zero-shot , permuted")
        # 2 people x (1 + 6 orders) and one zero-shot prompt.
        await until(pilot, lambda: "15 prompts planned" in shown(app, "#plan"))
        assert "8 conditions" in shown(app, "#plan")


FAULTS = (
    ("conditions", "qm, dreams", "there is no condition 'dreams'", "conditions"),
    ("conditions", " , ", "found none; give qm", "conditions"),
    ("respondents", "some", "found 'some'; give a whole number", "respondents"),
    ("respondents", "99", "found 99; there are 5", "respondents"),
    ("every", "0", "found 0; give 1 or more", "one in"),
    ("context_questions", "40", "found 40; there are 4", "questions"),
    ("seed", "x", "found 'x'; give a whole number", "seed"),
)
"field, what is typed, what is said of it, the label that is marked"


@pytest.mark.e2e
async def test_what_cannot_be_is_said_and_its_field_is_marked(both: Path) -> None:
    app = WorkbenchApp(both, start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("n", "s")
        await until(pilot, lambda: "prompts planned" in shown(app, "#plan"))
        app.screen.query_one("#audit", Select).value = "questionnaire"
        await until(pilot, lambda: "16 prompts planned" in shown(app, "#plan"))
        assert marked(app) == []
        for name, value, words, named in FAULTS:
            before = field(app, name).value
            put(app, **{name: value})
            await until(pilot, lambda words=words: words in shown(app, "#plan"))
            assert marked(app) == [named]
            assert app.screen.query_one("#start", Button).disabled
            put(app, **{name: before})
            await until(pilot, lambda: "16 prompts planned" in shown(app, "#plan"))
            assert marked(app) == []


@pytest.mark.e2e
async def test_an_instrument_without_a_questionnaire_is_last_and_says_what_it_lacks(
    both: Path,
) -> None:
    app = WorkbenchApp(both, start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("n", "s")
        await until(pilot, lambda: "reliability audit of smollm2 on a-small" in shown(app, "#plan"))
        app.screen.query_one("#audit", Select).value = "questionnaire"
        await until(pilot, lambda: "on panel" in shown(app, "#plan"))
        app.screen.query_one("#instrument", Select).value = "a-small"
        await until(pilot, lambda: "a-small is not a questionnaire" in shown(app, "#plan"))
        assert marked(app) == ["instrument"]


@pytest.mark.e2e
async def test_the_fields_are_explained(both: Path) -> None:
    app = WorkbenchApp(both, start="jobs")
    async with app.run_test(size=(140, 40)) as pilot:
        await pilot.press("n", "s")
        await until(pilot, lambda: isinstance(app.screen, JobForm))
        await pilot.press("f1")
        await until(pilot, lambda: isinstance(app.screen, TextScreen))
        for words in ("conditions   ", "one in       ", "chat format  ", "permuted-kept-1"):
            assert words in shown(app, "#text")


@pytest.mark.e2e
async def test_a_questionnaire_is_started_seen_to_its_end_and_never_asked_again(
    both: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.tui.jobs.jobs.REFRESH_S", 0.1)
    app = WorkbenchApp(both, start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("n", "s")
        await until(pilot, lambda: "prompts planned" in shown(app, "#plan"))
        app.screen.query_one("#audit", Select).value = "questionnaire"
        put(app, model="scripted", conditions="qm, zero-shot")
        await until(pilot, lambda: "2 conditions" in shown(app, "#plan"))
        await pilot.press("f5")
        await until(pilot, lambda: isinstance(app.screen, JobsScreen))
        # 16 under qm as above and 2 x 4 without a context, less what people with equal answers have
        # in common.
        parts = ("✓ done", "questionnaire of scripted", "18/18", "8 shows accuracy and bias")
        await until(pilot, lambda: all(part in screen_text(app) for part in parts))
        await pilot.press("n", "s")
        await until(
            pilot, lambda: isinstance(app.screen, JobForm) and "planned" in shown(app, "#plan")
        )
        app.screen.query_one("#audit", Select).value = "questionnaire"
        put(app, model="scripted", conditions="qm, zero-shot")
        await until(pilot, lambda: "Everything is stored already" in shown(app, "#plan"))
        assert "then 8" in shown(app, "#plan")
        assert isinstance(app.screen, JobForm)
        values = app.screen.values()
        assert values is not None
    with Store.open(both) as store:
        job = store.jobs.get(1)
        assert (job.state, job.done, job.total) == ("done", 18, 18)
        store.instruments.add(replace(panel(), name="copy"))
        copied = {**values, "instrument": "copy"}
        outlook = JobForm().work_out(store, copied)
        assert "so nothing is asked. F5 counts them" in outlook.text
        assert outlook.start is not None
        noted = store.jobs.get(outlook.start(store))
        assert (noted.state, noted.done, noted.total) == ("done", 18, 18)
        assert {run.instrument for run in store.predictions.runs("questionnaire")} == {
            values["instrument"],
            "copy",
        }
        assert JobForm().work_out(store, copied).start is None


def test_the_form_becomes_a_design(both: Path) -> None:
    own = {
        "conditions": "QM, permuted, qm",
        "respondents": "all",
        "every": "4",
        "context_questions": "12",
    }
    texts = {
        "instrument": "panel",
        "audit": "questionnaire",
        "model": " o/m ",
        "family": "qm",
        "statements": "1",
        "variants": ("original",),
        "exact": True,
        "own": own,
        "chat_format": " other/instruct ",
    }
    with Store.open(both) as store:
        design = RunCommand.from_form(texts).design(store)
        assert design.contexts == Contexts(("qm", "permuted"), 0, 4, 12)
        assert (design.samples, design.sampling, design.statements) == (1, EXACTLY, ("t-1",))
        assert (design.variants, design.chat_format, design.model) == (
            ("original",),
            "other/instruct",
            "o/m",
        )
        by_default = RunCommand.from_form({**texts, "own": {}})
        assert by_default.design(store).contexts == Contexts()
    with pytest.raises(UsageError, match=r"^one in: "):
        RunCommand.from_form({**texts, "own": own | {"every": "-1"}})


def asked(path: Path, **changed: object) -> Job:
    """Return a job of a questionnaire as it stands in a store."""
    design = Design("panel", "smollm2", "questionnaire", 1, EXACTLY, family="qm")
    with Store.open(path) as store:
        return store.jobs.get(launch.create(store, replace(design, **changed)))  # type: ignore[arg-type]


def test_a_job_says_what_it_asks_of_whom(both: Path) -> None:
    job = asked(
        both,
        contexts=Contexts(("qm", "reduced"), respondents=3),
        variants=("original",),
        chat_format="other/instruct",
    )
    assert (
        subject(job)
        == "smollm2 · questionnaire · qm, reduced; 3 respondents; original wordings only"
    )
    told = replace(job, done=12, progress={"answers": 12.0, "shared": 0.83, "failed": 0.0})
    text = job_details(told).plain
    assert "questionnaire of smollm2 on panel · qm, reduced; 3 respondents" in text
    assert "p(yes) and p(no) of the next token" in text
    assert "samples per prompt" not in text
    assert "chat format other/instruct" in text
    assert "12 prompts scored in this attempt" in text
    assert "shared 83%" in text.replace(" %", "%")
    assert "unreadable" not in text
    assert hint(replace(job, state="done")) == "8 shows accuracy and bias"


def test_a_job_of_another_audit_says_nothing_of_contexts(both: Path) -> None:
    with Store.open(both) as store:
        job = store.jobs.get(
            launch.create(store, Design("panel", "scripted", samples=2, sampling=Sampling()))
        )
    assert subject(job) == "scripted · reliability"
    assert "qm" not in job_details(job).plain
