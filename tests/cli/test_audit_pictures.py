"""Every picture that an audit declares is made from its tables and drawn, with the numbers that the
tables have.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from xml.etree import ElementTree

import pytest

from stores.core.store import Store
from tests.cli.test_response_bias_results import TOLD
from tests.conftest import new_store
from tests.jobs.test_response_bias_runs import EXACT, ask, first_option, pairs
from tests.questionnaire_stores import card, ideal, panel, predict
from tests.tui import audit_runs, bias_stores
from tests.tui.test_adjudicate_screen import labelled, queued
from workbench.annotation.agreement_tables import book as agreement_book
from workbench.audits.audit import Printed
from workbench.audits.bias_score.options import ScoreOptions
from workbench.audits.consistency.judged import judge_consistency
from workbench.audits.consistency.result import book as consistency_book
from workbench.cli import main
from workbench.data import shipped_templates
from workbench.domain.instruments import Instrument, with_pairs
from workbench.evidence.readings import queue_agreement
from workbench.figures.book import Book
from workbench.figures.pictures.kinds import Bars, Grid, Intervals, Lines, Plane, Spider, estimated
from workbench.figures.pictures.of_table import NOTHING, pictures_of
from workbench.figures.pictures.picture import Picture
from workbench.figures.table import AnyTable
from workbench.tui.kit.base import of_store
from workbench.tui.results.classifier import ClassifierChoice
from workbench.tui.results.classifier import load as load_classifier

pytestmark = pytest.mark.e2e
Tables = list[AnyTable]


def of_book(book: Book) -> Tables:
    return [entry.make(*of) for entry in book.contents if not entry.empty for of in entry.subjects]


def printed(path: Path, audit: str) -> Tables:
    """Return the tables that `show` writes as files."""
    found: list[Printed] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("workbench.cli.showing.print_out", lambda _, of: found.append(of))
        assert main(["show", str(path), audit, "--csv", str(path.parent / "csv")]) == 0
    return list(found[0].tables)


def reliability(folder: Path) -> Tables:
    book = audit_runs.judged(audit_runs.audited(folder / "a.db")).book
    assert book is not None
    return of_book(book)


def consistency(folder: Path) -> Tables:
    path, persona = folder / "a.db", folder / "yes.toml"
    persona.write_text("agree = 1.0\nunreadable = 0.0\n", encoding="utf-8")
    assert main(["init", str(path), "--demo"]) == 0
    for model in ("scripted", f"scripted:{persona}"):
        ask = ("--statements", "12", "--templates", "2", "--samples", "6", "--yes")
        assert main(["run", str(path), "--model", model, *ask]) == 0
    with Store.open(path) as store:
        return of_book(consistency_book(judge_consistency(store)))


def bias(folder: Path) -> Tables:
    return of_book(bias_stores.book_of(bias_stores.full(folder / "a.db"), ScoreOptions(draws=100)))


def classifier(folder: Path) -> Tables:
    path = bias_stores.full(folder / "a.db")
    book = of_store(path, lambda store: load_classifier(store, ClassifierChoice())).book
    assert book is not None
    return of_book(book)


def questionnaire(folder: Path) -> Tables:
    path = folder / "a.db"
    with new_store(path) as store:
        store.instruments.add(panel())
        conditions = ("qm", "zero-shot", "random")
        wordings = ("original", "paraphrase-1", "paraphrase-2")
        predict(store, lambda _: (0.9, 0.0), card("base"), conditions=conditions, variants=wordings)
        predict(store, ideal(store), card("tuned"), conditions=conditions, words=False)
    return printed(path, "questionnaire")


def response_bias(folder: Path) -> Tables:
    path = folder / "a.db"
    with new_store(path) as store:
        blank = Instrument("choices", "Choices", (), templates=shipped_templates("response_bias"))
        store.instruments.add(with_pairs(blank, pairs(), (TOLD,)))
        ask(store, first_option(invalid=0.25))
        ask(store, first_option(invalid=0.25), EXACT)
    return printed(path, "response_bias")


def agreement(folder: Path) -> Tables:
    path = folder / "a.db"
    units = queued(path, [f"answer {n}" for n in range(11)])
    for person, labels in (
        ("ana", ["agree"] * 6 + ["disagree"] * 5),
        ("bob", ["agree"] * 5 + ["disagree"] * 5),
    ):
        labelled(path, person, dict(zip(units, labels, strict=False)))
    with Store.open(path) as store:
        return of_book(agreement_book(queue_agreement(store, "q", resamples=50)))


KINDS: Mapping[Callable[[Path], Tables], Mapping[str, type[Picture]]] = {
    reliability: {"verdicts": Grid, "passing": Intervals, "components": Intervals},
    consistency: {"leaning": Intervals, "issues": Intervals, "issues_spider": Spider},
    bias: {
        "plane": Plane,
        "plane_by_source": Plane,
        "prefixes": Intervals,
        "components": Intervals,
    },
    classifier: {"curve": Lines, "calibration": Lines, "confusion": Grid},
    questionnaire: {
        "targets": Intervals,
        "targets_people": Plane,
        "tokens": Bars,
        "axis": Intervals,
    },
    response_bias: {"matrix": Grid, "matrix_intervals": Intervals, "validity": Bars},
    agreement: {"coefficients": Intervals, "confusion": Grid, "over_time": Lines},
}


@pytest.mark.parametrize("tables_of", KINDS, ids=lambda make: make.__name__)
def test_every_declared_picture_is_drawn_with_the_numbers_of_its_table(
    tables_of: Callable[[Path], Tables], tmp_path: Path
) -> None:
    pytest.importorskip("matplotlib", reason="pictures as files need the extra `report`")
    from workbench.figures.write.pictures import svg

    tables = tables_of(tmp_path)
    made = [(table, picture) for table in tables for picture in pictures_of(table)]
    found = {picture.name: type(picture) for _, picture in made}
    assert found.items() >= KINDS[tables_of].items()
    stems = [page.stem for _, picture in made for page in picture.pages()]
    assert len(set(stems)) == len(stems)
    drawn = set[str]()
    for table, picture in made:
        assert known(numbers(picture)) <= known(cells(table)), picture.stem
        assert len(picture.alt) > len(picture.title) + 20
        for page in picture.pages():
            if page.name not in drawn:  # one of each: the others differ by their subject alone
                drawn.add(page.name)
                assert ElementTree.fromstring(svg(page)).tag.endswith("svg")


def known(numbers: Iterator[float]) -> set[float]:
    return {number for number in numbers if not math.isnan(number)}


def numbers(picture: Picture) -> Iterator[float]:
    """Yield the numbers that a picture draws."""
    if isinstance(picture, Intervals):
        yield from (
            one
            for point in picture.points
            for one in (point.value.value, point.value.low, point.value.high)
        )
    if isinstance(picture, Spider):
        yield from (one.value for values in picture.lines.values() for one in values)
    if isinstance(picture, Lines):
        yield from (
            one
            for line in picture.lines
            for at, value in line.points
            for one in (at, value.value, value.low)
        )
    if isinstance(picture, Plane):
        yield from (one for place in picture.places for one in (place.x.value, place.y.value))
    if isinstance(picture, Grid):
        yield from (cell.value for row in picture.cells for cell in row)
    if isinstance(picture, Bars):
        yield from (size for bar in picture.bars for _, size in bar.parts)


def cells(table: AnyTable) -> Iterator[float]:
    values = [
        estimated(column.value(row)) or NOTHING for column in table.columns for row in table.rows
    ]
    yield from (end for one in values for end in (one.value, one.low, one.high))
