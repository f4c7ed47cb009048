"""Prompts crossed with personas: planned, asked, stored and judged, one run for each persona beside
the one without.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores.core.contents import content_hash
from stores.core.store import Store
from tests.cli.test_commands import data, run
from tests.conftest import instrument, new_store
from tests.inference.chat_tokenizers import REFUSES_SYSTEM, TURNS
from tests.inference.random_models import STOP, build, engine_over
from workbench.audits.bias_score.judged import _runs_by_name
from workbench.audits.chosen_run import find_run
from workbench.audits.reliability.verdicts import run_verdicts
from workbench.domain.designs import Design
from workbench.domain.prompts import AXIS, Message, Persona, PersonaKind, Prompt, TemplateChoice
from workbench.domain.responses import ModelCard, Sampling
from workbench.domain.statements import ORIGINAL
from workbench.errors import UnknownName, UsageError
from workbench.evidence.answered import is_asked_by
from workbench.evidence.runs import runs_of, template_notes
from workbench.formats.personas import as_given, given_personas
from workbench.inference.base import Work
from workbench.inference.chat_turns import FOLDED, ChatTurns, writes_system_turn, writes_turn
from workbench.inference.scripted.model import ScriptedModel
from workbench.pipeline import asking, planning

NURSE = Persona("nurse", PersonaKind.PERSONA, (Message("system", "You are a nurse."),), "en")
TALK = Persona(
    "talk", PersonaKind.CONVERSATION, (Message("user", "Hello."), Message("assistant", "Hello!"))
)
DESIGN = Design("small", "scripted", samples=10, personas=(NURSE, TALK))
TEXTS = (
    st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "Zs")), min_size=1)
    .map(str.strip)
    .filter(bool)
)


class Swayed(ScriptedModel):
    """Agrees where a nurse is asked, and rejects where nobody is; after small talk it says nothing
    that can be read.
    """

    def _answer(self, prompt: Prompt, rng: np.random.Generator) -> str:
        del rng
        said = [message.content for message in prompt.messages]
        if "Hello!" in said:
            return "Hello."
        return "Beneficial." if any("nurse" in text for text in said) else "Harmful."


def ask(store: Store, design: Design = DESIGN, model: ScriptedModel | None = None) -> planning.Plan:
    model = model or Swayed()
    plan = planning.plan(store, design, card=model.card)
    job = store.jobs.create("sample", plan.design.as_json(), plan.samples)
    attempt = store.jobs.claim(job, "test")
    asking.collect(store, plan, model, attempt=attempt)
    store.jobs.finish(job, attempt, "done")
    return plan


# ── what is asked ─────────────────────────────────────────────────────────────────────────────────


def test_every_prompt_is_asked_without_a_persona_and_with_each(filled: Store) -> None:
    plain = planning.plan(filled, replace(DESIGN, personas=()))
    crossed = planning.plan(filled, DESIGN)
    assert crossed.probes[: len(plain.probes)] == plain.probes
    assert len(crossed.prompts) == 3 * len(plain.prompts)
    keys = [dict(probe.axes).get(AXIS, "") for probe in crossed.probes]
    assert list(dict.fromkeys(keys)) == ["", NURSE.key.hex(), TALK.key.hex()]
    assert keys == sorted(keys, key=["", NURSE.key.hex(), TALK.key.hex()].index)
    assert "x 3 personas (with none)" in crossed.describe()
    assert "nurse (persona): You are a nurse." in crossed.describe()
    assert crossed.detects == plain.detects


def test_a_design_without_personas_is_written_as_before() -> None:
    assert "personas" not in replace(DESIGN, personas=()).as_json()
    assert Design.from_json(json.loads(json.dumps(DESIGN.as_json()))) == DESIGN


@given(
    st.lists(
        st.tuples(TEXTS, TEXTS),
        min_size=1,
        max_size=4,
        unique_by=(lambda one: one[0], lambda one: one[1]),
    )
)
def test_what_a_job_was_told_can_be_told_again(given_: list[tuple[str, str]]) -> None:
    personas = tuple(
        Persona(f"p{place}", PersonaKind.SYSTEM, (Message("system", text),))
        for place, (_, text) in enumerate(given_)
    )
    if len({one.key for one in personas}) == len(personas):
        assert given_personas(as_given(personas)) == personas


@given(TEXTS, TEXTS, TEXTS)
def test_a_persona_is_what_it_says(name: str, other: str, text: str) -> None:
    one, same = (
        Persona(called, PersonaKind.PERSONA, (Message("system", text),)) for called in (name, other)
    )
    asked = Prompt((Message("user", "Taxes should fall."),))
    assert one.key == same.key
    assert one.before(asked).key == same.before(asked).key != asked.key
    longer = Persona(name, PersonaKind.PERSONA, (Message("system", text + "!"),))
    assert longer.key != one.key
    assert longer.before(asked).key != one.before(asked).key


def test_a_shared_beginning_is_computed_once() -> None:
    """Prompts with the same persona have the tokens of its turns in common, and a model computes
    them once.
    """
    beginning = list(range(3, 43))
    rng = np.random.default_rng(1)
    tails = [[int(token) for token in rng.integers(3, 60, 6)] for _ in range(12)]
    work = Work()
    with engine_over(build("llama"), work=work) as engine:
        list(engine.likeliest([[*beginning, *tail] for tail in tails], 3, [[5]]))
    assert STOP
    assert work.prompt_tokens == 12 * 46
    assert work.prompt_tokens_computed <= 40 + 12 * 6


# ── what is stored and judged ─────────────────────────────────────────────────────────────────────


def test_each_persona_is_a_run_with_verdicts_of_its_own(filled: Store) -> None:
    ask(filled)
    assert [run.persona for run in filled.runs.list()] == [""]
    runs = {run.persona_name: run for run in filled.runs.list(personas=True)}
    assert set(runs) == {"", "nurse", "talk"}
    assert {run.prompts for run in runs.values()} == {len(filled.runs.cells(runs[""]))}
    counts = {name: run_verdicts(filled, run).report.counts for name, run in runs.items()}
    assert counts["nurse"].positive.sum() == counts[""].negative.sum() > 0
    assert counts["nurse"].negative.sum() == counts[""].positive.sum() == 0
    assert counts["talk"].positive.sum() + counts["talk"].negative.sum() == 0
    assert runs["nurse"].label.startswith("scripted · persona nurse · small")
    prompt = filled.runs.prompt(filled.runs.cells(runs["talk"])[0][5])
    assert [turn.role for turn in prompt.messages] == ["system", "user", "assistant", "user"]


def test_answers_without_a_persona_count_and_are_not_asked_again(filled: Store) -> None:
    plain = ask(filled, replace(DESIGN, personas=()))
    again = planning.plan(filled, DESIGN)
    assert again.samples_stored == plain.samples
    assert again.samples_needed == 2 * plain.samples
    before = run_verdicts(filled, find_run(filled, "reliability")).report
    ask(filled)
    after = run_verdicts(filled, find_run(filled, "reliability")).report
    assert np.array_equal(before.counts.positive, after.counts.positive)
    assert planning.plan(filled, DESIGN).samples_needed == 0


def test_a_persona_is_chosen_by_its_name(filled: Store) -> None:
    ask(filled)
    (plain,) = runs_of(filled, "reliability")
    (nurse,) = runs_of(filled, "reliability", templates=TemplateChoice(personas=("nurse",)))
    assert (plain.persona_name, nurse.persona_name) == ("", "nurse")
    both = runs_of(filled, "reliability", templates=TemplateChoice(personas=("none", "talk")))
    assert [run.persona_name for run in both] == ["", "talk"]
    assert len(runs_of(filled, "reliability", templates=TemplateChoice(personas=("all",)))) == 3
    with pytest.raises(UnknownName, match="personas that were asked: nurse, talk"):
        runs_of(filled, "reliability", templates=TemplateChoice(personas=("doctor",)))
    (note,) = template_notes([plain])
    assert note.endswith("this result is about prompts without one. For another: --persona talk")


def test_two_texts_under_one_name_are_two_personas(filled: Store) -> None:
    ask(filled)
    edited = replace(NURSE, turns=(Message("system", "You are a nurse of 54."),))
    ask(filled, replace(DESIGN, personas=(edited,)))
    names = {run.persona_name for run in filled.runs.list(personas=True)} - {"", "talk"}
    assert names == {f"nurse [{one.key.hex()[:6]}]" for one in (NURSE, edited)}


def test_a_renamed_persona_has_its_answers(filled: Store) -> None:
    ask(filled)
    plan = ask(filled, replace(DESIGN, personas=(replace(NURSE, name="Schwester"),)))
    assert plan.samples_needed == 0
    ask(filled, replace(DESIGN, personas=(replace(NURSE, name="Schwester"),), samples=11))
    assert {run.persona_name for run in filled.runs.list(personas=True)} == {
        "",
        "Schwester",
        "talk",
    }


def test_templates_without_a_system_turn_have_the_persona_in_the_users(store: Store) -> None:
    base = instrument()
    templates = tuple(
        replace(one, family="user", system=None, user=f"{one.system}\n\n{{statement}}")
        for one in base.templates
    )
    store.instruments.add(replace(base, templates=templates))
    design = replace(DESIGN, family="user", personas=(NURSE,))
    plan = ask(store, design)
    asked = next(probe.prompt for probe in plan.probes if probe.axes)
    assert [turn.role for turn in asked.messages] == ["user"]
    assert asked.messages[0].content.startswith("You are a nurse.\n\npersonal-1: Is the following")
    assert {run.persona_name for run in store.runs.list(personas=True)} == {"", "nurse"}
    assert "a persona opens the user's turn" in plan.describe()


def test_audits_keep_the_runs_of_a_model_apart(filled: Store) -> None:
    ask(filled)
    (job,) = filled.jobs.list()
    runs = {run.persona_name: run for run in filled.runs.list(personas=True)}
    assert set(_runs_by_name(tuple(runs.values()))) == {
        "scripted",
        "scripted · persona nurse",
        "scripted · persona talk",
    }
    assert all(is_asked_by(filled, job, run) for run in runs.values())
    ask(filled, replace(DESIGN, personas=()))
    assert [is_asked_by(filled, filled.jobs.get(2), run) for run in runs.values()] == [
        not name for name in runs
    ]
    (put, *_) = filled.review_queries.prompts(runs["nurse"], "a-1")
    assert put.axes == {"persona": "nurse"}


def test_a_store_without_personas_lists_its_runs_as_before(filled: Store) -> None:
    ask(filled, replace(DESIGN, personas=()))
    (run_,) = filled.runs.list(personas=True)
    assert (run_.persona, run_.persona_name, run_.personas) == ("", "", ())
    assert filled.connection.execute("select count(*) from persona").fetchone() == (0,)
    assert len(run_.design_key) == 5
    assert content_hash(filled.connection)


# ── what is refused ───────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("template", "expected"), [(TURNS, True), (REFUSES_SYSTEM, False), ("{{ nothing(1) }}", None)]
)
def test_a_chat_template_says_whether_it_writes_a_system_turn(
    template: str, expected: bool | None
) -> None:
    assert writes_turn(template) is expected


class Tokenizer:
    """What `ChatTurns` needs of one."""

    def __init__(self, template: str) -> None:
        self.chat_template = template

    def apply_chat_template(self, turns: list[dict[str, str]], **how: Any) -> str:
        from jinja2 import Environment

        def refuse(message: str) -> None:
            raise ValueError(message)

        made = Environment().from_string(how["chat_template"])
        return str(made.render(messages=turns, raise_exception=refuse, add_generation_prompt=True))


def test_it_says_the_same_before_and_after_the_model_is_loaded() -> None:
    for template in (TURNS, REFUSES_SYSTEM):
        assert (FOLDED in ChatTurns(Tokenizer(template)).encoding) is (
            writes_turn(template) is False
        )


def test_a_persona_that_the_chat_template_has_no_turn_for_is_refused(
    filled: Store, tmp_path: Path
) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "tokenizer_config.json").write_text(
        json.dumps({"chat_template": REFUSES_SYSTEM}), encoding="utf-8"
    )
    assert writes_system_turn(str(folder)) is False
    with pytest.raises(
        UsageError, match="no place for a system turn, and the personas nurse are system turns"
    ):
        planning.plan(filled, replace(DESIGN, model=str(folder), personas=(NURSE,)))
    assert planning.plan(filled, replace(DESIGN, model=str(folder), personas=(TALK,))).probes
    card = ModelCard("m", "r", "transformers", "float32", "chat", encoding=f"1; {FOLDED}")
    with pytest.raises(UsageError, match="no place for a system turn"):
        planning.plan(filled, DESIGN, card=card)


# ── the command line ──────────────────────────────────────────────────────────────────────────────

PERSONAS = '[{"id": "nurse", "text": "You are a nurse."}, {"id": "owl", "text": "You are an owl."}]'


@pytest.fixture
def demo(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    path = tmp_path / "demo.db"
    assert run(capsys, "init", path, "--demo")[0] == 0
    return path


def test_a_dry_run_says_what_the_personas_come_to(
    demo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    few = ("--model", "scripted", "--statements", "2", "--dry-run")
    plain = data(capsys, "run", demo, *few)
    crossed = data(capsys, "run", demo, *few, "--personas", PERSONAS)
    assert crossed["answers"] == 3 * plain["answers"]
    code, _, err = run(capsys, "run", demo, *few, "--personas", "/nowhere/p.toml")
    assert (code, "cannot be read" in err) == (2, True)
    code, _, err = run(capsys, "run", demo, *few, "--personas", '[{"id": "none", "text": "x"}]')
    assert code != 0
    assert "a name other than 'none'" in err


SCRIPT = """
unreadable = 0
[spread]
statements = "veldania"
mean = 0.1
[[spread.moved]]
said = "You are a nurse."
by = 0.8
"""


@pytest.fixture
def swayed(demo: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    script = tmp_path / "swayed.toml"
    script.write_text(SCRIPT, encoding="utf-8")
    arguments = (
        "--model",
        f"scripted:{script}",
        "--statements",
        "3",
        "--templates",
        "2",
        "--samples",
        "10",
    )
    code, out, err = run(
        capsys, "run", demo, *arguments, "--personas", PERSONAS, "--yes", "--no-probe"
    )
    assert code == 0, out + err
    return demo


@pytest.mark.e2e
def test_a_model_that_a_persona_sways_from_the_command_line(
    swayed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = {
        name: data(capsys, "show", swayed, "reliability", "--persona", name)
        for name in ("none", "nurse", "owl")
    }
    assert [found[name]["run"].get("persona_name") for name in found] == [None, "nurse", "owl"]
    assert found["none"]["run"]["personas"] == ["nurse", "owl"]
    code, _, err = run(capsys, "show", swayed, "reliability", "--persona", "all")
    assert (code, "--persona" in err) == (2, True)
    out = run(capsys, "show", swayed, "reliability")[1]
    assert "this result is about prompts without one. For another: --persona owl" in " ".join(
        out.split()
    )
    with Store.open(swayed) as store:
        runs = {one.persona_name: one for one in store.runs.list(personas=True)}
        shares = {}
        for name, one in runs.items():
            counts = run_verdicts(store, one).report.counts
            original = counts.variants.index(ORIGINAL)
            agree, reject = counts.positive[:, :, original], counts.negative[:, :, original]
            shares[name] = agree.sum() / (agree + reject).sum()
    assert shares["nurse"] > 0.8 > 0.3 > max(shares[""], shares["owl"])


@pytest.mark.e2e
def test_a_job_with_personas_is_told_again_and_frozen_in_a_plan(
    swayed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = run(capsys, "jobs", swayed, "edit", "1")[1]
    assert "--personas '[{" in out
    assert "You are an owl." in out
    plan = tmp_path / "plan.toml"
    few = ("--model", "scripted", "--statements", "2", "--samples", "5")
    assert run(capsys, "plan", swayed, *few, "--personas", PERSONAS, "--out", plan)[0] == 0
    assert "You are an owl." in plan.read_text(encoding="utf-8")
    asked = data(capsys, "run", swayed, "--plan", plan, "--dry-run")
    assert (
        asked["prompts_planned"]
        == data(capsys, "run", swayed, *few, "--personas", PERSONAS, "--dry-run")["prompts_planned"]
    )


def test_a_new_store_holds_no_persona(tmp_path: Path) -> None:
    with new_store(tmp_path / "new.db") as store:
        assert store.connection.execute("select * from persona").fetchall() == []
        assert Sampling()
