"""What stands around every screen: the line that says where one is, the panel that says what went
wrong, the keys.

Textual's footer has a part for each key, and makes all of them anew whenever the focus moves or a
key may have come or gone: most of what moving about would cost. `Keys` is one part, painted anew
only where it would read differently.
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
    from pathlib import Path

    from textual.binding import ActiveBinding
    from textual.timer import Timer

SAID_S = 8.0
"for which it stays in sight what a key did"


class TitleBar(Static):
    """`workbench · elections.db ── statements`, and a few words at the right."""

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
    "what was done a moment ago; it stands where there is room, else in place of the rest"

    def __init__(self, store: str, place: str) -> None:
        super().__init__(markup=False)
        self.store = store
        self._ends: Timer | None = None
        self.set_reactive(TitleBar.place, place)

    def say(self, sentence: str, *, warns: bool = False) -> None:
        """Show a sentence for a while; it takes more lines only where one cannot hold it."""
        mark, style = ("!", "bold $text-warning") if warns else ("✓", "bold $text-success")
        said = Content.assemble((f"{mark} {visible(sentence)}", style))
        self.set_class(said.cell_length > self.content_size.width, "-long")
        self.said = said
        if self._ends is not None:
            self._ends.stop()
        self._ends = self.set_timer(SAID_S, self.unsay)

    def unsay(self) -> None:
        """Show again where one is."""
        self.said = None
        self.remove_class("-long")

    def rename(self, store: str) -> None:
        """Name another store."""
        self.store = store
        self.refresh()

    def render(self) -> Content:
        left = Content.assemble(
            ("workbench", "bold"),
            " · ",
            visible(self.store),
            "  ",
            (visible(self.place), "bold $text-accent"),
        )
        note = Content(visible(self.note))
        if self.said is not None:
            return self._with_said(left, note, self.said)
        room = self.content_size.width - left.cell_length - note.cell_length
        return Content.assemble(left, " " * max(2, room), note)

    def _with_said(self, left: Content, note: Content, said: Content) -> Content:
        """Return what was done with as much of the rest as there is room for."""
        place, nothing = Content.styled(visible(self.place), "bold $text-accent"), Content("")
        here = Content.assemble(visible(self.store), "  ", place)
        for before, after in ((left, note), (left, nothing), (here, nothing), (place, nothing)):
            gap = 2 * bool(after.cell_length)
            room = (
                self.content_size.width
                - before.cell_length
                - said.cell_length
                - after.cell_length
                - gap
            )
            if room >= 2:
                return Content.assemble(before, " " * room, said, " " * gap, after)
        return said


class Trouble(Static):
    """What went wrong, what was kept, and what to do; hidden while all is well."""

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
        """Show an error; commands that it names are about the store at hand, where there is one."""
        said = str(error) if store is None else hinted(str(error), store)
        self.update(Content(visible(said, lines=True)))
        self.add_class("-shown")

    def hide(self) -> None:
        self.remove_class("-shown")

    @property
    def shown(self) -> bool:
        return self.has_class("-shown")


ALWAYS = ("f1", "ctrl+p", "q")
"keys that stay in sight at the right, however many stand before them"
SHORT = {"f1": "Keys", "ctrl+p": ""}
"what they are called here: there is little room"


class Shown(NamedTuple):
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
    """The keys that work now; those that lead everywhere stay at the right, and those there is no
    room for are left out whole: F1 lists them.
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
        self._left: list[Shown] = []
        self._right: list[Shown] = []

    @property
    def placed(self) -> list[tuple[int, Shown]]:
        """Return the keys for which there is room, each with the column it begins at."""
        found: list[tuple[int, Shown]] = []
        at = edge = self.size.width
        for one in reversed(self._right):
            at = edge - one.width
            found.append((at, one))
            edge = at - 1
        column, edge = 0, at - 1 if self._right else at
        for one in self._left:
            if column + one.width <= edge:
                found.append((column, one))
            column += one.width + 1
        return sorted(found)

    def render(self) -> Content:
        parts: list[Content | tuple[str, Style]] = []
        at = 0
        for column, one in self.placed:
            over = ("keys--over",) * (one.key == self._over)
            key, description = (
                self.get_visual_style(*over, part) + Style(dim=not one.enabled or None)
                for part in ("keys--key", "keys--description")
            )
            parts += [Content(" " * (column - at)), (one.name, key)]
            if one.description:
                parts.append((f" {one.description}", description))
            at = column + one.width
        return Content.assemble(*parts)

    def _at(self, column: int) -> Shown | None:
        """Return the key that stands at a column."""
        return next(
            (one for begin, one in self.placed if begin <= column < begin + one.width), None
        )

    def on_mouse_move(self, event: MouseMove) -> None:
        found = self._at(event.x)
        if (over := found.key if found is not None else "") != self._over:
            self._over, self.tooltip = over, found.tooltip or None if found is not None else None

    def on_leave(self) -> None:
        self._over, self.tooltip = "", None

    def on_mouse_down(self, event: MouseDown) -> None:
        if (found := self._at(event.x)) is None:
            return
        if found.enabled:
            self.app.simulate_key(found.key)
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
        it may not have its parts yet. The own screen asks again when it comes back.
        """
        if not self.is_attached or self.app.screen is not self.screen:
            return
        active = self.screen.active_bindings
        right = [
            active[key]
            for key in ALWAYS
            if key in active and (active[key].binding.show or key in SHORT)
        ]
        same = {one.binding.action for one in right if one.binding.show}
        left: dict[str, ActiveBinding] = {}
        for one in active.values():
            if one.binding.show and one.binding.action not in same:
                left.setdefault(one.binding.action, one)
        first: tuple[str, ...] = getattr(self.screen, "FOOTER_FIRST", ())
        actions = sorted(
            left, key=lambda action: first.index(action) if action in first else len(first)
        )
        shown = (
            [self._shown(left[action]) for action in actions],
            [self._shown(one) for one in right],
        )
        if shown != (self._left, self._right):
            self._left, self._right = shown
            self.refresh()

    def _shown(self, active: ActiveBinding) -> Shown:
        binding = active.binding
        called = (
            SHORT.get(binding.key, binding.description)
            if binding.key in ALWAYS
            else binding.description
        )
        return Shown(
            binding.key, self.app.get_key_display(binding), called, active.enabled, active.tooltip
        )
