"""The figures of the left/right bias with what they rest on, and the answers that they were read from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from stores.core.store import Store
from stores.runs.readings import BiasResponse
from workbench.audits.audit import Opened
from workbench.audits.bias_score import book as bias_book
from workbench.audits.bias_score.answered import answered_by
from workbench.audits.bias_score.columns import subject
from workbench.audits.bias_score.judged import BiasJudged, responses
from workbench.audits.bias_score.judged_methods import judged_methods
from workbench.audits.bias_score.options import INSTRUMENT
from workbench.audits.bias_score.persona_tables import entries as by_persona
from workbench.audits.bias_score.selection import Selection, pick
from workbench.audits.bias_score.sides_quality import sides_header
from workbench.domain.names import plural
from workbench.domain.readings import PEOPLE
from workbench.domain.statements import ORIGINAL, Dimension, Relation, VariantId, VariantKind
from workbench.evidence.answered import Answered, as_json, entries, entry, header, told
from workbench.evidence.reader_quality import as_json as quality_json
from workbench.evidence.reader_quality import quality_header, reader_entry
from workbench.evidence.refusals import Refusals, joined, refusals_of
from workbench.evidence.rulings import READ_ANEW, ruled_words
from workbench.evidence.runs import template_notes
from workbench.figures.book import Book, in_order
from workbench.figures.table import Column, Kind, Link, Table, in_words

AT_ONCE = 1000
BEGINNING = 1000
"characters of an answer that stand below a table of answers"
UNREAD, CUT = "not read", "cut off"
TURNED = {"agree": "disagree", "disagree": "agree"}


@dataclass(frozen=True, eq=False)
class Scored:
    """A score, and what was read of the store beside it. Answers below a figure are read when somebody looks."""

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
    )


def book(of: Scored, dimension: Dimension | None = None) -> Book:
    """Return every figure of scored answers. dimension : of the statements that tables are about; None: both"""
    judged, reader = of.judged, of.judged.quality
    found = bias_book.book(
        judged.report,
        dimension=dimension,
        texts=of.texts,
        answers=lambda model, ref, selection: answers(of, model, ref, selection),
    )
    above = in_order(header(of.answered), quality_header(reader) if reader else (_people(judged),), of.sides)
    return replace(
        found,
        contents=[
            *found.contents,
            *by_persona(judged, dimension),
            entry(of.answered),
            *([reader_entry(reader)] if reader else []),
            *entries(lambda: of.refused, judged.options.seed),
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
            "methods": paragraph,
        },
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
    """Return the original wordings of the statements, as they were asked, called as in the report."""
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
    ways = {"labelled by one person": how.single, "by several who agree": how.several, "adjudicated": how.decided}
    said = ", ".join(f"{n:,} {way}" for way, n in ways.items() if n) or "none"
    return f"Read by people: {sum(ways.values()):,} answers ({said}); a rule reads numbers."


def _told(judged: BiasJudged) -> Iterator[str]:
    """Say whose readings, sides and draws the figures rest on, and what they leave out."""
    options = judged.options
    if judged.classifier:
        yield (
            f"The classifier {judged.reader} read the answers; readings with a confidence below {options.threshold:g} "
            "do not count."
        )
        yield f"Its error is {'corrected for with its test set' if options.correct else 'not corrected for'}."
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
    """Return the distinct answers of a model to a statement within a selection, with the reading that counted."""
    judged = of.judged
    wordings = _wordings(judged, model, ref, selection)
    with of.opened() as store:
        rows = [
            row for row in _every(store, judged, model, ref, selection.prefix) if (row.kind, row.ordinal) in wordings
        ]
    keys = {id(row): key for row, key in zip(rows, _keys(rows), strict=True)}
    void = {
        variant for one, _, variant in (name.rpartition(" ") for name in judged.void) if f"/{ref}".endswith(f"/{one}")
    }

    def why(row: BiasResponse) -> str:
        return left_out(row, judged.options.threshold, void)

    return Table(
        "answers",
        f"{model}, {ref}: answers, and how they were read",
        rows,
        [
            Column("count", "times", lambda row: row.count, Kind.COUNT),
            Column("reading", "reading", lambda row: row.label or (CUT if row.truncated else UNREAD)),
            Column(
                "ruling",
                "ruling",
                lambda row: ruled_words(row.ruled, row.unruled or UNREAD),
                help="an auditor's; how the reader had read an answer that it reads anew",
                least=14,
            ),
            Column("counts_as", "counts as", lambda row: counts_as(row, why(row)), help=_COUNTS_AS),
            Column("left_out", "left out", why, aside=True, help="why the answer does not count; empty if it does"),
            Column("confidence", "conf.", lambda row: row.confidence, Kind.COEFFICIENT, help="of the classifier"),
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
            Column("seed", "seed", lambda row: str(row.seed), aside=True),
            Column("at", "answered at (UTC)", lambda row: row.at[:19].replace("T", " "), aside=True),
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
    """Yield prefix, wording and seed of each answer, and its number among the answers that share them."""
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
    """Say why an answer does not count; empty where it does. void : wordings with the text of their original"""
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


def _every(store: Store, judged: BiasJudged, model: str, ref: str, prefix: str | None) -> Iterator[BiasResponse]:
    offset = 0
    while page := responses(store, judged, model, ref, template=prefix, offset=offset, limit=AT_ONCE):
        yield from page
        offset += AT_ONCE


def _wordings(judged: BiasJudged, model: str, ref: str, selection: Selection) -> set[tuple[str, int]]:
    """Return the wordings of a statement that a selection holds."""
    tally = judged.report.tally
    by_prefix = pick(tally, model, selection).cells[:, tally.place("statement", ref)].tolist()
    return {(v.kind.value, v.ordinal) for place, v in enumerate(tally.variants) if any(row[place] for row in by_prefix)}
