"""A frozen plan is what it says: its file reads back to it, and a change of anything changes its
hash.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.domain.designs import Design, FrozenPlan, written
from workbench.domain.questionnaires import Contexts
from workbench.domain.responses import Sampling
from workbench.errors import UsageError
from workbench.formats.plans import plan_text, read_text

texts = st.text(st.characters(codec="utf-8", exclude_categories=("Cs",)), max_size=12)


def plan(**changes: Any) -> FrozenPlan:
    design = Design(
        "veldania",
        "m",
        sampling=Sampling(top_k=None),
        contexts=Contexts(conditions=("qm", "random")),
    )
    asked = {name: value for name, value in design.as_json().items() if name != "model"}
    made = FrozenPlan(
        models=("m", "n"),
        asked=written(asked),
        content={"instrument": "ab", "prompts": [3, 3], "prompts_content": ["x", "y"]},
        templates=(
            written(
                {
                    "name": "personal-1",
                    "inverted": False,
                    "user": "Hm,\n{statement}?",
                    "system": None,
                }
            ),
        ),
        audit="reliability",
        judged=written({"rule": "printed", "minimum": None, "low": 0.45}),
        compared=("m", "n"),
        correction="holm",
        made={"workbench": "1.0", "at": "2026-01-01T00:00:00Z", "answers_before": 0},
    )
    return replace(made, **changes)


def test_a_plan_reads_back_and_gives_the_designs_of_its_models() -> None:
    found = read_text(plan_text(plan()), "plan.toml")
    assert found == replace(plan(), judged=found.judged, asked=found.asked)
    assert found.hash == plan().hash
    design = found.design("n")
    assert (design.model, design.sampling.top_k, design.contexts.conditions) == (
        "n",
        None,
        ("qm", "random"),
    )
    assert design == replace(
        Design("veldania", "n"), contexts=Contexts(conditions=("qm", "random"))
    )
    with pytest.raises(UsageError, match="for 2 models; name one"):
        found.design()
    with pytest.raises(UsageError, match="has no model 'o'"):
        found.design("o")


@given(
    texts,
    texts,
    st.floats(allow_nan=False, allow_infinity=False),
    st.booleans(),
    st.lists(texts, max_size=3),
)
def test_whatever_a_plan_holds_reads_back(
    text: str, name: str, number: float, flag: bool, many: list[str]
) -> None:
    found = plan(judged={"a": text, "b": number, "c": flag, "d": many}, compared=(name,))
    assert read_text(plan_text(found), "plan.toml").hash == found.hash


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("samples = 30", "samples = 10"),
        ('rule = "printed"', 'rule = "coded"'),
        ('correction = "holm"', 'correction = "bh"'),
        ("answers_before = 0", "answers_before = 9"),
        ("{statement}", "{statement} now"),
    ],
)
def test_a_plan_that_was_changed_is_refused(before: str, after: str) -> None:
    text = plan_text(plan())
    assert before in text
    with pytest.raises(UsageError, match="was changed since it was frozen"):
        read_text(text.replace(before, after), "plan.toml")


@pytest.mark.parametrize("text", ["", "x = [", "[plan]\nformat = 1\n", "\x00", 'plan = "no"'])
def test_what_is_no_plan_is_refused_in_words(text: str) -> None:
    with pytest.raises(UsageError, match=r"plan\.toml: is no frozen plan"):
        read_text(text, "plan.toml")


def test_a_plan_of_a_later_format_is_refused() -> None:
    with pytest.raises(UsageError, match="found the format 2"):
        read_text(plan_text(plan()).replace("format = 1", "format = 2"), "plan.toml")
