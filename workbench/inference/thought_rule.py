"""Limits how long a model may think before it answers, and ends thoughts that take longer.

A thought has a separate budget: its tokens do not count towards the token limit of an answer. When the budget is spent,
the tokens that end a thought are inserted instead of the model's next tokens, and the model continues with its answer.
The inserted tokens depend only on the tokens before them, so samples with the same beginning still share one
computation, and merged sampling stays exact.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from workbench.domain.thinking import Pair, in_thought, split

Tokens = Sequence[int]
Spell = Callable[[Tokens], str]
"the text of an answer's tokens"
WITHIN = -1
"instead of a count of tokens: the thought continues"
OPENING = 8
"first tokens of an output, among which a model writes the mark that begins a thought"
TAIL = 12
"last tokens of an output, among which a mark may just have been completed"


@dataclass(frozen=True, slots=True)
class ThoughtRule:
    """The budget of one prompt's thoughts."""

    budget: int
    "in tokens, including marks that the model writes itself"
    end: tuple[int, ...]
    "tokens appended to a thought that is cut"
    opened: str
    "the mark with which the prompt opens a thought; empty: none"
    closing: str
    "the mark that ends a thought"
    spell: Spell
    own: tuple[Pair, ...] = ()

    @property
    def start(self) -> int:
        """Return the initial value of `after`."""
        return WITHIN if self.opened else 0

    def after(self, before: int, tokens: Sequence[int]) -> int:
        """Return how many of an output's tokens precede its answer, `WITHIN` during a thought; `before`: the result
        without the last token.
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
        """Return the forced token after n tokens of an output; None: the model draws it."""
        if before != WITHIN or n < self.budget:
            return None
        return self.end[n - self.budget]

    def thought(self, tokens: Sequence[int]) -> int:
        """Return how many tokens of a complete output are thoughts, including their marks."""

        def ended(n: int) -> bool:
            return split(self.opened + self.spell(tokens[:n]), self.own).answer is not None

        opening = range(1, min(OPENING, len(tokens)) + 1)
        start = 0 if self.opened else next((n for n in opening if not ended(n)), None)
        if start is None:
            return 0
        return start + bisect_left(range(start, len(tokens)), True, key=ended)
