"""A batch endpoint that sends nonsense: each result is an answer or a failure with its reason,
never an error.
"""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from workbench.inference.served.batches import _entries, _report_from, read_lines
from workbench.inference.served.reply import Reply, TryFailed

DEEP: object = "end"
for _ in range(900):
    DEEP = [DEEP]
ANSWER = {"choices": [{"index": 0, "finish_reason": "stop", "message": {"content": "Agree."}}]}
HOSTILE: dict[str, object] = {
    "no response": {"custom_id": "a"},
    "an error that is a list": {"custom_id": "a", "error": [[]]},
    "an error whose code is a list": {
        "custom_id": "a",
        "error": {"code": [1], "message": {"a": 1}},
    },
    "a status that is a text": {
        "custom_id": "a",
        "response": {"status_code": "200", "body": ANSWER},
    },
    "a status that is true": {"custom_id": "a", "response": {"status_code": True, "body": ANSWER}},
    "a body that is a list": {"custom_id": "a", "response": {"status_code": 200, "body": [ANSWER]}},
    "a body that is nothing": {"custom_id": "a", "response": {"status_code": 200, "body": None}},
    "a deep body": {"custom_id": "a", "response": {"status_code": 200, "body": {"choices": DEEP}}},
    "a deep refusal": {
        "custom_id": "a",
        "response": {"status_code": 400, "body": {"error": {"message": DEEP}}},
    },
    "choices of another shape": {
        "custom_id": "a",
        "response": {"status_code": 200, "body": {"choices": {"0": 1}}},
    },
    "a message that is a text": {
        "custom_id": "a",
        "response": {"status_code": 200, "body": {"choices": [{"message": "Agree."}]}},
    },
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_result_is_a_failure_with_a_reason(what: str) -> None:
    lines = [
        json.dumps(HOSTILE[what]),
        json.dumps({"custom_id": "b", "response": {"status_code": 200, "body": ANSWER}}),
    ]
    results = dict(read_lines("\n".join(lines).encode(), {"a": 1, "b": 1}, None))
    assert isinstance(results["a"], TryFailed)
    assert results["a"].reason
    assert isinstance(results["b"], Reply), "the next line is read"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xfe",
        b"[]",
        b'null\n1\n"a"',
        b'{"custom_id": ["a"]}',
        b'{"custom_id": "unknown"}',
        b"[" * 99,
    ],
)
def test_lines_about_nothing_that_was_asked_are_skipped(content: bytes) -> None:
    assert list(read_lines(content, {"a": 1}, None)) == []


@pytest.mark.parametrize(
    "errors", [None, 5, "no", SimpleNamespace(data=5), SimpleNamespace(data="no")]
)
def test_a_description_of_a_batch_of_another_shape_is_read(errors: object) -> None:
    made = SimpleNamespace(
        id="b", status="failed", errors=errors, request_counts="many", output_file_id=7
    )
    seen = _report_from(made, None)
    assert (seen.errors, seen.files, seen.completed) == ((), (), 0)
    assert _entries(errors) == []
