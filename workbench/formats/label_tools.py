"""Labels in the layouts of other annotation tools.

The layouts that are read are Label Studio's JSON, JSON-MIN, CSV and TSV, Prodigy's and doccano's
JSON Lines, Potato's JSON Lines, tables and `user_state.json`, and Argilla's records, nested or
flattened, of its versions 1 and 2. All are recognised by their content.

Only single labels of whole answers are read. Spans, and skipped and cancelled work, are left out
and counted. An answer stands under `response`, `text` or, of doccano, `data`. Its statement stands
under `statement`. Files that are written here have both, and tools keep them with their tasks.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Any, TextIO
from uuid import UUID

from workbench.domain.annotations import EventKind, LabelEvent
from workbench.domain.names import plural
from workbench.formats.numbers import finite_number
from workbench.formats.potato_state import STATE_KEY, items_of
from workbench.formats.records import FileKind, Findings, header_of, kind_of, objects, records

TOOLS = ("label-studio", "prodigy", "doccano", "potato")
"tools whose layout is written"
READABLE = (*TOOLS, "argilla")
TABLE_OF_LABEL_STUDIO = frozenset({"annotator", "annotation_id", "lead_time"})
"fields of Label Studio's JSON-MIN, CSV and TSV besides those of a task"
OWN_OF_LABEL_STUDIO = TABLE_OF_LABEL_STUDIO | {"id", "created_at", "updated_at", "agreement"}
OF_SCHEMA = ":::"
"separator of schema and label in the columns of a table of Potato"
FLAT, USERS, STATUS = ".responses", ".responses.users", ".responses.status"
"suffixes of the columns that a question has in flattened records of Argilla"
SUBMITTED = ("submitted", "completed", None)
"states of a response that counts, with None for a version of Argilla that has no states"
NOT_CHOSEN = ("", "0", "false", "null", "none")
"values of labels of Potato that are not selected, in lower case"
ABOUT = ("statement", "response", "instrument", "ref", "variant", "language")
"fields that describe a task"
RESPONSES = ("response", "text", "answer", "displayed_text", "data")
STATEMENTS = ("statement", "claim", "original", "premise")
SAID, ANSWERED = "Statement: ", "\n\nResponse: "
"the labels of both in the one text that Potato shows"
UNTOLD = "annotator"
"the annotator if neither the tool nor the name of the file names one"

Row = dict[str, str]
Object = Mapping[str, Any]


def tool_of(path: Path) -> str:
    """Return the tool that wrote a file, or an empty string if it is none of these.

    It is recognised by the first object or the columns.
    """
    kind = kind_of(path)
    if kind is FileKind.TEXT:
        return _tool_of_table(set(header_of(path)))
    if kind not in (FileKind.JSON, FileKind.LINES):
        return ""
    first_task = next((task for _, task in objects(path, Findings()) if isinstance(task, dict)), {})
    if isinstance(first_task.get("annotations"), list) and isinstance(first_task.get("data"), dict):
        return "label-studio"
    if "label_annotations" in first_task or STATE_KEY in first_task:
        return "potato"
    if _is_of_argilla(first_task):
        return "argilla"
    if first_task.keys() >= TABLE_OF_LABEL_STUDIO:
        return "label-studio"
    if _is_of_prodigy(first_task):
        return "prodigy"
    return "doccano" if _is_of_doccano(first_task) else ""


def _tool_of_table(columns: set[str]) -> str:
    if columns >= TABLE_OF_LABEL_STUDIO:
        return "label-studio"
    if any(OF_SCHEMA in column for column in columns):
        return "potato"
    return ""


def _is_of_prodigy(task: Object) -> bool:
    return "answer" in task and any(name in task for name in ("accept", "label", "_task_hash"))


def _is_of_doccano(task: Object) -> bool:
    has_text = isinstance(task.get("text", task.get("data")), str)
    return has_text and isinstance(task.get("label", task.get("labels")), list)


def _is_of_argilla(record: Object) -> bool:
    is_nested = isinstance(record.get("fields"), dict) and isinstance(
        record.get("responses"), list | dict
    )
    return is_nested or any(name.endswith(FLAT) and f"{name}.users" in record for name in record)


def read_rows_of(
    tool: str, path: Path, codebook: str, findings: Findings
) -> tuple[list[tuple[int, Row]], list[str]]:
    """Return (place, label event as columns) of a file, and sentences about omitted data.

    `codebook` is the name of the field that holds the label, for tasks with several fields.
    """
    rows: list[tuple[int, Row]] = []
    n_omitted: Counter[str] = Counter()
    read_task = _READERS[tool]
    for place, task in _tasks_of(path, findings):
        try:
            events = list(read_task(task, path, codebook, n_omitted))
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            findings.add(
                path,
                place,
                None,
                f"no task of {tool} ({error!r:.60})",
                "the whole file as the tool wrote it",
            )
            continue
        for row, fault in events:
            if fault:
                findings.add(path, place, None, fault, "one label of the codebook for each answer")
            else:
                rows.append((place, {name: value for name, value in row.items() if value}))
    omitted_text = ", ".join(
        plural(count, caption) for caption, count in n_omitted.items() if count
    )
    notes = [f"Left out: {omitted_text}."] if omitted_text else []
    unsigned = [row for _, row in rows if "annotator" not in row]
    if unsigned:
        name = _annotator_of(tool, path)
        notes.append(
            f"Without an annotator in the file: {plural(len(unsigned), 'label')}, taken for those "
            f"of “{name}”."
        )
        for row in unsigned:
            row["annotator"] = name
    return rows, notes


def _annotator_of(tool: str, path: Path) -> str:
    """Return the annotator where a file names none: the name of the file or of its folder.

    Some tools name these after people.
    """
    if tool in ("prodigy", "doccano"):
        return path.stem
    return path.resolve().parent.name if tool == "potato" else UNTOLD


def _tasks_of(path: Path, findings: Findings) -> Iterator[tuple[int, Any]]:
    """Yield (place, task) of a file.

    A table has a task in each row, Potato's state of a person one for each labelled item.
    """
    if kind_of(path) is FileKind.TEXT:
        numbered_rows = records(path, findings)
        _, header = next(numbered_rows)
        names = [name.strip() for name in header]
        for line, cells in numbered_rows:
            yield line, dict(zip(names, cells, strict=False))
        return
    for place, task in objects(path, findings):
        if isinstance(task, dict) and STATE_KEY in task:
            yield from enumerate(items_of(task, path), start=1)
        else:
            yield place, task


Found = Iterator[tuple[Row, str]]
"(a label event as columns, the reason why it cannot be read)"


def _about(data: Object) -> Row:
    """Return the answer and its statement, by the names that tasks give them."""
    row = {name: str(data[name]) for name in ABOUT if isinstance(data.get(name), str)}
    for name, names in (("response", RESPONSES), ("statement", STATEMENTS)):
        text = next((data[name] for name in names if isinstance(data.get(name), str)), "")
        row.setdefault(name, text)
    if not row["statement"] and row["response"].startswith(SAID) and ANSWERED in row["response"]:
        statement, _, response = row["response"].removeprefix(SAID).partition(ANSWERED)
        row |= {"statement": statement, "response": response}
    return row


def _label_studio(task: Object, path: Path, codebook: str, left: Counter[str]) -> Found:
    if "annotations" not in task:
        yield from _label_studio_row(task, path, codebook, left)
        return
    task_columns = _about(task.get("data") or {})
    left["prediction"] += len(task.get("predictions") or ())
    for annotation in task.get("annotations") or ():
        if annotation.get("was_cancelled"):
            left["skipped answer"] += 1
            continue
        yield from _label_studio_annotation(annotation, task_columns, codebook, left)


def _label_studio_annotation(
    annotation: Object, task_columns: Row, codebook: str, left: Counter[str]
) -> Found:
    """Yield the label of a task that one annotator gave."""
    results = [result for result in annotation.get("result") or () if isinstance(result, dict)]
    choices = {
        str(result.get("from_name")): result["value"]
        for result in results
        if result.get("type") == "choices"
    }
    left["span"] += sum(result.get("type") in ("labels", "hypertextlabels") for result in results)
    field, fault = _field(codebook, choices, left)
    if fault:
        yield {}, fault
        return
    row = task_columns | {
        "annotator": _label_studio_user(annotation.get("completed_by")),
        "at": str(annotation.get("created_at") or ""),
        "elapsed_ms": _milliseconds(annotation.get("lead_time")),
        "note": _label_studio_note(results),
        "uid": _uid(annotation.get("unique_id")),
        "codebook": codebook,
    }
    yield from _single(choices[field].get("choices") if field else None, row, left)


def _label_studio_note(results: Iterable[Object]) -> str:
    """Return the text of the first field for texts, or an empty string."""
    for result in results:
        if result.get("type") == "textarea":
            note = result["value"].get("text")
            return "\n".join(note) if isinstance(note, list) else str(note or "")
    return ""


def _label_studio_row(task: Object, path: Path, codebook: str, left: Counter[str]) -> Found:  # noqa: ARG001
    """Yield the annotation of one row of JSON-MIN, CSV or TSV.

    The row has the fields of its task, too.
    """
    task_columns = _about(task)
    own_fields = {*OWN_OF_LABEL_STUDIO, *ABOUT, *RESPONSES, *STATEMENTS}
    values = {
        name: value for name, value in task.items() if name == codebook or name not in own_fields
    }
    if codebook not in values and len(values) > 1:
        yield (
            {},
            f"the fields {', '.join(values)}, of which none is called {codebook}; name one with "
            "--codebook",
        )
        return
    value = values.get(codebook, next(iter(values.values()), None))
    row = task_columns | {
        "annotator": _label_studio_user(task.get("annotator")),
        "at": str(task.get("created_at") or ""),
        "elapsed_ms": _milliseconds(task.get("lead_time")),
        "codebook": codebook,
    }
    yield from _single(_choices_in(value), row, left)


def _label_studio_user(who: object) -> str:
    """Return the name of an annotator, or an empty string if it is unknown.

    It is an address, or `user` and the number of a person.
    """
    if isinstance(who, dict):
        who = who.get("email") or who.get("id")
    if who in (None, ""):
        return ""
    return f"user {who}" if isinstance(who, int) or str(who).isdecimal() else str(who)


def _choices_in(value: object) -> object:
    """Return the choices of a field of a table.

    It is `agree`, or for several choices `{"choices": ["agree", "neutral"]}`.
    """
    if isinstance(value, str) and value.startswith("{"):
        value = json.loads(value)
    return value.get("choices") if isinstance(value, dict) else value


def _field(codebook: str, fields: Mapping[str, object], left: Counter[str]) -> tuple[str, str]:
    """Return the field that holds the label, and the reason why none can be chosen.

    Each is empty if it does not apply.
    """
    if codebook in fields:
        left["other field"] += len(fields) - 1
        return codebook, ""
    if len(fields) > 1:
        return "", f"the fields {', '.join(fields)}, of which none is called {codebook}"
    return next(iter(fields), ""), ""


def _prodigy(task: Object, path: Path, codebook: str, left: Counter[str]) -> Found:
    metadata = task.get("meta") if isinstance(task.get("meta"), dict) else {}
    left["span"] += len(task.get("spans") or ())
    if task.get("answer") != "accept":
        left["skipped answer" if task.get("answer") == "ignore" else "rejected suggestion"] += 1
        return
    annotator = str(task.get("_annotator_id") or task.get("_session_id") or "")
    row = _about({**(metadata or {}), **task}) | {
        "annotator": annotator.removeprefix(f"{path.stem}-"),
        "at": _moment(task.get("_timestamp")),
        "uid": _uid((metadata or {}).get("uid")),
        "codebook": codebook,
    }
    yield from _single(task["accept"] if "accept" in task else task.get("label"), row, left)


def _doccano(document: Object, path: Path, codebook: str, left: Counter[str]) -> Found:  # noqa: ARG001
    labels = document.get("label", document.get("labels"))
    spans = [label for label in labels or () if isinstance(label, list)]
    left["span"] += len(spans) + len(document.get("entities") or ())
    left["comment"] += len(document.get("Comments") or ())
    labels = [label for label in labels or () if not isinstance(label, list)]
    annotator = document.get("username") or document.get("user") or document.get("annotator") or ""
    further = {name: str(document.get(name) or "") for name in ("at", "note")}
    uid = _uid(document.get("uid"))
    yield from _single(
        labels,
        _about(document)
        | further
        | {"annotator": str(annotator), "uid": uid, "codebook": codebook},
        left,
    )


def _potato(item: Object, path: Path, codebook: str, left: Counter[str]) -> Found:  # noqa: ARG001
    fields = item.get("label_annotations")
    fields = fields if isinstance(fields, dict) else _schemas_of(item)
    left["span"] += len(item.get("span_annotations") or ())
    field, fault = _field(codebook, fields, left)
    if fault:
        yield {}, fault
        return
    selected = fields.get(field)
    if isinstance(selected, dict):
        selected = [
            label
            for label, value in selected.items()
            if str(value).strip().lower() not in NOT_CHOSEN
        ]
    annotator = item.get("user") or item.get("user_id") or ""
    row = _about(item) | {
        name: str(item[name]) for name in ("at", "elapsed_ms") if item.get(name) is not None
    }
    row |= {"annotator": str(annotator), "uid": _uid(item.get("uid")), "codebook": codebook}
    yield from _single(selected, row, left)


def _schemas_of(row: Object) -> dict[str, dict[str, object]]:
    """Return schema -> label -> value of the columns `schema:::label` of a table."""
    schemas: dict[str, dict[str, object]] = {}
    for column, value in row.items():
        schema, separator, label = column.partition(OF_SCHEMA)
        if separator:
            schemas.setdefault(schema, {})[label] = value
    return schemas


def _argilla(record: Object, path: Path, codebook: str, left: Counter[str]) -> Found:  # noqa: ARG001
    fields = record.get("fields") if isinstance(record.get("fields"), dict) else record
    task_columns = _about({**(record.get("metadata") or {}), **(fields or {})})
    answers = _answers_of(record)
    field, fault = _field(codebook, answers, left)
    if fault:
        yield {}, fault
        return
    if not answers.get(field):
        left["unlabelled answer"] += 1
    for user, status, value in answers.get(field, ()):
        if status not in SUBMITTED:
            left["draft or discarded answer"] += 1
            continue
        yield from _single(
            value, task_columns | {"annotator": str(user or ""), "codebook": codebook}, left
        )


def _answers_of(record: Object) -> dict[str, list[tuple[object, object, object]]]:
    """Return question -> (user, status, value) of each response to a record of Argilla."""
    answers: dict[str, list[tuple[object, object, object]]] = {}
    responses = record.get("responses")
    if isinstance(responses, dict):  # version 2
        for question, parts in responses.items():
            answers[question] = [
                (part.get("user_id"), part.get("status"), part["value"]) for part in parts or ()
            ]
        return answers
    for response in responses or ():  # version 1
        for question, part in (response.get("values") or {}).items():
            answers.setdefault(question, []).append(
                (response.get("user_id"), response.get("status"), part["value"])
            )
    for column, values in record.items():  # flattened
        if column.endswith(FLAT) and values:
            question = column.removesuffix(FLAT)
            users, states = (
                record[f"{question}{USERS}"],
                record.get(f"{question}{STATUS}") or [None] * len(values),
            )
            answers[question] = list(zip(users, states, values, strict=True))
    return answers


_READERS: Mapping[str, Callable[[Object, Path, str, Counter[str]], Found]] = {
    "label-studio": _label_studio,
    "prodigy": _prodigy,
    "doccano": _doccano,
    "potato": _potato,
    "argilla": _argilla,
}


def _single(labels: object, row: Row, left: Counter[str]) -> Found:
    """Yield an event with its one label, or the reason why it has several.

    An answer without a label is counted.
    """
    label_list: list[object] = []
    if isinstance(labels, str):
        label_list = [labels]
    elif isinstance(labels, list):
        label_list = labels
    if not any(label_list):
        left["unlabelled answer"] += 1
        return
    if len(label_list) != 1 or not isinstance(label_list[0], str):
        yield {}, f"{len(label_list)} labels of one answer: {', '.join(map(str, label_list))[:80]}"
        return
    yield row | {"label": label_list[0]}, ""


MOST_SECONDS = 1e9
"upper limit in seconds of the time that a person takes for a label, a finite number"


def _milliseconds(seconds: object) -> str:
    """Return seconds, a number or its text, in milliseconds.

    It is an empty string if they are neither, as the time is then unknown.
    """
    number = finite_number(seconds, low=0, high=MOST_SECONDS)
    return "" if number is None else str(round(1000 * number))


def _moment(timestamp: object) -> str:
    try:
        return datetime.fromtimestamp(float(str(timestamp)), UTC).isoformat(timespec="milliseconds")
    except (ValueError, OverflowError, OSError):
        return ""


def _uid(value: object) -> str:
    """Return the identifier of an event, as a label file has it, or an empty string.

    Only a UUID is one.
    """
    try:
        return UUID(str(value)).hex
    except ValueError:
        return ""


def write_for(tool: str, events: Iterable[LabelEvent], file: TextIO) -> tuple[int, list[str]]:
    """Write labels in the layout of a tool.

    Returns their number, and sentences about data without a place in the layout.
    """
    n_omitted: Counter[str] = Counter()
    written = [event for event in events if _writable(event, n_omitted)]
    if tool == "label-studio":
        file.write(json.dumps(list(_tasks(written)), ensure_ascii=True, indent=1) + "\n")
    else:
        convert = {"prodigy": _as_prodigy, "doccano": _as_doccano, "potato": _as_potato}[tool]
        for number, event in enumerate(written, start=1):
            file.write(json.dumps(convert(event, number), ensure_ascii=True) + "\n")
    fields_by_tool = {
        "label-studio": ("confidence",),
        "prodigy": ("confidence", "note", "elapsed_ms"),
    }
    for name in fields_by_tool.get(
        tool, ("confidence", "elapsed_ms") if tool == "doccano" else ("confidence", "note")
    ):
        n_omitted[name.removesuffix("_ms")] += sum(
            getattr(event, name) not in (None, "") for event in written
        )
    omitted_text = ", ".join(
        f"{count:,} × {caption}" for caption, count in n_omitted.items() if count
    )
    return len(written), [
        f"Left out, as the layout has no place for it: {omitted_text}."
    ] if omitted_text else []


def _writable(event: LabelEvent, left: Counter[str]) -> bool:
    if event.kind is not EventKind.LABEL or event.label is None:
        left[
            "decision of an adjudicator"
            if event.kind is EventKind.ADJUDICATION
            else "remark or withdrawal"
        ] += 1
        return False
    left["flag"] += event.flagged
    return True


def _task_of(event: LabelEvent) -> tuple[str, ...]:
    return tuple(str(getattr(event, name)) for name in ABOUT)


def _tasks(events: list[LabelEvent]) -> Iterator[Object]:
    for number, (task_values, task_events) in enumerate(
        groupby(sorted(events, key=_task_of), key=_task_of), start=1
    ):
        task_annotations = [
            {
                "unique_id": str(UUID(bytes=event.uid)),
                "completed_by": {"email": event.annotator},
                "created_at": event.at or None,
                "lead_time": None if event.elapsed_ms is None else event.elapsed_ms / 1000,
                "was_cancelled": False,
                "result": [
                    _result(event.codebook, "choices", {"choices": [event.label]}),
                    *([_result("note", "textarea", {"text": [event.note]})] if event.note else []),
                ],
            }
            for event in task_events
        ]
        yield {
            "id": number,
            "data": dict(zip(ABOUT, task_values, strict=True)),
            "annotations": task_annotations,
        }


def _result(field: str, kind: str, value: Object) -> Object:
    return {"from_name": field, "to_name": "response", "type": kind, "value": value}


def _as_prodigy(event: LabelEvent, number: int) -> Object:  # noqa: ARG001
    meta = {
        **{name: getattr(event, name) for name in ABOUT if name != "response"},
        "uid": event.uid.hex(),
    }
    timestamp = datetime.fromisoformat(event.at).timestamp() if event.at else None
    return {
        "text": event.response,
        "meta": meta,
        "accept": [event.label],
        "answer": "accept",
        "_annotator_id": event.annotator,
        "_view_id": "choice",
        "_timestamp": timestamp,
    }


def _as_doccano(event: LabelEvent, number: int) -> Object:
    task_fields = {name: getattr(event, name) for name in ABOUT if name != "response"}
    return {
        "id": number,
        "text": event.response,
        "label": [event.label],
        "username": event.annotator,
        "at": event.at,
        "note": event.note,
        "uid": event.uid.hex(),
        **task_fields,
    }


def _as_potato(event: LabelEvent, number: int) -> Object:
    task_fields = {
        name: getattr(event, name) for name in ABOUT if name not in ("response", "statement")
    }
    displayed_text = f"{SAID}{event.statement}{ANSWERED}{event.response}"
    return {
        "id": str(number),
        "displayed_text": displayed_text,
        "label_annotations": {event.codebook: {event.label: "1"}},
        "span_annotations": {},
        "user": event.annotator,
        "at": event.at,
        "elapsed_ms": event.elapsed_ms,
        "uid": event.uid.hex(),
        **task_fields,
    }
