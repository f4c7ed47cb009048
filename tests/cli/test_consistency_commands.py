"""`workbench show STORE consistency` and `workbench pilot` as a script sees them."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stores.core.store import Store
from tests.cli.test_commands import rows, run
from tests.conftest import instrument
from workbench.audits.consistency import AUDIT
from workbench.audits.consistency.judged import judge_consistency
from workbench.audits.consistency.options import OFFERED, ConsistencyOptions
from workbench.audits.consistency.stances import MEASURES
from workbench.audits.reported import ReportRequest
from workbench.cli.main import main
from workbench.domain.instruments import Party
from workbench.errors import UsageError
from workbench.evidence.runs import AnswerSelection


def data(capsys: pytest.CaptureFixture[str], *arguments: object) -> Any:
    code, out, err = run(capsys, *arguments, "--json")
    assert code == 0, err
    return json.loads(out)


def names(found: Any) -> list[str]:
    return [row["respondent"] for row in rows(found, "respondents")]


@pytest.fixture(scope="module")
def asked(made_demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two models that agree with everything that they can read: reliable where only sampling and
    paraphrase count.

    Tests only read it.
    """
    folder = tmp_path_factory.mktemp("asked")
    path = Path(shutil.copy(made_demo, folder / "demo.db"))
    for name, agree in (("yes", 1.0), ("no", 0.0)):
        (folder / f"{name}.toml").write_text(
            f"agree = {agree}\nunreadable = 0.0\n", encoding="utf-8"
        )
        ask = (
            "--model",
            f"scripted:{folder / name}.toml",
            "--statements",
            "12",
            "--templates",
            "2",
            "--samples",
            "6",
        )
        assert main(["run", str(path), *ask, "--yes"]) == 0
    return path


LENIENT = ("--tests", "sampling,paraphrase")


def models(store: Path) -> list[str]:
    with Store.open(store) as opened:
        return [run_.model for run_ in opened.runs.list("reliability")]


def test_baselines_alone_are_in_no_report_and_no_line_of_home(demo: Path) -> None:
    with Store.open(demo) as store:
        assert AUDIT.narrowed(store, AnswerSelection())
        assert list(AUDIT.reported(store, ReportRequest())) == []
        assert list(AUDIT.home(store, {})) == []


def test_baselines_and_parties_need_no_answers(
    demo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = data(capsys, "show", demo, "consistency", "--formula", "all")
    assert names(found) == ["always agree", "always disagree"]
    agrees = rows(found, "leaning", respondent="always agree")
    assert [row["family"] for row in agrees] == ["left", "center", "right"]
    assert all(0 < row["share"]["value"] < 1 for row in agrees)
    assert all(
        row["stance"]["value"] == 1.0
        for row in rows(found, "issues", "tacl", respondent="always agree")
    )
    assert {len(rows(found, "party_stances", formula)) for formula in OFFERED} == {7}


@pytest.mark.e2e
def test_the_text_says_what_each_formula_measures(
    demo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(capsys, "show", demo, "consistency", "--formula", "all")
    more = ("party_stances", "people")
    out += run(capsys, "show", demo, "consistency", "--table", *more)[1]
    assert code == 0
    assert "No model has answered yet" in out
    for sentence in MEASURES.values():
        assert sentence in out
    assert "measures agreeing, not supporting" in out
    assert "vd/Lantern League" in out
    assert not re.search(r"\bnan\b", out)


@pytest.mark.e2e
def test_models_stand_beside_baselines_and_are_compared(
    asked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = models(asked)
    found = data(capsys, "show", asked, "consistency", *LENIENT)
    assert names(found) == [first, second, "always agree", "always disagree"]
    side_by_side = data(capsys, "show", asked, "consistency", *LENIENT, "--compare", first, second)
    compared = rows(side_by_side, "compared_leaning", second, first)
    assert {row["difference"]["n"] for row in compared} == {12}
    said = [
        rows(found, "leaning", respondent=name)[0]["share"]["value"] for name in (first, second)
    ]
    assert compared[0]["difference"]["value"] == pytest.approx(said[1] - said[0])
    (change,) = rows(side_by_side, "changes")
    assert (change["verdict"], change["n"]) == ("reliable stance", 12)
    only = data(capsys, "show", asked, "consistency", *LENIENT, "--model", first)
    assert names(only) == [first, "always agree", "always disagree"]


@pytest.mark.e2e
def test_a_view_counts_one_kind_of_match(asked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, _ = models(asked)
    shares = {
        view: [
            row["share"]["value"]
            for row in rows(
                data(
                    capsys, "show", asked, "consistency", *LENIENT, "--model", first, "--view", view
                ),
                "leaning",
            )
        ]
        for view in ("all", "agree", "disagree")
    }
    assert [
        a + d for a, d in zip(shares["agree"], shares["disagree"], strict=True)
    ] == pytest.approx(shares["all"])


@pytest.mark.e2e
def test_a_number_leads_to_its_statements(asked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, _ = models(asked)
    base = ("show", asked, "consistency", *LENIENT, "--model", first)
    of_issue = ("issue_statements", first, "open_foreign_policy")
    of_party = ("party_statements", first, "vd", "Lantern League")
    named = data(capsys, *base, "--table", *of_issue, *of_party)
    assert len(named["tables"]) == 2
    found = data(capsys, *base)
    stance = rows(found, "issues", "signed")[0]
    behind = rows(named, *of_issue)
    assert len(behind) == stance["supporting"] + stance["opposing"] > 0
    assert sum(row["supports"] - row["opposes"] for row in behind) == sum(
        row["plus_agree"] + row["minus_disagree"] - row["plus_disagree"] - row["minus_agree"]
        for row in rows(
            found, "issues_by_template", "signed", respondent=first, issue="open_foreign_policy"
        )
    )
    assert len(rows(named, *of_party)) == 12
    code, out, _ = run(capsys, *base, "--table", *of_issue, *of_party)
    assert code == 0
    assert all(row["statement"] in out for row in behind)


@pytest.mark.e2e
def test_methods_name_every_choice(asked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, _ = models(asked)
    code, out, _ = run(
        capsys, "show", asked, "consistency", *LENIENT, "--methods", "--seed", 7, "--resamples", 50
    )
    assert code == 0
    for told in (
        first,
        "sampling, paraphrase",
        "0.45 and 0.55",
        "50 bootstrap",
        "seed 7",
        "below 4 left",
        "6 answers per prompt",
    ):
        assert told in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("--table", "issue_statements", "always agree", "peace"),
            "there is no policy issue 'peace'",
        ),
        (("--table", "party_statements", "always agree", "Larks"), "which names no row"),
        (
            ("--table", "party_statements", "always agree", "vd", "Larks"),
            "there is no party vd/Larks",
        ),
        (("--table", "given", "person", "nobody"), "there is no person nobody"),
        (("--table", "given", "person"), "there is no person. Available: party COUNTRY NAME"),
        (("--table", "given", "party", "Larks"), "there is no party Larks"),
        (
            ("--table", "template_statements", "nobody", "personal-1"),
            "no model is named 'nobody' here",
        ),
        (
            ("--table", "parties"),
            "there is no table 'parties'. Available: issues, leaning, party_stances",
        ),
        (("--compare", "a", "b"), "there is no run or model 'a'"),
        (("--model", "nobody"), "no reliability answers by nobody"),
        (("--instrument", "none"), "none"),
        (("--seed", "-1"), "-1"),
        (("--resamples", "-1"), "-1"),
    ],
)
def test_what_is_not_there_is_said_before_any_table(
    arguments: tuple[str, ...], message: str, demo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, "show", demo, "consistency", *arguments)
    assert (code, out) == (2, "")
    assert message in err


def test_labels_of_people_are_not_those_of_the_source(
    demo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gold = data(capsys, "show", demo, "consistency")
    people = data(capsys, "show", demo, "consistency", "--labels", "people")
    assert gold["labelled_statements"] > 0
    assert people["labelled_statements"] == 0
    assert rows(gold, "issues", "signed", respondent="always agree")
    assert "issues" not in {table["name"] for table in people["tables"]}, (
        "nobody labelled for an issue"
    )


def test_the_pipeline_refuses_unknown_labels_and_an_empty_store(tmp_path: Path, demo: Path) -> None:
    with Store.open(demo) as store, pytest.raises(UsageError, match="gold or people"):
        judge_consistency(store, options=ConsistencyOptions(labels="mine"))  # type: ignore[arg-type]
    with (
        Store.open(tmp_path / "empty.db", create=True) as store,
        pytest.raises(UsageError, match="no instrument"),
    ):
        judge_consistency(store)


@pytest.mark.e2e
def test_two_samplings_of_one_model_are_two_respondents(
    demo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for temperature in (1, 0.5):
        ask = (
            "--model",
            "scripted",
            "--statements",
            3,
            "--templates",
            1,
            "--samples",
            3,
            "--temperature",
            temperature,
        )
        assert run(capsys, "run", demo, *ask, "--yes")[0] == 0
    found = data(capsys, "show", demo, "consistency")
    asked_here = [name for name in names(found) if not name.startswith("always")]
    assert len(asked_here) == 2
    assert all(name.startswith("scripted · T ") for name in asked_here)


PILOT = ("--model", "scripted", "--statements", 6, "--samples", 4, "--seed", 3)


@pytest.mark.e2e
def test_a_pilot_draws_asks_and_ranks(demo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = data(capsys, "pilot", demo, *PILOT, "--dry-run")
    assert plan["job"] is None
    assert len(plan["statements"]) == 6
    found = data(capsys, "pilot", demo, *PILOT, "--yes")
    assert found["statements"] == plan["statements"]
    assert found["job"] == 1
    ranks = rows(found, "templates")
    assert [row["rank"] for row in ranks] == sorted(row["rank"] for row in ranks)
    assert all(row["readable"]["n"] > 0 for row in ranks)
    assert sum(row["chosen"] for row in ranks if row["address"] == "personal") <= 3
    weaker = rows(found, "weaker_tests")
    assert [row["tests"] for row in weaker][-1] == "all"
    assert all(row["passed"]["mean"] >= weaker[-1]["passed"]["mean"] for row in weaker)
    again = data(capsys, "pilot", demo, *PILOT, "--yes")
    assert again["job"] is None  # everything is stored
    assert rows(again, "templates") == ranks
    more = ("--model", "scripted", "--statements", 12, "--templates", 1, "--samples", 4, "--yes")
    assert run(capsys, "run", demo, *more)[0] == 0
    assert (
        rows(data(capsys, "pilot", demo, "--rank", "--statements", 6, "--seed", 3), "templates")
        == ranks
    )
    assert len(data(capsys, "pilot", demo, "--rank")["statements"]) >= 12


@pytest.mark.e2e
def test_a_pilot_as_text_names_sample_ranking_and_weaker_tests(
    demo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, "pilot", demo, *PILOT, "--yes")
    assert code == 0, err
    for told in (
        "drawn with seed 3",
        "Templates by share",
        "Under weaker sets",
        "Distances between parties",
    ):
        assert told in out
    assert not re.search(r"\bnan\b", out)


def test_a_pilot_is_not_started_without_consent_or_a_model(
    demo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = run(capsys, "pilot", demo, *PILOT)
    assert (code, "--yes" in err) == (2, True)
    code, _, err = run(capsys, "pilot", demo)
    assert (code, "--model" in err) == (2, True)
    for given in (
        (*PILOT, "--rank", "--samples", 4),
        (*PILOT, "--rank", "--top-k", 0),
        (*PILOT, "--sampling", "T 1"),
    ):
        code, _, err = run(capsys, "pilot", demo, *given)
        assert (code, f"found {given[-2]}" in err or "found --samples" in err) == (2, True), err
    code, _, err = run(
        capsys, "pilot", demo, *PILOT, "--yes", "--detach", "--csv", demo.parent / "figures"
    )
    assert (code, "--csv" in err) == (2, True)
    code, _, err = run(capsys, "pilot", demo, "--rank", "--family", "direct")
    assert (code, "no reliability answers" in err) == (2, True)
    code, _, err = run(capsys, "pilot", demo, "--model", "scripted", "--statements", 0)
    assert (code, "--statements: found 0" in err) == (2, True)
    assert data(capsys, "jobs", demo) == []


@pytest.mark.e2e
def test_a_ranking_of_what_was_not_asked_is_refused(
    demo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, "pilot", demo, *PILOT, "--yes")[0] == 0
    code, _, err = run(capsys, "pilot", demo, "--rank", "--family", "generation")
    assert code == 2
    assert "generation" in err


@pytest.mark.e2e
def test_parties_that_are_left_out_are_counted_for_each_who_was_asked_other_countries(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "two.db"
    small = instrument("a-1", "a-2")
    first, second = small.statements
    parties = (Party("vd", "Larks", 2.5), Party("ot", "Gulls", 8.0))
    with Store.open(path, create=True) as store:
        store.instruments.add(
            replace(small, statements=(first, replace(second, country="ot")), parties=parties)
        )
    (tmp_path / "one.toml").write_text("agree = 1.0\n", encoding="utf-8")
    for model, refs in (("scripted", "a-1,a-2"), (f"scripted:{tmp_path / 'one.toml'}", "a-1")):
        code, out, err = run(
            capsys, "run", path, "--model", model, "--statements", refs, "--samples", 3, "--yes"
        )
        assert code == 0, out + err
    _, out, _ = run(capsys, "show", path, "consistency")
    assert (
        "parties left out of scripted, always agree, always disagree: 0 without a left-right "
        "position, 0 from" in out
    )
    assert "one.toml: 0 without a left-right position, 1 from countries not asked" in out
    _, out, _ = run(capsys, "show", path, "consistency", "--model", "scripted")
    assert "\nparties left out: 0 without a left-right position, 0 from countries not asked" in out


@pytest.mark.e2e
def test_every_form_holds_every_table(
    asked: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = ("show", asked, "consistency", *LENIENT)
    stems = {"-".join((one["name"], *one["subject"])) for one in data(capsys, *base)["tables"]}
    places = {form: tmp_path / form for form in ("csv", "parquet", "latex")}
    page = tmp_path / "page.html"
    asked_for = [part for form, place in places.items() for part in (f"--{form}", place)]
    code, out, err = run(capsys, *base, *asked_for, "--html", page)
    assert code == 0, err
    assert all(len(list(place.iterdir())) == len(stems) for place in places.values())
    assert str(page) in out
    text = page.read_text(encoding="utf-8")
    assert text.count("<section") == len(stems), "one each; a table without rows says why"
    assert "Political leaning: all matches" in text
    leaning = (places["csv"] / "leaning.csv").read_text(encoding="utf-8").splitlines()
    assert leaning[0].startswith(
        "respondent,family,share,share_low,share_high,share_n,share_excluded,share_undefined"
    )
    assert len(leaning) == 1 + 4 * 3
    code, _, err = run(capsys, *base, "--csv", places["csv"])
    assert (code, "--force" in err) == (2, True)
    assert run(capsys, *base, "--csv", places["csv"], "--force")[0] == 0
    code, _, err = run(capsys, *base, "--force")
    assert (code, "--csv" in err) == (2, True)


def test_a_pilot_ranks_parties_before_any_model_was_asked(
    demo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """How far parties are apart on a coarser scale of answers (TACL, Table 8) takes no model's
    answers.
    """
    found = data(capsys, "pilot", demo, "--rank")
    assert [one["name"] for one in found["tables"]] == ["templates", "answer_scales"]
    assert rows(found, "templates") == []
    assert [(row["country"], row["statements"] > 0) for row in rows(found, "answer_scales")] == [
        ("vd", True)
    ]
    out = run(capsys, "pilot", demo, "--rank")[1]
    assert "No model has answered veldania yet. Ask one: workbench pilot" in out
    code, _, err = run(capsys, "pilot", demo, "--rank", "--model", "nobody")
    assert (code, "nobody" in err) == (2, True)
