"""Labels of other tools, in realistic files of their layouts, and the way out and in again."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.domain.annotations import EventKind, LabelEvent
from workbench.errors import InputError, UsageError
from workbench.formats.label_files import read_labels
from workbench.formats.label_tools import TOOLS, tool_of, write_for
from workbench.pipeline.label_imports import read_label_file

STATEMENT, ANSWER = "Land should be taxed.", "Yes, on balance it should."
DATA = {"statement": STATEMENT, "text": ANSWER}


def choice(label: str, field: str = "stance") -> dict[str, Any]:
    return {"from_name": field, "to_name": "text", "type": "choices", "value": {"choices": [label]}}


def label_studio(*annotations: dict[str, Any], data: dict[str, str] = DATA) -> str:
    return json.dumps(
        [{"id": 1, "data": data, "annotations": list(annotations), "predictions": [{}]}]
    )


ANA = {
    "id": 9,
    "completed_by": {"id": 3, "email": "ana@lab.example"},
    "was_cancelled": False,
    "lead_time": 4.288,
    "created_at": "2026-03-09T22:16:08.728353Z",
    "unique_id": "6d4f2c0e-7c13-4b0c-9d1a-1f2e3d4c5b6a",
    "result": [
        choice("agree"),
        {"from_name": "span", "type": "labels", "value": {"start": 0, "labels": ["x"]}},
    ],
}
CASES = {
    "label-studio": (
        "export.json",
        label_studio(ANA, {**ANA, "completed_by": 4, "was_cancelled": True}),
    ),
    "prodigy": (
        "stance.jsonl",
        "\n".join(
            map(
                json.dumps,
                [
                    {
                        "text": ANSWER,
                        "meta": {"statement": STATEMENT},
                        "options": [{"id": "agree"}, {"id": "disagree"}],
                        "accept": ["agree"],
                        "answer": "accept",
                        "_session_id": "stance-ana@lab.example",
                        "_timestamp": 1773094568,
                        "_task_hash": 1,
                        "spans": [{"start": 0, "end": 3, "label": "x"}],
                    },
                    {
                        "text": "Hm.",
                        "meta": {"statement": STATEMENT},
                        "accept": [],
                        "answer": "ignore",
                        "_session_id": "stance-a",
                    },
                ],
            )
        ),
    ),
    "doccano": (
        "ana@lab.example.jsonl",
        "\n".join(
            map(
                json.dumps,
                [
                    {
                        "id": 4,
                        "text": ANSWER,
                        "statement": STATEMENT,
                        "label": ["agree"],
                        "Comments": ["odd"],
                    },
                    {"id": 5, "text": "Hm.", "statement": STATEMENT, "label": []},
                ],
            )
        ),
    ),
    "potato": (
        "annotated_instances.jsonl",
        json.dumps(
            {
                "id": "4",
                "displayed_text": f"Statement: {STATEMENT}\n\nResponse: {ANSWER}",
                "user": "ana@lab.example",
                "label_annotations": {"stance": {"agree": "1"}},
                "span_annotations": {"x": [0, 3]},
                "behavioral_data": {},
            }
        ),
    ),
}


@pytest.mark.parametrize("tool", TOOLS)
def test_labels_of_a_tool_come_in_with_what_is_left_out_said(tmp_path: Path, tool: str) -> None:
    name, content = CASES[tool]
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    assert tool_of(path) == tool
    told: list[str] = []
    [event] = read_labels(path, "stance", told.append)
    assert (event.annotator, event.label, event.codebook) == ("ana@lab.example", "agree", "stance")
    assert (event.response, event.statement) == (ANSWER, STATEMENT)
    assert told[0] == f"Reading {name} as labels of {tool}."
    assert ("1 comment, 1 unlabelled answer" if tool == "doccano" else "1 span") in told[1]
    if tool in ("label-studio", "prodigy"):
        assert event.at.startswith("2026-03-09T22:16:08")
        assert "1 skipped answer" in told[1]
    if tool == "label-studio":
        assert (event.elapsed_ms, event.uid.hex()) == (4288, ANA["unique_id"].replace("-", ""))
    assert [one.uid for one in read_labels(path)] == [event.uid], "read again it is the same event"


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (
            label_studio({"result": [choice("a", "x"), choice("b", "y")]}),
            "fields x, y, of which none is called stance",
        ),
        (
            label_studio({"result": [{**choice(""), "value": {"choices": ["a", "b"]}}]}),
            "2 labels of one answer: a, b",
        ),
        (label_studio(ANA, data={"text": ANSWER}), "column 'statement': found nothing"),
        (label_studio({"result": [{"type": "choices"}]}), "no task of label-studio"),
        (label_studio({"result": 3}), "no task of label-studio"),
    ],
)
def test_what_is_no_single_label_is_a_fault_with_its_task(
    tmp_path: Path, content: str, found: str
) -> None:
    path = tmp_path / "export.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=found):
        read_labels(path)


ROW = {
    "id": 0,
    **DATA,
    "stance": "disagree",
    "annotator": 1,
    "annotation_id": 10,
    "lead_time": 3.2,
    "created_at": "2026-05-01T10:00:00.000000Z",
    "updated_at": "2026-05-01T10:00:00.000000Z",
}
NESTED = {
    "id": "0",
    "fields": DATA,
    "metadata": {"ref": "a-1"},
    "suggestions": {},
    "status": "completed",
}
STATE = {
    "user_id": "ana",
    "instance_id_to_label_to_value": {
        "i1": [
            [{"schema": "stance", "name": "agree"}, "true"],
            [{"schema": "stance", "name": "neutral"}, False],
        ],
        "i2": {"stance": {"disagree": "1"}},
        "i3": [],
    },
}


def as_table(rows: list[dict[str, Any]], between: str = ",") -> str:
    lines = [
        between.join(rows[0]),
        *(between.join(f'"{value}"' for value in row.values()) for row in rows),
    ]
    return "\n".join(lines) + "\n"


VARIANTS: list[tuple[str, str, str, list[tuple[str, str]], str]] = [
    (
        "min.json",
        json.dumps([ROW, {**ROW, "annotator": "bo@lab.example", "stance": ""}]),
        "label-studio",
        [("user 1", "disagree")],
        "1 unlabelled answer",
    ),
    (
        "several.csv",
        as_table([ROW, {**ROW, "stance": '{""choices"": [""agree""]}', "annotator": "2"}]),
        "label-studio",
        [("user 1", "disagree"), ("user 2", "agree")],
        "",
    ),
    ("several.tsv", as_table([ROW], "\t"), "label-studio", [("user 1", "disagree")], ""),
    (
        "nested.jsonl",
        json.dumps(
            {
                **NESTED,
                "responses": {
                    "stance": [
                        {"value": "agree", "user_id": "u1", "status": "submitted"},
                        {"value": "neutral", "user_id": "u2", "status": "draft"},
                    ]
                },
            }
        ),
        "argilla",
        [("u1", "agree")],
        "1 draft or discarded answer",
    ),
    (
        "first.json",
        json.dumps(
            [
                {
                    **NESTED,
                    "responses": [
                        {
                            "user_id": "u1",
                            "status": "submitted",
                            "values": {"stance": {"value": "agree"}},
                        }
                    ],
                }
            ]
        ),
        "argilla",
        [("u1", "agree")],
        "",
    ),
    (
        "flat.jsonl",
        json.dumps(
            {
                "id": "0",
                "status": "completed",
                **DATA,
                "stance.suggestion": None,
                "stance.responses": ["agree", "neutral"],
                "stance.responses.users": ["u1", "u2"],
                "stance.responses.status": ["submitted", "submitted"],
            }
        ),
        "argilla",
        [("u1", "agree"), ("u2", "neutral")],
        "",
    ),
    (
        "ana.jsonl",
        json.dumps(
            {"id": 1, "data": ANSWER, "statement": STATEMENT, "label": ["agree"], "user": "ana"}
        ),
        "doccano",
        [("ana", "agree")],
        "",
    ),
    (
        "potato.csv",
        as_table(
            [
                {
                    "user": "ana",
                    "instance_id": "1",
                    "displayed_text": f"Statement: {STATEMENT}\n\nResponse: {ANSWER}",
                    "stance:::agree": "1",
                    "stance:::disagree": "",
                }
            ]
        ),
        "potato",
        [("ana", "agree")],
        "",
    ),
    (
        "empty.jsonl",
        "\n".join(
            json.dumps({**DATA, "accept": accept, "answer": "accept", "_annotator_id": "x-ana"})
            for accept in (["agree"], [], [])
        ),
        "prodigy",
        [("x-ana", "agree")],
        "2 unlabelled answers",
    ),
]


@pytest.mark.parametrize(
    ("name", "content", "tool", "labels", "left"), VARIANTS, ids=[each[0] for each in VARIANTS]
)
def test_other_exports_of_a_tool_come_in_too(
    tmp_path: Path, name: str, content: str, tool: str, labels: list[tuple[str, str]], left: str
) -> None:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    told: list[str] = []
    events = read_labels(path, "stance", told.append)
    assert [(event.annotator, event.label) for event in events] == labels
    assert {(event.statement, event.response) for event in events} == {(STATEMENT, ANSWER)}
    assert told == [
        f"Reading {name} as labels of {tool}.",
        *([f"Left out: {left}."] if left else []),
    ]


def test_who_labelled_is_said_where_a_file_does_not_say_it(tmp_path: Path) -> None:
    path = tmp_path / "round-2.jsonl"
    path.write_text(CASES["doccano"][1], encoding="utf-8")
    told: list[str] = []
    [event] = read_labels(path, "stance", told.append)
    assert event.annotator == "round-2"
    assert told[2] == "Without an annotator in the file: 1 label, taken for those of “round-2”."
    file = read_label_file(path)
    assert file.notes[3] == (
        "Without a time in the file: 1 event. The time of this import orders them; exports leave "
        "their time empty."
    )


@pytest.mark.parametrize(
    ("seconds", "milliseconds"),
    [("3.2", 3200), ("3,2", None), ("soon", None), ("-1", None), ("", None), ("inf", None)],
)
def test_a_time_for_a_label_that_is_no_number_is_unknown(
    tmp_path: Path, seconds: str, milliseconds: int | None
) -> None:
    path = tmp_path / "several.csv"
    path.write_text(as_table([{**ROW, "lead_time": seconds}]), encoding="utf-8")
    assert [(event.label, event.elapsed_ms) for event in read_labels(path)] == [
        ("disagree", milliseconds)
    ]


def test_the_state_of_a_person_in_potato_has_its_texts_in_the_data_files_of_the_task(
    tmp_path: Path,
) -> None:
    state = tmp_path / "task" / "annotation_output" / "ana" / "user_state.json"
    state.parent.mkdir(parents=True)
    state.write_text(json.dumps(STATE), encoding="utf-8")
    with pytest.raises(
        UsageError, match=r"labels of Potato by the ids of items, without texts.* \(i1, i2\)"
    ):
        read_labels(state)
    (tmp_path / "task" / "data").mkdir()
    items = [
        {"id": "i1", **DATA},
        {"id": "i2", "statement": STATEMENT, "text": "No."},
        {"id": "i3", **DATA},
    ]
    (tmp_path / "task" / "data" / "items.jsonl").write_text(
        "\n".join(map(json.dumps, items)), encoding="utf-8"
    )
    assert [(event.annotator, event.label, event.response) for event in read_labels(state)] == [
        ("ana", "agree", ANSWER),
        ("ana", "disagree", "No."),
    ]


def test_several_accepted_options_are_a_fault(tmp_path: Path) -> None:
    path = tmp_path / "stance.jsonl"
    path.write_text(
        json.dumps({**DATA, "accept": ["agree", "neutral"], "answer": "accept"}), encoding="utf-8"
    )
    with pytest.raises(InputError, match="2 labels of one answer: agree, neutral"):
        read_labels(path)


WORDS = st.text(
    st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=30
).filter(str.strip)
PLAIN = st.from_regex(r"[a-z][a-z0-9-]{0,9}", fullmatch=True)
EVENTS = st.builds(
    LabelEvent,
    uid=st.binary(min_size=16, max_size=16),
    kind=st.just(EventKind.LABEL),
    codebook=st.just("stance"),
    annotator=PLAIN,
    response=WORDS,
    statement=WORDS,
    instrument=PLAIN,
    ref=PLAIN,
    variant=PLAIN,
    language=st.just("en"),
    label=PLAIN,
    at=st.just("2026-03-09T22:16:08.728Z"),
    elapsed_ms=st.integers(0, 10**6),
)
LOST = {"prodigy": {"elapsed_ms": None}, "doccano": {"elapsed_ms": None}}


@pytest.mark.parametrize("tool", TOOLS)
@given(events=st.lists(EVENTS, min_size=1, max_size=5, unique_by=lambda one: one.uid))
def test_what_goes_out_comes_in_again(
    tmp_path_factory: pytest.TempPathFactory, tool: str, events: list[LabelEvent]
) -> None:
    path = tmp_path_factory.mktemp("t") / ("x.json" if tool == "label-studio" else "x.jsonl")
    with path.open("w", encoding="utf-8") as file:
        count, _ = write_for(tool, events, file)
    assert count == len(events)
    found = {one.uid: replace(one, line=0) for one in read_labels(path)}
    assert found == {one.uid: replace(one, **LOST.get(tool, {})) for one in events}


def test_what_a_layout_has_no_place_for_is_counted(tmp_path: Path) -> None:
    about = (ANSWER, STATEMENT, "i", "r", "original", "en", "agree")
    one = LabelEvent(
        b"1" * 16,
        EventKind.LABEL,
        "stance",
        "ana",
        *about,
        note="odd",
        flagged=True,
        confidence=0.5,
    )
    with (tmp_path / "x.jsonl").open("w", encoding="utf-8") as file:
        count, left = write_for(
            "prodigy", [one, replace(one, uid=b"2" * 16, kind=EventKind.REMARK, label=None)], file
        )
    assert count == 1
    assert left == [
        "Left out, as the layout has no place for it: 1 × flag, 1 × remark or withdrawal, 1 × "
        "confidence, 1 × note."
    ]


def test_an_unknown_layout_is_named_once(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text(
        f"{json.dumps({'id': 1, 'content': ANSWER, 'tags': ['agree']})}\n" * 8, encoding="utf-8"
    )
    with pytest.raises(
        UsageError, match="found objects with id, content, tags, which no tool of these writes"
    ):
        read_labels(path)


def test_statements_that_no_task_has_are_missed_once(tmp_path: Path) -> None:
    path = tmp_path / "ana.jsonl"
    path.write_text(
        f"{json.dumps({'id': 1, 'data': ANSWER, 'label': ['agree']})}\n" * 8, encoding="utf-8"
    )
    with pytest.raises(InputError, match="found nothing, as in all 8 labels") as caught:
        read_labels(path)
    assert len(caught.value.findings) == 1
