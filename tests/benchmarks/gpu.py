"""`make gpu`: everything that a GPU can show, in one command, as a table that is written into a
file as well.

A part that fails is a row that says so, and the exit status; the parts after it still run. `gpu.py
--tiny PART …` runs them on the CPU at a size that measures nothing, which shows that they work.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))
sys.path.insert(0, str(Path(__file__).parent))

import torch
from subjects import SAMPLES, Subject, embedded, large, random_model, synchronised

from workbench.domain.prompts import Prompt
from workbench.domain.responses import Request, Sampling
from workbench.inference.local.model import load_local
from workbench.inference.memory import free_bytes, readable

ROOT = Path(__file__).parents[2]
Row = tuple[str, str, str]
NEEDED_BYTES = 44e9
"""two copies of the large network, so that ours and transformers' do not touch each other, and
their caches"""
GREEDY = Sampling(temperature=1.0, top_p=1.0, top_k=1, max_new_tokens=20)
SAME = 0.9
"""share of greedy answers that a GPU in float32 has in common with the CPU: sums in another order
turn a near tie"""
SQUARE, COPIED = 8192, 1 << 30
"""side of the matrices whose product is timed, and bytes that are copied, to find what the device
does at its best"""
TINY_SQUARE, TINY_COPIED = 128, 1 << 20
JOBS = (("reliability", "--samples", "30"), ("bias_score", "--samples", "30"))
TINY_JOBS = (("reliability", "--samples", "1"), ("bias_score", "--samples", "1"))
JOB_SECONDS = 1200
UNASKED = ("--no-probe", "--yes")


class NotRun(Exception):
    """Why a part has nothing to say here."""


@dataclass(slots=True)
class Passes:
    """What went through a network: tokens of each pass."""

    tokens: list[int] = field(default_factory=list)

    def watch(self, network: Any) -> Any:
        return network.get_input_embeddings().register_forward_pre_hook(
            lambda _, given: self._note(given[0].numel())
        )

    def _note(self, tokens: int) -> None:
        self.tokens.append(tokens)


def tests(*, tiny: bool) -> Iterator[Row]:
    """Run the tests that are marked `gpu`; all of them must pass, none may be skipped."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-m",
        "gpu",
        "-p",
        "no:cacheprovider",
        "tests/inference" if tiny else "tests",
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    said = (done.stdout.strip().splitlines() or [done.stderr.strip()])[-1].strip("= ")
    if (
        done.returncode
        or (not tiny and not re.search(r"\d+ passed", said))
        or (not tiny and "skipped" in said)
    ):
        raise AssertionError(f"{said}\n{done.stdout[-3000:]}")
    yield "pytest -m gpu", said, ""


def embedded_model(*, tiny: bool) -> Iterator[Row]:
    """The embedded model: its greedy answers and next tokens on the device against those on the
    CPU.
    """
    if tiny:
        with random_model() as name:
            yield from _against_cpu(name, "cpu", prompts=2)
    else:
        yield from _against_cpu("smollm2", "cuda", prompts=48)


def _against_cpu(name: str, device: str, prompts: int) -> Iterator[Row]:
    asked = [request.prompt for request in embedded(prompts, 1, name).requests]
    expected, chances = _answers(name, "float32", "cpu", asked)
    for dtype in ("float32", "bfloat16"):
        found, its = _answers(name, dtype, device, asked)
        same = sum(a == b for a, b in zip(expected, found, strict=True)) / len(asked)
        off = max(
            abs(chances[i].get(text, p) - p) for i, one in enumerate(its) for text, p in one.items()
        )
        what = (
            f"embedded model, {dtype} on {device} against float32 on the CPU, {len(asked)} prompts"
        )
        yield (
            what,
            f"{same:.0%} of greedy answers equal",
            f"next token's probability off by {off:.1e} at most",
        )
        if dtype == "float32" and same < SAME:
            raise AssertionError(
                f"{what}: {same:.0%} of greedy answers equal, at least {SAME:.0%} expected"
            )


def _answers(
    name: str, dtype: str, device: str, prompts: Sequence[Prompt]
) -> tuple[list[str | None], list[dict[str, float]]]:
    """Return greedy answers, and the ten likeliest next tokens with their probabilities."""
    model = load_local(name, dtype, device)
    try:
        drawn = {
            one.request: one.answers
            for one in model.generate([Request(p, 1, 1) for p in prompts], GREEDY)
        }
        tables = {one.prompt: one for one in model.next_tokens(prompts, 10)}
        its = [
            dict(
                zip(
                    tables[i].texts,
                    map(float, torch.tensor(tables[i].log_probabilities).exp()),
                    strict=True,
                )
            )
            for i in range(len(prompts))
        ]
        return [drawn[i][0][0] if drawn[i] else None for i in range(len(prompts))], its
    finally:
        model.close()


def large_model(*, tiny: bool) -> Iterator[Row]:
    """A network of the shape of Llama 3.1 8B with random weights in bfloat16: speed against what
    the device can do.
    """
    subject = _tiny_subject() if tiny else _large_subject()
    device = subject.device
    bandwidth, products = _at_best(device, tiny=tiny)
    yield (
        "device at its best",
        f"{bandwidth / 1e9:,.0f} GB/s copied",
        f"{products / 1e12:,.1f} TFLOP/s of products",
    )
    sampling = Sampling(temperature=1.0, max_new_tokens=2 if tiny else 20)
    if not tiny:
        list(
            subject.engine.sample(
                subject.prompts, subject.requests, Sampling(max_new_tokens=2), subject.spell
            )
        )
    passes = Passes()
    watched = passes.watch(subject.engine.network)
    seconds, answers = _timed(subject, sampling)
    watched.remove()
    held = torch.cuda.max_memory_allocated(device) if device.type == "cuda" else 0
    network = subject.engine.network
    weights = sum(p.numel() * p.element_size() for p in network.parameters())
    ends = {
        id(layer.weight): layer.weight.numel()
        for layer in (network.get_input_embeddings(), network.lm_head)
    }
    body = sum(p.numel() for p in network.parameters()) - sum(ends.values())
    read = len(passes.tokens) * weights / bandwidth
    least = sum(max(weights / bandwidth, 2 * tokens * body / products) for tokens in passes.tokens)
    what = f"{subject.name}, {len(subject.prompts)} prompts x {subject.samples}"
    yield (
        what,
        f"{answers / seconds:,.1f} answers/s",
        f"{readable(held)} of memory at most" if held else "",
    )
    yield (
        f"{what}: share of the memory-bandwidth bound",
        f"{read / seconds:.2f}",
        f"{len(passes.tokens):,} passes, each reading {readable(weights)} of weights",
    )
    yield (
        f"{what}: share of bare products of the same shapes",
        f"{least / seconds:.2f}",
        f"{sum(passes.tokens):,} tokens through the network; reading weights or multiplying, "
        "whichever is longer",
    )
    subject.engine.close()


def _tiny_subject() -> Subject:
    with random_model() as name:
        return embedded(4, 2, name)


def _large_subject() -> Subject:
    free = free_bytes(torch.device("cuda"))
    if free < NEEDED_BYTES:
        raise NotRun(f"needs {readable(int(NEEDED_BYTES))} of memory, {readable(free)} are free")
    return large(256)


def _timed(subject: Subject, sampling: Sampling) -> tuple[float, int]:
    """Return the seconds of a call, and how many answers came."""
    synchronised(subject.device)
    started = time.perf_counter()
    groups = subject.engine.sample(subject.prompts, subject.requests, sampling, subject.spell)
    answers = sum(sum(one.counts.values()) for group in groups for one in group)
    synchronised(subject.device)
    return time.perf_counter() - started, answers


def _at_best(device: torch.device, *, tiny: bool) -> tuple[float, float]:
    """Return bytes a second that a device reads and writes while it copies, and operations a second
    of a product.
    """
    side, size = (TINY_SQUARE, TINY_COPIED) if tiny else (SQUARE, COPIED)
    block, target = (torch.empty(size, dtype=torch.uint8, device=device) for _ in range(2))
    dtype = torch.bfloat16 if device.type == "cuda" else torch.float32
    square = torch.randn(side, side, device=device, dtype=dtype)
    copied = _repeated(lambda: target.copy_(block), device)
    multiplied = _repeated(lambda: square @ square, device)
    return 2 * size / copied, 2 * side**3 / multiplied


def _repeated(compute: Callable[[], Any], device: torch.device, times: int = 10) -> float:
    """Return the seconds of one call, after a first that does not count."""
    compute()
    synchronised(device)
    started = time.perf_counter()
    for _ in range(times):
        compute()
    synchronised(device)
    return (time.perf_counter() - started) / times


def out_of_memory(*, tiny: bool) -> Iterator[Row]:
    """Give the engine less memory than it takes: fewer rows at once, and the same answers."""
    if tiny:
        yield from _stand_in_memory()
        return
    subject = embedded(48, SAMPLES)
    device = subject.device
    sampling = Sampling(temperature=1.0)

    def drawn() -> dict[int, Any]:
        groups = subject.engine.sample(subject.prompts, subject.requests, sampling, subject.spell)
        return {one.request: one.counts for group in groups for one in group}

    torch.cuda.empty_cache()
    weights = torch.cuda.memory_allocated(device)
    torch.cuda.reset_peak_memory_stats(device)
    freely = drawn()
    most = torch.cuda.max_memory_reserved(device)
    room = weights + (most - weights) // 3
    before = int(torch.cuda.memory_stats(device).get("num_ooms", 0))
    torch.cuda.empty_cache()
    torch.cuda.set_per_process_memory_fraction(
        room / torch.cuda.get_device_properties(device).total_memory, device
    )
    try:
        narrowly = drawn()
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0, device)
    ran_out = int(torch.cuda.memory_stats(device).get("num_ooms", 0)) - before
    yield from _backed_off(
        f"out of memory: {readable(room)} in place of {readable(most)}", ran_out, freely, narrowly
    )


def _stand_in_memory() -> Iterator[Row]:
    from tests.inference.jobs_of_prompts import requests, spell
    from tests.inference.random_models import build, engine_over
    from tests.inference.test_engine_memory import JOB, USUAL, Memory, N

    found, failed = list[dict[int, Any]](), 0
    for room in (10**9, 40):
        network = build("llama")
        with engine_over(network) as engine:
            memory = Memory(network, "last")
            memory.fails = partial(_too_many, room)
            groups = engine.sample(JOB, requests(N, len(JOB)), USUAL, spell)
            found.append({one.request: one.counts for group in groups for one in group})
            failed = memory.failed
    yield from _backed_off(
        "out of memory: 40 tokens of a pass, as a stand-in for a GPU has them", failed, *found
    )


def _too_many(room: int, _: int, tokens: int) -> bool:
    return tokens > room


def _backed_off(
    what: str, ran_out: int, freely: dict[int, Any], narrowly: dict[int, Any]
) -> Iterator[Row]:
    same = sum(narrowly.get(i) == counts for i, counts in freely.items()) / len(freely)
    yield (
        what,
        f"ran out {ran_out} times",
        f"{same:.0%} of {len(freely)} prompts have the same answers",
    )
    if not ran_out or narrowly.keys() != freely.keys() or same < SAME:
        raise AssertionError(
            f"{what}: ran out {ran_out} times, {same:.0%} of prompts have the same answers"
        )


def two_jobs(*, tiny: bool) -> Iterator[Row]:
    """Two jobs one after the other, and at once, as people start them: one store, one device, two
    workers.
    """
    asked, statements, model = (TINY_JOBS, "1", "scripted") if tiny else (JOBS, "6", "smollm2")
    with tempfile.TemporaryDirectory() as folder:
        apart = [_jobs(Path(folder) / "apart.db", [one], model, statements) for one in asked]
        seconds, answers = _jobs(Path(folder) / "both.db", asked, model, statements)
    alone = sum(one[0] for one in apart)
    what = f"two jobs at once of {model}, {answers:,} answers"
    yield what, f"{seconds:.1f} s", f"{alone:.1f} s one after the other"
    if answers != sum(one[1] for one in apart):
        raise AssertionError(
            f"{what}: {sum(one[1] for one in apart):,} answers came of the same jobs alone"
        )


def _jobs(
    store: Path, asked: Sequence[tuple[str, ...]], model: str, statements: str
) -> tuple[float, int]:
    """Run jobs at once; return how long they took, and how many answers came. Raises where one did
    not end well.
    """
    shell = [sys.executable, "-m", "workbench"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    if not store.exists():
        subprocess.run(
            [*shell, "init", "--demo", str(store)], env=environment, check=True, capture_output=True
        )
    before = _ended(shell, store, environment)
    started = time.perf_counter()
    running = [
        subprocess.Popen(
            [
                *shell,
                "run",
                str(store),
                "--model",
                model,
                "--statements",
                statements,
                *UNASKED,
                "--audit",
                *one,
            ],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for one in asked
    ]
    said = [one.communicate(timeout=JOB_SECONDS)[0] for one in running]
    seconds = time.perf_counter() - started
    for one, text in zip(running, said, strict=True):
        if one.returncode:
            raise AssertionError(f"a job ended with {one.returncode}: {text[-1500:]}")
    return seconds, _ended(shell, store, environment) - before


def _ended(shell: list[str], store: Path, environment: dict[str, str]) -> int:
    """Return how many answers the jobs of a store have drawn. Raises where one failed."""
    done = subprocess.run(
        [*shell, "jobs", str(store), "--json"],
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    )
    jobs = json.loads(done.stdout)
    if wrong := [job["state"] for job in jobs if job["state"] != "done"]:
        raise AssertionError(f"jobs ended as {', '.join(wrong)}")
    return sum(job["done"] for job in jobs)


def sampling(*, tiny: bool) -> Iterator[Row]:
    """Answers a second against `generate`, one prompt at a time and in batches."""
    import bench_sampling

    yield from bench_sampling.main(tiny=tiny)


def questionnaire(*, tiny: bool) -> Iterator[Row]:
    """Exact probabilities of the questionnaire against one forward pass a prompt."""
    import bench_scoring

    yield from bench_scoring.main(tiny=tiny)


PARTS: dict[str, Callable[..., Iterator[Row]]] = {
    "tests": tests,
    "embedded": embedded_model,
    "large": large_model,
    "memory": out_of_memory,
    "jobs": two_jobs,
    "sampling": sampling,
    "questionnaire": questionnaire,
}


def found_rows(names: Sequence[str], *, tiny: bool) -> Iterator[tuple[Row, bool]]:
    """Yield the rows of parts, and whether each is as it should be."""
    for name in names:
        try:
            for row in PARTS[name](tiny=tiny):
                yield row, True
        except NotRun as reason:
            yield (name, "not run", str(reason)), True
        except (
            Exception
        ) as error:  # whatever goes wrong on a foreign device is a row, and the next part runs
            first = (str(error).strip().splitlines() or [""])[0]
            print(f"{name}: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
            yield (name, "FAILED", f"{type(error).__name__}: {first}"), False
        if torch.cuda.is_available():
            torch.cuda.empty_cache()


def heading(*, tiny: bool) -> str:
    """Return what the table was measured on."""
    versions = f"Python {platform.python_version()}, PyTorch {torch.__version__}"
    if tiny or not torch.cuda.is_available():
        return f"CPU, {os.cpu_count()} cores; {versions}; sizes that measure nothing"
    card = torch.cuda.get_device_properties(0)
    return f"{card.name}, {readable(card.total_memory)}; {versions}, CUDA {torch.version.cuda}"


def main() -> int:
    """Print and write the table; return the exit status."""
    parser = argparse.ArgumentParser(
        description="Run everything that needs a GPU, and write a table."
    )
    parser.add_argument(
        "--tiny", action="store_true", help="on the CPU at a size that measures nothing"
    )
    parser.add_argument(
        "--to", type=Path, default=Path("gpu.md"), metavar="FILE", help="default: gpu.md"
    )
    parser.add_argument(
        "names", nargs="*", metavar="PART", help=f"all, or some of: {', '.join(PARTS)}"
    )
    options = parser.parse_args()
    for name in options.names:
        if name not in PARTS:
            parser.error(f"no part is named {name!r}; there is: {', '.join(PARTS)}")
    if not options.tiny and not torch.cuda.is_available():
        print(
            "There is no CUDA device here (PyTorch sees none), so nothing was run.", file=sys.stderr
        )
        return 1
    lines, well = [], True
    for line in (
        heading(tiny=options.tiny),
        "",
        "| measure | found | beside it |",
        "| --- | --- | --- |",
    ):
        lines.append(line)
        print(line, flush=True)
    for row, fine in found_rows(options.names or list(PARTS), tiny=options.tiny):
        lines.append("| " + " | ".join(cell.replace("|", "/") for cell in row) + " |")
        print(lines[-1], flush=True)
        well = well and fine
        options.to.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"\nThe table is in {options.to}." + ("" if well else " What failed is marked FAILED."))
    return 0 if well else 1


if __name__ == "__main__":
    raise SystemExit(main())
