"""What stands around every screen: the line that says where one is, the panel that says what went wrong, the keys.

Textual's footer makes all its keys anew whenever the focus moves or a key may have come or gone, and the whole screen
is laid out again for it: most of what moving about would cost. So `Keys` is made anew only where it would read
differently.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import HorizontalGroup
from textual.content import Content
from textual.reactive import reactive
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Footer, Static
from textual.widgets._footer import FooterKey

from workbench.errors import WorkbenchError
from workbench.figures.hints import hinted
from workbench.figures.visible import visible

if TYPE_CHECKING:
    from pathlib import Path

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
            ("workbench", "bold"), " · ", visible(self.store), "  ", (visible(self.place), "bold $text-accent")
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
            room = self.content_size.width - before.cell_length - said.cell_length - after.cell_length - gap
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


class Keys(Footer):
    """The keys that work now; those that lead everywhere stay at the right."""

    DEFAULT_CSS = """
    Keys > .always { dock: right; width: auto; height: 1; background: $footer-background; padding-left: 1; }
    Keys > .always FooterKey:last-of-type { margin-right: 0; }
    Keys > .-cut { visibility: hidden; }
    """

    def __init__(self) -> None:
        super().__init__(show_command_palette=False, compact=True)
        self._made: list[object] | None = None

    def compose(self) -> ComposeResult:
        first: tuple[str, ...] = getattr(self.screen, "FOOTER_FIRST", ())
        yield from sorted(
            (one for one in super().compose() if not self._stands_at_right(one)),
            key=lambda one: (
                first.index(one.action) if isinstance(one, FooterKey) and one.action in first else len(first)
            ),
        )
        if self._bindings_ready:
            active = self.screen.active_bindings
            with HorizontalGroup(classes="always"):
                for key in ALWAYS:
                    if (found := active.get(key)) is not None and (found.binding.show or key in SHORT):
                        yield FooterKey(
                            key,
                            self.app.get_key_display(found.binding),
                            SHORT.get(key, found.binding.description),
                            found.binding.action,
                            disabled=not found.enabled,
                            tooltip=found.tooltip,
                        ).data_bind(compact=Footer.compact)

    def _stands_at_right(self, widget: Widget) -> bool:
        """Return whether a key is one of those, or another one for what one of those does."""
        active = self.screen.active_bindings
        same = {active[key].binding.action for key in ALWAYS if key in active and active[key].binding.show}
        return isinstance(widget, FooterKey) and (widget.key in ALWAYS or widget.action in same)

    def on_resize(self) -> None:
        self.call_after_refresh(self.hide_cut)

    def hide_cut(self) -> None:
        """Leave out keys of which there is room for a part alone: F1 lists them."""
        always = next(iter(self.query(".always")), None)
        if always is not None and always.region.width:
            for key in self.query_children(FooterKey):
                key.set_class(key.region.right > always.region.x, "-cut")

    def bindings_changed(self, screen: Screen[object]) -> None:
        self._bindings_ready = True
        if screen.app.app_focus and self.is_attached and screen is self.screen:
            self.call_after_refresh(self.renew)

    async def renew(self) -> None:
        """Show the keys that work now.

        While another screen is in front, Textual would ask that one about some of these keys, and it may not have its
        parts yet. The own screen asks again when it comes back.
        """
        if not self.is_attached or self.app.screen is not self.screen:
            return
        shown = [
            (active.binding, active.enabled, active.tooltip)
            for active in self.screen.active_bindings.values()
            if active.binding.show
        ]
        if shown != self._made:
            self._made = list(shown)
            await self.recompose()
            self.call_after_refresh(self.hide_cut)
            self.screen.check_idle()  # it paints nothing while parts are exchanged, and is not told when that is over
