"""Labels are scored as they are written: in every spelling, whole, and only where the word ends."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pytest

from tests.inference.jobs_of_prompts import mixed_job, text
from tests.inference.oracle import Oracle
from tests.inference.random_models import STOP, VOCABULARY, build, engine_over
from tests.inference.test_words import SPACE, tokenizer, tokens
from workbench.data import lexicon
from workbench.domain.prompts import Message, Prompt, Template
from workbench.domain.readings import Stance
from workbench.domain.responses import Request, Sampling
from workbench.inference.base import Work
from workbench.inference.local.model import load_local
from workbench.inference.local.text import SpelledVocabulary
from workbench.inference.plain import PlainEngine
from workbench.readers.label_words import LabelWords
from workbench.readers.verbalizers import verbalizers

CLOSE = 1e-5
AFTER = range(3, VOCABULARY, 2)
REST = sorted({*range(VOCABULARY)} - {*AFTER})


@pytest.mark.parametrize("kind", ["llama", "gpt2", "qwen3-sliding", "plain"])
def test_an_end_is_scored_with_what_may_follow_it(kind: str) -> None:
    """By both engines as by a forward pass each; what may follow and what may not add up to the end
    alone.
    """
    rng = np.random.default_rng(5)
    job = mixed_job(12, 40, seed=5)
    ends = [[text(rng, int(rng.integers(1, 5))) for _ in range(3)] for _ in job]
    network = build("llama" if kind == "plain" else kind)
    oracle = Oracle(build("llama" if kind == "plain" else kind), STOP)

    def scored(engine: object, after: object) -> list[list[float]]:
        found = sorted(engine.score(job, ends, tuple(after)), key=lambda of: of.prompt)  # type: ignore
        return [of.log_probabilities.tolist() for of in found]

    if kind == "plain":
        engine = PlainEngine(network, STOP, Work())
        found = [scored(engine, after) for after in (AFTER, REST, ())]
    else:
        with engine_over(network) as shared:
            found = [scored(shared, after) for after in (AFTER, REST, ())]
    for prompt, choices, follows, other, alone in zip(job, ends, *found, strict=True):
        assert np.logaddexp(follows, other) == pytest.approx(alone, abs=CLOSE)
        for end, value in zip(choices, follows, strict=True):
            log = oracle.next_log_probabilities([*prompt, *end])
            wanted = oracle.score(prompt, end) + np.log(
                np.exp(log[list(AFTER)].astype(np.float64)).sum()
            )
            assert value == pytest.approx(wanted, abs=CLOSE)


@pytest.mark.parametrize("kind", SPACE)
def test_tokens_that_go_on_with_a_word_do_not_end_it(kind: str) -> None:
    made, space = tokenizer(kind), SPACE[kind]
    ends = SpelledVocabulary(made, len(made)).word_ends
    going_on = {*range(len(made))} - {*ends}
    assert going_on == set(tokens(made, "yes", "Yes", "YES", "yesterday", "No", "y", "y.", "yy"))
    assert set(tokens(made, f"{space}yes", "(Y", ":", space, "<yes>")) <= set(ends), (
        "special tokens end a word"
    )


LABELS = Template("t", False, "{statement}", "agree", "disagree", chat=False)
SHOTS = "Taxes should rise. Answer: agree\nRents should be free. Answer: disagree\n"
ASKED = [
    Prompt((Message("user", f"{SHOTS}{statement} Answer:"),), chat=False)
    for statement in ("Trains should be public.", "Schools should close.")
]
DRAWS = 500


@pytest.fixture(scope="module")
def smollm2() -> object:
    return load_local("smollm2")


@pytest.mark.e2e
def test_spellings_with_the_same_tokens_are_one_event(smollm2: object) -> None:
    options = ["agree", "agree", " agree"]
    (found,) = smollm2.score(ASKED[:1], [options], whole_words=True)  # type: ignore[attr-defined]
    assert found.log_probabilities[1] == -np.inf
    assert np.isfinite(found.log_probabilities[[0, 2]]).all()
    (plain,) = smollm2.score(ASKED[:1], [options])  # type: ignore[attr-defined]
    assert (found.log_probabilities[[0, 2]] <= plain.log_probabilities[[0, 2]]).all()


@pytest.mark.e2e
def test_the_beginning_of_another_word_is_no_label(smollm2: object) -> None:
    """A word that begins with the label has probability after it, and none of it counts."""
    (label,) = smollm2.score(ASKED[:1], [[" agree"]], whole_words=True)  # type: ignore[attr-defined]
    (open_,) = smollm2.score(ASKED[:1], [[" agree"]])  # type: ignore[attr-defined]
    (longer,) = smollm2.score(ASKED[:1], [[" agree" + "ment"]])  # type: ignore[attr-defined]
    after = np.exp(open_.log_probabilities[0]) - np.exp(label.log_probabilities[0])
    assert after > 0
    assert np.isfinite(longer.log_probabilities[0])


@pytest.mark.e2e
def test_exact_label_probabilities_are_those_of_many_samples_read_by_the_rule(
    smollm2: object,
) -> None:
    """500 answers to each of two prompts: how many begin with a label, and what the rule reads in
    these.
    """
    forms, reader = verbalizers(LABELS), LabelWords("agree", "disagree", lexicon("en"))
    begins = re.compile(
        r'^ ?(?:"|\*\*?)?(agree|Agree|AGREE|disagree|Disagree|DISAGREE)(?![^\W_]|\'[a-z])'
    )
    sampling = Sampling(temperature=1.0, top_p=1.0, max_new_tokens=4)
    scored = {
        of.prompt: of for of in smollm2.score(ASKED, [forms.all] * len(ASKED), whole_words=True)
    }  # type: ignore
    requests = [Request(prompt, DRAWS, seed) for seed, prompt in enumerate(ASKED)]
    for drawn in smollm2.generate(requests, sampling):  # type: ignore[attr-defined]
        masses = np.exp(scored[drawn.request].log_probabilities)
        exact = [masses[: len(forms.positive)].sum(), masses[len(forms.positive) :].sum()]
        seen: Counter[str] = Counter()
        read: Counter[object] = Counter()
        for answer, n in drawn.answers:
            if (found := begins.match(answer)) is not None:
                seen[found[1].lower()] += n
                read[reader.read(answer).label] += n
        for share, count in zip(exact, (seen["agree"], seen["disagree"]), strict=True):
            z = (count - DRAWS * share) / np.sqrt(DRAWS * share * (1 - share))
            assert abs(z) < 4, (share, count)
        assert sum(exact) > 0.3, "else the samples say little"
        readable = read[Stance.AGREE] + read[Stance.DISAGREE]
        leaning = exact[0] / sum(exact)
        z = (read[Stance.AGREE] - readable * leaning) / np.sqrt(readable * leaning * (1 - leaning))
        assert abs(z) < 4, (leaning, read)
