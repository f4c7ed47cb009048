"""The tables and findings of the audit of representation."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from stores.core.store import Store, at_once
from stores.runs.run_rows import Run
from workbench.audits.by_persona import WithPersona, columns, with_personas
from workbench.audits.chosen_run import check_models
from workbench.audits.claims import LEVEL, AdjustedFinding, OfModel, Reach, reach_of
from workbench.audits.reported import ModelFigures, Reference, of_all_models
from workbench.audits.representation.asking import PRINTED, REVERSED, Answers, askable
from workbench.audits.representation.likeness import Likenesses, Ranked, difference
from workbench.audits.representation.options import AUDIT, LikenessOptions
from workbench.audits.result import Headline, Result
from workbench.domain.instruments import Instrument
from workbench.domain.names import plural
from workbench.domain.questionnaires import Questionnaire, named_few
from workbench.domain.statements import ORIGINAL, QUESTION, Statement
from workbench.domain.verdicts import Estimate
from workbench.errors import UnknownName, UsageError
from workbench.evidence.answered import AnsweredPlan, answered_entry, answered_header, leading_model
from workbench.evidence.letters import LetterAnswers, answered_letters, unnamed_letter_sentences
from workbench.evidence.methods import asked_sentences, plan_sentences
from workbench.evidence.readings import source_of
from workbench.evidence.refusals import refusals_of
from workbench.evidence.rulings import RulingNotes
from workbench.evidence.runs import AnswerSelection, named_runs, selected_runs, template_notes
from workbench.figures.book import Book, Entry
from workbench.figures.pictures.of_table import Forest
from workbench.figures.shown import estimate as shown_estimate
from workbench.figures.shown import number
from workbench.figures.table import AnyTable, Column, Kind, Link, Table
from workbench.stats.arrays import FloatArray
from workbench.stats.hypothesis_tests import holm
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
SHARE, GAP = (0.0, 1.0), (-1.0, 1.0)
SMALL = 100
"effective number of people below which the noise of their shares gets a note"
MANY_MISSING = 0.1
"share of missing answers from which the likeness is given as its bounds"
LEAST_MISSING = 0.01
"share of the requested answers from which a finding gives the bounds"
SHOWN = 3
"number of groups next to a model's answers in a narrow table"


@dataclass(frozen=True, eq=False)
class LikenessData:
    """The likenesses of every run on an instrument."""

    answers: Mapping[str, Answers]
    "by name in the figures"
    likenesses: Mapping[str, Likenesses]
    populations: Sequence[Population]
    statements: Mapping[str, Statement]
    personas: Sequence[WithPersona]

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of groups with more than one group."""
        return next(iter(self.likenesses.values())).kinds

    def text(self, ref: str) -> str:
        """Return the text of a question, or "" if it is unknown."""
        wordings = self.statements[ref].wordings if ref in self.statements else ()
        return next(
            (wording.text for wording in wordings if wording.variant in (ORIGINAL, QUESTION)), ""
        )


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
        all_models=lambda: _all_models(likeness_data),
        findings=[
            _beyond_chance(likeness_data),
            *(nearest_by(likeness_data, kind) for kind in likeness_data.kinds),
            _steering(likeness_data),
        ],
        headline=Headline(leading_name, _headline(likeness_data.likenesses[leading_name])),
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
        reason = f"fewer than {options.least} people, as weighted,"
        yield f"{named_few(small)}: left out, because {reason} answered any question"


def _headline(of: Likenesses) -> str:
    """Return the likeness to people as text, with the nearest group or the number of these."""
    if not of.overall.n:
        return "no question can be compared"
    text = f"{number(of.overall.value, Kind.SHARE)} like people"
    if of.missing_share >= MANY_MISSING:
        return f"{_bounds_text(of)} like people, with {_missing_text(of)}"
    if of.above_chance.value < 0:
        text += f", less than random letters ({number(of.even_overall, Kind.SHARE)})"
    elif not math.isnan(of.above_chance.value):
        above_chance = number(of.above_chance.value, Kind.SHARE)
        text = f"{above_chance} of the way from random letters to people's answers ({text})"
    for ranked in (of.rankings[kind] for kind in of.kinds[:1] if of.rankings[kind]):
        n_others = sum(candidate.ranks[0] == 1 for candidate in ranked[1:])
        text += (
            f", nearest to {ranked[0].population.name}"
            + f" or {plural(n_others, 'other')}" * bool(n_others)
        )
    return text


BEYOND = "Answers more like people's than random letters"
BELOW = "Answers less like people's than random letters"
NOT_BEYOND = "Answers not significantly more like people's than random letters"
BY_ORDER = (
    "Answers moved by the order of the options, not significantly more like people's than "
    "a fixed position"
)
MOVED = 0.5
"mean total variation between the two orders from which a model is called moved by order"


def _beyond_chance(likeness_data: LikenessData) -> AdjustedFinding:
    """Return the finding on models that are more like people than answers without an opinion."""
    by_name = {
        name: likenesses
        for name, likenesses in likeness_data.likenesses.items()
        if likenesses.overall.n
    }

    def said(adjusted: Sequence[float]) -> Iterator[OfModel]:
        for (name, likenesses), p in zip(by_name.items(), adjusted, strict=True):
            order_effect = (
                likeness_data.answers[name].moved() if name in likeness_data.answers else 0.0
            )
            title = NOT_BEYOND
            if p < LEVEL:
                title = BEYOND if likenesses.over_random[0].value > 0 else BELOW
            elif order_effect >= MOVED:
                title = BY_ORDER
            reach = _beyond_reach(likenesses) if not p < LEVEL else None
            yield OfModel(
                title,
                name,
                _way(likenesses),
                p if p < LEVEL else math.nan,
                _doubt(likenesses),
                reach,
            )

    return AdjustedFinding(
        tuple(likenesses.weakest_claim[1] for likenesses in by_name.values()),
        said,
        "like people",
        tuple(by_name),
    )


def _beyond_reach(of: Likenesses) -> Reach:
    """Return the precision of the test against the answers without an opinion that decide.

    On its scale, the likeness of people themselves is 1.
    """
    gain = of.over_baselines.get(of.weakest_claim[0], of.over_random)[0]
    units, claim = plural(gain.n, "question"), "answers more like people's than random letters"
    return reach_of(gain, 1 - of.even_overall, Kind.POINTS, units, claim)


def _way(of: Likenesses) -> str:
    """Return a likeness on the scale from random letters to people, with both of its ends.

    Below random letters the scale has no meaning, and only the likeness is given.
    """
    raw = (
        f"likeness {number(of.overall.value, Kind.SHARE)}, of random letters "
        f"{number(of.even_overall, Kind.SHARE)}"
    )
    way = raw
    if of.above_chance.value >= 0:
        above_chance = shown_estimate(of.above_chance, Kind.SHARE)
        way = f"{above_chance} of the way to people's answers ({raw})"
    if of.missing_share >= MANY_MISSING:
        return f"likeness {_bounds_text(of)}, with {_missing_text(of)}; those given: {way}"
    return way


def _doubt(of: Likenesses) -> str:
    """Return the effect that a model's missing answers could have, or "" if they are few."""
    if not LEAST_MISSING <= of.missing_share < MANY_MISSING:
        return ""
    return f"likeness {_bounds_text(of)} with {_missing_text(of)}"


def _bounds_text(of: Likenesses) -> str:
    """Return the smallest and the largest likeness over all asked questions, as text."""
    return " to ".join(number(bound, Kind.SHARE) for bound in of.bounds)


def _missing_text(of: Likenesses) -> str:
    share = number(of.missing_share, Kind.SHARE)
    return f"{share} of the answers to {plural(len(of.missing), 'question')} missing"


def nearest_by(likeness_data: LikenessData, kind: str) -> AdjustedFinding:
    """Return the finding on the group to which each model is nearest.

    It is a claim if every other group is farther, by the largest p.
    """
    ranked_by_name = {
        name: ranked
        for name, likenesses in likeness_data.likenesses.items()
        if len(ranked := likenesses.rankings[kind]) > 1
    }

    def said(adjusted: Sequence[float]) -> Iterator[OfModel]:
        for (name, (nearest, *others)), p in zip(ranked_by_name.items(), adjusted, strict=True):
            value = nearest.population.value
            is_even_nearest = p < LEVEL and all(nearest.even > ranked.even for ranked in others)
            title = (
                f"Nearest group by {kind}"
                if p < LEVEL
                else f"Inconclusive nearest group by {kind}; first"
            )
            doubt = (
                "answers that are every option equally often are nearest to "
                f"{nearest.population.value}, too" * is_even_nearest
            )
            reach = _nearest_reach(others, kind) if not p < LEVEL else None
            yield OfModel(title, name, value, p if p < LEVEL else math.nan, doubt, reach)

    p_by_model = tuple(
        float(np.max([ranked_group.p for ranked_group in ranked[1:]]))
        for ranked in ranked_by_name.values()
    )
    return AdjustedFinding(p_by_model, said, f"nearest by {kind}", tuple(ranked_by_name))


LARGEST_GAP = 0.2
"the largest plausible difference of the likeness to two groups, or change by a persona"


def _nearest_reach(others: Sequence[Ranked], kind: str) -> Reach | None:
    """Return the precision of the comparison with the group that is nearest to the first."""
    gap = max(others, key=lambda ranked: ranked.p).behind
    if gap is None:
        return None
    return reach_of(
        gap,
        LARGEST_GAP,
        Kind.POINTS,
        plural(gap.n, "question"),
        f"the nearest group by {kind}",
    )


@dataclass(frozen=True, slots=True)
class Steered:
    """The change of the likeness to one group by a persona."""

    runs: WithPersona
    population: Population
    without: Estimate
    with_it: Estimate
    change: Estimate
    p: float
    moves: FloatArray
    "the change by question; NaN: too few people answered it"
    model: Likenesses
    "the model with the persona"
    base: Likenesses
    "the model without it, over the same questions"

    @property
    def meant(self) -> bool:
        """Whether the persona has the name of the group."""
        return self.runs.called.casefold() in (
            self.population.name.casefold(),
            self.population.value.casefold(),
        )

    @property
    def way(self) -> float:
        """The change divided by the gap without the persona, or NaN if there is no gap."""
        return self.change.value / (1 - self.without.value) if self.without.value < 1 else math.nan

    def noise(self, sign: float = 1.0) -> list[FloatArray]:
        """Return the influence of the group's people on the change."""
        return self.base.noise(
            self.population, (self.model.answers, sign), (self.base.answers, -sign)
        )


def steering(likeness_data: LikenessData) -> Iterator[Steered]:
    """Yield the change by each persona, over the questions answered with and without it."""
    for runs in likeness_data.personas:
        baseline, with_persona = (
            likeness_data.likenesses[runs.baseline],
            likeness_data.likenesses[runs.name],
        )
        refs = [ref for ref in baseline.refs if ref in with_persona.answers]
        shared_baseline, shared_persona = (
            replace(likenesses, answers={ref: likenesses.answers[ref] for ref in refs})
            for likenesses in (baseline, with_persona)
        )
        for population in likeness_data.populations:
            moves = shared_persona.by_question(population) - shared_baseline.by_question(population)
            change = difference(
                moves,
                shared_baseline.noise(
                    population, (shared_persona.answers, 1), (shared_baseline.answers, -1)
                ),
            )
            likenesses = (
                shared_baseline.counted_to(population),
                shared_persona.counted_to(population),
            )
            yield Steered(
                runs, population, *likenesses, *change, moves, shared_persona, shared_baseline
            )


def claims_of_personas(every: Sequence[Steered]) -> list[tuple[Steered, float, str]]:
    """Return the changes of personas towards the group of their name, with the p of the claim.

    The claim is that the answers move towards this group more than towards each other group of its
    kind and everybody, and more than an irrelevant persona moves them. The text names the
    comparison that fails.
    """
    aimed_changes = [change for change in every if change.meant]
    aimed_names = {change.runs.name for change in aimed_changes}
    return [(change, *_claim_p(change, every, aimed_names)) for change in aimed_changes]


def _claim_p(one: Steered, every: Sequence[Steered], named: Collection[str]) -> tuple[float, str]:
    """Return the p of a claim about a persona, and the comparison that decides it."""
    if not one.change.value > 0 or math.isnan(one.p):
        return 1.0, ""
    largest_p, comparison = one.p, ""
    for other in every:
        is_same_run = other.runs.name == one.runs.name and other.population is not one.population
        is_irrelevant = (
            other.runs.baseline == one.runs.baseline
            and other.runs.name not in named
            and other.population is one.population
        )
        if is_same_run and other.population.kind in ("", one.population.kind):
            name = f"towards {other.population.name}"
        elif is_irrelevant:
            name = f"with the persona {other.runs.persona}"
        else:
            continue
        gain, p = _compare_changes(one, other)
        p = p if gain > 0 and not math.isnan(p) else 1.0
        if p > largest_p:
            largest_p, comparison = p, name
    return largest_p, comparison


def _compare_changes(one: Steered, other: Steered) -> tuple[float, float]:
    """Return how much one change exceeds another over questions, and the p of no difference."""
    row_by_ref = {ref: row for row, ref in enumerate(other.base.refs)}
    moves = np.array(
        [other.moves[row_by_ref[ref]] if ref in row_by_ref else math.nan for ref in one.base.refs]
    )
    gain, p = difference(one.moves - moves, [*one.noise(), *other.noise(-1.0)])
    return gain.value, p


def _steering(likeness_data: LikenessData) -> AdjustedFinding:
    """Return the finding on personas that move the answers towards the group of their name."""
    aimed_changes = claims_of_personas(list(steering(likeness_data)))

    def said(adjusted: Sequence[float]) -> Iterator[OfModel]:
        for (change, _, comparison), p in zip(aimed_changes, adjusted, strict=True):
            is_significant = p < LEVEL
            title = (
                f"{'Significant' if is_significant else 'No significant'} move towards the group "
                "of the persona"
            )
            doubt = "" if is_significant or not comparison else f"not more than {comparison}"
            value = f"{change.population.name} {shown_estimate(change.change, Kind.POINTS)}"
            units, claim = plural(change.change.n, "question"), "a move towards the persona's group"
            reach = (
                None
                if is_significant
                else reach_of(change.change, LARGEST_GAP, Kind.POINTS, units, claim)
            )
            yield OfModel(
                title, change.runs.baseline, value, p if is_significant else math.nan, doubt, reach
            )

    return AdjustedFinding(
        tuple(p for _, p, _ in aimed_changes),
        said,
        "steering",
        tuple(change.runs.baseline for change, *_ in aimed_changes),
    )


@dataclass(frozen=True, slots=True)
class ModelLikeness:
    """A row of the table of models: the likeness of one of them to people."""

    model: str
    likenesses: Likenesses
    p_adjusted: float
    "of no difference from the best answers without an opinion, adjusted over the models"

    def nearest_group(self, kind: str) -> str:
        """Return the nearest group of a kind, or an empty string if none is ranked."""
        ranked = self.likenesses.rankings[kind]
        return ranked[0].population.value if ranked else ""


def models(likeness_data: LikenessData) -> Table[ModelLikeness]:
    """Return the table of each model's likeness to people, and that of random letters."""
    p_values = [likenesses.weakest_claim[1] for likenesses in likeness_data.likenesses.values()]
    adjusted = holm(np.array(p_values)).tolist()
    rows = [
        ModelLikeness(name, likenesses, p)
        for (name, likenesses), p in zip(likeness_data.likenesses.items(), adjusted, strict=True)
    ]
    return Table(
        "models",
        "Likeness to people's answers",
        rows,
        [
            *_likeness_columns(),
            *_counted_likeness_columns(),
            *_baseline_columns(),
            *(_nearest_group_column(kind) for kind in likeness_data.kinds),
            *_missing_answers_columns(likeness_data),
            *_comparability_columns(likeness_data),
        ],
        key=lambda row: (row.model,),
        definition="100 %: the model's shares of answers are people's on every question. 0 %: they "
        "are no closer than those of random letters.",
        link=lambda row: Link("groups" if likeness_data.kinds else "questions", (row.model,)),
        pictures=[Forest(values=["above_chance"], rows=["way", "model"])],
    )


def _shown_above_chance(of: Likenesses) -> Estimate:
    """Return the likeness on the scale from random letters to people, undefined off that scale."""
    estimate = of.above_chance
    reason = ""
    if of.missing_share >= MANY_MISSING:
        reason = (
            f"{number(of.missing_share, Kind.SHARE)} of the answers missing, see least and most"
        )
    elif estimate.value < 0:
        reason = "less like people than random letters"
    if not reason:
        return estimate
    return Estimate(math.nan, math.nan, math.nan, estimate.n, estimate.excluded, reason)


def _all_models(likeness_data: LikenessData) -> Table[ModelFigures]:
    """Return the table of the likeness of every model, for a comparison of all models."""
    rows = []
    for name, likenesses in likeness_data.likenesses.items():
        least, most = likenesses.bounds
        values: dict[str, Estimate | float | None] = {
            "above_chance": _shown_above_chance(likenesses),
            "likeness": likenesses.overall,
            "random": likenesses.even_overall,
            "asked": len(likenesses.missing),
            "missing": likenesses.missing_share,
            "least": least,
            "most": most,
        }
        rows.append(ModelFigures(name, values))
    return of_all_models(
        "Likeness to people's answers",
        rows,
        {"above_chance": "above random letters"},
        Kind.SHARE,
        more={
            "likeness": ("likeness", Kind.SHARE),
            "random": ("of random letters", Kind.SHARE),
            "asked": ("questions", Kind.COUNT),
            "missing": ("missing answers", Kind.SHARE),
            "least": ("least", Kind.SHARE),
            "most": ("most", Kind.SHARE),
        },
        scale=SHARE,
        definition="Above random letters: 100 % if the model's shares of answers are people's on "
        "every question, 0 % if they are no closer than those of random letters. Likeness is 1 "
        "minus the mean distance to people's answers. Least and most: the likeness whatever the "
        "missing answers are.",
    )


def _likeness_columns() -> list[Column[ModelLikeness]]:
    """Return the columns of a model's likeness to people."""
    return [
        Column("model", "model", lambda row: row.model, main=True),
        Column(
            "above_chance",
            "above chance",
            lambda row: _shown_above_chance(row.likenesses),
            Kind.SHARE,
            scale=GAP,
            help="Likeness between that of random letters (0 %) and of people's own answers "
            "(100 %).",
        ),
        Column(
            "likeness",
            "likeness",
            lambda row: row.likenesses.overall,
            Kind.SHARE,
            scale=SHARE,
            reference=lambda row: row.likenesses.even_overall,
            help="Mean over questions of 1 minus the distance to people's answers, without "
            "the noise of counting.",
        ),
        Column(
            "random",
            "random letters",
            lambda row: row.likenesses.even_overall,
            Kind.SHARE,
            short="random",
            help="The same of letters at random.",
        ),
    ]


def _counted_likeness_columns() -> list[Column[ModelLikeness]]:
    """Return the columns of the likeness with the noise of counting."""
    return [
        Column(
            "counted",
            "as counted",
            lambda row: row.likenesses.counted,
            Kind.SHARE,
            scale=SHARE,
            aside=True,
            reference=lambda row: row.likenesses.chance,
            help="Likeness with the noise of counting letters and people, as it was published.",
        ),
        Column(
            "chance",
            "random as counted",
            lambda row: row.likenesses.chance,
            Kind.SHARE,
            aside=True,
            help="The same of letters drawn at random, as many as the model gave.",
        ),
        Column(
            "difference",
            "difference",
            lambda row: row.likenesses.over_random[0],
            Kind.POINTS,
            scale=GAP,
            aside=True,
            help="Both as counted: likeness minus that of random letters, question by question.",
        ),
    ]


def _baseline_columns() -> list[Column[ModelLikeness]]:
    """Return the columns of the test against answers without an opinion."""
    return [
        Column(
            "baseline",
            "nearest baseline",
            lambda row: row.likenesses.weakest_claim[0],
            aside=True,
            help="The answers without an opinion that the model surpasses least: the test is "
            "against these.",
        ),
        Column(
            "p_holm",
            "p (Holm)",
            lambda row: row.p_adjusted,
            Kind.P_VALUE,
            help="Of no difference from the best answers without an opinion; over the models.",
        ),
    ]


def _nearest_group_column(kind: str) -> Column[ModelLikeness]:
    """Return the column of the nearest group of a kind."""
    return Column(
        f"nearest_{kind}",
        f"nearest by {kind}",
        lambda row: row.nearest_group(kind),
        help="First of its kind; see the groups.",
    )


def _missing_answers_columns(likeness_data: LikenessData) -> list[Column[ModelLikeness]]:
    """Return the columns of the questions that were asked, and of the missing answers."""
    has_many_missing = any(
        likenesses.missing_share >= MANY_MISSING for likenesses in likeness_data.likenesses.values()
    )
    return [
        Column(
            "asked",
            "asked",
            lambda row: len(row.likenesses.missing),
            Kind.COUNT,
            help="Questions that were asked.",
        ),
        Column(
            "questions",
            "answered",
            lambda row: len(row.likenesses.refs),
            Kind.COUNT,
            help="Questions with a valid answer in both orders of the options.",
        ),
        Column(
            "missing",
            "missing",
            lambda row: row.likenesses.missing_share,
            Kind.SHARE,
            help="Share of the answers that were asked for without an offered letter.",
        ),
        Column(
            "least",
            "least",
            lambda row: row.likenesses.bounds[0],
            Kind.SHARE,
            aside=not has_many_missing,
            help="Likeness over all asked questions if the missing answers were as unlike as "
            "possible.",
        ),
        Column(
            "most",
            "most",
            lambda row: row.likenesses.bounds[1],
            Kind.SHARE,
            aside=not has_many_missing,
            help="The same if they were as like as possible.",
        ),
    ]


def _comparability_columns(likeness_data: LikenessData) -> list[Column[ModelLikeness]]:
    """Return the columns on the limits of a comparison of models."""
    common_refs = _common(likeness_data)
    return [
        Column(
            "common",
            "common questions",
            lambda row: _over(row.likenesses, common_refs),
            Kind.SHARE,
            aside=True,
            help=f"Likeness over the {len(common_refs)} questions that all models answered.",
        ),
        Column(
            "way",
            "answers",
            lambda row: "computed" if likeness_data.answers[row.model].exact else "drawn",
            aside=True,
            help="Computed probabilities and drawn letters are not ranked beside each other.",
        ),
        Column(
            "order",
            "moved by order",
            lambda row: likeness_data.answers[row.model].moved(),
            Kind.SHARE,
            help="Mean total variation between the two orders of the options: 0 % if the "
            "order changes nothing.",
        ),
    ]


def _common(likeness_data: LikenessData) -> list[str]:
    """Return the questions that all models answered."""
    refs = [set(likenesses.refs) for likenesses in likeness_data.likenesses.values()]
    return sorted(set.intersection(*refs)) if refs else []


def _over(of: Likenesses, refs: Sequence[str]) -> Estimate:
    """Return the likeness over some of the questions."""
    return replace(of, answers={ref: of.answers[ref] for ref in refs}, missing={}).overall


def over_pairs(ranked: Sequence[Ranked]) -> list[float]:
    """Return the p of every group but the first, adjusted by Holm's procedure over all pairs.

    All pairs count, because the first group is the first by these answers. Of 20 groups that are
    all as near, one would otherwise be "shown" to be farther in 19 of 100 surveys (2,000
    simulations). With this adjustment it is so in 3.
    """
    p = [ranked_group.p for ranked_group in ranked[1:]]
    n_other_pairs = math.comb(len(ranked), 2) - len(p)
    adjusted: list[float] = holm(np.array(p + [1.0] * n_other_pairs)).tolist()
    return [math.nan] * bool(ranked) + adjusted[: len(p)]


@dataclass(frozen=True, slots=True)
class GroupLikeness:
    """A row of the table of groups: the likeness of a model to one of them."""

    model: str
    likenesses: Likenesses
    ranked: Ranked
    p_adjusted: float
    "of being as near as the first group, adjusted over all pairs; NaN for the first and unranked"

    def bounds(self) -> tuple[float, float]:
        """Return the least and the greatest likeness, whatever people without an answer think."""
        return self.likenesses.bounds_of_people(self.ranked.population)


def groups(likeness_data: LikenessData, names: Sequence[str]) -> Table[GroupLikeness]:
    """Return the table of the groups of each model, the nearest of each kind first."""
    rows: list[GroupLikeness] = []
    for name in names:
        for kind in likeness_data.kinds:
            rows += _groups_of_kind(name, likeness_data.likenesses[name], kind)
    is_about_one = len(names) == 1
    return Table(
        "groups",
        f"Groups, nearest first: {names[0]}" if is_about_one else "Groups, nearest first",
        rows,
        [
            *_group_likeness_columns(is_about_one=is_about_one),
            *_rank_columns(),
            *_unanswered_columns(),
            *_size_columns(),
        ],
        key=lambda row: (row.model, row.ranked.population.name),
        subject=tuple(names) if is_about_one else (),
        definition="How like the model's answers are to those of each group, and how sure the "
        "order is.",
        link=lambda row: Link("questions", (row.model,)),
        pictures=[Forest(values=["likeness"], rows=["kind", "group"], series="model")],
    )


def _groups_of_kind(name: str, likenesses: Likenesses, kind: str) -> Iterator[GroupLikeness]:
    """Yield the ranked groups of a kind, and then those without a rank."""
    ranking = likenesses.rankings[kind]
    for ranked, p in zip(ranking, over_pairs(ranking), strict=True):
        yield GroupLikeness(name, likenesses, ranked, p)
    for unranked in likenesses.unranked(kind):
        yield GroupLikeness(name, likenesses, unranked, math.nan)


def _group_likeness_columns(*, is_about_one: bool) -> list[Column[GroupLikeness]]:
    """Return the columns of a group and of a model's likeness to it.

    The model is aside if all rows are about one.
    """
    return [
        Column("model", "model", lambda row: row.model, aside=is_about_one),
        Column("kind", "by", lambda row: row.ranked.population.kind),
        Column("group", "group", lambda row: row.ranked.population.value, main=True),
        Column(
            "likeness",
            "likeness",
            lambda row: row.ranked.likeness,
            Kind.SHARE,
            scale=SHARE,
            help="Without the noise of counting, over the questions that all ranked groups have.",
        ),
        Column(
            "at_equal_n",
            "at equal n",
            lambda row: row.ranked.at_equal_n,
            Kind.SHARE,
            aside=True,
            help="As counted if every group had as many people as the smallest: the ranks are "
            "by it.",
        ),
    ]


def _rank_columns() -> list[Column[GroupLikeness]]:
    """Return the columns of the order of groups, and of how sure it is."""
    return [
        Column("rank", "rank", lambda row: row.ranked.rank, Kind.COUNT),
        Column(
            "ranks",
            "ranks",
            lambda row: "–".join(map(str, dict.fromkeys(row.ranked.ranks))),
            help="In 95 % of the draws.",
        ),
        Column(
            "behind",
            "behind the first",
            lambda row: row.ranked.behind,
            Kind.POINTS,
            short="behind",
            help="How much nearer the first group is, question by question.",
        ),
        Column(
            "p_holm",
            "p (Holm)",
            lambda row: row.p_adjusted,
            Kind.P_VALUE,
            help="That it is as near as the first; over all pairs of groups.",
        ),
        Column(
            "even",
            "even answers",
            lambda row: row.ranked.even,
            Kind.SHARE,
            aside=True,
            short="even",
            help="Likeness of answers that are every option equally often: a group may be "
            "near to these, too.",
        ),
    ]


def _unanswered_columns() -> list[Column[GroupLikeness]]:
    """Return the columns of people without an answer, and of the effect that theirs could have."""
    return [
        Column(
            "unsure",
            "don't know",
            lambda row: _mean_share(row.ranked.population.unsure),
            Kind.SHARE,
            help="Share of people who said `don't know`, refused, or chose no option; mean "
            "over questions.",
        ),
        Column(
            "unanswered",
            "no option",
            lambda row: _mean_share(row.ranked.population.unanswered),
            Kind.SHARE,
            aside=True,
            help="The same with people without an answer, among them those who were not asked.",
        ),
        Column(
            "least",
            "least",
            lambda row: row.bounds()[0],
            Kind.SHARE,
            aside=True,
            help="Likeness if all people without an answer had chosen the option that makes "
            "it least.",
        ),
        Column(
            "most",
            "most",
            lambda row: row.bounds()[1],
            Kind.SHARE,
            aside=True,
            help="Likeness if they had answered as the model does, as far as their number allows.",
        ),
    ]


def _size_columns() -> list[Column[GroupLikeness]]:
    """Return the columns of the size of a group."""
    return [
        Column(
            "people", "people", lambda row: row.ranked.population.people, Kind.COUNT, aside=True
        ),
        Column(
            "effective_n",
            "effective n",
            lambda row: row.ranked.population.effective_n,
            Kind.COUNT,
            aside=True,
            help="Of the question that the fewest answered: as many people of equal weight "
            "tell as much.",
        ),
        Column(
            "design_effect",
            "design effect",
            lambda row: row.ranked.population.design_effect,
            Kind.COEFFICIENT,
            aside=True,
            help="Mean over questions of people / effective n.",
        ),
    ]


def _mean_share(shares: Mapping[str, float]) -> float:
    """Return the mean over questions, or NaN without any."""
    return float(np.mean(list(shares.values()))) if shares else math.nan


def steered(likeness_data: LikenessData) -> Table[tuple[Steered, float]]:
    """Return the table of the changes by personas, those towards the group of their name first."""
    changes = list(steering(likeness_data))
    rows = list(
        zip(changes, holm(np.array([change.p for change in changes])).tolist(), strict=True)
    )
    columns_: list[Column[tuple[Steered, float]]] = [
        *columns(lambda row: row[0].runs),
        Column("group", "likeness to", lambda row: row[0].population.name, main=True),
        Column(
            "meant",
            "meant",
            lambda row: row[0].meant,
            Kind.MARK,
            mark="→",
            help="The persona is called like it.",
        ),
        Column("without", "without", lambda row: row[0].without, Kind.SHARE, scale=SHARE),
        Column(
            "with",
            "with persona",
            lambda row: row[0].with_it,
            Kind.SHARE,
            scale=SHARE,
            short="with",
        ),
        Column("change", "change", lambda row: row[0].change, Kind.POINTS, scale=GAP),
        Column(
            "p_holm",
            "p (Holm)",
            lambda row: row[1],
            Kind.P_VALUE,
            help="That there is none; over all rows.",
        ),
        Column(
            "way",
            "of the way",
            lambda row: row[0].way,
            Kind.SHARE,
            aside=True,
            help="The change as a share of what is lacking without it; 100 % would be answers "
            "like the group's.",
        ),
    ]
    return Table(
        "personas",
        "Steering by persona",
        sorted(rows, key=lambda row: not row[0].meant),
        columns_,
        key=lambda row: (row[0].runs.name, row[0].population.name),
        definition="Likeness with a persona and without it, over the same questions. A persona "
        "is meant for the group "
        "that it is called like: `age=18-29`, or `18-29`.",
    )


def questions(likeness_data: LikenessData, name: str) -> Table[int]:
    """Return the table of the questions of one model, the least alike first."""
    likenesses, answers = likeness_data.likenesses[name], likeness_data.answers[name]
    values = likenesses.to_people
    columns_: list[Column[int]] = [
        Column("question", "question", lambda index: likenesses.refs[index]),
        Column("text", "text", lambda index: likeness_data.text(likenesses.refs[index]), main=True),
        Column(
            "likeness",
            "likeness",
            lambda index: float(values[index]),
            Kind.SHARE,
            scale=SHARE,
            reference=lambda index: float(likenesses.by_chance[index]),
        ),
        Column(
            "chance",
            "random letters",
            lambda index: float(likenesses.by_chance[index]),
            Kind.SHARE,
            short="random",
        ),
        Column(
            "order",
            "moved by order",
            lambda index: answers.moved(likenesses.refs[index]),
            Kind.SHARE,
            short="by order",
        ),
        Column(
            "ordered",
            "ordered",
            lambda index: likenesses.asked[likenesses.refs[index]].ordered,
            Kind.MARK,
            mark="✓",
            aside=True,
        ),
        Column(
            "drawn",
            "answers",
            lambda index: answers.drawn[likenesses.refs[index]],
            Kind.COUNT,
            aside=True,
            help="0: the letters' probabilities were computed.",
        ),
    ]
    order = sorted(
        range(len(likenesses.refs)), key=lambda index: (math.isnan(values[index]), values[index])
    )
    return Table(
        "questions",
        f"Likeness by question: {name}",
        order,
        columns_,
        key=lambda index: (likenesses.refs[index],),
        subject=(name,),
        definition="The least alike come first.",
        link=lambda index: Link("options", (name, likenesses.refs[index])),
    )


def options_of(likeness_data: LikenessData, name: str, ref: str) -> Table[int]:
    """Return the table of the options of one question, with the model's and people's shares."""
    likenesses, answers = likeness_data.likenesses[name], likeness_data.answers[name]
    if ref not in likenesses.answers:
        raise UnknownName(
            f"{name} did not answer {ref!r} in both orders. Available: {named_few(likenesses.refs)}"
        )
    shares: dict[str, Sequence[float]] = {name: likenesses.answers[ref].tolist()}
    shares |= {
        population.name: population.shares[ref].shares
        for population in likeness_data.populations
        if ref in population.shares
    }
    shares |= {
        f"{order} order": answers.under[ref][order].tolist() for order in (PRINTED, REVERSED)
    }
    columns_: list[Column[int]] = [
        Column("option", "option", lambda index: likenesses.asked[ref].options[index], main=True)
    ]
    for position, (source, values) in enumerate(shares.items()):
        columns_.append(
            Column(
                source, source, values.__getitem__, Kind.SHARE, scale=SHARE, aside=position > SHOWN
            )
        )
    return Table(
        "options",
        f"{ref}: answers by {name} and by people",
        range(len(likenesses.asked[ref].options)),
        columns_,
        key=lambda index: (likenesses.asked[ref].options[index],),
        subject=(name, ref),
        definition=likeness_data.text(ref),
    )
