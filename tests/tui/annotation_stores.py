"""Stores with a queue to label, for tests and benchmarks: real files, every answer another text."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

from stores.annotation.queues import NewItem
from stores.core.store import Store
from tests.conftest import instrument, statement
from workbench.data import shipped_codebook
from workbench.domain.annotations import Codebook, Purpose
from workbench.domain.statements import Dimension, Side

QUEUE = "first"
FILLER = (
    "Markets give people choices, but without rules the strong decide for the weak; I would "
    "put it differently."
)

HOSTILE_ANSWERS = (
    "[@click=app.quit]x[/] and [bold]no end",
    "\x1b[31mred\x1b[0m \x07 and \x1b]0;title\x07",
    "right \u202e to left, שלום and مرحبا",
    "",
    " \n\t ",
    "a" * 100_000,
    "word " * 20_000,
    "[/INST] closes nothing",
)


def answers(size: int) -> tuple[str, ...]:
    """Return different answers, each of which says its number: `answer 0007 …`."""
    return tuple(f"answer {n:04} {FILLER}" for n in range(size))


def labelling_store(
    path: Path,
    texts: Sequence[str],
    *,
    queue: str = QUEUE,
    needed: int = 2,
    attention: Sequence[tuple[str, str]] = (),
    codebook: Codebook | None = None,
    purpose: Purpose = Purpose.TEST,
) -> Path:
    """Make a store, where there is none, and a queue in it of these answers to statements in
    turn.
    """
    with Store.open(path, create=not path.exists()) as store:
        if not store.instruments.names():
            refs = [f"s-{n:03}" for n in range(24)]
            made = tuple(
                replace(statement(ref), dimension=Dimension.ECONOMIC, leaning=Side.RIGHT, issues={})
                for ref in refs
            )
            store.instruments.add(replace(instrument(*refs), statements=made))
        wordings = [
            row[0] for row in store.connection.execute("select id from wording order by id")
        ]
        items = [
            NewItem(
                wordings[n % len(wordings)],
                needed,
                "prefix-7 · original · secret-model-9b",
                text=text,
            )
            for n, text in enumerate(texts)
        ]
        items += [
            NewItem(wordings[0], 0, "attention", text=text, attention=label)
            for text, label in attention
        ]
        store.queues.create(queue, purpose, codebook or shipped_codebook("stance"), items, {})
    return path


def label_studio_table(file: Path, store: Path, *labels: str) -> Path:
    """Write labels of the items of a store, one each, as Label Studio's JSON-MIN has them."""
    with Store.open(store) as opened:
        items = opened.connection.execute(
            "select x.body, y.body from unit u join text x on x.id = u.text_id "
            "join wording w on w.id = u.wording_id join text y on y.id = w.text_id order by u.id"
        ).fetchall()
    tasks = [
        {
            "text": text,
            "statement": said,
            "stance": label,
            "annotator": 1,
            "annotation_id": n,
            "lead_time": 1.5,
        }
        for n, ((text, said), label) in enumerate(zip(items, labels, strict=False))
    ]
    file.write_text(json.dumps(tasks), encoding="utf-8")
    return file


def labels_of(path: Path, queue: str = QUEUE) -> list[tuple[str, str, str]]:
    """Return (text, annotator, label) of all current labels, read through a connection of its
    own.
    """
    with Store.open(path) as store:
        codebook = store.queues.get(queue).codebook.name
        return [
            (item.context.text, given.annotator, given.label)
            for item in store.labels.judged(codebook, queue=queue)
            for given in item.labels
        ]


def leases_of(path: Path) -> list[tuple[str, str]]:
    """Return (annotator, text) of all items that somebody has before them."""
    with Store.open(path) as store:
        return store.connection.execute(
            "select h.name, x.body from assignment a join reader h on h.id = a.reader_id "
            "join unit u on u.id = a.unit_id join text x on x.id = u.text_id where a.state = "
            "'leased' order by a.at"
        ).fetchall()


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Hold a store's write lock, as another program does that writes."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("begin immediate")
        yield
