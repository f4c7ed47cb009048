"""Parties' answers, lists of statements and parties' positions in the layouts in which others
publish them.

The statements and parties are of Veldania, which does not exist; the files have the published
columns.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from workbench.domain.instruments import Instrument, Party
from workbench.domain.statements import Dimension, Side
from workbench.errors import InputError, UsageError
from workbench.formats.mapping import how_of
from workbench.formats.native import read_csv
from workbench.formats.party_files import LAYOUTS, read_positions
from workbench.formats.read import read_instrument, recognised
from workbench.formats.records import AS_IS, ReadSettings
from workbench.formats.write import normal_form, write_folder

COLUMNS = (
    "Partei: Nr.",
    "Partei: Kurzbezeichnung",
    "Partei: Name",
    "These: Nr.",
    "These: Titel",
    "These: These",
    "Position: Position",
    "Position: Begründung",
)
PARTIES = (("VU", "Veldanische Union"), ("GL", "Grüne Liste"), ("FP", "Freie Partei"))
THESES = (
    ("Hafenmaut", "Der Hafen von Veld soll eine Maut erheben."),
    ("Inselzug", "Der Inselzug soll kostenlos sein."),
)
SAID = {
    "VU": ("stimme zu", "stimme nicht zu"),
    "GL": ("neutral", "Stimme zu"),
    "FP": ("stimme nicht zu", "neutral"),
}
POSITIONS = [
    [n, short, name, t, title, text, SAID[short][t - 1], f"Wir finden {title} wichtig; sehr."]
    for n, (short, name) in enumerate(PARTIES, start=1)
    for t, (title, text) in enumerate(THESES, start=1)
]


def book(path: Path, **sheets: Sequence[Sequence[object]]) -> Path:
    import openpyxl

    made = openpyxl.Workbook()
    made.remove(made.active)
    for title, rows in sheets.items():
        sheet = made.create_sheet(title)
        for row in rows:
            sheet.append(list(row))
    made.save(path)
    return path


def wahlomat(
    path: Path, rows: Sequence[Sequence[object]] = POSITIONS, columns: Sequence[str] = COLUMNS
) -> Path:
    listed = [COLUMNS[:3], *([n, *party] for n, party in enumerate(PARTIES, start=1))]
    return book(path, Hinweise=[["Erfunden"]], Parteien=listed, Veld=[columns, *rows])


def semicolons(
    path: Path, rows: Sequence[Sequence[object]] = POSITIONS, columns: Sequence[str] = COLUMNS
) -> Path:
    lines = [";".join(f'"{cell}"' for cell in row) for row in (columns, *rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def qualomat(folder: Path, **changed: Any) -> Path:
    files: dict[str, Any] = {
        "overview": {
            "title": "Inselwahl Veldania",
            "date": "2031-05-22T00:00:00.000Z",
            "data_source": "veld.example",
        },
        "category": [{"id": 0, "label": "Verkehr"}],
        "party": [
            {"id": n, "name": short, "longname": name} for n, (short, name) in enumerate(PARTIES)
        ],
        "statement": [
            {"id": n, "category": 0, "label": title, "text": text}
            for n, (title, text) in enumerate(THESES)
        ],
        "answer": [
            {"id": n, "message": word}
            for n, word in enumerate(("Stimme zu", "Stimme nicht zu", "Neutral"))
        ],
        "comment": [{"id": 0, "text": "Weil es so ist."}],
        "opinion": [
            {"id": 2 * p + s, "party": p, "statement": s, "answer": (p + s) % 3, "comment": 0}
            for p in range(3)
            for s in range(2)
        ],
    } | changed
    folder.mkdir()
    for name, value in files.items():
        if value is not None:
            text = value if isinstance(value, str) else json.dumps(value)
            (folder / f"{name}.json").write_text(text, encoding="utf-8")
    return folder


QUESTIONS = [
    {
        "id": "11",
        "type": "Standard-4",
        "category": {"de": "Verkehr", "fr": "Transports"},
        "question": {
            "de": "Soll der Inselzug kostenlos sein?",
            "fr": "Le train doit-il être gratuit ?",
        },
    },
    {
        "id": "12",
        "type": "Standard-4",
        "category": {"de": "Steuern", "fr": "Impôts"},
        "question": {"de": "Die Hafenmaut soll steigen.", "fr": "La taxe du port doit augmenter."},
    },
    {
        "id": "13",
        "type": "Budget-5",
        "category": {"de": "Geld", "fr": "Argent"},
        "question": {"de": "Leuchttürme", "fr": "Phares"},
    },
]


def answers(*values: float | None) -> list[dict[str, Any]]:
    return [
        {"questionId": one["id"], "value": value}
        for one, value in zip(QUESTIONS, values, strict=False)
    ]


CANDIDATES = [
    {
        "id": "1",
        "firstname": "Ada",
        "lastname": "Veld",
        "partyAbbreviation": "GL",
        "answers": answers(100, 25, 75),
    },
    {
        "id": "2",
        "firstname": "Bo",
        "lastname": "Insel",
        "partyAbbreviation": "GL",
        "answers": answers(75, 75),
    },
    {
        "id": "3",
        "firstname": "Cy",
        "lastname": "Port",
        "partyAbbreviation": "VU",
        "answers": answers(0, None),
    },
    {
        "id": "4",
        "firstname": "Di",
        "lastname": "Frei",
        "partyAbbreviation": "",
        "answers": answers(0, 0),
    },
]


def smartvote(path: Path, **changed: Any) -> Path:
    path.write_text(
        json.dumps({"questions": QUESTIONS, "candidates": CANDIDATES} | changed), encoding="utf-8"
    )
    return path


def read(path: Path, how: ReadSettings = AS_IS) -> Instrument:
    return read_instrument(recognised(path, how), path, settings=how)


def stances(instrument: Instrument) -> dict[tuple[str, str], int | None]:
    return {(one.party, one.statement): one.stance for one in instrument.party_answers}


def faults(path: Path, how: ReadSettings = AS_IS) -> str:
    with pytest.raises(InputError) as error:
        read(path, how)
    return str(error.value)


@pytest.mark.parametrize("make", [wahlomat, semicolons])
def test_the_wahlomat_is_known_by_its_columns(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    path = make(tmp_path / "daten.bin")
    assert recognised(path) == "wahlomat"
    found = read(path)
    assert [(s.ref, s.topic, s.country) for s in found.statements] == [
        ("1", "Hafenmaut", "de"),
        ("2", "Inselzug", "de"),
    ]
    assert (found.language, {t.language for t in found.templates}) == ("de", {"de"})
    assert found.parties == tuple(Party("de", short) for short, _ in PARTIES)
    assert stances(found) == {
        ("VU", "1"): 1,
        ("VU", "2"): -1,
        ("GL", "1"): 0,
        ("GL", "2"): 1,
        ("FP", "1"): -1,
        ("FP", "2"): 0,
    }
    assert "Left out: 6 reasons of parties (Position: Begründung)." in found.notes
    assert "bpb" in found.citation


def test_the_wahlomat_comes_whole_or_says_where_it_does_not(tmp_path: Path) -> None:
    def changed(row: int, column: int, value: object) -> list[list[object]]:
        return [
            [value if (n, m) == (row, column) else cell for m, cell in enumerate(cells)]
            for n, cells in enumerate(POSITIONS)
        ]

    for make, place in ((wahlomat, "row"), (semicolons, "line")):
        said = f"{place} 3, column 'Position: Position': found"
        cases = {
            "teils": (changed(1, 6, "teils"), f"{said} 'teils'"),
            "empty": (changed(1, 6, None if make is wahlomat else ""), f"{said} an empty cell"),
            "twice": (
                [*POSITIONS, POSITIONS[0]],
                f"{place} 8, column 'Position: Position': found 'VU', '1' again",
            ),
            "other": (
                changed(2, 5, "Etwas anderes."),
                f"found another text of thesis 1 than in {place} 2",
            ),
            "ends": (POSITIONS[:-1], "found no position of FP on 1 of 2 theses"),
        }
        for name, (rows, told) in cases.items():
            assert told in faults(make(tmp_path / f"{name}.{place}", rows))
        columns = [f"{name}!" if name == "Position: Position" else name for name in COLUMNS]
        assert "column 'Position: Position': found no such column" in faults(
            make(tmp_path / place, columns=columns)
        )
    stranger = [[4, "XX", "Fremde", *POSITIONS[0][3:]], *POSITIONS]
    assert "found 'XX'; expected a party of the other sheet" in faults(
        wahlomat(tmp_path / "x.xlsx", stranger)
    )
    cut = tmp_path / "cut.xlsx"
    cut.write_bytes(wahlomat(tmp_path / "whole.xlsx").read_bytes()[:2000])
    with pytest.raises(InputError, match=r"cut\.xlsx: found a spreadsheet that cannot be read"):
        recognised(cut)


def test_a_book_of_several_elections_needs_the_name_of_one(tmp_path: Path) -> None:
    path = book(tmp_path / "all.xlsx", A=[COLUMNS, *POSITIONS], B=[COLUMNS, *POSITIONS])
    with pytest.raises(UsageError, match="2 tables of positions: A, B; --sheet names one"):
        read(path)
    assert len(read(path, ReadSettings(sheet="B")).party_answers) == 6


def test_words_of_answers_are_given_kept_and_used_by_our_own_format_too(tmp_path: Path) -> None:
    rows = [[*row[:6], "teils" if row[6] == "neutral" else row[6], row[7]] for row in POSITIONS]
    path = semicolons(tmp_path / "a.csv", rows)
    assert '--answers "teils=agree"' in faults(path)
    how = how_of("", answers="Teils = neutral")
    found = read(path, how)
    assert stances(found)["FP", "2"] == 0
    write_folder(found, tmp_path / "out")
    assert "de,FP,2,teils,neutral" in (tmp_path / "out" / "party_answers.csv").read_text()
    assert normal_form(read_csv(tmp_path / "out")) == normal_form(found)
    text = (
        (tmp_path / "out" / "party_answers.csv")
        .read_text()
        .replace(",stance", "")
        .replace(",neutral", "")
    )
    (tmp_path / "out" / "party_answers.csv").write_text(
        text.replace(",agree", "").replace(",disagree", "")
    )
    assert "column 'answer': found 'teils'" in faults(tmp_path / "out")
    assert stances(read(tmp_path / "out", how)) == stances(found)
    for typed in ("teils", "teils=perhaps", "teils=agree,teils=neutral"):
        with pytest.raises(UsageError, match="--answers"):
            how_of("", answers=typed)


def test_the_qualomat_is_a_folder_of_json(tmp_path: Path) -> None:
    path = qualomat(tmp_path / "veld")
    assert recognised(path) == "qualomat"
    found = read(path)
    assert (found.name, found.title, found.source) == (
        "veld",
        "Inselwahl Veldania (2031-05-22)",
        "veld.example",
    )
    assert [(s.ref, s.topic, s.wordings[0].text) for s in found.statements] == [
        ("0", "Verkehr", THESES[0][1]),
        ("1", "Verkehr", THESES[1][1]),
    ]
    assert stances(found) == {
        ("VU", "0"): 1,
        ("VU", "1"): -1,
        ("GL", "0"): -1,
        ("GL", "1"): 0,
        ("FP", "0"): 0,
        ("FP", "1"): 1,
    }
    assert "Left out: 6 comments of parties (comment)." in found.notes


def test_the_qualomat_says_where_its_parts_do_not_fit(tmp_path: Path) -> None:
    one = {"id": 0, "party": 0, "statement": 0, "answer": 0}
    cases: dict[str, tuple[dict[str, Any], str]] = {
        "unknown": (
            {"opinion": [one | {"statement": 7}]},
            "opinion.json, entry 1, column 'statement': found '7'",
        ),
        "twice": (
            {"opinion": [one, one]},
            "opinion.json, entry 2, column 'answer': found 'VU', '0' again",
        ),
        "empty": (
            {"opinion": [one | {"answer": None}]},
            "opinion.json, entry 1, column 'answer': found an empty cell",
        ),
        "missing": ({"party": [{"id": 0}]}, "party.json, column 'name': found no such column"),
        "again": (
            {"party": [{"id": 0, "name": "A"}] * 2},
            "party.json, entry 2, column 'id': found '0' again",
        ),
        "cut": (
            {"opinion": json.dumps([one])[:-9]},
            "opinion.json, line 1: found what is not JSON",
        ),
        "word": (
            {"answer": [{"id": 0, "message": "vielleicht"}]},
            "column 'answer': found 'vielleicht'",
        ),
        "wordless": ({"answer": None}, "opinion.json, entry 1, column 'answer': found '0'"),
    }
    for name, (changed, told) in cases.items():
        assert told in faults(qualomat(tmp_path / name, **changed))
    found = read(tmp_path / "wordless", how_of("", answers="0=agree,1=disagree,2=neutral"))
    assert stances(found)["VU", "1"] == -1


def test_smartvote_has_means_of_candidates_and_texts_in_several_languages(tmp_path: Path) -> None:
    path = smartvote(tmp_path / "ch.json")
    assert recognised(path) == "smartvote"
    found = read(path)
    assert [(s.ref, s.topic, s.languages) for s in found.statements] == [
        ("11", "Verkehr", ("de", "fr")),
        ("12", "Steuern", ("de", "fr")),
    ]
    assert [(a.party, a.statement, a.answer, a.stance) for a in found.party_answers] == [
        ("GL", "11", "87.5", 1),
        ("GL", "12", "50", 0),
        ("VU", "11", "0", -1),
    ]
    notes = " ".join(found.notes)
    assert "Answers of 2 parties are means of the answers of 3 candidates: above 50 agrees" in notes
    assert "Left out: 1 question for more or less spending" in notes
    assert "Questions among the 2 texts: 1." in notes
    assert "Left out: 1 candidate without a party." in notes
    assert "VU left 1 statement open." in notes


def test_smartvote_comes_as_tables_too(tmp_path: Path) -> None:
    folder = tmp_path / "ch"
    folder.mkdir()
    (folder / "fragen.csv").write_text(
        "ID_question;type;category;question\n11;Standard-4;Zug;Der Zug fährt.\n"
    )
    (folder / "kandidaten.csv").write_text("firstname;party_short;q_11\nAda;GL;100\nBo;GL;25\n")
    assert recognised(folder) == "smartvote"
    assert [(a.party, a.answer) for a in read(folder).party_answers] == [("GL", "62.5")]
    (folder / "parteien.csv").write_text("party,question_id,answer\nGL,11,0\nFP,11,75\n")
    found = read(folder, ReadSettings(language="fr"))
    assert [(a.party, a.answer, a.stance) for a in found.party_answers] == [
        ("GL", "0", -1),
        ("FP", "75", 1),
    ]
    assert found.language == "fr"
    (folder / "parteien.csv").write_text(
        "party,question_id,answer\nGL,11,0\nGL,11,75\nGL,12,50\nFP,11,150\n"
    )
    told = faults(folder)
    assert "parteien.csv, line 3, column 'answer': found 'GL', '11' again" in told
    assert "parteien.csv, line 4, column 'answer': found an answer to '12'" in told
    assert (
        "parteien.csv, line 5, column 'answer': found '150'; expected a number from 0 to 100"
        in told
    )


@pytest.mark.parametrize(
    ("text", "refs"),
    [
        ("1. The port should be free.\n2) Trains, too, should run at night.\n", ["1", "2"]),
        ("The port should be free.\n\nTrains, too, should run at night!\n", ["1", "2"]),
        ("- The port should be free\n- Trains, too, should run at night\n", ["1", "2"]),
        ("7. The port should be free\n9. Trains, too, should run at night\n", ["7", "9"]),
    ],
)
def test_a_list_of_statements_is_one_a_line(tmp_path: Path, text: str, refs: list[str]) -> None:
    (tmp_path / "list.txt").write_text(text)
    assert recognised(tmp_path / "list.txt") == "compass"
    found = read(tmp_path / "list.txt")
    assert [s.ref for s in found.statements] == refs
    assert found.statements[0].wordings[0].text.startswith("The port should be free")
    (tmp_path / "list.txt").write_text(text + "7. The port should be closed.\n" + text)
    if refs == ["7", "9"]:
        assert "line 3, column 'number': found '7' again, after line 1" in faults(
            tmp_path / "list.txt"
        )


def test_a_table_of_statements_has_axes_and_sides(tmp_path: Path) -> None:
    path = tmp_path / "list.csv"
    path.write_text(
        "statement,axis,side,weight\nTax "
        "ports.,economic,left,1\nObey.,social,authoritarian,2\nRest.,,,\n"
    )
    assert recognised(path) == "compass"
    found = read(path)
    assert [(s.ref, s.dimension, s.leaning) for s in found.statements] == [
        ("1", Dimension.ECONOMIC, Side.LEFT),
        ("2", Dimension.CULTURAL, Side.RIGHT),
        ("3", None, None),
    ]
    assert found.notes[1:] == (
        "Of the social axis, libertarian is read as left and authoritarian as right.",
        "Left out: weight.",
        "The language is not in the file: taken for en; --language says another.",
    )
    path.write_text(
        "statement,axis,side\nTax "
        "ports.,economic,libertarian\nObey.,sideways,left\n,economic,left\n"
    )
    told = faults(path)
    assert "line 2, column 'side': found 'libertarian'; expected one of left, right" in told
    assert "line 3, column 'axis': found 'sideways'" in told
    assert "line 4, column 'statement': found an empty cell" in told


@pytest.mark.parametrize(
    "text",
    [
        "# Notes\n\nThe port is old.\n",
        "The port should\nbe free of all\ntolls.\n",
        "One two three.\n",
    ],
)
def test_prose_is_no_list_of_statements(tmp_path: Path, text: str) -> None:
    (tmp_path / "notes.md").write_text(text)
    with pytest.raises(UsageError, match="not a known format"):
        recognised(tmp_path / "notes.md")


@pytest.mark.parametrize("made", ["wahlomat", "qualomat", "smartvote", "compass"])
def test_an_export_brings_the_same_instrument_back(tmp_path: Path, made: str) -> None:
    path = {
        "wahlomat": lambda: wahlomat(tmp_path / "a.xlsx"),
        "qualomat": lambda: qualomat(tmp_path / "a"),
        "smartvote": lambda: smartvote(tmp_path / "a.json"),
        "compass": lambda: tmp_path / "a.txt",
    }[made]
    (tmp_path / "a.txt").write_text("1. The port should be free.\n2. Trains should run at night.\n")
    found = read(path())
    write_folder(found, tmp_path / "out")
    assert normal_form(read_csv(tmp_path / "out")) == normal_form(found)


DATASET = """country,countryname,edate,date,party,partyname,partyabbrev,parfam,rile,datasetversion
99,Veldania,22/05/2027,202705,99110,Green List,GL,10,-12.5,2031-1
99,Veldania,22/05/2031,203105,99110,Green List,GL,10,-40,2031-1
99,Veldania,22/05/2031,203105,99320,Veldanian Union,V.U.,60,30,2031-1
99,Veldania,22/05/2031,203105,99420,Free Party,FPV,40,,2031-1
99,Veldania,22/05/2031,203105,99430,Port Party,PP,40,5.5,2031-1
98,Otherland,22/05/2033,203305,98110,Greens,GL,10,-20,2031-1
"""
OURS = tuple(Party("de", short) for short, _ in PARTIES)


def test_parties_are_placed_by_the_newest_manifestos_of_their_country(tmp_path: Path) -> None:
    path = tmp_path / "MPDataset.csv"
    path.write_text(DATASET)
    assert recognised(path) == "manifesto"
    found = read_positions(path, OURS)
    assert found.election == "Veldania 203105"
    assert [(party.name, party.position) for party in found.parties] == [("VU", 6.5), ("GL", 3.0)]
    assert [party.name for party in found.without] == ["FP"]
    assert [one.name for one in found.others] == ["Port Party"]
    assert (
        "version 2031-1, Veldania 203105: -100 (left) to 100 (right), as (rile + 100) / 20"
        in found.note
    )
    assert read_positions(path, OURS, "veldania 202705").parties == (
        replace(OURS[1], position=4.375),
    )
    assert read_positions(path, OURS, "Otherland").parties == (replace(OURS[1], position=4.0),)
    given = read_positions(path, OURS, settings=how_of("FP=PP"))
    assert [(party.name, party.position) for party in given.parties] == [
        ("VU", 6.5),
        ("GL", 3.0),
        ("FP", 5.275),
    ]


def test_positions_come_whole_or_say_why_not(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(DATASET + "99,Veldania,,203105,99430,Port Party,PP,40,500,2031-1\n")
    with pytest.raises(InputError) as error:
        read_positions(path, OURS)
    assert "line 8, column 'rile': found '500'; expected a number from -100 to 100" in str(
        error.value
    )
    assert (
        "line 8, column 'partyname': found 'Veldania', '203105', 'Port Party' again, after line 6"
        in str(error.value)
    )
    path.write_text(DATASET)
    for parties, election, told in (
        (
            OURS,
            "Veldania 199001",
            "no election 'Veldania 199001' with positions; countries: Otherland, Veldania",
        ),
        (OURS[1:2], "", "the parties may be of Veldania or Otherland; --election names one"),
        (
            (Party("de", "ZZ"),),
            "",
            "no party of the file is one of the instrument (ZZ); --map OURS=THEIRS",
        ),
    ):
        with pytest.raises(UsageError) as refused:
            read_positions(path, parties, election)
        assert told in str(refused.value)


@pytest.mark.parametrize("named", LAYOUTS)
def test_a_file_that_is_taken_for_another_layout_is_refused(tmp_path: Path, named: str) -> None:
    made = {
        "wahlomat": wahlomat(tmp_path / "a.xlsx"),
        "qualomat": qualomat(tmp_path / "a"),
        "smartvote": smartvote(tmp_path / "a.json"),
    }
    for path in (path for layout, path in made.items() if layout != named):
        with pytest.raises((UsageError, InputError)):
            read_instrument(named, path)
