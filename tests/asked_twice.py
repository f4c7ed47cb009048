"""Stores in which a model is asked twice: in two languages, under two families of templates, or an
edited template.

The model is the scripted one: other words, and other answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tests import questionnaire_stores
from tests.conftest import new_store
from tests.jobs.test_response_bias_runs import ask, pairs
from tests.tui.bias_stores import SAYS, WORDINGS, sided, trained
from workbench.audits.response_bias import asking as response_bias
from workbench.data import shipped_templates
from workbench.domain.designs import Design
from workbench.domain.instruments import Instrument, with_pairs
from workbench.domain.prompts import TemplateChoice
from workbench.domain.responses import EXACTLY, Sampling
from workbench.domain.statements import ORIGINAL
from workbench.inference.scripted.model import ScriptedModel, ScriptedPersona

MODEL, OTHER = "one", "plain"
"the model, and the family that is asked beside the audit's own"
FAMILY = {
    "bias_score": "prefixes",
    "statement_labels": "labels",
    "questionnaire": "qm",
    "response_bias": "lettered",
}
"audit -> its own family"
EDITED = {
    "bias_score": ("opinion", "baseline"),
    "statement_labels": ("dimension", "leaning"),
    "questionnaire": ("statement",),
    "response_bias": ("lettered",),
}
"audit -> templates that are asked, and edited"
DESIGNS = {
    "bias_score": Design(
        "", MODEL, "bias_score", 3, Sampling(), variants=tuple(map(str, WORDINGS))
    ),
    "statement_labels": Design(
        "", MODEL, "statement_labels", 1, Sampling(), variants=(str(ORIGINAL),)
    ),
    "questionnaire": Design("", MODEL, "questionnaire", 1, EXACTLY, variants=(str(ORIGINAL),)),
    "response_bias": Design("", MODEL, "response_bias", 20, response_bias.DEFAULTS.sampling),
}


def base(audit: str) -> Instrument:
    """Return an instrument that an audit can ask, without templates."""
    if audit == "questionnaire":
        return questionnaire_stores.panel()
    if audit == "response_bias":
        return with_pairs(Instrument("choices", "Choices", ()), pairs())
    return replace(sided(), templates=())


def bilingual(instrument: Instrument) -> Instrument:
    """Return an instrument with each of its wordings in a second language, too."""
    statements = tuple(
        replace(
            statement,
            wordings=(
                *statement.wordings,
                *(
                    replace(w, language="de", text=f"{w.text} (auf Deutsch)")
                    for w in statement.wordings
                ),
            ),
        )
        for statement in instrument.statements
    )
    return replace(instrument, statements=statements)


def asked_twice(path: Path, audit: str, change: str, asked: Sequence[int] = (1, 2)) -> Path:
    """Fill a new store. `change`: "family", "edit" or "language"; `asked`: which of the two a model
    is asked, and in which order.
    """
    shipped = tuple(
        t for t in shipped_templates(audit) if audit == "questionnaire" or t.name in EDITED[audit]
    )
    other = tuple(replace(t, user=f"Please. {t.user}") for t in shipped)
    persona = (
        ScriptedPersona(answers=tuple(SAYS.values()))
        if audit == "bias_score"
        else ScriptedPersona()
    )
    with new_store(path) as store:
        for turn in asked:
            templates = (shipped, other)[turn - 1]
            family = FAMILY[audit]
            if change == "family":
                plain = tuple(replace(t, family=OTHER) for t in other)
                templates, family = (*shipped, *plain), (family, OTHER)[turn - 1]
            made, language = base(audit), ""
            if change == "language":
                made, templates, language = bilingual(made), shipped, ("en", "de")[turn - 1]
            store.instruments.add(replace(made, templates=templates))
            spoken = {"language": language, "template_language": "en"} if language else {}
            design = replace(DESIGNS[audit], instrument=made.name, family=family, **spoken)
            ask(store, ScriptedModel(persona, name=MODEL), design)
    return trained(path) if audit == "bias_score" else path


def chosen(audit: str, change: str, turn: int) -> TemplateChoice:
    """Return the choice that means the first or the second time."""
    if change == "family":
        return TemplateChoice(families=((FAMILY[audit], OTHER)[turn - 1],))
    if change == "language":
        return TemplateChoice(languages=(("en", "de")[turn - 1],))
    return TemplateChoice(versions=tuple((name, turn) for name in EDITED[audit]))
