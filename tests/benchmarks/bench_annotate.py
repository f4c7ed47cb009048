"""Labelling through the terminal: from a key press to the label on disk, and to the next item
painted.

Once alone in the store, once while another process writes responses into it in batches, as a
running job does, and once eight people beside such a writer, who label as fast as they can. The
queue has the published size, 1,320 items (Faulborn et al. 2025, section 3.4).
"""

from __future__ import annotations

import asyncio
import multiprocessing
import sys
import tempfile
import time
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from stores.annotation.annotator import Annotator
from stores.core.store import Store
from tests.tui.annotation_stores import QUEUE, answers, labelling_store
from workbench.tui.annotation.annotate import AnnotateScreen
from workbench.tui.app import WorkbenchApp
from workbench.tui.kit import session_screen

ITEMS, PRESSES, BATCH = 1320, 500, 512
TINY_ITEMS, TINY_PRESSES = 12, 4
KEYS, LABELS = "adnu", ("agree", "disagree", "neutral", "unrelated")
PEOPLE, CROWD_S, TINY_CROWD_S = 8, 20.0, 0.5


def write_responses(path: str, stop: Event, written: Any) -> None:
    """Insert texts in batches, each in a transaction, until told to stop."""
    from stores.core.base import add_texts

    number = 0
    with Store.open(path) as store:
        while not stop.is_set():
            with store.write() as connection:
                add_texts(
                    connection,
                    (f"response {n} " + "word " * 60 for n in range(number, number + BATCH)),
                )
            number += BATCH
            written.value = number


async def label(path: Path, presses: int, committed: list[float], painted: list[float]) -> None:
    """Label so many items; note the seconds from key to commit and to paint."""
    original = Annotator.label
    at = [0.0]

    def timed(self: Annotator, *args: object, **named: object) -> None:
        original(self, *args, **named)  # type: ignore[arg-type]
        committed.append(time.monotonic() - at[0])

    Annotator.label = timed  # type: ignore[method-assign]
    app = WorkbenchApp(path)
    try:
        async with app.run_test(size=(100, 30)) as pilot:
            screen = AnnotateScreen(QUEUE, "bench")
            await app.push_screen(screen)
            for number in range(presses):
                while not screen.ready:
                    await asyncio.sleep(0.001)
                at[0] = time.monotonic()
                await pilot.press(KEYS[number % len(KEYS)])
                while len(committed) <= number or not screen.ready:
                    await asyncio.sleep(0.001)
                painted.append(screen._seen_at - at[0])
    finally:
        Annotator.label = original  # type: ignore[method-assign]


def label_on(path: str, name: str, seconds: float, waited: Any) -> None:
    """Label for so long, and hand over the seconds that each label took to be on disk."""
    found, until = [], time.monotonic() + seconds
    with Annotator.open(Path(path), QUEUE, name) as annotator:
        while time.monotonic() < until and (item := annotator.next()) is not None:
            began = time.monotonic()
            annotator.label(item.unit, LABELS[len(found) % len(LABELS)])
            found.append(time.monotonic() - began)
    waited.put(found)


def crowd(items: int, seconds: float) -> tuple[str, str, str]:
    """Return the row of eight people and a writer at full speed."""
    path = str(labelling_store(Path(tempfile.mkdtemp()) / "bench.db", answers(items)))
    context = multiprocessing.get_context("spawn")
    stop, written, waited = context.Event(), context.Value("q", 0), context.Queue()
    writer = context.Process(target=write_responses, args=(path, stop, written))
    people = [
        context.Process(target=label_on, args=(path, f"p{n}", seconds, waited))
        for n in range(PEOPLE)
    ]
    for process in (writer, *people):
        process.start()
    began = time.monotonic()
    found = [one for _ in people for one in waited.get()]
    taken = time.monotonic() - began
    stop.set()
    for process in (writer, *people):
        process.join()
    load = f"{PEOPLE} people at once, while {written.value / taken:,.0f} responses/s are written"
    return (
        f"label -> committed, {len(found):,} labels",
        f"{quantiles(found)}, most {1000 * max(found):,.0f} ms",
        load,
    )


def quantiles(seconds: list[float]) -> str:
    """Return `p50 3.1 ms, p95 5.2 ms, p99 8.0 ms`."""
    ordered = sorted(seconds)
    at = {share: ordered[int(share / 100 * (len(ordered) - 1))] for share in (50, 95, 99)}
    return ", ".join(f"p{share} {1000 * value:.1f} ms" for share, value in at.items())


def main(*, tiny: bool = False) -> list[tuple[str, str, str]]:
    """Return rows of the benchmark table: what, measured, under which load."""
    session_screen.GLANCE_S = 0.0
    items, presses = (TINY_ITEMS, TINY_PRESSES) if tiny else (ITEMS, PRESSES)
    rows = []
    for busy in (False, True):
        path = labelling_store(Path(tempfile.mkdtemp()) / "bench.db", answers(items))
        context = multiprocessing.get_context("spawn")
        stop, written = context.Event(), context.Value("q", 0)
        writer = context.Process(target=write_responses, args=(str(path), stop, written))
        if busy:
            writer.start()
        committed: list[float] = []
        painted: list[float] = []
        started = time.perf_counter()
        asyncio.run(label(path, presses, committed, painted))
        seconds = time.perf_counter() - started
        stop.set()
        if busy:
            writer.join()
        load = f"while {written.value / seconds:,.0f} responses/s are written" if busy else "alone"
        rows.append((f"label key -> committed, {presses} of {items:,}", quantiles(committed), load))
        rows.append(
            (f"label key -> next item painted, {presses} of {items:,}", quantiles(painted), load)
        )
    return [*rows, crowd(items, TINY_CROWD_S if tiny else CROWD_S)]


if __name__ == "__main__":
    for row in main():
        print(" | ".join(row))
