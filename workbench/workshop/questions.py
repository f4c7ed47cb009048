"""A first draft of a statement from an English question, by rule: the claim of a person who answers *yes*.

*Should the state ban cars?* becomes *The state should ban cars.*: the verb that opens the question moves behind its
subject. There is no parser: the subject ends before a known verb, or with a noun that is a usual subject. A question
whose subject is not found has no draft.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from workbench.workshop.negation import MODALS, word_set

FRAMES = (
    (r"do you (?:agree|think|believe|find|feel)(?: that)?,? (?!should\b)(?P<rest>.+)", "{rest}"),
    (r"do you agree with the (?:following )?statement:? ['\"“]?(?P<rest>.+?)['\"”]?", "{rest}"),
    (r"are you (?P<rest>(?:in favou?r of|for|against|opposed to|willing to|satisfied with|proud) .+)", "I am {rest}"),
    (r"do you (?P<rest>.+)", "I {rest}"),
    (r"would you (?P<rest>.+)", "I would {rest}"),
    (r"is it (?:true|the case) that (?P<rest>.+)", "{rest}"),
)
"frames of questions, and the statements made from them"
PRONOUNS = frozenset(("it", "there", "we", "they", "he", "she", "one", "everyone", "everybody", "people", "this"))
"subjects of one word"
SUBJECTS = word_set(
    """
    state states government governments country countries council parliament confederation canton cantons
    municipality municipalities city cities union eu police army law citizens immigrants foreigners refugees women
    men children parents workers schools companies employers employees taxes cars banks pensioners hospitals couples
    voters
    """
)
"nouns that are usual subjects; a following preposition continues the subject"
GOES_ON = frozenset(("of", "in", "for", "with", "on", "from", "who", "which", "that", "under", "without", "at", "to"))
VERBS = word_set(
    """
    abandon abolish accede accept act adapt adopt allow apply approve ban be bear become benefit build buy close
    come comply consider continue contribute cooperate cover create cut deal decide decline decrease defend demand
    deny deport develop disclose do earn embark enact end enforce ensure enter establish examine exceed exclude
    expand expel export extend face fall finance fix focus follow forbid force fund get give go grant guarantee have
    help hold host implement impose improve include increase influence integrate intensify intervene introduce
    invest join keep lead learn leave legalise legalize levy lift limit live lose lower maintain make manage meet
    modernise move nationalise nationalize need negotiate obtain offer oppose own participate pass pay permit phase
    play possess prevent prioritise prioritize privatise privatize procure produce prohibit promote protect provide
    publish punish pursue put raise ratify receive recognise recognize redistribute reduce refuse regulate
    reintroduce reject relax remain remove renounce repeal replace require respect restrict retain retire rise run
    save scrap seek sell set share show sign spend start stay stop strengthen strive subsidise subsidize supply
    support take tax teach tighten tolerate trade use vote wear welcome withdraw work
    """
)
"base forms of verbs that end a subject"
ADVERBS = frozenset(("also", "always", "not", "never", "generally", "only", "still", "again", "fully", "more", "no"))


@dataclass(frozen=True, slots=True)
class Stated:
    """A drafted statement and the rule that made it."""

    text: str
    rule: str
    "`frame`, `verb behind the subject`"


def stated(question: str) -> Stated | None:
    """Return a draft of the statement that answering *yes* makes; None if no rule finds the subject.

    Examples
    --------
    >>> stated("Should the state ban cars in cities?").text
    'The state should ban cars in cities.'
    >>> stated("Is it right that banks are rescued?").text
    'It is right that banks are rescued.'
    >>> stated("Are you in favour of a wealth tax?").text
    'I am in favour of a wealth tax.'
    >>> stated("Why?") is None
    True
    """
    text = " ".join(question.split()).rstrip("?？ ").strip()
    if not question.strip().endswith(("?", "？")) or not text:
        return None
    for pattern, form in FRAMES:
        if found := re.fullmatch(pattern, text, re.IGNORECASE):
            return Stated(_sentence(form.format(rest=found["rest"])), "frame")
    words = text.split(" ")
    verb = words[0].lower()
    if verb not in MODALS and verb not in ("is", "are", "was", "were", "has", "have", "does", "do", "did"):
        return None
    end = _subject_end(words, finite=verb in MODALS or verb in ("does", "do", "did"))
    if end is None:
        return None
    moved = [*words[1:end], *([] if verb in ("do", "does", "did") and _plain_form(verb) else [verb]), *words[end:]]
    return Stated(_sentence(" ".join(moved)), "verb behind the subject")


def _plain_form(verb: str) -> bool:
    """Return whether the main verb is unchanged without the auxiliary: *do people pay* → *people pay*."""
    return verb == "do"


def _subject_end(words: list[str], *, finite: bool) -> int | None:
    """Return the index of the first word after the subject, which begins at 1; None if it is not found."""
    if len(words) < 3:
        return None
    if words[1].lower() in PRONOUNS and words[2].lower() not in GOES_ON:
        return 2
    for place in range(2, len(words)):
        word = words[place].lower().strip(",;")
        after = words[place + 1].lower() if place + 1 < len(words) else ""
        if words[place - 1].lower() in ("to", "the", "a", "an", "of", "who", "which", "that") or after == "be":
            continue  # an infinitive, a noun, or the verb of a relative clause
        if finite and word in VERBS:
            return place - 1 if words[place - 1].lower() in ADVERBS and place > 2 else place
        if words[place - 1].lower().strip(",") in SUBJECTS and word not in GOES_ON and word not in ("and", "or"):
            return place
    return None


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."
