"""What a log of another program holds is read as it was sent and answered, and a value that cannot
be is named.
"""

from __future__ import annotations

import json
import struct
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from workbench.domain.thinking import Output, refusal
from workbench.errors import InputError, UsageError
from workbench.formats.answer_logs import (
    CUT,
    FILTERED,
    HARNESS,
    INSPECT,
    NOT_ANSWERED,
    OPENAI,
    TABLE,
    Logged,
    log_of,
    read_log,
)
from workbench.formats.archives import opened_archive
from workbench.formats.packed import reading
from workbench.formats.records import Findings, ReadSettings
from workbench.inference.served.reply import read_reply

Values = Mapping[str, Any]
THOUGHT = {"type": "reasoning", "reasoning": "hm"}
ASKED = "Do you agree? Taxes should rise."


def read(path: Path) -> list[Logged]:
    findings = Findings()
    logged = read_log(path, log_of(path), findings)
    findings.check()
    return logged


def written(path: Path, *lines: Values) -> Path:
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return path


def row(**values: Any) -> Values:
    return {"prompt": ASKED, "answer": "Yes.", "model": "m", **values}


def harness(resps: object, **settings: Any) -> Values:
    asked = {"gen_args_0": {"arg_0": ASKED, "arg_1": settings}}
    return {"doc_id": 1, "doc": {}, "arguments": asked, "resps": resps, "filtered_resps": ["Yes."]}


def batch(body: object, **line: Any) -> Values:
    response = {"status_code": 200, "body": body}
    return {
        "id": "batch_req_1",
        "custom_id": "a|original|t|printed",
        "response": response,
        "error": None,
        **line,
    }


def sample(answer: object = "Yes.", stop: str = "stop", **values: Any) -> Values:
    messages = [{"role": "user", "content": ASKED}, {"role": "assistant", "content": answer}]
    output = {"choices": [{"message": messages[1], "stop_reason": stop}]}
    return {"id": 1, "epoch": 1, "input": ASKED, "messages": messages, "output": output, **values}


def inspect_log(
    *samples: Values, config: Values | None = None, steps: list[str] | None = None
) -> Values:
    evaluation = {
        "task": "t",
        "task_id": "t1",
        "model": "m",
        "created": "2026-01-02T10:00:00+01:00",
    }
    plan = {
        "name": "plan",
        "steps": [{"solver": name} for name in steps or ["generate"]],
        "config": config or {},
    }
    return {
        "version": 2,
        "status": "success",
        "eval": evaluation,
        "plan": plan,
        "samples": list(samples),
    }


@pytest.mark.parametrize(
    ("name", "entry", "field"),
    [
        ("t.csv", row(temperature="inf"), "temperature"),
        ("t.csv", row(temperature="nan"), "temperature"),
        ("t.jsonl", row(temperature=-1), "temperature"),
        ("t.csv", row(temperature="1_0"), "temperature"),
        ("t.csv", row(count="1_0"), "count"),
        ("t.csv", row(max_tokens="١٢"), "max_tokens"),
        ("t.jsonl", row(top_p=1.5), "top_p"),
        ("t.jsonl", row(max_tokens=0), "max_tokens"),
        ("t.jsonl", row(count=2**63 - 1), "count"),
        ("t.jsonl", row(count=60_000), "count"),
        ("t.jsonl", row(count=1.5), "count"),
        ("t.jsonl", row(at="yesterday"), "at"),
        ("t.jsonl", row(at="0001-01-01"), "at"),
        ("t.jsonl", row(model="m" * 300), "model"),
        ("t.jsonl", row(answer=["Yes.", 5]), "answer"),
        ("t.json", [row(answer=["Yes.", 5])], "answer"),
        ("t.json", [row(answer=["Yes.", {"a": 1}])], "answer"),
        ("samples_t.jsonl", harness("Agree."), "resps"),
        ("samples_t.jsonl", harness([[[-1.2, False]]]), "resps"),
        ("samples_t.jsonl", harness([["Yes."]], max_gen_toks=1e300), "max_gen_toks"),
        ("samples_t.jsonl", harness([["Yes."]], max_gen_toks=float("nan")), "max_gen_toks"),
        ("samples_t.jsonl", harness([["Yes."]], temperature=float("inf")), "temperature"),
        (
            "batch.jsonl",
            batch({"choices": [{"message": {"content": "Yes."}}], "created": 1e30}),
            "created",
        ),
        (
            "batch.jsonl",
            batch({"choices": [{"message": {"content": "Yes."}}], "model": ["m"]}),
            "model",
        ),
        ("batch.jsonl", batch({"choices": []}, custom_id=5), "custom_id"),
        ("log.json", inspect_log(sample(messages=[{"role": 5}])), "messages"),
        ("log.json", inspect_log(sample(), config={"temperature": float("inf")}), "temperature"),
        (
            "log.json",
            inspect_log(sample(messages=[]), steps=["prompt_template", "generate"]),
            "messages",
        ),
    ],
)
def test_a_value_that_cannot_be_is_named_with_its_place(
    tmp_path: Path, name: str, entry: Values, field: str
) -> None:
    path = written(tmp_path / name, entry)
    if name.endswith(".csv"):
        path.write_text(
            ",".join(entry) + "\n" + ",".join(map(str, entry.values())) + "\n", encoding="utf-8"
        )
    with pytest.raises(InputError) as raised:
        read(path)
    [finding] = raised.value.findings
    assert (finding.file, finding.line, finding.column) == (
        name,
        2 if name.endswith(".csv") else 1,
        field,
    )


def test_a_row_stands_for_more_answers_where_that_is_allowed(tmp_path: Path) -> None:
    path = written(tmp_path / "t.jsonl", row(count=60_000))
    assert [entry.count for entry in read_log(path, TABLE, Findings(), most_count=60_000)] == [
        60_000
    ]


BODIES: Mapping[str, tuple[Values, str | None, str]] = {
    "text": ({"message": {"content": "Yes."}, "finish_reason": "stop"}, "Yes.", ""),
    "refusal": (
        {"message": {"content": None, "refusal": "I can't."}, "finish_reason": "stop"},
        refusal("I can't."),
        "",
    ),
    "cut in thought": (
        {"message": {"content": None, "reasoning_content": "Let me"}, "finish_reason": "length"},
        Output("Let me", None).stored,
        CUT,
    ),
    "cut": ({"message": {"content": "Yes, bec"}, "finish_reason": "length"}, "Yes, bec", CUT),
    "filtered": ({"message": {"content": None}, "finish_reason": "content_filter"}, "", FILTERED),
    "parts": (
        {"message": {"content": [{"type": "text", "text": "Yes."}]}, "finish_reason": "stop"},
        "Yes.",
        "",
    ),
    "thought": (
        {"message": {"content": "Yes.", "reasoning": "Hm."}, "finish_reason": "stop"},
        Output("Hm.", "Yes.").stored,
        "",
    ),
    "nothing": ({"message": {"content": None}, "finish_reason": "stop"}, None, ""),
}


@pytest.mark.parametrize("kind", BODIES)
def test_a_batch_is_read_as_the_reply_of_a_server_is(tmp_path: Path, kind: str) -> None:
    choice, text, ended = BODIES[kind]
    body = {"model": "m", "created": 1_760_000_000, "choices": [choice]}
    [entry] = read(written(tmp_path / "batch.jsonl", batch(body)))
    assert (entry.answer, entry.ended) == (text, ended)
    if text is not None:
        assert entry.at == "2025-10-09T08:53:20.000Z"
        assert entry.answer == read_reply(json.dumps(body).encode(), 1).choices[0].text


def test_failed_requests_have_no_answer(tmp_path: Path) -> None:
    expired = batch(None, response=None, error={"code": "batch_expired"})
    busy = batch(None, response={"status_code": 429, "body": {}})
    path = written(tmp_path / "batch.jsonl", expired, busy)
    assert log_of(path) == OPENAI
    assert [(entry.answer, entry.why) for entry in read(path)] == [(None, "the call failed")] * 2


@pytest.mark.parametrize(
    ("told", "turns"),
    [
        (sample(), (("user", ASKED),)),
        (
            sample(messages=[{"role": "system", "content": "Be brief."}, *sample()["messages"]]),
            (("system", "Be brief."), ("user", ASKED)),
        ),
        (
            sample(messages=[{"role": "user", "content": f"Arr. {ASKED}"}]),
            (("user", f"Arr. {ASKED}"),),
        ),
        (
            sample(
                messages=[{"role": "user", "content": "attachment://a"}, sample()["messages"][1]],
                attachments={"a": ASKED},
            ),
            (("user", ASKED),),
        ),
        (sample(messages=[]), (("user", ASKED),)),
    ],
)
def test_what_inspect_sent_counts_and_not_the_line_of_its_data(
    tmp_path: Path, told: Values, turns: tuple[tuple[str, str], ...]
) -> None:
    [entry] = read(written(tmp_path / "log.json", inspect_log(told)))
    assert (entry.turns, entry.answer, entry.at) == (turns, "Yes.", "2026-01-02T09:00:00.000Z")


@pytest.mark.parametrize("plan", [{}, None, {"name": "plan"}])
def test_a_log_of_inspect_is_known_without_a_name_of_its_plan(tmp_path: Path, plan: object) -> None:
    path = written(tmp_path / "log.json", {**inspect_log(sample()), "plan": plan})
    assert (log_of(path), [entry.answer for entry in read(path)]) == (INSPECT, ["Yes."])


@pytest.mark.parametrize(
    ("told", "answer", "ended"),
    [
        (sample("Agr", "max_tokens"), "Agr", CUT),
        (sample("", "content_filter"), "", FILTERED),
        (sample([THOUGHT, {"type": "text", "text": "Yes."}]), Output("hm", "Yes.").stored, ""),
        (sample([{"type": "text", "text": "No way.", "refusal": True}]), refusal("No way."), ""),
        (sample([THOUGHT], "max_tokens"), Output("hm", None).stored, CUT),
        (sample(error={"message": "boom"}), None, ""),
        (sample(output={"choices": []}), None, ""),
    ],
)
def test_how_an_answer_of_inspect_ended_is_read(
    tmp_path: Path, told: Values, answer: str | None, ended: str
) -> None:
    [entry] = read(written(tmp_path / "log.json", inspect_log(told)))
    assert (entry.answer, entry.ended) == (answer, ended)


def stored(
    path: Path, log: Values, method: int = zipfile.ZIP_DEFLATED, header: str = "header.json"
) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr(
            header, json.dumps({name: log[name] for name in ("version", "eval", "plan")})
        )
        for number, one in enumerate(log["samples"]):
            archive.writestr(f"samples/{number}_epoch_1.json", json.dumps(one))
    return path


def with_zstandard(path: Path, log: Values) -> Path:
    """Write the log as newer versions of Inspect do: each part compressed with Zstandard, which is
    method 93.
    """
    pyarrow = pytest.importorskip("pyarrow")
    stored(path, log, zipfile.ZIP_STORED)
    with zipfile.ZipFile(path) as plain:
        parts = {name: plain.read(name) for name in plain.namelist()}
    file, directory = bytearray(), bytearray()
    for name, content in parts.items():
        packed = pyarrow.compress(content, codec="zstd", asbytes=True)
        about = struct.pack(
            "<5H3I", 20, 0, 93, 0, 0, zipfile.crc32(content), len(packed), len(content)
        )  # type: ignore[attr-defined]
        lengths = struct.pack("<2H", len(name), 0)
        directory += b"PK\x01\x02" + struct.pack("<H", 20) + about + lengths
        directory += struct.pack("<3H2I", 0, 0, 0, 0, len(file)) + name.encode()
        file += b"PK\x03\x04" + about + lengths + name.encode() + packed
    end = struct.pack("<4H2IH", 0, 0, len(parts), len(parts), len(directory), len(file), 0)
    path.write_bytes(bytes(file + directory) + b"PK\x05\x06" + end)
    return path


PACKED: Mapping[str, Callable[[Path, Values], Path]] = {
    "deflated": stored,
    "not finished": lambda path, log: stored(path, log, header="_journal/start.json"),
    "Zstandard": with_zstandard,
}


@pytest.mark.parametrize("kind", PACKED)
def test_a_packed_log_is_read_without_inspect(tmp_path: Path, kind: str) -> None:
    log = inspect_log(sample(), sample("No.", id=2), config={"temperature": 0.3})
    path = PACKED[kind](tmp_path / "log.eval", log)
    assert log_of(path) == INSPECT
    plain = read(written(tmp_path / "log.json", log))
    packed = read(path)
    assert [entry.answer for entry in packed] == ["Yes.", "No."]
    assert [entry.uid for entry in packed] == [entry.uid for entry in plain], (
        "the same answers in another format"
    )
    assert packed[0].sampling == {"temperature": 0.3}


def test_a_packed_log_that_unpacks_to_too_much_is_refused_at_its_part(tmp_path: Path) -> None:
    path = stored(tmp_path / "log.eval", inspect_log(sample(), sample("x" * 2_000_000)))
    with (
        reading(most=1_000_000),
        pytest.raises(UsageError, match=r"samples/1_epoch_1\.json: unpacks to more than"),
    ):
        read(path)
    with reading(most=5_000_000):
        assert len(read(path)) == 2


def test_a_packed_log_that_is_cut_off_or_holds_no_json_is_named(tmp_path: Path) -> None:
    path = stored(tmp_path / "log.eval", inspect_log(sample()))
    with opened_archive(path) as archive:
        assert archive.names == ("header.json", "samples/0_epoch_1.json")
    with zipfile.ZipFile(path, "a") as archive_file:
        archive_file.writestr("samples/1_epoch_1.json", "{")
    with pytest.raises(InputError, match=r"samples/1_epoch_1\.json"):
        read(path)


def test_a_file_that_cannot_be_unpacked_is_no_log(tmp_path: Path) -> None:
    two_texts = tmp_path / "two.zip"
    with zipfile.ZipFile(two_texts, "w") as archive:
        archive.writestr("a.txt", "hello")
        archive.writestr("b.txt", "hello")
    cut_off = tmp_path / "cut.csv.gz"
    cut_off.write_bytes(b"\x1f\x8b and no more")
    assert (log_of(two_texts), log_of(cut_off)) == ("", "")


def test_an_answer_has_one_key_under_all_filters_of_lm_eval(tmp_path: Path) -> None:
    sampled = harness([["Yes.", "No.", "Yes."]])
    lines = [{**sampled, "filter": name} for name in ("strict-match", "flexible-extract")]
    keys = [entry.key for entry in read(written(tmp_path / "samples_t.jsonl", *lines))]
    assert keys[:3] == keys[3:]
    assert len(set(keys)) == 3, "equal answers of one prompt are several"


@pytest.mark.parametrize(
    ("resps", "answers"),
    [([[None]], [None]), ([["Yes.", None]], ["Yes.", None]), ([None, "Yes."], [None, "Yes."])],
)
def test_a_null_of_lm_eval_is_a_call_without_an_answer(
    tmp_path: Path, resps: object, answers: list[str | None]
) -> None:
    entries = read(written(tmp_path / "samples_t.jsonl", harness(resps)))
    assert [entry.answer for entry in entries] == answers
    assert [entry.why == NOT_ANSWERED for entry in entries] == [text is None for text in answers]


def test_the_messages_of_a_chat_template_of_lm_eval_are_read(tmp_path: Path) -> None:
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": ASKED}]
    arguments = {"gen_args_0": {"arg_0": [json.dumps(messages)], "arg_1": {}}}
    [entry] = read(
        written(tmp_path / "samples_t.jsonl", {**harness([["Yes."]]), "arguments": arguments})
    )
    assert (entry.turns, entry.answer) == ((("system", "Be brief."), ("user", ASKED)), "Yes.")


def test_the_model_of_lm_eval_stands_in_the_results_beside_its_samples(tmp_path: Path) -> None:
    stamp = "2026-10-01T10-00-00.123456"
    path = written(tmp_path / f"samples_t_{stamp}.jsonl", harness([["Yes."]]))
    assert (log_of(path), read(path)[0].model) == (HARNESS, "")
    arguments = {"model_args": "pretrained=org/small,dtype=float32"}
    written(tmp_path / f"results_{stamp}.json", {"config": arguments, "date": 1_760_000_000.0})
    assert (read(path)[0].model, read(path)[0].at[:10]) == ("org/small", "2025-10-09")


@pytest.mark.parametrize(
    ("name", "text", "answers"),
    [
        ("t.jsonl", json.dumps(row(answer=None)) + "\n" + json.dumps(row(answer="")), [None, ""]),
        ("t.jsonl", json.dumps(row(answer=["Yes.", "No."])), ["Yes.", "No."]),
        (
            "t.json",
            json.dumps({"rows": [row(answer=["Yes.", "No."]), row(answer=None)]}),
            ["Yes.", "No.", None],
        ),
        ("t.json", json.dumps([row(answer=["Yes.", "No."])]), ["Yes.", "No."]),
        ("t.json", json.dumps([row(answer=["Yes.", None])]), ["Yes.", None]),
        ("t.json", json.dumps([row(answer=float("nan")), row(answer="No.")]), [None, "No."]),
        ("t.json", json.dumps([row(answer=[None, "Yes."])]), [None, "Yes."]),
        (
            "t.json",
            json.dumps({"tags": ["a"], "rows": [row(answer=["Yes.", "No."])]}),
            ["Yes.", "No."],
        ),
        ("t.csv", "prompt,answer\nTaxes?,Yes.\nTaxes?,\n", ["Yes.", None]),
    ],
)
def test_no_answer_is_none_and_a_list_is_several(
    tmp_path: Path, name: str, text: str, answers: list[str | None]
) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    assert [entry.answer for entry in read(path)] == answers


def test_decimal_commas_of_a_table_are_one_fault_until_they_are_named(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    rows = [f"{ASKED};3,5;0,7;{top_p}" for top_p in ("1", "1", "0,9")]
    path.write_text("\n".join(["prompt;answer;temperature;top_p", *rows, ""]), encoding="utf-8")
    findings = Findings()
    assert read_log(path, TABLE, findings) == []
    [finding] = findings.found
    assert str(finding) == (
        "t.csv, line 2, column 'temperature': found '0,7', and 2 more such rows; expected a number "
        "from 0 to 100, with a decimal point; a table is read with decimal commas by --decimal ,"
    )
    entries = read_log(path, TABLE, Findings(), ReadSettings(decimal=","))
    assert [entry.sampling["top_p"] for entry in entries] == [1, 1, 0.9]
    assert {(entry.answer, entry.sampling["temperature"]) for entry in entries} == {("3,5", 0.7)}
