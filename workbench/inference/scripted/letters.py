"""How a scripted model answers questions with lettered options: with known probabilities, to check statistics.

    [letters]
    weights = [3, 1]             # odds of the first option, the second, …; the last number also applies to later ones
    by_text = 0                  # how much options differ by their text, in any position; 0: not at all
    yes = 0.9                    # share of answers that are the option Yes or Agree where there is one
    invalid = 0.1                # share of answers that are not a letter; 1: never a valid one
    others = ["As", "\\n", "I"]  # these answers, one drawn at random

A model with only `by_text` gives the same answer for any order of options and any errors in the question; one with only
`weights` depends on positions. Without the table options differ by text but not by position, and the share of invalid
answers is the persona's share of unreadable ones.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import lru_cache

from workbench.domain.choices import LETTERS
from workbench.domain.keys import text_key
from workbench.domain.prompts import Prompt

STEEPEST = 100.0
"limit of the log-odds of an option's text"
YES = re.compile(r"(yes|agree|strongly agree|allow(ed)?|true)\b", re.IGNORECASE)
"beginning of an option that says yes"
_OPTION = re.compile(r"([A-Z])\.[ \t]+(\S.*)")


@dataclass(frozen=True, slots=True)
class LetterHabits:
    """How often each lettered option is chosen."""

    weights: tuple[float, ...] = (1.0,)
    by_text: float = 1.0
    "limit, plus or minus, of the log-odds of an option, which a hash of its text determines"
    invalid: float | None = None
    "None: the persona's share of unreadable answers"
    yes: float = 0.0
    "share of answers that say yes to any question with such an option"
    others: tuple[str, ...] = ("As", "\n", "I")
    "one token each, like the beginning of a model's answer that is not a letter"


def letter_shares(habits: LetterHabits, unreadable: float, prompt: Prompt) -> dict[str, float] | None:
    """Return the probability of each answer to a lettered question; None if the prompt does not end with such a
    question.

    `unreadable`: the persona's share of unreadable answers, for habits without `invalid`.
    """
    return _shares(habits, unreadable, prompt.messages[-1].content)


@lru_cache(maxsize=256)
def _shares(habits: LetterHabits, unreadable: float, text: str) -> dict[str, float] | None:
    options = offered_options(text)
    if not options:
        return None
    odds = [_odds(habits, place, option) for place, option in enumerate(options)]
    invalid = unreadable if habits.invalid is None else habits.invalid
    says_yes = [bool(YES.match(option)) for option in options]
    yes = habits.yes if any(says_yes) else 0.0
    chosen = [(1 - yes) * x / sum(odds) + yes * (place == says_yes.index(True) if yes else 0)
              for place, x in enumerate(odds)]  # fmt: skip
    shares = {LETTERS[place].upper(): (1 - invalid) * share for place, share in enumerate(chosen)}
    for other in habits.others:
        shares[other] = shares.get(other, 0.0) + invalid / len(habits.others)
    return shares


def _odds(habits: LetterHabits, place: int, option: str) -> float:
    weight = habits.weights[min(place, len(habits.weights) - 1)]
    liked = text_key(option)[0] / 127.5 - 1
    return weight * math.exp(habits.by_text * liked)


def offered_options(text: str) -> tuple[str, ...]:
    """Return the last options that a text lists, from `A. …` to the end, one per line; empty if fewer than two.

    Examples
    --------
    >>> offered_options("Example:\\nA. Apples\\nB. Pears\\n\\nQuestion: War?\\nA. Yes\\nB. No\\nC. Unsure\\nAnswer:")
    ('Yes', 'No', 'Unsure')
    >>> offered_options("A. Smith is right, is he not?")
    ()
    """
    found: tuple[str, ...] = ()
    run: list[str] = []
    for line in text.splitlines():
        match = _OPTION.fullmatch(line.rstrip())
        expected = LETTERS[len(run) : len(run) + 1].upper()
        if match and match[1] == expected:
            run.append(match[2])
        else:
            run = [match[2]] if match and match[1] == "A" else []
        if len(run) > 1:
            found = tuple(run)
    return found
