"""What stands before a prompt: a persona, a system prompt or the beginning of a conversation.

What a model sees makes a persona, not its name: two names for the same turns are one level of the axis, and a text that
was edited under an old name is another.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from workbench.domain.keys import content_key
from workbench.domain.prompts import Message, Probe, Prompt

AXIS = "persona"
"axis of a probe; its value is a persona's key in hexadecimal, and a probe without it has no persona"
SYSTEM, USER, ASSISTANT = "system", "user", "assistant"
NONE = "none"
"names prompts without a persona, so no persona may have it"
JOINT = "\n\n"
"between texts that share a turn"


class PersonaKind(StrEnum):
    """What is put before a prompt."""

    PERSONA = "persona"
    "says who answers"
    SYSTEM = "system"
    "an instruction of another kind"
    CONVERSATION = "conversation"
    "turns that end with one of the assistant"


@dataclass(frozen=True, slots=True)
class Persona:
    """One level of the axis."""

    name: str
    kind: PersonaKind
    turns: tuple[Message, ...]
    "an optional system turn, then turns of user and assistant by turns"
    language: str = ""
    "empty: not said"

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Persona:
        """Read what `as_json` wrote."""
        turns = tuple(Message(str(turn["role"]), str(turn["text"])) for turn in value["turns"])
        return cls(str(value["id"]), PersonaKind(value["kind"]), turns, str(value.get("language", "")))

    def as_json(self) -> dict[str, Any]:
        """Return it as plain JSON values, as a job and a frozen plan keep it word for word."""
        turns = [{"role": turn.role, "text": turn.content} for turn in self.turns]
        return {"id": self.name, "kind": self.kind.value, "language": self.language, "turns": turns}

    @property
    def key(self) -> bytes:
        """Return what tells it from others: its turns."""
        return content_key({"turns": [[turn.role, turn.content] for turn in self.turns]})

    @property
    def instruction(self) -> str:
        """Return the text of its system turn; empty without one."""
        return self.turns[0].content if self.turns[0].role == SYSTEM else ""

    def before(self, prompt: Prompt, *, system_turn: bool = True) -> Prompt:
        """Return a prompt with it at the beginning.

        A chat has its turns as turns. A prompt that has a system turn keeps one: the persona's text, a blank line, the
        prompt's. With `system_turn` False, for templates that put everything into the user's turn, the text opens the
        first user turn. A raw text has everything before it in paragraphs, the turns of a conversation after `User:`
        and `Assistant:`. What it adds is part of the prompt's context, which is stored and computed once.
        """
        if not prompt.chat:
            return self._plain(prompt)
        own = prompt.messages[0].content if prompt.messages[0].role == SYSTEM else ""
        rest = prompt.messages[1:] if own else prompt.messages
        talk = self.turns[1:] if self.instruction else self.turns
        if self.instruction and not system_turn:
            following = (*talk, *rest)
            opened = Message(USER, self.instruction + JOINT + following[0].content)
            head = (Message(SYSTEM, own),) if own else ()
            turns = (*head, opened, *following[1:])
        else:
            system = JOINT.join(text for text in (self.instruction, own) if text)
            turns = (*((Message(SYSTEM, system),) if system else ()), *talk, *rest)
        asked = len(prompt.messages) - max(prompt.context, len(prompt.messages) - 1)
        return Prompt(turns, True, len(turns) - asked)

    def crossed(self, probe: Probe, *, system_turn: bool) -> Probe:
        """Return a probe with it before the prompt; see `before`."""
        prompt = self.before(probe.prompt, system_turn=system_turn)
        return replace(probe, prompt=prompt, axes=(*probe.axes, (AXIS, self.key.hex())), bare=probe.prompt)

    def _plain(self, prompt: Prompt) -> Prompt:
        names = {USER: "User: ", ASSISTANT: "Assistant: "}
        said = [names.get(turn.role, "") + turn.content for turn in self.turns]
        first, *others = prompt.messages
        return Prompt((Message(first.role, JOINT.join([*said, first.content])), *others), False)


__all__ = ["AXIS", "NONE", "Persona", "PersonaKind"]
