"""What a wording states of its relation to the original is what every figure expects of it,
whatever its kind.
"""

from __future__ import annotations

import numpy as np
import pytest

from workbench.audits.bias_score.counting import ScoredStatement, Tally, swapped
from workbench.audits.codes import VOID
from workbench.audits.reliability.counting import SIGNS, Counts
from workbench.audits.reliability.judge import ReliabilityReport, judge
from workbench.domain.readings import Stance
from workbench.domain.statements import (
    NEGATION,
    OPPOSITE,
    ORIGINAL,
    Dimension,
    Relation,
    Side,
    VariantId,
    VariantKind,
)

PARAPHRASE = VariantId(VariantKind.PARAPHRASE, 1)
OTHERS = (PARAPHRASE, NEGATION, OPPOSITE)
STATEMENTS = 12
SAMPLES = 30


def answered(
    variant: VariantId, relation: Relation, *, consistent: bool = True, templates: int = 2
) -> ReliabilityReport:
    """Return verdicts on a respondent who takes, on one variant, the stance that the relation asks
    for, or the other.

    Half of the statements are agreed with; the other variants get what their kind asks for.
    """
    variants = (ORIGINAL, *OTHERS)
    stance = np.where(np.arange(STATEMENTS) % 2 == 0, 1, -1)
    signs = np.array([SIGNS[v.relation] for v in variants])
    relations = np.broadcast_to(signs, (STATEMENTS, len(variants))).copy()
    at = variants.index(variant)
    relations[:, at] = SIGNS[relation]
    given = stance[:, None] * np.where(relations == 0, 1, relations)
    if not consistent:
        given[:, at] *= -1
    positive = np.broadcast_to(
        np.where(given > 0, SAMPLES, 0)[None, :, :, None], (templates, STATEMENTS, len(variants), 2)
    ).astype(np.int32)
    return judge(
        Counts(
            statements=tuple(f"s-{n}" for n in range(STATEMENTS)),
            variants=variants,
            templates=tuple(f"t-{n}" for n in range(templates)),
            positive=positive,
            negative=(SAMPLES - positive).astype(np.int32),
            unreadable=np.zeros_like(positive),
            exists=np.ones((STATEMENTS, len(variants)), dtype=np.bool_),
            samples=SAMPLES,
            relations=relations.astype(np.int8),
        ),
    )


@pytest.mark.parametrize("variant", OTHERS, ids=str)
@pytest.mark.parametrize("relation", [Relation.SAME, Relation.FLIPPED])
class TestStated:
    def test_a_consistent_respondent_passes_and_its_reverse_fails(
        self, variant: VariantId, relation: Relation
    ) -> None:
        for consistent, verdict in ((True, 1), (False, 0)):
            report = answered(variant, relation, consistent=consistent)
            assert (report.verdicts(variant.kind.value) == verdict).all()
            assert (report.verdicts("all") == verdict).all()

    def test_kappas_over_statements_and_per_statement_are_those_of_the_kind(
        self, variant: VariantId, relation: Relation
    ) -> None:
        report = answered(variant, relation)
        flips = variant.relation is Relation.FLIPPED
        row = next(row for row in report.agreement() if row.name == variant.kind.value)
        assert {estimate.value for estimate in row.raw} == {-1.0 if flips else 1.0}
        assert {estimate.value for estimate in row.flipped} == {1.0}
        item = report.item_agreement(variant.kind.value).of(0)
        assert item.observed.value == (0.0 if flips else 1.0)
        assert item.observed_flipped.value == 1.0

    def test_reasons_and_rows_say_what_was_expected(
        self, variant: VariantId, relation: Relation
    ) -> None:
        report = answered(variant, relation, consistent=False)
        reason = report.reason("s-0", "t-0", variant.kind.value)
        assert reason.endswith(
            "expected to flip" if relation is Relation.FLIPPED else "expected to be the same"
        )
        row = next(
            r
            for r in report.variants("s-0", "t-0")
            if (r.variant, r.order) == (str(variant), "printed")
        )
        assert row.expected is (Stance.DISAGREE if relation is Relation.FLIPPED else Stance.AGREE)


@pytest.mark.parametrize("variant", OTHERS, ids=str)
def test_of_a_free_wording_nothing_is_expected_anywhere(variant: VariantId) -> None:
    report = answered(variant, Relation.FREE)
    kind = variant.kind.value
    assert (report.verdicts(kind) == VOID).all(), (
        "no wording of the kind has something expected of it"
    )
    row = next(row for row in report.agreement() if row.name == kind)
    assert {estimate.n for estimate in row.raw} == {0}
    assert report.item_agreement(kind).of(0).observed.n == 0
    assert "free" in report.reason("s-0", "t-0", kind)
    shown = next(
        r
        for r in report.variants("s-0", "t-0")
        if (r.variant, r.order) == (str(variant), "printed")
    )
    assert (shown.expected, [d.test for d in shown.tests]) == (None, ["sampling"])
    others = [other for other in OTHERS if other != variant]
    assert all((report.verdicts(other.kind.value) == 1).all() for other in others)


def test_readings_of_each_model_are_turned_round_as_its_own_wording_asks() -> None:
    read = np.zeros((2, 1, 1, 2, 4), dtype=np.int32)
    read[..., 0] = 3  # everybody agrees with everything
    nothing = np.zeros(read.shape[:4], dtype=np.int32)
    turned = np.array([[[False, True]], [[True, False]]])
    tally = Tally(
        ("a", "b"),
        ("p",),
        (ScoredStatement("s-1", "", Dimension.ECONOMIC, Side.LEFT),),
        (ORIGINAL, PARAPHRASE),
        ((None, None),),
        read,
        np.zeros_like(read),
        nothing,
        nothing,
        turned=turned,
    )
    assert swapped(tally.categories.astype(np.int64))[:, 0, 0].tolist() == [
        [[3, 0, 0, 0], [0, 3, 0, 0]],
        [[0, 3, 0, 0], [3, 0, 0, 0]],
    ]
    assert (tally.categories.sum(axis=-1) == read.sum(axis=-1)).all()
