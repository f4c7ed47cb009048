"""What stands below the matrix about the cell under the cursor, and everything that is known of it; pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from textual.content import Content

from workbench.audits.response_bias_formula import formula
from workbench.domain.choices import Perturbation
from workbench.domain.counting import plural
from workbench.tui.format import bar, percent, visible
from workbench.tui.screens.response_bias_around import ENTROPY_WORDS
from workbench.tui.screens.response_bias_format import (
    BIAS_NAMES,
    CONDITION_NAMES,
    CONDITION_SHORT,
    brief,
    changed_by,
    correlation_words,
    interval,
    p_words,
    place_name,
    share,
    signed,
    stars,
    t_words,
)
from workbench.tui.screens.response_bias_tables import AS_PUBLISHED, human_like
from workbench.tui.screens.response_bias_view import (
    LIKENESS,
    PEOPLE,
    SCORE,
    SIGNED,
    VALID,
    Loaded,
    Place,
    Shown,
    cell_of,
    place_of,
)

if TYPE_CHECKING:
    from workbench.audits.response_bias_compare import Row, SamplingAgreement
    from workbench.audits.response_bias_figures import Cell, HumanLikeness, Report
    from workbench.audits.response_bias_people import Representativeness
    from workbench.audits.response_bias_uncertainty import Spread, ValidShares

DIM = "$text-muted"


def details(shown: Shown, loaded: Loaded, key: str | None) -> Content:
    """Return what is said of a row for the chosen subject, in the lines that a small terminal has room for."""
    place = place_of(key)
    if key is None or loaded.judged is None:
        return Content()
    lines = _summary(key, loaded, shown) if place is None else _brief(place, shown, loaded)
    return Content("\n").join(lines)


def everything(shown: Shown, loaded: Loaded, key: str | None) -> Content:
    """Return all that is known of a row for the chosen subject."""
    place = place_of(key)
    if key is None or loaded.judged is None:
        return Content()
    if place is None:
        return Content("\n").join(_summary(key, loaded, shown, whole=True))
    cell = cell_of(loaded, shown.look.subject, place)
    lines = [*_brief(place, shown, loaded)]
    if cell is not None:
        rule = formula(place, cell.deltas.definition, cell.deltas.source)
        lines += [
            Content.styled(f"Δ by the definition {cell.deltas.definition}: {rule}", DIM),
            Content(),
            *_draws(cell),
            *_topics(cell),
            *_entropies(cell, loaded.settings.entropy),
            *_left_out(cell, _way(loaded, shown), whole=True),
        ]
    return Content("\n").join(lines)


# ── one cell ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _brief(place: Place, shown: Shown, loaded: Loaded) -> Iterator[Content]:
    subject = shown.look.subject
    cell, report = cell_of(loaded, subject, place), loaded.report(subject)
    if cell is None or report is None:
        yield _named(place_name(place), subject, "")
        yield Content.styled(f"{visible(subject)} has no answers for this", DIM)
        return
    yield _named(place_name(place), subject, _mean(cell) if cell.delta.n else "")
    yield Content.assemble((cell.said, "bold"), (_test(cell, report), DIM))
    if (difference := shown.difference(place)) is not None:
        yield _difference(difference)
    if (agreement := shown.agreements.get(place)) is not None and agreement.n:
        yield _agreement(agreement)
    if place[1] is None and not place[2]:
        yield _beneath(cell, report)
    elif len(cell.draws.draws) > 1:
        yield _draw_line(cell)
    if cell.copied:
        yield Content.styled(_copied(cell), "$text-warning")
    for warning in cell.warnings:
        yield Content.styled(f"warning: {visible(warning)}", "$text-warning")
    yield from _left_out(cell, _way(loaded, shown))
    if cell.delta.n:
        found = cell.uncertainty
        related = "no r" if math.isnan(found.r) else f"r = {found.r:+.2f}, {p_words(found.p)}"
        yield Content.styled(f"entropy {_spread(cell.spread)}; with |Δ| {related}", DIM)


def _named(name: str, subject: str, said: str) -> Content:
    return Content.assemble((name, "bold"), "  ", (visible(subject), "$text-accent"), f"  {said}")


def _mean(cell: Cell) -> str:
    return " ".join(filter(None, (signed(cell.delta.mean), interval(cell.delta))))


def _test(cell: Cell, report: Report) -> str:
    """Return `n 271, t(270) = 19.32, p < .0001`, with what Holm's procedure makes of p."""
    test, options = cell.delta, report.options
    if not test.n:
        return ""
    said = f" · n {test.n:,} · {t_words(test)} · {p_words(test.p)}"
    if options.holm != "none" and not math.isnan(cell.p_adjusted):
        counted = options.holm == "all" or cell.condition is None
        said += f" · {p_words(cell.p_adjusted, 'Holm p')}" if counted else " · not adjusted"
    return f"{said} · {test.degenerate}" if test.degenerate else said


def _beneath(cell: Cell, report: Report) -> Content:
    """Return the perturbations of a bias in a line, and what they say of it."""
    found = {each: report.find(cell.bias, each) for each in Perturbation}
    said = ", ".join(f"{CONDITION_SHORT[each]} {brief(one) if one else 'not asked'}" for each, one in found.items())
    like = human_like(report, cell.bias)
    words = ""
    if cell.human_like == 1:
        says = {True: "✓ most human-like", False: "they move it too", None: "most human-like unless they move it"}
        words = says[like]
    return Content.assemble(("typos: ", DIM), said, (f" → {words}" if words else "", "bold"))


def _draw_line(cell: Cell) -> Content:
    found = cell.draws
    each = ", ".join(f"{signed(one.delta.mean)}{'*' * (one.effect != 0)}" for one in found.draws[:8])
    agree = "they agree" if found.agree else "they do not agree"
    more = f", … {len(found.draws)} in all" if len(found.draws) > 8 else ""
    sd = "" if math.isnan(found.sd) else f" · sd {found.sd:.1f}"
    fewer = f" · {cell.fewer_draws:,} in fewer" if cell.fewer_draws else ""
    return Content.assemble((f"{len(found.draws)} draws", "bold"), f" {each}{more}{sd} · {agree}{fewer}")


def _copied(cell: Cell) -> str:
    whose = BIAS_NAMES[cell.deltas.source]
    rule = (
        "by its own formula" if cell.deltas.definition == "corrected" else f"{whose}'s figures repeated, as published"
    )
    return f"answers to the perturbed questions of {whose}, {rule}"


def _spread(found: Spread) -> str:
    surely = stars(found.change.p, significant=found.change.p < 0.05)
    reach = ""
    if not math.isnan(found.change.low):
        reach = f" [{changed_by(found.change.low)}, {changed_by(found.change.high)}]"
    change = f"{changed_by(found.change.mean)}{reach} {surely}".rstrip()
    return f"{share(found.original)} → {share(found.changed)}, {change}"


def _left_out(cell: Cell, way: str, *, whole: bool = False) -> Iterator[Content]:
    reasons = Counter(one.reason for one in cell.deltas.left_out)
    dropped = cell.dropped
    said = []
    if reasons:
        said.append(
            f"left out {sum(reasons.values())}: " + "; ".join(f"{reason} ({n})" for reason, n in reasons.items())
        )
    if dropped.blank or dropped.not_offered:
        counted = "not counted" if cell.deltas.definition == "corrected" else "counted by this definition"
        named = [f"{dropped.blank:,} blank"] * bool(dropped.blank)
        named += [f"{dropped.not_offered:,} of letters not offered"] * bool(dropped.not_offered)
        said.append(f"{' and '.join(named)} in {plural(dropped.questions, 'question')}, {counted}")
    if dropped.invalid >= 0.5 and way != "exact":
        said.append(f"{plural(round(dropped.invalid), 'answer')} drawn again")
    if said and not whole:
        yield Content.styled(visible(" · ".join(said)), "$text-warning")
    elif said:
        yield Content.styled("Left out and not counted", "bold")
        yield from (Content(f"  {visible(line)}") for line in said)
        yield from (Content.styled(f"  {visible(one.key)}: {one.reason}", DIM) for one in cell.deltas.left_out)


def _way(loaded: Loaded, shown: Shown) -> str:
    return loaded.judged.subjects[shown.look.subject].way if loaded.judged else ""


def _counted(reasons: Counter[str]) -> str:
    return "; ".join(f"{reason} ({n})" for reason, n in reasons.items())


def _difference(found: Row) -> Content:
    test = found.change
    if math.isnan(test.mean):
        return Content.assemble(("B − A", "bold"), "  no question takes part in both")
    turned = " · ⇄ to opposite sides" if found.turned else ""
    out = f", left out A {found.left_out[0]:,}, B {found.left_out[1]:,}" if any(found.left_out) else ""
    said = f"{signed(test.mean)} {interval(test)}, {p_words(test.p)}, n {test.n:,} common{out}"
    return Content.assemble(("B − A", "bold"), f"  {said}{turned}")


def _agreement(found: SamplingAgreement) -> Content:
    """Say whether samples are what the exact probabilities lead one to expect."""
    said = f"  {signed(found.sampled)} sampled, {signed(found.exact)} exact: "
    if math.isnan(found.z):
        return Content.assemble(("samples", "bold"), f"{said}no z, because sampling has no error here")
    apart = " ✗ apart" if found.p < 0.05 else " ✓ as chance has it"
    return Content.assemble(("samples", "bold"), f"{said}z = {found.z:+.2f}, {p_words(found.p)}{apart}")


# ── everything ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _draws(cell: Cell) -> Iterator[Content]:
    if len(cell.draws.draws) < 2:
        return
    found = cell.draws
    yield Content.styled("Draws of the perturbation", "bold")
    for one in found.draws:
        test = one.delta
        said = "significant" if one.effect else "not significant" if test.tested else f"no test: {test.degenerate}"
        yield Content(f"  {one.draw:>3}  {signed(test.mean):>6} {interval(test):<16} {p_words(test.p)}  {said}")
    sd = "" if math.isnan(found.sd) else f", sd {found.sd:.2f}"
    yield Content(f"  mean {signed(found.mean)}{sd}, from {signed(found.low)} to {signed(found.high)}")
    if cell.fewer_draws:
        asked = f"{plural(cell.fewer_draws, 'question')} asked in fewer draws"
        yield Content(f"  {asked}: a question's change is the mean over those that it has")
    yield Content()


def _topics(cell: Cell) -> Iterator[Content]:
    if not cell.topics:
        return
    yield Content.styled("By topic", "bold")
    width = min(26, max(len(visible(one.topic)) for one in cell.topics) + 1)
    for one in cell.topics:
        name = visible(one.topic) or "(no topic)"
        name = name if len(name) < width else f"{name[: width - 2]}…"
        test = one.delta
        yield Content(
            f"  {name:<{max(width, 11)}} {signed(test.mean):>6} {interval(test):<16} n {test.n:>3}  {p_words(test.p)}"
        )
    yield Content()


def _entropies(cell: Cell, rule: str) -> Iterator[Content]:
    yield Content.styled("Normalised entropy of the answers (0: all alike, 1: spread evenly)", "bold")
    yield Content(f"  by the options offered  {_spread(cell.spread)}")
    yield Content(f"  as published            {_spread(cell.spread_csv)}")
    yield Content(f"  {ENTROPY_WORDS[rule]} with |Δ| over questions: {correlation_words(cell.uncertainty)}")
    yield Content()


# ── below the biases ────────────────────────────────────────────────────────────────────────────────────────────────


def _summary(key: str, loaded: Loaded, shown: Shown, *, whole: bool = False) -> Iterator[Content]:
    subject = shown.look.subject
    report, judged = loaded.report(subject), loaded.judged
    if report is None or judged is None:
        return
    if key in (SCORE, SIGNED):
        yield from _score(report, subject, signed=key == SIGNED)
    elif key == LIKENESS:
        yield from _likeness(report, subject, whole=whole)
    elif key == VALID:
        yield from _validity(judged.validity[subject], subject, judged.subjects[subject].way, whole=whole)
    elif key == PEOPLE and (found := judged.people.get(subject)) is not None:
        yield from _people(found, subject, whole=whole)
    elif key == PEOPLE:
        yield _named("like people", subject, "no human shares of the questions that it answered")


def _score(report: Report, subject: str, *, signed: bool) -> Iterator[Content]:
    found = report.score
    name, points = (AS_PUBLISHED, found.signed) if signed else ("score", found.human_like)
    over = f"{_points(points)} over {_biases(found.biases)}" if found.biases else "no bias has a test"
    yield _named(name, subject, over)
    biases = [cell for cell in report.cells if cell.scored]
    each = ((cell, cell.effect if signed else cell.human_like) for cell in biases)
    yield Content(" · ".join(f"{BIAS_NAMES[cell.bias]} {_one(cell, points)}" for cell, points in each))
    told = "+1 for each bias that is significant as people show it, −1 for each that is against it"
    if signed:
        told = "+1 for each bias that is significant above 0, −1 below 0; allow/forbid is reversed here"
    yield Content.styled(told, DIM)


def _one(cell: Cell, points: int) -> str:
    """Return what a bias adds to a score; nothing where it has no test."""
    return _points(points) if cell.delta.n > 1 else "– no test"


def _points(value: int) -> str:
    return f"{value:+d}" if value else "0"


def _biases(n: int) -> str:
    return f"{n} {'bias' if n == 1 else 'biases'}"


def _likeness(report: Report, subject: str, *, whole: bool) -> Iterator[Content]:
    found = [one.most_human_like for one in report.likeness]
    said = f"{found.count(True)} of {_biases(len(found))}" if set(found) - {None} else "open"
    yield _named("most human-like", subject, said)
    for one in report.likeness:
        yield Content.assemble((f"  {BIAS_NAMES[one.bias]:<15}", "bold"), _why(one))
    if whole:
        told = "a bias moves it as it moves people, and no error of typing, which people overlook, does"
        yield Content.styled(told, DIM)


def _why(found: HumanLikeness) -> str:
    if not found.tested:
        return "open: too few questions for a test"
    if found.human_like != 1:
        return "no: not significant" if found.human_like == 0 else "no: significant against people"
    if found.perturbed:
        moves = "moves" if len(found.perturbed) == 1 else "move"
        return f"no: {', '.join(CONDITION_NAMES[one] for one in found.perturbed)} {moves} it too"
    if found.untested:
        return f"open: {', '.join(CONDITION_NAMES[one] for one in found.untested)} not tested"
    return "yes ✓"


def _validity(found: ValidShares, subject: str, way: str, *, whole: bool) -> Iterator[Content]:
    of = "the probability is on offered letters" if way == "exact" else "the answers were an offered letter"
    yield _named("valid answers", subject, f"{percent(found.mean, digits=1)} of {of}")
    yield Content.styled(f"mean over {plural(found.shares.size, 'question')} of all biases and typos", DIM)
    if way == "imported":
        said = "imported: answers that were drawn again there are counted only where the source kept them"
        yield Content.styled(said, "$text-warning")
    if found.without:
        yield Content.styled(f"{plural(found.without, 'question')} without any valid answer", "$text-warning")
    counts = [int(found.histogram[start : start + 2].sum()) for start in range(0, 10, 2)]
    spans = [f"{start}–{start + 20} %" for start in range(0, 100, 20)]
    if not whole:
        said = " · ".join(f"{span}: {n:,}" for span, n in zip(spans, counts, strict=True) if n)
        yield Content(f"questions by their share: {said or 'none'}")
        return
    for span, n in zip(spans, counts, strict=True):
        yield Content(f"  {span:>8}  {bar(n, found.shares.size, 20)} {plural(n, 'question'):>13}")


def _people(found: Representativeness, subject: str, *, whole: bool) -> Iterator[Content]:
    from workbench.audits.response_bias_people import INTERVAL

    mean = found.mean
    reach = "" if math.isnan(mean.low) else f" [{share(mean.low)}, {share(mean.high)}]"
    said = f"representativeness {share(mean.value)}{reach} over {plural(mean.n, 'question')}"
    yield _named("like people", subject, said)
    yield Content.styled("1: the answers to the original are shared out as people's are; 0: at the other end", DIM)
    if whole and reach:
        yield Content.styled(f"[ ]: {INTERVAL}", DIM)
    reasons = Counter(one.reason for one in found.left_out)
    if reasons:
        yield Content.styled(f"left out: {_counted(reasons)}", DIM)
    ranked = sorted(found.alignments, key=lambda one: one[1])
    if whole:
        yield from (Content(f"  {share(value)}  {visible(key)}") for key, value in ranked)
    elif ranked:
        least = " · ".join(f"{visible(key)} {share(value)}" for key, value in ranked[:3])
        yield Content.styled(f"least alike: {least}", DIM)
