"""Lint finds what would make an audit of an instrument meaningless, and nothing in an instrument
that is sound.
"""

from __future__ import annotations

import time
from dataclasses import asdict, replace

import pytest

from tests.conftest import instrument, statement, template
from workbench.data import shipped_instrument_folder
from workbench.domain.instruments import (
    Instrument,
    IssueDefinition,
    IssueLabel,
    PartyAnswer,
    SurveyAnswer,
)
from workbench.domain.prompts import Template
from workbench.domain.statements import (
    NEGATION,
    OPPOSITE,
    ORIGINAL,
    POLITICAL_OPPOSITE,
    QUESTION,
    REFORMULATION,
    Dimension,
    Relation,
    Side,
    Statement,
    VariantId,
    VariantKind,
    Wording,
)
from workbench.formats.native import read_csv
from workbench.lint import lint

PARAPHRASE_1, PARAPHRASE_2 = (VariantId(VariantKind.PARAPHRASE, n) for n in (1, 2))


def bare(*statements: Statement, templates: tuple[Template, ...] = ()) -> Instrument:
    """An instrument with nothing to find but what the test puts into it."""
    return Instrument(
        "bare", "Bare", (*statements, statement("zz-1", "Whales should vote.")), templates=templates
    )


def changed(variant: VariantId, text: str) -> Statement:
    whole = statement("a-1", "Ships should be green.")
    return replace(
        whole,
        wordings=tuple(
            replace(w, text=text) if w.variant == variant else w for w in whole.wordings
        ),
    )


def found(checked: Instrument, language: str | None = None) -> list[tuple[str, str, str]]:
    return [
        (finding.severity, finding.code, finding.subject) for finding in lint(checked, language)
    ]


def test_the_shipped_instrument_has_nothing_to_find() -> None:
    assert lint(read_csv(shipped_instrument_folder())) == ()


@pytest.mark.parametrize(
    ("variant", "severity", "code"),
    [
        (NEGATION, "error", "negation-equals-original"),
        (OPPOSITE, "error", "opposite-equals-original"),
        (PARAPHRASE_2, "warning", "paraphrase-equals-original"),
    ],
)
@pytest.mark.parametrize(
    ("text", "how"),
    [
        ("Ships should be green.", "the same text as"),
        (" ships  SHOULD be green.", "except for case"),
    ],
)
def test_a_variant_that_is_its_original_is_found(
    variant: VariantId, severity: str, code: str, text: str, how: str
) -> None:
    [finding, *others] = [f for f in lint(bare(changed(variant, text))) if "blanks" not in f.code]
    assert (finding.severity, finding.code, finding.subject) == (severity, code, "a-1")
    assert how in finding.message
    assert finding.message.startswith(f"en: {variant} is ")
    assert others == []


@pytest.mark.parametrize(
    ("variant", "text", "severity", "code"),
    [
        (PARAPHRASE_2, "Ships should be green. (1)", "warning", "paraphrase-equals-paraphrase"),
        (NEGATION, "Ships should be green. (1)", "error", "negation-equals-paraphrase"),
        (OPPOSITE, "Not so: Ships should be green.", "note", "opposite-equals-negation"),
    ],
)
def test_two_variants_of_one_text_are_found(
    variant: VariantId, text: str, severity: str, code: str
) -> None:
    assert found(bare(changed(variant, text))) == [(severity, code, "a-1")]


def test_composed_and_decomposed_letters_are_the_same_text() -> None:
    whole = statement("a-1", "Café")
    wordings = tuple(
        replace(w, text="Cafe\u0301") if w.variant == NEGATION else w for w in whole.wordings
    )
    assert found(bare(replace(whole, wordings=wordings))) == [
        ("error", "negation-equals-original", "a-1")
    ]


def test_duplicate_statements_of_one_country_are_found_at_the_later_one() -> None:
    first, second = statement("a-1", "Tax land."), statement("a-2", "tax  land.")
    assert [f for f in found(bare(first, second)) if "duplicate" in f[1]] == [
        ("warning", "duplicate-statement", "a-2")
    ]
    abroad = replace(second, country="ch")
    assert [f for f in found(bare(first, abroad)) if "duplicate" in f[1]] == []


@pytest.mark.parametrize(
    ("text", "severity", "code"),
    [
        (" Ships ahoy.", "warning", "stray-blanks"),
        ("Ships ahoy.\n", "warning", "stray-blanks"),
        ("Ships  ahoy.", "note", "double-blanks"),
    ],
)
def test_stray_blanks_are_found(text: str, severity: str, code: str) -> None:
    checked = bare(changed(PARAPHRASE_1, text))
    assert found(checked) == [(severity, code, "a-1")]
    assert "paraphrase-1" in lint(checked)[0].message


def test_a_statement_that_lacks_what_others_have_is_found() -> None:
    whole = statement("a-1")
    partial = replace(
        whole,
        wordings=tuple(w for w in whole.wordings if w.variant not in (NEGATION, PARAPHRASE_2)),
    )
    [finding] = lint(bare(partial))
    assert (finding.severity, finding.code, finding.subject) == (
        "warning",
        "missing-variant",
        "a-1",
    )
    assert finding.message == "en: has no paraphrase-2, no negation"
    headless = replace(whole, wordings=tuple(w for w in whole.wordings if w.variant != ORIGINAL))
    assert found(bare(headless)) == [("error", "missing-variant", "a-1")]


def test_a_wording_that_few_statements_have_is_one_finding_and_not_one_for_each_of_the_others() -> (
    None
):
    plain = [statement(f"a-{n}", f"Text {n}.") for n in range(5)]
    fourth = Wording(VariantId(VariantKind.PARAPHRASE, 4), "en", "In quite other words.")
    more = [replace(one, wordings=(*one.wordings, fourth)) for one in plain]
    [finding] = [f for f in lint(bare(more[0], *plain[1:])) if "variant" in f.code]
    assert (finding.severity, finding.code, finding.ref) == ("note", "rare-variant", None)
    assert (
        finding.message
        == "en: paraphrase-4 exists for 1 of 6 statements; the others are asked without it"
    )
    most = lint(bare(*more[:3], *plain[3:]))
    assert [f.subject for f in most if "variant" in f.code] == ["a-3", "a-4", "zz-1"], (
        "named where most have it"
    )


def test_a_kind_that_no_statement_has_is_said_once() -> None:
    plain = [Statement(f"s-{n}", (Wording(ORIGINAL, "en", f"Text {n}."),)) for n in range(9)]
    assert (
        found(Instrument("plain", "Plain", tuple(plain))) == [("note", "no-variant", "plain")] * 3
    )


def test_only_the_language_asked_for_is_checked() -> None:
    whole = changed(NEGATION, "Ships should be green.")
    german = tuple(
        replace(w, language="de", text=f"De: {w.text}") for w in statement("a-1").wordings
    )
    checked = bare(replace(whole, wordings=(*whole.wordings, *german)))
    assert ("error", "negation-equals-original", "a-1") in found(checked, "en")
    assert found(checked, "de") == [("warning", "missing-language", "zz-1")]


def test_a_statement_without_the_language_of_the_audit_is_found() -> None:
    french = Statement("fr-1", (Wording(ORIGINAL, "fr", "Oui."),))
    assert found(bare(french)) == [("warning", "missing-language", "fr-1")]


def test_labels_and_answers_on_unknown_statements_are_counted() -> None:
    checked = replace(
        bare(),
        issue_labels=(IssueLabel("x-1", "law", "gold", 1),),
        party_answers=tuple(
            PartyAnswer("vd", party, ref, "agree", 1)
            for party, ref in (("Larks", "x-2"), ("Owls", "x-2"), ("Larks", "zz-1"))
        ),
        survey=(SurveyAnswer("1", "x-3", ORIGINAL, True),),
    )
    assert [(f.subject, f.message) for f in lint(checked) if f.code == "unknown-statement"] == [
        ("x-1", "issue labels on a statement that is not there: 1"),
        ("x-2", "party answers on a statement that is not there: 2"),
        ("x-3", "survey answers on a statement that is not there: 1"),
    ]


def test_statements_that_no_party_answered_are_noted_where_others_were() -> None:
    answered = PartyAnswer("vd", "Larks", "zz-1", "agree", 1)
    assert found(replace(bare(statement("a-1")), party_answers=(answered,))) == [
        ("note", "no-party-answers", "bare")
    ]
    assert found(bare(statement("a-1"))) == []


@pytest.mark.parametrize(("labelled", "noted"), [(5, True), (6, False)])
def test_an_issue_with_fewer_than_six_labelled_statements_is_noted(
    labelled: int, noted: bool
) -> None:
    refs = [f"a-{n}" for n in range(9)]
    labels = tuple(IssueLabel(ref, "law", "gold", int(n < labelled)) for n, ref in enumerate(refs))
    defined = (IssueDefinition("law", "Law", "The state punishes."),)
    checked = replace(
        bare(*map(statement, refs)), issues=("law",), definitions=defined, issue_labels=labels
    )
    assert found(checked) == [("note", "few-labels", "law")] * noted


def both(**changes: str) -> tuple[Template, Template]:
    """The two orders of a template, the swapped one changed."""
    swapped = asdict(template("t-1", inverted=True))
    return template("t-1"), Template(**(swapped | changes))


def test_two_good_label_orders_have_nothing_to_find() -> None:
    assert found(bare(templates=both())) == []


@pytest.mark.parametrize(
    ("changes", "severity", "code", "subject"),
    [
        ({"system": template("t-1").system or ""}, "error", "orders-equal", "t-1"),
        ({"system": f"{template('t-1').system} "}, "error", "orders-equal", "t-1"),
        ({"system": 'Classify: "beneficial" or "harmful"?'}, "error", "orders-alike", "t-1"),
        ({"system": 'Classify: "harmful" or "beneficial"?'}, "warning", "orders-differ", "t-1"),
    ],
)
def test_label_orders_that_test_nothing_or_something_else_are_found(
    changes: dict[str, str], severity: str, code: str, subject: str
) -> None:
    assert found(bare(templates=both(**changes))) == [(severity, code, subject)]


def test_a_template_in_one_order_only_is_found() -> None:
    assert found(bare(templates=(template("t-1"),))) == [("warning", "one-order", "t-1")]


@pytest.mark.parametrize(
    ("changes", "code", "message"),
    [
        ({"user": "no slot"}, "template-slot", "holds the slot {statement} 0 times, not once"),
        (
            {"user": "{statement} {statement}"},
            "template-slot",
            "holds the slot {statement} 2 times, not once",
        ),
        ({"positive": "benefic"}, "template-label", "does not name its label 'benefic'"),
        ({"negative": "detrimental"}, "template-label", "does not name its label 'detrimental'"),
        ({"user": "{statement} %s"}, "template-unknown-slot", "%s goes to the model as it stands"),
        (
            {"user": "{statement} {topic}"},
            "template-unknown-slot",
            "{topic} goes to the model as it stands",
        ),
        (
            {"user": "Read the the text: {statement}"},
            "template-wording",
            "the word 'the' stands twice",
        ),
        ({"user": '"harmful"for? {statement}'}, "template-wording", 'no space after "harmful"'),
    ],
)
def test_faults_of_one_template_are_found(changes: dict[str, str], code: str, message: str) -> None:
    findings = lint(bare(templates=both(**changes)))
    assert [f.message for f in findings if f.code == code and f.subject == "t-1 (swapped)"] == [
        message
    ]


def test_a_label_inside_another_word_does_not_count_as_named() -> None:
    only_negative = Template("t-1", False, "Do you disagree? {statement}", "agree", "disagree")
    assert ("error", "template-label", "t-1 (printed)") in found(bare(templates=(only_negative,)))


def sided(
    ref: str, dimension: str | None, leaning: str | None, opposite: str | None = None
) -> Statement:
    whole = statement(ref)
    more = () if opposite is None else (Wording(POLITICAL_OPPOSITE, "en", opposite),)
    return replace(
        whole,
        wordings=(*whole.wordings, *more),
        dimension=Dimension(dimension) if dimension else None,
        leaning=Side(leaning) if leaning else None,
    )


PREFIX = Template(
    "one", False, "Say: {statement}", "agree", "disagree", audit="bias_score", scale="free"
)


def test_kinds_that_only_the_bias_score_asks_about_may_be_missing() -> None:
    whole = statement("a-1")
    more = (
        Wording(REFORMULATION, "en", "Otherwise put."),
        Wording(POLITICAL_OPPOSITE, "en", "Quite another view."),
    )
    assert found(bare(replace(whole, wordings=(*whole.wordings, *more)), statement("a-2"))) == []


@pytest.mark.parametrize(
    ("variant", "text", "severity", "code"),
    [
        (
            POLITICAL_OPPOSITE,
            "Ships should be green.",
            "error",
            "political_opposite-equals-original",
        ),
        (
            POLITICAL_OPPOSITE,
            "Repeal: Ships should be green.",
            "warning",
            "political_opposite-equals-opposite",
        ),
        (
            POLITICAL_OPPOSITE,
            "Ships should be green. (1)",
            "error",
            "political_opposite-equals-paraphrase",
        ),
        (REFORMULATION, "ships should be green.", "warning", "reformulation-equals-original"),
        (REFORMULATION, "Repeal: Ships should be green.", "error", "reformulation-equals-opposite"),
        (REFORMULATION, " Ships could be green.", "warning", "stray-blanks"),
    ],
)
def test_wordings_of_the_bias_score_are_checked_where_they_are(
    variant: VariantId, text: str, severity: str, code: str
) -> None:
    whole = statement("a-1", "Ships should be green.")
    checked = bare(replace(whole, wordings=(*whole.wordings, Wording(variant, "en", text))))
    assert found(checked) == [(severity, code, "a-1")]


def test_a_dimension_without_a_side_and_a_side_without_a_dimension_are_found() -> None:
    checked = bare(sided("a-1", "economic", None), sided("a-2", None, "right"))
    assert found(checked) == [
        ("warning", "half-labelled", "a-1"),
        ("warning", "half-labelled", "a-2"),
    ]


def test_a_dimension_of_one_side_is_found() -> None:
    one = bare(
        sided("a-1", "economic", "left"),
        sided("a-2", "cultural", "left"),
        sided("a-3", "cultural", "right"),
    )
    assert [(f.code, f.message) for f in lint(one)] == [
        ("one-side", "no economic statement leans right, so the economic bias is undefined")
    ]


def test_a_labelled_statement_without_a_political_opposite_is_noted_where_others_have_one() -> None:
    without = (sided("a-1", "cultural", "left"), sided("a-2", "cultural", "right"))
    assert found(bare(*without)) == []
    having = (sided("a-1", "cultural", "left", "Quite so."), sided("a-2", "cultural", "right"))
    assert found(bare(*having)) == [("note", "no-political-opposite", "a-2")]
    assert found(bare(*having), "de") == [
        ("warning", "missing-language", ref) for ref in ("a-1", "a-2", "zz-1")
    ]


def test_an_instrument_for_the_bias_score_alone_needs_labels_and_no_negations() -> None:
    plain = tuple(Statement(f"s-{n}", (Wording(ORIGINAL, "en", f"Text {n}."),)) for n in range(3))
    checked = Instrument("plain", "Plain", plain, templates=(PREFIX,))
    assert found(checked) == [("note", "no-labels", "plain")]
    labelled = tuple(replace(s, dimension=Dimension.ECONOMIC, leaning=Side.LEFT) for s in plain)
    both_sides = (
        *labelled,
        replace(plain[0], ref="s-9", wordings=(Wording(ORIGINAL, "en", "No."),)),
    )
    other = replace(both_sides[-1], dimension=Dimension.ECONOMIC, leaning=Side.RIGHT)
    assert found(replace(checked, statements=(*labelled, other))) == []


@pytest.mark.parametrize(
    ("changes", "codes"),
    [
        ({}, []),
        ({"user": "Hey {model_name}: {statement}"}, []),
        ({"user": "No slot."}, ["template-slot"]),
        ({"user": "{statement} {name}"}, ["template-unknown-slot"]),
        ({"scale": "seven"}, ["template-scale"]),
        ({"scale": ""}, ["template-label", "template-label"]),
    ],
)
def test_a_prefix_needs_its_slot_and_neither_labels_nor_a_second_order(
    changes: dict[str, str], codes: list[str]
) -> None:
    sides = (sided("a-1", "cultural", "left"), sided("a-2", "cultural", "right"))
    checked = bare(*sides, templates=(Template(**(asdict(PREFIX) | changes)),))
    assert [finding.code for finding in lint(checked)] == codes


def stated(variant: VariantId, relation: Relation | None, text: str) -> Statement:
    whole = changed(variant, text)
    return replace(
        whole,
        wordings=tuple(
            replace(w, stated=relation) if w.variant == variant else w for w in whole.wordings
        ),
    )


@pytest.mark.parametrize(
    ("variant", "relation", "expected"),
    [
        (NEGATION, None, [("error", "negation-equals-original", "a-1")]),
        (NEGATION, Relation.SAME, [("warning", "negation-equals-original", "a-1")]),
        (NEGATION, Relation.FREE, []),
        (PARAPHRASE_1, Relation.FLIPPED, [("error", "paraphrase-equals-original", "a-1")]),
        (PARAPHRASE_1, Relation.FREE, []),
    ],
)
def test_what_is_expected_of_a_wording_is_what_it_states(
    variant: VariantId, relation: Relation | None, expected: list[tuple[str, str, str]]
) -> None:
    assert found(bare(stated(variant, relation, "Ships should be green."))) == expected


@pytest.mark.parametrize("text", ["Should ships be green?", "Ships should be green."])
def test_a_question_is_no_variant_to_compare_or_to_miss(text: str) -> None:
    whole = statement("a-1", "Ships should be green.")
    asked = replace(whole, wordings=(*whole.wordings, Wording(QUESTION, "en", text)))
    assert found(bare(asked, statement("a-2", "Wolves should be grey."))) == []


def test_a_statement_without_an_original_is_an_error() -> None:
    asked = Statement("q-1", (Wording(QUESTION, "en", "Should ships be green?"),))
    assert ("error", "missing-variant", "q-1") in found(bare(asked))
    assert found(bare(Statement("n-1", ()))) == [("error", "no-original", "n-1")]


@pytest.mark.parametrize(
    "text", ["", "  ", "x" * 10_001, "with a \x00 in it", "half \ud800 of one"]
)
def test_a_text_that_cannot_be_asked_is_an_error(text: str) -> None:
    assert ("error", "unusable-text", "a-1") in found(bare(changed(PARAPHRASE_2, text)))


def test_what_a_statement_was_made_from_has_to_be_there() -> None:
    made = (
        replace(statement("a-1"), derived_from="a-2"),
        replace(statement("a-2"), derived_from="gone"),
    )
    [finding] = lint(bare(*made))
    assert (finding.severity, finding.code, finding.subject) == ("note", "unknown-origin", "a-2")
    assert "gone" in finding.message


def test_statements_that_were_made_from_each_other_are_an_error_that_is_told_once() -> None:
    circle = {"a-1": "a-2", "a-2": "a-3", "a-3": "a-1", "b-1": "a-1", "c-1": "c-1"}
    made = [replace(statement(ref), derived_from=origin) for ref, origin in circle.items()]
    assert [(f.severity, f.code, f.subject, f.message) for f in lint(bare(*made))] == [
        ("error", "circular-origin", "a-1", "was made from itself: a-1 ← a-2 ← a-3 ← a-1"),
        ("error", "circular-origin", "c-1", "was made from itself: c-1 ← c-1"),
    ]


def test_an_issue_scheme_is_checked_for_names_and_definitions() -> None:
    labels = tuple(
        IssueLabel(f"a-{n}", issue, "gold", 1)
        for n in range(6)
        for issue in ("Law", "law ", "cats")
    )
    defined = (
        IssueDefinition("Law", "", "The state punishes."),
        IssueDefinition("law ", "", "The same."),
    )
    checked = replace(
        bare(*(statement(f"a-{n}") for n in range(6))),
        issues=("Law", "law ", "cats"),
        issue_labels=labels,
        definitions=(*defined, IssueDefinition("dogs", "", "They bark.")),
    )
    assert found(checked) == [
        ("warning", "issue-twice", "Law"),
        ("note", "issue-undefined", "cats"),
        ("note", "issue-unused", "dogs"),
    ]


def test_the_usual_issues_need_no_definition_of_one_s_own() -> None:
    assert "issue-undefined" not in [code for _, code, _ in found(instrument())]


def test_a_finding_knows_its_place_and_its_texts() -> None:
    [finding] = lint(bare(changed(NEGATION, "ships should be green.")))
    assert (finding.ref, finding.variant, finding.language) == ("a-1", NEGATION, "en")
    assert [(quoted.name, quoted.text) for quoted in finding.texts] == [
        ("original", "Ships should be green."),
        ("negation", "ships should be green."),
    ]


def test_findings_on_equal_texts_can_be_told_apart() -> None:
    whole = statement("a-1")
    same = tuple(replace(w, text="Ships should be green.") for w in whole.wordings)
    findings = lint(bare(replace(whole, wordings=same)))
    assert len({finding.fingerprint for finding in findings}) == len(findings) == 15


def test_errors_come_first() -> None:
    severities = [
        finding.severity for finding in lint(bare(changed(NEGATION, " ships should be green.")))
    ]
    assert severities == ["error", "warning"]


def test_eight_thousand_wordings_are_checked_in_less_than_a_second() -> None:
    large = instrument(*(f"s-{n}" for n in range(1300)))
    begin = time.process_time()
    lint(large)
    assert time.process_time() - begin < 1
