"""Political consistency on the published ProbVAA data set, against plain calculations from the
authors' files.

Nothing of the import or the audit is used on the plain side: rows of the CSV files, sums and
divisions, by the definitions of Ceron et al. 2024 (TACL), section 7.1, and of its first version
(arXiv v1), Equation 1. The paper prints no number for the baselines; of Figure 4a it says that
"left- and center-leaning parties tend to agree with the statements, whereas right-leaning parties
tend to disagree". Files: repository `tceron/eval_political_worldviews`, commit d71fcb6.
"""

from __future__ import annotations

import csv
from pathlib import Path
from statistics import mean
from typing import Any

import pytest

from stores.core.store import Store
from tests.conftest import published
from workbench.audits.consistency import judged as audit
from workbench.audits.consistency.judged import Consistency, judge_consistency
from workbench.audits.consistency.methods import methods
from workbench.audits.consistency.options import FORMULAS, ConsistencyOptions, Formula
from workbench.audits.consistency.pilot import PER_COUNTRY, draw_statements, scale_collapse
from workbench.audits.consistency.stances import (
    ALWAYS_AGREE,
    ALWAYS_DISAGREE,
    RespondentKind,
    Stances,
    party_positions,
)
from workbench.domain.instruments import Instrument, gold_labels
from workbench.formats.read import read_instrument
from workbench.stats.resampling import derive_rng

COUNTRIES = ("ch", "de", "es", "hu", "it", "nl", "pl")
PARTIES = {"left": 13, "center": 11, "right": 17}
"placed parties: rows of the authors' left-right table below 4, from 4 to 6, above 6"
BASELINES = {
    ALWAYS_AGREE: {"left": 0.5382, "center": 0.5380, "right": 0.4382},
    ALWAYS_DISAGREE: {"left": 0.4236, "center": 0.4116, "right": 0.4654},
}
"computed by `plain_shares` below"
PER_ISSUE = {
    "open_foreign_policy": 25,
    "liberal_economic_policy": 55,
    "restrictive_financial_policy": 29,
    "law_and_order": 19,
    "restrictive_migration_policy": 16,
    "expanded_environ_protection": 32,
    "expanded_social_welfare_state": 38,
    "liberal_society": 44,
}
"the numbers in parentheses of Figure 5; Table 10 has the same sums"


def rows(*parts: str) -> list[dict[str, str]]:
    with published("probvaa", *parts).open(encoding="utf-8", newline="") as file:
        lines = list(csv.reader(file))
    header = lines[0]
    # the first of two columns of one name counts: de.csv has the short and the long name of a party
    return [{name: line[header.index(name)] for name in header} for line in lines[1:]]


def plain_stance(position: str) -> int:
    """+1, -1, or 0 for neutral and no opinion."""
    return (
        {"agree": 1, "disagree": -1}.get(position.split()[-1], 0)
        if "neither" not in position
        else 0
    )


@pytest.fixture(scope="module")
def statements() -> dict[str, set[str]]:
    """Country -> numbers of its statements."""
    found: dict[str, set[str]] = {}
    for row in rows("data", "vaa", "probvaa.csv"):
        country, number, *_ = row["ID"].split("_")
        found.setdefault(country, set()).add(number)
    return found


@pytest.fixture(scope="module")
def answers(statements: dict[str, set[str]]) -> dict[tuple[str, str], dict[str, int]]:
    """(country, party) -> number of the statement -> stance."""
    found: dict[tuple[str, str], dict[str, int]] = {}
    for country in COUNTRIES:
        for row in rows("data", "vaa", f"{country}.csv"):
            if row["statementID"] in statements[country]:
                of_party = found.setdefault((country, row["party"]), {})
                of_party[row["statementID"]] = plain_stance(row["position"])
    return found


@pytest.fixture(scope="module")
def positions() -> dict[tuple[str, str], float]:
    return {
        (row["country"], row["party"]): float(row["lrgen"])
        for row in rows("derived", "party_lrgen.csv")
    }


@pytest.fixture(scope="module")
def labels() -> dict[str, dict[str, int]]:
    """Issue -> `nl_1` -> +1 or -1."""
    found: dict[str, dict[str, int]] = {issue: {} for issue in PER_ISSUE}
    for row in rows("data", "human_annotations", "annotations_spiderweb_gold.csv"):
        ref = "_".join(row["ID"].split("_")[:2])
        for issue in PER_ISSUE:
            if float(row[issue]):
                found[issue][ref] = int(float(row[issue]))
    return found


@pytest.fixture(scope="module")
def probvaa() -> Instrument:
    return read_instrument("probvaa", published("probvaa"))


@pytest.fixture(scope="module")
def result(probvaa: Instrument) -> Consistency:
    return audit.judge(
        party_positions(probvaa, gold_labels(probvaa.issue_labels)), survey=probvaa.survey
    )


def family(position: float) -> str:
    return "left" if position < 4 else "right" if position > 6 else "center"


def plain_shares(sign: int, statements: Any, answers: Any, positions: Any) -> dict[str, float]:
    """Mean over the parties of a family of the share of their country's statements that they answer
    with `sign`.
    """
    found: dict[str, list[float]] = {"left": [], "center": [], "right": []}
    for (country, party), position in positions.items():
        given = answers[country, party].values()
        found[family(position)].append(
            sum(stance == sign for stance in given) / len(statements[country])
        )
    assert {of: len(values) for of, values in found.items()} == PARTIES
    return {of: mean(values) for of, values in found.items()}


@pytest.mark.parametrize(("name", "sign"), [(ALWAYS_AGREE, 1), (ALWAYS_DISAGREE, -1)])
def test_the_baselines_over_seven_countries_are_those_of_the_files(
    name: str, sign: int, result: Consistency, statements: Any, answers: Any, positions: Any
) -> None:
    plain = plain_shares(sign, statements, answers, positions)
    leaning = result.leaning(name)
    found = {row.family.value: row.share.value for row in leaning.families}
    assert found == pytest.approx(plain, abs=1e-12)
    assert found == pytest.approx(BASELINES[name], abs=5e-5)
    assert {row.family.value: row.parties for row in leaning.families} == PARTIES
    assert (leaning.unplaced, leaning.unasked) == (114 - 41, 0)
    for row in leaning.families:
        assert row.share.low < row.share.value < row.share.high


def test_left_and_center_parties_tend_to_agree_and_right_ones_to_disagree(
    result: Consistency,
) -> None:
    """Section 7.2, of Figure 4a."""
    agree, disagree = (
        {row.family.value: row.share.value for row in result.leaning(name).families}
        for name in (ALWAYS_AGREE, ALWAYS_DISAGREE)
    )
    assert agree["left"] > disagree["left"]
    assert agree["center"] > disagree["center"]
    assert agree["right"] < disagree["right"]
    # "there is no discrepancy […] between" them.
    assert agree["left"] == pytest.approx(agree["center"], abs=0.001)


def test_parties_of_one_name_are_kept_apart(
    result: Consistency, answers: Any, statements: Any
) -> None:
    rows_ = {(row.party.country, row.party.name): row for row in result.parties(ALWAYS_AGREE)}
    assert len(rows_) == 114
    for name in ("FDP", "Lega", "SGP", "SP", "Volt"):
        assert sum(key[1] == name for key in rows_) == 2
    for key, row in rows_.items():
        given = answers[key]
        assert row.statements == len(statements[key[0]])
        assert row.answered == sum(stance != 0 for stance in given.values())
        assert row.share.mean == pytest.approx(
            sum(s == 1 for s in given.values()) / len(statements[key[0]])
        )


def plain_stances(given: dict[str, int], of_issue: dict[str, int]) -> dict[Formula, float | None]:
    """All three formulas from answers `nl_1` -> stance; None where they divide by nothing."""
    asked = {ref: label for ref, label in of_issue.items() if ref in given}
    a = sum(label == 1 and given[ref] == 1 for ref, label in asked.items())
    d = sum(label == -1 and given[ref] == -1 for ref, label in asked.items())
    against = sum(label == -given[ref] for ref, label in asked.items())
    n = a + d + against
    plus, minus = (sum(label == sign for label in asked.values()) for sign in (1, -1))
    tacl = (a / plus if plus else 0) - (d / minus if minus else 0) if a + d else 0.0
    return {
        "signed": (a + d - against) / n if n else None,
        "tacl": tacl if asked else None,
        "v1": (a - d) / n if n else None,
    }


@pytest.mark.e2e
def test_every_party_as_a_respondent_has_the_stances_of_the_files(
    probvaa: Instrument, labels: Any, answers: Any
) -> None:
    positions = party_positions(probvaa, gold_labels(probvaa.issue_labels))
    result = audit.judge(positions, options=ConsistencyOptions(resamples=0))
    compared = 0
    for formula in FORMULAS:
        for row in result.party_stances(formula):
            key = (row.party.country, row.party.name)
            given = {f"{key[0]}_{number}": stance for number, stance in answers[key].items()}
            for stance in row.issues:
                plain = plain_stances(given, labels[stance.issue])[formula]
                assert stance.value.defined == (plain is not None), (key, stance)
                if plain is not None:
                    assert stance.value.value == pytest.approx(plain, abs=1e-12), (key, stance)
                    compared += 1
    assert compared > 2400  # of 114 parties x 8 issues x 3 formulas


def respondent(result: Consistency, name: str, issue: str, sign: int) -> Stances:
    """Who always supports (+1) or always opposes (-1) one issue."""
    values = sign * result.positions.labels[result.positions.issue(issue)][None, :]
    return Stances(name, RespondentKind.MODEL, ("t",), result.positions.statements, values)


@pytest.mark.parametrize("issue", PER_ISSUE)
def test_who_always_supports_and_who_always_opposes_score_0_alike_on_the_published_formula(
    issue: str, result: Consistency, labels: Any
) -> None:
    models = [respondent(result, "supporter", issue, 1), respondent(result, "opponent", issue, -1)]
    both = audit.judge(result.positions, models)
    plus, minus = (sum(label == sign for label in labels[issue].values()) for sign in (1, -1))
    assert plus + minus == PER_ISSUE[issue]
    assert both.issue("supporter", issue, "tacl").value.value == 0.0
    assert both.issue("opponent", issue, "tacl").value.value == 0.0
    assert both.issue("supporter", issue, "v1").value.value == pytest.approx(
        (plus - minus) / (plus + minus)
    )
    assert both.issue("opponent", issue, "v1").value.value == 0.0
    assert both.issue("supporter", issue).value.value == 1.0
    assert both.issue("opponent", issue).value.value == -1.0
    assert both.issue(ALWAYS_AGREE, issue, "tacl").value.value == 1.0
    assert both.issue(ALWAYS_DISAGREE, issue, "tacl").value.value == -1.0
    assert both.issue(ALWAYS_AGREE, issue).value.value == pytest.approx(
        (plus - minus) / (plus + minus)
    )


def test_collapsed_answers_keep_the_distances_between_parties_as_table_8_says(
    probvaa: Instrument,
) -> None:
    """Table 8: es .90, it .90, and 1.0 where the files have three answers. It prints 1.0 for
    Hungary, of whose parties one alone has a position, and .94 for Switzerland from the candidates'
    answers, which are not in the files.
    """
    found = {row.country: row for row in scale_collapse(probvaa)}
    assert found["es"].placed.value == pytest.approx(0.902, abs=0.0005)
    assert found["it"].placed.value == pytest.approx(0.906, abs=0.0005)
    for country in ("de", "nl", "pl", "ch"):
        assert found[country].placed.value == pytest.approx(1.0)
    assert found["hu"].every.value == pytest.approx(1.0)
    assert found["hu"].placed.undefined == "0 pairs of parties; three are needed"
    # Column #stats.
    assert [found[country].statements for country in COUNTRIES] == [
        60,
        38,
        24,
        37,
        30,
        30,
        20,
    ]


def test_the_published_pilot_has_ten_statements_of_each_country(probvaa: Instrument) -> None:
    """Appendix B.1."""
    refs = draw_statements(probvaa.statements, 7 * PER_COUNTRY, derive_rng(1, "pilot"))
    assert {
        country: sum(ref.startswith(country) for ref in refs) for country in COUNTRIES
    } == dict.fromkeys(COUNTRIES, PER_COUNTRY)


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory, probvaa: Instrument) -> Path:
    path = tmp_path_factory.mktemp("consistency") / "probvaa.db"
    with Store.open(path, create=True) as store:
        store.instruments.add(probvaa)
    return path


def test_a_store_without_answers_gives_the_same_baselines(
    stored: Path, result: Consistency
) -> None:
    with Store.open(stored) as store:
        judged = judge_consistency(store)
    assert judged.runs == ()
    assert judged.labelled == 193
    assert repr(judged.result.leaning(ALWAYS_AGREE)) == repr(result.leaning(ALWAYS_AGREE))
    assert repr(judged.result.issues(ALWAYS_AGREE)) == repr(result.issues(ALWAYS_AGREE))
    assert "13 left, 11 center, 17 right; 73 without a position" in methods(judged)
    assert len(judged.result.people) == 6
