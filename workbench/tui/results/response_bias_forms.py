"""Both forms of one question with their answers, as text; pure.

What a model or a file says is hostile: it is shown as it stands.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from textual.content import Content

from workbench.audits.response_bias.answers import BIASES, CONDITIONS, place_said
from workbench.domain.counting import plural
from workbench.figures.shown import number
from workbench.figures.table import Kind
from workbench.tui.format import visible
from workbench.tui.statements.statement_format import MOST_SHOWN, difference, marked
from workbench.tui.widgets.long_text import folded

if TYPE_CHECKING:
    from workbench.audits.response_bias.questions import ArmShown, Changes, OptionShown, QuestionShown

DIM = "$text-muted"
SIDE_BY_SIDE = 116
"columns of the terminal from which the two forms stand beside each other"
NUMBERS = 8
"columns of a share, a count or a probability"
UNKNOWN = "(the text of this form is unknown: only answers to it were imported)"


def about(found: Changes, shown: QuestionShown, at: tuple[int, int], *, several: bool) -> Content:
    """Say which question of whom this is, how far its answers move, and its place among those listed."""
    from workbench.audits.response_bias.question_tables import change_said

    row = shown.row
    topic = f" · {visible(row.topic)}" if row.topic else ""
    draws = f", draw {shown.draw} of {len(shown.draws)}: d shows the next" if len(shown.draws) > 1 else ""
    place = visible(place_said(shown.bias, shown.condition, shown.variant))
    said = visible(change_said(found, shown))
    listed = f"  question {at[0]} of {at[1]} listed" if at[0] else ""
    return Content("\n").join(
        [
            Content.assemble(
                (visible(row.key), "bold"), topic, "  ", (visible(shown.subject), "bold $text-accent"),
                (" ← →" if several else "", DIM), (listed, DIM),
            ),
            Content.assemble((place, "bold"), draws, "  ", (said, "$text-warning" if row.left_out else "")),
        ]
    )  # fmt: skip


def form_name(found: QuestionShown, arm: ArmShown) -> str:
    """Return `original`, `changed: odd/even` or `changed: key typo, draw 2`."""
    if arm is found.original:
        return "original"
    if found.condition is None:
        return f"changed: {BIASES[found.bias]}"
    draw = f", draw {found.draw}" if len(found.draws) > 1 else ""
    return f"changed: {CONDITIONS[found.condition]}{draw}"


def arm_text(found: QuestionShown, arm: ArmShown, width: int) -> Content:
    """Return one form, `width` columns wide: its stem, its options with their answers, what did not count."""
    return Content("\n").join(_lines(found, arm, width))


def _lines(found: QuestionShown, arm: ArmShown, width: int) -> Iterator[Content]:
    yield Content.styled(f" {form_name(found, arm)} ", "bold reverse")
    yield from _wrapped(_stem(found, arm), width)
    yield Content()
    yield from _options(found, arm, width)
    yield from _others(arm)
    yield Content.styled(_counted(arm), DIM)


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
    heads = f"{'p' if exact else 'answers':>{NUMBERS}}" + (f"{'people':>{NUMBERS + 1}}" if people else "")
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
    return f"{number(value, Kind.SHARE):>{NUMBERS}}"


def _count(option: OptionShown, *, exact: bool) -> str:
    return _percent(option.probability) if exact else f"{number(option.count, Kind.COUNT):>{NUMBERS}}"


def share_bar(value: float, width: int) -> str:
    """Return a share as a bar; what is there at all has half a column.

    Examples
    --------
    >>> share_bar(0.5, 8), share_bar(0.01, 8), share_bar(0.0, 8)
    ('████····', '▌·······', '········')
    """
    if math.isnan(value):
        return " " * width
    halves = max(round(2 * width * min(1.0, value)), 1 if value > 0 else 0)
    return ("█" * (halves // 2) + "▌" * (halves % 2)).ljust(width, "·")


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
        said = f" {visible(letter).upper()}  answered {times:,}×, but it was not offered"
        yield Content.styled(said, "$text-warning")


def _counted(arm: ArmShown) -> str:
    """Say what counts, and how spread out it is."""
    entropy = f"entropy {number(arm.entropy, Kind.COEFFICIENT)}"
    likely = [option.probability for option in arm.options if not math.isnan(option.probability)]
    if likely:
        return f"all offered letters together {number(sum(likely), Kind.SHARE)} · {entropy}"
    drawn = "no answers" if math.isnan(arm.drawn) else f"{plural(round(arm.valid), 'valid answer')} of {arm.drawn:,.0f}"
    invalid = [f"{arm.invalid:,} without an offered letter, drawn again"] * bool(arm.invalid)
    truncated = [f"{arm.truncated:,} cut off in thought, drawn again"] * bool(arm.truncated)
    return " · ".join([drawn, *invalid, *truncated, entropy])


def _wrapped(content: Content, width: int) -> Iterator[Content]:
    """Yield a text in lines of a width, broken at blanks where possible."""
    for start, stop in folded(content.plain, max(8, width)):
        yield content[start:stop]
