"""Finds out, before a job is queued, whether an endpoint serves a model and takes the key.

Its list of models is free and is enough where it names the model and nobody reads it without the key. Other lists may
be open to everybody (OpenRouter's is) or incomplete (routers, gateways): there one token is asked for, which may be
paid.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from workbench.domain.prompts import Message, Prompt
from workbench.domain.responses import MAY_BE_LEFT, SERVER, Sampling, sampled
from workbench.errors import ModelError
from workbench.inference.served.calls import Call
from workbench.inference.served.client import NotServed, serves_words
from workbench.inference.served.model import RemoteModel, load_remote
from workbench.inference.served.pace import RetryPolicy
from workbench.inference.served.reply import Kind, TryFailed

WAIT_S = 20.0
"seconds to wait for one token: a server may have to load the model first"
QUICK = RetryPolicy(tries=1, long_tries=1, reply_s=WAIT_S, first_wait_s=0.2, concurrency=1)
"nobody waits a minute at a form"
CHAT, TEXT = Prompt((Message("user", "Hi"),)), Prompt((Message("user", "Hi"),), chat=False)
TOKENS, TOKENS_RESPONSES = 1, 16
"tokens that are asked for; /responses takes no smaller number"
NO_SUCH_MODEL = re.compile(
    r"\b(unknown|invalid|no such|unsupported) model|\bmodel\b.{0,80}\b(not|unknown|invalid|unsupported)\b",
    re.IGNORECASE,
)
"how servers that answer with 400 or 422 say that they have no such model"


def check_served(name: str, environ: Mapping[str, str], *, batched: bool = False) -> None:
    """Raise ModelError unless an endpoint serves a model: it cannot be reached, gives no answer in time, refuses the
    key, or knows no such model. `batched`: also if it takes no batches.
    """
    model = load_remote(name, environ=environ, patience=QUICK)
    try:
        if batched:
            model.check_batches()
        if not model.listed or not (model.address.official or model.address.loopback):
            _check_answers(model)
    finally:
        model.close()


def _check_answers(model: RemoteModel) -> None:
    """Ask for one token, as a chat and, where the server takes no chats, as text. A failure that says nothing about the
    model or the key passes: how a server wants to be asked is learned by the job.
    """
    address, listed = model.address, bool(model.listed)
    tokens = TOKENS_RESPONSES if address.responses else TOKENS
    sampling = sampled(Sampling(max_new_tokens=tokens), dict.fromkeys(MAY_BE_LEFT, SERVER))
    missing: NotServed | None = None
    for prompt in (CHAT,) if address.raw else (CHAT, TEXT):
        try:
            model.ask(Call(prompt, 1, None, sampling))
            return
        except NotServed as error:
            missing = missing or error
        except TryFailed as failure:
            if listed or not _is_missing(failure, address.model):
                return
            raise ModelError(f"{address.name}: {address.url} {_why(model, failure)}") from None
    if missing is not None:
        raise ModelError(f"{missing}. {_what_to_do(model)}" if model.serves and not listed else str(missing)) from None


def _is_missing(failure: TryFailed, model: str) -> bool:
    """Return whether a try failed because there is no such model, or nothing answers."""
    if failure.kind is Kind.REFUSED:
        named = failure.parameter == "model" or model.casefold() in failure.reason.casefold()
        return named or NO_SUCH_MODEL.search(failure.reason) is not None
    return failure.kind in (Kind.LATE, Kind.ABSENT, Kind.BROKEN)


def _why(model: RemoteModel, failure: TryFailed) -> str:
    asked = f"was asked for one token of {model.address.model!r}"
    unlisted = f", which it does not list: {failure.reason}. {serves_words(model.address.model, model.serves)}"
    return f"{asked}{unlisted if model.serves else f': {failure.reason}'}. {_what_to_do(model)}"


def _what_to_do(model: RemoteModel) -> str:
    if model.serves:
        return "Name one of these, or let the server load the model, then start again"
    return "Look whether the server knows the model by this name, then start again"
