"""Runs side by side: which items count, what changed, tests, and a model over time."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.audits.comparison.book import book, changed_items, tables
from workbench.audits.comparison.judge import (
    Compared,
    ComparedSide,
    ItemVerdict,
    VerdictKind,
    changes,
    common,
    comparison_lines,
    differing,
    item_rows,
    over_time,
    overall,
    resolve_run_names,
)
from workbench.errors import AmbiguousRun, UnknownName, UsageError
from workbench.figures.write.data_files import csv_files
from workbench.figures.write.document import document
from workbench.figures.write.html import html_page
from workbench.figures.write.latex import latex_files
from workbench.stats.hypothesis_tests import mcnemar

KIND = VerdictKind("all", "all tests", "pass", "fail")
LETTERS = {"p": "pass", "f": "fail", "i": "insufficient", "v": "void"}


def side(
    name: str, verdicts: str, *, texts: str = "", last: str = "", **factors: str
) -> ComparedSide:
    """Return a run with a letter for each statement; a blank: it was not asked."""
    of = {
        f"s{at}": ItemVerdict(LETTERS[letter], texts[at] if texts else "")
        for at, letter in enumerate(verdicts)
        if letter != " "
    }
    made = {
        "model": name,
        "version": "",
        "language": "en",
        "templates": "chat",
        "sampling": "T 1",
    } | factors
    return ComparedSide(name, made["model"], made, {"all": of}, last)


def of(
    *sides: ComparedSide,
    kinds: tuple[VerdictKind, ...] = (KIND,),
    texts: Mapping[str, str] | None = None,
) -> Compared:
    return Compared("runs", kinds, sides, texts or {})


def test_only_decided_pairs_are_tested_and_every_item_is_accounted_for() -> None:
    one, answered = changes(
        of(side("a", "pppppffiv "), side("b", "pffffpfpp p".replace(" ", "p", 1)))
    )
    assert (answered.kind.name, answered.n, answered.lost, answered.gained) == ("answered", 9, 0, 1)
    assert (one.n, one.undecided, one.lost, one.gained) == (9, 2, 4, 1)
    assert one.difference.n == 7
    assert (one.first_share, one.second_share) == pytest.approx((5 / 7, 2 / 7))
    assert one.difference.value == pytest.approx(-3 / 7)
    assert one.difference.low < one.difference.value < one.difference.high
    assert one.p == pytest.approx(mcnemar(4, 1))


def test_several_runs_are_compared_over_what_all_were_asked() -> None:
    three = of(side("a", "pppp"), side("b", "fff "), side("c", " pfp"))
    over = common(KIND, three.sides)
    assert over.items == ("s1", "s2")
    assert over.missing == {"a": 2, "b": 1, "c": 1}
    assert {one.n for one in changes(three)} == {2}
    assert (
        "2 statements asked of all; left out: not asked of all: a 2, b 1, c 1."
        in comparison_lines(three)
    )
    assert [row.compared for row in item_rows(three, KIND)] == [
        "not asked of all",
        "",
        "",
        "not asked of all",
    ]


def test_an_item_that_was_asked_in_other_words_is_left_out_and_counted() -> None:
    two = of(side("a", "ppp", texts="xyz"), side("b", "fff", texts="xyw"))
    assert common(KIND, two.sides).items == ("s0", "s1")
    assert common(KIND, two.sides).reworded == 1
    assert "left out: asked in different words: 1." in " ".join(comparison_lines(two))
    assert [row.changed for row in item_rows(two, KIND)] == [True, True, False]


def test_languages_are_compared_unpaired_and_that_is_said() -> None:
    two = of(side("a", "ppppf", texts="abcde"), side("b", "ffpff", texts="vwxyz", language="de"))
    (one,) = changes(two)
    assert one.difference.interval == "difference of unpaired shares"
    assert one.difference.value == pytest.approx(-0.6)
    assert math.isnan(one.p)
    assert one.untested.startswith("unpaired: the languages differ (de, en)")
    assert (one.same.value, one.same.n, one.same.interval) == (0.4, 5, "share of items"), (
        "the verdicts are alike or not"
    )
    assert [row.changed for row in item_rows(two, KIND)] == [True, True, False, True, False]
    assert any("unpaired" in line for line in comparison_lines(two))


def test_what_runs_differ_in_is_named_and_more_than_one_thing_is_a_warning() -> None:
    two = of(side("a", "p"), side("b", "f", sampling="T 0.5", version="7"))
    assert differing(two.sides) == ("model", "sampling")
    assert comparison_lines(two)[0].startswith(
        "! These runs differ in 2 respects (model, sampling)"
    )
    assert not comparison_lines(of(side("a", "p"), side("b", "f")))[0].startswith("!")
    same = of(side("a", "p", model="m"), side("b", "f", model="m"))
    assert comparison_lines(same)[0].startswith("! These runs differ in no recorded respect")


def test_p_values_are_adjusted_over_all_tests_of_the_comparison() -> None:
    found = changes(of(side("a", "p" * 12), side("b", "f" * 12), side("c", "p" * 6 + "f" * 6)))
    assert [round(one.p, 4) for one in found] == [0.0005, 0.0312, 0.0312]
    assert [round(one.holm, 4) for one in found] == [0.0015, 0.0625, 0.0625]
    assert [round(one.false_discovery, 4) for one in found] == [0.0015, 0.0312, 0.0312]


def test_kinds_whose_items_are_no_sample_are_not_tested() -> None:
    cells = VerdictKind("cells", "cells", "pass", "fail", "cell", tested=False)
    made = Compared(
        "runs",
        (cells,),
        [
            ComparedSide(name, name, {"model": name}, {"cells": {"x": ItemVerdict(word)}})
            for name, word in (("a", "pass"), ("b", "fail"))
        ],
    )
    (one,) = changes(made)
    assert (one.lost, one.untested) == (1, "not tested: cells are not a sample")
    assert math.isnan(one.p)
    assert math.isnan(one.difference.low)


def versions(*verdicts: str) -> Compared:
    return of(
        *(
            side(f"m · {at}", each, model="m", version=f"snapshot {at}", last=f"2025-0{9 - at}-01")
            for at, each in enumerate(verdicts)
        )
    )


def test_versions_of_a_model_stand_in_the_order_in_which_they_were_asked() -> None:
    found = over_time(versions("ppppppff", "ppffffff", "pfffffff"))
    assert [one.side.name for one in found] == ["m · 2", "m · 1", "m · 0"]
    assert found[0].change is None
    assert [one.change.gained for one in found[1:] if one.change] == [1, 4]
    assert [one.share.value for one in found] == [1 / 8, 2 / 8, 6 / 8]
    (whole,) = overall(versions("ppppppff", "ppffffff", "pfffffff"))
    assert (whole.found.n, whole.found.df) == (8, 2)
    assert whole.found.p < 0.05


def test_runs_of_several_models_are_no_line() -> None:
    assert over_time(of(side("a", "pp"), side("b", "pf"))) == ()
    contents = {
        entry.name: entry.empty for entry in book(of(side("a", "pp"), side("b", "pf"))).contents
    }
    assert contents["over_time"].startswith("No two of these runs are versions of one model")


def test_items_that_did_not_change_are_minor_and_those_that_did_come_first() -> None:
    two = of(side("a", "pppf"), side("b", "ppfi"), texts={"s2": "Taxes are fine."})
    table = changed_items(two, KIND)
    assert [row.item for row in table.rows] == ["s2", "s3", "s0", "s1"]
    assert table.minor is not None
    assert [table.minor(row) for row in table.rows] == [False, False, True, True]
    shown = next(one for one in tables(two, data=False) if one.name == "changed_items")
    assert [row.item for row in shown.rows] == ["s2", "s3"]


def test_every_medium_has_the_tables() -> None:
    made = list(tables(versions("ppff", "pfff"), data=True))
    names = [one.name for one in made]
    assert names == ["compared_runs", "changes", "changed_items", "over_time"]
    assert set(csv_files(made)) == {
        "compared_runs.csv",
        "changes.csv",
        "changed_items-all.csv",
        "over_time.csv",
    }
    assert {row["name"] for row in document(made, {})["tables"]} == set(names)
    assert "Changes between the runs" in html_page(made, "runs", ())
    assert set(latex_files(made)) == {name.replace(".csv", ".tex") for name in csv_files(made)}


def test_runs_are_meant_by_their_own_name_or_by_that_of_a_model_with_one_run() -> None:
    there = {"m · en": "m", "m · de": "m", "n": "n", "o · x": "o"}
    assert resolve_run_names(["m · de", "o"], there) == ("m · de", "o · x")
    for names, error, words in (
        (["m", "n"], AmbiguousRun, "asked in 2 ways"),
        (["q", "n"], UnknownName, "there is no run or model 'q'"),
        (["n"], UsageError, "give two or more runs"),
        (["n", "n"], UsageError, "n twice"),
    ):
        with pytest.raises(error, match=words):
            resolve_run_names(names, there)
    with pytest.raises(UsageError, match="two or more"):
        of(side("a", "p"))


verdict_lists = st.lists(st.sampled_from("pfiv"), min_size=1, max_size=30)


@given(verdict_lists, st.randoms(use_true_random=False))
def test_a_comparison_turns_round_with_its_runs(letters: list[str], random: object) -> None:
    other = random.sample(letters, len(letters))  # type: ignore[attr-defined]
    first, second = side("a", "".join(letters)), side("b", "".join(other))
    (one, *_), (turned, *_) = changes(of(first, second)), changes(of(second, first))
    assert (one.lost, one.gained, one.undecided) == (turned.gained, turned.lost, turned.undecided)
    assert one.p == turned.p or math.isnan(one.p)
    if one.difference.defined:
        assert one.difference.value == pytest.approx(-turned.difference.value)
    same = sum(a == b for a, b in zip(letters, other, strict=True))
    assert sum(row.changed for row in item_rows(of(first, second), KIND)) == len(letters) - same
