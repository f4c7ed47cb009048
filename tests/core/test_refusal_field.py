"""An answer whose server says that it is a refusal is one for every rule, whatever its words
are.
"""

from __future__ import annotations

import pytest

from workbench.data import lexicon
from workbench.domain.prompts import LETTER, LIKERT, Template
from workbench.domain.thinking import Output, refusal, split
from workbench.evidence.refusals import read_answer
from workbench.readers.label_words import REFUSAL, LabelWords
from workbench.readers.rules import ChoiceLetter, FirstWord, Likert, Reader

WORDS = ("I can't.", "Agree", "A", "4", "yes")
RULES: dict[str, Reader] = {
    "label words": LabelWords("agree", "disagree", lexicon("en")),
    "label words as published": LabelWords("agree", "disagree", lexicon("en"), rule="coded"),
    "first word": FirstWord("yes", "no"),
    "letter": ChoiceLetter(),
    "level": Likert(),
}


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("words", WORDS)
def test_a_marked_refusal_has_no_label_and_says_why(name: str, words: str) -> None:
    reading = RULES[name].read(refusal(words))
    assert (reading.label, reading.reason) == (None, REFUSAL)
    assert RULES[name].read("I can't.").reason != REFUSAL


@pytest.mark.parametrize("scale", ["", LETTER, LIKERT])
@pytest.mark.parametrize("language", ["en", "xx"])
def test_a_marked_refusal_counts_as_refused_in_every_language(scale: str, language: str) -> None:
    template = Template(
        "t", False, "{statement}", "agree", "disagree", language=language, scale=scale
    )
    assert read_answer(template, refusal("Agree")) == (None, True)


@pytest.mark.parametrize("thought", ["", "Some would agree."])
def test_a_refusal_is_kept_with_the_thought_before_it(thought: str) -> None:
    output = Output(thought, refusal("I can't."))
    assert split(output.stored) == output
