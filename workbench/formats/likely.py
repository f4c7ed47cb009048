"""Proposes how another table may be read as statements.

The proposal comes from the names of the columns and from repeated values. It is made only if the
table could be read so: a short name stands once for each language, and texts are not repeated.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from itertools import islice
from pathlib import Path

from workbench.formats.lines import AUTHOR, NUMBERED, RELATION, SEVERAL, UNNUMBERED, read_column
from workbench.formats.native import ABOUT_STATEMENTS
from workbench.formats.records import (
    AS_IS,
    LEFT_OUT,
    NUMBER,
    Findings,
    ReadSettings,
    is_blank,
    records,
)

NAMES_OF: dict[str, tuple[str, ...]] = {
    "ref": (
        *(
            "id",
            "key",
            "nr",
            "no",
            "number",
            "item_id",
            "statement_id",
            "question_id",
            "thesis_id",
            "item_nr",
        ),
        *("statement_nr", "question_nr", "qid"),
    ),
    "original": (
        *(
            "statement",
            "text",
            "proposition",
            "item",
            "sentence",
            "claim",
            "thesis",
            "these",
            "aussage",
            "wording",
        ),
        *("statement_text", "item_text", "item_prompt", "question", "question_text"),
    ),
    "question": ("question_text",),
    "topic": ("theme", "subject", "category"),
    "leaning": ("left_or_right", "left_right", "side", "political_leaning", "lean", "ideology"),
    "dimension": ("axis", "scale_dimension"),
    "negation": ("negated", "negated_statement"),
    "opposite": ("reversed", "contrary"),
    "country": ("nation", "state"),
    "language": (
        "lang",
        "locale",
        "language_code",
        "lang_code",
        "sprache",
        "langue",
        "idioma",
        "lingua",
        "taal",
    ),
    "source": ("origin", "survey"),
    "author": ("written_by",),
    "tags": ("tag", "labels"),
}
"column of statements -> names that other people give it, the likeliest first"
NUMBERED_NAMES = {
    **{kind.value: kind.value for kind in SEVERAL},
    **dict.fromkeys(
        ("paraphrased", "reworded", "rephrased", "rephrasing", "rewording"), "paraphrase"
    ),
}
"name of a column with a number or a letter behind it -> the kind of wording"
PREFIXED = ("issue.", AUTHOR, RELATION)
NEAR = 0.8
"similarity that a column needs to one of ours (difflib)"
MOST_ROWS, MOST_CELLS = 50_000, 2_000_000
"number of rows and cells that are inspected for repeats"
FEW_REPEATS = 0.1
"largest share of rows with an earlier text in a list of statements"
_SUFFIX = re.compile(r"(?P<name>[a-z_]+?)_?(?P<place>[0-9]{1,2}|[a-h])?")
_ENDING = re.compile(r"[_.-]([a-z]{2})$")
_LANGUAGE = re.compile(r"[a-z]{2,3}(?:[-_][A-Za-z]{2,4})?")


@dataclass(frozen=True, slots=True)
class Proposal:
    """The settings for reading a table as statements, or the reason why that is not possible."""

    how: ReadSettings
    remarks: tuple[str, ...] = ()
    obstacle: str = ""
    "why the statements cannot be read so, or an empty string if they can"


def proposal(path: Path, columns: Sequence[str], settings: ReadSettings = AS_IS) -> Proposal | None:
    """Return the settings for reading a table with these columns as statements.

    The result is None if no column looks like one of statements.
    """
    named_columns = [name for name in columns if name]
    if len(set(columns)) < len(named_columns):
        return None  # its reader names the columns that occur twice
    our_names = _by_names(columns)
    columns_by_name = {name: column for column, name in our_names.items()}
    columns_by_name |= {name: name for name in columns}
    original = columns_by_name.get("original")
    if original is None:
        return None
    table = _values(path, settings)
    language, remark = _language_column(columns_by_name, table, columns, (*NAMES_OF, *our_names))
    ref = _ref_column(columns, our_names, table, language)
    names_by_column = _mapping(columns, our_names, language, ref)
    left_out = _unknown_columns(columns, names_by_column)
    statement_settings = replace(
        settings, columns=names_by_column | dict.fromkeys(left_out, LEFT_OUT)
    )
    remarks = [remark] if remark else []
    if _normalised_name(original) in ("question", "question_text"):
        remarks.append("questions are taken for statements; a model is asked whether it agrees")
    obstacle = (
        _repeats(original, table)
        or _repeated_refs(ref, language, table)
        or _languages_in(ref, language, table)
    )
    return Proposal(statement_settings, tuple(remarks), obstacle)


def _mapping(
    columns: Sequence[str], our_names: Mapping[str, str], language: str, ref: str
) -> dict[str, str]:
    """Return the new names of columns, in the order of the file.

    Without a column of refs, the number of the row becomes the ref.

    Parameters
    ----------
    our_names
        Our names of columns, as `_by_names` returns them.
    language, ref
        The columns of languages and of refs, each of which may be empty.
    """
    names_by_column = {column: name for column, name in our_names.items() if name != "ref"}
    if language:
        names_by_column[language] = "language"
    names_by_column[ref or NUMBER] = "ref"
    mapped_columns = [column for column in (*columns, NUMBER) if column in names_by_column]
    return {
        column: names_by_column[column]
        for column in mapped_columns
        if names_by_column[column] != column
    }


def _unknown_columns(columns: Sequence[str], names_by_column: Mapping[str, str]) -> list[str]:
    """Return the columns that statements do not have, neither as they are nor under a new name."""
    known_names = {*names_by_column, *NAMES_OF, *UNNUMBERED, *ABOUT_STATEMENTS}
    unknown_columns = [name for name in columns if name not in known_names]
    return [
        name for name in unknown_columns if not read_column(name).startswith((*NUMBERED, *PREFIXED))
    ]


def _normalised_name(column: str) -> str:
    """Return a name in small letters with underscores.

    `Paraphrase (A)` is `paraphrase_a`, and `statementID` is `statement_id`.

    Examples
    --------
    >>> _normalised_name("statementID"), _normalised_name("Paraphrase (A)")
    ('statement_id', 'paraphrase_a')
    >>> _normalised_name("item prompt")
    'item_prompt'
    """
    separated = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", column)
    return re.sub(r"[\W_]+", "_", separated.casefold()).strip("_")


def _by_names(columns: Sequence[str]) -> dict[str, str]:
    """Return our names of columns by their names.

    Columns that have our name already are left out.
    """
    naming = _ColumnNaming(columns)
    naming.name_numbered()
    naming.name_known()
    naming.name_similar()
    return naming.names_by_column


@dataclass(frozen=True, slots=True)
class _ColumnNaming:
    """Our names of columns, each of which one column gets at most."""

    columns: Sequence[str]
    names_by_column: dict[str, str] = field(default_factory=dict)

    def is_taken(self, our_name: str) -> bool:
        """Return whether a column has this name, or gets it."""
        return our_name in self.columns or our_name in self.names_by_column.values()

    def name_numbered(self) -> None:
        """Name the columns of numbered wordings."""
        for column in self.columns:
            our_name = _numbered(_normalised_name(column))
            if our_name and not self.is_taken(our_name):
                self.names_by_column[column] = our_name

    def name_known(self) -> None:
        """Name the columns that have a usual name, the likeliest first."""
        for our_name, usual_names in NAMES_OF.items():
            if self.is_taken(our_name):
                continue
            column = self._likeliest_column((our_name, *usual_names))
            if column is not None:
                self.names_by_column[column] = our_name

    def _likeliest_column(self, names: Sequence[str]) -> str | None:
        free_columns = [column for column in self.columns if column not in self.names_by_column]
        for name in names:
            for column in free_columns:
                if _normalised_name(column) == name:
                    return column
        return None

    def name_similar(self) -> None:
        """Name the columns whose names resemble ours."""
        for column in self.columns:
            if column in self.names_by_column or column in NAMES_OF:
                continue
            similar_names = get_close_matches(_normalised_name(column), NAMES_OF, 1, NEAR)
            if similar_names and not self.is_taken(similar_names[0]):
                self.names_by_column[column] = similar_names[0]


def _numbered(plain: str) -> str:
    """Return our name of a numbered wording: `paraphrase_b` is `paraphrase_2`.

    It is empty for any other name.
    """
    match = _SUFFIX.fullmatch(plain)
    kind = NUMBERED_NAMES.get(match["name"]) if match else None
    if match is None or kind is None:
        return ""
    suffix = match["place"] or "1"
    number = int(suffix) if suffix.isdecimal() else ord(suffix) - ord("a") + 1
    return f"{kind}_{number}" if number else ""


# ── what repeats ──────────────────────────────────────────────────────────────────────────────────


def _values(path: Path, settings: ReadSettings) -> dict[str, list[str]]:
    """Return the cells of each column in the first rows.

    A table with faults is read as far as possible.
    """
    numbered_rows = records(path, Findings(), replace(settings, columns={}))
    filled_rows = (cells for _, cells in numbered_rows if not is_blank(cells))
    names = [name.strip() for name in next(filled_rows, [])]
    table: dict[str, list[str]] = {name: [] for name in names}
    for cells in islice(filled_rows, min(MOST_ROWS, MOST_CELLS // max(1, len(names)))):
        if len(cells) == len(names):
            for name, cell in zip(names, cells, strict=True):
                table[name].append(cell.strip())
    return table


def _language_column(
    ours: Mapping[str, str],
    table: Mapping[str, Sequence[str]],
    columns: Sequence[str],
    taken: Collection[str],
) -> tuple[str, str]:
    """Return the column of languages and a remark on its values, each of which may be empty.

    A column with another name counts if it has codes of two languages or more and distinguishes
    equal names of statements.
    """
    language_column = ours.get("language", "")
    if language_column:
        return language_column, _language_remark(language_column, table)
    other_columns = [name for name in columns if name not in taken]
    for column in other_columns:
        codes = set(table.get(column, ()))
        if len(codes) < 2 or not all(map(_is_language_code, codes)):
            continue
        if any(_tells_repeats_apart(table, name, column) for name in columns if name != column):
            return column, f"{column} has codes of {len(codes)} languages"
    return "", ""


def _language_remark(column: str, table: Mapping[str, Sequence[str]]) -> str:
    """Return a remark on the first value of a column that is not a code, or ""."""
    values = sorted(set(table.get(column, ())) - {""})
    words = [value for value in values if not _LANGUAGE.fullmatch(value)]
    return f"{column} has {words[0]!r}: languages are codes such as en, de" if words else ""


def _is_language_code(value: str) -> bool:
    return _LANGUAGE.fullmatch(value) is not None and value in _CODES


def _tells_repeats_apart(table: Mapping[str, Sequence[str]], ref: str, language: str) -> bool:
    """Return whether repeated values of one column stand once for each value of another one."""
    values = table.get(ref, ())
    pairs = set(zip(values, table.get(language, ()), strict=False))
    return len(set(values)) < len(values) == len(pairs)


def _ref_column(
    columns: Sequence[str],
    meant: Mapping[str, str],
    table: Mapping[str, Sequence[str]],
    language: str,
) -> str:
    """Return the column of refs, or an empty string if no column looks like one.

    Of several, it is the one whose values stand once for each language.
    """
    if "ref" in columns:
        return "ref"
    names = ("ref", *NAMES_OF["ref"])
    candidates = [
        column for name in names for column in columns if _normalised_name(column) == name
    ]
    candidates += [
        column
        for column, our_name in meant.items()
        if our_name == "ref" and column not in candidates
    ]
    unique_columns = [
        column for column in candidates if not _repeated_refs(column, language, table)
    ]
    return next(iter([*unique_columns, *candidates]), "")


def _repeats(original: str, table: Mapping[str, Sequence[str]]) -> str:
    """Return why the texts of a column are no list of statements, or "" if they may be one."""
    texts = [text for text in table.get(original, ()) if text]
    n_different = len(set(texts))
    if n_different >= (1 - FEW_REPEATS) * len(texts):
        return ""
    return f"{len(texts):,} rows have {n_different:,} different texts in {original!r}"


def _repeated_refs(ref: str, language: str, table: Mapping[str, Sequence[str]]) -> str:
    """Return why a column is none of refs, or "" if each value stands once for each language."""
    values = [value for value in table.get(ref, ()) if value]
    if not ref or len(set(values)) == len(values):
        return ""
    if language and len(set(zip(table[ref], table[language], strict=True))) == len(table[ref]):
        return ""
    condition = " for each language" if language else ""
    return (
        f"{len(values):,} rows have {len(set(values)):,} different values in {ref!r}, which "
        f"should stand once{condition}"
    )


def _languages_in(ref: str, language: str, table: Mapping[str, Sequence[str]]) -> str:
    """Return why names of statements show several languages, such as `de_12_nl`.

    It is an empty string if they do not.
    """
    endings = [_ENDING.search(value) for value in table.get(ref, ())]
    codes = Counter(match[1] for match in endings if match)
    if language or len(codes) < 2 or codes.total() < len(endings) or not codes.keys() <= _CODES:
        return ""
    code_list = ", ".join(code for code, _ in codes.most_common(8))
    return (
        f"the values of {ref!r} end in codes of {len(codes)} languages ({code_list}), and no "
        "column has the language"
    )


_CODE_LINE = (
    "af am ar az be bg bn bs ca cs cy da de el en es et eu fa fi fil fr ga gl gu ha he hi hr hu hy "
    "id ig is it ja jv ka kk km kn ko ku ky lb lo lt lv mk ml mn mr ms mt my nb ne nl nn no or pa "
    "pl ps pt rm ro ru rw sd si sk sl sn so sq sr st su sv sw ta te tg th ti tk tl tr tt ug uk ur "
    "uz vi wo xh yi yo zh zu"
)
_CODES = frozenset(_CODE_LINE.split())
"codes of languages (ISO 639) by which a column of them is recognised"
