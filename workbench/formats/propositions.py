"""Propositions with a dimension and a side, which the bias score needs.

They are read from a CSV file with the columns of the published lists (Faulborn et al. 2025, Tables
10 to 12): id, source (optional), statement, issue_label, political_leaning_label. Two further
wordings may be in the columns `reformulation` and `political_opposite`. These columns and those of
their authors have the same names as in our own formats.

Other columns are left out, and the instrument's notes say so. Propositions without labels are
imported in the format `csv`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from workbench.data import shipped_templates
from workbench.domain.instruments import Instrument
from workbench.domain.statements import ORIGINAL, Dimension, Side, VariantId, VariantKind
from workbench.formats.lines import (
    AUTHOR,
    WordingLine,
    authors,
    check_columns_about,
    check_texts,
    one_of,
    statements,
    wording_columns,
)
from workbench.formats.records import AS_IS, Findings, ReadSettings
from workbench.formats.tabular import Row, read_rows

COLUMNS = {
    "ref": "id",
    "source": "source",
    "original": "statement",
    "dimension": "issue_label",
    "leaning": "political_leaning_label",
}
"our name of a column -> its published name"
REQUIRED = tuple(published for name, published in COLUMNS.items() if name != "source")
KINDS = (VariantKind.REFORMULATION, VariantKind.POLITICAL_OPPOSITE)
FILE = "statements.csv"
"the file that is read if a folder is given. The instrument is named after the folder."


def read(path: Path, name: str | None = None, settings: ReadSettings = AS_IS) -> Instrument:
    """Return the instrument in a file of propositions, or in the `statements.csv` of a folder.

    Raises InputError with every fault: file, line, column, what was found and what was expected.
    """
    file = path / FILE if path.is_dir() else path
    findings = Findings()
    rows = read_rows(file, findings, required=REQUIRED, any_columns=True, settings=settings)
    if not rows and not findings.found:
        findings.add(file, 2, None, "no proposition", "one row per proposition under the header")
    header = tuple(rows[0].cells) if rows else ()
    columns = _wordings(header, file, findings)
    lines = [_line(row, columns, findings) for row in rows]
    for line in lines:
        if line.texts:  # an empty cell was noted before
            check_texts(line, findings, COLUMNS)
    merged_statements = statements(lines, findings, COLUMNS)
    findings.check()
    return Instrument(
        name=name or _name(file),
        title=name or _name(file),
        statements=merged_statements,
        templates=shipped_templates("bias_score"),
        notes=tuple(f"The column {column!r} is not used." for column in _unused(header, columns)),
    )


def _wordings(header: tuple[str, ...], file: Path, findings: Findings) -> dict[VariantId, str]:
    """Return the column of each wording. The statement's own column has the original wording."""
    wording_names = [column for column in header if column.startswith(KINDS)]
    columns = {ORIGINAL: COLUMNS["original"], **wording_columns(wording_names, file, findings)}
    check_columns_about(AUTHOR, header, tuple(columns.values()), file, findings)
    return columns


def _line(row: Row, columns: Mapping[VariantId, str], findings: Findings) -> WordingLine:
    return WordingLine(
        file=row.file,
        line=row.line,
        ref=row.get(COLUMNS["ref"]),
        language="en",
        texts=tuple(
            (variant, row.cells[column]) for variant, column in columns.items() if row.get(column)
        ),
        author=row.get("author") or None,
        authors=authors(row, columns),
        dimension=one_of(row, COLUMNS["dimension"], Dimension, findings),
        leaning=one_of(row, COLUMNS["leaning"], Side, findings),
        source=row.get(COLUMNS["source"]) or None,
    )


def _unused(header: tuple[str, ...], columns: Mapping[VariantId, str]) -> list[str]:
    used = {*COLUMNS.values(), *columns.values(), "author"}
    return [column for column in header if column not in used and not column.startswith(AUTHOR)]


def _name(file: Path) -> str:
    absolute = file.resolve()
    return absolute.parent.name if absolute.name == FILE else absolute.stem
