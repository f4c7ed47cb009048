"""Identifies the language of an answer by a vote of words that are characteristic of languages.

Answers to prompts are short, often one label, so their language is identified by label words and the most frequent
words of each language. A word of several languages is split equally among them. An answer counts as being in *another*
language only if that language has clearly more votes; names, numbers and words of no lexicon do not vote.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from workbench.readers.lexicon import GAP, Lexicon, tokenize

LEAST = 0.5
"fewest votes; 1 is a word of one language only"
TIMES = 2.0
"least ratio of votes to those of the language of the prompt"
READ_WORDS = 60
"number of words of an answer that vote"


class Languages:
    """Distinguishes the languages of some lexicons."""

    def __init__(self, lexicons: Iterable[Lexicon]) -> None:
        spoken: dict[str, set[str]] = defaultdict(set)
        known = tuple(lexicons)
        self._known = {words.language for words in known if words.words}
        for words in known:
            for word in _own(words):
                spoken[word].add(words.language)
        self._votes: Mapping[str, Mapping[str, float]] = {
            word: dict.fromkeys(languages, 1 / len(languages)) for word, languages in spoken.items()
        }

    def votes(self, text: str) -> dict[str, float]:
        """Return the votes for each language; a word of several languages is split among them."""
        found: dict[str, float] = defaultdict(float)
        for token in tokenize(text[: READ_WORDS * 20])[: 2 * READ_WORDS]:
            for language, vote in self._votes.get(token.text, {}).items():
                found[language] += vote
        return found

    def other(self, text: str, language: str) -> str:
        """Return the other language that a text is in; empty if it is in this language or in an unknown one."""
        language = language.partition("-")[0]
        if language not in self._known:
            return ""
        found = self.votes(text)
        mine = found.pop(language, 0.0)
        best = max(found, key=lambda one: (found[one], one), default="")
        return best if best and found[best] >= LEAST and found[best] > TIMES * mine else ""


def _own(words: Lexicon) -> Iterable[str]:
    """Return the single words that identify a language."""
    labels = [
        form
        for pair in words.pairs
        for form in (pair.positive, pair.negative, *pair.positive_forms, *pair.negative_forms)
    ]
    for phrase in (*words.words, *labels):
        for spelt in words.spellings(phrase.replace(GAP, " ")):
            yield from (token.text for token in tokenize(spelt) if token.text[:1].isalpha() and len(token.text) > 1)
