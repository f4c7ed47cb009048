"""Exact probabilities of " yes" and " no" in questionnaire modelling: 60 answers of a respondent in the context, then a
statement in many wordings. Against one forward pass a prompt, of which a few are measured and compared.

The bound is the share of tokens that need not be computed again: tokens of all prompts over nodes of their tree.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parents[2]))
sys.path.insert(0, str(Path(__file__).parent))

from subjects import Subject, distinct_beginnings, embedded, synchronised

from workbench.data import shipped_instrument_folder
from workbench.formats.read import read_instrument

Row = tuple[str, str, str]
IN_CONTEXT, PLAIN_PROMPTS = 60, 3
SHAPES = ((1, 16, 2), (7, 50, 1))
"targets, wordings of each, repeats"
FRAMES = (
    "{}",
    "Think of this: {}",
    "Some people say: {}",
    "Consider the following. {}",
    "One may hold that this is so: {}",
    "In short: {}",
    "It has been said: {}",
    "Here is another one. {}",
    "The next statement reads: {}",
)
OPTIONS = (" yes", " no")


def questionnaire(subject: Subject, targets: int, wordings: int) -> list[list[int]]:
    """Return the prompts: the same answered statements, then a target in one of its wordings."""
    assert subject.format is not None
    statements = read_instrument("csv", shipped_instrument_folder()).statements
    texts = [[wording.text for wording in statement.wordings] for statement in statements]
    asked = [its[i] for i in range(2) for its in texts[targets:]][:IN_CONTEXT]
    answered = "".join(f"Statement: {text}\nAnswer: {('yes', 'no')[i % 3 % 2]}\n\n" for i, text in enumerate(asked))
    reworded = [[frame.format(text) for frame in FRAMES for text in its][:wordings] for its in texts[:targets]]
    assert all(len(its) == wordings for its in reworded)
    tokenizer = subject.format._tokenizer
    return [list(tokenizer(f"{answered}Statement: {text}\nAnswer:").input_ids) for its in reworded for text in its]


def ours(subject: Subject, prompts: list[list[int]], ends: Sequence[Sequence[int]]) -> tuple[float, list[float]]:
    """Return prompts a second, and p(yes) among the options."""
    synchronised(subject.device)
    started = time.perf_counter()
    found = list(subject.engine.score(prompts, [ends] * len(prompts)))
    synchronised(subject.device)
    seconds = time.perf_counter() - started
    found.sort(key=lambda scores: scores.prompt)
    return len(prompts) / seconds, [_yes(scores.log_probabilities) for scores in found]


@torch.inference_mode()
def plain(subject: Subject, prompts: list[list[int]], ends: Sequence[Sequence[int]]) -> tuple[float, list[float]]:
    """Return prompts a second with a forward pass each: the options have one token, so that one pass says it all."""
    synchronised(subject.device)
    started = time.perf_counter()
    found = []
    for prompt in prompts:
        ids = torch.tensor([prompt], device=subject.device)
        logits = subject.plain(input_ids=ids, use_cache=False, logits_to_keep=1).logits[0, -1].float()
        found.append(_yes(torch.log_softmax(logits, dim=-1)[[end[0] for end in ends]].cpu().numpy()))
    synchronised(subject.device)
    return len(prompts) / (time.perf_counter() - started), found


def _yes(log: np.ndarray) -> float:
    both = np.exp(log - log.max())
    return float(both[0] / both.sum())


def compared(subject: Subject, targets: int, wordings: int, repeats: int) -> list[Row]:
    """Return the rows of one shape of questionnaire."""
    assert subject.format is not None
    prompts = questionnaire(subject, targets, wordings)
    ends = [subject.format.encode_option(option) for option in OPTIONS]
    assert all(len(end) == 1 for end in ends)
    chosen = [i * len(prompts) // PLAIN_PROMPTS for i in range(PLAIN_PROMPTS)]
    fast, slow, off = list[float](), list[float](), 0.0
    for _ in range(repeats):
        rate, found = ours(subject, prompts, ends)
        base, expected = plain(subject, [prompts[i] for i in chosen], ends)
        fast.append(rate)
        slow.append(base)
        off = max([off, *(abs(found[i] - p) for i, p in zip(chosen, expected, strict=True))])
    ratio = statistics.median(fast) / statistics.median(slow)
    bound = sum(map(len, prompts)) / distinct_beginnings(prompts)
    what = f"scoring {subject.name}, {IN_CONTEXT} answers in context, {targets} x {wordings} wordings"
    return [
        (what, f"{statistics.median(fast):.2f} prompts/s", f"{ratio:.1f}x one forward pass a prompt"),
        (f"{what}: of tokens naive / shared", f"{ratio / bound:.2f}", f"{bound:.1f}x is the bound"),
        (f"{what}: largest difference of p(yes)", f"{off:.1e}", ""),
    ]


def main() -> list[Row]:
    """Return rows of the benchmark table: what, measured, against one forward pass a prompt."""
    subject = embedded(1)
    return [row for shape in SHAPES for row in compared(subject, *shape)]


if __name__ == "__main__":
    for row in main():
        print(" | ".join(row))
