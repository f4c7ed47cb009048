"""The texts of an annotation session. They use no store.

Nothing here knows who wrote an answer, or what others said of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.strip import Strip
from textual.style import Style

from workbench.domain.annotations import Codebook, LabelOption, LabelSubject
from workbench.domain.names import plural
from workbench.figures.visible import visible
from workbench.tui.format import bar, human_duration, literal, pace, percent
from workbench.tui.widgets.long_text import LongText

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stores.annotation.annotator import QueueProgress
    from workbench.sessions.items import LabelItem, SessionProgress
    from workbench.sessions.labels import OwnLabel

CONFIDENCES: tuple[tuple[float | None, str], ...] = (
    (None, ""),
    (0.33, "unsure"),
    (0.67, "fairly sure"),
    (1.0, "sure"),
)
NOT_SURE = "how sure: not said"
CHANGED = "The codebook changed: g shows its new version."
UNDONE = "undone"
"prefix of the message on an undone step"
NAME_COLUMNS = 20
NOTE_COLUMNS = 40
BAR_COLUMNS, SHORT_BAR = 14, 5
LIST_COLUMNS = 68
KEY_COLUMNS, GAP = 76, "   "
PACE_FROM = 10
"number of labels from which a pace is shown; after two it is that of a single label"


def shown_answer(text: str) -> tuple[str, bool]:
    """Return an answer as it is shown, and whether that is a notice instead of its words."""
    if not text:
        return "(the answer is empty)", True
    if text.isspace():
        return f"(the answer is blank: {plural(len(text), 'character')} of white space)", True
    return visible(text, lines=True), False


def key_row(
    options: Sequence[LabelOption],
    mark: str = "",
    action: str = "label_at",
    *,
    width: int = KEY_COLUMNS,
) -> Content:
    """Return `a agree    d disagree …`, in as many lines as a width needs.

    A click on a label gives it. The label `mark` stands between ‹ and ›, for which there is room in
    every line.
    """
    lines: list[list[Content]] = [[]]
    room = 0
    for index, option in enumerate(options):
        name = visible(option.label).replace(" ", "\u00a0")
        marked_name = f"‹{name}›" if option.label == mark else name
        key_content = Content.assemble(
            (f" {visible(option.key)} ", "bold reverse"), "\u00a0", (marked_name, "bold")
        )
        width_without_mark = key_content.cell_length - 2 * (option.label == mark) + len(GAP)
        if lines[-1] and room + width_without_mark > width - 2 + len(GAP):
            lines.append([])
            room = 0
        room += width_without_mark
        lines[-1].append(
            key_content.stylize(Style.from_meta({"@click": f"screen.{action}({index})"}))
        )
    return Content("\n").join(Content(GAP).join(line) for line in lines)


def marks_line(item: LabelItem, confidence: str | None, former: str) -> Content:
    """Return the marks of an item besides its label. `confidence`: None if it is not asked for."""
    parts: list[Content] = []
    if confidence is not None:
        confidence_text = (
            Content.styled(f"you are {confidence}", "bold")
            if confidence
            else Content.styled(NOT_SURE, "dim")
        )
        parts.append(confidence_text)
    if former:
        parts.append(
            Content.assemble("your previous label: ", (visible(former), "bold"), ", withdrawn")
        )
    elif item.label:
        parts.append(
            Content.assemble("your label: ", (visible(item.label), "bold"), " · s keeps it")
        )
    if item.flagged:
        parts.append(Content.styled("⚑ flagged", "bold $text-warning"))
    if item.note:
        parts.append(Content(f"note “{literal(item.note, NOTE_COLUMNS).plain}”"))
    return Content("   ").join(parts)


def pace_line(
    progress: SessionProgress,
    last: Content,
    *,
    time_left: bool = False,
    narrow: bool = False,
    width: int = KEY_COLUMNS,
) -> Content:
    """Return `▰▰▱▱ 16 %    412 an hour    last: …`, or `about 12 min left` in place of the pace.

    The last action is never truncated. If there is too little room, the bar gets short, then the
    pace is omitted.
    """
    pace_text = _pace_text(progress, time_left=time_left)
    if not narrow:
        line = _progress_line(progress, pace_text, last, BAR_COLUMNS, "    ")
        if line.cell_length <= width:
            return line
    line = _progress_line(progress, pace_text, last, SHORT_BAR, "  ")
    if line.cell_length <= width:
        return line
    return _progress_line(progress, "", last, SHORT_BAR, "  ")


def _pace_text(progress: SessionProgress, *, time_left: bool) -> str:
    """Return the pace or the remaining time, or an empty string if it is unknown."""
    if time_left and progress.per_hour:
        if not progress.left:
            return ""
        return f"about {human_duration(3600 * progress.left / progress.per_hour)} left"
    return pace(progress.per_hour) if progress.done >= PACE_FROM else ""


def _progress_line(
    progress: SessionProgress, pace_text: str, last: Content, bar_columns: int, gap: str
) -> Content:
    """Return a bar with its percentage, the pace and the last action, without empty parts."""
    progress_bar = bar(progress.done, progress.total, bar_columns)
    share = percent(progress.done, progress.total)
    parts = (Content(f"{progress_bar} {share}"), Content(pace_text), last)
    return Content(gap).join(part for part in parts if part.plain)


def last_line(said: str, steps: int, before: str = "last: ") -> Content:
    """Return `last: disagree (saved) – z to undo`, or an empty text without an action."""
    undo_text = " undoes the step before" if said.startswith(UNDONE) else " to undo"
    undo = Content.assemble(" – ", ("z", "bold"), undo_text) if steps else Content("")
    return Content.assemble(before, visible(said), undo) if said else Content("")


def title_note(name: str, progress: SessionProgress | None, unit: str = "") -> str:
    """Return the note in the title: `ana  214/1,320 items`."""
    short_name = literal(name, NAME_COLUMNS).plain
    return (
        short_name
        if progress is None
        else f"{short_name}  {progress.done:,}/{progress.total:,} {unit}".rstrip()
    )


def done_text(progress: QueueProgress, steps: int) -> Content:
    """Return the text that nothing is left, with the reason and what to do."""
    lines = [Content.styled("You have labelled everything in this queue.", "bold"), Content("")]
    lines.append(Content(f"You have labelled {plural(progress.done, 'item')} in it."))
    if progress.held:
        held_text = plural(progress.held, "item")
        lines.append(
            Content(
                f"{held_text} {_are(progress.held)} with other annotators and may come to you: F5 "
                "looks again."
            )
        )
    if progress.left:
        lines.append(
            Content(
                f"{plural(progress.left, 'item')} {_are(progress.left)} open; you labelled them "
                "elsewhere."
            )
        )
    n_correct, n_answered = progress.attention
    if n_answered:
        lines.append(
            Content(
                f"You labelled {n_correct:,} of {n_answered:,} items with a known label correctly."
            )
        )
    lines += [Content(""), Content("v shows your labels, and lets you change them.")]
    if steps:
        lines.append(Content("z undoes the last step."))
    lines.append(Content("q goes back to the queues. Everything is saved."))
    return Content("\n").join(lines)


def guideline(codebook: Codebook) -> Content:
    """Return the question, the labels with meanings, and the guideline in unwrapped paragraphs."""
    lines = [Content.styled(visible(codebook.question), "bold"), Content("")]
    for option in codebook.options:
        meaning = f": {visible(option.meaning)}" if option.meaning else ""
        lines.append(
            Content.assemble(
                (visible(option.key), "bold"), " ", (visible(option.label), "bold"), meaning
            )
        )
    lines.append(Content(""))
    for paragraph in codebook.guideline.strip().split("\n\n"):
        lines += [Content(visible(" ".join(paragraph.split()))), Content("")]
    return Content("\n").join(lines[:-1])


def given_line(given: OwnLabel, subject: LabelSubject) -> Content:
    """Return one of the person's own labels with its text, its statement and its marks."""
    text, _ = shown_answer(given.text)
    label = literal(given.label, NAME_COLUMNS).plain
    text_line = literal(" ".join(text.split()), LIST_COLUMNS - len(label)).plain
    statement_line = (
        ""
        if subject is LabelSubject.STATEMENT
        else literal(" ".join(given.statement.split()), LIST_COLUMNS - 4).plain
    )
    confidence = dict(CONFIDENCES).get(given.confidence, "")
    marks = [f"you were {confidence}"] if confidence else []
    marks += ["⚑ flagged"] if given.flagged else []
    marks += [f"note “{literal(given.note, NOTE_COLUMNS).plain}”"] if given.note else []
    details = [(f"\n  on: {statement_line}", "dim")] if statement_line else []
    details += [("\n  " + " · ".join(marks), "$text-warning")] if marks else []
    return Content.assemble((label, "bold"), "  ", text_line, *details)


def _are(n: int) -> str:
    return "is" if n == 1 else "are"


class ReadText(LongText, inherit_bindings=False):
    """A text that is replaced by the next one. Letters are left to the screen, as label keys."""

    DEFAULT_CSS = """
    ReadText {
        scrollbar-gutter: stable;
    }
    ReadText.-notice {
        text-style: italic;
        color: $text-muted;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "scroll_down", "Line below", show=False, tooltip="Scroll down by a line"),
        Binding("up", "scroll_up", "Line above", show=False, tooltip="Scroll up by a line"),
        Binding(
            "space,pagedown", "page_down", "Page below", show=False, tooltip="Go down by a page"
        ),
        Binding("pageup", "page_up", "Page above", show=False, tooltip="Go up by a page"),
        Binding(
            "home",
            "scroll_home",
            "Beginning",
            show=False,
            tooltip="Go to the beginning of the text",
        ),
        Binding("end", "scroll_end", "End", show=False, tooltip="Go to the end"),
    ]

    class Painted(Message):
        """The text was drawn for the first time."""

        def __init__(self, widget: ReadText) -> None:
            super().__init__()
            self.widget = widget

        @property
        def control(self) -> ReadText:
            return self.widget

    def __init__(self, *, name: str, most: int | None = None) -> None:
        super().__init__("", name=name)
        self._most = most
        "maximum number of lines that it grows to, or None for a fixed size"
        self._height = 0
        self._fresh = False

    def show(self, text: str, *, notice: bool = False) -> None:
        """Show another text, from its beginning. The text has to be safe to print."""
        self._text, self._fresh = text, True
        self.set_class(notice, "-notice")
        if self.outer_size.width:
            self._fold()
        self.scroll_to(0, 0, animate=False)
        self.refresh()

    def on_resize(self, event: events.Resize) -> None:
        super().on_resize(event)
        self._grow()

    def action_page_down(self) -> None:
        self.scroll_page_down(animate=False)

    def action_page_up(self) -> None:
        self.scroll_page_up(animate=False)

    def render_line(self, y: int) -> Strip:
        if self._fresh:
            self._fresh = False
            self.post_message(self.Painted(self))
        return super().render_line(y)

    def _fold(self) -> None:
        super().on_resize(events.Resize(self.size, self.virtual_size))
        self._grow()

    def _grow(self) -> None:
        if self._most is not None:
            height = max(1, min(self._most, len(self._lines)))
            if height != self._height:
                self._height = self.styles.height = height
