"""How the answers of a scripted model vary: shares of agreement with known variance components.

    [spread]
    statements = "veldania"   # a shipped instrument, or a statements.csv: the wordings of each statement
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
share; negations and opposites get reversed answers. Shares are drawn from `workbench.stats.probit_normal`.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np

from workbench.data import shipped_instrument_folder
from workbench.domain.seeds import SEED
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
)
from workbench.stats.probit_normal import ProbitNormal
from workbench.stats.resampling import derive_rng

FIELDS = {name.replace(" x ", "_").replace(" ", "_"): name for name in COMPONENTS if name != SAMPLING}
"field of the file -> component"
POSITIVE = ("agree", "beneficial", "favorable", "favourable", "yes")
"labels of agreement; a prompt that lists one of them first has the printed order"
COLUMN = re.compile(r"(original|paraphrase)(_\d+)?|(negation|opposite)(_\d+)?")
OTHER_WAY = ("negation", "opposite")


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

    def share(self, text: str, first: str, second: str) -> float:
        """Return the share of answers with a prompt's first label. Raises ModelError for unknown wordings."""
        wording = next((one for one in _wordings(self.statements) if one in text), None)
        if wording is None:
            raise ModelError(f"the persona knows no statement in {text[:200]!r}; its statements are {self.statements}")
        by = 0.0
        for said, higher in self.moved:
            if said in text:
                by += higher
                text = re.sub(rf"{re.escape(said)}\s*", "", text)  # so that the template is the same one
        ref, column = _wordings(self.statements)[wording]
        template = text.replace(wording, "{}")
        for label in sorted((first, second), key=len, reverse=True):
            template = re.sub(rf"\b{re.escape(label)}\b", "_", template)
        printed = first.casefold() in POSITIVE
        agreed = min(max(self._agreed(ref, column, template, -1 if printed else 1) + by, 0.0), 1.0)
        agreed = 1 - agreed if column.startswith(OTHER_WAY) else agreed
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
def _wordings(statements: str) -> Mapping[str, tuple[str, str]]:
    """Return each wording -> its statement and column, the longest first. Raises ModelError."""
    try:
        path = Path(statements)
        path = path if path.is_file() else shipped_instrument_folder(statements) / "statements.csv"
        with path.open(encoding="utf-8-sig", newline="") as lines:
            rows = list(csv.DictReader(lines, strict=True))
    except (WorkbenchError, OSError, UnicodeDecodeError, csv.Error) as error:
        raise ModelError(f"the statements {statements!r} of the persona cannot be read: {error}") from error
    found = {
        text.strip(): (row.get("ref") or "", column)
        for row in rows
        for column, text in row.items()
        if isinstance(column, str) and COLUMN.fullmatch(column) and isinstance(text, str) and text.strip()
    }
    return dict(sorted(found.items(), key=lambda item: -len(item[0])))
