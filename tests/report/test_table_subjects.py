"""Whatever words follow the name of a table, a mistake among them is said in a sentence."""

from __future__ import annotations

import contextlib
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest

from stores.core.store import Store
from tests.report.stores import MAKERS
from workbench import registry
from workbench.audits.printed import Medium
from workbench.audits.result import Result, tables
from workbench.errors import WorkbenchError
from workbench.evidence.runs import AnswerSelection

WORDS = ("x", "", "0", "-1", "1", "original", "party", "person", "bias", "qm", "left", "all")


def results(store: Store) -> list[Result]:
    """Return the results of all audits that have answers."""
    judged = []
    for name in registry.audits():
        audit = registry.audit(name)
        try:
            judged.append(
                audit.judge(store, AnswerSelection(), audit.options(), lambda: nullcontext(store))
            )
        except WorkbenchError:
            continue
    return judged


def known_words(result: Result) -> list[str]:
    """Return words that name something in tables of a result."""
    words = [*result.runs]
    for entry in result.book.contents:
        if entry.empty:
            continue
        table = entry.make(*(entry.subjects[0] if entry.subjects else ()))
        for row in table.rows[:3]:
            words += map(str, table.key(row))
    return words


@pytest.mark.parametrize("maker", MAKERS)
def test_wrong_subjects_of_tables_are_refused(maker: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    with Store.open(MAKERS[maker](tmp_path / "audit.db")) as store:
        judged = results(store)
        assert judged
        for result in judged:
            words = [*WORDS, *known_words(result)]
            for name in result.book.behind:
                for _ in range(100):
                    subject = rng.choice(words, rng.integers(0, 6)).tolist()
                    with contextlib.suppress(WorkbenchError):
                        tables(result, [name, *subject], {}, Medium.PEOPLE)
