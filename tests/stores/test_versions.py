"""Old results keep pointing at the old text, whatever is edited, asked, archived or imported
afterwards.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from stores.core.store import Store
from stores.instruments.instruments import Filters
from tests.conftest import instrument, statement
from tests.stores.test_statements import PARAPHRASE, ask, reworded, text
from tests.tui.bias_stores import asked as bias_asked
from tests.tui.bias_stores import labelled, sided, trained
from workbench.audits.bias_score.judged import judge_bias
from workbench.audits.chosen_run import find_run
from workbench.audits.consistency.judged import judge_consistency
from workbench.audits.consistency.methods import methods
from workbench.audits.reliability.verdicts import counts
from workbench.domain.designs import Design
from workbench.domain.instruments import Instrument, IssueLabel, SurveyAnswer
from workbench.domain.readings import ReaderKind
from workbench.domain.statements import (
    NEGATION,
    ORIGINAL,
    POLITICAL_OPPOSITE,
    Relation,
    Side,
    Statement,
    VariantId,
    VariantKind,
    Wording,
)
from workbench.errors import ConflictError, UsageError
from workbench.evidence.readings import read, settled_labels
from workbench.inference.scripted.model import ScriptedModel, ScriptedPersona
from workbench.pipeline import asking, planning


def edit(
    store: Store, ref: str, variant: VariantId = ORIGINAL, words: str = "Other words."
) -> None:
    store.statements.save(
        "small", [reworded(store.statements.get("small", ref), variant, words)], person="ana"
    )


def other_model() -> ScriptedModel:
    return ScriptedModel(ScriptedPersona(agree=0.9, unreadable=0.0), name="other")


def label(store: Store, ref: str, annotator: str, value: int) -> None:
    """Write a person's label of the current version, as the grid does."""
    with store.write() as connection:
        statement_id = connection.execute(
            "select id from statement where ref = ? and current = 1", (ref,)
        ).fetchone()[0]
        reader = connection.execute(
            "insert into reader (kind, name, version, created_at) values (?, ?, '', '2026') "
            "returning id",
            (ReaderKind.PERSON.value, annotator),
        ).fetchone()[0]
        connection.execute(
            "insert into issue_label values (?, 'law_and_order', ?, 1, ?, '2026')",
            (statement_id, reader, value),
        )


class TestRuns:
    def test_asking_one_model_about_a_new_text_takes_nothing_from_the_results_of_another(
        self, filled: Store
    ) -> None:
        ask(filled)
        other = other_model()
        plan = planning.plan(filled, Design("small", "other", samples=5), card=other.card)
        attempt = filled.jobs.claim(
            filled.jobs.create("sample", plan.design.as_json(), plan.samples), "test"
        )
        asking.collect(filled, plan, other, attempt=attempt)
        run = find_run(filled, "reliability", "other")
        reader, _ = read(filled, run)
        before = counts(filled, run, reader)
        edit(filled, "a-1", PARAPHRASE)
        ask(filled)
        after = counts(filled, run, reader)
        assert (after.positive == before.positive).all()
        assert filled.runs.outdated(run) == {"a-1": (1, 2)}
        assert filled.runs.outdated(find_run(filled, "reliability", "scripted")) == {}

    def test_a_new_version_without_a_wording_takes_over_once_it_was_asked(
        self, filled: Store
    ) -> None:
        ask(filled)
        old = filled.statements.get("small", "a-1")
        fewer = tuple(w for w in reworded(old, NEGATION, "No.").wordings if w.variant != PARAPHRASE)
        filled.statements.save("small", [replace(old, wordings=fewer)], person="ana")
        ask(filled)
        run = find_run(filled, "reliability")
        assert filled.runs.outdated(run) == {}

    def test_a_run_comes_with_the_labels_of_the_version_that_it_asked(self, filled: Store) -> None:
        ask(filled)
        edit(filled, "a-1")
        filled.instruments.add(
            replace(
                filled.instruments.get("small"),
                issue_labels=(IssueLabel("a-1", "law_and_order", "gold", -1),),
            )
        )
        assert filled.statements.get("small", "a-1").issues == {"law_and_order": -1}
        of_run = filled.runs.instrument(find_run(filled, "reliability"))
        assert of_run.statements[0].issues == {"law_and_order": 1}

    def test_the_consistency_says_which_stances_are_on_texts_that_were_changed(
        self, filled: Store
    ) -> None:
        ask(filled)
        assert "changed since" not in methods(judge_consistency(filled))
        edit(filled, "a-1")
        told = methods(judge_consistency(filled))
        assert "1 statement was changed since scripted was asked (a-1)" in told

    def test_a_plan_whose_text_was_changed_in_place_meanwhile_is_refused_and_nothing_is_written(
        self, filled: Store
    ) -> None:
        model = ScriptedModel(ScriptedPersona(agree=0.9, unreadable=0.0))
        plan = planning.plan(filled, Design("small", "scripted", samples=2), card=model.card)
        edit(filled, "a-1", PARAPHRASE)
        attempt = filled.jobs.claim(
            filled.jobs.create("sample", plan.design.as_json(), plan.samples), "test"
        )
        with pytest.raises(ConflictError, match="a-1 was changed"):
            asking.collect(filled, plan, model, attempt=attempt)
        assert filled.runs.totals() == (0, 0)
        assert filled.connection.execute("select count(*) from probe").fetchone() == (0,)

    def test_answers_to_a_plan_from_before_an_edit_stay_with_the_text_that_was_planned(
        self, filled: Store
    ) -> None:
        ask(filled)
        model = ScriptedModel(ScriptedPersona(agree=0.9, unreadable=0.0))
        plan = planning.plan(filled, Design("small", "scripted", samples=7), card=model.card)
        edit(filled, "a-1", PARAPHRASE)
        attempt = filled.jobs.claim(
            filled.jobs.create("sample", plan.design.as_json(), plan.samples), "test"
        )
        asking.collect(filled, plan, model, attempt=attempt)
        first, second = filled.statements.history("small", "a-1")
        assert (first.answers, second.answers) == (6 * 4 * 7, 0)

    def test_a_plan_of_a_statement_that_was_archived_meanwhile_is_asked_and_kept(
        self, filled: Store
    ) -> None:
        model = ScriptedModel(ScriptedPersona(agree=0.9, unreadable=0.0))
        plan = planning.plan(filled, Design("small", "scripted", samples=2), card=model.card)
        filled.statements.archive("small", ["a-1"], person="ana")
        attempt = filled.jobs.claim(
            filled.jobs.create("sample", plan.design.as_json(), plan.samples), "test"
        )
        asking.collect(filled, plan, model, attempt=attempt)
        filled.statements.restore("small", ["a-1"], person="ana")
        assert filled.statements.history("small", "a-1")[0].answers == 6 * 4 * 2


class TestVersions:
    def test_what_was_archived_is_what_comes_back(self, filled: Store) -> None:
        ask(filled)
        old = filled.statements.get("small", "a-1")
        edit(filled, "a-1")
        filled.statements.undo("small", person="ana")
        filled.statements.archive("small", ["a-1"], person="ana")
        listed = filled.instruments.lines("small", Filters(archived=True))
        assert [(line.ref, line.version) for line in listed] == [("a-1", 1)]
        filled.statements.restore("small", ["a-1"], person="ana")
        assert filled.statements.get("small", "a-1") == old

    def test_labels_given_to_a_newer_version_stay_when_the_older_text_returns(
        self, filled: Store
    ) -> None:
        ask(filled)
        edit(filled, "a-1")
        label(filled, "a-1", "bo", -1)
        filled.statements.undo("small", person="ana")
        given = {one.annotator: one.label for one in filled.instruments.get("small").issue_labels}
        assert given == {"gold": 1, "bo": -1}

    def test_a_chain_is_followed_by_what_the_current_version_says(self, filled: Store) -> None:
        ask(filled)
        first = filled.statements.get("small", "a-1")
        edit(filled, "a-1")
        edit(filled, "a-1", words=text(filled, "a-1", version=1))
        filled.statements.save("small", [replace(first, derived_from="a-2")], person="ana")
        with pytest.raises(UsageError, match="a-2 → a-1 → a-2"):
            filled.statements.save(
                "small",
                [replace(filled.statements.get("small", "a-2"), derived_from="a-1")],
                person="ana",
            )

    def test_what_was_imported_with_a_fault_can_be_undone_to(self, store: Store) -> None:
        store.instruments.add(
            Instrument("small", "S", (Statement("a-1", (Wording(NEGATION, "en", "Not so."),)),))
        )
        before = store.statements.get("small", "a-1")
        whole = replace(before, wordings=(Wording(ORIGINAL, "en", "So."), *before.wordings))
        store.statements.save("small", [whole], person="ana")
        store.statements.undo("small", person="ana")
        assert store.statements.get("small", "a-1") == before

    def test_half_a_character_that_was_imported_can_be_mended(self, store: Store) -> None:
        broken = Statement("a-1", (Wording(ORIGINAL, "en", "a\ud800b"),))
        store.instruments.add(Instrument("small", "S", (broken,)))
        store.statements.save("small", [reworded(broken, ORIGINAL, "ab")], person="ana")
        (edit,) = store.statements.edits("small")
        assert edit.before == replace(broken, languages=("en",))

    def test_edits_of_a_statement_are_followed_through_its_refs_and_not_into_another_that_takes_its_ref(
        self, filled: Store
    ) -> None:
        edit(filled, "a-1")
        filled.statements.rename("small", "a-1", "law-1", person="ana")
        filled.statements.create("small", [statement("a-1")], person="ben")
        acts = [edit.act for edit in filled.statements.edits("small", "law-1")]
        assert acts == ["renamed from a-1", "edited"]
        assert [edit.act for edit in filled.statements.edits("small", "a-1")] == [
            "created",
            "edited",
        ]

    @pytest.mark.parametrize(
        ("wording", "said"),
        [
            (Wording(ORIGINAL, "en", "So.", None, Relation.FLIPPED), "cannot be flipped"),
            (Wording(VariantId(VariantKind.ORIGINAL, 2), "en", "So."), "has one original"),
            (Wording(VariantId(VariantKind.PARAPHRASE, -1), "en", "So."), "paraphrase"),
            (Wording(PARAPHRASE, "e n", "So."), "language 'e n'"),
            (Wording(PARAPHRASE, "en,fr", "So."), "language 'en,fr'"),
            (Wording(PARAPHRASE, "en", "So.", "a\x1b[31m"), "control characters"),
        ],
    )
    def test_a_wording_that_nothing_could_be_made_of_is_refused(
        self, filled: Store, wording: Wording, said: str
    ) -> None:
        first = Wording(ORIGINAL, "en", "It should.")
        wordings = (wording,) if wording.variant == ORIGINAL else (first, wording)
        with pytest.raises(UsageError, match=said):
            filled.statements.create("small", [Statement("new-1", wordings)], person="ana")

    def test_a_topic_in_any_script_is_welcome_and_control_characters_are_not(
        self, filled: Store
    ) -> None:
        old = filled.statements.get("small", "a-1")
        filled.statements.save("small", [replace(old, topic="می\u200cخواهم")], person="ana")
        with pytest.raises(UsageError, match="topic"):
            filled.statements.save("small", [replace(old, topic="a\x00b")], person="ana")


class TestImports:
    def test_a_file_that_has_not_changed_leaves_what_was_done_here(self, filled: Store) -> None:
        edit(filled, "a-1")
        filled.statements.rename("small", "a-2", "law-2", person="ana")
        filled.statements.archive("small", ["b-1"], person="ana")
        filled.statements.create("small", [statement("own-1")], person="ana")
        before = filled.instruments.get("small")
        imported = filled.instruments.add(instrument())
        assert (imported.added, imported.changed, imported.retired, imported.kept) == (0, 0, 0, 3)
        after = filled.instruments.get("small")
        assert after.statements == before.statements
        assert filled.statements.archived("small") == ("b-1",)

    def test_what_the_file_changed_wins_and_both_are_in_the_record(self, filled: Store) -> None:
        edit(filled, "a-1", words="Ana's.")
        changed = replace(
            instrument(), statements=(statement("a-1", "The file's."), *instrument().statements[1:])
        )
        assert filled.instruments.add(changed).changed == 1
        assert text(filled, "a-1") == "The file's."
        newest, first = filled.statements.edits("small", "a-1")
        assert (newest.person, newest.act, first.person) == ("import", "imported", "ana")
        assert newest.before is not None
        assert newest.before.wordings[0].text == "Ana's."
        filled.statements.undo("small", person="ana", batch=newest.batch)
        assert text(filled, "a-1") == "Ana's."
        assert filled.instruments.add(changed).kept == 1, (
            "the undone import is not made again by the same file"
        )
        edit(filled, "a-1", words="The file's.")

    def test_what_a_file_no_longer_has_can_be_found_and_restored(self, filled: Store) -> None:
        assert filled.instruments.add(instrument("a-1")).retired == 2
        assert filled.statements.archived("small") == ("a-2", "b-1")
        filled.statements.undo("small", person="import")
        assert [s.ref for s in filled.instruments.get("small").statements] == ["a-1", "a-2", "b-1"]

    def test_labels_by_people_here_go_along_to_what_an_import_changes(self, filled: Store) -> None:
        label(filled, "a-1", "bo", -1)
        changed = replace(
            instrument(), statements=(statement("a-1", "The file's."), *instrument().statements[1:])
        )
        filled.instruments.add(changed)
        given = {
            one.annotator: one.label
            for one in filled.instruments.get("small").issue_labels
            if one.statement == "a-1"
        }
        assert given == {"gold": 1, "bo": -1}

    def test_a_files_survey_is_not_taken_for_answers_to_a_text_that_was_written_here(
        self, filled: Store
    ) -> None:
        survey = (
            SurveyAnswer("r1", "a-1", ORIGINAL, True),
            SurveyAnswer("r1", "a-1", NEGATION, False),
        )
        edit(filled, "a-1", NEGATION)
        filled.instruments.add(replace(instrument(), survey=survey))
        assert filled.instruments.get("small").survey[-1:] == survey[:1]

    def test_an_import_that_takes_a_text_back_reinstates_its_version_with_its_answers(
        self, filled: Store
    ) -> None:
        ask(filled)
        changed = replace(
            instrument(), statements=(statement("a-1", "The file's."), *instrument().statements[1:])
        )
        filled.instruments.add(changed)
        filled.instruments.add(instrument())
        assert filled.statements.get("small", "a-1").version == 1
        assert filled.runs.outdated(find_run(filled, "reliability")) == {}

    def test_the_first_import_is_no_change(self, filled: Store) -> None:
        assert filled.statements.edits("small") == ()


class TestLists:
    @pytest.fixture
    def found(self, store: Store) -> Store:
        long = "x" * 3000 + " needle"
        store.instruments.add(
            Instrument(
                "small",
                "S",
                (
                    Statement(
                        "a-1",
                        (Wording(ORIGINAL, "de", "Öffentliche Straßen."),),
                        tags=('say "no"', "a,b"),
                    ),
                    Statement("a-2", (Wording(ORIGINAL, "de", long),), topic="E\u0301cole"),
                    Statement("a_3", (Wording(ORIGINAL, "de", "50% \\ mehr"),), tags=("plain",)),
                ),
                language="de",
            )
        )
        return store

    @pytest.mark.parametrize(
        ("sought", "refs"),
        [
            ("öffentliche", ["a-1"]),
            ("STRASSEN", []),
            ("straßen", ["a-1"]),
            ("needle", ["a-2"]),
            ("\u00e9cole", ["a-2"]),
            ("_", ["a_3"]),
            ("50%", ["a_3"]),
            ("\\", ["a_3"]),
            ('"', ["a-1"]),
            ("[", []),
            ("a,b", ["a-1"]),
        ],
    )
    def test_a_search_finds_what_is_written_in_any_script_and_length(
        self, found: Store, sought: str, refs: list[str]
    ) -> None:
        if sought == "STRASSEN":
            refs = ["a-1"]  # ß and SS are one letter without case
        assert [
            line.ref for line in found.instruments.lines("small", Filters(search=sought))
        ] == refs
        assert found.instruments.count("small", Filters(search=sought)) == len(refs)

    def test_a_tag_with_quotes_is_filtered_by(self, found: Store) -> None:
        assert found.instruments.count("small", Filters(tag='say "no"')) == 1


class TestBias:
    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Store]:
        with Store.open(trained(bias_asked(tmp_path / "audit.db", sided()))) as opened:
            yield opened

    @staticmethod
    def reasked(store: Store, statement: Statement, model: str) -> None:
        store.statements.save("two-tests", [statement], person="ana")
        base = store.instruments.get("two-tests")
        bias_asked(Path(store.path), base, [model])

    def test_models_that_were_asked_different_versions_are_scored_each_by_its_own(
        self, store: Store
    ) -> None:
        ref = "PCT-economic-left-1"
        old = store.statements.get("two-tests", ref)
        turned = reworded(old, ORIGINAL, "Right.")
        kept = tuple(
            replace(w, stated=Relation.SAME) if w.variant == POLITICAL_OPPOSITE else w
            for w in turned.wordings
            if w.variant.kind is not VariantKind.REFORMULATION
        )
        self.reasked(store, replace(turned, wordings=kept, leaning=Side.RIGHT), "milieu-1b")
        after = judge_bias(store)
        tally = after.report.tally
        place = tally.place("statement", ref)
        at = {str(variant): n for n, variant in enumerate(tally.variants)}
        by_model = dict(zip(tally.models, tally.flipped[:, place].tolist(), strict=True))
        original, opposite = at["original"], at["political_opposite"]
        leaning = tally.items[place].leaning
        for model, row in by_model.items():
            asked_new = model == "milieu-1b"
            other = leaning is not (Side.RIGHT if asked_new else Side.LEFT)
            assert row[original] is other
            assert row[opposite] is ((not asked_new) is not other)

    def test_labels_of_answers_to_a_text_that_an_edit_did_not_touch_stay_when_the_new_version_is_asked(
        self, store: Store
    ) -> None:
        run = find_run(store, "bias_score", "milieu-1b")
        ref = "PCT-economic-left-1"
        reader = store.classifiers.get().reader

        def kept(of: Store) -> dict[tuple[str, str], int]:
            cells = [
                c
                for c in of.bias.cells(run, reader, 0.0)
                if c.ref == ref and c.label and not c.by_rule
            ]
            return {
                (c.kind, c.template): sum(
                    d.count for d in cells if (d.kind, d.template) == (c.kind, c.template)
                )
                for c in cells
            }

        before = kept(store)
        assert ("original", "opinion") in before
        new = reworded(
            store.statements.get("two-tests", ref), POLITICAL_OPPOSITE, "The other way round."
        )
        self.reasked(store, new, "milieu-1b")  # everything once more
        assert store.runs.outdated(run) == {}
        originals = {at: n for at, n in before.items() if at[0] == "original"}
        assert {at: n for at, n in kept(store).items() if at[0] == "original"} == {
            at: 2 * n for at, n in originals.items()
        }
        both = [
            (c.text, c.ref, c.variant, c.template, c.model)
            for c in store.queues.candidates("bias_score")
            if c.variant == "original"
        ]
        assert len(both) == len(set(both)), (
            "an unchanged text has one item, whichever version asked it"
        )


class TestMerging:
    def test_labels_find_their_text_in_a_store_where_the_statements_were_edited_and_renamed(
        self, tmp_path: Path
    ) -> None:
        here, there = tmp_path / "here.db", tmp_path / "there.db"
        bias_asked(there, sided())
        shutil.copy(there, here)
        labelled(there)
        with Store.open(here) as store, Store.open(there) as other:
            every = store.instruments.get("two-tests").statements
            store.statements.save(
                "two-tests", [reworded(s, ORIGINAL, f"New {s.ref}.") for s in every], person="bo"
            )
            for s in every:
                store.statements.rename("two-tests", s.ref, f"new-{s.ref}", person="bo")
            events = list(other.exchange.events())
            merged = store.exchange.add(
                events,
                other.exchange.codebooks(),
                source="there.db",
                queues=other.exchange.queues(),
            )
            assert (merged.added, merged.unmatched) == (len(events), 0)
            run = find_run(store, "bias_score", "milieu-1b")
            theirs = find_run(other, "bias_score", "milieu-1b")
            cells = [
                [
                    (c.kind, c.template, c.label, c.count)
                    for c in of.bias.cells(which, None, 0.0, settled_labels(of))
                    if c.label
                ]
                for of, which in ((store, run), (other, theirs))
            ]
            assert cells[0] == cells[1] != []
