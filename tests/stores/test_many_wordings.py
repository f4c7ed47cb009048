"""Fifty paraphrases of a statement, as questionnaires have them, come in from a file and can be
asked by name.
"""

from __future__ import annotations

import csv
import random
from pathlib import Path

from stores.core.store import Store
from tests.conftest import new_store
from workbench.audits.questionnaire.asking import default_variants
from workbench.domain.designs import Design
from workbench.domain.statements import VariantId, VariantKind, variant_order
from workbench.formats.native import csv_files, read_csv
from workbench.pipeline import planning

MANY = 50


def table(path: Path) -> Path:
    """Write a statement whose paraphrase columns stand in no order, as a spreadsheet may leave
    them.
    """
    columns = [f"paraphrase_{n}" for n in range(1, MANY + 1)]
    random.Random(7).shuffle(columns)
    words = {
        column: f"Ought the tax to rise, put {column.rpartition('_')[2]}?" for column in columns
    }
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, ["ref", "original", *columns])
        writer.writeheader()
        writer.writerow({"ref": "t-1", "original": "Should the tax rise?", **words})
        writer.writerow({"ref": "t-2", "original": "Should the tax fall?"})
    return path


def test_fifty_columns_of_paraphrases_are_fifty_numbered_paraphrases_and_come_back(
    tmp_path: Path,
) -> None:
    read = read_csv(table(tmp_path / "many.csv"))
    with new_store(tmp_path / "many.db") as store:
        store.instruments.add(read)
        held = store.instruments.get(read.name)
        first = sorted((w.variant for w in held.statements[0].wordings), key=variant_order)
        assert list(map(str, first)) == [
            "original",
            *(f"paraphrase-{n}" for n in range(1, MANY + 1)),
        ]
        assert default_variants(first) == tuple(first)
        tenth = held.statements[0].wording(VariantId(VariantKind.PARAPHRASE, 10), "en")
        assert tenth is not None
        assert tenth.text == "Ought the tax to rise, put 10?"
        assert len(held.statements[1].wordings) == 1, "an empty cell is no wording"
    out = tmp_path / "out"
    out.mkdir()
    for name, text in csv_files(held).items():
        (out / name).write_text(text, encoding="utf-8")
    again = read_csv(out)
    assert {(w.variant, w.text) for w in again.statements[0].wordings} == {
        (w.variant, w.text) for w in read.statements[0].wordings
    }


def test_some_of_fifty_are_asked_by_name(tmp_path: Path) -> None:
    read = read_csv(table(tmp_path / "many.csv"))
    with Store.open(tmp_path / "many.db", create=True) as store:
        store.instruments.add(read)
        named = ("original", "paraphrase-9", "paraphrase-50")
        plan = planning.plan(
            store, Design(read.name, "scripted", statements=("t-1",), variants=named, samples=1)
        )
    assert {probe.variant for probe in plan.probes} == set(named)
