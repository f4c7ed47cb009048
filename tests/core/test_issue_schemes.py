"""A scheme of policy issues is read exactly, or refused with everything that is wrong with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import published
from workbench.data import shipped_issue_scheme, shipped_issue_schemes
from workbench.domain.instruments import IssueDefinition
from workbench.errors import InputError, UnknownName, UsageError
from workbench.formats.read import read_instrument
from workbench.issue_schemes import LONGEST_TEXT, MOST, IssueScheme, defined, read_issue_scheme

HEAD = 'name = "pets"\ntitle = "Pets"\n'
CATS = '[[issue]]\nname = "cats"\ntitle = "Cats"\ndefinition = "More cats."\n'
DOGS = '[[issue]]\nname = "dogs"\ntitle = "Dogs"\ndefinition = "More dogs."\n'

PUBLISHED = (
    "open_foreign_policy",
    "liberal_economic_policy",
    "restrictive_financial_policy",
    "law_and_order",
    "restrictive_migration_policy",
    "expanded_environ_protection",
    "expanded_social_welfare_state",
    "liberal_society",
)
"Ceron et al. 2024, section 4.2, as the columns of the published annotations name them"


def scheme(path: Path, text: str) -> Path:
    (path / "pets.toml").write_text(text, encoding="utf-8")
    return path / "pets.toml"


def faults(path: Path) -> list[tuple[int | None, str | None, str]]:
    with pytest.raises(InputError) as caught:
        read_issue_scheme(path)
    assert {finding.file for finding in caught.value.findings} == {"pets.toml"}
    return [(finding.line, finding.column, finding.found) for finding in caught.value.findings]


def test_the_eight_issues_of_the_paper_ship_with_definitions_and_titles() -> None:
    assert shipped_issue_schemes() == ("smartvote",)
    found = shipped_issue_scheme()
    assert tuple(issue.name for issue in found.issues) == PUBLISHED
    assert all(
        len(issue.definition) > 150 and "Against it:" in issue.definition for issue in found.issues
    )
    assert all(
        "  " not in issue.definition and "\n" not in issue.definition for issue in found.issues
    )
    with pytest.raises(UnknownName, match="smartvote"):
        shipped_issue_scheme("other")


def test_the_published_annotations_name_the_issues_that_ship() -> None:
    instrument = read_instrument("probvaa", published("probvaa"))
    assert set(instrument.issues) == set(PUBLISHED)


def test_a_scheme_is_read_as_it_stands(tmp_path: Path) -> None:
    assert read_issue_scheme(scheme(tmp_path, f'source = "us"\n{HEAD}{CATS}{DOGS}')) == IssueScheme(
        "pets",
        "Pets",
        (
            IssueDefinition("cats", "Cats", "More cats."),
            IssueDefinition("dogs", "Dogs", "More dogs."),
        ),
        "us",
    )
    assert read_issue_scheme(scheme(tmp_path, f"\ufeff{HEAD}{CATS}")).source == ""


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (HEAD, (None, "issue", "no issues")),
        (f"{HEAD}issue = 3\n", (3, "issue", "no issues")),
        (f"{HEAD}issue = []\n", (3, "issue", "no issues")),
        (HEAD + CATS + DOGS.replace('"dogs"', '"cats"'), (7, "issue.name", "'cats' again")),
        (
            HEAD + CATS + DOGS.replace('"dogs"', '"CATS"'),
            (7, "issue.name", "'CATS' again, like 'cats'"),
        ),
        (
            HEAD + CATS + DOGS.replace('"dogs"', '"c_ats"'),
            (7, "issue.name", "'c_ats' again, like 'cats'"),
        ),
        (
            HEAD + CATS + DOGS.replace('"Dogs"', '"  cats "'),
            (7, "issue.title", "'  cats ' again, like 'Cats'"),
        ),
        (HEAD + CATS.replace('"cats"', '"9 cats"'), (3, "issue.name", "'9 cats'")),
        (HEAD + CATS.replace('"cats"', '"ca\\u0301ts"'), (3, "issue.name", "'ca\u0301ts'")),
        (HEAD + CATS.replace('"cats"', f'"{"c" * 65}"'), (3, "issue.name", repr("c" * 64))),
        (HEAD + CATS.replace('"More cats."', '" "'), (3, "issue.definition", "' '")),
        (HEAD + CATS.replace('"More cats."', "7"), (3, "issue.definition", "7")),
        (
            HEAD + CATS.replace('"More cats."', '"More \\u202e cats."'),
            (3, "issue.definition", "\\u202e"),
        ),
        (
            HEAD + CATS.replace("More cats.", "x" * 2001),
            (3, "issue.definition", f"{LONGEST_TEXT + 1:,} characters"),
        ),
        (f'{HEAD}{CATS}key = "c"\n', (3, "issue.key", "an unknown key")),
        (f'colour = "red"\n{HEAD}{CATS}', (1, "colour", "an unknown key")),
        (HEAD.replace('"Pets"', "false") + CATS, (2, "title", "False")),
        (f"source = 1\n{HEAD}{CATS}", (1, "source", "1")),
    ],
)
def test_a_fault_is_found_on_its_line(
    tmp_path: Path, text: str, fault: tuple[int | None, str, str]
) -> None:
    assert faults(scheme(tmp_path, text)) == [fault]


def test_names_that_differ_only_in_blanks_are_two_faults_not_two_issues(tmp_path: Path) -> None:
    found = faults(scheme(tmp_path, HEAD + CATS + DOGS.replace('"dogs"', '" Cats "')))
    assert [column for _, column, _ in found] == ["issue.name", "issue.name"]
    assert "again, like 'cats'" in found[1][2]


def test_all_faults_are_named_at_once(tmp_path: Path) -> None:
    text = (
        'title = ""\nx = 1\n'
        + CATS.replace('"cats"', '""')
        + CATS.replace("More", "\\u0007")
        + CATS
    )
    found = {column for _, column, _ in faults(scheme(tmp_path, text))}
    assert found == {"name", "title", "x", "issue.name", "issue.title", "issue.definition"}


def test_a_scheme_has_no_more_issues_than_a_person_can_hold(tmp_path: Path) -> None:
    many = "".join(CATS.replace("ats", f"ats{n}") for n in range(MOST + 1))
    assert faults(scheme(tmp_path, HEAD + many)) == [(3, "issue", f"{MOST + 1} issues")]


def test_a_file_that_is_none_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        read_issue_scheme(tmp_path / "none.toml")
    with pytest.raises(InputError, match="not TOML"):
        read_issue_scheme(scheme(tmp_path, f"{HEAD}[[issue]\n"))
    (tmp_path / "pets.toml").write_bytes(b"name = '\xff'")
    with pytest.raises(InputError, match="UTF-8"):
        read_issue_scheme(tmp_path / "pets.toml")


def test_an_instruments_own_definition_goes_before_the_one_that_ships() -> None:
    own = IssueDefinition("law_and_order", "Order", "Ours.")
    found = defined(
        ("liberal_society", "law_and_order", "cats"), (own,), shipped_issue_scheme().issues
    )
    assert [issue.title for issue in found] == ["Liberal society", "Order", ""]
