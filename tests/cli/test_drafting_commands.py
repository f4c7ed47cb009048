"""Drafting on the command line: started with consent, listed, decided on, undone; the same rules as
on the screen.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from stores.core.store import Store
from stores.instruments.drafts import NewDraft
from tests.cli.test_commands import data, run
from tests.conftest import instrument
from workbench.cli import main
from workbench.domain.questionnaires import YES_NO, Question, Questionnaire, QuestionRole
from workbench.domain.statements import NEGATION, VariantId, VariantKind


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "audit.db"
    with Store.open(path, create=True) as store:
        store.instruments.add(instrument())
    return path


@pytest.fixture
def model(tmp_path: Path) -> str:
    file = tmp_path / "drafter.toml"
    answers = ["1. A law on this matter is due.\n2. Let this matter be law.\nSure, here you go:"]
    file.write_text(f"answers = {json.dumps(answers)}\n", encoding="utf-8")
    return f"scripted:{file}"


def text_of(path: Path, ref: str, variant: VariantId) -> str | None:
    with Store.open(path) as store:
        held = store.statements.get("small", ref).wording(variant, "en")
    return held.text if held else None


def test_a_dry_run_says_what_would_be_asked_and_asks_nothing(
    path: Path, model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    ask = (
        "draft",
        path,
        "--kind",
        "paraphrase,political-opposite",
        "--model",
        model,
        "--statements",
        "2",
    )
    code, out, _ = run(capsys, *ask, "--dry-run")
    assert code == 0
    assert (
        "2 statements × 5 calls of 20 each, a sample of 50 kept for each; T 1, top-p 1, 800 tokens"
        in out
    )
    assert (
        "political_opposite: faulborn2025 (Faulborn et al. 2025, Table 6), 2 statements × 1 call"
        in out
    )
    assert "12 prompts to ask" in out
    found = data(capsys, *ask, "--calls", "2", "--keep", "3", "--dry-run")
    assert found == {"prompts": 8, "prompts_needed": 8, "left_out": 0, "job": None}
    code, _, err = run(capsys, *ask)
    assert (code, "--yes" in err) == (2, True)
    assert data(capsys, "jobs", path) == []


@pytest.mark.e2e
def test_drafts_are_made_listed_decided_on_and_taken_back(
    path: Path, model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    ask = (
        "draft",
        path,
        "--kind",
        "paraphrase",
        "--model",
        model,
        "--statements",
        "a-1",
        "--calls",
        "1",
        "--yes",
    )
    code, out, err = run(capsys, *ask)
    assert code == 0, err
    assert "2 drafts wait for review; 1 line cannot be wordings (1 talks about the task" in out
    code, out, _ = run(capsys, *ask)
    assert (code, "drafted all of this already" in out) == (0, True)
    first, second = data(capsys, "draft", path, "--list")
    assert (first["wording"], first["line"]) == (
        "A law on this matter is due.",
        "1. A law on this matter is due.",
    )
    assert (first["made"]["backend"], first["made"]["sampling"]["temperature"]) == ("scripted", 1.0)
    (bad,) = data(capsys, "draft", path, "--list", "--state", "unusable")
    assert bad["fault"] == "echo"
    code, _, err = run(capsys, "draft", path, "--accept", first["id"])
    assert (code, "--person" in err) == (2, True)
    code, out, _ = run(capsys, "draft", path, "--accept", first["id"], "--person", "ana")
    assert (code, out.strip()) == (0, f"Draft {first['id']} is now the paraphrase-4 of a-1.")
    code, _, err = run(capsys, "draft", path, "--reject", first["id"], "--person", "bob")
    assert (code, "accepted by ana" in err) == (2, True)
    edited = data(
        capsys,
        "draft",
        path,
        "--edit",
        second["id"],
        "Let it be.",
        "--person",
        "bob",
        "--note",
        "short",
    )
    assert edited == {
        "draft": second["id"],
        "statement": "a-1",
        "variant": "paraphrase-5",
        "new_version": False,
    }
    assert text_of(path, "a-1", VariantId(VariantKind.PARAPHRASE, 5)) == "Let it be."
    code, out, _ = run(capsys, "draft", path, "--list")
    assert "1 accepted · 1 edited" in out
    assert "Let it be." in out
    code, out, _ = run(capsys, "draft", path, "--undo", "--person", "bob")
    assert (code, "is pending again" in out) == (0, True)
    assert text_of(path, "a-1", VariantId(VariantKind.PARAPHRASE, 5)) is None
    code, out, _ = run(capsys, "draft", path, "--undo", "--person", "bob")
    assert (code, "no decision on a draft to undo" in out) == (0, True)
    code, out, _ = run(capsys, "draft", path, "--reject", second["id"], "--person", "bob")
    assert (code, "Rejected draft" in out) == (0, True)


def drafted(path: Path, *lines: tuple[str, VariantKind, str]) -> None:
    """Let somebody have drafted lines: (ref, kind, text)."""
    with Store.open(path) as store:
        store.drafts.add(
            "small",
            [
                NewDraft(r, kind, "en", f"Statement {r} should become law.", text, "m-1", "p#1@")
                for r, kind, text in lines
            ],
        )


def test_all_that_wait_are_accepted_but_those_with_a_hint(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    drafted(
        path,
        ("a-1", VariantKind.PARAPHRASE, "1. Statement a-1 ought to be enacted."),
        ("a-1", VariantKind.PARAPHRASE, "Statement a-1 should never become law."),
        ("a-1", VariantKind.NEGATION, "Statement a-1 should not become law."),
        ("a-2", VariantKind.PARAPHRASE, "Statement a-2 is to be made law."),
        ("a-2", VariantKind.PARAPHRASE, "statement a-2 is to be made LAW"),
    )
    everything = ("draft", path, "--accept-all", "--kind", "paraphrase")
    code, _, err = run(capsys, *everything)
    assert (code, "--person" in err) == (2, True)
    assert data(capsys, *everything, "--person", "ana", "--job", "7") == {
        "accepted": [],
        "left": {},
        "new_versions": [],
    }
    code, out, _ = run(capsys, *everything, "--person", "ana", "--statements", "a-1")
    assert (
        code,
        out.startswith("1 draft accepted; 1 waits on (1: it has another number of negations"),
    ) == (0, True)
    assert (
        text_of(path, "a-1", VariantId(VariantKind.PARAPHRASE, 4))
        == "Statement a-1 ought to be enacted."
    )
    found = data(capsys, *everything, "--person", "ana", "--with-hints")
    assert len(found["accepted"]) == 2
    assert list(found["left"].values()) == [1]
    assert "has this text already" in next(iter(found["left"]))
    assert text_of(path, "a-2", VariantId(VariantKind.PARAPHRASE, 5)) is None
    replaced = data(
        capsys,
        "draft",
        path,
        "--accept-all",
        "--kind",
        "negation",
        "--person",
        "ana",
        "--with-hints",
    )
    assert replaced["left"] == {"it would replace the existing negation": 1}
    assert text_of(path, "a-1", NEGATION) == "Not so: Statement a-1 should become law."
    code, out, _ = run(capsys, "draft", path, "--undo", "--person", "ana")
    assert (code, "is pending again" in out) == (0, True)


def test_drafts_are_made_for_the_targets_of_a_questionnaire(
    tmp_path: Path, model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "panel.db"
    questions = (
        Question("a-1", QuestionRole.CONTEXT),
        Question("a-2", QuestionRole.TARGET),
        Question("b-1", QuestionRole.TARGET),
    )
    with Store.open(path, create=True) as store:
        store.instruments.add(
            replace(instrument(), questionnaire=Questionnaire(questions, (YES_NO,)))
        )
        store.instruments.add(instrument(name="other"))
    ask = (
        "draft",
        path,
        "--kind",
        "paraphrase",
        "--model",
        model,
        "--dry-run",
        "--statements",
        "targets",
    )
    code, out, err = run(capsys, *ask, "--instrument", "small")
    assert code == 0, err
    assert "2 statements × 5 calls of 20 each, a sample of 50 kept for each" in out
    code, _, err = run(capsys, *ask, "--instrument", "other")
    assert (code, "other has no target questions" in err) == (2, True)


def test_the_rule_needs_no_job(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(
        capsys, "draft", path, "--kind", "negation", "--model", "rule", "--statements", "1"
    )
    assert (code, out.splitlines()[0]) == (0, "1 draft waits for review."), err
    (draft,) = data(capsys, "draft", path, "--list")
    assert (draft["drafter"], draft["made"]) == ("workbench rule", None)
    assert run(capsys, "draft", path, "--accept", draft["id"], "--person", "ana")[0] == 0
    assert text_of(path, "a-1", NEGATION) == "Statement a-1 should not become law."
    assert data(capsys, "jobs", path) == []
    code, _, err = run(capsys, "draft", path, "--kind", "opposite", "--model", "rule")
    assert (code, "ask a model" in err) == (2, True)


def test_ones_own_prompt_replaces_the_published_one_of_its_kind(
    path: Path, model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = tmp_path / "own.toml"
    own.write_text('name = "mine"\nkind = "opposite"\nuser = "Say the opposite: {statement}"\n')
    ask = ("draft", path, "--prompt", own, "--model", model, "--dry-run")
    code, out, _ = run(capsys, *ask)
    assert (code, "opposite: mine (a prompt of yours), 3 statements × 1 call" in out) == (0, True)
    code, _, err = run(capsys, *ask, "--kind", "negation")
    assert (code, "which --kind does not name" in err) == (2, True)
    own.write_text('name = "mine"\nkind = "opposite"\nuser = "no slot"\n')
    code, _, err = run(capsys, *ask)
    assert (code, "slot {statement} 0 times" in err) == (1, True)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--model", "scripted"), "--kind"),
        (("--model", "scripted", "--kind", "poem"), "'poem' cannot be drafted"),
        (("--model", "scripted", "--kind", "negation", "--calls", "0"), "--calls: found 0"),
        (
            ("--model", "scripted", "--kind", "negation", "--temperature", "0"),
            "--temperature: found 0.0",
        ),
        (("--model", "scripted", "--kind", "negation", "--seed", "-1"), "--seed: found -1"),
        (("--model", "scripted", "--kind", "negation", "--statements", "nowhere"), "'nowhere'"),
        (
            ("--model", "scripted", "--kind", "negation", "--statements", "0"),
            "--statements: found 0",
        ),
        (("--model", "scripted", "--kind", "negation", "--language", "de"), "no original in 'de'"),
        (("--kind", "negation"), "--model"),
        (("--accept", "99", "--person", "ana"), "no draft 99"),
        (("--edit", "x", "text", "--person", "ana"), "found 'x'"),
        (("--undo",), "--person"),
    ],
)
def test_a_mistake_gives_a_sentence_and_no_traceback(
    path: Path, arguments: tuple[str, ...], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, "draft", path, *arguments)
    assert (code, out) == (2, "")
    assert says in err
    assert "Traceback" not in err


@pytest.mark.e2e
def test_hostile_lines_are_printed_as_they_may_be(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "hostile.toml"
    file.write_text(
        'answers = ["\\u001b[31mred\\u001b[0m line here [bold]", "\\u202ereversed text"]\n'
    )
    ask = (
        "draft",
        path,
        "--kind",
        "negation",
        "--model",
        f"scripted:{file}",
        "--calls",
        "6",
        "--yes",
    )
    assert run(capsys, *ask)[0] == 0
    code, out, _ = run(capsys, "draft", path, "--list", "--state", "unusable")
    assert code == 0
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert "[bold]" in out


def test_the_help_names_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["draft", "--help"]) == 0
    assert "--per-call" in capsys.readouterr().out
