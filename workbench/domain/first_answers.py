"""The first answers of a job: where not one of them can be read, the rest is not worth hours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field

from workbench.domain.counting import plural

FIRST = 100
"""Answers that must have come before a job pauses because not one can be read. Were answers independent, a model that
is readable in one of twenty would have none in 100 with a chance of 0.6 %."""
PROMPTS = 10
"prompts that they must belong to: answers to one prompt are alike"
REPEATED = 8
"""Answers equal to an earlier one of their prompt, while none differs, after which a served model is asked an open
prompt: see `inference.served.drawing`."""
SHOWN = 3
"distinct answers that are shown as examples"
LONGEST = 80
"characters of an example"


@dataclass(slots=True)
class FirstAnswers:
    """Looks at the answers of an attempt until one of them can be read."""

    exact: bool = False
    "whether prompts are looked at, of which probabilities were computed"
    at_once: bool = False
    "whether all is asked at once even so: in batches that take a day, or of a cluster that loads the model each time"
    answers: int = 0
    examples: list[str] = field(default_factory=list)
    readable: bool = False
    "one could be read: nothing more is looked at"
    refused: int = 0
    truncated: int = 0
    differ: bool = False
    "whether answers to one prompt differ, or it is known that they are drawn"
    undrawn: str = ""
    "why answers are not drawn, as the model was found to answer an open prompt"
    _prompts: set[Hashable] = field(default_factory=set)
    _said: dict[Hashable, str] = field(default_factory=dict)
    "an answer to each prompt, as long as no other differs from it"
    _counts: Counter[Hashable] = field(default_factory=Counter)

    def look(
        self, prompts: Iterable[Hashable], texts: Iterable[str], answers: int, silent: int, refused: int, truncated: int
    ) -> None:
        """Take in what came.

        prompts, texts : of the answers that came now
        answers, silent, refused, truncated : of all that came so far: how many, how many of them cannot be read, and
            of these the refusals and those that were cut off in thought
        """
        if self.readable:
            return
        self.answers, self.refused, self.truncated = answers, refused, truncated
        self.readable = silent < answers
        self._prompts.update(prompts)
        for text in texts:
            if len(self.examples) < SHOWN and (short := _short(text)) not in self.examples:
                self.examples.append(short)

    def drew(self, prompt: Hashable, answers: Iterable[tuple[str, int]]) -> None:
        """Take in distinct answers to a prompt with their counts, until two of one prompt differ."""
        for text, count in answers:
            if self.differ:
                return
            self.differ = self._said.setdefault(prompt, text) != text
            self._counts[prompt] += count

    @property
    def alike(self) -> bool:
        """Whether answers repeat so often and never differ that it is worth asking whether they are drawn at all."""
        repeated = sum(self._counts.values()) - len(self._counts)
        return not (self.differ or self.undrawn) and len(self._counts) > 1 and repeated >= REPEATED

    @property
    def decided(self) -> bool:
        """Whether nothing more is looked at."""
        return self.readable or self.hopeless

    @property
    def lacking(self) -> tuple[int, int]:
        """How many answers, and prompts that they belong to, have to come before there are enough."""
        return max(0, FIRST - self.answers), max(0, PROMPTS - len(self._prompts))

    @property
    def hopeless(self) -> bool:
        """Whether there are enough and none can be read, or they are not drawn."""
        return bool(self.undrawn) or (not self.readable and self.answers >= FIRST and len(self._prompts) >= PROMPTS)

    def describe(self) -> str:
        """Say what came, with examples."""
        if self.undrawn:
            return (
                f"The first {sum(self._counts.values()):,} answers are equal within their {len(self._counts)} prompts, "
                f"and {self.undrawn}"
            )
        what = "prompts" if self.exact else f"answers (to {plural(len(self._prompts), 'prompt')})"
        kinds = {"refuse": self.refused, "are cut off in thought": self.truncated}
        told = ", ".join(f"{count:,} {kind}" for kind, count in kinds.items() if count)
        shown = "; ".join(f'"{text}"' for text in self.examples)
        parts = [
            f"Not one of the first {self.answers:,} {what} can be read",
            f" ({told})" if told else "",
            f". Among them: {shown}" if shown else "",
        ]
        return "".join(parts)


def _short(text: str) -> str:
    flat = " ".join(text.split()) or "(empty)"
    return flat if len(flat) <= LONGEST else f"{flat[: LONGEST - 1]}…"
