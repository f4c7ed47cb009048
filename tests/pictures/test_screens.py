"""The pictures of the README and of the help pages show what the terminal shows now."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pictures.screens import FOLDER, every, make_store, said


@pytest.mark.e2e
async def test_no_picture_is_stale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    drawn = await every(make_store(tmp_path))
    assert {path.name for path in FOLDER.glob("*.svg")} == set(drawn)
    for name, svg in drawn.items():
        kept = (FOLDER / name).read_text(encoding="utf-8")
        assert said(svg) == said(kept), f"{name} is stale: make pictures draws it anew"
        assert "http" not in kept.replace("http://www.w3.org", ""), f"{name} loads something"
