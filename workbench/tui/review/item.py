"""The screen of one item of an auditor's queue: the model's answers, and the ruling on them.

In a blind review, and for every answer of the control sample, other auditors' rulings are hidden
until one's own ruling. A blind review hides the model, too.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.binding import Binding, BindingType
from textual.content import Content

from workbench.domain.reviews import BY_AUDITORS, REASONS, RankedStatement
from workbench.figures.visible import visible
from workbench.help.sections import section
from workbench.sessions.review import (
    ReviewSession,
    RuledItem,
    newest_ruling_on,
    next_item,
    ruling_auditors,
)
from workbench.tui.format import literal
from workbench.tui.kit.base import worker
from workbench.tui.kit.dialogs import TextScreen
from workbench.tui.results.answers import AnswersPage, AnswersScreen, AnswerTexts, WholeAnswerScreen
from workbench.tui.results.responses import (
    PREVIEW_CHARACTERS,
    STANCE_MARKS,
    answer,
    answer_cell,
    whole_answer,
)
from workbench.tui.results.wordings import prompt_text
from workbench.tui.review.blind_key import BlindKey
from workbench.tui.rulings.dialog import WITHHELD, ruling_line
from workbench.tui.rulings.ruling import LIST, RuledText
from workbench.tui.rulings.standing import RuledPlace
from workbench.tui.widgets.record_table import FluidTable, Record, RecordColumn

if TYPE_CHECKING:
    from stores.core.store import Store
    from stores.runs.run_rows import Run
    from workbench.domain.rulings import Ruling, Subject
    from workbench.errors import WorkbenchError
    from workbench.evidence.ruling_subjects import ReaderReading, RulingSubject
    from workbench.pipeline.review import ReviewProgress, Waiting
    from workbench.pipeline.review_item import ItemAnswer, ShownItem

WIDE = 120
"terminal columns from which an answer has its template beside it"
UNREAD = {"unreadable": "·", "not read": "·", "hidden": "·"}
"marks of values that are no reading"
MORE = " … w shows all"
BECAUSE = 18
"columns of the reasons of a row"
MEANT, PLAIN = "‼", " "
TITLES = frozenset(one.title for one in REASONS.values())
"texts of reasons, which the heading has; a row has only the finding on its own prompt"


def item_columns(width: int) -> tuple[RecordColumn, ...]:
    """Return the columns for a width."""
    template_columns = (RecordColumn("template", "template", 26),) if width >= WIDE else ()
    return (
        RecordColumn("count", " times", 8),
        RecordColumn("reads", "reading", 13),
        RecordColumn("variant", "wording", 15),
        *template_columns,
        RecordColumn("because", "why", BECAUSE if width < WIDE else 2 * BECAUSE),
        RecordColumn("text", "answer", None),
    )


def item_record(number: int, row: ItemAnswer, width: int, ruled: Ruling | None = None) -> Record:
    """Return a row. Its key is its index among the rows that were read.

    `ruled`: the newest ruling on the answer
    """
    mark = MEANT if row.meant else PLAIN
    template_cells = (literal(f"{row.template} {row.order}"),) if width >= WIDE else ()
    return str(number), (
        Text(
            f"{mark}{row.count:>5}×" if row.key is not None else "",
            style="bold" if row.meant else "",
        ),
        _reading(row),
        literal(row.variant),
        *template_cells,
        _why(row, ruled),
        answer_cell(row, decided=True),
    )


def _why(row: ItemAnswer, ruled: Ruling | None) -> Text:
    reasons_text = literal(", ".join(reason for reason in row.because if reason not in TITLES))
    if ruled is None:
        return reasons_text
    ruling_text = f"{ruled.verdict} ({ruled.label})" if ruled.label else str(ruled.verdict)
    return (
        literal(ruling_text, style="bold")
        .append_text(Text(", " if reasons_text else ""))
        .append_text(reasons_text)
    )


def _reading(row: ItemAnswer) -> Text:
    if row.key is None:
        return Text("")
    return Text(_read_as(row), style="yellow" if row.reads in UNREAD else "")


def _read_as(row: ItemAnswer) -> str:
    """Return a reading with its mark: `+ agree`, `· unreadable`, `= neutral`, or "" without one."""
    return f"{_mark(row.reads)} {visible(row.reads)}" if row.reads else ""


def _mark(reads: str) -> str:
    return UNREAD.get(reads) or STANCE_MARKS.get(reads, "=")


def item_heading(
    progress: ReviewProgress, item: Waiting, told: str, room: tuple[int, int], *, blind: bool
) -> Content:
    """Return the heading above the answers: the item and its state, the last action, the reasons.

    `room`: columns, and lines for the reasons. If they need more, `w` shows them.
    """
    from workbench.pipeline.review import item_name
    from workbench.pipeline.review_tables import decision_words

    items = progress.items
    position = next(
        (
            number
            for number, candidate in enumerate(items, start=1)
            if item_name(candidate) == item_name(item)
        ),
        0,
    )
    position_text = f"{position:,} of {len(items):,}" if position else "no longer in the queue"
    parts = Content.assemble(
        (visible(item.ref), "bold"),
        ("  ", ""),
        (
            f"{position_text} · {visible(decision_words(progress, item, blind=blind))}",
            "$text-muted",
        ),
    )
    action_lines = [Content.styled(visible(told), "$text-accent")] if told else []
    columns, lines = room
    return Content("\n").join(
        [
            parts,
            *action_lines,
            Content.styled(truncated(visible(_here(item, blind)), columns, lines), "$text-muted"),
        ]
    )


def _here(item: Waiting, blind: bool) -> str:
    """Return why an item is in the queue.

    Reasons appear by name, as `w` and the rows have the findings. An answer of a sample has the
    full reason.
    """
    from workbench.pipeline.review_tables import reason_in_queue

    return (
        f"{item.brief(blind=blind)} · w says what was found"
        if isinstance(item, RankedStatement)
        else reason_in_queue(item, blind=blind)
    )


def truncated(text: str, columns: int, lines: int) -> str:
    """Return a text truncated to a number of lines, with the key that shows the rest."""
    wrapped = textwrap.wrap(text, max(columns, len(MORE) + 1)) or [""]
    if len(wrapped) <= lines:
        return text
    last = wrapped[lines - 1][: columns - len(MORE)].rstrip()
    return "\n".join([*wrapped[: lines - 1], last + MORE])


def reasons(progress: ReviewProgress, item: Waiting, *, blind: bool) -> Content:
    """Return why an item is in the queue.

    Each reason has its weight, its finding and its meaning. The sum of the weights comes last.
    """
    from workbench.pipeline.review_tables import drawn_words, reason_in_queue, scored_words

    if not isinstance(item, RankedStatement):
        paragraphs = reason_in_queue(item, blind=blind), *drawn_words(progress, item)
        return Content("\n\n").join(
            [Content(visible(paragraph, lines=True)) for paragraph in paragraphs]
        )
    parts = []
    for signal, part in zip(item.signals, item.parts(blind=blind), strict=True):
        meaning = (
            "" if blind and signal.reason in BY_AUDITORS else f"\n{REASONS[signal.reason].meaning}"
        )
        parts.append(Content.assemble(visible(part), (meaning, "$text-muted")))
    parts.append(
        Content.assemble((f"= {item.score}", "bold"), (f"\n{scored_words()}", "$text-muted"))
    )
    return Content("\n\n").join(parts)


def reading_lines(
    row: ItemAnswer, wording: str, reader: str, ruled: Sequence[Ruling], withheld: bool
) -> Content:
    """Return the wording of an answer, its readings with their readers, and the rulings on it."""
    location = " · ".join(filter(None, (row.variant, f"{row.template} {row.order}", row.factors)))
    lines = [
        Content.assemble(
            (visible(wording, lines=True) or "(wording not known)", "bold"),
            (f"  {visible(location)}", "$text-muted"),
        )
    ]
    if row.readers:
        lines += [
            _read_by(row, reading_by, own=reading_by.who == reader) for reading_by in row.readers
        ]
    elif row.reads:
        reader_text = f"  ({visible(reader)})" if reader else ""
        lines.append(
            Content.assemble(
                (_read_as(row), "bold"),
                f": {visible(row.reason)}" if row.reason else "",
                (f"{reader_text}  {row.count:,}×", "$text-muted"),
            )
        )
    lines += [
        Content.styled(visible(f"ruled by {ruling_line(ruling)}"), "$text-accent")
        for ruling in ruled
    ]
    if withheld:
        lines.append(Content.styled(WITHHELD, "$text-muted"))
    return Content("\n").join(lines)


def _read_by(row: ItemAnswer, one: ReaderReading, *, own: bool) -> Content:
    """Return a reader's reading of an answer and its reason. `own`: it is the reader of the run."""
    from workbench.pipeline.review_item import deciding

    deciding_words = visible(deciding(row.text, one))
    basis = f"“{deciding_words}”" if deciding_words else visible(one.reason)
    return Content.assemble(
        (f"{_mark(one.reads)} {visible(one.reads):<10}", "bold"),
        f"  {visible(one.who)}",
        (" counts here" if own else "", "$text-muted"),
        f": {basis}" if basis else "",
    )


def provenance(row: ItemAnswer, run: Run, *, blind: bool) -> str:
    """Return the origin of an answer: its model unless hidden, its name for `workbench rule`."""
    parts = ["model hidden"] if blind else [run.named, run.version, str(run.sampling)]
    return " · ".join(visible(part) for part in (*parts, row.subject))


EXPLAIN = section("screens-results", "An item of the review queue")
CLOSES = "the item stays open: C closes it, N goes to the next, z undoes"
STAYS_OPEN = (
    "the item stays open: an auditor wants another look at something else in it; w says at what"
)
GO_ON = "N goes to the next pending item, z undoes the ruling"
LOW, HIGH = 2, 8
"lines of reasons above the answers, on a low screen and on a high one"
IN_SHORT = 220
"characters of an answer on a low screen, where its reading stands below"
TALL = 32
"terminal lines from which a screen is high"
NOTHING_WAITS = "Nothing is pending: you have decided every item"


@dataclass(frozen=True, slots=True)
class ItemPage(AnswersPage["ItemAnswer"]):
    """The answers of the model, with the item they belong to."""

    item: ShownItem | None = None
    holder: str = ""
    "another auditor who reviews it now"


class ItemTable(FluidTable):
    """The table of the model's answers."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "enter", "select_cursor", "Whole", key_display="Enter", tooltip="Show the whole answer"
        ),
    ]


class ReviewItemScreen(AnswersScreen["ItemAnswer"], BlindKey):
    """The screen that shows one item of the queue after another."""

    CSS = """
    ReviewItemScreen #about {
        max-height: 12;
    }
    """

    PLACE = "review › item"
    TEXT_FIRST = True
    DECIDES: ClassVar[frozenset[str]] = frozenset({"undo"})
    FOOTER_FIRST = ("select_cursor", "rule", "done", "following", "undo", "why", "prompt", "blind")
    EXPLAIN = EXPLAIN
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("N", "following", "Next", tooltip="Go to the next pending item"),
        Binding("z", "undo", "Undo", tooltip="Undo your last ruling, and go to its item"),
        Binding(
            "left_square_bracket",
            "step(-1)",
            "Previous item",
            show=False,
            tooltip="Go to the previous item",
        ),
        Binding(
            "right_square_bracket",
            "step(1)",
            "Item",
            key_display="[ ]",
            tooltip="Step through the whole queue",
        ),
        Binding("p", "prompt", "Prompt", tooltip="Show the exact prompt"),
        LIST,
        Binding(
            "w",
            "why",
            "Why",
            tooltip="Show every reason why this item is in the queue, with its weight",
        ),
        Binding("escape", "dismiss(None)", "Back", key_display="Esc", tooltip="Go back"),
    ]

    def __init__(self, progress: ReviewProgress, item: Waiting, session: ReviewSession) -> None:
        super().__init__()
        self._progress, self._item, self.session = progress, item, session
        "the queue, the visible item and the session"
        self._coming, self._status_coming = item, ""
        "item that is being read, and the text above it"
        self._status = ""

    def on_mount(self) -> None:
        self._say_who()
        if self._auditor is None:
            self.as_auditor(ruling_auditors(self._progress), self._take_name)

    def make_table(self) -> FluidTable:
        return ItemTable(item_columns, name="responses")

    def fetch(self, store: Store, kind: str, offset: int) -> ItemPage:  # noqa: ARG002
        from workbench.pipeline.review import open_item
        from workbench.pipeline.review_item import show_item

        progress, item = self._progress, self._coming
        is_free = open_item(store, progress, item)
        content = show_item(store, progress.of, item)
        holder = "" if is_free else "another auditor"
        return ItemPage(kind, content.rows, None, content, holder)

    def is_current_page(self, page: AnswersPage[ItemAnswer]) -> bool:
        from workbench.pipeline.review import item_name

        read_item = page.item if isinstance(page, ItemPage) else None
        if read_item is None or item_name(read_item.item) != item_name(self._coming):
            return False
        self._item, self._status = self._coming, self._status_coming
        return True

    def failed(self, error: WorkbenchError) -> None:
        super().failed(error)
        self._coming = self._item

    def head(self) -> Content:
        page = self._page
        holder_note = (
            "Another auditor is reviewing this item. "
            if isinstance(page, ItemPage) and page.holder
            else ""
        )
        room = self.size.width - 2, LOW if self.size.height < TALL else HIGH
        return item_heading(
            self._progress, self._item, holder_note + self._status, room, blind=self._blind
        )

    def empty_text(self, kind: str) -> str:  # noqa: ARG002
        return "The model gave no answer here. r rules on the statement."

    def hides_reading(self) -> bool:
        """Return whether a sampled answer is decided blind, so that its reading is hidden."""
        return (
            self._blind
            and self._drawn
            and (self._auditor or "") not in self._progress.deciders(self._item)
        )

    def _as_seen(self, row: ItemAnswer) -> ItemAnswer:
        from workbench.pipeline.review_item import unread

        return unread(row) if self.hides_reading() else row

    def record(self, number: int, row: ItemAnswer, width: int) -> Record:
        row = self._as_seen(row)
        visible_rulings = (
            ruling
            for ruling in self._on(row)
            if "text" in ruling.subject.named and self._may_see(ruling, row)
        )
        return item_record(
            number, row, width, max(visible_rulings, key=lambda ruling: ruling.at, default=None)
        )

    def answer_texts(self, row: ItemAnswer) -> AnswerTexts:
        row = self._as_seen(row)
        review = self._progress.of
        all_rulings = self._on(row)
        visible_rulings = [ruling for ruling in all_rulings if self._may_see(ruling, row)]
        item = self._page.item if isinstance(self._page, ItemPage) else None
        wording = dict(item.wordings).get(row.variant, "") if item is not None else ""
        reader = review.card.name if review.card is not None else ""
        withheld = self._withholds(row.prompt, row.key)
        limit = IN_SHORT if self.size.height < TALL else PREVIEW_CHARACTERS
        return AnswerTexts(
            reading_lines(row, wording, reader, visible_rulings, withheld),
            answer(row, limit),
            provenance(row, review.run, blind=self._blind),
        )

    def whole(self, row: ItemAnswer) -> WholeAnswerScreen:
        row = self._as_seen(row)
        texts = self.answer_texts(row)
        return WholeAnswerScreen(
            f"{self._item.ref} · {row.variant}",
            row.text,
            texts.reading,
            texts.origin,
            whole_answer(row),
        )

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "undo":
            return bool(self.session.steps) or self._last is not None
        if action == "done":
            return self.can_close
        if action == "prompt":
            return self.current is not None
        return super().check_action(action, parameters)

    def ruled_place(self) -> RuledPlace:
        row, run = self.current, self._progress.of.run
        if row is None:
            return RuledPlace((run.instrument,), (self._item.ref,))
        return RuledPlace(
            (run.instrument,), (self._item.ref,), prompt=row.prompt, answer=row.key or b""
        )

    def rulings_in_sight(self, thing: RulingSubject, rulings: Sequence[Ruling]) -> Sequence[Ruling]:
        named = thing.subject.named
        prompt = bytes.fromhex(named["prompt"]) if "prompt" in named else b""
        withheld = self._withholds(
            prompt, bytes.fromhex(named["text"]) if "text" in named else None
        )
        return [ruling for ruling in rulings if not withheld or ruling.auditor == self._auditor]

    def withholds(self) -> bool:
        row = self.current
        return (
            self._withholds(row.prompt, row.key) if row is not None else self._withholds(b"", None)
        )

    def take_ruled(self, sentence: str, ruling: Ruling | None = None) -> None:
        from workbench.pipeline.review import item_name

        if ruling is not None:
            self.session.steps.add(RuledItem(item_name(self._item), ruling))
        self.look_again(sentence.removesuffix("; z undoes it"), ruled=ruling is not None)

    def go_on(self, progress: ReviewProgress, item: Waiting | None, told: str) -> None:
        from workbench.pipeline.review import item_name

        self._progress = progress
        if item is None:
            self._status = f"{told} · {NOTHING_WAITS}".removeprefix(" · ")
            self._repaint()
        elif item_name(item) == item_name(self._item):
            self._item = self._coming = item
            self._status = told
            self._repaint()
        else:
            self._show(item, told)

    def on_screen_resume(self) -> None:
        self.look_back(self._progress)

    def action_prompt(self) -> None:
        """Show exactly the prompt that the model was given."""
        if (row := self.current) is not None:
            self.read_prompt(row)

    def action_following(self) -> None:
        """Go to the next pending item."""
        self.look_again("", following=True)

    def action_step(self, step: int) -> None:
        """Go to a neighbour in the queue, around the ends."""
        from workbench.pipeline.review import item_name

        items = self._progress.items
        position = next(
            (
                index
                for index, candidate in enumerate(items)
                if item_name(candidate) == item_name(self._item)
            ),
            0,
        )
        if items:
            self._show(items[(position + step) % len(items)], "")

    def turn_blind(self) -> None:
        self._say_who()
        self._repaint()

    def reader_in_sight(self) -> str | None:
        return self._progress.of.read_by

    def run_in_sight(self) -> Run | None:
        return self._progress.of.run

    def action_why(self) -> None:
        """Show all reasons why the item is in the queue."""
        text = reasons(self._progress, self._item, blind=self._blind)
        self.app.push_screen(TextScreen(f"Why {self._item.ref} is in the queue", text))

    def on_resize(self) -> None:
        self._head()

    def action_undo(self) -> None:
        """Undo the auditor's last ruling, starting with those made here."""
        if self.check_action("undo", ()):
            self.take_back(self._auditor or "", self._last)

    def show_standing(self) -> None:
        """Do nothing, because the queue itself has the rulings on its items."""

    def action_refresh(self) -> None:
        self.look_again("")

    @property
    def progress_in_sight(self) -> ReviewProgress:
        return self._progress

    @property
    def item_in_sight(self) -> Waiting:
        return self._item

    @property
    def _last(self) -> Ruling | None:
        """The auditor's last ruling on the item."""
        return newest_ruling_on(self._progress, self._item, self._auditor)

    def action_done(self) -> None:
        if self.can_close and self._auditor is not None:
            super().action_done()

    @property
    def _blind(self) -> bool:
        return self.session.blind

    @property
    def _drawn(self) -> bool:
        """Whether the item is an answer of the control sample."""
        from workbench.domain.reviews import ControlItem

        return isinstance(self._item, ControlItem)

    def _withholds(self, prompt: bytes, key: bytes | None) -> bool:
        """Return whether other auditors' rulings on an answer are hidden from this auditor."""
        control = self._progress.control
        control_items = control.items if control is not None else ()
        control_item = next(
            (
                candidate
                for candidate in control_items
                if (candidate.prompt, candidate.text) == (prompt, key)
            ),
            None,
        )
        if (
            control is not None
            and control_item is not None
            and not control.looked_at(control_item, self._auditor or "")
        ):
            return True
        return (self._blind or self._drawn) and (
            self._auditor or ""
        ) not in self._progress.deciders(self._item)

    def _may_see(self, ruling: Ruling, row: ItemAnswer) -> bool:
        return ruling.auditor == self._auditor or not self._withholds(row.prompt, row.key)

    def _on(self, row: ItemAnswer) -> list[Ruling]:
        """Return the rulings in force on an answer, and on what it is part of."""
        review = self._progress.of
        statement_rulings = review.rulings.statements.get(self._item.ref, ())
        return [
            ruling
            for ruling in statement_rulings
            if _is_on(ruling.subject, row, review.run.language)
        ]

    def _take_name(self, name: str) -> None:
        self._progress = replace(self._progress, auditor=name)
        self._say_who()
        self._show(self._item, "")

    def _say_who(self) -> None:
        auditor_name = self._auditor or "nobody"
        model = "model hidden" if self._blind else self._progress.of.run.named
        self.title_bar.note = f"{model} · {auditor_name}"

    def _show(self, item: Waiting, told: str) -> None:
        self._coming, self._status_coming = item, told
        self.show_kind("")

    def _repaint(self) -> None:
        self.table.show_for_width(self._records, at=None)
        self._head()
        self.show_answer()
        self._say_who()
        self.refresh_bindings()

    @worker("prompt", opens=True)
    async def read_prompt(self, row: ItemAnswer) -> None:
        def load(store: Store) -> Content | None:
            sent_prompts = store.review_queries.prompts(self._progress.of.run, self._item.ref)
            prompts = [
                store.runs.prompt(sent_prompt.probe)
                for sent_prompt in sent_prompts
                if sent_prompt.key == row.prompt
            ]
            return prompt_text(prompts[0]) if prompts and prompts[0] is not None else None

        title = f"Prompt: {self._item.ref} · {row.variant} · {row.template} {row.order}"
        if (text := await self.with_store(load)) is not None:
            self.app.push_screen(RuledText(title, text))

    @worker("following")
    async def look_again(self, told: str, following: bool = False, ruled: bool = False) -> None:
        item = self._item
        progress, following_item = await self.with_store(
            lambda store: next_item(
                store, self._progress, self._auditor, item if following else None
            ),
            leases=following,
        )
        if ruled:
            told = f"{told}; {_onwards(progress, _same(progress, item))}"
        self.go_on(progress, following_item if following else _same(progress, item), told)

    @worker("resumed", beside=True)
    async def look_back(self, known: ReviewProgress) -> None:
        """Show rulings and leases that changed while another screen lay above."""

        def load(store: Store) -> ReviewProgress | None:
            from workbench.pipeline.review import shows_same

            progress, _ = next_item(store, known, self._auditor)
            return None if shows_same(progress, known) else progress

        progress = await self.with_store(load)
        # Otherwise it was refreshed meanwhile.
        if progress is not None and self._progress is known:
            self._progress, self._status = progress, ""
            self._item = self._coming = _same(progress, self._item)
            self._repaint()

    @worker("undo", newest=False)
    async def take_back(self, auditor: str, last: Ruling | None) -> None:
        def act(store: Store) -> tuple[ReviewProgress, Waiting, str]:
            name, told = self.session.undo(store, auditor, last)
            progress, _ = next_item(store, self._progress, self._auditor)
            return progress, progress.found(name) or self._item, told

        self.workers.cancel_group(self, "following")
        self.go_on(*await self.with_store(act))


def _same(progress: ReviewProgress, item: Waiting) -> Waiting:
    """Return the current state of an item, or the item itself if it left the queue."""
    from workbench.pipeline.review import item_name

    return progress.found(item_name(item)) or item


def _onwards(progress: ReviewProgress, item: Waiting) -> str:
    """Return the next step after a ruling. Only one on the statement itself decides on the item."""
    from workbench.domain.reviews import RankedStatement
    from workbench.pipeline.review import ItemState

    if not isinstance(item, RankedStatement) or progress.state(item) is ItemState.YOU:
        return GO_ON
    if progress.auditor in progress.deciders(item):
        return STAYS_OPEN
    n_ruled, n_total = progress.of.ruled(item.ref, progress.auditor)
    return (
        f"{n_ruled:,} of {n_total:,} ruled by you; C closes the item, z undoes"
        if n_ruled
        else CLOSES
    )


def _is_on(subject: Subject, row: ItemAnswer, language: str) -> bool:
    """Return whether a ruling is on an answer, on its prompt, its wording or its statement."""
    named = subject.named
    if "prompt" in named:
        return named["prompt"] == row.prompt.hex() and named.get("text") in (
            None,
            (row.key or b"").hex(),
        )
    return (
        named.get("variant", row.variant) == row.variant
        and named.get("language", language) == language
    )
