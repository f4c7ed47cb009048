"""Prompts with which a model drafts wordings.

They have texts and calls, and a way to read answers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Any

from workbench.domain.choices import Bias
from workbench.domain.keys import KEY_BYTES
from workbench.domain.names import thing_name
from workbench.domain.prompts import SLOT, Prompt, Template
from workbench.domain.responses import Sampling, sampled
from workbench.domain.statements import VariantKind
from workbench.errors import Finding, InputError, UsageError

COUNT_SLOT = "{n}"
"slot of a prompt for the number of wordings it wants"
AUDIT = "drafting"
"stands for an audit if a prompt is stored as a template"
RULE = "workbench rule"
"drafter of the proposals of a rule"
TYPED = frozenset({VariantKind.KEY_TYPO, VariantKind.MIDDLE_RANDOM, VariantKind.LETTER_SWAP})
"kinds with typos, which are drawn"
DRAFTED = tuple(
    kind for kind in VariantKind if kind is not VariantKind.QUESTION and kind not in TYPED
)
"""kinds that can be drafted

An original is drafted from a question, and everything else from the original.
"""
RULED = (VariantKind.ORIGINAL, VariantKind.NEGATION, VariantKind.CHANGED)
"kinds that a rule can draft, in English"
REWORDED = (Bias.ACQUIESCENCE, Bias.ALLOW_FORBID)
"""biases whose changed form is worded, and so can be drafted

A multiple-choice question has no other drafts.
"""
SINGLE = frozenset(
    {
        VariantKind.ORIGINAL,
        VariantKind.NEGATION,
        VariantKind.OPPOSITE,
        VariantKind.QUESTION,
        VariantKind.CHANGED,
    }
)
"kinds of which a statement has one in each language"


def kind_words(kind: VariantKind) -> str:
    """Return a kind as people read it."""
    return "changed form" if kind is VariantKind.CHANGED else kind.value.replace("_", " ")


_CALL = re.compile(r"(?P<name>.*)#(?P<call>\d+)@(?P<key>[0-9a-f]*)")


class DraftedAnswer(StrEnum):
    """The way in which an answer becomes drafts."""

    LINES = "lines"
    "every line is a draft"
    FIRST = "first"
    """the first line that can be a wording is the draft

    Other text of the model is kept beside it, as a fault.
    """


@dataclass(frozen=True, slots=True)
class DraftPrompt:
    """The prompt for one kind of wording, with its settings."""

    name: str
    kind: VariantKind
    user: str
    "the text with `{statement}` once, and `{n}` for the number of wordings"
    system: str | None = None
    answer: DraftedAnswer = DraftedAnswer.FIRST
    calls: int = 1
    "number of calls for each statement, each with another seed"
    per_call: int = 1
    "number of wordings for `{n}`"
    keep: int | None = None
    "number of a statement's drafts to draw from all that can be wordings, or None to keep all"
    sampling: Sampling = field(default_factory=lambda: Sampling(1.0, 1.0, None, 200))
    source: str = ""
    "the publication of the prompt, or an empty string for one of our own"
    bias: Bias | None = None
    "the questions that a changed form is about"

    @property
    def basis(self) -> VariantKind:
        """The wording of a statement that the prompt shows."""
        return VariantKind.QUESTION if self.kind is VariantKind.ORIGINAL else VariantKind.ORIGINAL

    @property
    def template(self) -> Template:
        """The prompt as a template of a store, whose key tells two prompts apart."""
        return Template(
            name=self.name,
            inverted=False,
            user=self.user.replace(COUNT_SLOT, str(self.per_call)),
            positive="",
            negative="",
            system=self.system,
            family=self.kind.value,
            address="impersonal",
            audit=AUDIT,
        )

    def render(self, statement: str) -> Prompt:
        """Return the prompt about one text."""
        return self.template.render(statement)

    def adjusted(
        self,
        *,
        calls: int | None = None,
        per_call: int | None = None,
        keep: int | None = None,
        temperature: float | str | None = None,
        top_p: float | str | None = None,
        top_k: int | str | None = None,
        max_new_tokens: int | None = None,
        thinking: str | None = None,
    ) -> DraftPrompt:
        """Return the prompt with other settings.

        None keeps a setting. `keep` 0 keeps all drafts, `top_k` 0 is no limit. `per_call` changes
        only a prompt that says how many it wants.
        """
        new_sampling = sampled(
            self.sampling,
            {
                "temperature": temperature,
                "top_p": top_p,
                "top_k": top_k,
                "max_new_tokens": max_new_tokens,
            },
        )
        return replace(
            self,
            sampling=new_sampling if thinking is None else replace(new_sampling, thinking=thinking),
            calls=self.calls if calls is None else calls,
            per_call=self.per_call if per_call is None or COUNT_SLOT not in self.user else per_call,
            keep=self.keep if keep is None else keep or None,
        )

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> DraftPrompt:
        return cls(
            **{
                **value,
                "kind": VariantKind(value["kind"]),
                "answer": DraftedAnswer(value["answer"]),
                "sampling": Sampling(**value["sampling"]),
                "bias": Bias(value["bias"]) if value.get("bias") else None,
            }
        )


@dataclass(frozen=True, slots=True)
class CallLabel:
    """The prompt and call that made a draft, as a store writes it: `haller2025#3@9f86d0…`."""

    name: str
    call: int = 0
    "number of the call from 1, or 0 for a rule, which asks nobody"
    key: bytes = b""
    "key of the template"

    def __str__(self) -> str:
        return f"{self.name}#{self.call}@{self.key.hex()}"

    @classmethod
    def parse(cls, text: str) -> CallLabel:
        """Return the label that `str` wrote, or one with the text as its name."""
        match = _CALL.fullmatch(text)
        if match is None:
            return cls(text)
        key = match["key"]
        return cls(
            match["name"],
            int(match["call"]),
            bytes.fromhex(key) if len(key) == 2 * KEY_BYTES else b"",
        )


_NUMBERS = {"calls": 1, "per_call": 1, "keep": 1, "top_k": 1, "max_new_tokens": 1}
_SHARES = {"temperature": 100.0, "top_p": 1.0}
_TEXTS = ("name", "kind", "bias", "user", "system", "answer", "source")
_KEYS = (*_TEXTS, *_NUMBERS, *_SHARES)


def parse_prompt(file: str, table: Mapping[str, Any]) -> DraftPrompt:
    """Read a prompt from a TOML table.

    Raises InputError with all that is wrong with it.
    """
    faults: dict[str, tuple[str, str]] = {
        key: ("an unknown key", f"one of {', '.join(_KEYS)}") for key in table if key not in _KEYS
    }
    for key in _TEXTS:
        if not isinstance(table.get(key, ""), str):
            faults[key] = (repr(table[key]), "a text")
    for key, minimum in _NUMBERS.items():
        value = table.get(key, minimum)
        if not isinstance(value, int) or isinstance(value, bool) or value < minimum:
            faults[key] = (repr(value), f"a whole number from {minimum} on")
    for key, maximum in _SHARES.items():
        value = table.get(key, 1.0)
        if (
            not isinstance(value, int | float)
            or isinstance(value, bool)
            or not 0 < value <= maximum
        ):
            faults[key] = (repr(value), f"a number above 0 and at most {maximum:g}")
    faults |= {key: fault for key, fault in _wrong_texts(table) if key not in faults}
    if faults:
        raise InputError(
            [
                Finding(file, None, key, actual, expected)
                for key, (actual, expected) in faults.items()
            ]
        )
    return _prompt(table)


def _wrong_texts(table: Mapping[str, Any]) -> list[tuple[str, tuple[str, str]]]:
    """Return the faults in the texts of a table, by key."""
    faults = []
    if table.get("kind") not in DRAFTED:
        faults.append(("kind", (repr(table.get("kind")), f"one of {', '.join(DRAFTED)}")))
    biases = REWORDED if table.get("kind") == VariantKind.CHANGED else ()
    if table.get("bias") not in (biases or (None,)):
        expected = (
            f"one of {', '.join(biases)}"
            if biases
            else f"none: it belongs to the kind {VariantKind.CHANGED}"
        )
        faults.append(("bias", (repr(table.get("bias")), expected)))
    if table.get("answer", "first") not in tuple(DraftedAnswer):
        faults.append(("answer", (repr(table["answer"]), f"one of {', '.join(DraftedAnswer)}")))
    try:
        thing_name(str(table.get("name", "")), "prompt")
    except UsageError as error:
        faults.append(("name", (repr(table.get("name", "")), str(error).rpartition("; ")[2])))
    slots = f"{table.get('system', '')}{table.get('user', '')}".count(SLOT)
    if slots != 1 or not table.get("user"):
        faults.append(
            ("user", (f"the slot {SLOT} {slots} times", "it once in system and user together"))
        )
    return faults


def _prompt(table: Mapping[str, Any]) -> DraftPrompt:
    defaults = Sampling(1.0, 1.0, None, 200)
    return DraftPrompt(
        name=table["name"],
        kind=VariantKind(table["kind"]),
        user=table["user"],
        system=table.get("system") or None,
        answer=DraftedAnswer(table.get("answer", "first")),
        calls=table.get("calls", 1),
        per_call=table.get("per_call", 1),
        keep=table.get("keep"),
        sampling=Sampling(
            temperature=float(table.get("temperature", defaults.temperature)),
            top_p=float(table.get("top_p", defaults.top_p)),
            top_k=table.get("top_k"),
            max_new_tokens=table.get("max_new_tokens", defaults.max_new_tokens),
        ),
        source=table.get("source", ""),
        bias=Bias(table["bias"]) if "bias" in table else None,
    )
