"""Answers of models that another program collected: tables, OpenAI batches, lm-evaluation-harness, promptfoo, Inspect.

Each gives the same: what was sent or what it was about, the answer, the model, the sampling and the date as far as the
log has them. Nothing is made up: a parameter that is not in the log is unknown.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

from workbench.errors import MissingPackage
from workbench.formats.records import AS_IS, Findings, How, Kind, header_of, keys_of, kind_of, objects
from workbench.formats.tabular import read_rows

OPENAI, HARNESS, PROMPTFOO, INSPECT, TABLE = (
    "OpenAI batch results",
    "samples of lm-evaluation-harness",
    "promptfoo results",
    "an Inspect log",
    "a table of answers",
)
KNOWN_BY: Mapping[str, tuple[str, ...]] = {
    OPENAI: ("custom_id", "response.status_code"),
    HARNESS: ("doc_id", "resps", "filtered_resps"),
    PROMPTFOO: ("evalId", "results.version"),
    INSPECT: ("eval.task", "plan.name"),
}
"keys by which a file is known"
ABOUT = ("ref", "statement", "variant", "template", "order", "key")
OPTIONAL = (*ABOUT, "prompt", "system", "model", "at", "temperature", "top_p", "count")
PARAMETERS = ("temperature", "top_p", "max_tokens")
WHOLE = "the whole file as it was written"


@dataclass(frozen=True, slots=True)
class Logged:
    """One answer as a log has it."""

    place: int
    "line, row or number in the file"
    answer: str | None
    "None: the call failed, or was not answered"
    model: str = ""
    turns: tuple[tuple[str, str], ...] = ()
    "(role, text) as sent; a raw text has the role user"
    about: Mapping[str, str] = field(default_factory=dict)
    "some of `ABOUT`, for logs that name what was asked in place of its text"
    sampling: Mapping[str, float] = field(default_factory=dict)
    "some of `PARAMETERS`"
    at: str = ""
    count: int = 1


def log_of(path: Path, how: How = AS_IS) -> str:
    """Return what a file of models' answers is called; "" where it is none."""
    if not path.is_file():
        return ""
    try:
        with ZipFile(path) as held:
            names = held.namelist()
        if "header.json" in names and any(name.startswith("samples/") for name in names):
            return INSPECT
    except (OSError, BadZipFile):
        pass
    if kind_of(path) in (Kind.JSON, Kind.LINES) and not how.columns:
        keys = set(keys_of(path))
        if found := next((what for what, known in KNOWN_BY.items() if set(known) <= keys), ""):
            return found
    header = set(header_of(path, how))
    about = "prompt" in header or ("template" in header and header & {"ref", "statement"})
    return TABLE if "answer" in header and about and "respondent" not in header else ""


def read_log(path: Path, program: str, findings: Findings, how: How = AS_IS) -> list[Logged]:
    """Return the answers of a log; every fault is noted. Raises MissingPackage for a packed Inspect log."""
    if program == TABLE:
        return list(_of_table(path, findings, how))
    read: Mapping[str, Callable[[int, Any], Iterator[Logged]]] = {OPENAI: _openai, HARNESS: _harness}
    found: list[Logged] = []
    for place, one in _objects(path, program, findings):
        try:
            found += read[program](place, one) if program in read else [*_WHOLE[program](one)]
        except (KeyError, TypeError, AttributeError, IndexError, ValueError, OverflowError, RecursionError) as error:
            findings.add(path, place, None, f"no entry of {program} ({error!r:.60})", WHOLE)
    return found


def _objects(path: Path, program: str, findings: Findings) -> Iterator[tuple[int, Any]]:
    if program == INSPECT and kind_of(path) not in (Kind.JSON, Kind.LINES):
        try:
            yield 1, _unpacked(path)
        except MissingPackage:
            raise
        except Exception as error:  # what the library's parts raise of a damaged file
            findings.add(path, None, None, f"a log that Inspect cannot read ({error!r:.60})", WHOLE)
        return
    yield from objects(path, findings)


def _unpacked(path: Path) -> Any:
    """Return a packed Inspect log as the JSON that it stands for, by Inspect's own library."""
    try:
        from inspect_ai.log import read_eval_log
    except ImportError as error:
        raise MissingPackage(
            f"{path}: a packed Inspect log needs the package inspect-ai (pip install inspect-ai); or convert it: "
            "inspect log convert --to json"
        ) from error
    return json.loads(read_eval_log(str(path)).model_dump_json())


def _of_table(path: Path, findings: Findings, how: How) -> Iterator[Logged]:
    needed = ("answer",)
    rows = read_rows(path, findings, required=needed, optional=OPTIONAL, may_be_empty=needed, any_columns=True, how=how)
    for row in rows:
        said = {name: row.get(name) for name in ABOUT if row.get(name)}
        turns = [("system", row.cells["system"])] if row.get("system") else []
        turns += [("user", row.cells["prompt"])] if row.get("prompt") else []
        numbers: dict[str, float] = {}
        for name in ("temperature", "top_p", "count"):
            if text := row.get(name):
                try:
                    numbers[name] = float(text)
                except ValueError:
                    findings.add(path, row.line, name, repr(text), "a number")
        count = numbers.pop("count", 1.0)
        if count < 1 or not count.is_integer():
            findings.add(path, row.line, "count", f"{count:g}", "a whole number from 1")
            continue
        yield Logged(
            row.line, row.cells["answer"], row.get("model"), tuple(turns), said, numbers, row.get("at"), int(count)
        )


def _openai(place: int, one: Any) -> Iterator[Logged]:
    """A line of a batch's output; `custom_id` says what it was about, as `ref|variant|template|order|key`."""
    if one.get("error") or one["response"]["status_code"] != 200:
        yield Logged(place, None)
        return
    body = one["response"]["body"]
    about = dict(zip(("ref", "variant", "template", "order", "key"), str(one["custom_id"]).split("|"), strict=False))
    for choice in body["choices"]:
        text = choice["message"]["content"] if "message" in choice else choice["text"]
        yield Logged(place, str(text or ""), str(body.get("model", "")), (), about)


def _harness(place: int, one: Any) -> Iterator[Logged]:
    """A sample of `generate_until`; the prompt is that of its one request."""
    arguments = one.get("arguments") or {}
    first = (list(arguments.values()) if isinstance(arguments, dict) else arguments)[0]
    prompt, told = (first["arg_0"], first.get("arg_1")) if isinstance(first, dict) else (first[0], first[1])
    numbers = _numbers(told if isinstance(told, dict) else {}, {"max_gen_toks": "max_tokens"})
    for answers in one["resps"]:
        for answer in answers if isinstance(answers, list) else [answers]:
            yield Logged(place, str(answer), "", _turns(prompt), {}, numbers)


def _promptfoo(one: Any) -> Iterator[Logged]:
    for place, result in enumerate(one["results"]["results"], start=1):
        output = (result.get("response") or {}).get("output")
        if output is None:
            yield Logged(place, None)
            continue
        provider = result.get("provider") or {}
        numbers = _numbers(provider.get("config") or {}, {}) if isinstance(provider, dict) else {}
        name = provider.get("id", "") if isinstance(provider, dict) else str(provider)
        turns = _turns(result["prompt"]["raw"])
        yield Logged(place, output if isinstance(output, str) else json.dumps(output), name, turns, {}, numbers)


def _inspect(one: Any) -> Iterator[Logged]:
    held = one["eval"]
    numbers = _numbers((one.get("plan") or {}).get("config") or {}, {})
    for place, sample in enumerate(one.get("samples") or (), start=1):
        choices = (sample.get("output") or {}).get("choices") or ()
        if not choices:
            yield Logged(place, None)
        for choice in choices:
            told = sample["input"]
            turns = _turns(told if isinstance(told, str) else [(part["role"], _text(part["content"])) for part in told])
            meta = sample.get("metadata") or {}
            about = {name: str(meta[name]) for name in ABOUT if meta.get(name)}
            yield Logged(place, _text(choice["message"]["content"]), str(held["model"]), turns, about, numbers,
                         str(held.get("created") or ""))  # fmt: skip


_WHOLE: Mapping[str, Callable[[Any], Iterator[Logged]]] = {PROMPTFOO: _promptfoo, INSPECT: _inspect}
"programs that write one object"


def _turns(prompt: object) -> tuple[tuple[str, str], ...]:
    """Return the turns of a prompt: a text, a list of messages, or one as JSON."""
    if isinstance(prompt, str) and prompt.lstrip().startswith("[{"):
        with suppress(ValueError):
            prompt = json.loads(prompt)
    if isinstance(prompt, str):
        return (("user", prompt),)
    parts: Sequence[Any] = prompt if isinstance(prompt, list) else []
    return tuple((str(one["role"]), _text(one["content"])) if isinstance(one, dict) else one for one in parts)


def _text(content: object) -> str:
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) if isinstance(part, dict) else str(part) for part in content)
    return str(content or "")


def _numbers(told: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, float]:
    found = {names.get(name, name): value for name, value in told.items()}
    return {name: float(found[name]) for name in PARAMETERS if isinstance(found.get(name), (int, float))}
