"""One form of a question as it was asked, its answers, and where they come from, as cells and text; pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.text import Text
from textual.content import Content

from workbench.domain.prompts import Prompt
from workbench.tui.format import EMPTY, literal, percent, visible
from workbench.tui.screens.response_bias_format import place_name, share_bar
from workbench.tui.widgets.record_table import Column, Record

if TYPE_CHECKING:
    from workbench.pipeline.response_bias_questions import ArmShown, QuestionShown

TIMES, READ, TOKEN = 14, 22, 26
CELL_CHARACTERS = 300
IMPORTED = """These answers were imported: what stood around the question when it was asked, and each answer as it was \
written, are not in this store. Above is the form as the instrument has it."""
NOTHING = "No answer to this form is stored yet."


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an answer comes from, beside its model."""

    seed: str
    at: str
    code_version: str
    job: int
    template: str


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """One distinct answer, or one of the likeliest next tokens."""

    text: str
    count: int
    "0 for a token"
    letter: str
    "that it was read as; empty where it names none"
    probability: float
    "NaN for an answer that was drawn"
    origin: Origin | None = None


@dataclass(frozen=True, slots=True)
class FormAsked:
    """One form as it was put, and what came of it."""

    prompt: Prompt | None
    "None: imported answers, nobody says how they were asked"
    text: str
    "the form alone, where there is no prompt"
    letters: str
    "that are on offer"
    rows: tuple[AnswerRow, ...] = ()
    exact: bool = False
    asked: tuple[str, ...] = ()
    "the model and how it was run"
    origin: Origin | None = None
    "of all rows, where they have none of their own"


def form_about(found: QuestionShown, arm: ArmShown) -> Content:
    """Say which form of which question of whom this is."""
    changed = arm is found.changed
    which = place_name((found.bias, found.condition, found.variant)) if changed else "original form"
    draw = f", draw {found.draw} of {len(found.draws)}" if changed and len(found.draws) > 1 else ""
    return Content.assemble(
        (visible(found.row.key), "bold"), f"  {which}{draw}  ", (visible(found.subject), "bold $text-accent")
    )


def prompt_text(asked: FormAsked) -> str:
    """Return the prompt as text that is safe to print, its roles before its turns."""
    if asked.prompt is None:
        return visible(asked.text, lines=True) or "The text of this form is not known."
    if not asked.prompt.chat:
        return "\n".join(visible(message.content, lines=True) for message in asked.prompt.messages)
    turns = ((visible(m.role), visible(m.content, lines=True)) for m in asked.prompt.messages)
    return "\n\n".join(f"{role}\n  " + said.replace("\n", "\n  ") for role, said in turns)


def as_copied(asked: FormAsked) -> str:
    """Return the whole prompt as it was put, for the clipboard."""
    if asked.prompt is None:
        return asked.text
    return "\n\n".join(f"{message.role}: {message.content}" for message in asked.prompt.messages)


def form_columns(width: int, *, exact: bool = False) -> tuple[Column, ...]:
    """Return the columns for a width; `exact`: of probabilities."""
    return (
        Column("times", f"{'p' if exact else 'times':>12}", TIMES),
        Column("read", "read as", READ),
        Column("text", "as written", None),
        Column("bar", "", max(8, min(40, width - TIMES - READ - TOKEN))),
    )


def form_record(place: int, row: AnswerRow, asked: FormAsked, width: int) -> Record:
    """Return the row of an answer or token; its key is its place."""
    total = sum(one.count for one in asked.rows)
    share = row.probability if asked.exact else row.count / max(1, total)
    times = f"{row.probability:.4f}" if asked.exact else f"{row.count:,}×"
    offered = row.letter in asked.letters and bool(row.letter)
    text = with_blanks(row.text[:CELL_CHARACTERS])
    bar = (form_columns(width)[-1].width or 8) - 8
    return str(place), (
        Text(f"{times:>12}", style="bold" if offered else ""),
        Text(_read(row, asked), style="bold" if offered else "dim"),
        literal(f"“{text}”" if asked.exact else text or EMPTY, CELL_CHARACTERS, style="" if row.text else "dim italic"),
        Text(f"{share_bar(share, max(1, bar))} {percent(share):>5}", no_wrap=True),
    )


def with_blanks(text: str) -> str:
    """Return a text whose blanks at its ends are seen: ` A` and `A` are two answers.

    Examples
    --------
    >>> with_blanks(" A"), with_blanks("A"), with_blanks(" The answer ")
    ('␣A', 'A', '␣The answer␣')
    """
    before, after = len(text) - len(text.lstrip(" ")), len(text) - len(text.rstrip(" "))
    return "␣" * before + text.strip(" ") + "␣" * (after if text.strip(" ") else 0)


def _read(row: AnswerRow, asked: FormAsked) -> str:
    if asked.exact:
        return f"letter {row.letter.upper()}" if len(row.letter) == 1 and row.letter in asked.letters else "other"
    if not row.letter:
        return "· no letter, redrawn"
    mark = f"{visible(row.letter).upper()}"
    return mark if row.letter in asked.letters else f"· {mark} not on offer"


def reading_line(row: AnswerRow) -> Content:
    """Say how an answer was read."""
    read = f"read as {visible(row.letter).upper()}" if row.letter else "no letter was read"
    return Content.assemble((read, "bold"), (f"  {row.count}×", "$text-muted"))


def nothing(asked: FormAsked) -> str:
    """Say why there are no answers to list."""
    return IMPORTED if asked.prompt is None else NOTHING


def provenance(asked: FormAsked, key: str | None) -> str:
    """Say where an answer comes from, in one line."""
    row = asked.rows[int(key)] if key is not None and int(key) < len(asked.rows) else None
    of = (row.origin if row is not None else None) or asked.origin
    parts = list(asked.asked)
    if of is not None:
        when = of.at[:19].replace("T", " ")
        parts += [of.seed, f"template {of.template}", f"{when} UTC", f"workbench {of.code_version}", f"job {of.job}"]
    return " · ".join(visible(part) for part in parts if part)
