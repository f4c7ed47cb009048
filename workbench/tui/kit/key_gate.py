"""The gate that every key passes: a key belongs to the screen that was visible or requested.

Keys go through one after another: the next one waits until all effects of the previous one are
done. While something requested has not arrived, keys wait for it, in the order in which they were
typed.

- A screen or a dialog: all keys wait, and reach it once it is painted. If it does not come, they
  are dropped.
- Other content of the visible screen: keys wait, except those that do not depend on it (`FREE`,
  text in a field).

A key that decides (`DECIDES`: a ruling, a label, a draft) is dropped if it was typed before its
object was painted, and so are the keys that were typed in one go with it. The screen always shows
that keys were dropped.
"""

from __future__ import annotations

from collections import deque
from time import monotonic
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakKeyDictionary

from textual import events
from textual._context import active_message_pump
from textual.command import CommandPalette
from textual.css.query import NoMatches
from textual.dom import DOMNode
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Input, TextArea

from workbench.domain.names import plural
from workbench.tui.kit.awaited import Awaited, Kind
from workbench.tui.kit.base import say
from workbench.tui.kit.dialogs import ConfirmScreen
from workbench.tui.literal import LiteralApp

if TYPE_CHECKING:
    from textual.binding import ActiveBinding
    from textual.message_pump import MessagePump
    from textual.timer import Timer

Typed = events.Key | events.Paste

ROUNDS = 4
"rounds of a message through all widgets after a key, as handlers of messages send further ones"
POLL_S = 0.05
"seconds between two checks for what keys wait for"
LOST_S = 0.5
"seconds after which a round is repeated, because its widget was removed with the message"
TOLD_S = 0.5
"seconds of waiting after which the screen tells so"
STUCK_S = 3.0
"seconds of waiting after which one Esc abandons the request"
LULL_S = 0.6
"seconds without a key after a dropped one; keys that follow sooner were typed in one go"
PLACES = frozenset({"go", "leave", "back", "keys", "explain"})
"actions of the app that do not depend on visible content"
QUITS = frozenset({"ctrl+q", "ctrl+c"})
"keys that never wait"
EDITS = frozenset(
    [
        *("backspace", "delete", "left", "right", "home", "end", "tab", "shift+tab"),
        *("ctrl+w", "ctrl+u", "ctrl+k", "ctrl+a", "ctrl+e", "ctrl+left", "ctrl+right"),
    ]
)
"keys that edit a field or go to the next one"
NOT_SEEN = "typed before this was on the screen"
NOT_OPENED = "what they were typed for did not open"
LEFT = "what they were typed for was left"


class SettlingMessage(Message):
    """A message that follows a key from widget to widget.

    When it reaches the app, all widgets are done with the key.
    """

    def __init__(self, settling: int, round_number: int) -> None:
        super().__init__()
        self.settling = settling
        self.round_number = round_number


class KeyGate:
    """The gate of an app."""

    def __init__(self, app: GatedApp) -> None:
        self._app = app
        self._held: deque[Typed] = deque()
        self._awaited: dict[Awaited, None] = {}
        self._settling = 0
        "number of the current settling, counted up, or 0 if all effects of keys are done"
        self._settlings = 0
        self._settling_since = 0.0
        self._shown: Screen[Any] | None = None
        "screen that was visible when all effects were last done"
        self._changed: WeakKeyDictionary[Screen[Any], None] = WeakKeyDictionary()
        "screens with changed content that is not painted yet"
        self._seen_at: WeakKeyDictionary[Screen[Any], float] = WeakKeyDictionary()
        "when the content of a screen was painted for the first time"
        self._dropped, self._dropped_at = 0, float("-inf")
        self._waiting_since: float | None = None
        self._poll: Timer | None = None

    # ── what is awaited ───────────────────────────────────────────────────────────────────────────

    def expect(self, node: DOMNode, kind: Kind, group: str = "") -> Awaited:
        """Let keys wait for something that a screen requested."""
        awaited = Awaited(node, kind, group)
        self._awaited[awaited] = None
        return awaited

    def awaits(self, node: DOMNode, group: str) -> bool:
        """Return whether keys wait for a worker of a group of a screen."""
        return any(awaited.node is node and awaited.group == group for awaited in self._awaited)

    def is_awaited(self, awaited: Awaited) -> bool:
        """Return whether keys still wait for something, which they do not if the user left it."""
        return awaited in self._awaited

    def arrived(self, awaited: Awaited, *, failed: bool = False) -> None:
        """Let keys go on, because what they wait for has arrived or failed."""
        if awaited not in self._awaited:
            return
        del self._awaited[awaited]
        if isinstance(awaited.node, Screen):
            self._changed[awaited.node] = None
        cancelled = awaited.worker is not None and awaited.worker.is_cancelled
        stays = awaited.kind == "screen" and self._top is awaited.node
        if failed or (stays and not cancelled):
            self._drop_held(NOT_OPENED)
        self.settle()

    def show_other(self, screen: Screen[Any]) -> None:
        """Note that a screen shows another object to decide on from now on."""
        self._changed[screen] = None
        self.settle()

    # ── keys ──────────────────────────────────────────────────────────────────────────────────────

    async def take(self, event: Typed) -> None:
        """Let a key through, or keep it until it may go on."""
        if isinstance(event, events.Key) and event.key in QUITS:
            await self._app.let_through(event)
            return
        blocker = self._blocker()
        if (
            isinstance(event, events.Key)
            and event.key == "escape"
            and blocker is not None
            and self._leaves(blocker)
        ):
            await self._leave(blocker, event)
            return
        self._held.append(event)
        if self._top is not self._shown:
            self.settle()
        await self.go_on()

    async def go_on(self) -> None:
        """Let the waiting keys through until something blocks them."""
        while self._held and not self._settling:
            event, blocker = self._held[0], self._blocker()
            if blocker is not None and not self._is_free(event, blocker):
                break
            self._held.popleft()
            if self._is_dropped(event):
                continue
            self._waiting_since = None
            await self._app.let_through(event)
            self.settle()
        self._keep_looking()

    def settle(self) -> None:
        """Wait until all widgets have handled their messages and a changed screen is painted."""
        if not self._app.screen_stack:  # the program ends
            return
        self._settlings += 1
        self._settling, self._settling_since = self._settlings, monotonic()
        self._send(1)

    async def passed(self, message: SettlingMessage) -> None:
        """Go on with the next round, or with the next key."""
        if message.settling != self._settling or not self._app.screen_stack:
            return
        if message.round_number < ROUNDS:
            self._send(message.round_number + 1)
            return
        screen = self._top
        if screen is None or (screen is self._shown and screen not in self._changed):
            await self._settled()
        elif not screen.call_after_refresh(
            self._app.call_later, self._painted, screen, self._settling
        ):
            self._settling_since = float("-inf")

    def _send(self, round_number: int) -> None:
        target: MessagePump = self._app.focused or self._top or self._app
        message = SettlingMessage(self._settling, round_number)
        message.set_sender(self._app)  # The message stops at the parent of its sender.
        if not target.post_message(message):
            self._app.post_message(message)

    async def _painted(self, screen: Screen[Any], settling: int) -> None:
        if settling != self._settling:
            return
        if screen is not self._top:
            self.settle()
            return
        if screen in self._changed or screen not in self._seen_at:
            self._seen_at[screen] = monotonic()
        self._changed.pop(screen, None)
        self._shown = screen
        await self._settled()

    async def _settled(self) -> None:
        self._settling = 0
        await self.go_on()

    @property
    def _top(self) -> Screen[Any] | None:
        return self._app.screen if self._app.screen_stack else None

    def _blocker(self) -> Awaited | None:
        """Return the request that keys wait for on the visible screen: a screen before content."""
        self._forget_ended()
        top = self._top
        requests = [awaited for awaited in self._awaited if awaited.node in (top, self._app)]
        for awaited in requests:
            if awaited.kind != "content":
                return awaited
        if requests:
            return requests[0]
        if isinstance(top, CommandPalette) and _searches(top):
            return Awaited(top, "content")
        return None

    def _forget_ended(self) -> None:
        """Forget requests whose worker ended before it ran, so that it never reported."""
        for awaited in [*self._awaited]:
            worker = awaited.worker
            if worker is not None and (worker.is_finished or worker.is_cancelled):
                del self._awaited[awaited]

    def _is_free(self, event: Typed, blocker: Awaited) -> bool:
        """Return whether a key does not depend on what is awaited."""
        if blocker.kind != "content":
            return False
        if isinstance(self._app.focused, Input | TextArea):
            return isinstance(event, events.Paste) or event.is_printable or event.key in EDITS
        if (
            isinstance(event, events.Paste)
            or isinstance(self._top, CommandPalette)
            or self._top is None
        ):
            return False
        active = self._top.active_bindings.get(event.key)
        if active is None:
            return False
        action = active.binding.action
        if active.node is self._app or action.startswith("app."):
            return action_name(action) in PLACES
        return not actions_in(self._top, "FREE").isdisjoint((action, action_name(action)))

    # ── dropping ──────────────────────────────────────────────────────────────────────────────────

    def _is_dropped(self, event: Typed) -> bool:
        """Return whether a key is dropped, and show it if so."""
        top = self._top
        is_continuation = event.time - self._dropped_at < LULL_S
        if top is None or not (is_continuation or self._is_ahead(top, event)):
            return False
        self._dropped = self._dropped + 1 if is_continuation else 1
        self._dropped_at = event.time
        self._say_dropped(NOT_SEEN)
        return True

    def _is_ahead(self, screen: Screen[Any], event: Typed) -> bool:
        """Return whether a key would decide on something that was invisible when it was pressed."""
        screen_rule = getattr(screen, "is_ahead", None)
        if screen_rule is not None:
            return bool(screen_rule(event))
        if event.time >= self._seen_at.get(screen, float("-inf")):
            return False
        if not getattr(screen, "EXPECTED", True):
            return True
        if isinstance(event, events.Paste) or isinstance(self._app.focused, Input | TextArea):
            return False
        active = screen.active_bindings.get(event.key)
        decides = actions_in(screen, "DECIDES")
        return active is not None and not decides.isdisjoint(
            (active.binding.action, action_name(active.binding.action))
        )

    def _drop_held(self, why: str) -> None:
        if self._held:
            self._dropped, self._dropped_at = len(self._held), self._held[-1].time
            self._held.clear()
            self._say_dropped(why)

    def _say_dropped(self, why: str) -> None:
        if (top := self._top) is not None:
            say(top, f"{plural(self._dropped, 'key')} dropped: {why}", warns=True)

    # ── leaving ───────────────────────────────────────────────────────────────────────────────────

    def _leaves(self, blocker: Awaited) -> bool:
        """Return whether Esc abandons what is awaited.

        It does if nothing was typed for it, if Esc was pressed twice, or if it is stuck.
        """
        last_held = self._held[-1] if self._held else None
        is_second_escape = isinstance(last_held, events.Key) and last_held.key == "escape"
        return last_held is None or is_second_escape or monotonic() - blocker.since > STUCK_S

    async def _leave(self, blocker: Awaited, event: events.Key) -> None:
        self._drop_held(LEFT)
        self._dropped_at = float("-inf")  # Keys typed after Esc are meant for the visible screen.
        if blocker.kind == "screen":
            self._awaited.pop(blocker, None)
            if blocker.worker is not None:
                blocker.worker.cancel()
        else:
            await self._app.let_through(event)
        self.settle()

    # ── waiting ───────────────────────────────────────────────────────────────────────────────────

    def _keep_looking(self) -> None:
        """Check again soon as long as keys wait."""
        if not self._held:
            self._waiting_since = None
        elif self._poll is None:
            self._waiting_since = self._waiting_since or monotonic()
            self._poll = self._app.set_timer(POLL_S, self._look)

    async def _look(self) -> None:
        self._poll = None
        waiting_s = monotonic() - (self._waiting_since or monotonic())
        if self._settling and monotonic() - self._settling_since > LOST_S:
            self.settle()
        elif (
            waiting_s >= TOLD_S
            and waiting_s < TOLD_S + 2 * POLL_S
            and (top := self._top) is not None
        ):
            waiting_text = "1 key waits" if len(self._held) == 1 else f"{len(self._held)} keys wait"
            say(top, f"{waiting_text} for what was asked for; Esc twice leaves it", warns=True)
        await self.go_on()


def _searches(palette: CommandPalette) -> bool:
    """Return whether a command palette still looks for matches."""
    return any(worker.node is palette and not worker.is_finished for worker in palette.workers)


def action_name(action: str) -> str:
    """Return the name of an action without its parameters."""
    return action.removeprefix("app.").partition("(")[0]


def actions_in(screen: Screen[Any], name: str) -> frozenset[str]:
    """Return the `DECIDES` or `FREE` actions of a screen's class and its base classes."""
    names: set[str] = set()
    for screen_class in type(screen).__mro__:
        names |= set(screen_class.__dict__.get(name, ()))
    return frozenset(names)


LEAVING = frozenset({"dismiss", "leave", "back", "pop_screen"})
"actions that discard the input of a screen"
LOSING = "What you typed is not saved. Leave all the same?"


class GatedApp(LiteralApp):
    """An app whose keys pass the gate, and in which no input is lost without a question."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.gate = KeyGate(self)
        self._before: WeakKeyDictionary[Input | TextArea, str] = WeakKeyDictionary()
        "text of a field before the user typed in it"

    async def on_event(self, event: events.Event) -> None:
        """Pass keys to the gate. Those that a widget forwards have passed it already."""
        if isinstance(event, events.Key | events.Paste) and not event.is_forwarded:
            await self.gate.take(event)
        else:
            await super().on_event(event)

    async def let_through(self, event: Typed) -> None:
        """Handle a key on the visible screen. Ask first if it discards input."""
        field = self.focused
        if isinstance(event, events.Key) and (leaving := self._leaving(event.key)) is not None:
            self._ask_before(leaving)
            return
        if isinstance(field, Input | TextArea):
            is_edit = isinstance(event, events.Paste) or event.is_printable or event.key in EDITS
            if is_edit and field not in self._before:
                self._before[field] = text_of(field)
        await super().on_event(event)

    def has_unsaved_input(self, screen: Screen[Any]) -> bool:
        """Return whether a screen has unsaved input that would be missed."""
        if getattr(screen, "SHORT_TEXT", False) or not screen.is_running:
            return False
        fields = [field for field in self._before if field.is_attached and field.screen is screen]
        return any(
            text_of(field) not in (self._before[field], "")
            for field in fields
            if field.id not in SEARCHES
        )

    def forget_typed(self, field: Input | TextArea) -> None:
        """Treat the current text of a field as not typed by the user."""
        self._before.pop(field, None)

    async def action_quit(self) -> None:
        """Quit the program. Ask first if there is unsaved input."""
        stacks = self._screen_stacks.values()
        if any(
            isinstance(top, ConfirmScreen) and top.asks_to_quit for top in self.screen_stack[-1:]
        ):
            self.exit()
        elif any(self.has_unsaved_input(screen) for stack in stacks for screen in stack):
            question = ConfirmScreen(LOSING, "leave", "stay")
            question.asks_to_quit = True
            self.push_screen(question, self._quit_or_stay)
        else:
            self.exit()

    def _quit_or_stay(self, agreed: bool | None) -> None:
        if agreed:
            self.exit()

    def _leaving(self, key: str) -> ActiveBinding | None:
        """Return the binding of a key if it would leave the screen and discard its input."""
        screen, field = self.screen, self.focused
        in_field = isinstance(field, Input | TextArea)
        if getattr(screen, "goes_back_within", False):
            return None
        if key not in ("escape", "q") or (in_field and (key == "q" or not screen.is_modal)):
            return None
        # Forms that know what they lose ask by themselves.
        if hasattr(screen, "dirty") or not self.has_unsaved_input(screen):
            return None
        active = screen.active_bindings.get(key)
        if (
            active is None
            or active.node not in (screen, self)
            or action_name(active.binding.action) not in LEAVING
        ):
            return None
        return active

    def _ask_before(self, leaving: ActiveBinding) -> None:
        """Ask whether input may be lost, and leave the screen if the answer is yes."""

        async def answered(agreed: bool | None) -> None:
            if agreed:
                await self.run_action(leaving.binding.action, leaving.node)

        self.push_screen(ConfirmScreen(LOSING, "leave", "stay"), answered)

    def _handle_exception(self, error: Exception) -> None:
        """End the program with an error, unless a screen that was left lacks its parts.

        Such a screen was left before its parts were there.
        """
        pump = active_message_pump.get(None)
        if isinstance(error, NoMatches) and isinstance(pump, DOMNode) and self._is_gone(pump):
            return
        super()._handle_exception(error)

    def _is_gone(self, node: DOMNode) -> bool:
        """Return whether a node is on a screen that was left."""
        screens = [
            ancestor for ancestor in node.ancestors_with_self if isinstance(ancestor, Screen)
        ]
        return not any(
            screen in stack for screen in screens for stack in self._screen_stacks.values()
        )

    async def on_settling_message(self, message: SettlingMessage) -> None:
        await self.gate.passed(message)

    def watch_screens(self) -> None:
        """Settle whenever another screen becomes visible."""
        self.screen_change_signal.subscribe(self, lambda _: self.gate.settle(), immediate=True)


SEARCHES = frozenset({"search", "find"})
"ids of fields whose text is quick to retype"


def text_of(field: Input | TextArea) -> str:
    """Return the text in a field."""
    return field.text if isinstance(field, TextArea) else field.value


def gate_of(node: DOMNode) -> KeyGate:
    """Return the gate of the app that shows a screen."""
    return cast("GatedApp", node.app).gate
