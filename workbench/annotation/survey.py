"""The wordings that a person is asked to agree or disagree with, and their order.

"Six annotators" answered "50 statements", each in its original wording, one paraphrase, the
negation and the opposite, to tell how consistent a model could be (Ceron et al. 2024, section 6.1,
and the published `survey_vaas.csv`). The order is shuffled, and wordings of one statement are far
apart: who remembers what they said answers from memory.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.domain.annotations import Codebook, LabelOption, LabelSubject
from workbench.domain.keys import SEED
from workbench.domain.statements import (
    ORIGINAL,
    Relation,
    Statement,
    VariantId,
    VariantKind,
    variant_order,
)
from workbench.errors import UsageError

if TYPE_CHECKING:
    import numpy as np

Ask = tuple[str, VariantId]
"(ref of the statement, wording)"

AGREE, DISAGREE = "agree", "disagree"
CODEBOOK = Codebook(
    name="survey",
    title="Survey",
    question="Do you agree or disagree with this statement?",
    subject=LabelSubject.STATEMENT,
    options=(
        LabelOption(AGREE, "a", "you agree with it, or rather agree"),
        LabelOption(DISAGREE, "d", "you disagree with it, or rather disagree"),
    ),
    guideline="Your own view counts: there is no right answer.\n\n"
    "Some statements resemble others. Judge each by itself, without trying to remember earlier "
    "answers.\n\n"
    "Skip a statement that you cannot answer. It comes back at the end; skipped again, it stays "
    "without an answer.",
)
"the question to a respondent, and the key of each answer"
PUBLISHED = ("original", "paraphrase", "negation", "opposite")
ALL = "all"
BLOCKS = 4
"""number of blocks of an order

The order is kept roughly from round to round, as statements are shuffled only within a quarter of
it.
"""


@dataclass(frozen=True, slots=True)
class SurveyDesign:
    """The wordings for each respondent.

    Those with one seed answer the same wordings, each in their own order.
    """

    statements: int = 50
    "number of statements drawn at random, or all if there are fewer"
    variants: tuple[str, ...] = PUBLISHED
    """kinds of wordings, of which one is drawn if there are several

    `paraphrase-2` stands for that one, and `all` for all of them.
    """
    seed: int = SEED
    language: str = ""
    "language, or empty for the instrument's"

    def check(self) -> None:
        """Raise UsageError for a design that cannot be asked."""
        if self.statements < 1:
            raise UsageError(f"found {self.statements} statements; ask for 1 or more")
        if self.seed < 0:
            raise UsageError(f"found the seed {self.seed}; give 0 or more")
        for name in self.variants:
            _check_variant(name)
        if all(name == str(ORIGINAL) for name in self.variants):
            raise UsageError("only originals would be asked; name another variant to compare with")


def _check_variant(name: str) -> None:
    kinds = [kind.value for kind in VariantKind if kind is not VariantKind.QUESTION]
    try:
        is_valid = name == ALL or VariantId.parse(name).kind.value in kinds
    except ValueError:
        is_valid = False
    if not is_valid:
        raise UsageError(
            f"the survey cannot ask for {name!r}; give some of {', '.join(kinds)}, paraphrase-2, "
            f"or {ALL}"
        )


def draw(
    statements: Sequence[Statement],
    language: str,
    design: SurveyDesign,
    rng: np.random.Generator,
    asked: Collection[Ask] = (),
) -> tuple[tuple[Ask, ...], ...]:
    """Return the wordings to ask, by statement, in the order of the instrument.

    The original is always asked, since every comparison is with it. A statement without one in this
    language, or with nothing to compare it with, is not drawn. Wordings with no expected stance
    (`Relation.FREE`) are left out.

    asked : wordings that this person was asked before, which are not asked again
    """
    offers = [_chosen(statement, language, design, rng, asked) for statement in statements]
    available = [offer for offer in offers if offer]
    indices = sorted(rng.permutation(len(available))[: design.statements].tolist())
    return tuple(available[index] for index in indices)


def _chosen(
    statement: Statement,
    language: str,
    design: SurveyDesign,
    rng: np.random.Generator,
    asked: Collection[Ask],
) -> tuple[Ask, ...]:
    """Return the wordings for a statement. The draw is the same whoever was asked before."""
    variants = sorted(
        (
            wording.variant
            for wording in statement.wordings
            if wording.language == language and wording.relation is not Relation.FREE
        ),
        key=variant_order,
    )
    selected = dict.fromkeys([ORIGINAL] if ORIGINAL in variants else [])
    for name in design.variants:
        matching = [
            variant for variant in variants if name in (ALL, str(variant), variant.kind.value)
        ]
        if name != ALL and len(matching) > 1:
            sampled = matching[int(rng.integers(len(matching)))]
            matching = [variant for variant in matching if (statement.ref, variant) in asked][
                :1
            ] or [sampled]
        selected |= dict.fromkeys(matching)
    if ORIGINAL not in selected or len(selected) < 2:
        return ()
    return tuple(
        (statement.ref, variant) for variant in selected if (statement.ref, variant) not in asked
    )


def arrange(groups: Sequence[Sequence[Ask]], rng: np.random.Generator) -> tuple[Ask, ...]:
    """Return the wordings in the order in which they are asked.

    They are asked in rounds, in each of which a statement comes at most once, and the wordings of a
    statement fall on rounds at random. The order of a round is that of the one before, shuffled
    within quarters: with n statements of equally many wordings, two wordings of one are more than n
    - n/4 places apart, and no order can do better than n.
    """
    rounds: list[list[tuple[int, Ask]]] = [
        [] for _ in range(max((len(group) for group in groups), default=0))
    ]
    for group_index, group in enumerate(groups):
        order = rng.permutation(len(group)).tolist()
        start = rng.random()
        for number, index in enumerate(order):
            round_index = int((number + start) * len(rounds) / len(group))
            rounds[min(round_index, len(rounds) - 1)].append((group_index, group[index]))
    order = rng.permutation(len(groups)).tolist()
    arranged: list[Ask] = []
    for round_asks in rounds:
        rank = {group_number: rank_number for rank_number, group_number in enumerate(order)}
        arranged += [ask for _, ask in sorted(round_asks, key=lambda item: rank[item[0]])]
        order = _shuffled_within(order, max(1, len(order) // BLOCKS), rng)
    return tuple(arranged)


def _shuffled_within(order: Sequence[int], size: int, rng: np.random.Generator) -> list[int]:
    """Shuffle each block of a list."""
    blocks = (order[start : start + size] for start in range(0, len(order), size))
    return [block[index] for block in blocks for index in rng.permutation(len(block)).tolist()]
