"""The answers in a reply of an OpenAI-compatible endpoint, from a server or from a file.

Nothing in a reply is trusted. If choices have the same index, the first is taken. An answer cut by
the service's filter (`content_filter`) is kept with its text, even if empty: the filter is part of
the served model. A refusal in a separate field is a refusal, whatever its words are, and the answer
is marked as one, see `thinking.refusal`. An answer without text (`null`) is not an answer, while an
empty text is.

A model's thought comes in a separate field (`reasoning_content` of DeepSeek, vLLM and SGLang,
`reasoning` of OpenRouter and newer vLLM), in parts of the content (Mistral, Inspect), between marks
in the text, or not at all (OpenAI, which counts its tokens). It is stored with the answer. If no
text follows the thought, or an empty one when the tokens ran out, the answer was cut off in
thought.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from workbench.domain.thinking import Output, refusal, split

ENDED = {"max_output_tokens": "length", "content_filter": "content_filter"}
"reason of an incomplete answer -> its name in chats"
FILTERED, CUT = "content_filter", "length"
"reasons why an answer ended: the service's filter, no tokens left"
THOUGHT_FIELDS = ("reasoning_content", "reasoning")
"fields of a chat's turn with the preceding thought"
PART_FIELDS = ("thinking", "reasoning")
"types of content parts that are thoughts, also the names of their fields"


@dataclass(frozen=True, slots=True)
class ReplyChoice:
    """One answer of a reply."""

    text: str
    """text, including the preceding thought

    See `Output.stored`.
    """
    filtered: bool
    "whether the service's filter ended it"
    cut: bool
    "whether the limit of tokens ended it"
    logprobs: Mapping[str, Any] | None


def as_chat(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return a reply of the Responses API as one of a chat, and any other reply unchanged."""
    output = value.get("output")
    if not isinstance(output, list) or value.get("choices"):
        return dict(value)
    items = [item for item in output if isinstance(item, dict)]
    parts = [
        part
        for item in items
        if item.get("type") == "message"
        for part in dicts(item.get("content"))
    ]
    thoughts = [_thought(item) for item in items if item.get("type") == "reasoning"]
    texts = [
        part["text"]
        for part in parts
        if part.get("type") == "output_text" and isinstance(part.get("text"), str)
    ]
    refusals = [part["refusal"] for part in parts if isinstance(part.get("refusal"), str)]
    logprobs = [token for part in parts for token in dicts(part.get("logprobs"))]
    details = value.get("incomplete_details")
    finish_reason = (
        ENDED.get(str(details.get("reason")), "stop") if isinstance(details, dict) else "stop"
    )
    message = {
        "content": "".join(texts) if texts else None,
        "refusal": "".join(refusals) if refusals else None,
        "reasoning_content": "\n\n".join(filter(None, thoughts)),
    }
    choice = {"index": 0, "finish_reason": finish_reason, "message": message}
    choices = (
        [choice | ({"logprobs": {"content": logprobs}} if logprobs else {})]
        if parts or finish_reason != "stop"
        else []
    )
    return {**value, "choices": choices, "usage": _usage(value.get("usage"))}


def _thought(item: Mapping[str, Any]) -> str:
    """Return the thought: its text if available, else its summary."""
    for name in ("content", "summary"):
        if text := "".join(
            part["text"] for part in dicts(item.get(name)) if isinstance(part.get("text"), str)
        ):
            return text
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


def dicts(listed: object) -> list[dict[str, Any]]:
    return [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []


def entries_of(value: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the choices of a reply as its JSON has them, by index.

    Of several with one index, the first is taken.
    """
    first_by_index: dict[int, dict[str, Any]] = {}
    for position, entry in enumerate(dicts(value.get("choices"))):
        index = entry.get("index")
        first_by_index.setdefault(index if isinstance(index, int) else position, entry)
    return [first_by_index[index] for index in sorted(first_by_index)]


def thinking_tokens_of(value: Mapping[str, Any]) -> int:
    """Return the tokens of thoughts that a reply counts, or 0 if it counts none."""
    details = as_dict(as_dict(value.get("usage")).get("completion_tokens_details"))
    return count_of(details.get("reasoning_tokens")) or 0


def count_of(value: object) -> int | None:
    """Return a count of a reply, or None if it is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def choice_of(entry: Mapping[str, Any], hidden_thought: bool = False) -> ReplyChoice | None:
    """Return one answer, or None if there is none.

    `hidden_thought`: the server counted tokens of thoughts.
    """
    message = entry.get("message")
    text = _text(message) if isinstance(message, dict) else entry.get("text")
    thinking = _thinking(as_dict(message))
    finish_reason = entry.get("finish_reason")
    if isinstance(text, str) and (
        text.strip() or finish_reason != CUT or not (thinking or hidden_thought)
    ):
        parts = split(text)
        output = Output("\n\n".join(filter(None, (thinking, parts.thinking))), parts.answer)
    elif finish_reason == FILTERED:
        output = Output(thinking, "")
    elif thinking or (hidden_thought and finish_reason == CUT):
        output = Output(thinking, None)
    else:
        return None
    logprobs = entry.get("logprobs")
    return ReplyChoice(
        output.stored,
        finish_reason == FILTERED,
        finish_reason == CUT,
        logprobs if isinstance(logprobs, dict) else None,
    )


def _thinking(message: Mapping[str, Any]) -> str:
    """Return the thought before a chat's turn.

    There is one if the server returns it separately from the text.
    """
    for name in THOUGHT_FIELDS:
        if isinstance(thought := message.get(name), str) and thought.strip():
            return thought.strip()
    content = message.get("content")
    parts = [as_dict(part) for part in content] if isinstance(content, list) else []
    thoughts = [
        part.get(name) for part in parts for name in PART_FIELDS if part.get("type") == name
    ]
    return "".join(map(_joined, thoughts)).strip()


def _joined(thought: object) -> str:
    """Return the text of a thought: a string, or a list of parts with texts."""
    if isinstance(thought, str):
        return thought
    texts = [as_dict(part).get("text") for part in thought] if isinstance(thought, list) else []
    return "".join(text for text in texts if isinstance(text, str))


def as_dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(message: Mapping[str, Any]) -> object:
    """Return the text of a chat's turn: a string, the texts of its parts, or the marked refusal.

    A refusal is a field of the turn (OpenAI), a part of its own, or a text that is marked as one
    (Inspect).
    """
    content = message.get("content")
    refusals = [message.get("refusal")]
    if isinstance(content, list):
        parts = dicts(content)
        refusals += [part.get("refusal") for part in parts]
        refusals += [part.get("text") for part in parts if part.get("refusal") is True]
        texts = [
            part["text"]
            for part in parts
            if isinstance(part.get("text"), str) and part.get("refusal") is not True
        ]
        content = "".join(texts) if texts else None
    refusal_texts = [text for text in refusals if isinstance(text, str) and text.strip()]
    if not refusal_texts:
        return content
    preceding = [content] if isinstance(content, str) and content.strip() else []
    return refusal("\n".join([*preceding, *refusal_texts]))
