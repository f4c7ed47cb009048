"""The reading of a server's reply as JSON, without trust in any part of it.

Its answers are read by `workbench.domain.replies`. Of more choices than requested the first ones
are taken: surplus choices are dropped by position, never by text, so that the answers stay a fair
sample.

The Responses API
-----------------
The Responses API: converts the parameters of a chat call to it, and its replies to those of a chat.

It takes no `n` and no seed, and returns a token's alternatives on request. OpenAI stores prompts
and answers for thirty days unless a call sets `store: false`, so each call to it does. Source:
https://platform.openai.com/docs/api-reference/responses/create
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from http.client import responses
from typing import Any

from workbench.domain.names import placeless
from workbench.domain.replies import (
    ReplyChoice,
    as_chat,
    as_dict,
    choice_of,
    count_of,
    entries_of,
    thinking_tokens_of,
)
from workbench.domain.responses import Drawn
from workbench.inference.served.secret import without_key

FEWEST_TOKENS = 16
"the least `max_output_tokens` that OpenAI accepts, which is requested even if one token suffices"
LOGPROBS = "message.output_text.logprobs"


def as_responses(body: Mapping[str, Any], *, official: bool) -> dict[str, Any]:
    """Return the parameters of a call to the Responses API that is equivalent to a chat call.

    Examples
    --------
    >>> chat = {"model": "m", "messages": [], "max_tokens": 20, "extra_body": {"reasoning_effort": "low"}}
    >>> found = as_responses(chat, official=False)
    >>> found["max_output_tokens"], found["extra_body"]
    (20, {'reasoning': {'effort': 'low'}})
    """  # noqa: E501
    parameters: dict[str, Any] = {
        name: body[name] for name in ("model", "temperature", "top_p") if name in body
    }
    parameters |= {
        "input": body["messages"],
        "stream": False,
    }  # transformers serve streams by default
    parameters["max_output_tokens"] = body.get("max_tokens", body.get("max_completion_tokens"))
    if body.get("top_logprobs"):
        parameters |= {"top_logprobs": body["top_logprobs"], "include": [LOGPROBS]}
        parameters["max_output_tokens"] = max(FEWEST_TOKENS, parameters["max_output_tokens"])
    extra_body = dict(body.get("extra_body", {}))
    if effort := extra_body.pop("reasoning_effort", None):
        extra_body["reasoning"] = {"effort": effort}
    return (
        parameters
        | ({"store": False} if official else {})
        | ({"extra_body": extra_body} if extra_body else {})
    )


SHOWN = 300
"most characters quoted from a server's message"
BEGINNING = 80
"bytes quoted from a reply that is no JSON"


class FailureKind(Enum):
    """The reason why a try failed, which determines the reaction."""

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
    """The failure of one try of a call."""

    def __init__(
        self,
        kind: FailureKind,
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
        "HTTP status, or None without a reply or on success"
        self.after = after
        "seconds that the server asks to wait"
        self.paid = paid
        "whether it may have cost uncounted tokens"
        self.parameter = parameter
        "the parameter that the server names as the cause"


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply with at least one answer."""

    choices: tuple[ReplyChoice, ...]
    "answers, at most as many as requested"
    prompt_tokens: int | None
    "the number that the server counted, or None if it did not count"
    cached_tokens: int
    answer_tokens: int | None
    snapshot: str
    "the model reported by the server, or empty if it reports none"
    fingerprint: str
    "its `system_fingerprint`, or empty if it has none"
    thinking_tokens: int = 0
    "answer tokens of thoughts, if the server counts them separately"
    echoed: Mapping[str, Any] | None = None
    "log-probabilities of the prompt, if the server returns it separately from the answers"


def read_reply(content: bytes, asked: int, hidden: str | None = None) -> Reply:
    """Return a reply to a call for `asked` answers.

    Raises TryFailed if it contains no answer.

    `hidden` is the key, which a server might repeat.
    """
    value = as_chat(_value(content, hidden))
    entries = entries_of(value)
    if not entries:
        fields = brief(", ".join(value)) or "none"
        raise TryFailed(
            FailureKind.USELESS, f"the reply has no choices; its fields: {fields}", paid=True
        )
    requested = entries[:asked]
    usage = as_dict(value.get("usage"))
    thinking_tokens = thinking_tokens_of(value)
    parsed = [choice_of(entry, hidden_thought=bool(thinking_tokens)) for entry in requested]
    choices = tuple(choice for choice in parsed if choice is not None)
    if not choices:
        finish_reason = requested[0].get("finish_reason")
        raise TryFailed(
            FailureKind.USELESS,
            f"an answer without text (finish_reason {brief(str(finish_reason))})",
            paid=True,
        )
    # A key that was split over parts of the answer is whole only now.
    choices = tuple(replace(choice, text=without_key(choice.text, hidden)) for choice in choices)
    details = usage.get("prompt_tokens_details")
    return Reply(
        choices,
        count_of(usage.get("prompt_tokens")),
        count_of(details.get("cached_tokens")) or 0 if isinstance(details, dict) else 0,
        count_of(usage.get("completion_tokens")),
        placeless(_reported(value.get("model"))),
        _reported(value.get("system_fingerprint")),
        thinking_tokens,
        _echoed(value.get("prompt")),
    )


def _reported(value: object) -> str:
    return brief(value) if isinstance(value, str) else ""


def _echoed(prompt: object) -> Mapping[str, Any] | None:
    first = prompt[0] if isinstance(prompt, list) and prompt else None
    logprobs = first.get("logprobs") if isinstance(first, dict) else None
    return logprobs if isinstance(logprobs, dict) else None


def _value(content: bytes, hidden: str | None) -> dict[str, Any]:
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise TryFailed(FailureKind.USELESS, _no_object(content, hidden), paid=True)
    # Some gateways report errors with the status 200.
    if value.get("error") and not (value.get("choices") or value.get("output")):
        raise TryFailed(
            FailureKind.USELESS, f"the server says: {server_words(value, hidden)}", paid=True
        )
    return value


def _no_object(content: bytes, hidden: str | None) -> str:
    """Return the description of a reply that is no JSON object."""
    beginning = content[:BEGINNING].decode("utf-8", "replace").strip()
    if beginning.startswith("{"):
        return "the reply is not whole JSON"
    return (
        f"the reply is no JSON object; it begins: {server_words(beginning, hidden)}"
        if beginning
        else "the reply is empty"
    )


ABOUT_SYSTEM_TURN = re.compile(
    r"\bsystem\b.{0,40}\b(role|message|prompt|instruction)|\broles?\b.{0,60}\bsystem\b"
    r"|\bdeveloper instruction",
    re.IGNORECASE,
)
REFUSING = re.compile(
    r"\bnot\b|n't\b|\bno\b|\bunsupported\b|\binvalid\b|\bunknown\b|\bunexpected\b|\bonly\b",
    re.IGNORECASE,
)
WITHOUT_SYSTEM_TURN = (
    "The model takes no system message: ask with templates that have none (--family user)"
)


def refuses_system_turn(words: str) -> bool:
    """Return whether a server's error says that its model takes no system message.

    Examples
    --------
    >>> refuses_system_turn("System role not supported"), refuses_system_turn("the prompt is not a list")
    (True, False)
    """  # noqa: E501
    return bool(ABOUT_SYSTEM_TURN.search(words) and REFUSING.search(words))


def answered_with(status: int, body: object, hidden: str | None) -> str:
    """Return the reason of an unsuccessful status: the server's words, or the status's meaning."""
    if words := server_words(body, hidden, default=""):
        advice = (
            f". {WITHOUT_SYSTEM_TURN}" if 400 <= status < 500 and refuses_system_turn(words) else ""
        )
        return f"the server answered with {status}: {words}{advice}"
    meaning = responses.get(status, "a status that no standard knows")
    return f"the server answered with {status} ({meaning})"


def server_words(body: object, hidden: str | None, default: str = "nothing more") -> str:
    """Return a server's error message on one line, without the key, or `default` if it has none."""
    if isinstance(body, dict):
        error = body.get("error", body)
        message: object = error
        if isinstance(error, dict):
            message = error.get("message") or error.get("detail") or error.get("code") or error
    else:
        message = body
    text = (
        message
        if isinstance(message, str)
        else ""
        if message is None
        else json.dumps(message, default=str)
    )
    return brief(without_key(text, hidden)).rstrip(". ") or default


def brief(text: str) -> str:
    """Return text of a server on one line, without control characters, truncated for display."""
    line = " ".join(
        "".join(
            character if character.isprintable() else " " for character in text[: 20 * SHOWN]
        ).split()
    )
    return line if len(line) <= SHOWN else line[: SHOWN - 1] + "…"


def answers_by_snapshot(
    position: int,
    texts_by_snapshot: Mapping[tuple[str, str], Iterable[str]],
    n_failed: int,
    reason: str,
) -> tuple[Drawn, ...]:
    """Return the answers to a request, one entry for each (snapshot, fingerprint).

    Without answers there is one empty entry. The last entry has the number of failed answers and
    their reason. The order of entries and texts does not depend on arrival.
    """
    entries = [
        Drawn(
            position,
            _most_frequent_first(Counter(texts)),
            snapshot=snapshot,
            fingerprint=fingerprint,
            more=True,
        )
        for (snapshot, fingerprint), texts in sorted(
            texts_by_snapshot.items(), key=lambda item: item[0]
        )
    ]
    if not entries:
        entries = [Drawn(position, ())]
    entries[-1] = replace(entries[-1], failed=n_failed, reason=reason, more=False)
    return tuple(entries)


def _most_frequent_first(counts: Counter[str]) -> tuple[tuple[str, int], ...]:
    """Return texts with their counts, the most frequent first. Equal counts are sorted by text."""
    return tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
