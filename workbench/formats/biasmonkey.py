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
    DownloadFile,
    FileRows,
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
"""the smallest number of rows for a comparison. With fewer, words shared by chance decide which
texts belong together."""


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
        pairs = {stem: dict(pair_by_key) for stem, pair_by_key in self.pairs.items()}
        return Prompts(pairs, dict(self.misnumbered), dict(self.places))

    def place(self, stem: Stem, key: str) -> Row:
        """Return the row of a question's original in the first file that was read."""
        return next(
            row
            for (file_stem, question_key), row in self.places.items()
            if file_stem.base == stem and question_key == key
        )

    def pairs_of(self, stem: Stem) -> dict[str, ChoicePair]:
        """Return the questions of a bias by their keys."""
        return self.pairs.get(stem.base, {})

    def all(self) -> tuple[ChoicePair, ...]:
        """Return all questions, by bias."""
        return tuple(pair for pairs in self.pairs.values() for pair in pairs.values())


def read_prompts(files: Iterable[DownloadFile], findings: Findings) -> Prompts:
    """Return the questions of files, unperturbed ones first. Every fault is noted."""
    prompts = Prompts()
    # Otherwise keeps their order.
    for source in sorted(files, key=lambda source: source.stem.condition is not None):
        file_findings = Findings()
        extended = _read(source, prompts.copy(), file_findings)
        if not file_findings.found:
            prompts = _with_warnings(
                extended, source, tuple(_grouped(source, file_findings.warned))
            )
        faults = [*file_findings.found, *file_findings.warned] if file_findings.found else []
        findings.found += [replace(finding, file=source.name) for finding in faults]
    return prompts


def _grouped(source: DownloadFile, warned: Sequence[Finding]) -> Iterator[str]:
    """Yield warnings of one kind as one sentence.

    It has the first of them, and the number of similar rows.
    """
    for _, similar in groupby(sorted(warned, key=_kind), key=_kind):
        first, *others = similar
        remainder = f"; the same in {plural(len(others), 'other row')}" if others else ""
        yield str(replace(first, file=source.name, found=first.found + remainder))


def _kind(finding: Finding) -> tuple[str, str]:
    return finding.column or "", finding.expected


def _with_warnings(prompts: Prompts, source: DownloadFile, warnings: tuple[str, ...]) -> Prompts:
    """Add the warnings of a file to its questions."""
    pairs = prompts.pairs_of(source.stem)
    for stem, key in prompts.places if warnings else ():
        if stem == source.stem:
            pairs[key] = replace(pairs[key], warnings=(*pairs[key].warnings, *warnings))
    return prompts


def _read(source: DownloadFile, prompts: Prompts, findings: Findings) -> Prompts:
    stem = source.stem
    names = GROUPS[stem.bias]
    optional = (OPTIONS_NEW, MIDDLE, INDEX)
    rows = read_rows(source.path, findings, required=("key", OPTIONS, *names), optional=optional)
    seen: dict[Hashable, int] = {}
    complete_rows = []
    for row in rows:
        original, changed = (cell_choice(row, name, findings) for name in names)
        is_new_key = is_new(seen, row.get("key"), row, "key", findings)
        if original is None or changed is None or not is_new_key or not row.get("key"):
            continue
        complete_rows.append((row, original, changed))
        _check_number(row, OPTIONS, original, findings)
        if stem.condition is None:
            _add(row, stem, original, changed, prompts, findings)
        else:
            _perturb(row, stem, stem.condition, original, changed, prompts, findings)
    _check_in_step(names[1], complete_rows, findings)
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
        problem = f"the options {' / '.join(perturbed.options)}"
        findings.add(
            row.file,
            row.line,
            column,
            problem,
            f"those of the original: {' / '.join(original.options)}",
        )
    elif len(original.stem.split()) != len(perturbed.stem.split()):
        n_words = len(perturbed.stem.split()), len(original.stem.split())
        problem = f"{n_words[0]} words for {row.get('key')!r}, and {n_words[1]} in its original"
        expected = "the original with typos, which has as many words: rows may be shifted"
        findings.warn(row.file, row.line, column, problem, expected)
    if row.get(OPTIONS_NEW) and whole_number(row.get(OPTIONS_NEW)) != len(perturbed.options):
        prompts.misnumbered[stem] = prompts.misnumbered.get(stem, 0) + 1
    pair = ChoicePair(row.get("key"), stem.bias, original, None, variant=stem.variant)
    _put(row, stem, pair, prompts, findings)
    stored_pair = prompts.pairs[stem.base][pair.key]
    prompts.pairs[stem.base][pair.key] = replace(
        stored_pair, perturbed={**stored_pair.perturbed, (perturbation, 1): perturbed}
    )


def _put(row: Row, asked: Stem, pair: ChoicePair, prompts: Prompts, findings: Findings) -> None:
    """Store a new question, and compare its original with those of other files for the same key.

    Different originals within one bias are a contradiction. Between biases originals are usually
    the same, but need not be.
    """
    stem, column = asked.base, GROUPS[asked.bias][0]
    same_stems = (
        SAME_QUESTIONS.get(stem),
        *(
            other_stem
            for other_stem, original_stem in SAME_QUESTIONS.items()
            if original_stem == stem
        ),
    )
    for other in (stem, *(same_stems if asked == stem else ())):
        stored_pair = prompts.pairs_of(other).get(pair.key) if other else None
        if other is not None and stored_pair is not None and stored_pair.original != pair.original:
            first = prompts.place(other, pair.key)
            problem = f"another text for {pair.key!r} than in {first.file.name}, line {first.line}"
            note = findings.add if other == stem else findings.warn
            note(
                row.file,
                row.line,
                column,
                problem,
                "one original per key: rows or columns may be shifted",
            )
    prompts.pairs.setdefault(stem, {}).setdefault(pair.key, pair)
    prompts.places.setdefault((asked, pair.key), row)


def _check_number(row: Row, column: str, choice: Choice, findings: Findings) -> None:
    """Note numbers of options that differ from the text. A missing column is ignored."""
    cell = row.get(column)
    if cell and whole_number(cell) != len(choice.options):
        findings.add(
            row.file,
            row.line,
            column,
            repr(cell),
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
    original_words = [_words(original) for _, original, _ in whole]
    changed_words = [_words(changed) for _, _, changed in whole]
    shares = {
        shift: _shared(original_words, changed_words, shift)
        for shift in range(-FARTHEST, FARTHEST + 1)
    }
    best = max(shares, key=lambda shift: shares[shift])
    if best and shares[best] > shares[0] * 1.1:
        row = whole[0][0]
        problem = (
            f"texts that fit the questions {plural(abs(best), 'row')} "
            f"{'above' if best > 0 else 'below'} them "
            f"({shares[best]:.0%} of the words shared, and {shares[0]:.0%} where they stand)"
        )
        expected = "both forms of a question in one row: the column may be shifted"
        findings.warn(row.file, row.line, column, problem, expected)


def _words(choice: Choice) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", choice.stem.casefold()))


def _shared(
    left_forms: list[frozenset[str]], right_forms: list[frozenset[str]], shift: int
) -> float:
    """Return the mean share of common words of questions and the texts `shift` rows below."""
    rows = [
        (left_forms[index], right_forms[index + shift])
        for index in range(len(left_forms))
        if 0 <= index + shift < len(left_forms)
    ]
    return sum(
        len(original & changed) / max(1, len(original | changed)) for original, changed in rows
    ) / len(rows)


OFFERED = {Bias.ODD_EVEN: 4, Bias.OPINION_FLOAT: 6, Bias.ACQUIESCENCE: 2}
"""number of options of the changed form if files record the original's: the middle one was
removed, one was added, or yes and no were asked"""
REPAIRED = Bias.ALLOW_FORBID
"""the bias whose perturbed questions were asked with more options than the prompts have, which
were corrected later"""


def read_answer_set(
    source: DownloadFile, pair_by_key: Mapping[str, ChoicePair], findings: Findings
) -> AnswerSet | None:
    """Return the answers in a file, in the order in which their keys first occur.

    The answer is None, with a note, if the file has faults. `pair_by_key` has the questions of the
    bias, and is empty if their texts are unknown.
    """
    n_faults = len(findings.found)
    rows = read_answer_rows(source, findings)
    if len(findings.found) > n_faults:
        return None
    recorded = _recorded(source, rows, findings)
    counts: dict[Asked, Counter[str]] = {}
    for number, count in Counter(rows.numbers).items():
        answer = rows.kinds[number]
        counts.setdefault(answer.asked, Counter())[answer.letter] += count
    first_lines = rows.first_lines()
    if len(findings.found) > n_faults:
        return None
    n_warnings = len(findings.warned)
    _check_arms(source, counts, first_lines, findings)
    _check_options(source, recorded, first_lines, pair_by_key, findings)
    check_order(source, rows, findings)
    warnings = tuple(warning_text(source, finding) for finding in findings.warned[n_warnings:])
    return _answer_set(source, counts, recorded, pair_by_key, warnings)


def warning_text(source: DownloadFile, finding: Finding) -> str:
    """Return the text of a warning.

    It has the file of a model, the place, the finding and the expectation.
    """
    return str(replace(finding, file=source.name))


def offered(stem: Stem, arm: Arm, recorded: int, changed: int | None) -> int:
    """Return the number of options that a form really offered.

    `changed` is the number in the prompt, if it is known.
    """
    if stem.condition is not None or arm is Arm.ORIGINAL:
        return recorded
    return changed or OFFERED.get(stem.bias, recorded)


def _answer_set(
    source: DownloadFile,
    counts: Mapping[Asked, Counter[str]],
    recorded: Mapping[Asked, int],
    pair_by_key: Mapping[str, ChoicePair],
    warnings: tuple[str, ...],
) -> AnswerSet:
    stem = source.stem
    pairs = []
    for key in dict.fromkeys(key for key, _ in counts):
        if any((key, arm) not in counts for arm in Arm):
            continue
        changed = pair_by_key[key].changed if key in pair_by_key else None
        n_changed = len(changed.options) if changed else None
        original, changed_answers = (
            ArmAnswers(
                dict(counts[key, arm]),
                recorded[key, arm],
                offered(stem, arm, recorded[key, arm], n_changed),
            )
            for arm in Arm
        )
        pairs.append(AnsweredPair(key, original, changed_answers))
    return AnswerSet(
        source.model or "",
        stem.bias,
        stem.condition,
        tuple(pairs),
        variant=stem.variant,
        warnings=warnings,
    )


def _recorded(source: DownloadFile, rows: FileRows, findings: Findings) -> dict[Asked, int]:
    """Return the number of options that each form of each question records.

    Conflicting numbers are noted.
    """
    recorded: dict[Asked, int] = {}
    for answer, line in zip(rows.kinds, rows.firsts, strict=True):
        first_number = recorded.setdefault(answer.asked, answer.recorded)
        if first_number != answer.recorded:
            problem = (
                f"{answer.recorded} options for {source.stem.form_name(*answer.asked)}, and "
                f"{first_number} before"
            )
            findings.add(
                source.path,
                line,
                "num_options",
                problem,
                "one number per form: rows may be shifted",
            )
    return recorded


def _check_arms(
    source: DownloadFile,
    counts: Mapping[Asked, Counter[str]],
    firsts: Mapping[Asked, int],
    findings: Findings,
) -> None:
    """Warn about questions with no answers to one form, or fewer than to the other."""
    names = GROUPS[source.stem.bias]
    one_form_only: list[tuple[str, str]] = []
    uneven: list[tuple[str, str]] = []
    for key in dict.fromkeys(key for key, _ in counts):
        rows = [counts[key, arm].total() if (key, arm) in counts else 0 for arm in Arm]
        if rows[0] != rows[1]:
            counts_text = " and ".join(
                f"{count} rows of {name!r}" for count, name in zip(rows, names, strict=True)
            )
            (uneven if all(rows) else one_form_only).append((key, counts_text))
    for cases, expected in (
        (one_form_only, "answers to both forms: such questions are left out"),
        (uneven, "as many of both forms"),
    ):
        if cases:
            key, counts_text = cases[0]
            line = min(firsts[key, arm] for arm in Arm if (key, arm) in firsts)
            remainder = (
                f", and the like for {plural(len(cases) - 1, 'other question')}"
                if len(cases) > 1
                else ""
            )
            findings.warn(
                source.path, line, "group", f"{counts_text} for {key!r}{remainder}", expected
            )


def _check_options(
    source: DownloadFile,
    recorded: Mapping[Asked, int],
    firsts: Mapping[Asked, int],
    pair_by_key: Mapping[str, ChoicePair],
    findings: Findings,
) -> None:
    """Warn about keys that the prompts lack, and numbers of options unlike the prompts'."""
    if not pair_by_key:
        return
    stem = source.stem
    unknown = list(dict.fromkeys(key for key, _ in recorded if key not in pair_by_key))
    if unknown:
        key = unknown[0]
        similar_keys = get_close_matches(key, pair_by_key, 1)
        hint = f" (did you mean {similar_keys[0]!r}?)" if similar_keys else ""
        remainder = f", and {len(unknown) - 1} more" if len(unknown) > 1 else ""
        line = min(firsts[key, arm] for arm in Arm if (key, arm) in firsts)
        findings.warn(
            source.path,
            line,
            "key",
            f"an unknown key {key!r}{remainder}",
            f"one of the prompts of {stem}{hint}",
        )
    differing = []
    for (key, arm), number in recorded.items():
        allowed_numbers = _may_record(stem, arm, pair_by_key[key]) if key in pair_by_key else set()
        if allowed_numbers and number not in allowed_numbers:
            differing.append((key, arm, number, " or ".join(map(str, sorted(allowed_numbers)))))
    if differing:
        key, arm, number, allowed_text = differing[0]
        remainder = (
            f", and the like for {plural(len(differing) - 1, 'other form')}"
            if len(differing) > 1
            else ""
        )
        problem, expected = (
            f"{number} options for {stem.form_name(key, arm)}{remainder}",
            f"{allowed_text}, as in the prompts",
        )
        findings.warn(
            source.path,
            firsts[key, arm],
            "num_options",
            problem,
            f"{expected}: rows may be shifted",
        )


def _may_record(stem: Stem, arm: Arm, pair: ChoicePair) -> set[int]:
    """Return the numbers of options that a form of a question may record.

    They are empty if any number is allowed.
    """
    if stem.condition is not None and stem.bias is REPAIRED:
        return set()
    numbers = {len(pair.original.options)}
    if stem.condition is None and arm is Arm.CHANGED and pair.changed is not None:
        numbers.add(len(pair.changed.options))
    return numbers


USUAL = 50
"number of answers per form of a question, the denominator of the published percentages"
FIRST = 50
"number of keys of a file that the published results of perturbations cover"


def prompt_notes(prompts: Prompts, stems: Sequence[Stem]) -> Iterator[str]:
    """Yield sentences about oddities of the questions.

    `stems` are those of the files that were read.
    """
    if not stems:
        return
    yield (
        "Questions: "
        + ", ".join(f"{len(pairs)} {stem}" for stem, pairs in prompts.pairs.items())
        + "."
    )
    missing = [str(stem) for stem in _usual_stems() if stem not in stems]
    if missing and len(stems) > 1:
        yield f"There are no prompts for {', '.join(missing)}."
    for pair in prompts.all():
        if pair.changed and pair.bias is Bias.ACQUIESCENCE and len(pair.original.options) != 2:
            numbers = (
                f"{len(pair.original.options)} options and its changed form "
                f"{len(pair.changed.options)}"
            )
            yield f"{Stem(pair.bias, pair.variant)}: the original of {pair.key} has {numbers}."
    for stem, count in prompts.misnumbered.items():
        yield (
            f"{stem}: {count} questions record one option more than their text has, which is the "
            "original with errors."
        )


def answer_notes(sets: Sequence[AnswerSet], prompts: Prompts) -> Iterator[str]:
    """Yield sentences about oddities of the answers, by model."""
    for model in dict.fromkeys(answer_set.model for answer_set in sets):
        model_sets = [answer_set for answer_set in sets if answer_set.model == model]
        yield f"{model}: {_summary(model_sets)}"
        for note in _of_model(model_sets, prompts):
            yield f"{model}, {note}"


def not_offered(answer_set: AnswerSet) -> int:
    """Return the number of answers with letters that were not offered.

    Renamed letters (d to e) count as offered.
    """
    is_renamed = answer_set.bias is Bias.ODD_EVEN and answer_set.condition is None
    return sum(
        _n_beyond(pair.original, pair.original.offered)
        + _n_beyond(
            pair.changed,
            pair.changed.offered + (is_renamed and pair.changed.recorded == pair.changed.offered),
        )
        for pair in answer_set.pairs
    )


def _n_beyond(arm: ArmAnswers, limit: int) -> int:
    return sum(
        count for letter, count in arm.counts.items() if letter and LETTERS.index(letter) >= limit
    )


def _of_model(sets: Sequence[AnswerSet], prompts: Prompts) -> Iterator[str]:
    missing = [
        str(stem)
        for stem in _usual_stems()
        if stem not in {_stem(answer_set) for answer_set in sets}
    ]
    if missing and len(sets) > 1:
        yield f"there are no answers for {', '.join(missing)}."
    for answer_set in sets:
        name = _stem(answer_set)
        pair_by_key = prompts.pairs_of(name)
        notes = (
            *_renaming(answer_set),
            *_rejected(answer_set),
            *_option_notes(answer_set, pair_by_key),
            *_strange(answer_set),
            *_numbers(answer_set),
        )
        yield from (
            f"{name}: {note}"
            for note in (*notes, *_blanks(answer_set), *_unanswered_note(answer_set, pair_by_key))
        )
    if any(answer_set.variant == REWORD for answer_set in sets):
        yield (
            f"acquiescence_{REWORD} is acquiescence in milder wordings, a set of its own "
            f"(variant {REWORD!r})."
        )
    yield from _orders(sets, prompts)


def _summary(sets: Sequence[AnswerSet]) -> str:
    arms = [
        arm
        for answer_set in sets
        for pair in answer_set.pairs
        for arm in (pair.original, pair.changed)
    ]
    answers = sum(sum(arm.counts.values()) for arm in arms)
    n_blank, unoffered = sum(arm.counts.get("", 0) for arm in arms), sum(map(not_offered, sets))
    files = f"{len(sets)} file" + ("s" if len(sets) > 1 else "")
    return (
        f"{files}, {answers:,} answers; {n_blank:,} without a letter, {unoffered:,} with letters "
        "that were not offered."
    )


def _renaming(answer_set: AnswerSet) -> Iterator[str]:
    """Yield sentences about renamed letters in the form without a middle option.

    They are renamed to those of the original, except in some files.
    """
    if answer_set.bias is not Bias.ODD_EVEN or answer_set.condition is not None:
        return
    unchanged = [
        pair.changed for pair in answer_set.pairs if pair.changed.recorded > pair.changed.offered
    ]
    renamed = [
        pair.changed for pair in answer_set.pairs if pair.changed.recorded == pair.changed.offered
    ]
    if unchanged:
        yield (
            f"{len(unchanged)} of {len(answer_set.pairs)} questions record "
            f"{_several(arm.recorded for arm in unchanged)} options for the form without the "
            f"middle one, which offered {_several(a.offered for a in unchanged)}: its letters were "
            f"not renamed (c to d, d to e), and {not_offered(answer_set)} answers are letters that "
            "it did not offer."
        )
    if renamed:
        n_left = sum(arm.counts.get("c", 0) for arm in renamed)
        yield (
            f"in {len(renamed)} of {len(answer_set.pairs)} the letters were renamed; {n_left} "
            "answers c remain in these."
        )


def _rejected(answer_set: AnswerSet) -> Iterator[str]:
    """Yield a sentence about last options that were offered but could not be answered.

    Too few options were recorded for them.
    """
    arms = [
        pair.changed for pair in answer_set.pairs if pair.changed.recorded < pair.changed.offered
    ]
    if arms and answer_set.bias is Bias.OPINION_FLOAT:
        n_last = sum(arm.counts.get(LETTERS[arm.offered - 1], 0) for arm in arms)
        yield (
            f"{len(arms)} of {len(answer_set.pairs)} questions record "
            f"{_several(arm.recorded for arm in arms)} options for the form with "
            f"{_several(a.offered for a in arms)}: the last one, no opinion, was drawn again "
            f"whenever it was answered, and is answered {n_last} times."
        )


def _option_notes(answer_set: AnswerSet, pair_by_key: Mapping[str, ChoicePair]) -> Iterator[str]:
    """Yield sentences about questions with an unexpected number of options.

    The number differs from that of the prompts, or between the two forms of a question.
    """
    differing = [
        pair
        for pair in answer_set.pairs
        if pair.key in pair_by_key
        and pair.original.recorded != len(pair_by_key[pair.key].original.options)
    ]
    if differing:
        numbers = _several(pair.original.recorded for pair in differing)
        keys = _some_keys(differing)
        subject = f"{plural(len(differing), 'question')} {'was' if len(differing) == 1 else 'were'}"
        yield f"{subject} asked with {numbers} options, unlike the prompts here: {keys}."
    if answer_set.bias is Bias.ACQUIESCENCE and answer_set.condition is None:
        differing = [
            pair for pair in answer_set.pairs if pair.changed.recorded != pair.changed.offered
        ]
        for pair in differing:
            numbers = (
                f"{pair.original.offered} options in its original and "
                f"{pair.changed.offered} in its changed form"
            )
            n_beyond = _n_beyond(pair.changed, pair.changed.offered)
            yield (
                f"{pair.key} has {numbers}, for which {pair.changed.recorded} are recorded: "
                f"{n_beyond} answers are letters that it did not offer."
            )


def _strange(answer_set: AnswerSet) -> Iterator[str]:
    """Yield a sentence about letters that the form neither offered nor records."""
    counts: dict[str, int] = {}
    for pair in answer_set.pairs:
        limits = [max(arm.recorded, arm.offered) for arm in (pair.original, pair.changed)]
        if answer_set.bias is Bias.ODD_EVEN and answer_set.condition is None:
            # Letters of the original, to which those of the changed form are renamed.
            limits[1] = max(limits)
        counts[pair.key] = _n_beyond(pair.original, limits[0]) + _n_beyond(pair.changed, limits[1])
    counts = {key: count for key, count in counts.items() if count}
    if counts:
        yield (
            f"{_answers_to(counts)} letters that were neither offered nor recorded as offered, as "
            f"if answers to other questions had been mixed in: {named_few(list(counts))}."
        )


def _numbers(answer_set: AnswerSet) -> Iterator[str]:
    """Yield a sentence about questions whose number of answers is not 50."""
    totals = {pair.key: sum(pair.original.counts.values()) for pair in answer_set.pairs}
    keys = [key for key, total in totals.items() if total != USUAL]
    if keys:
        totals_text = _several(totals[key] for key in keys)
        subject = f"{plural(len(keys), 'question')} {'has' if len(keys) == 1 else 'have'}"
        yield f"{subject} {totals_text} answers to a form and not {USUAL}: {named_few(keys)}."


def _blanks(answer_set: AnswerSet) -> Iterator[str]:
    blank_by_key = {
        pair.key: pair.original.counts.get("", 0) + pair.changed.counts.get("", 0)
        for pair in answer_set.pairs
    }
    blank_by_key = {key: count for key, count in blank_by_key.items() if count}
    if blank_by_key:
        yield f"{_answers_to(blank_by_key)} without a letter: {named_few(list(blank_by_key))}."


def _answers_to(odd: Mapping[str, int]) -> str:
    """Return `2 answers to 1 question are`, from counts by key."""
    n = sum(odd.values())
    return f"{plural(n, 'answer')} to {plural(len(odd), 'question')} {'is' if n == 1 else 'are'}"


def _unanswered_note(answer_set: AnswerSet, pair_by_key: Mapping[str, ChoicePair]) -> Iterator[str]:
    """Yield a sentence about the questions without answers, or nothing if all have some."""
    answered_keys = {pair.key for pair in answer_set.pairs}
    missing = [key for key in pair_by_key if key not in answered_keys]
    if missing:
        n_questions = len(pair_by_key)
        yield f"{len(missing)} of {n_questions} questions have no answers: {named_few(missing)}."


def _orders(sets: Sequence[AnswerSet], prompts: Prompts) -> Iterator[str]:
    """Yield a sentence that names the files in another order than the prompts."""
    stems = []
    for answer_set in sets:
        keys = [pair.key for pair in answer_set.pairs]
        pair_by_key, answered_keys = prompts.pairs_of(_stem(answer_set)), set(keys)
        if pair_by_key and keys != [key for key in pair_by_key if key in answered_keys]:
            stems.append(str(_stem(answer_set)))
    if stems:
        yield f"the keys are in another order than in the prompts in {', '.join(stems)}."


def first_notes(sets: Sequence[AnswerSet]) -> Iterator[str]:
    """Yield whether the first keys of the perturbation files agree.

    Published results cover these keys.
    """
    biases_by_agreement: dict[bool, list[str]] = {}
    for bias in Bias:
        bias_sets = [
            answer_set
            for answer_set in sets
            if answer_set.bias is bias and answer_set.condition and len(answer_set.pairs) > FIRST
        ]
        first_keys = {
            frozenset(pair.key for pair in answer_set.pairs[:FIRST]) for answer_set in bias_sets
        }
        if len(bias_sets) > 1:
            biases_by_agreement.setdefault(len(first_keys) == 1, []).append(bias)
    phrases = {
        True: "are the same questions in all files of perturbations of",
        False: "are not the same questions in",
    }
    for agree, biases in biases_by_agreement.items():
        sentence = (
            f"The first {FIRST} keys, which the published results of perturbations cover, "
            f"{phrases[agree]}"
        )
        yield f"{sentence} {', '.join(biases)}."


def _usual_stems() -> tuple[Stem, ...]:
    """Return the usual files of a model: five biases, each with three kinds of errors."""
    return tuple(
        Stem(bias, "", condition) for bias in GROUPS for condition in (None, *Perturbation)
    )


def _stem(answer_set: AnswerSet) -> Stem:
    return Stem(answer_set.bias, answer_set.variant, answer_set.condition)


def _several(numbers: Iterable[int]) -> str:
    """Return distinct numbers in order: `3, 4`."""
    return ", ".join(map(str, sorted(set(numbers))))


def _some_keys(pairs: Sequence[AnsweredPair]) -> str:
    return named_few([pair.key for pair in pairs])


@dataclass(frozen=True, slots=True)
class BiasmonkeyDownload:
    """All data of a download."""

    pairs: tuple[ChoicePair, ...]
    "by bias, in the order of the prompts, or none if there are only answers"
    answers: tuple[AnswerSet, ...]
    "one per file of answers, with keys in the order of the file"
    notes: tuple[str, ...]
    "sentences about known oddities"


SKIP = "Nothing was imported. With --skip the other files are imported without these."


def read_biasmonkey(path: Path, *, skip: bool = False) -> BiasmonkeyDownload:
    """Return the data of a download or of a part of it.

    A part is its `prompts`, its `results`, the folder of a model, or one file, plain or gzip.

    Raises UsageError if no part of a download is found, and InputError with every fault of all
    files.

    Parameters
    ----------
    skip : whether files with faults are left out, each with a note. InputError is still raised if
        no file is left.
    """
    files, skipped_notes = sources(path)
    findings = Findings()
    question_files = [source for source in files if source.model is None]
    answer_files = [source for source in files if source.model is not None]
    prompts = read_prompts(question_files, findings)
    answers = _answers(answer_files, prompts, findings)
    if findings.found and not (skip and (prompts.pairs or answers)):
        raise InputError(findings.found, None if skip else SKIP)
    complete_sets = tuple(answer_set for answer_set in answers if answer_set.pairs)
    empty_sets = [answer_set for answer_set in answers if not answer_set.pairs]
    stems = tuple(source.stem for source in question_files if source.stem.base in prompts.pairs)
    notes = (
        *skipped_notes,
        *_skipped(findings),
        *_warnings(prompts, complete_sets),
        *_nothing_compared(empty_sets),
        *prompt_notes(prompts, stems),
        *answer_notes(complete_sets, prompts),
        *first_notes(complete_sets),
    )
    return BiasmonkeyDownload(prompts.all(), complete_sets, notes)


def _skipped(findings: Findings) -> Iterator[str]:
    """Yield a sentence for each file that is left out, with its first fault."""
    findings_by_file: dict[str, list[Finding]] = {}
    for finding in findings.found:
        findings_by_file.setdefault(finding.file, []).append(finding)
    for first, *others in findings_by_file.values():
        yield f"Skipped {first}" + (
            f", and {plural(len(others), 'more fault')}." if others else "."
        )


def _warnings(prompts: Prompts, answers: Iterable[AnswerSet]) -> Iterator[str]:
    """Yield the warnings that results will carry, each once."""
    of_prompts = chain.from_iterable(pair.warnings for pair in prompts.all())
    of_answers = chain.from_iterable(answer_set.warnings for answer_set in answers)
    for warning in dict.fromkeys(chain(of_prompts, of_answers)):
        yield f"Warning: {warning}."


def _nothing_compared(empty: Iterable[AnswerSet]) -> Iterator[str]:
    """Yield a sentence that names the files in which no question has answers to both forms."""
    names = [
        f"{answer_set.model}/{Stem(answer_set.bias, answer_set.variant, answer_set.condition)}"
        for answer_set in empty
    ]
    if names:
        yield f"Left out, no question has answers to both forms: {', '.join(names)}."


def _answers(
    files: Iterable[DownloadFile], prompts: Prompts, findings: Findings
) -> tuple[AnswerSet, ...]:
    """Return the answers of each file.

    Findings also name the model, because file names are the same for all models.
    """
    answer_sets = []
    for source in files:
        file_findings = Findings()
        answers = read_answer_set(source, prompts.pairs_of(source.stem), file_findings)
        findings.found += [replace(finding, file=source.name) for finding in file_findings.found]
        answer_sets += [answers] if answers is not None else []
    return tuple(answer_sets)
