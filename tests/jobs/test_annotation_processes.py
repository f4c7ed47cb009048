"""Real people are real processes: many of them on one store at once, some of them killed in the
middle.
"""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from stores.annotation.annotator import Annotator
from stores.core.store import Store
from tests.tui.annotation_stores import labelling_store

ROOT = Path(__file__).parents[2]

PERSON = """
import random, sys, time
from stores.annotation.annotator import Annotator
path, name, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
rng = random.Random(name)
end = time.monotonic() + seconds
with Annotator.open(path, "first", name) as person:
    labelled = 0
    while time.monotonic() < end or not labelled:  # on a busy machine the first lock may take longer than all the time
        item = person.next()
        if item is None:  # others hold what is left, or all is done: whoever waits for a kill gets one
            time.sleep(0.01)
            continue
        if rng.random() < 0.05:
            person.skip(item.unit)
            continue
        if rng.random() < 0.1:
            person.remark(item.unit, flagged=True, note="hm")
        label = rng.choice(person.codebook.labels)
        person.label(item.unit, label, elapsed_ms=5)
        labelled += 1
        print(item.unit, label, flush=True)
"""

BULK = """
import sys, time
from dataclasses import replace
from stores.runs.run_rows import Answered
from stores.core.store import Store
from tests.tui.bias_stores import WORDINGS, sided
from workbench.audits.audit import probes as every_probe
from workbench.audits.bias_score.options import DEFAULTS
from workbench.domain.responses import ModelCard
base = sided()
end = time.monotonic() + float(sys.argv[2])
with Store.open(sys.argv[1]) as store:
    store.instruments.add(base)
    probes = tuple(every_probe(base.statements, base.templates, WORDINGS, "en", "m"))
    store.runs.add_probes("bias_score", base.name, "en", base.templates, probes)
    ids = store.runs.begin(ModelCard("m", "0", "scripted 1", "float32", "none"), DEFAULTS.sampling)
    attempt = store.jobs.claim(store.jobs.create("infer", {}, 1), "9.9")
    seed = 0
    while time.monotonic() < end:
        batch = []
        for probe in probes:
            seed += 1
            batch.append(Answered(probe.prompt.key, seed, 5, tuple((f"bulk {seed} {n}", 1) for n in range(5))))
        store.runs.add(*ids, attempt, batch)
        print(seed * 5, flush=True)
"""


def start(script: str, *arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", script, *map(str, arguments)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def printed(name: str, out: str) -> list[tuple[str, int, str]]:
    """Return what a process said it had committed; a line that was cut off is none."""
    lines = [line.split() for line in out.split("\n")[:-1]]
    return [(name, int(unit), label) for unit, label in lines]


def on_record(path: Path) -> list[tuple[str, int, str]]:
    with Store.open(path) as store:
        return [
            tuple(row)
            for row in store.connection.execute(
                "select h.name, r.unit_id, r.label from reading r join reader h on h.id = "
                "r.reader_id and h.kind = 'person' order by r.at"
            )
        ]


def is_whole(path: Path) -> None:
    """Check that the file is sound and that its counts are those of its labels."""
    with Store.open(path) as store:
        assert store.connection.execute("pragma integrity_check").fetchone()[0] == "ok"
        assert store.connection.execute("pragma foreign_key_check").fetchall() == []
        wrong = store.connection.execute(
            "select unit_id, done from queue_item i where done <> (select count(distinct "
            "r.reader_id) from reading r where r.unit_id = i.unit_id and r.uid is not null)"
        ).fetchall()
        assert wrong == []


@pytest.mark.e2e
def test_eight_people_and_a_running_job_share_a_store_and_lose_nothing(tmp_path: Path) -> None:
    path = labelling_store(tmp_path / "a.db", [f"answer {n}" for n in range(4000)], needed=3)
    bulk = start(BULK, path, 9)
    people = {f"person {n}": start(PERSON, path, f"person {n}", 8) for n in range(8)}
    said: list[tuple[str, int, str]] = []
    for name, process in people.items():
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
        said += printed(name, out)
    out, err = bulk.communicate(timeout=120)
    assert bulk.returncode == 0, err
    assert len(said) > 100
    found = on_record(path)
    assert sorted(found) == sorted(said)
    assert max(Counter((name, unit) for name, unit, _ in found).values()) == 1, (
        "nobody labels an item twice"
    )
    assert max(Counter(unit for _, unit, _ in found).values()) <= 3, (
        "and no more people than it needs"
    )
    assert len({name for name, *_ in found}) == 8
    with Store.open(path) as store:
        assert store.connection.execute("select sum(count) from response").fetchone()[0] == int(
            out.split()[-1]
        )
        assert store.queues.get("first").done == len(said)
    is_whole(path)


@pytest.mark.e2e
def test_what_was_said_to_be_committed_survives_a_kill_at_any_moment(tmp_path: Path) -> None:
    path = labelling_store(tmp_path / "a.db", [f"answer {n}" for n in range(12_000)], needed=4)
    rng = random.Random(20)
    said: list[tuple[str, int, str]] = []
    kills = 0
    for _ in range(5):
        running = {f"person {n}": start(PERSON, path, f"person {n}", 60) for n in range(4)}
        first = {
            name: process.stdout.readline() for name, process in running.items() if process.stdout
        }
        for name, process in running.items():
            assert process.stdout is not None
            time.sleep(rng.random() * 0.1)
            process.send_signal(signal.SIGKILL)
            # `communicate` would leave out what `readline` has read ahead.
            rest = process.stdout.read()
            process.communicate()
            assert process.returncode == -signal.SIGKILL
            said += printed(name, first[name] + rest)
            kills += 1
    assert kills == 20
    assert len(said) >= 20
    found = Counter(on_record(path))
    assert max(found.values()) == 1
    assert not Counter(said) - found, "a label that was committed is gone"
    assert sum(found.values()) - len(said) <= kills, (
        "a kill falls between a commit and its line at most once"
    )
    assert max(Counter((name, unit) for name, unit, _ in found).values()) == 1
    assert max(Counter(unit for _, unit, _ in found).values()) <= 4
    is_whole(path)
    with Store.open(path) as store:
        leased = store.connection.execute(
            "select a.unit_id from assignment a join reader h on h.id = a.reader_id and h.name = "
            "'person 0' where a.state = 'leased'"
        ).fetchall()
    with Annotator.open(path, "first", "person 0") as again:
        item = again.next()
        assert item is not None
        assert not leased or (item.unit,) in leased, (
            "what was before this person when the process went away"
        )
