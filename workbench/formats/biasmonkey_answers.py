"""A model's answers in the BiasMonkey download, counted by question and form.

Answers are kept unchanged: letters that were not offered, and answers without a letter, are counted and never dropped.
A file that contradicts itself has a fault. Implausible values, and deviations from the prompts, give warnings that stay
with the answers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from difflib import get_close_matches

from workbench.domain.choices import AnsweredPair, AnswerSet, Arm, ArmAnswers, Bias, ChoicePair
from workbench.domain.counting import plural
from workbench.errors import Finding
from workbench.formats.biasmonkey_files import GROUPS, Source, Stem
from workbench.formats.biasmonkey_order import check_order
from workbench.formats.biasmonkey_rows import Asked, Rows, read_answer_rows
from workbench.formats.tabular import Findings

OFFERED = {Bias.ODD_EVEN: 4, Bias.OPINION_FLOAT: 6, Bias.ACQUIESCENCE: 2}
"number of options of the changed form, if files record the original's: middle removed, one added, yes and no"
REPAIRED = Bias.ALLOW_FORBID
"bias whose perturbed questions were asked with more options than the prompts have, which were corrected later"


def read_answer_set(source: Source, known: Mapping[str, ChoicePair], findings: Findings) -> AnswerSet | None:
    """Return the answers of a file, in order of first appearance of the keys; None, with a note, if they have faults.

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
    """Return a warning in words: the file of a model, the place, what was found and what was expected."""
    return str(replace(finding, file=source.name))


def offered(stem: Stem, arm: Arm, recorded: int, changed: int | None) -> int:
    """Return how many options a form really offered. `changed`: the number in the prompt, if known."""
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
            ArmAnswers(dict(counts[key, arm]), recorded[key, arm], offered(stem, arm, recorded[key, arm], there))
            for arm in Arm
        )
        pairs.append(AnsweredPair(key, original, other))
    return AnswerSet(
        source.model or "", stem.bias, stem.condition, tuple(pairs), variant=stem.variant, warnings=warnings
    )


def _recorded(source: Source, rows: Rows, findings: Findings) -> dict[Asked, int]:
    """Return the number of options that each form of each question records; conflicting numbers are noted."""
    recorded: dict[Asked, int] = {}
    for answer, line in zip(rows.kinds, rows.firsts, strict=True):
        before = recorded.setdefault(answer.asked, answer.recorded)
        if before != answer.recorded:
            found = f"{answer.recorded} options for {source.stem.said(*answer.asked)}, and {before} before"
            findings.add(source.path, line, "num_options", found, "one number per form: rows may be shifted")
    return recorded


def _check_arms(
    source: Source, counts: Mapping[Asked, Counter[str]], firsts: Mapping[Asked, int], findings: Findings
) -> None:
    """Warn about questions with no answers to one form, or fewer than to the other."""
    names = GROUPS[source.stem.bias]
    lone: list[tuple[str, str]] = []
    uneven: list[tuple[str, str]] = []
    for key in dict.fromkeys(key for key, _ in counts):
        rows = [counts[key, arm].total() if (key, arm) in counts else 0 for arm in Arm]
        if rows[0] != rows[1]:
            said = " and ".join(f"{n} rows of {name!r}" for n, name in zip(rows, names, strict=True))
            (uneven if all(rows) else lone).append((key, said))
    for odd, expected in (
        (lone, "answers to both forms: such questions are left out"),
        (uneven, "as many of both forms"),
    ):
        if odd:
            key, said = odd[0]
            line = min(firsts[key, arm] for arm in Arm if (key, arm) in firsts)
            more = f", and the like for {plural(len(odd) - 1, 'other question')}" if len(odd) > 1 else ""
            findings.warn(source.path, line, "group", f"{said} for {key!r}{more}", expected)


def _check_options(
    source: Source,
    recorded: Mapping[Asked, int],
    firsts: Mapping[Asked, int],
    known: Mapping[str, ChoicePair],
    findings: Findings,
) -> None:
    """Warn about keys that are not in the prompts, and about numbers of options that differ from the prompts."""
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
        findings.warn(source.path, line, "key", f"an unknown key {key!r}{more}", f"one of the prompts of {stem}{hint}")
    other = []
    for (key, arm), number in recorded.items():
        right = _may_record(stem, arm, known[key]) if key in known else set()
        if right and number not in right:
            other.append((key, arm, number, " or ".join(map(str, sorted(right)))))
    if other:
        key, arm, number, said = other[0]
        more = f", and the like for {plural(len(other) - 1, 'other form')}" if len(other) > 1 else ""
        found, expected = f"{number} options for {stem.said(key, arm)}{more}", f"{said}, as in the prompts"
        findings.warn(source.path, firsts[key, arm], "num_options", found, f"{expected}: rows may be shifted")


def _may_record(stem: Stem, arm: Arm, pair: ChoicePair) -> set[int]:
    """Return the numbers of options that a form of a question may record; empty if any number is allowed."""
    if stem.condition is not None and stem.bias is REPAIRED:
        return set()
    numbers = {len(pair.original.options)}
    if stem.condition is None and arm is Arm.CHANGED and pair.changed is not None:
        numbers.add(len(pair.changed.options))
    return numbers
