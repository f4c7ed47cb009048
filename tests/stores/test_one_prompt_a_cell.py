"""A cell holds the answers to one prompt, whatever else the store holds under the same names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stores.core.store import Store
from tests.template_stores import (
    FAMILIES,
    LANGUAGES,
    MODELS,
    NAMES,
    REFS,
    Made,
    Step,
    log,
    played,
    said,
)
from tests.tui.bias_stores import HOSTILE_REF, SAMPLES, asked, sided
from workbench.audits.bias_score.counting import prefixes
from workbench.audits.reliability.verdicts import counts, label_mass
from workbench.domain.designs import Design
from workbench.domain.prompts import Template, TemplateChoice
from workbench.errors import UnknownName
from workbench.evidence.readings import read
from workbench.evidence.runs import runs_of, template_notes
from workbench.pipeline.planning import plan
from workbench.readers.verbalizers import verbalizers

asking = st.tuples(
    st.sampled_from(("ask", "ask one")),
    st.sampled_from([f"{model} {family}" for model in MODELS for family in FAMILIES]),
    st.sampled_from(LANGUAGES),
)
editing = st.one_of(
    st.tuples(
        st.just("template"),
        st.sampled_from([f"{family} {name}" for family in FAMILIES for name in NAMES]),
        st.sampled_from(("False", "True")),
    ),
    st.tuples(st.just("statement"), st.sampled_from(REFS), st.just("")),
)


@pytest.mark.e2e
@settings(max_examples=40)
@given(st.lists(st.one_of(asking, editing), min_size=2, max_size=7))
def test_the_answers_in_a_cell_are_those_that_are_stored_for_its_prompt(steps: list[Step]) -> None:
    with played(steps) as store:
        for run in store.runs.list("reliability"):
            reader, _ = read(store, run)
            found = counts(store, run, reader)
            templates: Mapping[tuple[str, int], Template] = {
                (t.name, int(t.inverted)): t for t in store.runs.templates(run)
            }
            assert {t.family for t in templates.values()} == {run.family}
            statements = {s.ref: s for s in store.runs.instrument(run).statements}
            asked = 0
            for at in np.ndindex(found.total.shape):
                template = templates.get((found.templates[at[0]], at[3]))
                wording = statements[found.statements[at[1]]].wording(
                    found.variants[at[2]], run.language
                )
                if found.total[at]:
                    assert template is not None
                    assert wording is not None
                    expected = dict(said(run.model, template.render(wording.text).key))
                    in_cell = (found.positive[at], found.negative[at], found.unreadable[at])
                    assert in_cell == (
                        expected["agree"],
                        expected["disagree"],
                        expected["It depends."],
                    )
                    asked += 1
            assert asked


scoring = asking.map(lambda step: ("score", *step[1:]))


@pytest.mark.e2e
@settings(max_examples=20)
@given(st.lists(st.one_of(scoring, editing), min_size=2, max_size=6))
def test_the_probabilities_in_a_cell_are_those_that_are_stored_for_its_prompt(
    steps: list[Step],
) -> None:
    with played(steps) as store:
        for run in store.runs.list("reliability"):
            found = label_mass(store, run)
            templates = {(t.name, int(t.inverted)): t for t in store.runs.templates(run)}
            statements = {s.ref: s for s in store.runs.instrument(run).statements}
            assert found.scored.any()
            for at in np.argwhere(found.scored):
                template = templates[found.templates[at[0]], int(at[3])]
                wording = statements[found.statements[at[1]]].wording(
                    found.variants[at[2]], run.language
                )
                assert wording is not None
                key = template.render(wording.text).key
                wanted = verbalizers(template)
                for side, forms in (
                    (found.positive, wanted.positive),
                    (found.negative, wanted.negative),
                ):
                    assert side[tuple(at)] == pytest.approx(
                        sum(np.exp(log(run.model, key, form)) for form in forms)
                    )


def test_an_edited_prefix_is_another_prefix_of_the_bias_score(tmp_path: Path) -> None:
    base = sided()
    later = replace(
        base,
        templates=tuple(
            replace(t, user=f"Please. {t.user}") if t.name == "opinion" else t
            for t in base.templates
        ),
    )
    path = asked(tmp_path / "bias.db", base, models=("gauche-7b", "droite-13b"))
    asked(path, later, models=("gauche-7b",))
    with Store.open(path) as store:
        once = {
            (t.name, t.version)
            for run in store.runs.list("bias_score")
            for t in store.runs.templates(run)
        }
        assert once == {("likert", 1), ("opinion", 1), ("opinion", 2), ("baseline", 1)}
        for run in store.runs.list("bias_score"):
            cells = Counter[tuple[str, str, int, str]]()
            for cell in store.bias.cells(run, None, 0.9):
                if cell.template == "opinion" and cell.ref != HOSTILE_REF:
                    cells[cell.ref, cell.kind, cell.ordinal, cell.template] += cell.count
            assert set(cells.values()) == {SAMPLES}
        names, places = prefixes(
            store, {run.model: (run,) for run in store.runs.list("bias_score")}
        )
        assert set(names) == {"likert", "opinion · version 1", "opinion · version 2", "baseline"}
        assert places["gauche-7b", base.name]["opinion"] == "opinion · version 2"
        assert places["droite-13b", base.name]["opinion"] == "opinion · version 1"


EDIT = ("template", "chat personal-1", "False")
ASK = ("ask", "one chat", "en")


def test_two_families_are_two_runs_and_the_one_asked_last_is_meant() -> None:
    with played([ASK, ("ask", "one user", "en")]) as store:
        assert [run.family for run in store.runs.list("reliability")] == ["chat", "user"]
        (run,) = runs_of(store, "reliability")
        assert (run.family, run.families) == ("user", ("chat", "user"))
        assert run.label.endswith(" · family user")
        (note,) = template_notes([run])
        assert "chat, user" in note
        assert note.endswith("--family chat")
        both = runs_of(store, "reliability", templates=TemplateChoice(families=("chat", "user")))
        assert [one.family for one in both] == ["chat", "user"]
        assert template_notes(both) == ()
        with pytest.raises(UnknownName, match="families asked: chat, user"):
            runs_of(store, "reliability", templates=TemplateChoice(families=("gpt",)))


def test_an_edited_template_is_another_version_that_shares_the_order_that_stayed() -> None:
    with played([ASK, EDIT]) as store:
        versions = {(t.family, t.name): t.version for t in store.instruments.get("small").templates}
        assert versions == {
            ("chat", "personal-1"): 2,
            ("chat", "personal-2"): 1,
            **{("user", n): 1 for n in NAMES},
        }
        (run,) = store.runs.list("reliability")
        assert [(one.name, one.version, one.others) for one in run.versions] == [
            ("personal-1", 1, ())
        ]
        before = store.runs.totals()[0]
    with played([ASK, EDIT, ASK]) as store:
        (run,) = store.runs.list("reliability")
        assert [(one.name, one.version, one.others) for one in run.versions] == [
            ("personal-1", 2, (1,))
        ]
        assert run.label.endswith(" · personal-1 version 2")
        assert run.prompts == 16
        assert store.runs.totals()[0] > before
        (note,) = template_notes([run])
        assert note.endswith("--template-version personal-1=1")
        (old,) = runs_of(
            store, "reliability", templates=TemplateChoice(versions=(("personal-1", 1),))
        )
        assert (old.versions[0].version, old.versions[0].others, old.prompts) == (1, (2,), 16)
        for wrong in (("personal-1", 3), ("personal-2", 2)):
            with pytest.raises(UnknownName, match="Versions asked: personal-1: 1, 2"):
                runs_of(store, "reliability", templates=TemplateChoice(versions=(wrong,)))


def test_a_text_that_comes_back_is_the_version_that_it_was() -> None:
    made = Made()
    with played([ASK, EDIT, ASK]) as store:
        store.instruments.add(made.instrument())
        versions = {t.version for t in store.instruments.get("small").templates}
        assert versions == {1}
        (run,) = store.runs.list("reliability")
        assert [(one.version, one.others) for one in run.versions] == [(1, (2,))], (
            "what the instrument has now"
        )


def test_templates_in_two_languages_are_not_asked_as_one() -> None:
    with played([]) as store:
        base = Made().instrument()
        german = tuple(
            replace(t, language="de", user=f"Auf Deutsch: {t.user}") for t in base.templates
        )
        store.instruments.add(replace(base, templates=(*base.templates, *german)))
        for language, expected in (("en", "en"), ("de", "de"), ("", "en")):
            found = plan(store, Design("small", "one", samples=1, language=language))
            assert {t.language for t in found.templates} == {expected}
            assert len(found.templates) == 4
