"""Checks the free disk space, so that a job ends cleanly before the disk is full."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from workbench.errors import StoreError, UsageError

LEAST_MB = 200
"megabytes that must stay free, unless $WORKBENCH_MIN_FREE_MB is set"
VARIABLE = "WORKBENCH_MIN_FREE_MB"

Probe = Callable[[Path], int]
"folder -> bytes that the user may still write there"


def free_bytes(folder: Path) -> int:
    """Return the bytes that may still be written in a folder."""
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize


def shortage(store: Path, free: Probe = free_bytes, environ: Mapping[str, str] = os.environ) -> str:
    """Return a message if the disk space for a store is too low, "" if there is enough or it is unknown."""
    folder = store.resolve().parent
    least = _least_mb(environ)
    try:
        left = free(folder) / 1e6
    except OSError:
        return ""
    if left >= least:
        return ""
    return f"only {left:,.0f} MB are free in {folder}, and {least:,.0f} MB are to stay free (${VARIABLE})"


def check_room(store: Path, free: Probe = free_bytes, environ: Mapping[str, str] = os.environ) -> None:
    """Raise StoreError if there is too little disk space to start."""
    if short := shortage(store, free, environ):
        raise StoreError(f"{short}. Free some space, or lower the limit; nothing was started.")


def _least_mb(environ: Mapping[str, str]) -> float:
    text = environ.get(VARIABLE, "").strip()
    if not text:
        return LEAST_MB
    try:
        least = float(text)
    except ValueError:
        least = -1.0
    if not 0 <= least < float("inf"):
        raise UsageError(f"${VARIABLE} is {text!r}; give a number of megabytes, 0 or more")
    return least
