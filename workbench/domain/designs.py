"""The design of an audit: which cells of an instrument to ask, of which model, and how often."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from hashlib import sha256
from typing import Any

from workbench.domain.keys import SEED, canonical
from workbench.domain.prompts import Persona
from workbench.domain.questionnaires import Contexts
from workbench.domain.responses import Sampling
from workbench.entry_points import DEFAULT_AUDIT
from workbench.errors import UsageError

PUBLISHED_SAMPLES = 30
"Ceron et al. 2024, section 5.4"
TRIES = 20
"""most draws for each sample

A model that gives a valid answer to one prompt in twenty still gets all of them.
"""


@dataclass(frozen=True, slots=True)
class Design:
    """A sampling design.

    Two designs that overlap share their answers, and nothing is asked twice.
    """

    instrument: str
    model: str
    audit: str = DEFAULT_AUDIT
    samples: int = PUBLISHED_SAMPLES
    "number of answers to each prompt"
    sampling: Sampling = field(default_factory=Sampling)
    seed: int = SEED
    language: str = ""
    "language, or an empty string for the instrument's own"
    family: str = "chat"
    "family of the instrument's templates: `chat`, `generation`, `gpt`"
    statements: tuple[str, ...] = ()
    "refs, or empty for all"
    variants: tuple[str, ...] = ()
    "`original`, `paraphrase-1`, …, or empty for all"
    templates: tuple[str, ...] = ()
    """names, or empty for all of the family

    Both label orders are always asked.
    """
    template_language: str = ""
    """language of the instructions around the statements

    An empty string stands for that of the statements.
    """
    dtype: str = ""
    """`float32`, `bfloat16` or `float16` for a local model

    An empty string stands for float32 on a CPU and bfloat16 on a GPU.
    """
    cluster: str = ""
    """Ray cluster that answers: `local`, `auto` or an address

    An empty string stands for this machine's worker by itself.
    """
    chat_format: str = ""
    """a model whose chat template is used, or a file with a template

    It is for base models, which have none.
    """
    tries: int = TRIES
    "most draws per prompt, as a multiple of `samples`, if answers are drawn until they are valid"
    contexts: Contexts = field(default_factory=Contexts)
    "contexts of a questionnaire audit, for which others have no use"
    device: str = ""
    """device of a local model: `cpu`, `cuda:1`, or `all` GPUs

    An empty string stands for that of $WORKBENCH_DEVICE.
    """
    personas: tuple[Persona, ...] = ()
    "texts before the prompts, which are asked without one, too"
    until_settled: bool = False
    """whether to ask a prompt only as long as further answers can change its verdict

    `samples` is their limit.
    """
    occasion: str = ""
    """date (UTC) that names a run in which stored prompts are asked anew: `2026-11-27`

    The second run of a day is `2026-11-27 (2)`. Its answers are a run of their own. If it is empty,
    stored answers count.
    """

    @property
    def how(self) -> dict[str, str]:
        """The settings that tell the model from others of its name before it is loaded."""
        return {"dtype": self.dtype, "chat_format": self.chat_format, "occasion": self.occasion}

    def as_json(self) -> dict[str, Any]:
        """Return the design as plain JSON values, as a job keeps it."""
        values = asdict(self)
        # Jobs from before there was a choice of languages keep their form.
        if not self.template_language:
            del values["template_language"]
        if not self.device:
            del values["device"]
        values["personas"] = [persona.as_json() for persona in self.personas]
        if not self.personas:
            del values["personas"]
        if not self.until_settled:
            del values["until_settled"]
        if not self.occasion:
            del values["occasion"]
        return values

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Design:
        """Return the design that `as_json` wrote."""
        fields = dict(value)
        fields["sampling"] = Sampling(**fields["sampling"])
        for name in ("statements", "variants", "templates"):
            fields[name] = tuple(fields[name])
        if "personas" in fields:
            fields["personas"] = tuple(map(Persona.from_json, fields["personas"]))
        # Designs from before there were contexts have none.
        if "contexts" in fields:
            fields["contexts"] = Contexts(
                **{**fields["contexts"], "conditions": tuple(fields["contexts"]["conditions"])}
            )
        return cls(**fields)


FORMAT = 1
SHOWN = 12
"number of a hash's letters that people read"
CORRECTIONS = {
    "holm": "Holm's: the chance of any false alarm",
    "bh": "Benjamini and Hochberg's: the share of false alarms",
    "none": "none",
}


@dataclass(frozen=True, slots=True)
class FrozenPlan:
    """The content of a plan, as plain values: texts, numbers, lists and tables of these."""

    models: tuple[str, ...]
    asked: Mapping[str, Any]
    "the design in the form of `Design.as_json`, without the model"
    content: Mapping[str, Any]
    "hashes of everything that is asked: the instrument, the prompts of each model"
    templates: tuple[Mapping[str, Any], ...]
    "the templates, verbatim"
    audit: str
    judged: Mapping[str, Any]
    """option -> value, by declared names

    An empty text is the default that the help names.
    """
    compared: tuple[str, ...]
    "runs whose comparison is planned"
    correction: str
    made: Mapping[str, Any]
    "workbench, time, and answers that were stored before"
    claims: tuple[str, ...] = ()
    """questions of the audit whose claims about the models are confirmatory

    All others are exploratory.
    """

    @property
    def hash(self) -> str:
        """The SHA-256 of everything that the plan fixes, and of the time when it was made."""
        values = asdict(self)
        if not self.claims:
            del values["claims"]  # plans frozen before they could name claims keep their hash
        return sha256(canonical(values).encode()).hexdigest()

    @property
    def named(self) -> str:
        return f"plan {self.hash[:SHOWN]}"

    def design(self, model: str | None = None) -> Design:
        """Return the design for one of the models.

        Raises UsageError for a model that is not in the plan.
        """
        if model is None and len(self.models) > 1:
            raise UsageError(
                f"{self.named} is for {len(self.models)} models; name one with --model: "
                f"{self._listed}"
            )
        if model is not None and model not in self.models:
            raise UsageError(f"{self.named} has no model {model!r}. Available: {self._listed}")
        values = {**self.asked, "model": model or self.models[0]}
        for name, value_type in (("sampling", Sampling), ("contexts", Contexts)):
            if name in values:
                values[name] = _with_none(values[name], value_type)
        return Design.from_json(values)

    @property
    def _listed(self) -> str:
        return ", ".join(self.models)


def written(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values in the form of a plan: plain, with an empty text for None.

    Examples
    --------
    >>> written({"top_k": None, "tests": ("sampling",), "contexts": {"questions": None}})
    {'top_k': '', 'tests': ['sampling'], 'contexts': {'questions': ''}}
    """
    plain_values: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            plain_values[name] = written(value)
        else:
            plain_values[name] = (
                "" if value is None else list(value) if isinstance(value, tuple | list) else value
            )
    return plain_values


def _with_none(values: Mapping[str, Any], kind: type[Any]) -> dict[str, Any]:
    """Return the values of a dataclass with None again for each empty text that stands for it."""
    nullable = {field_.name for field_ in fields(kind) if "None" in str(field_.type)}
    return {
        name: None if value == "" and name in nullable else value for name, value in values.items()
    }
