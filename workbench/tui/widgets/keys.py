"""The line of keys below every screen, made anew only where it would read differently.

Textual's footer makes all its keys anew whenever the focus moves or a key may have come or gone, and the whole screen
is laid out again for it: most of what moving about would cost.
"""

from __future__ import annotations

from textual.screen import Screen
from textual.widgets import Footer


class Keys(Footer):
    """The keys that work now."""

    def __init__(self) -> None:
        super().__init__(show_command_palette=False, compact=True)
        self._made: list[object] | None = None

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
            self.screen.check_idle()  # it paints nothing while parts are exchanged, and is not told when that is over
