"""The first header lines of an audit's figures: how much of the plan was answered, and the kinds of answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from stores.runs.settlements import Spared
from workbench.domain.counting import plural
from workbench.evidence.answered import (
    BELOW,
    FOREIGN,
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
"most models named in a header"
WORDS = {
    UNREAD: "not read yet",
    UNREADABLE: "unreadable",
    INVALID: "no offered letter",
    BELOW: "read with too little confidence",
    UNRELATED: "unrelated",
    REFUSED: "refused",
    TRUNCATED: "cut off in thought",
    FOREIGN: "in another language",
}
ALWAYS = {UNREADABLE, INVALID, REFUSED, TRUNCATED}
"kinds that are shown even if there are none"
HELP = {
    UNREAD: "answers without a reading; no figure counts them",
    UNREADABLE: "answers without a stance, including refusals",
    INVALID: "answers without an offered letter; they are drawn again",
    BELOW: "answers read with a confidence below the threshold; no figure counts them",
    UNRELATED: "answers about something else; no figure counts them",
    REFUSED: "answers that decline to answer, by a rule of words; see the table of refusals",
    TRUNCATED: "answers that end while the model is thinking, before it answers",
    FOREIGN: "answers in another language than their prompts, whatever they say: `workbench help languages`",
}


def header(several: Sequence[Answered]) -> tuple[str, ...]:
    """Return the header lines: first warnings about missing answers, then the kinds of answers.

    Examples
    --------
    >>> from workbench.evidence.answered import Part
    >>> part = Answered("m", 5760, 1323, job="job 3 was cancelled").with_parts(unreadable=Part(53, 1323))
    >>> for line in header([part]):
    ...     print(line)
    ! Only 23.0 % of the plan was answered (1,323 of 5,760 answers): job 3 was cancelled.
    Of 1,323 answers: unreadable 4.0 %.
    """
    return (*_missing(several), *_came(several), *_settled(several))


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
        yield f"{WARNS}The same is true of {plural(len(parts) - SHOWN, 'more model')}: see the table of answers."


def settled_words(spared: Spared, optimum: float = float("nan")) -> str:
    """Return the share of the answers that prompts asked until settled needed, and the least possible share.

    Examples
    --------
    >>> settled_words(Spared(20, 18, 480, 600, 116), 0.79)
    '18 of 20 prompts were settled before all answers were drawn: 480 of 600 answers (80.0 %; 79.0 % would do on \
average if every answer were looked at before the next is drawn)'
    """
    best = (
        f"; {number(optimum, Kind.SHARE)} would do on average if every answer were looked at before the next is drawn"
    )
    return (
        f"{spared.settled:,} of {plural(spared.prompts, 'prompt')} were settled before all answers were drawn: "
        f"{spared.drawn:,} of {spared.planned:,} answers ({number(spared.drawn / spared.planned, Kind.SHARE)}"
        f"{best if optimum == optimum else ''})"
    )


NEED_ALL = (
    "Verdicts and stances are those of all planned answers. Shares of answers and their intervals are of the answers "
    "drawn, where prompts that are hard to settle have more: not estimates of a full run"
)
"the meaning of figures for prompts asked until settled"


def _settled(several: Sequence[Answered]) -> Iterator[str]:
    """Yield notes on saved answers, the rule, and the meaning of figures."""
    there = [one for one in several if one.spared is not None]
    for one in there[:SHOWN]:
        assert one.spared is not None
        whom = f"{one.name}: asked" if len(several) > 1 else "Asked"
        rules = "; ".join(by.describe() for by in one.spared.rules)
        yield f"{whom} until settled ({rules}): {settled_words(one.spared, one.optimum)}."
    if there:
        yield f"{NEED_ALL}."


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
    """Return whether a header shows a kind of answers; kinds that every audit has are shown even if there are none."""
    parts = [one.parts[name] for one in several if name in one.parts]
    return any(part.count for part in parts) or (bool(parts) and name in ALWAYS)


def _share(name: str, several: Sequence[Answered]) -> str:
    """Return the share of a kind of answers and, if several models differ, the model with the largest share."""
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
        "Answers received",
        several,
        [
            Column("model", "model", lambda row: row.name),
            Column("share", "of the plan", lambda row: row.share, Kind.SHARE, scale=(0.0, 1.0),
                   help="answers received, of those planned; the plan of a started job stays the plan"),
            Column("answered", "came", lambda row: row.answered, Kind.COUNT),
            Column("planned", "planned", lambda row: row.planned, Kind.COUNT),
            Column("unit", "counted", lambda row: row.unit, aside=True),
            *(_column(name) for name in there),
            *([_SETTLED, _OPTIMUM] if any(one.spared is not None for one in several) else []),
            Column("failed", "failed", lambda row: row.failed, Kind.COUNT, aside=True),
            Column("missing_because", "missing because", lambda row: row.job or None),
        ],
        key=lambda row: (row.name,),
        definition="Planned answers that were received, and the shares without a stance. Shares overlap: a "
        "refusal is also unreadable.",
        empty="No model was asked here.",
    )  # fmt: skip


_SETTLED: Column[Answered] = Column(
    "settled", "not needed", lambda row: row.settled, Kind.COUNT,
    help="answers that were not drawn, as the verdicts of their prompts were settled",
)  # fmt: skip


_OPTIMUM: Column[Answered] = Column(
    "optimum", "least possible", lambda row: row.optimum, Kind.SHARE,
    help="share of the plan that prompts asked until settled take on average where one looks after every answer, "
    "enumerated for the shares of each prompt's answers",
)  # fmt: skip


def _column(name: str) -> Column[Answered]:
    def share(row: Answered) -> float | None:
        return row.parts[name].share if name in row.parts else None

    return Column(name, WORDS[name], share, Kind.SHARE, help=HELP[name])


def entry(several: Sequence[Answered]) -> Entry:
    """Return the table for a book."""
    return Entry("answered", "answers received", lambda: answered_table(several))


def as_json(several: Sequence[Answered]) -> list[dict[str, Any]]:
    """Return the figures as plain values."""
    return [
        {
            "model": one.name,
            "unit": one.unit,
            "planned": one.planned,
            "answered": one.answered,
            "partial": one.partial,
            "missing_because": one.job or None,
            "failed": one.failed,
            **({} if one.spared is None else {"until_settled": _settled_json(one, one.spared)}),
            **{name: {"count": part.count, "of": part.of} for name, part in one.parts.items()},
        }
        for one in several
    ]


def _settled_json(one: Answered, spared: Spared) -> dict[str, Any]:
    share = spared.drawn / spared.planned if spared.planned else None
    return {
        "prompts": spared.prompts,
        "settled": spared.settled,
        "drawn": spared.drawn,
        "planned": spared.planned,
        "not_needed": spared.left,
        "share_drawn": share,
        "share_optimum": one.optimum if one.optimum == one.optimum else None,
        "rules": [asdict(by) for by in spared.rules],
        "figures": NEED_ALL,
    }


__all__ = ["answered_table", "as_json", "entry", "header"]
