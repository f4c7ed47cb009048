"""Every option of every command has a field in a form, or a reason why it has none."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from textual.screen import Screen

from tests.conftest import instrument
from tests.tui.conftest import made
from workbench.commands.command import Command
from workbench.commands.export import ExportCommand
from workbench.commands.registry import IMMEDIATE_COMMANDS, immediate_command
from workbench.commands.run import RunCommand
from workbench.data import shipped_codebook
from workbench.domain.annotations import Described
from workbench.domain.statements import ORIGINAL
from workbench.tui.annotation.codebook import CodebookForm
from workbench.tui.annotation.people import PersonForm
from workbench.tui.annotation.queues import QueueForm
from workbench.tui.app import WorkbenchApp
from workbench.tui.jobs.job_form import JobForm
from workbench.tui.kit.command_dialog import ReportDialog, RowsDialog
from workbench.tui.statements.bulk_form import BulkForm
from workbench.tui.statements.choice_form import ChoiceForm
from workbench.tui.statements.export_form import ExportScreen
from workbench.tui.statements.statement_form import AboutForm, InstrumentForm, StatementForm
from workbench.tui.statements.wording_form import WordingForm, WordingTask

STATEMENT = instrument().statements[0]
IN_SIGHT = "what the form was opened on"
ASKED_ONCE = "the terminal asks for it once and remembers it"
ON_SCREEN = {"instrument": IN_SIGHT, "person": ASKED_ONCE}
NARROWER = "the dialog writes everything; the command line has narrower choices"
ELSEWHERE = "of the other kind of export, which has a form of its own"


@dataclass(frozen=True)
class Form:
    """The fields of a command in a form of the terminal."""

    screen: Callable[[], Screen[Any]]
    ids: Mapping[str, str] = field(default_factory=dict)
    "option -> id of its field, if that is not the name of the option"
    missing: Mapping[str, str] = field(default_factory=dict)
    "option -> reason why it has no field"


def bulk() -> Screen[Any]:
    return BulkForm("small", (STATEMENT.ref,))


def about() -> Screen[Any]:
    return AboutForm("small", STATEMENT)


def choice() -> Screen[Any]:
    return ChoiceForm("small", (STATEMENT.ref,), "en")


def statement() -> Screen[Any]:
    return StatementForm("small", "en", 0)


def edited_wording() -> Screen[Any]:
    return WordingForm("small", WordingTask(STATEMENT, "en", ORIGINAL))


def new_wording() -> Screen[Any]:
    return WordingForm("small", WordingTask(STATEMENT, "en", None, ("de",)))


OF_BULK = {**ON_SCREEN, "refs": IN_SIGHT}
OF_CHOICES = {**ON_SCREEN, "questions": IN_SIGHT, "language": IN_SIGHT}
OF_REPORT = (
    "audit",
    "model",
    "instrument",
    "answers",
    "as_published",
    "without_rulings",
    "same_within",
    "table",
    "title",
    "every_file",
    "seed",
)
FORMS: Mapping[str, Form] = {
    "report": Form(
        ReportDialog,
        missing={
            **dict.fromkeys(OF_REPORT, NARROWER),
            "compare": "the runs that are marked on the screen below",
        },
    ),
    "sample": Form(QueueForm, ids={"model": "models"}),
    "start_instrument": Form(InstrumentForm, ids={"new_instrument": "name", "scheme": "issues"}),
    "add_statement": Form(statement, ids={"add": "ref", "question": "text"}, missing=ON_SCREEN),
    "edit_wording": Form(
        edited_wording,
        missing={**ON_SCREEN, **dict.fromkeys(("edit", "variant", "language"), IN_SIGHT)},
    ),
    "add_wording": Form(new_wording, ids={"add_variant": "kind"}, missing=ON_SCREEN),
    "rename_statement": Form(about, ids={"rename": "ref"}, missing=ON_SCREEN),
    "derive_statement": Form(about, ids={"derive": "derived_from"}, missing=ON_SCREEN),
    "tag_statements": Form(bulk, ids={"tag": "value"}, missing=OF_BULK),
    "untag_statements": Form(bulk, ids={"untag": "value"}, missing=OF_BULK),
    "set_field": Form(bulk, ids={"set": "value"}, missing=OF_BULK),
    "replace_text": Form(bulk, ids={"replace": "new"}, missing=OF_BULK),
    "strip_spaces": Form(bulk, ids={"strip": "act"}, missing=OF_BULK),
    "add_question": Form(
        statement,
        ids={"key": "ref"},
        missing={**ON_SCREEN, "changed": "F on the question makes it, a on the question writes it"},
    ),
    "make_forms": Form(choice, ids={"bias": "make"}, missing=OF_CHOICES),
    "perturb_questions": Form(choice, ids={"kinds": "key_typo"}, missing=OF_CHOICES),
    "describe_person": Form(
        lambda: PersonForm(Described("Ada", (), {}, "")),
        ids={"set": "age_group", "unset": "age_group"},
        missing={"describe": IN_SIGHT, "person": ASKED_ONCE},
    ),
    "change_codebook": Form(
        lambda: CodebookForm(shipped_codebook("stance")),
        ids={"change": "guideline"},
        missing={"codebook": IN_SIGHT, "annotator": ASKED_ONCE},
    ),
}
"method of the Python interface -> the form that its command has in the terminal"
EXPORTS = (
    Form(
        lambda: ExportScreen("small"),
        ids={"force": "taken"},
        missing={
            "instrument": IN_SIGHT,
            "what": IN_SIGHT,
            **dict.fromkeys(("model", "audit", "expand", "names", "without_rulings"), ELSEWHERE),
        },
    ),
    Form(
        RowsDialog,
        ids={"names": "people", "people": ""},
        missing={
            **dict.fromkeys(("people", "force"), ELSEWHERE),
            **dict.fromkeys(("instrument", "model", "audit", "without_rulings"), NARROWER),
        },
    ),
)
"forms of `export`: of an instrument, and of rows"
KEYS: Mapping[str, Sequence[str]] = {
    "a key acts on the row under the cursor and asks what it needs": (
        "delete_wording",
        "set_relation",
        "archive_statements",
        "restore_statements",
        "undo_edit",
        "set_scale",
        "set_question",
        "label_issue",
        "adjudicate_issue",
        "set_gold_minimum",
        "adjudicate",
        "restore_codebook",
        "rule",
        "undo_ruling",
        "draw_control_sample",
        "withdraw_control_sample",
        "pause_job",
        "resume_job",
        "cancel_job",
        "retry_job",
        "hide_job",
        "unhide_job",
        "delete_job",
    ),
    "files are moved by the command line and by Python": (
        "prompts",
        "import_issue_labels",
        "export_issue_labels",
        "import_survey_answers",
        "export_survey_answers",
        "export_labels",
        "import_labels",
        "merge_labels",
        "export_codebook",
        "export_rulings",
        "import_rulings",
    ),
    "rare, so on the command line and in Python": ("set_issues", "set_concurrency"),
}
"why there is no form -> methods"
RUN = Form(
    JobForm,
    ids={"exact": "answers", "until_decided": "answers"},
    missing={"quick": "the field of statements takes the word"},
)


def test_every_command_has_a_form_or_a_reason() -> None:
    without = [method for methods in KEYS.values() for method in methods]
    assert sorted(["export", *FORMS, *without]) == sorted(IMMEDIATE_COMMANDS)


@pytest.mark.e2e
async def test_every_option_has_a_field_in_a_form(tmp_path: Path) -> None:
    commands: list[tuple[type[Command], Form]] = [(RunCommand, RUN)]
    commands += [(ExportCommand, form) for form in EXPORTS]
    commands += [(immediate_command(method), form) for method, form in FORMS.items()]
    app = WorkbenchApp(made(tmp_path / "x.db", instrument()))
    faults = {}
    async with app.run_test(size=(140, 40)):
        for command, form in commands:
            screen = form.screen()
            await app.push_screen(screen)
            ids = {widget.id for widget in screen.query("*")}
            await app.pop_screen()
            names = command.declared()
            missing = {name for name in names if form.ids.get(name, name) not in ids}
            if missing != set(form.missing):
                faults[command.__name__] = missing ^ set(form.missing)
    assert not faults
