"""The design of an audit: which cells of an instrument to ask, of which model, and how often."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from workbench.domain.personas import Persona
from workbench.domain.questionnaires import Contexts
from workbench.domain.responses import Sampling
from workbench.domain.seeds import SEED
from workbench.registry import DEFAULT_AUDIT

PUBLISHED_SAMPLES = 30
"Ceron et al. 2024, section 5.4"
TRIES = 20
"a model that gives a valid answer to one prompt in twenty still gets all of them"


@dataclass(frozen=True, slots=True)
class Design:
    """A sampling design. Two designs that overlap share their answers: nothing is asked twice."""

    instrument: str
    model: str
    audit: str = DEFAULT_AUDIT
    samples: int = PUBLISHED_SAMPLES
    "answers to each prompt"
    sampling: Sampling = field(default_factory=Sampling)
    seed: int = SEED
    language: str = ""
    "empty: the instrument's own"
    family: str = "chat"
    "which of the instrument's templates: `chat`, `generation`, `gpt`"
    statements: tuple[str, ...] = ()
    "refs; empty: all"
    variants: tuple[str, ...] = ()
    "`original`, `paraphrase-1`, …; empty: all"
    templates: tuple[str, ...] = ()
    "names; empty: all of the family. Both label orders are always asked"
    template_language: str = ""
    "of the instructions around the statements; empty: that of the statements"
    dtype: str = ""
    "`float32`, `bfloat16` or `float16` for a local model; empty: float32 on a CPU, bfloat16 on a GPU"
    cluster: str = ""
    "Ray cluster that answers: `local`, `auto` or an address; empty: this machine's worker by itself"
    chat_format: str = ""
    "a model whose chat template is used, or a file with a template: for base models, which have none"
    tries: int = TRIES
    "where answers are drawn until they are valid: at most so many times `samples` are drawn of a prompt"
    contexts: Contexts = field(default_factory=Contexts)
    "of a questionnaire audit; others have no use for it"
    device: str = ""
    "where a local model computes: `cpu`, `cuda:1`, or `all` GPUs; empty: as $WORKBENCH_DEVICE says"
    personas: tuple[Persona, ...] = ()
    "stand before the prompts, which are asked without one, too"
    until_settled: bool = False
    "whether a prompt is asked on only while further answers, up to `samples`, can change its verdict"

    def as_json(self) -> dict[str, Any]:
        """Return the design as plain JSON values, as a job keeps it."""
        told = asdict(self)
        if not self.template_language:  # so that jobs from before there was a choice are told alike
            del told["template_language"]
        if not self.device:
            del told["device"]
        told["personas"] = [persona.as_json() for persona in self.personas]
        if not self.personas:
            del told["personas"]
        if not self.until_settled:
            del told["until_settled"]
        return told

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Design:
        """Read what `as_json` wrote."""
        fields = dict(value)
        fields["sampling"] = Sampling(**fields["sampling"])
        for name in ("statements", "variants", "templates"):
            fields[name] = tuple(fields[name])
        if "personas" in fields:
            fields["personas"] = tuple(map(Persona.from_json, fields["personas"]))
        if "contexts" in fields:  # designs from before there were these have none
            fields["contexts"] = Contexts(
                **{**fields["contexts"], "conditions": tuple(fields["contexts"]["conditions"])}
            )
        return cls(**fields)
