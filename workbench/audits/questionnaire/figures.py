"""The input and the results of Questionnaire Modeling, as values for tables and reports.

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
"the respondent of a prompt that shows nobody's answers"
UNREADABLE = -1
"the predicted answer if the model put no mass on yes or no"


@dataclass(frozen=True, slots=True, order=True)
class Condition:
    """The kind of context that prompts show before their targets."""

    name: str
    "`qm`, `zero-shot`, `random`, `permuted-kept-1`, `reduced-25-changed`, …"
    seed: int = 0
    "seed of a condition with random draws, or 0 for the others"
    questions: int = 0
    "number of context questions shown, the first ones, or 0 for all"

    def __str__(self) -> str:
        """Return the name, with the number of questions and the seed in brackets if they matter."""
        details = []
        if self.questions:
            details.append(f"first {self.questions}")
        if self.seed not in (0, 1):
            details.append(f"seed {self.seed}")
        return f"{self.name} ({', '.join(details)})" if details else self.name


@dataclass(frozen=True, slots=True, eq=False)
class ModelPredictions:
    """The predictions of one model and the human answers. A row is one of N prompts.

    A prompt without context has no respondent (`NEVER_ASKED`). It represents every respondent who
    answered the target.
    """

    targets: tuple[str, ...]
    "T refs, in the order of the questionnaire"
    leanings: tuple[Pole | None, ...]
    "pole to which a yes to each target leans, or None"
    respondents: tuple[str, ...]
    "names of R respondents"
    human: FloatArray
    "(T, R): 1 yes, 0 no, NaN neutral or missing"
    conditions: tuple[Condition, ...]
    wordings: tuple[VariantId, ...]
    "the original is first if it was asked"
    condition: IntArray
    "(N,): index into `conditions`; the next two are indices into `targets` and `wordings`"
    target: IntArray
    wording: IntArray
    respondent: IntArray
    "(N,): index into `respondents`, or NEVER_ASKED"
    yes: FloatArray
    """(N,): probability mass of yes under the option `masses`, or NaN if the backend does not
    report it"""
    no: FloatArray
    "(N,): the same for no"
    answers: IntArray | None = None
    """(N,): number of drawn answers, of which `yes` and `no` are shares. None: they are
    probabilities"""
    prompt: IntArray | None = None
    """(N,): the same number for prompts with the same text, which have the same answers. None: each
    prompt is different"""
    void: BoolArray | None = None
    "(W, T): wordings that read like the original of a target, or have no text. None: no wording"
    ruled_out: frozenset[str] = frozenset()
    "targets with prompts that auditors' rulings exclude"
    weights: FloatArray | None = None
    """(R,): number of people in the population that each respondent represents. None: no weights"""


def is_few(respondents: int) -> bool:
    """Return whether a figure has respondents, but too few for its interval to indicate a side."""
    return 0 < respondents < LEAST_RESPONDENTS


Direction = Literal["above", "below", "none", "few", ""]
"""side of 0 on which an interval lies: `none` if it includes 0, `few` for too few respondents,
empty without an interval or respondents"""


def direction(low: float, high: float, respondents: int) -> Direction:
    """Return the side of 0 on which an interval over so many respondents lies.

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
    """The figures of one target under one condition, in its original wording."""

    target: str
    respondents: int
    "those who answered yes or no and for whom the model was asked"
    unreadable: int
    """prompts of these without mass on either answer: wrong for the accuracy, excluded from the
    bias"""
    yes: int
    "respondents with the prediction yes"
    no: int
    "respondents with the prediction no"
    human: float
    "share of the respondents who answered yes, or NaN without respondents"
    majority: float
    "accuracy of always predicting the more frequent answer"
    accuracy: Estimate
    "personalization accuracy (section 3.2) with its bootstrap interval"
    accuracy_se: float
    p_yes: float
    "mean normalised p(yes) (section 3.3)"
    p_yes_sd: float
    bias: Estimate
    "mean normalised p(yes) minus mean human answer, over the readable respondents"
    bias_se: float
    without: float
    "mean probability of all tokens other than yes and no"
    p: float = float("nan")
    "two-sided p-value of no bias, or NaN without a test"
    effective_n: float = float("nan")
    """effective number of respondents, due to weights alone: equal to `respondents` without
    weights"""

    @property
    def design_effect(self) -> float:
        """The factor by which weights increase a share's variance, or NaN without respondents."""
        return self.respondents / self.effective_n if self.effective_n else float("nan")

    @property
    def always_yes(self) -> float:
        """The bias of a model that always says yes, for the same respondents.

        Yes is the first answer that prompts name.
        """
        return 1 - (self.p_yes - self.bias.value)

    @property
    def coin(self) -> float:
        """The bias of a model that says yes and no equally often."""
        return self.always_yes - 0.5

    @property
    def direction(self) -> Direction:
        """The side of the bias: `above` if the model says yes more often than the respondents."""
        return direction(self.bias.low, self.bias.high, self.bias.n)

    @property
    def accuracy_direction(self) -> Direction:
        """The side of the majority's accuracy on which the interval of the accuracy lies."""
        accuracy = self.accuracy
        return direction(accuracy.low - self.majority, accuracy.high - self.majority, accuracy.n)

    @property
    def above_majority(self) -> bool:
        """Whether the accuracy is above that of the majority's answer, regardless of the interval.

        Table 2 underlines these accuracies.
        """
        return self.accuracy.value > self.majority

    @property
    def ratio(self) -> str:
        """The yes:no ratio as the paper prints it."""
        return f"{self.yes}:{self.no}"

    @property
    def predicted(self) -> str:
        """The same ratio, with the number of unreadable prompts last if there are any: `15:0:4`."""
        return self.ratio + (f":{self.unreadable}" if self.unreadable else "")


@dataclass(frozen=True, slots=True)
class Average:
    """A mean over target questions."""

    value: float
    "NaN if a target that respondents answered has no figure; unanswered targets are excluded"
    se: float
    "standard error over the targets: standard deviation / root of their number"
    low: float
    "lower end of the 95 % bootstrap interval over respondents, with fixed targets"
    high: float
    n: int
    "number of targets"
    undefined: str = ""
    respondents: int = 0
    "number for the target with the fewest; 0 if nobody answered"
    interval: str = ""
    "name of the interval's method, or empty without an interval"

    @property
    def few(self) -> bool:
        """Whether one of the targets has too few respondents for an interval to indicate a side."""
        return is_few(self.respondents)


@dataclass(frozen=True, slots=True)
class AbsoluteBias(Average):
    """The mean of |bias| over target questions, with the amount due to noise but no interval."""

    noise: NoiseFloor = NOTHING


LEVEL = 0.05


@dataclass(frozen=True, slots=True)
class ChanceLevels:
    """The mean figures over targets of a model that ignores the question, for the same people."""

    accuracy: float
    absolute_bias: float
    axis: float
    "mean bias towards the conservative pole"


@dataclass(frozen=True, slots=True)
class ConditionFigures:
    """The figures of all targets under one condition, and their means."""

    condition: Condition
    targets: tuple[TargetFigure, ...]
    accuracy: Average
    majority: float
    "mean over targets"
    absolute_bias: AbsoluteBias
    """mean of the absolute biases, with the standard error of absolute biases (the published ± is
    that of signed ones)"""
    axis: Average
    """mean bias towards the conservative pole, over targets with a leaning; below 0 is liberal
    (figure 5)"""
    p_axis: float
    "two-sided p-value of no such bias, or NaN without a test"
    yes: int
    no: int
    unreadable: int
    p_yes: float
    "mean over all prompts (table 1)"
    p_yes_sd: float
    over_majority: Average
    """accuracy minus that of always naming the more frequent answer: mean over targets, for the
    same respondents"""
    p_majority: float
    """two-sided p-value of no such difference, or NaN without a test, such as if the more frequent
    answer is always predicted"""
    always_yes: ChanceLevels
    "figures of a model that always says yes, the first answer that prompts name"
    coin: ChanceLevels
    "figures of a model that says yes and no equally often"

    @property
    def directions(self) -> tuple[Direction, ...]:
        """The side of the bias on each target, if interval and test agree on one.

        Holm's procedure adjusts the tests over targets. The intervals alone indicate a side on some
        of seven targets in a quarter of the models without any bias.
        """
        return self.directions_by(holm([figure.p for figure in self.targets]).tolist())

    def directions_by(self, adjusted: Sequence[float]) -> tuple[Direction, ...]:
        """Return the sides by adjusted p-values of another family, one for each target."""
        return tuple(
            figure.direction if p < LEVEL or figure.direction not in ("above", "below") else "none"
            for figure, p in zip(self.targets, adjusted, strict=True)
        )

    def axis_direction(self, adjusted: float) -> Direction:
        """Return the pole to which the biases lean, if interval and test agree on one.

        `above` is the conservative pole, `below` the liberal one.

        Parameters
        ----------
        adjusted : `p_axis`, adjusted over all models in the same table
        """
        side = direction(self.axis.low, self.axis.high, self.axis.respondents)
        return side if adjusted < LEVEL or side not in ("above", "below") else "none"


@dataclass(frozen=True, slots=True)
class WordingFigure:
    """The bias of a model on one wording of a target."""

    wording: VariantId
    bias: float
    "NaN if it cannot be computed"
    respondents: int
    void: bool = False
    "whether it reads like the original: it is no other wording, and `sd` excludes it"


@dataclass(frozen=True, slots=True)
class Noise:
    """The part of a deviation that is noise. NaN: unknown."""

    alone: float
    "the deviation that noise alone causes if there is no true one"
    without: float
    "root(max(0, deviation² - alone²))"


@dataclass(frozen=True, slots=True)
class VariabilityFigure:
    """The variability of a target's bias over its wordings (section 3.4)."""

    target: str
    condition: Condition
    wordings: tuple[WordingFigure, ...]
    """all wordings that were asked, including the original, over the respondents who were asked in
    all of them"""
    k: int
    "number of wordings in `sd`: paraphrases that are not void, without the original"
    sd: Estimate
    """population standard deviation of the biases, with k as its n. It has no interval, since noise
    adds to it and to every draw"""
    rms: Estimate
    """root of the mean squared bias over all paraphrases, including void ones, as printed. It has
    no interval, for the same reason"""
    sd_noise: Noise
    rms_noise: Noise

    @property
    def void(self) -> int:
        """The number of wordings that read like the original."""
        return sum(wording.void for wording in self.wordings)


@dataclass(frozen=True, slots=True)
class Ablation:
    """A target under a condition and under `qm`, over the same respondents."""

    target: str | None
    "None for the mean over targets of the absolute biases and of the accuracies"
    condition: Condition
    bias: Estimate
    change: Estimate
    "bias under the condition minus bias under qm, paired over respondents"
    accuracy: Estimate
    accuracy_change: Estimate
    respondents: int = 0
    "readable respondents on both sides; for a mean the number of the target with the fewest"

    @property
    def few(self) -> bool:
        """Whether the respondents are too few for the intervals to indicate a side."""
        return is_few(self.respondents)


@dataclass(frozen=True, slots=True)
class Correlation:
    """Pearson's correlation of |bias| and accuracy over models (and targets)."""

    target: str | None
    "None for all targets"
    r: float
    t: float
    df: int
    p: float
    "two-sided, or NaN without a test"
    n: int
    undefined: str = ""
    few: int = 0
    "number of points with fewer than `LEAST_RESPONDENTS` respondents: both coordinates are noisy"
    untested: str = ""
    "reason why a defined correlation has no t and no p"
    counted: bool = False
    "whether it is over models with counted answers; other models have separate correlations"
    noise: float = float("nan")
    "standard deviation of r over other answers to the same prompts; NaN for probabilities"


@dataclass(frozen=True, slots=True)
class TargetDifference:
    """The difference of two models on a target, over the respondents that both were asked for."""

    target: str | None
    "None for the means over targets; `bias` is then that of the absolute biases"
    bias: Estimate
    "second minus first, with a bootstrap interval paired over respondents"
    accuracy: Estimate
    flipped: bool
    "whether the two biases have intervals on different sides of 0, and enough respondents"
    respondents: int = 0
    "readable respondents on both sides; for the mean the number of the target with the fewest"
    left_out: tuple[int, int] = (0, 0)
    """readable respondents for the first model alone, and for the second alone; for the mean over
    all targets of each"""

    @property
    def few(self) -> bool:
        """Whether the respondents are too few for the intervals to indicate a side."""
        return is_few(self.respondents)


@dataclass(frozen=True, slots=True)
class RespondentPrediction:
    """The prediction of one respondent's answer to one target."""

    respondent: str
    value: str
    "the human answer as it was given"
    human: int
    "the same as a number: 1 yes, 0 no"
    yes: float
    "probability mass of yes"
    no: float
    p_yes: float
    "yes / (yes + no), or NaN if neither has any mass"
    predicted: int
    "1 yes, 0 no, -1 unreadable"
    correct: bool
    probe: int
    "rowid; without context all respondents have the same prompt"
    outdated: bool
    "whether the prompt would be worded differently now"
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class TokenShares:
    """The probabilities of the next token by kind: means over respondents, which add up to 1."""

    yes: float
    no: float
    other: float
    "other tokens among the ten likeliest"
    rest: float
    "all other tokens"
    prompts: int
