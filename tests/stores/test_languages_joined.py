"""Importing another language of an instrument adds it: nothing that is here in other languages is
touched.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stores.core.store import Store
from stores.instruments.statement_imports import LanguageChange
from tests.conftest import instrument, new_store
from tests.questionnaires import panel
from tests.stores.test_statements import ask, reworded
from workbench import data
from workbench.cli.main import main
from workbench.data import shipped_instrument_folder
from workbench.domain.designs import Design
from workbench.domain.instruments import Instrument, IssueLabel, Party, PartyAnswer
from workbench.domain.statements import ORIGINAL, Statement
from workbench.errors import UnknownName
from workbench.formats.read import read_shipped
from workbench.pipeline import planning
from workbench.pipeline.importing import (
    ImportMaterial,
    import_sentences,
    import_summary,
    rehearse_import,
    write_import,
)

BOTH = "veldania_languages"


def only(language: str, of: Instrument, **changes: object) -> Instrument:
    """Return an instrument with its wordings and templates in one language."""
    statements = tuple(
        replace(
            s,
            wordings=tuple(w for w in s.wordings if w.language == language),
            languages=(language,),
        )
        for s in of.statements
    )
    templates = tuple(t for t in of.templates if t.language == language)
    return replace(of, statements=statements, templates=templates, language=language, **changes)  # type: ignore[arg-type]


def german(base: Instrument | None = None, **changes: object) -> Instrument:
    """Return a translation of an instrument, which knows nothing else of its statements."""
    base = base or instrument()
    statements = tuple(
        Statement(s.ref, tuple(replace(w, language="de", text=f"de {w.text}") for w in s.wordings))
        for s in base.statements
    )
    values = {"templates": data.templates_of(languages=("de",)), **changes}
    return Instrument(base.name, "auf Deutsch", statements, language="de", **values)  # type: ignore[arg-type]


def texts(store: Store, name: str = "small") -> dict[tuple[str, str, str], str]:
    return {
        (s.ref, str(w.variant), w.language): w.text
        for s in store.instruments.get(name).statements
        for w in s.wordings
    }


def in_language(store: Store, language: str) -> dict[tuple[str, str, str], str]:
    return {place: text for place, text in texts(store).items() if place[-1] == language}


def test_a_translation_adds_its_wordings_and_templates_and_leaves_the_rest(store: Store) -> None:
    english = replace(
        instrument(),
        parties=(Party("vd", "Orchard", 3.0),),
        party_answers=(PartyAnswer("vd", "Orchard", instrument().statements[0].ref, "agree", 1),),
    )
    store.instruments.add(english)
    before = store.instruments.get("small")
    imported = store.instruments.add(german())
    after = store.instruments.get("small")
    assert imported.retired == 0
    assert (after.language, after.title, after.parties) == ("en", before.title, before.parties)
    assert (after.issue_labels, after.party_answers) == (before.issue_labels, before.party_answers)
    assert [replace(s, wordings=(), languages=()) for s in after.statements] == [
        replace(s, wordings=(), languages=()) for s in before.statements
    ]
    assert {t.language for t in after.templates} == {"en", "de"}
    assert [t for t in after.templates if t.language == "en"] == list(before.templates)
    wordings = len(in_language(store, "en"))
    templates = len([t for t in after.templates if t.language == "de"])
    assert imported.by_language == (
        LanguageChange("de", True, added=wordings, templates_added=templates),
        LanguageChange("en", False, as_before=wordings, templates_as_before=len(before.templates)),
    )
    assert imported.edited == (), "German templates are no new text of the English ones"
    assert not any(template.edited for template in after.templates)


def test_the_two_languages_one_after_the_other_are_the_instrument_with_both(store: Store) -> None:
    both = read_shipped(BOTH)
    store.instruments.add(only("en", both))
    store.instruments.add(only("de", both))
    found = store.instruments.get(both.name)
    store.instruments.add(replace(both, name="whole"))
    whole = store.instruments.get("whole")
    assert found.statements == whole.statements
    assert set(found.templates) == set(whole.templates)
    assert store.instruments.add(both).changed == 0


def test_answers_in_the_language_that_was_there_count_as_before(filled: Store) -> None:
    asked = ask(filled)
    filled.instruments.add(german(filled.instruments.get("small")))
    assert asked > 0
    assert ask(filled) == 0


def test_templates_that_came_in_the_other_language_alone_are_named_and_not_asked(
    filled: Store,
) -> None:
    filled.instruments.add(german(filled.instruments.get("small")))
    plan = planning.plan(filled, Design("small", "scripted", samples=1))
    assert {(t.name, t.language) for t in plan.templates} == {
        ("personal-1", "en"),
        ("personal-2", "en"),
    }
    assert (
        "not asked, because small has them in de and not in en: personal-3, impersonal-1"
        in plan.describe()
    )
    with pytest.raises(UnknownName, match="personal-3"):
        planning.plan(filled, Design("small", "scripted", samples=1, templates=("personal-3",)))


def test_what_people_changed_in_one_language_survives_imports_of_both(filled: Store) -> None:
    english, translation = filled.instruments.get("small"), german(filled.instruments.get("small"))
    ref = english.statements[0].ref
    filled.statements.save(
        "small", [reworded(english.statements[0], ORIGINAL, "As we put it.")], person="ana"
    )
    filled.instruments.add(translation)
    assert texts(filled)[ref, "original", "en"] == "As we put it."
    again = filled.instruments.add(english)
    assert again.kept == 1
    assert texts(filled)[ref, "original", "en"] == "As we put it."
    now = filled.statements.get("small", ref)
    edited = replace(
        now,
        wordings=tuple(
            replace(w, text="Wie wir es sagen.") if w.language == "de" else w for w in now.wordings
        ),
    )
    filled.statements.save("small", [edited], person="ana")
    assert filled.instruments.add(translation).kept == 1
    assert texts(filled)[ref, "original", "de"] == "Wie wir es sagen."
    assert texts(filled)[ref, "original", "en"] == "As we put it."


def test_a_newer_translation_replaces_the_older_one_in_words(filled: Store) -> None:
    translation = german(filled.instruments.get("small"))
    filled.instruments.add(translation)
    english = in_language(filled, "en")
    newer = replace(
        translation,
        statements=(
            reworded(translation.statements[0], ORIGINAL, "Neu."),
            *translation.statements[1:],
        ),
    )
    foreseen = rehearse_import(filled, ImportMaterial("csv", "small", newer))
    sentences = import_sentences(foreseen, filled.path)
    assert (
        "- replaced: de 1 wording. The versions before stay, with the answers to them" in sentences
    )
    done = write_import(filled, ImportMaterial("csv", "small", newer))
    assert done.imported == foreseen.imported
    assert "replaced: de 1 wording." in import_summary(done, filled.path)
    assert in_language(filled, "en") == english
    [before, after] = filled.statements.history("small", newer.statements[0].ref)
    assert before.statement.wording(ORIGINAL, "de") != after.statement.wording(ORIGINAL, "de")


def test_a_translation_of_some_statements_archives_none_and_the_main_file_archives_what_it_dropped(
    filled: Store,
) -> None:
    english = filled.instruments.get("small")
    refs = [s.ref for s in english.statements]
    whole = german(english)
    own = Statement("nur-de", (replace(whole.statements[0].wordings[0], text="Nur auf Deutsch."),))
    part = replace(whole, statements=(whole.statements[-1], own))
    assert filled.instruments.add(part).retired == 0
    assert [s.ref for s in filled.instruments.get("small").statements] == [*refs, "nur-de"]
    shorter = filled.instruments.add(replace(english, statements=english.statements[1:]))
    assert shorter.retired == 1
    assert [s.ref for s in filled.instruments.get("small").statements] == [*refs[1:], "nur-de"]


def test_a_translation_completes_what_is_empty_and_contradicts_nothing(filled: Store) -> None:
    english = filled.instruments.get("small")
    first = english.statements[0]
    bare = replace(first, topic=None, source=None)
    filled.statements.save("small", [bare], person="ana")
    told = replace(german(english).statements[0], topic="Bündnisse", country="de", tags=("neu",))
    known = [one for one in english.issue_labels if one.statement == first.ref]
    others = tuple(replace(one, label=-one.label) for one in known)
    new = IssueLabel(first.ref, "liberal_society", "berta", 1)
    translation = replace(german(english), issue_labels=(*others, new))
    filled.instruments.add(replace(translation, statements=(told, *translation.statements[1:])))
    after = filled.statements.get("small", first.ref)
    assert after.topic == "Bündnisse"
    assert after.country == (first.country or "de")
    assert set(filled.instruments.get("small").issue_labels) == {*english.issue_labels, new}


def test_a_questionnaire_in_another_language_keeps_roles_and_scales(store: Store) -> None:
    store.instruments.add(panel())
    before = store.questionnaires.tallied(panel().name)
    asked = panel().questionnaire
    assert before is not None
    assert asked is not None
    translated = german(
        panel(), questionnaire=replace(asked, questions=asked.questions[1:], respondents=())
    )
    store.instruments.add(translated)
    after = store.questionnaires.tallied(panel().name)
    assert after is not None
    assert after.questionnaire.questions == before.questionnaire.questions
    assert after.questionnaire.scales == before.questionnaire.scales


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    order=st.permutations(["en", "de", "fr"]), refs=st.sets(st.sampled_from("abcdef"), min_size=1)
)
def test_in_whatever_order_languages_come_each_has_its_texts(
    tmp_path_factory: pytest.TempPathFactory, order: list[str], refs: set[str]
) -> None:
    base = instrument(*sorted(refs))
    with new_store(tmp_path_factory.mktemp("joined") / "audit.db") as store:
        for language in order:
            statements = tuple(
                replace(
                    s,
                    wordings=tuple(
                        replace(w, language=language, text=f"{language} {w.text}")
                        for w in s.wordings
                    ),
                )
                for s in base.statements
            )
            store.instruments.add(replace(base, statements=statements, language=language))
        expected = {
            (s.ref, str(w.variant), language): f"{language} {w.text}"
            for s in base.statements
            for w in s.wordings
            for language in order
        }
        assert texts(store) == expected
        assert store.instruments.get("small").language == order[0]


def test_the_shell_says_what_is_added_and_kept_before_and_after(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store, folder = str(tmp_path / "audit.db"), tmp_path / "de"
    folder.mkdir()
    rows = (
        (shipped_instrument_folder(BOTH) / "statements.csv")
        .read_text(encoding="utf-8")
        .splitlines(keepends=True)
    )
    (folder / "statements.csv").write_text(
        rows[0] + "".join(row for row in rows if row.partition(",")[2].startswith("de,")),
        encoding="utf-8",
    )
    new_store(Path(store)).close()
    main(["import", store, str(shipped_instrument_folder())])
    capsys.readouterr()
    added = "- added: de 224 wordings and 34 templates\n"
    kept = "- kept: en 385 wordings and 34 templates. The file has no wordings in this language\n"
    main(["import", store, str(folder), "--name", "veldania", "--dry-run"])
    preview = capsys.readouterr().out
    assert added + kept in preview
    assert "Nothing was written" in preview
    main(["import", store, str(folder), "--name", "veldania"])
    assert added + kept in capsys.readouterr().out
    with Store.open(Path(store)) as held:
        assert {
            w.language for s in held.instruments.get("veldania").statements for w in s.wordings
        } == {"de", "en"}
