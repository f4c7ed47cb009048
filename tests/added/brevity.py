"""A fifth audit, as another package would bring it: how many words do a model's free answers
have?
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from stores.core.store import Store
from stores.runs.run_rows import Run
from workbench.audits.audit import Audit, AuditPlace, Defaults, Opened
from workbench.audits.result import Headline, Result
from workbench.domain.prompts import FREE_TEXT, Template
from workbench.domain.responses import Sampling
from workbench.domain.statements import ORIGINAL, VariantId
from workbench.domain.verdicts import MeanSd
from workbench.evidence.runs import AnswerSelection, runs_of, runs_of_models
from workbench.figures.book import Book, Entry
from workbench.figures.table import Column, Kind, Link, Table
from workbench.options.schema import Options, option
from workbench.stats.describe import mean_sd


@dataclass(frozen=True, slots=True)
class LengthOptions(Options):
    """Which answers count."""

    shortest: int = option(
        0,
        "leave out answers of fewer words",
        least=0,
        key="f",
        steps=(0, 5, 50),
        words="from {} words",
    )


@dataclass(frozen=True, slots=True)
class Lengths:
    """The answers of one model, in words."""

    model: str
    by_statement: Mapping[str, Sequence[int]]

    @property
    def all(self) -> MeanSd:
        return mean_sd(
            np.array([n for lengths in self.by_statement.values() for n in lengths], dtype=float)
        )


class Brevity(Audit):
    """How long answers are, by model and statement."""

    name = "brevity"
    question = "how many words does an answer have?"
    place = AuditPlace(
        mode="brevity", key="", label="Brevity", tooltip="Go to Results: the length of answers"
    )
    after = "0 shows the lengths"
    home_help = "Brevity      the mean number of words of an answer"
    options = LengthOptions
    several_models = True

    @property
    def defaults(self) -> Defaults:
        return Defaults(samples=2, sampling=Sampling(max_new_tokens=60), family="plain", ours=True)

    def templates(self) -> Sequence[Template]:
        return (
            Template(
                "ask",
                False,
                "{statement} What do you think?",
                "",
                "",
                family="plain",
                audit=self.name,
                scale=FREE_TEXT,
            ),
        )

    def default_variants(self, available: Sequence[VariantId]) -> tuple[VariantId, ...]:
        return tuple(variant for variant in available if variant == ORIGINAL)

    def judge(
        self, store: Store, which: AnswerSelection, options: LengthOptions, opened: Opened
    ) -> Result:
        runs = runs_of_models(store, runs_of(store, self.name, which.instrument), which.models)
        found = [lengths(store, run, options.shortest) for run in runs]
        entries = [
            Entry("models", "models", lambda: models(found), choices=("shortest",)),
            Entry(
                "statements",
                "statements",
                lambda model: statements(found, model),
                [(one.model,) for one in found],
            ),
        ]
        behind = {"statements": lambda model: statements(found, model)}
        return Result(
            which=which,
            options=options,
            instrument=store.runs.instrument(runs[-1]),
            runs={run.model: run for run in runs},
            names=tuple(run.model for run in runs),
            book=Book("Length of answers", entries, behind, ("Words are separated by spaces.",)),
            first=("models",),
            findings=[f"{one.model}: {one.all.mean:.1f} words an answer." for one in found],
            headline=Headline(found[-1].model, f"{found[-1].all.mean:.1f} words an answer"),
        )


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
        Column(
            "words",
            "words",
            lambda row: row.all,
            Kind.COUNT,
            help="Mean and standard deviation over answers.",
        ),
    ]
    return Table(
        "models",
        "Words by model",
        found,
        columns,
        lambda row: (row.model,),
        link=lambda row: Link("statements", (row.model,)),
    )


def statements(found: Sequence[Lengths], model: str) -> Table[tuple[str, Sequence[int]]]:
    """Return a row a statement, of one model."""
    (of,) = (one for one in found if one.model == model)
    columns: list[Column[tuple[str, Sequence[int]]]] = [
        Column("statement", "statement", lambda row: row[0]),
        Column("words", "words", lambda row: mean_sd(np.array(row[1], dtype=float)), Kind.COUNT),
    ]
    return Table(
        "statements",
        f"Words by statement: {model}",
        list(of.by_statement.items()),
        columns,
        lambda row: (row[0],),
    )


AUDIT = Brevity()
