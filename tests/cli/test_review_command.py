"""The auditor's queue from the shell."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.tui.audit_runs import audited
from workbench.cli.main import main
from workbench.domain.reviews import REASONS


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return audited(tmp_path / "audited.db")


def told(capsys: pytest.CaptureFixture[str], *arguments: object) -> Any:
    capsys.readouterr()
    assert main([*map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def rows(found: Any, name: str) -> list[dict[str, Any]]:
    return next(table["rows"] for table in found["tables"] if table["name"] == name)  # type: ignore[no-any-return]


def rule(path: Path, *arguments: str, by: str = "otto") -> int:
    return main(["rule", str(path), *arguments, "--reason", "looked", "--as", by])


def test_the_queue_says_why_and_what_each_reason_weighs(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = told(capsys, "review", path)
    waiting = rows(found, "review")
    assert waiting[0]["statement"] == "tax-02"
    assert waiting[0]["why"].startswith("one wording only 40 (negation alone, under personal-1, personal-2)")
    weights = {row["reason"]: row["weight"] for row in rows(found, "reasons")}
    assert weights == {one.title: one.weight for one in REASONS.values()}
    assert waiting[0]["score"] == sum(REASONS[key].weight for key in waiting[0]["reasons"])


def test_what_somebody_looked_at_waits_no_more_for_them_alone(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert rule(path, "tax-02/negation", "confirmed") == 0
    names = {
        who: [row["statement"] for row in rows(told(capsys, "review", path, "--as", who), "review")]
        for who in ("otto", "eva")
    }
    assert "tax-02" not in names["otto"]
    assert "tax-02" in names["eva"]
    assert rows(told(capsys, "review", path), "auditors") == [{"auditor": "otto", "looked_at": 1, "queue": 2}]
