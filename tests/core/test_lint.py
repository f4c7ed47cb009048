"""Each oddity is found where it is put in, and a good instrument has none."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.conftest import instrument, template
from workbench.data import shipped_instrument_folder
from workbench.domain.instruments import Instrument, IssueLabel, PartyAnswer, SurveyAnswer
from workbench.domain.statements import NEGATION, OPPOSITE, ORIGINAL, Statement, VariantId, VariantKind, Wording
from workbench.formats.read import read_instrument
from workbench.lint import lint

P1, P2 = VariantId(VariantKind.PARAPHRASE, 1), VariantId(VariantKind.PARAPHRASE, 2)


def with_wording(variant: VariantId, text: str) -> Instrument:
    made = instrument()
    first = made.statements[0]
    wordings = tuple(Wording(variant, "en", text) if w.variant == variant else w for w in first.wordings)
    return replace(made, statements=(replace(first, wordings=wordings), *made.statements[1:]))


ORIGINAL_TEXT = instrument().statements[0].wording(ORIGINAL, "en").text  # type: ignore[union-attr]


def codes(made: Instrument) -> set[tuple[str, str]]:
    return {(finding.code, finding.severity) for finding in lint(made) if finding.severity != "note"}


def test_a_good_instrument_has_no_errors_or_warnings() -> None:
    assert codes(instrument()) == set()


def test_the_shipped_instrument_is_clean() -> None:
    assert [f for f in lint(read_instrument("csv", shipped_instrument_folder())) if f.severity != "note"] == []


@pytest.mark.parametrize(
    ("made", "code", "severity"),
    [
        (with_wording(NEGATION, ORIGINAL_TEXT), "negation-equals-original", "error"),
        (with_wording(OPPOSITE, ORIGINAL_TEXT.upper()), "opposite-equals-original", "error"),
        (with_wording(P1, ORIGINAL_TEXT), "paraphrase-equals-original", "warning"),
        (with_wording(P2, f"{ORIGINAL_TEXT} (1)"), "paraphrase-equals-paraphrase", "warning"),
        (with_wording(P2, " blank"), "stray-blanks", "warning"),
        (
            replace(instrument(), templates=(template(), replace(template(), inverted=True))),
            "orders-equal",
            "error",
        ),
        (
            replace(
                instrument(),
                templates=(template(), replace(template("personal-1", inverted=True), system=f"{template().system} ")),
            ),
            "orders-equal",
            "error",
        ),
        (replace(instrument(), templates=(replace(template(), positive="good"),)), "template-label", "error"),
        (replace(instrument(), templates=(replace(template(), user="?"),)), "template-slot", "error"),
        (replace(instrument(), templates=(template(),)), "one-order", "warning"),
        (
            replace(instrument(), issue_labels=(IssueLabel("zz", "law_and_order", "gold", 1),)),
            "unknown-statement",
            "warning",
        ),
        (
            replace(instrument(), party_answers=(PartyAnswer("vd", "Larks", "zz", "agree", 1),)),
            "unknown-statement",
            "warning",
        ),
        (replace(instrument(), survey=(SurveyAnswer("1", "zz", ORIGINAL, True),)), "unknown-statement", "warning"),
        (
            replace(
                instrument(),
                statements=(*instrument().statements, Statement("c", (Wording(ORIGINAL, "en", "One."),))),
            ),
            "missing-variant",
            "warning",
        ),
        (
            replace(
                instrument(),
                statements=tuple(
                    Statement(ref, (Wording(ORIGINAL, "en", text),)) for ref, text in (("a", "One."), ("b", "one. "))
                ),
            ),
            "duplicate-statement",
            "warning",
        ),
    ],
)
def test_an_oddity_is_found(made: Instrument, code: str, severity: str) -> None:
    assert (code, severity) in codes(made)


def test_a_label_inside_the_other_label_is_not_taken_for_it() -> None:
    only = replace(template(), system="Do you disagree?", positive="agree", negative="disagree")
    assert ("template-label", "error") in codes(replace(instrument(), templates=(only,)))
