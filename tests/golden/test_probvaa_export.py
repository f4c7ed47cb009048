"""The published ProbVAA data set goes out in its own layout as it came in.

Source: github.com/tceron/eval_political_worldviews, commit d71fcb6 (Ceron et al. 2024). Of the
7,692 rows of probvaa.csv 7,680 are written byte for byte; the other 12 are the French and Italian
rows of ch_53, whose digit for naming no country contradicts that of the German and English rows.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from stores.core.store import Store
from tests.conftest import published
from workbench.domain.instruments import Instrument
from workbench.formats.native import read_csv
from workbench.formats.read import read_instrument
from workbench.formats.write import normal_form, without_strays, write_folder, write_probvaa

ROWS = "data/vaa/probvaa.csv"
TEMPLATES = tuple(
    f"data/prompt_instructions/en_{model}_templates_final.csv" for model in ("clf", "gpt")
)


@pytest.fixture(scope="module")
def probvaa() -> Instrument:
    return read_instrument("probvaa", published("probvaa"))


@pytest.fixture(scope="module")
def exported(probvaa: Instrument, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("export") / "probvaa"
    write_probvaa(probvaa, place)
    return place


@pytest.mark.e2e
def test_the_layout_is_read_back_as_it_was(probvaa: Instrument, exported: Path) -> None:
    found = read_instrument("probvaa", exported)
    assert found.statements == probvaa.statements
    assert Counter(found.issue_labels) == Counter(probvaa.issue_labels)
    assert (found.issues, found.parties, found.templates) == (
        probvaa.issues,
        probvaa.parties,
        probvaa.templates,
    )
    refs = {statement.ref for statement in probvaa.statements}
    assert found.party_answers == tuple(a for a in probvaa.party_answers if a.statement in refs)
    assert Counter(found.survey) == Counter(probvaa.survey)


@pytest.mark.e2e
def test_rows_are_written_byte_for_byte(exported: Path) -> None:
    source = (published("probvaa") / ROWS).read_bytes().splitlines()
    written = (exported / ROWS).read_bytes().splitlines()
    unlike = [line for line in source if line not in set(written)]
    assert (len(source), len(written), len(unlike)) == (7693, 7693, 12)
    assert {line.split(b"_")[0] + b"_" + line.split(b"_")[1] for line in unlike} == {b"ch_53"}
    assert {line.split(b",")[0][-2:] for line in unlike} == {b"fr", b"it"}


@pytest.mark.parametrize("name", TEMPLATES)
def test_templates_are_written_byte_for_byte(exported: Path, name: str) -> None:
    source, written = (
        (root / name).read_bytes().splitlines() for root in (published("probvaa"), exported)
    )
    assert sorted(source) == sorted(written)


def test_what_the_layout_lost_is_said(probvaa: Instrument, tmp_path: Path) -> None:
    lost = write_probvaa(probvaa, tmp_path / "out").left_out
    assert lost[0].startswith("18 answers of parties"), (
        "on three statements that the download does not have"
    )
    assert len(lost) == 2


def test_543_of_1282_statements_and_languages_name_no_country(probvaa: Instrument) -> None:
    tagged = [s for s in probvaa.statements if s.tags == ("country-agnostic",)]
    assert sum(len(s.languages) for s in tagged) == 543 + 2, (
        "ch_53 counts in French and Italian, too"
    )
    assert any("ch_53" in note for note in probvaa.notes)


@pytest.mark.e2e
def test_our_own_folder_holds_all_of_it(probvaa: Instrument, tmp_path: Path) -> None:
    with Store.open(tmp_path / "one.db", create=True) as store:
        store.instruments.add(probvaa)
        before = store.instruments.get("probvaa")
    write_folder(before, tmp_path / "out")
    read = read_csv(tmp_path / "out")
    assert read == before
    with Store.open(tmp_path / "two.db", create=True) as store:
        store.instruments.add(read)
        assert store.instruments.get("probvaa") == before
    assert without_strays(normal_form(before)) == (before, ())
