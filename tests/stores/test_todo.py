"""What waits in a store is named with its number, and nothing else is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from stores.annotation.queues import NewItem
from stores.core.store import Store
from tests.conftest import instrument, new_store
from tests.jobs.test_personas_asked import DESIGN as ASKED
from tests.jobs.test_personas_asked import ask
from tests.tui.test_adjudicate_screen import labelled, queued
from workbench.audits.reliability import AUDIT
from workbench.domain.designs import Design
from workbench.domain.statements import VariantKind
from workbench.inference.scripted.model import ScriptedModel, ScriptedPersona
from workbench.jobs import launch
from workbench.pipeline import asking, planning
from workbench.pipeline.drafting import draft_by_rule
from workbench.pipeline.todo import tasks
from workbench.tui.commands import read_names
from workbench.tui.home.drawn_results import written_result


def found(store: Store) -> dict[str, str]:
    return {task.key: f"{task.count} {task.what}" for task in tasks(store)}


def test_an_empty_store_has_nothing_to_do(tmp_path: Path) -> None:
    with new_store(tmp_path / "empty.db") as store:
        assert tasks(store) == ()


def test_labels_disputes_and_flags_are_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "audit.db"
    units = queued(path, ["Yes.", "No.", "Perhaps.", "Maybe."])
    labelled(
        path,
        "ana",
        dict(zip(units, ["agree", "agree", "neutral"], strict=False)),
        notes={units[1]: "odd"},
    )
    labelled(
        path,
        "ben",
        dict(zip(units, ["disagree", "agree"], strict=False)),
        notes={units[0]: "unsure"},
    )
    with Store.open(path) as store:
        assert found(store) == {
            "adjudicate q": "1 item of the queue q to adjudicate",
            "label q": "3 labels to give on 2 items of the queue q",
            "flags q": "1 item flagged in the queue q; the labels agree",
        }


def test_drafts_and_a_job_that_ended_early_wait_until_they_are_dealt_with(tmp_path: Path) -> None:
    with new_store(tmp_path / "audit.db") as store:
        store.instruments.add(instrument())
        draft_by_rule(store, "small", (VariantKind.NEGATION,))
        design = Design("small", "scripted", samples=2)
        plan = planning.plan(store, design)
        job = launch.create(store, plan.design, plan)
        store.jobs.finish(job, store.jobs.claim(job, "test"), "failed", "no reason")
        waiting = found(store)
        assert waiting["drafts small"] == "3 drafts of wordings of small to review"
        assert waiting[f"job {job}"].startswith(
            f"{plan.samples_needed} answers of job {job} (failed) are missing"
        )
        again = launch.create(store, plan.design, plan)
        attempt = store.jobs.claim(again, "test")
        asking.collect(store, plan, ScriptedModel(ScriptedPersona()), attempt=attempt, job=again)
        store.jobs.finish(again, attempt, "done")
        for draft in store.drafts.list("small"):
            store.drafts.reject(draft.id, person="ana")
        assert found(store) == {}


def test_statements_that_changed_since_they_were_asked_are_told(tmp_path: Path) -> None:
    with new_store(tmp_path / "audit.db") as store:
        store.instruments.add(instrument())
        plan = planning.plan(store, Design("small", "scripted", samples=2))
        job = launch.create(store, plan.design, plan)
        attempt = store.jobs.claim(job, "test")
        asking.collect(store, plan, ScriptedModel(ScriptedPersona()), attempt=attempt, job=job)
        store.jobs.finish(job, attempt, "done")
        assert found(store) == {}
        made = instrument()
        first, *rest = made.statements
        edited = replace(
            first, wordings=tuple(replace(w, text=f"{w.text} Now.") for w in first.wordings)
        )
        store.instruments.add(replace(made, statements=(edited, *rest)))
        (said,) = found(store).values()
        assert said == "1 statement changed since scripted was asked (reliability)"


def test_what_waits_names_the_personas_of_a_run_and_of_a_job(tmp_path: Path) -> None:
    with new_store(tmp_path / "audit.db") as store:
        store.instruments.add(instrument())
        ask(store, replace(ASKED, samples=2))
        made = instrument()
        first, *rest = made.statements
        edited = replace(
            first, wordings=tuple(replace(w, text=f"{w.text} Now.") for w in first.wordings)
        )
        store.instruments.add(replace(made, statements=(edited, *rest)))
        assert set(found(store).values()) == {
            f"1 statement changed since scripted{behind} was asked (reliability)"
            for behind in ("", " · persona nurse", " · persona talk")
        }
        plan = planning.plan(store, ASKED)
        job = launch.create(store, plan.design, plan)
        store.jobs.finish(job, store.jobs.claim(job, "test"), "failed", "no reason")
        assert f"of job {job} (failed, nurse, talk) are missing" in found(store)[f"job {job}"]


def test_a_run_is_found_by_its_persona_and_home_names_the_personas(tmp_path: Path) -> None:
    with new_store(tmp_path / "audit.db") as store:
        store.instruments.add(instrument())
        ask(store, replace(ASKED, samples=2))
        (line,) = AUDIT.home(store, {})
        assert "without a persona; asked with nurse, talk, too" in written_result(line).plain
        (with_nurse,) = (
            run for run in store.runs.list(personas=True) if run.persona_name == "nurse"
        )
        assert (
            "with nurse; asked with talk, too"
            in written_result(replace(line, run=with_nurse)).plain
        )
        assert (
            "persona"
            not in written_result(replace(line, run=replace(with_nurse, personas=()))).plain
        )
        path = store.path
    named = {one.name: one.route for one in read_names(path)}
    assert named["scripted · persona nurse: reliability"][1] == with_nurse
    assert named[f"review {with_nurse.label}: reliability"] == (
        "review",
        (*with_nurse.design_key, with_nurse.family),
    )


def test_an_item_of_two_queues_is_to_be_labelled_and_adjudicated_once(tmp_path: Path) -> None:
    """A person's label counts in every queue that has the item, so that it is to be given once."""
    path = tmp_path / "audit.db"
    units = queued(path, ["Yes.", "No.", "Perhaps.", "Maybe."])
    labelled(
        path, "ana", dict(zip(units, ["agree", "agree"], strict=False)), notes={units[1]: "odd"}
    )
    labelled(path, "ben", dict(zip(units, ["disagree", "agree"], strict=False)))
    with Store.open(path) as store:
        before = found(store)
        (queue,) = store.queues.list()
        rows = store.connection.execute(
            "select wording_id, text_id from unit order by id"
        ).fetchall()
        items = [NewItem(wording, 3, "again", text_id=text) for wording, text in rows]
        assert store.queues.labelled(queue.codebook.name, items) == (2, 2, 0, 0)
        store.queues.create("r", queue.purpose, queue.codebook, items, {})
        assert found(store) == before | {"label r": "4 labels to give in the queue r"}
