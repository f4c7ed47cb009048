"""Which templates a command's figures are about: the family and the versions asked last, or the
chosen ones.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.test_commands import data, run
from tests.template_stores import play

ASK = ("ask", "one chat", "en")
EDIT = ("template", "chat personal-1", "False")


@pytest.fixture
def families(tmp_path: Path) -> Path:
    return play(tmp_path / "families.db", [ASK, ("ask", "one user", "en")])


@pytest.fixture
def versions(tmp_path: Path) -> Path:
    return play(tmp_path / "versions.db", [ASK, EDIT, ASK])


def test_verdicts_are_about_one_family_and_say_that_there_is_another(
    families: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = " ".join(run(capsys, "show", families, "reliability")[1].split())
    assert "20 tokens · family user" in out
    assert "one was asked the families of templates chat, user; this result is about user." in out
    assert "--family chat" in out
    assert "under all 2 templates" in out
    assert data(capsys, "show", families, "reliability")["run"]["family"] == "user"
    assert (
        data(capsys, "show", families, "reliability", "--family", "chat")["run"]["family"] == "chat"
    )
    answers = [
        data(capsys, "show", families, "reliability", "--family", f)["run"]["responses"]
        for f in ("chat", "user")
    ]
    assert answers[0] != answers[1]
    code, _, err = run(capsys, "show", families, "reliability", "--family", "gpt")
    assert (code, "families asked: chat, user" in err) == (2, True)


def test_consistency_shows_a_family_or_several_beside_each_other(
    families: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = data(capsys, "show", families, "consistency")
    assert {name: of["family"] for name, of in found["templates"].items()} == {"one": "user"}
    found = data(capsys, "show", families, "consistency", "--family", "chat,user")
    assert {name: of["family"] for name, of in found["templates"].items()} == {
        "one · chat": "chat",
        "one · user": "user",
    }
    assert (
        run(
            capsys,
            "show",
            families,
            "consistency",
            "--family",
            "chat,user",
            "--compare",
            "one · chat",
            "one · user",
        )[0]
        == 0
    )


def test_a_version_is_named_and_chosen(versions: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = " ".join(run(capsys, "show", versions, "reliability")[1].split())
    assert "personal-1 version 2" in out
    assert "version 2 counts, version 1 left out" in out
    new = data(capsys, "show", versions, "reliability")["run"]
    old = data(capsys, "show", versions, "reliability", "--template-version", "personal-1=1")["run"]
    assert (new["versions"][0]["version"], old["versions"][0]["version"]) == (2, 1)
    assert new["responses"] != old["responses"]
    assert run(capsys, "pilot", versions, "--rank", "--template-version", "personal-1=1")[0] == 0
    for wrong in ("personal-1=3", "personal-1", "=1", "personal-1=one", "personal-9=1"):
        code, _, err = run(capsys, "show", versions, "reliability", "--template-version", wrong)
        assert (code, "Traceback" in err) == (2, False)
