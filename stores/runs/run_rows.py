"""What runs are made of.

A *run* is everything one model answered under one sampling for one instrument, to one family of templates in one
version each: what verdicts are made of. Two samplings are never pooled, nor two families, nor two versions.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from stores.instruments import template_versions
from stores.instruments.template_versions import AskedTemplate
from stores.runs.run_versions import scope_of
from workbench.domain.responses import UNKNOWN, Sampling

SERVED = "openai"
"the backend of served models"
UNKNOWN_SNAPSHOT = "snapshot unknown"


@dataclass(frozen=True, slots=True)
class Run:
    """One model under one sampling on one instrument."""

    audit: str
    instrument: str
    model: str
    revision: str
    backend: str
    dtype: str
    encoding: str
    "how turns were put into the chat format, see `ModelCard`"
    sampling: Sampling
    model_id: int
    sampling_id: int
    language: str
    prompts: int
    "distinct prompts asked"
    answered: int
    "of them, those that have an answer, or are scored"
    responses: int
    "answers; of an exact run, prompts scored"
    failed: int
    samples: int
    "the most answers any one prompt has"
    last: str
    family: str
    "of templates"
    families: tuple[str, ...] = ()
    "all that the model was asked so, the one asked most recently last"
    languages: tuple[str, ...] = ()
    "all that the model was asked this instrument in, the one asked most recently last"
    versions: tuple[AskedTemplate, ...] = ()
    "which version counts of each template that has several"
    snapshot: str = ""
    "the model that a served model's endpoint reported, see `ModelCard`"
    fingerprint: str | None = None
    "where only the answers under one `system_fingerprint` are meant; None: all"
    persona: str = ""
    "key (hexadecimal) of the persona that stands before the prompts; empty: none does"
    persona_name: str = ""
    personas: tuple[str, ...] = ()
    "names of all that the model was asked this instrument with, the one asked most recently last"

    @property
    def way(self) -> tuple[str | int, ...]:
        """What runs have in common that differ in their templates alone."""
        persona = (self.persona,) if self.persona else ()
        return self.audit, self.instrument, self.language, self.model_id, self.sampling_id, *persona

    @property
    def answerer(self) -> tuple[str | int, ...]:
        """What runs have in common that differ in their personas, languages and templates alone."""
        return self.audit, self.instrument, self.model_id, self.sampling_id

    @property
    def spoken(self) -> tuple[str | int, ...]:
        """What runs have in common that differ in their languages and templates alone."""
        return (*self.answerer, *((self.persona,) if self.persona else ()))

    @property
    def baseline(self) -> tuple[object, ...]:
        """What runs have in common that differ in their personas alone; of them, the one without is the baseline."""
        of = (self.audit, self.instrument, self.model_id, self.sampling_id, self.language, self.family)
        return (*of, tuple((one.name, one.version) for one in self.versions), self.fingerprint)

    @property
    def label(self) -> str:
        return " · ".join([self.named, self.instrument, str(self.sampling), *self.asked_with])

    def called(self, template: str) -> str:
        """Return a template's name, with its version where it was edited: `personal-1 version 2`."""
        return next(
            (f"{template} version {one.version}" for one in self.versions if one.name == template and one.edited),
            template,
        )

    @property
    def asked_with(self) -> tuple[str, ...]:
        """The language, the family and the versions of templates, where there are others: `language de`, `family user`,
        `personal-1 version 2`.
        """
        language = (f"language {self.language}",) if len(self.languages) > 1 else ()
        family = (f"family {self.family}",) if len(self.families) > 1 else ()
        return (
            *language,
            *family,
            *(f"{one.name} version {one.version}" for one in self.versions if one.version and one.edited),
        )

    @property
    def encoded(self) -> str:
        """How turns were put into the model's chat format, for people; empty where another program does that."""
        if self.backend == SERVED:
            return "" if self.encoding == UNKNOWN else f"dialect {self.encoding}"
        return f"encoding {self.encoding}" if self.backend == "transformers" else ""

    @property
    def computed(self) -> str:
        """What computed the answers, and in what manner."""
        return " · ".join(filter(None, (self.backend, self.dtype, self.encoded)))

    @property
    def named(self) -> str:
        """Return the model's name, of a served one with the snapshot that answered, and the persona before the
        prompts.
        """
        persona = (f"persona {self.persona_name}",) if self.persona else ()
        return " · ".join((self.model, *self.served_as, *persona))

    @property
    def served_as(self) -> tuple[str, ...]:
        """Return what a served run is told apart by, in words; nothing for a model that runs here."""
        return served_as(self.backend, self.snapshot, self.fingerprint)

    @property
    def version(self) -> str:
        """Return which version of the model answered, in words."""
        return version(self.backend, self.revision, self.snapshot, self.fingerprint)

    @property
    def short_version(self) -> str:
        """Return the same to tell runs of one model apart."""
        return " · ".join(self.served_as) or self.revision[:8]


def served_as(backend: str, snapshot: str, fingerprint: str | None = None) -> tuple[str, ...]:
    """Return the snapshot of a served model in words, and the fingerprint unless it is None; nothing for others."""
    if backend != SERVED:
        return ()
    printed = [] if fingerprint is None else [f"fingerprint {fingerprint or 'not reported'}"]
    return (f"snapshot {snapshot}" if snapshot else UNKNOWN_SNAPSHOT, *printed)


def version(backend: str, revision: str, snapshot: str, fingerprint: str | None = None) -> str:
    """Return which version of a model answered, in words."""
    return " · ".join(served_as(backend, snapshot, fingerprint)) or f"revision {revision[:12]}"


@dataclass(frozen=True, slots=True)
class Failures:
    """What was asked for a run and has no answer: everything asked of it failed."""

    probes: frozenset[int] = frozenset()
    "rowids"
    statements: tuple[str, ...] = ()
    "refs of those of which no prompt has an answer"
    reason: str = ""
    "why, in the words of the most frequent one"


@dataclass(frozen=True, slots=True)
class Answered:
    """The answers to one prompt, ready to be written."""

    prompt_key: bytes
    seed: int
    n: int
    answers: tuple[tuple[str, int], ...]
    failed: int = 0
    reason: str = ""
    decided: int = 0
    "of the answers, those that were ended because their stance was settled"
    model_id: int | None = None
    "None: the model of the whole batch"
    fingerprint: str = ""
    "of the replies, see `Drawn`"
    first: int = 0
    "number of the first answer that the request asked for, see `Request.first`"
    asked: int | None = None
    "answers that the request asked for: more than `n` where several answered it, or it was broken off; None: n"


@dataclass(frozen=True, slots=True)
class ResponseRow:
    """One distinct answer to one prompt in one draw, with everything about where it comes from."""

    text: str
    "the answer; empty where the output ends within a thought"
    count: int
    label: str | None
    reason: str
    start: int | None
    stop: int | None
    reader: str
    model: str
    revision: str
    backend: str
    dtype: str
    sampling: Sampling
    seed: int
    at: str
    code_version: str
    job: int
    template: str
    order: str
    thinking: str = ""
    "what was thought before the answer; nothing reads it"
    truncated: bool = False
    "whether the output ends within the thought, so that there is no answer"
    version: str = ""
    "which version of the model, in words: a revision, or a snapshot with the fingerprint of the reply"


def run_values(connection: sqlite3.Connection, run: Run) -> dict[str, object]:
    """Return what the queries on a run are bound to: `scope` are the statements, in the versions that it is about, and
    the rest is what `template_versions.PROBES` needs.
    """
    values = way_values(run)
    values |= template_versions.bound(connection, values, run.versions)
    return values | {"scope": scope_of(connection, values)}


def way_values(run: Run) -> dict[str, object]:
    """Return what tells a run from others, its versions of templates aside."""
    return {
        "audit": run.audit,
        "instrument": run.instrument,
        "language": run.language,
        "family": run.family,
        "model": run.model_id,
        "sampling": run.sampling_id,
        "fingerprint": run.fingerprint,
        "persona": run.persona or None,
    }
