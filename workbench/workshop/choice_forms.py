"""Compares two forms of a multiple-choice question: options that moved, were added, or were
removed.

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
    "its letter in the original; None: new"
    gone: bool = False
    "whether the changed form lacks it"

    @property
    def mark(self) -> str:
        """The change: `+` new, `−` removed, `was C` with another letter; empty if unchanged."""
        if self.gone:
            return "−"
        if self.was is None:
            return "+"
        return "" if self.was == self.letter else f"was {self.was}"


def option_lines(original: Choice, changed: Choice) -> tuple[OptionLine, ...]:
    """Return the options of the changed form in order; removed ones are at their original
    positions.

    Examples
    --------
    >>> scale = ("Good", "So-so", "Bad")
    >>> [f"{one.letter} {one.mark}" for one in option_lines(Choice("?", scale), Choice("?", scale[::-1]))]
    ['A was C', 'B ', 'C was A']
    """  # noqa: E501
    lines = [
        OptionLine(LETTERS[place].upper(), option, _letter(original, option))
        for place, option in enumerate(changed.options)
    ]
    for place, option in enumerate(original.options):
        if option not in changed.options:
            letter = LETTERS[place].upper()
            before = LETTERS[place - 1].upper() if place else None
            after = next(
                (at + 1 for at, line in enumerate(lines) if before and line.was == before), 0
            )
            lines.insert(after, OptionLine(letter, option, letter, gone=True))
    return tuple(lines)


def word_pairs(before: str, after: str) -> tuple[tuple[str, str], ...]:
    """Return each word with its form after typos; () if the words do not correspond.

    Examples
    --------
    >>> word_pairs("Good or bad?", "Gopd or bad?")
    (('Good', 'Gopd'), ('or', 'or'), ('bad?', 'bad?'))
    """
    was, now = before.split(" "), after.split(" ")
    alike = [(old, new) for old, new in zip(was, now, strict=False) if len(old) == len(new)]
    return tuple(alike) if len(alike) == len(was) == len(now) else ()


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
"words that reverse the meaning again, ask in both directions, or would have to change, too"
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
    """Return a draft of the changed form of a question; None if no rule gives a usable one.

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
        made = _forbidding(original)
    else:
        made = _suggesting(original) if bias is Bias.ACQUIESCENCE else None
    if made is None or pair_faults(ChoicePair("", bias, original, made.choice)):
        return None
    return made


def _forbidding(original: Choice) -> Reworded | None:
    """Exchange the word that allows, if it is the only one: *forbidden* takes the same complements
    as *allowed*.
    """
    found = _ALLOWING.findall(original.stem)
    if len(found) != 1 or _BOTH_WAYS.search(original.stem):
        return None
    instead = FORBIDDING[found[0].lower()]
    stem = _ALLOWING.sub(instead.capitalize() if found[0][0].isupper() else instead, original.stem)
    return Reworded(Choice(stem, YES_NO_WORDS), f"{found[0].lower()} becomes {instead}")


def _suggesting(original: Choice) -> Reworded | None:
    """Ask whether the respondent would not agree with the first of two independent statements."""
    words = re.findall(r"[^\W\d_]+", original.stem.lower())
    if len(original.options) != 2 or not words or not _ASKS_WHICH.issuperset(words):
        return None
    said = original.options[0].strip().rstrip(".")
    denied = negate(said)
    points = _POINTS.intersection(re.findall(r"[^\W\d_]+", said.lower()))
    if denied is None or denied.rule == "denied as a whole" or points:
        return None  # without a known verb it may not be a sentence
    first = said.split()[0]
    begun = said[0].lower() + said[1:] if first.lower() in STARTERS | SUBJECTS else said
    return Reworded(
        Choice(f"Wouldn't you agree that {begun}?", YES_NO_WORDS),
        "the first statement is suggested",
    )


DONT_KNOW = "Don't know"
YES_NO = ("yes", "no")
SCALE, SCALE_WITHOUT_MIDDLE = 5, 4
"numbers of options of odd/even scales: its delta uses b and d of five (appendix A.2)"
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
class Forms:
    """A question in the two forms of a bias."""

    original: Choice
    changed: Choice
    places: tuple[int | None, ...]
    "for each option of the changed form, the index of the same option in the original; None: new"
    middle_removed: bool | None = None
    "odd/even: as in ChoicePair"
    warnings: tuple[str, ...] = field(default=())
    "hints, in sentences"

    @property
    def letters(self) -> Mapping[str, str | None]:
        """Return letter of the changed form -> letter of the same option in the original: `{"a":
        "c", …}`.
        """
        return {
            LETTERS[place]: None if same is None else LETTERS[same]
            for place, same in enumerate(self.places)
        }


def reversed_order(choice: Choice) -> Forms:
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
    return Forms(choice, changed, tuple(range(len(choice.options)))[::-1], warnings=tuple(warnings))


def out_of_order(choice: Choice) -> tuple[str, ...]:
    """Return sentences on options that make no sense before others: “None of the above”, “Both”."""
    return tuple(_referring(choice.options, "reversed, it stands before them"))


def opinion_floated(choice: Choice, label: str = DONT_KNOW) -> Forms:
    """Return a question with "Don't know" as another, last option (appendix A.2, opinion floating).

    Raises UsageError for an invalid question, for one that has such an option, and for one without
    a middle option, which delta needs.
    """
    check_choice(choice)
    if known := [option for option in choice.options if _evades(option)]:
        raise UsageError(
            f"the question has an option for those without an opinion: “{known[0]}”. Leave it "
            "out first."
        )
    if len(choice.options) % 2 == 0:
        raise UsageError(
            f"found {len(choice.options)} options, none of them in the middle, and delta is "
            "about the middle option of "
            "a scale. Give a question with five"
        )
    changed = replace(choice, options=(*choice.options, label))
    check_choice(changed)
    warnings = [*_referring(choice.options, f"“{label}” joins them"), *_third_hints(choice)]
    if len(choice.options) == SCALE:
        warnings += _middle_hint(choice.options[2])
    return Forms(choice, changed, (*range(len(choice.options)), None), warnings=tuple(warnings))


def odd_even(choice: Choice, middle: str | None = None) -> Forms:
    """Return a scale with its middle option, and without (appendix A.2, odd/even).

    A scale of five loses its third option. A scale of four is the changed form, and a person gives
    `middle`. So the original form always has five options, as in the published prompts, and the
    changed one four. Raises UsageError for another number of options, for a "Don't know" option,
    and for a `middle` that is missing, superfluous or a duplicate.
    """
    check_choice(choice)
    if known := [option for option in choice.options if _evades(option)]:
        raise UsageError(f"“{known[0]}” is no step of a scale. Leave it out first.")
    if len(choice.options) == SCALE and middle is None:
        return _odd_even(
            choice, replace(choice, options=choice.options[:2] + choice.options[3:]), removed=True
        )
    if len(choice.options) == SCALE_WITHOUT_MIDDLE and middle is not None:
        full = replace(choice, options=(*choice.options[:2], middle, *choice.options[2:]))
        check_choice(full)
        return _odd_even(full, choice, removed=False)
    wanted = {
        SCALE: "a scale of five has its middle option: give none",
        SCALE_WITHOUT_MIDDLE: "give its middle option",
    }
    usual = "a scale has five options, or four and a middle option that is given"
    raise UsageError(
        f"found {len(choice.options)} options; {wanted.get(len(choice.options), usual)}"
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

    `label` is the option that opinion floating adds. `shares` belong to the options of `choice`; if
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
    made = ChoicePair(
        key,
        bias,
        forms.original,
        forms.changed,
        topic=topic,
        middle_removed=forms.middle_removed,
        shares=tuple(shares),
    )
    return made, warnings


def check_choice(choice: Choice) -> None:
    """Raise UsageError, naming the fault, for an invalid multiple-choice question."""
    if not choice.stem.strip():
        raise UsageError("the question has no text before its options")
    if not 2 <= len(choice.options) <= len(LETTERS):
        raise UsageError(f"found {len(choice.options)} options; a question has 2 to {len(LETTERS)}")
    folded = [" ".join(option.split()).casefold() for option in choice.options]
    for place, option in enumerate(folded):
        letter = LETTERS[place].upper()
        if not option:
            raise UsageError(f"option {letter} is empty")
        if option in folded[:place]:
            first = LETTERS[folded.index(option)].upper()
            raise UsageError(
                f"options {first} and {letter} are the same: “{choice.options[place]}”"
            )


def pair_faults(pair: ChoicePair) -> tuple[str, ...]:
    """Return sentences on the requirements of its bias that a pair fails: two options, yes and no,
    the words in question.
    """
    if pair.changed is None:
        return ("the changed form has no text",)
    if pair.bias in WRITTEN:
        return tuple(_written_faults(pair, pair.original, pair.changed))
    return tuple(_formed_faults(pair, pair.original, pair.changed))


def pair_hints(pair: ChoicePair) -> tuple[str, ...]:
    """Return hints on a valid pair, in sentences. None is a fault.

    For forms that follow from the question, hints say where the published formulas count another
    option as the middle.
    """
    if pair.changed is None:
        return ()
    if pair.bias is Bias.OPINION_FLOAT:
        return tuple(_third_hints(pair.original))
    if pair.bias not in WRITTEN:
        return ()
    if pair.bias is Bias.ALLOW_FORBID:
        words = _ALLOWS.search(pair.original.stem)
        return (
            ()
            if words
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
    """Return hints on the option that the published formulas count as the middle of scales without
    five options.
    """
    n = len(choice.options)
    if n == SCALE or n % 2 == 0:
        return []
    return [
        f"{n} options: the published formulas count the third, “{choice.options[2]}”, as the "
        "middle; the definition "
        f"`corrected` counts “{choice.options[n // 2]}”"
    ]


def _odd_even(full: Choice, short: Choice, *, removed: bool) -> Forms:
    warnings = _middle_hint(full.options[2]) + _referring(
        short.options, "they differ between the forms"
    )
    return Forms(full, short, (0, 1, 3, 4), removed, tuple(warnings))


def original_faults(bias: Bias, original: Choice) -> tuple[str, ...]:
    """Return sentences on the requirements for a written changed form that an original fails."""
    found = _two("original", original)
    if bias is Bias.ALLOW_FORBID:
        found += _yes_no("original", original)
        if _FORBIDS.search(original.stem):
            found.append(
                "the original asks whether something is forbidden: the changed form should"
            )
    return tuple(found)


def _written_faults(pair: ChoicePair, original: Choice, changed: Choice) -> list[str]:
    found = [
        *original_faults(pair.bias, original),
        *_two("changed", changed),
        *_yes_no("changed", changed),
    ]
    if original.stem.strip() == changed.stem.strip():
        found.append("both forms ask the same")
    if pair.bias is Bias.ALLOW_FORBID and not _FORBIDS.search(changed.stem):
        found.append("the changed form does not ask whether something is forbidden")
    return found


def _two(name: str, choice: Choice) -> list[str]:
    n = len(choice.options)
    return [] if n == 2 else [f"the {name} form has {n} options, not two"]


def _yes_no(name: str, choice: Choice) -> list[str]:
    said = tuple(option.strip(" .").lower() for option in choice.options)
    return [] if said == YES_NO else [f"the options of the {name} form are not Yes and No"]


def _formed_faults(pair: ChoicePair, original: Choice, changed: Choice) -> list[str]:
    """Compare a changed form with the one that follows from the original."""
    try:
        if pair.bias is Bias.ODD_EVEN:
            wanted = odd_even(original).changed
        elif pair.bias is Bias.RESPONSE_ORDER:
            wanted = reversed_order(original).changed
        else:
            added = (
                changed.options[-1]
                if len(changed.options) == len(original.options) + 1
                else DONT_KNOW
            )
            wanted = opinion_floated(original, added).changed
    except UsageError as error:
        return [str(error)]
    found = (
        []
        if wanted.stem == changed.stem
        else ["the two forms differ in the text before the options"]
    )
    if wanted.options != changed.options:
        found.append(
            f"the changed options are not {', '.join(f'“{option}”' for option in wanted.options)}"
        )
    return found


def _suggestion_hints(original: Choice, changed: Choice) -> list[str]:
    """Check whether a yes/no wording suggests the first of two options."""
    found = []
    if not _SUGGESTS.search(changed.stem):
        found.append("the changed form does not suggest an answer (“Don't you think that …”)")
    if len(original.options) == 2:
        asked, first, second = (
            _words(changed.stem),
            _words(original.options[0]),
            _words(original.options[1]),
        )
        if asked & (second - first) and not asked & (first - second):
            found.append(
                "the changed form has words of the second option and none of the first: it "
                "suggests the first"
            )
    return found


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[^\W\d_]+", text.lower())) - _COMMON
