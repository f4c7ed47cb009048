"""Splits a response into words with their positions, and finds phrases that have a meaning.

All functions take time linear in the length of any text, since responses are not under our control.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from enum import Enum
from functools import cached_property, lru_cache
from typing import Any, Generic, NamedTuple, TypeVar

from workbench.domain.keys import content_key
from workbench.errors import UsageError

LEAST = 0.5
"fewest votes, where 1 is a word of one language only"
TIMES = 2.0
"least ratio of votes to those of the language of the prompt"
READ_WORDS = 60
"number of words of an answer that vote"


class Languages:
    """Distinguishes the languages of some lexicons."""

    def __init__(self, lexicons: Iterable[Lexicon]) -> None:
        languages_by_word: dict[str, set[str]] = defaultdict(set)
        lexicons_read = tuple(lexicons)
        self._known = {
            lexicon_read.language for lexicon_read in lexicons_read if lexicon_read.words
        }
        for lexicon in lexicons_read:
            for word in _own(lexicon):
                languages_by_word[word].add(lexicon.language)
        self._votes: Mapping[str, Mapping[str, float]] = {
            word: dict.fromkeys(languages, 1 / len(languages))
            for word, languages in languages_by_word.items()
        }

    def votes(self, text: str) -> dict[str, float]:
        """Return the votes for each language.

        A word of several languages is split among them.
        """
        votes: dict[str, float] = defaultdict(float)
        pattern, text = _searched(text[: READ_WORDS * 20])
        words, word_votes = pattern.findall(text)[: 2 * READ_WORDS], self._votes
        for word in words if pattern is _ASCII_TOKEN else map(_plain, words):
            if word in word_votes:
                for language, share in word_votes[word].items():
                    votes[language] += share
        return votes

    def other(self, text: str, language: str) -> str:
        """Return the other language of a text.

        It is an empty string if the text is in this or an unknown language.
        """
        language = language.partition("-")[0]
        if language not in self._known:
            return ""
        votes = self.votes(text)
        own_votes = votes.pop(language, 0.0)
        best = max(votes, key=lambda candidate: (votes[candidate], candidate), default="")
        return best if best and votes[best] >= LEAST and votes[best] > TIMES * own_votes else ""


def _own(words: Lexicon) -> Iterable[str]:
    """Return the single words that identify a language."""
    labels = [
        form
        for pair in words.pairs
        for form in (pair.positive, pair.negative, *pair.positive_forms, *pair.negative_forms)
    ]
    for phrase in (*words.words, *labels):
        for spelling in words.spellings(phrase.replace(GAP, " ")):
            yield from (
                token.text
                for token in tokenize(spelling)
                if token.text[:1].isalpha() and len(token.text) > 1
            )


T = TypeVar("T")

# Decomposed accents count as letters; the underscores of Markdown do not. Only contracted endings
# stay with their word, so that 'harmful'or'beneficial' is three words.
_LETTER = r"(?:[^\W_]|[\u0300-\u036f])"
_APOSTROPHES = "'\u2019\u2018\u02bc\uff07`\u00b4"
_TOKEN = re.compile(
    rf"{_LETTER}+(?:[{_APOSTROPHES}](?:ll|re|ve|{_LETTER})(?!{_LETTER}))?|[^\w\s]|[\n\r\u0085\u2028\u2029]",
    re.IGNORECASE,
)
_ASCII_TOKEN = re.compile(r"[a-z0-9]+(?:'(?:ll|re|ve|[a-z0-9])(?![a-z0-9]))?|[^\w\s]|[\n\r]")
"finds the same in lower-case ASCII, twice as fast"
_ON = re.compile(rf"{_LETTER}|[{_APOSTROPHES}](?:ll|re|ve|{_LETTER})(?!{_LETTER})", re.IGNORECASE)
_TERMINAL_CODE = re.compile(r"\x1b\[[0-9;?]{0,32}[A-Za-z]")
_STRAIGHT = str.maketrans(dict.fromkeys(_APOSTROPHES, "'"))


class Token(NamedTuple):
    """A word or one character of punctuation."""

    text: str
    "case-folded, with normalised compatibility characters and apostrophes"
    start: int
    stop: int
    "span of the token in `response[start:stop]`"
    word: int
    "number of words before it"


def continues_word(text: str) -> bool:
    """Return whether a text that follows a word continues the word.

    `ment` after `agree` does, and ` with`, `.` and nothing do not.

    Examples
    --------
    >>> [continues_word(text) for text in ("ment", "'s", "", " with", ".", "'")]
    [True, True, False, False, False, False]
    """
    return _ON.match(text) is not None


def tokenize(text: str) -> list[Token]:
    """Return the words and punctuation marks of a text.

    Terminal colour codes count as spaces.
    """
    pattern, text = _searched(text)
    tokens, n_words = [], 0
    for match in pattern.finditer(text):
        word = match[0] if pattern is _ASCII_TOKEN else _plain(match[0])
        token = Token(word, *match.span(), n_words)
        tokens.append(token)
        n_words += token.text[:1].isalnum()
    return tokens


def _searched(text: str) -> tuple[re.Pattern[str], str]:
    """Return the pattern that finds words, and the text without terminal colour codes.

    In ASCII texts the words are those of `_plain`.
    """
    if "\x1b" in text:
        text = _TERMINAL_CODE.sub(lambda code: " " * len(code[0]), text)
    return (_ASCII_TOKEN, text.replace("`", "'").lower()) if text.isascii() else (_TOKEN, text)


@lru_cache(maxsize=50_000)
def _plain(word: str) -> str:
    return unicodedata.normalize("NFKC", word.translate(_STRAIGHT)).casefold()


class Phrasebook(Generic[T]):
    """Looks up the longest phrase that begins at a token."""

    def __init__(self, entries: Iterable[tuple[str, T]]) -> None:
        """Index phrases with their meanings.

        The first meaning of a phrase counts.
        """
        meanings: dict[tuple[str, ...], T] = {}
        for phrase, meaning in entries:
            words = tuple(token.text for token in tokenize(phrase))
            if words:
                meanings.setdefault(words, meaning)
        self._by_first: dict[str, list[tuple[tuple[str, ...], T]]] = {}
        for words in sorted(meanings, key=len, reverse=True):
            self._by_first.setdefault(words[0], []).append((words, meanings[words]))

    def __bool__(self) -> bool:
        return bool(self._by_first)

    def __contains__(self, word: str) -> bool:
        return word in self._by_first

    def mentions(self, token: str) -> bool:
        """Return whether a phrase contains this word or mark."""
        return any(token in words for entries in self._by_first.values() for words, _ in entries)

    def at(self, tokens: Sequence[Token], place: int) -> tuple[T, int] | None:
        """Return the meaning and the length of the phrase that begins at `tokens[place]`.

        The length is a number of tokens.
        """
        for words, meaning in self._by_first.get(tokens[place].text, ()):
            if (
                len(words) == 1
                or tuple(token.text for token in tokens[place : place + len(words)]) == words
            ):
                return meaning, len(words)
        return None


DEFAULT_WINDOW = 5
GAP = "…"
"stands for any words in a form"
PLAIN_LETTERS = 4
"""fewest letters of a phrase that is read without accents

Shorter ones may become another word: French `où`, Italian `sì`.
"""
_CONTRAST = (
    *("clauses", "contrary", "narrated", "yes_no", "concessive", "comparison"),
    *("alternatives", "joiners", "open", "partial", "than", "would", "conditions"),
    *("firm_conditions", "provisional", "practical"),
)


class WordRole(Enum):
    """The role of a word in an answer."""

    POSITIVE = "positive label"
    NEGATIVE = "negative label"
    EXCEPTION = "turns nothing"
    NEGATOR = "negation"
    LESS = "less"
    NEITHER = "neither"
    REJECTED = "the label after it is the rejected one"
    COMPARISON = "comparison"
    THAN = "sets two labels apart"
    CLAUSE = "new clause"
    CONTRARY = "new clause that takes something back"
    CONCESSIVE = "concession"
    NARRATED = "somebody else's view, or one of another time"
    ALTERNATIVE = "alternative"
    JOINER = "joiner"
    OPEN = "open question"
    PARTIAL = "partial"
    WOULD = "says what would be"
    CONDITION = "condition"
    PROVISIONAL = "says what holds in principle"
    PRACTICAL = "says what holds in practice"
    ASIDE = "holds a label's word, names no label"
    CARRIER = "carries a negation on"
    COMMA = "comma"


@dataclass(frozen=True, slots=True)
class LabelPair:
    """Two opposite answers and their forms."""

    positive: str
    negative: str
    positive_forms: tuple[str, ...] = ()
    negative_forms: tuple[str, ...] = ()
    asides: tuple[str, ...] = ()
    """phrases with a label's word that do not name the label

    An example is `that's right` for the labels left and right.
    """
    verbs: tuple[str, ...] = ()
    "forms that a negation may follow: `ich befürworte das nicht`"

    @property
    def swapped(self) -> LabelPair:
        return LabelPair(
            self.negative,
            self.positive,
            self.negative_forms,
            self.positive_forms,
            self.asides,
            self.verbs,
        )


@dataclass(frozen=True, slots=True)
class Quality:
    """The quality of the rule on labelled answers in a language, as `make lexicons` computes it."""

    texts: int
    stance_precision: float
    "share of texts read as a stance that have this stance"
    stance_recall: float
    "share of texts with a stance that are read as this stance"
    refusal_precision: float
    refusal_recall: float


@dataclass(frozen=True)
class Lexicon:
    """The words of one language that determine how an answer is read."""

    language: str
    pairs: tuple[LabelPair, ...]
    negators: tuple[str, ...]
    window: int = DEFAULT_WINDOW
    less: tuple[str, ...] = ()
    neither: tuple[str, ...] = ()
    carriers: tuple[str, ...] = ()
    exceptions: tuple[str, ...] = ()
    clauses: tuple[str, ...] = ()
    contrary: tuple[str, ...] = ()
    "the clauses that take something back: `but`, not `because`"
    narrated: tuple[str, ...] = ()
    "words that make the label after them somebody else's, or of another time: `critics`, `used to`"
    yes_no: tuple[str, ...] = ()
    concessive: tuple[str, ...] = ()
    comparison: tuple[str, ...] = ()
    alternatives: tuple[str, ...] = ()
    joiners: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    partial: tuple[str, ...] = ()
    refusals: tuple[str, ...] = ()
    than: tuple[str, ...] = ()
    would: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    """words before or after a label by which it is not asserted, next to one of `would`

    Examples are `I would agree if …` and `were it cheaper, I would agree`. Conditions that only
    introduce an answer, such as `if I had to choose`, are exceptions.
    """
    firm_conditions: tuple[str, ...] = ()
    """those by which a label is not asserted whatever else is there

    An example is `assuming it is funded, I agree`.
    """
    provisional: tuple[str, ...] = ()
    "words by a label that gives way to one in practice: `in principle I agree`"
    practical: tuple[str, ...] = ()
    "words in the sentence of a label that overrules one in principle: `in practice I disagree`"
    concord: bool = False
    "whether several negations before a label count as one"
    plain: bool = False
    "whether phrases are also found without their accents"
    letters: tuple[tuple[str, str], ...] = ()
    "(letter, replacement): ä and ae"
    words: tuple[str, ...] = ()
    "frequent words, which identify an answer in this language"
    reviewed: bool = True
    "whether a native speaker has reviewed it"
    quality: tuple[tuple[str, Quality], ...] = ()
    "part of the labelled texts (tuned on, or held back) -> how well they are read"

    @classmethod
    def parse(cls, mapping: Mapping[str, Any]) -> Lexicon:
        """Convert the mapping that `tomllib` makes of a lexicon.

        Raises UsageError that names missing or invalid entries.
        """
        negation, contrast = _table(mapping, "negation"), _table(mapping, "contrast")
        spelling, language = _table(mapping, "spelling"), _table(mapping, "about")
        pairs = mapping.get("pair", [])
        if not isinstance(pairs, list) or not pairs:
            raise UsageError("the lexicon has no [[pair]]; give at least one pair of answer labels")
        if "before" not in negation:
            raise UsageError(
                "the lexicon has no list `before` in [negation]; list the words that negate a label"
            )
        window = negation.get("window", DEFAULT_WINDOW)
        if not isinstance(window, int) or window < 0:
            raise UsageError(
                f"window in [negation] of the lexicon is {window!r}; give a number of words, 0 "
                "or more"
            )
        return cls(
            language=str(mapping.get("language", "en")),
            pairs=tuple(_pair(pair) for pair in pairs),
            negators=_words(negation, "before"),
            window=window,
            concord=bool(negation.get("concord", False)),
            refusals=_words(_table(mapping, "refusal"), "phrases"),
            plain=bool(spelling.get("plain", False)),
            letters=tuple(
                (letter, str(replacement))
                for letter, replacement in spelling.items()
                if letter != "plain"
            ),
            words=_words(language, "words"),
            reviewed=bool(language.get("reviewed", True)),
            quality=tuple(
                (part, Quality(*figures)) for part, figures in _table(mapping, "quality").items()
            ),
            **{
                name: _words(negation, name)
                for name in ("less", "neither", "carriers", "exceptions")
            },
            **{name: _words(contrast, name) for name in _CONTRAST},
        )

    @property
    def stance(self) -> LabelPair:
        """The pair used to read free text: agreement and disagreement."""
        return self.pairs[0]

    def knows(self, positive: str, negative: str) -> bool:
        """Return whether a pair has these labels, in either order."""
        return self.pair(positive, negative) in {
            candidate for pair in self.pairs for candidate in (pair, pair.swapped)
        }

    def pair(self, positive: str, negative: str) -> LabelPair:
        """Return the pair of these labels in either order.

        Unlisted labels have no other forms.
        """
        labels = (positive.casefold(), negative.casefold())
        for pair in self.pairs:
            for candidate in (pair, pair.swapped):
                if (candidate.positive.casefold(), candidate.negative.casefold()) == labels:
                    return candidate
        return LabelPair(positive, negative)

    def roles(self, pair: LabelPair) -> Iterator[tuple[str, WordRole]]:
        """Yield every phrase with its role in an answer to this pair.

        The first role counts.
        """
        yield from ((form, WordRole.POSITIVE) for form in (pair.positive, *pair.positive_forms))
        yield from ((form, WordRole.NEGATIVE) for form in (pair.negative, *pair.negative_forms))
        yield from ((phrase, WordRole.ASIDE) for phrase in pair.asides)
        yield from (
            (phrase, WordRole.COMPARISON if " " not in phrase else WordRole.REJECTED)
            for phrase in self.comparison
        )
        lists = {
            WordRole.EXCEPTION: self.exceptions,
            WordRole.NEITHER: self.neither,
            WordRole.LESS: self.less,
            WordRole.NEGATOR: self.negators,
            WordRole.NARRATED: self.narrated,
            WordRole.CONTRARY: self.contrary,
            WordRole.CLAUSE: self.clauses,
            WordRole.CONCESSIVE: self.concessive,
            WordRole.THAN: self.than,
            WordRole.ALTERNATIVE: self.alternatives,
            WordRole.JOINER: self.joiners,
            WordRole.OPEN: self.open,
            WordRole.PARTIAL: self.partial,
            WordRole.CARRIER: self.carriers,
            WordRole.WOULD: self.would,
            WordRole.CONDITION: (*self.conditions, *self.firm_conditions),
            WordRole.PROVISIONAL: self.provisional,
            WordRole.PRACTICAL: self.practical,
        }
        for role, phrases in lists.items():
            yield from ((phrase, role) for phrase in phrases)

    def spellings(self, phrase: str) -> Iterator[str]:
        """Yield a phrase as written, without its accents, and with replaced letters."""
        yield phrase
        if self.plain and sum(map(str.isalpha, phrase)) >= PLAIN_LETTERS:
            bare = without_accents(phrase)
            respelt = phrase
            for letter, replacement in self.letters:
                respelt = respelt.replace(letter, replacement)
            yield from (
                spelling for spelling in dict.fromkeys((bare, respelt)) if spelling != phrase
            )

    @cached_property
    def version(self) -> str:
        """A hash of everything in the lexicon that affects how a text is read.

        It has 12 hexadecimal digits.
        """
        content = {
            name: value
            for name, value in asdict(self).items()
            if name not in _ABOUT and (value or name in _FIRST)
        }
        content["pairs"] = [
            {name: entry for name, entry in pair.items() if entry or name != "verbs"}
            for pair in content["pairs"]
        ]
        return content_key(content).hex()[:12]


_ABOUT = ("words", "reviewed", "quality")
"fields that affect no reading"
_LATER = (
    "than",
    "would",
    "conditions",
    "firm_conditions",
    "provisional",
    "practical",
    "concord",
    "plain",
    "letters",
)
_FIRST = tuple(field_.name for field_ in fields(Lexicon) if field_.name not in (*_LATER, *_ABOUT))
"""fields of the first format

A lexicon without later fields keeps its version, and so its readings.
"""


def without_accents(text: str) -> str:
    """Return a text without accents.

    Examples
    --------
    >>> without_accents("désaccord, szkodliwy, łatwy, egyetértek")
    'desaccord, szkodliwy, latwy, egyetertek'
    """
    parts = unicodedata.normalize("NFD", text.replace("ł", "l").replace("Ł", "L"))
    return "".join(part for part in parts if not unicodedata.combining(part))


def _table(mapping: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    table = mapping.get(name, {})
    if not isinstance(table, Mapping):
        raise UsageError(f"{name} in the lexicon is {table!r}; make it a table [{name}]")
    return table


def _words(table: Mapping[str, Any], name: str) -> tuple[str, ...]:
    words = table.get(name, [])
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise UsageError(f"{name} in the lexicon is {words!r}; give a list of words in quotes")
    return tuple(words)


def _pair(table: Any) -> LabelPair:
    positive, negative = (
        table.get(side, "") if isinstance(table, Mapping) else ""
        for side in ("positive", "negative")
    )
    if not all(isinstance(label, str) and label.strip() for label in (positive, negative)):
        raise UsageError(
            f"a [[pair]] of the lexicon reads {table!r}; give it the labels `positive` and "
            "`negative`"
        )
    forms = (
        _words(table, name) for name in ("positive_forms", "negative_forms", "asides", "verbs")
    )
    return LabelPair(positive, negative, *forms)
