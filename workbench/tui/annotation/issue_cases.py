"""The labels behind an issue's agreement: ties first, no names, and one key decides.

Each decision is committed at once. A further screen has the figures of the agreement.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.getters import query_one
from textual.widgets import Static

from workbench.domain.instruments import FEWEST
from workbench.figures.book import Subject
from workbench.figures.visible import visible
from workbench.help.sections import section
from workbench.sessions.issues import DecisionSession
from workbench.sessions.items import UnitCounts
from workbench.tui.annotation.annotate_format import last_line, pace_line
from workbench.tui.annotation.issue_grid import KEYS, SIGNS, scheme_text
from workbench.tui.format import row_key
from workbench.tui.kit.base import say, worker
from workbench.tui.kit.dialogs import TextScreen
from workbench.tui.kit.person_dialog import PersonDialog, as_person, ask_person
from workbench.tui.kit.session_screen import SessionScreen, ShowResult
from workbench.tui.results.book_screen import BookScreen
from workbench.tui.results.details import table_help
from workbench.tui.results.loaded import Loaded, Opened
from workbench.tui.results.sheet import Sheet
from workbench.tui.results.sheet_view import SheetView
from workbench.tui.routes import screen

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.annotation.issue_tables import IssueFigures
    from workbench.annotation.issues import Case


EXPLAIN = section("screens-annotation", "Deciding ties on policy issues")


class IssueCasesScreen(SessionScreen[DecisionSession]):
    """The screen of labels for one or all issues, with the decisions on them."""

    DECIDES: ClassVar[frozenset[str]] = frozenset({"decide", "withdraw", "undo"})
    FREE: ClassVar[frozenset[str]] = frozenset({"leave", "issues"})
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "1", "decide(1)", "+1", show=False, tooltip="Decide +1: agreeing supports the issue"
        ),
        Binding("0", "decide(0)", "0", show=False, tooltip="Decide 0: not related to the issue"),
        Binding(
            "a,plus",
            "decide(1)",
            "+1",
            key_display="a",
            tooltip="Decide +1: agreeing supports the issue",
        ),
        Binding(
            "d,minus",
            "decide(-1)",
            "−1",
            key_display="d",
            tooltip="Decide −1: disagreeing supports the issue",
        ),
        Binding("n", "decide(0)", "0", tooltip="Decide 0: not related to the issue"),
        Binding(
            "space,backspace,delete",
            "withdraw",
            "Withdraw",
            key_display="Space",
            tooltip="Withdraw the decision under the cursor",
        ),
        Binding("z", "undo", "Undo", tooltip="Undo the last decision, then earlier ones"),
        Binding("x", "cycle", "More", tooltip="List statements to decide, disagreements, or all"),
        Binding("t", "text", "Text", show=False, tooltip="Show all details of the statement"),
        Binding("i", "issues", "Issues", tooltip="Show the definitions of the issues"),
        Binding("escape,q", "leave", "Leave", key_display="Esc", tooltip="Leave this screen"),
    ]
    DEFAULT_CSS = """
    IssueCasesScreen #empty {
        height: auto;
        padding: 2 2;
        color: $text-muted;
    }
    IssueCasesScreen #keys, IssueCasesScreen #pace {
        height: 1;
        padding: 0 1;
        text-wrap: nowrap;
        text-overflow: ellipsis;
    }
    IssueCasesScreen #keys {
        color: $text-muted;
    }
    """
    UNIT = "statement"

    view = query_one(SheetView)

    def __init__(self, instrument: str, issue: str | None, whose: str = "gold") -> None:
        super().__init__()
        self._instrument, self._issue, self._whose = instrument, issue, whose
        self._figures: IssueFigures | None = None
        self._cases: dict[str, Case] = {}
        self._listed: tuple[str, ...] = ()
        self._which = 0 if issue is None else 1
        "index of the current list of cases in `issue_tables.LISTS`"
        self._steps = 0

    def compose_body(self) -> ComposeResult:
        yield Static("Reading the labels …", id="empty", markup=False)
        yield SheetView()
        yield Static(KEYS, id="keys", markup=False)
        yield Static(id="pace", markup=False)

    def on_mount(self) -> None:
        name = "all issues" if self._issue is None else self._issue.replace("_", " ")
        self.title_bar.place = f"policy issues › {name}"
        self.view.display = self.query_one("#keys").display = False
        self.begin(lambda path: DecisionSession(path, self._instrument, self._whose))
        self.action_refresh()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        if action == "withdraw":
            return self.current is not None and self.current.adjudicated is not None
        if action == "undo":
            return self._figures is not None
        return self.current is not None or action not in ("decide", "text")

    @property
    def current(self) -> Case | None:
        """The case under the cursor."""
        return self._cases.get(self.view.table.current or "")

    def explain(self) -> str:
        sheet = self.view.sheet
        return f"{EXPLAIN}\n\n{table_help(sheet.table)}" if sheet is not None else EXPLAIN

    def take(self, figures: IssueFigures) -> None:
        self.request_answered()
        self._learn(figures)
        self._list()

    def go_on(
        self, figures: IssueFigures, case: Case, said: str, steps: int, undone: bool = False
    ) -> None:
        """Show the decision in its unmoved row, and go on to the next tie."""
        self.request_answered()
        key, current_key = _key(case), self.view.table.current
        self._steps, self._said = steps, said
        self._learn(figures)
        if undone and key not in self._listed:
            self._which = -1
            self._list()
        else:
            self._show()
        if undone:
            self._go_to(key)
        elif current_key == key and self._cases[key].adjudicated is not None:
            self._go_to_tie()

    def say_nothing_to_undo(self) -> None:
        self.request_answered()
        say(self, "Nothing to undo: you have decided nothing here.", warns=True)

    def look_again(self, figures: IssueFigures) -> None:
        self.request_answered()
        self._learn(figures)
        self._show()
        message = (
            "The labels or the decision changed while you read them. Nothing was decided; "
            "read them again."
        )
        say(self, message, warns=True)

    @on(SheetView.Current)
    def moved(self) -> None:
        self.refresh_bindings()

    def action_decide(self, label: int) -> None:
        """Commit a decision on the visible labels."""
        self._decide(label)

    def action_withdraw(self) -> None:
        if self.current is not None and self.current.adjudicated is not None:
            self._decide(None)

    def action_undo(self) -> None:
        """Undo the last decision of this person, including those of earlier visits."""
        auditor = self.person
        if self._busy:
            return
        if auditor is None:
            self._ask_name(self.action_undo)
            return

        def describe(case: Case | None) -> str:
            return f"undone: {_named(case)}" if case is not None else ""

        def show(session: DecisionSession, case: Case | None) -> ShowResult:
            if case is None:
                return self.say_nothing_to_undo
            figures, n_steps = session.read(), session.steps
            return partial(self.go_on, figures, case, describe(case), n_steps, undone=True)

        self.take_step(lambda session: session.undo(auditor), describe, show, lost="the undo")

    def action_cycle(self) -> None:
        """List the undecided cases, those with different labels, or all labelled ones."""
        from workbench.annotation.issue_tables import LISTS

        self._which = (self._which + 1) % len(LISTS)
        self._list()

    def action_text(self) -> None:
        self.view.show_whole()

    def action_issues(self) -> None:
        issues = self._figures.definitions if self._figures is not None else ()
        self.app.push_screen(TextScreen("What supporting each issue means", scheme_text(issues)))

    def action_refresh(self) -> None:
        if not self._busy or self.trouble.shown or self._figures is None:
            self.submit(lambda session: partial(self.take, session.read()))

    def _decide(self, label: int | None) -> None:
        case, auditor = self.current, self.person
        if self._busy or case is None:
            return
        if auditor is None:
            self._ask_name(partial(self._decide, label))
            return
        outcome = "decision withdrawn" if label is None else f"{SIGNS[label]} decided"
        message = f"{_named(case)}: {outcome}"

        def show(session: DecisionSession, is_decided: bool) -> ShowResult:
            figures = session.read()
            if not is_decided:
                return partial(self.look_again, figures)
            return partial(self.go_on, figures, case, message, session.steps)

        self.take_step(
            lambda session: session.decide(case, label, auditor),
            lambda is_decided: message if is_decided else "",
            show,
            lost=message,
        )

    def _ask_name(self, then: Callable[[], None]) -> None:
        dialog = PersonDialog((), note="Your decisions are stored under this name.")
        ask_person(self, dialog, lambda _: then())

    def _learn(self, figures: IssueFigures) -> None:
        self._figures = figures
        self._cases = {
            _key(case): case for case in figures.report.cases if self._issue in (None, case.issue)
        }
        self._listed = tuple(key for key in self._listed if key in self._cases)

    def _list(self) -> None:
        """List the selected cases, ties first."""
        from workbench.annotation.issue_tables import chosen

        self._listed = tuple(_key(case) for case in chosen(list(self._cases.values()), self._which))
        self._show()
        if self.view.table.keys:
            self.view.table.show_row(0)

    def _show(self) -> None:
        """Show the current state of the listed cases, each in its row."""
        from workbench.annotation.issue_tables import LISTS, case_table, nothing_listed

        assert self._figures is not None
        cases = list(self._cases.values())
        listed_cases = [self._cases[key] for key in self._listed]
        table = case_table(
            self._figures,
            "cases",
            LISTS[self._which],
            listed_cases,
            nothing_listed(self._which, cases),
        )
        empty = self.query_one("#empty", Static)
        empty.display = not listed_cases
        empty.update(table.empty)
        self.view.display = self.query_one("#keys").display = bool(listed_cases)
        self.view.show(Sheet(table, [self._issue] if self._issue else []))
        n_open = sum(case.open for case in cases)
        self.title_bar.note = f"{n_open:,} to decide · {LISTS[self._which]}"
        self.refresh_bindings()
        self.show_progress()

    def show_progress(self) -> None:
        cases = self._cases.values()
        n_decided = sum(case.adjudicated is not None for case in cases)
        n_open = sum(case.open for case in cases)
        progress = UnitCounts(n_decided, n_decided + n_open)
        last_content = last_line(self._said, self._steps, before="")
        self.say(pace_line(progress, last_content, narrow=True))

    def _go_to(self, key: str) -> None:
        if key in self.view.table.keys:
            self.view.table.show_row(self.view.table.keys.index(key))

    def _go_to_tie(self) -> None:
        """Go down to the next undecided case, continuing at the start. Stay if there is none."""
        keys, row = self.view.table.keys, self.view.table.cursor_row
        for step in range(1, len(keys)):
            next_row = (row + step) % len(keys)
            if self._cases[keys[next_row]].open:
                self.view.table.show_row(next_row)
                return


def _key(case: Case) -> str:
    return row_key(case.statement, case.issue)


def _named(case: Case) -> str:
    return f"{visible(case.statement)} {visible(case.issue).replace('_', ' ')}"


NO_ISSUES = """This instrument has no policy issues yet. l offers the eight of smartvote and labels for them;
others come from a file: workbench issues STORE --scheme FILE"""  # noqa: E501
EXPLAIN_GOLD = section("screens-annotation", "Agreement on policy issues")


class IssueGoldScreen(BookScreen):
    """The screen of the figures on the policy issues of an instrument."""

    RULED = False
    DECIDES: ClassVar[frozenset[str]] = frozenset({"one"})
    COUNTING = "Computing the coefficients and their intervals …"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("d", "decide", "Decide", tooltip="Decide the ties of all issues"),
        Binding("l", "label", "Label", tooltip="Label statements without seeing others' labels"),
        Binding(
            "w",
            "whose",
            "Whose",
            tooltip="Prefer a source's own labels to people's, or count only people's",
        ),
        Binding("o", "one", "One", tooltip="Accept one labeller's labels as gold, or require two"),
        Binding("i", "issues", "Issues", tooltip="Show the definitions of the issues"),
        Binding("q", "leave", "Leave", tooltip="Go back to the queues"),
    ]

    _settings: str
    "gold: a source's own labels count before people's; people: they are left out"

    def __init__(self, instrument: str) -> None:
        super().__init__("gold")
        self._instrument = instrument
        self.PLACE = f"policy issues › {instrument} › gold"
        self.routes = {"cases": self._cases}

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "decide":
            return self._judged is not None and self._judged.report.ties > 0
        if action in ("whose", "issues", "one"):
            return self._judged is not None
        return super().check_action(action, parameters)

    def judge(self, store: Store, settings: str, known: Loaded | None) -> Loaded:
        return load(store, self._instrument, settings, known)

    def alternatives_hint(self, loaded: Loaded) -> str:  # noqa: ARG002
        return "Esc goes back."

    def explain(self) -> str:
        return f"{super().explain()}\n\n{EXPLAIN_GOLD}"

    def show_title_note(self) -> None:
        super().show_title_note()
        ties = self._judged.report.ties if self._judged is not None else 0
        self.title_bar.note = f"{ties:,} to decide" if ties else ""

    def action_decide(self) -> None:
        self.app.push_screen(IssueCasesScreen(self._instrument, None, self._settings))

    def action_label(self) -> None:
        self.app.push_screen(screen("issue_grid", self._instrument))

    def action_whose(self) -> None:
        self._set("people" if self._settings == "gold" else "gold")

    def action_one(self) -> None:
        """Choose how many people's labels make gold, stored under the user's name."""
        fewest = 1 if self._judged.report.fewest > 1 else FEWEST

        def choose(person: str) -> None:
            self.choose(fewest, person)

        as_person(self, self._instrument, choose)

    @worker("choose", newest=False)
    async def choose(self, fewest: int, person: str) -> None:
        def act(store: Store) -> str:
            from workbench.annotation.issue_tables import needed_words

            store.issues.choose_fewest(self._instrument, fewest, person)
            return needed_words(fewest)

        say(self, await self.with_store(act))
        self.action_refresh()

    def action_issues(self) -> None:
        self.app.push_screen(
            TextScreen("What supporting each issue means", scheme_text(self._judged.definitions))
        )

    def _cases(self, path: Path, loaded: Loaded, subject: Subject) -> Opened:  # noqa: ARG002
        """Return a function that opens the statements of an issue."""
        (issue,), whose = subject, loaded.settings
        return lambda: IssueCasesScreen(self._instrument, issue, whose)


def load(store: Store, instrument: str, settings: str, known: Loaded | None = None) -> Loaded:
    """Return the figures on an instrument's issues, or `known` itself if nothing has changed."""
    from workbench.annotation.issue_tables import book
    from workbench.pipeline.issues import issue_figures, issues_of

    rests_on = [
        store.issues.fewest(instrument),
        store.issues.labels(instrument),
        issues_of(store, instrument),
        store.issues.statements(instrument),
    ]
    if known is not None and known.settings == settings and known.rests_on == rests_on:
        return known
    if not rests_on[2]:
        return Loaded(settings, empty=NO_ISSUES, rests_on=rests_on)
    figures = issue_figures(store, instrument, whose=settings)
    texts = [("", text.rstrip(".")) for text in figures.told[1:]]
    return Loaded(settings, book=book(figures), judged=figures, options=texts, rests_on=rests_on)
