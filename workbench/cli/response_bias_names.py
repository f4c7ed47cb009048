"""What people call biases and conditions: as they are printed, and as they are typed."""

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


def kind_said(bias: Bias, variant: str = "") -> str:
    """Return `odd/even`, or `acquiescence (reword)`."""
    return f"{BIASES[bias]} ({variant})" if variant else BIASES[bias]


def place_said(bias: Bias, condition: Perturbation | None, variant: str = "") -> str:
    """Return `odd/even`, or `odd/even, key typo`."""
    return kind_said(bias, variant) + (f", {CONDITIONS[condition]}" if condition else "")


def place_order(place: tuple[Bias, Perturbation | None, str]) -> tuple[int, str, int]:
    """Return where a cell stands among others: a bias, its perturbations, then other wordings of the bias."""
    bias, condition, variant = place
    return list(Bias).index(bias), variant, list(CONDITIONS).index(condition)


def kind_name(bias: Bias, variant: str = "") -> str:
    """Return what `--bias` is given: `odd_even`, `acquiescence-reword`."""
    return f"{bias}-{variant}" if variant else str(bias)


def find_kind(text: str, kinds: Iterable[Kind]) -> Kind:
    """Return the bias that is meant by `odd_even`, `odd/even` or `acquiescence-reword`, of those there are.

    Raises UnknownName, listing these.
    """
    there = list(dict.fromkeys(kinds))
    found = next((kind for kind in there if _plain(kind_name(*kind)) == _plain(text)), None)
    if found is None:
        names = ", ".join(kind_name(*kind) for kind in there)
        raise UnknownName(f"there is no bias {text!r} here; there is: {names or 'none'}")
    return found


def find_condition(text: str) -> Perturbation | None:
    """Return the perturbation that is meant; None for `bias`, the form with the bias itself. Raises UnknownName."""
    for condition in CONDITIONS:
        if _plain(text) == _plain(condition or CONDITIONS[None]):
            return condition
    names = ", ".join(str(condition or CONDITIONS[None]) for condition in CONDITIONS)
    raise UnknownName(f"there is no condition {text!r}; there is: {names}")


def _plain(text: str) -> str:
    """Return a name without what people write differently: `odd/even`, `odd even` and `odd-even` are `odd_even`."""
    return "_".join(re.split(r"[\s/()_-]+", text.strip(" ()").lower()))
