"""The versions of a statement, with differences, answers, rulings and changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.getters import query_one
from textual.widget import Widget
from textual.widgets import Static

from workbench import registry
from workbench.domain.names import plural
from workbench.domain.statements import ORIGINAL
from workbench.errors import WorkbenchError
from workbench.figures.visible import visible
from workbench.help.sections import section
from workbench.tui.format import literal
from workbench.tui.kit.base import store_path, worker
from workbench.tui.results.answers import (
    PAGE,
    AnswersPage,
    AnswersScreen,
    AnswerTexts,
    WholeAnswerScreen,
    read_matching,
)
from workbench.tui.rulings.dialog import ruling_line
from workbench.tui.rulings.ruling import RulingKeys, ruling_lines
from workbench.tui.rulings.standing import RuledPlace
from workbench.tui.statements.statement_format import difference, marked, variant_name
from workbench.tui.widgets.frame import Keys, TitleBar, Trouble
from workbench.tui.widgets.record_table import FluidTable, Record, RecordColumn, RecordTable

if TYPE_CHECKING:
    from stores.core.store import Store
    from stores.instruments.statements import Edit
    from stores.instruments.versions import Version
    from stores.runs.answers import VersionAnswer
    from workbench.domain.rulings import Ruling
    from workbench.domain.statements import Statement

EXPLAIN_ANSWERS = section("screens-statements", "Answers to a version")


class VersionAnswerTable(FluidTable):
    """The table of the answers to one version."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "enter",
            "select_cursor",
            "Whole answer",
            key_display="Enter",
            tooltip="Show the whole answer",
        ),
    ]


class VersionAnswersScreen(AnswersScreen["VersionAnswer"]):
    """The screen of the answers to one version."""

    EXPLAIN = EXPLAIN_ANSWERS
    SEARCHED = True

    def __init__(self, instrument: str, ref: str, version: int) -> None:
        super().__init__()
        self._instrument, self._ref, self._version = instrument, ref, version

    def on_mount(self) -> None:
        self.title_bar.place = self.place

    @property
    def place(self) -> str:
        """The position of the screen, for its title."""
        return f"statements › {self._ref} › version {self._version} › answers"

    def make_table(self) -> FluidTable:
        return VersionAnswerTable(_columns, name="answers")

    def fetch(self, store: Store, kind: str, offset: int) -> AnswersPage[VersionAnswer]:
        from stores.runs.answers import answers_to

        def read(start: int) -> tuple[VersionAnswer, ...]:
            version_key = (self._instrument, self._ref, self._version)
            return answers_to(store.connection, *version_key, offset=start, limit=PAGE)

        return read_matching(kind, offset, read, lambda _: True, self.words)

    def head(self) -> Content:
        count_text = (f"{self._page.counted}", "$text-muted")
        return Content.assemble(
            (visible(self._ref), "bold"), f" · version {self._version} · ", count_text
        )

    def empty_text(self, kind: str) -> str:  # noqa: ARG002
        return "No model has answered this version."

    def record(self, number: int, row: VersionAnswer, width: int) -> Record:  # noqa: ARG002
        cells = (
            Text(f"{row.count:>4}×"),
            literal(row.variant, 16),
            literal(f"{row.template}{' swapped' if row.inverted else ''}", 22),
            literal(row.model, 20),
            literal(row.text, 400),
        )
        return str(number), cells

    def answer_texts(self, row: VersionAnswer) -> AnswerTexts:
        wording_line = Content.assemble(
            (f"{row.variant} · {row.language}: ", "bold"), (visible(row.wording), "$text-muted")
        )
        rulings = ruling_lines(self.standing.on_answer(row.probe, row.text))
        return AnswerTexts(
            Content("\n").join([*rulings, wording_line]),
            Content(visible(row.text, lines=True)),
            _provenance(row),
        )

    def ruled_place(self) -> RuledPlace | None:
        row = self.current
        if row is None:
            return None
        return RuledPlace(probe=row.probe, text=None if row.truncated else row.text)

    def whole(self, row: VersionAnswer) -> WholeAnswerScreen:
        title = f"{self._ref} · version {self._version} · {row.model}"
        return WholeAnswerScreen(title, row.text, self.answer_texts(row).reading, _provenance(row))


class FoundAnswersScreen(VersionAnswersScreen):
    """The screen of all answers in the store that contain some words."""

    EXPLAIN = section("screens-results", "Answers with certain words")
    PLACE = "answers"

    def __init__(self, words: str) -> None:
        super().__init__("", "", 0)
        self.words = words

    @property
    def place(self) -> str:
        return "answers with certain words"

    def make_table(self) -> FluidTable:
        return VersionAnswerTable(_found_columns, name="answers")

    def fetch(self, store: Store, kind: str, offset: int) -> AnswersPage[VersionAnswer]:
        from stores.runs.answers import answers_with

        def read(start: int) -> tuple[VersionAnswer, ...]:
            return answers_with(store.connection, self.words, offset=start, limit=PAGE)

        return read_matching(kind, offset, read, lambda _: True, self.words)

    def head(self) -> Content:
        count_text = (self._page.counted, "$text-muted")
        return Content.assemble(
            "All answers that contain ", (visible(self.words), "bold underline"), " · ", count_text
        )

    def record(self, number: int, row: VersionAnswer, width: int) -> Record:
        key, (count, *cells) = super().record(number, row, width)
        return key, (count, literal(row.ref, 14), *cells)

    def whole(self, row: VersionAnswer) -> WholeAnswerScreen:
        title = f"{row.instrument} · {row.ref} · {row.model}"
        return WholeAnswerScreen(title, row.text, self.answer_texts(row).reading, _provenance(row))


def _found_columns(width: int) -> tuple[RecordColumn, ...]:
    count, *other_columns = _columns(width)
    return count, RecordColumn("ref", "statement", 14), *other_columns


def _columns(width: int) -> tuple[RecordColumn, ...]:
    return (
        RecordColumn("count", "  n", 6),
        RecordColumn("variant", "wording", 17),
        RecordColumn("template", "template", 23 if width >= 100 else 12),
        RecordColumn("model", "model", 21, least=100),
        RecordColumn("text", "answer", None),
    )


def _provenance(row: VersionAnswer) -> str:
    parts = (
        row.model,
        row.version,
        registry.audit_title(row.audit),
        row.template,
        "" if row.temperature is None else f"T\u00a0{row.temperature:g}",
        "" if row.seed is None else f"seed {row.seed}",
        row.at[:16].replace("T", " "),
        row.code_version,
        f"job {row.job}",
    )
    return visible(" · ".join(filter(None, parts)))


EXPLAIN = section("screens-statements", "Versions of a statement")

EDITS_SHOWN = 100


@dataclass(frozen=True, slots=True)
class Past:
    """The versions, edits and rulings of a statement."""

    versions: tuple[Version, ...]
    "versions, the oldest first"
    edits: tuple[Edit, ...]
    "edits, the newest first"
    rulings: Mapping[int, Sequence[str]] = field(default_factory=dict)
    "auditors' rulings on a version and on its wordings, by version"


class HistoryScreen(RulingKeys):
    """The screen of a statement's versions, the newest first."""

    CSS_PATH = "history.tcss"
    EXPLAIN = EXPLAIN
    READS_ONLY = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "escape,v",
            "app.pop_screen",
            "Back",
            key_display="Esc",
            tooltip="Go back to the statement",
        ),
        Binding(
            "pagedown,space",
            "scroll(1)",
            "Scroll down",
            key_display="Space",
            tooltip="Show the text below",
        ),
        Binding("pageup", "scroll(-1)", "Scroll up", show=False, tooltip="Show the text above"),
    ]

    table = query_one("#versions", RecordTable)
    details = query_one("#details", VerticalScroll)

    def __init__(self, instrument: str, ref: str, language: str) -> None:
        super().__init__()
        self._instrument, self._ref, self._language = instrument, ref, language
        self._past: Past | None = None

    def compose(self) -> ComposeResult:
        yield TitleBar(store_path(self.app).name, f"statements › {self._ref} › versions")
        yield Trouble()
        columns = [
            RecordColumn("version", "v", 3),
            RecordColumn("state", "", 8),
            RecordColumn("at", "since", 16),
            RecordColumn("answers", "answers", 8),
            RecordColumn("labels", "labels", 6),
            RecordColumn("survey", "survey", 6),
            RecordColumn("text", "original", None),
        ]
        yield VersionTable(columns, name="versions")
        yield VerticalScroll(id="details", can_focus=False)
        yield Keys()

    def on_mount(self) -> None:
        self.table.focus()
        self.look()

    def failed(self, error: WorkbenchError) -> None:
        self.query_one(Trouble).show(error)

    async def show_past(self, past: Past) -> None:
        self._past = past
        self.query_one(TitleBar).note = plural(len(past.versions), "version")
        self.table.show([_record(version, self._language) for version in reversed(past.versions)])
        await self.show_details()

    @on(RecordTable.RowHighlighted)
    async def show_details(self) -> None:
        """Show the differences of the version under the cursor from the next."""
        if self._past is None or self.table.current is None:
            return
        async with self.batch():
            await self.details.remove_children()
            await self.details.mount_all(past_widgets(self._past, int(self.table.current)))
        self.details.scroll_home(animate=False)

    @on(RecordTable.RowSelected)
    def open_answers(self) -> None:

        if (version := self.table.current) is not None:
            self.app.push_screen(VersionAnswersScreen(self._instrument, self._ref, int(version)))

    def ruled_place(self) -> RuledPlace | None:
        """Return the version under the cursor, and the original that its row shows."""
        if (version := self.table.current) is None:
            return None
        names = (self._ref, str(ORIGINAL))
        return RuledPlace((self._instrument,), names, version=int(version), language=self._language)

    def show_ruled(self) -> None:
        self.look()

    def explain(self) -> str:
        """Return the help that `?` shows."""
        return self.EXPLAIN

    def action_scroll(self, by: int) -> None:
        self.details.scroll_relative(y=by * max(1, self.details.size.height - 1), animate=False)

    @worker("look")
    async def look(self) -> None:
        past = await self.with_store(lambda store: read_past(store, self._instrument, self._ref))
        self.call_later(self.show_past, past)


class VersionTable(RecordTable, inherit_bindings=False):
    """The list of versions. Space scrolls the details below it."""

    DEFAULT_CSS = """
    VersionTable {
        height: auto;
        max-height: 40%;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "enter",
            "select_cursor",
            "Answers",
            key_display="Enter",
            tooltip="Show what models answered to this version",
        ),
        Binding(
            "up,k", "cursor_up", "Version above", show=False, tooltip="Go to the version above"
        ),
        Binding(
            "down,j", "cursor_down", "Version below", show=False, tooltip="Go to the version below"
        ),
        Binding("home", "scroll_top", "First row", show=False, tooltip="Go to the first row"),
        Binding("end", "scroll_bottom", "Last row", show=False, tooltip="Go to the last row"),
    ]


def read_past(store: Store, instrument: str, ref: str) -> Past:
    """Read the versions and edits of a statement, including those under earlier refs."""
    versions = store.statements.history(instrument, ref)
    edits = list(store.statements.edits(instrument, ref, EDITS_SHOWN))
    known_refs = {ref}
    while (
        edits
        and (old_statement := edits[-1].before) is not None
        and old_statement.ref not in known_refs
    ):
        known_refs.add(old_statement.ref)
        edits += store.statements.edits(instrument, old_statement.ref, EDITS_SHOWN)
    standing = store.rulings.standing()
    numbers = [version.statement.version for version in versions] if standing else []
    return Past(
        versions,
        tuple(edits),
        {
            version_number: _rulings(store, instrument, ref, version_number, standing)
            for version_number in numbers
        },
    )


def _rulings(
    store: Store,
    instrument: str,
    ref: str,
    version: int,
    standing: Mapping[bytes, Sequence[Ruling]],
) -> Sequence[str]:
    from workbench.evidence.ruling_subjects import (
        every_model,
        rulings_in_force_on,
        statement_version,
        wording_subjects,
    )

    statement = statement_version(store, instrument, ref, version)
    models = every_model(store)
    return [
        f"{thing.name}  {ruling_line(ruling)}"
        for thing in (statement, *wording_subjects(store, statement))
        for ruling in rulings_in_force_on(standing, thing.subject, models)
    ]


def past_widgets(past: Past, number: int) -> Iterator[Widget]:
    """Yield the widgets below the table: rulings, differences from the next version, and edits."""
    versions = {version.statement.version: version.statement for version in past.versions}
    if rulings := past.rulings.get(number):
        yield _line("Rulings", "heading")
        for line in rulings:
            yield _line(line)
    later_numbers = [later_number for later_number in versions if later_number > number]
    statement = versions[number]
    if later_numbers:
        yield from _differences(statement, versions[min(later_numbers)])
    else:
        yield _line("The newest version", "heading")
        for wording in statement.wordings:
            name = f"{variant_name(wording.variant)} · {wording.language}"
            yield _line(
                Content.assemble((f"{visible(name)}  ", "bold"), visible(wording.text, lines=True))
            )
    if past.edits:
        yield _line("Changes", "heading")
    for edit in past.edits:
        undone_note = " (undone)" if edit.undone else ""
        yield _line(Content(visible(f"{_moment(edit.at)}  {edit.person}  {edit.act}{undone_note}")))


def _differences(before: Statement, after: Statement) -> Iterator[Widget]:
    yield _line(f"Version {before.version} (−) and version {after.version} (+)", "heading")
    wording_keys = dict.fromkeys(
        (wording.variant, wording.language) for wording in (*before.wordings, *after.wordings)
    )
    for variant, language in wording_keys:
        old_wording, new_wording = (
            before.wording(variant, language),
            after.wording(variant, language),
        )
        if (
            old_wording is not None
            and new_wording is not None
            and old_wording.text == new_wording.text
        ):
            continue
        name = Content.styled(visible(f"{variant_name(variant)} · {language}"), "bold")
        left, right = difference(
            old_wording.text if old_wording else "", new_wording.text if new_wording else ""
        )
        yield _line(name)
        if old_wording is not None:
            yield _line(marked(left, "−"))
        yield _line(
            marked(right, "+") if new_wording is not None else Content.styled("deleted", "dim")
        )


def _line(text: str | Content, kind: str = "facts") -> Static:
    return Static(
        text if isinstance(text, Content) else Content(visible(text)), markup=False, classes=kind
    )


def _record(version: Version, language: str) -> Record:
    statement = version.statement
    texts = [wording.text for wording in statement.wordings if wording.language == language] or [
        wording.text for wording in statement.wordings
    ]
    state = "current" if version.current else "archived" if version.archived else "earlier"
    numbers = (version.answers, version.labels + version.issue_labels, version.survey)
    return (
        str(statement.version),
        (
            Text(str(statement.version), justify="right"),
            Text(state, style="bold" if version.current else ""),
            Text(_moment(version.created_at)),
            *(Text(f"{count:,}" if count else "·", justify="right") for count in numbers),
            literal(texts[0] if texts else "", 200),
        ),
    )


def _moment(at: str) -> str:
    """Return a stored time to the minute: `2026-11-21 09:30`."""
    return at[:16].replace("T", " ")
