"""Figures of the agreement of annotators: over all items, by pair, label, group and item."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from hashlib import blake2b

from workbench.annotation.agreement import (
    AgreementReport,
    AnnotatorCounts,
    GroupAgreement,
    ItemAgreement,
    LabelAgreement,
    PairAgreement,
)
from workbench.domain.names import plural
from workbench.domain.verdicts import Estimate
from workbench.figures.book import Book, Entry
from workbench.figures.pictures.of_table import Curves, Forest, Matrix, Stacked
from workbench.figures.table import AnyTable, Column, Kind, Link, Table

SCALE = (-1.0, 1.0)
SHARE = (0.0, 1.0)
HELP = {
    "percent": "share of equal pairs among the labels of an item; not corrected for chance",
    "kappa": "two people: agreement beyond chance, from each person's own label counts",
    "fleiss": "any number of people: chance from the pooled label counts",
    "alpha": "1 - observed / expected disagreement, any number of people, with gaps; labels are "
    "equal or not",
    "alpha_ordinal": "over the codebook's ordered labels; larger distances are worse; other "
    "labels count as missing",
    "ac1": "chance agreement that stays small if one label is frequent",
}
TITLES = {
    "percent": "percent agreement",
    "alpha": "Krippendorff's α, nominal",
    "alpha_ordinal": "Krippendorff's α, ordinal",
    "fleiss": "Fleiss' κ",
    "ac1": "Gwet's AC1",
}
TIMES = {"day": timedelta(days=1), "hour": timedelta(hours=1)}
"kinds of groups that are times"
NOBODY = "No item of the queue has two labels yet."


@dataclass(frozen=True, slots=True)
class LabelledItem:
    """The content of a labelled item, for those who look at it."""

    statement: str
    "ref"
    variant: str
    question: str
    "the statement's text"
    text: str
    "the labelled text"
    given: tuple[tuple[str, str, str, bool], ...]
    "(letter, label, note, flagged), without names"
    decided: str | None
    "the label that counts, or None while people disagree"
    decision: str = ""
    "the adjudicator's label with its reason"


@dataclass(frozen=True, eq=False)
class QueueAgreement:
    """The agreement of one queue, and the content of its items."""

    queue: str
    report: AgreementReport
    items: Mapping[int, LabelledItem] = field(default_factory=dict)
    attention: tuple[tuple[str, int, int], ...] = ()
    "(annotator, right, answered) of items whose right label is known"
    called: Mapping[str, str] = field(default_factory=dict)
    "letters that stand for names, or empty for the names"
    mixed: str = ""
    "a note that the labels were given under several versions of the codebook"

    def name(self, annotator: str) -> str:
        return self.called.get(annotator, annotator)

    def both(self, pair: PairAgreement) -> tuple[str, str]:
        """Return the displayed names of the two of a pair."""
        return self.name(pair.first), self.name(pair.second)

    @property
    def annotators(self) -> tuple[str, ...]:
        """All who labelled an item or an attention item."""
        return tuple(
            dict.fromkeys([*self.report.annotators, *(name for name, _, _ in self.attention)])
        )

    @property
    def lettered(self) -> QueueAgreement:
        """The same with letters for names, which do not follow the alphabet of the names."""
        scattered = sorted(
            self.annotators, key=lambda name: blake2b(name.encode(), digest_size=8).digest()
        )
        return replace(self, called={name: _letters(index) for index, name in enumerate(scattered)})

    @property
    def told(self) -> str:
        """The comparison, in a sentence."""
        report = self.report
        if not report.annotators:
            return f"{self.queue}: nobody has labelled anything yet."
        without_label = f" and {report.unlabelled:,} without a label" if report.unlabelled else ""
        left_out = f"left out: {report.labelled_once:,} labelled once{without_label}"
        people = plural(len(report.annotators), "annotator")
        sentence = (
            f"{self.queue}: {plural(report.items, 'item')} with two or more labels, by "
            f"{people}; {left_out}."
        )
        return f"{sentence} {self.mixed}".rstrip()


def _letters(place: int) -> str:
    letters = chr(ord("A") + place % 26)
    return letters if place < 26 else _letters(place // 26 - 1) + letters


def book(agreement: QueueAgreement) -> Book:
    """Return all figures of a queue.

    The detail of a pair is its matrix, that of an item all its labels.
    """
    empty_note = "" if agreement.report.items else NOBODY
    pairs = [agreement.both(pair) for pair in agreement.report.pairs]
    matrices = (
        [Entry("confusion", "confusions", partial(confusion, agreement), pairs)] if pairs else []
    )
    return Book(
        f"{agreement.queue}: agreement of annotators",
        [
            Entry(
                "coefficients", "over all items", partial(coefficients, agreement), empty=empty_note
            ),
            Entry("pairs", "pairs of annotators", partial(pair_table, agreement), empty=empty_note),
            Entry("labels", "labels", partial(labels, agreement), empty=empty_note),
            Entry("groups", "groups", partial(groups, agreement), empty=empty_note),
            Entry("items", "items", partial(items, agreement), empty=empty_note),
            Entry("attention", "attention items", partial(attention, agreement)),
            Entry("given", "labels given", partial(given, agreement)),
            *matrices,
            Entry("over_time", "over time", partial(over_time, agreement), empty=empty_note),
        ],
        behind={"confusion": partial(confusion, agreement), "item": partial(item, agreement)},
        told=[agreement.told],
        notes=[
            "Items with two or more labels count; attention items are left out. Intervals are "
            "seeded 95 % bootstraps over items."
        ],
        about={"queue": agreement.queue},
    )


def coefficients(agreement: QueueAgreement) -> Table[tuple[str, Estimate]]:
    """Return the coefficients over all items."""
    all_coefficients = agreement.report.coefficients
    return Table(
        "coefficients",
        "Agreement over all items",
        [(name, getattr(all_coefficients, name)) for name in TITLES],
        [
            Column("coefficient", "coefficient", lambda row: row[0], words=TITLES, least=25),
            Column("value", "value", lambda row: row[1], Kind.COEFFICIENT, scale=SCALE),
            Column("n", "items", lambda row: row[1].n, Kind.COUNT),
            Column("excluded", "left out", lambda row: row[1].excluded, Kind.COUNT),
            Column("means", "meaning", lambda row: HELP[row[0]], aside=True),
        ],
        key=lambda row: (row[0],),
        empty=NOBODY,
        pictures=[Forest(values=["value"], rows=["coefficient"])],
    )


def pair_table(agreement: QueueAgreement) -> Table[PairAgreement]:
    """Return a row for each pair of annotators."""
    return Table(
        "pairs",
        "Pairs of annotators",
        agreement.report.pairs,
        [
            Column("first", "first", lambda row: agreement.name(row.first)),
            Column("second", "second", lambda row: agreement.name(row.second)),
            Column(
                "kappa",
                "Cohen's κ",
                lambda row: row.kappa,
                Kind.COEFFICIENT,
                help=HELP["kappa"],
                scale=SCALE,
            ),
            Column(
                "percent",
                "percent",
                lambda row: row.percent,
                Kind.SHARE,
                help=HELP["percent"],
                scale=SHARE,
                aside=True,
            ),
            Column(
                "ac1", "AC1", lambda row: row.ac1, Kind.COEFFICIENT, help=HELP["ac1"], scale=SCALE
            ),
            Column("n", "items", lambda row: row.percent.n, Kind.COUNT, help="that both labelled"),
            Column(
                "excluded",
                "left out",
                lambda row: row.percent.excluded,
                Kind.COUNT,
                help="labelled by only one",
                aside=True,
            ),
        ],
        key=agreement.both,
        empty="Fewer than two people have labelled in this queue.",
        link=lambda row: Link("confusion", agreement.both(row)),
        pictures=[Forest(values=["kappa"], rows=["first", "second"])],
    )


def confusion(
    agreement: QueueAgreement, first: str, second: str
) -> Table[tuple[str, tuple[int, ...]]]:
    """Return the labels of one annotator against those of another.

    Rows are labels of the first, columns of the second.
    """
    pair = next(pair for pair in agreement.report.pairs if agreement.both(pair) == (first, second))

    def times(column: int) -> Callable[[tuple[str, tuple[int, ...]]], int]:
        return lambda row: row[1][column]

    def share(column: int) -> Callable[[tuple[str, tuple[int, ...]]], float | None]:
        return lambda row: row[1][column] / sum(row[1]) if sum(row[1]) else None

    return Table(
        "confusion",
        f"Confusions: rows {first}, columns {second}",
        list(zip(agreement.report.labels, pair.matrix, strict=True)),
        [
            Column("label", "", lambda row: row[0]),
            *(
                Column(
                    f"as_{label}",
                    label,
                    times(column),
                    Kind.COUNT,
                    help=f"items labelled {label} by the second",
                )
                for column, label in enumerate(agreement.report.labels)
            ),
            Column(
                "all",
                "all",
                lambda row: sum(row[1]),
                Kind.COUNT,
                help="items with this label by the first",
            ),
            *(
                Column(
                    f"share_{label}",
                    f"{label}, share",
                    share(column),
                    Kind.SHARE,
                    help=f"share of these items labelled {label} by the second",
                    aside=True,
                )
                for column, label in enumerate(agreement.report.labels)
            ),
        ],
        key=lambda row: (row[0],),
        subject=(first, second),
        pictures=[
            Matrix(
                columns=[f"as_{label}" for label in agreement.report.labels],
                shades=[f"share_{label}" for label in agreement.report.labels],
                rows=["label"],
                titles=(first, second),
            )
        ],
    )


def labels(agreement: QueueAgreement) -> Table[LabelAgreement]:
    """Return a row for each label."""
    return Table(
        "labels",
        "Labels",
        agreement.report.per_label,
        [
            Column("label", "label", lambda row: row.label),
            Column("used", "times", lambda row: row.used, Kind.COUNT, help="given, on any item"),
            Column(
                "agreement",
                "specific agreement",
                lambda row: row.agreement,
                Kind.SHARE,
                help="probability that another person gives the same label",
                scale=SHARE,
            ),
            Column("n", "items", lambda row: row.agreement.n, Kind.COUNT),
        ],
        key=lambda row: (row.label,),
        pictures=[Forest(values=["agreement"], rows=["label"])],
    )


def groups(agreement: QueueAgreement) -> Table[GroupAgreement]:
    """Return the groups of items of each kind, the least agreement first."""
    item_groups = [group for group in agreement.report.groups if group.kind not in TIMES]
    kinds = list(dict.fromkeys(group.kind for group in item_groups))

    def worst(group: GroupAgreement) -> tuple[int, bool, float]:
        return (
            kinds.index(group.kind),
            not group.percent.defined,
            group.percent.value if group.percent.defined else 0,
        )

    return Table(
        "groups",
        "Groups of items, least agreement first",
        sorted(item_groups, key=worst),
        [
            Column("kind", "kind", lambda row: row.kind),
            Column("name", "group", lambda row: row.name),
            Column(
                "percent",
                "percent",
                lambda row: row.percent,
                Kind.SHARE,
                help=HELP["percent"],
                scale=SHARE,
            ),
            Column(
                "alpha",
                "α nominal",
                lambda row: row.alpha,
                Kind.COEFFICIENT,
                help=HELP["alpha"],
                scale=SCALE,
            ),
            Column(
                "ac1",
                "AC1",
                lambda row: row.ac1,
                Kind.COEFFICIENT,
                help=HELP["ac1"],
                scale=SCALE,
                aside=True,
            ),
            Column(
                "fleiss",
                "Fleiss' κ",
                lambda row: row.fleiss,
                Kind.COEFFICIENT,
                help=HELP["fleiss"],
                aside=True,
            ),
            Column(
                "n",
                "n",
                lambda row: row.percent.n,
                Kind.COUNT,
                help="items with two or more labels",
            ),
            Column(
                "items", "items", lambda row: row.items, Kind.COUNT, help="in the group", aside=True
            ),
        ],
        key=lambda row: (row.kind, row.name),
        empty="The items of this queue have no groups.",
        pictures=[Forest(values=["percent"], rows=["kind", "name"])],
    )


def over_time(agreement: QueueAgreement) -> Table[GroupAgreement]:
    """Return the agreement on the items of each day, or each hour.

    Rows are in the order of labelling.
    """
    rows = sorted(
        (group for group in agreement.report.groups if group.kind in TIMES),
        key=lambda group: group.name,
    )
    kind = rows[0].kind if rows else "day"
    moments = {group.name: datetime.fromisoformat(group.name) for group in rows}
    first, step = min(moments.values(), default=datetime.min), TIMES[kind]
    return Table(
        "over_time",
        "Agreement over time",
        rows,
        [
            Column(
                "when",
                kind,
                lambda row: row.name.replace("T", " ") + (" h" if kind == "hour" else ""),
                help="UTC",
            ),
            Column(
                "since",
                f"{kind}s since the first",
                lambda row: (moments[row.name] - first) // step,
                Kind.COUNT,
            ),
            Column(
                "percent",
                "percent",
                lambda row: row.percent,
                Kind.SHARE,
                help=HELP["percent"],
                scale=SHARE,
            ),
            Column(
                "alpha",
                "α nominal",
                lambda row: row.alpha,
                Kind.COEFFICIENT,
                help=HELP["alpha"],
                scale=SCALE,
            ),
            Column(
                "ac1", "AC1", lambda row: row.ac1, Kind.COEFFICIENT, help=HELP["ac1"], scale=SCALE
            ),
            Column(
                "n",
                "n",
                lambda row: row.percent.n,
                Kind.COUNT,
                help="items with two or more labels",
            ),
            Column(
                "items",
                "items",
                lambda row: row.items,
                Kind.COUNT,
                help="labelled at that time",
                aside=True,
            ),
        ],
        key=lambda row: (row.name,),
        definition=f"An item belongs to the {kind} of its latest label. The table shows days if "
        "the labels span "
        "several, otherwise hours.",
        empty=NOBODY,
        pictures=[Curves(x="since", values=["alpha", "ac1"], axis="agreement")],
    )


def items(agreement: QueueAgreement) -> Table[ItemAgreement]:
    """Return the items that two people or more labelled, the least agreement first."""
    has_contents = bool(agreement.items)
    content_columns: list[Column[ItemAgreement]] = [
        Column("decided", "decided", lambda row: agreement.items[row.item].decided),
        Column(
            "statement",
            "statement",
            lambda row: agreement.items[row.item].statement,
            main=True,
            aside=True,
        ),
        Column("text", "text", lambda row: agreement.items[row.item].text, aside=True),
    ]
    return Table(
        "items",
        "Items, least agreement first",
        sorted(agreement.report.per_item, key=lambda row: row.agreeing.value),
        [
            Column("item", "item", lambda row: str(row.item)),
            Column(
                "agreeing",
                "equal",
                lambda row: row.agreeing,
                Kind.SHARE,
                help="share of its pairs of labels",
            ),
            Column("pairs", "pairs", lambda row: row.agreeing.n, Kind.COUNT, aside=has_contents),
            Column("counts", "labels", _counts, Kind.WORDS, help="how many people gave each label"),
            Column(
                "given",
                "labels by person",
                partial(_labels_by_person, agreement),
                Kind.WORDS,
                aside=has_contents,
            ),
            Column("ac1", "AC1", lambda row: row.ac1, Kind.COEFFICIENT, aside=True),
            Column("kappa", "κ", lambda row: row.kappa, Kind.COEFFICIENT, aside=True),
            *(content_columns if has_contents else ()),
        ],
        key=lambda row: (str(row.item),),
        empty=NOBODY,
        link=(lambda row: Link("item", (str(row.item),))) if has_contents else None,
    )


def _labels_by_person(agreement: QueueAgreement, row: ItemAgreement) -> list[str]:
    return [f"{agreement.name(name)} {label}" for name, label in row.labels]


def _counts(row: ItemAgreement) -> list[str]:
    """Return `2 agree 1 neutral`, the most frequent first."""
    return [
        f"{count} {label}"
        for label, count in Counter(label for _, label in row.labels).most_common()
    ]


def item(agreement: QueueAgreement, unit: str) -> Table[tuple[str, str, str, bool]]:
    """Return all labels of an item. Letters stand for the names of the annotators."""
    labelled = agreement.items[int(unit)]
    return Table(
        "item",
        f"{labelled.statement} · {labelled.variant}: {labelled.question}",
        labelled.given,
        [
            Column("who", "who", lambda row: row[0]),
            Column("label", "label", lambda row: row[1]),
            Column("flagged", "", lambda row: row[3], Kind.MARK, mark="⚑"),
            Column("note", "note", lambda row: row[2], Kind.PROSE),
        ],
        key=lambda row: (row[0],),
        definition=labelled.text or "(empty)",
        notes=[f"decision: {labelled.decision}"] if labelled.decision else [],
        subject=(unit,),
    )


def attention(agreement: QueueAgreement) -> Table[tuple[str, int, int]]:
    """Return the number of items with a known label that each annotator got right."""
    return Table(
        "attention",
        "Attention items",
        sorted(agreement.attention, key=lambda row: agreement.name(row[0])),
        [
            Column("annotator", "annotator", lambda row: agreement.name(row[0])),
            Column("right", "right", lambda row: row[1], Kind.COUNT),
            Column("answered", "answered", lambda row: row[2], Kind.COUNT),
            Column(
                "share",
                "share",
                lambda row: row[1] / row[2] if row[2] else None,
                Kind.SHARE,
                scale=SHARE,
            ),
        ],
        key=lambda row: (agreement.name(row[0]),),
        definition="Their correct label is known; no other figure counts them.",
        empty="No attention item has labels yet.",
    )


def given(agreement: QueueAgreement) -> Table[AnnotatorCounts]:
    """Return the number of times that each annotator gave each label.

    A share of 100 % is that of somebody who always presses the same key.
    """

    def share(position: int) -> Callable[[AnnotatorCounts], float | None]:
        return lambda row: row.labels[position][1] / row.n if row.n else None

    def times(position: int) -> Callable[[AnnotatorCounts], int]:
        return lambda row: row.labels[position][1]

    label_columns: list[Column[AnnotatorCounts]] = []
    for column, label in enumerate(agreement.report.labels):
        label_columns += [
            Column(f"share_{label}", label, share(column), Kind.SHARE, scale=SHARE),
            Column(f"times_{label}", f"{label}, times", times(column), Kind.COUNT, aside=True),
        ]
    return Table(
        "given",
        "Labels that each annotator gave",
        sorted(agreement.report.annotator_counts, key=lambda row: agreement.name(row.annotator)),
        [
            Column("annotator", "annotator", lambda row: agreement.name(row.annotator)),
            Column("n", "items", lambda row: row.n, Kind.COUNT),
            *label_columns,
            Column("favourite", "most often", lambda row: row.favourite[0], aside=True),
            Column(
                "favourite_share",
                "share of it",
                lambda row: row.favourite[1],
                Kind.SHARE,
                aside=True,
            ),
        ],
        key=lambda row: (agreement.name(row.annotator),),
        empty="Nobody has labelled anything in this queue yet.",
        pictures=[
            Stacked(
                values=[f"share_{label}" for label in agreement.report.labels],
                rows=["annotator"],
                axis="share of labels",
            )
        ],
    )


def printed(agreement: QueueAgreement, *, with_items: bool, every: bool) -> Sequence[AnyTable]:
    """Return the tables that the command line shows, or with `every` all tables, for programs."""
    tables: list[AnyTable] = [coefficients(agreement), pair_table(agreement), labels(agreement)]
    if with_items or every:
        tables.append(items(agreement))
    if every:
        matrices = [confusion(agreement, *agreement.both(pair)) for pair in agreement.report.pairs]
        tables += [
            groups(agreement),
            attention(agreement),
            given(agreement),
            *matrices,
            over_time(agreement),
        ]
    return tables
