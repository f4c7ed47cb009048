"""An instrument in another language is asked in that language, or refused before anything is
asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from stores.core.store import Store
from stores.runs.run_rows import Answered, Run
from tests.conftest import instrument, new_store
from tests.questionnaires import panel
from workbench import data, registry
from workbench.cli.main import main
from workbench.domain.designs import Design
from workbench.domain.instruments import Instrument
from workbench.domain.prompts import Template
from workbench.domain.readings import ReadingChoice
from workbench.domain.responses import ModelCard, Sampling
from workbench.domain.reviews import OTHER_LANGUAGE
from workbench.errors import UnknownName, UsageError
from workbench.evidence.answered import refusal_sentences, refusal_table
from workbench.evidence.methods import asked_sentences
from workbench.evidence.readings import read
from workbench.evidence.refusals import refusals_of
from workbench.formats.native import read_csv
from workbench.lint import lint
from workbench.pipeline import planning
from workbench.pipeline.review import review


def spoken(language: str, base: Instrument | None = None, **changes: object) -> Instrument:
    """Return an instrument whose wordings are in a language."""
    base = base or replace(instrument(), templates=data.shipped_templates())
    statements = tuple(
        replace(
            s,
            wordings=tuple(replace(w, language=language) for w in s.wordings),
            languages=(language,),
        )
        for s in base.statements
    )
    return replace(base, name="local", statements=statements, language=language, **changes)  # type: ignore[arg-type]


DESIGN = Design("local", "scripted", samples=2)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with new_store(tmp_path / "audit.db") as made:
        yield made


def texts(found: planning.Plan) -> str:
    return "\n".join(
        message.content for prompt in found.prompts.values() for message in prompt.messages
    )


def test_german_statements_are_put_in_german_instructions_and_their_answers_read(
    store: Store,
) -> None:
    store.instruments.add(spoken("de"))
    found = planning.plan(store, DESIGN)
    assert {template.language for template in found.templates} == {"de"}
    assert '"Zustimmung" oder "Ablehnung"' in texts(found)
    assert "no native speaker has reviewed the lexicon of 'de'" in found.describe()


@pytest.mark.parametrize("audit", [one.name for one in registry.asking() if not one.own_material])
def test_statements_in_a_language_without_templates_are_refused(store: Store, audit: str) -> None:
    store.instruments.add(spoken("fi"))
    family = registry.audit(audit).defaults.family
    if "fi" in data.template_languages(audit):
        pytest.fail("there are templates now; take another language")
    with pytest.raises(UnknownName) as refused:
        planning.plan(store, replace(DESIGN, audit=audit, family=family))
    said = str(refused.value)
    assert "no templates in 'fi', the language of the statements" in said
    assert "Available: en" in said
    assert "--template-language en" in said
    mixed = planning.plan(
        store, replace(DESIGN, audit=audit, family=family, template_language="en")
    )
    assert "the statements are in 'fi' and the templates in 'en'" in mixed.describe()


def test_a_questionnaire_without_templates_in_its_language_is_refused(store: Store) -> None:
    store.instruments.add(spoken("fi", panel()))
    with pytest.raises(UnknownName, match="no templates in 'fi'"):
        planning.plan(store, Design("local", "scripted", "questionnaire", family="qm"))


def own(**changes: object) -> tuple[Template, ...]:
    return tuple(replace(t, **changes) for t in data.shipped_templates() if t.name == "personal-1")  # type: ignore[arg-type]


def test_templates_that_no_lexicon_reads_are_refused_with_the_languages_that_there_are(
    store: Store,
) -> None:
    store.instruments.add(spoken("fi", templates=own(language="fi")))
    with pytest.raises(UsageError) as refused:
        planning.plan(store, DESIGN)
    said = str(refused.value)
    assert "nothing is asked" in said
    assert "no lexicon of the language 'fi'" in said
    assert "Available: de, en" in said
    assert data.LANGUAGE_FOLDER in said


def test_templates_without_label_words_are_refused(store: Store) -> None:
    store.instruments.add(spoken("de", templates=own(language="de", positive=" ")))
    with pytest.raises(UsageError, match="no label words"):
        planning.plan(store, DESIGN)


def test_labels_that_the_lexicon_does_not_list_are_noted(store: Store) -> None:
    labels = {"positive": "richtig", "negative": "falsch", "system": "richtig oder falsch?"}
    store.instruments.add(spoken("de", templates=own(language="de", **labels)))
    assert "does not list the labels richtig / falsch" in planning.plan(store, DESIGN).describe()


def test_german_answers_are_read_and_the_methods_say_who_reviewed_the_words(store: Store) -> None:
    store.instruments.add(spoken("de"))
    answers = ("Ich stimme der Aussage nicht zu.", "Eher schädlich.", "nachteilig", "Zustimmung")
    found = planning.plan(store, replace(DESIGN, samples=20))
    store.runs.add_probes("reliability", "local", "de", found.templates, found.probes)
    attempt = store.jobs.claim(
        store.jobs.create("sample", found.design.as_json(), found.samples), "1.0"
    )
    ids = store.runs.begin(ModelCard("scripted", "r1", "scripted", "float32", "none"), Sampling())
    batch = [
        Answered(key, 1, 20, ((answers[n % len(answers)], 20),))
        for n, key in enumerate(found.prompts)
    ]
    store.runs.add(*ids, attempt, batch)
    [run] = store.runs.list()
    _, card = read(store, run)
    assert card.version.endswith(data.lexicon("de").version)
    assert refusals_of(store, run).foreign == 0
    told = " ".join(asked_sentences([("scripted", run)], []))
    assert (
        "No native speaker has reviewed the templates and the lexicon that workbench has in de"
        in told
    )


def test_answers_in_another_language_are_counted_beside_refusals(store: Store) -> None:
    store.instruments.add(spoken("de"))
    found = planning.plan(store, DESIGN)
    said = (
        ("disagree", 6),
        ("I think it is harmful.", 5),
        ("Ablehnung", 7),
        ("Als KI habe ich keine Meinung.", 2),
    )
    store.runs.add_probes("reliability", "local", "de", found.templates, found.probes)
    attempt = store.jobs.claim(
        store.jobs.create("sample", found.design.as_json(), found.samples), "1.0"
    )
    ids = store.runs.begin(ModelCard("scripted", "r1", "scripted", "float32", "none"), Sampling())
    store.runs.add(*ids, attempt, [Answered(key, 1, 20, said) for key in found.prompts])
    [run] = store.runs.list()
    of = refusals_of(store, run)
    assert (of.foreign, of.refused, of.answers) == tuple(
        n * len(found.prompts) for n in (11, 2, 20)
    )
    first = refusal_table([of]).rows[0]
    assert (first.foreign, first.refused.value) == (0.55, 0.1)
    assert f"in another language than the prompt: {of.foreign:,} of {of.answers:,} answers" in list(
        refusal_sentences([of])
    )


def test_lint_finds_what_a_plan_refuses() -> None:
    def codes(of: Instrument) -> set[tuple[str, str]]:
        return {
            (one.severity, one.code)
            for one in lint(of)
            if one.code in ("no-lexicon", "no-templates", "no-label-words")
        }

    assert codes(spoken("de")) == set()
    assert codes(spoken("fi")) == {("warning", "no-templates")}
    assert codes(spoken("fi", templates=own(language="fi"))) == {("error", "no-lexicon")}
    assert codes(spoken("de", templates=own(language="de", negative=""))) == {
        ("error", "no-label-words")
    }


def test_the_shell_refuses_before_it_queues(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store.instruments.add(spoken("fi"))
    assert main(["run", str(tmp_path / "audit.db"), "--model", "scripted", "--yes"]) == 2
    assert "no templates in 'fi'" in capsys.readouterr().err
    assert not store.jobs.list()


def test_an_import_brings_the_templates_of_the_languages_of_its_statements(tmp_path: Path) -> None:
    file = tmp_path / "local.csv"
    file.write_text(
        "ref,original,language\na,Steuern sollen sinken.,de\nb,Mieten sollen sinken.,de\n",
        encoding="utf-8",
    )
    held = read_csv(file)
    assert held.language == "de"
    assert {(t.audit, t.language) for t in held.templates} == {
        ("reliability", "de"),
        ("bias_score", "de"),
    }
    file.write_text(
        "ref,original,language\na,Taxes should fall.,en\nb,Verot alas.,fi\n", encoding="utf-8"
    )
    assert {t.language for t in read_csv(file).templates} == {"en"}


def test_a_design_that_names_no_language_of_templates_is_stored_as_before() -> None:
    assert "template_language" not in DESIGN.as_json()
    mixed = replace(DESIGN, template_language="en")
    assert [Design.from_json(one.as_json()) for one in (DESIGN, mixed)] == [DESIGN, mixed]


def in_english(store: Store, said: tuple[tuple[str, int], ...]) -> Run:
    """Return a run in German whose model gave these answers to every prompt."""
    store.instruments.add(spoken("de"))
    found = planning.plan(store, DESIGN)
    store.runs.add_probes("reliability", "local", "de", found.templates, found.probes)
    attempt = store.jobs.claim(
        store.jobs.create("sample", found.design.as_json(), found.samples), "1.0"
    )
    ids = store.runs.begin(ModelCard("scripted", "r1", "scripted", "float32", "none"), Sampling())
    store.runs.add(*ids, attempt, [Answered(key, 1, 10, said) for key in found.prompts])
    [run] = store.runs.list()
    return run


def test_the_queue_of_an_auditor_has_the_statements_with_answers_in_another_language(
    store: Store,
) -> None:
    run = in_english(store, (("disagree", 3), ("Ablehnung", 7)))
    queue = review(store, run, ReadingChoice()).queue
    assert len(queue) == len(store.instruments.get("local").statements)
    for one in queue:
        [signal] = [signal for signal in one.signals if signal.reason == OTHER_LANGUAGE]
        assert signal.words.endswith("answers in en")
        assert "original" in signal.variants
        assert {store.review_queries.text(text) for _, text in signal.answers} == {"disagree"}
        assert "other language" in one.why()


def test_a_run_whose_answers_are_in_its_language_has_no_such_reason(store: Store) -> None:
    run = in_english(store, (("Zustimmung", 3), ("Ablehnung", 7)))
    found = review(store, run, ReadingChoice()).found
    assert not [one for _, one in found if one.reason == OTHER_LANGUAGE]


def test_the_header_says_how_many_answers_are_in_another_language(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    in_english(store, (("disagree", 3), ("Ablehnung", 7)))
    main(["show", str(tmp_path / "audit.db"), "reliability"])
    assert "in another language 30.0 %" in " ".join(capsys.readouterr().out.split())
    main(["review", str(tmp_path / "audit.db")])
    assert "other language" in " ".join(capsys.readouterr().out.split())
