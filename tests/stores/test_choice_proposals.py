"""Forms of questions in a store: looked at before they are written, written as one change, and
undone as one.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from stores.core.store import Store
from tests.choice_questions import FOUR, NAME, SCALE, asked_store
from tests.conftest import instrument
from workbench.data import shipped_drafting
from workbench.domain.choices import Bias, Choice, ChoiceItem, ChoicePair, Perturbation
from workbench.domain.instruments import pair_of
from workbench.domain.statements import (
    CHANGED,
    ORIGINAL,
    Statement,
    VariantId,
    VariantKind,
    Wording,
)
from workbench.errors import ConflictError, UnknownName, UsageError
from workbench.pipeline.checking import check_report
from workbench.pipeline.choice_forms import Proposals, RequestedForms, accept, propose
from workbench.pipeline.drafting import DraftSpec, draft_by_rule, plan_drafting
from workbench.pipeline.drafting import accept as accept_draft
from workbench.pipeline.editing import undo
from workbench.workshop.edits import with_text
from workbench.workshop.perturbations import fits

ERRORS = RequestedForms(perturbations=tuple(Perturbation), draws=2, seed=7)
TYPO = VariantId(VariantKind.KEY_TYPO, 2)


@pytest.fixture
def town(tmp_path: Path) -> Store:
    return asked_store(tmp_path / "town.db")


def texts(proposals: Proposals, key: str) -> dict[str, str]:
    return {str(one.variant): one.text for one in proposals.made if one.ref.endswith(f".{key}")}


def wording(store: Store, ref: str, variant: VariantId) -> Wording | None:
    return store.statements.get(NAME, ref).wording(variant, "en")


def pair(store: Store, ref: str) -> ChoicePair:
    found = pair_of(store.statements.get(NAME, ref), store.choices.items(NAME)[ref], "en")
    assert isinstance(found, ChoicePair)
    return found


def test_the_form_of_its_own_bias_is_proposed_and_what_cannot_be_is_refused_with_why(
    town: Store,
) -> None:
    found = propose(town, NAME, (), RequestedForms(own=True))
    assert [(one.ref, one.variant) for one in found.made] == [
        ("opinion_float.fares", CHANGED),
        ("response_order.weather", CHANGED),
    ]
    assert texts(found, "weather")["changed"].split("\n")[1:] == [
        "A. Not at all",
        "B. Hardly",
        "C. Largely",
        "D. Completely",
    ]
    whys = {one.ref.partition(".")[2]: one.why for one in found.refused}
    assert set(whys) == {"sights", "views", "dogs"}
    assert "“Both” refers to other options" in whys["sights"]
    assert "write it, or have it drafted" in whys["views"]
    assert town.statements.edits(NAME) == (), "a proposal writes nothing"
    with pytest.raises(UsageError, match="draft STORE --kind changed"):
        propose(town, NAME, (), RequestedForms(bias=Bias.ACQUIESCENCE))
    with pytest.raises(UnknownName, match="nowhere"):
        propose(town, NAME, ("nowhere",), RequestedForms(own=True))


def test_errors_of_typing_depend_on_the_seed_and_on_no_other_question(
    town: Store, tmp_path: Path
) -> None:
    found = propose(town, NAME, (), ERRORS)
    with asked_store(tmp_path / "alone.db", "weather") as alone:
        assert texts(propose(alone, NAME, (), ERRORS), "weather") == texts(found, "weather")
        other = propose(alone, NAME, (), replace(ERRORS, seed=8))
        assert texts(other, "weather") != texts(found, "weather")
    one = next(p for p in found.made if p.ref == "response_order.weather" and p.variant == TYPO)
    assert one.author == "workbench key_typo, seed 7, draw 2"
    assert one.words
    assert all(fits(Perturbation.KEY_TYPO, before, after) for before, after in one.words)
    assert len(texts(found, "weather")) == 6


def test_forms_are_written_as_one_change_and_undone_as_one(town: Store) -> None:
    found = propose(town, NAME, (), replace(ERRORS, own=True))
    done = accept(town, found, person="Nora")
    assert done.sentence.startswith(
        "Made changed form, key_typo, middle_random, letter_swap (2 draws, seed 7): "
    )
    assert len({edit.batch for edit in town.statements.edits(NAME)}) == 1
    weather = pair(town, "response_order.weather")
    assert weather.changed == Choice(weather.original.stem, FOUR[::-1])
    assert len(weather.perturbed) == 6
    again = propose(town, NAME, (), replace(ERRORS, own=True))
    assert (again.made, again.there) == ((), len(found.made))
    with pytest.raises(UsageError, match="exist already"):
        accept(town, again, person="Nora")
    views = town.statements.get(NAME, "acquiescence.views")
    written = with_text(
        views, CHANGED, "en", "Shouldn't the state build more flats?\nA. Yes\nB. No", "Nora"
    )
    town.statements.save(NAME, [written], person="Nora")
    after = propose(town, NAME, (), replace(ERRORS, own=True))
    assert (after.there, {one.ref for one in after.refused}) == (
        again.there + 1,
        {one.ref for one in again.refused} - {"acquiescence.views"},
    ), "a form that a person wrote is not missing"
    undo(town, NAME, "Nora")
    assert undo(town, NAME, "Nora").sentence.startswith("Undone: made changed form")
    assert pair(town, "response_order.weather").changed is None
    assert len(propose(town, NAME, (), replace(ERRORS, own=True)).made) == len(found.made)


def test_another_text_is_replaced_only_where_that_is_said(town: Store) -> None:
    accept(town, propose(town, NAME, (), ERRORS), person="Nora")
    held = wording(town, "response_order.weather", TYPO)
    found = propose(town, NAME, ("response_order.weather",), replace(ERRORS, seed=8, own=True))
    assert {one.held for one in found.made if one.variant == TYPO} == {held.text if held else ""}
    assert "6 would replace an existing text" in found.describe()
    done = accept(town, found, person="Nora")
    assert "6 forms would replace an existing text, which stays" in done.sentence
    assert wording(town, "response_order.weather", TYPO) == held
    assert wording(town, "response_order.weather", CHANGED) is not None
    accept(
        town,
        propose(town, NAME, ("response_order.weather",), replace(ERRORS, seed=8)),
        person="Nora",
        replace=True,
    )
    after = wording(town, "response_order.weather", TYPO)
    assert after is not None
    assert after.author == "workbench key_typo, seed 8, draw 2"


def test_nothing_is_written_over_a_question_that_was_changed_meanwhile(town: Store) -> None:
    found = propose(town, NAME, (), RequestedForms(bias=Bias.ODD_EVEN, middle="About half"))
    seen = town.statements.get(NAME, "response_order.weather")
    other = replace(seen.wordings[0], text=seen.wordings[0].text.replace("week", "year"))
    town.statements.save(NAME, [replace(seen, wordings=(other,))], person="Otto")
    with pytest.raises(ConflictError, match=r"weather was changed meanwhile by Otto"):
        accept(town, found, person="Nora")
    assert set(town.choices.items(NAME)) == {
        statement.ref for statement in town.instruments.get(NAME).statements
    }
    assert "odd_even.weather" not in town.choices.items(NAME), "all of it, or nothing"


def test_a_pair_under_another_bias_is_a_question_of_its_own(town: Store) -> None:
    found = propose(
        town,
        NAME,
        ("opinion_float.fares",),
        RequestedForms(bias=Bias.ODD_EVEN, perturbations=ERRORS.perturbations),
    )
    assert {one.ref for one in found.made} == {"odd_even.fares"}
    accept(town, found, person="Nora")
    made = pair(town, "odd_even.fares")
    assert (made.original.options, made.changed and made.changed.options) == (
        SCALE,
        SCALE[:2] + SCALE[3:],
    )
    assert (made.topic, made.middle_removed, made.shares, len(made.perturbed)) == (
        "town",
        True,
        (0.2,) * 5,
        3,
    )
    assert town.statements.get(NAME, "odd_even.fares").derived_from == "opinion_float.fares"
    again = propose(town, NAME, ("opinion_float.fares",), RequestedForms(bias=Bias.ODD_EVEN))
    assert (again.made, again.there) == ((), 1), "it is found where it is"
    undo(town, NAME, "Nora")
    assert "odd_even.fares" not in town.choices.items(NAME)
    accept(town, found, person="Nora")
    assert town.choices.items(NAME)["odd_even.fares"].middle_removed is True


def test_a_scale_of_four_gets_its_middle_option_from_a_person(town: Store) -> None:
    ref = "response_order.weather"
    assert (
        "give its middle option"
        in propose(town, NAME, (ref,), RequestedForms(bias=Bias.ODD_EVEN)).refused[0].why
    )
    accept(
        town,
        propose(town, NAME, (ref,), RequestedForms(bias=Bias.ODD_EVEN, middle="About half")),
        person="Nora",
    )
    made = pair(town, "odd_even.weather")
    assert made.original.options == (*FOUR[:2], "About half", *FOUR[2:])
    assert (made.changed and made.changed.options, made.middle_removed) == (FOUR, False)
    first = wording(town, "odd_even.weather", ORIGINAL)
    assert first is not None
    assert first.author == "workbench odd_even", "nobody asked it in this form"
    with pytest.raises(UsageError, match="one line of text"):
        propose(town, NAME, (ref,), RequestedForms(bias=Bias.ODD_EVEN, middle="two\nlines"))


def test_any_statement_that_is_a_question_with_options_can_become_a_pair(store: Store) -> None:
    store.instruments.add(instrument())
    asks = Choice("How good are the buses?", SCALE).lettered()
    question = Statement("plain-1", (Wording(ORIGINAL, "en", asks, "Otto"),), topic="buses")
    store.statements.create("small", [question], person="Otto")
    found = propose(
        store,
        "small",
        ("plain-1", "a-1"),
        RequestedForms(bias=Bias.OPINION_FLOAT, dont_know="No opinion"),
    )
    assert [one.why.partition(";")[0] for one in found.refused] == [
        "found a question without lettered options"
    ]
    accept(store, found, person="Nora")
    assert store.choices.items("small") == {
        "opinion_float.plain-1": ChoiceItem("opinion_float.plain-1", "plain-1", Bias.OPINION_FLOAT)
    }
    made = store.statements.get("small", "opinion_float.plain-1")
    assert [w.author for w in made.wordings] == ["Otto", "workbench opinion_float"]
    assert made.wordings[1].text.endswith("F. No opinion")
    refused = propose(store, "small", ("plain-1",), ERRORS).refused
    assert "has no bias" in refused[0].why


def test_a_statement_that_is_called_after_a_bias_becomes_its_question_as_it_is(town: Store) -> None:
    asks = Choice("How good are the buses?", SCALE).lettered()
    plain = Statement("odd_even.buses", (Wording(ORIGINAL, "en", asks, "Otto"),))
    town.statements.create(NAME, [plain], person="Otto")
    found_by_lint = [
        (one.finding.code, one.finding.ref) for one in check_report(town, NAME).checked
    ]
    assert ("no-bias", "odd_even.buses") in found_by_lint
    assert (
        "(--bias)"
        in propose(town, NAME, ("odd_even.buses",), RequestedForms(own=True)).refused[0].why
    )
    found = propose(town, NAME, ("odd_even.buses",), RequestedForms(bias=Bias.ODD_EVEN))
    assert [(one.ref, one.variant) for one in found.made] == [("odd_even.buses", CHANGED)]
    accept(town, found, person="Nora")
    assert pair(town, "odd_even.buses").changed == Choice(
        "How good are the buses?", SCALE[:2] + SCALE[3:]
    )
    other = propose(town, NAME, ("odd_even.buses",), RequestedForms(bias=Bias.RESPONSE_ORDER))
    assert {one.ref for one in other.made} == {"response_order.buses"}


def test_a_form_that_no_model_could_be_asked_is_refused_and_one_that_is_there_may_stay(
    town: Store,
) -> None:
    ref = "allow_forbid.dogs"
    seen = town.statements.get(NAME, ref)
    for variant, text in ((ORIGINAL, "Dogs?"), (CHANGED, "Dogs?\nA. Yes"), (TYPO, "Dgos?")):
        with pytest.raises(
            UsageError,
            match=rf"{variant} in en is no multiple-choice question.*Nothing was written",
        ):
            town.statements.save(
                NAME, [with_text(seen, variant, "en", text, "Nora")], person="Nora"
            )
    second = VariantId(VariantKind.CHANGED, 2)
    with pytest.raises(UsageError, match="a statement has one changed"):
        town.statements.save(
            NAME, [with_text(seen, second, "en", "Dogs?\nA. Yes\nB. No", "Nora")], person="Nora"
        )
    assert town.statements.get(NAME, ref) == seen


def test_rules_and_models_draft_only_the_changed_forms_that_are_worded(town: Store) -> None:
    kinds = (VariantKind.CHANGED,)
    said = draft_by_rule(town, NAME, kinds)
    assert said[""] == 2
    assert sum(n for why, n in said.items() if "follows from the question" in why) == 3
    views, dogs = town.drafts.list(NAME)
    assert views.line.split("\n") == [
        "Wouldn't you agree that the state should build more flats?",
        "A. Yes",
        "B. No",
    ]
    with pytest.raises(UsageError, match="does not ask whether something is forbidden"):
        accept_draft(
            town, dogs, person="Nora", text="Should dogs be welcome in shops?\nA. Yes\nB. No"
        )
    accept_draft(town, dogs, person="Nora", text="Should dogs be forbidden in all shops?")
    accept_draft(town, views, person="Nora")
    held = wording(town, "allow_forbid.dogs", CHANGED)
    assert held is not None
    assert held.text == "Should dogs be forbidden in all shops?\nA. Yes\nB. No"
    assert held.author == "workbench rule, edited by Nora"
    assert wording(town, "acquiescence.views", CHANGED) is not None
    prompts = tuple(
        prompt
        for prompt in shipped_drafting()
        if prompt.kind in (VariantKind.CHANGED, VariantKind.NEGATION)
    )
    plan = plan_drafting(town, DraftSpec(NAME, "scripted", prompts))
    assert [(call.ref, call.prompt.bias) for call in plan.calls] == [
        ("acquiescence.views", Bias.ACQUIESCENCE),
        ("allow_forbid.dogs", Bias.ALLOW_FORBID),
    ]
    assert (
        "negation",
        "a multiple-choice question, for which only the changed form can be drafted",
        5,
    ) in plan.skipped
