"""All figures of the left/right bias, as the command line and the screen of results have them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from workbench.audits.bias_score import compared_tables as comparing
from workbench.audits.bias_score import components as parts
from workbench.audits.bias_score import factor_tables as factors
from workbench.audits.bias_score import tables as tables
from workbench.audits.bias_score.columns import selected
from workbench.audits.bias_score.judge import Report
from workbench.audits.bias_score.methods import methods
from workbench.audits.bias_score.prefix_changes import BASELINE
from workbench.audits.bias_score.selection import Selection
from workbench.domain.statements import Dimension
from workbench.figures.book import Book, Entry
from workbench.figures.table import AnyTable

TITLE = "Left/right bias"
NO_BASELINE = (
    f"The run has no prefix {BASELINE}, the statement alone.\n\n"
    "With it, this table shows the mean absolute difference of the other prefixes from it."
)
ONE_MODEL = "Only one model.\n\nWith a second model, this table shows how many prompts both were asked."


def book(
    report: Report,
    *,
    dimension: Dimension | None = None,
    texts: Mapping[str, str] | None = None,
    answers: Callable[[str, str, Selection], AnyTable] | None = None,
) -> Book:
    """Return the figures of a report. An entry that is called without a subject is about all models.

    Parameters
    ----------
    dimension : of the statements that the tables are about, except the plane and `asked`; None: both
    texts : statement -> its original wording
    answers : returns a model's answers to a statement within a selection; None: nothing leads to answers
    """
    known, names = texts or {}, report.tally.models
    each = tuple((name,) for name in names)
    chosen = ("dimension",)
    one_author = "" if factors.pairs_of_authors(report) else factors.ONE_AUTHOR

    def statements(model: str = "") -> AnyTable:
        of = [(name, Selection(dimension)) for name in ((model,) if model else names)]
        return tables.statements(report, of, known, (model,) if model else ())

    def behind_one(model: str, *parts: str) -> AnyTable:
        return tables.statements(report, [(model, selected(parts))], known, (model, *parts))

    def about(name: str, title: str, make: Callable[..., AnyTable], empty: str = "") -> Entry:
        """Return an entry about one model at a time."""
        made = partial(make, report, dimension)
        return Entry(name, title, made, each, chosen, empty, whole=made)

    behind: dict[str, Callable[..., AnyTable]] = {
        "statements": behind_one,
        "prefixes": partial(tables.prefixes, report, dimension),
    }
    if answers is not None:
        behind["answers"] = lambda model, ref, *parts: answers(model, ref, selected(parts))
    contents = [
        *_positions(report, dimension),
        about("prefixes", "prefixes", tables.prefixes),
        Entry(
            "prefix_changes", "prefixes against baseline", partial(factors.changes, report, dimension),
            choices=chosen, empty="" if BASELINE in report.tally.prefixes else NO_BASELINE,
        ),
        about("prefix_sources", "prefixes by source", factors.prefix_sources),
        about("wordings", "wordings", tables.wordings),
        about("authors", "authors", tables.authors),
        about("author_differences", "authors compared", factors.author_differences, one_author),
        about("sources", "sources", tables.sources),
        about("source_differences", "sources compared", comparing.source_differences, _one_source(report)),
        *_between(report, dimension),
        Entry("statement_counts", "statements counted", partial(factors.statement_counts, report)),
        Entry("statements", "statements", statements, each, chosen, whole=statements),
    ]  # fmt: skip
    return Book(TITLE, contents, behind, methods=methods(report))


def _positions(report: Report, dimension: Dimension | None) -> list[Entry]:
    """Return where models stand, over all sources and by source."""
    return [
        Entry("plane", "plane", partial(tables.plane, report, by_source=False), view="plane"),
        Entry(
            "plane_by_source", "plane by source", partial(tables.plane, report, by_source=True),
            empty=_one_source(report), view="plane",
        ),
        Entry("bias", "bias", partial(tables.bias, report, dimension), choices=("dimension",)),
    ]  # fmt: skip


def _between(report: Report, dimension: Dimension | None) -> list[Entry]:
    """Return what compares sources and factors, and the prompts of all models; `compared_runs` compares models."""
    chosen, one_model = ("dimension",), "" if len(report.tally.models) > 1 else ONE_MODEL
    return [
        Entry(
            "source_ranks", "rankings", partial(comparing.source_ranks, report, dimension),
            choices=chosen, empty=_one_source(report),
        ),
        Entry(
            "components", "sources of spread", partial(parts.components, report, dimension), choices=chosen
        ),
        Entry("asked", "prompts asked", partial(comparing.asked, report), empty=one_model),
    ]  # fmt: skip


def _one_source(report: Report) -> str:
    return "" if len(report.tally.sources) > 1 else comparing.ONE_SOURCE
