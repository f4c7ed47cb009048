"""Tests what an endpoint can do by asking it one prompt in several ways: about eight short calls, which are paid."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from workbench.domain.prompts import Message, Prompt
from workbench.domain.responses import Sampling, sampled
from workbench.domain.seeds import SEED
from workbench.domain.thinking import split
from workbench.errors import ModelError
from workbench.inference.served.calls import ALTERNATIVES, Call
from workbench.inference.served.forced import forced_score
from workbench.inference.served.model import RemoteModel
from workbench.inference.served.providers import UNKNOWN
from workbench.inference.served.reply import Reply, TryFailed, brief
from workbench.inference.served.scores import NoProbabilities, Unreadable, echo_call, first_token_call, first_tokens

QUESTION = Prompt((Message("user", "Name any three animals, and nothing else."),))
TEXT = Prompt((Message("user", "The capital of France is"),), chat=False)
MOST_TOKENS = 24
PLAIN = Sampling(temperature=1.0, top_p=1.0, max_new_tokens=MOST_TOKENS)
NARROW = Sampling(temperature=0.7, top_p=0.9, max_new_tokens=MOST_TOKENS)
COUNTED = "no probabilities can be had; run --samples N draws answers and counts yes and no, with their binomial noise"
LENGTHS = ("max_model_len", "context_length", "n_ctx", "context_window")
"fields of a list of models with the largest number of tokens of a prompt and its answer"


@dataclass(frozen=True, slots=True)
class Ability:
    """One tested ability of an endpoint."""

    name: str
    able: bool | None
    "None: unknown"
    found: str


def examine(model: RemoteModel) -> Iterator[Ability]:
    """Yield the abilities of an endpoint. Raises ModelError if it gives no answer at all."""
    of = model.dialect.provider
    yield Ability("dialect", of is not UNKNOWN, "; ".join(model.notes))
    left = sampled(PLAIN, {"top_k": "server"}) if of.own else PLAIN
    try:
        reply = model.ask(Call(QUESTION, 1, SEED, left))
    except TryFailed as failure:
        raise ModelError(f"{model.address.name}: {failure.reason}") from None
    text = split(reply.choices[0].text)
    by = ", ".join(filter(None, (reply.snapshot or "no snapshot reported", reply.fingerprint)))
    yield Ability("answers", text.answer is not None, f"{brief(text.answer or 'cut off in thought')!r} by {by}")
    narrow = sampled(NARROW, {"top_k": "server"}) if of.own else NARROW
    yield _tried("temperature, top-p", lambda: _drawn(model, narrow))
    yield _tried("several a call (n)", lambda: _several(model, left))
    yield _tried("seed", lambda: _seeded(model, left))
    alternatives = _tried("log-probabilities", lambda: _alternatives(model))
    yield alternatives
    yield _tried("echo", lambda: _echoed(model))
    yield _questionnaire(model, exact=bool(alternatives.able))
    yield _tried("batches", lambda: _batches(model))
    yield _reasoning(reply)
    yield Ability("limits", None if not (said := _limits(model)) else True, said or "the endpoint does not say")
    refused = ", ".join(f"{name} ({said})" for name, said in model.dialect.refusals.items())
    yield Ability("refusals", not refused, refused or "none of what was asked")


def _tried(name: str, ask: Callable[[], tuple[bool | None, str]]) -> Ability:
    try:
        return Ability(name, *ask())
    except (ModelError, TryFailed, NoProbabilities, Unreadable) as error:
        return Ability(name, False, str(error).splitlines()[0])


def _drawn(model: RemoteModel, sampling: Sampling) -> tuple[bool, str]:
    model.ask(Call(QUESTION, 1, SEED, sampling))
    return True, f"{sampling.manner} is taken"


def _several(model: RemoteModel, sampling: Sampling) -> tuple[bool, str]:
    reply = model.ask(Call(QUESTION, 2, SEED, sampling))
    came = len(reply.choices)
    return came == 2, "two answers came of one call" if came == 2 else "one answer a call: each is paid with its prompt"


def _seeded(model: RemoteModel, sampling: Sampling) -> tuple[bool | None, str]:
    """Ask twice with one seed and once with another, which must give another answer for the test to be conclusive."""
    if not model.dialect.seed:
        return False, "not taken, so answers cannot be drawn again"
    first, again, other = (
        model.ask(Call(QUESTION, 1, seed, sampling)).choices[0].text for seed in (SEED, SEED, SEED + 1)
    )
    if not model.dialect.seed:
        return False, "refused, so answers cannot be drawn again"
    if first != again:
        return False, "taken, and two calls with one seed had different answers"
    if first == other:
        return None, "cannot be told: another seed had the same answer"
    return True, "two calls with one seed had the same answer, another seed another one"


def _alternatives(model: RemoteModel) -> tuple[bool, str]:
    named = len(first_tokens(model.address.name, model.ask(first_token_call(QUESTION, ALTERNATIVES))))
    enough = named > 1
    return enough, f"{named} alternatives of the first token" + ("" if enough else ": exact answers cannot be computed")


def _questionnaire(model: RemoteModel, *, exact: bool) -> Ability:
    """Return which measure of the questionnaire audit an endpoint supports, see `probabilities`."""
    name = "questionnaires"
    if exact:
        return Ability(name, True, "exact: p(yes) and p(no) from the alternatives of the first token")
    try:
        answer = forced_score(model.address.name, model.ask(echo_call(QUESTION, "Yes")), QUESTION, "Yes")
    except (ModelError, TryFailed, NoProbabilities, Unreadable):
        return Ability(name, None, f"counted: {COUNTED}")
    forced = "exact: each answer is forced upon it, six paid calls a prompt"
    return Ability(name, True, f"{forced} (p = {math.exp(answer):.2g} for one)")


def _batches(model: RemoteModel) -> tuple[bool, str]:
    model.lists_batches()
    return True, f"taken, at {model.dialect.provider.batch:g} of the price (run --batch)"


def _echoed(model: RemoteModel) -> tuple[bool, str]:
    logprobs = model.ask(echo_call(TEXT, " Paris")).choices[0].logprobs
    if not logprobs:
        return False, "/completions sends no log-probabilities of an echoed prompt"
    return True, "/completions sends back a prompt with its log-probabilities: labels of several tokens can be scored"


def _reasoning(reply: Reply) -> Ability:
    thought = split(reply.choices[0].text)
    counted = f"{reply.thinking_tokens:,} tokens of thought counted" if reply.thinking_tokens else ""
    if thought.thinking or counted or thought.answer is None:
        shown = f"shown, {brief(thought.thinking)[:60]!r}" if thought.thinking else "not shown"
        return Ability("thinking", True, "; ".join(filter(None, (shown, counted))))
    return Ability("thinking", False, "none before this answer")


def _limits(model: RemoteModel) -> str:
    entry = model.listed
    meta = entry.get("meta")
    for field in (entry, meta if isinstance(meta, dict) else {}):
        for name in LENGTHS:
            if isinstance(field.get(name), int):
                return f"{field[name]:,} tokens for a prompt and its answer ({name})"
    return ""
