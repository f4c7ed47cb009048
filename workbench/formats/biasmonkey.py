"""The questions of the BiasMonkey download: both forms of each, and its typos, joined by key.

Files of one bias must have the same original for a key, because only one text of a question was
asked. Implausible texts, which suggest that a column is shifted by a row, are read with a warning
that stays with the questions.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from itertools import chain, groupby
from pathlib import Path

from workbench.domain.choices import (
    LETTERS,
    AnsweredPair,
    AnswerSet,
    Arm,
    ArmAnswers,
    Bias,
    Choice,
    ChoicePair,
    Perturbation,
)
from workbench.domain.names import plural
from workbench.domain.questionnaires import named_few
from workbench.errors import Finding, InputError
from workbench.formats.biasmonkey_files import (
    GROUPS,
    INDEX,
    REWORD,
    Asked,
    Rows,
    Source,
    Stem,
    check_order,
    read_answer_rows,
    sources,
    whole_number,
)
from workbench.formats.choices import cell_choice, form_fault
from workbench.formats.records import Findings
from workbench.formats.tabular import Row, is_new, read_rows

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
        return next(
            row
            for (asked, there), row in self.places.items()
            if asked.base == stem and there == key
        )

    def of(self, stem: Stem) -> dict[str, ChoicePair]:
        """Return the questions of a bias by their keys."""
        return self.pairs.get(stem.base, {})

    def all(self) -> tuple[ChoicePair, ...]:
        """Return all questions, by bias."""
        return tuple(pair for pairs in self.pairs.values() for pair in pairs.values())


def read_prompts(files: Iterable[Source], findings: Findings) -> Prompts:
    """Return the questions of files, unperturbed ones first; every fault is noted."""
    found = Prompts()
    # Otherwise keeps their order.
    for source in sorted(files, key=lambda one: one.stem.condition is not None):
        own = Findings()
        read = _read(source, found.copy(), own)
        if not own.found:
            found = _with_warnings(read, source, tuple(_grouped(source, own.warned)))
        faults = [*own.found, *own.warned] if own.found else []
        findings.found += [replace(finding, file=source.name) for finding in faults]
    return found


def _grouped(source: Source, warned: Sequence[Finding]) -> Iterator[str]:
    """Yield warnings of one kind as one sentence: the first of them, and the number of similar
    rows.
    """
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


def _add(
    row: Row, stem: Stem, original: Choice, changed: Choice, prompts: Prompts, findings: Findings
) -> None:
    middle = _boolean(row, findings)
    pair = ChoicePair(
        row.get("key"), stem.bias, original, changed, middle_removed=middle, variant=stem.variant
    )
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
        findings.add(
            row.file,
            row.line,
            column,
            found,
            f"those of the original: {' / '.join(original.options)}",
        )
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
    prompts.pairs[stem.base][pair.key] = replace(
        known, perturbed={**known.perturbed, (perturbation, 1): perturbed}
    )


def _put(row: Row, asked: Stem, pair: ChoicePair, prompts: Prompts, findings: Findings) -> None:
    """Store a new question, and compare its original with those of other files for the same key.

    Different originals within one bias are a contradiction. Between biases originals are usually
    the same, but need not be.
    """
    stem, column = asked.base, GROUPS[asked.bias][0]
    alike = (SAME_QUESTIONS.get(stem), *(s for s, same in SAME_QUESTIONS.items() if same == stem))
    for other in (stem, *(alike if asked == stem else ())):
        known = prompts.of(other).get(pair.key) if other else None
        if other is not None and known is not None and known.original != pair.original:
            there = prompts.place(other, pair.key)
            found = f"another text for {pair.key!r} than in {there.file.name}, line {there.line}"
            note = findings.add if other == stem else findings.warn
            note(
                row.file,
                row.line,
                column,
                found,
                "one original per key: rows or columns may be shifted",
            )
    prompts.pairs.setdefault(stem, {}).setdefault(pair.key, pair)
    prompts.places.setdefault((asked, pair.key), row)


def _check_number(row: Row, column: str, choice: Choice, findings: Findings) -> None:
    """Note numbers of options that differ from the text. A missing column is ignored."""
    said = row.get(column)
    if said and whole_number(said) != len(choice.options):
        findings.add(
            row.file,
            row.line,
            column,
            repr(said),
            f"{len(choice.options)}, the options of the text",
        )


def _boolean(row: Row, findings: Findings) -> bool | None:
    text = row.get(MIDDLE).casefold()
    if text not in BOOLEANS:
        findings.add(row.file, row.line, MIDDLE, repr(text), "True, False or nothing")
    return BOOLEANS.get(text)


def _check_in_step(
    column: str, whole: list[tuple[Row, Choice, Choice]], findings: Findings
) -> None:
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
            f"texts that fit the questions {plural(abs(best), 'row')} "
            f"{'above' if best > 0 else 'below'} them "
            f"({fits[best]:.0%} of the words shared, and {fits[0]:.0%} where they stand)"
        )
        expected = "both forms of a question in one row: the column may be shifted"
        findings.warn(row.file, row.line, column, found, expected)


def _words(choice: Choice) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", choice.stem.casefold()))


def _shared(ours: list[frozenset[str]], theirs: list[frozenset[str]], shift: int) -> float:
    """Return the mean share of words that questions have in common with the texts `shift` rows
    further down.
    """
    rows = [(ours[i], theirs[i + shift]) for i in range(len(ours)) if 0 <= i + shift < len(ours)]
    return sum(len(a & b) / max(1, len(a | b)) for a, b in rows) / len(rows)


OFFERED = {Bias.ODD_EVEN: 4, Bias.OPINION_FLOAT: 6, Bias.ACQUIESCENCE: 2}
"""number of options of the changed form, if files record the original's: middle removed, one added,
yes and no"""
REPAIRED = Bias.ALLOW_FORBID
"""bias whose perturbed questions were asked with more options than the prompts have, which were
corrected later"""


def read_answer_set(
    source: Source, known: Mapping[str, ChoicePair], findings: Findings
) -> AnswerSet | None:
    """Return the answers of a file, in order of first appearance of the keys; None, with a note, if
    they have faults.

    `known`: the questions of the bias by key; empty if their texts are unknown.
    """
    before = len(findings.found)
    rows = read_answer_rows(source, findings)
    if len(findings.found) > before:
        return None
    recorded = _recorded(source, rows, findings)
    counts: dict[Asked, Counter[str]] = {}
    for number, times in Counter(rows.numbers).items():
        answer = rows.kinds[number]
        counts.setdefault(answer.asked, Counter())[answer.letter] += times
    firsts = rows.first_lines()
    if len(findings.found) > before:
        return None
    warned = len(findings.warned)
    _check_arms(source, counts, firsts, findings)
    _check_options(source, recorded, firsts, known, findings)
    check_order(source, rows, findings)
    warnings = tuple(said_of(source, finding) for finding in findings.warned[warned:])
    return _answer_set(source, counts, recorded, known, warnings)


def said_of(source: Source, finding: Finding) -> str:
    """Return a warning in words: the file of a model, the place, what was found and what was
    expected.
    """
    return str(replace(finding, file=source.name))


def offered(stem: Stem, arm: Arm, recorded: int, changed: int | None) -> int:
    """Return how many options a form really offered. `changed`: the number in the prompt, if
    known.
    """
    if stem.condition is not None or arm is Arm.ORIGINAL:
        return recorded
    return changed or OFFERED.get(stem.bias, recorded)


def _answer_set(
    source: Source,
    counts: Mapping[Asked, Counter[str]],
    recorded: Mapping[Asked, int],
    known: Mapping[str, ChoicePair],
    warnings: tuple[str, ...],
) -> AnswerSet:
    stem = source.stem
    pairs = []
    for key in dict.fromkeys(key for key, _ in counts):
        if any((key, arm) not in counts for arm in Arm):
            continue
        changed = known[key].changed if key in known else None
        there = len(changed.options) if changed else None
        original, other = (
            ArmAnswers(
                dict(counts[key, arm]),
                recorded[key, arm],
                offered(stem, arm, recorded[key, arm], there),
            )
            for arm in Arm
        )
        pairs.append(AnsweredPair(key, original, other))
    return AnswerSet(
        source.model or "",
        stem.bias,
        stem.condition,
        tuple(pairs),
        variant=stem.variant,
        warnings=warnings,
    )


def _recorded(source: Source, rows: Rows, findings: Findings) -> dict[Asked, int]:
    """Return the number of options that each form of each question records; conflicting numbers are
    noted.
    """
    recorded: dict[Asked, int] = {}
    for answer, line in zip(rows.kinds, rows.firsts, strict=True):
        before = recorded.setdefault(answer.asked, answer.recorded)
        if before != answer.recorded:
            found = (
                f"{answer.recorded} options for {source.stem.said(*answer.asked)}, and "
                f"{before} before"
            )
            findings.add(
                source.path, line, "num_options", found, "one number per form: rows may be shifted"
            )
    return recorded


def _check_arms(
    source: Source,
    counts: Mapping[Asked, Counter[str]],
    firsts: Mapping[Asked, int],
    findings: Findings,
) -> None:
    """Warn about questions with no answers to one form, or fewer than to the other."""
    names = GROUPS[source.stem.bias]
    lone: list[tuple[str, str]] = []
    uneven: list[tuple[str, str]] = []
    for key in dict.fromkeys(key for key, _ in counts):
        rows = [counts[key, arm].total() if (key, arm) in counts else 0 for arm in Arm]
        if rows[0] != rows[1]:
            said = " and ".join(
                f"{n} rows of {name!r}" for n, name in zip(rows, names, strict=True)
            )
            (uneven if all(rows) else lone).append((key, said))
    for odd, expected in (
        (lone, "answers to both forms: such questions are left out"),
        (uneven, "as many of both forms"),
    ):
        if odd:
            key, said = odd[0]
            line = min(firsts[key, arm] for arm in Arm if (key, arm) in firsts)
            more = (
                f", and the like for {plural(len(odd) - 1, 'other question')}"
                if len(odd) > 1
                else ""
            )
            findings.warn(source.path, line, "group", f"{said} for {key!r}{more}", expected)


def _check_options(
    source: Source,
    recorded: Mapping[Asked, int],
    firsts: Mapping[Asked, int],
    known: Mapping[str, ChoicePair],
    findings: Findings,
) -> None:
    """Warn about keys that are not in the prompts, and about numbers of options that differ from
    the prompts.
    """
    if not known:
        return
    stem = source.stem
    unknown = list(dict.fromkeys(key for key, _ in recorded if key not in known))
    if unknown:
        key = unknown[0]
        near = get_close_matches(key, known, 1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        more = f", and {len(unknown) - 1} more" if len(unknown) > 1 else ""
        line = min(firsts[key, arm] for arm in Arm if (key, arm) in firsts)
        findings.warn(
            source.path,
            line,
            "key",
            f"an unknown key {key!r}{more}",
            f"one of the prompts of {stem}{hint}",
        )
    other = []
    for (key, arm), number in recorded.items():
        right = _may_record(stem, arm, known[key]) if key in known else set()
        if right and number not in right:
            other.append((key, arm, number, " or ".join(map(str, sorted(right)))))
    if other:
        key, arm, number, said = other[0]
        more = (
            f", and the like for {plural(len(other) - 1, 'other form')}" if len(other) > 1 else ""
        )
        found, expected = (
            f"{number} options for {stem.said(key, arm)}{more}",
            f"{said}, as in the prompts",
        )
        findings.warn(
            source.path, firsts[key, arm], "num_options", found, f"{expected}: rows may be shifted"
        )


def _may_record(stem: Stem, arm: Arm, pair: ChoicePair) -> set[int]:
    """Return the numbers of options that a form of a question may record; empty if any number is
    allowed.
    """
    if stem.condition is not None and stem.bias is REPAIRED:
        return set()
    numbers = {len(pair.original.options)}
    if stem.condition is None and arm is Arm.CHANGED and pair.changed is not None:
        numbers.add(len(pair.changed.options))
    return numbers


USUAL = 50
"answers per form of a question, the denominator of the published percentages"
FIRST = 50
"number of keys of a file that the published results of perturbations cover"


def prompt_notes(prompts: Prompts, stems: Sequence[Stem]) -> Iterator[str]:
    """Describe oddities of the questions. `stems`: those of the files that were read."""
    if not stems:
        return
    yield (
        "Questions: "
        + ", ".join(f"{len(pairs)} {stem}" for stem, pairs in prompts.pairs.items())
        + "."
    )
    missing = [str(stem) for stem in _usual() if stem not in stems]
    if missing and len(stems) > 1:
        yield f"There are no prompts for {', '.join(missing)}."
    for pair in prompts.all():
        if pair.changed and pair.bias is Bias.ACQUIESCENCE and len(pair.original.options) != 2:
            numbers = (
                f"{len(pair.original.options)} options and its changed form "
                f"{len(pair.changed.options)}"
            )
            yield f"{Stem(pair.bias, pair.variant)}: the original of {pair.key} has {numbers}."
    for stem, n in prompts.misnumbered.items():
        yield (
            f"{stem}: {n} questions record one option more than their text has, which is the "
            "original with errors."
        )


def answer_notes(sets: Sequence[AnswerSet], prompts: Prompts) -> Iterator[str]:
    """Describe oddities of the answers, by model."""
    for model in dict.fromkeys(one.model for one in sets):
        own = [one for one in sets if one.model == model]
        yield f"{model}: {_summary(own)}"
        for note in _of_model(own, prompts):
            yield f"{model}, {note}"


def not_offered(one: AnswerSet) -> int:
    """Return how many answers are letters that were not offered; renamed letters (d to e) count as
    offered.
    """
    renamed = one.bias is Bias.ODD_EVEN and one.condition is None
    return sum(
        _beyond(pair.original, pair.original.offered)
        + _beyond(
            pair.changed,
            pair.changed.offered + (renamed and pair.changed.recorded == pair.changed.offered),
        )
        for pair in one.pairs
    )


def _beyond(arm: ArmAnswers, limit: int) -> int:
    return sum(n for letter, n in arm.counts.items() if letter and LETTERS.index(letter) >= limit)


def _of_model(sets: Sequence[AnswerSet], prompts: Prompts) -> Iterator[str]:
    missing = [str(stem) for stem in _usual() if stem not in {_stem(one) for one in sets}]
    if missing and len(sets) > 1:
        yield f"there are no answers for {', '.join(missing)}."
    for one in sets:
        name = _stem(one)
        known = prompts.of(name)
        notes = (
            *_renaming(one),
            *_rejected(one),
            *_options(one, known),
            *_strange(one),
            *_numbers(one),
        )
        yield from (f"{name}: {note}" for note in (*notes, *_blanks(one), *_left(one, known)))
    if any(one.variant == REWORD for one in sets):
        yield (
            f"acquiescence_{REWORD} is acquiescence in milder wordings, a set of its own "
            f"(variant {REWORD!r})."
        )
    yield from _orders(sets, prompts)


def _summary(sets: Sequence[AnswerSet]) -> str:
    arms = [arm for one in sets for pair in one.pairs for arm in (pair.original, pair.changed)]
    answers = sum(sum(arm.counts.values()) for arm in arms)
    blank, beyond = sum(arm.counts.get("", 0) for arm in arms), sum(map(not_offered, sets))
    files = f"{len(sets)} file" + ("s" if len(sets) > 1 else "")
    return (
        f"{files}, {answers:,} answers; {blank:,} without a letter, {beyond:,} with letters "
        "that were not offered."
    )


def _renaming(one: AnswerSet) -> Iterator[str]:
    """Say where the letters of the form without a middle option were renamed to the original's, and
    where not.
    """
    if one.bias is not Bias.ODD_EVEN or one.condition is not None:
        return
    kept = [pair.changed for pair in one.pairs if pair.changed.recorded > pair.changed.offered]
    named = [pair.changed for pair in one.pairs if pair.changed.recorded == pair.changed.offered]
    if kept:
        yield (
            f"{len(kept)} of {len(one.pairs)} questions record "
            f"{_several(a.recorded for a in kept)} options for the "
            f"form without the middle one, which offered {_several(a.offered for a in kept)}: "
            "its letters were not "
            f"renamed (c to d, d to e), and {not_offered(one)} answers are letters that it did "
            "not offer."
        )
    if named:
        still = sum(arm.counts.get("c", 0) for arm in named)
        yield (
            f"in {len(named)} of {len(one.pairs)} the letters were renamed; {still} answers c "
            "remain in these."
        )


def _rejected(one: AnswerSet) -> Iterator[str]:
    """Say where the last option was offered but could not be answered, because too few options were
    recorded.
    """
    arms = [pair.changed for pair in one.pairs if pair.changed.recorded < pair.changed.offered]
    if arms and one.bias is Bias.OPINION_FLOAT:
        last = sum(arm.counts.get(LETTERS[arm.offered - 1], 0) for arm in arms)
        yield (
            f"{len(arms)} of {len(one.pairs)} questions record "
            f"{_several(a.recorded for a in arms)} options for the "
            f"form with {_several(a.offered for a in arms)}: the last one, no opinion, was drawn "
            "again whenever it was "
            f"answered, and is answered {last} times."
        )


def _options(one: AnswerSet, known: Mapping[str, ChoicePair]) -> Iterator[str]:
    """Say where the numbers of options differ from the prompts, or between the forms."""
    odd = [
        p
        for p in one.pairs
        if p.key in known and p.original.recorded != len(known[p.key].original.options)
    ]
    if odd:
        numbers = _several(pair.original.recorded for pair in odd)
        keys = _few(odd)
        were = f"{plural(len(odd), 'question')} {'was' if len(odd) == 1 else 'were'}"
        yield f"{were} asked with {numbers} options, unlike the prompts here: {keys}."
    if one.bias is Bias.ACQUIESCENCE and one.condition is None:
        odd = [pair for pair in one.pairs if pair.changed.recorded != pair.changed.offered]
        for pair in odd:
            numbers = (
                f"{pair.original.offered} options in its original and "
                f"{pair.changed.offered} in its changed form"
            )
            beyond = _beyond(pair.changed, pair.changed.offered)
            yield (
                f"{pair.key} has {numbers}, for which {pair.changed.recorded} are recorded: "
                f"{beyond} answers are "
                "letters that it did not offer."
            )


def _strange(one: AnswerSet) -> Iterator[str]:
    """Say where answers have letters that the form neither offered nor records."""
    odd: dict[str, int] = {}
    for pair in one.pairs:
        limits = [max(arm.recorded, arm.offered) for arm in (pair.original, pair.changed)]
        if one.bias is Bias.ODD_EVEN and one.condition is None:
            # Letters of the original, to which those of the changed form are renamed.
            limits[1] = max(limits)
        odd[pair.key] = _beyond(pair.original, limits[0]) + _beyond(pair.changed, limits[1])
    odd = {key: n for key, n in odd.items() if n}
    if odd:
        yield (
            f"{_answers_to(odd)} letters that were neither offered nor recorded as offered, as "
            "if answers to other "
            f"questions had been mixed in: {named_few(list(odd))}."
        )


def _numbers(one: AnswerSet) -> Iterator[str]:
    """Say where the number of answers is not 50."""
    totals = {pair.key: sum(pair.original.counts.values()) for pair in one.pairs}
    odd = [key for key, n in totals.items() if n != USUAL]
    if odd:
        said = _several(totals[key] for key in odd)
        have = f"{plural(len(odd), 'question')} {'has' if len(odd) == 1 else 'have'}"
        yield f"{have} {said} answers to a form and not {USUAL}: {named_few(odd)}."


def _blanks(one: AnswerSet) -> Iterator[str]:
    blank = {p.key: p.original.counts.get("", 0) + p.changed.counts.get("", 0) for p in one.pairs}
    blank = {key: n for key, n in blank.items() if n}
    if blank:
        yield f"{_answers_to(blank)} without a letter: {named_few(list(blank))}."


def _answers_to(odd: Mapping[str, int]) -> str:
    """Return `2 answers to 1 question are`, from counts by key."""
    n = sum(odd.values())
    return f"{plural(n, 'answer')} to {plural(len(odd), 'question')} {'is' if n == 1 else 'are'}"


def _left(one: AnswerSet, known: Mapping[str, ChoicePair]) -> Iterator[str]:
    there = {pair.key for pair in one.pairs}
    left = [key for key in known if key not in there]
    if left:
        yield f"{len(left)} of {len(known)} questions have no answers: {named_few(left)}."


def _orders(sets: Sequence[AnswerSet], prompts: Prompts) -> Iterator[str]:
    """Name the files in another order than the prompts, and say whether the published results can
    be identified.
    """
    other = []
    for one in sets:
        keys = [pair.key for pair in one.pairs]
        known, there = prompts.of(_stem(one)), set(keys)
        if known and keys != [key for key in known if key in there]:
            other.append(str(_stem(one)))
    if other:
        yield f"the keys are in another order than in the prompts in {', '.join(other)}."


def first_notes(sets: Sequence[AnswerSet]) -> Iterator[str]:
    """Say whether the first keys of the perturbation files, which the published results cover,
    agree.
    """
    same: dict[bool, list[str]] = {}
    for bias in Bias:
        own = [one for one in sets if one.bias is bias and one.condition and len(one.pairs) > FIRST]
        firsts = {frozenset(pair.key for pair in one.pairs[:FIRST]) for one in own}
        if len(own) > 1:
            same.setdefault(len(firsts) == 1, []).append(bias)
    words = {
        True: "are the same questions in all files of perturbations of",
        False: "are not the same questions in",
    }
    for alike, biases in same.items():
        told = (
            f"The first {FIRST} keys, which the published results of perturbations cover, "
            f"{words[alike]}"
        )
        yield f"{told} {', '.join(biases)}."


def _usual() -> tuple[Stem, ...]:
    """Return the usual files of a model: five biases, each with three kinds of errors."""
    return tuple(
        Stem(bias, "", condition) for bias in GROUPS for condition in (None, *Perturbation)
    )


def _stem(one: AnswerSet) -> Stem:
    return Stem(one.bias, one.variant, one.condition)


def _several(numbers: Iterable[int]) -> str:
    """Return distinct numbers in order: `3, 4`."""
    return ", ".join(map(str, sorted(set(numbers))))


def _few(pairs: Sequence[AnsweredPair]) -> str:
    return named_few([pair.key for pair in pairs])


@dataclass(frozen=True, slots=True)
class BiasmonkeyDownload:
    """Everything a download holds."""

    pairs: tuple[ChoicePair, ...]
    "by bias, in the order of the prompts; empty if there are only answers"
    answers: tuple[AnswerSet, ...]
    "one per file of answers, keys in the order of the file"
    notes: tuple[str, ...]
    "sentences about known oddities"


SKIP = "Nothing was imported. With --skip the other files are imported without these."


def read_biasmonkey(path: Path, *, skip: bool = False) -> BiasmonkeyDownload:
    """Read a download: its root, its `prompts`, its `results`, the folder of a model, or one file,
    plain or gzip.

    Raises UsageError if no part of a download is found, InputError with every fault of all files.

    Parameters
    ----------
    skip : leave out the files with faults, each with a note, and read the others; InputError is
        raised if no file is
    left
    """
    files, left = sources(path)
    findings = Findings()
    prompts = read_prompts((one for one in files if one.model is None), findings)
    answers = _answers((one for one in files if one.model is not None), prompts, findings)
    if findings.found and not (skip and (prompts.pairs or answers)):
        raise InputError(findings.found, None if skip else SKIP)
    asked = tuple(one.stem for one in files if one.model is None and one.stem.base in prompts.pairs)
    empty, whole = (tuple(s for s in answers if bool(s.pairs) is there) for there in (False, True))
    told = (prompt_notes(prompts, asked), answer_notes(whole, prompts), first_notes(whole))
    notes = (
        *left,
        *_skipped(findings),
        *_warnings(prompts, whole),
        *_nothing_compared(empty),
        *chain(*told),
    )
    return BiasmonkeyDownload(prompts.all(), whole, notes)


def _skipped(findings: Findings) -> Iterator[str]:
    """Yield a sentence for each file left out, with its first fault."""
    by_file: dict[str, list[Finding]] = {}
    for finding in findings.found:
        by_file.setdefault(finding.file, []).append(finding)
    for first, *others in by_file.values():
        yield f"Skipped {first}" + (
            f", and {plural(len(others), 'more fault')}." if others else "."
        )


def _warnings(prompts: Prompts, answers: Iterable[AnswerSet]) -> Iterator[str]:
    """Yield the warnings that results will carry, each once."""
    about = [one for pair in prompts.all() for one in pair.warnings] + [
        one for s in answers for one in s.warnings
    ]
    yield from (f"Warning: {one}." for one in dict.fromkeys(about))


def _nothing_compared(empty: Iterable[AnswerSet]) -> Iterator[str]:
    """Name the files in which no question has answers to both forms."""
    names = [f"{one.model}/{Stem(one.bias, one.variant, one.condition)}" for one in empty]
    if names:
        yield f"Left out, no question has answers to both forms: {', '.join(names)}."


def _answers(
    files: Iterable[Source], prompts: Prompts, findings: Findings
) -> tuple[AnswerSet, ...]:
    """Return the answers of each file; findings also name the model, because file names are the
    same for all models.
    """
    found = []
    for source in files:
        own = Findings()
        answers = read_answer_set(source, prompts.of(source.stem), own)
        findings.found += [replace(finding, file=source.name) for finding in own.found]
        found += [answers] if answers is not None else []
    return tuple(found)
