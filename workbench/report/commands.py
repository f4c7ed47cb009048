"""Commands that repeat a stored design."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from workbench import registry
from workbench.audits.audit import Audit
from workbench.domain.designs import Design
from workbench.domain.responses import EXACT, WHEN_DECIDED
from workbench.options.option import Type


def run_command(spec: Mapping[str, Any]) -> str:
    """Return the command of a stored design, with the word STORE for the store."""
    design = Design.from_json(spec)
    audit = registry.of_design(spec)
    parts = [part for flag, value in _given(design, audit) for part in (flag, *([value] if value else []))]
    return " ".join(["workbench run STORE", *map(shlex.quote, parts)])


def _given(design: Design, audit: Audit | None) -> Iterator[tuple[str, str]]:
    """Yield (flag, value) for the settings of a design; a flag without a value has an empty one."""
    yield "--audit", design.audit
    yield "--model", design.model
    yield "--instrument", design.instrument
    for name in ("language", "family", "dtype", "chat_format", "cluster", "device"):
        if value := getattr(design, name):
            yield f"--{name.replace('_', '-')}", value
    for name in ("statements", "variants", "templates"):
        if values := getattr(design, name):
            yield f"--{name}", ",".join(values)
    yield from _drawn(design, audit)
    for option in audit.run_options if audit is not None else ():
        value = audit.given_in(design).get(option.name) if audit is not None else None
        if value not in (None, option.default, "", (), 0):
            yield option.flag, "" if option.type is Type.FLAG else option.text(value)


def _drawn(design: Design, audit: Audit | None) -> Iterator[tuple[str, str]]:
    """Yield the flags of sampling; for computed probabilities only that flag."""
    sampling = design.sampling
    if sampling.mode == EXACT:
        if audit is None or audit.defaults.drawn:
            yield "--exact", ""
    else:
        yield "--samples", str(design.samples)
        usual = audit.defaults.sampling_of(design.family) if audit is not None else None
        for name in ("temperature", "top_p", "top_k", "max_new_tokens"):
            value = getattr(sampling, name)
            if usual is None or asdict(usual)[name] != value:
                yield f"--{name.replace('_', '-')}", "0" if value is None else f"{value:g}"
        if sampling.stop == WHEN_DECIDED:
            yield "--until-decided", ""
    yield "--seed", str(design.seed)
