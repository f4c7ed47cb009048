"""Queues: what is drawn from a store, that training and test sets share nothing, and that a seed
decides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from stores.annotation.annotator import Annotator
from stores.annotation.queues import NewItem, Queue
from stores.core.base import decode_text
from stores.core.store import Store
from stores.runs.run_rows import Answered
from tests.tui.annotation_stores import answers as numbered
from tests.tui.annotation_stores import labelling_store
from tests.tui.bias_stores import MODELS, WORDINGS, asked, sided
from workbench.annotation.sampling import comparable_text
from workbench.audits.audit import probes as every_probe
from workbench.audits.bias_score.options import DEFAULTS
from workbench.data import attention_items, shipped_codebook
from workbench.domain.annotations import Purpose
from workbench.domain.keys import content_key
from workbench.domain.prompts import LIKERT
from workbench.domain.responses import ModelCard
from workbench.errors import UnknownName, UsageError
from workbench.pipeline.queues import QueueSpec, make_queue, propose_queue

TRAINING = QueueSpec("train", Purpose.TRAINING, per_stratum=4)
TEST = QueueSpec("test", Purpose.TEST, per_stratum=2, labels=2)


def said(
    path: Path, text: str = "{n}", models: tuple[str, ...] = ("m-1", "m-2"), each: int = 2
) -> Path:
    """Fill a store with answers of which no two are the same; `{n}` is their number, `{ref}` the
    statement.
    """
    base = sided()
    n = 0
    with Store.open(path, create=True) as store:
        store.instruments.add(base)
        for model in models:
            probes = tuple(every_probe(base.statements, base.templates, WORDINGS, "en", model))
            store.runs.add_probes("bias_score", base.name, "en", base.templates, probes)
            ids = store.runs.begin(
                ModelCard(model, content_key(model).hex()[:16], "scripted 1", "float32", "none"),
                DEFAULTS.sampling,
            )
            attempt = store.jobs.claim(store.jobs.create("infer", {}, len(probes)), "9.9")
            batch = []
            for probe in probes:
                texts = tuple(
                    (text.format(n=(n := n + 1), ref=probe.statement), 1) for _ in range(each)
                )
                batch.append(Answered(probe.prompt.key, n, each, texts))
            store.runs.add(*ids, attempt, batch)
    return path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Two models x three prefixes x three wordings x 16 statements x two answers, all of them
    different.
    """
    return said(tmp_path / "audit.db", "Answer {n} in words.")


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    with Store.open(path) as opened:
        yield opened


def texts(store: Store, name: str) -> list[tuple[str, str, int, str]]:
    """Return (text, statement, people needed, stratum) of a queue's items, in order, attention
    items left out.
    """
    rows = store.connection.execute(
        "select x.body, s.ref, i.needed, i.stratum from queue_item i "
        "join queue q on q.id = i.queue_id and q.name = ? join unit u on u.id = i.unit_id "
        "join text x on x.id = u.text_id join wording w on w.id = u.wording_id "
        "join statement s on s.id = w.statement_id where i.attention is null order by i.ordinal",
        (name,),
    )
    return [(decode_text(body), *rest) for body, *rest in rows]


def rows(store: Store) -> dict[str, int]:
    tables = ("queue", "queue_item", "unit", "text", "codebook", "reading", "assignment")
    return {
        table: store.connection.execute(f"select count(*) from {table}").fetchone()[0]
        for table in tables
    }


def test_four_come_from_every_prefix_wording_and_model(store: Store) -> None:
    make_queue(store, TRAINING)
    found = texts(store, "train")
    counts = Counter(stratum for _, _, _, stratum in found)
    assert len(counts) == 3 * 3 * 2
    assert set(counts.values()) == {4}
    assert len({comparable_text(text) for text, *_ in found}) == len(found)
    assert any(stratum == "opinion · political_opposite · m-2" for stratum in counts)


def test_a_seed_decides_what_is_drawn(store: Store) -> None:
    first, again = propose_queue(store, TRAINING), propose_queue(store, TRAINING)
    assert first.items == again.items
    assert propose_queue(store, replace(TRAINING, seed=2)).items != first.items
    assert propose_queue(store, replace(TRAINING, name="other")).items != first.items


def test_a_proposal_writes_nothing(store: Store) -> None:
    before = rows(store)
    found = propose_queue(store, replace(TEST, attention=3, held_out=0.25))
    assert rows(store) == before
    assert len(found.items) > 3
    assert "items for test" in found.describe()


def test_a_proposal_that_is_made_is_the_one_that_was_shown(store: Store) -> None:
    proposal = propose_queue(store, TRAINING)
    make_queue(store, TRAINING, proposal)
    assert len(texts(store, "train")) == len(proposal.items)


@pytest.mark.parametrize("first", [TRAINING, TEST])
def test_training_and_test_sets_share_no_text_whichever_comes_first(
    tmp_path: Path, first: QueueSpec
) -> None:
    path = asked(tmp_path / "few.db")
    second = TEST if first is TRAINING else TRAINING
    with Store.open(path) as store:
        make_queue(store, replace(first, per_stratum=1))
        taken = {comparable_text(text) for text, *_ in texts(store, first.name)}
        make_queue(store, replace(second, per_stratum=30))
        assert taken.isdisjoint(comparable_text(text) for text, *_ in texts(store, second.name))


def test_texts_that_differ_in_case_and_blanks_are_the_same_text_to_the_two_sets(
    tmp_path: Path,
) -> None:
    path = said(tmp_path / "a.db", "Word {ref}", models=("m-1",), each=1)
    with Store.open(path) as store:
        make_queue(store, replace(TRAINING, per_stratum=99))
        drawn = {comparable_text(text) for text, *_ in texts(store, "train")}
        assert len(drawn) == 16, "one text a statement, under every prefix and wording"
        with pytest.raises(UsageError, match="all 48 belong to the other set"):
            propose_queue(store, TEST)
        proposal = propose_queue(store, replace(TRAINING, name="more"))
        assert proposal.sample.held_back == 0, "a second training set may have them"


@pytest.mark.parametrize("test_first", [True, False])
def test_held_out_statements_are_in_no_training_set_whichever_comes_first(
    store: Store, test_first: bool
) -> None:
    small = replace(TRAINING, per_stratum=1, models=("m-1",), limit=4)
    held = replace(TEST, held_out=0.25)
    specs = (held, TRAINING) if test_first else (small, held)
    for spec in specs:
        make_queue(store, spec)
    of_test = {ref for _, ref, *_ in texts(store, "test")}
    of_training = {ref for _, ref, *_ in texts(store, "train")}
    assert 0 < len(of_test) <= 4
    assert of_test.isdisjoint(of_training)
    more = propose_queue(store, replace(TRAINING, name="more", per_stratum=99))
    assert more.sample.held_back > 0
    make_queue(store, more.spec, more)
    assert of_test.isdisjoint(ref for _, ref, *_ in texts(store, "more"))
    kept = store.queues.get("test").spec["held_out_statements"]
    assert isinstance(kept, list)
    assert of_test <= set(kept)


def test_more_statements_than_are_free_cannot_be_held_out(store: Store) -> None:
    make_queue(store, TRAINING)
    with pytest.raises(UsageError, match="Make the test set"):
        propose_queue(store, replace(TEST, held_out=0.5))


def test_a_check_queue_may_hold_what_both_sets_have(store: Store) -> None:
    make_queue(store, replace(TRAINING, per_stratum=99))
    assert len(
        propose_queue(store, QueueSpec("check", Purpose.CHECK, per_stratum=99)).items
    ) == len(texts(store, "train"))


@pytest.mark.parametrize(("overlap", "several"), [(0.1, 4), (1.0, 36), (0.0, 0), (2.0, 36)])
def test_overlap_is_a_share_or_a_number_a_stratum(
    store: Store, overlap: float, several: int
) -> None:
    make_queue(store, replace(TEST, labels=3, overlap=overlap))
    needed = Counter(needed for _, _, needed, _ in texts(store, "test"))
    assert needed[3] == several
    assert needed[1] == 36 - several


def test_numbers_that_a_rule_reads_are_left_to_it(tmp_path: Path) -> None:
    path = said(tmp_path / "a.db", "{n}% sure", models=("m-1",), each=1)
    with Store.open(path) as store:
        base = sided()
        likert = next(t.name for t in base.templates if t.scale == LIKERT)
        assert propose_queue(store, replace(TEST, per_stratum=99)).by_rule == 0
    path = said(tmp_path / "b.db", "4 of 5 for {ref}", models=("m-1",), each=1)
    with Store.open(path) as store:
        found = propose_queue(store, replace(TEST, per_stratum=99))
        assert found.by_rule == 0, "two numbers are none"
    path = said(tmp_path / "c.db", "**4**", models=("m-1",), each=1)
    with Store.open(path) as store:
        found = propose_queue(store, replace(TEST, per_stratum=99))
        assert found.by_rule == 48, "every answer to the one prefix that asks for a number"
        assert not any(item.stratum.startswith(likert) for item in found.items)
        assert "a rule reads these" in found.describe()


def test_models_and_instruments_narrow_what_is_drawn(store: Store) -> None:
    found = propose_queue(store, replace(TEST, models=("m-2",)))
    assert {item.stratum.rpartition(" · ")[2] for item in found.items} == {"m-2"}
    with pytest.raises(UsageError, match=r"by m-9.*with answers: m-1, m-2"):
        propose_queue(store, replace(TEST, models=("m-9",)))


def test_attention_items_are_mixed_in_for_everybody_and_needed_by_nobody(store: Store) -> None:
    make_queue(store, replace(TEST, attention=3))
    queue = store.queues.get("test")
    assert (queue.attention, queue.items, queue.needed) == (3, 36, 72)
    known = dict(attention_items("stance"))
    found = store.connection.execute(
        "select x.body, i.attention, i.needed from queue_item i join unit u on u.id = i.unit_id "
        "join text x on x.id = u.text_id where i.attention is not null"
    ).fetchall()
    assert all(known[text] == label and needed == 0 for text, label, needed in found)
    with pytest.raises(UsageError, match="attention items"):
        propose_queue(store, replace(TEST, name="more", attention=999))


def test_an_attention_item_is_never_a_text_that_a_model_gave(tmp_path: Path) -> None:
    known = attention_items("stance")
    path = said(tmp_path / "a.db", known[0][0].upper(), models=("m-1",), each=1)
    with Store.open(path) as store:
        found = propose_queue(store, replace(TEST, attention=len(known) - 1))
        assert known[0][0] not in {item.text for item in found.items}
        make_queue(store, found.spec, found)
        with pytest.raises(UsageError, match="attention items"):
            propose_queue(store, replace(TEST, name="x", attention=len(known)))


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        (TEST, "no free-text answers"),
        (QueueSpec("s", Purpose.TEST, codebook="side"), "has no statements"),
        (replace(TEST, codebook="nope"), "stance"),
        (replace(TEST, held_out=1.0), "held-out share"),
        (replace(TEST, held_out=float("nan")), "held-out share"),
        (replace(TRAINING, held_out=0.5), "only a test set holds out statements"),
        (replace(TEST, attention=-1), "attention"),
    ],
)
def test_an_empty_store_and_senseless_numbers_are_answered_in_words(
    tmp_path: Path, spec: QueueSpec, says: str
) -> None:
    with (
        Store.open(tmp_path / "empty.db", create=True) as store,
        pytest.raises(UsageError, match=says),
    ):
        make_queue(store, spec)


def test_statements_are_drawn_by_themselves_for_the_codebook_of_sides(store: Store) -> None:
    make_queue(store, QueueSpec("sides", Purpose.CHECK, codebook="side", per_stratum=99))
    found = texts(store, "sides")
    assert len(found) == 16
    assert {stratum for *_, stratum in found} == {"PCT · original", "WVS · original"}


def test_a_name_is_given_once_and_an_empty_queue_is_not_made(store: Store) -> None:
    make_queue(store, TEST)
    before = rows(store)
    with pytest.raises(UsageError, match="named 'test' already"):
        make_queue(store, replace(TEST, seed=5))
    with pytest.raises(UsageError, match="would be empty"):
        store.queues.create("none", Purpose.TEST, shipped_codebook("stance"), [], {})
    assert rows(store) == before
    with pytest.raises(UnknownName, match="Available: test"):
        store.queues.get("nope")


def test_a_queue_comes_back_as_it_was_made(store: Store) -> None:
    make_queue(store, replace(TEST, seed=9))
    queue: Queue = store.queues.get("test")
    assert queue.codebook == shipped_codebook("stance")
    assert queue.spec["seed"] == 9
    assert (queue.purpose, queue.done, queue.finished, queue.annotators) == (Purpose.TEST, 0, 0, ())
    assert store.queues.list(Purpose.TRAINING) == ()


def test_a_new_queue_counts_the_labels_that_its_items_have(tmp_path: Path) -> None:
    from stores.annotation.annotator import Annotator

    path = labelling_store(tmp_path / "a.db", numbered(4))
    with Annotator.open(path, "first", "ana") as ana:
        for _ in range(3):
            item = ana.next()
            assert item is not None
            ana.label(item.unit, "agree")
    labelling_store(path, numbered(4), queue="second", needed=1)
    with Store.open(path) as store:
        assert (store.queues.get("second").done, store.queues.get("second").finished) == (3, 3)


def test_a_text_twice_in_a_queue_is_refused_in_words(store: Store) -> None:
    items = [NewItem(1, 1, "", text="same")] * 2
    with pytest.raises(UsageError, match="twice"):
        store.queues.create("q", Purpose.TEST, shipped_codebook("stance"), items, {})
    assert store.queues.list() == ()


def test_three_models_that_answer_alike_leave_one_text_of_each(tmp_path: Path) -> None:
    with Store.open(asked(tmp_path / "a.db")) as store:
        found = propose_queue(store, replace(TRAINING, per_stratum=9))
        assert found.sample.strata <= len(MODELS) * 3 * 3
        assert found.sample.short > 0
        assert len({item.text_id for item in found.items}) == len(found.items)


def included(store: Store, name: str) -> list[tuple[float | None, int | None]]:
    """Return (inclusion, answers) of a queue's items."""
    rows = store.connection.execute(
        "select i.inclusion, i.answers from queue_item i join queue q on q.id = i.queue_id where "
        "q.name = ?",
        (name,),
    )
    return rows.fetchall()


def test_a_test_set_pools_equal_answers_and_records_how_likely_each_was_drawn(
    tmp_path: Path,
) -> None:
    with Store.open(asked(tmp_path / "a.db")) as store:
        proposal = propose_queue(store, replace(TEST, limit=40))
        make_queue(store, proposal.spec, proposal)
        frame = proposal.sample.frame
        assert frame is not None
        counted = store.connection.execute(
            "select count(*), sum(n) from (select sum(r.count) as n from response r join draw d on "
            "d.id = r.draw_id join probe p on p.prompt_id = d.prompt_id join template t on t.id = "
            "p.template_id and t.scale <> 'likert' group by r.text_id, p.wording_id)"
        ).fetchone()
        unread = sum(
            c.answers
            for c in store.queues.candidates("bias_score")
            if c.scale == LIKERT and "no" in c.text
        )
        assert (frame.units >= counted[0], frame.answers) == (True, counted[1] + unread)
        found = included(store, "test")
        assert len(found) == 40
        assert any(answers > 1 for _, answers in found if answers)
        assert all(p is not None and answers is not None and 0 < p <= 1 for p, answers in found)
        rates = {
            round(p / answers, 9) for p, answers in found if p is not None and answers and p < 1
        }
        assert len(rates) == 1
        assert f"figures represent all {frame.answers:,}" in proposal.describe()
        kept = store.queues.get("test").spec["frame"]
        assert kept == {
            "answers": frame.answers,
            "units": frame.units,
            "certain_units": frame.certain_units,
            "certain_answers": frame.certain_answers,
            "outside": 0,
        }


def test_a_training_set_makes_no_claim_about_answers(store: Store) -> None:
    make_queue(store, TRAINING)
    make_queue(store, TEST)
    assert set(included(store, "train")) == {(None, None)}
    assert store.queues.get("train").spec["frame"] is None
    frame = store.queues.get("test").spec["frame"]
    assert isinstance(frame, dict)
    assert frame["outside"] == 72, "texts of the training set are out of the test set's reach"


def test_answers_to_two_versions_of_a_statement_are_counted_once(tmp_path: Path) -> None:
    with Store.open(asked(tmp_path / "a.db")) as store:
        before = sum(c.answers for c in store.queues.candidates("bias_score"))
        base = store.instruments.get("two-tests")
        first, *others = base.statements[0].wordings
        changed = replace(
            base.statements[0], wordings=(replace(first, text="Another text."), *others)
        )
        store.instruments.add(replace(base, statements=(changed, *base.statements[1:])))
        for model in MODELS:
            probes = tuple(every_probe((changed,), base.templates, WORDINGS, "en", model))
            store.runs.add_probes("bias_score", base.name, "en", base.templates, probes)
        assert sum(c.answers for c in store.queues.candidates("bias_score")) == before


@pytest.mark.parametrize("whole", [True, False])
def test_a_queue_of_another_store_keeps_its_probabilities_where_all_of_its_items_are_here(
    tmp_path: Path, whole: bool
) -> None:
    other = said(tmp_path / "other.db", "Answer {n}.")
    path = said(tmp_path / "here.db", "Answer {n}.", models=("m-1", "m-2") if whole else ("m-1",))
    with Store.open(other) as store:
        make_queue(store, replace(TEST, per_stratum=9))
        copies = store.exchange.queues()
    with Annotator.open(other, "test", "ana") as ana:
        while (item := ana.next()) is not None:
            ana.label(item.unit, "agree")
    with Store.open(other) as store:
        events, books = tuple(store.exchange.events()), store.exchange.codebooks()
    with Store.open(path) as store:
        store.exchange.add(events, books, source="other", partial=True, queues=copies)
        found = included(store, "test")
        assert found
        assert all((p is not None) is whole for p, _ in found)
