"""Counts of the letters that models answered, as `model_answers.csv`.

The answers were imported with multiple-choice questions. A row is one form of one question in one
set: `model`, `bias`, `variant`, `condition` (a perturbation, or empty without one), `draw`,
`mapped_back`, `key`, `form` (`original`, `changed`), `recorded`, `offered`, `invalid`, `no_letter`,
and `n_a`, `n_b`, … the count of each letter. `warnings`, one per line, are about implausible values
in the file of a set. Sets, and the questions of each, keep their order.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from workbench.csv_files import csv_text, guarded
from workbench.domain.choices import (
    LETTERS,
    AnsweredPair,
    AnswerSet,
    Arm,
    ArmAnswers,
    Bias,
    Perturbation,
)
from workbench.formats.records import Findings
from workbench.formats.tabular import Row, is_new, known_word, read_rows

MODEL_ANSWERS = "model_answers.csv"
OF_SET = ("model", "bias", "variant", "condition", "draw", "mapped_back")
OF_FORM = ("key", "form", "recorded", "offered", "invalid", "no_letter")
WARNINGS = "warnings"
COUNT = "n_"
"prefix of the columns of letters"
REQUIRED = ("model", "bias", "key", "form", "recorded", "offered")
YES_NO = {"yes": True, "no": False, "": True}
LARGEST = 10**9

SetName = tuple[str, Bias, str, Perturbation | None, int]


@dataclass(slots=True)
class _Set:
    """The rows of a set that were read so far."""

    mapped_back: bool
    warnings: tuple[str, ...]
    forms: dict[str, dict[Arm, tuple[Row, ArmAnswers]]] = field(default_factory=dict)


def read_model_answers(path: Path, findings: Findings) -> tuple[AnswerSet, ...]:
    """Return the sets of a file. Every fault is noted. A missing file has no sets."""
    if not path.exists():
        return ()
    optional = tuple(name for name in (*OF_SET, WARNINGS, *OF_FORM) if name not in REQUIRED)
    rows = read_rows(
        path, findings, required=REQUIRED, optional=optional, prefixes=(COUNT,), guarded=True
    )
    _check_letters(rows, findings)
    seen: dict[Hashable, int] = {}
    sets_by_name: dict[SetName, _Set] = {}
    for row in rows:
        name, form, answers = (
            _set_name(row, findings),
            known_word(row, "form", Arm, findings),
            _answers(row, findings),
        )
        mapped_back = _mapped_back(row, findings)
        if name is None or form is None or answers is None or not row.get("key"):
            continue
        if is_new(seen, (*name, row.get("key"), form), row, "key", findings):
            row_set = sets_by_name.setdefault(
                name, _Set(mapped_back, tuple(row.get(WARNINGS).splitlines()))
            )
            if row_set.mapped_back != mapped_back:
                problem = "another word than in earlier rows of this set"
                findings.add(row.file, row.line, "mapped_back", problem, "one word per set")
            row_set.forms.setdefault(row.get("key"), {})[Arm(form)] = (row, answers)
    return tuple(_answer_set(name, row_set, findings) for name, row_set in sets_by_name.items())


def model_answers_csv(sets: Sequence[AnswerSet]) -> str:
    """Return the file of these sets, which is only the header if there are none."""
    forms = [
        (answer_set, pair.key, arm, form)
        for answer_set in sets
        for pair in answer_set.pairs
        for arm, form in _forms(pair)
    ]
    last_index = max(
        (LETTERS.index(letter) for *_, form in forms for letter in form.counts if letter),
        default=-1,
    )
    letters = LETTERS[: last_index + 1]
    warning_column = (WARNINGS,) if any(answer_set.warnings for answer_set in sets) else ()
    header = (*OF_SET, *warning_column, *OF_FORM, *(COUNT + letter for letter in letters))
    return csv_text(header, (_row(*form, letters, warned=bool(warning_column)) for form in forms))


def without_zeros(answer_set: AnswerSet) -> AnswerSet:
    """Return a set as in files: a letter that was never answered has no count."""
    pairs = (
        AnsweredPair(pair.key, *(_counted(form) for _, form in _forms(pair)))
        for pair in answer_set.pairs
    )
    return replace(answer_set, pairs=tuple(pairs))


def _counted(form: ArmAnswers) -> ArmAnswers:
    counts = {letter: count for letter, count in form.counts.items() if count}
    return ArmAnswers(counts, form.recorded, form.offered, form.invalid)


def _forms(pair: AnsweredPair) -> Iterable[tuple[Arm, ArmAnswers]]:
    return ((Arm.ORIGINAL, pair.original), (Arm.CHANGED, pair.changed))


def _row(
    answer_set: AnswerSet, key: str, arm: Arm, form: ArmAnswers, letters: str, *, warned: bool
) -> list[str]:
    set_cells = (
        answer_set.model,
        answer_set.bias,
        answer_set.variant,
        answer_set.condition or "",
        str(answer_set.draw),
        "yes" if answer_set.mapped_back else "no",
    )
    numbers = (form.recorded, form.offered, form.invalid, form.counts.get("", 0))
    counts = (form.counts.get(letter, 0) for letter in letters)
    warning_cells = ("\n".join(answer_set.warnings),) if warned else ()
    cells = (
        *set_cells,
        *warning_cells,
        key,
        arm.value,
        *map(str, numbers),
        *(str(count) if count else "" for count in counts),
    )
    return [guarded(cell) for cell in cells]


def _answer_set(name: SetName, answer_forms: _Set, findings: Findings) -> AnswerSet:
    """Return a set. Questions with only one form are noted and left out."""
    model, bias, variant, condition, draw = name
    pairs = []
    for key, forms in answer_forms.forms.items():
        if len(forms) == len(Arm):
            pairs.append(AnsweredPair(key, forms[Arm.ORIGINAL][1], forms[Arm.CHANGED][1]))
            continue
        ((form, (row, _)),) = forms.items()
        findings.add(
            row.file,
            row.line,
            "form",
            f"{form.value!r} alone for {key!r}",
            "a row for each of both forms",
        )
    return AnswerSet(
        model,
        bias,
        condition,
        tuple(pairs),
        draw,
        answer_forms.mapped_back,
        variant,
        answer_forms.warnings,
    )


def _set_name(row: Row, findings: Findings) -> SetName | None:
    bias, draw = (
        known_word(row, "bias", Bias, findings),
        _number(row, "draw", findings, low=1, usual=1),
    )
    condition = known_word(row, "condition", Perturbation, findings)
    if (
        bias is None
        or draw is None
        or (condition is None and row.get("condition"))
        or not row.get("model")
    ):
        return None
    perturbation = Perturbation(condition) if condition else None
    return row.get("model"), Bias(bias), row.get("variant"), perturbation, draw


def _answers(row: Row, findings: Findings) -> ArmAnswers | None:
    letters = [column.removeprefix(COUNT) for column in row.cells if column in _columns()]
    counts = {letter: _number(row, COUNT + letter, findings) for letter in letters}
    n_without_letter, invalid = (_number(row, name, findings) for name in ("no_letter", "invalid"))
    options = [
        _number(row, name, findings, low=2, high=len(LETTERS)) for name in ("recorded", "offered")
    ]
    numbers = (n_without_letter, invalid, *options, *counts.values())
    if any(number is None for number in numbers):
        return None
    letter_counts = {
        letter: count for letter, count in (*counts.items(), ("", n_without_letter)) if count
    }
    return ArmAnswers(letter_counts, options[0] or 0, options[1] or 0, invalid or 0)


def _number(
    row: Row, column: str, findings: Findings, *, low: int = 0, high: int = LARGEST, usual: int = 0
) -> int | None:
    """Return a whole number, or `usual` for an empty cell.

    It is None, with a note, for anything else.
    """
    text = row.get(column)
    if not text:
        return None if column in REQUIRED else usual
    if re.fullmatch(r"[0-9]{1,10}", text) and low <= int(text) <= high:
        return int(text)
    findings.add(row.file, row.line, column, repr(text), f"a whole number from {low} to {high:,}")
    return None


def _mapped_back(row: Row, findings: Findings) -> bool:
    word = row.get("mapped_back").casefold()
    if word not in YES_NO:
        findings.add(
            row.file,
            row.line,
            "mapped_back",
            repr(row.get("mapped_back")),
            "yes, no or nothing, which is yes",
        )
    return YES_NO.get(word, True)


def _check_letters(rows: Sequence[Row], findings: Findings) -> None:
    """Note columns with the prefix of letter columns that name no letter."""
    for row in rows[:1]:
        for column in row.cells:
            if column.startswith(COUNT) and column not in _columns():
                findings.add(
                    row.file,
                    1,
                    column,
                    "an unknown column",
                    f"{COUNT}a, {COUNT}b and so on, one per letter",
                )


def _columns() -> frozenset[str]:
    return frozenset(COUNT + letter for letter in LETTERS)
