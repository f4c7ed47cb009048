"""The terminal application: its modes, the keys that work everywhere, and what is said when it is
left.

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
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from threading import get_ident
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events, work
from textual.app import App
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
from workbench.tui.key_words import does, is_key
from workbench.tui.keymap import Keymap, checked, keymap_file, read_keymap, with_ids
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
    from workbench.annotation.survey import Design

    SurveyStart = tuple[str, Design, str | None]
    "(instrument, what is asked, respondent)"


LOOK_EVERY_S, LOOKS = 2.0, 3
"seconds between two looks for the store's file, and how many in a row have to miss it"
KEY_COLUMNS, KEY_LIST_COLUMNS = 17, 73
"in the list of keys: where their sentences begin, and where they are wrapped"
FOCUSED = "In the focused panel"
FUNCTION_KEY = re.compile(r"f\d+")
MOST_COMPLAINTS = 3
"about a person's keys, which Home lists"
TELL_S = 20.0
"for which a sentence about the store's file stays on the screen"
READ_ONLY = tuple(place.mode for place in registry.places())
"modes whose levels below can be left at any time: what is typed there is stored at once"


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
            Binding("escape", "back", "Back", show=False),
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
        "who sits here: asked for when it is first needed"
        self._queue = queue
        self._survey = survey
        self._start = start if start in self.MODES else "home"
        self.anchor: Anchor | None = None
        "holds the store's file, so that what it held can be written elsewhere when it goes away"
        self._away = 0
        "how often in a row the store's file was not there"
        self.notice = ""
        "what of a person's own keys and choices is not used, for Home"
        self.left_at: dict[str, Any] = {}
        "place of a screen that is made anew each time -> what it showed when it was left"
        self._offered = False
        "whether a copy was offered since a person last did something"

    async def on_mount(self) -> None:
        # The terminal is left as it was found.
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
        """Use the keys that a person chose, those of them that cannot be used until that is found
        out.
        """
        keymap = read_keymap()
        if usable := {
            name: keys for name, keys in keymap.keys.items() if all(map(is_key, keys.split(",")))
        }:
            self.set_keymap(usable)
        if keymap.keys or keymap.wrong:
            self.check_keys(keymap)

    @worker("keys", newest=False, beside=True)
    async def check_keys(self, keymap: Keymap) -> None:
        """Use the keys without a fault; Home says which have one."""
        keymap = await to_thread(checked, keymap, type(self))
        self.set_keymap(dict(keymap.keys))
        if keymap.wrong:
            more = len(keymap.wrong) - MOST_COMPLAINTS
            told = [
                f"{keymap_file()}, not used (`workbench keys` lists all keys):",
                *keymap.wrong[:MOST_COMPLAINTS],
            ]
            self.notice = "\n".join(
                [*filter(None, [self.notice]), *told, *([f"and {more} more"] if more > 0 else [])]
            )
            if isinstance(self.screen, HomeScreen):
                self.screen.show_notice()
            else:
                say(
                    self.screen,
                    "Not all keys of keymap.toml can be used: Home says why.",
                    warns=True,
                )

    def get_key_display(self, binding: Binding) -> str:
        """Return what a key is called: a function key with a capital, as on the keyboard."""
        shown = super().get_key_display(binding)
        return shown.upper() if FUNCTION_KEY.fullmatch(shown) else shown

    async def on_event(self, event: events.Event) -> None:
        """Let what a person does next be answered with an offer again, unlike what a screen reads
        by itself.
        """
        if isinstance(event, events.Key | events.MouseDown):
            self._offered = self._offered and isinstance(self.screen, StoreGoneDialog)
        await super().on_event(event)

    def failed(self, error: WorkbenchError) -> None:
        """Show what the app itself could not do beside the screens."""
        self.notify(str(error), severity="error", timeout=TELL_S, markup=False)

    def store_version(self) -> int | None:
        """Return a number that every write to the store changes; None: nobody knows."""
        return self.anchor.version() if self.anchor is not None else None

    def on_unmount(self) -> None:
        from stores.core import connection as backup

        backup.tell = backup.to_stderr
        if self.anchor is not None:
            self.anchor.close()

    def tell(self, sentence: str) -> None:
        """Show a sentence about a store that was opened, in whichever thread that was."""
        if get_ident() == self._thread_id:
            self.notify(sentence, timeout=TELL_S, markup=False)
        else:
            self.call_from_thread(self.notify, sentence, timeout=TELL_S, markup=False)

    @work(thread=True, exclusive=True, exit_on_error=False, group="anchor")
    def look_for_store(self) -> None:
        """See whether the store's file is still there. One that is moved and put back at once is
        not gone.
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
        """Say that the store is gone, and offer to write what it held to another file."""
        if self.anchor is None or self._offered or isinstance(self.screen, StoreGoneDialog):
            return
        self._offered = True
        for each in self.screen_stack:
            if isinstance(each, StoreScreen):
                each.store_gone()
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
            for each in self._screen_stacks.get(mode, []):
                if isinstance(each, StoreScreen) and each.is_mounted:
                    each.store_moved()
        self.notify(
            f"Everything stored is in {kept}, which is open now. Repeat any change that was not "
            "saved.",
            timeout=TELL_S,
        )

    def action_go(self, mode: str) -> None:
        """Show the screen of a mode, about what is under the cursor here where that says so."""
        if not (isinstance(self.screen, StoreScreen) and self.screen.leads_to(mode)):
            self.show_mode(mode)
        every = (one for stack in self._screen_stacks.values() for one in stack)
        if (
            mode in READ_ONLY
            and reviews_blind()
            and any(getattr(one, "PLACE", "") == "review" for one in every)
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
        """Show the screen of a mode; from a level below it, come up where nothing is being written
        there.

        From Home, results begin with their first table, so that Enter leads from it to the answers.
        From elsewhere they are shown as they were left, any other mode from its first screen: a
        digit on the way to the statements asks for their list, not for what was opened from it and
        left for another screen.
        """
        below, anew = mode == self.current_mode, self.current_mode == "home"
        self.switch_mode(mode)
        if ((below or anew) and mode in READ_ONLY) or (
            (below or mode not in READ_ONLY) and self._reads_only()
        ):
            while len(self.screen_stack) > 1:
                self.pop_screen()
        if anew and isinstance(self.screen, StoreScreen):
            self.screen.begin_anew()

    def _reads_only(self) -> bool:
        """Return whether on all that stands above the screen of a mode nothing is typed that could
        be lost.
        """
        return all(getattr(each, "READS_ONLY", False) for each in self.screen_stack[1:])

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        return action != "review" or self._may_review()

    def _may_review(self) -> bool:
        """Return whether `V` leads to the review: not from there, and not where people annotate or
        adjudicate.
        """
        at_work = self._survey is not None or any(
            getattr(each, "AT_WORK", False) for each in self.screen_stack
        )
        return not at_work and not any(
            getattr(each, "PLACE", "") == "review" for each in self.screen_stack
        )

    def action_review(self) -> None:
        """Open the review queue, the same as Home does, from wherever no run is in sight."""
        home = next(
            (each for each in self._screen_stacks.get("home", ()) if isinstance(each, HomeScreen)),
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
        """Go back one level: to the screen below, or home."""
        if self._survey is not None and len(self.screen_stack) == 2:
            self.exit(0)  # who answers a survey came for nothing else
        elif len(self.screen_stack) > 1:
            self.pop_screen()
        elif self.current_mode != "home":
            self.show_mode("home")

    def action_leave(self) -> None:
        """Go home; from there, quit."""
        if self.current_mode != "home":
            self.show_mode("home")
        elif len(self.screen_stack) == 1 or self._survey is not None:
            self.exit(0)
        elif self._reads_only():
            self.action_go("home")
        else:
            self.pop_screen()

    def action_explain(self) -> None:
        """Say what the numbers on this screen mean."""
        explain = getattr(self.screen, "explain", None)
        text = explain() if callable(explain) else ""
        text = text or "This screen has no numbers to explain."
        self.push_screen(TextScreen("What this shows", text, page=self._help_page()))

    def _help_page(self) -> Callable[[], Screen[Any]] | None:
        """Return what opens the help page of the audit whose results are shown; None elsewhere."""
        audits = (
            one
            for one in registry.every_audit()
            if one.place is not None and one.place.mode == self.current_mode
        )
        shown = next(audits, None)
        page = next((one for one in topics() if shown is not None and one.name == shown.name), None)
        return None if page is None else lambda: PageScreen(page)

    def action_keys(self) -> None:
        """List the keys of the screen, of its focused panel, and of the whole app."""
        self.push_screen(TextScreen("Keys of this screen", key_list(self)))


def key_list(app: App[int]) -> Content:
    """Return the keys that work now: those of the screen, of its focused panel, and of the whole
    app.
    """
    groups: dict[str, dict[str, list[str]]] = {"On this screen": {}, FOCUSED: {}, "Everywhere": {}}
    bound = [
        active.binding
        for active in app.screen.active_bindings.values()
        if active.binding.description
    ]
    own = {
        app.get_key_display(replace(binding, key_display=None)): binding.action for binding in bound
    }
    for active in sorted(
        app.screen.active_bindings.values(), key=lambda active: not active.binding.tooltip
    ):
        binding = active.binding
        if not binding.description or not active.enabled:
            continue
        group = FOCUSED if isinstance(active.node, Widget) else "Everywhere"
        group = "On this screen" if isinstance(active.node, Screen) else group
        groups[group].setdefault(does(binding), []).append(_shown_key(app, binding, own))
    lines: list[Content] = []
    for group, actions in groups.items():
        if actions:
            lines.append(Content.styled(group, "bold"))
            for name, keys in sorted(
                actions.items(), key=lambda one: one[1][0] if one[1][0].isdecimal() else "~"
            ):
                shown = f"  {' '.join(dict.fromkeys(keys)):<{KEY_COLUMNS - 3}} "
                first, *more = textwrap.wrap(
                    name,
                    KEY_LIST_COLUMNS,
                    initial_indent=" " * len(shown),
                    subsequent_indent=" " * KEY_COLUMNS,
                )
                lines.append(Content.assemble((shown, "$text-accent"), first.lstrip()))
                lines += map(Content, more)
    return Content("\n").join(lines)


def _shown_key(app: App[int], binding: Binding, own: Mapping[str, str]) -> str:
    """Return how a key is called in a list. A footer may name in one word keys that the list has a
    line for each; `own`: the keys as they are called alone, with their actions.
    """
    shown = app.get_key_display(binding)
    others = (key for key in shown.split() if own.get(key, binding.action) != binding.action)
    return (
        shown
        if next(others, None) is None
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
    """Run the terminal on a store until it is left; return the exit code.

    With an annotator and a queue it begins with labelling, with a survey with answering.
    """
    for size in ("COLUMNS", "LINES"):  # what tables obey; screens are as large as the terminal is
        os.environ.pop(size, None)
    remember(path)
    app = WorkbenchApp(path, start, annotator, queue, survey)
    app.run()
    for line in goes_on(path):
        print(line)
    return app.return_code or 0
