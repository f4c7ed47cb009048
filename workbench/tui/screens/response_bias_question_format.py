"""Both forms of one question with their answers, as text; pure.

What a model or a file says is hostile: it is shown as it stands.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from textual.content import Content

from workbench.domain.counting import plural
from workbench.tui.format import percent, visible
from workbench.tui.screens.response_bias_format import (
    BIAS_NAMES,
    CONDITION_NAMES,
    NONE,
    place_name,
    share,
    share_bar,
    signed,
)
from workbench.tui.screens.statement_format import MOST_SHOWN, difference, marked
from workbench.tui.widgets.long_text import folded

if TYPE_CHECKING:
    from workbench.pipeline.response_bias_questions import ArmShown, OptionShown, QuestionShown

DIM = "$text-muted"
SIDE_BY_SIDE = 116
"columns of the terminal from which the two forms stand beside each other"
NUMBERS = 6
"columns of a share, a count or a probability"
UNKNOWN = "(the text of this form is not known: only answers to it were imported)"


def about(found: QuestionShown, definition: str, rule: str, at: tuple[int, int], *, several: bool) -> Content:
    """Say which question of whom this is, how far its answers move, and its place among those listed."""
    row = found.row
    topic = f" · {visible(row.topic)}" if row.topic else ""
    mean = f" over {row.over_draws} draws" if row.over_draws > 1 else ""
    moved = Content.styled(f"takes no part by {definition}: {row.left_out}", "$text-warning")
    if not row.left_out:
        moved = Content.assemble((f"Δ {signed(row.delta)}", "bold"), f"{mean}  {definition}: {rule}")
    draws = f", draw {found.draw} of {len(found.draws)} [ ]" if len(found.draws) > 1 else ""
    place = place_name((found.bias, found.condition, found.variant))
    return Content("\n").join(
        [
            Content.assemble(
                (visible(row.key), "bold"), topic, "  ", (visible(found.subject), "bold $text-accent"),
                (" ← →" if several else "", DIM), (f"  question {at[0]} of {at[1]} listed", DIM),
            ),
            Content.assemble((place, "bold"), draws, "  ", moved),
        ]
    )  # fmt: skip


def arm_text(found: QuestionShown, arm: ArmShown, width: int) -> Content:
    """Return one form, `width` columns wide: its stem, its options with their answers, what did not count."""
    return Content("\n").join(_lines(found, arm, width))


def _lines(found: QuestionShown, arm: ArmShown, width: int) -> Iterator[Content]:
    changed = arm is found.changed
    yield Content.styled(f" {_name(found) if changed else 'original'} ", "bold reverse")
    yield from _wrapped(_stem(found, arm), width)
    yield Content()
    yield from _options(found, arm, width)
    yield from _others(arm)
    yield Content.styled(_counted(arm), DIM)


def _name(found: QuestionShown) -> str:
    if found.condition is None:
        return f"changed: {BIAS_NAMES[found.bias]}"
    draw = f", draw {found.draw}" if len(found.draws) > 1 else ""
    return f"changed: {CONDITION_NAMES[found.condition]}{draw}"


def _stem(found: QuestionShown, arm: ArmShown) -> Content:
    """Return a stem, the words that the other form has not in brackets."""
    if arm.choice is None:
        return Content.styled(UNKNOWN, f"{DIM} italic")
    if found.original.choice is None or found.changed.choice is None:
        return _whole(arm.choice.stem)
    sides = difference(found.original.choice.stem, found.changed.choice.stem)
    changed = arm is found.changed
    return marked(sides[changed], "+" if changed else "−")


def _options(found: QuestionShown, arm: ArmShown, width: int) -> Iterator[Content]:
    exact = any(not math.isnan(option.probability) for option in arm.options)
    people = arm is found.original and len(found.shares) == len(arm.options)
    named = _renamed(found)
    indent = 3 + (4 if named else 0) + _bar(width) + NUMBERS * (2 + people) + 2
    heads = f"{'p' if exact else 'n':>{NUMBERS}}" + (f"{'people':>{NUMBERS + 1}}" if people else "")
    yield Content.styled(f"{'':{indent - 2 - len(heads) - NUMBERS}}{'share':>{NUMBERS}}{heads}", DIM)
    for place, option in enumerate(arm.options):
        origin = _origin(option, changed=arm is found.changed).ljust(4) if named else ""
        numbers = f"{_percent(option.share)}{_count(option, exact=exact)}"
        human = f"{_percent(found.shares[place])}" if people else ""
        head = Content.assemble(
            (f" {option.letter.upper()} ", "bold"), (origin, DIM), (share_bar(option.share, _bar(width)), ""),
            (numbers, ""), (human, DIM), "  ",
        )  # fmt: skip
        lines = list(_wrapped(_option_text(found, arm, option), width - indent))
        yield Content.assemble(head, lines[0] if lines else "")
        yield from (Content.assemble(" " * indent, line) for line in lines[1:])


def _renamed(found: QuestionShown) -> bool:
    """Return whether options of the changed form stand under other letters than in the original, or are new."""
    origins = [(option.original, option.letter) for option in found.changed.options]
    return any(origin for origin, _ in origins) and any(origin != letter for origin, letter in origins)


def _origin(option: OptionShown, *, changed: bool) -> str:
    """Return which option of the original one of the changed form is; `new` where the original has none such."""
    if not changed:
        return ""
    return f"={option.original.upper()}" if option.original else "new"


def _bar(width: int) -> int:
    return max(6, min(20, width // 5))


def _percent(value: float) -> str:
    return f"{NONE if math.isnan(value) else percent(value):>{NUMBERS}}"


def _count(option: OptionShown, *, exact: bool) -> str:
    if exact:
        return f"{option.probability:>{NUMBERS}.3f}"
    return f"{NONE if math.isnan(option.count) else f'{option.count:,.0f}':>{NUMBERS}}"


def _option_text(found: QuestionShown, arm: ArmShown, option: OptionShown) -> Content:
    """Return an option's text, the words that the same option of the other form has not in brackets."""
    if not option.text:
        return Content()
    changed = arm is found.changed
    others = found.original.options if changed else found.changed.options
    own = option.original if changed else option.letter
    twin = next((one for one in others if own and own == (one.letter if changed else one.original)), None)
    if twin is None or not twin.text or twin.text == option.text:
        return _whole(option.text)
    pair = (twin.text, option.text) if changed else (option.text, twin.text)
    return marked(difference(*pair)[changed], "+" if changed else "−")


def _whole(text: str) -> Content:
    """Return a text as it stands, cut where nobody would read on."""
    return Content(visible(text[:MOST_SHOWN], lines=True) + "…" * (len(text) > MOST_SHOWN))


def _others(arm: ArmShown) -> Iterator[Content]:
    for letter, times in arm.others:
        said = f" {visible(letter).upper()}  answered {times:,}×, though it was not on offer"
        yield Content.styled(said, "$text-warning")


def _counted(arm: ArmShown) -> str:
    """Say what counts, and how spread out it is."""
    likely = [option.probability for option in arm.options if not math.isnan(option.probability)]
    if likely:
        return f"all letters on offer together p {sum(likely):.3f} · entropy {share(arm.entropy)}"
    drawn = "no answers" if math.isnan(arm.drawn) else f"{plural(round(arm.valid), 'valid answer')} of {arm.drawn:,.0f}"
    said = [drawn]
    if arm.invalid:
        said.append(f"{arm.invalid:,} without a letter on offer, drawn again")
    if arm.truncated:
        said.append(f"{arm.truncated:,} cut off in thought, drawn again")
    return " · ".join([*said, f"entropy {share(arm.entropy)}"])


def _wrapped(content: Content, width: int) -> Iterator[Content]:
    """Yield a text in lines of a width, broken at blanks where possible."""
    for start, stop in folded(content.plain, max(8, width)):
        yield content[start:stop]
