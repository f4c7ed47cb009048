"""A codebook is read exactly, or refused with everything that is wrong with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.codebooks import FREE_KEYS, RESERVED_KEYS, read_codebook
from workbench.domain.annotations import Codebook, LabelOption, LabelSubject
from workbench.errors import InputError, UsageError

HEAD = """name = "mood"
title = "Mood"
question = "What is the mood?"
subject = "response"
guideline = "Say what you read."
"""
GLAD = '[[option]]\nlabel = "glad"\nkey = "a"\nmeaning = "it is glad"\n'
SAD = '[[option]]\nlabel = "sad"\nkey = "b"\nmeaning = "it is sad"\n'


def codebook(path: Path, text: str) -> Path:
    (path / "mood.toml").write_text(text, encoding="utf-8")
    return path / "mood.toml"


def faults(path: Path) -> list[tuple[int | None, str | None, str]]:
    with pytest.raises(InputError) as caught:
        read_codebook(path)
    assert {finding.file for finding in caught.value.findings} == {"mood.toml"}
    return [(finding.line, finding.column, finding.found) for finding in caught.value.findings]


def test_a_codebook_is_read_as_it_stands(tmp_path: Path) -> None:
    assert read_codebook(
        codebook(tmp_path, f'{HEAD}ordinal = ["sad", "glad"]\n{GLAD}{SAD}')
    ) == Codebook(
        name="mood",
        title="Mood",
        question="What is the mood?",
        subject=LabelSubject.RESPONSE,
        options=(LabelOption("glad", "a", "it is glad"), LabelOption("sad", "b", "it is sad")),
        guideline="Say what you read.",
        ordinal=("sad", "glad"),
    )
    assert read_codebook(codebook(tmp_path, f"{HEAD}{GLAD}{SAD}")).ordinal == ()


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (HEAD, (None, "option", "no options")),
        (f"{HEAD}option = []\n", (6, "option", "no options")),
        (f"{HEAD}{GLAD}", (6, "option", "one option")),
        (HEAD + GLAD + SAD.replace('"b"', '"a"'), (10, "option.key", "'a' again, as of 'glad'")),
        (
            HEAD + GLAD + SAD.replace('"sad"', '"glad"'),
            (10, "option.label", "'glad' again, as of 'glad'"),
        ),
        (
            HEAD + GLAD + SAD.replace('"b"', '"z"'),
            (10, "option.key", "'z', a key that annotating itself needs"),
        ),
        (
            HEAD + GLAD + SAD.replace('"b"', '"1"'),
            (10, "option.key", "'1', a key that annotating itself needs"),
        ),
        (
            HEAD + GLAD + SAD.replace('"b"', '"B"'),
            (10, "option.key", "'B', not one lower-case letter"),
        ),
        (
            HEAD + GLAD + SAD.replace('"b"', '"bd"'),
            (10, "option.key", "'bd', not one lower-case letter"),
        ),
        (
            HEAD + GLAD + SAD.replace('"b"', '"é"'),
            (10, "option.key", "'é', not one lower-case letter"),
        ),
        (HEAD + GLAD + SAD.replace('"it is sad"', "3"), (10, "option.meaning", "3")),
        (f"{HEAD}{GLAD}{SAD}colour = 1\n", (10, "option.colour", "an unknown key")),
        (f'{HEAD}ordinal = ["glad", "merry"]\n{GLAD}{SAD}', (6, "ordinal", "'merry'")),
        (f'{HEAD}ordinal = "glad"\n{GLAD}{SAD}', (6, "ordinal", "'glad'")),
        (f"{HEAD.replace('response', 'person')}{GLAD}{SAD}", (4, "subject", "'person'")),
        (f"{HEAD.replace('Say what you read.', ' ')}{GLAD}{SAD}", (5, "guideline", "' '")),
        (f'colour = "red"\n{HEAD}{GLAD}{SAD}', (1, "colour", "an unknown key")),
        (f"{HEAD}name = 3\n", (6, None, None)),
    ],
)
def test_a_fault_is_found_on_its_line(
    tmp_path: Path, text: str, fault: tuple[int, str | None, str | None]
) -> None:
    [(line, column, found)] = faults(codebook(tmp_path, text))
    assert (line, column) == fault[:2]
    assert fault[2] in (None, found)


def test_all_faults_are_named_at_once(tmp_path: Path) -> None:
    text = HEAD.replace("mood", "").replace("response", "x") + GLAD.replace('"a"', '"s"')
    assert [column for _, column, _ in faults(codebook(tmp_path, text))] == [
        "option",
        "option.key",
        "name",
        "subject",
    ]


def test_what_steers_annotating_is_no_labels_key() -> None:
    assert not set(FREE_KEYS) & RESERVED_KEYS
    assert set("zsfmgqhjkcv123456789") <= RESERVED_KEYS


def test_a_file_that_is_not_there_is_a_mistake_of_the_request(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="gone"):
        read_codebook(tmp_path / "gone.toml")
    (tmp_path / "mood.toml").write_bytes(b'name = "\xff"')
    assert faults(tmp_path / "mood.toml") == [(None, None, "bytes that are not UTF-8")]
