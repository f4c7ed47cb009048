"""The auditor's queue: which reasons apply to which statement, in which order, and what takes it
out again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores.annotation.annotator import Annotator
from stores.annotation.queues import NewItem
from stores.core.store import Store
from tests.conftest import new_store
from tests.jobs.test_response_bias_runs import EXACT, ask, first_option, pairs
from tests.questionnaire_stores import ideal, panel, predict
from tests.tui.audit_runs import NO, YES, Answers, answers, audited
from tests.tui.bias_stores import full
from workbench.audits.chosen_run import find_run
from workbench.audits.codes import FAIL
from workbench.audits.reliability.counting import ALL
from workbench.audits.reliability.expected import LabelMass
from workbench.audits.reliability.expected import judge as judge_exact
from workbench.audits.reliability.review import near
from workbench.audits.reliability.verdicts import run_verdicts
from workbench.audits.response_bias.judged import judge_response_bias
from workbench.data import shipped_codebook, shipped_templates
from workbench.domain.annotations import DisagreementReason, Purpose
from workbench.domain.instruments import Instrument, with_pairs
from workbench.domain.prompts import Probe
from workbench.domain.readings import USUAL, ReaderKind, ReadingChoice
from workbench.domain.reviews import (
    NOT_PASSED,
    REASONS,
    ControlItem,
    RankedStatement,
    Signal,
    ranked,
)
from workbench.domain.rulings import Ruled, Ruling, RulingVerdict, Subject
from workbench.domain.statements import ORIGINAL
from workbench.errors import UsageError
from workbench.evidence import ruling_subjects as subjects
from workbench.evidence.control_sample import RuledControlSample
from workbench.evidence.listed_rulings import list_rulings, run_key
from workbench.pipeline import review_item
from workbench.pipeline.review import (
    ItemState,
    Review,
    ReviewProgress,
    Waiting,
    answers_of,
    control_of,
    draw_control_sample,
    pending_items,
    progress_of,
    review,
    take_back,
    take_next,
    with_control_sample,
)
from workbench.pipeline.review_item import ShownItem, show_item
from workbench.pipeline.review_item import answers as answers_table
from workbench.pipeline.review_tables import errors, nothing_waits, reviewed_shares
from workbench.readers.rules import letter_of


def odd(probe: Probe) -> Answers:
    """Return what `answers` does, with one close call and one answer that the two rules read
    differently.
    """
    if (probe.statement, probe.variant, probe.template, probe.inverted) == (
        "soc-07",
        "original",
        "personal-1",
        False,
    ):
        return ((YES, 22), (NO, 8))
    if (probe.statement, probe.variant, probe.template, probe.inverted) == (
        "env-03",
        "opposite",
        "personal-1",
        False,
    ):
        return ((NO, 29), ("It is not at all beneficial.", 1))
    return answers(probe)


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    with (
        TemporaryDirectory() as folder,
        Store.open(audited(Path(folder) / "audited.db", odd)) as found,
    ):
        yield found


@pytest.fixture(autouse=True)
def _undone(store: Store) -> Iterator[None]:
    yield
    while standing := [one for of in store.rulings.standing().values() for one in of]:
        for ruling in standing:
            store.rulings.undo(ruling, auditor=ruling.auditor)


def queue(store: Store) -> Review:
    return review(store, find_run(store, "reliability"), USUAL)


def reasons(of: Review) -> dict[str, list[str]]:
    return {one.ref: [signal.reason for signal in one.signals] for one in of.queue}


def rule(
    store: Store,
    name: str,
    verdict: RulingVerdict,
    auditor: str = "otto",
    reading: str | None = None,
) -> None:
    thing = subjects.find_subject(store, name)
    subjects.add_ruling(store, thing, verdict, auditor=auditor, reason="looked", reading=reading)


def test_each_reason_applies_where_it_should_and_the_sentence_adds_up(store: Store) -> None:
    of = queue(store)
    found = reasons(of)
    assert "one_wording" in found["tax-02"]
    assert "insufficient" in found["mig-01"]
    assert "near" in found["soc-07"]
    assert "readers_disagree" in found["env-03"]
    assert "one_wording" not in found["env-03"], "negation and label order fail it"
    for one in of.queue:
        assert one.score == sum(
            REASONS[signal.reason].points(signal.size) for signal in one.signals
        )
        assert one.why().endswith(f"= {one.score}")
    assert all(a.score >= b.score for a, b in pairwise(of.queue))


def test_one_wording_only_means_that_the_statement_passes_without_it(store: Store) -> None:
    report = run_verdicts(store, find_run(store, "reliability")).report
    for one in queue(store).queue:
        for signal in one.signals:
            if signal.reason == "one_wording":
                place = report.counts.statement(one.ref)
                gone = report.counts.exists.copy()
                gone[place, [str(v) == signal.variants[0] for v in report.counts.variants]] = False
                left = replace(report, counts=replace(report.counts, exists=gone))
                assert report.over_templates(ALL)[place] == FAIL
                kept = [
                    test
                    for test in left.options.tests
                    if (left.verdicts(test)[:, place] == FAIL).any()
                ]
                assert kept == []


def test_a_prompt_is_near_where_one_answer_more_or_less_turns_what_it_settles(store: Store) -> None:
    report = run_verdicts(store, find_run(store, "reliability")).report
    close, counts = near(report), report.counts
    for at in map(tuple, np.argwhere(close)):
        turned = []
        for move in (-1, 1):
            positive = counts.positive.copy()
            negative = counts.negative.copy()
            if positive[at] + move >= 0 and negative[at] - move >= 0:
                positive[at] += move
                negative[at] -= move
                turned.append(
                    replace(report, counts=replace(counts, positive=positive, negative=negative))
                )
        few = counts.readable[at] in (
            report.required_by_prompt[at],
            report.required_by_prompt[at] - 1,
        )
        assert few or any(other.clear[at] != report.clear[at] for other in turned)
    assert close.any()


def test_a_ruling_takes_a_statement_out_for_its_auditor_and_look_again_puts_it_first(
    store: Store,
) -> None:
    assert not queue(store).looked_at("tax-02", None)
    rule(store, "tax-02", RulingVerdict.CONFIRMED)
    of = queue(store)
    assert "tax-02" not in [one.ref for one in of.waiting("otto")]
    assert "tax-02" in [one.ref for one in of.waiting("eva")]
    rule(store, "mig-01", RulingVerdict.LOOK_AGAIN, "eva")
    of = queue(store)
    assert of.queue[0].ref == "mig-01"
    assert of.waiting("eva")[0].ref == "mig-01", "look again decides nothing"
    rule(store, "mig-01", RulingVerdict.CONFIRMED)
    assert "look_again" not in reasons(queue(store)).get("mig-01", [])


def test_a_ruling_below_a_statement_is_work_on_it_and_closes_nothing(store: Store) -> None:
    rule(
        store,
        "soc-07/original/personal-1/=" + _first_answer(store, "soc-07"),
        RulingVerdict.CONFIRMED,
    )
    of = queue(store)
    n, total = of.ruled("soc-07", "otto")
    assert n == 1
    assert total > 1
    assert of.ruled("soc-07", "eva") == (0, 0)
    assert not of.looked_at("soc-07", "otto")
    assert "soc-07" in [one.ref for one in progress_of(store, of, "otto").upcoming()]
    rule(store, "soc-07", RulingVerdict.REVIEWED)
    of = queue(store)
    assert of.looked_at("soc-07", "otto")
    rule(store, "soc-07", RulingVerdict.EXCLUDED, "eva")
    assert "disputed" not in reasons(queue(store))["soc-07"], (
        "reviewed says nothing against anybody"
    )


def _first_answer(store: Store, ref: str, model: str | None = None) -> str:
    of = store.review_queries.given(find_run(store, "reliability", model), ref)
    return next(one.text.hex()[:8] for one in of if one.variant == "original" and not one.inverted)


def test_look_again_is_open_until_somebody_decides_on_that_very_thing(store: Store) -> None:
    name = "soc-07/original/personal-1/=" + _first_answer(store, "soc-07")
    rule(store, name, RulingVerdict.LOOK_AGAIN, "eva")
    for beside in ("soc-07/negation", "soc-07/original", "soc-07"):
        rule(store, beside, RulingVerdict.CONFIRMED, "ivo")
        of = queue(store)
        assert "look_again" in reasons(of)["soc-07"], beside
        assert progress_of(store, of, "ivo").state(of.queue[0]) is ItemState.OPEN
    assert not queue(store).looked_at("soc-07", None)
    assert len(pending_items(store, find_run(store, "reliability"), None).again) == 1
    rule(store, name, RulingVerdict.CONFIRMED, "ivo")
    assert "look_again" not in reasons(queue(store))["soc-07"]
    assert queue(store).looked_at("soc-07", None)
    newest = store.rulings.newest("ivo")
    assert newest is not None
    store.rulings.undo(newest, auditor="ivo")
    assert "look_again" in reasons(queue(store))["soc-07"], "the decision was taken back"


def test_contradicting_rulings_are_a_reason(store: Store) -> None:
    rule(store, "soc-07/negation", RulingVerdict.CONFIRMED)
    rule(store, "soc-07/negation", RulingVerdict.WORDING_AT_FAULT, "eva")
    assert reasons(queue(store))["soc-07"][0] == "disputed"


def test_rulings_do_not_reorder_by_changing_verdicts(store: Store) -> None:
    before = queue(store).judged
    rule(store, "tax-02/negation", RulingVerdict.WORDING_AT_FAULT)
    after = queue(store).judged
    assert (after.passed, after.signals.keys()) == (before.passed, before.signals.keys())


def test_flags_notes_and_peoples_labels_count_also_where_labels_agree(tmp_path: Path) -> None:
    path = audited(
        tmp_path / "one.db",
        lambda probe: ((NO if probe.variant in ("negation", "opposite") else YES, 30),),
    )
    with Store.open(path) as store:
        assert "soc-07" not in reasons(queue(store))
        every = list(store.queues.candidates("reliability"))
        candidate = next(one for one in every if (one.ref, one.text) == ("soc-07", YES))
        item = NewItem(candidate.wording_id, 2, "s", candidate.text_id)
        store.queues.create("first", Purpose.TEST, shipped_codebook("stance"), [item], {})
        for name, label, flagged, note in (
            ("ana", "agree", True, ""),
            ("bob", "agree", False, "short"),
        ):
            with Annotator.open(path, "first", name) as person:
                shown = person.next()
                assert shown is not None
                unit = shown.unit
                person.remark(unit, flagged=flagged, note=note)
                person.label(unit, label)
        assert reasons(queue(store))["soc-07"] == ["flagged", "noted"]
        of = queue(store)
        first = next(one for one in of.queue if one.ref == "soc-07")
        (flagged, *_) = review_item.show_item(store, of, first).rows
        assert (flagged.text, flagged.meant) == (YES, True), "what is flagged stands first"
        with Annotator.open(path, "first", "bob") as person:
            person.label(unit, "disagree")
        assert reasons(queue(store))["soc-07"] == ["flagged", "noted", "readers_disagree"]
        store.labels.decide(
            unit, shipped_codebook("stance"), "agree", DisagreementReason.SLIP, "", "nora"
        )
        assert reasons(queue(store))["soc-07"] == ["flagged", "noted"]


@given(
    st.lists(
        st.tuples(
            st.sampled_from("abc"), st.sampled_from(list(REASONS)), st.sampled_from(["x", ""])
        ),
        max_size=12,
    )
)
def test_the_score_counts_each_reason_by_its_points_and_ties_keep_the_order(
    signals: list[tuple[str, str, str]],
) -> None:
    found = ranked("abc", [(ref, Signal(key, "w", (v,) if v else ())) for ref, key, v in signals])
    assert {one.ref for one in found} == {ref for ref, _, _ in signals}
    for one in found:
        keys = [key for ref, key, _ in signals if ref == one.ref]
        assert one.score == sum(REASONS[key].points(keys.count(key)) for key in set(keys))
    places = [(-one.score, -one.size, one.ref) for one in found]
    assert places == sorted(places)


def test_points_grow_with_what_is_at_stake_up_to_a_most(store: Store) -> None:
    tests = REASONS["tests"]
    assert [tests.points(n) for n in (1, 2, 100)] == [15, 20, 50]
    assert REASONS["noted"].points(9) == REASONS["noted"].weight
    (soc,) = (one for one in queue(store).queue if one.ref == "soc-07")
    found = {one.reason: one for one in soc.signals}
    report = run_verdicts(store, find_run(store, "reliability")).report
    place = report.counts.statement("soc-07")
    turned = set()
    for move in (-1, 1):  # the only prompt near its limit, judged with one answer on the other side
        positive, negative = report.counts.positive.copy(), report.counts.negative.copy()
        at = next(map(tuple, np.argwhere(near(report)[:, place])))
        positive[at[0], place, at[1], at[2]] += move
        negative[at[0], place, at[1], at[2]] -= move
        other = replace(report, counts=replace(report.counts, positive=positive, negative=negative))
        for test in report.options.tests:
            turned |= {
                (test, t)
                for t in np.flatnonzero(
                    other.verdicts(test)[:, place] != report.verdicts(test)[:, place]
                )
            }
    assert found["near"].size == 1
    assert found["tests"].size == len(turned)


def answered(
    store: Store,
    item: ControlItem,
    verdict: RulingVerdict,
    reading: str | None = None,
    by: str = "otto",
) -> None:
    subject = Subject(Ruled.ANSWER, {"prompt": item.prompt.hex(), "text": item.text.hex()})
    label = None if reading in (None, "unreadable") else reading
    store.rulings.rule(subject, verdict, auditor=by, reason="looked", label=label)


@pytest.mark.e2e
def test_a_control_sample_is_drawn_over_passed_and_failed_and_stays_as_it_is(
    tmp_path: Path,
) -> None:
    with (
        Store.open(audited(tmp_path / "one.db")) as one,
        Store.open(audited(tmp_path / "two.db")) as two,
    ):
        made = draw_control_sample(one, queue(one), 40, seed=3, drawn_by="otto").sample
        assert made.items == draw_control_sample(two, queue(two), 40, seed=3).sample.items, (
            "the seed decides"
        )
        assert {name: of.drawn for name, of in made.strata.items()} == {
            "passed": 20,
            "not passed": 20,
        }
        assert sum(of.size for of in made.strata.values()) == find_run(one, "reliability").responses
        assert sorted(place for item in made.items for place in item.places) == list(range(40))
        assert [item.places for item in made.items] == sorted(item.places for item in made.items)
        with pytest.raises(UsageError, match="there is a control sample"):
            draw_control_sample(one, queue(one), 40, seed=4)
        rule(one, "tax-02/negation", RulingVerdict.WORDING_AT_FAULT)
        found = control_of(one, queue(one))
        assert found is not None
        assert found.sample == made
        assert len(found.waiting(None)) == len(made.items), (
            "a ruling on a wording decides on no answer"
        )


@pytest.mark.e2e
def test_the_rate_counts_the_prefix_that_is_decided_and_only_answers_that_were_drawn(
    tmp_path: Path,
) -> None:
    with Store.open(audited(tmp_path / "one.db")) as store:
        items = draw_control_sample(store, queue(store), 40, seed=3).sample.items

        def control() -> RuledControlSample:
            found = control_of(store, queue(store))
            assert found is not None
            return found

        answered(store, items[-1], RulingVerdict.MISREAD, "unreadable")
        assert sum(one.counted for one in control().strata()) == 0, (
            "the ones before it are not decided"
        )
        for item in items[:-1]:
            answered(store, item, RulingVerdict.CONFIRMED)
        strata = {one.name: one for one in control().strata()}
        of_last = len(items[-1].places)
        assert sum(one.counted for one in strata.values()) == 40
        assert strata[items[-1].stratum].misread == of_last
        weight = strata[items[-1].stratum].size / sum(one.size for one in strata.values())
        assert control().rate.value == pytest.approx(
            weight * of_last / strata[items[-1].stratum].counted
        )
        rule(store, "env-03/paraphrase-1", RulingVerdict.EXCLUDED)
        assert control().rate.value > 0, "rulings on anything else play no part"
        answered(store, items[0], RulingVerdict.MISREAD, items[0].label or "unreadable", "eva")
        assert control().misread(items[0]) is None, (
            "two auditors who contradict each other settle nothing"
        )
        answered(store, items[0], RulingVerdict.LOOK_AGAIN, by="eva")
        assert control().misread(items[0]) is False
        assert draw_control_sample(store, queue(store), 10, seed=5).sample.seed == 5, (
            "a sample that is done makes room for another"
        )


def test_a_control_sample_gives_pass_rates_with_the_readers_error_beside_those_as_ruled(
    tmp_path: Path,
) -> None:
    with Store.open(audited(tmp_path / "one.db")) as store:
        run = find_run(store, "reliability")
        assert run_verdicts(store, run).error is None
        items = draw_control_sample(store, queue(store), 40, seed=3).sample.items
        error = run_verdicts(store, run).error
        assert error is not None
        assert error.corrected.passing.undefined.startswith("no control answer is decided yet")
        answered(
            store,
            items[0],
            RulingVerdict.MISREAD,
            "disagree" if items[0].label == "agree" else "agree",
        )
        for item in items[1:]:
            answered(store, item, RulingVerdict.CONFIRMED)
        assert run_verdicts(store, run, readings=ReadingChoice(rulings=False)).error is None, (
            "it rests on rulings"
        )
        error = run_verdicts(store, run).error
        assert error is not None
        assert [row.name for row in error.rows] == [
            "as read",
            "as ruled",
            "with the reader's error",
        ]
        assert sum(of.sum() - of.trace() for of in error.decided) == len(items[0].places)
        assert sum(of.sum() for of in error.decided) == 40
        assert (
            error.corrected.passing.low
            <= error.as_read.passing("all").value
            <= error.corrected.passing.high
        )
        rule(store, "env-03/negation", RulingVerdict.WORDING_AT_FAULT)
        again = run_verdicts(store, run).error
        assert again is not None
        assert (again.as_read.counts.left_out > 0).any(), "faults count, right readings do not"
        assert again.as_read.counts.positive.sum() < error.as_read.counts.positive.sum()


def test_the_queue_and_the_verdicts_say_with_one_number_how_much_is_reviewed(
    tmp_path: Path,
) -> None:
    with Store.open(audited(tmp_path / "one.db")) as store:
        run = find_run(store, "reliability")

        def said() -> str:
            assert reviewed_shares(queue(store)) == run_verdicts(store, run).told.reviewed
            return reviewed_shares(queue(store)).partition(": ")[2]

        for item in draw_control_sample(store, queue(store), 40, seed=3).sample.items:
            answered(store, item, RulingVerdict.CONFIRMED)
        rule(store, "env-03", RulingVerdict.LOOK_AGAIN)
        rule(store, "env-03/negation", RulingVerdict.CONFIRMED)
        assert said() == "0 of 1 that pass, 0 of 3 that do not pass", (
            "none of these reviews a statement"
        )
        rule(store, "env-03", RulingVerdict.CONFIRMED)
        assert said() == "0 of 1 that pass, 1 of 3 that do not pass"


def test_misread_as_what_the_reader_said_is_no_error(tmp_path: Path) -> None:
    with Store.open(audited(tmp_path / "one.db")) as store:
        made = draw_control_sample(store, queue(store), 4, seed=3)
        item = made.sample.items[0]
        answered(store, item, RulingVerdict.MISREAD, item.label or "unreadable")
        found = control_of(store, queue(store))
        assert found is not None
        assert found.misread(item) is False


def test_a_classifier_is_controlled_by_what_it_read_and_numbers_that_a_rule_reads_are_left_out(
    tmp_path: Path,
) -> None:
    with Store.open(full(tmp_path / "free.db")) as store:
        run = find_run(store, "bias_score", "gauche-7b")
        of = review(store, run, USUAL)
        read = answers_of(store, of)
        assert of.card is not None
        assert of.card.kind is ReaderKind.CLASSIFIER
        assert read
        texts = [store.review_queries.text(one.text) for one in read]
        assert not any(text.strip() in set("12345") for text in texts)
        assert sum(one.count for one in read) < run.responses
        control = draw_control_sample(store, of, 30, seed=1)
        assert list(control.sample.strata) == ["all"], "the audit has no verdicts"
        item = control.sample.items[0]
        wrong = next(label for label in ("agree", "disagree") if label != item.label)
        answered(store, item, RulingVerdict.MISREAD, wrong)
        found = control_of(store, review(store, run, USUAL))
        assert found is not None
        assert found.misread(item) is True


def test_a_probability_is_near_where_it_is_within_a_sample_of_a_limit() -> None:
    positive = np.array([0.5, 0.45 - 0.02, 0.55 + 0.02, 0.9]).reshape(1, 4, 1, 1).repeat(2, axis=3)
    mass = LabelMass(
        ("a", "b", "c", "d"),
        (ORIGINAL,),
        ("t",),
        positive,
        1 - positive,
        np.ones((4, 1), dtype=np.bool_),
    )
    assert near(judge_exact(mass))[0, :, 0, 0].tolist() == [False, True, True, False]


def following(store: Store, auditor: str, item: str = "") -> Waiting | None:
    return take_next(store, progress_of(store, queue(store), auditor), item)


@pytest.mark.e2e
def test_auditors_at_once_are_given_different_statements_and_the_same_drawn_answers(
    tmp_path: Path,
) -> None:
    path = audited(tmp_path / "one.db", odd)
    with Store.open(path) as one, Store.open(path) as two:
        names = ("otto", "eva", "ivo", "ana")
        given = [following(one if n % 2 else two, who) for n, who in enumerate(names)]
        assert [item.ref for item in given if item] == [item.ref for item in queue(one).queue]
        assert following(two, "ben") is None
        otto = following(one, "otto")
        assert otto is not None
        assert otto.ref == given[0].ref, "one's own item comes again"  # type: ignore[union-attr]
        rule(one, otto.ref, RulingVerdict.CONFIRMED)
        assert following(one, "otto") is None, "the others hold the rest"
        run = run_key(one, find_run(one, "reliability"))
        one.review_leases.release(run, "eva")
        found = following(one, "otto")
        assert found is not None
        assert found.ref == given[1].ref  # type: ignore[union-attr]
        draw_control_sample(one, queue(one), 24, seed=3)
        drawn = [following(store, who) for store, who in ((one, "ana"), (two, "ben"))]
        assert drawn[0] == drawn[1], (
            "both decide on the control sample, so that their agreement is known"
        )
        assert isinstance(drawn[0], ControlItem)


def test_a_lease_ends_by_itself_and_another_one_takes_its_place(tmp_path: Path) -> None:
    with Store.open(audited(tmp_path / "one.db", odd)) as store:
        run = run_key(store, find_run(store, "reliability"))
        assert store.review_leases.take(run, ["a", "b"], "otto", lease_s=-1) == "a"
        assert store.review_leases.held(run) == {}
        assert store.review_leases.take(run, ["a", "b"], "eva") == "a"
        assert store.review_leases.take(run, ["a", "b"], "otto") == "b"
        assert store.review_leases.take(run, ["a"], "otto") is None
        assert store.review_leases.held(run) == {"a": "eva"}, "who is given nothing holds nothing"


def test_what_others_decided_on_comes_last_and_what_was_passed_over_after_the_rest(
    tmp_path: Path,
) -> None:
    with Store.open(audited(tmp_path / "one.db", odd)) as store:
        rule(store, "tax-02", RulingVerdict.CONFIRMED, "eva")
        progress = progress_of(store, queue(store), "otto")
        assert [one.ref for one in progress.upcoming()] == ["soc-07", "env-03", "mig-01", "tax-02"]
        assert [one.ref for one in progress.upcoming("env-03")] == ["mig-01", "soc-07", "tax-02"]
        assert [progress.state(one) for one in progress.of.queue[:2]] == [
            ItemState.OPEN,
            ItemState.OTHERS,
        ]
        rule(store, "tax-02", RulingVerdict.EXCLUDED, "ivo")
        progress = progress_of(store, queue(store), "otto")
        assert progress.upcoming()[0].ref == "tax-02", (
            "auditors contradict each other: a third one is wanted"
        )
        assert progress_of(store, queue(store), "eva").state(progress.of.queue[0]) is ItemState.YOU


def test_a_draw_can_be_taken_back_until_somebody_decides_on_it_and_never_after(
    tmp_path: Path,
) -> None:
    with Store.open(audited(tmp_path / "one.db")) as store:
        items = draw_control_sample(store, queue(store), 4, seed=3).sample.items
        assert take_back(store, queue(store)) == len(items)
        assert control_of(store, queue(store)) is None
        assert draw_control_sample(store, queue(store), 4, seed=3).sample.items == items, (
            "the seed is free again"
        )
        answered(store, items[0], RulingVerdict.CONFIRMED)
        with pytest.raises(UsageError, match=r"1 of 4 answers of the newest draw .* it stays"):
            take_back(store, queue(store))
        newest = store.rulings.newest("otto")
        assert newest is not None
        store.rulings.undo(newest, auditor="otto")
        with pytest.raises(UsageError, match="it stays"):
            take_back(store, queue(store))  # what somebody knew of it would choose among draws


def test_draws_add_up_and_the_table_says_so(tmp_path: Path) -> None:
    with Store.open(audited(tmp_path / "one.db")) as store:
        first = draw_control_sample(store, queue(store), 40, seed=3)
        for item in first.items:
            answered(store, item, RulingVerdict.MISREAD, "unreadable" if item.label else "agree")
        decided = control_of(store, queue(store))
        assert decided is not None
        assert sum(one.counted for one in decided.strata()) == 40
        both = draw_control_sample(store, queue(store), 40, seed=4, drawn_by="eva")
        run = find_run(store, "reliability")
        assert {one.ref for one in both.items} >= {one.ref for one in first.items}, (
            "none is dropped"
        )
        assert (
            pending_items(store, run, None).items
            == len(both.waiting(None))
            < len(both.sample.items)
        )
        assert both.rate.value == 1, "what was decided before counts"
        for item in both.waiting(None):
            answered(store, item, RulingVerdict.CONFIRMED)
        found = control_of(store, queue(store))
        assert found is not None
        assert 0.4 < found.rate.value < 0.7
        assert 40 < sum(one.counted for one in found.strata()) < 80, (
            "an answer that both draws hold counts once"
        )
        table = errors(found)
        assert table.notes[0].startswith("2 draws (seed 3, seed 4 by eva): all of them count")
        assert table.notes[1].startswith("the first draw alone: 100")
        assert table.rows[-1].counted == round(sum(one.counted for one in found.strata()))


def test_a_drawn_answer_that_is_decided_blind_comes_without_its_reading(tmp_path: Path) -> None:
    with Store.open(audited(tmp_path / "one.db")) as store:
        draw_control_sample(store, queue(store), 4, seed=3)
        progress = progress_of(store, queue(store), "otto")
        for blind in (True, False):
            found = review_item.next_item(store, progress, blind=blind)
            assert found is not None
            assert isinstance(found.item, ControlItem)
            assert {row.reads == "hidden" and row.start is None for row in found.rows} == {blind}


def test_a_second_sample_needs_another_seed(tmp_path: Path) -> None:
    with Store.open(audited(tmp_path / "one.db")) as store:
        for item in draw_control_sample(store, queue(store), 4, seed=3).sample.items:
            answered(store, item, RulingVerdict.CONFIRMED)
        with pytest.raises(UsageError, match="give another seed"):
            draw_control_sample(store, queue(store), 4, seed=3)
        assert draw_control_sample(store, queue(store), 4, seed=4).sample.seed == 4


def test_control_samples_move_to_another_store_with_their_rulings(tmp_path: Path) -> None:
    with (
        Store.open(audited(tmp_path / "one.db")) as one,
        Store.open(audited(tmp_path / "two.db")) as two,
    ):
        items = draw_control_sample(one, queue(one), 30, seed=3).sample.items
        for item in items:
            answered(one, item, RulingVerdict.CONFIRMED)
        assert two.control_samples.merge(one.control_samples.every()) == 1
        assert two.control_samples.merge(one.control_samples.every()) == 0
        two.rulings.merge(one.rulings.events())
        here, there = control_of(one, queue(one)), control_of(two, queue(two))
        assert here is not None
        assert there is not None
        assert there.sample == here.sample
        assert there.rate == here.rate
        assert there.rate.defined


def test_in_a_blind_review_nobody_is_told_what_auditors_ruled() -> None:
    signals = [("a", Signal("look_again", "eva: odd")), ("a", Signal("near", "1 prompt"))]
    (found,) = ranked("a", signals)
    assert found.why() == "look again 1000 (eva: odd) + near the threshold 10 (1 prompt) = 1010"
    assert (
        found.why(blind=True)
        == "another opinion wanted 1000 + near the threshold 10 (1 prompt) = 1010"
    )


def test_what_is_known_at_once_waits_and_is_never_more_than_the_queue(store: Store) -> None:
    run, of = find_run(store, "reliability"), queue(store)
    assert pending_items(store, run, None).items == 0
    assert pending_items(store, run, of.judged).items == 3
    assert {"tax-02", "soc-07", "mig-01"} == set(of.judged.signals)
    rule(store, "tax-02", RulingVerdict.CONFIRMED)
    assert pending_items(store, run, of.judged).items == 2
    rule(store, "env-03", RulingVerdict.LOOK_AGAIN)
    assert pending_items(store, run, of.judged).items == 3
    assert pending_items(store, run, of.judged).items <= len(queue(store).waiting(None))


def item_on(store: Store, audit: str) -> ShownItem:
    """Return the item of a statement that an auditor wants looked at again."""
    run = find_run(store, audit)
    ref = review(store, run, USUAL).judged.statements[0]
    thing = subjects.statement_subject(store, run.instrument, ref)
    subjects.add_ruling(
        store, thing, RulingVerdict.LOOK_AGAIN, auditor="eva", reason="odd", reading=None
    )
    of = review(store, run, USUAL)
    found = next(one for one in of.queue if one.ref == ref)
    return show_item(store, of, found)


@pytest.mark.parametrize("exact", [False, True])
def test_an_item_of_letters_shows_the_letters_or_how_likely_each_is(
    tmp_path: Path, exact: bool
) -> None:
    with new_store(tmp_path / "choices.db") as store:
        blank = Instrument("choices", "Choices", (), templates=shipped_templates("response_bias"))
        store.instruments.add(with_pairs(blank, pairs()))
        ask(store, first_option(), *([EXACT] if exact else []))
        found = item_on(store, "response_bias")
        assert found.wordings
        assert found.rows
        table = answers_table(found)
        assert table.title == ("Probabilities" if exact else "Answers")
        for row in found.rows:
            assert (
                subjects.find_subject(store, row.subject).subject.named["prompt"]
                == row.prompt.hex()
            )
            assert ("%" in row.text) is exact
            assert row.reads == ("" if exact else letter_of(row.text))
        if not exact:
            put = {
                one.key
                for one in store.review_queries.prompts(
                    find_run(store, "response_bias"), found.item.ref
                )
            }
            assert {row.prompt for row in found.rows} == put
            assert all(row.text.strip()[:1].isalpha() for row in found.rows)


def test_letters_are_read_by_a_rule_so_they_have_reasons_and_a_control_sample_whose_rulings_change_figures(
    tmp_path: Path,
) -> None:
    with new_store(tmp_path / "choices.db") as store:
        blank = Instrument("choices", "Choices", (), templates=shipped_templates("response_bias"))
        store.instruments.add(with_pairs(blank, pairs()))
        ask(store, first_option(invalid=0.3))
        run = find_run(store, "response_bias")
        of = review(store, run, USUAL)
        assert of.card is not None
        assert of.card.name == "letter"
        found = reasons(of)
        silent = {
            ref
            for probe, answers in store.raw_answers.of_run(run).items()
            for ref in [
                next(one.ref for one in store.raw_answers.probes(run) if one.probe == probe)
            ]
            if 5 * sum(n for text, n in answers.items() if not letter_of(text))
            >= sum(answers.values())
        }
        assert {ref for ref, keys in found.items() if "unreadable" in keys} == silent
        assert silent
        made = draw_control_sample(store, of, 30, seed=1)
        assert {item.label for item in made.sample.items} >= {None, "a"}
        reading = subjects.subjects_below(
            store, subjects.find_subject(store, subjects.short_answer(*at(made.sample.items[0])))
        )[0]
        before = judge_response_bias(store).rulings.changing
        other = next(label for label in reading.right_readings if label != "unreadable")
        subjects.add_ruling(
            store, reading, RulingVerdict.MISREAD, auditor="otto", reason="looked", reading=other
        )
        assert len(judge_response_bias(store).rulings.changing) == len(before) + 1, (
            "a ruling on its reading counts, too"
        )


def at(item: ControlItem) -> tuple[bytes, bytes]:
    return item.prompt, item.text


def test_computed_probabilities_have_nothing_to_misread_and_that_is_said(tmp_path: Path) -> None:
    with new_store(tmp_path / "people.db") as store:
        store.instruments.add(panel())
        predict(store, ideal(store))
        of = review(store, find_run(store, "questionnaire"), USUAL)
        assert of.reader is None
        with pytest.raises(
            UsageError, match="has computed probabilities and no answers, so nothing can be misread"
        ):
            draw_control_sample(store, of, 30, seed=1)


def test_an_item_of_a_questionnaire_shows_the_likeliest_next_tokens_of_some_people(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(review_item, "LISTED", 3)
    with new_store(tmp_path / "people.db") as store:
        store.instruments.add(panel())
        predict(store, ideal(store), conditions=("qm", "zero-shot"))
        run = find_run(store, "questionnaire")
        refs = [ref for ref, *_ in store.runs.cells(run)]
        found = item_on(store, "questionnaire")
        assert len(found.rows) == 3
        asked = store.review_queries.prompts(run, found.item.ref)
        assert found.left_out == len(asked) - 3
        assert refs.count(found.item.ref) >= len(asked)
        assert all(" %" in row.text for row in found.rows)
        assert all("respondent" in row.factors for row in found.rows)
        assert found.lines()[-1] == f"{found.left_out} more prompts not shown"
        assert "PROMPT template-at-fault" in found.ruling_commands(None)[0]


@given(st.integers(0, 9), st.integers(0, 9))
def test_mixing_keeps_every_item_and_its_order(statements: int, answers: int) -> None:
    ranks = [RankedStatement(f"s-{n}", ()) for n in range(statements)]
    drawn = [ControlItem(f"s-{n}", "all", bytes([n]), b"", None, 1, (n,)) for n in range(answers)]
    found = list(with_control_sample(ranks, drawn))
    assert [one for one in found if isinstance(one, RankedStatement)] == ranks
    assert [one for one in found if isinstance(one, ControlItem)] == drawn
    assert not found or (found[0] is drawn[0] if drawn else found[0] is ranks[0])
    assert all(
        isinstance(one, ControlItem) for one in found[: 3 * min(answers, statements // 2) : 3]
    )


@pytest.mark.parametrize("by", ["label-words", "label-words-coded"])
def test_what_the_reader_that_counts_reads_is_no_misreading_whatever_other_readers_read(
    store: Store, by: str
) -> None:
    of = queue(store)
    rows = [
        row
        for one in of.queue
        if one.ref == "env-03"
        for row in review_item.show_item(store, of, one).rows
    ]
    disputed = next(row for row in rows if len({one.reads for one in row.readers}) > 1)
    reads = {one.who: one.reads for one in disputed.readers}
    usual = subjects.find_subject(store, disputed.subject)
    assert usual.read == ("label-words", reads["label-words"])
    thing = subjects.with_reading_of(store, usual, by)
    with pytest.raises(
        UsageError, match=f"{by}, the reader that counts, already reads it as {reads[by]}; to say"
    ):
        subjects.check_ruling(thing, RulingVerdict.MISREAD, reads[by])
    for reading in {*thing.labels} - {reads[by]}:
        subjects.check_ruling(thing, RulingVerdict.MISREAD, reading)


def test_an_item_says_of_each_answer_which_reason_is_about_it_and_what_each_reader_makes_of_it(
    store: Store,
) -> None:
    of = queue(store)
    by_ref = {one.ref: review_item.show_item(store, of, one) for one in of.queue}
    disputed = next(row for row in by_ref["env-03"].rows if row.readers)
    assert len({one.reads for one in disputed.readers}) > 1
    assert {one.who for one in disputed.readers} >= {"label-words", "label-words-coded"}
    assert any(review_item.deciding(disputed.text, one) for one in disputed.readers)
    assert "readers disagree" in disputed.because
    for row in by_ref["env-03"].rows:
        if not row.readers:
            assert "readers disagree" not in row.because
    near = [why for row in by_ref["soc-07"].rows for why in row.because]
    assert any(why.startswith(("agree ", "disagree ")) and "/" in why for why in near), near
    named = {(row.subject, one.who) for row in by_ref["env-03"].rows for one in row.readers}
    assert len(review_item.readers_of(by_ref["env-03"]).rows) == len(named)


def test_where_no_reason_applies_it_is_said_why_statements_that_fail_do_not_wait(
    store: Store,
) -> None:
    of = replace(queue(store), queue=())
    failing = sum(of.judged.stratum(ref) == NOT_PASSED for ref in of.judged.statements)
    told = nothing_waits(ReviewProgress(of))
    assert f"{failing} statements do not pass, but none narrowly" in told
    passing = replace(of, judged=replace(of.judged, passed=frozenset(of.judged.statements)))
    assert (
        nothing_waits(ReviewProgress(passing))
        == "Nothing is pending: no reason applies to any statement."
    )
    assert (
        nothing_waits(ReviewProgress(queue(store))) == "Nothing is pending: every item is decided."
    )


@pytest.fixture(scope="module")
def two_models() -> Iterator[Store]:
    """A store of two models that gave the same answers; each test takes back what it ruled."""
    with TemporaryDirectory() as folder:
        path = audited(audited(Path(folder) / "two.db"), model="other")
        with Store.open(path) as store:
            yield store


def ruled_for(
    store: Store, name: str, verdict: RulingVerdict, model: str | None, reading: str | None = None
) -> Ruling:
    """Rule on something in the review of a model, or for all."""
    key = "" if model is None else store.runs.model_key(find_run(store, "reliability", model)).hex()
    thing = subjects.find_subject(store, name)
    return subjects.add_ruling(
        store, thing, verdict, auditor="otto", reason="looked", reading=reading, model=key
    )


def changes(store: Store) -> dict[str, int]:
    """Return how many rulings change the figures of each model."""
    return {
        name: len(run_verdicts(store, find_run(store, "reliability", name)).told.changing)
        for name in ("smol", "other")
    }


def test_a_ruling_on_an_answer_applies_to_the_model_in_whose_review_it_was_made(
    two_models: Store,
) -> None:
    store = two_models
    name = "soc-07/original/personal-1/=" + _first_answer(store, "soc-07", "smol")
    excluded = ruled_for(store, name, RulingVerdict.EXCLUDED, "smol")
    assert changes(store) == {"smol": 1, "other": 0}
    told = run_verdicts(store, find_run(store, "reliability", "smol")).told
    assert any("; it applies to one model alone" in one for one in told.sentences())
    assert [(row.applies_to, row.status) for row in list_rulings(store) if row.in_force] == [
        ("smol", "stands")
    ]
    fault = ruled_for(store, "tax-02/negation", RulingVerdict.WORDING_AT_FAULT, "smol")
    assert fault.subject.model == "", "a wording is what every model was asked"
    assert changes(store) == {"smol": 2, "other": 1}
    for_all = ruled_for(store, name, RulingVerdict.EXCLUDED, None)
    assert changes(store) == {"smol": 2, "other": 2}
    confirmed = ruled_for(store, name, RulingVerdict.CONFIRMED, "other")
    assert changes(store) == {"smol": 2, "other": 1}, (
        "the newest counts for its model, the one for all for the others"
    )
    for one in (excluded, fault, for_all, confirmed):
        store.rulings.undo(one, auditor="otto")


def test_reviewed_is_what_was_looked_at_for_that_model(two_models: Store) -> None:
    store = two_models
    made = [
        ruled_for(store, "env-03", RulingVerdict.CONFIRMED, "smol"),
        ruled_for(store, "tax-02", RulingVerdict.LOOK_AGAIN, "smol"),
    ]

    def seen(model: str) -> Review:
        return review(store, find_run(store, "reliability", model), USUAL)

    assert [seen(model).looked_at("env-03", None) for model in ("smol", "other")] == [True, False]
    assert [("look_again" in reasons(seen(model))["tax-02"]) for model in ("smol", "other")] == [
        True,
        False,
    ]
    made.append(ruled_for(store, "tax-02", RulingVerdict.CONFIRMED, "other"))
    assert "look_again" in reasons(seen("smol"))["tax-02"], "that was decided for another model"
    assert [row.status for row in list_rulings(store) if row.in_force] == [
        "stands",
        "open",
        "stands",
    ]
    assert "1 of 3 that do not pass" in reviewed_shares(seen("smol"))
    made.append(ruled_for(store, "env-03", RulingVerdict.CONFIRMED, "other"))
    assert [seen(model).looked_at("env-03", "otto") for model in ("smol", "other")] == [True, True]
    for one in made:
        store.rulings.undo(one, auditor="otto")


def test_the_model_that_a_ruling_applies_to_is_the_only_one_or_is_named(
    two_models: Store, store: Store
) -> None:
    name = "soc-07/original/personal-1/=" + _first_answer(two_models, "soc-07", "smol")
    thing = subjects.find_subject(two_models, name)
    with pytest.raises(UsageError, match=r"found 2 models that answered .* or give --all-models"):
        subjects.ruled_model(two_models, thing, RulingVerdict.EXCLUDED)
    smol = two_models.runs.model_key(find_run(two_models, "reliability", "smol")).hex()
    assert subjects.ruled_model(two_models, thing, RulingVerdict.EXCLUDED, "smol") == smol
    assert subjects.ruled_model(two_models, thing, RulingVerdict.EXCLUDED, f"@{smol[:8]}") == smol
    with pytest.raises(UsageError, match="found no model 'nobody'"):
        subjects.ruled_model(two_models, thing, RulingVerdict.EXCLUDED, "nobody")
    statement = subjects.find_subject(two_models, "env-03")
    assert subjects.ruled_model(two_models, statement, RulingVerdict.EXCLUDED) == "", (
        "an exclusion of it is for all"
    )
    assert (
        subjects.ruled_model(store, subjects.find_subject(store, name), RulingVerdict.EXCLUDED)
        == smol
    ), "here is no other"
