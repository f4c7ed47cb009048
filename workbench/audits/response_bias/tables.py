"""Tables of response biases: who answered, the matrix, cells with tests, and whole models."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from workbench.audits.response_bias.answers import (
    CONDITIONS,
    Place,
    condition_name,
    kind_name,
    kind_said,
    place_said,
    subject_of,
)
from workbench.audits.response_bias.changes import INTERVAL, EntropySpread
from workbench.audits.response_bias.options import ENTROPY_RULES, Definition, EntropyRule
from workbench.audits.response_bias.questions import Changes
from workbench.audits.response_bias.reading import AskedSubject
from workbench.audits.response_bias.score import (
    ENTROPIES,
    ChangeCell,
    DrawFigure,
    HumanLikeness,
    TopicFigure,
    beside,
    formula,
    lent_said,
    over_cells,
    stars,
    why,
)
from workbench.domain.choices import Bias
from workbench.domain.names import plural
from workbench.domain.questionnaires import named_few
from workbench.domain.verdicts import Estimate
from workbench.figures.pictures.of_table import Forest, Matrix, Stacked
from workbench.figures.table import Column, Kind, Link, Table, in_words
from workbench.stats.describe import Pearson
from workbench.stats.hypothesis_tests import MeanTest

if TYPE_CHECKING:
    from stores.runs.run_rows import Run

Row = TypeVar("Row")
NAN = float("nan")
NO_QUESTION = "no question counts"
CONDITION_WORDS = {condition_name(condition): label for condition, label in CONDITIONS.items()}


def model(name_of: Callable[[Row], str]) -> Column[Row]:
    """Return the column of the model, whose name also tells its ways of asking apart."""
    return Column("model", "model", name_of)


def places(changes: Changes, place_of: Callable[[Row], Place]) -> tuple[Column[Row], Column[Row]]:
    """Return the columns of a bias, with the variant of its wording, and of the condition."""
    return (
        Column(
            "bias",
            "bias",
            lambda row: kind_name(place_of(row)[0], place_of(row)[2]),
            words=changes.words,
        ),
        Column(
            "condition",
            "condition",
            lambda row: condition_name(place_of(row)[1]),
            words=CONDITION_WORDS,
            help="bias: the changed form has the bias; otherwise the changed form is the "
            "original with typos",
        ),
    )


def change(test: MeanTest, left_out: int = 0, undefined: str = "") -> Estimate:
    """Return a mean change as a difference of shares, with its interval."""
    reason = undefined or test.degenerate
    bounds = test.low / 100, test.high / 100
    return Estimate(
        test.mean / 100,
        *bounds,
        test.n,
        left_out,
        reason if test.n == 0 else "",
        interval=named(test),
    )


def named(test: MeanTest) -> str:
    """Return the name of the interval of a mean over questions, or "" if there is none."""
    return "mean over questions" if test.tested else ""


def t_test(
    test_of: Callable[[Row], MeanTest],
    prefix: str = "",
    *,
    aside: bool = False,
    points: bool = True,
) -> Iterator[Column[Row]]:
    """Yield the columns of a t-test.

    Parameters
    ----------
    prefix : first part of the keys, if a table has several tests
    points : whether the test is of percentage points
    """

    def sd(row: Row) -> float:
        return test_of(row).sd / (100 if points else 1)

    title = prefix.replace("_", " ")
    yield Column(
        f"{prefix}t",
        f"{title}t",
        lambda row: test_of(row).t,
        Kind.COEFFICIENT,
        aside=aside,
        help="of the test that the mean is 0",
    )
    yield Column(
        f"{prefix}df",
        f"{title}df",
        lambda row: test_of(row).df,
        Kind.COUNT,
        aside=aside,
        help="degrees of freedom",
    )
    yield Column(
        f"{prefix}p",
        f"{title}p",
        lambda row: test_of(row).p,
        Kind.P_VALUE,
        aside=aside,
        help="two-sided",
    )
    yield Column(
        f"{prefix}sd",
        f"{title}sd",
        sd,
        Kind.SIZE if points else Kind.COEFFICIENT,
        aside=True,
        help="standard deviation over questions",
    )
    yield Column(
        f"{prefix}degenerate",
        f"{title}no test because",
        lambda row: test_of(row).degenerate,
        aside=True,
    )


def correlation(
    correlation_of: Callable[[Row], Pearson], of_what: str, *, aside: bool = False
) -> Iterator[Column[Row]]:
    """Yield the columns of a correlation with its test."""

    def r(row: Row) -> Estimate:
        pearson = correlation_of(row)
        return Estimate(pearson.r, NAN, NAN, pearson.n, undefined=pearson.undefined)

    yield Column("r", "r", r, Kind.COEFFICIENT, help=of_what, aside=aside)
    yield Column("r_p", "p of r", lambda row: correlation_of(row).p, Kind.P_VALUE, aside=aside)
    yield Column("r_t", "t of r", lambda row: correlation_of(row).t, Kind.COEFFICIENT, aside=True)
    yield Column("r_df", "df of r", lambda row: correlation_of(row).df, Kind.COUNT, aside=True)
    yield Column(
        "r_untested", "no test of r because", lambda row: correlation_of(row).untested, aside=True
    )


def reach(changes: Changes) -> tuple[float, float]:
    """Return the ends of the scale of pictures of changes.

    They are the next ten points beyond the farthest interval or mark.
    """
    values_by_cell = [
        (cell.delta.mean, cell.delta.low, cell.delta.high, cell.by_chance)
        for _, cell in changes.lines
    ]
    distances = [
        abs(value)
        for cell_values in values_by_cell
        for value in cell_values
        if not math.isnan(value)
    ]
    limit = max(10, 10 * math.ceil(max(distances, default=10.0) / 10)) / 100
    return -limit, limit


AT_RANDOM = "letters drawn at random among those offered"


def zero(_: Any) -> float:
    """Return the value with which a picture of a change is compared."""
    return 0.0


def cell_change(cell: ChangeCell) -> Estimate:
    """Return the mean change of a cell with its interval."""
    return change(cell.delta, len(cell.deltas.left_out), NO_QUESTION)


def copied(changes: Changes) -> list[str]:
    """Return a note on the figures that repeat another bias's answers, or nothing without any."""
    if not any(cell.copied for _, cell in changes.lines):
        return []
    return [f"Opinion float under typos: {lent_said(changes.options.definition)}."]


Line = tuple[str, ChangeCell]
"name of the report, and the cell"


def cells(changes: Changes) -> Table[Line]:
    """Return the table of every cell of every model with its test."""
    return _cells(changes, changes.lines, "cells", "Change by bias, with its test")


def place(changes: Changes, cell_place: Place) -> Table[Line]:
    """Return the table of one bias or perturbation, for every model that was asked it.

    It does not depend on the cells that other tables show.
    """
    cells_by_name = ((name, report.find(*cell_place)) for name, report in changes.reports.items())
    rows = [(name, cell) for name, cell in cells_by_name if cell is not None]
    return _cells(
        changes,
        rows,
        "place",
        f"{place_said(*cell_place).capitalize()}: change of each model",
        subject_of(cell_place),
    )


def _cells(
    changes: Changes, rows: Sequence[Line], name: str, title: str, subject: tuple[str, ...] = ()
) -> Table[Line]:
    """Return a table of cells with their tests."""
    return Table(
        name,
        title,
        rows,
        [
            model(_model),
            *places(changes, _place),
            *_test(changes),
            Column("said", "result", lambda row: row[1].result_text),
            Column(
                "left_out",
                "left out",
                lambda row: len(row[1].deltas.left_out),
                Kind.COUNT,
                help="questions",
            ),
            *correlation(
                lambda row: row[1].uncertainty,
                "over questions, of the size of the change and the entropy of the answers to the "
                "original, " + ENTROPIES[changes.options.entropy],
                aside=True,
            ),
            *_rest(),
        ],
        key=lambda row: (row[0], *subject_of(row[1].place)),
        notes=[*copied(changes), *_warnings(rows)],
        empty="No model was asked this.",
        link=lambda row: Link("questions", (row[0], *subject_of(row[1].place))),
        detail=_detail,
        subject=subject,
    )


def _model(row: Line) -> str:
    """Return the name of the report of a row."""
    return row[0]


def _place(row: Line) -> Place:
    """Return the place of the cell of a row."""
    return row[1].place


def _test(changes: Changes) -> Iterator[Column[Line]]:
    """Yield the columns of the change with its test.

    The adjusted p has a column of its own, which is shown if the number differs.
    """

    def sign(row: Line) -> str:
        return stars(row[1].p_adjusted, significant=row[1].effect != 0)

    yield Column("n", "n", lambda row: row[1].delta.n, Kind.COUNT, help="questions that take part")
    yield Column(
        "change",
        "mean change",
        lambda row: cell_change(row[1]),
        Kind.POINTS,
        beside=sign,
        scale=reach(changes),
        reference=lambda row: row[1].by_chance / 100,
        help="over questions, by the definition; the mark on its picture is the change by chance",
    )
    is_corrected = changes.options.definition is Definition.CORRECTED
    yield Column(
        "by_chance",
        "by chance",
        lambda row: row[1].by_chance / 100,
        Kind.POINTS,
        aside=not is_corrected,
        help="of a model that draws a letter at random among those offered, over the same "
        "questions",
    )
    yield Column(
        "always_first",
        "always first",
        lambda row: row[1].by_first / 100,
        Kind.POINTS,
        aside=True,
        help="of a model that always takes the first option, over the same questions",
    )
    yield from t_test(lambda row: row[1].delta)
    yield Column(
        "by_position",
        "by position",
        lambda row: row[1].position.change / 100,
        Kind.POINTS,
        aside=True,
        help="what the model's preference for positions gives, as response order shows it",
    )
    yield Column(
        "by_yes_saying",
        "by yes-saying",
        lambda row: row[1].yes_saying.change / 100,
        Kind.POINTS,
        aside=True,
        help="what the preferences for positions and for yes give together, as response order and "
        "acquiescence show them",
    )
    yield Column(
        "p_beyond",
        "p beyond chance",
        lambda row: row[1].beyond.p,
        Kind.P_VALUE,
        aside=True,
        help="two-sided, of the test that the mean difference from chance is 0",
    )
    yield Column(
        "p_adjusted",
        "p of the claim" if is_corrected else "p adjusted",
        lambda row: row[1].p_adjusted,
        Kind.P_VALUE,
        aside=changes.options.holm == "none" and not is_corrected,
        help=("of a bias, the largest p against 0, chance and positions; " if is_corrected else "")
        + "adjusted by Holm's procedure where the options say so",
    )


def _rest() -> Iterator[Column[Line]]:
    """Yield the columns that only the details of a cell show."""
    yield Column(
        "effect",
        "side",
        lambda row: row[1].effect,
        Kind.BALANCE,
        aside=True,
        help="significantly above 0: +1, below: -1",
    )
    yield Column(
        "human_like",
        "human-like",
        lambda row: row[1].human_like,
        Kind.BALANCE,
        aside=True,
        help="+1: significant in people's direction, -1: opposite; 0 for perturbations",
    )
    yield Column(
        "formula", "change", _formula, aside=True, help="q is the original form, q' the changed one"
    )
    yield Column("definition", "definition", lambda row: row[1].deltas.definition, aside=True)
    yield Column(
        "answers_of",
        "answers of",
        lambda row: row[1].deltas.source,
        words=in_words(Bias),
        aside=True,
    )
    yield Column("draws", "draws", lambda row: len(row[1].draws.draws), Kind.COUNT, aside=True)
    yield Column(
        "with_fewer_draws",
        "in fewer draws",
        lambda row: row[1].fewer_draws,
        Kind.COUNT,
        aside=True,
        help="questions that lack some of the draws asked",
    )
    yield Column(
        "blank",
        "blank",
        lambda row: row[1].dropped.blank,
        Kind.COUNT,
        aside=True,
        help="answers without a letter, which `corrected` does not count",
    )
    yield Column(
        "not_offered",
        "not offered",
        lambda row: row[1].dropped.not_offered,
        Kind.COUNT,
        aside=True,
        help="answers with a letter that was not offered, which `corrected` does not count",
    )
    yield Column(
        "questions_with_these",
        "questions with them",
        lambda row: row[1].dropped.questions,
        Kind.COUNT,
        aside=True,
    )
    yield Column(
        "drawn_again",
        "drawn again",
        lambda row: row[1].dropped.invalid,
        Kind.COUNT,
        aside=True,
        help="answers without an offered letter; for probabilities, the expected number",
    )
    yield Column("warnings", "warnings", lambda row: row[1].warnings, Kind.WORDS, aside=True)


def _formula(row: Line) -> str:
    """Return the formula of the change of a row."""
    return formula(row[1].place, row[1].deltas.definition, row[1].deltas.source)


NOT_COUNTED = ("blank", "not_offered", "questions_with_these", "drawn_again")


def cell_sentences(changes: Changes, row: Line) -> list[str]:
    """Return the sentences on a cell of the matrix, as `cells` has it.

    By the published definition they also say whether it is most human-like, and why.
    """
    from workbench.figures.shown import NONE, shown

    name, cell = row
    test_columns = [
        column
        for column in _test(changes)
        if column.key not in ("change", "degenerate") and not column.aside
    ]
    values = [
        f"{column.title} {text}"
        for column in test_columns
        if (text := shown(column.value(row), column)) != NONE
    ]
    not_counted = [
        f"{column.title} {shown(column.value(row), column)}"
        for column in _rest()
        if column.key in NOT_COUNTED
    ]
    published = changes.options.definition is Definition.PAPER
    likeness = [
        comparison
        for comparison in changes.likeness(name)
        if published and comparison.bias is cell.bias and cell.scored
    ]
    has_lost = cell.dropped.blank or cell.dropped.not_offered or cell.dropped.invalid
    return [
        f"{cell.result_text.capitalize()}: {', '.join(values)}.",
        *(f"Most human-like: {why(comparison)}." for comparison in likeness),
        *_detail(row),
        *[f"Answers: {', '.join(not_counted)}."] * bool(has_lost),
    ]


def _detail(row: Line) -> list[str]:
    """Return the sentences on the formula of a change, its answers, and the excluded questions."""
    cell = row[1]
    copied_from = (
        f"These are the answers to the perturbed questions of {kind_said(cell.deltas.source)}."
    )
    reasons = Counter(exclusion.reason for exclusion in cell.deltas.left_out)
    reasons_text = "; ".join(f"{reason} ({number})" for reason, number in reasons.items())
    return [
        f"Change by the definition {cell.deltas.definition}: {_formula(row)} (q original, q' "
        "changed form).",
        *[copied_from] * cell.copied,
        *[f"{plural(sum(reasons.values()), 'question')} left out: {reasons_text}."] * bool(reasons),
        *(f"Warning: {warning}" for warning in cell.warnings),
    ]


def _warnings(rows: Sequence[Line]) -> Iterator[str]:
    """Yield the improbable findings in the files of imported answers."""
    for name, cell in rows:
        yield from (
            f"{name}, {place_said(*cell.place)}: warning: {warning}" for warning in cell.warnings
        )


def entropies(
    changes: Changes, rules: Sequence[EntropyRule] = ENTROPY_RULES
) -> Table[tuple[str, ChangeCell, EntropySpread]]:
    """Return the table of the normalised entropy of the answers, by one rule or both."""
    spreads: dict[str, Callable[[ChangeCell], EntropySpread]] = {
        "offered": lambda cell: cell.spread,
        "csv": lambda cell: cell.spread_csv,
    }
    return Table(
        "entropies",
        "Normalised entropy of the answers",
        [(name, cell, spreads[rule](cell)) for name, cell in changes.lines for rule in rules],
        [
            model(lambda row: row[0]),
            *places(changes, lambda row: row[1].place),
            Column("rule", "options", lambda row: row[2].rule, aside=len(rules) == 1),
            Column(
                "original", "original", lambda row: row[2].original, Kind.COEFFICIENT, scale=(0, 1)
            ),
            Column(
                "changed",
                "changed form",
                lambda row: row[2].changed,
                Kind.COEFFICIENT,
                scale=(0, 1),
            ),
            Column("change", "change", _entropy_change, Kind.SCORE),
            *t_test(lambda row: row[2].change, aside=True, points=False),
        ],
        key=lambda row: (row[0], *subject_of(row[1].place), row[2].rule),
        definition="0: all answers equal, 1: answers spread evenly over the options. Means over "
        "all questions, with "
        "those that the definition of a change leaves out.",
        notes=[f"{rule}: {ENTROPIES[rule]}" for rule in rules],
        link=lambda row: Link("questions", (row[0], *subject_of(row[1].place))),
    )


def uncertainty(changes: Changes) -> Table[tuple[str, list[ChangeCell]]]:
    """Return the table of the correlation between changes and uncertainty (Figure 8).

    It is over all cells, and over those of each model. Source: Tjuatja et al. 2024.
    """
    cells_by_name = {
        name: [cell for other_name, cell in changes.lines if other_name == name]
        for name in changes.reports
    }
    all_rows = [("all", [cell for _, cell in changes.lines])] if len(cells_by_name) > 1 else []
    return Table(
        "uncertainty",
        "Size of the change against uncertainty",
        [*all_rows, *cells_by_name.items()],
        [
            model(lambda row: row[0]),
            Column("cells", "biases", lambda row: sum(cell.scored for cell in row[1]), Kind.COUNT),
            *correlation(
                lambda row: over_cells(row[1]),
                "over biases, of the size of the mean change and the mean entropy of the answers "
                "to the originals",
            ),
        ],
        key=lambda row: (row[0],),
        definition="A positive r means that answers change more where the model is less certain. "
        "Perturbations and "
        "variants of wordings do not count. Tjuatja et al. 2024, Figure 8, has one r over the "
        "biases of nine models.",
        notes=["Biases of one model are not independent: p is too small."] if all_rows else [],
    )


def _entropy_change(row: tuple[str, ChangeCell, EntropySpread]) -> Estimate:
    """Return the mean change of the entropies of a row."""
    test = row[2].change
    reason = test.degenerate if test.n == 0 else ""
    return Estimate(test.mean, test.low, test.high, test.n, undefined=reason, interval=named(test))


def left_out(changes: Changes) -> Table[tuple[str, ChangeCell, str, list[str]]]:
    """Return the table of the reasons why questions do not count, by cell."""
    rows = []
    for name, cell in changes.lines:
        reasons: dict[str, list[str]] = {}
        for exclusion in cell.deltas.left_out:
            reasons.setdefault(exclusion.reason, []).append(exclusion.key)
        rows += [(name, cell, reason, keys) for reason, keys in reasons.items()]
    return Table(
        "left_out",
        "Questions that are left out",
        rows,
        [
            model(lambda row: row[0]),
            *places(changes, lambda row: row[1].place),
            Column("reason", "reason", lambda row: row[2]),
            Column("questions", "questions", lambda row: len(row[3]), Kind.COUNT),
            Column("keys", "which", lambda row: named_few(row[3]), aside=True),
        ],
        key=lambda row: (row[0], *subject_of(row[1].place), row[2]),
        empty="No question is left out.",
        link=lambda row: Link("questions", (row[0], *subject_of(row[1].place))),
    )


def topics(changes: Changes) -> Table[tuple[str, ChangeCell, TopicFigure]]:
    """Return the table of the change of each cell, by topic of the questions."""
    return Table(
        "topics",
        "Change by topic",
        [
            (name, cell, topic_figure)
            for name, cell in changes.lines
            for topic_figure in cell.topics
        ],
        [
            model(lambda row: row[0]),
            *places(changes, lambda row: row[1].place),
            Column("topic", "topic", lambda row: row[2].topic, words={"": "(none)"}),
            Column("n", "n", lambda row: row[2].delta.n, Kind.COUNT, help="questions"),
            Column(
                "change",
                "mean change",
                lambda row: change(row[2].delta),
                Kind.POINTS,
                scale=reach(changes),
                reference=lambda row: row[2].by_chance / 100,
            ),
            *t_test(lambda row: row[2].delta),
        ],
        key=lambda row: (row[0], *subject_of(row[1].place), row[2].topic),
        notes=["p is not adjusted for the number of topics."],
        empty="No question has a topic.",
        link=lambda row: Link("questions", (row[0], *subject_of(row[1].place))),
        pictures=[
            Forest(
                values=["change"],
                rows=["bias", "condition", "topic"],
                series="model",
                reference=AT_RANDOM,
            )
        ],
    )


def draws(changes: Changes) -> Table[tuple[str, ChangeCell, DrawFigure]]:
    """Return the table of every random draw of the perturbations (appendix A.4)."""
    return Table(
        "draws",
        "Every draw of the perturbations",
        [
            (name, cell, draw)
            for name, cell in changes.lines
            if cell.condition
            for draw in cell.draws.draws
        ],
        [
            model(lambda row: row[0]),
            *places(changes, lambda row: row[1].place),
            Column("draw", "draw", lambda row: row[2].draw, Kind.COUNT),
            Column("n", "n", lambda row: row[2].delta.n, Kind.COUNT, help="questions"),
            Column(
                "change",
                "mean change",
                lambda row: change(row[2].delta),
                Kind.POINTS,
                scale=reach(changes),
                reference=lambda row: row[2].by_chance / 100,
            ),
            *t_test(lambda row: row[2].delta),
            Column(
                "effect",
                "side",
                lambda row: row[2].effect,
                Kind.BALANCE,
                help="significantly above 0: +1, below: -1; by unadjusted p",
            ),
        ],
        key=lambda row: (row[0], *subject_of(row[1].place), str(row[2].draw)),
        empty="No perturbation was asked.",
        link=lambda row: Link("questions", (row[0], *subject_of(row[1].place))),
        pictures=[
            Forest(
                values=["change"],
                rows=["bias", "condition", "draw"],
                series="model",
                reference=AT_RANDOM,
            )
        ],
    )


def draw_spread(changes: Changes) -> Table[Line]:
    """Return the table of the differences between the draws of one perturbation."""
    return Table(
        "draw_spread",
        "Differences between the draws of a perturbation",
        [(name, cell) for name, cell in changes.lines if cell.condition],
        [
            model(_model),
            *places(changes, _place),
            Column("draws", "draws", lambda row: len(row[1].draws.draws), Kind.COUNT),
            Column(
                "mean",
                "mean",
                lambda row: row[1].draws.mean / 100,
                Kind.POINTS,
                help="of the draws' means",
            ),
            Column(
                "sd",
                "sd",
                lambda row: row[1].draws.sd / 100,
                Kind.SIZE,
                help="of these means, sample formula",
            ),
            Column("low", "smallest", lambda row: row[1].draws.low / 100, Kind.POINTS),
            Column("high", "largest", lambda row: row[1].draws.high / 100, Kind.POINTS),
            Column("significant", "significant", lambda row: row[1].draws.significant, Kind.COUNT),
            Column(
                "agree",
                "agree",
                lambda row: row[1].draws.agree,
                help="whether all draws agree: all significant in the same direction, or none "
                "significant",
            ),
            Column(
                "with_fewer_draws",
                "in fewer draws",
                lambda row: row[1].fewer_draws,
                Kind.COUNT,
                help="questions asked in fewer draws; their mean is over those draws",
            ),
        ],
        key=lambda row: (row[0], *subject_of(row[1].place)),
        notes=["Several draws show the effect of chance."],
        empty="No perturbation was asked.",
        link=lambda row: Link("questions", (row[0], *subject_of(row[1].place))),
    )


LEAST = 14
"width in characters of `+24.9 points` above `*** human-like`"


def subjects(changes: Changes) -> Table[AskedSubject]:
    """Return the table of the ways in which each model was asked."""

    def of_run(format_run: Callable[[Run], str]) -> Callable[[AskedSubject], str]:
        return lambda row: format_run(row.run) if row.run is not None else ""

    return Table(
        "subjects",
        "Who answered",
        list(changes.subjects.values()),
        [
            model(lambda row: row.name),
            Column("answers", "answers", lambda row: row.way),
            Column("sampling", "sampling", of_run(lambda run: str(run.sampling))),
            Column("template", "template", lambda row: row.template),
            Column(
                "wanted",
                "valid answers wanted",
                lambda row: row.wanted or None,
                Kind.COUNT,
                short="wanted",
            ),
            Column(
                "short", "forms with fewer", lambda row: len(row.short), Kind.COUNT, short="fewer"
            ),
            Column(
                "pairs",
                "pairs",
                lambda row: sum(len(table.keys) for table in row.tables),
                Kind.COUNT,
                help="with answers to both forms",
            ),
            # The name of a served subject has its snapshot.
            Column(
                "version",
                "version",
                of_run(lambda run: "" if run.served_as else run.version),
                aside=True,
            ),
            Column("computed", "computed", of_run(lambda run: run.computed), aside=True),
        ],
        key=lambda row: (row.name,),
        notes=["exact: probabilities of the next token. imported: answers that others collected."],
    )


@dataclass(frozen=True, eq=False, slots=True)
class _ModelColumn:
    """The column of one model in the table by bias and perturbation."""

    changes: Changes
    name: str
    likeness: Mapping[Bias, HumanLikeness]
    "empty unless the published definition is chosen"

    @classmethod
    def of_model(cls, changes: Changes, name: str) -> _ModelColumn:
        """Return the column of a model."""
        if changes.options.definition is not Definition.PAPER:
            return cls(changes, name, {})
        likeness = {comparison.bias: comparison for comparison in changes.likeness(name)}
        return cls(changes, name, likeness)

    def _cell(self, row_place: Place) -> ChangeCell | None:
        """Return the figures of a bias under a condition, or None if it was not asked."""
        return self.changes.reports[self.name].find(*row_place)

    def text_beside(self, row_place: Place) -> str:
        """Return the text after a mean change, such as `*** human-like`."""
        bias, condition, variant = row_place
        is_main_bias = not condition and not variant
        return beside(self._cell(row_place), self.likeness.get(bias) if is_main_bias else None)

    def by_chance(self, row_place: Place) -> float | None:
        """Return the change by letters drawn at random, as a part of 1."""
        cell = self._cell(row_place)
        return None if cell is None else cell.by_chance / 100

    def link(self, row_place: Place) -> Link | None:
        """Return the link to the questions of a cell."""
        if self._cell(row_place) is None:
            return None
        return Link("questions", (self.name, *subject_of(row_place)))

    def sentences(self, row_place: Place) -> list[str]:
        """Return the sentences on a cell."""
        cell = self._cell(row_place)
        return [] if cell is None else cell_sentences(self.changes, (self.name, cell))

    def column(self) -> Column[Place]:
        """Return the column of the table."""
        return Column(
            f"model {self.name}" if self.name in ("bias", "condition") else self.name,
            self.name,
            change_of(self.changes, self.name),
            Kind.POINTS,
            least=LEAST,
            help="mean change with its 95 % interval, in percentage points",
            beside=self.text_beside,
            scale=reach(self.changes),
            reference=self.by_chance,
            link=self.link,
            detail=self.sentences,
        )


def matrix(changes: Changes) -> Table[Place]:
    """Return the table of the mean change by bias and perturbation, with a column per model."""
    models = [_ModelColumn.of_model(changes, name).column() for name in changes.reports]
    keys = [column.key for column in models]
    if changes.options.definition is Definition.CORRECTED:
        models.append(
            Column(
                "by chance",
                "by chance",
                _by_chance(changes),
                Kind.POINTS,
                help="mean change of letters drawn at random among those offered, over the first "
                "model's questions",
            )
        )
    rows = [
        row_place
        for row_place in changes.places
        if row_place[1] is None or not changes.options.without_typos
    ]
    return Table(
        "matrix",
        "Mean change by bias and model",
        rows,
        [*places(changes, lambda row_place: row_place), *models],
        key=subject_of,
        notes=list(_matrix_notes(changes)),
        link=lambda row_place: Link("place", subject_of(row_place)),
        pictures=[
            Matrix(columns=keys, rows=["bias", "condition"]),
            Forest(
                values=keys,
                rows=["bias", "condition"],
                suffix="intervals",
                axis="mean change",
                reference=AT_RANDOM,
            ),
        ],
    )


def _matrix_notes(changes: Changes) -> Iterator[str]:
    """Yield the notes that explain the marks in the table by bias and perturbation."""
    cells = [cell for _, cell in changes.lines]
    alpha = changes.options.alpha
    yield f"* p < {alpha:g}, ** p < 0.01, *** p < 0.001; n.s.: not significant. –: not asked."
    explanations = {cell.explained_by for cell in cells if cell.within_chance}
    explained = " ".join(explanations)
    if "position" in explained:
        yield "position?: the model's preference for positions may give this change."
    if "acquiescence" in explained:
        yield "yes?: that the model says yes, or no, whatever is asked may give this change."
    if "" in explanations:
        yield "chance: differs from 0, and not from letters drawn at random."
    yield (
        "human-like: significant in people's direction; opposite: significant, against them; "
        "changes: significant, though people overlook typos."
    )
    if changes.options.definition is Definition.PAPER:
        yield "✓: human-like, and no typo changes anything."
    yield from copied(changes)


def _by_chance(changes: Changes) -> Callable[[Place], float]:
    """Return the accessor of the change by chance in the first report that has the cell."""

    def value(row_place: Place) -> float:
        cells = (report.find(*row_place) for report in changes.reports.values())
        return next((cell.by_chance / 100 for cell in cells if cell is not None), NAN)

    return value


def change_of(changes: Changes, name: str) -> Callable[[Place], Estimate | None]:
    """Return the accessor of the change of a cell in one report."""

    def value(row_place: Place) -> Estimate | None:
        cell = changes.reports[name].find(*row_place)
        return None if cell is None else cell_change(cell)

    return value


def scores(changes: Changes) -> Table[str]:
    """Return the table of the published score of each model, over all biases."""

    def score(name: str, value: int) -> int | None:
        return value if changes.reports[name].score.biases else None

    def likeness(name: str, expected: bool | None) -> int | None:
        comparisons = changes.likeness(name)
        return (
            sum(comparison.most_human_like is expected for comparison in comparisons)
            if comparisons
            else None
        )

    has_two_scores = any(
        report.score.signed != report.score.human_like for report in changes.reports.values()
    )
    signed_note = (
        "score as published: +1 for a significant bias above 0, -1 below; different if the "
        "definition reverses the sign of allow/forbid."
    )
    return Table(
        "scores",
        "Over all biases",
        list(changes.reports),
        [
            model(lambda name: name),
            Column(
                "score",
                "score",
                lambda name: score(name, changes.reports[name].score.human_like),
                Kind.BALANCE,
            ),
            Column(
                "score_as_published",
                "as published",
                lambda name: score(name, changes.reports[name].score.signed),
                Kind.BALANCE,
                aside=not has_two_scores,
            ),
            Column(
                "biases",
                "biases",
                lambda name: score(name, changes.reports[name].score.biases),
                Kind.COUNT,
                help="with a test; the score is a sum over these",
            ),
            Column(
                "most_human_like",
                "most human-like",
                lambda name: likeness(name, True),
                Kind.COUNT,
                help="biases that move the model as they move people, while no typo does",
            ),
            Column(
                "open",
                "open",
                lambda name: likeness(name, None),
                Kind.COUNT,
                help="biases that lack a test",
            ),
            Column(
                "valid",
                "valid answers",
                lambda name: changes.validity[name].mean,
                Kind.SHARE,
                scale=(0, 1),
                help="offered letters among all answers drawn, mean over questions",
            ),
            Column(
                "people",
                "like people",
                _people(changes),
                Kind.COEFFICIENT,
                scale=(0, 1),
                help="1 - the distance of the model's and people's answers to the original "
                "questions",
            ),
        ],
        key=lambda name: (name,),
        notes=[
            "score: +1 for a significant bias that is human-like, -1 for one that is opposite; – "
            "where no bias has a test, or not all of them are looked at.",
            *[signed_note] * has_two_scores,
        ],
        link=lambda name: Link("likeness", (name,)),
    )


def _people(changes: Changes) -> Callable[[str], Estimate | None]:
    """Return the accessor of the likeness to people, or None if it is unknown."""
    return lambda name: changes.people[name].mean if name in changes.people else None


def likeness(changes: Changes) -> Table[tuple[str, HumanLikeness]]:
    """Return the table of whether each bias moves each model as it moves people, with reasons."""
    return Table(
        "likeness",
        "Whether a bias moves a model as it moves people",
        [(name, comparison) for name in changes.reports for comparison in changes.likeness(name)],
        [
            model(lambda row: row[0]),
            Column("bias", "bias", lambda row: kind_name(row[1].bias), words=changes.words),
            Column("most_human_like", "most human-like", lambda row: row[1].most_human_like),
            Column("why", "because", lambda row: why(row[1])),
            Column(
                "human_like",
                "human-like",
                lambda row: row[1].human_like,
                Kind.BALANCE,
                aside=True,
                help="+1: significant in people's direction, -1: in the opposite direction",
            ),
            Column(
                "perturbed",
                "moved by",
                lambda row: row[1].perturbed,
                Kind.WORDS,
                aside=True,
                words=CONDITION_WORDS,
                help="perturbations under which the answers change significantly",
            ),
            Column(
                "untested",
                "not tested",
                lambda row: row[1].untested,
                Kind.WORDS,
                aside=True,
                words=CONDITION_WORDS,
            ),
            Column("tested", "tested", lambda row: row[1].tested, aside=True),
        ],
        key=lambda row: (row[0], str(row[1].bias)),
        definition="A model is most human-like in a bias that changes its answers like people's, "
        "while no "
        "typo, which people overlook, changes them.",
        empty="Human-likeness needs a bias and all typos; this selection lacks some.",
        link=lambda row: Link("place", (kind_name(row[1].bias), "bias")),
    )


def valid_answers(changes: Changes) -> Table[str]:
    """Return the table of the share of valid answers, by model."""
    imported = [name for name, subject in changes.subjects.items() if subject.way == "imported"]
    imported_note = (
        f"{', '.join(imported)}: imported; answers that were drawn again count only if the "
        "source kept them."
    )
    return Table(
        "valid_answers",
        "Valid answers",
        list(changes.validity),
        [
            model(lambda name: name),
            Column(
                "mean",
                "share",
                lambda name: changes.validity[name].mean,
                Kind.SHARE,
                scale=(0, 1),
                help="mean over questions",
            ),
            Column(
                "questions",
                "questions",
                lambda name: len(changes.validity[name].shares),
                Kind.COUNT,
                help="a question counts once for each compared form",
            ),
            Column(
                "without",
                "without any",
                lambda name: changes.validity[name].without,
                Kind.COUNT,
                help="questions without any valid answer",
            ),
        ],
        key=lambda name: (name,),
        definition="Answers with an offered letter among all answers drawn; for exact "
        "probabilities, the probability "
        "of the offered letters.",
        notes=[imported_note] * bool(imported),
        link=lambda name: Link("validity", (name,)),
        pictures=[Forest(values=["mean"], rows=["model"])],
    )


def validity(changes: Changes) -> Table[tuple[str, int, int, int]]:
    """Return the table of questions by their share of valid answers (figure 6)."""
    rows = [
        (name, index, len(shares.histogram), count)
        for name, shares in changes.validity.items()
        for index, count in enumerate(map(int, shares.histogram))
    ]
    return Table(
        "validity",
        "Questions by their share of valid answers",
        rows,
        [
            model(lambda row: row[0]),
            Column("from", "from", lambda row: row[1] / row[2], Kind.SHARE),
            Column("to", "to", lambda row: (row[1] + 1) / row[2], Kind.SHARE),
            Column("questions", "questions", lambda row: row[3], Kind.COUNT),
        ],
        key=lambda row: (row[0], str(row[1])),
        pictures=[Stacked(values=["questions"], rows=["from", "to"], series="model")],
    )


def validity_shares(changes: Changes) -> Table[tuple[str, int, float]]:
    """Return the table of the share of valid answers of every question.

    `validity` is its histogram.
    """
    return Table(
        "validity_shares",
        "Share of valid answers by question",
        [
            (name, index, float(share))
            for name, shares_of_report in changes.validity.items()
            for index, share in enumerate(shares_of_report.shares)
        ],
        [
            model(lambda row: row[0]),
            Column("question", "question", lambda row: row[1], Kind.COUNT),
            Column("share", "share", lambda row: row[2], Kind.SHARE),
        ],
        key=lambda row: (row[0], str(row[1])),
    )


def people(changes: Changes) -> Table[str]:
    """Return the table of the likeness to people's answers to the original questions (table 4)."""
    exclusion_notes = (
        f"{name}: {plural(n_questions, 'question')} left out, {reason}"
        for name, comparison in changes.people.items()
        for reason, n_questions in Counter(
            exclusion.reason for exclusion in comparison.left_out
        ).items()
    )
    return Table(
        "people",
        "Likeness to people's answers to the original questions",
        list(changes.people),
        [
            model(lambda name: name),
            Column(
                "likeness",
                "likeness",
                lambda name: changes.people[name].mean,
                Kind.COEFFICIENT,
                scale=(0, 1),
            ),
            Column("questions", "questions", lambda name: changes.people[name].mean.n, Kind.COUNT),
            Column(
                "left_out", "left out", lambda name: len(changes.people[name].left_out), Kind.COUNT
            ),
        ],
        key=lambda name: (name,),
        definition="1 − the Wasserstein distance of the shares, mean over questions; 1: the "
        "same. Options are treated "
        "as a scale with equal steps, in their printed order.",
        notes=[*exclusion_notes, f"[ ]: {INTERVAL}."],
        empty=f"The questions of {changes.instrument} that were asked have no human shares.",
        link=lambda name: Link("people_questions", (name,)),
        pictures=[Forest(values=["likeness"], rows=["model"])],
    )


def people_questions(changes: Changes) -> Table[tuple[str, str, float, str]]:
    """Return the table of the likeness to people by question, with the reasons of exclusions."""
    rows = []
    for name, comparison in changes.people.items():
        rows += [(name, key, value, "") for key, value in comparison.alignments]
        rows += [
            (name, exclusion.key, float("nan"), exclusion.reason)
            for exclusion in comparison.left_out
        ]
    return Table(
        "people_questions",
        "Likeness to people's answers by question",
        rows,
        [
            model(lambda row: row[0]),
            Column("key", "question", lambda row: row[1]),
            Column("likeness", "likeness", lambda row: row[2], Kind.COEFFICIENT, scale=(0, 1)),
            Column("left_out", "left out because", lambda row: row[3]),
        ],
        key=lambda row: (row[0], row[1], row[3]),
        empty=f"The questions of {changes.instrument} that were asked have no human shares.",
    )
