"""The frame of every screen: the title line, the panel of an error, and the footer of keys.

Textual's footer has a widget for each key, and creates all of them again whenever the focus moves
or a key may have come or gone: most of the cost of moving about. `Keys` is one widget, painted
again only if its text differs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

from rich.cells import cell_len
from textual.content import Content
from textual.events import MouseDown, MouseMove
from textual.reactive import reactive
from textual.screen import Screen
from textual.style import Style
from textual.widget import Widget
from textual.widgets import Static

from workbench.errors import WorkbenchError
from workbench.figures.hints import hinted
from workbench.figures.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from textual.binding import ActiveBinding
    from textual.timer import Timer

SAID_S = 8.0
"seconds for which the result of a key stays visible"


class TitleBar(Static):
    """The title line: `workbench · elections.db ── statements`, and a note at the right."""

    DEFAULT_CSS = """
    TitleBar {
        dock: top;
        height: 1;
        padding: 0 1;
        background: $panel;
        color: $foreground;
        text-wrap: nowrap;
        text-overflow: ellipsis;
    }
    TitleBar.-long {
        height: auto;
        max-height: 3;
        text-wrap: wrap;
    }
    """

    place: reactive[str] = reactive("")
    note: reactive[str] = reactive("")
    said: reactive[Content | None] = reactive[Content | None](None)
    "message on the last action, beside the title if there is room, else in place of it"

    def __init__(self, store: str, place: str) -> None:
        super().__init__(markup=False)
        self.store = store
        self._ends: Timer | None = None
        self.set_reactive(TitleBar.place, place)

    def say(self, sentence: str, *, warns: bool = False) -> None:
        """Show a message for a while. It takes more lines only if one cannot hold it."""
        symbol, style = ("!", "bold $text-warning") if warns else ("✓", "bold $text-success")
        message = Content.assemble((f"{symbol} {visible(sentence)}", style))
        self.set_class(message.cell_length > self.content_size.width, "-long")
        self.said = message
        if self._ends is not None:
            self._ends.stop()
        self._ends = self.set_timer(SAID_S, self.unsay)

    def unsay(self) -> None:
        """Show the title again."""
        self.said = None
        self.remove_class("-long")

    def rename(self, store: str) -> None:
        """Show the name of another store."""
        self.store = store
        self.refresh()

    def render(self) -> Content:
        title = Content.assemble(
            ("workbench", "bold"),
            " · ",
            visible(self.store),
            "  ",
            (visible(self.place), "bold $text-accent"),
        )
        note = Content(visible(self.note))
        if self.said is not None:
            return self._with_said(title, note, self.said)
        room = self.content_size.width - title.cell_length - note.cell_length
        return Content.assemble(title, " " * max(2, room), note)

    def _with_said(self, left: Content, note: Content, said: Content) -> Content:
        """Return the message with as much of the title as there is room for."""
        screen_place, empty = Content.styled(visible(self.place), "bold $text-accent"), Content("")
        short_title = Content.assemble(visible(self.store), "  ", screen_place)
        for left_part, right_part in (
            (left, note),
            (left, empty),
            (short_title, empty),
            (screen_place, empty),
        ):
            gap = 2 if right_part.cell_length else 0
            room = (
                self.content_size.width
                - left_part.cell_length
                - said.cell_length
                - right_part.cell_length
                - gap
            )
            if room >= 2:
                return Content.assemble(left_part, " " * room, said, " " * gap, right_part)
        return said


class Trouble(Static):
    """An error, with its consequences and what to do. It is hidden without an error."""

    DEFAULT_CSS = """
    Trouble {
        display: none;
        height: auto;
        max-height: 60%;
        margin: 1 2;
        padding: 0 1;
        border: round $error;
        border-title-color: $text-error;
        border-subtitle-color: $text-muted;
    }
    Trouble.-shown {
        display: block;
    }
    """

    def __init__(self) -> None:
        super().__init__(markup=False)
        self.border_title = "✗ This did not work"

    def show(self, error: WorkbenchError, store: Path | None = None) -> None:
        """Show an error. With a store, the commands that it names refer to that."""
        message = str(error) if store is None else hinted(str(error), store)
        self.update(Content(visible(message, lines=True)))
        self.add_class("-shown")

    def hide(self) -> None:
        self.remove_class("-shown")

    @property
    def shown(self) -> bool:
        return self.has_class("-shown")


ALWAYS = ("f1", "ctrl+p", "q")
"keys that stay visible at the right, whatever the others need"
SHORT = {"f1": "Keys", "ctrl+p": ""}
"their descriptions here, where there is little room"


class ActiveKey(NamedTuple):
    """A key that works now."""

    key: str
    name: str
    description: str
    enabled: bool
    tooltip: str

    @property
    def width(self) -> int:
        return cell_len(self.name) + bool(self.description) + cell_len(self.description)


class Keys(Widget):
    """The keys that work now. The global ones stay at the right.

    Keys without enough room are omitted. F1 lists all of them.
    """

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {"keys--key", "keys--description", "keys--over"}
    DEFAULT_CSS = """
    Keys {
        dock: bottom;
        height: 1;
        color: $footer-foreground;
        background: $footer-background;
    }
    Keys > .keys--key {
        color: $footer-key-foreground;
        background: $footer-key-background;
        text-style: bold;
    }
    Keys > .keys--description {
        color: $footer-description-foreground;
        background: $footer-description-background;
    }
    Keys > .keys--over {
        background: $block-hover-background;
    }
    """

    _over: reactive[str] = reactive("")
    "the key under the pointer"

    def __init__(self) -> None:
        super().__init__(markup=False)
        self._left: list[ActiveKey] = []
        self._right: list[ActiveKey] = []

    @property
    def placed(self) -> list[tuple[int, ActiveKey]]:
        """The visible keys from left to right, each with its first column."""
        right_keys = self._right_from(self.size.width)
        edge = right_keys[0][0] - 1 if right_keys else self.size.width
        left_keys = []
        column = 0
        for active_key in self._left:
            if column + active_key.width > edge:
                break
            left_keys.append((column, active_key))
            column += active_key.width + 1
        return left_keys + right_keys

    def _right_from(self, edge: int) -> list[tuple[int, ActiveKey]]:
        """Return the keys at the right, which end at an edge, each with its first column."""
        placed_keys: list[tuple[int, ActiveKey]] = []
        for active_key in reversed(self._right):
            start = edge - active_key.width
            placed_keys.insert(0, (start, active_key))
            edge = start - 1
        return placed_keys

    def render(self) -> Content:
        parts: list[Content | tuple[str, Style]] = []
        end = 0
        for column, placed_key in self.placed:
            hover_class = ("keys--over",) if placed_key.key == self._over else ()
            key, description = (
                self.get_visual_style(*hover_class, component)
                + Style(dim=not placed_key.enabled or None)
                for component in ("keys--key", "keys--description")
            )
            parts += [Content(" " * (column - end)), (placed_key.name, key)]
            if placed_key.description:
                parts.append((f" {placed_key.description}", description))
            end = column + placed_key.width
        return Content.assemble(*parts)

    def _at(self, column: int) -> ActiveKey | None:
        """Return the key at a column, or None."""
        return next(
            (
                placed_key
                for start, placed_key in self.placed
                if start <= column < start + placed_key.width
            ),
            None,
        )

    def on_mouse_move(self, event: MouseMove) -> None:
        hovered = self._at(event.x)
        if (hovered_name := hovered.key if hovered is not None else "") != self._over:
            self._over, self.tooltip = (
                hovered_name,
                hovered.tooltip or None if hovered is not None else None,
            )

    def on_leave(self) -> None:
        self._over, self.tooltip = "", None

    def on_mouse_down(self, event: MouseDown) -> None:
        if (clicked := self._at(event.x)) is None:
            return
        if clicked.enabled:
            self.app.simulate_key(clicked.key)
        else:
            self.app.bell()

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, self.bindings_changed)

    def bindings_changed(self, screen: Screen[object]) -> None:
        if screen.app.app_focus and self.is_attached and screen is self.screen:
            self.call_after_refresh(self.renew)

    def renew(self) -> None:
        """Show the keys that work now.

        While another screen is in front, Textual would ask that one about some of these keys, and
        it may not have its widgets yet. This screen asks again when it comes back.
        """
        if not self.is_attached or self.app.screen is not self.screen:
            return
        active = self.screen.active_bindings
        right = [
            active[key]
            for key in ALWAYS
            if key in active and (active[key].binding.show or key in SHORT)
        ]
        right_actions = {binding.binding.action for binding in right if binding.binding.show}
        left_keys = [
            self._active_key(binding)
            for binding in self._in_footer_order(active.values())
            if binding.binding.action not in right_actions
        ]
        right_keys = [self._active_key(binding) for binding in right]
        if (left_keys, right_keys) != (self._left, self._right):
            self._left, self._right = left_keys, right_keys
            self.refresh()

    def _in_footer_order(self, active: Iterable[ActiveBinding]) -> list[ActiveBinding]:
        """Return one binding for each action with a label, the screen's `FOOTER_FIRST` first."""
        binding_by_action: dict[str, ActiveBinding] = {}
        for binding in active:
            if binding.binding.show:
                binding_by_action.setdefault(binding.binding.action, binding)
        first_actions: tuple[str, ...] = getattr(self.screen, "FOOTER_FIRST", ())
        first = []
        for action in first_actions:
            if action in binding_by_action:
                first.append(binding_by_action.pop(action))
        return [*first, *binding_by_action.values()]

    def _active_key(self, active: ActiveBinding) -> ActiveKey:
        binding = active.binding
        description = binding.description
        if binding.key in ALWAYS:
            description = SHORT.get(binding.key, description)
        return ActiveKey(
            binding.key,
            self.app.get_key_display(binding),
            description,
            active.enabled,
            active.tooltip,
        )
