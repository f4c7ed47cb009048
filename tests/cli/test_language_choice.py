"""Two languages of one instrument are two runs; `--language` says which, wherever a run is
chosen.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.test_commands import data, run
from tests.template_stores import play


@pytest.fixture
def bilingual(tmp_path: Path) -> Path:
    return play(tmp_path / "bilingual.db", [("ask", "one chat", "en"), ("ask", "one chat", "de")])


@pytest.mark.parametrize(
    "verb",
    [("show", "reliability"), ("show", "reliability", "--table", "item_agreement"), ("thoughts",)],
)
def test_a_verb_about_one_run_asks_which_language_and_takes_it(
    bilingual: Path, capsys: pytest.CaptureFixture[str], verb: tuple[str, ...]
) -> None:
    code, _, err = run(capsys, verb[0], bilingual, *verb[1:])
    assert (code, "2 runs match" in err, "--language" in err) == (2, True, True)
    assert "language en" in err
    assert "language de" in err
    said = {
        language: run(capsys, verb[0], bilingual, *verb[1:], "--language", language)[1]
        for language in ("en", "de")
    }
    assert "language de" in said["de"]
    assert said["en"] != said["de"]
    code, _, err = run(capsys, verb[0], bilingual, *verb[1:], "--language", "fr")
    assert (code, "languages asked: en, de" in err) == (2, True)


def test_the_other_language_is_named(bilingual: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = " ".join(run(capsys, "show", bilingual, "reliability", "--language", "en")[1].split())
    assert (
        "one was asked small in en, de; this result is about en. For another: --language de" in out
    )


def test_a_pilot_ranks_the_templates_of_one_language(
    bilingual: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = run(capsys, "pilot", bilingual, "--rank")
    assert (code, "--language" in err) == (2, True)
    found = [
        data(capsys, "pilot", bilingual, "--rank", "--language", language)
        for language in ("en", "de")
    ]
    assert found[0]["tables"] != found[1]["tables"]


def test_probabilities_are_of_one_language(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = play(tmp_path / "exact.db", [("score", "one chat", "en"), ("score", "one chat", "de")])
    prompts = ("show", path, "reliability", "--table", "prompts")
    assert run(capsys, *prompts)[0] == 2
    found = [data(capsys, *prompts, "--language", language)["tables"] for language in ("en", "de")]
    assert found[0] != found[1]


def test_consistency_shows_the_languages_beside_each_other_or_one(
    bilingual: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert set(data(capsys, "show", bilingual, "consistency")["templates"]) == {
        "one · en",
        "one · de",
    }
    assert set(data(capsys, "show", bilingual, "consistency", "--language", "de")["templates"]) == {
        "one"
    }
    assert (
        run(capsys, "show", bilingual, "consistency", "--compare", "one · en", "one · de")[0] == 0
    )
