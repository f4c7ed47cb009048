"""What screens show of help pages: every section is there, and is made of what plain text can
show.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import workbench
from workbench import registry
from workbench.help.pages import AUDITS_PAGE
from workbench.help.sections import TERM, as_text, section

FOLDER = Path(workbench.__file__).parent
SCREENS = sorted((FOLDER / "help").glob("screens-*.md"))
HELP = sorted((FOLDER / "audits").glob(f"*/{AUDITS_PAGE}"))


def sections(page: Path) -> dict[str, str]:
    parts = (
        part.partition("\n")
        for part in re.split(r"^## ", page.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    )
    return {title.strip(): body for title, _, body in parts}


@pytest.mark.parametrize("page", SCREENS, ids=lambda page: page.stem)
def test_sections_that_screens_show_have_paragraphs_and_terms_alone(page: Path) -> None:
    found = sections(page)
    assert found
    for title, body in found.items():
        for block in re.split(r"\n\s*\n", body.strip()):
            assert not block.startswith(("#", "|", "```", "1.", "    ")), (title, block)
            if block.startswith("- "):
                assert all(TERM.fullmatch(item) for item in re.split(r"\n(?=- )", block)), (
                    title,
                    block,
                )
        assert "**" not in as_text(body), title


def test_a_section_that_no_page_has_is_an_error() -> None:
    with pytest.raises(LookupError, match=r"screens-home.md has no section 'Nothing'"):
        section("screens-home", "Nothing")


def test_terms_stand_in_a_column_and_a_long_one_does_not_widen_it() -> None:
    text = as_text("- **a**: one\n- **temperature, top-p, top-k**: " + "how answers are drawn " * 5)
    first, second, third, *_ = text.splitlines()
    assert first == "a            one"
    assert second.startswith("temperature, top-p, top-k  how answers")
    assert third.startswith(" " * 13 + "how")
    assert max(map(len, text.splitlines())) <= 73


@pytest.mark.parametrize("page", HELP, ids=lambda page: page.parent.name)
def test_the_page_of_an_audit_says_what_it_asks_measures_and_cannot_say(page: Path) -> None:
    text, found = page.read_text(encoding="utf-8"), sections(page)
    assert {"What it asks", "What it cannot say", "On Home"} <= set(found)
    assert "| formula |" in text
    assert "| source |" in text or "published" in text
    assert "```sh" in text


def test_every_audit_has_a_page_of_its_name() -> None:
    from workbench.help import topic

    assert len(HELP) >= 5
    for page in HELP:
        assert topic(page.parent.name).text == page.read_text(encoding="utf-8")
    assert {page.parent.name for page in HELP} <= set(registry.SHIPPED)
