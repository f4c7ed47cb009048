"""One question of a cell of response biases, with both of its forms, the prompts and the answers, as values."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.domain.choices import Arm, Bias, Choice, Perturbation
from workbench.domain.prompts import Message


@dataclass(frozen=True, slots=True)
class QuestionRow:
    """One question of a cell."""

    key: str
    ref: str
    "of its statement; empty where its text is not known"
    topic: str
    stem: str
    "empty where its text is not known"
    delta: float
    "percentage points, by the definition; NaN where the question takes no part"
    left_out: str
    "why it takes no part; empty where it does"
    entropy: float
    "normalised, of the answers to the original, 0 to 1"
    valid: tuple[float, float]
    "share of valid answers among all that were drawn, to the original and the changed form"
    over_draws: int
    "draws of the perturbation that the change is a mean over; 1 of the bias itself, 0 where the question takes no part"


@dataclass(frozen=True, slots=True)
class OptionShown:
    """One option of one form."""

    letter: str
    "as it was offered"
    original: str
    "letter of the same option in the original; empty where the original has none such"
    text: str
    "empty where it is not known"
    count: float
    "answers; NaN for exact probabilities"
    share: float
    "of the valid answers; NaN where there is none"
    probability: float
    "of the letter as the next token; NaN where answers were drawn"


@dataclass(frozen=True, slots=True)
class ArmShown:
    """One form of a question with its answers."""

    arm: Arm
    choice: Choice | None
    "None where its text is not known"
    options: tuple[OptionShown, ...]
    "in the order in which they were offered"
    others: tuple[tuple[str, int], ...]
    "letters that were not offered, with how often they were answered"
    invalid: int
    "answers without an offered letter, which were drawn again"
    truncated: int
    "answers that were cut off in thought, and drawn again like invalid ones"
    valid: float
    "answers that count; 1 for exact probabilities"
    drawn: float
    "all answers; NaN for exact probabilities"
    entropy: float
    probe: int | None
    "rowid; None for imported answers"


@dataclass(frozen=True, slots=True)
class QuestionShown:
    """Both forms of a question side by side."""

    subject: str
    row: QuestionRow
    bias: Bias
    condition: Perturbation | None
    variant: str
    draw: int
    draws: tuple[int, ...]
    "numbers of the draws of the perturbation in which the question was asked"
    original: ArmShown
    changed: ArmShown
    shares: tuple[float, ...]
    "human shares of the original's options; empty where nobody was asked"


@dataclass(frozen=True, slots=True)
class AnswerShown:
    """One distinct answer of one draw, or one of the likeliest next tokens, with where it comes from."""

    text: str
    letter: str
    "that is read from it; empty where it names none"
    count: int | None
    "None for a token"
    probability: float
    "of a token; NaN for an answer that was drawn"
    thinking: str = ""
    truncated: bool = False
    "whether the output ends within the thought"
    seed: int | None = None
    at: str = ""
    job: int | None = None
    code_version: str = ""
    template: str = ""
    ruled: str = ""
    "effect of an auditor's ruling: `read anew`, `left out`; empty: none"
    unruled: str = ""
    "of a ruled answer, the letter that the rule reads"


@dataclass(frozen=True, slots=True)
class FormShown:
    """One form as it was put, and what came of it."""

    shown: ArmShown
    made_by: str | None
    "how its text came about: `workbench key_typo, seed 1, draw 1`; None where that is not known"
    messages: tuple[Message, ...]
    "the prompt; empty where the answers were imported, because nobody says how they were asked"
    answers: tuple[AnswerShown, ...]
    at: str = ""
    "when its probabilities were computed; empty where answers were drawn"
    code_version: str = ""
    "that computed its probabilities"
