"""Embeddings, entailments and waivers in the store."""

from __future__ import annotations

import sqlite3
from dataclasses import replace

import numpy as np
import pytest

from stores.core.store import Store
from stores.instruments.checks import ENCODER, NLI
from tests.conftest import instrument, statement
from workbench.domain.findings import Entailment, LintFinding, Quoted
from workbench.domain.responses import ModelCard
from workbench.domain.statements import NEGATION
from workbench.errors import UnknownName, UsageError
from workbench.lint import lint

CARD = ModelCard("tiny", "r1", ENCODER, "float32", "none")
JUDGE = ModelCard("judge", "r1", NLI, "float32", "none")
ORIGINALS = tuple(f"Statement {ref} should become law." for ref in ("a-1", "a-2", "b-1"))
FINDING = LintFinding(
    "note", "odd", "a-1", "is odd", "a-1", NEGATION, "en", (Quoted("original", "x"),)
)


def vectors(n: int) -> list[np.ndarray]:
    return list(np.random.default_rng(1).normal(size=(n, 4)).astype(np.float32))


def test_a_vector_comes_back_as_it_was(filled: Store) -> None:
    model = filled.checks.begin(CARD)
    texts, made = [*ORIGINALS[:2], "lone \ud800 surrogate"], vectors(3)
    filled.checks.add_embeddings(model, list(zip(texts, made, strict=True)))
    found, rows = filled.checks.embeddings(model, [texts[2], "unseen", texts[0]])
    assert found == (texts[2], texts[0])
    assert rows.dtype == np.float32
    assert np.array_equal(rows, np.array([made[2], made[0]]))
    stored = filled.connection.execute("select vector from embedding limit 1").fetchone()[0]
    assert np.array_equal(np.frombuffer(stored, dtype="<f4"), made[0])


def test_nothing_is_stored_for_another_model_or_twice(filled: Store) -> None:
    first, other = filled.checks.begin(CARD), filled.checks.begin(replace(CARD, revision="r2"))
    assert filled.checks.begin(CARD) == first != other
    filled.checks.add_embeddings(first, [(ORIGINALS[0], vectors(1)[0])])
    filled.checks.add_embeddings(first, [(ORIGINALS[0], vectors(2)[1])])
    assert filled.checks.embedded(first, ORIGINALS) == {ORIGINALS[0]}
    assert filled.checks.embedded(other, ORIGINALS) == frozenset()
    assert np.array_equal(filled.checks.embeddings(first, ORIGINALS)[1][0], vectors(1)[0])
    assert filled.checks.embeddings(other, ORIGINALS)[1].shape[0] == 0


def test_the_newest_model_of_a_name_is_known_before_it_is_loaded(filled: Store) -> None:
    assert filled.checks.newest("tiny", ENCODER) is None
    first, second = filled.checks.begin(CARD), filled.checks.begin(replace(CARD, revision="r2"))
    assert filled.checks.newest("tiny", ENCODER) == second
    assert filled.checks.newest("tiny", ENCODER, "r1") == first
    assert filled.checks.newest("tiny", NLI) is None


def test_more_texts_than_a_statement_takes_variables(filled: Store) -> None:
    model = filled.checks.begin(CARD)
    texts = [f"text {n}" for n in range(1700)]
    filled.checks.add_embeddings(
        model, [(text, vector) for text, vector in zip(texts, vectors(1700), strict=True)]
    )
    assert filled.checks.embedded(model, texts) == set(texts)


def test_entailments_have_a_direction(filled: Store) -> None:
    model = filled.checks.begin(JUDGE)
    there, back = (ORIGINALS[0], ORIGINALS[1]), (ORIGINALS[1], ORIGINALS[0])
    said = {there: Entailment(0.7, 0.2, 0.1), back: Entailment(0.1, 0.2, 0.7)}
    filled.checks.add_entailments(model, said)
    assert filled.checks.entailments(model, [there, back, (ORIGINALS[0], ORIGINALS[2])]) == said
    assert filled.checks.entailments(model, [back]) == {back: said[back]}


def test_progress_is_written_with_what_it_is_about(filled: Store) -> None:
    job = filled.jobs.create("check", {}, 2)
    model = filled.checks.begin(CARD)
    filled.checks.add_embeddings(
        model, [(ORIGINALS[0], vectors(1)[0])], job=(job, 1, '{"answers": 1}')
    )
    filled.checks.add_entailments(filled.checks.begin(JUDGE), {}, job=(job, 2, '{"answers": 2}'))
    assert filled.jobs.get(job).done == 2
    assert filled.jobs.get(job).progress["answers"] == 2


def test_the_model_that_has_seen_most_of_an_instrument_comes_first(filled: Store) -> None:
    few, most, none = (
        filled.checks.begin(replace(CARD, revision=r)) for r in ("few", "most", "none")
    )
    filled.checks.add_embeddings(few, [(ORIGINALS[0], vectors(1)[0])])
    filled.checks.add_embeddings(most, list(zip(ORIGINALS, vectors(3), strict=True)))
    filled.checks.add_embeddings(none, [("of no statement", vectors(1)[0])])
    assert [(one.id, one.texts) for one in filled.checks.models("small", ENCODER)] == [
        (most, 3),
        (few, 1),
    ]
    assert filled.checks.models("small", NLI) == ()


def test_a_waiver_stands_until_it_is_taken_back_and_both_are_kept(filled: Store) -> None:
    filled.checks.waive("small", FINDING, reason=" as  published ", person="Ana")
    [waiver] = filled.checks.waivers("small").values()
    assert (waiver.reason, waiver.person, waiver.code, waiver.subject) == (
        "as published",
        "Ana",
        "odd",
        "a-1",
    )
    filled.checks.unwaive("small", FINDING, person="Bob")
    assert filled.checks.waivers("small") == {}
    filled.checks.waive("small", FINDING, reason="after all", person="Ana")
    assert [w.reason for w in filled.checks.waivers("small").values()] == ["after all"]
    assert [(w.reason, w.person) for w in filled.checks.waiver_history("small")] == [
        ("as published", "Ana"),
        (None, "Bob"),
        ("after all", "Ana"),
    ]


def test_what_cannot_be_waived_says_why(filled: Store) -> None:
    for reason, why in (
        (" ", "needs a reason"),
        ("x" * 501, "501 characters"),
        ("a\u202eb", "does not show"),
    ):
        with pytest.raises(UsageError, match=why):
            filled.checks.waive("small", FINDING, reason=reason, person="Ana")
    with pytest.raises(UsageError, match="name is empty"):
        filled.checks.waive("small", FINDING, reason="x", person=" ")
    with pytest.raises(UnknownName, match="nope"):
        filled.checks.waive("nope", FINDING, reason="x", person="Ana")
    with pytest.raises(UsageError, match="nothing to take back"):
        filled.checks.unwaive("small", FINDING, person="Ana")
    assert filled.checks.waiver_history("small") == ()


def test_a_waiver_holds_for_its_texts_and_not_for_figures() -> None:
    assert (
        replace(FINDING, message="is odd (cosine 0.2)", severity="error").fingerprint
        == FINDING.fingerprint
    )
    for changes in (
        {"texts": (Quoted("original", "y"),)},
        {"code": "other"},
        {"subject": "a-2"},
        {"language": "de"},
    ):
        assert replace(FINDING, **changes).fingerprint != FINDING.fingerprint
    bare = LintFinding("note", "odd", "a-1", "3 labels")
    assert bare.fingerprint != replace(bare, message="4 labels").fingerprint, (
        "without texts the message tells"
    )


def test_a_waiver_of_one_text_does_not_hold_for_the_next(filled: Store) -> None:
    def equal(text: str) -> LintFinding:
        whole = statement("a-1", text)
        wordings = tuple(
            replace(w, text=text) if w.variant == NEGATION else w for w in whole.wordings
        )
        checked = replace(instrument(), statements=(replace(whole, wordings=wordings),))
        return next(f for f in lint(checked) if f.code == "negation-equals-original")

    filled.checks.waive(
        "small", equal("Ships are green."), reason="so it was published", person="Ana"
    )
    standing = filled.checks.waivers("small")
    assert equal("Ships are green.").fingerprint in standing
    assert equal("Ships are blue.").fingerprint not in standing


def test_waivers_are_never_overwritten(filled: Store) -> None:
    filled.checks.waive("small", FINDING, reason="x", person="Ana")
    uid = filled.connection.execute("select uid from waiver").fetchone()[0]
    with pytest.raises(sqlite3.IntegrityError):
        filled.connection.execute(
            "insert into waiver (uid, instrument_id, code, subject, fingerprint, person, at) "
            "values (?, 1, '', '', x'00', '', '')",
            (uid,),
        )
