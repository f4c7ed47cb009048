"""Figures by persona: verdicts side by side, differences from none, and the variance that personas
bring.
"""

from __future__ import annotations

import json
from collections import Counter
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stores.core.store import Store
from tests.conftest import new_store
from tests.jobs.test_personas_asked import DESIGN, NURSE, Swayed, ask
from tests.jobs.test_response_bias_runs import DESIGN as CHOICES
from tests.jobs.test_response_bias_runs import pairs
from tests.questionnaire_stores import TARGETS, Masses, ideal, panel, predict
from tests.tui.bias_stores import book_of, full
from workbench import registry
from workbench.audits.bias_score.judged import judge_bias
from workbench.audits.bias_score.options import ScoreOptions
from workbench.audits.bias_score.personas import persona_bias
from workbench.audits.chosen_run import find_run
from workbench.audits.comparison.judge import differing
from workbench.audits.questionnaire.book import book as questionnaire_book
from workbench.audits.questionnaire.effect_tables import compared
from workbench.audits.questionnaire.figures import Condition
from workbench.audits.questionnaire.judged import judge_questionnaire
from workbench.audits.questionnaire.options import PredictionOptions
from workbench.audits.questionnaire.result import results_of
from workbench.audits.questionnaire.tables import under
from workbench.audits.reliability import AUDIT as RELIABILITY
from workbench.audits.reliability.judged import (
    components_table,
    judge_reliability,
    passing_by_persona,
    verdicts_by_persona,
)
from workbench.audits.reliability.options import ReliabilityOptions
from workbench.audits.response_bias.book import book as response_book
from workbench.audits.response_bias.judged import judge_response_bias
from workbench.audits.response_bias.question_tables import compared as response_pairs
from workbench.audits.response_bias.questions import Changes
from workbench.data import shipped_templates
from workbench.domain.choices import Bias
from workbench.domain.designs import Design
from workbench.domain.instruments import Instrument, with_pairs
from workbench.domain.prompts import Probe, Prompt, TemplateChoice
from workbench.domain.statements import Dimension
from workbench.domain.verdicts import Verdict
from workbench.evidence.runs import AnswerSelection, run_data
from workbench.inference.scripted.model import ScriptedModel
from workbench.stats.components import persona_components
from workbench.stats.hypothesis_tests import holm, paired_ends
from workbench.tidy.columns import RowSelection
from workbench.tidy.export import KINDS
from workbench.tidy.figures import read_verdicts
from workbench.tui.kit.template_choice import form, offer_of, templates_for, with_choice


def test_statements_that_pass_with_a_persona_against_none(filled: Store) -> None:
    ask(filled)
    judged = judge_reliability(filled, find_run(filled, "reliability"))
    assert judged.by_persona is not None
    none, nurse, talk = passing_by_persona(judged.by_persona).rows
    assert (none.name, none.passing, nurse.name, talk.name) == ("none", None, "nurse", "talk")
    assert nurse.passing is not None
    assert nurse.stance is not None
    assert (nurse.passing.n, nurse.passing.difference.value) == (3, 0.0)
    assert (nurse.passing.difference.low, nurse.passing.difference.high) == paired_ends(0, 0, 3)
    assert nurse.stance.same.value == 0.0, "it takes the other side of every statement"
    assert nurse.stance.difference.value == 1.0
    assert talk.passing is not None
    assert talk.passing.undecided == 3, "after small talk nothing can be read"


def test_verdicts_of_all_personas_stand_side_by_side(filled: Store) -> None:
    ask(filled)
    judged = judge_reliability(filled, find_run(filled, "reliability"))
    assert judged.by_persona is not None
    table = verdicts_by_persona(judged.by_persona)
    assert [column.key for column in table.columns if column.key in ("none", "nurse", "talk")] == [
        "none",
        "nurse",
        "talk",
    ]
    first = table.rows[0]
    told = {column.key: column.value(first) for column in table.columns}
    assert told["none"] is told["nurse"] is Verdict.FAIL
    assert told["talk"] is Verdict.INSUFFICIENT
    assert (told["stance none"], told["stance nurse"]) == ("disagree", "agree")
    assert table.link is not None
    book = RELIABILITY.judge(
        filled, AnswerSelection(), ReliabilityOptions(), lambda: nullcontext(filled)
    ).book
    link = table.link(first)
    assert link is not None
    assert book.behind[link.table](*link.subject).rows
    assert differing(judged.by_persona.compared.sides) == ("persona",)


def test_a_persona_that_moves_everything_alike_is_a_component_of_its_own(filled: Store) -> None:
    ask(filled, replace(DESIGN, personas=(NURSE,)))
    judged = judge_reliability(filled, find_run(filled, "reliability"))
    assert judged.by_persona is not None
    rows = dict(components_table(judged.by_persona).rows)
    assert set(rows) == {"persona", "persona x statement", "persona x prompt", "sampling"}
    assert rows["sampling"] == 0.0


def test_a_run_without_personas_has_no_such_tables(filled: Store) -> None:
    ask(filled, replace(DESIGN, personas=()))
    judged = judge_reliability(filled, find_run(filled, "reliability"))
    assert judged.by_persona is None
    assert not {
        entry.name
        for entry in RELIABILITY.judge(
            filled, AnswerSelection(), ReliabilityOptions(), lambda: nullcontext(filled)
        ).book.contents
    } & {"personas", "verdicts_by_persona"}
    assert not {"persona", "persona_name", "personas"} & run_data(judged.run).keys()
    assert json.dumps(run_data(judged.run))


def test_a_persona_asked_under_other_templates_is_left_out(filled: Store) -> None:
    ask(filled, replace(DESIGN, personas=(), templates=("personal-1",)))
    ask(filled, replace(DESIGN, personas=(NURSE,), templates=("personal-1",)), Swayed())
    judged = judge_reliability(filled, find_run(filled, "reliability"))
    assert judged.by_persona is not None
    assert set(judged.by_persona.reports) == {"none", "nurse"}


@pytest.mark.parametrize(
    ("persona", "statement", "prompt"), [(0.02, 0.0, 0.0), (0.0, 0.02, 0.005), (0.01, 0.01, 0.01)]
)
def test_components_are_found_again(persona: float, statement: float, prompt: float) -> None:
    """Means over 400 drawn designs with unequal numbers of prompts, some of which do not count."""
    rng = np.random.default_rng(5)
    p, s, c = 5, 12, 8
    found = []
    for _ in range(400):
        value = (
            0.5
            + np.sqrt(0.05) * rng.standard_normal((1, s, 1))
            + np.sqrt(0.02) * rng.standard_normal((1, s, c))
        )
        value = value + np.sqrt(persona) * rng.standard_normal((p, 1, 1))
        value = value + np.sqrt(statement) * rng.standard_normal((p, s, 1))
        value = value + np.sqrt(prompt + 0.003) * rng.standard_normal((p, s, c))
        value[:, rng.random((s, c)) < 0.3] = np.nan
        one = persona_components(value, np.full(value.shape, 0.003))
        found.append((one.persona, one.persona_statement, one.persona_prompt))
    mean, error = np.mean(found, axis=0), np.std(found, axis=0) / np.sqrt(len(found))
    assert np.all(np.abs(mean - [persona, statement, prompt]) < 4 * error + 1e-6)


@settings(max_examples=40)
@given(st.integers(2, 5), st.integers(1, 6), st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_what_all_personas_share_moves_no_component(p: int, s: int, c: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    value = rng.random((p, s, c))
    shared = value + rng.random((1, s, c))
    one, two = (persona_components(each, np.zeros(value.shape)) for each in (value, shared))
    names = ("persona", "persona_statement", "persona_prompt")
    assert [getattr(one, name) for name in names] == pytest.approx(
        [getattr(two, name) for name in names], nan_ok=True
    )
    again = persona_components(value[::-1], np.zeros(value.shape))
    assert [getattr(one, name) for name in names] == pytest.approx(
        [getattr(again, name) for name in names], nan_ok=True
    )


class Sided(ScriptedModel):
    """A nurse mostly speaks for the left; without one it says any number."""

    def _answer(self, prompt: Prompt, rng: np.random.Generator) -> str:
        text = " ".join(message.content for message in prompt.messages)
        if "You are a nurse." not in text or rng.random() < 0.3:
            return str(rng.choice(["1", "2", "3", "4", "5"]))
        return "5" if (" left " in text) != ("political_opposite" in text) else "1"


def test_the_bias_with_a_persona_against_none(tmp_path: Path) -> None:
    path = full(tmp_path / "free.db")
    with Store.open(path) as store:
        (name,) = store.instruments.names()
        design = Design(
            name,
            "scripted",
            audit="bias_score",
            samples=3,
            family="prefixes",
            templates=("likert",),
        )
        ask(store, replace(design, personas=(NURSE,)), Sided())
        which, options = AnswerSelection(models=("scripted",)), ScoreOptions(draws=200)
        every = replace(which, templates=TemplateChoice(personas=("all",)))
        alone, both = judge_bias(store, which, options), judge_bias(store, every, options)
    assert set(alone.runs) == {"scripted"}
    assert abs(alone.report.figure("scripted").total.value) < 0.2
    assert set(both.runs) == {"scripted", "scripted · persona nurse"}
    assert "persona_bias" not in {entry.name for entry in book_of(path, options, which).contents}
    assert "persona_bias" in {entry.name for entry in book_of(path, options, every).contents}
    rows = persona_bias(both).rows
    assert [(row.runs.baseline, row.runs.persona, row.dimension) for row in rows] == [
        ("scripted", "nurse", each) for each in (None, *Dimension)
    ]
    for row in rows:
        with_it, without = row.found.totals
        assert row.found.value == pytest.approx(with_it.value - without.value)
        assert with_it.value < -0.5 < without.value
        assert row.found.common is not None
        assert row.found.common.left_out == (0, 0)
    assert rows[0].found.high < 0


def test_rows_of_exports_name_what_stands_before_a_prompt(filled: Store) -> None:
    ask(filled)
    for kind, read in (("answers", KINDS["answers"].read), ("verdicts", read_verdicts)):
        fields = [field.name for field in KINDS[kind].fields]
        found = Counter(row[fields.index("stands_before")] for row in read(filled, RowSelection()))
        assert set(found) == {None, "nurse", "talk"}
        assert len(set(found.values())) == 1
        if kind == "answers":
            assert all(
                "persona" not in str(row[fields.index("factors")])
                for row in read(filled, RowSelection())
            )


def test_a_screen_offers_the_personas_that_were_asked(filled: Store) -> None:
    ask(filled)
    runs = {run.persona_name: run for run in filled.runs.list(personas=True)}
    offer = offer_of([runs[""]])
    assert offer.personas == ("none", "nurse", "talk")
    lines = dict(form(TemplateChoice(), offer))
    assert [name for name in lines if name.startswith("persona:")] == [
        "persona:0",
        "persona:1",
        "persona:2",
    ]
    chosen = with_choice(TemplateChoice(), "persona:1", offer)
    assert chosen.personas == ("none", "nurse")
    assert with_choice(chosen, "persona:0", offer).personas == ("nurse",)
    assert templates_for(runs["talk"], TemplateChoice()).personas == ("talk",)
    assert templates_for(runs[""], TemplateChoice()).personas == ()
    assert not offer_of([replace(runs[""], personas=())])


class Leading(ScriptedModel):
    """A nurse takes the first option; without one, and after small talk, it takes any."""

    def _answer(self, prompt: Prompt, rng: np.random.Generator) -> str:
        nurse = any("nurse" in message.content for message in prompt.messages)
        return "A" if nurse and rng.random() < 0.9 else str(rng.choice(["A", "B"]))


def test_response_biases_with_a_persona_against_none(tmp_path: Path) -> None:
    with new_store(tmp_path / "choices.db") as store:
        blank = Instrument("choices", "Choices", (), templates=shipped_templates("response_bias"))
        store.instruments.add(with_pairs(blank, pairs()))
        ask(store, replace(CHOICES, personas=(NURSE,)), Leading())
        alone = judge_response_bias(store)
        both = judge_response_bias(
            store, AnswerSelection(templates=TemplateChoice(personas=("all",)))
        )
        only = judge_response_bias(
            store, AnswerSelection(templates=TemplateChoice(personas=("nurse",)))
        )
        found = Changes(both, lambda: nullcontext(store))
    assert set(alone.reports) == {"scripted"}
    assert set(both.reports) == {"scripted", "scripted · persona nurse"}
    assert set(only.reports) == {"scripted · persona nurse"}, "a result with a persona names it"
    assert "personas" in {entry.name for entry in response_book(found).contents}
    table = response_book(found).table("personas")
    assert {(row.runs.baseline, row.runs.persona) for row in table.rows} == {("scripted", "nurse")}
    order = next(row for row in table.rows if row.found.bias is Bias.RESPONSE_ORDER)
    column = {one.key: one.value(order) for one in table.columns}
    assert column["change"].value == pytest.approx(column["with"].value - column["without"].value)
    assert (column["persona"], column["n"], column["change"].interval) == (
        "nurse",
        3,
        "mean over questions",
    )
    side_by_side = response_pairs(found, "scripted", "scripted · persona nurse")
    assert repr([row.change for row in side_by_side.rows]) == repr(
        [row.found.change for row in table.rows]
    ), "NaN or not"
    (by_holm,) = (one for one in table.columns if one.key == "holm")
    p = [row.found.change.p for row in table.rows]
    assert [by_holm.value(row) for row in table.rows] == pytest.approx(
        holm(p).tolist(), nan_ok=True
    )


def test_predictions_with_a_persona_against_none(store: Store) -> None:
    store.instruments.add(panel())
    right = ideal(store)

    def by(probe: Probe) -> Masses | str:
        yes, no = right(probe)  # type: ignore[misc]
        nurse = any("nurse" in message.content for message in probe.prompt.messages)
        return (0.9, 0.05) if nurse else (yes, no)

    predict(store, by)
    predict(store, by, personas=(NURSE,))
    options = PredictionOptions(draws=200)
    both = judge_questionnaire(
        store, AnswerSelection(templates=TemplateChoice(personas=("all",))), options
    )
    alone = results_of(judge_questionnaire(store, options=options))
    results = results_of(both)
    assert set(results.reports) == {"oracle", "oracle · persona nurse"}
    (line,) = registry.audit("questionnaire").home(store, {})
    assert (line.main, line.run) == ("oracle", both.runs["oracle"]), (
        "Home shows the figures of the run that it names"
    )
    made = questionnaire_book(results)
    assert "personas" not in {entry.name for entry in questionnaire_book(alone).contents}
    table = made.table("personas")
    assert [(row.runs.persona, row.found.figure.target) for row in table.rows] == [
        *(("nurse", target) for target in TARGETS),
        ("nurse", None),
    ]
    first = table.rows[0].found.figure
    figures = {
        name: report.condition(Condition("qm")).targets[0]
        for name, report in results.reports.items()
    }
    with_it, without = figures["oracle · persona nurse"], figures["oracle"]
    assert first.bias.value == pytest.approx(with_it.bias.value - without.bias.value)
    assert first.bias.low > 0, "a nurse says yes of everybody"
    assert (
        first.accuracy.value
        == pytest.approx(with_it.accuracy.value - without.accuracy.value)
        == -0.5
    )
    side_by_side = compared(results, under(results), "oracle · persona nurse", "oracle").rows
    assert [row.figure for row in side_by_side[:2]] == [row.found.figure for row in table.rows[:2]]
    assert table.link is not None
    link = table.link(table.rows[0])
    assert link is not None
    assert made.behind[link.table](*link.subject).rows
