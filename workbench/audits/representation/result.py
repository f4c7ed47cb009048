"""The figures of whose answers a model's are like, and what they come to."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from stores.core.store import Store, at_once
from stores.runs.run_rows import Run
from workbench.audits.by_persona import WithPersona, columns, with_personas
from workbench.audits.claims import LEVEL, AdjustedFinding, OfModel
from workbench.audits.reported import ModelFigures, Reference, of_all_models
from workbench.audits.representation.asking import PRINTED, REVERSED, Answers, askable
from workbench.audits.representation.likeness import (
    Asked,
    Likenesses,
    Population,
    Ranked,
    difference,
    estimate,
    populations,
)
from workbench.audits.representation.options import AUDIT, LikenessOptions
from workbench.audits.result import Headline, Result
from workbench.domain.instruments import Instrument
from workbench.domain.names import plural
from workbench.domain.questionnaires import named_few
from workbench.domain.verdicts import Estimate
from workbench.errors import UnknownName, UsageError
from workbench.evidence.answered import Answered, entry, header
from workbench.evidence.letters import Came, answered_letters
from workbench.evidence.readings import source_of
from workbench.evidence.refusals import Refusals, refusals_of
from workbench.evidence.runs import Which, runs_meant, template_notes, told_apart
from workbench.figures.book import Book, Entry
from workbench.figures.pictures.of_table import Forest
from workbench.figures.shown import estimate as shown_estimate
from workbench.figures.shown import number
from workbench.figures.table import AnyTable, Column, Kind, Link, Table
from workbench.stats.design_precision import smallest_mean
from workbench.stats.hypothesis_tests import holm

SANTURKAR = Reference(
    "santurkar2023",
    "inproceedings",
    ("Santurkar, Shibani", "Durmus, Esin", "Ladhak, Faisal", "Lee, Cinoo", "Liang, Percy", "Hashimoto, Tatsunori"),
    "Whose Opinions Do Language Models Reflect?",
    2023,
    "International Conference on Machine Learning (ICML)",
    (("eprint", "2303.17548"), ("archiveprefix", "arXiv")),
)
LIMITS = (
    "Likeness is a mean over these questions: a model can be like a group on some of them and unlike it on others.",
    "A model that answers evenly is fairly like everybody; the baseline of random letters shows how much.",
    "The nearest group is the nearest of those that were asked, and may be far away.",
)
SHARE, GAP = (0.0, 1.0), (-1.0, 1.0)
SPREAD = 0.2
"standard deviation of differences of likeness between questions, for an example"
SMALL = 100


def detects(questions: int) -> str:
    """Return the smallest difference of two likenesses that so many questions show."""
    found = 100 * smallest_mean(SPREAD, questions)
    if math.isnan(found):
        return ""
    spread = f"where the differences of single questions spread by {100 * SPREAD:.0f}"
    return f"can show: a difference of {found:.0f} points of likeness with {plural(questions, 'question')}, {spread}"


@dataclass(frozen=True, eq=False)
class Found:
    """The likenesses of all runs of an instrument."""

    answers: Mapping[str, Answers]
    "by name in the figures"
    likenesses: Mapping[str, Likenesses]
    populations: Sequence[Population]
    texts: Mapping[str, str]
    "of the questions, by ref"
    topics: Mapping[str, str]

    def of(self, name: str) -> Likenesses:
        """Return those of a model. Raises UnknownName."""
        if name not in self.likenesses:
            raise UnknownName(f"there is no model {name!r}. Available: {', '.join(self.likenesses)}")
        return self.likenesses[name]

    @property
    def kinds(self) -> tuple[str, ...]:
        return next((one.kinds for one in self.likenesses.values()), ())


@at_once
def judge(store: Store, which: Which, options: LikenessOptions) -> Result:
    """Return whose answers those of the runs that are meant are like. Raises UsageError without answers or people."""
    runs = runs_meant(store, AUDIT, which)
    if not any(run.responses for run in runs):
        raise UsageError(NOTHING)
    names = told_apart(
        [run.named for run in runs],
        *([run.language for run in runs], [run.family for run in runs]),
        *([str(run.sampling) for run in runs], [run.dtype for run in runs]),
    )
    by_name = dict(zip(names, runs, strict=True))
    instrument = store.runs.instrument(runs[-1])
    people = store.questionnaires.get(instrument.name)
    asked = {ref: of for ref, (_, of) in askable(people).items()}
    there = populations(people, asked, options.kinds, options.least) if people is not None else []
    _check(there, options, instrument.name)
    source = source_of(store, runs, which.readings)
    answers = {name: Answers(store, run, asked, source.rulings(run)) for name, run in by_name.items()}
    found = Found(
        answers,
        {name: _likenesses(name, of, asked, there, options) for name, of in answers.items()},
        there,
        {one.ref: one.wordings[0].text for one in instrument.statements if one.wordings},
        {one.ref: one.topic for one in instrument.statements if one.topic},
    )
    received = [
        answered_letters(store, run, name, Came.of(answers[name].given.values()), _refusals(store, run, name))
        for name, run in by_name.items()
    ]
    made = _result(found, which, options, instrument, by_name, received)
    return replace(made, rulings=source.told(source.touched("question")))


NOTHING = f"nobody was asked survey questions yet. Start with: workbench run STORE --audit {AUDIT} --model NAME"


def _refusals(store: Store, run: Run, name: str) -> Refusals:
    return refusals_of(store, run, name, {}, issues=False)


def _check(there: Sequence[Population], options: LikenessOptions, instrument: str) -> None:
    """Raise UsageError where nobody is there to compare with, UnknownName for a kind of groups that nobody is of."""
    if not there:
        raise UsageError(
            f"too few people answered the questions of {instrument}: no question has answers of {options.least}, as "
            "weighted. Import a survey: workbench import STORE FILE --format survey; or lower --least"
        )
    unknown = [kind for kind in options.kinds if kind not in {one.kind for one in there}]
    if unknown:
        kinds = ", ".join(dict.fromkeys(one.kind for one in there if one.kind)) or "none"
        raise UnknownName(f"nobody is grouped by {named_few(unknown)}. Available: {kinds}")


def _likenesses(
    name: str, of: Answers, asked: Mapping[str, Asked], there: Sequence[Population], options: LikenessOptions
) -> Likenesses:
    answers = of.distributions()
    drawn = {ref: of.drawn(ref) for ref in answers}
    return Likenesses(name, answers, drawn, asked, there, options.measure, options.seed, options.draws)


def _result(
    found: Found,
    which: Which,
    options: LikenessOptions,
    instrument: Instrument,
    runs: Mapping[str, Run],
    received: Sequence[Answered],
) -> Result:
    personas = with_personas(runs)
    names = [(name,) for name in runs]
    last = found.likenesses[list(runs)[-1]]
    behind: dict[str, Callable[..., AnyTable]] = {
        "questions": lambda name: questions(found, name),
        "options": lambda name, ref: options_of(found, name, ref),
        "groups": lambda name: groups(found, [name]),
    }
    entries = [
        Entry("models", "likeness to people", lambda: models(found), choices=("measure",)),
        Entry(
            "groups", "groups, nearest first", behind["groups"], names, choices=("measure", "least"),
            whole=lambda: groups(found, list(runs)), empty="" if found.kinds else NO_GROUPS,
        ),
        Entry(
            "personas", "steering by persona", lambda: steered(found, personas), choices=("measure",),
            empty="" if personas else NO_PERSONAS,
        ),
        Entry("questions", "questions", behind["questions"], names, choices=("measure",)),
        entry(received),
    ]  # fmt: skip
    return Result(
        which=which,
        options=options,
        instrument=instrument,
        runs=runs,
        names=tuple(runs),
        book=Book(
            f"{instrument.name}: whose answers a model's are like",
            entries,
            behind,
            told=(f"Questions were put with their options in both orders, and compared with {_said(found)}.",),
            header=header(received),
            notes=tuple(_notes(found, runs)),
        ),
        first=("models", "groups", "personas"),
        findings=[_beyond_chance(found), *(_nearest(found, kind) for kind in found.kinds), _steering(found, personas)],
        all_models=lambda: _all_models(found),
        headline=Headline(last.name, _headline(last)),
        answered=received,
        limits=LIMITS,
        references=[SANTURKAR],
        judged=found,
    )


NO_GROUPS = "people have no groups, or one of a kind: import some with --groups"
NO_PERSONAS = "no model was asked with a persona and without one. Ask with --personas FILE, show with --persona all"


def _said(found: Found) -> str:
    """Say who the people are: `140 people, in 3 groups by region`."""
    everybody = next((one for one in found.populations if not one.kind), None)
    said = ["1 person" if everybody.people == 1 else f"{everybody.people:,} people"] if everybody is not None else []
    for kind in dict.fromkeys(one.kind for one in found.populations if one.kind):
        said.append(f"{plural(sum(one.kind == kind for one in found.populations), 'group')} by {kind}")
    return ", ".join(said)


def _notes(found: Found, runs: Mapping[str, Run]) -> Iterator[str]:
    yield from template_notes(runs.values())
    for name, of in found.answers.items():
        if of.stale:
            stale = named_few(list(of.stale))
            yield f"{name}: asked with other options than they have now, so not compared: {stale}"
    small = [one.name for one in found.populations if one.known and one.effective < SMALL]
    if small:
        yield (
            f"{named_few(small)}: fewer than {SMALL} people, as weighted. The noise of their shares makes every model "
            "look less like them"
        )
    if unknown := [one.name for one in found.populations if not one.known]:
        yield f"{named_few(unknown)}: nobody says how many people answered, so their shares count as exact"


def _headline(of: Likenesses) -> str:
    said = f"{number(estimate(of.to_people).value, Kind.SHARE)} like people"
    nearest = [ranked[0].population.name for kind in of.kinds[:1] if (ranked := of.ranking(kind))]
    return f"{said}, nearest to {nearest[0]}" if nearest else said


def _beyond_chance(found: Found) -> AdjustedFinding:
    """Return which models are more like people than letters at random."""
    tests = {name: difference(of.to_people - of.by_chance) for name, of in found.likenesses.items()}

    def said(adjusted: Sequence[float]) -> Iterator[OfModel]:
        for (name, (gap, _)), p in zip(tests.items(), adjusted, strict=True):
            of = found.likenesses[name]
            ends = [number(estimate(each).value, Kind.SHARE) for each in (of.to_people, of.by_chance)]
            what = BEYOND if p < LEVEL and gap.value > 0 else BELOW if p < LEVEL else NOT_BEYOND
            yield OfModel(what, name, f"{ends[0]} against {ends[1]}", p if p < LEVEL else math.nan)

    return AdjustedFinding(tuple(p for _, p in tests.values()), said)


BEYOND = "Answer more like people than letters at random would"
BELOW = "Answer less like people than letters at random would"
NOT_BEYOND = "Not shown to answer more like people than letters at random would"


def _nearest(found: Found, kind: str) -> AdjustedFinding:
    """Return which group each model is nearest to: a claim where all others are farther, the largest p being its p."""
    ranked = {name: of.ranking(kind) for name, of in found.likenesses.items()}
    ranked = {name: these for name, these in ranked.items() if len(these) > 1}

    def said(adjusted: Sequence[float]) -> Iterator[OfModel]:
        for (name, these), p in zip(ranked.items(), adjusted, strict=True):
            first = these[0]
            value = f"{first.population.value} ({number(first.nearest, Kind.SHARE)} of the draws)"
            if p < LEVEL:
                yield OfModel(f"Nearest group by {kind}", name, value, p)
            else:
                yield OfModel(f"No group by {kind} is shown to be the nearest; first comes", name, value)

    return AdjustedFinding(tuple(max(one.p for one in these[1:]) for these in ranked.values()), said)


@dataclass(frozen=True, slots=True)
class Steered:
    """What a persona changes in the likeness to one group."""

    runs: WithPersona
    population: Population
    meant: bool
    "whether the persona is called like the group"
    without: Estimate
    with_it: Estimate
    change: Estimate
    p: float

    @property
    def way(self) -> float:
        """How far it goes: the change as a share of what is lacking without it; NaN where nothing is."""
        lacking = 1 - self.without.value
        return self.change.value / lacking if lacking > 0 else math.nan


def steering(found: Found, personas: Sequence[WithPersona]) -> list[Steered]:
    """Return what each persona changes, over the questions that were answered with it and without it."""
    made = []
    for runs in personas:
        base, other = found.of(runs.baseline), found.of(runs.name)
        both = [ref for ref in base.refs if ref in other.answers]
        at = [[of.refs.index(ref) for ref in both] for of in (base, other)]
        for row, population in enumerate(found.populations):
            before, after = base.by_population[row, at[0]], other.by_population[row, at[1]]
            meant = runs.persona.casefold() in (population.name.casefold(), population.value.casefold())
            made.append(
                Steered(runs, population, meant, estimate(before), estimate(after), *difference(after - before))
            )
    return made


def _steering(found: Found, personas: Sequence[WithPersona]) -> AdjustedFinding:
    """Return which personas move the answers towards the group that they are called like."""
    meant = [one for one in steering(found, personas) if one.meant]

    def said(adjusted: Sequence[float]) -> Iterator[OfModel]:
        for one, p in zip(meant, adjusted, strict=True):
            moved = p < LEVEL and one.change.value > 0
            what = "Move towards the group of their persona" if moved else "Not shown to move towards it"
            value = f"{one.population.name} {shown_estimate(one.change, Kind.POINTS)}"
            yield OfModel(what if moved else f"{what}: the group of the persona", one.runs.baseline, value, p)

    return AdjustedFinding(tuple(one.p for one in meant), said)


def _all_models(found: Found) -> Table[ModelFigures]:
    """Return how like people every model is, with the baseline of random letters."""
    rows = []
    for name, of in found.likenesses.items():
        nearest = {
            f"nearest_{kind}": estimate(of.by_population[found.populations.index(ranked[0].population)])
            for kind in of.kinds
            if (ranked := of.ranking(kind))
        }
        chance = estimate(of.by_chance).value
        rows.append(ModelFigures(name, {"people": estimate(of.to_people), "chance": chance, **nearest}))
    return of_all_models(
        "Likeness to people's answers",
        rows,
        {"people": "likeness"},
        Kind.SHARE,
        beside={"chance": "random letters"},
        more={f"nearest_{kind}": (f"nearest by {kind}", Kind.SHARE) for kind in found.kinds},
        axis="likeness to people's answers",
        scale=SHARE,
        definition="Mean over questions of 1 minus the distance between the model's distribution of answers and "
        "people's: 100 % if both are the same. Random letters answer every option equally often.",
    )


def models(found: Found) -> Table[tuple[str, Likenesses, Estimate, float, float]]:
    """Return a row a model: its likeness to people, and that of letters at random."""
    tests = [(name, of, *difference(of.to_people - of.by_chance)) for name, of in found.likenesses.items()]
    adjusted = holm(np.array([p for *_, p in tests])).tolist()
    rows = [(*test, p) for test, p in zip(tests, adjusted, strict=True)]
    columns_: list[Column[tuple[str, Likenesses, Estimate, float, float]]] = [
        Column("model", "model", lambda row: row[0], main=True),
        Column("likeness", "likeness", lambda row: estimate(row[1].to_people), Kind.SHARE, scale=SHARE,
               reference=lambda row: estimate(row[1].by_chance).value,
               help="Mean over questions of 1 minus the distance to people's answers."),
        Column("chance", "random letters", lambda row: estimate(row[1].by_chance).value, Kind.SHARE, short="random",
               help="The same of letters drawn at random, as many as the model gave."),
        Column("difference", "difference", lambda row: row[2], Kind.POINTS, scale=GAP,
               help="Likeness minus that of random letters, question by question."),
        Column("p", "p", lambda row: row[3], Kind.P_VALUE, help="That the difference is none: Student's t."),
        Column("p_holm", "p (Holm)", lambda row: row[4], Kind.P_VALUE, help="Adjusted over the models."),
        *(Column(f"nearest_{kind}", f"nearest by {kind}", _nearest_said(kind), help="And the share of draws in which "
                 "it is.") for kind in found.kinds),
        Column("questions", "questions", lambda row: len(row[1].refs), Kind.COUNT, aside=True),
        Column("order", "moved by order", lambda row: _moved(found.answers[row[0]]), Kind.SHARE, aside=True,
               help="Mean total variation between the two orders of the options: 0 % if the order changes nothing."),
    ]  # fmt: skip
    return Table(
        "models", "Likeness to people's answers", rows, columns_, key=lambda row: (row[0],),
        definition="100 % if the model's distribution of answers is people's on every question.",
        link=lambda row: Link("groups" if found.kinds else "questions", (row[0],)),
        pictures=[Forest(values=["likeness"], rows=["model"], reference="random letters")],
    )  # fmt: skip


def _nearest_said(kind: str) -> Callable[[tuple[str, Likenesses, Estimate, float, float]], str]:
    def said(row: tuple[str, Likenesses, Estimate, float, float]) -> str:
        ranked = row[1].ranking(kind)
        return f"{ranked[0].population.value} ({number(ranked[0].nearest, Kind.SHARE)})" if ranked else ""

    return said


def _moved(of: Answers) -> float:
    pairs = [(of.under(ref, PRINTED), of.under(ref, REVERSED)) for ref in of.known]
    gaps = [float(np.abs(a - b).sum() / 2) for a, b in pairs if a is not None and b is not None]
    return float(np.mean(gaps)) if gaps else math.nan


def groups(found: Found, names: Sequence[str]) -> Table[tuple[str, Ranked, float]]:
    """Return a row a group and model, from the nearest group of each kind to the farthest; everybody first."""
    rows: list[tuple[str, Ranked, float]] = []
    for name in names:
        of = found.of(name)
        for kind in of.kinds:
            these = of.ranking(kind)
            adjusted = holm(np.array([one.p for one in these[1:]])).tolist()
            rows += [(name, one, p) for one, p in zip(these, [math.nan, *adjusted], strict=True)]
    columns_: list[Column[tuple[str, Ranked, float]]] = [
        Column("model", "model", lambda row: row[0], aside=len(names) == 1),
        Column("kind", "by", lambda row: row[1].population.kind),
        Column("group", "group", lambda row: row[1].population.value, main=True),
        Column("likeness", "likeness", lambda row: row[1].likeness, Kind.SHARE, scale=SHARE,
               help="Over the questions that every group of the kind has."),
        Column("rank", "rank", lambda row: row[1].rank, Kind.COUNT),
        Column("ranks", "ranks", lambda row: "–".join(map(str, dict.fromkeys(row[1].ranks))),
               help="95 % of the draws of questions and people."),
        Column("nearest", "nearest in", lambda row: row[1].nearest, Kind.SHARE, help="Share of the draws."),
        Column("behind", "behind the first", lambda row: row[1].behind, Kind.POINTS, short="behind",
               help="How much nearer the first group is, question by question."),
        Column("p_holm", "p (Holm)", lambda row: row[2], Kind.P_VALUE, help="That it is as near as the first."),
        Column("people", "people", lambda row: row[1].population.people, Kind.COUNT, aside=True),
        Column("effective_n", "effective n", lambda row: row[1].population.effective, Kind.COUNT, aside=True,
               help="Of the question that the fewest answered: as many people of equal weight tell as much."),
        Column("design_effect", "design effect", lambda row: row[1].population.design_effect, Kind.COEFFICIENT,
               aside=True, help="Mean over questions of people / effective n."),
    ]  # fmt: skip
    return Table(
        "groups", "Groups, nearest first" + (f": {names[0]}" if len(names) == 1 else ""), rows, columns_,
        key=lambda row: (row[0], row[1].population.name), subject=tuple(names[:1]) if len(names) == 1 else (),
        definition="How like the model's answers are to those of each group, and how sure the order is.",
        pictures=[Forest(values=["likeness"], rows=["kind", "group"], series="model")],
    )  # fmt: skip


def steered(found: Found, personas: Sequence[WithPersona]) -> Table[Steered]:
    """Return a row a persona and population."""
    columns_: list[Column[Steered]] = [
        *columns(lambda row: row.runs),
        Column("group", "likeness to", lambda row: row.population.name, main=True),
        Column("meant", "meant", lambda row: row.meant, Kind.MARK, mark="→", help="The persona is called like it."),
        Column("without", "without", lambda row: row.without, Kind.SHARE, scale=SHARE),
        Column("with", "with persona", lambda row: row.with_it, Kind.SHARE, scale=SHARE, short="with"),
        Column("change", "change", lambda row: row.change, Kind.POINTS, scale=GAP),
        Column("p", "p", lambda row: row.p, Kind.P_VALUE),
        Column("way", "of the way", lambda row: row.way, Kind.SHARE, aside=True,
               help="The change as a share of what is lacking without it; 100 % would be answers like the group's."),
    ]  # fmt: skip
    rows = sorted(steering(found, personas), key=lambda row: not row.meant)
    return Table(
        "personas", "Steering by persona", rows, columns_,
        key=lambda row: (row.runs.name, row.population.name),
        definition="Likeness to each group with a persona and without it, over the same questions. What a persona is "
        "meant for is known where it is called like a group: `age=18-29`, or `18-29`.",
    )  # fmt: skip


def questions(found: Found, name: str) -> Table[int]:
    """Return a row a question of one model, the least alike first."""
    of, answers = found.of(name), found.answers[name]
    every = of.to_people

    def gap(ref: str) -> float:
        a, b = answers.under(ref, PRINTED), answers.under(ref, REVERSED)
        return math.nan if a is None or b is None else float(np.abs(a - b).sum() / 2)

    columns_: list[Column[int]] = [
        Column("question", "question", lambda at: of.refs[at]),
        Column("topic", "topic", lambda at: found.topics.get(of.refs[at], ""), aside=True),
        Column("text", "text", lambda at: found.texts.get(of.refs[at], ""), main=True),
        Column("likeness", "likeness", lambda at: every[at], Kind.SHARE, scale=SHARE,
               reference=lambda at: float(of.by_chance[at])),
        Column("chance", "random letters", lambda at: of.by_chance[at], Kind.SHARE, short="random"),
        Column("order", "moved by order", lambda at: gap(of.refs[at]), Kind.SHARE, short="by order"),
        Column("ordered", "ordered", lambda at: of.asked[of.refs[at]].ordered, Kind.MARK, mark="✓", aside=True),
        Column("drawn", "answers", lambda at: of.drawn[of.refs[at]], Kind.COUNT, aside=True,
               help="0: the letters' probabilities were computed."),
    ]  # fmt: skip
    order = sorted(range(len(of.refs)), key=lambda at: (math.isnan(every[at]), every[at]))
    return Table(
        "questions", f"Likeness by question: {name}", order, columns_, key=lambda at: (of.refs[at],), subject=(name,),
        definition="The least alike come first.", link=lambda at: Link("options", (name, of.refs[at])),
    )  # fmt: skip


def options_of(found: Found, name: str, ref: str) -> Table[int]:
    """Return a row an option of one question: how often the model, and people, chose it."""
    of, answers = found.of(name), found.answers[name]
    if ref not in of.answers:
        raise UnknownName(f"{name} did not answer {ref!r} in both orders. Available: {named_few(of.refs)}")

    def share(values: Sequence[float] | None) -> Callable[[int], float]:
        return lambda at: math.nan if values is None else float(values[at])

    shares = {one.name: one.shares[ref].shares for one in found.populations if ref in one.shares}
    columns_: list[Column[int]] = [
        Column("option", "option", lambda at: of.asked[ref].options[at], main=True),
        Column("model", name, share(of.answers[ref].tolist()), Kind.SHARE, scale=SHARE),
        *(Column(f"model_{order}", f"{order} order", share(None if (own := answers.under(ref, order)) is None
                 else own.tolist()), Kind.SHARE, aside=True) for order in (PRINTED, REVERSED)),
        *(Column(who, who, share(of_), Kind.SHARE, scale=SHARE, aside=at > MOST_SHOWN)
          for at, (who, of_) in enumerate(shares.items())),
    ]  # fmt: skip
    return Table(
        "options", f"{ref}: answers by {name} and by people", range(len(of.asked[ref].options)), columns_,
        key=lambda at: (str(at + 1),), subject=(name, ref), definition=found.texts.get(ref, ""),
    )  # fmt: skip


MOST_SHOWN = 3
