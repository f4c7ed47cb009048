"""Lines of Home in a narrow terminal."""

from __future__ import annotations

from dataclasses import MISSING, fields

import pytest
from textual.content import Content

from stores.jobs.job_rows import PROBE, Job
from workbench.audits.audit import HomeLine
from workbench.pipeline.todo import PendingTask
from workbench.tui.home.home import (
    AROUND,
    BELOW,
    INDENT,
    _job,
    _line,
    _task,
    audit_lines,
    first_of_each_kind,
)
from workbench.tui.overview import AuditLines, Overview, VisitCounts


@pytest.mark.parametrize("width", [80, 100, 140])
@pytest.mark.parametrize(
    ("what", "route", "key"),
    [
        (
            "for an auditor: acme/a-model-with-a-name-that-goes-on-and-on-and-on-7b (reliability)",
            ("review",),
            "  → V",
        ),
        (
            "for an auditor: 長い名前のモデル長い名前のモデル長い名前のモデル長い (reliability)",
            ("review",),
            "  → V",
        ),
        (
            "of job 1234 (cancelled, a-persona, another-persona, a-third-persona) are missing",
            ("jobs", "1"),
            "  → 3",
        ),
        (
            "of wordings of an_instrument_with_a_name_that_goes_on_and_on_and_on to review",
            ("drafts", "x"),
            "  → 2, P",
        ),
    ],
)
def test_a_line_of_what_to_do_keeps_its_key_and_cuts_its_words(
    what: str, route: tuple[object, ...], key: str, width: int
) -> None:
    room = width - INDENT - AROUND
    line = _task(PendingTask("k", "at least 516,240 items", what, route), room, first=True)
    assert line.plain.endswith(key)
    assert line.cell_length <= INDENT + room
    assert ("…" in line.plain) == (width < 140)
    assert line.plain.count("(") == line.plain.count(")"), "what is cut leaves no bracket open"


def test_a_line_that_fits_is_whole() -> None:
    line = _task(
        PendingTask("k", "8 items", "for an auditor: smol (reliability)", ("review",)),
        62,
        first=False,
    )
    assert line.plain.strip() == "8 items  for an auditor: smol (reliability)  → V"


def job(**more: object) -> Job:
    values = {
        one.name: None
        for one in fields(Job)
        if one.default is MISSING and one.default_factory is MISSING
    }
    began = "2026-01-01T00:00:00.000Z"
    of = {
        "id": 12,
        "kind": "sample",
        "state": "paused",
        "done": 123_456,
        "total": 516_240,
        "failures": (),
        "uid": "a",
    }
    return Job(
        **{
            **values,
            **of,
            "spec": {"model": "m"},
            "progress": {},
            "created_at": began,
            "mark": "",
            **more,
        }
    )  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "name", ["smol", "acme/a-model-with-a-name-that-goes-on-and-on-and-on-and-on-and-on-7b"]
)
def test_what_a_job_waits_for_is_whole_in_a_narrow_terminal(name: str) -> None:
    line = _job(job(question=PROBE, spec={"model": name}), BELOW)
    assert "waits for your decision: 3, then Enter" in line.plain
    assert "24 %" in line.plain, "a long name takes nothing from how far it is"
    assert max(Content(one).cell_length for one in line.plain.splitlines()) <= INDENT + BELOW


def test_of_much_that_waits_each_kind_of_work_stays_in_sight() -> None:
    named = [
        *(f"job {n}" for n in range(9)),
        *(f"drafts {n}" for n in range(4)),
        "review reliability",
    ]
    every = [PendingTask(key, "1", "of it", ("jobs",)) for key in named]
    assert [one.key for one in first_of_each_kind(every, 5)] == [
        "job 0",
        "job 1",
        "drafts 0",
        "drafts 1",
        "review reliability",
    ]
    assert first_of_each_kind(every, 99) == every


@pytest.mark.parametrize(("room", "lines"), [(BELOW, 3), (BELOW + 60, 1)])
def test_what_does_not_fit_in_a_line_stands_below_it_whole(room: int, lines: int) -> None:
    detail = "predicts 84.5 % (majority 60.0 %), and more of it"
    line = _line(
        "Predictions",
        "scripted:ideal@veldania_panel",
        detail,
        below=Content("7 questions"),
        room=room,
    )
    assert detail in line.plain
    assert len(line.plain.splitlines()) == lines


@pytest.mark.parametrize("width", [80, 140])
def test_an_audit_has_one_line_with_its_figure_and_key_and_what_warns_below(width: int) -> None:
    figure, warning = "keeps 0.0 % of 8 stances", "! a part of the plan is missing"
    newest = HomeLine(
        "a",
        "Audit",
        "scripted:a-long-name-of-a-model",
        figure,
        below=[("T 0.4", False), (warning, True)],
    )
    others = [HomeLine(key, "Audit", f"model-{key}", figure) for key in "bc"]
    short = AuditLines("bias", "6", (HomeLine("d", "Bias", "a-model", "-0.76 [-0.85, -0.68]"),))
    (key, line), (_, other) = audit_lines(
        (AuditLines("audit", "4", (newest, *others)), short), width - INDENT - AROUND
    )
    first, *below = line.plain.splitlines()
    assert key == "audit:a"
    assert figure in first
    assert first.endswith("  +2  → 4")
    assert [one.strip() for one in below] == [warning], "settings are a key away"
    assert Content(first).cell_length <= width - AROUND
    assert first.index(figure) == other.plain.index("-0.76"), "figures stand below each other"


def overview(answers: int, single: int, jobs: tuple[Job, ...]) -> Overview:
    return Overview("", (), answers, 1, jobs, False, (), (single, 0, 0), ())


def test_home_says_what_came_since_one_last_looked_and_nothing_where_nothing_did() -> None:
    before = overview(1_000, 5, (job(state="running"),)).seen("2026-01-01 10:00")
    assert VisitCounts.read(before.to_json()) == before
    assert (
        before.news(overview(2_920, 6, (job(state="done"),)))
        == "1,920 answers · 1 labelled item · 1 job ended"
    )
    assert before.news(overview(1_000, 5, (job(state="running"),))) == ""
    assert [
        VisitCounts.read(one) for one in (None, [], ["at", 1, 2], ["at", 1, 2, "3"], {"at": 1})
    ] == [None] * 5
