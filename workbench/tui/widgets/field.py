"""A field of a form for one line of text, beside lists in which Space ticks."""

from __future__ import annotations

from textual import events
from textual.widgets import Input


class Field(Input):
    """Selects its text as it gets focus, so that typing replaces it; a blank does not.

    Nobody means a blank alone, and people who come by Tab from a list have the thumb on Space.
    """

    def on_key(self, event: events.Key) -> None:
        """Put the cursor behind the text where a blank would take its place."""
        if event.key == "space" and self.value and self.selected_text == self.value:
            event.prevent_default()
            event.stop()
            self.cursor_position = len(self.value)
