"""The screen of one prompt of a questionnaire, with the probabilities of the next tokens.

The context of the prompt can be folded.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.getters import query_one
from textual.widgets import Static

from workbench.domain.names import plural
from workbench.domain.prompts import Message
from workbench.figures.book import Subject
from workbench.figures.shown import number
from workbench.figures.table import Kind
from workbench.figures.visible import visible
from workbench.help.sections import section
from workbench.tui.pictures.screen import PictureScreen
from workbench.tui.results.answers import copied
from workbench.tui.results.loaded import Loaded, Opened
from workbench.tui.rulings.ruling import RulingScreen, ruled_lines
from workbench.tui.rulings.standing import RuledPlace
from workbench.tui.widgets.long_text import LongText
from workbench.tui.widgets.record_table import FluidTable, Record, RecordColumn

if TYPE_CHECKING:
    from workbench.audits.questionnaire.judged import PromptAsked, TokenRow

TOKEN = 24
"columns of a token"
EXPLAIN = section("screens-results", "A prompt of a questionnaire")


def folded_context(asked: PromptAsked) -> str:
    """Return a line that describes the context."""
    context = asked.prompt.messages[: asked.prompt.context]
    questions = sum(message.role == "user" for message in context)
    owner = f" of {asked.respondent}" if asked.respondent else ""
    return f"▸ {plural(questions, 'answered question')}{visible(owner)} · u unfolds"


def conversation(asked: PromptAsked, *, folded: bool) -> str:
    """Return the prompt as text that is safe to print. A folded context becomes one line."""
    messages, context = asked.prompt.messages, asked.prompt.context
    if not context:
        return _turns(messages)
    context_text = folded_context(asked) if folded else _turns(messages[:context])
    return f"{context_text}\n\n{_turns(messages[context:])}"


def _turns(messages: Sequence[Message]) -> str:
    lines: list[str] = []
    for message in messages:
        indented = visible(message.content, lines=True).replace("\n", "\n" + " " * 11)
        gap = "" if not lines or message.role == "assistant" else "\n"
        lines.append(f"{gap}{visible(message.role):<9}  {indented}")
    return "\n".join(lines)


def as_copied(asked: PromptAsked) -> str:
    """Return the whole prompt as it was sent, for the clipboard."""
    return "\n\n".join(f"{message.role}: {message.content}" for message in asked.prompt.messages)


def token_columns(width: int, *, answers: bool = False) -> tuple[RecordColumn, ...]:
    """Return the columns of the likeliest tokens for a width.

    With `answers`, the rows are sampled answers with their shares.
    """
    title, share_title = ("answer", "share") if answers else ("next token", "probability")
    bar_width = max(10, min(61, width - 6 - TOKEN - 10 - 18))
    return (
        RecordColumn("place", "", 5),
        RecordColumn("token", title, TOKEN),
        RecordColumn("mark", "reads as", 10),
        RecordColumn("share", share_title, 13),
        RecordColumn("bar", "", bar_width),
    )


def token_record(place_: int, token: TokenRow, width: int) -> Record:
    """Return the row of a token. Blanks in it are shown as ␣."""
    bar_width = (token_columns(width)[-1].width or 10) - 1
    style = "dim" if token.mark == "other" else "bold"
    mark = {"yes": "y yes", "no": "n no"}.get(token.mark, "  other")
    token_text = Text(
        f"“{visible(token.text).replace(' ', '␣')}”", style=style, no_wrap=True, overflow="ellipsis"
    )
    token_text.truncate(TOKEN - 1, overflow="ellipsis")
    n_filled = round(bar_width * token.probability)
    return str(place_), (
        Text(f"{place_:>3}", style="" if token.counted else "dim"),
        token_text,
        Text(mark, style=style),
        Text(f"{number(token.probability, Kind.SHARE):>9}", style=style),
        Text("█" * n_filled or "·", style=style),
    )


def about(asked: PromptAsked, model: str, human: str, masses: str) -> Content:
    """Return the lines that name the prompt, the model and the outcome."""
    respondent_text = asked.respondent or "no answers in the context"
    basis = "10 likeliest" if masses == "top10" else masses
    basis, remainder = (
        (f"of {plural(asked.answers, 'answer')}", f"neither {_mass(1 - asked.yes - asked.no)}")
        if asked.answers
        else (basis, f"all other tokens {_mass(asked.rest)}")
    )
    return Content.assemble(
        (visible(asked.target), "bold"),
        f" · {asked.variant} · {visible(str(asked.condition))} · {visible(respondent_text)}",
        (f" · answered {visible(human)}" if human else "", "bold"),
        "\n",
        (visible(model), "bold"),
        f"  p(yes) {_mass(asked.yes)} · p(no) {_mass(asked.no)} ({basis}) · {remainder}",
    )


def _mass(value: float) -> str:
    return "not known" if math.isnan(value) else number(value, Kind.SHARE)


def provenance(asked: PromptAsked) -> str:
    """Return the origin of a prediction in one line."""
    origin = asked.provenance
    parts = [
        origin.model,
        origin.version,
        origin.backend,
        origin.dtype,
        f"template {asked.template}",
        str(asked.condition),
        f"seed {origin.seed}" if origin.seed else "",
        f"{origin.at[:19].replace('T', ' ')} UTC" if origin.at else "",
        f"workbench {origin.code_version}",
        f"job {origin.job}",
        "the prompt would differ now" if asked.outdated else "",
    ]
    return " · ".join(visible(text) for text in parts if text)


def prompt(path: Path, loaded: Loaded, subject: Subject) -> Opened | str:
    """Return a function that opens the screen of a prompt.

    The subject is a model, the prompt's number, a respondent and the respondent's answer.
    """
    from stores.core.store import Store
    from workbench.audits.questionnaire.judged import prompt_asked

    model, probe, respondent, answer = subject
    with Store.open(path) as store:
        asked = prompt_asked(store, loaded.source, model, int(probe))
    human = answer if asked.respondent else f"{answer} by {respondent}"
    return lambda: PromptScreen(asked, model, human, loaded.source.options.masses, int(probe))


class TokenTable(FluidTable):
    """The table of the likeliest next tokens. Its rows have no details."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        return action != "select_cursor"


class PromptScreen(RulingScreen):
    """The screen of a prompt and the model's likeliest next tokens."""

    DEFAULT_CSS = """
    PromptScreen #about {
        height: auto;
        max-height: 4;
        margin: 0 1 1 1;
    }
    PromptScreen #ruled {
        display: none;
        height: auto;
        max-height: 4;
        margin: 0 1;
    }
    PromptScreen #ruled.-shown {
        display: block;
    }
    PromptScreen #prompt {
        height: 2fr;
        margin: 0 1;
        border: round $panel;
    }
    PromptScreen #prompt:focus {
        border: round $accent;
    }
    PromptScreen #prompt.-folded {
        height: 1fr;
        min-height: 6;
        max-height: 9;
    }
    PromptScreen #tokens {
        height: 1fr;
    }
    PromptScreen #provenance {
        height: auto;
        max-height: 3;
        margin: 0 1;
        color: $text-muted;
    }
    """
    PLACE = "results › questionnaire › prompt"
    EXPLAIN = EXPLAIN
    FOOTER_FIRST = ("rule", "picture", "fold", "other")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "u",
            "fold",
            "Unfold",
            tooltip="Unfold the context with every answered question, or fold it",
        ),
        Binding(
            "tab",
            "other",
            "Text/tokens",
            key_display="Tab",
            tooltip="Move to the text or the tokens, to scroll",
        ),
        Binding("y", "copy", "Copy", tooltip="Copy the whole prompt"),
        Binding("P", "picture", "Picture", tooltip="Show the probabilities as a picture"),
        Binding("escape", "dismiss(None)", "Back", key_display="Esc", tooltip="Go back"),
    ]

    table = query_one("#tokens", TokenTable)
    text = query_one("#prompt", LongText)

    def __init__(self, asked: PromptAsked, model: str, human: str, masses: str, probe: int) -> None:
        """Create the screen.

        `human` is the person's own answer, or an answer with the name of the person through whom
        the prompt was reached.
        """
        super().__init__()
        self._asked, self._model, self._human, self._masses = asked, model, human, masses
        self._probe = probe
        self._folded = True

    def compose_body(self) -> ComposeResult:
        yield Static(
            about(self._asked, self._model, self._human, self._masses), id="about", markup=False
        )
        yield Static(id="ruled", markup=False)
        yield LongText("", name="prompt")
        yield TokenTable(partial(token_columns, answers=bool(self._asked.answers)), name="tokens")
        yield Static(provenance(self._asked), id="provenance", markup=False)

    def on_mount(self) -> None:
        self._show_text()
        self.table.show_for_width(self._records)
        self.table.focus()
        self.show_standing()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        return action != "fold" or self._asked.prompt.context > 0

    def action_fold(self) -> None:
        self._folded = not self._folded
        self._show_text()
        (self.table if self._folded else self.text).focus()

    def ruled_place(self) -> RuledPlace | None:
        return RuledPlace(probe=self._probe)

    def show_standing(self) -> None:
        self.read_rulings(self.ruled_places())

    def show_rulings(self, lines: Sequence[str]) -> None:
        ruling_lines = self.query_one("#ruled", Static)
        ruling_lines.update(ruled_lines(lines))
        ruling_lines.set_class(bool(lines), "-shown")

    def action_other(self) -> None:
        (self.text if self.focused is self.table else self.table).focus()

    def action_picture(self) -> None:
        from workbench.audits.questionnaire.answer_tables import likeliest

        self.app.push_screen(PictureScreen([likeliest(self._asked)]))

    def action_copy(self) -> None:
        copied(self, as_copied(self._asked))

    def _show_text(self) -> None:
        self.text.show(conversation(self._asked, folded=self._folded))
        self.text.set_class(self._folded, "-folded")

    def _records(self, width: int) -> list[Record]:
        return [
            token_record(rank, token, width) for rank, token in enumerate(self._asked.tokens, 1)
        ]
