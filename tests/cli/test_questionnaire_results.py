"""`workbench verdicts --audit questionnaire`: tables, sections, JSON, and what it refuses."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest

from stores.store import Store
from tests.cli.test_commands import data, run
from tests.conftest import new_store
from tests.questionnaire_stores import Masses, card, ideal, panel, people, predict
from workbench.cli.questionnaire_cells import CELLS, bar, percent, signed
from workbench.domain.prompts import Probe
from workbench.domain.questionnaires import Respondent
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
    assert "▲ above the majority's answer (maj.): the interval leaves it out" in out
    assert "panel: 2 targets, 10 context questions, 10 respondents" in out
    assert "tuned · revision r1 · transformers · float32 · encoding 1 · 40 prompts about 10 respondents" in out
    assert "Mean of 2 targets, ± over targets, [ ] over respondents: accuracy 100.0 ± 0.0 [100.0, 100.0] few" in out
    assert "|bias| is a mean of absolute values: noise only adds to it" in out
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
    assert (first[1], first[2], first[5]) == ("10", "-50.0", "+50.0")
    assert re.search(r"^t1 .* few$", out, re.MULTILINE), "nine people were asked for by both"
    assert re.search(r"^mean, of .* few$", out, re.MULTILINE), "an average is no surer than its targets"
    (found,) = data(capsys, "verdicts", asked, *AUDIT, "--against", "base")["against"]
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
    assert len(found["respondents"]["tuned"][0]["answers"]) == 10
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
        (("--draws", "1"), "found 1 draws; give 100 or more"),
        (("--draws", "99999999"), "at most 100,000"),
        (("--seed", "-1"), "found the seed -1"),
        (("--show", ""), "nothing after --show"),
        (("--condition", " "), "nothing after --condition"),
        (("--against", ","), "nothing after --against"),
        (("--condition", "permuted"), "there is: qm, zero-shot, random"),
        (("--condition", "permutd"), "no condition is named 'permutd'"),
        (("--against", "base,tuned"), "no other is among those chosen"),
        (("--force",), "give the folder"),
        (("--csv", "here", "--json"), "give one of them"),
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
    with Store.open(path) as store:
        twins = [Respondent(f"twin-{one.name}", one.answers) for one in people(2)]
        store.questionnaires.add_answers("panel", twins)
    for more, counted in (("--dry-run", [10, 9]), ("--yes", [12, 10])):
        assert "0 to score" in run(capsys, *ask[:-1], "--variants", "original", more)[1]
        again = data(capsys, "verdicts", path, *AUDIT)["models"]["scripted"]["conditions"]
        for of in ("qm", "zero-shot"):
            assert [row["respondents"] for row in again[of]["targets"]] == counted, "prompts of the same text are there"


def test_an_accuracy_has_a_mark_only_where_its_interval_leaves_out_the_majority(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "panel.db"

    def by(probe: Probe) -> Masses:  # right on 7 of 12 people, where the majority's answer is right on 6
        number = int(dict(probe.axes)["respondent"][1:])
        return (0.9, 0.0) if number % 2 == 0 or number < 2 else (0.0, 0.9) if number == 3 else (0.9, 0.0)

    with new_store(path) as store:
        store.instruments.add(panel(12))
        predict(store, by)
    out = run(capsys, "verdicts", path, *AUDIT)[1]
    first = next(line for line in out.splitlines() if line.startswith("t0"))
    assert "58.3 ± 14.9" in first
    assert "▲" not in out
    assert "Accuracy above the majority's, whatever the interval (underlined in the published table 2): t0" in out
    accuracy = data(capsys, "verdicts", path, *AUDIT)["models"]["oracle"]["conditions"]["qm"]["targets"][0]["accuracy"]
    assert accuracy["low"] < 0.5 < accuracy["value"]


def test_a_figure_of_one_person_is_marked_and_so_are_the_averages_that_hold_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "panel.db"
    with new_store(path) as store:
        store.instruments.add(panel(1))
        predict(store, lambda _: (0.9, 0.0))
    out = run(capsys, "verdicts", path, *AUDIT, "--show", "targets,axis")[1]
    (first,) = (line for line in out.splitlines() if line.startswith("t0"))
    assert "few" in first.split()
    assert "panel: 2 targets, 10 context questions, 1 respondent\n" in out
    assert "1 prompt about 1 respondent\n" in out
    assert "Mean of 1 target, " in out
    (mean,) = (line for line in out.splitlines() if line.startswith("Mean of"))
    assert mean.count("few") == 2
    assert "axis ± over targets, [ ] over respondents" in out


def test_a_correlation_over_figures_of_few_people_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "panel.db"
    with new_store(path) as store:
        store.instruments.add(panel(6))
        for name, yes in (("a", 0.9), ("b", 0.2), ("c", 0.4)):
            predict(store, lambda _, yes=yes: (yes, 0.9 - yes), card(name))  # type: ignore[misc]
    out = run(capsys, "verdicts", path, *AUDIT, "--show", "correlation")[1]
    assert "6 of the 6 points rest on fewer than 10 respondents" in out
    alone = run(capsys, "verdicts", path, *AUDIT, "--show", "correlation", "--model", "a")[1]
    assert [line.split()[0] for line in alone.splitlines() if line.startswith(("all", "t0", "t1"))] == ["all"]
    assert "Of single targets there is none: each has at most 1 model." in alone


def test_json_holds_what_was_asked_for(asked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = data(capsys, "verdicts", asked, *AUDIT, "--show", "targets,tokens", "--condition", "random,zero-shot")
    assert found["shown"] == {"sections": ["targets", "tokens"], "condition": "random,zero-shot", "target": None}
    model = found["models"]["base"]
    assert list(model["conditions"]) == list(model["tokens"]) == ["zero-shot", "random"]
    assert not {"ablations", "variability"} & set(model)
    assert "correlations" not in found
    one = data(capsys, "verdicts", asked, *AUDIT, "--target", "t1", "--against", "base")
    of = one["models"]["base"]
    assert [row["target"] for row in of["conditions"]["qm"]["targets"]] == ["t1"]
    assert {row["target"] for row in of["ablations"]} == {"t1"}
    assert list(of["tokens"]["qm"]) == ["t1"]
    assert [row["target"] for row in one["against"][0]["models"]["tuned"]["qm"]] == ["t1"]
    assert [row["target"] for row in one["correlations"]["qm"]] == [None, "t1"]


def test_groups_of_conditions_and_several_bases_are_taken_apart(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "panel.db"
    with new_store(path) as store:
        store.instruments.add(panel())
        for name in ("a", "b", "c"):
            predict(store, ideal(store), card(name), conditions=("qm", "permuted-kept-1", "permuted-kept-2"))
    out = run(capsys, "verdicts", path, *AUDIT, "--condition", "permuted", "--against", "a,b")[1]
    for name in ("permuted-kept-1", "permuted-kept-2"):
        assert out.count(f"Condition {name}, in percent") == 3
        assert [line.split(" under")[0] for line in out.splitlines() if " minus " in line and name in line] == [
            "c minus a",
            "c minus b",
        ]
    assert "Condition qm" not in out


def test_zero_shot_differences_say_why_their_intervals_have_no_width(
    asked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ask = ("verdicts", asked, *AUDIT, "--against", "base")
    assert "two models differ by the same whoever is drawn" in run(capsys, *ask, "--condition", "zero-shot")[1]
    assert "whoever is drawn" not in run(capsys, *ask)[1]


def test_wordings_say_over_whom_they_are(asked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = run(capsys, "verdicts", asked, *AUDIT, "--show", "wordings", "--model", "base")[1]
    assert "over the n people who were asked in all wordings" in out
    row = next(line.split() for line in out.splitlines() if line.startswith("qm") and " t0 " in line)
    assert row[2:4] == ["5", "2"], "every other person, two paraphrases"
    assert "paraphrases, without the original. mean: of the figures above it; no interval" in out


def test_figures_are_written_as_files_that_hold_what_they_depend_on(
    asked: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ask, folder = ("verdicts", asked, *AUDIT, "--against", "base", "--seed", "3"), tmp_path / "figures"
    code, out, err = run(capsys, *ask, "--csv", folder)
    assert code == 0, err
    names = ("targets", "conditions", "wordings", "tokens", "correlation", "axis", "against")
    assert sorted(path.stem for path in folder.iterdir()) == sorted(names)
    files = {name: _rows(folder / f"{name}.csv") for name in names}
    assert f"targets.csv  {len(files['targets'])} rows" in out
    found = data(capsys, *ask)
    figure = found["models"]["base"]["conditions"]["qm"]["targets"][0]
    (row,) = (
        row
        for row in files["targets"]
        if (row["model"], row["condition"], row["target"], row["measure"]) == ("base", "qm", "t0", "bias")
    )
    for name in ("value", "low", "high"):
        assert float(row[name]) == pytest.approx(figure["bias"][name])
    assert (row["n"], row["seed"], row["draws"], row["masses"], row["revision"]) == ("10", "3", "300", "top10", "r1")
    whole = {row["measure"]: row["value"] for row in files["targets"] if not row["target"] and row["condition"] == "qm"
             and row["model"] == "base"}  # fmt: skip
    assert [whole[name] for name in ("p(yes)", "predicted yes", "predicted no", "unreadable")] == ["1", "19", "0", "0"]
    drawn = {row["context_seed"] for row in files["targets"] if row["condition"] == "random"}
    assert drawn == {"1"}
    assert {row["against"] for row in files["against"]} == {"base"}
    assert {row["model"] for row in files["against"]} == {"tuned"}
    undefined = [row for row in files["correlation"] if row["measure"] == "r" and row["target"] == "t0"]
    assert all(row["value"] == "" and row["undefined"] for row in undefined)
    code, _, err = run(capsys, *ask, "--csv", folder)
    assert (code, "--force" in err) == (2, True)
    some = ("--csv", folder, "--force", "--show", "targets", "--target", "t1", "--condition", "qm")
    assert run(capsys, *ask, *some)[0] == 0
    rows = _rows(folder / "targets.csv")
    assert {(row["target"], row["condition"]) for row in rows} == {("t1", "qm")}
    _check_single_answers(asked, folder, capsys)


def _check_single_answers(asked: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Single people's answers are a file of their own, where it is asked for; a figure can be made from it again."""
    ask = ("verdicts", asked, *AUDIT, "--model", "base", "--csv", folder, "--force", "--show")
    assert run(capsys, *ask, "respondents")[0] == 0
    rows = [row for row in _rows(folder / "respondents.csv") if (row["condition"], row["target"]) == ("qm", "t0")]
    assert {row["wording"] for row in rows} == {"original", "paraphrase-1", "paraphrase-2"}
    rows = [row for row in rows if row["wording"] == "original"]
    whole = data(capsys, "verdicts", asked, *AUDIT, "--model", "base", "--target", "t0")
    (figure,) = whole["models"]["base"]["conditions"]["qm"]["targets"]
    assert len({row["respondent"] for row in rows}) == len(rows) == figure["respondents"]
    assert sum(float(row["p_yes"]) - int(row["human"]) for row in rows) / 10 == pytest.approx(figure["bias"]["value"])
    assert sum(int(row["correct"]) for row in rows) / 10 == pytest.approx(figure["accuracy"]["value"])
    assert {row["outdated"] for row in rows} == {"0"}
    assert "respondents.csv" in run(capsys, *ask, "all", "--target", "t1")[1]


def _rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))


def test_names_that_a_spreadsheet_would_run_are_guarded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "panel.db"
    with new_store(path) as store:
        store.instruments.add(panel())
        predict(store, ideal(store), card("=cmd"))
    assert run(capsys, "verdicts", path, *AUDIT, "--csv", tmp_path / "out", "--show", "axis")[0] == 0
    assert {row["model"] for row in _rows(tmp_path / "out" / "axis.csv")} == {"'=cmd"}


@pytest.mark.parametrize("section", ["targets", "conditions", "wordings", "tokens"])
def test_tables_fit_a_narrow_terminal(
    asked: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, section: str
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    out = run(capsys, "verdicts", asked, *AUDIT, "--show", section, "--model", "base")[1]
    rows = [line for line in out.splitlines() if re.match(r"(t0|t1|qm|zero-shot|random) ", line)]
    assert len(rows) >= 2
    assert max(map(len, rows)) <= 80
    first = out.splitlines().index(rows[0])
    assert out.splitlines()[first : first + len(rows)] == rows, "no row goes on in the next line"
    assert out.splitlines()[first - 1].split()[0] in ("target", "condition"), "nor the header"
    if section == "targets":
        assert "[" not in "".join(rows)
        assert "▲" in rows[0], "the bias leans yes"
        assert "Texts and intervals: in " in out


def test_a_store_with_a_questionnaire_alone_names_the_audit(asked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "verdicts", asked)
    assert code == 2
    assert "There are answers of questionnaire: workbench verdicts STORE --audit questionnaire" in err
    assert "Start with" not in err


def test_a_store_whose_questions_nobody_was_asked_names_their_audit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "panel.db"
    with new_store(path) as store:
        store.instruments.add(panel())
    code, _, err = run(capsys, "verdicts", path)
    assert code == 2
    assert "the targets of panel are asked with --audit questionnaire" in err


def test_nothing_is_said_to_be_less_than_nothing() -> None:
    assert (percent(-1e-9), signed(-1e-9), percent(-0.0004)) == ("0.0", "+0.0", "0.0")


def test_a_design_of_which_all_is_stored_is_noted_and_has_figures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "panel.db"
    with new_store(path) as store:
        store.instruments.add(panel())
        predict(store, lambda _: (0.4, 0.2))
        store.instruments.add(panel(name="long"))
    asks = ("run", path, "--audit", "questionnaire", "--instrument", "long", "--model", "oracle")
    asks = (*asks, "--variants", "original")
    code, out, _ = run(capsys, *asks, "--yes")
    assert code == 0
    assert "Everything is stored; job 2 notes that it was asked for. Next: workbench verdicts" in out
    assert data(capsys, *asks, "--json")["job"] is None, "it is noted once"
    (name,) = (found := data(capsys, "verdicts", path, *AUDIT, "--instrument", "long", "--json")["models"])
    assert (name, found[name]["prompts"]) == ("oracle", 19)
    assert "nothing was asked: every prompt has the text of one" in run(capsys, "jobs", path)[1].replace("\n", " ")


def test_figures_of_prompts_that_show_what_was_changed_since_say_no_side(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, folder = tmp_path / "panel.db", tmp_path / "figures"
    with new_store(path) as store:
        store.instruments.add(panel(40))
        predict(store, lambda _: (0.9, 0.0), card("base"), conditions=("qm", "random"))
        predict(store, ideal(store), card("tuned"), conditions=("qm",))
        assert "leans yes" in run(capsys, "verdicts", path, *AUDIT, "--model", "base")[1]
        store.questionnaires.set_question("panel", "c3", role=None, person="ann")
        predict(store, lambda _: (0.9, 0.0), card("base"))
    ask = ("verdicts", path, *AUDIT)
    out = run(capsys, *ask, "--against", "base")[1]
    rows = [line for line in out.splitlines() if line.startswith("t0")]
    assert [row.count(" old 40") for row in rows] == [1, 0, 1], "tuned was not asked qm again"
    assert "leans yes" in rows[1]
    assert not any(sign in line for line in (rows[0], rows[2]) for sign in ("leans", "▲", "▼", "flipped"))
    assert "old: so many of its prompts show what was changed since, so no side is said" in out
    assert "(qm 79). Asked again they are replaced: workbench run STORE --audit questionnaire" in out
    out = run(capsys, *ask, "--model", "base", "--show", "conditions,axis")[1]
    assert re.search(r"^random old 79 .* old .* old$", out, re.MULTILINE)
    assert re.search(r"^random .*\] old +2", out, re.MULTILINE), out
    assert "a change between old and new ones is no effect" in out
    assert run(capsys, *ask, "--csv", folder)[0] == 0
    figures = [row for row in _rows(folder / "targets.csv") if row["measure"] == "bias" and row["target"] == "t0"]
    assert {(row["model"], row["condition"]): row["outdated"] for row in figures} == {
        ("base", "qm"): "0", ("base", "random"): "40", ("tuned", "qm"): "40"
    }  # fmt: skip
    means = [row for row in _rows(folder / "targets.csv") if row["measure"] == "absolute bias"]
    assert {(row["se_over"], row["interval_over"], row["low"]) for row in means} == {("targets", "", "")}
    measures = {row["measure"] for row in _rows(folder / "targets.csv")}
    assert measures >= {f"absolute bias {name}" for name in ("by noise alone", "without noise", "p of none")}
    said = run(capsys, *ask, "--model", "base")[1]
    assert "Noise alone would give |bias|" in said
    assert all(row["note"].startswith("noise only adds to a mean of absolute values") for row in means)
    changed = [row for row in _rows(folder / "conditions.csv") if row["measure"] == "change of bias from qm"]
    assert {row["outdated"] for row in changed} == {"40", "39"}
    found = data(capsys, *ask, "--show", "targets")["models"]["tuned"]["conditions"]["qm"]
    assert (found["outdated"], [row["outdated"] for row in found["targets"]]) == (79, [40, 39])
