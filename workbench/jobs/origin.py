"""Checks where jobs come from, since resuming a job uses the user's own keys.

A store may come from another person. A job has a mark that only this installation can create: a
keyed hash of its specification, with a secret in the user's configuration folder. The secret is in
no store, so a person with a copy of a store can neither mark their own jobs nor change a marked
job.
"""

from __future__ import annotations

import hmac
import os
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from stores.jobs.job_rows import Job
from stores.jobs.jobs import spec_text
from workbench.errors import JobError, StoreError, UsageError, WorkbenchError
from workbench.inference.served.address import ENDPOINT_HOSTS, parse_address
from workbench.inference.served.budget import budget_from
from workbench.inference.served.reply import brief
from workbench.pipeline.design_checks import launched, served

SECRET_BYTES = 32
CONSENT = "WORKBENCH_CONSENT"
"environment variable of a worker: the job that a person approved, see `consent`"
DOERS = ("model", "encoder", "nli", "classifier")
"keys of a job's specification that name a model"


class ElsewhereError(JobError):
    """A job was created elsewhere, and no person here has approved it."""

    exit_code = 2

    def __init__(self, job: int, about: str):
        super().__init__(
            f"{about}\nNothing was asked. To continue it: workbench jobs STORE resume {job} --yes"
        )
        self.about = about


@dataclass(frozen=True, slots=True)
class Installation:
    """One user on one machine, or on machines that share a home folder."""

    secret: bytes
    "empty if it could not be stored, so no job counts as created here"

    def mark(self, uid: bytes, kind: str, spec: Mapping[str, object]) -> str:
        """Return the mark of a job that is created here."""
        content = b"\0".join([uid, kind.encode(), spec_text(spec).encode("utf-8", "surrogatepass")])
        return hmac.digest(self.secret, content, "sha256").hex() if self.secret else ""

    def made(self, job: Job) -> bool:
        """Return whether a job was created here, or approved here by a person."""
        return bool(self.secret) and hmac.compare_digest(
            job.mark.encode(), self.mark(bytes.fromhex(job.uid), job.kind, job.spec).encode()
        )


def here(environ: Mapping[str, str] = os.environ) -> Installation:
    """Return this installation, creating its secret on the first call.

    It has no secret if the folder cannot be written.
    """
    path = config_folder(environ) / "installation"
    try:
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
            with os.fdopen(
                os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w"
            ) as file:
                file.write(secrets.token_hex(SECRET_BYTES))
            try:
                os.link(temporary, path)  # if two start at the same time, the first one wins
            except FileExistsError:
                pass
            finally:
                temporary.unlink()
        secret = bytes.fromhex(path.read_text().strip())
    except (OSError, ValueError):
        return Installation(b"")
    return Installation(secret if len(secret) == SECRET_BYTES else b"")


def config_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the user's configuration folder.

    It is $WORKBENCH_CONFIG, $XDG_CONFIG_HOME/workbench or ~/.config/workbench.
    """
    if folder := environ.get("WORKBENCH_CONFIG"):
        return Path(folder)
    return Path(environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "workbench"


def consent(path: Path, job: int) -> str:
    """Return the value that tells a worker that a person approved this job."""
    return f"{path.resolve()} {job}"


def allowed(path: Path, job: Job, environ: Mapping[str, str] = os.environ) -> bool:
    """Return whether a worker may take a job.

    It may if the job was created here, or a person approved it for this worker.
    """
    return environ.get(CONSENT) == consent(path, job.id) or here(environ).made(job)


def about(job: Job, environ: Mapping[str, str] = os.environ) -> str:
    """Return the description by which a person approves a job from elsewhere.

    It says whom the job asks, with which key, and what it may cost.
    """
    lines = [
        f"Job {job.id} was created elsewhere: by another user, on another machine, or before "
        "jobs were marked."
    ]
    for name in (str(job.spec[key]) for key in DOERS if job.spec.get(key)):
        lines += [f"model   {brief(name)}", f"host    {_host(name, environ)}"]
        lines += [f"budget  {_budget(environ)}"] if served(name) else []
    return "\n".join([*lines, f"left    {max(0, job.total - job.done):,} of {job.total:,}"])


def _host(model: str, environ: Mapping[str, str]) -> str:
    """Return the host that is asked for a model, and whether it sees a key."""
    if not served(model) or launched(model):
        return "this machine"
    try:
        address = parse_address(model, environ)
    except WorkbenchError as error:
        return f"none ({error})"
    has_key = bool(environ.get(address.key_variable, "").strip())
    if not address.trusted:
        return (
            f"{address.host}:{address.port}, which gets no key (${ENDPOINT_HOSTS} does not list it)"
        )
    return f"{address.host}:{address.port}, which gets " + (
        f"${address.key_variable}" if has_key else "no key: none is set"
    )


def _budget(environ: Mapping[str, str]) -> str:
    try:
        return budget_from(environ).limits()
    except WorkbenchError as error:
        return str(error)


LEAST_MB = 200
"megabytes that must stay free, unless $WORKBENCH_MIN_FREE_MB is set"
VARIABLE = "WORKBENCH_MIN_FREE_MB"

Probe = Callable[[Path], int]
"folder -> bytes that the user may still write there"


def free_bytes(folder: Path) -> int:
    """Return the bytes that may still be written in a folder."""
    stats = os.statvfs(folder)
    return stats.f_bavail * stats.f_frsize


def shortage(store: Path, free: Probe = free_bytes, environ: Mapping[str, str] = os.environ) -> str:
    """Return a message if the disk space for a store is too low.

    It is empty if there is enough space, or the free space is unknown.
    """
    folder = store.resolve().parent
    least_mb = _least_mb(environ)
    try:
        free_mb = free(folder) / 1e6
    except OSError:
        return ""
    if free_mb >= least_mb:
        return ""
    return (
        f"only {free_mb:,.0f} MB are free in {folder}, and {least_mb:,.0f} MB are to stay free "
        f"(${VARIABLE})"
    )


def check_room(
    store: Path, free: Probe = free_bytes, environ: Mapping[str, str] = os.environ
) -> None:
    """Raise StoreError if there is too little disk space to start."""
    if short := shortage(store, free, environ):
        raise StoreError(f"{short}. Free some space, or lower the limit; nothing was started.")


def _least_mb(environ: Mapping[str, str]) -> float:
    text = environ.get(VARIABLE, "").strip()
    if not text:
        return LEAST_MB
    try:
        least_mb = float(text)
    except ValueError:
        least_mb = -1.0
    if not 0 <= least_mb < float("inf"):
        raise UsageError(f"${VARIABLE} is {text!r}; give a number of megabytes, 0 or more")
    return least_mb
