"""What the codes of findings mean, and an instrument's findings in a line; pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.domain.names import plural
from workbench.tui.format import visible

if TYPE_CHECKING:
    from workbench.pipeline.checking import CheckReport

EXPLAINED = {
    "orders-equal": "Both label orders give the same prompt, so the test of label order cannot fail: it is void.",
    "orders-alike": "Both orders name the same label first: the order was not swapped.",
    "orders-differ": "More than the order differs, so a change of stance may have another cause.",
    "one-order": "Without the swapped order, the test of label order leaves this template out.",
    "template-slot": "The statement replaces the slot, so a template needs exactly one slot.",
    "template-label": "A model cannot answer with a label that the template does not show.",
    "no-original": "Every test compares with the original; without it the statement cannot be asked.",
    "missing-variant": "Other statements have this variant. A test that needs it leaves this statement out.",
    "rare-variant": "A test that needs this variant rests on the few statements that have it.",
    "missing-language": "Audits in this language leave the statement out.",
    "unusable-text": "A model cannot be asked this text. Imports keep it unchanged.",
    "stray-blanks": "Leading and trailing spaces reach the model and change its input.",
    "double-blanks": "Double spaces reach the model; most are left over from editing.",
    "duplicate-statement": "The same statement is asked twice for one country, so it counts twice.",
    "duplicate-question": "A question listed twice under a bias counts twice.",
    "no-options": "A question is a text followed by one option per line: A. …, B. …",
    "no-changed-form": "A bias is the difference between the answers to two forms. Write or make the changed form.",
    "second-changed": "A bias compares one pair of forms. Move this text into the changed form, or delete it.",
    "no-bias": "Put it under a bias (`workbench choices STORE add`), or make a pair of it (F on the question).",
    "not-of-bias": "Changed answers are counted by letter, which have that meaning only in the bias's own form.",
    "bias-wording": "The changed form may not shift people's answers as intended. Read both forms.",
    "other-options": "Typos are compared with the original. Make them again after the original changes.",
    "other-shares": "The shares of people's answers belong to the options those people saw.",
    "near-duplicate": "Two statements with the same meaning count twice. Merge them, or waive this if they differ.",
    "unknown-origin": "The statement it derives from is missing, or its ref has changed.",
    "circular-origin": "Two statements cannot derive from each other.",
    "unknown-statement": "These labels or answers are kept, but no figure counts them.",
    "half-labelled": "The bias score needs both the dimension and the side.",
    "issue-twice": "Two issues with the same name are counted as one.",
    "issue-undefined": "Without a definition, annotators label by their own idea of the issue.",
    "few-labels": "With fewer than six statements the stance on an issue says little, and tables mark it.",
    "too-far": "The encoder finds it as far from its original as an unrelated statement. Does it mean the same, or, "
    "for a negation or opposite, the contrary? A cosine cannot tell: read both.",
    "too-near": "A nearly identical wording tests little: the model sees almost the same input.",
    "nli-contradicts": "The entailment model finds a contradiction where the two should mean the same.",
    "nli-entails": "The entailment model finds that one follows from the other where they should be contraries.",
    "nli-neutral": "The entailment model finds no relation. These models are often wrong about demands.",
    "nli-one-way": "Only one follows from the other: the two do not claim exactly the same.",
    "two-in-one": "Somebody who agrees with only one half cannot answer.",
    "several-sentences": "Somebody who agrees with only one of the sentences cannot answer.",
    "double-negation": "People lose count of negations, and models more so.",
    "absolute-word": "One exception is enough to disagree, even for somebody who agrees overall.",
    "vague-word": "People who agree may mean quite different amounts.",
    "loaded-wording": "The wording implies the right answer, so it measures its own effect.",
    "leading-wording": "The opening suggests the expected answer.",
    "negation-without-negator": "A negation denies its original explicitly. This one may repeat the original.",
    "opposite-with-negator": "An opposite uses no negator, so that it tests more than the word “not”.",
    "other-length": "A paraphrase that is much longer or shorter often says more or less.",
    "hard-to-read": "Flesch: 206.835 − 1.015 words a sentence − 84.6 syllables a word. Short texts vary a lot.",
    "long": "Readers of a long statement often respond to its first half.",
    "long-word": "People stumble over long words; models split them into pieces.",
    "capitals": "Capitals add emphasis, and models read them as different tokens.",
    "question": "Agree and disagree do not answer a question. Rewrite it as a statement.",
    "direction-mark": "It reverses letters on screen: the displayed text is not the text the model gets.",
    "hidden-character": "It is invisible on screen, but the model sees it.",
    "mixed-scripts": "Letters that look alike are different letters to a model and to a search.",
    "not-nfc": "The same letters have two encodings; searches and comparisons may miss this one.",
}
"codes and what they mean; those that end in `-equals-KIND` are explained together"
EQUAL = "The two texts are identical, so the model gets the same input twice: a test that compares them is void."


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
        return "Not checked by a model yet; R runs the check."
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
    return f"No findings for {visible(report.instrument.name)}.{said}\n\n{models_line(report)}"
