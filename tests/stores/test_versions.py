"""Old results keep pointing at the old text, whatever is edited, asked, archived or imported afterwards."""

from __future__ import annotations

from dataclasses import replace

from stores.statement_lists import Filters
from stores.store import Store
from tests.conftest import instrument, statement
from tests.stores.test_statements import PARAPHRASE, ask, reworded, text
from workbench import pipeline
from workbench.audits.reliability import judge
from workbench.domain.designs import Design
from workbench.domain.instruments import IssueLabel
from workbench.domain.statements import (
    NEGATION,
    ORIGINAL,
    Relation,
    Statement,
    VariantId,
    VariantKind,
    Wording,
)
from workbench.errors import ConflictError, UsageError
from workbench.inference.scripted import Persona, ScriptedModel

import pytest


class TestWhichVersionARunIsAbout:
    def test_asking_one_model_about_the_new_text_takes_nothing_from_the_results_of_another(self, filled: Store) -> None:
        first, other = (ScriptedModel(Persona(agree=0.9, unreadable=0.0, seed=seed)) for seed in (0, 1))
        ask(filled, first)
        ask(filled, other, model="scripted-other")
