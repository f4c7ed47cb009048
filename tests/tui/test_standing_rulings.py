"""Which rulings are shown beside an answer: those on it, its prompt, its wording and its statement,
and no others.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from stores.annotation.rulings import PutPrompt
from stores.core.store import Store
from stores.runs.run_rows import Answered
from tests.conftest import new_store
from tests.template_stores import play
from tests.tui.audit_runs import small
from workbench.domain.responses import ModelCard, Sampling
from workbench.domain.rulings import RulingVerdict
from workbench.evidence import ruling_subjects as subjects
from workbench.evidence.rulings import rulings_in_force
from workbench.tui.rulings.standing import RuledPlace, Standing, standing_in

WORDING = "a/original"


FAMILY = "select t.family from probe p join template t on t.id = p.template_id where p.id = ?"


def prompt_of(store: Store, family: str) -> PutPrompt:
    """Return the prompt that a family's template `personal-1` puts of one wording; both families
    have that name.
    """
    meant = ("a", "original", "en", "personal-1", False)
    (found,) = [
        put
        for put in store.ruled_things.prompts(instrument="small", ref="a")
        if (put.ref, str(put.variant), put.language, put.template, put.inverted) == meant
        for probe in store.ruled_things.probes({"prompt": put.key.hex()})
        if store.connection.execute(FAMILY, [probe]).fetchone()[0] == family
    ]
    return found


def beside(standing: Standing, store: Store, put: PutPrompt, text: str) -> tuple[str, ...]:
    (probe,) = store.ruled_things.probes({"prompt": put.key.hex()})
    place = RuledPlace(("small",), ("a",), probe=probe, text=text)
    shown = standing.on_answer(probe, text)
    assert set(standing.on_place(place)) <= set(shown)
    return shown


def test_a_ruling_stays_with_the_family_whose_template_it_is_about(tmp_path: Path) -> None:
    path = play(tmp_path / "audit.db", [("ask", "one chat", "en"), ("ask", "one user", "en")])
    with Store.open(path) as store:
        chat, user = prompt_of(store, "chat"), prompt_of(store, "user")
        assert chat.key != user.key
        name = subjects.typed_name(store, subjects.prompt_subject(chat).subject)
        every = subjects.subjects_below(store, subjects.find_subject(store, name, "small"))
        (agree,) = [one for one in every if one.words == "agree"]
        subjects.add_ruling(
            store, agree, RulingVerdict.MISREAD, auditor="ada", reason="irony", reading="disagree"
        )
        subjects.add_ruling(
            store,
            subjects.prompt_subject(user),
            RulingVerdict.TEMPLATE_AT_FAULT,
            auditor="ada",
            reason="leads",
            reading=None,
        )
        above = subjects.find_subject(store, f"{WORDING}:en", "small")
        subjects.add_ruling(
            store, above, RulingVerdict.CONFIRMED, auditor="bob", reason="as meant", reading=None
        )
        standing = standing_in(store)

        def reasons(put: PutPrompt, text: str) -> set[str]:
            lines = beside(standing, store, put, text)
            return {word for line in lines for word in ("irony", "leads", "bob") if word in line}

        assert reasons(chat, "agree") == {"irony", "bob"}
        assert reasons(chat, "disagree") == {"bob"}
        assert reasons(user, "agree") == {"leads", "bob"}


def test_a_ruling_on_a_wording_is_named_and_shown_in_its_language(tmp_path: Path) -> None:
    path = play(tmp_path / "audit.db", [("ask", "one chat", "en"), ("ask", "one chat", "de")])
    with Store.open(path) as store:
        german = subjects.find_subject(store, f"{WORDING}:de", "small")
        assert subjects.typed_name(store, german.subject) == f"{WORDING}:de"
        subjects.add_ruling(
            store,
            german,
            RulingVerdict.WORDING_AT_FAULT,
            auditor="ada",
            reason="a wrong word",
            reading=None,
        )
        (one,) = standing_in(store).rulings
        languages = {
            put.language
            for put in store.ruled_things.prompts(instrument="small", ref="a")
            if store.ruled_things.probes({"prompt": put.key.hex()}) & one.probes
        }
    assert languages == {"de"}


def test_a_ruling_on_a_statement_is_shown_beside_the_answers_to_its_version_alone(
    tmp_path: Path,
) -> None:
    steps = [("ask", "one chat", "en"), ("statement", "a", ""), ("ask", "one chat", "en")]
    with Store.open(play(tmp_path / "audit.db", steps)) as store:
        old = subjects.statement_version(store, "small", "a", 1)
        subjects.add_ruling(
            store, old, RulingVerdict.CONFIRMED, auditor="ada", reason="as meant", reading=None
        )
        standing = standing_in(store)
        shown = {
            put.version: len(standing.on_answer(probe, "agree"))
            for put in store.ruled_things.prompts(instrument="small", ref="a")
            for probe in store.ruled_things.probes({"prompt": put.key.hex()})
        }
    assert shown == {1: 1, 2: 0}


def test_a_row_says_which_part_of_it_a_ruling_is_about(tmp_path: Path) -> None:
    path = play(tmp_path / "audit.db", [("ask", "one chat", "en")])
    with Store.open(path) as store:
        for one in (
            subjects.prompt_subject(prompt_of(store, "chat")),
            subjects.find_subject(store, "a/original:en", "small"),
        ):
            subjects.add_ruling(
                store, one, RulingVerdict.CONFIRMED, auditor="ada", reason="as meant", reading=None
            )
        standing = standing_in(store)
        of_statement = standing.on_place(RuledPlace(("small",), ("a",)))
        of_wording = standing.on_place(RuledPlace(("small",), ("a", "original")))
    line = "ada: confirmed – as meant"
    assert all(one.startswith(line) for one in (*of_statement, *of_wording))
    assert {one.partition(" · ")[2] for one in of_statement} == {
        "a · original",
        "a · original · personal-1",
    }
    assert {one.partition(" · ")[2] for one in of_wording} == {"", "a · original · personal-1"}


def test_a_ruling_on_an_answer_stands_only_beside_the_models_that_gave_it(tmp_path: Path) -> None:
    path = play(tmp_path / "audit.db", [("ask", "one chat", "en"), ("ask", "two chat", "en")])
    with Store.open(path) as store:
        put = prompt_of(store, "chat")
        ids = store.runs.begin(ModelCard("one", "r1", "scripted", "float32", "none"), Sampling())
        attempt = store.jobs.claim(store.jobs.create("sample", {}, 1), "1.0")
        store.runs.add(*ids, attempt, [Answered(put.key, 2, 1, (("Absolutely.", 1),))])
        every = subjects.subjects_below(store, subjects.prompt_subject(put))
        (given,) = [one for one in every if one.words == "Absolutely."]
        (shared,) = [one for one in every if one.words == "agree"]
        for thing, reason in ((given, "only one said it"), (shared, "both said it")):
            subjects.add_ruling(
                store,
                thing,
                RulingVerdict.MISREAD,
                auditor="ada",
                reason=reason,
                reading="disagree",
            )
        runs = {run.model: run for run in store.runs.list("reliability")}
        standing = standing_in(store)

        def reasons(*models: str) -> int:
            lines = standing.on_place(
                RuledPlace(("small",), ("a",), runs=tuple(runs[name] for name in models))
            )
            return sum("said it" in line for line in lines)

        assert (reasons("one"), reasons("two"), reasons("one", "two"), reasons()) == (2, 1, 2, 2)
        assert {
            name: len(rulings_in_force(store, run).statements["a"]) for name, run in runs.items()
        } == {"one": 2, "two": 1}


def test_a_run_of_answers_without_a_fingerprint_takes_no_ruling_on_one_with_a_fingerprint(
    tmp_path: Path,
) -> None:
    path = play(tmp_path / "audit.db", [("ask", "one chat", "en")])
    with Store.open(path) as store:
        put = prompt_of(store, "chat")
        ids = store.runs.begin(ModelCard("one", "r1", "scripted", "float32", "none"), Sampling())
        attempt = store.jobs.claim(store.jobs.create("sample", {}, 1), "1.0")
        store.runs.add(
            *ids, attempt, [Answered(put.key, 2, 1, (("Absolutely.", 1),), fingerprint="fp-1")]
        )
        every = subjects.subjects_below(
            store,
            subjects.find_subject(
                store, subjects.typed_name(store, subjects.prompt_subject(put).subject), "small"
            ),
        )
        (given,) = [one for one in every if one.words == "Absolutely."]
        subjects.add_ruling(
            store,
            given,
            RulingVerdict.MISREAD,
            auditor="ada",
            reason="said with fp-1",
            reading="disagree",
        )
        (run,) = store.runs.list("reliability")
        standing = standing_in(store)
        for fingerprint, found in ((None, 1), ("fp-1", 1), ("", 0)):
            confined = replace(run, fingerprint=fingerprint)
            shown = standing.on_place(RuledPlace(("small",), ("a",), runs=(confined,)))
            assert len([line for line in shown if "fp-1" in line]) == found
            assert len(rulings_in_force(store, confined).statements.get("a", ())) == found


def test_a_ref_may_hold_slashes(tmp_path: Path) -> None:
    base = small()
    slashed = replace(
        base, statements=(replace(base.statements[0], ref="tax/1"), *base.statements[1:])
    )
    with new_store(tmp_path / "audit.db") as store:
        store.instruments.add(slashed)
        for name in ("tax/1", "tax/1/original"):
            thing = subjects.find_subject(store, name, slashed.name)
            subjects.add_ruling(
                store,
                thing,
                RulingVerdict.CONFIRMED,
                auditor="ada",
                reason="as meant",
                reading=None,
            )
        standing = standing_in(store)
        assert standing.counts(slashed.name) == {"tax/1": 2}
        assert len(standing.on_place(RuledPlace((slashed.name,), ("tax/1",)))) == 2
        assert len(standing.on_place(RuledPlace((slashed.name,), ("tax/1", "paraphrase-1")))) == 1
        assert not standing.on_place(RuledPlace((slashed.name,), ("tax",)))
