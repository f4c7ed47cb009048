"""Which multiple-choice questions a design asks about, read from a store."""

from __future__ import annotations

from dataclasses import replace

from stores.core.store import Store
from workbench.audits.audit import Given
from workbench.audits.response_bias.names import find_kind, kind_name
from workbench.audits.response_bias.options import BIASES
from workbench.domain.choices import Bias, ChoiceItems, over_biases
from workbench.domain.designs import TRIES, Design
from workbench.domain.names import listed
from workbench.domain.questionnaire_tallies import named_few
from workbench.domain.statements import ORIGINAL
from workbench.options.shared import INSTRUMENT, STATEMENTS, VARIANTS


def questions(store: Store, design: Design) -> ChoiceItems:
    """Return which statements are multiple-choice questions. Raises UsageError where none is, or one is not."""
    items = store.choices.items(design.instrument)
    if not items:
        raise INSTRUMENT.error(
            f"{design.instrument} has no multiple-choice questions. Import some: workbench import STORE --format "
            "choices PATH (data/README.md), or choose another --instrument"
        )
    others = [ref for ref in design.statements if ref not in items]
    if others:
        raise STATEMENTS.error(f"{named_few(others)} of {design.instrument}: not a multiple-choice question")
    return items


def designed(store: Store, design: Design, own: Given) -> Design:
    """Return a design that asks the questions of some biases alone, and so often as told. Raises UsageError."""
    if design.variants and str(ORIGINAL) not in design.variants:
        raise VARIANTS.error("choose the original too; each other form is compared with it")
    tries = TRIES if own.tries is None else own.tries
    if own.bias is None:
        return replace(design, tries=tries)
    if not listed(own.bias):
        raise BIASES.error("found no value; name one or more, or leave it out")
    items = questions(store, design)
    known = [(item.bias, item.variant) for item in items.values()]
    wanted = [find_kind(name, known) for name in listed(own.bias)]
    of_these = over_biases(item for item in items.values() if (item.bias, item.variant) in wanted)
    return replace(design, tries=tries, statements=tuple(of_these))


def biases_of(store: Store, instrument: str) -> tuple[str, ...]:
    """Return the biases that an instrument's questions are about, with the variants of their wordings."""
    kinds = {(item.bias, item.variant) for item in store.choices.items(instrument).values()}
    in_order = sorted(kinds, key=lambda kind: (list(Bias).index(kind[0]), kind[1]))
    return tuple(kind_name(*kind) for kind in in_order)
