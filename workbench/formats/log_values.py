"""Checks of the values in a log of answers: numbers, times, names, messages and texts.

Every reader in `answer_logs` takes its values from here, so the same limits apply to the logs of
all programs.
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
"(role, text) of each message of a prompt"

PARAMETERS = ("temperature", "top_p", "max_tokens")
HOTTEST = 100.0
"no provider takes a temperature above 2, but some local engines do"
MOST_TOKENS = 10**9
MOST_COUNT = 10_000
"the largest number of answers that one row may stand for, unless a person allows more"
LARGEST_COUNT = 10**9
LONGEST_NAME = 200
"the most bytes in a model's name: screens and file names have no room for longer ones"
EARLIEST, LATEST = 2000, 2100
"the year of a model's answer is at least EARLIEST and below LATEST"
ROLES = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
}
"role in a log -> role here. The role developer is OpenAI's newer word for system."
SHOWN = 40
"the number of characters of a faulty value that a message quotes"


class OddValue(ValueError):
    """A value that cannot be right: its field, what was found there, and what was expected."""

    def __init__(self, field: str, problem: str, expected: str) -> None:
        super().__init__(f"{field}: found {problem}; expected {expected}")
        self.field, self.found, self.expected = field, problem, expected


def quoted(value: object) -> str:
    """Return a value as messages show it, shortened if it is long."""
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"


def sampling_of(
    settings: Mapping[str, Any], names: Mapping[str, str] | None = None
) -> dict[str, float]:
    """Return the sampling parameters that the settings in a log state.

    `names` maps the log's name of a parameter to ours.

    Raises OddValue for a value outside the range of its parameter.
    """
    our_names = names or {}
    numbers: dict[str, float] = {}
    for field, value in settings.items():
        name = our_names.get(field, field)
        if name not in PARAMETERS or value is None or value == "":
            continue
        numbers[name] = (
            _tokens(field, value) if name == "max_tokens" else _share_or_heat(field, value, name)
        )
    return numbers


def _share_or_heat(field: str, value: object, name: str) -> float:
    maximum = HOTTEST if name == "temperature" else 1.0
    number = finite_number(value, low=0, high=maximum)
    if number is None:
        raise OddValue(field, quoted(value), f"a number from 0 to {maximum:g}")
    return number


def _tokens(field: str, value: object) -> float:
    number = finite_number(value, low=1, high=MOST_TOKENS, whole=True)
    if number is None:
        raise OddValue(field, quoted(value), f"a whole number of tokens from 1 to {MOST_TOKENS:,}")
    return number


def count_of(value: object, most: int = MOST_COUNT) -> int:
    """Return the number of answers that a row stands for, which is one for an empty value.

    Raises OddValue for a number outside the limits.
    """
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
    """Return a time in UTC such as `2026-01-31T12:00:00.000Z`, or an empty text if none is stated.

    Seconds since 1970 are accepted, too. A time without a zone is taken as UTC.

    Raises OddValue for anything else.
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
    """Return the name of a model, or an empty text if a log has none.

    Raises OddValue for other values.
    """
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
    """Return a value that is a text which the store can hold.

    Raises OddValue for any other value.
    """
    if not isinstance(value, str):
        raise OddValue(field, quoted(value), "a text")
    if not is_text(value):
        raise OddValue(field, "a NUL or half a surrogate pair", "text that UTF-8 can hold")
    return value


def content_of(field: str, content: object) -> str:
    """Return the text of a message, whose content is a text or a list of parts.

    The texts of the parts are joined. A part without text leaves a mark such as `[image]`. Only
    reasoning without text leaves none.

    Raises OddValue for other content.
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
    """Return the messages of a prompt: a text, a list of messages, or such a list as JSON.

    lm-evaluation-harness writes the messages of a chat template as a list that contains a single
    text, which is JSON.

    Raises OddValue for anything else.
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
