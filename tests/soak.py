"""An hour of everything at once, from one seed: `make soak`, or `python -m tests.soak MINUTES SEED
FOLDER`.

Jobs, annotators, rulings, merges, reports and exports run on one store, each a process of its own;
at random moments one is killed, finds the disk full, or has a clock that jumped. After every round
what must hold is checked: nothing that was said to be stored is lost, nothing is there twice, the
file is whole, and nothing is left lying about.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
QUEUE = "soak"
LABELS = ("agree", "disagree", "neutral", "unrelated")
ACTS = ("annotate", "annotate", "annotate", "rule", "job", "report", "export", "merge")
KILLED, FULL, JUMPED = 0.4, 0.1, 0.2
"""shares of the processes that are killed, meet a full disk, or, of people, have a clock that is a
day off"""
ALLOWED = (".db", ".db-wal", ".db-shm", ".db.logs")


# ── what the processes do ─────────────────────────────────────────────────────────────────────────


def annotate(path: Path, name: str, seed: int, said: Path) -> None:
    """Label until there is nothing left, and note every label once it is stored."""
    from stores.annotation.annotator import Annotator
    from workbench.errors import WorkbenchError

    rng = np.random.default_rng(seed)
    with Annotator.open(path, QUEUE, name) as annotator, said.open("a", encoding="utf-8") as notes:
        while (item := annotator.next()) is not None:
            label = str(rng.choice(LABELS))
            try:
                annotator.label(item.unit, label)
            except WorkbenchError as error:
                print(error, file=sys.stderr)
                return
            notes.write(json.dumps([item.unit, name, label]) + "\n")
            notes.flush()
            os.fsync(notes.fileno())


def rule(path: Path, name: str, seed: int, said: Path) -> None:
    """Rule on statements, and note every ruling once it is stored."""
    from stores.core.store import Store
    from workbench.domain.rulings import Ruled, RulingVerdict, Subject

    rng = np.random.default_rng(seed)
    with Store.open(path) as store, said.open("a", encoding="utf-8") as notes:
        refs = [line.ref for line in store.instruments.lines("veldania")]
        for ref in rng.permutation(refs):
            subject = Subject(
                Ruled.STATEMENT, {"instrument": "veldania", "statement": str(ref), "version": "1"}
            )
            made = store.rulings.rule(subject, RulingVerdict.CONFIRMED, auditor=name, reason="soak")
            notes.write(json.dumps(made.uid.hex()) + "\n")
            notes.flush()
            os.fsync(notes.fileno())
            time.sleep(float(rng.random()) / 20)


def jumped(seed: int) -> None:
    """Let the clock of this process be a day off."""
    from stores.core import base

    real, by = base._written, timedelta(days=1 if seed % 2 else -1)
    base._written = lambda moment: real(moment + by)


def limited() -> None:
    """Let files of this process grow by a little only: a disk that is full."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (2**21, 2**21))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)


# ── the rounds ────────────────────────────────────────────────────────────────────────────────────


class Soak:
    """One store, and everything that happens to it."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.path = folder, folder / "soak.db"
        self.rng = np.random.default_rng(seed)
        self.done: Counter[str] = Counter()
        self.faults: list[str] = []
        self.said = {name: folder / f"{name}.jsonl" for name in ("annotate", "rule")}

    def begin(self) -> None:
        """Make a store with answers, and a queue of them."""
        self.shell("import", self.path, ROOT / "data/instruments/veldania")
        self.shell(
            "run",
            self.path,
            "--audit",
            "bias_score",
            "--model",
            "scripted:left",
            "--yes",
            "--no-probe",
        )
        self.shell(
            "sample",
            self.path,
            "--name",
            QUEUE,
            "--purpose",
            "training",
            "--per-stratum",
            "200",
            "--labels",
            "5",
        )
        for file in self.said.values():
            file.touch()

    def shell(self, *words: object) -> None:
        made = subprocess.run(
            [sys.executable, "-m", "workbench", *map(str, words)],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        if made.returncode:
            raise SystemExit(f"{words}: {made.stderr}")

    def round(self) -> None:
        """Let two to four processes run at once, and look at what they left."""
        under_way = []
        for number in range(int(self.rng.integers(2, 5))):
            act, seed = str(self.rng.choice(ACTS)), int(self.rng.integers(2**31))
            how = self.rng.random()
            kind = "killed" if how < KILLED else "full" if how < KILLED + FULL else "whole"
            off = self.rng.random() < JUMPED and act in self.said
            under_way.append(
                (act, kind, self.start(act, number, seed, full=kind == "full", off=off))
            )
            self.done[f"{act}, {kind}{', clock off' if off else ''}"] += 1
        for act, kind, process in under_way:
            if kind == "killed":
                time.sleep(float(self.rng.random()) * 3)
                os.killpg(process.pid, signal.SIGKILL)
                if act == "job":
                    self.kill_workers()
            try:
                _, err = process.communicate(timeout=300)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                self.faults.append(f"{act} hung")
                continue
            if "Traceback" in err and kind != "full":
                self.faults.append(f"{act}, {kind}: {err.strip().splitlines()[-1]}")
        self.check()

    def start(
        self, act: str, number: int, seed: int, *, full: bool, off: bool
    ) -> subprocess.Popen[str]:
        folder = self.folder / f"out-{seed}"
        words: dict[str, list[object]] = {
            "job": [
                *(
                    "run",
                    self.path,
                    "--audit",
                    ("reliability", "bias_score")[seed % 2],
                    "--yes",
                    "--no-probe",
                ),
                *(
                    "--model",
                    f"scripted:{('left', 'steady', 'yes-sayer')[seed % 3]}",
                    "--samples",
                    str(2 + seed % 5),
                ),
            ],
            "report": ["report", self.path, folder],
            "export": ["export", self.path, folder],
            "merge": ["labels", self.path, "--merge", self.copy(seed)] if act == "merge" else [],
        }
        own = [
            sys.executable,
            "-m",
            "tests.soak",
            act,
            self.path,
            f"p{number}",
            seed,
            self.said.get(act, ""),
            int(off),
        ]
        command = own if act in self.said else [sys.executable, "-m", "workbench", *words[act]]
        return subprocess.Popen(
            [str(word) for word in command],
            cwd=ROOT,
            text=True,
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            preexec_fn=limited if full else None,
        )

    def kill_workers(self) -> None:
        """Kill the workers of jobs, which live on when the shell that started them is gone."""
        with closing(sqlite3.connect(self.path)) as store:
            pids = [
                pid for (pid,) in store.execute("select pid from attempt where ended_at is null")
            ]
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def end(self) -> None:
        """Resume what lost its worker, and look whether every answer is there once."""
        from stores.core.store import Store
        from tests.jobs.test_jobs import draws_agree_with_responses

        with Store.open(self.path) as store:
            lost = [
                job.id for job in store.jobs.list() if job.state in ("lost", "failed", "cancelled")
            ]
        for job in lost:
            self.shell("jobs", self.path, "resume", job)
            self.shell("jobs", self.path, "follow", job)
        with Store.open(self.path) as store:
            jobs = store.jobs.list()
            self.must("every job came to its end", all(job.state == "done" for job in jobs))
            self.must("every answer is there once", draws_agree_with_responses(store))
        self.check()

    def copy(self, seed: int) -> Path:
        """Return a copy of the store with labels of somebody who was elsewhere."""
        target = self.folder / f"other-{seed}.db"
        with closing(sqlite3.connect(self.path)) as store, closing(sqlite3.connect(target)) as copy:
            store.backup(copy)
        return target

    def check(self) -> None:
        """Note what does not hold."""
        with closing(sqlite3.connect(self.path)) as store:
            whole = store.execute("pragma integrity_check(1)").fetchone()[0]
            self.must("the file is whole", whole == "ok")
            self.must(
                "rows belong together", not store.execute("pragma foreign_key_check").fetchall()
            )
            held = Counter(
                store.execute(
                    "select r.unit_id, p.name from reading r join reader p on p.id = r.reader_id "
                    "where r.uid is not null and p.kind = 'person'"
                ).fetchall()
            )
            said = Counter((unit, name) for unit, name, _ in self.notes("annotate"))
            self.must("every label is stored", all(held[one] >= n for one, n in said.items()))
            rulings = {uid.hex() for (uid,) in store.execute("select uid from ruling")}
            self.must("every ruling is stored", rulings >= set(self.notes("rule")))
            twice = (
                "select count(*) from (select 1 from reading where uid is not null group by "
                "uid having count(*) > 1)"
            )
            self.must("no label is there twice", store.execute(twice).fetchone()[0] == 0)
        strange = [
            one.name
            for one in self.folder.iterdir()
            if ".part" in one.name or ".before-" in one.name
        ]
        self.must("nothing is left lying about", not strange)

    def must(self, what: str, holds: object) -> None:
        self.done[f"✓ {what}"] += bool(holds)
        if not holds:
            self.faults.append(f"not: {what}")

    def notes(self, name: str) -> list[Any]:
        lines = self.said[name].read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines if line.endswith(("]", '"'))]


def main(minutes: float, seed: int, where: str | None = None) -> int:
    """Soak a store in a folder, that for temporary files unless told otherwise, and print what
    happened.
    """
    with tempfile.TemporaryDirectory(dir=where) as folder:
        soak = Soak(Path(folder), seed)
        soak.begin()
        until, rounds = time.monotonic() + 60 * minutes, 0
        while time.monotonic() < until:
            soak.round()
            rounds += 1
        soak.end()
        print(f"seed {seed}: {rounds} rounds in {minutes:g} minutes")
        for name, n in sorted(soak.done.items()):
            print(f"{n:6,}  {name}")
        for fault in soak.faults:
            print(f"✗ {fault}")
        return int(bool(soak.faults))


PROCESSES: dict[str, Callable[[Path, str, int, Path], None]] = {"annotate": annotate, "rule": rule}

if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1] in PROCESSES:
        act_, path_, name_, seed_, said_, off_ = sys.argv[1:]
        if off_ == "1":
            jumped(int(seed_))
        PROCESSES[act_](Path(path_), name_, int(seed_), Path(said_))
    else:
        sys.exit(
            main(
                float((sys.argv[1:2] or ["60"])[0]),
                int((sys.argv[2:3] or ["1"])[0]),
                *sys.argv[3:4],
            )
        )
