"""Write what command lines store and say, to be compared before and after the code moves.

    python -m tests.dump_commands STORE FOLDER

For each verb that starts jobs there is a line without options, and a line for each value of each
option. A line runs on a copy of the store; its job is queued, and no worker starts. The files have
the exit code, the output, the stored specification of the job, and the command that starts a job
like it. `diff -r` of two folders shows what changed.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from stores.core.store import Store
from stores.jobs.job_rows import Job
from workbench.cli.jobs import _arguments as arguments_of
from workbench.cli.main import main, workbench
from workbench.errors import UsageError
from workbench.jobs import launch
from workbench.options.option import Option, Type

ABOUT = ("--instrument", "veldania")
BASES: dict[str, tuple[str, ...]] = {
    "run": (*ABOUT, "--model", "scripted", "--yes", "--no-probe", "--detach"),
    "draft": (*ABOUT, "--model", "smollm2", "--kind", "paraphrase", "--yes", "--detach"),
    "train": ("--name", "stance", "--yes", "--detach"),
    "classify": ("--detach",),
    "check": (*ABOUT, "--yes", "--detach"),
}
"verb -> the words that every line of it begins with, after the store"
LEFT_OUT = {"store", "help", "yes", "detach", "json", "plan", "cluster"}
"options that have nothing to do with the specification, or need a file or a machine of their own"
TEXTS = {
    "audit": ("reliability", "bias_score", "response_bias", "questionnaire", "nothing"),
    "instrument": ("veldania", "nothing"),
    "language": ("en", "de"),
    "statements": ("3", "eco-01,law-01", "nothing"),
    "variants": ("original", "original,negation"),
    "templates": ("2", "personal-2", "nothing"),
    "family": ("user", "chat", "nothing"),
    "conditions": ("qm", "all", "nothing"),
    "kind": ("paraphrase", "negation,opposite", "nothing"),
    "base": ("minilm", "nothing/here"),
    "model": ("scripted", "scripted:steady"),
    "chat_format": ("none",),
    "thinking": ("off", "low", "40"),
    "temperature": ("0", "0.5", "hot"),
    "top_p": ("0.5", "2"),
    "top_k": ("5", "0"),
}
"option -> values, beside those of its type and its choices; the last ones are often faults"
BY_TYPE = {
    Type.TEXT: ("some", ""),
    Type.WHOLE: ("1", "7", "-1", "many"),
    Type.NUMBER: ("0.25", "-1", "much"),
    Type.PATH: ("nothing.toml",),
}
PASSING = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?( UTC|\+00:00)?")
"what differs between two runs of the same line: the time"


@dataclass
class Outcome:
    """What one command line did."""

    line: tuple[str, ...]
    code: int
    said: str
    jobs: list[dict[str, object]] = field(default_factory=list)


def values(option: Option) -> Sequence[tuple[str, ...]]:
    """Return the words of an option's values, beginning with its flag."""
    if option.type is Type.FLAG:
        return [(option.flag,)]
    texts = [*option.choices, *TEXTS.get(option.name, BY_TYPE.get(option.type, ()))]
    return [(option.flag, text) for text in dict.fromkeys(texts)]


def lines(verb: str) -> Iterator[tuple[str, ...]]:
    """Yield the words after the store of each command line of a verb."""
    base = BASES[verb]
    yield base
    command = workbench().get_command(click.Context(workbench()), verb)
    assert command is not None, verb
    for option in command.verb.options:
        if option.name in LEFT_OUT or option.positional:
            continue
        for words in values(option):
            kept = [pair for pair in _pairs(base) if pair[0] != words[0]]
            yield tuple(word for pair in kept for word in pair) + words


def _pairs(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield flags with their values."""
    pending: tuple[str, ...] = ()
    for word in words:
        if word.startswith("--"):
            if pending:
                yield pending
            pending = (word,)
        else:
            pending = (*pending, word)
    if pending:
        yield pending


def outcome(store: Path, verb: str, words: Sequence[str]) -> Outcome:
    """Run a command line on a copy of a store, without a worker."""
    with TemporaryDirectory() as folder:
        copy = Path(shutil.copy(store, Path(folder) / "store.db"))
        with Store.open(copy) as opened:
            before = {job.id for job in opened.jobs.list()}
        text = io.StringIO()
        with contextlib.redirect_stdout(text), contextlib.redirect_stderr(text):
            code = main([verb, str(copy), *words])
        with Store.open(copy) as opened:
            jobs = [job for job in opened.jobs.list() if job.id not in before]
            made = [
                {
                    "kind": job.kind,
                    "total": job.total,
                    "spec": dict(job.spec),
                    "again": command_like(opened, job),
                }
                for job in jobs
            ]
    said = PASSING.sub("TIME", text.getvalue().replace(folder, "FOLDER"))
    return Outcome(tuple(words), code, said, made)


def command_like(store: Store, job: Job) -> list[str]:
    """Return the words after the store of the command that starts a job like this one."""
    try:
        verb, _, *words = arguments_of(store, job)
    except UsageError as error:
        return [str(error)]
    return [verb, *words]


def write(store: Path, folder: Path) -> None:
    """Write the outcomes of all lines, a file for each verb."""
    launch.spawn = lambda path, job_id: 0
    folder.mkdir(parents=True, exist_ok=True)
    for verb in BASES:
        found = [vars(outcome(store, verb, words)) for words in lines(verb)]
        text = json.dumps(found, indent=1, ensure_ascii=False, sort_keys=True, default=str)
        (folder / f"{verb}.json").write_text(text + "\n", encoding="utf-8")
        print(f"{verb}: {len(found)} lines, {sum(bool(one['jobs']) for one in found)} jobs")


if __name__ == "__main__":
    write(*map(Path, sys.argv[1:3]))
