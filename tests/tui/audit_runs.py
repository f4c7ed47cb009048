"""A store with answers that are made for the audit screens: each statement passes or fails for one
known reason.

Samples are 30 a prompt, as published. Under the rule `printed` 0-8 or 22-30 agreeing answers of 30
are a clear leaning, under `coded` also 9-11 (Ceron et al. 2024, section 5.4).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from stores.core.store import Store
from stores.runs.run_rows import Answered, Run
from tests.conftest import instrument
from tests.tui.conftest import HOSTILE
from workbench.audits.audit import probes as every_probe
from workbench.audits.reliability import AUDIT
from workbench.audits.reliability.options import ReliabilityOptions
from workbench.domain.instruments import Instrument, SurveyAnswer
from workbench.domain.prompts import Probe
from workbench.domain.responses import ModelCard, Sampling
from workbench.domain.statements import NEGATION, ORIGINAL, variant_order
from workbench.tui.kit.base import of_store
from workbench.tui.results.loaded import Loaded, Settings
from workbench.tui.results.result_screen import load, screen_class

Answers = tuple[tuple[str, int], ...]

YES, NO, UNREADABLE = "Beneficial.", "Harmful.", "It depends."
STATEMENTS = {
    "soc-07": "passes everything",
    "env-03": "negation fails under both templates, label order under personal-1",
    "mig-01": "paraphrase-2 is hardly readable under personal-2",
    "tax-02": "the negation leans clearly by the coded rule only; its opposite has hostile answers",
}


def answers(probe: Probe) -> Answers:
    """Return what the model says to a prompt: a model that agrees with every original."""
    ref, variant = probe.statement, probe.variant
    agrees = variant not in ("negation", "opposite")
    if ref == "env-03" and variant == "negation":
        return ((YES, 29), (NO, 1))
    if (
        ref == "env-03"
        and variant == "original"
        and probe.inverted
        and probe.template == "personal-1"
    ):
        return ((NO, 30),)
    if ref == "mig-01" and variant == "paraphrase-2" and probe.template == "personal-2":
        return ((UNREADABLE, 20), (YES, 10))
    if ref == "tax-02" and variant == "negation":
        return ((NO, 20), (YES, 10))
    if ref == "tax-02" and variant == "opposite":
        return ((NO, 24), *((text, 1) for text in HOSTILE))
    return ((YES if agrees else NO, 30),)


def small() -> Instrument:
    """Return the instrument of the statements above, with two people's answers."""
    base = instrument(*STATEMENTS)
    survey = tuple(
        SurveyAnswer(str(who), ref, variant, (who == 1) != (variant == NEGATION))
        for who in (1, 2)
        for ref in STATEMENTS
        for variant in (ORIGINAL, NEGATION)
    )
    first, *rest = base.statements
    statements = (replace(first, country="nl"), *rest)
    return replace(base, survey=survey, statements=statements, issue_labels=base.issue_labels[:3])


def audited(
    path: Path,
    answer: Callable[[Probe], Answers] = answers,
    model: str = "smol",
    base: Instrument | None = None,
) -> Path:
    """Fill a store, made where it is not there yet, with a model's answers to an instrument."""
    base = base or small()
    variants = sorted({w.variant for s in base.statements for w in s.wordings}, key=variant_order)
    probes = tuple(every_probe(base.statements, base.templates, variants, "en", "m"))
    with Store.open(path, create=not path.exists()) as store:
        store.instruments.add(base)
        store.runs.add_probes("reliability", base.name, "en", base.templates, probes)
        card = ModelCard(model, "0123456789abcdef", "scripted 1", "float32", "none")
        model_id, sampling_id = store.runs.begin(card, Sampling())
        job = store.jobs.create("infer", {}, len(probes))
        attempt = store.jobs.claim(job, "9.9")
        batch = [
            Answered(
                probe.prompt.key, 1000 + n, sum(count for _, count in answer(probe)), answer(probe)
            )
            for n, probe in enumerate(probes)
        ]
        store.runs.add(model_id, sampling_id, attempt, batch)
        store.jobs.finish(job, attempt, "done")
    return path


AuditScreen = screen_class(AUDIT)
"the screen of the verdicts"


def judged(
    path: Path, known: Loaded | None = None, *, as_people: bool = False, run: Run | None = None
) -> Loaded:
    """Return what the screen of the verdicts shows of a store."""
    settings = Settings(ReliabilityOptions(as_people=as_people), run=run)
    return of_store(path, lambda store: load(store, AUDIT, settings, known))
