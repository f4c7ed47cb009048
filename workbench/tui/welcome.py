"""The terminal before there is a store: it ends with the one that was chosen."""

from __future__ import annotations

import os
from pathlib import Path
from typing import ClassVar

from textual.app import App
from textual.binding import Binding, BindingType

from workbench.tui.app import key_list, run_app
from workbench.tui.commands import ActionProvider
from workbench.tui.home.welcome import EXPLAIN, WelcomeScreen
from workbench.tui.kit.dialogs import TextScreen
from workbench.tui.literal import LiteralApp


class WelcomeApp(LiteralApp):
    """Offers the stores that there are, and new ones."""

    CSS_PATH = "workbench.tcss"
    TITLE = "workbench"
    COMMANDS = App.COMMANDS | {ActionProvider}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("question_mark", "explain", "Explain", show=False, tooltip="Explain this list"),
        Binding("f1", "keys", "Keys", key_display="F1", tooltip="List the keys of this screen"),
        Binding("ctrl+p", "command_palette", "Find an action", show=False, priority=True),
        Binding("q,escape", "leave", "Quit", key_display="q"),
    ]

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder
        self.chosen: Path | None = None
        "the store that is to be opened; None: the person left"

    def on_mount(self) -> None:
        self.push_screen(WelcomeScreen(self._folder))

    def on_welcome_screen_opened(self, event: WelcomeScreen.Opened) -> None:
        self.chosen = event.path
        self.exit(0)

    def action_explain(self) -> None:
        """Say what is listed."""
        self.push_screen(TextScreen("Stores", EXPLAIN))

    def action_keys(self) -> None:
        """List the keys of what has focus, of its screen, and of the whole app."""
        self.push_screen(TextScreen("Keys of this screen", key_list(self)))

    def action_leave(self) -> None:
        """Quit without a store."""
        self.exit(0)


def run_welcome(folder: Path) -> int:
    """Let a person choose a store, and run the terminal on it until it is left; return the exit code."""
    for size in ("COLUMNS", "LINES"):  # what tables obey; screens are as large as the terminal is
        os.environ.pop(size, None)
    app = WelcomeApp(folder)
    app.run()
    if app.chosen is None:
        return app.return_code or 0
    return run_app(app.chosen)
