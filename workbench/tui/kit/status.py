"""Saying what a key did: on the title line, where it covers nothing that is read.

Toasts (`notify`) are for what comes from elsewhere: a job that ended, another program that changed the store.
"""

from __future__ import annotations

from typing import Any

from textual.content import Content
from textual.css.query import NoMatches
from textual.screen import Screen
from textual.widgets import Static

from workbench.tui.format import visible
from workbench.tui.widgets.frame import SAID_S, TitleBar


def say(screen: Screen[Any], sentence: str, *, warns: bool = False) -> None:
    """Say what was done; `warns`: why nothing was, or that it was not what was meant.

    A window without a title line says it beside its buttons, in `#told`; one without either lets the screen below it.
    """
    for bar in screen.query(TitleBar):
        bar.say(sentence, warns=warns)
        return
    try:
        told = screen.query_one("#told", Static)
    except NoMatches:
        say_below(screen, sentence, warns=warns)
        return
    told.update(Content.styled(visible(sentence), "$text-warning" if warns else "$text-success"))
    told.set_timer(SAID_S, lambda: told.update(""))


def say_below(screen: Screen[Any], sentence: str, *, warns: bool = False) -> None:
    """Say what a window did, on the screen that is in sight once it is closed."""
    stack = screen.app.screen_stack
    at = stack.index(screen) if screen in stack else len(stack)
    for below in reversed(stack[:at]):
        for bar in below.query(TitleBar):
            bar.say(sentence, warns=warns)
            return
