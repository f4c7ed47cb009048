"""Fingerprints of served models: no identity, but kept with every draw, counted, tested, and split
by on request.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from stores.core.store import Store
from tests.cli.test_commands import rows
from tests.jobs.faulty_server import Asked, FaultyServer
from tests.jobs.test_jobs import draws_agree_with_responses
from tests.jobs.test_snapshots import done
from workbench.audits.chosen_run import find_run
from workbench.audits.consistency.judged import judge_consistency
from workbench.audits.reliability.verdicts import run_verdicts
from workbench.cli.main import main
from workbench.domain.designs import Design
from workbench.domain.readings import Stance
from workbench.errors import UnknownName
from workbench.evidence.runs import AnswerSelection, served_runs

SNAPSHOT = "parrot-2026"


def answering(
    server: FaultyServer, text: Callable[[int], str]
) -> Callable[[Asked], dict[str, Any]]:
    """Answer every call with a text by its number, one choice a call."""

    def respond(asked: Asked) -> dict[str, Any]:
        words = text(number(server, asked))
        return {"choices": [{"index": 0, "message": {"content": words}}], "usage": {}}

    return respond


def number(server: FaultyServer, asked: Asked) -> int:
    return next(n for n, call in enumerate(server.asked) if call is asked)


def asked_of(store: Store, text: Callable[[int], str]) -> FaultyServer:
    """Ask a server that reports one of two fingerprints by turns, whatever it answers."""
    with FaultyServer() as server:
        server.respond = answering(server, text)
        server.report = lambda asked: (SNAPSHOT, f"fp_{number(server, asked) % 2}")
        job = done(store, Design("small", server.name, samples=6, statements=("a-1",)))
        assert job.state == "done", job.message
        assert dict(job.fingerprints) == {"fp_0": 72, "fp_1": 72}
    return server


@pytest.fixture(autouse=True)
def one_call_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_CONCURRENCY", "1")


@pytest.mark.e2e
def test_a_fingerprint_is_kept_with_every_answer_and_is_no_identity(filled: Store) -> None:
    with FaultyServer(lambda _call, _body: "only one") as server:
        server.report = lambda asked: (
            SNAPSHOT,
            f"fp_{number(server, asked) % 3}" if number(server, asked) % 5 else None,
        )
        assert done(filled, Design("small", server.name, samples=3)).state == "done"
        told = {
            text: server.report(call)[1] or "" for call in server.asked for text in call.serials
        }
    rows = filled.connection.execute(
        "select t.body, d.fingerprint from response r join draw d on d.id = r.draw_id join text "
        "t on t.id = r.text_id"
    )
    assert dict(rows.fetchall()) == told
    (run,) = filled.runs.list("reliability")
    assert filled.runs.fingerprints(run) == Counter(told.values())
    assert draws_agree_with_responses(filled)


@pytest.mark.e2e
def test_answers_that_depend_on_the_fingerprint_are_found_and_split(
    filled: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    asked_of(filled, lambda call: "beneficial" if call % 2 else "harmful")
    (served,) = served_runs(filled)
    assert served.counts == (("fp_0", 72), ("fp_1", 72))
    assert served.test.p < 0.001
    assert (served.test.strata, served.test.answers) == (24, 144)
    assert main(["snapshots", str(filled.path), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert {row["fingerprint"]: row["answers"] for row in rows(printed, "fingerprints")} == {
        "fp_0": 72,
        "fp_1": 72,
    }
    (row,) = rows(
        printed,
        "snapshots",
        snapshot=SNAPSHOT,
        answers=144,
        prompts=24,
        statistic=served.test.statistic,
    )
    assert (row["p"]["value"], row["p"]["n"]) == (served.test.p, 144)
    assert [run["snapshot"] for run in printed["runs"]] == [SNAPSHOT]
    assert main(["snapshots", str(filled.path)]) == 0
    said = capsys.readouterr().out
    assert "fp_0 72, fp_1 72" in said
    assert "<0.001" in said
    for name, wanted in (("fp_0", Stance.DISAGREE), ("fp_1", Stance.AGREE)):
        run = find_run(filled, "reliability", fingerprint=name)
        assert (run.responses, run.samples, run.prompts) == (72, 3, 24)
        assert f"fingerprint {name}" in run.label
        report = run_verdicts(filled, run).report
        totals = {Stance.AGREE: report.counts.positive, Stance.DISAGREE: report.counts.negative}
        printed_order = {side: int(array[..., 0].sum()) for side, array in totals.items()}
        assert sum(printed_order.values()) == 36
        assert int(report.counts.total.sum()) == 72
        assert printed_order[wanted] == 36
    both = judge_consistency(filled, AnswerSelection(fingerprint="each"))
    assert [one.run.fingerprint for one in both.runs] == ["fp_0", "fp_1"]
    with pytest.raises(UnknownName, match="Available: fp_0, fp_1"):
        find_run(filled, "reliability", fingerprint="fp_9")


@pytest.mark.e2e
def test_answers_that_do_not_depend_on_it_are_no_alarm(filled: Store) -> None:
    asked_of(filled, lambda call: "beneficial" if call // 2 % 2 else "harmful")
    (served,) = served_runs(filled)
    assert served.test.p > 0.05


@pytest.mark.e2e
def test_one_fingerprint_needs_no_test(filled: Store, capsys: pytest.CaptureFixture[str]) -> None:
    with FaultyServer() as server:
        assert done(filled, Design("small", server.name, samples=2)).state == "done"
    (served,) = served_runs(filled)
    assert served.test.undefined == "there is one group only"
    assert main(["snapshots", str(filled.path)]) == 0
    assert "undefined (a)" in (said := capsys.readouterr().out)
    assert "(a) there is one group only" in said
