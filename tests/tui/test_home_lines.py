"""Lines of Home in a narrow terminal."""

from __future__ import annotations

from dataclasses import MISSING, fields

import pytest
from textual.content import Content

from stores.jobs.job_rows import PROBE, Job
from workbench.pipeline.todo import Task
from workbench.tui.home.home_lines import AROUND, BELOW, INDENT, _job, _task


@pytest.mark.parametrize("width", [80, 100, 140])
@pytest.mark.parametrize(
    ("what", "route", "key"),
    [
        ("wait for an auditor: acme/a-model-with-a-name-that-goes-on-and-on-7b (reliability)", ("review",), " · V"),
        ("wait for an auditor: 長い名前のモデル長い名前のモデル長い名前のモデル (reliability)", ("review",), " · V"),
        ("of job 1234 (cancelled) are missing: Enter leads there, R continues", ("jobs", "1"), "R continues"),
    ],
)
def test_a_line_of_what_to_do_keeps_its_key_and_cuts_its_words(
    what: str, route: tuple[object, ...], key: str, width: int
) -> None:
    room = width - INDENT - AROUND
    line = _task(Task("k", "at least 516,240 items", what, route), room, first=True)
    assert line.plain.endswith(key)
    assert line.cell_length <= INDENT + room
    assert ("…" in line.plain) == (width < 140)


def test_a_line_that_fits_is_whole() -> None:
    line = _task(Task("k", "8 items", "wait for an auditor: smol (reliability)", ("review",)), 62, first=False)
    assert line.plain.strip() == "8 items  wait for an auditor: smol (reliability) · V"


def job(**more: object) -> Job:
    values = {one.name: None for one in fields(Job) if one.default is MISSING and one.default_factory is MISSING}
    began = "2026-01-01T00:00:00.000Z"
    of = {"id": 12, "kind": "sample", "state": "paused", "done": 123_456, "total": 516_240, "failures": (), "uid": "a"}
    return Job(**{**values, **of, "spec": {"model": "m"}, "progress": {}, "created_at": began, "mark": "", **more})  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["smol", "acme/a-model-with-a-name-that-goes-on-and-on-and-on-and-on-and-on-7b"])
def test_what_a_job_waits_for_is_whole_in_a_narrow_terminal(name: str) -> None:
    line = _job(job(question=PROBE, spec={"model": name}), BELOW)
    assert "waits for your decision: 3, then Enter" in line.plain
    assert "24 %" in line.plain, "a long name takes nothing from how far it is"
    assert max(Content(one).cell_length for one in line.plain.splitlines()) <= INDENT + BELOW
