"""Multiple-choice questions in a store: what they are, answers that came with them, and files that
come in parts.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from stores.core.store import Store
from tests.response_answers import answers
from workbench.domain.choices import AnswerSet, Bias, Choice, ChoiceItem, ChoicePair, Perturbation
from workbench.domain.instruments import Instrument, with_pairs
from workbench.domain.statements import CHANGED, ORIGINAL, VariantId, VariantKind, Wording
from workbench.errors import ConflictError, UsageError
from workbench.pipeline.checking import check_report, open_lint

EMPTY = Instrument("small", "A small instrument", ())
BETTER = Choice("Better or worse?", ("Better", "The same", "Worse"))
TYPO = replace(BETTER, stem="Bettwr or worse?")
ORDER = ChoicePair(
    "q0", Bias.RESPONSE_ORDER, BETTER, replace(BETTER, options=BETTER.options[::-1]), "economy"
)
SCALE = Choice("How good?", ("Very good", "Good", "Neither good nor bad", "Bad", "Very bad"))
FLOAT = ChoicePair(
    "q0", Bias.OPINION_FLOAT, SCALE, replace(SCALE, options=(*SCALE.options, "Don't know"))
)
PAIRS = (
    replace(ORDER, perturbed={(Perturbation.KEY_TYPO, 1): TYPO}, shares=(0.5, 0.3, 0.2)),
    replace(FLOAT, variant="mild"),
    replace(
        FLOAT,
        bias=Bias.ODD_EVEN,
        changed=replace(SCALE, options=SCALE.options[:2] + SCALE.options[3:]),
    ),
)
REFS = ("response_order.q0", "opinion_float-mild.q0", "odd_even.q0")
SETS = (
    answers(
        Bias.RESPONSE_ORDER,
        [("aab ", "abc"), ("ccc", "bbz")],
        Perturbation.KEY_TYPO,
        model="b",
        draw=2,
    ),
    answers(Bias.RESPONSE_ORDER, [("aab", "abc")], model="a", mapped_back=False),
    answers(Bias.OPINION_FLOAT, [("aab", "abc")], model="b", variant="mild", recorded=(5, 5)),
)
WHOLE = with_pairs(EMPTY, PAIRS, SETS)


def only(
    pairs: tuple[ChoicePair, ...], sets: tuple[AnswerSet, ...] = (), **about: object
) -> Instrument:
    return with_pairs(replace(EMPTY, **about), pairs, sets)  # type: ignore[arg-type]  # checked where it is read


def test_questions_and_answers_come_out_as_they_went_in_and_importing_them_again_changes_nothing(
    store: Store,
) -> None:
    backwards = replace(SETS[0], pairs=SETS[0].pairs[::-1])
    whole = replace(WHOLE, answer_sets=(backwards, *SETS[1:]))
    added = store.instruments.add(whole).choices
    assert added is not None
    assert (added.questions, added.answer_sets, added.known, added.models) == (3, 3, 0, ("b", "a"))
    assert (added.answers, added.without_text) == (13 + 6 + 6, 1)
    before = list(store.connection.iterdump())
    again = store.instruments.add(whole).choices
    assert again is not None
    assert (again.changed, again.answer_sets, again.known) == (0, 0, 3)
    assert list(store.connection.iterdump()) == before
    assert tuple(store.choices.items("small")) == REFS
    assert (
        store.instruments.get("small").choices
        == tuple(store.choices.items("small").values())
        == WHOLE.choices
    )
    assert store.choices.answer_sets("small") == whole.answer_sets
    assert store.choices.models("small") == ("b", "a")
    assert store.choices.instruments_with_answers() == ("small",)


def test_an_instrument_of_statements_has_no_questions(filled: Store) -> None:
    assert filled.choices.items("small") == {}
    assert filled.choices.answer_sets("small") == ()
    assert filled.choices.instruments_with_answers() == ()


def test_what_a_newer_file_says_of_a_question_counts(store: Store) -> None:
    store.instruments.add(WHOLE)
    newer = (replace(PAIRS[0], shares=()), PAIRS[1], replace(PAIRS[2], middle_removed=False))
    added = store.instruments.add(with_pairs(EMPTY, newer)).choices
    assert added is not None
    assert added.changed == 2
    items = store.choices.items("small")
    assert items[REFS[0]].shares == ()
    assert items[REFS[2]].middle_removed is False
    assert len(store.choices.answer_sets("small")) == 3, (
        "answers are no part of a file of questions"
    )


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (
            ("aab", "abb"),
            "a, response_order, bias: 'q0' (changed): a 1, b 1, c 1 of 3 options here, a 1, b 2 "
            "of 3",
        ),
        (None, "a, response_order, bias: one of them names the letters back"),
    ],
)
def test_other_answers_of_the_same_name_are_refused_and_nothing_is_written(
    store: Store, other: tuple[str, str] | None, said: str
) -> None:
    store.instruments.add(WHOLE)
    before = list(store.connection.iterdump())
    theirs = answers(
        Bias.RESPONSE_ORDER, [other or ("aab", "abc")], model="a", mapped_back=other is None
    )
    more = answers(Bias.ALLOW_FORBID, [("ab", "ba")], model="new")
    with pytest.raises(ConflictError) as refused:
        store.instruments.add(replace(WHOLE, title="Other", answer_sets=(more, theirs)))
    assert said in str(refused.value)
    assert list(store.connection.iterdump()) == before
    missing = replace(SETS[0], pairs=SETS[0].pairs[:1])
    with pytest.raises(
        ConflictError, match=r"b, response_order, key_typo draw 2: 'q1': nothing in the file"
    ):
        store.instruments.add(replace(WHOLE, answer_sets=(missing,)))


def test_how_many_options_were_offered_is_taken_over_from_a_file_that_knows_better(
    store: Store,
) -> None:
    store.instruments.add(WHOLE)
    better = answers(
        Bias.RESPONSE_ORDER,
        [("aab", "abc")],
        model="a",
        mapped_back=False,
        offered=(3, 4),
        recorded=(3, 3),
    )
    added = store.instruments.add(replace(WHOLE, answer_sets=(better,))).choices
    assert added is not None
    assert added.answer_sets == 0
    assert store.choices.answer_sets("small")[1] == better


def test_answers_may_come_first_and_questions_of_other_biases_stay_when_a_part_comes(
    store: Store,
) -> None:
    first = store.instruments.add(only((), SETS[:1], notes=("of b",)), part=True)
    assert first.choices is not None
    assert (first.added, first.choices.answer_sets, first.choices.without_text) == (0, 1, 2)
    assert store.choices.instruments_with_answers() == ("small",)
    store.instruments.add(with_pairs(EMPTY, PAIRS[:2]), part=True)
    part = store.instruments.add(only(PAIRS[2:], title="Other", notes=("odd",)), part=True)
    assert (part.added, part.retired) == (1, 0)
    later = store.instruments.add(only((), SETS[1:], notes=("of a",)), part=True)
    assert (later.retired, later.changed) == (0, 0)
    found = store.instruments.get("small")
    assert (found.title, found.notes) == ("A small instrument", ("of b", "odd", "of a"))
    assert [s.ref for s in found.statements] == list(REFS)
    assert store.choices.answer_sets("small") == SETS
    whole = store.instruments.add(replace(WHOLE, notes=("all",)), part=True)
    assert (whole.added, whole.changed, whole.unchanged) == (0, 0, 3)
    assert store.instruments.get("small").notes == ("all",), "it holds all that is here"


def test_a_part_without_some_forms_or_shares_of_a_question_leaves_these_as_they_are(
    store: Store,
) -> None:
    store.instruments.add(WHOLE)
    typo = Perturbation.LETTER_SWAP, 1
    part = replace(
        PAIRS[0],
        changed=None,
        perturbed={typo: replace(BETTER, stem="Ebtter or worse?")},
        shares=(),
    )
    imported = store.instruments.add(with_pairs(EMPTY, [part]), part=True)
    assert (imported.changed, imported.retired) == (1, 0)
    kinds = [w.variant.kind for w in store.statements.get("small", REFS[0]).wordings]
    assert kinds == [
        VariantKind.ORIGINAL,
        VariantKind.CHANGED,
        VariantKind.KEY_TYPO,
        VariantKind.LETTER_SWAP,
    ]
    assert store.choices.items("small")[REFS[0]].shares == (0.5, 0.3, 0.2)
    whole = store.instruments.add(WHOLE)
    assert whole.changed == 1, "a whole file says what there is"


def test_a_renamed_question_stays_one_and_the_next_import_finds_it(store: Store) -> None:
    store.instruments.add(WHOLE)
    store.statements.rename("small", REFS[0], "mine", person="ana")
    assert store.choices.items("small")["mine"].key == "q0"
    newer = replace(PAIRS[0], shares=())
    for part in (True, False):
        imported = store.instruments.add(with_pairs(EMPTY, (newer, *PAIRS[1:])), part=part)
        assert (imported.added, imported.retired, imported.kept) == (0, 0, 1)
        assert [s.ref for s in store.instruments.get("small").statements] == ["mine", *REFS[1:]]
    assert store.choices.items("small")["mine"].shares == ()
    store.statements.undo("small", person="ana")
    assert tuple(store.choices.items("small")) == REFS


def test_an_archived_question_is_none_until_it_is_restored(store: Store) -> None:
    store.instruments.add(WHOLE)
    store.statements.archive("small", REFS[:1], person="ana")
    assert tuple(store.choices.items("small")) == REFS[1:]
    store.statements.restore("small", REFS[:1], person="ana")
    assert store.choices.items("small")[REFS[0]] == WHOLE.choices[0]


def edited(store: Store, ref: str, **texts: str | None) -> None:
    """Change wordings of a statement by their kinds; None takes one away."""
    held = store.statements.get("small", ref)
    kept = [w for w in held.wordings if w.variant.kind.value not in texts]
    new = [
        Wording(VariantId.parse(kind), "en", text)
        for kind, text in texts.items()
        if text is not None
    ]
    store.statements.save("small", [replace(held, wordings=(*kept, *new))], person="ana")


def test_lint_looks_at_questions_as_questions(store: Store) -> None:
    store.instruments.add(WHOLE)
    assert check_report(store, "small").checked == (), (
        "no negation is missed, and one text may serve two biases"
    )
    with pytest.raises(UsageError, match="original in en is no multiple-choice question"):
        edited(store, REFS[0], original=BETTER.stem)
    imported = WHOLE.statements[0]
    bare = [replace(w, text=BETTER.stem) if w.variant == ORIGINAL else w for w in imported.wordings]
    store.instruments.add(
        replace(WHOLE, statements=(replace(imported, wordings=tuple(bare)), *WHOLE.statements[1:]))
    )
    held = store.statements.get("small", REFS[0])
    # What came with a file may stay.
    store.statements.save("small", [replace(held, topic="town")], person="ana")
    edited(store, REFS[1], changed=None)
    four = replace(SCALE, options=SCALE.options[:4])
    edited(store, REFS[2], changed=four.lettered() + "\u200b")
    twice = replace(WHOLE.statements[1], ref="again")
    item = ChoiceItem("again", "q1", Bias.OPINION_FLOAT, "mild", shares=(1.0,))
    store.statements.change("small", person="ana", act="copied", create=[twice], choices=[item])
    found = [one.finding for one in check_report(store, "small").checked]
    assert [(f.severity, f.code, f.ref, f.variant) for f in found] == [
        ("error", "no-options", REFS[0], ORIGINAL),
        ("warning", "no-changed-form", REFS[1], CHANGED),
        ("warning", "not-of-bias", REFS[2], CHANGED),
        ("warning", "other-shares", "again", ORIGINAL),
        ("warning", "duplicate-question", "again", ORIGINAL),
        ("note", "hidden-character", REFS[2], CHANGED),
    ]
    assert "a question without lettered options" in found[0].message
    assert {f.code for f in open_lint(store, "small")} == {f.code for f in found}
