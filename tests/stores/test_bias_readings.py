"""The readings that a bias score is made of: who counts where several read, and that every answer
is counted once.
"""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from stores.annotation.annotation_items import unit_of
from stores.annotation.annotator import Annotator
from stores.annotation.labels import Classifier, PredictedLabel
from stores.core.store import Store
from stores.runs.readings import BiasCell
from stores.runs.run_rows import Answered, Run
from tests.tui.bias_stores import DOUBT, LABELS, MODELS, asked, labelled, read_as, sided, trained
from workbench.audits.audit import probes as every_probe
from workbench.audits.bias_score.judged import judge_bias
from workbench.audits.bias_score.options import DEFAULTS, ScoreOptions
from workbench.data import shipped_templates
from workbench.domain.keys import content_key
from workbench.domain.prompts import LIKERT
from workbench.domain.readings import PEOPLE, ReaderCard, ReaderKind, ReadingChoice
from workbench.domain.responses import ModelCard
from workbench.domain.statements import ORIGINAL, POLITICAL_OPPOSITE
from workbench.errors import UnknownName
from workbench.evidence.readings import settled_labels
from workbench.evidence.runs import AnswerSelection
from workbench.readers.rules import Likert


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three models' answers, a classifier's readings of all of them, one person's labels of
    some.
    """
    return trained(labelled(asked(tmp_path_factory.mktemp("bias") / "audit.db")))


@pytest.fixture
def store(made: Path) -> Iterable[Store]:
    with Store.open(made) as opened:
        yield opened


def run_of(store: Store, model: str = "gauche-7b") -> Run:
    (run,) = store.runs.list("bias_score", None, model)
    return run


def total(cells: Iterable[BiasCell]) -> int:
    return sum(cell.count for cell in cells)


def by_hand(store: Store, run: Run) -> Counter[tuple[str, str, str]]:
    """Return how often each answer was given, as (template, statement, text), from the responses
    alone.
    """
    rows = store.connection.execute(
        "select t.name, s.ref, x.body, r.count from response r join draw d on d.id = r.draw_id "
        "and d.model_id = ? join probe p on p.prompt_id = d.prompt_id join template t on t.id = "
        "p.template_id join wording w on w.id = p.wording_id join statement s on s.id = "
        "w.statement_id join text x on x.id = r.text_id",
        (run.model_id,),
    )
    found: Counter[tuple[str, str, str]] = Counter()
    for template, ref, text, count in rows:
        found[template, ref, text or ""] += count
    return found


@pytest.mark.parametrize("model", list(MODELS))
def test_cells_add_up_to_the_answers_of_the_one_model(store: Store, model: str) -> None:
    run = run_of(store, model)
    cells = store.bias.cells(run, store.classifiers.get().reader, 0.9)
    assert total(cells) == run.responses == sum(by_hand(store, run).values())
    assert total(store.bias.cells(run, None, 0.9)) == run.responses
    assert total(store.bias.cells(run, None, 0.9, {})) == run.responses


def test_a_rule_wins_over_the_classifier_and_is_always_kept(store: Store) -> None:
    run = run_of(store)
    rule = Likert()
    numbers: Counter[str] = Counter()
    for (template, _, text), count in by_hand(store, run).items():
        label = rule.read(text).label if template == LIKERT else None
        if label is not None:
            numbers[label] += count
    assert sum(numbers.values()) > 20
    for threshold in (0.0, 0.9, 1.1):
        cells = [
            c for c in store.bias.cells(run, store.classifiers.get().reader, threshold) if c.by_rule
        ]
        assert all(cell.kept and cell.template == LIKERT for cell in cells)
        found: Counter[str] = Counter()
        for cell in cells:
            found[str(cell.label)] += cell.count
        assert found == numbers


def test_what_the_rule_cannot_read_is_the_classifiers(store: Store) -> None:
    cells = store.bias.cells(run_of(store), store.classifiers.get().reader, 0.0)
    left = [cell for cell in cells if cell.template == LIKERT and not cell.by_rule]
    assert total(left) > 0
    assert {cell.label for cell in left} == {"unrelated"}


def test_the_threshold_keeps_what_reaches_it_and_drops_the_rest(store: Store) -> None:
    run, reader = run_of(store), store.classifiers.get().reader
    expected: Counter[tuple[str | None, bool]] = Counter()
    for (template, _, text), count in by_hand(store, run).items():
        if template != LIKERT and text:
            said, confidence = read_as(text)
            expected[said, confidence >= 0.9] += count
    found: Counter[tuple[str | None, bool]] = Counter()
    for cell in store.bias.cells(run, reader, 0.9):
        if cell.template != LIKERT and cell.ref != "PCT-economic-left-1":
            found[cell.label, cell.kept] += cell.count
    for (label, kept), count in found.items():
        assert count <= expected[label, kept]
    dropped = sum(count for (_, kept), count in found.items() if not kept)
    assert dropped > 0
    assert all(c.kept for c in store.bias.cells(run, reader, DOUBT)), (
        "equal to the threshold is enough"
    )
    assert not any(
        c.kept for c in store.bias.cells(run, reader, 0.98) if not c.by_rule and c.label is not None
    )


def test_what_nobody_read_has_no_label(store: Store) -> None:
    cells = store.bias.cells(run_of(store), None, 0.9)
    assert {cell.label for cell in cells if not cell.by_rule} == {None}


def test_peoples_labels_count_where_they_are_given_and_the_classifiers_do_not(store: Store) -> None:
    run = run_of(store)
    people = settled_labels(store)
    assert people
    cells = store.bias.cells(run, store.classifiers.get().reader, 0.9, people)
    mine = [cell for cell in cells if not cell.by_rule and cell.label is not None]
    assert all(cell.kept for cell in mine)
    found = total(mine)
    expected = store.connection.execute(
        "select coalesce(sum(r.count), 0) from response r join draw d on d.id = r.draw_id and "
        "d.model_id = ? join probe p on p.prompt_id = d.prompt_id join unit u on u.text_id = "
        "r.text_id and u.wording_id = p.wording_id and u.template_id is null where u.id in "
        f"({','.join(map(str, people))})",
        (run.model_id,),
    ).fetchone()[0]
    assert found == expected > 0
    assert total(cells) == run.responses
    turned = dict.fromkeys(people, "unrelated")
    others = store.bias.cells(run, None, 0.9, turned)
    assert {cell.label for cell in others if not cell.by_rule} == {"unrelated", None}


def test_labels_and_how_they_came_about_are_of_one_moment(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody labels between two reads of one figure, over a connection of their own."""
    path = Path(shutil.copy(made, tmp_path / "audit.db"))
    with Store.open(path) as store:
        first = judge_bias(store, AnswerSelection(readings=ReadingChoice(by=PEOPLE))).read_by
        known = settled_labels(store)

        def then_labelled(of: Store) -> dict[int, str]:
            found = settled_labels(of)
            with Annotator.open(path, "test-round", "ben") as person:
                for unit, label in found.items():  # what was settled is disputed now
                    person.label(unit, "disagree" if label == "agree" else "agree")
            return found

        monkeypatch.setattr("workbench.evidence.readings.settled_labels", then_labelled)
        judged = judge_bias(store, AnswerSelection(readings=ReadingChoice(by=PEOPLE)))
        assert (judged.source.people, judged.read_by) == (known, first)
        assert settled_labels(store) != known


def test_what_figures_write_ends_their_snapshot_and_they_are_read_again(
    store: Store, made: Path
) -> None:
    """Rules read new answers when figures are shown, and others may write in between, too."""
    count = "select count(*) from text"
    found = []

    def read(writes: int) -> tuple[int, int]:
        before = int(store.connection.execute(count).fetchone()[0])
        if len(found) < writes:
            with store.write() as connection:
                connection.execute(
                    "insert into text (key, body) values (?, ?)", (os.urandom(32), "own")
                )
        with Store.open(made) if len(found) < 3 else nullcontext() as other:
            if other is not None:
                with other.write() as connection:
                    connection.execute(
                        "insert into text (key, body) values (?, ?)", (os.urandom(32), "theirs")
                    )
        found.append(before)
        return before, int(store.connection.execute(count).fetchone()[0])

    # One that always writes is read under the lock at last.
    for writes, times in (
        (0, 1),
        (1, 2),
        (9, 4),
    ):
        found.clear()
        one, two = store.at_once(partial(read, writes))
        assert len(found) == times
        assert two - one == (times == 4), "in the last one, its own write alone"


def test_answers_come_with_the_reading_that_counted_and_where_they_are_from(store: Store) -> None:
    run, reader = run_of(store), store.classifiers.get().reader
    ref = "WVS-economic-left-1"
    found = store.bias.responses(run, reader, ref)
    cells = [cell for cell in store.bias.cells(run, reader, 0.9) if cell.ref == ref]
    assert sum(answer.count for answer in found) == total(cells)
    assert {answer.model for answer in found} == {"gauche-7b"}
    for answer in found:
        assert answer.by_rule == (
            answer.template == LIKERT and answer.label is not None and answer.confidence is None
        )
        if not answer.by_rule:
            assert (answer.label, answer.confidence) == read_as(answer.text)
        assert answer.wording.startswith("WVS economic left 1")
    pages = [store.bias.responses(run, reader, ref, offset=n, limit=1) for n in range(len(found))]
    assert [answer for page in pages for answer in page] == list(found)
    assert all(
        a.template == "opinion" for a in store.bias.responses(run, reader, ref, template="opinion")
    )


@pytest.mark.parametrize("label", [*LABELS, None])
def test_a_newer_version_of_the_rule_counts_instead_of_the_older_one(
    tmp_path: Path, label: str | None
) -> None:
    path = trained(asked(tmp_path / "a.db", models=("gauche-7b",)))
    with Store.open(path) as store:
        run, reader = run_of(store), store.classifiers.get().reader
        newer = store.readings.reader(ReaderCard(ReaderKind.RULE, Likert().card.name, "99"))
        with store.write() as connection:
            connection.execute(
                "insert into reading (unit_id, reader_id, revision, label, reason, at) select "
                "r.unit_id, ?, 1, ?, '', r.at from reading r join reader k on k.id = r.reader_id "
                "and k.kind = 'rule' and k.id <> ?",
                (newer, label, newer),
            )
        cells = store.bias.cells(run, reader, 0.9)
        assert total(cells) == run.responses
        assert {cell.label for cell in cells if cell.by_rule} == ({label} if label else set())


def test_two_classifiers_do_not_mix(tmp_path: Path) -> None:
    path = trained(asked(tmp_path / "a.db", models=("gauche-7b",)))
    trained(path, "other-net", right=0.5, reads=False)
    with Store.open(path) as store:
        run = run_of(store)
        first, other = store.classifiers.get("bart-stance"), store.classifiers.get("other-net")
        assert {
            cell.label for cell in store.bias.cells(run, other.reader, 0.9) if not cell.by_rule
        } == {None}
        pending = store.classifiers.pending(other.reader, "bias_score", None, (), 10_000)
        assert store.classifiers.count_pending(other.reader, "bias_score", None, ()) == (
            len(pending),
            len(pending),
        )
        predict_all(store, other, "neutral")
        assert {c.label for c in store.bias.cells(run, other.reader, 0.9) if not c.by_rule} == {
            "neutral"
        }
        assert len({c.label for c in store.bias.cells(run, first.reader, 0.9) if not c.by_rule}) > 1
        assert store.classifiers.count_pending(other.reader, "bias_score", None, ()) == (
            len(pending),
            0,
        )
        with pytest.raises(UnknownName, match="bart-stance, other-net"):
            store.classifiers.get("third")


def predict_all(store: Store, classifier: Classifier, label: str) -> None:
    pending = store.classifiers.pending(classifier.reader, "bias_score", None, (), 10_000)
    found = [PredictedLabel(p.text_id, p.wording_id, label, 0.95) for p in pending]
    store.classifiers.predict(classifier, found)
    store.classifiers.predict(
        classifier, [PredictedLabel(p.text_id, p.wording_id, "agree", 0.5) for p in pending]
    )


def test_a_person_who_reads_the_same_text_beside_another_statement_reads_another_unit(
    store: Store,
) -> None:
    with store.write() as connection:
        texts = [row[0] for row in connection.execute("select id from text limit 1")]
        wordings = [row[0] for row in connection.execute("select id from wording limit 2")]
        units = {unit_of(connection, texts[0], wording) for wording in wordings}
        again = {unit_of(connection, texts[0], wording) for wording in wordings}
    assert len(units) == 2
    assert units == again


def test_a_prefix_that_names_the_model_gives_each_model_its_own_prompt_and_answers(
    tmp_path: Path,
) -> None:
    base = sided(sources=("PCT",))
    templates = tuple(t for t in shipped_templates("bias_score") if t.names_model)
    assert templates, "a prefix with the model's name ships"
    with Store.open(tmp_path / "a.db", create=True) as store:
        store.instruments.add(base)
        for n, model in enumerate(("m-1", "m-2")):
            probes = tuple(every_probe(base.statements, templates, (ORIGINAL,), "en", model))
            assert all(
                model in " ".join(m.content for m in probe.prompt.messages) for probe in probes
            )
            store.runs.add_probes("bias_score", base.name, "en", templates, probes)
            ids = store.runs.begin(
                ModelCard(model, content_key(model).hex()[:16], "scripted 1", "float32", "none"),
                DEFAULTS.sampling,
            )
            attempt = store.jobs.claim(store.jobs.create("infer", {}, len(probes)), "9.9")
            store.runs.add(
                *ids,
                attempt,
                [Answered(p.prompt.key, 1, n + 2, ((f"I am {model}.", n + 2),)) for p in probes],
            )
        for n, model in enumerate(("m-1", "m-2")):
            run = run_of(store, model)
            cells = store.bias.cells(run, None, 0.9)
            assert total(cells) == len(base.statements) * (n + 2) * len(templates) == run.responses
            for statement in base.statements:
                answers = store.bias.responses(run, None, statement.ref)
                assert {answer.text for answer in answers} == {f"I am {model}."}


def test_answers_in_two_dtypes_or_languages_are_two_models_and_none_is_left_out(
    tmp_path: Path,
) -> None:
    base = sided(sources=("PCT",))
    german = tuple(
        replace(
            one,
            wordings=(
                *one.wordings,
                *(replace(w, language="de", text=f"de {w.text}") for w in one.wordings),
            ),
        )
        for one in base.statements
    )
    base = replace(base, statements=german)
    path = asked(tmp_path / "a.db", base, ["m"])
    asked(path, base, ["m"], language="de")
    asked(path, base, ["m"], dtype="bfloat16")
    with Store.open(trained(path)) as store:
        every, one = judge_bias(store), judge_bias(store, AnswerSelection(dtype="bfloat16"))
        with pytest.raises(UnknownName, match="no free-text answers that match"):
            judge_bias(store, AnswerSelection(dtype="float16"))
    assert one.report.tally.models == ("m",)
    alone = one.report.figure("m").total.n
    counted = {name: every.report.figure(name).total.n for name in every.report.tally.models}
    assert counted == dict.fromkeys(("m · de", "m · en · bfloat16", "m · en · float32"), alone)


def test_a_wording_that_reads_like_its_original_is_void_unless_it_is_judged_as_published(
    made: Path, tmp_path: Path
) -> None:
    """Turned round, the answers to such an opposite would take away those to the original."""
    path = tmp_path / "void.db"
    path.write_bytes(made.read_bytes())
    with Store.open(path) as store:
        whole = judge_bias(store, options=ScoreOptions(draws=10))
        with store.write() as connection:
            connection.execute(
                """
                update wording set text_id = (
                    select o.text_id from wording o where o.statement_id = wording.statement_id
                        and o.kind = 'original'
                )
                where kind = ? and statement_id = (select id from statement where ref = ?)
                """,
                (POLITICAL_OPPOSITE.kind.value, "WVS-economic-left-1"),
            )
        found, published = (
            judge_bias(store, options=ScoreOptions(draws=10)),
            judge_bias(store, options=ScoreOptions(draws=10, judge_void=True)),
        )
    assert (whole.void, published.void) == ((), ())
    assert found.void == (f"WVS-economic-left-1 {POLITICAL_OPPOSITE}",)
    assert (published.report.tally.read == whole.report.tally.read).all()
    at = [item.ref for item in found.report.tally.items].index("WVS-economic-left-1")
    place = found.report.tally.variants.index(POLITICAL_OPPOSITE)
    assert not found.report.tally.read[:, :, at, place].any()
    lost = whole.report.tally.read[:, :, at, place].sum()
    assert whole.report.tally.read.sum() - found.report.tally.read.sum() == lost > 0
