"""When an answer may end early: as soon as its stance is settled, whatever the model would have said after it.

What is promised: whatever followed, the rules of the answer's template would read the same label. That holds of
`label-words` and, where it can read the template's labels at all, of the published rule (`label-words-coded`), both of
which take the first assertion and stop there. It is a promise about labels alone: the text is cut, so nothing is
promised of its length, of what a person or a classifier makes of it, or of how often a label is taken back later on.

Within a thought nothing is settled: it is no answer, and what follows it is.

Answers on a scale from 1 to 5 are never settled before their end, because a second number makes them unreadable, and
free text has no label.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from workbench.domain.prompts import FREE_TEXT, LETTER, LIKERT, Probe, Template
from workbench.domain.readings import LABEL_WORDS
from workbench.domain.thinking import split
from workbench.errors import UsageError
from workbench.evidence.readings import label_reader
from workbench.readers.label_words import LabelWords

CODED = "label-words-coded"
UNFINISHED = "\ufffd"
"what the last bytes of a character that is not complete yet look like"


@dataclass(frozen=True, slots=True)
class DecidedByLabels:
    """Whether the stance of an answer to a template with these labels is settled, by every rule that reads it."""

    positive: str
    negative: str
    language: str
    words: str = ""
    "the lexicon that the template's instrument brings"

    def __call__(self, text: str) -> bool:
        begun = split(text.rstrip(UNFINISHED)).answer
        return begun is not None and all(
            rule.settled(begun) for rule in _rules(self.positive, self.negative, self.language, self.words)
        )


def decided_by(template: Template) -> DecidedByLabels | None:
    """Return what settles an answer to a template; None where nothing does before its end."""
    if template.scale in (LETTER, LIKERT, FREE_TEXT):
        return None
    return DecidedByLabels(template.positive, template.negative, template.language, template.words)


def decided_for(templates: Iterable[Template], probes: Iterable[Probe]) -> dict[bytes, DecidedByLabels]:
    """Return what settles the answers to each prompt, by its key; prompts that nothing settles are left out."""
    by_name = {(t.name, t.inverted): decided_by(t) for t in templates}
    found: dict[bytes, set[DecidedByLabels | None]] = {}
    for probe in probes:
        found.setdefault(probe.prompt.key, set()).add(by_name[probe.template, probe.inverted])
    return {key: rule for key, rules in found.items() if len(rules) == 1 and (rule := next(iter(rules))) is not None}


@lru_cache(maxsize=256)
def _rules(positive: str, negative: str, language: str, words: str) -> tuple[LabelWords, ...]:
    """Return the rules that can read these labels; the published one reads single words of the letters a-z."""
    ours = label_reader(positive, negative, language, LABEL_WORDS, words)
    try:
        return (label_reader(positive, negative, language, CODED, words), ours)
    except UsageError:
        return (ours,)
