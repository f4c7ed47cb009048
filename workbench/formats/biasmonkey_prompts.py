"""The questions of the BiasMonkey download: both forms of each, and its errors of typing, put together by key.

What one file says of a key must be what the others say: a column that slipped by a row would join the answers to one
question with the text of another.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field, replace

from workbench.domain.choices import Bias, Choice, ChoicePair, Perturbation
from workbench.formats.biasmonkey_files import GROUPS, INDEX, Source, Stem, whole_number
from workbench.formats.choices_cells import cell_choice
from workbench.formats.choices_rules import form_fault
from workbench.formats.tabular import Findings, Row, is_new, read_rows

OPTIONS, OPTIONS_NEW, MIDDLE = "num options", "num options new", "orig middle option"
BOOLEANS = {"true": True, "false": False, "": None}
SAME_QUESTIONS = {
    Stem(Bias.OPINION_FLOAT): Stem(Bias.ODD_EVEN),
    Stem(Bias.ACQUIESCENCE, "reword"): Stem(Bias.ACQUIESCENCE),
}
"files of which the originals are the same where the key is"
FARTHEST = 3
FEWEST = 8
"rows: with fewer, words shared by chance decide which text belongs to which"

Place = tuple[Row, str]


@dataclass(slots=True)
class Prompts:
    """What all files of questions say."""

    pairs: dict[Stem, dict[str, ChoicePair]] = field(default_factory=dict)
    "stem without condition -> key -> the question, in the order of the files"
    misnumbered: dict[Stem, int] = field(default_factory=dict)
    "perturbed questions that record another number of options than their text has"
    places: dict[tuple[Stem, str], Place] = field(default_factory=dict)
    "where the original of each question stands"

    def of(self, stem: Stem) -> dict[str, ChoicePair]:
        """Return the questions of a bias by their keys."""
        return self.pairs.get(stem.base, {})

    def all(self) -> tuple[ChoicePair, ...]:
        """Return all questions, bias by bias."""
        return tuple(pair for pairs in self.pairs.values() for pair in pairs.values())


def read_prompts(files: Iterable[Source], findings: Findings) -> Prompts:
    """Return what files of questions hold, the unperturbed first; every fault is noted."""
    found = Prompts()
    for source in sorted(files, key=lambda one: one.stem.condition is not None):  # keeps their order otherwise
        _read(source, found, findings)
    return found


def _read(source: Source, prompts: Prompts, findings: Findings) -> None:
    stem = source.stem
    names = GROUPS[stem.bias]
    optional = (OPTIONS_NEW, MIDDLE, INDEX)
    rows = read_rows(source.path, findings, required=("key", OPTIONS, *names), optional=optional)
    seen: dict[Hashable, int] = {}
    whole = []
    for row in rows:
        original, changed = (cell_choice(row, name, findings) for name in names)
        new = is_new(seen, row.get("key"), row, "key", findings)
        if original is None or changed is None or not new or not row.get("key"):
            continue
        whole.append((row, original, changed))
        _check_number(row, OPTIONS, original, findings)
        if stem.condition is None:
            _add(row, stem, original, changed, prompts, findings)
        else:
            _perturb(row, stem, stem.condition, original, changed, prompts, findings)
    _check_in_step(names[1], whole, findings)


def _add(row: Row, stem: Stem, original: Choice, changed: Choice, prompts: Prompts, findings: Findings) -> None:
    middle = _boolean(row, findings)
    pair = ChoicePair(row.get("key"), stem.bias, original, changed, middle_removed=middle, variant=stem.variant)
    _check_number(row, OPTIONS_NEW, changed, findings)
    fault = form_fault(pair)
    if fault is not None:
        findings.add(row.file, row.line, GROUPS[stem.bias][1], fault.found, fault.expected)
    _put(row, stem, pair, prompts, findings)


def _perturb(
    row: Row,
    stem: Stem,
    perturbation: Perturbation,
    original: Choice,
    perturbed: Choice,
    prompts: Prompts,
    findings: Findings,
) -> None:
    column = GROUPS[stem.bias][1]
    if original.options != perturbed.options or len(original.stem.split()) != len(perturbed.stem.split()):
        expected = "the original with errors of typing: as many words, and the same options"
        findings.add(row.file, row.line, column, "the text of another question", expected)
    if row.get(OPTIONS_NEW) and whole_number(row.get(OPTIONS_NEW)) != len(perturbed.options):
        prompts.misnumbered[stem] = prompts.misnumbered.get(stem, 0) + 1
    pair = ChoicePair(row.get("key"), stem.bias, original, None, variant=stem.variant)
    _put(row, stem.base, pair, prompts, findings)
    known = prompts.pairs[stem.base][pair.key]
    prompts.pairs[stem.base][pair.key] = replace(known, perturbed={**known.perturbed, (perturbation, 1): perturbed})


def _put(row: Row, stem: Stem, pair: ChoicePair, prompts: Prompts, findings: Findings) -> None:
    """Keep a question unless it is known, and compare its original with what other files say of the key."""
    place = (row, GROUPS[stem.bias][0])
    for other in (stem, SAME_QUESTIONS.get(stem), *(s for s, same in SAME_QUESTIONS.items() if same == stem)):
        known = prompts.of(other).get(pair.key) if other else None
        if other is not None and known is not None and known.original != pair.original:
            there, _ = prompts.places[other, pair.key]
            found = f"another text for {pair.key!r} than in {there.file.name}, line {there.line}"
            findings.add(row.file, row.line, place[1], found, "one original a key: rows or columns may be shifted")
    prompts.pairs.setdefault(stem, {}).setdefault(pair.key, pair)
    prompts.places.setdefault((stem, pair.key), place)


def _check_number(row: Row, column: str, choice: Choice, findings: Findings) -> None:
    """Note where a number of options is not that of the text. A column that is not there says nothing."""
    said = row.get(column)
    if said and whole_number(said) != len(choice.options):
        findings.add(row.file, row.line, column, repr(said), f"{len(choice.options)}, the options of the text")


def _boolean(row: Row, findings: Findings) -> bool | None:
    text = row.get(MIDDLE).casefold()
    if text not in BOOLEANS:
        findings.add(row.file, row.line, MIDDLE, repr(text), "True, False or nothing")
    return BOOLEANS.get(text)


def _check_in_step(column: str, whole: list[tuple[Row, Choice, Choice]], findings: Findings) -> None:
    """Note where the texts of a column would fit their questions better some rows up or down, by the words shared."""
    if len(whole) < FEWEST:
        return
    ours = [_words(original) for _, original, _ in whole]
    theirs = [_words(changed) for _, _, changed in whole]
    fits = {shift: _shared(ours, theirs, shift) for shift in range(-FARTHEST, FARTHEST + 1)}
    best = max(fits, key=lambda shift: fits[shift])
    if best and fits[best] > fits[0] * 1.1:
        row = whole[0][0]
        found = f"texts that fit the questions {abs(best)} rows {'above' if best > 0 else 'below'} them"
        findings.add(row.file, row.line, column, found, "both forms of a question in one row: the column is shifted")


def _words(choice: Choice) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", choice.stem.casefold()))


def _shared(ours: list[frozenset[str]], theirs: list[frozenset[str]], shift: int) -> float:
    """Return the mean share of words that questions have in common with the texts so many rows further down."""
    rows = [(ours[i], theirs[i + shift]) for i in range(len(ours)) if 0 <= i + shift < len(ours)]
    return sum(len(a & b) / max(1, len(a | b)) for a, b in rows) / len(rows)
