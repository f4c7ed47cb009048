"""Veldania in English and German: the same statements, and what a comparison of the two languages
says.
"""

from __future__ import annotations

import csv
import json
import re

import pytest

from stores.core.store import Store
from workbench.cli.main import main
from workbench.data import shipped_instrument_folder, shipped_templates
from workbench.domain.designs import Design
from workbench.domain.instruments import Instrument
from workbench.domain.prompts import Prompt
from workbench.formats.native import read_csv
from workbench.inference.scripted.model import LABELS, QUOTED, ScriptedModel, ScriptedPersona
from workbench.pipeline import asking, planning

NAME = "veldania_languages"
WORDINGS = ("original", "paraphrase_1", "negation", "opposite")
NEGATOR = re.compile(r"\b(?:nicht|kein\w*)\b")
LANGUAGES = ("de", "es", "fr", "hu", "it", "nl", "pl")
REJECTED = ("negation", "opposite")

Rows = list[dict[str, str]]


def rows(instrument: str) -> Rows:
    path = shipped_instrument_folder(instrument) / "statements.csv"
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, strict=True))


@pytest.fixture(scope="module")
def german() -> Rows:
    return [row for row in rows(NAME) if row["language"] == "de"]


def test_the_english_rows_are_those_of_veldania() -> None:
    english = [
        {k: v for k, v in row.items() if k != "language"}
        for row in rows(NAME)
        if row["language"] == "en"
    ]
    assert english == rows("veldania")


def test_each_statement_has_four_german_wordings_of_its_own(german: Rows) -> None:
    assert [row["ref"] for row in german] == [row["ref"] for row in rows("veldania")]
    texts = [row[name] for row in german for name in WORDINGS]
    assert all(texts)
    assert len(texts) == len(set(texts)) == 4 * 56
    assert all(text.endswith(".") and text == text.strip() for text in texts)


def test_a_german_negation_is_its_original_with_a_negator_and_an_opposite_has_none(
    german: Rows,
) -> None:
    for row in german:
        assert len(NEGATOR.findall(row["negation"])) == len(NEGATOR.findall(row["original"])) + 1, (
            row["ref"]
        )
        assert not NEGATOR.search(row["opposite"]), row["ref"]


def test_the_translation_says_that_no_native_speaker_has_reviewed_it() -> None:
    about = (shipped_instrument_folder(NAME) / "instrument.toml").read_text(encoding="utf-8")
    assert "no native speaker has reviewed them" in about


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_scripted_model_finds_the_labels_of_every_template(language: str) -> None:
    for template in (
        *shipped_templates("reliability", language),
        *shipped_templates("bias_score", language),
    ):
        if not template.scale:
            text = f"{template.system or ''} {template.user}"
            found = LABELS.search(text) or QUOTED.search(text)
            assert found is not None, template.name
            assert {label for label in found.groups() if label} == {
                template.positive,
                template.negative,
            }


class Bilingual(ScriptedModel):
    """Holds one opinion of all statements in English, and the other one of economic statements in
    German.
    """

    def __init__(self, instrument: Instrument, other: str = "") -> None:
        super().__init__(ScriptedPersona(unreadable=0.0))
        self._agrees = {
            wording.text: (wording.variant.kind.value not in REJECTED)
            != (wording.language == "de" and bool(other) and statement.ref.startswith(other))
            for statement in instrument.statements
            for wording in statement.wordings
        }
        self._positive = {template.positive for template in instrument.templates}

    def _labels(self, prompt: Prompt) -> tuple[str, str, float]:
        first, second, _ = super()._labels(prompt)
        agrees = next(
            held for text, held in self._agrees.items() if text in prompt.messages[-1].content
        )
        positive = first.rstrip(".").casefold() in {label.casefold() for label in self._positive}
        return first, second, float(positive == agrees)


def compared(store: Store, capsys: pytest.CaptureFixture[str], other: str) -> dict[str, object]:
    """Ask both languages, and return what the comparison says of the stance."""
    instrument = store.instruments.get(NAME)
    for language in ("en", "de"):
        design = Design(
            NAME,
            "scripted",
            samples=2,
            language=language,
            variants=("original", "paraphrase-1", "negation", "opposite"),
        )
        model = Bilingual(instrument, other)
        job = store.jobs.create("sample", design.as_json(), 1)
        attempt = store.jobs.claim(job, "test")
        asking.collect(
            store, planning.plan(store, design, card=model.card), model, attempt=attempt, job=job
        )
        store.jobs.finish(job, attempt, "done")
    capsys.readouterr()
    assert (
        main(
            [
                "show",
                str(store.path),
                "reliability",
                "--compare",
                "scripted · en",
                "scripted · de",
                "--json",
            ]
        )
        == 0
    )
    tables = json.loads(capsys.readouterr().out)["tables"]
    found = [row for table in tables for row in table["rows"] if row.get("verdict") == "stance"]
    return found[0]  # type: ignore[no-any-return]


@pytest.fixture
def bilingual(store: Store) -> Store:
    store.instruments.add(read_csv(shipped_instrument_folder(NAME)))
    return store


@pytest.mark.e2e
@pytest.mark.parametrize(("other", "moved"), [("", 0), ("eco", 7)])
def test_a_comparison_says_whether_the_stance_moves_with_the_language(
    bilingual: Store, capsys: pytest.CaptureFixture[str], other: str, moved: int
) -> None:
    row = compared(bilingual, capsys, other)
    assert (row["lost"], row["gained"]) == (moved, 0)
    assert row["undecided"] == 0
