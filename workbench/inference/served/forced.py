"""Probabilities of forced answers of a served model, for endpoints that return no alternatives of a token.

The same prompt is sent once for each spelling of an answer, followed by that answer, and the model's probability of the
answer is read (Haller et al. 2025, footnote 7). If the prompt is a chat, the answer is the assistant's turn, and the
endpoint has to return the prompt with the log-probability of each of its tokens, as Together's does
(`echo` and `logprobs`, in `prompt[0].logprobs` of the reply). Six spellings of yes or no are six paid calls.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workbench.domain.prompts import Prompt
from workbench.inference.served.ask import PromptAsker, Run
from workbench.inference.served.calls import raw_text
from workbench.inference.served.reply import Reply
from workbench.inference.served.scores import (
    NoProbabilities,
    Unreadable,
    echo_call,
    echoed_score,
    entries,
    missing,
)

LONGEST = 8
"most tokens of one answer"


async def forced_tokens(
    asker: PromptAsker, run: Run, name: str, prompt: Prompt, words: Sequence[str], *, chat: bool
) -> dict[str, float]:
    """Return the log-probability, in nats, of each spelling of each word as the answer to a prompt.

    `chat`: whether the prompt goes to an endpoint for chats. Raises NoProbabilities if the endpoint sends none,
    Unreadable if the answer is not found in the reply, and the errors of `Asker.ask`.
    """
    found = {}
    space = "" if chat or raw_text(prompt)[-1:].isspace() else " "
    for written in ways_to_write(words):
        answer = space + written
        reply = await asker.ask(run, echo_call(prompt, answer))
        found[answer] = (
            forced_score(name, reply, prompt, answer) if chat else echoed_score(name, reply.choices[0].logprobs, answer)
        )
    return found


def ways_to_write(words: Sequence[str]) -> tuple[str, ...]:
    """Return each word in small letters, capitalised and in capitals.

    Examples
    --------
    >>> ways_to_write(["yes", "No"])
    ('yes', 'Yes', 'YES', 'no', 'No', 'NO')
    """
    plain = [word.strip().lower() for word in words]
    return tuple(dict.fromkeys(way for word in plain for way in (word, word.capitalize(), word.upper())))


def forced_score(name: str, reply: Reply, prompt: Prompt, answer: str) -> float:
    """Return the log-probability of an answer in the echoed prompt of a reply.

    The answer is the last occurrence of its text, and the whole prompt must precede it: otherwise, if the server left
    the answer out, a word of the question would be mistaken for it.
    """
    tokens, logs = _echoed(name, reply.echoed)
    asked = "".join(prompt.messages[-1].content.split())
    for stop in range(len(tokens), 0, -1):
        for start in range(stop - 1, max(-1, stop - 1 - LONGEST), -1):
            if "".join(tokens[start:stop]).strip() != answer:
                continue
            if asked not in "".join("".join(tokens[:start]).split()):
                raise Unreadable(
                    f"{name}: the prompt that the endpoint sends back does not end with the answer {answer!r}"
                )
            if any(log is None for log in logs[start:stop]):
                raise Unreadable(missing(name, f"a log-probability for each token of {answer!r}"))
            return float(sum(logs[start:stop]))
    raise Unreadable(f"{name}: the prompt that the endpoint sends back does not hold the answer {answer!r}")


def _echoed(name: str, found: Mapping[str, Any] | None) -> tuple[list[str], list[Any]]:
    tokens, logs = entries(found, "tokens", str), entries(found, "token_logprobs", int | float)
    if not tokens or len(tokens) != len(logs) or None in tokens:
        raise NoProbabilities(missing(name, "the log-probabilities of an echoed chat (echo and logprobs)"))
    return tokens, logs
