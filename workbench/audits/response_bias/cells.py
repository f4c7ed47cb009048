"""Tables of the cells of response biases: the test of each, entropies, what is left out, topics and draws."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from workbench.audits.response_bias import columns as columns
from workbench.audits.response_bias.changes import Changes
from workbench.audits.response_bias.figures import Cell, DrawFigure, TopicFigure
from workbench.audits.response_bias.formula import formula
from workbench.audits.response_bias.names import Place, kind_said, place_said, subject_of
from workbench.audits.response_bias.options import ENTROPY_RULES, EntropyRule
from workbench.audits.response_bias.score import over_cells
from workbench.audits.response_bias.uncertainty import Spread
from workbench.audits.response_bias.words import ENTROPIES, stars, why
from workbench.domain.choices import Bias
from workbench.domain.counting import plural
from workbench.domain.questionnaire_tallies import named_few
from workbench.domain.verdicts import Estimate
from workbench.figures.pictures.of_table import Forest
from workbench.figures.table import Column, Kind, Link, Table, in_words

Line = tuple[str, Cell]
"name of the report, and the cell"


def cells(found: Changes) -> Table[Line]:
    """Return every cell of every model with its test."""
    return _cells(found, found.lines, "cells", "Change by bias, with its test")


def place(found: Changes, at: Place) -> Table[Line]:
    """Return one bias or perturbation of every model that was asked it, whatever is looked at."""
    asked = ((name, report.find(*at)) for name, report in found.reports.items())
    rows = [(name, cell) for name, cell in asked if cell is not None]
    return _cells(found, rows, "place", f"{place_said(*at).capitalize()}: change of each model", subject_of(at))


def _cells(found: Changes, rows: Sequence[Line], name: str, title: str, subject: tuple[str, ...] = ()) -> Table[Line]:
    return Table(
        name,
        title,
        rows,
        [
            columns.model(_model),
            *columns.places(found, _place),
            *_test(found),
            Column("said", "result", lambda row: row[1].said),
            Column("left_out", "left out", lambda row: len(row[1].deltas.left_out), Kind.COUNT, help="questions"),
            *columns.correlation(
                lambda row: row[1].uncertainty,
                "over questions, of the size of the change and the entropy of the answers to the original, "
                + ENTROPIES[found.options.entropy],
                aside=True,
            ),
            *_rest(),
        ],
        key=lambda row: (row[0], *subject_of(row[1].place)),
        notes=[*columns.copied(found), *_warnings(rows)],
        empty="No model was asked this.",
        link=lambda row: Link("questions", (row[0], *subject_of(row[1].place))),
        detail=_detail,
        subject=subject,
    )


def _model(row: Line) -> str:
    return row[0]


def _place(row: Line) -> Place:
    return row[1].place


def _test(found: Changes) -> Iterator[Column[Line]]:
    """Yield the change with its test; p adjusted has a place of its own where it is another number."""

    def sign(row: Line) -> str:
        return stars(row[1].p_adjusted, significant=row[1].effect != 0)

    yield Column("n", "n", lambda row: row[1].delta.n, Kind.COUNT, help="questions that take part")
    yield Column(
        "change",
        "mean change",
        lambda row: columns.cell_change(row[1]),
        Kind.POINTS,
        beside=sign,
        scale=columns.reach(found),
        reference=columns.zero,
        help="over questions, by the definition",
    )
    yield from columns.t_test(lambda row: row[1].delta)
    yield Column(
        "p_adjusted",
        "p adjusted",
        lambda row: row[1].p_adjusted,
        Kind.P_VALUE,
        aside=found.options.holm == "none",
        help="by Holm's procedure; p if not adjusted",
    )


def _rest() -> Iterator[Column[Line]]:
    """Yield what only the details of a cell say."""
    yield Column("effect", "side", lambda row: row[1].effect, Kind.BALANCE, aside=True,
                 help="significantly above 0: +1, below: -1")  # fmt: skip
    yield Column("human_like", "human-like", lambda row: row[1].human_like, Kind.BALANCE, aside=True,
                 help="+1: significant in people's direction, -1: opposite; 0 for perturbations")  # fmt: skip
    yield Column("formula", "change", _formula, aside=True, help="q is the original form, q' the changed one")
    yield Column("definition", "definition", lambda row: row[1].deltas.definition, aside=True)
    yield Column("answers_of", "answers of", lambda row: row[1].deltas.source, words=in_words(Bias), aside=True)
    yield Column("draws", "draws", lambda row: len(row[1].draws.draws), Kind.COUNT, aside=True)
    yield Column("with_fewer_draws", "in fewer draws", lambda row: row[1].fewer_draws, Kind.COUNT, aside=True,
                 help="questions that lack some of the draws asked")  # fmt: skip
    yield Column("blank", "blank", lambda row: row[1].dropped.blank, Kind.COUNT, aside=True,
                 help="answers without a letter, which `corrected` does not count")  # fmt: skip
    yield Column("not_offered", "not offered", lambda row: row[1].dropped.not_offered, Kind.COUNT, aside=True,
                 help="answers with a letter that was not offered, which `corrected` does not count")  # fmt: skip
    yield Column("questions_with_these", "questions with them", lambda row: row[1].dropped.questions, Kind.COUNT,
                 aside=True)  # fmt: skip
    yield Column("drawn_again", "drawn again", lambda row: row[1].dropped.invalid, Kind.COUNT, aside=True,
                 help="answers without an offered letter; for probabilities, the expected number")  # fmt: skip
    yield Column("warnings", "warnings", lambda row: row[1].warnings, Kind.WORDS, aside=True)


def _formula(row: Line) -> str:
    return formula(row[1].place, row[1].deltas.definition, row[1].deltas.source)


NOT_COUNTED = ("blank", "not_offered", "questions_with_these", "drawn_again")


def said(found: Changes, row: Line) -> list[str]:
    """Return what `cells` says of a cell beside its change, in sentences, and whether it is most human-like and why."""
    from workbench.figures.shown import NONE, shown

    name, cell = row
    test = [column for column in _test(found) if column.key not in ("change", "degenerate") and not column.aside]
    values = [f"{column.title} {text}" for column in test if (text := shown(column.value(row), column)) != NONE]
    lost = [f"{column.title} {shown(column.value(row), column)}" for column in _rest() if column.key in NOT_COUNTED]
    likeness = [one for one in found.likeness(name) if one.bias is cell.bias and cell.scored]
    any_lost = cell.dropped.blank or cell.dropped.not_offered or cell.dropped.invalid
    return [
        f"{cell.said.capitalize()}: {', '.join(values)}.",
        *(f"Most human-like: {why(one)}." for one in likeness),
        *_detail(row),
        *[f"Answers: {', '.join(lost)}."] * bool(any_lost),
    ]


def _detail(row: Line) -> list[str]:
    """Say which shares the change is the difference of, whose answers these are, and what is left out and why."""
    cell = row[1]
    copied_from = f"These are the answers to the perturbed questions of {kind_said(cell.deltas.source)}."
    reasons = Counter(one.reason for one in cell.deltas.left_out)
    out = "; ".join(f"{reason} ({n})" for reason, n in reasons.items())
    return [
        f"Change by the definition {cell.deltas.definition}: {_formula(row)} (q original, q' changed form).",
        *[copied_from] * cell.copied,
        *[f"{plural(sum(reasons.values()), 'question')} left out: {out}."] * bool(reasons),
        *(f"Warning: {warning}" for warning in cell.warnings),
    ]


def _warnings(rows: Sequence[Line]) -> Iterator[str]:
    """Repeat what is improbable in the files that imported answers came from."""
    for name, cell in rows:
        yield from (f"{name}, {place_said(*cell.place)}: warning: {warning}" for warning in cell.warnings)


def entropies(found: Changes, rules: Sequence[EntropyRule] = ENTROPY_RULES) -> Table[tuple[str, Cell, Spread]]:
    """Return the normalised entropy of the answers to both forms, by one rule or by both."""
    spreads: dict[str, Callable[[Cell], Spread]] = {
        "offered": lambda cell: cell.spread,
        "csv": lambda cell: cell.spread_csv,
    }
    return Table(
        "entropies",
        "Normalised entropy of the answers",
        [(name, cell, spreads[rule](cell)) for name, cell in found.lines for rule in rules],
        [
            columns.model(lambda row: row[0]),
            *columns.places(found, lambda row: row[1].place),
            Column("rule", "options", lambda row: row[2].rule, aside=len(rules) == 1),
            Column("original", "original", lambda row: row[2].original, Kind.COEFFICIENT, scale=(0, 1)),
            Column("changed", "changed form", lambda row: row[2].changed, Kind.COEFFICIENT, scale=(0, 1)),
            Column("change", "change", _entropy_change, Kind.SCORE),
            *columns.t_test(lambda row: row[2].change, aside=True, points=False),
        ],
        key=lambda row: (row[0], *subject_of(row[1].place), row[2].rule),
        definition="0: all answers equal, 1: answers spread evenly over the options. Means over all questions, with "
        "those that the definition of a change leaves out.",
        notes=[f"{rule}: {ENTROPIES[rule]}" for rule in rules],
        link=lambda row: Link("questions", (row[0], *subject_of(row[1].place))),
    )


def uncertainty(found: Changes) -> Table[tuple[str, list[Cell]]]:
    """Return whether biases change answers more where a model is unsure: over all cells, and over those of a model.

    Tjuatja et al. 2024, Figure 8.
    """
    of_each = {name: [cell for other, cell in found.lines if other == name] for name in found.reports}
    every = [("all", [cell for _, cell in found.lines])] if len(of_each) > 1 else []
    return Table(
        "uncertainty",
        "Size of the change against uncertainty",
        [*every, *of_each.items()],
        [
            columns.model(lambda row: row[0]),
            Column("cells", "biases", lambda row: sum(cell.scored for cell in row[1]), Kind.COUNT),
            *columns.correlation(
                lambda row: over_cells(row[1]),
                "over biases, of the size of the mean change and the mean entropy of the answers to the originals",
            ),
        ],
        key=lambda row: (row[0],),
        definition="A positive r means that answers change more where the model is less certain. Perturbations and "
        "variants of wordings do not count. Tjuatja et al. 2024, Figure 8, has one r over the biases of nine models.",
        notes=["Biases of one model are not independent: p is too small."] if every else [],
    )


def _entropy_change(row: tuple[str, Cell, Spread]) -> Estimate:
    test = row[2].change
    why = test.degenerate if test.n == 0 else ""
    return Estimate(test.mean, test.low, test.high, test.n, undefined=why, interval=columns.named(test))


def left_out(found: Changes) -> Table[tuple[str, Cell, str, list[str]]]:
    """Return why questions take no part, by cell."""
    rows = []
    for name, cell in found.lines:
        reasons: dict[str, list[str]] = {}
        for one in cell.deltas.left_out:
            reasons.setdefault(one.reason, []).append(one.key)
        rows += [(name, cell, reason, keys) for reason, keys in reasons.items()]
    return Table(
        "left_out",
        "Questions that are left out",
        rows,
        [
            columns.model(lambda row: row[0]),
            *columns.places(found, lambda row: row[1].place),
            Column("reason", "reason", lambda row: row[2]),
            Column("questions", "questions", lambda row: len(row[3]), Kind.COUNT),
            Column("keys", "which", lambda row: named_few(row[3]), aside=True),
        ],
        key=lambda row: (row[0], *subject_of(row[1].place), row[2]),
        empty="No question is left out.",
        link=lambda row: Link("questions", (row[0], *subject_of(row[1].place))),
    )


def topics(found: Changes) -> Table[tuple[str, Cell, TopicFigure]]:
    """Return the change of each cell by topic of the questions."""
    return Table(
        "topics",
        "Change by topic",
        [(name, cell, one) for name, cell in found.lines for one in cell.topics],
        [
            columns.model(lambda row: row[0]),
            *columns.places(found, lambda row: row[1].place),
            Column("topic", "topic", lambda row: row[2].topic, words={"": "(none)"}),
            Column("n", "n", lambda row: row[2].delta.n, Kind.COUNT, help="questions"),
            Column("change", "mean change", lambda row: columns.change(row[2].delta), Kind.POINTS,
                   scale=columns.reach(found), reference=columns.zero),
            *columns.t_test(lambda row: row[2].delta),
        ],
        key=lambda row: (row[0], *subject_of(row[1].place), row[2].topic),
        notes=["p is not adjusted for the number of topics."],
        empty="No question has a topic.",
        link=lambda row: Link("questions", (row[0], *subject_of(row[1].place))),
        pictures=[Forest(values=["change"], rows=["bias", "condition", "topic"], series="model")],
    )  # fmt: skip


def draws(found: Changes) -> Table[tuple[str, Cell, DrawFigure]]:
    """Return every random draw of the perturbations (appendix A.4)."""
    return Table(
        "draws",
        "Every draw of the perturbations",
        [(name, cell, one) for name, cell in found.lines if cell.condition for one in cell.draws.draws],
        [
            columns.model(lambda row: row[0]),
            *columns.places(found, lambda row: row[1].place),
            Column("draw", "draw", lambda row: row[2].draw, Kind.COUNT),
            Column("n", "n", lambda row: row[2].delta.n, Kind.COUNT, help="questions"),
            Column("change", "mean change", lambda row: columns.change(row[2].delta), Kind.POINTS,
                   scale=columns.reach(found), reference=columns.zero),
            *columns.t_test(lambda row: row[2].delta),
            Column("effect", "side", lambda row: row[2].effect, Kind.BALANCE,
                   help="significantly above 0: +1, below: -1; by unadjusted p"),
        ],
        key=lambda row: (row[0], *subject_of(row[1].place), str(row[2].draw)),
        empty="No perturbation was asked.",
        link=lambda row: Link("questions", (row[0], *subject_of(row[1].place))),
        pictures=[Forest(values=["change"], rows=["bias", "condition", "draw"], series="model")],
    )  # fmt: skip


def draw_spread(found: Changes) -> Table[Line]:
    """Return how far the draws of one perturbation differ."""
    return Table(
        "draw_spread",
        "Differences between the draws of a perturbation",
        [(name, cell) for name, cell in found.lines if cell.condition],
        [
            columns.model(_model),
            *columns.places(found, _place),
            Column("draws", "draws", lambda row: len(row[1].draws.draws), Kind.COUNT),
            Column("mean", "mean", lambda row: row[1].draws.mean / 100, Kind.POINTS, help="of the draws' means"),
            Column("sd", "sd", lambda row: row[1].draws.sd / 100, Kind.SIZE, help="of these means, sample formula"),
            Column("low", "smallest", lambda row: row[1].draws.low / 100, Kind.POINTS),
            Column("high", "largest", lambda row: row[1].draws.high / 100, Kind.POINTS),
            Column("significant", "significant", lambda row: row[1].draws.significant, Kind.COUNT),
            Column("agree", "agree", lambda row: row[1].draws.agree,
                   help="whether all draws agree: all significant in the same direction, or none significant"),
            Column("with_fewer_draws", "in fewer draws", lambda row: row[1].fewer_draws, Kind.COUNT,
                   help="questions asked in fewer draws; their mean is over those draws"),
        ],
        key=lambda row: (row[0], *subject_of(row[1].place)),
        notes=["Several draws show the effect of chance."],
        empty="No perturbation was asked.",
        link=lambda row: Link("questions", (row[0], *subject_of(row[1].place))),
    )  # fmt: skip
