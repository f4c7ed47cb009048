"""The codebook of a labelling task: its versions, their differences, and a form for a new one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any, ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.getters import query_one
from textual.widgets import Input, Static, TextArea

from workbench.codebooks import FREE_KEYS, codebook_of_text, codebook_text
from workbench.domain.annotations import Codebook, LabelOption, change_fault
from workbench.domain.names import plural
from workbench.errors import InputError
from workbench.figures.visible import visible
from workbench.help.sections import section
from workbench.options.shared import CODEBOOK
from workbench.tui.annotation.annotate_format import guideline
from workbench.tui.format import literal
from workbench.tui.kit.base import StoreScreen, say, worker
from workbench.tui.kit.dialogs import with_answer
from workbench.tui.kit.edit_form import EditForm, row
from workbench.tui.kit.person_dialog import as_person
from workbench.tui.statements.statement_format import difference, marked
from workbench.tui.widgets.record_table import Record, RecordColumn, RecordTable

if TYPE_CHECKING:
    from stores.annotation.annotation_items import CodebookVersion
    from stores.core.store import Store
    from workbench.pipeline.editing import Done

EXPLAIN = section("screens-annotation", "The codebook")


class CodebookScreen(StoreScreen):
    """The screen of the versions of a codebook, the newest first.

    The guideline of the current version stands below, or its differences from the next version.
    """

    CSS_PATH = "codebook.tcss"
    EXPLAIN = EXPLAIN
    READS_ONLY = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("e", "edit", "Edit", tooltip="Change the version that counts; labels keep theirs"),
        Binding("r", "restore", "Restore", tooltip="Let the version under the cursor count again"),
        Binding(
            "pagedown,space",
            "scroll(1)",
            "Scroll down",
            key_display="Space",
            tooltip="Show the text below",
        ),
        Binding("pageup", "scroll(-1)", "Scroll up", show=False, tooltip="Show the text above"),
        Binding(
            "escape,q", "app.pop_screen", "Back", key_display="Esc", tooltip="Go back to the queues"
        ),
    ]

    table = query_one("#versions", RecordTable)
    details = query_one("#details", VerticalScroll)

    def __init__(self, name: str = CODEBOOK.default) -> None:
        super().__init__()
        self._which = name
        self._book: Codebook | None = None
        self._versions: tuple[CodebookVersion, ...] = ()
        self.PLACE = f"annotate › codebook › {visible(name)}"

    def compose_body(self) -> ComposeResult:
        columns = [
            RecordColumn("version", "v", 3),
            RecordColumn("state", "", 7),
            RecordColumn("at", "since", 16),
            RecordColumn("labels", "labels", 6),
            RecordColumn("person", "by", 12),
            RecordColumn("note", "why", None),
        ]
        yield RecordTable(columns, name="versions")
        with VerticalScroll(id="details", can_focus=False):
            yield Static("Reading the codebook …", id="said", markup=False)

    def on_mount(self) -> None:
        self.table.focus()
        self.look()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        version = self.current
        return action != "restore" or (version is not None and not version.current)

    @property
    def current(self) -> CodebookVersion | None:
        """The version under the cursor."""
        return (
            self._versions[int(row_key) - 1]
            if (row_key := self.table.current) is not None
            else None
        )

    @on(RecordTable.RowHighlighted)
    def show_details(self) -> None:
        version = self.current
        if self._book is None:
            return
        next_version = (
            self._versions[version.number]
            if version is not None and version.number < len(self._versions)
            else None
        )
        content = guideline(version.codebook if version is not None else self._book)
        if version is not None and next_version is not None:
            content = changes(version, next_version)
        self.query_one("#said", Static).update(content)
        self.details.scroll_home(animate=False)
        self.refresh_bindings()

    @on(RecordTable.RowSelected)
    def action_edit(self) -> None:
        if self._book is not None:
            with_answer(self, CodebookForm(self._book), self._changed)

    def action_restore(self) -> None:
        """Make an earlier version the current one again."""
        if (version := self.current) is not None and not version.current:
            as_person(self, "", lambda person: self.restore(version.number, person))

    def action_refresh(self) -> None:
        self.look()

    def action_scroll(self, by: int) -> None:
        self.details.scroll_relative(y=by * max(1, self.details.size.height - 1), animate=False)

    def _changed(self, done: Done) -> None:
        say(self, done.sentence)
        self.look()

    @worker("restore", newest=False)
    async def restore(self, number: int, person: str) -> None:
        def act(store: Store) -> None:
            from workbench.evidence.readings import codebook_of

            current_book = codebook_of(store, None, self._which)
            store.codebooks.change(
                current_book, store.codebooks.versions(current_book)[number - 1].codebook, person
            )

        await self.with_store(act)
        say(self, f"Version {number} counts again.")
        self.look()

    @worker("look")
    async def look(self) -> None:
        def load(store: Store) -> tuple[Codebook, tuple[CodebookVersion, ...]]:
            from workbench.evidence.readings import codebook_of

            book = codebook_of(store, None, self._which)
            return book, store.codebooks.versions(book)

        book, versions = await self.with_store(load)
        self._book, self._versions = book, versions
        self.title_bar.note = plural(len(versions), "version") if versions else "as it ships"
        self.table.display = bool(versions)
        self.table.show([_record(version) for version in reversed(versions)])
        self.show_details()


@dataclass(frozen=True, slots=True)
class CodebookInput:
    """The input of the form."""

    book: Codebook
    note: str


class CodebookForm(EditForm):
    """A form for the question, guideline, keys and meanings of labels, and a further label."""

    EXPLAIN = EXPLAIN
    FIRST = "#guideline"

    def __init__(self, book: Codebook) -> None:
        super().__init__("")
        self._book = book
        self.HEADING = f"Codebook: {book.title}"

    def compose_fields(self) -> ComposeResult:
        yield TextArea(
            "\n\n".join(paragraphs(self._book.guideline)),
            id="guideline",
            soft_wrap=True,
            tab_behavior="focus",
            compact=True,
            highlight_cursor_line=False,
        )
        yield row("question", Input(self._book.question, id="question", compact=True))
        for index, option in enumerate(self._book.options):
            name = literal(option.label, 16).plain
            yield row(
                f"{name}: key", Input(option.key, id=f"key-{index}", compact=True, max_length=1)
            )
            yield row("  meaning", Input(option.meaning, id=f"meaning-{index}", compact=True))
        if not change_fault(self._book, with_label(self._book)):
            yield row("new label", Input(id="label", compact=True, placeholder="empty: none"))
            yield row("  key", Input(id="key", compact=True, max_length=1))
            yield row("  meaning", Input(id="meaning", compact=True))
        yield row(
            "why",
            Input(
                id="note", compact=True, placeholder="what the change is for; kept with the version"
            ),
        )

    def begin_in(self, box: TextArea) -> None:
        """Leave the cursor at the start of the guideline."""

    def values(self) -> CodebookInput:
        options = [
            replace(
                option,
                key=self.typed(f"key-{index}").strip(),
                meaning=self.typed(f"meaning-{index}").strip(),
            )
            for index, option in enumerate(self._book.options)
        ]
        if self.query("#label") and (label := self.typed("label").strip()):
            options.append(
                LabelOption(label, self.typed("key").strip(), self.typed("meaning").strip())
            )
        guideline_text, old_guideline = self.typed("guideline").strip(), self._book.guideline
        new_guideline = (
            old_guideline
            if paragraphs(guideline_text) == paragraphs(old_guideline)
            else guideline_text
        )
        book = replace(
            self._book,
            question=self.typed("question").strip(),
            guideline=new_guideline,
            options=tuple(options),
        )
        return CodebookInput(book, self.typed("note"))

    def input_fault(self) -> str:
        book = self.values().book
        try:
            codebook_of_text(codebook_text(book))
        except InputError as error:
            return "; ".join(
                f"{finding.column}: found {finding.found}, expected {finding.expected}"
                for finding in error.findings
            )
        return change_fault(self._book, book) if self.dirty else ""

    def write(self, store: Store, person: str, values: Any) -> Done:
        from workbench.pipeline.editing import Done

        new_version = store.codebooks.change(self._book, values.book, person, values.note)
        return Done(f"Version {new_version.number} counts from now on; labels keep their version.")


def with_label(book: Codebook) -> Codebook:
    """Return a codebook with a further label, of any name."""
    return replace(book, options=(*book.options, LabelOption("\0", FREE_KEYS[0], "")))


def changes(before: CodebookVersion, after: CodebookVersion) -> Content:
    """Return the differences of a version from the next, word by word, without equal parts."""
    lines = [
        Content.styled(f"Version {before.number} (−) and version {after.number} (+)", "$text-muted")
    ]
    old, new = _parts(before.codebook), _parts(after.codebook)
    for name in new:
        old_paragraphs, new_paragraphs = old.get(name, []), new[name]
        opcodes = SequenceMatcher(
            None, old_paragraphs, new_paragraphs, autojunk=False
        ).get_opcodes()
        changed_paragraphs = [
            (old_paragraphs[old_start:old_stop], new_paragraphs[new_start:new_stop])
            for operation, old_start, old_stop, new_start, new_stop in opcodes
            if operation != "equal"
        ]
        lines += [Content(""), Content.styled(visible(name), "bold")] if changed_paragraphs else []
        for removed, added in changed_paragraphs:
            left, right = difference("\n\n".join(removed), "\n\n".join(added))
            lines += [marked(left, "−")] if removed else []
            lines += [Content("")] if removed and added else []
            lines += [marked(right, "+")] if added else []
    return Content("\n").join(lines)


def _parts(book: Codebook) -> dict[str, list[str]]:
    """Return the texts to compare in paragraphs, by name."""
    options = {
        f"label {option.label}": [f"{option.key}  {option.meaning}"] for option in book.options
    }
    return {"question": [book.question]} | options | {"guideline": paragraphs(book.guideline)}


def paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a guideline, each in one line."""
    return [" ".join(paragraph.split()) for paragraph in text.strip().split("\n\n")]


def _record(version: CodebookVersion) -> Record:
    return (
        str(version.number),
        (
            Text(str(version.number), justify="right"),
            Text(
                "counts" if version.current else "earlier", style="bold" if version.current else ""
            ),
            Text(version.at[:16].replace("T", " ")),
            Text(f"{version.labels:,}" if version.labels else "·", justify="right"),
            literal(version.person, 12),
            literal(version.note, 200),
        ),
    )
