"""Versions of templates: what makes one, and where people see them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from stores.core.store import Store
from stores.runs.answers import answers_to
from tests.conftest import new_store
from tests.template_stores import Made, play, played
from workbench.domain.designs import Design
from workbench.pipeline import planning

ASK = ("ask", "one chat", "en")
EDIT = ("template", "chat personal-1", "False")


def test_an_import_says_which_templates_it_edits(tmp_path: Path) -> None:
    made = Made()
    with new_store(tmp_path / "audit.db") as store:
        assert store.instruments.add(made.instrument()).edited == ()
        assert store.instruments.add(made.instrument()).edited == ()
        made.texts["template", "chat", "personal-1", "True"] += 1
        assert store.instruments.add(made.instrument()).edited == (("personal-1", 2),)
        assert store.instruments.add(Made().instrument()).edited == (), (
            "a text that is back is no new one"
        )


def test_a_part_of_an_instrument_replaces_the_templates_that_it_brings(tmp_path: Path) -> None:
    base = Made().instrument()
    edited = [
        replace(t, user=f"Please. {t.user}")
        for t in base.templates
        if t.name == "personal-1" and t.inverted
    ]
    with new_store(tmp_path / "audit.db") as store:
        store.instruments.add(base)
        store.instruments.add(replace(base, templates=tuple(edited)), part=True)
        now = store.instruments.get("small").templates
        assert len(now) == len(base.templates)
        assert {(t.name, t.version) for t in now} == {("personal-1", 2), ("personal-2", 1)}


def test_plans_and_answers_name_the_version(tmp_path: Path) -> None:
    with played([ASK, EDIT]) as store:
        assert (
            "edited templates: personal-1 version 2"
            in planning.plan(store, Design("small", "one")).describe()
        )
    with Store.open(play(tmp_path / "audit.db", [ASK, EDIT, ASK])) as store:
        (run,) = store.runs.list("reliability")
        probes = {
            (name, inverted): probe for _, _, _, name, inverted, probe, _ in store.runs.cells(run)
        }
        assert {row.template for row in store.runs.responses(run, probes["personal-1", 0], [])} == {
            "personal-1 version 2"
        }
        assert {row.template for row in store.runs.responses(run, probes["personal-2", 0], [])} == {
            "personal-2"
        }
        named = {
            answer.template for answer in answers_to(store.connection, "small", "a", 1, limit=1000)
        }
        assert named == {"personal-1 version 1", "personal-1 version 2", "personal-2"}
