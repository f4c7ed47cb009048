"""The dialog of a ruling: its object, verdict, right reading, reason and auditor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, cast

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.getters import query_one
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from workbench.domain.rulings import RULED_ON, Ruled, Ruling, RulingVerdict, of_one_model
from workbench.figures.visible import visible

if TYPE_CHECKING:
    from workbench.evidence.ruling_subjects import RulingSubject
    from workbench.tui.kit.key_gate import GatedApp

LETTERS = {
    "c": RulingVerdict.CONFIRMED,
    "m": RulingVerdict.MISREAD,
    "w": RulingVerdict.WORDING_AT_FAULT,
    "t": RulingVerdict.TEMPLATE_AT_FAULT,
    "x": RulingVerdict.EXCLUDED,
    "d": RulingVerdict.REVIEWED,
    "l": RulingVerdict.LOOK_AGAIN,
}
EFFECTS = {
    RulingVerdict.CONFIRMED: "confirmed",
    RulingVerdict.MISREAD: "misread; the right reading comes next",
    RulingVerdict.WORDING_AT_FAULT: "the wording is at fault",
    RulingVerdict.TEMPLATE_AT_FAULT: "the template is at fault",
    RulingVerdict.EXCLUDED: "excluded from the figures",
    RulingVerdict.REVIEWED: "reviewed, nothing more to rule on",
    RulingVerdict.LOOK_AGAIN: "somebody should look again",
}
"effects of the letters, as the list of keys names them"
REASONS = {
    RulingVerdict.CONFIRMED: "the judgement is right",
    RulingVerdict.WORDING_AT_FAULT: "the wording does not say what it should",
    RulingVerdict.TEMPLATE_AT_FAULT: "the template does not fit this wording",
    RulingVerdict.EXCLUDED: "does not belong in the figures",
    RulingVerdict.REVIEWED: "nothing more to rule on",
    RulingVerdict.LOOK_AGAIN: "somebody should look again",
}
"reason in the field until the auditor types another one"
ASKED = "Your reason (type your own):"
WORDS = 160
"maximum number of characters of an object's text in the dialog"
SAYS = "what it says"
"label of `misread` for auditors who decide blind; it becomes `confirmed` if they agree"
WITHHELD = "You see others' rulings after you decide; “look again” is not a decision."
TO_ANSWERS = "Esc, then V or 4, Enter opens them."
APPLIES_TO_ALL = "applies to all models, in every audit"
APPLIES_TO_ONE = "applies to this model alone · a to all models"
WIDEST = 80
"columns of the dialog"
TALL = 32
"terminal lines from which all objects are visible beside the reason"
SHOWN = 4
"maximum number of visible rulings"


@dataclass(frozen=True, slots=True)
class RulingRequest:
    """A new ruling, or one that is taken back."""

    thing: RulingSubject | None = None
    "object of the ruling, or None for the object of `undo`"
    verdict: RulingVerdict | None = None
    reading: str | None = None
    reason: str = ""
    undo: Ruling | None = None
    "ruling to take back, or None for a new ruling"
    all_models: bool = False
    "whether a ruling that could apply to the visible model alone applies to all"
    seen: frozenset[bytes] = frozenset()
    "uids of the visible rulings on the object"


class RulingDialog(ModalScreen[RulingRequest | None]):
    """A dialog that asks for a ruling. It returns it, or None."""

    DEFAULT_CSS = """
    RulingDialog {
        align: center middle;
        background: $background 60%;
    }
    RulingDialog .dialog {
        width: 100%;
        max-width: 100;
        height: auto;
        max-height: 100%;
        padding: 0 1;
        border: round $accent;
        border-title-color: $text-accent;
        border-subtitle-color: $text-muted;
        background: $surface;
    }
    RulingDialog #about {
        height: auto;
        max-height: 60vh;
        scrollbar-size-vertical: 1;
    }
    RulingDialog Static {
        height: auto;
        margin-bottom: 1;
    }
    RulingDialog #asked {
        display: none;
        height: 1;
    }
    RulingDialog #asked.-shown {
        display: block;
    }
    RulingDialog #asked Static {
        width: auto;
        margin: 0 1 0 0;
        color: $text-accent;
    }
    RulingDialog #reason {
        width: 1fr;
        background: $boost;
    }
    """
    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            Binding(
                key,
                f"choose('{key}')",
                verdict.value.capitalize(),
                show=False,
                tooltip=f"Rule: {EFFECTS[verdict]}",
            )
            for key, verdict in LETTERS.items()
        ),
        Binding(
            "tab",
            "turn(1)",
            "Subject",
            priority=True,
            key_display="Tab",
            tooltip="Go to the next subject of a ruling",
        ),
        Binding(
            "shift+tab",
            "turn(-1)",
            "Previous subject",
            show=False,
            priority=True,
            tooltip="Go to the previous subject of a ruling",
        ),
        *(
            Binding(str(number), f"read({number})", f"Reading {number}", show=False)
            for number in range(1, 10)
        ),
        Binding("z", "undo", "Undo ruling", show=False, tooltip="Undo your ruling"),
        Binding("a", "all_models", "For all models", show=False),
        Binding("enter", "go_on", "Go on", show=False),
        Binding("escape", "back", "Back", key_display="Esc", priority=True, tooltip="Go back"),
    ]

    box = query_one("#reason", Input)

    def __init__(
        self,
        things: Sequence[RulingSubject],
        standing: Sequence[Sequence[Ruling]],
        auditor: str | None,
        *,
        withheld: bool = False,
        reading_hidden: bool = False,
        one_model: bool = True,
    ) -> None:
        """Create the dialog.

        `things`: the possible objects, the most specific first. `standing`: the rulings on each.
        `withheld`: whether others' rulings are hidden until this auditor rules. `reading_hidden`:
        whether the auditor reads an answer without seeing its reading. `one_model`: whether a
        single model is visible, to which rulings on answers apply.
        """
        super().__init__()
        self._reading_hidden = reading_hidden
        self._withheld = withheld
        self._things, self._standing, self._auditor = (
            tuple(things),
            tuple(map(tuple, standing)),
            auditor,
        )
        self._at = 0
        self._one_model, self._all_models = one_model, False
        self._verdict: RulingVerdict | None = None
        self._reading: str | None = None
        self._undoing: Ruling | None = None
        "another auditor's ruling, to be taken back once a reason is given"

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = "Rule on"
            with VerticalScroll(id="about", can_focus=False):
                yield Static(id="things", markup=False)
                yield Static(id="stands", markup=False)
            yield Static(id="verdicts", markup=False)
            with Horizontal(id="asked"):
                yield Static(ASKED, markup=False)
                yield Input(id="reason", placeholder="type why", compact=True, select_on_focus=True)
            yield Static(id="trouble", markup=False)

    def on_mount(self) -> None:
        self._paint()

    @property
    def _thing(self) -> RulingSubject:
        return self._things[self._at]

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("choose", "read", "undo", "go_on", "all_models") and self.box.has_focus:
            return False
        if action == "all_models":
            return self._turns
        if (
            action == "choose"
            and self._reading_hidden
            and LETTERS[str(parameters[0])] is RulingVerdict.CONFIRMED
        ):
            return False
        if action == "undo":
            return self._last is not None
        return action != "read" or (
            self._verdict is RulingVerdict.MISREAD and int(str(parameters[0])) <= len(self._labels)
        )

    @property
    def _labels(self) -> tuple[str, ...]:
        return self._thing.labels

    @property
    def _last(self) -> Ruling | None:
        """The ruling on the object that z takes back: the auditor's own, else the newest other."""
        rulings = self._standing[self._at]
        return next(
            (ruling for ruling in reversed(rulings) if ruling.auditor == self._auditor),
            rulings[-1] if rulings else None,
        )

    def action_turn(self, step: int) -> None:
        """Select another of the possible objects."""
        self._at = (self._at + step) % len(self._things)
        self._verdict = self._reading = self._undoing = None
        self._paint()

    def action_choose(self, key: str) -> None:
        """Choose a verdict, and an object that it fits."""
        verdict = LETTERS[key]
        matching_indices = [
            index for index, thing in enumerate(self._things) if _fits(thing, verdict)
        ]
        if not matching_indices:
            kinds_text = " and ".join(sorted(f"{kind}s" for kind in RULED_ON[verdict]))
            self._say(f"{verdict.value.capitalize()} is for {kinds_text}: {TO_ANSWERS}")
            return
        if self._at not in matching_indices:
            self._at = matching_indices[0]
        self._verdict, self._reading, self._undoing = verdict, None, None
        self._paint()
        if verdict is not RulingVerdict.MISREAD:
            self._ask(REASONS[verdict])

    def action_read(self, number: int) -> None:
        """Choose the right reading, unless it is the reader's own."""
        label = self._labels[number - 1]
        if label not in self._thing.right_readings and not self._reading_hidden:
            self._reading = None
            self._paint()
            self._say(f"{self._thing.no_misreading(label)} (c); else choose another number.")
            return
        self._reading = label
        self._paint()
        self._ask(
            f"it is {self._reading}"
            if self._reading == "unreadable"
            else f"it says {self._reading}"
        )

    @property
    def _turns(self) -> bool:
        """Whether the ruling can apply to the visible model alone."""
        verdict = self._verdict or RulingVerdict.CONFIRMED
        return self._one_model and of_one_model(self._thing.subject.kind, verdict)

    def action_all_models(self) -> None:
        """Switch between a ruling for all models and one for the visible model."""
        self._all_models = not self._all_models
        self._paint()

    def action_go_on(self) -> None:
        """Show what is missing before anything is stored."""
        missing = (
            "type the number of the right reading, or"
            if self._verdict is RulingVerdict.MISREAD
            else "type"
        )
        self._say(f"Nothing is stored yet: {missing} the letter of a verdict.")

    def action_undo(self) -> None:
        """Undo a ruling. Ask for a reason if it is another auditor's."""
        last_ruling = self._last
        if last_ruling is None:
            return
        if last_ruling.auditor == self._auditor:
            self.dismiss(RulingRequest(self._thing, undo=last_ruling))
            return
        self._verdict, self._reading, self._undoing = None, None, last_ruling
        self._paint()
        self._ask("")

    def action_back(self) -> None:
        """Leave the reason, or the dialog."""
        if not self.box.has_focus:
            self.dismiss(None)
            return
        self._verdict = self._reading = self._undoing = None
        self.set_focus(None)
        self._paint()

    @on(Input.Submitted)
    def take(self, event: Input.Submitted) -> None:
        """Accept the ruling, or show what is missing."""
        if not event.value.strip():
            action_name = (
                "A ruling"
                if self._undoing is None
                else f"Taking back {self._undoing.auditor}'s ruling"
            )
            self._say(f"{action_name} needs a reason: type one.")
        elif self._undoing is not None:
            self.dismiss(RulingRequest(self._thing, reason=event.value, undo=self._undoing))
        elif (
            self._verdict is RulingVerdict.MISREAD
            and self._reading not in self._thing.right_readings
        ):
            self._rule(RulingVerdict.CONFIRMED, None, event.value)
        elif self._verdict is not None:
            self._rule(self._verdict, self._reading, event.value)

    def _rule(self, verdict: RulingVerdict, reading: str | None, reason: str) -> None:
        seen = frozenset(ruling.uid for ruling in self._standing[self._at])
        self.dismiss(
            RulingRequest(
                self._thing, verdict, reading, reason, all_models=self._all_models, seen=seen
            )
        )

    def _ask(self, reason: str) -> None:
        self.box.value = reason
        cast("GatedApp", self.app).forget_typed(self.box)
        self.query_one("#asked").add_class("-shown")
        self.box.focus()

    def _say(self, trouble: str) -> None:
        self.query_one("#trouble", Static).update(
            Content.styled(f"✗ {trouble}" if trouble else "", "$text-error")
        )

    def _paint(self) -> None:
        has_choice = self._verdict is not None or self._undoing is not None
        is_low = self.size.height < TALL and has_choice
        # On a low terminal only one object is visible, so that the reason stays in sight.
        visible_indices = [self._at] if is_low else range(len(self._things))
        lines = [self._line(index) for index in visible_indices]
        self.query_one("#things", Static).update(Content("\n").join(lines))
        self.query_one("#about").styles.max_height = "40vh" if is_low else None
        self.query_one("#stands", Static).update(self._rulings_content())
        self.query_one("#verdicts", Static).update(self._choices())
        self.query_one("#asked").set_class(self._asks_reason, "-shown")
        self._say("")
        self.query_one(".dialog", Vertical).border_subtitle = Content(self._keys_line())
        self.refresh_bindings()

    @property
    def _asks_reading(self) -> bool:
        """Whether the right reading is still to be chosen."""
        return self._verdict is RulingVerdict.MISREAD and not self._reading

    @property
    def _asks_reason(self) -> bool:
        """Whether only the reason is missing."""
        if self._undoing is not None:
            return True
        return self._verdict is not None and not self._asks_reading

    def _keys_line(self) -> str:
        """Return the keys that work now, for the border of the dialog."""
        tab_help = "Tab wider or narrower · " if len(self._things) > 1 else ""
        return f"{tab_help}{visible(self._keys_help())} · Esc back"

    def _keys_help(self) -> str:
        """Return what the next key does: it chooses, stores or undoes."""
        auditor_text = f" as {self._auditor}" if self._auditor else ""
        if self._asks_reading:
            return "numbers choose the right reading"
        if self._undoing:
            return f"Enter take it back{auditor_text}"
        if self._verdict:
            return f"Enter rule{auditor_text}"
        last_ruling = self._last
        if last_ruling is None:
            return "letters choose"
        if last_ruling.auditor == self._auditor:
            return "z undo"
        return f"z undo {last_ruling.auditor}'s"

    def _rulings_content(self) -> Content:
        if self._withheld and not any(self._standing):
            return Content.styled(WITHHELD, "$text-muted")
        return rulings_text(self._things, self._standing, self._at)

    def _line(self, index: int) -> Content:
        """Return the line of an object: its scope and name, and its text below unless a prompt."""
        thing = self._things[index]
        is_selected = index == self._at
        marker, style = ("▸", "bold") if is_selected else (" ", "$text-muted")
        scope = f"{marker} {visible(thing.scope)}"
        name = self._spoken_name(thing)
        room = min(self.size.width, WIDEST) - 4 - len(scope)
        first_line = Content.assemble(
            (scope, style), (name if len(name) <= room else "", "$text-muted")
        )
        if thing.subject.kind is Ruled.PROMPT:
            return first_line
        text_style = "" if is_selected else "$text-muted"
        return Content.assemble(first_line, (f"\n    {visible(cut(thing.words))}", text_style))

    @staticmethod
    def _spoken_name(thing: RulingSubject) -> str:
        """Return the name of an object beside its scope, or an empty string for a statement."""
        from workbench.evidence.ruling_subjects import display_name

        statement = thing.subject.named.get("statement", "")
        spoken_name = display_name(thing.name.partition("/=")[0], statement)
        if thing.subject.kind is Ruled.STATEMENT:
            return ""
        return f"  {visible(spoken_name)}"

    def _verdict_label(self, verdict: RulingVerdict) -> str:
        return SAYS if self._reading_hidden and verdict is RulingVerdict.MISREAD else verdict.value

    def _applies(self) -> str:
        if not self._turns:
            return APPLIES_TO_ALL
        return (
            "applies to all models · a to this model alone" if self._all_models else APPLIES_TO_ONE
        )

    def _choices(self) -> Content:
        """Return the verdicts with their letters, and what the next key decides."""
        verdicts = self._verdict_choices()
        n_first = 4 if len(verdicts) == 4 else 3
        lines = [Content("   ").join(verdicts[:n_first]), Content("   ").join(verdicts[n_first:])]
        lines.append(Content.styled(self._applies(), "$text-muted"))
        if self._verdict is RulingVerdict.MISREAD:
            readings = Content("   ").join(self._reading_choices())
            lines += [Content(""), Content.assemble("the answer says  ", readings)]
        if self._undoing is not None:
            text = f"You take back what {self._undoing.auditor} ruled: {self._undoing.verdict}."
            lines += [Content(""), Content.styled(visible(text), "bold $text-accent")]
        return Content("\n").join(lines)

    def _verdict_choices(self) -> list[Content]:
        """Return each verdict that fits an object, with its letter."""
        choices = []
        for key, verdict in LETTERS.items():
            is_hidden = self._reading_hidden and verdict is RulingVerdict.CONFIRMED
            if is_hidden or not any(_fits(thing, verdict) for thing in self._things):
                continue
            style = "bold $text-accent" if verdict is self._verdict else ""
            choices.append(Content.styled(f"{key} {self._verdict_label(verdict)}", style))
        return choices

    def _reading_choices(self) -> list[Content]:
        """Return each possible reading, with its number."""
        choices = []
        for number, label in enumerate(self._labels[:9], start=1):
            style = "bold $text-accent" if label == self._reading else ""
            choices.append(Content.styled(f"{number} {visible(label)}", style))
        return choices


def _fits(thing: RulingSubject, verdict: RulingVerdict) -> bool:
    return thing.subject.kind in RULED_ON[verdict] and (
        verdict is not RulingVerdict.MISREAD or bool(thing.labels)
    )


def cut(text: str) -> str:
    """Return the beginning of a text, in one line."""
    line = " ".join(text.split())
    return line if len(line) <= WORDS else f"{line[:WORDS]} …"


def rulings_text(
    things: Sequence[RulingSubject], standing: Sequence[Sequence[Ruling]], index: int
) -> Content:
    """Return the rulings on an object, the newest first, and then on what it is part of."""
    lines = [
        Content(visible(f"{thing.scope} ruled by {ruling_line(ruling)}"))
        for thing, rulings in zip(things[index:], standing[index:], strict=True)
        for ruling in reversed(rulings)
    ]
    if not lines:
        return Content.styled("Nobody has ruled on it.", "$text-muted")
    n_hidden = len(lines) - SHOWN
    if n_hidden > 0:
        lines[SHOWN:] = [Content(f"and {n_hidden} more")]
    return Content("\n").join(lines)


def ruling_line(ruling: Ruling) -> str:
    """Return a ruling in a line: auditor, verdict, reason and date."""
    verdict = ruling.verdict.value if ruling.verdict else ""
    reading_text = (
        f" ({ruling.label or 'unreadable'})" if ruling.verdict is RulingVerdict.MISREAD else ""
    )
    return f"{ruling.auditor}: {verdict}{reading_text} – {ruling.reason} ({ruling.at[:10]})"


__all__ = ["RulingDialog", "RulingRequest", "cut", "ruling_line", "rulings_text"]
