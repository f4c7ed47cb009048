"""Surveys in a store: what was committed stays, whatever else goes on, and nobody sees another's
answers.
"""

from __future__ import annotations

import random
import signal
import sqlite3
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from stores.annotation.respondent import ShownWording, SurveyRespondent
from stores.core.store import Store
from tests.conftest import instrument
from workbench.annotation.survey import SurveyDesign
from workbench.audits.reliability.agreement import survey_agreement, upper_bound
from workbench.domain.instruments import Instrument, SurveyAnswer
from workbench.domain.statements import NEGATION, ORIGINAL, Relation, VariantId
from workbench.errors import ConflictError, UnknownName, UsageError
from workbench.pipeline.surveys import n_further_wordings, open_session
from workbench.stats.resampling import derive_rng

ROOT = Path(__file__).parents[2]
NAME = "small"


def asked(*refs: str) -> Instrument:
    """An instrument that nobody has answered."""
    return replace(instrument(*refs), survey=(), party_answers=())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return made(tmp_path / "audit.db")


def made(path: Path, *refs: str) -> Path:
    with Store.open(path, create=True) as store:
        store.instruments.add(asked(*refs))
    return path


def seated(path: Path, name: str = "ana", design: SurveyDesign | None = None) -> SurveyRespondent:
    with Store.open(path) as store:
        session = open_session(store, NAME, name, design or SurveyDesign())
    return SurveyRespondent.open(path, session)


def next_of(respondent: SurveyRespondent) -> ShownWording:
    question = respondent.next()
    assert question is not None
    return question


def answer_all(respondent: SurveyRespondent, agrees: bool = True) -> list[str]:
    texts = []
    while (question := respondent.next()) is not None:
        respondent.answer(question.position, agrees, 2000)
        texts.append(question.text)
    return texts


def wanted(text: str) -> bool:
    """A stance that is flipped by negation and opposite; the texts of
    `tests.conftest.statement`.
    """
    return not text.startswith(("Not so", "Repeal"))


def given(path: Path, instrument: str = NAME) -> dict[tuple[str, str, str], bool]:
    with Store.open(path) as store:
        return {
            (a.respondent, a.statement, str(a.variant)): a.agrees
            for a in store.instruments.get(instrument).survey
        }


def test_all_wordings_are_asked_once_and_the_answers_are_the_instruments(path: Path) -> None:
    with seated(path) as ana:
        while (question := ana.next()) is not None:
            assert set(question.__slots__) == {"position", "text", "language", "taken_back"}, (
                "not which variant it is"
            )
            ana.answer(question.position, wanted(question.text), 1500)
        progress = ana.progress()
        assert (progress.done, progress.left, progress.total, progress.median_s) == (12, 0, 12, 1.5)
        answers, _ = ana.answers()
    assert len(answers) == 12
    for row in survey_agreement(answers, "survey"):
        assert row.raw[0].n == 3
    found = given(path)
    assert {variant.split("-")[0] for _, _, variant in found} == {
        "original",
        "paraphrase",
        "negation",
        "opposite",
    }
    assert found["ana", "a-1", "original"]
    assert not found["ana", "a-1", "negation"]


def test_everybody_with_one_seed_answers_the_same_wordings_in_their_own_order(
    tmp_path: Path,
) -> None:
    path = made(tmp_path / "a.db", *(f"s-{n:02}" for n in range(30)))
    orders = []
    for name in ("ana", "bob"):
        with seated(path, name, SurveyDesign(statements=8)) as person:
            orders.append(answer_all(person))
    assert sorted(orders[0]) == sorted(orders[1])
    assert orders[0] != orders[1]
    with seated(path, "cem", SurveyDesign(statements=8, seed=2)) as person:
        assert sorted(answer_all(person)) != sorted(orders[0])


def test_whoever_comes_back_goes_on_where_they_were_and_can_still_undo(path: Path) -> None:
    with seated(path) as ana:
        first = next_of(ana)
        ana.answer(first.position, True)
        second = next_of(ana)
    with seated(path, " ana ") as ana:
        assert next_of(ana) == second
        back = ana.undo()
        assert back is not None
        assert (back.position, back.taken_back) == (first.position, True)
        assert ana.undo() is None
    assert given(path) == {}


def test_undo_goes_back_through_answers_and_skips_in_order(path: Path) -> None:
    with seated(path) as ana:
        texts = []
        for n in range(6):
            question = next_of(ana)
            texts.append(question.text)
            if n in (1, 3):
                ana.skip(question.position)
            else:
                ana.answer(question.position, n % 2 == 0)
        back = []
        while (question_or_none := ana.undo()) is not None:
            back.append(question_or_none.text)
            assert ana.next() == replace(question_or_none, taken_back=None)
        assert back == texts[::-1]
        assert ana.progress().done == 0


def test_what_is_skipped_comes_last_and_skipped_again_it_stays_unanswered(path: Path) -> None:
    with seated(path) as ana:
        skipped = next_of(ana)
        ana.skip(skipped.position)
        texts = []
        while (question := ana.next()) is not None and question.position != skipped.position:
            ana.answer(question.position, True)
            texts.append(question.text)
        assert question == skipped
        assert len(texts) == 11
        ana.skip(skipped.position)
        assert ana.next() is None
        progress = ana.progress()
        assert (progress.done, progress.declined, progress.left, progress.total) == (11, 1, 0, 12)
        assert ana.undo() == skipped


def test_answering_again_replaces_and_every_word_stays_on_record(path: Path) -> None:
    with seated(path) as ana:
        question = next_of(ana)
        ana.answer(question.position, True, 900)
        ana.answer(question.position, False, 400_000)
        assert ana.progress().steps == 1
        ana.undo()
    assert given(path) == {}
    rows = (
        sqlite3.connect(path)
        .execute("select agrees, skipped, elapsed_ms from survey_event order by at")
        .fetchall()
    )
    assert rows == [(1, 0, 900), (0, 0, 400_000), (None, 0, None)]


def test_more_than_five_minutes_count_as_away(path: Path) -> None:
    with seated(path) as ana:
        for elapsed in (2000, 4000, 300_001, 999_999):
            ana.answer(next_of(ana).position, True, elapsed)
        assert ana.progress().median_s == 3.0
    with Store.open(path) as store:
        assert [line.median_s for line in store.surveys.respondents()] == [3.0]


@pytest.mark.parametrize(
    "sql",
    [
        "select agrees from survey_answer",
        "select * from survey_answer",
        "select agrees from survey_event",
        "select wording_id from survey_item",
        "select label from issue_label",
        "select stance from party_answer",
        "select text_id from response",
        "select label from reading",
        "select name from model",
        "select name from reader",
        "select name from sqlite_master",
        "select response from v_answers",
        "select label from v_readings",
        "select agree from v_stances",
        "with my_answer as (select agrees from main.survey_answer) select * from my_answer",
        "select (select group_concat(agrees) from survey_answer)",
        "update survey_answer set agrees = 1",
        "update survey_event set agrees = 1",
        "delete from survey_event",
        "delete from survey_answer where respondent = 'bob'",
        "update survey_item set wording_id = wording_id",
        "update survey_item set wording_id = 1",
        "insert into survey_answer (statement_id, respondent, kind, ordinal, agrees) values (1, "
        "'bob', 'x', 0, 1)",
        "insert into survey_event (uid, survey_id, position, agrees, at) values (x'00', 1, 0, 1, "
        "'')",
        "attach ':memory:' as other",
    ],
)
def test_a_respondents_connection_reads_and_writes_nobody_elses(path: Path, sql: str) -> None:
    with seated(path, "bob") as bob:
        answer_all(bob)
    with seated(path) as ana:
        ana.answer(next_of(ana).position, False)
        with pytest.raises(sqlite3.DatabaseError, match=r"prohibited|not authorized"):
            ana.connection.execute(sql).fetchall()
        ana.connection.rollback()
        assert len(ana.answers()[0]) == 1
    assert sum(who == "bob" for who, _, _ in given(path)) == 12


def test_a_statement_changed_meanwhile_is_asked_as_it_is_now_and_what_was_said_stays(
    path: Path,
) -> None:
    with seated(path) as ana:
        first = next_of(ana)
        ana.answer(first.position, True)
        ref = next(key[1] for key in given(path))
        with Store.open(path) as store:
            one = store.statements.get(NAME, ref)
            texts = tuple(replace(w, text=f"{w.text} Now.") for w in one.wordings)
            store.statements.save(NAME, [replace(one, wordings=texts)], person="eva")
        assert given(path) == {}, "the answer stays with the text that was read"
        rest = answer_all(ana)
        assert sum(text.endswith("Now.") for text in rest) == 3
        assert not any(text == first.text for text in rest)
    with Store.open(path) as store:
        (line,) = store.surveys.respondents()
    assert (line.asked, line.answered, line.current) == (12, 12, 11)


def test_an_answer_to_a_wording_that_stayed_is_undone_in_every_version(path: Path) -> None:
    with seated(path) as ana:
        while (question := ana.next()) is not None and not question.text.startswith("Not so"):
            ana.skip(question.position)
        assert question is not None
        ana.answer(question.position, True)
        ((_, ref, variant),) = given(path)
        assert variant == "negation"
        with Store.open(path) as store:
            one = store.statements.get(NAME, ref)
            changed = tuple(
                replace(w, text="Else.") if w.variant == ORIGINAL else w for w in one.wordings
            )
            store.statements.save(NAME, [replace(one, wordings=changed)], person="eva")
        assert given(path) == {("ana", ref, "negation"): True}, "taken along: its text is the same"
        ana.undo()
        assert given(path) == {}
        ana.answer(question.position, False)
        assert given(path) == {("ana", ref, "negation"): False}


def test_an_archived_statement_is_asked_no_more_and_said_to_be_gone(path: Path) -> None:
    with seated(path) as ana:
        question = next_of(ana)
        with Store.open(path) as store:
            store.statements.archive(NAME, ["a-1", "a-2"], person="eva")
        texts = answer_all(ana)
        progress = ana.progress()
        assert len(texts) == 4
        assert all("b-1" in text for text in texts)
        assert (progress.done, progress.left, progress.gone, progress.total) == (4, 0, 8, 4)
        ana.answer(question.position, True)  # it was on the screen when it was archived


def test_who_is_through_may_go_on_with_what_was_not_asked(tmp_path: Path) -> None:
    path = made(tmp_path / "a.db", "s-1", "s-2", "s-3", "s-4", "s-5")
    design = SurveyDesign(statements=3)
    with seated(path, design=design) as ana:
        first = answer_all(ana)
    with Store.open(path) as store:
        assert n_further_wordings(store, NAME, "ana", design) == 8
        session = open_session(store, NAME, "ana", design, further=True)
        assert open_session(store, NAME, "ana", design) == session, "the newest is gone on with"
    with SurveyRespondent.open(path, session) as ana:
        second = answer_all(ana)
        assert len(ana.answers()[0]) == 20
    assert not set(first) & set(second)
    with Store.open(path) as store, pytest.raises(UsageError, match="no more statements"):
        open_session(store, NAME, "ana", design, further=True)


def test_a_name_is_taken_by_answers_from_a_file_or_another_language(path: Path) -> None:
    with Store.open(path) as store:
        store.surveys.add(NAME, [SurveyAnswer("1", "a-1", ORIGINAL, True)])
        with pytest.raises(UsageError, match="came from a file"):
            open_session(store, NAME, "1", SurveyDesign())
        open_session(store, NAME, "ana", SurveyDesign())
        with pytest.raises(UsageError, match=r"no statement .* 'fr'.*its languages: en"):
            open_session(store, NAME, "bob", SurveyDesign(language="fr"))
        one = store.statements.get(NAME, "a-1")
        french = tuple(replace(w, language="fr") for w in one.wordings)
        store.statements.save(
            NAME, [replace(one, wordings=(*one.wordings, *french), languages=())], person="eva"
        )
        with pytest.raises(UsageError, match="ana-fr"):
            open_session(store, NAME, "ana", SurveyDesign(language="fr"))
        open_session(store, NAME, "ana-fr", SurveyDesign(language="fr"))
        with pytest.raises(UsageError, match="respondent's name"):
            open_session(store, NAME, "\u202eana", SurveyDesign())
        with pytest.raises(UnknownName, match="small"):
            open_session(store, "nope", "ana", SurveyDesign())


def test_answers_from_a_file_are_added_once_and_never_over_what_a_person_said(path: Path) -> None:
    with seated(path) as ana:
        answer_all(ana, agrees=True)
    mine = SurveyAnswer("ana", "a-1", ORIGINAL, True)
    other = [
        SurveyAnswer("6", ref, variant, True)
        for ref in ("a-1", "b-1")
        for variant in (ORIGINAL, NEGATION)
    ]
    with Store.open(path) as store:
        done = store.surveys.add(NAME, [mine, *other])
        assert (done.added, done.changed, done.known, done.respondents) == (4, 0, 1, ("ana", "6"))
        again = store.surveys.add(NAME, [mine, replace(other[0], agrees=False), *other[1:]])
        assert (again.added, again.changed, again.known) == (0, 1, 4)
        before = given(path)
        with pytest.raises(ConflictError, match="ana, a-1 original"):
            store.surveys.add(
                NAME, [SurveyAnswer("7", "a-1", ORIGINAL, True), replace(mine, agrees=False)]
            )
        with pytest.raises(UnknownName, match="zz"):
            store.surveys.add(NAME, [replace(other[0], statement="zz")])
        assert given(path) == before
        assert set(store.surveys.answers(NAME)) == set(store.instruments.get(NAME).survey)


def test_an_answer_from_a_file_is_not_asked_for_again(path: Path) -> None:
    with seated(path) as ana:
        question = next_of(ana)
        variant, ref = place_of(question.text)
        with Store.open(path) as store:
            store.surveys.add(NAME, [SurveyAnswer("ana", ref, variant, True)])
        assert next_of(ana).position != question.position
        assert (ana.progress().done, ana.progress().steps) == (1, 0)
        assert ana.undo() is None


def place_of(text: str) -> tuple[VariantId, str]:
    for statement in asked().statements:
        for wording in statement.wordings:
            if wording.text == text:
                return wording.variant, statement.ref
    raise AssertionError(text)


def test_a_relation_of_its_own_reaches_the_persons_consistency(path: Path) -> None:
    with Store.open(path) as store:
        one = store.statements.get(NAME, "a-1")
        same = tuple(
            replace(w, stated=Relation.SAME) if w.variant == NEGATION else w for w in one.wordings
        )
        store.statements.save(NAME, [replace(one, wordings=same)], person="eva")
    with seated(path) as ana:
        answer_all(ana)
        answers, relations = ana.answers()
    assert relations["a-1", NEGATION] is Relation.SAME
    assert relations["a-2", NEGATION] is Relation.FLIPPED
    assert len(answers) == 12


def test_two_terminals_of_one_person_share_one_session(path: Path) -> None:
    found: list[int] = []

    def sit_down() -> None:
        with Store.open(path) as store:
            found.append(open_session(store, NAME, "ana", SurveyDesign()))

    threads = [threading.Thread(target=sit_down) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 6
    assert len(set(found)) == 1


@pytest.mark.e2e
def test_six_respondents_at_once_lose_nothing_and_have_the_kappas_of_what_they_said(
    tmp_path: Path,
) -> None:
    """Six processes on one file; what each said is computed from a seed, and kappas from that
    alone.
    """
    refs = [f"s-{n:02}" for n in range(20)]
    path = made(tmp_path / "a.db", *refs)
    names = [str(n) for n in range(1, 7)]
    running = [answering(path, name, seed) for seed, name in enumerate(names)]
    for process in running:
        assert process.wait(120) == 0
    wanted_answers = [
        SurveyAnswer(name, ref, variant, says(seed, text))
        for seed, name in enumerate(names)
        for ref, variant, text in asked_of(path, name)
    ]
    assert len(wanted_answers) == 6 * 80
    with Store.open(path) as store:
        found = store.instruments.get(NAME).survey
    assert set(found) == set(wanted_answers)
    bounds = [
        upper_bound(sorted(each, key=str), derive_rng(1), resamples=20)
        for each in (found, wanted_answers)
    ]
    assert [row.raw.value for row in bounds[0]] == [row.raw.value for row in bounds[1]]
    assert bounds[0][0].raw.n == 6
    assert bounds[0][0].raw.value > 0.4 > -0.4 > bounds[0][1].raw.value


def says(seed: int, text: str) -> bool:
    """One in ten answers is noise, decided by the text."""
    base = wanted(text) == (int(text.split("s-")[1][:2]) % 2 == 0)
    return base != (random.Random(f"{seed} {text}").random() < 0.1)


def asked_of(path: Path, name: str) -> list[tuple[str, VariantId, str]]:
    with Store.open(path) as store:
        texts = {
            (s.ref, w.variant): w.text
            for s in store.instruments.get(NAME).statements
            for w in s.wordings
        }
        return [
            (ref, variant, texts[ref, variant]) for ref, variant in store.surveys.asked(NAME, name)
        ]


ANSWERING = """
import sys
from pathlib import Path
from tests.stores.test_surveys import says, seated
with seated(Path(sys.argv[1]), sys.argv[2]) as person:
    while (question := person.next()) is not None:
        person.answer(question.position, says(int(sys.argv[3]), question.text), 1000)
        print(question.text, flush=True)
"""


def answering(path: Path, name: str, seed: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", ANSWERING, str(path), name, str(seed)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.mark.e2e
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_killed_program_keeps_every_answer_that_was_committed(tmp_path: Path, seed: int) -> None:
    path = made(tmp_path / "a.db", *(f"s-{n:02}" for n in range(60)))
    process = answering(path, "ana", seed)
    assert process.stdout is not None
    printed = [process.stdout.readline().strip() for _ in range(random.Random(seed).randint(3, 60))]
    process.send_signal(signal.SIGKILL)
    printed += [
        line.strip()
        for line in process.stdout.read().splitlines()
        if line.endswith(".") or line[-1:] == ")"
    ]
    assert process.wait(30) == -signal.SIGKILL
    texts = {(ref, str(variant)): text for ref, variant, text in asked_of(path, "ana")}
    found = {texts[ref, variant]: agrees for (_, ref, variant), agrees in given(path).items()}
    assert set(printed) <= set(found)
    assert len(found) <= len(set(printed)) + 1, (
        "at most the one that was committed and not yet told"
    )
    assert all(agrees == says(seed, text) for text, agrees in found.items())
    with seated(path) as ana:
        assert ana.connection.execute("select count(*) from my_event").fetchone()[0] == len(found)
        rest = answer_all(ana)
        assert len(rest) == 200 - len(found)
        assert not set(rest) & set(found)
