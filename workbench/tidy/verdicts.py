"""Rows of verdicts, one per statement, test and template."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from stores.core.store import Store
from stores.runs.run_rows import Run
from workbench import registry
from workbench.domain.readings import Readings
from workbench.domain.verdicts import Outcome, Verdict
from workbench.errors import UsageError
from workbench.evidence.readings import source_of
from workbench.figures.table import AnyTable, Column, Kind
from workbench.tidy.choice import Choice
from workbench.tidy.columns import MODEL, RULINGS, SAMPLING, Field, Row, Rows, whole


def judged(store: Store, choice: Choice) -> Iterator[tuple[Run, tuple[AnyTable, ...]]]:
    """Yield every chosen run with its tables of verdicts; runs that cannot be judged are left out."""
    models, readings = choice.chosen(store), Readings(rulings=choice.rulings)
    for audit in registry.asking():
        if choice.audits and audit.name not in choice.audits:
            continue
        for run in store.runs.list(audit.name, personas=True):
            if run.model_id in models and (not choice.instruments or run.instrument in choice.instruments):
                try:
                    found = tuple(audit.verdict_tables(store, run, readings))
                except UsageError as error:
                    choice.leave_out(f"Verdicts of {audit.name}: {error}.")
                    continue
                if found:
                    yield run, found


def overall(store: Store, choice: Choice) -> dict[tuple[int, int, int], str]:
    """Return the verdict over all tests, under its template, for every answer: (probe, model, sampling)."""
    found: dict[tuple[int, int, int], str] = {}
    for run, tables in judged(store, choice):
        of = {
            (table.key(row)[0], *table.subject): _parts(_tests(table)[-1].value(row))[0]
            for table in tables
            if table.subject
            for row in table.rows
        }
        for ref, _, _, template, _, probe, _ in store.runs.cells(run):
            if (verdict := of.get((ref, template))) is not None:
                found[probe, run.model_id, run.sampling_id] = verdict
    return found


def read_verdicts(store: Store, choice: Choice) -> Iterator[Row]:
    """Yield the rows of verdicts."""
    samplings = store.data_rows.samplings()
    models = store.data_rows.models()
    for run, tables in judged(store, choice):
        model, sampling = models[run.model_id], samplings[run.sampling_id]
        about = (run.audit, run.instrument, run.language, run.family, run.persona_name or None)
        of_model = [model["name" if field.name == "model" else field.name] or None for field in MODEL]
        of_sampling = [sampling["mode" if field.name == "sampling" else field.name] for field in SAMPLING]
        asked = tuple(None if value == "" else value for value in (*of_model, *of_sampling))
        ruled = source_of(store, [run], Readings(rulings=choice.rulings)).told().as_cell()
        for table in tables:
            for row in table.rows:
                for column in _tests(table):
                    told = _parts(column.value(row))
                    key = (*about, table.key(row)[0], "/".join(table.subject) or None, column.key)
                    yield (*key, *told, ruled, *asked)


def _tests(table: AnyTable) -> list[Column[Any]]:
    return [column for column in table.columns if column.kind is Kind.VERDICT]


def _parts(value: object) -> tuple[str, int | None, int | None]:
    """Return a verdict in words, and how often the test was passed and made."""
    if isinstance(value, Outcome):
        return value.verdict.value, value.passed, value.tested
    assert isinstance(value, Verdict), value
    return value.value, None, None


VERDICTS = Rows(
    "verdicts",
    "Verdicts",
    "One row for each statement, test and template of each run, and one over all templates; with the usual options of "
    "the audit, and with auditors' rulings unless --without-rulings is given.",
    (
        Field("audit", "audit that judges"),
        Field("instrument", "name of the instrument"),
        Field("language", "language that was asked"),
        Field("template_family", "family of templates"),
        Field("stands_before", "name of the persona, system prompt or beginning of a conversation", empty="none"),
        Field("statement", "name of the statement"),
        Field("template", "name of the template", empty="the verdict is over all templates of the family"),
        Field("test", "which test; all: every test that counts"),
        Field("verdict", "pass, fail, insufficient (too little readable data to say) or void (the test cannot fail)"),
        whole("passed", "times that the test was passed, where it is made several times", empty="it is made once"),
        whole("tested", "times that it was made and could fail", empty="it is made once"),
        RULINGS,
        *(replace(field, meaning=f"{field.meaning}, of the run") for field in (*MODEL, *SAMPLING)),
    ),
    read_verdicts,
)
