"""Sampling against the published way (one prompt at a time, `generate` with 30 returned sequences)
and against plain batched `generate`, at the published temperature and at a low one, as a strong
instruct model's answers are distributed.

Ours and theirs take turns, so that what else the machine does falls on all; medians are reported.
The plain ways answer a few prompts of the job, ours all of it: their rate does not depend on how
many there are.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parents[2]))
sys.path.insert(0, str(Path(__file__).parent))

from products import Products
from subjects import Subject, distinct_beginnings, embedded, large, random_model, synchronised

from workbench.domain.responses import Request, Sampling
from workbench.inference.engines import SampledAnswers

Row = tuple[str, str, str]
TEMPERATURES, TINY_TEMPERATURES = (1.0, 0.25, 0.1), (1.0,)
REPEATS = 2
TOGETHER = 4
"prompts of one batch of plain `generate`"
TINY_PROMPTS, TINY_SAMPLES, TINY_TOKENS = 8, 2, 2


@dataclass(slots=True)
class Computed:
    """Tokens of one call: what went through the network, and what had to."""

    prompt: int = 0
    answer: int = 0
    least_prompt: int = 0
    least_answer: int = 0
    naive: int = 0
    bare: float = 0.0
    "share of the time that the bare matrix products of the same shapes take"
    answers: list[SampledAnswers] = field(default_factory=list)

    @property
    def row(self) -> tuple[str, str]:
        done, least = self.prompt + self.answer, self.least_prompt + self.least_answer
        return (
            f"{done:,} ({self.prompt:,} of prompts), least possible {least:,}",
            f"{done / least:.3f} of the least, 1/{self.naive / done:.1f} of the authors' loop",
        )


def ours(
    subject: Subject, requests: Sequence[Request], sampling: Sampling
) -> tuple[float, Computed]:
    """Return answers a second, and the tokens that they took."""
    prompts, work = subject.prompts, subject.work
    before = (work.prompt_tokens_computed, work.sampled_tokens_computed)
    synchronised(subject.device)
    products = Products()
    with products.of(subject.engine.network):
        started = time.perf_counter()
        found = [
            one
            for group in subject.engine.sample(prompts, requests, sampling, subject.spell)
            for one in group
        ]
        synchronised(subject.device)
        seconds = time.perf_counter() - started
    grown = [
        {a[: i + 1] for a in one.counts for i in range(min(len(a), sampling.max_new_tokens - 1))}
        for one in found
    ]
    drawn = sum(len(answer) * count for one in found for answer, count in one.counts.items())
    computed = Computed(
        prompt=work.prompt_tokens_computed - before[0],
        answer=work.sampled_tokens_computed - before[1],
        least_prompt=distinct_beginnings(prompts),
        least_answer=sum(map(len, grown)),
        naive=subject.samples * sum(map(len, prompts)) + drawn,
        bare=products.seconds(subject.device) / seconds,
        answers=found,
    )
    return sum(sum(one.counts.values()) for one in found) / seconds, computed


@torch.inference_mode()
def plain(subject: Subject, chosen: Sequence[int], sampling: Sampling, together: int) -> float:
    """Return answers a second of `generate`, so many prompts at a time, padded on the left."""
    synchronised(subject.device)
    started = time.perf_counter()
    for first in range(0, len(chosen), together):
        batch = [subject.prompts[i] for i in chosen[first : first + together]]
        longest = max(map(len, batch))
        ids = torch.tensor([[0] * (longest - len(p)) + p for p in batch], device=subject.device)
        mask = torch.tensor(
            [[0] * (longest - len(p)) + [1] * len(p) for p in batch], device=subject.device
        )
        subject.plain.generate(
            input_ids=ids,
            attention_mask=mask,
            do_sample=True,
            temperature=sampling.temperature,
            top_p=sampling.top_p,
            top_k=0,
            max_new_tokens=sampling.max_new_tokens,
            num_return_sequences=subject.samples,
            eos_token_id=sorted(subject.stop),
            pad_token_id=0,
        )
    synchronised(subject.device)
    return len(chosen) * subject.samples / (time.perf_counter() - started)


def compared(
    subject: Subject, temperature: float, loop_prompts: int, tokens: int | None = None
) -> list[Row]:
    """Return the rows of one temperature."""
    sampling = Sampling(temperature=temperature)
    sampling = sampling if tokens is None else replace(sampling, max_new_tokens=tokens)
    spread = [i * len(subject.prompts) // (REPEATS * TOGETHER) for i in range(REPEATS * TOGETHER)]
    fast, loop, batched, early = list[float](), list[float](), list[float](), list[float]()
    computed = Computed()
    shortened = 0.0
    for repeat in range(REPEATS):
        chosen = spread[repeat::REPEATS]
        rate, computed = ours(subject, subject.requests, sampling)
        fast.append(rate)
        loop.append(plain(subject, chosen[:loop_prompts], sampling, 1))
        batched.append(plain(subject, chosen, sampling, TOGETHER))
        if subject.decided and not early:
            rate, ended = ours(subject, subject.decided, sampling)
            early.append(rate)
            shortened = sum(one.decided for one in ended.answers) / (
                subject.samples * len(subject.prompts)
            )
    what = (
        f"sampling {subject.name}, {len(subject.prompts)} prompts x {subject.samples}, T "
        f"{temperature:g}"
    )
    base, ratio = statistics.median(loop), _over(statistics.median(loop))
    rows = [
        (
            what,
            f"{statistics.median(fast):.1f} answers/s",
            f"{ratio(statistics.median(fast))} the authors' loop",
        ),
        (f"{what}: plain generate in batches of {TOGETHER}", *_rate(batched, ratio)),
        (f"{what}: authors' loop", f"{base:.1f} answers/s", "1x"),
        (f"{what}: tokens computed", *computed.row),
        (f"{what}: bare matrix products of the same shapes", f"{computed.bare:.2f}", "of the time"),
    ]
    if early:
        rows.insert(
            1, (f"{what}, until decided ({shortened:.0%} ended early)", *_rate(early, ratio))
        )
    return rows


def _over(base: float) -> Callable[[float], str]:
    return lambda rate: f"{rate / base:.1f}x"


def _rate(rates: list[float], ratio: Callable[[float], str]) -> tuple[str, str]:
    return f"{statistics.median(rates):.1f} answers/s", ratio(statistics.median(rates))


def main(*, tiny: bool = False) -> Iterator[Row]:
    """Yield rows of the benchmark table: what, measured, against the published loop."""
    if tiny:
        with random_model() as model:
            for temperature in TINY_TEMPERATURES:
                yield from compared(
                    embedded(TINY_PROMPTS, TINY_SAMPLES, model), temperature, 1, TINY_TOKENS
                )
        return
    if torch.cuda.is_available():
        subject = large(256)
        # Kernels are chosen on first use.
        ours(subject, subject.requests, Sampling(max_new_tokens=2))
        for temperature in TEMPERATURES:
            yield from compared(subject, temperature, loop_prompts=8)
        subject.engine.close()
        del subject
        torch.cuda.empty_cache()
        subject, prompts = embedded(240), 8
    else:
        subject, prompts = embedded(24), 1
    for temperature in TEMPERATURES:
        yield from compared(subject, temperature, prompts)


if __name__ == "__main__":
    for row in main():
        print(" | ".join(row))
