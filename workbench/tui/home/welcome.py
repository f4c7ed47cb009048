"""The screen Welcome, which offers stores if `workbench` was started without one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from asyncio import to_thread
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from textual import on, work
from textual.app import App, ComposeResult, SystemCommand
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.getters import query_one
from textual.message import Message
from textual.screen import ModalScreen, Screen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option
from textual.worker import get_current_worker

from workbench.errors import StoreError, WorkbenchError
from workbench.figures.visible import visible
from workbench.help.sections import section
from workbench.tui.app import key_list, run_app
from workbench.tui.commands import ActionProvider
from workbench.tui.kit.awaited import Awaited
from workbench.tui.kit.base import Background, worker
from workbench.tui.kit.dialogs import TextScreen, with_answer
from workbench.tui.kit.key_gate import GatedApp, gate_of
from workbench.tui.preferences import Recent, forget, recent_stores, stores_in
from workbench.tui.widgets.frame import Keys, TitleBar, Trouble
from workbench.whole_folders import made_beside

EXAMPLE = "veldania"
"the instrument that ships, and the store that is made for it"
STAND_IN, LOOK_EVERY_S = "scripted:steady", 0.5
"the example's stand-in that is audited, and seconds between two polls of its process"
NOTE = "Enter or a click opens"
NAMES = 24
"columns of the names of stores"

EXPLAIN = section("screens-home", "Stores")


class WelcomeScreen(Screen[None], Background):
    """The screen of recent stores, stores in this folder, a new store and the example."""

    CSS_PATH: ClassVar = ["../kit/dialogs.tcss", "welcome.tcss"]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "Open", tooltip="Open this store"),
        Binding("n", "new", "New store", tooltip="Create a new store"),
        Binding("e", "example", "Example", tooltip="Open the example; make it first if needed"),
        Binding(
            "T,delete",
            "forget",
            "Forget",
            tooltip="Remove a recent store from the list; its file stays",
        ),
        Binding("f5", "refresh", "Refresh", show=False, tooltip="Look again"),
        Binding("j", "down", "Down", show=False, tooltip="Go down"),
        Binding("k", "up", "Up", show=False, tooltip="Go up"),
    ]

    places = query_one("#places", OptionList)
    trouble = query_one(Trouble)

    @dataclass
    class Opened(Message):
        """A store can be opened."""

        path: Path

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder
        self._recent: tuple[Recent, ...] = ()
        self._opening: Awaited | None = None
        "the store that is being opened"

    def compose(self) -> ComposeResult:
        yield TitleBar("choose a store", "welcome")
        yield Trouble()
        yield OptionList(
            Option(Content.styled("Looking for stores …", "dim"), disabled=True),
            id="places",
            markup=False,
        )
        yield Keys()

    def on_mount(self) -> None:
        self.title_bar.note = NOTE
        self.places.focus()
        self.look()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        if action == "forget":
            return self._chosen("recent") is not None
        return True

    def failed(self, error: WorkbenchError) -> None:
        """Show why a store cannot be opened. The list stays."""
        if self._opening is not None:
            gate_of(self).arrived(self._opening, failed=True)
        self.trouble.show(error)
        self.look()

    @on(OptionList.OptionHighlighted)
    def renew_keys(self) -> None:
        self.refresh_bindings()

    @on(OptionList.OptionSelected)
    def act(self, event: OptionList.OptionSelected) -> None:
        kind, _, path = (event.option_id or "").partition(":")
        if kind == "new":
            self.action_new()
        elif kind == "example":
            self.action_example()
        elif path:
            self._open(Path(path))

    def action_open(self) -> None:
        self.places.action_select()

    def action_down(self) -> None:
        self.places.action_cursor_down()

    def action_up(self) -> None:
        self.places.action_cursor_up()

    def action_refresh(self) -> None:
        self.trouble.hide()
        self.look()

    def action_forget(self) -> None:
        """Remove the recent store under the cursor from the list."""
        path = self._chosen("recent")
        if path is not None:
            self.trouble.hide()
            forget(path)
            self.look()

    def action_new(self) -> None:
        """Ask for a name, and create a store."""
        with_answer(self, NewStoreDialog(self._folder), lambda path: self._open(path, make=True))

    def action_example(self) -> None:
        """Open the example in this folder, and create it first if it does not exist."""
        self._open(self._folder / f"{EXAMPLE}.db", make=True, example=True)

    def _open(self, path: Path, *, make: bool = False, example: bool = False) -> None:
        self.trouble.hide()
        self.title_bar.note = f"Opening {path.name} …"
        self._opening = gate_of(self).expect(self, "content")
        self._opening.worker = self.try_open(path, make=make, example=example)

    @property
    def title_bar(self) -> TitleBar:
        return self.query_one(TitleBar)

    def _chosen(self, kind: str) -> Path | None:
        """Return the store under the cursor if its line is of a kind, or None."""
        option = self.places.highlighted_option if self.is_mounted else None
        line_kind, _, path = ((option.id or "") if option is not None else "").partition(":")
        return Path(path) if line_kind == kind and path else None

    def _show(self, recent: Sequence[Recent], gone: frozenset[Path], here: Sequence[Path]) -> None:
        current_key = self.places.highlighted_option.id if self.places.highlighted_option else None
        options = list(welcome_options(recent, gone, here, self._folder))
        self.places.set_options(options)
        usable_keys = [option.id for option in options if not option.disabled]
        key = current_key if current_key in usable_keys else usable_keys[0]
        self.places.highlighted = self.places.get_option_index(str(key))
        self.refresh_bindings()

    @worker("look")
    async def look(self) -> None:
        def load() -> tuple[tuple[Recent, ...], tuple[Path, ...], frozenset[Path]]:
            recent = recent_stores()
            recent_paths = {recent_store.path for recent_store in recent}
            stores_here = tuple(
                path for path in stores_in(self._folder) if path.absolute() not in recent_paths
            )
            return (
                recent,
                stores_here,
                frozenset(recent_store.path for recent_store in recent if recent_store.gone),
            )

        self._recent, local_stores, gone_paths = await to_thread(load)
        self._show(self._recent, gone_paths, local_stores)

    @work(thread=True, exclusive=True, exit_on_error=False, group="open")
    def try_open(self, path: Path, *, make: bool, example: bool) -> None:
        """Open the store once, so that errors are shown here, where another can be chosen."""
        current_worker = get_current_worker()
        try:
            if example and not path.exists():
                make_example(
                    path,
                    lambda message: self.app.call_from_thread(
                        setattr, self.title_bar, "note", message
                    ),
                    lambda: current_worker.is_cancelled,
                )
            usable_store(path, make=make)
        finally:
            self.app.call_from_thread(setattr, self.title_bar, "note", NOTE)
        self.post_message(self.Opened(path))


def make_example(path: Path, tell: Callable[[str], None], is_left: Callable[[], bool]) -> None:
    """Create the example with its answers in a process of its own.

    An interrupted example is completed next time. Raises StoreError with the output of the process.
    """
    with made_beside(path) as folder:
        folder.mkdir()
        example_path = folder / path.name
        options = ["--personas", "--model", STAND_IN, "--no-screen"]
        with (folder / "log").open("w+", encoding="utf-8") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "workbench", "demo", str(example_path), *options],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
            started_at = time.monotonic()
            while process.poll() is None:
                if is_left():
                    os.killpg(process.pid, signal.SIGTERM)
                    process.wait()
                    return
                tell(f"Making the example: {time.monotonic() - started_at:.0f} s, of about 2 min …")
                time.sleep(LOOK_EVERY_S)
            log.seek(0)
            if process.returncode:
                raise StoreError(f"the example cannot be made: {log.read()[-400:].strip()}")
        for file in (example_path, example_path.with_name(f"{example_path.name}.logs")):
            file.rename(path.with_name(file.name))


def usable_store(path: Path, *, make: bool = False) -> None:
    """Open a store and close it, and with `make` create it if it does not exist.

    Raises StoreError with the reason if it is not usable.
    """
    from stores.core.store import Store

    try:
        if not make and not path.exists():
            raise StoreError(
                f"{path}: the store is gone: it was deleted, moved or renamed. T removes it from "
                "the list; if it was moved, open it with: workbench STORE"
            )
        with Store.open(path, create=make):
            pass
    except OSError as error:
        raise StoreError(f"{path}: cannot be opened ({error.strerror or error})") from error


def welcome_options(
    recent: Sequence[Recent], gone: frozenset[Path], here: Sequence[Path], folder: Path
) -> Sequence[Option]:
    """Return the lines of the screen, each under a key that stays the same."""
    options = [_heading("Recent", first=True)] if recent else []
    for recent_store in recent:
        opened_at = "gone" if recent_store.path in gone else recent_store.opened
        options.append(
            Option(
                _line(recent_store.path.name, opened_at, short(recent_store.path.parent)),
                id=f"recent:{recent_store.path}",
            )
        )
    options += [_heading(f"In this folder · {short(folder)}", first=not recent)] if here else []
    options += [Option(_line(path.name, "", ""), id=f"here:{path}") for path in here]
    if not recent and not here:
        options.append(
            _heading(f"You have opened no store yet, and {short(folder)} has none", first=True)
        )
    has_example = (folder / f"{EXAMPLE}.db").exists()
    example_text = f"a study with answers; {'opens' if has_example else 'makes'} {EXAMPLE}.db"
    options.append(_heading("Begin"))
    options.append(
        Option(_line("n  A new store …", "", "an empty store in a file of your own"), id="new:")
    )
    options.append(Option(_line("e  The example", "", example_text), id="example:"))
    return options


def short(path: Path) -> str:
    """Return a path with `~` for the user's home."""
    try:
        return str(Path("~") / path.absolute().relative_to(Path.home()))
    except (ValueError, RuntimeError, OSError):
        return str(path)


def _heading(text: str, *, first: bool = False) -> Option:
    return Option(
        Content.styled(("" if first else "\n") + visible(text), "bold $text-muted"), disabled=True
    )


def _line(name: str, when: str, where: str) -> Content:
    shown_name = visible(name)
    shown_name = shown_name if len(shown_name) <= NAMES else shown_name[: NAMES - 1] + "…"
    is_gone = when == "gone"
    return Content.assemble(
        (f"{shown_name:<{NAMES}}", "" if is_gone else "bold"),
        (
            f"  {'✗ gone' if is_gone else when:<16}" if when else "",
            "$text-error" if is_gone else "$text-muted",
        ),
        (f"  {visible(where)}", "$text-muted"),
    )


class NewStoreDialog(ModalScreen[Path | None]):
    """A dialog that asks for the file of a new store. It returns its path, or None."""

    SHORT_TEXT = True

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Back", tooltip="Go back")
    ]

    box = query_one("#file", Input)
    note = query_one("#note", Static)

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = "A new store"
            dialog.border_subtitle = "Enter create · Esc back"
            yield Input(placeholder="audit.db", id="file", compact=True)
            yield Static(
                Content(f"A file name in {visible(short(self._folder))}, or a path."), id="note"
            )

    def on_mount(self) -> None:
        self.box.focus()

    @on(Input.Submitted)
    def take(self, event: Input.Submitted) -> None:
        """Accept the name, or show why it is invalid."""
        path, error_text = new_path(event.value, self._folder)
        if path is None:
            self.note.update(Content.styled(visible(f"✗ {error_text}"), "$text-error"))
            return
        self.dismiss(path)


def new_path(text: str, folder: Path) -> tuple[Path | None, str]:
    """Return the path of a new store, or None and the reason why it is invalid."""
    name_text = text.strip()
    if not name_text or "\x00" in name_text:
        return None, "give a file name, for example audit.db"
    try:
        path = folder / Path(name_text).expanduser()
        if path.is_dir():
            return None, f"{path} is a folder; give a file in it, for example {path / 'audit.db'}"
        if path.exists():
            return None, f"{path} already exists; choose another name, or open it from the list"
        if not path.parent.is_dir():
            return (
                None,
                f"the folder {path.parent} does not exist; create it first, or choose another "
                "folder",
            )
    except (OSError, RuntimeError) as error:
        return None, f"{name_text[:60]!r} cannot be created ({error})"
    return path, ""


class WelcomeApp(GatedApp):
    """The app that offers existing stores and new ones."""

    CSS_PATH = "../workbench.tcss"
    TITLE = "workbench"
    COMMANDS = App.COMMANDS | {ActionProvider}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("question_mark", "explain", "Explain", show=False, tooltip="Explain this list"),
        Binding("f1", "keys", "Keys", key_display="F1", tooltip="List the keys of this screen"),
        Binding("ctrl+p", "command_palette", "Find an action", show=False, priority=True),
        Binding("q,escape", "leave", "Quit", key_display="q", tooltip="Leave the program"),
    ]

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder
        self.chosen: Path | None = None
        "store to open, or None if the user left"

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:  # noqa: ARG002
        """Yield the one action of Textual in the palette that no key of ours has."""
        yield SystemCommand("Theme", "Change the current theme", self.action_change_theme)

    def on_mount(self) -> None:
        self.watch_screens()
        self.push_screen(WelcomeScreen(self._folder))

    def on_welcome_screen_opened(self, event: WelcomeScreen.Opened) -> None:
        self.chosen = event.path
        self.exit(0)

    def action_explain(self) -> None:
        """Show the help on the list."""
        self.push_screen(TextScreen("Stores", EXPLAIN))

    def action_keys(self) -> None:
        """List the keys of the focused widget, of its screen, and of the app."""
        self.push_screen(TextScreen("Keys of this screen", key_list(self)))

    def action_leave(self) -> None:
        """Quit without a store."""
        self.exit(0)


def run_welcome(folder: Path) -> int:
    """Let the user choose a store and run the terminal on it. Return the exit code."""
    for size in (
        "COLUMNS",
        "LINES",
    ):  # Tables obey these, but screens are as large as the terminal.
        os.environ.pop(size, None)
    app = WelcomeApp(folder)
    app.run()
    if app.chosen is None:
        return app.return_code or 0
    return run_app(app.chosen)
