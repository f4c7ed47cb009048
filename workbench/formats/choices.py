"""The cells of tables that hold multiple-choice questions."""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from workbench.domain.choices import (
    LETTERS,
    Bias,
    Choice,
    ChoiceFault,
    ChoicePair,
    Perturbation,
    parse_choice,
)
from workbench.domain.statements import MOST_CHARACTERS
from workbench.errors import UsageError
from workbench.formats.about import About, read_about
from workbench.formats.records import AS_IS, Findings, ReadSettings
from workbench.formats.tabular import Row, is_new, known_word, number, read_rows


def cell_choice(row: Row, column: str, findings: Findings) -> Choice | None:
    """Return the question in a cell, or None, with a note, if it is invalid.

    The reader of the row notes empty cells.
    """
    text = row.cells.get(column, "")
    if not text.strip():
        return None
    if len(text) > MOST_CHARACTERS:
        findings.add(
            row.file, row.line, column, f"{len(text):,} characters", f"{MOST_CHARACTERS:,} at most"
        )
        return None
    parsed = parse_choice(text)
    if isinstance(parsed, ChoiceFault):
        findings.add(row.file, row.line, column, parsed.found, parsed.expected)
        return None
    return parsed


REWORDED = (Bias.ACQUIESCENCE, Bias.ALLOW_FORBID)


def form_fault(pair: ChoicePair) -> ChoiceFault | None:
    """Return the fault of the changed form, or None if it is valid or unknown."""
    if pair.changed is None:
        return None
    original, changed = pair.original, pair.changed
    if pair.bias in REWORDED:
        n_options = len(changed.options)
        return (
            None
            if n_options == 2
            else ChoiceFault(f"{n_options} options", f"two: {pair.bias} compares A with B")
        )
    if changed.stem != original.stem:
        return ChoiceFault(
            "another question than the original's",
            f"the same question: {pair.bias} changes its options",
        )
    expected, description = _options(pair.bias, original, changed)
    if changed.options == expected:
        return None
    return ChoiceFault(f"the options {_list(changed.options)}", f"{description}: {_list(expected)}")


def original_fault(pair: ChoicePair) -> ChoiceFault | None:
    """Return the fault of the original, or None if the bias can be measured with it."""
    n_options = len(pair.original.options)
    if pair.bias is Bias.ODD_EVEN and n_options % 2 == 0:
        return ChoiceFault(
            f"{n_options} options", "an odd number: the original is the form with a middle option"
        )
    if pair.bias is Bias.ALLOW_FORBID and n_options != 2:
        return ChoiceFault(f"{n_options} options", "two: allow/forbid compares A with B")
    return None


def _options(bias: Bias, original: Choice, changed: Choice) -> tuple[tuple[str, ...], str]:
    """Return the options that the changed form must have, and a description of them."""
    if bias is Bias.RESPONSE_ORDER:
        return original.options[::-1], "the original's from last to first"
    if bias is Bias.OPINION_FLOAT:
        return (*original.options, changed.options[-1]), "the original's and one more at the end"
    middle = len(original.options) // 2
    return (
        *original.options[:middle],
        *original.options[middle + 1 :],
    ), "the original's without the middle one"


def _list(options: tuple[str, ...]) -> str:
    return " / ".join(options)


CHOICES, PERTURBED, ABOUT = "choices.csv", "perturbed.csv", "instrument.toml"
REQUIRED = ("key", "bias", "original")
WARNINGS = "warnings"
OPTIONAL = ("changed", "topic", "variant", "middle_removed", WARNINGS)
PERTURBED_COLUMNS = ("key", "bias", "perturbation", "draw", "text")
SHARE = "share_"
YES_NO: Mapping[str, bool | None] = {
    "yes": True,
    "true": True,
    "no": False,
    "false": False,
    "": None,
}
LAST_DRAW = 999_999
ROUNDING = 0.005
"tolerance of one printed share: the sum of n shares may differ from 1 by n times as much"

Id = tuple[str, str, str]
"(bias, variant, key)"


@dataclass(frozen=True, slots=True)
class ChoiceFolder:
    """The contents of a folder."""

    about: About
    pairs: tuple[ChoicePair, ...]


def read_choices(path: Path, settings: ReadSettings = AS_IS) -> ChoiceFolder:
    """Return the questions of a folder, or of one file of questions.

    Shares are returned as fractions, even if a row gives them in percent, and are scaled to a sum
    of 1. Raises UsageError if there is nothing to read, and InputError with every fault of all
    files.
    """
    if not path.exists():
        raise UsageError(f"{path}: not found")
    table = path / CHOICES if path.is_dir() else path
    if not table.is_file():
        raise UsageError(f"{path}: no multiple-choice questions; looked for {CHOICES} in it")
    findings = Findings()
    about = read_about(path / ABOUT, findings) if path.is_dir() else About()
    if not about.name:
        file = path.resolve()
        about = replace(about, name=file.name if path.is_dir() else file.stem)
    pairs = _pairs(table, findings, settings if path.is_file() else AS_IS)
    if path.is_dir() and (path / PERTURBED).exists():
        pairs = _perturbed(path / PERTURBED, pairs, findings)
    findings.check()
    return ChoiceFolder(about, tuple(pairs.values()))


def _pairs(path: Path, findings: Findings, settings: ReadSettings) -> dict[Id, ChoicePair]:
    rows = read_rows(
        path,
        findings,
        required=REQUIRED,
        optional=OPTIONAL,
        prefixes=(SHARE,),
        guarded=True,
        settings=settings,
    )
    _check_share_columns(rows, findings)
    pairs: dict[Id, ChoicePair] = {}
    seen: dict[Hashable, int] = {}
    for row in rows:
        pair = _pair(row, findings)
        if (
            row.get("key")
            and row.get("bias")
            and not is_new(seen, _id(row), row, "key", findings, _called(row))
        ):
            continue
        if pair is not None:
            pairs[_id(row)] = pair
    if not rows and not findings.found:
        findings.add(path, 1, None, "no question", "one row per question")
    return pairs


def _pair(row: Row, findings: Findings) -> ChoicePair | None:
    bias, middle = known_word(row, "bias", Bias, findings), _middle(row, findings)
    original, changed = (cell_choice(row, column, findings) for column in ("original", "changed"))
    if bias is None or original is None or not row.get("key"):
        return None
    pair = ChoicePair(
        key=row.get("key"),
        bias=Bias(bias),
        original=original,
        changed=changed,
        topic=row.get("topic") or None,
        middle_removed=middle,
        shares=_shares(row, original, findings),
        variant=row.get("variant"),
        warnings=tuple(row.get(WARNINGS).splitlines()),
    )
    for column, fault in (("original", original_fault(pair)), ("changed", form_fault(pair))):
        if fault is not None:
            findings.add(row.file, row.line, column, fault.found, fault.expected)
    if middle is not None and pair.bias is not Bias.ODD_EVEN:
        findings.add(
            row.file,
            row.line,
            "middle_removed",
            repr(row.get("middle_removed")),
            f"nothing for {pair.bias}",
        )
    return pair


def _id(row: Row) -> Id:
    return row.get("bias").casefold(), row.get("variant"), row.get("key")


def _called(row: Row) -> str:
    variant = f" ({row.get('variant')})" if row.get("variant") else ""
    return f"question {row.get('key')!r} of {row.get('bias').casefold()}{variant}"


def _middle(row: Row, findings: Findings) -> bool | None:
    word = row.get("middle_removed").casefold()
    if word not in YES_NO:
        findings.add(
            row.file,
            row.line,
            "middle_removed",
            repr(row.get("middle_removed")),
            "yes, no or nothing",
        )
    return YES_NO.get(word)


def _check_share_columns(rows: list[Row], findings: Findings) -> None:
    """Note share columns other than `share_1`, `share_2`, …"""
    for row in rows[:1]:
        for column in row.cells:
            if column.startswith(SHARE) and column not in _share_columns(len(LETTERS)):
                expected = f"{SHARE}1, {SHARE}2 and so on, one for each option"
                findings.add(row.file, None, column, "an unknown column", expected)


def _share_columns(n: int) -> list[str]:
    return [f"{SHARE}{position}" for position in range(1, n + 1)]


def _shares(row: Row, original: Choice, findings: Findings) -> tuple[float, ...]:
    """Return the shares of the options as fractions.

    They are empty if none is given or, with a note, if they are invalid.
    """
    expected = _share_columns(len(original.options))
    share_columns = [
        column
        for column in row.cells
        if re.fullmatch(rf"{SHARE}[0-9]+", column) and row.get(column)
    ]
    if not share_columns:
        return ()
    if sorted(share_columns) != sorted(expected):
        problem = (
            f"{len(share_columns)} shares ({', '.join(share_columns)}) of {len(expected)} options"
        )
        findings.add(
            row.file,
            row.line,
            share_columns[-1],
            problem,
            f"one for each option of the original, or none: {expected}",
        )
        return ()
    shares = [number(row, column, findings, low=0, high=100) for column in expected]
    values = [share for share in shares if share is not None]
    if len(values) < len(expected):
        return ()
    total = math.fsum(values)
    if not any(
        abs(total - full_share) <= ROUNDING * full_share * len(values) for full_share in (1, 100)
    ):
        problem = f"shares that add up to {total:g}"
        findings.add(
            row.file, row.line, expected[0], problem, "1, or 100 in percent, except for rounding"
        )
        return ()
    return tuple(values) if abs(total - 1) < 1e-9 else tuple(value / total for value in values)


def _perturbed(path: Path, pairs: dict[Id, ChoicePair], findings: Findings) -> dict[Id, ChoicePair]:
    """Return the questions with their typos."""
    seen: dict[Hashable, int] = {}
    texts: dict[Id, dict[tuple[Perturbation, int], Choice]] = {}
    for row in read_rows(
        path, findings, required=PERTURBED_COLUMNS, optional=("variant",), guarded=True
    ):
        word, draw = known_word(row, "perturbation", Perturbation, findings), _draw(row, findings)
        choice, pair = cell_choice(row, "text", findings), pairs.get(_id(row))
        if pair is None and row.get("key") and row.get("bias"):
            problem = f"no question {row.get('key')!r} of {row.get('bias')!r}"
            findings.add(
                row.file, row.line, "key", problem, f"a key that {CHOICES} has under this bias"
            )
        if word is None or draw is None or choice is None or pair is None:
            continue
        if len(choice.options) != len(pair.original.options):
            problem = f"{len(choice.options)} options"
            findings.add(
                row.file,
                row.line,
                "text",
                problem,
                f"{len(pair.original.options)}, as in the original",
            )
        description = f"{word}, draw {draw}, of {_called(row)}"
        if is_new(seen, (*_id(row), word, draw), row, "draw", findings, description):
            texts.setdefault(_id(row), {})[Perturbation(word), draw] = choice
    return {
        question_id: replace(pair, perturbed=texts[question_id]) if question_id in texts else pair
        for question_id, pair in pairs.items()
    }


def _draw(row: Row, findings: Findings) -> int | None:
    text = row.get("draw")
    if re.fullmatch(r"[0-9]{1,6}", text) and int(text) > 0:
        return int(text)
    if text:
        findings.add(
            row.file, row.line, "draw", repr(text), f"a whole number from 1 to {LAST_DRAW:,}"
        )
    return None
