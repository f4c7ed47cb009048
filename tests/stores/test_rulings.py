"""Rulings are events: they supersede, are taken back and merge, and nothing of them is lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores.annotation.rulings import Rulings
from stores.core.store import Store
from tests.conftest import new_store
from workbench.domain.rulings import NAMED_BY, Ruled, Ruling, RulingVerdict, Subject
from workbench.errors import ConflictError, UsageError

ITEM = Subject(Ruled.ANSWER, {"prompt": "21", "text": "03"})
OF_MODEL = Subject(Ruled.ANSWER, {"prompt": "21", "text": "03", "model": "31"})


def verdicts(store: Store, subject: Subject = ITEM) -> list[tuple[str, str | None]]:
    return [
        (ruling.auditor, ruling.verdict) for ruling in store.rulings.standing().get(subject.key, ())
    ]


def test_the_newest_ruling_of_each_auditor_stands(store: Store) -> None:
    store.rulings.rule(ITEM, RulingVerdict.LOOK_AGAIN, auditor="otto", reason="odd")
    store.rulings.rule(ITEM, RulingVerdict.CONFIRMED, auditor="eva", reason="plain")
    misread = store.rulings.rule(
        ITEM, RulingVerdict.MISREAD, auditor="otto", reason="  it says\n no ", label="disagree"
    )
    assert verdicts(store) == [("eva", "confirmed"), ("otto", "misread")]
    assert (misread.label, misread.reason) == ("disagree", "it says no")
    assert store.rulings.events(ITEM)[-1] == misread
    assert len(store.rulings.events()) == 3
    assert verdicts(store, OF_MODEL) == []
    assert store.rulings.standing(Ruled.READING) == {}


def test_what_is_taken_back_leaves_the_one_before_it(store: Store) -> None:
    first = store.rulings.rule(ITEM, RulingVerdict.EXCLUDED, auditor="otto", reason="odd")
    second = store.rulings.rule(ITEM, RulingVerdict.CONFIRMED, auditor="otto", reason="fine")
    with pytest.raises(ConflictError, match="superseded"):
        store.rulings.undo(first, auditor="otto")
    store.rulings.undo(second, auditor="eva", reason="not so fast")
    assert verdicts(store) == [("otto", "excluded")]
    with pytest.raises(ConflictError, match="taken back"):
        store.rulings.undo(second, auditor="otto")
    store.rulings.undo(first, auditor="otto")
    assert (verdicts(store), len(store.rulings.events())) == ([], 4)


def test_stores_merge_whatever_the_order_and_however_often(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    with (
        new_store(tmp_path_factory.mktemp("a") / "a.db") as here,
        new_store(tmp_path_factory.mktemp("b") / "b.db") as there,
    ):
        one = here.rulings.rule(ITEM, RulingVerdict.EXCLUDED, auditor="otto", reason="odd")
        assert there.rulings.merge(here.rulings.events()) == 1
        there.rulings.undo(one, auditor="otto")
        there.rulings.rule(OF_MODEL, RulingVerdict.CONFIRMED, auditor="eva", reason="fine")
        assert here.rulings.merge(reversed(there.rulings.events())) == 2
        assert here.rulings.merge(there.rulings.events()) == 0
        assert here.rulings.events() == there.rulings.events()
        assert here.rulings.standing() == there.rulings.standing()
        assert verdicts(here) == []


def test_rulings_of_one_moment_are_listed_as_they_were_made(store: Store) -> None:
    things = [Subject(Ruled.ANSWER, {"prompt": "21", "text": f"{n:02}"}) for n in range(20)]
    made = [
        store.rulings.rule(thing, RulingVerdict.CONFIRMED, auditor="otto", reason="plain")
        for thing in things
    ]
    assert list(store.rulings.events()) == made


@pytest.mark.e2e
@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from([*RulingVerdict, None])), max_size=12)
)
def test_what_stands_is_what_a_stack_for_each_auditor_would_say(
    steps: list[tuple[str, RulingVerdict | None]],
) -> None:
    from stores.annotation.rulings import _rulings_in_force

    events: list[Ruling] = []
    stacks: dict[str, list[Ruling]] = {"a": [], "b": []}
    for number, (auditor, verdict) in enumerate(steps):
        undoes = stacks[auditor].pop().uid if verdict is None and stacks[auditor] else None
        if verdict is None and undoes is None:
            continue
        event = Ruling(bytes([number]), ITEM, verdict, None, "r", auditor, f"{number:02}", undoes)
        events.append(event)
        if verdict is not None:
            stacks[auditor].append(event)
    assert {ruling.uid for ruling in _rulings_in_force(events)} == {
        stack[-1].uid for stack in stacks.values() if stack
    }


@pytest.mark.parametrize("kind", Ruled)
def test_a_thing_is_named_by_all_its_parts_and_no_others(kind: Ruled) -> None:
    parts = dict.fromkeys(NAMED_BY[kind], "x")
    assert Subject(kind, parts).key != Subject(kind, parts | {"model": "31"}).key
    for wrong in ({}, dict.fromkeys(NAMED_BY[kind][1:], "x"), parts | {"rowid": "1"}):
        with pytest.raises(UsageError, match=f"a {kind} is named by "):
            Subject(kind, wrong)


def test_a_ruling_that_says_nothing_is_refused_and_nothing_is_written(store: Store) -> None:
    rule = store.rulings.rule
    for reason, said in (
        ("", "needs a reason"),
        (" \n", "needs"),
        ("x" * 2001, "at most 2,000"),
        ("a\x1bb", "not show"),
    ):
        with pytest.raises(UsageError, match=said):
            rule(ITEM, RulingVerdict.EXCLUDED, auditor="otto", reason=reason)
    with pytest.raises(UsageError, match="auditor's name"):
        rule(ITEM, RulingVerdict.EXCLUDED, auditor=" ", reason="odd")
    with pytest.raises(UsageError, match="belongs to misread"):
        rule(ITEM, RulingVerdict.CONFIRMED, auditor="otto", reason="odd", label="agree")
    assert Rulings(store).events() == ()
