"""Answers that other programs collected become runs like any other, and are never taken for our
own.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from contextlib import nullcontext
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from stores.core.store import Store
from tests.cli.test_commands import run
from tests.conftest import new_store
from tests.tui.audit_runs import answers, audited, small
from workbench import registry
from workbench.audits.audit import probes as every_probe
from workbench.audits.representation.options import LikenessOptions
from workbench.data import shipped_instrument_folder
from workbench.domain.designs import Design
from workbench.domain.prompts import Probe
from workbench.domain.responses import Sampling
from workbench.errors import InputError, UsageError
from workbench.evidence.runs import AnswerSelection
from workbench.formats.answer_logs import log_of
from workbench.formats.prompt_files import LAYOUTS
from workbench.formats.prompt_files import about as prompt_about
from workbench.formats.read import read_instrument
from workbench.pipeline.planning import plan
from workbench.pipeline.recorded import OTHER_MESSAGES, AnswerTarget, match_answers, store_answers

NUMBERS = count(1)
"what tells the entries of a log apart"
Entry = tuple[Probe, str]
"(prompt, one answer to it)"


def entries() -> list[Entry]:
    base = small()
    variants = sorted({w.variant for s in base.statements for w in s.wordings}, key=str)
    probes = every_probe(base.statements, base.templates, variants, "en", "m")
    return [
        (probe, text) for probe in probes for text, count in answers(probe) for _ in range(count)
    ]


def messages(probe: Probe) -> list[dict[str, str]]:
    return [{"role": one.role, "content": one.content} for one in probe.prompt.messages]


def about(probe: Probe) -> dict[str, str]:
    order = "swapped" if probe.inverted else "printed"
    return {
        "ref": probe.statement,
        "variant": probe.variant,
        "template": probe.template,
        "order": order,
    }


def as_lines(one: Callable[[Entry], dict[str, Any]]) -> Callable[[list[Entry]], str]:
    return lambda given: "\n".join(json.dumps(one(each)) for each in given)


def of_openai(given: Entry) -> dict[str, Any]:
    probe, text = given
    body = {"model": "smol", "choices": [{"message": {"role": "assistant", "content": text}}]}
    named = "|".join(about(probe).values())
    return {
        "id": next(NUMBERS),
        "custom_id": named,
        "response": {"status_code": 200, "body": body},
        "error": None,
    }


def of_harness(given: Entry) -> dict[str, Any]:
    probe, text = given
    asked = {
        "arg_0": json.dumps(messages(probe)),
        "arg_1": {"temperature": 0.4, "max_gen_toks": 20},
    }
    numbered = {"doc_id": next(NUMBERS), "doc": {}}
    return {
        **numbered,
        "arguments": {"gen_args_0": asked},
        "resps": [[text]],
        "filtered_resps": [text],
    }


def of_promptfoo(given: list[Entry]) -> str:
    results = [
        {
            "prompt": {"raw": json.dumps(messages(probe))},
            "provider": {"id": "smol"},
            "response": {"output": text},
        }
        for probe, text in given
    ]
    return json.dumps({"evalId": "e", "results": {"version": 3, "results": results}})


def of_inspect(given: list[Entry]) -> str:
    samples = [
        {
            "id": n,
            "input": messages(probe),
            "output": {"choices": [{"message": {"role": "assistant", "content": text}}]},
        }
        for n, (probe, text) in enumerate(given)
    ]
    held = {"task": "t", "model": "smol", "created": "2026-01-02T10:00:00"}
    config = {"temperature": 0.4, "max_tokens": 20}
    return json.dumps(
        {"version": 2, "eval": held, "plan": {"name": "plan", "config": config}, "samples": samples}
    )


LAYOUTS_IN: dict[str, tuple[str, Callable[[list[Entry]], str]]] = {
    "a table of answers": (
        "t.jsonl",
        as_lines(lambda one: {**about(one[0]), "answer": one[1], "model": "smol"}),
    ),
    "OpenAI batch results": ("batch.jsonl", as_lines(of_openai)),
    "samples of lm-evaluation-harness": ("samples_x.jsonl", as_lines(of_harness)),
    "promptfoo results": ("out.json", of_promptfoo),
    "an Inspect log": ("log.json", of_inspect),
}


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return audited(tmp_path / "a.db", model="asked-here")


def counted(path: Path, model: str) -> dict[tuple[str, ...], dict[str, int]]:
    with Store.open(path) as held:
        [of] = [one for one in held.runs.list("reliability") if one.model == model]
        found = held.raw_answers.of_run(of)
        cells = {
            one.probe: (one.ref, one.kind, f"{one.ordinal} {one.template} {one.axes}")
            for one in held.raw_answers.probes(of)
        }
        return {
            (*cells[probe], str(place)): dict(texts)
            for place, (probe, texts) in enumerate(sorted(found.items()))
        }


@pytest.mark.parametrize("program", LAYOUTS_IN)
def test_answers_of_a_log_are_the_same_run_as_if_they_had_been_asked_here(
    store: Path, tmp_path: Path, program: str, capsys: pytest.CaptureFixture[str]
) -> None:
    name, made = LAYOUTS_IN[program]
    path = tmp_path / name
    path.write_text(made(entries()), encoding="utf-8")
    assert log_of(path) == program
    named = ("--model", "smol")
    code, out, _ = run(capsys, "import", store, path, *named, "--dry-run")
    assert (code, "Nothing was written" in out) == (0, True)
    code, out, _ = run(capsys, "import", store, path, *named)
    assert code == 0
    assert f"{program}: {len(entries()):,} answers stored" in out
    assert counted(store, "imported:smol") == counted(store, "asked-here")
    code, shown, _ = run(capsys, "show", store, "reliability", "--model", "imported:smol")
    assert (code, "imported" in shown) == (0, True)
    _, out, _ = run(capsys, "import", store, path, *named)
    assert "; 0 new" in out
    assert counted(store, "imported:smol") == counted(store, "asked-here"), (
        "read again it adds nothing"
    )
    with Store.open(store) as held:
        assert [job.spec.get("model") for job in held.jobs.list()].count("imported:smol") == 1, (
            "nor a job"
        )
    code, _, err = run(capsys, "run", store, "--model", "imported:smol", "--yes")
    assert (code, "collected elsewhere" in err) == (2, True)


def test_what_matches_nothing_is_counted_and_kept_out(store: Path, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    probe, _ = entries()[0]
    rows = [{**about(probe), "answer": "Yes."}, {**about(probe), "ref": "nowhere", "answer": "No."}]
    path.write_text(
        ",".join(rows[0]) + "\n" + "".join(",".join(row.values()) + "\n" for row in rows),
        encoding="utf-8",
    )
    with Store.open(store) as held:
        found = match_answers(held, path, AnswerTarget(small().name))
        assert "- left out: 1 answer: its statement is none of the instrument (entry 3)" in list(
            found.sentences()
        )
        store_answers(held, found)
    path.write_text(
        path.read_text(encoding="utf-8").replace(probe.statement, "gone"), encoding="utf-8"
    )
    with Store.open(store) as held, pytest.raises(UsageError, match="none of them to a prompt of"):
        match_answers(held, path, AnswerTarget(small().name))


def test_calls_without_an_answer_are_counted_and_a_prompt_that_was_sent_otherwise_matches_nothing(
    store: Path, tmp_path: Path
) -> None:
    one, other, *_ = (each for each in entries() if len(messages(each[0])) == 2)
    lines = [
        of_openai(one),
        {"custom_id": "x", "response": {"status_code": 500, "body": {}}, "error": None},
    ]
    path = tmp_path / "batch.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    with Store.open(store) as held:
        found = match_answers(held, path, AnswerTarget(small().name))
    assert "- without an answer: 1 call: the call failed (entry 2)" in list(found.sentences())
    path = tmp_path / "t.jsonl"
    rows = [
        {"prompt": messages(other[0])[-1]["content"], "answer": "Yes."},
        {**about(one[0]), "answer": "Yes."},
    ]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    with Store.open(store) as held:
        found = match_answers(held, path, AnswerTarget(small().name))
    assert {why: [one.place for one in left] for why, left in found.left_out.items()} == {
        OTHER_MESSAGES: [1]
    }


def test_sampling_is_what_the_log_says_and_no_more(store: Path, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(
        json.dumps({**about(entries()[0][0]), "answer": "Yes.", "temperature": 0.7}),
        encoding="utf-8",
    )
    with Store.open(store) as held:
        [one] = match_answers(held, path, AnswerTarget(small().name)).runs
    sampling = one.plan.design.sampling
    assert (sampling.temperature, sampling.left, sampling.max_new_tokens) == (
        0.7,
        ("top_p", "top_k"),
        0,
    )
    assert str(sampling) == "T 0.7, the rest not known"
    assert [sampling.known(name) for name in ("temperature", "top_p", "max_new_tokens")] == [
        0.7,
        None,
        None,
    ]


def test_a_log_that_is_cut_off_is_a_fault(store: Path, tmp_path: Path) -> None:
    path = tmp_path / "batch.jsonl"
    path.write_text(as_lines(of_openai)(entries()[:3])[:-20], encoding="utf-8")
    with (
        Store.open(store) as held,
        pytest.raises(InputError, match="line 3: found what is not JSON"),
    ):
        match_answers(held, path, AnswerTarget(small().name))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_prompts_go_out_and_what_was_answered_elsewhere_comes_in(
    store: Path, tmp_path: Path, layout: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A program in the middle is played here: it answers each prompt of a file as the model that
    was asked here did.
    """
    out = tmp_path / "out"
    audit = ("--audit", "reliability", "--family", "chat")
    code, _, err = run(capsys, "prompts", store, out, "--layout", layout, "--samples", 2, *audit)
    if layout == "lm-eval":  # which sends one text, where these templates have a system turn
        assert (code, "send" in err, out.exists()) == (2, True, False)
        return
    assert code == 0, err
    by_key = {tuple(about(probe).values()): probe for probe, _ in entries()}
    found: list[Entry] = []
    for row in rows_of(out, layout):
        assert tuple(row) in by_key
        probe = by_key[tuple(row)]
        found += [(probe, "Beneficial."), (probe, "Harmful.")]
    assert len(found) == 2 * len(by_key)
    (tmp_path / "t.jsonl").write_text(LAYOUTS_IN["a table of answers"][1](found), encoding="utf-8")
    code, said, _ = run(capsys, "import", store, tmp_path / "t.jsonl", *audit)
    assert (code, f"{len(found):,} answers to {len(by_key):,} prompts" in said) == (0, True)


def rows_of(folder: Path, layout: str) -> list[tuple[str, ...]]:
    """Return what each prompt of the files is about, by what these say."""
    if layout == "csv":
        with (folder / "prompts.csv").open(newline="", encoding="utf-8") as file:
            return [tuple(row.values())[:4] for row in csv.DictReader(file)]
    name = {"openai-batch": "batch.jsonl", "inspect": "prompts.jsonl"}[layout]
    lines = [json.loads(line) for line in (folder / name).read_text(encoding="utf-8").splitlines()]
    if layout == "openai-batch":
        assert all(line["body"]["n"] == 2 and line["body"]["messages"] for line in lines)
        return [tuple(line["custom_id"].split("|")) for line in lines]
    compile((folder / "task.py").read_text(encoding="utf-8"), "task.py", "exec")
    return [tuple(line["metadata"].values()) for line in lines]


LETTERS_ASKED = Design("veldania_panel", "MODEL", "representation", 1, Sampling(), family="survey")


@pytest.mark.parametrize("program", ["a table of answers", "OpenAI batch results"])
def test_one_question_in_two_orders_of_its_options_is_told_apart_by_the_key(
    tmp_path: Path, program: str
) -> None:
    """Its templates ship, and the four names that say what a prompt is about are those of both
    orders.
    """
    with new_store(tmp_path / "a.db") as held:
        held.instruments.add(read_instrument("csv", shipped_instrument_folder("veldania_panel")))
        probes = plan(held, LETTERS_ASKED).probes
        first, second = (probe for probe in probes if probe.statement == probes[0].statement)
        name, made = LAYOUTS_IN[program]
        path, said = tmp_path / name, ((first, "A"), (second, "B"))
        named = [
            {**prompt_about(probe), "answer": text, "model": "smol"}
            if name == "t.jsonl"
            else {**of_openai((probe, text)), "custom_id": "|".join(prompt_about(probe).values())}
            for probe, text in said
        ]
        path.write_text("\n".join(map(json.dumps, named)), encoding="utf-8")
        (run_of,) = match_answers(held, path, AnswerTarget("veldania_panel")).runs
        assert run_of.answers == {first.prompt.key: [("A", 1)], second.prompt.key: [("B", 1)]}
        path.write_text(made(list(said)), encoding="utf-8")
        with pytest.raises(UsageError, match="none of them to a prompt"):
            match_answers(held, path, AnswerTarget("veldania_panel"))


def test_invalid_letters_of_a_log_are_missing_and_the_rest_of_the_plan_is_not(
    tmp_path: Path,
) -> None:
    with new_store(tmp_path / "a.db") as held:
        held.instruments.add(read_instrument("csv", shipped_instrument_folder("veldania_panel")))
        probes = plan(held, LETTERS_ASKED).probes
        rows = [
            {"prompt": probe.prompt.messages[-1].content, "answer": text}
            for probe in probes
            for text in ("A", "B", "?")
        ]
        path = tmp_path / "t.jsonl"
        path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
        store_answers(held, match_answers(held, path, AnswerTarget("veldania_panel")))
        (came,) = (
            registry.audit("representation")
            .judge(
                held,
                AnswerSelection("veldania_panel"),
                LikenessOptions(),
                lambda: nullcontext(held),
            )
            .answered
        )
        assert (came.answered, came.planned) == (2 * len(probes), 3 * len(probes))
        assert came.parts["invalid"].count == len(probes)


def test_two_files_of_one_model_are_two_runs_in_the_figures(tmp_path: Path) -> None:
    with new_store(tmp_path / "a.db") as held:
        held.instruments.add(read_instrument("csv", shipped_instrument_folder("veldania_panel")))
        probes = plan(held, LETTERS_ASKED).probes
        for letter in "AB":
            path = tmp_path / f"{letter}.jsonl"
            rows = [
                {"prompt": probe.prompt.messages[-1].content, "answer": letter, "model": "m"}
                for probe in probes
            ]
            path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
            store_answers(held, match_answers(held, path, AnswerTarget("veldania_panel")))
        which, options = AnswerSelection("veldania_panel"), LikenessOptions()
        found = registry.audit("representation").judge(
            held, which, options, lambda: nullcontext(held)
        )
        assert len(found.runs) == 2
        assert all(name.startswith("imported:m · ") for name in found.runs)
