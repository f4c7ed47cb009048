"""Drafts in the store: kept as they came, decided once, undone by whom they were decided, and in
the right place.
"""

from __future__ import annotations

import pytest

from stores.core.store import Store
from stores.instruments.drafts import Draft, NewDraft
from stores.runs.run_rows import Answered
from tests.conftest import instrument
from workbench.domain.designs import Design
from workbench.domain.responses import ModelCard
from workbench.domain.statements import (
    NEGATION,
    ORIGINAL,
    QUESTION,
    Statement,
    VariantId,
    VariantKind,
    Wording,
)
from workbench.errors import ConflictError, UnknownName, UsageError
from workbench.pipeline import planning
from workbench.pipeline.drafting import accept, draft_by_rule

PARAPHRASE = VariantKind.PARAPHRASE
BASIS = "Statement a-1 should become law."
HOSTILE = (
    "[/INST]",
    "\x1b[31mred",
    "\u202ereversed",
    "x" * 100_000,
    "",
    "a\x00b",
    "\ud800 half",
    "e\u0301 ‮ עברית",
)


def propose(
    store: Store, *lines: str, kind: VariantKind = PARAPHRASE, ref: str = "a-1", fault: str = ""
) -> None:
    drafts = [NewDraft(ref, kind, "en", BASIS, line, "m-1", "p#1@", fault=fault) for line in lines]
    store.drafts.add("small", drafts)


def only(store: Store, state: str | None = None) -> Draft:
    (found,) = store.drafts.list("small", state=state)
    return found


def text_of(store: Store, variant: VariantId, ref: str = "a-1") -> str | None:
    held = store.statements.get("small", ref).wording(variant, "en")
    return held.text if held else None


def test_every_line_is_kept_exactly(filled: Store) -> None:
    propose(filled, *HOSTILE)
    assert [draft.line for draft in filled.drafts.list("small")] == list(HOSTILE)
    assert {draft.basis for draft in filled.drafts.list("small")} == {BASIS}


def test_a_draft_enters_the_instrument_only_by_a_decision(filled: Store) -> None:
    before = filled.instruments.get("small")
    propose(filled, "A-1 is to be law.")
    assert filled.instruments.get("small") == before
    changed, variant = accept(filled, only(filled), person="ana")
    assert str(variant) == "paraphrase-4"
    assert changed.refs == ("a-1",)
    held = filled.statements.get("small", "a-1").wording(variant, "en")
    assert held == Wording(variant, "en", "A-1 is to be law.", "m-1")
    draft = only(filled, "accepted")
    assert draft.decision is not None
    assert (draft.decision.person, draft.decision.text) == ("ana", "A-1 is to be law.")
    assert filled.statements.edits("small")[0].act == "accepted draft"


def test_a_negation_is_replaced_and_other_kinds_get_the_next_number(filled: Store) -> None:
    propose(filled, "Statement a-1 should not become law.", kind=VariantKind.NEGATION)
    propose(filled, "A-1 as law!", "A law like a-1.", kind=VariantKind.REFORMULATION)
    placed = [str(accept(filled, draft, person="ana")[1]) for draft in filled.drafts.list("small")]
    assert placed == ["negation", "reformulation", "reformulation-2"]
    assert text_of(filled, NEGATION) == "Statement a-1 should not become law."


def test_an_edited_draft_keeps_the_line_and_names_both_authors(filled: Store) -> None:
    propose(filled, "1. A-1 be law.")
    accept(filled, only(filled), person="ana", text=" A-1 is to be law. ", note="grammar")
    draft = only(filled, "edited")
    assert draft.line == "1. A-1 be law."
    assert draft.decision is not None
    assert (draft.decision.text, draft.decision.note) == ("A-1 is to be law.", "grammar")
    held = filled.statements.get("small", "a-1").wording(VariantId(PARAPHRASE, 4), "en")
    assert held is not None
    assert held.author == "m-1, edited by ana"


def test_the_text_without_its_number_is_no_edit(filled: Store) -> None:
    propose(filled, "1. A-1 is to be law.")
    accept(filled, only(filled), person="ana", text="A-1 is to be law.")
    assert only(filled).state == "accepted"


@pytest.mark.parametrize("text", ["", "  ", "a\x00b", "x" * 10_001, "a\u202eb"])
def test_what_cannot_be_a_wording_is_refused_and_nothing_is_written(
    filled: Store, text: str
) -> None:
    before = filled.instruments.get("small")
    propose(filled, "A-1 is to be law.")
    with pytest.raises(UsageError):
        accept(filled, only(filled), person="ana", text=text)
    assert only(filled).state == "pending"
    assert filled.instruments.get("small") == before


@pytest.mark.parametrize(
    "text", [BASIS, "statement A-1 should become law", "Not so: Statement a-1 should become law."]
)
def test_a_text_that_the_statement_has_already_is_refused(filled: Store, text: str) -> None:
    propose(filled, text)
    with pytest.raises(UsageError, match="has this text already"):
        accept(filled, only(filled), person="ana")
    assert only(filled).state == "pending"
    assert filled.statements.edits("small") == ()


def test_a_draft_is_decided_once(filled: Store) -> None:
    propose(filled, "A-1 is to be law.")
    stale = only(filled)
    filled.drafts.reject(stale.id, person="bob")
    for act in (
        lambda: accept(filled, stale, person="ana"),
        lambda: filled.drafts.reject(stale.id, person="ana"),
    ):
        with pytest.raises(ConflictError, match="rejected by bob"):
            act()
    assert text_of(filled, VariantId(PARAPHRASE, 4)) is None


def test_two_connections_that_accept_at_once_let_one_wording_in(filled: Store) -> None:
    propose(filled, "A-1 is to be law.", "A law a-1 shall be.")
    first, second = filled.drafts.list("small")
    with Store.open(filled.path) as other:
        accept(filled, first, person="ana")
        with pytest.raises(ConflictError):
            accept(other, first, person="bob")
        _, variant = accept(
            other, second, person="bob", seen=filled.statements.get("small", "a-1").wordings
        )
    assert str(variant) == "paraphrase-5", "paraphrases do not stand in each other's way"


def test_what_a_draft_replaces_must_be_what_was_seen(filled: Store) -> None:
    propose(
        filled, "Statement a-1 should not become law.", "No law on a-1.", kind=VariantKind.NEGATION
    )
    first, second = filled.drafts.list("small")
    seen = filled.statements.get("small", "a-1").wordings
    accept(filled, first, person="ana", seen=seen)
    with pytest.raises(ConflictError, match="changed in the meantime"):
        accept(filled, second, person="bob", seen=seen)
    accept(filled, second, person="bob", seen=filled.statements.get("small", "a-1").wordings)
    assert text_of(filled, NEGATION) == "No law on a-1."


def test_a_decision_is_taken_back_with_its_wording(filled: Store) -> None:
    before = filled.instruments.get("small")
    propose(filled, "Statement a-1 should not become law.", kind=VariantKind.NEGATION)
    accept(filled, only(filled), person="ana")
    newest = filled.drafts.newest_of("small", "ana")
    assert newest == only(filled).id
    filled.drafts.reopen(newest, person="ana")
    assert only(filled).state == "pending"
    assert filled.instruments.get("small") == before
    assert filled.drafts.newest_of("small", "ana") is None
    filled.drafts.reject(newest, person="ana")
    filled.drafts.reopen(newest, person="ana")
    accept(filled, only(filled), person="ana")
    assert only(filled).state == "accepted", "and decided anew"


def test_nobody_takes_back_what_somebody_else_decided(filled: Store) -> None:
    propose(filled, "A-1 is to be law.")
    filled.drafts.reject(only(filled).id, person="bob")
    with pytest.raises(ConflictError, match="by bob"):
        filled.drafts.reopen(only(filled).id, person="ana")
    assert filled.drafts.newest_of("small", "ana") is None


def test_an_acceptance_is_not_taken_back_once_the_statement_was_changed(filled: Store) -> None:
    propose(filled, "A-1 is to be law.")
    accept(filled, only(filled), person="ana")
    with_more = filled.statements.get("small", "a-1")
    filled.statements.save(
        "small",
        [
            Statement(
                "a-1",
                (*with_more.wordings, Wording(QUESTION, "en", "Should it?")),
                country="vd",
                topic="law",
            )
        ],
        person="bob",
    )
    with pytest.raises(ConflictError):
        filled.drafts.reopen(only(filled).id, person="ana")
    assert only(filled).state == "accepted"


def test_an_acceptance_that_was_undone_in_the_editor_waits_again(filled: Store) -> None:
    propose(filled, "A-1 is to be law.")
    accept(filled, only(filled), person="ana")
    filled.statements.undo("small", person="ana")
    assert only(filled).state == "pending"
    assert filled.drafts.counts("small")["pending"] == 1
    accept(filled, only(filled), person="bob")
    assert text_of(filled, VariantId(PARAPHRASE, 4)) == "A-1 is to be law."


def test_accepting_for_a_statement_that_was_asked_makes_a_new_version_and_keeps_the_old_answers(
    filled: Store,
) -> None:
    plan = planning.plan(filled, Design("small", "m"))
    filled.runs.add_probes("reliability", "small", "en", plan.templates, plan.probes)
    model, sampling = filled.runs.begin(
        ModelCard("m", "r", "scripted", "none", "none"), plan.design.sampling
    )
    attempt = filled.jobs.claim(filled.jobs.create("sample", {}, 1), "test")
    key = next(p.prompt.key for p in plan.probes if (p.statement, p.variant) == ("a-1", "negation"))
    filled.runs.add(model, sampling, attempt, [Answered(key, 1, 1, (("Beneficial.", 1),))])
    propose(filled, "Statement a-1 should not become law.", kind=VariantKind.NEGATION)
    changed, _ = accept(filled, only(filled), person="ana")
    assert changed.versions == ("a-1",)
    assert filled.statements.get("small", "a-1", 1).wording(NEGATION, "en") is not None
    assert [version.answers for version in filled.statements.history("small", "a-1")] == [1, 0]
    assert only(filled).ref == "a-1", "the draft is the statement's, whatever its version"


def test_a_statement_that_was_changed_or_archived_meanwhile_keeps_its_drafts(filled: Store) -> None:
    propose(filled, "A-1 is to be law.")
    filled.statements.archive("small", ["a-1"], person="ana")
    assert filled.drafts.list("small") == ()
    propose(filled, "A law a-1 shall be.")
    assert filled.drafts.list("small") == (), "one that arrives late is kept as well"
    filled.statements.restore("small", ["a-1"], person="ana")
    filled.statements.rename("small", "a-1", "a-9", person="ana")
    assert [draft.ref for draft in filled.drafts.list("small")] == ["a-9", "a-9"]
    with pytest.raises(UnknownName):
        propose(filled, "x", ref="nowhere")


def test_a_question_becomes_the_original_of_a_statement_that_has_none(filled: Store) -> None:
    asked = Statement("q-1", (Wording(QUESTION, "en", "Should the state pay?"),))
    filled.statements.create("small", [asked], person="ana")
    assert draft_by_rule(filled, "small", [VariantKind.ORIGINAL]) == {
        "": 1,
        "an original in 'en' exists": 3,
    }
    draft = only(filled)
    assert (draft.basis, draft.line) == ("Should the state pay?", "The state should pay.")
    accept(filled, draft, person="ana")
    assert text_of(filled, ORIGINAL, "q-1") == "The state should pay."
    propose(filled, "The state ought to pay.", kind=VariantKind.ORIGINAL, ref="q-1")
    with pytest.raises(UsageError, match="by now"):
        accept(filled, only(filled, "pending"), person="ana")


def test_the_rule_drafts_once_and_not_what_is_there(filled: Store) -> None:
    assert draft_by_rule(filled, "small", [VariantKind.NEGATION], ["a-1", "a-2"], dry=True) == {
        "": 2
    }
    assert filled.drafts.list("small") == ()
    assert draft_by_rule(filled, "small", [VariantKind.NEGATION], ["a-1", "a-2"]) == {"": 2}
    assert draft_by_rule(filled, "small", [VariantKind.NEGATION]) == {
        "was drafted before": 2,
        "": 1,
    }
    for draft in filled.drafts.list("small"):
        accept(filled, draft, person="ana")
    assert draft_by_rule(filled, "small", [VariantKind.NEGATION]) == {
        "repeats another wording of the statement": 3
    }
    with pytest.raises(UsageError, match="ask a model"):
        draft_by_rule(filled, "small", [VariantKind.OPPOSITE])
    with pytest.raises(UsageError, match="English"):
        draft_by_rule(filled, "small", [VariantKind.NEGATION], language="de")


def test_an_unusable_line_may_be_accepted_by_number_if_it_prints(filled: Store) -> None:
    propose(filled, "Is a-1 a law?", fault="question")
    propose(filled, "a\x1b", fault="control")
    question, control = filled.drafts.list("small", state="unusable")
    accept(filled, question, person="ana")
    with pytest.raises(UsageError):
        accept(filled, control, person="ana")
    assert filled.drafts.counts("small") == {
        "pending": 0,
        "accepted": 1,
        "edited": 0,
        "rejected": 0,
        "unusable": 1,
    }


def test_what_is_left_out_by_a_sample_is_only_what_nobody_decided_on(filled: Store) -> None:
    propose(filled, "A-1 is to be law.", "A law a-1 shall be.")
    first, second = filled.drafts.list("small")
    filled.drafts.reject(first.id, person="ana")
    filled.drafts.leave_out([first.id, second.id], "unsampled")
    assert [draft.state for draft in filled.drafts.list("small")] == ["rejected", "unusable"]


def test_drafts_are_listed_by_kind_statement_and_state(filled: Store) -> None:
    propose(filled, "No law on a-2.", kind=VariantKind.NEGATION, ref="a-2")
    propose(filled, "A-1 is to be law.")
    propose(filled, "No law on a-1.", kind=VariantKind.NEGATION)
    assert [(d.ref, d.kind.value) for d in filled.drafts.list("small")] == [
        ("a-1", "paraphrase"),
        ("a-1", "negation"),
        ("a-2", "negation"),
    ]
    assert [
        d.ref for d in filled.drafts.list("small", kinds=[VariantKind.NEGATION], refs=["a-2"])
    ] == ["a-2"]
    assert filled.drafts.list("small", state="accepted") == ()
    assert filled.drafts.list("small", language="de") == ()
    with pytest.raises(UnknownName, match="no draft 99"):
        filled.drafts.get(99)


def test_drafts_of_one_instrument_are_not_another_ones(filled: Store) -> None:
    filled.instruments.add(instrument(name="other"))
    propose(filled, "A-1 is to be law.")
    assert filled.drafts.list("other") == ()
    assert filled.drafts.counts("other")["pending"] == 0
