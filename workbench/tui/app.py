"""The terminal application: its modes, its global keys, and the summary at its end.

It paints first. The store, numpy and the pipeline are imported by the workers that need them.
"""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import signal
import textwrap
from asyncio import to_thread
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from threading import get_ident
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events, work
from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen
from textual.widget import Widget

from workbench import registry
from workbench.errors import StoreGone, WorkbenchError
from workbench.help import topics
from workbench.tui.commands import ActionProvider, HelpProvider, NameProvider, PageScreen
from workbench.tui.format import percent
from workbench.tui.home.home import HomeScreen
from workbench.tui.jobs.jobs import JobsScreen
from workbench.tui.keymap import (
    Keymap,
    checked,
    effect_of,
    is_key,
    keymap_file,
    read_keymap,
    with_ids,
)
from workbench.tui.kit.base import Background, StoreScreen, say, worker
from workbench.tui.kit.dialogs import NoteDialog, StoreGoneDialog, TextScreen
from workbench.tui.kit.key_gate import GatedApp
from workbench.tui.preferences import ignored, keep, remember, remembered, reviews_blind
from workbench.tui.results.answers import WORDS_ARE
from workbench.tui.routes import lead, opener, results_of, screen
from workbench.tui.statements.statements import StatementsScreen

if TYPE_CHECKING:
    from stores.core.identity import Anchor
    from stores.runs.run_rows import Run
    from workbench.annotation.survey import SurveyDesign

    SurveyStart = tuple[str, SurveyDesign, str | None]
    "(instrument, what is asked, respondent)"


LOOK_EVERY_S, LOOKS = 2.0, 3
"seconds between two checks for the store's file, and failures in a row that count as gone"
KEY_COLUMNS, KEY_LIST_COLUMNS = 17, 73
"columns before the sentences in the list of keys, and columns to wrap them"
FOCUSED = "In the focused panel"
MOVING_KEYS = ("escape", "up", "down", "left", "right", "pageup", "pagedown", "home", "end")
"keys that the list of keys has below the others"
FUNCTION_KEY = re.compile(r"f\d+")
MOST_COMPLAINTS = 3
"maximum number of complaints about personal keys on Home"
TELL_S = 20.0
"seconds for which a message on the store's file stays visible"
READ_ONLY = tuple(place.mode for place in registry.places())
"modes whose lower levels can be left at any time, because all input is stored at once"


class WorkbenchApp(GatedApp, Background):
    """The workbench on one store."""

    CSS_PATH = "workbench.tcss"
    TITLE = "workbench"
    COMMANDS = App.COMMANDS | {ActionProvider, NameProvider, HelpProvider}
    MODES: ClassVar = {
        "home": HomeScreen,
        "statements": StatementsScreen,
        "jobs": JobsScreen,
        "annotate": opener("annotate"),
        **{place.mode: results_of(place) for place in registry.places()},
    }
    BINDINGS: ClassVar[list[BindingType]] = with_ids(
        [
            Binding("1", "go('home')", "Home", show=False, tooltip="Go to Home"),
            Binding("2", "go('statements')", "Statements", show=False, tooltip="Go to Statements"),
            Binding("3", "go('jobs')", "Jobs", show=False, tooltip="Go to Jobs"),
            Binding(
                "5",
                "go('annotate')",
                "Annotate",
                show=False,
                tooltip="Go to Annotate: queues, labels, adjudication",
            ),
            *(
                Binding(
                    place.key, f"go('{place.mode}')", place.label, show=False, tooltip=place.tooltip
                )
                for place in registry.places()
                if place.key
            ),
            Binding(
                "V",
                "review",
                "Review",
                show=False,
                tooltip="Open the review queue: what an auditor reviews first",
            ),
            Binding(
                "f3",
                "find_answers",
                "Find answers",
                show=False,
                tooltip="Find answers of the store that contain certain words",
            ),
            Binding("h", "go('home')", "Home", show=False, tooltip="Go to Home"),
            Binding("escape", "back", "Back", show=False, tooltip="Go back"),
            Binding(
                "question_mark",
                "explain",
                "Explain",
                show=False,
                tooltip="Explain the numbers and columns on this screen",
            ),
            Binding("f1", "keys", "Keys", key_display="F1", tooltip="List the keys of this screen"),
            Binding("ctrl+p", "command_palette", "Find an action", show=False, priority=True),
            Binding("q", "leave", "Leave", tooltip="Go to Home; on Home, quit"),
        ],
        "app",
    )

    def __init__(
        self,
        store_path: Path,
        start: str = "home",
        annotator: str | None = None,
        queue: str | None = None,
        survey: SurveyStart | None = None,
    ) -> None:
        super().__init__()
        self.store_path = Path(store_path)
        self.annotator = annotator
        "name of the person at the terminal, which is asked for when it is first needed"
        self._queue = queue
        self._survey = survey
        self._start = start if start in self.MODES else "home"
        self.anchor: Anchor | None = None
        "handle of the store's file, so that its contents can be written elsewhere if it goes away"
        self._away = 0
        "number of checks in a row without the store's file"
        self.notice = ""
        "message for Home on personal keys and settings that are ignored"
        self.left_at: dict[str, Any] = {}
        "state of a screen at its last closing, by `PLACE`, for screens that are created anew"
        self._offered = False
        "whether a copy was offered since the last action of the user"

    async def on_mount(self) -> None:
        # Signals end the app in order, so that the terminal is restored.
        for number in (
            signal.SIGTERM,
            signal.SIGHUP,
            signal.SIGQUIT,
        ):
            with suppress(NotImplementedError, RuntimeError, ValueError):
                asyncio.get_running_loop().add_signal_handler(number, self.exit, None, 128 + number)
        self.watch_screens()
        self.notice = ignored()
        theme = remembered("theme")
        if isinstance(theme, str) and theme in self.available_themes:
            self.theme = theme
        elif theme is not None:
            self.notice = (
                "The theme that was remembered is none of this version: Ctrl+P, then "
                "“theme” chooses one."
            )
        self.theme_changed_signal.subscribe(self, lambda theme: keep("theme", theme.name))
        await self.switch_mode(self._start)
        self._take_keys()
        self.look_for_store()
        self.set_interval(LOOK_EVERY_S, self.look_for_store)
        if self._queue is not None and self.annotator is not None:
            self.push_screen(screen("label", self._queue, self.annotator))
        if self._survey is not None:
            self.push_screen(screen("survey", *self._survey))

    def _take_keys(self) -> None:
        """Apply the user's own keys. They include faulty ones until the check has found these."""
        keymap = read_keymap()
        if possible_keys := {
            name: keys for name, keys in keymap.keys.items() if all(map(is_key, keys.split(",")))
        }:
            self.set_keymap(possible_keys)
        if keymap.keys or keymap.wrong:
            self.check_keys(keymap)

    @worker("keys", newest=False, beside=True)
    async def check_keys(self, keymap: Keymap) -> None:
        """Apply the keys without a fault. Home shows the faulty ones."""
        keymap = await to_thread(checked, keymap, type(self))
        self.set_keymap(dict(keymap.keys))
        if keymap.wrong:
            n_more = len(keymap.wrong) - MOST_COMPLAINTS
            complaints = [
                f"{keymap_file()}, not used (`workbench keys` lists all keys):",
                *keymap.wrong[:MOST_COMPLAINTS],
            ]
            if n_more > 0:
                complaints.append(f"and {n_more} more")
            self.notice = "\n".join([*filter(None, [self.notice]), *complaints])
            if isinstance(self.screen, HomeScreen):
                self.screen.show_notice()
            else:
                say(
                    self.screen,
                    "Not all keys of keymap.toml can be used: Home says why.",
                    warns=True,
                )

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:  # noqa: ARG002
        """Yield the one action of Textual in the palette that no key of ours has."""
        yield SystemCommand("Theme", "Change the current theme", self.action_change_theme)

    def get_key_display(self, binding: Binding) -> str:
        """Return the name of a key: a function key with a capital, as on the keyboard."""
        key_name = super().get_key_display(binding)
        return key_name.upper() if FUNCTION_KEY.fullmatch(key_name) else key_name

    async def on_event(self, event: events.Event) -> None:
        """Allow another offer of a copy after an action of the user, not after a screen's reads."""
        if isinstance(event, events.Key | events.MouseDown):
            self._offered = self._offered and isinstance(self.screen, StoreGoneDialog)
        await super().on_event(event)

    def failed(self, error: WorkbenchError) -> None:
        """Show an error of the app itself beside the screens."""
        self.notify(str(error), severity="error", timeout=TELL_S, markup=False)

    def store_version(self) -> int | None:
        """Return a number that every write to the store changes, or None if it is unknown."""
        return self.anchor.version() if self.anchor is not None else None

    def on_unmount(self) -> None:
        from stores.core import connection as backup

        backup.tell = backup.to_stderr
        if self.anchor is not None:
            self.anchor.close()

    def tell(self, sentence: str) -> None:
        """Show a message about a store that was opened, from any thread."""
        if get_ident() == self._thread_id:
            self.notify(sentence, timeout=TELL_S, markup=False)
        else:
            self.call_from_thread(self.notify, sentence, timeout=TELL_S, markup=False)

    @work(thread=True, exclusive=True, exit_on_error=False, group="anchor")
    def look_for_store(self) -> None:
        """Check whether the store's file is still there.

        A file that is moved and put back at once does not count as gone.
        """
        from stores.core import connection as backup
        from stores.core.identity import Anchor

        backup.tell = self.tell
        if self.anchor is None:
            self.anchor = Anchor.of(self.store_path)
            return
        try:
            self.anchor.check()
            self._away = 0
        except StoreGone as error:
            self._away += 1
            if self._away == LOOKS:
                self.call_from_thread(self.store_gone, error)

    def store_gone(self, error: WorkbenchError) -> None:
        """Tell that the store is gone, and offer to write its contents to another file."""
        if self.anchor is None or self._offered or isinstance(self.screen, StoreGoneDialog):
            return
        self._offered = True
        for open_screen in self.screen_stack:
            if isinstance(open_screen, StoreScreen):
                open_screen.store_gone()
        self.push_screen(StoreGoneDialog(error, self.anchor), self.move)

    def move(self, kept: Path | None) -> None:
        """Go on with the copy of a store that is gone."""
        if kept is None or self.anchor is None:
            return
        self.anchor.close()
        self.anchor, self._away, self.store_path = None, 0, kept
        self.left_at.clear()
        self.look_for_store()
        for mode in self.MODES:
            for open_screen in self._screen_stacks.get(mode, []):
                if isinstance(open_screen, StoreScreen) and open_screen.is_mounted:
                    open_screen.store_moved()
        self.notify(
            f"Everything stored is in {kept}, which is open now. Repeat any change that was not "
            "saved.",
            timeout=TELL_S,
        )

    def action_go(self, mode: str) -> None:
        """Show the screen of a mode, about the current object if the visible screen can do that."""
        if not (isinstance(self.screen, StoreScreen) and self.screen.leads_to(mode)):
            self.show_mode(mode)
        screens = (open_screen for stack in self._screen_stacks.values() for open_screen in stack)
        if (
            mode in READ_ONLY
            and reviews_blind()
            and any(getattr(open_screen, "PLACE", "") == "review" for open_screen in screens)
        ):
            self.call_after_refresh(
                lambda: say(self.screen, "Models are shown here; your review stays blind")
            )

    def show_run(self, mode: str, run: Run) -> None:
        """Show the figures of a run in a mode of results."""
        self.show_mode(mode)
        while mode in READ_ONLY and len(self.screen_stack) > 1:
            self.pop_screen()
        if isinstance(self.screen, StoreScreen):
            self.screen.be_about(run)

    def show_mode(self, mode: str) -> None:
        """Show the screen of a mode. From a level below it, return to it if no input would be lost.

        From Home, results begin with their first table, so that Enter leads from it to the answers.
        From elsewhere they are shown as they were left, any other mode from its first screen: a
        digit on the way to the statements asks for their list, not for a screen that was opened
        from it and left for another one.
        """
        is_below, from_home = mode == self.current_mode, self.current_mode == "home"
        self.switch_mode(mode)
        if ((is_below or from_home) and mode in READ_ONLY) or (
            (is_below or mode not in READ_ONLY) and self._reads_only()
        ):
            while len(self.screen_stack) > 1:
                self.pop_screen()
        if from_home and isinstance(self.screen, StoreScreen):
            self.screen.begin_anew()

    def _reads_only(self) -> bool:
        """Return whether no screen above that of a mode has input that could be lost."""
        return all(
            getattr(open_screen, "READS_ONLY", False) for open_screen in self.screen_stack[1:]
        )

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        return action != "review" or self._may_review()

    def _may_review(self) -> bool:
        """Return whether `V` leads to the review.

        It does not from the review itself, nor while people annotate or adjudicate.
        """
        is_at_work = self._survey is not None or any(
            getattr(open_screen, "AT_WORK", False) for open_screen in self.screen_stack
        )
        return not is_at_work and not any(
            getattr(open_screen, "PLACE", "") == "review" for open_screen in self.screen_stack
        )

    def action_review(self) -> None:
        """Open the review queue as Home does, from screens without a visible run."""
        home = next(
            (
                home_screen
                for home_screen in self._screen_stacks.get("home", ())
                if isinstance(home_screen, HomeScreen)
            ),
            None,
        )
        lead(self, home.review_route() if home is not None else ("review",))

    def action_find_answers(self) -> None:
        """Ask for words, and show every answer of the store that contains them."""

        def show(words: str | None) -> None:
            if words and words.strip():
                self.push_screen(screen("found_answers", words.strip()))

        self.push_screen(
            NoteDialog("", "Answers of this store that contain", hint=WORDS_ARE, act="find"), show
        )

    async def action_back(self) -> None:
        """Go back one level: to the screen below, or to Home."""
        if self._survey is not None and len(self.screen_stack) == 2:
            self.exit(0)  # A respondent of a survey has no use for other screens.
        elif len(self.screen_stack) > 1:
            self.pop_screen()
        elif self.current_mode != "home":
            self.show_mode("home")

    def action_leave(self) -> None:
        """Go to Home, or quit from there."""
        if self.current_mode != "home":
            self.show_mode("home")
        elif len(self.screen_stack) == 1 or self._survey is not None:
            self.exit(0)
        elif self._reads_only():
            self.action_go("home")
        else:
            self.pop_screen()

    def action_explain(self) -> None:
        """Show the help of the figures on this screen."""
        explain = getattr(self.screen, "explain", None)
        text = explain() if callable(explain) else ""
        text = text or "This screen has no numbers to explain."
        self.push_screen(TextScreen("What this shows", text, page=self._help_page()))

    def _help_page(self) -> Callable[[], Screen[Any]] | None:
        """Return a function that opens the help page of the visible audit, or None elsewhere."""
        audits = (
            audit
            for audit in registry.every_audit()
            if audit.place is not None and audit.place.mode == self.current_mode
        )
        visible_audit = next(audits, None)
        page = next(
            (
                topic
                for topic in topics()
                if visible_audit is not None and topic.name == visible_audit.name
            ),
            None,
        )
        return None if page is None else lambda: PageScreen(page)

    def action_keys(self) -> None:
        """List the keys of the screen, of its focused widget, and of the app."""
        self.push_screen(TextScreen("Keys of this screen", key_list(self)))


def key_list(app: App[int]) -> Content:
    """Return the keys that work now: those of the screen, of its focused widget, and of the app."""
    groups: dict[str, dict[str, list[str]]] = {"On this screen": {}, FOCUSED: {}, "Everywhere": {}}
    described = [
        active.binding
        for active in app.screen.active_bindings.values()
        if active.binding.description
    ]
    action_by_key = {
        app.get_key_display(replace(binding, key_display=None)): binding.action
        for binding in described
    }
    moving_actions = {binding.action for binding in described if binding.key in MOVING_KEYS}
    # Keys that move, and those of Textual, come last in their group.
    for active in sorted(
        app.screen.active_bindings.values(),
        key=lambda active: not active.binding.tooltip or active.binding.action in moving_actions,
    ):
        binding = active.binding
        if not binding.description or not active.enabled:
            continue
        group = FOCUSED if isinstance(active.node, Widget) else "Everywhere"
        group = "On this screen" if isinstance(active.node, Screen) else group
        groups[group].setdefault(effect_of(binding), []).append(
            _shown_key(app, binding, action_by_key)
        )
    lines: list[Content] = []
    for group, actions in groups.items():
        if actions:
            lines.append(Content.styled(group, "bold"))
            for name, keys in sorted(
                actions.items(), key=lambda item: item[1][0] if item[1][0].isdecimal() else "~"
            ):
                keys_text = f"  {' '.join(dict.fromkeys(keys)):<{KEY_COLUMNS - 3}} "
                first_line, *other_lines = textwrap.wrap(
                    name,
                    KEY_LIST_COLUMNS,
                    initial_indent=" " * len(keys_text),
                    subsequent_indent=" " * KEY_COLUMNS,
                )
                lines.append(Content.assemble((keys_text, "$text-accent"), first_line.lstrip()))
                lines += map(Content, other_lines)
    return Content("\n").join(lines)


def _shown_key(app: App[int], binding: Binding, own: Mapping[str, str]) -> str:
    """Return the name of a key in a list.

    A footer may name several keys together that have lines of their own in the list. `own`: the
    actions of the keys by their own names.
    """
    key_name = app.get_key_display(binding)
    foreign_keys = (
        single_key
        for single_key in key_name.split()
        if own.get(single_key, binding.action) != binding.action
    )
    return (
        key_name
        if next(foreign_keys, None) is None
        else app.get_key_display(replace(binding, key_display=None))
    )


def goes_on(path: Path) -> list[str]:
    """Return a line for each job that goes on when the terminal is left."""
    from stores.core.store import Store

    try:
        with Store.open(path) as store:
            active = [job for job in store.jobs.list() if job.active]
    except WorkbenchError:
        return []
    return [
        f"job {job.id} continues ({percent(job.done, job.total)}); come back with: workbench "
        f"{shlex.quote(str(path))}, "
        f"stop it with: workbench jobs {shlex.quote(str(path))} cancel {job.id}"
        for job in active
    ]


def run_app(
    path: Path,
    start: str = "home",
    annotator: str | None = None,
    queue: str | None = None,
    survey: SurveyStart | None = None,
) -> int:
    """Run the terminal on a store until it is left. Return the exit code.

    With an annotator and a queue it begins with labelling, with a survey with answering.
    """
    for size in (
        "COLUMNS",
        "LINES",
    ):  # Tables obey these, but screens are as large as the terminal.
        os.environ.pop(size, None)
    remember(path)
    app = WorkbenchApp(path, start, annotator, queue, survey)
    app.run()
    for line in goes_on(path):
        print(line)
    return app.return_code or 0
