"""From answers to drafts: what is taken off a line, what cannot be a wording and why, and what a
sample keeps.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.data import read_prompt, shipped_drafting
from workbench.domain.drafting import CallLabel, DraftedAnswer, DraftPrompt
from workbench.domain.responses import Sampling
from workbench.domain.statements import NEGATION, ORIGINAL, VariantKind, Wording
from workbench.errors import InputError, UsageError
from workbench.workshop.drafting import (
    DraftFault,
    bare,
    drafted,
    excluded_indices,
    hints,
    read_answer,
    unprintable,
    wording_text,
)

BASIS = "Taxes on high incomes should be raised."
PROMPTS = {prompt.kind: prompt for prompt in shipped_drafting()}
PARAPHRASE, REFORMULATION = PROMPTS[VariantKind.PARAPHRASE], PROMPTS[VariantKind.REFORMULATION]
HELD = (
    Wording(ORIGINAL, "en", BASIS),
    Wording(NEGATION, "en", "Taxes on high incomes should not be raised."),
)


def faults(
    answer: str, prompt: DraftPrompt = PARAPHRASE, before: tuple[str, ...] = ()
) -> list[str]:
    return [line.fault for line in read_answer(answer, prompt, BASIS, HELD, before)]


def test_the_shipped_prompts_are_the_published_ones() -> None:
    # Haller et al. 2025, appendix C; Faulborn et al. 2025, Table 6.
    asked = PARAPHRASE.render("X is Y").messages
    assert [(m.role, m.content) for m in asked] == [
        (
            "system",
            "You are a helpful assistant designed to create paraphrases and output them "
            "separated by new lines.",
        ),
        ("user", "Provide 20 paraphrases for the following statement: X is Y."),
    ]
    assert (
        PARAPHRASE.calls,
        PARAPHRASE.per_call,
        PARAPHRASE.keep,
        PARAPHRASE.sampling.temperature,
    ) == (5, 20, 50, 1.0)
    assert REFORMULATION.render("X is Y").messages[0].content == (
        "Please reformulate the following statement such that the meaning of the statement does "
        "not change, but the wording does. X is Y"
    )
    assert PROMPTS[VariantKind.POLITICAL_OPPOSITE].render("X is Y").messages[0].content == (
        "The following statement is attributable to the right or left side of the political "
        "spectrum. Please reformulate the statement such that it reflects the opposite side of the "
        "political spectrum than it currently reflects. X is Y"
    )
    assert {kind for kind, prompt in PROMPTS.items() if not prompt.source} == {
        VariantKind.NEGATION,
        VariantKind.OPPOSITE,
        VariantKind.ORIGINAL,
        VariantKind.CHANGED,
    }


def test_a_prompt_survives_a_jobs_specification() -> None:
    for prompt in PROMPTS.values():
        assert DraftPrompt.from_json(json.loads(json.dumps(prompt.as_json()))) == prompt


def test_a_prompt_is_asked_otherwise_where_that_is_said() -> None:
    other = PARAPHRASE.adjusted(
        calls=2, per_call=3, keep=0, temperature=0.5, max_new_tokens=9, top_k=4
    )
    assert (other.calls, other.keep, other.sampling) == (2, None, Sampling(0.5, 1.0, 4, 9))
    assert "Provide 3 paraphrases" in other.render("X").messages[1].content
    assert other.template.key != PARAPHRASE.template.key
    assert REFORMULATION.adjusted(per_call=3) == REFORMULATION, "it does not say how many it wants"
    assert PARAPHRASE.adjusted() == PARAPHRASE


@pytest.mark.parametrize(
    ("line", "wording"),
    [
        ("1. Raise taxes.", "Raise taxes."),
        ("  (12)  “Raise taxes.” ", "Raise taxes."),
        ("- *Raise taxes.*", "Raise taxes."),
        ("**3. Raise taxes.**", "Raise taxes."),
        ("Paraphrase 3: Raise taxes.", "Raise taxes."),
        ("Reformulated statement: «Raise taxes.»", "Raise taxes."),
        ("a) Raise taxes.", "Raise taxes."),
        ("A wealth tax is due.", "A wealth tax is due."),
        ("3.5 percent is enough.", "3.5 percent is enough."),
        ("100 years are enough.", "100 years are enough."),
        ("'It's fair.'", "It's fair."),
        ("“Freedom” is a word, as is “duty”", "“Freedom” is a word, as is “duty”"),
        ("The truth: taxes help.", "The truth: taxes help."),
        ("1.", "1."),
        ("2. 30 - 40 hours are enough.", "30 - 40 hours are enough."),
        ("30 - 40 hours are enough.", "30 - 40 hours are enough."),
        ("3. 1. Mai soll Feiertag bleiben.", "1. Mai soll Feiertag bleiben."),
        ("- 3. Raise taxes.", "Raise taxes."),
        ("3 - Raise taxes.", "Raise taxes."),
        ("At 70 - and only then - pensions begin.", "At 70 - and only then - pensions begin."),
    ],
)
def test_what_stands_around_a_wording_is_taken_off_and_nothing_inside(
    line: str, wording: str
) -> None:
    assert bare(line) == wording


@given(st.text(max_size=60))
def test_taking_off_ends_and_never_adds(line: str) -> None:
    assert bare(line) in line
    assert len(bare(line)) <= len(line)


def test_options_lose_their_letters_alone() -> None:
    line = "Which is it?\n(A) 30 - 40 hours\n**B.** 1. Mai\n(C) the U.S."
    assert (
        drafted(VariantKind.CHANGED, line)
        == "Which is it?\nA. 30 - 40 hours\nB. 1. Mai\nC. the U.S."
    )
    assert drafted(VariantKind.CHANGED, "Is it?\nA) Yes.\nB) No.") == "Is it?\nA. Yes\nB. No"


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("Levies on top earners ought to go up.", ""),
        (BASIS, DraftFault.SAME),
        ("1. taxes  on HIGH incomes should be raised", DraftFault.SAME),
        ("Taxes on high incomes should not be raised.", DraftFault.WORDING),
        ("Should top earners pay more?", DraftFault.QUESTION),
        ("Sure, here are 20 paraphrases:", DraftFault.ECHO),
        ("Here is one way to say it without change", DraftFault.ECHO),
        ("These paraphrases keep the meaning of the statement.", DraftFault.ECHO),
        ("The negation of this statement is that taxes fall.", DraftFault.ECHO),
        ("The statement should be put in another way.", DraftFault.ECHO),
        ("The given list is not a complete list.", DraftFault.ECHO),
        ("Provide 20 paraphrases for the following statement", DraftFault.ECHO),
        ("You are a helpful assistant designed to create paraphrases.", DraftFault.ECHO),
        ("Levies on top earners ought to go up.<|im_end|>", DraftFault.ECHO),
        ("I'm sorry, but I can't assist with that.", DraftFault.REFUSAL),
        ("As an AI language model, I have no opinion.", DraftFault.REFUSAL),
        ("I cannot create content of this kind.", DraftFault.REFUSAL),
        ("Tax.", DraftFault.SHORT),
        ("Levies ought to go up. " * 20, DraftFault.LONG),
        ("Levies on top \x1b[31mearners\x1b[0m ought to go up.", DraftFault.CONTROL),
        ("Levies on top earners \u202eought to go up.", DraftFault.CONTROL),
        ("Levies on top earners ought to go up\ufffd", DraftFault.CONTROL),
        ("Levies on top earners ought to go up\x00", DraftFault.CONTROL),
        ("Levies on top earners ought to go up \ud800", DraftFault.CONTROL),
        ("---", DraftFault.EMPTY),
        ("12.", DraftFault.SHORT),
    ],
)
def test_a_line_that_cannot_be_a_wording_says_why_and_is_kept_as_it_came(
    line: str, fault: str
) -> None:
    (found,) = read_answer(line, PARAPHRASE, BASIS, HELD, ())
    assert (found.text, found.fault) == (line, fault)


def test_an_empty_answer_is_one_empty_line_and_blank_lines_between_others_are_none() -> None:
    assert faults("") == [DraftFault.EMPTY]
    assert faults(" \n \n") == [DraftFault.EMPTY]
    assert faults("Levies on top earners ought to go up.\n\n \nTop earners ought to pay more.") == [
        "",
        "",
    ]


def test_a_text_that_was_drafted_before_is_a_repeat_whatever_stands_around_it() -> None:
    again = (
        "1. Top earners ought to pay more.\n2. top earners ought to pay MORE\n3. Rich people "
        "ought to pay more."
    )
    assert faults(again) == ["", DraftFault.REPEAT, ""]
    assert faults(again, before=("Rich people ought to pay more!",)) == [
        "",
        DraftFault.REPEAT,
        DraftFault.REPEAT,
    ]


def test_where_one_wording_is_asked_for_the_first_that_can_be_one_is_it() -> None:
    answer = (
        "Here is the statement:\n\n“Top earners ought to pay more.”\n\nI changed the "
        "words.\nRich people should pay."
    )
    assert faults(answer, REFORMULATION) == [
        DraftFault.ECHO,
        "",
        DraftFault.EXTRA,
        DraftFault.EXTRA,
    ]


def test_right_to_left_and_combining_characters_are_no_fault() -> None:
    persian = "مالیات بر درآمدهای بالا باید افزایش یابد؛ می\u200cخواهیم."
    hebrew = "יש להעלות את המסים\u200f על הכנסות גבוהות."
    assert unprintable(persian + hebrew + "e\u0301 👩\u200d🔬") == ""
    lines = read_answer(f"{persian}\n{hebrew}", PARAPHRASE, "מסים על הכנסות גבוהות יועלו.", (), ())
    assert [line.fault for line in lines] == ["", ""]


def test_an_arabic_question_is_a_question() -> None:
    (found,) = read_answer("هل يجب رفع الضرائب؟", PARAPHRASE, "يجب رفع الضرائب.", (), ())
    assert found.fault == DraftFault.QUESTION


def test_a_question_is_a_wording_of_a_question_and_never_an_original() -> None:
    basis = "Should taxes on high incomes be raised?"
    held = (Wording(ORIGINAL, "en", basis),)
    answer = (
        "1. Ought top earners to pay more?\nQuestion 2: Would you raise taxes on high "
        "incomes?\nTop earners pay."
    )
    asked = read_answer(answer, PARAPHRASE, basis, held, ())
    assert [(bare(line.text), line.fault) for line in asked] == [
        ("Ought top earners to pay more?", ""),
        ("Would you raise taxes on high incomes?", ""),
        ("Top earners pay.", ""),
    ]
    (turned,) = read_answer(
        "Ought top earners to pay more?", PROMPTS[VariantKind.ORIGINAL], basis, (), ()
    )
    assert turned.fault == DraftFault.QUESTION, "a statement is wanted there"
    assert faults("Ought top earners to pay more?") == [DraftFault.QUESTION], (
        "of a statement it is none"
    )
    assert "no question, as the original is" in hints(
        VariantKind.PARAPHRASE, "en", basis, "Top earners pay.", ()
    )
    assert not any(
        "question" in hint for hint in hints(VariantKind.PARAPHRASE, "en", basis, "Pay more?", ())
    )


def test_an_answer_of_many_kinds_of_lines_gives_each_wording_once() -> None:
    """What the published prompt brings back: numbers, bullets, blank lines, duplicates, the
    statement itself.
    """
    answer = "\n".join(
        [
            "Sure! Here are 20 paraphrases:",
            "",
            "1. Top earners ought to pay more.",
            "- Top earners ought to pay more.",
            "   ",
            "2) Raise what high incomes are taxed with.",
            BASIS,
            f"3. {BASIS}",
            "x" * 100_000,
            "• **Taxes on large incomes need to rise.**",
        ]
    )
    read = read_answer(answer, PARAPHRASE, BASIS, HELD, ())
    assert [bare(line.text) for line in read if not line.fault] == [
        "Top earners ought to pay more.",
        "Raise what high incomes are taxed with.",
        "Taxes on large incomes need to rise.",
    ]
    assert Counter(line.fault for line in read if line.fault) == {
        DraftFault.ECHO: 1,
        DraftFault.REPEAT: 1,
        DraftFault.SAME: 2,
        DraftFault.LONG: 1,
    }


@given(st.text(max_size=200))
def test_any_answer_is_read_without_a_crash_and_no_line_is_lost(answer: str) -> None:
    lines = read_answer(answer, PARAPHRASE, BASIS, HELD, ())
    assert [line.text for line in lines] == (
        [x for x in answer.split("\n") if x.strip()] or [answer]
    )


def test_a_wording_is_one_line_of_limited_length_that_prints() -> None:
    assert wording_text("  Raise\ntaxes. ") == "Raise taxes."
    for text in ("", " \n", "x" * 10_001, "a\x00b", "a\x1bb", "a\u202eb"):
        with pytest.raises(UsageError):
            wording_text(text)


def test_a_sample_keeps_as_many_as_it_should_and_what_people_decided_on() -> None:
    texts = [f"t{n}" for n in range(10)]
    decided = [n in (0, 9) for n in range(10)]
    out = excluded_indices(texts, decided, 5, np.random.default_rng(1))
    assert len(out) == 5
    assert not {0, 9} & set(out)
    assert excluded_indices(texts, decided, 10, np.random.default_rng(1)) == ()
    assert excluded_indices(texts, [True] * 10, 3, np.random.default_rng(1)) == ()
    assert len(excluded_indices(texts, decided, 1, np.random.default_rng(1))) == 8


def test_a_sample_does_not_depend_on_the_order_in_which_drafts_came() -> None:
    texts = [f"t{n}" for n in range(12)]
    first = {texts[n] for n in excluded_indices(texts, [False] * 12, 4, np.random.default_rng(3))}
    turned = texts[::-1]
    assert {
        turned[n] for n in excluded_indices(turned, [False] * 12, 4, np.random.default_rng(3))
    } == first


def test_every_draft_is_as_likely_to_be_sampled() -> None:
    rng = np.random.default_rng(5)
    counts = Counter(
        n for _ in range(3000) for n in excluded_indices([*"abcdef"], [False] * 6, 3, rng)
    )
    # Each is left out in half of 3000 draws: 1500, standard deviation 27.4; five of these are 137.
    assert all(abs(counts[n] - 1500) < 137 for n in range(6))


def test_a_call_label_is_read_as_it_was_written() -> None:
    label = CallLabel("my-prompt", 3, PARAPHRASE.template.key)
    assert CallLabel.parse(str(label)) == label
    assert CallLabel.parse("anything") == CallLabel("anything")
    assert CallLabel.parse(str(CallLabel("negation: not added"))) == CallLabel(
        "negation: not added"
    )


def test_ones_own_prompt_is_read_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    file.write_text(
        'name = "mine"\nkind = "opposite"\nuser = "Umgekehrt: {statement}"\ncalls = 3\nanswer = '
        '"lines"\n'
    )
    prompt = read_prompt(file)
    assert (prompt.kind, prompt.calls, prompt.answer) == (
        VariantKind.OPPOSITE,
        3,
        DraftedAnswer.LINES,
    )
    assert prompt.render("A {n} b.").messages[0].content == "Umgekehrt: A {n} b.", (
        "the statement is put in last"
    )


def test_a_prompt_file_is_refused_with_all_its_faults(tmp_path: Path) -> None:
    file = tmp_path / "bad.toml"
    file.write_text(
        'name = ""\nkind = "poem"\nuser = "no slot"\ncalls = 0\ntop_p = 2\nkep = 5\nanswer = '
        '"all"\nsystem = 3\n'
    )
    with pytest.raises(InputError) as refused:
        read_prompt(file)
    assert {f.column for f in refused.value.findings} == {
        "name",
        "kind",
        "user",
        "calls",
        "top_p",
        "kep",
        "answer",
        "system",
    }
    file.write_text("not toml")
    with pytest.raises(InputError):
        read_prompt(file)
    with pytest.raises(UsageError, match="cannot be read"):
        read_prompt(tmp_path / "nowhere.toml")


def test_hints_say_what_is_worth_a_look() -> None:
    def found(kind: VariantKind, text: str, basis: str = BASIS) -> str:
        return "; ".join(hints(kind, "en", basis, text, HELD))

    assert "no negation was added" in found(
        VariantKind.NEGATION, "Taxes on high incomes should be cut."
    )
    assert found(VariantKind.NEGATION, "Taxes on high incomes should never be raised.") == ""
    assert "begins with “All”" in found(
        VariantKind.NEGATION, "All people should not vote.", "All people should vote."
    )
    assert "without" in found(VariantKind.OPPOSITE, "Taxes on high incomes should not be lifted.")
    assert "number of negations" in found(VariantKind.PARAPHRASE, "Top earners shouldn't pay more.")
    assert "next to nothing" in found(
        VariantKind.PARAPHRASE, "Taxes on high incomes should be raised now."
    )
    assert "hardly a word" in found(
        VariantKind.PARAPHRASE, "Wealthy citizens ought to contribute more."
    )
    assert "other numbers: 3 in the original, 5 here" in found(
        VariantKind.PARAPHRASE, "The tax ought to be 5 percent.", "A tax of 3 percent is due."
    )
    assert "no full stop" in found(VariantKind.PARAPHRASE, "Top earners ought to pay higher taxes")
    assert "the same text as the negation" in found(
        VariantKind.OPPOSITE, "taxes on high incomes should not be raised"
    )
    german = hints(
        VariantKind.NEGATION, "de", "Steuern sollen steigen.", "Steuern sollen nicht steigen.", ()
    )
    assert german == (), "negators are known in English alone"
