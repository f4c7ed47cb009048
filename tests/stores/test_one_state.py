"""Whatever is shown of a store is of one moment, whoever writes between two of its reads."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

import workbench
from stores.annotation.annotator import Annotator
from stores.annotation.queues import NewItem
from stores.core.base import Database
from stores.core.contents import StoreSection, cached_result, forget
from stores.core.store import Store
from tests.stores.test_review import odd, rule
from tests.tui.audit_runs import audited
from workbench.audits.reliability import AUDIT
from workbench.audits.reliability.options import ReliabilityOptions
from workbench.cli.main import main
from workbench.data import shipped_codebook
from workbench.domain.annotations import Purpose
from workbench.domain.rulings import RulingVerdict
from workbench.report.options import ReportChoice
from workbench.report.written import write_report
from workbench.tui.annotation.queues import read_queues
from workbench.tui.kit.base import read_store
from workbench.tui.overview import read_judgement, read_overview
from workbench.tui.results.loaded import Settings
from workbench.tui.results.result_screen import load
from workbench.tui.review.review import ReviewChoice
from workbench.tui.review.review import load as load_review

QUEUE, WRITES = "first", 12
REFS = ("mig-01", "env-03", "soc-07", "tax-02")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store with judged answers, and a queue that two people have begun to label."""
    made = audited(tmp_path / "audited.db", odd)
    with Store.open(made) as store:
        (wording,) = store.connection.execute("select min(id) from wording").fetchone()
        items = [NewItem(wording, 2, "", text=f"answer {n}") for n in range(2 * WRITES)]
        store.queues.create(QUEUE, Purpose.TEST, shipped_codebook("stance"), items, {})
    for place, name in enumerate(("ann", "ben")):
        _label(made, name, ("agree", "disagree")[place], 4)
    with Store.open(made) as store:
        read_judgement(store)  # the rules have read everything
    forget()
    return made


def _label(path: Path, name: str, label: str, times: int) -> None:
    with Annotator.open(path, QUEUE, name) as person:
        for _ in range(times):
            item = person.next()
            assert item is not None
            person.label(item.unit, label)


@contextmanager
def somebody_writes(path: Path) -> Iterator[list[int]]:
    """Let others rule and label between the reads of each connection, until they have done so often
    enough. Yields how often they have, a number for each time.
    """
    opened, written, faults = Store.__init__, list[int](), list[Exception]()
    writing = False

    def write(began: list[str], statement: str) -> None:
        nonlocal writing
        if writing or statement == "begin":  # what is first read then is what a transaction sees
            began.clear()
            return
        reads = statement.lstrip().lower().startswith(("select", "with"))
        began += [statement] * reads
        if not reads or len(began) < 2 or len(written) >= WRITES:
            return
        written.append(len(written))
        writing = True
        try:
            _label(path, "ann", "neutral", 1)
            with Store.open(path) as other:
                rule(
                    other,
                    REFS[len(written) % len(REFS)],
                    RulingVerdict.EXCLUDED,
                    f"auditor {len(written)}",
                )
        except Exception as error:  # nobody hears of it there
            faults.append(error)
        finally:
            writing = False

    def open_(
        self: Store, db: Database, path: Path, notice: str = "", *, read_only: bool = False
    ) -> None:
        opened(self, db, path, notice, read_only=read_only)
        if not writing:
            self.connection.set_trace_callback(partial(write, []))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Store, "__init__", open_)
        yield written
    assert not faults


def _command(*words: str) -> Callable[[Path, pytest.CaptureFixture[str]], str]:
    def run(path: Path, capsys: pytest.CaptureFixture[str]) -> str:
        assert main([words[0], str(path), *words[1:]]) == 0
        return capsys.readouterr().out

    return run


def _screen(
    load: Callable[[Store], object],
) -> Callable[[Path, pytest.CaptureFixture[str]], object]:
    return lambda path, _: read_store(path, load)


def _figures(store: Store) -> object:
    """Return every table of the screen of verdicts, and what stands above them."""
    found = load(store, AUDIT, Settings(ReliabilityOptions()))
    assert found.book is not None
    return found.book.told, found.book.header, found.book.notes, found.runs


def _queue(store: Store) -> object:
    found = load_review(store, ReviewChoice())
    progress = found.judged
    return progress.of.queue, progress.of.rulings.things, progress.of.judged.passed, found.options


def _result(path: Path, _: object) -> object:
    with workbench.open(path) as store:
        return store.results("reliability").to_dict()


def _report(path: Path, _: object) -> object:
    folder = path.with_name(f"report-{len(list(path.parent.iterdir()))}")
    with Store.open(path) as store:
        write_report(store, folder, ReportChoice())
    return {str(one.relative_to(folder)): one.read_bytes() for one in folder.rglob("*.csv")}


SHOWN: dict[str, Callable[[Path, pytest.CaptureFixture[str]], object]] = {
    "Home": _screen(read_overview),
    "what is judged on Home": _screen(read_judgement),
    "the screen of an audit": _screen(_figures),
    "the review": _screen(_queue),
    "the queues": _screen(lambda store: read_queues(store, first=True)),
    "show reliability": _command("show", "reliability", "--json"),
    "show consistency": _command("show", "consistency", "--json"),
    "review": _command("review", "--json"),
    "agreement": _command("agreement", "--queue", QUEUE, "--json"),
    "labels": _command("labels", "--json"),
    "rulings": _command("rulings", "--json"),
    "Python": _result,
    "report": _report,
}


@pytest.mark.parametrize("shown", SHOWN)
def test_what_is_shown_is_of_one_moment(
    shown: str, path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    quiet = SHOWN[shown](path, capsys)
    forget()
    with somebody_writes(path) as written:
        found = SHOWN[shown](path, capsys)
    assert written, "somebody wrote"
    assert found == quiet


def test_a_read_that_is_over_holds_no_log_back(path: Path) -> None:
    """A checkpoint takes everything once a load has ended."""
    read_store(path, read_judgement)
    with sqlite3.connect(path) as connection:
        _label(path, "ann", "agree", 1)
        assert connection.execute("pragma wal_checkpoint(truncate)").fetchone() == (0, 0, 0)
    connection.close()


def test_what_will_be_read_over_is_broken_off_before_the_work(path: Path) -> None:
    """Rules write what they read first; the figures behind that are worked out once, and not under
    a lock.
    """
    worked, wrote = list[bool](), list[int]()

    def work(store: Store) -> bool:
        worked.append(store.holds_lock)
        return True

    def read(store: Store) -> bool:
        for number in range(4):
            if number not in wrote:
                wrote.append(number)
                with store.write() as connection:
                    connection.execute(
                        "insert into text (key, body) values (?, ?)", (bytes([number]) * 16, "own")
                    )
            store.at_once(lambda: None)
        return cached_result(store, "work", (StoreSection.ANSWERS,), lambda: work(store))

    assert read_store(path, read)
    assert wrote == [0, 1, 2, 3]
    assert worked == [False]
