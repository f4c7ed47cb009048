"""What the form of a new job says, as a design: pure but for the refs that a store knows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from workbench.domain.designs import PUBLISHED_SAMPLES, Design
from workbench.domain.responses import Sampling
from workbench.errors import UsageError

DEFAULT_MODEL = "smollm2"


@dataclass(frozen=True, slots=True)
class FormValues:
    """The form as typed."""

    instrument: str
    model: str = DEFAULT_MODEL
    family: str = "chat"
    language: str = ""
    statements: str = ""
    "empty: all; `8`: the first eight; else refs with commas between"
    variants: tuple[str, ...] = ()
    "empty: all"
    templates: tuple[str, ...] = ()
    samples: str = str(PUBLISHED_SAMPLES)
    temperature: str = f"{Sampling().temperature:g}"
    top_p: str = f"{Sampling().top_p:g}"
    seed: str = "1"


@dataclass(frozen=True, slots=True)
class Choices:
    """What an instrument lets one choose from."""

    instrument: str
    statements: int
    families: tuple[str, ...]
    templates: tuple[tuple[str, str], ...]
    "(family, name)"
    variants: tuple[str, ...]
    languages: tuple[str, ...]
    "the instrument's own first"


def as_design(values: FormValues, refs: Sequence[str]) -> Design:
    """Return the design. `refs` are the instrument's statements in order. Raises UsageError, naming the field."""
    if not values.model.strip():
        raise UsageError("model: give a name, for example smollm2, a hub id or a folder")
    return Design(
        instrument=values.instrument,
        model=values.model.strip(),
        samples=_whole("samples", values.samples, 1),
        sampling=Sampling(
            temperature=_number("temperature", values.temperature, math.inf),
            top_p=_number("top-p", values.top_p, 1.0),
        ),
        seed=_whole("seed", values.seed, 0),
        language=values.language,
        family=values.family,
        statements=_statements(values.statements, refs),
        variants=values.variants,
        templates=values.templates,
    )


def _statements(text: str, refs: Sequence[str]) -> tuple[str, ...]:
    text = text.strip()
    if text.casefold() in ("", "all"):
        return ()
    if text.isdecimal() and text not in refs:
        if int(text) < 1:
            raise UsageError("statements: 0 were asked for; give 1 or more, refs, or nothing for all")
        return tuple(refs[: int(text)])
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _whole(name: str, text: str, least: int) -> int:
    try:
        value = int(text.strip().replace(",", ""))
    except ValueError:
        raise UsageError(f"{name}: {text.strip()!r} is not a whole number") from None
    if value < least:
        raise UsageError(f"{name}: {value} is too few; give {least} or more")
    return value


def _number(name: str, text: str, most: float) -> float:
    try:
        value = float(text)
    except ValueError:
        raise UsageError(f"{name}: {text.strip()!r} is not a number") from None
    if not 0 < value <= most or math.isinf(value):
        raise UsageError(f"{name}: give more than 0" + (f" and at most {most:g}" if math.isfinite(most) else ""))
    return value
