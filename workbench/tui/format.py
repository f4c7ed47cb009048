"""The formatting of records as cells and sentences. It uses no store and no widgets.

Text from data is hostile until it went through `visible`: a terminal obeys escape sequences,
Textual reads `[…]` in plain strings as markup, and direction marks reorder the text beside them.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TypeVar

from rich.text import Text

from workbench.figures.visible import visible as visible

BETWEEN = " · "
EMPTY = "(empty answer)"
"text of an answer without any characters"

FASTEST_PACE = 9_999
"labels an hour that a person can give; a faster pace comes from a script or a changed clock"

JOB_MARKS = {
    "queued": "◌",
    "running": "▸",
    "paused": "‖",
    "done": "✓",
    "cancelled": "■",
    "failed": "✗",
    "lost": "?",
}


def in_lines(parts: Sequence[str], width: int, most: int = 3) -> str:
    """Return parts with ` · ` between them, broken between parts so that a name keeps its value.

    If this takes more than `most` lines, they are broken anywhere.

    Examples
    --------
    >>> in_lines(["8 statements", "T 0.4, top-p 0.85", "label-words"], 32)
    '8 statements · T 0.4, top-p 0.85\\nlabel-words'
    """
    lines: list[str] = []
    for part in parts:
        if lines and len(lines[-1]) + len(BETWEEN) + len(part) <= width:
            lines[-1] += f"{BETWEEN}{part}"
        else:
            lines.append(part)
    return "\n".join(lines) if len(lines) <= most else BETWEEN.join(parts)


def literal(text: str, limit: int | None = None, style: str = "") -> Text:
    """Return literal text for a table cell, truncated to `limit` columns with ….

    It has no markup and no control sequences.
    """
    safe_text = visible(text if limit is None else text[: limit + 1])
    cell = Text(safe_text, style=style, no_wrap=True, overflow="ellipsis", end="")
    if limit is not None:
        cell.truncate(limit, overflow="ellipsis")
    return cell


def human_duration(seconds: float | None) -> str:
    """Return a duration: `45 s`, `12 min`, `3 h 05 min`, `2 d 4 h`, or an empty string for None."""
    if seconds is None or math.isnan(seconds):
        return ""
    total_seconds = round(seconds)
    if total_seconds < 90:
        return f"{total_seconds} s"
    minutes = round(total_seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes:02} min"
    return f"{hours // 24} d {hours % 24} h"


def pace(per_hour: float | None) -> str:
    """Return a pace as `412 an hour`, or an empty string without one that a person can keep."""
    return (
        f"{per_hour:,.0f} an hour" if per_hour is not None and 0 < per_hour <= FASTEST_PACE else ""
    )


def percent(part: float, whole: float = 1.0, digits: int = 0) -> str:
    """Return a percentage as `41 %`, or `–` if the whole is 0.

    Less than all is never `100 %`, more than none never `0 %`.
    """
    if not whole or math.isnan(part):
        return "–"
    share = 100 * part / whole
    text = f"{share:.{digits}f}"
    step = 10**-digits
    if float(text) == 100 and part < whole:
        text = f"{100 - step:.{digits}f}"
    elif float(text) == 0 and part > 0:
        return f"<{step:.{digits}f} %"
    return f"{text} %"


def bar(done: float, total: float, width: int = 5) -> str:
    """Return a progress bar: `▰▰▱▱▱`. It is full only if all is done."""
    n_filled = int(width * min(1.0, done / total)) if total else 0
    return "▰" * n_filled + "▱" * (width - n_filled)


SPARKS = "▁▂▃▄▅▆▇█"


def sparkline(values: Sequence[float | None], top: float) -> str:
    """Return a block per value, from 0 to `top`, with a blank for an unknown one.

    Examples
    --------
    >>> sparkline([0, 5, None, 10], 10)
    '▁▅ █'
    """
    return "".join(_spark(value, top) for value in values)


def _spark(value: float | None, top: float) -> str:
    if value is None or not math.isfinite(value):
        return " "
    share = value / top if top > 0 else 0.0
    return SPARKS[min(len(SPARKS) - 1, max(0, int(share * len(SPARKS))))]


def job_mark(state: str, *, stopping: bool = False, pausing: bool = False) -> str:
    """Return the state of a job with its mark: `▸ running`, `✓ done`, …"""
    if state == "running" and (stopping or pausing):
        return "▸ stopping" if stopping else "▸ pausing"
    return f"{JOB_MARKS.get(state, '?')} {state}"


def issue_sign(issue: str, label: int) -> str:
    """Return `+ environment` if agreeing supports an issue, `− environment` if it opposes it."""
    return f"{'+' if label > 0 else '−'} {visible(issue).replace('_', ' ')}"


def issue_in_words(issue: str, label: int) -> str:
    """Return a sentence on what agreeing means for an issue."""
    name = visible(issue).replace("_", " ")
    if label == 0:
        return f"0 not related to {name}"
    return f"+ agreeing supports {name}" if label > 0 else f"− agreeing opposes {name}"


def stance_in_words(stance: int | None) -> str:
    """Return a party's stance with its mark."""
    return {1: "+ agrees", -1: "− disagrees", 0: "0 neutral", None: "· no opinion"}[stance]


MOST_WORDS = 400
"longer texts are compared as a whole, as the time grows with the product of their lengths"


@dataclass(frozen=True, slots=True)
class TextPart:
    """Neighbouring words that are in both texts, or only in this one."""

    text: str
    changed: bool


def word_diff(before: str, after: str) -> tuple[tuple[TextPart, ...], tuple[TextPart, ...]]:
    """Return the parts of both texts. The joined parts of a side are its text, with all blanks."""
    old_words, new_words = _words(before), _words(after)
    if max(len(old_words), len(new_words)) > MOST_WORDS:
        is_equal = before == after
        return (TextPart(before, not is_equal),), (TextPart(after, not is_equal),)
    left_parts: list[TextPart] = []
    right_parts: list[TextPart] = []
    matcher = SequenceMatcher(
        None,
        [old_word.strip() for old_word in old_words],
        [new_word.strip() for new_word in new_words],
        autojunk=False,
    )
    for operation, old_start, old_stop, new_start, new_stop in matcher.get_opcodes():
        if old_stop > old_start:
            left_parts.append(
                TextPart("".join(old_words[old_start:old_stop]), operation != "equal")
            )
        if new_stop > new_start:
            right_parts.append(
                TextPart("".join(new_words[new_start:new_stop]), operation != "equal")
            )
    return tuple(left_parts), tuple(right_parts)


def _words(text: str) -> list[str]:
    """Return the words, each with the blanks after it. Punctuation marks are words of their own."""
    return re.findall(r"[\w'’-]+\s*|[^\w\s]\s*|\s+", text)


T = TypeVar("T")


def following(values: Sequence[T], at: object, step: int = 1) -> T:
    """Return the value after another one, around the ends, or the first if that is missing.

    Examples
    --------
    >>> following("abc", "c"), following("abc", "a", -1), following("abc", "x")
    ('a', 'c', 'a')
    """
    return values[(values.index(at) + step) % len(values)] if at in values else values[0]


def beside(values: Sequence[T], at: object, step: int) -> T:
    """Return the neighbour of a value, itself at an end, or the first if it is missing.

    Examples
    --------
    >>> beside("abc", "b", 1), beside("abc", "c", 1)
    ('c', 'c')
    """
    return (
        values[max(0, min(values.index(at) + step, len(values) - 1))] if at in values else values[0]
    )


def row_key(*parts: str) -> str:
    """Return one key of several names, whatever they contain."""
    return json.dumps(parts)


def row_parts(key: str) -> Sequence[str]:
    """Return the names in a key."""
    return tuple(map(str, json.loads(key)))
