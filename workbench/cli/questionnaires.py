"""The command that shows a questionnaire and adjusts what its answers mean; and the import of answers."""

from __future__ import annotations

import os
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.cli.output import plain, print_json, say, table
from workbench.errors import UsageError

if TYPE_CHECKING:
    from stores.questionnaire_imports import AddedRespondents
    from stores.questionnaire_rows import QuestionRevision, ScaleRevision
    from stores.questionnaires import QuestionnaireSummary
    from stores.store import Store
    from workbench.domain.findings import LintFinding
    from workbench.domain.instruments import Instrument
    from workbench.domain.questionnaire_tallies import Tallied
    from workbench.domain.questionnaires import Scale

NONE = "none"
SCALE_COLUMNS = ("scale", "answer", "also written", "means")
OF_QUESTION = ("role", "form", "scale_of", "yes")


def questionnaire(options: Namespace) -> int:
    """Show the questions, the scales and the counts of answers; or change what one of them is."""
    from stores.store import Store

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


def import_answers(options: Namespace) -> int:
    """Add people to the questionnaire of an instrument that is in the store: all of the file, or nothing."""
    from stores.store import Store
    from workbench.formats.answers import read_answers
    from workbench.formats.tabular import Findings

    path: Path = options.path
    if not path.is_file():
        raise UsageError(f"{path}: there is no file here; give a CSV with respondents and their answers")
    if options.name and options.instrument and options.name != options.instrument:
        raise UsageError("--name and --instrument name two instruments; give one")
    with Store.open(options.store) as store:
        name = options.instrument or options.name or store.instruments.only()
        known = store.questionnaires.tallied(name)
        if known is None:
            raise UsageError(_no_questions(name))
        refs = {line.ref for line in store.instruments.lines(name)}
        findings = Findings()
        people, notes = read_answers(path, known.questionnaire, refs, findings)
        findings.check()
        if not people:
            raise UsageError(f"{path} holds no answers; nothing was changed")
        added = store.questionnaires.add_answers(name, people)
        odd = _findings(store.instruments.get(name), store.questionnaires.tallied(name))
    if options.json:
        print_json({"instrument": name, **plain(added), "notes": notes, "findings": [_finding(one) for one in odd]})
        return 0
    say(f"{name}: {said_of(added)}")
    for note in (*notes, *map(_finding, odd)):
        say(f"- {note}")
    return 0


def said_of(added: AddedRespondents) -> str:
    """Say what an import of answers changed."""
    said = [
        f"{added.added:,} respondent{'s' * (added.added != 1)} new, {added.known:,} "
        f"{'was' if added.known == 1 else 'were'} here with the same answers",
        f"{added.answers:,} answer{'s' * (added.answers != 1)} new",
    ]
    said += [f"{added.absent:,} respondents are here and not in the file: they stay"] if added.absent else []
    said += [f"{added.skipped:,} answers to questions that were taken out here are left out"] if added.skipped else []
    return "; ".join(said)


def odd_answers(instrument: Instrument) -> tuple[str, ...]:
    """Say what is odd about the questionnaire of an instrument that was read from files."""
    from workbench.domain.questionnaire_tallies import tallied

    if instrument.questionnaire is None:
        return ()
    return tuple(map(_finding, _findings(instrument, tallied(instrument.questionnaire))))


def _findings(instrument: Instrument, answers: Tallied | None) -> tuple[LintFinding, ...]:
    from workbench.lint.questionnaires import questionnaire_findings

    return () if answers is None else tuple(questionnaire_findings(instrument, answers))


def _finding(one: LintFinding) -> str:
    return f"{one.severity}: {one.subject}: {one.message}"


def _no_questions(name: str) -> str:
    return (
        f"{name} has no questions: no statement has a role. Import statements with a column role, or say one with: "
        "workbench questionnaire STORE --question REF --role context --form question"
    )


def _check_options(options: Namespace) -> None:
    """Raise UsageError where an option belongs to an act that is not asked for."""
    if options.map and options.scale is None:
        raise UsageError("--map says what answers of a scale mean; name it with --scale")
    if options.scale is not None and not options.map:
        raise UsageError('say what an answer means with --map "rather yes=neutral"')
    given = [name for name in OF_QUESTION if getattr(options, name) is not None]
    if given and options.question is None:
        raise UsageError(f"--{given[0].replace('_', '-')} is of a question; name it with --question REF")
    if options.question is not None and not given:
        raise UsageError("say what the question is with --role, --form, --scale-of or --yes")


def _person(options: Namespace) -> str:
    name: str = options.person or os.environ.get("USER", "")
    if not name:
        raise UsageError("it is not known who makes this change; give --person NAME")
    return name


def _show(store: Store, name: str, options: Namespace) -> int:
    found, summary = store.questionnaires.tallied(name), store.questionnaires.summary(name)
    if found is None or summary is None:
        raise UsageError(_no_questions(name))
    rows = _rows(store, name, found)
    if options.json:
        scales = [plain(scale) for scale in found.questionnaire.scales]
        print_json({"instrument": name, "summary": summary, "questions": rows, "scales": scales})
        return 0
    say(f"{name}: {_counts(summary)}")
    columns = ("ref", "topic", "role", "form", "scale", "leaning", "yes", "no", "neutral", "missing")
    headers = [*columns[:5], "yes leans", *columns[6:]]
    table(headers, [[_cell(row[column]) for column in columns] for row in rows])
    say()
    table(SCALE_COLUMNS, [row for scale in found.questionnaire.scales for row in _options(scale)])
    say(f'Adjust: workbench questionnaire {options.store} --scale NAME --map "ANSWER=yes|no|neutral|missing"')
    return 0


def _rows(store: Store, name: str, found: Tallied) -> list[dict[str, Any]]:
    statements = {statement.ref: statement for statement in store.instruments.get(name).statements}
    return [
        {
            "ref": question.ref,
            "topic": statements[question.ref].topic,
            "role": question.role.value,
            "form": question.form.value,
            "scale": question.scale,
            "leaning": question.leaning.value if question.leaning else None,
            **{meaning.value: people for meaning, people in found.meanings(question).items()},
        }
        for question in found.questionnaire.questions
    ]


def _cell(value: Any) -> str:
    return "" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


def _counts(summary: QuestionnaireSummary) -> str:
    return (
        f"{summary.context:,} context and {summary.target:,} target questions, {summary.respondents:,} respondents; "
        f"{summary.answers:,} answers, {summary.neutral:,} neutral, {summary.missing:,} missing"
    )


def _options(scale: Scale) -> list[list[str]]:
    return [[scale.name, one.values[0], ", ".join(one.values[1:]), one.meaning.value] for one in scale.options]


def _remap(store: Store, name: str, options: Namespace) -> int:
    """Change what answers of a scale mean; answers and their prompts stay, and others are made of them."""
    from workbench.domain.questionnaires import Meaning

    meanings = {}
    for said in options.map:
        value, sign, word = said.rpartition("=")
        if not sign or word.strip() not in tuple(Meaning):
            raise UsageError(f"found --map {said!r}; give ANSWER=MEANING, and one of {', '.join(Meaning)}")
        meanings[value.strip()] = Meaning(word.strip())
    scales = store.questionnaires.scales(name)
    if options.scale not in scales:
        from workbench.errors import UnknownName

        raise UnknownName(f"no scale is named {options.scale!r}. There is: {', '.join(scales)}")
    before = scales[options.scale]
    after = before.remapped(meanings)
    changed = store.questionnaires.set_scale(name, after, person=_person(options)) if after != before else 0
    if options.json:
        print_json({"instrument": name, "scale": after, "changed": changed})
        return 0
    table(SCALE_COLUMNS, _options(after))
    if after == before:
        say("That is what they mean already; nothing was changed.")
    elif changed:
        say(f"{changed:,} answers mean something else now. The next run asks prompts with these answers anew.")
    else:
        say("No answer that was given means something else.")
    return 0


def _change(store: Store, name: str, options: Namespace) -> int:
    from stores.questionnaires import KEEP
    from workbench.domain.questionnaires import Form, Pole, Role

    changed = store.questionnaires.set_question(
        name,
        options.question,
        person=_person(options),
        role=KEEP if options.role is None else None if options.role == NONE else Role(options.role),
        form=KEEP if options.form is None else Form(options.form),
        scale=options.scale_of or KEEP,
        leaning=KEEP if options.yes is None else None if options.yes == NONE else Pole(options.yes),
    )
    found = store.questionnaires.tallied(name)
    now = [q for q in found.questionnaire.questions if q.ref == options.question] if found else []
    if options.json:
        print_json({"instrument": name, "changed": changed, "question": now[0] if now else None})
        return 0
    said = "is no part of the questionnaire"
    if now:
        one = now[0]
        said = f"{one.role}, {one.form}, {one.scale}, a yes leans {one.leaning.value if one.leaning else 'nowhere'}"
    say(f"{options.question}: {said}" + ("" if changed else "; that it was before, nothing was changed"))
    return 0


def _history(store: Store, name: str, options: Namespace) -> int:
    found = store.questionnaires.history(name)
    if options.json:
        print_json(list(found))
        return 0
    if not found:
        raise UsageError(_no_questions(name))
    table(["when", "who", "what", "revision", "said"], [_revision(one) for one in found])
    return 0


def _revision(one: QuestionRevision | ScaleRevision) -> list[str]:
    from stores.questionnaire_rows import ScaleRevision

    if isinstance(one, ScaleRevision):
        what = f"scale {one.scale.name}"
        said = ", ".join(f"{option.values[0]} = {option.meaning}" for option in one.scale.options)
    else:
        what = f"question {one.ref}"
        said = f"{one.role or 'taken out'}, {one.form}, {one.scale}, {one.leaning or 'no leaning'}"
    return [one.at[:16].replace("T", " "), one.person, what, str(one.revision), said]
