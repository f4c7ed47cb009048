"""A first draft of the changed form of acquiescence and of allow/forbid, by rule, in English, for a person to correct.

Allow/forbid: the only word that allows becomes one that forbids, and Yes and No stay, so that their meanings are
swapped. Acquiescence: the first of two statements becomes a question that suggests it. There is no draft if another
word would have to change, too (Tjuatja et al. 2024, table 1).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from workbench.domain.choices import Bias, Choice, ChoicePair
from workbench.workshop.choice_forms import pair_faults
from workbench.workshop.negation import STARTERS, negate, word_set
from workbench.workshop.questions import SUBJECTS

YES_NO = ("Yes", "No")
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
    a about agree an and answer b best better bit both choose closer closest come comes describes do each either even
    exactly first following general generally have here how i if in is it like little more most much my nearer nearest
    neither not of one opinion opinions or overall own pair perfectly personally quite reflects right say second see
    sentence sentences statement statements than that the there these think this those to two view views want what
    which with would you your
    """
)
"a question of only these words asks for a choice between options and does not mention the subject"
_POINTS = word_set("he her his it its she that their them these they this those i we our my us you your")
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
    """
    if bias is Bias.ALLOW_FORBID:
        made = _forbidding(original)
    else:
        made = _suggesting(original) if bias is Bias.ACQUIESCENCE else None
    if made is None or pair_faults(ChoicePair("", bias, original, made.choice)):
        return None
    return made


def _forbidding(original: Choice) -> Reworded | None:
    """Exchange the word that allows, if it is the only one: *forbidden* takes the same complements as *allowed*."""
    found = _ALLOWING.findall(original.stem)
    if len(found) != 1 or _BOTH_WAYS.search(original.stem):
        return None
    instead = FORBIDDING[found[0].lower()]
    stem = _ALLOWING.sub(instead.capitalize() if found[0][0].isupper() else instead, original.stem)
    return Reworded(Choice(stem, YES_NO), f"{found[0].lower()} becomes {instead}")


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
    return Reworded(Choice(f"Wouldn't you agree that {begun}?", YES_NO), "the first statement is suggested")
