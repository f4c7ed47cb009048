"""`model_answers.csv`: counts of the letters that models answered, for answers imported with
multiple-choice questions.

A row is one form of one question in one set: `model`, `bias`, `variant`, `condition` (a
perturbation; empty: the bias itself), `draw`, `mapped_back`, `key`, `form` (`original`, `changed`),
`recorded`, `offered`, `invalid`, `no_letter`, and `n_a`, `n_b`, … the count of each letter;
`warnings`, one per line, about implausible values in the file that a set came from. Sets, and the
questions of each, keep their order.
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
    """The rows of a set read so far."""

    mapped_back: bool
    warnings: tuple[str, ...]
    forms: dict[str, dict[Arm, tuple[Row, ArmAnswers]]] = field(default_factory=dict)


def read_model_answers(path: Path, findings: Findings) -> tuple[AnswerSet, ...]:
    """Return the sets of a file; every fault is noted. A missing file has no sets."""
    if not path.exists():
        return ()
    optional = tuple(name for name in (*OF_SET, WARNINGS, *OF_FORM) if name not in REQUIRED)
    rows = read_rows(
        path, findings, required=REQUIRED, optional=optional, prefixes=(COUNT,), guarded=True
    )
    _check_letters(rows, findings)
    seen: dict[Hashable, int] = {}
    found: dict[SetName, _Set] = {}
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
            one = found.setdefault(name, _Set(mapped_back, tuple(row.get(WARNINGS).splitlines())))
            if one.mapped_back != mapped_back:
                told = "another word than in earlier rows of this set"
                findings.add(row.file, row.line, "mapped_back", told, "one word per set")
            one.forms.setdefault(row.get("key"), {})[Arm(form)] = (row, answers)
    return tuple(_answer_set(name, one, findings) for name, one in found.items())


def model_answers_csv(sets: Sequence[AnswerSet]) -> str:
    """Return the file of these sets; only the header if there are none."""
    forms = [
        (one, pair.key, arm, form)
        for one in sets
        for pair in one.pairs
        for arm, form in _forms(pair)
    ]
    last = max(
        (LETTERS.index(letter) for *_, form in forms for letter in form.counts if letter),
        default=-1,
    )
    letters = LETTERS[: last + 1]
    warned = (WARNINGS,) if any(one.warnings for one in sets) else ()
    header = (*OF_SET, *warned, *OF_FORM, *(COUNT + letter for letter in letters))
    return csv_text(header, (_row(*form, letters, warned=bool(warned)) for form in forms))


def without_zeros(one: AnswerSet) -> AnswerSet:
    """Return a set as in files: a letter that was never answered has no count."""
    pairs = (
        AnsweredPair(pair.key, *(_counted(form) for _, form in _forms(pair))) for pair in one.pairs
    )
    return replace(one, pairs=tuple(pairs))


def _counted(form: ArmAnswers) -> ArmAnswers:
    counts = {letter: n for letter, n in form.counts.items() if n}
    return ArmAnswers(counts, form.recorded, form.offered, form.invalid)


def _forms(pair: AnsweredPair) -> Iterable[tuple[Arm, ArmAnswers]]:
    return ((Arm.ORIGINAL, pair.original), (Arm.CHANGED, pair.changed))


def _row(
    one: AnswerSet, key: str, arm: Arm, form: ArmAnswers, letters: str, *, warned: bool
) -> list[str]:
    of_set = (
        one.model,
        one.bias,
        one.variant,
        one.condition or "",
        str(one.draw),
        "yes" if one.mapped_back else "no",
    )
    numbers = (form.recorded, form.offered, form.invalid, form.counts.get("", 0))
    counts = (form.counts.get(letter, 0) for letter in letters)
    told = ("\n".join(one.warnings),) if warned else ()
    cells = (
        *of_set,
        *told,
        key,
        arm.value,
        *map(str, numbers),
        *(str(n) if n else "" for n in counts),
    )
    return [guarded(cell) for cell in cells]


def _answer_set(name: SetName, one: _Set, findings: Findings) -> AnswerSet:
    """Return a set; questions with only one form are noted and left out."""
    model, bias, variant, condition, draw = name
    pairs = []
    for key, forms in one.forms.items():
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
        model, bias, condition, tuple(pairs), draw, one.mapped_back, variant, one.warnings
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
    known = Perturbation(condition) if condition else None
    return row.get("model"), Bias(bias), row.get("variant"), known, draw


def _answers(row: Row, findings: Findings) -> ArmAnswers | None:
    letters = [column.removeprefix(COUNT) for column in row.cells if column in _columns()]
    counts = {letter: _number(row, COUNT + letter, findings) for letter in letters}
    none, invalid = (_number(row, name, findings) for name in ("no_letter", "invalid"))
    options = [
        _number(row, name, findings, low=2, high=len(LETTERS)) for name in ("recorded", "offered")
    ]
    numbers = (none, invalid, *options, *counts.values())
    if any(number is None for number in numbers):
        return None
    given = {letter: n for letter, n in (*counts.items(), ("", none)) if n}
    return ArmAnswers(given, options[0] or 0, options[1] or 0, invalid or 0)


def _number(
    row: Row, column: str, findings: Findings, *, low: int = 0, high: int = LARGEST, usual: int = 0
) -> int | None:
    """Return a whole number, `usual` for an empty cell; None, with a note, for anything else."""
    said = row.get(column)
    if not said:
        return None if column in REQUIRED else usual
    if re.fullmatch(r"[0-9]{1,10}", said) and low <= int(said) <= high:
        return int(said)
    findings.add(row.file, row.line, column, repr(said), f"a whole number from {low} to {high:,}")
    return None


def _mapped_back(row: Row, findings: Findings) -> bool:
    said = row.get("mapped_back").casefold()
    if said not in YES_NO:
        findings.add(
            row.file,
            row.line,
            "mapped_back",
            repr(row.get("mapped_back")),
            "yes, no or nothing, which is yes",
        )
    return YES_NO.get(said, True)


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
