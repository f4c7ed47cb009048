"""The Responses API: converts the parameters of a chat call to it, and its replies to those of a chat.

It takes no `n` and no seed, and returns a token's alternatives on request. OpenAI stores prompts and answers for thirty
days unless a call sets `store: false`, so each call to it does.
Source: https://platform.openai.com/docs/api-reference/responses/create
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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
