"""What was computed from a store is kept while the store is as it was, and made anew when it is
not.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from stores.annotation.annotator import Annotator
from stores.annotation.queues import NewItem
from stores.core.contents import MOST, StoreSection, cached_result, forget
from stores.core.store import Store
from stores.runs import runs as of_runs
from tests.conftest import instrument
from tests.stores.test_review import odd, queue, reasons, rule
from tests.tui.audit_runs import NO, UNREADABLE, YES, Answers, answers, audited, judged, small
from workbench.audits.chosen_run import find_run
from workbench.audits.reliability import review as of_reliability
from workbench.audits.reliability import verdicts
from workbench.audits.reliability.judged import judge_reliability
from workbench.audits.reliability.verdicts import run_verdicts
from workbench.data import shipped_codebook
from workbench.domain.annotations import Purpose
from workbench.domain.prompts import Probe
from workbench.domain.readings import LABEL_WORDS
from workbench.domain.rulings import RulingVerdict
from workbench.evidence import ruling_subjects as of_contradictions
from workbench.pipeline import review as of_review
from workbench.pipeline.checking import check_report
from workbench.tui.kit.base import of_store
from workbench.tui.overview import read_judgement
from workbench.tui.review.review import ReviewChoice, load


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return audited(tmp_path / "audited.db", odd)


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count how often what takes a moment is computed."""
    counted: Counter[str] = Counter()
    forget()

    def count(module: object, name: str) -> None:
        made = getattr(module, name)

        def counting(*args: object, **more: object) -> object:
            counted[name] += 1
            return made(*args, **more)

        monkeypatch.setattr(module, name, counting)

    count(of_review, "_unruled")
    count(verdicts, "_counted")
    count(of_reliability, "_turns")
    count(of_runs, "find_runs")
    return counted


def test_home_the_audit_and_the_queue_count_the_answers_once(
    path: Path, computed: Counter[str]
) -> None:
    of_store(path, read_judgement)
    judged(path)
    of_store(path, lambda store: load(store, ReviewChoice()))
    assert computed["_counted"] == 1
    of_store(path, read_judgement)
    of_store(path, lambda store: load(store, ReviewChoice()))
    assert (computed["_counted"], computed["_unruled"]) == (1, 1)


def test_what_is_known_at_once_is_of_the_statements_that_have_a_reason(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)

    def drawn(probe: Probe) -> Answers:
        clear = {"a": 1.0, "b": 0.95, "c": 0.6}[probe.statement[0]]
        yes = int(
            rng.binomial(28, clear if probe.variant not in ("negation", "opposite") else 1 - clear)
        )
        return tuple((text, n) for text, n in ((YES, yes), (NO, 28 - yes), (UNREADABLE, 2)) if n)

    refs = [f"{kind}-{n}" for kind in "abc" for n in range(8)]
    path = audited(tmp_path / "drawn.db", drawn, base=instrument(*refs))
    with Store.open(path) as store:
        report = run_verdicts(store, find_run(store, "reliability")).report
    every, at_once = (
        of_reliability.of_report(report).signals,
        of_reliability.count_signals(report).signals,
    )
    assert 0 < len(every) < len(refs)
    assert at_once.keys() == every.keys()


def test_limits_are_found_once_for_all_statements(path: Path, computed: Counter[str]) -> None:
    with Store.open(path) as store:
        queue(store)
    assert computed["_turns"] == 1


def test_a_ruling_shows_at_once_in_a_queue_that_is_not_computed_anew(
    path: Path, computed: Counter[str]
) -> None:
    with Store.open(path) as store:
        before = queue(store)
        rule(store, "soc-07", RulingVerdict.LOOK_AGAIN)
    with Store.open(path) as store:
        after = queue(store)
    assert computed["_unruled"] == 1
    assert "look_again" not in reasons(before)["soc-07"]
    assert after.queue[0].ref == "soc-07"


def label(store: Store, label: str = "disagree") -> None:
    """Let somebody label an answer that every rule reads as agreeing."""
    every = list(store.queues.candidates("reliability"))
    candidate = next(one for one in every if (one.ref, one.text) == ("soc-07", YES))
    item = NewItem(candidate.wording_id, 1, "s", candidate.text_id)
    store.queues.create("first", Purpose.CHECK, shipped_codebook("stance"), [item], {})
    with Annotator.open(store.path, "first", "ana") as person:
        shown = person.next()
        assert shown is not None
        person.label(shown.unit, label)


def flags(store: Store) -> None:
    label(store, "agree")
    with Annotator.open(store.path, "first", "ana") as person:
        unit = store.connection.execute("select unit_id from queue_item").fetchone()[0]
        person.remark(unit, flagged=True, note="")


def edits(store: Store) -> None:
    first = store.instruments.get(small().name).statements[0]
    words = tuple(replace(one, text=f"{one.text} So.") for one in first.wordings)
    store.statements.save(small().name, [replace(first, wordings=words)], person="ana")


def waives(store: Store) -> None:
    finding = check_report(store, small().name).open[0].finding
    store.checks.waive(small().name, finding, reason="meant so", person="ana")


def deletes(store: Store) -> None:
    with store.write() as connection:
        newest = connection.execute("select max(id) from draw").fetchone()
        connection.execute("delete from response where draw_id = ?", newest)
        connection.execute("delete from draw where id = ?", newest)


def empties(store: Store) -> None:
    """All answers are deleted, and what is written is taken back as something goes wrong."""
    with store.write() as connection:
        connection.execute("delete from response")
        connection.execute("delete from draw")
        assert not store.runs.list()
        raise ZeroDivisionError


def asks_again(store: Store) -> None:
    """The newest answers are replaced by as many others, as where a job is deleted and asked
    anew.
    """
    with store.write() as connection:
        connection.execute(
            "update draw set at = '2099-01-01T00:00:00.000Z' where id = (select max(id) from draw)"
        )


@pytest.mark.parametrize("change", [edits, waives, asks_again, label, flags])
def test_what_changes_in_the_store_is_computed_anew(
    path: Path, computed: Counter[str], change: Callable[[Store], None]
) -> None:
    with Store.open(path) as store:
        queue(store)
    with Store.open(path) as store:
        change(store)
    with Store.open(path) as store:
        queue(store)
    assert computed["_unruled"] == 2


def test_figures_with_rulings_are_those_of_a_store_that_nothing_was_kept_of(path: Path) -> None:
    with Store.open(path) as store:
        run = find_run(store, "reliability")
        plain = judge_reliability(store, run).report.counts
        rule(store, "soc-07", RulingVerdict.EXCLUDED)
        ruled = judge_reliability(store, run).report.counts
        forget()
        anew = judge_reliability(store, run).report.counts
    assert ruled.left_out is not None
    assert anew.left_out is not None
    assert (ruled.left_out == anew.left_out).all()
    assert (ruled.positive == anew.positive).all()
    assert plain.positive.sum() > ruled.positive.sum()


def test_two_threads_that_want_the_same_compute_it_once(path: Path) -> None:
    made: list[int] = []
    begun, go_on = threading.Event(), threading.Event()

    def slowly() -> int:
        made.append(1)
        begun.set()
        go_on.wait(30)
        return 5

    def wanting(found: list[int]) -> None:
        with Store.open(path) as store:
            found.append(cached_result(store, "five", (StoreSection.ANSWERS,), slowly))

    found: list[int] = []
    threads = [threading.Thread(target=wanting, args=(found,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    begun.wait(30)
    go_on.set()
    for thread in threads:
        thread.join()
    assert (found, made) == ([5, 5], [1])


def test_no_more_is_kept_than_fits_and_an_error_is_no_result(path: Path) -> None:
    with Store.open(path) as store:
        with pytest.raises(ZeroDivisionError):
            cached_result(store, "wrong", (), lambda: 1 // 0)
        assert cached_result(store, "wrong", (), lambda: 1) == 1
        for n in range(MOST):
            cached_result(store, n, (), lambda: 1)
        assert cached_result(store, "wrong", (), lambda: 2) == 2, (
            "it was the one that nobody asked for longest"
        )


def test_runs_are_listed_once_while_nobody_writes(path: Path, computed: Counter[str]) -> None:
    with Store.open(path) as store, Store.open(path) as other:
        assert store.runs.list() == store.runs.list()
        assert computed["find_runs"] == 1
        store.rulings.count()
        deletes(store)
        ours = store.runs.list()
        assert computed["find_runs"] == 2
        deletes(other)
        assert store.runs.list()[0].responses < ours[0].responses
        with pytest.raises(ZeroDivisionError):
            empties(store)
        assert store.runs.list()[0].responses, "what was taken back is forgotten"


def test_readers_contradict_each_other_where_all_answers_are_compared(path: Path) -> None:
    """The oracle reads every answer of the run by every rule; people's labels are on some that
    rules agree about.
    """
    with Store.open(path) as store:
        run = find_run(store, "reliability")
        label(store)
        found = dict(of_contradictions.contradictions(store, run, by_rule=True))
        said: dict[tuple[str, bytes, bytes], set[str]] = {}
        for rowid, _ in of_contradictions.read_by_all(store, run):
            for one in store.review_queries.answers(run, rowid):
                said.setdefault((one.ref, one.prompt, one.text), set()).add(
                    of_contradictions._stance(one.label)
                )
        for one in store.review_queries.labelled(run):
            said[one.ref, one.prompt, one.text].add(of_contradictions._stance(one.label))
        oracle: dict[str, set[tuple[bytes, bytes]]] = {}
        for (ref, *at), stances in said.items():
            if len(stances) > 1:
                oracle.setdefault(ref, set()).add((at[0], at[1]))
    assert {ref: set(one.answers) for ref, one in found.items()} == oracle
    assert set(oracle) >= {"env-03", "soc-07"}


def test_a_prompt_with_just_enough_readable_answers_says_so_in_its_own_numbers(
    tmp_path: Path,
) -> None:
    def few(probe: Probe) -> Answers:
        if (probe.statement, probe.variant, probe.template, probe.inverted) == (
            "soc-07",
            "original",
            "personal-1",
            False,
        ):
            return ((YES, 20), (UNREADABLE, 10))
        if (probe.statement, probe.variant, probe.template, probe.inverted) == (
            "soc-07",
            "negation",
            "personal-1",
            False,
        ):
            return ((NO, 19), (UNREADABLE, 11))
        return answers(probe)

    with Store.open(audited(tmp_path / "few.db", few)) as store:
        report = run_verdicts(store, find_run(store, "reliability")).report
    near = next(
        one for one in of_reliability.of_report(report).signals["soc-07"] if one.reason == "near"
    )
    assert "disagree 19/19, 20 needed" in near.prompt_words
    assert not any(prompt[:2] == ("original", "personal-1") for prompt in near.prompts), (
        "nothing is missing there"
    )


def test_a_rule_reads_what_came_since(path: Path) -> None:
    with Store.open(path) as store:
        run = find_run(store, "reliability")
        reader, _ = arrays_read(store)
        before = store.readings.count(reader)
        with store.write() as connection:
            connection.execute("delete from reading where reader_id = ?", (reader,))
            connection.execute("update draw set at = '2099-01-01T00:00:00.000Z' where id = 1")
        arrays_read(store)
        assert store.readings.count(reader) == before
        assert run.responses


def arrays_read(store: Store) -> tuple[int, object]:
    from workbench.evidence.readings import read

    return read(store, find_run(store, "reliability"), LABEL_WORDS)
