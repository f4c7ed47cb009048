"""The oracle of a synthetic population: no model can predict its questionnaire better.

`scripted:ideal@veldania_panel` knows how the respondents of the shipped questionnaire were drawn; `scripted:FILE.toml`
those of your own file (`workbench.synthetic.spec`), with the questionnaire's `statements.csv` in the same folder. It
reads the conversation as any model does: which questions were asked, in which wording, and with which answers. It says
yes to the target with exactly the probability that a person with these answers says yes. So its bias is 0 except for
chance, and its accuracy is known: statistics can be checked against both.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from workbench.data import shipped_instrument_folder
from workbench.domain.keys import content_key
from workbench.domain.prompts import Message, Prompt
from workbench.domain.responses import ModelCard
from workbench.errors import InputError, ModelError, UnknownName, WorkbenchError
from workbench.inference.scripted.model import Persona, ScriptedModel
from workbench.synthetic.population import Ideal, Population
from workbench.synthetic.spec import read_population

SPEC = "generator.toml"
STATEMENTS = "statements.csv"
CAPITAL = 0.25
"share of answers with a capital letter, so that both spellings have to be counted"
ANSWERS = {"yes": True, "no": False}


class IdealModel(ScriptedModel):
    """Says yes to a target with the probability that people with the same answers say yes."""

    def __init__(self, population: Population, texts: Mapping[str, str], name: str):
        """`texts`: every wording of every question -> its ref."""
        super().__init__(Persona(), name)
        self._predict = Ideal(population)
        self._targets = {item.ref for item in population.targets}
        self._texts = dict(sorted(texts.items(), key=lambda item: -len(item[0])))
        self._revision = content_key([repr(population), sorted(texts.items())]).hex()
        self._asked = lru_cache(maxsize=None)(self._search)  # a question occurs in very many prompts
        self._answered = lru_cache(maxsize=1024)(self._predicted)

    @property
    def card(self) -> ModelCard:
        return ModelCard(self._name, self._revision, "scripted", "none", "none")

    def _shares(self, prompt: Prompt) -> dict[str, float]:
        """Raises ModelError if the prompt is not a conversation about this questionnaire."""
        target = self._asked(prompt.messages[-1].content)
        if target not in self._targets:
            raise ModelError(f"{self._name}: {target} is no target of the population; it predicts targets alone")
        p_yes = self._answered(prompt.messages[:-1])[target]
        return {
            spelled: p * share
            for said, p in (("yes", p_yes), ("no", 1 - p_yes))
            for spelled, share in ((said, 1 - CAPITAL), (said.capitalize(), CAPITAL))
        }

    def _answer(self, prompt: Prompt, rng: np.random.Generator) -> str:
        shares = self._shares(prompt)
        return list(shares)[int(rng.choice(len(shares), p=list(shares.values())))]

    def _predicted(self, messages: tuple[Message, ...]) -> dict[str, float]:
        """Return p(yes) of each target after a conversation."""
        turns = [message for message in messages if message.role != "system"]
        if [turn.role for turn in turns] != ["user", "assistant"] * (len(turns) // 2):
            raise ModelError(f"{self._name}: found a context that is not questions, each with its answer")
        answers = {}
        for question, answer in zip(turns[::2], turns[1::2], strict=True):
            said = ANSWERS.get(answer.content.strip().casefold())
            if said is None:
                raise ModelError(f"{self._name}: found the answer {answer.content!r} in a context; expected yes or no")
            answers[self._asked(question.content)] = said
        return self._predict(answers)

    def _search(self, content: str) -> str:
        """Return the question of a turn: the longest known wording in it."""
        for text, ref in self._texts.items():
            if text in content:
                return ref
        raise ModelError(
            f"{self._name} knows no question in {content[:200]!r}: the questionnaire's wordings are not those of its "
            f"{STATEMENTS}"
        )


def describes_population(table: Mapping[str, Any]) -> bool:
    """Return whether a parsed file describes a population instead of a persona."""
    return "profile" in table or "target" in table


def load_shipped_ideal(instrument: str, name: str) -> IdealModel:
    """Return the oracle of a shipped questionnaire. Raises UnknownName for an unknown questionnaire."""
    spec = shipped_instrument_folder(instrument) / SPEC
    if not spec.is_file():
        raise UnknownName(f"{name}: the respondents of {instrument} were not drawn from a known population")
    return load_ideal(spec, name)


def load_ideal(spec: Path, name: str) -> IdealModel:
    """Return the oracle of a population. Raises ModelError with the faults of its files."""
    try:
        population = read_population(spec)
        texts = wordings(spec.with_name(STATEMENTS))
    except (WorkbenchError, OSError, UnicodeDecodeError, csv.Error) as error:
        faults = "\n".join(map(str, error.findings)) if isinstance(error, InputError) else str(error)
        raise ModelError(f"{name}: the population or its {STATEMENTS} beside it cannot be read. {faults}") from error
    unknown = [item.ref for item in population.items if item.ref not in texts.values()]
    if unknown:
        raise ModelError(f"{name}: {spec.with_name(STATEMENTS)} has no text of {', '.join(unknown[:5])}")
    return IdealModel(population, texts, name)


def wordings(path: Path) -> dict[str, str]:
    """Return every original and paraphrase of a `statements.csv`: text -> ref."""
    with path.open(encoding="utf-8-sig", newline="") as lines:
        rows = list(csv.DictReader(lines, strict=True))
    wanted = re.compile(r"original|paraphrase(_\d+)?")
    return {
        text: row.get("ref") or ""
        for row in rows
        for column, text in row.items()
        if isinstance(column, str) and wanted.fullmatch(column) and isinstance(text, str) and text.strip()
    }
