"""The fields of a job that asks multiple-choice questions: about which biases, and when to give up on a prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.containers import Horizontal, Vertical

from workbench.domain.choices import over_biases
from workbench.errors import UsageError
from workbench.tui.design_form import FormValues
from workbench.tui.kit.start_form import row, titled
from workbench.tui.widgets.field import Field
from workbench.tui.widgets.ticks import TickList

if TYPE_CHECKING:
    from stores.core.store import Store

LETTERED = "lettered"
"class of what is there for multiple-choice questions alone"
EXPLAIN = """Of multiple-choice questions there are besides:
biases       the changes of a question that are asked about
variants     original: the question as it is. changed: with the bias.
             key_typo, middle_random, letter_swap: the original with
             errors of typing, which people overlook
family       lettered: the answer is one letter. extended: a letter and
             a reason. steering, steering-steps: the question is asked
             with a word against one bias, so of that bias alone
             (Tjuatja et al. 2024, appendices C and D)
samples      valid answers to each prompt. An answer that is no letter
             of an option is kept, does not count, and is drawn again
tries        at most so many times the samples are drawn of a prompt;
             one that has too few valid answers then keeps those
answers      exact: the probabilities of the letters as the next token,
             one pass a prompt. For lettered and steering alone"""

SAID_OF = {"are longer than a token": "answers", ": no multiple-choice question": "statements"}
"what a plan says of what cannot be, and the field that holds it"


def compose_biases() -> Vertical:
    """Return the list of biases, which stands beside those of variants and templates."""
    return titled("biases", TickList(id="biases", compact=True)).add_class(LETTERED)


def compose_tries() -> Horizontal:
    """Return the field that stands beside the number of samples."""
    return row("tries", Field(FormValues("").tries, id="tries", compact=True)).add_class(LETTERED)


def biases_of(store: Store, instrument: str) -> tuple[str, ...]:
    """Return the biases that an instrument's questions are about, in the order of the article."""
    from workbench.domain.choices import Bias

    asked = {item.bias for item in store.choices.items(instrument).values()}
    return tuple(bias.value for bias in Bias if bias in asked)


def refs_about(store: Store, values: FormValues) -> tuple[str, ...]:
    """Return the questions about the chosen biases, one of each first. Raises UsageError where there is no question."""
    items = store.choices.items(values.instrument)
    if not items:
        raise UsageError(
            f"instrument: {values.instrument} has no multiple-choice questions; choose another, or import some: "
            "workbench import STORE --format choices PATH"
        )
    return over_biases(item for item in items.values() if values.biases is None or item.bias.value in values.biases)
