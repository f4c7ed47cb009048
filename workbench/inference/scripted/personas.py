"""Scripted models by name: `scripted`, a shipped persona, a file, or the oracle of an instrument.

Files
-----
Scripted personas as TOML files, read exactly or refused with all faults at once.

`workbench.inference.scripted.model` documents the fields. For the tables `[letters]`, `[spread]`
and `[sides]` see `workbench.inference.scripted.answers`.

The oracle
----------
The oracle of a synthetic population: no model can predict its questionnaire better.

`scripted:ideal@veldania_panel` knows how the respondents of the shipped questionnaire were drawn,
and `scripted:FILE.toml` those of your own file (`workbench.synthetic.spec`), with the
questionnaire's `statements.csv` in the same folder. It reads the conversation as any model does:
which questions were asked, in which wording, and with which answers. It says yes to the target with
exactly the probability that a person with these answers says yes. So its bias is 0 except for
chance, and its accuracy is known: statistics can be checked against both.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np

from workbench.data import shipped_instrument_folder, shipped_persona, shipped_personas
from workbench.domain.keys import content_key
from workbench.domain.prompts import Message, Prompt
from workbench.domain.responses import ModelCard
from workbench.errors import InputError, ModelError, UnknownName, UsageError, WorkbenchError
from workbench.inference.scripted.answers import FIELDS, STEEPEST, AnswerSpread, LetterHabits, Sides
from workbench.inference.scripted.model import ScriptedModel, ScriptedPersona
from workbench.regular_files import check_file
from workbench.synthetic.population import Ideal, SyntheticPopulation
from workbench.synthetic.spec import read_population
from workbench.toml_files import TomlFile

KNOWN = tuple(field.name for field in fields(ScriptedPersona))
OF_LETTERS = tuple(field.name for field in fields(LetterHabits))
OF_SIDES = ("statements", "left", "right", "yes", "hedges")
OF_SPREAD = ("statements", "mean", "seed", "moved", *FIELDS)
SHARE = "a share from 0 to 1"
ODDS = "a list of odds, 0 or more each and one of the first two above 0, such as [3, 1]"
RANGES = {
    "agree": (0.0, 1.0, SHARE),
    "unreadable": (0.0, 1.0, SHARE),
    "invalid": (0.0, 1.0, SHARE),
    "by_text": (-STEEPEST, STEEPEST, f"a number from -{STEEPEST:g} to {STEEPEST:g}"),
    "delay_s": (0.0, math.inf, "seconds, 0 or more"),
    "mean": (0.0, 1.0, SHARE),
    **dict.fromkeys(("left", "right", "yes", "hedges"), (0.0, 1.0, SHARE)),
    **dict.fromkeys(FIELDS, (0.0, 0.25, "the variance of a share, 0 to 0.25")),
}
"(least, most, description)"


def read_persona(file: TomlFile) -> ScriptedPersona:
    """Return the persona of a parsed file. Raises InputError with all of its faults."""
    table = file.table
    misplaced = [key for key in table if key in OF_LETTERS]
    for key in misplaced:
        file.fault(key, "a field of [letters] outside that table", "it below a line [letters]")
    _unknown(file, [key for key in table if key not in misplaced], KNOWN)
    letters = table.get("letters", {})
    if not isinstance(letters, dict):
        file.fault("letters", "no table", "a line [letters] and its fields below it")
        letters = {}
    persona: dict[str, Any] = {
        **_read_numbers(file, table, "agree", "unreadable", "delay_s"),
        **_read_texts(file, table, "answers", least=0),
        **_read_texts(file, table, "thoughts", least=0),
        "letters": _read_habits(file, letters),
        "spread": _read_spread(file, table),
        "sides": _read_sides(file, table),
    }
    file.check()
    return ScriptedPersona(**persona)


def _read_spread(file: TomlFile, table: Mapping[str, Any]) -> AnswerSpread | None:
    """Return the settings of `[spread]`, or None if it is missing or invalid.

    A fault of an invalid table is noted.
    """
    settings = table.get("spread")
    if settings is None:
        return None
    if not isinstance(settings, dict):
        file.fault("spread", "no table", "a line [spread] and its fields below it")
        return None
    _unknown(file, settings, OF_SPREAD)
    if "agree" in table:
        file.fault("agree", "a share beside [spread], which decides it", "one of the two")
    statements, seed = settings.get("statements"), settings.get("seed", 1)
    if not isinstance(statements, str) or not statements.strip():
        file.fault(
            "statements",
            repr(statements),
            "an instrument that ships, or the path of a statements.csv",
        )
    if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
        file.fault("seed", repr(seed), "a whole number, 0 or more")
    numbers = _read_numbers(file, settings, "mean", *FIELDS)
    mean, total = numbers.pop("mean", 0.5), sum(numbers.values())
    if total > mean * (1 - mean):
        limit = f"at most {mean * (1 - mean):.3g}, mean (1 - mean)"
        file.fault("spread", f"variances of {total:g} together", limit)
    components = tuple((FIELDS[name], float(value)) for name, value in numbers.items())
    moved = tuple(_read_moved(file, settings))
    return (
        AnswerSpread(str(statements), float(mean), seed, components, moved)
        if isinstance(seed, int)
        else None
    )


def _read_moved(file: TomlFile, fields: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """Yield the entries of `[[spread.moved]]`. Faults are noted."""
    tables = fields.get("moved", [])
    for entry in tables if isinstance(tables, list) else [tables]:
        has_fields = isinstance(entry, dict) and entry.keys() == {"said", "by"}
        if (
            has_fields
            and isinstance(entry["said"], str)
            and entry["said"].strip()
            and _is_number(entry["by"])
            and -1 <= entry["by"] <= 1
        ):
            yield entry["said"].strip(), float(entry["by"])
        else:
            file.fault("moved", repr(entry)[:60], 'said = "…" and by = a number from -1 to 1')


def _read_sides(file: TomlFile, table: Mapping[str, Any]) -> Sides | None:
    """Return the settings of `[sides]`, or None if it is missing or invalid.

    A fault of an invalid table is noted.
    """
    settings = table.get("sides")
    if settings is None:
        return None
    if not isinstance(settings, dict):
        file.fault("sides", "no table", "a line [sides] and its fields below it")
        return None
    _unknown(file, settings, OF_SIDES)
    for other in ("agree", "spread"):
        if other in table:
            file.fault(
                "sides", f"a table beside {other}, which decides the shares, too", "one of the two"
            )
    statements = settings.get("statements")
    names = [statements] if isinstance(statements, str) else statements
    if (
        not isinstance(names, list)
        or not names
        or not all(isinstance(name, str) and name.strip() for name in names)
    ):
        file.fault(
            "statements",
            repr(statements),
            "instruments that ship, or paths of statements.csv files",
        )
        names = []
    return Sides(tuple(names), **_read_numbers(file, settings, "left", "right", "yes", "hedges"))


def _read_habits(file: TomlFile, table: Mapping[str, Any]) -> LetterHabits:
    """Return the settings of `[letters]`. Invalid fields are noted as faults and left out."""
    _unknown(file, table, OF_LETTERS)
    return LetterHabits(
        **_read_weights(file, table),
        **_read_numbers(file, table, "by_text", "invalid", "yes"),
        **_read_texts(file, table, "others", least=1),
    )


def _unknown(
    file: TomlFile, keys: Sequence[str] | Mapping[str, Any], valid_keys: Sequence[str]
) -> None:
    for key in keys:
        if key not in valid_keys:
            file.fault(key, "an unknown key", f"one of {', '.join(valid_keys)}")


def _read_numbers(file: TomlFile, table: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    """Return the given numbers that are within their range."""
    numbers = {}
    for key in keys:
        minimum, maximum, description = RANGES[key]
        value = table.get(key)
        if _is_number(value) and minimum <= value <= maximum:
            numbers[key] = value
        elif key in table:
            file.fault(key, repr(value), description)
    return numbers


def _read_weights(file: TomlFile, table: Mapping[str, Any]) -> dict[str, Any]:
    if "weights" not in table:
        return {}
    value = table["weights"]
    are_odds = isinstance(value, list) and all(
        _is_number(number) and number >= 0 for number in value
    )
    if are_odds and sum(value[:2]) > 0:
        return {"weights": tuple(value)}
    file.fault("weights", repr(value), ODDS)
    return {}


def _read_texts(
    file: TomlFile, table: Mapping[str, Any], key: str, *, least: int
) -> dict[str, Any]:
    if key not in table:
        return {}
    value = table[key]
    if (
        isinstance(value, list)
        and len(value) >= least
        and all(isinstance(text, str) for text in value)
    ):
        return {key: tuple(value)}
    file.fault(key, repr(value), "a list of texts" + (", one or more" if least else ""))
    return {}


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


SPEC = "generator.toml"
STATEMENTS = "statements.csv"
CAPITAL = 0.25
"share of answers with a capital letter, so that both spellings have to be counted"
ANSWERS = {"yes": True, "no": False}


class IdealModel(ScriptedModel):
    """A model that says yes to a target with the probability of people with the same answers."""

    def __init__(self, population: SyntheticPopulation, texts: Mapping[str, str], name: str):
        """Prepare the oracle of a population.

        `texts` maps every wording of every question to its ref.
        """
        super().__init__(ScriptedPersona(), name)
        self._predict = Ideal(population)
        self._targets = {item.ref for item in population.targets}
        self._read_texts = dict(sorted(texts.items(), key=lambda item: -len(item[0])))
        self._revision = content_key([repr(population), sorted(texts.items())]).hex()
        # A question occurs in very many prompts.
        self._asked = lru_cache(maxsize=None)(self._search)
        self._answered = lru_cache(maxsize=1024)(self._predicted)

    @property
    def card(self) -> ModelCard:
        return ModelCard(self._name, self._revision, "scripted", "none", "none")

    def _shares(self, prompt: Prompt) -> dict[str, float]:
        """Return the probability of each spelling of yes and no.

        Raises ModelError if the prompt is not a conversation about this questionnaire.
        """
        target = self._asked(prompt.messages[-1].content)
        if target not in self._targets:
            raise ModelError(
                f"{self._name}: {target} is no target of the population; it predicts targets alone"
            )
        p_yes = self._answered(prompt.messages[:-1])[target]
        return {
            spelling: p * share
            for word, p in (("yes", p_yes), ("no", 1 - p_yes))
            for spelling, share in ((word, 1 - CAPITAL), (word.capitalize(), CAPITAL))
        }

    def _answer(self, prompt: Prompt, rng: np.random.Generator) -> str:
        shares = self._shares(prompt)
        return list(shares)[int(rng.choice(len(shares), p=list(shares.values())))]

    def _predicted(self, messages: tuple[Message, ...]) -> dict[str, float]:
        """Return p(yes) of each target after a conversation."""
        turns = [message for message in messages if message.role != "system"]
        if [turn.role for turn in turns] != ["user", "assistant"] * (len(turns) // 2):
            raise ModelError(
                f"{self._name}: found a context that is not questions, each with its answer"
            )
        answers = {}
        for question, answer in zip(turns[::2], turns[1::2], strict=True):
            says_yes = ANSWERS.get(answer.content.strip().casefold())
            if says_yes is None:
                raise ModelError(
                    f"{self._name}: found the answer {answer.content!r} in a context; expected "
                    "yes or no"
                )
            answers[self._asked(question.content)] = says_yes
        return self._predict(answers)

    def _search(self, content: str) -> str:
        """Return the question of a turn: the longest known wording in it."""
        for text, ref in self._read_texts.items():
            if text in content:
                return ref
        raise ModelError(
            f"{self._name} knows no question in {content[:200]!r}: the questionnaire's wordings "
            f"are not those of its {STATEMENTS}"
        )


def describes_population(table: Mapping[str, Any]) -> bool:
    """Return whether a parsed file describes a population instead of a persona."""
    return "profile" in table or "target" in table


def load_shipped_ideal(instrument: str, name: str) -> IdealModel:
    """Return the oracle of a shipped questionnaire. Raises UnknownName for an unknown one."""
    spec = shipped_instrument_folder(instrument) / SPEC
    if not spec.is_file():
        raise UnknownName(
            f"{name}: the respondents of {instrument} were not drawn from a known population"
        )
    return load_ideal(spec, name)


def load_ideal(spec: Path, name: str) -> IdealModel:
    """Return the oracle of a population. Raises ModelError with the faults of its files."""
    try:
        population = read_population(spec)
        texts = wordings(spec.with_name(STATEMENTS))
    except (WorkbenchError, OSError, UnicodeDecodeError, csv.Error) as error:
        faults = (
            "\n".join(map(str, error.findings)) if isinstance(error, InputError) else str(error)
        )
        raise ModelError(
            f"{name}: the population or its {STATEMENTS} beside it cannot be read. {faults}"
        ) from error
    unknown = [item.ref for item in population.items if item.ref not in texts.values()]
    if unknown:
        raise ModelError(
            f"{name}: {spec.with_name(STATEMENTS)} has no text of {', '.join(unknown[:5])}"
        )
    return IdealModel(population, texts, name)


def wordings(path: Path) -> dict[str, str]:
    """Return every original and paraphrase of a `statements.csv`: text -> ref."""
    with check_file(path).open(encoding="utf-8-sig", newline="") as lines:
        rows = list(csv.DictReader(lines, strict=True))
    column_pattern = re.compile(r"original|paraphrase(_\d+)?")
    return {
        text: row.get("ref") or ""
        for row in rows
        for column, text in row.items()
        if isinstance(column, str)
        and column_pattern.fullmatch(column)
        and isinstance(text, str)
        and text.strip()
    }


def load_scripted(name: str) -> ScriptedModel:
    """Return the scripted model of a name.

    The name is `scripted`, `scripted:PERSONA`, `scripted:FILE.toml` or `scripted:ideal@INSTRUMENT`.
    Raises ModelError, with every fault, for an invalid file, UnknownName if there is no shipped
    instrument of that name.
    """
    _, _, file = name.partition(":")
    if not file:
        return ScriptedModel(name=name)
    if file.startswith("ideal@"):
        return load_shipped_ideal(file.removeprefix("ideal@"), name)
    path = shipped_persona(file) if file in shipped_personas() else Path(file)
    try:
        parsed = TomlFile.read(path)
        return (
            load_ideal(path, name)
            if describes_population(parsed.table)
            else ScriptedModel(read_persona(parsed), name)
        )
    except UsageError as error:
        raise ModelError(f"{name}: {error}") from error
    except InputError as error:
        faults = "\n".join(map(str, error.findings))
        raise ModelError(
            f"{name}: the persona cannot be read; see 'Scripted personas' in "
            f"data/README.md\n{faults}"
        ) from error
