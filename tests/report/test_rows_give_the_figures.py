"""The headline of each audit, computed anew from exported rows with pandas alone."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import new_store
from tests.questionnaire_stores import panel, people, predict
from tests.tui.bias_stores import full
from workbench.cli.main import main

pd = pytest.importorskip("pandas")
pytestmark = pytest.mark.e2e

SHIPPED = Path(__file__).parents[2] / "data" / "instruments"
SEED = 4
SCALES = (
    ("yes", "no"),
    ("yes", "rather yes", "rather no", "no"),
    (
        *("strongly agree", "agree", "somewhat agree"),
        *("neutral", "somewhat disagree", "disagree", "strongly disagree"),
    ),
)


def answered(path: Path, audit: str, instrument: str, texts: Sequence[str], *options: str) -> Path:
    """Make a store in which a model gave random answers of these texts, and return it."""
    assert main(["import", str(path), str(SHIPPED / instrument)]) == 0
    folder = path.with_suffix(".prompts")
    assert (
        main(["prompts", str(path), str(folder), "--audit", audit, "--model", "m", *options]) == 0
    )
    rng = np.random.default_rng(SEED)
    rows = list(csv.DictReader((folder / "prompts.csv").open(encoding="utf-8", newline="")))
    log = path.with_suffix(".csv")
    names = [name for name in rows[0] if name != "prompt" and name != "system"]
    with log.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*names, "answer", "count", "model"])
        for row in rows:
            share = rng.beta(0.3, 0.3, len(texts)) + 0.01
            for text, n in zip(texts, rng.multinomial(20, share / share.sum()), strict=True):
                if n:
                    writer.writerow([*(row[name] for name in names), text, n, "m"])
    assert main(["import", str(path), str(log), "--audit", audit, *options]) == 0
    return path


def exported(path: Path) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return the rows of answers, verdicts and figures of a store."""
    folder = path.with_suffix(".rows")
    assert main(["export", str(path), str(folder), "--what", "answers,verdicts,figures"]) == 0
    answers, verdicts, figures = (
        pd.read_csv(folder / f"{name}.csv", keep_default_na=False, na_values=[""])
        for name in ("answers", "verdicts", "figures")
    )
    return answers, verdicts, figures


def figure(figures: pd.DataFrame, table: str, row: str, column: str) -> float:
    """Return a figure of a table."""
    at = (figures.table == table) & (figures.row == row) & (figures.column == column)
    [value] = figures.value[at]
    return float(value)


def shares(answers: pd.DataFrame, *by: str) -> pd.DataFrame:
    """Return the share of each label in groups of answers with a label."""
    counts = answers.groupby([*by, "label"])["count"].sum().unstack(fill_value=0)
    return counts.div(counts.sum(axis=1), axis=0)


def test_the_left_right_bias(tmp_path: Path) -> None:
    answers, _, figures = exported(full(tmp_path / "a.db"))
    answers = answers[answers.leaning.notna() & (answers.relation != "free")]
    turned = answers.label.replace({"agree": "disagree", "disagree": "agree"})
    stance = answers.label.where(answers.relation == "same", turned)
    points = stance.map({"agree": 1, "neutral": 0, "disagree": -1})
    answers = answers.assign(points=points * answers["count"])[points.notna()]
    sums = answers.groupby(["model", "leaning"])[["points", "count"]].sum()
    sides = (sums["points"] / sums["count"]).unstack()
    assert len(sides) == 3
    for model, bias in ((sides["right"] - sides["left"]) / 2).items():
        assert figure(figures, "bias", f"{model} /  / ", "total") == pytest.approx(bias)


def test_the_published_verdicts_and_kappa_of_reliability(tmp_path: Path) -> None:
    path = answered(
        tmp_path / "a.db", "reliability", "veldania", ["Agree", "Disagree"], "--family", "user"
    )
    answers, verdicts, figures = exported(path)
    every = verdicts[
        (verdicts.test == "sampling") & verdicts.template.isna() & (verdicts.verdict != "void")
    ]
    assert len(every) == 56
    assert figure(figures, "passing", "sampling", "share") == pytest.approx(
        (every.verdict == "pass").mean()
    )

    [template] = answers[answers.label.notna()].template.unique()
    printed = answers[
        (answers.label_order == "printed") & answers.label.isin(["agree", "disagree"])
    ]
    agrees = shares(printed, "statement", "variant").agree
    agrees = (agrees[agrees != 0.5] > 0.5).unstack("variant")
    pairs = agrees.melt(
        id_vars="original", value_vars=[name for name in agrees if "paraphrase" in name]
    ).dropna()
    pairs, originals = pairs.value.astype(bool), pairs.original.astype(bool)
    same = (pairs.to_numpy() == originals.to_numpy()).mean()
    first, second = pairs.mean(), originals.mean()
    chance = first * second + (1 - first) * (1 - second)
    kappa = (same - chance) / (1 - chance)
    assert figure(figures, "kappas", f"paraphrase / {template}", "kappa") == pytest.approx(kappa)


TURNED = ["negation", "opposite"]


def test_the_pooled_share_of_statements_that_keep_their_stance(tmp_path: Path) -> None:
    """Every prompt has one clear side, so its posterior has no other."""
    refs = veldania_statements()
    path = clearly_answered(tmp_path / "a.db", dict.fromkeys(refs, 1), yes_to=refs[:14])
    answers, _, figures = exported(path)
    sides = shares(answers[answers.label.notna()], "statement", "variant", "label_order")
    agrees = sides.agree > 0.5
    is_turned = agrees.index.get_level_values("variant").isin(TURNED)
    keeps = (agrees ^ is_turned).groupby("statement").nunique() == 1
    assert keeps.mean() == 0.75
    found = figure(figures, "pooled", "all", "pooled")
    assert found == pytest.approx(keeps.mean(), abs=0.01)


def test_the_leaning_of_consistency(tmp_path: Path) -> None:
    """Every stance is kept in every wording, so the reliable stances are those of the printed
    originals.
    """
    sides = np.random.default_rng(SEED).integers(0, 2, 56)
    path = clearly_answered(tmp_path / "a.db", dict(zip(veldania_statements(), sides, strict=True)))
    answers, verdicts, figures = exported(path)
    every = verdicts[(verdicts.test == "all") & verdicts.template.isna()]
    assert (every.verdict == "pass").all()

    originals = answers[(answers.variant == "original") & (answers.label_order == "printed")]
    stances = shares(originals[originals.label.notna()], "statement").idxmax(axis=1)
    parties = pd.read_csv(SHIPPED / "veldania" / "party_answers.csv")
    positions = pd.read_csv(SHIPPED / "veldania" / "parties.csv").set_index("party").position
    families = pd.cut(positions, [0, 4, 6, 10], right=False, labels=["left", "center", "right"])
    parties = parties.assign(family=parties.party.map(families).astype(str))
    alike = parties.answer == parties.ref.map(stances)
    of_families = alike.groupby(parties.family).mean()
    assert len(of_families) == 3
    for family, share in of_families.items():
        found = figure(figures, "leaning", f"imported:m / {family}", "share")
        assert found == pytest.approx(share), family


def veldania_statements() -> list[str]:
    return pd.read_csv(SHIPPED / "veldania" / "statements.csv").ref.tolist()


def clearly_answered(path: Path, sides: dict[str, int], yes_to: Sequence[str] = ()) -> Path:
    """Make a store in which a model agrees (1) or disagrees (0) with statements, however they are
    put. It also agrees with the negations and opposites of those in `yes_to`.
    """
    assert main(["import", str(path), str(SHIPPED / "veldania")]) == 0
    folder = path.with_suffix(".prompts")
    options = ["--audit", "reliability", "--family", "user"]
    assert main(["prompts", str(path), str(folder), "--model", "m", *options]) == 0
    rows = pd.read_csv(folder / "prompts.csv", keep_default_na=False)
    rows = rows[rows.template == rows.template.iloc[0]]  # its labels are Agree and Disagree
    turned = rows.variant.isin(TURNED) & ~rows.ref.isin(yes_to)
    agrees = rows.ref.map(sides).astype(bool) ^ turned
    rows = rows.drop(columns=["prompt", "system"], errors="ignore")
    rows = rows.assign(answer=np.where(agrees, "Agree", "Disagree"), count=20, model="m")
    rows.to_csv(path.with_suffix(".csv"), index=False)
    assert main(["import", str(path), str(path.with_suffix(".csv")), *options]) == 0
    return path


def test_the_changes_of_response_biases(tmp_path: Path) -> None:
    path = answered(
        tmp_path / "a.db", "response_bias", "veldania_choices", ["A", "B", "C", "D", "E", "F", "Z"]
    )
    answers, _, figures = exported(path)
    answers = answers.assign(bias=answers.statement.str.partition(".")[0])
    before, after = (
        shares(answers[answers.variant == variant], "bias", "statement").fillna(0)
        for variant in ("original", "changed")
    )
    reordered = answers[(answers.bias == "response_order") & (answers.variant == "changed")]
    n_options = reordered.groupby("statement").wording.first().str.count(r"\n[A-Z]\. ")
    last_letter = n_options.map(lambda n: "abcdefg"[n - 1])
    labelled = reordered[reordered.label.notna()]
    is_last = labelled["count"] * (labelled.label == labelled.statement.map(last_letter))
    last = is_last.groupby(labelled.statement).sum() / labelled.groupby("statement")["count"].sum()
    changes = {
        "acquiescence": after.a - before.a,
        "allow_forbid": after.b - before.a,
        "opinion_float": before.c - after.c,
        "response_order": before.a - pd.concat({"response_order": last}),
        "odd_even": after.b + after.c - before.b - before.d,  # c is the option that was d
    }
    for bias, change in changes.items():
        mean = change.loc[bias].mean()
        assert figure(figures, "cells", f"imported:m / {bias} / bias", "change") == pytest.approx(
            mean
        ), bias


def test_the_likeness_of_representation(tmp_path: Path) -> None:
    path = answered(
        tmp_path / "a.db", "representation", "veldania_panel", ["A", "B", "C", "D", "No idea."]
    )
    answers, _, figures = exported(path)
    people = pd.read_csv(SHIPPED / "veldania_panel" / "answers.csv")
    answers = answers.assign(is_reversed=answers.factors.str.contains("reversed"))
    letters = shares(answers, "statement", "is_reversed")
    likeness = []
    for question in letters.index.unique("statement"):
        given = set(people[question].dropna())
        scale = next(scale for scale in SCALES if given <= set(scale))
        of_people = people[question].value_counts(normalize=True).reindex(scale, fill_value=0)
        if len(letters.loc[question]) < 2:
            continue  # without a letter in one order of the options, the answers are not compared
        orders = letters.loc[question].reindex(columns=list("abcdefg")[: len(scale)], fill_value=0)
        of_model = np.mean(
            [
                row[::-1] if turned else row
                for turned, row in zip(orders.index, orders.to_numpy(), strict=True)
            ],
            axis=0,
        )
        gap = np.abs(np.cumsum(of_model - of_people.to_numpy())).sum()
        likeness.append(1 - gap / (len(scale) - 1))
    assert figure(figures, "models", "imported:m", "counted") == pytest.approx(np.mean(likeness))


def test_the_accuracy_and_bias_of_questionnaires(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    rng = np.random.default_rng(SEED)
    with new_store(path) as store:
        store.instruments.add(panel())
        predict(store, lambda _: tuple(rng.dirichlet((1, 1, 1))[:2]))
    folder = path.with_suffix(".rows")
    assert (
        main(["export", str(path), str(folder), "--what", "probabilities,figures", "--names"]) == 0
    )
    rows, figures = (pd.read_csv(folder / f"{name}.csv") for name in ("probabilities", "figures"))

    by_label = rows.pivot(index=["statement", "persona"], columns="label", values="probability")
    predicted = by_label.agree / (by_label.agree + by_label.disagree)
    answers = pd.DataFrame({person.name: person.answers for person in people()}).T
    answered = answers.unstack().reindex(predicted.index).map({"agree": 1.0, "disagree": 0.0})
    asked = answered.notna()
    biases = (predicted[asked] - answered[asked]).groupby("statement").mean()
    correct = ((predicted > 0.5) == answered)[asked].groupby("statement").mean()
    for target in biases.index:
        assert figure(figures, "targets", f"oracle / qm / {target}", "bias") == pytest.approx(
            biases[target]
        )
        assert figure(figures, "targets", f"oracle / qm / {target}", "accuracy") == pytest.approx(
            correct[target]
        )
    assert figure(figures, "means", "oracle / qm", "absolute_bias") == pytest.approx(
        biases.abs().mean()
    )
    assert figure(figures, "means", "oracle / qm", "accuracy") == pytest.approx(correct.mean())


def test_the_completions_of_contamination(tmp_path: Path) -> None:
    path = answered(
        tmp_path / "a.db", "contamination", "veldania", ["Should be lowered.", "nothing of it"]
    )
    answers, _, figures = exported(path)
    words = answers.text.str.casefold().str.findall(r"\w+").str.join(" ")
    wordings = answers.wording.str.casefold().str.findall(r"\w+")
    halves = (
        figures[(figures.table == "halves") & (figures.column == "words")].set_index("row").value
    )
    names = answers.statement + " / " + answers.variant
    rests = [
        " ".join(all_[math.ceil(len(all_) / 2) :][: int(halves[name])])
        for all_, name in zip(wordings, names, strict=True)
    ]
    holds = (
        pd.Series([f" {rest} " in f" {text} " for rest, text in zip(rests, words, strict=True)])
        * answers["count"]
    )
    right = holds.groupby(names).sum() > answers["count"].groupby(names).sum() / 2
    of_originals = right[right.index.str.endswith("original")]
    assert 0 < of_originals.sum() < 5
    assert figure(figures, "models", "imported:m", "originals") == pytest.approx(
        of_originals.mean()
    )
