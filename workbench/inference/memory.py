"""The free memory of a network's device, and the errors that mean that memory ran out.

Batch sizes adapt to free memory and shrink on such errors. A model that cannot fit is refused
before it is loaded.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

PROC, CGROUP = Path("/proc"), Path("/sys/fs/cgroup")
NO_MEMORY = re.compile(
    r"out of memory|not enough memory|can'?t allocate memory|cannot allocate "
    r"memory|\bCUBLAS_STATUS_ALLOC_FAILED"
    r"|failed to allocate|std::bad_alloc|\bbad allocation",
    re.IGNORECASE,
)
"messages of RuntimeErrors from PyTorch's allocators and the libraries below them"


def free_bytes(device: torch.device) -> int:
    """Return the number of further bytes that a network on this device may take.

    CUDA: the free memory of the driver plus PyTorch's unused cache. CPU: the memory available
    without swapping, within the limits of this process's control groups (containers, Slurm). If the
    system does not report free memory, it is the total memory of the machine.
    """
    if device.type == "cuda":
        import torch

        free, _ = torch.cuda.mem_get_info(device)
        return int(free + torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device))
    return max(0, min(_available(), _group_left()))


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether an error means that memory ran out, on a GPU or on the CPU."""
    import torch

    if isinstance(error, MemoryError | torch.OutOfMemoryError):
        return True
    if isinstance(error, OSError):
        return error.errno == 12  # ENOMEM, when weights are mapped from a file
    return isinstance(error, RuntimeError) and NO_MEMORY.search(str(error)) is not None


def readable(size: int) -> str:
    """Return a size in bytes as readable text.

    Examples
    --------
    >>> readable(16_060_522_496), readable(540_000_000), readable(12_000)
    ('16.1 GB', '540 MB', '0 MB')
    """
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"


def _available() -> int:
    try:
        for line in (PROC / "meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return sys.maxsize


def _group_left() -> int:
    """Return the free memory of the tightest of this process's control groups.

    Cached files count as free.
    """
    free = sys.maxsize
    for folder, limit, usage in _groups():
        maximum, used = _number(folder / limit), _number(folder / usage)
        if maximum is not None and used is not None:
            free = min(free, maximum - used + _file_cache(folder))
    return free


def _groups() -> list[tuple[Path, str, str]]:
    """Return the folders of this process's memory groups, with the names of their two files.

    They go upwards to the root.
    """
    try:
        lines = (PROC / "self" / "cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
    groups: list[tuple[Path, str, str]] = []
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if not controllers:  # control groups of version 2
            root, names = CGROUP, ("memory.max", "memory.current")
        elif "memory" in controllers.split(","):
            root, names = CGROUP / "memory", ("memory.limit_in_bytes", "memory.usage_in_bytes")
        else:
            continue
        inner = Path(path.lstrip("/"))
        groups += [(root / folder, *names) for folder in (inner, *inner.parents)]
    return groups


def _number(path: Path) -> int | None:
    """Return the number in a file of a control group, or None if there is none or it is `max`."""
    try:
        return int(path.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None


def _file_cache(folder: Path) -> int:
    """Return the bytes of a group's cached files that were not used recently."""
    try:
        lines = (folder / "memory.stat").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    pairs = dict(line.split()[:2] for line in lines if " " in line)
    return int(pairs.get("total_inactive_file", pairs.get("inactive_file", "0")))
