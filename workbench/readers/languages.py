"""In which language an answer is: a vote of the words that languages have of their own.

Answers to prompts are short, often one label, so what tells their language is which language's label words and most
frequent words they have. A word that several languages have counts for each of them by its share. An answer is said to
be in *another* language only where that one has clearly more; names, numbers and words that no lexicon knows say
nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from workbench.readers.lexicon import GAP, Lexicon
from workbench.readers.tokens import tokenize

LEAST = 0.5
"of a word that one language alone has"
TIMES = 2.0
"as much as the language of the prompt"
READ_WORDS = 60
"words of an answer that vote"


class Languages:
    """Tells the languages of some lexicons from each other."""

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
        """Return how many words speak for each language; a word of several is shared among them."""
        found: dict[str, float] = defaultdict(float)
        for token in tokenize(text[: READ_WORDS * 20])[: 2 * READ_WORDS]:
            for language, vote in self._votes.get(token.text, {}).items():
                found[language] += vote
        return found

    def other(self, text: str, language: str) -> str:
        """Return in which other language than this one a text is; empty where it is in none, or nobody knows."""
        language = language.partition("-")[0]
        if language not in self._known:
            return ""
        found = self.votes(text)
        mine = found.pop(language, 0.0)
        best = max(found, key=lambda one: (found[one], one), default="")
        return best if best and found[best] >= LEAST and found[best] > TIMES * mine else ""


def _own(words: Lexicon) -> Iterable[str]:
    """Return the single words by which a language is told."""
    labels = [
        form
        for pair in words.pairs
        for form in (pair.positive, pair.negative, *pair.positive_forms, *pair.negative_forms)
    ]
    for phrase in (*words.words, *labels):
        for spelt in words.spellings(phrase.replace(GAP, " ")):
            yield from (token.text for token in tokenize(spelt) if token.text[:1].isalpha() and len(token.text) > 1)
