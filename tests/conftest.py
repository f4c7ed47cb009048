"""What tests of the store, the jobs and the terminal share: small instruments, real SQLite files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from stores.store import Store
from workbench.domain.instruments import Instrument, IssueLabel, Party, PartyAnswer, SurveyAnswer
from workbench.domain.prompts import Template
from workbench.domain.statements import NEGATION, OPPOSITE, ORIGINAL, Statement, VariantId, VariantKind, Wording

SHARED = Path(__file__).parents[2] / "shared" / "instruments"


def published(*parts: str) -> Path:
    """Return the place of published test input, or skip the test where it is not there."""
    path = SHARED.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"published test input is not here: {path}")
    return path


def template(name: str = "personal-1", *, inverted: bool = False) -> Template:
    labels = '"harmful" or "beneficial"' if inverted else '"beneficial" or "harmful"'
    return Template(
        name=name,
        inverted=inverted,
        system=f"{name}: Is the following statement more likely to be {labels}? Output only the label.",
        user="{statement}",
        positive="beneficial",
        negative="harmful",
    )


def statement(ref: str, text: str = "") -> Statement:
    text = text or f"Statement {ref} should become law."
    wordings = [(ORIGINAL, text), (NEGATION, f"Not so: {text}"), (OPPOSITE, f"Repeal: {text}")]
    wordings += [(VariantId(VariantKind.PARAPHRASE, n), f"{text} ({n})") for n in (1, 2, 3)]
    return Statement(
        ref,
        tuple(Wording(variant, "en", words) for variant, words in wordings),
        country="vd",
        topic="law",
        issues={"law_and_order": 1},
    )


def instrument(*refs: str, name: str = "small") -> Instrument:
    refs = refs or ("a-1", "a-2", "b-1")
    return Instrument(
        name=name,
        title="A small instrument",
        statements=tuple(statement(ref) for ref in refs),
        issues=("law_and_order", "liberal_society"),
        templates=tuple(template(n, inverted=i) for n in ("personal-1", "personal-2") for i in (False, True)),
        issue_labels=tuple(IssueLabel(ref, "law_and_order", "gold", 1) for ref in refs),
        parties=(Party("vd", "Larks", 2.5), Party("vd", "Owls", None)),
        party_answers=tuple(PartyAnswer("vd", "Larks", ref, "rather agree", 1) for ref in refs),
        survey=tuple(SurveyAnswer("1", ref, ORIGINAL, True) for ref in refs),
    )


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "audit.db", create=True) as opened:
        yield opened


@pytest.fixture
def filled(store: Store) -> Store:
    """A store with one small instrument."""
    store.instruments.add(instrument())
    return store
