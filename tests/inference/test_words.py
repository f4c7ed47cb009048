"""Which tokens spell a word: whatever their case and their blanks, and no special token."""

from __future__ import annotations

from typing import Any

import pytest
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from workbench.inference.local.text import SpelledVocabulary, TextFormat

SPACE = {"byte-level": "Ġ", "sentencepiece": "▁"}
WORDS = ["yes", "Yes", "YES", "{}yes", "{}Yes", "yesterday", "{}no", "No", "{}", "y", "{}{}no", ":"]
WORDS += ["(Y", "y.", "{}Y", "yy", "{}nO"]


def tokenizer(kind: str) -> Any:
    tokens = ["<unk>", "<yes>", *(word.format(SPACE[kind], SPACE[kind]) for word in WORDS)]
    inner = Tokenizer(
        models.BPE({token: i for i, token in enumerate(tokens)}, [], unk_token="<unk>")
    )
    if kind == "byte-level":
        inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        inner.decoder = decoders.ByteLevel()
    else:
        inner.pre_tokenizer = pre_tokenizers.Metaspace()
        inner.decoder = decoders.Metaspace()
    inner.add_special_tokens([AddedToken("<yes>", special=True)])
    return PreTrainedTokenizerFast(tokenizer_object=inner, unk_token="<unk>")


def tokens(made: Any, *names: str) -> list[int]:
    return sorted(made.convert_tokens_to_ids(name) for name in names)


@pytest.mark.parametrize("kind", SPACE)
def test_a_word_is_spelled_with_and_without_a_space_and_in_every_case(kind: str) -> None:
    made, space = tokenizer(kind), SPACE[kind]
    yes, no, nothing = SpelledVocabulary(made, len(made)).sets([" YES", "no", "perhaps"])
    assert yes == tokens(made, "yes", "Yes", "YES", f"{space}yes", f"{space}Yes")
    assert no == tokens(made, f"{space}no", "No", f"{space}{space}no", f"{space}nO")
    assert nothing == []


@pytest.mark.parametrize("kind", SPACE)
def test_tokens_are_read_as_next_tokens_are_spelled(kind: str) -> None:
    made = tokenizer(kind)
    form, spelled = TextFormat(made), SpelledVocabulary(made, len(made))
    before = made(":").input_ids
    for token in range(2, len(made)):
        word = form.spell_next(before, token).strip().casefold()
        assert not word or token in spelled.sets([word])[0]


@pytest.mark.parametrize("kind", SPACE)
def test_a_letter_is_spelled_as_an_answer_of_it_is_read(kind: str) -> None:
    made, space = tokenizer(kind), SPACE[kind]
    assert SpelledVocabulary(made, len(made)).sets(["y"])[0] == tokens(
        made, "y", "(Y", "y.", f"{space}Y"
    )


def test_a_special_token_spells_no_word() -> None:
    made = tokenizer("byte-level")
    made.add_special_tokens({"additional_special_tokens": [AddedToken("YeS", special=True)]})
    assert (
        made.convert_tokens_to_ids("YeS") not in SpelledVocabulary(made, len(made)).sets(["yes"])[0]
    )
    assert SpelledVocabulary(made, len(made)).sets(["<yes>"]) == [[]]


def test_a_network_with_a_smaller_vocabulary_is_not_asked_for_tokens_that_it_lacks() -> None:
    made = tokenizer("byte-level")
    last = len(made) - 1
    assert SpelledVocabulary(made, len(made)).sets(["no"])[0][-1] == last
    assert last not in SpelledVocabulary(made, last).sets(["no"])[0]
    assert SpelledVocabulary(made, len(made) + 64).sets(["no"])[0][-1] == last, (
        "a network may have more, as padding"
    )
