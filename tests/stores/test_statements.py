"""Statements are written, changed, archived and undone; texts that were asked about are never
changed.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, multiple, rule

from stores.core.store import Store
from stores.instruments.instruments import Filters
from tests.conftest import instrument, statement
from workbench.audits.chosen_run import find_run
from workbench.audits.reliability.judge import judge
from workbench.audits.reliability.verdicts import counts
from workbench.domain.designs import Design
from workbench.domain.instruments import IssueDefinition, SurveyAnswer
from workbench.domain.statements import (
    MOST_CHARACTERS,
    NEGATION,
    ORIGINAL,
    QUESTION,
    Relation,
    Statement,
    VariantId,
    VariantKind,
    Wording,
)
from workbench.errors import ConflictError, UnknownName, UsageError
from workbench.evidence.readings import read
from workbench.inference.scripted.model import ScriptedModel, ScriptedPersona
from workbench.pipeline import asking, planning
from workbench.pipeline.editing import outcome
from workbench.pipeline.importing import prepared

PARAPHRASE = VariantId(VariantKind.PARAPHRASE, 1)


def reworded(of: Statement, variant: VariantId, text: str) -> Statement:
    """Return a statement with another text for one of its wordings."""
    return replace(
        of,
        wordings=tuple(replace(w, text=text) if w.variant == variant else w for w in of.wordings),
    )


def ask(store: Store, model: ScriptedModel | None = None, **changes: object) -> int:
    """Ask a scripted model what a design still needs; return how many answers came."""
    model = model or ScriptedModel(ScriptedPersona(agree=0.9, unreadable=0.0))
    design = Design(**{"instrument": "small", "model": "scripted", "samples": 5, **changes})  # type: ignore[arg-type]
    plan = planning.plan(store, design, card=model.card)
    job = store.jobs.create("sample", plan.design.as_json(), plan.samples)
    attempt = store.jobs.claim(job, "test")
    answers = asking.collect(store, plan, model, attempt=attempt).answers
    store.jobs.finish(job, attempt, "done")
    return answers


def text(store: Store, ref: str, variant: VariantId = ORIGINAL, version: int | None = None) -> str:
    found = store.statements.get("small", ref, version).wording(variant, "en")
    assert found is not None
    return found.text


def test_an_edit_of_a_statement_that_nobody_was_asked_about_changes_it_where_it_is(
    filled: Store,
) -> None:
    before = filled.statements.get("small", "a-2")
    changed = filled.statements.save(
        "small", [reworded(before, NEGATION, "Quite another text.")], person="ana"
    )
    assert (changed.refs, changed.versions) == (("a-2",), ())
    found = filled.statements.get("small", "a-2")
    assert (found.version, text(filled, "a-2", NEGATION)) == (1, "Quite another text.")


def test_a_plan_says_why_its_prompts_are_fewer_than_the_product(filled: Store) -> None:
    design = Design("small", "scripted", samples=1)
    whole = planning.plan(filled, design)
    assert "not " not in whole.describe().splitlines()[1]
    before = filled.statements.get("small", "a-2")
    added = Wording(VariantId(VariantKind.PARAPHRASE, 9), "en", "Put otherwise for once.")
    filled.statements.save(
        "small", [replace(before, wordings=(*before.wordings, added))], person="ana"
    )
    told = planning.plan(filled, design).describe().splitlines()[1]
    assert told.startswith(
        "76 prompts planned (not 84: some wordings exist for some statements only); 1 sample each"
    )


def test_saving_what_is_there_already_is_no_edit(filled: Store) -> None:
    changed = filled.statements.save("small", [filled.statements.get("small", "a-1")], person="ana")
    assert changed.refs == ()
    assert filled.statements.edits("small") == ()


def test_an_edit_of_an_asked_statement_makes_a_version_and_old_results_keep_the_old_text(
    filled: Store,
) -> None:
    ask(filled)
    run = find_run(filled, "reliability")
    reader, _ = read(filled, run)
    before = judge(counts(filled, run, reader))
    old = text(filled, "a-1", PARAPHRASE)
    changed = filled.statements.save(
        "small",
        [reworded(filled.statements.get("small", "a-1"), PARAPHRASE, "Other words.")],
        person="ana",
    )
    assert changed.versions == ("a-1",)
    run = find_run(filled, "reliability")
    after = judge(counts(filled, run, reader))
    assert after.counts.statements == before.counts.statements
    assert (after.counts.positive == before.counts.positive).all()
    asked = next(s for s in filled.runs.instrument(run).statements if s.ref == "a-1")
    assert (asked.version, asked.wording(PARAPHRASE, "en")) == (1, Wording(PARAPHRASE, "en", old))
    assert filled.runs.outdated(run) == {"a-1": (1, 2)}
    assert text(filled, "a-1", PARAPHRASE) == "Other words."


def test_asking_again_asks_the_changed_wording_alone_and_moves_results_to_the_new_version(
    filled: Store,
) -> None:
    ask(filled)
    filled.statements.save(
        "small",
        [reworded(filled.statements.get("small", "a-1"), PARAPHRASE, "Other words.")],
        person="ana",
    )
    assert ask(filled) == 5 * 4, "one wording under two templates in two orders"
    run = find_run(filled, "reliability")
    assert filled.runs.outdated(run) == {}
    first, second = filled.statements.history("small", "a-1")
    assert (first.current, second.current) == (False, True)
    assert first.answers == second.answers == 6 * 4 * 5


def test_taking_an_edit_back_reinstates_the_version_with_its_answers(filled: Store) -> None:
    ask(filled)
    old = filled.statements.get("small", "a-1")
    filled.statements.save("small", [reworded(old, ORIGINAL, "Quite another text.")], person="ana")
    undone = filled.statements.undo("small", person="ana")
    assert undone is not None
    assert (undone.refs, undone.act) == (("a-1",), "edited")
    assert filled.statements.get("small", "a-1") == old
    assert filled.runs.outdated(find_run(filled, "reliability")) == {}
    assert filled.statements.undo("small", person="ana") is None, "there is nothing more to undo"


def test_labels_and_party_answers_go_along_and_peoples_own_stances_only_where_the_text_is_the_same(
    filled: Store,
) -> None:
    with_survey = replace(
        instrument(),
        survey=(
            SurveyAnswer("r1", "a-1", ORIGINAL, True),
            SurveyAnswer("r1", "a-1", NEGATION, False),
        ),
    )
    filled.instruments.add(with_survey)
    before = filled.instruments.get("small")
    old = filled.statements.get("small", "a-1")
    assert filled.statements.save(
        "small", [reworded(old, NEGATION, "No.")], person="ana"
    ).versions == ("a-1",)
    after = filled.instruments.get("small")
    assert after.issue_labels == before.issue_labels
    assert set(after.party_answers) == set(before.party_answers)
    assert [a for a in after.survey if a.respondent == "r1"] == [
        SurveyAnswer("r1", "a-1", ORIGINAL, True)
    ]


def test_what_says_nothing_of_the_text_makes_no_version(filled: Store) -> None:
    ask(filled)
    old = filled.statements.get("small", "a-1")
    free = tuple(
        replace(w, stated=Relation.FREE) if w.variant == NEGATION else w for w in old.wordings
    )
    new = replace(old, topic="courts", tags=("draft", "hard one"), wordings=free)
    assert filled.statements.save("small", [new], person="ana").versions == ()
    assert filled.statements.get("small", "a-1") == new
    run = find_run(filled, "reliability")
    reader, _ = read(filled, run)
    report = judge(counts(filled, run, reader))
    at = report.counts.variants.index(NEGATION)
    assert report.counts.signs[:, at].tolist() == [0, -1, -1]
    assert "free" in report.reason("a-1", "personal-1", "negation")


def test_a_stale_save_is_refused_and_says_who_was_first(filled: Store) -> None:
    seen = filled.statements.get("small", "a-1")
    filled.statements.save("small", [replace(seen, topic="theirs")], person="ben")
    with pytest.raises(ConflictError, match="by ben"):
        filled.statements.save(
            "small", [replace(seen, topic="mine")], person="ana", expected={"a-1": seen}
        )
    assert filled.statements.get("small", "a-1").topic == "theirs"


def test_undo_is_refused_where_somebody_has_changed_the_statement_since(filled: Store) -> None:
    seen = filled.statements.get("small", "a-1")
    filled.statements.save("small", [replace(seen, topic="mine")], person="ana")
    filled.statements.save("small", [replace(seen, topic="theirs")], person="ben")
    with pytest.raises(ConflictError, match="ben"):
        filled.statements.undo("small", person="ana")
    assert filled.statements.get("small", "a-1").topic == "theirs"


def test_a_bulk_change_is_undone_as_one(filled: Store) -> None:
    before = filled.instruments.get("small")
    tagged = [replace(s, tags=("round-2",)) for s in before.statements]
    assert len(filled.statements.save("small", tagged, person="ana", act="tagged").refs) == 3
    assert filled.instruments.tags("small") == ("round-2",)
    assert filled.instruments.count("small", Filters(tag="round-2")) == 3
    undone = filled.statements.undo("small", person="ana")
    assert undone is not None
    assert len(undone.refs) == 3
    assert filled.instruments.get("small") == before


def test_archived_statements_leave_the_instrument_and_come_back_with_everything(
    filled: Store,
) -> None:
    ask(filled)
    before = filled.instruments.get("small")
    filled.statements.archive("small", ["a-1", "b-1"], person="ana")
    assert [s.ref for s in filled.instruments.get("small").statements] == ["a-2"]
    assert filled.statements.archived("small") == ("a-1", "b-1")
    listed = filled.instruments.lines("small", Filters(archived=True))
    assert [line.ref for line in listed] == ["a-1", "b-1"]
    run = find_run(filled, "reliability")
    reader, _ = read(filled, run)
    assert counts(filled, run, reader).statements == ("a-2",)
    filled.statements.restore("small", ["a-1", "b-1"], person="ana")
    assert filled.instruments.get("small") == before


def test_what_an_export_leaves_in_the_store_is_named(filled: Store) -> None:
    assert prepared(filled, "small", "csv").notes == ()
    filled.statements.archive("small", ["a-1"], person="ana")
    [note] = prepared(filled, "small", "csv").notes
    assert "1 archived or earlier versions of statements, 1 answers of people to these" in note


def test_a_new_statement_that_is_undone_can_be_written_again(filled: Store) -> None:
    made = statement("new-1")
    filled.statements.create("small", [made], person="ana")
    assert [s.ref for s in filled.instruments.get("small").statements] == [
        "a-1",
        "a-2",
        "b-1",
        "new-1",
    ]
    filled.statements.undo("small", person="ana")
    assert "new-1" not in {s.ref for s in filled.instruments.get("small").statements}
    filled.statements.create("small", [made], person="ana")
    assert text(filled, "new-1") == text(filled, "new-1", version=2)


def test_a_renamed_statement_keeps_its_answers_and_is_renamed_back(filled: Store) -> None:
    ask(filled)
    filled.statements.save(
        "small", [replace(filled.statements.get("small", "a-2"), derived_from="a-1")], person="ana"
    )
    filled.statements.rename("small", "a-1", "law-01", person="ana")
    assert filled.statements.history("small", "law-01")[0].answers == 6 * 4 * 5
    assert filled.statements.get("small", "a-2").derived_from == "law-01"
    with pytest.raises(UnknownName, match="renamed"):
        filled.statements.get("small", "a-1")
    with pytest.raises(UsageError, match="b-1"):
        filled.statements.rename("small", "law-01", "b-1", person="ana")
    filled.statements.undo("small", person="ana")
    assert filled.statements.get("small", "a-2").derived_from == "a-1"


def test_a_statement_that_was_made_from_itself_is_refused_naming_the_chain(filled: Store) -> None:
    first, second = (filled.statements.get("small", ref) for ref in ("a-1", "a-2"))
    filled.statements.save("small", [replace(second, derived_from="a-1")], person="ana")
    with pytest.raises(UsageError, match="a-1 → a-2 → a-1"):
        filled.statements.save("small", [replace(first, derived_from="a-2")], person="ana")
    with pytest.raises(UsageError, match="nowhere"):
        filled.statements.save("small", [replace(first, derived_from="nowhere")], person="ana")
    assert filled.statements.get("small", "a-1").derived_from is None


@pytest.mark.parametrize(
    ("wordings", "said"),
    [
        ((), "no wording"),
        ((Wording(ORIGINAL, "en", "  \t "),), "empty"),
        ((Wording(ORIGINAL, "en", "x" * (MOST_CHARACTERS + 1)),), "10,001 characters"),
        ((Wording(ORIGINAL, "en", "a\x00b"),), "NUL"),
        ((Wording(ORIGINAL, "en", "a\ud800b"),), "surrogate"),
        ((Wording(NEGATION, "en", "It should not."),), "no original in en"),
        (
            (Wording(ORIGINAL, "en", "It should."), Wording(NEGATION, "fr", "Non.")),
            "no original in fr",
        ),
        ((Wording(ORIGINAL, "en", "One."), Wording(ORIGINAL, "en", "Two.")), "twice"),
    ],
)
def test_what_cannot_be_a_statement_is_refused_with_the_reason(
    filled: Store, wordings: tuple[Wording, ...], said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        filled.statements.create("small", [Statement("new-1", wordings)], person="ana")
    assert len(filled.instruments.get("small").statements) == 3


@pytest.mark.parametrize("ref", ["", "two words", "a,b", "x" * 61, "a\u202eb", "a-1"])
def test_a_ref_that_lists_and_files_cannot_hold_or_that_is_taken_is_refused(
    filled: Store, ref: str
) -> None:
    with pytest.raises(UsageError, match="ref"):
        filled.statements.create("small", [statement(ref, "It should.")], person="ana")


@pytest.mark.parametrize(
    "words",
    [
        "x" * MOST_CHARACTERS,
        "يجب أن تكون المدارس مجانية.",
        "e\u0301cole \u0300\u0301\u0302",
        "a\u202eb\u2066c",
        "👩‍👩‍👧 [",
    ],
)
def test_a_text_is_kept_exactly_as_it_was_written(filled: Store, words: str) -> None:
    filled.statements.create(
        "small", [Statement("new-1", (Wording(ORIGINAL, "en", words),))], person="ana"
    )
    assert text(filled, "new-1") == words


def test_a_statement_may_begin_as_a_question_and_is_listed_by_it(filled: Store) -> None:
    asked = Statement("q-1", (Wording(QUESTION, "en", "Should zoos be closed?"),))
    filled.statements.create("small", [asked], person="ana")
    line = filled.instruments.lines("small")[-1]
    assert (line.ref, line.text, line.original) == ("q-1", "Should zoos be closed?", False)
    turned = replace(
        asked, wordings=(*asked.wordings, Wording(ORIGINAL, "en", "Zoos should be closed."))
    )
    filled.statements.save("small", [turned], person="ana")
    line = filled.instruments.lines("small")[-1]
    assert (line.text, line.original) == ("Zoos should be closed.", True)


def test_a_new_instrument_has_its_issues_and_no_statements(store: Store) -> None:
    store.statements.start(
        "own", "My own", "de", definitions=[IssueDefinition("zoo", "Zoos", "More of them.")]
    )
    found = store.instruments.get("own")
    assert (found.title, found.language, found.issues, found.statements) == (
        "My own",
        "de",
        ("zoo",),
        (),
    )
    assert found.definitions == (IssueDefinition("zoo", "Zoos", "More of them."),)
    assert store.instruments.lines("own") == ()
    with pytest.raises(UsageError, match="already"):
        store.statements.start("own")


class Editing(RuleBasedStateMachine):
    """Any order of edits by two people, undone again, leaves the instrument as it was; nothing
    asked is lost.
    """

    refs = Bundle("refs")

    def __init__(self) -> None:
        super().__init__()
        import tempfile

        self.folder = tempfile.TemporaryDirectory()
        self.store = Store.open(Path(self.folder.name) / "s.db", create=True)
        self.undoable = 0

    @initialize(target=refs)
    def fill(self) -> object:
        self.store.instruments.add(instrument())
        ask(self.store)
        self.first = self.store.instruments.get("small")
        self.answers = self.store.runs.totals()
        return multiple("a-1", "a-2", "b-1")

    def _here(self, ref: str) -> Statement | None:
        return next(
            (s for s in self.store.instruments.get("small").statements if s.ref == ref), None
        )

    @rule(
        ref=refs,
        words=st.sampled_from(["One.", "Two.", "Three."]),
        variant=st.sampled_from([ORIGINAL, PARAPHRASE]),
    )
    def edit(self, ref: str, words: str, variant: VariantId) -> None:
        if (there := self._here(ref)) is not None:
            changed = self.store.statements.save(
                "small", [reworded(there, variant, words)], person="ana"
            )
            self.undoable += bool(changed.refs)

    @rule(ref=refs, tag=st.sampled_from(["x", "y"]))
    def tag(self, ref: str, tag: str) -> None:
        if (there := self._here(ref)) is not None:
            self.undoable += bool(
                self.store.statements.save(
                    "small", [replace(there, tags=(tag,))], person="ana"
                ).refs
            )

    @rule(ref=refs)
    def archive(self, ref: str) -> None:
        if self._here(ref) is not None:
            self.store.statements.archive("small", [ref], person="ana")
            self.undoable += 1

    @rule(ref=refs)
    def restore(self, ref: str) -> None:
        if self._here(ref) is None:
            self.store.statements.restore("small", [ref], person="ana")
            self.undoable += 1

    @rule()
    def undo(self) -> None:
        undone = self.store.statements.undo("small", person="ana")
        assert (undone is not None) == (self.undoable > 0)
        self.undoable = max(0, self.undoable - 1)

    @invariant()
    def answers_stay(self) -> None:
        if hasattr(self, "answers"):
            assert self.store.runs.totals() == self.answers
            current = self.store.connection.execute(
                "select count(*), count(distinct ref) from statement where current = 1"
            ).fetchone()
            assert current[0] == current[1], "one current version of a ref"

    def teardown(self) -> None:
        while self.undoable:
            self.undo()
        if hasattr(self, "first"):
            assert self.store.instruments.get("small") == self.first
        self.store.close()
        self.folder.cleanup()


TestEditing = Editing.TestCase
TestEditing.settings = settings(
    max_examples=12, stateful_step_count=12, suppress_health_check=list(HealthCheck)
)


def test_what_was_written_and_labelled_for_the_old_original_is_named(filled: Store) -> None:
    old = filled.statements.get("small", "a-2")
    said = outcome(
        filled,
        "small",
        filled.statements.save("small", [reworded(old, ORIGINAL, "Else.")], person="ana"),
    )
    assert (
        "Check 5 variants for the old text and 1 policy-issue label, which moved with it."
        in said.sentence
    )
    old = filled.statements.get("small", "a-2")
    said = outcome(
        filled,
        "small",
        filled.statements.save("small", [reworded(old, NEGATION, "Not so.")], person="ana"),
    )
    assert "Look again" not in said.sentence
    assert [v.issue_labels for v in filled.statements.history("small", "a-2") if v.current] == [1]
