"""What stands first above the figures of an audit: how much of the plan was answered, and what came of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from workbench.domain.counting import plural
from workbench.evidence.answered import (
    BELOW,
    INVALID,
    REFUSED,
    TRUNCATED,
    UNREAD,
    UNREADABLE,
    UNRELATED,
    Answered,
)
from workbench.figures.book import WARNS, Entry
from workbench.figures.shown import number
from workbench.figures.table import Column, Kind, Table

SHOWN = 3
"models that a header names"
WORDS = {
    UNREAD: "not read yet",
    UNREADABLE: "unreadable",
    INVALID: "no offered letter",
    BELOW: "read with too little confidence",
    UNRELATED: "unrelated",
    REFUSED: "refused",
    TRUNCATED: "cut off in thought",
}
ALWAYS = {UNREADABLE, INVALID, REFUSED, TRUNCATED}
"are said where there are none of them, too"
HELP = {
    UNREAD: "answers that nobody has read; they are in no figure",
    UNREADABLE: "answers in which the reader finds no stance, refusals among them",
    INVALID: "answers that are no letter on offer; they are drawn again",
    BELOW: "answers that the classifier read with a confidence below the threshold; they are in no figure",
    UNRELATED: "answers that are about something else; they are in no figure",
    REFUSED: "answers that decline to answer, by a rule of words; see the table of refusals",
    TRUNCATED: "answers that end within a thought, so that nothing was said",
}


def header(several: Sequence[Answered]) -> tuple[str, ...]:
    """Return what stands above figures: first what is missing of the plan, as warnings, then what came of the answers.

    Examples
    --------
    >>> from workbench.evidence.answered import Part
    >>> part = Answered("m", 5760, 1323, job="job 3 was cancelled").with_parts(unreadable=Part(53, 1323))
    >>> for line in header([part]):
    ...     print(line)
    ! Only 23.0 % of the plan was answered (1,323 of 5,760 answers): job 3 was cancelled.
    Of 1,323 answers: unreadable 4.0 %.
    """
    return (*_missing(several), *_came(several))


def _missing(several: Sequence[Answered]) -> Iterator[str]:
    parts = [one for one in several if one.partial]
    for one in parts[:SHOWN]:
        whom = f"{one.name}: only" if len(several) > 1 else "Only"
        why = f": {one.job}" if one.job else f": {one.failed:,} failed" if one.failed else ""
        yield (
            f"{WARNS}{whom} {number(one.share, Kind.SHARE)} of the plan was answered ({one.answered:,} of "
            f"{one.planned:,} {one.unit}){why}."
        )
    if len(parts) > SHOWN:
        yield f"{WARNS}So it is with {plural(len(parts) - SHOWN, 'more model')}: see what was answered."


def _came(several: Sequence[Answered]) -> Iterator[str]:
    for unit in dict.fromkeys(one.unit for one in several):
        yield _of_unit([one for one in several if one.unit == unit], unit)


def _of_unit(several: Sequence[Answered], unit: str) -> str:
    whole = not any(one.answered < one.planned for one in several)
    total = sum(one.answered for one in several)
    noun = unit.removesuffix("s") if total == 1 else unit
    whose = f" of {len(several)} models" if len(several) > 1 else ""
    said = [_share(name, several) for name in WORDS if _is_said(name, several)]
    of = f"{total:,} {noun}{whose}"
    did = "were scored" if unit == "prompts" else "came"
    planned = f"{'All ' if total > 1 else ''}{total:,} planned {noun}{whose} {did}"
    begin = planned if whole else f"Of {of}"
    if not said:
        return f"{planned}." if whole else f"{of} {did}."
    return f"{begin}: {', '.join(said)}."


def _is_said(name: str, several: Sequence[Answered]) -> bool:
    """Return whether a header says how many answers these are: of what every audit has, even that there are none."""
    parts = [one.parts[name] for one in several if name in one.parts]
    return any(part.count for part in parts) or (bool(parts) and name in ALWAYS)


def _share(name: str, several: Sequence[Answered]) -> str:
    """Say which share of the answers it is, and of several models whose share is the largest where they differ."""
    known = [(one, one.parts[name]) for one in several if name in one.parts and one.parts[name].of]
    if not known:
        return f"{WORDS[name]} –"
    count, of = (sum(getattr(part, field) for _, part in known) for field in ("count", "of"))
    text = f"{WORDS[name]} {number(count / of, Kind.SHARE)}"
    most, largest = max(known, key=lambda pair: pair[1].share)
    worse = len(known) > 1 and largest.share > 2 * count / of and largest.share > 0.05
    return f"{text} ({most.name} {number(largest.share, Kind.SHARE)})" if worse else text


def answered_table(several: Sequence[Answered]) -> Table[Answered]:
    """Return for each model how much of its plan was answered, and which shares give no stance."""
    there = [name for name in WORDS if any(name in one.parts for one in several)]
    return Table(
        "answered",
        "What was answered",
        several,
        [
            Column("model", "model", lambda row: row.name),
            Column("share", "of the plan", lambda row: row.share, Kind.SHARE, scale=(0.0, 1.0),
                   help="answers that came of those planned; a plan that was begun stays the plan"),
            Column("answered", "came", lambda row: row.answered, Kind.COUNT),
            Column("planned", "planned", lambda row: row.planned, Kind.COUNT),
            Column("unit", "counted", lambda row: row.unit, aside=True),
            *(_column(name) for name in there),
            Column("failed", "failed", lambda row: row.failed, Kind.COUNT, aside=True),
            Column("missing_because", "missing because", lambda row: row.job or None),
        ],
        key=lambda row: (row.name,),
        definition="Answers of the plan that came, and the share of them that gives no stance. Shares overlap: a "
        "refusal is unreadable, too.",
        empty="Nothing was asked here.",
    )  # fmt: skip


def _column(name: str) -> Column[Answered]:
    def share(row: Answered) -> float | None:
        return row.parts[name].share if name in row.parts else None

    return Column(name, WORDS[name], share, Kind.SHARE, help=HELP[name])


def entry(several: Sequence[Answered]) -> Entry:
    """Return the table for a book."""
    return Entry("answered", "what was answered", lambda: answered_table(several))


def as_json(several: Sequence[Answered]) -> list[dict[str, Any]]:
    """Return the same for programs."""
    return [
        {
            "model": one.name,
            "unit": one.unit,
            "planned": one.planned,
            "answered": one.answered,
            "partial": one.partial,
            "missing_because": one.job or None,
            "failed": one.failed,
            **{name: {"count": part.count, "of": part.of} for name, part in one.parts.items()},
        }
        for one in several
    ]


__all__ = ["answered_table", "as_json", "entry", "header"]
