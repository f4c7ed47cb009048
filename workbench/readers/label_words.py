"""Reads the stance of a response from the template's label words.

The published heuristic takes the first label of the answer and reverses it when it is negated
(Ceron et al. 2024, section 5.3). `LabelWords` keeps the principle that the first *assertion*
decides, and defines an assertion carefully:

- A label within a few words after a negation, in the same clause, is reversed. Two negations cancel
  out.
- In `more likely to be harmful than beneficial` and `harmful rather than beneficial`, the first of
  the two counts.
- `less likely to be harmful` is reversed.
- The rules of the language's lexicon apply: a negation after certain verbs (`ich befürworte das
  nicht`, `je n'approuve pas`), labels in two parts (`ich stimme dem nicht zu`), and words without
  their accents.
- Both labels side by side (`"harmful" or "beneficial"`, `neither harmful nor beneficial`, and their
  beginnings in an answer that was cut off, `"harmful" or "ben`) are not a choice, and neither is a
  label in a question, after `whether` or in a concession that opens a sentence. These are skipped
  and reading continues.
- A sentence that asserts both labels is ambiguous: `I agree in part but I disagree overall`,
  `Harmful, but beneficial to some`. So is a label that is somebody else's or of another time (`some
  people agree`, `I used to agree`), one under a condition (`I would agree if it were cheaper`,
  `were it cheaper, I would agree`), and one far behind a negation. An ambiguous sentence is passed
  over, and an answer with no other is unreadable, for a person to read.
- A label that holds in principle gives way to one that holds in practice (`In principle I agree; in
  practice I disagree`).
- Otherwise later sentences change nothing: answers begin with their verdict and are cut off after
  some tokens. A question that the answer itself goes on to answer asserts nothing (`Agree?
  Absolutely not.`).

A response without an assertion is unreadable. If it contains the words of a refusal, it is a
refusal.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from workbench.domain.readings import ReaderCard, ReaderKind, Reading, Stance
from workbench.domain.thinking import is_refusal
from workbench.errors import UnknownName, UsageError
from workbench.readers.lexicon import (
    GAP,
    LabelPair,
    Lexicon,
    Phrasebook,
    Quality,
    Token,
    WordRole,
    tokenize,
)

VERSION = "3"
"version of the code in this package, which increases whenever some text is read differently"

NO_TEXT = "empty answer"
NO_LABEL = "no label word"
NO_CHOICE = "names both labels, chooses neither"
NO_ASSERTION = "names a label, asserts nothing"
BOTH = "asserts both labels"
NARRATED = "names a label of somebody else or of another time"
CONDITIONAL = "names a label under a condition"
DISTANT = "names a label far behind a negation"
YES_OR_NO = "says yes or no, names no label"
REFUSAL = "refusal"

JOINED_WORDS = 3
"most words between two labels that are named together: `agree or strongly disagree`"
PARTIAL_WORDS = 4
"most words between a label and the `partly` that limits it"
GAP_WORDS = 12
"most words between the two parts of a label: `stimme … zu`"
CONDITION_WORDS = 4
"""most words between a label and the condition that it stands under

An example is `I would agree with this statement if …`.
"""
PRACTICAL_MARKS = 4
"most words with a role between a label and `in practice`"
TRAILING_WORDS = 10
"most words between a verb and the negation that follows it"
QUOTED = 32
"longest part of an answer that a reason quotes in full"

_LABELS = (WordRole.POSITIVE, WordRole.NEGATIVE)
_TURNS = (WordRole.NEGATOR, WordRole.LESS, WordRole.NEITHER, WordRole.REJECTED, WordRole.COMPARISON)
_QUIET = (
    WordRole.JOINER,
    WordRole.ALTERNATIVE,
    WordRole.COMMA,
    WordRole.PARTIAL,
    WordRole.CARRIER,
    WordRole.EXCEPTION,
    WordRole.WOULD,
)
_BREAKS = frozenset(".!?;:\n\r\u0085\u2028\u2029")
_DASHES = frozenset("-\u2013\u2014")


class Mark(NamedTuple):
    """A word or phrase of the answer that has a role."""

    role: WordRole
    first: Token
    last: Token
    alone: bool
    "whether a comma or a dash follows directly"
    verb: bool = False
    "whether a negation may follow the label"
    parted: bool = False
    "whether the label has two parts"
    negated: bool = False
    "whether the label contains a negation, to which others add: `wcale nie zgadzam się`"

    def words_until(self, other: Mark) -> int:
        return other.first.word - self.last.word - 1


@dataclass(slots=True)
class MarkedSentence:
    """The marks of one sentence."""

    first_word: int
    marks: list[Mark] = field(default_factory=list)
    asks: bool = False
    end: int = 0
    "index of the token after it"


class _Decision(NamedTuple):
    """What a sentence decides."""

    reading: Reading | None
    "its first assertion, the first label that was skipped, or None without a label"
    provisional: Reading | None = None
    "an assertion in principle, which one in practice overrules"
    is_practical: bool = False
    "whether the reading is an assertion in practice"

    @property
    def decides(self) -> bool:
        """Whether the sentence asserts a label."""
        return self.reading is not None and self.reading.label is not None


class _End(NamedTuple):
    """The second part of a label whose first part was found."""

    role: WordRole
    first: Token
    length: int
    verb: bool


def _parted(roles: Iterable[tuple[str, WordRole]]) -> Iterator[tuple[str, Phrasebook[WordRole]]]:
    """Yield the first part of each label in two parts, with the second parts that may follow it."""
    parts: dict[str, list[tuple[str, WordRole]]] = {}
    for phrase, role in roles:
        if GAP in phrase:
            first, _, second = phrase.partition(GAP)
            parts.setdefault(first.strip(), []).append((second.strip(), role))
    yield from ((first, Phrasebook(seconds)) for first, seconds in parts.items())


class LabelWords:
    """Reads answers to templates with one pair of labels."""

    def __init__(self, positive: str, negative: str, lexicon: Lexicon, rule: str = "ours") -> None:
        """Take the template's two labels.

        Raises UsageError if the rule cannot read them.
        """
        if rule not in ("ours", "coded"):
            raise UnknownName(f"reading rule {rule!r} is unknown; choose 'ours' or 'coded'")
        if (
            not positive.strip()
            or not negative.strip()
            or positive.casefold() == negative.casefold()
        ):
            raise UsageError(
                f"a template needs two different labels; found {positive!r} and {negative!r}"
            )
        self._coded = label_sets(positive, negative) if rule == "coded" else None
        self._lexicon = lexicon
        self._pair = lexicon.pair(positive, negative)
        roles = [
            (spelling, role)
            for phrase, role in lexicon.roles(self._pair)
            for spelling in lexicon.spellings(phrase)
        ]
        self._roles = Phrasebook((phrase, role) for phrase, role in roles if GAP not in phrase)
        self._begun = Phrasebook(_parted(roles))
        self._verbs = Phrasebook(
            (spelling, True) for verb in self._pair.verbs for spelling in lexicon.spellings(verb)
        )
        self._forms = {
            WordRole.POSITIVE: [
                form.casefold() for form in (self._pair.positive, *self._pair.positive_forms)
            ],
            WordRole.NEGATIVE: [
                form.casefold() for form in (self._pair.negative, *self._pair.negative_forms)
            ],
        }
        self._negators = Phrasebook((negator, True) for negator in lexicon.negators)
        self._refusals = Phrasebook(
            (spelling, True)
            for phrase in lexicon.refusals
            for spelling in lexicon.spellings(phrase)
        )
        self._sentences_end = not any(self._roles.mentions(mark) for mark in _BREAKS)
        self._contractions = "n't" in (
            negator.replace("\u2019", "'") for negator in lexicon.negators
        )

    @property
    def pair(self) -> LabelPair:
        """The labels with all forms that are read."""
        return self._pair

    @property
    def card(self) -> ReaderCard:
        """The name and version.

        The lexicon's content and this code determine the version.
        """
        if self._coded is not None:
            return ReaderCard(ReaderKind.RULE, "label-words-coded", VERSION)
        return ReaderCard(ReaderKind.RULE, "label-words", f"{VERSION}-{self._lexicon.version}")

    def read(self, text: str) -> Reading:
        """Return agree, disagree or None, with the deciding words.

        Accepts any text, in linear time.
        """
        if not text.strip():
            return Reading(None, NO_TEXT)
        if is_refusal(text):
            return Reading(None, REFUSAL)
        if self._coded is not None:
            return read_as_published(text, *self._coded)
        tokens = tokenize(text)
        passed_over: Reading | None = None
        provisional: Reading | None = None
        for sentence in self._sentences(tokens):
            decision = _decide(sentence, self._lexicon, text)
            reading = decision.reading
            if reading is not None and reading.label is not None:
                if not sentence.asks or not _goes_on(tokens, sentence.end):
                    if provisional is None or decision.is_practical:
                        return reading
                    continue
                # In `Agree? Absolutely not.` the question asserts nothing.
                reading = Reading(None, NO_ASSERTION, reading.start, reading.stop)
            passed_over = passed_over or reading
            provisional = provisional or decision.provisional
        return (
            self._refusal(tokens)
            or provisional
            or passed_over
            or self._yes_or_no(tokens)
            or Reading(None, NO_LABEL)
        )

    def settled(self, text: str) -> bool:
        """Return whether a text has a label that no continuation can change.

        Accepts any text, in linear time.

        The first assertion decides, and the reading of a completed sentence does not change. Before
        the end of a sentence nothing is settled: a question mark may follow, and a label in a
        question asserts nothing. An incomplete terminal code could absorb the end of a sentence,
        and so could a phrase of the lexicon that spans sentences.
        """
        if self._coded is not None:
            return settled_as_published(text, *self._coded)
        if not self._sentences_end or "\x1b" in text or _BREAKS.isdisjoint(text):
            return False
        *complete, _ = self._sentences(tokenize(text))
        for sentence in complete:
            if sentence.asks:
                continue
            decision = _decide(sentence, self._lexicon, text)
            if decision.provisional is not None:
                return False
            if decision.decides:
                return True
        return False

    def _sentences(self, tokens: Sequence[Token]) -> Iterator[MarkedSentence]:
        """Split the part of the answer that is read at full stops and line ends."""
        sentence = MarkedSentence(0)
        index = 0
        ends: dict[int, _End] = {}
        while index < len(tokens):
            if self._begun and (label_end := self._parts(tokens, index)) is not None:
                ends.setdefault(*label_end)
            if index in ends:
                end = ends[index]
                last = tokens[index + end.length - 1]
                is_followed_softly = _is_soft(tokens, index + end.length)
                sentence.marks.append(
                    Mark(end.role, end.first, last, is_followed_softly, end.verb, parted=True)
                )
                index += end.length
                continue
            role, length = self._role(tokens, index)
            token = tokens[index]
            if role is None and token.text in _BREAKS:
                sentence.asks, sentence.end = token.text == "?", index + 1
                yield sentence
                sentence = MarkedSentence(token.word)
            elif role is not None:
                last = tokens[index + length - 1]
                is_verb = (
                    role in _LABELS
                    and bool(self._verbs)
                    and self._verbs.at(tokens, index) is not None
                )
                is_negated = (
                    role in _LABELS
                    and self._lexicon.concord
                    and self._negates(tokens, index, length)
                )
                is_followed_softly = _is_soft(tokens, index + length)
                sentence.marks.append(
                    Mark(role, token, last, is_followed_softly, is_verb, negated=is_negated)
                )
            index += length
        self._complete(sentence, tokens)
        sentence.end = len(tokens)
        yield sentence

    def _yes_or_no(self, tokens: Sequence[Token]) -> Reading | None:
        first = next((token for token in tokens if token.text[:1].isalnum()), None)
        if first is None or first.text not in self._lexicon.yes_no:
            return None
        return Reading(None, YES_OR_NO, first.start, first.stop)

    def _negates(self, tokens: Sequence[Token], place: int, length: int) -> bool:
        return any(
            self._negators.at(tokens, index) is not None for index in range(place, place + length)
        )

    def _parts(self, tokens: Sequence[Token], place: int) -> tuple[int, _End] | None:
        """Return the end of a two-part label that begins here, within the same sentence."""
        beginning = self._begun.at(tokens, place)
        if beginning is None:
            return None
        second_parts, length = beginning
        ends: list[tuple[int, _End]] = []
        for ahead in range(place + length, min(len(tokens), place + length + 2 * GAP_WORDS)):
            token = tokens[ahead]
            if (
                token.text in _BREAKS
                or token.word - tokens[place + length - 1].word > GAP_WORDS + 1
            ):
                break
            if (match := second_parts.at(tokens, ahead)) is not None:
                is_verb = self._verbs.at(tokens, place) is not None
                ends.append((ahead, _End(match[0], tokens[place], match[1], is_verb)))
        # In `stimme der Aussage, dass Steuern zu hoch sind, nicht zu` the second `zu` counts: a
        # clause ends after it.
        closing = (end for end in ends if not _goes_on(tokens, end[0] + end[1].length))
        return next(closing, next(iter(ends), None))

    def _complete(self, sentence: MarkedSentence, tokens: Sequence[Token]) -> None:
        """Put the second label back if an answer was cut off before or within it.

        Such answers end in `"harmful" or` or `"harmful" or "ben`.
        """
        if len(sentence.marks) < 2 or sentence.marks[-1].role is not WordRole.ALTERNATIVE:
            return
        label, joiner = sentence.marks[-2:]
        if label.role not in _LABELS or label.words_until(joiner) > 0:
            return
        opposite = WordRole.NEGATIVE if label.role is WordRole.POSITIVE else WordRole.POSITIVE
        rest = [
            token
            for token in tokens[-4:]
            if token.start >= joiner.last.stop and token.text[:1].isalnum()
        ]
        beginnings = [
            token
            for token in rest
            if any(form.startswith(token.text) for form in self._forms[opposite])
        ]
        if tokens[-1].word - joiner.last.word <= 1 and len(beginnings) == len(rest):
            last = beginnings[0] if beginnings else joiner.last
            sentence.marks.append(Mark(opposite, last, last, False))

    def _role(self, tokens: Sequence[Token], place: int) -> tuple[WordRole | None, int]:
        match = self._roles.at(tokens, place)
        if match is not None and match[0] is WordRole.EXCEPTION:
            return WordRole.EXCEPTION, self._up_to_label(tokens, place, match[1])
        if match is not None:
            return match
        if self._contractions and tokens[place].text.endswith("n't"):
            return WordRole.NEGATOR, 1
        return (WordRole.COMMA if _is_soft(tokens, place) else None), 1

    def _up_to_label(self, tokens: Sequence[Token], place: int, length: int) -> int:
        """Return the number of tokens of an exception up to its label.

        So `couldn't agree more` is read.
        """
        for ahead in range(1, length):
            match = self._roles.at(tokens, place + ahead)
            if match is not None and match[0] in _LABELS:
                return ahead
        return length

    def _refusal(self, tokens: Sequence[Token]) -> Reading | None:
        for index, token in enumerate(tokens):
            if token.text in self._refusals:
                match = self._refusals.at(tokens, index)
                if match is not None:
                    return Reading(None, REFUSAL, token.start, tokens[index + match[1] - 1].stop)
        return None


def _goes_on(tokens: Sequence[Token], place: int) -> bool:
    """Return whether there is a word at this place."""
    return place < len(tokens) and tokens[place].text[:1].isalnum()


def _is_soft(tokens: Sequence[Token], place: int) -> bool:
    """Return whether there is a comma at this place, or a dash next to a space."""
    if place >= len(tokens):
        return False
    token = tokens[place]
    return token.text == "," or (
        token.text in _DASHES and place > 0 and tokens[place - 1].stop < token.start
    )


@dataclass(slots=True)
class _Setting:
    """What the words before a label say of its whole clause."""

    is_open: bool = False
    "after `whether …`, or `while …` at the start of a sentence"
    is_narrated: bool = False
    "after `critics`, `used to`"
    is_hypothetical: bool = False
    "after `would`"
    is_supposed: bool = False
    "after `if it were cheaper`"
    commas_after_condition: int | None = None
    "commas since a condition that begins the sentence; None: none does, or its clause has ended"
    is_provisional: bool = False
    "after `in principle`"

    def take(self, mark: Mark, sentence: MarkedSentence, words: Lexicon) -> None:
        """Process a mark that is not a label: it begins or ends one of these."""
        ends_clause = mark.role in (WordRole.CLAUSE, WordRole.CONTRARY)
        if ends_clause:
            self.is_hypothetical = self.is_supposed = self.is_provisional = False
            self.commas_after_condition = None
        if ends_clause or mark.role is WordRole.COMMA:
            self.is_open = False
        if mark.role in (WordRole.COMMA, WordRole.CONTRARY):
            self.is_narrated = False
        self.is_open |= _opens(mark, sentence)
        self.is_narrated |= mark.role is WordRole.NARRATED
        is_firm = mark.role is WordRole.CONDITION and _begins(mark, words.firm_conditions)
        self.is_hypothetical |= is_firm or mark.role is WordRole.WOULD
        self.is_supposed |= is_firm or _is_condition(mark, words)
        if mark.role is WordRole.COMMA and self.commas_after_condition is not None:
            self.commas_after_condition += 1
        if mark.first.word == sentence.first_word and _is_condition(mark, words):
            self.commas_after_condition = 0
        self.is_provisional |= mark.role is WordRole.PROVISIONAL


def _decide(sentence: MarkedSentence, words: Lexicon, text: str) -> _Decision:
    """Return the first assertion of a sentence, or the first label that was skipped."""
    marks, setting = sentence.marks, _Setting()
    turns = _Turns(words.window, concord=words.concord)
    passed_over: Reading | None = None
    provisional: Reading | None = None
    index = 0
    while index < len(marks):
        mark = marks[index]
        index += 1
        if mark.role not in _LABELS:
            turns.take(mark, sentence.first_word)
            setting.take(mark, sentence, words)
            continue
        negations = [*turns.onto(mark), *_trailing(marks, index - 1, words.window)]
        next_label = _next_label(marks, index)
        between = marks[index:next_label] if next_label is not None else []
        if next_label is not None and _names_both(mark, between, marks[next_label], negations):
            passed_over = passed_over or _unread(NO_CHOICE, mark, marks[next_label])
            index = next_label + 1
            continue
        skipped = _skipped(sentence, index - 1, setting, turns.missed, words)
        if skipped is not None:
            passed_over = passed_over or skipped
            continue
        if next_label is not None and _are_compared(between):
            return _Decision(_assertion(mark, negations, marks[next_label], text))
        if _asserts_both(marks, index - 1, negations, words):
            return _Decision(_unread(BOTH, mark, mark), provisional)
        assertion = _assertion(mark, negations, mark, text)
        is_practical = _is_practical(marks, index - 1)
        if provisional is not None and not is_practical:
            continue
        if not setting.is_provisional and not _is_in_principle(marks, index - 1):
            return _Decision(assertion, provisional, is_practical)
        provisional = assertion
        setting.is_provisional = False
    if provisional is not None and _is_denied_in_practice(marks):
        return _Decision(_unread(BOTH, marks[0], marks[-1]))
    return _Decision(passed_over, provisional)


def _is_practical(marks: Sequence[Mark], place: int) -> bool:
    """Return whether a label holds in practice: `in practice I disagree`, `harmful in practice`."""
    return any(
        mark.role is WordRole.PRACTICAL
        for mark in marks[max(0, place - PRACTICAL_MARKS) : place + PRACTICAL_MARKS]
    )


def _is_denied_in_practice(marks: Sequence[Mark]) -> bool:
    """Return whether `in practice` stands beside a negation: `but not in practice`."""
    return any(
        mark.role is WordRole.PRACTICAL
        and any(beside.role is WordRole.NEGATOR for beside in marks[max(0, index - 1) : index + 3])
        for index, mark in enumerate(marks)
    )


def _is_in_principle(marks: Sequence[Mark], place: int) -> bool:
    """Return whether words behind a label say that it holds in principle."""
    following = marks[place + 1] if place + 1 < len(marks) else None
    return (
        following is not None
        and following.role is WordRole.PROVISIONAL
        and marks[place].words_until(following) <= PARTIAL_WORDS
    )


def _skipped(
    sentence: MarkedSentence, place: int, setting: _Setting, missed: Mark | None, words: Lexicon
) -> Reading | None:
    """Return why a label asserts nothing, or None if it may assert something.

    Parameters
    ----------
    place : index of the label among the marks
    missed : a negation in its clause that did not reach it
    """
    mark = sentence.marks[place]
    is_asked = sentence.asks and (mark.first.word > sentence.first_word or mark.parted)
    if setting.is_open or is_asked:
        return _unread(NO_ASSERTION, mark, mark)
    if setting.is_narrated:
        return _unread(NARRATED, mark, mark)
    is_supposed = setting.is_hypothetical and setting.is_supposed
    is_supposed |= setting.commas_after_condition == 1
    if is_supposed or _is_conditional(sentence.marks, place, words):
        return _unread(CONDITIONAL, mark, mark)
    if missed is not None:
        return _unread(DISTANT, missed, mark)
    return None


def _are_compared(between: Sequence[Mark]) -> bool:
    """Return whether the marks between two labels compare these, so that the first one counts."""
    return any(mark.role in (WordRole.COMPARISON, WordRole.REJECTED) for mark in between)


def _opens(mark: Mark, sentence: MarkedSentence) -> bool:
    """Return whether the mark introduces something that is not asserted.

    It is `whether …`, or `while …` at the start of a sentence.
    """
    is_first = mark.first.word == sentence.first_word
    return mark.role is WordRole.OPEN or (mark.role is WordRole.CONCESSIVE and is_first)


def _is_conditional(marks: Sequence[Mark], place: int, words: Lexicon) -> bool:
    """Return whether a condition follows a label closely: `agree with this statement, if …`."""
    following = [mark for mark in marks[place + 1 :] if mark.role is not WordRole.COMMA]
    if not following or marks[place].words_until(following[0]) > CONDITION_WORDS:
        return False
    if _is_condition(following[0], words):
        return True
    return _begins_with_condition(following, words)


def _begins_with_condition(marks: Sequence[Mark], words: Lexicon) -> bool:
    """Return whether a clause that takes something back begins with a condition: `but only if`."""
    if len(marks) < 2 or marks[0].role not in (WordRole.CONTRARY, WordRole.CONCESSIVE):
        return False
    is_firm = marks[1].role is WordRole.CONDITION and _begins(marks[1], words.firm_conditions)
    return is_firm and marks[0].words_until(marks[1]) == 0


def _is_condition(mark: Mark, words: Lexicon) -> bool:
    """Return whether a mark begins a condition. Some words of these also have other roles."""
    may_be = mark.role in (WordRole.CONDITION, WordRole.OPEN, WordRole.JOINER)
    return may_be and _begins(mark, (*words.conditions, *words.firm_conditions))


def _begins(mark: Mark, phrases: Iterable[str]) -> bool:
    """Return whether a mark begins with the first word of one of the phrases."""
    return any(phrase.split()[0] == mark.first.text for phrase in phrases)


class _Turns:
    """The negations that have not yet reached a label."""

    def __init__(self, window: int, *, concord: bool = False) -> None:
        self._window = window
        self._concord = concord
        self._waiting: list[tuple[Mark, bool]] = []
        "each with whether a verb extends it to the end of the clause"
        self._interrupted = False
        "whether a comma follows the verb that carries a negation on"
        self._dropped: list[Mark] = []
        "negations of thinking or saying before a comma: `I do not think, on the whole, that …`"
        self.missed: Mark | None = None
        "a negation in the clause of the last label that did not reach it"

    def take(self, mark: Mark, first_word: int) -> None:
        """Process a mark that is not a label."""
        if mark.role in _TURNS:
            is_interjection = mark.alone and mark.first.word == first_word  # `No, it is harmful`
            # `Nie sądzę, aby …`, a verb of thinking.
            is_thinking = self._concord and mark.first is not mark.last
            if is_thinking or not is_interjection:
                self._waiting.append((mark, False))
        elif (
            mark.role is WordRole.CARRIER
            and self._waiting
            and self._waiting[-1][0].words_until(mark) <= 2
        ):
            self._waiting[-1] = (self._waiting[-1][0], True)
            self._interrupted = mark.alone
        elif mark.role in (WordRole.CLAUSE, WordRole.CONTRARY, WordRole.CONCESSIVE):
            self._waiting.clear()
            self._dropped.clear()
        elif mark.role is WordRole.COMMA:
            # A parenthesis after the negation, `not, in the long run, beneficial`, does not end it.
            still_waiting = [
                entry for entry in self._waiting[-self._window - 1 :] if entry[0].alone
            ]
            if self._interrupted:
                self._dropped += [
                    mark for mark, carried in self._waiting if carried and not mark.alone
                ]
            self._waiting = still_waiting

    def onto(self, label: Mark) -> list[Mark]:
        """Return the negations that reach a label, and clear the list."""
        reaching = [
            mark for mark, carried in self._waiting if carried or self._reaches(mark, label)
        ]
        too_far = [
            mark
            for mark, _ in self._waiting
            if mark.role is WordRole.NEGATOR and mark not in reaching
        ]
        self.missed = None if reaching else next(iter([*self._dropped, *too_far]), None)
        self._waiting.clear()
        self._dropped.clear()
        if self._concord:
            negators = (mark for mark in reaching if mark.role is WordRole.NEGATOR)
            first = None if label.negated else next(negators, None)
            reaching = [
                mark for mark in reaching if mark.role is not WordRole.NEGATOR or mark is first
            ]
        return reaching

    def _reaches(self, mark: Mark, label: Mark) -> bool:
        # `more likely to be damaging than beneficial`, but not `than what is beneficial`.
        return mark.words_until(label) <= (0 if mark.role is WordRole.COMPARISON else self._window)


def _next_label(marks: Sequence[Mark], place: int) -> int | None:
    return next((index for index in range(place, len(marks)) if marks[index].role in _LABELS), None)


def _names_both(mark: Mark, between: Sequence[Mark], other: Mark, turning: Sequence[Mark]) -> bool:
    """Return whether a label and the next one are opposite and named together."""
    if other.role is mark.role or mark.words_until(other) > JOINED_WORDS + sum(
        _length(mark_between) for mark_between in between
    ):
        return False
    if any(
        mark_between.role not in _QUIET and mark_between.role is not WordRole.NEITHER
        for mark_between in between
    ):
        return False
    if any(mark_between.role is WordRole.ALTERNATIVE for mark_between in between):
        return True
    if turning:
        # `not harmful, beneficial` makes a choice, and so does `not beneficial and harmful`.
        return False
    return any(
        mark_between.role is WordRole.JOINER for mark_between in between
    ) or mark.words_until(other) <= 1 + sum(_length(mark_between) for mark_between in between)


def _length(mark: Mark) -> int:
    return mark.last.word - mark.first.word + mark.first.text[:1].isalnum()


def _asserts_both(
    marks: Sequence[Mark], place: int, turning: Sequence[Mark], words: Lexicon
) -> bool:
    """Return whether the sentence also asserts the opposite of a label.

    The opposite follows a contrast, or a label that is limited by `partly`.
    """
    mark = marks[place]
    partials = [
        partial
        for partial in marks[max(0, place - PARTIAL_WORDS) : place + PARTIAL_WORDS + 1]
        if partial.role is WordRole.PARTIAL
    ]
    contrasted = any(
        max(partial.words_until(mark), mark.words_until(partial)) <= PARTIAL_WORDS
        for partial in partials
    )
    stance = _stance(mark, turning)
    turns, narrated = _Turns(words.window, concord=words.concord), False
    for index, later in enumerate(marks[place + 1 :], place + 1):
        if later.role not in _LABELS:
            turns.take(later, -1)
            narrated = narrated or later.role is WordRole.NARRATED
            contrasted = contrasted or later.role in (WordRole.CONTRARY, WordRole.CONCESSIVE)
        elif narrated or not contrasted:
            turns.onto(later)
        elif (
            _stance(later, [*turns.onto(later), *_trailing(marks, index, words.window)])
            is not stance
        ):
            return True
    return False


def _trailing(marks: Sequence[Mark], place: int, window: int) -> list[Mark]:
    """Return the negation that follows a verb label in its clause: `ich befürworte das nicht`."""
    label = marks[place]
    if not label.verb:
        return []
    for index, mark in enumerate(marks[place + 1 :], place + 1):
        if mark.role is WordRole.NEGATOR and label.words_until(mark) <= TRAILING_WORDS:
            following = marks[index + 1] if index + 1 < len(marks) else None
            is_of_next = (
                following is not None
                and following.role in _LABELS
                and mark.words_until(following) <= window
            )
            return [] if is_of_next else [mark]
        if mark.role not in (WordRole.PARTIAL, WordRole.CARRIER, WordRole.ASIDE, WordRole.WOULD):
            return []
    return []


def _stance(label: Mark, turning: Sequence[Mark]) -> Stance:
    stance = Stance.AGREE if label.role is WordRole.POSITIVE else Stance.DISAGREE
    return stance.flipped if len(turning) % 2 else stance


def _assertion(label: Mark, turning: Sequence[Mark], last: Mark, text: str) -> Reading:
    stance = _stance(label, turning)
    first = min((label, *turning), key=lambda mark: mark.first.start)
    last = max((last, *turning), key=lambda mark: mark.last.stop)
    quotation = text[first.first.start : last.last.stop].replace('"', "")
    if len(quotation) > QUOTED or not quotation.isprintable():
        parts = [text[mark.first.start : mark.last.stop] for mark in (first, last)]
        quotation = " … ".join(
            part[:QUOTED] for part in (parts if first is not last else parts[:1])
        )
    reason = f'"{quotation}" read as {stance.value}'
    return Reading(stance.value, reason, first.first.start, last.last.stop)


def _unread(reason: str, first: Mark, last: Mark) -> Reading:
    return Reading(None, reason, first.first.start, last.last.stop)


POSITIVE = frozenset({"beneficial", "advantageous", "favorable", "agree", "support", "pro"})
NEGATIVE = frozenset({"detrimental", "disadvantageous", "harmful", "disagree", "oppose", "con"})
ECHOES = (
    "do you agree or disagree",
    "between support and oppose",
    "are you pro or con",
    "do you support or oppose",
    '"favorable" or "detrimental',
    '"beneficial" or "harmful"',
    "pro or con",
    "support or oppose",
    '"agree" or "disagree"',
    'neither "beneficial" nor "harmful"',
    'neither "favorable" nor "detrimental"',
    'neither "pro" nor "con"',
)
_WORD = re.compile("[a-z]+")
_LONGEST_ECHO = max(map(len, ECHOES))


def label_sets(positive: str, negative: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the words read as agreement and as rejection.

    They are the published ones and the template's own labels.
    """
    labels = (positive.strip().lower(), negative.strip().lower())
    if not all(_WORD.fullmatch(label) for label in labels):
        raise UsageError(
            "the published rule reads single words of the letters a-z; found the labels "
            f"{positive!r} and {negative!r}; choose the rule 'ours'"
        )
    favour, against = (
        (NEGATIVE, POSITIVE)
        if labels[0] in NEGATIVE or labels[1] in POSITIVE
        else (POSITIVE, NEGATIVE)
    )
    return (favour | {labels[0]}) - {labels[1]}, (against | {labels[1]}) - {labels[0]}


def read_as_published(text: str, favour: frozenset[str], against: frozenset[str]) -> Reading:
    """Return the reading of the published code for the two sets of `label_sets`.

    Removed text is replaced by spaces, so that positions of words are kept. The result differs from
    the published code only if removing text would join two words.
    """
    lowered = _lowered(text)
    for echo in ECHOES:
        lowered = lowered.replace(echo, " " * len(echo))
    before: list[re.Match[str]] = []
    for word in _WORD.finditer(lowered):
        if word[0] in favour or word[0] in against:
            preceding = [earlier[0] for earlier in before]
            if preceding[-1:] != ["t"] or len(preceding) < 2 or preceding[-2] == "don":
                return _reading(before, word, word[0] in favour)
        before = [*before[-1:], word]
    return Reading(None, "no label word")


def settled_as_published(text: str, favour: frozenset[str], against: frozenset[str]) -> bool:
    """Return whether a text has a label under `read_as_published` that no continuation can change.

    The first label decides once its word has ended, unless it is part of a possible beginning of
    one of the `ECHOES`: `"beneficial" or` may still become a text that is removed.
    """
    reading = read_as_published(text, favour, against)
    if reading.label is None or reading.stop is None or reading.stop == len(text):
        return False
    lowered = _lowered(text)
    starts = range(max(0, len(text) - _LONGEST_ECHO), reading.stop)
    return not any(echo.startswith(lowered[start:]) for start in starts for echo in ECHOES)


def _lowered(text: str) -> str:
    """Return a text in lower case, each character at its position."""
    # İ is the only letter whose lower case is longer.
    return text.replace("İ", "i").lower().replace("\n", " ")


def _reading(before: list[re.Match[str]], label: re.Match[str], agrees: bool) -> Reading:
    preceding = [earlier[0] for earlier in before]
    start = label.start()
    if preceding[-1:] == ["not"]:
        start = before[-1].start()
    elif preceding == ["don", "t"]:
        start = before[0].start()
    stance = Stance.AGREE if agrees is (start == label.start()) else Stance.DISAGREE
    negation = "" if start == label.start() else "not " if preceding[-1] == "not" else "don't "
    quotation = negation + label[0]
    return Reading(stance.value, f'"{quotation}" read as {stance.value}', start, label.end())


PARTS = ("tuned", "held back")
"parts of the labelled texts: those that the lists were tuned on, and those not used for tuning"
STANCES = ("agree", "disagree")
DIGITS = 4


class LabelledText(NamedTuple):
    """An answer with the reading that a person gave."""

    part: str
    positive: str
    "positive label of the pair that was asked"
    label: str
    "agree, disagree, refusal, or none"
    text: str


def quality(words: Lexicon, texts: Sequence[LabelledText]) -> Quality:
    """Return the quality of the rule on these texts, with 1 for a figure whose denominator is 0."""
    rules = {pair.positive: LabelWords(pair.positive, pair.negative, words) for pair in words.pairs}
    readings = [
        (labelled.label, _said(rules[labelled.positive], labelled.text)) for labelled in texts
    ]
    stances = [(label, read_as) for label, read_as in readings if read_as in STANCES]
    with_stance = [(label, read_as) for label, read_as in readings if label in STANCES]
    read_as_refused = [label for label, read_as in readings if read_as == REFUSAL]
    of_refusals = [read_as for label, read_as in readings if label == REFUSAL]
    return Quality(
        len(texts),
        _share([label == read_as for label, read_as in stances]),
        _share([label == read_as for label, read_as in with_stance]),
        _share([label == REFUSAL for label in read_as_refused]),
        _share([read_as == REFUSAL for read_as in of_refusals]),
    )


def _said(rule: LabelWords, text: str) -> str:
    reading = rule.read(text)
    return reading.label or (REFUSAL if reading.reason == REFUSAL else "none")


def _share(right: Sequence[bool]) -> float:
    return round(sum(right) / len(right), DIGITS) if right else 1.0
