"""Labels of served models: whole where the endpoint echoes, first tokens where it is a chat, or
refused.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tests.jobs.faulty_server import Asked, FaultyServer
from workbench.domain.prompts import Message, Prompt
from workbench.errors import ModelError
from workbench.inference.base import ScoredOptions
from workbench.inference.served.model import load_remote
from workbench.inference.served.probabilities import open_beginnings, possible_options

RAW = Prompt((Message("user", "Tax? Answer:"),), chat=False)
CHAT = Prompt((Message("user", "Tax?"),))
FIRST = {" dis": math.log(0.4), " agree": math.log(0.3), " I": math.log(0.2), " Ag": math.log(0.01)}
THEN = {
    " agree": (
        [math.log(0.3)],
        {"ment": math.log(0.2), ".": math.log(0.5), "<|end|>": math.log(0.1)},
    ),
    " disagree": ([math.log(0.4), math.log(0.9)], {"ment": math.log(0.1), "\n": math.log(0.9)}),
    " dis": ([math.log(0.4)], {"agree": math.log(0.9)}),
    " Agree": ([math.log(0.01), math.log(0.5)], {" with": 0.0}),
}
TOKENS = {
    " agree": [" agree"],
    " disagree": [" dis", "agree"],
    " dis": [" dis"],
    " Agree": [" Ag", "ree"],
}
OPTIONS = [" agree", " Agree", ' "agree', " disagree", " Disagree"]


def completions(asked: Asked) -> dict[str, Any]:
    """Answer as vLLM does: `echo` sends the prompt back, and one token more with its
    alternatives.
    """
    body = asked.body
    if not body.get("echo"):
        logprobs: dict[str, Any] = {
            "tokens": [" dis"],
            "token_logprobs": [-0.9],
            "top_logprobs": [FIRST],
        }
        return {"choices": [{"index": 0, "text": " dis", "logprobs": logprobs}]}
    option = body["prompt"].removeprefix("Tax? Answer:")
    assert (body["max_tokens"], body["logprobs"]) == (1, 1 if option == " dis" else 20)
    logs, after = THEN[option]
    next_token = max(after, key=after.__getitem__)
    tokens = ["Tax?", " Answer:", *TOKENS[option], next_token]
    alternatives = [
        None,
        *[{token: log} for token, log in zip(tokens[1:-1], [-3.0, *logs], strict=True)],
        after,
    ]
    logprobs = {
        "tokens": tokens,
        "token_logprobs": [None, -3.0, *logs, after[next_token]],
        "top_logprobs": alternatives,
    }
    return {"choices": [{"index": 0, "text": "".join(tokens), "logprobs": logprobs}]}


def scored(respond: Any, prompt: Prompt, options: list[str]) -> tuple[ScoredOptions, list[Asked]]:
    with FaultyServer() as server:
        server.respond = respond
        model = load_remote(server.name, environ={})
        (found,) = model.score([prompt], [options], whole_words=True)
        model.close()
        return found, list(server.asked)


def test_labels_of_several_tokens_are_scored_whole_where_the_endpoint_echoes() -> None:
    found, asked = scored(completions, RAW, OPTIONS)
    assert not found.reason
    wanted = [0.3 * 0.6 / 0.8, 0.01 * 0.5, 0.0, 0.4 * 0.9 * 0.9, 0.0]
    assert np.exp(found.log_probabilities) == pytest.approx(wanted)
    assert len(asked) == 5, (
        "the first tokens, one of these echoed, and the three spellings that may begin with one"
    )


def shifted(asked: Asked) -> dict[str, Any]:
    """Answer as llama_cpp.server does: with the probability that a token of the echo comes again,
    and no token more.
    """
    reply = completions(asked)
    if asked.body.get("echo"):
        logprobs = reply["choices"][0]["logprobs"]
        logprobs["tokens"].pop()
        logprobs["token_logprobs"] = [None, *(-9.5 for _ in logprobs["tokens"][1:])]
    return reply


def test_an_echo_with_the_probabilities_of_other_tokens_is_not_believed() -> None:
    with pytest.raises(
        ModelError,
        match=r"echoed prompt are wrong: ' dis' has p = 7.5e-05 there and 0.4 as the first",
    ):
        scored(shifted, RAW, OPTIONS)


def chat_of(words: dict[str, float], echoed: dict[str, Any] | None = None) -> Any:
    def respond(asked: Asked) -> dict[str, Any]:
        if asked.body.get("echo"):
            answer = asked.body["messages"][-1]["content"]
            prompt = (
                [
                    {
                        "logprobs": {
                            "tokens": ["Tax?", *echoed[answer]],
                            "token_logprobs": [None, -1.0, -0.5],
                        }
                    }
                ]
                if echoed
                else []
            )
            return {"choices": [{"index": 0, "message": {"content": "x"}}], "prompt": prompt}
        top = [{"token": word, "logprob": math.log(p)} for word, p in words.items()]
        logprobs = {
            "content": [
                {"token": top[0]["token"], "logprob": top[0]["logprob"], "top_logprobs": top}
            ]
        }
        return {"choices": [{"index": 0, "message": {"content": "x"}, "logprobs": logprobs}]}

    return respond


def test_a_chat_scores_labels_of_one_token_and_spellings_it_does_not_name_count_as_the_rest() -> (
    None
):
    found, asked = scored(
        chat_of({"Yes": 0.7, "no": 0.2, "I": 0.05, '"': 0.01}), CHAT, ["yes", "Yes", "no", '"no']
    )
    assert np.exp(found.log_probabilities) == pytest.approx([0, 0.7, 0.2, 0])
    assert len(asked) == 1


def test_a_chat_that_shows_the_beginning_of_a_label_alone_is_refused_with_what_to_do() -> None:
    found, _ = scored(chat_of({"agree": 0.5, "dis": 0.4}), CHAT, ["agree", "disagree"])
    assert np.isnan(found.log_probabilities).all()
    assert "begins with 'dis' in 40.0% of cases, which may become 'disagree'" in found.reason
    assert "local model, or draw answers" in found.reason


def test_a_chat_that_echoes_the_assistants_turn_is_forced_to_say_labels_of_several_tokens() -> None:
    """Footnote 7 of Haller et al. 2025: each possible answer as the completion."""
    words = {"agree": 0.5, "dis": 0.4}
    found, _ = scored(
        chat_of(words, {"agree": ["ag", "ree"], "disagree": ["dis", "agree"]}),
        CHAT,
        ["agree", "disagree"],
    )
    assert found.log_probabilities.tolist() == [-1.5, -1.5]


def test_an_endpoint_that_names_one_token_only_has_no_label_probabilities() -> None:
    with pytest.raises(ModelError, match="the endpoint sends none"):
        scored(chat_of({"agree": 0.5}), CHAT, ["agree", "disagree"])


def test_what_may_begin_a_label_matters_from_a_share_on() -> None:
    tokens = {"agree": math.log(0.9), "dis": math.log(0.015), '"': math.log(0.004), "": 0.0}
    assert open_beginnings(["agree", '"agree', "disagree"], tokens) == ()
    assert open_beginnings(["agree", '"agree', "disagree"], tokens | {'"': math.log(0.01)}) == (
        "dis",
        '"',
    )
    assert possible_options(["agree", '"agree', "Disagree"], tokens) == ["agree", '"agree']
