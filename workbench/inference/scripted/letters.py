"""How a stand-in answers a question with lettered options: with known probabilities, so that statistics can be checked.

    [letters]
    weights = [3, 1]             # odds of the first option, the second, …; the last number holds for all after it
    by_text = 0                  # how much options differ by their own text, wherever they stand; 0: not at all
    yes = 0.9                    # share of answers that are the option Yes or Agree where there is one
    invalid = 0.1                # share of answers that are none of the letters; 1: never a valid one
    others = ["As", "\\n", "I"]  # these answers, one drawn at random

A model of `by_text` alone says the same whatever the order of options and the errors in the question; one with
`weights` alone follows places. Without the table an option is liked by its text and all places alike, and as many
answers are none of the letters as the persona leaves unreadable.
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
"log-odds beyond which an option's text may not count"
YES = re.compile(r"(yes|agree|strongly agree|allow(ed)?|true)\b", re.IGNORECASE)
"how an option begins that says yes"
_OPTION = re.compile(r"([A-Z])\.[ \t]+(\S.*)")


@dataclass(frozen=True, slots=True)
class LetterHabits:
    """Which of the lettered options are chosen how often."""

    weights: tuple[float, ...] = (1.0,)
    by_text: float = 1.0
    "the log-odds of an option lie within plus or minus so much, by a hash of its text"
    invalid: float | None = None
    "None: the persona's share of unreadable answers"
    yes: float = 0.0
    "share of the answers that say yes to a question with such an option, whatever it asks"
    others: tuple[str, ...] = ("As", "\n", "I")
    "one token each, as models begin an answer that is no letter"


def letter_shares(habits: LetterHabits, unreadable: float, prompt: Prompt) -> dict[str, float] | None:
    """Return the probability of each answer to a lettered question; None where the prompt ends with no such question.

    `unreadable`: the persona's share of answers that say nothing, for habits that name none of their own.
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
    """Return the last options that a text lists, `A. …` to the end, a line each; nothing where there are not two.

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
