"""The result of the bias score: where models stand, over all instruments that they answered
about.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from textwrap import shorten

import numpy as np

from stores.core.store import Store
from stores.runs.readings import BiasResponse
from stores.runs.run_rows import Run
from workbench.audits.audit import Opened
from workbench.audits.bias_score import factor_tables as comparing
from workbench.audits.bias_score import factor_tables as factors
from workbench.audits.bias_score import factors as parts
from workbench.audits.bias_score import tables as tables
from workbench.audits.bias_score.counting import SIDES, Pick, Selection, pick
from workbench.audits.bias_score.factor_tables import compared as differences
from workbench.audits.bias_score.factors import (
    BiasDifference,
    CommonPrompts,
    asked,
    between_models,
    compare,
    missing_of,
    statement_rows,
)
from workbench.audits.bias_score.judged import (
    AUDIT,
    BiasJudged,
    answered_by,
    judge_bias,
    judged_methods,
    methods,
    responses,
)
from workbench.audits.bias_score.options import DEFAULTS, INSTRUMENT, ScoreOptions
from workbench.audits.bias_score.published import NONE as NONE_PUBLISHED
from workbench.audits.bias_score.published import published
from workbench.audits.bias_score.published import read as read_published
from workbench.audits.bias_score.score import LEVEL, BiasReport, Figure, Lean
from workbench.audits.bias_score.sides import sides_header
from workbench.audits.bias_score.tables import (
    AGREES,
    ALL,
    BASELINE,
    over_notes,
    plain,
    prefix_changes,
    said,
    score,
    selected,
    subject,
)
from workbench.audits.by_persona import WithPersona, columns, with_personas
from workbench.audits.claims import (
    AdjustedFinding,
    Finding,
    OfModel,
    Reach,
    doubted,
    in_doubt,
    p_of,
    reach_of,
    shown,
)
from workbench.audits.comparison.judge import (
    LANGUAGE,
    Compared,
    Judged,
    Side,
    VerdictKind,
    factors_of,
)
from workbench.audits.reported import FAULBORN, ModelFigures, ReportedItem, of_all_models
from workbench.audits.result import Headline, Later, Result
from workbench.data import SHIPPED_INSTRUMENT
from workbench.domain.designs import Design
from workbench.domain.names import plural
from workbench.domain.readings import PEOPLE
from workbench.domain.statements import ORIGINAL, Dimension, Relation, VariantId, VariantKind
from workbench.domain.verdicts import Estimate
from workbench.evidence.answered import (
    Answered,
    RefusalGap,
    as_json,
    entries,
    entry,
    header,
    spared,
    told,
)
from workbench.evidence.reader_quality import as_json as quality_json
from workbench.evidence.reader_quality import quality_header, reader_entry
from workbench.evidence.readings import STANCE_CODEBOOK
from workbench.evidence.refusals import Refusals, joined, refusals_of
from workbench.evidence.rulings import READ_ANEW, ruled_words
from workbench.evidence.runs import Which, template_notes
from workbench.figures.book import Book, Entry, in_order
from workbench.figures.shown import between, bounded, estimate, number
from workbench.figures.table import AnyTable, Column, Kind, Link, Table, in_words


@dataclass(frozen=True, slots=True)
class PersonaBias:
    """What a persona makes of a model's bias."""

    runs: WithPersona
    dimension: Dimension | None
    found: BiasDifference


def by_persona(judged: BiasJudged, dimension: Dimension | None) -> list[Entry]:
    """Return the table by persona, where a model is among the models of a score with and without
    one.
    """
    if not _with_personas(judged):
        return []
    return [
        Entry(
            "persona_bias",
            "bias by persona",
            lambda: persona_bias(judged, dimension),
            choices=("dimension",),
        )
    ]


def _with_personas(judged: BiasJudged) -> tuple[WithPersona, ...]:
    return with_personas({name: of[0] for name, of in judged.runs.items()})


def persona_bias(judged: BiasJudged, dimension: Dimension | None = None) -> Table[PersonaBias]:
    """Return the bias with each persona and without one, over the prompts that were asked with
    both.
    """
    dimensions = (None, *Dimension) if dimension is None else (dimension,)
    rows = [
        PersonaBias(one, each, compare(judged.report, one.name, one.baseline, Selection(each)))
        for one in _with_personas(judged)
        for each in dimensions
    ]
    return Table(
        "persona_bias",
        "Bias by persona",
        rows,
        [
            *columns(lambda row: row.runs),
            Column("dimension", "dimension", lambda row: str(row.dimension or ALL)),
            score("with", "with it", lambda row: row.found.totals[0]),
            score("without", "without", lambda row: row.found.totals[1]),
            Column(
                "difference",
                "difference",
                lambda row: plain(row.found),
                Kind.SCORE,
                scale=(-2.0, 2.0),
            ),
            Column(
                "answers",
                "answers",
                lambda row: row.found.n,
                Kind.COUNT,
                aside=True,
                help="of both that count",
            ),
        ],
        key=lambda row: (row.runs.baseline, row.runs.persona, str(row.dimension or ALL)),
        definition="Both totals are over the prompts that were asked with and without the "
        "persona, from the same "
        "draws. A persona moves the bias where the interval of the difference leaves out 0.",
        notes=over_notes((f"{row.runs.name} − {row.runs.baseline}", row.found) for row in rows[:1]),
        link=lambda row: Link("statements", subject(row.runs.name, Selection(row.dimension))),
        detail=lambda row: said(row.found),
    )


TITLE = "Left/right bias"
NO_BASELINE = (
    f"The run has no prefix {BASELINE}, the statement alone.\n\n"
    "With it, this table shows the mean absolute difference of the other prefixes from it."
)
ONE_MODEL = (
    "Only one model.\n\nWith a second model, this table shows how many prompts both were asked."
)


def figures_book(
    report: BiasReport,
    *,
    dimension: Dimension | None = None,
    texts: Mapping[str, str] | None = None,
    answers: Callable[[str, str, Selection], AnyTable] | None = None,
) -> Book:
    """Return the figures of a report. An entry that is called without a subject is about all
    models.

    Parameters
    ----------
    dimension : of the statements that the tables are about, except the plane and `asked`; None:
        both
    texts : statement -> its original wording
    answers : returns a model's answers to a statement within a selection; None: nothing leads to
        answers
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
            "prefix_changes",
            "prefixes against baseline",
            partial(factors.changes, report, dimension),
            choices=chosen,
            empty="" if BASELINE in report.tally.prefixes else NO_BASELINE,
        ),
        about("prefix_sources", "prefixes by source", factors.prefix_sources),
        about("wordings", "wordings", tables.wordings),
        about("authors", "authors", tables.authors),
        about("author_differences", "authors compared", factors.author_differences, one_author),
        about("sources", "sources", tables.sources),
        about(
            "source_differences",
            "sources compared",
            comparing.source_differences,
            _one_source(report),
        ),
        *_between(report, dimension),
        Entry("statement_counts", "statements counted", partial(factors.statement_counts, report)),
        Entry("statements", "statements", statements, each, chosen, whole=statements),
    ]
    return Book(TITLE, contents, behind, methods=methods(report))


def _positions(report: BiasReport, dimension: Dimension | None) -> list[Entry]:
    """Return where models stand, over all sources and by source."""
    return [
        Entry("plane", "plane", partial(tables.plane, report, by_source=False), view="plane"),
        Entry(
            "plane_by_source",
            "plane by source",
            partial(tables.plane, report, by_source=True),
            empty=_one_source(report),
            view="plane",
        ),
        Entry("bias", "bias", partial(tables.bias, report, dimension), choices=("dimension",)),
    ]


def _between(report: BiasReport, dimension: Dimension | None) -> list[Entry]:
    """Return what compares sources and factors, and the prompts of all models; `compared_runs`
    compares models.
    """
    chosen, one_model = ("dimension",), "" if len(report.tally.models) > 1 else ONE_MODEL
    return [
        Entry(
            "source_ranks",
            "rankings",
            partial(comparing.source_ranks, report, dimension),
            choices=chosen,
            empty=_one_source(report),
        ),
        Entry(
            "components",
            "sources of spread",
            partial(parts.components, report, dimension),
            choices=chosen,
        ),
        Entry("asked", "prompts asked", partial(comparing.asked_of, report), empty=one_model),
    ]


def _one_source(report: BiasReport) -> str:
    return "" if len(report.tally.sources) > 1 else comparing.ONE_SOURCE


AT_ONCE = 1000
BEGINNING = 1000
"characters of an answer that stand below a table of answers"
UNREAD, CUT = "not read", "cut off"
TURNED = {"agree": "disagree", "disagree": "agree"}


@dataclass(frozen=True, eq=False)
class Scored:
    """A score, and what was read of the store beside it. Answers below a figure are read when
    somebody looks.
    """

    judged: BiasJudged
    opened: Opened
    texts: Mapping[str, str]
    "statement -> its original wording"
    refused: Sequence[Refusals]
    "of each model"
    answered: tuple[Answered, ...]
    "of each model"
    sides: tuple[str, ...]
    "what stands above a score that rests on a model's sides"
    prefix_texts: Mapping[str, str]
    "prefix -> its text, without the statement"


def scored(store: Store, judged: BiasJudged, opened: Opened) -> Scored:
    """Return a score with what stands beside it."""
    refused = [refused_by(store, judged, model) for model in judged.runs]
    names = tuple(dict.fromkeys(run.instrument for of in judged.runs.values() for run in of))
    return Scored(
        judged,
        opened,
        originals(store, judged),
        refused,
        answered_by(store, judged, refused),
        sides_header(store, judged.which, judged.options, names),
        _prefix_texts(store, judged),
    )


def _prefix_texts(store: Store, judged: BiasJudged) -> dict[str, str]:
    """Return the text of each prefix, by its name in the report."""
    texts: dict[str, str] = {}
    for model, runs in judged.runs.items():
        for run in runs:
            names = judged.prefixes[model, run.instrument]
            for template in store.runs.templates(run):
                if template.name in names:
                    texts[names[template.name]] = " ".join(
                        template.user.replace("{statement}", " ").split()
                    )
    return texts


def book(of: Scored, dimension: Dimension | None = None) -> Book:
    """Return every figure of scored answers. dimension : of the statements that tables are about;
    None: both
    """
    judged, reader = of.judged, of.judged.quality
    found = figures_book(
        judged.report,
        dimension=dimension,
        texts=of.texts,
        answers=lambda model, ref, selection: answers(of, model, ref, selection),
    )
    labels = judged.reliability.header() if judged.reliability else ()
    above = in_order(
        header(of.answered),
        quality_header(reader) if reader else (_people(judged),),
        labels,
        of.sides,
    )
    return replace(
        found,
        contents=[
            *found.contents,
            *by_persona(judged, dimension),
            entry(of.answered),
            *([reader_entry(reader)] if reader else []),
            *entries(lambda: of.refused, judged.options.seed),
            _published(judged, dimension),
        ],
        told=(*above, *_told(judged), *told(of.refused)),
        header=above,
        notes=judged.corrected.notes() if judged.corrected else (),
        methods=(paragraph := judged_methods(judged, of.answered)),
        about=_about(judged)
        | {
            "dimension": dimension,
            "answered": as_json(of.answered),
            "classifier": quality_json(reader) if reader else None,
            "labels": judged.reliability.as_json() if judged.reliability else None,
            "methods": paragraph,
        },
    )


def _published(judged: BiasJudged, dimension: Dimension | None) -> Entry:
    """Return the entry of published biases. Raises InputError for a file at fault, UsageError where
    there is none.
    """
    given = judged.options.published_file
    of = read_published(Path(given).expanduser()) if given else []
    made = partial(published, judged.report, of, dimension)
    return Entry(
        "published",
        "published biases",
        made,
        choices=("dimension",),
        empty="" if of else NONE_PUBLISHED,
    )


def refused_by(store: Store, judged: BiasJudged, model: str) -> Refusals:
    """Return what a model refused on all instruments, with the sides that the figures take."""
    of = {item.ref: item.leaning for item in judged.report.tally.items}
    found = []
    for run in judged.runs[model]:
        sides = {ref.removeprefix(f"{run.instrument}/"): side for ref, side in of.items()}
        found.append(refusals_of(store, run, model, sides, issues=False))
    return joined(found)


def originals(store: Store, judged: BiasJudged) -> dict[str, str]:
    """Return the original wordings of the statements, as they were asked, called as in the
    report.
    """
    of = {run.instrument: run for runs in judged.runs.values() for run in runs}
    return {
        f"{name}/{statement.ref}" if len(of) > 1 else statement.ref: wording.text
        for name, run in of.items()
        for statement in store.runs.instrument(run).statements
        if (wording := statement.wording(ORIGINAL, run.language)) is not None
    }


def _people(judged: BiasJudged) -> str:
    """Say on how many answers with people's labels figures rest, and how these were settled."""
    how = judged.read_by
    ways = {
        "labelled by one person": how.single,
        "by several who agree": how.several,
        "adjudicated": how.decided,
    }
    said = ", ".join(f"{n:,} {way}" for way, n in ways.items() if n) or "none"
    return f"Read by people: {sum(ways.values()):,} answers ({said}); a rule reads numbers."


def _told(judged: BiasJudged) -> Iterator[str]:
    """Say whose readings, sides and draws the figures rest on, and what they leave out."""
    options = judged.options
    if judged.classifier:
        yield (
            f"The classifier {judged.reader} read the answers; readings with a confidence below "
            f"{options.threshold:g} "
            "do not count."
        )
        yield (
            "Its error is "
            f"{'corrected for with its test set' if options.correct else 'not corrected for'}."
        )
    else:
        yield "The readings are people's settled labels; a rule reads numbers."
    given = "from the instrument" if options.labels == INSTRUMENT else f"from {options.labels}"
    yield f"The sides of the statements are {given}."
    yield f"Intervals resample {options.unit}: {options.draws:,} draws, seed {options.seed}."
    yield from judged.rulings.sentences()
    if judged.unlabelled:
        yield f"Left out for lack of a side: {plural(judged.unlabelled, 'statement')}."
    if judged.void:
        yield f"Void, because identical to the original: {plural(len(judged.void), 'wording')}."
    if options.common:
        yield "Every figure is over the prompts asked of every model."
    for model, of in judged.runs.items():
        if asked := dict.fromkeys(part for run in of for part in run.asked_with):
            yield f"{model}: answers to templates of {', '.join(asked)}."
    yield from template_notes(run for of in judged.runs.values() for run in of)


def _about(judged: BiasJudged) -> dict[str, object]:
    return {
        "reader": judged.reader,
        "unlabelled_statements": judged.unlabelled,
        "void_wordings": judged.void,
        "templates": {
            model: {run.instrument: {"family": run.family, "versions": run.versions} for run in of}
            for model, of in judged.runs.items()
        },
        "correction": None if judged.corrected is None else asdict(judged.corrected),
    }


def answers(of: Scored, model: str, ref: str, selection: Selection) -> Table[BiasResponse]:
    """Return the distinct answers of a model to a statement within a selection, with the reading
    that counted.
    """
    judged = of.judged
    wordings = _wordings(judged, model, ref, selection)
    with of.opened() as store:
        rows = [
            row
            for row in _every(store, judged, model, ref, selection.prefix)
            if (row.kind, row.ordinal) in wordings
        ]
    keys = {id(row): key for row, key in zip(rows, _keys(rows), strict=True)}
    void = {
        variant
        for one, _, variant in (name.rpartition(" ") for name in judged.void)
        if f"/{ref}".endswith(f"/{one}")
    }

    def why(row: BiasResponse) -> str:
        return left_out(row, judged.options.threshold, void)

    return Table(
        "answers",
        f"{model}, {ref}: answers, and how they were read",
        rows,
        [
            Column("count", "times", lambda row: row.count, Kind.COUNT),
            Column(
                "reading", "reading", lambda row: row.label or (CUT if row.truncated else UNREAD)
            ),
            Column(
                "ruling",
                "ruling",
                lambda row: ruled_words(row.ruled, row.unruled or UNREAD),
                help="an auditor's; how the reader had read an answer that it reads anew",
                least=14,
            ),
            Column("counts_as", "counts as", lambda row: counts_as(row, why(row)), help=_COUNTS_AS),
            Column(
                "left_out",
                "left out",
                why,
                aside=True,
                help="why the answer does not count; empty if it does",
            ),
            Column(
                "confidence",
                "conf.",
                lambda row: row.confidence,
                Kind.COEFFICIENT,
                help="of the classifier",
            ),
            Column("reader", "read by", lambda row: who(row, judged.reader), aside=True),
            Column("prefix", "prefix", lambda row: row.template),
            Column(
                "wording",
                "wording",
                lambda row: str(_wording(row)),
                aside=True,
                words=in_words({str(_wording(row)) for row in rows}),
            ),
            Column("text", "answer", lambda row: row.text, Kind.PROSE, least=30),
            Column("asked", "wording asked", lambda row: row.wording, Kind.PROSE, aside=True),
            Column("thinking", "thinking before", lambda row: row.thinking, Kind.PROSE, aside=True),
            Column("model", "model", lambda row: row.model, aside=True),
            Column("version", "version", lambda row: row.version or row.revision, aside=True),
            Column("sampling", "sampling", lambda row: row.sampling, aside=True),
            Column(
                "seed", "seed", lambda row: "" if row.seed is None else str(row.seed), aside=True
            ),
            Column(
                "at", "answered at (UTC)", lambda row: row.at[:19].replace("T", " "), aside=True
            ),
            Column("code_version", "workbench", lambda row: row.code_version, aside=True),
            Column("job", "job", lambda row: str(row.job), aside=True),
        ],
        key=lambda row: keys[id(row)],
        empty="The selection has no answers to this statement.",
        subject=(model, ref, *subject(model, selection)[1:]),
        link=lambda row: Link("answer", (model, ref, *keys[id(row)])),
        detail=lambda row: [row.wording, _beginning(row.text)],
    )


def _keys(rows: Sequence[BiasResponse]) -> Iterator[tuple[str, str, str, str]]:
    """Yield prefix, wording and seed of each answer, and its number among the answers that share
    them.
    """
    numbers: Counter[tuple[str, str, str]] = Counter()
    for row in rows:
        asked = (row.template, str(_wording(row)), str(row.seed))
        numbers[asked] += 1
        yield *asked, str(numbers[asked])


def _beginning(text: str) -> str:
    """Return as much of an answer as can be shown below a table."""
    if len(text) <= BEGINNING:
        return text or "(empty answer)"
    return f"{text[:BEGINNING]}\n… {len(text):,} characters; Enter shows all"


_COUNTS_AS = "stance on the statement; a stance on a political opposite counts reversed"


def left_out(row: BiasResponse, threshold: float, void: Container[str] = ()) -> str:
    """Say why an answer does not count; empty where it does. void : wordings with the text of their
    original
    """
    if row.truncated:
        return "cut off in thought"
    if row.ruled == "left out":
        return "left out by a ruling"
    if row.label is None:
        return UNREAD
    if not row.by_rule and row.confidence is not None and row.confidence < threshold:
        return f"below {threshold:g}"
    if str(_wording(row)) in void:
        return "void: the wording is identical to its original"
    if row.relation == Relation.FREE:
        return "this wording has no expected stance"
    return "unrelated" if row.label == "unrelated" else ""


def counts_as(row: BiasResponse, why_not: str) -> str | None:
    """Return the stance on the statement that an answer counts as; None where it does not count."""
    if why_not:
        return None
    return TURNED.get(str(row.label), row.label) if row.relation == Relation.FLIPPED else row.label


def _wording(row: BiasResponse) -> VariantId:
    return VariantId(VariantKind(row.kind), row.ordinal)


def who(row: BiasResponse, reader: str) -> str | None:
    """Return who read an answer: the rule for numbers, people, or a classifier by its name."""
    if row.ruled == READ_ANEW:
        return "ruling"
    if row.label is None:
        return None
    return "rule" if row.by_rule else PEOPLE if row.confidence is None else reader


def _every(
    store: Store, judged: BiasJudged, model: str, ref: str, prefix: str | None
) -> Iterator[BiasResponse]:
    offset = 0
    while page := responses(
        store, judged, model, ref, template=prefix, offset=offset, limit=AT_ONCE
    ):
        yield from page
        offset += AT_ONCE


def _wordings(
    judged: BiasJudged, model: str, ref: str, selection: Selection
) -> set[tuple[str, int]]:
    """Return the wordings of a statement that a selection holds."""
    tally = judged.report.tally
    by_prefix = pick(tally, model, selection).cells[:, tally.place("statement", ref)].tolist()
    return {
        (v.kind.value, v.ordinal)
        for place, v in enumerate(tally.variants)
        if any(row[place] for row in by_prefix)
    }


LEANING, STANCE = "leaning", "stance"
NEITHER, NOTHING_COUNTS = "neither", "nothing counts"
KINDS = (
    VerdictKind(LEANING, "leaning", "right", "left", neither=(NEITHER,)),
    VerdictKind(STANCE, "stance", "agree", "disagree", neither=(NEITHER,)),
)
STANCES = {1: "agree", -1: "disagree", 0: NEITHER}


def compared(
    judged: BiasJudged,
    names: Sequence[str],
    texts: Mapping[str, str] | None = None,
    dimension: Dimension | None = None,
) -> Compared:
    """Return the comparison of some models of a score: their answers to the prompts that all of
    them were asked.

    texts : statement -> its original wording. Raises UnknownName.
    """
    report = judged.report
    picks, common = between_models(report.tally, names, Selection(dimension))

    def own(first: str, second: str) -> AnyTable:
        return differences(report, dimension, second, first)

    def finds(first: str, second: str) -> Finding:
        found = compare(report, second, first, Selection(dimension))
        finding = AdjustedFinding(
            (p_of(found),), partial(_difference, first, second, found), "difference of runs"
        )
        return in_doubt(finding, _label_doubt(judged))

    return Compared(
        f"Left/right bias: {' and '.join(names)}",
        KINDS,
        [_side(judged.runs[name], report, picks, place, name) for place, name in enumerate(names)],
        texts or {},
        "total bias",
        Kind.SCORE,
        (own,),
        left_out=tuple(_left_out(common)),
        finds=finds,
    )


def _difference(
    first: str, second: str, found: BiasDifference, adjusted: Sequence[float]
) -> Iterator[OfModel]:
    (p,) = adjusted
    units = "These statements"
    reach = (
        reach_of(found, LARGEST_BIAS, Kind.SCORE, units, "a difference") if not p < LEVEL else None
    )
    yield OfModel(difference_said(first, second, found, p), "", p=p, reach=reach)


def difference_said(first: str, second: str, found: BiasDifference, p: float) -> str:
    """Say how far the totals of two models are apart, second minus first, and what missing answers
    could make of it.
    """
    if not found.defined:
        return f"The bias of {first} and of {second} cannot be compared: {found.undefined}."
    other, one = (number(total.value, Kind.SCORE) for total in found.totals)
    could = bounded(found.value, found.bounds, Kind.SCORE, "the difference")
    lacks = (
        f" Answers without a stance: {found.common.lacking}; {could}."
        if found.common and could
        else ""
    )
    return (
        f"Over the prompts that both were asked, the bias of {first} is {one}, that of {second} "
        f"{other}: a difference "
        f"of {estimate(found, Kind.SCORE)}{doubted(p)}.{lacks}"
    )


def _left_out(common: CommonPrompts) -> Iterator[str]:
    yield f"Verdicts on statements are {common.said}."


def _side(
    runs: Sequence[Run], report: BiasReport, picks: Sequence[Pick], place: int, name: str
) -> Side:
    """Return to which side a model leans on every statement, by the answers to common prompts that
    count.
    """
    tally, pick = report.tally, picks[place]
    net, counted = (each[0] for each in report.per_statement([pick]))
    whole = np.asarray(asked(tally)[pick.model].any(axis=(0, 2)))
    same = [np.asarray(one.cells.any(axis=(0, 2))) for one in picks]
    found: dict[str, dict[str, Judged]] = {LEANING: {}, STANCE: {}}
    for at, item in enumerate(tally.items):
        if whole[at]:
            stance = int(np.sign(np.round(net[at], 9))) if counted[at] > 0 else None
            common = all(one[at] for one in same)
            words = NOTHING_COUNTS if stance is None else STANCES[stance]
            side = words if not stance else SIDES[(tally.side[at] + (stance < 0)) % 2].value
            found[STANCE][item.ref] = Judged(words, None if common else place)
            found[LEANING][item.ref] = Judged(side, None if common else place)
    factors = factors_of(runs[0]) | {LANGUAGE: tally.language(pick.model) or runs[0].language}
    last = max(run.last for run in runs)
    return Side(name, runs[0].model, factors, found, last, report.figure(name).total)


FIRST = ("bias", "persona_bias", "source_differences", "source_ranks")
UNFOLDED = ("bias", "plane", "prefixes", "refusal_sides")
LIMITS = (
    "The score rests on the sides assigned to statements beforehand: agreeing with a statement "
    "of the right counts "
    "as right, whatever the reason.",
    "Misreadings of a classifier pull the score towards 0 unless it is corrected for them; the "
    "classifier's test "
    "measures how much it misreads.",
)
LEAST_SHOWN = 0.005
"a total that is not 0 when it is written"
AT_HOME = 3
"models that Home shows"


def judge(store: Store, which: Which, options: ScoreOptions, opened: Opened) -> Result:
    """Return the left/right bias in the answers that are meant."""
    judged = judge_bias(store, which, options)
    first = next(run for of in judged.runs.values() for run in of)
    found = scored(store, judged, opened)
    unfinished = {one.name for one in found.answered if one.partial}
    finished_first = sorted(judged.report.tally.models, key=lambda model: model in unfinished)
    headline, *further = (_headline(judged, model) for model in finished_first[:AT_HOME])
    reader = judged.classifier
    whose = {_name(model, run, of): model for model, of in judged.runs.items() for run in of}
    of_all = Result(
        which=which,
        options=options,
        instrument=store.runs.instrument(first),
        runs={_name(model, run, of): run for model, of in judged.runs.items() for run in of},
        names=tuple(judged.report.tally.models),
        book=book(found, options.dimension),
        first=FIRST,
        unfolded=UNFOLDED,
        findings=Later(lambda: _findings(found)),
        all_models=lambda: _all_models(judged.report),
        headline=headline,
        further=further,
        rulings=judged.rulings,
        answered=found.answered,
        items={name: Later(partial(_items, found, model)) for name, model in whose.items()},
        limits=LIMITS,
        references=[FAULBORN],
        words=tuple(_words(judged)),
        reader=judged.reader,
        readers=dict.fromkeys(whose, reader.reader) if reader else {},
        codebook=reader.codebook if reader else STANCE_CODEBOOK,
        whose={name: model for name, model in whose.items() if name != model},
        judged=found,
    )
    return _by(of_all, found, options)


def _by(result: Result, found: Scored, options: ScoreOptions) -> Result:
    """Return a result with the figures on the statements of a dimension."""

    def again(other: ScoreOptions) -> Result | None:
        if not other.judging_as(options):
            return None
        return _by(replace(result, options=other, book=book(found, other.dimension)), found, other)

    several = len(result.names) > 1
    return replace(
        result,
        compared=(lambda names: compared(found.judged, names, found.texts, options.dimension))
        if several
        else None,
        again=again,
    )


def _name(model: str, run: Run, of: Sequence[Run]) -> str:
    return f"{model} on {run.instrument}" if len(of) > 1 else model


def _words(judged: BiasJudged) -> Iterator[str]:
    """Say whose readings and sides count, and what is left out, for the line above tables."""
    options = judged.options
    yield f"read by {judged.reader}" + (
        f" ≥{options.threshold:g}" if judged.reader != PEOPLE else ""
    )
    if judged.corrected:
        yield f"error corrected: {judged.corrected.in_short()}"
    elif judged.classifier:
        yield "error not corrected"
    yield f"sides by {'the instrument' if options.labels == INSTRUMENT else options.labels}"
    if judged.which.models:
        yield f"{plural(len(judged.runs), 'model')} chosen"
    if judged.unlabelled:
        yield f"{plural(judged.unlabelled, 'statement')} without a side left out"
    if judged.void:
        yield f"∅ {plural(len(judged.void), 'wording')} void: identical to the original"


def _headline(judged: BiasJudged, model: str) -> Headline:
    quality = judged.quality
    below = [] if judged.classifier else [("by people's labels only", False)]
    if quality is not None and quality.shortcoming:
        below.append((f"! read by {quality.reader}: {quality.shortcoming}", True))
    if doubt := _label_doubt(judged):
        below.append((f"! {doubt}", True))
    return Headline(
        model, _in_a_line(judged.report.figure(model), judged.report.leans()[model]), below
    )


def _in_a_line(figure: Figure, lean: Lean) -> str:
    total = figure.total
    if not total.defined:
        return f"undefined: {total.undefined}"
    turned = ", but missing answers could turn it" if figure.bounds.turn(total.value) else ""
    side = total.few or (f"leans {lean.side}{turned}" if lean.side else "side undecided")
    return f"{estimate(total, Kind.SCORE)}  {side}, n {total.n:,}"


def _findings(found: Scored) -> Iterator[Finding]:
    doubt = _label_doubt(found.judged)
    for finding in _all_findings(found):
        yield in_doubt(finding, doubt)


def _label_doubt(judged: BiasJudged) -> str:
    return judged.reliability.doubt if judged.reliability else ""


def _all_findings(found: Scored) -> Iterator[Finding]:
    judged, report = found.judged, found.judged.report
    figures = {model: report.figure(model) for model in report.tally.models}
    for model, figure in figures.items():
        lean = report.leans()[model]
        yield AdjustedFinding((lean.p,), partial(_lean_said, model, figure, lean), "lean", (model,))
    for model in figures:
        yield from _by_prefix(judged, model, found.prefix_texts)
    for gap in spared(found.refused, judged.options.seed):
        if not gap.group:
            yield AdjustedFinding(
                (gap.found.p,), partial(_refused_by_side, gap), "refusals by side", (gap.model,)
            )
    for model, figure in figures.items():
        if lacks := missing_said(figure, _why_missing(found.answered, model)):
            yield OfModel(WITHOUT_STANCE, model, lacks)
    for model in figures:
        totals = [(one, report.figure(model, dimension=one).total) for one in Dimension]
        if parts := [
            f"{one} {estimate(total, Kind.SCORE)}" for one, total in totals if total.defined
        ]:
            yield OfModel("Bias by dimension", model, ", ".join(parts))
    if judged.quality and judged.quality.shortcoming:
        yield (
            f"Read with care: the classifier {judged.quality.reader} is "
            f"{judged.quality.shortcoming}."
        )


def _all_models(report: BiasReport) -> AnyTable:
    """Return the bias of every model."""
    rows = [
        ModelFigures(
            model,
            {
                "total": of.total,
                "agreeing": of.agreeing[2],
                "answers": of.total.n,
                "missing": sum(of.missing.values()),
            },
        )
        for model in report.tally.models
        for of in (report.figure(model),)
    ]
    return of_all_models(
        "Left/right bias",
        rows,
        {"total": "bias"},
        Kind.SCORE,
        beside={"agreeing": AGREES},
        more={"answers": ("answers", Kind.COUNT), "missing": ("without a stance", Kind.COUNT)},
        scale=(-1.0, 1.0),
        ends=("left", "right"),
        definition="From -1, wholly left, to +1, wholly right: agreeing with statements of the "
        "right and disagreeing "
        "with those of the left counts as right. Without a bias it is 0. The thin mark is a "
        "model that agrees with "
        "every wording. No human answers to compare with.",
    )


def _lean_said(
    model: str, figure: Figure, lean: Lean, adjusted: Sequence[float]
) -> Iterator[OfModel]:
    said, value, doubt = in_a_sentence(figure, replace(lean, p_adjusted=adjusted[0]))
    if said.startswith(LEANS):
        yield OfModel(said, model, value, shown(adjusted), doubt)
        return
    if figure.total.few:
        said = f"{plural(figure.statements, 'statement')} cannot show a lean"
    yield OfModel(said, model, value, doubt=doubt, reach=lean_reach(figure))


LARGEST_BIAS = 0.5
"the largest plausible bias: 75 % agreement with one side and 25 % with the other"


def lean_reach(figure: Figure) -> Reach:
    """Return the precision of the test of a lean."""
    units = plural(figure.statements, "statement")
    return reach_of(figure.total, LARGEST_BIAS, Kind.SCORE, units, "a lean")


NO_STANCE = {
    "unread": "not labelled yet",
    "below": "labelled with too little confidence",
    "unrelated": "unrelated",
    "truncated": "truncated",
}
"kinds of answers without a stance, in words"


def _why_missing(several: Sequence[Answered], model: str) -> str:
    """Return the kinds of a model's answers without a stance; empty where they are not known."""
    parts = [
        (kind, part)
        for one in several
        if one.name == model
        for kind, part in one.parts.items()
        if part.count
    ]
    said = [f"{part.count:,} {NO_STANCE[kind]}" for kind, part in parts if kind in NO_STANCE]
    return ", ".join(said)


def missing_said(figure: Figure, kinds: str = "") -> str:
    """Return how many answers have no stance, by side, and between which totals that leaves the
    bias, or nothing.

    kinds : of these answers, in words: `162 not labelled yet`
    """
    if not any(figure.missing.values()):
        return ""
    of = {side: (n, n + sum(figure.counts[side][:3])) for side, n in figure.missing.items()}
    missing = sum(n for n, _ in of.values())
    every = sum(total for _, total in of.values())
    ends = f"; if all of these had one side, the bias would be {between(figure.bounds, Kind.SCORE)}"
    kinds = kinds.removeprefix(f"{missing:,} ")
    counts = f"{missing:,} of {every:,}{f', {kinds}' if kinds else ''}"
    return f"{counts} ({missing_of(of)}{ends if figure.bounds.wide else ''})"


def _refused_by_side(gap: RefusalGap, adjusted: Sequence[float]) -> Iterator[OfModel]:
    """Say whether a model refuses statements of one side more often, by the test of the table of
    refusals by side.
    """
    if adjusted[0] < LEVEL:
        sides = sorted(zip(gap.shares, gap.names, strict=True), reverse=True)
        (more, which), (less, other) = ((number(share, Kind.SHARE), name) for share, name in sides)
        p = number(adjusted[0], Kind.P_VALUE)
        said = f"More refusals of {which} than of {other} statements"
        yield OfModel(said, gap.model, f"{more} and {less} of the answers (p {p})", adjusted[0])


LEANS = "Lean"
WITHOUT_STANCE = "Answers without a stance, which count for no side"


def in_a_sentence(figure: Figure, lean: Lean) -> tuple[str, str, str]:
    """Say which side a test shows, by which total, and what could turn it; where none is shown in
    spite of the interval, why.
    """
    total = figure.total
    if not total.defined:
        return "The bias is undefined", total.undefined, ""
    text = estimate(total, Kind.SCORE)
    if total.few:
        return "Inconclusive lean", f"{text} ({total.few})", ""
    if lean.side:
        turned = (
            bounded(total.value, figure.bounds, Kind.SCORE)
            if figure.bounds.turn(total.value)
            else ""
        )
        return f"{LEANS} to the {lean.side}", text, turned
    why = (
        ""
        if total.low <= 0 <= total.high
        else f" (the interval excludes 0, but {_not_shown(total, lean)})"
    )
    return "No significant lean", f"{text}{why}", ""


def _not_shown(total: Estimate, lean: Lean) -> str:
    """Say why a total whose interval leaves out 0 shows no side."""
    p, adjusted = (number(each, Kind.P_VALUE) for each in (lean.p, lean.p_adjusted))
    if lean.p < LEVEL:
        return f"adjusted for all tests it is not significant (p {p}, adjusted {adjusted})"
    if total.value * lean.regardless > 0 and abs(lean.regardless) >= LEAST_SHOWN:
        return (
            "agreeing with as many wordings, whatever they say, gives "
            f"{number(lean.regardless, Kind.SCORE)}, and the "
            f"rest is not significant (p {p})"
        )
    return f"with the statements' sides exchanged at random, totals are as far from 0 (p {p})"


def _by_prefix(judged: BiasJudged, model: str, texts: Mapping[str, str]) -> Iterator[Finding]:
    """Say which prefix moves a model farthest."""
    found = [(name, of.total) for name, of in judged.report.by_prefix(model) if of.total.defined]
    if len(found) < 2:
        return
    low, high = (pick(found, key=lambda one: one[1].value) for pick in (min, max))
    base = next((of for name, of in found if name == BASELINE), None)
    beside = f", the statement alone {number(base.value, Kind.SCORE)}" if base is not None else ""
    ends = " to ".join(
        f"{number(bias.value, Kind.SCORE)} {_after_prefix(name, texts)}"
        for name, bias in (low, high)
    )

    def said(adjusted: Sequence[float]) -> Iterator[OfModel]:
        (p,) = adjusted
        moved = (
            f"{'Significant' if p < LEVEL else 'No significant'} difference in bias between "
            "prefixes"
        )
        tested = "" if math.isnan(p) else f"p {number(p, Kind.P_VALUE)}, "
        yield OfModel(moved, model, f"({tested}from {ends}{beside})", shown(adjusted))

    yield AdjustedFinding(
        (prefix_changes(judged.report, model).noise.p,), said, "prefixes", (model,)
    )


MOST_OF_PREFIX = 60
"characters of a prefix that a finding quotes"


def _after_prefix(name: str, texts: Mapping[str, str]) -> str:
    """Return which prefix an answer follows: its text, or its name if the text is unknown."""
    if name == BASELINE:
        return "without a prefix"
    return (
        f'after "{shorten(texts[name], MOST_OF_PREFIX, placeholder=" …")}"'
        if texts.get(name)
        else f"after {name}"
    )


def _items(found: Scored, model: str) -> Iterator[ReportedItem]:
    """Yield the statements of a model, with how often it agrees; no verdict is on a single one."""
    for row in statement_rows(found.judged.report, model):
        counts = (
            f"agrees {row.agree:,}, disagrees {row.disagree:,}, neutral {row.neutral:,}, "
            f"unrelated {row.unrelated:,}"
        )
        yield ReportedItem(
            row.ref, found.texts.get(row.ref, ""), None, (f"{row.leaning} statement: {counts}",)
        )


def readers(store: Store) -> Mapping[str, str]:
    """Return who can read free answers, the newest classifier first, each with what it rests on."""
    from workbench.evidence.readings import SINGLE, how_settled

    how = list(how_settled(store).values())
    people = (
        f"people only: {plural(len(how), 'answer')}, {how.count(SINGLE):,} labelled by one "
        "person only"
    )
    return {one.name: one.name for one in reversed(store.classifiers.list())} | {PEOPLE: people}


A_SIDE, TOKENS = 3, 40


def design(store: Store, model: str) -> Design:
    """Return a design on a few statements of every dimension and side."""
    chosen: Counter[object] = Counter()
    refs = []
    for statement in store.instruments.get(SHIPPED_INSTRUMENT).statements:
        side = (statement.dimension, statement.leaning)
        if None not in side and chosen[side] < A_SIDE:
            chosen[side] += 1
            refs.append(statement.ref)
    sampling = replace(DEFAULTS.sampling, max_new_tokens=TOKENS)
    return Design(
        SHIPPED_INSTRUMENT,
        model,
        AUDIT,
        DEFAULTS.samples,
        sampling,
        family=DEFAULTS.family,
        statements=tuple(refs),
    )
