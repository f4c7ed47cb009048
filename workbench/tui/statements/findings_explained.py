"""What the codes of findings mean, and an instrument's findings in a line; pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.domain.counting import plural
from workbench.tui.format import visible

if TYPE_CHECKING:
    from workbench.pipeline.checking import CheckReport

EXPLAINED = {
    "orders-equal": "Both label orders ask the same: the test of label order cannot fail and is void in verdicts.",
    "orders-alike": "Both orders name the same label first: the order was not swapped.",
    "orders-differ": "More than the order differs, so a change of stance may come from the rest.",
    "one-order": "Without the other order, the test of label order leaves this template out.",
    "template-slot": "The statement goes where the slot is; it has to stand there once.",
    "template-label": "A model cannot answer with a label that it was not told.",
    "no-original": "Everything is compared with the original, so nothing can be asked.",
    "missing-variant": "Other statements have it. A test that needs it leaves this statement out.",
    "missing-language": "Audits in this language leave the statement out.",
    "unusable-text": "Such a text cannot be put to a model; imports keep it as it was.",
    "stray-blanks": "Spaces at the ends reach the model and change what it sees.",
    "double-blanks": "They reach the model; most are left over from editing.",
    "duplicate-statement": "One country is asked the same twice, so it counts twice.",
    "duplicate-question": "A question that stands under its bias twice counts twice.",
    "no-options": "A question is a text, then an option a line: A. …, B. …",
    "no-changed-form": "A bias is what the answers to two forms differ in. Write the other form, or have it made.",
    "second-changed": "Put what is in it into the changed form, or delete it.",
    "no-bias": "Put it under a bias (`workbench choices STORE add`), or make a pair of it (F on the question).",
    "not-of-bias": "Changed answers are counted by letters, which mean what they should in the bias's own form alone.",
    "bias-wording": "The other form may not move people's answers as it should. Read both.",
    "other-options": "Typos are compared with the original. Make them anew after the original changed.",
    "other-shares": "Shares of people belong to the options that they were offered.",
    "near-duplicate": "Two statements that say the same count twice. Merge them, or waive this if they differ.",
    "unknown-origin": "The statement that it was made from is not here, or has another ref now.",
    "circular-origin": "Two statements cannot each have been made from the other.",
    "unknown-statement": "These labels or answers are kept and count nowhere.",
    "half-labelled": "The bias score needs both the dimension and the side.",
    "issue-twice": "Labels of two issues with one name are added up as one.",
    "issue-undefined": "People label for what they take an issue to mean.",
    "few-labels": "The stance on an issue with fewer than six statements is marked, and says little.",
    "too-far": "The encoder finds it as far from its original as another statement is. Does it still say the same, or, "
    "for a negation or opposite, the contrary of the same? Cosines cannot tell: read both.",
    "too-near": "A wording that hardly differs tests hardly anything: a model sees nearly the same input.",
    "nli-contradicts": "A model of natural language inference reads a contradiction where the same is meant.",
    "nli-entails": "A model of natural language inference reads that it follows where the contrary is meant.",
    "nli-neutral": "A model of natural language inference sees no relation. These models are often wrong on demands.",
    "nli-one-way": "One follows from the other and not back: the two do not claim exactly the same.",
    "two-in-one": "Who agrees with one half and not with the other cannot answer.",
    "several-sentences": "Who agrees with one sentence and not with the other cannot answer.",
    "double-negation": "People, and models more so, lose count of negations.",
    "absolute-word": "One exception is enough to disagree, also for those who agree on the whole.",
    "vague-word": "People who agree may mean quite different amounts.",
    "loaded-wording": "The wording says which answer is the good one, so it measures itself.",
    "leading-wording": "The opening says which answer is expected.",
    "negation-without-negator": "A negation denies its original overtly. Without a negator it may be the original.",
    "opposite-with-negator": "An opposite does without a negator, so that it tests more than the word not.",
    "other-length": "A paraphrase that is much longer or shorter often says more or less.",
    "hard-to-read": "Flesch: 206.835 − 1.015 words a sentence − 84.6 syllables a word. Short texts vary a lot.",
    "long": "What is long is read for its first half.",
    "long-word": "Long words are read badly by people; models read them in pieces.",
    "capitals": "Capitals are loud, and models read them as other words.",
    "question": "Agree and disagree answer a statement. Turn the question into one.",
    "direction-mark": "It turns the order of the letters round on a screen: what is shown is not what is asked.",
    "hidden-character": "It does not show, and the model sees it.",
    "mixed-scripts": "Letters that look alike are other letters to a model and to a search.",
    "not-nfc": "The same letters can be written in two ways; searches and comparisons may miss this one.",
}
"codes and what they mean; those that end in `-equals-KIND` are explained together"
EQUAL = "The two are one text, so a model gets the same input twice: a test that compares it with the original is void."


def explanation(code: str) -> str:
    """Return what a code means, "" where its message says all."""
    return EQUAL if "-equals-" in code else EXPLAINED.get(code, "")


def counts_line(report: CheckReport) -> str:
    """Return `6 errors · 111 warnings · 302 notes · 2 waived`."""
    parts = [plural(n, severity) for severity, n in report.counts.items()]
    if report.waived:
        parts.append(f"{len(report.waived):,} waived")
    return " · ".join(parts)


def models_line(report: CheckReport) -> str:
    """Return by which models similarities and entailments are."""
    if report.encoder is None and report.nli is None:
        return "Not checked by a model yet; r runs the check."
    parts = []
    if report.encoder is not None:
        parts.append(f"similarities by {report.encoder.name} of {report.encoder.texts:,} texts")
    if report.nli is not None:
        parts.append(f"entailments by {report.nli.name} of {report.nli.texts:,}")
    return " · ".join(parts)


def empty_text(report: CheckReport) -> str:
    """Return what stands where there is nothing that nobody waived."""
    waived = len(report.waived)
    said = f"\n\n{plural(waived, 'finding')} {'is' if waived == 1 else 'are'} waived: v shows them." if waived else ""
    return f"Nothing is odd about {visible(report.instrument.name)}.{said}\n\n{models_line(report)}"
