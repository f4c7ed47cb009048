"""Rows of people's labels and auditors' rulings."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from stores.core.base import decode_text
from stores.core.store import Store
from stores.instruments.instruments import Filters
from workbench.domain.rulings import Ruling, RulingVerdict, disputed
from workbench.tidy.columns import (
    ANSWER_KEY,
    CELL,
    ColumnField,
    Pseudonyms,
    Row,
    RowKind,
    RowSelection,
    recurring,
    time,
    truth,
    whole,
)


def read_labels(store: Store, choice: RowSelection) -> Iterator[Row]:
    """Yield the labels of answers, then those of statements for policy issues."""
    people = Pseudonyms(store, names=choice.names)
    for row in store.data_rows.labels(choice.instruments):
        ordinal = f"-{row['ordinal']}" if row["ordinal"] else ""
        yield (
            "answer",
            row["instrument"],
            row["statement"],
            row["statement_version"],
            row["language"],
            f"{row['kind']}{ordinal}",
            decode_text(row["wording"]),
            decode_text(row["text"]),
            row["role"],
            people.called(row["annotator"]),
            row["codebook"],
            None,
            row["label"],
            bool(row["newest"]),
            row["reason"] or None,
            row["note"] or None,
            bool(row["flagged"]),
            row["elapsed_ms"],
            row["given_at"],
            row["answer_key"].hex(),
        )
    for row in store.data_rows.issue_labels(choice.instruments):
        label = None if row["label"] is None else str(row["label"])
        yield (
            "statement",
            row["instrument"],
            row["statement"],
            row["statement_version"],
            None,
            None,
            None,
            None,
            row["role"],
            people.called(row["annotator"]),
            None,
            row["issue"],
            label,
            bool(row["newest"]),
            None,
            None,
            False,
            None,
            row["given_at"],
            None,
        )


def read_rulings(store: Store, choice: RowSelection) -> Iterator[Row]:
    """Yield every event, the oldest first."""
    people = Pseudonyms(store, names=choice.names)
    in_force = store.rulings.standing()
    uids = {ruling.uid for rulings in in_force.values() for ruling in rulings}
    disputed_keys = {key for key, rulings in in_force.items() if disputed(rulings)}
    events = store.rulings.events()
    undone = {undoing.undoes for undoing in events}
    for event in events:
        fields = event.subject.named
        if (
            choice.instruments
            and fields.get("instrument", choice.instruments[0]) not in choice.instruments
        ):
            continue
        is_misread = event.verdict is RulingVerdict.MISREAD
        yield (
            event.uid.hex(),
            event.subject.kind.value,
            event.verdict.value if event.verdict else None,
            (event.label or "unreadable") if is_misread else None,
            _state(event, uids, disputed_keys, undone),
            event.reason,
            people.called(event.auditor),
            event.at,
            event.undoes.hex() if event.undoes else None,
            fields.get("instrument"),
            fields.get("statement"),
            int(fields["version"]) if "version" in fields else None,
            fields.get("language"),
            fields.get("variant"),
            fields.get("prompt"),
            fields.get("text"),
            fields.get("model"),
            fields.get("reader_kind"),
            people.reader(fields["reader_kind"], fields["reader"]) if "reader" in fields else None,
            fields.get("reader_version"),
        )


def _state(
    ruling: Ruling, standing: set[bytes], contrary: set[bytes], undone: set[bytes | None]
) -> str:
    if ruling.verdict is None:
        return "takes back"
    if ruling.uid in standing:
        return "disputed" if ruling.subject.key in contrary else "stands"
    return "taken back" if ruling.uid in undone else "superseded"


LABELS = RowKind(
    "labels",
    "Labels",
    "One row for each label that a person gave, changed or took back: of an answer beside its "
    "wording, or of a statement for a policy issue.",
    (
        ColumnField("labelled", "answer or statement"),
        ColumnField("instrument", "name of the instrument"),
        ColumnField("statement", "name of the statement"),
        whole("statement_version", "version of the statement that was labelled"),
        ColumnField("language", "language of the wording", empty="a statement was labelled"),
        ColumnField("variant", "which wording", empty="a statement was labelled"),
        ColumnField("wording", "the text that was put", empty="a statement was labelled"),
        ColumnField("text", "the answer that was labelled", empty="a statement was labelled"),
        ColumnField("role", "person, adjudication (a decision where people differ) or import"),
        ColumnField("annotator", "who labelled: a pseudonym unless names were asked for"),
        ColumnField("codebook", "codebook of the label", empty="a statement was labelled"),
        ColumnField("issue", "policy issue", empty="an answer was labelled"),
        ColumnField(
            "label",
            "the label; for a policy issue 1 (agreeing supports it), -1 (disagreeing supports "
            "it) or 0",
            empty="the label was taken back",
        ),
        truth("newest", "whether it is this annotator's newest label of the item"),
        ColumnField("reason", "why an adjudicator decided so", empty="none is given"),
        ColumnField("note", "what the annotator wrote beside it, word for word", empty="nothing"),
        truth("flagged", "whether the annotator flagged the item"),
        whole(
            "elapsed_ms", "milliseconds from showing the item to the label", empty="not measured"
        ),
        time("time", "when", empty="imported without a time: nobody knows"),
        ANSWER_KEY.with_values(empty="a statement was labelled"),
    ),
    read_labels,
    of_models=False,
    notes=(
        "`workbench labels STORE --export FILE` writes the events for another store to import.",
    ),
)
RULINGS = RowKind(
    "rulings",
    "Rulings",
    "One row for each event: an auditor's ruling, or that an earlier one is taken back.",
    (
        ColumnField("ruling", "identity of the event (hexadecimal)"),
        ColumnField("kind", "what it is about: statement, wording, prompt, answer or reading"),
        ColumnField("verdict", "what the auditor decided", empty="an earlier ruling is taken back"),
        ColumnField(
            "reads", "what an answer that was misread says", empty="the ruling is about no reading"
        ),
        ColumnField(
            "state",
            "stands, disputed (auditors contradict each other), superseded, taken back, or takes "
            "back",
        ),
        ColumnField("reason", "why, in the auditor's words", empty="none is given"),
        ColumnField("auditor", "who ruled: a pseudonym unless names were asked for"),
        time("time", "when"),
        ColumnField(
            "takes_back", "the ruling that this event takes back", empty="it takes back none"
        ),
        ColumnField(
            "instrument",
            "name of the instrument",
            empty="a prompt or an answer is named by its keys",
        ),
        ColumnField("statement", "name of the statement", empty="as instrument"),
        whole("statement_version", "version of the statement", empty="as instrument"),
        ColumnField("language", "language of the wording", empty="it is about no wording"),
        ColumnField("variant", "which wording", empty="it is about no wording"),
        ColumnField(
            "prompt_key", "content key of the prompt", empty="it is about a statement or a wording"
        ),
        ColumnField(
            "answer_key", "content key of the answer's text", empty="it is about no answer"
        ),
        ColumnField(
            "model_key",
            "content key of the model that it is about alone",
            empty="it is about any model",
        ),
        ColumnField(
            "reader_kind",
            "kind of the reader whose reading it is about",
            empty="it is about no reading",
        ),
        ColumnField("reader", "name of that reader", empty="it is about no reading"),
        ColumnField("reader_version", "version of that reader", empty="it is about no reading"),
    ),
    read_rulings,
    of_models=False,
    notes=(
        "`workbench rulings STORE --export FILE` writes the events for another store to import.",
    ),
)


OF_CELL = {field.name: field for field in CELL}


def statements_listed(filters: Filters) -> RowKind:
    """Return the rows of the statements that filters leave."""
    return RowKind(
        "statements",
        "Statements",
        "One row for each wording of each statement.",
        (
            *recurring(
                OF_CELL["instrument"],
                OF_CELL["statement"],
                whole(
                    "statement_version", "version of the statement, from 1; an edit makes a new one"
                ),
                truth("statement_current", "whether the statement is current, not archived"),
                OF_CELL["country"],
                OF_CELL["topic"],
                OF_CELL["dimension"],
                OF_CELL["leaning"],
                ColumnField("source", "survey or test that it comes from", empty="none is given"),
                ColumnField("tags", "its tags, separated by commas"),
                OF_CELL["language"],
                OF_CELL["variant"],
            ),
            ColumnField("wording", "the text"),
            ColumnField(
                "relation",
                "how the stance on it should stand to that on the original: same, flipped or free",
                recurs=True,
            ),
            ColumnField("author", "who or what wrote it", empty="not said", recurs=True),
        ),
        partial(_read_statements, filters),
        of_models=False,
    )


def _read_statements(filters: Filters, store: Store, choice: RowSelection) -> Iterator[Row]:
    """Yield a row for each wording of each statement that filters leave."""
    for name in choice.instruments or store.instruments.names():
        for line in store.instruments.lines(name, filters):
            statement = store.statements.get(name, line.ref, line.version)
            common_values = (
                name,
                statement.ref,
                line.version,
                not filters.archived,
                statement.country,
                statement.topic,
                statement.dimension and str(statement.dimension),
                statement.leaning and str(statement.leaning),
                statement.source or None,
                ", ".join(line.tags),
            )
            for wording in statement.wordings:
                yield (
                    *common_values,
                    wording.language,
                    str(wording.variant),
                    wording.text,
                    wording.relation.value,
                    wording.author or None,
                )
