"""Rows of figures: every value in every table of every audit."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from stores.core.store import Store
from stores.runs.run_rows import Run
from workbench import registry
from workbench.audits.audit import Audit, Given, Medium, Printed
from workbench.domain.readings import ReadingChoice
from workbench.domain.responses import known_parameter
from workbench.domain.verdicts import Estimate, MeanSd, RepeatedVerdict, Verdict
from workbench.errors import UsageError
from workbench.evidence.readings import source_of
from workbench.figures.table import AnyTable, Column, Kind, Value
from workbench.figures.write.data_files import plain
from workbench.tidy.columns import (
    MODEL,
    RULINGS,
    SAMPLING,
    ColumnField,
    Pseudonyms,
    Row,
    RowKind,
    RowSelection,
    model_values,
    number,
    whole,
)


def results(store: Store, choice: RowSelection) -> Iterator[tuple[Audit, Given, Printed]]:
    """Yield every result of the selected audits, with its options. Failures are recorded."""
    for audit in registry.every_audit():
        if (choice.audits and audit.name not in choice.audits) or not audit.answered(store):
            continue
        default_options = Given(**vars(audit.usual()) | {"model": ",".join(choice.models) or None})
        for options in audit.results(store, default_options):
            if choice.instruments and options.instrument not in (None, *choice.instruments):
                continue
            try:
                yield (
                    audit,
                    options,
                    audit.printed(store, _with_instruments(options, choice), Medium.FILES),
                )
            except UsageError as error:
                choice.leave_out(f"Figures of {audit.name}: {error}.")


def _with_instruments(options: Given, choice: RowSelection) -> Given:
    """Return options restricted to the selected instruments, if a result covers several."""
    instrument_names = options.instrument or ",".join(choice.instruments) or None
    return Given(
        **vars(options) | {"instrument": instrument_names, "without_rulings": not choice.rulings}
    )


def read_figures(store: Store, choice: RowSelection) -> Iterator[Row]:
    """Yield the rows of figures. Cells without a value or a reason for its absence are left out."""
    people = Pseudonyms(store, names=choice.names)
    people_names = set() if choice.names else {person.name for person in store.people.list()}

    def without_name(text: str) -> str:
        """Return the pseudonym of a person, or any other text unchanged."""
        return people.called(text) if text in people_names else text

    for audit, options, printed in results(store, choice):
        rulings = printed.about.get("rulings")
        rulings_text = rulings["changing_in_short"] if isinstance(rulings, Mapping) else None
        common_values = (audit.name, printed.title, options.instrument, options.model)
        for table in printed.tables:
            for values in _table_rows(table, without_name):
                yield (*common_values, *values, rulings_text)


def _table_rows(table: AnyTable, without_name: Callable[[str], str]) -> Iterator[Row]:
    """Yield the values of each cell of a table that has a value or a reason for its absence."""
    subject = " / ".join(table.subject) or None
    for row in table.rows:
        key = " / ".join(map(without_name, table.key(row)))
        for column in table.columns:
            value = column.value(row)
            if isinstance(value, str):
                value = without_name(value)
            if value is None or value == "":
                continue
            yield (
                table.name,
                subject,
                key,
                column.key,
                column.title,
                column.kind.value,
                column.unit or None,
                *_parts(value),
            )


def _parts(value: Value) -> tuple[Any, ...]:
    """Return (value, text, low, high, n, excluded, sd, passed, tested, undefined, interval)."""
    if isinstance(value, Estimate):
        low, high = plain(value.low), plain(value.high)
        return (
            plain(value.value),
            None,
            low,
            high,
            value.n,
            value.excluded,
            None,
            None,
            None,
            value.undefined or None,
            value.interval or None,
        )
    if isinstance(value, MeanSd):
        return (
            plain(value.mean),
            None,
            None,
            None,
            value.n,
            value.excluded,
            plain(value.sd),
            *(None,) * 4,
        )
    if isinstance(value, RepeatedVerdict):
        return (None, value.verdict.value, *(None,) * 5, value.passed, value.tested, None, None)
    if isinstance(value, Verdict):
        return (None, value.value, *(None,) * 9)
    if isinstance(value, bool | int | float):
        plain_value = plain(float(value))
        return (plain_value, None, *(None,) * 9)
    text = value if isinstance(value, str) else json.dumps(list(value or ()), ensure_ascii=False)
    return (None, text, *(None,) * 9)


FIGURES = RowKind(
    "figures",
    "Figures",
    "One row for each value in each table of each audit, with the audit's usual options, and with "
    "auditors' rulings unless --without-rulings is given. The same tables as they are: workbench "
    "show STORE AUDIT --csv FOLDER.",
    (
        ColumnField("audit", "audit that the figure is of"),
        ColumnField("result", "which result: what it is about"),
        ColumnField("instrument", "name of the instrument", empty="the figure is about several"),
        ColumnField(
            "model",
            "name of the model",
            empty="the figure is about several, or the table names them",
        ),
        ColumnField("table", "name of the table"),
        ColumnField(
            "subject",
            "what the table is about, where there are several of its name",
            empty="there is one",
        ),
        ColumnField("row", "what tells the row of the table from its others"),
        ColumnField("column", "name of the column"),
        ColumnField("title", "title of the column, as people see it"),
        ColumnField("kind", "what the number is: share, points, coefficient, count, verdict, …"),
        ColumnField("unit", "unit of the number", empty="its kind says all"),
        number(
            "value",
            "the number; a share is from 0 to 1; of a mark 1 or 0",
            "a text or a verdict, or undefined",
        ),
        ColumnField(
            "text",
            "the text or the verdict; several texts are a JSON list",
            empty="the figure is a number",
        ),
        number("low", "lower end of the 95 % interval", "there is no interval"),
        number("high", "upper end of the 95 % interval", "there is no interval"),
        whole("n", "units that the figure rests on", "not an estimate"),
        whole("excluded", "units that could not be used", "not an estimate"),
        number("sd", "standard deviation beside a mean", "not a mean, or of too few values"),
        whole("passed", "times that a test was passed", "not a verdict on several tests"),
        whole(
            "tested", "times that a test was made and could fail", "not a verdict on several tests"
        ),
        ColumnField("undefined", "why an estimate has no value", empty="it has one"),
        ColumnField(
            "interval",
            "name of the method of the interval: workbench help coverage",
            empty="there is none",
        ),
        RULINGS,
    ),
    read_figures,
)


def judged(store: Store, choice: RowSelection) -> Iterator[tuple[Run, tuple[AnyTable, ...]]]:
    """Yield every selected run with its tables of verdicts.

    Runs that cannot be judged are left out.
    """
    models, readings = choice.chosen(store), ReadingChoice(rulings=choice.rulings)
    for audit in registry.asking():
        if choice.audits and audit.name not in choice.audits:
            continue
        for run in store.runs.list(audit.name, personas=True):
            if run.model_id in models and (
                not choice.instruments or run.instrument in choice.instruments
            ):
                try:
                    tables = tuple(audit.verdict_tables(store, run, readings))
                except UsageError as error:
                    choice.leave_out(f"Verdicts of {audit.name}: {error}.")
                    continue
                if tables:
                    yield run, tables


def overall(store: Store, choice: RowSelection) -> dict[tuple[int, int, int], str]:
    """Return the verdict over all tests, under its template, for every answer.

    The key is (probe, model, sampling).
    """
    verdict_by_answer: dict[tuple[int, int, int], str] = {}
    for run, tables in judged(store, choice):
        verdict_by_cell = {
            (table.key(row)[0], *table.subject): _verdicts_parts(_tests(table)[-1].value(row))[0]
            for table in tables
            if table.subject
            for row in table.rows
        }
        for ref, _, _, template, _, probe, _ in store.runs.cells(run):
            if (verdict := verdict_by_cell.get((ref, template))) is not None:
                verdict_by_answer[probe, run.model_id, run.sampling_id] = verdict
    return verdict_by_answer


def read_verdicts(store: Store, choice: RowSelection) -> Iterator[Row]:
    """Yield the rows of verdicts."""
    samplings = store.data_rows.samplings()
    models = store.data_rows.models()
    for run, tables in judged(store, choice):
        model, sampling = models[run.model_id], samplings[run.sampling_id]
        common_values = (
            run.audit,
            run.instrument,
            run.language,
            run.family,
            run.persona_name or None,
        )
        sampling_values = [
            known_parameter(sampling, "mode" if field.name == "sampling" else field.name)
            for field in SAMPLING
        ]
        asked_values = tuple(
            None if value == "" else value for value in (*model_values(model), *sampling_values)
        )
        rulings_cell = (
            source_of(store, [run], ReadingChoice(rulings=choice.rulings)).ruling_notes().as_cell()
        )
        for table in tables:
            for row in table.rows:
                for column in _tests(table):
                    verdict_values = _verdicts_parts(column.value(row))
                    key = (
                        *common_values,
                        table.key(row)[0],
                        "/".join(table.subject) or None,
                        column.key,
                    )
                    yield (*key, *verdict_values, rulings_cell, *asked_values)


def _tests(table: AnyTable) -> list[Column[Any]]:
    return [column for column in table.columns if column.kind is Kind.VERDICT]


def _verdicts_parts(value: object) -> tuple[str, int | None, int | None]:
    """Return a verdict in words, and how often the test was passed and made."""
    if isinstance(value, RepeatedVerdict):
        return value.verdict.value, value.passed, value.tested
    assert isinstance(value, Verdict), value
    return value.value, None, None


VERDICTS = RowKind(
    "verdicts",
    "Verdicts",
    "One row for each statement, test and template of each run, and one over all templates; with "
    "the usual options of the audit, and with auditors' rulings unless --without-rulings is given.",
    (
        ColumnField("audit", "audit that judges"),
        ColumnField("instrument", "name of the instrument"),
        ColumnField("language", "language that was asked"),
        ColumnField("template_family", "family of templates"),
        ColumnField(
            "stands_before",
            "name of the persona, system prompt or beginning of a conversation",
            empty="none",
        ),
        ColumnField("statement", "name of the statement"),
        ColumnField(
            "template",
            "name of the template",
            empty="the verdict is over all templates of the family",
        ),
        ColumnField("test", "which test; all: every test that counts"),
        ColumnField(
            "verdict",
            "pass, fail, insufficient (too little readable data to say) or void (the test cannot "
            "fail)",
        ),
        whole(
            "passed",
            "times that the test was passed, where it is made several times",
            empty="it is made once",
        ),
        whole("tested", "times that it was made and could fail", empty="it is made once"),
        RULINGS,
        *(replace(field, meaning=f"{field.meaning}, of the run") for field in (*MODEL, *SAMPLING)),
    ),
    read_verdicts,
)
