"""Templates and what a model sees."""

from __future__ import annotations

from dataclasses import dataclass, field

from workbench.domain.keys import content_key
from workbench.registry import DEFAULT_AUDIT

SPELLINGS = "2"
"version of the spellings of labels whose probabilities are computed, see `audits.verbalizers`"
SLOT = "{statement}"
"the one place of a template where the statement goes"
MODEL_SLOT = "{model_name}"
"where a template calls the model by its name, if it does"

LIKERT = "likert"
"scale of a template that asks for a whole number from 1 (disagree) to 5 (agree)"
LETTER = "letter"
"scale of a template that asks for the letter of one of the options that are offered"
FREE_TEXT = "free"
"scale of a template that is answered in free text, which no rule reads"


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
    context: int = field(default=0, compare=False)
    "so many of the first messages are a context that other prompts have too: how it is stored, not what it is"
    _key: bytes = field(default=b"", init=False, repr=False, compare=False)

    @property
    def key(self) -> bytes:
        """Return the content key; it is computed once, for a prompt may hold sixty answered questions."""
        if not self._key:
            messages = [[m.role, m.content] for m in self.messages]
            object.__setattr__(self, "_key", content_key({"chat": self.chat, "messages": messages}))
        return self._key


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
    audit: str = DEFAULT_AUDIT
    scale: str = ""
    "what an answer is: empty, one of the two labels; `likert`, a number; `free`, any text"
    version: int = field(default=1, compare=False)
    "of its text, among those that its instrument has had under its name in its family; no part of what it is"
    edited: bool = field(default=False, compare=False)
    "whether its instrument has had another text under its name in its language before"
    words: str = field(default="", compare=False, repr=False)
    "the lexicon that its instrument brings for its language, as TOML; empty: the one that workbench has"

    @property
    def order(self) -> str:
        return "swapped" if self.inverted else "printed"

    @property
    def key(self) -> bytes:
        scale = {"scale": self.scale} if self.scale else {}  # keys from before there were scales stay as they were
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
        """Return whether it is in a language; one in German is also for statements in the German of Switzerland."""
        return self.language == language or self.language == language.partition("-")[0]

    def render(self, statement: str, model_name: str = "") -> Prompt:
        """Return the prompt for one statement text. Slots are replaced literally; braces elsewhere stay."""
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
    """Under which templates and in which languages answers count; where nothing is chosen, under the templates that
    were asked most recently, in every language.
    """

    families: tuple[str, ...] = ()
    "each is a result of its own"
    versions: tuple[tuple[str, int], ...] = ()
    "(name of a template, version)"
    languages: tuple[str, ...] = ()
    "of the wordings; each is a result of its own"
    personas: tuple[str, ...] = ()
    "names of personas, `none` for prompts without one; each is a result of its own. Empty: those without one"


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
    "what else tells two probes of this wording and template apart: `model_name` where the template says it"
    bare: Prompt | None = None
    "the prompt as the template renders it, where a persona stands before it; None: it is `prompt`"
