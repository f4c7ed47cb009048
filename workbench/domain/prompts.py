"""Templates and what a model sees."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.domain.keys import content_key

SLOT = "{statement}"
"the one place of a template where the statement goes"


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: str
    "system, user or assistant"
    content: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """Exactly what a model is given; nothing else tells two prompts apart."""

    messages: tuple[Message, ...]
    chat: bool = True
    "False: the one message is raw text to be continued, no chat format is put around it"

    @property
    def key(self) -> bytes:
        return content_key({"chat": self.chat, "messages": [[m.role, m.content] for m in self.messages]})


@dataclass(frozen=True, slots=True)
class Template:
    """An instruction around a statement, in one order of its two answer labels."""

    name: str
    "the same for both label orders: `personal-1`"
    inverted: bool
    "True: the two labels stand in the other order than printed in the paper"
    user: str
    "text of the user turn (or of the raw prompt); it or `system` holds the slot `{statement}` once"
    positive: str
    "the label that agrees with the statement: `agree`, `beneficial`"
    negative: str
    "the label that rejects it: `disagree`, `harmful`"
    system: str | None = None
    chat: bool = True
    family: str = "chat"
    "templates that are run together: `chat`, `generation`, `gpt`"
    address: str = "personal"
    "personal (asks you) or impersonal (sets a task)"
    language: str = "en"
    audit: str = "reliability"

    @property
    def order(self) -> str:
        return "swapped" if self.inverted else "printed"

    @property
    def key(self) -> bytes:
        return content_key(
            {
                "audit": self.audit,
                "chat": self.chat,
                "family": self.family,
                "inverted": self.inverted,
                "labels": [self.positive, self.negative],
                "language": self.language,
                "name": self.name,
                "system": self.system,
                "user": self.user,
            }
        )

    def render(self, statement: str) -> Prompt:
        """Return the prompt for one statement text. The slot is replaced literally; braces elsewhere stay."""
        messages = []
        if self.system:
            messages.append(Message("system", self.system.replace(SLOT, statement)))
        messages.append(Message("user", self.user.replace(SLOT, statement)))
        return Prompt(tuple(messages), self.chat)


@dataclass(frozen=True, slots=True)
class Probe:
    """One wording of one statement under one template in one label order."""

    statement: str
    variant: str
    template: str
    inverted: bool
    prompt: Prompt
