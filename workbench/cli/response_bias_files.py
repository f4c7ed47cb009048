"""Response biases as CSV files: a file a view, a row a figure, with the definition and the level it depends on.

Changes are percentage points; a figure that is undefined has no value.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from workbench.cli.response_bias_questions import found_questions
from workbench.cli.response_bias_shown import CELLS, DRAWS, MATRIX, PEOPLE, TOPICS, VALIDITY, Shown
from workbench.csv_files import csv_text, guarded

if TYPE_CHECKING:
    from stores.store import Store
    from workbench.audits.response_bias_figures import Cell, Options
    from workbench.pipeline.response_bias import Place, ResponseBiasJudged
    from workbench.stats.correlation import Pearson
    from workbench.stats.one_sample import MeanTest

Row = Mapping[str, object]
UNIT = "percentage points"
"of a mean change, its interval and its deviation; what stands under other names is a share, from 0 to 1"


def view_files(store: Store, judged: ResponseBiasJudged, shown: Shown) -> dict[str, str]:
    """Return the files by their names: one for each view that was asked for, the matrix as `cells` and `scores`.

    A file without a row is empty. Questions of a single cell, and the answers to a single question, have a name
    that says whose.
    """
    views = set(shown.views)
    made: dict[str, Iterator[Row]] = {}
    if views & {MATRIX, CELLS}:
        made |= {"cells": _cells(judged, shown), "scores": _scores(judged, shown), "likeness": _likeness(judged, shown)}
    if TOPICS in views:
        made["topics"] = _topics(judged, shown)
    if DRAWS in views:
        made["draws"] = _draws(judged, shown)
    if VALIDITY in views:
        made["validity"] = _validity(judged)
    if PEOPLE in views:
        made["people"] = _people(judged)
    if shown.listed:
        one = f"-{_named(shown.listed[0])}" if len(shown.listed) == 1 else ""
        made[f"questions{one}"] = (row for place in shown.listed for row in _questions(judged, place))
    if shown.question is not None:
        made[f"answers-{_named(shown.question, shown.key)}"] = _answers(store, judged, shown)
    if shown.compared is not None:
        made |= {"compared": _compared(judged, shown), "sampling": _sampling(judged, shown)}
    return {f"{name}.csv": _text(tuple(rows)) for name, rows in made.items()}


def rows_of(text: str) -> int:
    """Return the number of figures in a file, in whose cells there may be lines."""
    return sum(1 for _ in csv.reader(io.StringIO(text))) - 1


def _named(place: Place, key: str = "") -> str:
    """Return `odd_even-key_typo-GAP_W82`, for a file's name."""
    bias, condition, variant = place
    return re.sub(r"[^\w.-]+", "_", "-".join(filter(None, (str(bias), variant, condition, key))))


def _text(rows: tuple[Row, ...]) -> str:
    """Return a file of rows that have the same columns; nothing without a row."""
    return csv_text(tuple(rows[0]), [[_text_of(value) for value in row.values()] for row in rows]) if rows else ""


def _text_of(value: object) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value + 0.0:.10g}"  # what is beyond is left by rounding
    return guarded(str(value)) if isinstance(value, str) else repr(value)


def _of(judged: ResponseBiasJudged, name: str) -> Row:
    subject = judged.subjects[name]
    return {"instrument": judged.instrument.name, "model": name, "way": subject.way, "template": subject.template}


def _by(options: Options) -> Row:
    return {
        "definition": str(options.definition),
        "alpha": options.alpha,
        "holm": options.holm,
        "entropy_rule": options.entropy,
    }


def _place(place: Place) -> Row:
    bias, condition, variant = place
    return {"bias": str(bias), "variant": variant, "condition": str(condition or "bias")}


def _test(test: MeanTest) -> Row:
    names = ("n", "mean", "low", "high", "sd", "t", "df", "p", "degenerate")
    return {"unit": UNIT} | {name: getattr(test, name) for name in names}


def _pearson(found: Pearson) -> Row:
    return {
        f"r_{name}" if name != "r" else name: getattr(found, name) for name in ("r", "t", "df", "p", "n", "untested")
    }


def _each(judged: ResponseBiasJudged, shown: Shown) -> Iterator[tuple[Row, Cell]]:
    for name, report in judged.reports.items():
        for cell in shown.cells(report):
            yield {**_of(judged, name), **_place(cell.place)}, cell


def _cells(judged: ResponseBiasJudged, shown: Shown) -> Iterator[Row]:
    for about, cell in _each(judged, shown):
        yield {
            **about,
            **_test(cell.delta),
            "p_adjusted": cell.p_adjusted,
            "effect": cell.effect,
            "human_like": cell.human_like,
            "said": cell.said,
            "answers_of": str(cell.deltas.source),
            "left_out": len(cell.deltas.left_out),
            "draws": len(cell.draws.draws),
            "with_fewer_draws": cell.fewer_draws,
            **_entropies(cell),
            **_pearson(cell.uncertainty),
            "blank": cell.dropped.blank,
            "not_offered": cell.dropped.not_offered,
            "questions_with_these": cell.dropped.questions,
            "drawn_again": cell.dropped.invalid,
            "warnings": "\n".join(cell.warnings),
            **_by(judged.choice.options),
        }


def _entropies(cell: Cell) -> Row:
    found: dict[str, object] = {}
    for name, spread in (("entropy", cell.spread), ("entropy_csv", cell.spread_csv)):
        found |= {
            f"{name}_original": spread.original,
            f"{name}_changed": spread.changed,
            f"{name}_change": spread.change.mean,
            f"{name}_change_low": spread.change.low,
            f"{name}_change_high": spread.change.high,
            f"{name}_change_p": spread.change.p,
        }
    return found


def _scores(judged: ResponseBiasJudged, shown: Shown) -> Iterator[Row]:
    for name, report in judged.reports.items():
        if not shown.scored(report):
            continue
        score = report.score
        numbers = {"score": score.human_like, "score_as_published": score.signed, "biases": score.biases}
        yield {**_of(judged, name), **numbers, **_by(report.options)}


def _likeness(judged: ResponseBiasJudged, shown: Shown) -> Iterator[Row]:
    for name, report in judged.reports.items():
        for one in shown.likeness(report):
            yield {
                **_of(judged, name),
                "bias": str(one.bias),
                "human_like": one.human_like,
                "perturbed": " ".join(one.perturbed),
                "untested": " ".join(one.untested),
                "most_human_like": one.most_human_like,
                **_by(report.options),
            }


def _topics(judged: ResponseBiasJudged, shown: Shown) -> Iterator[Row]:
    for about, cell in _each(judged, shown):
        for figure in cell.topics:
            yield {**about, "topic": figure.topic, **_test(figure.delta), **_by(judged.choice.options)}


def _draws(judged: ResponseBiasJudged, shown: Shown) -> Iterator[Row]:
    for about, cell in _each(judged, shown):
        for draw in cell.draws.draws if cell.condition is not None else ():
            effect = {"effect": draw.effect}
            yield {**about, "draw": draw.draw, **_test(draw.delta), **effect, **_by(judged.choice.options)}


def _validity(judged: ResponseBiasJudged) -> Iterator[Row]:
    for name, found in judged.validity.items():
        bins = len(found.histogram)
        for n, count in enumerate(map(int, found.histogram)):
            share = {"from": n / bins, "to": (n + 1) / bins, "questions": count}
            yield {**_of(judged, name), **share, "mean": found.mean, "without": found.without}


def _people(judged: ResponseBiasJudged) -> Iterator[Row]:
    for name, found in judged.people.items():
        of_all = {"mean": found.mean.value, "low": found.mean.low, "high": found.mean.high, "n": found.mean.n}
        for key, likeness in found.alignments:
            yield {**_of(judged, name), "key": key, "likeness": likeness, "left_out": "", **of_all}
        for left in found.left_out:
            yield {**_of(judged, name), "key": left.key, "likeness": None, "left_out": left.reason, **of_all}


def _questions(judged: ResponseBiasJudged, place: Place) -> Iterator[Row]:
    from workbench.pipeline.response_bias_questions import questions

    for name, report in judged.reports.items():
        for row in questions(judged, name, place) if report.find(*place) is not None else ():
            yield {
                **_of(judged, name),
                **_place(place),
                "key": row.key,
                "topic": row.topic,
                "unit": UNIT,
                "delta": row.delta,
                "left_out": row.left_out,
                "draws": row.over_draws,
                "entropy": row.entropy,
                "valid_original": row.valid[0],
                "valid_changed": row.valid[1],
                "question": row.stem,
                **_by(judged.choice.options),
            }


def _answers(store: Store, judged: ResponseBiasJudged, shown: Shown) -> Iterator[Row]:
    """Yield a row an option; below them, without a share, the letters that were not offered and invalid answers."""
    for name, found in found_questions(store, judged, shown).items():
        about = {**_of(judged, name), **_place((found.bias, found.condition, found.variant))}
        for arm in (found.original, found.changed):
            of_arm = {**about, "key": found.row.key, "draw": found.draw, "form": str(arm.arm)}
            for option in arm.options:
                yield {
                    **of_arm,
                    "letter": option.letter,
                    "letter_in_original": option.original,
                    "offered": True,
                    "count": option.count,
                    "share": option.share,
                    "probability": option.probability,
                    "option": option.text,
                }
            others = [*arm.others, *([("", arm.invalid)] if arm.invalid else [])]
            for letter, count in others:
                rest = {"count": float(count), "share": None, "probability": None, "option": ""}
                yield {**of_arm, "letter": letter, "letter_in_original": "", "offered": False, **rest}


def _compared(judged: ResponseBiasJudged, shown: Shown) -> Iterator[Row]:
    from workbench.pipeline.response_bias import compared

    assert shown.compared is not None
    first, second = shown.compared
    for row in compared(judged, first, second).rows:
        yield {
            "instrument": judged.instrument.name,
            "first": first,
            "second": second,
            "bias": str(row.bias),
            "variant": row.variant,
            "mean_first": row.first.mean,
            "n_first": row.first.n,
            "mean_second": row.second.mean,
            "n_second": row.second.n,
            **_test(row.change),
            **_pearson(row.questions),
            "turned": row.turned,
            **_by(judged.choice.options),
        }


def _sampling(judged: ResponseBiasJudged, shown: Shown) -> Iterator[Row]:
    from workbench.pipeline.response_bias import sampling_agreements

    assert shown.compared is not None
    for place, found in sampling_agreements(judged, *shown.compared).items():
        numbers = {name: getattr(found, name) for name in ("n", "sampled", "exact", "error", "z", "p", "mean_square")}
        yield {"instrument": judged.instrument.name, **_place(place), **numbers}
