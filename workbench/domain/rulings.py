"""What an auditor rules about a statement, a wording, a prompt, an answer or a reading."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from workbench.domain.keys import content_key
from workbench.errors import UsageError


class Ruled(StrEnum):
    """What a ruling is about."""

    STATEMENT = "statement"
    WORDING = "wording"
    PROMPT = "prompt"
    ANSWER = "answer"
    READING = "reading"


class Verdict(StrEnum):
    """What an auditor decides."""

    CONFIRMED = "confirmed"
    MISREAD = "misread"
    "with the right reading"
    WORDING_AT_FAULT = "wording at fault"
    TEMPLATE_AT_FAULT = "template at fault"
    EXCLUDED = "excluded"
    "from figures"
    LOOK_AGAIN = "look again"


_STATEMENT = ("instrument", "statement", "version")
_ANSWER = ("prompt", "text")
NAMED_BY: Mapping[Ruled, tuple[str, ...]] = {
    Ruled.STATEMENT: _STATEMENT,
    Ruled.WORDING: (*_STATEMENT, "language", "variant"),
    Ruled.PROMPT: ("prompt",),
    Ruled.ANSWER: _ANSWER,
    Ruled.READING: (*_ANSWER, "reader_kind", "reader", "reader_version"),
}
"""what names each thing in every store: names, and content keys (prompt, text) in hexadecimal. A `model`, by its key,
may stand beside them: the ruling is then about what this model said"""


@dataclass(frozen=True, slots=True)
class Subject:
    """The thing that a ruling is about. Raises UsageError for parts that do not name one."""

    kind: Ruled
    named: Mapping[str, str]

    def __post_init__(self) -> None:
        needed = NAMED_BY[self.kind]
        if not set(needed) <= self.named.keys() <= {*needed, "model"}:
            raise UsageError(
                f"a {self.kind} is named by {', '.join(needed)}; found {', '.join(self.named) or 'nothing'}"
            )

    @property
    def key(self) -> bytes:
        return content_key({"kind": self.kind.value, **self.named})


@dataclass(frozen=True, slots=True)
class Ruling:
    """One event: a ruling, or that an earlier one is taken back."""

    uid: bytes
    subject: Subject
    verdict: Verdict | None
    "None: takes back `undoes`"
    label: str | None
    "the right reading of what was misread; None there: unreadable"
    reason: str
    auditor: str
    at: str
    undoes: bytes | None = None
