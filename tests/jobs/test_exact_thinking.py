"""Exact probabilities of a model that thinks first: its next token is no answer, so nothing is
stored but why.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stores.core.store import Store
from tests.asked_twice import DESIGNS, base
from tests.conftest import instrument, new_store
from tests.inference.saved_models import save_llama
from tests.inference.test_chat_turns import BARE, R1, TURNS, made
from tests.jobs.faulty_server import Asked, FaultyServer
from tests.jobs.test_snapshots import done
from workbench.domain.designs import Design
from workbench.domain.responses import EXACTLY
from workbench.inference.load import load

SAMPLE = "Sample it instead"
MESSAGES: dict[str, tuple[dict[str, Any], str]] = {
    "a mark": ({"content": "<think>"}, "<think>"),
    "the server's field": ({"content": None, "reasoning_content": "Okay"}, "Okay"),
    "a mark that the server takes away": ({"content": ""}, "<think>"),
    "an answer drawn against the odds": ({"content": "Yes"}, "[THINK]"),
    "harmony": ({"content": "Yes"}, "<|channel|>"),
}
"""how a served model shows that it begins by thinking: its message, and the likeliest of its first
tokens"""
AUDITS = {
    "reliability": Design("small", "", samples=1, sampling=EXACTLY, statements=("a-1",)),
    "questionnaire": replace(DESIGNS["questionnaire"], instrument="panel", family="qm"),
    "response_bias": replace(
        DESIGNS["response_bias"],
        instrument="choices",
        family="lettered",
        samples=1,
        sampling=EXACTLY,
    ),
}


@pytest.fixture
def audit(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Store, Design]]:
    """A store with an instrument that an audit can ask, and a design that asks it for
    probabilities.
    """
    with new_store(tmp_path / "audit.db") as store:
        store.instruments.add(
            instrument() if request.param == "reliability" else base(request.param)
        )
        yield store, AUDITS[request.param]


def refused(store: Store, design: Design) -> str:
    """Do the job; return why it stored no probability."""
    job = done(store, design)
    assert job.state == "failed"
    for kept in ("score", "next_tokens"):
        assert store.connection.execute(f"select count(*) from {kept}").fetchone() == (0,)
    return job.message


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("audit", "shown"),
    [
        *(("reliability", shown) for shown in MESSAGES),
        ("questionnaire", "a mark"),
        ("response_bias", "harmony"),
    ],
    indirect=["audit"],
)
def test_a_served_model_that_begins_by_thinking_is_refused_with_what_to_do(
    audit: tuple[Store, Design], shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORKBENCH_CONCURRENCY", "1")
    message, first = MESSAGES[shown]

    def respond(_: Asked) -> dict[str, Any]:
        words = {first: 0.6, "Yes": 0.2, "no": 0.1, "A": 0.05}
        top = [{"token": word, "logprob": math.log(p)} for word, p in words.items()]
        logprobs = {"content": [{"token": first, "logprob": math.log(0.6), "top_logprobs": top}]}
        return {
            "choices": [
                {"index": 0, "message": message, "finish_reason": "length", "logprobs": logprobs}
            ]
        }

    store, design = audit
    with FaultyServer() as server:
        server.respond = respond
        said = refused(store, replace(design, model=server.name))
    assert "the model begins by thinking" in said
    assert SAMPLE in said
    assert "thinking switched off" in said


@pytest.mark.parametrize("audit", AUDITS, indirect=True)
def test_a_model_that_runs_here_and_begins_by_thinking_is_refused_with_what_to_do(
    audit: tuple[Store, Design], tmp_path: Path
) -> None:
    store, design = audit
    persona = tmp_path / "thinks.toml"
    persona.write_text('answers = ["<think> Some would say yes.", "<think> Hm.", "Yes"]\n')
    said = refused(store, replace(design, model=f"scripted:{persona}"))
    assert "its likeliest next token is '<think>', 66.7%" in said
    assert SAMPLE in said
    assert "--chat-format" in said


@pytest.mark.e2e
def test_probabilities_of_a_local_model_are_those_after_the_thought_that_its_template_begins(
    tmp_path: Path,
) -> None:
    """The same network behind a template that has ended the thought already says the same of labels
    and next tokens.
    """
    found = []
    ended = TURNS + "{{ '<|im_start|>assistant\n<think>\n\n</think>\n\n' }}"
    for name, template in (("begins", R1), ("ended", ended), ("none", TURNS)):
        folder = save_llama(tmp_path / name, window=512)
        made(template).save_pretrained(folder)
        model = load(folder)
        (scored,) = model.score([BARE], [["Yes", "no"]], whole_words=True)
        (tokens,) = model.next_tokens([BARE], 5)
        found.append((scored.log_probabilities, tokens.log_probabilities))
        model.close()
    begins, after, plain = found
    for ours, theirs, other in zip(begins, after, plain, strict=True):
        assert ours == pytest.approx(theirs)
        assert not np.allclose(ours, other), "a network to which the thought makes a difference"
