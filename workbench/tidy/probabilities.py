"""Rows of the probabilities that exact runs computed in place of answers."""

from __future__ import annotations

from collections.abc import Iterator

from stores.core.store import Store
from stores.runs.run_rows import Run
from workbench import registry
from workbench.audits.audit import Audit
from workbench.domain.prompts import AXIS
from workbench.domain.responses import EXACT
from workbench.errors import UsageError
from workbench.tidy.columns import (
    CELL,
    MODEL,
    MODEL_KEY,
    PROMPT_KEY,
    ColumnField,
    Pseudonyms,
    Row,
    RowKind,
    RowSelection,
    cell_values,
    model_values,
    number,
)


def read_probabilities(store: Store, choice: RowSelection) -> Iterator[Row]:
    """Yield a row for each label of each prompt of the selected exact runs."""
    people, personas = Pseudonyms(store, names=choice.names), store.runs.persona_names()
    models = store.data_rows.models()
    by_prompt = store.data_rows.cells(choice.audits, choice.instruments)
    cells = {cell.probe: cell for of_prompt in by_prompt.values() for cell in of_prompt}
    for audit, run in _exact_runs(store, choice):
        model = models[run.model_id]
        of_model, model_key = model_values(model), model["key"].hex()
        try:
            for probe, probability_by_label, vocabulary_probabilities in audit.label_probabilities(
                store, run
            ):
                cell = cells[probe]
                common_values = (
                    *cell_values(cell, people, personas.get(cell.axes.get(AXIS, ""))),
                    *of_model,
                )
                for label, probability in probability_by_label.items():
                    yield (
                        *common_values,
                        label,
                        probability,
                        vocabulary_probabilities.get(label),
                        cell.prompt_key,
                        model_key,
                    )
        except UsageError as error:
            choice.leave_out(f"Probabilities of {audit.name}: {error}.")


def _exact_runs(store: Store, choice: RowSelection) -> Iterator[tuple[Audit, Run]]:
    models = choice.chosen(store)
    for audit in registry.asking():
        if choice.audits and audit.name not in choice.audits:
            continue
        for run in store.runs.list(audit.name, personas=True):
            is_chosen = run.model_id in models and (
                not choice.instruments or run.instrument in choice.instruments
            )
            if is_chosen and run.sampling.mode == EXACT:
                yield audit, run


PROBABILITIES = RowKind(
    "probabilities",
    "Probabilities",
    "One row for each label of each prompt that was asked for probabilities instead of answers.",
    (
        *CELL,
        *MODEL,
        ColumnField(
            "label",
            "agree or disagree (for a question: yes or no), or the letter of an option; other: "
            "the likeliest tokens that are neither",
            recurs=True,
        ),
        number(
            "probability",
            "of the label, as its audit counts it with its usual options: of all tokens, or "
            "whole spellings, that say "
            "it; of questionnaires among the ten likeliest tokens, as published",
        ),
        number(
            "vocabulary_probability",
            "of all tokens of the vocabulary that say the label",
            "probability is over the vocabulary itself, or the backend names the likeliest "
            "tokens alone",
        ),
        PROMPT_KEY,
        MODEL_KEY,
    ),
    read_probabilities,
    notes=(
        "Probabilities of a prompt need not add up to 1: the rest is on texts that are no label. "
        "Auditors' rulings are rows of their own and change no row of probabilities.",
    ),
)
