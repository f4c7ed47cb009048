"""Next tokens of a questionnaire run, as they come back: one query, failures with their reasons,
provenance.
"""

from __future__ import annotations

import math

import pytest

from stores.core.store import Store
from tests.questionnaire_stores import Predict, card, ideal, panel, predict, table


@pytest.fixture
def asked(store: Store) -> Store:
    store.instruments.add(panel())
    return store


def test_every_prompt_comes_back_with_its_axes_tokens_and_labels(asked: Store) -> None:
    predict(asked, ideal(asked), conditions=("qm", "zero-shot", "random"))
    (run,) = asked.runs.list("questionnaire")
    found = asked.predictions.of_run(run)
    rows = list(found)
    assert len(rows) == 2 + 2 * (10 + 9), "r00 is neutral on t1; zero-shot is asked once a target"
    assert len(found.put) == 4, "two targets, with context and without"
    row = next(
        r
        for r in rows
        if found.axes[r.axes] == {"condition": "zero-shot"} and found.put[r.put].ref == "t0"
    )
    put = found.put[row.put]
    assert (put.kind, put.ordinal, put.template.name) == ("original", 0, "statement-zero-shot")
    assert (put.template.positive, put.template.negative) == ("yes", "no")
    assert tuple(map(tuple, row.tokens)) == table(0.3, 0.3).tokens
    assert row.words == {"yes": 0.32, "no": 0.3}
    assert {axes["seed"] for axes in found.axes if axes["condition"] == "random"} == {"1"}
    assert [one.place for one in sorted(found.put, key=lambda one: one.ref)] == [10, 10, 11, 11]


def test_a_prompt_that_failed_says_why_until_it_is_answered(asked: Store) -> None:
    def by(reason: str) -> Predict:
        return lambda probe: reason if dict(probe.axes)["respondent"] == "r03" else (0.5, 0.2)

    predict(asked, by("out of memory"))
    (run,) = asked.runs.list("questionnaire")
    predict(asked, by("it has 3,000 tokens; 2,048 fit"))
    found = asked.predictions.of_run(run)
    failed = [row for row in found if row.failed]
    assert sorted(
        (found.put[row.put].ref, found.axes[row.axes]["respondent"], row.failed) for row in failed
    ) == [(ref, "r03", "it has 3,000 tokens; 2,048 fit") for ref in ("t0", "t1")], (
        "the newest attempt says why"
    )
    assert all(row.tokens == () and row.words is None for row in failed)
    (said,) = {one.failed for row in failed if (one := asked.predictions.of_probe(run, row.probe))}
    assert said == failed[0].failed
    predict(asked, lambda _: (0.5, 0.2))
    assert not any(row.failed for row in asked.predictions.of_run(run)), (
        "the answer counts, not the failure before it"
    )


def test_one_prompt_is_found_by_its_number_in_its_own_run_alone(asked: Store) -> None:
    predict(asked, ideal(asked))
    predict(asked, lambda _: "out of memory", card("other"))
    first, second = asked.runs.list("questionnaire")
    row = next(iter(asked.predictions.of_run(first)))
    one = asked.predictions.of_probe(first, row.probe)
    assert one is not None
    assert (one.probe, one.tokens, one.words) == (
        row.probe,
        tuple(map(tuple, row.tokens)),
        row.words,
    )
    other = asked.predictions.of_probe(second, row.probe)
    assert other is not None
    assert (other.tokens, other.failed) == ((), "out of memory")
    assert math.isnan(other.rest)
    assert asked.predictions.of_probe(first, 10_000) is None
    assert asked.predictions.code_versions(first) == ("code-1",)
    assert set(asked.predictions.chat_formats([first, second]).values()) == {"none"}
