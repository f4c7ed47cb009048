"""The command that shows a questionnaire and adjusts what its answers mean; and the import of answers."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.cli.output import listed, plain, print_json, say, table
from workbench.domain.counting import plural
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
IMPORTER = "import"
"who says what files say"
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
    from workbench.formats.answers import Declared, read_answers
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
        declared = Declared(listed(options.missing), listed(options.ignore))
        people, notes = read_answers(path, known.questionnaire, refs, findings, declared=declared)
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
        f"{plural(added.added, 'respondent')} new, {added.known:,} "
        f"{'was' if added.known == 1 else 'were'} here with the same answers",
        f"{plural(added.answers, 'answer')} new",
    ]
    absent, skipped = added.absent, added.skipped
    if absent:
        said.append(f"{plural(absent, 'respondent')} {_are(absent)} here and not in the file: {_they(absent)}")
    if skipped:
        said.append(f"{plural(skipped, 'answer')} to questions that were taken out here {_are(skipped)} left out")
    return "; ".join(said)


def _are(n: int) -> str:
    return "is" if n == 1 else "are"


def _they(n: int) -> str:
    return "that one stays" if n == 1 else "they stay"


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
    given = [name for name in OF_QUESTION if getattr(options, name) is not None]
    if given and options.question is None:
        raise UsageError(f"--{given[0].replace('_', '-')} is of a question; name it with --question REF")
    if options.all and not options.history:
        raise UsageError("--all is of --history; leave it out, or name that too")
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
        f"{summary.context:,} context and {plural(summary.target, 'target question')}, "
        f"{plural(summary.respondents, 'respondent')}; {plural(summary.answers, 'answer')}, "
        f"{summary.neutral:,} neutral, {summary.missing:,} missing"
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
    if not options.map:
        answers = ", ".join(option.values[0] for option in before.options)
        raise UsageError(
            f'say what an answer means, as with --map "{_middle(before)}=neutral". The answers of {before.name}: '
            f"{answers}"
        )
    after = before.remapped(meanings)
    changed = store.questionnaires.set_scale(name, after, person=_person(options)) if after != before else 0
    if options.json:
        print_json({"instrument": name, "scale": after, "changed": changed})
        return 0
    table(SCALE_COLUMNS, _options(after))
    if after == before:
        say("That is what they mean already; nothing was changed.")
    elif changed:
        means = "means" if changed == 1 else "mean"
        anew = "The next run asks prompts with these answers anew."
        say(f"{plural(changed, 'answer')} {means} something else now. {anew}")
    else:
        say("No answer that was given means something else.")
    return 0


def _middle(scale: Scale) -> str:
    """Return an answer of a scale that might as well be neutral."""
    said = [option.values[0] for option in scale.options if option.meaning.value != "missing"]
    return (said or [scale.options[0].values[0]])[len(said) // 2]


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
    lines = [line for line in _changes(found) if options.all or line[1] != IMPORTER]
    left_out = len(found) - len(lines)
    if lines:
        table(["when", "who", "what", "revision", "said"], lines)
    else:
        say("Nobody changed a question or a scale after the import.")
    if left_out:
        say(f"{plural(left_out, 'revision')} by imports left out; --all lists them too")
    return 0


def _changes(found: Sequence[QuestionRevision | ScaleRevision]) -> list[list[str]]:
    """Return what each revision changed of the one before it of the same question or scale."""
    before: dict[str, dict[str, str]] = {}
    lines = []
    for one in found:
        what, now = _revision(one)
        old = before.get(what)
        said = _difference(old, now) if old is not None else ", ".join(f"{key}: {value}" for key, value in now.items())
        before[what] = now
        lines.append([one.at[:16].replace("T", " "), one.person, what, str(one.revision), said])
    return lines


def _difference(old: Mapping[str, str], now: Mapping[str, str]) -> str:
    """Say what is another value now: `rather no: no -> neutral`."""
    keys = [*now, *(key for key in old if key not in now)]
    said = [f"{k}: {old.get(k, 'new')} -> {now.get(k, 'gone')}" for k in keys if old.get(k) != now.get(k)]
    return ", ".join(said) or "the same meanings, written otherwise"


def _revision(one: QuestionRevision | ScaleRevision) -> tuple[str, dict[str, str]]:
    """Return what a revision is of, and what it says of that."""
    from stores.questionnaire_rows import ScaleRevision

    if isinstance(one, ScaleRevision):
        return f"scale {one.scale.name}", {option.values[0]: option.meaning.value for option in one.scale.options}
    return f"question {one.ref}", {
        "role": one.role.value if one.role else "taken out",
        "form": one.form.value,
        "scale": one.scale,
        "yes leans": one.leaning.value if one.leaning else "nowhere",
    }
