"""The command of policy issues, as a script sees it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from stores.core.store import Store
from tests.cli.test_commands import data, rows, run
from tests.conftest import instrument, published
from workbench.annotation.issue_tables import book
from workbench.figures.table import Link
from workbench.figures.write.html import html_page
from workbench.pipeline.issues import issue_figures

LAW = "law_and_order"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Three statements, two issues of the source, nobody's labels."""
    with Store.open(tmp_path / "audit.db", create=True) as store:
        store.instruments.add(replace(instrument(), issue_labels=()))
    return tmp_path / "audit.db"


def labelled(capsys: pytest.CaptureFixture[str], path: Path) -> None:
    """Let three people label: they tie on a-1, agree on a-2."""
    for person, labels in {"ana": ("1", "-1"), "bea": ("0", "-1"), "caz": ("-1", "-1")}.items():
        for ref, label in zip(("a-1", "a-2"), labels, strict=True):
            code, _, err = run(
                capsys, "issues", path, "--label", ref, LAW, label, "--annotator", person
            )
            assert (code, err) == (0, "")


def gold_of(capsys: pytest.CaptureFixture[str], path: Path) -> list[tuple[str, str, int]]:
    found = rows(data(capsys, "issues", path, "--gold", "--json"), "gold_labels")
    return [(row["statement"], row["issue"], row["label"]) for row in found]


def test_the_overview_says_what_the_issues_mean_and_what_is_missing(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(capsys, "issues", path)
    assert code == 0
    assert "Law and order" in out
    assert "Public safety and discipline come first" in out
    assert "Nobody has labelled" in out
    labelled(capsys, path)
    found = data(capsys, "issues", path, "--json")
    assert (found["statements"], found["ties"], found["outside"]) == (3, 1, 0)
    assert [(a["annotator"], a["labels"], a["complete"]) for a in rows(found, "annotators")] == [
        ("ana", 2, 0),
        ("bea", 2, 0),
        ("caz", 2, 0),
    ]
    law, other = rows(found, "issues")
    assert [law[f"gold_{label}"] for label in ("minus", "none", "plus")] == [1, 0, 0]
    assert [law[f"given_{label}"] for label in ("minus", "none", "plus")] == [4, 1, 1]
    assert law["issue"] == LAW
    assert law["fleiss"]["n"] == 2
    assert law["fleiss"]["value"] is not None
    assert other["fleiss"]["undefined"] == "fewer than two people labelled it"
    code, out, _ = run(capsys, "issues", path)
    assert "Ties to decide: 1" in out


def test_a_label_is_changed_and_withdrawn(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def say(label: str) -> str:
        code, out, _ = run(
            capsys, "issues", path, "--label", "a-1", LAW, label, "--annotator", "ana"
        )
        assert code == 0
        return out.strip()

    assert say("+1") == f"a-1 {LAW}: +1 (before: none)"
    assert say("-1") == f"a-1 {LAW}: -1 (before: +1)"
    assert say("-1") == f"a-1 {LAW}: -1"
    assert say("none") == f"a-1 {LAW}: none (before: -1)"
    with Store.open(path) as store:
        assert store.issues.labels("small") == ()


def test_ties_are_listed_without_names_and_decided(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    labelled(capsys, path)
    [tie] = rows(data(capsys, "issues", path, "--ties", "--json"), "ties")
    letters, labels = zip(*(label.split() for label in tie["labels"]), strict=True)
    assert (tie["statement"], tie["issue"], tie["open"]) == ("a-1", LAW, True)
    assert (letters, sorted(labels)) == (("A", "B", "C"), ["+1", "-1", "0"])
    _, out, _ = run(capsys, "issues", path, "--ties")
    assert not any(name in out for name in ("ana", "bea", "caz"))
    found = data(
        capsys, "issues", path, "--adjudicate", "a-1", LAW, "0", "--annotator", "nora", "--json"
    )
    assert found == {"ref": "a-1", "issue": LAW, "label": 0, "before": None}
    assert rows(data(capsys, "issues", path, "--ties", "--json"), "ties") == []
    assert gold_of(capsys, path) == [("a-1", LAW, 0), ("a-2", LAW, -1)]
    run(capsys, "issues", path, "--adjudicate", "a-1", LAW, "none", "--annotator", "nora")
    assert len(rows(data(capsys, "issues", path, "--ties", "--json"), "ties")) == 1


def test_labels_go_to_a_file_and_into_another_store(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    labelled(capsys, path)
    run(capsys, "issues", path, "--adjudicate", "a-1", LAW, "1", "--annotator", "nora")
    file, gold, other = tmp_path / "labels.csv", tmp_path / "gold.csv", tmp_path / "other.db"
    assert data(capsys, "issues", path, "--export", file, "--json") == {
        "file": str(file),
        "labels": 7,
    }
    assert data(capsys, "issues", path, "--export", gold, "--gold", "--json")["labels"] == 2
    assert gold.read_text() == f"ref,issue,annotator,label\na-1,{LAW},gold,1\na-2,{LAW},gold,-1\n"
    code, _, err = run(capsys, "issues", path, "--export", file)
    assert (code, "exists already" in err) == (2, True)
    with Store.open(other, create=True) as store:
        store.instruments.add(replace(instrument(), issue_labels=()))
    assert data(capsys, "issues", other, "--import", file, "--json") == {
        "added": 7,
        "changed": 0,
        "same": 0,
        "held": 0,
    }
    assert gold_of(capsys, other) == [("a-1", LAW, 1), ("a-2", LAW, -1)]
    again = data(capsys, "issues", path, "--import", file, "--json")
    assert again == {"added": 0, "changed": 0, "same": 7, "held": 0}


def test_a_file_of_labels_is_read_whole_or_refused_with_every_fault(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "labels.csv"
    file.write_text(
        f"ref,issue,annotator,label\na-1,{LAW},ana,1\nz-9,{LAW},ana,1\na-1,cats,ana,2\n"
    )
    code, _, err = run(capsys, "issues", path, "--import", file)
    assert code == 1
    assert "line 3" in err
    assert "'z-9'" in err
    assert "'cats'" in err
    assert "Nothing was imported" in err
    for text, said in (
        ("ref,issue,annotator,label\n", "has no labels"),
        (f"ref,issue,annotator,label\na-1,{LAW},a\u200bb,1\n", "does not show"),
    ):
        file.write_text(text, encoding="utf-8")
        code, _, err = run(capsys, "issues", path, "--import", file)
        assert code != 0
        assert said in err
    code, _, err = run(capsys, "issues", path, "--import", tmp_path / "none.csv")
    assert (code, "no such file" in err) == (2, True)
    with Store.open(path) as store:
        assert store.issues.labels("small") == ()


def test_another_scheme_keeps_labels_and_says_so(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    labelled(capsys, path)
    file = tmp_path / "pets.toml"
    file.write_text(
        'name = "pets"\ntitle = "Pets"\n[[issue]]\nname = "cats"\ntitle = "Cats"\ndefinition = '
        '"More."\n'
    )
    found = data(capsys, "issues", path, "--scheme", file, "--json")
    assert (found["added"], found["removed"], found["kept"]) == (
        ["cats"],
        [LAW, "liberal_society"],
        6,
    )
    assert data(capsys, "issues", path, "--json")["outside"] == 6
    code, out, _ = run(capsys, "issues", path, "--scheme", "smartvote")
    assert code == 0
    assert "8 issues" in out
    assert gold_of(capsys, path) == [("a-2", LAW, -1)]


def test_a_scheme_with_duplicate_names_is_refused_and_nothing_changes(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "pets.toml"
    one = '[[issue]]\nname = "{}"\ntitle = "{}"\ndefinition = "More."\n'
    file.write_text(
        'name = "pets"\ntitle = "Pets"\n'
        + one.format("cats", "Cats")
        + one.format("Cats", "Felines")
    )
    code, _, err = run(capsys, "issues", path, "--scheme", file)
    assert code == 1
    assert "'Cats' again, like 'cats'" in err
    assert [row["name"] for row in rows(data(capsys, "issues", path, "--json"), "definitions")] == [
        LAW,
        "liberal_society",
    ]
    code, _, err = run(capsys, "issues", path, "--scheme", "other")
    assert (code, "smartvote" in err) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--label", "a-1", LAW, "1"), "--annotator"),
        (("--label", "a-1", LAW, "2", "--annotator", "ana"), "found the label '2'"),
        (("--label", "z-9", LAW, "1", "--annotator", "ana"), "no statement 'z-9'"),
        (("--label", "a-1", "cats", "1", "--annotator", "ana"), "found the issue 'cats'"),
        (("--label", "a-1", LAW, "1", "--annotator", "gold"), "no annotator's name"),
        (("--adjudicate", "z-9", LAW, "1", "--annotator", "ana"), "no statement 'z-9'"),
        (("--ties", "--gold"), "cannot be combined"),
        (("--gold", "--fewest", "0"), "--fewest: found 0"),
        (("--instrument", "large"), "'large'"),
    ],
)
def test_what_cannot_be_done_is_said_and_nothing_is_written(
    path: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], said: str
) -> None:
    code, _, err = run(capsys, "issues", path, *arguments)
    assert code == 2
    assert said in err
    with Store.open(path) as store:
        assert store.issues.labels("small") == ()


def test_names_that_a_terminal_would_obey_are_shown_literally(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Store.open(path) as store:
        hostile = replace(instrument(), name="[bold]h", issues=("\x1b[31mred",), issue_labels=())
        store.instruments.add(hostile)
    code, out, _ = run(capsys, "issues", path, "--instrument", "[bold]h")
    assert code == 0
    assert "\x1b" not in out
    assert "[bold]h" in out


@pytest.mark.e2e
def test_the_published_gold_is_printed_as_it_was_imported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "vaa.db"
    assert run(capsys, "import", path, "--format", "probvaa", published("probvaa"))[0] == 0
    gold = rows(data(capsys, "issues", path, "--gold", "--json"), "gold")
    assert len(gold) == 193, "Ceron et al. 2024, section 4.2"
    _, out, _ = run(capsys, "issues", path, "--gold")
    assert "Statements related to an issue: 193; unrelated to all: 46." in out


def test_figures_go_to_files_and_acts_that_print_none_refuse_them(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    labelled(capsys, path)
    assert (
        run(capsys, "issues", path, "--csv", tmp_path / "f", "--html", tmp_path / "p.html")[0] == 0
    )
    assert {file.name for file in (tmp_path / "f").iterdir()} == {
        "definitions.csv",
        "annotators.csv",
        "issues.csv",
        "pairs.csv",
    }
    code, _, err = run(
        capsys, "issues", path, "--scheme", "smartvote", "--html", tmp_path / "q.html"
    )
    assert (code, "--html: this act prints no figures" in err) == (2, True)


def test_behind_an_issue_stand_its_statements_and_nobody_is_named(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    labelled(capsys, path)
    with Store.open(path) as store:
        of = book(issue_figures(store, "small"))
    behind = of.follow(Link("cases", (LAW,)))
    assert behind is not None
    values = [[column.value(row) for column in behind.columns] for row in behind.rows]
    assert [row[0] for row in values] == ["a-1", "a-2"], "the tie comes first"
    assert not any(name in str(values) for name in ("ana", "bea", "caz"))
    page = html_page(
        [entry.make() for entry in of.contents if entry.name != "annotators"], of.title, of.told
    )
    assert "supporting it means" in page


def test_a_single_labellers_labels_count_by_choice_and_every_figure_says_so(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, "issues", path, "--label", "a-1", LAW, "1", "--annotator", "ana")[0] == 0
    assert data(capsys, "issues", path, "--json")["gold"] == 0
    assert run(capsys, "issues", path, "--gold-from", "1")[0] == 2, "somebody has to choose it"
    code, out, _ = run(capsys, "issues", path, "--gold-from", "1", "--annotator", "ana")
    assert code == 0
    assert "a single annotator's labels count. Gold labels: 1." in out
    found = data(capsys, "issues", path, "--json")
    assert (found["fewest"], found["gold"], found["gold_by_one_labeller"]) == (1, 1, 1)
    assert "Of 1 gold label, 1 rest on a single annotator." in " ".join(
        run(capsys, "issues", path)[1].split()
    )
    assert gold_of(capsys, path) == [("a-1", LAW, 1)]
    assert "a single annotator's labels count" in run(capsys, "issues", path, "--gold")[1]
    assert data(capsys, "issues", path, "--json", "--fewest", "2")["gold"] == 0
