"""What stands below a view about the row under the cursor; pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from textual.content import Content

from workbench.domain.counting import plural
from workbench.domain.questionnaires import LEAST_RESPONDENTS, Pole, Question
from workbench.domain.verdicts import Estimate
from workbench.tui.format import percent, visible
from workbench.tui.screens.questionnaire_format import (
    DOWN,
    FEW,
    NONE,
    OLD,
    UP,
    interval,
    people_words,
    points,
    pole_words,
    side_of_people,
)
from workbench.tui.screens.questionnaire_tables import (
    ablation_targets,
    all_targets,
    condition_words,
    figure_of,
    spread_of,
)
from workbench.tui.screens.questionnaire_view import AVERAGE, AXIS, Loaded, Shown, old_prompts

if TYPE_CHECKING:
    from workbench.audits.questionnaire_figures import Difference, Noise, TargetFigure
    from workbench.stats.noise import NoiseFloor

MARKS = f"{UP} {DOWN} the 95 % interval over respondents leaves out {{}}; {FEW} few respondents"


FEW_IN_MEAN = (
    f"{FEW} a question of it has fewer than {LEAST_RESPONDENTS} respondents: too few to tell the mean from chance"
)
SURE = 0.05
"level below which a correlation has a direction"


def details(shown: Shown, loaded: Loaded, key: str | None, width: int) -> Content:
    """Return what is said of a row of a view, `width` columns wide."""
    if key is None:
        return Content()
    makers = {"ablation": _ablation, "correlation": _correlation, "axis": _axis}
    lines = list(makers.get(shown.look.view, _question)(shown, loaded, key))
    if shown.look.view == "ablation" and len(named := ablation_targets(shown, width)) < len(all_targets(shown)):
        more = f"{len(named)} of {plural(len(all_targets(shown)), 'question')} have a column; Enter shows all"
        lines.append(Content.styled(more, "$text-muted"))
    return Content("\n").join(lines)


def question_of(loaded: Loaded, ref: str) -> Question | None:
    """Return what the questionnaire says of a target."""
    questions = loaded.judged.questionnaire.questions if loaded.judged else ()
    return next((question for question in questions if question.ref == ref), None)


def _question(shown: Shown, loaded: Loaded, key: str) -> Iterator[Content]:
    look = shown.look
    found = shown.figures.get(look.model)
    if key == AVERAGE:
        yield from _average(shown, loaded)
    elif key == AXIS:
        yield from _axis(shown, loaded, look.model)
    else:
        question = question_of(loaded, key)
        yield Content.assemble((visible(key), "bold"), f"  {visible(loaded.texts.get(key, ''))}")
        figure = figure_of(found, key)
        if figure is None:
            yield Content.styled(f"{visible(look.model)} was not asked this under {look.condition}", "$text-muted")
            return
        leaning = f"; a yes is {question.leaning.value}" if question and question.leaning else ""
        yield Content.styled(f"people: {people_words(figure)}{leaning}", "$text-muted")
        old = old_prompts(loaded, look.model, look.condition, key)
        yield Content.assemble((visible(look.model), "bold"), "  ", *_figure(shown, figure, question, old))
        if old:
            yield Content.styled(_old(old), "$text-warning")
        if other := _asked_of(shown, key):
            yield Content.styled(other, "$text-warning")
        if (difference := shown.difference(key)) is not None:
            yield _difference(shown, difference)
    reference = {"accuracy": "the majority baseline"}.get(look.measure, "0")
    if look.measure in ("bias", "accuracy"):
        yield Content.styled(MARKS.format(reference), "$text-muted")


def _old(prompts: int) -> str:
    behind = f"{plural(prompts, 'prompt')} behind it {'shows' if prompts == 1 else 'show'}"
    return f"{OLD} {behind} what was changed since, so no side is said; n: the notes say how to ask again"


def _figure(shown: Shown, figure: TargetFigure, question: Question | None, old: int) -> Iterator[str]:
    look = shown.look
    if look.measure == "variability":
        spread = spread_of(shown.variability.get(look.model, ()), figure.target)
        if spread is None:
            yield "was asked in its original wording only"
        else:
            sd, rms = _spread(spread.sd, spread.sd_noise), _spread(spread.rms, spread.rms_noise)
            yield f"sd {sd} · rms {rms} over {plural(spread.k, 'wording')}"
            yield f" · ∅ {spread.void} void: the text of the original" if spread.void else ""
        return
    if figure.bias.defined:
        yield " ".join(filter(None, (f"bias {points(figure.bias.value)}", interval(figure.bias))))
        yield f" {said}" if (said := "" if old else towards(figure, question)) else ""
    else:
        yield f"bias undefined: {visible(figure.bias.undefined)}"
    yield f" · accuracy {percent(figure.accuracy.value, digits=1)} {interval(figure.accuracy, sign=False)}"
    yield f" · yes:no {figure.ratio}"
    yield f" · {figure.unreadable} unreadable" if figure.unreadable else ""


def towards(figure: TargetFigure, question: Question | None) -> str:
    """Return the pole that a bias leans to; what keeps one from saying so where people or the interval do."""
    mark = side_of_people(figure.bias)
    if mark == FEW:
        return "few respondents"
    pole = pole_words(figure.bias.value, question.leaning if question else None)
    return pole if mark in (UP, DOWN) else "neither side" if pole else ""


def _asked_of(shown: Shown, key: str) -> str:
    """Say of how many respondents each model was asked where they differ; figures of other people differ by that."""
    counts = {name: figure.respondents for name, of in shown.figures.items() if (figure := figure_of(of, key))}
    if len(set(counts.values())) < 2:
        return ""
    return "not the same people: " + " · ".join(f"{visible(name)} {n:,}" for name, n in sorted(counts.items()))


def _spread(value: Estimate, noise: Noise) -> str:
    if not value.defined:
        return f"undefined ({visible(value.undefined)})"
    known = not math.isnan(noise.alone)
    return points(value.value, sign=False) + (f" (noise alone {points(noise.alone, sign=False)})" if known else "")


def _difference(shown: Shown, found: Difference) -> Content:
    first, second = (visible(name) for name in shown.look.marked)
    said = f"{points(found.bias.value)} {interval(found.bias)} in bias" if found.bias.defined else "bias undefined"
    accuracy = f"{points(found.accuracy.value)} {interval(found.accuracy)} in accuracy"
    turned = "; ⇄ the two are biased to different sides" if found.flipped else ""
    turned += f"; {FEW} few respondents" if side_of_people(found.bias, people=found.respondents) == FEW else ""
    turned += f"; left out A {found.left_out[0]:,}, B {found.left_out[1]:,}" if any(found.left_out) else ""
    return Content.assemble((f"B {second} − A {first}", "bold"), f"  {said} · {accuracy}{turned}")


def _average(shown: Shown, loaded: Loaded) -> Iterator[Content]:  # noqa: ARG001
    found = shown.figures.get(shown.look.model)
    if found is None:
        return
    value = found.absolute_bias
    if value.undefined:
        why = f"  undefined: {visible(value.undefined)}"
        yield Content.assemble((visible(shown.look.model), "bold"), why)
        return
    yield Content.assemble(
        (visible(shown.look.model), "bold"),
        f"  mean |bias| {points(value.value, sign=False)}"
        f" · accuracy {percent(found.accuracy.value, digits=1)} · yes:no {found.yes}:{found.no}"
        f" · {found.unreadable} unreadable",
    )
    yield Content.styled(
        f"p(yes) {percent(found.p_yes, digits=1)}, sd {points(found.p_yes_sd, sign=False)} over all prompts; "
        f"± over {plural(value.n, 'question')}, intervals over respondents",
        "$text-muted",
    )
    if value.few:
        yield Content.styled(FEW_IN_MEAN, "$text-warning")
    yield Content.styled(_noise(value.noise), "$text-muted")
    if (difference := shown.difference(None)) is not None:
        yield _difference(shown, difference)


def _noise(found: NoiseFloor) -> str:
    """Return how much of a mean of |bias| is noise, and whether anything else is there."""
    if math.isnan(found.noise):
        return f"noise in |bias| not known: {found.untested}"
    tested = f"no test: {found.untested}" if found.untested else f"p of no bias at all {_p(found.p)}"
    return (
        f"noise alone gives |bias| {points(found.noise, sign=False)}; size without it (root mean square) "
        f"{points(found.size, sign=False)}; {tested}"
    )


def _axis(shown: Shown, loaded: Loaded, key: str) -> Iterator[Content]:
    found = shown.figures.get(key)
    if found is None:
        return
    axis = found.axis
    if axis.undefined or math.isnan(axis.value):
        yield Content.assemble((visible(key), "bold"), f"  undefined: {visible(axis.undefined) or 'no leaning'}")
        return
    words = {UP: "conservative", DOWN: "liberal", FEW: f"no side: {FEW} few respondents"}.get(
        side_of_people(axis, people=axis.respondents), "neither side: the interval crosses 0"
    )
    old = old_prompts(loaded, key, shown.look.condition)
    side = "" if old else f"  {words}"
    yield Content.assemble((visible(key), "bold"), f"  {points(axis.value)} {interval(axis)}{side}")
    if old:
        yield Content.styled(_old(old), "$text-warning")
    led = [figure for figure in found.targets if (q := question_of(loaded, figure.target)) and q.leaning is not None]
    said = []
    for figure in sorted(led, key=lambda one: -abs(one.bias.value) if one.bias.defined else 0):
        question = question_of(loaded, figure.target)
        towards = -1 if question and question.leaning is Pole.LIBERAL else 1
        said.append(f"{visible(figure.target)} {points(towards * figure.bias.value)}")
    yield Content.styled("by question: " + " · ".join(said), "$text-muted")
    yield Content.styled(
        f"mean bias towards the conservative answer over {plural(axis.n, 'question')} with a leaning", "$text-muted"
    )


def _ablation(shown: Shown, loaded: Loaded, key: str) -> Iterator[Content]:  # noqa: ARG001
    rows = [one for one in shown.ablations if str(one.condition) == key]
    if not rows:
        yield Content.assemble(("qm", "bold"), "  the person's answers to the context questions, in their order")
        yield from _nothing(one.bias for of in shown.figures.values() for one in of.targets)
    for one in rows:
        if one.target is None:
            yield Content.assemble(
                (condition_words(key), "bold"),
                f"  mean |bias| {points(one.bias.value, sign=False)}, {_changed(one.change)} · "
                f"accuracy {percent(one.accuracy.value, digits=1)}, {_changed(one.accuracy_change)}",
            )
    if rows and not any(one.change.defined for one in rows):
        yield from _nothing(one.change for one in rows if one.target is not None)
        return
    strong = [one for one in rows if one.target is not None and side_of_people(one.change) in (UP, DOWN)]
    named = " · ".join(
        f"{visible(one.target or '')} {points(one.change.value)} {interval(one.change)}" for one in strong
    )
    if rows:
        said = f"bias changes most surely on: {named}" if named else "no question's bias changes beyond its interval"
        yield Content.styled(said, "$text-muted")
    yield Content.styled(
        f"Δ: this condition minus qm, over the same respondents; by question of the signed bias. {MARKS.format('0')}",
        "$text-muted",
    )


def _nothing(values: Iterable[Estimate]) -> Iterator[Content]:
    """Say why a row has no figures; nothing where one is defined."""
    held = tuple(values)
    if not any(value.defined for value in held):
        reasons = " · ".join(dict.fromkeys(visible(value.undefined) for value in held if value.undefined))
        yield Content.styled(f"{NONE} no figure: {reasons or 'no question was asked'}", "$text-warning")


def _changed(change: Estimate) -> str:
    if not change.defined:
        return f"change undefined: {visible(change.undefined)}"
    return f"change {points(change.value)} {interval(change)}".rstrip()


def _correlation(shown: Shown, loaded: Loaded, key: str) -> Iterator[Content]:
    found = next((one for one in shown.correlations if (one.target or AVERAGE) == key), None)
    if found is None:
        return
    over = "models and questions" if found.target is None else "models"
    if math.isnan(found.r):
        yield Content.assemble(("undefined", "bold"), f"  {visible(found.undefined)}")
    else:
        way = "the larger the bias, the less accurate" if found.r < 0 else "the larger the bias, the more accurate"
        way = way if found.p < SURE else "no relation shown"
        tested = f"t = {found.t:.2f}, p {_p(found.p)}, n = {found.n} {over}: {way}"
        untested = f"n = {found.n} {over}, no test: {found.untested}"
        yield Content.assemble(
            (f"r({found.df}) = {found.r:+.3f}", "bold"), f", {untested if found.untested else tested}"
        )
    if found.target is not None:
        yield Content.styled(visible(loaded.texts.get(found.target, "")), "$text-muted")
    if found.few:
        said = f"{FEW} {found.few} of {plural(found.n, 'figure')} rest on fewer than {LEAST_RESPONDENTS} respondents"
        yield Content.styled(f"{said}: chance makes |bias| large there, r and p say little", "$text-warning")
    yield Content.styled("Pearson's correlation of |bias| and accuracy (two-sided)", "$text-muted")


def _p(value: float) -> str:
    return "< .0001" if value < 0.0001 else f"= {value:.4f}"
