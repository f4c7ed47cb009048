"""The tables of every report: models, templates, counts, choices, rulings, and raw answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from stores.core.store import Store
from stores.runs.answers import StatementAnswer, StatementAnswers
from stores.runs.run_rows import Run
from workbench import registry
from workbench.audits.reported import ReportedItem
from workbench.csv_files import csv_text, guarded
from workbench.domain.prompts import Template
from workbench.domain.responses import EXACT, IMPORTED
from workbench.domain.verdicts import Verdict
from workbench.evidence.answered import answered_table
from workbench.figures.table import AnyTable, Column, Kind, Table
from workbench.options.schema import Parameter
from workbench.report.collected import AskedSettings, Collected, ReportPart, RuledThing
from workbench.report.options import ALL, NONE


def texts(
    name: str, title: str, header: Sequence[str], rows: Iterable[Sequence[str]]
) -> Table[Sequence[str]]:
    """Return a table of texts, whose last column keeps its lines."""
    last = len(header) - 1

    def column(index: int, heading: str) -> Column[Sequence[str]]:
        return Column(
            heading.replace(" ", "_"),
            heading,
            lambda row: row[index],
            Kind.PROSE if index == last else Kind.TEXT,
        )

    return Table(
        name,
        title,
        list(rows),
        [column(*numbered_heading) for numbered_heading in enumerate(header)],
        key=tuple,
    )


@dataclass(frozen=True, slots=True)
class ModelAsked:
    """The prompts and answers of one model, of all audits together."""

    name: str
    runs: Sequence[AskedSettings]

    @property
    def statements(self) -> int:
        """The number of statements: of every instrument that of the run with the most."""
        n_by_instrument: dict[str, int] = {}
        for run in self.runs:
            n_by_instrument[run.run.instrument] = max(
                run.statements, n_by_instrument.get(run.run.instrument, 0)
            )
        return sum(n_by_instrument.values())


def models_asked(collected: Collected) -> Table[ModelAsked]:
    """Return the small table of the models that were asked, with a row for each."""
    runs_by_model: dict[str, list[AskedSettings]] = {}
    for asked_run in collected.asked:
        runs_by_model.setdefault(asked_run.run.model, []).append(asked_run)

    def words(
        value: Callable[[AskedSettings], str], between: str = ", "
    ) -> Callable[[ModelAsked], list[str]]:
        return lambda row: [between.join(dict.fromkeys(map(value, row.runs)))]

    return Table(
        "asked",
        "Models, and what they answered",
        [ModelAsked(name, runs) for name, runs in runs_by_model.items()],
        [
            Column("model", "model", lambda row: row.name, main=True),
            Column(
                "version",
                "version",
                words(lambda run: run.run.version.removeprefix("revision ")[:40]),
                Kind.WORDS,
            ),
            Column(
                "audits",
                "audits",
                words(lambda run: registry.audit_title(run.run.audit)),
                Kind.WORDS,
            ),
            Column(
                "sampling", "sampling", words(lambda run: str(run.run.sampling), "; "), Kind.WORDS
            ),
            Column("statements", "statements", lambda row: row.statements, Kind.COUNT),
            Column(
                "prompts", "prompts", lambda row: sum(run.prompts for run in row.runs), Kind.COUNT
            ),
            Column(
                "answers",
                "answers",
                lambda row: sum(run.run.responses for run in row.runs),
                Kind.COUNT,
            ),
            Column(
                "failed",
                "failed requests",
                lambda row: sum(run.run.failed for run in row.runs),
                Kind.COUNT,
            ),
            Column("last", "last answer", lambda row: max(run.last for run in row.runs)[:10]),
        ],
        key=lambda row: (row.name,),
        empty="No model was asked from this store: others collected the answers.",
    )


def instruments(collected: Collected) -> Table[Sequence[str]]:
    """Return the instruments of a report with their licences."""
    header = ("instrument", "title", "language", "version", "licence", "source", "to be cited as")
    rows = [
        (
            instrument.name,
            instrument.title,
            instrument.language,
            instrument.version,
            instrument.licence,
            instrument.source,
            instrument.citation,
        )
        for instrument in collected.instruments
    ]
    return texts("instruments", "Instruments", header, rows)


def templates(collected: Collected) -> Table[Sequence[str]]:
    """Return every template word for word. Models asked in the same way share them."""
    template_by_key: dict[tuple[str, str, str, bytes], Template] = {}
    for run in collected.asked:
        template_by_key |= {
            (run.run.audit, run.run.family, run.run.language, template.key): template
            for template in run.templates
        }
    rows = [
        (
            registry.audit_title(audit),
            family,
            language,
            f"{template.name}, labels {template.order}",
            f"agreeing: {template.positive}; rejecting: {template.negative}"
            if template.positive
            else "free text",
            template.system or "",
            template.user,
        )
        for (audit, family, language, _), template in sorted(
            template_by_key.items(),
            key=lambda entry: (*entry[0][:3], entry[1].name, entry[1].inverted),
        )
    ]
    header = ("audit", "family", "language", "template", "labels", "system", "prompt")
    table = texts("templates_asked", "Templates, word for word", header, rows)
    return replace(
        table, definition="The statement stands in the place of {statement}. Nothing else is sent."
    )


def models(collected: Collected) -> Table[AskedSettings]:
    """Return the table of models, with their versions and settings."""
    return Table(
        "models_asked",
        "Models, and how they were asked",
        collected.asked,
        [
            Column("model", "model", lambda row: row.name),
            Column("audit", "audit", lambda row: registry.audit_title(row.run.audit)),
            Column(
                "version",
                "revision or snapshot",
                lambda row: row.run.version.removeprefix("revision "),
            ),
            Column("computed", "computed with", lambda row: row.run.computed),
            Column("sampling", "sampling", lambda row: str(row.run.sampling)),
            Column("published", "sampling as published", _published),
            Column("seeds", "seeds", _seeds, Kind.WORDS),
            Column("language", "language", lambda row: row.run.language),
            Column("family", "templates", lambda row: row.run.family),
            Column("code", "asked by workbench", lambda row: list(row.code_versions), Kind.WORDS),
            Column("first", "first answer (UTC)", lambda row: row.first[:16].replace("T", " ")),
            Column("last", "last answer (UTC)", lambda row: row.last[:16].replace("T", " ")),
        ],
        key=lambda row: (row.name, row.run.audit),
        notes=[
            "sampling as published: whether it is that of the paper which the audit follows; – "
            "where it names none. Seeds are those of the jobs that asked."
        ],
    )


def _seeds(row: AskedSettings) -> list[str]:
    """Return the seeds of the jobs that asked a model. Imported answers have no known seed."""
    if row.run.model.startswith(IMPORTED):
        return []
    return sorted({str(design.get("seed")) for design in row.designs})


def _published(row: AskedSettings) -> str | None:
    """Return whether a sampling is that of the audit's paper."""
    audit = registry.of_design({"audit": row.run.audit})
    if audit is None or audit.defaults.ours:
        return None
    return "yes" if row.run.sampling == audit.defaults.sampling_of(row.run.family) else "no"


def design(collected: Collected) -> Table[AskedSettings]:
    """Return the number of statements, prompts and answers of each run."""
    return Table(
        "design",
        "What was asked",
        collected.asked,
        [
            Column("model", "model", lambda row: row.name),
            Column("audit", "audit", lambda row: registry.audit_title(row.run.audit)),
            Column("instrument", "instrument", lambda row: row.run.instrument),
            Column("statements", "statements", lambda row: row.statements, Kind.COUNT),
            Column("wordings", "kinds of wording", lambda row: row.wordings, Kind.COUNT),
            Column(
                "templates",
                "templates",
                lambda row: len({template.name for template in row.templates}),
                Kind.COUNT,
            ),
            Column(
                "orders",
                "label orders",
                lambda row: len({template.inverted for template in row.templates}),
                Kind.COUNT,
                help="of the two answers that a template names",
            ),
            Column("prompts", "prompts", lambda row: row.prompts, Kind.COUNT),
            Column(
                "samples",
                "answers a prompt",
                lambda row: None if _exact(row) else row.run.samples,
                Kind.COUNT,
                help="the most that a prompt has; – where probabilities were computed and "
                "nothing was drawn",
            ),
            Column(
                "responses",
                "answers",
                lambda row: None if _exact(row) else row.run.responses,
                Kind.COUNT,
            ),
            *([_DRAWN] if any(row.spared is not None for row in collected.asked) else []),
            Column("failed", "failed requests", lambda row: row.run.failed, Kind.COUNT),
        ],
        key=lambda row: (row.name, row.run.audit),
        empty="No model was asked from this store: others collected the answers.",
    )


def _share_of_planned(row: AskedSettings) -> float | None:
    return (
        row.spared.drawn / row.spared.planned
        if row.spared is not None and row.spared.planned
        else None
    )


_DRAWN: Column[AskedSettings] = Column(
    "drawn",
    "drawn until settled",
    _share_of_planned,
    Kind.SHARE,
    help="share of the answers planned for prompts that were left once no further answer could "
    "change their verdict; "
    "what was answered has the least possible share beside it",
)


def _exact(row: AskedSettings) -> bool:
    return row.run.sampling.mode == EXACT


def counted(collected: Collected) -> Iterator[AnyTable]:
    """Yield for each audit the share of the plan with answers, and the share without a stance.

    The verdicts and the comparison with frozen plans follow.
    """
    for audit in dict.fromkeys(part.audit for part in collected.parts if part.audit):
        counts = [
            count
            for part in collected.parts
            if part.audit == audit
            for count in part.found.answered
        ]
        if counts and registry.audit(audit).asks:
            table = answered_table(counts)
            yield Table(
                f"answered-{audit}",
                f"What was answered: {registry.audit_title(audit)}",
                table.rows,
                table.columns,
                table.key,
                table.definition,
                table.notes,
            )
    if rows := list(_verdicts(collected.parts)):
        yield _verdict_table(rows)
    yield from collected.plans


Counts = tuple[str, Counter[Verdict], int, int]
"""counts of a run

They are (name of the run, verdicts on its statements, number of statements changed since, number of
effective rulings).
"""


def _verdicts(parts: Sequence[ReportPart]) -> Iterator[Counts]:
    for part in parts:
        n_changing = len(part.found.rulings.changing) if part.found.rulings.counted else 0
        for name, items in part.found.items.items():
            verdicts = Counter(item.verdict for item in items if item.verdict is not None)
            if verdicts:
                yield name, verdicts, len(part.found.changed), n_changing


def _verdict_table(rows: Sequence[Counts]) -> AnyTable:
    def count_column(verdict: Verdict, title: str, help_text: str) -> Column[Counts]:
        return Column(verdict.value, title, lambda row: row[1][verdict], Kind.COUNT, help=help_text)

    return Table(
        "verdicts_counted",
        "Verdicts on statements",
        rows,
        [
            Column("model", "model", lambda row: row[0]),
            Column("statements", "statements", lambda row: sum(row[1].values()), Kind.COUNT),
            count_column(Verdict.PASS, "pass", "every test that counts"),
            count_column(Verdict.FAIL, "fail", "one test or more"),
            count_column(
                Verdict.INSUFFICIENT, "too few answers", "too few readable answers to decide"
            ),
            count_column(
                Verdict.VOID,
                "void",
                "no test can fail, because what it compares is one and the same prompt",
            ),
            Column(
                "outdated",
                "outdated",
                lambda row: row[2],
                Kind.COUNT,
                help="changed since they were asked",
            ),
            Column(
                "rulings",
                "rulings that count",
                lambda row: row[3],
                Kind.COUNT,
                help="of auditors; see Rulings",
            ),
        ],
        key=lambda row: (row[0],),
        definition="Void statements are in no denominator. Outdated ones are judged in the texts "
        "that were asked.",
    )


def chosen(part: ReportPart) -> Table[Parameter]:
    """Return all choices behind the figures of a part."""
    return Table(
        "choices_behind",
        f"Choices behind: {part.found.title}",
        part.found.parameters,
        [
            Column("name", "choice", lambda row: row.name),
            Column("value", "value", lambda row: row.value),
            Column("meaning", "what it decides", lambda row: row.meaning),
            Column("source", "source of the value", lambda row: row.source),
        ],
        key=lambda row: (row.name,),
    )


def rulings(collected: Collected) -> Table[RuledThing]:
    """Return auditors' rulings and their effects."""
    return Table(
        "rulings",
        "Rulings of auditors",
        collected.rulings,
        [
            Column("subject", "about", lambda row: row.name),
            Column("kind", "kind", lambda row: row.ruling.subject.kind.value),
            Column(
                "verdict",
                "ruling",
                lambda row: row.ruling.verdict.value if row.ruling.verdict else None,
            ),
            Column("label", "reads", lambda row: row.ruling.label),
            Column("applies", "applies to", lambda row: row.applies),
            Column("reason", "reason", lambda row: row.ruling.reason),
            Column("auditor", "by", lambda row: row.ruling.auditor),
            Column("at", "at (UTC)", lambda row: row.ruling.at[:16].replace("T", " ")),
            Column("counts", "in the figures", lambda row: row.counts),
        ],
        key=lambda row: (row.ruling.uid.hex(),),
        empty="No auditor has ruled on anything that these figures rest on.",
    )


MOST_TEXTS = 3
"the largest number of distinct answers to one wording on the page"
MOST_CHARACTERS = 280
"the largest number of characters of an answer on the page"
UNREAD, CUT_OFF = "unreadable", "cut off in thought"
HEADER = (
    "statement",
    "wording",
    "label_order",
    "template",
    "answer",
    "cut_off",
    "read_as",
    "count",
)
NOT_PASSED = (Verdict.FAIL, Verdict.INSUFFICIENT)


@dataclass(frozen=True, slots=True)
class WordingAnswers:
    """The answers to one wording in one order of the labels."""

    variant: str
    order: str
    "order of the labels, or empty if only one order was asked"
    wording: str
    readings: Sequence[tuple[str, int]]
    "readings, the most frequent first, or empty without readings"
    texts: Sequence[tuple[str, int]]
    more_texts: int
    "number of distinct answers that are not shown"
    more: int
    "their total count"


@dataclass(frozen=True, slots=True)
class StatementWithAnswers:
    """A statement with the answers behind its verdict."""

    item: ReportedItem
    answers: Sequence[WordingAnswers] = field(default_factory=tuple)


def statements_with_answers(
    store: Store, part: ReportPart, name: str, answers: str
) -> list[StatementWithAnswers]:
    """Return the statements of one model of a part, those that do not pass first.

    They come with their answers if these are requested.
    """
    items = part.found.items.get(name, ())
    refs = {
        item.ref
        for item in items
        if answers == ALL or (answers != NONE and item.verdict in NOT_PASSED)
    }
    run = part.found.runs.get(name)
    answers_by_ref: Mapping[str, Sequence[WordingAnswers]] = {}
    if run is not None and refs and run.sampling.mode != EXACT:
        answers_by_ref = _answers_by_ref(store, part, name, run, refs)
    order = {Verdict.FAIL: 0, Verdict.INSUFFICIENT: 1, None: 2, Verdict.PASS: 3, Verdict.VOID: 4}
    return [
        StatementWithAnswers(item, answers_by_ref.get(item.ref, ()))
        for item in sorted(items, key=lambda listed_item: order[listed_item.verdict])
    ]


def _answers_by_ref(
    store: Store, part: ReportPart, name: str, run: Run, wanted: set[str]
) -> dict[str, list[WordingAnswers]]:
    reader = part.found.readers.get(name)
    texts = {
        (statement.ref, str(wording.variant)): wording.text
        for statement in part.found.instrument.statements
        for wording in statement.wordings
        if wording.language == run.language
    }
    has_orders = len({template.inverted for template in store.runs.templates(run)}) > 1
    rows = (row for row in StatementAnswers(store).of_run(run, reader) if row.ref in wanted)
    answers_by_ref: dict[str, list[WordingAnswers]] = {}
    for (ref, variant, order), group in groupby(
        rows, key=lambda row: (row.ref, row.variant, row.order)
    ):
        wording = texts.get((ref, variant), "")
        answers_by_ref.setdefault(ref, []).append(
            _wording_answers(list(group), variant, order if has_orders else "", wording, reader)
        )
    return answers_by_ref


def _wording_answers(
    rows: Sequence[StatementAnswer], variant: str, order: str, wording: str, reader: int | None
) -> WordingAnswers:
    texts, readings = Counter[str](), Counter[str]()
    for row in rows:
        texts[CUT_OFF if row.truncated else row.text] += row.count
        readings[CUT_OFF if row.truncated else row.label or UNREAD] += row.count
    shown_texts = texts.most_common(MOST_TEXTS)
    return WordingAnswers(
        variant,
        order,
        wording,
        readings.most_common() if reader else (),
        [(_short(text), count) for text, count in shown_texts],
        len(texts) - len(shown_texts),
        texts.total() - sum(count for _, count in shown_texts),
    )


def _short(text: str) -> str:
    if len(text) <= MOST_CHARACTERS:
        return text
    return f"{text[:MOST_CHARACTERS]}… ({len(text):,} characters)"


def every_answer(store: Store, part: ReportPart, name: str) -> Iterable[str]:
    """Yield the lines of a CSV file with every exact answer of a model to each template."""
    run = part.found.runs[name]
    yield csv_text(HEADER, ())
    rows = StatementAnswers(store).of_run(run, part.found.readers.get(name), by_template=True)
    for row in rows:
        yield csv_text(_cells(row), ())


def _cells(row: StatementAnswer) -> list[str]:
    texts = (row.ref, row.variant, row.order, row.template, row.text)
    return [*map(guarded, texts), "yes" if row.truncated else "no", row.label or "", str(row.count)]


def with_answers(part: ReportPart) -> Iterator[str]:
    """Yield the names of runs in a part with drawn answers."""
    yield from (name for name, run in part.found.runs.items() if run.sampling.mode != EXACT)
