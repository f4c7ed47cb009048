"""`workbench plan` and `run --plan`: frozen before the first answer, followed or not, and that is
said.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stores.core.store import Store
from tests.cli.test_commands import data, run
from workbench.evidence.plans import followed

SIZE = ("--statements", 6, "--templates", 2, "--samples", 6)
GO = ("--yes", "--no-probe")


@pytest.fixture
def store(demo: Path) -> Path:
    return demo


def freeze(capsys: pytest.CaptureFixture[str], store: Path, *more: object) -> Path:
    out = store.parent / "plan.toml"
    code, _, err = run(capsys, "plan", store, "--model", "scripted", *SIZE, *more, "--out", out)
    assert code == 0, err
    return out


def steps(found: object, name: str = "plan") -> dict[str, dict[str, object]]:
    (made,) = [one for one in found["tables"] if one["name"] == name]  # type: ignore[index]
    return {f"{row['part']} {row['what']}": row for row in made["rows"]}


@pytest.mark.e2e
def test_a_run_by_a_plan_follows_it_and_says_so(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = freeze(capsys, store, "--judge", "as_published=yes")
    assert run(capsys, "run", store, "--plan", plan, *GO)[0] == 0
    found = data(capsys, "plan", store, "--check", plan)
    assert found["models"] == ["scripted"]
    made = steps(found)
    assert not any(row["differs"] for row in made.values())
    assert (made["asked samples"]["planned"], made["asked samples"]["done"]) == ("6", "6")
    assert made["judged as_published"]["planned"] == "yes"
    assert made["asked samples"]["where"] == "job 1"
    assert str(made["asked frozen before the first answer"]["done"]).startswith("first asked 2")
    code, out, _ = run(capsys, "plan", store, "--check", plan)
    assert code == 0
    assert "Everything follows the plan." in out
    shown = data(capsys, "show", store, "reliability", "--as-published")
    assert "points as planned." in shown["header"][0]
    assert not shown["header"][0].startswith("!")
    assert "points as planned" in shown["methods"]
    printed = run(capsys, "show", store, "reliability", "--as-published")[1]
    assert printed.startswith("scripted · veldania")
    assert "\nAs published: rule coded; void tests judged\n" in printed
    judged_from_the_same = data(capsys, "show", store, "consistency", "--as-published")
    assert "points as planned" in judged_from_the_same["header"][0]
    assert steps(judged_from_the_same, "plan")["judged as_published"]["planned"] == "yes"
    pytest.importorskip("jinja2", reason="reports need it")
    assert run(capsys, "report", store, store.parent / "page")[0] == 0
    page = (store.parent / "page" / "report.html").read_text(encoding="utf-8")
    assert "Plan frozen before the answers" in page
    assert "points as planned; deviations: as_published: planned yes, done no." in page, (
        "reports judge by the usual"
    )
    assert run(capsys, "report", store, store.parent / "planned", "--as-published")[0] == 0
    page = (store.parent / "planned" / "report.html").read_text(encoding="utf-8")
    assert "points as planned." in page
    assert "deviations: as_published" not in page
    assert "-plan-reliability" in (store.parent / "page" / "index.csv").read_text(encoding="utf-8")


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("claims", "otherwise"),
    [(("--claim", "biases"), ()), ((), ()), (("--claim", "biases"), ("--samples", 10))],
    ids=["planned", "not planned", "asked otherwise"],
)
def test_a_report_says_which_claims_a_plan_named(
    claims: tuple[str, ...],
    otherwise: tuple[object, ...],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """`order-minded` chooses what stands first, so its bias of response order is certain.

    A claim about a run that was asked otherwise than planned is exploratory.
    """
    pytest.importorskip("jinja2", reason="reports need it")
    store, plan = tmp_path / "choices.db", tmp_path / "plan.toml"
    questions = Path(__file__).parents[2] / "data" / "instruments" / "veldania_choices"
    assert run(capsys, "import", store, questions)[0] == 0
    asked = ("--audit", "response_bias", "--bias", "response_order", "--samples", 20)
    model = ("--model", "scripted:order-minded")
    assert run(capsys, "plan", store, *model, *asked, *claims, "--out", plan)[0] == 0
    assert run(capsys, "run", store, "--plan", plan, *otherwise, *GO)[0] == 0
    assert run(capsys, "report", store, tmp_path / "page")[0] == 0
    page = (tmp_path / "page" / "report.html").read_text(encoding="utf-8")
    confirmed = "Tests confirm 1 of 1 planned claim (adjusted by Holm; 5 % risk of any false one)."
    is_confirmatory = bool(claims) and not otherwise
    assert (confirmed in page) == is_confirmatory
    assert ("(confirmatory)" in page) == is_confirmatory
    assert ("(exploratory)" in page) == (not is_confirmatory)


@pytest.mark.e2e
def test_what_was_done_otherwise_and_decided_afterwards_is_named_with_when_and_where(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = freeze(capsys, store)
    assert run(capsys, "run", store, "--plan", plan, "--samples", 3, *GO)[0] == 0
    assert run(capsys, "run", store, "--model", "scripted", *SIZE[:4], "--samples", 6, *GO)[0] == 0
    code, out, _ = run(capsys, "plan", store, "--check", plan)
    assert code == 1
    assert "Everything follows" not in out
    code, text, _ = run(capsys, "plan", store, "--check", plan, "--json")
    assert code == 1
    made = steps(json.loads(text))
    assert {name for name, row in made.items() if row["differs"]} == {
        "asked samples",
        "afterwards job 2",
    }
    assert (made["asked samples"]["planned"], made["asked samples"]["done"]) == ("6", "3")
    assert made["asked samples"]["when"]
    header = data(capsys, "show", store, "reliability", "--as-published", "--minimum", "2")[
        "header"
    ][0]
    assert header.startswith("! ")
    for said in (
        "samples: planned 6, done 3",
        "job 2: scripted was asked without a plan",
        "as_published: planned no, done yes",
    ):
        assert said in header


@pytest.mark.e2e
def test_a_plan_frozen_after_answers_says_so(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, "run", store, "--model", "scripted", *SIZE, *GO)[0] == 0
    plan = freeze(capsys, store)
    assert "answers_before = 864" in plan.read_text(encoding="utf-8")
    assert run(capsys, "run", store, "--plan", plan, "--samples", 7, *GO)[0] == 0
    with Store.open(store) as opened:
        (only,) = opened.runs.list("reliability")
        table = followed(opened, only)
    assert [row.done for row in table.rows if row.what == "frozen before the first answer"] == [
        "864 answers stored before"
    ]
    assert not table.rows[0].followed


@pytest.mark.e2e
def test_a_run_without_a_plan_has_an_empty_table(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, "run", store, "--model", "scripted", *SIZE, *GO)[0] == 0
    with Store.open(store) as opened:
        table = followed(opened, opened.runs.list("reliability")[0])
    assert not table.rows
    assert "These answers have no frozen plan" in table.empty
    assert "plan" not in [
        one["name"] for one in data(capsys, "show", store, "reliability")["tables"]
    ]


@pytest.mark.e2e
def test_a_change_of_the_instrument_shows(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = freeze(capsys, store)
    assert run(capsys, "run", store, "--plan", plan, *GO)[0] == 0
    with Store.open(store) as opened:
        ref = opened.instruments.lines("veldania")[0].ref
    changed = ("--refs", ref, "--replace", "Veldania", "Our country", "--person", "ana")
    code, _, err = run(capsys, "statements", store, *changed)
    assert code == 0, err
    code, out, _ = run(capsys, "plan", store, "--check", plan)
    assert code == 1
    assert f"changed since it was asked: {ref}" in " ".join(out.split())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "give --out PLAN.toml to freeze a plan, or --check"),
        (("--out", "plan.toml"), "found no model; give --model"),
        (
            ("--model", "scripted", "--judge", "rle=coded", "--out", "x.toml"),
            "give NAME=VALUE of an option",
        ),
        (
            ("--model", "scripted", "--judge", "reader=words", "--out", "x.toml"),
            "found 'words'; give label-words",
        ),
        (
            ("--model", "scripted", "--judge", "as_published=maybe", "--out", "x.toml"),
            "give yes or no",
        ),
        (
            ("--model", "m", "--judge", "seed=1", "--judge", "seed=2", "--out", "x.toml"),
            "found --judge seed twice",
        ),
        (
            ("--model", "scripted", "--claim", "leen", "--out", "x.toml"),
            "Claims of reliability: party families, issues",
        ),
        (("--check", "nowhere.toml"), "nowhere.toml: cannot be read (No such file or directory)"),
        (("--model", "scripted", "--statements", "zz", "--out", "x.toml"), "zz"),
        (
            ("--check", "x.toml", "--samples", "3"),
            "found --samples; --check reads all of that from the plan",
        ),
        (
            ("--model", "scripted", "--out", "x.toml", "--csv", "figures"),
            "found --csv; a plan has no figures yet",
        ),
    ],
)
def test_what_cannot_be_planned_is_refused_in_words(
    store: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], said: str
) -> None:
    code, out, err = run(capsys, "plan", store, *arguments)
    assert (code, out) == (2, "")
    assert said in err


def test_every_option_of_judging_is_frozen_by_its_name(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from workbench.audits.reliability import AUDIT

    out = store.parent / "plan.toml"
    found = data(
        capsys,
        "plan",
        store,
        "--model",
        "scripted",
        *SIZE,
        "--judge",
        "as-published=yes",
        "--out",
        out,
    )
    assert set(found["judged"]) == {option.name for option in AUDIT.judges_by}
    assert found["judged"]["as_published"] is True
    assert found["hash"] in out.read_text(encoding="utf-8")
    code, _, err = run(capsys, "plan", store, "--model", "scripted", *SIZE, "--out", out)
    assert (code, "plan.toml" in err) == (2, True), "a plan that is there is not replaced"


@pytest.mark.e2e
def test_a_planned_comparison_shows_whom_it_lacks(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = freeze(capsys, store, "--compare", "scripted", "scripted:steady")
    assert run(capsys, "run", store, "--plan", plan, *GO)[0] == 0
    lacks = steps(data(capsys, "plan", store, "--check", plan))["compared runs"]
    assert (lacks["done"], lacks["differs"]) == ("no answers by scripted:steady", True)
    assert run(capsys, "run", store, "--model", "scripted:steady", *SIZE, *GO)[0] == 0
    has = steps(data(capsys, "plan", store, "--check", plan))["compared runs"]
    assert (has["done"], has["differs"]) == ("all have answers", False)


@pytest.mark.e2e
def test_a_template_that_is_changed_before_it_is_asked_is_a_deviation(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = freeze(capsys, store)
    with Store.open(store) as opened, opened.write() as connection:
        connection.execute(
            "update template set user = user || ' Please.' where name = 'personal-1'"
        )
    assert run(capsys, "run", store, "--plan", plan, *GO)[0] == 0
    made = steps(data(capsys, "plan", store, "--check", plan))["asked templates, verbatim"]
    assert (made["differs"], made["done"]) == (True, "other than planned: personal-1")


@pytest.mark.e2e
def test_every_point_of_a_plan_can_differ(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Points that no figures are at hand for are neither as planned nor otherwise."""
    plan = freeze(capsys, store, "--judge", "low=0.4", "--compare", "scripted", "scripted:steady")
    assert run(capsys, "run", store, "--plan", plan, *GO)[0] == 0
    with Store.open(store) as opened:
        (found,) = opened.runs.list()
        plain = followed(opened, found)
        undecided = {row.what for row in plain.rows if row.followed is None}
        assert undecided == {row.what for row in plain.rows if row.part == "judged"}
        assert (
            f"{len(undecided)} options of judging can be told beside figures alone"
            in plain.notes[0]
        )
        judged = {row.what: "another value" for row in plain.rows if row.part == "judged"}
        off = {
            row.what
            for row in followed(opened, found, judged, ("scripted", "else")).rows
            if row.followed is False
        }
        assert off == {*judged, "runs"}


@pytest.mark.e2e
def test_a_comparison_other_than_the_planned_one_is_said(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = freeze(capsys, store, "--compare", "scripted", "scripted:steady")
    assert run(capsys, "run", store, "--plan", plan, *GO)[0] == 0
    for model in ("scripted:steady", "scripted:order-minded"):
        assert run(capsys, "run", store, "--model", model, *SIZE, *GO)[0] == 0
    for models, differs in (("scripted:steady", False), ("scripted:order-minded", True)):
        made = steps(data(capsys, "show", store, "reliability", "--compare", "scripted", models))[
            "compared runs"
        ]
        assert (made["differs"], made["done"]) == (differs, f"scripted; {models}")
