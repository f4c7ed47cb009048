"""Labels in the layouts of other annotation tools: Label Studio (JSON), Prodigy, doccano and Potato (JSON Lines).

What is read are single labels of whole answers. Spans, and skipped and cancelled work, are left out and counted. An
answer stands under `response`, or `text`; what it answers under `statement`. What is written here has both, and tools
keep them with their tasks.
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
from workbench.formats.records import Findings, Kind, kind_of, objects

TOOLS = ("label-studio", "prodigy", "doccano", "potato")
ABOUT = ("statement", "response", "instrument", "ref", "variant", "language")
"what a task is about"
RESPONSES = ("response", "text", "answer", "displayed_text")
STATEMENTS = ("statement", "claim", "original", "premise")
SAID, ANSWERED = "Statement: ", "\n\nResponse: "
"how both stand in the one text that Potato shows"
UNTOLD = "annotator"
"who labelled, where a tool does not say"

Row = dict[str, str]
Object = Mapping[str, Any]


def tool_of(path: Path) -> str:
    """Return the tool that wrote a file, by its first object; "" where it is none of these."""
    kind = kind_of(path)
    if kind not in (Kind.JSON, Kind.LINES):
        return ""
    first = next((one for _, one in objects(path, Findings()) if isinstance(one, dict)), {})
    if isinstance(first.get("annotations"), list) and isinstance(first.get("data"), dict):
        return "label-studio"
    if "label_annotations" in first:
        return "potato"
    if "answer" in first and ("accept" in first or "label" in first or "_task_hash" in first):
        return "prodigy"
    if "text" in first and isinstance(first.get("label", first.get("labels")), list):
        return "doccano"
    return ""


def read_rows_of(tool: str, path: Path, codebook: str, findings: Findings) -> tuple[list[tuple[int, Row]], list[str]]:
    """Return (place, label event as columns) of a file, and sentences on what was left out.

    codebook : the name of the field that holds the label, where a task has several
    """
    rows: list[tuple[int, Row]] = []
    left: Counter[str] = Counter()
    read = _READERS[tool]
    for place, one in objects(path, findings):
        try:
            given = list(read(one, path, codebook, left))
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            findings.add(path, place, None, f"no task of {tool} ({error!r:.60})", "the whole file as the tool wrote it")
            continue
        for row, why in given:
            if why:
                findings.add(path, place, None, why, "one label of the codebook for each answer")
            else:
                rows.append((place, {name: value for name, value in row.items() if value}))
    told = ", ".join(plural(n, what) for what, n in left.items() if n)
    return rows, [f"Left out: {told}."] if told else []


Found = Iterator[tuple[Row, str]]
"(a label event as columns, why it cannot be read)"


def _about(data: Object) -> Row:
    """Return the answer and what it answers, by the names that tasks give them."""
    row = {name: str(data[name]) for name in ABOUT if isinstance(data.get(name), str)}
    for name, names in (("response", RESPONSES), ("statement", STATEMENTS)):
        found = next((data[one] for one in names if isinstance(data.get(one), str)), "")
        row.setdefault(name, found)
    if not row["statement"] and row["response"].startswith(SAID) and ANSWERED in row["response"]:
        statement, _, response = row["response"].removeprefix(SAID).partition(ANSWERED)
        row |= {"statement": statement, "response": response}
    return row


def _label_studio(one: Object, path: Path, codebook: str, left: Counter[str]) -> Found:  # noqa: ARG001
    about = _about(one.get("data") or {})
    left["prediction"] += len(one.get("predictions") or ())
    for given in one.get("annotations") or ():
        if given.get("was_cancelled"):
            left["skipped answer"] += 1
            continue
        results = [part for part in given.get("result") or () if isinstance(part, dict)]
        choices = {str(part.get("from_name")): part["value"] for part in results if part.get("type") == "choices"}
        left["span"] += sum(part.get("type") in ("labels", "hypertextlabels") for part in results)
        left["other field"] += max(0, len(choices) - 1)
        value = choices.get(codebook) or (next(iter(choices.values())) if len(choices) == 1 else None)
        if value is None and len(choices) > 1:
            yield {}, f"the fields {', '.join(choices)}, of which none is called {codebook}"
            continue
        if value is None:
            left["annotation without a label"] += 1
            continue
        who = given.get("completed_by", UNTOLD)
        who = who.get("email") or who.get("id") if isinstance(who, dict) else who
        note = next((part["value"].get("text") for part in results if part.get("type") == "textarea"), "")
        yield _single(value.get("choices"), about | {
            "annotator": f"user {who}" if isinstance(who, int) else str(who),
            "at": str(given.get("created_at") or ""),
            "elapsed_ms": _milliseconds(given.get("lead_time")),
            "note": "\n".join(note) if isinstance(note, list) else str(note or ""),
            "uid": _uid(given.get("unique_id")),
            "codebook": codebook,
        })  # fmt: skip


def _prodigy(one: Object, path: Path, codebook: str, left: Counter[str]) -> Found:
    meta = one.get("meta") if isinstance(one.get("meta"), dict) else {}
    left["span"] += len(one.get("spans") or ())
    if one.get("answer") != "accept":
        left["skipped answer" if one.get("answer") == "ignore" else "rejected suggestion"] += 1
        return
    who = str(one.get("_annotator_id") or one.get("_session_id") or path.stem)
    at = one.get("_timestamp")
    yield _single(one.get("accept") or one.get("label"), _about({**(meta or {}), **one}) | {
        "annotator": who.removeprefix(f"{path.stem}-"),
        "at": _moment(at),
        "uid": _uid((meta or {}).get("uid")),
        "codebook": codebook,
    })  # fmt: skip


def _doccano(one: Object, path: Path, codebook: str, left: Counter[str]) -> Found:
    labels = one.get("label", one.get("labels"))
    spans = [part for part in labels or () if isinstance(part, list)]
    left["span"] += len(spans) + len(one.get("entities") or ())
    left["comment"] += len(one.get("Comments") or ())
    labels = [part for part in labels or () if not isinstance(part, list)]
    if not labels:
        left["text without a label"] += 1
        return
    who = one.get("username") or one.get("user") or one.get("annotator") or path.stem
    said = {name: str(one.get(name) or "") for name in ("at", "note")}
    uid = _uid(one.get("uid"))
    yield _single(labels, _about(one) | said | {"annotator": str(who), "uid": uid, "codebook": codebook})


def _potato(one: Object, path: Path, codebook: str, left: Counter[str]) -> Found:
    fields = one.get("label_annotations")
    fields = fields if isinstance(fields, dict) else {}
    left["span"] += len(one.get("span_annotations") or ())
    chosen = fields.get(codebook) or (next(iter(fields.values())) if len(fields) == 1 else None)
    if chosen is None:
        left["text without a label"] += 1
        return
    labels = list(chosen) if isinstance(chosen, dict) else chosen
    who = one.get("user") or one.get("user_id") or path.resolve().parent.name
    said = {name: str(one[name]) for name in ("at", "elapsed_ms") if one.get(name) is not None}
    uid = _uid(one.get("uid"))
    yield _single(labels, _about(one) | said | {"annotator": str(who), "uid": uid, "codebook": codebook})


_READERS: Mapping[str, Callable[[Object, Path, str, Counter[str]], Found]] = {
    "label-studio": _label_studio,
    "prodigy": _prodigy,
    "doccano": _doccano,
    "potato": _potato,
}


def _single(labels: object, row: Row) -> tuple[Row, str]:
    """Return an event with its one label, or why it has none."""
    found = [labels] if isinstance(labels, str) else labels if isinstance(labels, list) else []
    if len(found) != 1 or not isinstance(found[0], str):
        return {}, f"{len(found)} labels of one answer: {', '.join(map(str, found))[:80] or 'none'}"
    return row | {"label": found[0]}, ""


MOST_SECONDS = 1e9
"a time that a person takes for a label is shorter, and a finite number"


def _milliseconds(seconds: object) -> str:
    return str(round(1000 * seconds)) if isinstance(seconds, (int, float)) and 0 <= seconds <= MOST_SECONDS else ""


def _moment(timestamp: object) -> str:
    try:
        return datetime.fromtimestamp(float(str(timestamp)), UTC).isoformat(timespec="milliseconds")
    except (ValueError, OverflowError, OSError):
        return ""


def _uid(value: object) -> str:
    """Return what tells an event from others, as a label file has it: a UUID is one."""
    try:
        return UUID(str(value)).hex
    except ValueError:
        return ""


def write_for(tool: str, events: Iterable[LabelEvent], file: TextIO) -> tuple[int, list[str]]:
    """Write labels in the layout of a tool; return their number, and sentences on what it has no place for."""
    left: Counter[str] = Counter()
    kept = [one for one in events if _writable(one, left)]
    if tool == "label-studio":
        file.write(json.dumps(list(_tasks(kept)), ensure_ascii=True, indent=1) + "\n")
    else:
        made = {"prodigy": _as_prodigy, "doccano": _as_doccano, "potato": _as_potato}[tool]
        for number, one in enumerate(kept, start=1):
            file.write(json.dumps(made(one, number), ensure_ascii=True) + "\n")
    lost = {"label-studio": ("confidence",), "prodigy": ("confidence", "note", "elapsed_ms")}
    for name in lost.get(tool, ("confidence", "elapsed_ms") if tool == "doccano" else ("confidence", "note")):
        left[name.removesuffix("_ms")] += sum(getattr(one, name) not in (None, "") for one in kept)
    told = ", ".join(f"{n:,} × {what}" for what, n in left.items() if n)
    return len(kept), [f"Left out, as the layout has no place for it: {told}."] if told else []


def _writable(event: LabelEvent, left: Counter[str]) -> bool:
    if event.kind is not EventKind.LABEL or event.label is None:
        left["decision of an adjudicator" if event.kind is EventKind.ADJUDICATION else "remark or withdrawal"] += 1
        return False
    left["flag"] += event.flagged
    return True


def _task_of(event: LabelEvent) -> tuple[str, ...]:
    return tuple(str(getattr(event, name)) for name in ABOUT)


def _tasks(events: list[LabelEvent]) -> Iterator[Object]:
    for number, (about, of) in enumerate(groupby(sorted(events, key=_task_of), key=_task_of), start=1):
        given = [
            {
                "unique_id": str(UUID(bytes=one.uid)),
                "completed_by": {"email": one.annotator},
                "created_at": one.at,
                "lead_time": None if one.elapsed_ms is None else one.elapsed_ms / 1000,
                "was_cancelled": False,
                "result": [
                    _result(one.codebook, "choices", {"choices": [one.label]}),
                    *([_result("note", "textarea", {"text": [one.note]})] if one.note else []),
                ],
            }
            for one in of
        ]  # fmt: skip
        yield {"id": number, "data": dict(zip(ABOUT, about, strict=True)), "annotations": given}


def _result(field: str, kind: str, value: Object) -> Object:
    return {"from_name": field, "to_name": "response", "type": kind, "value": value}


def _as_prodigy(event: LabelEvent, number: int) -> Object:  # noqa: ARG001
    meta = {**{name: getattr(event, name) for name in ABOUT if name != "response"}, "uid": event.uid.hex()}
    at = datetime.fromisoformat(event.at).timestamp() if event.at else None
    return {"text": event.response, "meta": meta, "accept": [event.label], "answer": "accept",
            "_annotator_id": event.annotator, "_view_id": "choice", "_timestamp": at}  # fmt: skip


def _as_doccano(event: LabelEvent, number: int) -> Object:
    about = {name: getattr(event, name) for name in ABOUT if name != "response"}
    return {"id": number, "text": event.response, "label": [event.label], "username": event.annotator, "at": event.at,
            "note": event.note, "uid": event.uid.hex(), **about}  # fmt: skip


def _as_potato(event: LabelEvent, number: int) -> Object:
    about = {name: getattr(event, name) for name in ABOUT if name not in ("response", "statement")}
    shown = f"{SAID}{event.statement}{ANSWERED}{event.response}"
    return {"id": str(number), "displayed_text": shown, "label_annotations": {event.codebook: {event.label: "1"}},
            "span_annotations": {}, "user": event.annotator, "at": event.at, "elapsed_ms": event.elapsed_ms,
            "uid": event.uid.hex(), **about}  # fmt: skip
