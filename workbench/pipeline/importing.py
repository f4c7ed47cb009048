"""Files into a store: what they are, what they would change, and the change itself.

What is shown before an import is the import: it is done, its outcome is read, and all of it is
taken back.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from stores.core.store import Store
from stores.instruments.instruments import Imported
from stores.instruments.questionnaires import AddedRespondents
from workbench import registry
from workbench.annotation.tables import people_files
from workbench.domain.instruments import Instrument
from workbench.domain.names import plural
from workbench.domain.questionnaires import (
    Meaning,
    Questionnaire,
    Respondent,
    Role,
    counted_roles,
    named_few,
)
from workbench.domain.statements import ORIGINAL
from workbench.errors import UsageError
from workbench.formats.answer_logs import log_of
from workbench.formats.log_values import MOST_COUNT
from workbench.formats.party_files import MANIFESTO, Placed, read_positions
from workbench.formats.people import STANCES, stance_words
from workbench.formats.populations import counted_groups, people_notes
from workbench.formats.read import ANSWERS, BESIDE, ISSUE_LABELS, LABELS, LOG, recognised
from workbench.formats.records import AS_IS, LEFT_OUT, NUMBER, ReadSettings
from workbench.formats.surveys import SurveyColumns
from workbench.formats.write import Export, export
from workbench.pipeline.label_imports import (
    DEFAULT_LABEL_OPTIONS,
    LabelFile,
    LabelOptions,
    import_labels,
    label_data,
    label_rows,
    label_sentences,
    read_label_file,
)

if TYPE_CHECKING:
    from stores.annotation.exchange import Merged
    from stores.instruments.choices import AddedChoices
    from stores.instruments.issues import Added
    from stores.instruments.statement_imports import LanguageChange
    from workbench.domain.instruments import IssueLabel
    from workbench.domain.prompts import Persona
    from workbench.domain.questionnaires import Tallied
    from workbench.pipeline.recorded import Found


EVERYTHING = SurveyColumns()


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be imported, and how it is to be read."""

    path: Path
    format: str = ""
    "empty: recognised from what is there"
    name: str | None = None
    "of the instrument here; None: the file's own"
    instrument: str | None = None
    "whose questions answers are to; None: the only one"
    missing: tuple[str, ...] = ()
    "of answers: what is no answer"
    ignored: tuple[str, ...] = ()
    "of answers: columns that are no questions"
    skip: bool = False
    """leave out files at fault, of a format that has several; of a log, entries at fault and much
    that has no prompt; of labels, events about texts that the store lacks
    """
    left_right: Path | None = None
    "positions of parties, of a format that takes them apart"
    how: ReadSettings = AS_IS
    "what columns are called here, and how the file is read otherwise"
    wanted: SurveyColumns = EVERYTHING
    "which columns of a survey, or of answers, are what"
    election: str = ""
    "whose positions of parties are wanted; empty: the newest"
    audit: str = ""
    "of a log: the audit whose prompts were asked; empty: the one with the most matches"
    family: str = ""
    "of a log: the templates that were used; empty: those with the most matches"
    model: str = ""
    "of a log: the name of the model; empty: as the file says"
    personas: tuple[Persona, ...] = ()
    "of a log: what may stand before the prompts, beside the personas of the store"
    most_count: int = MOST_COUNT
    "of a log: answers that a row may stand for"
    labels: LabelOptions = DEFAULT_LABEL_OPTIONS
    "of a label file: its codebook, and the new queue of its items"


@dataclass(frozen=True, slots=True)
class Material:
    """What was read: an instrument, people's answers to its questions, answers of models, or labels
    of these.
    """

    format: str
    name: str
    instrument: Instrument | None = None
    people: tuple[Respondent, ...] = ()
    placed: Placed | None = None
    "where parties of an instrument that is here stand"
    log: Found | None = None
    "answers of models that were collected elsewhere"
    labels: LabelFile | None = None
    "people's labels of answers that are here"
    issue_labels: tuple[IssueLabel, ...] = ()
    "people's labels of statements for policy issues"
    skip: bool = False
    "whether much of a log, and labels of unknown texts, may be left out"
    notes: tuple[str, ...] = ()
    "of reading answers; an instrument has its own"
    how: ReadSettings = AS_IS
    "what the columns of its file are called here"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an import did, or would do."""

    material: Material
    written: bool
    imported: Imported | None = None
    "of an instrument"
    added: AddedRespondents | None = None
    "of answers"
    placed: int | None = None
    "how many positions of parties are others than before"
    jobs: tuple[int, ...] = ()
    "of answers of models: the jobs that they belong to"
    answers: int = 0
    "of models that were written"
    merged: Merged | None = None
    "of labels"
    issues: Added | None = None
    "of labels for policy issues"
    odd: tuple[str, ...] = ()
    "what is odd about the questionnaire, in sentences"
    numbers: tuple[tuple[str, str], ...] = ()
    "(scale, what its answers in numbers were taken for)"


def read(request: Request) -> Material | None:
    """Read an instrument: all of it, or nothing. Raises UsageError, InputError.

    None: what is there is about an instrument of the store, beside which `read_beside` reads it.
    """
    format = request.format or recognised(  # noqa: A001  the command line's word for it
        request.path, request.how, of_people=request.wanted != EVERYTHING
    )
    if format in BESIDE:
        return None
    from workbench.formats.read import read_instrument

    instrument = read_instrument(
        format,
        request.path,
        request.name,
        left_right=request.left_right,
        skip=request.skip,
        how=request.how,
        wanted=replace(request.wanted, missing=request.missing),
    )
    return Material(format, instrument.name, instrument, how=request.how)


def put(store: Store, material: Material) -> Outcome:
    """Write what was read, in one transaction. Raises ConflictError where something else is here
    already.
    """
    if material.log is not None:
        from workbench.pipeline import recorded

        recorded.check_partial(material.log, skip=material.skip)
        stored = recorded.put(store, material.log)
        return Outcome(material, True, jobs=stored.jobs, answers=stored.answers)
    if material.labels is not None:
        return Outcome(
            material, True, merged=import_labels(store, material.labels, partial=material.skip)
        )
    if material.issue_labels:
        return Outcome(
            material, True, issues=store.issues.add(material.name, material.issue_labels)
        )
    if material.placed is not None:
        changed = store.instruments.place(
            material.name, material.placed.parties, material.placed.note
        )
        return Outcome(material, True, placed=changed)
    if material.instrument is None:
        added = store.questionnaires.add_answers(material.name, material.people)
        here = store.instruments.get(material.name)
        known = store.questionnaires.tallied(material.name)
        return Outcome(
            material, True, added=added, odd=odd_answers(here, known), numbers=_numbers(known)
        )
    from workbench.domain.questionnaires import tallied
    from workbench.formats.read import is_part

    instrument = material.instrument
    imported = store.instruments.add(instrument, part=is_part(material.format, instrument))
    asked = tallied(instrument.questionnaire) if instrument.questionnaire is not None else None
    return Outcome(
        material,
        True,
        imported=imported,
        odd=odd_answers(instrument, asked),
        numbers=_numbers(asked),
    )


def rehearsed(store: Store, material: Material) -> Outcome:
    """Return the result of `put` without writing. Raises the same errors, save that of a log with
    much to leave out.
    """
    if material.log is not None:
        return Outcome(material, False)
    with store.rehearsal():
        return replace(put(store, material), written=False)


def listed_formats() -> tuple[str, ...]:
    """Return the names of everything that can be imported, those of other packages included."""
    from workbench.formats.read import formats

    return (*formats(), *BESIDE)


def read_beside(store: Store, request: Request) -> Material:
    """Read what is about an instrument that is here: people's answers to its questions, answers of
    models to its prompts, labels of these answers, or where its parties stand.

    Raises UsageError, InputError.
    """
    from workbench.formats.answers import Declared, read_answers
    from workbench.formats.records import Findings

    path = request.path
    format = request.format or recognised(path, request.how)  # noqa: A001  the command line's word for it
    if format == LOG:
        return _read_log(store, request)
    if format == LABELS:
        return _read_labels(request)
    if not path.is_file():
        raise UsageError(f"{path}: no such file; give a CSV with respondents and their answers")
    name = request.instrument or request.name or store.instruments.only()
    if format == MANIFESTO:
        placed = read_positions(
            path, store.instruments.get(name).parties, request.election, request.how
        )
        return Material(MANIFESTO, name, placed=placed, how=request.how)
    if format == ISSUE_LABELS:
        from workbench.pipeline.issues import read_labels_for_issues

        if request.how != AS_IS:
            raise UsageError(
                f"{path}: labels for policy issues have columns of their own. Omit the names of "
                "columns."
            )
        return Material(ISSUE_LABELS, name, issue_labels=read_labels_for_issues(store, name, path))
    known = store.questionnaires.tallied(name)
    if known is None:
        raise UsageError(no_questions(name))
    refs = {line.ref for line in store.instruments.lines(name)}
    findings = Findings()
    declared = Declared(request.missing, request.ignored, request.how, request.wanted.who)
    people, notes = read_answers(path, known.questionnaire, refs, findings, declared=declared)
    findings.check()
    if not people:
        raise UsageError(f"{path} has no answers; nothing was changed")
    return Material(ANSWERS, name, people=people, notes=notes, how=request.how)


def _read_labels(request: Request) -> Material:
    """Read people's labels of answers."""
    if request.how != AS_IS:
        raise UsageError(
            f"{request.path}: label files have columns of their own. Omit the names of columns."
        )
    file = read_label_file(request.path, request.labels)
    return Material(LABELS, file.name, labels=file, skip=request.skip)


def _read_log(store: Store, request: Request) -> Material:
    """Read answers of models that were collected elsewhere."""
    from workbench.pipeline.recorded import Wanted as WantedAnswers
    from workbench.pipeline.recorded import match

    path = request.path
    if path.is_file() and not log_of(path, request.how):
        raise UsageError(f"{path}: found no answers of models. {LOGS}")
    name = request.instrument or request.name or store.instruments.only()
    wanted = WantedAnswers(
        name,
        audit=request.audit,
        family=request.family,
        model=request.model,
        personas=request.personas,
        most_count=request.most_count,
        skip=request.skip,
    )
    return Material(
        LOG, name, log=match(store, path, wanted, request.how), how=request.how, skip=request.skip
    )


LOGS = (
    "Give a log of Inspect, samples of lm-evaluation-harness, promptfoo results, results of an "
    "OpenAI batch, or a "
    "table with answer and prompt."
)


def odd_answers(instrument: Instrument, answers: Tallied | None) -> tuple[str, ...]:
    """Return the findings on a questionnaire and its answers."""
    from workbench.lint.people import questionnaire_findings

    found = () if answers is None else questionnaire_findings(instrument, answers)
    return tuple(f"{one.severity}: {one.subject}: {one.message}" for one in found)


def _numbers(answers: Tallied | None) -> tuple[tuple[str, str], ...]:
    from workbench.answer_scales import numbers_said

    return () if answers is None else numbers_said(answers)


def no_questions(name: str) -> str:
    """Say that an instrument has no questions, and how it comes to some."""
    return (
        f"{name} has no questions: no statement has a role. Import statements with a column "
        "role, or set one with: "
        "workbench questionnaire STORE --question REF --role context --form question"
    )


_KEPT = "kept"
_VERBS = (
    ("added", "added", "templates_added", ""),
    (
        "replaced",
        "replaced",
        "templates_replaced",
        ". The versions before stay, with the answers to them",
    ),
    ("taken out", "taken_out", "templates_taken_out", ", which the file does not have"),
    (_KEPT, "as_before", "templates_as_before", ". The file has no wordings in this language"),
)
"what is said, the fields of `LanguageChange` that count it, and what is said of it"
NOTHING = "Nothing was written."
Rows = tuple[tuple[str, ...], list[tuple[str, ...]]]
"headings, and rows of texts"


def said(outcome: Outcome, store: Path) -> tuple[str, ...]:
    """Return sentences on what came, what of it is new, what is odd, and what to look at next."""
    if (log := outcome.material.log) is not None:
        sentences = [
            *log.said(outcome.answers if outcome.written else None),
            *_mapped(outcome.material.how),
        ]
        if log.leaves_out_much and not outcome.written and not outcome.material.skip:
            sentences.append("- More than a tenth of the answers would be left out.")
        return tuple(sentences)
    if outcome.material.labels is not None and outcome.merged is not None:
        return tuple(label_sentences(outcome.material.labels, outcome.merged))
    if outcome.issues is not None:
        from workbench.pipeline.issues import added_said

        first, *more = added_said(outcome.issues)
        return (f"{outcome.material.name}: {first}", *more)
    if (placed := outcome.material.placed) is not None:
        first, *more = placed.said()
        return (
            f"{outcome.material.name}: {first} ({plural(outcome.placed or 0, 'position')} new)",
            *more,
        )
    return tuple(
        _of_answers(outcome, store) if outcome.imported is None else _of_instrument(outcome, store)
    )


def brief(outcome: Outcome, store: Path) -> str:
    """Return the result of an import in one line, and by language."""
    first = said(outcome, store)[0]
    changes = () if outcome.imported is None else outcome.imported.by_language
    return (
        ". ".join(
            (f"Imported {first}", *(one.removeprefix("- ") for one in said_by_language(changes)))
        )
        + "."
    )


def data(outcome: Outcome) -> dict[str, object]:
    """Return the same for a program."""
    material = outcome.material
    about: dict[str, object] = {"format": material.format, "written": outcome.written}
    if (log := material.log) is not None:
        return {
            "instrument": material.name,
            **log.data(),
            "jobs": outcome.jobs,
            "stored": outcome.answers,
            **about,
        }
    if material.labels is not None and outcome.merged is not None:
        return {**label_data(material.labels, outcome.merged), **about}
    if outcome.issues is not None:
        return {"instrument": material.name, **asdict(outcome.issues), **about}
    if (placed := material.placed) is not None:
        pairs = [
            {**asdict(party), "position": coded.position, "coded": asdict(coded)}
            for party, coded in placed.pairs
        ]
        return {
            "instrument": material.name,
            "election": placed.election,
            "changed": outcome.placed,
            "parties": pairs,
            "without": [party.name for party in placed.without],
            "notes": [placed.note],
            **about,
        }
    if outcome.added is not None:
        return {
            "instrument": material.name,
            **asdict(outcome.added),
            "notes": material.notes,
            "findings": outcome.odd,
            **about,
        }
    instrument, imported = material.instrument, outcome.imported
    assert instrument is not None
    assert imported is not None
    return {
        **asdict(imported),
        "languages": dict(languages(instrument)),
        "notes": notes_of(instrument),
        **about,
        **_survey_data(instrument.questionnaire),
    }


def _survey_data(questionnaire: Questionnaire | None) -> dict[str, object]:
    """Return what a survey is made of; nothing of what has no survey questions."""
    from workbench.stats.weights import spread_of

    if questionnaire is None or not questionnaire.of_role(Role.SURVEY):
        return {}
    weights = spread_of([one.weight for one in questionnaire.respondents])
    return {
        "survey": {
            "questions": questionnaire.questions,
            "scales": questionnaire.scales,
            "respondents": len(questionnaire.respondents),
            "groups": counted_groups(questionnaire.respondents),
            "weights": {**asdict(weights), "design_effect": weights.design_effect},
            "published": len(questionnaire.published),
        }
    }


def first_rows(material: Material, limit: int) -> Rows:
    """Return the first rows read: statements, otherwise models' answers, labels, or people."""
    instrument = material.instrument
    if material.log is not None:
        imported: list[tuple[str, ...]] = [
            (run.card.name, f"{entry.count:,}", entry.answer or "")
            for run in material.log.runs
            for _, entry in run.entries[:limit]
        ]
        return ("model", "count", "answer"), imported[:limit]
    if material.labels is not None:
        return ("annotator", "label", "statement", "response"), label_rows(material.labels, limit)
    if material.issue_labels:
        labels: list[tuple[str, ...]] = [
            (one.annotator, f"{one.label:+d}" if one.label else "0", one.statement, one.issue)
            for one in material.issue_labels[:limit]
        ]
        return ("annotator", "label", "statement", "issue"), labels
    if material.placed is not None:
        pairs: list[tuple[str, ...]] = [
            (party.name, f"{coded.position:g}", f"{coded.rile:g}", coded.name)
            for party, coded in material.placed.pairs[:limit]
        ]
        return ("party", "position", "rile", "in the file"), pairs
    if instrument is None:
        refs = tuple(dict.fromkeys(ref for one in material.people for ref in one.answers))[:4]
        people: list[tuple[str, ...]] = [
            (one.name, *(one.answers.get(ref, "") for ref in refs))
            for one in material.people[:limit]
        ]
        return ("respondent", *refs), people
    if not instrument.statements:
        sets: list[tuple[str, ...]] = [
            (one.model, str(one.bias), str(one.condition or ""), f"{len(one.pairs):,}")
            for one in instrument.answer_sets[:limit]
        ]
        return ("model", "bias", "error", "questions"), sets
    rows: list[tuple[str, ...]] = []
    said = (
        {stance: name for name, stance in STANCES.items() if stance}
        if instrument.party_answers
        else {}
    )
    for statement in instrument.statements[:limit]:
        held = statement.wordings
        text = next((w.text for w in held if w.variant == ORIGINAL), held[0].text if held else "")
        answers = [one for one in instrument.party_answers if one.statement == statement.ref]
        parties = (
            ", ".join(one.party for one in answers if one.stance == stance) for stance in said
        )
        rows.append((statement.ref, f"{len(held):,}", *parties, text))
    return ("ref", "wordings", *said.values(), "original"), rows


def languages(instrument: Instrument) -> Counter[str]:
    """Return how many wordings there are of each language."""
    return Counter(w.language for s in instrument.statements for w in s.wordings)


def notes_of(instrument: Instrument) -> tuple[str, ...]:
    """Return what is to be known of an instrument's files, and which questions cannot show their
    bias.
    """
    return (
        *instrument.notes,
        *(said for audit in registry.every_audit() for said in audit.notes(instrument)),
    )


def said_of(added: AddedRespondents) -> str:
    """Say what an import of answers changed."""
    parts = [
        f"{plural(added.added, 'respondent')} new, {added.known:,} "
        f"{'was' if added.known == 1 else 'were'} stored with the same answers",
        f"{plural(added.answers, 'answer')} new",
    ]
    absent, skipped = added.absent, added.skipped
    if absent:
        they = "it stays" if absent == 1 else "they stay"
        parts.append(
            f"{plural(absent, 'respondent')} {_are(absent)} in the store but not in the file: "
            f"{they}"
        )
    if skipped:
        parts.append(
            f"{plural(skipped, 'answer')} to questions that this store has removed "
            f"{_are(skipped)} left out"
        )
    return "; ".join(parts)


def _of_instrument(outcome: Outcome, store: Path) -> Iterator[str]:
    instrument, imported = outcome.material.instrument, outcome.imported
    assert instrument is not None
    assert imported is not None
    yield (
        f"{imported.name}: {plural(len(instrument.statements), 'statement')} ({imported.added:,} "
        "new, "
        f"{imported.changed:,} changed, {imported.unchanged:,} unchanged, {imported.retired:,} "
        "retired), "
        f"{plural(imported.wordings, 'wording')}, "
        f"{plural(imported.templates, 'template')}"
    )
    yield from _mapped(outcome.material.how)
    yield from said_by_language(imported.by_language)
    for language, replaced in imported.lexicons:
        whose = "the one that was here before" if replaced else "one that workbench may have"
        yield (
            f"- answers in {language} are read by the instrument's own lexicon, in place of {whose}"
        )
    for name, version in imported.edited:
        yield (
            f"- the template {name} was edited: this is version {version}; answers to earlier "
            "versions stay"
        )
    if instrument.questionnaire is not None:
        yield f"questionnaire: {_counted(instrument.questionnaire)}"
        yield from (f"- {one}" for one in _survey(instrument.questionnaire))
    if imported.choices is not None:
        yield from _choices(instrument, imported.choices)
    if instrument.party_answers:
        parties = (
            f"{len(instrument.parties):,} {'party' if len(instrument.parties) == 1 else 'parties'}"
        )
        yield (
            f"parties: {parties}, {plural(len(instrument.party_answers), 'answer')}: "
            + stance_words(instrument.party_answers)
        )
    if found := languages(instrument):
        yield "wordings by language: " + ", ".join(
            f"{language} {n:,}" for language, n in sorted(found.items())
        )
    yield from _notes(
        notes_of(instrument), imported.choices.models if imported.choices is not None else ()
    )
    yield from _left(outcome, imported, store)
    if instrument.answer_sets:
        of = shlex.quote(instrument.name)
        yield f"Next: workbench show {shlex.quote(str(store))} response_bias --instrument {of}"
    else:
        yield f"Next: workbench lint {shlex.quote(str(store))}"


def said_by_language(changes: Sequence[LanguageChange]) -> Iterator[str]:
    """Say what is added, replaced, taken out and kept in each language of an instrument that was
    here.
    """
    for verb, wordings, templates, more in _VERBS:
        told = []
        for one in changes:
            if verb == _KEPT and one.given:
                continue  # the first sentence counts what is as before
            counts = ((getattr(one, wordings), "wording"), (getattr(one, templates), "template"))
            if parts := [plural(n, what) for n, what in counts if n]:
                told.append(f"{one.language} {' and '.join(parts)}")
        if told:
            yield f"- {verb}: {'; '.join(told)}{more}"


def _left(outcome: Outcome, imported: Imported, store: Path) -> Iterator[str]:
    """Report what stays unchanged in the store, what was left out, and findings."""
    if imported.kept:
        yield (
            f"- {imported.kept:,} statements have changed here but not in the file: they stay "
            "as they are"
        )
    if imported.answers is not None and (imported.answers.added or imported.answers.known):
        yield f"- {said_of(imported.answers)}"
    yield from (f"- {odd}" for odd in outcome.odd)
    yield from _imported_said_numbers(outcome, store)
    if imported.skipped:
        yield (
            f"- {imported.skipped:,} labels or answers on statements that the instrument lacks "
            "were left out"
        )
    if imported.choices is not None and imported.choices.without_text:
        yield (
            f"- {imported.choices.without_text:,} questions of the models' answers have no "
            "text and are no statements"
        )


def _of_answers(outcome: Outcome, store: Path) -> Iterator[str]:
    assert outcome.added is not None
    yield f"{outcome.material.name}: {said_of(outcome.added)}"
    yield from _mapped(outcome.material.how)
    people = people_notes(outcome.material.people)
    yield from (f"- {note}" for note in (*outcome.material.notes, *people, *outcome.odd))
    yield from _imported_said_numbers(outcome, store)


def _mapped(how: ReadSettings) -> Iterator[str]:
    """Say which columns of the file are which of ours, and which are left out."""
    named = {name: column for column, name in how.columns.items() if name != LEFT_OUT}
    left = [column for column, name in how.columns.items() if name == LEFT_OUT]
    said = [
        f"{name} from {'the number of the row' if of == NUMBER else of}"
        for name, of in named.items()
    ]
    parts = [", ".join(said) or "as they are", *([f"left out: {', '.join(left)}"] if left else [])]
    if how.columns:
        yield f"- columns: {'; '.join(parts)}"


def _imported_said_numbers(outcome: Outcome, store: Path) -> Iterator[str]:
    """Say what answers in numbers were taken for: nothing in a file shows that its scale runs the
    other way.
    """
    for scale, taken in outcome.numbers:
        adjust = (
            f"workbench questionnaire {shlex.quote(str(store))} --scale "
            f"{shlex.quote(scale)} --map ANSWER=MEANING"
        )
        yield f"- {scale}: answers in numbers were read as {taken}; adjust: {adjust}"


def _choices(instrument: Instrument, added: AddedChoices) -> Iterator[str]:
    """Return the numbers of questions and answers, and how many are new."""
    if instrument.choices:
        groups = Counter(
            f"{item.bias} ({item.variant})" if item.variant else item.bias
            for item in instrument.choices
        )
        told = ", ".join(f"{n:,} {group}" for group, n in groups.items())
        other = (
            f"; of {added.changed:,} the key, bias, middle option or shares differed here"
            if added.changed
            else ""
        )
        yield f"multiple-choice questions: {told}{other}"
    if instrument.answer_sets:
        new = f"{plural(added.answer_sets, 'new set')}, {plural(added.answers, 'answer')}"
        known = (
            f"; {added.known:,} {'was' if added.known == 1 else 'were'} here already"
            if added.known
            else ""
        )
        yield f"answers of models: {new} ({', '.join(added.models)}){known}"


def _notes(notes: Sequence[str], models: Sequence[str]) -> Iterator[str]:
    """Say what is to be known of the files: of the questions, then model by model."""
    of_models = [
        [note for note in notes if note.startswith((f"{model}: ", f"{model}, "))]
        for model in models
    ]
    told = {note for own in of_models for note in own}
    yield from (f"- {note}" for note in notes if note not in told)
    for model, own in zip(models, of_models, strict=True):
        for note in own:
            head = note.startswith(f"{model}: ")
            yield note if head else f"- {note.removeprefix(f'{model}, ')}"


def _counted(questionnaire: Questionnaire) -> str:
    """Say how large a questionnaire is: `6 context and 2 target questions, 15 respondents`."""
    people = plural(len(questionnaire.respondents), "respondent")
    return f"{counted_roles({role: len(questionnaire.of_role(role)) for role in Role})}, {people}"


def _survey(questionnaire: Questionnaire) -> Iterator[str]:
    """Say what the answers of survey questions mean, whom people stand for, and whose shares were
    published.
    """
    on: dict[str, list[str]] = {}
    for question in questionnaire.of_role(Role.SURVEY):
        on.setdefault(question.scale, []).append(question.ref)
    for name, refs in on.items():
        options = questionnaire.scale(name).options
        meant = {
            meaning: [one.values[0] for one in options if one.meaning is meaning]
            for meaning in Meaning
        }
        told = [
            f"{' · '.join(values)} ({WORDS.get(meaning, meaning)})"
            for meaning, values in meant.items()
            if values
        ]
        yield f"scale {name} of {named_few(refs, 12)}: {'; '.join(told)}"
    yield from people_notes(questionnaire.respondents)
    for group in dict.fromkeys(one.group for one in questionnaire.published):
        values = dict.fromkeys(one.value for one in questionnaire.published if one.group == group)
        yield f"published shares by {group}: {len(values):,}: {named_few(values, 12)}"


WORDS = {
    Meaning.STEP: "steps",
    Meaning.OPTION: "options without an order",
    Meaning.MISSING: "no answer",
}


def _are(n: int) -> str:
    return "is" if n == 1 else "are"


PEOPLE = {
    "counts": "number of annotators and respondents with each value",
    "pseudonyms": "counts, and each person under a pseudonym",
    "none": "nothing",
}
"what an export says of who the people are; names never"


def prepared(store: Store, instrument: str, format: str, people: str = "counts") -> Export:  # noqa: A002  the field's word
    """Return an instrument ready to be written; its notes name what stays in the store alone.

    people : one of `PEOPLE`: what the fields of who annotates and answers come to; layouts that
        others read have none
    """
    whole = replace(
        store.instruments.get(instrument),
        questionnaire=store.questionnaires.get(instrument),
        answer_sets=store.choices.answer_sets(instrument),
    )
    found = export(format, whole)
    files = (
        {}
        if people == "none"
        else people_files(store.people.list(), pseudonyms=people == "pseudonyms")
    )
    notes = (*found.notes, *store.instruments.export_losses(instrument))
    if files and format not in OURS:
        return replace(
            found, notes=(*notes, "Descriptions of annotators and respondents are left out.")
        )
    return replace(found, files={**found.files, **files}, notes=notes)


OURS = ("csv", "choices")
"formats that are folders of our own files"
