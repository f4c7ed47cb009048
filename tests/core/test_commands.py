"""A command is written once: its verb, its form, its Python method and a job like it have all of its
options.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest

import workbench
from stores.core.store import Store
from tests.conftest import instrument
from workbench.api import typed
from workbench.api.options import keyword_of
from workbench.cli.choices import OF_ACTS
from workbench.cli.main import workbench as command_line
from workbench.cli.verbs import Verb
from workbench.commands.audit_options import settle
from workbench.commands.check import CheckCommand
from workbench.commands.choices import (
    AddQuestionCommand,
    ChoicesCommand,
    MakeFormsCommand,
    PerturbQuestionsCommand,
)
from workbench.commands.command import Command, ImmediateCommand, JobCommand
from workbench.commands.draft import DraftCommand
from workbench.commands.export import ExportCommand
from workbench.commands.import_file import (
    OF_LABELS,
    OF_LOG,
    OF_SURVEY,
    OF_TABLE,
    ImportCommand,
)
from workbench.commands.issues import ExportIssueLabelsCommand, LabelIssueCommand
from workbench.commands.jobs import PauseJobCommand, ResumeJobCommand, SetConcurrencyCommand
from workbench.commands.labels import (
    AdjudicateCommand,
    ExportLabelsCommand,
    MergeLabelsCommand,
    RestoreCodebookCommand,
)
from workbench.commands.people import DescribePersonCommand
from workbench.commands.prompts import PromptsCommand
from workbench.commands.questionnaire import SetQuestionCommand, SetScaleCommand
from workbench.commands.registry import (
    IMMEDIATE_COMMANDS,
    JOB_COMMANDS,
    immediate_command,
    job_command,
)
from workbench.commands.report import ReportCommand
from workbench.commands.review import DrawControlSampleCommand, WithdrawControlSampleCommand
from workbench.commands.rulings import ImportRulingsCommand, RuleCommand, UndoRulingCommand
from workbench.commands.run import RunCommand
from workbench.commands.sample import SampleCommand
from workbench.commands.statements import (
    AddStatementCommand,
    AddWordingCommand,
    ReplaceTextCommand,
    SetRelationCommand,
    StartInstrumentCommand,
    UndoEditCommand,
)
from workbench.commands.survey import ExportSurveyAnswersCommand, ImportSurveyAnswersCommand
from workbench.commands.train import ClassifyCommand, TrainCommand
from workbench.errors import FieldError, UsageError
from workbench.options.flags import as_arguments, spread
from workbench.options.option import Option, Type

KINDS = pytest.mark.parametrize("kind", [kind for kind in JOB_COMMANDS if kind != RunCommand.KIND])
"kinds of jobs whose forms are made of their commands"


def verb_of(kind: str) -> Verb:
    command = command_line().get_command(click.Context(command_line()), kind)
    assert command is not None
    verb: Verb = command.verb
    return verb


@KINDS
def test_every_option_is_in_the_verb_the_form_and_the_method(kind: str) -> None:
    command = job_command(kind)
    names = list(command.declared())
    assert kind == command.KIND
    in_form = [name for line in command.form_lines() for name in line]
    assert sorted(in_form) == sorted(names)
    assert set(names) <= {option.name for option in verb_of(kind).options}
    keywords = getattr(typed, command.__name__.replace("Command", "Options")).__annotations__
    assert list(keywords) == names
    assert {each.name for each in fields(command)} == set(names)


@KINDS
def test_what_leads_is_offered_or_typed_and_is_no_list(kind: str) -> None:
    for declared in job_command(kind).declared().values():
        assert not (declared.leading and declared.ticked)
        assert not (declared.all_by_default and not declared.ticked)


COMMANDS: Sequence[JobCommand] = (
    TrainCommand(),
    TrainCommand(name="a", base="some/base", steps=5, learning_rate=1e-3, by_statement=True),
    TrainCommand(training=("one", "two"), dev_share=0.1, patience=2, premise="both"),
    ClassifyCommand(),
    ClassifyCommand("tuned", "small", ("model-a", "model-b")),
    DraftCommand("small", "en", "2", ("paraphrase", "negation"), "smollm2", calls=2, keep=0),
    DraftCommand(model="rule", kind=("negation",), temperature="server", thinking="low"),
    CheckCommand("small", "none", "some/nli", ("en", "de"), low=0.4, high=0.9),
)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.KIND)
def test_a_form_filled_with_the_texts_of_a_command_is_that_command(command: JobCommand) -> None:
    texts = command.texts()
    for name, declared in command.declared().items():
        if declared.ticked and not texts[name]:
            texts[name] = None  # everything is ticked, or nothing is offered
    assert type(command).from_form(texts) == command


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.KIND)
def test_a_command_line_with_the_values_of_a_command_is_that_command(command: JobCommand) -> None:
    words = as_arguments(command.options().values(), command.values())
    verb = verb_of(command.KIND)
    parsed = command_line().get_command(click.Context(command_line()), command.KIND)
    assert parsed is not None
    with parsed.make_context(command.KIND, ["x.db", *words]) as context:
        arguments = SimpleNamespace(**context.params)
    assert {option.name for option in verb.options} >= set(command.declared())
    assert type(command).from_arguments(arguments) == command


def test_a_list_without_a_tick_is_refused_by_name() -> None:
    with pytest.raises(FieldError, match="model: tick at least one"):
        ClassifyCommand.from_form({"classifier": "", "instrument": "", "model": ()})


def test_a_number_that_no_option_takes_is_refused_by_the_label_of_its_field() -> None:
    texts: dict[str, Any] = {**TrainCommand().texts(), "training": None, "test": None}
    with pytest.raises(FieldError, match=r"dev share: found 0\.6; give 0 to 0\.5"):
        TrainCommand.from_form({**texts, "dev_share": "0.6"})


def test_cosines_in_the_wrong_order_are_refused_by_both_names(store: Store) -> None:
    store.instruments.add(instrument())
    with pytest.raises(
        FieldError, match=r"too different below: found 0\.9; give less than 0\.8"
    ) as error:
        CheckCommand(low=0.9, high=0.8).check_spec(store)
    assert error.value.flag == "--low"


def test_drafts_with_prompts_from_files_have_no_command_line(store: Store) -> None:
    store.instruments.add(instrument())
    command = DraftCommand("small", kind=("paraphrase",), model="m", calls=3)
    spec = command.draft_spec(store).as_json()
    again = DraftCommand.from_specification(store, json.loads(json.dumps(spec)))
    assert again.draft_spec(store).as_json() == spec
    spec["prompts"][0]["name"] = "mine"
    with pytest.raises(UsageError, match="give the files again"):
        DraftCommand.from_specification(store, spec)


def test_a_dry_run_of_the_rule_drafts_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from workbench.cli.main import main

    path = tmp_path / "store.db"
    with Store.open(path, create=True) as store:
        store.instruments.add(instrument())
    line = ["draft", str(path), "--model", "rule", "--kind", "negation"]
    assert main([*line, "--dry-run"]) == 0
    assert "the rule makes 3 drafts at once" in capsys.readouterr().out
    with Store.open(path) as store:
        assert not store.drafts.list("small")
    assert main(line) == 0
    assert "3 drafts wait for review" in capsys.readouterr().out


def test_every_option_of_a_run_is_in_the_verb_and_the_python_function() -> None:
    names = set(RunCommand.declared())
    assert names <= {option.name for option in verb_of("run").options}
    assert names - {"model", "audit"} <= set(typed.Asked.__annotations__)


RUNS: Sequence[RunCommand] = (
    RunCommand("scripted", statements="2", samples=7, temperature=0.5, top_k=5, until_decided=True),
    RunCommand("scripted", quick=True, seed=3, own={"until_settled": True}),
    RunCommand("smollm2", exact=True, thinking="off", dtype="bfloat16", no_default_system=True),
    RunCommand("scripted", audit="bias_score", variants="original,paraphrase-1", templates="2"),
    RunCommand("scripted", top_p="server", personas='[{"id": "a", "text": "You are A."}]'),
)


@pytest.mark.parametrize("command", RUNS)
def test_a_run_like_another_asks_the_same(store: Store, command: RunCommand) -> None:
    store.instruments.add(instrument())
    design = command.design(store)
    again = RunCommand.from_specification(store, json.loads(json.dumps(design.as_json())))
    assert again.design(store) == design
    words = as_arguments(again.all_options(), again.values())
    parsed = command_line().get_command(click.Context(command_line()), "run")
    assert parsed is not None
    with parsed.make_context("run", ["x.db", *words]) as context:
        line = SimpleNamespace(**context.params)
    assert RunCommand.from_arguments(line).design(store) == design


@pytest.mark.parametrize("method", IMMEDIATE_COMMANDS)
def test_every_option_of_an_immediate_command_is_in_the_verb_and_the_method(method: str) -> None:
    command = immediate_command(method)
    options = command.options()
    assert command.ACT in ("", *options)
    of_verb = {option.name: option for option in verb_of(command.VERB).options}
    assert set(options) <= set(of_verb)
    if not command.ACT_WORD:  # options of several such acts are one
        assert {name: vars_of(of_verb[name]) for name in options} == {
            name: vars_of(option) for name, option in options.items()
        }
    of_name = typed.__dict__.get(command.__name__.replace("Command", "Options"), object())
    parameters = {*inspect.signature(getattr(workbench.Store, method)).parameters}
    required = {name for name, option in options.items() if option.required}
    assert required <= parameters
    keywords = {*getattr(of_name, "__annotations__", {}), *parameters} - {"self", "options"}
    if command.ACT and options[command.ACT].type is Type.FLAG:
        del options[command.ACT]  # the method says it
    assert keywords == {keyword_of(option) for option in options.values()}


def vars_of(option: Option) -> dict[str, Any]:
    return {each.name: getattr(option, each.name) for each in fields(option)}


IMMEDIATE: Sequence[tuple[ImmediateCommand, Sequence[str]]] = (
    (ReportCommand(Path("out")), ["out"]),
    (
        ReportCommand(
            Path("out"),
            audit=("reliability", "bias_score"),
            model=("a (T 1, top-p 0.9)",),
            answers="all",
            without_rulings=True,
            compare=("one", "two, three"),
            same_within=0.05,
            table=("cells",),
            title="A title, with a comma",
        ),
        ["out"],
    ),
    (ExportCommand(Path("out")), ["out"]),
    (
        ExportCommand(
            Path("out"),
            what=("answers", "verdicts"),
            instrument="one,two",
            format="parquet",
            model=("a", "b"),
            expand=True,
        ),
        ["out"],
    ),
    (ExportCommand(Path("out"), people="none", force=True, format="jsonl"), ["out"]),
    (SampleCommand("tests", "test"), []),
    (AddQuestionCommand("town", "en", "odd_even", "k", "Q?\nA. x", person="Ada"), ["add"]),
    (MakeFormsCommand(bias="odd_even", questions="a,b", replace=True, middle="So"), ["forms"]),
    (PerturbQuestionsCommand(questions="2", kinds="key_typo", draws=2, seed=9), ["perturb"]),
    (ImportSurveyAnswersCommand("small", Path("survey.csv")), []),
    (ExportSurveyAnswersCommand(export=Path("survey.csv")), []),
    (PauseJobCommand(3), ["pause", "3"]),
    (ResumeJobCommand(3, yes=True), ["resume", "3"]),
    (SetConcurrencyCommand(3, 5), ["concurrency", "3", "5"]),
    (DrawControlSampleCommand(model="m", sampling="T 1", as_="Ada", draw=20, seed=3), []),
    (WithdrawControlSampleCommand("bias_score", reader="people", undraw=True), []),
    (DescribePersonCommand("Ada", set=("country=Italy", "job=nurse"), unset=("age",)), []),
    (LabelIssueCommand(label=("s-01", "law", "-1"), annotator="Ada"), []),
    (ExportIssueLabelsCommand("small", Path("gold.csv"), gold=True, fewest=1), []),
    (RuleCommand(("a", "b"), "misread", "why", "Ada", "agree"), ["a", "b", "misread"]),
    (UndoRulingCommand("3c59", as_="Ada", reason="no"), []),
    (ImportRulingsCommand(Path("rulings.jsonl")), []),
    (AddStatementCommand("small", "Ada", "en", "s-9", "Taxes, too.", tags="a,b"), []),
    (AddWordingCommand(add_variant=("s-1", "negation"), text="No."), []),
    (SetRelationCommand(relation=("s-1", "negation", "free")), []),
    (ReplaceTextCommand(refs="s-1,s-2", replace=("old", "new, newer")), []),
    (UndoEditCommand(person="Ada", undo=True), []),
    (StartInstrumentCommand("mine", "de", "My title", "smartvote"), []),
    (SetScaleCommand("small", "Ada", "four_point", ("yes=neutral", "no=step")), []),
    (SetQuestionCommand(question="s-1", role="none", yes="liberal"), []),
    (ExportLabelsCommand("tests", Path("x.jsonl"), "prodigy"), []),
    (MergeLabelsCommand("tests", "new", "test", partial=True, merge=Path("y.db")), []),
    (AdjudicateCommand(item=3, label="agree", reason="slip", annotator="Ada"), []),
    (RestoreCodebookCommand("side", "Ada", "why", restore=2), []),
    (
        SampleCommand(
            "tests", "test", "side", 2, 3, 0.5, 0.1, 9, 4, 7, "small", ("model-a", "model-b")
        ),
        [],
    ),
    (
        PromptsCommand(
            Path("out"),
            layout="openai-batch",
            model="gpt",
            request=RunCommand(
                "scripted", statements="2", temperature=0.5, own={"until_settled": True}
            ),
        ),
        ["out"],
    ),
)
"commands, with the positional arguments that their flags follow"


@pytest.mark.parametrize(("command", "positional"), IMMEDIATE)
def test_the_flags_of_an_immediate_command_make_the_same_command(
    command: ImmediateCommand, positional: Sequence[str]
) -> None:
    assert parsed_command(type(command), [*positional, *command.flags()]) == command


def parsed_command(command: type[ImmediateCommand], words: Sequence[str]) -> Command:
    """Return the command of a command line, whose words follow the store."""
    group = command_line()
    parsed = group.get_command(click.Context(group), command.VERB)
    assert parsed is not None
    several = {option.flag for option in command.options().values() if option.several}
    with parsed.make_context(command.VERB, spread(["x.db", *words], several)) as context:
        arguments = SimpleNamespace(**context.params)
    if command.VERB == ChoicesCommand.VERB:
        settle(arguments, OF_ACTS, arguments.act, "the act")
    return command.from_arguments(arguments)


def test_an_option_beside_a_frozen_plan_counts_even_if_it_is_the_default(store: Store) -> None:
    store.instruments.add(instrument())
    planned = RunCommand("scripted", seed=7, samples=4, own={"until_settled": True})
    parsed = command_line().get_command(click.Context(command_line()), "run")
    assert parsed is not None
    with parsed.make_context("run", ["x.db", "--seed", "1"]) as context:
        line = SimpleNamespace(**context.params)
    assert planned.with_arguments(line, ["store", "seed"]).seed == 1
    assert planned.with_arguments(line, ["store"]) == planned
    with pytest.raises(UsageError, match="--bias belongs to --audit response_bias"):
        planned.with_arguments(SimpleNamespace(**{**vars(line), "bias": "odd_even"}), ["bias"])


def test_every_option_of_an_import_is_in_the_verb_the_screen_and_the_method() -> None:
    names = set(ImportCommand.declared())
    assert names <= {option.name for option in verb_of("import").options}
    assert names - {"path"} == set(typed.ImportOptions.__annotations__)
    with_keys = {"path", "format", "name", "skip"}
    with_fields = {"map", "answers", "sheet", "encoding"}
    in_lines = {*OF_TABLE, *OF_SURVEY, *OF_LOG, *OF_LABELS}
    assert with_keys | with_fields | in_lines == names
