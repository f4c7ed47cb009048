"""The end of a job's log, in which a progress bar is one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.jobs import launch


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = launch.log_path(tmp_path / "a.db", 1)
    path.parent.mkdir()
    return path


def tail(log: Path, lines: int = 12) -> list[str]:
    return launch.log_tail(log.parent.parent / "a.db", 1, lines).split("\n")


def test_of_a_progress_bar_the_last_state_remains(log: Path) -> None:
    log.write_bytes(
        b"begins\n" + b"".join(b"\r%d %%" % share for share in range(101)) + b"\nends\n"
    )
    assert tail(log) == ["begins", "100 %", "ends"]


def test_a_bar_that_goes_on_shows_its_newest_state(log: Path) -> None:
    log.write_bytes(b"begins\n10 %\r20 %\r")
    assert tail(log) == ["begins", "20 %"]


def test_a_bar_longer_than_the_first_read_hides_no_lines_before_it(log: Path) -> None:
    states = b"".join(b"\rLoading weights: %4d of 1000" % n for n in range(1001))
    assert len(states) > launch.LOG_BYTES
    log.write_bytes(b"one\ntwo\n" + states + b"\n")
    assert tail(log) == ["one", "two", "Loading weights: 1000 of 1000"]


def test_a_huge_bar_is_read_in_part(log: Path) -> None:
    log.write_bytes(b"one\n" + b"\r50 %" * launch.MOST_LOG_BYTES + b"\rwhole\n")
    assert tail(log) == ["whole"]


def test_ends_of_lines_from_windows_and_empty_lines_stay(log: Path) -> None:
    log.write_bytes(b"one\r\n\r\ntwo\r\n")
    assert tail(log) == ["one", "", "two"]
    assert tail(log, 1) == ["two"]


def test_an_empty_log_is_empty(log: Path) -> None:
    log.write_bytes(b"")
    assert tail(log) == [""]
