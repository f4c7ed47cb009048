"""A lexicon that an instrument brings is stored with it, and reads the answers to it wherever the
store is.
"""

from __future__ import annotations

import csv
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from stores.core.store import Store
from stores.runs.run_rows import Answered, Run
from tests.conftest import instrument, new_store
from workbench import data
from workbench.audits.reliability.judged import judge_reliability
from workbench.cli.main import main
from workbench.domain.designs import Design
from workbench.domain.instruments import BroughtLexicon
from workbench.domain.responses import ModelCard, Sampling
from workbench.errors import InputError, UsageError
from workbench.evidence.plans import instrument_content
from workbench.evidence.readings import read
from workbench.evidence.refusals import refusals_of
from workbench.formats.read import read_instrument
from workbench.formats.write import export
from workbench.lint import lint
from workbench.pipeline import planning
from workbench.pipeline.design_checks import decided_by
from workbench.pipeline.importing import ImportMaterial, import_sentences, prepared, write_import

FINNISH = """language = "fi"
[[pair]]
positive = "samaa mieltä"
negative = "eri mieltä"
[negation]
before = ["en"]
[refusal]
phrases = ["tekoälynä"]
[about]
reviewed = false
words = ["olen", "tämä", "että"]
"""
REVIEWED = FINNISH.replace("reviewed = false", "reviewed = true")
ANSWERS = (
    ("Olen samaa mieltä.", 4),
    ("En ole samaa mieltä", 3),
    ("Tekoälynä en voi vastata.", 2),
    ("I agree.", 1),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a Finnish instrument with its templates and its lexicon."""
    place = tmp_path / "suomi"
    (place / "lexicons").mkdir(parents=True)
    (place / "instrument.toml").write_text('name = "suomi"\nlanguage = "fi"\n', encoding="utf-8")
    (place / "statements.csv").write_text(
        "ref,original\na,Verot alas.\nb,Vuokrat alas.\n", encoding="utf-8"
    )
    (place / "templates.csv").write_text(
        "audit,family,name,order,language,user,positive,negative\n"
        'reliability,chat,oma,printed,fi,"samaa mieltä vai eri mieltä? {statement}",samaa '
        "mieltä,eri mieltä\n",
        encoding="utf-8",
    )
    (place / "lexicons" / "fi.toml").write_text(FINNISH, encoding="utf-8")
    return place


def asked(store: Store, name: str = "suomi") -> Run:
    """Ask a run of the instrument, whose answers are the same for every prompt."""
    found = planning.plan(store, Design(name, "scripted", samples=10))
    store.runs.add_probes("reliability", name, found.design.language, found.templates, found.probes)
    attempt = store.jobs.claim(
        store.jobs.create("sample", found.design.as_json(), found.samples), "1.0"
    )
    ids = store.runs.begin(ModelCard("scripted", "r1", "scripted", "float32", "none"), Sampling())
    store.runs.add(*ids, attempt, [Answered(key, 1, 10, ANSWERS) for key in found.prompts])
    [run] = [one for one in store.runs.list() if one.instrument == name]
    return run


def test_answers_are_read_by_it_and_still_are_where_the_store_alone_is(
    folder: Path, tmp_path: Path
) -> None:
    material = ImportMaterial("csv", "suomi", read_instrument("csv", folder))
    with new_store(tmp_path / "audit.db") as store:
        outcome = write_import(store, material)
        told = (
            "- answers in fi are read by the instrument's own lexicon, in place of one that "
            "workbench may have"
        )
        assert told in import_sentences(outcome, store.path)
        plan = planning.plan(store, Design("suomi", "scripted", samples=10))
        assert "no native speaker has reviewed the lexicon of 'fi'" in plan.describe()
        asked(store)
    shutil.rmtree(folder)
    shutil.copy(tmp_path / "audit.db", tmp_path / "colleague.db")
    with Store.open(tmp_path / "colleague.db") as store:
        [run] = store.runs.list()
        _, card = read(store, run)
        assert card.version.endswith(data.lexicon(brought=FINNISH).version)
        found = refusals_of(store, run)
        assert (found.answers, found.refused, found.foreign) == (20, 4, 2)
        labels = {
            (one.text, one.label)
            for probe in store.raw_answers.probes(run)
            for one in store.runs.responses(run, probe.probe, [store.readings.reader(card)])
        }
        assert labels == {
            ("Olen samaa mieltä.", "agree"),
            ("En ole samaa mieltä", "disagree"),
            ("Tekoälynä en voi vastata.", None),
            ("I agree.", None),
        }
        said_so = "No native speaker has reviewed the lexicon of fi that the instrument brings"
        assert said_so in judge_reliability(store, run).methods()
        store.instruments.add(
            replace(material.instrument, lexicons=(BroughtLexicon("fi", REVIEWED),))
        )
        assert said_so not in judge_reliability(store, run).methods()
        store.instruments.add(material.instrument)
        settles = decided_by(store.runs.templates(run)[0])
        assert settles is not None
        assert settles("En ole samaa mieltä. ")


def test_lint_and_plan_refuse_the_instrument_without_it(folder: Path, store: Store) -> None:
    shutil.rmtree(folder / "lexicons")
    bare = read_instrument("csv", folder)
    assert "no-lexicon" in {one.code for one in lint(bare)}
    store.instruments.add(bare)
    with pytest.raises(UsageError, match="nothing is asked"):
        planning.plan(store, Design("suomi", "scripted", samples=10))
    store.instruments.add(replace(bare, lexicons=(BroughtLexicon("fi", FINNISH),)))
    assert "no-lexicon" not in {one.code for one in lint(store.instruments.get("suomi"))}
    assert planning.plan(store, Design("suomi", "scripted", samples=10)).samples


def test_it_reads_the_answers_to_its_own_instrument_alone(store: Store) -> None:
    odd = (
        'language = "en"\n[[pair]]\npositive = "beneficial"\nnegative = '
        '"harmful"\n[negation]\nbefore = ["hardly"]\n'
    )
    brings = replace(instrument(name="brings"), lexicons=(BroughtLexicon("en", odd),))
    store.instruments.add(brings)
    store.instruments.add(instrument(name="plain"))
    versions = {name: read(store, asked(store, name))[1].version for name in ("brings", "plain")}
    assert versions["brings"].endswith(data.lexicon(brought=odd).version)
    assert versions["plain"].endswith(data.lexicon("en").version)


def test_a_newer_one_takes_its_place_and_a_file_without_one_leaves_it(store: Store) -> None:
    brings = replace(instrument(), lexicons=(BroughtLexicon("fi", FINNISH),))
    assert store.instruments.add(brings).lexicons == (("fi", False),)
    assert store.instruments.add(brings).lexicons == ()
    newer = replace(brings, lexicons=(BroughtLexicon("fi", f"{FINNISH}# newer\n"),))
    assert store.instruments.add(newer).lexicons == (("fi", True),)
    assert store.instruments.add(instrument()).lexicons == ()
    assert store.instruments.get("small").lexicons == newer.lexicons


def test_an_export_holds_it_or_says_that_it_does_not(
    folder: Path, store: Store, tmp_path: Path
) -> None:
    store.instruments.add(read_instrument("csv", folder))
    prepared(store, "suomi", "csv").write(tmp_path / "out")
    assert (tmp_path / "out" / "lexicons" / "fi.toml").read_text(encoding="utf-8") == FINNISH
    assert (
        read_instrument("csv", tmp_path / "out").lexicons == store.instruments.get("suomi").lexicons
    )
    lost = "The lexicons that the instrument brings: fi."
    assert lost in export("jsonl", store.instruments.get("suomi")).left_out


@pytest.mark.parametrize(
    ("name", "text", "fault"),
    [
        ("fi", '[[pair]]\npositive = "a"\n', "no list `before`"),
        ("fi", "language = ", "Invalid value"),
        ("fi", FINNISH.replace('"fi"', '"sv"'), "like the file name"),
    ],
)
def test_a_file_at_fault_is_named_and_nothing_is_imported(
    folder: Path, name: str, text: str, fault: str
) -> None:
    (folder / "lexicons" / f"{name}.toml").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=rf"{name}\.toml.*{fault}") as caught:
        read_instrument("csv", folder)
    assert "lexicon" in str(caught.value) or "like the file name" in str(caught.value)


def test_the_content_of_an_instrument_has_the_lexicon_and_is_as_before_without_one() -> None:
    plain = instrument()
    brings = replace(plain, lexicons=(BroughtLexicon("fi", FINNISH),))
    assert instrument_content(plain) != instrument_content(brings)


def test_the_exported_rows_have_the_reading_by_it(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with new_store(tmp_path / "audit.db") as store:
        store.instruments.add(read_instrument("csv", folder))
        run = asked(store)
        read(store, run)
    main(["export", str(tmp_path / "audit.db"), str(tmp_path / "rows"), "--what", "answers"])
    capsys.readouterr()
    with (tmp_path / "rows" / "answers.csv").open(encoding="utf-8") as file:
        labels = {row["text"]: row["label"] for row in csv.DictReader(file)}
    assert labels["En ole samaa mieltä"] == "disagree"
