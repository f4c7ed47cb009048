"""How scripted models answer: their sides, their letters, and how their answers vary.

Spread
------
How the answers of a scripted model vary: shares of agreement with known variance components.

    [spread]
    statements = "veldania"   # a shipped instrument, or a statements.csv, besides the job's own instrument
    mean = 0.5
    seed = 1
    statement = 0.08          # variances of shares, as `show STORE reliability` estimates them
    wording = 0.01
    template = 0.005
    statement_template = 0.005

    [[spread.moved]]          # prompts that contain `said` have a share of agreement that is higher by `by`
    said = "You are a nurse."
    by = 0.2

A hash determines the effect of every statement, wording, template and label order, so that a prompt
always has the same share. Negations and opposites get reversed answers. Shares are drawn from
`workbench.stats.components`.

Sides
-----
How a scripted model with political views answers: it agrees with one side, or says yes to anything.

    [sides]
    statements = ["veldania", "veldania_panel"]  # sources of texts and their sides: shipped instruments or files,
                   # besides the statements of the job's own instrument with the sides of the store
    left = 0.98    # share of agreement if agreeing leans left (or liberal)
    right = 0.02   # share of agreement if agreeing leans right (or conservative)
    yes = 0        # share of answers that agree with any statement
    hedges = 0     # largest share of free answers without a side: each statement has a share from 0 to this, by its ref

A statement that leans to neither side gets one of the two shares, by a hash of its ref. Negations
and opposites get reversed answers, except for the share `yes`: a model with only `left` is
consistent, one with `yes` fails every negation. If a prompt offers no labels, the answer is a
sentence, or a number for a scale from 1 to 5.

Letters
-------
How a scripted model answers questions with lettered options: with known probabilities, to check
statistics.

    [letters]
    weights = [3, 1]             # odds of the first option, the second, …, where the last number also applies to later ones
    by_text = 0                  # how much options differ by their text, in any position, or 0 for not at all
    yes = 0.9                    # share of answers that are the option Yes or Agree where there is one
    invalid = 0.1                # share of answers that are not a letter, or 1 for never a valid one
    others = ["As", "\n", "I"]  # these answers, one drawn at random

A model with only `by_text` gives the same answer for any order of options and any errors in the
question. One with only `weights` depends on positions. Without the table options differ by text but
not by position, and the share of invalid answers is the persona's share of unreadable ones.
"""  # noqa: E501

from __future__ import annotations

import csv
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from workbench.data import shipped_instrument_folder
from workbench.domain.choices import LETTERS
from workbench.domain.keys import SEED, text_key
from workbench.domain.prompts import Prompt, halves
from workbench.errors import ModelError, WorkbenchError
from workbench.regular_files import check_file
from workbench.stats.components import (
    COMPONENTS,
    ORDER,
    ORDER_REST,
    ORDER_STATEMENT,
    ORDER_TEMPLATE,
    ORDER_WORDING,
    SAMPLING,
    STATEMENT,
    STATEMENT_TEMPLATE,
    TEMPLATE,
    WORDING,
    WORDING_TEMPLATE,
    ProbitNormal,
)
from workbench.stats.resampling import derive_rng

FIELDS = {
    name.replace(" x ", "_").replace(" ", "_"): name for name in COMPONENTS if name != SAMPLING
}
"field of the file -> component"
POSITIVE = ("agree", "beneficial", "favorable", "favourable", "yes")
"""labels of agreement

A prompt that lists one of them first has the printed order.
"""
SAME = re.compile(r"(original|paraphrase|reformulation)(_\d+)?")
TURNED = re.compile(r"(negation|opposite|political_opposite)(_\d+)?")
LEANS = {"left": "left", "liberal": "left", "right": "right", "conservative": "right"}
"name of a side in statements.csv, in the column `leaning` or `yes` -> side"


class KnownWording(NamedTuple):
    """The data of a wording."""

    ref: str
    column: str
    "name as in statements.csv: `paraphrase_1`"
    side: str
    "the side that agreeing with the statement is on"
    turned: bool
    "whether it contradicts the statement"


Known = Mapping[str, KnownWording]
"each wording that a persona knows -> its data, the longest first"


def wording_in(text: str, properties_by_wording: Known) -> KnownWording:
    """Return the statement of a prompt. Raises ModelError if it has none of the wordings."""
    return properties_by_wording[_find_wording(text, properties_by_wording)]


def _find_wording(text: str, properties_by_wording: Known) -> str:
    complete_matches = (wording for wording in properties_by_wording if wording in text)
    half_matches = (
        wording for wording in properties_by_wording if text.endswith(halves(wording)[0])
    )  # to be completed
    match = next(complete_matches, None) or next(half_matches, None)
    if match is None:
        raise ModelError(f"the persona knows no statement in {text[:200]!r}")
    return match


def side_of(label: str, ref: str) -> str:
    """Return the side of a statement: the labelled one, or one of the two by a hash of its ref."""
    return LEANS.get(label.strip().casefold()) or ("left", "right")[text_key(ref)[0] % 2]


@dataclass(frozen=True)
class AnswerSpread:
    """The effects on the shares of a scripted model."""

    statements: str
    mean: float = 0.5
    seed: int = SEED
    components: tuple[tuple[str, float], ...] = ()
    moved: tuple[tuple[str, float], ...] = ()
    "(text in a prompt, rise of the share of agreement)"

    @cached_property
    def shares(self) -> ProbitNormal:
        """The distribution of the shares. Its `components` are their variance components."""
        return ProbitNormal.matching(self.mean, dict(self.components))

    def share(self, text: str, first: str, second: str, properties_by_wording: Known) -> float:
        """Return the share of answers with a prompt's first label.

        Raises ModelError for unknown wordings.
        """
        wording = _find_wording(text, properties_by_wording)
        shift = 0.0
        for phrase, higher in self.moved:
            if phrase in text:
                shift += higher
                # The template must be the same with and without the phrase.
                text = re.sub(rf"{re.escape(phrase)}\s*", "", text)
        properties = properties_by_wording[wording]
        template = text.replace(wording, "{}")
        for label in sorted((first, second), key=len, reverse=True):
            template = re.sub(rf"\b{re.escape(label)}\b", "_", template)
        has_printed_order = first.casefold() in POSITIVE
        agreed = min(
            max(
                self._agree_share(
                    properties.ref, properties.column, template, -1 if has_printed_order else 1
                )
                + shift,
                0.0,
            ),
            1.0,
        )
        agreed = 1 - agreed if properties.turned else agreed
        return agreed if has_printed_order else 1 - agreed

    def _agree_share(self, ref: str, column: str, template: str, order: int) -> float:
        """Return the share of agreement with the statement itself.

        Order -1 is the printed one, 1 the swapped one.
        """
        s, w, t, st, wt = (
            (ref,),
            (ref, column),
            ("", template),
            (ref, template),
            (ref, column, template),
        )
        main_effects = {
            STATEMENT: s,
            WORDING: w,
            TEMPLATE: t,
            STATEMENT_TEMPLATE: st,
            WORDING_TEMPLATE: wt,
        }
        order_effects = {ORDER_STATEMENT: s, ORDER_WORDING: w, ORDER_TEMPLATE: t, ORDER_REST: wt}
        distribution = self.shares
        z = distribution.mean + sum(self._effect(name, key) for name, key in main_effects.items())
        z += order * (
            distribution.sd * distribution.parts.get(ORDER, 0.0) ** 0.5
            + sum(self._effect(name, key) for name, key in order_effects.items())
        )
        return _phi(z)

    def _effect(self, name: str, key: tuple[str, ...]) -> float:
        share = self.shares.parts.get(name, 0.0)
        if share == 0:
            return 0.0
        return float(
            self.shares.sd * np.sqrt(share) * derive_rng(self.seed, name, *key).standard_normal()
        )


def _phi(z: float) -> float:
    from scipy.special import ndtr

    return float(ndtr(z))


@lru_cache(maxsize=8)
def wordings_of(sources: tuple[str, ...]) -> Known:
    """Return the wordings of shipped instruments or `statements.csv` files. Raises ModelError."""
    wordings: dict[str, KnownWording] = {}
    for name in sources:
        try:
            path = Path(name)
            path = path if path.is_file() else shipped_instrument_folder(name) / "statements.csv"
            with check_file(path).open(encoding="utf-8-sig", newline="") as lines:
                rows = list(csv.DictReader(lines, strict=True))
        except (WorkbenchError, OSError, UnicodeDecodeError, csv.Error) as error:
            raise ModelError(
                f"the statements {name!r} of the persona cannot be read: {error}"
            ) from error
        for row in rows:
            wordings |= _wording_from_row(row)
    return longest_first(wordings)


def longest_first(properties_by_wording: Known) -> Known:
    """Return wordings in the order in which a prompt is searched for them."""
    return dict(sorted(properties_by_wording.items(), key=lambda item: -len(item[0])))


def _wording_from_row(row: Mapping[str | None, object]) -> dict[str, KnownWording]:
    ref = str(row.get("ref") or "")
    side = side_of(str(row.get("leaning") or row.get("yes") or ""), ref)
    return {
        text.strip(): KnownWording(ref, column, side, SAME.fullmatch(column) is None)
        for column, text in row.items()
        if isinstance(column, str) and (SAME.fullmatch(column) or TURNED.fullmatch(column))
        if isinstance(text, str) and text.strip()
    }


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
"""free answers

People may disagree about the last one of each.
"""
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

    def agree_share(self, text: str, properties_by_wording: Known) -> float:
        """Return the share of agreement with the statement of a prompt.

        Raises ModelError if it contains no known wording.
        """
        wording = wording_in(text, properties_by_wording)
        view = self.left if wording.side == "left" else self.right
        return self.yes + (1 - self.yes) * (1 - view if wording.turned else view)

    def share(self, text: str, first: str, properties_by_wording: Known) -> float:
        """Return the share of answers with the first label of a prompt."""
        agreed = self.agree_share(text, properties_by_wording)
        return agreed if first.casefold() in POSITIVE else 1 - agreed

    def answer_shares(self, text: str, properties_by_wording: Known) -> dict[str, float]:
        """Return the probability of each answer to a prompt that offers no labels."""
        agreed = self.agree_share(text, properties_by_wording)
        hedging = self.hedges * text_key(wording_in(text, properties_by_wording).ref)[1] / 255
        shares = ((1 - hedging) * agreed, (1 - hedging) * (1 - agreed), hedging)
        answers_by_stance = NUMBERS if SCALE.search(text) else SENTENCES
        share_by_answer: dict[str, float] = {}
        for answers, share in zip(answers_by_stance, shares, strict=True):
            for answer in answers:
                share_by_answer[answer] = share / len(answers)
        return share_by_answer


STEEPEST = 100.0
"limit of the log-odds of an option's text"
YES = re.compile(r"(yes|agree|strongly agree|allow(ed)?|true)\b", re.IGNORECASE)
"beginning of an option that says yes"
_OPTION = re.compile(r"([A-Z])\.[ \t]+(\S.*)")


@dataclass(frozen=True, slots=True)
class LetterHabits:
    """The probabilities of the lettered options."""

    weights: tuple[float, ...] = (1.0,)
    by_text: float = 1.0
    "limit, plus or minus, of the log-odds of an option, which a hash of its text determines"
    invalid: float | None = None
    "the persona's share of unreadable answers if None"
    yes: float = 0.0
    "share of answers that say yes to any question with such an option"
    others: tuple[str, ...] = ("As", "\n", "I")
    "one token each, like the beginning of a model's answer that is not a letter"


def letter_shares(
    habits: LetterHabits, unreadable: float, prompt: Prompt
) -> dict[str, float] | None:
    """Return the probability of each answer to a lettered question.

    The result is None if the prompt does not end with such a question.

    `unreadable`: the persona's share of unreadable answers, for habits without `invalid`.
    """
    return _shares(habits, unreadable, prompt.messages[-1].content)


@lru_cache(maxsize=256)
def _shares(habits: LetterHabits, unreadable: float, text: str) -> dict[str, float] | None:
    options = offered_options(text)
    if not options:
        return None
    odds = [_odds(habits, index, option) for index, option in enumerate(options)]
    invalid = unreadable if habits.invalid is None else habits.invalid
    says_yes = [bool(YES.match(option)) for option in options]
    yes = habits.yes if any(says_yes) else 0.0
    option_shares = [
        (1 - yes) * odd / sum(odds) + yes * (index == says_yes.index(True) if yes else 0)
        for index, odd in enumerate(odds)
    ]
    shares = {
        LETTERS[index].upper(): (1 - invalid) * share for index, share in enumerate(option_shares)
    }
    for other in habits.others:
        shares[other] = shares.get(other, 0.0) + invalid / len(habits.others)
    return shares


def _odds(habits: LetterHabits, place: int, option: str) -> float:
    weight = habits.weights[min(place, len(habits.weights) - 1)]
    preference = text_key(option)[0] / 127.5 - 1
    return weight * math.exp(habits.by_text * preference)


def offered_options(text: str) -> tuple[str, ...]:
    """Return the last options that a text lists, one per line, from `A. …` to the end.

    The result is empty if there are fewer than two.

    Examples
    --------
    >>> offered_options("Example:\\nA. Apples\\nB. Pears\\n\\nQuestion: War?\\nA. Yes\\nB. No\\nC. Unsure\\nAnswer:")
    ('Yes', 'No', 'Unsure')
    >>> offered_options("A. Smith is right, is he not?")
    ()
    """  # noqa: E501
    options: tuple[str, ...] = ()
    consecutive: list[str] = []
    for line in text.splitlines():
        match = _OPTION.fullmatch(line.rstrip())
        expected = LETTERS[len(consecutive) : len(consecutive) + 1].upper()
        if match and match[1] == expected:
            consecutive.append(match[2])
        else:
            consecutive = [match[2]] if match and match[1] == "A" else []
        if len(consecutive) > 1:
            options = tuple(consecutive)
    return options
