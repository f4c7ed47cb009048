"""Write an instrument, or rows for other programs, into a folder."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.commands.command import ImmediateCommand, Outcome, option, shared_option
from workbench.domain.names import listed, plural
from workbench.errors import UsageError
from workbench.options.option import Type
from workbench.options.shared import INSTRUMENT, MODELS, WITHOUT_RULINGS

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.domain.instruments import Instrument
    from workbench.formats.write import Export, Written
    from workbench.tidy.columns import RowKind
    from workbench.tidy.export import Exported

PEOPLE = ("counts", "pseudonyms", "none")
"descriptions of people in an export: the keys of `pipeline.importing.PEOPLE`"
INSTRUMENTS = "instrument"
"the kind of export that is no rows"
FORMATS = {
    "an instrument": ("csv", "probvaa", "jsonl", "choices"),
    "rows": ("csv", "parquet", "jsonl"),
}
OF_INSTRUMENT = ("people", "force")
OF_ROWS = ("model", "audit", "expand", "names", "without_rulings")
REMARKS = {
    "left_out": "Left out:",
    "notes": "Note:",
    "left_alone": "Files in the folder, not changed:",
}
"fields of `Written` with their headings"


@dataclass(frozen=True)
class ExportCommand(ImmediateCommand):
    """Write an instrument, or rows for other programs: all files, or none."""

    VERB = "export"
    READS_ONLY = True

    folder: Path = option(
        None, "a new or empty folder", type=Type.PATH, positional=True, required=True, metavar="DIR"
    )
    what: tuple[str, ...] = option(
        INSTRUMENTS,
        "instrument, which can be imported again; or rows for pandas, R, DuckDB: answers, "
        "readings, probabilities, "
        "labels, rulings, verdicts, figures (separate several with commas)",
        metavar="KIND,…",
        ticked=True,
    )
    instrument: str | None = shared_option(
        INSTRUMENT.but(
            help="its name; for rows, separate several with commas",
            none="the only one; for rows all",
            metavar="NAME,…",
        )
    )
    format: str | None = option(
        None,
        "csv, probvaa, jsonl, choices; for rows csv, parquet, jsonl",
        none="csv; choices if all statements are multiple choice",
        metavar="FORMAT",
    )
    people: str = option(
        "counts",
        "also write descriptions of annotators and respondents, in separate files",
        choices=PEOPLE,
    )
    force: bool = option(False, "replace files of the same name; others stay")
    model: tuple[str, ...] = shared_option(MODELS, ticked=True)
    audit: tuple[str, ...] = option(
        None, "separate several with commas", none="all", metavar="NAME,…", ticked=True
    )
    expand: bool = option(
        False, "write one row per answer; without it, equal answers of a draw share a row"
    )
    names: bool = option(False, "write people's names instead of pseudonyms")
    without_rulings: bool = shared_option(
        WITHOUT_RULINGS.but(help="ignore auditors' rulings in verdicts and figures")
    )

    @property
    def is_instrument(self) -> bool:
        """Whether an instrument is written, and no rows."""
        return self.what == (INSTRUMENTS,)

    def run(self, store: Store, tell_rows: Callable[[str, int], None] | None = None) -> Outcome:
        """Write the files. `tell_rows` is given a kind of rows and the number of written ones.

        Raises WorkbenchError if they cannot be written.
        """
        if not self.is_instrument:
            return _rows_outcome(self.write_rows(store, tell_rows))
        written = self.write_instrument(store)
        return _instrument_outcome(self._instrument(store), written)

    def write_instrument(self, store: Store) -> Written:
        """Write the instrument. Raises WorkbenchError if it cannot be written."""
        return self.instrument_files(store).write(self.folder, force=self.force)

    def instrument_files(self, store: Store) -> Export:
        """Return the files of the instrument. Reads only.

        Raises UsageError for an option of rows, and if the folder cannot be used.
        """
        from workbench.formats.folder import check_place, expanded
        from workbench.pipeline.importing import prepared

        self.check()
        instrument = self._instrument(store)
        are_all_choices = len(instrument.choices) == len(instrument.statements)
        default_format = "choices" if are_all_choices else "csv"
        export = prepared(store, instrument.name, self.format or default_format, self.people)
        check_place(expanded(self.folder), force=self.force)
        return export

    def _instrument(self, store: Store) -> Instrument:
        return store.instruments.get(self.instrument or store.instruments.only())

    def write_rows(self, store: Store, tell: Callable[[str, int], None] | None = None) -> Exported:
        """Write the rows. `tell` is given a kind of rows and the number of written ones.

        Raises WorkbenchError if they cannot be written.
        """
        from workbench.tidy.columns import RowSelection
        from workbench.tidy.export import export

        self.check()
        choice = RowSelection(
            models=self.model,
            audits=self.audit,
            instruments=listed(self.instrument),
            expand=self.expand,
            names=self.names,
            rulings=not self.without_rulings,
        )
        return export(store, self._row_kinds(), self.format or "csv", choice, self.folder, tell)

    # ── options that do not belong together ───────────────────────────────────────────────────────

    def check(self, row_flags: Sequence[str] = ()) -> None:
        """Raise UsageError for options that do not belong together.

        row_flags : flags of a command line that only rows have, beside those of this command
        """
        if self.is_instrument:
            self._check_instrument(row_flags)
        else:
            self._check_rows()

    def _check_instrument(self, row_flags: Sequence[str]) -> None:
        flags = [self.options()[name].flag for name in OF_ROWS if getattr(self, name)]
        flags += row_flags
        if flags:
            raise UsageError(
                f"{', '.join(flags)}: only for rows; name rows with --what, or leave this out"
            )
        self._check_format("an instrument", "is")

    def _check_rows(self) -> None:
        if INSTRUMENTS in self.what or not self.what:
            raise UsageError(
                "--what names an instrument and kinds of rows; export each into a separate folder"
            )
        if self.force:
            raise UsageError(
                "--force is only for an instrument; export rows into a new or empty folder"
            )
        if self.people != self.options()["people"].default:
            raise UsageError(
                "--people is only for an instrument; rows have people's pseudonyms, or their names "
                "with --names"
            )
        self._check_format("rows", "are")
        kinds = self._row_kinds()
        names = [kind.name for kind in kinds if not kind.of_models]
        if (self.model or self.audit) and len(names) == len(kinds):
            raise UsageError(
                f"{', '.join(names)}: rows without a model or audit; leave out --model and --audit"
            )

    def _row_kinds(self) -> Sequence[RowKind]:
        """Return the kinds of rows. Raises UnknownName."""
        from workbench.tidy.export import kinds

        return kinds(self.what)

    def _check_format(self, subject: str, verb: str) -> None:
        """Raise UsageError for a format that an instrument, or rows, do not have."""
        if self.format is None or self.format in FORMATS[subject]:
            return
        others = [name for name, formats in FORMATS.items() if self.format in formats]
        hint = f" ({self.format} is a format of {others[0]})" if others else ""
        raise UsageError(
            f"{subject} {verb} written as {', '.join(FORMATS[subject])}; found --format "
            f"{self.format}{hint}"
        )


def _instrument_outcome(instrument: Instrument, written: Written) -> Outcome:
    """Return the lines on the files of an instrument, and the command that imports them."""
    lines = [
        f"{instrument.name}: {len(instrument.statements):,} statements as {written.format} in "
        f"{written.folder}"
    ]
    for path in written.files:
        lines.append(f"  {path.relative_to(written.folder)}  {path.stat().st_size:,} bytes")
    remarks = {name: getattr(written, name) for name in REMARKS}
    for name, heading in REMARKS.items():
        if remarks[name]:
            lines += [heading, *(f"- {remark}" for remark in remarks[name])]
    source = written.files[0] if written.format == "jsonl" else written.folder
    next_step = (
        f"Import it: workbench import OTHER_STORE --format {written.format} "
        f"{shlex.quote(str(source))}"
    )
    data = {
        "instrument": instrument.name,
        "format": written.format,
        "folder": str(written.folder),
        "files": [str(path) for path in written.files],
        **remarks,
    }
    return Outcome("\n".join(lines), data, next_step)


def _rows_outcome(exported: Exported) -> Outcome:
    """Return the lines on the files of rows."""
    lines, files = [], []
    for file in exported.files:
        path = exported.folder / file.name
        lines.append(f"{path}  {plural(file.rows, 'row')}, {file.bytes:,} bytes")
        files.append(
            {"file": str(path), "rows": file.rows, "bytes": file.bytes, "sha256": file.sha256}
        )
    lines += [f"- {note}" for note in exported.notes]
    lines += [f"- Left out: {sentence}" for sentence in exported.left_out]
    data = {
        "folder": str(exported.folder),
        "files": files,
        "notes": exported.notes,
        "left_out": exported.left_out,
    }
    next_step = f"What the columns mean: {exported.folder / 'dictionary.csv'}"
    return Outcome("\n".join(lines), data, next_step)
