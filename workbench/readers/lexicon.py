"""The words that a rule knows: labels in all their forms, and what turns them round.

A lexicon is data, one for each language. As a TOML file:

    language = "en"

    [[pair]]
    positive = "favorable"
    negative = "detrimental"
    positive_forms = ["favourable", "favorably"]
    negative_forms = ["detrimentally", "unfavorable"]
    asides = ["favorable wind"]          # phrases that hold a label's word and do not name the label

    [negation]
    window = 5                           # words that may stand between `not` and the label it turns
    before = ["not", "n't", "cannot"]    # n't: every word that ends so
    less = ["less", "unlikely"]          # turns a label as well, but is no refusal to choose: `less harmful`
    neither = ["neither"]
    carriers = ["think", "believe"]      # `do not think that …`: reaches over the whole clause
    exceptions = ["not only"]            # turns nothing

    [contrast]
    clauses = ["but", "however"]         # what is negated ends here
    concessive = ["while", "although"]   # the same; what they begin a sentence with is not its assertion
    comparison = ["than", "rather than"] # `harmful rather than beneficial`: the first counts
    alternatives = ["or", "nor", "/"]    # `harmful or beneficial`: names both, chooses neither
    joiners = ["and"]                    # the same, unless the first is negated
    open = ["whether"]                   # `whether it is harmful` asserts nothing
    partial = ["partly"]                 # `I partly agree but …`

    [refusal]
    phrases = ["as an ai"]

Every list but `before` may be left out; the labels themselves are always among their forms.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from enum import Enum
from functools import cached_property
from typing import Any

from workbench.domain.keys import content_key
from workbench.errors import UsageError

DEFAULT_WINDOW = 5
_CONTRAST = ("clauses", "concessive", "comparison", "alternatives", "joiners", "open", "partial")


class Role(Enum):
    """What a word does in an answer."""

    POSITIVE = "positive label"
    NEGATIVE = "negative label"
    EXCEPTION = "turns nothing"
    NEGATOR = "negation"
    LESS = "less"
    NEITHER = "neither"
    REJECTED = "the label after it is the rejected one"
    COMPARISON = "comparison"
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
    """Two opposite answers and the forms in which they appear."""

    positive: str
    negative: str
    positive_forms: tuple[str, ...] = ()
    negative_forms: tuple[str, ...] = ()
    asides: tuple[str, ...] = ()
    "phrases with a label's word that do not name the label: `that's right` where the labels are left and right"

    @property
    def swapped(self) -> LabelPair:
        return LabelPair(self.negative, self.positive, self.negative_forms, self.positive_forms, self.asides)


@dataclass(frozen=True)
class Lexicon:
    """The words of one language that decide how an answer is read."""

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

    @classmethod
    def parse(cls, mapping: Mapping[str, Any]) -> Lexicon:
        """Read the mapping that `tomllib` makes of a lexicon. Raises UsageError that names what is missing or odd."""
        negation, contrast = _table(mapping, "negation"), _table(mapping, "contrast")
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
            refusals=_words(_table(mapping, "refusal"), "phrases"),
            **{name: _words(negation, name) for name in ("less", "neither", "carriers", "exceptions")},
            **{name: _words(contrast, name) for name in _CONTRAST},
        )

    def pair(self, positive: str, negative: str) -> LabelPair:
        """Return the pair with these labels, either way round; labels that are not listed stand for themselves."""
        wanted = (positive.casefold(), negative.casefold())
        for pair in self.pairs:
            for candidate in (pair, pair.swapped):
                if (candidate.positive.casefold(), candidate.negative.casefold()) == wanted:
                    return candidate
        return LabelPair(positive, negative)

    def roles(self, pair: LabelPair) -> Iterator[tuple[str, Role]]:
        """Yield every phrase with what it does in an answer to this pair; earlier ones take precedence."""
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
            Role.ALTERNATIVE: self.alternatives,
            Role.JOINER: self.joiners,
            Role.OPEN: self.open,
            Role.PARTIAL: self.partial,
            Role.CARRIER: self.carriers,
        }
        for role, phrases in lists.items():
            yield from ((phrase, role) for phrase in phrases)

    @cached_property
    def version(self) -> str:
        """A hash of everything in it, 12 hexadecimal digits."""
        return content_key(asdict(self)).hex()[:12]


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
    forms = (_words(table, name) for name in ("positive_forms", "negative_forms", "asides"))
    return LabelPair(positive, negative, *forms)
