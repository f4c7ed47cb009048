"""`--compare A B …` of every audit, as a script and as a person see it."""

from __future__ import annotations

import csv
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from stores.core.store import Store
from tests import template_stores
from tests.cli.test_commands import data, rows, run
from tests.template_stores import play
from workbench.audits.comparison.book import changes_table
from workbench.audits.reliability.compared import compare_judged
from workbench.audits.reliability.judge import judge
from workbench.audits.reliability.verdicts import run_verdicts
from workbench.cli.main import main
from workbench.domain.rulings import RulingVerdict
from workbench.evidence import ruling_subjects

ASK = ("--statements", 12, "--templates", 2, "--yes", "--no-probe")


PERSONAS = {"yes": 1.0, "mostly": 0.7, "no": 0.0}


@pytest.fixture(scope="module")
def asked(made_demo: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """Three models that agree always, mostly and never. Tests only read it."""
    path = Path(shutil.copy(made_demo, tmp_path_factory.mktemp("asked") / "demo.db"))
    return path, [
        ask(path, path.with_name(f"{name}.toml"), agree) for name, agree in PERSONAS.items()
    ]


def ask(path: Path, persona: Path, agree: float, *more: object, samples: int = 6) -> str:
    persona.write_text(f"agree = {agree}\nunreadable = 0.0\n", encoding="utf-8")
    model = f"scripted:{persona}"
    assert (
        main(["run", str(path), "--model", model, *map(str, (*ASK, "--samples", samples, *more))])
        == 0
    )
    return model


@pytest.mark.e2e
def test_verdicts_of_three_runs_stand_side_by_side(
    asked: tuple[Path, list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    path, names = asked
    found = data(capsys, "show", path, "reliability", "--compare", *names)
    assert found["compared"] == names
    assert found["differ_in"] == ["model"]
    assert [row["run"] for row in rows(found, "compared_runs")] == names
    changes = rows(found, "changes")
    assert len(changes) == 3 * 8, "three pairs, seven tests and the stance"
    (sampling,) = [
        row
        for row in changes
        if (row["verdict"], row["first"], row["second"]) == ("sampling", names[0], names[1])
    ]
    items = rows(found, "changed_items", "sampling")
    lost = [row for row in items if (row["verdict_1"], row["verdict_2"]) == ("pass", "fail")]
    decided = [row for row in items if {row["verdict_1"], row["verdict_2"]} <= {"pass", "fail"}]
    assert (sampling["common"], sampling["n"], sampling["lost"]) == (12, len(decided), len(lost))
    assert sampling["undecided"] == 12 - len(decided)
    assert len(lost) > 6
    assert sampling["holm"] >= sampling["p"]
    assert sampling["difference"]["interval"] == "difference of paired shares"


@pytest.fixture(scope="module")
def unequal(made_demo: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """Two models that were asked 4 and 12 times. Tests only read it."""
    path = Path(shutil.copy(made_demo, tmp_path_factory.mktemp("unequal") / "demo.db"))
    asked_4 = ask(path, path.with_name("few.toml"), 0.8, samples=4)
    asked_12 = ask(path, path.with_name("many.toml"), 0.8, samples=12)
    return path, [asked_4, asked_12]


@pytest.mark.e2e
def test_the_pooled_share_and_the_number_of_answers_stand_beside_each_run(
    unequal: tuple[Path, list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    path, names = unequal
    found = data(capsys, "show", path, "reliability", "--compare", *names)
    compared_runs = rows(found, "compared_runs")
    assert [row["answers_a_prompt"] for row in compared_runs] == ["4", "12"]
    for row in compared_runs:
        alone = data(capsys, "show", path, "reliability", "--model", row["run"])
        [of_all_tests] = rows(alone, "pooled", test="all")
        assert row["main"] == of_all_tests["pooled"]
        assert row["main"]["n"] == 12
        assert row["pass_the_published_test"]["value"] == of_all_tests["judged"]["value"]
    said = " ".join(note for table in found["tables"] for note in table["notes"])
    assert f"a prompt has unequally many answers ({names[0]} 4, {names[1]} 12)" in said
    code, out, _ = run(capsys, "show", path, "reliability", "--compare", *names)
    assert code == 0
    [header] = [
        line
        for line in out.splitlines()
        if "keep their stance" in line and "answers a prompt" in line
    ]
    assert header.index("keep their stance") < header.index("answers a prompt")


@pytest.mark.e2e
def test_verdicts_on_unequally_many_answers_share_no_picture(
    unequal: tuple[Path, list[str]], tmp_path: Path
) -> None:
    path, names = unequal
    with Store.open(path) as store:
        runs = {run.named: run for run in store.runs.list("reliability")}
        reports = {name: run_verdicts(store, runs[name]).report for name in names}
        instruments = {name: store.runs.instrument(runs[name]) for name in names}
    side_by_side = compare_judged(runs, reports, instruments)
    assert changes_table(side_by_side).pictures, "at four answers each"
    settled = {
        name: judge(
            replace(
                report.counts, until_settled=np.zeros(report.counts.positive.shape, dtype=np.bool_)
            )
        )
        for name, report in reports.items()
    }
    apart = compare_judged(runs, settled, instruments)
    assert changes_table(apart).pictures == ()
    assert "There is no picture of these shares: a prompt has unequally many answers" in str(
        changes_table(apart).notes
    )


@pytest.mark.e2e
def test_rulings_that_count_are_said_of_compared_runs(
    asked: tuple[Path, list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    original, names = asked
    path = Path(shutil.copy(original, tmp_path / "ruled.db"))
    compare = ("show", path, "reliability", "--compare", *names[:2])
    with Store.open(path) as store:
        assert "ruling" not in run(capsys, *compare)[1]
        ref = store.runs.cells(store.runs.list("reliability")[0])[0][0]
        wording = ruling_subjects.find_subject(store, f"{ref}/negation", None)
        ruling_subjects.add_ruling(
            store,
            wording,
            RulingVerdict.WORDING_AT_FAULT,
            auditor="otto",
            reason="unclear",
            reading=None,
        )
    told = " ".join(run(capsys, *compare)[1].split())
    assert "1 ruling: 1 wording left out;" in told
    plain = " ".join(run(capsys, *compare, "--without-rulings")[1].split())
    assert "Without 1 ruling: 1 wording left out with it" in plain


@pytest.mark.e2e
def test_a_person_sees_what_changed_and_by_how_much(
    asked: tuple[Path, list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    path, names = asked
    code, out, _ = run(capsys, "show", path, "reliability", "--compare", *names[:2])
    assert code == 0
    for words in (
        "What differs: model.",
        "12 statements asked of all; left out: none.",
        "Changes between the runs",
    ):
        assert words in " ".join(out.split())
    assert "sampling: statements whose verdict changed" in out


def test_versions_of_one_model_are_a_line_with_its_tests(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = play(tmp_path / "versions.db", [("ask", "one chat", "en")])
    with Store.open(path) as store:
        for revision in ("r2", "r3"):
            template_stores.ask(store, "one", "chat", "en", template_stores.REFS, revision=revision)
    code, _, err = run(capsys, "show", path, "reliability", "--compare", "one", "two")
    assert code == 2
    assert "'one' was asked in 3 ways; name one: one · r1; one · r2; one · r3" in err
    found = data(
        capsys, "show", path, "reliability", "--compare", "one · r1", "one · r2", "one · r3"
    )
    assert found["differ_in"] == ["version"]
    line = rows(found, "over_time", verdict="stance")
    assert [row["version"] for row in line] == ["revision r1", "revision r2", "revision r3"]
    assert [row["difference"] is None for row in line] == [True, False, False]
    tests = rows(found, "over_time_tests")
    assert {(row["versions"], row["df"]) for row in tests} == {(3, 2)}
    assert {row["verdict"] for row in tests} == {row["verdict"] for row in rows(found, "over_time")}


@pytest.mark.e2e
def test_runs_that_do_not_compare_are_refused_in_words(
    asked: tuple[Path, list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, names = asked
    for given, words in (
        ((names[0],), "give two or more runs from"),
        ((names[0], "nobody"), "there is no run or model 'nobody'"),
        ((names[0], names[0]), "twice"),
    ):
        code, out, err = run(capsys, "show", path, "reliability", "--compare", *given)
        assert (code, out) == (2, "")
        assert words in err


@pytest.mark.e2e
def test_only_templates_that_all_were_asked_count(
    asked: tuple[Path, list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made, names = asked
    path = Path(shutil.copy(made, tmp_path / "more.db"))
    more = ask(path, tmp_path / "more.toml", 0.9, "--templates", 3)
    found = data(capsys, "show", path, "reliability", "--compare", names[0], more)
    said = " ".join(found["tables"][0]["notes"])
    assert f"{more}: answers to " in said
    assert "do not count, because another run lacks these templates" in said
    assert {row["common"] for row in rows(found, "changes")} == {12}


@pytest.mark.e2e
def test_languages_are_compared_unpaired(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = play(tmp_path / "bilingual.db", [("ask", "one chat", "en"), ("ask", "one chat", "de")])
    found = data(capsys, "show", path, "reliability", "--compare", "one · en", "one · de")
    assert found["differ_in"] == ["language"]
    assert {row["untested"][:8] for row in rows(found, "changes")} == {"unpaired"}
    assert all(row["p"] is None for row in rows(found, "changes"))


@pytest.mark.e2e
def test_a_report_holds_runs_side_by_side(
    asked: tuple[Path, list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, names = asked
    out = tmp_path / "out"
    compared = (
        "--audit",
        "reliability",
        "--answers",
        "none",
        "--table",
        "changes",
        "--compare",
        *names,
    )
    assert run(capsys, "report", path, out, *compared)[0] == 0
    page = (out / "report.html").read_text(encoding="utf-8")
    assert f"Reliability side by side: {', '.join(names)}" in page
    assert "McNemar" in (out / "methods.md").read_text(encoding="utf-8")
    assert "Adjusted p is below 0.05" in page
    printed_ = rows(data(capsys, "show", path, "reliability", "--compare", *names), "changes")
    (path_,) = (out / "tables").glob("*-changes-*.csv")
    with path_.open(encoding="utf-8", newline="") as file:
        written = list(csv.DictReader(file))
    assert [(row["verdict"], row["lost"], row["gained"]) for row in written] == [
        (row["verdict"], str(row["lost"]), str(row["gained"])) for row in printed_
    ]
    code, _, err = run(capsys, "report", path, tmp_path / "none", "--compare", names[0], "nobody")
    assert (code, "no audit has answers by two of the runs" in err) == (2, True)
    assert not (tmp_path / "none").exists()
