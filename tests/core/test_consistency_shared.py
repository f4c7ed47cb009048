"""Respondents are compared over what both were asked, and the comparison says what it leaves
out.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.tui.audit_runs import small
from workbench.audits.consistency.judged import judge
from workbench.audits.consistency.stances import (
    RespondentKind,
    Stances,
    party_positions,
    reliable_stances,
    restrict_to_shared,
)
from workbench.audits.consistency.tables import differences
from workbench.audits.reliability.counting import Counts
from workbench.audits.reliability.judge import judge as verdicts
from workbench.domain.statements import ORIGINAL, VariantId, VariantKind

REFS = tuple(f"s{n}" for n in range(8))
PARAPHRASE = VariantId(VariantKind.PARAPHRASE, 1)


def model(
    name: str, templates: tuple[str, ...], refs: tuple[str, ...] = REFS, asked: int = 8
) -> Stances:
    values = np.ones((len(templates), len(refs)), dtype=np.int8)
    there = np.zeros(values.shape, dtype=np.bool_)
    there[:, :asked] = True
    return Stances(name, RespondentKind.MODEL, templates, refs, values * there, there)


def test_a_stopped_model_is_compared_on_the_statements_of_which_all_was_asked() -> None:
    first, second, shared = restrict_to_shared(
        model("a", ("t1", "t2")), model("b", ("t1", "t2"), asked=3)
    )
    assert first.statements == second.statements == REFS[:3]
    assert (shared.statements, shared.left_out, shared.without) == (3, (5, 5), ())
    assert shared.said("a", "b") == "over the 3 statements asked of both; left out: a 5, b 5"


def test_two_models_are_compared_under_the_templates_that_both_have() -> None:
    first, second, shared = restrict_to_shared(model("a", ("t1", "t2")), model("b", ("t2", "t3")))
    assert first.templates == second.templates == shared.templates == ("t2",)
    assert shared.without == ("t1", "t3")
    assert shared.said("a", "b").startswith(
        "over the 8 statements asked of both, under 1 template that both have"
    )


def test_people_and_parties_have_their_own_templates() -> None:
    person = Stances(
        "ana", RespondentKind.PERSON, ("survey",), REFS[:2], np.ones((1, 2), dtype=np.int8)
    )
    first, second, shared = restrict_to_shared(model("a", ("t1", "t2")), person)
    assert (first.templates, second.templates, shared.without) == (("t1", "t2"), ("survey",), ())
    assert shared.left_out == (6, 0)


def test_a_statement_of_which_a_wording_was_not_asked_is_not_compared() -> None:
    shape = (1, 2, 2, 2)
    positive = np.full(shape, 30, dtype=np.int32)
    positive[0, 1, 1] = 0
    nothing = np.zeros(shape, dtype=np.int32)
    counts = Counts(
        ("s0", "s1"),
        (ORIGINAL, PARAPHRASE),
        ("t",),
        positive,
        nothing,
        nothing,
        np.ones((2, 2), bool),
        30,
    )
    assert reliable_stances("m", verdicts(counts)).complete == {"s0"}
    failed = np.zeros(shape, dtype=np.bool_)
    failed[0, 1, 1] = True
    assert reliable_stances("m", verdicts(replace(counts, failed=failed))).complete == {
        "s0",
        "s1",
    }, "it was asked"


def test_the_tables_say_over_what() -> None:
    refs = tuple(statement.ref for statement in small().statements)
    whole, stopped = model("a", ("t1",), refs, 4), model("b", ("t1",), refs, 2)
    labels = {ref: {"law_and_order": 1} for ref in refs}
    result = judge(party_positions(small(), labels), (whole, stopped))
    tables = [*differences(result, "a", "b", "all", ("signed",))]
    assert all(
        table.notes == ("a − b: over the 2 statements asked of both; left out: a 2, b 2.",)
        for table in tables
    )
    rows = result.compare_issues("a", "b")
    assert {row.shared.left_out for row in rows} == {(2, 2)}
    assert all(row.difference.value == pytest.approx(0) for row in rows if row.difference.defined)
