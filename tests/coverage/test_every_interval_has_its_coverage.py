"""No figure has an interval whose coverage nobody has looked at."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import workbench
from tests.coverage.__main__ import CELLS, PAGE
from tests.coverage.scenarios import SCENARIOS
from tests.coverage.study import LOW, MANY, REPETITIONS, Cell, as_csv, page, read, run
from workbench.figures.intervals import INTERVALS

SOURCES = Path(workbench.__file__).parent
MADE = {"Estimate", "Comparison"}
USUAL = {"small n", "ties or boundaries"}
"""cases of every interval; the third is clustering, or the typical one of units that cannot be
clustered"""
WITHOUT = {"NAN", "nan"}


def table() -> list[Cell]:
    return read(CELLS.read_text(encoding="utf-8"))


def estimates() -> Iterator[tuple[str, ast.Call]]:
    """Yield every place where an estimate is made, with where it is."""
    for path in sorted(SOURCES.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and _name(node.func) in MADE and len(node.args) > 2:
                yield f"{path.relative_to(SOURCES.parent)}:{node.lineno}", node


def _name(node: ast.expr) -> str:
    return (
        node.id
        if isinstance(node, ast.Name)
        else node.attr
        if isinstance(node, ast.Attribute)
        else ""
    )


def _is_nan(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        return _name(node.func) == "float" and ast.unparse(node) == "float('nan')"
    return _name(node) in WITHOUT


def test_an_estimate_with_an_interval_names_its_method() -> None:
    nameless = [
        where
        for where, made in estimates()
        if not any(keyword.arg == "interval" for keyword in made.keywords)
        and not _is_nan(made.args[1])
    ]
    assert not nameless, (
        'makes an interval and does not name its method: give interval="…" '
        "(workbench/figures/intervals.py), "
        "and a scenario in tests/coverage"
    )


def test_every_method_has_been_simulated_in_three_cases() -> None:
    cases: dict[str, set[str]] = {name: set() for name in INTERVALS}
    for cell in table():
        cases[cell.method].add(cell.kind)
    missing = {name: found for name, found in cases.items() if len(found) < 3 or not found >= USUAL}
    assert not missing, "make coverage, with scenarios in tests/coverage"
    assert all(cell.repetitions >= REPETITIONS >= 2_000 for cell in table())


def test_the_table_is_that_of_the_scenarios() -> None:
    names = {one.name for one in SCENARIOS}
    assert len(names) == len(SCENARIOS)
    assert {cell.scenario for cell in table()} == names
    assert page(table()) == PAGE.read_text(encoding="utf-8"), "make coverage"
    assert as_csv(table()) == CELLS.read_text(encoding="utf-8")


def test_the_page_has_every_interval_and_every_case_with_a_bad_value() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for cell in table():
        assert f"| `{cell.interval}` |" in text
        if not cell.coverage >= LOW or 1 - cell.given >= MANY:
            value = f"{100 * cell.coverage:.1f} ± " if cell.given else "– |"
            assert f"| `{cell.interval}` | {cell.kind} | {cell.scenario} | {value}" in text


@pytest.mark.parametrize(
    "cell", [pytest.param(cell, id=f"{cell.interval}, {cell.scenario}") for cell in table()]
)
def test_what_covers_too_little_or_too_much_says_so(cell: Cell) -> None:
    remark = INTERVALS[cell.method].remark
    if cell.coverage + 2 * cell.error < 0.92:
        assert "published" in remark, (
            f"covers {cell.coverage:.1%}: replace the interval, or give none for so few"
        )
    if cell.coverage - 2 * cell.error > 0.98:
        assert "conservative" in remark, f"covers {cell.coverage:.1%}"


@pytest.mark.e2e
@pytest.mark.parametrize("scenario", [pytest.param(one, id=one.name) for one in SCENARIOS])
def test_a_scenario_runs_and_knows_the_intervals_it_is_about(scenario: object) -> None:
    once = scenario.once(np.random.default_rng(1))  # type: ignore[attr-defined]
    assert once
    assert {name.partition(": ")[0] for name in once} <= set(INTERVALS)


def test_a_cell_of_the_table_is_reproduced_by_its_seed() -> None:
    scenario = next(one for one in SCENARIOS if one.name == "10 statements, 3 paraphrases")
    (first,), (second,) = run(scenario, 30), run(scenario, 30)
    assert first == second
    assert 0.7 < first.coverage <= 1
    assert read(as_csv([first]))[0].interval == first.interval
