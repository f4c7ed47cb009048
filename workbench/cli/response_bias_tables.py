"""Response biases as tables of text: the matrix of biases and models, and every cell of it in numbers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from workbench.audits.response_bias_formula import lent_said
from workbench.cli.output import in_columns, room, say, say_wrapped, table
from workbench.cli.questionnaire_fit import GAP, Form, print_fitting
from workbench.cli.response_bias_format import (
    ENTROPIES,
    NOTHING,
    amount,
    correlation,
    definition_said,
    marked,
    mean,
    most_human_like,
    plain_number,
    points,
    probability,
    score,
    score_as_published,
    t_value,
    test_said,
    undefined_said,
    worded,
)
from workbench.cli.response_bias_names import CONDITIONS, kind_said, place_said
from workbench.cli.response_bias_shown import PEOPLE, VALIDITY, Shown
from workbench.domain.counting import plural
from workbench.figures.visible import visible

if TYPE_CHECKING:
    from workbench.audits.response_bias_figures import Cell, Report
    from workbench.pipeline.response_bias import ResponseBiasJudged, Subject

NARROWEST = 12
"columns of a model in the matrix: `-59.5 *** -`"
NOT_ASKED = f"{NOTHING} not asked"
PUBLISHED = "score as published (sign)"


def print_head(judged: ResponseBiasJudged) -> None:
    """Say which questions were asked and in which ways."""
    say(f"{judged.instrument.name}: {plural(len(judged.pairs), 'question')}")
    for name, subject in judged.subjects.items():
        say_wrapped(f"{name} · {subject_said(subject)}")


def subject_said(subject: Subject) -> str:
    """Return how a subject was asked."""
    questions = sum(len(one.keys) for one in subject.tables)
    pairs = f"{plural(questions, 'pair')} of answered forms"
    if subject.run is None:
        return f"answers imported · {pairs}"
    run = subject.run
    drawn = "probabilities of the next token" if subject.way == "exact" else f"sampled, {run.sampling}"
    least = "" if subject.short else "at least "
    wanted = f" · {least}{subject.wanted} valid answers a prompt" if subject.wanted else ""
    version = "" if run.served_as else f"{run.version} · "  # a served subject's name has its snapshot
    return f"{version}{run.computed} · {drawn}{wanted} · template {subject.template} · {pairs}"


def print_basis(judged: ResponseBiasJudged, shown: Shown) -> None:
    """Say what the figures rest on: definition, tests, and whatever is odd."""
    options = judged.choice.options
    if set(shown.views) - {VALIDITY, PEOPLE}:
        say()
        say_wrapped(definition_said(options.definition))
        say_wrapped(test_said(options))
        if any(cell.copied for report in judged.reports.values() for cell in shown.cells(report)):
            say_wrapped(f"Opinion float under errors of typing: {lent_said(options.definition)}.")
    for note in shown.notes(judged):
        say_wrapped(f"- {note}")


def print_matrix(judged: ResponseBiasJudged, shown: Shown) -> None:
    """Print biases by models, the perturbations beneath each bias, the score and what is most human-like."""
    say()
    alpha = judged.choice.options.alpha
    say(f"Mean change in percentage points; * p < {alpha:g}, ** p < 0.01, *** p < 0.001")
    lines = tuple(_lines(judged, shown))
    headers = ("", *judged.reports)
    full = Form(headers, [(line.title, *line.full) for line in lines])
    columns = room()
    if full.width <= columns:
        print_fitting(full)
    else:
        for part in _parts(Form(headers, [(line.title, *line.short) for line in lines]), columns):
            table(part.headers, part.rows, whole=1)
        say_wrapped(
            "+ human-like, - opposite; of perturbations above and below 0, though people overlook them; no sign: not "
            f"significant. In words and with the number of questions: {in_columns(full.width)}"
        )
    _explain_summary(judged, shown)


def _parts(form: Form, columns: int) -> Iterator[Form]:
    """Yield a table in parts that have room for their models; one that has none gets a part of its own."""
    first = max(len(visible(row[0])) for row in form.rows)
    at = 1
    while at < len(form.headers):
        until, width = at, first
        while until < len(form.headers) and (until == at or width + GAP + _narrow(form, until) <= columns):
            width += GAP + _narrow(form, until)
            until += 1
        yield Form(("", *form.headers[at:until]), [(str(row[0]), *map(str, row[at:until])) for row in form.rows])
        at = until


def _narrow(form: Form, place: int) -> int:
    """Return the columns that a model needs; a name of several words may stand on several lines."""
    words = [len(word) for word in visible(form.headers[place]).split()]
    return max(NARROWEST, *words, *(len(visible(row[place])) for row in form.rows))


class _Line(NamedTuple):
    """A row of the matrix, a cell each model, in words and without."""

    title: str
    full: Sequence[str]
    short: Sequence[str]


def _lines(judged: ResponseBiasJudged, shown: Shown) -> Iterator[_Line]:
    reports = tuple(judged.reports.values())
    places = shown.places(judged)
    for bias, variant in dict.fromkeys((place[0], place[2]) for place in places):
        if (bias, None, variant) not in places:  # its errors of typing alone were asked, or are shown
            missing = [NOT_ASKED if None in shown.conditions else ""] * len(reports)
            yield _same(kind_said(bias, variant), missing)
        for place in (place for place in places if (place[0], place[2]) == (bias, variant)):
            title = f"  {CONDITIONS[place[1]]}" if place[1] else kind_said(bias, variant)
            found = [report.find(*place) for report in reports]
            yield _Line(title, [worded(cell) for cell in found], [marked(cell) for cell in found])
        likeness = [{one.bias: one for one in shown.likeness(report)}.get(bias) for report in reports]
        if not variant and any(likeness):
            yield _same("  most human-like", [most_human_like(one) if one else NOTHING for one in likeness])
    if _whole(judged, shown):
        yield _same("score", [score(report) for report in reports])
        if _signs_differ(judged):
            yield _same(PUBLISHED, [score_as_published(report) for report in reports])


def _same(title: str, cells: Sequence[str]) -> _Line:
    return _Line(title, cells, cells)


def _whole(judged: ResponseBiasJudged, shown: Shown) -> bool:
    return all(shown.scored(report) for report in judged.reports.values())


def _signs_differ(judged: ResponseBiasJudged) -> bool:
    return any(report.score.signed != report.score.human_like for report in judged.reports.values())


def _explain_summary(judged: ResponseBiasJudged, shown: Shown) -> None:
    if any(shown.likeness(report) for report in judged.reports.values()):
        say_wrapped(
            "Most human-like: significant as with people, and no perturbation changes anything; open: a test is "
            "missing."
        )
    if _whole(judged, shown):
        published = f" {PUBLISHED.capitalize()}: above 0 +1, below 0 -1." if _signs_differ(judged) else ""
        say_wrapped(f"Score: sum over the significant biases, human-like +1, opposite -1.{published}")


def print_cells(judged: ResponseBiasJudged, shown: Shown) -> None:
    """Print each cell of each model with its test, its entropy and what does not count."""
    for name, report in judged.reports.items():
        cells = tuple(shown.cells(report))
        if not cells:
            continue
        say()
        say(f"{name}: change in percentage points")
        _print_tests(report, cells)
        say()
        say(f"{name}: normalised entropy H of the answers, {ENTROPIES[report.options.entropy]}")
        _print_entropies(report, cells)
        _explain_cells(cells)


def _print_tests(report: Report, cells: Sequence[Cell]) -> None:
    adjusted = report.options.holm != "none"
    full = ["", "n", "mean [95 %]", "t (df)", "p", *(["p adjusted"] if adjusted else []), "", "left out"]
    print_fitting(
        Form(full, [_test_cells(cell, adjusted, cell.said, t_value(cell.delta)) for cell in cells]),
        Form(
            [*full[:3], *full[4:-2], "*"],
            [_test_cells(cell, adjusted, cell.mark)[:-1] for cell in cells],
        ),
        whole=1,
    )


def _test_cells(cell: Cell, adjusted: bool, said: str, *t: str) -> tuple[str, ...]:
    return (
        place_said(*cell.place),
        str(cell.delta.n),
        mean(cell.delta, 2),
        *t,
        probability(cell.delta.p),
        *([probability(cell.p_adjusted)] if adjusted else []),
        said,
        str(len(cell.deltas.left_out)),
    )


def _print_entropies(report: Report, cells: Sequence[Cell]) -> None:
    rule = report.options.entropy
    full = ["", "H(q)", "H(q')", "change [95 %]", "p", "r", "p of r", "blank", "not offered", "drawn again"]
    print_fitting(
        Form(full, [_entropy_cells(cell, rule) for cell in cells]),
        Form([*full[:3], "change", *full[4:7]], [_entropy_cells(cell, rule, short=True) for cell in cells]),
        whole=1,
    )


def _entropy_cells(cell: Cell, rule: str, *, short: bool = False) -> tuple[str, ...]:
    spread = cell.spread if rule == "offered" else cell.spread_csv
    change = spread.change
    reach = "" if short or math.isnan(change.low) else f" [{points(change.low, 3)}, {points(change.high, 3)}]"
    cells = (
        place_said(*cell.place),
        plain_number(spread.original),
        plain_number(spread.changed),
        points(change.mean, 3) + reach,
        probability(change.p),
        correlation(cell.uncertainty),
        probability(cell.uncertainty.p),
    )
    dropped = cell.dropped
    return cells if short else (*cells, str(dropped.blank), str(dropped.not_offered), amount(round(dropped.invalid)))


def _explain_cells(cells: Sequence[Cell]) -> None:
    say_wrapped(
        "r: of |change| and H of the original, over questions. Blank, not offered: answers that `corrected` drops."
    )
    if why := undefined_said(cell.uncertainty for cell in cells):
        say_wrapped(why)
    out: dict[str, dict[str, int]] = {}
    for cell in cells:
        for reason, n in Counter(left.reason for left in cell.deltas.left_out).items():
            out.setdefault(reason, {})[place_said(*cell.place)] = n
    for reason, places in out.items():
        say_wrapped(f"left out, {reason}: {'; '.join(f'{place} {n:,}' for place, n in places.items())}")
    for cell in cells:
        if cell.delta.degenerate:
            say(f"{place_said(*cell.place)}: {cell.delta.degenerate}, so there is no test")


def print_topics(judged: ResponseBiasJudged, shown: Shown) -> None:
    """Print the change of each cell by topic."""
    for name, report in judged.reports.items():
        cells = [cell for cell in shown.cells(report) if cell.topics]
        say()
        if not cells:
            say(f"{name}: no question has a topic")
            continue
        say(f"{name}: change by topic in percentage points; p is not adjusted for the number of topics")
        table(
            ["", "topic", "n", "mean [95 %]", "p"],
            [
                (
                    place_said(*cell.place),
                    figure.topic or "(none)",
                    str(figure.delta.n),
                    mean(figure.delta),
                    probability(figure.delta.p),
                )
                for cell in cells
                for figure in cell.topics
            ],
        )


def print_draws(judged: ResponseBiasJudged, shown: Shown) -> None:
    """Print how far several draws of one perturbation differ (appendix A.4)."""
    for name, report in judged.reports.items():
        cells = [cell for cell in shown.cells(report) if cell.condition is not None]
        say()
        if not cells:
            say(f"{name}: no perturbation was asked")
            continue
        say(f"{name}: every draw of the perturbations, mean change in percentage points")
        table(
            ["", "draw", "n", "mean [95 %]", "p"],
            [
                (
                    place_said(*cell.place),
                    str(draw.draw),
                    str(draw.delta.n),
                    mean(draw.delta),
                    probability(draw.delta.p),
                )
                for cell in cells
                for draw in cell.draws.draws
            ],
        )
        for cell in cells:
            if len(cell.draws.draws) > 1:
                say(_draws_said(cell))
        if all(len(cell.draws.draws) == 1 for cell in cells):
            say("Each was drawn once; several draws show how far chance carries.")


def _draws_said(cell: Cell) -> str:
    found = cell.draws
    agree = "all say the same" if found.agree else "they do not say the same"
    asked = f"{plural(cell.fewer_draws, 'question')} asked in fewer draws"
    fewer = f"; {asked}, of which the mean is taken" if cell.fewer_draws else ""
    return (
        f"{place_said(*cell.place)}: mean {points(found.mean)}, sd {plain_number(found.sd, 1)}, "
        f"from {points(found.low)} to {points(found.high)}; {found.significant} of {len(found.draws)} significant, "
        f"{agree}{fewer}"
    )
