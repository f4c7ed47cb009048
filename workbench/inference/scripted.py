"""A stand-in that answers from a script: for tests, demonstrations and dry runs of a whole audit.

`scripted` answers with one of the two labels that a prompt names, leaning one way by the prompt's own hash, sometimes
unreadably. `scripted:FILE.toml` sets the persona:

    agree = 0.8          # how often the first label of the prompt is chosen; left out: by the prompt's hash
    unreadable = 0.05    # share of answers without a label
    delay_s = 0.01       # seconds a prompt
    answers = ["…"]      # answer from these alone, one drawn at random
"""

from __future__ import annotations

import re
import time
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from workbench.domain.keys import content_key
from workbench.domain.prompts import Prompt
from workbench.domain.responses import Drawn, ModelCard, Request, Sampling
from workbench.errors import ModelError
from workbench.inference.base import Work

UNREADABLE = ("It depends on many things.", "As an AI language model, I have no opinion.", "Both sides have a point.")
LABELS = re.compile(r'"(\w+)" or "(\w+)"|\b(agree) or (disagree)\b|\b(disagree) or (agree)\b')


@dataclass(frozen=True, slots=True)
class Persona:
    """How the stand-in answers."""

    agree: float | None = None
    unreadable: float = 0.03
    delay_s: float = 0.0
    answers: tuple[str, ...] = ()


class ScriptedModel:
    """Answers by a persona; the same request with the same seed has the same answers."""

    def __init__(self, persona: Persona | None = None, name: str = "scripted"):
        self.persona = persona or Persona()
        self._name = name
        self._work = Work()

    @property
    def card(self) -> ModelCard:
        return ModelCard(self._name, content_key(asdict(self.persona)).hex(), "scripted", "none", "none")

    @property
    def work(self) -> Work:
        return self._work

    def generate(self, requests: Sequence[Request], sampling: Sampling) -> Iterator[Drawn]:  # noqa: ARG002
        for position, request in enumerate(requests):
            if self.persona.delay_s:
                time.sleep(self.persona.delay_s)
            rng = np.random.default_rng(request.seed)
            texts = Counter(self._answer(request.prompt, rng) for _ in range(request.n))
            yield Drawn(position, tuple(texts.most_common()))

    def score(self, prompts: Sequence[Prompt], options: Sequence[Sequence[str]]) -> list[NDArray[np.float64]]:
        scores = []
        for prompt, choices in zip(prompts, options, strict=True):
            weights = np.random.default_rng(list(prompt.key)).dirichlet(np.ones(len(choices)))
            scores.append(np.log(weights))
        return scores

    def close(self) -> None:
        pass

    def _answer(self, prompt: Prompt, rng: np.random.Generator) -> str:
        if self.persona.answers:
            return _one_of(self.persona.answers, rng)
        if rng.random() < self.persona.unreadable:
            return _one_of(UNREADABLE, rng)
        text = " ".join(message.content for message in prompt.messages)
        found = LABELS.search(text)
        first, second = [label for label in found.groups() if label] if found else ("agree", "disagree")
        by_hash = prompt.key[0] / 255
        share = self.persona.agree if self.persona.agree is not None else (0.08 if by_hash < 0.45 else 0.92)
        return (first if rng.random() < share else second).capitalize() + "."


def _one_of(texts: Sequence[str], rng: np.random.Generator) -> str:
    """Draw a text as it is; `rng.choice` would drop trailing NULs."""
    return texts[int(rng.integers(len(texts)))]


def load_scripted(name: str) -> ScriptedModel:
    """Return the stand-in `scripted` or `scripted:FILE.toml`. Raises ModelError where the file is not as expected."""
    _, _, file = name.partition(":")
    if not file:
        return ScriptedModel(name=name)
    try:
        value = tomllib.loads(Path(file).read_text(encoding="utf-8"))
        return ScriptedModel(Persona(**{**value, "answers": tuple(value.get("answers", ()))}), name)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, TypeError) as error:
        raise ModelError(
            f"{name}: the persona cannot be read ({error}); see workbench/inference/scripted.py"
        ) from error
