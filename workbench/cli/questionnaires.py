"""The command that shows a questionnaire and changes what its answers mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.cli.immediate import run_immediate
from workbench.cli.output import FIGURES, FOLDERS
from workbench.cli.verbs import Namespace, verb
from workbench.commands.questionnaire import SetQuestionCommand, SetScaleCommand
from workbench.domain.names import listed, plural
from workbench.domain.questionnaires import QuestionRole, counted_roles
from workbench.errors import UsageError
from workbench.options.option import Option, Section, flag
from workbench.options.shared import STORE

if TYPE_CHECKING:
    from stores.core.store import Store
    from stores.instruments.questionnaires import (
        QuestionnaireSummary,
        QuestionRevision,
        ScaleRevision,
    )
    from workbench.figures.table import AnyTable

IMPORTER = "import"
"the person of changes that an import made"
OF_QUESTION = ("role", "form", "scale_of", "yes")
EPILOG = """To import answers: workbench import STORE answers.csv --format answers.
The store keeps them as given; the scale of a question defines what they mean:

  workbench questionnaire STORE --scale four_point --map "rather yes=neutral"
  workbench questionnaire STORE --question t-3 --yes liberal"""


ACTS = (SetScaleCommand, SetQuestionCommand)
_OPTIONS = {name: option for act in ACTS for name, option in act.options().items()}


@verb(
    STORE,
    _OPTIONS["instrument"],
    _OPTIONS["person"],
    Section(
        "Acts, one at a time",
        (
            _OPTIONS["scale"],
            _OPTIONS["question"],
            flag("history", "people's changes to questions and scales"),
        ),
        one_of=True,
    ),
    Option("by", "also the answers of each of these groups of people", metavar="GROUP,…"),
    flag("unweighted", "count everybody once, whatever the weights"),
    flag("all", "with --history: also changes by imports (--json has both)"),
    Section(
        "What an answer or a question is",
        [_OPTIONS[name] for name in ("map", *OF_QUESTION)],
    ),
    FIGURES,
    epilog=EPILOG,
)
def questionnaire(options: Namespace) -> int:
    """Show the questions, the scales and the counts of answers, or change one of them."""
    from stores.core.store import Store

    _check_options(options)
    if options.question is not None:
        return run_immediate(SetQuestionCommand, options)
    with Store.open(options.store) as store:
        name = options.instrument or store.instruments.only()
        if options.scale is not None:
            return _set_scale(store, name, options)
        if options.history:
            return _history(store, name, options)
        return _show(store, name, options)


def _check_options(options: Namespace) -> None:
    """Raise UsageError if an option belongs to an act that is not asked for."""
    if options.map and options.scale is None:
        raise UsageError("--map sets what the answers of a scale mean; name the scale with --scale")
    names = [name for name in OF_QUESTION if getattr(options, name) is not None]
    if names and options.question is None:
        raise UsageError(
            f"--{names[0].replace('_', '-')} belongs to a question; name it with --question REF"
        )
    if (options.by or options.unweighted) and any(
        (options.scale, options.question, options.history)
    ):
        raise UsageError(
            "--by and --unweighted are about people's answers, which these acts do not show"
        )
    if options.all and not options.history:
        raise UsageError("--all belongs to --history; leave it out, or give --history too")
    forms = [name for name in (*FOLDERS, "html", "force") if getattr(options, name)]
    if options.question is not None and forms:
        raise UsageError(
            f"--{forms[0]} writes tables, but a change to a question prints none; leave it out"
        )


def _show(store: Store, name: str, options: Namespace) -> int:
    from workbench.cli.output import put_out
    from workbench.domain.statements import ORIGINAL
    from workbench.formats.populations import people_notes
    from workbench.pipeline.importing import no_questions
    from workbench.workshop.questionnaire_tables import book

    tallies, summary = store.at_once(
        lambda: (store.questionnaires.tallied(name), store.questionnaires.summary(name))
    )
    if tallies is None or summary is None:
        raise UsageError(no_questions(name))
    instrument = store.instruments.get(name)
    texts = {
        statement.ref: text.text
        for statement in instrument.statements
        if (text := statement.wording(ORIGINAL, instrument.language))
    }
    topics = {statement.ref: statement.topic for statement in instrument.statements}
    has_survey = summary.survey or tallies.weighted or tallies.questionnaire.published
    people = store.questionnaires.get(name) if has_survey or options.by else None
    paragraphs = [f"{name}: {_counts(summary)}"]
    if people is not None:
        paragraphs += [f"{sentence}." for sentence in people_notes(people.respondents)]
    result_book = book(
        name,
        tallies,
        texts,
        topics,
        paragraphs,
        people,
        listed(options.by),
        unweighted=options.unweighted,
    )
    hint = (
        "Adjust: workbench questionnaire STORE --scale NAME --map "
        '"ANSWER=yes|no|neutral|step|option|missing"'
    )
    tables = [result_book.table(entry.name) for entry in result_book.contents]
    put_out(
        options,
        tables,
        {**result_book.about, "summary": summary},
        title=result_book.title,
        told=result_book.told,
        notes=[hint],
    )
    return 0


def _counts(summary: QuestionnaireSummary) -> str:
    roles = {
        QuestionRole.CONTEXT: summary.context,
        QuestionRole.TARGET: summary.target,
        QuestionRole.SURVEY: summary.survey,
    }
    return (
        f"{counted_roles(roles)}, "
        f"{plural(summary.respondents, 'respondent')}; {plural(summary.answers, 'answer')}, "
        f"{summary.neutral:,} neutral, {summary.missing:,} missing"
    )


def _set_scale(store: Store, name: str, options: Namespace) -> int:
    """Change what answers of a scale mean, and print the scale."""
    from workbench.cli.output import put_out
    from workbench.workshop.questionnaire_tables import scales

    outcome = SetScaleCommand.from_arguments(options).run(store)
    scale = outcome.data["scale"]
    tallies = store.questionnaires.tallied(name)
    tables = [] if tallies is None else [scales(tallies, scale)]
    title = f"{name}: the scale {scale.name}"
    put_out(options, tables, outcome.data, title=title, notes=[outcome.sentence])
    return 0


def _history(store: Store, name: str, options: Namespace) -> int:
    from workbench.cli.output import as_data, put_out
    from workbench.pipeline.importing import no_questions

    revisions = store.questionnaires.history(name)
    if not revisions:
        raise UsageError(no_questions(name))
    with_imports = options.all or as_data(options)
    lines = [line for line in _changes(revisions) if with_imports or line.person != IMPORTER]
    left_out = len(revisions) - len(lines)
    notes = (
        [f"{plural(left_out, 'revision')} by imports not shown; --all lists them too"]
        if left_out
        else []
    )
    put_out(
        options,
        [_history_table(lines)],
        {"instrument": name},
        title=f"{name}: changes",
        notes=notes,
    )
    return 0


def _history_table(lines: Sequence[Revision]) -> AnyTable:
    """Return the table of changes to questions and scales, the oldest first."""
    from workbench.figures.table import Column, Kind, Table

    return Table(
        "history",
        "Changes to questions and scales",
        lines,
        [
            Column("at", "when", lambda line: line.at[:16].replace("T", " ")),
            Column("person", "who", lambda line: line.person),
            Column("what", "what", lambda line: line.what),
            Column("revision", "revision", lambda line: line.revision, Kind.COUNT),
            Column("change", "change", lambda line: line.change),
            Column("now", "is now", lambda line: _listed(line.now), aside=True),
        ],
        key=lambda line: (line.what, str(line.revision)),
        empty="Nobody has changed a question or a scale since the import.",
    )


@dataclass(frozen=True, slots=True)
class Revision:
    """One revision of a question or a scale, with what it changed of the one before it."""

    at: str
    person: str
    what: str
    revision: int
    change: str
    now: Mapping[str, str]


def _changes(found: Sequence[QuestionRevision | ScaleRevision]) -> list[Revision]:
    previous: dict[str, dict[str, str]] = {}
    lines = []
    for revision in found:
        subject, values = _revision(revision)
        old_values = previous.get(subject)
        change = _difference(old_values, values) if old_values is not None else _listed(values)
        previous[subject] = values
        lines.append(
            Revision(revision.at, revision.person, subject, revision.revision, change, values)
        )
    return lines


def _listed(now: Mapping[str, str]) -> str:
    return ", ".join(f"{key}: {value}" for key, value in now.items())


def _difference(old: Mapping[str, str], now: Mapping[str, str]) -> str:
    """Return the values that changed, such as `rather no: no -> neutral`."""
    keys = [*now, *(key for key in old if key not in now)]
    changes = [
        f"{key}: {old.get(key, 'new')} -> {now.get(key, 'gone')}"
        for key in keys
        if old.get(key) != now.get(key)
    ]
    return ", ".join(changes) or "the same meanings, written differently"


def _revision(one: QuestionRevision | ScaleRevision) -> tuple[str, dict[str, str]]:
    """Return the subject of a revision, and its values."""
    from stores.instruments.questionnaires import ScaleRevision

    if isinstance(one, ScaleRevision):
        return f"scale {one.scale.name}", {
            option.values[0]: option.meaning.value for option in one.scale.options
        }
    return f"question {one.ref}", {
        "role": one.role.value if one.role else "removed",
        "form": one.form.value,
        "scale": one.scale,
        "yes leans": one.leaning.value if one.leaning else "nowhere",
    }
