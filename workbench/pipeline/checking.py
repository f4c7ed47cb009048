"""The findings on an instrument: those of lint and wording checks, and those of models.

The models' part is a job. It embeds every text once and judges every pair once, commits as it goes,
and asks only what is missing when it is resumed.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, TypeVar

from stores.core.contents import StoreSection, cached_result
from stores.core.store import Store
from stores.instruments.checks import ENCODER, NLI, CheckModel, Waiver
from stores.jobs.job_rows import Job
from workbench.domain.courses import Course
from workbench.domain.findings import SEVERITIES, LintFinding, by_severity
from workbench.domain.instruments import Instrument
from workbench.domain.names import plural
from workbench.errors import UsageError
from workbench.figures.table import Column, Kind, Link, Table
from workbench.inference.embedded import ModelSource, locate
from workbench.inference.encoder import (
    ENGLISH_ONLY,
    MINILM,
    encoder_source,
    load_encoder,
    load_entailment,
)
from workbench.lint import lint
from workbench.lint.people import about_asked
from workbench.workshop.checks import choice_findings, instrument_hints, without_choices
from workbench.workshop.duplicates import duplicate_findings
from workbench.workshop.meaning import (
    Embedded,
    Pair,
    SimilaritySpread,
    Thresholds,
    entailment_findings,
    nearness,
    similarity_findings,
    spreads,
    wanted_pairs,
    wanted_texts,
)

CHECK = "check"
"the kind of the jobs"
GROUP = 64
"texts or pairs between two commits"

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class CheckSpec:
    """The models that check an instrument's wordings, and the thresholds of findings."""

    instrument: str
    encoder: str = MINILM
    "empty: no similarities"
    nli: str = ""
    "empty: no entailments"
    languages: tuple[str, ...] = ()
    "empty: the instrument's own"
    thresholds: Thresholds = field(default_factory=Thresholds)
    "where findings begin, from this check on"

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> CheckSpec:
        languages, thresholds = tuple(value["languages"]), Thresholds(**value["thresholds"])
        return cls(value["instrument"], value["encoder"], value["nli"], languages, thresholds)


@dataclass(frozen=True, slots=True)
class CheckPlan:
    """The plan of a check."""

    spec: CheckSpec
    languages: tuple[str, ...]
    texts: tuple[str, ...]
    texts_left: tuple[str, ...]
    pairs: tuple[Pair, ...]
    pairs_left: tuple[Pair, ...]

    @property
    def total(self) -> int:
        return len(self.texts) + len(self.pairs)

    @property
    def left(self) -> int:
        return len(self.texts_left) + len(self.pairs_left)

    @property
    def done(self) -> int:
        return self.total - self.left

    def describe(self) -> str:
        """Return a description of the plan, one sentence in each line."""
        spec = self.spec
        lines = [f"{spec.instrument}, wordings in {', '.join(self.languages)}"]
        if spec.encoder:
            stored = len(self.texts) - len(self.texts_left)
            lines.append(
                f"{len(self.texts):,} texts to embed with {spec.encoder}; {stored:,} are stored "
                "already"
            )
        if spec.nli:
            stored = len(self.pairs) - len(self.pairs_left)
            lines.append(
                f"{len(self.pairs):,} pairs to judge with {spec.nli}; {stored:,} are stored already"
            )
        foreign = [language for language in self.languages if language != "en"]
        if foreign and spec.encoder in ENGLISH_ONLY:
            lines.append(
                f"{spec.encoder} was trained on English: its cosines say little about "
                f"{', '.join(foreign)}"
            )
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class CheckedFinding:
    """A finding with its waiver, if it has one."""

    finding: LintFinding
    waiver: Waiver | None = None


@dataclass(frozen=True, slots=True)
class CheckReport:
    """The findings on an instrument that are known now."""

    instrument: Instrument
    checked: tuple[CheckedFinding, ...]
    "errors first"
    encoder: CheckModel | None
    "whose similarities were used; None where none are stored"
    nli: CheckModel | None
    thresholds: Thresholds
    lapsed: int
    "waivers of findings that are no more: their texts changed, or what was odd was mended"

    @property
    def open(self) -> tuple[CheckedFinding, ...]:
        """The findings that nobody waived."""
        return tuple(item for item in self.checked if item.waiver is None)

    @property
    def waived(self) -> tuple[CheckedFinding, ...]:
        return tuple(item for item in self.checked if item.waiver is not None)

    @property
    def counts(self) -> dict[str, int]:
        """The number of open findings by severity."""
        counts = Counter(item.finding.severity for item in self.open)
        return {severity: counts[severity] for severity in SEVERITIES}


def plan_check(store: Store, spec: CheckSpec) -> CheckPlan:
    """Return the work that a check still has to do.

    Raises UsageError if there is nothing to check, MissingPackage or ModelError for a model that is
    missing.
    """
    if not spec.encoder and not spec.nli:
        raise UsageError("no encoder and no entailment model given, so there is nothing to compute")
    models = _stored_models(store, spec)
    return _plan(store, spec, models)


def run_check(
    store: Store,
    spec: CheckSpec,
    *,
    job: int | None = None,
    should_stop: Callable[[], bool] = lambda: False,
) -> tuple[int, int]:
    """Compute the missing results, and return (stored, wanted).

    A model is loaded only if it has results to compute.
    """
    models = dict(_stored_models(store, spec))
    plan = _plan(store, spec, models)
    clock = _Clock(job)
    if plan.texts_left:
        encoder = load_encoder(spec.encoder)
        try:
            models[ENCODER] = model = store.checks.begin(encoder.card)
            plan = clock.begin(_plan(store, spec, models), store, "embedding")
            for texts in _groups(sorted(plan.texts_left, key=len), should_stop):
                embeddings = list(zip(texts, encoder.encode(texts), strict=True))
                store.checks.add_embeddings(model, embeddings, job=clock.after(len(texts)))
        finally:
            encoder.close()
    if plan.pairs_left and not should_stop():
        judge = load_entailment(spec.nli)
        try:
            models[NLI] = model = store.checks.begin(judge.card)
            plan = clock.begin(_plan(store, spec, models), store, "judging")
            for pairs in _groups(
                sorted(plan.pairs_left, key=lambda pair: sum(map(len, pair))), should_stop
            ):
                entailments = dict(zip(pairs, judge.judge(pairs), strict=True))
                store.checks.add_entailments(model, entailments, job=clock.after(len(pairs)))
        finally:
            judge.close()
    plan = _plan(store, spec, models)
    return plan.done, plan.total


def check_report(
    store: Store, name: str, language: str | None = None, thresholds: Thresholds | None = None
) -> CheckReport:
    """Return the findings on an instrument, in one language or in all of them.

    Similarities and entailments are those of the model that has read most of its texts. A finding
    of a model names its measure, even if equal words would have led to it, too. `thresholds` None
    stands for those of the newest check.
    """
    used_thresholds = thresholds or thresholds_of(store, name)

    def compute_report() -> CheckReport:
        return _report_without_waivers(store, name, language, used_thresholds)

    report = cached_result(
        store,
        ("checked", name, language, used_thresholds),
        (StoreSection.MATERIAL, StoreSection.FINDINGS),
        compute_report,
    )
    if not (waivers := store.checks.waivers(name)):
        return report
    finding_by_fingerprint = {item.finding.fingerprint: item.finding for item in report.checked}
    checked = tuple(
        CheckedFinding(finding, waivers.get(fingerprint))
        for fingerprint, finding in finding_by_fingerprint.items()
    )
    return replace(
        report,
        checked=checked,
        lapsed=len(waivers.keys() - finding_by_fingerprint.keys()) if language is None else 0,
    )


def _report_without_waivers(
    store: Store, name: str, language: str | None, thresholds: Thresholds
) -> CheckReport:
    """Return the report of an instrument without its waivers."""
    instrument = store.instruments.get(name)
    encoder = next(iter(store.checks.models(name, ENCODER)), None)
    nli = next(iter(store.checks.models(name, NLI)), None)
    people = store.questionnaires.tallied(name)
    stated = without_choices(instrument)
    hints = instrument_hints(stated, language)
    findings = [
        *lint(instrument, language, people),
        *choice_findings(instrument, language),
        *_model_findings(store, stated, language, thresholds, encoder, nli),
        *duplicate_findings(stated, language),
        *(hints if people is None else about_asked(hints, instrument, people)),
    ]
    once: dict[bytes, LintFinding] = {}
    for finding in findings:
        once.setdefault(finding.fingerprint, finding)  # the first of two that are alike stays
    return CheckReport(
        instrument,
        tuple(
            CheckedFinding(finding_, None) for finding_ in sorted(once.values(), key=by_severity)
        ),
        encoder,
        nli,
        thresholds,
        0,
    )


def open_lint(store: Store, name: str) -> tuple[LintFinding, ...]:
    """Return the findings of lint that nobody waived. They need no model and take little time."""

    def compute_findings() -> tuple[LintFinding, ...]:
        instrument = store.instruments.get(name)
        findings = [
            *lint(instrument, answers=store.questionnaires.tallied(name)),
            *choice_findings(instrument),
        ]
        return tuple(sorted(findings, key=by_severity))

    findings = cached_result(
        store, ("lint", name), (StoreSection.MATERIAL, StoreSection.FINDINGS), compute_findings
    )
    waivers = store.checks.waivers(name)
    return (
        tuple(finding for finding in findings if finding.fingerprint not in waivers)
        if waivers
        else findings
    )


def similarity_spreads(
    store: Store, name: str, language: str | None = None
) -> tuple[SimilaritySpread, ...]:
    """Return the similarity of each kind of wording to the originals.

    It is empty without stored cosines.
    """
    encoder = next(iter(store.checks.models(name, ENCODER)), None)
    if encoder is None:
        return ()
    instrument = without_choices(store.instruments.get(name))
    spoken = language or instrument.language
    embedded = _embedded(store, encoder, instrument, (spoken,))
    return spreads(nearness(instrument.statements, embedded, spoken))


def thresholds_of(store: Store, name: str) -> Thresholds:
    """Return the thresholds of an instrument's newest check, or the defaults."""
    for job in store.jobs.list():
        if job.kind == CHECK and job.spec.get("instrument") == name:
            return CheckSpec.from_json(job.spec).thresholds
    return Thresholds()


def running_check(store: Store, name: str) -> Job | None:
    """Return the newest check of an instrument that is under way, or None."""
    check_jobs = (
        job for job in store.jobs.list() if job.kind == CHECK and job.spec.get("instrument") == name
    )
    return next((job for job in check_jobs if job.active), None)


def _model_findings(
    store: Store,
    instrument: Instrument,
    language: str | None,
    thresholds: Thresholds,
    encoder: CheckModel | None,
    nli: CheckModel | None,
) -> Iterator[LintFinding]:
    languages = {
        w.language
        for s in instrument.statements
        for w in s.wordings
        if language in (None, w.language)
    }
    if encoder is not None:
        embedded = _embedded(store, encoder, instrument, languages)
        yield from similarity_findings(instrument.statements, embedded, thresholds, language)
    if nli is not None:
        judged = store.checks.entailments(nli.id, wanted_pairs(instrument.statements, languages))
        yield from entailment_findings(instrument.statements, judged, language)


def _embedded(
    store: Store, encoder: CheckModel, instrument: Instrument, languages: Iterable[str]
) -> Embedded:
    texts, vectors = store.checks.embeddings(
        encoder.id, wanted_texts(instrument.statements, languages)
    )
    return Embedded({text: place for place, text in enumerate(texts)}, vectors)


def _stored_models(store: Store, spec: CheckSpec) -> dict[str, int | None]:
    """Return the rowids of the models that would answer, None for one that has said nothing yet.

    The weights of a folder are known without loading them: a model that was trained on is another
    one.
    """
    models: dict[str, int | None] = {}
    if spec.encoder:
        models[ENCODER] = _newest(store, spec.encoder, ENCODER, encoder_source(spec.encoder))
    if spec.nli:
        models[NLI] = _newest(store, spec.nli, NLI, locate(spec.nli))
    return models


def _newest(store: Store, name: str, backend: str, source: ModelSource) -> int | None:
    version = source.revision or source.asked or None
    return store.checks.newest(source.place if source.asked else name, backend, version)


def _plan(store: Store, spec: CheckSpec, models: Mapping[str, int | None]) -> CheckPlan:
    whole = store.instruments.get(spec.instrument)
    instrument = without_choices(whole)
    if whole.choices and not instrument.statements:
        raise UsageError(
            f"{spec.instrument} has only multiple-choice questions, and no model compares their "
            "forms"
        )
    languages = spec.languages or (instrument.language,)
    texts = wanted_texts(instrument.statements, languages)
    if not texts:
        spoken = sorted({w.language for s in instrument.statements for w in s.wordings})
        raise UsageError(
            f"{spec.instrument} has no wordings in {', '.join(languages)} to compare. Available: "
            f"{', '.join(spoken) or 'none'}"
        )
    encoder, nli = models.get(ENCODER), models.get(NLI)
    embedded = store.checks.embedded(encoder, texts) if encoder is not None else frozenset()
    texts = texts if spec.encoder else ()
    pairs = wanted_pairs(instrument.statements, languages) if spec.nli else ()
    judged = store.checks.entailments(nli, pairs) if nli is not None else {}
    return CheckPlan(
        spec,
        languages,
        texts,
        tuple(text for text in texts if text not in embedded),
        pairs,
        tuple(pair for pair in pairs if pair not in judged),
    )


class _Clock:
    """The progress of a job, as its row keeps it."""

    def __init__(self, job: int | None) -> None:
        self._job = job
        self._done = self._made = 0
        self._course = Course()
        self._started = time.monotonic()

    def begin(self, plan: CheckPlan, store: Store, doing: str) -> CheckPlan:
        """Start to count from the stored results of a plan, and show the next step."""
        self._done = plan.done
        if self._job is not None:
            store.jobs.beat(self._job, doing)
        return plan

    def after(self, n: int) -> tuple[int, int, str] | None:
        """Count n further results, and return (job, done, progress), or None without a job."""
        self._done += n
        self._made += n
        seconds = round(time.monotonic() - self._started, 2)
        self._course.add(seconds, self._made)
        progress = json.dumps(
            {"answers": self._made, "seconds": seconds, "course": self._course.points}
        )
        return None if self._job is None else (self._job, self._done, progress)


def _groups(items: Sequence[Item], should_stop: Callable[[], bool]) -> Iterator[Sequence[Item]]:
    """Yield items in groups, until a stop is requested."""
    for start in range(0, len(items), GROUP):
        if should_stop():
            return
        yield items[start : start + GROUP]


KEY = 10
"""hexadecimal digits of a finding's key that are painted; more may be given, and fewer where they
are clear"""
COUNTED = ". Home counts fewer: neither style hints nor what models found"
VOID = {
    "orders-equal",
    *(f"{kind}-equals-original" for kind in ("paraphrase", "negation", "opposite")),
}
"findings that make a test of the reliability audit void"
SPREAD = {
    "low": "lowest",
    "fifth": "5 %",
    "median": "median",
    "ninety_fifth": "95 %",
    "high": "highest",
}
MARKED = {"error": "✗ error", "warning": "! warning", "note": "· note"}
Found = tuple[str, CheckedFinding]
"the instrument, and what is odd about it"


def key_of(item: CheckedFinding) -> str:
    """Return the key of a finding, in hexadecimal."""
    return item.finding.fingerprint.hex()


def findings(shown: Sequence[Found]) -> Table[Found]:
    """Return the findings, errors first."""
    return Table(
        "findings",
        "Findings",
        shown,
        [
            Column(
                "key",
                "key",
                lambda row: key_of(row[1]),
                words={key_of(item): key_of(item)[:KEY] for _, item in shown},
            ),
            Column("severity", "severity", lambda row: row[1].finding.severity, words=MARKED),
            Column("instrument", "instrument", lambda row: row[0]),
            Column("code", "finding", lambda row: row[1].finding.code),
            Column("subject", "subject", lambda row: row[1].finding.subject),
            Column("message", "message", lambda row: row[1].finding.message, beside=_waived),
            Column("ref", "statement", lambda row: row[1].finding.ref, aside=True),
            Column("variant", "wording", _variant, aside=True),
            Column("language", "language", lambda row: row[1].finding.language, aside=True),
            *(column for place in (0, 1) for column in _text(place)),
            *(_of_waiver(name) for name in ("reason", "person", "at")),
        ],
        key=lambda row: (row[0], key_of(row[1])),
        empty="No findings.",
        link=_wording,
        minor=lambda row: row[1].waiver is not None,
    )


def _wording(row: Found) -> Link | None:
    """Return a link to the wording of a finding, or None if the finding is about no wording."""
    finding = row[1].finding
    if finding.ref is None:
        return None
    return Link("wording", (finding.ref, str(finding.variant or ""), finding.language or ""))


def _waived(row: Found) -> str:
    waiver = row[1].waiver
    return f"(waived by {waiver.person}: {waiver.reason})" if waiver else ""


def _variant(row: Found) -> str | None:
    variant = row[1].finding.variant
    return str(variant) if variant else None


def _text(place: int) -> tuple[Column[Found], Column[Found]]:
    """Return the columns of a compared text: its variant, and the text itself."""

    def part(name: str) -> Callable[[Found], str | None]:
        return lambda row: (
            getattr(row[1].finding.texts[place], name)
            if len(row[1].finding.texts) > place
            else None
        )

    name = ("first", "second")[place]
    return (
        Column(f"{name}_name", f"{name} text is", part("name"), aside=True),
        Column(f"{name}_text", f"{name} text", part("text"), Kind.PROSE, aside=True),
    )


def _of_waiver(name: str) -> Column[Found]:
    return Column(
        f"waiver_{name}",
        f"waiver: {name}",
        lambda row: getattr(row[1].waiver, name) if row[1].waiver else None,
        aside=True,
    )


def severities(findings: Iterable[Found]) -> Mapping[str, int]:
    """Return the number of findings by severity, without waived ones."""
    counts = Counter(item.finding.severity for _, item in findings if item.waiver is None)
    return {severity: counts[severity] for severity in SEVERITIES}


def finding_notes(shown: Sequence[Found], reports: Mapping[str, CheckReport]) -> list[str]:
    """Return notes on waived findings, the models that were used, and the number of findings."""
    notes = []
    for name, report in reports.items():
        if report.waived or report.lapsed:
            lapsed = (
                f", {report.lapsed} more for findings that no longer exist" if report.lapsed else ""
            )
            notes.append(f"{name}: {len(report.waived):,} waived{lapsed} (--all shows them)")
        if report.encoder is not None:
            notes.append(
                f"{name}: similarities by {report.encoder.name}, {report.encoder.texts:,} texts"
            )
        if report.nli is not None:
            notes.append(f"{name}: entailments by {report.nli.name}, {report.nli.texts:,} texts")
    notes.append(
        ", ".join(plural(n, severity) for severity, n in severities(shown).items()) + COUNTED
    )
    if void := sum(item.finding.code in VOID for _, item in shown):
        consequence = "about one text under two names: a test that compares the two is void"
        notes.append(f"{plural(void, 'finding')} {consequence}")
    return notes


def similarity(
    spreads_by_language: Mapping[str, Sequence[SimilaritySpread]],
) -> Table[tuple[str, SimilaritySpread]]:
    """Return the table of similarities between wordings and originals, by language and kind."""
    return Table(
        "similarity",
        "Similarity of wordings to their originals",
        [
            (language, spread)
            for language, spreads in spreads_by_language.items()
            for spread in spreads
        ],
        [
            Column("language", "language", lambda row: row[0]),
            Column("kind", "wording", lambda row: row[1].kind),
            Column("n", "n", lambda row: row[1].n, Kind.COUNT),
            *(_quantile(name, title) for name, title in SPREAD.items()),
        ],
        key=lambda row: (row[0], row[1].kind),
        definition="Cosine of the embeddings of a wording and its original.",
        empty="The store has no similarities.",
    )


def _quantile(name: str, title: str) -> Column[tuple[str, SimilaritySpread]]:
    return Column(
        name, title, lambda row: getattr(row[1], name), Kind.COEFFICIENT, scale=(0.0, 1.0)
    )
