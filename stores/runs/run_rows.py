"""The data of runs.

A *run* consists of all answers of one model under one sampling for one instrument, to one family of
templates in one version each: the basis of verdicts. Two samplings are never pooled, nor two
families, nor two versions. A run uses the versions of statements that it was asked, so that old
results refer to the old text.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stores.instruments import templates as template_versions
from stores.instruments.questionnaires import who_says_yes_or_no
from stores.instruments.templates import PROBES, AskedTemplate
from workbench.domain.responses import UNKNOWN, Sampling

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Cell = tuple[object, ...]
"""(kind, ordinal, template, axes) of a prompt, without the person that it is about and without
the parts that an edit changes: the context, the number of options, and for a question of a
questionnaire its form, and so the template"""
People = Mapping[Cell, frozenset[str]]
"the people that the prompts of a cell are about. A prompt about nobody counts as one person."
NOBODY = ""

LIVE = """
    exists (
        select 1 from statement live
        where live.instrument_id = s.instrument_id and live.ref = s.ref and live.current = 1
    )
"""
"whether a version `s` belongs to a statement that is not archived"


def scope_of(connection: sqlite3.Connection, run: Mapping[str, object]) -> str:
    """Return the rowids of a run's statements, as a JSON list.

    For each current statement, this is the newest version that the model has answered wherever it
    answered the previous one. If it has answered none, it is the current version. So existing
    results change only when this model is asked again, not by an edit or by asking another model
    about the new text.

    The current version counts as the newest, even if an edit was undone and others were made after
    it. For prompts about people, as many people must be answered for as before, without those whose
    answers no longer mean yes or no, because they are not asked about. Only prompts under the run's
    templates count: a statement that was changed together with a template was not asked under it
    before.

    `run` binds instrument, audit, language, model and sampling, and the values for `PROBES`.
    """
    rowid_by_ref: dict[str, int] = {}
    rowids_by_ref: dict[str, list[int]] = {}
    # For each ref, the current version last.
    for ref, rowid, current, n_versions in connection.execute(_VERSIONS, run):
        if n_versions > 1:
            rowids_by_ref.setdefault(ref, []).append(rowid)
        if current:
            rowid_by_ref[ref] = rowid
    cells_by_rowid = _answered_cells(connection, run) if rowids_by_ref else {}
    for ref, rowids in rowids_by_ref.items():
        answered_versions = [
            (rowid, cells_by_rowid[rowid]) for rowid in rowids if rowid in cells_by_rowid
        ]
        if answered_versions:
            rowid_by_ref[ref] = _counting_version(
                connection,
                run,
                answered_versions,
                _people_without_answer(connection, run, ref, answered_versions),
            )
    return json.dumps(list(rowid_by_ref.values()))


def _answered_cells(connection: sqlite3.Connection, run: Mapping[str, object]) -> dict[int, People]:
    """Return the answered cells of each version of the statements with several versions."""
    cells_by_rowid: dict[int, dict[Cell, set[str]]] = {}
    for rowid, person, *cell in connection.execute(_ANSWERED, run):
        cells_by_rowid.setdefault(rowid, {}).setdefault(tuple(cell), set()).add(person or NOBODY)
    return {
        rowid: {cell: frozenset(people) for cell, people in cells.items()}
        for rowid, cells in cells_by_rowid.items()
    }


def _people_without_answer(
    connection: sqlite3.Connection,
    run: Mapping[str, object],
    ref: str,
    asked: Sequence[tuple[int, People]],
) -> frozenset[str]:
    """Return the people whose answer to a question no longer means yes or no.

    They were asked about before.
    """
    people = frozenset().union(
        *(cell_people for _, cells in asked for cell_people in cells.values())
    ) - {NOBODY}
    return (
        people - who_says_yes_or_no(connection, str(run["instrument"]), ref)
        if people
        else frozenset()
    )


def _counting_version(
    connection: sqlite3.Connection,
    run: Mapping[str, object],
    asked: Sequence[tuple[int, People]],
    silent: frozenset[str],
) -> int:
    """Return the version that counts.

    The answered versions come in order, from the oldest to the current one.
    """
    (selected_id, selected_cells), *newer_versions = asked
    for rowid, cells in newer_versions:
        values = {"statement": rowid, "language": run["language"]}
        wordings = set(connection.execute(_WORDINGS, values).fetchall())
        n_people = Counter({cell: len(people - silent) for cell, people in cells.items()})
        if all(
            n_people[cell] >= len(people - silent)
            for cell, people in selected_cells.items()
            if cell[:2] in wordings
        ):
            selected_id, selected_cells = rowid, cells
    return selected_id


_VERSIONS = f"""
    select s.ref, s.id, s.current, count(*) over (partition by s.ref)
    from instrument i join statement s on s.instrument_id = i.id
    where i.name = :instrument and {LIVE}
    order by s.ref, s.current, s.version
"""

_ANSWERED = f"""
    select s.id, p.axes ->> '$.respondent', w.kind, w.ordinal,
        iif(p.audit = 'questionnaire', null, p.template_id),
        json_remove(p.axes, '$.context', '$.options', '$.respondent')
    from instrument i
    join statement s on s.instrument_id = i.id
    join wording w on w.statement_id = s.id and w.language = :language
    join probe p on p.wording_id = w.id and {PROBES}
    where i.name = :instrument and {LIVE}
        and exists (
            select 1 from statement o where o.instrument_id = s.instrument_id and o.ref = s.ref
                and o.id <> s.id
        )
        and exists (
            select 1 from draw d
            where d.prompt_id = p.prompt_id and d.model_id = :model and d.sampling_id = :sampling
                and d.n > d.failed
        )
"""

_WORDINGS = (
    "select kind, ordinal from wording where statement_id = :statement and language = :language"
)


SERVED = "openai"
"the backend of served models"
UNKNOWN_SNAPSHOT = "snapshot unknown"


@dataclass(frozen=True, slots=True)
class Run:
    """All answers of one model under one sampling to one instrument."""

    audit: str
    instrument: str
    model: str
    revision: str
    backend: str
    dtype: str
    encoding: str
    "placement of turns in the chat format, see `ModelCard`"
    sampling: Sampling
    model_id: int
    sampling_id: int
    language: str
    prompts: int
    "number of distinct prompts asked"
    answered: int
    "number of prompts with an answer or a score"
    responses: int
    "number of answers or, for an exact run, of scored prompts"
    failed: int
    samples: int
    "the largest number of answers to one prompt"
    last: str
    family: str
    "family of templates"
    families: tuple[str, ...] = ()
    "all families that the model was asked, the most recent last"
    languages: tuple[str, ...] = ()
    "all languages in which the model was asked this instrument, the most recent last"
    versions: tuple[AskedTemplate, ...] = ()
    "the version that counts for each template with several versions"
    snapshot: str = ""
    "the model that a served model's endpoint reported, see `ModelCard`"
    occasion: str = ""
    """date from which the prompts were asked anew, see `ModelCard`, or an empty string for the
    first time"""
    fingerprint: str | None = None
    "restricts the run to answers under one `system_fingerprint`, or None to include all"
    persona: str = ""
    "key (hexadecimal) of the persona before the prompts, or an empty string without a persona"
    persona_name: str = ""
    personas: tuple[str, ...] = ()
    "names of all personas with which the model was asked this instrument, the most recent last"

    @property
    def design_key(self) -> tuple[str | int, ...]:
        """The key shared by runs that differ only in their templates."""
        persona = (self.persona,) if self.persona else ()
        return self.audit, self.instrument, self.language, self.model_id, self.sampling_id, *persona

    @property
    def answerer(self) -> tuple[str | int, ...]:
        """The key shared by runs that differ only in their personas, languages and templates."""
        return self.audit, self.instrument, self.model_id, self.sampling_id

    @property
    def language_independent_key(self) -> tuple[str | int, ...]:
        """The key shared by runs that differ only in their languages and templates."""
        return (*self.answerer, *((self.persona,) if self.persona else ()))

    @property
    def baseline(self) -> tuple[object, ...]:
        """The key shared by runs that differ only in their personas.

        The run without a persona is the baseline.
        """
        fields = (
            self.audit,
            self.instrument,
            self.model_id,
            self.sampling_id,
            self.language,
            self.family,
        )
        return (
            *fields,
            tuple(
                (asked_template.name, asked_template.version) for asked_template in self.versions
            ),
            self.fingerprint,
        )

    @property
    def label(self) -> str:
        return " · ".join([self.named, self.instrument, str(self.sampling), *self.asked_with])

    def called(self, template: str) -> str:
        """Return a template's name, with its version if it was edited: `personal-1 version 2`."""
        return next(
            (
                f"{template} version {asked_template.version}"
                for asked_template in self.versions
                if asked_template.name == template and asked_template.edited
            ),
            template,
        )

    @property
    def asked_with(self) -> tuple[str, ...]:
        """The language, the family and the versions of templates, if there are several.

        For example `language de`, `family user`, `personal-1 version 2`.
        """
        language = (f"language {self.language}",) if len(self.languages) > 1 else ()
        family = (f"family {self.family}",) if len(self.families) > 1 else ()
        return (
            *language,
            *family,
            *(
                f"{asked_template.name} version {asked_template.version}"
                for asked_template in self.versions
                if asked_template.version and asked_template.edited
            ),
        )

    @property
    def encoded(self) -> str:
        """The placement of turns in the model's chat format, for display.

        It is empty if another program places them.
        """
        if self.backend == SERVED:
            return "" if self.encoding == UNKNOWN else f"dialect {self.encoding}"
        return f"encoding {self.encoding}" if self.backend == "transformers" else ""

    @property
    def computed(self) -> str:
        """The backend that computed the answers, with the dtype and the encoding."""
        return " · ".join(filter(None, (self.backend, self.dtype, self.encoded)))

    @property
    def named(self) -> str:
        """The model's name with the parts that distinguish its runs.

        They are the snapshot that answered and the fingerprint of a served model, the date of
        prompts that were asked anew, and the persona before the prompts.
        """
        occasion = (f"asked anew {self.occasion}",) if self.occasion else ()
        persona = (f"persona {self.persona_name}",) if self.persona else ()
        return " · ".join((self.model, *self.served_as, *occasion, *persona))

    @property
    def served_as(self) -> tuple[str, ...]:
        """The distinguishing parts of a served run as text, or an empty tuple for a local model."""
        return served_as(self.backend, self.snapshot, self.fingerprint)

    @property
    def version(self) -> str:
        """The version of the model that answered, as text."""
        return version(self.backend, self.revision, self.snapshot, self.fingerprint)

    @property
    def short_version(self) -> str:
        """A short version that distinguishes runs of one model."""
        return " · ".join(self.served_as) or self.revision[:8]


def served_as(backend: str, snapshot: str, fingerprint: str | None = None) -> tuple[str, ...]:
    """Return the snapshot and the fingerprint of a served model as text.

    The fingerprint is left out if it is None. For other models the tuple is empty.
    """
    if backend != SERVED:
        return ()
    fingerprint_text = (
        [] if fingerprint is None else [f"fingerprint {fingerprint or 'not reported'}"]
    )
    return (f"snapshot {snapshot}" if snapshot else UNKNOWN_SNAPSHOT, *fingerprint_text)


def version(backend: str, revision: str, snapshot: str, fingerprint: str | None = None) -> str:
    """Return the version of a model that answered, as text."""
    return " · ".join(served_as(backend, snapshot, fingerprint)) or f"revision {revision[:12]}"


@dataclass(frozen=True, eq=False, slots=True)
class AnswerTally:
    """The numbers of answers of each kind to each answered probe of a run."""

    probes: NDArray[np.int64]
    "rowids, ascending"
    kinds: tuple[tuple[str | None, bool], ...]
    "(label, whether an answer without a label refuses)"
    counts: NDArray[np.int64]
    "shape (kinds, probes)"

    def __iter__(self) -> Iterator[tuple[int, str | None, bool, int]]:
        """Yield (probe, label, whether it refuses, count) of each kind of answer that exists."""
        for probe, column in zip(self.probes.tolist(), self.counts.T.tolist(), strict=True):
            for (label, refused), count in zip(self.kinds, column, strict=True):
                if count:
                    yield probe, label, refused, count


@dataclass(frozen=True, slots=True)
class Failures:
    """The prompts of a run without an answer because all requests failed."""

    probes: frozenset[int] = frozenset()
    "rowids"
    statements: tuple[str, ...] = ()
    "refs of statements without any answered prompt"
    reason: str = ""
    "the most frequent reason"


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
    "number of answers that ended early because their stance was settled"
    model_id: int | None = None
    "None for the model of the whole batch"
    fingerprint: str = ""
    "fingerprint of the replies, see `Drawn`"
    first: int = 0
    "number of the first requested answer, see `Request.first`"
    asked: int | None = None
    """number of requested answers, or None if it is `n`. It is larger than `n` if several models
    answered or it was interrupted."""


@dataclass(frozen=True, slots=True)
class EarlierImport:
    """The answers of a model that an earlier import stored, under one revision."""

    revision: str
    answers: Counter[tuple[bytes, str]]
    "(key of the prompt, text) -> count"
    seeds: frozenset[int]
    """the values that distinguish the answers, if their log has them, see
    `workbench.pipeline.recorded`"""


@dataclass(frozen=True, slots=True)
class ResponseRow:
    """One distinct answer to one prompt in one draw, with its origin."""

    text: str
    "the answer, or an empty string if the output ends within a thought"
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
    seed: int | None
    "None if it is not known, see `known_origin`"
    at: str
    "empty if it is not known"
    code_version: str
    job: int
    template: str
    order: str
    thinking: str = ""
    "the thought before the answer, which has no reading"
    truncated: bool = False
    "whether the output ends within the thought, so that there is no answer"
    version: str = ""
    "version of the model as text: a revision, or a snapshot with the fingerprint of the reply"
    ruled: str = ""
    "effect of an auditor's ruling: `read anew`, `left out`, or an empty string without a ruling"
    unruled: str | None = None
    "for a ruled answer, the label that the reader gave it"


def run_values(connection: sqlite3.Connection, run: Run) -> dict[str, object]:
    """Return the bound values of the queries on a run.

    `scope` has its statements, in the versions that count. The other values are for
    `template_versions.PROBES`.
    """
    values = way_values(run)
    values |= template_versions.bound(connection, values, run.versions)
    return values | {"scope": scope_of(connection, values)}


def way_values(run: Run) -> dict[str, object]:
    """Return the bound values that identify a run, without its versions of templates."""
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
