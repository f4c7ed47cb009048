"""One prompt and its tokens as text and cells; pure. What a model is shown, it shows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text
from textual.content import Content

from workbench.domain.names import plural
from workbench.domain.prompts import Message
from workbench.figures.shown import number
from workbench.figures.table import Kind
from workbench.figures.visible import visible
from workbench.help.sections import section
from workbench.tui.widgets.record_table import Column, Record

if TYPE_CHECKING:
    from workbench.audits.questionnaire.judged import PromptAsked, TokenRow

TOKEN = 24
"columns of a token"
EXPLAIN = section("screens-results", "A prompt of a questionnaire")


def folded_context(asked: PromptAsked) -> str:
    """Say in a line what the context holds."""
    context = asked.prompt.messages[: asked.prompt.context]
    questions = sum(message.role == "user" for message in context)
    whose = f" of {asked.respondent}" if asked.respondent else ""
    return f"▸ {plural(questions, 'answered question')}{visible(whose)} · u unfolds"


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


def token_columns(width: int, *, answers: bool = False) -> tuple[Column, ...]:
    """Return the columns of the likeliest tokens for a width; `answers`: of drawn answers, with their shares."""
    what, share = ("answer", "share") if answers else ("next token", "probability")
    bar = max(10, min(61, width - 6 - TOKEN - 10 - 18))
    return (Column("place", "", 5), Column("token", what, TOKEN), Column("mark", "reads as", 10),
            Column("share", share, 13), Column("bar", "", bar))  # fmt: skip


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
        Text(f"{number(token.probability, Kind.SHARE):>9}", style=style),
        Text("█" * filled or "·", style=style),
    )


def about(asked: PromptAsked, model: str, human: str, masses: str) -> Content:
    """Say which prompt this is, and what came of it."""
    who = asked.respondent or "no answers in the context"
    where = "10 likeliest" if masses == "top10" else masses
    where, others = (
        (f"of {plural(asked.answers, 'answer')}", f"neither {_mass(1 - asked.yes - asked.no)}")
        if asked.answers
        else (where, f"all other tokens {_mass(asked.rest)}")
    )
    return Content.assemble(
        (visible(asked.target), "bold"),
        f" · {asked.variant} · {visible(str(asked.condition))} · {visible(who)}",
        (f" · answered {visible(human)}" if human else "", "bold"),
        "\n",
        (visible(model), "bold"),
        f"  p(yes) {_mass(asked.yes)} · p(no) {_mass(asked.no)} ({where}) · {others}",
    )


def _mass(value: float) -> str:
    return "not known" if math.isnan(value) else number(value, Kind.SHARE)


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
        "the prompt would differ now" if asked.outdated else "",
    ]
    return " · ".join(visible(part) for part in parts if part)
