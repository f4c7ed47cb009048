"""The estimate of a plan before it starts: tokens, calls, cost, time and exceeded limits.

Tokens are counted without the model's tokenizer, so they are estimates. If an earlier job asked the
same model in the same manner, the usage of that job is the better guess, of time and of a served
model's bill. If answers are drawn until they are valid, the dearest outcome is that of all tries.
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
from workbench.inference.served.providers import provider_named, recognise_server
from workbench.pipeline.design_checks import scripted, served
from workbench.pipeline.planning import Plan

CHARACTERS_PER_TOKEN = 4
"characters per token of English text, with the vocabularies of today's models"
LIKE = ("model", "audit", "instrument", "sampling", "dtype", "cluster", "chat_format")
"fields that two jobs share if one predicts the other"
DRAWING = ("temperature", "top_p", "top_k", "server")
"fields of a sampling that hardly change how long an answer takes"
LEFT_OFF, ENOUGH = ("paused", "cancelled", "failed", "lost"), 100
"states of a job that broke off, and the number of answers after which its pace is known"


@dataclass(frozen=True, slots=True)
class PlanEstimate:
    """The estimate of the rest of a plan."""

    prompts: int
    answers: int
    "number of answers that are needed, however many are drawn for them"
    tokens_in: int
    "tokens of the prompts, each read once"
    tokens_distinct: int
    """number of these tokens, without contexts that prompts have in common

    It is the most that a model here computes.
    """
    tokens_out_most: int
    "tokens of the answers if every answer is as long as possible"
    exact: bool = False
    served: bool = False
    scripted: bool = False
    tokens_out: int | None = None
    """tokens of the answers if they are as long as in the similar job

    It is None without such a job.
    """
    least: Usage = field(default_factory=Usage)
    """usage of a served model that gives all answers to a prompt in one call

    Its tokens are rather overestimated.
    """
    most: Usage = field(default_factory=Usage)
    """usage of one that gives one answer a call, without repeated calls

    It bills the prompt again each time.
    """
    billed_in: int | None = None
    "prompt tokens by the bill of the similar job"
    budget: Budget = field(default_factory=Budget)
    rate: float | None = None
    "answers a second of the similar job"
    like: int | None = None
    """number of the similar job: the newest one that asked in the same manner

    It was finished, or left off after enough answers.
    """
    answers_most: int | None = None
    """number of answers with all tries, if they are drawn until they are valid

    It is None if every answer counts.
    """
    batched: bool = False
    "whether the price is that of batches"
    in_rounds: bool = False
    "whether new answers decide what is asked next"
    valid: float = 1.0
    "share of the answers that were valid in the similar job"

    @property
    def answers_likely(self) -> float:
        """The number of answers that are drawn if as many are valid as in the similar job."""
        if self.answers_most is None or self.valid >= 1:
            return self.answers
        return (
            min(self.answers / self.valid, self.answers_most) if self.valid else self.answers_most
        )

    @property
    def seconds(self) -> float | None:
        """The duration at the pace of the similar job, or None if it is unknown."""
        return self.answers_likely / self.rate if self.rate else None

    @property
    def cost(self) -> float | None:
        """The cost of a served model's calls, or None if it is unknown.

        Answers are assumed to be as long as in the similar job.
        """
        if not self.served or self.tokens_out is None:
            return None
        spent = Usage(self.least.requests, self.billed_in or self.tokens_in, self.tokens_out)
        return self.budget.cost(spent.in_batches if self.batched else spent)

    @property
    def cost_most(self) -> float | None:
        """The cost of the dearest outcome, or None if prices are unknown."""
        return self.budget.cost(self.most) if self.served else None

    @property
    def exceeded(self) -> str:
        """The limits that the dearest outcome exceeds, or empty for none."""
        return self.budget.exceeded(self.most) if self.served else ""

    def as_json(self) -> dict[str, object]:
        """Return the figures as plain values. None means unknown."""
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
        """Return the estimate for a person who starts the plan, or empty if nothing is asked."""
        if not self.prompts:
            return ""
        if self.scripted:
            return "estimate: no tokens, no cost; the model answers from a script"
        return "\n".join([self._tokens(), *(self._calls() if self.served else [self._time()])])

    def _tokens(self) -> str:
        text = f"estimate: about {_short(self.tokens_in)} prompt tokens"
        if self.tokens_distinct < self.tokens_in and not self.served:
            text += (
                f", of which {_short(self.tokens_distinct)} are computed: prompts share contexts"
            )
        if self.exact:
            return f"{text}; no sampling"
        likely = (
            ""
            if self.tokens_out is None
            else f", about {_short(self.tokens_out)} if they are as in job {self.like}"
        )
        limit = f"at most {_short(self.tokens_out_most)}"
        if not self.answers_most:
            return f"{text}; {limit} answer tokens{likely}"
        valid = _short(self.tokens_out_most * self.answers / self.answers_most)
        return f"{text}; {valid} answer tokens if all are valid, {limit} with all tries{likely}"

    def _time(self) -> str:
        if self.seconds is None:
            return f"the time is unknown: no similar job has finished, or had {ENOUGH} answers"
        unit = "prompts" if self.exact else "answers"
        return (
            f"takes about {_duration(self.seconds)}: job {self.like} had "
            f"{speed(self.rate or 0)} {unit} a second"
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
            mode = (
                "each round is a batch of its own, answered"
                if self.in_rounds
                else "the endpoint answers"
            )
            lines.append(f"in batches: {mode} within a day, and you may close the terminal")
        elif self.seconds is not None:
            lines.append(self._time())
        if self.exceeded:
            sure = self.budget.exceeded(self.least) == self.exceeded
            lines.append(
                f"! beyond the limit of {self.exceeded}{'' if sure else ' in the dearest case'}: "
                "the job would end there, with the answers so far stored"
            )
        return lines

    def _price(self) -> str:
        if self.cost_most is None:
            return (
                "cost unknown: set $WORKBENCH_PRICE_IN and $WORKBENCH_PRICE_OUT, the prices "
                "of a million tokens"
            )
        likely = "" if self.cost is None else f"about {self.cost:.4g}, "
        share = f" at {self.budget.batch_share:g} of the price, in batches" if self.batched else ""
        return f"cost {likely}at most {self.cost_most:.4g}{share}; {self.budget.limits()}"


def estimate(
    plan: Plan,
    jobs: Iterable[Job] = (),
    environ: Mapping[str, str] = os.environ,
    *,
    batched: bool = False,
) -> PlanEstimate:
    """Return the estimated prompts, tokens, duration and cost of a plan.

    The length of answers and the pace are those of the most similar earlier job, and unknown
    without one. `jobs` are those of the store, the newest first. `batched` means at the price of
    batches.

    Raises UsageError if the model is served and a limit or a price in the environment is not a
    number.
    """
    design = plan.design
    is_exact, is_served = design.sampling.mode == EXACT, served(design.model)
    requests = _requests(plan)
    largest = requests if plan.tally is None else _all_tries(plan)
    has_answers = is_served or not is_exact
    least = at_most(requests if has_answers else [], design.sampling)
    most = at_most(largest if has_answers else [], design.sampling, alone=True)
    if batched:
        least, most = least.in_batches, most.in_batches
    n_answers, n_answers_most = plan.samples_needed, sum(request.n for request in largest)
    if plan.tally is None:
        n_answers = n_answers_most
    earlier_job = _most_similar_job(plan, jobs)
    progress: Mapping[str, float] = earlier_job.progress if earlier_job is not None else {}
    partial = PlanEstimate(
        prompts=len(requests),
        answers=n_answers,
        tokens_in=sum(_tokens(request.prompt) for request in requests),
        tokens_distinct=_distinct(request.prompt for request in requests),
        tokens_out_most=0 if is_exact else most.answer_tokens,
        exact=is_exact,
        served=is_served,
        scripted=scripted(design.model),
        least=least if is_served else Usage(),
        most=most if is_served else Usage(),
        budget=_budget(design.model, environ, batched) if is_served else Budget(),
        batched=batched,
        in_rounds=plan.in_rounds,
        rate=progress["answers"] / progress["seconds"] if progress.get("seconds") else None,
        like=earlier_job.id if earlier_job is not None else None,
        answers_most=None if plan.tally is None else n_answers_most,
        valid=1 - progress.get("invalid", 0) / progress["answers"] if progress else 1.0,
    )
    return replace(
        partial,
        tokens_out=None
        if is_exact
        else _tokens_at_earlier_rate(progress, "tokens_out", partial.answers_likely),
        billed_in=_tokens_at_earlier_rate(progress, "tokens_in", partial.answers_likely),
    )


def _requests(plan: Plan) -> list[Request]:
    """Return the requests of a plan. A prompt asked until settled may need all its answers."""
    if plan.settling is None:
        return [request for _, request in plan.requests()]
    return [
        replace(request, n=plan.design.samples - plan.stored.get(key, 0))
        for key, request in plan.requests()
    ]


def _budget(model: str, environ: Mapping[str, str], batched: bool) -> Budget:
    """Return the limits and prices of a served model.

    Prices of batches depend on the kind of server, as far as its name tells it.
    """
    budget = budget_from(environ)
    if not batched:
        return budget
    address = parse_address(model, environ)
    provider = (
        provider_named(address.dialect) if address.dialect else recognise_server(address.host, ())
    )
    return replace(budget, batch_share=provider.batch or 1.0)


def _all_tries(plan: Plan) -> list[Request]:
    """Return the requests if answers are drawn until they are valid, and no more of them are."""
    n_drawn = plan.tally.drawn if plan.tally is not None else {}
    max_answers = plan.design.samples * plan.design.tries
    return [
        replace(request, n=max_answers - n_drawn.get(key, 0)) for key, request in plan.requests()
    ]


def _tokens_at_earlier_rate(meter: Mapping[str, float], tokens: str, answers: float) -> int | None:
    """Return the number of tokens at an earlier job's rate per answer, or None if it is unknown.

    `meter` has the counts of the earlier job.
    """
    n_tokens = meter.get(tokens, 0) - meter.get(f"{tokens}_before", 0)
    return round(n_tokens / meter["answers"] * answers) if n_tokens else None


def _most_similar_job(plan: Plan, jobs: Iterable[Job]) -> Job | None:
    """Return the newest job that predicts a plan.

    It is the newest finished job that asked the same model in the same manner and reports its
    usage, or else the newest of those that were left off after enough answers. Without either, it
    is one that drew in another manner answers of the same length.
    """
    spec, sample_jobs = plan.design.as_json(), [job for job in jobs if job.kind == "sample"]
    for ignored in ((), DRAWING):
        similar = [
            job
            for job in sample_jobs
            if all(
                _filled(job.spec, name, ignored) == _filled(spec, name, ignored) for name in LIKE
            )
        ]
        finished = (job for job in similar if job.state == "done" and job.progress.get("answers"))
        left_off = (
            job
            for job in similar
            if job.state in LEFT_OFF and job.progress.get("answers", 0) >= ENOUGH
        )
        if (earlier_job := next(finished, None) or next(left_off, None)) is not None:
            return earlier_job
    return None


def _filled(spec: Mapping[str, object], name: str, ignored: Sequence[str] = ()) -> object:
    """Return a field of a job's specification, and of its sampling all but the ignored fields.

    Older specifications lack stop rules, dtypes and clusters.
    """
    if name != "sampling":
        return spec.get(name, "")
    sampling = spec.get(name)
    filled = asdict(Sampling(**sampling)) if isinstance(sampling, Mapping) else {}
    return {field: value for field, value in filled.items() if field not in ignored}


def _tokens(prompt: Prompt) -> int:
    return _of_messages(prompt.messages) + TOKENS_PER_MESSAGE


def _distinct(prompts: Iterable[Prompt]) -> int:
    """Return the tokens of prompts if a shared context is read once."""
    contexts: dict[tuple[Message, ...], int] = {}
    n_after = 0
    for prompt in prompts:
        shared = prompt.messages[: prompt.context]
        if shared not in contexts:
            contexts[shared] = _of_messages(shared)
        n_after += _of_messages(prompt.messages[prompt.context :]) + TOKENS_PER_MESSAGE
    return n_after + sum(contexts.values())


def _of_messages(messages: Sequence[Message]) -> int:
    length = sum(len(message.content) for message in messages)
    return -(-length // CHARACTERS_PER_TOKEN) + TOKENS_PER_MESSAGE * len(messages)


def _short(tokens: float) -> str:
    """Return `940`, `12,300`, `1.23 million`. Three digits are more than an estimate knows."""
    if tokens >= 1e6:
        return f"{tokens / 1e6:,.3g} million" if tokens < 1e9 else f"{tokens / 1e6:,.0f} million"
    return f"{int(float(f'{tokens:.3g}')):,}"


def _duration(seconds: float) -> str:
    minutes = round(seconds / 60)
    if minutes < 1:
        return "a minute or less"
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"
