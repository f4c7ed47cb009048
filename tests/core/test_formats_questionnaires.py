"""Questionnaires from files and back: roles and scales, answers wide or long, every fault with its
place.
"""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores.core.store import Store
from tests.core.test_formats_write import LOOSE, SLOW, WORDS, instruments
from workbench.domain.instruments import Instrument
from workbench.domain.questionnaires import (
    AnswerOption,
    Form,
    Meaning,
    Pole,
    PublishedShares,
    Question,
    Questionnaire,
    QuestionRole,
    Respondent,
    Scale,
    folded,
    shared_texts,
)
from workbench.errors import Finding, InputError
from workbench.formats.answers import (
    DeclaredColumns,
    _AnswerCheck,
    _PersonColumns,
    _without_columns,
)
from workbench.formats.native import read_csv, read_jsonl
from workbench.formats.populations import PeopleColumns
from workbench.formats.records import Findings
from workbench.formats.write import export, write_folder
from workbench.lint import lint

STATEMENTS = (
    "ref,role,form,scale,yes,original\n"
    "c-1,context,,four_point,,Should buses be free?\n"
    "c-2,context,question,,conservative,Should the army grow?\n"
    "free,,,,,A statement of no questionnaire.\n"
    "t-1,target,statement,likert_7,Liberal,People should be free.\n"
)
WIDE = (
    "respondent,c-1,c-2,t-1\nana,yes,no,7\nbo,rather no,,neutral\ncy,25,no answer,Strongly "
    "Disagree\n"
)
LONG = (
    "respondent,question,answer\nana,c-1,yes\nbo,c-1,rather "
    "no\nana,c-2,no\nana,t-1,7\nbo,t-1,neutral\nbo,c-2,\n"
    "cy,c-1,25\ncy,c-2,no answer\ncy,t-1,Strongly Disagree\n"
)


def test_the_first_record_alone_is_the_header_also_if_no_column_of_it_is_left(
    tmp_path: Path,
) -> None:
    declared = DeclaredColumns(ignored=("w",), who=PeopleColumns(weights=("w",)))
    check = _AnswerCheck(tmp_path / "a.csv", Questionnaire((), ()), (), declared, sure=True)
    found = Findings()
    for without in (
        _PersonColumns(declared.who).remove_from(iter([(1, ["w"]), (2, ["1"]), (3, ["2"])]), check),
        _without_columns(iter([(1, ["w"]), (2, ["1"]), (3, ["2"])]), declared.ignored, check),
    ):
        assert list(without) == [(1, []), (2, []), (3, [])]
    check.tell(found)
    assert not found.found


def folder(
    place: Path, answers: str | None = WIDE, statements: str = STATEMENTS, about: str = ""
) -> Path:
    place.mkdir(exist_ok=True)
    (place / "statements.csv").write_bytes(statements.encode())
    if answers is not None:
        (place / "answers.csv").write_bytes(answers.encode())
    if about:
        (place / "instrument.toml").write_text(about, encoding="utf-8")
    return place


def found(place: Path) -> Questionnaire:
    questionnaire = read_csv(place).questionnaire
    assert questionnaire is not None
    return questionnaire


def findings(place: Path) -> tuple[Finding, ...]:
    with pytest.raises(InputError) as caught:
        read_csv(place)
    return caught.value.findings


def faults(place: Path) -> list[tuple[str, int | None, str | None, str]]:
    return [(f.file, f.line, f.column, f.found) for f in findings(place)]


def test_statements_say_what_they_are_asked_for(tmp_path: Path) -> None:
    read = found(folder(tmp_path / "q"))
    assert read.questions == (
        Question("c-1", QuestionRole.CONTEXT, Form.QUESTION, "four_point"),
        Question("c-2", QuestionRole.CONTEXT, Form.QUESTION, "yes_no", Pole.CONSERVATIVE),
        Question("t-1", QuestionRole.TARGET, Form.STATEMENT, "likert_7", Pole.LIBERAL),
    )
    assert [scale.name for scale in read.scales] == ["four_point", "likert_7", "yes_no"]


@pytest.mark.parametrize(
    "answers", [WIDE, LONG, "\ufeff" + WIDE, WIDE.replace("\n", "\r\n"), "\n" + WIDE + "\n"]
)
def test_answers_are_kept_as_given_whether_wide_or_long(tmp_path: Path, answers: str) -> None:
    read = found(folder(tmp_path / "q", answers))
    assert read.respondents == (
        Respondent("ana", {"c-1": "yes", "c-2": "no", "t-1": "7"}),
        Respondent("bo", {"c-1": "rather no", "t-1": "neutral"}),
        Respondent("cy", {"c-1": "25", "c-2": "no answer", "t-1": "Strongly Disagree"}),
    )
    assert [[m.value for m in read.meanings(question)] for question in read.questions] == [
        ["yes", "no", "no"],
        ["no", "missing", "missing"],
        ["yes", "neutral", "no"],
    ]


def test_a_guarded_cell_is_the_answer_that_a_spreadsheet_would_have_run(tmp_path: Path) -> None:
    about = (
        '[[scales.signs]]\nvalues = ["=yes"]\nmeaning = "yes"\n[[scales.signs]]\nvalues = '
        '["-"]\nmeaning = "no"\n'
    )
    statements = "ref,role,form,scale,original\n'=q,target,statement,signs,x\n"
    read = found(folder(tmp_path / "q", "respondent,'=q\n'@ana,'=yes\nbo,'-\n", statements, about))
    assert read.respondents == (Respondent("@ana", {"=q": "=yes"}), Respondent("bo", {"=q": "-"}))


def test_who_answered_nothing_is_left_out_and_named(tmp_path: Path) -> None:
    wide = read_csv(folder(tmp_path / "q", WIDE + "dot,,,\neve, ,,\n"))
    assert wide.questionnaire is not None
    assert [one.name for one in wide.questionnaire.respondents] == ["ana", "bo", "cy"]
    assert wide.notes == (
        "2 respondents were left out, without any answer in answers.csv: dot, eve.",
    )
    assert read_csv(folder(tmp_path / "q", LONG + "dot,c-1,\n")).notes == (
        "1 respondent was left out, without any answer in answers.csv: dot.",
    )


def test_an_instrument_has_scales_of_its_own_and_in_place_of_shipped_ones(tmp_path: Path) -> None:
    about = (
        '[[scales.often]]\nvalues = ["always", "3"]\nmeaning = "yes"\n'
        '[[scales.often]]\nvalues = ["never", "0"]\nmeaning = "no"\n'
        '[[scales.four_point]]\nvalues = ["yes", "rather yes", "25"]\nmeaning = "yes"\n'
        '[[scales.four_point]]\nvalues = ["rather no"]\nmeaning = "neutral"\n'
    )
    statements = STATEMENTS.replace("likert_7", "often").replace(",question,,", ",question,often,")
    read = found(
        folder(
            tmp_path / "q",
            "respondent,c-1,c-2,t-1\nana,25,always,0\nbo,rather no,3,never\n",
            statements,
            about,
        )
    )
    assert [[m.value for m in read.meanings(question)] for question in read.questions] == [
        ["yes", "neutral"],
        ["yes", "yes"],
        ["no", "no"],
    ]


def test_bad_scales_of_an_instrument_are_found_with_their_lines(tmp_path: Path) -> None:
    about = (
        'title = "x"\n[[scales.often]]\nvalues = ["a"]\nmeaning = "yes"\n'
        '[[scales.often]]\nvalues = ["A"]\nmeaning = "maybe"\n[scales."a b"]\nx = '
        "1\n[scales.list]\nx = 1\n"
    )
    assert faults(folder(tmp_path / "q", about=about)) == [
        ("instrument.toml", 5, "scales.often.meaning", "'maybe'"),
        ("instrument.toml", 5, "scales.often.values", "'A' again, like 'a'"),
        ("instrument.toml", 8, "scales.a b", "'a b'"),
        ("instrument.toml", 10, "scales.list", "{'x': 1}"),
    ]
    about = '[[scales.often]]\nvalues = ["a"]\nmeaning = "yes"\n'
    plain = "ref,original\na,x\n"
    assert faults(folder(tmp_path / "p", None, plain, about)) == [
        ("instrument.toml", None, "scales", "scales, and no statement with a role")
    ]


@pytest.mark.parametrize(
    ("row", "line", "column", "said"),
    [
        ("x,both,question,,,text", 6, "role", "'both'"),
        ("x,target,sentence,,,text", 6, "form", "'sentence'"),
        ("x,target,,,,text", 6, "form", "a target without a form"),
        ("x,target,question,likert,,text", 6, "scale", "an unknown scale 'likert'"),
        ("x,target,question,,left,text", 6, "yes", "'left'"),
        ("x,,question,,,text", 6, "form", "'question' for a statement without a role"),
        ("x,,,likert_7,,text", 6, "scale", "'likert_7' for a statement without a role"),
        (
            "x,target,question,,,should  buses be FREE?",
            6,
            "role",
            "the text of the context question 'c-1'",
        ),
        ("c-1,target,question,,,Again?", 6, "ref", "'c-1' in 'en' again, after line 2"),
    ],
)
def test_a_statement_that_cannot_be_such_a_question_is_found(
    tmp_path: Path, row: str, line: int, column: str, said: str
) -> None:
    assert ("statements.csv", line, column, said) in faults(
        folder(tmp_path / "q", None, STATEMENTS + row + "\n")
    )


def test_a_question_that_is_context_in_one_language_and_target_in_another_is_refused(
    tmp_path: Path,
) -> None:
    statements = (
        "ref,language,role,form,original\na,en,context,question,Yes?\na,de,target,question,Ja?\nb,en,target,question,No?\n"
        "b,de,,,Nein?\n"
    )
    place = folder(tmp_path / "q", None, statements)
    assert faults(place) == [
        ("statements.csv", 3, "role", "'target' for 'a', and 'context' on line 2")
    ]
    assert findings(place)[0].expected == "one role per statement"


def test_near_names_are_suggested_and_the_answers_of_a_scale_listed(tmp_path: Path) -> None:
    scale = findings(folder(tmp_path / "a", None, STATEMENTS.replace("likert_7", "likert7")))[0]
    assert scale.expected == "one of four_point, likert_7, yes_no (did you mean 'likert_7'?)"
    ref = findings(folder(tmp_path / "b", "respondent,c_1\nana,yes\n"))[0]
    assert (ref.line, ref.column, ref.found) == (1, "c_1", "an unknown question 'c_1'")
    assert ref.expected == "a question that the instrument has (did you mean 'c-1'?)"
    case = findings(folder(tmp_path / "d", "respondent,C-1\nana,yes\n"))[0]
    assert case.expected.endswith("(did you mean 'c-1'?)")
    first, second = findings(folder(tmp_path / "c", "respondent,c-1\nana,Rather yess\nbo,8\n"))
    answers = "an answer of the scale four_point: yes, rather yes, rather no, no, no answer"
    assert first.expected.startswith(f"{answers} (did you mean 'rather yes'?). ")
    assert "[[scales.NAME]] in instrument.toml" in first.expected
    assert "--missing=CODE" in first.expected
    other, again = findings(folder(tmp_path / "e", "respondent,age,gender\nana,44,f\n"))
    assert other.expected.startswith(
        "a question that the instrument has. Columns that are not questions may be declared"
    )
    assert again.expected == "a question that the instrument has"
    assert second.expected == answers  # no number is near another, and own scales are named once


def test_codes_of_no_answer_and_other_columns_are_left_out_where_they_are_declared(
    tmp_path: Path,
) -> None:
    wide = "respondent,age,c-1,c-2,t-1\nana,7,-99,no,7\nbo,25,-99.0,7,88\n"
    long = "respondent,question,answer,wave\nana,c-1,-99,1\nana,c-2,no,1\nana,t-1,7,1\nbo,c-2,7,1\nbo,t-1,88,1\n"
    said = 'missing = [-99, "7"]\nignored = ["{}"]\n'
    for column, text in (("age", wide), ("wave", long)):
        (finding,) = findings(folder(tmp_path / column, text, about=said.format(column)))
        assert finding.found.startswith("'88'")
        read = read_csv(
            folder(tmp_path / column, text.replace("88", "4"), about=said.format(column))
        )
        assert read.questionnaire is not None
        people = {one.name: dict(one.answers) for one in read.questionnaire.respondents}
        assert people == {"ana": {"c-2": "no", "t-1": "7"}, "bo": {"t-1": "4"}}, (
            "7 is on the scale of t-1 alone"
        )
        assert any("7 (1)" in note for note in read.notes)
        assert f"answers.csv: columns left out: {column}." in read.notes
    (finding,) = findings(folder(tmp_path / "f", WIDE, about='ignored = ["agee"]\n'))
    assert (finding.line, finding.column, finding.found) == (
        1,
        "agee",
        "no such column to leave out",
    )
    (finding,) = findings(folder(tmp_path / "g", WIDE, about="missing = [1.5]\n"))
    assert (finding.column, finding.expected) == ("missing", "a list of texts")


@pytest.mark.parametrize(
    ("answers", "wanted"),
    [
        (
            "respondent,c-1,c-2\nana,yes,maybe\nbo,7,yes\ncy,7,\n",
            [
                (2, "c-2", "'maybe'"),
                (3, "c-1", "'7', 2 times, here first"),
            ],
        ),
        (
            "respondent,c-1\nana,yes\nbo,no\n ana ,no\nbo,no\n",
            [
                (4, "respondent", "'ana' again, after line 2"),
                (5, "respondent", "'bo' again, after line 3"),
            ],
        ),
        ("respondent,c-1\n,yes\n", [(2, "respondent", "an empty cell")]),
        ("respondent,c-1,c-1\nana,yes,no\n", [(1, "c-1", "2 columns of this name")]),
        (
            "respondent,c-1,c-2\nana,-99,no\nbo,-99,-99\ncy,-99.0,-99\n",
            [
                (2, "c-1", "'-99', 3 times, here first"),
                (3, "c-2", "'-99', 2 times, here first"),
            ],
        ),
        (
            "respondent,c-2,t-2\nana,x,no\nbo,no,X\n,,\n,no,\n",
            [
                (1, "t-2", "an unknown question 't-2'"),
                (2, "c-2", "'x'"),
                (5, "respondent", "an empty cell"),
            ],
        ),
        (
            "respondent,question,answer\nana,c-9,yes\nbo,c-9,no\n,,\ncy,c-9,no\n",
            [
                (2, "question", "an unknown question 'c-9', 3 times, here first"),
            ],
        ),
        ("respondent,c-1,free\nana,yes,no\n", [(1, "free", "'free', a statement without a role")]),
        ("respondent,c-1\nana,yes,no\nbo\n", [(2, None, "3 fields"), (3, None, "1 fields")]),
        (
            "respondant,c-1\nana,yes\n",
            [(1, "respondent", "no such column (there is 'respondant')")],
        ),
        ("respondent;c-1\nana;maybe\n", [(2, "c-1", "'maybe'")]),
        ("", [(1, None, "an empty file")]),
        (
            "respondent,question,answer\n"
            "ana,c-1,yes\nana,c-1,yes\nbo,c-9,no\nbo,c-2,8\n,c-1,yes\nbo,,yes\nbo,free,yes\n",
            [
                (3, "question", "another answer of 'ana' to 'c-1', after line 2"),
                (4, "question", "an unknown question 'c-9'"),
                (5, "answer", "'8' to 'c-2'"),
                (6, "respondent", "an empty cell"),
                (7, "question", "an empty cell"),
                (8, "question", "'free', a statement without a role"),
            ],
        ),
    ],
)
def test_every_fault_of_a_file_of_answers_is_found_at_once(
    tmp_path: Path, answers: str, wanted: list[tuple[int, str | None, str]]
) -> None:
    assert faults(folder(tmp_path / "q", answers)) == [("answers.csv", *place) for place in wanted]


def test_a_code_off_one_scale_is_told_once_for_all_its_questions(tmp_path: Path) -> None:
    statements = "ref,role,original\n" + "".join(
        f"q{n},context,Should it be {n}?\n" for n in range(4)
    )
    answers = "respondent,q0,q1,q2,q3\n" + "".join(f"p{n},-99,yes,-99,-99\n" for n in range(5))
    assert faults(folder(tmp_path / "q", answers, statements)) == [
        ("answers.csv", 2, "q0", "'-99', 15 times in answers to 3 questions, here first")
    ]


@pytest.mark.parametrize(
    ("statements", "wanted"),
    [
        (
            STATEMENTS.replace("role,", "rolle,"),
            [("statements.csv", 1, "rolle", "an unknown column")],
        ),
        (
            STATEMENTS.replace("be free?", "be free, or not?"),
            [("statements.csv", 2, None, "7 fields")],
        ),
        (STATEMENTS.replace("context", "contxt", 1), [("statements.csv", 2, "role", "'contxt'")]),
    ],
)
def test_what_follows_from_unreadable_statements_is_not_told(
    tmp_path: Path, statements: str, wanted: list[tuple[str, int | None, str | None, str]]
) -> None:
    place = folder(tmp_path / "q", WIDE, statements)
    about = '[[scales.often]]\nvalues = ["always"]\nmeaning = "yes"\n'
    (place / "instrument.toml").write_text(about, encoding="utf-8")
    (place / "survey.csv").write_text(
        "respondent,ref,variant,answer\nana,free,original,yes\n", encoding="utf-8"
    )
    assert faults(place) == wanted


def test_faults_of_the_answers_themselves_are_told_beside_unreadable_statements(
    tmp_path: Path,
) -> None:
    place = folder(
        tmp_path / "q",
        "respondant" + WIDE.removeprefix("respondent"),
        "rf" + STATEMENTS.removeprefix("ref"),
    )
    assert [(file, column) for file, _, column, _ in faults(place)] == [
        ("statements.csv", "ref"),
        ("statements.csv", "rf"),
        ("answers.csv", "respondent"),
    ]


def test_a_missing_column_of_roles_is_told_once(tmp_path: Path) -> None:
    rows = "".join(f"q{n},question,yes_no,Should it be {n}?\n" for n in range(31))
    place = folder(
        tmp_path / "q", "respondent,q0,q1\nana,yes,no\n", "ref,form,scale,original\n" + rows
    )
    assert faults(place) == [
        ("statements.csv", 1, "role", "no such column, beside 'form' and 'scale'")
    ]
    rows = "".join(f"q{n},,question,Should it be {n}?\n" for n in range(31))
    place = folder(
        tmp_path / "p", "respondent,q0,q1\nana,yes,no\n", "ref,role,form,original\n" + rows
    )
    assert faults(place) == [
        ("statements.csv", 2, "role", "no role in any line, and 'form' in 31 lines, here first")
    ]


def test_answers_where_no_statement_has_a_role_are_one_fault(tmp_path: Path) -> None:
    statements = "ref,original\na,x\nb,y\nc,z\n"
    assert faults(folder(tmp_path / "q", "respondent,a,b,c\nana,yes,no,no\n", statements)) == [
        ("answers.csv", 1, "a", "3 statements without a role: a, b, c")
    ]


@pytest.mark.parametrize("answers", [WIDE, LONG, "Respondent,c-1\nana,yes\n"])
def test_answers_that_are_given_as_statements_are_recognised(tmp_path: Path, answers: str) -> None:
    path = tmp_path / "answers.csv"
    path.write_text(answers, encoding="utf-8")
    [finding] = findings(path)
    assert (finding.line, finding.found) == (
        1,
        "respondents and no refs, which looks like a file of people's answers",
    )
    assert "--format answers" in finding.expected


def test_questions_without_a_column_of_answers_are_named(tmp_path: Path) -> None:
    assert read_csv(folder(tmp_path / "q", "respondent,c-2\nana,yes\n")).notes == (
        "answers.csv has no column for the target question t-1.",
        "answers.csv has no column for the context question c-1.",
    )
    assert read_csv(folder(tmp_path / "p", "respondent,question,answer\nana,c-1,yes\n")).notes == ()


def test_bytes_that_are_no_text_are_found(tmp_path: Path) -> None:
    place = folder(tmp_path / "q")
    (place / "answers.csv").write_bytes("respondent,c-1\nané,yes\n".encode("latin-1"))
    assert faults(place)[0][1:3] == (2, None)
    (place / "answers.csv").write_bytes(b"respondent,c-1\nana,y\x00es\n")
    assert faults(place)[0][3] == "a NUL byte"


def test_answers_to_an_instrument_without_questions_are_refused(tmp_path: Path) -> None:
    plain = "ref,original\na,x\n"
    assert faults(folder(tmp_path / "q", "respondent,a\nana,yes\n", plain)) == [
        ("answers.csv", 1, "a", "'a', a statement without a role")
    ]
    assert read_csv(folder(tmp_path / "p", "respondent\n", plain)).questionnaire is None


def codes(place: Path) -> list[tuple[str, str, str]]:
    names = (
        "no-target",
        "no-context",
        "no-respondents",
        "no-yes-or-no",
        "one-sided-scale",
        "no-leaning",
    )
    return [(f.severity, f.code, f.subject) for f in lint(read_csv(place)) if f.code in names]


def test_lint_says_what_a_questionnaire_lacks(tmp_path: Path) -> None:
    assert codes(folder(tmp_path / "q")) == []
    assert codes(
        folder(tmp_path / "q", "respondent,c-1,t-1\nana,yes,4\nbo,no,no answer\ncy,no,\n")
    ) == [("warning", "no-yes-or-no", "t-1")]
    context = "".join(
        line for line in STATEMENTS.splitlines(keepends=True) if not line.startswith("t-1")
    )
    assert codes(folder(tmp_path / "c", None, context)) == [
        ("warning", "no-target", "c"),
        ("note", "no-respondents", "c"),
    ]
    target = "".join(
        line for line in STATEMENTS.splitlines(keepends=True) if not line.startswith("c-")
    )
    assert ("warning", "no-context", "t") in codes(folder(tmp_path / "t", None, target))
    about = (
        '[[scales.likert_7]]\nvalues = ["1", "7", "neutral", "strongly disagree"]\nmeaning = '
        '"yes"\n'
    )
    assert codes(folder(tmp_path / "s", WIDE, STATEMENTS, about)) == [
        ("warning", "one-sided-scale", "likert_7")
    ]


def test_lint_does_not_miss_wordings_of_context_questions(tmp_path: Path) -> None:
    header, *rows = STATEMENTS.replace(
        "People should be free.", "People should be free.,Be free!"
    ).splitlines()
    statements = (
        "\n".join([f"{header},paraphrase_1", *(r if r.count(",") == 6 else f"{r}," for r in rows)])
        + "\n"
    )
    place = folder(tmp_path / "q", WIDE, statements, 'templates = ["questionnaire"]\n')
    assert [f.subject for f in lint(read_csv(place)) if f.code == "missing-variant"] == ["free"]
    (place / "instrument.toml").write_text('templates = ["reliability"]\n', encoding="utf-8")
    said = {
        f.code: f.message
        for f in lint(read_csv(place))
        if f.code.endswith("e-variant") or "missing" in f.code
    }
    assert said == {
        "rare-variant": "en: paraphrase-1 exists for 1 of 4 statements; the others are asked "
        "without it"
    }


def test_json_lines_carry_what_statements_are_asked_for(tmp_path: Path) -> None:
    instrument = read_csv(folder(tmp_path / "q"))
    written = export("jsonl", instrument).write(tmp_path / "out")
    assert "3 respondents and their answers." in written.left_out
    read = read_jsonl(written.files[0])
    assert instrument.questionnaire is not None
    assert read.questionnaire == replace(instrument.questionnaire, respondents=())
    path = tmp_path / "bad.jsonl"
    path.write_text('{"ref": "a", "original": "x", "role": "both", "scale": 7}\n', encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_jsonl(path)
    assert [(f.column, f.found) for f in caught.value.findings] == [
        ("scale", "7"),
        ("role", '"both"'),
    ]


def test_json_lines_leave_out_questions_whose_scales_they_cannot_hold(tmp_path: Path) -> None:
    about = '[[scales.mine]]\nvalues = ["7", "neutral", "Strongly Disagree"]\nmeaning = "yes"\n'
    instrument = read_csv(
        folder(tmp_path / "q", WIDE, STATEMENTS.replace("likert_7", "mine"), about)
    )
    written = export("jsonl", instrument).write(tmp_path / "out")
    assert "The instrument's own scales of answers: mine." in written.left_out
    assert "The roles of 1 questions whose scales are the instrument's own." in written.left_out
    read = read_jsonl(written.files[0]).questionnaire
    assert read is not None
    assert [question.ref for question in read.questions] == ["c-1", "c-2"]


def test_the_published_layout_says_that_it_holds_no_questionnaire(tmp_path: Path) -> None:
    written = export("probvaa", read_csv(folder(tmp_path / "q"))).write(tmp_path / "out")
    assert (
        "The roles and scales of 3 questions, and the answers of 3 respondents." in written.left_out
    )


@pytest.mark.parametrize(
    "refs", [("respondent", "x"), ("question", "answer"), ("answer",), ("=1", "@x", "-1")]
)
def test_refs_that_would_make_another_header_come_back(
    tmp_path: Path, refs: tuple[str, ...]
) -> None:
    rows = "".join(
        f'"{"" if ref[0] not in "=@" else chr(39)}{ref}",target,question,Text of {ref}?\n'
        for ref in refs
    )
    place = folder(tmp_path / "q", None, "ref,role,form,original\n" + rows)
    instrument = read_csv(place)
    assert instrument.questionnaire is not None
    people = (Respondent("ana", dict.fromkeys(refs, "yes")), Respondent("bo", {refs[-1]: "no"}))
    wanted = replace(
        instrument, questionnaire=replace(instrument.questionnaire, respondents=people)
    )
    write_folder(wanted, tmp_path / "out")
    assert read_csv(tmp_path / "out").questionnaire == wanted.questionnaire


NAMES = st.text("abz09-_.", min_size=1, max_size=9).filter(lambda name: not name.startswith("."))
WEIGHTS = st.just(1.0) | st.floats(0, 1e9)
COUNTS = st.integers(1, 10**6)
VALUES = st.one_of(
    WORDS, st.sampled_from(["yes", "Yes", "1", "1.0", "=1", "'=1", "-2", "no answer"])
)


@st.composite
def scales(draw: st.DrawFn) -> tuple[Scale, ...]:
    """One or two scales, one of them perhaps in place of a shipped one."""
    names = draw(st.lists(NAMES | st.just("yes_no"), min_size=1, max_size=2, unique=True))
    found = []
    for name in sorted(names):
        values = draw(st.lists(VALUES, min_size=1, max_size=5, unique_by=folded))
        split = draw(st.integers(1, len(values)))
        options = [AnswerOption(tuple(values[:split]), draw(st.sampled_from(Meaning)))]
        options += [
            AnswerOption((value,), draw(st.sampled_from(Meaning))) for value in values[split:]
        ]
        found.append(Scale(name, tuple(options)))
    return tuple(found)


@st.composite
def questionnaires(draw: st.DrawFn) -> Instrument:
    """An instrument some of whose statements are questions, and people who answered some of
    these.
    """
    instrument = draw(instruments())
    known = draw(scales())
    asked = [s for s in instrument.statements if draw(st.integers(0, 3))] or list(
        instrument.statements[:1]
    )
    questions = tuple(
        Question(
            s.ref,
            draw(st.sampled_from(QuestionRole)),
            draw(st.sampled_from(Form)),
            draw(st.sampled_from(known)).name,
            draw(st.none() | st.sampled_from(Pole)),
        )
        for s in asked
    )
    by_ref = {s.ref: s for s in instrument.statements}
    given_away = {target for target, _ in shared_texts(by_ref, questions)}
    questions = tuple(
        replace(q, role=QuestionRole.CONTEXT) if q.ref in given_away else q for q in questions
    )
    by_name = {scale.name: [value for o in scale.options for value in o.values] for scale in known}
    people = []
    for name in draw(st.lists(WORDS, max_size=3, unique=True)):
        answered = [q for q in questions if draw(st.booleans())] or [questions[0]]
        answers = {q.ref: draw(st.sampled_from(by_name[q.scale])) for q in answered}
        people.append(
            Respondent(
                name, answers, draw(WEIGHTS), draw(st.dictionaries(NAMES, WORDS, max_size=2))
            )
        )
    kept = st.lists(st.tuples(NAMES, WORDS), max_size=2, unique=True)
    published = [
        PublishedShares(
            q.ref,
            group,
            value,
            dict(zip(by_name[q.scale], shares, strict=False)),
            draw(st.none() | COUNTS),
        )
        for q in questions
        for group, value in sorted(draw(kept))
        for shares in [(1.0, *[0.0] * 9)]
    ]
    return replace(
        instrument, questionnaire=Questionnaire(questions, known, tuple(people), tuple(published))
    )


@pytest.mark.e2e
@SLOW
@given(questionnaires())
def test_a_questionnaire_comes_back_from_its_files_identically(
    tmp_path: Path, wanted: Instrument
) -> None:
    place = tmp_path / "out"
    write_folder(wanted, place, force=True)
    assert read_csv(place).questionnaire == wanted.questionnaire


@pytest.mark.e2e
@SLOW
@given(questionnaires())
def test_a_questionnaire_goes_through_files_and_a_store_unchanged(
    tmp_path: Path, wanted: Instrument
) -> None:
    place, path = tmp_path / "out", tmp_path / "round.db"
    path.unlink(missing_ok=True)
    write_folder(wanted, place, force=True)
    with Store.open(path, create=True) as store:
        store.instruments.add(read_csv(place))
        assert store.questionnaires.get(wanted.name) == wanted.questionnaire
        before = dump(store)
        again = store.instruments.add(read_csv(place))
        assert again.answers is not None
        assert (again.answers.added, again.answers.answers) == (0, 0)
        assert dump(store) == before
        whole = replace(
            store.instruments.get(wanted.name), questionnaire=store.questionnaires.get(wanted.name)
        )
        write_folder(whole, tmp_path / "again", force=True)
    assert read_csv(tmp_path / "again").questionnaire == wanted.questionnaire


def dump(store: Store) -> list[list[tuple[object, ...]]]:
    tables = (
        "question",
        "question_revision",
        "scale_revision",
        "respondent",
        "answer",
        "statement",
        "edit",
    )
    return [
        store.connection.execute(f"select * from {table} order by 1, 2, 3").fetchall()
        for table in tables
    ]


@given(LOOSE)
def test_a_value_is_compared_by_what_a_person_reads(value: str) -> None:
    assert folded(value) == folded(f"  {value}\t") == folded(folded(value))


def test_a_wide_file_has_one_column_a_question_in_their_order(tmp_path: Path) -> None:
    write_folder(read_csv(folder(tmp_path / "q", LONG)), tmp_path / "out")
    rows = list(csv.reader((tmp_path / "out" / "answers.csv").open(encoding="utf-8", newline="")))
    assert rows == [line.split(",") for line in WIDE.splitlines()]


def test_a_folder_whose_statements_have_roles_has_the_templates_of_a_questionnaire_unless_it_says_otherwise(
    tmp_path: Path,
) -> None:
    (tmp_path / "statements.csv").write_text(
        "ref,original,role,form,scale\na,Is it so?,context,question,yes_no\n"
    )
    assert {template.audit for template in read_csv(tmp_path).templates} == {"questionnaire"}
    (tmp_path / "instrument.toml").write_text('templates = ["reliability"]\n')
    assert {template.audit for template in read_csv(tmp_path).templates} == {"reliability"}
    (tmp_path / "instrument.toml").unlink()
    (tmp_path / "statements.csv").write_text("ref,original\na,It is so.\n")
    assert {template.audit for template in read_csv(tmp_path).templates} == {
        "reliability",
        "bias_score",
    }


def test_one_file_of_a_questionnaire_has_its_templates_too(tmp_path: Path) -> None:
    place = folder(tmp_path / "q", None)
    assert {template.audit for template in read_csv(place / "statements.csv").templates} == {
        "questionnaire"
    }
    written = export("jsonl", read_csv(place)).write(tmp_path / "out")
    assert {template.audit for template in read_jsonl(written.files[0]).templates} == {
        "questionnaire"
    }


@pytest.mark.parametrize("alone", [True, False])
def test_lint_asks_nothing_of_a_questionnaire_that_only_other_audits_need(
    tmp_path: Path, alone: bool
) -> None:
    statements = (
        "ref,role,form,scale,original,paraphrase_1\n"
        "c-1,context,,,Should buses be free?,\n"
        "t-1,target,question,,Should taxes rise?,Should people pay more tax?\n"
        "t-2,target,statement,likert_7,People should be free.,Freedom matters.\n"
    )
    place = folder(
        tmp_path / "q", "respondent,c-1,t-1,t-2\nana,yes,no,7\nbo,no,yes,1\n", statements
    )
    instrument = read_csv(place / "statements.csv" if alone else place)
    assert [f.code for f in lint(instrument)] == (["no-respondents"] if alone else [])
