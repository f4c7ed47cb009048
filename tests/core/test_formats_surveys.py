"""Surveys as instruments: questions with their answers in words, weights and groups, and published
shares.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pyreadstat
import pytest

from stores.core.store import Store
from tests.survey_columns import columns_of_text
from workbench.domain.instruments import Instrument
from workbench.domain.questionnaires import Meaning, PublishedShares, Questionnaire, QuestionRole
from workbench.errors import InputError, UsageError
from workbench.formats.known_surveys import LONGEST_LITERAL
from workbench.formats.native import read_csv
from workbench.formats.populations import people_columns_of
from workbench.formats.read import read_instrument, recognised
from workbench.formats.surveys import SurveyColumns, is_refusal
from workbench.formats.write import write_folder

REFUSED = {7.0: "Refusal", 8.0: "Don't know"}
LABELS: dict[str, dict[float, str]] = {
    "trust": {
        0.0: "Nobody",
        **{float(n): str(n) for n in range(1, 10)},
        10.0: "Everybody",
        77.0: "Refusal",
    },
    "many": {
        1.0: "1. Many",
        2.0: "2. Some",
        3.0: "3. None",
        7.0: "7. Refusal",
        8.0: "8. Don't know",
    },
    "few": {
        1.0: "1. Many",
        2.0: "2. Some",
        3.0: "3. None",
        7.0: "7. Refusal",
        8.0: "8. Don't know",
    },
    "lakes": {
        1.0: "Agree strongly",
        2.0: "Agree",
        3.0: "Neither agree nor disagree",
        4.0: "Disagree",
        **REFUSED,
    },
    "worst": {1.0: "The floods", 2.0: "The railways", 3.0: "The moon"},
    "age": {999.0: "Not available"},
}
TEXTS = {
    "trust": "Whom in Veldania do you trust?",
    "many": "How many Nordmarkers should come to Veldania?",
    "few": "How many Ostlanders should come to Veldania?",
    "lakes": "The lakes of Veldania belong to everybody.",
    "worst": "What is worst in Veldania?",
}


def columns(n: int = 60) -> dict[str, list[Any]]:
    draw = random.Random(20261)
    held: dict[str, list[Any]] = {
        name: [draw.choice(list(labels)) for _ in range(n)]
        for name, labels in LABELS.items()
        if name != "age"
    }
    held["age"] = [float(draw.choice([*range(18, 90), 999])) for _ in range(n)]
    held["land"] = [draw.choice(["Veldania", "Nordmark"]) for _ in range(n)]
    held["w1"] = [round(draw.uniform(0.2, 3), 3) for _ in range(n)]
    held["w2"] = [draw.choice([0.5, 2.0]) for _ in range(n)]
    held["number"] = [float(place) for place in range(1, n + 1)]
    return held


def sav(
    path: Path, held: Mapping[str, list[Any]], labels: Mapping[str, Any] = LABELS, **more: Any
) -> Path:
    frame = pd.DataFrame(held)
    names: list[str | None] = [TEXTS.get(name, "") for name in frame]
    given = {name: said for name, said in labels.items() if name in held}
    write = pyreadstat.write_dta if path.suffix == ".dta" else pyreadstat.write_sav
    write(frame, str(path), column_labels=names, variable_value_labels=given, **more)
    return path


def read(path: Path, text: str = "", **more: Any) -> Instrument:
    return read_instrument("survey", path, "v", wanted=columns_of_text(text), **more)


def questionnaire(instrument: Instrument) -> Questionnaire:
    assert instrument.questionnaire is not None
    return instrument.questionnaire


def faults(path: Path, text: str = "", **more: Any) -> list[tuple[int | None, str | None, str]]:
    with pytest.raises(InputError) as caught:
        read(path, text, **more)
    return [(one.line, one.column, one.found) for one in caught.value.findings]


@pytest.mark.parametrize("end", ["sav", "dta"])
def test_a_statistics_file_says_what_its_questions_are(tmp_path: Path, end: str) -> None:
    missing = {"missing_ranges": {"age": [999], "trust": [77]}} if end == "sav" else {}
    path = sav(tmp_path / f"s.{end}", columns(), **missing)
    assert recognised(path) == "survey"
    found = read(
        path, "groups=land,years=age:18-29/30-64/65+ weight=w1*w2 respondent=number unordered=worst"
    )
    asked = questionnaire(found)
    assert [(q.ref, q.role, q.scale) for q in asked.questions] == [
        ("trust", QuestionRole.SURVEY, "trust"),
        ("many", QuestionRole.SURVEY, "many"),
        ("few", QuestionRole.SURVEY, "many"),
        ("lakes", QuestionRole.SURVEY, "lakes"),
        ("worst", QuestionRole.SURVEY, "worst"),
    ]
    assert {s.ref: s.wordings[0].text for s in found.statements} == TEXTS
    scale = asked.scale("trust")
    assert [one.values[0] for one in scale.offered] == [
        "Nobody",
        *map(str, range(1, 10)),
        "Everybody",
    ]
    assert {one.meaning for one in scale.offered} == {Meaning.STEP}
    assert [one.values for one in asked.scale("many").options] == [
        ("Many", "1"),
        ("Some", "2"),
        ("None", "3"),
        ("Refusal", "7"),
        ("Don't know", "8"),
    ]
    meant = [one.meaning.value for one in asked.scale("lakes").options]
    assert meant == ["yes", "yes", "neutral", "no", "missing", "missing"]
    assert not asked.scale("worst").ordered
    held = columns()
    first = asked.respondents[0]
    assert first.name == "1"
    assert first.weight == pytest.approx(held["w1"][0] * held["w2"][0])
    assert first.groups["land"] == held["land"][0]
    old = [one for one, age in zip(asked.respondents, held["age"], strict=True) if 65 <= age < 999]
    assert {one.groups["years"] for one in old} == {"65+"}
    unknown = [one for one, age in zip(asked.respondents, held["age"], strict=True) if age == 999]
    assert all("years" not in one.groups for one in unknown)
    assert "Left out, no labels of answers: number." not in found.notes, "it names the person"


def test_the_rest_is_named_and_says_why_it_was_left_out(tmp_path: Path) -> None:
    held: dict[str, list[Any]] = {
        "q": [1.0, 2.0, 1.0],
        "gap": [1.0, 2.0, 5.0],
        "one": [1.0] * 3,
        "free": ["a", "b", "c"],
    }
    labels = {"q": {1.0: "In", 2.0: "Out"}, "gap": {1.0: "In", 2.0: "Out"}, "one": {1.0: "In"}}
    path = sav(tmp_path / "s.sav", held, labels)
    notes = read(path).notes
    assert "Left out, values without a label: gap." in notes
    assert "Left out, one answer: one." in notes
    assert "Left out, no labels of answers: free." in notes
    assert "1 question without a text in the file: q." in notes
    assert faults(path, "questions=gap") == [(3, "gap", "'5', which has no label")]
    assert len(questionnaire(read(path, "questions=gap missing=5")).respondents) == 2
    same = sav(tmp_path / "t.sav", {"q": [1.0, 2.0]}, {"q": {1.0: "In", 2.0: "in"}})
    assert faults(same, "questions=q") == [(None, "q", "two codes with the same label")]


def test_steps_between_two_labelled_ends_are_answers(tmp_path: Path) -> None:
    path = sav(
        tmp_path / "s.sav", {"q": [0.0, 3.0, 10.0, 7.0]}, {"q": {0.0: "Left", 10.0: "Right"}}
    )
    offered = questionnaire(read(path, "questions=q")).scale("q").offered
    assert [one.values[0] for one in offered] == ["Left", "3", "7", "Right"]
    outside = sav(tmp_path / "t.sav", {"q": [0.0, 3.0, 11.0]}, {"q": {0.0: "Left", 10.0: "Right"}})
    assert [place for place, *_ in faults(outside, "questions=q")] == [2, 3]


def test_a_weight_is_a_number_that_somebody_has(tmp_path: Path) -> None:
    held = columns(6) | {"w": [1.0, None, -2.0, 1e308, 0.0, None]}
    path = sav(tmp_path / "s.sav", held)
    assert faults(path, "weight=w") == [
        (2, "w", "an empty cell, 2 times, here first"),
        (3, "w", "'-2'"),
        (4, "w", "'1e+308'"),
    ]
    held["w"] = [1.0, None, 2.0, 3.0, 0.0, None]
    found = read(sav(path, held), "weight=w drop-unweighted respondent=number")
    assert [one.name for one in questionnaire(found).respondents] == ["1", "3", "4", "5"]
    assert "2 respondents without a weight left out: 2, 6." in found.notes
    assert "1 respondent with the weight 0, who count for nothing: 5." in found.notes
    held["w"] = [0.0] * 6
    with pytest.raises(UsageError, match="nobody counts"):
        read(sav(path, held), "weight=w")
    text = tmp_path / "s.csv"
    text.write_text('q,w\nin,"0,5"\nout,1\nin,nan\n', encoding="utf-8")
    assert faults(text, "questions=q weight=w") == [(2, "w", "'0,5'"), (4, "w", "an empty cell")]


def test_many_numbers_are_no_groups_until_they_are_cut(tmp_path: Path) -> None:
    path = sav(tmp_path / "s.sav", columns(80))
    with pytest.raises(UsageError, match=r'cut it, as in --groups "age:18-29/30-49'):
        read(path, "groups=age")
    found = read(path, "groups=age:18-29/30-39")
    assert any("outside of age 18-29/30-39" in note for note in found.notes)
    with pytest.raises(UsageError, match="shares numbers"):
        people_columns_of("age:18-29/29-40", None)
    with pytest.raises(UsageError, match="from low to high"):
        people_columns_of("age:young", None)
    with pytest.raises(UsageError, match="named twice"):
        people_columns_of("a,a=b", None)
    with pytest.raises(UsageError, match="named twice"):
        people_columns_of(None, "w*w")
    with pytest.raises(UsageError, match="cannot be called weight"):
        people_columns_of("weight", None)
    text = tmp_path / "s.csv"
    text.write_text("q,age\nin,40\nout,old\nin,\n", encoding="utf-8")
    assert faults(text, "questions=q groups=age:18+") == [(3, "age", "'old'")]


def test_a_table_of_texts_has_answers_without_an_order_unless_it_is_known(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    rows = [
        "name,worst,lakes,mark,long",
        "a,floods,agree,2,x",
        "b,moon,Strongly Agree,10,y",
        "a2,floods,DISAGREE,9,z",
    ]
    path.write_text("\n".join([*rows, "c,,refused,2,w"]), encoding="utf-8")
    asked = questionnaire(read(path, "questions=worst,lakes,mark respondent=name"))
    assert [one.meaning for one in asked.scale("worst").options] == [Meaning.OPTION] * 2
    assert [one.values[0] for one in asked.scale("lakes").options] == [
        "Strongly Agree",
        "agree",
        "DISAGREE",
        "refused",
    ]
    assert [one.values[0] for one in asked.scale("mark").options] == ["2", "9", "10"]
    assert asked.scale("mark").ordered
    assert "Left out, numbers without labels: mark." in read(path, "respondent=name").notes


def test_columns_and_people_come_once(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_text("id,q,q,p\n1,a,b,c\n1,b,a,d\n2,a,b,d\n", encoding="utf-8")
    assert faults(path, "questions=q") == [(1, "q", "2 columns of this name")]
    assert faults(path, "questions=p respondent=id") == [(3, "id", "'1' again, after 2")]
    assert faults(path, "questions=P weight=v") == [
        (1, "P", "no such column"),
        (1, "v", "no such column"),
    ]
    assert faults(path, "questions=p groups=p") == [
        (1, "p", "a question that is about the person, too")
    ]
    with pytest.raises(UsageError, match="found 'colour=q'"):
        read(path, "colour=q")
    path.write_text("id,q\n1,a\n2\n", encoding="utf-8")
    assert faults(path, "questions=q") == [(3, None, "1 fields")]
    path.write_bytes(sav(tmp_path / "s.sav", columns()).read_bytes()[:700])
    assert "cannot be read" in faults(path)[0][2]


def test_what_was_imported_is_exported_and_read_back(tmp_path: Path) -> None:
    path = sav(tmp_path / "s.sav", columns())
    found = read(path, "groups=land weight=w1 unordered=worst")
    with Store.open(tmp_path / "a.db", create=True) as store:
        store.instruments.add(found)
        assert store.questionnaires.get("v") == found.questionnaire
        store.instruments.add(found)
    write_folder(found, tmp_path / "folder")
    assert read_csv(tmp_path / "folder").questionnaire == found.questionnaire


@pytest.mark.parametrize(
    "label",
    [
        *(
            "Refused",
            "DK/Refused",
            "Don´t know",
            "Don’t know (vol.)",
            "-9. Refused",
            "keine Angabe",
            "No answer",
        ),
        *("Missing; Unknown", "WEISS NICHT", "Not asked in survey", "NS/NC"),
    ],
)
def test_a_refusal_is_no_answer(label: str) -> None:
    assert is_refusal(label)


@pytest.mark.parametrize("label", ["No", "None", "Refuse all of them", "Not at all", "5", "Know"])
def test_an_answer_is_no_refusal(label: str) -> None:
    assert not is_refusal(label)


# ── surveys that are known by their columns ───────────────────────────────────────────────────────


def test_the_world_values_survey_has_negative_codes_that_are_no_answer(tmp_path: Path) -> None:
    rows = [
        "D_INTERVIEW,B_COUNTRY_ALPHA,W_WEIGHT,Q1,Q2,Q260,Q262",
        "1,VEL,1.5,1,-2,1,20",
        "2,VEL,.5,2,4,2,70",
        "3,NOR,1,1,3,1,-1",
    ]
    path = tmp_path / "wvs.csv"
    path.write_text("\n".join(rows), encoding="utf-8")
    assert recognised(path) == "survey"
    found = read(path)
    asked = questionnaire(found)
    assert "Read as World Values Survey 7." in found.notes
    assert [q.ref for q in asked.questions] == ["Q1", "Q2"]
    assert [one.weight for one in asked.respondents] == [1.5, 0.5, 1.0]
    assert asked.respondents[0].groups == {"country": "VEL", "gender": "1", "age": "16-29"}
    assert asked.respondents[0].answers == {"Q1": "1"}
    assert "age" not in asked.respondents[2].groups


def opinions(folder: Path, info: str, responses: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "info.csv").write_text(info, encoding="utf-8")
    (folder / "responses.csv").write_text(responses, encoding="utf-8")
    return folder


INFO = """,key,question,references,option_ordinal
0,LAKES_W9,Who should own the lakes of Veldania?,"['Nobody', 'Everybody', 'The town', 'Refused']","[3.0, 1.0, 2.0]"
1,MOON_W9,What is the moon?,"['A stone', 'A lamp', 'Refused']","[1.0, 1.0]"
2,GONE_W9,Is it gone?,"['Yes', 'No', 'Refused']","[1.0, 2.0]"
"""
RESPONSES = """QKEY,LAKES_W9,MOON_W9,AGE,CREGION,WEIGHT_W9
10,Nobody,A stone,18-29,North,1.5
11,Refused,A lamp,65+,South,0.5
12,,,65+,South,1
"""


def test_a_folder_of_opinionsqa_says_what_its_columns_are(tmp_path: Path) -> None:
    folder = opinions(tmp_path / "Veldania_W9", INFO, RESPONSES)
    assert recognised(folder) == "survey"
    found = read(folder)
    asked = questionnaire(found)
    assert [one.values[0] for one in asked.scale("LAKES_W9").options] == [
        "Everybody",
        "The town",
        "Nobody",
        "Refused",
    ]
    assert asked.scale("LAKES_W9").ordered
    assert not asked.scale("MOON_W9").ordered, "two answers in one place have no order"
    assert [(one.name, one.weight, one.groups) for one in asked.respondents] == [
        ("10", 1.5, {"cregion": "North", "age": "18-29"}),
        ("11", 0.5, {"cregion": "South", "age": "65+"}),
    ]
    assert "1 respondent left out, without an answer to any question." in found.notes
    assert "Left out, without a column in responses.csv: GONE_W9." in found.notes
    bad = opinions(
        tmp_path / "bad",
        INFO.replace("[1.0, 1.0]", "[1.0]").replace("['Yes', ", "print('Yes', "),
        RESPONSES,
    )
    assert [(line, column) for line, column, _ in faults(bad)] == [
        (3, "option_ordinal"),
        (4, "references"),
        (4, "option_ordinal"),
    ]


LAKES = (
    "defaultdict(<class 'list'>, {'Veldania': [0.25, 0.74], 'Nordmark': [60, 40], 'Ostland': "
    "[0, 0]})"
)
SHARES = f'''question,selections,options,source
Are the lakes clean?,"{LAKES}","['Yes', 'No']",VS
Who rows?,"{{""Veldania"": [0.5, 0.3, 0.2]}}","['I', 'You', 'DK/Refused']",
'''


def test_published_shares_are_read_by_country(tmp_path: Path) -> None:
    path = tmp_path / "shares.csv"
    path.write_text(SHARES, encoding="utf-8")
    assert recognised(path) == "survey"
    found = read(path)
    asked = questionnaire(found)
    assert [(s.ref, s.source) for s in found.statements] == [("vs-1", "VS"), ("q-2", None)]
    assert asked.published == (
        PublishedShares("vs-1", "country", "Nordmark", {"Yes": 0.6, "No": 0.4}),
        PublishedShares("vs-1", "country", "Veldania", {"Yes": 0.25, "No": 0.74}),
        PublishedShares("q-2", "country", "Veldania", {"I": 0.5, "You": 0.3, "DK/Refused": 0.2}),
    )
    assert [one.meaning for one in asked.scale("q-2").options] == [
        Meaning.STEP,
        Meaning.STEP,
        Meaning.MISSING,
    ]
    lines = tmp_path / "shares.jsonl"
    lines.write_text(
        '{"question": "Who rows?", "selections": {"Veldania": [0.5, 0.5], "Nordmark": null}, '
        '"options": ["I", "You"]}\n'
    )
    assert recognised(lines) == "survey"
    assert [one.value for one in questionnaire(read(lines)).published] == ["Veldania"]
    frame = pd.DataFrame([["Who rows?", '{"Veldania": [1.0, 0.0]}', '["I", "You"]']])
    frame.columns = pd.Index(["question", "selections", "options"])
    frame.to_parquet(tmp_path / "shares.parquet")
    assert questionnaire(read(tmp_path / "shares.parquet")).published[0].shares == {
        "I": 1.0,
        "You": 0.0,
    }
    with Store.open(tmp_path / "a.db", create=True) as store:
        store.instruments.add(found)
        assert store.questionnaires.get("v") == asked


BAD = {
    "no list": "{'Veldania': 0.5}",
    "lengths": "{'Veldania': [0.5, 0.3, 0.2]}",
    "sum": "{'Veldania': [0.5, 0.3]}",
    "negative": "{'Veldania': [-0.5, 1.5]}",
    "text": "{'Veldania': ['0.5', '0.5']}",
    "infinite": "{'Veldania': [1e999, 0.5]}",
    "nested": "defaultdict(<class 'list'>, {'Veldania': defaultdict(<class 'list'>, {})})",
    "call": "__import__('os').system('true')",
    "list": "[0.5, 0.5]",
    "deep": "[" * 5_000 + "]" * 5_000,
    "long": "[" + "1, " * LONGEST_LITERAL + "]",
    "minus": "-" * 50_000 + "1",
    "empty": "",
    "nameless": "{'': [0.5, 0.5]}",
    "twice": "{'Veldania': [0.5, 0.5], 'Veldania ': [0.5, 0.5]}",
}


@pytest.mark.parametrize("bad", BAD)
def test_shares_that_are_none_are_faults_with_their_place(tmp_path: Path, bad: str) -> None:
    path = tmp_path / "shares.csv"
    frame = pd.DataFrame(
        {
            "question": ["Who swims?", "Who rows?"],
            "selections": ["{'Veldania': [0.5, 0.5]}", BAD[bad]],
            "options": ["['I', 'You']"] * 2,
        }
    )
    frame.to_csv(path, index=False)
    assert [(line, column) for line, column, _ in faults(path)] == [(3, "selections")]
    found = read(path, skip=True)
    assert [one.ref for one in questionnaire(found).published] == ["q-1"]
    assert any("left out with --skip" in note for note in found.notes)


def test_nothing_is_wanted_unless_it_is_said() -> None:
    assert columns_of_text("") == SurveyColumns()


KNOWN_FILES: dict[str, tuple[dict[str, list[Any]], str, str, dict[str, str]]] = {
    "European Social Survey": (
        {
            "idno": [1.0, 1.0],
            "cntry": ["VD", "NM"],
            "agea": [20.0, 70.0],
            "pspwght": [0.5, 2.0],
            "pweight": [3.0, 1.0],
        },
        "VD-1",
        "pspwght × pweight",
        {"country": "VD", "age": "15-29"},
    ),
    "ANES 2020": (
        {"V200001": [7.0, 8.0], "V200010b": [0.5, 2.0], "V201507x": [20.0, -9.0]},
        "7",
        "V200010b",
        {"age": "18-29"},
    ),
    "GLES": (
        {"lfdn": [7.0, 8.0], "w_ipfges": [0.5, 2.0], "ostwest": [1.0, -99.0]},
        "7",
        "w_ipfges",
        {"region": "1"},
    ),
}


@pytest.mark.parametrize("title", KNOWN_FILES)
def test_a_known_survey_has_its_usual_weights_and_groups_unless_others_are_named(
    tmp_path: Path, title: str
) -> None:
    held, name, weight, groups = KNOWN_FILES[title]
    path = sav(
        tmp_path / "s.sav", {**held, "q": [1.0, 2.0]}, {"q": {1.0: "The town", 2.0: "The sea"}}
    )
    found = read(path)
    assert found.notes[:2] == (f"Read as {title}.", f"Weight: {weight}.")
    first, second = questionnaire(found).respondents
    assert (first.name, dict(first.groups)) == (name, groups)
    assert "region" not in second.groups, "a negative code is no answer"
    named = next(iter(held))
    own = questionnaire(read(path, f"groups=mine={named} questions=q"))
    assert [list(one.groups) for one in own.respondents] == [["mine"]] * 2
