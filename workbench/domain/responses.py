"""Models, the way in which they are asked, and their responses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Protocol

from workbench.domain.keys import content_key
from workbench.domain.prompts import Prompt

SAMPLED, EXACT = "sample", "exact"
"""the two modes of asking

With `sample`, answers are drawn. With `exact`, the probabilities of a template's labels are
computed and nothing is drawn.
"""
UNKNOWN = "unknown"
IMPORTED = "imported:"
"beginning of the names of models whose answers were collected elsewhere"
WHEN_DECIDED = "decided"
"""stop rule by which an answer ends as soon as its stance is settled

Whatever the model would have said after it is not asked.
"""

SERVER = "server"
"stands for a parameter that is not sent, so that the endpoint's own default holds"
NOT_STATED = "unknown"
"""stands beside the parameters that a log of answers collected elsewhere does not state

Nobody knows who chose them.
"""
MAY_BE_LEFT = ("temperature", "top_p", "top_k")
"""parameters that may be left to an endpoint

With top-k its min-p and its penalties are left to it, too.
"""
QUANTISED = {"int8": 1.0, "nf4": 0.5625}
"""bytes per weight of a linear layer if weights are quantised on loading, by bitsandbytes

They are for LLM.int8(), and 4-bit NormalFloat with an absolute maximum for each 64 of them. Other
layers are not quantised.
"""
DTYPES = ("float32", "bfloat16", "float16", *QUANTISED)
RAW_THOUGHTS = (
    "a raw prompt is continued as text, so there is no thought before the answer that --thinking "
    "could bound; leave it out, or ask with templates that are chats"
)
NO_THINKING = "off"
EFFORTS = {"low": 1024, "medium": 8192, "high": 24576}
"""number of tokens of an effort, if a budget is kept in tokens

Google's compatible endpoint translates them in this way,
https://ai.google.dev/gemini-api/docs/openai.
"""


@dataclass(frozen=True, slots=True)
class Sampling:
    """The way in which answers are drawn.

    Samplings that differ are never pooled.
    """

    temperature: float = 1.0
    top_p: float = 0.85
    top_k: int | None = None
    "None for the whole vocabulary"
    max_new_tokens: int = 20
    "most tokens, or 0 if not known, of answers that were collected elsewhere"
    stop: str = ""
    "`decided`, or an empty string if an answer ends with the model's end or after `max_new_tokens`"
    mode: str = SAMPLED
    "`sample` or `exact`"
    server: str = ""
    """parameters of `MAY_BE_LEFT` that are left to the endpoint, with commas between

    The numbers above mean nothing then. `NOT_STATED` after them means that they are not known.
    """
    extra: str = ""
    """further fields that a person adds to each request, as a JSON object with sorted keys

    An empty string stands for none.
    """
    thinking: str = ""
    """amount of thinking that a model may do before it answers

    It is `off`, `low`, `medium`, `high` or a number of tokens. With an empty string, the model
    thinks as it does by itself, within `max_new_tokens`.
    """

    @property
    def key(self) -> bytes:
        defaults = {"stop": "", "mode": SAMPLED, "server": "", "extra": "", "thinking": ""}
        # Keys from before there were these fields stay as they were.
        return content_key(
            {name: value for name, value in asdict(self).items() if defaults.get(name) != value}
        )

    @property
    def left(self) -> tuple[str, ...]:
        """The parameters that are left to the endpoint, or that a log does not state."""
        return tuple(name for name in self.server.split(",") if name not in ("", NOT_STATED))

    def _stated(self, tokens: str) -> str:
        """Return the settings of a sampling that a log states, as text."""
        parts = []
        if "temperature" not in self.left:
            parts.append(f"T {self.temperature:g}")
        if "top_p" not in self.left:
            parts.append(f"top-p {self.top_p:g}")
        if self.max_new_tokens and tokens:
            parts.append(tokens.removeprefix(", "))
        return ", ".join([*parts, "the rest not known"]) if parts else "sampling not known"

    def known(self, name: str) -> Any:
        """Return a parameter of the record, or None if nobody knows its value.

        Then it was left to the endpoint, or the log of imported answers does not state it. The
        number that stands in its place is part of the key alone.
        """
        return known_parameter(asdict(self), name)

    def told(self, name: str) -> Any:
        """Return one of `MAY_BE_LEFT` as a person states it.

        It is `server`, or the number, where a top-k of 0 stands for none.
        """
        return SERVER if name in self.left else getattr(self, name) or 0

    @property
    def thinking_tokens(self) -> int:
        """The number of thinking tokens before an answer, or 0 if none are allowed."""
        return int(self.thinking) if self.thinking.isdecimal() else EFFORTS.get(self.thinking, 0)

    @property
    def most_tokens(self) -> int:
        """The most tokens of a thought and its answer together."""
        return self.max_new_tokens + self.thinking_tokens

    @property
    def manner(self) -> str:
        """The sampling and the end of an answer as text, without the limit of tokens."""
        return self._in_words("")

    def __str__(self) -> str:
        tokens = f"{self.max_new_tokens} token{'' if self.max_new_tokens == 1 else 's'}"
        return self._in_words(f", {tokens if self.max_new_tokens else 'length not known'}")

    def _in_words(self, tokens: str) -> str:
        budget = " tokens" if self.thinking.isdecimal() else ""
        ending = f", thinking {self.thinking}{budget}" if self.thinking else ""
        ending += f", with {self.extra}" if self.extra else ""
        if self.mode == EXACT:
            return "exact label probabilities" + ending
        left = self.left
        if NOT_STATED in self.server.split(","):
            return self._stated(tokens)
        temperature = "T of the server" if "temperature" in left else f"T {self.temperature:g}"
        top_p = "top-p of the server" if "top_p" in left else f"top-p {self.top_p:g}"
        top_k = f", top-k {self.top_k}" if self.top_k else ""
        top_k = ", top-k and penalties of the server" if "top_k" in left else top_k
        stop = ", until decided" if self.stop else ""
        return f"{temperature}, {top_p}{top_k}{tokens}{stop}{ending}"


def known_parameter(row: Any, name: str) -> Any:
    """Return a parameter of a stored sampling, or None if nobody knows its value.

    The sampling is a row, or its values by name.
    """
    if name in row["server"].split(","):
        return None
    if name == "max_new_tokens" and row["mode"] == SAMPLED:
        return row[name] or None
    return row[name]


def known_origin(model: str, seed: int, time: str) -> tuple[int | None, str]:
    """Return the seed and the time of an answer, or (None, "") if nobody knows them.

    Answers that were collected elsewhere keep, in their places, a number that tells them apart and
    the time of the import.
    """
    return (None, "") if model.startswith(IMPORTED) else (seed, time)


def sampled(usual: Sampling, changes: Mapping[str, Any]) -> Sampling:
    """Return a sampling with the given changes.

    `server` leaves a parameter to the endpoint, None leaves it as it is, and a top-k of 0 draws
    from all tokens.

    Examples
    --------
    >>> str(sampled(Sampling(), {"temperature": "server", "top_k": 5}))
    'T of the server, top-p 0.85, top-k 5, 20 tokens'
    """
    given_values = {name: value for name, value in changes.items() if value is not None}
    left = {
        name
        for name in MAY_BE_LEFT
        if given_values.get(name, SERVER if name in usual.left else None) == SERVER
    }
    neutral = {"temperature": 1.0, "top_p": 1.0, "top_k": None}
    values = {name: value for name, value in given_values.items() if value != SERVER}
    if "top_k" in values:
        values["top_k"] = values["top_k"] or None
    values |= {name: neutral[name] for name in left}
    return replace(usual, **values, server=",".join(name for name in MAY_BE_LEFT if name in left))


def draws(sampling: Sampling) -> bool:
    """Return whether answers are drawn, so that equal ones are worth a question."""
    return (
        sampling.mode != EXACT
        and sampling.temperature > 0
        and sampling.top_p > 0
        and sampling.top_k != 1
    )


EXACTLY = Sampling(temperature=1.0, top_p=1.0, top_k=None, max_new_tokens=0, mode=EXACT)
"the model's own probabilities, without temperature, nucleus and sampling"


@dataclass(frozen=True, slots=True)
class ModelCard:
    """The identity of a model, precise enough to ask it again."""

    name: str
    "name as it was asked for: `smollm2`, a hub id, a folder's name"
    revision: str
    "commit of the hub, or a hash of the weights' file"
    backend: str
    """`transformers`, `scripted`, …

    Versions belong to the attempt, since a new library does not make another model.
    """
    dtype: str
    chat_format: str
    "`none`, or a hash of the chat template"
    encoding: str = UNKNOWN
    """way in which the turns of a prompt were put into the chat format

    It is a version, and further changes beyond that. It is `unknown` for a server, and for prompts
    that were asked before it was noted.
    """
    snapshot: str = ""
    """the model that an endpoint reported on its replies

    It is empty if the endpoint reported none, or nobody wrote it down.
    """
    occasion: str = ""
    """date from which stored prompts were asked anew, or an empty string for the first time

    See `Design.occasion`.
    """

    @property
    def key(self) -> bytes:
        # Keys from before there were these fields stay as they were.
        defaults = {
            "encoding": UNKNOWN,
            "snapshot": "",
            "occasion": "",
        }
        return content_key(
            {name: value for name, value in asdict(self).items() if defaults.get(name) != value}
        )


@dataclass(frozen=True, slots=True)
class Answerer:
    """The answers of one of the models behind a served name."""

    snapshot: str
    "name as the endpoint reported it, or an empty string if it reported none"
    answers: int
    requests: int
    tokens_in: int
    tokens_out: int
    cost: float | None
    "None if prices are not known"

    def describe(self) -> str:
        """Return a line on the number and the cost of its answers."""
        cost_note = "" if self.cost is None else f", a cost of {self.cost:.4g}"
        return (
            f"{self.snapshot or 'snapshot unknown'}: {self.answers:,} answers, {self.requests:,} "
            f"calls, {self.tokens_in:,} + {self.tokens_out:,} tokens{cost_note}"
        )


class Decided(Protocol):
    """Tells of the beginning of an answer whether its stance is settled.

    Nothing that may follow changes the reading then. It is a value, which travels to other
    processes with its request.
    """

    def __call__(self, text: str) -> bool: ...


@dataclass(frozen=True, slots=True)
class Request:
    """Asks one prompt for n exchangeable answers."""

    prompt: Prompt
    n: int
    seed: int
    """seed of the generator of exactly these answers

    It is derived from the job's seed and the prompt's key.
    """
    decided: Decided | None = None
    "ends an answer early, or is None if answers are drawn to their end"
    first: int = 0
    """number of the first of these answers among those of the seed

    0 … k - 1 and k … n - 1, drawn apart, are 0 … n - 1.
    """


@dataclass(frozen=True, slots=True)
class Drawn:
    """The answers to one request: a multiset, because samples of one prompt are exchangeable.

    A served model may answer one request with several, each of a snapshot and a fingerprint of its
    own.
    """

    request: int
    "position in the sequence of requests"
    answers: tuple[tuple[str, int], ...]
    "(text, how often), whose counts add up to the request's n unless `failed` has another number"
    failed: int = 0
    reason: str = ""
    "reason of the failures, for people"
    decided: int = 0
    "number of the answers that were ended because their stance was settled"
    snapshot: str | None = None
    "the model that the endpoint reported for these answers, or None for that of the model's card"
    fingerprint: str = ""
    "the `system_fingerprint` of the replies, or an empty string if none was reported"
    more: bool = False
    "whether further answers are at hand already, so that they may as well be committed together"
    wait: bool = False
    "whether nothing more comes for long, so that these answers are best stored now"
