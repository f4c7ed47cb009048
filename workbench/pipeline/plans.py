"""Frozen plans: the prompts and the judging options of an analysis, before the first answer."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from stores.core.store import Store
from workbench import registry
from workbench.audits.audit import Audit, Given
from workbench.domain.designs import Design, FrozenPlan, written
from workbench.errors import UsageError
from workbench.evidence.plans import instrument_content
from workbench.options.option import ALL, Option, Type, recorded
from workbench.pipeline.planning import Plan, plan
from workbench.version import __version__

YES, NO = ("yes", "true", "on"), ("no", "false", "off")


def frozen(
    store: Store,
    designs: Sequence[Design],
    judged: Mapping[str, Any],
    compared: Sequence[str] = (),
    correction: str = "holm",
    claims: Sequence[str] = (),
) -> FrozenPlan:
    """Return the plan of designs that differ in their models alone.

    It reads only.

    judged : option -> value, see `judging`
    claims : questions whose claims are confirmatory, such as `lean`

    Raises UsageError for a claim that no audit of these answers makes.
    """
    plans = [_pinned(plan(store, design)) for design in designs]
    first = plans[0]
    audit = registry.audit(first.design.audit)
    asked_fields = {
        name: value for name, value in first.design.as_json().items() if name != "model"
    }
    instrument = store.instruments.get(first.design.instrument)
    return FrozenPlan(
        models=tuple(design.model for design in designs),
        asked=written(asked_fields),
        content={
            "defaults": {
                option.name: option.none
                for option in audit.judges_by
                if judged.get(option.name) is None and option.none
            },
            "instrument": instrument_content(instrument),
            "prompts": [len(planned.prompts) for planned in plans],
            "prompts_content": [_prompts_content(planned) for planned in plans],
        },
        templates=tuple(_template(template) for template in first.templates),
        audit=audit.name,
        judged=written(judged),
        compared=tuple(compared),
        correction=correction,
        claims=_questions(audit, claims),
        made={
            "workbench": __version__,
            "at": datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
            "answers_before": sum(planned.samples_stored for planned in plans),
        },
    )


def _questions(audit: Audit, claims: Sequence[str]) -> tuple[str, ...]:
    """Return the questions that a plan names, each once.

    Raises UsageError for one that no audit of the answers has.
    """
    judging_audits = [other for other in registry.every_audit() if other.asked_by == audit.name]
    available_questions = dict.fromkeys(
        question for other in judging_audits for question in other.questions
    )
    for claim in claims:
        if claim not in available_questions:
            available = ", ".join(available_questions) or "none"
            raise UsageError(f"found --claim {claim!r}. Claims of {audit.name}: {available}")
    return tuple(dict.fromkeys(claims))


def _pinned(plan: Plan) -> Plan:
    """Return a plan whose design names its prompts.

    Statements that are added later are not part of it.
    """
    design = plan.design
    if not registry.audit(design.audit).own_material:
        statements = tuple(dict.fromkeys(probe.statement for probe in plan.probes))
        variants = tuple(dict.fromkeys(probe.variant for probe in plan.probes))
        design = replace(design, statements=statements, variants=variants)
    names = tuple(dict.fromkeys(template.name for template in plan.templates))
    return replace(plan, design=replace(design, templates=names))


def _prompts_content(plan: Plan) -> str:
    return sha256("\n".join(sorted(key.hex() for key in plan.prompts)).encode()).hexdigest()


def _template(template: Any) -> dict[str, Any]:
    fields = (
        "name",
        "version",
        "inverted",
        "family",
        "language",
        "system",
        "user",
        "positive",
        "negative",
    )
    return written(
        {
            name: value
            for name, value in json.loads(json.dumps(asdict(template))).items()
            if name in fields
        }
    )


def judging(audit: Audit, assignments: Sequence[str]) -> dict[str, Any]:
    """Return every option of how an audit's answers are judged, as it is recorded.

    `assignments` are options as `name=value`. The others have their defaults. Raises UsageError for
    an unknown option, FieldError for a value that it does not take.
    """
    options = {option.name: option for option in audit.judges_by}
    values = Given(**{name: option.default for name, option in options.items()})
    option_names: set[str] = set()
    for text in assignments:
        name, equals, value = text.partition("=")
        option_name = name.strip().lstrip("-").replace("-", "_")
        if not equals or option_name not in options:
            available = ", ".join(options) or "none"
            raise UsageError(
                f"found --judge {text!r}; give NAME=VALUE of an option of {audit.name}: {available}"
            )
        if option_name in option_names:
            raise UsageError(f"found --judge {option_name} twice; give it once")
        option_names.add(option_name)
        setattr(values, option_name, _read(options[option_name], value))
    return recorded(audit.judges_by, values)


def _read(option: Option, text: str) -> Any:
    lowered = text.strip().casefold()
    if option.type is not Type.FLAG:
        return None if option.default is None and lowered in ALL else option.read(text)
    if lowered not in (*YES, *NO):
        raise option.error(f"found {text!r}; give yes or no")
    return lowered in YES
