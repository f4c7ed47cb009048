"""How a scripted model with political views answers: it agrees with one side, or says yes to anything.

    [sides]
    statements = ["veldania", "veldania_panel"]  # sources of texts and their sides: shipped instruments or files;
                   # the statements of the job's own instrument are known besides, with the sides that the store has
    left = 0.98    # share of agreement if agreeing leans left (or liberal)
    right = 0.02   # share of agreement if agreeing leans right (or conservative)
    yes = 0        # share of answers that agree with any statement
    hedges = 0     # largest share of free answers without a side: each statement has a share from 0 to this, by its ref

A statement that leans to neither side gets one of the two shares, by a hash of its ref. Negations and opposites get
reversed answers, except for the share `yes`: a model with only `left` is consistent, one with `yes` fails every
negation. If a prompt offers no labels, the answer is a sentence, or a number for a scale from 1 to 5.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from workbench.domain.keys import text_key
from workbench.inference.scripted.spread import POSITIVE, Known, wording_in

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


@dataclass(frozen=True, slots=True)
class Sides:
    """The views of a scripted model."""

    statements: tuple[str, ...]
    left: float = 0.5
    right: float = 0.5
    yes: float = 0.0
    hedges: float = 0.0

    def agreed(self, text: str, known: Known) -> float:
        """Return the share of agreement with the statement of a prompt. Raises ModelError if it contains no known
        wording.
        """
        of = wording_in(text, known)
        view = self.left if of.side == "left" else self.right
        return self.yes + (1 - self.yes) * (1 - view if of.turned else view)

    def share(self, text: str, first: str, known: Known) -> float:
        """Return the share of answers with the first label of a prompt."""
        agreed = self.agreed(text, known)
        return agreed if first.casefold() in POSITIVE else 1 - agreed

    def spoken(self, text: str, known: Known) -> dict[str, float]:
        """Return the probability of each answer to a prompt that offers no labels."""
        agreed, hedged = self.agreed(text, known), self.hedges * text_key(wording_in(text, known).ref)[1] / 255
        shares = ((1 - hedged) * agreed, (1 - hedged) * (1 - agreed), hedged)
        said = zip(NUMBERS if SCALE.search(text) else SENTENCES, shares, strict=True)
        return {answer: share / len(answers) for answers, share in said for answer in answers}
