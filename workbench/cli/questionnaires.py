"""The command that shows a questionnaire and changes what its answers mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.cli.output import FIGURES, FOLDERS, print_json, say
from workbench.cli.verbs import Namespace, verb
from workbench.commands.people import changing_person
from workbench.domain.names import listed, plural
from workbench.domain.questionnaires import Form, Pole, Role, counted_roles
from workbench.errors import UnknownName, UsageError
from workbench.options.option import Option, Section, flag
from workbench.options.shared import INSTRUMENT, PERSON, STORE

if TYPE_CHECKING:
    from stores.core.store import Store
    from stores.instruments.questionnaires import (
        QuestionnaireSummary,
        QuestionRevision,
        ScaleRevision,
    )
    from workbench.domain.questionnaires import Scale
    from workbench.figures.table import AnyTable

NONE = "none"
IMPORTER = "import"
"the person of changes that an import made"
OF_QUESTION = ("role", "form", "scale_of", "yes")
EPILOG = """To import answers: workbench import STORE answers.csv --format answers.
The store keeps them as given; the scale of a question defines what they mean:

  workbench questionnaire STORE --scale four_point --map "rather yes=neutral"
  workbench questionnaire STORE --question t-3 --yes liberal"""


@verb(
    STORE,
    INSTRUMENT,
    PERSON,
    Section(
        "Acts, one at a time",
        (
            Option("scale", "set what the scale's answers mean, with --map"),
            Option("question", "change a question, or turn a statement into one", metavar="REF"),
            flag("history", "people's changes to questions and scales"),
        ),
        one_of=True,
    ),
    Option("by", "also the answers of each of these groups of people", metavar="GROUP,…"),
    flag("unweighted", "count everybody once, whatever the weights"),
    flag("all", "with --history: also changes by imports (--json has both)"),
    Section(
        "What an answer or a question is",
        (
            Option(
                "map",
                "of --scale, may be given again: yes, no, neutral, step (of an order), option "
                "(without one) or missing",
                metavar="ANSWER=MEANING",
                many=True,
            ),
            Option(
                "role",
                "of --question; none removes it, its answers stay",
                choices=(*map(str, Role), NONE),
            ),
            Option(
                "form",
                "of --question: ask it as a question, or as a statement to agree with",
                choices=tuple(map(str, Form)),
            ),
            Option("scale_of", "of --question: the scale of its answers"),
            Option("yes", "of --question: the leaning of a yes", choices=(*map(str, Pole), NONE)),
        ),
    ),
    FIGURES,
    epilog=EPILOG,
)
def questionnaire(options: Namespace) -> int:
    """Show the questions, the scales and the counts of answers, or change one of them."""
    from stores.core.store import Store

    _check_options(options)
    with Store.open(options.store) as store:
        name = options.instrument or store.instruments.only()
        if options.scale is not None:
            return _remap(store, name, options)
        if options.question is not None:
            return _change(store, name, options)
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
    if options.question is not None and not names:
        raise UsageError("give what to change: --role, --form, --scale-of or --yes")


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
        Role.CONTEXT: summary.context,
        Role.TARGET: summary.target,
        Role.SURVEY: summary.survey,
    }
    return (
        f"{counted_roles(roles)}, "
        f"{plural(summary.respondents, 'respondent')}; {plural(summary.answers, 'answer')}, "
        f"{summary.neutral:,} neutral, {summary.missing:,} missing"
    )


def _remap(store: Store, name: str, options: Namespace) -> int:
    """Change what answers of a scale mean.

    The answers and the prompts that were asked stay. New prompts are made of the answers.
    """
    from workbench.cli.output import put_out
    from workbench.domain.questionnaires import Meaning
    from workbench.workshop.questionnaire_tables import scales

    meanings = {}
    for assignment in options.map:
        value, equals, word = assignment.rpartition("=")
        if not equals or word.strip() not in tuple(Meaning):
            raise UsageError(
                f"found --map {assignment!r}; give ANSWER=MEANING, and one of {', '.join(Meaning)}"
            )
        meanings[value.strip()] = Meaning(word.strip())
    scale_by_name = store.questionnaires.scales(name)
    if options.scale not in scale_by_name:
        raise UnknownName(
            f"there is no scale {options.scale!r}. Available: {', '.join(scale_by_name)}"
        )
    scale = scale_by_name[options.scale]
    if not options.map:
        answers = ", ".join(option.values[0] for option in scale.options)
        raise UsageError(
            f'give what an answer means, as in --map "{_middle(scale)}=neutral". The answers of '
            f"{scale.name}: "
            f"{answers}"
        )
    new_scale = scale.remapped(meanings)
    n_changed = (
        store.questionnaires.set_scale(name, new_scale, person=changing_person(options.person))
        if new_scale != scale
        else 0
    )
    message = (
        "The answers have these meanings already; nothing was changed."
        if new_scale == scale
        else _said(n_changed)
    )
    metadata = {"instrument": name, "scale": new_scale, "changed": n_changed}
    tallies = store.questionnaires.tallied(name)
    tables = [] if tallies is None else [scales(tallies, new_scale)]
    put_out(options, tables, metadata, title=f"{name}: the scale {new_scale.name}", notes=[message])
    return 0


def _said(changed: int) -> str:
    """Return a sentence on the number of answers that have another meaning now."""
    if not changed:
        return "The meaning of no given answer changes."
    verb_form = "means" if changed == 1 else "mean"
    consequence = "The next run asks prompts with these answers again."
    return f"{plural(changed, 'answer')} {verb_form} something else now. {consequence}"


def _middle(scale: Scale) -> str:
    """Return an answer of a scale that might as well be neutral."""
    answers = [option.values[0] for option in scale.options if option.meaning.value != "missing"]
    return (answers or [scale.options[0].values[0]])[len(answers) // 2]


def _change(store: Store, name: str, options: Namespace) -> int:
    from stores.instruments.questionnaires import KEEP
    from workbench.domain.questionnaires import Form, Pole, Role

    is_changed = store.questionnaires.set_question(
        name,
        options.question,
        person=changing_person(options.person),
        role=KEEP if options.role is None else None if options.role == NONE else Role(options.role),
        form=KEEP if options.form is None else Form(options.form),
        scale=options.scale_of or KEEP,
        leaning=KEEP if options.yes is None else None if options.yes == NONE else Pole(options.yes),
    )
    tallies = store.questionnaires.tallied(name)
    current = (
        [
            question
            for question in tallies.questionnaire.questions
            if question.ref == options.question
        ]
        if tallies
        else []
    )
    if options.json:
        print_json(
            {"instrument": name, "changed": is_changed, "question": current[0] if current else None}
        )
        return 0
    message = "is not part of the questionnaire"
    if current:
        question = current[0]
        message = (
            f"{question.role}, {question.form}, {question.scale}, a yes leans "
            f"{question.leaning.value if question.leaning else 'nowhere'}"
        )
    say(f"{options.question}: {message}" + ("" if is_changed else "; nothing was changed"))
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


def _history_table(lines: Sequence[Changed]) -> AnyTable:
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
class Changed:
    """One revision of a question or a scale, with what it changed of the one before it."""

    at: str
    person: str
    what: str
    revision: int
    change: str
    now: Mapping[str, str]


def _changes(found: Sequence[QuestionRevision | ScaleRevision]) -> list[Changed]:
    previous: dict[str, dict[str, str]] = {}
    lines = []
    for revision in found:
        subject, values = _revision(revision)
        old_values = previous.get(subject)
        change = _difference(old_values, values) if old_values is not None else _listed(values)
        previous[subject] = values
        lines.append(
            Changed(revision.at, revision.person, subject, revision.revision, change, values)
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
