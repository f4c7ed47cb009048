"""Imports of files into a store: recognition, preview and the change itself.

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
    QuestionRole,
    Respondent,
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
from workbench.formats.records import AS_IS, LEFT_OUT, NUMBER, ReadSettings, kind_of
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
    from workbench.domain.choices import AnswerSet
    from workbench.domain.instruments import IssueLabel
    from workbench.domain.prompts import Persona
    from workbench.domain.questionnaires import Tallied
    from workbench.domain.statements import Statement
    from workbench.pipeline.recorded import ImportedAnswers


EVERYTHING = SurveyColumns()


@dataclass(frozen=True, slots=True)
class ImportRequest:
    """The file to be imported, and how it is to be read."""

    path: Path
    format: str = ""
    "format, or empty to recognise it from the file"
    name: str | None = None
    "name of the instrument here, or None for the file's own"
    instrument: str | None = None
    "instrument whose questions the answers are to, or None for the only one"
    missing: tuple[str, ...] = ()
    "values of answers files that stand for no answer"
    ignored: tuple[str, ...] = ()
    "columns of answers files that are no questions"
    skip: bool = False
    """whether to leave out data at fault

    Of a format that has several files, the files at fault are left out, of a log the entries at
    fault and much that has no prompt, and of labels the events about texts that the store lacks.
    """
    left_right: Path | None = None
    "positions of parties, of a format that takes them apart"
    how: ReadSettings = AS_IS
    "the names of columns here, and further settings of reading the file"
    wanted: SurveyColumns = EVERYTHING
    "the meaning of the columns of a survey, or of answers"
    election: str = ""
    "election whose positions of parties are used, or empty for the newest"
    audit: str = ""
    "the audit whose prompts a log asked, or empty for the one with the most matches"
    family: str = ""
    "the templates that a log used, or empty for those with the most matches"
    model: str = ""
    "the name of the model of a log, or empty for that of the file"
    personas: tuple[Persona, ...] = ()
    "personas that may stand before the prompts of a log, beside those of the store"
    most_count: int = MOST_COUNT
    "the largest number of answers that a row of a log may stand for"
    labels: LabelOptions = DEFAULT_LABEL_OPTIONS
    "codebook of a label file, and the new queue of its items"


@dataclass(frozen=True, slots=True)
class ImportMaterial:
    """The content that was read from a file.

    It is an instrument, people's answers to its questions, answers of models, or labels of these.
    """

    format: str
    name: str
    instrument: Instrument | None = None
    people: tuple[Respondent, ...] = ()
    placed: Placed | None = None
    "positions of the parties of an instrument that is here"
    log: ImportedAnswers | None = None
    "answers of models that were collected elsewhere"
    labels: LabelFile | None = None
    "people's labels of answers that are here"
    issue_labels: tuple[IssueLabel, ...] = ()
    "people's labels of statements for policy issues"
    skip: bool = False
    "whether much of a log, and labels of unknown texts, may be excluded"
    notes: tuple[str, ...] = ()
    "notes on the reading of answers, while an instrument has its own"
    how: ReadSettings = AS_IS
    "the names of its file's columns here"


@dataclass(frozen=True, slots=True)
class ImportOutcome:
    """The changes that an import made, or would make."""

    material: ImportMaterial
    written: bool
    imported: Imported | None = None
    "result of importing an instrument"
    added: AddedRespondents | None = None
    "result of importing answers"
    placed: int | None = None
    "the number of positions of parties that differ from before"
    jobs: tuple[int, ...] = ()
    "jobs of the imported answers of models"
    answers: int = 0
    "the number of models' answers that were written"
    merged: Merged | None = None
    "result of importing labels"
    issues: Added | None = None
    "result of importing labels for policy issues"
    odd: tuple[str, ...] = ()
    "findings on the questionnaire, in sentences"
    numbers: tuple[tuple[str, str], ...] = ()
    "(scale, how its answers in numbers were read)"


def read_import(request: ImportRequest) -> ImportMaterial | None:
    """Read an instrument completely, or return None for a file about one of the store.

    `read_beside` reads such a file. Raises UsageError, InputError.
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
        settings=request.how,
        wanted=replace(request.wanted, missing=request.missing),
    )
    return ImportMaterial(format, instrument.name, instrument, how=request.how)


def write_import(store: Store, material: ImportMaterial) -> ImportOutcome:
    """Write the material of an import, in one transaction.

    Raises ConflictError if something else is here already.
    """
    if material.log is not None:
        from workbench.pipeline import recorded

        recorded.check_partial(material.log, skip=material.skip)
        stored = recorded.store_answers(store, material.log)
        return ImportOutcome(material, True, jobs=stored.jobs, answers=stored.answers)
    if material.labels is not None:
        return ImportOutcome(
            material, True, merged=import_labels(store, material.labels, partial=material.skip)
        )
    if material.issue_labels:
        return ImportOutcome(
            material, True, issues=store.issues.add(material.name, material.issue_labels)
        )
    if material.placed is not None:
        n_changed = store.instruments.place(
            material.name, material.placed.parties, material.placed.note
        )
        return ImportOutcome(material, True, placed=n_changed)
    if material.instrument is None:
        added = store.questionnaires.add_answers(material.name, material.people)
        stored_instrument = store.instruments.get(material.name)
        all_answers = store.questionnaires.tallied(material.name)
        return ImportOutcome(
            material,
            True,
            added=added,
            odd=odd_answers(stored_instrument, all_answers),
            numbers=_numbers(all_answers),
        )
    from workbench.domain.questionnaires import tallied
    from workbench.formats.read import is_part

    instrument = material.instrument
    imported = store.instruments.add(instrument, part=is_part(material.format, instrument))
    tallied_answers = (
        tallied(instrument.questionnaire) if instrument.questionnaire is not None else None
    )
    return ImportOutcome(
        material,
        True,
        imported=imported,
        odd=odd_answers(instrument, tallied_answers),
        numbers=_numbers(tallied_answers),
    )


def rehearse_import(store: Store, material: ImportMaterial) -> ImportOutcome:
    """Return the result of `write_import` without writing.

    It raises the same errors, except that of a log with much to exclude.
    """
    if material.log is not None:
        return ImportOutcome(material, False)
    with store.rehearsal():
        return replace(write_import(store, material), written=False)


def listed_formats() -> tuple[str, ...]:
    """Return the names of everything that can be imported, those of other packages included."""
    from workbench.formats.read import formats

    return (*formats(), *BESIDE)


def read_beside(store: Store, request: ImportRequest) -> ImportMaterial:
    """Read a file about an instrument that is here.

    It has people's answers to its questions, answers of models to its prompts, labels of these
    answers, or the positions of its parties. Raises UsageError, InputError.
    """
    from workbench.formats.answers import DeclaredColumns, read_answers
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
        return ImportMaterial(MANIFESTO, name, placed=placed, how=request.how)
    if format == ISSUE_LABELS:
        from workbench.pipeline.issues import read_labels_for_issues

        if request.how != AS_IS:
            raise UsageError(
                f"{path}: labels for policy issues have columns of their own. Omit the names of "
                "columns."
            )
        return ImportMaterial(
            ISSUE_LABELS, name, issue_labels=read_labels_for_issues(store, name, path)
        )
    tallied_answers = store.questionnaires.tallied(name)
    if tallied_answers is None:
        raise UsageError(no_questions(name))
    refs = {line.ref for line in store.instruments.lines(name)}
    findings = Findings()
    declarations = DeclaredColumns(
        request.missing, request.ignored, request.how, request.wanted.who
    )
    people, notes = read_answers(
        path, tallied_answers.questionnaire, refs, findings, declared=declarations
    )
    findings.check()
    if not people:
        raise UsageError(f"{path} has no answers; nothing was changed")
    return ImportMaterial(ANSWERS, name, people=people, notes=notes, how=request.how)


def _read_labels(request: ImportRequest) -> ImportMaterial:
    """Read people's labels of answers."""
    if request.how != AS_IS:
        raise UsageError(
            f"{request.path}: label files have columns of their own. Omit the names of columns."
        )
    file = read_label_file(request.path, request.labels)
    return ImportMaterial(LABELS, file.name, labels=file, skip=request.skip)


def _read_log(store: Store, request: ImportRequest) -> ImportMaterial:
    """Read answers of models that were collected elsewhere."""
    from workbench.pipeline.recorded import AnswerTarget as WantedAnswers
    from workbench.pipeline.recorded import match_answers

    path = request.path
    if path.is_file() and not log_of(path, request.how):
        kind_of(path)  # says why a packed file cannot be read
        raise UsageError(f"{path}: found no answers of models. {LOGS}")
    name = request.instrument or request.name or store.instruments.only()
    target = WantedAnswers(
        name,
        audit=request.audit,
        family=request.family,
        model=request.model,
        personas=request.personas,
        most_count=request.most_count,
        skip=request.skip,
    )
    return ImportMaterial(
        LOG,
        name,
        log=match_answers(store, path, target, request.how),
        how=request.how,
        skip=request.skip,
    )


LOGS = (
    "Give a log of Inspect, samples of lm-evaluation-harness, promptfoo results, results of an "
    "OpenAI batch, or a table with answer and prompt."
)


def odd_answers(instrument: Instrument, answers: Tallied | None) -> tuple[str, ...]:
    """Return the findings on a questionnaire and its answers."""
    from workbench.lint.people import questionnaire_findings

    findings = () if answers is None else questionnaire_findings(instrument, answers)
    return tuple(
        f"{finding.severity}: {finding.subject}: {finding.message}" for finding in findings
    )


def _numbers(answers: Tallied | None) -> tuple[tuple[str, str], ...]:
    from workbench.answer_scales import numbers_said

    return () if answers is None else numbers_said(answers)


def no_questions(name: str) -> str:
    """Return the message that an instrument has no questions, with the way to add some."""
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
"verb of a change, the fields of `LanguageChange` that count it, and a remark on it"
NOTHING = "Nothing was written."
Rows = tuple[tuple[str, ...], list[tuple[str, ...]]]
"headings, and rows of texts"


def import_sentences(outcome: ImportOutcome, store: Path) -> tuple[str, ...]:
    """Return sentences on the content of an import: its new parts, findings and the next step."""
    if (log := outcome.material.log) is not None:
        sentences = [
            *log.sentences(outcome.answers if outcome.written else None),
            *_column_lines(outcome.material.how),
        ]
        if log.leaves_out_much and not outcome.written and not outcome.material.skip:
            sentences.append("- More than a tenth of the answers would be left out.")
        return tuple(sentences)
    if outcome.material.labels is not None and outcome.merged is not None:
        return tuple(label_sentences(outcome.material.labels, outcome.merged))
    if outcome.issues is not None:
        from workbench.pipeline.issues import added_said

        first, *remaining = added_said(outcome.issues)
        return (f"{outcome.material.name}: {first}", *remaining)
    if (placed := outcome.material.placed) is not None:
        first, *remaining = placed.sentences()
        return (
            f"{outcome.material.name}: {first} ({plural(outcome.placed or 0, 'position')} new)",
            *remaining,
        )
    return tuple(
        _of_answers(outcome, store) if outcome.imported is None else _of_instrument(outcome, store)
    )


def import_summary(outcome: ImportOutcome, store: Path) -> str:
    """Return the result of an import in one line, with the changes by language."""
    first = import_sentences(outcome, store)[0]
    changes = () if outcome.imported is None else outcome.imported.by_language
    return (
        ". ".join(
            (
                f"Imported {first}",
                *(sentence.removeprefix("- ") for sentence in said_by_language(changes)),
            )
        )
        + "."
    )


def import_data(outcome: ImportOutcome) -> dict[str, object]:
    """Return the outcome for a program."""
    material = outcome.material
    common: dict[str, object] = {"format": material.format, "written": outcome.written}
    if (log := material.log) is not None:
        return {
            "instrument": material.name,
            **log.data(),
            "jobs": outcome.jobs,
            "stored": outcome.answers,
            **common,
        }
    if material.labels is not None and outcome.merged is not None:
        return {**label_data(material.labels, outcome.merged), **common}
    if outcome.issues is not None:
        return {"instrument": material.name, **asdict(outcome.issues), **common}
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
            **common,
        }
    if outcome.added is not None:
        return {
            "instrument": material.name,
            **asdict(outcome.added),
            "notes": material.notes,
            "findings": outcome.odd,
            **common,
        }
    instrument, imported = material.instrument, outcome.imported
    assert instrument is not None
    assert imported is not None
    return {
        **asdict(imported),
        "languages": dict(languages(instrument)),
        "notes": notes_of(instrument),
        **common,
        **_survey_data(instrument.questionnaire),
    }


def _survey_data(questionnaire: Questionnaire | None) -> dict[str, object]:
    """Return the content of a survey, or nothing without survey questions."""
    from workbench.stats.weights import spread_of

    if questionnaire is None or not questionnaire.of_role(QuestionRole.SURVEY):
        return {}
    weights = spread_of([respondent.weight for respondent in questionnaire.respondents])
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


def first_rows(material: ImportMaterial, limit: int) -> Rows:
    """Return the first rows read: statements, or else models' answers, labels, or people."""
    if material.log is not None:
        return _rows_of_log(material.log, limit)
    if material.labels is not None:
        return ("annotator", "label", "statement", "response"), label_rows(material.labels, limit)
    if material.issue_labels:
        return _rows_of_issue_labels(material.issue_labels[:limit])
    if material.placed is not None:
        return _rows_of_parties(material.placed, limit)
    instrument = material.instrument
    if instrument is None:
        return _rows_of_people(material.people, limit)
    if not instrument.statements:
        return _rows_of_answer_sets(instrument.answer_sets[:limit])
    return _rows_of_statements(instrument, limit)


def _rows_of_log(log: ImportedAnswers, limit: int) -> Rows:
    rows: list[tuple[str, ...]] = []
    for run in log.runs:
        for _, entry in run.entries[:limit]:
            rows.append((run.card.name, f"{entry.count:,}", entry.answer or ""))
    return ("model", "count", "answer"), rows[:limit]


def _rows_of_issue_labels(labels: Sequence[IssueLabel]) -> Rows:
    rows: list[tuple[str, ...]] = []
    for label in labels:
        value = f"{label.label:+d}" if label.label else "0"
        rows.append((label.annotator, value, label.statement, label.issue))
    return ("annotator", "label", "statement", "issue"), rows


def _rows_of_parties(placed: Placed, limit: int) -> Rows:
    rows: list[tuple[str, ...]] = [
        (party.name, f"{coded.position:g}", f"{coded.rile:g}", coded.name)
        for party, coded in placed.pairs[:limit]
    ]
    return ("party", "position", "rile", "in the file"), rows


def _rows_of_people(people: Sequence[Respondent], limit: int) -> Rows:
    """Return respondents with their answers to the first four questions."""
    refs: dict[str, None] = {}
    for respondent in people:
        refs.update(dict.fromkeys(respondent.answers))
    first_refs = tuple(refs)[:4]
    rows: list[tuple[str, ...]] = []
    for respondent in people[:limit]:
        answers = [respondent.answers.get(ref, "") for ref in first_refs]
        rows.append((respondent.name, *answers))
    return ("respondent", *first_refs), rows


def _rows_of_answer_sets(answer_sets: Sequence[AnswerSet]) -> Rows:
    rows: list[tuple[str, ...]] = [
        (
            answer_set.model,
            str(answer_set.bias),
            str(answer_set.condition or ""),
            f"{len(answer_set.pairs):,}",
        )
        for answer_set in answer_sets
    ]
    return ("model", "bias", "error", "questions"), rows


def _rows_of_statements(instrument: Instrument, limit: int) -> Rows:
    """Return statements with their originals and, if known, the parties of each stance."""
    name_by_stance: dict[int, str] = {}
    if instrument.party_answers:
        name_by_stance = {stance: name for name, stance in STANCES.items() if stance}
    rows = []
    for statement in instrument.statements[:limit]:
        answers = [
            answer for answer in instrument.party_answers if answer.statement == statement.ref
        ]
        parties = [
            ", ".join(answer.party for answer in answers if answer.stance == stance)
            for stance in name_by_stance
        ]
        n_wordings = f"{len(statement.wordings):,}"
        rows.append((statement.ref, n_wordings, *parties, _original_text(statement)))
    return ("ref", "wordings", *name_by_stance.values(), "original"), rows


def _original_text(statement: Statement) -> str:
    """Return the text of the original, or else of the first wording, or an empty string."""
    for wording in statement.wordings:
        if wording.variant == ORIGINAL:
            return wording.text
    return statement.wordings[0].text if statement.wordings else ""


def languages(instrument: Instrument) -> Counter[str]:
    """Return the number of wordings in each language."""
    return Counter(
        wording.language for statement in instrument.statements for wording in statement.wordings
    )


def notes_of(instrument: Instrument) -> tuple[str, ...]:
    """Return the notes on an instrument's files, and on questions that cannot show their bias."""
    return (
        *instrument.notes,
        *(note for audit in registry.every_audit() for note in audit.notes(instrument)),
    )


def said_of(added: AddedRespondents) -> str:
    """Return the sentence on the changes that an import of answers made."""
    parts = [
        f"{plural(added.added, 'respondent')} new, {added.known:,} "
        f"{'was' if added.known == 1 else 'were'} stored with the same answers",
        f"{plural(added.answers, 'answer')} new",
    ]
    n_absent, n_skipped = added.absent, added.skipped
    if n_absent:
        they = "it stays" if n_absent == 1 else "they stay"
        parts.append(
            f"{plural(n_absent, 'respondent')} {_are(n_absent)} in the store but not in the file: "
            f"{they}"
        )
    if n_skipped:
        parts.append(
            f"{plural(n_skipped, 'answer')} to questions that this store has removed "
            f"{_are(n_skipped)} left out"
        )
    return "; ".join(parts)


def _of_instrument(outcome: ImportOutcome, store: Path) -> Iterator[str]:
    instrument, imported = outcome.material.instrument, outcome.imported
    assert instrument is not None
    assert imported is not None
    yield (
        f"{imported.name}: {plural(len(instrument.statements), 'statement')} ({imported.added:,} "
        f"new, {imported.changed:,} changed, {imported.unchanged:,} unchanged, "
        f"{imported.retired:,} retired), {plural(imported.wordings, 'wording')}, "
        f"{plural(imported.templates, 'template')}"
    )
    yield from _column_lines(outcome.material.how)
    yield from said_by_language(imported.by_language)
    for language, replaced in imported.lexicons:
        other = "the one that was here before" if replaced else "one that workbench may have"
        yield (
            f"- answers in {language} are read by the instrument's own lexicon, in place of {other}"
        )
    for name, version in imported.edited:
        yield (
            f"- the template {name} was edited: this is version {version}; answers to earlier "
            "versions stay"
        )
    if instrument.questionnaire is not None:
        yield f"questionnaire: {_counted(instrument.questionnaire)}"
        yield from (f"- {line}" for line in _survey(instrument.questionnaire))
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
    if counts := languages(instrument):
        yield "wordings by language: " + ", ".join(
            f"{language} {count:,}" for language, count in sorted(counts.items())
        )
    yield from _note_lines(
        notes_of(instrument), imported.choices.models if imported.choices is not None else ()
    )
    yield from _left(outcome, imported, store)
    if instrument.answer_sets:
        quoted = shlex.quote(instrument.name)
        yield f"Next: workbench show {shlex.quote(str(store))} response_bias --instrument {quoted}"
    else:
        yield f"Next: workbench lint {shlex.quote(str(store))}"


def said_by_language(changes: Sequence[LanguageChange]) -> Iterator[str]:
    """Yield the changes in each language of an instrument that was here.

    They tell what is added, replaced, taken out and kept.
    """
    for verb, wordings, templates, remark in _VERBS:
        phrases = []
        for change in changes:
            if verb == _KEPT and change.given:
                continue  # the first sentence counts the unchanged ones
            counts = (
                (getattr(change, wordings), "wording"),
                (getattr(change, templates), "template"),
            )
            if count_phrases := [plural(number, noun) for number, noun in counts if number]:
                phrases.append(f"{change.language} {' and '.join(count_phrases)}")
        if phrases:
            yield f"- {verb}: {'; '.join(phrases)}{remark}"


def _left(outcome: ImportOutcome, imported: Imported, store: Path) -> Iterator[str]:
    """Yield lines on unchanged and excluded parts of an import, and its findings."""
    if imported.kept:
        yield (
            f"- {imported.kept:,} statements have changed here but not in the file: they stay "
            "as they are"
        )
    if imported.answers is not None and (imported.answers.added or imported.answers.known):
        yield f"- {said_of(imported.answers)}"
    yield from (f"- {finding}" for finding in outcome.odd)
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


def _of_answers(outcome: ImportOutcome, store: Path) -> Iterator[str]:
    assert outcome.added is not None
    yield f"{outcome.material.name}: {said_of(outcome.added)}"
    yield from _column_lines(outcome.material.how)
    notes_on_people = people_notes(outcome.material.people)
    yield from (f"- {note}" for note in (*outcome.material.notes, *notes_on_people, *outcome.odd))
    yield from _imported_said_numbers(outcome, store)


def _column_lines(settings: ReadSettings) -> Iterator[str]:
    """Yield the meaning of the file's columns, and those that are excluded."""
    column_by_name = {name: column for column, name in settings.columns.items() if name != LEFT_OUT}
    excluded = [column for column, name in settings.columns.items() if name == LEFT_OUT]
    sources = [
        f"{name} from {'the number of the row' if source == NUMBER else source}"
        for name, source in column_by_name.items()
    ]
    parts = [
        ", ".join(sources) or "as they are",
        *([f"left out: {', '.join(excluded)}"] if excluded else []),
    ]
    if settings.columns:
        yield f"- columns: {'; '.join(parts)}"


def _imported_said_numbers(outcome: ImportOutcome, store: Path) -> Iterator[str]:
    """Yield sentences on the reading of answers in numbers.

    Nothing in a file shows that its scale runs the other way.
    """
    for scale, meanings in outcome.numbers:
        adjust = (
            f"workbench questionnaire {shlex.quote(str(store))} --scale "
            f"{shlex.quote(scale)} --map ANSWER=MEANING"
        )
        yield f"- {scale}: answers in numbers were read as {meanings}; adjust: {adjust}"


def _choices(instrument: Instrument, added: AddedChoices) -> Iterator[str]:
    """Yield the numbers of questions and answers, and how many are new."""
    if instrument.choices:
        groups = Counter(
            f"{item.bias} ({item.variant})" if item.variant else item.bias
            for item in instrument.choices
        )
        group_counts = ", ".join(f"{count:,} {group}" for group, count in groups.items())
        changes = (
            f"; of {added.changed:,} the key, bias, middle option or shares differed here"
            if added.changed
            else ""
        )
        yield f"multiple-choice questions: {group_counts}{changes}"
    if instrument.answer_sets:
        new = f"{plural(added.answer_sets, 'new set')}, {plural(added.answers, 'answer')}"
        known_note = (
            f"; {added.known:,} {'was' if added.known == 1 else 'were'} here already"
            if added.known
            else ""
        )
        yield f"answers of models: {new} ({', '.join(added.models)}){known_note}"


def _note_lines(notes: Sequence[str], models: Sequence[str]) -> Iterator[str]:
    """Yield the notes on the files: on the questions first, then model by model."""
    of_models = [
        [note for note in notes if note.startswith((f"{model}: ", f"{model}, "))]
        for model in models
    ]
    model_notes = {note for own_notes in of_models for note in own_notes}
    yield from (f"- {note}" for note in notes if note not in model_notes)
    for model, notes_of_model in zip(models, of_models, strict=True):
        for note in notes_of_model:
            is_headline = note.startswith(f"{model}: ")
            yield note if is_headline else f"- {note.removeprefix(f'{model}, ')}"


def _counted(questionnaire: Questionnaire) -> str:
    """Return the size of a questionnaire: `6 context and 2 target questions, 15 respondents`."""
    respondents = plural(len(questionnaire.respondents), "respondent")
    n_questions = {role: len(questionnaire.of_role(role)) for role in QuestionRole}
    return f"{counted_roles(n_questions)}, {respondents}"


def _survey(questionnaire: Questionnaire) -> Iterator[str]:
    """Yield the meaning of survey answers, the weights of people, and the published shares."""
    refs_by_scale: dict[str, list[str]] = {}
    for question in questionnaire.of_role(QuestionRole.SURVEY):
        refs_by_scale.setdefault(question.scale, []).append(question.ref)
    for name, refs in refs_by_scale.items():
        options = questionnaire.scale(name).options
        values_by_meaning = {
            meaning: [option.values[0] for option in options if option.meaning is meaning]
            for meaning in Meaning
        }
        phrases = [
            f"{' · '.join(values)} ({WORDS.get(meaning, meaning)})"
            for meaning, values in values_by_meaning.items()
            if values
        ]
        yield f"scale {name} of {named_few(refs, 12)}: {'; '.join(phrases)}"
    yield from people_notes(questionnaire.respondents)
    for group in dict.fromkeys(share.group for share in questionnaire.published):
        values = dict.fromkeys(
            share.value for share in questionnaire.published if share.group == group
        )
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
"the description of people in an export, which never has names"


def prepared(store: Store, instrument: str, format: str, people: str = "counts") -> Export:  # noqa: A002  the field's word
    """Return an instrument ready to be written.

    Its notes name what stays in the store alone.

    people : one of `PEOPLE`, the fields of annotators and respondents that are exported, while
    layouts that others read have none
    """
    complete = replace(
        store.instruments.get(instrument),
        questionnaire=store.questionnaires.get(instrument),
        answer_sets=store.choices.answer_sets(instrument),
    )
    exported = export(format, complete)
    files = (
        {}
        if people == "none"
        else people_files(store.people.list(), pseudonyms=people == "pseudonyms")
    )
    notes = (*exported.notes, *store.instruments.export_losses(instrument))
    if files and format not in OURS:
        return replace(
            exported, notes=(*notes, "Descriptions of annotators and respondents are left out.")
        )
    return replace(exported, files={**exported.files, **files}, notes=notes)


OURS = ("csv", "choices")
"formats that are folders of our own files"
