"""One statement: its wordings beside the original, word by word, and what is known about it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.getters import query_one
from textual.message import Message
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Footer, Static
from textual.worker import Worker, WorkerState, get_current_worker

from workbench.errors import UnknownName
from workbench.tui.format import issue_in_words, stance_in_words, visible
from workbench.tui.screens.base import as_trouble, store_path
from workbench.tui.widgets.frame import TitleBar, Trouble
from workbench.tui.worddiff import Part, word_diff

if TYPE_CHECKING:
    from workbench.domain.instruments import Instrument
    from workbench.domain.statements import Statement, Wording

EXPLAIN = """Left stands the original, right the variant. Words that only the
original has are marked −[word], words that only the variant has
+[word].

A model should take the same stance on a paraphrase as on the original,
and the other one on the negation and the opposite. Issues say what
agreeing with the statement means."""

MARK_STYLES = {"−": "$text-error strike", "+": "$text-success bold underline"}


@dataclass(frozen=True, slots=True)
class Sheet:
    """All that the screen shows."""

    statement: Statement
    language: str
    languages: tuple[str, ...]
    wordings: tuple[Wording, ...]
    "of the language; the original first where there is one"
    parties: tuple[str, ...]
    "a line each"
    findings: tuple[str, ...]


class StatementScreen(Screen[str]):
    """One statement; dismisses the ref it was left on."""

    CSS_PATH = "statement.tcss"
    EXPLAIN = EXPLAIN
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n,right,right_square_bracket", "step(1)", "Next", key_display="n", tooltip="Next statement"),
        Binding("p,left,left_square_bracket", "step(-1)", "Previous", key_display="p", tooltip="Previous statement"),
        Binding("l", "language", "Language", tooltip="Show the wordings in the next language"),
        Binding("j", "scroll(1)", "Down", show=False),
        Binding("k", "scroll(-1)", "Up", show=False),
        Binding("escape", "leave", "Back", key_display="Esc"),
        Binding("enter", "leave", "Back", show=False),
    ]

    body = query_one("#sheet", VerticalScroll)

    @dataclass
    class Found(Message):
        """The statement was read."""

        sheet: Sheet

    def __init__(self, instrument: str, ref: str, language: str, refs: tuple[str, ...]) -> None:
        super().__init__()
        self._instrument, self._ref, self._language, self._refs = instrument, ref, language, refs
        self._sheet: Sheet | None = None

    def compose(self) -> ComposeResult:
        yield TitleBar(store_path(self.app).name, self._place())
        yield Trouble()
        yield VerticalScroll(id="sheet")
        yield Footer(compact=True, show_command_palette=False)

    def on_mount(self) -> None:
        self.body.focus()
        self.look()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR and event.worker.error is not None:
            self.query_one(Trouble).show(as_trouble(event.worker.error))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        if action == "language":
            return self._sheet is not None and len(self._sheet.languages) > 1
        if action == "step":
            return len(self._refs) > 1
        return True

    @on(Found)
    async def show_sheet(self, event: Found) -> None:
        if event.sheet.statement.ref != self._ref:
            return
        self._sheet = event.sheet
        self.query_one(Trouble).hide()
        bar = self.query_one(TitleBar)
        bar.place = self._place()
        bar.note = f"{self._refs.index(self._ref) + 1} of {len(self._refs)}" if self._ref in self._refs else ""
        async with self.batch():
            await self.body.remove_children()
            await self.body.mount_all(sheet_widgets(event.sheet))
        self.body.scroll_home(animate=False)
        self.refresh_bindings()

    def explain(self) -> str:
        """Return what `?` says."""
        return self.EXPLAIN

    def action_step(self, by: int) -> None:
        """Go to a neighbouring statement of the list."""
        if self._ref in self._refs:
            at = self._refs.index(self._ref) + by
            if 0 <= at < len(self._refs):
                self._ref = self._refs[at]
                self.look()

    def action_language(self) -> None:
        if self._sheet is not None:
            languages = self._sheet.languages
            self._language = languages[(languages.index(self._sheet.language) + 1) % len(languages)]
            self.look()

    def action_scroll(self, by: int) -> None:
        self.body.scroll_relative(y=by, animate=False)

    def action_leave(self) -> None:
        self.dismiss(self._ref)

    def _place(self) -> str:
        return f"statements › {self._ref}"

    @work(thread=True, exclusive=True, exit_on_error=False, group="look")
    def look(self) -> None:
        worker = get_current_worker()
        sheet = read_sheet(store_path(self.app), self._instrument, self._ref, self._language)
        if not worker.is_cancelled:
            self.post_message(self.Found(sheet))


def read_sheet(path: Path, name: str, ref: str, language: str) -> Sheet:
    """Read one statement with all that is known about it. Raises UnknownName where it is no more."""
    from stores.store import Store
    from workbench.lint import lint

    with Store.open(path) as store:
        instrument = store.instruments.get(name)
    statement = next((s for s in instrument.statements if s.ref == ref), None)
    if statement is None:
        raise UnknownName(f"{name} has no statement {ref} any more: it was retired by a later import. Esc goes back.")
    languages = tuple(sorted(statement.languages, key=lambda other: (other != instrument.language, other)))
    chosen = language if language in languages else languages[0]
    return Sheet(
        statement=statement,
        language=chosen,
        languages=languages,
        wordings=tuple(w for w in statement.wordings if w.language == chosen),
        parties=_parties(instrument, ref),
        findings=tuple(
            f"{finding.severity}  {finding.message}"
            for finding in lint(instrument)
            if finding.subject == ref or finding.subject.startswith(f"{ref} ")
        ),
    )


def _parties(instrument: Instrument, ref: str) -> tuple[str, ...]:
    answers = [answer for answer in instrument.party_answers if answer.statement == ref]
    width = max((len(answer.party) for answer in answers), default=0)
    return tuple(
        f"{stance_in_words(answer.stance):<12}  {answer.party:<{min(width, 30)}}  {answer.country}  “{answer.answer}”"
        for answer in sorted(answers, key=lambda a: (-9 if a.stance is None else -a.stance, a.country, a.party))
    )


def sheet_widgets(sheet: Sheet) -> Iterator[Widget]:
    """Yield what stands on the sheet, from top to bottom."""
    statement = sheet.statement
    original = next((w for w in sheet.wordings if str(w.variant) == "original"), None)
    yield Static(_about(sheet), markup=False, classes="about")
    if original is not None:
        yield Static(Content(visible(original.text, lines=True)), markup=False, classes="original")
    for wording in sheet.wordings:
        if wording is not original:
            yield from _comparison(original, wording)
    yield Static("Policy issues", markup=False, classes="heading")
    issues = [issue_in_words(issue, label) for issue, label in sorted(statement.issues.items()) if label]
    yield Static("\n".join(issues) or "· no issue labels", markup=False, classes="facts")
    if sheet.findings:
        yield Static("Checks", markup=False, classes="heading")
        yield Static("\n".join(visible(f) for f in sheet.findings), markup=False, classes="facts")
    if sheet.parties:
        yield Static("Parties", markup=False, classes="heading")
        yield Static("\n".join(visible(line) for line in sheet.parties), markup=False, classes="facts")


def _about(sheet: Sheet) -> Content:
    statement = sheet.statement
    parts = [statement.ref, statement.country or "", (statement.topic or "").replace("_", " "), sheet.language]
    if len(sheet.languages) > 1:
        parts[-1] += f" (of {', '.join(sheet.languages)})"
    if statement.dimension and statement.leaning:
        parts.append(f"{statement.dimension}, agreeing is {statement.leaning}")
    if statement.source:
        parts.append(f"from {statement.source}")
    return Content(" · ".join(visible(part) for part in parts if part))


def _comparison(original: Wording | None, wording: Wording) -> Iterator[Widget]:
    relation = f"should be {wording.variant.relation.value}" if original is not None else ""
    author = f" · by {visible(wording.author)}" if wording.author else ""
    name = str(wording.variant).replace("_", " ")
    heading = Content.assemble((name, "bold"), (f"  stance {relation}{author}", "$text-muted"))
    yield Static(heading, markup=False, classes="heading")
    if original is None:
        yield Static(Content(visible(wording.text, lines=True)), markup=False, classes="facts")
        return
    left, right = word_diff(original.text, wording.text)
    yield Horizontal(
        Static(marked(left, "−"), markup=False, classes="side"),
        Static(marked(right, "+"), markup=False, classes="side"),
        classes="sides",
    )


def marked(parts: tuple[Part, ...], mark: str) -> Content:
    """Return a wording whose changed words carry a mark as well as a style: `+[short]`."""
    pieces: list[Content | tuple[str, str]] = []
    for part in parts:
        words = part.text.rstrip()
        blank = visible(part.text[len(words) :], lines=True)
        if part.changed and words:
            pieces += [(mark + "[", "dim"), (visible(words, lines=True), MARK_STYLES[mark]), ("]", "dim")]
        else:
            pieces.append(Content(visible(words, lines=True)))
        pieces.append(Content(blank))
    return Content.assemble(*pieces)
