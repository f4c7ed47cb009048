"""Who was predicted, and one prompt with its tokens, as cells and text; pure. What a model is shown, it shows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text
from textual.content import Content

from workbench.domain.counting import plural
from workbench.domain.prompts import Message
from workbench.tui.format import literal, percent, visible
from workbench.tui.screens.questionnaire_format import NONE, WIDE
from workbench.tui.screens.questionnaire_tables import condition_words
from workbench.tui.widgets.leaning_bar import place
from workbench.tui.widgets.record_table import Column, Record

if TYPE_CHECKING:
    from workbench.audits.questionnaire_figures import AskedRow
    from workbench.pipeline.questionnaire_asked import PromptAsked, TokenRow

WORDS = {1: "yes", 0: "no", -1: "unreadable"}
MARK, NAME, ANSWER, PREDICTED, SHARE = 10, 17, 25, 12, 8
TOKEN = 24


# ── respondents ─────────────────────────────────────────────────────────────────────────────────────────────────────


def missed_first(rows: Sequence[AskedRow]) -> tuple[AskedRow, ...]:
    """Return the missed answers first, those that were missed most surely at the top; the rest follows likewise."""
    return tuple(sorted(rows, key=lambda row: (row.correct, -_distance(row))))


def _distance(row: AskedRow) -> float:
    return 1.0 if math.isnan(row.p_yes) else abs(row.p_yes - row.human)


def asked_columns(width: int) -> tuple[Column, ...]:
    """Return the columns of the respondents for a width."""
    return (
        Column("mark", "", MARK),
        Column("respondent", "respondent", _name(width)),
        Column("answer", "answered", ANSWER),
        Column("predicted", "predicted", PREDICTED),
        Column("share", "p(yes)", SHARE),
        Column("bar", _unit_line(_bar(width)), None),
    )


def _bar(width: int) -> int:
    return max(5, min(41, width - 2 - MARK - _name(width) - ANSWER - PREDICTED - SHARE))


def _name(width: int) -> int:
    return 30 if width >= WIDE else NAME


def _unit_line(width: int) -> str:
    return "0" + "½".center(width - 2) + "1"


def asked_record(row: AskedRow, width: int) -> Record:
    """Return the row of a respondent; its key is the name."""
    human = WORDS[row.human]
    given = human if row.value.casefold() == human else f"{human} ({row.value})"
    mark = "✓ right" if row.correct else "· unread" if row.predicted < 0 else "✗ missed"
    return row.respondent, (
        Text(mark, style="dim" if row.correct else "bold", no_wrap=True),
        literal(row.respondent, _name(width) - 1),
        literal(given, ANSWER - 1),
        Text(WORDS[row.predicted]),
        Text(NONE if math.isnan(row.p_yes) else percent(row.p_yes, digits=1), no_wrap=True),
        unit_bar(row.p_yes, _bar(width)),
    )


def unit_bar(share: float, width: int) -> Text:
    """Return a share as a dot on a line from 0 to 1, `│` at one half.

    Examples
    --------
    >>> unit_bar(0.9, 11).plain, unit_bar(0.5, 11).plain
    ('·····│···●·', '·····●·····')
    """
    signs = ["·"] * width
    signs[width // 2] = "│"
    if not math.isnan(share):
        signs[place(share, width)] = "●"
    return Text("".join(signs), no_wrap=True)


def asked_about(target: str, wording: str, text: str, rows: Sequence[AskedRow], *, missed_only: bool) -> Content:
    """Say whose answers to what are listed."""
    missed = sum(not row.correct for row in rows)
    shown = "the missed alone" if missed_only else "all, the missed first"
    counted = f"{missed:,} of {plural(len(rows), 'answer')} missed ({percent(missed, len(rows))}) · {shown}"
    old = sum(row.outdated for row in rows)
    changed = f" · {old:,} show answers, questions or instructions of before" if old else ""
    return Content.assemble(
        (visible(target), "bold"),
        f"  {visible(text)}\n",
        (f"{wording} wording · " if wording != "original" else "", "$text-accent"),
        (counted + changed, "$text-muted"),
    )


# ── one prompt ──────────────────────────────────────────────────────────────────────────────────────────────────────


def folded_context(asked: PromptAsked) -> str:
    """Say in a line what the context holds."""
    context = asked.prompt.messages[: asked.prompt.context]
    questions = sum(message.role == "user" for message in context)
    whose = f" of {asked.respondent}" if asked.respondent else ""
    return f"▸ {plural(questions, 'answered question')}{visible(whose)} · x unfolds"


def conversation(asked: PromptAsked, *, folded: bool) -> str:
    """Return the prompt as text that is safe to print; the context as one line where it is folded."""
    messages, context = asked.prompt.messages, asked.prompt.context
    if not context:
        return _turns(messages)
    shown = folded_context(asked) if folded else _turns(messages[:context])
    return f"{shown}\n\n{_turns(messages[context:])}"


def _turns(messages: Sequence[Message]) -> str:
    lines: list[str] = []
    for message in messages:
        indented = visible(message.content, lines=True).replace("\n", "\n" + " " * 11)
        gap = "" if not lines or message.role == "assistant" else "\n"
        lines.append(f"{gap}{visible(message.role):<9}  {indented}")
    return "\n".join(lines)


def as_copied(asked: PromptAsked) -> str:
    """Return the whole prompt as it was put, for the clipboard."""
    return "\n\n".join(f"{message.role}: {message.content}" for message in asked.prompt.messages)


def token_columns(width: int) -> tuple[Column, ...]:
    """Return the columns of the likeliest tokens for a width."""
    bar = max(10, min(61, width - 6 - TOKEN - 10 - 18))
    return (Column("place", "", 5), Column("token", "next token", TOKEN), Column("mark", "reads as", 10),
            Column("share", "probability", 13), Column("bar", "", bar))  # fmt: skip


def token_record(place_: int, token: TokenRow, width: int) -> Record:
    """Return the row of a token; blanks in it are shown as ␣."""
    bar = (token_columns(width)[-1].width or 10) - 1
    style = "dim" if token.mark == "other" else "bold"
    mark = {"yes": "y yes", "no": "n no"}.get(token.mark, "  other")
    shown = Text(f"“{visible(token.text).replace(' ', '␣')}”", style=style, no_wrap=True, overflow="ellipsis")
    shown.truncate(TOKEN - 1, overflow="ellipsis")
    filled = round(bar * token.probability)
    return str(place_), (
        Text(f"{place_:>3}", style="" if token.counted else "dim"),
        shown,
        Text(mark, style=style),
        Text(f"{percent(token.probability, digits=2):>9}", style=style),
        Text("█" * filled or "·", style=style),
    )


def prompt_about(asked: PromptAsked, model: str, human: str, masses: str) -> Content:
    """Say which prompt this is, and what came of it."""
    who = asked.respondent or "nobody's answers are shown"
    where = "10 likeliest" if masses == "top10" else masses
    return Content.assemble(
        (visible(asked.target), "bold"),
        f" · {asked.variant} · {condition_words(str(asked.condition))} · {visible(who)}",
        (f" · answered {visible(human)}" if human else "", "bold"),
        "\n",
        (visible(model), "bold"),
        f"  p(yes) {_mass(asked.yes)} · p(no) {_mass(asked.no)} ({where}) · all other tokens {_mass(asked.rest)}",
    )


def _mass(value: float) -> str:
    return "not known" if math.isnan(value) else percent(value, digits=2)


def provenance(asked: PromptAsked) -> str:
    """Say where a prediction comes from, in one line."""
    of = asked.provenance
    parts = [
        of.model,
        of.version,
        of.backend,
        of.dtype,
        f"template {asked.template}",
        str(asked.condition),
        f"seed {of.seed}" if of.seed else "",
        f"{of.at[:19].replace('T', ' ')} UTC",
        f"workbench {of.code_version}",
        f"job {of.job}",
        "would be put differently now" if asked.outdated else "",
    ]
    return " · ".join(visible(part) for part in parts if part)
