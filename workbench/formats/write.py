"""Writes an instrument as files.

The formats are a folder that reads back unchanged, JSON Lines, the layout of ProbVAA, and a folder
of multiple-choice questions. Written files are read again before they are moved in place, so that
no folder is left behind that cannot be imported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path

from workbench.domain.instruments import (
    Instrument,
    IssueLabel,
    PartyAnswer,
    SurveyAnswer,
    gold_labels,
)
from workbench.domain.statements import Statement, VariantId
from workbench.errors import InputError, UnknownName, UsageError
from workbench.formats.choice_instruments import (
    beside_choices,
    choice_files,
    kept_as_choices,
    read_choice_instrument,
)
from workbench.formats.folder import expanded, others, put
from workbench.formats.native import (
    csv_files,
    json_lines,
    origins_elsewhere,
    read_csv,
    read_jsonl,
    statement_lines,
)
from workbench.formats.probvaa_write import ProbvaaFiles
from workbench.formats.questionnaires import beside_layout, in_lines, normal_questionnaire
from workbench.formats.templates import lexicon_files, lost_lexicons

FORMATS = ("csv", "probvaa", "jsonl", "choices")


@dataclass(frozen=True, slots=True)
class Written:
    """The result of an export."""

    format: str
    folder: Path
    files: tuple[Path, ...]
    left_out: tuple[str, ...]
    "sentences about data that the format cannot hold"
    notes: tuple[str, ...] = ()
    "sentences for the users of the files"
    left_alone: tuple[str, ...] = ()
    "other files of the folder, which an import of the folder may read"


@dataclass(frozen=True, slots=True)
class Export:
    """The files of an export, which `write` writes."""

    format: str
    files: Mapping[str, str]
    "path in the folder -> text"
    left_out: tuple[str, ...]
    check: Callable[[Path], None]
    notes: tuple[str, ...] = ()

    def write(self, folder: Path, *, force: bool = False) -> Written:
        """Write the files.

        Raises UsageError if that fails or they would not read back unchanged.
        """
        target = expanded(folder)
        files = put(self.files, target, force=force, check=self.check)
        return Written(
            self.format, target, files, self.left_out, self.notes, others(target, tuple(self.files))
        )


def export(format: str, instrument: Instrument) -> Export:  # noqa: A002  the command line's word for it
    """Return an instrument's export in a format.

    Raises UnknownName, and UsageError if there is nothing to write.
    """
    if format not in FORMATS:
        raise UnknownName(
            f"no format to export is named {format!r}. Available: {', '.join(FORMATS)}"
        )
    if not instrument.statements and not (format == "choices" and instrument.answer_sets):
        raise UsageError(
            f"the instrument {instrument.name!r} holds no statement yet; there is nothing to export"
        )
    _check_encodable(instrument)
    return _EXPORTS[format](instrument)


def _choices_export(instrument: Instrument) -> Export:
    reduced, left_out = kept_as_choices(instrument)
    return Export(
        "choices",
        choice_files(reduced) | lexicon_files(reduced),
        left_out,
        lambda folder: _check_same(reduced, folder, read_choice_instrument),
    )


def _csv_export(instrument: Instrument) -> Export:
    reduced, losses = without_strays(normal_form(without_choices(instrument)))
    return Export(
        "csv",
        csv_files(reduced) | lexicon_files(reduced),
        (*losses, *beside_choices(instrument)),
        lambda folder: _check_same(reduced, folder, read_csv),
    )


def _probvaa_export(instrument: Instrument) -> Export:
    layout = ProbvaaFiles(instrument)
    losses = (
        *layout.left_out,
        *beside_layout(instrument),
        *beside_choices(instrument),
        *lost_lexicons(instrument),
    )
    return Export("probvaa", layout.files(), losses, layout.check, layout.notes())


def _jsonl_export(instrument: Instrument) -> Export:
    lines_export = _lines_export(normal_form(without_choices(instrument)))
    further_losses = (*beside_choices(instrument), *lost_lexicons(instrument))
    return replace(lines_export, left_out=(*lines_export.left_out, *further_losses))


def _lines_export(instrument: Instrument) -> Export:
    name = _file_name(instrument.name)
    archived_origins = origins_elsewhere(instrument)
    in_line_form, questionnaire_losses = in_lines(instrument)
    reduced = replace(
        in_line_form,
        statements=tuple(
            replace(statement, derived_from=None)
            if statement.derived_from in archived_origins
            else statement
            for statement in instrument.statements
        ),
    )
    origin_losses = (
        [f"The origins {', '.join(archived_origins)} of statements, which are archived."]
        if archived_origins
        else []
    )
    return Export(
        "jsonl",
        {name: json_lines(reduced)},
        (*origin_losses, *questionnaire_losses, *_beside_statements(instrument)),
        lambda folder: _check_statements(reduced, folder / name),
    )


def without_choices(instrument: Instrument) -> Instrument:
    """Return an instrument without multiple-choice data.

    Its questions become plain statements with the same texts.
    """
    return replace(instrument, choices=(), answer_sets=())


def write_folder(instrument: Instrument, folder: Path, *, force: bool = False) -> tuple[Path, ...]:
    """Write a folder that `read_csv` reads to the same instrument, and return its files."""
    return export("csv", instrument).write(folder, force=force).files


def write_probvaa(instrument: Instrument, folder: Path, *, force: bool = False) -> Written:
    """Write a folder in the layout of the published ProbVAA data set.

    Returns the result with the data that the layout cannot hold.
    """
    return export("probvaa", instrument).write(folder, force=force)


def without_strays(instrument: Instrument) -> tuple[Instrument, tuple[str, ...]]:
    """Return an instrument without data on unknown statements or issues, and the losses.

    Each loss has a sentence. A published data set may have answers to statements that it lacks, and
    a store may have labels of a removed issue. Our own files may not.
    """
    labels = _known_labels(instrument)
    party_answers = _known_party_answers(instrument)
    survey = _known_survey_answers(instrument)
    questionnaire, questionnaire_losses = normal_questionnaire(instrument)
    reduced = replace(
        instrument,
        issue_labels=labels,
        party_answers=party_answers,
        survey=survey,
        questionnaire=questionnaire,
    )
    n_lost_by_caption = {
        "labels": len(instrument.issue_labels) - len(labels),
        "answers of parties": len(instrument.party_answers) - len(party_answers),
        "answers of people": len(instrument.survey) - len(survey),
    }
    losses = [
        f"{n_lost:,} {caption} on statements, wordings, issues or parties that the instrument does "
        "not have."
        for caption, n_lost in n_lost_by_caption.items()
        if n_lost
    ]
    return reduced, (*losses, *questionnaire_losses)


def _known_labels(instrument: Instrument) -> tuple[IssueLabel, ...]:
    """Return the labels of statements that the instrument has, for its issues if it names any."""
    refs = {statement.ref for statement in instrument.statements}
    labels = [label for label in instrument.issue_labels if label.statement in refs]
    if not instrument.issues:
        return tuple(labels)
    return tuple(label for label in labels if label.issue in instrument.issues)


def _known_party_answers(instrument: Instrument) -> tuple[PartyAnswer, ...]:
    """Return the answers of parties to statements, both of which the instrument has."""
    refs = {statement.ref for statement in instrument.statements}
    parties = {(party.country, party.name) for party in instrument.parties}
    answers = [answer for answer in instrument.party_answers if answer.statement in refs]
    return tuple(answer for answer in answers if (answer.country, answer.party) in parties)


def _known_survey_answers(instrument: Instrument) -> tuple[SurveyAnswer, ...]:
    """Return the answers of people to wordings that the instrument has."""
    wordings: set[tuple[str, VariantId]] = set()
    for statement in instrument.statements:
        wordings.update((statement.ref, wording.variant) for wording in statement.wordings)
    return tuple(
        answer for answer in instrument.survey if (answer.statement, answer.variant) in wordings
    )


def _check_encodable(instrument: Instrument) -> None:
    for statement in instrument.statements:
        for wording in statement.wordings:
            if "\x00" in wording.text or any(
                "\ud800" <= character <= "\udfff" for character in wording.text
            ):
                raise UsageError(
                    f"{statement.ref}: {wording.variant} ({wording.language}) contains a NUL or "
                    "half a surrogate pair, which no text file can hold. Edit the statement first."
                )


def _check_same(instrument: Instrument, folder: Path, read: Callable[[Path], Instrument]) -> None:
    """Raise UsageError if the files do not read back to the instrument."""
    read_back = _read(lambda: read(folder))
    differing = [
        field.name
        for field in fields(Instrument)
        if _comparable(field.name, read_back) != _comparable(field.name, instrument)
    ]
    if differing:
        raise UsageError(
            _refusal(
                [f"{name}: {_first_difference(name, read_back, instrument)}" for name in differing]
            )
        )


def _check_statements(instrument: Instrument, file: Path) -> None:
    read_back = _read(lambda: read_jsonl(file))
    for name in ("statements", "questionnaire"):
        if _comparable(name, read_back) != _comparable(name, instrument):
            raise UsageError(
                _refusal([f"{name}: {_first_difference(name, read_back, instrument)}"])
            )


def _read(read: Callable[[], Instrument]) -> Instrument:
    try:
        return read()
    except InputError as error:
        raise UsageError(
            _refusal([str(finding) for finding in error.findings[: error.shown]])
        ) from error


def _refusal(places: list[str]) -> str:
    return "\n".join(
        (
            "the files could not be imported again unchanged, so nothing was written. In the "
            "files it would be:",
            *places,
            "Correct it on the Statements screen, and export again.",
        )
    )


def _comparable(name: str, instrument: Instrument) -> object:
    """Return a field for a comparison.

    Statements have no labels, because these are computed from the annotators' labels.
    """
    if name != "statements":
        return getattr(instrument, name)
    return tuple(replace(statement, issues={}) for statement in instrument.statements)


def normal_form(instrument: Instrument) -> Instrument:
    """Return an instrument as read back from its files.

    Its wordings are sorted and its derived fields recomputed.
    """
    gold = gold_labels(instrument.issue_labels)
    return replace(
        instrument,
        title=instrument.title or instrument.name,
        version=instrument.version or "1",
        statements=tuple(
            _normal_statement(statement, gold.get(statement.ref, {}))
            for statement in instrument.statements
        ),
    )


def _normal_statement(statement: Statement, issues: Mapping[str, int]) -> Statement:
    lines = list(statement_lines(statement))
    return replace(
        statement,
        wordings=tuple(
            replace(
                wording,
                stated=None if wording.relation is wording.variant.relation else wording.stated,
            )
            for _, wordings in lines
            for wording in wordings
        ),
        languages=tuple(language for language, _ in lines),
        issues=issues,
    )


def _first_difference(name: str, read_back: Instrument, instrument: Instrument) -> str:
    actual, expected = _comparable(name, read_back), _comparable(name, instrument)
    if isinstance(actual, tuple) and isinstance(expected, tuple):
        pairs = (
            (left, right) for left, right in zip(actual, expected, strict=False) if left != right
        )
        actual, expected = next(pairs, (f"{len(actual)} of them", f"{len(expected)} of them"))
    return f"{expected!r:.300} came back as {actual!r:.300}"


def _beside_statements(instrument: Instrument) -> tuple[str, ...]:
    """Return sentences about the parts of an instrument besides its statements.

    JSON Lines do not hold them.
    """
    counts = {
        "templates": len(instrument.templates),
        "labels of single annotators": sum(
            label.annotator != "gold" for label in instrument.issue_labels
        ),
        "definitions of issues": len(instrument.definitions),
        "parties": len(instrument.parties),
        "answers of parties": len(instrument.party_answers),
        "answers of people": len(instrument.survey),
    }
    losses = [f"{count:,} {caption}." for caption, count in counts.items() if count]
    return (*losses, "Title, version, source, citation, licence and notes of the instrument.")


def _file_name(name: str) -> str:
    is_valid = (
        name
        and len(name) <= 64
        and not name.startswith(".")
        and all(character.isalnum() or character in "-_." for character in name)
    )
    return f"{name if is_valid else 'statements'}.jsonl"


_EXPORTS: Mapping[str, Callable[[Instrument], Export]] = {
    "csv": _csv_export,
    "probvaa": _probvaa_export,
    "jsonl": _jsonl_export,
    "choices": _choices_export,
}
"the format of an export -> what makes it"
