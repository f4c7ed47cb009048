"""Raw answers with verdicts: for each statement the answers to each wording, with counts and readings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from stores.core.store import Store
from stores.runs.answers import StatementAnswer, StatementAnswers
from stores.runs.run_rows import Run
from workbench.audits.reported import ReportedItem
from workbench.csv_files import csv_text, guarded
from workbench.domain.responses import EXACT
from workbench.domain.verdicts import Verdict
from workbench.report.collected import Part
from workbench.report.options import ALL, NONE

MOST_TEXTS = 3
"most distinct answers to one wording on the page"
MOST_CHARACTERS = 280
"most characters of an answer on the page"
UNREAD, CUT_OFF = "unreadable", "cut off in thought"
HEADER = ("statement", "wording", "label_order", "template", "answer", "cut_off", "read_as", "count")
NOT_PASSED = (Verdict.FAIL, Verdict.INSUFFICIENT)


@dataclass(frozen=True, slots=True)
class Given:
    """The answers to one wording in one order of the labels."""

    variant: str
    order: str
    "empty if only one order was asked"
    wording: str
    readings: Sequence[tuple[str, int]]
    "the most frequent first; empty without readings"
    texts: Sequence[tuple[str, int]]
    more_texts: int
    "number of distinct answers that are not shown"
    more: int
    "their total count"


@dataclass(frozen=True, slots=True)
class Behind:
    """A statement with the answers behind its verdict."""

    item: ReportedItem
    given: Sequence[Given] = field(default_factory=tuple)


def behind(store: Store, part: Part, name: str, answers: str) -> list[Behind]:
    """Return the statements of one model of a part, those that do not pass first, with their answers if requested."""
    items = part.found.items.get(name, ())
    wanted = {item.ref for item in items if answers == ALL or (answers != NONE and item.verdict in NOT_PASSED)}
    run = part.found.runs.get(name)
    given: Mapping[str, Sequence[Given]] = {}
    if run is not None and wanted and run.sampling.mode != EXACT:
        given = _given(store, part, name, run, wanted)
    order = {Verdict.FAIL: 0, Verdict.INSUFFICIENT: 1, None: 2, Verdict.PASS: 3, Verdict.VOID: 4}
    return [Behind(item, given.get(item.ref, ())) for item in sorted(items, key=lambda one: order[one.verdict])]


def _given(store: Store, part: Part, name: str, run: Run, wanted: set[str]) -> dict[str, list[Given]]:
    reader = part.found.readers.get(name)
    texts = {
        (statement.ref, str(wording.variant)): wording.text
        for statement in part.found.instrument.statements
        for wording in statement.wordings
        if wording.language == run.language
    }
    several = len({template.inverted for template in store.runs.templates(run)}) > 1
    rows = (row for row in StatementAnswers(store).of_run(run, reader) if row.ref in wanted)
    found: dict[str, list[Given]] = {}
    for (ref, variant, order), of in groupby(rows, key=lambda row: (row.ref, row.variant, row.order)):
        wording = texts.get((ref, variant), "")
        found.setdefault(ref, []).append(_summed(list(of), variant, order if several else "", wording, reader))
    return found


def _summed(rows: Sequence[StatementAnswer], variant: str, order: str, wording: str, reader: int | None) -> Given:
    texts, readings = Counter[str](), Counter[str]()
    for row in rows:
        texts[CUT_OFF if row.truncated else row.text] += row.count
        readings[CUT_OFF if row.truncated else row.label or UNREAD] += row.count
    shown = texts.most_common(MOST_TEXTS)
    return Given(
        variant,
        order,
        wording,
        readings.most_common() if reader else (),
        [(_short(text), n) for text, n in shown],
        len(texts) - len(shown),
        texts.total() - sum(n for _, n in shown),
    )


def _short(text: str) -> str:
    if len(text) <= MOST_CHARACTERS:
        return text
    return f"{text[:MOST_CHARACTERS]}… ({len(text):,} characters)"


def every_answer(store: Store, part: Part, name: str) -> Iterable[str]:
    """Yield the lines of a CSV file with every exact answer of a model to each template."""
    run = part.found.runs[name]
    yield csv_text(HEADER, ())
    rows = StatementAnswers(store).of_run(run, part.found.readers.get(name), by_template=True)
    for row in rows:
        yield csv_text(_cells(row), ())


def _cells(row: StatementAnswer) -> list[str]:
    texts = (row.ref, row.variant, row.order, row.template, row.text)
    return [*map(guarded, texts), "yes" if row.truncated else "no", row.label or "", str(row.count)]


def with_answers(part: Part) -> Iterator[str]:
    """Yield the names of runs in a part with drawn answers."""
    yield from (name for name, run in part.found.runs.items() if run.sampling.mode != EXACT)
