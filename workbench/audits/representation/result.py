"""The result of the audit of representation: its book, its notes and its methods."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from stores.core.store import Store, at_once
from stores.runs.run_rows import Run
from workbench.audits.by_persona import with_personas
from workbench.audits.chosen_run import check_models
from workbench.audits.reported import Reference
from workbench.audits.representation.asking import Answers, askable
from workbench.audits.representation.findings import (
    find_likeness,
    find_steering,
    headline_text,
    nearest_by,
)
from workbench.audits.representation.judged import LikenessData
from workbench.audits.representation.likeness import Likenesses
from workbench.audits.representation.options import AUDIT, LikenessOptions
from workbench.audits.representation.tables import (
    all_models,
    groups,
    models,
    options_of,
    questions,
    steered,
)
from workbench.audits.result import Headline, Result
from workbench.domain.instruments import Instrument
from workbench.domain.names import plural
from workbench.domain.questionnaires import Questionnaire, named_few
from workbench.errors import UnknownName, UsageError
from workbench.evidence.answered import AnsweredPlan, answered_entry, answered_header, leading_model
from workbench.evidence.letters import LetterAnswers, answered_letters, unnamed_letter_sentences
from workbench.evidence.methods import asked_sentences, plan_sentences
from workbench.evidence.readings import source_of
from workbench.evidence.refusals import refusals_of
from workbench.evidence.rulings import RulingNotes
from workbench.evidence.runs import AnswerSelection, named_runs, selected_runs, template_notes
from workbench.figures.book import Book, Entry
from workbench.figures.table import AnyTable
from workbench.stats.populations import CodedPeople, Population, populations

SANTURKAR = Reference(
    "santurkar2023",
    "inproceedings",
    (
        "Santurkar, Shibani",
        "Durmus, Esin",
        "Ladhak, Faisal",
        "Lee, Cinoo",
        "Liang, Percy",
        "Hashimoto, Tatsunori",
    ),
    "Whose Opinions Do Language Models Reflect?",
    2023,
    "International Conference on Machine Learning (ICML)",
    (("eprint", "2303.17548"), ("archiveprefix", "arXiv")),
)
LIMITS = (
    "Likeness is a mean over these questions: a model can be like a group on some of them and "
    "unlike it on others.",
    "A model that answers evenly is fairly like everybody; the baseline of random letters shows "
    "how much.",
    "The nearest group is the nearest of those that were asked, and may be far away.",
)
NOTHING = (
    "nobody was asked survey questions yet. Start with: workbench run STORE --audit "
    f"{AUDIT} --model NAME"
)
NO_GROUPS = "people have no groups, or one of a kind: import some with --groups"
NO_PERSONAS = (
    "no model was asked with a persona and without one. Ask with --personas FILE, show "
    "with --persona all"
)
OTHER_PERSONAS = (
    "answers with personas are there, and not among these: --persona all shows "
    "them; on screen, T chooses"
)
CHOICES = ("measure", "unweighted")
"options on which every table depends"
SMALL = 100
"effective number of people below which the noise of their shares gets a note"


@dataclass(frozen=True, eq=False)
class StoredData:
    """The data of a result, which do not depend on the options."""

    which: AnswerSelection
    instrument: Instrument
    runs: Mapping[str, Run]
    "by name in the figures"
    people: Questionnaire | None
    "the questions, and published shares"
    everyone: CodedPeople
    answers: Mapping[str, Answers]
    received: Sequence[AnsweredPlan]
    rulings: RulingNotes


@at_once
def judge(store: Store, which: AnswerSelection, options: LikenessOptions) -> Result:
    """Return the likeness of the selected runs' answers to those of people.

    Raises UsageError without answers or people, and UnknownName for a model without answers.
    """
    check_models(store, AUDIT, which)
    runs = selected_runs(store, AUDIT, which)
    if not any(run.responses for run in runs):
        raise UsageError(NOTHING)
    by_name = named_runs(runs)
    instrument = store.runs.instrument(runs[-1])
    people = store.questionnaires.get(instrument.name, people=False)
    source, questions_by_ref = source_of(store, runs, which.readings), askable(people)
    answers = {
        name: Answers(store, run, questions_by_ref, source.rulings(run))
        for name, run in by_name.items()
    }
    refusals = {
        name: refusals_of(store, run, name, {}, issues=False) for name, run in by_name.items()
    }
    received = [
        answered_letters(
            store, run, name, LetterAnswers.from_forms(answers[name].given.values()), refusals[name]
        )
        for name, run in by_name.items()
    ]
    everyone, rulings = (
        store.questionnaires.coded(instrument.name),
        source.ruling_notes(source.touched("question")),
    )
    return _result(
        StoredData(which, instrument, by_name, people, everyone, answers, received, rulings),
        options,
    )


def _result(stored: StoredData, options: LikenessOptions) -> Result:
    """Return the result of the answers by some options."""
    everyone = stored.everyone
    if options.unweighted:
        everyone = replace(everyone, weights=np.ones(len(everyone.weights)))
    likeness_data = _likeness_data(stored, options, everyone)
    leading_name = leading_model(
        {name: run.last for name, run in stored.runs.items()}, stored.received
    )
    has_weights = np.unique(stored.everyone.weights).size > 1
    return Result(
        which=stored.which,
        options=options,
        instrument=stored.instrument,
        runs=stored.runs,
        names=tuple(stored.runs),
        book=_book(stored, options, everyone, likeness_data),
        first=("models", "groups", "personas"),
        all_models=lambda: all_models(likeness_data),
        findings=[
            find_likeness(likeness_data),
            *(nearest_by(likeness_data, kind) for kind in likeness_data.kinds),
            find_steering(likeness_data),
        ],
        headline=Headline(leading_name, headline_text(likeness_data.likenesses[leading_name])),
        rulings=stored.rulings,
        answered=stored.received,
        limits=LIMITS,
        references=[SANTURKAR],
        again=partial(_result, stored),
        steps={"unweighted": (False, True) if has_weights else ()},
        judged=likeness_data,
    )


def _likeness_data(
    stored: StoredData, options: LikenessOptions, everyone: CodedPeople
) -> LikenessData:
    """Return the likeness of each run's answers to those of people.

    Raises UsageError if there are no people to compare with, UnknownName for a kind of groups
    without people.
    """
    survey_questions = {
        ref: survey_question for ref, (_, survey_question) in askable(stored.people).items()
    }
    compared_populations: Sequence[Population] = []
    if stored.people is not None:
        compared_populations = populations(
            stored.people, survey_questions, options.kinds, options.least, everyone
        )
    _check(compared_populations, options, stored.instrument.name)
    likenesses = {
        name: Likenesses(
            run_answers.both,
            run_answers.letters,
            survey_questions,
            compared_populations,
            options.measure,
            options.seed,
            options.draws,
            samples=run_answers.samples,
            missing=run_answers.missing,
            position=run_answers.by_position,
        )
        for name, run_answers in stored.answers.items()
    }
    statements = {
        statement.ref: statement for statement in stored.instrument.statements if statement.wordings
    }
    return LikenessData(
        stored.answers, likenesses, compared_populations, statements, with_personas(stored.runs)
    )


def _book(
    stored: StoredData, options: LikenessOptions, everyone: CodedPeople, likeness_data: LikenessData
) -> Book:
    """Return the book of tables, with the lines and notes above them."""
    received = stored.received
    method_sentences = [
        *asked_sentences(stored.runs.items(), received),
        _methods(options, likeness_data),
        *plan_sentences(received),
    ]
    detail_tables: dict[str, Callable[..., AnyTable]] = {
        "groups": lambda name: groups(likeness_data, [_named(likeness_data, name)]),
        "questions": lambda name: questions(likeness_data, _named(likeness_data, name)),
        "options": lambda name, ref: options_of(likeness_data, _named(likeness_data, name), ref),
    }
    return Book(
        f"{stored.instrument.name}: whose answers the models resemble",
        _entries(stored, likeness_data, detail_tables),
        detail_tables,
        header=answered_header(received),
        told=(
            *answered_header(received),
            *stored.rulings.sentences(),
            "Questions were put with their options in both orders, and compared with "
            f"{_who(likeness_data)}.",
        ),
        notes=(
            *template_notes(list(stored.runs.values())),
            *_notes(likeness_data),
            *_left_out(everyone, likeness_data, options),
        ),
        methods=" ".join(method_sentences),
    )


def _entries(
    stored: StoredData,
    likeness_data: LikenessData,
    detail_tables: Mapping[str, Callable[..., AnyTable]],
) -> list[Entry]:
    """Return the entries of the book."""
    names = [(name,) for name in stored.runs]
    return [
        Entry("models", "likeness to people", lambda: models(likeness_data), choices=CHOICES),
        Entry(
            "groups",
            "groups, nearest first",
            detail_tables["groups"],
            names,
            choices=("least", *CHOICES),
            whole=lambda: groups(likeness_data, list(stored.runs)),
            empty="" if likeness_data.kinds else NO_GROUPS,
        ),
        Entry(
            "personas",
            "steering by persona",
            lambda: steered(likeness_data),
            choices=CHOICES,
            empty=_without_personas(stored, likeness_data),
        ),
        Entry("questions", "questions", detail_tables["questions"], names, choices=CHOICES),
        answered_entry(stored.received),
    ]


def _without_personas(stored: StoredData, likeness_data: LikenessData) -> str:
    """Return the reason why there is no table of personas, or an empty string if there is one."""
    if likeness_data.personas:
        return ""
    has_personas = any(set(run.personas) - {""} for run in stored.runs.values())
    return OTHER_PERSONAS if has_personas else NO_PERSONAS


def _methods(options: LikenessOptions, likeness_data: LikenessData) -> str:
    """Return a paragraph on the methods."""
    measure = options.declared()["measure"].said(options.measure)
    weighting = "answers, each counted once," if options.unweighted else "weighted answers"
    return (
        "Every question was put with its options in both orders, and the mean distribution of "
        f"letters compared with the {weighting} of {_who(likeness_data)} (Santurkar et al. 2023): "
        f"{measure}, the mean over questions. The expected noise of counting was subtracted "
        "(parametric bootstrap), and groups were ranked as if each had as many people as the "
        "smallest. Claims are tested against the nearest of random letters, even answers, the "
        "first option always and the model's own preference for positions, with missing answers as "
        "unlike people as they can be. Intervals are over questions and people; p values are "
        "adjusted by Holm's procedure."
    )


def _check(there: Sequence[Population], options: LikenessOptions, instrument: str) -> None:
    """Check that there are people to compare with.

    Raises UsageError if there are none, UnknownName for a kind of groups without people.
    """
    if not there:
        raise UsageError(
            f"too few people answered the questions of {instrument}: none has answers of "
            f"{options.least}, as weighted. "
            "Import a survey: workbench import STORE FILE --format survey; or lower --least"
        )
    kinds = list(dict.fromkeys(population.kind for population in there if population.kind))
    if unknown := [kind for kind in options.kinds if kind not in kinds]:
        raise UnknownName(
            f"nobody is grouped by {named_few(unknown)}, or too few are; leave out --by to see "
            "all groups"
        )


def _named(likeness_data: LikenessData, name: str) -> str:
    """Return a name of a report. Raises UnknownName if there is none."""
    if name not in likeness_data.likenesses:
        raise UnknownName(
            f"there is no model {name!r}. Available: {', '.join(likeness_data.likenesses)}"
        )
    return name


def _who(likeness_data: LikenessData) -> str:
    """Return the people and groups as text, as in `140 people, 3 groups by region`."""
    kinds = [population.kind for population in likeness_data.populations]
    parts = [
        f"{population.people:,} people"
        for population in likeness_data.populations
        if not population.kind
    ]
    return ", ".join(
        [
            *parts,
            *(
                f"{plural(kinds.count(kind), 'group')} by {kind}"
                for kind in dict.fromkeys(kinds)
                if kind
            ),
        ]
    )


def _notes(likeness_data: LikenessData) -> Iterator[str]:
    """Yield notes for readers of the figures."""
    for name, answers in likeness_data.answers.items():
        if answers.stale:
            yield (
                f"{name}: not compared, because they had other options or another form when they "
                f"were asked, or are no questions any more: {named_few(answers.stale)}"
            )
        if answers.halves:
            yield (
                f"{name}: not compared, because answered in only one order of the options: "
                f"{named_few(answers.halves)}"
            )
        yield from unnamed_letter_sentences(name, answers.unnamed, "question")
    computed = [name for name, answers in likeness_data.answers.items() if answers.exact]
    if computed and len(computed) < len(likeness_data.answers):
        yield (
            f"{named_few(computed)}: computed probabilities; they are not ranked beside "
            "letters that were drawn"
        )
    if not_ranked := dict.fromkeys(
        population.name
        for likenesses in likeness_data.likenesses.values()
        for kind in likenesses.kinds
        for population in likenesses.apart(kind)
    ):
        yield (
            f"{named_few(not_ranked)}: no rank, because of too few questions in common with the "
            "other groups"
        )
    if small_groups := [
        population.name
        for population in likeness_data.populations
        if population.effective_n < SMALL
    ]:
        consequence = "their shares are noisy, which is subtracted, and intervals are wide"
        yield f"{named_few(small_groups)}: fewer than {SMALL} people, as weighted; {consequence}"
    if unknown_sizes := [
        population.name for population in likeness_data.populations if not population.known
    ]:
        yield (
            f"{named_few(unknown_sizes)}: nobody says how many people answered, so their shares "
            "count as exact"
        )


def _left_out(
    everyone: CodedPeople, likeness_data: LikenessData, options: LikenessOptions
) -> Iterator[str]:
    """Yield a note on the groups that have too few people for any question."""
    included = {population.name for population in likeness_data.populations}
    kinds = [kind for kind in everyone.groups if not options.kinds or kind in options.kinds]
    small = [
        name
        for kind in kinds
        for value, _ in everyone.members(kind)
        if (name := f"{kind}={value}") not in included
    ]
    if small:
        yield (
            f"{named_few(small)}: excluded: no question has {options.least} or more answers from "
            "them (effective number)"
        )
