"""The screens and the command line have one seed, and so one interval for the same answers."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workbench
from stores.core.store import Store
from tests.cli.test_commands import data, rows
from tests.conftest import new_store
from tests.jobs.test_response_bias_runs import ask
from tests.questionnaire_stores import card, panel, predict
from tests.tui import bias_stores
from tests.tui.audit_runs import NO, UNREADABLE, YES, Answers, audited, judged, small
from tests.tui.conftest import made
from tests.tui.test_adjudicate_screen import labelled, queued
from tests.tui.test_agreement_screen import FIRST, SECOND
from tests.tui.test_consistency_screen import base as with_parties
from tests.tui.test_response_bias_screen import pairs
from workbench import registry
from workbench.audits.bias_score import AUDIT as BIAS
from workbench.audits.bias_score.options import ScoreOptions
from workbench.audits.consistency import AUDIT as CONSISTENCY
from workbench.audits.consistency.options import ConsistencyOptions
from workbench.audits.questionnaire.options import PredictionOptions
from workbench.audits.response_bias import AUDIT
from workbench.audits.response_bias.options import DEFAULTS, ChangeOptions
from workbench.data import shipped_templates
from workbench.domain.designs import Design
from workbench.domain.instruments import Instrument, with_pairs
from workbench.domain.keys import SEED, content_key
from workbench.domain.prompts import Probe
from workbench.figures.json_values import to_json_values
from workbench.figures.table import AnyTable, Value
from workbench.inference.scripted.answers import LetterHabits
from workbench.inference.scripted.model import ScriptedModel, ScriptedPersona
from workbench.tui.kit.base import of_store
from workbench.tui.results import (
    annotators,
    result_screen,
)
from workbench.tui.results.loaded import Settings

WRITTEN_HERE = ("domain/keys.py",)
WITHOUT = {("audits/questionnaire/figures.py", "Condition")}
"a seed of 0 that says that nothing was drawn"


def values(table: AnyTable) -> list[list[Value]]:
    """Return all that a table shows."""
    return [[column.value(row) for column in table.columns] for row in table.rows]


def intervals(found: Any) -> set[tuple[float, float]]:
    """Return the ends of all intervals in what a screen shows, or in what the command line
    prints.
    """
    return {
        (each["low"], each["high"])
        for each in _mappings(to_json_values(found))
        if isinstance(each.get("low"), float) and isinstance(each.get("high"), float)
    }


def _mappings(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    for each in value if isinstance(value, list) else ():
        yield from _mappings(each)


def wavering(probe: Probe) -> Answers:
    """A model of which every statement has a stance of its own, and every prompt may turn it."""
    key = [probe.statement, probe.variant, probe.template, str(probe.inverted)]
    rng = np.random.default_rng(list(content_key(key)))
    yes = int(rng.choice([2, 15, 28]))
    return (
        ((YES, yes), (NO, 28 - yes), (UNREADABLE, 2)) if yes < 28 else ((YES, 28), (UNREADABLE, 2))
    )


def firm(probe: Probe) -> Answers:
    """A model that agrees with some statements and disagrees with others, whatever the prompt."""
    agrees = probe.statement in ("s-1", "s-2", "s-4", "s-7")
    return ((YES if agrees != (probe.variant in ("negation", "opposite")) else NO, 30),)


def test_reliability_and_people(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = audited(tmp_path / "a.db", wavering, base=small())
    loaded = judged(path)
    shell = data(capsys, "show", path, "reliability")
    book = loaded.book
    assert book is not None
    screen = intervals([values(entry.make()) for entry in book.contents])
    assert screen
    assert screen <= intervals(shell)
    items = intervals(
        [loaded.source.report.item_agreement("paraphrase").of(place) for place in range(4)]
    )
    assert items <= intervals(rows(shell, "item_agreement"))


@pytest.mark.e2e
def test_bias(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = bias_stores.full(tmp_path / "bias.db")
    found = of_store(
        path, lambda store: result_screen.load(store, BIAS, result_screen.Settings(ScoreOptions()))
    ).source
    assert found is not None
    report = found.judged.report
    screen = intervals([report.figure(model) for model in report.tally.models])
    assert screen <= intervals(data(capsys, "show", path, "bias_score"))


def test_questionnaire(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = made(tmp_path / "panel.db", panel(12))
    with Store.open(path) as store:
        predict(store, _masses, card("doubts"), conditions=("qm", "zero-shot"))
    audit = registry.audit("questionnaire")
    judged = of_store(
        path, lambda store: result_screen.load(store, audit, Settings(PredictionOptions()))
    ).source
    (report,) = judged.reports.values()
    screen = intervals([*(report.condition(one) for one in report.conditions), report.ablations()])
    assert screen
    assert screen <= intervals(data(capsys, "show", path, "questionnaire"))


def _masses(probe: Probe) -> tuple[float, float]:
    yes = np.random.default_rng(list(content_key([probe.prompt.key.hex()]))).uniform(0.1, 0.9)
    return float(yes), float(1 - yes)


def test_consistency(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = audited(tmp_path / "c.db", firm, base=with_parties())
    judged = of_store(
        path, lambda store: result_screen.load(store, CONSISTENCY, Settings(ConsistencyOptions()))
    ).source
    result = judged.result
    screen = intervals([(result.leaning(name), result.issues(name)) for name in result.models])
    assert screen
    assert screen <= intervals(data(capsys, "show", path, "consistency"))


def test_likeness_to_people(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "choices.db"
    with new_store(path) as store:
        blank = Instrument("choices", "Choices", (), templates=shipped_templates("response_bias"))
        store.instruments.add(with_pairs(blank, pairs(), ()))
        model = ScriptedModel(
            ScriptedPersona(letters=LetterHabits(weights=(4.0, 2.0, 1.0), by_text=0.4)),
            name="first",
        )
        ask(
            store,
            model,
            Design("choices", "first", "response_bias", 20, DEFAULTS.sampling, family="lettered"),
        )
    judged = of_store(
        path,
        lambda store: result_screen.load(store, AUDIT, result_screen.Settings(ChangeOptions())),
    ).source
    assert judged is not None
    screen = intervals(list(judged.people.values()))
    assert screen
    assert screen <= intervals(data(capsys, "show", path, "response_bias", "--table", "people"))


def test_agreement_of_annotators(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "q.db"
    units = queued(path, [f"answer {n}" for n in range(10)])
    for name, labels in (("Annabel", FIRST), ("Bartholomew", SECOND)):
        labelled(path, name, dict(zip(units, labels, strict=True)))
    book = of_store(path, lambda store: annotators.load(store, "q")).book
    assert book is not None
    screen = intervals(
        [values(entry.make(*subject)) for entry in book.contents for subject in entry.subjects]
    )
    assert screen
    assert screen <= intervals(data(capsys, "agreement", path, "--queue", "q"))


@pytest.mark.e2e
def test_one_constant_is_the_default_everywhere() -> None:
    """No other file of the program gives a seed a number of its own."""
    root = Path(workbench.__file__).parent
    found = []
    for file in sorted(root.rglob("*.py")):
        name = file.relative_to(root).as_posix()
        if name not in WRITTEN_HERE:
            found += [f"{name}:{line}" for line in _own_seeds(ast.parse(file.read_text()), name)]
    assert not found
    assert SEED == 1


def _own_seeds(tree: ast.Module, name: str) -> Iterator[int]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and (name, node.name) not in WITHOUT:
            for each in node.body:
                if isinstance(each, ast.AnnAssign) and getattr(each.target, "id", "") == "seed":
                    yield from _numbers(each.value)
        if isinstance(node, ast.FunctionDef):
            named = [*node.args.posonlyargs, *node.args.args]
            pairs = [*zip(named[::-1], node.args.defaults[::-1], strict=False)]
            pairs += [*zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)]
            for argument, default in pairs:
                if argument.arg == "seed":
                    yield from _numbers(default)
        if isinstance(node, ast.Call) and any(
            isinstance(a, ast.Constant) and a.value == "--seed" for a in node.args
        ):
            yield node.lineno
        if isinstance(node, ast.Assign) and any(
            getattr(t, "id", "").endswith("SEED") for t in node.targets
        ):
            yield from _numbers(node.value)


def _numbers(value: ast.expr | None) -> Iterator[int]:
    if isinstance(value, ast.Constant) and str(value.value).isdigit():
        yield value.lineno
