"""Which statements of a run auditors have reviewed: one definition for the queue, the figures and the report.

A statement is reviewed once an auditor has ruled on the statement itself; `reviewed` says no more than that. Rulings on
its wordings, prompts and answers are work on it and close nothing, and *look again* is no decision: the statement is
open until somebody decides on just the thing that it was put on.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from stores.core.store import Store
from stores.runs.run_rows import Run
from workbench.domain.control_samples import ControlSample
from workbench.domain.keys import content_key
from workbench.domain.readings import ReaderCard
from workbench.domain.rulings import Ruled, Ruling, Verdict, answer_to
from workbench.evidence.rulings import RulingsOn, rulings_on, thing_of

Drawn = Mapping[tuple[str, str], str]
"keys of prompt and text of the answers that were drawn at random, in hexadecimal -> when they first were"


def run_key(store: Store, run: Run) -> dict[str, str]:
    """Return the key of a run, the same in every store."""
    return {
        "audit": run.audit,
        "instrument": run.instrument,
        "language": run.language,
        "family": run.family,
        "model": store.runs.model_key(run).hex(),
        "sampling": run.sampling.key.hex(),
        "fingerprint": run.fingerprint or "",
        "templates": content_key(sorted(one.key.hex() for one in store.runs.templates(run))).hex(),
        **({"persona": run.persona} if run.persona else {}),
    }


def samples_of(store: Store, run: Run, card: ReaderCard | None) -> tuple[ControlSample, ...]:
    """Return the control samples of a run as a reader reads it, the oldest first."""
    if card is None or not store.control_samples.any():
        return ()
    return store.control_samples.of_run(run_key(store, run), card)


def drawn_since(samples: Sequence[ControlSample]) -> Drawn:
    """Return when each answer was first drawn; `samples`: the oldest first."""
    newest_first = [(one, sample.at) for sample in reversed(samples) for one in sample.items]
    return {(one.prompt.hex(), one.text.hex()): at for one, at in newest_first}


def as_drawn(ruling: Ruling, drawn: Drawn) -> bool:
    """Return whether a ruling is on an answer that had been drawn at random by then."""
    named = ruling.subject.named
    since = drawn.get((named.get("prompt", ""), named.get("text", "")))
    return since is not None and since <= ruling.at


def decisions(rulings: Iterable[Ruling]) -> tuple[Ruling, ...]:
    """Return the rulings by which a statement is reviewed; `rulings`: those in force on it and below."""
    return tuple(
        one for one in rulings if one.subject.kind is Ruled.STATEMENT and one.verdict is not Verdict.LOOK_AGAIN
    )


def deciders(rulings: Iterable[Ruling]) -> tuple[str, ...]:
    """Return who has reviewed a statement, the first one first; `rulings`: those in force on it and below."""
    return tuple(dict.fromkeys(one.auditor for one in decisions(rulings)))


def asked_again(rulings: Iterable[Ruling]) -> tuple[Ruling, ...]:
    """Return who still wants another look at what; `rulings`: those in force on a statement and below."""
    by_thing: dict[object, list[Ruling]] = {}
    for one in rulings:
        by_thing.setdefault(thing_of(one), []).append(one)
    return tuple(
        one
        for of in by_thing.values()
        for one in of
        if one.verdict is Verdict.LOOK_AGAIN and answer_to(one, of) is None
    )


def is_reviewed(on: RulingsOn, ref: str, auditor: str | None = None) -> bool:
    """Return whether an auditor, or anybody, has reviewed a statement and nobody wants another look at it or at
    something below it. For anybody a statement that auditors contradict each other about is not reviewed, either.
    """
    rulings = on.statements.get(ref, ())
    who = deciders(rulings)
    if asked_again(rulings):
        return False
    return bool(who) and ref not in on.disputed if auditor is None else auditor in who


def reviewed(store: Store, run: Run) -> frozenset[str] | None:
    """Return the refs of the statements of a run that auditors have reviewed; None where nobody ruled on anything."""
    on = rulings_on(store, run)
    return frozenset(ref for ref in on.statements if is_reviewed(on, ref)) if on.statements else None


def reviewed_words(statements: Collection[str], passed: Collection[str], reviewed: Collection[str]) -> str:
    """Say how many of the statements that pass every test, and of the others, auditors have reviewed.

    Flagged statements are looked at first, so what is found in them says nothing of the others. `passed`: by the
    verdicts without rulings.

    Examples
    --------
    >>> reviewed_words(["a", "b", "c"], ["a"], ["b"])
    'statements reviewed by auditors: 0 of 1 that pass, 1 of 2 that do not pass'
    """
    strata = {"that pass": [ref for ref in statements if ref in passed],
              "that do not pass": [ref for ref in statements if ref not in passed]}  # fmt: skip
    found = ((sum(ref in reviewed for ref in refs), len(refs), says) for says, refs in strata.items() if refs)
    return f"statements reviewed by auditors: {', '.join(f'{n:,} of {of:,} {says}' for n, of, says in found)}"


__all__ = [
    "Drawn",
    "as_drawn",
    "asked_again",
    "deciders",
    "decisions",
    "drawn_since",
    "is_reviewed",
    "reviewed",
    "reviewed_words",
    "run_key",
    "samples_of",
]
