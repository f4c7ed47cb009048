"""What an audit brings to a report: its figures, what they come to in plain words, and its
statements with verdicts.

These are values alone. `workbench.report` makes one document of them, whichever audits they are of,
and names none.
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
from workbench.evidence.answered import Answered
from workbench.evidence.rulings import NOTHING_RULED, Told
from workbench.figures.book import Book
from workbench.figures.pictures.of_table import Forest
from workbench.figures.table import AnyTable, Column, Kind, Table
from workbench.options.option import Option
from workbench.options.schema import Parameter


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which results a report is to hold."""

    instrument: str = ""
    "empty: every one that was asked"
    models: tuple[str, ...] = ()
    "empty: all that answered"
    rulings: bool = True
    "whether auditors' rulings count"
    seed: int = SEED
    compare: tuple[str, ...] = ()
    "runs that are to stand side by side, by their names or their models'"
    as_published: bool = False
    "whether the published rules are in force wherever the usual ones differ"
    same_within: float | None = None
    """the greatest difference of compared runs that is still none; None: nothing is said to be the
    same"""
    shared: dict[object, Any] = field(default_factory=dict)
    "where audits of the same answers find what another one has worked out already"


@dataclass(frozen=True, slots=True)
class Reference:
    """A publication, as a list of references has it."""

    key: str
    "as BibTeX names it: `ceron2024`"
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
        listed = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
        return f"{listed} ({self.year}). {self.title}. {self.venue}."


@dataclass(frozen=True, slots=True)
class ReportedItem:
    """What an audit says of one statement."""

    ref: str
    text: str
    "the wording in words: the original"
    verdict: Verdict | None
    "None: the audit has no verdict on single statements"
    said: Sequence[str] = ()
    "why, in sentences"


@dataclass(frozen=True, slots=True)
class ModelFigures:
    """A model, or a baseline that stands beside models, in the table that a report has of all of
    them.
    """

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
    """Return the table of all models of an audit, which a report draws: estimates and what to
    compare them with.

    Parameters
    ----------
    measures : key of a value -> title of the column; each is a series of the picture
    beside : the same of what chance or people would give, marked on the line of a model
    more : key of a value that is not drawn -> title and kind
    """

    def column(key: str, title: str, of: Kind, **more: Any) -> Column[ModelFigures]:
        return Column(key, title, lambda row: row.values.get(key), of, **more)

    def references(row: ModelFigures) -> tuple[float, ...]:
        return tuple(
            one if isinstance(one := row.values.get(key), float) else math.nan for key in beside
        )

    return Table(
        "all_models",
        title,
        rows,
        [
            Column("model", "model", lambda row: row.name, main=True),
            *(
                column(key, said, kind, scale=scale, reference=references)
                for key, said in measures.items()
            ),
            *(column(key, said, kind) for key, said in beside.items()),
            *(column(key, said, of) for key, (said, of) in more.items()),
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
    """One part of a report: the figures of one audit of one model, or of several beside one
    another.
    """

    title: str
    instrument: Instrument
    "as it was asked"
    runs: Mapping[str, Run]
    "name in the figures -> run; none where answers were imported or nobody was asked"
    book: Book
    findings: Sequence[Finding]
    "what the figures come to, in plain sentences, the most important first"
    command: str
    "what prints the same figures, with the word STORE for the store"
    all_models: AnyTable | None = None
    """the table and picture that a page has of all models, from `of_all_models`; parts of an audit
    share one"""
    answered: Sequence[Answered] = ()
    rulings: Told = NOTHING_RULED
    changed: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """statements that were changed since they were asked: ref -> (version that was asked, current
    version)"""
    items: Mapping[str, Sequence[ReportedItem]] = field(default_factory=dict)
    "name in the figures -> its statements"
    readers: Mapping[str, int] = field(default_factory=dict)
    """name in the figures -> rowid of who read its answers; without those that nothing in the store
    reads"""
    codebook: str = ""
    """of the people's labels that the figures rest on, directly or through a classifier; empty: on
    none"""
    parameters: Sequence[Parameter] = ()
    limits: Sequence[str] = ()
    "what the figures do not show, in sentences"
    shown: Sequence[str] = ()
    "names of the tables that a reader sees first; the others are folded"
    references: Sequence[Reference] = ()
    files: str = ""
    "stands in the names of its files after the audit's; empty: the model, where it is about one"


def parameters(
    options: Sequence[Option], values: Mapping[str, Any], sources: Mapping[str, str], published: str
) -> Iterator[Parameter]:
    """Yield the choices behind figures, with what each means and where its value comes from.

    Parameters
    ----------
    options : those that an audit declares; others among the values are left out
    values : by the names of the options; None: as the option says that it is meant
    sources : name of an option -> where its usual value was published
    published : stands where an option has its usual value and no source of its own
    """
    for option in options:
        if option.name not in values:
            continue
        value = values[option.name]
        usual = value is None or value == option.default or (value == () and not option.default)
        text = (option.none if value is None else option.text(value)) or "none"
        where = sources.get(option.name, published) if usual else "chosen here"
        yield Parameter(
            option.title, {"True": "yes", "False": "no"}.get(text, text), option.help, where
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
