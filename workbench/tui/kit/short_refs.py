"""Refs of statements for a column of a list: what many have in common is shortened, what tells them apart stays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from workbench.domain.choices import Bias
from workbench.figures.visible import visible

LEAST, MOST = 12, 24
"columns of refs: of an ordinary instrument, and of long keys in a small terminal"

SHORT = {
    Bias.ACQUIESCENCE: "acq",
    Bias.ALLOW_FORBID: "allow",
    Bias.RESPONSE_ORDER: "order",
    Bias.OPINION_FLOAT: "float",
    Bias.ODD_EVEN: "odd",
}


def short_refs(refs: Sequence[str]) -> dict[str, str]:
    """Return a name of at most `MOST` columns for each ref; no two are alike.

    Examples
    --------
    >>> list(short_refs(["response_order.q5", "acquiescence-reword.GAP_W82", "env-1"]).values())
    ['order.q5', 'acq-reword.GAP_W82', 'env-1']
    """
    names = {ref: _cut(_shortened(ref), MOST) for ref in refs}
    alike = Counter(names.values())
    seen: Counter[str] = Counter()
    for ref, name in names.items():
        if alike[name] > 1:
            seen[name] += 1
            number = f"·{seen[name]}"
            names[ref] = _cut(name, MOST - len(number)) + number
    return names


def width_of(names: dict[str, str]) -> int:
    """Return how many columns such names need."""
    return max([LEAST, *map(len, names.values())])


def _shortened(ref: str) -> str:
    kind, dot, key = visible(ref).partition(".")
    bias, dash, variant = kind.partition("-")
    short = next((name for each, name in SHORT.items() if each.value == bias), None) if key else None
    if short is None:
        return visible(ref)
    before = f"{short}{dash}{variant}"
    room = max(len(short) + 1, MOST - len(dot) - len(key))
    return (before if len(before) <= room else f"{before[: room - 1]}…") + dot + key


def _cut(text: str, length: int) -> str:
    """Return a text cut in its middle: refs differ in their ends, or begin with what differs."""
    if len(text) <= length:
        return text
    head = length // 2 - 1
    return f"{text[:head]}…{text[len(text) - (length - head - 1) :]}"
