"""What counts as an answer in a server's reply."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.domain.prompts import Message, Prompt
from workbench.domain.responses import Sampling
from workbench.domain.thinking import Output, refusal, split
from workbench.inference.served.address import parse_address
from workbench.inference.served.calls import Dialect, ModelCall, call_seed
from workbench.inference.served.reply import (
    FailureKind,
    Reply,
    TryFailed,
    brief,
    read_reply,
    server_words,
)


def turn(text: object, index: object = 0, **more: object) -> dict[str, Any]:
    return {
        "index": index,
        "message": {"role": "assistant", "content": text},
        "finish_reason": "stop",
        **more,
    }


def read(choices: object, asked: int = 3, **more: object) -> Reply:
    return read_reply(json.dumps({"choices": choices, **more}).encode(), asked)


def texts(reply: Reply) -> list[str]:
    return [choice.text for choice in reply.choices]


def test_choices_are_taken_by_their_place_never_by_their_text() -> None:
    assert texts(read([turn("b", 1), turn("a", 0)])) == ["a", "b"]
    assert texts(read([turn("a", 0), turn("a", 1), turn("a", 2)])) == ["a", "a", "a"], (
        "equal answers are several"
    )
    assert texts(read([turn("a", 0), turn("b", 0), turn("c", 1)])) == ["a", "c"], (
        "of one place the first"
    )
    assert texts(read([turn("c", 2), turn("d", 3), turn("a", 0), turn("b", 1)])) == [
        "a",
        "b",
        "c",
    ], "no more than asked"
    assert texts(read([turn("a", None), turn("b", None)])) == ["a", "b"], (
        "without numbers the order counts"
    )


def test_an_empty_text_is_an_answer_and_none_is_not() -> None:
    assert texts(read([turn("")])) == [""]
    assert texts(read([turn(None, 0), turn("b", 1)])) == ["b"]
    with pytest.raises(TryFailed, match=r"without text.*length") as error:
        read([turn(None, finish_reason="length")])
    assert (error.value.kind, error.value.paid) == (FailureKind.USELESS, True)


def test_refusals_parts_and_filtered_answers_have_their_text() -> None:
    for content in (None, "", [], [{"type": "refusal", "refusal": "I cannot."}]):
        refused = {
            "index": 0,
            "message": {"content": content, "refusal": "I cannot."},
            "finish_reason": "stop",
        }
        if content:
            del refused["message"]["refusal"]
        assert texts(read([refused])) == [refusal("I cannot.")]
    assert texts(read([turn("I cannot.")])) == ["I cannot."]
    assert texts(read([turn([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}])])) == [
        "ab"
    ]
    filtered = read(
        [
            turn("Half of", finish_reason="content_filter"),
            turn(None, 1, finish_reason="content_filter"),
        ]
    )
    assert [(c.text, c.filtered) for c in filtered.choices] == [("Half of", True), ("", True)]


TRACE = "Some would agree. But no."


@pytest.mark.parametrize(
    "message",
    [
        {"content": "Disagree", "reasoning_content": TRACE},
        {"content": "Disagree", "reasoning": TRACE},
        {"content": "Disagree", "reasoning_content": "", "reasoning": TRACE},
        {"content": f"<think>\n{TRACE}\n</think>\n\nDisagree", "reasoning_content": None},
        {"content": f"{TRACE}</think>Disagree"},
        {
            "content": [
                {"type": "thinking", "thinking": [{"type": "text", "text": TRACE}]},
                {"type": "text", "text": "Disagree"},
            ]
        },
        {
            "content": [
                {"type": "reasoning", "reasoning": TRACE},
                {"type": "text", "text": "Disagree"},
            ]
        },
    ],
)
def test_thoughts_are_kept_beside_the_answer(message: dict[str, Any]) -> None:
    (text,) = texts(read([{"index": 0, "message": message, "finish_reason": "stop"}]))
    assert split(text) == Output(TRACE, "Disagree")


@pytest.mark.parametrize(
    ("message", "ended", "answer"),
    [
        ({"content": None, "reasoning_content": TRACE}, "length", None),
        ({"content": "", "reasoning": TRACE}, "length", None),
        ({"content": f"<think>{TRACE}"}, "length", None),
        ({"content": "", "reasoning": TRACE}, "stop", ""),
        ({"content": "Dis", "reasoning": TRACE}, "length", "Dis"),
        ({"content": None, "reasoning": TRACE}, "content_filter", ""),
    ],
)
def test_without_a_text_after_it_a_thought_was_cut_off(
    message: dict[str, Any], ended: str, answer: str | None
) -> None:
    (text,) = texts(read([{"index": 0, "message": message, "finish_reason": ended}]))
    assert split(text) == Output(TRACE, answer)


def test_a_thought_that_the_server_hides_is_told_by_its_tokens() -> None:
    usage = {"completion_tokens": 20, "completion_tokens_details": {"reasoning_tokens": 20}}
    entry = {"index": 0, "message": {"content": ""}, "finish_reason": "length"}
    assert split(texts(read([entry], usage=usage))[0]) == Output("", None)
    assert split(texts(read([entry | {"message": {"content": None}}], usage=usage))[0]) == Output(
        "", None
    )
    assert texts(read([entry], usage={"completion_tokens": 20})) == [""], (
        "nothing says that it thought"
    )
    assert texts(read([entry | {"finish_reason": "stop"}], usage=usage)) == [""]


def test_tokens_are_those_that_the_server_counted() -> None:
    usage = {
        "prompt_tokens": 12,
        "completion_tokens": 5,
        "prompt_tokens_details": {"cached_tokens": 8},
    }
    reply = read([turn("a")], usage=usage, model="m-2026", system_fingerprint="fp")
    assert (reply.prompt_tokens, reply.cached_tokens, reply.answer_tokens) == (12, 8, 5)
    assert (reply.snapshot, reply.fingerprint) == ("m-2026", "fp")
    odd = read(
        [turn("a")],
        usage={"prompt_tokens": "12", "completion_tokens": -1, "prompt_tokens_details": None},
    )
    assert (odd.prompt_tokens, odd.answer_tokens) == (None, None)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                [
                    "choices",
                    "message",
                    "content",
                    "text",
                    "index",
                    "usage",
                    "error",
                    "logprobs",
                    "model",
                ]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


@given(json_values.map(lambda value: json.dumps(value).encode()) | st.binary(max_size=60))
def test_whatever_comes_is_an_answer_or_a_failure_with_a_reason(content: bytes) -> None:
    failure: TryFailed | None = None
    try:
        found = [choice.text for choice in read_reply(content, 2).choices]
    except TryFailed as raised:
        found, failure = [], raised
    if failure is None:
        assert 1 <= len(found) <= 2
        assert all(isinstance(text, str) for text in found)
    else:
        assert failure.reason
        assert failure.reason.isprintable()


def test_a_servers_words_are_one_line_without_the_key() -> None:
    said = server_words(
        {"error": {"message": "Bad key sk-123456\n\x1b[31m in sk-123456."}}, "sk-123456"
    )
    assert said == "Bad key [key removed] [31m in [key removed]"
    assert len(brief("x" * 10**6)) == 300
    assert server_words({"detail": [{"loc": ["body", "n"]}]}, None) == '[{"loc": ["body", "n"]}]'
    assert server_words(None, None) == "nothing more"


def call(**options: Any) -> ModelCall:
    return ModelCall(
        Prompt((Message("user", "Tax?"),)),
        2,
        5,
        Sampling(temperature=0.3, top_p=0.8, max_new_tokens=7),
        **options,
    )


def test_what_a_server_refuses_is_left_out_from_then_on() -> None:
    dialect = Dialect(parse_address("openai:m", {}))
    body = dialect.body(call())
    assert body["seed"] == 5
    assert (body["temperature"], body["top_p"], body["max_tokens"], body["n"]) == (0.3, 0.8, 7, 2)
    assert "top_k" not in str(body)
    late = TryFailed(FailureKind.LATE, "unknown seed")
    assert not dialect.learn(body, late)
    quoted = TryFailed(FailureKind.REFUSED, "cannot answer: my seed grows")
    assert not dialect.learn(body, quoted), "the word by itself is not about the parameter"
    other = TryFailed(FailureKind.REFUSED, "unknown seed", parameter="messages")
    assert not dialect.learn(body, other), "the server says what it is about"
    assert dialect.learn(body, TryFailed(FailureKind.REFUSED, "Unexpected fields: {'seed'}"))
    assert "seed" not in dialect.body(call())
    assert dialect.learn(body, TryFailed(FailureKind.REFUSED, "Unexpected fields: {'seed'}")), (
        "sent before it was known"
    )
    assert not dialect.learn(
        dialect.body(call()), TryFailed(FailureKind.REFUSED, "Unexpected fields: {'seed'}")
    )


def test_each_call_of_a_request_has_its_own_seed_which_servers_can_hold() -> None:
    seeds = {call_seed(2**62 + request, number) for request in range(20) for number in range(20)}
    assert len(seeds) == 400
    assert all(0 <= seed < 2**31 for seed in seeds)
    assert call_seed(5, 1) == call_seed(5, 1)
