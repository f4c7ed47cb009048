"""The tables behind figures: next tokens, a question under every condition, and respondents."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from workbench.audits.questionnaire.figures import (
    Condition,
    RespondentPrediction,
    TargetFigure,
    TokenShares,
    VariabilityFigure,
)
from workbench.audits.questionnaire.judged import PromptAsked
from workbench.audits.questionnaire.tables import (
    SHARES,
    SIGNED,
    ModelFigure,
    Results,
    TableScope,
    accuracy_side,
    all_of,
    columns,
    each,
    leans,
    of_one,
    outdated,
    side_notes,
    target_rows,
)
from workbench.domain.names import plural
from workbench.domain.questionnaires import Pole
from workbench.domain.statements import ORIGINAL, VariantId
from workbench.domain.verdicts import Estimate
from workbench.figures.pictures.kinds import Axis, Bar, Bars
from workbench.figures.pictures.of_table import Stacked
from workbench.figures.table import Column, Kind, Link, Table
from workbench.figures.visible import visible

PARTS = {
    "yes": "mean probability that the next token is a yes, in any spelling",
    "no": "mean probability that the next token is a no, in any spelling",
    "other": "tokens among the ten likeliest that are neither yes nor no",
    "rest": "all less likely tokens",
}
COUNTED = "Of counted answers these are shares: yes, no, neither; there is no rest"
ANSWERS = {1: "yes", 0: "no", -1: "unreadable"}


@dataclass(frozen=True, slots=True)
class Tokens:
    """The probabilities of the next token on one target."""

    target: str
    shares: TokenShares


def tokens(results: Results, choice: TableScope) -> Table[Any]:
    """Return the table of the probabilities of the next token (figure 3, table 7)."""
    rows = [
        ModelFigure(name, condition, Tokens(ref, results.shares(name, ref, condition)))
        for name, report, condition in each(results, choice.compared)
        for ref in report.predictions.targets
        if choice.wants(ref)
    ]
    return Table(
        "tokens",
        f"Probability of the next token{all_of(rows)}",
        rows,
        [
            *columns(rows),
            Column("target", "target", lambda row: row.figure.target),
            *_shares(lambda row: row.figure.shares),
            Column("prompts", "prompts", lambda row: row.figure.shares.prompts, Kind.COUNT),
        ],
        key=lambda row: (row.model, str(row.condition), row.figure.target),
        definition="Means over prompts. Other: tokens among the ten likeliest that are neither "
        "yes nor no; rest: all "
        "less likely tokens.",
        notes=[COUNTED] if any(results.reports[row.model].counts_answers for row in rows) else [],
        link=lambda row: Link(
            "respondents_of", (row.model, row.figure.target, str(row.condition), str(ORIGINAL))
        ),
        pictures=[
            Stacked(
                values=["yes", "no", "other", "rest"],
                rows=["model", "condition", "target"],
                axis="probability",
            )
        ],
    )


def _shares(of: Callable[[Any], TokenShares], *, aside: bool = False) -> Iterator[Column[Any]]:
    """Yield the columns of the four parts of the probability, which add up to 1."""
    for name in ("yes", "no", "other", "rest"):
        scale = None if aside else SHARES
        yield Column(
            name,
            name,
            partial(_part, of, name),
            Kind.SHARE,
            aside=aside,
            scale=scale,
            help=PARTS[name],
        )


def _part(of: Callable[[Any], TokenShares], name: str, row: Any) -> float:
    """Return one part of the probability for a row."""
    value: float = getattr(of(row), name)
    return value


@dataclass(frozen=True, slots=True)
class TargetDetails:
    """The figures of one target of one model under one condition."""

    of: ModelFigure[TargetFigure]
    shares: TokenShares
    spread: VariabilityFigure | None


def one_question(results: Results, model: str, target: str) -> Table[TargetDetails]:
    """Return the table of one target of a model under every condition."""
    rows = [
        TargetDetails(
            target_row,
            results.shares(model, target, target_row.condition),
            _spread(results, target_row),
        )
        for target_row in target_rows(
            results, of_one(model, results.report(model).conditions, target)
        )
        if target_row.figure.respondents
    ]
    return Table(
        "question",
        f"{target}: {model}",
        rows,
        [
            Column("condition", "condition", lambda row: str(row.of.condition)),
            Column(
                "respondents",
                "n",
                lambda row: row.of.figure.respondents,
                Kind.COUNT,
                help="respondents",
            ),
            *_shares(lambda row: row.shares, aside=True),
            Column(
                "bias",
                "bias",
                lambda row: row.of.figure.bias,
                Kind.POINTS,
                scale=SIGNED,
                reference=lambda _: 0.0,
            ),
            Column(
                "leans",
                "leans",
                lambda row: leans(row.of),
                least=13,
                aside=True,
                help="if the interval of the bias excludes 0",
            ),
            *_accuracy_columns(),
            Column(
                "unreadable",
                "unreadable",
                lambda row: row.of.figure.unreadable,
                Kind.COUNT,
                aside=True,
            ),
            Column(
                "sd",
                "sd over wordings",
                lambda row: row.spread and row.spread.sd,
                Kind.SIZE,
                aside=True,
            ),
            Column(
                "rms",
                "rms over wordings",
                lambda row: row.spread and row.spread.rms,
                Kind.SIZE,
                aside=True,
            ),
            Column("k", "K", lambda row: row.spread and row.spread.k, Kind.COUNT, aside=True),
            outdated(lambda row: row.of.n_outdated),
        ],
        key=lambda row: (str(row.of.condition),),
        definition=about(results, target),
        notes=side_notes([leans(row.of) for row in rows]),
        empty=f"{model} was not asked {target}.",
        link=lambda row: Link(
            "respondents_of", (model, target, str(row.of.condition), str(ORIGINAL))
        ),
        subject=(model, target),
    )


def _accuracy_columns() -> list[Column[TargetDetails]]:
    """Return the columns of the accuracy, and of what it is compared with."""
    return [
        Column(
            "accuracy",
            "accuracy",
            lambda row: row.of.figure.accuracy,
            Kind.SHARE,
            scale=SHARES,
            reference=lambda row: row.of.figure.majority,
        ),
        Column("accuracy_side", "against majority", lambda row: accuracy_side(row.of), aside=True),
        Column("human", "people say yes", lambda row: row.of.figure.human, Kind.SHARE, aside=True),
        Column("majority", "majority", lambda row: row.of.figure.majority, Kind.SHARE, aside=True),
        Column(
            "predicted",
            "yes:no",
            lambda row: row.of.figure.predicted,
            aside=True,
            help="predicted answers",
        ),
    ]


def _spread(results: Results, of: ModelFigure[TargetFigure]) -> VariabilityFigure | None:
    """Return the variability of a target over its wordings, or None if it has none."""
    figures = results.report(of.model).variability(of.condition)
    return next((figure for figure in figures if figure.target == of.figure.target), None)


def about(results: Results, target: str) -> str:
    """Return the text of a target with its form, its scale and its leaning."""
    question = next(
        (candidate for candidate in results.questionnaire.questions if candidate.ref == target),
        None,
    )
    if question is None:
        return results.texts.get(target, "")
    leaning = f"a yes is {question.leaning.value}" if question.leaning else "no leaning"
    text = results.texts.get(target, "")
    return f"{text} ({question.form.value}, {question.scale.replace('_', ' ')}, {leaning})".strip()


def axis_targets(
    results: Results,
    choice: TableScope,
    *,
    name: str = "axis_targets",
    subject: tuple[str, ...] = (),
) -> Table[Any]:
    """Return the table of the targets behind a model's position on the axis (figure 5)."""
    poles = {
        question.ref: question.leaning
        for question in results.questionnaire.questions
        if question.leaning
    }
    rows = [row for row in target_rows(results, choice) if row.figure.target in poles]

    def towards(row: ModelFigure[TargetFigure]) -> Estimate:
        """Return the bias towards the conservative answer."""
        bias = row.figure.bias
        return bias if poles[row.figure.target] is Pole.CONSERVATIVE else _negated(bias)

    return Table(
        name,
        f"Bias of each target towards the conservative answer{all_of(rows)}",
        rows,
        [
            *columns(rows),
            Column("target", "target", lambda row: row.figure.target),
            Column(
                "towards",
                "towards conservative",
                towards,
                Kind.POINTS,
                scale=SIGNED,
                reference=lambda _: 0.0,
                help="below 0: towards the liberal answer",
            ),
            Column(
                "se",
                "SE",
                lambda row: row.figure.bias_se,
                Kind.SIZE,
                aside=True,
                help="of the bias",
            ),
            Column(
                "bias",
                "bias",
                lambda row: row.figure.bias,
                Kind.POINTS,
                scale=SIGNED,
                aside=not subject,
            ),
            Column("yes_leans", "yes leans", lambda row: poles[row.figure.target].value),
            Column(
                "respondents", "n", lambda row: row.figure.bias.n, Kind.COUNT, help="respondents"
            ),
            outdated(),
            Column(
                "question",
                "question",
                lambda row: results.texts.get(row.figure.target, ""),
                main=True,
                aside=True,
            ),
        ],
        key=lambda row: (
            (row.figure.target,) if subject else (row.model, str(row.condition), row.figure.target)
        ),
        empty="No target has a leaning of a yes.",
        link=lambda row: Link("question", (row.model, row.figure.target)),
        subject=subject,
    )


def _negated(found: Estimate) -> Estimate:
    """Return an estimate with the opposite sign."""
    return replace(found, value=-found.value, low=-found.high, high=-found.low)


@dataclass(frozen=True, slots=True)
class PersonPrediction:
    """The prediction of one respondent's answer, in one wording of a target."""

    model: str
    condition: Condition
    target: str
    wording: VariantId
    row: RespondentPrediction


def people(
    results: Results,
    which: Sequence[tuple[str, Condition, str]],
    wordings: Sequence[VariantId] | None = (ORIGINAL,),
) -> list[PersonPrediction]:
    """Return the predictions for single respondents, the clearest errors first.

    `which` lists (model, condition, target). `wordings` None stands for all wordings.
    """
    return [
        PersonPrediction(model, condition, target, wording, row)
        for model, condition, target in which
        for wording in (
            results.reports[model].predictions.wordings if wordings is None else wordings
        )
        for row in sorted(
            results.predictions_of(model, target, condition, wording), key=_missed_first
        )
    ]


def _missed_first(row: RespondentPrediction) -> tuple[bool, float, str]:
    """Return the sort key of a prediction.

    Errors come first, beginning with unreadable ones, then those farthest from the human answer.
    """
    distance = 2.0 if math.isnan(row.p_yes) else abs(row.p_yes - row.human)
    return row.correct, -distance, row.respondent


def respondents(
    results: Results,
    rows: Sequence[PersonPrediction],
    *,
    name: str = "respondents",
    subject: tuple[str, ...] = (),
) -> Table[PersonPrediction]:
    """Return the table of predictions for single respondents."""
    wrong = [person for person in rows if not person.row.correct]
    n_old = sum(person.row.outdated for person in rows)
    notes = []
    if n_old:
        notes.append(
            f"{plural(n_old, 'prompt')} show answers, questions or instructions that have changed "
            "since"
        )
    subjects = {(person.target, str(person.condition)) for person in rows}
    title = " under ".join(subjects.pop()) if len(subjects) == 1 else "Respondents"
    return Table(
        name,
        f"{title}: {len(wrong):,} of {plural(len(rows), 'answer')} missed, furthest first",
        rows,
        _respondent_columns(results, rows),
        key=lambda person: (
            *(person.model, str(person.condition), person.target, str(person.wording)),
            person.row.respondent,
        ),
        notes=notes,
        empty="No respondent was asked about.",
        link=lambda person: Link(
            "prompt", (person.model, str(person.row.probe), person.row.respondent, person.row.value)
        ),
        subject=subject,
    )


def _respondent_columns(
    results: Results, rows: Sequence[PersonPrediction]
) -> list[Column[PersonPrediction]]:
    """Return the columns of the table of respondents.

    Columns with the same value in every row are marked as aside.
    """

    def alike(value_of: Any) -> bool:
        """Return whether a value is the same in all rows."""
        return len({value_of(person) for person in rows}) < 2

    weights: list[Column[PersonPrediction]] = []
    if results.weighted:
        weights.append(
            Column(
                "weight", "weight", lambda person: person.row.weight, Kind.COEFFICIENT, aside=True
            )
        )
    return [
        Column(
            "model", "model", lambda person: person.model, aside=alike(lambda person: person.model)
        ),
        Column(
            "condition",
            "condition",
            lambda person: str(person.condition),
            aside=alike(lambda person: person.condition),
        ),
        Column(
            "target",
            "target",
            lambda person: person.target,
            aside=alike(lambda person: person.target),
        ),
        Column(
            "wording",
            "wording",
            lambda person: str(person.wording),
            aside=alike(lambda person: person.wording),
        ),
        Column("respondent", "respondent", lambda person: person.row.respondent),
        Column("answer", "answered", lambda person: person.row.value, help="the answer as given"),
        Column("human", "means", lambda person: ANSWERS[person.row.human]),
        Column(
            "predicted",
            "predicted",
            lambda person: ANSWERS[person.row.predicted],
            help="a tie is a yes",
        ),
        Column("correct", "right", lambda person: person.row.correct, aside=True),
        *weights,
        *_probability_columns(results.options.masses),
        Column(
            "outdated",
            "outdated",
            lambda person: person.row.outdated,
            Kind.MARK,
            mark="old",
            aside=True,
        ),
        Column(
            "probe",
            "prompt",
            lambda person: str(person.row.probe),
            aside=True,
            help="number of the prompt in the store; without context, one prompt covers all "
            "respondents",
        ),
    ]


def _probability_columns(masses: str) -> list[Column[PersonPrediction]]:
    """Return the columns of the probabilities of yes and no."""
    return [
        Column(
            "p_yes",
            "p(yes)",
            lambda person: person.row.p_yes,
            Kind.SHARE,
            scale=SHARES,
            help="yes / (yes + no)",
            reference=lambda _: 0.5,
        ),
        Column(
            "yes",
            "mass of yes",
            lambda person: person.row.yes,
            Kind.SHARE,
            aside=True,
            help=f"masses: {masses}",
        ),
        Column(
            "no",
            "mass of no",
            lambda person: person.row.no,
            Kind.SHARE,
            aside=True,
            help=f"masses: {masses}",
        ),
    ]


READS = {"yes": "reads as yes", "no": "reads as no"}


def likeliest(asked: PromptAsked) -> Bars:
    """Return a bar for each of the likeliest next tokens, and one for all others.

    Blanks are printed as ␣.
    """
    bars = [
        Bar(
            f"“{visible(token.text).replace(' ', '␣')}”",
            [(READS.get(token.mark, "other"), token.probability)],
        )
        for token in asked.tokens
    ]
    has_others = not asked.answers and not math.isnan(asked.rest)
    other_bars = [Bar("all other tokens", [("other", asked.rest)])] if has_others else []
    of_tokens = "Next token", "Probability of each of the likeliest next tokens of one prompt."
    title, definition = (
        ("Answers", "Share of each answer among those drawn to one prompt.")
        if asked.answers
        else of_tokens
    )
    return Bars(
        name="prompt_tokens",
        title=f"{title} on {visible(asked.target)}",
        definition=definition,
        subject=(
            asked.provenance.model,
            asked.target,
            str(asked.condition),
            str(asked.variant),
            asked.respondent,
        ),
        axis=Axis("share" if asked.answers else "probability", Kind.SHARE, 0.0, 1.0),
        bars=[*bars, *other_bars],
    )
