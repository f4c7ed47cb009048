"""Reads a server's reply as JSON without trusting any part of it.

Conventions. If choices have the same index, the first is taken, and of more choices than requested the first ones:
surplus choices are dropped by position, never by text, so that the answers stay a fair sample. An answer cut by the
service's filter (`content_filter`) is kept with its text, even if empty: the filter is part of the served model, and
asking again would only be filtered again. A refusal in a separate field is the answer's text. An answer without text
(`null`) is not an answer; an empty text is.

A model's thought comes in a separate field (`reasoning_content` of DeepSeek, vLLM and SGLang, `reasoning` of OpenRouter
and newer vLLM), in parts of the content (Mistral), between marks in the text, or not at all (OpenAI, which counts its
tokens). It is stored with the answer. If no text follows the thought, or an empty one when the tokens ran out, the
answer was cut off in thought.

The Responses API
-----------------
The Responses API: converts the parameters of a chat call to it, and its replies to those of a chat.

It takes no `n` and no seed, and returns a token's alternatives on request. OpenAI stores prompts and answers for thirty
days unless a call sets `store: false`, so each call to it does.
Source: https://platform.openai.com/docs/api-reference/responses/create
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from http.client import responses
from typing import Any

from workbench.domain.names import placeless
from workbench.domain.thinking import Output, split

FEWEST_TOKENS = 16
"the least `max_output_tokens` that OpenAI accepts; requested even if only one token is needed"
LOGPROBS = "message.output_text.logprobs"
ENDED = {"max_output_tokens": "length", "content_filter": "content_filter"}
"reason of an incomplete answer -> its name in chats"


def as_responses(body: Mapping[str, Any], *, official: bool) -> dict[str, Any]:
    """Return the parameters of a call to the Responses API that is equivalent to a chat call.

    Examples
    --------
    >>> chat = {"model": "m", "messages": [], "max_tokens": 20, "extra_body": {"reasoning_effort": "low"}}
    >>> found = as_responses(chat, official=False)
    >>> found["max_output_tokens"], found["extra_body"]
    (20, {'reasoning': {'effort': 'low'}})
    """
    found: dict[str, Any] = {name: body[name] for name in ("model", "temperature", "top_p") if name in body}
    found |= {"input": body["messages"], "stream": False}  # transformers serve streams by default
    found["max_output_tokens"] = body.get("max_tokens", body.get("max_completion_tokens"))
    if body.get("top_logprobs"):
        found |= {"top_logprobs": body["top_logprobs"], "include": [LOGPROBS]}
        found["max_output_tokens"] = max(FEWEST_TOKENS, found["max_output_tokens"])
    more = dict(body.get("extra_body", {}))
    if effort := more.pop("reasoning_effort", None):
        more["reasoning"] = {"effort": effort}
    return found | ({"store": False} if official else {}) | ({"extra_body": more} if more else {})


def as_chat(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return a reply of the Responses API as one of a chat; anything else unchanged."""
    output = value.get("output")
    if not isinstance(output, list) or value.get("choices"):
        return dict(value)
    items = [item for item in output if isinstance(item, dict)]
    parts = [part for item in items if item.get("type") == "message" for part in _dicts(item.get("content"))]
    thoughts = [_thought(item) for item in items if item.get("type") == "reasoning"]
    texts = [part["text"] for part in parts if part.get("type") == "output_text" and isinstance(part.get("text"), str)]
    refusals = [part["refusal"] for part in parts if isinstance(part.get("refusal"), str)]
    logprobs = [one for part in parts for one in _dicts(part.get("logprobs"))]
    details = value.get("incomplete_details")
    ended = ENDED.get(str(details.get("reason")), "stop") if isinstance(details, dict) else "stop"
    message = {
        "content": "".join(texts) if texts else None,
        "refusal": "".join(refusals) if refusals else None,
        "reasoning_content": "\n\n".join(filter(None, thoughts)),
    }
    choice = {"index": 0, "finish_reason": ended, "message": message}
    choices = [choice | ({"logprobs": {"content": logprobs}} if logprobs else {})] if parts or ended != "stop" else []
    return {**value, "choices": choices, "usage": _usage(value.get("usage"))}


def _thought(item: Mapping[str, Any]) -> str:
    """Return the thought: its text if available, else its summary."""
    for name in ("content", "summary"):
        if found := "".join(part["text"] for part in _dicts(item.get(name)) if isinstance(part.get("text"), str)):
            return found
    return ""


def _usage(usage: object) -> dict[str, Any]:
    if not isinstance(usage, dict):
        return {}
    return {
        "prompt_tokens": usage.get("input_tokens"),
        "completion_tokens": usage.get("output_tokens"),
        "prompt_tokens_details": usage.get("input_tokens_details"),
        "completion_tokens_details": usage.get("output_tokens_details"),
    }


def _dicts(listed: object) -> list[dict[str, Any]]:
    return [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []


FILTERED, CUT = "content_filter", "length"
"reasons why an answer ended: the service's filter, no tokens left"
THOUGHT_FIELDS = ("reasoning_content", "reasoning")
"fields of a chat's turn with the preceding thought"
PART_FIELDS = ("thinking", "reasoning")
"types of content parts that are thoughts, also the names of their fields"
SHOWN = 300
"most characters quoted from a server's message"
BEGINNING = 80
"bytes quoted from a reply that is no JSON"


class Kind(Enum):
    """Why a try failed, which determines the reaction."""

    BUSY = "busy"
    "429: too many calls"
    BROKEN = "broken"
    "5xx, a broken connection: another try may succeed"
    ABSENT = "absent"
    "no server at the address"
    LATE = "late"
    "no complete reply in time"
    USELESS = "useless"
    "a reply without a readable answer"
    REFUSED = "refused"
    "400, 413, 422 and similar: asking the same again is useless"


class TryFailed(Exception):
    """One try of a call failed."""

    def __init__(
        self,
        kind: Kind,
        reason: str,
        *,
        status: int | None = None,
        after: float | None = None,
        paid: bool = False,
        parameter: str | None = None,
    ):
        super().__init__(reason)
        self.kind, self.reason = kind, reason
        self.status = status
        "HTTP status, None without a reply or on success"
        self.after = after
        "seconds that the server asks to wait"
        self.paid = paid
        "whether it may have cost uncounted tokens"
        self.parameter = parameter
        "the parameter that the server names as the cause"


@dataclass(frozen=True, slots=True)
class Choice:
    """One answer of a reply."""

    text: str
    "including the preceding thought, see `Output.stored`"
    filtered: bool
    logprobs: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply with at least one answer."""

    choices: tuple[Choice, ...]
    "at most as many as requested"
    prompt_tokens: int | None
    "None: the server did not count"
    cached_tokens: int
    answer_tokens: int | None
    snapshot: str
    "the model reported by the server; empty if none"
    fingerprint: str
    "its `system_fingerprint`, empty if it has none"
    thinking_tokens: int = 0
    "answer tokens of thoughts, if the server counts them separately"
    echoed: Mapping[str, Any] | None = None
    "log-probabilities of the prompt, if the server returns it separately from the answers"


def read_reply(content: bytes, asked: int, hidden: str | None = None) -> Reply:
    """Return a reply to a call for `asked` answers. Raises TryFailed if it contains no answer.

    `hidden`: the key, which a server might repeat.
    """
    value = as_chat(_value(content, hidden))
    listed = value.get("choices")
    entries = [entry for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []
    if not entries:
        fields = brief(", ".join(value)) or "none"
        raise TryFailed(Kind.USELESS, f"the reply has no choices; its fields: {fields}", paid=True)
    first: dict[int, dict[str, Any]] = {}
    for place, entry in enumerate(entries):
        index = entry.get("index")
        first.setdefault(index if isinstance(index, int) else place, entry)
    taken = [first[index] for index in sorted(first)][:asked]
    usage = value.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    thinking_tokens = _count(_dict(usage.get("completion_tokens_details")).get("reasoning_tokens")) or 0
    hidden_thought = bool(thinking_tokens)
    choices = tuple(choice for entry in taken if (choice := _choice(entry, hidden_thought)) is not None)
    if not choices:
        ended = taken[0].get("finish_reason")
        raise TryFailed(Kind.USELESS, f"an answer without text (finish_reason {brief(str(ended))})", paid=True)
    details = usage.get("prompt_tokens_details")
    return Reply(
        choices,
        _count(usage.get("prompt_tokens")),
        _count(details.get("cached_tokens")) or 0 if isinstance(details, dict) else 0,
        _count(usage.get("completion_tokens")),
        placeless(_reported(value.get("model"))),
        _reported(value.get("system_fingerprint")),
        thinking_tokens,
        _echoed(value.get("prompt")),
    )


def _reported(value: object) -> str:
    return brief(value) if isinstance(value, str) else ""


def _echoed(prompt: object) -> Mapping[str, Any] | None:
    first = prompt[0] if isinstance(prompt, list) and prompt else None
    found = first.get("logprobs") if isinstance(first, dict) else None
    return found if isinstance(found, dict) else None


def _value(content: bytes, hidden: str | None) -> dict[str, Any]:
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise TryFailed(Kind.USELESS, _no_object(content, hidden), paid=True)
    if value.get("error") and not (
        value.get("choices") or value.get("output")
    ):  # some gateways report errors with the status 200
        raise TryFailed(Kind.USELESS, f"the server says: {server_words(value, hidden)}", paid=True)
    return value


def _no_object(content: bytes, hidden: str | None) -> str:
    """Return what a reply is that is no JSON object."""
    begins = content[:BEGINNING].decode("utf-8", "replace").strip()
    if begins.startswith("{"):
        return "the reply is not whole JSON"
    return f"the reply is no JSON object; it begins: {server_words(begins, hidden)}" if begins else "the reply is empty"


def _choice(entry: Mapping[str, Any], hidden_thought: bool) -> Choice | None:
    """Return one answer; None if there is none. `hidden_thought`: the server counted tokens of thoughts."""
    message = entry.get("message")
    text = _text(message) if isinstance(message, dict) else entry.get("text")
    thinking = _thinking(_dict(message))
    ended = entry.get("finish_reason")
    if isinstance(text, str) and (text.strip() or ended != CUT or not (thinking or hidden_thought)):
        found = split(text)
        output = Output("\n\n".join(filter(None, (thinking, found.thinking))), found.answer)
    elif ended == FILTERED:
        output = Output(thinking, "")
    elif thinking or (hidden_thought and ended == CUT):
        output = Output(thinking, None)
    else:
        return None
    logprobs = entry.get("logprobs")
    return Choice(output.stored, ended == FILTERED, logprobs if isinstance(logprobs, dict) else None)


def _thinking(message: Mapping[str, Any]) -> str:
    """Return the thought before a chat's turn, if the server returns it separately from the text."""
    for name in THOUGHT_FIELDS:
        if isinstance(found := message.get(name), str) and found.strip():
            return found.strip()
    content = message.get("content")
    parts = [_dict(part) for part in content] if isinstance(content, list) else []
    thoughts = [part.get(name) for part in parts for name in PART_FIELDS if part.get("type") == name]
    return "".join(map(_joined, thoughts)).strip()


def _joined(thought: object) -> str:
    """Return the text of a thought: a string, or a list of parts with texts."""
    if isinstance(thought, str):
        return thought
    texts = [_dict(part).get("text") for part in thought] if isinstance(thought, list) else []
    return "".join(text for text in texts if isinstance(text, str))


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(message: Mapping[str, Any]) -> object:
    """Return the text of a chat's turn: a string, the texts of its parts, or the refusal."""
    content = message.get("content")
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        texts = [part for part in parts if isinstance(part, str)]
        content = "".join(texts) if texts else None
    return message.get("refusal") if content is None else content


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


ABOUT_SYSTEM_TURN = re.compile(
    r"\bsystem\b.{0,40}\b(role|message|prompt|instruction)|\broles?\b.{0,60}\bsystem\b|\bdeveloper instruction",
    re.IGNORECASE,
)
REFUSING = re.compile(
    r"\bnot\b|n't\b|\bno\b|\bunsupported\b|\binvalid\b|\bunknown\b|\bunexpected\b|\bonly\b", re.IGNORECASE
)
WITHOUT_SYSTEM_TURN = "The model takes no system message: ask with templates that have none (--family user)"


def refuses_system_turn(words: str) -> bool:
    """Return whether a server's error says that its model takes no system message.

    Examples
    --------
    >>> refuses_system_turn("System role not supported"), refuses_system_turn("the prompt is not a list")
    (True, False)
    """
    return bool(ABOUT_SYSTEM_TURN.search(words) and REFUSING.search(words))


def answered_with(status: int, body: object, hidden: str | None) -> str:
    """Return the reason of an unsuccessful status: the server's words, else what the status means."""
    if words := server_words(body, hidden, none=""):
        advice = f". {WITHOUT_SYSTEM_TURN}" if 400 <= status < 500 and refuses_system_turn(words) else ""
        return f"the server answered with {status}: {words}{advice}"
    means = responses.get(status, "a status that no standard knows")
    return f"the server answered with {status} ({means})"


def server_words(body: object, hidden: str | None, none: str = "nothing more") -> str:
    """Return a server's error message on one line, without the key; `none` where it has none."""
    if isinstance(body, dict):
        error = body.get("error", body)
        found: object = error
        if isinstance(error, dict):
            found = error.get("message") or error.get("detail") or error.get("code") or error
    else:
        found = body
    text = found if isinstance(found, str) else "" if found is None else json.dumps(found, default=str)
    if hidden:
        text = text.replace(hidden, "…")
    return brief(text).rstrip(". ") or none


def brief(text: str) -> str:
    """Return text of a server on one line, without control characters, truncated for display."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text[: 20 * SHOWN]).split())
    return line if len(line) <= SHOWN else line[: SHOWN - 1] + "…"
