"""Figures of what a classifier reads as what, and the texts that it misread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from workbench.classifier.config import LABELS
from workbench.figures.pictures.of_table import Matrix
from workbench.figures.table import Column, Kind, Link, Table
from workbench.pipeline.classifier_assessed import Assessed, ReadText

BELOW = "below the threshold"
ReadAs = tuple[str, Sequence[int], Sequence[float]]


def confusion(of: Assessed) -> Table[ReadAs]:
    """Return the confusion matrix of the fine-tuned classifier."""
    counts, represented = of.test.confusion(of.threshold).tolist(), of.test.represented(of.threshold).tolist()
    names = (*LABELS, "below")

    def count(place: int) -> Callable[[ReadAs], int]:
        return lambda row: row[1][place]

    def share(place: int) -> Callable[[ReadAs], float | None]:
        return lambda row: row[2][place] / sum(row[2]) if sum(row[2]) else None

    columns: list[Column[ReadAs]] = []
    for place, name in enumerate(names):
        title = BELOW if name == "below" else name
        columns += [
            Column(f"read_{name}", title, count(place), Kind.COUNT, help="test texts", short=name),
            Column(
                f"share_{name}",
                f"{title}, share",
                share(place),
                Kind.SHARE,
                help="of the answers that the row's texts represent",
                aside=True,
            ),
        ]
    return Table(
        "confusion",
        f"Confusion matrix at confidence {of.threshold:g}",
        list(zip(LABELS, counts, represented, strict=True)),
        [
            Column("label", "people say", lambda row: row[0]),
            *columns,
            Column("n", "n", lambda row: sum(row[1]), Kind.COUNT, help="test texts"),
        ],
        key=lambda row: (row[0],),
        link=lambda row: Link("texts", (row[0],)),
        pictures=[
            Matrix(
                columns=[f"read_{name}" for name in names],
                shades=[f"share_{name}" for name in names],
                rows=["label"],
                titles=("people say", "read as"),
            )
        ],
    )


@dataclass(frozen=True, slots=True)
class Misread:
    """A text of the test set with what the classifier made of it."""

    unit: int
    true: str
    read: str
    confidence: float
    below: bool
    "whether the threshold leaves it out"
    found: ReadText | None
    "None: the store does not hold it"


def texts(of: Assessed, true: str = "", read: str = "") -> Table[Misread]:
    """Return what was read as something else than people say and reaches the threshold, the surest first.

    true, read : keep the texts of one cell of the matrix; `true` alone those of its row, whatever they were read as
    """
    rows = sorted((row for row in _all_texts(of) if _wanted(row, true, read)), key=lambda row: -row.confidence)
    title = f"Test texts that people call {true}" + (f", read {read}" if read else "")
    return Table(
        "texts" if true else "misread",
        title if true else f"Misread at confidence {of.threshold:g}",
        rows,
        [
            Column("unit", "item", lambda row: str(row.unit), aside=True),
            Column("true", "people say", lambda row: row.true),
            Column("read", "read as", lambda row: row.read),
            Column("confidence", "confidence", lambda row: row.confidence, Kind.COEFFICIENT),
            Column("below", BELOW, lambda row: row.below, Kind.MARK, short="below"),
            Column("ref", "statement", lambda row: row.found.ref if row.found else None),
            Column("statement", "statement's text", lambda row: row.found.statement if row.found else None, aside=True),
            Column("text", "answer", _text, Kind.PROSE),
        ],
        key=lambda row: (str(row.unit),),
        empty="No misread answers.",
        detail=lambda row: [_text(row)],
        subject=tuple(filter(None, (true, read))),
    )


def _text(row: Misread) -> str:
    return row.found.text if row.found else "(this store lacks the text)"


def _wanted(row: Misread, true: str, read: str) -> bool:
    if not true:
        return row.true != row.read and not row.below
    return row.true == true and (not read or read == ("below" if row.below else row.read))


def _all_texts(of: Assessed) -> list[Misread]:
    kept = of.classifier.evaluation
    tuned = kept["tuned"]
    return [
        Misread(unit, LABELS[true], LABELS[read], sure, sure < of.threshold, of.texts.get(unit))
        for unit, true, read, sure in zip(kept["unit"], kept["true"], tuned["label"], tuned["confidence"], strict=True)
    ]
