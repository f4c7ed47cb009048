"""Lines of an answer, and the wordings in them: surrounding marks are removed, and the inside stays unchanged.

A changed form of a multiple-choice question is a draft of several lines: the question, and its options.
"""

from __future__ import annotations

import re

from workbench.domain.choices import Choice
from workbench.domain.statements import VariantKind

YES_NO = ("Yes", "No")
"options of every written changed form (Tjuatja et al. 2024, table 1), added to a question without options"
_OPTION = re.compile(r"\W{0,4}([A-Z])\W{0,2}[.):\]]\W{0,3}\s+(\S.*)")
_BEHIND = re.compile(r"\s+\(?A[.):]\s*(Yes)\W{1,4}B[.):]\s*(No)\b\W*$", re.IGNORECASE)
"options on the line of the question"


def drafted(kind: VariantKind, line: str) -> str:
    """Return the wording in a draft.

    Examples
    --------
    >>> drafted(VariantKind.NEGATION, "1. Taxes should not fall.")
    'Taxes should not fall.'
    >>> drafted(VariantKind.CHANGED, "**Wouldn't you agree?**\\n\\n(A) Yes.\\n(B) No.")
    "Wouldn't you agree?\\nA. Yes\\nB. No"
    """
    if kind is not VariantKind.CHANGED:
        return bare(line)
    stem, options = _parted([one for one in line.split("\n") if one.strip()])
    known = {said.lower(): said for said in YES_NO}
    shown = (bare(option).rstrip(" .") for option in options)
    return Choice(bare(stem), tuple(known.get(one.lower(), one) for one in shown) or YES_NO).lettered()


def questions_of(answer: str) -> tuple[str, ...]:
    """Return the parts of an answer: questions with their options, and all other lines.

    Examples
    --------
    >>> questions_of("Here it is:\\n\\nIs it?\\nA. Yes\\nB. No\\nI hope this helps!")
    ('Here it is:', 'Is it?\\nA. Yes\\nB. No', 'I hope this helps!')
    """
    parts: list[list[str]] = []
    for line in answer.split("\n"):
        if not line.strip():
            continue
        found = _OPTION.fullmatch(line.strip())
        given = len(_parted(parts[-1])[1]) if parts else 0
        if found and parts and ord(found[1]) - ord("A") == given:
            parts[-1].append(line)
        else:
            parts.append([line])
    return tuple("\n".join(part) for part in parts) or (answer,)


def offers(line: str) -> bool:
    """Return whether a part of an answer has options."""
    return bool(_parted([one for one in line.split("\n") if one.strip()])[1])


def _parted(lines: list[str]) -> tuple[str, list[str]]:
    """Return the question and its options, without letters."""
    options: list[str] = []
    stem = list(lines)
    while len(stem) > 1 and (found := _OPTION.fullmatch(stem[-1].strip())):
        options.insert(0, found[2])
        stem.pop()
    text = "\n".join(stem)
    if not options and (behind := _BEHIND.search(text)):
        return text[: behind.start()], [behind[1], behind[2]]
    return text, options


def lines_of(answer: str) -> tuple[str, ...]:
    """Return the unchanged non-blank lines of an answer. A blank answer is one line.

    Examples
    --------
    >>> lines_of("1. One.\\n\\n2. Two.")
    ('1. One.', '2. Two.')
    >>> lines_of("")
    ('',)
    """
    return tuple(line for line in answer.split("\n") if line.strip()) or (answer,)


_MARKER = re.compile(r"(?:[-*•‣▪–—]|\(?\d{1,3}(?:[.):\]]|\s*[-–—](?=\s))|[a-z]\))\s+")
_LABEL = re.compile(
    r"(?:the\s+)?(?:(?:paraphrased?|reformulat(?:ed|ion)|rewritten|rephrased|negated|negation|opposite|original"
    r"|political(?:ly)?(?: opposite)?)\s*)?"
    r"(?:statement|question|version|sentence|answer|output|paraphrase|reformulation|negation|opposite|rewrite)?"
    r"\s*\d{0,3}\s*:\s+",
    re.IGNORECASE,
)
_EMPHASIS = ("**", "__", "*", "_", "`")
_QUOTES = {'"': '"', "“": "”", "”": "”", "„": "“", "«": "»", "»": "«", "‘": "’", "'": "'", "‹": "›"}


def bare(line: str) -> str:
    """Return a line without the marks around a wording.

    Removed repeatedly: spaces; a bullet or a number of up to three digits (`3.`, `(3)`, `3 -`); a name such as
    `Paraphrase 3:`; emphasis (`**…**`, backticks); one pair of quotation marks around the whole. The inside stays
    unchanged.

    Examples
    --------
    >>> bare('12. **"Taxes should fall."**')
    'Taxes should fall.'
    >>> bare("3.5 percent is enough.")
    '3.5 percent is enough.'
    >>> bare('"Freedom" is a word, as is "duty"')
    '"Freedom" is a word, as is "duty"'
    """
    text = line.strip()
    for _ in range(8):
        before = text
        text = _without_marker(text)
        for mark in _EMPHASIS:
            if _around(text, mark, mark):
                text = text[len(mark) : -len(mark)].strip()
        if text[:1] in _QUOTES and _around(text, text[0], _QUOTES[text[0]]):
            text = text[1:-1].strip()
        if text == before:
            break
    return text


def _without_marker(text: str) -> str:
    if found := _MARKER.match(text):
        text = text[found.end() :]
    found = _LABEL.match(text)
    return text[found.end() :] if found and found.end() > 2 and found.group().strip(" \t:") else text


def _around(text: str, first: str, last: str) -> bool:
    """Return whether marks surround the whole text and do not occur inside it."""
    inside = text[len(first) : len(text) - len(last)]
    whole = len(text) > len(first) + len(last) and text.startswith(first) and text.endswith(last)
    return whole and ((first not in inside and last not in inside) or (first == "'" and inside.count("'") == 1))
