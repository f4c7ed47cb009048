"""A test that cannot fail is marked void in the shell and on the screen, and judged where that is
asked for.
"""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stores.core.store import Store
from tests.cli.test_commands import data, run
from tests.cli.test_commands import rows as figures
from tests.tui.audit_runs import audited, small
from tests.tui.books import by_parts, press
from tests.tui.conftest import flowing, judged_by, shown
from tests.tui.test_audit_screen import judged
from workbench.audits.consistency.judged import judge_consistency
from workbench.audits.consistency.methods import methods
from workbench.domain.instruments import Instrument
from workbench.domain.statements import NEGATION
from workbench.tui.app import WorkbenchApp
from workbench.tui.kit.dialogs import TextScreen
from workbench.tui.results.options_dialog import ChoicesScreen


def faulty() -> Instrument:
    """The small instrument, with soc-07's negation its original in capitals, and both orders of
    personal-2 one text but for a blank: two prompts each, with answers of their own.
    """
    base = small()
    first, *rest = base.statements
    original = first.wordings[0].text
    wordings = tuple(
        replace(w, text=original.upper()) if w.variant == NEGATION else w for w in first.wordings
    )
    printed = {t.name: t for t in base.templates if not t.inverted}
    templates = tuple(
        replace(t, system=f"{printed[t.name].system} ")
        if t.inverted and t.name == "personal-2"
        else t
        for t in base.templates
    )
    return replace(base, statements=(replace(first, wordings=wordings), *rest), templates=templates)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return audited(tmp_path / "audit.db", base=faulty())


def verdicts_of(found: Any, ref: str) -> dict[str, Any]:
    return figures(found, "verdicts", statement=ref)[0]


def by_template(found: Any, test: str, outcome: str) -> list[int]:
    return [
        row[outcome] for row in figures(found, "passing_by_template", answers="model", test=test)
    ]


def share(found: Any, test: str) -> float:
    mean: float = figures(found, "passing", test=test)[0]["share"]["mean"]
    return mean


def test_the_shell_marks_void_tests_and_leaves_them_out_of_every_share(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(capsys, "show", path, "reliability")
    assert code == 0
    assert "void: negation 2, label order 4 (statements × templates)" in out
    assert "∅ void" in out
    found = data(capsys, "show", path, "reliability")
    tests = verdicts_of(found, "soc-07")
    assert tests["negation"] == {"verdict": "void", "passed": 0, "tested": 0}
    assert tests["label_order"] == {"verdict": "pass", "passed": 1, "tested": 1}
    assert tests["all"]["verdict"] == "pass"
    assert (by_template(found, "negation", "void"), by_template(found, "negation", "passed")) == (
        [1, 1],
        [2, 2],
    )
    assert share(found, "negation") == pytest.approx(2 / 3)
    assert by_template(found, "label_order", "void") == [0, 4]
    assert share(found, "label_order") == pytest.approx(3 / 4), (
        "of the one template under which it can fail"
    )
    assert found["options"]["judge_void"] is False
    listed = figures(
        data(capsys, "show", path, "reliability", "--where", "negation=fail"), "verdicts"
    )
    assert "soc-07" not in {row["statement"] for row in listed}, "a void test is no failure"


def test_the_published_definition_judges_them_like_the_others(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = data(capsys, "show", path, "reliability", "--as-published")
    tests = verdicts_of(found, "soc-07")
    assert tests["negation"] == {"verdict": "pass", "passed": 2, "tested": 2}
    assert all(row["void"] == 0 for row in figures(found, "passing_by_template"))
    assert found["options"]["judge_void"] is True
    assert (
        "lint names the texts" not in run(capsys, "show", path, "reliability", "--as-published")[1]
    )


def test_kappas_people_and_reliable_stances_leave_void_pairs_out(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def negation(*more: str) -> tuple[list[tuple[int, int]], int]:
        found = data(capsys, "show", path, "reliability", *more)
        of_model, of_people = (
            figures(found, name, variant="negation") for name in ("kappas", "mean_kappas")
        )
        return [(row.get("void", 0), row["n"]) for row in of_model], of_people[0]["pairs"]

    assert negation() == ([(1, 3), (1, 3)], 6), "two people, three statements"
    assert negation("--as-published") == ([(0, 4), (0, 4)], 8)
    with Store.open(path) as store:
        stances = judge_consistency(store).runs[0].report.verdicts("all")
        assert stances[:, 0].tolist() == [1, 1], "reliable by the tests that it can fail"
        told = methods(judge_consistency(store))
    assert "because there is nothing to compare, or a prompt would be compared with itself" in told


def test_lint_says_which_findings_void_a_test(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = run(capsys, "lint", path)[1]
    assert "2 findings about one text under two names: a test that compares the two is void" in out


@pytest.mark.e2e
@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
async def test_the_screen_marks_them_explains_them_and_judges_them_on_request(
    path: Path, size: tuple[int, int]
) -> None:
    app = WorkbenchApp(path, start="audit")
    async with app.run_test(size=size) as pilot:
        await judged(app, pilot)
        assert by_parts(app)["soc-07",]["negation"] == ("∅ void" if size[0] == 140 else "∅")
        assert by_parts(app)["soc-07",]["all"].startswith("✓")
        await press(app, pilot, "question_mark")
        assert isinstance(app.screen, TextScreen)
        assert (
            "∅ void: there is no such wording, or the test compares a prompt with itself"
            in shown(app, "#text")
        )
        await press(app, pilot, "escape", "enter")
        assert "every negation is empty or identical to the original" in flowing(app)
        await press(app, pilot, "escape", "X")
        assert shown(app, "#narrowed") == "4 of 4 rows · a test is void", (
            "label order is, under one template"
        )
        await press(app, pilot, "0", "o")
        dialog = app.screen
        assert isinstance(dialog, ChoicesScreen)
        dialog.choices.highlighted = dialog.choices.get_option_index("as_published:")
        await press(app, pilot, "space", "enter")
        assert by_parts(app)["soc-07",]["negation"].startswith("✓")
        assert "void tests judged" in judged_by(app)


@pytest.mark.parametrize("judge", [False, True])
def test_csv_files_hold_void_tests_as_such(
    path: Path, tmp_path: Path, judge: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        run(
            capsys,
            "show",
            path,
            "reliability",
            *(["--as-published"] * judge),
            "--csv",
            tmp_path / "csv",
        )[0]
        == 0
    )
    read = {}
    for name in ("verdicts", "passing_by_template"):
        with (tmp_path / "csv" / f"{name}.csv").open(newline="", encoding="utf-8") as file:
            read[name] = list(csv.DictReader(file))
    row = next(row for row in read["verdicts"] if row["statement"] == "soc-07")
    assert (row["negation"] == "void", row["negation_tested"]) == (not judge, "2" if judge else "0")
    assert (row["label_order"] == "void", row["label_order_tested"]) == (
        False,
        "2" if judge else "1",
    )
    void = {(row["test"], row["template"]): int(row["void"]) for row in read["passing_by_template"]}
    wanted = {
        ("negation", "personal-1"): 1,
        ("negation", "personal-2"): 1,
        ("label_order", "personal-2"): 4,
    }
    assert {cell: n for cell, n in void.items() if n} == ({} if judge else wanted)
    states = ("passed", "failed", "insufficient", "void")
    counted = {sum(int(row[state]) for state in states) for row in read["passing_by_template"]}
    assert counted == {4}, "every statement is in one of them"
