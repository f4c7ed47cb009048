"""The parts of a report that an audit provides: figures, findings, and statements with verdicts.

These are values alone. `workbench.report` makes one document of them, of any audits, and names
none.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from stores.runs.run_rows import Run
from workbench.audits.claims import Finding
from workbench.domain.instruments import Instrument
from workbench.domain.keys import SEED
from workbench.domain.verdicts import Estimate, Verdict
from workbench.evidence.answered import AnsweredPlan
from workbench.evidence.rulings import NOTHING_RULED, RulingNotes
from workbench.figures.book import Book
from workbench.figures.pictures.of_table import Forest
from workbench.figures.table import AnyTable, Column, Kind, Table
from workbench.options.option import Option
from workbench.options.schema import Parameter


@dataclass(frozen=True, slots=True)
class ReportRequest:
    """The results that a report is about, and their options."""

    instrument: str = ""
    "empty: every one that was asked"
    models: tuple[str, ...] = ()
    "empty: all that answered"
    rulings: bool = True
    "whether auditors' rulings count"
    seed: int = SEED
    compare: tuple[str, ...] = ()
    "runs to put side by side, by their names or their models'"
    as_published: bool = False
    "whether the published rules replace the default ones that differ"
    same_within: float | None = None
    "the greatest difference of compared runs within which sameness is claimed; None: never"
    shared: dict[object, Any] = field(default_factory=dict)
    "results that audits of the same answers share"


@dataclass(frozen=True, slots=True)
class Reference:
    """A publication in a list of references."""

    key: str
    "the key of BibTeX: `ceron2024`"
    kind: str
    "BibTeX's type of entry: `article`, `inproceedings`, `misc`"
    authors: tuple[str, ...]
    "`Family, Given`"
    title: str
    year: int
    venue: str
    more: tuple[tuple[str, str], ...] = ()
    "further BibTeX fields: volume, pages, doi"

    def __str__(self) -> str:
        names = [author.partition(",")[0] for author in self.authors]
        author_text = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
        return f"{author_text} ({self.year}). {self.title}. {self.venue}."


@dataclass(frozen=True, slots=True)
class ReportedItem:
    """The verdict of an audit on one statement, with its reasons."""

    ref: str
    text: str
    "the original wording"
    verdict: Verdict | None
    "None: the audit has no verdict on single statements"
    said: Sequence[str] = ()
    "the reasons, in sentences"


@dataclass(frozen=True, slots=True)
class ModelFigures:
    """A model, or a baseline beside models, in a report's table of all of them."""

    name: str
    values: Mapping[str, Estimate | float | None]
    "by the keys of the columns"


def of_all_models(
    title: str,
    rows: Sequence[ModelFigures],
    measures: Mapping[str, str],
    kind: Kind,
    *,
    beside: Mapping[str, str] = {},
    more: Mapping[str, tuple[str, Kind]] = {},
    axis: str = "",
    ends: tuple[str, str] = ("", ""),
    scale: tuple[float, float] | None = None,
    definition: str = "",
    notes: Sequence[str] = (),
) -> Table[ModelFigures]:
    """Return the table of all models of an audit, which a report draws.

    It has estimates, and figures to compare them with.

    Parameters
    ----------
    measures : by key of a value: the title of the column; each is a series of the picture
    beside : the same for figures of chance or people, marked on the line of a model
    more : by key of a value that is not drawn: title and kind
    """

    def column(key: str, title: str, column_kind: Kind, **options: Any) -> Column[ModelFigures]:
        """Return the column of a value."""
        return Column(key, title, lambda row: row.values.get(key), column_kind, **options)

    def references(row: ModelFigures) -> tuple[float, ...]:
        """Return the values of a row that are marked in the picture."""
        return tuple(
            value if isinstance(value := row.values.get(key), float) else math.nan for key in beside
        )

    return Table(
        "all_models",
        title,
        rows,
        [
            Column("model", "model", lambda row: row.name, main=True),
            *(
                column(key, column_title, kind, scale=scale, reference=references)
                for key, column_title in measures.items()
            ),
            *(column(key, column_title, kind) for key, column_title in beside.items()),
            *(
                column(key, column_title, column_kind)
                for key, (column_title, column_kind) in more.items()
            ),
        ],
        key=lambda row: (row.name,),
        definition=definition,
        notes=notes,
        pictures=[
            Forest(
                values=list(measures),
                rows=["model"],
                axis=axis,
                ends=ends,
                reference=tuple(beside.values()),
            )
        ],
    )


@dataclass(frozen=True, eq=False, slots=True)
class Reported:
    """One section of a report: the figures of one audit, of one model or several side by side."""

    title: str
    instrument: Instrument
    "as it was asked"
    runs: Mapping[str, Run]
    "by name in the figures; empty if answers were imported or no model was asked"
    book: Book
    findings: Sequence[Finding]
    "plain sentences on the figures, the most important first"
    command: str
    "the command that prints the same figures, with the word STORE for the store"
    all_models: AnyTable | None = None
    """the table and picture that a page has of all models, from `of_all_models`; parts of an audit
    share one"""
    answered: Sequence[AnsweredPlan] = ()
    rulings: RulingNotes = NOTHING_RULED
    changed: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """statements that were changed since they were asked, by ref: (version that was asked, current
    version)"""
    items: Mapping[str, Sequence[ReportedItem]] = field(default_factory=dict)
    "by name in the figures: the statements"
    readers: Mapping[str, int] = field(default_factory=dict)
    """by name in the figures: rowid of the reader of its answers; without those that nothing in the
    store reads"""
    codebook: str = ""
    """of the people's labels that the figures rest on, directly or through a classifier; empty if
    there are none"""
    parameters: Sequence[Parameter] = ()
    limits: Sequence[str] = ()
    "sentences on the limits of the figures"
    shown: Sequence[str] = ()
    "names of the tables that a reader sees first; the others are folded"
    references: Sequence[Reference] = ()
    files: str = ""
    "the part of its file names after the audit's name; empty: the model, if there is only one"


def parameters(
    options: Sequence[Option], values: Mapping[str, Any], sources: Mapping[str, str], published: str
) -> Iterator[Parameter]:
    """Yield the choices behind figures, with the meaning of each and the origin of its value.

    Parameters
    ----------
    options : those that an audit declares; others among the values are omitted
    values : by the names of the options; None: the default of the option
    sources : by name of an option: the publication of its default value
    published : the origin of default values without a source of their own
    """
    for option in options:
        if option.name not in values:
            continue
        value = values[option.name]
        is_default = (
            value is None or value == option.default or (value == () and not option.default)
        )
        text = (option.none if value is None else option.text(value)) or "none"
        source = sources.get(option.name, published) if is_default else "chosen here"
        yield Parameter(
            option.title, {"True": "yes", "False": "no"}.get(text, text), option.help, source
        )


CERON = Reference(
    "ceron2024",
    "article",
    ("Ceron, Tanise", "Falk, Neele", "Barić, Ana", "Nikolaev, Dmitry", "Padó, Sebastian"),
    "Beyond Prompt Brittleness: Evaluating the Reliability and Consistency of Political "
    "Worldviews in LLMs",
    2024,
    "Transactions of the Association for Computational Linguistics",
    (("volume", "12"), ("doi", "10.1162/tacl_a_00710")),
)
FAULBORN = Reference(
    "faulborn2025",
    "inproceedings",
    ("Faulborn, Mats", "Sen, Indira", "Pellert, Max", "Spitz, Andreas", "Garcia, David"),
    "Only a Little to the Left: A Theory-grounded Measure of Political Bias in Large Language "
    "Models",
    2025,
    "Proceedings of the Annual Meeting of the Association for Computational Linguistics (ACL)",
    (("eprint", "2503.16148"), ("archiveprefix", "arXiv")),
)
HALLER = Reference(
    "haller2025",
    "inproceedings",
    ("Haller, Patrick", "Vamvas, Jannis", "Sennrich, Rico", "Jäger, Lena A."),
    "Leveraging In-Context Learning for Political Bias Testing of LLMs",
    2025,
    "Proceedings of the Annual Meeting of the Association for Computational Linguistics (ACL)",
)
TJUATJA = Reference(
    "tjuatja2024",
    "article",
    ("Tjuatja, Lindia", "Chen, Valerie", "Wu, Tongshuang", "Talwalkar, Ameet", "Neubig, Graham"),
    "Do LLMs Exhibit Human-like Response Biases? A Case Study in Survey Design",
    2024,
    "Transactions of the Association for Computational Linguistics",
    (("volume", "12"), ("doi", "10.1162/tacl_a_00685")),
)
