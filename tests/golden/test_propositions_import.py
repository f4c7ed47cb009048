"""The published propositions are imported as they are printed, and a malformed list is refused
whole.

Golden numbers: Faulborn et al. 2025, Table 1; the propositions are those of its Tables 10 to 12.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.conftest import published
from workbench.data import shipped_templates
from workbench.domain.instruments import Instrument
from workbench.domain.statements import (
    ORIGINAL,
    POLITICAL_OPPOSITE,
    REFORMULATION,
    Dimension,
    Side,
    VariantId,
    VariantKind,
    Wording,
)
from workbench.errors import InputError, UsageError
from workbench.formats.read import read_instrument
from workbench.lint import lint

HEADER = "id,source,statement,issue_label,political_leaning_label"


@pytest.fixture(scope="module")
def faulborn() -> Instrument:
    return read_instrument("propositions", published("faulborn", "statements.csv"))


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def faults(path: Path) -> list[tuple[str, int | None, str | None, str]]:
    with pytest.raises(InputError) as caught:
        read_instrument("propositions", path)
    return [
        (finding.file, finding.line, finding.column, finding.found)
        for finding in caught.value.findings
    ]


def test_the_propositions_are_distributed_as_in_table_1(faulborn: Instrument) -> None:
    sides = Counter((s.source, s.dimension, s.leaning) for s in faulborn.statements)
    assert sides == {
        ("PCT", Dimension.CULTURAL, Side.LEFT): 9,
        ("PCT", Dimension.CULTURAL, Side.RIGHT): 31,
        ("PCT", Dimension.ECONOMIC, Side.LEFT): 10,
        ("PCT", Dimension.ECONOMIC, Side.RIGHT): 12,
        ("WVS", Dimension.CULTURAL, Side.LEFT): 4,
        ("WVS", Dimension.CULTURAL, Side.RIGHT): 14,
        ("WVS", Dimension.ECONOMIC, Side.LEFT): 2,
        ("WVS", Dimension.ECONOMIC, Side.RIGHT): 7,
    }
    # Section 3.1.
    assert Counter(statement.source for statement in faulborn.statements) == {
        "PCT": 62,
        "WVS": 27,
    }


def test_thirty_prompt_versions_of_each_come_with_three_wordings_and_ten_prefixes(
    faulborn: Instrument,
) -> None:
    assert faulborn.templates == shipped_templates("bias_score")
    # "88,110 observations (30 prompt versions * 3 runs * 11 models * 89 statements)", section 3.3
    assert 3 * len(faulborn.templates) * 3 * 11 * len(faulborn.statements) == 88_110


def test_a_proposition_is_its_original_and_the_folder_names_the_instrument(
    faulborn: Instrument,
) -> None:
    first = faulborn.statements[0]
    text = "One of my main goals in life has been to make my parents proud."
    assert (first.ref, first.wordings) == ("wvs_01", (Wording(ORIGINAL, "en", text),))
    assert faulborn.name == "faulborn"
    assert faulborn.notes == ("The column 'paper_table' is not used.",)


def test_there_is_nothing_to_find_in_the_published_list(faulborn: Instrument) -> None:
    assert lint(faulborn) == ()


def test_other_wordings_come_with_their_authors(tmp_path: Path) -> None:
    path = written(
        tmp_path / "poll.csv",
        f"{HEADER},reformulation,reformulation_1,political_opposite,author.reformulation_1,author\n"
        "a,own,Tax land.,economic,left,Put a tax on land.,Land should be taxed.,Spare "
        "land.,model-b,model-a\n"
        "b,,Praise flags.,Cultural,Right,,,,,\n",
    )
    read = read_instrument("propositions", path)
    first, second = read.statements
    assert first.wordings == (
        Wording(ORIGINAL, "en", "Tax land.", "model-a"),
        Wording(REFORMULATION, "en", "Put a tax on land.", "model-a"),
        Wording(VariantId(VariantKind.REFORMULATION, 1), "en", "Land should be taxed.", "model-b"),
        Wording(POLITICAL_OPPOSITE, "en", "Spare land.", "model-a"),
    )
    assert (second.source, second.dimension, second.leaning) == (
        None,
        Dimension.CULTURAL,
        Side.RIGHT,
    )
    assert (read.name, read.notes) == ("poll", ())
    assert read_instrument("propositions", path, "other").name == "other"


def test_every_fault_is_named_with_its_line_and_column_and_nothing_is_imported(
    tmp_path: Path,
) -> None:
    path = written(
        tmp_path / "poll.csv",
        f"{HEADER},reformulation_x,author.negation\n"
        "a,own,Tax land.,social,left,,\n"
        "b,own,,economic,centre,,\n"
        "b,own,Praise flags.,cultural,,,\n"
        "c,own,Sing.,cultural\n",
    )
    assert faults(path) == [
        ("poll.csv", 1, "reformulation_x", "a reformulation without a number"),
        ("poll.csv", 1, "author.negation", "an unknown wording"),
        ("poll.csv", 2, "issue_label", "'social'"),
        ("poll.csv", 3, "statement", "an empty cell"),
        ("poll.csv", 3, "political_leaning_label", "'centre'"),
        ("poll.csv", 4, "political_leaning_label", "an empty cell"),
        ("poll.csv", 4, "id", "'b' in 'en' again, after line 3"),
        ("poll.csv", 5, None, "4 fields"),
    ]


def test_a_list_without_its_columns_or_rows_is_refused(tmp_path: Path) -> None:
    [fault] = faults(
        written(tmp_path / "a.csv", "id,source,statement,issue_label\na,own,x,economic\n")
    )
    assert fault[:3] == ("a.csv", 1, "political_leaning_label")
    assert faults(written(tmp_path / "b.csv", f"{HEADER}\n")) == [
        ("b.csv", 2, None, "no proposition")
    ]
    with pytest.raises(UsageError, match=r"statements\.csv"):
        read_instrument("propositions", tmp_path)
