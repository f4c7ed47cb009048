"""What response biases say in words: the definition, the tests, and one cell of the matrix."""

from __future__ import annotations

import math
from collections.abc import Mapping

from workbench.audits.response_bias.figures import Cell, HumanLikeness
from workbench.audits.response_bias.names import CONDITIONS
from workbench.audits.response_bias.options import Adjusted, ChangeOptions, Definition, EntropyRule

DEFINITIONS: Mapping[Definition, str] = {
    Definition.PAPER: "as the published tables: shares of all answers; of perturbations the first 50 questions of the "
    "file, of allow/forbid all; allow/forbid is human-like below 0",
    Definition.ALL_KEYS: "as the published tables, without leaving out questions: shares of all answers; allow/forbid "
    "is human-like below 0",
    Definition.HEAD: "as the authors' last published code: shares of all answers; without eight questions of "
    "allow/forbid; above 0 is human-like for every bias",
    Definition.CORRECTED: "shares of valid answers; the options of a form without its middle go by the letters of the "
    "original; allow/forbid with two options only; above 0 is human-like for every bias",
}
HOLM: Mapping[Adjusted, str] = {
    "none": "p is not adjusted, as published",
    "biases": "Holm's procedure adjusts p over a model's biases and leaves perturbations as they are",
    "all": "Holm's procedure adjusts p over a model's biases and perturbations together",
}
ENTROPIES: Mapping[EntropyRule, str] = {
    "offered": "by the options actually offered",
    "csv": "as in the published files, by the options that they record",
}
IN_A_WORD: Mapping[str, str] = {
    "significant, human-like": "human-like",
    "significant, opposite": "opposite",
    "significant, though people overlook it": "changes",
    "not significant": "n.s.",
    "no change in any question": "no change",
    "one question is too few for a test": "no test",
    "equal changes allow no test": "no test",
}
"`Cell.said` where there is little room"


def definition_said(definition: Definition) -> str:
    """Return the definition by name and in words."""
    return f"Definition {definition}: {DEFINITIONS[definition]}."


def test_said(options: ChangeOptions) -> str:
    """Return what is significant."""
    return (
        f"Significant: p below {options.alpha:g}, t-test over questions, two-sided; {HOLM[options.holm]}. "
        "[ ]: 95 % interval."
    )


def stars(p: float, *, significant: bool) -> str:
    """Return one star for a significant p, two below .01, three below .001; nothing where it is not significant.

    Examples
    --------
    >>> stars(0.0212, significant=True), stars(1e-9, significant=True), stars(0.0212, significant=False)
    ('*', '***', '')
    """
    if not significant:
        return ""
    return "***" if p < 0.001 else "**" if p < 0.01 else "*"


def beside(cell: Cell | None, likeness: HumanLikeness | None = None) -> str:
    """Return what stands behind a mean change in the matrix: `*** human-like ✓`; nothing where there is no mean."""
    if cell is None or math.isnan(cell.delta.mean):
        return ""
    tick = "✓" if likeness is not None and likeness.most_human_like else ""
    return " ".join(filter(None, (stars(cell.p_adjusted, significant=cell.effect != 0), IN_A_WORD[cell.said], tick)))


def why(found: HumanLikeness) -> str:
    """Return why a model is, or is not, most human-like in a bias."""
    if not found.tested:
        return "open: too few questions for a test"
    if found.human_like != 1:
        return "no: not significant" if found.human_like == 0 else "no: significant in the direction opposite to people"
    if found.perturbed:
        moves = "moves" if len(found.perturbed) == 1 else "move"
        return f"no: {', '.join(CONDITIONS[one] for one in found.perturbed)} {moves} it too"
    if found.untested:
        return f"open: {', '.join(CONDITIONS[one] for one in found.untested)} not tested"
    return "yes"
