"""Writes an instrument as files: a folder that reads back unchanged, JSON Lines, the layout of
ProbVAA, or a folder of multiple-choice questions.

Written files are read again before they are moved in place, so that no folder is left behind that
cannot be imported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path

from workbench.domain.instruments import Instrument, gold_labels
from workbench.domain.statements import Statement
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
from workbench.formats.probvaa_write import Layout
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
    "sentences about what the format cannot hold"
    notes: tuple[str, ...] = ()
    "sentences about what users of the files should know"
    left_alone: tuple[str, ...] = ()
    "other files of the folder, which an import of the folder may read"


@dataclass(frozen=True, slots=True)
class Export:
    """The files of an export; `write` writes them."""

    format: str
    files: Mapping[str, str]
    "path in the folder -> text"
    left_out: tuple[str, ...]
    check: Callable[[Path], None]
    notes: tuple[str, ...] = ()

    def write(self, folder: Path, *, force: bool = False) -> Written:
        """Write the files. Raises UsageError if that fails or they would not read back
        unchanged.
        """
        place = expanded(folder)
        files = put(self.files, place, force=force, check=self.check)
        return Written(
            self.format, place, files, self.left_out, self.notes, others(place, tuple(self.files))
        )


def export(format: str, instrument: Instrument) -> Export:  # noqa: A002  the command line's word for it
    """Return an instrument's export in a format. Raises UnknownName, and UsageError if there is
    nothing to write.
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
    if format == "choices":
        kept, left_out = kept_as_choices(instrument)
        return Export(
            format,
            choice_files(kept) | lexicon_files(kept),
            left_out,
            lambda folder: _check_same(kept, folder, read_choice_instrument),
        )
    beside = (*beside_choices(instrument), *(lost_lexicons(instrument) if format != "csv" else ()))
    if format == "csv":
        stated, lost = without_strays(normal_form(without_choices(instrument)))
        files = csv_files(stated) | lexicon_files(stated)
        return Export(
            format, files, (*lost, *beside), lambda folder: _check_same(stated, folder, read_csv)
        )
    if format == "probvaa":
        layout = Layout(instrument)
        left_out = (*layout.left_out, *beside_layout(instrument), *beside)
        return Export("probvaa", layout.files(), left_out, layout.check, layout.notes())
    found = _lines_export(normal_form(without_choices(instrument)))
    return replace(found, left_out=(*found.left_out, *beside))


def _lines_export(instrument: Instrument) -> Export:
    name = _file_name(instrument.name)
    elsewhere = origins_elsewhere(instrument)
    asked, unasked = in_lines(instrument)
    kept = replace(
        asked,
        statements=tuple(
            replace(s, derived_from=None) if s.derived_from in elsewhere else s
            for s in instrument.statements
        ),
    )
    said = (
        [f"The origins {', '.join(elsewhere)} of statements, which are archived."]
        if elsewhere
        else []
    )
    return Export(
        "jsonl",
        {name: json_lines(kept)},
        (*said, *unasked, *_beside_statements(instrument)),
        lambda folder: _check_statements(kept, folder / name),
    )


def without_choices(instrument: Instrument) -> Instrument:
    """Return an instrument whose statements are plain statements with the same texts, without
    multiple-choice data.
    """
    return replace(instrument, choices=(), answer_sets=())


def write_folder(instrument: Instrument, folder: Path, *, force: bool = False) -> tuple[Path, ...]:
    """Write a folder that `read_csv` reads to the same instrument; return its files."""
    return export("csv", instrument).write(folder, force=force).files


def write_probvaa(instrument: Instrument, folder: Path, *, force: bool = False) -> Written:
    """Write a folder in the layout of the published ProbVAA data set, and return what the layout
    cannot hold.
    """
    return export("probvaa", instrument).write(folder, force=force)


def without_strays(instrument: Instrument) -> tuple[Instrument, tuple[str, ...]]:
    """Return an instrument without data on unknown statements or issues, and a sentence about each
    loss.

    A published data set may have answers to statements that it lacks, and a store may have labels
    of a removed issue; our own files may not.
    """
    refs = {statement.ref for statement in instrument.statements}
    parties = {(party.country, party.name) for party in instrument.parties}
    wordings = {(s.ref, w.variant) for s in instrument.statements for w in s.wordings}
    issues = set(instrument.issues)
    questionnaire, unasked = normal_questionnaire(instrument)
    kept = replace(
        instrument,
        issue_labels=tuple(
            one
            for one in instrument.issue_labels
            if one.statement in refs and (not issues or one.issue in issues)
        ),
        party_answers=tuple(
            one
            for one in instrument.party_answers
            if one.statement in refs and (one.country, one.party) in parties
        ),
        survey=tuple(one for one in instrument.survey if (one.statement, one.variant) in wordings),
        questionnaire=questionnaire,
    )
    names = {
        "issue_labels": "labels",
        "party_answers": "answers of parties",
        "survey": "answers of people",
    }
    lost = {
        words: len(getattr(instrument, name)) - len(getattr(kept, name))
        for name, words in names.items()
    }
    said = tuple(
        f"{n:,} {words} on statements, wordings, issues or parties that the instrument does not "
        "have."
        for words, n in lost.items()
        if n
    )
    return kept, (*said, *unasked)


def _check_encodable(instrument: Instrument) -> None:
    for statement in instrument.statements:
        for wording in statement.wordings:
            if "\x00" in wording.text or any("\ud800" <= sign <= "\udfff" for sign in wording.text):
                raise UsageError(
                    f"{statement.ref}: {wording.variant} ({wording.language}) contains a NUL or "
                    "half a surrogate pair, "
                    "which no text file can hold. Edit the statement first."
                )


def _check_same(instrument: Instrument, folder: Path, read: Callable[[Path], Instrument]) -> None:
    """Raise UsageError if the files do not read back to the instrument."""
    found = _read(lambda: read(folder))
    differ = [
        field.name
        for field in fields(Instrument)
        if _comparable(field.name, found) != _comparable(field.name, instrument)
    ]
    if differ:
        raise UsageError(
            _refusal([f"{name}: {_first_difference(name, found, instrument)}" for name in differ])
        )


def _check_statements(instrument: Instrument, file: Path) -> None:
    found = _read(lambda: read_jsonl(file))
    for name in ("statements", "questionnaire"):
        if _comparable(name, found) != _comparable(name, instrument):
            raise UsageError(_refusal([f"{name}: {_first_difference(name, found, instrument)}"]))


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
    """Return a field; statements without labels, because these are computed from the annotators'
    labels.
    """
    if name != "statements":
        return getattr(instrument, name)
    return tuple(replace(statement, issues={}) for statement in instrument.statements)


def normal_form(instrument: Instrument) -> Instrument:
    """Return an instrument as read back from its files: with wordings sorted and derived fields
    recomputed.
    """
    gold = gold_labels(instrument.issue_labels)
    return replace(
        instrument,
        title=instrument.title or instrument.name,
        version=instrument.version or "1",
        statements=tuple(_normal_statement(s, gold.get(s.ref, {})) for s in instrument.statements),
    )


def _normal_statement(statement: Statement, issues: Mapping[str, int]) -> Statement:
    lines = list(statement_lines(statement))
    return replace(
        statement,
        wordings=tuple(
            replace(w, stated=None if w.relation is w.variant.relation else w.stated)
            for _, ws in lines
            for w in ws
        ),
        languages=tuple(language for language, _ in lines),
        issues=issues,
    )


def _first_difference(name: str, found: Instrument, wanted: Instrument) -> str:
    one, other = _comparable(name, found), _comparable(name, wanted)
    if isinstance(one, tuple) and isinstance(other, tuple):
        pairs = ((a, b) for a, b in zip(one, other, strict=False) if a != b)
        one, other = next(pairs, (f"{len(one)} of them", f"{len(other)} of them"))
    return f"{other!r:.300} came back as {one!r:.300}"


def _beside_statements(instrument: Instrument) -> tuple[str, ...]:
    """Return sentences about the parts of an instrument besides its statements, which JSON Lines do
    not hold.
    """
    counts = {
        "templates": len(instrument.templates),
        "labels of single annotators": sum(
            one.annotator != "gold" for one in instrument.issue_labels
        ),
        "definitions of issues": len(instrument.definitions),
        "parties": len(instrument.parties),
        "answers of parties": len(instrument.party_answers),
        "answers of people": len(instrument.survey),
    }
    said = [f"{n:,} {words}." for words, n in counts.items() if n]
    return (*said, "Title, version, source, citation, licence and notes of the instrument.")


def _file_name(name: str) -> str:
    good = (
        name
        and len(name) <= 64
        and not name.startswith(".")
        and all(c.isalnum() or c in "-_." for c in name)
    )
    return f"{name if good else 'statements'}.jsonl"
