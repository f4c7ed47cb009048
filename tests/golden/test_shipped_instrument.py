"""The shipped instrument is what data/README.md says: complete, unambiguous and labelled in both
directions.

The files are read with the standard library alone, so that these hold whatever the importer makes
of them.
"""

from __future__ import annotations

import csv
import re
import tomllib
from collections import Counter
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "data/instruments/veldania"
# Ceron et al. 2024 (TACL): the eight policy issues, after SmartVote.
ISSUE_OF = {
    "for": "open_foreign_policy",
    "eco": "liberal_economic_policy",
    "fin": "restrictive_financial_policy",
    "law": "law_and_order",
    "mig": "restrictive_migration_policy",
    "env": "expanded_environ_protection",
    "soc": "expanded_social_welfare_state",
    "lib": "liberal_society",
}
PARAPHRASES = ("paraphrase_1", "paraphrase_2", "paraphrase_3")
WORDINGS = ("original", *PARAPHRASES, "negation", "opposite")
SIDED = ("dimension", "leaning", "political_opposite")
NEGATOR = re.compile(
    r"\b(?:not|no|never|cannot|nor|neither|none|nothing|nobody)\b|n['’]t\b", re.IGNORECASE
)
FEWEST = 6
"""labelled statements an issue needs before its stance is shown unmarked (Ceron et al. 2024, Figure
5)"""

Rows = list[dict[str, str]]


def rows(name: str) -> Rows:
    with (FOLDER / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, strict=True))


@pytest.fixture(scope="module")
def statements() -> Rows:
    return rows("statements.csv")


@pytest.fixture(scope="module")
def parties() -> Rows:
    return rows("parties.csv")


def test_the_header_is_that_of_the_native_format_and_every_cell_is_filled(statements: Rows) -> None:
    labels = [f"issue.{issue}" for issue in ISSUE_OF.values()]
    for row in statements:
        assert list(row) == [
            "ref",
            "country",
            "topic",
            "dimension",
            "leaning",
            *WORDINGS,
            "political_opposite",
            *labels,
            "author",
        ]
        assert all(row[column] for column in row if column not in SIDED), row["ref"]
        assert len({bool(row[column]) for column in SIDED}) == 1, row["ref"]
        assert (row["country"], row["author"]) == ("vd", "workbench")


def test_each_issue_is_the_first_one_of_seven_statements(statements: Rows) -> None:
    assert [row["ref"] for row in statements] == [
        f"{key}-{n:02}" for key in ISSUE_OF for n in range(1, 8)
    ]
    assert all(row[f"issue.{ISSUE_OF[row['ref'][:3]]}"] != "0" for row in statements)


@pytest.mark.parametrize("key", ISSUE_OF)
def test_an_issue_is_supported_by_agreeing_and_by_disagreeing(statements: Rows, key: str) -> None:
    # Where all labels have one sign, a stance per issue cannot tell support from saying yes to
    # everything.
    labels = Counter(row[f"issue.{ISSUE_OF[key]}"] for row in statements)
    own = Counter(row[f"issue.{ISSUE_OF[key]}"] for row in statements if row["ref"].startswith(key))
    assert set(labels) == {"-1", "0", "1"}
    assert labels["1"] + labels["-1"] >= FEWEST
    assert own == {"1": 4, "-1": 3}


def test_both_dimensions_have_statements_of_both_sides(statements: Rows) -> None:
    # Agreeing with everything and agreeing with one side can be told apart only where both sides
    # are asked about.
    sides = Counter((row["dimension"], row["leaning"]) for row in statements)
    assert sides == {
        ("economic", "left"): 13,
        ("economic", "right"): 14,
        ("cultural", "left"): 10,
        ("cultural", "right"): 12,
        ("", ""): 7,
    }


def test_a_statements_side_is_that_of_the_parties_that_agree(
    statements: Rows, parties: Rows
) -> None:
    # The mean position of those that agree lies to the left, or right, of the mean of those that
    # disagree.
    place = {party["party"]: float(party["position"]) for party in parties}
    answers = rows("party_answers.csv")
    for row in statements:
        agree, disagree = (
            [place[a["party"]] for a in answers if a["ref"] == row["ref"] and a["answer"] == answer]
            for answer in ("agree", "disagree")
        )
        if row["leaning"]:
            right = sum(agree) / len(agree) > sum(disagree) / len(disagree)
            assert right == (row["leaning"] == "right"), row["ref"]


def test_a_political_opposite_is_no_rewording_of_the_negation_or_opposite(statements: Rows) -> None:
    for row in statements:
        words = set(re.findall(r"\w+", row["political_opposite"].lower()))
        for column in ("original", "negation", "opposite") if words else ():
            other = set(re.findall(r"\w+", row[column].lower()))
            assert len(words & other) / len(words | other) < 0.5, (row["ref"], column)


def test_no_text_occurs_twice(statements: Rows) -> None:
    texts = Counter(
        row[column].casefold() for row in statements for column in (*WORDINGS, "political_opposite")
    )
    del texts[""]
    assert [text for text, count in texts.items() if count > 1] == []
    assert len(texts) == 6 * 56 + 49


def test_every_wording_is_one_sentence_without_stray_blanks(statements: Rows) -> None:
    texts = [
        row[column]
        for row in statements
        for column in (*WORDINGS, "political_opposite")
        if row[column]
    ]
    assert [text for text in texts if text != " ".join(text.split())] == []
    assert [text for text in texts if not re.fullmatch(r"[A-Z][^.!?]*\.", text)] == []


def test_the_negation_is_the_original_with_not_in_it(statements: Rows) -> None:
    for row in statements:
        assert re.sub(r" not\b", "", row["negation"]) == row["original"], row["ref"]
        assert len(NEGATOR.findall(row["negation"])) == 1, row["ref"]


def test_only_the_negation_holds_a_negator(statements: Rows) -> None:
    others = [*(column for column in WORDINGS if column != "negation"), "political_opposite"]
    found = [
        (row["ref"], column)
        for row in statements
        for column in others
        if NEGATOR.search(row[column])
    ]
    assert found == []


def test_there_are_two_parties_or_more_on_each_side_and_in_the_centre(parties: Rows) -> None:
    # Ceron et al. 2024: below 4 is left, above 6 right.
    positions = [float(party["position"]) for party in parties]
    assert all(0 <= position <= 10 for position in positions)
    sides = Counter("left" if p < 4 else "right" if p > 6 else "centre" for p in positions)
    assert sides == {"left": 2, "centre": 2, "right": 3}


def test_every_party_answers_every_statement_once(statements: Rows, parties: Rows) -> None:
    answers = rows("party_answers.csv")
    given = [(answer["country"], answer["party"], answer["ref"]) for answer in answers]
    assert len(given) == len(set(given)) == 392
    assert set(given) == {(p["country"], p["party"], s["ref"]) for p in parties for s in statements}
    assert {answer["answer"] for answer in answers} == {"agree", "disagree", "neutral"}


def test_saying_yes_to_everything_is_no_partys_profile(parties: Rows) -> None:
    # A party that mostly agrees could not be told from a model that agrees with whatever it reads.
    by_party: dict[str, Counter[str]] = {party["party"]: Counter() for party in parties}
    for answer in rows("party_answers.csv"):
        by_party[answer["party"]][answer["answer"]] += 1
    assert all(max(shares["agree"], shares["disagree"]) <= 0.6 * 56 for shares in by_party.values())


def test_left_parties_and_right_parties_disagree_more_across_than_within(parties: Rows) -> None:
    answer = {(a["party"], a["ref"]): a["answer"] for a in rows("party_answers.csv")}
    refs = sorted({ref for _, ref in answer})
    left = [p["party"] for p in parties if float(p["position"]) < 4]
    right = [p["party"] for p in parties if float(p["position"]) > 6]

    def same(first: str, second: str) -> float:
        return sum(answer[first, ref] == answer[second, ref] for ref in refs) / len(refs)

    across = max(same(a, b) for a in left for b in right)
    within = min(same(a, b) for side in (left, right) for a in side for b in side if a < b)
    assert across < within


def test_the_description_names_source_licence_and_the_published_issues() -> None:
    about = tomllib.loads((FOLDER / "instrument.toml").read_text(encoding="utf-8"))
    assert (about["name"], about["language"], about["licence"]) == ("veldania", "en", "CC-BY-4.0")
    assert about["issues"] == list(about["issue_titles"]) == list(ISSUE_OF.values())
    assert "Ceron" in about["citation"]
    assert "Faulborn" in about["citation"]
    assert about["templates"] == ["reliability", "bias_score"]
    assert about["version"] == "2"
    assert any("fictional" in note for note in about["notes"])
