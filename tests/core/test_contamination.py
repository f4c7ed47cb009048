"""Contamination: halves completed word for word, beside paraphrases, chance, and what is
missing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores.core.store import Store
from tests.conftest import new_store
from tests.jobs.test_response_bias_runs import ask
from workbench import registry
from workbench.audits.claims import sentences_of
from workbench.audits.contamination import Contamination
from workbench.audits.contamination.completions import (
    Completion,
    Completions,
    Words,
    compared_words,
    completions,
    contains,
    folded,
    overlap,
)
from workbench.audits.contamination.options import DEFAULTS, CompletionOptions
from workbench.audits.contamination.result import KNOWN, _claim
from workbench.domain.designs import Design
from workbench.domain.instruments import Instrument
from workbench.domain.prompts import halves
from workbench.domain.readings import ReadingChoice
from workbench.domain.responses import Sampling
from workbench.domain.rulings import RulingVerdict
from workbench.domain.statements import ORIGINAL, Statement, VariantId, VariantKind, Wording
from workbench.errors import UnknownName
from workbench.evidence import ruling_subjects as subjects
from workbench.evidence.runs import AnswerSelection
from workbench.formats.read import read_shipped
from workbench.inference.base import Drawn, Request
from workbench.inference.scripted.model import ScriptedModel
from workbench.stats.resampling import derive_rng

TWIN = VariantId(VariantKind.PARAPHRASE, 1)
WORDS = st.lists(st.text("abcd", min_size=1, max_size=4), min_size=2, max_size=12)


@given(WORDS)
def test_two_halves_are_the_text_and_the_first_is_the_larger(words: list[str]) -> None:
    first, rest = halves(" ".join(words))
    assert first.split() + rest.split() == words
    assert 0 <= len(first.split()) - len(rest.split()) <= 1


@given(WORDS, WORDS)
def test_overlap_is_a_share_and_whole_where_the_answer_begins_with_the_half(
    words: list[str], more: list[str]
) -> None:
    rest = tuple(words)
    assert 0 <= overlap(tuple(more), rest) <= 1
    assert overlap((*rest, *more), rest) == 1
    assert contains((*more, *rest, *more), rest)


def test_case_punctuation_and_ways_of_writing_a_letter_do_not_count() -> None:
    assert folded("„Ärzte“ — MÜSSEN, frei!") == ("ärzte", "müssen", "frei")
    assert folded("A\u0308rzte") == folded("Ärzte")
    assert not contains(folded("the taxes fall now"), folded("taxes now"))
    assert not contains(folded("surtaxes fall"), folded("taxes fall"))


class Reciting(ScriptedModel):
    """Knows some texts by heart, and says one thing to the others."""

    known: Sequence[str] = ()
    otherwise = "be what they are."

    def generate(self, requests: Sequence[Request], sampling: Sampling) -> Iterator[Drawn]:
        for place, request in enumerate(requests):
            asked = request.prompt.messages[-1].content
            text = next((one for one in self.known if asked.endswith(halves(one)[0])), None)
            yield Drawn(place, ((halves(text)[1].upper() if text else self.otherwise, request.n),))


def original(n: int) -> str:
    return f"Rule {n} of the town should be {'kept' if n % 2 else 'dropped'} by all {n} members."


def paraphrase(n: int) -> str:
    return (
        f"All {n} members ought to {'keep' if n % 2 else 'give up'} the town's rule with "
        f"number {n} soon."
    )


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    statements = [
        Statement(
            f"s{n}", (Wording(ORIGINAL, "en", original(n)), Wording(TWIN, "en", paraphrase(n)))
        )
        for n in range(12)
    ]
    short = Statement("short", (Wording(ORIGINAL, "en", "Taxes should fall."),))
    with new_store(tmp_path / "town.db") as made:
        made.instruments.add(Instrument("town", "Town", (*statements, short)))
        yield made


def asked(
    store: Store, known: Sequence[str], otherwise: str = Reciting.otherwise, name: str = "m"
) -> Completions:
    model = Reciting(name=name)
    model.known, model.otherwise = known, otherwise
    ask(store, model, Design("town", name, "contamination", 1, DEFAULTS.sampling, family="guided"))
    (run,) = (one for one in store.runs.list("contamination") if one.model == name)
    return completions(store, run, name, 3)


def test_originals_that_are_known_by_heart_are_told_from_their_paraphrases(store: Store) -> None:
    found = asked(store, [original(n) for n in range(9)])
    assert [one.completed for one in found.of(original=True)] == [True] * 9 + [False] * 3
    assert found.share(original=False).value == 0
    assert found.difference.value == 9 / 12
    assert found.difference.low > 0.3
    assert found.p == pytest.approx(2 / 2**9)
    assert found.others == 0
    assert found.overlap(original=True) > 0.75
    assert found.by_chance < 0.5
    assert "short" not in {one.ref for one in found.every}, "two words are guessed"
    result = registry.audit("contamination").judge(
        store, AnswerSelection("town"), CompletionOptions(), lambda: nullcontext(store)
    )
    (said,) = sentences_of(result.findings).sentences
    assert (said.said, said.models) == (
        KNOWN,
        (("m", "9 of 12 originals and 0 of 12 paraphrases"),),
    )
    assert said.p == pytest.approx(found.p)
    first, *_ = result.book.table("halves", "m").rows
    assert (first.ref, first.completed, first.answer) == (
        "s0",
        True,
        halves(original(0))[1].upper(),
    )


def test_a_model_that_knows_both_wordings_or_none_shows_no_difference(store: Store) -> None:
    both = asked(
        store, [text(n) for n in range(12) for text in (original, paraphrase)], name="both"
    )
    none = asked(store, [], name="none")
    assert (both.difference.value, both.p) == (0, 1)
    assert (none.difference.value, none.p) == (0, 1)
    (said,) = sentences_of([_claim([both, none])]).sentences
    power = "(this design finds even 50.0 points in only 38.7 % of studies)"
    assert (said.said, dict(said.models)) == (
        "12 statements cannot show that originals are completed more often",
        {
            "both": f"12 of 12 originals and 12 of 12 paraphrases {power}",
            "none": f"0 of 12 originals and 0 of 12 paraphrases {power}",
        },
    )


def test_refusals_are_missing_and_could_turn_a_difference(store: Store) -> None:
    found = asked(store, [original(n) for n in range(9)], "I'm sorry, but I cannot help with that.")
    assert {one.missing for one in found.of(original=False)} == {"refused"}
    assert found.share(original=False).undefined
    assert found.difference.undefined
    assert np.isnan(found.p)
    assert found.bounds == pytest.approx((9 / 12 - 1, 1))
    (said,) = sentences_of([_claim([found])]).sentences
    assert said.models == (("m", "9 of 9 originals and 12 paraphrases unanswered"),)


def test_what_a_ruling_leaves_out_counts_in_no_figure_unless_rulings_do_not(store: Store) -> None:
    before = asked(store, [original(n) for n in range(9)])
    subjects.add_ruling(
        store,
        subjects.find_subject(store, "s0"),
        RulingVerdict.EXCLUDED,
        auditor="otto",
        reason="odd",
        reading=None,
    )

    def counts(*, rulings: bool) -> tuple[int, int]:
        which = AnswerSelection("town", readings=ReadingChoice(rulings=rulings))
        result = registry.audit("contamination").judge(
            store, which, CompletionOptions(), lambda: nullcontext(store)
        )
        assert result.rulings.as_json()["changing_in_short"] == (
            "with 1" if rulings else "without 1"
        )
        (found,) = result.judged
        return len(found.pairs), len(found.every)

    assert counts(rulings=True) == (11, 22)
    assert counts(rulings=False) == (len(before.pairs), len(before.every)) == (12, 24)


def test_a_half_that_the_answer_repeats_is_cut_off(store: Store) -> None:
    class Whole(Reciting):
        def generate(self, requests: Sequence[Request], sampling: Sampling) -> Iterator[Drawn]:
            for place, request in enumerate(requests):
                half = request.prompt.messages[-1].content.rpartition("\n")[2]
                text = next(one for one in self.known if one.startswith(half))
                yield Drawn(place, ((f'"{text}" And so on.', request.n),))

    model = Whole(name="w")
    model.known = [text(n) for n in range(12) for text in (original, paraphrase)]
    ask(store, model, Design("town", "w", "contamination", 1, DEFAULTS.sampling, family="guided"))
    (run,) = store.runs.list("contamination")
    assert {one.overlap for one in completions(store, run, "w", 3).every} == {1.0}


def test_what_says_something_else_is_not_asked_and_nobody_else_is_named(store: Store) -> None:
    audit, instrument = Contamination(), store.instruments.get("town")
    negation = VariantId(VariantKind.NEGATION)
    said = audit.remarks(instrument.statements, (ORIGINAL, negation), "en", None)
    assert [line.partition(":")[2].split(",")[0].strip() for line in said] == [
        "not asked",
        "1 original not asked",
        "without a paraphrase there is nothing to compare the originals with",
    ]
    templates = audit.templates_for(instrument, "en")
    assert not list(audit.probes(instrument.statements, templates, (negation,), "en", "m"))
    asked(store, [])
    judge = registry.audit("contamination").judge
    with pytest.raises(UnknownName, match="no contamination answers by nobody"):
        judge(
            store,
            AnswerSelection("town", ("nobody",)),
            CompletionOptions(),
            lambda: nullcontext(store),
        )
    result = judge(store, AnswerSelection("town"), CompletionOptions(), lambda: nullcontext(store))
    with pytest.raises(UnknownName, match="there is no model 'nobody'"):
        result.book.table("halves", "nobody")


def test_the_first_half_alone_is_put_to_a_base_model(store: Store) -> None:
    audit = Contamination()
    instrument = store.instruments.get("town")
    templates = [one for one in audit.templates_for(instrument, "en") if one.family == "generation"]
    probe = next(audit.probes(instrument.statements, templates, (ORIGINAL, TWIN), "en", "m"))
    assert not probe.prompt.chat
    assert probe.prompt.messages[-1].content == halves(original(0))[0]


def drawn(rng: np.random.Generator, by_heart: float, guessed: float, n: int = 40) -> Completions:
    """Return the completions of a model that has some originals by heart and guesses the rest
    alike.
    """

    def one(ref: int, variant: VariantId) -> Completion:
        known = variant == ORIGINAL and rng.random() < by_heart
        done = bool(known or rng.random() < guessed)
        return Completion(str(ref), variant, "", "", "", done, float(done))

    every = tuple(one(ref, variant) for ref in range(n) for variant in (ORIGINAL, TWIN))
    return Completions("m", None, every)  # type: ignore[arg-type]


def _known(of: Completions) -> bool:
    return sentences_of([_claim([of])]).sentences[0].said == KNOWN


@pytest.mark.parametrize(("guessed", "seen"), [(0.0, 90), (0.1, 80), (0.4, 30)])
def test_a_model_that_guesses_both_alike_is_claimed_to_know_in_one_of_twenty_at_most(
    guessed: float, seen: int
) -> None:
    rng = derive_rng(7, "contamination", str(guessed))
    claimed = sum(_known(drawn(rng, 0, guessed)) for _ in range(400))
    assert claimed <= 0.05 * 400
    known = sum(_known(drawn(rng, 0.4, guessed)) for _ in range(100))
    assert known >= seen


def second_halves() -> dict[tuple[str, VariantId], Words]:
    """Return the second halves of the shipped statements and their first paraphrases, those of
    three words or more.
    """
    texts = {
        (statement.ref, wording.variant): wording.text
        for statement in read_shipped().statements
        for wording in statement.wordings
        if wording.language == "en" and wording.variant in (ORIGINAL, TWIN)
    }
    rests = {cell: folded(halves(text)[1]) for cell, text in texts.items()}
    return {cell: rest for cell, rest in rests.items() if len(rest) >= 3}


def guess(
    rng: np.random.Generator, word: float, rests: dict[tuple[str, VariantId], Words]
) -> Completions:
    """Return the completions of a model that guesses each word alike and knows none by heart."""
    every = []
    for (ref, variant), rest in rests.items():
        done = bool(rng.random() < word ** len(rest))
        every.append(Completion(ref, variant, "", "", "", done, float(done)))
    return Completions("m", None, tuple(every))  # type: ignore[arg-type]


@pytest.mark.parametrize("word", [0.7, 0.8, 0.9])
def test_a_model_that_guesses_word_by_word_claims_nothing_where_one_wording_is_longer(
    word: float,
) -> None:
    """The halves of paraphrases are longer (5.3 words against 4.4): compared whole, 6 to 7 % of
    such models claim.
    """
    rests = second_halves()
    originals = [len(rest) for (_, variant), rest in rests.items() if variant == ORIGINAL]
    paraphrases = [len(rest) for (_, variant), rest in rests.items() if variant == TWIN]
    assert np.mean(paraphrases) - np.mean(originals) > 0.5
    compared = compared_words(rests)
    rng = derive_rng(9, "word by word", str(word))
    claimed = sum(_known(guess(rng, word, compared)) for _ in range(400))
    assert claimed <= 0.025 * 400


def test_equally_many_words_of_both_wordings_count(store: Store) -> None:
    found = asked(store, [])
    words = {(one.ref, one.variant): one.words for one in found.every}
    assert all(words[ref, ORIGINAL] == words[ref, TWIN] for ref, _ in words)
    longer = [len(folded(halves(paraphrase(n))[1])) for n in range(12)]
    shorter = [len(folded(halves(original(n))[1])) for n in range(12)]
    assert [words[f"s{n}", TWIN] for n in range(12)] == list(map(min, longer, shorter))
