"""Two snapshots of one served model are compared as two models are: under their names, over what
both were asked.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stores.core.store import Store
from tests.asked_twice import DESIGNS, FAMILY, base
from tests.cli.test_commands import run
from tests.conftest import instrument, new_store
from tests.jobs.drafting import create_drafting
from tests.jobs.faulty_server import Asked, FaultyServer, prompt_of
from tests.jobs.test_draft_jobs import MANY, ONE, spec
from tests.jobs.test_snapshots import NEW, OLD, done, go_on, reports, resumed
from tests.tui.bias_stores import SAYS, trained
from workbench.audits.bias_score.factors import compare
from workbench.audits.bias_score.judged import judge_bias
from workbench.audits.bias_score.options import ScoreOptions
from workbench.audits.consistency.judged import judge_consistency
from workbench.audits.response_bias.judged import compared, judge_response_bias
from workbench.data import shipped_templates
from workbench.domain.choices import Bias
from workbench.domain.designs import Design
from workbench.evidence.runs import AnswerSelection
from workbench.inference.served.behaviour import OPEN
from workbench.pipeline.drafting import plan_drafting


def says(asked: Asked, snapshot: str) -> str:
    """Return what a snapshot answers: the old one agrees with the left and takes the first option,
    the new one not.
    """
    prompt = prompt_of(asked.body)
    if "A. " in prompt:
        return "A" if snapshot == OLD else "B"
    if "Sides" in prompt or " left " in prompt or " right " in prompt:
        return SAYS["agree" if (" left " in prompt) == (snapshot == OLD) else "disagree"]
    turned = "Not so" in prompt or "Repeal" in prompt
    return "beneficial" if (snapshot == OLD) != turned else "harmful"


def asked_of_both(path: Path) -> list[str]:
    """Fill a new store in which two snapshots of one model answered three audits; return what the
    two are called.
    """
    now = OLD

    def respond(asked: Asked) -> dict[str, Any]:
        said = f"Once {len(server.asked)}" if prompt_of(asked.body) == OPEN else says(asked, now)
        message = {"role": "assistant", "content": said}
        return {
            "choices": [{"index": n, "message": message} for n in range(asked.body.get("n", 1))]
        }

    with FaultyServer() as server, new_store(path) as store:
        server.report, server.respond = lambda _: (now, None), respond
        store.instruments.add(instrument())
        for audit in ("bias_score", "response_bias"):
            templates = tuple(
                t for t in shipped_templates(audit) if t.name in ("baseline", "lettered")
            )
            store.instruments.add(replace(base(audit), templates=templates))
        for samples, snapshot in ((2, OLD), (3, NEW)):
            now = snapshot
            done(store, Design("small", server.name, samples=10 * samples))
            for audit in ("bias_score", "response_bias"):
                more = {"instrument": base(audit).name, "family": FAMILY[audit]}
                done(store, replace(DESIGNS[audit], model=server.name, samples=samples, **more))
    trained(path)
    return [f"{server.name} · snapshot {snapshot}" for snapshot in (OLD, NEW)]


@pytest.mark.e2e
def test_two_snapshots_are_compared_under_their_names_over_what_both_were_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "audit.db"
    old, new = asked_of_both(path)
    with Store.open(path) as opened:
        scored = judge_bias(opened, options=ScoreOptions(draws=100)).report
        stances = judge_consistency(opened, AnswerSelection(instrument="small")).result
        choices = judge_response_bias(opened, AnswerSelection("choices"))
    assert scored.tally.models == stances.models == tuple(choices.subjects) == (old, new)
    total = [scored.figure(name).total.value for name in (old, new)]
    found = compare(scored, old, new)
    assert total[0] < 0 < total[1], "each says what the other does not"
    assert found.value == pytest.approx(total[0] - total[1])
    assert found.common is not None
    assert (found.common.prompts[0], found.common.left_out) == (found.common.prompts[1], (0, 0))
    (issue,) = (one for one in stances.compare_issues(old, new) if one.name == "law_and_order")
    assert (issue.first, issue.second, issue.difference.value, issue.shared.statements) == (
        1.0,
        -1.0,
        2.0,
        3,
    )
    row = next(row for row in compared(choices, old, new).rows if row.bias is Bias.RESPONSE_ORDER)
    assert (row.first.mean, row.second.mean, row.change.mean) == (100.0, 0.0, -100.0)
    asks = (
        ("show", "bias_score", "--draws", "100"),
        ("show", "consistency", "--instrument", "small"),
        ("show", "response_bias"),
    )
    for verb, *options in asks:
        code, out, err = run(capsys, verb, path, *options, "--compare", old, new)
        assert (code, err) == (0, "")
        assert f"snapshot {OLD}" in out
        assert f"{OLD} · snapshot" not in " ".join(out.split()), "said once"
        assert run(capsys, verb, path, *options, "--compare", old, "elsewhere")[0] == 2


ENDS = {
    "done": (((0, OLD), (7, NEW)), "The instrument has not changed"),
    "paused": (((0, OLD), (5, NEW), (9, OLD)), "an earlier snapshot has returned"),
    "failed": (((0, OLD),), "7 requests"),
}
"how a job of 18 calls ends -> who answers from which call on, and what the job says"


@pytest.mark.e2e
@pytest.mark.parametrize("state", ENDS)
def test_drafts_stay_with_the_snapshot_that_wrote_them_and_none_that_was_paid_is_lost(
    filled: Store, monkeypatch: pytest.MonkeyPatch, state: str
) -> None:
    turns, words = ENDS[state]
    monkeypatch.setenv("WORKBENCH_CONCURRENCY", "1")
    if state == "failed":
        monkeypatch.setenv("WORKBENCH_MAX_REQUESTS", "7")
    with FaultyServer() as server:
        server.report = reports(server, *turns)
        drafting = spec(server.name, MANY, ONE)
        job = go_on(filled, create_drafting(filled, drafting))
        assert job.state == state, job.message
        assert words in job.message
        if state != "done":
            assert len(filled.drafts.list("small")) == len(server.delivered()), (
                "what was paid is stored"
            )
            monkeypatch.delenv("WORKBENCH_MAX_REQUESTS", raising=False)
            job = resumed(filled, job.id)
        assert job.state == "done", job.message
        told = {
            prompt: str(server.report(call)[0]) for call in server.asked for prompt in call.serials
        }
        assert len(server.asked) == 18, "no call is paid twice"
    drafts = filled.drafts.list("small")
    assert {d.line: d.made.revision for d in drafts if d.made} == {
        line: f"snapshot {snapshot}" for line, snapshot in told.items()
    }
    if state == "done":
        again = plan_drafting(filled, drafting)
        assert len(again.needed) == Counter(told.values())[OLD], (
            "another job asks the new snapshot everything"
        )
