"""Next tokens of a questionnaire run, as they come back: one query, failures with their reasons, provenance."""

from __future__ import annotations

import math

import pytest

from stores.store import Store
from tests.questionnaire_stores import card, ideal, panel, predict, table
from workbench.domain.prompts import Probe


@pytest.fixture
def asked(store: Store) -> Store:
    store.instruments.add(panel())
    return store


def test_every_prompt_comes_back_with_its_axes_tokens_and_labels(asked: Store) -> None:
    predict(asked, ideal(asked), conditions=("qm", "zero-shot", "random"))
    (run,) = asked.runs.list("questionnaire")
    rows = asked.predictions.of_run(run)
    assert len(rows) == 2 + 2 * (10 + 9), "r00 is neutral on t1; zero-shot is asked once a target"
    row = next(row for row in rows if row.axes == {"condition": "zero-shot"} and row.ref == "t0")
    assert (row.labels, row.kind, row.ordinal, row.template) == (("yes", "no"), "original", 0, "statement-zero-shot")
    assert row.tokens == table(0.3, 0.3).tokens
    assert row.words == {"yes": 0.32, "no": 0.3}
    random = [row for row in rows if row.axes["condition"] == "random"]
    assert {row.axes["seed"] for row in random} == {"1"}
    assert [row.ref for row in rows] == sorted(row.ref for row in rows), "in the order of the questionnaire"


def test_a_prompt_that_failed_says_why_until_it_is_answered(asked: Store) -> None:
    def by(probe: Probe) -> tuple[float, float] | str:
        return "it has 3,000 tokens; 2,048 fit" if dict(probe.axes)["respondent"] == "r03" else (0.5, 0.2)

    predict(asked, by)
    (run,) = asked.runs.list("questionnaire")
    failed = [row for row in asked.predictions.of_run(run) if row.failed]
    assert [(row.ref, row.axes["respondent"], row.failed) for row in failed] == [
        (ref, "r03", "it has 3,000 tokens; 2,048 fit") for ref in ("t0", "t1")
    ]
    assert all(row.tokens == () and row.words is None and math.isnan(row.rest) for row in failed)
    predict(asked, lambda _: (0.5, 0.2))
    assert not any(row.failed for row in asked.predictions.of_run(run)), "the answer counts, not the failure before it"


def test_one_prompt_is_found_by_its_number_in_its_own_run_alone(asked: Store) -> None:
    predict(asked, ideal(asked))
    predict(asked, lambda _: "out of memory", card("other"))
    first, second = asked.runs.list("questionnaire")
    row = asked.predictions.of_run(first)[3]
    assert asked.predictions.of_probe(first, row.probe) == row
    other = asked.predictions.of_probe(second, row.probe)
    assert other is not None
    assert (other.tokens, other.failed) == ((), "out of memory")
    assert asked.predictions.of_probe(first, 10_000) is None
    assert asked.predictions.code_versions(first) == ("code-1",)
    assert set(asked.predictions.chat_formats([first, second]).values()) == {"none"}
