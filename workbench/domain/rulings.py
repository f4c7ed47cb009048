"""Auditors' rulings on statements, wordings, prompts, answers and readings."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from workbench.domain.keys import content_key
from workbench.domain.names import person_name
from workbench.errors import UsageError


class Ruled(StrEnum):
    """The kind of thing that a ruling is about."""

    STATEMENT = "statement"
    WORDING = "wording"
    PROMPT = "prompt"
    ANSWER = "answer"
    READING = "reading"


class RulingVerdict(StrEnum):
    """An auditor's decision."""

    CONFIRMED = "confirmed"
    MISREAD = "misread"
    "ruled with the right reading"
    WORDING_AT_FAULT = "wording at fault"
    TEMPLATE_AT_FAULT = "template at fault"
    EXCLUDED = "excluded"
    "left out of figures"
    REVIEWED = "reviewed"
    """there is nothing more to rule on in a statement

    It says nothing of the statement, and contradicts nobody.
    """
    LOOK_AGAIN = "look again"


UID_BYTES = 16
_STATEMENT = ("instrument", "statement", "version")
_ANSWER = ("prompt", "text")
NAMED_BY: Mapping[Ruled, tuple[str, ...]] = {
    Ruled.STATEMENT: _STATEMENT,
    Ruled.WORDING: (*_STATEMENT, "language", "variant"),
    Ruled.PROMPT: ("prompt",),
    Ruled.ANSWER: _ANSWER,
    Ruled.READING: (*_ANSWER, "reader_kind", "reader", "reader_version"),
}
"""the names of each thing in every store

They are names, and content keys (prompt, text) in hexadecimal. A `model`, by its key, may stand
beside them, and the ruling then applies to this model alone.
"""


@dataclass(frozen=True, slots=True)
class Subject:
    """The thing that a ruling is about.

    Raises UsageError for parts that do not name one.
    """

    kind: Ruled
    named: Mapping[str, str]

    def __post_init__(self) -> None:
        needed = NAMED_BY[self.kind]
        if not set(needed) <= self.named.keys() <= {*needed, "model"}:
            raise UsageError(
                f"a {self.kind} is named by {', '.join(needed)}; found "
                f"{', '.join(self.named) or 'nothing'}"
            )

    @property
    def key(self) -> bytes:
        return content_key({"kind": self.kind.value, **self.named})

    @property
    def model(self) -> str:
        """The key of the only model that is meant, or an empty string for any model."""
        return self.named.get("model", "")

    @property
    def thing(self) -> Subject:
        """The same thing for any model."""
        return Subject(
            self.kind, {name: part for name, part in self.named.items() if name != "model"}
        )

    def of_model(self, model: str) -> Subject:
        """Return the subject for one model, by its key, or for any model if the key is empty."""
        return Subject(self.kind, {**self.thing.named, **({"model": model} if model else {})})


@dataclass(frozen=True, slots=True)
class Ruling:
    """One event: a ruling, or the withdrawal of an earlier one."""

    uid: bytes
    subject: Subject
    verdict: RulingVerdict | None
    "None if it takes back `undoes`"
    label: str | None
    "the right reading of an answer that was misread, where None stands for unreadable"
    reason: str
    auditor: str
    at: str
    undoes: bytes | None = None


RULED_ON: Mapping[RulingVerdict, frozenset[Ruled]] = {
    RulingVerdict.CONFIRMED: frozenset(Ruled),
    RulingVerdict.LOOK_AGAIN: frozenset(Ruled),
    RulingVerdict.EXCLUDED: frozenset(Ruled),
    RulingVerdict.REVIEWED: frozenset({Ruled.STATEMENT}),
    RulingVerdict.MISREAD: frozenset({Ruled.ANSWER, Ruled.READING}),
    RulingVerdict.WORDING_AT_FAULT: frozenset({Ruled.WORDING}),
    RulingVerdict.TEMPLATE_AT_FAULT: frozenset({Ruled.PROMPT}),
}
"""kinds of things that each verdict may be about

The thing is the unit that the verdict changes, or takes out of figures.
"""
SEEN = frozenset({RulingVerdict.CONFIRMED, RulingVerdict.REVIEWED, RulingVerdict.LOOK_AGAIN})
"verdicts on a statement that say what was looked at, and change no figure"


def of_one_model(kind: Ruled, verdict: RulingVerdict) -> bool:
    """Return whether a ruling is about one model alone, unless somebody says otherwise.

    The model is the one whose answers were in sight. Rulings on an answer are about one model, and
    so is that a statement was reviewed or is to be. Faults and exclusions of statements, wordings
    and prompts are about prompts that every model was asked.
    """
    return kind in (Ruled.ANSWER, Ruled.READING) or (kind is Ruled.STATEMENT and verdict in SEEN)


LEAVES_OUT = frozenset(
    {RulingVerdict.WORDING_AT_FAULT, RulingVerdict.TEMPLATE_AT_FAULT, RulingVerdict.EXCLUDED}
)


@dataclass(frozen=True, slots=True)
class Effect:
    """The effect of a ruling on figures."""

    left_out: bool = False
    read: bool = False
    "whether the answer is read anew"
    label: str | None = None
    "the new reading, where None stands for unreadable"


NOTHING = Effect()


def effect(ruling: Ruling) -> Effect:
    """Return the effect of an uncontradicted ruling."""
    if ruling.verdict is RulingVerdict.MISREAD:
        return Effect(read=True, label=ruling.label)
    return Effect(left_out=True) if ruling.verdict in LEAVES_OUT else NOTHING


def disputed(rulings: Iterable[Ruling]) -> bool:
    """Return whether rulings on one thing contradict each other, so that none of them counts.

    Exclusion and fault are one: both leave the thing out. A person who asks to look again has not
    decided, and a person who has reviewed a statement has decided nothing about it.
    """
    undecided = (RulingVerdict.LOOK_AGAIN, RulingVerdict.REVIEWED)
    return len({effect(ruling) for ruling in rulings if ruling.verdict not in undecided}) > 1


def answer_to(asked: Ruling, on_it: Iterable[Ruling]) -> Ruling | None:
    """Return the first decision after a request for a second look, or None while there is none.

    `on_it` are the rulings in force on that very thing. Rulings on what it belongs to, or on what
    belongs to it, decide nothing. None stands for an open question, whatever was ruled on things
    above, beside or below it.
    """
    decisions = [
        ruling
        for ruling in on_it
        if ruling.verdict is not RulingVerdict.LOOK_AGAIN and ruling.at > asked.at
    ]
    return min(decisions, key=lambda ruling: ruling.at, default=None)


def ruling_values(ruling: Ruling) -> dict[str, Any]:
    """Return a ruling as plain values."""
    return {
        "uid": ruling.uid.hex(),
        "kind": ruling.subject.kind.value,
        "subject": dict(ruling.subject.named),
        "verdict": ruling.verdict.value if ruling.verdict else None,
        "label": ruling.label,
        "reason": ruling.reason,
        "auditor": ruling.auditor,
        "at": ruling.at,
        "undoes": ruling.undoes.hex() if ruling.undoes else None,
    }


EXPORTED = ("uid", "kind", "subject", "verdict", "label", "reason", "auditor", "at", "undoes")
"fields that `ruling_values` writes of a ruling"
EXPECTED = "expected is a line of a file that `workbench rulings STORE --export FILE` wrote"


def from_plain(value: Any) -> Ruling:
    """Return the ruling from the value of `ruling_values`.

    Raises UsageError for any other value.
    """
    if not isinstance(value, Mapping):
        kind = "a list" if isinstance(value, list) else "a value"
        raise UsageError(f"found no ruling but {kind} ({json.dumps(value)[:40]}); {EXPECTED}")
    if missing := [name for name in EXPORTED if name not in value]:
        names = ", ".join(map(str, [*value][:6])) + ", …" * (len(value) > 6)
        verb = "is" if len(missing) == 1 else "are"
        raise UsageError(
            f"found no ruling but {names or 'nothing'}; {', '.join(missing)} {verb} not there. "
            f"{EXPECTED}"
        )
    if not isinstance(value["subject"], Mapping):
        raise UsageError(f"found the subject {json.dumps(value['subject'])[:40]}; {EXPECTED}")
    try:
        subject = Subject(
            Ruled(value["kind"]), {str(name): str(part) for name, part in value["subject"].items()}
        )
        for name in ("prompt", "text", "model"):
            bytes.fromhex(subject.named.get(name, ""))
        undoes = None if value["undoes"] is None else bytes.fromhex(value["undoes"])
        verdict = None if value["verdict"] is None else RulingVerdict(value["verdict"])
        label = None if value["label"] is None else str(value["label"])
        uid, time = bytes.fromhex(value["uid"]), datetime.fromisoformat(value["at"])
        auditor = person_name(str(value["auditor"]), "auditor")
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UsageError(f"found no ruling that can be read ({error}); {EXPECTED}") from error
    if (verdict is None) != (undoes is not None) or len(uid) != UID_BYTES or time.tzinfo is None:
        raise UsageError("found a ruling without a verdict, an identity or a time in UTC")
    return Ruling(
        uid, subject, verdict, label, str(value["reason"]), auditor, str(value["at"]), undoes
    )
