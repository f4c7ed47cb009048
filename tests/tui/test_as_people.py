"""A model's kappas can be restricted to the statements that people answered, in the shell and on
the screen.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from stores.core.store import Store
from tests.cli.test_commands import data, run
from tests.cli.test_commands import rows as figures
from tests.tui.audit_runs import audited, small
from tests.tui.books import by_parts, press
from tests.tui.conftest import judged_by, screen_text
from tests.tui.test_audit_screen import judged
from tests.tui.test_one_seed import wavering
from workbench.audits.consistency.judged import judge_consistency
from workbench.audits.consistency.result import book
from workbench.domain.instruments import SurveyAnswer
from workbench.domain.statements import NEGATION, ORIGINAL
from workbench.figures.book import Book
from workbench.tui.app import WorkbenchApp

ANSWERED = ("soc-07", "env-03")
TEMPLATES = ("personal-1", "personal-2")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Two people answered two of four statements, one of them also its negation."""
    survey = [
        SurveyAnswer(who, ref, ORIGINAL, agrees=True) for who in ("ana", "bo") for ref in ANSWERED
    ]
    survey.append(SurveyAnswer("ana", ANSWERED[0], NEGATION, agrees=False))
    return audited(tmp_path / "a.db", wavering, base=replace(small(), survey=tuple(survey)))


def test_the_shell_restricts_the_models_kappas(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, some = (
        data(capsys, "show", path, "reliability"),
        data(capsys, "show", path, "reliability", "--as-people"),
    )
    assert not any(table["name"] == "restricted" for table in whole["tables"])
    assert {
        one["variant"]: (one["statements"], one["left_out"]) for one in figures(some, "restricted")
    } == {"paraphrase": (0, 4), "negation": (1, 3), "opposite": (0, 4), "label_order": (2, 2)}
    for found, of_negation, of_order in ((whole, 4, 4), (some, 1, 2)):
        for name, n in (("negation", of_negation), ("label_order", of_order)):
            assert {
                row["n"] + row["excluded"] for row in figures(found, "kappas", variant=name)
            } == {n}
    assert {row["kappa"]["undefined"] for row in figures(some, "kappas", variant="paraphrase")} == {
        "no pairs"
    }
    out = run(capsys, "show", path, "reliability", "--as-people", "--table", "mean_kappas")[1]
    assert "negation: over the 1 statement that people answered; left out: 3" in out


def test_without_answers_of_people_it_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nobody = audited(tmp_path / "a.db", wavering, base=replace(small(), survey=()))
    code, _, err = run(
        capsys, "show", nobody, "reliability", "--as-people", "--table", "mean_kappas"
    )
    assert code == 2
    assert "nobody has answered the instrument" in err


@pytest.mark.e2e
@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
async def test_the_screen_turns_between_all_statements_and_those_of_people(
    path: Path, size: tuple[int, int]
) -> None:
    app = WorkbenchApp(path, start="audit")
    async with app.run_test(size=size) as pilot:
        await judged(app, pilot)
        await press(app, pilot, "a", "tab")
        assert "over all statements" in judged_by(app)
        before = by_parts(app)
        assert {before[("negation", by)]["n"] for by in TEMPLATES} == {"4"}
        await press(app, pilot, "p")
        assert "over the statements that people answered" in judged_by(app)
        assert "negation: over the 1 statement that people answered; left out: 3" in screen_text(
            app
        )
        assert {by_parts(app)[("negation", by)]["n"] for by in TEMPLATES} == {"1"}
        await press(app, pilot, "p")
        assert by_parts(app) == before


@pytest.mark.e2e
async def test_where_nobody_was_asked_there_is_nothing_to_turn_to(tmp_path: Path) -> None:
    app = WorkbenchApp(
        audited(tmp_path / "a.db", wavering, base=replace(small(), survey=())), start="audit"
    )
    async with app.run_test(size=(80, 24)) as pilot:
        await judged(app, pilot)
        await press(app, pilot, "a")
        assert "Nobody has answered the instrument" in screen_text(app)
        await press(app, pilot, "p")
        assert "over all statements" in judged_by(app)


# ── every model beside people ─────────────────────────────────────────────────────────────────────


def test_every_model_stands_beside_people(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The means are those of each model's own agreement, over all statements or over those that
    people answered.
    """
    for flags, name in (((), "model_kappas"), (("--as-people",), "model_kappas_as_people")):
        found = data(capsys, "show", path, "consistency", "--table", name)
        alone = data(capsys, "show", path, "reliability", *flags)
        (table,) = found["tables"]
        model, people = table["rows"]
        for kind in ("paraphrase", "negation", "opposite"):
            means = figures(alone, "mean_kappas", variant=kind)
            assert model[kind] == means[0]["model"]
            assert people[kind] == means[0]["people"]
            if len(means) > 1:
                assert model[f"{kind}_flipped"] == means[1]["model"]
        assert people["model"] == "people"
        assert model["negation_statements"] == (1 if flags else 4)
        assert people["negation_statements"] is None


def test_every_model_says_what_is_missing(
    tmp_path: Path, path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nobody = audited(tmp_path / "nobody.db", wavering, base=replace(small(), survey=()))
    out = run(capsys, "show", nobody, "consistency", "--table", "model_kappas")[1]
    assert "Nobody has answered the instrument" in out
    code, _, err = run(capsys, "show", nobody, "consistency", "--table", "model_kappas_as_people")
    assert (code, "Nobody has answered the instrument" in err) == (2, True)
    code, _, err = run(
        capsys, "show", path, "consistency", "--table", "model_kappas", "--model", "nobody"
    )
    assert (code, "nobody" in err) == (2, True)


def test_the_book_of_consistency_has_the_models_kappas(path: Path, tmp_path: Path) -> None:
    made = consistency_book(path)
    restricted = made.table("model_kappas_as_people")
    assert [row.people for row in restricted.rows] == [False, True]
    assert restricted.rows[0].statements == {
        "paraphrase": 0,
        "negation": 1,
        "opposite": 0,
        "label_order": 2,
    }
    assert set(made.table("model_kappas").rows[0].statements.values()) == {4}
    nobody = consistency_book(
        audited(tmp_path / "nobody.db", wavering, base=replace(small(), survey=()))
    )
    assert "survey" in nobody.entry("model_kappas_as_people").empty
    assert not nobody.entry("model_kappas").empty


def consistency_book(path: Path) -> Book:
    with Store.open(path) as store:
        return book(judge_consistency(store))
