"""What a report says of runs side by side: one part, whichever audit the runs are of."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import replace

from stores.runs.run_rows import Run
from workbench.audits.comparison.book import book
from workbench.audits.comparison.judge import Change, changes
from workbench.audits.comparison.values import Compared, meant
from workbench.audits.reported import Reported, Wanted
from workbench.domain.instruments import Instrument
from workbench.domain.names import plural
from workbench.evidence.rulings import NOTHING_RULED, Told
from workbench.figures.shown import estimate, number
from workbench.figures.table import Kind

CLEAR, NAMED = 0.05, 5
"level of p; differences that a finding names"
LIMITS = (
    "Runs are compared over the items that all of them were asked in the same words; items asked of only one run say "
    "nothing about the others.",
    "A test that finds no difference does not show that there is none: the interval says how large it may be.",
)


def names_wanted(wanted: Wanted, there: Mapping[str, str]) -> tuple[str, ...]:
    """Return the runs that a report is to compare; empty where fewer than two of these are named.

    there : name of a run -> its model
    """
    known = [name for name in wanted.compare if name in there or name in there.values()]
    return meant(known, there) if len(known) > 1 else ()


def comparison(
    of: Compared,
    what: str,
    instrument: Instrument,
    runs: Mapping[str, Run],
    command: str,
    rulings: Told = NOTHING_RULED,
) -> Reported:
    """Return a comparison as a part of a report.

    what : is compared: `Reliability`
    runs : name -> run, of those that are compared
    command : what prints it, but for the names of the runs
    """
    return Reported(
        title=f"{what} side by side: {', '.join(of.names)}",
        instrument=instrument,
        runs={name: runs[name] for name in of.names if name in runs},
        book=replace(book(of), title=f"{what} side by side"),
        findings=tuple(_findings(of)),
        command=f"{command} --compare {' '.join(map(shlex.quote, of.names))}",
        rulings=rulings,
        limits=LIMITS,
        shown=("compared_runs", "changes"),
        files="side-by-side",
    )


def _findings(of: Compared) -> Iterator[str]:
    """Say of every two runs how the verdict differs that the audit is known for, and how many others do."""
    every = changes(of)
    first = of.kinds[0]
    for change in every:
        if change.kind is first:
            yield _said(change)
    tested = [one for one in every if not one.untested]
    clear = [one for one in tested if one.holm < CLEAR]
    if tested:
        which = "; ".join(f"{one.kind.title} of {one.first} and {one.second}" for one in clear[:NAMED])
        more = f"; {len(clear) - NAMED:,} more" if len(clear) > NAMED else ""
        yield (
            f"After Holm's correction p is below {CLEAR:g} for {len(clear):,} of {len(tested):,} tested differences"
            f"{f': {which}{more}' if clear else ''}."
        )


def _said(change: Change) -> str:
    whom = f"{change.kind.title} of {change.first} and {change.second}"
    if not change.difference.defined:
        return f"{whom}: {change.difference.undefined}."
    shares = number(change.first_share, Kind.SHARE), number(change.second_share, Kind.SHARE)
    tested = f", p {number(change.holm, Kind.P_VALUE)} by Holm" if not change.untested else ""
    return (
        f"{whom}: {shares[0]} and {shares[1]} {change.kind.yes}, a difference of "
        f"{estimate(change.difference, Kind.POINTS)} over {plural(change.sizes[0], change.kind.unit)}{tested}."
    )
