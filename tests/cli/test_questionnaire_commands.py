"""The command of questionnaires and the import of answers, as a script sees them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stores.core.store import Store
from tests.cli.test_commands import data, run
from tests.core.test_formats_questionnaires import LONG, STATEMENTS, WIDE, folder


@pytest.fixture
def asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    path = tmp_path / "audit.db"
    code, out, err = run(capsys, "import", path, "--format", "csv", folder(tmp_path / "panel"))
    assert code == 0, err
    assert "3 respondents new, 0 were stored with the same answers; 8 answers new" in out
    return path


def rows(found: Any, name: str) -> list[dict[str, Any]]:
    """Return the rows of a table in a JSON document."""
    (table,) = (one for one in found["tables"] if one["name"] == name)
    return list(table["rows"])


def test_the_questions_the_mapping_and_the_counts_are_shown(
    asked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(capsys, "questionnaire", asked)
    assert code == 0
    lines = out.splitlines()
    assert (
        lines[0]
        == "panel: 2 context and 1 target question, 3 respondents; 8 answers, 1 neutral, 2 missing"
    )
    assert "c-2  –      context  question   yes_no      conservative" in out
    found = data(capsys, "questionnaire", asked, "--instrument", "panel")
    counts = {
        "context": 2,
        "target": 1,
        "survey": 0,
        "respondents": 3,
        "answers": 8,
        "neutral": 1,
        "missing": 2,
    }
    assert found["summary"] == counts
    keys = ("ref", "role", "form", "scale", "leaning", "yes", "no", "neutral", "missing")
    assert [tuple(question[key] for key in keys) for question in rows(found, "questions")] == [
        ("c-1", "context", "question", "four_point", None, 1, 2, 0, 0),
        ("c-2", "context", "question", "yes_no", "conservative", 0, 1, 0, 2),
        ("t-1", "target", "statement", "likert_7", "liberal", 1, 1, 1, 0),
    ]
    assert rows(found, "questions")[2]["text"].startswith(
        "Do you agree with the following statement? "
    )
    rather, blank = (
        rows(found, "scales")[1],
        next(one for one in rows(found, "scales") if one["scale"] == "yes_no"),
    )
    told = [rather[key] for key in ("scale", "answer", "also", "means", "given")]
    assert told == ["four_point", "rather yes", "75", "yes", 0]
    assert rows(found, "scales")[2]["given"] == 2
    assert (blank["questions"], blank["targets"], blank["blank"]) == (1, 0, 1)


def test_a_mapping_is_adjusted_and_says_what_that_changes(
    asked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    act = ("questionnaire", asked, "--scale", "four_point", "--person", "ana")
    code, out, _ = run(capsys, *act, "--map", "rather no=neutral", "--map", "75=neutral")
    assert code == 0
    assert (
        "2 answers mean something else now. The next run asks prompts with these answers again."
        in out
    )
    assert "nothing was changed" in run(capsys, *act, "--map", "Rather No = neutral")[1]
    assert data(capsys, *act, "--map", "yes=missing")["changed"] == 1
    first = rows(data(capsys, "questionnaire", asked), "questions")[0]
    assert [first[key] for key in ("yes", "no", "neutral", "missing")] == [0, 0, 2, 1]
    history = run(capsys, "questionnaire", asked, "--history")[1]
    assert "rather yes: yes -> neutral, rather no: no -> neutral" in history
    assert "likert_7" not in history
    assert "6 revisions by imports not shown; --all lists them too" in history
    assert "likert_7" in run(capsys, "questionnaire", asked, "--history", "--all")[1]
    every = rows(data(capsys, "questionnaire", asked, "--history"), "history")
    assert [
        (one["what"], one["revision"], one["change"]) for one in every if one["person"] == "ana"
    ] == [
        ("scale four_point", 2, "rather yes: yes -> neutral, rather no: no -> neutral"),
        ("scale four_point", 3, "yes: yes -> missing"),
    ]
    (question,) = (one for one in every if one["what"] == "question t-1")
    assert (
        question["change"] == "role: target, form: statement, scale: likert_7, yes leans: liberal"
    )


def test_a_question_is_adjusted(asked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    act = ("questionnaire", asked, "--person", "ana", "--question")
    code, out, _ = run(capsys, *act, "c-1", "--yes", "liberal")
    assert (code, out) == (0, "c-1: context, question, four_point, a yes leans liberal\n")
    assert "nothing was changed" in run(capsys, *act, "c-1", "--yes", "liberal")[1]
    assert run(capsys, *act, "t-1", "--yes", "none", "--role", "context")[1].endswith(
        "a yes leans nowhere\n"
    )
    assert (
        run(
            capsys,
            *act,
            "free",
            "--role",
            "target",
            "--form",
            "statement",
            "--scale-of",
            "likert_7",
        )[0]
        == 0
    )
    assert (
        run(capsys, *act, "c-2", "--role", "none")[1] == "c-2: is not part of the questionnaire\n"
    )
    assert [q["ref"] for q in rows(data(capsys, "questionnaire", asked), "questions")] == [
        "c-1",
        "free",
        "t-1",
    ]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--map", "yes=no"), "--scale"),
        (
            ("--scale", "four_point"),
            '--map "rather no=neutral". The answers of four_point: yes, rather yes',
        ),
        (
            ("--scale", "likert_7"),
            '--map "neutral=neutral". The answers of likert_7: strongly agree',
        ),
        (("--scale", "four_point", "--map", "yes"), "ANSWER=MEANING"),
        (
            ("--scale", "four_point", "--map", "yes=perhaps"),
            "yes, no, neutral, step, option, missing",
        ),
        (
            ("--scale", "four_point", "--map", "7=no"),
            "not on the scale four_point: yes, rather yes",
        ),
        (("--scale", "five", "--map", "7=no"), "four_point, likert_7, yes_no"),
        (("--question", "c-1"), "--role"),
        (
            ("--question", "c-1", "--yes", "none", "--csv", "here"),
            "--csv writes tables, but a change to a question",
        ),
        (("--role", "target"), "--question REF"),
        (("--question", "c-9", "--yes", "none"), "no statement 'c-9'"),
        (
            ("--question", "c-1", "--scale-of", "likert_7"),
            "'rather no' (1 people), not on likert_7",
        ),
        (("--instrument", "other"), "Available: panel"),
    ],
)
def test_what_cannot_be_adjusted_is_said(
    asked: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...], said: str
) -> None:
    before = data(capsys, "questionnaire", asked)
    code, _, err = run(capsys, "questionnaire", asked, "--person", "ana", *options)
    assert code == 2
    assert said in err
    assert data(capsys, "questionnaire", asked) == before


def test_answers_come_in_by_themselves_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, answers = tmp_path / "audit.db", tmp_path / "wide.csv"
    code, out, _ = run(capsys, "import", path, "--format", "csv", folder(tmp_path / "panel", None))
    assert code == 0
    assert "note: panel: nobody has answered the questions" in out
    answers.write_text(WIDE + "dot,,,\n", encoding="utf-8")
    add = ("import", path, "--format", "answers", "--instrument", "panel")
    code, out, _ = run(capsys, *add, answers)
    assert code == 0
    assert out.splitlines() == [
        "panel: 3 respondents new, 0 were stored with the same answers; 8 answers new",
        "- 1 respondent was left out, without any answer in wide.csv: dot.",
        "- four_point: answers in numbers were read as 100 yes, 75 rather yes, 25 rather no, 0 "
        f"no; adjust: workbench questionnaire {path} --scale four_point --map ANSWER=MEANING",
        "- likert_7: answers in numbers were read as 7 strongly agree … 1 strongly disagree; "
        f"adjust: workbench questionnaire {path} --scale likert_7 --map ANSWER=MEANING",
    ]
    answers.write_text(LONG, encoding="utf-8")
    found = data(capsys, *add, answers)
    assert (found["added"], found["known"], found["answers"], found["notes"]) == (0, 3, 0, [])
    answers.write_text(WIDE.replace("ana,yes", "ana,no"), encoding="utf-8")
    code, _, err = run(capsys, "import", path, "--format", "answers", "--name", "panel", answers)
    assert code == 2
    assert (
        "1 answer is not what these people answered here: 'ana' to 'c-1': 'yes' here, 'no' in "
        "the file" in err
    )
    assert data(capsys, "questionnaire", path)["summary"]["answers"] == 8


def test_a_bad_file_of_answers_changes_nothing(
    asked: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = tmp_path / "bad.csv"
    answers.write_text("respondent,c-1,t_1\nnew,7,1\nnew,yes,1\n", encoding="utf-8")
    code, _, err = run(capsys, "import", asked, "--format", "answers", answers)
    assert code == 1
    assert err.splitlines() == [
        "workbench: bad.csv, line 1, column 't_1': found an unknown question 't_1'; expected a "
        "question that the instrument has (did you mean 't-1'?)",
        "bad.csv, line 2, column 'c-1': found '7'; expected an answer of the scale four_point: "
        "yes, rather yes, rather no, no, no answer. Remove other answers, or define a scale of "
        "your own, [[scales.NAME]] in instrument.toml; codes for no answer may be declared: "
        "--missing=CODE,…, or missing = [CODE, …] in instrument.toml",
        "bad.csv, line 3, column 'respondent': found 'new' again, after line 2; expected every "
        "respondent once",
        "Nothing was imported.",
    ]
    for text, said in (
        ("respondent,c-1\n", "has no answers"),
        ("respondent,c-1\nx,\n", "has no answers"),
    ):
        answers.write_text(text, encoding="utf-8")
        code, _, err = run(capsys, "import", asked, "--format", "answers", answers)
        assert code == 2
        assert said in err
    assert run(capsys, "import", asked, "--format", "answers", tmp_path / "none.csv")[0] == 2
    assert run(capsys, "import", asked, "--format", "answers", tmp_path)[0] == 2
    answers.write_text("respondent,age,c-1,t-1\nnew,44,-99,7\n", encoding="utf-8")
    assert "line 1, column 'age'" in run(capsys, "import", asked, "--format", "answers", answers)[2]
    declared = ("--missing=-99,88", "--ignore", "age")
    code, _, err = run(capsys, "import", asked, "--format", "csv", answers, *declared)
    assert (code, "--missing belongs to --format answers" in err) == (2, True)
    with Store.open(asked) as store:
        found = store.questionnaires.get("panel")
    assert found is not None
    assert len(found.respondents) == 3
    out = run(capsys, "import", asked, "--format", "answers", answers, *declared)[1]
    assert "1 respondent new" in out
    assert "1 answer new" in out, "to t-1 alone"
    assert "bad.csv: codes read as no answer, with their counts: -99 (1), 88 (0)." in out


def test_an_instrument_without_questions_says_how_to_give_it_some(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, answers = tmp_path / "audit.db", tmp_path / "wide.csv"
    answers.write_text(WIDE, encoding="utf-8")
    statements = "ref,original\nc-1,Should it?\n"
    assert (
        run(
            capsys, "import", path, "--format", "csv", folder(tmp_path / "plain", None, statements)
        )[0]
        == 0
    )
    for command in (("questionnaire", path), ("import", path, "--format", "answers", answers)):
        code, _, err = run(capsys, *command)
        assert code == 2
        assert "--question REF --role context" in err


def test_what_is_odd_is_said_at_the_import_and_a_target_in_the_context_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "audit.db"
    neutral = "respondent,c-1,t-1\nana,yes,neutral\nbo,no,4\n"
    code, out, _ = run(
        capsys, "import", path, "--format", "csv", folder(tmp_path / "panel", neutral)
    )
    assert code == 0
    assert (
        "- warning: t-1: no respondent answered yes or no (2 neutral, 0 missing), so nothing can "
        "be predicted" in out
    )
    twice = STATEMENTS + "c-3,context,question,,,people  should be FREE.\n"
    code, _, err = run(
        capsys, "import", path, "--format", "csv", folder(tmp_path / "twice", None, twice)
    )
    assert code == 1
    assert (
        "statements.csv, line 5, column 'role': found the text of the context question 'c-3'" in err
    )


def test_an_export_comes_back_with_roles_scales_and_answers(
    asked: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    act = ("questionnaire", asked, "--person", "ana")
    assert run(capsys, *act, "--scale", "likert_7", "--map", "neutral=no")[0] == 0
    code, out, _ = run(capsys, "export", asked, tmp_path / "out", "--format", "csv")
    assert code == 0
    assert "1 earlier revisions of roles and scales" in out
    again = tmp_path / "again.db"
    assert run(capsys, "import", again, "--format", "csv", tmp_path / "out")[0] == 0
    with Store.open(asked) as store, Store.open(again) as other:
        assert other.questionnaires.get("panel") == store.questionnaires.get("panel")


def test_the_first_statements_of_a_questionnaire_are_its_first_targets(
    asked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    start = (
        "run",
        asked,
        "--audit",
        "questionnaire",
        "--model",
        "scripted",
        "--dry-run",
        "--statements",
    )
    code, out, err = run(capsys, *start, "1")
    assert code == 0, err
    assert "1 target x 1 wording" in out
    code, _, err = run(capsys, *start, "c-1")
    assert (code, "c-1 is not asked: only targets are" in err) == (2, True)


def test_an_import_says_how_large_the_questionnaire_is_and_what_its_numbers_mean(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "audit.db"
    answers = "respondent,c-1,t-1\nana,yes,7\nbo,no,1\n"
    _, out, _ = run(capsys, "import", path, "--format", "csv", folder(tmp_path / "panel", answers))
    lines = out.splitlines()
    assert lines[1] == "questionnaire: 2 context and 1 target question, 2 respondents"
    assert "- answers.csv has no column for the context question c-2." in lines
    assert [line for line in lines if "numbers" in line] == [
        "- likert_7: answers in numbers were read as 7 strongly agree … 1 strongly disagree; "
        f"adjust: workbench questionnaire {path} --scale likert_7 --map ANSWER=MEANING"
    ]


def test_answers_have_weights_and_groups(
    asked: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.csv"
    path.write_text(
        "respondent,c-1,w,land\nx,yes,2,Veldania\ny,no,,Nordmark\nz,no,1,\n", encoding="utf-8"
    )
    given = ("import", asked, "--format", "answers", path, "--weight", "w", "--groups", "land")
    code, _, err = run(capsys, *given)
    assert (code, "line 3, column 'w': found an empty cell" in err) == (1, True)
    code, out, _ = run(capsys, *given, "--drop-unweighted")
    assert code == 0
    assert "1 respondent without a weight left out: y." in out
    assert "weights: sum 3, from 1 to 2; effective n 1.8 of 2, design effect 1.11" in " ".join(
        out.split()
    )
    assert "group land: Veldania 1; in none 1" in out
    with Store.open(asked) as store:
        found = store.questionnaires.get("panel")
    assert found is not None
    new = {one.name: one for one in found.respondents if one.name in "xyz"}
    assert {name: (one.weight, dict(one.groups)) for name, one in new.items()} == {
        "x": (2.0, {"land": "Veldania"}),
        "z": (1.0, {}),
    }
    path.write_text("respondent,question,answer,w\nx,c-1,yes,1\n", encoding="utf-8")
    assert run(capsys, *given)[0] == 1


def test_a_survey_becomes_an_instrument(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from tests.core.test_formats_surveys import columns, sav

    path, store = sav(tmp_path / "land.sav", columns()), tmp_path / "land.db"
    given = ("--groups", "land,age:18-49/50+", "--weight", "w1*w2", "--unordered", "worst")
    code, out, _ = run(capsys, "import", store, path, *given, "--dry-run")
    assert (code, store.exists()) == (0, False)
    said = " ".join(out.split())
    for words in (
        "5 survey questions, 60 respondents",
        "scale many of many, few: Many · Some · None (steps)",
        "The floods · The railways · The moon (options without an order)",
        "Weight: w1 × w2.",
        "group land: Nordmark",
        "design effect",
    ):
        assert words in said
    assert run(capsys, "import", store, path, *given)[0] == 0
    assert "0 errors, 1 warning" in run(capsys, "lint", store)[1], (
        "two questions are nearly the same"
    )
    assert run(capsys, "import", store, path, "--format", "csv", "--weight", "w1")[0] == 2


def test_answers_of_people_are_shares_by_weight_and_group(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, store = tmp_path / "s.csv", tmp_path / "s.db"
    lines = [
        "worst,land,w",
        "floods,North,3",
        "moon,North,1",
        "moon,South,1",
        "refused,South,9",
        "moon,South,0",
    ]
    path.write_text("\n".join(lines), encoding="utf-8")
    given = ("--format", "survey", "--questions", "worst", "--groups", "land", "--weight", "w")
    assert run(capsys, "import", store, path, *given)[0] == 0

    def shares(*more: str) -> dict[tuple[str, str], tuple[float, int, float]]:
        found = json.loads(run(capsys, "questionnaire", store, "--json", *more)[1])
        (table,) = (one for one in found["tables"] if one["name"] == "shares")
        return {
            (row["value"], row["answer"]): (
                row["share"]["value"],
                row["people"],
                row["effective_n"],
            )
            for row in table["rows"]
        }

    assert shares() == {
        ("", "floods"): (pytest.approx(0.6), 3, pytest.approx(25 / 11)),
        ("", "moon"): (pytest.approx(0.4), 3, pytest.approx(25 / 11)),
    }
    by = shares("--by", "land")
    assert by["North", "floods"][:2] == (pytest.approx(0.75), 2)
    assert by["South", "moon"][:2] == (1.0, 1)
    assert shares("--unweighted")["", "floods"][:2] == (0.25, 4)
    out = run(capsys, "questionnaire", store, "--by", "land")[1]
    assert "1 survey question, 5 respondents" in out
    assert "group land: North 2, South 3" in out
    assert run(capsys, "questionnaire", store, "--by", "age")[0] == 2
    assert run(capsys, "questionnaire", store, "--by", "land", "--history")[0] == 2
    assert (
        run(
            capsys,
            "questionnaire",
            store,
            "--scale",
            "worst",
            "--map",
            "moon=step",
            "--person",
            "ana",
        )[0]
        == 0
    )
    assert "has answers with and without an order" in run(capsys, "lint", store)[1]
    assert (
        run(
            capsys,
            "questionnaire",
            store,
            "--question",
            "worst",
            "--role",
            "survey",
            "--person",
            "ana",
        )[0]
        == 0
    )
    path.write_text(
        "worst,land,w\nrefused,North,1\nmoon,South,1\nfloods,South,1\n", encoding="utf-8"
    )
    assert run(capsys, "import", store, path, *given, "--name", "silent")[0] == 0
    nobody = data(capsys, "questionnaire", store, "--instrument", "silent", "--by", "land")
    north = next(row for row in rows(nobody, "shares") if row["value"] == "North")
    assert (north["share"]["value"], north["share"]["undefined"]) == (
        None,
        "nobody gave one of the answers",
    )


def test_published_shares_stand_beside_answers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, store = tmp_path / "shares.csv", tmp_path / "s.db"
    path.write_text(
        "question,selections,options,source\n"
        "Who rows?,\"{'Veldania': [0.4, 0.4, 0.2]}\",\"['I', 'You', 'Refused']\",VS\n",
        encoding="utf-8",
    )
    assert run(capsys, "import", store, path)[0] == 0
    (table,) = (
        one
        for one in json.loads(run(capsys, "questionnaire", store, "--json")[1])["tables"]
        if one["name"] == "shares"
    )
    assert [(row["value"], row["answer"], row["share"]["value"]) for row in table["rows"]] == [
        ("Veldania", "I", 0.5),
        ("Veldania", "You", 0.5),
    ]
    assert "0 errors, 0 warnings" in run(capsys, "lint", store)[1]
