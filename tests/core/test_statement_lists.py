"""What a list has before its statements is taken off if the whole list has it, and said; texts keep
their numbers.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.formats.party_files import read
from workbench.formats.read import recognised
from workbench.formats.statement_lists import parse_list

TOLLS = (
    "Tolls on bridges should go.",
    "Ferries should be free.",
    "Harbours should close on Sundays.",
)
COLUMN = "Read as a CSV of one column: the quotation marks around its cells were taken off."


def texts(content: str) -> list[str]:
    return [
        statement.text
        for statement in parse_list(list(enumerate(content.splitlines(), start=1))).statements
    ]


@pytest.mark.parametrize(
    "lines",
    [
        (
            "Pensions should begin at 70 for everyone.",
            "At least 40 percent of seats should go to women.",
            TOLLS[0],
        ),
        ("35 hours of work a week are plenty.", "3 percent should go to defence.", TOLLS[0]),
        (
            "35 hours of work a week are plenty.",
            "3 percent should go to defence.",
            "2 children are enough for any family.",
        ),
        ("3 Tage Arbeit genügen.", "14-Jährige sollen wählen.", "6G soll verboten werden."),
        ("1 child is enough.", "3 children are enough.", "4 children are too many."),
        (
            "Article 1 should be kept.",
            "Article 2 should be deleted.",
            "Article 3 should be longer.",
        ),
        ("1 Ferry is enough.", "2 harbours are plenty.", "3 000 euros are enough for a toll."),
        (
            "1\u202f200 ferries are enough.",
            "2\u202f300 harbours are plenty.",
            "3\u202f400 tolls are too many.",
        ),
        ("2030: petrol cars should be banned.", "2045: flights should be banned."),
        (
            "The age 1. to vote - as of today - should be 16.",
            "1. The first thing should be kept.",
            TOLLS[1],
        ),
        ("A. Smith should resign.", "C. Jones should not.", TOLLS[0]),
        ("A. Smith should resign.", "C. Jones should not."),
        ("G-7 should meet less.", "G-8 should be ended.", "G-9 should be founded."),
        ("- Ferries should be free.", TOLLS[0]),
        ('"Freedom" and "duty" are the same.', '"Law" is not "order".'),
    ],
)
def test_what_is_no_enumeration_stays(lines: tuple[str, ...]) -> None:
    assert texts("\n".join(lines)) == list(lines)


@pytest.mark.parametrize(
    ("before", "refs"),
    [
        (("1. ", "2. ", "3. "), ("1", "2", "3")),
        (("(4) ", "(5) ", "(6) "), ("4", "5", "6")),
        (("3) ", "7) ", "12) "), ("3", "7", "12")),
        (("1 ", "2 ", "3 "), ("1", "2", "3")),
        (("1\t", "2\t", "5\t"), ("1", "2", "5")),
        (("1 - ", "2 - ", "3 - "), ("1", "2", "3")),
        (("Q08 ", "Q09 ", "Q10 "), ("Q08", "Q09", "Q10")),
        (("Thesis 1: ", "Thesis 2: ", "Thesis 3: "), ("1", "2", "3")),
        (("a) ", "b) ", "c) "), ("a", "b", "c")),
        (("a) ", "b) ", "d) "), ("a", "b", "d")),
        (("(B) ", "(C) ", "(E) "), ("B", "C", "E")),
        (("I. ", "II. ", "III. "), ("I", "II", "III")),
        (("iv) ", "v) ", "ix) "), ("iv", "v", "ix")),
        (("Q1: ", "Q2: ", "Q5: "), ("Q1", "Q2", "Q5")),
        (("T-1: ", "T-3: ", "T-4: "), ("T-1", "T-3", "T-4")),
        (("- ", "* ", "• "), ("1", "2", "3")),
        (("- 1. ", "- 2. ", "- 3. "), ("1", "2", "3")),
        (("1. ", "2. ", "1. "), ("1", "2", "3")),
    ],
)
def test_an_enumeration_of_the_whole_list_is_taken_off_and_said(
    before: tuple[str, ...], refs: tuple[str, ...]
) -> None:
    content = [mark + text for mark, text in zip(before, TOLLS, strict=True)]
    parsed = parse_list(list(enumerate(content, start=1)))
    assert [statement.text for statement in parsed.statements] == list(TOLLS)
    assert (parsed.refs, parsed.is_marked) == (refs, True)
    assert all(note.startswith("Taken off: ") for note in parsed.notes)
    assert parsed.notes


def test_a_number_behind_the_number_of_a_list_stays() -> None:
    assert texts(
        "1. Ferries should be free.\n2. 30 hours of work are enough.\n3. 4. Juli soll Feiertag "
        "sein."
    ) == [
        "Ferries should be free.",
        "30 hours of work are enough.",
        "4. Juli soll Feiertag sein.",
    ]


@pytest.mark.parametrize(
    ("content", "notes"),
    [
        ('"Tolls, in general, should go."\n"Ferries, too, should be free."\n', (COLUMN,)),
        (
            'statement\n"Tolls, in general, should go."\n"Ferries, too, should be free."\n',
            (COLUMN, "Left out: 1 line that is no statement: “statement” (line 1)."),
        ),
        (
            'Wording\n"Tolls, in general, should go."\n"Ferries, too, should be free."\n',
            (COLUMN, "Left out: 1 line that is no statement: “Wording” (line 1)."),
        ),
        (
            '"S1 ""Tolls, in general, should go."""\n"S2 ""Ferries, too, should be free."""\n',
            (
                COLUMN,
                "Taken off: “S1” to “S2” before the statements.",
                "Taken off: the quotation marks around each of the 2 statements.",
            ),
        ),
        (
            "\ufeff“Tolls, in general, should go.”\r\n“Ferries, too, should be free.”\r\n",
            ("Taken off: the quotation marks around each of the 2 statements.",),
        ),
        (
            "# Part one\n\n- Tolls, in general, should go.\n\n---\n## Part two\n* Ferries, too, "
            "should be free.\n",
            (
                "Left out: 3 lines that are no statement: “Part one” (line 1); “---” (line 5); "
                "“Part two” (line 6).",
                "Taken off: the bullet or dash before each of the 2 statements.",
            ),
        ),
        (
            "- [ ] Tolls, in general, should go.\n- [x] Ferries, too, should be free.\n",
            (
                "Taken off: the bullet or dash, and the box “[ ]” or “[x]” behind it, before each "
                "of the 2 statements.",
            ),
        ),
        (
            "Our theses\n1. Tolls, in general, should go.\n2. Ferries, too, should be free.\n",
            (
                "Left out: 1 line that is no statement: “Our theses” (line 1).",
                "Taken off: “1.” to “2.” before the statements.",
            ),
        ),
    ],
)
def test_the_file_of_a_list_is_known_and_read(
    tmp_path: Path, content: str, notes: tuple[str, ...]
) -> None:
    path = tmp_path / "list.csv"
    path.write_bytes(content.encode())
    assert recognised(path) == "compass"
    instrument = read("compass", path)
    assert [statement.wordings[0].text for statement in instrument.statements] == [
        "Tolls, in general, should go.",
        "Ferries, too, should be free.",
    ]
    assert instrument.notes[1:-1] == notes
    assert (
        instrument.notes[-1]
        == "The language is not in the file: taken for en; --language says another."
    )


def test_a_cell_of_a_column_may_have_several_lines(tmp_path: Path) -> None:
    path = tmp_path / "list.csv"
    path.write_bytes(
        b'statement\r\n"Tolls should\r\n\r\ngo, now."\r\n"Ferries should be free."\r\n'
    )
    assert recognised(path) == "compass"
    found = [statement.wordings[0].text for statement in read("compass", path).statements]
    assert found == ["Tolls should\n\ngo, now.", "Ferries should be free."]


@pytest.mark.parametrize(
    ("before", "refs"),
    [
        (("1. ", "2. ", "3. "), ("1", "2", "3")),
        (("", "", ""), ("1", "2", "3")),
        (("3) ", "7) ", "12) "), ("3", "7", "12")),
    ],
)
@pytest.mark.parametrize("number", ["4.", "(4)", "4"])
def test_a_number_without_a_text_is_no_statement(
    before: tuple[str, ...], refs: tuple[str, ...], number: str
) -> None:
    content = [mark + text for mark, text in zip(before, TOLLS, strict=True)]
    parsed = parse_list(list(enumerate([*content, number], start=1)))
    assert [statement.text for statement in parsed.statements] == list(TOLLS)
    assert parsed.refs == refs
    assert f"Left out: 1 line that is no statement: “{number}” (line 4)." in parsed.notes
    assert parsed.left_out == (4,)


def test_numbers_alone_are_no_list() -> None:
    parsed = parse_list([(1, "1."), (2, "2.")])
    assert parsed.statements == ()
    assert parsed.left_out == (1, 2)


@pytest.mark.parametrize(
    ("before", "refs"),
    [
        (("Q1,", "Q2,", "Q3,"), ("Q1", "Q2", "Q3")),
        (("1, ", "4, ", "9, "), ("1", "4", "9")),
        (("T-01;", "T-02;", "T-03;"), ("T-01", "T-02", "T-03")),
    ],
)
@pytest.mark.parametrize("quote", ["", '"'])
def test_the_numbers_of_a_csv_without_a_header_are_refs(
    before: tuple[str, ...], refs: tuple[str, ...], quote: str
) -> None:
    texts = ("Tolls, in general, should go.", "Ferries should be free.", "Rails, too.")
    content = [f"{mark}{quote}{text}{quote}" for mark, text in zip(before, texts, strict=True)]
    parsed = parse_list(list(enumerate(content, start=1)))
    assert [statement.text for statement in parsed.statements] == list(texts)
    assert parsed.refs == refs
    first, last = before[0].strip(), before[-1].strip()
    assert parsed.notes == (f"Taken off: “{first}” to “{last}” before the statements.",)


@pytest.mark.parametrize(
    "lines",
    [
        ("30,000 people are many.", "40,000 people are more."),
        ("3, 4 or 5 are enough.", "2, 3 or 4 are enough."),
        ("Q1,Tolls should go.", "R2,Ferries should be free."),
        ("Q1,Tolls should go.", "Ferries should be free."),
    ],
)
def test_a_number_and_a_comma_are_no_column(lines: tuple[str, ...]) -> None:
    assert texts("\n".join(lines)) == list(lines)


def test_kept_numbers_are_said_with_their_lines() -> None:
    parsed = parse_list(list(enumerate(["35 hours are plenty.", *TOLLS], start=1)))
    assert parsed.notes == (
        "Kept as text: the number, letter or dash with which 1 statement of 4 begins (line 1).",
    )


@pytest.mark.parametrize("mark", ["b) ", "II. ", "Q1: ", "T-3: ", "3 000 "])
def test_a_mark_of_one_line_is_kept_and_said(mark: str) -> None:
    parsed = parse_list(list(enumerate([*TOLLS, f"{mark}Tolls should rise."], start=1)))
    assert parsed.notes == (
        "Kept as text: the number, letter or dash with which 1 statement of 4 begins (line 4).",
    )


@given(
    st.lists(st.text(st.characters(exclude_categories=["Cc", "Cs", "Z"])), min_size=1, max_size=6)
)
def test_nothing_within_a_line_is_changed(lines: list[str]) -> None:
    whole = [line.strip() for line in lines if line.strip()]
    parsed = parse_list(list(enumerate(lines, start=1)))
    by_line = dict(enumerate(lines, start=1))
    for statement in parsed.statements:
        assert statement.text in by_line[statement.line].replace('""', '"')
    assert len(parsed.statements) <= len(whole)
