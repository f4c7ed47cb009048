"""Checks of wordings and of multiple-choice forms before a model is asked.

Wordings
--------
The words of a language for hints, from `data/lexicons/loaded_LANGUAGE.toml`.

Forms
-----
Lint checks of multiple-choice questions: unreadable forms, and forms that do not fit their bias.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from workbench.data import data_folder
from workbench.domain.choices import Bias, Choice, ChoiceItem, ChoicePair, parse_choice
from workbench.domain.findings import LintFinding, Quoted, folded
from workbench.domain.instruments import FORMS, Instrument, pair_of, unreadable_forms
from workbench.domain.statements import CHANGED, ORIGINAL, Relation, Statement, VariantKind, Wording
from workbench.toml_files import read_toml
from workbench.workshop.choice_forms import pair_faults, pair_hints


@dataclass(frozen=True, slots=True)
class WordLists:
    """Each list of words and phrases as one pattern."""

    loaded: tuple[tuple[re.Pattern[str], str], ...]
    "(words, reason), where the reason completes: loaded wording, which …"
    leading: re.Pattern[str]
    absolute: re.Pattern[str]
    vague: re.Pattern[str]
    joiners: re.Pattern[str]
    negators: re.Pattern[str]
    exceptions: re.Pattern[str]
    "phrases with a negator that do not negate"

    def negated(self, text: str) -> list[re.Match[str]]:
        """Return the negators of a text, without those in exceptions."""
        excepted = [match.span() for match in self.exceptions.finditer(text)]
        matches = self.negators.finditer(text)
        return [
            match
            for match in matches
            if not any(start <= match.start() < stop for start, stop in excepted)
        ]


@lru_cache
def word_lists(language: str) -> WordLists | None:
    """Return the lists of a language, or None if there are no shipped ones."""
    path = data_folder() / "lexicons" / f"loaded_{language}.toml"
    if not language.isalpha() or not path.is_file():
        return None
    table = read_toml(path)
    return WordLists(
        loaded=tuple((_pattern(group["words"]), group["why"]) for group in table["loaded"]),
        leading=_pattern(table["leading"]["words"]),
        absolute=_pattern(table["absolute"]["words"]),
        vague=_pattern(table["vague"]["words"]),
        joiners=_pattern(table["joiners"]["words"]),
        negators=_pattern(table["negators"]["words"]),
        exceptions=_pattern(table["negators"]["exceptions"]),
    )


def _pattern(phrases: Sequence[str]) -> re.Pattern[str]:
    """Return a pattern of whole words and phrases, the longest first.

    `n't` is the end of a word.
    """
    whole_phrases = sorted(
        (phrase for phrase in phrases if not phrase.startswith("n'")), key=len, reverse=True
    )
    alternatives = "|".join(
        re.escape(phrase).replace(r"\ ", r"\s+").replace("'", "['’]") for phrase in whole_phrases
    )
    ends = [
        rf"(?<!\w)\w+{re.escape(phrase).replace(chr(39), '[’' + chr(39) + ']')}(?!\w)"
        for phrase in phrases
        if phrase.startswith("n'")
    ]
    return re.compile("|".join([*ends, rf"(?<![\w'’-])(?:{alternatives})(?![\w-])"]), re.IGNORECASE)


MANY_WORDS = 30
"""the largest number of words of a wording

Of the 239 English originals of ProbVAA 97 % have at most 24, and the longest has 32.
"""
MANY_SENTENCES = 1
HARD = 0.0
"""Flesch reading ease below which a wording of at least `ENOUGH` words is hard for nearly everybody

The median of the English originals of ProbVAA is 42, and 5 % are below 5. The formula calls 30 very
difficult already, but it was made for whole passages.
"""
ENOUGH = 10
"fewest words for which the formula is meaningful"
LONG_WORD = 16
"""the largest number of letters of an English word

Other languages form compounds and are not checked.
"""
SHOUTED = 7
"number of capitals from which a word is not an acronym, as UNESCO has six"
LENGTHS = 2.0
"largest ratio of lengths of a paraphrase and its original, if they differ by `FEWEST_APART` words"
FEWEST_APART = 6

SEVERITY = {
    "question": "warning",
    "direction-mark": "warning",
    "mixed-scripts": "warning",
    "negation-without-negator": "warning",
}
"severity of codes that are more than notes"
OF_ORIGINALS = ("two-in-one",)
"codes on the content, which variants inherit from their original in any words"

_WORD = re.compile(r"[^\W_]+(?:['’\-–][^\W_]+)*")
_SENTENCE_END = re.compile(r"(?<![\s(.]\w)[.!?…。！？]+[\"'”’)\]]*(?=\s+[^\W\d_a-z]|\s*$)")
"the end of a sentence, not after a single letter: `e.g.`, `z. B.`, `J. Smith`"
_DIRECTION = re.compile("[\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]")
_HIDDEN = re.compile(
    "[\u200b\u2060\ufeff\u00ad\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]"
)
_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_MARKS = "\u200e\u200f\u061c"
"""direction marks that mixed-direction text may need

Overrides and embeddings are never needed.
"""
_ALIKE = frozenset(("LATIN", "CYRILLIC", "GREEK"))
_LOOKALIKE = re.compile("[\u0370-\u03ff\u0400-\u052f]")
"scripts whose letters look like each other's"


@dataclass(frozen=True, slots=True)
class Hint:
    """A hint on a wording."""

    code: str
    message: str
    start: int = 0
    "its position in the text, or 0, 0 if it concerns the whole text"
    stop: int = 0

    @property
    def severity(self) -> str:
        return SEVERITY.get(self.code, "note")


@dataclass(frozen=True, slots=True)
class Length:
    """The length and readability of a text."""

    characters: int
    words: int
    sentences: int
    reading_ease: float | None
    "Flesch's, for English of at least `ENOUGH` words, where 100 is very easy, and 0 very hard"

    def __str__(self) -> str:
        ease = "" if self.reading_ease is None else f", reading ease {self.reading_ease:.0f}"
        return (
            f"{self.words} words, {self.sentences} "
            f"sentence{'' if self.sentences == 1 else 's'}{ease}"
        )


def length(text: str, language: str) -> Length:
    """Return the length and readability of a text.

    The reading ease is Flesch's (1948, Journal of Applied Psychology 32): 206.835 - 1.015 words /
    sentences - 84.6 syllables / words. Syllables are counted by groups of vowels without a silent
    e, as programs do.
    """
    return _length(text, [match[0] for match in _WORD.finditer(text)], language)


def _length(text: str, words: Sequence[str], language: str) -> Length:
    sentences = max(1, len(_SENTENCE_END.findall(text))) if words else 0
    ease = None
    if language == "en" and len(words) >= ENOUGH:
        per_word = sum(map(_syllables, words)) / len(words)
        ease = 206.835 - 1.015 * len(words) / sentences - 84.6 * per_word
    return Length(len(text), len(words), sentences, ease)


@lru_cache(maxsize=20_000)
def wording_hints(text: str, language: str = "en") -> tuple[Hint, ...]:
    """Return the hints on a text alone, in the order of `Hint.start`."""
    words = list(_WORD.finditer(text))
    hints = [*_size(text, words, language), *_capitals(text, words), *_characters(text, words)]
    if (lists := word_lists(language)) is not None:
        hints += _words_of(text, lists)
    return tuple(sorted(hints, key=lambda hint: hint.start))


def character_hints(text: str) -> tuple[Hint, ...]:
    """Return the hints on hidden and look-alike characters of any text."""
    return tuple(_characters(text, list(_WORD.finditer(text))))


def variant_hints(wording: Wording, original: Wording | None) -> tuple[Hint, ...]:
    """Return the hints on a wording of its kind, compared with its original if there is one."""
    return (*_form(wording), *_negators(wording, original), *_beside(wording, original))


def instrument_hints(instrument: Instrument, language: str | None = None) -> Iterator[LintFinding]:
    """Yield the hints on every wording, in one language or in all.

    Problems inherited from the original (a long word, two questions in one) are reported once, for
    the original.
    """
    for statement in instrument.statements:
        by_language: dict[str, list[Wording]] = defaultdict(list)
        for wording in statement.wordings:
            if language in (None, wording.language):
                by_language[wording.language].append(wording)
        for wordings in by_language.values():
            original = next((wording for wording in wordings if wording.variant == ORIGINAL), None)
            original_codes = (
                {hint.code for hint in wording_hints(original.text, original.language)}
                if original
                else set()
            )
            for wording in wordings:
                yield from _wording_findings(statement.ref, wording, original, original_codes)


def _wording_findings(
    ref: str, wording: Wording, original: Wording | None, reported_codes: set[str]
) -> Iterator[LintFinding]:
    """Yield the hints on one wording, one finding per code.

    A variant gets no hint whose code was reported before.
    """
    hints: dict[str, list[Hint]] = defaultdict(list)
    for hint in wording_hints(wording.text, wording.language):
        if wording is original or hint.code not in (*reported_codes, *OF_ORIGINALS):
            hints[hint.code].append(hint)
    for hint in variant_hints(wording, original):
        hints[hint.code].append(hint)
    for code, code_hints in hints.items():
        messages = "; ".join(dict.fromkeys(hint.message for hint in code_hints))
        texts = [Quoted(str(wording.variant), wording.text)]
        if original is not None and wording is not original:
            texts.insert(0, Quoted(str(ORIGINAL), original.text))
        message = f"{wording.language}: {wording.variant} {messages}"
        location = ref, wording.variant, wording.language
        yield LintFinding(code_hints[0].severity, code, ref, message, *location, tuple(texts))


def _size(text: str, words: Sequence[re.Match[str]], language: str) -> Iterator[Hint]:
    measured_length = _length(text, [match[0] for match in words], language)
    if measured_length.words > MANY_WORDS:
        yield Hint(
            "long",
            f"has {measured_length.words} words; more than {MANY_WORDS} are hard to keep in mind",
        )
    if measured_length.sentences > MANY_SENTENCES:
        yield Hint(
            "several-sentences",
            f"has {measured_length.sentences} sentences; which one is agreed with?",
        )
    if measured_length.reading_ease is not None and measured_length.reading_ease < HARD:
        yield Hint(
            "hard-to-read",
            f"has a reading ease of {measured_length.reading_ease:.0f} (Flesch; 0 is very hard)",
        )
    for match in words if language == "en" else ():
        if len(match[0]) >= LONG_WORD and any(
            len(word_part) >= LONG_WORD for word_part in re.split(r"['’\-–]", match[0])
        ):
            yield Hint("long-word", f"has the long word {_shown(match[0])!r}", *match.span())


def _capitals(text: str, words: Sequence[re.Match[str]]) -> Iterator[Hint]:
    if len(words) > 3 and text.isupper():
        yield Hint("capitals", "is all in capitals")
        return
    for match in words:
        if (
            len(match[0]) >= SHOUTED
            and match[0].isupper()
            and sum(map(str.isalpha, match[0])) >= SHOUTED
        ):
            yield Hint("capitals", f"shouts {_shown(match[0])!r}", *match.span())


def _characters(text: str, words: Sequence[re.Match[str]]) -> Iterator[Hint]:
    """Yield hints on hidden and look-alike characters."""
    if text.isascii() and text.isprintable():
        return
    if not unicodedata.is_normalized("NFC", text):
        yield Hint("not-nfc", "is not in normal form (NFC): a search for its words may miss it")
    for match in _DIRECTION.finditer(text):
        if match[0] not in _MARKS or not any(
            unicodedata.bidirectional(character) in ("R", "AL") for character in text
        ):
            yield Hint(
                "direction-mark", f"holds a direction mark ({_name(match[0])})", *match.span()
            )
    for match in _HIDDEN.finditer(text):
        yield Hint(
            "hidden-character",
            f"holds a character that does not show ({_name(match[0])})",
            *match.span(),
        )
    for match in words if _LOOKALIKE.search(text) else ():
        scripts = _scripts(match[0]) & _ALIKE
        if len(scripts) > 1:
            script_names = " and ".join(sorted(script.capitalize() for script in scripts))
            yield Hint(
                "mixed-scripts",
                f"has {script_names} letters in one word, {_shown(match[0])!r}",
                *match.span(),
            )


def _words_of(text: str, lists: WordLists) -> Iterator[Hint]:
    for words, reason in lists.loaded:
        yield from _listed(text, words, "loaded-wording", "loaded wording, which " + reason)
    yield from _listed(text, lists.leading, "leading-wording", "an opening that leads")
    yield from _listed(
        text,
        lists.absolute,
        "absolute-word",
        "an absolute word: one exception is enough to disagree",
    )
    yield from _listed(
        text, lists.vague, "vague-word", "a vague word: people mean different amounts by it"
    )
    without_brackets = _BRACKETS.sub(lambda match: " " * len(match[0]), text)
    if match := lists.joiners.search(without_brackets):
        yield Hint("two-in-one", f"may ask two things at once ({match[0]!r})", *match.span())
    for start, stop in _sentences(text):
        negators = lists.negated(text[start:stop])
        if len(negators) > 1:
            quoted = " and ".join(repr(negator[0]) for negator in negators[:2])
            yield Hint(
                "double-negation",
                f"negates twice ({quoted})",
                start + negators[0].start(),
                start + negators[-1].end(),
            )


def _form(wording: Wording) -> Iterator[Hint]:
    """Yield a hint if a statement asks something, or a question does not."""
    is_question = wording.text.rstrip().rstrip("\"'”’)]»").endswith(("?", "？", "؟"))
    if is_question and wording.variant.kind is not VariantKind.QUESTION:
        yield Hint("question", "is a question; people and models agree with statements")
    if wording.variant.kind is VariantKind.QUESTION and not is_question and wording.text.strip():
        yield Hint("no-question-mark", "has no question mark")


def _negators(wording: Wording, original: Wording | None) -> Iterator[Hint]:
    """Yield hints on the negators of a flipped wording.

    A negation denies its original overtly, an opposite reverses it without a negator (Ceron et al.
    2024). The negation of a statement that is negated itself may as well leave the negator out.
    """
    lists = word_lists(wording.language)
    if lists is None or wording.relation is not Relation.FLIPPED:
        return
    if original is not None and folded(original.text) == folded(wording.text):
        return  # lint reports the more serious fault
    own_negators = lists.negated(wording.text)
    original_negators = lists.negated(original.text) if original is not None else []
    kind = wording.variant.kind
    if (
        kind is VariantKind.NEGATION
        and not original_negators
        and not lists.negators.search(wording.text)
    ):
        yield Hint("negation-without-negator", "has no negator (not, no, never …)")
    if kind is VariantKind.OPPOSITE and len(own_negators) > len(original_negators):
        yield Hint(
            "opposite-with-negator",
            f"has a negator ({own_negators[0][0]!r}), as a negation has",
            *own_negators[0].span(),
        )


def _beside(wording: Wording, original: Wording | None) -> Iterator[Hint]:
    if original is None or wording is original or wording.relation is not Relation.SAME:
        return
    n_words, n_original_words = (
        len(_WORD.findall(compared_wording.text)) for compared_wording in (wording, original)
    )
    if abs(n_words - n_original_words) >= FEWEST_APART and max(
        n_words, n_original_words
    ) > LENGTHS * min(n_words, n_original_words):
        yield Hint(
            "other-length",
            f"has {n_words} words, and the original {n_original_words}: is the meaning the same?",
        )


def _listed(text: str, words: re.Pattern[str], code: str, what: str) -> Iterator[Hint]:
    for match in words.finditer(text):
        yield Hint(code, f"has {match[0]!r}, {what}", *match.span())


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for match in _SENTENCE_END.finditer(text):
        yield start, match.end()
        start = match.end()
    if start < len(text):
        yield start, len(text)


def _syllables(word: str) -> int:
    """Return the number of syllables of an English word.

    It is that of groups of vowels, without a silent e at the end.
    """
    lowered = word.casefold()
    groups = len(re.findall(r"[aeiouy]+", lowered))
    is_silent = lowered.endswith("e") and not lowered.endswith(("le", "ee", "ye")) and groups > 1
    is_silent = is_silent or (
        lowered.endswith("ed") and not lowered.endswith(("ted", "ded")) and groups > 1
    )
    return max(1, groups - is_silent)


def _scripts(word: str) -> set[str]:
    """Return the scripts of a word's letters, by the names that Unicode gives them."""
    if word.isascii():
        return set()
    return {
        unicodedata.name(character, "?").split()[0] for character in word if character.isalpha()
    }


def _name(character: str) -> str:
    return f"U+{ord(character):04X} {unicodedata.name(character, 'control character')}".strip()


def _shown(word: str) -> str:
    return word if len(word) <= 30 else f"{word[:29]}…"


def without_choices(instrument: Instrument) -> Instrument:
    """Return an instrument without its multiple-choice questions, for checks of statements only."""
    refs = {item.ref for item in instrument.choices}
    return replace(
        instrument,
        statements=tuple(
            statement for statement in instrument.statements if statement.ref not in refs
        ),
    )


def choice_findings(instrument: Instrument, language: str | None = None) -> Iterator[LintFinding]:
    """Yield findings on an instrument's questions, in one language or in all."""
    items = {item.ref: item for item in instrument.choices}
    first: dict[tuple[Bias, str, str, str], str] = {}
    for statement in instrument.statements:
        item = items.get(statement.ref)
        for wording_language in dict.fromkeys(wording.language for wording in statement.wordings):
            if language in (None, wording_language) and item is not None:
                yield from _of_question(statement, item, wording_language)
                yield from _twice(statement, item, wording_language, first)
            elif language in (None, wording_language):
                yield from _under_no_bias(statement, wording_language)


def reads_as_question(statement: Statement, language: str) -> bool:
    """Return whether a statement's original is a question with lettered options."""
    original = statement.wording(ORIGINAL, language)
    return original is not None and isinstance(parse_choice(original.text), Choice)


def _under_no_bias(statement: Statement, language: str) -> Iterator[LintFinding]:
    if reads_as_question(statement, language):
        message = (
            f"{language}: a question with options that stands under no bias, so no audit "
            "of response biases asks it"
        )
        yield LintFinding(
            "note", "no-bias", statement.ref, message, statement.ref, ORIGINAL, language
        )


def _of_question(statement: Statement, item: ChoiceItem, language: str) -> Iterator[LintFinding]:
    wordings = [
        candidate
        for candidate in statement.wordings
        if candidate.language == language and candidate.variant.kind in FORMS
    ]
    yield from _unreadable(statement, language)
    for wording in wordings:
        yield from _further(statement.ref, wording)
        yield from _form_characters(statement.ref, wording)
    pair = pair_of(statement, item, language)
    if isinstance(pair, ChoicePair):
        texts = tuple(
            Quoted(str(form.variant), form.text)
            for form in wordings
            if form.variant in (ORIGINAL, CHANGED)
        )
        is_unreadable = pair.changed is None and any(form.variant == CHANGED for form in wordings)
        yield from _of_pair(statement.ref, pair, language, texts, unreadable=is_unreadable)


def _unreadable(statement: Statement, language: str) -> Iterator[LintFinding]:
    ref = statement.ref
    for wording, fault in unreadable_forms(statement):
        if wording.language == language:
            message = (
                f"{language}: {wording.variant} cannot be asked: {fault.found}, where "
                f"{fault.expected}"
            )
            texts = (Quoted(str(wording.variant), wording.text),)
            yield LintFinding(
                "error", "no-options", ref, message, ref, wording.variant, language, texts
            )


def _further(ref: str, wording: Wording) -> Iterator[LintFinding]:
    """Yield a finding on a further changed form. A question is asked in one."""
    if wording.variant.kind is CHANGED.kind and wording.variant != CHANGED:
        message = (
            f"{wording.language}: {wording.variant} is never asked: a question has one "
            f"changed form, “{CHANGED}”"
        )
        texts = (Quoted(str(wording.variant), wording.text),)
        yield LintFinding(
            "warning", "second-changed", ref, message, ref, wording.variant, wording.language, texts
        )


def _form_characters(ref: str, wording: Wording) -> Iterator[LintFinding]:
    for hint in character_hints(wording.text):
        message = f"{wording.language}: {wording.variant} {hint.message}"
        location = (
            ref,
            wording.variant,
            wording.language,
            (Quoted(str(wording.variant), wording.text),),
        )
        yield LintFinding(hint.severity, hint.code, ref, message, *location, detail=hint.message)


def _of_pair(
    ref: str, pair: ChoicePair, language: str, texts: tuple[Quoted, ...], *, unreadable: bool
) -> Iterator[LintFinding]:
    """Yield findings on a question with a readable original.

    With `unreadable`, its changed form cannot be read.
    """
    location = (ref, CHANGED, language, texts)
    if pair.changed is not None:
        for fault in pair_faults(pair):
            yield LintFinding(
                "warning", "not-of-bias", ref, f"{pair.bias}: {fault}", *location, detail=fault
            )
        for hint in pair_hints(pair):
            yield LintFinding(
                "note", "bias-wording", ref, f"{pair.bias}: {hint}", *location, detail=hint
            )
    elif not unreadable:
        message = f"has no changed form, so {pair.bias} cannot be measured on it"
        yield LintFinding("warning", "no-changed-form", ref, message, *location)
    for (kind, draw), form in pair.perturbed.items():
        if form.options != pair.original.options:
            name = f"{kind}-{draw}"
            message = (
                f"{name} has other options than the original, so more than typos tell them apart"
            )
            yield LintFinding(
                "warning",
                "other-options",
                ref,
                message,
                ref,
                None,
                language,
                texts[:1],
                detail=name,
            )
    if pair.shares and len(pair.shares) != len(pair.original.options):
        message = (
            f"has {len(pair.shares)} shares of people, and {len(pair.original.options)} options"
        )
        yield LintFinding(
            "warning", "other-shares", ref, message, ref, ORIGINAL, language, texts[:1]
        )


def _twice(
    statement: Statement,
    item: ChoiceItem,
    language: str,
    first: dict[tuple[Bias, str, str, str], str],
) -> Iterator[LintFinding]:
    """Yield a finding on a duplicate question under the same bias.

    Other biases may have the same question.
    """
    original = statement.wording(ORIGINAL, language)
    if original is None:
        return
    first_ref = first.setdefault(
        (item.bias, item.variant, language, folded(original.text)), statement.ref
    )
    if first_ref != statement.ref:
        message = f"{language}: the same question as {first_ref}"
        texts = (Quoted(f"{statement.ref} original", original.text),)
        location = (statement.ref, ORIGINAL, language, texts)
        yield LintFinding(
            "warning", "duplicate-question", statement.ref, message, *location, detail=first_ref
        )
