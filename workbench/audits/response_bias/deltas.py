"""How much each question's answers changed, under the four definitions by which that was or should be published.

Tjuatja et al. 2024, table 2, in percentage points. Every definition is one difference of shares: the share that some
letters have among the answers to q', minus the share that some letters have among those to q, with a sign.

| definition | questions | shares of | allow/forbid |
|---|---|---|---|
| `paper` | only the first 50 of some perturbations | all answers | q `a`, q' `b`: human-like is below 0 |
| `all keys` | all | all answers | as `paper` |
| `head` | all but eight of allow/forbid | all answers | q `b`, q' `a` |
| `corrected` | all, where the formula fits the options | valid answers | as `head`, two options only |

Under a perturbation, the first three take the answers and the formula of odd/even for opinion floating, of every model,
as the published tables do. `corrected` takes opinion floating by its own formula, over its own answers where there are
any; it names the letters of a form whose middle option was removed as those of the original, and takes the middle of
any odd scale where the published formulas say `c`. A question whose two forms read alike is void under `corrected`: its
change says nothing of the form. The other definitions keep it, as published.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from workbench.audits.response_bias.options import Definition
from workbench.audits.response_bias.table import Table, middle, not_offered, valid_answers
from workbench.domain.choices import LETTERS, Bias, Perturbation
from workbench.stats.arrays import BoolArray, FloatArray, IntArray

FIRST = 50
"questions of a perturbation that the published tables rest on"
ALL_QUESTIONS = frozenset({"llama2-7b-chat", "llama2-13b-chat"})
"models whose published perturbations rest on all questions"
LEFT_OUT_BY_HEAD = frozenset(
    {
        "GAP21Q46_W82",
        "RACESURV15b_W43",
        "DRONE4D_W27",
        "ABORTIONALLOW_W32",
        "INEQ10_W54",
        "INEQ11_W54",
        "POLICY1_W42",
        "GOVT_ROLE_W32",
    }
)
"allow/forbid questions that the authors' last code leaves out"

NOT_FIRST = f"not among the first {FIRST} questions of the file"
IN_LIST = "left out by the authors' last code"
NO_MIDDLE = "the original has no middle option"
NOT_REMOVED = "the changed form is not the original without its middle option"
NOT_TWO = "not two options in both forms"
VOID = "void: both forms have the same text"
NO_ORIGINAL = "no usable answer to the original form"
NO_CHANGED = "no usable answer to the changed form"

ROUNDING = 1e-9
"probabilities at or below this are what rounding left"
_A, _B, _C = range(3)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A question that takes no part, and why."""

    key: str
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class Deltas:
    """The change of every question that takes part, N of K, in the order of the source."""

    bias: Bias
    condition: Perturbation | None
    definition: Definition
    source: Bias
    "whose answers these are: those to perturbed opinion-floating questions are odd/even's under the published \
definitions, and under `corrected` where nobody asked them again"
    keys: tuple[str, ...]
    shares: FloatArray
    "(N, 2) share of the letters in question among the answers to q and q'"
    answers: FloatArray
    "(N, 2) what they are shares of; of several draws their sum"
    draws: IntArray
    "(N,) draws of the perturbation behind each question's shares; 1 where there is one"
    sign: int
    left_out: tuple[LeftOut, ...]

    @property
    def values(self) -> FloatArray:
        """Return 100 sign (share of q' - share of q): percentage points."""
        return np.asarray(100 * self.sign * (self.shares[:, 1] - self.shares[:, 0]))


def human_sign(bias: Bias, definition: Definition) -> int:
    """Return the sign of a change that people show: 1, or -1 for allow/forbid as it was published.

    People agree to `not allow` more than to `forbid`. The published formula counts who would allow, so that its sign is
    the reverse, though the paper reads it as human-like above 0 as well.
    """
    return -1 if bias is Bias.ALLOW_FORBID and definition in (Definition.PAPER, Definition.ALL_KEYS) else 1


def deltas(table: Table, definition: Definition = Definition.CORRECTED, bias: Bias | None = None) -> Deltas:
    """Return the change of every question under a definition.

    Parameters
    ----------
    bias : which bias's change; None: the table's own. Opinion floating under a perturbation repeats odd/even, formula
        and all, under the published definitions; `corrected` takes its own formula over the same answers.
    """
    shown = bias or table.bias
    corrected = definition is Definition.CORRECTED
    rule = shown if corrected else table.bias
    sign, letters = _letters(rule, table, definition)
    counts = valid_answers(table) if corrected else table.counts
    usable = counts.sum(axis=-1)
    reasons = _reasons(rule, table, definition, usable)
    rows = np.flatnonzero(reasons == "")
    answers = np.full((len(rows), 2), table.total) if table.total and not corrected else usable[rows]
    return Deltas(
        bias=shown,
        condition=table.condition,
        definition=definition,
        source=table.bias,
        keys=tuple(table.keys[row] for row in rows),
        shares=(counts[rows] * letters[rows]).sum(axis=-1) / answers,
        answers=answers,
        draws=np.ones(len(rows), dtype=np.int64),
        sign=sign,
        left_out=tuple(LeftOut(table.keys[row], str(reasons[row])) for row in np.flatnonzero(reasons != "")),
    )


@dataclass(frozen=True, slots=True)
class Dropped:
    """Answers of a table that `corrected` does not count, and answers that were drawn again."""

    blank: int
    not_offered: int
    "with a letter beyond the options"
    questions: int
    "in which there are blank or not offered ones"
    invalid: float
    "drawn again; for probabilities, expected"


def dropped(tables: Sequence[Table]) -> Dropped:
    """Return what the corrected definition does not count of some tables; answers that several hold count once."""
    blank = strange = invalid = 0.0
    seen: set[str] = set()
    keys: set[str] = set()
    for table in tables:
        own = np.ones((len(table.keys), 2))
        own[:, 0] = [not (table.asked_once and key in seen) for key in table.keys]
        seen |= set(table.keys)
        beyond = not_offered(table)
        beyond = own * np.where(beyond > ROUNDING, beyond, 0.0)
        keys |= {table.keys[row] for row in np.flatnonzero((beyond + own * table.blanks).any(axis=1))}
        blank += float((own * table.blanks).sum())
        strange += float(beyond.sum())
        invalid += float((own * table.invalid).sum())
    return Dropped(round(blank), round(strange), len(keys), invalid)


def _letters(rule: Bias, table: Table, definition: Definition) -> tuple[int, BoolArray]:
    """Return the sign, and which letters count in which form, (K, 2, 26)."""
    chosen = np.zeros((len(table.keys), 2, len(LETTERS)), dtype=np.bool_)
    if rule is Bias.ALLOW_FORBID:
        turned = definition in (Definition.HEAD, Definition.CORRECTED)
        original, opposite = (_B, _A) if turned else (_A, _B)
        chosen[:, 0, original] = True
        chosen[:, 1, opposite if table.condition is None else original] = True
        return -1, chosen
    if rule in (Bias.ACQUIESCENCE, Bias.RESPONSE_ORDER):
        chosen[:, :, _A] = True
        return (1 if rule is Bias.ACQUIESCENCE else -1), chosen
    centre = middle(table.offered[:, 0]) if definition is Definition.CORRECTED else np.full(len(table.keys), _C)
    away = np.abs(np.arange(len(LETTERS)) - centre[:, None])
    chosen |= (away == (1 if rule is Bias.ODD_EVEN else 0))[:, None, :]
    return (1 if rule is Bias.ODD_EVEN else -1), chosen


def _reasons(rule: Bias, table: Table, definition: Definition, usable: FloatArray) -> npt.NDArray[np.str_]:
    """Return why each question takes no part, the first reason that holds; the empty string where it does."""
    rules = [*_rules(rule, table, definition), (usable[:, 0] == 0, NO_ORIGINAL), (usable[:, 1] == 0, NO_CHANGED)]
    return np.select([left_out for left_out, _ in rules], [reason for _, reason in rules], default="")


def _rules(rule: Bias, table: Table, definition: Definition) -> list[tuple[BoolArray, str]]:
    """Return what a definition leaves out: which questions, and why."""
    place = np.arange(len(table.keys))
    if definition is Definition.PAPER:
        cut = table.condition is not None and rule is not Bias.ALLOW_FORBID and table.model not in ALL_QUESTIONS
        return [((place >= FIRST) & cut, NOT_FIRST)]
    if definition is Definition.HEAD and rule is Bias.ALLOW_FORBID:
        return [(np.isin(table.keys, list(LEFT_OUT_BY_HEAD)), IN_LIST)]
    if definition is not Definition.CORRECTED:
        return []
    void = [(np.isin(table.keys, list(table.void)), VOID)]
    if rule is Bias.ALLOW_FORBID:
        return [*void, ((table.offered != 2).any(axis=1), NOT_TWO)]
    if rule in (Bias.ODD_EVEN, Bias.OPINION_FLOAT):
        return [*void, *_middle_rules(rule, table)]
    return void


def _middle_rules(rule: Bias, table: Table) -> list[tuple[BoolArray, str]]:
    odd = (table.offered[:, 0] % 2 == 1) & (table.offered[:, 0] >= 3)
    if rule is Bias.ODD_EVEN and table.condition is None:
        return [(~odd, NO_MIDDLE), (table.offered[:, 1] != table.offered[:, 0] - 1, NOT_REMOVED)]
    return [(~odd, NO_MIDDLE)]
