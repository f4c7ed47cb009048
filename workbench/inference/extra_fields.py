"""Further fields of a request, from the user's file: sampling parameters that no option covers.

{"min_p": 0.1, "chat_template_kwargs": {"enable_thinking": false}}

The fields become part of the sampling, word for word, so answers with and without them are never
pooled. A field that an option sets is not allowed: two values of one parameter would make the
record wrong.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from workbench.errors import UsageError
from workbench.regular_files import check_file
from workbench.toml_files import read_toml

STATED = {
    "temperature": "--temperature",
    "top_p": "--top-p",
    "top_k": "--top-k",
    "max_tokens": "--max-new-tokens",
    "max_completion_tokens": "--max-new-tokens",
    "max_output_tokens": "--max-new-tokens",
    "n": "--samples",
    "seed": "--seed",
    "model": "--model",
    "reasoning_effort": "--thinking",
}
"field -> the option that sets it"
OURS = (
    "messages",
    "prompt",
    "input",
    "stream",
    "logprobs",
    "top_logprobs",
    "echo",
    "stop",
    "tools",
    "response_format",
)
"fields that determine what is asked or how the reply is read"
SECRET = ("api_key", "authorization", "key", "token", "password", "secret")


def extra_fields(source_text: str | None) -> str:
    """Return the fields as JSON with sorted keys, or an empty string if there are none.

    `source_text` names a JSON or TOML file, or is itself a JSON object. Raises UsageError.

    Examples
    --------
    >>> extra_fields('{"min_p": 0.1, "a": [1]}')
    '{"a": [1], "min_p": 0.1}'
    """
    source = (source_text or "").strip()
    if not source:
        return ""
    fields = _parsed(source)
    for name in fields:
        if name in STATED:
            raise UsageError(
                f"--extra-body: the field {name!r} is stated by {STATED[name]}; leave it out of "
                "the file"
            )
        if name in OURS:
            raise UsageError(
                f"--extra-body: the field {name!r} is not for a file: the program sets it; leave "
                "it out"
            )
        if name.lower() in SECRET:
            raise UsageError(
                f"--extra-body: the field {name!r} looks like a secret, and these fields are "
                "stored with every answer; put the key into the environment"
            )
    return json.dumps(fields, sort_keys=True, ensure_ascii=False) if fields else ""


def _parsed(typed: str) -> dict[str, Any]:
    path = Path(typed).expanduser()
    try:
        if typed.startswith("{"):
            value = json.loads(typed)
        else:
            value = (
                read_toml(path)
                if path.suffix == ".toml"
                else json.loads(check_file(path).read_text(encoding="utf-8"))
            )
        json.dumps(value, allow_nan=False)
    except OSError as error:
        raise UsageError(f"--extra-body: {path} cannot be read ({type(error).__name__})") from None
    except (ValueError, TypeError, RecursionError) as error:
        raise UsageError(
            f"--extra-body: found no JSON that can be sent ({error}); give one object of fields"
        ) from None
    if not isinstance(value, dict):
        raise UsageError(
            f"--extra-body: found {type(value).__name__}; give one object of fields, like "
            "{'min_p': 0.1}"
        )
    return value
