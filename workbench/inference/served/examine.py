"""Tests of what an endpoint obeys, ignores and can do, in about 35 short calls, which are paid.

A parameter is obeyed if answers change as it says: at temperature 0, at a top-p, top-k or min-p
that leaves only the likeliest token, answers to an open prompt are equal, while they differ at
temperature 1. The rule and its error are in `behaviour`. Every test has a deadline and says when it
is reached.
"""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from workbench.domain.keys import SEED
from workbench.domain.prompts import Message, Prompt
from workbench.domain.responses import MAY_BE_LEFT, SERVER, Sampling, sampled
from workbench.domain.thinking import split
from workbench.errors import ModelError
from workbench.inference.served.behaviour import (
    OPEN_CHAT,
    OPEN_TEXT,
    TOKENS,
    comparable_text,
    judge_narrowing,
    judge_temperature,
)
from workbench.inference.served.calls import ALTERNATIVES, ModelCall
from workbench.inference.served.client import TIMEOUT, NotServed, RetryPolicy, served_models_text
from workbench.inference.served.model import RemoteModel, load_remote
from workbench.inference.served.probabilities import (
    NoProbabilities,
    UnreadableProbabilities,
    check_echo,
    echo_call,
    first_token_call,
    first_tokens,
    forced_score,
)
from workbench.inference.served.providers import UNKNOWN
from workbench.inference.served.reply import FailureKind, Reply, TryFailed, brief

WAIT_S = 20.0
"seconds to wait for one token: a server may have to load the model first"
QUICK = RetryPolicy(tries=1, long_tries=1, reply_s=WAIT_S, first_wait_s=0.2, concurrency=1)
"nobody waits a minute at a form"
CHAT, RAW = Prompt((Message("user", "Hi"),)), Prompt((Message("user", "Hi"),), chat=False)
TOKENS_CHAT, TOKENS_RESPONSES = 1, 16
"tokens that are asked for, as /responses takes no smaller number"
NO_SUCH_MODEL = re.compile(
    r"\b(unknown|invalid|no such|unsupported) "
    r"model|\bmodel\b.{0,80}\b(not|unknown|invalid|unsupported)\b",
    re.IGNORECASE,
)
"words of servers that answer with 400 or 422 if they have no such model"


def check_served(name: str, environ: Mapping[str, str], *, batched: bool = False) -> None:
    """Raise ModelError unless an endpoint serves a model.

    It is raised if the endpoint cannot be reached, gives no answer in time, refuses the key, or
    knows no such model, and with `batched` also if it takes no batches.
    """
    model = load_remote(name, environ=environ, patience=QUICK)
    try:
        if batched:
            model.check_batches()
        if not model.listed or not (model.address.official or model.address.is_loopback):
            _check_answers(model)
    finally:
        model.close()


def _check_answers(model: RemoteModel) -> None:
    """Ask for one token, as a chat and, where the server takes no chats, as text.

    A failure that says nothing about the model or the key passes: how a server wants to be asked is
    learned by the job.
    """
    address, is_listed = model.address, bool(model.listed)
    tokens = TOKENS_RESPONSES if address.responses else TOKENS_CHAT
    sampling = sampled(Sampling(max_new_tokens=tokens), dict.fromkeys(MAY_BE_LEFT, SERVER))
    missing: NotServed | None = None
    for prompt in (CHAT,) if address.raw else (CHAT, RAW):
        try:
            model.ask(ModelCall(prompt, 1, None, sampling))
            return
        except NotServed as error:
            missing = missing or error
        except TryFailed as failure:
            if is_listed or not _is_missing(failure, address.model):
                return
            raise ModelError(
                f"{address.name}: {address.url} {_refusal_text(model, failure)}"
            ) from None
    if missing is not None:
        raise ModelError(
            f"{missing}. {_what_to_do(model)}" if model.serves and not is_listed else str(missing)
        ) from None


def _is_missing(failure: TryFailed, model: str) -> bool:
    """Return whether a try failed because there is no such model, or nothing answers."""
    if failure.kind is FailureKind.REFUSED:
        names_model = failure.parameter == "model" or model.casefold() in failure.reason.casefold()
        return names_model or NO_SUCH_MODEL.search(failure.reason) is not None
    return failure.kind in (FailureKind.LATE, FailureKind.ABSENT, FailureKind.BROKEN)


def _refusal_text(model: RemoteModel, failure: TryFailed) -> str:
    request = f"was asked for one token of {model.address.model!r}"
    unlisted = (
        f", which it does not list: {failure.reason}. "
        f"{served_models_text(model.address.model, model.serves)}"
    )
    return f"{request}{unlisted if model.serves else f': {failure.reason}'}. {_what_to_do(model)}"


def _what_to_do(model: RemoteModel) -> str:
    if model.serves:
        return "Name one of these, or let the server load the model, then start again"
    return "Look whether the server knows the model by this name, then start again"


QUESTION = Prompt((Message("user", "Name any three animals, and nothing else."),))
TEXT = Prompt((Message("user", "The capital of France is"),), chat=False)
PLAIN = Sampling(temperature=1.0, top_p=1.0, max_new_tokens=TOKENS)
FEW = 4
"tokens of the answer that tests whether their number is obeyed"
NUCLEUS = 0.001
"a top-p that leaves the likeliest token alone"
COUNTED = (
    "no probabilities can be had; run --samples N draws answers and counts yes and no, "
    "with their binomial noise"
)
LENGTHS = ("max_model_len", "context_length", "n_ctx", "context_window")
"fields of a list of models with the largest number of tokens of a prompt and its answer"

AbilityResult = tuple[bool | None, str]
"whether a server is able, or None if unknown, and the words"


@dataclass(frozen=True, slots=True)
class Ability:
    """One tested ability of an endpoint."""

    name: str
    able: bool | None
    "None: unknown"
    found: str


def examine(model: RemoteModel, within: float) -> Iterator[Ability]:
    """Yield the abilities of an endpoint, each tested `within` so many seconds.

    Raises ModelError if it gives no answer at all.
    """
    return _EndpointTests(model, within).abilities()


class _EndpointTests:
    """The tests of one endpoint."""

    def __init__(self, model: RemoteModel, within: float):
        self._model, self._within = model, within
        self._open = OPEN_TEXT if model.address.raw else OPEN_CHAT
        self._plain = sampled(PLAIN, {"top_k": SERVER}) if model.dialect.provider.own else PLAIN
        self._has_differences = False
        "whether answers to the open prompt differ, so that equal ones tell something"
        self._until = time.monotonic() + within
        "deadline of the test"

    def abilities(self) -> Iterator[Ability]:
        model, provider = self._model, self._model.dialect.provider
        yield Ability("dialect", provider is not UNKNOWN, "; ".join(model.notes))
        try:
            reply = self._ask(ModelCall(QUESTION, 1, SEED, self._plain))
        except TryFailed as failure:
            raise ModelError(f"{model.address.name}: {failure.reason}") from None
        yield _answering(reply)
        yield self._run_test("temperature", self._test_temperature)
        yield self._run_test(
            "top-p",
            lambda: self._test_narrowing(
                "top-p", f"{NUCLEUS}", replace(self._plain, top_p=NUCLEUS)
            ),
        )
        yield self._run_test("top-k", self._test_top_k)
        yield self._run_test("min-p", self._test_min_p)
        yield self._run_test("unknown fields", self._test_unknown_fields)
        yield self._run_test("most tokens", self._test_token_limit)
        yield self._run_test("stop", self._test_stop)
        yield self._run_test("several a call (n)", self._test_several_answers)
        yield self._run_test("seed", self._test_seed)
        alternatives = self._run_test("log-probabilities", self._test_log_probabilities)
        yield alternatives
        yield self._run_test("echo", self._test_echo)
        yield self._questionnaire(exact=bool(alternatives.able))
        yield self._run_test("batches", self._test_batches)
        yield _reasoning(reply)
        limits = _limits(model)
        yield Ability("limits", True if limits else None, limits or "the endpoint does not say")
        refusals = ", ".join(f"{name} ({words})" for name, words in model.dialect.refusals.items())
        yield Ability("refusals", not refusals, refusals or "none of what was asked")

    def _run_test(self, name: str, test: Callable[[], AbilityResult]) -> Ability:
        self._until = time.monotonic() + self._within
        try:
            return Ability(name, *test())
        except TryFailed as failure:
            if failure.kind is FailureKind.REFUSED:
                return Ability(name, False, f"refused: {failure.reason}")
            reason = failure.reason
            if failure.kind is FailureKind.LATE:
                reason = (
                    f"no whole reply in {self._within:g} s, the deadline of a test (${TIMEOUT})"
                )
            return Ability(name, None, f"unknown: {reason}")
        except (ModelError, NoProbabilities, UnreadableProbabilities) as error:
            first_line = str(error).splitlines()[0]
            return Ability(name, False, first_line.removeprefix(f"{self._model.address.name}: "))

    @property
    def _remaining_s(self) -> float:
        return max(0.0, self._until - time.monotonic())

    def _ask(self, call: ModelCall) -> Reply:
        (outcome,) = self._model.ask_all([call], self._remaining_s)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def _test_temperature(self) -> AbilityResult:
        at_one = self._model.sample_open_prompt(self._plain, self._remaining_s)
        self._has_differences = at_one.has_differences
        try:
            at_zero = self._model.sample_open_prompt(
                replace(self._plain, temperature=0.0), self._remaining_s
            )
        except TryFailed as failure:
            if failure.kind is not FailureKind.REFUSED:
                raise
            return (
                at_one.has_differences or None,
                f"{at_one.describe('1')}; 0 is refused: {failure.reason}",
            )
        able, words = judge_temperature(at_one, at_zero)
        return able, f"{words}; {self._model.advice_on_drawing()}" if at_one.is_greedy else words

    def _test_narrowing(self, name: str, value: str, sampling: Sampling) -> AbilityResult:
        if not self._has_differences:
            return None, "unknown: answers do not differ without it"
        return judge_narrowing(
            name, value, self._model.sample_open_prompt(sampling, self._remaining_s)
        )

    def _test_top_k(self) -> AbilityResult:
        provider = self._model.dialect.provider
        if provider.no_top_k is None:
            if provider.own:
                return None, f"{provider.name} draws with its own {' and '.join(provider.own)}"
            return True, f"{provider.name} takes none, and none is sent"
        return self._test_narrowing("top-k", "1", replace(self._plain, top_k=1))

    def _test_min_p(self) -> AbilityResult:
        provider = self._model.dialect.provider
        if provider is not UNKNOWN and "min_p" not in provider.neutral:
            containing = [name for name, value in provider.neutral.items() if "min_p" in str(value)]
            if containing:
                return True, f"switched off within {containing[0]}"
            return None, f"unknown: {provider.name} has no field"
        return self._test_narrowing(
            "min-p", "1", replace(self._plain, extra=json.dumps({"min_p": 1.0}))
        )

    def _test_unknown_fields(self) -> AbilityResult:
        words, kind = self._model.kind_by_refusal(self._remaining_s)
        if not words:
            return (
                True,
                "ignored without a word: a parameter that the server does not know changes nothing",
            )
        provider = self._model.dialect.provider
        suggestion = ""
        if kind and provider is UNKNOWN:
            name = self._model.address.spoken(kind.key)
            suggestion = f"; it speaks as {kind.name} does: ask {name}"
        return True, f"refused ({words}){suggestion}"

    def _test_token_limit(self) -> AbilityResult:
        reply = self._ask(ModelCall(self._open, 1, SEED, replace(self._plain, max_new_tokens=FEW)))
        n_tokens, n_words = reply.answer_tokens, len(comparable_text(reply.choices[0].text).split())
        if n_words > FEW:
            return False, f"ignored: {n_words} words came where {FEW} tokens were asked for"
        if n_tokens is not None and n_tokens - reply.thinking_tokens > FEW:
            return False, f"ignored: {n_tokens} tokens came where {FEW} were asked for"
        return True, f"obeyed ({FEW} asked for, {n_words} words came)"

    def _test_stop(self) -> AbilityResult:
        reply = self._ask(
            ModelCall(self._open, 1, SEED, replace(self._plain, extra=json.dumps({"stop": [" "]})))
        )
        # Some servers send the stop itself, too.
        n_words = len(comparable_text(reply.choices[0].text).split())
        if n_words > FEW:
            return False, f"ignored: {n_words} words came behind it"
        return True, "obeyed"

    def _test_several_answers(self) -> AbilityResult:
        if self._model.dialect.most == 1:
            return False, "not asked for: one answer a call, each paid with its prompt"
        texts = [
            choice.text for choice in self._ask(ModelCall(self._open, 2, SEED, self._plain)).choices
        ]
        if len(texts) < 2:
            return False, "ignored: one answer a call, each paid with its prompt"
        if self._has_differences and texts[0] == texts[1]:
            return None, "unknown: two answers came of one call, and they are equal"
        return True, "obeyed: two answers came of one call"

    def _test_seed(self) -> AbilityResult:
        """Ask twice with one seed and once with another.

        For a conclusive test the answer to the other seed must differ.
        """
        model = self._model
        if not model.dialect.seed:
            return False, "not taken, so answers cannot be drawn again"
        first, repeated, other = (
            self._ask(ModelCall(self._open, 1, seed, self._plain)).choices[0].text
            for seed in (SEED, SEED, SEED + 1)
        )
        if not model.dialect.seed:
            return False, "refused, so answers cannot be drawn again"
        if first != repeated:
            return False, "ignored: two calls with one seed had different answers"
        if first == other:
            return None, "unknown: another seed had the same answer"
        return True, "obeyed: two calls with one seed had the same answer, another seed another one"

    def _test_log_probabilities(self) -> AbilityResult:
        reply = self._ask(first_token_call(QUESTION, ALTERNATIVES))
        n_named = len(first_tokens(self._model.address.name, reply))
        consequence = "" if n_named > 1 else ": exact answers cannot be computed"
        return n_named > 1, f"{n_named} alternatives of the first token{consequence}"

    def _questionnaire(self, *, exact: bool) -> Ability:
        """Return the measure of the questionnaire audit that an endpoint supports.

        See `probabilities`.
        """
        name = "questionnaires"
        if exact:
            return Ability(
                name, True, "exact: p(yes) and p(no) from the alternatives of the first token"
            )
        try:
            reply = self._ask(echo_call(QUESTION, "Yes"))
            log_probability = forced_score(self._model.address.name, reply, QUESTION, "Yes")
        except (ModelError, TryFailed, NoProbabilities, UnreadableProbabilities):
            return Ability(name, None, f"counted: {COUNTED}")
        measure = "exact: each answer is forced upon it, six paid calls a prompt"
        return Ability(name, True, f"{measure} (p = {math.exp(log_probability):.2g} for one)")

    def _test_batches(self) -> AbilityResult:
        self._model.check_batch_list()
        return True, f"taken, at {self._model.dialect.provider.batch:g} of the price (run --batch)"

    def _test_echo(self) -> AbilityResult:
        name = self._model.address.name
        tokens = first_tokens(name, self._ask(first_token_call(TEXT, ALTERNATIVES)))
        likeliest = max(tokens, key=tokens.__getitem__)
        check_echo(
            name,
            self._ask(echo_call(TEXT, likeliest)).choices[0].logprobs,
            likeliest,
            tokens[likeliest],
        )
        return (
            True,
            "/completions sends back a prompt with its log-probabilities: labels of several "
            "tokens can be scored",
        )


def _answering(reply: Reply) -> Ability:
    """Return whether an endpoint answers, with the answer and the snapshot."""
    text = split(reply.choices[0].text)
    snapshot = reply.snapshot or "no snapshot reported"
    answered_by = f"{snapshot}, {reply.fingerprint}" if reply.fingerprint else snapshot
    quoted = repr(brief(text.answer or "cut off in thought"))
    return Ability("answers", text.answer is not None, f"{quoted} by {answered_by}")


def _reasoning(reply: Reply) -> Ability:
    """Return whether the model thought before an answer."""
    thought = split(reply.choices[0].text)
    token_count = (
        f"{reply.thinking_tokens:,} tokens of thought counted" if reply.thinking_tokens else ""
    )
    if thought.thinking or token_count or thought.answer is None:
        visibility = f"shown, {brief(thought.thinking)[:60]!r}" if thought.thinking else "not shown"
        return Ability("thinking", True, "; ".join(filter(None, (visibility, token_count))))
    return Ability("thinking", False, "none before this answer")


def _limits(model: RemoteModel) -> str:
    """Return the token limit that the list of models states, or an empty string."""
    entry = model.listed
    meta = entry.get("meta")
    for field in (entry, meta if isinstance(meta, dict) else {}):
        for name in LENGTHS:
            if isinstance(field.get(name), int):
                return f"{field[name]:,} tokens for a prompt and its answer ({name})"
    return ""
