"""The questions of one cell, and one question with the answers to both of its forms, as text."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from workbench.audits.response_bias_formula import formula
from workbench.cli.output import say, say_wrapped, table
from workbench.cli.response_bias_format import NOTHING, amount, bar, percent, plain_number, points
from workbench.cli.response_bias_names import place_said
from workbench.domain.choice_statements import KIND_OF
from workbench.domain.choice_texts import parse_choice
from workbench.domain.choices import Arm
from workbench.domain.counting import plural
from workbench.domain.statements import CHANGED, ORIGINAL, VariantId
from workbench.errors import UnknownName
from workbench.figures.visible import visible

if TYPE_CHECKING:
    from stores.store import Store
    from workbench.cli.response_bias_shown import Shown
    from workbench.pipeline.response_bias import Place, ResponseBiasJudged
    from workbench.pipeline.response_bias_questions import ArmShown, QuestionRow, QuestionShown

STEM = 60
"characters of a question's text in a list"


def print_questions(judged: ResponseBiasJudged, place: Place) -> None:
    """Print the questions of a cell, the largest change first."""
    from workbench.domain.questionnaire_tallies import named_few
    from workbench.pipeline.response_bias_questions import questions

    for name, report in judged.reports.items():
        say()
        if report.find(*place) is None:
            say(f"{name} was not asked {place_said(*place)}")
            continue
        rows = questions(judged, name, place)
        taking = [row for row in rows if not row.left_out]
        say(
            f"{name}, {place_said(*place)}: {plural(len(taking), 'question')}, the largest change first, in percentage "
            "points"
        )
        topics = any(row.topic for row in rows)
        table(
            ["question", *(["topic"] if topics else []), "change", "H(q)", "valid q", "valid q'", "text"],
            [(row.key, *([row.topic] if topics else []), *_row_cells(row), _stem(row.stem)) for row in taking],
        )
        for reason, n in Counter(row.left_out for row in rows if row.left_out).items():
            keys = [row.key for row in rows if row.left_out == reason]
            say(f"{plural(n, 'question')} left out, {reason}: {named_few(keys)}")


def _row_cells(row: QuestionRow) -> tuple[str, ...]:
    return points(row.delta), plain_number(row.entropy, 2), *map(percent, row.valid)


def _stem(text: str) -> str:
    text = " ".join(visible(text).split())
    return text if len(text) <= STEM else text[: STEM - 1].rstrip() + "…"


def found_questions(store: Store, judged: ResponseBiasJudged, shown: Shown) -> dict[str, QuestionShown]:
    """Return one question as each subject answered it. Raises UnknownName where none was asked it so."""
    from workbench.pipeline.response_bias_questions import question

    assert shown.question is not None
    found: dict[str, QuestionShown] = {}
    missing: list[UnknownName] = []
    asked = [name for name, report in judged.reports.items() if report.find(*shown.question) is not None]
    for name in asked:
        try:
            found[name] = question(store, judged, name, shown.question, shown.key, shown.draw)
        except UnknownName as error:
            missing.append(error)
    if not found:
        raise missing[0]
    return found


def print_question(store: Store, judged: ResponseBiasJudged, found: QuestionShown) -> None:
    """Print what a model answered to both forms of a question, and what it saw."""
    row = found.row
    say()
    drawn = f", draw {found.draw} of {len(found.draws)}" if found.condition is not None else ""
    topic = f" · {row.topic}" if row.topic else ""
    say(f"{row.key}{topic} · {place_said(found.bias, found.condition, found.variant)}{drawn} · {found.subject}")
    over = f" (mean over {row.over_draws} draws)" if row.over_draws > 1 else ""
    place = (found.bias, found.condition, found.variant)
    deltas = judged.reports[found.subject].cell(*place).deltas
    rule = formula(place, deltas.definition, deltas.source)
    said = f"change {points(row.delta)} percentage points{over}: {rule} (q original, q' {_changed_said(found)})"
    say_wrapped(f"left out: {row.left_out}" if row.left_out else said)
    for arm in (found.original, found.changed):
        _print_arm(arm, found, made_by(judged, found, arm))
    if found.shares:
        say()
        say(f"People's answers to the original: {', '.join(map(percent, found.shares))}")
    for arm in (found.original, found.changed):
        _print_prompt(store, judged, found.subject, arm)


def _changed_said(found: QuestionShown) -> str:
    return "with errors of typing" if found.condition else "changed form"


def made_by(judged: ResponseBiasJudged, found: QuestionShown, arm: ArmShown) -> str | None:
    """Return how a form's text came about, `workbench key_typo, seed 1, draw 1`; None where that is not known, or the
    instrument has another text now.
    """
    variant = ORIGINAL if arm.arm is Arm.ORIGINAL else CHANGED
    if found.condition is not None and arm.arm is Arm.CHANGED:
        variant = VariantId(KIND_OF[found.condition], found.draw)
    statement = next((one for one in judged.instrument.statements if one.ref == found.row.ref), None)
    wording = statement.wording(variant, judged.instrument.language) if statement is not None else None
    same = wording is not None and arm.choice is not None and parse_choice(wording.text) == arm.choice
    return wording.author if wording is not None and same else None


def _print_arm(arm: ArmShown, found: QuestionShown, made: str | None) -> None:
    exact = any(not math.isnan(option.probability) for option in arm.options)
    say()
    form = "original" if arm.arm is Arm.ORIGINAL else _changed_said(found)
    form += f" ({made})" if made else ""
    say(f"{form}: {_answers_said(arm, exact=exact)}; entropy {plain_number(arm.entropy, 2)}")
    moved = any(option.original not in ("", option.letter) for option in arm.options)
    table(
        ["", *(["in the original"] if moved else []), "probability" if exact else "answers", "share", "", "option"],
        [
            (
                option.letter,
                *([option.original] if moved else []),
                percent(option.probability) if exact else amount(option.count),
                percent(option.share),
                bar(option.share),
                option.text or ("(text not known)" if arm.choice is None else NOTHING),
            )
            for option in arm.options
        ],
    )
    if arm.others:
        letters = ", ".join(f"{letter} {n:,}" for letter, n in arm.others)
        say(f"letters that were not offered: {letters}")


def _answers_said(arm: ArmShown, *, exact: bool) -> str:
    if exact:
        named = sum(option.probability for option in arm.options)
        return f"exact, the offered letters have {percent(named)} of the probability"
    again = f", {arm.invalid:,} without an offered letter" if arm.invalid else ""
    again += f", {arm.truncated:,} cut off in thought" if arm.truncated else ""
    return f"{amount(arm.valid)} valid of {amount(arm.drawn)} answers{again}"


def _print_prompt(store: Store, judged: ResponseBiasJudged, subject: str, arm: ArmShown) -> None:
    """Print what the model saw; of imported answers the question alone, for nobody says how it was put."""
    say()
    if arm.probe is not None:
        say(f"Prompt of the {arm.arm} form:")
        for message in store.runs.prompt(arm.probe).messages:
            say(f"[{message.role}]")
            say(message.content)
    elif arm.choice is not None:
        say(
            f"Question of the {arm.arm} form, as the instrument has it ({judged.subjects[subject].name} was asked "
            "elsewhere):"
        )
        say(arm.choice.lettered())
    else:
        say(f"Question of the {arm.arm} form: its text is not known")
