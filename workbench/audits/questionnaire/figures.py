"""What Questionnaire Modeling is told, and what it says: the values between its statistics and
whoever shows them.

Haller, Vamvas, Sennrich, Jäger 2025, "Leveraging In-Context Learning for Political Bias Testing of
LLMs", sections 3 and 4. All figures are shares in [0, 1], biases in [-1, 1].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from workbench.domain.questionnaires import LEAST_RESPONDENTS, Pole
from workbench.domain.statements import VariantId
from workbench.domain.verdicts import Estimate
from workbench.stats.arrays import BoolArray, FloatArray, IntArray
from workbench.stats.describe import NOTHING, NoiseFloor
from workbench.stats.hypothesis_tests import holm

NEVER_ASKED = -1
"stands for the respondent of a prompt that shows nobody's answers"
UNREADABLE = -1
"stands for the predicted answer where the model put no mass on yes or no"


@dataclass(frozen=True, slots=True, order=True)
class Condition:
    """What stood before the targets."""

    name: str
    "`qm`, `zero-shot`, `random`, `permuted-kept-1`, `reduced-25-changed`, …"
    seed: int = 0
    "of conditions that are drawn; 0 for the others"
    questions: int = 0
    "only the first so many context questions were shown; 0: all"

    def __str__(self) -> str:
        said = [f"first {self.questions}"] * bool(self.questions) + [f"seed {self.seed}"] * (
            self.seed not in (0, 1)
        )
        return self.name + (f" ({', '.join(said)})" if said else "")


@dataclass(frozen=True, slots=True, eq=False)
class Predictions:
    """Everything that one model predicted, and what people answered. A row is one prompt of N.

    A prompt without context has no respondent (`NEVER_ASKED`): it stands for every respondent who
    answered the target.
    """

    targets: tuple[str, ...]
    "refs, in the order of the questionnaire: T"
    leanings: tuple[Pole | None, ...]
    "what a yes to each target leans to"
    respondents: tuple[str, ...]
    "R"
    human: FloatArray
    "(T, R): 1 the person answered yes, 0 no, NaN neutral or missing"
    conditions: tuple[Condition, ...]
    wordings: tuple[VariantId, ...]
    "the original first, where it was asked"
    condition: IntArray
    "(N,): place in `conditions`, as for the next three"
    target: IntArray
    wording: IntArray
    respondent: IntArray
    "(N,): place in `respondents`, or NEVER_ASKED"
    yes: FloatArray
    """(N,): probability mass of yes under the chosen `masses`; NaN where the backend does not offer
    it"""
    no: FloatArray
    answers: IntArray | None = None
    """(N,): how many answers were drawn; `yes` and `no` are shares of them then. None: they are
    probabilities"""
    prompt: IntArray | None = None
    """(N,): the same number where prompts have the same text, and so the same answers; None: each
    has its own"""
    void: BoolArray | None = None
    "(W, T): wordings of a target that read like its original, or have no text; None: none"
    ruled_out: frozenset[str] = frozenset()
    "targets of which auditors' rulings leave prompts out"
    weights: FloatArray | None = None
    """(R,): how many people of the population each respondent stands for; None: everybody counts
    once"""


def is_few(respondents: int) -> bool:
    """Return whether a figure rests on people, and on too few of them for its interval to say
    anything of a side.
    """
    return 0 < respondents < LEAST_RESPONDENTS


Direction = Literal["above", "below", "none", "few", ""]
"""of an interval: to one side of 0, around it, of too few respondents; empty where there is neither
interval nor anybody"""


def direction(low: float, high: float, respondents: int) -> Direction:
    """Return to which side of 0 an interval over so many respondents lies.

    Examples
    --------
    >>> direction(0.1, 0.2, 30), direction(-0.1, 0.2, 30), direction(0.1, 0.2, 3), direction(float("nan"), 0.2, 30)
    ('above', 'none', 'few', '')
    >>> direction(float("nan"), float("nan"), 1)
    'few'
    """  # noqa: E501
    if is_few(respondents):
        return "few"
    if low != low:  # NaN
        return ""
    if low > 0:
        return "above"
    return "below" if high < 0 else "none"


@dataclass(frozen=True, slots=True)
class TargetFigure:
    """One target question under one condition, in its original wording."""

    target: str
    respondents: int
    "who answered yes or no and for whom the model was asked"
    unreadable: int
    """of these, prompts on which the model put no mass on either answer: wrong, and without part in
    the bias"""
    yes: int
    "respondents for whom yes is predicted"
    no: int
    human: float
    "share of the respondents who answered yes; NaN where there is none"
    majority: float
    "accuracy of always predicting the more frequent answer"
    accuracy: Estimate
    "personalization accuracy (section 3.2) with its bootstrap interval"
    accuracy_se: float
    p_yes: float
    "mean normalised p(yes) (section 3.3)"
    p_yes_sd: float
    bias: Estimate
    "mean normalised p(yes) minus mean human answer, over the respondents that could be read"
    bias_se: float
    without: float
    "mean probability of everything that is neither yes nor no"
    p: float = float("nan")
    "two-sided, of no bias; NaN: no test"
    effective_n: float = float("nan")
    """how many respondents of equal weight tell as much; that of weights alone, and n where nobody
    has one"""

    @property
    def design_effect(self) -> float:
        """Return how many times larger weights make the variance of a share; NaN where nobody was
        asked.
        """
        return self.respondents / self.effective_n if self.effective_n else float("nan")

    @property
    def always_yes(self) -> float:
        """Return the bias of a model that always says yes, the first answer that prompts name, over
        the same people.
        """
        return 1 - (self.p_yes - self.bias.value)

    @property
    def coin(self) -> float:
        """Return the bias of a model that says yes and no equally often."""
        return self.always_yes - 0.5

    @property
    def direction(self) -> Direction:
        """Return whether the model says yes more often than people (`above`), or less."""
        return direction(self.bias.low, self.bias.high, self.bias.n)

    @property
    def accuracy_direction(self) -> Direction:
        """Return whether the interval of the accuracy lies above that of the majority's answer, or
        below it.
        """
        of = self.accuracy
        return direction(of.low - self.majority, of.high - self.majority, of.n)

    @property
    def above_majority(self) -> bool:
        """Whether the accuracy is above that of the majority's answer, interval or not: underlined
        in table 2.
        """
        return self.accuracy.value > self.majority

    @property
    def ratio(self) -> str:
        """Return the yes:no ratio as the paper prints it."""
        return f"{self.yes}:{self.no}"

    @property
    def predicted(self) -> str:
        """Return the same with what could not be read behind it, where there is any: `15:0:4`."""
        return self.ratio + (f":{self.unreadable}" if self.unreadable else "")


@dataclass(frozen=True, slots=True)
class Average:
    """A mean over target questions."""

    value: float
    "NaN where a target that people answered has none; one that nobody answered is left out"
    se: float
    "over the targets: standard deviation / root of their number"
    low: float
    "95 % bootstrap interval over respondents, the targets as they are"
    high: float
    n: int
    "targets"
    undefined: str = ""
    respondents: int = 0
    "the fewest that one of the targets rests on; 0 where nobody answered"
    interval: str = ""
    "name of its method; empty where there is none"

    @property
    def few(self) -> bool:
        """Whether one of the targets rests on too few people for the interval to say anything of a
        side.
        """
        return is_few(self.respondents)


@dataclass(frozen=True, slots=True)
class AbsoluteBias(Average):
    """The mean of |bias| over target questions: never an interval, but what noise alone would
    give.
    """

    noise: NoiseFloor = NOTHING


LEVEL = 0.05


@dataclass(frozen=True, slots=True)
class Regardless:
    """What a model that looks at no question gives: means over the targets, for the same people."""

    accuracy: float
    absolute_bias: float
    axis: float
    "towards the conservative pole"


@dataclass(frozen=True, slots=True)
class ConditionFigures:
    """All targets under one condition."""

    condition: Condition
    targets: tuple[TargetFigure, ...]
    accuracy: Average
    majority: float
    "mean over targets"
    absolute_bias: AbsoluteBias
    """mean of the absolute biases; its error is that of absolute biases (the published ± is that of
    signed ones)"""
    axis: Average
    """mean bias towards the conservative pole, over targets with a leaning: below 0 is liberal
    (figure 5)"""
    p_axis: float
    "two-sided, of no such bias; NaN: no test"
    yes: int
    no: int
    unreadable: int
    p_yes: float
    "over all prompts (table 1)"
    p_yes_sd: float
    over_majority: Average
    """accuracy minus that of always naming the more frequent answer, mean over targets, for the
    same respondents"""
    p_majority: float
    """two-sided, of no such difference; NaN: no test, such as where the more frequent answer is
    always predicted"""
    always_yes: Regardless
    "of a model that always says yes, the first answer that prompts name"
    coin: Regardless
    "of a model that says yes and no equally often"

    @property
    def directions(self) -> tuple[Direction, ...]:
        """Return the direction of the bias on each target that a test shows as well, by Holm's
        procedure over targets.

        The intervals alone show one on some of seven targets in a quarter of the models without any
        bias.
        """
        return self.directions_by(holm([one.p for one in self.targets]).tolist())

    def directions_by(self, adjusted: Sequence[float]) -> tuple[Direction, ...]:
        """Return the same by p that are adjusted over another family, one for each target."""
        return tuple(
            one.direction if p < LEVEL or one.direction not in ("above", "below") else "none"
            for one, p in zip(self.targets, adjusted, strict=True)
        )

    def axis_direction(self, adjusted: float) -> Direction:
        """Return whether the biases lean to the conservative pole (`above`) or the liberal one, by
        interval and test.

        adjusted : `p_axis`, over all models that stand beside this one
        """
        found = direction(self.axis.low, self.axis.high, self.axis.respondents)
        return found if adjusted < LEVEL or found not in ("above", "below") else "none"


@dataclass(frozen=True, slots=True)
class WordingFigure:
    """One wording of a target."""

    wording: VariantId
    bias: float
    "NaN where it cannot be computed"
    respondents: int
    void: bool = False
    "whether it reads like the original: it is no other wording, and `sd` leaves it out"


@dataclass(frozen=True, slots=True)
class Noise:
    """What of a deviation is noise; NaN where it is not known."""

    alone: float
    "the deviation that noise gives where there is none"
    without: float
    "root(max(0, deviation² - alone²))"


@dataclass(frozen=True, slots=True)
class VariabilityFigure:
    """How much the bias of a target varies over its wordings (section 3.4)."""

    target: str
    condition: Condition
    wordings: tuple[WordingFigure, ...]
    """every wording that was asked, the original too, over the respondents who were asked in all of
    them"""
    k: int
    "wordings that count for `sd`: paraphrases that are not void, not the original"
    sd: Estimate
    """population standard deviation of the biases; n is k. It has no interval: noise adds to it,
    and to every draw"""
    rms: Estimate
    """root of the mean squared bias over all paraphrases, void ones too, as printed; without an
    interval, too"""
    sd_noise: Noise
    rms_noise: Noise

    @property
    def void(self) -> int:
        """How many wordings read like the original."""
        return sum(wording.void for wording in self.wordings)


@dataclass(frozen=True, slots=True)
class Ablation:
    """One target, or the mean over targets, under a condition and under `qm`, over the same
    respondents.
    """

    target: str | None
    "None: the mean of the absolute biases, and of the accuracies, over targets"
    condition: Condition
    bias: Estimate
    change: Estimate
    "bias under the condition minus bias under qm, paired over respondents"
    accuracy: Estimate
    accuracy_change: Estimate
    respondents: int = 0
    "who could be read on both sides; of a mean the fewest of one of its targets"

    @property
    def few(self) -> bool:
        """Whether these are too few for the intervals to say anything of a side."""
        return is_few(self.respondents)


@dataclass(frozen=True, slots=True)
class Correlation:
    """Pearson's correlation of |bias| and accuracy over models (and targets)."""

    target: str | None
    "None: over all targets"
    r: float
    t: float
    df: int
    p: float
    "two-sided; NaN where there is no test"
    n: int
    undefined: str = ""
    few: int = 0
    """of the n points, those that rest on fewer than `LEAST_RESPONDENTS` people: noise in both of
    their coordinates"""
    untested: str = ""
    "why a correlation that exists has no t and no p"
    counted: bool = False
    "whether it is of models whose answers were counted; others have their own"
    noise: float = float("nan")
    "standard deviation of r over other answers to the same prompts; NaN of probabilities"


@dataclass(frozen=True, slots=True)
class TargetDifference:
    """A target, or the mean over targets, of two models, over the respondents that both were asked
    for.
    """

    target: str | None
    "None: the means over targets; `bias` is then that of the absolute biases"
    bias: Estimate
    "second minus first, with a bootstrap interval paired over respondents"
    accuracy: Estimate
    flipped: bool
    "the two biases have intervals on different sides of 0, and rest on enough people"
    respondents: int = 0
    "who could be read on both sides; of the mean the fewest of one of its targets"
    left_out: tuple[int, int] = (0, 0)
    """who could be read for the first model alone, and for the second alone; of the mean, over all
    targets of each"""

    @property
    def few(self) -> bool:
        """Whether these are too few for the intervals to say anything of a side."""
        return is_few(self.respondents)


@dataclass(frozen=True, slots=True)
class AskedRow:
    """What was predicted of one person's answer to one target."""

    respondent: str
    value: str
    "the answer as it was given"
    human: int
    "1 yes, 0 no"
    yes: float
    "probability mass of yes"
    no: float
    p_yes: float
    "yes / (yes + no); NaN where neither has any mass"
    predicted: int
    "1 yes, 0 no, -1 neither could be read"
    correct: bool
    probe: int
    "rowid; without context one prompt stands for everybody"
    outdated: bool
    "whether the prompt would be put differently now"
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class TokenShares:
    """Where the probability of the next token goes: means over respondents, which add up to 1."""

    yes: float
    no: float
    other: float
    "among the ten likeliest, tokens that are neither"
    rest: float
    "everything else"
    prompts: int
