"""Prompts as audit jobs have them, in tokens: shared beginnings, beginnings of one another,
duplicates, all lengths.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from tests.inference.random_models import STOP, VOCABULARY
from workbench.domain.prompts import Message, Prompt
from workbench.domain.responses import Decided, Request
from workbench.inference.engines import Engine, SampledAnswers, Tokens

NOTHING = Prompt((Message("user", "an engine reads tokens"),))
ORDINARY = [token for token in range(3, VOCABULARY) if token not in STOP]


def spell(tokens: Tokens) -> str:
    """Return a text in which every token is its number."""
    return " ".join(map(str, tokens))


def text(rng: np.random.Generator, length: int, vocabulary: Sequence[int] = ORDINARY) -> list[int]:
    return [int(token) for token in rng.choice(vocabulary, size=length)]


def requests(
    n: int | Sequence[int], count: int, *, decided: Decided | None = None, first: int = 0
) -> list[Request]:
    """Return requests of which each has its own seed."""
    samples = [n] * count if isinstance(n, int) else list(n)
    return [Request(NOTHING, samples[i], first + i, decided) for i in range(count)]


def mixed_job(count: int, longest: int, seed: int = 0) -> list[list[int]]:
    """Return a job in which everything occurs that a token tree has to handle, its prompts in no
    order.
    """
    rng = np.random.default_rng(seed)
    stem, second = text(rng, longest // 2), text(rng, longest // 3)
    job: list[list[int]] = [[5], [5], [7], text(rng, longest), text(rng, 2)]
    # Beginnings of one another, a duplicate.
    job += [
        stem,
        [*stem, 9],
        stem[: len(stem) // 2],
        stem[:1],
        stem,
    ]
    while len(job) < count:
        kind = len(job) % 4
        if kind == 0:
            job.append(text(rng, int(rng.integers(1, longest + 1))))
        elif kind == 1:
            job.append([*stem, *text(rng, int(rng.integers(1, max(2, longest // 4))))])
        elif kind == 2:
            job.append(
                [
                    *stem[: int(rng.integers(1, len(stem)))],
                    *second[: int(rng.integers(1, len(second)))],
                ]
            )
        else:
            job.append([*second, *text(rng, int(rng.integers(1, 9)))])
    return [job[i] for i in rng.permutation(count)]


def all_answers(groups: Iterable[list[SampledAnswers]], count: int) -> list[SampledAnswers]:
    """Return the answers in the order of their requests; each must have come exactly once."""
    found = [answers for group in groups for answers in group]
    assert sorted(answers.request for answers in found) == list(range(count))
    return sorted(found, key=lambda answers: answers.request)


def counts(groups: Iterable[list[SampledAnswers]], count: int) -> list[dict[tuple[int, ...], int]]:
    return [answers.counts for answers in all_answers(groups, count)]


def single(answers: SampledAnswers) -> tuple[int, ...]:
    """Return the only answer."""
    (tokens,) = answers.counts
    return tokens


def scores(
    engine: Engine, prompts: Sequence[Tokens], ends: Sequence[Sequence[Tokens]]
) -> list[list[float]]:
    """Return log-probabilities by the order of prompts; each prompt must have come exactly once."""
    found = list(engine.score(prompts, ends))
    assert sorted(score.prompt for score in found) == list(range(len(prompts)))
    return [
        score.log_probabilities.tolist() for score in sorted(found, key=lambda score: score.prompt)
    ]


def alike(left: Sequence[object], right: Sequence[object]) -> float:
    """Return which share of two sequences is equal, place by place."""
    return float(np.mean([a == b for a, b in zip(left, right, strict=True)]))
