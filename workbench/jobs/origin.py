"""Where a job was created: a store may come from somebody else, and whoever resumes a job of it lends it their keys.

A job carries a mark that only this installation can make: a keyed hash of what the job does, under a secret in the
user's configuration folder. The secret is in no store, so nobody who has a copy of a store can mark a job of their own,
or change what a marked job asks and whom.
"""

from __future__ import annotations

import hmac
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from stores.jobs.job_rows import Job
from stores.jobs.jobs import spec_text
from workbench.errors import JobError, WorkbenchError
from workbench.inference.served.address import ENDPOINT_HOSTS, parse_address
from workbench.inference.served.budget import budget_from
from workbench.inference.served.reply import brief
from workbench.pipeline.design_checks import launched, served

SECRET_BYTES = 32
CONSENT = "WORKBENCH_CONSENT"
"environment variable of a worker: the job that a person let go on, see `consent`"
DOERS = ("model", "encoder", "nli", "classifier")
"keys of a job's specification that name a model"


class ElsewhereError(JobError):
    """A job was created elsewhere, and nobody has agreed that it goes on here."""

    exit_code = 2

    def __init__(self, job: int, about: str):
        super().__init__(f"{about}\nNothing was asked. To continue it: workbench jobs STORE resume {job} --yes")
        self.about = about


@dataclass(frozen=True, slots=True)
class Installation:
    """One user on one machine, or on machines that share a home folder."""

    secret: bytes
    "empty: none could be kept, so that no job counts as created here"

    def mark(self, uid: bytes, kind: str, spec: Mapping[str, object]) -> str:
        """Return the mark of a job that is created here."""
        said = b"\0".join([uid, kind.encode(), spec_text(spec).encode("utf-8", "surrogatepass")])
        return hmac.digest(self.secret, said, "sha256").hex() if self.secret else ""

    def made(self, job: Job) -> bool:
        """Return whether a job was created here, or let go on here by a person."""
        return bool(self.secret) and hmac.compare_digest(
            job.mark.encode(), self.mark(bytes.fromhex(job.uid), job.kind, job.spec).encode()
        )


def here(environ: Mapping[str, str] = os.environ) -> Installation:
    """Return this installation, making its secret at the first call. Where the folder cannot be written it has none."""
    path = config_folder(environ) / "installation"
    try:
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            made = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
            with os.fdopen(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                file.write(secrets.token_hex(SECRET_BYTES))
            try:
                os.link(made, path)  # the first of two that begin at once wins
            except FileExistsError:
                pass
            finally:
                made.unlink()
        secret = bytes.fromhex(path.read_text().strip())
    except (OSError, ValueError):
        return Installation(b"")
    return Installation(secret if len(secret) == SECRET_BYTES else b"")


def config_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Return where a user's own files are: $WORKBENCH_CONFIG, $XDG_CONFIG_HOME/workbench or ~/.config/workbench."""
    if chosen := environ.get("WORKBENCH_CONFIG"):
        return Path(chosen)
    return Path(environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "workbench"


def consent(path: Path, job: int) -> str:
    """Return what tells a worker that a person let this job go on."""
    return f"{path.resolve()} {job}"


def allowed(path: Path, job: Job, environ: Mapping[str, str] = os.environ) -> bool:
    """Return whether a worker may take a job: it was created here, or a person let this worker have it."""
    return environ.get(CONSENT) == consent(path, job.id) or here(environ).made(job)


def about(job: Job, environ: Mapping[str, str] = os.environ) -> str:
    """Say, before a job from elsewhere goes on, whom it asks, with whose key, and what may be spent."""
    lines = [f"Job {job.id} was created elsewhere: by another user, on another machine, or before jobs were marked."]
    for name in (str(job.spec[key]) for key in DOERS if job.spec.get(key)):
        lines += [f"model   {brief(name)}", f"host    {_host(name, environ)}"]
        lines += [f"budget  {_budget(environ)}"] if served(name) else []
    return "\n".join([*lines, f"left    {max(0, job.total - job.done):,} of {job.total:,}"])


def _host(model: str, environ: Mapping[str, str]) -> str:
    """Say where a model is asked, and whether the host sees a key."""
    if not served(model) or launched(model):
        return "this machine"
    try:
        address = parse_address(model, environ)
    except WorkbenchError as error:
        return f"none ({error})"
    held = bool(environ.get(address.key_variable, "").strip())
    if not address.trusted:
        return f"{address.host}:{address.port}, which gets no key (${ENDPOINT_HOSTS} does not list it)"
    return f"{address.host}:{address.port}, which gets " + (
        f"${address.key_variable}" if held else "no key: none is set"
    )


def _budget(environ: Mapping[str, str]) -> str:
    try:
        return budget_from(environ).limits()
    except WorkbenchError as error:
        return str(error)
