"""First drafts of English wordings by rule: negations, and statements from questions."""

from __future__ import annotations

import re
from dataclasses import dataclass


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text, for readable lists of words in code."""
    return frozenset(text.split())


MODALS = frozenset(
    ("should", "must", "ought", "may", "might", "can", "could", "will", "would", "shall")
)
COPULAS = frozenset(("is", "are", "was", "were", "am"))
SHORT = frozenset(("it's", "that's", "there's", "he's", "she's"))
"contractions with *is*"
PERFECT = frozenset(("has", "have", "had"))
SUPPORT = {
    "has": "does",
    "have": "do",
    "had": "did",
    "needs": "does",
    "need": "do",
    "wants": "does",
    "want": "do",
}
"main verbs that take *do* -> its form"
BASE = {"has": "have", "had": "have", "needs": "need", "wants": "want"}
OPENERS = word_set(
    """
    who which whose whom that what where when whenever while whether if unless because although
    though since as than how why whoever whatever until once
    """
)
"words that open a clause whose verb is not negated"
RELATIVE = frozenset(("who", "which", "whose", "whom", "that", "what", "whoever", "whatever"))
LEADING = word_set(
    """
    if when whenever while unless because although though since once as
    """
)
"openers whose clause, at the beginning of the sentence, ends at a comma"
DENIERS = frozenset(
    ("no", "nobody", "none", "nothing", "neither", "never", "nowhere", "hardly", "few", "little")
)
"negative subjects: a further `not` would be a double negation"
NOUN_BEFORE = frozenset(
    (
        "the",
        "a",
        "an",
        "his",
        "her",
        "its",
        "their",
        "our",
        "my",
        "your",
        "free",
        "political",
        "good",
        "of",
        "this",
    )
)
"words before *will*, *might*, *can*, *must* and *need* that make them nouns"
PARTICIPLES = word_set(
    """
    been become begun brought built come cut done driven fallen found gone got grown held kept known
    led left lost made met paid put risen said seen sent set shown sold spent stood taken taught
    thought told understood won
    """
)
STARTERS = word_set(
    """
    the a an this that these those it there they we he she you people all every each some many most
    few any both no nobody nothing none such in on at by for with without if when while because
    although more less men women children parents workers taxes schools companies everyone everybody
    citizens immigrants foreigners refugees asylum public private large rich poor social military
    nuclear economic political our their its my as one to
    """
)
"""first words that lose their capital inside a sentence

Others may be names and keep it.
"""


@dataclass(frozen=True, slots=True)
class Negation:
    """A drafted negation and the rule that made it."""

    text: str
    rule: str
    "`not added`, `not taken away`, `do not`, `denied as a whole`"


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    start: int
    stop: int


def negate(text: str) -> Negation | None:
    """Return a draft of the negation of an English statement, or None.

    It is None for a question, and for a text without words.

    Examples
    --------
    >>> negate("The state should pay.").text
    'The state should not pay.'
    >>> negate("People who are ill can stay at home.").text
    'People who are ill cannot stay at home.'
    >>> negate("Taxes need to fall.").text
    'Taxes do not need to fall.'
    >>> negate("Wealth does not trickle down.").text
    'Wealth does trickle down.'
    >>> negate("The rich pay too little.").text
    'It is not the case that the rich pay too little.'
    """
    text = text.strip()
    words = [_Word(match.group(), *match.span()) for match in re.finditer(r"[\w'’-]+", text)]
    if not words or text.endswith("?"):
        return None
    verb_index = _main_verb(words, text)
    return (_turned(text, words, verb_index) if verb_index is not None else None) or _denied(
        text, words
    )


def _main_verb(words: list[_Word], text: str) -> int | None:
    """Return the index of the main clause's finite verb, or None if no rule finds it.

    A clause with an opener takes the next known verb. If that leaves none for the main clause, the
    clause's own verb is unknown (`who commit a crime should`), and the last verb taken is the main
    verb.
    """
    n_open_clauses, opener = 0, ""
    last_taken: int | None = None
    until_comma = words[0].text.lower() in LEADING and "," in text
    for index, word in enumerate(words):
        lower = word.text.lower()
        if until_comma:
            until_comma = (
                ","
                not in text[word.stop : words[index + 1].start if index + 1 < len(words) else None]
            )
        elif _finite(words, index):
            if not n_open_clauses:
                return None if words[0].text.lower() in DENIERS else index
            n_open_clauses -= 1
            last_taken = index if opener in RELATIVE and lower in MODALS else None
        elif lower in OPENERS and _opens(words, index):
            n_open_clauses, opener = n_open_clauses + 1, lower
    return last_taken


def _opens(words: list[_Word], place: int) -> bool:
    """Return whether a word of `OPENERS` opens a clause here.

    The word *that* before a noun (`in that country`) does not.
    """
    lower = words[place].text.lower()
    if not place:
        return lower not in LEADING and lower != "that"
    return lower != "that" or words[place - 1].text.lower() not in (
        "in",
        "of",
        "for",
        "with",
        "at",
        "on",
        "by",
        "to",
    )


def _finite(words: list[_Word], place: int) -> bool:
    """Return whether the word at an index is a verb that takes `not`."""
    lower = _verb_of_contraction(words[place].text)
    if lower in SHORT or lower in COPULAS or lower in ("do", "does", "did"):
        return True
    after_noun = place > 0 and words[place - 1].text.lower() in NOUN_BEFORE
    if after_noun or not place or (place and words[place].text[0].isupper()):
        return False
    return (
        lower in MODALS
        or lower in PERFECT
        or (lower in SUPPORT and _next(words, place) in ("to", "not", "a", "more"))
    )


def _verb_of_contraction(word: str) -> str:
    """Return the verb of a contraction.

    Examples are `shouldn't` → `should`, `can't` → `can`, `won't` → `will`.
    """
    lower = word.lower().replace("’", "'")
    if lower == "cannot":
        return "can"
    if not lower.endswith("n't"):
        return lower
    return {"can't": "can", "won't": "will", "shan't": "shall"}.get(lower, lower[:-3])


def _next(words: list[_Word], place: int) -> str:
    return words[place + 1].text.lower() if place + 1 < len(words) else ""


def _turned(text: str, words: list[_Word], place: int) -> Negation | None:
    """Return the text with the verb at an index negated, or no longer negated."""
    word, verb = words[place], _verb_of_contraction(words[place].text)
    lower = word.text.lower().replace("’", "'")
    if lower == "cannot" or lower.endswith("n't"):
        return Negation(
            _replaced(text, word.start, word.stop, _cased(verb, word.text)), "not taken away"
        )
    following = _next(words, place)
    if following in ("no", "none", "nothing", "nobody"):
        return None
    if lower.endswith("'s"):
        return Negation(_replaced(text, word.stop - 2, word.stop, " is not"), "not added")
    if following in ("not", "never") and not (
        place + 2 < len(words) and words[place + 2].text.lower() == "only"
    ):
        return Negation(_replaced(text, word.stop, words[place + 1].stop, ""), "not taken away")
    if following == "not":
        return None
    if verb in SUPPORT and not (verb in PERFECT and _participle(words, place)):
        replacement = f"{SUPPORT[verb]} not {BASE.get(verb, verb)}"
        return Negation(_replaced(text, word.start, word.stop, replacement), "do not")
    replacement_ = "cannot" if verb == "can" else f"{word.text} not"
    return Negation(_replaced(text, word.start, word.stop, replacement_), "not added")


def _participle(words: list[_Word], place: int) -> bool:
    """Return whether *has* or *have* is an auxiliary verb.

    A participle then follows, ignoring adverbs.
    """
    for word in words[place + 1 : place + 4]:
        lower = word.text.lower()
        if lower.endswith("ed") or lower in PARTICIPLES:
            return True
        if not (
            lower.endswith("ly")
            or lower in ("always", "already", "long", "often", "never", "also", "ever")
        ):
            return False
    return False


def _denied(text: str, words: list[_Word]) -> Negation:
    """Return the text negated as a whole."""
    first_word = words[0].text
    start = words[0].start
    beginning = text[:start] + (
        first_word[0].lower() + first_word[1:]
        if _verb_of_contraction(first_word).removesuffix("'s") in STARTERS
        else first_word
    )
    return Negation(
        f"It is not the case that {beginning}{text[words[0].stop :]}", "denied as a whole"
    )


def _replaced(text: str, start: int, stop: int, replacement: str) -> str:
    return text[:start] + replacement + text[stop:]


def _cased(word: str, model_word: str) -> str:
    return word.capitalize() if model_word[:1].isupper() else word


FRAMES = (
    (r"do you (?:agree|think|believe|find|feel)(?: that)?,? (?!should\b)(?P<rest>.+)", "{rest}"),
    (r"do you agree with the (?:following )?statement:? ['\"“]?(?P<rest>.+?)['\"”]?", "{rest}"),
    (
        r"are you (?P<rest>(?:in favou?r of|for|against|opposed to|willing to|satisfied "
        r"with|proud) .+)",
        "I am {rest}",
    ),
    (r"do you (?P<rest>.+)", "I {rest}"),
    (r"would you (?P<rest>.+)", "I would {rest}"),
    (r"is it (?:true|the case) that (?P<rest>.+)", "{rest}"),
)
"frames of questions, and the statements made from them"
PRONOUNS = frozenset(
    ("it", "there", "we", "they", "he", "she", "one", "everyone", "everybody", "people", "this")
)
"subjects of one word"
SUBJECTS = word_set(
    """
    state states government governments country countries council parliament confederation canton
    cantons municipality municipalities city cities union eu police army law citizens immigrants
    foreigners refugees women men children parents workers schools companies employers employees
    taxes cars banks pensioners hospitals couples voters
    """
)
"""nouns that are usual subjects

A following preposition continues the subject.
"""
GOES_ON = frozenset(
    (
        "of",
        "in",
        "for",
        "with",
        "on",
        "from",
        "who",
        "which",
        "that",
        "under",
        "without",
        "at",
        "to",
    )
)
VERBS = word_set(
    """
    abandon abolish accede accept act adapt adopt allow apply approve ban be bear become benefit
    build buy close come comply consider continue contribute cooperate cover create cut deal decide
    decline decrease defend demand deny deport develop disclose do earn embark enact end enforce
    ensure enter establish examine exceed exclude expand expel export extend face fall finance fix
    focus follow forbid force fund get give go grant guarantee have help hold host implement impose
    improve include increase influence integrate intensify intervene introduce invest join keep lead
    learn leave legalise legalize levy lift limit live lose lower maintain make manage meet
    modernise move nationalise nationalize need negotiate obtain offer oppose own participate pass
    pay permit phase play possess prevent prioritise prioritize privatise privatize procure produce
    prohibit promote protect provide publish punish pursue put raise ratify receive recognise
    recognize redistribute reduce refuse regulate reintroduce reject relax remain remove renounce
    repeal replace require respect restrict retain retire rise run save scrap seek sell set share
    show sign spend start stay stop strengthen strive subsidise subsidize supply support take tax
    teach tighten tolerate trade use vote wear welcome withdraw work
    """
)
"base forms of verbs that end a subject"
ADVERBS = frozenset(
    ("also", "always", "not", "never", "generally", "only", "still", "again", "fully", "more", "no")
)


@dataclass(frozen=True, slots=True)
class Stated:
    """A drafted statement and the rule that made it."""

    text: str
    rule: str
    "`frame`, `verb behind the subject`"


def stated(question: str) -> Stated | None:
    """Return a draft of the statement that *yes* makes, or None if no rule finds the subject.

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
        if match := re.fullmatch(pattern, text, re.IGNORECASE):
            return Stated(_sentence(form.format(rest=match["rest"])), "frame")
    words = text.split(" ")
    verb = words[0].lower()
    if verb not in MODALS and verb not in (
        "is",
        "are",
        "was",
        "were",
        "has",
        "have",
        "does",
        "do",
        "did",
    ):
        return None
    end = _subject_end(words, finite=verb in MODALS or verb in ("does", "do", "did"))
    if end is None:
        return None
    reordered = [
        *words[1:end],
        *([] if verb in ("do", "does", "did") and _plain_form(verb) else [verb]),
        *words[end:],
    ]
    return Stated(_sentence(" ".join(reordered)), "verb behind the subject")


def _plain_form(verb: str) -> bool:
    """Return whether the main verb is unchanged without the auxiliary.

    An example is *do people pay* → *people pay*.
    """
    return verb == "do"


def _subject_end(words: list[str], *, finite: bool) -> int | None:
    """Return the index of the first word after the subject, or None if it is not found.

    The subject begins at 1.
    """
    if len(words) < 3:
        return None
    if words[1].lower() in PRONOUNS and words[2].lower() not in GOES_ON:
        return 2
    for index in range(2, len(words)):
        word = words[index].lower().strip(",;")
        next_word = words[index + 1].lower() if index + 1 < len(words) else ""
        if (
            words[index - 1].lower() in ("to", "the", "a", "an", "of", "who", "which", "that")
            or next_word == "be"
        ):
            continue  # an infinitive, a noun, or the verb of a relative clause
        if finite and word in VERBS:
            return index - 1 if words[index - 1].lower() in ADVERBS and index > 2 else index
        if (
            words[index - 1].lower().strip(",") in SUBJECTS
            and word not in GOES_ON
            and word not in ("and", "or")
        ):
            return index
    return None


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."
