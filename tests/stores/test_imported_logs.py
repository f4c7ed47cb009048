"""An answer that was collected elsewhere is stored once, with what is known of it and nothing
else.
"""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import workbench
from stores.core.store import Store
from tests.cli.test_commands import run
from tests.conftest import new_store
from tests.core.test_answer_logs import Values, stored, written
from tests.stores.test_recorded import about, messages
from tests.tui.audit_runs import small
from workbench.audits.audit import probes as every_probe
from workbench.data import shipped_instrument_folder
from workbench.domain.designs import Design
from workbench.domain.prompts import Message, Persona, PersonaKind, Probe
from workbench.domain.responses import Sampling
from workbench.domain.statements import ORIGINAL
from workbench.errors import UsageError
from workbench.formats.read import read_instrument
from workbench.pipeline.planning import plan
from workbench.pipeline.recorded import OTHER_SYSTEM, AnswerTarget, match_answers, store_answers

HOW = ("--audit", "reliability", "--family", "chat")
WANTED = AnswerTarget("small", audit="reliability", family="chat")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    place = tmp_path / "a.db"
    with new_store(place) as store:
        store.instruments.add(small())
    return place


def probes() -> list[Probe]:
    base = small()
    return list(every_probe(base.statements, base.templates, [ORIGINAL], "en", "m"))


def batch(probe: Probe, text: str, number: int, run: str = "one") -> Values:
    body = {"model": "m", "choices": [{"message": {"role": "assistant", "content": text}}]}
    named = "|".join(about(probe).values())
    return {
        "id": f"{run}-{number}",
        "custom_id": named,
        "response": {"status_code": 200, "body": body},
        "error": None,
    }


def harness(probe: Probe, texts: list[str], number: int, name: str = "none") -> Values:
    asked = {"gen_args_0": {"arg_0": json.dumps(messages(probe)), "arg_1": {"temperature": 1.0}}}
    about_it = {"doc_id": number, "doc": {}, "filter": name}
    return {**about_it, "arguments": asked, "resps": [texts], "filtered_resps": texts[:1]}


def inspected(*turns: tuple[Probe, str], system: str = "", task: str = "t1") -> Values:
    samples = []
    for number, (probe, text) in enumerate(turns):
        answer = {"role": "assistant", "content": text}
        before = [{"role": "system", "content": system}] if system else []
        samples.append(
            {
                "id": number,
                "epoch": 1,
                "input": messages(probe),
                "messages": [*before, *messages(probe), answer],
                "output": {"choices": [{"message": answer, "stop_reason": "stop"}]},
            }
        )
    evaluation = {"task": "t", "task_id": task, "model": "m", "created": "2026-01-02T10:00:00Z"}
    return {
        "version": 2,
        "eval": evaluation,
        "plan": {"name": "plan", "config": {}},
        "samples": samples,
    }


def taken(store: Store, path: Path, **wanted: Any) -> tuple[int, int]:
    """Import a log; return how many answers it has, and how many were stored."""
    found = match_answers(
        store, path, AnswerTarget("small", **{"audit": "reliability", "family": "chat", **wanted})
    )
    return found.count, store_answers(store, found).answers


def n_answers(store: Store) -> int:
    return store.runs.totals()[0]


def test_all_filters_of_lm_eval_share_an_answer(path: Path, tmp_path: Path) -> None:
    lines = [
        harness(probe, ["Yes.", "No.", "Yes."], number, name)
        for name in ("strict-match", "flexible-extract")
        for number, probe in enumerate(probes()[:4])
    ]
    log = written(tmp_path / "samples_t.jsonl", *lines)
    with Store.open(path) as store:
        found = match_answers(store, log, WANTED)
        assert (found.count, len(found.repeated)) == (12, 12)
        assert any("--model NAME" in sentence for sentence in found.sentences())
        assert store_answers(store, found).answers == n_answers(store) == 12


def test_overlapping_files_add_only_what_is_new(path: Path, tmp_path: Path) -> None:
    lines = [batch(probe, "Yes.", number) for number, probe in enumerate(probes()[:6])]
    first = written(tmp_path / "first.jsonl", *lines[:4])
    second = written(tmp_path / "second.jsonl", *lines[2:], *lines[2:])
    with Store.open(path) as store:
        assert taken(store, first) == (4, 4)
        assert taken(store, second) == (4, 2)
        assert taken(store, first) == (4, 0)
        assert n_answers(store) == 6
        assert len(store.runs.list("reliability")) == 1, "the answers continue a run"
        again = [
            batch(probe, "Yes.", number, run="two") for number, probe in enumerate(probes()[:4])
        ]
        assert taken(store, written(tmp_path / "third.jsonl", *again)) == (4, 4), (
            "other answers, though equal"
        )


def test_a_table_that_continues_an_earlier_one_adds_the_rest(path: Path, tmp_path: Path) -> None:
    rows = [
        {**about(probe), "answer": text}
        for probe in probes()[:3]
        for text in ("Yes.", "Yes.", "No.")
    ]
    with Store.open(path) as store:
        assert taken(store, written(tmp_path / "some.jsonl", *rows[:4])) == (4, 4)
        assert taken(store, written(tmp_path / "all.jsonl", *rows)) == (9, 5)
        assert taken(store, written(tmp_path / "some.csv", *rows[:4])) == (4, 0)
        assert n_answers(store) == 9
        other = [{**row, "answer": "Perhaps."} for row in rows]
        assert taken(store, written(tmp_path / "other.jsonl", *other)) == (9, 9)
        assert len(store.runs.list("reliability")) == 2


def test_answers_that_an_earlier_version_stored_are_known(path: Path, tmp_path: Path) -> None:
    """It wrote what a log does not state as if it had been left to an endpoint."""
    log = written(
        tmp_path / "t.jsonl", *[{**about(probe), "answer": "Yes."} for probe in probes()[:3]]
    )
    with Store.open(path) as store:
        found = match_answers(store, log, WANTED)
        (run_of,) = found.runs
        design = run_of.plan.design
        sampling = replace(design.sampling, server=",".join(design.sampling.left))
        before = replace(
            run_of, plan=replace(run_of.plan, design=replace(design, sampling=sampling))
        )
        store_answers(store, replace(found, runs=(before,)))
        assert taken(store, log) == (3, 0)


def test_a_second_answer_to_a_request_is_left_out_with_its_reason(
    path: Path, tmp_path: Path
) -> None:
    probe = probes()[0]
    log = written(
        tmp_path / "b.jsonl", *[batch(probe, text, 0) for text in ("Yes.", "No.", "Yes.")]
    )
    with Store.open(path) as store:
        found = match_answers(store, log, WANTED)
        assert (found.count, len(found.repeated), found.count_left_out) == (1, 1, 1)
        assert "another answer in this file already (entry 2)" in "\n".join(found.sentences())


def test_a_folder_of_logs_is_one_import(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    some = probes()
    folder = tmp_path / "logs"
    (folder / "deeper").mkdir(parents=True)
    first = inspected(*[(probe, "Yes.") for probe in some[:3]])
    stored(folder / "first.eval", first)
    written(folder / "first.json", first)
    written(folder / "deeper" / "copy.json", first)
    written(folder / "second.json", inspected((some[3], "No."), task="t2"))
    written(folder / "logs.json", {"first.eval": {}})
    (folder / "notes.txt").write_text("nothing")
    code, out, err = run(capsys, "import", path, folder, *HOW)
    assert code == 0, err
    assert "an Inspect log in 3 files: 4 answers stored" in out
    assert "1 file with the same content as another" in out
    with Store.open(path) as store:
        assert n_answers(store) == 4
        assert taken(store, folder / "second.json") == (1, 0)


def test_a_file_of_a_folder_in_no_known_format_is_named(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    written(folder / "other.json", {"eval": {"task": "t"}, "rows": []})
    code, _, err = run(capsys, "import", path, folder, *HOW)
    assert (code, "in no known format: other.json" in err, "without an answer" in err) == (
        2,
        True,
        False,
    )
    written(folder / "log.json", inspected((probes()[0], "Yes.")))
    code, out, err = run(capsys, "import", path, folder, *HOW)
    assert code == 0, err
    assert "an Inspect log: 1 answer stored" in out
    assert "not read: 1 file with the beginning of a log, but in no known format: other.json" in out


OPPONENT = Persona("opponent", PersonaKind.SYSTEM, (Message("system", "You are a firm opponent."),))


def test_a_system_message_makes_another_prompt_unless_a_persona_has_it(
    path: Path, tmp_path: Path
) -> None:
    probe = probes()[0]
    sent = replace(probe, prompt=OPPONENT.before(probe.prompt))
    log = written(tmp_path / "log.json", inspected((sent, "Yes.")))
    with Store.open(path) as store:
        with pytest.raises(UsageError, match=OTHER_SYSTEM):
            match_answers(store, log, WANTED)
        assert taken(store, log, personas=(OPPONENT,)) == (1, 1)
        assert [run.persona_name for run in store.runs.list("reliability", personas=True)] == [
            "opponent"
        ]
        assert taken(store, log) == (1, 0), "the store knows the persona now"


def test_a_system_message_before_templates_without_one_is_a_persona_too(tmp_path: Path) -> None:
    with new_store(tmp_path / "v.db") as store:
        store.instruments.add(read_instrument("csv", shipped_instrument_folder("veldania")))
        design = Design("veldania", "MODEL", "reliability", 1, Sampling(), family="user")
        probe = plan(store, design).probes[0]
        log = written(
            tmp_path / "log.json", inspected((probe, "Agree."), system="You are a firm opponent.")
        )
        wanted = AnswerTarget("veldania", audit="reliability", family="user")
        with pytest.raises(UsageError, match=OTHER_SYSTEM):
            match_answers(store, log, wanted)
        found = match_answers(store, log, replace(wanted, personas=(OPPONENT,)))
        assert store_answers(store, found).answers == 1
        assert [run.persona_name for run in store.runs.list("reliability", personas=True)] == [
            "opponent"
        ]


def rows_without_order(path: Path) -> Path:
    rows = [{**about(probe), "answer": "Yes."} for probe in probes()[:6]]
    for row in rows[:2]:
        del row["order"]
    return written(path, *rows)


def test_much_that_is_left_out_needs_a_word(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = rows_without_order(tmp_path / "t.jsonl")
    code, _, err = run(capsys, "import", path, log, *HOW)
    assert code == 2
    first, second, *_ = err.splitlines()
    assert (
        "2 of 6 answers would be left out. --skip (in Python: skip=True) imports the others."
        in first
    )
    assert second.startswith("- left out: 2 answers: it has no order")
    with Store.open(path) as store:
        assert n_answers(store) == 0
    code, out, _ = run(capsys, "import", path, log, *HOW, "--skip")
    assert (code, "4 answers stored" in out, "(entries 1, 2)" in out) == (0, True, True)


def test_the_first_text_of_a_log_to_no_prompt_keeps_its_full_stop(
    path: Path, tmp_path: Path
) -> None:
    log = written(tmp_path / "t.jsonl", {"prompt": "Taxes should rise.", "answer": "Yes."})
    with Store.open(path) as store, pytest.raises(UsageError) as raised:
        match_answers(store, log, WANTED)
    assert "The first: Taxes should rise. Import an instrument" in str(raised.value)


def test_words_for_a_missing_value_are_counted_and_stay(path: Path, tmp_path: Path) -> None:
    texts = ["NaN", "None", "None", "Yes."]
    rows = [
        {**about(probe), "answer": text} for probe, text in zip(probes()[:4], texts, strict=True)
    ]
    log = tmp_path / "t.csv"
    lines = [",".join(row.values()) for row in rows]
    log.write_text("\n".join([",".join(rows[0]), *lines, ""]), encoding="utf-8")
    with Store.open(path) as store:
        found = match_answers(store, log, WANTED)
    assert [entry.answer for run in found.runs for _, entry in run.entries] == texts
    assert "- 3 answers are the word NaN or None; stored as a text." in "\n".join(found.sentences())


def test_faulty_entries_are_listed_and_left_out_where_that_is_wanted(
    path: Path, tmp_path: Path
) -> None:
    rows = [{**about(probe), "answer": "Yes."} for probe in probes()[:2]]
    log = written(tmp_path / "t.jsonl", rows[0], {**rows[1], "temperature": -1})
    with Store.open(path) as store:
        found = match_answers(
            store, log, AnswerTarget("small", audit="reliability", family="chat", skip=True)
        )
        assert (found.count, found.count_left_out) == (1, 1)
        assert "column 'temperature'" in "\n".join(found.sentences())


def test_what_nobody_knows_is_empty_in_every_export(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = written(
        tmp_path / "t.jsonl", {**about(probes()[0]), "answer": "Yes.", "temperature": 0.3}
    )
    assert run(capsys, "import", path, log, *HOW)[0] == 0
    unknown = ("top_p", "top_k", "max_new_tokens", "seed", "time", "truncated")
    assert run(capsys, "export", path, tmp_path / "csv", "--what", "answers")[0] == 0
    with (tmp_path / "csv" / "answers.csv").open(encoding="utf-8", newline="") as file:
        [row] = csv.DictReader(file)
    assert ([row[name] for name in unknown], float(row["temperature"])) == ([""] * 6, 0.3)
    dictionary = (tmp_path / "csv" / "dictionary.csv").read_text(encoding="utf-8")
    assert "imported, with an answer: how its output ended is not stored" in dictionary
    assert (
        run(capsys, "export", path, tmp_path / "lines", "--what", "answers", "--format", "jsonl")[0]
        == 0
    )
    line = json.loads((tmp_path / "lines" / "answers.jsonl").read_text(encoding="utf-8"))
    assert [line[name] for name in unknown] == [None] * 6
    with workbench.open(path) as store:
        frame = store.answers()
        assert [frame[name][0] for name in ("top_p", "seed", "time", "truncated")] == [None] * 4
    _, shown, _ = run(capsys, "show", path, "reliability", "--json")
    sampling = json.loads(shown)["run"]["sampling"]
    assert (sampling["temperature"], sampling["top_p"], sampling["max_new_tokens"]) == (
        0.3,
        None,
        None,
    )
    _, listed, _ = run(capsys, "jobs", path, "--json")
    [job] = json.loads(listed)
    assert (
        job["spec"]["sampling"]["temperature"],
        job["spec"]["sampling"]["top_p"],
        job["spec"]["seed"],
    ) == (
        0.3,
        None,
        None,
    )


def test_prompts_of_one_answer_are_answered_one_time(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(
        capsys, "prompts", path, tmp_path / "out", "--samples", 1, *HOW, "--model", "m"
    )
    assert code == 0, err
    assert "to be answered 1 time each" in out


def test_python_imports_a_log_as_the_shell_does(path: Path, tmp_path: Path) -> None:
    log = written(tmp_path / "log.json", inspected(*[(probe, "Yes.") for probe in probes()[:3]]))
    with workbench.open(path, write=True) as store:
        seen = store.import_file(log, audit="reliability", family="chat", dry_run=True)
        assert (seen["written"], seen["new"], seen["stored"]) == (False, 3, 0)
        done = store.import_file(log, audit="reliability", family="chat", model="other")
        assert (done["written"], done["stored"], done["runs"][0]["model"]) == (
            True,
            3,
            "imported:other",
        )
        with pytest.raises(UsageError, match="would be left out"):
            store.import_file(
                rows_without_order(tmp_path / "t.jsonl"), audit="reliability", family="chat"
            )


def test_counts_of_one_prompt_that_no_store_can_hold_are_named(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    probe = probes()[0]
    answers = [
        {**about(probe), "model": "m", "answer": text, "count": 999_999_999}
        for text in ("Yes", "No", "Maybe")
    ]
    log = written(tmp_path / "t.jsonl", *answers)
    how = ("--format", "log", *HOW, "--most-count", "1000000000")
    code, _, err = run(capsys, "import", path, log, *how)
    assert code == 2
    for words in (
        "t.jsonl: the counts",
        "2,999,999,997",
        "at most 2,147,483,647",
        "in entry 1",
        probe.statement,
    ):
        assert words in err
    with Store.open(path) as store:
        assert (n_answers(store), store.jobs.list()) == (0, ())


def test_counts_are_added_over_files_and_with_what_is_stored(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    probe = probes()[0]
    folder = tmp_path / "logs"
    folder.mkdir()
    for name, first in (("a", 1), ("b", 3)):
        written(
            folder / f"{name}.jsonl", *(batch(probe, f"Yes {at}", at) for at in (first, first + 1))
        )
    monkeypatch.setattr("workbench.pipeline.recorded.MOST_ANSWERS", 3)
    code, _, err = run(capsys, "import", path, folder, *HOW)
    assert code == 2
    assert "add up to 4 in 2 files; a store holds at most 3." in err
    assert run(capsys, "import", path, folder / "a.jsonl", *HOW)[0] == 0
    more = written(tmp_path / "more.jsonl", *(batch(probe, f"Yes {at}", at) for at in (2, 3, 4)))
    code, _, err = run(capsys, "import", path, more, *HOW)
    assert code == 2
    assert "add up to 4, 2 of them stored already; a store holds at most 3." in err
    with Store.open(path) as store:
        assert n_answers(store) == 2
