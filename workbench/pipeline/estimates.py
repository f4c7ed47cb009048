"""The estimate of a plan before it starts: tokens, calls, cost, time, and the limits it would
exceed.

Tokens are counted without the model's tokenizer, so they are estimates. Where an earlier job asked
the same model in the same manner, what that job took is the better guess, of time and of what a
served model bills.

Where answers are drawn until they are valid, the dearest outcome is that of all tries.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

from stores.jobs.job_rows import Job
from workbench.domain.names import speed
from workbench.domain.prompts import Message, Prompt
from workbench.domain.responses import EXACT, Request, Sampling
from workbench.inference.served.address import parse_address
from workbench.inference.served.budget import TOKENS_PER_MESSAGE, Budget, Usage, budget_from
from workbench.inference.served.budget import estimate as at_most
from workbench.inference.served.providers import named, recognised
from workbench.pipeline.design_checks import scripted, served
from workbench.pipeline.planning import Plan

CHARACTERS_PER_TOKEN = 4
"of English text, under the vocabularies of today's models"
LIKE = ("model", "audit", "instrument", "sampling", "dtype", "cluster", "chat_format")
"what two jobs share where the one says how the other will go"
DRAWING = ("temperature", "top_p", "top_k", "server")
"fields of a sampling that change next to nothing in how long an answer takes"
LEFT_OFF, ENOUGH = ("paused", "cancelled", "failed", "lost"), 100
"states of a job that broke off, and the answers after which its pace is known"


@dataclass(frozen=True, slots=True)
class Estimate:
    """The estimate of the rest of a plan."""

    prompts: int
    answers: int
    "those that are to be had, however many are drawn for them"
    tokens_in: int
    "of the prompts, each read once"
    tokens_distinct: int
    """of these, without contexts that prompts have in common: what a model that runs here computes
    at most"""
    tokens_out_most: int
    "where every answer is as long as it may be"
    exact: bool = False
    served: bool = False
    scripted: bool = False
    tokens_out: int | None = None
    "as long as answers were in the job `like`; None: no such job"
    least: Usage = field(default_factory=Usage)
    """of a served model that gives all answers to a prompt in one call; tokens are counted rather
    too many than too few"""
    most: Usage = field(default_factory=Usage)
    """of one that gives one answer a call, which bills the prompt again each time; calls that are
    repeated come on top"""
    billed_in: int | None = None
    "prompt tokens as the job `like` was billed for them"
    budget: Budget = field(default_factory=Budget)
    rate: float | None = None
    "answers a second of the job `like`"
    like: int | None = None
    """number of the newest job that asked in the same manner: finished, or left off after enough
    answers"""
    answers_most: int | None = None
    "where answers are drawn until they are valid, those of all tries; None: every answer counts"
    batched: bool = False
    "at the price of batches"
    in_rounds: bool = False
    "what comes decides what is asked next"
    valid: float = 1.0
    "share of the answers that were valid in the job `like`"

    @property
    def answers_likely(self) -> float:
        """How many answers are drawn if as many are valid as in the job `like`."""
        if self.answers_most is None or self.valid >= 1:
            return self.answers
        return (
            min(self.answers / self.valid, self.answers_most) if self.valid else self.answers_most
        )

    @property
    def seconds(self) -> float | None:
        """How long it takes at the pace of the job `like`; None: not known."""
        return self.answers_likely / self.rate if self.rate else None

    @property
    def cost(self) -> float | None:
        """What a served model's calls cost if answers are as long as in the job `like`; None: not
        known.
        """
        if not self.served or self.tokens_out is None:
            return None
        spent = Usage(self.least.requests, self.billed_in or self.tokens_in, self.tokens_out)
        return self.budget.cost(spent.in_batches if self.batched else spent)

    @property
    def cost_most(self) -> float | None:
        """The dearest outcome; None where prices are not known."""
        return self.budget.cost(self.most) if self.served else None

    @property
    def exceeded(self) -> str:
        """Which limits the dearest outcome is beyond, "" for none."""
        return self.budget.exceeded(self.most) if self.served else ""

    def as_json(self) -> dict[str, object]:
        """Return the figures as plain values; None means unknown."""
        calls: dict[str, object] = {}
        if self.served:
            calls = {
                "requests": self.least.requests,
                "requests_most": self.most.requests,
                "cost": self.cost,
                "cost_most": self.cost_most,
                "exceeds": self.exceeded or None,
            }
        return {
            "tokens_in": self.tokens_in,
            "tokens_out": self.tokens_out,
            "tokens_out_most": self.tokens_out_most,
            "seconds": self.seconds,
            "like_job": self.like,
            **({} if self.answers_most is None else {"answers_most": self.answers_most}),
            **calls,
        }

    def describe(self) -> str:
        """Return the estimate for a person who is about to start; "" if nothing will be asked."""
        if not self.prompts:
            return ""
        if self.scripted:
            return "estimate: no tokens, no cost; the model answers from a script"
        return "\n".join([self._tokens(), *(self._calls() if self.served else [self._time()])])

    def _tokens(self) -> str:
        asked = f"estimate: about {_short(self.tokens_in)} prompt tokens"
        if self.tokens_distinct < self.tokens_in and not self.served:
            asked += (
                f", of which {_short(self.tokens_distinct)} are computed: prompts share contexts"
            )
        if self.exact:
            return f"{asked}; no sampling"
        known = (
            ""
            if self.tokens_out is None
            else f", about {_short(self.tokens_out)} if they are as in job {self.like}"
        )
        most = f"at most {_short(self.tokens_out_most)}"
        if not self.answers_most:
            return f"{asked}; {most} answer tokens{known}"
        valid = _short(self.tokens_out_most * self.answers / self.answers_most)
        return f"{asked}; {valid} answer tokens if all are valid, {most} with all tries{known}"

    def _time(self) -> str:
        if self.seconds is None:
            return f"the time is unknown: no similar job has finished, or had {ENOUGH} answers"
        counted = "prompts" if self.exact else "answers"
        return (
            f"takes about {_duration(self.seconds)}: job {self.like} had "
            f"{speed(self.rate or 0)} {counted} a second"
        )

    def _calls(self) -> list[str]:
        calls = f"{self.least.requests:,} calls"
        if self.answers_most:
            calls += (
                f", up to {self.most.requests:,} with all tries if the endpoint gives one "
                "answer per call"
            )
        elif self.most.requests > self.least.requests:
            calls += f", up to {self.most.requests:,} if the endpoint gives one answer per call"
        if self.most.requests > self.least.requests:
            calls += ", which bills its prompt again"
        lines = [calls, self._price()]
        if self.batched:
            each = (
                "each round is a batch of its own, answered"
                if self.in_rounds
                else "the endpoint answers"
            )
            lines.append(f"in batches: {each} within a day, and you may close the terminal")
        elif self.seconds is not None:
            lines.append(self._time())
        if self.exceeded:
            surely = self.budget.exceeded(self.least) == self.exceeded
            lines.append(
                f"! beyond the limit of {self.exceeded}{'' if surely else ' in the dearest case'}: "
                "the job would end there, with the answers so far stored"
            )
        return lines

    def _price(self) -> str:
        if self.cost_most is None:
            return (
                "cost unknown: set $WORKBENCH_PRICE_IN and $WORKBENCH_PRICE_OUT, the prices "
                "of a million tokens"
            )
        about = "" if self.cost is None else f"about {self.cost:.4g}, "
        share = f" at {self.budget.batch_share:g} of the price, in batches" if self.batched else ""
        return f"cost {about}at most {self.cost_most:.4g}{share}; {self.budget.limits()}"


def estimate(
    plan: Plan,
    jobs: Iterable[Job] = (),
    environ: Mapping[str, str] = os.environ,
    *,
    batched: bool = False,
) -> Estimate:
    """Return what a plan will take. `jobs`: those of the store, the newest first; `batched`: at the
    price of batches.

    Raises UsageError where a limit or a price in the environment is no such number and the model is
    served.
    """
    design = plan.design
    exact, is_served = design.sampling.mode == EXACT, served(design.model)
    requests = [request for _, request in plan.requests()]
    if plan.settling is not None:  # every prompt may need all of its answers
        held = [(plan.stored.get(key, 0), request) for key, request in plan.requests()]
        requests = [replace(request, n=plan.design.samples - n) for n, request in held]
    dearest = requests if plan.tally is None else _all_tries(plan)
    billed = is_served or not exact
    least = at_most(requests if billed else [], design.sampling)
    most = at_most(dearest if billed else [], design.sampling, alone=True)
    if batched:
        least, most = least.in_batches, most.in_batches
    before = _alike(plan, jobs)
    told: Mapping[str, float] = before.progress if before is not None else {}
    found = Estimate(
        prompts=len(requests),
        answers=sum(request.n for request in requests)
        if plan.tally is None
        else plan.samples_needed,
        tokens_in=sum(_tokens(request.prompt) for request in requests),
        tokens_distinct=_distinct(request.prompt for request in requests),
        tokens_out_most=0 if exact else most.answer_tokens,
        exact=exact,
        served=is_served,
        scripted=scripted(design.model),
        least=least if is_served else Usage(),
        most=most if is_served else Usage(),
        budget=_budget(design.model, environ, batched) if is_served else Budget(),
        batched=batched,
        in_rounds=plan.in_rounds,
        rate=told["answers"] / told["seconds"] if told.get("seconds") else None,
        like=before.id if before is not None else None,
        answers_most=None if plan.tally is None else sum(request.n for request in dearest),
        valid=1 - told.get("invalid", 0) / told["answers"] if told else 1.0,
    )
    return replace(
        found,
        tokens_out=None if exact else _as_before(told, "tokens_out", found.answers_likely),
        billed_in=_as_before(told, "tokens_in", found.answers_likely),
    )


def _budget(model: str, environ: Mapping[str, str], batched: bool) -> Budget:
    """Return the limits and prices of a served model; those of batches as far as its name tells
    what kind it is.
    """
    budget = budget_from(environ)
    if not batched:
        return budget
    address = parse_address(model, environ)
    of = named(address.dialect) if address.dialect else recognised(address.host, ())
    return replace(budget, batch_share=of.batch or 1.0)


def _all_tries(plan: Plan) -> list[Request]:
    """Return what is asked where answers are drawn until they are valid, and no more of them
    are.
    """
    drawn = plan.tally.drawn if plan.tally is not None else {}
    most = plan.design.samples * plan.design.tries
    return [replace(request, n=most - drawn.get(key, 0)) for key, request in plan.requests()]


def _as_before(told: Mapping[str, float], tokens: str, answers: float) -> int | None:
    """Return how many tokens are billed if it is as many an answer as in an earlier job; None where
    it does not say.
    """
    own = told.get(tokens, 0) - told.get(f"{tokens}_before", 0)
    return round(own / told["answers"] * answers) if own else None


def _alike(plan: Plan, jobs: Iterable[Job]) -> Job | None:
    """Return the newest finished job that asked the same model in the same manner and says what it
    took; without one, the newest of those that were left off after enough answers. Without either,
    one that drew in another manner what is as long.
    """
    wanted, asked = plan.design.as_json(), [job for job in jobs if job.kind == "sample"]
    for but in ((), DRAWING):
        same = [
            job
            for job in asked
            if all(_filled(job.spec, name, but) == _filled(wanted, name, but) for name in LIKE)
        ]
        finished = (job for job in same if job.state == "done" and job.progress.get("answers"))
        left_off = (
            job
            for job in same
            if job.state in LEFT_OFF and job.progress.get("answers", 0) >= ENOUGH
        )
        if (found := next(finished, None) or next(left_off, None)) is not None:
            return found
    return None


def _filled(spec: Mapping[str, object], name: str, but: Sequence[str] = ()) -> object:
    """Return a field of a job's specification, its sampling without the fields `but`; older ones
    lack stop rules, dtypes and clusters.
    """
    if name != "sampling":
        return spec.get(name, "")
    sampling = spec.get(name)
    filled = asdict(Sampling(**sampling)) if isinstance(sampling, Mapping) else {}
    return {field: value for field, value in filled.items() if field not in but}


def _tokens(prompt: Prompt) -> int:
    return _of_messages(prompt.messages) + TOKENS_PER_MESSAGE


def _distinct(prompts: Iterable[Prompt]) -> int:
    """Return the tokens of prompts if a shared context is read once."""
    contexts: dict[tuple[Message, ...], int] = {}
    after = 0
    for prompt in prompts:
        shared = prompt.messages[: prompt.context]
        if shared not in contexts:
            contexts[shared] = _of_messages(shared)
        after += _of_messages(prompt.messages[prompt.context :]) + TOKENS_PER_MESSAGE
    return after + sum(contexts.values())


def _of_messages(messages: Sequence[Message]) -> int:
    length = sum(len(message.content) for message in messages)
    return -(-length // CHARACTERS_PER_TOKEN) + TOKENS_PER_MESSAGE * len(messages)


def _short(tokens: float) -> str:
    """Return `940`, `12,300`, `1.23 million`: three digits are more than an estimate knows."""
    if tokens >= 1e6:
        return f"{tokens / 1e6:,.3g} million" if tokens < 1e9 else f"{tokens / 1e6:,.0f} million"
    return f"{int(float(f'{tokens:.3g}')):,}"


def _duration(seconds: float) -> str:
    minutes = round(seconds / 60)
    if minutes < 1:
        return "a minute or less"
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"
