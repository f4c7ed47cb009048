"""Thoughts are told from answers by their marks, whoever writes them; an output that ends in
thought has no answer.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.domain.thinking import (
    BEGIN,
    END,
    PAIRS,
    Output,
    end_of,
    in_thought,
    is_mark,
    is_plain,
    opening,
    own_pairs,
    split,
)

TRACE = "Some would agree, because rents are high. But I do not"
FAMILIES = (
    *PAIRS,
    ("<think>", "</think>"),
    ("<THINK>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<seed:think>", "</seed:think>"),
    ("<scratchpad>", "</scratchpad>"),
    ("<reflection>", "</reflection>"),
    ("<analysis>", "</analysis>"),
    ("```thinking\n", "\n```"),
    ("<mm:think>", "</mm:think>"),
    ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
    ("Here is my thought process:", "Here is my response:"),
    ("Here's my thought process:", "Here's my response:"),
    ("analysis", "assistantfinal"),
)
texts = st.text(alphabet=st.one_of(st.sampled_from("ab <>/|[]\n⟦⟧"), st.characters()), max_size=30)


@pytest.mark.parametrize("pair", FAMILIES, ids=[begin for begin, _ in FAMILIES])
def test_what_stands_between_the_marks_is_no_answer(pair: tuple[str, str]) -> None:
    begin, end = pair
    assert split(f"{begin}{TRACE}{end}\n\nDisagree") == Output(TRACE, "Disagree")
    assert split(f"{begin}{TRACE}") == Output(TRACE, None)
    assert split(f"{begin}{end}Disagree").answer == "Disagree"
    assert in_thought(f"{begin}{TRACE}")
    assert not in_thought(f"{begin}{TRACE}{end}")


def test_an_end_alone_ends_a_thought_that_began_in_the_prompt() -> None:
    assert split(f"{TRACE}</think>Disagree") == Output(TRACE, "Disagree")
    assert split("<think>a</think> Agree? </think> Disagree").answer == "Disagree"


def test_of_several_thoughts_all_are_left_out() -> None:
    assert split("<think>a</think>I disagree.<think>agree</think>") == Output(
        "a\n\nagree", "I disagree."
    )
    assert split("<think>a</think>Agree <think>wait") == Output("a\n\nAgree\n\nwait", None)
    assert split("<think>a <think> b </think> c").answer == "c", (
        "marks within a thought are part of it"
    )
    assert split("<think>a [/THINK] b").answer is None, "a thought ends with its own mark"
    channels = "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>commentary<|message|>b<|end|>"
    assert split(channels) == Output("a\n\nb", None)


@pytest.mark.parametrize(
    "text", ["", " ", "Disagree", "1 < 2", "I think <b>so</b>", "analysis of it", "[x]", "<"]
)
def test_an_output_without_marks_is_its_answer(text: str) -> None:
    assert split(text) == Output("", text)
    assert Output("", text).stored == text


@given(texts, st.one_of(st.none(), texts))
def test_what_is_stored_has_both_parts_of_an_output(thinking: str, answer: str | None) -> None:
    found = split(Output(thinking, answer).stored)
    assert found.answer == answer
    assert found.thinking == thinking.replace(END, "⟦/thinking ⟧")


@given(texts)
def test_any_text_is_split_and_reading_an_answer_again_changes_nothing(text: str) -> None:
    output = split(text)
    assert split(output.stored) == Output(
        output.thinking.replace(END, "⟦/thinking ⟧"), output.answer
    )


def test_a_prompt_that_opens_a_thought_is_seen() -> None:
    assert opening("<|im_start|>assistant\n<think>\n") == "<think>"
    assert opening("<|im_start|>assistant\n<think>\n\n</think>\n\n") == ""
    assert (end_of("<think>"), end_of("[THINK]"), end_of("<seed:think>")) == (
        "</think>",
        "[/THINK]",
        "</seed:think>",
    )


def test_a_template_may_have_marks_of_its_own() -> None:
    template = (
        "{{ '<inner_thoughts>' }}{{ x }}{{ '</inner_thoughts>' }}<think></think><thoughtless>"
    )
    own = own_pairs(template)
    assert own == (("<inner_thoughts>", "</inner_thoughts>"),)
    text = f"<inner_thoughts>{TRACE}</inner_thoughts>No"
    assert split(text).answer == text
    assert split(text, own) == Output(TRACE, "No")
    assert opening("<inner_thoughts>", own) == "<inner_thoughts>"
    assert end_of(own[0][0], own) == own[0][1]


def test_tokens_that_decoding_drops_are_known() -> None:
    assert all(
        map(
            is_mark,
            ("<think>", "</think>", "[THINK]", "<|channel|>", "<|message|>", "<|END_THINKING|>"),
        )
    )
    assert not any(map(is_mark, ("<|im_end|>", "<s>", "think")))
    assert is_mark("<mine>", [("<mine>", "</mine>")])
    assert split(BEGIN + "a").answer is None


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("It may be harmful to some.\n\n**Final answer:** beneficial", "beneficial"),
        ("Reasoning: harmful\nFinal Answer:\nAgree", "Agree"),
        ("Final answer: agree", "Final answer: agree"),
        ("My final answer: agree", "My final answer: agree"),
    ],
)
def test_reasoning_without_marks_ends_at_the_final_answer(text: str, answer: str) -> None:
    found = split(text)
    assert found.answer == answer
    assert split(found.stored) == found


@given(
    st.text()
    | st.sampled_from(["Final answer: B", "<think>a</think> b", "FINAL ANSWER: x", "analysisThis"])
)
def test_what_is_plain_has_no_thought(text: str) -> None:
    if is_plain(text):
        assert split(text) == Output("", text)
