"""Stores of every audit for the tests of reports: small, with answers that try to be more than
text.
"""

from __future__ import annotations

from pathlib import Path

from stores.annotation.annotator import Annotator
from stores.core.store import Store
from tests import questionnaires
from tests.conftest import new_store
from tests.jobs.test_response_bias_runs import ask as ask_choices
from tests.jobs.test_response_bias_runs import first_option, pairs
from tests.tui import audit_runs, bias_stores
from workbench.data import shipped_templates
from workbench.domain.annotations import Purpose
from workbench.domain.instruments import Instrument, with_pairs
from workbench.domain.rulings import RulingVerdict
from workbench.evidence import ruling_subjects
from workbench.pipeline.queues import QueueSpec, make_queue

QUEUE, PEOPLE = "by-two", ("Annabel", "Bartholomew")


def reliability(path: Path) -> Path:
    """Return a store with answers to the reliability audit, hostile ones among them, and a
    ruling.
    """
    audit_runs.audited(path)
    with Store.open(path) as store:
        thing = ruling_subjects.find_subject(store, "mig-01/paraphrase-2", None)
        ruling_subjects.add_ruling(
            store,
            thing,
            RulingVerdict.WORDING_AT_FAULT,
            auditor="otto",
            reason="<b>it</b> asks two things",
            reading=None,
        )
    return path


def bias(path: Path) -> Path:
    """Return a store whose free answers a classifier read, and two people labelled."""
    bias_stores.full(path)
    with Store.open(path) as store:
        make_queue(store, QueueSpec(QUEUE, Purpose.TRAINING, per_stratum=4, labels=2))
    for name in PEOPLE:
        with Annotator.open(path, QUEUE, name) as person:
            while (item := person.next()) is not None:
                label = bias_stores.read_as(item.context.text)[0]
                person.label(
                    item.unit, "neutral" if name == PEOPLE[0] and item.unit % 4 == 0 else label
                )
    return path


def questionnaire(path: Path) -> Path:
    with new_store(path) as store:
        store.instruments.add(questionnaires.panel())
        questionnaires.ask(store, questionnaires.Known())
    return path


def choices(path: Path) -> Path:
    with new_store(path) as store:
        blank = Instrument("choices", "Choices", (), templates=shipped_templates("response_bias"))
        store.instruments.add(with_pairs(blank, pairs()))
        ask_choices(store, first_option())
    return path


MAKERS = {
    "reliability": reliability,
    "bias": bias,
    "questionnaire": questionnaire,
    "choices": choices,
}
