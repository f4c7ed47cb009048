"""The line of keys below every screen, made anew only where it would read differently.

Textual's footer makes all its keys anew whenever the focus moves or a key may have come or gone, and the whole screen
is laid out again for it: most of what moving about would cost.
"""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import HorizontalGroup
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Footer
from textual.widgets._footer import FooterKey

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
