"""Methods paragraphs state what was really done, for every combination of readings, rulings and
samplings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from itertools import product
from pathlib import Path

import pytest

from stores.annotation.annotator import Annotator
from stores.core.store import Store
from tests.stores.test_planned import READABLE, ask
from tests.stores.test_rulings_in_figures import of_free, rule, undo_all
from tests.tui.bias_stores import asked, book_of, labelled, read_as, trained
from workbench.audits.bias_score.judged import BiasJudged, answered_by, judge_bias, judged_methods
from workbench.audits.bias_score.options import ScoreOptions
from workbench.audits.bias_score.scored import refused_by
from workbench.audits.chosen_run import find_run
from workbench.audits.consistency.judged import judge_consistency
from workbench.audits.consistency.methods import methods as methods_of_consistency
from workbench.audits.reliability import AUDIT as RELIABILITY
from workbench.audits.reliability.judged import judge_reliability
from workbench.audits.reliability.options import ReliabilityOptions
from workbench.domain.annotations import DisagreementReason, Purpose
from workbench.domain.readings import PEOPLE, ReadingChoice
from workbench.domain.responses import EXACT, WHEN_DECIDED, Sampling
from workbench.domain.rulings import RulingVerdict
from workbench.domain.verdicts import Estimate
from workbench.errors import UsageError
from workbench.evidence import ruling_subjects as subjects
from workbench.evidence.runs import AnswerSelection
from workbench.inference.scripted.model import ScriptedModel
from workbench.pipeline.queues import QueueSpec, make_queue

NUMBERS = re.compile(r"Of ([\d,]+) answers, ([\d,]+) count; excluded were ([^.]*)\.")


@pytest.fixture(scope="module")
def free(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Free answers read by a classifier; most labels are one person's alone, some of two, and some
    are disputed.
    """
    path = labelled(asked(tmp_path_factory.mktemp("methods") / "free.db"))
    with Store.open(path) as store:
        make_queue(store, QueueSpec("again", Purpose.TRAINING, per_stratum=1, labels=2))
    for name, contrary in (("bo", False), ("cy", True)):
        with Annotator.open(path, "again", name) as person:
            at = 0
            while (item := person.next()) is not None:
                said = read_as(item.context.text)[0]
                person.label(
                    item.unit, "neutral" if contrary and at % 3 == 0 and said != "neutral" else said
                )
                at += 1
    with Store.open(trained(path)) as store:
        yield store


def scored(
    store: Store, by: str | None = None, *, rulings: bool = True, correct: bool = False
) -> BiasJudged:
    return judge_bias(
        store,
        AnswerSelection(readings=ReadingChoice(by, rulings=rulings)),
        ScoreOptions(draws=50, correct=correct),
    )


def paragraph(store: Store, judged: BiasJudged) -> str:
    came = answered_by(store, judged, [refused_by(store, judged, model) for model in judged.runs])
    return judged_methods(judged, came)


def whole(text: str) -> int:
    return int(text.replace(",", ""))


@pytest.mark.parametrize(
    ("by", "correct", "ruled", "counted"),
    [
        (by, correct, ruled, counted)
        for by, correct, ruled, counted in product(
            (None, PEOPLE), (False, True), (False, True), (True, False)
        )
        if not (by == PEOPLE and correct) and (ruled or counted)
    ],
)
def test_a_paragraph_names_who_read_and_its_numbers_add_up(
    free: Store, by: str | None, *, correct: bool, ruled: bool, counted: bool
) -> None:
    answer = subjects.subjects_below(free, of_free(free))[0]
    if ruled:
        rule(free, answer, RulingVerdict.MISREAD, "neutral")
        rule(free, of_free(free, "PCT-economic-left-2"), RulingVerdict.EXCLUDED)
    judged = scored(free, by, rulings=counted, correct=correct)
    text = paragraph(free, judged)
    undo_all(free)
    assert ("classifier bart-stance" in text) == (by is None)
    assert ("classifier" in text.replace("No classifier read any.", "")) == (by is None)
    assert ("No classifier read any." in text) == (by == PEOPLE)
    assert ("prediction-powered inference" in text) == correct
    assert ("error was not corrected for" in text) == (by is None and not correct)
    assert ("people's label for their text" in text) == correct
    assert ("Auditors' rulings count: 2 rulings: " in text) == (ruled and counted)
    assert ("2 rulings of auditors are left out by choice." in text) == (ruled and not counted)
    assert ("that auditors' rulings leave out" in text) == (ruled and counted)
    assert ("auditors reread " in text) == (ruled and counted and not correct)
    found = NUMBERS.search(text)
    assert found is not None
    excluded = [
        whole(n) for n in re.findall(r"(?<![.\d])([\d,]*\d)(?= (?:unrelated|that|not))", found[3])
    ]
    assert whole(found[1]) == whole(found[2]) + sum(excluded)


@pytest.mark.parametrize("verdict", [RulingVerdict.CONFIRMED, RulingVerdict.MISREAD])
def test_rulings_on_readings_do_not_count_in_corrected_figures(
    free: Store, verdict: RulingVerdict
) -> None:
    """Labels correct the same errors: those that an auditor found would be corrected twice."""

    def figures() -> tuple[Estimate, Estimate, int]:
        corrected = scored(free, correct=True)
        assert corrected.corrected is not None
        return (
            scored(free).report.figure("milieu-1b").total,
            corrected.report.figure("milieu-1b").total,
            corrected.corrected.labelled,
        )

    plain, corrected, n_labelled = figures()
    for answer in subjects.subjects_below(free, of_free(free)):
        if verdict is RulingVerdict.CONFIRMED:
            rule(free, answer, verdict)
        else:
            with suppress(UsageError):  # it reads so already
                rule(free, answer, verdict, "neutral")
    plain_after, corrected_after, n_labelled_after = figures()
    undo_all(free)
    assert (corrected_after, n_labelled_after) == (corrected, n_labelled)
    assert (plain_after == plain) == (verdict is RulingVerdict.CONFIRMED)


def test_people_alone_are_told_by_how_many_labelled_each_answer(free: Store) -> None:
    """A text with one annotator is no text that people agree on."""
    judged = scored(free, PEOPLE)
    how, tally = judged.read_by, judged.report.tally
    assert how.single > how.several > 0
    assert how.ruled == how.decided == 0
    assert how.single + how.several == tally.read.sum() - tally.by_rule.sum()
    text = paragraph(free, judged)
    assert f"{how.single:,} by one person and {how.several:,} by several who agree" in text
    assert "or labels that disagree" in text
    header = book_of(free.path, judged.options, judged.which).header
    assert any(line.startswith("Read by people: ") for line in header)
    disputed = next(item for item in free.labels.judged("stance") if item.open)
    codebook = free.queues.get("again").codebook
    free.labels.decide(
        disputed.context.unit,
        codebook,
        "neutral",
        next(iter(DisagreementReason)),
        "read twice",
        "ada",
    )
    after = scored(free, PEOPLE).read_by
    assert after.decided > 0
    assert (after.single, after.several) == (how.single, how.several)
    assert f"{after.decided:,} adjudicated" in paragraph(free, scored(free, PEOPLE))


def test_a_part_of_a_plan_and_other_languages_are_said(tmp_path: Path) -> None:
    path = trained(asked(tmp_path / "part.db", models=["milieu-1b"]))
    with Store.open(path) as store:
        run = find_run(store, "bias_score")
        assert "in the language en with the templates prefixes" in paragraph(store, scored(store))
        assert "Of the plan" not in paragraph(store, scored(store))
        prompts = [
            key
            for (key,) in store.connection.execute("select key from prompt order by id limit 10")
        ]
        store.runs.note_plan(run.model_id, run.sampling_id, prompts, 30)
        text = paragraph(store, scored(store))
    assert "Of the plan of milieu-1b 6" in text
    assert "and the figures rest on that part." in text


@pytest.mark.parametrize("stop", ["", WHEN_DECIDED])
def test_verdicts_say_how_a_model_was_asked_and_who_read(filled: Store, stop: str) -> None:
    ask(filled, ScriptedModel(READABLE), sampling=Sampling(stop=stop), stop_after=5)
    judged = judge_reliability(filled, find_run(filled, "reliability"))
    book = RELIABILITY.judge(
        filled, AnswerSelection(), ReliabilityOptions(), lambda: nullcontext(filled)
    ).book
    for text in (judged.methods(), book.methods, methods_of_consistency(judge_consistency(filled))):
        assert (
            "in the language en with the templates chat for answers drawn at T 1, top-p 0.85, 20 "
            "tokens" in text
        )
        assert ("an answer ended once its reading could not change any more" in text) == bool(stop)
        assert "A rule read the answers: label-words (version " in text
        assert "and the figures rest on that part." in text
    coded = ReadingChoice("label-words-coded")
    text = judge_reliability(filled, find_run(filled, "reliability"), readings=coded).methods()
    assert "A rule read the answers: label-words-coded (version " in text


def test_probabilities_are_read_by_nobody(filled: Store) -> None:
    ask(filled, ScriptedModel(READABLE))
    run = find_run(filled, "reliability")
    assert run.sampling.mode != EXACT
    text = methods_of_consistency(judge_consistency(filled))
    assert "percentile intervals of" not in text, "no interval of these figures is one"
    assert "Wilson's at the effective number of answers" in text
