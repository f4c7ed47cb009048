"""Signs of shifted rows: a column may be some rows above or below the others, or a question may occur twice.

The authors' files contain one question after the other, first all answers to one of its forms and then those to the
other. A shifted column of keys or forms breaks this order. A shifted column of answers does not; but answers to one
form are similar and differ from those to the next, so the likelihood is highest with the answers in their correct rows.

None of these signs is proof. A sorted file has another order and is correct; and answers that change little between
questions fit nearly as well in other rows. So each sign is a warning, with its evidence, and the file is read
unchanged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from workbench.domain.counting import plural
from workbench.formats.biasmonkey_files import Source
from workbench.formats.biasmonkey_rows import Asked, Rows
from workbench.formats.tabular import Findings

FARTHEST = 25
"rows; half of the 50 answers that a form usually has"
LIKELIER = 20.0
"difference in log-likelihood (natural). In the authors' files it is at most 10 for most models, 24 in one of \
llama2-70b whose rows are in place, and up to 685 in those of gpt-3.5-turbo-ext_gen"


class _Run(NamedTuple):
    """Consecutive rows of one form of one question."""

    asked: Asked
    begin: int
    "index of the first row"
    length: int


def check_order(source: Source, rows: Rows, findings: Findings) -> None:
    """Warn about signs that rows of a file are shifted."""
    runs = _runs(rows)
    before = len(findings.warned)
    _check_blocks(source, runs, rows.lines, findings)
    _check_repeats(source, runs, rows.lines, findings)
    if len(findings.warned) == before and len({run.asked for run in runs}) == len(runs) > 2:
        _check_answers(source, runs, rows, findings)


def _runs(rows: Rows) -> list[_Run]:
    asked = list(dict.fromkeys(kind.asked for kind in rows.kinds))
    places = {one: place for place, one in enumerate(asked)}
    of = np.array([places[kind.asked] for kind in rows.kinds])[np.array(rows.numbers)]
    begins = np.flatnonzero(np.diff(of, prepend=-1))
    lengths = np.diff(begins, append=len(of))
    return [_Run(asked[of[at]], at, length) for at, length in zip(begins.tolist(), lengths.tolist(), strict=True)]


def _blocks(runs: list[_Run]) -> list[list[_Run]]:
    """Return the consecutive runs of each question."""
    return [list(block) for _, block in groupby(runs, key=lambda run: run.asked[0])]


def _check_blocks(source: Source, runs: list[_Run], lines: Sequence[int], findings: Findings) -> None:
    """Warn about questions whose answers to one form are on both sides of those to the other."""
    broken = [block for block in _blocks(runs) if len(block) == 3]
    if broken:
        first = broken[0]
        key, arm = first[2].asked
        found = (
            f"{first[0].length} rows of {source.stem.said(key, arm)}, then those of the other form, then "
            f"{first[2].length} more" + (f"; the same in {len(broken):,} questions" if len(broken) > 1 else "")
        )
        expected = "the answers to one form together: the column of keys or of groups may be shifted"
        findings.warn(source.path, lines[first[2].begin], "group", found, expected)


def _check_repeats(source: Source, runs: list[_Run], lines: Sequence[int], findings: Findings) -> None:
    """Warn about questions that occur again later, unless all do: a file may contain several samplings."""
    blocks = _blocks(runs)
    times = Counter(block[0].asked[0] for block in blocks)
    usual = min(times.values())
    seen: Counter[str] = Counter()
    firsts: dict[str, int] = {}
    again: list[tuple[str, int]] = []
    for block in blocks:
        key, line = block[0].asked[0], lines[block[0].begin]
        firsts.setdefault(key, line)
        seen[key] += 1
        if seen[key] == usual + 1:
            again.append((key, line))
    if again:
        key, line = again[0]
        more = f"; the same for {plural(len(again) - 1, 'other question')}" if len(again) > 1 else ""
        found = f"{key!r} again, after line {firsts[key]}{more}"
        findings.warn(source.path, line, "key", found, "all answers to a question together, and each answer once")


def _check_answers(source: Source, runs: list[_Run], rows: Rows, findings: Findings) -> None:
    """Warn if the answers as a whole fit the questions better some rows up or down."""
    farthest = min(FARTHEST, min(run.length for run in runs) // 2)
    letters = np.array([ord(kind.letter or "`") - ord("`") for kind in rows.kinds])[np.array(rows.numbers)]
    bounds = np.array([*(run.begin for run in runs), len(letters)])
    cumulated = np.zeros((len(letters) + 1, letters.max() + 1), dtype=np.int32)
    cumulated[np.arange(1, len(letters) + 1), letters] = 1
    np.cumsum(cumulated, axis=0, out=cumulated)
    fits = {shift: _log_likelihood(cumulated, bounds, shift) for shift in range(-farthest, farthest + 1)}
    best = max(fits, key=lambda shift: fits[shift])
    if fits[best] - fits[0] > LIKELIER:
        found = (
            f"answers that fit their questions better {plural(abs(best), 'row')} {'up' if best > 0 else 'down'} "
            f"(log-likelihood {fits[best]:,.1f}, and {fits[0]:,.1f} where they stand)"
        )
        expected = f"a difference of at most {LIKELIER:g} by chance: the column of answers may be shifted"
        findings.warn(source.path, None, "response", found, expected)


def _log_likelihood(cumulated: NDArray[np.int32], bounds: NDArray[np.int64], shift: int) -> float:
    """Return the sum over forms of n ln(n / N), with all answers shifted down by `shift` rows.

    Answers shifted past one end of the file reappear at the other, so that all shifts use the same answers.
    """
    rows = len(cumulated) - 1
    moved = np.clip(bounds + shift, 0, rows)
    moved[0], moved[-1] = max(shift, 0), min(rows + shift, rows)
    counts = np.diff(cumulated[moved], axis=0)
    if shift > 0:
        counts[-1] += cumulated[shift]
    elif shift < 0:
        counts[0] += cumulated[rows] - cumulated[rows + shift]
    totals = counts.sum(axis=1, keepdims=True)
    shares = np.where(counts > 0, counts / np.maximum(totals, 1), 1.0)
    return float((counts * np.log(shares)).sum())
