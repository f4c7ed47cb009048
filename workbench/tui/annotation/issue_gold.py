"""How far annotators agree on each policy issue, and what the gold labels are made of; ties are decided from here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from textual import on, work
from textual.binding import Binding, BindingType
from textual.message import Message

from workbench.domain.issue_gold import FEWEST
from workbench.figures.book import Subject
from workbench.help.sections import section
from workbench.tui.annotation.issue_cases import IssueCasesScreen
from workbench.tui.annotation.issue_grid_format import scheme_text
from workbench.tui.kit.dialogs import TextScreen
from workbench.tui.kit.editor_dialog import as_person
from workbench.tui.kit.status import say
from workbench.tui.results.book_screen import BookScreen
from workbench.tui.results.loaded import Loaded, Opened
from workbench.tui.routes import screen

NO_ISSUES = """This instrument has no policy issues yet. l offers the eight of smartvote and labels for them;
others come from a file: workbench issues STORE --scheme FILE"""
EXPLAIN = section("screens-annotation", "Agreement on policy issues")


class IssueGoldScreen(BookScreen):
    """The figures on the policy issues of an instrument."""

    RULED = False
    COUNTING = "Computing the coefficients and their intervals …"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("d", "decide", "Decide", tooltip="Decide the ties of all issues"),
        Binding("l", "label", "Label", tooltip="Label statements without seeing others' labels"),
        Binding("w", "whose", "Whose", tooltip="Prefer a source's own labels to people's, or count only people's"),
        Binding("o", "one", "One", tooltip="Accept one labeller's labels as gold, or require two"),
        Binding("i", "issues", "Issues", tooltip="Show the definitions of the issues"),
        Binding("q", "leave", "Leave", tooltip="Go back to the queues"),
    ]

    _settings: str
    "gold: a source's own labels count before people's; people: they are left out"

    @dataclass
    class Chosen(Message):
        """It is stored how many people's labels make gold."""

        sentence: str

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

    def judged_now(self, settings: str, known: Loaded | None) -> Loaded:
        return load(self.store_path, self._instrument, settings, known)

    def way_out(self, loaded: Loaded) -> str:  # noqa: ARG002
        return "Esc goes back."

    def explain(self) -> str:
        return f"{super().explain()}\n\n{EXPLAIN}"

    def say_who(self) -> None:
        super().say_who()
        ties = self._judged.report.ties if self._judged is not None else 0
        self.title_bar.note = f"{ties:,} to decide" if ties else ""

    def action_decide(self) -> None:
        self.app.push_screen(IssueCasesScreen(self._instrument, None, self._settings))

    def action_label(self) -> None:
        self.app.push_screen(screen("issue_grid", self._instrument))

    def action_whose(self) -> None:
        self._set("people" if self._settings == "gold" else "gold")

    def action_one(self) -> None:
        """Choose how many people's labels make gold; the choice is stored under the name of who sits here."""
        fewest = 1 if self._judged.report.fewest > 1 else FEWEST

        def choose(person: str) -> None:
            self.choose(fewest, person)

        as_person(self, self._instrument, choose)

    @on(Chosen)
    def say_chosen(self, event: Chosen) -> None:
        say(self, event.sentence)
        self.action_refresh()

    @work(thread=True, exclusive=True, exit_on_error=False, group="choose")
    def choose(self, fewest: int, person: str) -> None:
        from stores.core.store import Store
        from workbench.annotation.issue_tables import needed_words

        with Store.open(self.store_path) as store:
            store.issues.choose_fewest(self._instrument, fewest, person)
        self.post_message(self.Chosen(needed_words(fewest)))

    def action_issues(self) -> None:
        self.app.push_screen(TextScreen("What supporting each issue means", scheme_text(self._judged.definitions)))

    def _cases(self, path: Path, loaded: Loaded, subject: Subject) -> Opened:  # noqa: ARG002
        """Return what opens the statements of an issue."""
        (issue,), whose = subject, loaded.settings
        return lambda: IssueCasesScreen(self._instrument, issue, whose)


def load(path: Path, instrument: str, settings: str, known: Loaded | None = None) -> Loaded:
    """Return the figures on an instrument's issues. Returns `known` itself where nothing has changed."""
    from stores.core.store import Store
    from workbench.annotation.issue_tables import book
    from workbench.pipeline.issues import issue_figures, issues_of

    with Store.open(path) as store:
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
        found = issue_figures(store, instrument, whose=settings)
    told = [("", one.rstrip(".")) for one in found.told[1:]]
    return Loaded(settings, book=book(found), judged=found, options=told, rests_on=rests_on)
