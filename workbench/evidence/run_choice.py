"""Converts options to choices of runs and readings, and runs to plain values."""

from __future__ import annotations

from dataclasses import asdict
from types import SimpleNamespace
from typing import Any

from stores.core.store import Store
from stores.runs.run_rows import Run
from workbench.domain.names import listed
from workbench.domain.prompts import TemplateChoice
from workbench.domain.readings import Readings
from workbench.domain.responses import EXACT
from workbench.errors import UsageError
from workbench.evidence.runs import find_run

OF_PERSONAS = ("persona", "persona_name", "personas")


def templates_of(options: SimpleNamespace) -> TemplateChoice:
    """Return the chosen templates and languages. Raises UsageError for a version that is not a number."""
    versions = []
    for text in listed(options.template_version):
        name, equals, number = text.rpartition("=")
        if not equals or not name or not number.isdecimal():
            raise UsageError(f"found --template-version {text!r}; give a template and its version, as personal-1=2")
        versions.append((name, int(number)))
    return TemplateChoice(
        families=listed(options.family),
        versions=tuple(versions),
        languages=listed(options.language),
        personas=listed(getattr(options, "persona", None)),
    )


def run_of(store: Store, options: SimpleNamespace, *, answered: bool = False) -> Run:
    """Return the run that the options of a command mean; see `find_run`."""
    return find_run(
        store,
        options.audit,
        options.model,
        options.instrument,
        options.sampling,
        dtype=options.dtype,
        templates=templates_of(options),
        snapshot=options.snapshot,
        fingerprint=options.fingerprint,
        answered=answered,
    )


def readings_of(options: SimpleNamespace) -> Readings:
    """Return the chosen readings; audits with only one rule have no option `reader`."""
    return Readings(getattr(options, "reader", None), rulings=not options.without_rulings)


def plain_run(run: Run) -> dict[str, Any]:
    """Return a run as plain values, with its personas if the model was asked with any."""
    left_out = {"model_id", "sampling_id"} | {name for name in OF_PERSONAS if not getattr(run, name)}
    return {key: value for key, value in asdict(run).items() if key not in left_out}


def about(run: Run) -> dict[str, Any]:
    """Return a run as plain values; scored prompts are not responses."""
    plain = plain_run(run)
    return plain if run.sampling.mode != EXACT else plain | {"responses": 0, "scored": run.responses}
