"""How long a model may think before it answers, and what ends a thought that takes longer.

A thought has a budget of its own: its tokens do not count towards the most tokens of an answer. Once the budget is
spent, the tokens that end a thought are put in place of what the model would have written next, and it goes on with
its answer. What is put there depends on nothing but the tokens before it, so samples that have begun alike still share
one computation, and merged sampling stays exact.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from workbench.domain.thinking import Pair, in_thought, split
from workbench.inference.engines import Spell

WITHIN = -1
"in place of a count of tokens: the thought goes on"
OPENING = 8
"tokens of an output among which a model that begins to think writes the mark of it"
TAIL = 12
"tokens at the end of an output that hold a mark which has just been written"


@dataclass(frozen=True, slots=True)
class ThoughtRule:
    """The budget of one prompt's thoughts."""

    budget: int
    "tokens; the marks around a thought that the model writes itself count"
    end: tuple[int, ...]
    "tokens that are put at the end of a thought that is cut"
    opened: str
    "the mark with which the prompt has opened a thought already; empty: none"
    closing: str
    "the mark that ends a thought"
    spell: Spell
    own: tuple[Pair, ...] = ()

    @property
    def start(self) -> int:
        """Return what `after` begins with."""
        return WITHIN if self.opened else 0

    def after(self, before: int, tokens: Sequence[int]) -> int:
        """Return how many of an output's tokens stand before its answer, `WITHIN` while it is a thought; `before`: the
        same without the last token.
        """
        n = len(tokens)
        if before == WITHIN:
            if n > self.budget:
                return n if n >= self.budget + len(self.end) else WITHIN
            return n if self.closing in self.spell(tokens[-TAIL:]) else WITHIN
        if before == 0 and n <= OPENING and in_thought(self.spell(tokens), self.own):
            return WITHIN
        return before

    def forced(self, before: int, n: int) -> int | None:
        """Return the token that has to come after n tokens of an output; None: whichever the model draws."""
        if before != WITHIN or n < self.budget:
            return None
        return self.end[n - self.budget]

    def thought(self, tokens: Sequence[int]) -> int:
        """Return how many tokens of a whole output are thought, with the marks of it."""

        def ended(n: int) -> bool:
            return split(self.opened + self.spell(tokens[:n]), self.own).answer is not None

        opening = range(1, min(OPENING, len(tokens)) + 1)
        start = 0 if self.opened else next((n for n in opening if not ended(n)), None)
        if start is None:
            return 0
        return start + bisect_left(range(start, len(tokens)), True, key=ended)
