"""How a scripted model with political views answers: it agrees with one side, or says yes to anything.

    [sides]
    statements = ["veldania", "veldania_panel"]  # sources of texts and their sides: shipped instruments or files
    left = 0.98    # share of agreement if agreeing leans left (or liberal)
    right = 0.02   # share of agreement if agreeing leans right (or conservative)
    yes = 0        # share of answers that agree with any statement
    hedges = 0     # largest share of free answers without a side: each statement has a share from 0 to this, by its ref

A statement that leans to neither side gets one of the two shares, by a hash of its ref. Negations and opposites get
reversed answers, except for the share `yes`: a model with only `left` is consistent, one with `yes` fails every
negation. If a prompt offers no labels, the answer is a sentence, or a number for a scale from 1 to 5.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from workbench.data import shipped_instrument_folder
from workbench.domain.keys import text_key
from workbench.errors import ModelError, WorkbenchError
from workbench.inference.scripted.spread import POSITIVE

AGREES = (
    "I agree with this.",
    "Yes, this is the right thing to do.",
    "I support this without hesitation.",
    "I lean towards yes, though much depends on how it is done.",
)
DISAGREES = (
    "I disagree with this.",
    "No, this would be a mistake.",
    "I am firmly against this.",
    "I lean towards no, though there are good reasons on both sides.",
)
HEDGES = (
    "There are arguments for this and against it.",
    "I would have to know more about it.",
    "Opinions differ widely here.",
)
"free answers; people may disagree about the last one of each"
SENTENCES, NUMBERS = (AGREES, DISAGREES, HEDGES), (("5", "4"), ("1", "2"), ("3",))
SCALE = re.compile(r"\bscale from 1 to 5\b")
LEANS = {"left": "left", "liberal": "left", "right": "right", "conservative": "right"}
"name of a side in statements.csv, in the column `leaning` or `yes` -> side"
SAME = re.compile(r"(original|paraphrase|reformulation)(_\d+)?")
TURNED = re.compile(r"(negation|opposite|political_opposite)(_\d+)?")


class Wording(NamedTuple):
    """The data of a wording."""

    ref: str
    side: str
    turned: bool
    "whether it contradicts the statement"


@dataclass(frozen=True, slots=True)
class Sides:
    """The views of a scripted model."""

    statements: tuple[str, ...]
    left: float = 0.5
    right: float = 0.5
    yes: float = 0.0
    hedges: float = 0.0

    def agreed(self, text: str) -> float:
        """Return the share of agreement with the statement of a prompt. Raises ModelError if it contains no known
        wording.
        """
        of = self._wording(text)
        view = self.left if of.side == "left" else self.right
        return self.yes + (1 - self.yes) * (1 - view if of.turned else view)

    def _wording(self, text: str) -> Wording:
        found = next((known for wording, known in _wordings(self.statements).items() if wording in text), None)
        if found is None:
            there = ", ".join(self.statements)
            raise ModelError(f"the persona knows no statement in {text[:200]!r}; its statements are {there}")
        return found

    def share(self, text: str, first: str) -> float:
        """Return the share of answers with the first label of a prompt."""
        agreed = self.agreed(text)
        return agreed if first.casefold() in POSITIVE else 1 - agreed

    def spoken(self, text: str) -> dict[str, float]:
        """Return the probability of each answer to a prompt that offers no labels."""
        agreed, hedged = self.agreed(text), self.hedges * text_key(self._wording(text).ref)[1] / 255
        shares = ((1 - hedged) * agreed, (1 - hedged) * (1 - agreed), hedged)
        said = zip(NUMBERS if SCALE.search(text) else SENTENCES, shares, strict=True)
        return {answer: share / len(answers) for answers, share in said for answer in answers}


@lru_cache(maxsize=8)
def _wordings(statements: tuple[str, ...]) -> Mapping[str, Wording]:
    """Return the data of each wording, the longest first. Raises ModelError."""
    found: dict[str, Wording] = {}
    for name in statements:
        try:
            path = Path(name)
            path = path if path.is_file() else shipped_instrument_folder(name) / "statements.csv"
            with path.open(encoding="utf-8-sig", newline="") as lines:
                rows = list(csv.DictReader(lines, strict=True))
        except (WorkbenchError, OSError, UnicodeDecodeError, csv.Error) as error:
            raise ModelError(f"the statements {name!r} of the persona cannot be read: {error}") from error
        for row in rows:
            found |= _of_row(row)
    return dict(sorted(found.items(), key=lambda item: -len(item[0])))


def _of_row(row: Mapping[str | None, object]) -> dict[str, Wording]:
    ref = str(row.get("ref") or "")
    told = str(row.get("leaning") or row.get("yes") or "").strip().casefold()
    side = LEANS.get(told) or ("left", "right")[text_key(ref)[0] % 2]
    return {
        text.strip(): Wording(ref, side, SAME.fullmatch(column) is None)
        for column, text in row.items()
        if isinstance(column, str) and (SAME.fullmatch(column) or TURNED.fullmatch(column))
        if isinstance(text, str) and text.strip()
    }
