"""How long pages and draws keep somebody waiting, at the published size and at seven times as many
prompts.

Processor time, beside that of a plain pass over the same data: every answer read once with its
text, and counted. What is imported for a page is imported before.
"""

from __future__ import annotations

import multiprocessing
import resource
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

import bench_verdicts

from stores.annotation.annotator import Annotator
from stores.annotation.queues import NewItem
from stores.core.contents import forget
from stores.core.identity import Anchor
from stores.core.store import Store
from workbench.audits.reliability import AUDIT
from workbench.data import shipped_codebook
from workbench.domain.annotations import Purpose
from workbench.pipeline.queues import QueueSpec, propose_queue
from workbench.tui.kit.base import read_store
from workbench.tui.overview import read_judgement, read_overview
from workbench.tui.results.loaded import Settings
from workbench.tui.results.result_screen import load
from workbench.tui.review.review import ReviewChoice
from workbench.tui.review.review import load as load_review

SIZES = ((239, 30), (1680, 10))
"statements, each asked in 72 prompts, and answers to a prompt"
TINY_SIZES = ((2, 10),)
QUEUE, LOOKS = "first", 1000


DRAWN, TINY_DRAWN = 160, 2
"statements, each asked in 72 prompts with answers that all differ"
FREE_TEXT = "bias_score"


def plain_pass(path: Path) -> None:
    """Read every distinct answer to a prompt with its text, and count."""
    query = (
        "select d.prompt_id, x.body, r.count from draw d join response r on r.draw_id = d.id "
        "join text x on x.id = r.text_id"
    )
    counts: Counter[tuple[int, str]] = Counter()
    with closing(sqlite3.connect(path)) as connection:
        for prompt, text, count in connection.execute(query):
            counts[prompt, text] += count


def label(path: Path) -> None:
    """Let somebody label an item, so that pages have something new to show."""
    with Annotator.open(path, QUEUE, "ann") as person:
        item = person.next()
        assert item is not None
        person.label(item.unit, "agree")


def build(path: Path, statements: int, samples: int) -> int:
    """Fill a new store with answers that rules have read, and a queue; return how many prompts it
    has.
    """
    bench_verdicts.SAMPLES = samples
    answers, _ = bench_verdicts.build(path, statements)
    with Store.open(path) as store:
        (wording,) = store.connection.execute("select min(id) from wording").fetchone()
        items = [NewItem(wording, 2, "", text=f"answer {n}") for n in range(20)]
        store.queues.create(QUEUE, Purpose.TEST, shipped_codebook("stance"), items, {})
    load_pages(path)  # the rules read everything
    return answers // samples


def load_pages(path: Path) -> dict[str, float]:
    """Return the seconds of processor time of each page, in the order in which somebody opens
    them.
    """
    forget()
    pages: dict[str, Callable[[Store], object]] = {
        "Home, what is cheap": read_overview,
        "Home, whole": read_judgement,
        "the verdicts after Home": lambda store: load(store, AUDIT, Settings(AUDIT.options())),
        "the review after Home": lambda store: load_review(store, ReviewChoice()),
    }
    found = {name: processor(partial(read_store, path, page)) for name, page in pages.items()}
    label(path)
    found["Home, whole, after a label"] = processor(lambda: read_store(path, read_judgement))
    return found


def processor(act: Callable[[], object]) -> float:
    """Return the seconds of processor time that something takes."""
    began = time.process_time()
    act()
    return time.process_time() - began


def of_size(path: Path, statements: int, samples: int) -> Iterator[tuple[str, str, str]]:
    """Yield the rows of one size."""
    prompts = build(path, statements, samples)
    plain = processor(lambda: plain_pass(path))
    for name, seconds in load_pages(path).items():
        yield (
            f"{name}, {prompts:,} prompts",
            f"{seconds:.2f} s of processor time",
            f"{seconds / plain:.1f} plain passes",
        )
    _, memory = alone(shown, path)
    yield f"a process that shows Home and the review, {prompts:,} prompts", memory, ""
    anchor = Anchor(path)
    looks = processor(lambda: [anchor.version() for _ in range(LOOKS)])
    anchor.close()
    yield (
        f"a look whether anything was written, {prompts:,} prompts",
        f"{1e6 * looks / LOOKS:.1f} µs",
        "",
    )


def shown(path: Path) -> float:
    """Show Home and the review, as the terminal does."""
    import workbench.tui.app  # noqa: F401

    return sum(
        processor(partial(read_store, path, page))
        for page in (read_overview, read_judgement, load_queue)
    )


def load_queue(store: Store) -> object:
    """Return the review queue of the run that was answered last."""
    return load_review(store, ReviewChoice())


def drawn(path: Path) -> float:
    """Draw a test set; return the seconds of processor time."""
    spec = QueueSpec("drawn", Purpose.TEST, limit=600)
    return processor(lambda: read_store(path, lambda store: propose_queue(store, spec)))


def alone(act: Callable[[Path], float], path: Path) -> tuple[float, str]:
    """Return what an act in a process of its own gives, and the memory of the process."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_with_memory, (act, path))


def _with_memory(act: Callable[[Path], float], path: Path) -> tuple[float, str]:
    found, status = act(path), Path("/proc/self/status")
    # What `getrusage` says there includes the memory of the process that started this one.
    if status.exists():
        most, held = (
            int(status.read_text().partition(f"{name}:")[2].split()[0]) >> 10
            for name in ("VmHWM", "VmRSS")
        )
        return found, f"{held:,} MB, {most:,} MB at most"
    return found, f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 20:,} MB at most"


def of_draw(path: Path, statements: int) -> Iterator[tuple[str, str, str]]:
    """Yield the row of a draw from answers in free text that all differ."""
    bench_verdicts.SAMPLES = SIZES[1][1]
    texts, _ = bench_verdicts.build(path, statements, distinct=True)
    with Store.open(path) as store, store.write() as connection:
        connection.execute("update probe set audit = ?", (FREE_TEXT,))
    plain = processor(lambda: plain_pass(path))
    seconds, memory = alone(drawn, path)
    yield (
        f"a test set drawn from {texts:,} different texts",
        f"{seconds:.2f} s of processor time, {memory}",
        f"{seconds / plain:.1f} plain passes",
    )


def main(*, tiny: bool = False) -> Iterator[tuple[str, str, str]]:
    """Yield rows of the benchmark table: what, measured, against the baseline."""
    usual = bench_verdicts.SAMPLES
    for statements, samples in TINY_SIZES if tiny else SIZES:
        with tempfile.TemporaryDirectory() as folder:
            yield from of_size(Path(folder) / "waiting.db", statements, samples)
    with tempfile.TemporaryDirectory() as folder:
        yield from of_draw(Path(folder) / "drawn.db", TINY_DRAWN if tiny else DRAWN)
    bench_verdicts.SAMPLES = usual


if __name__ == "__main__":
    for row in main():
        print(" | ".join(row))
