"""Dialects of the OpenAI protocol, one small file each in `dialects/`.

A dialect tells what a server accepts, and its own defaults. A server is recognised by its list of
models (`owned_by`), by its host, or by the model's name (`openai:MODEL@URL#vllm`). Nothing is
assumed about an unknown server: it is sent the parameters of the sampling.

Besides temperature and top-p, most servers draw with parameters of their own: top-k, min-p,
penalties. The fields in `[neutral]` switch these off. If they are sent, the model's card says so.
`own` names those that the endpoint does not allow to be set: such a server cannot sample from the
whole vocabulary, and is asked only if the sampling leaves top-k to it (`--top-k server`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from workbench.domain.responses import EFFORTS, NO_THINKING, Sampling
from workbench.errors import ModelError
from workbench.toml_files import read_toml

TOP_K, TOKENS, EFFORT = "{top_k}", "{tokens}", "{effort}"
"""placeholders in a file

They are for the top-k of a sampling, the tokens of a thinking budget, and its effort.
"""


@dataclass(frozen=True, slots=True)
class Provider:
    """The features of one kind of server."""

    key: str
    "the name after the `#` of a model's name"
    name: str
    source: str
    "page of its documentation"
    tested: str
    "version and date of the test"
    owned_by: tuple[str, ...] = ()
    "values of `owned_by` in its list of models"
    hosts: tuple[str, ...] = ()
    routes: tuple[str, ...] = ()
    "paths in its description of itself (/openapi.json) that together no other server has"
    refuses: str = ""
    """its words for a field that it does not know

    They are empty if it ignores such fields or its words are not its own.
    """
    neutral: Mapping[str, Any] = field(default_factory=dict)
    "fields that switch off parameters outside the sampling, with `{top_k}` for the top-k"
    no_top_k: int | None = None
    "the top-k that stands for the whole vocabulary, or None if the endpoint takes no top-k"
    own: tuple[str, ...] = ()
    "its own sampling parameters that cannot be set"
    ignores: tuple[str, ...] = ()
    "parameters that it accepts but ignores"
    most_temperature: float | None = None
    "the temperature to which the endpoint lowers higher ones, or None without a known limit"
    n: bool = True
    "whether a call may ask for several answers"
    batch: float = 0.0
    "price factor of requests in a batch (`/files` and `/batches`), or 0 if it takes no batches"
    limit: str = "max_tokens"
    "the field that limits a chat's answer"
    logprobs: int = 0
    "most alternatives of a token, or 0 for none"
    echo: bool = False
    "whether `/completions` echoes the prompt with its log-probabilities"
    thinking: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    "`off`, `effort` or `budget` -> the fields that ask for it"
    thoughts: str = ""
    "place of the thoughts in its replies"
    note: str = ""

    def check(self, sampling: Sampling) -> None:
        """Raise ModelError if this server is known not to follow a sampling."""
        left = sampling.left
        if self.own and "top_k" not in left:
            raise ModelError(
                f"{self.name} draws with its own {' and '.join(self.own)}, which its endpoint lets "
                "nobody set, and the sampling says otherwise. To leave these to the server, which "
                "is another sampling and never pooled with this one, ask with --top-k server"
            )
        if self.no_top_k is None and sampling.top_k:
            raise ModelError(
                f"{self.name} takes no top-k, and the design asks for top-k {sampling.top_k}. Ask "
                f"without it (--top-k {'server' if self.own else '0'})"
            )
        limit = self.most_temperature
        if limit is not None and "temperature" not in left and sampling.temperature > limit:
            raise ModelError(
                f"{self.name} takes a temperature above {limit:g} for {limit:g} without a word, "
                "and the sampling says "
                f"{sampling.temperature:g}. Ask with --temperature {limit:g} or less"
            )

    def thinking_fields(self, thinking: str) -> dict[str, Any]:
        """Return the fields that request this thinking.

        Raises ModelError if this server has no such field.
        """
        if not thinking:
            return {}
        tokens = int(thinking) if thinking.isdecimal() else EFFORTS.get(thinking)
        modes = (
            [NO_THINKING]
            if tokens is None
            else ["budget"]
            if thinking.isdecimal()
            else ["effort", "budget"]
        )
        for candidate in modes:
            if candidate in self.thinking:
                fields: dict[str, Any] = _fill_slots(
                    self.thinking[candidate], {TOKENS: tokens, EFFORT: thinking}
                )
                return fields
        values_by_mode = {
            "effort": "low, medium, high",
            "budget": "a number of tokens",
            NO_THINKING: NO_THINKING,
        }
        values = ", ".join(values_by_mode[mode] for mode in self.thinking) or "none is known"
        raise ModelError(
            f"{self.name}: no field is known that asks for thinking {thinking!r}; of its fields: "
            f"{values}. Leave "
            "--thinking out, and give the field that this server takes in --extra-body"
        )

    def fields(self, sampling: Sampling) -> dict[str, Any]:
        """Return the fields sent in addition to the parameters of every endpoint."""
        if "top_k" in sampling.left:
            return {}
        fields: dict[str, Any] = _fill_slots(self.neutral, {TOP_K: sampling.top_k or self.no_top_k})
        return fields if self is not UNKNOWN or not sampling.top_k else {"top_k": sampling.top_k}

    @property
    def encoding(self) -> str:
        """The dialect's part of a model's card: the neutralised parameters.

        It is empty if there are none.
        """
        return f"{self.key}: {', '.join(sorted(self.neutral))} neutral" if self.neutral else ""


UNKNOWN = Provider("", "unknown server", "", "", no_top_k=0, neutral={}, logprobs=20, echo=True)
"assumed for an unknown server: it supports the protocol and refuses other fields"


def _fill_slots(value: Any, value_by_slot: Mapping[str, Any]) -> Any:
    """Return a value of a file with its slots filled.

    A slot alone becomes the value, a slot within a text its string.
    """
    if isinstance(value, Mapping):
        return {name: _fill_slots(part, value_by_slot) for name, part in value.items()}
    if isinstance(value, str):
        if value in value_by_slot:
            return value_by_slot[value]
        for slot, replacement in value_by_slot.items():
            value = value.replace(slot, str(replacement))
    return value


@lru_cache
def providers() -> tuple[Provider, ...]:
    """Return the shipped dialects, by name."""
    dialects = (_read(path) for path in (Path(__file__).parent / "dialects").glob("*.toml"))
    return tuple(sorted(dialects, key=lambda provider: provider.name.lower()))


def _read(path: Path) -> Provider:
    values = read_toml(path)
    for name in ("owned_by", "hosts", "routes", "own", "ignores"):
        values[name] = tuple(values.get(name, ()))
    return Provider(path.stem, **values)


def provider_named(key: str) -> Provider:
    """Return the dialect of a name. Raises ModelError."""
    for provider in providers():
        if provider.key == key:
            return provider
    raise ModelError(
        f"no dialect is called {key!r}. Available: "
        f"{', '.join(sorted(available.key for available in providers()))}"
    )


def recognise_server(host: str, entries: tuple[Mapping[str, Any], ...]) -> Provider:
    """Return the dialect of a server by its host and its list of models, or `UNKNOWN`.

    The latter stands for a server that neither matches.
    """
    owners = {str(entry.get("owned_by", "")).lower() for entry in entries}
    for provider in providers():
        if any(
            host == name or host.endswith(f".{name}") for name in provider.hosts
        ) or owners & set(provider.owned_by):
            return provider
    return UNKNOWN


def recognise_by_routes(routes: frozenset[str]) -> Provider:
    """Return the dialect of a server by the paths that it says it has.

    It is `UNKNOWN` if none matches.
    """
    return next(
        (
            provider
            for provider in providers()
            if provider.routes and routes.issuperset(provider.routes)
        ),
        UNKNOWN,
    )


def as_markdown() -> str:
    """Return the dialects as a Markdown table."""
    heads = (
        "server",
        "known by",
        "neutral",
        "its own",
        "ignores",
        "n",
        "batches",
        "alternatives",
        "thinking",
        "status",
        "source",
    )
    rows = [heads, tuple("---" for _ in heads)]
    for provider in providers():
        signs = [
            *(f"`owned_by` {name}" for name in provider.owned_by),
            *provider.hosts,
            *(["its routes"] if provider.routes else []),
        ] or [f"`#{provider.key}`"]
        rows.append(
            (
                provider.name,
                ", ".join(signs),
                ", ".join(sorted(provider.neutral)) or "nothing to send",
                ", ".join(provider.own) or "none",
                ", ".join(provider.ignores) or "none",
                "yes" if provider.n else "one a call",
                f"{provider.batch:g} of the price" if provider.batch else "none",
                f"{provider.logprobs}" if provider.logprobs else "none",
                ", ".join(provider.thinking) or "no switch",
                provider.tested,
                f"[documentation]({provider.source})",
            )
        )
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
