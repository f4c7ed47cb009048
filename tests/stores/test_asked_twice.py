"""Answers under another family or version of a template change no figure of any audit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from stores.core.store import Store
from tests.asked_twice import FAMILY, MODEL, OTHER, asked_twice, base, chosen
from workbench.audits.bias_score.judged import judge_bias
from workbench.audits.bias_score.options import ScoreOptions
from workbench.audits.bias_score.sides import judge_sides
from workbench.audits.questionnaire.judged import judge_questionnaire
from workbench.audits.response_bias.judged import judge_response_bias
from workbench.domain.prompts import LATEST, TemplateChoice
from workbench.errors import AmbiguousRun
from workbench.evidence.runs import AnswerSelection

Figures = dict[str, object]
"family or versions that the name of a result tells apart -> its figures"


def _bias(store: Store, templates: TemplateChoice) -> Figures:
    report = judge_bias(store, AnswerSelection(templates=templates), ScoreOptions(draws=50)).report
    return {
        model: [(name, found.total) for name, found in report.by_prefix(model)]
        for model in report.tally.models
    }


def _labels(store: Store, templates: TemplateChoice) -> Figures:
    found = judge_sides(store, AnswerSelection(base("statement_labels").name, templates=templates))
    return {found.model: (found.rows, found.unread)}


def _questionnaire(store: Store, templates: TemplateChoice) -> Figures:
    reports = judge_questionnaire(store, AnswerSelection(templates=templates)).reports
    return {
        name: [report.condition(of).p_yes for of in report.conditions]
        for name, report in reports.items()
    }


def _response_bias(store: Store, templates: TemplateChoice) -> Figures:
    found = judge_response_bias(store, AnswerSelection(templates=templates)).subjects
    return {name: [sorted(one.sets.items(), key=repr), one.short] for name, one in found.items()}


FIGURES: dict[str, Callable[[Store, TemplateChoice], Figures]] = {
    "bias_score": _bias,
    "statement_labels": _labels,
    "questionnaire": _questionnaire,
    "response_bias": _response_bias,
}


@pytest.mark.parametrize("audit", FIGURES)
@pytest.mark.parametrize("change", ["family", "edit", "language"])
def test_a_chosen_family_version_or_language_has_the_figures_of_a_store_that_was_asked_nothing_else(
    tmp_path: Path, audit: str, change: str
) -> None:
    figures = FIGURES[audit]
    with Store.open(asked_twice(tmp_path / "twice.db", audit, change)) as store:
        found = [figures(store, chosen(audit, change, turn)) for turn in (1, 2)]
        if change == "language" and audit == "statement_labels":
            with pytest.raises(AmbiguousRun, match="--language"):
                figures(store, LATEST)
            latest = found[1]
        else:
            latest = figures(store, LATEST)
    alone = []
    for turn in (1, 2):
        with Store.open(asked_twice(tmp_path / f"{turn}.db", audit, change, [turn])) as store:
            alone.append(figures(store, LATEST))
    assert [list(map(repr, one.values())) for one in found] == [
        list(map(repr, one.values())) for one in alone
    ]
    assert repr(alone[0].values()) != repr(alone[1].values()), "the two say different things"
    if audit == "response_bias" and change == "family":
        assert list(latest) == [f"{MODEL} · family {name}" for name in (FAMILY[audit], OTHER)], (
            "beside each other"
        )
        assert list(latest.values()) == [*found[0].values(), *found[1].values()]
    elif change == "language":
        if latest is not found[1]:
            assert {MODEL + " · en", MODEL + " · de"} == {
                " · ".join(name.split(" · ")[:2]) for name in latest
            }
    else:
        assert list(map(repr, latest.values())) == list(map(repr, found[1].values())), (
            "the one that was asked last"
        )
