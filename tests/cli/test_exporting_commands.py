"""`workbench export`: files that import back, what was left out is said, nothing of anybody else's
is touched.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stores.core.store import Store
from tests.cli.test_commands import run


def test_the_shipped_instrument_goes_out_and_into_a_new_store(
    demo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place, other = demo.parent / "out", demo.parent / "other.db"
    code, out, _ = run(capsys, "export", demo, place)
    assert code == 0
    assert f"veldania: 56 statements as csv in {place}" in out
    assert "Left out" not in out
    command = (
        out.splitlines()[-1]
        .removeprefix("Import it: workbench ")
        .replace("OTHER_STORE", str(other))
        .split()
    )
    assert run(capsys, *command)[0] == 0
    with Store.open(demo) as one, Store.open(other) as two:
        assert one.instruments.get("veldania") == two.instruments.get("veldania")


@pytest.mark.parametrize("format_", ["probvaa", "jsonl"])
def test_other_formats_say_what_they_leave_out(
    demo: Path, capsys: pytest.CaptureFixture[str], format_: str
) -> None:
    code, out, _ = run(capsys, "export", demo, demo.parent / "out", "--format", format_)
    assert code == 0
    assert "Left out:\n- " in out
    command = (
        out.splitlines()[-1]
        .removeprefix("Import it: workbench ")
        .replace("OTHER_STORE", str(demo.parent / "b.db"))
    )
    assert run(capsys, *command.split())[0] == 0


def test_descriptions_of_people_belong_to_an_instrument_alone(
    demo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = demo.parent / "out"
    code, _, err = run(capsys, "export", demo, out, "--what", "labels", "--people", "none")
    assert code == 2
    assert "--people is only for an instrument" in err
    assert not out.exists()


def test_json_lists_files_and_what_is_left_out(
    demo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, out, _ = run(capsys, "export", demo, demo.parent / "out", "--format", "probvaa", "--json")
    found = json.loads(out)
    assert (found["instrument"], found["format"], found["left_alone"]) == (
        "veldania",
        "probvaa",
        [],
    )
    assert all(Path(name).is_file() for name in found["files"])
    assert any("political opposite" in sentence for sentence in found["left_out"])


def test_a_folder_that_holds_something_needs_force(
    demo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = demo.parent / "out"
    place.mkdir()
    (place / "mine.txt").write_text("mine")
    code, _, err = run(capsys, "export", demo, place)
    assert code == 2
    assert "the folder holds mine.txt" in err
    assert [path.name for path in place.iterdir()] == ["mine.txt"]
    code, out, _ = run(capsys, "export", demo, place, "--force")
    assert code == 0
    assert "Files in the folder, not changed:\n- mine.txt" in out
    assert (place / "mine.txt").read_text() == "mine"


def test_mistakes_of_the_request_are_answered_in_words(
    demo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, "export", demo, demo)[0] == 2
    code, _, err = run(capsys, "export", demo, demo.parent / "out", "--instrument", "gone")
    assert code == 2
    assert "Available: veldania" in err
    assert not (demo.parent / "out").exists()
