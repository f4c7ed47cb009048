"""The questions of the BiasMonkey download: both forms of each, and its typos, joined by key.

Files of one bias must have the same original for a key, because only one text of a question was asked. Implausible
texts, which suggest that a column is shifted by a row, are read with a warning that stays with the questions.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from workbench.domain.choices import Bias, Choice, ChoicePair, Perturbation
from workbench.domain.counting import plural
from workbench.errors import Finding
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
"files whose originals are the same for the same key"
FARTHEST = 3
FEWEST = 8
"rows; with fewer, words shared by chance decide which texts belong together"


@dataclass(slots=True)
class Prompts:
    """The questions of all files."""

    pairs: dict[Stem, dict[str, ChoicePair]] = field(default_factory=dict)
    "stem without condition -> key -> question, in the order of the files"
    misnumbered: dict[Stem, int] = field(default_factory=dict)
    "number of perturbed questions whose recorded number of options differs from their text"
    places: dict[tuple[Stem, str], Row] = field(default_factory=dict)
    "(stem of the file, key) -> row of the question in the file"

    def copy(self) -> Prompts:
        """Return a copy of the questions, to which a file may be added on trial."""
        pairs = {stem: dict(known) for stem, known in self.pairs.items()}
        return Prompts(pairs, dict(self.misnumbered), dict(self.places))

    def place(self, stem: Stem, key: str) -> Row:
        """Return the row of a question's original in the first file that was read."""
        return next(row for (asked, there), row in self.places.items() if asked.base == stem and there == key)

    def of(self, stem: Stem) -> dict[str, ChoicePair]:
        """Return the questions of a bias by their keys."""
        return self.pairs.get(stem.base, {})

    def all(self) -> tuple[ChoicePair, ...]:
        """Return all questions, by bias."""
        return tuple(pair for pairs in self.pairs.values() for pair in pairs.values())


def read_prompts(files: Iterable[Source], findings: Findings) -> Prompts:
    """Return the questions of files, unperturbed ones first; every fault is noted."""
    found = Prompts()
    for source in sorted(files, key=lambda one: one.stem.condition is not None):  # otherwise keeps their order
        own = Findings()
        read = _read(source, found.copy(), own)
        if not own.found:
            found = _with_warnings(read, source, tuple(_grouped(source, own.warned)))
        faults = [*own.found, *own.warned] if own.found else []
        findings.found += [replace(finding, file=source.name) for finding in faults]
    return found


def _grouped(source: Source, warned: Sequence[Finding]) -> Iterator[str]:
    """Yield warnings of one kind as one sentence: the first of them, and the number of similar rows."""
    for _, alike in groupby(sorted(warned, key=_kind), key=_kind):
        first, *others = alike
        more = f"; the same in {plural(len(others), 'other row')}" if others else ""
        yield str(replace(first, file=source.name, found=first.found + more))


def _kind(finding: Finding) -> tuple[str, str]:
    return finding.column or "", finding.expected


def _with_warnings(prompts: Prompts, source: Source, warnings: tuple[str, ...]) -> Prompts:
    """Add the warnings of a file to its questions."""
    pairs = prompts.of(source.stem)
    for stem, key in prompts.places if warnings else ():
        if stem == source.stem:
            pairs[key] = replace(pairs[key], warnings=(*pairs[key].warnings, *warnings))
    return prompts


def _read(source: Source, prompts: Prompts, findings: Findings) -> Prompts:
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
    return prompts


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
    if original.options != perturbed.options:
        found = f"the options {' / '.join(perturbed.options)}"
        findings.add(row.file, row.line, column, found, f"those of the original: {' / '.join(original.options)}")
    elif len(original.stem.split()) != len(perturbed.stem.split()):
        words = len(perturbed.stem.split()), len(original.stem.split())
        found = f"{words[0]} words for {row.get('key')!r}, and {words[1]} in its original"
        expected = "the original with typos, which has as many words: rows may be shifted"
        findings.warn(row.file, row.line, column, found, expected)
    if row.get(OPTIONS_NEW) and whole_number(row.get(OPTIONS_NEW)) != len(perturbed.options):
        prompts.misnumbered[stem] = prompts.misnumbered.get(stem, 0) + 1
    pair = ChoicePair(row.get("key"), stem.bias, original, None, variant=stem.variant)
    _put(row, stem, pair, prompts, findings)
    known = prompts.pairs[stem.base][pair.key]
    prompts.pairs[stem.base][pair.key] = replace(known, perturbed={**known.perturbed, (perturbation, 1): perturbed})


def _put(row: Row, asked: Stem, pair: ChoicePair, prompts: Prompts, findings: Findings) -> None:
    """Store a new question, and compare its original with those of other files for the same key.

    Different originals within one bias are a contradiction. Between biases originals are usually the same, but need not
    be.
    """
    stem, column = asked.base, GROUPS[asked.bias][0]
    alike = (SAME_QUESTIONS.get(stem), *(s for s, same in SAME_QUESTIONS.items() if same == stem))
    for other in (stem, *(alike if asked == stem else ())):
        known = prompts.of(other).get(pair.key) if other else None
        if other is not None and known is not None and known.original != pair.original:
            there = prompts.place(other, pair.key)
            found = f"another text for {pair.key!r} than in {there.file.name}, line {there.line}"
            note = findings.add if other == stem else findings.warn
            note(row.file, row.line, column, found, "one original per key: rows or columns may be shifted")
    prompts.pairs.setdefault(stem, {}).setdefault(pair.key, pair)
    prompts.places.setdefault((asked, pair.key), row)


def _check_number(row: Row, column: str, choice: Choice, findings: Findings) -> None:
    """Note numbers of options that differ from the text. A missing column is ignored."""
    said = row.get(column)
    if said and whole_number(said) != len(choice.options):
        findings.add(row.file, row.line, column, repr(said), f"{len(choice.options)}, the options of the text")


def _boolean(row: Row, findings: Findings) -> bool | None:
    text = row.get(MIDDLE).casefold()
    if text not in BOOLEANS:
        findings.add(row.file, row.line, MIDDLE, repr(text), "True, False or nothing")
    return BOOLEANS.get(text)


def _check_in_step(column: str, whole: list[tuple[Row, Choice, Choice]], findings: Findings) -> None:
    """Warn if the texts of a column share more words with their questions some rows up or down."""
    if len(whole) < FEWEST:
        return
    ours = [_words(original) for _, original, _ in whole]
    theirs = [_words(changed) for _, _, changed in whole]
    fits = {shift: _shared(ours, theirs, shift) for shift in range(-FARTHEST, FARTHEST + 1)}
    best = max(fits, key=lambda shift: fits[shift])
    if best and fits[best] > fits[0] * 1.1:
        row = whole[0][0]
        found = (
            f"texts that fit the questions {plural(abs(best), 'row')} {'above' if best > 0 else 'below'} them "
            f"({fits[best]:.0%} of the words shared, and {fits[0]:.0%} where they stand)"
        )
        expected = "both forms of a question in one row: the column may be shifted"
        findings.warn(row.file, row.line, column, found, expected)


def _words(choice: Choice) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", choice.stem.casefold()))


def _shared(ours: list[frozenset[str]], theirs: list[frozenset[str]], shift: int) -> float:
    """Return the mean share of words that questions have in common with the texts `shift` rows further down."""
    rows = [(ours[i], theirs[i + shift]) for i in range(len(ours)) if 0 <= i + shift < len(ours)]
    return sum(len(a & b) / max(1, len(a | b)) for a, b in rows) / len(rows)
