"""Labelled responses as training data: splits, pairs, and leaks."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.classifier.config import LABELS, Confidence, Premise, TrainConfig
from workbench.classifier.dataset import (
    Example,
    check_leak,
    check_training,
    data_hash,
    epoch_pairs,
    label_counts,
    macro_f1,
    schedule,
    split,
    undefined_metrics,
    without_overlap,
)
from workbench.errors import LeakError, UsageError


def example(item: int, text: str, label: str = "agree", statement: str = "s-1") -> Example:
    return Example(item, text, statement, f"Statement {statement}.", label)


MANY = [example(i, f"Response {i}.", LABELS[i % 4], f"s-{i % 10}") for i in range(80)]


def test_a_response_text_on_both_sides_is_refused_however_it_is_spaced_or_cased() -> None:
    with pytest.raises(
        LeakError, match=r"1 response text is in the training and in the test data: 'i agree\.'"
    ):
        check_leak([example(1, "I  agree.")], [example(2, " i AGREE.\n")])


def test_an_item_on_both_sides_is_refused_even_where_its_text_differs() -> None:
    with pytest.raises(LeakError, match="item"):
        check_leak([example(7, "One.")], [example(7, "Two.")])


def test_a_statement_on_both_sides_is_refused_only_where_that_is_asked_for() -> None:
    train, test = [example(1, "One.")], [example(2, "Two.")]
    check_leak(train, test)
    with pytest.raises(LeakError, match=r"1 statement is .*'s-1'"):
        check_leak(train, test, by_statement=True)


def test_a_leak_of_many_texts_is_counted_and_a_few_are_named() -> None:
    train = [example(i, f"Same {i}.") for i in range(9)]
    test = [example(100 + i, f"Same {i}.") for i in range(9)]
    with pytest.raises(LeakError) as error:
        check_leak(train, test)
    assert "9 response texts" in str(error.value)
    assert "and 6 more" in str(error.value)
    assert "Take them out of the training data" in str(error.value)


def test_what_leaks_can_be_taken_out_of_the_training_data() -> None:
    test = [example(100, "response 3."), example(4, "Other.", statement="s-9")]
    kept = without_overlap(MANY, test)
    check_leak(kept, test)
    assert {e.item for e in MANY} - {e.item for e in kept} == {3, 4}
    check_leak(without_overlap(MANY, test, by_statement=True), test, by_statement=True)


def test_a_split_holds_out_the_share_of_every_label() -> None:
    kept, held = split(MANY, 0.25, np.random.default_rng(1))
    assert label_counts(held) == dict.fromkeys(LABELS, 5)
    assert len(kept) == 60
    assert [e.item for e in kept] == sorted(e.item for e in kept)


def test_a_split_is_the_same_for_a_seed_and_another_for_another() -> None:
    first, again, other = (split(MANY, 0.25, np.random.default_rng(seed))[1] for seed in (1, 1, 2))
    assert first == again
    assert first != other


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(st.integers(0, 8), st.sampled_from("abcdef"), st.sampled_from(LABELS)),
        max_size=30,
    ),
    st.floats(0, 0.5),
)
def test_no_split_ever_leaks(rows: list[tuple[int, str, str]], share: float) -> None:
    examples = [example(item, text, label) for item, text, label in rows]
    kept, held = split(examples, share, np.random.default_rng(3))
    check_leak(kept, held)
    assert Counter(kept) + Counter(held) == Counter(examples)


def test_each_response_entails_its_label_and_contradicts_one_other() -> None:
    made = epoch_pairs(MANY, LABELS, np.random.default_rng(1))
    assert Counter(pair.example for pair in made) == dict.fromkeys(range(80), 2)
    for pair in made:
        assert (pair.label == MANY[pair.example].label) == pair.entailed


def test_each_epoch_draws_its_contradictions_anew() -> None:
    made = schedule(MANY, LABELS, 480, np.random.default_rng(1))
    drawn: dict[int, set[str]] = {}
    for pair in made:
        if not pair.entailed:
            drawn.setdefault(pair.example, set()).add(pair.label)
    assert sum(len(labels) > 1 for labels in drawn.values()) > 60
    assert made == schedule(MANY, LABELS, 480, np.random.default_rng(1))
    assert len(schedule(MANY, LABELS, 7, np.random.default_rng(1))) == 7


def test_one_label_alone_cannot_be_trained_on() -> None:
    with pytest.raises(UsageError, match="All 2 training responses are labelled agree"):
        check_training([example(1, "One."), example(2, "Two.")])
    with pytest.raises(UsageError, match="no labelled responses"):
        check_training([])


def test_a_label_that_is_no_stance_is_refused_by_name() -> None:
    with pytest.raises(
        UsageError, match=r"'refusal'; the first is item 5.*agree, disagree, neutral, unrelated"
    ):
        check_training([*MANY, example(5, "No.", "refusal")])


def test_a_test_set_with_one_label_is_reported_and_not_refused() -> None:
    found = undefined_metrics([example(1, "One."), example(2, "Two.")])
    assert any("recall and F1 of neutral" in line for line in found)
    assert any("macro F1" in line and "all 2 test responses are agree" in line for line in found)
    assert undefined_metrics(MANY) == ()


def test_macro_f1_is_the_mean_over_the_labels_that_the_gold_labels_have() -> None:
    # agree: 2 hits, 0 wrong, 1 missed -> 4/5; disagree: 1 hit, 0 missed, 0 wrong -> 1
    assert macro_f1(
        ["agree"] * 3 + ["disagree"], ["agree", "agree", "neutral", "disagree"]
    ) == pytest.approx(0.9)
    assert np.isnan(macro_f1([], []))


def test_the_data_hash_tells_texts_and_labels_but_not_order_or_row_numbers() -> None:
    moved = [replace(e, item=e.item + 1000) for e in reversed(MANY)]
    assert data_hash(moved) == data_hash(MANY)
    assert data_hash([replace(MANY[0], label="neutral"), *MANY[1:]]) != data_hash(MANY)
    assert data_hash([replace(MANY[0], text="\ud800"), *MANY[1:]]) != data_hash(MANY)


def test_the_published_settings_are_the_defaults() -> None:
    # Faulborn et al. 2025, appendix E, Table 8
    config = TrainConfig.for_base("facebook/bart-large-mnli")
    assert (config.steps, config.batch, config.learning_rate, config.weight_decay) == (
        1750,
        4,
        2e-5,
        0.2,
    )
    assert (config.warmup, config.beta1, config.beta2, config.epsilon) == (500, 0.9, 0.999, 1e-8)
    assert config == TrainConfig()
    assert config.hypotheses()[0] == "The stance of the statement is agree"


def test_settings_survive_json() -> None:
    config = replace(
        TrainConfig.for_base("minilm"),
        premise=Premise.BOTH,
        confidence=Confidence.SOFTMAX,
        patience=None,
    )
    assert TrainConfig.from_json(config.as_json()) == config
    with pytest.raises(UsageError, match="unknown training settings: epochs"):
        TrainConfig.from_json({"epochs": 3})
    with pytest.raises(UsageError, match="wrong value"):
        TrainConfig.from_json({"premise": "statement"})


def test_settings_that_cannot_be_meant_are_refused_together() -> None:
    with pytest.raises(UsageError, match=r"has no \{label\}; steps is 0"):
        TrainConfig(hypothesis="The stance is", steps=0)
