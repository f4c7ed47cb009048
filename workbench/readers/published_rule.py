"""The rule of the published code, kept so that published numbers can be recomputed.

Ceron et al. 2024, section 5.3: "we search for the first occurrence of one of the option labels […]. If the label is
negated (e.g., not favorable or don't agree), we map it to the opposite stance." The code behind it
(`tceron/eval_political_worldviews`, response_postprocessing/binarize_answers.py) does more than the paper says:

- the labels of all its templates count, whichever template was asked, and only as whole words of the letters a-z;
- twelve beginnings of its own instructions are removed first, among them `"beneficial" or "harmful"` but not
  `"harmful" or "beneficial"`;
- only `not` and `don't` directly before a label negate it, and a label after any other word that ends in `'t`
  (`can't agree`) is skipped.

So it reads `cannot agree`, `not at all beneficial` and `neither beneficial nor harmful` as agreement, an echoed
`"harmful" or "beneficial"` as the first of the two, and cannot read `can't agree` and `unfavorable`.
"""

from __future__ import annotations

import re

from workbench.domain.readings import Reading, Stance
from workbench.errors import UsageError

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
    """Return the words read as agreement and as rejection: the published ones and the template's own labels."""
    own = (positive.strip().lower(), negative.strip().lower())
    if not all(_WORD.fullmatch(label) for label in own):
        raise UsageError(
            f"the published rule reads single words of the letters a-z; found the labels {positive!r} and"
            f" {negative!r}; choose the rule 'ours'"
        )
    favour, against = (NEGATIVE, POSITIVE) if own[0] in NEGATIVE or own[1] in POSITIVE else (POSITIVE, NEGATIVE)
    return (favour | {own[0]}) - {own[1]}, (against | {own[1]}) - {own[0]}


def read_as_published(text: str, favour: frozenset[str], against: frozenset[str]) -> Reading:
    """Return the reading of the published code; the two sets come from `label_sets`.

    Removed text is replaced by spaces, so that positions of words are kept; the result differs from the published code
    only if removing text would join two words.
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

    The first label decides once its word has ended, unless it is part of a possible beginning of one of the `ECHOES`:
    `"beneficial" or` may still become a text that is removed.
    """
    found = read_as_published(text, favour, against)
    if found.label is None or found.stop is None or found.stop == len(text):
        return False
    lowered = _lowered(text)
    begins = range(max(0, len(text) - _LONGEST_ECHO), found.stop)
    return not any(echo.startswith(lowered[start:]) for start in begins for echo in ECHOES)


def _lowered(text: str) -> str:
    """Return a text in lower case, each character at its position."""
    return text.replace("İ", "i").lower().replace("\n", " ")  # İ is the only letter whose lower case is longer


def _reading(before: list[re.Match[str]], label: re.Match[str], agrees: bool) -> Reading:
    words = [earlier[0] for earlier in before]
    start = label.start()
    if words[-1:] == ["not"]:
        start = before[-1].start()
    elif words == ["don", "t"]:
        start = before[0].start()
    stance = Stance.AGREE if agrees is (start == label.start()) else Stance.DISAGREE
    negation = "" if start == label.start() else "not " if words[-1] == "not" else "don't "
    shown = negation + label[0]
    return Reading(stance.value, f'"{shown}" read as {stance.value}', start, label.end())
