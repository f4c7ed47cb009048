"""Changed forms as drafts: what is a question in an answer, what its bias is measured with, what a
rule may reword.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from workbench.data import read_prompt, shipped_drafting
from workbench.domain.choices import Bias, Choice
from workbench.domain.drafting import DRAFTED, DraftPrompt
from workbench.domain.statements import ORIGINAL, VariantKind, Wording
from workbench.errors import InputError, UsageError
from workbench.workshop.choice_forms import option_lines, reworded
from workbench.workshop.drafting import DraftFault, drafted, entering, hints, read_answer

CHANGED = VariantKind.CHANGED
SUGGESTS, FORBIDS = (prompt for prompt in shipped_drafting() if prompt.kind is CHANGED)
VIEWS = Choice("What do you prefer?", ("More trams", "Better roads")).lettered()
DOGS = Choice("Should dogs be allowed in shops?", ("Yes", "No")).lettered()
YES_NO = "\nA. Yes\nB. No"


def faults(answer: str, prompt: DraftPrompt = SUGGESTS, basis: str = VIEWS) -> list[str]:
    held = (Wording(ORIGINAL, "en", basis),)
    return [line.fault for line in read_answer(answer, prompt, basis, held, ())]


@pytest.mark.parametrize(
    "answer",
    [
        "Wouldn't you agree that trams matter more?\nA. Yes\nB. No",
        "1. **Wouldn't you agree that trams matter more?**\n\n  (A) Yes.\n  (B) No.",
        "Question: “Wouldn't you agree that trams matter more?” A) Yes B) No",
        "Wouldn't you agree that trams matter more?",
    ],
)
def test_a_question_is_read_with_its_options_however_they_are_written(answer: str) -> None:
    (line,) = read_answer(answer, SUGGESTS, VIEWS, (), ())
    assert (line.fault, drafted(CHANGED, line.text)) == (
        "",
        f"Wouldn't you agree that trams matter more?{YES_NO}",
    )


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        ("", DraftFault.EMPTY),
        ("I'm sorry, but I can't help with that.", DraftFault.REFUSAL),
        ("Here is the leading question:", DraftFault.ECHO),
        ("Trams matter more than roads do.", DraftFault.CHOICE),
        ("Are trams better?\nA. Trams\nB. Roads", DraftFault.FORM),
        ("Are trams better?\nA. No\nB. Yes", DraftFault.FORM),
        ("Are trams better?\nA. Yes\nB. No\nC. Perhaps", DraftFault.FORM),
        (f"Are trams\x07 better?{YES_NO}", DraftFault.CONTROL),
        (VIEWS, DraftFault.FORM),
        (f"What do you prefer?{YES_NO}", DraftFault.FORM),
        (f"{'Are trams better? ' * 40}{YES_NO}", DraftFault.LONG),
    ],
)
def test_what_cannot_be_the_changed_form_is_set_aside_with_why(
    answer: str, fault: DraftFault
) -> None:
    assert faults(answer) == [fault]


def test_remarks_around_a_question_are_lines_of_their_own_and_a_second_question_is_too_many() -> (
    None
):
    answer = (
        f"Sure!\n\nDon't you prefer trams?{YES_NO}\n\nIsn't it better to have "
        f"trams?{YES_NO}\nI hope this helps!"
    )
    assert faults(answer) == [DraftFault.ECHO, "", DraftFault.EXTRA, DraftFault.ECHO]


def test_allow_forbid_has_to_ask_whether_something_is_forbidden() -> None:
    assert faults(f"Should dogs be forbidden in shops?{YES_NO}", FORBIDS, DOGS) == [""]
    assert faults(f"Should dogs not be allowed in shops?{YES_NO}", FORBIDS, DOGS) == [
        DraftFault.FORM
    ]
    found = hints(
        CHANGED, "en", VIEWS, f"Do you prefer better roads?{YES_NO}", (), Bias.ACQUIESCENCE
    )
    assert any("does not suggest an answer" in one for one in found)
    assert any("words of the second option" in one for one in found)


def test_a_text_enters_with_its_options_or_is_refused() -> None:
    assert entering(CHANGED, "  Is it?\nA. Yes\nB. No\n") == f"Is it?{YES_NO}"
    assert entering(CHANGED, "Is it?") == f"Is it?{YES_NO}"
    with pytest.raises(UsageError, match="options without a question"):
        entering(CHANGED, "A. Yes\nB. No")
    assert entering(VariantKind.NEGATION, "Two\nlines") == "Two lines"


@pytest.mark.parametrize(
    ("bias", "stem", "options", "made"),
    [
        (
            Bias.ALLOW_FORBID,
            "Should dogs be allowed in shops?",
            ("Yes", "No"),
            "Should dogs be forbidden in shops?",
        ),
        (
            Bias.ALLOW_FORBID,
            "Should the state permit this?",
            ("Yes", "No"),
            "Should the state forbid this?",
        ),
        (Bias.ALLOW_FORBID, "Should or should not dogs be allowed?", ("Yes", "No"), None),
        (Bias.ALLOW_FORBID, "Is it acceptable that dogs are allowed in?", ("Yes", "No"), None),
        (Bias.ALLOW_FORBID, "Should dogs be allowed where cats are allowed?", ("Yes", "No"), None),
        (Bias.ALLOW_FORBID, "Should dogs be allowed in shops?", ("Rather", "Rather not"), None),
        (
            Bias.ACQUIESCENCE,
            "Which is closer to your own view?",
            ("The tax is too high.", "It is not."),
            "Wouldn't you agree that the tax is too high?",
        ),
        (
            Bias.ACQUIESCENCE,
            "Which is closer to your own view?",
            ("They are too high.", "They are not."),
            None,
        ),
        (
            Bias.ACQUIESCENCE,
            "In 30 years, which is more likely?",
            ("The tax will rise.", "It will fall."),
            None,
        ),
        (
            Bias.ACQUIESCENCE,
            "Which is closer to your own view?",
            ("Lower taxes", "Higher taxes"),
            None,
        ),
        (
            Bias.ODD_EVEN,
            "Which is closer to your own view?",
            ("The tax is too high.", "It is not."),
            None,
        ),
    ],
)
def test_a_rule_rewords_only_what_stands_by_itself(
    bias: Bias, stem: str, options: tuple[str, ...], made: str | None
) -> None:
    found = reworded(bias, Choice(stem, options))
    assert (found.choice if found else None) == (Choice(made, ("Yes", "No")) if made else None)


def test_a_prompt_for_changed_forms_says_which_bias(tmp_path: Path) -> None:
    assert (SUGGESTS.bias, FORBIDS.bias) == (Bias.ACQUIESCENCE, Bias.ALLOW_FORBID)
    assert VariantKind.KEY_TYPO not in DRAFTED
    for prompt in (SUGGESTS, FORBIDS):
        assert DraftPrompt.from_json(json.loads(json.dumps(prompt.as_json()))) == prompt
    file = tmp_path / "p.toml"
    for kind, bias, due in (
        ("changed", "odd_even", "acquiescence, allow_forbid"),
        ("negation", "allow_forbid", "none"),
    ):
        file.write_text(f'name = "p"\nkind = "{kind}"\nbias = "{bias}"\nuser = "{{statement}}"\n')
        with pytest.raises(InputError) as caught:
            read_prompt(file)
        assert [(one.column, due in one.expected) for one in caught.value.findings] == [
            ("bias", True)
        ]


def test_options_are_followed_by_their_text() -> None:
    scale = Choice("?", ("Good", "So-so", "Bad"))
    without = option_lines(scale, Choice("?", ("Good", "Bad")))
    assert [(one.letter, one.text, one.mark) for one in without] == [
        ("A", "Good", ""),
        ("B", "So-so", "−"),
        ("B", "Bad", "was C"),
    ]
    other = option_lines(scale, Choice("?", ("Yes", "No")))
    assert [(one.letter, one.mark) for one in other] == [
        ("A", "−"),
        ("B", "−"),
        ("C", "−"),
        ("A", "+"),
        ("B", "+"),
    ]
