"""Choosing a file or a folder: a tree to walk in, and a line to type a path into that completes it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar

from rich.text import Text
from textual import events
from textual.binding import Binding, BindingType
from textual.suggester import Suggester
from textual.widgets import DirectoryTree, Input

from workbench.tui.format import visible

KINDS = (".csv", ".csv.gz", ".jsonl", ".ndjson")


class FileTree(DirectoryTree):
    """Folders and files, without those that are hidden; moved by arrows and by j and k."""

    ICON_NODE, ICON_NODE_EXPANDED, ICON_FILE = "▸ ", "▾ ", "  "
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "cursor_down", "Row below", show=False),
        Binding("k", "cursor_up", "Row above", show=False),
        Binding("right,l", "open", "Unfold the folder", show=False),
        Binding("left", "close", "Fold the folder, or go to its parent", show=False),
        Binding("enter", "select_cursor", "Preview", key_display="Enter", tooltip="Read the file or folder here"),
    ]

    def __init__(self, folder: Path, *, name: str) -> None:
        super().__init__(folder, id=name)
        self.auto_expand = False
        self.guide_depth = 2

    def filter_paths(self, paths: Iterable[Path]) -> Iterable[Path]:
        """Leave out what is hidden, and files of kinds that cannot be imported; a path can name any."""
        shown = (path for path in paths if not path.name.startswith("."))
        return [path for path in shown if path.is_dir() or path.name.endswith(KINDS)]

    def process_label(self, label: object) -> Text:
        """Return a name as it is painted: names of files are text of others."""
        return Text(visible(label.plain if isinstance(label, Text) else str(label)), no_wrap=True)

    @property
    def chosen(self) -> Path | None:
        """The file or folder under the cursor."""
        node = self.cursor_node
        return node.data.path if node is not None and node.data is not None else None

    def action_open(self) -> None:
        if self.cursor_node is not None and self.cursor_node.allow_expand:
            self.cursor_node.expand()

    def action_close(self) -> None:
        node = self.cursor_node
        if node is not None and node.allow_expand and node.is_expanded and node is not self.root:
            node.collapse()
        elif node is not None and node.parent is not None:
            self.move_cursor(node.parent)


class PathSuggester(Suggester):
    """Completes the last part of a path by what is there."""

    def __init__(self, folder: Path) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._folder = folder

    async def get_suggestion(self, value: str) -> str | None:
        return completed(value, self._folder)


class PathBox(Input):
    """A path; Tab takes the completion where one is offered, else it goes to the next field."""

    def __init__(self, folder: Path, *, name: str) -> None:
        super().__init__(id=name, compact=True, placeholder="a path; Tab completes it", suggester=PathSuggester(folder))

    def on_key(self, event: events.Key) -> None:
        if event.key == "tab" and self._suggestion and self.cursor_position == len(self.value):
            event.stop()
            event.prevent_default()
            self.action_cursor_right()


def completed(typed: str, folder: Path) -> str | None:
    """Return a path that begins as typed: the first of what is there, as far as all of these are alike.

    None: there is none, or nothing to add.
    """
    if not typed or "\x00" in typed:
        return None
    head, _, begin = typed.rpartition("/")
    head = f"{head}/" if "/" in typed else ""
    try:
        place = folder / Path(head).expanduser()
        hidden = begin.startswith(".")
        names = sorted(
            one.name + ("/" if one.is_dir() else "")
            for one in place.iterdir()
            if one.name.startswith(begin) and one.name.startswith(".") == hidden
        )
    except (OSError, RuntimeError):
        return None
    return head + names[0] if names and names[0] != begin else None


def path_of(typed: str, folder: Path) -> Path | None:
    """Return the path that was typed; None for nothing, and what cannot be one."""
    said = typed.strip()
    if not said or "\x00" in said:
        return None
    try:
        return folder / Path(said).expanduser()
    except RuntimeError:
        return None
