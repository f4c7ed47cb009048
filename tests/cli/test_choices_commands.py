"""The commands for multiple-choice questions: listed, shown, and forms that are printed before they
are written.
"""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest

from tests.choice_questions import NAME, asked_store
from tests.cli.test_commands import data, run
from workbench.cli import choices as module


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "town.db"
    asked_store(path).close()
    return path


def test_questions_are_listed_and_shown_with_what_differs(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(
        capsys,
        "choices",
        path,
        "perturb",
        "--kinds",
        "letter-swap",
        "--draws",
        "2",
        "--person",
        "N",
        "--yes",
    )
    assert (code, "Made letter_swap (2 draws, seed 1)" in out) == (0, True)
    run(capsys, "choices", path, "forms", "--person", "N", "--yes")
    found = data(capsys, "choices", path, "list", "--bias", "opinion_float")
    assert [(one["ref"], one["key"], len(one["options"]), one["forms"]) for one in found] == [
        ("opinion_float.fares", "fares", 5, {"changed": 1, "letter_swap": 2})
    ]
    code, out, _ = run(capsys, "choices", path, "list")
    assert (code, "changed, letter_swap ×2" in out, "5 questions of asked" in out) == (
        0,
        True,
        True,
    )
    code, out, _ = run(capsys, "choices", path, "show", "response_order.weather")
    assert "D. Completely  (was A)" in out
    assert "letter_swap-2 · workbench letter_swap, seed 1, draw 2" in out
    assert "−[weather] +[" in out
    shown = data(capsys, "choices", path, "show", "opinion_float.fares")
    assert shown["wordings"][1]["text"].endswith("F. Don't know")
    code, _, err = run(capsys, "choices", path, "show", "nowhere")
    assert (code, "nowhere" in err) == (2, True)


def test_a_preview_writes_nothing_until_somebody_says_so(
    path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    forms = (
        "choices",
        path,
        "forms",
        "--bias",
        "odd_even",
        "--questions",
        "opinion_float.fares,allow_forbid.dogs",
    )
    code, out, _ = run(capsys, *forms)
    assert (code, "Nothing was written; --yes writes it." in out) == (0, True)
    assert "odd_even.fares · original · new, from opinion_float.fares" in out
    assert "− C. Neither good nor bad" in out
    assert "odd_even, 1 question left out: found 2 options" in out
    before = data(capsys, "choices", path, "list")
    monkeypatch.setattr(
        module, "agreed", lambda asked, default: "Write 2 wordings?" in asked and not default
    )
    code, out, _ = run(capsys, *forms, "--person", "Nora")
    assert "Made odd_even: odd_even.fares." in out
    assert len(data(capsys, "choices", path, "list")) == len(before) + 1
    run(capsys, "statements", path, "--undo", "--person", "Nora")
    assert data(capsys, "choices", path, "list") == before


def test_json_has_every_proposal_and_why_others_were_refused(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ask = ("choices", path, "forms", "--bias", "odd_even", "--middle", "About half", "--questions")
    found = data(capsys, *ask, "response_order.weather,response_order.sights")
    assert [(one["ref"], one["variant"], one["of"]) for one in found["proposals"]] == [
        ("odd_even.weather", "original", "response_order.weather"),
        ("odd_even.weather", "changed", "response_order.weather"),
    ]
    assert (found["written"], [one["ref"] for one in found["refused"]]) == (
        False,
        ["response_order.sights"],
    )
    errors = data(
        capsys, "choices", path, "perturb", "--questions", "1", "--kinds", "key_typo", "--seed", "3"
    )
    assert errors["proposals"][0]["words"]
    assert (
        data(
            capsys,
            "choices",
            path,
            "perturb",
            "--questions",
            "1",
            "--kinds",
            "key_typo",
            "--seed",
            "3",
        )
        == errors
    )


def test_a_question_is_written_under_a_bias_and_found_by_its_key(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    question = "Should ball games be allowed in parks?\nA. Yes\nB. No\n"
    (tmp_path / "q.txt").write_text(question, encoding="utf-8")
    add = ("choices", path, "add", "--person", "N", "--bias")
    monkeypatch.setattr("sys.stdin", StringIO(question.replace("allowed", "forbidden")))
    parks = (
        *add,
        "allow_forbid",
        "--key",
        "parks",
        "--topic",
        "sport",
        "--text",
        tmp_path / "q.txt",
    )
    code, out, _ = run(capsys, *parks, "--changed", "-")
    assert (code, out) == (
        0,
        "allow_forbid.parks, a question with 2 options, now has the bias allow_forbid.\n",
    )
    shown = data(capsys, "choices", path, "show", "parks")
    assert (shown["ref"], shown["topic"], len(shown["wordings"])) == (
        "allow_forbid.parks",
        "sport",
        2,
    )
    code, _, err = run(capsys, *parks)
    assert (code, "a question allow_forbid.parks already exists" in err) == (2, True)
    second = (
        "statements",
        path,
        "--add-variant",
        "allow_forbid.parks",
        "changed",
        "--person",
        "N",
        "--text",
    )
    code, _, err = run(capsys, *second, question)
    assert (code, "has a changed in en already; --edit allow_forbid.parks" in err) == (2, True)
    code, _, err = run(
        capsys,
        "statements",
        path,
        "--edit",
        "allow_forbid.parks",
        "--variant",
        "changed",
        "--person",
        "N",
        "--text",
        "Ball games?",
    )
    assert (code, "is no multiple-choice question" in err) == (2, True)
    for wrong, said in (
        ("one line", "not a readable file"),
        ("Parks?\nA. Yes", "a question with one option"),
    ):
        code, _, err = run(capsys, *add, "odd_even", "--key", "x", "--text", wrong)
        assert (code, said in err) == (2, True), err


def test_a_statement_is_put_under_the_bias_that_it_is_called_after(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "How good are the buses?\nA. Good\nB. Rather good\nC. So-so\nD. Rather bad\nE. Bad"
    code, out, _ = run(
        capsys, "statements", path, "--add", "odd_even.q10", "--text", text, "--person", "N"
    )
    assert (code, f"choices {path} add" in out) == (0, True)
    code, out, _ = run(capsys, "choices", path, "list")
    assert (code, "without a bias, so not asked: odd_even.q10" in out) == (0, True)
    add = ("choices", path, "add", "--person", "N", "--key", "odd_even.q10", "--bias")
    code, _, err = run(capsys, *add, "acquiescence")
    assert (code, "no statement acquiescence.q10" in err) == (2, True)
    code, out, _ = run(capsys, *add, "odd_even")
    assert (code, "Its changed form still has to be made" in out) == (0, True)
    assert "odd_even.q10" in [
        one["ref"] for one in data(capsys, "choices", path, "list", "--bias", "odd_even")
    ]
    made = data(capsys, "choices", path, "forms", "--questions", "q10", "--person", "N", "--yes")
    assert [(one["ref"], one["variant"]) for one in made["proposals"]] == [
        ("odd_even.q10", "changed")
    ]


def test_another_text_needs_replace(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    perturb = ("choices", path, "perturb", "--kinds", "key_typo", "--person", "N", "--yes")
    run(capsys, *perturb)
    code, out, _ = run(capsys, *perturb, "--seed", "2")
    assert (code, "--replace replaces the existing texts" in out) == (0, True)
    assert data(capsys, *perturb, "--seed", "2", "--replace")["written"] is True
    assert data(capsys, *perturb, "--seed", "2")["there"] == 5


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("perturb", "--kinds", "key_typo,blur"), "--kinds: found 'blur'"),
        (("perturb", "--draws", "0"), "--draws: found 0; give 1 to 99"),
        (("perturb", "--seed", "-1"), "give 0 or more"),
        (
            ("forms", "--bias", "opinion_float", "--middle", "x"),
            "a middle option belongs to odd_even",
        ),
        (("forms", "--questions", "nowhere"), "no statement 'nowhere'"),
        (("list", "--instrument", "other"), f"Available: {NAME}"),
    ],
)
def test_what_cannot_be_carried_out_is_said(
    path: Path, arguments: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    act, *rest = arguments
    code, _, err = run(capsys, "choices", path, act, *rest)
    assert (code, said in err) == (2, True), err
