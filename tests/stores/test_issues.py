"""Policy-issue labels: blind by construction, nothing lost, gold as the rule says it."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from stores.annotation.issue_annotator import IssueAnnotator, IssueRow
from stores.annotation.person_steps import IDLE_MS
from stores.core.store import Store
from stores.instruments.issues import Added, SchemeChange
from tests.conftest import instrument, statement
from workbench.data import shipped_issue_scheme
from workbench.domain.instruments import IssueDefinition, IssueLabel
from workbench.domain.statements import ORIGINAL, Wording
from workbench.errors import ConflictError, UnknownName, UsageError

LAW, SOCIETY = "law_and_order", "liberal_society"


def labelled(
    path: Path, person: str, labels: dict[str, dict[str, int | None]], name: str = "small"
) -> None:
    """Let a person label statements: ref -> issue -> label."""
    with IssueAnnotator.open(path, name, person) as annotator:
        rows = {row.ref: row for row in annotator.sheet().rows}
        for ref, given in labels.items():
            annotator.put(rows[ref], given)


def row_of(annotator: IssueAnnotator, ref: str) -> IssueRow:
    return next(row for row in annotator.sheet().rows if row.ref == ref)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store in which bob and cem labelled, a source has gold labels, and nora decided."""
    path = tmp_path_factory.mktemp("made") / "audit.db"
    with Store.open(path, create=True) as store:
        store.instruments.add(instrument())
        store.issues.set_scheme("small", shipped_issue_scheme().issues)
    labelled(path, "bob", {"a-1": {LAW: 1, SOCIETY: -1}, "a-2": {LAW: 0}})
    labelled(path, "cem", {"a-1": {LAW: -1, SOCIETY: -1}})
    with Store.open(path) as store:
        store.issues.adjudicate("small", "a-1", LAW, 1, "nora")
        store.connection.execute("pragma wal_checkpoint(truncate)")
    return path


@pytest.fixture
def path(tmp_path: Path, made: Path) -> Path:
    return Path(shutil.copy(made, tmp_path / "audit.db"))


LEAKS = (
    "select label from issue_label",
    "select label from main.issue_label",
    'select "label" from "main"."issue_label"',
    "select count(*) from issue_label",
    "select rowid from reader where name = 'bob'",
    "select name from reader",
    "select 1 from issue_label where label = 1",
    "select id from statement s where exists (select 1 from issue_label l where l.statement_id = "
    "s.id)",
    "with x as (select label from issue_label) select * from x",
    "with my_issue_label as (select label from main.issue_label) select * from my_issue_label",
    "with my_issue_label(label) as (select label from main.issue_label) select m.label from "
    "my_issue_label m",
    "select * from (select label from main.issue_label) my_issue_label",
    "select my_issue_label.label from main.issue_label as my_issue_label",
    "select l.label from my_issue_label m join issue_label l on l.statement_id = m.statement_id",
    "select label from my_issue_label union all select label from issue_label",
    "select id from statement order by (select max(label) from issue_label l where "
    "l.statement_id = statement.id)",
    "values ((select label from issue_label limit 1))",
    "explain select label from issue_label",
    "select json_group_array(label) from issue_label",
    "select label from reading",
    "select before from edit",
    "select answer from party_answer",
    "select agrees from survey_answer",
    "select reason from waiver",
    "select * from sqlite_master",
    "select * from sqlite_temp_master",
    "select * from pragma_table_info('issue_label')",
    "select response from v_answers",
    "select label from v_readings",
    "select verdict from ruling",
    "select agree from v_stances",
    "pragma table_info(issue_label)",
    "pragma writable_schema = on",
    "attach ':memory:' as other",
    "create temp view mine as select * from main.issue_label",
    "create temp table mine as select * from main.issue_label",
    "create temp trigger t after insert on main.issue_label begin select 1; end",
    "drop view my_issue_label",
    "update issue_label set label = 1",
    "update issue_label set label = label returning label",
    "update statement set topic = (select group_concat(label) from issue_label)",
    "delete from issue_label",
    "insert into issue_label select statement_id, issue, reader_id, 9, label, at from issue_label",
    "insert into issue_label values (1, 'x', 2, 1, 1, '') on conflict do update set label = 1 "
    "returning label",
    "insert into reader (kind, name, version, created_at) values ('person', 'eve', '', '')",
    "vacuum into 'copy.db'",
    "detach main",
    "analyze",
)


@pytest.mark.parametrize("sql", LEAKS)
def test_a_query_for_what_others_said_is_refused_whoever_writes_it(path: Path, sql: str) -> None:
    with IssueAnnotator.open(path, "small", "ana") as ana:
        with pytest.raises(
            sqlite3.DatabaseError, match=r"prohibited|not authorized|authorization denied"
        ):
            ana.connection.execute(sql).fetchall()
        assert ana.sheet().rows


def test_the_queries_that_are_refused_would_run_on_an_open_connection(path: Path) -> None:
    with Store.open(path) as store:
        for sql in LEAKS:
            own_view = "from my_issue_label m join" in sql or "from my_issue_label union" in sql
            if sql.startswith(("select", "with", "values", "explain")) and not own_view:
                store.connection.execute(sql).fetchall()


def test_nobody_writes_under_another_name_nor_learns_of_a_label_by_its_key(path: Path) -> None:
    insert = (
        "insert {}into issue_label (statement_id, issue, reader_id, revision, label, at) "
        "values (?, ?, ?, ?, ?, '')"
    )
    with Store.open(path) as store:
        said = store.connection.execute("select * from issue_label order by 1, 2, 3, 4").fetchall()
        me = store.connection.execute(
            "insert into reader (kind, name, version, created_at) values ('person', 'ana', '', '') "
            "returning id"
        ).fetchone()[0]
        store.connection.commit()
    with IssueAnnotator.open(path, "small", "ana") as ana:
        for how in ("", "or replace ", "or ignore "):
            for at_statement, issue, reader, revision, _, _ in [
                *said,
                (1, "none", me + 1, 1, 0, ""),
            ]:
                with pytest.raises(sqlite3.DatabaseError, match="only one's own"):
                    ana.connection.execute(
                        insert.format(how), (at_statement, issue, reader, revision, 0)
                    )
        ana.connection.rollback()
        ana.connection.execute(insert.format(""), (1, LAW, me, 1, 0))
        ana.connection.commit()
    with Store.open(path) as store:
        kept = store.connection.execute(
            "select * from issue_label where reader_id <> ? order by 1, 2, 3, 4", (me,)
        )
        assert kept.fetchall() == said


def test_what_an_annotator_sees_does_not_depend_on_what_others_said(
    path: Path, tmp_path: Path
) -> None:
    other = Path(shutil.copy(path, tmp_path / "other.db"))
    labelled(other, "bob", {ref: {LAW: -1, SOCIETY: 0} for ref in ("a-1", "a-2", "b-1")})
    with Store.open(other) as store:
        store.issues.adjudicate("small", "a-1", SOCIETY, 0, "nora")
    seen = []
    for where in (path, other):
        with IssueAnnotator.open(where, "small", "ana") as ana:
            first = ana.sheet()
            after, before = ana.put(first.rows[0], {LAW: 1, SOCIETY: 0})
            seen.append(
                (
                    first,
                    after,
                    before,
                    ana.sheet().rows,
                    ana.connection.execute(
                        "select statement_id, issue, revision, label from my_issue_label"
                    ).fetchall(),
                )
            )
    assert seen[0] == seen[1]
    assert seen[0][0].rows[0].labels == {}


def test_ones_own_labels_are_there_again_with_what_the_issues_mean(path: Path) -> None:
    with IssueAnnotator.open(path, "small", "bob") as bob:
        sheet = bob.sheet()
    assert [dict(row.labels) for row in sheet.rows] == [{LAW: 1, SOCIETY: -1}, {LAW: 0}, {}]
    assert sheet.issues == shipped_issue_scheme().issues
    assert sheet.rows[0].statement.text == "Statement a-1 should become law."


def test_a_label_is_changed_withdrawn_and_put_back_and_every_word_stays(path: Path) -> None:
    with IssueAnnotator.open(path, "small", "ana") as ana:
        row, before = ana.put(row_of(ana, "b-1"), {LAW: 1})
        assert before == {LAW: None}
        again, nothing = ana.put(row, {LAW: 1})
        assert (again.labels, nothing) == ({LAW: 1}, {})
        row, before = ana.put(row, {LAW: -1, SOCIETY: 0})
        assert (row.labels, before) == ({LAW: -1, SOCIETY: 0}, {LAW: 1, SOCIETY: None})
        row, _ = ana.put(row, before, expected={LAW: -1, SOCIETY: 0})
        assert row.labels == {LAW: 1}
    with Store.open(path) as store:
        rows = store.connection.execute(
            "select issue, revision, label from issue_label l join reader r on r.id = l.reader_id "
            "where r.name = 'ana' order by 1, 2"
        ).fetchall()
    assert rows == [(LAW, 1, 1), (LAW, 2, -1), (LAW, 3, 1), (SOCIETY, 1, 0), (SOCIETY, 2, None)]


def test_an_undo_takes_back_no_other_word_than_its_own(path: Path) -> None:
    with (
        IssueAnnotator.open(path, "small", "ana") as one,
        IssueAnnotator.open(path, "small", "ana") as two,
    ):
        row, before = one.put(row_of(one, "b-1"), {LAW: 1})
        two.put(row_of(two, "b-1"), {LAW: 0})
        with pytest.raises(ConflictError, match="elsewhere"):
            one.put(row, before, expected={LAW: 1})
        assert row_of(one, "b-1").labels == {LAW: 0}


def test_a_statement_that_changed_since_it_was_shown_is_not_labelled(path: Path) -> None:
    with IssueAnnotator.open(path, "small", "ana") as ana:
        rows = {row.ref: row for row in ana.sheet().rows}
        changed = replace(statement("b-1"), wordings=(Wording(ORIGINAL, "en", "Something else."),))
        with Store.open(path) as store:
            store.instruments.add(
                replace(
                    instrument(),
                    statements=(statement("a-1"), changed),
                    issue_labels=(),
                    issues=(LAW,),
                    party_answers=(),
                    survey=(),
                )
            )
        for ref in ("b-1", "a-2"):
            with pytest.raises(ConflictError, match="changed or taken away"):
                ana.put(rows[ref], {LAW: 1})
        with pytest.raises(UnknownName, match="the instrument has: law_and_order"):
            ana.put(rows["a-1"], {SOCIETY: 1})
        assert ana.put(rows["a-1"], {LAW: 1})[0].labels == {LAW: 1}


def test_an_imported_label_of_ones_own_name_is_ones_own(path: Path) -> None:
    with Store.open(path) as store:
        store.issues.add(
            "small", [IssueLabel("b-1", LAW, "ana", -1), IssueLabel("b-1", SOCIETY, "ana", 1)]
        )
    with IssueAnnotator.open(path, "small", "ana") as ana:
        row = row_of(ana, "b-1")
        assert row.labels == {LAW: -1, SOCIETY: 1}
        row, _ = ana.put(row, {LAW: None, SOCIETY: 0})
        assert row.labels == {SOCIETY: 0}
    with Store.open(path) as store:
        assert [
            (x.issue, x.label) for x in store.issues.labels("small") if x.annotator == "ana"
        ] == [(SOCIETY, 0)]
        again = store.issues.add(
            "small", [IssueLabel("b-1", LAW, "ana", -1), IssueLabel("b-1", SOCIETY, "ana", 1)]
        )
        assert again == Added(added=0, changed=0, same=0, held=2)
        assert [
            (x.issue, x.label) for x in store.issues.labels("small") if x.annotator == "ana"
        ] == [(SOCIETY, 0)]


def test_the_pace_counts_statements_and_leaves_breaks_out(path: Path) -> None:
    with IssueAnnotator.open(path, "small", "ana") as ana:
        assert ana.pace() is None
        for ref in ("a-1", "a-2", "b-1"):
            ana.put(row_of(ana, ref), {LAW: 0, SOCIETY: 0})
    with Store.open(path) as store:
        for ref, at in (("a-1", "10:00:00"), ("a-2", "10:00:30"), ("b-1", "12:00:00")):
            store.connection.execute(
                "update issue_label set at = ? where statement_id = (select id from statement "
                "where ref = ?) and reader_id = (select id from reader where name = 'ana')",
                (f"2026-01-01T{at}.000Z", ref),
            )
        store.connection.commit()
    with IssueAnnotator.open(path, "small", "ana") as ana:
        assert ana.pace() == pytest.approx(3600 * 2 / (30 + IDLE_MS / 1000))


WRITER = """
import sys
from stores.annotation.issue_annotator import IssueAnnotator
path, person, label = sys.argv[1:]
with IssueAnnotator.open(path, "small", person) as annotator:
    for row in annotator.sheet().rows:
        for issue in annotator.sheet().issues:
            annotator.put(row, {issue.name: int(label)})
"""


@pytest.mark.e2e
def test_annotators_in_other_processes_lose_nothing_even_under_one_name(tmp_path: Path) -> None:
    path = tmp_path / "audit.db"
    refs = [f"s-{n:02}" for n in range(12)]
    with Store.open(path, create=True) as store:
        store.instruments.add(replace(instrument(*refs), issue_labels=()))
        store.issues.set_scheme("small", shipped_issue_scheme().issues)
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(path), person, label])
        for person, label in (("ana", "1"), ("ben", "-1"), ("ben", "-1"), ("cem", "0"))
    ]
    assert [writer.wait(120) for writer in writers] == [0, 0, 0, 0]
    with Store.open(path) as store:
        labels = store.issues.labels("small")
    assert len(labels) == 3 * 12 * 8
    assert {(x.annotator, x.label) for x in labels} == {("ana", 1), ("ben", -1), ("cem", 0)}


def test_another_scheme_keeps_every_label_and_brings_it_back(path: Path) -> None:
    cats = IssueDefinition("cats", "Cats", "More cats.")
    with Store.open(path) as store:
        before = store.issues.labels("small")
        law = store.issues.scheme("small")[3]
        assert law.name == LAW
        change = store.issues.set_scheme("small", [cats, replace(law, definition="Ours.")])
        assert (change.added, len(change.removed), change.kept) == (("cats",), 7, 2)
        assert store.issues.scheme("small") == (cats, replace(law, definition="Ours."))
        assert store.instruments.get("small").definitions == (
            cats,
            replace(law, definition="Ours."),
        )
        assert store.issues.labels("small") == before
        assert {issue for given in store.issues.gold("small").values() for issue in given} == {LAW}
        assert store.issues.set_scheme("small", shipped_issue_scheme().issues) == SchemeChange(
            tuple(i.name for i in shipped_issue_scheme().issues if i.name != LAW), ("cats",), 0
        )
        assert store.issues.gold("small")["a-1"] == {LAW: 1, SOCIETY: -1}
        for wrong in ([], [cats, cats]):
            with pytest.raises(UsageError, match="each with a name"):
                store.issues.set_scheme("small", wrong)
        with pytest.raises(UnknownName, match="small"):
            store.issues.set_scheme("large", [cats])


def test_gold_is_the_sources_or_peoples_and_a_decision_wins_over_both(path: Path) -> None:
    with Store.open(path) as store:
        assert store.issues.gold("small") == {
            "a-1": {LAW: 1, SOCIETY: -1},
            "a-2": {LAW: 1},
            "b-1": {LAW: 1},
        }
        assert store.issues.gold("small", "people") == {"a-1": {LAW: 1, SOCIETY: -1}}
        assert store.issues.gold("small", "people", fewest=1)["a-2"] == {LAW: 0}
        assert store.issues.adjudicate("small", "a-2", LAW, -1, "nora") is None
        assert (
            store.issues.gold("small")["a-2"]
            == store.issues.gold("small", "people")["a-2"]
            == {LAW: -1}
        )
        with pytest.raises(UnknownName, match="gold, people"):
            store.issues.gold("small", "all")


def test_the_newest_decision_stands_whoever_made_it_and_may_be_taken_back(path: Path) -> None:
    def stands(store: Store) -> int | None:
        return store.issues.gold("small", "people").get("a-1", {}).get(LAW)

    with Store.open(path) as store:
        assert store.issues.adjudicate("small", "a-1", LAW, 0, "otto") == 1
        assert stands(store) == 0
        assert store.issues.adjudicate("small", "a-1", LAW, -1, "nora") == 0
        assert stands(store) == -1
        assert store.issues.adjudicate("small", "a-1", LAW, None, "otto") == -1
        assert stands(store) is None
        assert store.issues.adjudicate("small", "a-1", LAW, None, "otto") is None


def test_a_decision_is_on_the_labels_that_were_looked_at(path: Path) -> None:
    with Store.open(path) as store:
        store.issues.adjudicate("small", "a-1", LAW, 0, "nora", seen={"bob": 1, "cem": -1})
        labelled(path, "cem", {"a-1": {LAW: 1}})
        with pytest.raises(ConflictError, match="look again"):
            store.issues.adjudicate("small", "a-1", LAW, 1, "nora", seen={"bob": 1, "cem": -1})
        assert store.issues.gold("small")["a-1"][LAW] == 0
        for ref, issue in (("c-9", LAW), ("a-1", "cats")):
            with pytest.raises(UnknownName):
                store.issues.adjudicate("small", ref, issue, 1, "nora")


def test_importing_the_same_labels_again_changes_nothing(path: Path) -> None:
    labels = [
        IssueLabel("a-1", LAW, "dora", 1),
        IssueLabel("a-2", LAW, "dora", 0),
        IssueLabel("a-1", LAW, "gold", 1),
    ]
    with Store.open(path) as store:
        assert store.issues.add("small", labels) == Added(added=2, changed=0, same=1, held=0)
        assert store.issues.add("small", labels) == Added(added=0, changed=0, same=3, held=0)
        assert store.issues.add("small", [replace(labels[0], label=-1)]) == Added(0, 1, 0, 0)
        before = store.issues.labels("small")
        with pytest.raises(UnknownName, match="c-9"):
            store.issues.add(
                "small", [replace(labels[1], label=1), IssueLabel("c-9", LAW, "dora", 1)]
            )
        assert store.issues.labels("small") == before, "all or nothing"


def test_names_that_stand_for_no_person_are_refused(path: Path) -> None:
    for name in ("gold", "Gold", "adjudication", "", "a\x00b"):
        with pytest.raises(UsageError):
            IssueAnnotator.open(path, "small", name)
        with Store.open(path) as store, pytest.raises(UsageError):
            store.issues.adjudicate("small", "a-1", LAW, 1, name)
    with pytest.raises(UnknownName, match="small"):
        IssueAnnotator.open(path, "large", "ana")


def test_an_instrument_without_issues_says_how_to_get_some(tmp_path: Path) -> None:
    with Store.open(tmp_path / "a.db", create=True) as store:
        store.instruments.add(replace(instrument(), issues=(), issue_labels=()))
        with pytest.raises(UnknownName, match="--scheme smartvote"):
            store.issues.add("small", [IssueLabel("a-1", LAW, "dora", 1)])
        assert store.issues.names("small") == ()


def test_a_single_labellers_labels_are_gold_where_that_was_chosen(path: Path) -> None:
    with Store.open(path) as store:
        assert store.issues.fewest("small") == 2
        assert LAW not in store.issues.gold("small", "people").get("a-2", {})
        assert store.issues.choose_fewest("small", 1, "Ana") == 2
        assert store.issues.gold("small", "people")["a-2"] == {LAW: 0}
        assert store.issues.gold("small", "people", fewest=2) == {"a-1": {LAW: 1, SOCIETY: -1}}
        assert "1 labeller here" in " ".join(store.instruments.export_losses("small"))
        assert store.statements.get("small", "a-2").issues == dict(
            store.issues.gold("small")["a-2"]
        )
        assert store.issues.choose_fewest("small", 2, "Ana") == 1
        assert LAW not in store.issues.gold("small", "people").get("a-2", {})
        chosen = store.connection.execute(
            "select fewest, chosen_by from gold_choice order by id"
        ).fetchall()
        assert chosen == [(1, "Ana"), (2, "Ana")]
        with pytest.raises(UsageError, match="1 or more"):
            store.issues.choose_fewest("small", 0, "Ana")
