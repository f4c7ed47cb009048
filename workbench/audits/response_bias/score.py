"""From tables of answers to what is said of a model: changes with their tests, biases, perturbations and the score."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from workbench.audits.response_bias.deltas import (
    NOT_FIRST,
    Deltas,
    LeftOut,
    deltas,
    dropped,
    human_sign,
)
from workbench.audits.response_bias.figures import (
    Cell,
    DrawFigure,
    Draws,
    Effect,
    HumanLikeness,
    Report,
    Score,
    TopicFigure,
)
from workbench.audits.response_bias.options import ChangeOptions, Definition
from workbench.audits.response_bias.table import Table
from workbench.audits.response_bias.uncertainty import RESOLUTION, change_against_uncertainty, spread
from workbench.domain.choices import Bias, Perturbation
from workbench.errors import UsageError
from workbench.stats.correlation import Pearson, pearson
from workbench.stats.multiple_tests import holm
from workbench.stats.one_sample import MeanTest, mean_test

Topics = Mapping[tuple[Bias, str], str]
"(bias, key of the question) -> topic"

Place = tuple[Bias, Perturbation | None, str]
"bias, condition and variant of a cell"

_SIGN: dict[int, Effect] = {1: 1, 0: 0, -1: -1}


def judge(tables: Iterable[Table], options: ChangeOptions | None = None, topics: Topics | None = None) -> Report:
    """Return everything that is said of one model.

    Score and human-likeness rest on the biases' main wordings; another variant has a cell of its own. Raises UsageError
    without tables, for those of several models, and where one set of answers is there twice.

    Parameters
    ----------
    tables : a table for each bias, condition and draw, in any order
    topics : of questions; figures by topic are left out without any
    """
    chosen = options or ChangeOptions()
    given = sorted(tables, key=lambda table: table.draw)
    model = _only_model(given)
    cells = _adjusted(
        [_cell(place, asked, chosen, topics or {}) for place, asked in _asked(given, chosen.definition).items()], chosen
    )
    biases = [cell for cell in cells if cell.scored]
    tested = sum(cell.delta.tested for cell in biases)
    score = Score(sum(cell.effect for cell in biases), sum(cell.human_like for cell in biases), tested)
    return Report(model, chosen, tuple(cells), tuple(_likeness(cell, cells) for cell in biases), score)


def mean_change(found: Deltas) -> MeanTest:
    """Return the mean change in percentage points with its test."""
    return mean_test(found.values, RESOLUTION)


def by_topic(found: Deltas, topics: Topics) -> tuple[TopicFigure, ...]:
    """Return the mean change of each topic, in the order of their names; of questions without a topic last."""
    named = np.array([topics.get((found.bias, key), "") for key in found.keys], dtype=object)
    order = sorted(set(named), key=lambda topic: (not topic, topic))
    return tuple(TopicFigure(str(topic), mean_test(found.values[named == topic], RESOLUTION)) for topic in order)


def over_draws(found: Sequence[Deltas], numbers: Sequence[int], alpha: float = 0.05) -> Draws:
    """Return each draw's change and how far the draws differ."""
    tests = [mean_change(each) for each in found]
    draws = tuple(DrawFigure(n, test, _effect(test, test.p, alpha)) for n, test in zip(numbers, tests, strict=True))
    means = np.array([test.mean for test in tests if test.n])
    sd = float(means.std(ddof=1)) if len(means) > 1 else float("nan")
    mean, low, high = (float(f(means)) if len(means) else float("nan") for f in (np.mean, np.min, np.max))
    return Draws(draws, mean, sd, low, high, sum(draw.effect != 0 for draw in draws))


def over_cells(cells: Iterable[Cell]) -> Pearson:
    """Return the correlation of |mean change| and mean entropy of the originals, over models and biases (figure 8)."""
    scored = [cell for cell in cells if cell.scored]
    return pearson([abs(cell.delta.mean) / 100 for cell in scored], [cell.spread.original for cell in scored])


def _only_model(tables: Sequence[Table]) -> str:
    models = sorted({table.model for table in tables})
    if len(models) != 1:
        raise UsageError(f"found answers of {', '.join(models) or 'no model'}; give the answers of one model")
    return models[0]


def _asked(tables: Sequence[Table], definition: Definition) -> dict[Place, tuple[Table, ...]]:
    """Return the tables, one for each draw, of each bias and condition, in the order of a report.

    Perturbed opinion floating is odd/even's, which asks the same questions: under the published definitions always,
    as in the published tables, also of a model whose opinion-floating questions were perturbed themselves; under
    `corrected` where these were not.
    """
    found: dict[Place, tuple[Table, ...]] = {}
    for table in tables:
        place = (table.bias, table.condition, table.variant)
        if table.draw in {other.draw for other in found.get(place, ())}:
            raise UsageError(f"found two sets of answers for {table.name}; give one of them")
        found[place] = (*found.get(place, ()), table)
    published = definition is not Definition.CORRECTED
    for condition in Perturbation:
        place = (Bias.OPINION_FLOAT, condition, "")
        own, lent = found.pop(place, None), found.get((Bias.ODD_EVEN, condition, ""))
        used = lent if published else own or lent
        if used is not None and (own is not None or (Bias.OPINION_FLOAT, None, "") in found):
            found[place] = used
    return dict(sorted(found.items(), key=lambda item: _order(item[0])))


def _order(place: Place) -> tuple[int, str, int]:
    bias, condition, variant = place
    return list(Bias).index(bias), variant, 0 if condition is None else 1 + list(Perturbation).index(condition)


def _cell(place: Place, tables: Sequence[Table], options: ChangeOptions, topics: Topics) -> Cell:
    bias, condition, variant = place
    each = [deltas(table, options.definition, bias) for table in tables]
    found = _mean_of_draws(each)
    test = mean_change(found)
    return Cell(
        bias=bias,
        condition=condition,
        variant=variant,
        deltas=found,
        delta=test,
        p_adjusted=test.p,
        effect=0,
        human_like=0,
        spread=spread(tables, "offered"),
        spread_csv=spread(tables, "csv"),
        uncertainty=change_against_uncertainty(found, tables, options.entropy),
        topics=by_topic(found, topics) if topics else (),
        draws=over_draws(each, [table.draw for table in tables], options.alpha),
        dropped=dropped(tables),
        warnings=tuple(dict.fromkeys(warning for table in tables for warning in table.warnings)),
    )


def _mean_of_draws(draws: Sequence[Deltas]) -> Deltas:
    """Return each question's mean shares over the draws in which it takes part; the question stays the test's unit.

    A draw that was put to some questions alone says nothing about the others, so these keep the draws that they have.
    What is not among the first of a file in one draw takes no part in any, or `paper` would be about more questions.
    """
    if len(draws) == 1:
        return draws[0]
    reasons = {one.key: one.reason for draw in draws for one in draw.left_out}
    cut = {one.key for draw in draws for one in draw.left_out if one.reason == NOT_FIRST}
    keys = tuple(key for key in dict.fromkeys(key for draw in draws for key in draw.keys) if key not in cut)
    place = {key: row for row, key in enumerate(keys)}
    shares, answers = np.zeros((2, len(keys), 2))
    times = np.zeros(len(keys), dtype=np.int64)
    for draw in draws:
        kept = np.array([key in place for key in draw.keys], dtype=np.bool_)
        rows = np.array([place[key] for key in draw.keys if key in place], dtype=np.int64)
        shares[rows] += draw.shares[kept]
        answers[rows] += draw.answers[kept]
        times[rows] += 1
    return replace(
        draws[0],
        keys=keys,
        shares=shares / times[:, None],
        answers=answers,
        draws=times,
        left_out=tuple(LeftOut(key, reason) for key, reason in reasons.items() if key not in place),
    )


def _adjusted(cells: Sequence[Cell], options: ChangeOptions) -> list[Cell]:
    """Return the cells with their p values adjusted and what follows from them."""
    p = np.array([cell.delta.p for cell in cells])
    family = np.array([_in_family(cell, options) for cell in cells], dtype=np.bool_)
    p[family] = holm(p[family])
    at = {cell.place: row for row, cell in enumerate(cells)}
    for row, cell in enumerate(cells):
        if _repeats(cell):
            p[row] = p[at[cell.deltas.source, cell.condition, cell.variant]]
    return [_marked(cell, float(each), options) for cell, each in zip(cells, p, strict=True)]


def _in_family(cell: Cell, options: ChangeOptions) -> bool:
    if options.holm == "none" or (options.holm == "biases" and cell.condition is not None):
        return False
    return not _repeats(cell)


def _repeats(cell: Cell) -> bool:
    """Return whether this is another cell's test, number by number, and no test of its own."""
    return cell.copied and cell.deltas.definition is not Definition.CORRECTED


def _marked(cell: Cell, p: float, options: ChangeOptions) -> Cell:
    effect = _effect(cell.delta, p, options.alpha)
    turned = effect * human_sign(cell.bias, options.definition) if cell.condition is None else 0
    return replace(cell, p_adjusted=p, effect=effect, human_like=_SIGN[turned])


def _effect(test: MeanTest, p: float, alpha: float) -> Effect:
    """Return the side of 0 to which a significant change lies; without a test there is none."""
    if not p < alpha:
        return 0
    return 1 if test.mean > 0 else -1


def _likeness(bias: Cell, cells: Sequence[Cell]) -> HumanLikeness:
    mine = {cell.condition: cell for cell in cells if cell.bias is bias.bias and not cell.variant}
    perturbed = tuple(each for each in Perturbation if each in mine and mine[each].effect != 0)
    untested = tuple(each for each in Perturbation if each not in mine or not mine[each].judged)
    return HumanLikeness(bias.bias, bias.human_like, perturbed, untested, bias.judged)
