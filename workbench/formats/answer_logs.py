"""Answers of models that another program collected.

The programs write tables, OpenAI batches, lm-evaluation-harness, promptfoo and Inspect logs. All
are read into the same data: the text that was sent or its subject, the answer, the model, the
sampling and the date as far as the log has them. Nothing is made up: a parameter that is not in the
log is unknown. The text that was *sent* decides, so of an Inspect log the messages of a sample
count and not the line of its data set.

A *key* distinguishes the answers of one import: lm-evaluation-harness repeats an answer for each of
its filters, and files that were joined may have one twice. A *uid* distinguishes an answer from
every other, if a program gives it one.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any

from workbench.domain.names import placeless, plural
from workbench.domain.replies import as_chat, choice_of, entries_of, thinking_tokens_of
from workbench.domain.thinking import refusal
from workbench.errors import MissingPackage, UsageError
from workbench.formats.archives import names_in, opened_archive
from workbench.formats.log_values import (
    MOST_COUNT,
    OddValue,
    Turns,
    count_of,
    model_of,
    quoted,
    sampling_of,
    text_of,
    time_of,
    turns_of,
)
from workbench.formats.numbers import has_decimal_comma, with_point
from workbench.formats.packed import opened
from workbench.formats.records import (
    AS_IS,
    COMMA,
    FileKind,
    Findings,
    ReadSettings,
    header_of,
    json_rows,
    keys_of,
    kind_of,
    objects,
    without_repeats,
)
from workbench.formats.tabular import COMMA_HINT, Row, read_rows
from workbench.toml_files import too_deep

OPENAI, HARNESS, PROMPTFOO, INSPECT, TABLE = (
    "OpenAI batch results",
    "samples of lm-evaluation-harness",
    "promptfoo results",
    "an Inspect log",
    "a table of answers",
)
KNOWN_BY: Sequence[tuple[str, tuple[str, ...]]] = (
    (OPENAI, ("custom_id", "response.status_code")),
    (HARNESS, ("doc_id", "resps", "filtered_resps")),
    (PROMPTFOO, ("evalId", "results.version")),
    (INSPECT, ("eval.task", "plan.name")),
    (INSPECT, ("eval.task", "samples")),
)
"(program, keys by which a file of it is recognised)"
ONLY_ERRORS = ("custom_id", "response", "error.code")
"keys of a line of an OpenAI batch whose request failed, so that there is no response"
EXPORTED = "answers that workbench exported"
EXPORTED_COLUMNS = frozenset(
    {"prompt_key", "draw_id", "output_id", "label_order", "text", "count", "readings"}
)
"columns by which rows of `export --what answers` are recognised"
ABOUT = ("ref", "statement", "wording", "variant", "template", "order", "key")
PERSONA = "persona"
"the column of exported rows besides `ABOUT`: the name of the persona before the prompt"
OPTIONAL = (
    *ABOUT,
    "prompt",
    "system",
    "model",
    "at",
    "temperature",
    "top_p",
    "max_tokens",
    "count",
)
NUMBERS = ("temperature", "top_p", "max_tokens", "count")
"columns of a table of answers with numbers"
WHOLE = "the whole file as it was written"
HEADERS = ("header.json", "_journal/start.json")
"""the part of a packed Inspect log that describes the run. The second one is that of an
unfinished log."""
SAMPLES = "samples/"
STOPS = {"max_tokens": "length", "model_length": "length", "content_filter": "content_filter"}
"why an answer ended, in the words of Inspect -> in those of OpenAI"
CUT, FILTERED = "cut", "filtered"
GENERATES = ("generate", "inspect_ai/generate")
"the step of an Inspect task that sends the content of the sample as it is"
FAILED, NOT_ANSWERED = "the call failed", "the log has no answer"
DIGEST = 16
"number of bytes of a key of an answer"


@dataclass(frozen=True, slots=True)
class Logged:
    """One answer of a log."""

    place: int
    "line, row or number in the file"
    answer: str | None
    "None if the call failed or was not answered"
    model: str = ""
    turns: Turns = ()
    "as sent. A raw text has the role user."
    about: Mapping[str, str] = field(default_factory=dict)
    "some of `ABOUT`, for logs that name the statement in place of its text"
    sampling: Mapping[str, float] = field(default_factory=dict)
    "some of `PARAMETERS`"
    at: str = ""
    count: int = 1
    file: str = ""
    "name of the file"
    key: str = ""
    "distinguishes it from the others of its file, or is empty if the log has no such value"
    uid: str = ""
    "distinguishes it from the answers of every file, or is empty if the log has no such value"
    why: str = ""
    "the reason why there is no answer"
    ended: str = ""
    """`CUT` by the limit of tokens, `FILTERED` by a content filter, or empty otherwise or if not
    known"""
    fingerprint: str = ""


def log_of(path: Path, settings: ReadSettings = AS_IS) -> str:
    """Return the program that wrote a file of models' answers, or "" for another file."""
    if not path.is_file():
        return ""
    if _is_packed_log(path):
        return INSPECT
    try:
        is_json = kind_of(path) in (FileKind.JSON, FileKind.LINES)
    except UsageError:
        return ""
    if is_json and not settings.columns:
        program = _program_by_keys(set(keys_of(path)))
        if program:
            return program
    header = set(header_of(path, settings))
    if header >= EXPORTED_COLUMNS:
        return EXPORTED
    return TABLE if _is_table_of_answers(header) else ""


def _is_packed_log(path: Path) -> bool:
    """Return whether a file has the parts of an Inspect log."""
    part_names = names_in(path)
    if not part_names:
        return False
    if path.suffix == ".eval" and HEADERS[1] in part_names:
        return True
    has_header = any(name in part_names for name in HEADERS)
    return has_header and any(name.startswith(SAMPLES) for name in part_names)


def _program_by_keys(keys: set[str]) -> str:
    """Return the program that writes JSON with these keys, or an empty string if none does."""
    for program, known_keys in KNOWN_BY:
        if keys.issuperset(known_keys):
            return program
    return OPENAI if keys.issuperset(ONLY_ERRORS) else ""


def _is_table_of_answers(header: set[str]) -> bool:
    """Return whether the columns have answers, and the prompt or its statement and template."""
    if "answer" not in header or "respondent" in header:
        return False
    if "prompt" in header:
        return True
    return "template" in header and not header.isdisjoint(("ref", "statement", "wording"))


def read_log(
    path: Path,
    program: str,
    findings: Findings,
    settings: ReadSettings = AS_IS,
    most_count: int = MOST_COUNT,
) -> list[Logged]:
    """Return the answers of a log. Every fault is noted in `findings`.

    `most_count` is the largest number of answers that one row may stand for.
    """
    if program == TABLE:
        return _named(path, _answers_of_table(path, findings, settings, most_count))
    if program == EXPORTED:
        return _named(path, _answers_of_export(path, findings, settings, most_count))
    if program == HARNESS:
        about = _about_harness(path)
        return _named(
            path, _read(path, program, partial(_harness, about), objects(path, findings), findings)
        )
    if program == OPENAI:
        return _named(path, _read(path, program, _openai, objects(path, findings), findings))
    if program == PROMPTFOO:
        return _named(path, _read(path, program, _promptfoo, _results(path, findings), findings))
    return _named(path, _read(path, program, _inspect, _samples(path, findings), findings))


def _named(path: Path, logged: Iterator[Logged]) -> list[Logged]:
    return [replace(entry, file=path.name) for entry in logged]


def _read(
    path: Path,
    program: str,
    reader: Callable[[int, Any], Iterator[Logged]],
    entries: Iterator[tuple[int, Any]],
    findings: Findings,
) -> Iterator[Logged]:
    """Yield the answers of each entry of a log. An entry with a fault is noted and has none."""
    for place, entry in entries:
        try:
            yield from list(reader(place, entry))
        except OddValue as error:
            findings.add(path, place, error.field, error.found, error.expected)
        except (
            KeyError,
            TypeError,
            AttributeError,
            IndexError,
            ValueError,
            OverflowError,
            RecursionError,
        ) as error:
            findings.add(path, place, None, f"no entry of {program} ({error!r:.60})", WHOLE)


def _digest(*parts: object) -> str:
    """Return a short text that distinguishes these values from others."""
    return blake2b(json.dumps(parts, default=str).encode(), digest_size=DIGEST).hexdigest()


# ── tables ────────────────────────────────────────────────────────────────────────────────────────


def _answers_of_table(
    path: Path, findings: Findings, settings: ReadSettings, most_count: int
) -> Iterator[Logged]:
    """Yield the answers of a table. Numbers with a decimal comma are one fault for each column."""
    needed = ("answer",)
    rows = read_rows(
        path,
        findings,
        required=needed,
        optional=OPTIONAL,
        may_be_empty=needed,
        any_columns=True,
        settings=replace(settings, decimal=""),
    )
    if settings.decimal == COMMA:  # of numbers alone: prompts and answers are texts
        rows = [_with_points(row) for row in rows]
    values = _answer_values(path, settings)
    faults_by_column: dict[str, list[tuple[int, OddValue]]] = {}
    for row in rows:
        try:
            yield from _of_row(row, values, most_count)
        except OddValue as error:
            if error.field in NUMBERS and has_decimal_comma(row.get(error.field)):
                faults_by_column.setdefault(error.field, []).append((row.line, error))
            else:
                findings.add(path, row.line, error.field, error.found, error.expected)
    for column, faults in faults_by_column.items():
        line, first_fault = faults[0]
        remainder = f", and {plural(len(faults) - 1, 'more such row')}" if len(faults) > 1 else ""
        findings.add(
            path, line, column, first_fault.found + remainder, first_fault.expected + COMMA_HINT
        )


def _with_points(row: Row) -> Row:
    """Return a row whose parameters of the sampling have a decimal point."""
    cells = {
        name: with_point(cell) if name in NUMBERS else cell for name, cell in row.cells.items()
    }
    return replace(row, cells=cells)


def _of_row(row: Row, values: Mapping[int, object] | None, most_count: int) -> Iterator[Logged]:
    about = {name: row.get(name) for name in ABOUT if row.get(name)}
    turns = [("system", row.cells["system"])] if row.get("system") else []
    turns += [("user", row.cells["prompt"])] if row.get("prompt") else []
    entry = Logged(
        row.line,
        None,
        model=model_of(row.get("model")),
        turns=tuple(turns),
        about=about,
        sampling=sampling_of(
            {name: row.get(name) for name in ("temperature", "top_p", "max_tokens")}
        ),
        at=time_of("at", row.get("at")),
        count=count_of(row.get("count"), most_count),
        why=NOT_ANSWERED,
    )
    for answer in _answers_of(row, values):
        yield replace(entry, answer=answer, why="" if answer is not None else NOT_ANSWERED)


def _answers_of(row: Row, values: Mapping[int, object] | None) -> Sequence[str | None]:
    """Return the answers of a row.

    An empty cell is none, in a file that cannot distinguish a missing value from an empty text. A
    list of texts, in JSON, is several answers. A null in it is a call without one. Raises OddValue
    for other values.
    """
    text = row.cells["answer"]
    if values is None:
        return [text] if text.strip() else [None]
    value = values.get(row.line, text)
    if value is None:
        return [None]
    if isinstance(value, list):
        return [None if item is None else text_of("answer", item) for item in value] or [None]
    if isinstance(value, dict):
        raise OddValue("answer", quoted(value), "a text, or a list of texts")
    return [text_of("answer", text)]


def _answer_values(path: Path, settings: ReadSettings) -> Mapping[int, object] | None:
    """Return the null, list and object answers of a JSON table, by the number of their row.

    The answer is None for a file that is not JSON.
    """
    if kind_of(path) not in (FileKind.LINES, FileKind.JSON):
        return None
    column = next(
        (name for name, our_name in settings.columns.items() if our_name == "answer"), "answer"
    )
    values: dict[int, object] = {}
    for place, row in json_rows(path, settings):
        value: object = row
        for name in (column,) if column in row else column.split("."):
            value = value.get(name, "") if isinstance(value, dict) else ""
        if isinstance(value, float) and math.isnan(value):
            value = None  # as pandas and Python write a missing value
        if value is None or isinstance(value, (list, dict)):
            values[place] = value
    return values


# ── rows that workbench exported ──────────────────────────────────────────────────────────────────


def _answers_of_export(
    path: Path, findings: Findings, settings: ReadSettings, most_count: int
) -> Iterator[Logged]:
    """Yield the answers in a file of exported rows.

    The key of a prompt alone identifies the question. An answer that belongs to several cells of a
    design has a row in each of them, and counts once.
    """
    rows = read_rows(
        path,
        findings,
        required=("prompt_key", "draw_id", "output_id"),
        optional=(
            "text",
            "model",
            "count",
            "truncated",
            "temperature",
            "top_p",
            "max_new_tokens",
            "time",
        ),
        any_columns=True,
        guarded=kind_of(path) is FileKind.TEXT,
        settings=replace(settings, exact=True),
    )
    n_rows_by_cell: Counter[tuple[str, ...]] = Counter()
    for row in rows:
        cell = tuple(row.get(name) for name in _CELL)
        n_rows_by_cell[cell] += 1  # rows of --expand repeat
        key = " ".join((*cell[:2], str(n_rows_by_cell[cell])))
        try:
            yield _logged_row(row, key, most_count)
        except OddValue as error:
            findings.add(path, row.line, error.field, error.found, error.expected)


_CELL = (
    "draw_id",
    "output_id",
    "audit",
    "instrument",
    "statement",
    "statement_version",
    "variant",
    "factors",
    "language",
    "template_family",
    "template",
    "label_order",
)
"the columns of exported rows that name an answer and its cell of the design"


def _logged_row(row: Row, key: str, most_count: int) -> Logged:
    """Return the answer of an exported row. Raises OddValue if a cell cannot be read."""
    is_cut = row.get("truncated") == "true"
    about = {"key": row.get("prompt_key"), PERSONA: row.get("stands_before")}
    parameters = {name: row.get(name) for name in ("temperature", "top_p", "max_new_tokens")}
    return Logged(
        row.line,
        None if is_cut else row.cells["text"],
        model=model_of(row.get("model").removeprefix("imported:")),
        about={name: value for name, value in about.items() if value},
        sampling=sampling_of(parameters, {"max_new_tokens": "max_tokens"}),
        at=time_of("time", row.get("time")),
        count=count_of(row.get("count"), most_count),
        key=key,
        why="the output ended within its thought" if is_cut else "",
    )


# ── OpenAI ────────────────────────────────────────────────────────────────────────────────────────


def _openai(place: int, line: Any) -> Iterator[Logged]:
    """Yield the answers of a line of a batch's output, read like a reply of a server.

    `custom_id` names the subject, as `ref|variant|template|order|key`.
    """
    response = line.get("response")
    if line.get("error") or not isinstance(response, dict) or response.get("status_code") != 200:
        yield Logged(place, None, why=FAILED)
        return
    custom_id = text_of("custom_id", line["custom_id"])
    about = dict(
        zip(("ref", "variant", "template", "order", "key"), custom_id.split("|"), strict=False)
    )
    body = as_chat(response["body"])
    entries = entries_of(body)
    if not entries:
        yield Logged(place, None, why=NOT_ANSWERED)
    request = line.get("id")
    for number, entry in enumerate(entries):
        choice = choice_of(entry, hidden_thought=thinking_tokens_of(body) > 0)
        if choice is None:
            yield Logged(place, None, why=NOT_ANSWERED)
            continue
        key = _digest(request, custom_id, number)
        yield Logged(
            place,
            text_of("choices", choice.text),
            model=placeless(model_of(body.get("model"))),
            about=about,
            at=time_of("created", body.get("created")),
            key=key,
            uid=key if request else "",
            ended=_ended(cut=choice.cut, filtered=choice.filtered),
            fingerprint=model_of(body.get("system_fingerprint"), "system_fingerprint"),
        )


def _ended(*, cut: bool, filtered: bool) -> str:
    if filtered:
        return FILTERED
    return CUT if cut else ""


# ── lm-evaluation-harness ─────────────────────────────────────────────────────────────────────────

_STAMP = re.compile(r"_(\d{4}-\d\d-\d\dT\d\d[-:]\d\d[-:]\d\d(?:\.\d+)?)\.jsonl$")
_MODEL_ARGUMENTS = ("pretrained", "model", "path", "engine")
"arguments of lm-evaluation-harness that name a model"
MOST_RESULTS = 2**26
"limit in bytes for the file of results beside the samples"


@dataclass(frozen=True, slots=True)
class _Harness:
    """The data of a run in the file of results beside the samples."""

    model: str = ""
    at: str = ""


def _harness(run: _Harness, place: int, sample: Any) -> Iterator[Logged]:
    """Yield the answers of a sample of `generate_until`. The prompt is that of its one request."""
    arguments = sample.get("arguments") or {}
    request = (list(arguments.values()) if isinstance(arguments, dict) else arguments)[0]
    prompt, settings = (
        (request["arg_0"], request.get("arg_1"))
        if isinstance(request, dict)
        else (request[0], request[1])
    )
    if not isinstance(settings, dict):
        raise OddValue(
            "arguments",
            "a request without settings",
            "samples of a task with output_type generate_until",
        )
    numbers = sampling_of(settings, {"max_gen_toks": "max_tokens"})
    turns = turns_of("arguments", prompt)
    key = _digest(sample["doc_id"], turns, sample["resps"])
    for number, answer in enumerate(_responses(sample["resps"])):
        yield Logged(
            place,
            answer,
            model=run.model,
            turns=turns,
            sampling=numbers,
            at=run.at,
            key=f"{key} {number}",
            why=NOT_ANSWERED if answer is None else "",
        )


def _responses(resps: object) -> Iterator[str | None]:
    """Yield the answers of a sample, which are a list of texts or of lists of texts.

    A null is no answer. Raises OddValue for other values.
    """
    expected = "a list with the texts that the model generated"
    if not isinstance(resps, list):
        raise OddValue("resps", quoted(resps), expected)
    for answers in resps:
        for answer in answers if isinstance(answers, list) else [answers]:
            if answer is not None and not isinstance(answer, str):
                raise OddValue("resps", quoted(answer), expected)
            yield None if answer is None else text_of("resps", answer)


def _about_harness(path: Path) -> _Harness:
    """Return the data of the run that lm-evaluation-harness wrote beside the samples.

    They are in `results_TIME.json`, beside `samples_TASK_TIME.jsonl`.
    """
    stamp = _STAMP.search(path.name)
    if stamp is None:
        return _Harness()
    results_path = path.with_name(f"results_{stamp[1]}.json")
    try:
        if (
            results_path.is_symlink()
            or not results_path.is_file()
            or results_path.stat().st_size > MOST_RESULTS
        ):
            return _Harness()
        results = json.loads(results_path.read_bytes())
        config = results.get("config") or {}
        name = (
            results.get("model_name")
            or config.get("model_name")
            or _model_argument(config.get("model_args"))
        )
        return _Harness(model_of(name), time_of("date", results.get("date")))
    except (OSError, ValueError, AttributeError, RecursionError):
        return _Harness()


def _model_argument(arguments: object) -> str:
    """Return the name of the model in the arguments of a run.

    They are a mapping, or a text such as `pretrained=NAME,dtype=float32`.
    """
    if isinstance(arguments, str):
        pairs = [argument.partition("=") for argument in arguments.split(",")]
        arguments = {name.strip(): value.strip() for name, _, value in pairs}
    if not isinstance(arguments, dict):
        return ""
    return next((str(arguments[name]) for name in _MODEL_ARGUMENTS if arguments.get(name)), "")


# ── promptfoo ─────────────────────────────────────────────────────────────────────────────────────


def _results(path: Path, findings: Findings) -> Iterator[tuple[int, Any]]:
    """Yield (number, (evaluation, result)) for each result of each evaluation in the file."""
    for _, evaluation in objects(path, findings):
        results = evaluation.get("results") if isinstance(evaluation, dict) else None
        entries = results.get("results") if isinstance(results, dict) else None
        if not isinstance(entries, list):
            findings.add(path, None, "results", f"no entry of {PROMPTFOO}", WHOLE)
            return
        yield from (
            (number, (evaluation, result)) for number, result in enumerate(entries, start=1)
        )


def _promptfoo(place: int, entry: Any) -> Iterator[Logged]:
    evaluation, result = entry
    response = result.get("response") or {}
    output = response.get("output")
    if output is None or response.get("error"):
        yield Logged(
            place,
            None,
            why=FAILED if result.get("error") or response.get("error") else NOT_ANSWERED,
        )
        return
    provider = result.get("provider") or {}
    config = provider.get("config") or {} if isinstance(provider, dict) else {}
    text = text_of("output", output if isinstance(output, str) else json.dumps(output))
    uid = _digest(evaluation.get("evalId"), result["id"]) if result.get("id") else ""
    yield Logged(
        place,
        refusal(text) if response.get("isRefusal") else text,
        model=model_of(provider.get("id") if isinstance(provider, dict) else provider, "provider"),
        turns=turns_of("prompt", result["prompt"]["raw"]),
        sampling=sampling_of(config if isinstance(config, dict) else {}),
        at=time_of("timestamp", evaluation["results"].get("timestamp")),
        key=uid,
        uid=uid,
        ended=_ended(
            cut=response.get("finishReason") == "length",
            filtered=response.get("finishReason") == "content_filter",
        ),
    )


# ── Inspect ───────────────────────────────────────────────────────────────────────────────────────


def _samples(path: Path, findings: Findings) -> Iterator[tuple[int, Any]]:
    """Yield the number of each sample of a log, with the header of the log and the sample.

    The samples of a packed log are read one at a time.
    """
    if names_in(path):
        yield from _packed_samples(path, findings)
        return
    for _, log in objects(path, findings):
        if not isinstance(log, dict):
            findings.add(path, None, None, f"no entry of {INSPECT}", WHOLE)
            return
        yield from (
            (number, (log, sample))
            for number, sample in enumerate(log.get("samples") or (), start=1)
        )


def _packed_samples(path: Path, findings: Findings) -> Iterator[tuple[int, Any]]:
    findings.counted[path.name] = "sample"
    with opened_archive(path) as archive:
        name = next((name for name in HEADERS if name in archive.names), "")
        header = _part(path, name, archive.read(name), findings) if name else None
        if header is None:
            findings.add(path, None, None, "a packed Inspect log without a header", WHOLE)
            return
        names = [
            name for name in archive.names if name.startswith(SAMPLES) and name.endswith(".json")
        ]
        for number, name in enumerate(names, start=1):
            sample = _part(path, name, archive.read(name), findings)
            if sample is not None:
                yield number, (header, sample)


def _part(path: Path, name: str, content: bytes, findings: Findings) -> Any:
    """Return a part of a packed log, or None, with a note, if it is not JSON."""
    try:
        value = json.loads(content, object_pairs_hook=without_repeats)
        if not too_deep(value):
            return value
        fault = "nested too deeply"
    except (ValueError, RecursionError) as error:
        fault = f"{error}"[:60]
    findings.add(path, None, name, f"what is not JSON ({fault})", WHOLE)
    return None


def _inspect(place: int, entry: Any) -> Iterator[Logged]:
    log, sample = entry
    evaluation, plan = log["eval"], log.get("plan") or {}
    if sample.get("error"):
        yield Logged(place, None, why=FAILED)
        return
    output = sample.get("output") or {}
    choices = output.get("choices") or ()
    if not choices:
        yield Logged(place, None, why=FAILED if output.get("error") else NOT_ANSWERED)
        return
    parameters = _parameters(evaluation, plan)
    turns = _sent(sample, plan)
    run_id = _run_id(sample, evaluation)
    for number, choice in enumerate(choices):
        ended = STOPS.get(str(choice.get("stop_reason")), "stop")
        message = _resolved(choice["message"], sample.get("attachments") or {})
        parsed = choice_of({"message": message, "finish_reason": ended})
        if parsed is None:
            yield Logged(place, None, why=NOT_ANSWERED)
            continue
        text = text_of("output", parsed.text)
        key = ""
        if run_id:
            key = _digest(run_id, sample.get("id"), sample.get("epoch"), number, turns, text)
        yield Logged(
            place,
            text,
            model=model_of(evaluation["model"]),
            turns=turns,
            about={} if turns else _subject_of(sample),
            sampling=sampling_of(parameters),
            at=time_of("started_at", sample.get("started_at") or evaluation.get("created")),
            key=key,
            uid=key,
            ended=_ended(cut=parsed.cut, filtered=parsed.filtered),
        )


def _parameters(evaluation: Any, plan: Any) -> dict[str, Any]:
    """Return the parameters of the sampling. Those of the plan replace those of the model."""
    parameters = {**(evaluation.get("model_generate_config") or {})}
    for name, value in (plan.get("config") or {}).items():
        if value is not None:
            parameters[name] = value
    return parameters


def _run_id(sample: Any, evaluation: Any) -> Any:
    """Return the most exact id of the run of a sample, or None if the log has no id."""
    return (
        sample.get("uuid")
        or evaluation.get("task_id")
        or evaluation.get("eval_id")
        or evaluation.get("run_id")
    )


def _subject_of(sample: Any) -> dict[str, str]:
    """Return the columns by which the metadata of a sample name its statement."""
    metadata = sample.get("metadata") or {}
    return {name: str(metadata[name]) for name in ABOUT if metadata.get(name)}


def _sent(sample: Any, plan: Any) -> Turns:
    """Return the messages that were sent: those before the last message of the assistant.

    A sample without messages has been sent its input, unless a step of the task may have changed
    it. Raises OddValue in that case.
    """
    attachments = sample.get("attachments") or {}
    messages = sample.get("messages") or []
    if messages:
        turns = turns_of("messages", _resolved(messages, attachments))
        last = max(
            (index for index, (role, _) in enumerate(turns) if role == "assistant"),
            default=len(turns),
        )
        return turns[:last]
    steps = {str(step.get("solver")) for step in plan.get("steps") or ()}
    if steps - set(GENERATES):
        raise OddValue(
            "messages", "none, in a task that changes its input", "the messages that were sent"
        )
    return turns_of("input", _resolved(sample["input"], attachments))


def _resolved(value: Any, attachments: Mapping[str, Any]) -> Any:
    """Return a value of a sample with the texts that Inspect stores apart in their places."""
    if not attachments:
        return value
    if isinstance(value, str):
        name = value.removeprefix("attachment://")
        return attachments.get(name, value) if name != value else value
    if isinstance(value, list):
        return [_resolved(item, attachments) for item in value]
    if isinstance(value, dict):
        return {name: _resolved(item, attachments) for name, item in value.items()}
    return value


# ── folders ───────────────────────────────────────────────────────────────────────────────────────

ENDINGS = (".eval", ".json", ".jsonl")
"the suffixes of files that programs write into a folder"
BESIDE = ("results_", "logs.json", "eval-set.json")
"the beginnings of the names of files that programs write beside their logs"
DEEPEST = 3
"depth of folders within folders that are read"
MOST_SEEN = 3000
"number of entries of a folder, and of those within it, that are inspected for logs"
LOOKED_AT = 2**16
_SIGNS: Mapping[str, tuple[bytes, ...]] = {
    "Inspect": (b'"eval"', b'"task"'),
    "lm-eval": (b'"doc_id"', b'"arguments"'),
    "promptfoo": (b'"evalId"',),
    "OpenAI": (b'"custom_id"', b'"response"'),
}
"texts in the beginning of a log, by program"


def logs_in(folder: Path) -> list[Path]:
    """Return the logs of answers in a folder and its subfolders, in the order of their names."""
    return sorted(path for path in _entries_in(folder) if _looks_like_log(path))


def has_logs(folder: Path) -> bool:
    """Return whether a folder, or one of those within it, has a log among its first entries."""
    return any(map(_looks_like_log, islice(_entries_in(folder), MOST_SEEN)))


def _entries_in(folder: Path) -> Iterator[Path]:
    """Yield the entries of a folder, then those of its subfolders.

    Hidden entries and links are passed over.
    """
    folders = deque([(folder, 1)])
    while folders:
        current_folder, depth = folders.popleft()
        with suppress(OSError):
            for path in sorted(current_folder.iterdir()):
                if path.name.startswith(".") or path.is_symlink():
                    continue
                if depth < DEEPEST and path.is_dir():
                    folders.append((path, depth + 1))
                yield path


def _looks_like_log(path: Path) -> bool:
    """Return whether the beginning of a file is that of a log.

    Tables are none, since they may contain anything.
    """
    if path.suffix not in ENDINGS or path.name.startswith(BESIDE) or not path.is_file():
        return False
    if path.suffix == ".eval":
        return bool(names_in(path))
    try:
        with opened(path) as file:
            begin = file.read(LOOKED_AT)
    except (UsageError, MissingPackage, OSError):
        return False
    return any(all(marker in begin for marker in markers) for markers in _SIGNS.values())
