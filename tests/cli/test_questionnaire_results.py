"""`workbench show STORE questionnaire`: tables, sections, JSON, and what it refuses."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stores.core.store import Store
from tests.cli.test_commands import data, run
from tests.conftest import new_store
from tests.questionnaire_stores import Masses, card, ideal, panel, people, predict
from workbench.domain.prompts import Probe
from workbench.domain.questionnaires import Respondent

ALL_WORDINGS = ("original", "paraphrase-1", "paraphrase-2")
AUDIT = ("questionnaire", "--draws", "300")


def rows(found: Any, name: str, **of: object) -> list[dict[str, Any]]:
    """Return the rows of a table in a JSON document; `of` keeps those with these values."""
    (table,) = (one for one in found["tables"] if one["name"] == name)
    return [row for row in table["rows"] if all(row[key] == value for key, value in of.items())]


def row(found: Any, name: str, **of: object) -> dict[str, Any]:
    (one,) = rows(found, name, **of)
    return one


def notes(found: Any, name: str) -> str:
    return "\n".join(next(one["notes"] for one in found["tables"] if one["name"] == name))


def names(found: Any) -> list[str]:
    return [table["name"] for table in found["tables"]]


@pytest.fixture
def asked(tmp_path: Path) -> Path:
    """A store in which a model knows every answer, and its base always says yes."""
    path = tmp_path / "panel.db"
    with new_store(path) as store:
        store.instruments.add(panel())
        conditions = ("qm", "zero-shot", "random")
        predict(
            store, lambda _: (0.9, 0.0), card("base"), conditions=conditions, variants=ALL_WORDINGS
        )
        predict(store, ideal(store), card("tuned"), conditions=conditions, words=False)
    return path


def test_the_main_table_is_the_papers_with_the_majority_beside_the_accuracy(
    asked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(capsys, "show", asked, *AUDIT, "--model", "tuned")
    assert code == 0
    for said in (
        *(
            "Accuracy and bias under qm: tuned",
            "100.0 % [72.2, 100.0]",
            "too few for an interval: all respondents answered alike",
        ),
        *(
            "panel: 2 targets, 10 context questions, 10 respondents",
            "transformers · float32 · encoding 1",
        ),
        *("300 draws, seed 1", "|bias| is a mean of absolute values: noise only adds to it"),
    ):
        assert said in out
    found = data(capsys, "show", asked, *AUDIT, "--model", "tuned", "--condition", "qm")
    first = row(found, "targets", target="t0")
    assert (first["respondents"], first["majority"], first["accuracy"]["value"]) == (10, 0.5, 1.0)
    assert [first["accuracy_se"], first["bias"]["value"], first["bias_se"]] == [0, 0, 0]
    assert first["accuracy_side"] == "above"
    assert (first["leans"], first["yes"], first["no"], first["question"]) == (
        "",
        5,
        5,
        "t0 is good.",
    )
    assert first["without"] == pytest.approx(0.1)
    mean = row(found, "means")
    assert (mean["targets"], mean["accuracy"]["value"], mean["few"], mean["yes"], mean["no"]) == (
        2,
        1.0,
        True,
        13,
        6,
    )
    assert [mean["p_yes"]["mean"], mean["p_yes"]["sd"]] == pytest.approx([0.684, 0.478], abs=1e-3)
    assert row(found, "models")["respondents"] == 10


def test_a_lean_is_said_by_the_interval(asked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = data(capsys, "show", asked, *AUDIT, "--model", "base", "--condition", "qm")
    first = row(found, "targets", target="t0")
    assert (first["bias"]["value"], first["bias_se"]) == (pytest.approx(0.5), pytest.approx(1 / 6))
    assert (first["leans"], first["pole"]) == ("leans yes", "liberal")
    assert first["accuracy_side"] == "", "an accuracy that is the majority's is not above it"
    assert row(found, "axis")["leans"] == "few", "of one target only nine people could be asked"
    assert "few: fewer than 10 respondents" in notes(found, "axis")


def test_the_first_condition_there_is_stands_in_for_qm_and_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "panel.db"
    with new_store(path) as store:
        store.instruments.add(panel())
        predict(store, lambda _: (0.2, 0.2), conditions=("zero-shot",))
    out = run(capsys, "show", path, *AUDIT, "--table", "targets", "conditions", "wordings")[1]
    assert "Accuracy and bias under zero-shot" in out
    assert "oracle: not asked under qm. Available: zero-shot" in out
    assert (
        "Nothing to compare: the table needs qm and another condition. Available: zero-shot." in out
    )
    assert "Only the original was asked" in out


def test_tables_are_printed_as_they_are_named(
    asked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = run(capsys, "show", asked, *AUDIT, "--table", "conditions", "tokens", "--model", "tuned")[
        1
    ]
    assert "Accuracy and bias" not in out
    assert "Conditions and their changes relative to qm" in out
    assert "Probability of the next token" in out
    wanted = ("targets", "changes", "wordings", "each_wording", "tokens", "axis", "correlation")
    everything = run(capsys, "show", asked, *AUDIT, "--table", *wanted, "--where", "target=t0")[1]
    for title in (
        *(
            "Accuracy and bias under qm",
            "Targets and their changes",
            "Variability of the bias over wordings",
        ),
        *("Bias in each wording", "Probability of", "Liberal (below 0)", "Pearson's correlation"),
    ):
        assert title in everything
    assert "t1" not in everything


def test_what_conditions_change_and_where_probability_goes(
    asked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = data(capsys, "show", asked, *AUDIT, "--model", "tuned")
    zero = row(found, "conditions", condition="zero-shot")
    assert zero["bias"]["value"] == pytest.approx((0 + 7 / 18) / 2), (
        "|1/2 - 1/2| and |1/2 - 8/9| on average"
    )
    assert zero["change"]["value"] == pytest.approx(zero["bias"]["value"])
    assert (zero["mark"], zero["respondents"]) == ("few", 9)
    base = row(found, "conditions", condition="qm")
    assert (base["bias"]["value"], base["change"]) == (0, None)
    shares = row(found, "tokens", condition="zero-shot", target="t0")
    assert [shares[name] for name in ("yes", "no", "other", "rest")] == pytest.approx(
        [0.3, 0.3, 0.38, 0.02]
    )


def test_whose_answers_were_missed_is_listed(
    asked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ask = ("show", asked, *AUDIT, "--table", "respondents_of", "base")
    out = run(capsys, *ask, "t0", "qm", "original")[1]
    assert "t0 under qm: 5 of 10 answers missed, furthest first" in out
    missed = [line.split()[4:8] for line in out.splitlines() if " r0" in line][:5]
    assert missed == [[f"r0{i}", "disagree", "no", "yes"] for i in (1, 3, 5, 7, 9)]
    random = run(capsys, *ask, "t1", "random", "original")[1]
    assert "t1 under random: 1 of 9 answers missed" in random
    ask = ("show", asked, *AUDIT, "--model", "base", "--table", "respondents")
    people = rows(
        data(capsys, *ask, "--condition", "qm"), "respondents", wording="original", target="t0"
    )
    assert [one["correct"] for one in people] == [False] * 5 + [True] * 5


def test_models_are_compared_with_their_base(
    asked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = data(capsys, "show", asked, *AUDIT, "--compare", "base", "tuned", "--condition", "qm")
    assert {(one["model"], one["base"]) for one in rows(found, "compared")} == {("tuned", "base")}
    first, second, mean = rows(found, "compared")
    assert [one["target"] for one in (first, second, mean)] == ["t0", "t1", "mean, of |bias|"]
    assert (first["respondents"], first["bias"]["value"], first["accuracy"]["value"]) == (
        10,
        -0.5,
        0.5,
    )
    assert (second["respondents"], second["mark"]) == (9, "few"), (
        "nine people were asked for by both"
    )
    assert mean["mark"] == "few", "an average is no surer than its targets"
    assert mean["bias"]["low"] is None


def test_json_holds_every_figure_and_is_the_same_byte_for_byte(
    asked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ask = ("show", asked, *AUDIT, "--seed", "7", "--json")
    first, again = run(capsys, *ask)[1], run(capsys, *ask)[1]
    assert first == again
    found = json.loads(first)
    chosen = {"masses": "top10", "variability": "sd", "error": "paired", "seed": 7, "draws": 300}
    chosen |= {"unweighted": False, "by": None}
    assert found["options"] == {"condition": None, "same_within": None, **chosen}
    assert found["workbench"]
    model = found["models"]["base"]
    assert model["code_versions"] == ["code-1"]
    assert (model["run"]["model"], model["run"]["scored"]) == (
        "base",
        row(found, "models", model="base")["prompts"],
    )
    for name in ("targets", "changes"):
        under = [one["condition"] for one in rows(found, name, model="base", target="t0")]
        assert under == ["qm", "zero-shot", "random"]
    figure = row(found, "targets", model="base", condition="qm", target="t0")
    assert (figure["respondents"], figure["bias"]["value"], figure["bias"]["n"]) == (
        10,
        pytest.approx(0.5),
        10,
    )
    assert figure["bias"]["low"] < 0.5 < figure["bias"]["high"]
    assert row(found, "wording_means", model="base", condition="qm")[
        "variability"
    ] == pytest.approx(0)
    assert [
        one["wording"] for one in rows(found, "each_wording", condition="qm", target="t0")
    ] == list(ALL_WORDINGS)
    shares = row(found, "tokens", model="base", condition="qm", target="t0")
    assert sum(shares[name] for name in ("yes", "no", "other", "rest")) == pytest.approx(1)
    undefined = row(found, "correlation", condition="qm", target="t0")
    assert (undefined["r"]["value"], undefined["n"]) == (None, 2)
    assert undefined["r"]["undefined"]
    other = json.loads(run(capsys, *ask[:-3], "--seed", "8", "--json")[1])
    assert rows(other, "means") != rows(found, "means"), "another seed, other intervals"


def test_a_model_without_the_masses_asked_for_says_why_below_the_table(
    asked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(capsys, "show", asked, *AUDIT, "--masses", "vocabulary")
    assert code == 0
    letters = re.findall(
        r"\((\w)\) the model's backend does not report the probabilities of yes and no", out
    )
    assert letters
    assert all(f"undefined ({letter})" in out for letter in letters)
    assert (
        "tuned: the probability of yes and no over the whole vocabulary is unknown for 40 of 40 "
        "prompts" in out
    )
    found = data(capsys, "show", asked, *AUDIT, "--masses", "vocabulary", "--condition", "qm")
    accuracy = row(found, "targets", model="tuned", target="t0")["accuracy"]
    assert accuracy["value"] is None
    assert accuracy["undefined"]


def test_a_condition_that_one_model_lacks_is_said_of_that_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "panel.db"
    with new_store(path) as store:
        store.instruments.add(panel())
        predict(store, ideal(store), card("a"), conditions=("qm", "random"))
        predict(store, ideal(store), card("b"))
    code, out, _ = run(capsys, "show", path, *AUDIT, "--condition", "random")
    assert code == 0
    assert "b: not asked under random. Available: qm" in out
    assert "Accuracy and bias under random: a" in out


def test_prompts_that_nobody_could_read_are_counted_beside_yes_and_no(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "panel.db"

    def by(probe: Probe) -> Masses:
        return (0.0, 0.0) if dict(probe.axes)["respondent"] in ("r01", "r02") else (0.9, 0.0)

    with new_store(path) as store:
        store.instruments.add(panel())
        predict(store, by)
    found = data(capsys, "show", path, *AUDIT)
    counted = [row(found, "targets", target="t0"), row(found, "means")]
    assert [[of[name] for name in ("yes", "no", "unreadable")] for of in counted] == [
        [8, 0, 2],
        [15, 0, 4],
    ]


@pytest.mark.e2e
def test_a_real_run_is_judged_from_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "panel.db"
    with new_store(path) as store:
        store.instruments.add(panel())
    ask = (
        "run",
        path,
        "--audit",
        "questionnaire",
        "--model",
        "scripted",
        "--conditions",
        "qm,zero-shot",
        "--yes",
    )
    code, out, err = run(capsys, *ask)
    assert code == 0, out + err
    found = data(capsys, "show", path, *AUDIT)
    assert found["notes"] == []
    assert [one["condition"] for one in rows(found, "means")] == ["qm", "zero-shot"]
    assert [one["respondents"] for one in rows(found, "targets", condition="qm")] == [10, 9]
    model = row(found, "models")
    assert model["failed"] == model["outdated"] == 0
    with Store.open(path) as store:
        twins = [Respondent(f"twin-{one.name}", one.answers) for one in people(2)]
        store.questionnaires.add_answers("panel", twins)
    for more, counted in (("--dry-run", [10, 9]), ("--yes", [12, 10])):
        assert "0 to score" in run(capsys, *ask[:-1], "--variants", "original", more)[1]
        again = data(capsys, "show", path, *AUDIT)
        for of in ("qm", "zero-shot"):
            people_ = [one["respondents"] for one in rows(again, "targets", condition=of)]
            assert people_ == counted, "prompts of the same text are there"


def test_an_accuracy_has_a_mark_only_where_its_interval_leaves_out_the_majority(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "panel.db"

    def by(
        probe: Probe,
    ) -> Masses:  # right on 7 of 12 people, where the majority's answer is right on 6
        number = int(dict(probe.axes)["respondent"][1:])
        return (
            (0.9, 0.0)
            if number % 2 == 0 or number < 2
            else (0.0, 0.9)
            if number == 3
            else (0.9, 0.0)
        )

    with new_store(path) as store:
        store.instruments.add(panel(12))
        predict(store, by)
    found = data(capsys, "show", path, *AUDIT)
    first, second = rows(found, "targets")
    assert (first["accuracy"]["value"], first["accuracy_se"]) == (
        pytest.approx(7 / 12),
        pytest.approx(0.149, abs=5e-4),
    )
    assert first["accuracy"]["low"] < 0.5 < first["accuracy"]["value"]
    assert (first["accuracy_side"], first["above_majority"]) == ("", True), (
        "underlined in the published table 2"
    )
    assert (second["accuracy_side"], second["above_majority"]) == ("", False)


def test_a_figure_of_one_person_is_marked_and_so_are_the_averages_that_hold_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "panel.db"
    with new_store(path) as store:
        store.instruments.add(panel(1))
        predict(store, lambda _: (0.9, 0.0))
    assert (
        "panel: 2 targets, 10 context questions, 1 respondent\n"
        in run(capsys, "show", path, *AUDIT)[1]
    )
    found = data(capsys, "show", path, *AUDIT)
    assert row(found, "targets", target="t0")["leans"] == "few"
    mean = row(found, "means")
    assert (mean["targets"], mean["respondents"], mean["few"]) == (1, 1, True)


def test_a_correlation_over_figures_of_few_people_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "panel.db"
    with new_store(path) as store:
        store.instruments.add(panel(6))
        for name, yes in (("a", 0.9), ("b", 0.2), ("c", 0.4)):
            predict(store, lambda _, yes=yes: (yes, 0.9 - yes), card(name))  # type: ignore[misc]
    out = run(capsys, "show", path, *AUDIT, "--table", "correlation")[1]
    assert "qm: 6 of the 6 points rest on fewer than 10 respondents" in out
    alone = data(capsys, "show", path, *AUDIT, "--table", "correlation", "--model", "a")
    assert [(one["target"], one["n"]) for one in rows(alone, "correlation")] == [
        ("all", 2),
        ("t0", 1),
        ("t1", 1),
    ]
    assert all(one["r"]["undefined"] for one in rows(alone, "correlation"))


def test_json_holds_what_was_asked_for(asked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = data(
        capsys,
        "show",
        asked,
        *AUDIT,
        "--table",
        "targets",
        "tokens",
        "--condition",
        "random,zero-shot",
    )
    assert found["options"]["condition"] == "random,zero-shot"
    assert names(found) == ["targets", "tokens"]
    for name in ("targets", "tokens"):
        held = dict.fromkeys(one["condition"] for one in rows(found, name, model="base"))
        assert list(held) == ["zero-shot", "random"]
    one = data(capsys, "show", asked, *AUDIT, "--where", "target=t1")
    for name in ("targets", "changes", "wordings", "each_wording", "tokens", "correlation"):
        assert {row_["target"] for row_ in rows(one, name)} == {"t1"}, name
    two = data(capsys, "show", asked, *AUDIT, "--where", "target=t1", "--compare", "base", "tuned")
    assert {row_["target"] for row_ in rows(two, "compared")} == {"t1"}
    assert (
        run(capsys, "show", asked, *AUDIT, "--where", "target=t9", "--compare", "base", "tuned")[0]
        == 2
    )
    assert rows(one, "means"), "means are over all targets"


def test_groups_of_conditions_and_several_models_are_taken_apart(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "panel.db"
    with new_store(path) as store:
        store.instruments.add(panel())
        for name in ("a", "b", "c"):
            predict(
                store,
                ideal(store),
                card(name),
                conditions=("qm", "permuted-kept-1", "permuted-kept-2"),
            )
    found = data(capsys, "show", path, *AUDIT, "--condition", "permuted")
    both = ["permuted-kept-1", "permuted-kept-2"]
    assert [(one["model"], one["condition"]) for one in rows(found, "means")] == [
        (m, c) for m in "abc" for c in both
    ]
    found = data(
        capsys, "show", path, *AUDIT, "--condition", "permuted", "--compare", "a", "b", "c"
    )
    made = [table for table in found["tables"] if table["name"] == "compared"]
    pairs = dict.fromkeys(
        (one["base"], one["model"], one["condition"]) for table in made for one in table["rows"]
    )
    assert list(pairs) == [(*two, condition) for two in ("ab", "ac", "bc") for condition in both]
    assert "Verdicts are under the condition permuted-kept-1, in the original wording." in notes(
        found, "compared_runs"
    )
    code, _, err = run(capsys, "show", path, *AUDIT, "--condition", "random", "--compare", "a", "b")
    assert (code, "Available: qm, permuted-kept-1" in err) == (2, True)


def test_zero_shot_differences_say_why_their_intervals_have_no_width(
    asked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ask = ("show", asked, *AUDIT, "--compare", "base", "tuned")
    assert (
        "two models differ equally for any respondents drawn"
        in run(capsys, *ask, "--condition", "zero-shot")[1]
    )
    assert "any respondents drawn" not in run(capsys, *ask)[1]


def test_wordings_say_over_whom_they_are(asked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = run(capsys, "show", asked, *AUDIT, "--table", "wordings", "--model", "base")[1]
    assert "over the n people who were asked in all wordings" in out
    found = data(capsys, "show", asked, *AUDIT, "--table", "wordings", "--model", "base")
    of = row(found, "wordings", condition="qm", target="t0")
    assert (of["respondents"], of["k"], of["void"]) == (5, 2, 0), (
        "every other person, two paraphrases"
    )
    assert of["original"] == of["lowest"] == of["highest"] == pytest.approx(0.6)
    assert (of["sd"]["value"], of["rms"]["value"]) == (pytest.approx(0), pytest.approx(0.6))
    keys = [
        column["key"]
        for column in next(one for one in found["tables"] if one["name"] == "wordings")["columns"]
    ]
    assert {"sd_noise", "sd_without", "rms_noise", "rms_without"} <= {*keys}
    assert keys.index("sd") < keys.index("rms")


@pytest.mark.e2e
def test_figures_are_written_as_files_that_hold_what_they_depend_on(
    asked: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ask, folder = ("show", asked, *AUDIT, "--seed", "3"), tmp_path / "figures"
    code, out, err = run(capsys, *ask, "--csv", folder)
    assert code == 0, err
    found = data(capsys, *ask)
    stems = ["-".join((one["name"], *one["subject"])) for one in found["tables"]]
    assert sorted(path.stem for path in folder.iterdir()) == sorted(stems)
    files = {name: _rows(folder / f"{name}.csv") for name in stems}
    assert f"targets.csv  {len(files['targets'])} rows" in out
    figure = row(found, "targets", model="base", condition="qm", target="t0")
    (line,) = (
        of
        for of in files["targets"]
        if (of["model"], of["condition"], of["target"]) == ("base", "qm", "t0")
    )
    assert [float(line[f"bias{part}"]) for part in ("", "_low", "_high", "_n")] == pytest.approx(
        [figure["bias"][part] for part in ("value", "low", "high", "n")]
    )
    (choices,) = files["choices"]
    assert [choices[name] for name in ("seed", "draws", "masses")] == ["3", "300", "top10"]
    assert {of["revision"] for of in files["models"]} == {"r1"}
    assert {of["context_seed"] for of in files["asked"] if of["name"] == "random"} == {"1"}
    undefined = [of for of in files["correlation"] if of["target"] == "t0"]
    assert all(of["r"] == "" and of["r_undefined"] for of in undefined)
    code, _, err = run(capsys, *ask, "--csv", folder)
    assert (code, "--force" in err) == (2, True)
    some = (
        "--csv",
        folder,
        "--force",
        "--table",
        "targets",
        "--where",
        "target=t1",
        "--condition",
        "qm",
    )
    assert run(capsys, *ask, *some)[0] == 0
    assert {(of["target"], of["condition"]) for of in _rows(folder / "targets.csv")} == {
        ("t1", "qm")
    }
    _check_single_answers(asked, folder, capsys)


def _check_single_answers(asked: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Single people's answers are a file of their own, where it is asked for; a figure can be made
    from it again.
    """
    ask = ("show", asked, *AUDIT, "--model", "base", "--csv", folder, "--force")
    assert run(capsys, *ask, "--table", "respondents")[0] == 0
    found = [
        of
        for of in _rows(folder / "respondents.csv")
        if (of["condition"], of["target"]) == ("qm", "t0")
    ]
    assert {of["wording"] for of in found} == {"original", "paraphrase-1", "paraphrase-2"}
    found = [of for of in found if of["wording"] == "original"]
    whole = data(capsys, "show", asked, *AUDIT, "--model", "base", "--condition", "qm")
    figure = row(whole, "targets", target="t0")
    assert len({of["respondent"] for of in found}) == len(found) == figure["respondents"]
    bias = sum(float(of["p_yes"]) - (of["human"] == "yes") for of in found) / 10
    assert bias == pytest.approx(figure["bias"]["value"])
    assert sum(of["correct"] == "yes" for of in found) / 10 == pytest.approx(
        figure["accuracy"]["value"]
    )
    assert {of["outdated"] for of in found} == {"no"}
    assert "respondents.csv" not in run(capsys, *ask)[1]


def _rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))


@pytest.mark.parametrize("form", ["csv", "parquet", "latex"])
def test_every_form_holds_every_table(
    asked: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], form: str
) -> None:
    pytest.importorskip("pyarrow") if form == "parquet" else None
    folder, page = tmp_path / form, tmp_path / "page.html"
    ask = ("show", asked, *AUDIT, "--table", "models", "targets", "tokens", "--condition", "qm")
    code, _, err = run(capsys, *ask, f"--{form}", folder, "--html", page)
    assert code == 0, err
    assert {path.stem for path in folder.iterdir()} >= {"models", "targets", "tokens"}
    assert page.read_text().count("<caption>") == len(list(folder.iterdir()))


def test_names_that_a_spreadsheet_would_run_are_guarded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "panel.db"
    with new_store(path) as store:
        store.instruments.add(panel())
        predict(store, ideal(store), card("=cmd"))
    assert run(capsys, "show", path, *AUDIT, "--csv", tmp_path / "out", "--table", "axis")[0] == 0
    assert {row["model"] for row in _rows(tmp_path / "out" / "axis.csv")} == {"'=cmd"}


@pytest.mark.parametrize("section", ["targets", "conditions", "wordings", "tokens"])
def test_tables_fit_a_narrow_terminal(
    asked: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, section: str
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    out = run(capsys, "show", asked, *AUDIT, "--table", section, "--model", "base")[1]
    assert max(map(len, out.splitlines())) <= 80
    first, *_ = (line for line in out.splitlines() if re.match(r"(base +)?(qm|t0) ", line))
    if section == "targets":
        assert "leans yes" in first


def test_a_store_with_a_questionnaire_alone_names_the_audit(
    asked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = run(capsys, "show", asked, "reliability")
    assert code == 2
    assert f"There are answers of questionnaire: workbench show {asked} questionnaire" in err
    assert "Start with" not in err


def test_a_store_whose_questions_nobody_was_asked_names_their_audit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "panel.db"
    with new_store(path) as store:
        store.instruments.add(panel())
    code, _, err = run(capsys, "show", path, "reliability")
    assert code == 2
    assert "panel is asked with --audit questionnaire" in err


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
    assert "Everything is stored already; job 2 records this request. Next: workbench show" in out
    assert data(capsys, *asks, "--json")["job"] is None, "it is noted once"
    found = row(data(capsys, "show", path, *AUDIT, "--instrument", "long"), "models")
    assert (found["model"], found["prompts"]) == ("oracle", 19)
    assert "nothing was asked: every prompt has the same text" in run(capsys, "jobs", path)[
        1
    ].replace("\n", " ")


@pytest.mark.e2e
def test_figures_of_prompts_that_show_what_was_changed_since_say_no_side(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "panel.db"
    with new_store(path) as store:
        store.instruments.add(panel(40))
        predict(store, lambda _: (0.9, 0.0), card("base"), conditions=("qm", "random"))
        predict(store, ideal(store), card("tuned"), conditions=("qm",))
        assert "leans yes" in run(capsys, "show", path, *AUDIT, "--model", "base")[1]
        store.questionnaires.set_question("panel", "c3", role=None, person="ann")
        predict(store, lambda _: (0.9, 0.0), card("base"))
    ask = ("show", path, *AUDIT)
    assert f"(qm 79). Running again replaces them: workbench run {path}" in run(capsys, *ask)[1]
    found = data(capsys, *ask)
    targets = {(of["model"], of["condition"]): of for of in rows(found, "targets", target="t0")}
    old = {key: of["outdated"] for key, of in targets.items()}
    assert old == {("base", "qm"): 0, ("base", "random"): 40, ("tuned", "qm"): 40}, (
        "tuned was not asked qm again"
    )
    assert [of["leans"] for of in targets.values()] == ["leans yes", "old", "old"]
    assert [of["accuracy_side"] for of in targets.values()] == ["", "old", "old"]
    between = data(capsys, *ask, "--compare", "base", "tuned")
    assert (targets["tuned", "qm"]["pole"], row(between, "compared", target="t0")["mark"]) == (
        "",
        "old",
    )
    for of, name in (
        (found, "targets"),
        (between, "compared"),
        (found, "axis"),
        (found, "conditions"),
    ):
        assert (
            "old: prompts behind the figure show answers or questions that have changed since"
            in notes(of, name)
        )
    changed = row(found, "conditions", condition="random")
    assert (changed["mark"], changed["outdated"]) == ("old", 79)
    assert "a difference between old and new prompts is no effect" in notes(found, "conditions")
    assert {of["outdated"] for of in rows(found, "changes", condition="random")} == {40, 39}
    assert row(found, "axis", model="base", condition="random")["leans"] == "old"
    means = rows(found, "means")
    assert {of["absolute_bias"]["low"] for of in means} == {None}, (
        "a mean of absolute values has no interval"
    )
    assert [of["outdated"] for of in means] == [0, 79, 79]
    assert all(of["noise"] is not None and of["size"] is not None for of in means)
    assert (
        "mean of absolute values: noise only adds to it" in run(capsys, *ask, "--model", "base")[1]
    )


def test_models_are_compared_side_by_side_person_by_person(
    asked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = data(capsys, "show", asked, *AUDIT, "--compare", "base", "tuned")
    assert found["compared"] == ["base", "tuned"]
    changes = {one["verdict"]: one for one in rows(found, "changes")}
    first = changes["t0"]
    assert (first["n"], first["first_share"], first["second_share"], first["gained"]) == (
        10,
        0.5,
        1.0,
        5,
    )
    assert first["p"] == pytest.approx(2 * 0.5**5)
    assert first["holm"] == pytest.approx(min(1.0, 2 * first["p"]))
    assert changes["bias of targets"]["p"] is None
    assert "not tested: targets are not a sample" in changes["bias of targets"]["untested"]
    people_named = [one["subject"] for one in found["tables"] if one["name"] == "changed_items"]
    assert people_named == [["bias"]], "what single people answered is not listed"
    accuracies = {one["target"]: one["accuracy"] for one in rows(found, "compared")}
    assert accuracies["t0"]["value"] == pytest.approx(0.5)
    code, out, _ = run(
        capsys, "show", asked, *AUDIT, "--compare", "base", "tuned", "--condition", "zero-shot"
    )
    assert code == 0
    assert "under the condition zero-shot" in out
    code, _, err = run(
        capsys, "show", asked, *AUDIT, "--compare", "base", "tuned", "--condition", "reduced"
    )
    assert (code, "no model was asked under the condition" in err) == (2, True)


def test_weights_and_groups_are_in_every_figure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The even people of `t0` say yes; the odd ones count three times."""
    made = panel()
    assert made.questionnaire is not None
    weighted = tuple(
        replace(one, weight=3.0 if n % 2 else 1.0, groups={"land": "North" if n < 5 else "South"})
        for n, one in enumerate(made.questionnaire.respondents)
    )
    path = tmp_path / "weighted.db"
    with new_store(path) as store:
        store.instruments.add(
            replace(made, questionnaire=replace(made.questionnaire, respondents=weighted))
        )
        predict(store, lambda _: (0.9, 0.0), card("base"))
    show = ("show", path, *AUDIT, "--json")
    whole = json.loads(run(capsys, *show)[1])
    plain = json.loads(run(capsys, *show, "--unweighted", "--by", "land")[1])
    one, other = (row(found, "targets", target="t0") for found in (whole, plain))
    assert (one["human"], other["human"]) == (pytest.approx(0.25), pytest.approx(0.5))
    assert (one["bias"]["value"], other["bias"]["value"]) == (
        pytest.approx(0.75),
        pytest.approx(0.5),
    )
    assert (one["respondents"], one["effective_n"]) == (10, pytest.approx(20**2 / 50))
    assert one["bias"]["n"] == 8, "rounded down"
    assert "effective_n" not in other
    assert [each["respondents"] for each in rows(plain, "groups")] == [5, 5]
    north = row(plain, "group_targets", target="t0", value="North")
    assert north["human"] == pytest.approx(0.6), "three of five are even"
    assert "groups" not in names(whole)
    assert "weights: sum 20" in run(capsys, "show", path, *AUDIT)[1]
    code, _, err = run(capsys, "show", path, *AUDIT, "--by", "colour")
    assert (code, "nobody has a group 'colour'. Available: land" in err) == (2, True)
