"""A frozen plan: what will be asked and how it will be judged, written before the first answer, with its hash."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from hashlib import sha256
from typing import Any

from workbench.domain.designs import Design
from workbench.domain.keys import canonical
from workbench.domain.questionnaires import Contexts
from workbench.domain.responses import Sampling
from workbench.errors import UsageError

FORMAT = 1
SHOWN = 12
"letters of a hash that people read"
CORRECTIONS = {
    "holm": "Holm's: the chance of any false alarm",
    "bh": "Benjamini and Hochberg's: the share of false alarms",
    "none": "none",
}


@dataclass(frozen=True, slots=True)
class FrozenPlan:
    """What a plan fixes. All values are plain: texts, numbers, lists and tables of these."""

    models: tuple[str, ...]
    asked: Mapping[str, Any]
    "the design, as `Design.as_json` has it, without the model"
    content: Mapping[str, Any]
    "hashes of what is asked: the instrument, the prompts of each model"
    templates: tuple[Mapping[str, Any], ...]
    "verbatim"
    audit: str
    judged: Mapping[str, Any]
    "option -> value, by declared names; an empty text is the default that the help names"
    compared: tuple[str, ...]
    "runs whose comparison is planned"
    correction: str
    made: Mapping[str, Any]
    "workbench, time, and answers that were stored before"

    @property
    def hash(self) -> str:
        """The SHA-256 of everything that the plan fixes, and of when it was made."""
        return sha256(canonical(asdict(self)).encode()).hexdigest()

    @property
    def named(self) -> str:
        return f"plan {self.hash[:SHOWN]}"

    def design(self, model: str | None = None) -> Design:
        """Return the design for one of the models. Raises UsageError for a model that is not in the plan."""
        if model is None and len(self.models) > 1:
            raise UsageError(f"{self.named} is for {len(self.models)} models; name one with --model: {self._listed}")
        if model is not None and model not in self.models:
            raise UsageError(f"{self.named} has no model {model!r}. Available: {self._listed}")
        asked = {**self.asked, "model": model or self.models[0]}
        for name, kind in (("sampling", Sampling), ("contexts", Contexts)):
            if name in asked:
                asked[name] = _with_none(asked[name], kind)
        return Design.from_json(asked)

    @property
    def _listed(self) -> str:
        return ", ".join(self.models)


def written(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values as a plan has them: plain, without None, for which an empty text stands.

    Examples
    --------
    >>> written({"top_k": None, "tests": ("sampling",), "contexts": {"questions": None}})
    {'top_k': '', 'tests': ['sampling'], 'contexts': {'questions': ''}}
    """
    found: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            found[name] = written(value)
        else:
            found[name] = "" if value is None else list(value) if isinstance(value, tuple | list) else value
    return found


def _with_none(values: Mapping[str, Any], kind: type[Any]) -> dict[str, Any]:
    """Return the values of a dataclass with None again where an empty text stands for it."""
    nullable = {one.name for one in fields(kind) if "None" in str(one.type)}
    return {name: None if value == "" and name in nullable else value for name, value in values.items()}
