"""An answer is ended early only where nothing that may follow changes its label, under every rule
that reads it.
"""

from __future__ import annotations

import pickle
from typing import Final

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.conftest import template
from workbench import data
from workbench.domain.prompts import FREE_TEXT, LIKERT, Probe, Template
from workbench.evidence.readings import label_reader
from workbench.pipeline.design_checks import DecidedByLabels, decided_by, decided_for
from workbench.readers.label_words import ECHOES, LabelWords
from workbench.readers.lexicon import Lexicon

PAIRS: Final = [
    ("agree", "disagree"),
    ("beneficial", "harmful"),
    ("favorable", "detrimental"),
    ("detrimental", "favorable"),
    ("support", "oppose"),
    ("left", "right"),
]
LEXICON: Final = data.lexicon("en")
PHRASES: Final = sorted(
    {phrase for pair in LEXICON.pairs for phrase, _ in LEXICON.roles(pair)}
    | set(LEXICON.refusals)
    | set(ECHOES)
)
MARKS: Final = [
    " ",
    ".",
    "?",
    "!",
    ",",
    ";",
    ":",
    "\n",
    "'",
    '"',
    "-",
    "\u2014",
    "t",
    "s",
    "ment",
    "\u0301",
    "\x1b",
    "\x1b[0;",
    "1m",
    "\x1b[31m",
    "/",
    "(",
    ")",
    "I ",
    "it is ",
    "The statement ",
    "e",
    "of ",
    "\ufffd",
    "\r",
    "İ",
    "n't ",
    "…",
]

piece = st.one_of(
    st.sampled_from(PHRASES), st.sampled_from(MARKS), st.sampled_from([w for p in PAIRS for w in p])
)
answer = st.lists(st.tuples(piece, st.sampled_from(["", " ", " "])), max_size=14).map(
    lambda pieces: "".join(word + blank for word, blank in pieces)
)
capitals = st.sampled_from([str, str.capitalize, str.upper])


def labels(pair: tuple[str, str], text: str) -> list[str | None]:
    """Return what each rule that can read these labels makes of an answer."""
    return [
        label_reader(*pair, "en", rule).read(text).label
        for rule in ("label-words", "label-words-coded")
    ]


@pytest.mark.e2e
@settings(max_examples=300)
@given(st.sampled_from(PAIRS), answer, answer)
@example(("agree", "disagree"), "I agree.", "Or do I disagree?")
@example(("beneficial", "harmful"), '"beneficial"\n', 'or "harmful"')
@example(("beneficial", "harmful"), 'It is "beneficial"\nor', ' "harmful". Disagree.')
@example(("support", "oppose"), "support or!", "oppose")
@example(("agree", "disagree"), "I agree \x1b[0;", "1m? disagree.")
def test_what_follows_a_settled_answer_changes_no_label(
    pair: tuple[str, str], text: str, rest: str
) -> None:
    if DecidedByLabels(*pair, "en")(text):
        before = labels(pair, text)
        assert None not in before
        assert labels(pair, text + rest) == before


@pytest.mark.e2e
@settings(max_examples=150)
@given(st.sampled_from(PAIRS), answer, answer, st.sampled_from(["ours", "coded"]))
@example(("agree", "disagree"), "I agree", "ment, no", "coded")
def test_each_rule_alone_keeps_what_it_calls_settled(
    pair: tuple[str, str], text: str, rest: str, rule: str
) -> None:
    reader = LabelWords(*pair, LEXICON, rule=rule)
    if reader.settled(text):
        assert reader.read(text).label is not None
        assert reader.read(text + rest).label == reader.read(text).label


@pytest.mark.parametrize(
    "text",
    [
        "Agree.",
        "Disagree\n",
        '"Agree".',
        "I agree with the statement.",
        "I do not agree with it; it is",
        "The label is: disagree, because",
        "It depends. I disagree!",
    ],
)
def test_a_finished_assertion_settles_an_answer(text: str) -> None:
    cut = {"The label is: disagree, because"}
    assert DecidedByLabels("agree", "disagree", "en")(text) is (text not in cut)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Agree",
        "I agree with the statement",
        "It depends on many things.",
        "Do I agree?",
        "Agree or disagree.",
        "As an AI language model, I have no opinion.",
        "Agreed \x1b[0;",
    ],
)
def test_without_an_end_or_an_assertion_nothing_is_settled(text: str) -> None:
    assert not DecidedByLabels("agree", "disagree", "en")(text)


def test_the_label_of_an_answer_is_settled_only_where_the_published_rule_agrees_that_it_is() -> (
    None
):
    """It cannot read `unfavorable`, so a label that follows would be its reading."""
    pair = ("favorable", "detrimental")
    assert label_reader(*pair, "en", "label-words").settled("Unfavorable.")
    assert not DecidedByLabels(*pair, "en")("Unfavorable.")
    assert DecidedByLabels(*pair, "en")("Detrimental.")


def test_labels_that_the_published_rule_cannot_read_are_settled_by_ours_alone() -> None:
    rule = DecidedByLabels("strongly agree", "strongly disagree", "en")
    assert rule("Strongly agree.")
    assert not rule("Strongly agree")


def test_a_lexicon_whose_phrases_span_sentences_settles_nothing() -> None:
    spanning = Lexicon.parse(
        {
            "language": "xx",
            "pair": [{"positive": "agree", "negative": "disagree", "asides": ["agree. not"]}],
            "negation": {"before": ["not"]},
        }
    )
    reader = LabelWords("agree", "disagree", spanning)
    assert reader.read("agree.").label == "agree"
    assert reader.read("agree. not").label is None
    assert not reader.settled("agree.")


def test_a_character_that_is_not_complete_yet_does_not_settle_an_answer() -> None:
    rule = DecidedByLabels("agree", "disagree", "en")
    assert rule("Agree.\ufffd")
    assert not rule("agree\ufffd")


def test_it_travels_to_other_processes_as_a_value() -> None:
    rule = DecidedByLabels("agree", "disagree", "en")
    assert pickle.loads(pickle.dumps(rule)) == rule
    assert len(pickle.dumps(rule)) < 200


def test_scales_and_free_text_are_never_settled_early() -> None:
    plain = template()
    scales = [
        Template("a", False, "{statement}", "agree", "disagree", scale=scale)
        for scale in (LIKERT, FREE_TEXT)
    ]
    assert [decided_by(one) for one in scales] == [None, None]
    assert decided_by(plain) == DecidedByLabels("beneficial", "harmful", "en")


def test_prompts_of_templates_that_disagree_are_answered_to_their_end() -> None:
    plain = template()
    other = Template("other", False, plain.user, "harmful", "beneficial", system=plain.system)
    prompt = plain.render("S.")
    probes = [Probe("a", "original", t.name, t.inverted, prompt) for t in (plain, other)]
    assert decided_for([plain, other], probes[:1]) == {
        prompt.key: DecidedByLabels("beneficial", "harmful", "en")
    }
    assert decided_for([plain, other], probes) == {}
