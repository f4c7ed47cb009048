"""A pipe, a socket, a device, a link to itself or a folder in place of a file ends in a sentence,
not in waiting.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from stores.core.store import Store
from tests.cli.test_commands import run
from workbench.api import open as open_store
from workbench.errors import WorkbenchError
from workbench.regular_files import check_file, check_regular


@pytest.fixture
def special(tmp_path: Path) -> Iterator[dict[str, Path]]:
    """The path of each kind of special file."""
    paths = {
        name: tmp_path / f"{name}.csv" for name in ("pipe", "loop", "socket", "folder", "link")
    }
    os.mkfifo(paths["pipe"])
    paths["loop"].symlink_to(paths["loop"])
    paths["folder"].mkdir()
    paths["link"].symlink_to(paths["pipe"])
    with closing(socket.socket(socket.AF_UNIX)) as server:
        before = Path.cwd()
        os.chdir(tmp_path)  # the address of a socket is short
        server.bind("socket.csv")
        os.chdir(before)
        yield paths | {"device": Path("/dev/zero")}


WORDS = {
    "pipe": "a pipe, not a regular file",
    "link": "a pipe, not a regular file",
    "loop": "a link that leads back to itself",
    "socket": "a socket, not a regular file",
    "device": "a device, not a regular file",
    "folder": "a folder; name a file in it",
}
VERBS = (
    ("import", "STORE", "FILE"),
    ("import", "STORE", "FILE", "--format", "answers"),
    ("import", "STORE", "FILE", "--format", "log"),
    ("import", "STORE", "FILE", "--format", "survey"),
    ("import", "STORE", "FILE", "--format", "compass"),
    ("labels", "STORE", "--import", "FILE"),
    ("labels", "STORE", "--merge", "FILE"),
    ("codebook", "STORE", "--change", "FILE"),
    ("run", "STORE", "--plan", "FILE"),
    ("show", "FILE", "reliability"),
    ("doctor", "FILE"),
)


@pytest.mark.parametrize("kind", WORDS)
def test_one_check_says_what_a_file_is(special: dict[str, Path], kind: str) -> None:
    with pytest.raises(WorkbenchError, match=WORDS[kind]):
        check_file(special[kind])
    assert check_regular(Path("/dev/null")) == Path("/dev/null")
    assert check_regular(special["folder"]).is_dir()


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
@pytest.mark.parametrize("kind", WORDS)
def test_no_verb_waits_for_a_special_file(
    tmp_path: Path,
    special: dict[str, Path],
    kind: str,
    verb: tuple[str, ...],
    capsys: pytest.CaptureFixture[str],
) -> None:
    store = tmp_path / "audit.db"
    Store.open(store, create=True).close()
    words = [{"STORE": store, "FILE": special[kind]}.get(word, word) for word in verb]
    code, _, err = run(capsys, *words)
    assert code in (1, 2), err
    assert kind == "folder" or WORDS[kind] in err


@pytest.mark.parametrize("kind", [kind for kind in WORDS if kind != "folder"])
def test_python_does_not_wait_either(tmp_path: Path, special: dict[str, Path], kind: str) -> None:
    path = tmp_path / "audit.db"
    Store.open(path, create=True).close()
    with open_store(path, write=True) as store, pytest.raises(WorkbenchError):
        store.import_file(special[kind])


@pytest.mark.parametrize("number", ["1" + "0" * 20, "9" * 400], ids=len)
def test_a_number_out_of_range_is_an_error(
    tmp_path: Path, number: str, capsys: pytest.CaptureFixture[str]
) -> None:
    store = tmp_path / "audit.db"
    Store.open(store, create=True).close()
    for flag in ("--samples", "--seed", "--max-new-tokens"):
        code, _, err = run(capsys, "run", store, "--model", "coin", flag, number)
        assert code == 2, err
        assert f"{len(number)} digits" in err
