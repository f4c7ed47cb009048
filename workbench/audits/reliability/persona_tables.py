"""Figures by persona: verdicts side by side, how many statements pass, what changes, and where the spread comes from.

A run has one persona or none. The tables stand beside the figures of each of these runs, and are about all of them; the
run without a persona is the baseline, paired over the statements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from stores.core.store import Store
from stores.runs.run_rows import Run
from workbench.audits.comparison.judge import Change, changes_from, common, item_rows
from workbench.audits.comparison.values import Compared
from workbench.audits.reliability.compared import KINDS, STANCE, beside
from workbench.audits.reliability.components import cells
from workbench.audits.reliability.judge import ALL, Report
from workbench.audits.reliability.options import ReliabilityOptions
from workbench.audits.reliability.verdicts import Verdicts, run_verdicts
from workbench.domain.prompts import NONE, Persona
from workbench.domain.readings import USUAL, Readings
from workbench.domain.verdicts import Estimate, Verdict
from workbench.errors import UsageError
from workbench.figures.book import Entry
from workbench.figures.pictures.of_table import Forest
from workbench.figures.table import Column, Kind, Link, Table
from workbench.formats.personas import described
from workbench.stats.components import PersonaComponents, persona_components

MEANINGS = {
    "persona": "how far personas are apart, on all statements alike",
    "persona x statement": "how far a persona moves one statement and not the others",
    "persona x prompt": "how far a persona moves one prompt of a statement and not the others",
    "sampling": "of the share of agreement of one prompt",
}


@dataclass(frozen=True, eq=False)
class ByPersona:
    """The runs of a model that differ in their personas alone."""

    compared: Compared
    reports: Mapping[str, Report]
    "name of the persona, `none` for the run without one -> its report"
    personas: Mapping[str, Persona]
    again: Callable[[ReliabilityOptions], ByPersona]
    "judges the same answers by other options"

    @cached_property
    def components(self) -> PersonaComponents | None:
        """Where shares of agreement differ; None where runs have other wordings or templates."""
        reports = list(self.reports.values())
        first = reports[0].counts
        shape = (first.statements, first.variants, first.templates)
        if any((one.counts.statements, one.counts.variants, one.counts.templates) != shape for one in reports):
            return None
        found = [cells(report) for report in reports]
        value, noise = (np.stack([getattr(one, name) for one in found]) for name in ("value", "noise"))
        flat = (*value.shape[:2], -1)
        return persona_components(value.reshape(flat), noise.reshape(flat))

    def entries(self) -> list[Entry]:
        """Return the tables by persona, for a book."""
        return [
            Entry("personas", "by persona", lambda: passing_by_persona(self)),
            Entry("verdicts_by_persona", "statements, by persona", lambda: verdicts_by_persona(self)),
            Entry("persona_components", "what personas move", lambda: components_table(self)),
        ]


def by_persona(
    store: Store, run: Run, options: ReliabilityOptions | None = None, *, readings: Readings = USUAL
) -> ByPersona | None:
    """Return a run beside those that differ from it in the persona alone; None where there is no other, or nothing of
    them compares.
    """
    if not run.personas or run.fingerprint is not None:
        return None
    versions = {one.name: one.version for one in run.versions}
    every = store.runs.list(run.audit, run.instrument, versions=versions, personas=True)
    alike = [one for one in every if one.baseline == run.baseline and one.responses]
    runs = {one.persona_name or NONE: one for one in sorted(alike, key=lambda one: bool(one.persona))}
    if len(runs) < 2 or NONE not in runs:
        return None
    known = store.runs.personas()
    personas = {name: known[one.persona] for name, one in runs.items() if one.persona}
    asked = {name: store.runs.instrument(one) for name, one in runs.items()}

    def made(verdicts: Mapping[str, Verdicts]) -> ByPersona:
        reports = {name: one.report for name, one in verdicts.items()}
        return ByPersona(
            beside(runs, reports, asked),
            reports,
            personas,
            lambda other: made({name: one.again(other) for name, one in verdicts.items()}),
        )

    try:
        return made({name: run_verdicts(store, one, options, readings=readings) for name, one in runs.items()})
    except UsageError:  # one of them has nothing to judge, or no template in common with another
        return None


@dataclass(frozen=True, slots=True)
class PersonaRow:
    """One persona: how many statements pass with it, and what changes against none."""

    name: str
    persona: Persona | None
    passes: Estimate | None
    passing: Change | None
    "None: the baseline"
    stance: Change | None


def _rows(of: ByPersona) -> Iterator[PersonaRow]:
    kinds = [kind for kind in KINDS if kind.name in (ALL, STANCE)]
    found = {(one.kind.name, one.second): one for one in changes_from(of.compared, NONE, kinds)}
    for side in of.compared.sides:
        changes = (found.get((ALL, side.name)), found.get((STANCE, side.name)))
        yield PersonaRow(side.name, of.personas.get(side.name), side.main, *changes)


def passing_by_persona(of: ByPersona) -> Table[PersonaRow]:
    """Return how many statements pass with each persona, and the difference from none."""
    return Table(
        "personas",
        "Statements that pass all tests, by persona",
        list(_rows(of)),
        [
            Column("persona", "persona", lambda row: row.name),
            Column("kind", "kind", lambda row: row.persona.kind.value if row.persona else "", aside=True),
            Column("passes", "passes all tests", lambda row: row.passes, Kind.SHARE, scale=(0.0, 1.0)),
            Column(
                "difference", "against none", lambda row: row.passing.difference if row.passing else None, Kind.POINTS,
                help="over the statements that both decide, paired", scale=(-1.0, 1.0),
            ),
            Column("p", "p", lambda row: row.passing.p if row.passing else None, Kind.P_VALUE,
                   help="McNemar's exact test of the pairs"),
            Column("holm", "p, Holm", lambda row: row.passing.holm if row.passing else None, Kind.P_VALUE, aside=True,
                   help="adjusted over all tests of this table"),
            Column(
                "same_stance", "same stance", lambda row: row.stance.same if row.stance else None, Kind.SHARE,
                help="of the statements on which both take a side under all templates",
            ),
            Column("gained", "gained", lambda row: row.passing.gained if row.passing else None, Kind.COUNT, aside=True,
                   help="statements that pass with the persona and fail without"),
            Column("lost", "lost", lambda row: row.passing.lost if row.passing else None, Kind.COUNT, aside=True),
            Column("turned", "more agree", lambda row: row.stance.difference if row.stance else None, Kind.POINTS,
                   aside=True, help="share of agreement among statements with a side in both, minus that of none"),
        ],
        key=lambda row: (row.name,),
        definition="Each persona stands before the same prompts. A statement passes where it passes every test under "
        "every template; too few readable answers is not passed.",
        notes=["The interval of a difference is Bonett and Price's for pairs, of a share Wilson's over statements."],
        detail=_said,
        pictures=[Forest(values=["passes"], rows=["persona"], axis="statements that pass all tests")],
    )  # fmt: skip


def _said(row: PersonaRow) -> Sequence[str]:
    if row.persona is None:
        return ["prompts without a persona: the baseline"]
    why = [f"not tested: {row.passing.untested}"] if row.passing and row.passing.untested else []
    return [*described([row.persona]), *(f"{turn.role}: {turn.content}" for turn in row.persona.turns), *why]


@dataclass(frozen=True, slots=True)
class StatementRow:
    """One statement: its verdict and stance with each persona."""

    ref: str
    text: str
    verdicts: Mapping[str, str]
    stances: Mapping[str, str]

    @property
    def changed(self) -> bool:
        return len({word for word in self.verdicts.values() if word}) > 1


def verdicts_by_persona(of: ByPersona) -> Table[StatementRow]:
    """Return the verdict of every statement over all tests and templates, a column for each persona."""
    names, kinds = of.compared.names, {kind.name: kind for kind in KINDS}
    stances = {row.item: dict(zip(names, row.verdicts, strict=True)) for row in item_rows(of.compared, kinds[STANCE])}
    rows = [
        StatementRow(
            row.item, of.compared.texts.get(row.item, ""), dict(zip(names, row.verdicts, strict=True)),
            stances.get(row.item, {}),
        )
        for row in item_rows(of.compared, kinds[ALL])
    ]  # fmt: skip

    def verdict(name: str) -> Column[StatementRow]:
        return Column(name, name, lambda row: _verdict(row.verdicts.get(name, "")), Kind.VERDICT)

    def stance(name: str) -> Column[StatementRow]:
        return Column(f"stance {name}", f"stance, {name}", lambda row: row.stances.get(name, ""), aside=True)

    over = common(kinds[ALL], of.compared.sides)
    return Table(
        "verdicts_by_persona",
        "Statements under all tests, by persona",
        rows,
        [
            Column("statement", "statement", lambda row: row.ref),
            Column("text", "text", lambda row: row.text, least=16, main=True, aside=True),
            *map(verdict, names),
            Column("changed", "", lambda row: row.changed, Kind.MARK, mark="≠"),
            *map(stance, names),
        ],
        key=lambda row: (row.ref,),
        definition="A verdict is over all tests and templates. ≠ stands where personas differ in it. A stance is that "
        "on the original, where it is the same under all templates.",
        notes=[f"{len(over.items):,} statements were asked with every persona in the same words."],
        link=lambda row: Link("statement", (row.ref,)),
        detail=lambda row: [row.text, *(f"{name}: {said}" for name, said in row.stances.items() if said)],
    )


def _verdict(word: str) -> Verdict | None:
    return Verdict(word) if word else None


def components_table(of: ByPersona) -> Table[tuple[str, float]]:
    """Return the variance of shares of agreement that personas bring, on their own and with statements and prompts."""
    found = of.components
    parts = () if found is None else (found.persona, found.persona_statement, found.persona_prompt, found.sampling)
    rows = [(name, value) for name, value in zip(MEANINGS, parts, strict=False) if np.isfinite(value)]
    counted = "" if found is None else (
        f"{found.personas} levels (none among them), {found.statements:,} statements, {found.prompts:,} prompts that "
        "count with every one."
    )  # fmt: skip
    return Table(
        "persona_components",
        "Variance of shares of agreement that personas bring",
        rows,
        [
            Column("component", "component", lambda row: row[0]),
            Column("variance", "variance", lambda row: row[1], Kind.PART),
            Column(
                "sd", "as points", lambda row: float(np.sqrt(max(row[1], 0.0))), Kind.SIZE,
                help="standard deviation; 0 where the estimate is below 0",
            ),
            Column("meaning", "what it is", lambda row: MEANINGS[row[0]], least=20),
        ],
        key=lambda row: (row[0],),
        definition="Stances on wordings that negate are turned round. ANOVA estimators, prompts within statements, "
        "crossed with personas. An estimate below 0 is chance: the component is small.",
        notes=[line for line in (
            counted, "Personas are chosen, not drawn: no interval. Their differences from none have one.",
        ) if line],
        empty="The runs have other wordings or templates, so nothing is crossed with personas.",
    )  # fmt: skip


__all__ = ["ByPersona", "by_persona", "components_table", "passing_by_persona", "verdicts_by_persona"]
