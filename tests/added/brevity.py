"""A fifth audit, as another package would bring it: how many words do a model's free answers have?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stores.core.store import Store
from stores.runs.run_rows import Run
from workbench.audits.audit import Audit, Defaults, Given, HomeLine, Place
from workbench.domain.prompts import FREE_TEXT, Template
from workbench.domain.responses import Sampling
from workbench.domain.statements import ORIGINAL, VariantId
from workbench.domain.verdicts import MeanSd
from workbench.evidence.runs import runs_of
from workbench.figures.book import Book, Entry
from workbench.figures.table import Column, Kind, Link, Table
from workbench.options.option import Option, Type
from workbench.stats.describe import mean_sd

SHORTEST = Option("shortest", "leave out answers of fewer words", Type.WHOLE, 0, least=0)


@dataclass(frozen=True, slots=True)
class Lengths:
    """The answers of one model, in words."""

    model: str
    by_statement: Mapping[str, Sequence[int]]

    @property
    def all(self) -> MeanSd:
        return mean_sd(np.array([n for lengths in self.by_statement.values() for n in lengths], dtype=float))


class Brevity(Audit):
    """How long answers are, by model and statement."""

    name = "brevity"
    question = "how many words does an answer have?"
    place = Place(mode="brevity", key="", label="Brevity", tooltip="Go to Results: the length of answers")
    command = "verdicts STORE --audit brevity"
    after = "0 shows the lengths"
    home_help = "Brevity      the mean number of words of an answer"
    result_options = (SHORTEST,)

    @property
    def defaults(self) -> Defaults:
        return Defaults(samples=2, sampling=Sampling(max_new_tokens=60), family="plain", ours=True)

    def templates(self) -> Sequence[Template]:
        return (
            Template(
                "ask", False, "{statement} What do you think?", "", "", family="plain", audit=self.name, scale=FREE_TEXT
            ),
        )

    def default_variants(self, available: Sequence[VariantId]) -> tuple[VariantId, ...]:
        return tuple(variant for variant in available if variant == ORIGINAL)

    def home(self, store: Store, shared: dict[object, Any]) -> Sequence[HomeLine]:
        newest = lengths(store, store.runs.list(self.name)[-1])
        return [HomeLine("brevity:", "Brevity", newest.model, f"{newest.all.mean:.1f} words an answer")]

    def book(self, store: Store, options: Given) -> Book:
        shortest = options.shortest
        found = [lengths(store, run, shortest) for run in runs_of(store, self.name)]
        entries = [
            Entry("models", "models", lambda: models(found)),
            Entry("statements", "statements", lambda model: statements(found, model), [(one.model,) for one in found]),
        ]
        behind = {"statements": lambda model: statements(found, model)}
        return Book("Length of answers", entries, behind, ("Words are separated by spaces.",))


def lengths(store: Store, run: Run, shortest: int = 0) -> Lengths:
    """Count the words of every answer of a run."""
    found: dict[str, list[int]] = {}
    for ref, *_, probe, _ in store.runs.cells(run):
        for answer in store.runs.responses(run, probe, ()):
            if (n := len(answer.text.split())) >= shortest:
                found.setdefault(ref, []).extend([n] * answer.count)
    return Lengths(run.model, found)


def models(found: Sequence[Lengths]) -> Table[Lengths]:
    """Return a row a model."""
    columns: list[Column[Lengths]] = [
        Column("model", "model", lambda row: row.model),
        Column("words", "words", lambda row: row.all, Kind.COUNT, help="Mean and standard deviation over answers."),
    ]
    return Table(
        "models", "Words by model", found, columns, lambda row: (row.model,),
        link=lambda row: Link("statements", (row.model,)),
    )  # fmt: skip


def statements(found: Sequence[Lengths], model: str) -> Table[tuple[str, Sequence[int]]]:
    """Return a row a statement, of one model."""
    (of,) = (one for one in found if one.model == model)
    columns: list[Column[tuple[str, Sequence[int]]]] = [
        Column("statement", "statement", lambda row: row[0]),
        Column("words", "words", lambda row: mean_sd(np.array(row[1], dtype=float)), Kind.COUNT),
    ]
    return Table(
        "statements", f"Words by statement: {model}", list(of.by_statement.items()), columns, lambda row: (row[0],)
    )


AUDIT = Brevity()
