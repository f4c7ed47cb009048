"""The values of a log of answers, checked where they enter: numbers, times, names, turns and texts.

Every reader of `answer_logs` takes its values from here, so what one program may not write, none
may.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, TypeAlias

from workbench.formats.numbers import finite_number
from workbench.formats.records import is_text

Turns: TypeAlias = tuple[tuple[str, str], ...]
"(role, text) of each message"

PARAMETERS = ("temperature", "top_p", "max_tokens")
HOTTEST = 100.0
"no provider takes a temperature above 2; some local engines do"
MOST_TOKENS = 10**9
MOST_COUNT = 10_000
"answers that one row may stand for, unless a person allows more"
LARGEST_COUNT = 10**9
LONGEST_NAME = 200
"bytes of the name of a model: longer ones have no room on a screen and in the names of files"
EARLIEST, LATEST = 2000, 2100
"years of an answer of a model"
ROLES = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
}
"role in a log -> role here: developer is OpenAI's newer word for system"
SHOWN = 40
"characters of a faulty value that are quoted"


class OddValue(ValueError):
    """A value that cannot be right: in which field, what was found and what is expected."""

    def __init__(self, field: str, found: str, expected: str) -> None:
        super().__init__(f"{field}: found {found}; expected {expected}")
        self.field, self.found, self.expected = field, found, expected


def quoted(value: object) -> str:
    """Return a value as a message shows it."""
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"


def sampling_of(
    told: Mapping[str, Any], names: Mapping[str, str] | None = None
) -> dict[str, float]:
    """Return the parameters that a log states. `names`: the log's name of a parameter -> ours.
    Raises OddValue.
    """
    ours = names or {}
    numbers: dict[str, float] = {}
    for field, value in told.items():
        name = ours.get(field, field)
        if name not in PARAMETERS or value is None or value == "":
            continue
        numbers[name] = (
            _tokens(field, value) if name == "max_tokens" else _share_or_heat(field, value, name)
        )
    return numbers


def _share_or_heat(field: str, value: object, name: str) -> float:
    most = HOTTEST if name == "temperature" else 1.0
    number = finite_number(value, low=0, high=most)
    if number is None:
        raise OddValue(field, quoted(value), f"a number from 0 to {most:g}")
    return number


def _tokens(field: str, value: object) -> float:
    number = finite_number(value, low=1, high=MOST_TOKENS, whole=True)
    if number is None:
        raise OddValue(field, quoted(value), f"a whole number of tokens from 1 to {MOST_TOKENS:,}")
    return number


def count_of(value: object, most: int = MOST_COUNT) -> int:
    """Return how many answers a row stands for; an empty value is one. Raises OddValue."""
    if value in (None, ""):
        return 1
    number = finite_number(value, low=1, high=LARGEST_COUNT, whole=True)
    if number is None:
        raise OddValue("count", quoted(value), f"a whole number from 1 to {LARGEST_COUNT:,}")
    if number > most:
        raise OddValue(
            "count",
            f"{int(number):,}",
            f"at most {most:,} answers in a row; --most-count allows more",
        )
    return int(number)


def time_of(field: str, value: object) -> str:
    """Return a time in UTC, `2026-01-31T12:00:00.000Z`, or an empty text if a log states none.
    Raises OddValue.

    Seconds since 1970 are a time, too. A time without a zone is taken for UTC.
    """
    if value in (None, ""):
        return ""
    try:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            moment = datetime.fromtimestamp(value, UTC)
        else:
            moment = datetime.fromisoformat(str(value).strip())
            moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        moment = None
    if moment is None or not EARLIEST <= moment.year < LATEST:
        raise OddValue(field, quoted(value), "a time such as 2026-01-31T12:00:00Z")
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def model_of(value: object, field: str = "model") -> str:
    """Return the name of a model, or an empty text if a log has none. Raises OddValue."""
    if value is None:
        return ""
    name = value.strip() if isinstance(value, str) else ""
    if not isinstance(value, str) or not name.isprintable():
        raise OddValue(field, quoted(value), "the name of a model, of characters that show")
    if len(name.encode("utf-8", "surrogatepass")) > LONGEST_NAME:
        raise OddValue(
            field,
            f"a name of {len(name.encode('utf-8', 'surrogatepass')):,} bytes ({quoted(name)})",
            f"at most {LONGEST_NAME} bytes; --model gives another name",
        )
    return name


def text_of(field: str, value: object) -> str:
    """Return a text that the store can hold. Raises OddValue."""
    if not isinstance(value, str):
        raise OddValue(field, quoted(value), "a text")
    if not is_text(value):
        raise OddValue(field, "a NUL or half a surrogate pair", "text that UTF-8 can hold")
    return value


def content_of(field: str, content: object) -> str:
    """Return the text of a message: a text, or the texts of its parts. What is no text stays
    visible as `[image]`.
    """
    if content is None:
        return ""
    if isinstance(content, str):
        return text_of(field, content)
    if not isinstance(content, list):
        raise OddValue(field, quoted(content), "a text, or a list of parts")
    texts = []
    for part in content:
        if isinstance(part, str):
            texts.append(text_of(field, part))
        elif not isinstance(part, dict):
            raise OddValue(field, f"a part {quoted(part)}", "parts with a type and a text")
        elif isinstance(part.get("text"), str):
            texts.append(text_of(field, part["text"]))
        elif part.get("type") not in ("reasoning", "thinking"):
            texts.append(f"[{part.get('type', 'unknown')}]")
    return "".join(texts)


def turns_of(field: str, prompt: object) -> Turns:
    """Return the messages of a prompt: a text, a list of messages, or such a list as JSON. Raises
    OddValue.

    lm-evaluation-harness writes the messages of a chat template as a list with one text, which is
    JSON.
    """
    if isinstance(prompt, list) and len(prompt) == 1 and isinstance(prompt[0], str):
        prompt = prompt[0]
    if isinstance(prompt, str) and prompt.lstrip().startswith("[{"):
        with suppress(ValueError, RecursionError):
            prompt = json.loads(prompt)
    if isinstance(prompt, str):
        return (("user", text_of(field, prompt)),)
    if not isinstance(prompt, list):
        raise OddValue(field, quoted(prompt), "a text, or a list of messages")
    turns = []
    for number, message in enumerate(prompt, start=1):
        role = message.get("role") if isinstance(message, dict) else None
        if not isinstance(role, str) or role not in ROLES:
            raise OddValue(
                field,
                f"message {number}: {quoted(message)}",
                f"a role ({', '.join(ROLES)}) and a content",
            )
        turns.append((ROLES[role], content_of(field, message.get("content"))))
    return tuple(turns)
