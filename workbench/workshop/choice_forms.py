"""The comparison of two forms of a multiple-choice question: moved, added and removed options.

In a comparison by words, reordered options look like other options. Here options are matched by
text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from workbench.domain.choices import LETTERS, Bias, Choice, ChoicePair
from workbench.errors import UsageError
from workbench.workshop.english import STARTERS, SUBJECTS, negate, word_set


@dataclass(frozen=True, slots=True)
class OptionLine:
    """One option of either form."""

    letter: str
    "capital letter in the changed form, or in the original if the option was removed"
    text: str
    was: str | None = None
    "its letter in the original, or None for a new option"
    gone: bool = False
    "whether the changed form lacks it"

    @property
    def mark(self) -> str:
        """The change: `+` new, `−` removed, `was C` with another letter, or empty if unchanged."""
        if self.gone:
            return "−"
        if self.was is None:
            return "+"
        return "" if self.was == self.letter else f"was {self.was}"


def option_lines(original: Choice, changed: Choice) -> tuple[OptionLine, ...]:
    """Return the options of the changed form in order.

    Removed ones are at their original positions.

    Examples
    --------
    >>> scale = ("Good", "So-so", "Bad")
    >>> [f"{one.letter} {one.mark}" for one in option_lines(Choice("?", scale), Choice("?", scale[::-1]))]
    ['A was C', 'B ', 'C was A']
    """  # noqa: E501
    lines = [
        OptionLine(LETTERS[position].upper(), option, _letter(original, option))
        for position, option in enumerate(changed.options)
    ]
    for index, option in enumerate(original.options):
        if option not in changed.options:
            letter = LETTERS[index].upper()
            previous_letter = LETTERS[index - 1].upper() if index else None
            insert_at = next(
                (
                    line_index + 1
                    for line_index, line in enumerate(lines)
                    if previous_letter and line.was == previous_letter
                ),
                0,
            )
            lines.insert(insert_at, OptionLine(letter, option, letter, gone=True))
    return tuple(lines)


def word_pairs(before: str, after: str) -> tuple[tuple[str, str], ...]:
    """Return each word with its form after typos, or () if the words do not correspond.

    Examples
    --------
    >>> word_pairs("Good or bad?", "Gopd or bad?")
    (('Good', 'Gopd'), ('or', 'or'), ('bad?', 'bad?'))
    """
    old_words, new_words = before.split(" "), after.split(" ")
    pairs = [
        (old, new) for old, new in zip(old_words, new_words, strict=False) if len(old) == len(new)
    ]
    return tuple(pairs) if len(pairs) == len(old_words) == len(new_words) else ()


def _letter(choice: Choice, option: str) -> str | None:
    return LETTERS[choice.options.index(option)].upper() if option in choice.options else None


YES_NO_WORDS = ("Yes", "No")
FORBIDDING = {
    "allow": "forbid",
    "allows": "forbids",
    "allowed": "forbidden",
    "allowing": "forbidding",
    "permit": "forbid",
    "permits": "forbids",
    "permitted": "forbidden",
    "permitting": "forbidding",
}
_ALLOWING = re.compile(rf"\b(?:{'|'.join(FORBIDDING)})\b", re.IGNORECASE)
_BOTH_WAYS = re.compile(
    r"\b(?:not|never|no|nor|neither|without|or|forb[ia]d\w*|prohibit\w*|ban(?:ned)?|\w*accept\w*)\b|n['’]t\b|\b(?:dis|un)\w*(?:allow|perm)"
    r"|\b(?:allow|permit)(?:s|ing|ted)? for\b|\ba (?:permit|permits)\b",
    re.IGNORECASE,
)
"a question of only these words asks for a choice between options and does not mention the subject"
_ASKS_WHICH = word_set(
    """
    a about agree an and answer b best better bit both choose closer closest come comes describes do
    each either even exactly first following general generally have here how i if in is it like
    little more most much my nearer nearest neither not of one opinion opinions or overall own pair
    perfectly personally quite reflects right say second see sentence sentences statement statements
    than that the there these think this those to two view views want what which with would you your
    """
)
"a question of only these words asks for a choice between options and does not mention the subject"
_POINTS = word_set(
    "he her his it its she that their them these they this those i we our my us you your"
)
"words that refer to something in the question"


@dataclass(frozen=True, slots=True)
class Reworded:
    """A drafted form and the rule that made it."""

    choice: Choice
    rule: str
    "`allowed becomes forbidden`, `the first statement is suggested`"


def reworded(bias: Bias, original: Choice) -> Reworded | None:
    """Return a draft of the changed form of a question, or None if no rule gives a usable one.

    Examples
    --------
    >>> found = reworded(Bias.ALLOW_FORBID, Choice("Should dogs be allowed in shops?", ("Yes", "No")))
    >>> found.choice.stem if found else ""
    'Should dogs be forbidden in shops?'
    >>> views = ("The state should do more.", "The state should do less.")
    >>> found = reworded(Bias.ACQUIESCENCE, Choice("Which statement comes closer to your view?", views))
    >>> found.choice.stem if found else ""
    "Wouldn't you agree that the state should do more?"
    """  # noqa: E501
    if bias is Bias.ALLOW_FORBID:
        draft = _forbidding(original)
    else:
        draft = _suggesting(original) if bias is Bias.ACQUIESCENCE else None
    if draft is None or pair_faults(ChoicePair("", bias, original, draft.choice)):
        return None
    return draft


def _forbidding(original: Choice) -> Reworded | None:
    """Exchange the only word that allows.

    The word *forbidden* takes the same complements as *allowed*.
    """
    allowing_words = _ALLOWING.findall(original.stem)
    if len(allowing_words) != 1 or _BOTH_WAYS.search(original.stem):
        return None
    replacement = FORBIDDING[allowing_words[0].lower()]
    stem = _ALLOWING.sub(
        replacement.capitalize() if allowing_words[0][0].isupper() else replacement, original.stem
    )
    return Reworded(
        Choice(stem, YES_NO_WORDS), f"{allowing_words[0].lower()} becomes {replacement}"
    )


def _suggesting(original: Choice) -> Reworded | None:
    """Ask whether the respondent would not agree with the first of two independent statements."""
    words = re.findall(r"[^\W\d_]+", original.stem.lower())
    if len(original.options) != 2 or not words or not _ASKS_WHICH.issuperset(words):
        return None
    statement = original.options[0].strip().rstrip(".")
    negation = negate(statement)
    references = _POINTS.intersection(re.findall(r"[^\W\d_]+", statement.lower()))
    if negation is None or negation.rule == "denied as a whole" or references:
        return None  # without a known verb it may not be a sentence
    first_word = statement.split()[0]
    clause = (
        statement[0].lower() + statement[1:]
        if first_word.lower() in STARTERS | SUBJECTS
        else statement
    )
    return Reworded(
        Choice(f"Wouldn't you agree that {clause}?", YES_NO_WORDS),
        "the first statement is suggested",
    )


DONT_KNOW = "Don't know"
YES_NO = ("yes", "no")
SCALE, SCALE_WITHOUT_MIDDLE = 5, 4
"numbers of options of odd/even scales, whose delta uses b and d of five (appendix A.2)"
WRITTEN = frozenset({Bias.ACQUIESCENCE, Bias.ALLOW_FORBID})
"biases whose changed form a person writes"

_DONT_KNOW = re.compile(
    r"(?:i |we )?(?:don['’]?t|do not|can(?:no|['’])t) (?:know|say|tell|choose)\b|(?:not "
    r"sure|unsure|undecided)\b"
    r"|no (?:opinion|answer)\b|not applicable\b|prefer not to\b|rather not "
    r"(?:say|answer)\b|refused?\b",
    re.IGNORECASE,
)
_REFERS = re.compile(
    r"\b(?:of (?:these|those|the "
    r"(?:above|below|others?|options|answers|two|three))\b|(?:the|listed) (?:above|below)\b"
    r"|the (?:former|latter|(?:first|second|third|last|previous) "
    r"(?:one|option|answer)|rest)\b|option [A-F]\b"
    r"|[A-F] (?:and|or) [A-F]\b)|^(?:both|none|neither|all|either|other|something "
    r"else)(?:,.*|\s*\(.*|[.!]?)$",
    re.IGNORECASE,
)
_MIDDLE = re.compile(
    r"\b(?:neither|nor|neutral|about|same|as (?:much|many|is|now|they|fast|good|often|it "
    r"is)|half|middle|mixed|medium"
    r"|moderate|average|right|both|equal(?:ly)?|unchanged|no "
    r"(?:change|differen)\w*|ke(?:ep|pt)|depends|either way"
    r"|m(?:ay|ight) or m(?:ay|ight) not|some|sometimes|somewhat|so-so|okay|fair)\b",
    re.IGNORECASE,
)
_ALLOWS = re.compile(
    r"\b(?:allow|permit|accept|appropriate\b|legal\b|able to\b|free to\b)", re.IGNORECASE
)
_FORBIDS = re.compile(r"\bforb[ia]d", re.IGNORECASE)
_SUGGESTS = re.compile(
    r"\b(?:\w+n['’]t|agree|surely|true|right|(?:would|do) you not|is it not)\b", re.IGNORECASE
)
_COMMON = word_set(
    """
    a an and are as at be been but by do does for from has have if in is it its more most not of on
    or so than that the their them they this to was were which who will with would you your
    """
)


@dataclass(frozen=True, slots=True)
class QuestionForms:
    """A question in the two forms of a bias."""

    original: Choice
    changed: Choice
    places: tuple[int | None, ...]
    """for each option of the changed form, the index of the same option in the original

    It is None if the option is new.
    """
    middle_removed: bool | None = None
    "odd/even: as in ChoicePair"
    warnings: tuple[str, ...] = field(default=())
    "hints, in sentences"

    @property
    def letters(self) -> Mapping[str, str | None]:
        """The letters of the changed form with those of the same options in the original.

        They are as in `{"a": "c", …}`.
        """
        return {
            LETTERS[index]: None if original_index is None else LETTERS[original_index]
            for index, original_index in enumerate(self.places)
        }


def reversed_order(choice: Choice) -> QuestionForms:
    """Return a question with its options in reversed order (appendix A.2, response order).

    Raises UsageError for an invalid question (`check_choice`).
    """
    check_choice(choice)
    changed = replace(choice, options=choice.options[::-1])
    warnings = list(out_of_order(choice))
    warnings += [
        f"“{option}” comes first in reversed order"
        for option in choice.options[-1:]
        if _evades(option)
    ]
    if len(choice.options) == 2:
        warnings.append("two options: the published questions have three and more")
    if changed.options == choice.options:
        raise UsageError("the options are the same in reversed order. Give options that differ.")
    return QuestionForms(
        choice, changed, tuple(range(len(choice.options)))[::-1], warnings=tuple(warnings)
    )


def out_of_order(choice: Choice) -> tuple[str, ...]:
    """Return sentences on options that make no sense before others: “None of the above”, “Both”."""
    return tuple(_referring(choice.options, "reversed, it stands before them"))


def opinion_floated(choice: Choice, label: str = DONT_KNOW) -> QuestionForms:
    """Return a question with "Don't know" as another, last option (appendix A.2, opinion floating).

    Raises UsageError for an invalid question, for one that has such an option, and for one without
    a middle option, which delta needs.
    """
    check_choice(choice)
    if evading := [option for option in choice.options if _evades(option)]:
        raise UsageError(
            f"the question has an option for those without an opinion: “{evading[0]}”. Leave it "
            "out first."
        )
    if len(choice.options) % 2 == 0:
        raise UsageError(
            f"found {len(choice.options)} options, none of them in the middle, and delta is about "
            "the middle option of a scale. Give a question with five"
        )
    changed = replace(choice, options=(*choice.options, label))
    check_choice(changed)
    warnings = [*_referring(choice.options, f"“{label}” joins them"), *_third_hints(choice)]
    if len(choice.options) == SCALE:
        warnings += _middle_hint(choice.options[2])
    return QuestionForms(
        choice, changed, (*range(len(choice.options)), None), warnings=tuple(warnings)
    )


def odd_even(choice: Choice, middle: str | None = None) -> QuestionForms:
    """Return a scale with its middle option, and without (appendix A.2, odd/even).

    A scale of five loses its third option. A scale of four is the changed form, and a person gives
    `middle`. So the original form always has five options, as in the published prompts, and the
    changed one four. Raises UsageError for another number of options, for a "Don't know" option,
    and for a `middle` that is missing, superfluous or a duplicate.
    """
    check_choice(choice)
    if evading := [option for option in choice.options if _evades(option)]:
        raise UsageError(f"“{evading[0]}” is no step of a scale. Leave it out first.")
    if len(choice.options) == SCALE and middle is None:
        return _odd_even(
            choice, replace(choice, options=choice.options[:2] + choice.options[3:]), removed=True
        )
    if len(choice.options) == SCALE_WITHOUT_MIDDLE and middle is not None:
        full = replace(choice, options=(*choice.options[:2], middle, *choice.options[2:]))
        check_choice(full)
        return _odd_even(full, choice, removed=False)
    advice = {
        SCALE: "a scale of five has its middle option: give none",
        SCALE_WITHOUT_MIDDLE: "give its middle option",
    }
    rule = "a scale has five options, or four and a middle option that is given"
    raise UsageError(
        f"found {len(choice.options)} options; {advice.get(len(choice.options), rule)}"
    )


def form_pair(
    key: str,
    bias: Bias,
    choice: Choice,
    middle: str | None = None,
    topic: str | None = None,
    shares: Sequence[float] = (),
    label: str = DONT_KNOW,
) -> tuple[ChoicePair, tuple[str, ...]]:
    """Return the pair of a bias that follows from a question, with hints.

    `label` is the option that opinion floating adds. `shares` belong to the options of `choice`. If
    a middle option is inserted they are left out, because nobody was offered it. Raises UsageError
    for a bias whose changed form a person writes, and if no such form is possible.
    """
    if bias in WRITTEN:
        raise UsageError(
            f"the changed form of {bias} is a wording: write it, or have it drafted and accept it"
        )
    if shares and len(shares) != len(choice.options):
        raise UsageError(
            f"found {len(shares)} shares for {len(choice.options)} options; give one an option, "
            "or none"
        )
    if bias is Bias.ODD_EVEN:
        forms = odd_even(choice, middle)
    elif middle is not None:
        raise UsageError(f"a middle option belongs to {Bias.ODD_EVEN}, not to {bias}")
    else:
        forms = (
            reversed_order(choice)
            if bias is Bias.RESPONSE_ORDER
            else opinion_floated(choice, label)
        )
    warnings = forms.warnings
    if shares and forms.original != choice:
        shares = ()
        warnings = (
            *warnings,
            "the shares are left out: they are of answers without the middle option",
        )
    pair = ChoicePair(
        key,
        bias,
        forms.original,
        forms.changed,
        topic=topic,
        middle_removed=forms.middle_removed,
        shares=tuple(shares),
    )
    return pair, warnings


def check_choice(choice: Choice) -> None:
    """Raise UsageError, naming the fault, for an invalid multiple-choice question."""
    if not choice.stem.strip():
        raise UsageError("the question has no text before its options")
    if not 2 <= len(choice.options) <= len(LETTERS):
        raise UsageError(f"found {len(choice.options)} options; a question has 2 to {len(LETTERS)}")
    folded = [" ".join(option.split()).casefold() for option in choice.options]
    for index, option in enumerate(folded):
        letter = LETTERS[index].upper()
        if not option:
            raise UsageError(f"option {letter} is empty")
        if option in folded[:index]:
            first = LETTERS[folded.index(option)].upper()
            raise UsageError(
                f"options {first} and {letter} are the same: “{choice.options[index]}”"
            )


def pair_faults(pair: ChoicePair) -> tuple[str, ...]:
    """Return sentences on the requirements of its bias that a pair fails.

    They are two options, yes and no, and certain words.
    """
    if pair.changed is None:
        return ("the changed form has no text",)
    if pair.bias in WRITTEN:
        return tuple(_written_faults(pair, pair.original, pair.changed))
    return tuple(_formed_faults(pair, pair.original, pair.changed))


def pair_hints(pair: ChoicePair) -> tuple[str, ...]:
    """Return hints on a valid pair, in sentences.

    None is a fault.

    For forms that follow from the question, hints tell when the published formulas count another
    option as the middle.
    """
    if pair.changed is None:
        return ()
    if pair.bias is Bias.OPINION_FLOAT:
        return tuple(_third_hints(pair.original))
    if pair.bias not in WRITTEN:
        return ()
    if pair.bias is Bias.ALLOW_FORBID:
        match = _ALLOWS.search(pair.original.stem)
        return (
            ()
            if match
            else ("the original does not ask whether something is allowed, permitted or accepted",)
        )
    return tuple(_suggestion_hints(pair.original, pair.changed))


def _evades(option: str) -> bool:
    """Return whether an option is for people who choose none of the others."""
    return bool(_DONT_KNOW.match(option.strip()))


def _referring(options: Sequence[str], why: str) -> list[str]:
    return [
        f"“{option}” refers to other options: {why}"
        for option in options
        if _REFERS.search(option.strip())
    ]


def _middle_hint(option: str) -> list[str]:
    if _MIDDLE.search(option):
        return []
    return [f"“{option}” does not read like the middle of a scale: is it?"]


def _third_hints(choice: Choice) -> list[str]:
    """Return hints on the option that the published formulas count as the middle.

    They are for scales without five options.
    """
    n = len(choice.options)
    if n == SCALE or n % 2 == 0:
        return []
    return [
        f"{n} options: the published formulas count the third, “{choice.options[2]}”, as the "
        f"middle; the definition `corrected` counts “{choice.options[n // 2]}”"
    ]


def _odd_even(full: Choice, short: Choice, *, removed: bool) -> QuestionForms:
    warnings = _middle_hint(full.options[2]) + _referring(
        short.options, "they differ between the forms"
    )
    return QuestionForms(full, short, (0, 1, 3, 4), removed, tuple(warnings))


def original_faults(bias: Bias, original: Choice) -> tuple[str, ...]:
    """Return sentences on the requirements for a written changed form that an original fails."""
    faults = _two("original", original)
    if bias is Bias.ALLOW_FORBID:
        faults += _yes_no("original", original)
        if _FORBIDS.search(original.stem):
            faults.append(
                "the original asks whether something is forbidden: the changed form should"
            )
    return tuple(faults)


def _written_faults(pair: ChoicePair, original: Choice, changed: Choice) -> list[str]:
    faults = [
        *original_faults(pair.bias, original),
        *_two("changed", changed),
        *_yes_no("changed", changed),
    ]
    if original.stem.strip() == changed.stem.strip():
        faults.append("both forms ask the same")
    if pair.bias is Bias.ALLOW_FORBID and not _FORBIDS.search(changed.stem):
        faults.append("the changed form does not ask whether something is forbidden")
    return faults


def _two(name: str, choice: Choice) -> list[str]:
    n_options = len(choice.options)
    return [] if n_options == 2 else [f"the {name} form has {n_options} options, not two"]


def _yes_no(name: str, choice: Choice) -> list[str]:
    option_words = tuple(option.strip(" .").lower() for option in choice.options)
    return [] if option_words == YES_NO else [f"the options of the {name} form are not Yes and No"]


def _formed_faults(pair: ChoicePair, original: Choice, changed: Choice) -> list[str]:
    """Return the differences of a changed form from the one that follows from the original."""
    try:
        if pair.bias is Bias.ODD_EVEN:
            expected = odd_even(original).changed
        elif pair.bias is Bias.RESPONSE_ORDER:
            expected = reversed_order(original).changed
        else:
            added_option = (
                changed.options[-1]
                if len(changed.options) == len(original.options) + 1
                else DONT_KNOW
            )
            expected = opinion_floated(original, added_option).changed
    except UsageError as error:
        return [str(error)]
    faults = (
        []
        if expected.stem == changed.stem
        else ["the two forms differ in the text before the options"]
    )
    if expected.options != changed.options:
        faults.append(
            f"the changed options are not {', '.join(f'“{option}”' for option in expected.options)}"
        )
    return faults


def _suggestion_hints(original: Choice, changed: Choice) -> list[str]:
    """Return hints on whether a yes/no wording suggests the first of two options."""
    found_hints = []
    if not _SUGGESTS.search(changed.stem):
        found_hints.append("the changed form does not suggest an answer (“Don't you think that …”)")
    if len(original.options) == 2:
        stem_words, first_words, second_words = (
            _words(changed.stem),
            _words(original.options[0]),
            _words(original.options[1]),
        )
        if stem_words & (second_words - first_words) and not stem_words & (
            first_words - second_words
        ):
            found_hints.append(
                "the changed form has words of the second option and none of the first: it "
                "suggests the first"
            )
    return found_hints


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[^\W\d_]+", text.lower())) - _COMMON
