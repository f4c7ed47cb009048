"""Thoughts lie beside the answers that they led to: stored with each output, read by nobody."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from stores.core.store import Store
from stores.runs.readings import CUT_OFF, add_thoughts
from stores.runs.run_rows import Answered, Run
from tests.conftest import instrument
from workbench import data
from workbench.domain.designs import Design
from workbench.domain.responses import WHEN_DECIDED, ModelCard, Sampling
from workbench.evidence.readings import read
from workbench.inference.load import load
from workbench.pipeline import asking, planning
from workbench.pipeline.asking import AskingProgress

TRACE = "Some would agree, it is beneficial."
OUTPUTS = (
    f"<think>{TRACE}</think>\n\nHarmful.",
    f"<think>{TRACE} Others not.</think>Harmful.",
    f"<think>{TRACE}",
)
CARD = ModelCard("m", "r", "transformers", "float32", "none")


def persona(folder: Path, *answers: str) -> str:
    (folder / "thinks.toml").write_text(f"answers = {json.dumps(answers)}\n")
    return f"scripted:{folder / 'thinks.toml'}"


def asked(store: Store, model: str, **changes: object) -> tuple[Run, AskingProgress]:
    design = replace(Design("small", model, samples=6), **changes)  # type: ignore[arg-type]
    plan = planning.plan(store, design)
    attempt = store.jobs.claim(store.jobs.create("sample", design.as_json(), plan.samples), "test")
    answering = load(model)
    progress = asking.collect(store, plan, answering, attempt=attempt)
    (run,) = store.runs.list(design.audit)
    return run, progress


def test_the_same_answer_after_other_thoughts_is_the_same_answer(
    filled: Store, tmp_path: Path
) -> None:
    run, progress = asked(filled, persona(tmp_path, *OUTPUTS))
    reader, _ = read(filled, run)
    labels: dict[str | None, int] = {}
    for _, label, _, n in filled.runs.counts(run, [reader]):
        labels[label] = labels.get(label, 0) + n
    cut = sum(filled.runs.truncated(run).values())
    assert cut == progress.truncated > 0
    assert sum(labels.values()) + cut == progress.answers == 432
    assert set(labels) == {"agree", "disagree"} or set(labels) == {"disagree"}, (
        "the thought would have been the other"
    )
    texts = filled.connection.execute(
        "select distinct body from text t join unit u on u.text_id = t.id"
    ).fetchall()
    assert texts == [("Harmful.",)], "what was thought is no unit that anybody could read"
    assert progress.unreadable == progress.refused == 0


def test_answers_are_shown_with_what_was_thought(filled: Store, tmp_path: Path) -> None:
    run, _ = asked(filled, persona(tmp_path, *OUTPUTS))
    reader, _ = read(filled, run)
    rows = [
        row
        for cell in filled.runs.cells(run)
        for row in filled.runs.responses(run, cell[5], [reader])
    ]
    assert {(row.text, row.thinking, row.truncated) for row in rows} == {
        ("Harmful.", TRACE, False),
        ("Harmful.", f"{TRACE} Others not.", False),
        ("", TRACE, True),
    }
    assert {row.reason for row in rows if row.truncated} == {CUT_OFF}
    assert all(row.text[row.start : row.stop] for row in rows if row.label), (
        "places are those in the answer"
    )


def test_an_answer_is_not_ended_within_a_thought(filled: Store, tmp_path: Path) -> None:
    name = persona(tmp_path, f"<think>{TRACE} Harmful.</think> Harmful. That is it.")
    run, _ = asked(filled, name, sampling=Sampling(stop=WHEN_DECIDED))
    rows = filled.runs.responses(run, filled.runs.cells(run)[0][5], [])
    assert {(row.text, row.thinking) for row in rows} == {("Harmful.", f"{TRACE} Harmful.")}


def test_people_and_classifiers_are_given_answers_alone(store: Store, tmp_path: Path) -> None:
    store.instruments.add(replace(instrument(), templates=data.shipped_templates("bias_score")))
    run, _ = asked(store, persona(tmp_path, *OUTPUTS), audit="bias_score", family="prefixes")
    assert {c.text for c in store.queues.candidates("bias_score", "small", ())} == {"Harmful."}
    pending = store.classifiers.pending(0, "bias_score", "small", (), 100)
    assert {item.text for item in pending} == {"Harmful."}
    cells = store.bias.cells(run, None, 0.9)
    assert {cell.truncated for cell in cells} == {True, False}
    assert sum(cell.count for cell in cells) == run.responses
    ref = cells[0].ref
    shown = store.bias.responses(run, None, ref)
    assert {(row.text, row.thinking, row.truncated) for row in shown} >= {
        ("Harmful.", TRACE, False),
        ("", TRACE, True),
    }


def test_answers_from_before_are_read_after_their_thoughts_and_stay_as_they_were(
    filled: Store, tmp_path: Path
) -> None:
    run, _ = asked(filled, persona(tmp_path, *OUTPUTS))
    with filled.write() as connection:
        held = connection.execute(
            "select draw_id, text_id, count from response order by 1, 2"
        ).fetchall()
        connection.execute("delete from thought")
    before = filled.runs.responses(run, filled.runs.cells(run)[0][5], [])
    with filled.write() as connection:
        add_thoughts(connection, dict(connection.execute("select body, id from text").fetchall()))
        assert (
            connection.execute(
                "select draw_id, text_id, count from response order by 1, 2"
            ).fetchall()
            == held
        )
        assert connection.execute(
            "select count(*) from thought where answer_id is null"
        ).fetchone() == (1,)
    assert filled.runs.responses(run, filled.runs.cells(run)[0][5], []) == before
    assert sum(filled.runs.truncated(run).values()) > 0


@pytest.mark.parametrize("n", [1, 5])
def test_counts_of_outputs_are_kept_whatever_was_thought(filled: Store, n: int) -> None:
    plan = planning.plan(filled, Design("small", "scripted", samples=6))
    filled.runs.add_probes("reliability", "small", "en", plan.templates, plan.probes)
    attempt = filled.jobs.claim(filled.jobs.create("sample", plan.design.as_json(), 1), "test")
    ids = filled.runs.begin(CARD, Sampling())
    key = plan.probes[0].prompt.key
    answers = tuple((text, n) for text in OUTPUTS)
    filled.runs.add(*ids, attempt, [Answered(key, 1, 3 * n, answers)])
    rows = filled.connection.execute("select count from response").fetchall()
    assert rows == [(n,)] * 3
    given = filled.connection.execute(
        "select sum(count), count(distinct text_id) from given_answer"
    ).fetchone()
    assert tuple(given) == (2 * n, 1)
    assert filled.runs.stored([key], "m", Sampling(), CARD) == {key: 3 * n}, (
        "one that was cut off is not asked again"
    )
