"""Rules that the changed form of a question must meet so that its bias can be measured: statistics compare letters.

Response order: the options from last to first, so that the first of one form is the last of the other. Opinion float:
one more option at the end. Odd/even: the original without its middle option. The wording of the question stays the
same. For acquiescence and allow/forbid, whose questions are reworded, only the number of options can be checked: both
compare the letters `a` and `b` (Tjuatja et al. 2024, section 3).
"""

from __future__ import annotations

from workbench.domain.choice_texts import Fault
from workbench.domain.choices import Bias, Choice, ChoicePair

REWORDED = (Bias.ACQUIESCENCE, Bias.ALLOW_FORBID)


def form_fault(pair: ChoicePair) -> Fault | None:
    """Return the fault of the changed form; None if it is valid or unknown."""
    if pair.changed is None:
        return None
    original, changed = pair.original, pair.changed
    if pair.bias in REWORDED:
        n = len(changed.options)
        return None if n == 2 else Fault(f"{n} options", f"two: {pair.bias} compares A with B")
    if changed.stem != original.stem:
        return Fault("another question than the original's", f"the same question: {pair.bias} changes its options")
    wanted, said = _options(pair.bias, original, changed)
    if changed.options == wanted:
        return None
    return Fault(f"the options {_list(changed.options)}", f"{said}: {_list(wanted)}")


def original_fault(pair: ChoicePair) -> Fault | None:
    """Return the fault of the original; None if the bias can be measured with it."""
    options = len(pair.original.options)
    if pair.bias is Bias.ODD_EVEN and options % 2 == 0:
        return Fault(f"{options} options", "an odd number: the original is the form with a middle option")
    if pair.bias is Bias.ALLOW_FORBID and options != 2:
        return Fault(f"{options} options", "two: allow/forbid compares A with B")
    return None


def _options(bias: Bias, original: Choice, changed: Choice) -> tuple[tuple[str, ...], str]:
    """Return the options that the changed form must have, and a description of them."""
    if bias is Bias.RESPONSE_ORDER:
        return original.options[::-1], "the original's from last to first"
    if bias is Bias.OPINION_FLOAT:
        return (*original.options, changed.options[-1]), "the original's and one more at the end"
    middle = len(original.options) // 2
    return (*original.options[:middle], *original.options[middle + 1 :]), "the original's without the middle one"


def _list(options: tuple[str, ...]) -> str:
    return " / ".join(options)
