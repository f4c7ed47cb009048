"""The sheet of a statement: what is read for it, and the wordings on it, of which one is under the cursor."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from workbench.domain.statements import VariantId, Wording
from workbench.errors import UnknownName
from workbench.tui.format import issue_in_words, visible
from workbench.tui.rulings.standing import standing_in
from workbench.tui.statements.choice_form_format import side_by_side
from workbench.tui.statements.statement_format import (
    Sheet,
    about,
    difference,
    marked,
    party_lines,
    variant_name,
    wording_heading,
)

if TYPE_CHECKING:
    from workbench.domain.instruments import Instrument


def read_sheet(path: Path, name: str, ref: str, language: str) -> Sheet:
    """Read one statement with all that is known about it. Raises UnknownName where it is no more."""
    from stores.core.store import Store

    with Store.open(path) as store:
        instrument = store.instruments.get(name)
        statement = next((s for s in instrument.statements if s.ref == ref), None)
        if statement is None:
            raise UnknownName(
                f"{name} no longer has a statement {ref}: a later import retired it, or it was archived or renamed. "
                "Esc goes back; A there lists archived statements."
            )
        history = store.statements.history(name, ref)
        rulings = tuple(
            f"{'/'.join(one.parts[1:]) or 'statement'}  {one.line}"
            for one in standing_in(store).every
            if one.instrument == name and one.ref == ref
        )
    languages = tuple(sorted(statement.languages, key=lambda other: (other != instrument.language, other)))
    chosen = language if language in languages else languages[0]
    everywhere = dict.fromkeys(other for s in instrument.statements for other in s.languages)
    return Sheet(
        statement=statement,
        language=chosen,
        languages=languages,
        wordings=tuple(w for w in statement.wordings if w.language == chosen),
        lacks=tuple(other for other in everywhere if other not in languages),
        answers=next((version.answers for version in history if version.current), 0),
        parties=party_lines(instrument, ref),
        findings=_findings(instrument, ref),
        rulings=rulings,
    )


class WordingBlock(Vertical):
    """One wording, beside the original where it is not the original itself."""

    def __init__(self, wording: Wording, original: Wording | None, *, at: bool, named: bool = False) -> None:
        """`named`: each side has its name above it."""
        super().__init__(classes="wording -at" if at else "wording")
        self._named = named
        self.wording = wording
        self._original = original
        self._at = at

    def compose(self) -> ComposeResult:
        yield Static(self._heading(), markup=False, classes="heading")
        original = self._original
        if original is None or original is self.wording:
            text = Content(visible(self.wording.text, lines=True))
            yield Static(text, markup=False, classes="original" if original else "facts")
            return
        left, right = _sides(original.text, self.wording.text)
        if self._named:
            left, right = (
                _under(variant_name(original.variant), left),
                _under(variant_name(self.wording.variant), right),
            )
        yield Horizontal(
            Static(left, markup=False, classes="side"),
            Static(right, markup=False, classes="side"),
            classes="sides",
        )

    def point(self, at: bool) -> None:
        """Put the cursor here, or take it away."""
        if at != self._at:
            self._at = at
            self.set_class(at, "-at")
            self.query_one(".heading", Static).update(self._heading())

    def _heading(self) -> Content:
        compared = self._original is not None and self._original is not self.wording
        return wording_heading(self.wording, at=self._at, compared=compared)


def _under(name: str, text: Content) -> Content:
    return Content("\n").join([Content.styled(visible(name), "$text-muted underline"), text])


def _sides(before: str, after: str) -> tuple[Content, Content]:
    """Return two texts with what differs: word by word, and of questions with options option by option."""
    if (forms := side_by_side(before, after)) is not None:
        return forms
    left, right = difference(before, after)
    return marked(left, "−"), marked(right, "+")


class SheetView(VerticalScroll, inherit_bindings=False):
    """The sheet; its cursor is the screen's, so that j and k go from wording to wording."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("pageup", "page_up", "Page above", show=False),
        Binding("pagedown,space", "page_down", "Page below", show=False),
        Binding("home", "scroll_home", "Top", show=False),
        Binding("end", "scroll_end", "Bottom", show=False),
    ]

    @property
    def blocks(self) -> list[WordingBlock]:
        return list(self.query(WordingBlock))

    def point(self, variant: VariantId | None) -> None:
        """Put the cursor on a wording and bring it into sight."""
        for block in self.blocks:
            block.point(block.wording.variant == variant)
            if block.wording.variant == variant:
                block.scroll_visible(animate=False)


def sheet_widgets(sheet: Sheet, at: VariantId | None) -> Iterator[Widget]:
    """Yield what stands on the sheet, from top to bottom."""
    yield Static(about(sheet), markup=False, classes="about")
    compared = next((one for one in sheet.wordings if sheet.original is not None and one is not sheet.original), None)
    for wording in sheet.wordings:
        yield WordingBlock(wording, sheet.original, at=wording.variant == at, named=wording is compared)
    issues = [issue_in_words(issue, label) for issue, label in sorted(sheet.statement.issues.items()) if label]
    none = "· every issue label is 0: not related" if sheet.statement.issues else "· no issue labels"
    yield from _section("Policy issues", tuple(issues) or (none,))
    yield from _section("Checks", sheet.findings)
    yield from _section("Rulings", sheet.rulings)
    yield from _section("Parties", sheet.parties)


def _section(title: str, lines: tuple[str, ...]) -> Iterator[Widget]:
    if lines:
        yield Static(title, markup=False, classes="heading -section")
        yield Static("\n".join(visible(line) for line in lines), markup=False, classes="facts")


def _findings(instrument: Instrument, ref: str) -> tuple[str, ...]:
    from workbench.lint import lint

    return tuple(
        f"{finding.severity}  {finding.message}"
        for finding in lint(instrument)
        if finding.subject == ref or finding.subject.startswith(f"{ref} ")
    )
