"""What ships with workbench is found, complete and as its source prints it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from workbench import data
from workbench.domain.prompts import SLOT
from workbench.errors import UnknownName, WorkbenchError
from workbench.formats.native import read_csv


def test_the_reliability_audit_has_twelve_templates() -> None:
    # Ceron et al. 2024 (TACL), Table 7: three personal and three impersonal ones, each in two orders of its labels.
    templates = [template for template in data.shipped_templates() if template.family == "chat"]
    assert Counter((t.address, t.order) for t in templates) == {
        (address, order): 3 for address in ("personal", "impersonal") for order in ("printed", "swapped")
    }
    assert {(t.audit, t.language, t.chat) for t in templates} == {("reliability", "en", True)}
    assert all(t.render("x").messages[-1].content == "x" and t.user == SLOT for t in templates)


def test_every_family_has_each_template_once_in_both_orders() -> None:
    templates = [t for t in data.shipped_templates() if t.family == "chat"]
    orders = Counter((template.family, template.name) for template in templates)
    assert set(orders.values()) == {2}
    assert len({template.key for template in templates}) == len(templates)


def test_every_label_of_the_templates_is_in_the_lexicon() -> None:
    pairs = {(pair.positive, pair.negative) for pair in data.lexicon("en").pairs}
    assert {(t.positive, t.negative) for t in data.shipped_templates()} <= pairs


def test_the_shipped_instrument_is_complete() -> None:
    veldania = read_csv(data.shipped_instrument_folder())
    assert (veldania.name, len(veldania.statements)) == ("veldania", 56)
    assert {len(statement.wordings) for statement in veldania.statements} == {6}
    assert len(veldania.issues) == 8
    assert len(veldania.party_answers) == 56 * len(veldania.parties) == 392
    assert veldania.templates == data.shipped_templates()
    assert veldania.licence == "CC-BY-4.0"


@pytest.mark.parametrize(
    ("load", "there"),
    [
        (lambda: data.shipped_templates("relibility"), "reliability"),
        (lambda: data.lexicon("xx"), "en"),
        (lambda: data.shipped_instrument_folder("atlantis"), "veldania"),
    ],
)
def test_a_name_that_does_not_ship_is_answered_with_those_that_do(load: Callable[[], object], there: str) -> None:
    with pytest.raises(UnknownName, match=f"There is: .*{there}"):
        load()


def test_an_installed_package_carries_its_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside = tmp_path / "workbench" / "_data" / "instruments"
    inside.mkdir(parents=True)
    monkeypatch.setattr(data, "files", lambda package: tmp_path / package)
    assert data.data_folder() == inside.parent
    inside.rmdir()
    with pytest.raises(WorkbenchError, match="Install workbench again"):
        data.data_folder()
