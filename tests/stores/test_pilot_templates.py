"""A pilot of more templates of one address than it chooses."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from stores.core.store import Store
from tests.tui.audit_runs import YES, audited, small
from workbench.audits.consistency.judged import judge_consistency
from workbench.audits.consistency.options import ConsistencyOptions
from workbench.audits.consistency.pilot import BEST, judge_pilot
from workbench.audits.consistency.result import book
from workbench.domain.instruments import Instrument
from workbench.evidence.runs import AnswerSelection

PERSONAL, IMPERSONAL = 5, 2


def many_templates() -> Instrument:
    """Return an instrument with five personal templates and two impersonal ones."""
    base = small()
    first = [template for template in base.templates if template.name == "personal-1"]
    names = [f"personal-{index}" for index in range(1, PERSONAL + 1)]
    names += [f"impersonal-{index}" for index in range(1, IMPERSONAL + 1)]
    templates = tuple(
        replace(
            template,
            name=name,
            address=name.partition("-")[0],
            user=f"{name}: {template.user}",
        )
        for name in names
        for template in first
    )
    return replace(base, templates=templates)


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pilot") / "pilot.db"
    return audited(path, lambda _: ((YES, 30),), base=many_templates())


def test_a_pilot_chooses_three_templates_of_each_address(asked: Path) -> None:
    """Appendix B.1 of Ceron et al. 2024: "selected the three prompts [...] for each category"."""
    with Store.open(asked) as store:
        ranks = judge_pilot(store, AnswerSelection(), ConsistencyOptions(resamples=500)).ranks
    assert len(ranks) == PERSONAL + IMPERSONAL
    chosen = Counter(rank.address for rank in ranks if rank.chosen)
    assert chosen == {"personal": BEST, "impersonal": IMPERSONAL}


def test_the_table_of_templates_chooses_three_of_each_address(asked: Path) -> None:
    with Store.open(asked) as store:
        judged = judge_consistency(store, AnswerSelection(), ConsistencyOptions(resamples=500))
    table = next(entry for entry in book(judged).contents if entry.name == "templates")
    chosen = Counter(row.address for row in table.make("smol").rows if row.chosen)
    assert chosen == {"personal": BEST, "impersonal": IMPERSONAL}
