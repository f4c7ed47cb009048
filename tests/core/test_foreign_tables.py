"""Tables as others save them: nothing is misread in silence, and each message says the step that
helps.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.survey_columns import columns_of_text
from workbench.commands.import_file import OF_TABLE, ImportCommand
from workbench.domain.statements import VariantId
from workbench.errors import InputError, UsageError
from workbench.formats.mapping import how_of, written
from workbench.formats.read import likely, read_instrument, recognised
from workbench.formats.records import Findings, ReadSettings, records
from workbench.formats.tabular import read_rows

Table = list[list[str]]
ENDS = ("csv", "xlsx", "parquet")


def saved(path: Path, table: Table) -> Path:
    """Write a table in the kind of file that its name says."""
    if path.suffix == ".xlsx":
        import openpyxl

        book = openpyxl.Workbook()
        for row in table:
            book.active.append([cell or None for cell in row])
        book.save(path)
    elif path.suffix == ".parquet":
        import pyarrow
        from pyarrow import parquet

        columns = [
            pyarrow.array([row[n] or None for row in table[1:]]) for n in range(len(table[0]))
        ]
        parquet.write_table(pyarrow.Table.from_arrays(columns, names=table[0]), path)
    else:
        path.write_text("".join(";".join(row) + "\n" for row in table), encoding="utf-8")
    return path


def cells(path: Path, how: ReadSettings | None = None) -> Table:
    findings = Findings()
    found = [cells for _, cells in records(path, findings, how or ReadSettings())]
    findings.check()
    return found


@pytest.mark.parametrize("end", ENDS)
def test_empty_columns_at_the_end_are_no_columns(tmp_path: Path, end: str) -> None:
    table = [
        ["ref", "original", "", ""],
        ["a", "Tolls should go.", "", ""],
        ["", "", "", ""],
        ["b", "Free.", "", ""],
    ]
    path = saved(tmp_path / f"t.{end}", [row for row in table if any(row) or end != "parquet"])
    assert [s.ref for s in read_instrument("csv", path).statements] == ["a", "b"]
    table[3][2] = "a note"
    path = saved(tmp_path / f"u.{end}", table)
    with pytest.raises(
        InputError, match=r"column 3 without a name; expected a name in the header.* --ignore 3"
    ):
        read_instrument("csv", path)


def test_a_value_far_below_in_a_column_without_a_name_is_a_fault(tmp_path: Path) -> None:
    rows = [[str(n), "Text.", ""] for n in range(1100)]
    path = saved(tmp_path / "t.csv", [["ref", "original", ""], *rows, ["last", "Text.", "seen"]])
    with pytest.raises(InputError, match="line 1102: found a value in column 3, which has no name"):
        read_instrument("csv", path)


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("kind", ["csv", "propositions", "compass"])
def test_two_columns_of_one_name_are_named_and_one_is_left_out_on_demand(
    tmp_path: Path, end: str, kind: str
) -> None:
    header = {
        "csv": ["ref", "original", "topic", "topic"],
        "propositions": [
            "id",
            "statement",
            "issue_label",
            "political_leaning_label",
            "note",
            "note",
        ],
        "compass": ["statement", "axis", "side", "side"],
    }[kind]
    row = {
        "csv": ["a", "Tolls should go.", "ships", "roads"],
        "propositions": ["a", "Tolls should go.", "economic", "right", "x", "y"],
        "compass": ["Tolls should go.", "economic", "left", "right"],
    }[kind]
    path = saved(tmp_path / f"t.{end}", [header, row])
    twice = header[-1]
    with pytest.raises(
        InputError, match=rf"{twice}': found 2 columns of this name.*--ignore '{twice} \(2\)'"
    ):
        read_instrument(kind, path)
    found = read_instrument(kind, path, settings=how_of("", ignored=[f"{twice} (2)"]))
    [statement] = found.statements
    assert (statement.topic, str(statement.leaning)) == {
        "csv": ("ships", "None"),
        "propositions": (None, "right"),
        "compass": (None, "left"),
    }[kind]


def test_line_ends_of_windows_within_cells_are_line_breaks(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b'prompt,answer\r\n"Agree?\r\nSay yes.",yes\r\n')
    assert cells(path)[1] == ["Agree?\nSay yes.", "yes"]
    path.write_bytes(b'prompt,answer\n"Agree?\r\nSay yes.",yes\n')
    assert cells(path)[1] == ["Agree?\r\nSay yes.", "yes"]
    assert cells(saved(tmp_path / "t.xlsx", [["a", "b"], ["One._x000D_\nTwo.", "x"]]))[1] == [
        "One.\nTwo.",
        "x",
    ]


@pytest.mark.parametrize("end", ENDS)
def test_decimal_commas_are_read_where_they_are_declared(tmp_path: Path, end: str) -> None:
    table = [["q1", "w"], ["yes", "0,5"], ["no", "1.234,5"], ["no, never", "1.000"]]
    path = saved(tmp_path / f"s.{end}", table)
    wanted = columns_of_text("questions=q1 weight=w")
    with pytest.raises(InputError, match=r"found '0,5'; expected a weight.*--decimal ,"):
        read_instrument("survey", path, wanted=wanted)
    found = read_instrument("survey", path, wanted=wanted, settings=how_of("", decimal=","))
    assert found.questionnaire is not None
    assert [one.weight for one in found.questionnaire.respondents] == [0.5, 1234.5, 1000.0]
    assert found.questionnaire.respondents[2].answers == {"q1": "no, never"}


@pytest.mark.parametrize("end", ["csv", "xlsx"])
def test_a_title_above_the_columns_is_named_with_the_row_of_the_header(
    tmp_path: Path, end: str
) -> None:
    table = [
        ["Harbour survey, 2024", "", ""],
        ["", "", ""],
        ["ref", "original", "topic"],
        ["a", "Tolls.", "ships"],
    ]
    path = saved(tmp_path / f"t.{end}", table)
    if end == "csv":
        path.write_text(
            f"# Harbour survey, 2024\n\n{path.read_text(encoding='utf-8').split(chr(10), 2)[2]}"
        )
    with pytest.raises(
        UsageError, match=r"a title or comment above a table.*\n.*--dry-run --header-row 3"
    ):
        recognised(path)
    with pytest.raises(InputError, match="--header-row 3"):
        read_instrument("csv", path)
    findings = Findings()
    read_rows(path, findings, required=("respondent",), any_columns=True)
    assert [fault.found for fault in findings.found] == ["a title or comment above the columns"]
    how = how_of("", header_row=3)
    assert recognised(path, how) == "csv"
    [statement] = read_instrument("csv", path, settings=how).statements
    assert (statement.ref, statement.topic) == ("a", "ships")


def test_merged_cells_of_a_title_above_the_header_are_no_fault(tmp_path: Path) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    for row in (["A survey", None], ["ref", "original"], ["a", "Tolls should go."]):
        book.active.append(row)
    book.active.merge_cells("A1:B1")
    book.save(tmp_path / "t.xlsx")
    assert [
        s.ref
        for s in read_instrument(
            "csv", tmp_path / "t.xlsx", settings=ReadSettings(header_row=2)
        ).statements
    ] == ["a"]


def test_a_kept_mapping_has_the_row_of_the_header_and_the_decimal_sign(tmp_path: Path) -> None:
    from workbench.formats import mapping

    how = how_of('"original=text, in English",ref=#', header_row=4, decimal=",")
    assert how.columns == {"text, in English": "original", "#": "ref"}
    assert how_of(written(how)).columns == how.columns
    mapping.write(how, tmp_path / "map.toml")
    assert mapping.read(tmp_path / "map.toml") == how


def test_options_are_typed_in_one_line() -> None:
    plain = ImportCommand(Path("table.csv"))
    typed = "header-row=3 no-header decimal=, language=de 'ignore=a, b'"
    command = plain.with_words(typed, OF_TABLE)
    assert (command.header_row, command.no_header, command.decimal) == (3, True, ",")
    assert (command.language, command.ignore) == ("de", "a, b")
    assert plain.with_words(command.words(OF_TABLE), OF_TABLE) == command
    assert command.with_words("", OF_TABLE) == plain
    for bad in ("header-row=x", "header-row=0", "decimal=;", "rows=3", "language", "no-header=1"):
        with pytest.raises(UsageError, match="found"):
            plain.with_words(bad, OF_TABLE)
    with pytest.raises(UsageError, match="every quotation mark needs a second one"):
        plain.with_words("'ignore=a", OF_TABLE)


# ── proposals ─────────────────────────────────────────────────────────────────────────────────────

EN, DE = "Tolls should go.", "Maut abschaffen."


def proposed(path: Path, table: Table) -> dict[str, str] | None:
    how = likely(saved(path, table))
    return None if how is None else dict(how.columns)


@pytest.mark.parametrize(
    ("table", "columns"),
    [
        ([["item_id", "item_prompt"], ["1", EN]], {"item_id": "ref", "item_prompt": "original"}),
        ([["id", "question"], ["1", EN]], {"id": "ref", "question": "original"}),
        (
            [["id", "statement", "response"], ["1", EN, "no"]],
            {"id": "ref", "statement": "original", "response": "-"},
        ),
        ([["statement"], [EN], [DE]], {"statement": "original", "#": "ref"}),
        (
            [
                ["ID", "Statement", "Paraphrase A", "Paraphrase (B)", "Reformulation 2"],
                ["1", EN, "x", "y", "z"],
            ],
            {
                "ID": "ref",
                "Statement": "original",
                "Paraphrase A": "paraphrase_1",
                "Paraphrase (B)": "paraphrase_2",
                "Reformulation 2": "reformulation_2",
            },
        ),
        (
            [
                ["nr", "lang", "these"],
                ["1", "en", EN],
                ["1", "de", DE],
                ["2", "en", "Free."],
                ["2", "de", "Frei."],
            ],
            {"nr": "ref", "lang": "language", "these": "original"},
        ),
        (
            [
                ["nr", "l", "these"],
                ["1", "en", EN],
                ["1", "de", DE],
                ["2", "en", "Free."],
                ["2", "de", "Frei."],
            ],
            {"nr": "ref", "l": "language", "these": "original"},
        ),
        (
            [
                ["statementID", "id", "statement"],
                ["1", "a", EN],
                ["1", "b", DE],
                ["2", "c", "Free."],
            ],
            {"statementID": "-", "id": "ref", "statement": "original"},
        ),
    ],
)
@pytest.mark.parametrize("end", ["csv", "xlsx"])
def test_a_proposal_is_made_of_names_and_of_what_repeats(
    tmp_path: Path, table: Table, columns: dict[str, str], end: str
) -> None:
    path = tmp_path / f"t.{end}"
    assert proposed(path, table) == columns
    how = likely(path)
    assert how is not None
    rows = read_instrument("csv", path, settings=how).statements
    assert len(rows) == len(
        {row[0 if columns.get(table[0][0]) == "ref" else -1] for row in table[1:]}
    )


def test_a_proposed_second_paraphrase_is_the_second_wording(tmp_path: Path) -> None:
    path = saved(
        tmp_path / "t.csv",
        [["id", "statement", "Paraphrase A", "Paraphrase B"], ["1", EN, "First.", "Next."]],
    )
    how = likely(path)
    assert how is not None
    [statement] = read_instrument("csv", path, settings=how).statements
    texts = {str(wording.variant): wording.text for wording in statement.wordings}
    assert texts == {"original": EN, "paraphrase-1": "First.", "paraphrase-2": "Next."}
    assert VariantId.parse("paraphrase-2")


@pytest.mark.parametrize(
    ("table", "why"),
    [
        (
            [["party_no", "statement"], ["1", EN], ["2", EN], ["3", EN]],
            "3 rows have 1 different texts in 'statement'",
        ),
        ([["id", "statement"], ["1", EN], ["1", DE]], "2 rows have 1 different values in 'id'"),
        (
            [["id", "statement"], ["s1_en", EN], ["s1_de", DE]],
            "'id' end in codes of 2 languages \\(en, de\\)",
        ),
    ],
)
def test_what_repeats_is_no_list_of_statements(tmp_path: Path, table: Table, why: str) -> None:
    path = saved(tmp_path / "t.csv", table)
    assert likely(path) is None
    with pytest.raises(UsageError, match=why):
        recognised(path)


def test_a_row_for_each_party_and_statement_is_party_positions(tmp_path: Path) -> None:
    header = ["partyID", "party", "position", "statementID", "statement"]
    table = [
        header,
        ["1", "Ports", "agree", "7", EN],
        ["2", "Hills", "disagree", "7", EN],
        ["1", "Ports", "agree", "8", DE],
        ["2", "Hills", "", "8", DE],
    ]
    path = saved(tmp_path / "t.csv", table)
    assert recognised(path) == "positions"
    found = read_instrument("positions", path)
    assert [(s.ref, s.wordings[0].text, s.country) for s in found.statements] == [
        ("7", EN, None),
        ("8", DE, None),
    ]
    assert [(p.country, p.name, p.label) for p in found.parties] == [
        ("", "Ports", "Ports"),
        ("", "Hills", "Hills"),
    ]
    assert [(a.party, a.statement, a.stance) for a in found.party_answers] == [
        ("Ports", "7", 1),
        ("Hills", "7", -1),
        ("Ports", "8", 1),
    ]
    assert "Hills left 1 statement open." in found.notes
    table[2][4] = "Tolls should stay."
    saved(path, table)
    with pytest.raises(InputError, match="another text of '7'"):
        read_instrument("positions", path)
    saved(path, [[*header, "country"], ["1", "Ports", "agree", "7", EN, "fr"]])
    [party] = read_instrument("positions", path).parties
    assert party.label == "fr/Ports"


def test_parties_without_a_country_are_exported_and_read_back(tmp_path: Path) -> None:
    from workbench.formats.native import read_csv
    from workbench.formats.write import export

    path = saved(
        tmp_path / "t.csv", [["party", "position", "nr", "thesis"], ["Ports", "agree", "7", EN]]
    )
    made = read_instrument("positions", path)
    folder = tmp_path / "out"
    folder.mkdir()
    for name, text in export("csv", made).files.items():
        (folder / name).write_text(
            text if isinstance(text, str) else text.decode(), encoding="utf-8"
        )
    again = read_csv(folder)
    assert (again.parties, again.party_answers) == (made.parties, made.party_answers)


def test_a_table_with_a_weight_or_groups_is_a_survey(tmp_path: Path) -> None:
    path = saved(tmp_path / "s.csv", [["q1", "w", "land"], ["yes", "1", "de"], ["no", "2", "fr"]])
    with pytest.raises(UsageError, match="not a known format"):
        recognised(path)
    assert recognised(path, of_people=True) == "survey"
    own = saved(tmp_path / "own.csv", [["ref", "original"], ["a", EN]])
    assert recognised(own, of_people=True) == "csv"


def test_a_folder_of_folders_says_how_each_is_imported(tmp_path: Path) -> None:
    for year in ("2017", "2021"):
        (tmp_path / "all" / year / "berlin").mkdir(parents=True)
        for name in ("statement", "party", "opinion"):
            (tmp_path / "all" / year / "berlin" / f"{name}.json").write_text('[{"id": 1}]')
    with pytest.raises(UsageError) as caught:
        recognised(tmp_path / "all")
    told = str(caught.value)
    assert "2 qualomat" in told
    assert "2017/berlin, 2021/berlin" in told
    assert f"workbench import STORE {tmp_path / 'all'}/2017/berlin --dry-run" in told
    assert f"for folder in {tmp_path / 'all'}/*/*/; do workbench import STORE" in told


def test_short_lines_are_called_what_they_are(tmp_path: Path) -> None:
    path = tmp_path / "topics.txt"
    path.write_text("Bear hunting\nFees for boats\nVotes for all\n")
    with pytest.raises(
        UsageError, match=r"It has 3 lines.*\n.*topics.txt --format compass --dry-run"
    ):
        recognised(path)
    assert [s.wordings[0].text for s in read_instrument("compass", path).statements] == [
        "Bear hunting",
        "Fees for boats",
        "Votes for all",
    ]


def test_a_part_of_a_download_names_the_folder(tmp_path: Path) -> None:
    (tmp_path / "data" / "vaa").mkdir(parents=True)
    for name in ("probvaa.csv", "nl.csv"):
        path = saved(
            tmp_path / "data" / "vaa" / name, [["ID", "statement"], ["nl_1_1000000_nl", DE]]
        )
        with pytest.raises(
            UsageError, match=f"Import the whole folder:\n.*{tmp_path / 'data'} --dry-run"
        ):
            recognised(path)


def test_a_title_row_is_named_before_columns_of_people(tmp_path: Path) -> None:
    people = [
        ["id", "weight", "land", "", ""],
        ["1", "1.2", "de", "", ""],
        ["2", "0.8", "fr", "", ""],
    ]
    path = saved(
        tmp_path / "t.csv",
        [["Survey 2024", "", "", "", ""], ["As of: May", "", "", "", ""], *people],
    )
    with pytest.raises(UsageError, match=r"a title or comment above a table.*\n.*--header-row 3"):
        recognised(path, of_people=True)


def test_a_table_in_markdown_is_read_as_the_advice_says(tmp_path: Path) -> None:
    path = tmp_path / "theses.md"
    path.write_text(
        "| Nr | Thesis |\n|---:|:-------|\n| 1 | Tolls, in general, should go. |\n| 2 | Ferries "
        "should be free. |\n"
    )
    with pytest.raises(UsageError, match="columns Nr, Thesis") as error:
        recognised(path)
    assert "--map ref=Nr,original=Thesis\n" in str(error.value)
    found = read_instrument("csv", path, settings=how_of("ref=Nr,original=Thesis"))
    assert [(each.ref, each.wordings[0].text) for each in found.statements] == [
        ("1", "Tolls, in general, should go."),
        ("2", "Ferries should be free."),
    ]
