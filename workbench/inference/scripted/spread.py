"""How the answers of a scripted model vary: shares of agreement with known variance components.

    [spread]
    statements = "veldania"   # a shipped instrument, or a statements.csv; the job's own instrument is known besides
    mean = 0.5
    seed = 1
    statement = 0.08          # variances of shares, as `workbench agreement` estimates them
    wording = 0.01
    template = 0.005
    statement_template = 0.005

    [[spread.moved]]          # prompts that contain `said` have a share of agreement that is higher by `by`
    said = "You are a nurse."
    by = 0.2

A hash determines the effect of every statement, wording, template and label order, so that a prompt always has the same
share; negations and opposites get reversed answers. Shares are drawn from `workbench.stats.components`.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from workbench.data import shipped_instrument_folder
from workbench.domain.keys import SEED, text_key
from workbench.errors import ModelError, WorkbenchError
from workbench.stats.components import (
    COMPONENTS,
    ORDER,
    ORDER_REST,
    ORDER_STATEMENT,
    ORDER_TEMPLATE,
    ORDER_WORDING,
    SAMPLING,
    STATEMENT,
    STATEMENT_TEMPLATE,
    TEMPLATE,
    WORDING,
    WORDING_TEMPLATE,
    ProbitNormal,
)
from workbench.stats.resampling import derive_rng

FIELDS = {name.replace(" x ", "_").replace(" ", "_"): name for name in COMPONENTS if name != SAMPLING}
"field of the file -> component"
POSITIVE = ("agree", "beneficial", "favorable", "favourable", "yes")
"labels of agreement; a prompt that lists one of them first has the printed order"
SAME = re.compile(r"(original|paraphrase|reformulation)(_\d+)?")
TURNED = re.compile(r"(negation|opposite|political_opposite)(_\d+)?")
LEANS = {"left": "left", "liberal": "left", "right": "right", "conservative": "right"}
"name of a side in statements.csv, in the column `leaning` or `yes` -> side"


class Wording(NamedTuple):
    """The data of a wording."""

    ref: str
    column: str
    "as in statements.csv: `paraphrase_1`"
    side: str
    "the side that agreeing with the statement is on"
    turned: bool
    "whether it contradicts the statement"


Known = Mapping[str, Wording]
"each wording that a persona knows -> its data, the longest first"


def wording_in(text: str, known: Known) -> Wording:
    """Return the statement of a prompt. Raises ModelError if it contains no known wording."""
    return known[_found(text, known)]


def _found(text: str, known: Known) -> str:
    found = next((one for one in known if one in text), None)
    if found is None:
        raise ModelError(f"the persona knows no statement in {text[:200]!r}")
    return found


def side_of(told: str, ref: str) -> str:
    """Return the side of a statement: the labelled one, else one of the two by a hash of its ref."""
    return LEANS.get(told.strip().casefold()) or ("left", "right")[text_key(ref)[0] % 2]


@dataclass(frozen=True)
class Spread:
    """The effects on the shares of a scripted model."""

    statements: str
    mean: float = 0.5
    seed: int = SEED
    components: tuple[tuple[str, float], ...] = ()
    moved: tuple[tuple[str, float], ...] = ()
    "(text in a prompt, by how much it raises the share of agreement)"

    @cached_property
    def shares(self) -> ProbitNormal:
        """The distribution of the shares; its `components` are their variance components."""
        return ProbitNormal.matching(self.mean, dict(self.components))

    def share(self, text: str, first: str, second: str, known: Known) -> float:
        """Return the share of answers with a prompt's first label. Raises ModelError for unknown wordings."""
        wording = _found(text, known)
        by = 0.0
        for said, higher in self.moved:
            if said in text:
                by += higher
                text = re.sub(rf"{re.escape(said)}\s*", "", text)  # so that the template is the same one
        of = known[wording]
        template = text.replace(wording, "{}")
        for label in sorted((first, second), key=len, reverse=True):
            template = re.sub(rf"\b{re.escape(label)}\b", "_", template)
        printed = first.casefold() in POSITIVE
        agreed = min(max(self._agreed(of.ref, of.column, template, -1 if printed else 1) + by, 0.0), 1.0)
        agreed = 1 - agreed if of.turned else agreed
        return agreed if printed else 1 - agreed

    def _agreed(self, ref: str, column: str, template: str, order: int) -> float:
        """Return the share of agreement with the statement itself; order -1: printed, 1: swapped."""
        s, w, t, st, wt = (ref,), (ref, column), ("", template), (ref, template), (ref, column, template)
        level = {STATEMENT: s, WORDING: w, TEMPLATE: t, STATEMENT_TEMPLATE: st, WORDING_TEMPLATE: wt}
        half = {ORDER_STATEMENT: s, ORDER_WORDING: w, ORDER_TEMPLATE: t, ORDER_REST: wt}
        of = self.shares
        z = of.mean + sum(self._effect(name, key) for name, key in level.items())
        z += order * (
            of.sd * of.parts.get(ORDER, 0.0) ** 0.5 + sum(self._effect(name, key) for name, key in half.items())
        )
        return _phi(z)

    def _effect(self, name: str, key: tuple[str, ...]) -> float:
        part = self.shares.parts.get(name, 0.0)
        if part == 0:
            return 0.0
        return float(self.shares.sd * np.sqrt(part) * derive_rng(self.seed, name, *key).standard_normal())


def _phi(z: float) -> float:
    from scipy.special import ndtr

    return float(ndtr(z))


@lru_cache(maxsize=8)
def wordings_of(sources: tuple[str, ...]) -> Known:
    """Return the wordings of shipped instruments or `statements.csv` files. Raises ModelError."""
    found: dict[str, Wording] = {}
    for name in sources:
        try:
            path = Path(name)
            path = path if path.is_file() else shipped_instrument_folder(name) / "statements.csv"
            with path.open(encoding="utf-8-sig", newline="") as lines:
                rows = list(csv.DictReader(lines, strict=True))
        except (WorkbenchError, OSError, UnicodeDecodeError, csv.Error) as error:
            raise ModelError(f"the statements {name!r} of the persona cannot be read: {error}") from error
        for row in rows:
            found |= _of_row(row)
    return longest_first(found)


def longest_first(known: Known) -> Known:
    """Return wordings in the order in which a prompt is searched for them."""
    return dict(sorted(known.items(), key=lambda item: -len(item[0])))


def _of_row(row: Mapping[str | None, object]) -> dict[str, Wording]:
    ref = str(row.get("ref") or "")
    side = side_of(str(row.get("leaning") or row.get("yes") or ""), ref)
    return {
        text.strip(): Wording(ref, column, side, SAME.fullmatch(column) is None)
        for column, text in row.items()
        if isinstance(column, str) and (SAME.fullmatch(column) or TURNED.fullmatch(column))
        if isinstance(text, str) and text.strip()
    }
