"""Prompts, templates, and the personas, system prompts or conversations that stand before them.

The text that a model sees makes a persona, not its name: two names for the same turns are one level
of the axis, and a text that was edited under an old name is another.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from workbench.domain.keys import content_key
from workbench.entry_points import DEFAULT_AUDIT

AXIS = "persona"
"""axis of a probe for its persona

Its value is a persona's key in hexadecimal, and a probe without it has no persona.
"""
SYSTEM, USER, ASSISTANT = "system", "user", "assistant"
NONE = "none"
"name of prompts without a persona, so no persona may have it"
JOINT = "\n\n"
"separator of texts that share a turn"


class PersonaKind(StrEnum):
    """The kind of text before a prompt."""

    PERSONA = "persona"
    "a text about who answers"
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
    "language, or an empty string if it is not given"

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Persona:
        """Return the persona that `as_json` wrote."""
        turns = tuple(Message(str(turn["role"]), str(turn["text"])) for turn in value["turns"])
        return cls(
            str(value["id"]), PersonaKind(value["kind"]), turns, str(value.get("language", ""))
        )

    def as_json(self) -> dict[str, Any]:
        """Return the persona as plain JSON values.

        A job and a frozen plan keep it in this form, word for word.
        """
        turns = [{"role": turn.role, "text": turn.content} for turn in self.turns]
        return {"id": self.name, "kind": self.kind.value, "language": self.language, "turns": turns}

    @property
    def key(self) -> bytes:
        """The content key of the turns."""
        return content_key({"turns": [[turn.role, turn.content] for turn in self.turns]})

    @property
    def instruction(self) -> str:
        """The text of the system turn, or an empty string without one."""
        return self.turns[0].content if self.turns[0].role == SYSTEM else ""

    def before(self, prompt: Prompt, *, system_turn: bool = True) -> Prompt:
        """Return a prompt with the persona at the beginning.

        A chat has its turns as turns. A prompt that has a system turn keeps one: the persona's
        text, a blank line, the prompt's. With `system_turn` False, for templates that put
        everything into the user's turn, the text opens the first user turn. A raw text has
        everything before it in paragraphs, the turns of a conversation after `User:` and
        `Assistant:`. The added turns are part of the prompt's context, which is stored and computed
        once.
        """
        if not prompt.chat:
            return self._without_turns(prompt)
        own_instruction = prompt.messages[0].content if prompt.messages[0].role == SYSTEM else ""
        other_turns = prompt.messages[1:] if own_instruction else prompt.messages
        talk = self.turns[1:] if self.instruction else self.turns
        if self.instruction and not system_turn:
            following = (*talk, *other_turns)
            first_turn = Message(USER, self.instruction + JOINT + following[0].content)
            head = (Message(SYSTEM, own_instruction),) if own_instruction else ()
            turns = (*head, first_turn, *following[1:])
        else:
            system = JOINT.join(text for text in (self.instruction, own_instruction) if text)
            turns = (*((Message(SYSTEM, system),) if system else ()), *talk, *other_turns)
        n_after_context = len(prompt.messages) - max(prompt.context, len(prompt.messages) - 1)
        return Prompt(turns, True, len(turns) - n_after_context)

    def crossed(self, probe: Probe, *, system_turn: bool) -> Probe:
        """Return a probe with the persona before its prompt, as `before` does."""
        prompt = self.before(probe.prompt, system_turn=system_turn)
        return replace(
            probe, prompt=prompt, axes=(*probe.axes, (AXIS, self.key.hex())), bare=probe.prompt
        )

    def _without_turns(self, prompt: Prompt) -> Prompt:
        names = {USER: "User: ", ASSISTANT: "Assistant: "}
        paragraphs = [names.get(turn.role, "") + turn.content for turn in self.turns]
        first, *later_messages = prompt.messages
        return Prompt(
            (Message(first.role, JOINT.join([*paragraphs, first.content])), *later_messages), False
        )


SPELLINGS = "2"
"""version of the spellings of labels whose probabilities are computed

See `audits.verbalizers`.
"""
SLOT = "{statement}"
"the one place of a template where the statement goes"
MODEL_SLOT = "{model_name}"
"slot of a template for the name of the model, if it has one"

LIKERT = "likert"
"scale of a template that asks for a whole number from 1 (disagree) to 5 (agree)"
LETTER = "letter"
"scale of a template that asks for the letter of one of the options that are offered"
FREE_TEXT = "free"
"scale of a template that is answered in free text, which no rule reads"
COMPLETION = "completion"
"scale of a template that has the first half of a statement's words, and is answered by the rest"
FREE = frozenset({FREE_TEXT, COMPLETION})
"scales of templates whose answers no rule reads"


def halves(text: str) -> tuple[str, str]:
    """Return the first half of a text's words, and the other half.

    The first half is larger if their number is odd.

    Examples
    --------
    >>> halves("Taxes on land should rise.")
    ('Taxes on land', 'should rise.')
    """
    words = text.split()
    middle = (len(words) + 1) // 2
    return " ".join(words[:middle]), " ".join(words[middle:])


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: str
    "system, user or assistant"
    content: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """The complete input of a model.

    Prompts with equal content are one prompt.
    """

    messages: tuple[Message, ...]
    chat: bool = True
    """whether the messages are a chat

    If not, the one message is raw text to be continued, without a chat format.
    """
    context: int = field(default=0, compare=False)
    """number of the first messages that are a context of other prompts, too

    It is about how the prompt is stored, not about its content.
    """
    _key: bytes = field(default=b"", init=False, repr=False, compare=False)

    @property
    def key(self) -> bytes:
        """The content key, computed once, as a prompt may hold sixty answered questions."""
        if not self._key:
            messages = [[message.role, message.content] for message in self.messages]
            object.__setattr__(self, "_key", content_key({"chat": self.chat, "messages": messages}))
        return self._key


@dataclass(frozen=True, slots=True)
class Template:
    """An instruction around a statement, in one order of its two answer labels."""

    name: str
    "name, the same for both label orders: `personal-1`"
    inverted: bool
    "whether the two labels stand in the other order than printed in the paper"
    user: str
    """text of the user turn, or of the raw prompt

    It or `system` holds the slot `{statement}` once.
    """
    positive: str
    "the label that agrees with the statement: `agree`, `beneficial`"
    negative: str
    "the label that rejects it: `disagree`, `harmful`"
    system: str | None = None
    chat: bool = True
    family: str = "chat"
    "templates that are run together: `chat`, `generation`, `gpt`"
    address: str = "personal"
    "personal if it asks you, or impersonal if it sets a task"
    language: str = "en"
    audit: str = DEFAULT_AUDIT
    scale: str = ""
    """the kind of answer

    An empty string stands for one of the two labels, `likert` for a number, `free` for any text,
    and `completion` for what `COMPLETION` describes.
    """
    version: int = field(default=1, compare=False)
    """version of its text

    It counts the texts that its instrument has had under its name in its family, and is no part of
    its content.
    """
    edited: bool = field(default=False, compare=False)
    "whether its instrument has had another text under its name in its language before"
    words: str = field(default="", compare=False, repr=False)
    """the lexicon that its instrument brings for its language, as TOML

    An empty string stands for the one of workbench.
    """

    @property
    def order(self) -> str:
        return "swapped" if self.inverted else "printed"

    @property
    def key(self) -> bytes:
        # Keys from before there were scales stay as they were.
        scale = {"scale": self.scale} if self.scale else {}
        return content_key(
            {
                **scale,
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

    @property
    def names_model(self) -> bool:
        return MODEL_SLOT in self.user or MODEL_SLOT in (self.system or "")

    def speaks(self, language: str) -> bool:
        """Return whether the template is in a language.

        One in German is for statements in Swiss German as well.
        """
        return self.language == language or self.language == language.partition("-")[0]

    def render(self, statement: str, model_name: str = "") -> Prompt:
        """Return the prompt for a statement.

        For a completion, the prompt has the first half of the statement, and the answer is the
        other half. Slots are replaced literally. Braces elsewhere stay.
        """
        if self.scale == COMPLETION:
            statement, _ = halves(statement)
        turns = [("system", self.system)] if self.system else []
        turns.append(("user", self.user))
        return Prompt(
            tuple(
                Message(role, (text or "").replace(MODEL_SLOT, model_name).replace(SLOT, statement))
                for role, text in turns
            ),
            self.chat,
        )


@dataclass(frozen=True, slots=True)
class TemplateChoice:
    """The templates and languages whose answers count.

    The default is the templates that were asked most recently, in every language.
    """

    families: tuple[str, ...] = ()
    "families, each of which has a result of its own"
    versions: tuple[tuple[str, int], ...] = ()
    "(name of a template, version)"
    languages: tuple[str, ...] = ()
    "languages of the wordings, each of which has a result of its own"
    personas: tuple[str, ...] = ()
    """names of personas, or `none` for prompts without one

    Each has a result of its own. If it is empty, the prompts without a persona count.
    """


LATEST = TemplateChoice()
"the templates that were asked most recently"


@dataclass(frozen=True, slots=True)
class Probe:
    """One wording of one statement under one template in one label order."""

    statement: str
    variant: str
    template: str
    inverted: bool
    prompt: Prompt
    axes: tuple[tuple[str, str], ...] = ()
    """further differences of two probes of this wording and template

    One is `model_name`, if the template says it.
    """
    bare: Prompt | None = None
    "the prompt as the template renders it before a persona, or None if it is `prompt`"
    below: str = ""
    """text of the prompt below the wording, as part of the statement

    For a question, it has an option on each line.
    """
