"""The interface of every model."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from workbench.domain.batches import BatchLedger, SentBatch
from workbench.domain.gpus import Gpu
from workbench.domain.prompts import Prompt
from workbench.domain.responses import (
    DTYPES,
    QUANTISED,
    Answerer,
    Drawn,
    ModelCard,
    Request,
    Sampling,
)
from workbench.domain.statements import Statement
from workbench.errors import MissingPackage, UsageError
from workbench.installed import install

USUAL = "float32 on a CPU, bfloat16 on a GPU"
"the default"


def check_dtype(model: str, dtype: str) -> None:
    """Raise UsageError if a dtype is unknown or has no effect on a model of that name.

    An empty dtype stands for the default.
    """
    if not dtype:
        return
    if dtype not in DTYPES:
        raise UsageError(
            f"the dtype {dtype!r} is unknown. Choose {', '.join(DTYPES)}; without one: {USUAL}"
        )
    if dtype in QUANTISED and find_spec("bitsandbytes") is None:
        raise MissingPackage(
            f"{model}: {dtype} weights need bitsandbytes, which is not installed here: "
            f"{install('local,quantised')}"
        )
    if model.startswith(("openai:", "vllm:")):
        raise UsageError(
            f"{model}: a dtype ({dtype}) has no effect here, because the server has loaded the "
            "model; leave it out"
        )
    if model == "scripted" or model.startswith("scripted:"):
        raise UsageError(
            f"{model}: a dtype ({dtype}) has no effect on a scripted model, which computes nothing"
        )


@dataclass(slots=True)
class Work:
    """The work of a backend so far, which shows how much sharing saved."""

    prompt_tokens: int = 0
    "tokens of all prompts, each read once"
    prompt_tokens_computed: int = 0
    "number of these tokens that went through the network"
    sampled_tokens: int = 0
    "tokens of all answers"
    sampled_tokens_computed: int = 0
    """number of these rows that went through the network

    Identical beginnings of answers are computed once.
    """


@dataclass(frozen=True, slots=True, eq=False)
class ScoredOptions:
    """The log-probabilities of one prompt's options."""

    prompt: int
    "index in the sequence of prompts"
    log_probabilities: NDArray[np.float64]
    """one entry per option, in nats

    It is the sum over the option's tokens and over possible continuations.
    """
    reason: str = ""
    """why a backend could not score this prompt, for display

    The log-probabilities are then NaN.
    """
    snapshot: str | None = None
    "the model that the endpoint reported, or None for the one of the model's card"
    fingerprint: str = ""
    "the `system_fingerprint` of the replies"


@dataclass(frozen=True, slots=True, eq=False)
class NextTokens:
    """The next tokens after one prompt, most likely first."""

    prompt: int
    "index in the sequence of prompts"
    texts: tuple[str, ...]
    log_probabilities: NDArray[np.float64]
    "one entry per text, in nats"
    rest: float
    "total probability of all other tokens"
    words: Mapping[str, float] | None = None
    """word -> probability of all tokens of the vocabulary that spell it in any case

    It is None if it is not available.
    """
    reason: str = ""
    """why this prompt has no result, for display

    There are then no texts.
    """
    snapshot: str | None = None
    "the same as in `ScoredOptions`"
    fingerprint: str = ""


def unknown_tokens(prompt: int, reason: str) -> NextTokens:
    """Return the result of a prompt that could not be asked, with the reason."""
    return NextTokens(prompt, (), np.zeros(0), float("nan"), reason=reason)


class Model(Protocol):
    """A model that answers prompts."""

    @property
    def card(self) -> ModelCard: ...

    @property
    def work(self) -> Work: ...

    def generate(self, requests: Sequence[Request], sampling: Sampling) -> Iterator[Drawn]:
        """Draw `request.n` answers to each prompt, and yield those of each request together.

        Requests may come back in any order. Closing the iterator stops the work. The answers to a
        request depend on its seed, not on what else is asked in the same call.
        """
        ...

    def score(
        self,
        prompts: Sequence[Prompt],
        options: Sequence[Sequence[str]],
        *,
        whole_words: bool = False,
    ) -> Iterator[ScoredOptions]:
        """Yield, for each prompt, the log-probability that its next text begins with each option.

        `options[i]` are the continuations of `prompts[i]`, each in the tokens that the model would
        write. With `whole_words` the option's last word must also end there, so that `agree` is not
        the beginning of `agreement`. If options have the same tokens, like ` Yes` and `Yes` in some
        tokenizers, the first gets the probability and the others -inf, so that the probabilities
        add up to that of beginning with any of them.

        Prompts may come back in any order. Closing the iterator stops the work. Raises ModelError
        if an option has no token, or the backend offers no probability for it. A served model
        reports this for the prompt (`ScoredOptions.reason`) and continues.
        """
        ...

    def next_tokens(
        self, prompts: Sequence[Prompt], k: int, words: Sequence[str] = ()
    ) -> Iterator[NextTokens]:
        """Yield, for each prompt, the k most likely next tokens, in any order of prompts.

        `words`: also return the probability of all tokens that spell each of these words, ignoring
        case and surrounding spaces, and for single letters also brackets and a full stop, if the
        backend knows its whole vocabulary. A prompt that cannot be asked comes back with the
        reason. A served model may name fewer than k. Raises ModelError if the backend offers no
        next tokens, or k exceeds the vocabulary.
        """
        ...

    def close(self) -> None:
        """Free memory. Safe to call twice."""
        ...


@runtime_checkable
class Remarking(Protocol):
    """A model with notes for the user after loading."""

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes: where and how it computes, and what it lacks."""
        ...


@runtime_checkable
class Learning(Protocol):
    """A stand-in whose answers depend on which statement a prompt is about."""

    def learn(self, statements: Sequence[Statement], sides: Mapping[str, str]) -> None:
        """Learn an instrument's statements: the side of each, and which wordings reverse it.

        `sides` maps the ref of a question to the pole that a yes leans to.
        """
        ...


@runtime_checkable
class Windowed(Protocol):
    """A model that knows the lengths of prompts, and its own limit, before it is asked.

    Both are in tokens.
    """

    @property
    def window(self) -> int | None:
        """The most tokens of a prompt and its continuation together, or None without a limit."""
        ...

    def lengths(self, prompts: Sequence[Prompt]) -> Sequence[int]:
        """Return the number of tokens of each prompt in the model's own chat format."""
        ...


@runtime_checkable
class Adjustable(Protocol):
    """A model whose parallelism can be changed while it answers, from another thread."""

    def limit_parallel(self, most: int | None) -> None:
        """Limit the number of parallel calls, or rows of a batch.

        None restores the initial limit. Active ones continue.
        """
        ...


@runtime_checkable
class Reachable(Protocol):
    """A model on a server, which may be down for a while."""

    @property
    def waiting(self) -> str:
        """The reason for waiting while its server is down, for any thread.

        It is empty while the server answers.
        """
        ...


@runtime_checkable
class Configured(Protocol):
    """A model whose probabilities depend on more than the prompt."""

    def score_with(self, sampling: Sampling) -> None:
        """Compute later probabilities with the further fields and the thinking of a sampling.

        Raises ModelError if the model does not support them.
        """
        ...


@runtime_checkable
class Thinking(Protocol):
    """A model that counts the tokens of its thoughts."""

    @property
    def thinking_tokens(self) -> int:
        """The number of tokens of thoughts so far."""
        ...


@runtime_checkable
class Asking(Protocol):
    """A served model that adapts its requests to refusals."""

    @property
    def asked(self) -> Mapping[str, str]:
        """Its dialect and the refusals so far: parameter -> the server's words."""
        ...


@runtime_checkable
class Metered(Protocol):
    """A model whose answers cost something."""

    def meter(self) -> Mapping[str, float]:
        """Return the usage so far, by name.

        It has `requests`, `tokens_in` and `tokens_out`, the current and largest limits of parallel
        calls, `at_once` and `at_once_most`, and, if known, `cost` and the limits `max_requests`,
        `max_tokens`, `max_cost`. What earlier attempts at the job spent is part of it, and named
        `tokens_in_before`, `tokens_out_before`, `cost_before`.
        """
        ...

    def carry(self, spent: Mapping[str, float]) -> None:
        """Count what earlier attempts at a job spent. `spent` is the last result of `meter`."""
        ...


@runtime_checkable
class OnGpus(Protocol):
    """A model that may use GPUs of this machine."""

    @property
    def gpus(self) -> tuple[int, ...] | None:
        """The CUDA numbers of its GPUs.

        Empty if it computes elsewhere, None if it may use all of them.
        """
        ...


@runtime_checkable
class Changing(Protocol):
    """A served model whose name may be redirected to another model while it answers.

    If that happens, `generate`, `score` and `next_tokens` start no further call and end when the
    active calls have returned. Then `card` names the new snapshot, and the missing answers can be
    asked of it.
    """

    @property
    def answerers(self) -> Sequence[Answerer]:
        """The answers and usage of each snapshot."""
        ...

    @property
    def fingerprints(self) -> Mapping[str, int]:
        """The number of answers under each `system_fingerprint`."""
        ...

    @property
    def turns(self) -> Sequence[tuple[str, str]]:
        """The changes of the answering snapshot: (before, after)."""
        ...

    def expect(self, snapshot: str, *, asked: bool) -> None:
        """Set the snapshot that answered before.

        `asked`: in the same job. See `served.behaviour`.
        """
        ...


@runtime_checkable
class Doubtful(Protocol):
    """A model that may not draw its answers as it is asked to."""

    def undrawn(self, sampling: Sampling) -> str:
        """Return the reason why answers are not drawn, with advice, after asking an open prompt.

        The prompt is asked a few times. The result is empty if answers are drawn, or it is
        inconclusive.
        """
        ...


@runtime_checkable
class Batching(Protocol):
    """A served model that can be asked in batches."""

    def use_batches(self, ledger: BatchLedger) -> None:
        """Draw later answers in batches.

        Raises ModelError if the endpoint does not take batches.
        """
        ...

    def cancel_batch(self, sent: SentBatch) -> SentBatch:
        """Cancel a batch, even of another process, and return its state. Raises ModelError."""
        ...


@runtime_checkable
class Interruptible(Protocol):
    """A model that can leave long answers unfinished."""

    def stop_when(self, should_stop: Callable[[], bool]) -> None:
        """End later calls of `generate`, and drop answers under way, once `should_stop` is true."""
        ...


@runtime_checkable
class Unhurried(Protocol):
    """A model whose active calls cost money even if their answers are not awaited."""

    def wind_down(self) -> None:
        """Start no further calls, so that `generate` ends when the active calls have returned."""
        ...


READ_EVERY_S = 5.0
"a reading takes some tens of milliseconds"
TIMEOUT_S = 5.0
FIELDS = ("index", "name", "memory.used", "memory.total", "utilization.gpu")
MIB = 1024 * 1024


def read_gpus(environ: Mapping[str, str] = os.environ) -> tuple[Gpu, ...]:
    """Return the load of each GPU that this process may use.

    It is empty if there is none, or it cannot be read.
    """
    program = shutil.which("nvidia-smi", path=environ.get("PATH"))
    if program is None:
        return ()
    command = [program, f"--query-gpu={','.join(FIELDS)}", "--format=csv,noheader,nounits"]
    try:
        process = subprocess.run(
            command, capture_output=True, text=True, timeout=TIMEOUT_S, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return ()
    gpus = [gpu for line in process.stdout.splitlines() if (gpu := _parse_gpu(line)) is not None]
    visible = environ.get("CUDA_VISIBLE_DEVICES", "").replace(" ", "")
    if visible and all(number.isdecimal() for number in visible.split(",")):
        device_numbers = list(map(int, visible.split(",")))
        return tuple(
            replace(gpu, index=device_numbers.index(gpu.index))
            for gpu in gpus
            if gpu.index in device_numbers
        )
    return tuple(gpus)


def _parse_gpu(line: str) -> Gpu | None:
    """Return the GPU of a line, or None if it has no figures. Some cards report `[N/A]`."""
    fields = [field.strip() for field in line.split(",")]
    if len(fields) != len(FIELDS):
        return None
    index, name, used, total, busy = fields
    try:
        share = float(busy) / 100 if busy.replace(".", "", 1).isdecimal() else 0.0
        return Gpu(int(index), name, int(used) * MIB, int(total) * MIB, share)
    except ValueError:
        return None


@dataclass(slots=True)
class GpuWatch:
    """A reader of the load of a model's GPUs at intervals."""

    before: int = 0
    "tokens that the model had computed when the attempt started"
    read_at: float = float("-inf")
    found: tuple[Gpu, ...] = ()

    @classmethod
    def of(cls, model: Model) -> GpuWatch:
        return cls(tokens_of(model))

    def look(self, model: Model, seconds: float) -> Sequence[Gpu]:
        """Return the GPUs of a model, with its tokens per second since the attempt started."""
        if not isinstance(model, OnGpus) or (device_numbers := model.gpus) == ():
            return ()
        if time.monotonic() - self.read_at >= READ_EVERY_S:
            self.read_at = time.monotonic()
            self.found = tuple(
                gpu for gpu in read_gpus() if device_numbers is None or gpu.index in device_numbers
            )
        tokens_a_second = (tokens_of(model) - self.before) / seconds if seconds > 0 else 0.0
        return tuple(replace(gpu, tokens_a_second=round(tokens_a_second, 1)) for gpu in self.found)


def tokens_of(model: Model) -> int:
    """Return the number of tokens that a model has processed, of prompts and of answers."""
    work = model.work
    if computed := work.prompt_tokens_computed + work.sampled_tokens_computed:
        return computed
    if isinstance(model, Metered):
        usage = model.meter()
        return int(usage.get("tokens_in", 0) + usage.get("tokens_out", 0))
    return 0
