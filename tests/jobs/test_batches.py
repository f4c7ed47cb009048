"""Answers by batches: a stub in OpenAI's manner, its faults, and workers that are killed while they
wait.
"""

from __future__ import annotations

import json
import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from stores.core.store import Store
from tests.jobs.batch_server import BatchServer, refused
from tests.jobs.test_jobs import answers, draws_agree_with_responses, ended, wait
from workbench.cli.main import main
from workbench.domain.batches import Halt, SentBatch
from workbench.domain.designs import Design
from workbench.domain.prompts import Message, Prompt
from workbench.domain.responses import Drawn, Request, Sampling
from workbench.errors import FieldError, ModelError
from workbench.inference.served.budget import Budget, Usage
from workbench.inference.served.client import RetryPolicy
from workbench.inference.served.model import RemoteModel, load_remote
from workbench.jobs import launch
from workbench.jobs.tidying import cancel
from workbench.pipeline import design_checks, estimates, planning

HASTY = RetryPolicy(
    tries=3, long_tries=2, reply_s=5.0, first_wait_s=0.005, longest_wait_s=0.05, batch_look_s=0.01
)
USUAL = Sampling(temperature=0.7, top_p=0.9, max_new_tokens=20)
PRICES = Budget(price_in=1e6, price_out=1e6)
"one for each token"


@dataclass
class Notes:
    """A ledger in memory, which outlives the model that writes to it."""

    batches: dict[str, SentBatch] = field(default_factory=dict)
    closed: list[str] = field(default_factory=list)
    done: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    halts: Callable[[], Halt] = lambda: Halt.NO

    def open(self) -> Sequence[SentBatch]:
        return [one for token, one in self.batches.items() if token not in self.closed]

    def intend(self, endpoint: str, calls: Sequence[tuple[str, int]], turn: int) -> SentBatch:
        sent = SentBatch(
            f"token{len(self.batches)}",
            endpoint,
            tuple(calls),
            turn,
            created_at="2026-11-23T09:30:00Z",
        )
        self.batches[sent.token] = sent
        return sent

    def note(self, sent: SentBatch, next_look_s: float | None = None) -> None:
        self.batches[sent.token] = sent

    def over(self, sent: SentBatch) -> None:
        self.done.append(sent.token)

    def settle(self) -> None:
        self.closed += self.done
        self.done.clear()

    def halt(self) -> Halt:
        return self.halts()

    def wait(self, seconds: float) -> None:
        time.sleep(min(seconds, 0.01))

    def say(self, sentence: str) -> None:
        self.said.append(sentence)


@pytest.fixture
def server() -> Iterator[BatchServer]:
    with BatchServer() as opened:
        yield opened


def requests(count: int, n: int = 2) -> list[Request]:
    return [
        Request(Prompt((Message("user", f"statement {i}"),)), n, seed=1000 + i)
        for i in range(count)
    ]


def batching(server: BatchServer, notes: Notes, budget: Budget | None = None) -> RemoteModel:
    model = load_remote(server.name, environ={}, patience=HASTY, budget=budget)
    model.use_batches(notes)
    return model


def ask(
    server: BatchServer, notes: Notes, wanted: Sequence[Request], budget: Budget | None = None
) -> tuple[dict[int, Drawn], RemoteModel]:
    found: dict[int, Drawn] = {}
    model = batching(server, notes, budget)
    try:
        for drawn in model.generate(wanted, USUAL):
            assert drawn.request not in found, "a request came back twice"
            found[drawn.request] = drawn
    except ModelError as error:
        error.found = found  # type: ignore[attr-defined]
        raise
    finally:
        model.close()
    notes.settle()
    return found, model


def came(drawn: Drawn) -> int:
    return sum(count for _, count in drawn.answers)


def stops(
    server: BatchServer, notes: Notes, wanted: Sequence[Request], **more: Any
) -> tuple[str, dict[int, Drawn]]:
    """Return what is said where the run cannot go on, and what came before."""
    with pytest.raises(ModelError) as error:
        ask(server, notes, wanted, **more)
    notes.settle()
    return str(error.value), error.value.found  # type: ignore[attr-defined]


def test_one_request_is_asked_first_and_all_others_in_one_batch_whose_results_come_in_any_order(
    server: BatchServer,
) -> None:
    notes = Notes()
    found, model = ask(server, notes, requests(40))
    assert sorted(found) == list(range(40))
    assert {came(drawn) for drawn in found.values()} == {2}
    assert all(
        drawn.snapshot == "batcher-1-2026" and drawn.fingerprint == "fp_1"
        for drawn in found.values()
    )
    assert len(server.bodies) == 1
    assert len(server.batches) == 1
    assert len(server.requests()) == 39 == len(set(server.requests()))
    assert notes.open() == []
    assert model.spent.requests == 40


def test_a_request_of_a_batch_says_what_a_call_says(server: BatchServer) -> None:
    ask(server, Notes(), requests(2))
    line = next(content for name, content in server.files.values() if name.startswith("workbench-"))
    sent = json.loads(line)
    assert (sent["method"], sent["url"]) == ("POST", "/v1/chat/completions")
    alone = server.bodies[0]
    assert sent["body"].keys() == alone.keys()
    assert {name: sent["body"][name] for name in ("temperature", "top_p", "n", "max_tokens")} == {
        "temperature": 0.7,
        "top_p": 0.9,
        "n": 2,
        "max_tokens": 20,
    }
    batch = server.batches["batch_1"]
    assert (batch["endpoint"], batch["completion_window"]) == ("/v1/chat/completions", "24h")


def test_requests_in_batches_cost_half(server: BatchServer) -> None:
    _, model = ask(server, Notes(), requests(5), budget=PRICES)
    by_call, batched = Usage(1, 10, 6), Usage(4, 40, 24).in_batches
    assert model.spent == by_call + batched
    assert model.cost == pytest.approx((10 + 6) + 0.5 * (40 + 24))
    assert model.answerers[0].cost == pytest.approx(model.cost)


def test_a_connection_that_is_lost_after_the_upload_or_the_start_begins_no_second_batch(
    server: BatchServer,
) -> None:
    lost: Counter[str] = Counter()

    def fault(method: str, path: str) -> str:
        if method == "POST" and path in ("/files", "/batches"):
            lost[path] += 1
            return "cut after" if lost[path] == 1 else ""
        return ""

    server.fault = fault
    found, _ = ask(server, Notes(), requests(6))
    assert {came(drawn) for drawn in found.values()} == {2}
    assert lost == {"/files": 1, "/batches": 1}
    assert len(server.batches) == 1
    assert len(server.requests()) == 5


@pytest.mark.parametrize("begun", [False, True], ids=["file alone", "batch begun"])
def test_a_worker_that_died_before_it_had_the_id_finds_the_batch_by_its_token(
    server: BatchServer, begun: bool
) -> None:
    notes, died = Notes(), Notes()

    class Killed(BaseException):
        pass

    def note(sent: SentBatch, next_look_s: float | None = None) -> None:
        if sent.batch or not begun:
            raise Killed
        notes.note(sent)

    died.batches, died.note = notes.batches, note  # type: ignore[method-assign]
    with pytest.raises(Killed):
        ask(server, died, requests(6))
    assert [one.batch for one in notes.open()] == [""]
    found, _ = ask(server, notes, requests(6))
    assert sorted(found) == [0, 1, 2, 3, 4, 5], (
        "the request that was asked first was not stored, so it is asked again"
    )
    assert len(server.requests()) == len(set(server.requests()))
    assert max(Counter(name.rpartition("-")[0] for name in server.requests()).values()) == 1


def test_what_fails_for_a_passing_reason_is_sent_again_and_what_is_refused_fails_with_its_reason(
    server: BatchServer,
) -> None:
    tried: Counter[str] = Counter()

    def line(request: dict[str, Any], _place: int) -> dict[str, Any] | None:
        text = request["body"]["messages"][0]["content"]
        tried[text] += 1
        if text == "statement 1":
            return refused(400, "this prompt is not allowed here")
        if text == "statement 2" and tried[text] == 1:
            return refused(500, "overloaded")
        return refused(500, "always overloaded") if text == "statement 3" else None

    server.line = line
    notes = Notes()
    found, _ = ask(server, notes, requests(6))
    assert [came(found[i]) for i in range(6)] == [2, 0, 2, 0, 2, 2]
    assert (found[1].failed, found[3].failed) == (2, 2)
    assert "not allowed here" in found[1].reason
    assert "always overloaded" in found[3].reason
    assert len(server.batches) == 3, "three batches at most"
    assert tried["statement 4"] == 1, "what was answered is not asked again"
    assert notes.open() == []


def test_a_refused_parameter_teaches_the_dialect_and_is_left_out_of_the_next_batch(
    server: BatchServer,
) -> None:
    server.line = lambda request, _: (
        refused(400, "Unsupported parameter: 'seed'", "seed") if "seed" in request["body"] else None
    )
    found, model = ask(server, Notes(), requests(4))
    assert {came(drawn) for drawn in found.values()} == {2}
    assert "seed" in model.asked
    assert len(server.batches) == 2


@pytest.mark.parametrize(
    ("state", "said"), [("expired", "expired"), ("cancelled", "was cancelled")]
)
def test_a_batch_that_ends_early_is_said_plainly_and_what_came_is_kept(
    server: BatchServer, state: str, said: str
) -> None:
    server.ends, server.answered_share = lambda _: state, 0.5
    notes = Notes()
    words, found = stops(server, notes, requests(11))
    assert f"batch batch_1 {said}" in words
    assert (
        "5 of 10 requests were answered and are kept; resume sends the rest in another batch"
        in words
    )
    assert sum(came(drawn) for drawn in found.values()) == 12
    assert not any(drawn.failed for drawn in found.values())
    assert notes.open() == []
    server.ends = lambda _: "completed"
    left = [one for place, one in enumerate(requests(11)) if place not in found]
    rest, _ = ask(server, notes, left)
    assert len(rest) == len(left) == 5


def test_a_batch_that_is_refused_as_a_whole_says_why(server: BatchServer) -> None:
    server.ends = lambda _: "failed"
    words, found = stops(server, Notes(), requests(4))
    assert "was refused as a whole (line 1 is no request)" in words
    assert list(found) == [0]


def test_cancelling_cancels_the_batch_and_keeps_what_it_answered(server: BatchServer) -> None:
    server.ready_after, server.answered_share = 0, 0.5
    notes = Notes()
    notes.halts = lambda: Halt.CANCEL if notes.open() and notes.open()[0].looked_at else Halt.NO
    found, _ = ask(server, notes, requests(9))
    assert server.batches["batch_1"]["status"] == "cancelled"
    assert sum(came(drawn) for drawn in found.values()) == 2 * 5
    assert not any(drawn.failed for drawn in found.values())
    assert notes.open() == []


def test_who_stops_waiting_leaves_the_batch_alone_and_takes_it_up_later(
    server: BatchServer,
) -> None:
    server.ready_after = 0
    notes = Notes()
    notes.halts = lambda: Halt.LEAVE if notes.open() and notes.open()[0].looked_at else Halt.NO
    found, _ = ask(server, notes, requests(5))
    assert list(found) == [0]
    assert server.batches["batch_1"]["status"] == "in_progress"
    notes.halts, server.ready_after = lambda: Halt.NO, 1
    rest, _ = ask(server, notes, requests(5)[1:])
    assert {came(drawn) for drawn in rest.values()} == {2}
    assert len(server.batches) == 1


def test_a_server_that_is_down_for_a_while_is_looked_at_again(server: BatchServer) -> None:
    looks: Counter[str] = Counter()

    def fault(method: str, path: str) -> str:
        looks[path] += 1
        return "500" if path.startswith("/batches/") and looks[path] < 4 else ""

    server.fault = fault
    found, _ = ask(server, Notes(), requests(3))
    assert {came(drawn) for drawn in found.values()} == {2}


def test_a_batch_that_the_endpoint_forgot_is_not_waited_for(server: BatchServer) -> None:
    server.ready_after = 0
    notes = Notes()
    notes.halts = lambda: Halt.LEAVE if notes.open() and notes.open()[0].looked_at else Halt.NO
    ask(server, notes, requests(3))
    server.batches.clear()
    notes.halts = lambda: Halt.NO
    words, _ = stops(server, notes, requests(3)[1:])
    assert "does not know batch batch_1 any more" in words
    assert notes.open() == []


def test_requests_beyond_the_budget_are_not_sent(server: BatchServer) -> None:
    words, found = stops(server, Notes(), requests(8), budget=replace(PRICES, max_requests=4))
    assert "has no room for all requests" in words
    assert len(server.requests()) == 3
    assert len(found) == 4


def test_an_endpoint_without_batches_is_refused_before_anything_is_asked(
    server: BatchServer,
) -> None:
    model = load_remote(server.name.removesuffix("#openai"), environ={}, patience=HASTY)
    with pytest.raises(ModelError, match="not known to take batches; OpenAI does"):
        model.use_batches(Notes())
    model.close()


@pytest.mark.parametrize(
    ("design", "said"),
    [
        (Design("small", "scripted"), "is not a served model"),
        (
            Design("small", "openai:x@http://127.0.0.1:9/v1", sampling=Sampling(mode="exact")),
            "need calls",
        ),
    ],
)
def test_batches_that_cannot_be_are_refused_in_the_plan(design: Design, said: str) -> None:
    with pytest.raises(FieldError, match=said):
        design_checks.check_batched(design, wanted=True)
    assert design_checks.check_batched(design, wanted=False) is False


def test_a_plan_in_rounds_says_that_each_is_a_batch(filled: Store) -> None:
    design = Design("small", "openai:x@http://127.0.0.1:9/v1")
    said = {
        settled: estimates.estimate(
            planning.plan(filled, replace(design, until_settled=settled)), batched=True
        ).describe()
        for settled in (False, True)
    }
    assert "in batches: the endpoint answers within a day" in said[False]
    assert "in batches: each round is a batch of its own, answered within a day" in said[True]


# workers


def start(store: Store, server: BatchServer, samples: int = 2) -> int:
    design = Design("small", server.name, samples=samples, statements=("a-1",))
    return launch.start(store, design, batched=True)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_BATCH_LOOK_S", "0.05")


@pytest.mark.e2e
def test_a_job_in_batches_stores_the_same_run_as_one_by_calls(
    filled: Store, server: BatchServer, quick: None
) -> None:
    job = wait(filled, start(filled, server), ended)
    assert (job.state, job.done) == ("done", job.total), job.message
    assert job.batched
    assert job.batches == 0
    assert draws_agree_with_responses(filled)
    before = [
        (run.model, run.sampling, run.responses)
        for run in filled.runs.list("reliability", None, None)
    ]
    design = Design("small", server.name, samples=3, statements=("a-1",))
    more = wait(filled, launch.start(filled, design), ended)
    assert more.state == "done"
    after = [
        (run.model, run.sampling, run.responses)
        for run in filled.runs.list("reliability", None, None)
    ]
    assert len(before) == len(after) == 1, "the way of asking is no part of the run"
    assert after[0][2] == before[0][2] * 3 // 2


@pytest.mark.e2e
def test_a_worker_that_is_killed_while_it_waits_is_followed_by_one_that_uploads_nothing(
    filled: Store, server: BatchServer, quick: None, capsys: pytest.CaptureFixture[str]
) -> None:
    server.ready_after = 0
    number = start(filled, server)
    job = wait(filled, number, lambda job: job.batches == 1 and ", next " in job.message)
    assert job.waits_for_batch
    assert "batch batch_1 in progress since" in job.message
    assert "; last asked " in job.message
    assert ", next " in job.message
    assert job.pid is not None
    os.kill(job.pid, signal.SIGKILL)
    wait(filled, number, lambda job: job.state == "lost")
    main(["jobs", str(filled.path)])
    assert "batch batch_1" in capsys.readouterr().out
    uploaded = server.requests()
    server.ready_after = 1
    launch.resume(filled, number)
    job = wait(filled, number, ended)
    assert (job.state, job.done) == ("done", job.total), job.message
    assert server.requests() == uploaded
    assert len(server.batches) == 1
    assert draws_agree_with_responses(filled)
    assert answers(filled) == job.total


@pytest.mark.e2e
def test_a_cancelled_job_cancels_its_batch_with_a_worker_and_without(
    filled: Store, server: BatchServer, quick: None
) -> None:
    server.ready_after, server.answered_share = 0, 0.5
    number = start(filled, server)
    wait(filled, number, lambda job: job.waits_for_batch)
    cancel(filled, number)
    job = wait(filled, number, ended)
    assert job.state == "cancelled", job.message
    assert server.batches["batch_1"]["status"] == "cancelled"
    held = answers(filled)
    assert 0 < held < job.total
    launch.resume(filled, number)
    job = wait(
        filled, number, lambda job: job.waits_for_batch and "batch_2 in progress" in job.message
    )
    assert job.pid is not None
    os.kill(job.pid, signal.SIGKILL)
    wait(filled, number, lambda job: job.state == "lost")
    job, said = cancel(filled, number)
    assert job.state == "cancelled"
    assert "Its batch is cancelled at the endpoint" in said
    assert {batch["status"] for batch in server.batches.values()} == {"cancelled", "cancelling"}
    server.ready_after = 1
    launch.resume(filled, number)
    job = wait(filled, number, ended)
    assert draws_agree_with_responses(filled)
    assert answers(filled) > held


def test_the_command_says_that_batches_cost_a_share(
    filled: Store, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORKBENCH_PRICE_IN", "2")
    monkeypatch.setenv("WORKBENCH_PRICE_OUT", "8")
    model = "openai:gpt-x@http://127.0.0.1:9/v1#openai"
    command = [
        "run",
        str(filled.path),
        "--model",
        model,
        "--instrument",
        "small",
        "--dry-run",
        "--json",
    ]
    costs = []
    for more in ([], ["--batch"]):
        assert main([*command, *more]) == 0
        costs.append(json.loads(capsys.readouterr().out)["estimate"]["cost_most"])
    assert costs[1] == pytest.approx(costs[0] / 2)
    assert main([*command[:-1], "--batch"]) == 0
    out = capsys.readouterr().out
    assert "at 0.5 of the price, in batches" in out
    assert "answers within a day" in out
    assert main(["run", str(filled.path), "--model", "scripted", "--batch", "--dry-run"]) == 2
    assert "--batch" in capsys.readouterr().err


def test_a_store_says_of_a_batch_what_it_was_told(filled: Store) -> None:
    number = filled.jobs.create("sample", Design("small", "scripted").as_json(), 1, batched=True)
    attempt = filled.jobs.claim(number, "test")
    sent = filled.batches.intend(number, attempt, "chat", [("00-1-0", 2)], 1)
    known = replace(
        sent,
        batch="batch_7",
        state="in_progress",
        completed=0,
        looked_at="2026-11-23T10:00:00.000Z",
    )
    filled.batches.note(known, attempt)
    assert filled.batches.open(number) == (known,)
    assert filled.jobs.get(number).waits_for_batch
    filled.batches.close([sent.token], attempt)
    assert filled.batches.open(number) == ()
