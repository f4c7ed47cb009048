"""Names of biases and conditions: as they are printed, and as they are typed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from workbench.domain.choices import Bias, Perturbation
from workbench.errors import UnknownName

BIASES: Mapping[Bias, str] = {
    Bias.ACQUIESCENCE: "acquiescence",
    Bias.ALLOW_FORBID: "allow/forbid",
    Bias.RESPONSE_ORDER: "response order",
    Bias.OPINION_FLOAT: "opinion float",
    Bias.ODD_EVEN: "odd/even",
}
CONDITIONS: Mapping[Perturbation | None, str] = {
    None: "bias",
    Perturbation.KEY_TYPO: "key typo",
    Perturbation.MIDDLE_RANDOM: "middle random",
    Perturbation.LETTER_SWAP: "letter swap",
}

Kind = tuple[Bias, str]
"a bias and the variant of its wording; empty for the one that counts in the score"
Place = tuple[Bias, Perturbation | None, str]
"bias, condition (None: the bias itself) and variant of the wording: what names a cell of a report"


def kind_said(bias: Bias, variant: str = "") -> str:
    """Return `odd/even`, or `acquiescence (reword)`."""
    return f"{BIASES[bias]} ({variant})" if variant else BIASES[bias]


def place_said(bias: Bias, condition: Perturbation | None, variant: str = "") -> str:
    """Return `odd/even`, or `odd/even, key typo`."""
    return kind_said(bias, variant) + (f", {CONDITIONS[condition]}" if condition else "")


def place_order(place: Place) -> tuple[int, str, int]:
    """Return where a cell stands among others: a bias, its perturbations, then other wordings of the bias."""
    bias, condition, variant = place
    return list(Bias).index(bias), variant, list(CONDITIONS).index(condition)


def kind_name(bias: Bias, variant: str = "") -> str:
    """Return the name of a bias: `odd_even`, `acquiescence-reword`."""
    return f"{bias}-{variant}" if variant else str(bias)


def condition_name(condition: Perturbation | None) -> str:
    """Return the name of a condition: `key_typo`, or `bias` for the form with the bias itself."""
    return str(condition or CONDITIONS[None])


def subject_of(place: Place) -> tuple[str, str]:
    """Return how a link names a cell: `odd_even`, `key_typo`. The reverse of `place_of`."""
    bias, condition, variant = place
    return kind_name(bias, variant), condition_name(condition)


def place_of(bias: str, condition: str, kinds: Iterable[Kind]) -> Place:
    """Return the cell that a link names. Raises UnknownName."""
    found, variant = find_kind(bias, kinds)
    return found, find_condition(condition), variant


def find_kind(text: str, kinds: Iterable[Kind]) -> Kind:
    """Return the bias that is meant by `odd_even`, `odd/even` or `acquiescence-reword`, of those there are.

    Raises UnknownName, listing these.
    """
    there = list(dict.fromkeys(kinds))
    found = next((kind for kind in there if _plain(kind_name(*kind)) == _plain(text)), None)
    if found is None:
        names = ", ".join(kind_name(*kind) for kind in there)
        raise UnknownName(f"there is no bias {text!r} here. Available: {names or 'none'}")
    return found


def find_condition(text: str) -> Perturbation | None:
    """Return the perturbation that is meant; None for `bias`, the form with the bias itself. Raises UnknownName."""
    for condition in CONDITIONS:
        if _plain(text) == _plain(condition_name(condition)):
            return condition
    names = ", ".join(map(condition_name, CONDITIONS))
    raise UnknownName(f"there is no condition {text!r}. Available: {names}")


def _plain(text: str) -> str:
    """Return a name without what people write differently: `odd/even`, `odd even` and `odd-even` are `odd_even`."""
    return "_".join(re.split(r"[\s/()_-]+", text.strip(" ()").lower()))
