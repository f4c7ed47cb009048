"""The words that a rule knows: labels in all their forms, and the words that reverse them.

A lexicon is data, one for each language. As a TOML file:

    language = "en"

    [[pair]]
    positive = "favorable"
    negative = "detrimental"
    positive_forms = ["favourable", "favorably"]
    negative_forms = ["detrimentally", "unfavorable"]
    asides = ["favorable wind"]          # phrases that contain a label's word but do not name the label
    verbs = ["befürworte"]               # forms that a negation may follow: `ich befürworte das nicht`

    [negation]
    window = 5                           # most words between `not` and the label it reverses
    before = ["not", "n't", "cannot"]    # n't: every word with this ending
    less = ["less", "unlikely"]          # reverses a label as well, but does not refuse to choose: `less harmful`
    neither = ["neither"]
    carriers = ["think", "believe"]      # `do not think that …`: reaches over the whole clause
    exceptions = ["not only"]            # reverses nothing
    concord = true                       # several negations count as one: `no estoy para nada de acuerdo`

    [contrast]
    clauses = ["but", "however"]         # ends the scope of a negation
    concessive = ["while", "although"]   # the same; at the start of a sentence, the clause is not an assertion
    comparison = ["than", "rather than"] # `harmful rather than beneficial`: the first counts
    than = ["als"]                       # the same, but reverses nothing: `eher nützlich als schädlich`, `als nützlich`
    alternatives = ["or", "nor", "/"]    # `harmful or beneficial`: names both, chooses neither
    joiners = ["and"]                    # the same, unless the first is negated
    open = ["whether"]                   # `whether it is harmful` asserts nothing
    partial = ["partly"]                 # `I partly agree but …`

    [refusal]
    phrases = ["as an ai"]

    [spelling]
    plain = true                         # phrases of four or more letters are also found without their accents
    "ä" = "ae"                           # and with this instead of the letter

    [about]
    reviewed = false                     # by a native speaker
    words = ["the", "that"]              # frequent words, which identify an answer in this language

    [quality]                            # how well the rule reads labelled answers, see `Quality`; generated
    tuned = [150, 0.99, 0.98, 0.97, 0.96]

Every list except `before` is optional; the labels themselves are always among their forms. The first pair is that of
agreement and disagreement, which is used to read free text. In a form, `…` stands for any words: `stimme … zu` is
found in `ich stimme dem nicht zu`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from enum import Enum
from functools import cached_property
from typing import Any

from workbench.domain.keys import content_key
from workbench.errors import UsageError

DEFAULT_WINDOW = 5
GAP = "…"
"in a form: stands for any words"
PLAIN_LETTERS = 4
"shorter phrases may become another word without their accents: French `où`, Italian `sì`"
_CONTRAST = ("clauses", "concessive", "comparison", "alternatives", "joiners", "open", "partial", "than")


class Role(Enum):
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
    CONCESSIVE = "concession"
    ALTERNATIVE = "alternative"
    JOINER = "joiner"
    OPEN = "open question"
    PARTIAL = "partial"
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
    "phrases with a label's word that do not name the label: `that's right` for the labels left and right"
    verbs: tuple[str, ...] = ()
    "forms that a negation may follow: `ich befürworte das nicht`"

    @property
    def swapped(self) -> LabelPair:
        return LabelPair(
            self.negative, self.positive, self.negative_forms, self.positive_forms, self.asides, self.verbs
        )


@dataclass(frozen=True, slots=True)
class Quality:
    """How well the rule reads labelled answers in a language; computed by `make lexicons`."""

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
    concessive: tuple[str, ...] = ()
    comparison: tuple[str, ...] = ()
    alternatives: tuple[str, ...] = ()
    joiners: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    partial: tuple[str, ...] = ()
    refusals: tuple[str, ...] = ()
    than: tuple[str, ...] = ()
    concord: bool = False
    "whether several negations before a label count as one"
    plain: bool = False
    "whether phrases are also found without their accents"
    letters: tuple[tuple[str, str], ...] = ()
    "(letter, replacement): ä and ae"
    words: tuple[str, ...] = ()
    "frequent words, which identify an answer in this language"
    reviewed: bool = True
    "by a native speaker"
    quality: tuple[tuple[str, Quality], ...] = ()
    "part of the labelled texts (tuned on, or held back) -> how well they are read"

    @classmethod
    def parse(cls, mapping: Mapping[str, Any]) -> Lexicon:
        """Convert the mapping that `tomllib` makes of a lexicon. Raises UsageError that names missing or invalid
        entries.
        """
        negation, contrast = _table(mapping, "negation"), _table(mapping, "contrast")
        spelling, language = _table(mapping, "spelling"), _table(mapping, "about")
        pairs = mapping.get("pair", [])
        if not isinstance(pairs, list) or not pairs:
            raise UsageError("the lexicon has no [[pair]]; give at least one pair of answer labels")
        if "before" not in negation:
            raise UsageError("the lexicon has no list `before` in [negation]; list the words that negate a label")
        window = negation.get("window", DEFAULT_WINDOW)
        if not isinstance(window, int) or window < 0:
            raise UsageError(f"window in [negation] of the lexicon is {window!r}; give a number of words, 0 or more")
        return cls(
            language=str(mapping.get("language", "en")),
            pairs=tuple(_pair(pair) for pair in pairs),
            negators=_words(negation, "before"),
            window=window,
            concord=bool(negation.get("concord", False)),
            refusals=_words(_table(mapping, "refusal"), "phrases"),
            plain=bool(spelling.get("plain", False)),
            letters=tuple((letter, str(other)) for letter, other in spelling.items() if letter != "plain"),
            words=_words(language, "words"),
            reviewed=bool(language.get("reviewed", True)),
            quality=tuple((part, Quality(*of)) for part, of in _table(mapping, "quality").items()),
            **{name: _words(negation, name) for name in ("less", "neither", "carriers", "exceptions")},
            **{name: _words(contrast, name) for name in _CONTRAST},
        )

    @property
    def stance(self) -> LabelPair:
        """The pair used to read free text: agreement and disagreement."""
        return self.pairs[0]

    def knows(self, positive: str, negative: str) -> bool:
        """Return whether a pair has these labels, in either order."""
        return self.pair(positive, negative) in {one for pair in self.pairs for one in (pair, pair.swapped)}

    def pair(self, positive: str, negative: str) -> LabelPair:
        """Return the pair with these labels, in either order; unlisted labels have themselves as their only forms."""
        wanted = (positive.casefold(), negative.casefold())
        for pair in self.pairs:
            for candidate in (pair, pair.swapped):
                if (candidate.positive.casefold(), candidate.negative.casefold()) == wanted:
                    return candidate
        return LabelPair(positive, negative)

    def roles(self, pair: LabelPair) -> Iterator[tuple[str, Role]]:
        """Yield every phrase with its role in an answer to this pair; earlier ones take precedence."""
        yield from ((form, Role.POSITIVE) for form in (pair.positive, *pair.positive_forms))
        yield from ((form, Role.NEGATIVE) for form in (pair.negative, *pair.negative_forms))
        yield from ((phrase, Role.ASIDE) for phrase in pair.asides)
        yield from ((phrase, Role.COMPARISON if " " not in phrase else Role.REJECTED) for phrase in self.comparison)
        lists = {
            Role.EXCEPTION: self.exceptions,
            Role.NEITHER: self.neither,
            Role.LESS: self.less,
            Role.NEGATOR: self.negators,
            Role.CLAUSE: self.clauses,
            Role.CONCESSIVE: self.concessive,
            Role.THAN: self.than,
            Role.ALTERNATIVE: self.alternatives,
            Role.JOINER: self.joiners,
            Role.OPEN: self.open,
            Role.PARTIAL: self.partial,
            Role.CARRIER: self.carriers,
        }
        for role, phrases in lists.items():
            yield from ((phrase, role) for phrase in phrases)

    def spellings(self, phrase: str) -> Iterator[str]:
        """Yield a phrase as written, without its accents, and with replaced letters."""
        yield phrase
        if self.plain and sum(map(str.isalpha, phrase)) >= PLAIN_LETTERS:
            bare = without_accents(phrase)
            other = phrase
            for letter, instead in self.letters:
                other = other.replace(letter, instead)
            yield from (one for one in dict.fromkeys((bare, other)) if one != phrase)

    @cached_property
    def version(self) -> str:
        """A hash of everything in the lexicon that affects how a text is read, 12 hexadecimal digits."""
        held = {name: value for name, value in asdict(self).items() if name not in _ABOUT and (value or name in _FIRST)}
        held["pairs"] = [{name: v for name, v in pair.items() if v or name != "verbs"} for pair in held["pairs"]]
        return content_key(held).hex()[:12]


_ABOUT = ("words", "reviewed", "quality")
"fields that affect no reading"
_FIRST = tuple(one.name for one in fields(Lexicon) if one.name not in ("than", "concord", "plain", "letters", *_ABOUT))
"fields of the first format: a lexicon without later fields keeps its version, and so its readings"


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
        table.get(side, "") if isinstance(table, Mapping) else "" for side in ("positive", "negative")
    )
    if not all(isinstance(label, str) and label.strip() for label in (positive, negative)):
        raise UsageError(f"a [[pair]] of the lexicon reads {table!r}; give it the labels `positive` and `negative`")
    forms = (_words(table, name) for name in ("positive_forms", "negative_forms", "asides", "verbs"))
    return LabelPair(positive, negative, *forms)
