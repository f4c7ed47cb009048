"""The agreement of the people who label, as tables and pictures of characters; pure.

Each section is made for the width there is. Signs and numbers carry everything; colour only repeats it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size
from rich.text import Text
from textual.content import Content

from workbench.domain.annotations import Codebook
from workbench.domain.counting import plural
from workbench.domain.seeds import SEED
from workbench.domain.verdicts import Estimate
from workbench.tui.format import bar, decimals, estimate, literal, percent, visible
from workbench.tui.widgets.record_table import Column, Record

if TYPE_CHECKING:
    from stores.labels import Judged
    from workbench.annotation.agreement import AgreementReport, AnnotatorCounts, GroupAgreement, PairAgreement

RESAMPLES = 1000
GROUPS_SHOWN = 5
"groups of a kind, the worst first"
REASONS_SHOWN = 3
SHADES = " ░▒▓█"
ABBREVIATED = 14
"columns a label takes in the matrix at most"

EXPLAIN = f"""Items with two labels or more count; attention items are left out. Intervals are seeded 95 % bootstraps \
over items (seed {SEED}, {RESAMPLES:,} resamples). n: items that a number rests on; left out: items that it could not \
use. `undefined` always comes with the reason: where all labels are equal, chance and agreement cannot be told apart.

percent       share of pairs of labels of an item that are equal. Does not correct for chance.
Cohen's κ     two people: agreement beyond what their own label counts would give by chance. 1 perfect, 0 chance.
Fleiss' κ     any number of people, also unequal numbers an item; chance from everybody's counts together.
Krippendorff  α: 1 - observed / expected disagreement, any number of people, with gaps. Nominal: labels differ or not. \
Ordinal: over the codebook's ordered labels, farther apart is worse; other labels count as missing.
Gwet's AC1    chance agreement that stays small where one label is frequent; κ falls there although people agree.

Per label: how likely another person gives the label that one gave. Groups: the worst first. Matrix: rows are the \
labels of the first person, columns those of the second; shade is the share of the row (░ up to 25, ▒ 50, ▓ 75, █ 100 \
%), the number is items. Off the diagonal is what is taken for what.

Attention: items whose right label is known. Bars: how often a person gives each label; one full bar is somebody who \
always presses the same key.

i goes to the items, Enter shows one with everybody's label under letters; o shows letters for names everywhere."""


@dataclass(frozen=True, slots=True)
class QueueAgreement:
    """All that the screen shows of a queue."""

    codebook: Codebook
    report: AgreementReport
    items: Mapping[int, Judged]
    attention: tuple[tuple[str, int, int], ...]


@dataclass(frozen=True, slots=True)
class Names:
    """What annotators are called on the screen: their names, or letters that do not follow the alphabet."""

    shown: Mapping[str, str]

    def __getitem__(self, annotator: str) -> str:
        return self.shown.get(annotator, "?")


def names(annotators: Sequence[str], *, hidden: bool) -> Names:
    """Return how annotators are called."""
    if not hidden:
        return Names({name: visible(name) for name in annotators})
    scattered = sorted(annotators, key=lambda name: blake2b(name.encode(), digest_size=8).digest())
    return Names({name: _letters(place) for place, name in enumerate(scattered)})


def _letters(place: int) -> str:
    letters = chr(ord("A") + place % 26)
    return letters if place < 26 else _letters(place // 26 - 1) + letters


def everybody(found: QueueAgreement) -> tuple[str, ...]:
    """Return all who labelled an item or an attention item."""
    return tuple(dict.fromkeys([*found.report.annotators, *(name for name, _, _ in found.attention)]))


def overview(found: QueueAgreement) -> str:
    """Return what was compared, in a sentence."""
    report = found.report
    people = plural(len(report.annotators), "annotator")
    if not report.annotators:
        return "Nobody has labelled anything in this queue yet."
    once = f"{report.labelled_once:,} labelled once only and left out"
    if not report.items:
        return f"Nothing to compare yet: {people}, no item with two labels; {once}."
    return f"{plural(report.items, 'item')} with two labels or more by {people}; {once}."


def coefficient_lines(found: QueueAgreement) -> Iterator[Content]:
    """Yield the coefficients over all items."""
    values = found.report.coefficients
    yield heading("Agreement over all items")
    for name, value in (
        ("percent agreement", values.percent),
        ("Fleiss' κ", values.fleiss),
        ("Krippendorff's α, nominal", values.alpha),
        ("Krippendorff's α, ordinal", values.alpha_ordinal),
        ("Gwet's AC1", values.ac1),
    ):
        yield Content(f"  {name:<27}{estimate(value)}{left_out(value)}")


def left_out(value: Estimate) -> str:
    """Return how many items a number could not use."""
    return f", {value.excluded:,} left out" if value.excluded else ""


def heading(title: str, note: str = "") -> Content:
    return Content.assemble((title, "bold"), (f"  {note}" if note else "", "$text-muted"))


def short(value: Estimate) -> str:
    """Return `0.58 [.41, .72]`, or `undefined`."""
    if not value.defined:
        return "undefined"
    interval = "" if math.isnan(value.low) else f" [{decimals(value.low)}, {decimals(value.high)}]"
    return f"{value.value:.2f}{interval}"


def two(value: Estimate) -> str:
    """Return `0.58`, or `undefined`."""
    return f"{value.value:.2f}" if value.defined else "undefined"


def fitted(text: str, width: int) -> str:
    """Return text in exactly `width` columns, cut with … where it is longer."""
    if cell_len(text) <= width:
        return set_cell_size(text, width)
    return set_cell_size(set_cell_size(text, max(0, width - 1)).rstrip() + "…", width)


def abbreviated(label: str, width: int) -> str:
    """Return a label in exactly `width` columns; a longer one keeps both its ends, which tell labels apart.

    Examples
    --------
    >>> abbreviated("economic-left", 9), abbreviated("economic-right", 9)
    ('econ…left', 'econ…ight')
    """
    if cell_len(label) <= width or not label.isascii():
        return fitted(label, width)
    tail = (width - 1) // 2
    return f"{label[: width - 1 - tail]}…{label[len(label) - tail :]}"


def why_undefined(values: Sequence[tuple[str, Estimate]]) -> Iterator[Content]:
    """Yield the reasons for every undefined number of a table, each with what it concerns."""
    by_reason: dict[str, list[str]] = {}
    for name, value in values:
        if not value.defined:
            by_reason.setdefault(value.undefined, []).append(name)
    for reason, concerned in by_reason.items():
        more = f" and {len(concerned) - REASONS_SHOWN:,} more" if len(concerned) > REASONS_SHOWN else ""
        yield Content.styled(f"  undefined: {reason} – {', '.join(concerned[:REASONS_SHOWN])}{more}", "$text-muted")


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> Iterator[Content]:
    """Yield a table whose first column takes what the others leave, up to what it needs."""
    sizes = [max(cell_len(row[n]) for row in (head, *rows)) for n in range(len(head))]
    sizes[0] = max(8, min(sizes[0], width - 2 - sum(size + 2 for size in sizes[1:])))
    for number, row in enumerate((head, *rows)):
        line = "  " + "  ".join(fitted(text, size) for text, size in zip(row, sizes, strict=True))
        yield Content.styled(line.rstrip(), "$text-muted") if number == 0 else Content(line.rstrip())


def pair_name(pair: PairAgreement, called: Names, room: int = 40) -> str:
    """Return `ana – bob`; long names are cut alike, so that both can be told."""
    both = (called[pair.first], called[pair.second])
    each = max(3, (room - 3) // 2)
    if sum(map(cell_len, both)) + 3 <= room:
        return " – ".join(both)
    return " – ".join(name if cell_len(name) <= each else fitted(name, each) for name in both)


def pair_lines(found: QueueAgreement, called: Names, width: int) -> Iterator[Content]:
    """Yield a row a pair of annotators."""
    pairs = found.report.pairs
    if not pairs:
        return
    yield heading("Pairs of annotators", "n: items that both labelled")
    roomy = width >= 100
    room = max(11, width - (67 if roomy else 54))
    named = [(pair_name(pair, called, room), pair) for pair in pairs]
    rows = [
        (
            name,
            short(pair.kappa),
            short(pair.percent) if roomy else two(pair.percent),
            short(pair.ac1),
            f"{pair.percent.n:,}",
        )
        for name, pair in named
    ]
    yield from _table(("", "Cohen's κ", "percent", "AC1", "n"), rows, width)
    yield from why_undefined([(name, pair.kappa) for name, pair in named])


def label_agreement_lines(found: QueueAgreement, width: int) -> Iterator[Content]:
    """Yield a row a label."""
    yield heading("Labels", "how likely another person gives it too")
    rows = [(visible(each.label), short(each.agreement), f"{each.used:,}") for each in found.report.per_label]
    yield from _table(("", "specific agreement", "given"), rows, width)
    yield from why_undefined([(visible(each.label), each.agreement) for each in found.report.per_label])


def group_lines(found: QueueAgreement, width: int, *, every: bool) -> Iterator[Content]:
    """Yield the groups of each kind, the worst first."""
    kinds = Counter(group.kind for group in found.report.groups)
    if not kinds or (not every and max(kinds.values()) == 1):
        return  # a group that holds all items says what stands above
    yield heading("Groups, the worst first", "" if every else "a shows all")
    for kind in kinds:
        of_kind = [group for group in found.report.groups if group.kind == kind]
        if every or len(of_kind) > 1:
            yield from _kind_lines(kind, of_kind, width, every=every)


def _kind_lines(kind: str, groups: Sequence[GroupAgreement], width: int, *, every: bool) -> Iterator[Content]:
    compared = sorted((group for group in groups if group.percent.defined), key=lambda group: group.percent.value)
    shown = compared if every else compared[:GROUPS_SHOWN]
    rows = [
        (visible(each.name), short(each.percent), short(each.alpha), short(each.ac1), f"{each.percent.n:,}")
        for each in shown
    ]
    yield from _table((kind, "percent", "α nominal", "AC1", "n"), rows, width)
    rest = [
        f"{len(compared) - len(shown):,} more" if len(compared) > len(shown) else "",
        f"{len(groups) - len(compared):,} without an item that two people labelled"
        if len(compared) < len(groups)
        else "",
    ]
    if any(rest):
        yield Content.styled(f"  {'; '.join(part for part in rest if part)}", "$text-muted")
    yield from why_undefined([(f"α of {visible(each.name)}", each.alpha) for each in shown])


def attention_lines(found: QueueAgreement, called: Names, width: int) -> Iterator[Content]:
    """Yield how many known items each annotator got right."""
    yield heading("Attention items", "whose right label is known; they count in no other number")
    if not found.attention:
        yield Content.styled("  Nobody has answered one yet.", "$text-muted")
        return
    rows = [
        (called[name], f"{right:,} of {answered:,} right", percent(right, answered))
        for name, right, answered in sorted(found.attention, key=lambda score: called[score[0]])
    ]
    yield from _table(("", "", ""), rows, width)


def distribution_lines(found: QueueAgreement, called: Names, width: int) -> Iterator[Content]:
    """Yield a row an annotator: how often each label was given, as bars and shares."""
    counts = sorted(found.report.annotator_counts, key=lambda each: called[each.annotator])
    if not counts:
        return
    yield heading("Labels given", "share of each annotator's labels")
    labels = [visible(label) for label in found.report.labels]
    wide = max(8, min(24, max(cell_len(called[each.annotator]) for each in counts), width // 5))
    room = (width - 2 - wide - 8) // max(1, len(labels)) - 2
    yield Content.styled(
        f"  {'':<{wide}}  {'n':>6}  " + "  ".join(abbreviated(label, room) for label in labels), "$text-muted"
    )
    for each in counts:
        yield Content(f"  {fitted(called[each.annotator], wide)}  {each.n:>6,}  " + "  ".join(_shares(each, room)))


def _shares(counts: AnnotatorCounts, room: int) -> Iterator[str]:
    for _, times in counts.labels:
        share = f"{percent(times, counts.n):>5}"
        length = min(20, room - len(share) - 1)
        yield fitted(f"{bar(times, counts.n, length)} {share}" if length > 1 else share, room)


def confusion_lines(found: QueueAgreement, called: Names, width: int, at: int) -> Iterator[Content]:
    """Yield the matrix of one pair: shade is the share of the row, the number is items."""
    pairs = found.report.pairs
    if not pairs:
        return
    pair = pairs[at % len(pairs)]
    others = f"; pair {at % len(pairs) + 1} of {len(pairs)}" if len(pairs) > 1 else ""
    room = max(6, (width - 56) // 2)
    first, second = (fitted(called[name], room).rstrip() for name in (pair.first, pair.second))
    yield heading("What is taken for what", f"rows {first}, columns {second}{others}")
    labels = [visible(label) for label in found.report.labels]
    wide = min(ABBREVIATED, max(map(cell_len, labels)))
    cell = max(6, min(ABBREVIATED, (width - wide - 12) // len(labels) - 1))
    yield Content.styled(
        f"  {'':<{wide}} " + " ".join(abbreviated(label, cell) for label in labels) + "    all", "$text-muted"
    )
    for label, row in zip(labels, pair.matrix, strict=True):
        line = f"  {abbreviated(label, wide)} " + " ".join(shaded(count, sum(row), cell) for count in row)
        yield Content(f"{line} {sum(row):>6,}")


def shaded(count: int, total: int, width: int) -> str:
    """Return a cell of the matrix: its shade and its number.

    Examples
    --------
    >>> shaded(3, 4, 8)
    '▓▓▓▓▓  3'
    >>> shaded(0, 4, 8)
    '       0'
    """
    shade = SHADES[math.ceil(4 * count / total)] if total else SHADES[0]
    number = f"{count:,}"
    room = max(1, width - max(3, len(number) + 1))
    return shade * room + number.rjust(width - room)


def item_columns(width: int) -> tuple[Column, ...]:
    """Return the columns of the items for a width."""
    given = 34 if width >= 110 else 26
    return (
        Column("agreeing", " equal", 7),
        Column("given", "labels", given),
        Column("state", "decided", 13),
        Column("ref", "statement", 16, least=110),
        Column("text", "text", None),
    )


def item_records(found: QueueAgreement, width: int) -> list[Record]:
    """Return the items on which people disagree, the least agreement first."""
    worst = sorted(found.report.per_item, key=lambda item: item.agreeing.value)
    given = item_columns(width)[1].width
    return [
        _item_record(found.items[each.item], each.agreeing.value, given)
        for each in worst
        if each.agreeing.value < 1 and each.item in found.items
    ]


def _item_record(item: Judged, agreeing: float, given: int | None) -> Record:
    context = item.context
    state = literal(f"✓ {item.gold}" if item.gold is not None else "· open", 12)
    return str(context.unit), (
        Text(f"{percent(agreeing):>6}"),
        literal(label_counts(item), (given or 26) - 1),
        state,
        literal(context.ref, 15),
        literal(context.text[:400]),
    )


def label_counts(item: Judged) -> str:
    """Return `2 agree, 1 neutral`, the most frequent first."""
    times = Counter(given.label for given in item.labels)
    return ", ".join(f"{n} {label}" for label, n in times.most_common())


def item_text(item: Judged, given: Sequence[tuple[str, str]], decision: str) -> str:
    """Return an item with all its labels, safe to print: `given` are (letter, what the person said)."""
    context = item.context
    parts = [
        "Statement",
        f"  {visible(context.statement, lines=True)}",
        "",
        "Labels",
        *(f"  {letter}  {said}" for letter, said in given),
        *(["", f"Decision: {decision}"] if decision else []),
        "",
        "Text that was labelled",
        f"  {visible(context.text, lines=True)}" if context.text else "  (empty)",
    ]
    return "\n".join(parts)
