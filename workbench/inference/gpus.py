"""The load of this machine's GPUs, read from `nvidia-smi`, including servers in other processes."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from workbench.domain.gpus import Gpu
from workbench.inference.base import Metered, Model, OnGpus

READ_EVERY_S = 5.0
"a reading takes some tens of milliseconds"
TIMEOUT_S = 5.0
FIELDS = ("index", "name", "memory.used", "memory.total", "utilization.gpu")
MIB = 1024 * 1024


def read_gpus(environ: Mapping[str, str] = os.environ) -> tuple[Gpu, ...]:
    """Return the load of each GPU that this process may use; empty if there is none or it cannot be read."""
    program = shutil.which("nvidia-smi", path=environ.get("PATH"))
    if program is None:
        return ()
    command = [program, f"--query-gpu={','.join(FIELDS)}", "--format=csv,noheader,nounits"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=True)
    except (OSError, subprocess.SubprocessError):
        return ()
    found = [gpu for line in done.stdout.splitlines() if (gpu := _read(line)) is not None]
    seen = environ.get("CUDA_VISIBLE_DEVICES", "").replace(" ", "")
    if seen and all(part.isdecimal() for part in seen.split(",")):
        places = list(map(int, seen.split(",")))
        return tuple(replace(gpu, index=places.index(gpu.index)) for gpu in found if gpu.index in places)
    return tuple(found)


def _read(line: str) -> Gpu | None:
    """Return the GPU of a line, None if it has no figures: some cards report `[N/A]`."""
    parts = [part.strip() for part in line.split(",")]
    if len(parts) != len(FIELDS):
        return None
    index, name, used, total, busy = parts
    try:
        share = float(busy) / 100 if busy.replace(".", "", 1).isdecimal() else 0.0
        return Gpu(int(index), name, int(used) * MIB, int(total) * MIB, share)
    except ValueError:
        return None


@dataclass(slots=True)
class GpuWatch:
    """Reads the load of a model's GPUs at intervals."""

    before: int = 0
    "tokens that the model had computed when the attempt started"
    read_at: float = float("-inf")
    found: tuple[Gpu, ...] = ()

    @classmethod
    def of(cls, model: Model) -> GpuWatch:
        return cls(tokens_of(model))

    def look(self, model: Model, seconds: float) -> Sequence[Gpu]:
        """Return the GPUs that a model uses, with the tokens per second since the attempt started."""
        if not isinstance(model, OnGpus) or (places := model.gpus) == ():
            return ()
        if time.monotonic() - self.read_at >= READ_EVERY_S:
            self.read_at = time.monotonic()
            self.found = tuple(gpu for gpu in read_gpus() if places is None or gpu.index in places)
        pace = (tokens_of(model) - self.before) / seconds if seconds > 0 else 0.0
        return tuple(replace(gpu, tokens_a_second=round(pace, 1)) for gpu in self.found)


def tokens_of(model: Model) -> int:
    """Return the number of tokens that a model has processed, of prompts and of answers."""
    work = model.work
    if computed := work.prompt_tokens_computed + work.sampled_tokens_computed:
        return computed
    if isinstance(model, Metered):
        told = model.meter()
        return int(told.get("tokens_in", 0) + told.get("tokens_out", 0))
    return 0
