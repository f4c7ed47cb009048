"""Files of other labelling tools with values of any shape are read or refused with a reason."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.test_commands import run
from tests.stores.test_exchange import label, stores_of

RESULT = {"from_name": "label", "type": "choices", "value": {"choices": ["agree"]}}
ANNOTATION: dict[str, object] = {
    "result": [RESULT],
    "completed_by": {"email": "bob"},
    "created_at": "2026-01-01",
}
TASK: dict[str, object] = {"id": 1, "data": {"text": "a"}, "annotations": [ANNOTATION]}
INFINITE, NAN = float("inf"), float("nan")
HOSTILE: dict[str, object] = {
    "an endless time": TASK | {"annotations": [ANNOTATION | {"lead_time": INFINITE}]},
    "a time that is no number": TASK | {"annotations": [ANNOTATION | {"lead_time": NAN}]},
    "a huge time": TASK | {"annotations": [ANNOTATION | {"lead_time": 1e300}]},
    "a person of another shape": TASK | {"annotations": [ANNOTATION | {"completed_by": [[]]}]},
    "a moment of another shape": TASK | {"annotations": [ANNOTATION | {"created_at": INFINITE}]},
    "a moment that no calendar has": TASK
    | {"annotations": [ANNOTATION | {"created_at": "9999999-99-99"}]},
    "labels within labels": TASK
    | {"annotations": [ANNOTATION | {"result": [{"value": {"choices": [["a"]]}}]}]},
    "results of another shape": TASK | {"annotations": [ANNOTATION | {"result": {"value": 5}}]},
    "annotations that are none": TASK | {"annotations": [None, 5, "x", []]},
    "data that are none": TASK | {"data": None},
    "a huge number": TASK | {"id": 10**30},
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_label_file_of_any_shape_ends_in_a_reason(
    tmp_path: Path, what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    ours, _ = stores_of(tmp_path)
    label(ours, "ana", 1, 2)
    for name, text in (
        ("a.json", json.dumps([HOSTILE[what]])),
        ("a.jsonl", json.dumps(HOSTILE[what])),
    ):
        (tmp_path / name).write_text(text)
        code, _, err = run(capsys, "labels", ours, "--import", tmp_path / name)
        assert code in (1, 2), err
        assert err
