"""The tables of a model's answers to a statement, and how each of them counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Sequence

from stores.core.store import Store
from stores.runs.readings import BiasResponse
from workbench.audits.bias_score.counting import Selection, pick
from workbench.audits.bias_score.judged import BiasJudged, responses
from workbench.audits.bias_score.scored import ScoredAnswers
from workbench.audits.bias_score.tables import subject
from workbench.domain.readings import PEOPLE
from workbench.domain.statements import Relation, VariantId, VariantKind
from workbench.evidence.rulings import READ_ANEW, ruled_words
from workbench.figures.table import Column, Kind, Link, Table, in_words

UNREAD, CUT = "not read", "cut off"

AT_ONCE = 1000
BEGINNING = 1000
"characters of an answer that a table of answers shows below itself"
TURNED = {"agree": "disagree", "disagree": "agree"}


def answers(of: ScoredAnswers, model: str, ref: str, selection: Selection) -> Table[BiasResponse]:
    """Return the distinct answers of a model to a statement within a selection.

    Each has the reading that counted.
    """
    judged = of.judged
    wordings = _wordings(judged, model, ref, selection)
    with of.opened() as store:
        rows = [
            row
            for row in all_responses(store, judged, model, ref, selection.prefix)
            if (row.kind, row.ordinal) in wordings
        ]
    keys = {id(row): key for row, key in zip(rows, _keys(rows), strict=True)}
    # the ref in a report may begin with its instrument, that of a void wording does not
    void = {
        variant
        for statement, _, variant in (name.rpartition(" ") for name in judged.void)
        if f"/{ref}".endswith(f"/{statement}")
    }

    return Table(
        "answers",
        f"{model}, {ref}: answers, and how they were read",
        rows,
        [*_reading_columns(judged, void), *_origin_columns(rows)],
        key=lambda row: keys[id(row)],
        empty="The selection has no answers to this statement.",
        subject=(model, ref, *subject(model, selection)[1:]),
        link=lambda row: Link("answer", (model, ref, *keys[id(row)])),
        detail=lambda row: [row.wording, _beginning(row.text)],
    )


def _reading_columns(judged: BiasJudged, void: Container[str]) -> list[Column[BiasResponse]]:
    """Return the columns of how an answer was read, and how it counts.

    Parameters
    ----------
    void : variants of the statement that are void
    """

    def why(row: BiasResponse) -> str:
        """Return the reason why an answer does not count, or an empty string if it does."""
        return left_out(row, judged.options.threshold, void)

    return [
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
    ]


def _origin_columns(rows: Sequence[BiasResponse]) -> list[Column[BiasResponse]]:
    """Return the columns of an answer's text, its prompt, and how it was sampled."""
    return [
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
        Column("seed", "seed", lambda row: "" if row.seed is None else str(row.seed), aside=True),
        Column("at", "answered at (UTC)", lambda row: row.at[:19].replace("T", " "), aside=True),
        Column("code_version", "workbench", lambda row: row.code_version, aside=True),
        Column("job", "job", lambda row: str(row.job), aside=True),
    ]


def _keys(rows: Sequence[BiasResponse]) -> Iterator[tuple[str, str, str, str]]:
    """Yield the key of each answer: prefix, wording, seed, and its number among equal ones."""
    numbers: Counter[tuple[str, str, str]] = Counter()
    for row in rows:
        prompt = (row.template, str(_wording(row)), str(row.seed))
        numbers[prompt] += 1
        yield *prompt, str(numbers[prompt])


def _beginning(text: str) -> str:
    """Return the beginning of an answer that fits below a table."""
    if len(text) <= BEGINNING:
        return text or "(empty answer)"
    return f"{text[:BEGINNING]}\n… {len(text):,} characters; Enter shows all"


_COUNTS_AS = "stance on the statement; a stance on a political opposite counts reversed"


def left_out(row: BiasResponse, threshold: float, void: Container[str] = ()) -> str:
    """Return the reason why an answer does not count, or an empty string if it does.

    Parameters
    ----------
    void : wordings with the text of their original
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
    """Return the stance on the statement that an answer counts as, or None if it does not count."""
    if why_not:
        return None
    return TURNED.get(str(row.label), row.label) if row.relation == Relation.FLIPPED else row.label


def _wording(row: BiasResponse) -> VariantId:
    """Return the wording that an answer was given to."""
    return VariantId(VariantKind(row.kind), row.ordinal)


def who(row: BiasResponse, reader: str) -> str | None:
    """Return the source of an answer's reading: `rule`, `ruling`, people, or the classifier.

    It is None if the answer is not read.
    """
    if row.ruled == READ_ANEW:
        return "ruling"
    if row.label is None:
        return None
    if row.by_rule:
        return "rule"
    return PEOPLE if row.confidence is None else reader


def all_responses(
    store: Store, judged: BiasJudged, model: str, ref: str, prefix: str | None
) -> Iterator[BiasResponse]:
    """Yield all answers to a statement under a prefix, or under any prefix, page by page."""
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
        (variant.kind.value, variant.ordinal)
        for index, variant in enumerate(tally.variants)
        if any(cells[index] for cells in by_prefix)
    }
