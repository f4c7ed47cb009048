"""Every action by its name, in the command palette: what the keys do now, and the screens."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from textual.binding import ActiveBinding
from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.screen import Screen
from textual.widget import Widget


def _nearness(active: ActiveBinding) -> int:
    """Sort key: what this screen does, what works everywhere, what Textual's own keys and the cursor's do."""
    if isinstance(active.node, Widget) and not (isinstance(active.node, Screen) and active.binding.tooltip):
        return 2
    return 0 if isinstance(active.node, Screen) else 1


class ActionProvider(Provider):
    """Finds the actions that are bound to keys where the palette was opened."""

    async def discover(self) -> Hits:
        for name, help_text, run in self._actions():
            yield DiscoveryHit(Content(name), run, help=help_text)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for name, help_text, run in self._actions():
            score = matcher.match(name)
            if score > 0:
                yield Hit(score, matcher.highlight(name), run, text=name, help=help_text)

    def _actions(self) -> Iterator[tuple[str, str, Callable[[], Any]]]:
        seen: set[tuple[int, str]] = set()
        for active in sorted(self.screen.active_bindings.values(), key=_nearness):
            binding = active.binding
            identity = (id(active.node), binding.action)
            if not binding.description or not active.enabled or identity in seen or binding.system:
                continue
            seen.add(identity)
            key = self.app.get_key_display(binding)
            yield (
                binding.tooltip or binding.description,
                f"key {key}",
                partial(self.app.run_action, binding.action, active.node),
            )
