"""The columns of wordings and the columns about them: the same names in all of our formats.

`original`, `question`, `paraphrase_1`, `paraphrase_2`, `negation`, `opposite`, `reformulation`, `reformulation_1`,
`political_opposite`, `political_opposite_1`, …, `changed`, `key_typo_1`, …; `author.COLUMN` names the author of that
column's wording, and `relation.COLUMN` gives the expected relation of its stance to the stance on the original.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from workbench.domain.statements import Relation, VariantId, VariantKind, variant_order
from workbench.formats.tabular import Findings, Row, unknown

Word = TypeVar("Word", bound=str)

AUTHOR, RELATION = "author.", "relation."
ALWAYS_NUMBERED = (
    *(VariantKind.PARAPHRASE, VariantKind.KEY_TYPO, VariantKind.MIDDLE_RANDOM),
    VariantKind.LETTER_SWAP,
)
SEVERAL = (*ALWAYS_NUMBERED, VariantKind.REFORMULATION, VariantKind.POLITICAL_OPPOSITE)
"kinds with any number of wordings per statement"
UNNUMBERED = tuple(kind.value for kind in VariantKind if kind not in ALWAYS_NUMBERED)
"columns without a number, `original` first"
NUMBERED = tuple(f"{kind.value}_" for kind in SEVERAL)
"prefixes of numbered columns"
MOST = 99


def column_of(variant: VariantId) -> str:
    """Return the name of a wording's column: `paraphrase_2`, `reformulation`."""
    return str(variant).replace("-", "_")


def read_column(name: str) -> str:
    """Return a column by its own name where it has that of the screens, as in `paraphrase-2`; any other as it is.

    Examples
    --------
    >>> read_column("paraphrase-2"), read_column("author.political opposite"), read_column("issue.a-b")
    ('paraphrase_2', 'author.political_opposite', 'issue.a-b')
    """
    about = next((prefix for prefix in (AUTHOR, RELATION) if name.startswith(prefix)), "")
    meant = re.sub(r"[- ]", "_", name.removeprefix(about))
    return about + meant if meant in UNNUMBERED or meant.startswith(NUMBERED) else name


def wording_columns(header: Iterable[str], file: Path, findings: Findings) -> dict[VariantId, str]:
    """Return the column of each wording in the order of variants; a column that lacks its number is noted."""
    found: dict[VariantId, str] = {}
    for column in header:
        kind = next((kind for kind in SEVERAL if column.startswith(f"{kind.value}_")), None)
        if column in UNNUMBERED:
            found[VariantId(VariantKind(column))] = column
        elif kind is not None:
            ordinal = re.fullmatch(r"[1-9][0-9]?", column.removeprefix(f"{kind.value}_"))
            if ordinal is None:
                said = f"a {kind.value.replace('_', ' ')} without a number"
                findings.add(file, 1, column, said, f"{kind}_1, {kind}_2, …")
            else:
                found[VariantId(kind, int(ordinal[0]))] = column
    return dict(sorted(found.items(), key=lambda item: variant_order(item[0])))


def check_columns_about(
    prefix: str, header: Iterable[str], wordings: Sequence[str], file: Path, findings: Findings
) -> None:
    """Note columns (`author.`, `relation.`) about wordings that the file does not have."""
    for column in header:
        if column.startswith(prefix) and column.removeprefix(prefix) not in wordings:
            findings.add(file, 1, column, *unknown("wording", column.removeprefix(prefix), tuple(wordings)))


def authors(row: Row, columns: Mapping[VariantId, str]) -> dict[VariantId, str]:
    """Return the authors of single wordings of a row; the others are by the row's `author`."""
    named = {variant: row.get(AUTHOR + column) for variant, column in columns.items()}
    return {variant: author for variant, author in named.items() if author}


def relations(row: Row, columns: Mapping[VariantId, str], findings: Findings) -> dict[VariantId, Relation]:
    """Return the relations of single wordings of a row that differ from the relations of their kinds."""
    found = {}
    for variant, column in columns.items():
        word = one_of(row, RELATION + column, allowed_relations(variant), findings)
        if word and Relation(word) is not variant.relation:
            found[variant] = Relation(word)
    return found


def allowed_relations(variant: VariantId) -> tuple[str, ...]:
    """Return the allowed relations of a wording; an original has none, because other wordings are compared with it."""
    return (Relation.SAME.value,) if variant.kind is VariantKind.ORIGINAL else tuple(r.value for r in Relation)


def tags_of(cell: str) -> tuple[str, ...]:
    r"""Return the tags of a cell: separated by `;`, where `\;` is a semicolon and `\\` a backslash of a tag.

    Examples
    --------
    >>> tags_of(r"pilot; climate \; energy;")
    ('pilot', 'climate ; energy')
    """
    parts = [""]
    for piece in re.findall(r"\\[\\;]|.", cell, re.DOTALL):
        if piece == ";":
            parts.append("")
        else:
            parts[-1] += piece[-1]
    return tuple(part.strip() for part in parts if part.strip())


def tag_cell(tags: Iterable[str]) -> str:
    r"""Return the cell of tags.

    Examples
    --------
    >>> print(tag_cell(["pilot", "climate ; energy"]))
    pilot; climate \; energy
    """
    return "; ".join(re.sub(r"([\\;])", r"\\\1", tag) for tag in tags)


def one_of(row: Row, column: str, words: Iterable[Word], findings: Findings) -> Word | None:
    """Return which of these words a cell is; None if it is empty or, with a note, none of them."""
    text = row.get(column)
    found = next((word for word in words if word == text.casefold()), None)
    if text and found is None:
        findings.add(row.file, row.line, column, repr(text), "one of " + ", ".join(words))
    return found
