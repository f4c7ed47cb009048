"""A context that many prompts have is tokenised once, and nothing shows it: the tokens are those of
each whole text.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import AddedToken

from tests.inference.chat_tokenizers import KINDS, TEMPLATES, chat_tokenizer
from workbench.domain.prompts import Message, Prompt
from workbench.inference.local.text import ContextTokens, TextFormat

BLANKS = st.sampled_from(["", " ", "\n", "\n\n", "  "])
WORDS = st.lists(
    st.sampled_from(
        [
            "yes",
            "no",
            "taxes",
            "Please",
            "respond",
            "'yes'",
            "assistant",
            "<",
            "|>",
            "start",
            "é",
            "\n",
            "  ",
        ]
    ),
    max_size=6,
).map(" ".join)
CONTENT = st.one_of(
    st.tuples(BLANKS, WORDS, BLANKS).map("".join), st.sampled_from(["", "a <|end|> b", "<|start|>"])
)


@cache
def _tokenizer(kind: str, template: str) -> Any:
    return chat_tokenizer(kind, template)


def turns(contents: list[str], first: str = "user") -> tuple[Message, ...]:
    roles = ("user", "assistant") if first == "user" else ("assistant", "user")
    return tuple(Message(roles[i % 2], text) for i, text in enumerate(contents))


@pytest.mark.parametrize("template", TEMPLATES)
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=12)
@given(
    contexts=st.lists(st.lists(CONTENT, min_size=2, max_size=5), min_size=1, max_size=2),
    tails=st.lists(st.lists(CONTENT, min_size=1, max_size=2), min_size=2, max_size=4),
    system=st.booleans(),
)
def test_prompts_with_a_shared_context_have_the_tokens_of_their_whole_text(
    kind: str, template: str, contexts: list[list[str]], tails: list[list[str]], system: bool
) -> None:
    shared = TextFormat(_tokenizer(kind, template))
    plain = TextFormat(_tokenizer(kind, template))
    for _ in range(2):
        for tail in tails:
            for context in contexts:
                before = (*((Message("system", "Be brief."),) if system else ()), *turns(context))
                prompt = Prompt((*before, *turns(tail)), context=len(before))
                assert shared.encode(prompt) == plain.encode(replace(prompt, context=0))


class Counting:
    """A tokenizer that counts the characters it is given."""

    def __init__(self, inner: Any):
        self._inner, self.characters = inner, 0

    def __call__(self, text: str, **how: Any) -> Any:
        self.characters += len(text)
        return self._inner(text, **how)

    def __len__(self) -> int:
        return len(self._inner)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


QUESTIONS = [
    f"Please respond with 'yes' or 'no': should taxes rise by {n} per cent?" for n in range(40)
]
CONTEXT = turns([text for question in QUESTIONS for text in (question, "yes")])


@pytest.mark.parametrize("kind", [kind for kind in KINDS if "overlap" not in kind])
@pytest.mark.parametrize("template", ["turns", "system merged", "trimmed"])
def test_a_context_is_tokenised_once(kind: str, template: str) -> None:
    counting = Counting(_tokenizer(kind, template))
    form = TextFormat(counting)
    length = sum(len(message.content) for message in CONTEXT)
    for n in range(20):
        form.encode(Prompt((*CONTEXT, Message("user", f"Is {n} enough?")), context=len(CONTEXT)))
    assert length < counting.characters < 2.5 * length


def test_a_chat_format_without_special_tokens_is_tokenised_whole() -> None:
    counting = Counting(_tokenizer("byte-level", "no special tokens"))
    form = TextFormat(counting)
    for n in range(5):
        form.encode(Prompt((*CONTEXT, Message("user", f"Is {n} enough?")), context=len(CONTEXT)))
    assert counting.characters > 5 * sum(len(message.content) for message in CONTEXT)


TRAPS = {
    "a longer token reaches across the place": (
        AddedToken("<|cut|>", special=True),
        AddedToken("!<|cut|>user", special=False, normalized=False),
        "rise!<|cut|>assistant yes",
        "rise!<|cut|>user no",
    ),
    "it is a token only where no letter follows": (
        AddedToken("<|cut|>", special=True, single_word=True),
        None,
        "rise <|cut|> yes",
        "rise <|cut|>no",
    ),
    "it is looked for after other things were done to the text": (
        AddedToken("<|cut|>", special=True, normalized=True),
        AddedToken("rise <|cut|>n", special=False, normalized=True),
        "rise <|cut|> yes",
        "rise <|cut|>no",
    ),
}


@pytest.mark.parametrize(("token", "other", "first", "second"), TRAPS.values(), ids=TRAPS.keys())
def test_no_text_is_cut_where_what_follows_decides_what_is_before(
    token: AddedToken, other: AddedToken | None, first: str, second: str
) -> None:
    made = chat_tokenizer("byte-level", "turns")
    made.add_tokens([token, *([other] if other else [])])
    contexts = ContextTokens(made)
    for text in (first, second, first):
        assert contexts.encode("c", text, len(text)) == list(
            made(text, add_special_tokens=False).input_ids
        )
    assert not contexts.holds("c")
