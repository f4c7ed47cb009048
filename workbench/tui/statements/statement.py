"""The screen of one statement: its wordings beside the original, each of which can be edited."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.getters import query_one
from textual.widget import Widget
from textual.widgets import Static

from workbench.domain.choices import Choice, parse_choice
from workbench.domain.statements import ORIGINAL, Relation, Statement, VariantId, Wording
from workbench.errors import ConflictError, UnknownName, WorkbenchError
from workbench.figures.visible import visible
from workbench.tui.format import issue_in_words
from workbench.tui.kit.base import say, store_path, worker
from workbench.tui.kit.dialogs import confirm, with_answer
from workbench.tui.kit.person_dialog import as_person
from workbench.tui.rulings.ruling import RulesAndEdits
from workbench.tui.rulings.standing import RuledPlace, standing_in
from workbench.tui.statements.choice_form import side_by_side
from workbench.tui.statements.statement_format import (
    EXPLAIN,
    StatementContent,
    about,
    difference,
    marked,
    party_lines,
    variant_name,
    wording_heading,
)
from workbench.tui.widgets.frame import Keys, TitleBar, Trouble

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.domain.instruments import Instrument
    from workbench.pipeline.editing import Done, Undoable


def read_sheet(store: Store, name: str, ref: str, language: str) -> StatementContent:
    """Read one statement with its checks, rulings, answers and parties.

    Raises UnknownName if it is no longer there.
    """
    instrument = store.instruments.get(name)
    statement = next(
        (candidate for candidate in instrument.statements if candidate.ref == ref), None
    )
    if statement is None:
        raise UnknownName(
            f"{name} no longer has a statement {ref}: a later import retired it, or it was "
            "archived or renamed. Esc goes back; A there lists archived statements."
        )
    history = store.statements.history(name, ref)
    rulings = tuple(
        f"{'/'.join(ruling.parts[1:]) or 'statement'}  {ruling.line}"
        for ruling in standing_in(store).rulings
        if ruling.instrument == name and ruling.ref == ref
    )
    languages = tuple(
        sorted(statement.languages, key=lambda other: (other != instrument.language, other))
    )
    shown_language = language if language in languages else languages[0]
    everywhere = dict.fromkeys(
        other for candidate in instrument.statements for other in candidate.languages
    )
    return StatementContent(
        statement=statement,
        language=shown_language,
        languages=languages,
        wordings=tuple(
            wording for wording in statement.wordings if wording.language == shown_language
        ),
        lacks=tuple(other for other in everywhere if other not in languages),
        answers=next((version.answers for version in history if version.current), 0),
        parties=party_lines(instrument, ref),
        findings=_findings(instrument, ref),
        rulings=rulings,
    )


class WordingBlock(Vertical):
    """One wording, beside the original unless it is the original itself."""

    def __init__(
        self, wording: Wording, original: Wording | None, *, at: bool, named: bool = False
    ) -> None:
        """Create the block. `named`: each side has its name above it."""
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
        """Put the cursor on this wording, or remove it."""
        if at != self._at:
            self._at = at
            self.set_class(at, "-at")
            self.query_one(".heading", Static).update(self._heading())

    def _heading(self) -> Content:
        is_compared = self._original is not None and self._original is not self.wording
        return wording_heading(self.wording, at=self._at, compared=is_compared)


def _under(name: str, text: Content) -> Content:
    return Content("\n").join([Content.styled(visible(name), "$text-muted underline"), text])


def _sides(before: str, after: str) -> tuple[Content, Content]:
    """Return two texts with their differences: word by word, or option by option for questions."""
    if (sides := side_by_side(before, after)) is not None:
        return sides
    left, right = difference(before, after)
    return marked(left, "−"), marked(right, "+")


class SheetView(VerticalScroll, inherit_bindings=False):
    """The sheet of a statement. The screen has its cursor, so that j and k go between wordings."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("pageup", "page_up", "Page above", show=False, tooltip="Go up by a page"),
        Binding(
            "pagedown,space", "page_down", "Page below", show=False, tooltip="Go down by a page"
        ),
        Binding("home", "scroll_home", "Top", show=False, tooltip="Go to the beginning"),
        Binding("end", "scroll_end", "Bottom", show=False, tooltip="Go to the end"),
    ]

    @property
    def blocks(self) -> list[WordingBlock]:
        return list(self.query(WordingBlock))

    def point(self, variant: VariantId | None) -> None:
        """Put the cursor on a wording and scroll to it."""
        for block in self.blocks:
            block.point(block.wording.variant == variant)
            if block.wording.variant == variant:
                block.scroll_visible(animate=False)


def sheet_widgets(sheet: StatementContent, at: VariantId | None) -> Iterator[Widget]:
    """Yield the widgets of the sheet, from top to bottom."""
    yield Static(about(sheet), markup=False, classes="about")
    compared = next(
        (
            wording
            for wording in sheet.wordings
            if sheet.original is not None and wording is not sheet.original
        ),
        None,
    )
    for sheet_wording in sheet.wordings:
        yield WordingBlock(
            sheet_wording,
            sheet.original,
            at=sheet_wording.variant == at,
            named=sheet_wording is compared,
        )
    issues = [
        issue_in_words(issue, label)
        for issue, label in sorted(sheet.statement.issues.items())
        if label
    ]
    no_issues = (
        "· every issue label is 0: not related" if sheet.statement.issues else "· no issue labels"
    )
    yield from _section("Policy issues", tuple(issues) or (no_issues,))
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


NARROW = 72
"terminal columns below which original and variant are stacked"

RELATIONS = tuple(Relation)


class StatementScreen(RulesAndEdits):
    """The editor of one statement. It returns the ref of the last visible statement."""

    CSS_PATH = "statement.tcss"
    EXPLAIN = EXPLAIN
    READS_ONLY = True
    DECIDES: ClassVar[frozenset[str]] = frozenset(
        ["relation", "delete", "undo", "edit", "about", "split", "forms", "translate", "add"]
    )
    FREE: ClassVar[frozenset[str]] = frozenset({"step"})
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "e,enter", "edit", "Edit", key_display="e", tooltip="Change the text of this wording"
        ),
        Binding("a", "add", "Add", tooltip="Add a variant: paraphrase, negation, opposite, …"),
        Binding(
            "o",
            "relation",
            "Expect",
            tooltip="Change the stance expected of this variant: same, flipped, free",
        ),
        Binding(
            "n,right,right_square_bracket",
            "step(1)",
            "Next",
            key_display="[ ]",
            tooltip="Next statement",
        ),
        Binding(
            "p,left,left_square_bracket",
            "step(-1)",
            "Previous",
            show=False,
            tooltip="Previous statement",
        ),
        Binding("l", "language", "Language", tooltip="Show the wordings in the next language"),
        Binding(
            "F",
            "forms",
            "Forms",
            show=False,
            tooltip="Make forms of this multiple-choice question: a changed form, typos",
        ),
        Binding("T,delete", "delete", "Delete", show=False, tooltip="Delete this wording"),
        Binding(
            "t",
            "translate",
            "Translate",
            show=False,
            tooltip="Write this wording in another language",
        ),
        Binding(
            "i",
            "about",
            "Fields",
            show=False,
            tooltip="Change ref, country, topic, source, tags, side, origin",
        ),
        Binding(
            "S",
            "split",
            "Split",
            show=False,
            tooltip="Split into two statements; this one is archived",
        ),
        Binding(
            "v",
            "versions",
            "Versions",
            tooltip="List the versions, their differences, and who changed what",
        ),
        Binding(
            "N",
            "similar",
            "Similar",
            show=False,
            tooltip="Find statements with nearly the same text",
        ),
        Binding(
            "z,u",
            "undo",
            "Undo",
            key_display="z",
            tooltip="Undo your last change, or take your last ruling back",
        ),
        Binding("y", "copy", "Copy", show=False, tooltip="Copy the text of this wording"),
        Binding("down,j", "move(1)", "Next wording", show=False, tooltip="Next wording"),
        Binding("up,k", "move(-1)", "Wording above", show=False, tooltip="Wording above"),
        Binding("f5", "refresh", "Refresh", show=False, tooltip="Read the store again"),
        Binding("escape", "leave", "Back", key_display="Esc", tooltip="Go back"),
    ]

    body = query_one("#sheet", SheetView)

    def __init__(
        self,
        instrument: str,
        ref: str,
        language: str,
        refs: tuple[str, ...],
        at: VariantId | None = None,
    ) -> None:
        super().__init__()
        self._instrument, self._ref, self._language, self._refs = instrument, ref, language, refs
        self._at = at
        self._sheet: StatementContent | None = None
        self._shown = ""
        self._acting = False

    def compose(self) -> ComposeResult:
        yield TitleBar(store_path(self.app).name, self._place())
        yield Trouble()
        yield SheetView(id="sheet")
        yield Keys()

    def on_mount(self) -> None:
        self.body.focus()
        self.look()

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.width < NARROW, "-narrow")

    def failed(self, error: WorkbenchError) -> None:
        self._acting = False
        if isinstance(error, ConflictError):
            error = ConflictError(
                f"{error}. The current text is shown below: press the key again to change it."
            )
            self.look(keep_trouble=True)
        self.query_one(Trouble).show(error)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        sheet = self._sheet
        if action == "language":
            return sheet is not None and len(sheet.languages) > 1
        if action == "step":
            return len(self._refs) > 1
        if action == "forms":
            original = sheet.original if sheet is not None else None
            return original is not None and isinstance(parse_choice(original.text), Choice)
        if action == "relation":
            return self._at is not None and self._at != ORIGINAL
        return True

    async def show_sheet(self, sheet: StatementContent, keep_trouble: bool) -> None:
        if sheet.statement.ref != self._ref:
            return
        self._acting = False
        self._sheet = sheet
        if not keep_trouble:
            self.query_one(Trouble).hide()
        variants = [wording.variant for wording in sheet.wordings]
        if self._at not in variants:
            self._at = variants[0] if variants else None
        self._show_place()
        await self._show_widgets(sheet)
        self.refresh_bindings()

    def say_done(self, done: Done, ref: str) -> None:
        say(self, done.sentence)
        if ref != self._ref:
            self._refs = tuple(
                ref if listed_ref == self._ref else listed_ref for listed_ref in self._refs
            )
            self._ref = ref
        self.look()

    def undo_or_ask(self, person: str, undoable: Undoable | None) -> None:
        """Undo the last change if it was made here, or ask before undoing one made elsewhere."""
        from workbench.pipeline.editing import named

        if undoable is None:
            say(self, f"There is nothing to undo: {person} has changed nothing here.", warns=True)
        elif self._ref in undoable.refs:
            self._undo_as(person)
        else:
            question = (
                f"Your last change was not here: {undoable.act} {named(undoable.refs)}. Undo that?"
            )
            confirm(self, question, "undo it", "cancel", lambda: self._undo_as(person))

    def explain(self) -> str:
        """Return the help that `?` shows."""
        return self.EXPLAIN

    def action_refresh(self) -> None:
        self.look()

    def ruled_place(self) -> RuledPlace | None:
        """Return the wording under the cursor. The dialog offers its statement, too."""
        names: tuple[str, ...] = (self._shown or self._ref,)
        if self._at is not None:
            names = (*names, str(self._at))
        language = self._sheet.language if self._sheet is not None else ""
        return RuledPlace((self._instrument,), names, language=language)

    def show_ruled(self) -> None:
        self.look()

    def action_step(self, by: int) -> None:
        """Go to a neighbouring statement of the list."""
        if self._ref in self._refs:
            index = self._refs.index(self._ref) + by
            if 0 <= index < len(self._refs):
                self._ref = self._refs[index]
                self.look()

    def action_move(self, by: int) -> None:
        """Go to a neighbouring wording, or scroll to the sections below the last one."""
        self.query_one(Trouble).hide()
        variants = [block.wording.variant for block in self.body.blocks]
        index = variants.index(self._at) + by if self._at in variants else 0
        if 0 <= index < len(variants):
            self._at = variants[index]
            self.body.point(self._at)
            self.refresh_bindings()
        else:
            self.body.scroll_relative(y=by, animate=False)

    def action_language(self) -> None:
        if self._sheet is not None:
            languages = self._sheet.languages
            self._language = languages[(languages.index(self._sheet.language) + 1) % len(languages)]
            self.look()

    def action_edit(self) -> None:
        if self._sheet is not None and self._at is not None:
            self._write(self._at, None)

    def action_add(self) -> None:
        if self._sheet is not None:
            self._write(None, None)

    def action_translate(self) -> None:
        """Write the wording under the cursor in a language that lacks it."""
        sheet = self._sheet
        if sheet is not None and self._at is not None:
            existing_languages = {
                wording.language
                for wording in sheet.statement.wordings
                if wording.variant == self._at
            }
            self._write(
                self._at,
                tuple(
                    other
                    for other in (*sheet.languages, *sheet.lacks)
                    if other not in existing_languages
                ),
            )

    def action_relation(self) -> None:
        """Set the next relation of: same, flipped, free."""
        from workbench.workshop.edits import with_relation

        wording = (
            self._sheet.statement.wording(self._at, self._sheet.language)
            if self._sheet and self._at
            else None
        )
        if wording is not None and wording.variant != ORIGINAL:
            next_relation = RELATIONS[(RELATIONS.index(wording.relation) + 1) % len(RELATIONS)]
            act = f"expected {next_relation.value} of {variant_name(wording.variant)}"
            self._change(
                lambda statement: with_relation(statement, wording.variant, next_relation), act
            )

    def action_delete(self) -> None:
        from workbench.workshop.edits import without

        sheet, variant = self._sheet, self._at
        if sheet is not None and variant is not None:
            self._change(
                lambda statement: without(statement, variant, sheet.language),
                f"deleted {variant_name(variant)}",
            )

    def action_forms(self) -> None:
        from workbench.tui.statements.choice_form import ChoiceForm

        if self._sheet is not None:
            form = ChoiceForm(self._instrument, (self._sheet.statement.ref,), self._sheet.language)
            # Forms under another bias are statements of their own, so this one stays visible.
            with_answer(self, form, lambda done: self.say_done(done, self._ref))

    def action_about(self) -> None:
        from workbench.tui.statements.statement_form import AboutForm

        if self._sheet is not None:
            with_answer(self, AboutForm(self._instrument, self._sheet.statement), self._come_back)

    def action_split(self) -> None:
        from workbench.tui.statements.statement_form import SplitForm

        if self._sheet is not None and self._sheet.original is not None:
            form = SplitForm(self._instrument, self._sheet.statement, self._sheet.language)
            with_answer(self, form, self._come_back)

    def action_versions(self) -> None:
        from workbench.tui.statements.history import HistoryScreen

        self.app.push_screen(HistoryScreen(self._instrument, self._ref, self._language))

    def action_similar(self) -> None:
        from workbench.tui.statements.similar import SimilarScreen

        self.app.push_screen(SimilarScreen(self._instrument, self._ref))

    def action_undo(self) -> None:
        if not self._acting:
            as_person(
                self, self._instrument, lambda person: self.undo_newest(self._instrument, person)
            )

    def undo_edit(self, person: str) -> None:
        self.find_undo(person)

    def action_copy(self) -> None:
        """Copy the text to the terminal's clipboard (OSC 52), also through SSH if allowed there."""
        wording = (
            self._sheet.statement.wording(self._at, self._sheet.language)
            if self._sheet and self._at
            else None
        )
        if wording is not None:
            self.app.copy_to_clipboard(wording.text)
            say(self, f"Copied {variant_name(wording.variant)} of {self._ref}.")

    def action_leave(self) -> None:
        self.dismiss(self._ref)

    def _place(self) -> str:
        return f"statements › {self._ref}"

    def _show_place(self) -> None:
        title_bar = self.query_one(TitleBar)
        title_bar.place = self._place()
        title_bar.note = (
            f"statement {self._refs.index(self._ref) + 1} of {len(self._refs)}"
            if self._ref in self._refs
            else ""
        )

    async def _show_widgets(self, sheet: StatementContent) -> None:
        """Draw the sheet again. A statement that is still visible keeps its scroll position."""
        scroll_y = self.body.scroll_y if self._shown == sheet.statement.ref else None
        self._shown = sheet.statement.ref
        async with self.batch():
            await self.body.remove_children()
            await self.body.mount_all(sheet_widgets(sheet, self._at))
        if scroll_y is not None:
            self.body.scroll_to(y=scroll_y, animate=False)
        elif self._at is not None and sheet.wordings and sheet.wordings[0].variant != self._at:
            self.call_after_refresh(self.body.point, self._at)
        else:
            self.body.scroll_home(animate=False)

    def _write(self, variant: VariantId | None, into: tuple[str, ...] | None) -> None:
        from workbench.tui.statements.wording_form import WordingForm, WordingTask

        if self._sheet is not None:
            task = WordingTask(self._sheet.statement, self._sheet.language, variant, into)
            with_answer(self, WordingForm(self._instrument, task), self._come_back)

    def _change(self, change: Callable[[Statement], Statement], act: str) -> None:
        """Change the visible statement under the user's name, one change at a time."""
        if self._sheet is None or self._acting:
            return
        statement = self._sheet.statement

        def go(person: str) -> None:
            self._acting = True
            self.carry_out(
                lambda store: _changed(store, self._instrument, statement, change, person, act)
            )

        as_person(self, self._instrument, go)

    def _come_back(self, done: Done) -> None:
        """Show the change of a form. A renamed or split statement goes on under its new ref."""
        is_renamed = bool(done.refs) and self._ref not in done.refs
        self.say_done(done, done.refs[0] if is_renamed else self._ref)

    def _undo_as(self, person: str) -> None:
        from workbench.pipeline.editing import undo

        self._acting = True
        self.carry_out(lambda store: undo(store, self._instrument, person))

    @worker("look")
    async def look(self, keep_trouble: bool = False) -> None:
        sheet = await self.with_store(
            lambda store: read_sheet(store, self._instrument, self._ref, self._language)
        )
        self.call_later(self.show_sheet, sheet, keep_trouble)

    @worker("act", newest=False)
    async def carry_out(self, act: Callable[[Store], Done]) -> None:
        def write(store: Store) -> tuple[Done, str]:
            done = act(store)
            return done, _still(store, self._instrument, self._ref, done.refs)

        self.say_done(*await self.with_store(write))

    @worker("undo")
    async def find_undo(self, person: str) -> None:
        def load(store: Store) -> Undoable | None:
            from workbench.pipeline.editing import undoable

            return undoable(store, self._instrument, person)

        self.undo_or_ask(person, await self.with_store(load))


def _changed(
    store: Store,
    instrument: str,
    seen: Statement,
    change: Callable[[Statement], Statement],
    person: str,
    act: str,
) -> Done:
    from workbench.pipeline.editing import change_all

    return change_all(store, instrument, {seen.ref: seen}, change, person=person, act=act)


def _still(store: Store, instrument: str, ref: str, others: tuple[str, ...]) -> str:
    """Return the ref of the statement to go on with: the same one, or one that replaced it."""
    for candidate in (ref, *others):
        try:
            store.statements.get(instrument, candidate)
        except UnknownName:
            continue
        return candidate
    return ref
