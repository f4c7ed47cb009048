"""The `system_fingerprint`s of a served model's answers, and whether they matter.

A fingerprint is not an identity: it may differ between requests. Its counts are shown, a test checks whether answers
depend on it, and a run can be split by it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from stores.core.store import Store
from stores.runs.run_rows import SERVED, Run
from workbench.domain.responses import EXACT
from workbench.domain.seeds import SEED
from workbench.errors import UnknownName
from workbench.stats.resampling import derive_rng
from workbench.stats.stratified import PERMUTATIONS, Heterogeneity, heterogeneity

EACH, UNREPORTED = "each", "none"
"instead of a fingerprint: one result per fingerprint; answers without one"


@dataclass(frozen=True, slots=True)
class ServedRun:
    """A run of a served model, by fingerprint."""

    run: Run
    counts: tuple[tuple[str, int], ...]
    "fingerprint -> number of answers, for an exact run of prompts; empty: none reported"
    test: Heterogeneity
    "whether the texts of answers to a prompt depend on the fingerprint"


def served_runs(
    store: Store,
    model: str | None = None,
    instrument: str | None = None,
    *,
    seed: int = SEED,
    permutations: int = PERMUTATIONS,
) -> tuple[ServedRun, ...]:
    """Return every run of served models, each with its fingerprints and the test of their heterogeneity."""
    found = []
    for run in store.runs.list(None, instrument, model):
        if run.backend == SERVED and run.answered:
            counts = tuple(store.runs.fingerprints(run).items())
            rng = derive_rng(seed, "fingerprints", run.label, run.audit, run.language)
            found.append(ServedRun(run, counts, homogeneity(store, run, rng, permutations)))
    return tuple(found)


def homogeneity(store: Store, run: Run, rng: np.random.Generator, permutations: int = PERMUTATIONS) -> Heterogeneity:
    """Test whether answers depend on the fingerprint, within prompts; sampled answers are compared by stored text."""
    if run.sampling.mode == EXACT:
        why = "a prompt is scored once, so no prompt has answers in two groups"
        return Heterogeneity(float("nan"), float("nan"), 0, 0, why)
    return heterogeneity(_tables(store.runs.printed(run)), rng, permutations)


def _tables(rows: Iterable[tuple[int, str, int, int]]) -> list[npt.NDArray[np.int64]]:
    """Return a table of fingerprints x texts for each prompt; the fingerprints are those of the whole run."""
    of_prompt: dict[int, list[tuple[str, int, int]]] = {}
    for prompt, name, text, count in rows:
        of_prompt.setdefault(prompt, []).append((name, text, count))
    names = {name: place for place, name in enumerate(sorted({row[0] for of in of_prompt.values() for row in of}))}
    tables = []
    for of in of_prompt.values():
        texts = {text: place for place, text in enumerate(sorted({text for _, text, _ in of}))}
        table = np.zeros((len(names), len(texts)), dtype=np.int64)
        for name, text, count in of:
            table[names[name], texts[text]] += count
        tables.append(table)
    return tables


def split(store: Store, runs: Sequence[Run], fingerprint: str | None) -> list[Run]:
    """Return runs restricted to one fingerprint; for `each` one run per fingerprint. None: unchanged.

    Raises UnknownName if no run has the fingerprint.
    """
    if not fingerprint:
        return list(runs)
    wanted = "" if fingerprint == UNREPORTED else fingerprint
    known = [(run, store.runs.fingerprints(run)) for run in runs if run.backend == SERVED]
    parts = [
        store.runs.of_fingerprint(run, name)
        for run, names in known
        for name in sorted(names)
        if fingerprint == EACH or name == wanted
    ]
    if runs and not parts:
        there = sorted({name or UNREPORTED for _, names in known for name in names})
        raise UnknownName(
            f"there are no answers under the fingerprint {fingerprint!r}. Available: {', '.join(there) or 'none'}"
        )
    return parts
