"""An item of an auditor's queue as cells and text; pure."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.text import Text
from textual.content import Content

from workbench.domain.reviews import BY_AUDITORS, REASONS, Ranked
from workbench.figures.visible import visible
from workbench.tui.format import literal
from workbench.tui.results.responses_format import STANCE_MARKS, answer_cell
from workbench.tui.rulings.dialog import WITHHELD, said
from workbench.tui.widgets.record_table import Column, Record

if TYPE_CHECKING:
    from stores.runs.run_rows import Run
    from workbench.domain.rulings import Ruling
    from workbench.evidence.ruling_subjects import ReadBy
    from workbench.pipeline.review_item import ItemAnswer
    from workbench.pipeline.review_progress import Progress, Waiting

WIDE = 120
"columns from which an answer stands with its template"
UNREAD = {"unreadable": "·", "not read": "·", "hidden": "·"}
"what is no reading, with its mark"
MORE = " … w shows all"
BECAUSE = 18
"columns of why a row is meant"
MEANT, PLAIN = "‼", " "
TITLES = frozenset(one.title for one in REASONS.values())
"reasons in words, which the heading has: a row says only what was found of its own prompt"


def item_columns(width: int) -> tuple[Column, ...]:
    """Return the columns for a width."""
    where = (Column("template", "template", 26),) if width >= WIDE else ()
    return (
        Column("count", " times", 8),
        Column("reads", "reading", 13),
        Column("variant", "wording", 15),
        *where,
        Column("because", "why", BECAUSE if width < WIDE else 2 * BECAUSE),
        Column("text", "answer", None),
    )


def item_record(number: int, row: ItemAnswer, width: int, ruled: Ruling | None = None) -> Record:
    """Return a row; its key is its place among what was read. `ruled`: what auditors said last of the answer."""
    mark = MEANT if row.meant else PLAIN
    where = (literal(f"{row.template} {row.order}"),) if width >= WIDE else ()
    return str(number), (
        Text(f"{mark}{row.count:>5}×" if row.key is not None else "", style="bold" if row.meant else ""),
        _reading(row),
        literal(row.variant),
        *where,
        _why(row, ruled),
        answer_cell(row, decided=True),
    )


def _why(row: ItemAnswer, ruled: Ruling | None) -> Text:
    because = literal(", ".join(one for one in row.because if one not in TITLES))
    if ruled is None:
        return because
    said = f"{ruled.verdict} ({ruled.label})" if ruled.label else str(ruled.verdict)
    return literal(said, style="bold").append_text(Text(", " if because else "")).append_text(because)


def _reading(row: ItemAnswer) -> Text:
    if row.key is None:
        return Text("")
    return Text(_read_as(row), style="yellow" if row.reads in UNREAD else "")


def _read_as(row: ItemAnswer) -> str:
    """Return `+ agree`, `· unreadable`, `= neutral`; nothing where an answer stands for itself."""
    return f"{_mark(row.reads)} {visible(row.reads)}" if row.reads else ""


def _mark(reads: str) -> str:
    return UNREAD.get(reads) or STANCE_MARKS.get(reads, "=")


def head(progress: Progress, item: Waiting, told: str, room: tuple[int, int], *, blind: bool) -> Content:
    """Return what stands above the answers: which item it is and what became of it, what was done, and why it is here.

    `room`: columns, and lines for the reasons; where they need more, `w` shows them.
    """
    from workbench.pipeline.review_progress import name
    from workbench.pipeline.review_tables import state

    items = progress.items
    place = next((n for n, one in enumerate(items, start=1) if name(one) == name(item)), 0)
    of = f"{place:,} of {len(items):,}" if place else "no longer in the queue"
    parts = Content.assemble(
        (visible(item.ref), "bold"),
        ("  ", ""),
        (f"{of} · {visible(state(progress, item, blind=blind))}", "$text-muted"),
    )
    done = [Content.styled(visible(told), "$text-accent")] if told else []
    columns, lines = room
    return Content("\n").join(
        [parts, *done, Content.styled(cut(visible(_here(item, blind)), columns, lines), "$text-muted")]
    )


def _here(item: Waiting, blind: bool) -> str:
    """Say why an item is here: the reasons by name, as `w` and the rows say what was found; of a drawn answer all."""
    from workbench.pipeline.review_tables import why

    return f"{item.brief(blind=blind)} · w says what was found" if isinstance(item, Ranked) else why(item, blind=blind)


def cut(text: str, columns: int, lines: int) -> str:
    """Return a text in no more lines than there is room for, with the key that shows the rest."""
    wrapped = textwrap.wrap(text, max(columns, len(MORE) + 1)) or [""]
    if len(wrapped) <= lines:
        return text
    last = wrapped[lines - 1][: columns - len(MORE)].rstrip()
    return "\n".join([*wrapped[: lines - 1], last + MORE])


def reasons(progress: Progress, item: Waiting, *, blind: bool) -> Content:
    """Return why an item is in the queue: each reason with its weight, what was found, and what it means; the sum."""
    from workbench.pipeline.review_tables import drawn_words, scored_words, why

    if not isinstance(item, Ranked):
        said = why(item, blind=blind), *drawn_words(progress, item)
        return Content("\n\n").join([Content(visible(one, lines=True)) for one in said])
    parts = []
    for signal, part in zip(item.signals, item.parts(blind=blind), strict=True):
        meaning = "" if blind and signal.reason in BY_AUDITORS else f"\n{REASONS[signal.reason].meaning}"
        parts.append(Content.assemble(visible(part), (meaning, "$text-muted")))
    parts.append(Content.assemble((f"= {item.score}", "bold"), (f"\n{scored_words()}", "$text-muted")))
    return Content("\n\n").join(parts)


def reading(row: ItemAnswer, wording: str, reader: str, ruled: Sequence[Ruling], withheld: bool) -> Content:
    """Say which wording an answer is to, how it was read and by whom, and what was ruled on it."""
    where = " · ".join(filter(None, (row.variant, f"{row.template} {row.order}", row.factors)))
    lines = [
        Content.assemble(
            (visible(wording, lines=True) or "(wording not known)", "bold"), (f"  {visible(where)}", "$text-muted")
        )
    ]
    if row.readers:
        lines += [_read_by(row, one, own=one.who == reader) for one in row.readers]
    elif row.reads:
        by = f"  ({visible(reader)})" if reader else ""
        lines.append(
            Content.assemble(
                (_read_as(row), "bold"),
                f": {visible(row.reason)}" if row.reason else "",
                (f"{by}  {row.count:,}×", "$text-muted"),
            )
        )
    lines += [Content.styled(visible(f"ruled by {said(one)}"), "$text-accent") for one in ruled]
    if withheld:
        lines.append(Content.styled(WITHHELD, "$text-muted"))
    return Content("\n").join(lines)


def _read_by(row: ItemAnswer, one: ReadBy, *, own: bool) -> Content:
    """Say what a reader makes of an answer, and by which words of it; `own`: it is the reader of the run."""
    from workbench.pipeline.review_item import deciding

    words = visible(deciding(row.text, one))
    said = f"“{words}”" if words else visible(one.reason)
    return Content.assemble(
        (f"{_mark(one.reads)} {visible(one.reads):<10}", "bold"),
        f"  {visible(one.who)}",
        (" counts here" if own else "", "$text-muted"),
        f": {said}" if said else "",
    )


def provenance(row: ItemAnswer, run: Run, *, blind: bool) -> str:
    """Return the origin of an answer: its name for `workbench rule`, and its model unless that is hidden."""
    parts = ["model hidden"] if blind else [run.named, run.version, str(run.sampling)]
    return " · ".join(visible(part) for part in (*parts, row.subject))


def wording_of(row: ItemAnswer, wordings: Sequence[tuple[str, str]]) -> str:
    """Return the text of the wording that an answer is to."""
    found: Mapping[str, str] = dict(wordings)
    return found.get(row.variant, "")


__all__ = ["cut", "head", "item_columns", "item_record", "provenance", "reading", "reasons", "wording_of"]
