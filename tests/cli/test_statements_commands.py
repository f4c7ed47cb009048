"""The statement editor on the command line: each act says what it did, and what it would break it
refuses.
"""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from stores.core.store import Store
from tests.conftest import instrument
from workbench.cli.main import main
from workbench.domain.statements import (
    NEGATION,
    ORIGINAL,
    QUESTION,
    Relation,
    VariantId,
    VariantKind,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    place = tmp_path / "audit.db"
    with Store.open(place, create=True) as store:
        store.instruments.add(instrument())
    return place


def run(path: Path, *arguments: str) -> int:
    return main(["statements", str(path), "--person", "ana", *arguments])


def test_statements_are_listed_searched_and_filtered(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(path) == 0
    assert "3 statements of small" in capsys.readouterr().out
    run(path, "--search", "b-1", "--json")
    found = json.loads(capsys.readouterr().out)
    assert [one["ref"] for one in found] == ["b-1"]
    assert {w["variant"]: w["relation"] for w in found[0]["wordings"]}["negation"] == "flipped"


@pytest.mark.parametrize("act", [(), ("--add", "x-1", "--text", "T."), ("--history", "b-1")])
def test_an_unknown_instrument_is_named(
    path: Path, capsys: pytest.CaptureFixture[str], act: tuple[str, ...]
) -> None:
    assert run(path, "--instrument", "other", *act) == 2
    assert "no instrument is named 'other' in this store. Available: small" in (
        capsys.readouterr().err
    )


def test_a_statement_is_added_with_its_fields(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fields = ("--topic", "housing", "--country", "nl", "--tags", "pilot, rent")
    assert run(path, "--add", "rent-1", "--text", "Rents should fall.", *fields) == 0
    assert "rent-1" in capsys.readouterr().out
    with Store.open(path) as store:
        made = store.statements.get("small", "rent-1")
    assert (made.topic, made.country, made.tags) == ("housing", "nl", ("pilot", "rent"))
    assert made.wordings[0].author == "ana"
    run(path, "--tagged", "rent", "--json")
    assert [one["ref"] for one in json.loads(capsys.readouterr().out)] == ["rent-1"]


def test_a_question_becomes_a_statement_and_is_kept(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(path, "--add", "cars", "--question", "Should the state ban cars in cities?") == 0
    assert "The state should ban cars in cities." in capsys.readouterr().out
    with Store.open(path) as store:
        made = store.statements.get("small", "cars")
    assert {w.variant: w.text for w in made.wordings} == {
        ORIGINAL: "The state should ban cars in cities.",
        QUESTION: "Should the state ban cars in cities?",
    }


def test_a_question_that_no_rule_reads_asks_for_the_text(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(path, "--add", "why", "--question", "Why?") == 2
    assert "--text" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--add", "a-1", "--text", "Again."), "already"),
        (("--add", "new", "--text", "  "), "empty"),
        (("--add", "new", "--text", "a" * 10_001), "10,001 characters"),
        (("--add", "new", "--text", "a\x00b"), "NUL"),
        (("--add", "two words", "--text", "Text."), "a space"),
        (("--add", "new"), "--text"),
        (("--edit", "a-1", "--variant", "antonym", "--text", "T"), "antonym"),
        (("--edit", "zz", "--text", "T"), "zz"),
        (("--edit", "a-1", "--variant", "negation-2", "--text", "T"), "--add-variant"),
        (
            ("--add-variant", "a-1", "paraphrase", "--language", "de", "--text", "T"),
            "original in that language first",
        ),
        (("--delete-variant", "a-1", "original"), "variants need it"),
        (("--relation", "a-1", "original", "free"), "original"),
        (("--relation", "a-1", "negation", "upside-down"), "same, flipped, free"),
        (("--tag", "a,b", "--refs", "a-1"), "commas"),
        (("--tag", "x"), "--refs"),
        (("--set", "topic", "--refs", "a-1"), "FIELD=VALUE"),
        (("--set", "leaning=up", "--refs", "a-1"), "left, right"),
        (("--replace", "", "x", "--refs", "a-1"), "nothing to find"),
        (
            ("--replace", "Statement a-1 should become law.", "", "--refs", "a-1"),
            "empty after the change",
        ),
        (("--rename", "a-1", "a-2"), "a-2"),
        (("--derive", "a-1", "a-1"), "derived from itself"),
        (("--archive", "zz"), "zz"),
        (("--history", "zz"), "zz"),
        (("--undo", "--dry-run"), "--dry-run"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_written(
    path: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], said: str
) -> None:
    with Store.open(path) as store:
        before = store.instruments.get("small")
    assert run(path, *arguments) == 2
    assert said in capsys.readouterr().err
    with Store.open(path) as store:
        assert store.instruments.get("small") == before


def test_origins_that_run_in_a_circle_are_refused(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(path, "--derive", "a-1", "a-2") == 0
    assert run(path, "--derive", "a-2", "b-1") == 0
    assert run(path, "--derive", "b-1", "a-1") == 2
    assert "b-1 → a-1 → a-2 → b-1" in capsys.readouterr().err


def test_a_variant_is_added_translated_changed_and_deleted(path: Path) -> None:
    run(path, "--add-variant", "a-1", "paraphrase", "--text", "A fourth way to say it.")
    run(
        path,
        "--add-variant",
        "a-1",
        "original",
        "--language",
        "de",
        "--text",
        "Satz a-1 soll Gesetz werden.",
    )
    run(path, "--add-variant", "a-1", "negation", "--language", "de", "--text", "Nicht so.")
    run(path, "--edit", "a-1", "--variant", "negation", "--text", "It should not.")
    run(path, "--delete-variant", "a-1", "opposite")
    with Store.open(path) as store:
        held = {
            (str(w.variant), w.language): w for w in store.statements.get("small", "a-1").wordings
        }
    assert held["paraphrase-4", "en"].text == "A fourth way to say it."
    assert held["negation", "de"].text == "Nicht so."
    assert (held["negation", "en"].text, held["negation", "en"].author) == ("It should not.", "ana")
    assert ("opposite", "en") not in held


def test_a_text_can_come_from_standard_input(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("أول جملة\nsecond line\n"))
    assert run(path, "--add", "rtl", "--text", "-") == 0
    with Store.open(path) as store:
        assert store.statements.get("small", "rtl").wordings[0].text == "أول جملة\nsecond line"


def test_what_is_expected_of_a_variant_is_stated(path: Path) -> None:
    run(path, "--relation", "a-1", "paraphrase-2", "free")
    with Store.open(path) as store:
        held = store.statements.get("small", "a-1").wording(
            VariantId(VariantKind.PARAPHRASE, 2), "en"
        )
    assert held is not None
    assert held.stated is Relation.FREE
    run(path, "--relation", "a-1", "paraphrase-2", "same")
    with Store.open(path) as store:
        held = store.statements.get("small", "a-1").wording(
            VariantId(VariantKind.PARAPHRASE, 2), "en"
        )
    assert held is not None
    assert held.stated is None


def test_many_statements_are_changed_in_one_step_and_undone_in_one(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(path, "--replace", "become law", "be law", "--refs", "a-1,a-2")
    assert "a-1, a-2" in capsys.readouterr().out
    with Store.open(path) as store:
        assert (
            store.statements.get("small", "a-1").wordings[0].text == "Statement a-1 should be law."
        )
        assert store.statements.get("small", "a-1").wordings[0].author is None
    run(path, "--undo")
    assert "replaced “become law” by “be law” a-1, a-2" in capsys.readouterr().out
    with Store.open(path) as store:
        assert [store.statements.get("small", ref).wordings[0].text for ref in ("a-1", "a-2")] == [
            "Statement a-1 should become law.",
            "Statement a-2 should become law.",
        ]


def test_a_dry_run_shows_what_would_change_and_writes_nothing(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(path, "--replace", "become", "remain", "--refs", "a-1,b-1", "--dry-run")
    out = capsys.readouterr().out
    assert "+ original en  Statement a-1 should remain law." in out
    assert "2 of 2 statements would change; nothing was written" in out
    with Store.open(path) as store:
        assert "become" in store.statements.get("small", "a-1").wordings[0].text


def test_fields_and_tags_are_set_on_many(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(path, "--tag", "pilot", "--refs", "a-1,a-2")
    run(path, "--set", "leaning=left", "--refs", "a-1")
    run(path, "--untag", "pilot", "--refs", "a-2")
    run(path, "--tag", "pilot", "--refs", "a-1")
    assert "Nothing to change" in capsys.readouterr().out
    with Store.open(path) as store:
        first, second = (store.statements.get("small", ref) for ref in ("a-1", "a-2"))
    assert (first.tags, first.leaning) == (("pilot",), "left")
    assert second.tags == ()


def test_archived_statements_are_listed_apart_and_come_back(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(path, "--archive", "a-1,a-2")
    capsys.readouterr()
    run(path, "--json")
    assert [one["ref"] for one in json.loads(capsys.readouterr().out)] == ["b-1"]
    run(path, "--archived", "--json")
    assert [one["ref"] for one in json.loads(capsys.readouterr().out)] == ["a-1", "a-2"]
    run(path, "--restore", "a-2")
    with Store.open(path) as store:
        assert store.statements.get("small", "a-2").wording(NEGATION, "en") is not None


def test_editing_what_was_answered_says_which_answers_stay_with_the_old_text(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(path, "--edit", "a-1", "--text", "Something else should become law.")
    out = capsys.readouterr().out  # one person of the survey answered the original
    assert "Version 2 made; 1 answer by people stays with version 1." in out
    run(path, "--history", "a-1", "--json")
    told = json.loads(capsys.readouterr().out)
    assert [(v["version"], v["current"], v["survey"]) for v in told["versions"]] == [
        (1, False, 1),
        (2, True, 0),
    ]
    assert told["edits"][0]["person"] == "ana"
    run(path, "--history", "a-1")
    assert "edited original" in capsys.readouterr().out


def test_an_instrument_is_started_and_filled(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "new.db"
    with Store.open(path, create=True):
        pass
    assert run(path) == 2
    assert "--new-instrument" in capsys.readouterr().err
    assert (
        run(path, "--new-instrument", "housing", "--title", "Housing", "--scheme", "smartvote") == 0
    )
    assert run(path, "--new-instrument", "housing") == 2
    assert run(path, "--add", "h-1", "--text", "Rents should fall.") == 0
    with Store.open(path) as store:
        made = store.instruments.get("housing")
    assert (made.title, len(made.issues), made.statements[0].ref) == ("Housing", 8, "h-1")


def test_without_a_person_nothing_is_changed(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("USER", raising=False)
    assert main(["statements", str(path), "--archive", "a-1"]) == 2
    assert "--person" in capsys.readouterr().err
    monkeypatch.setenv("USER", "ben")
    assert main(["statements", str(path), "--archive", "a-1"]) == 0
    with Store.open(path) as store:
        assert store.statements.edits("small")[0].person == "ben"


def test_several_instruments_have_to_be_told_apart(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Store.open(path) as store:
        store.instruments.add(instrument(name="other"))
    assert run(path) == 2
    assert "small, other" in capsys.readouterr().err
    assert run(path, "--instrument", "other") == 0
