"""Commands that make, fill and check a store, and the one that opens it."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from workbench import registry
from workbench.cli.asking import agreed
from workbench.cli.importing_choices import say_choices, say_notes, uncounted_choices
from workbench.cli.output import print_json, say
from workbench.cli.verbs import Namespace, verb
from workbench.domain.counting import plural
from workbench.errors import UsageError
from workbench.figures.visible import visible
from workbench.options.option import Option, Type, flag
from workbench.options.shared import ANNOTATOR, INSTRUMENT, JSON, QUEUE, STORE

if TYPE_CHECKING:
    from stores.instruments.instruments import Imported
    from workbench.domain.instruments import Instrument
    from workbench.domain.questionnaire_tallies import Tallied
    from workbench.domain.questionnaires import Questionnaire

SHIPPED = "veldania"


def welcome() -> int:
    """Open the terminal on the choice of a store."""
    from workbench.tui.welcome import run_welcome

    return run_welcome(Path.cwd())


SCREENS = ("home", "statements", "jobs", "annotate", *(place.mode for place in registry.places()))
FORMATS = registry.names(
    registry.FORMATS, ("csv", "jsonl", "probvaa", "propositions", "answers", "choices", "biasmonkey")
)


@verb(
    STORE.but(help="the project's file; made after asking where there is none"),
    Option("screen", "where to begin", default="home", choices=SCREENS),
    ANNOTATOR,
    QUEUE.but(none="chosen on the screen"),
)
def open_store(options: Namespace) -> int:
    """Open the terminal; make the store after asking where there is none."""
    path: Path = options.store
    if not path.exists():
        if not agreed(f"There is no store at {path}. Make one? [Y/n] "):
            raise UsageError(f"nothing was made. To make a store: workbench init {path}")
        with_demo = agreed(f"Put the shipped instrument ({SHIPPED}) into it? [Y/n] ")
        make(path, demo=with_demo)
    if not sys.stdout.isatty():
        raise UsageError("the workbench needs a terminal; without one use its commands, see: workbench --help")
    from workbench.tui.app import run_app

    return run_app(path, start=options.screen, annotator=options.annotator, queue=options.queue)


@verb(STORE, flag("demo", "with the instrument that ships with workbench"))
def init(options: Namespace) -> int:
    """Make a store."""
    if options.store.exists():
        raise UsageError(f"{options.store} exists already; open it with: workbench {options.store}")
    make(options.store, demo=options.demo)
    say(f"Made {options.store}." + (f" It holds the instrument {SHIPPED}." if options.demo else ""))
    if options.demo:
        ask = "--model smollm2 --family user --statements 8 --templates 2 --samples 10 --temperature 0.4"
        say(f"Next: workbench run {options.store} {ask}")
    else:
        say(f"Next: workbench import {options.store} --format FORMAT PATH, with one of: {', '.join(FORMATS)}")
    return 0


def make(path: Path, *, demo: bool, instrument: str = SHIPPED) -> None:
    """Make the store at `path` where there is none yet; with `demo`, see to it that a shipped instrument is in it."""
    from stores.core.store import Store

    with Store.open(path, create=True) as store:
        if store.notice:
            print(visible(store.notice), file=sys.stderr)
        if demo and instrument not in store.instruments.names():
            store.instruments.add(shipped_instrument(instrument))


def shipped_instrument(name: str = SHIPPED) -> Instrument:
    """Return an instrument that ships with workbench."""
    from workbench.formats.read import read_shipped

    return read_shipped(name)


@verb(
    STORE,
    Option("path", type=Type.PATH, positional=True, required=True),
    Option("format", "see data/README.md", required=True, choices=FORMATS),
    Option("name", "name of the instrument in the store", none="the file's own"),
    INSTRUMENT.but(help="answers: whose questions they are to"),
    Option("missing", "answers: what is no answer, as in --missing=-99,99", metavar="CODE,…"),
    Option("ignore", "answers: columns that are no questions", metavar="COLUMN,…"),
    flag("skip", "biasmonkey: leave out files at fault, and name them"),
    Option("left_right", "probvaa: parties' left-right positions", Type.PATH, metavar="CSV"),
    JSON,
)
def import_instrument(options: Namespace) -> int:
    """Import an instrument: all of it, or nothing."""
    from stores.core.store import Store
    from workbench.formats.read import is_part, read_instrument

    if options.format == "answers":
        return _import_answers(options)
    if options.instrument is not None:
        raise UsageError("--instrument belongs to --format answers; an instrument is named with --name")
    if options.missing is not None or options.ignore is not None:
        raise UsageError(
            "--missing and --ignore belong to --format answers; a folder says in instrument.toml what of its "
            "answers.csv is no answer: missing and ignored"
        )
    if options.left_right is not None and options.format != "probvaa":
        raise UsageError("--left-right belongs to --format probvaa; the csv format has parties.csv for positions")
    if options.skip and options.format != "biasmonkey":
        raise UsageError("--skip belongs to --format biasmonkey; the files of any other format are one instrument")
    instrument = read_instrument(
        options.format, options.path, options.name, left_right=options.left_right, skip=options.skip
    )
    with Store.open(options.store, create=True) as store:
        imported = store.instruments.add(instrument, part=is_part(options.format, instrument))
    languages = Counter(w.language for s in instrument.statements for w in s.wordings)
    notes = (*instrument.notes, *uncounted_choices(instrument))
    if options.json:
        print_json(asdict(imported) | {"languages": dict(languages), "notes": notes})
        return 0
    say(
        f"{imported.name}: {len(instrument.statements):,} statements ({imported.added:,} new, {imported.changed:,} "
        f"changed, {imported.unchanged:,} as before, {imported.retired:,} retired), {imported.wordings:,} wordings, "
        f"{imported.templates} templates"
    )
    for name, version in imported.edited:
        say(f"- the template {name} was edited: this is version {version}; answers to the versions before stay")
    if instrument.questionnaire is not None:
        say(f"questionnaire: {_counted(instrument.questionnaire)}")
    if imported.choices is not None:
        say_choices(instrument, imported.choices)
    if languages:
        say("wordings by language: " + ", ".join(f"{language} {n:,}" for language, n in sorted(languages.items())))
    say_notes(notes, imported.choices.models if imported.choices is not None else ())
    if imported.kept:
        say(f"- {imported.kept:,} statements were changed here, and not in the file: they stay as they are here")
    _say_answers(instrument, imported, options.store)
    if imported.skipped:
        say(f"- {imported.skipped:,} labels or answers on statements that the instrument does not have were left out")
    if imported.choices is not None and imported.choices.without_text:
        say(f"- {imported.choices.without_text:,} questions that models answered are no statements here: no text")
    say(f"Next: workbench {_next(instrument, options.store)}")
    return 0


def _next(instrument: Instrument, store: Path) -> str:
    if instrument.answer_sets:
        return f"verdicts {store} --audit response_bias --instrument {instrument.name}"
    return f"lint {store}"


def _import_answers(options: Namespace) -> int:
    from workbench.cli.questionnaires import import_answers

    if options.left_right is not None:
        raise UsageError("--left-right belongs to --format probvaa")
    code = import_answers(options)
    if not options.json:
        from stores.core.store import Store

        with Store.open(options.store) as store:
            name = options.instrument or options.name or store.instruments.only()
            answers = store.questionnaires.tallied(name)
        if answers is not None:
            _say_numbers(answers, options.store)
    return code


def _say_answers(instrument: Instrument, imported: Imported, store: Path) -> None:
    """Say what the import did to the questionnaire, what is odd about it, and what its numbers mean."""
    from workbench.cli.questionnaires import odd_answers, said_of
    from workbench.domain.questionnaire_tallies import tallied

    if imported.answers is not None and (imported.answers.added or imported.answers.known):
        say(f"- {said_of(imported.answers)}")
    for odd in odd_answers(instrument):
        say(f"- {odd}")
    if instrument.questionnaire is not None:
        _say_numbers(tallied(instrument.questionnaire), store)


def _say_numbers(answers: Tallied, store: Path) -> None:
    """Say what answers in numbers were taken for: nothing in a file shows that its scale runs the other way."""
    from workbench.answer_scales import numbers_said

    for scale, said in numbers_said(answers):
        adjust = f"workbench questionnaire {store} --scale {scale} --map ANSWER=MEANING"
        say(f"- {scale}: answers in numbers were read as {said}; adjust: {adjust}")


def _counted(questionnaire: Questionnaire) -> str:
    """Say how large a questionnaire is: `6 context and 2 target questions, 15 respondents`."""
    from workbench.domain.questionnaires import Role

    context, target = (len(questionnaire.of_role(role)) for role in (Role.CONTEXT, Role.TARGET))
    people = len(questionnaire.respondents)
    return f"{context:,} context and {plural(target, 'target question')}, {plural(people, 'respondent')}"
