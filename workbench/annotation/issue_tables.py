"""Figures of labels of policy issues: agreement per issue, labels that count, and annotators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from workbench.annotation.issues import (
    AnnotatorCount,
    AnnotatorPair,
    Case,
    IssueAgreement,
    IssueReport,
    LabelStanding,
    anonymous,
)
from workbench.domain.instruments import FEWEST, IssueDefinition
from workbench.domain.names import plural
from workbench.figures.book import Book, Entry
from workbench.figures.table import Column, Kind, Link, Table, in_words

SCALE = (-1.0, 1.0)
LISTS = ("ties", "where people differ", "all")
"the selections of cases in a list"
SIGNS = {1: "+1", 0: "0", -1: "-1"}
LABEL = (
    "+1: agreeing supports the issue; -1: disagreeing supports it; 0: the statement is not "
    "related to it"
)
STANDINGS = {
    LabelStanding.ADJUDICATED: "decided here",
    LabelStanding.SOURCE: "the source's own label",
    LabelStanding.MAJORITY: "more than half of the annotators",
    LabelStanding.TIED: "the annotators' labels tie",
    LabelStanding.FEW: "too few annotators",
}


@dataclass(frozen=True, eq=False)
class IssueFigures:
    """The labels and definitions of the policy issues of an instrument."""

    instrument: str
    definitions: Sequence[IssueDefinition]
    texts: Mapping[str, str]
    "ref -> statement"
    report: IssueReport
    whose: str = "gold"
    "gold: a source's own labels count before people's"

    @property
    def told(self) -> tuple[str, ...]:
        """The labelled statements, and the labels that count."""
        report = self.report
        counts = (
            "A source's own labels count before people's."
            if self.whose == "gold"
            else "Only people's labels and decisions count."
        )
        single_annotator_note = (
            f" Of {plural(report.golds, 'gold label')}, {report.by_one:,} rest on a single "
            "annotator."
            if report.golds and report.fewest < FEWEST
            else ""
        )
        outside_notes = (
            [f"Labels on issues outside the scheme: {report.outside:,}; kept, but left out here."]
            if report.outside
            else []
        )
        return (
            f"{self.instrument}: {report.statements:,} statements, {len(self.definitions)} "
            f"policy issues. {LABEL}.",
            f"{counts} {needed_words(report.fewest)}{single_annotator_note}",
            *outside_notes,
        )

    @property
    def about(self) -> dict[str, object]:
        report = self.report
        return {
            "instrument": self.instrument,
            "statements": report.statements,
            "whose": self.whose,
            "outside": report.outside,
            "ties": report.ties,
            "fewest": report.fewest,
            "gold": report.golds,
            "gold_by_one_labeller": report.by_one,
        }


def needed_words(fewest: int) -> str:
    """Return when people's labels become gold.

    Examples
    --------
    >>> needed_words(1)
    "People's labels become gold if more than half agree; a single annotator's labels count."
    """
    if fewest == 1:
        return (
            "People's labels become gold if more than half agree; a single annotator's labels "
            "count."
        )
    return (
        f"People's labels become gold if at least {fewest} people labelled the cell and more "
        "than half of them agree."
    )


def book(figures: IssueFigures) -> Book:
    """Return all figures. The details of an issue are its statements, without names."""
    return Book(
        f"{figures.instrument}: policy issues",
        [
            Entry("issues", "agreement per issue", partial(agreement, figures)),
            Entry("ties", "ties to decide", partial(ties, figures)),
            Entry("cases", "labels that count", partial(cases, figures)),
            Entry("definitions", "definitions of issues", partial(definitions, figures)),
            Entry("annotators", "annotators", partial(annotators, figures)),
            Entry("pairs", "pairs of annotators", partial(pairs, figures)),
        ],
        behind={"cases": partial(cases, figures)},
        told=figures.told,
        about=figures.about,
    )


def definitions(figures: IssueFigures) -> Table[IssueDefinition]:
    """Return the meaning of each issue."""
    return Table(
        "definitions",
        "Policy issues",
        figures.definitions,
        [
            Column("name", "issue", lambda row: row.name),
            Column("title", "title", lambda row: row.title),
            Column(
                "definition", "supporting it means", lambda row: row.definition or "not defined"
            ),
        ],
        key=lambda row: (row.name,),
        empty=f"{figures.instrument} has no policy issues yet. Add some: workbench issues STORE "
        "--scheme smartvote",
    )


def agreement(figures: IssueFigures) -> Table[IssueAgreement]:
    """Return the agreement of annotators on each issue.

    See Ceron et al. 2024, Table 3 of version 1 and Table 1.
    """

    def sign(name: str, label: int) -> Column[IssueAgreement]:
        title, help_text = (
            ("gold", "statements with this gold label")
            if name == "gold"
            else ("given", "labels given")
        )
        return Column(
            f"{name}_{('minus', 'none', 'plus')[label + 1]}",
            f"{title} {SIGNS[label]}",
            lambda row: getattr(row, name)[label + 1],
            Kind.COUNT,
            help=help_text,
            aside=name == "given",
        )

    return Table(
        "issues",
        "Agreement per issue",
        figures.report.issues,
        [
            Column(
                "issue",
                "issue",
                lambda row: row.issue,
                words=in_words(row.issue for row in figures.report.issues),
            ),
            Column("ties", "ties", lambda row: row.ties, Kind.COUNT, help="statements to decide"),
            *_kappa_columns(),
            *_percent_columns(),
            *(sign("given", label) for label in (1, 0, -1)),
            *(sign("gold", label) for label in (1, 0, -1)),
            Column(
                "decided",
                "decided",
                lambda row: row.decided,
                Kind.COUNT,
                aside=True,
                help="statements",
            ),
        ],
        key=lambda row: (row.issue,),
        definition="Over the labels -1, 0 and +1 that annotators gave. Intervals: 95 %, by "
        "bootstrap over statements.",
        empty="No policy issues yet.",
        link=lambda row: Link("cases", (row.issue,)),
        detail=lambda row: [
            f"{definition.title or definition.name}: {definition.definition}"
            for definition in figures.definitions
            if definition.name == row.issue and definition.definition
        ],
    )


def _kappa_columns() -> list[Column[IssueAgreement]]:
    """Return the columns of the coefficients of agreement."""
    return [
        Column(
            "cohen",
            "mean Cohen's κ",
            lambda row: row.cohen.mean,
            Kind.COEFFICIENT,
            help="over the pairs of annotators (arXiv version 1, Table 3)",
            short="Cohen",
            scale=SCALE,
        ),
        Column(
            "sd",
            "sd",
            lambda row: row.cohen.sd,
            Kind.COEFFICIENT,
            help="over the pairs of annotators",
            aside=True,
        ),
        Column(
            "cohen_pairs",
            "pairs",
            lambda row: row.cohen.defined,
            Kind.COUNT,
            help="with a κ",
            aside=True,
        ),
        Column(
            "fleiss",
            "Fleiss' κ",
            lambda row: row.fleiss,
            Kind.COEFFICIENT,
            help="of all annotators at once (journal version, Table 1)",
            short="Fleiss",
            scale=SCALE,
        ),
        Column(
            "alpha",
            "α",
            lambda row: row.alpha,
            Kind.COEFFICIENT,
            help="Krippendorff's, nominal",
            aside=True,
        ),
    ]


def _percent_columns() -> list[Column[IssueAgreement]]:
    """Return the columns of the share of equal labels, and of its statements."""
    return [
        Column(
            "percent",
            "equal",
            lambda row: row.percent,
            Kind.SHARE,
            help="pairs of equal labels",
            aside=True,
        ),
        Column(
            "n",
            "n",
            lambda row: row.fleiss.n,
            Kind.COUNT,
            help="statements with two labels or more",
        ),
    ]


def pairs(figures: IssueFigures) -> Table[tuple[str, AnnotatorPair]]:
    """Return κ of each pair of annotators on each issue."""
    return Table(
        "pairs",
        "Pairs of annotators",
        [(issue.issue, pair) for issue in figures.report.issues for pair in issue.cohen.pairs],
        [
            Column(
                "issue",
                "issue",
                lambda row: row[0],
                words=in_words(row.issue for row in figures.report.issues),
            ),
            Column("first", "first", lambda row: row[1].first),
            Column("second", "second", lambda row: row[1].second),
            Column("kappa", "Cohen's κ", lambda row: row[1].kappa, Kind.COEFFICIENT, scale=SCALE),
            Column(
                "n",
                "n",
                lambda row: row[1].kappa.n,
                Kind.COUNT,
                help="statements that both labelled",
            ),
            Column("excluded", "left out", lambda row: row[1].kappa.excluded, Kind.COUNT),
        ],
        key=lambda row: (row[0], row[1].first, row[1].second),
        empty="No two people have labelled statements for issues yet.",
    )


def annotators(figures: IssueFigures) -> Table[AnnotatorCount]:
    """Return the progress of each annotator."""
    return Table(
        "annotators",
        "Annotators",
        figures.report.annotators,
        [
            Column("annotator", "annotator", lambda row: row.annotator),
            Column("labels", "labels", lambda row: row.labels, Kind.COUNT),
            Column(
                "complete",
                "statements done",
                lambda row: row.complete,
                Kind.COUNT,
                help="under every issue",
            ),
            Column("statements", "of", lambda row: figures.report.statements, Kind.COUNT),  # noqa: ARG005  one number
        ],
        key=lambda row: (row.annotator,),
        empty="Nobody has labelled statements for issues here yet; the source's own labels do "
        "not count as a person's.",
    )


def ties(figures: IssueFigures) -> Table[Case]:
    """Return the cases that somebody has to decide."""
    table = case_table(
        figures, "ties", "Ties to decide", chosen(figures.report.cases, 0), "No ties to decide."
    )
    return replace(table, link=lambda row: Link("cases", (row.issue,)))


def cases(figures: IssueFigures, issue: str = "") -> Table[Case]:
    """Return the labels of the statements that people labelled, ties first.

    They are those of one issue, or of all issues.
    """
    selected = chosen(
        [case for case in figures.report.cases if not issue or case.issue == issue], -1
    )
    title = f"Labels of {issue}" if issue else "Labels"
    return case_table(
        figures, "cases", title, selected, "No labels for this issue yet.", *filter(None, (issue,))
    )


def chosen(cases: Sequence[Case], which: int) -> list[Case]:
    """Return the cases of one of `LISTS`.

    Ties come first, then decisions, then cases where people differ, then the rest.
    """
    selected = [case for case in cases if case.labels or case.adjudicated is not None]
    if LISTS[which] == "ties":
        selected = [case for case in selected if case.open]
    elif LISTS[which] == "where people differ":
        selected = [case for case in selected if case.differs or case.adjudicated is not None]
    return sorted(
        selected, key=lambda case: (not case.open, case.adjudicated is None, not case.differs)
    )


def nothing_listed(which: int, cases: Sequence[Case]) -> str:
    """Return the reason why one of `LISTS` has no case."""
    labelled = [case for case in cases if case.labels]
    if not labelled:
        return "No labels for this issue yet."
    if not any(len(case.labels) > 1 for case in labelled):
        return "No disagreements: only one person has labelled each statement so far."
    if LISTS[which] == "ties":
        return "Nothing to decide: there are no ties, or every tie is decided. x shows more."
    return "No disagreements on any statement with two labels. x shows all."


def case_table(
    figures: IssueFigures,
    name: str,
    title: str,
    cases_shown: Sequence[Case],
    empty: str,
    *subject: str,
) -> Table[Case]:
    """Return cases as a table.

    Letters are assigned anew for every statement and issue: A of one row is nobody in particular.
    """
    meanings = {
        definition.name: f"{definition.title or definition.name}: {definition.definition}"
        for definition in figures.definitions
        if definition.definition
    }
    return Table(
        name,
        title,
        cases_shown,
        [
            Column("statement", "statement", lambda row: row.statement),
            Column(
                "issue",
                "issue",
                lambda row: row.issue,
                words=in_words(row.issue for row in cases_shown),
            ),
            Column(
                "labels", "labels", _letters, Kind.WORDS, help="letters, which differ between rows"
            ),
            Column(
                "source",
                "source",
                lambda row: row.source,
                Kind.BALANCE,
                help="the source's own label",
            ),
            Column(
                "gold", "counts", lambda row: row.gold, Kind.BALANCE, help="the label that counts"
            ),
            Column("standing", "because", lambda row: STANDINGS[row.standing], aside=True),
            Column(
                "open",
                "to decide",
                lambda row: row.open,
                Kind.MARK,
                mark="◆",
                help="the labels tie",
            ),
            Column("text", "text", lambda row: figures.texts.get(row.statement, "")),
        ],
        key=lambda row: (row.statement, row.issue),
        empty=empty,
        detail=lambda row: [
            text for text in (figures.texts.get(row.statement), meanings.get(row.issue)) if text
        ],
        subject=subject,
    )


def _letters(row: Case) -> list[str]:
    return [f"{letter} {SIGNS[label]}" for letter, label in anonymous(row)]


Gold = tuple[str, Mapping[str, int]]


def gold(gold_labels_by_statement: Sequence[Gold]) -> Table[Gold]:
    """Return the statements that bear on an issue, by the labels that count."""
    related = [entry for entry in gold_labels_by_statement if any(entry[1].values())]
    return Table(
        "gold",
        "Labels that count",
        related,
        [
            Column("statement", "statement", lambda row: row[0]),
            Column(
                "supports", "agreeing supports", lambda row: _issues_with_label(row, 1), Kind.WORDS
            ),
            Column(
                "opposes",
                "disagreeing supports",
                lambda row: _issues_with_label(row, -1),
                Kind.WORDS,
            ),
        ],
        key=lambda row: (row[0],),
        notes=[
            f"Statements related to an issue: {len(related):,}; unrelated to all: "
            f"{len(gold_labels_by_statement) - len(related):,}."
        ],
        empty="No statement is related to an issue.",
    )


def _issues_with_label(row: Gold, sign: int) -> list[str]:
    """Return the issues for which a statement has this label."""
    return [issue for issue, label in row[1].items() if label == sign]


def gold_labels(gold_labels_by_statement: Sequence[Gold]) -> Table[tuple[str, str, int]]:
    """Return the table of every gold label, one per row."""
    return Table(
        "gold_labels",
        "Labels that count, one per row",
        [
            (ref, issue, label)
            for ref, labels in gold_labels_by_statement
            for issue, label in labels.items()
        ],
        [
            Column("statement", "statement", lambda row: row[0]),
            Column(
                "issue",
                "issue",
                lambda row: row[1],
                words=in_words(issue for _, labels in gold_labels_by_statement for issue in labels),
            ),
            Column("label", "label", lambda row: row[2], Kind.BALANCE, help=LABEL),
        ],
        key=lambda row: (row[0], row[1]),
        empty="No label counts yet.",
    )
