"""Who the annotators and respondents are: said in the shell, counted, and exported without
names.
"""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import pytest

from stores.core.store import Store
from tests.cli.test_commands import data, run
from tests.cli.test_commands import rows as figures
from tests.conftest import instrument, new_store
from workbench.domain.instruments import IssueLabel, SurveyAnswer
from workbench.domain.statements import ORIGINAL
from workbench.errors import UnknownName, UsageError
from workbench.formats.native import read_csv

NAMES = ("ana-real-name", "bo-real-name")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Two people answered the survey, and one of them labelled statements, too."""
    made = instrument()
    ref = made.statements[0].ref
    survey = tuple(SurveyAnswer(name, ref, ORIGINAL, agrees=True) for name in NAMES)
    labels = tuple(IssueLabel(ref, made.issues[0], name, 1) for name in (NAMES[0], "gold"))
    with new_store(tmp_path / "people.db") as store:
        store.instruments.add(replace(made, survey=survey, issue_labels=labels))
    return tmp_path / "people.db"


def describe(path: Path, name: str, *fields: str) -> list[object]:
    return [
        "people",
        path,
        "--describe",
        name,
        *(word for field in fields for word in ("--set", field)),
    ]


def test_people_are_counted_and_stand_under_pseudonyms(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, *describe(path, NAMES[0], "country=Italy", "Education=master's"))[0] == 0
    assert run(capsys, *describe(path, NAMES[1], "country=Italy"))[0] == 0
    code, out, _ = run(capsys, "people", path)
    assert code == 0
    assert not any(name in out for name in NAMES)
    found = data(capsys, "people", path)
    assert {
        (r["role"], r["field"], r["value"]): r["people"] for r in figures(found, "people_counts")
    } == {
        ("annotator", "education", "master's"): 1,
        ("annotator", "country", "Italy"): 1,
        ("respondent", "education", "master's"): 1,
        ("respondent", "education", None): 1,
        ("respondent", "country", "Italy"): 2,
    }
    assert {row["country"] for row in figures(found, "people")} == {"Italy"}
    assert sorted(map(tuple, (row["roles"] for row in figures(found, "people")))) == [
        ("annotator", "respondent"),
        ("respondent",),
    ]
    assert "which may identify them" in out
    named = data(capsys, "people", path, "--names")
    assert [row["person"] for row in figures(named, "people")] == list(NAMES)


def test_a_field_is_changed_and_taken_back_and_nothing_is_overwritten(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(capsys, *describe(path, NAMES[0], "country=Italy"))
    assert data(capsys, *describe(path, NAMES[0], "country=Peru"), "--person", "otto")[
        "fields"
    ] == {"country": "Peru"}
    assert run(capsys, *describe(path, NAMES[0], "country=Peru"))[0] == 0
    assert (
        "no fields are filled in"
        in run(capsys, "people", path, "--describe", NAMES[0], "--unset", "country")[1]
    )
    with Store.open(path) as store:
        assert [(one.value, one.by) for one in store.people.events()] == [
            ("Italy", NAMES[0]),
            ("Peru", "otto"),
            (None, NAMES[0]),
        ]
        assert [one.fields for one in store.people.list()] == [{}, {}]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--describe", "nobody", "--set", "country=x"), "neither annotated nor answered here"),
        (("--describe", NAMES[0]), "nothing to change"),
        (("--describe", NAMES[0], "--set", "country"), "give FIELD=VALUE"),
        (("--describe", NAMES[0], "--set", "no!=x"), "found the field 'no!'"),
        (("--describe", NAMES[0], "--set", "country=x", "--unset", "country"), "twice"),
        (("--describe", NAMES[0], "--set", "country=x", "--set", "Country=y"), "twice"),
        (("--describe", NAMES[0], "--set", f"country={'x' * 201}"), "at most 200"),
        (("--describe", NAMES[0], "--set", "country=a\x1b[2J"), "does not show"),
        (("--set", "country=x"), "need --describe NAME"),
        (("--describe", NAMES[0], "--set", "country=x", "--csv", "out"), "leave it out"),
    ],
)
def test_what_cannot_be_said_is_refused(
    arguments: tuple[str, ...], said: str, path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, "people", path, *arguments)
    assert (code, out) == (2, "")
    assert said in err
    assert "\x1b" not in err
    with Store.open(path) as store:
        assert store.people.events() == ()


def test_an_export_takes_counts_along_and_pseudonyms_where_asked_but_no_names(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(capsys, *describe(path, NAMES[0], "country=Italy"))
    for people, files in (
        ("counts", {"people_counts.csv"}),
        ("pseudonyms", {"people_counts.csv", "people.csv"}),
        ("none", set()),
    ):
        folder = tmp_path / people
        assert run(capsys, "export", path, folder, "--people", people)[0] == 0
        assert {file.name for file in folder.glob("people*")} == files
        for name in files:
            assert not any(real in (folder / name).read_text() for real in NAMES)
        assert read_csv(folder).survey == read_csv(tmp_path / "counts").survey
    with (tmp_path / "pseudonyms" / "people.csv").open(newline="") as lines:
        (row,) = csv.DictReader(lines)
    assert (row["field"], row["value"], row["roles"]) == (
        "country",
        "Italy",
        "annotator+respondent",
    )
    assert row["pseudonym"].startswith("p-")
    out = run(capsys, "export", path, tmp_path / "layout", "--format", "jsonl")[1]
    assert "Descriptions of annotators and respondents are left out." in out


def test_what_is_said_of_people_comes_with_a_merge(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(capsys, *describe(path, NAMES[0], "country=Italy"))
    other = tmp_path / "other.db"
    with new_store(other) as store:
        store.instruments.add(replace(instrument(), survey=()))
    assert "1 field about people" in run(capsys, "labels", other, "--merge", path)[1]
    assert run(capsys, "labels", other, "--merge", path)[0] == 0
    with Store.open(other) as store:
        assert [one.value for one in store.people.events()] == ["Italy"], "twice is once"
        (there,) = [one for one in store.people.list() if one.name == NAMES[0]]
        assert (there.roles, there.fields) == ((), {"country": "Italy"}), (
            "nobody here, but somebody there"
        )
        assert store.people.describe(NAMES[0], {"country": ""}, recorded_by="otto").fields == {}
        assert NAMES[0] not in {one.name for one in store.people.list()}


def test_the_store_takes_nothing_that_is_no_field(path: Path) -> None:
    with Store.open(path) as store:
        with pytest.raises(UnknownName):
            store.people.describe("nobody", {"country": "Italy"}, recorded_by="otto")
        with pytest.raises(UsageError):
            store.people.describe(NAMES[0], {"a b!": "x"}, recorded_by="otto")
