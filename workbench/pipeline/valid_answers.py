"""Which answers to multiple-choice questions count, and how many are drawn until there are enough of them.

"We sample until the answer is valid" (Tjuatja et al. 2024, section 3.1) has no end with a model that never gives one:
here a prompt gets so many tries and keeps what it has.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from stores.core.store import Store
from workbench import registry
from workbench.domain.designs import Design
from workbench.domain.prompts import Probe
from workbench.domain.responses import EXACT, ModelCard
from workbench.domain.thinking import split
from workbench.readers.choice_letter import letter_of

CAREFUL = 0.9
"of the answers that the share of valid ones so far makes one expect to be needed: rarely more are drawn than needed"


@dataclass(frozen=True, slots=True)
class ValidTally:
    """What is offered in each prompt, and what was drawn."""

    letters: Mapping[bytes, str]
    "prompt key -> letters that it offers"
    valid: dict[bytes, int]
    "prompt key -> answers that are such a letter, when the plan was made"
    drawn: Mapping[bytes, int]
    "prompt key -> all answers"

    def count(self, key: bytes, answers: Iterable[tuple[str, int]]) -> int:
        """Return how many answers to a prompt are offered letters."""
        return valid_count(answers, self.letters[key])

    def to_draw(self, key: bytes, held: int, wanted: int, tries: int) -> int:
        """Return how many answers to draw next for a prompt that has `held` valid ones; 0: it has enough, or no tries
        are left. With none that is valid so far each round is as long as all before it, so that a prompt that nobody
        answers costs few rounds.
        """
        drawn = self.drawn.get(key, 0)
        lacking, left = wanted - held, wanted * tries - drawn
        if lacking <= 0 or left <= 0:
            return 0
        expected = CAREFUL * lacking * drawn / held if held else drawn
        return min(left, max(lacking, int(expected)))


def valid_count(answers: Iterable[tuple[str, int]], letters: str) -> int:
    """Return how many answers, given as (text, how often), name one of the letters."""
    return sum(
        count for text, count in answers if (letter := letter_of(split(text).answer or "")) and letter in letters
    )


def valid_tally(store: Store, design: Design, probes: Sequence[Probe], card: ModelCard | None) -> ValidTally | None:
    """Return which answers count; None where an audit counts all, or nothing is drawn."""
    audit = registry.audit(design.audit)
    if not audit.defaults.until_valid or design.sampling.mode == EXACT:
        return None
    letters = {probe.prompt.key: audit.offered(probe) for probe in probes}
    how = {"dtype": design.dtype, "chat_format": design.chat_format}
    held = store.raw_answers.of_prompts(list(letters), design.model, design.sampling, card, **how)
    return ValidTally(
        letters=letters,
        valid={key: valid_count(counts.items(), letters[key]) for key, counts in held.items()},
        drawn=store.runs.stored(list(letters), design.model, design.sampling, card, **how),
    )
