"""`workbench verdicts --audit questionnaire`: tables, sections, JSON, and what it refuses."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.test_commands import data, run
from tests.conftest import new_store
from tests.questionnaire_stores import Masses, card, ideal, panel, predict
from workbench.cli.questionnaire_cells import CELLS, bar
from workbench.domain.prompts import Probe
from workbench.pipeline.questionnaire_asked import TokenShares

ALL_WORDINGS = ("original", "paraphrase-1", "paraphrase-2")
AUDIT = ("--audit", "questionnaire", "--draws", "300")


@pytest.fixture
def asked(tmp_path: Path) -> Path:
    """A store in which a model knows every answer, and its base always says yes."""
    path = tmp_path / "panel.db"
    with new_store(path) as store:
        store.instruments.add(panel())
        conditions = ("qm", "zero-shot", "random")
        predict(store, lambda _: (0.9, 0.0), card("base"), conditions=conditions, variants=ALL_WORDINGS)
        predict(store, ideal(store), card("tuned"), conditions=conditions, words=False)
    return path


def test_the_main_table_is_the_papers_with_the_majority_beside_the_accuracy(
    asked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(capsys, "verdicts", asked, *AUDIT, "--model", "tuned")
    assert code == 0
    lines = [line.split() for line in out.splitlines()]
    assert "Condition qm, in percent" in out
    assert next(line for line in lines if line[:1] == ["t0"])[1:] == [
        *("t0", "is", "good.", "10", "50.0", "100.0", "±", "0.0", "▲"),
        *("+0.0", "±", "0.0", "[+0.0,", "+0.0]", "no", "bias", "shown", "5:5", "10.0"),
    ]
    assert "panel: 2 targets, 10 context questions, 10 respondents" in out
    assert "tuned · revision r1 · transformers · float32 · 40 prompts about 10 respondents" in out
    assert "Mean of 2 targets, ± over them: accuracy 100.0 ± 0.0" in out
    assert "All prompts: yes:no 13:6; p(yes) 68.4 ± 47.8 (sd)" in out
    assert "300 draws, seed 1" in out


def test_a_lean_is_said_by_the_interval(asked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = run(capsys, "verdicts", asked, *AUDIT, "--model", "base")[1]
    first = next(line for line in out.splitlines() if line.startswith("t0"))
    assert "+50.0 ± 16.7" in first
    assert "leans yes" in first
    assert "▲" not in first, "an accuracy that is the majority's is not above it"
    assert re.search(r"Liberal .* few$", out, re.MULTILINE), "of one target only nine people could be asked"
    assert "few: fewer than 10 respondents" in out


def test_the_first_condition_there_is_stands_in_for_qm_and_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "panel.db"
    with new_store(path) as store:
        store.instruments.add(panel())
        predict(store, lambda _: (0.2, 0.2), conditions=("zero-shot",))
    out = run(capsys, "verdicts", path, *AUDIT, "--show", "all")[1]
    assert "Condition zero-shot, in percent; it was not asked under qm" in out
    assert "nothing to compare; qm and another condition are needed, there is: zero-shot" in out
    assert "only the original was asked" in out


def test_sections_are_printed_as_they_are_named(asked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = run(capsys, "verdicts", asked, *AUDIT, "--show", "conditions,tokens", "--model", "tuned")[1]
    assert "Condition qm, in percent" not in out
    zero = next(line for line in out.splitlines() if line.startswith("zero-shot"))
    assert zero.split()[1] == "19.4", "|1/2 - 1/2| and |1/2 - 8/9| on average"
    assert "+19.4" in zero
    assert "Probability of the next token" in out
    assert f"{CELLS['yes'] * 9}{CELLS['no'] * 9}{CELLS['other'] * 11}{CELLS['rest']}" in out, "0.3, 0.3, 0.38, 0.02"
    everything = run(capsys, "verdicts", asked, *AUDIT, "--show", "all", "--target", "t0")[1]
    titles = (
        "Condition qm",
        "Conditions, target t0",
        "Wordings: ",
        "Probability of",
        "t0 under qm: ",
        "Liberal (below 0)",
    )
    for title in (*titles, "Pearson's correlation"):
        assert title in everything
    assert "\nt1" not in everything.split("Pearson")[0]


def test_whose_answers_were_missed_is_listed(asked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = run(capsys, "verdicts", asked, *AUDIT, "--show", "respondents", "--target", "t0", "--model", "base")[1]
    assert "t0 under qm: 5 of 10 answers missed" in out
    missed = [line.split() for line in out.splitlines() if line.startswith("r0")]
    assert [line[:4] for line in missed] == [[f"r0{i}", "disagree", "no", "yes"] for i in (1, 3, 5, 7, 9)]
    random = run(capsys, "verdicts", asked, *AUDIT, "--show", "respondents", "--target", "t1", "--condition", "random")
    assert "t1 under random: 1 of 9 answers missed" in random[1]


def test_models_are_compared_with_their_base(asked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = run(capsys, "verdicts", asked, *AUDIT, "--against", "base")[1]
    assert "tuned minus base under qm, over the same respondents" in out
    first = [line for line in out.splitlines() if line.startswith("t0")][-1].split()
    assert (first[1], first[4]) == ("-50.0", "+50.0")
    found = data(capsys, "verdicts", asked, *AUDIT, "--against", "base")["against"]
    assert found["base"] == "base"
    assert [row["target"] for row in found["models"]["tuned"]["qm"]] == ["t0", "t1", None]


def test_json_holds_every_figure_and_is_the_same_byte_for_byte(asked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ask = ("verdicts", asked, *AUDIT, "--target", "t0", "--seed", "7", "--json")
    first, again = run(capsys, *ask)[1], run(capsys, *ask)[1]
    assert first == again
    found = json.loads(first)
    assert found["options"] == {"masses": "top10", "variability": "sd", "error": "paired", "seed": 7, "draws": 300}
    assert found["workbench"]
    model = found["models"]["base"]
    assert model["code_versions"] == ["code-1"]
    assert (model["run"]["model"], model["run"]["scored"]) == ("base", model["prompts"])
    assert list(model["conditions"]) == ["qm", "zero-shot", "random"]
    figure = model["conditions"]["qm"]["targets"][0]
    assert (figure["respondents"], figure["bias"]["value"], figure["bias"]["n"]) == (10, pytest.approx(0.5), 10)
    assert figure["bias"]["low"] < 0.5 < figure["bias"]["high"]
    assert {row["condition"] for row in model["ablations"]} == {"zero-shot", "random"}
    wordings = model["variability"]["qm"]
    assert wordings["mean"] == pytest.approx(0)
    assert [one["wording"] for one in wordings["targets"][0]["wordings"]] == list(ALL_WORDINGS)
    shares = model["tokens"]["qm"]["t0"]
    assert sum(shares[name] for name in ("yes", "no", "other", "rest")) == pytest.approx(1)
    assert len(found["respondents"]["tuned"]["answers"]) == 10
    undefined = found["correlations"]["qm"][1]
    assert (undefined["r"], undefined["n"]) == (None, 2)
    assert undefined["undefined"]
    other = run(capsys, *ask[:-3], "--seed", "8", "--json")[1]
    assert json.loads(other)["models"]["base"]["conditions"] != model["conditions"], "another seed, other intervals"


def test_a_model_without_the_masses_asked_for_says_why_below_the_table(
    asked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(capsys, "verdicts", asked, *AUDIT, "--masses", "vocabulary", "--show", "all")
    assert code == 0
    assert "– (a)" in out
    assert "(a) undefined: " in out
    assert "tuned: the probability of yes and no over the whole vocabulary is not known of 40 of 40 prompts" in out
    tuned = data(capsys, "verdicts", asked, *AUDIT, "--masses", "vocabulary")["models"]["tuned"]
    accuracy = tuned["conditions"]["qm"]["targets"][0]["accuracy"]
    assert accuracy["value"] is None
    assert accuracy["undefined"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--rule", "printed"), "--rule is for verdicts of the audit reliability"),
        (("--low", "0.45"), "--low is for verdicts of the audit reliability"),
        (("--template", "x", "--baseline"), "--template, --baseline are for verdicts of the audit reliability"),
        (("--target", "c0"), "panel has no target 'c0'. Its targets: t0, t1"),
        (("--condition", "permuted-kept-1"), "there is: qm, zero-shot, random"),
        (("--model", "nobody"), "there are answers by: base, tuned"),
        (("--against", "nobody"), "nothing is known of 'nobody'; there is: base; tuned"),
        (("--against", "base", "--model", "base"), "no other is among those chosen"),
        (("--show", "respondents"), "name it with --target REF"),
        (("--show", "figures"), "choose targets, conditions"),
        (("--draws", "0"), "found 0 draws"),
        (("--dtype", "float16"), "there is: float32"),
        (("--instrument", "x"), "There is: panel"),
    ],
)
def test_a_mistake_is_named_with_what_there_is(
    asked: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...], said: str
) -> None:
    code, out, err = run(capsys, "verdicts", asked, *AUDIT, *options)
    assert (code, out) == (2, "")
    assert said in err


def test_options_of_questionnaires_are_refused_elsewhere(asked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "verdicts", asked, "--masses", "top10", "--target", "t0")
    assert code == 2
    assert "--masses, --target are for verdicts of the audit questionnaire" in err


def test_a_condition_that_one_model_lacks_is_said_of_that_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "panel.db"
    with new_store(path) as store:
        store.instruments.add(panel())
        predict(store, ideal(store), card("a"), conditions=("qm", "random"))
        predict(store, ideal(store), card("b"))
    code, out, _ = run(capsys, "verdicts", path, *AUDIT, "--condition", "random")
    assert code == 0
    assert "not asked under random; there is: qm" in out
    assert "Condition random, in percent" in out


def test_prompts_that_nobody_could_read_are_counted_beside_yes_and_no(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "panel.db"

    def by(probe: Probe) -> Masses:
        return (0.0, 0.0) if dict(probe.axes)["respondent"] in ("r01", "r02") else (0.9, 0.0)

    with new_store(path) as store:
        store.instruments.add(panel())
        predict(store, by)
    out = run(capsys, "verdicts", path, *AUDIT)[1]
    assert "yes:no:?" in out
    assert "8:0:2" in out
    assert "yes:no:? 15:0:4" in out


def test_a_bar_is_as_long_as_the_shares_whatever_the_rounding() -> None:
    for yes in (0.0, 0.016, 0.333, 0.5, 0.984):
        shares = TokenShares(yes, (1 - yes) / 3, (1 - yes) / 3, (1 - yes) / 3, 5)
        assert len(bar(shares)) == 30
    nan = float("nan")
    assert bar(TokenShares(nan, nan, nan, nan, 0)) == ""


def test_a_real_run_is_judged_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "panel.db"
    with new_store(path) as store:
        store.instruments.add(panel())
    ask = ("run", path, "--audit", "questionnaire", "--model", "scripted", "--conditions", "qm,zero-shot", "--yes")
    code, out, err = run(capsys, *ask)
    assert code == 0, out + err
    found = data(capsys, "verdicts", path, *AUDIT)
    assert found["notes"] == []
    model = found["models"]["scripted"]
    assert list(model["conditions"]) == ["qm", "zero-shot"]
    assert [row["respondents"] for row in model["conditions"]["qm"]["targets"]] == [10, 9]
    assert model["failed"] == model["outdated"] == 0
