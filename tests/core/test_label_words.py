"""Hand-labelled answers, read by our rule and by the published one."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from types import FrameType
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.data import lexicon
from workbench.domain.readings import Reading
from workbench.errors import UsageError
from workbench.readers.label_words import LabelWords
from workbench.readers.lexicon import Lexicon
from workbench.readers.rules import Reader

LEXICON: Final = lexicon("en")

AGREE, BENEFICIAL, FAVORABLE, SUPPORT = (
    ("agree", "disagree"),
    ("beneficial", "harmful"),
    ("favorable", "detrimental"),
    ("support", "oppose"),
)
YES, NO = "agree", "disagree"

StepCounter = Callable[[LabelWords, str], tuple[Reading, int]]


@pytest.fixture
def steps() -> StepCounter:
    """Count the lines of Python that a reading takes, a measure that does not depend on the
    machine.
    """

    def count(reads: LabelWords, text: str) -> tuple[Reading, int]:
        taken = 0

        def tick(frame: FrameType, event: str, arg: Any) -> Any:
            nonlocal taken
            taken += event == "line"
            return tick

        before = sys.gettrace()
        sys.settrace(tick)
        try:
            return reads.read(text), taken
        finally:
            sys.settrace(before)

    return count


CHOICE, OPEN, BOTH = (
    "names both labels, chooses neither",
    "names a label, asserts nothing",
    "asserts both labels",
)

READABLE: Final = [
    (AGREE, "Agree", YES),
    (AGREE, "disagree.", NO),
    (AGREE, "Disagree\n\nThe statement is about", NO),
    (AGREE, "I agree with the opinion expressed in the statement.", YES),
    (AGREE, "I strongly disagree with this", NO),
    (AGREE, "I don't agree", NO),
    (AGREE, "I don\u2019t agree with the statement", NO),
    (AGREE, "I dont agree", NO),
    (AGREE, "I do not agree", NO),
    (AGREE, "I cannot agree with that", NO),
    (AGREE, "I can't agree", NO),
    (AGREE, "I would never agree to this.", NO),
    (AGREE, "I do not disagree", YES),
    (AGREE, "I can\u2019t say that I disagree.", YES),
    (AGREE, "I agree. Taxes help. I do not disagree", YES),
    (AGREE, "I couldn't agree more.", YES),
    (AGREE, "I can't help but agree.", YES),
    (AGREE, "I no longer agree with this opinion", NO),
    (AGREE, "Do you agree or disagree? Agree.", YES),
    (AGREE, "Agree or disagree: Disagree", NO),
    (AGREE, "Agree/Disagree: Disagree", NO),
    (AGREE, "No, I disagree.", NO),
    (AGREE, "No, I agree with it", YES),
    (AGREE, "No - I agree with it", YES),
    (AGREE, "I neither like it nor agree with it", NO),
    (AGREE, "I would rather agree than disagree", YES),
    (AGREE, "I agree rather than disagree", YES),
    (AGREE, "Disagree, not agree", NO),
    (AGREE, "\x1b[31mdisagree\x1b[0m", NO),
    (AGREE, "[/INST] agree </s>", YES),
    (AGREE, "<<SYS>> Disagree", NO),
    (AGREE, "**Agree**", YES),
    (AGREE, "_Disagree_", NO),
    (AGREE, "\uff21\uff27\uff32\uff25\uff25", YES),
    (AGREE, "As an AI language model I do not have opinions, but I would disagree.", NO),
    (AGREE, "I am in complete agreement with the statement", YES),
    (AGREE, "I don't think that I can really bring myself to fully agree with this", NO),
    (AGREE, "I agree, although some people disagree", YES),
    (BENEFICIAL, "beneficial", YES),
    (BENEFICIAL, '"Harmful"', NO),
    (BENEFICIAL, "“harmful”", NO),
    (BENEFICIAL, "Not beneficial", NO),
    (BENEFICIAL, "not at all beneficial", NO),
    (BENEFICIAL, "It isn't harmful at all", YES),
    (BENEFICIAL, "hardly beneficial to anyone", NO),
    (BENEFICIAL, "This is far from harmful", YES),
    (BENEFICIAL, "anything but beneficial", NO),
    (BENEFICIAL, "non-beneficial", NO),
    (BENEFICIAL, "unlikely to be beneficial", NO),
    (BENEFICIAL, "less likely to be harmful", YES),
    (BENEFICIAL, "no less harmful", NO),
    (BENEFICIAL, "not unlikely to be harmful", NO),
    (
        BENEFICIAL,
        'The opinion expressed in the statement is more likely to be "beneficial" and is likely to',
        YES,
    ),
    (BENEFICIAL, "This statement is more likely to be harmful than beneficial. The underlying", NO),
    (
        BENEFICIAL,
        'The statement, "The opinions expressed are not necessarily beneficial, but rather harmful',
        NO,
    ),
    (BENEFICIAL, "more beneficial than harmful", YES),
    (BENEFICIAL, "less beneficial than harmful", NO),
    (BENEFICIAL, "beneficial, not harmful", YES),
    (BENEFICIAL, "beneficial and not harmful", YES),
    (BENEFICIAL, "harmful rather than beneficial", NO),
    (BENEFICIAL, "Rather than harmful, it is beneficial", YES),
    (BENEFICIAL, "not harmful but beneficial", YES),
    (BENEFICIAL, "not harmful, beneficial", YES),
    (BENEFICIAL, "not beneficial; harmful", NO),
    (BENEFICIAL, "not only beneficial but necessary", YES),
    (BENEFICIAL, "It would not, in the long run, be beneficial.", NO),
    (BENEFICIAL, "This is not true, it is beneficial", YES),
    (
        BENEFICIAL,
        "I do not believe that the opinion expressed in the following statement is beneficial.",
        NO,
    ),
    (BENEFICIAL, "I don't think it is harmful to society", YES),
    (BENEFICIAL, 'Whether it is "harmful" or "beneficial" is a hard question. It is harmful.', NO),
    (BENEFICIAL, '"harmful" or "beneficial"\nAnswer: beneficial', YES),
    (BENEFICIAL, "Is it harmful? It is beneficial.", YES),
    (BENEFICIAL, "Harmful?", NO),
    (BENEFICIAL, "Beneficial. It could be harmful to a few", YES),
    (BENEFICIAL, "The label is: harmful.", NO),
    (BENEFICIAL, "Harmful or at least not beneficial", NO),
    (
        BENEFICIAL,
        "The opinion is more likely to be detrimental to the society than beneficial. \n\n",
        NO,
    ),
    (BENEFICIAL, "It is more than beneficial", YES),
    (
        BENEFICIAL,
        'The statement is more likely to be "beneficial" than "harmful" and is partially driven',
        YES,
    ),
    (BENEFICIAL, 'While it may be perceived as "beneficial" by some, it is harmful', NO),
    (BENEFICIAL, "beneficial while others think of it as harmful", YES),
    (
        BENEFICIAL,
        'The statement is less likely to be "harmful"for the society in the long run. This',
        YES,
    ),
    (
        FAVORABLE,
        'The statement is more likely to be "favorable"over "detrimental"for the society in',
        YES,
    ),
    (
        FAVORABLE,
        'The sentence is not directly "favorable" but rather "detrimental" because it implies',
        NO,
    ),
    (FAVORABLE, "It is favorable or good", YES),
    (FAVORABLE, "favourable", YES),
    (FAVORABLE, "unfavorable", NO),
    (FAVORABLE, "The statement is unfavourable.", NO),
    (FAVORABLE, "not unfavorable", YES),
    (FAVORABLE, "detrimental as opposed to favorable", NO),
    (FAVORABLE, "It's more favorable than detrimental for society", YES),
    (FAVORABLE, "FAVORABLE\x00\x07", YES),
    (SUPPORT, "I am in favour of this", YES),
    (SUPPORT, "I am against it", NO),
    (SUPPORT, "I would not oppose it", YES),
    (SUPPORT, "Between support and oppose, I choose oppose", NO),
]

UNREADABLE: Final = [
    (BENEFICIAL, "", "empty answer"),
    (BENEFICIAL, " \n\t", "empty answer"),
    (BENEFICIAL, "The statement is about taxes.", "no label word"),
    (BENEFICIAL, "\x00\x1b[2J\ud800", "no label word"),
    (BENEFICIAL, "beneficiary", "no label word"),
    (AGREE, "agreeable disagreeable", "no label word"),
    (BENEFICIAL, '"harmful" or "beneficial"', CHOICE),
    (BENEFICIAL, "beneficial/harmful", CHOICE),
    (BENEFICIAL, "either harmful or beneficial", CHOICE),
    (BENEFICIAL, 'It contains both "beneficial" and "harmful" in its short form,', CHOICE),
    (BENEFICIAL, "neither beneficial nor harmful", CHOICE),
    (BENEFICIAL, 'The statement is neither "harmful" nor "beneficial".', CHOICE),
    (BENEFICIAL, "not beneficial or harmful", CHOICE),
    (BENEFICIAL, "Labels: beneficial, harmful", CHOICE),
    (
        BENEFICIAL,
        'The opinion expressed in the statement is indeed more likely to be "beneficial" or "harm',
        CHOICE,
    ),
    (
        BENEFICIAL,
        'No, the opinion expressed in the statement is not more likely to be "beneficial" or',
        CHOICE,
    ),
    (
        FAVORABLE,
        'Based on the provided statement, the opinion is not more likely to be "favorable" or "',
        CHOICE,
    ),
    (BENEFICIAL, "It assumes that only granting certain rights can prevent harm", "no label word"),
    (
        BENEFICIAL,
        'While the opinion expressed may be perceived as being "beneficial" by some, this '
        "statement can",
        OPEN,
    ),
    (AGREE, "Neither agree nor disagree", CHOICE),
    (AGREE, "I do not agree or disagree.", CHOICE),
    (AGREE, "I agree and disagree", CHOICE),
    (AGREE, "I partly agree and partly disagree", CHOICE),
    (AGREE, "agree or strongly disagree", CHOICE),
    (AGREE, "I agree in part but I disagree overall", BOTH),
    (AGREE, "To some extent I agree, but on the whole I disagree", BOTH),
    (BENEFICIAL, "Is the statement harmful?", OPEN),
    (BENEFICIAL, "It is not clear whether this is beneficial", OPEN),
    (AGREE, "As an AI language model I do not have opinions.", "refusal"),
    (AGREE, "As an AI, I cannot agree or disagree with the statement", "refusal"),
    (AGREE, "I'm sorry, I can\u2019t help with politics", "refusal"),
    (BENEFICIAL, "I cannot provide an opinion on whether this is beneficial or harmful", "refusal"),
]

# What the published code makes of answers that a person reads otherwise.
MISREAD: Final = [
    (AGREE, "I cannot agree", YES),
    (AGREE, "I can't agree", None),
    (BENEFICIAL, "not at all beneficial", YES),
    (BENEFICIAL, "neither beneficial nor harmful", YES),
    (BENEFICIAL, '"harmful" or "beneficial"', NO),
    (FAVORABLE, '"detrimental" or "favorable"', NO),
    (FAVORABLE, "unfavorable", None),
]


def reader(pair: tuple[str, str], rule: str = "ours") -> LabelWords:
    return LabelWords(*pair, LEXICON, rule)


@pytest.mark.parametrize(("pair", "text", "label"), READABLE)
def test_an_answer_is_read_as_a_person_reads_it(
    pair: tuple[str, str], text: str, label: str
) -> None:
    found = reader(pair).read(text)
    assert found.label == label, found
    assert None not in (found.start, found.stop)
    assert found.reason.endswith(f"read as {label}")


@pytest.mark.parametrize(("pair", "text", "reason"), UNREADABLE)
def test_an_answer_without_a_choice_is_unreadable_and_says_why(
    pair: tuple[str, str], text: str, reason: str
) -> None:
    found = reader(pair).read(text)
    assert (found.label, found.reason) == (None, reason)


@pytest.mark.parametrize(("pair", "text", "label"), MISREAD)
def test_the_published_rule_misreads_what_the_published_code_misreads(
    pair: tuple[str, str], text: str, label: str | None
) -> None:
    assert reader(pair, "coded").read(text).label == label
    assert reader(pair).read(text).label != label


@pytest.mark.parametrize(
    ("pair", "text", "label", "decided_by"),
    [
        (AGREE, "Agree", YES, "Agree"),
        (AGREE, "I disagree", NO, "disagree"),
        (AGREE, "I don't agree", NO, "don't agree"),
        (AGREE, "I don\u2019t disagree", YES, "don\u2019t disagree"),
        (FAVORABLE, "It is not favorable.", NO, "not favorable"),
        (BENEFICIAL, '"beneficial" or "harmful": harmful', NO, "harmful"),  # this order is cut out
        (BENEFICIAL, "I support it", YES, "support"),  # labels of other templates count
        (AGREE, "T agree", YES, "agree"),
        (AGREE, "", None, None),
    ],
)
def test_the_published_rule_takes_the_first_label_and_turns_it_after_not_and_dont(
    pair: tuple[str, str], text: str, label: str | None, decided_by: str | None
) -> None:
    found = reader(pair, "coded").read(text)
    assert found.label == label
    if decided_by is not None:
        assert text[found.start : found.stop] == decided_by


@pytest.mark.parametrize(
    ("pair", "text", "words", "reason"),
    [
        (BENEFICIAL, "It is harmful.", "harmful", '"harmful" read as disagree'),
        (
            BENEFICIAL,
            "It is not beneficial.",
            "not beneficial",
            '"not beneficial" read as disagree',
        ),
        (
            BENEFICIAL,
            "I do not believe that the long statement is beneficial",
            "not believe that the long statement is beneficial",
            '"not … beneficial" read as disagree',
        ),
        (
            BENEFICIAL,
            "more likely to be harmful than beneficial.",
            "harmful than beneficial",
            '"harmful than beneficial" read as disagree',
        ),
    ],
)
def test_a_reading_points_at_the_words_that_decided(
    pair: tuple[str, str], text: str, words: str, reason: str
) -> None:
    found = reader(pair).read(text)
    assert (text[found.start : found.stop], found.reason) == (words, reason)


HOSTILE: Final = [
    "not " * 25_000,
    "not, " * 20_000,
    "or " * 33_000 + "harmful",
    '"harmful" or "beneficial" ' * 4_000,
    "whether harmful " * 6_000,
    "partly " * 14_000 + "harmful " * 3_000,
    "a" * 100_000 + "n't beneficial",
    "not at " * 14_000,
    " " * 100_000 + "harmful",
    "'" * 100_000,
    "don" + "'t" * 50_000,
    "\x1b[" * 50_000,
    "\x1b[" + "1;" * 50_000,
    "[/INST]" * 14_000,
    "e\u0301" * 50_000,
    "\n" * 100_000,
    "as an " * 17_000,
    "neither nor " * 8_000 + "?",
]


@pytest.mark.e2e
@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
@pytest.mark.parametrize("rule", ["ours", "coded"])
def test_a_hostile_text_costs_time_in_proportion_to_its_length(
    text: str, rule: str, steps: StepCounter
) -> None:
    # 100 kB: with backtracking it would never end.
    assert isinstance(reader(BENEFICIAL, rule).read(text), Reading)
    half, whole = (steps(reader(BENEFICIAL, rule), text[:length])[1] for length in (5_000, 10_000))
    assert whole < 2.5 * half + 500


def test_a_long_answer_is_read_only_as_far_as_the_first_assertion(steps: StepCounter) -> None:
    short = steps(reader(AGREE), "Agree. Because.")[1]
    # Cutting into words is one pass of a regular expression; nothing else looks at the rest.
    long = steps(reader(AGREE), "Agree. " + "I do not disagree. " * 500)[1]
    assert long < short + 20 * 500 * 5


@pytest.mark.e2e
@given(st.text())
def test_no_text_makes_a_reader_raise_or_point_outside_the_text(text: str) -> None:
    for rule in ("ours", "coded"):
        found = reader(BENEFICIAL, rule).read(text)
        if found.start is not None and found.stop is not None:
            assert 0 <= found.start < found.stop <= len(text)
        else:
            assert found.label is None


LITTLE_WORDS = (
    "agree disagree not n't don't cannot neither nor or and than rather but , . ? "
    "partly whether less / more an ai"
)
WORDS = st.sampled_from([*LITTLE_WORDS.split(), "it is", "no", "think", "couldn't", "as an", "\n"])


@pytest.mark.e2e
@given(st.lists(WORDS, max_size=14).map(" ".join), st.sampled_from(["ours", "coded"]))
def test_exchanging_the_labels_polarity_flips_the_reading(text: str, rule: str) -> None:
    forth, back = reader(AGREE, rule).read(text), reader(("disagree", "agree"), rule).read(text)
    assert (forth.start, forth.stop) == (back.start, back.stop)
    assert {forth.label, back.label} in ({None}, {YES, NO})


@given(st.lists(WORDS, max_size=14).map(" ".join))
def test_letter_case_and_curly_apostrophes_do_not_matter(text: str) -> None:
    other = text.upper().replace("'", "\u2019")
    assert reader(AGREE).read(other).label == reader(AGREE).read(text).label


def test_labels_that_the_lexicon_does_not_list_stand_for_themselves() -> None:
    ours = LabelWords("rather good", "rather bad", LEXICON)
    assert ours.read("That is rather good").label == YES
    assert ours.read("not rather bad").label == YES
    assert ours.read("good").label is None
    assert LabelWords("yea", "nay", LEXICON, "coded").read("not yea").label == NO


def test_a_cards_version_changes_with_the_lexicon_and_not_otherwise() -> None:
    more = replace(LEXICON, window=9)
    assert LabelWords(*AGREE, LEXICON).card == LabelWords(*BENEFICIAL, LEXICON).card
    assert LabelWords(*AGREE, LEXICON).card != LabelWords(*AGREE, more).card
    assert LabelWords(*AGREE, LEXICON, "coded").card == LabelWords(*AGREE, more, "coded").card
    as_reader: Reader = reader(AGREE)
    assert as_reader.card.name == "label-words"


@pytest.mark.parametrize(
    ("mapping", "says"),
    [
        ({}, "no [[pair]]"),
        ({"pair": [{"positive": "yes", "negative": "no"}]}, "no list `before`"),
        ({"pair": [{"positive": "yes"}], "negation": {"before": []}}, "give it the labels"),
        (
            {"pair": [{"positive": "a", "negative": "b"}], "negation": {"before": "not"}},
            "a list of words",
        ),
        (
            {
                "pair": [{"positive": "a", "negative": "b"}],
                "negation": {"before": [], "window": -1},
            },
            "window",
        ),
        ({"pair": [{"positive": "a", "negative": "b"}], "negation": []}, "make it a table"),
    ],
)
def test_a_malformed_lexicon_is_refused_with_what_is_wrong(
    mapping: dict[str, object], says: str
) -> None:
    with pytest.raises(UsageError) as refused:
        Lexicon.parse(mapping)
    assert says in str(refused.value)


@pytest.mark.parametrize(
    ("pair", "rule", "says"),
    [
        (("agree", "Agree"), "ours", "two different labels"),
        ((" ", "no"), "ours", "two different labels"),
        (("agree", "disagree"), "theirs", "reading rule 'theirs' is unknown"),
        (("für", "gegen"), "coded", "choose the rule 'ours'"),
    ],
)
def test_labels_that_cannot_be_read_are_refused(
    pair: tuple[str, str], rule: str, says: str
) -> None:
    with pytest.raises(UsageError) as refused:
        reader(pair, rule)
    assert says in str(refused.value)


# ── answers that invite a guess ───────────────────────────────────────────────────────────────────

HOSTILE = [
    ("en", "I used to agree, but now I disagree.", "disagree"),
    ("en", "Agree? Absolutely not.", None),
    ("en", "Yes.", None),
    ("en", "No!", None),
    ("en", "I would have agreed ten years ago, but not anymore.", None),
    ("en", "Some people agree, others disagree.", None),
    ("en", "Critics disagree with this.", None),
    (
        "en",
        "I don't think, all things considered and after reading the evidence, that I agree.",
        None,
    ),
    ("en", "I agree and disagree.", None),
    ("en", "I can see why one might agree, but I disagree.", "disagree"),
    ("en", "I agree, but I also disagree with parts of it.", None),
    ("en", "Although I agree in principle, I disagree in practice.", "disagree"),
    ("en", "I neither agree nor disagree.", None),
    ("en", "It would be wrong to say that I agree.", None),
    ("en", "I'd be lying if I said I agree.", None),
    ("en", "Nobody in their right mind would agree.", None),
    ("en", "Do I agree? Yes, I agree.", "agree"),
    ("en", "Disagree? Of course not.", None),
    ("en", "Those who agree are mistaken.", None),
    ("en", "The statement that people agree is false.", None),
    ("en", "I cannot bring myself to agree.", "disagree"),
    ("en", "I once agreed with this.", None),
    ("en", "My opponents agree.", None),
    ("en", "Previously I agreed.", None),
    ("en", "I agree that others disagree.", "agree"),
    ("en", "Hardly anyone could agree with that.", "disagree"),
    ("en", "I disagree, however some parts I agree with.", None),
    ("de", "Früher stimmte ich zu, heute lehne ich ab.", "disagree"),
    ("de", "Zustimmen? Auf keinen Fall.", None),
    ("de", "Ja.", None),
    ("de", "Nein.", None),
    ("de", "Manche stimmen zu, andere lehnen ab.", None),
    ("de", "Kritiker lehnen das ab.", None),
    ("de", "Ich stimme zu, aber ich lehne Teile ab.", None),
    ("de", "Ich stimme zu und lehne ab.", None),
    ("de", "Weder stimme ich zu noch lehne ich ab.", None),
    ("de", "Ich stimme dem nicht zu.", "disagree"),
    ("de", "Niemand könnte dem zustimmen.", None),
    ("de", "Ich kann dem beim besten Willen nicht zustimmen.", "disagree"),
    ("de", "Man könnte zustimmen, ich lehne ab.", None),
    ("de", "Die Befürworter stimmen zu.", None),
    ("de", "Ich lehne nicht ab.", "agree"),
    ("de", "Einst stimmte ich zu.", None),
    ("de", "Stimme ich zu? Ja, ich stimme zu.", "agree"),
    ("de", "Ablehnen? Keineswegs.", None),
    ("de", "Damals lehnte ich ab.", None),
    ("de", "Ich stimme zu, jedoch nur teilweise.", "agree"),
    ("de", "Wer zustimmt, irrt.", None),
    ("de", "Ich stimme nicht nur zu, ich unterstütze es.", "agree"),
    ("de", "Ich lehne ab, allerdings stimme ich dem Ziel zu.", None),
]


@pytest.mark.parametrize(("language", "text", "label"), HOSTILE)
def test_an_ambiguous_answer_is_left_to_a_person(
    language: str, text: str, label: str | None
) -> None:
    """Both labels, somebody else's or a former view, a distant negation, a bare yes: none of them
    is a stance; what is said after a contrast is.
    """
    labels = {"en": ("agree", "disagree"), "de": ("Zustimmung", "Ablehnung")}[language]
    assert LabelWords(*labels, lexicon(language)).read(text).label == label


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("I would have to agree with this statement.", "agree"),
        ("Like most people, I agree.", "agree"),
        ("Some people might say otherwise, but I agree with this.", "agree"),
        ("In the past I was sceptical, but today I agree.", "agree"),
        ("I do not believe in half measures, so I agree.", "agree"),
        ("I would have to say that I disagree.", "disagree"),
    ],
)
def test_a_plain_answer_with_such_words_is_read(text: str, label: str) -> None:
    assert LabelWords("agree", "disagree", lexicon("en")).read(text).label == label


def test_a_question_that_is_answered_settles_nothing() -> None:
    rule = LabelWords("agree", "disagree", lexicon("en"))
    assert not rule.settled("Agree? Absolutely")
    assert rule.settled("Agree? I disagree. And")
