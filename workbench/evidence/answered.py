"""The answered part of a run's plan and the kinds of its answers: the header of every figure.

A cancelled run has figures like any other. So every audit first reports how much of the plan was
answered, and which share of the answers gives no stance: unreadable, refused, cut off in thought.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from math import isnan, nan
from typing import Any

from stores.core.store import Store
from stores.jobs.job_rows import Job
from stores.runs.models import SavedAnswers
from stores.runs.run_rows import SERVED, Run
from workbench.data import lexicon
from workbench.domain.names import plural
from workbench.domain.prompts import Persona, Template
from workbench.domain.responses import EXACT, IMPORTED, Sampling
from workbench.domain.statements import Side
from workbench.domain.verdicts import Estimate
from workbench.evidence.refusals import ModelRefusals, StatementGroups
from workbench.figures.book import WARNS, Entry
from workbench.figures.pictures.of_table import Forest
from workbench.figures.shown import estimate, number
from workbench.figures.table import AnyTable, Column, Kind, Table, in_words
from workbench.stats.hypothesis_tests import OneSided, one_sided
from workbench.stats.resampling import derive_rng, share_interval, too_few_alike

UNREAD, UNREADABLE, BELOW, UNRELATED = "unread", "unreadable", "below", "unrelated"
REFUSED, TRUNCATED, INVALID, FOREIGN = "refused", "truncated", "invalid", "foreign"
OF_THOSE_DRAWN = (
    "Prompts were asked until settled: shares are of the answers drawn, of which prompts that are "
    "hard to settle have more, so they are not those of a full run."
)
"note below figures that need every answer"
STATES = {
    "queued": "job {} waits to continue",
    "running": "job {} is still running",
    "paused": "job {} is paused",
    "cancelled": "job {} was cancelled",
    "failed": "job {} failed",
    "lost": "job {} lost its worker",
}
"state of an unfinished job -> its sentence"
SAID = 2
"number of such jobs named in a sentence, the newest"
OTHERS = "other snapshots of the model answered the rest"


@dataclass(frozen=True, slots=True)
class AnswerCount:
    """Some of the answers."""

    count: int
    of: int
    "the answers for which it is known"

    @property
    def share(self) -> float:
        """The share, or NaN if it is known for no answer."""
        return self.count / self.of if self.of else float("nan")


@dataclass(frozen=True, slots=True)
class AnsweredPlan:
    """The answered part of a model's plan, and the kinds of its answers."""

    name: str
    planned: int
    answered: int
    "planned answers received; answers beyond the plan do not count"
    unit: str = "answers"
    "`answers`, or `prompts` if probabilities were computed"
    parts: Mapping[str, AnswerCount] = field(default_factory=dict)
    "by the names above; unknown parts are left out"
    job: str = ""
    "the reason why the rest is missing; empty if nothing is missing or it is unknown"
    failed: int = 0
    "answers that failed"
    imported: bool = False
    "whether the answers were collected elsewhere, by a plan that nobody knows"
    elsewhere: bool = False
    "whether another snapshot of a served model answered the rest, so that nothing is missing"
    spared: SavedAnswers | None = None
    "answers saved because verdicts were settled; None: all answers were to be asked"
    optimum: float = float("nan")
    """expected share of N answers of prompts asked until settled, if settlement is checked after
    every answer; NaN: not computed"""

    unreviewed: tuple[str, ...] = ()
    """languages of the lexicons that the instrument brings, that read the answers, and that no
    native speaker reviewed"""

    @property
    def settled(self) -> int:
        """Answers of the plan that need not be drawn."""
        return 0 if self.spared is None else self.spared.left

    @property
    def partial(self) -> bool:
        """Whether a part of the plan is missing."""
        return self.answered + self.settled < self.planned and not self.elsewhere

    @property
    def share(self) -> float:
        return self.answered / self.planned if self.planned else float("nan")

    def with_parts(self, name: str = "", **parts: AnswerCount | None) -> AnsweredPlan:
        """Return a copy with the kinds of answers. A part that is None is unknown."""
        known_parts = {key: part for key, part in parts.items() if part is not None}
        return replace(self, name=name or self.name, parts={**self.parts, **known_parts})


def answered_plan(store: Store, run: Run, name: str = "") -> AnsweredPlan:
    """Return the answered part of a run's plan.

    For answers, every prompt of a plan is recorded before it is asked. For computed probabilities
    nothing is recorded; unfinished jobs show what is missing.
    """
    planned, came = (
        (run.prompts, run.answered) if run.sampling.mode == EXACT else store.runs.plan_progress(run)
    )
    unfinished = list(_unfinished(store, run))
    if run.sampling.mode == EXACT:
        planned = max([planned, *(job.total // (1 + len(_personas(job))) for job in unfinished)])
    spared = None if run.sampling.mode == EXACT else store.settlements.spared(run)
    missing, reason = (
        came + (spared.left if spared else 0) < planned,
        "; ".join(STATES[job.state].format(job.id) for job in unfinished[-SAID:]),
    )
    elsewhere = (
        missing
        and run.backend == SERVED
        and not unfinished
        and not run.failed
        and _has_snapshots(store, run)
    )
    return AnsweredPlan(
        name or run.named,
        planned,
        came,
        "prompts" if run.sampling.mode == EXACT else "answers",
        job=reason if missing and unfinished else OTHERS if elsewhere else "",
        failed=run.failed,
        imported=run.model.startswith(IMPORTED),
        elsewhere=elsewhere,
        spared=spared,
        unreviewed=tuple(dict.fromkeys(_unreviewed(store.runs.templates(run)))),
    )


def is_finished(store: Store, run: Run) -> bool:
    """Return whether a run has answers, and its plan was answered as far as it can be."""
    return bool(run.responses) and not answered_plan(store, run).partial


def finished_first(store: Store, runs: Sequence[Run], most: int) -> list[Run]:
    """Return at most `most` of the newest runs: those with a finished plan before the others.

    Parameters
    ----------
    runs : the newest last
    """
    finished: list[Run] = []
    unfinished: list[Run] = []
    for run in reversed(runs):
        (finished if is_finished(store, run) else unfinished).append(run)
        if len(finished) == most:
            break
    return [*finished, *unfinished][:most]


def leading_model(last: Mapping[str, str], several: Sequence[AnsweredPlan]) -> str:
    """Return the model that answered last, of those with a finished plan if there are any.

    Parameters
    ----------
    last : name of a model -> time of its newest answer

    Examples
    --------
    >>> plans = [AnsweredPlan("a", 9, 9), AnsweredPlan("b", 9, 1)]
    >>> leading_model({"a": "2026-01-01", "b": "2026-01-02"}, plans)
    'a'
    """
    unfinished = {model.name for model in several if model.partial}
    return max(last, key=lambda name: (name not in unfinished, last[name]))


def _unreviewed(templates: Iterable[Template]) -> Iterator[str]:
    return (
        template.language
        for template in templates
        if template.words and not lexicon(template.language, template.words).reviewed
    )


def refused_part(refusals: ModelRefusals | None) -> AnswerCount | None:
    """Return the number of refusals, or None if the run has no answers in words."""
    return (
        AnswerCount(refusals.refused, refusals.answers)
        if refusals is not None and refusals.answers
        else None
    )


def foreign_part(refusals: ModelRefusals | None) -> AnswerCount | None:
    """Return the number of answers in another language than their prompts, or None if it is 0.

    It is also None if the languages are unknown.
    """
    return (
        AnswerCount(refusals.foreign, refusals.answers)
        if refusals is not None and refusals.foreign
        else None
    )


def _unfinished(store: Store, run: Run) -> Iterator[Job]:
    """Yield the unfinished jobs that asked for a run, or were going to, the newest last."""
    for job in sorted(store.jobs.list(), key=lambda job: job.id):
        if job.state in STATES and job.done < job.total and is_asked_by(store, job, run):
            yield job


def is_asked_by(store: Store, job: Job, run: Run) -> bool:
    """Return whether a job asked for a run.

    The job has its audit, instrument, model, sampling, language, templates and persona.
    """
    spec, sampling = job.spec, job.spec.get("sampling")
    is_same_plan = (
        spec.get("audit"),
        spec.get("instrument"),
        spec.get("family", run.family),
        spec.get("occasion", ""),
    ) == (
        run.audit,
        run.instrument,
        run.family,
        run.occasion,
    )
    if run.persona and run.persona not in _personas(job):
        return False
    if not (
        is_same_plan
        and spec.get("language") in (None, "", run.language)
        and isinstance(sampling, Mapping)
    ):
        return False
    return Sampling(**sampling).key == run.sampling.key and run.model_id in store.runs.models(
        [str(spec.get("model"))]
    )


def _personas(job: Job) -> Sequence[str]:
    """Return the keys (hexadecimal) of a job's personas."""
    personas = job.spec.get("personas")
    return (
        [Persona.from_json(persona).key.hex() for persona in personas]
        if isinstance(personas, list)
        else []
    )


def _has_snapshots(store: Store, run: Run) -> bool:
    """Return whether other snapshots of a served model answered under the same settings."""
    return any(
        (other.model, other.sampling_id, other.language, other.family)
        == (run.model, run.sampling_id, run.language, run.family)
        and other.model_id != run.model_id
        and other.occasion == run.occasion
        for other in store.runs.list(run.audit, run.instrument)
    )


SHOWN = 3
"most models named in a header"
WORDS = {
    UNREAD: "not read yet",
    UNREADABLE: "unreadable",
    INVALID: "no offered letter",
    BELOW: "read with too little confidence",
    UNRELATED: "unrelated",
    REFUSED: "refused",
    TRUNCATED: "cut off in thought",
    FOREIGN: "in another language",
}
ALWAYS = {UNREADABLE, INVALID, REFUSED, TRUNCATED}
"kinds that are shown even if there are none"
HELP = {
    UNREAD: "answers without a reading; no figure counts them",
    UNREADABLE: "answers without a stance, including refusals",
    INVALID: "answers without an offered letter; they are drawn again",
    BELOW: "answers read with a confidence below the threshold; no figure counts them",
    UNRELATED: "answers about something else; no figure counts them",
    REFUSED: "answers that decline to answer, by a rule of words; see the table of refusals",
    TRUNCATED: "answers that end while the model is thinking, before it answers",
    FOREIGN: "answers in another language than their prompts, whatever they say: `workbench help "
    "languages`",
}


def answered_header(several: Sequence[AnsweredPlan]) -> tuple[str, ...]:
    """Return the header lines: first warnings about missing answers, then the kinds of answers.

    Examples
    --------
    >>> from workbench.evidence.answered import AnswerCount
    >>> part = AnsweredPlan("m", 5760, 1323, job="job 3 was cancelled").with_parts(unreadable=AnswerCount(53, 1323))
    >>> for line in answered_header([part]):
    ...     print(line)
    ! Only 23.0 % of the plan was answered (1,323 of 5,760 answers): job 3 was cancelled.
    Of 1,323 answers: unreadable 4.0 %.
    """  # noqa: E501
    return (*_missing(several), *_unit_sentences(several), *_settled(several))


UNREAD_KINDS = (UNREAD, UNREADABLE, INVALID, BELOW, UNRELATED)
"kinds of answers without a stance"
MANY_UNREAD = 0.1
"share of answers without a stance from which a report says so beside the figures"


def unread_note(model: AnsweredPlan) -> str:
    """Return the shares of a model's answers without a stance, or "" if all are below a tenth.

    Examples
    --------
    >>> model = AnsweredPlan("m", 200, 200).with_parts(
    ...     unreadable=AnswerCount(40, 200), refused=AnswerCount(13, 200)
    ... )
    >>> unread_note(model)
    'm: of its answers 20.0 % unreadable, including 6.5 % refused'
    """
    shares = {
        name: model.parts[name].share
        for name in UNREAD_KINDS
        if name in model.parts and model.parts[name].count
    }
    if not any(share >= MANY_UNREAD for share in shares.values()):
        return ""
    texts = [f"{number(share, Kind.SHARE)} {WORDS[name]}" for name, share in shares.items()]
    refused = model.parts.get(REFUSED)
    refused_text = ""
    if refused and refused.count and not shares.keys().isdisjoint((UNREADABLE, INVALID)):
        refused_text = f", including {number(refused.share, Kind.SHARE)} refused"
    return f"{model.name}: of its answers {', '.join(texts)}{refused_text}"


def _missing(several: Sequence[AnsweredPlan]) -> Iterator[str]:
    incomplete = [model for model in several if model.partial]
    for model in incomplete[:SHOWN]:
        subject = f"{model.name}: only" if len(several) > 1 else "Only"
        reason = (
            f": {model.job}" if model.job else f": {model.failed:,} failed" if model.failed else ""
        )
        what = "of the plan was answered"
        if model.imported:
            what = "of the answers that the imported prompts need can be counted"
        yield (
            f"{WARNS}{subject} {number(model.share, Kind.SHARE)} {what} "
            f"({model.answered:,} of {model.planned:,} {model.unit}){reason}."
        )
    if len(incomplete) > SHOWN:
        yield (
            f"{WARNS}The same is true of {plural(len(incomplete) - SHOWN, 'more model')}: see the "
            "table of answers."
        )


def settled_words(spared: SavedAnswers, optimum: float = float("nan")) -> str:
    """Return the share of the answers that prompts asked until settled needed.

    The least possible share stands behind it if it is known.

    Examples
    --------
    >>> settled_words(SavedAnswers(20, 18, 480, 600, 116), 0.79)  # doctest: +NORMALIZE_WHITESPACE
    '18 of 20 prompts were settled before all answers were drawn: 480 of 600 answers (80.0 %; 79.0 %
    would do on average if every answer were looked at before the next is drawn)'
    """
    best = (
        f"; {number(optimum, Kind.SHARE)} would do on average if every answer were looked at "
        "before the next is drawn"
    )
    return (
        f"{spared.settled:,} of {plural(spared.prompts, 'prompt')} were settled before all answers "
        f"were drawn: {spared.drawn:,} of {spared.planned:,} answers "
        f"({number(spared.drawn / spared.planned, Kind.SHARE)}{best if optimum == optimum else ''})"
    )


NEED_ALL = (
    "Verdicts and stances are those of all planned answers. Shares of answers and their "
    "intervals are of the answers "
    "drawn, where prompts that are hard to settle have more: not estimates of a full run"
)
"the meaning of figures for prompts asked until settled"


def _settled(several: Sequence[AnsweredPlan]) -> Iterator[str]:
    """Yield notes on saved answers, the rule, and the meaning of figures."""
    until_settled = [model for model in several if model.spared is not None]
    for model in until_settled[:SHOWN]:
        assert model.spared is not None
        subject = f"{model.name}: asked" if len(several) > 1 else "Asked"
        rules = "; ".join(rule.describe() for rule in model.spared.rules)
        yield f"{subject} until settled ({rules}): {settled_words(model.spared, model.optimum)}."
    if until_settled:
        yield f"{NEED_ALL}."


def _unit_sentences(plans: Sequence[AnsweredPlan]) -> Iterator[str]:
    for unit in dict.fromkeys(model.unit for model in plans):
        yield _of_unit([model for model in plans if model.unit == unit], unit)


def _of_unit(several: Sequence[AnsweredPlan], unit: str) -> str:
    is_complete = not any(model.answered < model.planned for model in several)
    total = sum(model.answered for model in several)
    noun = unit.removesuffix("s") if total == 1 else unit
    owners = f" of {len(several)} models" if len(several) > 1 else ""
    shares = [_share(name, several) for name in WORDS if _is_said(name, several)]
    total_text = f"{total:,} {noun}{owners}"
    verb = "were scored" if unit == "prompts" else "came"
    planned = f"{'All ' if total > 1 else ''}{total:,} planned {noun}{owners} {verb}"
    beginning = planned if is_complete else f"Of {total_text}"
    if all(model.imported for model in several):
        planned = beginning = f"{total:,} imported {noun}{owners}"
    if not shares:
        return f"{planned}." if is_complete else f"{total_text} {verb}."
    return f"{beginning}: {', '.join(shares)}."


def _is_said(name: str, several: Sequence[AnsweredPlan]) -> bool:
    """Return whether a header shows a kind of answers.

    Kinds of every audit are shown even if their number is 0.
    """
    parts = [model.parts[name] for model in several if name in model.parts]
    return any(part.count for part in parts) or (bool(parts) and name in ALWAYS)


def _share(name: str, several: Sequence[AnsweredPlan]) -> str:
    """Return the share of a kind of answers.

    If several models differ, the model with the largest share is named.
    """
    known_parts = [
        (model, model.parts[name])
        for model in several
        if name in model.parts and model.parts[name].of
    ]
    if not known_parts:
        return f"{WORDS[name]} –"
    count, total = (
        sum(getattr(part, attribute) for _, part in known_parts) for attribute in ("count", "of")
    )
    text = f"{WORDS[name]} {number(count / total, Kind.SHARE)}"
    worst_model, worst_part = max(known_parts, key=lambda pair: pair[1].share)
    is_much_larger = (
        len(known_parts) > 1 and worst_part.share > 2 * count / total and worst_part.share > 0.05
    )
    return (
        f"{text} ({worst_model.name} {number(worst_part.share, Kind.SHARE)})"
        if is_much_larger
        else text
    )


def answered_table(several: Sequence[AnsweredPlan]) -> Table[AnsweredPlan]:
    """Return a table of the answered part of each model's plan, and of shares without a stance."""
    kinds = [name for name in WORDS if any(name in model.parts for model in several)]
    return Table(
        "answered",
        "Answers received",
        several,
        [
            Column("model", "model", lambda row: row.name),
            Column(
                "share",
                "of the plan",
                lambda row: row.share,
                Kind.SHARE,
                scale=(0.0, 1.0),
                help="answers received, of those planned; the plan of a started job stays the plan",
            ),
            Column("answered", "came", lambda row: row.answered, Kind.COUNT),
            Column("planned", "planned", lambda row: row.planned, Kind.COUNT),
            Column("unit", "counted", lambda row: row.unit, aside=True),
            *(_column(name) for name in kinds),
            *([_SETTLED, _OPTIMUM] if any(model.spared is not None for model in several) else []),
            Column("failed", "failed", lambda row: row.failed, Kind.COUNT, aside=True),
            Column("missing_because", "missing because", lambda row: row.job or None),
        ],
        key=lambda row: (row.name,),
        definition="Planned answers that were received, and the shares without a stance. Shares "
        "overlap: a "
        "refusal is also unreadable.",
        empty="No model was asked here.",
    )


_SETTLED: Column[AnsweredPlan] = Column(
    "settled",
    "not needed",
    lambda row: row.settled,
    Kind.COUNT,
    help="answers that were not drawn, as the verdicts of their prompts were settled",
)


_OPTIMUM: Column[AnsweredPlan] = Column(
    "optimum",
    "least possible",
    lambda row: row.optimum,
    Kind.SHARE,
    help="share of the plan that prompts asked until settled take on average where one looks "
    "after every answer, "
    "enumerated for the shares of each prompt's answers",
)


def _column(name: str) -> Column[AnsweredPlan]:
    def share(row: AnsweredPlan) -> float | None:
        return row.parts[name].share if name in row.parts else None

    return Column(name, WORDS[name], share, Kind.SHARE, help=HELP[name])


def answered_entry(several: Sequence[AnsweredPlan]) -> Entry:
    """Return the table for a book."""
    return Entry("answered", "answers received", lambda: answered_table(several))


def answered_data(several: Sequence[AnsweredPlan]) -> list[dict[str, Any]]:
    """Return the figures as plain values."""
    return [
        {
            "model": model.name,
            "unit": model.unit,
            "planned": model.planned,
            "answered": model.answered,
            "partial": model.partial,
            "missing_because": model.job or None,
            "failed": model.failed,
            **(
                {}
                if model.spared is None
                else {"until_settled": _settled_json(model, model.spared)}
            ),
            **{name: {"count": part.count, "of": part.of} for name, part in model.parts.items()},
        }
        for model in several
    ]


def _settled_json(saved: AnsweredPlan, spared: SavedAnswers) -> dict[str, Any]:
    share = spared.drawn / spared.planned if spared.planned else None
    return {
        "prompts": spared.prompts,
        "settled": spared.settled,
        "drawn": spared.drawn,
        "planned": spared.planned,
        "not_needed": spared.left,
        "share_drawn": share,
        "share_optimum": saved.optimum if saved.optimum == saved.optimum else None,
        "rules": [asdict(rule) for rule in spared.rules],
        "figures": NEED_ALL,
    }


EVERY, ISSUE, SIDE = "all", "issue", "side"
DEFINITION = (
    "Share of the answers that decline to answer. A rule of words finds them: nothing is asserted "
    "that the prompt asks for, and the answer has a phrase such as `as an AI` or `cannot answer` "
    "(the lexicon's list). An unmappable answer names no label but does not refuse; a neutral one "
    "takes the middle of a scale. Answers to one statement are not independent: intervals and "
    "tests are over statements."
)
UNTESTED = (
    "The rule's error rate on free text is unknown: people and classifiers label stances, "
    "not refusals."
)
BLIND = "The rule misses refusals in other words, so the rates are lower bounds."
NO_SIDES = (
    "The statements have neither a side nor an issue label, so refusals by side cannot be counted."
)


@dataclass(frozen=True, slots=True)
class RefusalRate:
    """The refusal rate of a model for one group of statements."""

    model: str
    by: str
    group: str
    refused: Estimate
    "n: answers"
    statements: int
    unmappable: float
    "share; NaN if unknown"
    neutral: float
    foreign: float
    "share in another language than the prompts"


@dataclass(frozen=True, slots=True)
class RefusalGap:
    """The comparison of a model's refusal rates for two groups of statements."""

    model: str
    by: str
    group: str
    names: tuple[str, str]
    shares: tuple[float, float]
    found: OneSided


def refusal_rate(
    refusals: ModelRefusals, grouping: str, group: str, statements: Sequence[StatementGroups]
) -> RefusalRate:
    """Return a model's refusal rate for the statements of a group."""
    kinds = [statement.kinds for statement in statements if statement.kinds.answers]
    answers, refused = sum(kind.answers for kind in kinds), sum(kind.refused for kind in kinds)
    if not answers:
        return RefusalRate(
            refusals.model,
            grouping,
            group,
            Estimate(nan, nan, nan, 0, 0, "no answers"),
            0,
            nan,
            nan,
            nan,
        )
    counts = [kind.refused for kind in kinds], [kind.answers for kind in kinds]
    few = too_few_alike(*counts)
    low, high = (nan, nan) if few else share_interval(*counts)
    name = "" if isnan(low) else "share over statements"
    refused_share = Estimate(refused / answers, low, high, answers, interval=name, few=few)
    unmappable = nan if refusals.free else sum(kind.unmappable for kind in kinds) / answers
    neutral, foreign = (
        sum(total) / answers
        for total in zip(*((kind.neutral, kind.foreign) for kind in kinds), strict=True)
    )
    return RefusalRate(
        refusals.model, grouping, group, refused_share, len(kinds), unmappable, neutral, foreign
    )


def refusal_rates(several: Sequence[ModelRefusals]) -> list[RefusalRate]:
    """Return the rates of every model: over all statements, of each side and of each issue."""
    all_rates = []
    for model_refusals in several:
        if not model_refusals.statements:
            continue
        all_rates.append(refusal_rate(model_refusals, EVERY, "", model_refusals.statements))
        for side in Side:
            if of_side := [
                statement for statement in model_refusals.statements if statement.side is side
            ]:
                all_rates.append(refusal_rate(model_refusals, SIDE, side.value, of_side))
        for issue in _issues(model_refusals):
            all_rates.append(
                refusal_rate(
                    model_refusals,
                    ISSUE,
                    issue,
                    [
                        statement
                        for statement in model_refusals.statements
                        if issue in statement.issues
                    ],
                )
            )
    return all_rates


def _issues(refusals: ModelRefusals) -> tuple[str, ...]:
    return tuple(
        dict.fromkeys(issue for statement in refusals.statements for issue in statement.issues)
    )


def refusal_gaps(several: Sequence[ModelRefusals], seed: int) -> list[RefusalGap]:
    """Return the comparisons of every model's refusal rates between two groups of statements.

    They are left against right, then per issue the statements for it against those against it.
    """
    gaps = []
    for model_refusals in several:
        sides = [statement for statement in model_refusals.statements if statement.side is not None]
        if sides:
            is_first = [statement.side is Side.LEFT for statement in sides]
            gaps.append(
                _spared(
                    model_refusals,
                    SIDE,
                    "",
                    (Side.LEFT.value, Side.RIGHT.value),
                    sides,
                    is_first,
                    seed,
                )
            )
        for issue in _issues(model_refusals):
            of_issue = [
                statement for statement in model_refusals.statements if issue in statement.issues
            ]
            is_first = [statement.issues[issue] > 0 for statement in of_issue]
            gaps.append(
                _spared(model_refusals, ISSUE, issue, ("for", "against"), of_issue, is_first, seed)
            )
    return gaps


def _spared(
    refusals: ModelRefusals,
    grouping: str,
    group: str,
    names: tuple[str, str],
    among: Sequence[StatementGroups],
    first: Sequence[bool],
    seed: int,
) -> RefusalGap:
    hits, counts = (
        [statement.kinds.refused for statement in among],
        [statement.kinds.answers for statement in among],
    )
    shares = []
    for in_first in (True, False):
        group_counts = [
            (h, n)
            for h, n, is_first in zip(hits, counts, first, strict=True)
            if is_first is in_first
        ]
        n_answers = sum(n for _, n in group_counts)
        shares.append(sum(h for h, _ in group_counts) / n_answers if n_answers else nan)
    result = one_sided(
        hits, counts, first, derive_rng(seed, "refusals", refusals.model, grouping, group)
    )
    return RefusalGap(refusals.model, grouping, group, names, (shares[0], shares[1]), result)


def refusal_table(several: Sequence[ModelRefusals]) -> Table[RefusalRate]:
    """Return the refusal rates of models."""
    return Table(
        "refusals",
        "Refusals",
        refusal_rates(several),
        _refusal_columns(several),
        key=lambda row: (row.model, row.by, row.group),
        definition=DEFINITION,
        notes=_refusal_notes(several),
        empty=_why(several),
        pictures=[
            Forest(
                values=["refused"],
                rows=["by", "group"],
                series="model",
                axis="share of answers that refuse",
            )
        ],
    )


def _refusal_columns(several: Sequence[ModelRefusals]) -> list[Column[RefusalRate]]:
    """Return the columns of the refusal rates. `several` name the issues."""
    return [
        Column("model", "model", lambda row: row.model),
        Column(
            "by",
            "by",
            lambda row: row.by,
            help="over all statements, of a side, or of an issue",
        ),
        Column(
            "group",
            "of",
            lambda row: row.group,
            words=_issue_words(several),
            help="a side, or a policy issue that the statements are labelled for",
        ),
        Column(
            "refused",
            "refused",
            lambda row: row.refused,
            Kind.SHARE,
            scale=(0.0, 1.0),
            help="share of the answers received; thinking without an answer is not an answer",
        ),
        Column("answers", "answers", lambda row: row.refused.n, Kind.COUNT),
        Column("statements", "statements", lambda row: row.statements, Kind.COUNT, short="stmts"),
        Column(
            "unmappable",
            "unmappable, by rule",
            lambda row: row.unmappable,
            Kind.SHARE,
            short="unmappable",
            help="names no label and is not a refusal, as the rule reads it: unlike the "
            "unreadable answers of "
            "the audit, before rulings; unknown for free text",
        ),
        Column(
            "neutral",
            "neutral",
            lambda row: row.neutral,
            Kind.SHARE,
            aside=True,
            help="the middle of a numbered scale",
        ),
        Column(
            "other_language",
            "other language",
            lambda row: row.foreign,
            Kind.SHARE,
            short="other lang",
            help="in another language than the prompt, by its label words and frequent "
            "words, with any reading",
        ),
    ]


def refusal_gap_table(several: Sequence[ModelRefusals], seed: int) -> Table[RefusalGap]:
    """Return the comparison of models' refusal rates between sides."""
    return Table(
        "refusal_sides",
        "Refusals, one side against the other",
        refusal_gaps(several, seed),
        _refusal_gap_columns(several),
        key=lambda row: (row.model, row.by, row.group),
        definition="Difference in how often a model refuses statements of each side. Seed "
        f"{seed}; p is not adjusted for the number of issues.",
        notes=_refusal_notes(several),
        empty=_why(several)
        if not any(model_refusals.statements for model_refusals in several)
        else NO_SIDES,
    )


def _refusal_gap_columns(several: Sequence[ModelRefusals]) -> list[Column[RefusalGap]]:
    """Return the columns of the comparison of sides. `several` name the issues."""
    return [
        Column("model", "model", lambda row: row.model),
        Column("by", "by", lambda row: row.by, help="of a side, or of an issue"),
        Column(
            "group",
            "of",
            lambda row: row.group,
            words=_issue_words(several),
            help="a side, or a policy issue that the statements are labelled for",
        ),
        Column(
            "sides",
            "sides",
            lambda row: " − ".join(row.names),
            help="`for`: agreeing supports the issue",
        ),
        Column(
            "first",
            "first",
            lambda row: row.shares[0],
            Kind.SHARE,
            help="refused, on the side named first",
        ),
        Column("second", "second", lambda row: row.shares[1], Kind.SHARE),
        Column(
            "difference",
            "difference",
            lambda row: row.found.difference,
            Kind.POINTS,
            scale=(-1.0, 1.0),
            reference=_zero,
            help="first minus second",
        ),
        Column(
            "p",
            "p",
            lambda row: row.found.p,
            Kind.P_VALUE,
            help="of no difference: statements are shuffled between the sides, with all "
            "their answers",
        ),
        Column(
            "untested",
            "no test because",
            lambda row: row.found.untested,
            short="no test",
            aside=True,
            help="why there is no p value",
        ),
    ]


def _issue_words(several: Sequence[ModelRefusals]) -> dict[str, str]:
    return in_words({issue for model_refusals in several for issue in _issues(model_refusals)})


def _refusal_notes(refusals: Sequence[ModelRefusals]) -> list[str]:
    settled_notes = [OF_THOSE_DRAWN] * any(
        model_refusals.until_settled for model_refusals in refusals
    )
    return [
        BLIND,
        *[UNTESTED] * any(model_refusals.free for model_refusals in refusals),
        *settled_notes,
    ]


def _zero(_: RefusalGap) -> float:
    return 0.0


def _why(several: Sequence[ModelRefusals]) -> str:
    return next(
        (
            f"{model_refusals.empty[0].upper()}{model_refusals.empty[1:]}."
            for model_refusals in several
            if model_refusals.empty
        ),
        "There are no answers.",
    )


def refusal_entries(make: Callable[[], Sequence[ModelRefusals]], seed: int) -> list[Entry]:
    """Return the tables of refusals for a book. Answers are counted on first use, once for both."""
    once = cache(make)

    def rates_() -> AnyTable:
        return refusal_table(once())

    def sides_() -> AnyTable:
        return refusal_gap_table(once(), seed)

    return [
        Entry("refusals", "refusals", rates_),
        Entry("refusal_sides", "refusals by side", sides_),
    ]


def refusal_sentences(
    several: Sequence[ModelRefusals], fate: str = "which figures on stances leave out"
) -> Iterator[str]:
    """Yield each model's refusal rate, and how figures treat refusals."""
    for model_refusals in several:
        if model_refusals.answers:
            overall = refusal_rate(model_refusals, EVERY, "", model_refusals.statements)
            subject = f"{model_refusals.model}: " if len(several) > 1 else ""
            answers = (
                f"{model_refusals.refused:,} of {model_refusals.answers:,} answers to "
                f"{plural(overall.statements, 'statement')}"
            )
            share = estimate(overall.refused, Kind.SHARE)
            few_note = f"; {overall.refused.few}" if overall.refused.few else ""
            yield f"{subject}refused: {answers} ({share}{few_note}), {fate}"
            if model_refusals.foreign:
                yield (
                    f"{subject}in another language than the prompt: {model_refusals.foreign:,} of "
                    f"{model_refusals.answers:,} answers"
                )
