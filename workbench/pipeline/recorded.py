"""Answers that another program collected, stored as an imported run.

The answers are matched to the prompts of a design by their text, or by what they were about.
Audits, rulings and comparisons work on them. Nothing asks their model again.

An answer is stored once. If a log tells its answers apart, an answer is known by its uid, from
whatever file it comes. Otherwise a file that has all that an earlier one had continues it, and a
file with nothing new adds nothing. The answers of any other file are other ones, and a run of their
own.
"""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import file_digest, sha256
from pathlib import Path
from typing import TypeVar

from stores.core.store import Store
from stores.core.values import MOST_ANSWERS
from stores.runs.run_rows import Answered, EarlierImport
from workbench import registry
from workbench.audits.crossing import IN_THE_USER_TURN
from workbench.domain.designs import Design
from workbench.domain.names import plural
from workbench.domain.prompts import Message, Persona, Probe, Prompt
from workbench.domain.questionnaires import named_few
from workbench.domain.responses import IMPORTED, MAY_BE_LEFT, NOT_STATED, ModelCard, Sampling
from workbench.errors import UsageError
from workbench.evidence.readings import BatchReader
from workbench.formats.answer_logs import (
    CUT,
    FILTERED,
    HARNESS,
    PERSONA,
    Logged,
    log_of,
    logs_in,
    read_log,
)
from workbench.formats.log_values import MOST_COUNT, OddValue, Turns, model_of
from workbench.formats.prompt_files import DIGITS, key_of
from workbench.formats.records import AS_IS, Findings, ReadSettings
from workbench.installed import code_version
from workbench.pipeline.planning import Plan, plan
from workbench.regular_files import check_file

Name = TypeVar("Name")
SHOWN = 5
"number of places of excluded answers that a message lists"
REASONS = 12
"number of reasons of excluded answers that a message lists"
TENTH = 0.1
"share of the answers that may be excluded without a question"
AT_ONCE = 1000
"draws that are written in one transaction"
AS_SYSTEM_TURN = ("persona_turn", "system")
"""axis of prompts with a persona as a system turn

Their templates put personas into the user's turn.
"""
MISSING_VALUES = frozenset({"None", "null", "NULL", "NaN", "nan", "<NA>", "undefined"})
"words that programs write for a missing value"
HASH = 64
"hexadecimal digits of a SHA-256"
SAMPLE = "sample"
"the kind of the job that the answers belong to: one that samples"
UNNAMED = "unknown"
"name of the model of a log that does not name it"
SEED_BYTES = 7
"number of bytes of a digest that become a whole number which SQLite holds"


@dataclass(frozen=True, slots=True)
class AnswerTarget:
    """The request for the answers of a file.

    An empty audit or family stands for the one with the most matches.
    """

    instrument: str
    audit: str = ""
    family: str = ""
    language: str = ""
    model: str = ""
    personas: tuple[Persona, ...] = ()
    "personas that may stand before the prompts, beside those of the store"
    most_count: int = MOST_COUNT
    "the largest number of answers that a row may stand for"
    skip: bool = False
    "whether entries with faults, and more than a tenth of the answers, may be excluded"


@dataclass(frozen=True, slots=True)
class Matched:
    """The answers of one model, with the prompts that they answer."""

    plan: Plan
    entries: Sequence[tuple[bytes, Logged]]
    "(key of the prompt, answer), in the order of the file"
    new: Sequence[tuple[bytes, Logged]]
    "the entries that are not stored yet, where an answer may stand for fewer than in the file"
    card: ModelCard
    is_named: bool = True
    "whether the log or a person names the model"

    @property
    def answers(self) -> dict[bytes, list[tuple[str, int]]]:
        """The texts by prompt, each with its number in the file."""
        texts: dict[bytes, list[tuple[str, int]]] = {}
        for key, entry in self.entries:
            texts.setdefault(key, []).append((entry.answer or "", entry.count))
        return texts

    @property
    def count(self) -> int:
        """The number of answers."""
        return sum(entry.count for _, entry in self.entries)

    @property
    def count_new(self) -> int:
        """The number of answers that are not stored yet."""
        return sum(entry.count for _, entry in self.new)

    @property
    def dates(self) -> str:
        """The first and the last day of the answers, or an empty text if the log has none."""
        days = sorted({entry.at[:10] for _, entry in self.entries if entry.at})
        return " to ".join(dict.fromkeys((days[0], days[-1]))) if days else ""


@dataclass(frozen=True, slots=True)
class ImportedAnswers:
    """The answers that were read from a file or a folder."""

    program: str
    runs: tuple[Matched, ...]
    left_out: Mapping[str, Sequence[Logged]]
    "reason -> answers"
    unanswered: Mapping[str, Sequence[Logged]] = field(default_factory=dict)
    "reason -> calls without an answer"
    repeated: Sequence[Logged] = ()
    "entries that repeat an answer of the same import"
    files: int = 1
    copies: int = 0
    "files with the same content as another"
    faults: Sequence[str] = ()
    "faults of entries that are excluded for them"
    unknown: Sequence[str] = ()
    "names of files of a folder with the beginning of a log, but in no known format"

    @property
    def count(self) -> int:
        """The number of answers that have a prompt."""
        return sum(run.count for run in self.runs)

    @property
    def count_new(self) -> int:
        """The number of answers that are not stored yet."""
        return sum(run.count_new for run in self.runs)

    @property
    def count_left_out(self) -> int:
        """The number of answers without a prompt and of entries with faults."""
        return sum(entry.count for entries in self.left_out.values() for entry in entries) + len(
            self.faults
        )

    @property
    def leaves_out_much(self) -> bool:
        """Whether more than a tenth of the answers is excluded."""
        return self.count_left_out > TENTH * (self.count + self.count_left_out)

    def sentences(self, stored: int | None = None) -> Iterator[str]:
        """Yield sentences on the answers to come, and on those that are excluded.

        `stored` is the number of written answers, after an import.
        """
        n_stored = self.count - self.count_new
        stored_note = (
            f"; {n_stored:,} {'was' if n_stored == 1 else 'were'} stored before" if n_stored else ""
        )
        files = f" in {plural(self.files, 'file')}" if self.files > 1 else ""
        if stored is None:
            yield (
                f"{self.program}{files}: {plural(self.count, 'answer')}, {self.count_new:,} "
                f"new{stored_note}"
            )
        else:
            yield f"{self.program}{files}: {plural(stored, 'answer')} stored{stored_note}"
        for run in self.runs:
            design = run.plan.design
            dates = f"; collected {run.dates}" if run.dates else ""
            yield (
                f"- {design.model}: {plural(run.count, 'answer')} to "
                f"{plural(len(run.answers), 'prompt')} of {design.instrument}, {design.audit} "
                f"(templates {design.family}){dates}; {design.sampling}; {run.count_new:,} new"
            )
        if not all(run.is_named for run in self.runs):
            yield "- The log does not name its model. Name it with --model NAME."
        yield from self._said_endings()
        yield from self._said_missing_values()
        yield from self._said_left_out()

    def _said_endings(self) -> Iterator[str]:
        entries = [entry for run in self.runs for _, entry in run.entries]
        for ending, cause in (
            (CUT, "the limit of tokens"),
            (FILTERED, "a content filter of the service"),
        ):
            if count := sum(entry.count for entry in entries if entry.ended == ending):
                yield (
                    f"- {plural(count, 'answer')} ended at {cause}; stored as "
                    f"{'it is' if count == 1 else 'they are'}"
                )

    def _said_missing_values(self) -> Iterator[str]:
        """Yield a line on answers that are the word of a program for a missing value."""
        counts = Counter[str]()
        for run in self.runs:
            for _, entry in run.entries:
                text = (entry.answer or "").strip()
                if text in MISSING_VALUES:
                    counts[text] += entry.count
        if counts:
            values = " or ".join(counts)
            verb = "is" if counts.total() == 1 else "are"
            yield (
                f"- {plural(counts.total(), 'answer')} {verb} the word {values}; stored as a text. "
                "A program may have written it for a missing answer; an empty cell is none."
            )

    def _said_left_out(self) -> Iterator[str]:
        for reason, entries in list(self.left_out.items())[:REASONS]:
            count = sum(entry.count for entry in entries)
            yield f"- left out: {plural(count, 'answer')}: {reason} ({self._places(entries)})"
        if len(self.left_out) > REASONS:
            yield f"- left out: answers for {len(self.left_out) - REASONS:,} more reasons"
        if self.faults:
            yield f"- left out: {plural(len(self.faults), 'fault')}: {named_few(self.faults, 3)}"
        for reason, entries in self.unanswered.items():
            yield (
                f"- without an answer: {plural(len(entries), 'call')}: {reason} "
                f"({self._places(entries)})"
            )
        if self.repeated:
            yield (
                f"- repeated: {plural(len(self.repeated), 'answer')} that another entry has, too; "
                f"counted once ({self._places(self.repeated)})"
            )
        if self.unknown:
            files = plural(len(self.unknown), "file")
            names = named_few(self.unknown, SHOWN)
            yield (
                f"- not read: {files} with the beginning of a log, but in no known format: {names}"
            )
        if self.copies:
            yield f"- {plural(self.copies, 'file')} with the same content as another; read once"

    def _places(self, entries: Sequence[Logged]) -> str:
        """Return the locations of entries: `entries 3, 4, 9 …`.

        If there are several files, their names are included.
        """
        locations = list(dict.fromkeys((entry.file, entry.place) for entry in entries))
        ellipsis = " …" if len(locations) > SHOWN else ""
        if self.files > 1:
            return ", ".join(f"{file} {number:,}" for file, number in locations[:SHOWN]) + ellipsis
        noun = "entry" if len(locations) == 1 else "entries"
        return f"{noun} " + ", ".join(f"{number:,}" for _, number in locations[:SHOWN]) + ellipsis

    def data(self) -> dict[str, object]:
        """Return the outcome for a program."""
        runs = [
            {
                "model": run.card.name,
                "audit": run.plan.design.audit,
                "family": run.plan.design.family,
                "answers": run.count,
                "new": run.count_new,
                "prompts": len(run.answers),
            }
            for run in self.runs
        ]
        left_out = [
            {
                "reason": reason,
                "answers": sum(entry.count for entry in entries),
                "entries": [entry.place for entry in entries],
            }
            for reason, entries in self.left_out.items()
        ]
        return {
            "program": self.program,
            "files": self.files,
            "runs": runs,
            "new": self.count_new,
            "left_out": left_out,
            "faults": list(self.faults),
            "unanswered": sum(len(entries) for entries in self.unanswered.values()),
            "repeated": len(self.repeated),
        }

    def next(self, store: Path) -> str:
        """Return the command that shows the results of audits on the answers."""
        return f"workbench show {shlex.quote(str(store))} {self.runs[0].plan.design.audit}"


# ── reading ───────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class _Read:
    """The entries of the files of one import."""

    program: str
    answers: tuple[Logged, ...]
    unanswered: Mapping[str, Sequence[Logged]]
    repeated: tuple[Logged, ...]
    contradicting: tuple[Logged, ...]
    "other answers to a request that has one"
    revision: str
    files: int
    copies: int
    faults: tuple[str, ...]
    unknown: tuple[str, ...]
    "names of files of a folder with the beginning of a log, but in no known format"


def _read(path: Path, wanted: AnswerTarget, settings: ReadSettings) -> _Read:
    """Read a log, or all logs of a folder.

    Raises UsageError without an answer, InputError for faults of a file.
    """
    paths = logs_in(path) if path.is_dir() else [check_file(path)]
    findings = Findings()
    hashes: dict[str, Path] = {}
    programs, entries = [], []
    unknown = []
    for file in paths:
        program = log_of(file, settings)
        if not program:
            unknown.append(file.name)
            continue
        # samples of lm-evaluation-harness do not name their model: the folder does, in the results
        # beside them
        digest = _hash(file) + (str(file.parent) if program == HARNESS else "")
        if hashes.setdefault(digest, file) != file:
            continue
        programs.append(program)
        entries += read_log(file, program, findings, settings, wanted.most_count)
    faults: tuple[str, ...] = ()
    if wanted.skip and entries:
        faults = tuple(str(finding) for finding in findings.found)
    else:
        findings.check()
    program = " and ".join(dict.fromkeys(programs))
    if unknown and not programs:
        files = plural(len(unknown), "file")
        raise UsageError(
            f"{path}: found {files} with the beginning of a log, but in no known format: "
            f"{named_few(unknown, SHOWN)}. Nothing was changed. Import a file alone to see what "
            "it lacks."
        )
    distinct, repeated, contradicting = _once(entries)
    answers = tuple(entry for entry in distinct if entry.answer is not None)
    if not answers:
        raise UsageError(f"{path}: {program or 'logs'} without an answer; nothing was changed")
    unanswered: dict[str, list[Logged]] = {}
    for entry in distinct:
        if entry.answer is None:
            unanswered.setdefault(entry.why, []).append(entry)
    digests = sorted(name[:HASH] for name in hashes)
    revision = digests[0] if len(digests) == 1 else sha256("".join(digests).encode()).hexdigest()
    copies = len(paths) - len(unknown) - len(hashes)
    return _Read(
        program,
        answers,
        unanswered,
        repeated,
        contradicting,
        revision[:12],
        len(hashes),
        copies,
        faults,
        tuple(unknown),
    )


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def _once(entries: Iterable[Logged]) -> tuple[list[Logged], tuple[Logged, ...], tuple[Logged, ...]]:
    """Return the entries with their own answer, those that repeat one, and contradicting ones."""
    answer_by_name: dict[tuple[str, ...], str | None] = {}
    distinct, repeated, contradicting = [], [], []
    for entry in entries:
        name = (entry.uid,) if entry.uid else (entry.file, entry.model, entry.key)
        if not entry.key or name not in answer_by_name:
            answer_by_name[name] = entry.answer
            distinct.append(entry)
        elif answer_by_name[name] == entry.answer:
            repeated.append(entry)
        else:
            contradicting.append(entry)
    return distinct, tuple(repeated), tuple(contradicting)


# ── matching ──────────────────────────────────────────────────────────────────────────────────────


def match_answers(
    store: Store, path: Path, wanted: AnswerTarget, settings: ReadSettings = AS_IS
) -> ImportedAnswers:
    """Read a log, or a folder of them, and match its answers to prompts.

    The prompts are those of the templates that fit most of the answers. The store is only read.
    Raises UsageError if nothing matches, InputError for faults of the file.
    """
    _check_model(wanted)
    log = _read(path, wanted, settings)
    instrument = store.instruments.get(wanted.instrument)
    families = [
        (audit.name, family)
        for audit in registry.asking()
        if wanted.audit in ("", audit.name)
        for family in dict.fromkeys(
            template.family
            for template in audit.templates_for(instrument, wanted.language or instrument.language)
        )
        if wanted.family in ("", family)
    ]
    personas = _personas(store, wanted, log.answers)
    outcomes: list[_Match] = []
    refusals: list[UsageError] = []
    for audit, family in families:
        try:
            outcomes.append(
                _matched(store, log, replace(wanted, audit=audit, family=family), personas)
            )
        except UsageError as error:  # an audit that asks nothing of this instrument
            refusals.append(error)
    matching = sorted(
        (fitting for fitting in outcomes if fitting.runs), key=lambda fitting: fitting.n_unmatched
    )
    if not matching:
        if families and len(refusals) == len(families):
            raise refusals[-1]
        raise UsageError(_nothing_matches(path, log, wanted, families, outcomes))
    best = matching[0]
    ties = [tie for tie in matching if tie.n_unmatched == best.n_unmatched]
    if len(ties) > 1:
        choices = " or ".join(f"--audit {tie.audit} --family {tie.family}" for tie in ties)
        raise UsageError(
            f"{path}: {log.program}: its answers fit several sets of templates; give {choices}"
        )
    left_out = _reasons(best, outcomes)
    if log.contradicting:
        left_out[CONTRADICTING] = list(log.contradicting)
    return ImportedAnswers(
        log.program,
        best.runs,
        left_out,
        log.unanswered,
        log.repeated,
        log.files,
        log.copies,
        log.faults,
        log.unknown,
    )


def _check_model(wanted: AnswerTarget) -> None:
    try:
        model_of(wanted.model, "--model")
    except OddValue as error:
        raise UsageError(str(error)) from error


@dataclass(frozen=True, slots=True)
class _Match:
    """The outcome of matching answers to the templates of one family."""

    audit: str
    family: str
    runs: tuple[Matched, ...]
    unmatched: tuple[tuple[Logged, str], ...]
    "(answer, reason why it has no prompt)"

    @property
    def n_unmatched(self) -> int:
        return len(self.unmatched)


def _nothing_matches(
    path: Path,
    read: _Read,
    wanted: AnswerTarget,
    tried: Sequence[tuple[str, str]],
    others: Sequence[_Match],
) -> str:
    """Return the message for a log without an answer to any prompt."""
    first = read.answers[0]
    text = " ".join(first.turns[-1][1].split())[:160] if first.turns else str(dict(first.about))
    end = "" if text.endswith((".", "?", "!")) else "."
    reasons = Counter(reason for other in others for _, reason in other.unmatched)
    # Only one family names a prompt that is nearly the one sent.
    near_reasons = [
        reason for reason in reasons if reason not in (OTHER_TEXT, OTHER_TEMPLATE, NO_STATEMENT)
    ]
    cause = (
        f": {near_reasons[0] if near_reasons else reasons.most_common(1)[0][0]}" if reasons else ""
    )
    return (
        f"{path}: found {read.program} with {plural(len(read.answers), 'answer')}, none of them to "
        f"a prompt of {wanted.instrument}{cause}. The first: {text}{end} Import an instrument with "
        "these templates, or name prompts by ref, variant, template and order (templates tried: "
        f"{', '.join(map('/'.join, tried)) or 'none'})."
    )


def _reasons(best: _Match, others: Sequence[_Match]) -> dict[str, list[Logged]]:
    """Return the excluded answers by reason.

    Answers to other templates have these as their reason.
    """
    other_reasons: dict[int, str] = {}
    for other in others:
        if other is not best and other.runs:
            matched = {id(entry) for run in other.runs for _, entry in run.entries}
            other_reason = (
                f"its prompt is one of other templates (--audit {other.audit} --family "
                f"{other.family})"
            )
            other_reasons |= {
                entry_id: other_reason for entry_id in matched if entry_id not in other_reasons
            }
    reasons: dict[str, list[Logged]] = {}
    for entry, reason in best.unmatched:
        reasons.setdefault(other_reasons.get(id(entry), reason), []).append(entry)
    return reasons


def _personas(store: Store, wanted: AnswerTarget, answers: Sequence[Logged]) -> tuple[Persona, ...]:
    """Return the personas that may stand before the prompts of some answers.

    Their first turn was sent, or their name is in the log.
    """
    sent = {entry.turns[0][1] for entry in answers if entry.turns}
    names = {entry.about[PERSONA] for entry in answers if PERSONA in entry.about}
    persona_by_key = {
        persona.key: persona for persona in (*store.runs.personas().values(), *wanted.personas)
    }
    return tuple(
        persona
        for persona in persona_by_key.values()
        if persona.name in names or any(persona.turns[0].content in text for text in sent)
    )


def _matched(
    store: Store, read: _Read, wanted: AnswerTarget, personas: Sequence[Persona]
) -> _Match:
    """Return the runs of a family of templates, and the answers that are to none of its prompts."""
    statements = store.instruments.get(wanted.instrument).statements
    wordings = {
        wording.text: (statement.ref, str(wording.variant))
        for statement in statements
        for wording in statement.wordings
    }
    groups: dict[tuple[str, tuple[tuple[str, float], ...]], list[Logged]] = {}
    for entry in read.answers:
        model = wanted.model or entry.model or UNNAMED
        groups.setdefault((model, tuple(sorted(entry.sampling.items()))), []).append(entry)
    runs, unmatched = [], []
    for (model, numbers), answers in groups.items():
        design = Design(
            wanted.instrument,
            f"{IMPORTED}{model}",
            wanted.audit,
            samples=1,
            sampling=_sampling(dict(numbers)),
            language=wanted.language,
            family=wanted.family,
            personas=tuple(personas),
        )
        card = ModelCard(design.model, read.revision, IMPORTED.rstrip(":"), "none", "none")
        planned = _planned(store, design, card)
        if any(entry.turns and entry.turns[0][0] == "system" for entry in answers):
            planned = _with_system_turns(planned)
        index = _PromptIndex(planned.probes, wordings)
        entries: list[tuple[bytes, Logged]] = []
        for entry in answers:
            prompt = index.prompt_of(entry)
            if isinstance(prompt, str):
                unmatched.append((entry, prompt))
            else:
                entries.append((prompt.key, entry))
        if entries:
            _check_counts(entries)
            is_named = bool(wanted.model or answers[0].model)
            runs.append(_without_stored(store, planned, card, entries, is_named=is_named))
    return _Match(wanted.audit, wanted.family, tuple(runs), tuple(unmatched))


NOTHING_STORED: Mapping[bytes, int] = {}


def _check_counts(
    entries: Sequence[tuple[bytes, Logged]], stored: Mapping[bytes, int] = NOTHING_STORED
) -> None:
    """Raise UsageError if one prompt has more answers than a store can hold.

    entries : of all files of an import

    stored : prompt -> answers of earlier imports that this one continues
    """
    by_prompt: dict[bytes, list[Logged]] = {}
    for key, entry in entries:
        by_prompt.setdefault(key, []).append(entry)
    for key, answers in by_prompt.items():
        n_stored = stored.get(key, 0)
        n_answers = n_stored + sum(entry.count for entry in answers)
        if n_answers <= MOST_ANSWERS:
            continue
        largest = max(answers, key=lambda entry: entry.count)
        n_files = len({entry.file for entry in answers})
        context = f" in {n_files} files" if n_files > 1 else ""
        context += f", {n_stored:,} of them stored already" if n_stored else ""
        prompt = (
            " ".join(largest.turns[-1][1].split())[:160]
            if largest.turns
            else str(dict(largest.about))
        )
        raise UsageError(
            f"{largest.file}: the counts of the answers to one prompt add up to "
            f"{n_answers:,}{context}; a store holds at most {MOST_ANSWERS:,}. The largest is "
            f"{largest.count:,}, in entry {largest.place:,}. Correct the counts and import the "
            f"file again. The prompt: {prompt}"
        )


def _planned(store: Store, design: Design, card: ModelCard) -> Plan:
    """Return the plan of a design, without its personas if its templates have no place for them."""
    if design.personas:
        try:
            return plan(store, design, card=card)
        except UsageError:
            design = replace(design, personas=())
    return plan(store, design, card=card)


def _with_system_turns(made: Plan) -> Plan:
    """Return a plan whose personas are system turns, too.

    This applies if its templates put them into the user's turn.

    A name on an axis of its own tells these prompts from those that are asked here.
    """
    if made.design.family != IN_THE_USER_TURN:
        return made
    bare_probes = [probe for probe in made.probes if probe.bare is None]
    extra_probes = []
    for persona in made.design.personas:
        if persona.instruction:
            crossed = (persona.crossed(probe, system_turn=True) for probe in bare_probes)
            extra_probes += [
                replace(probe, axes=(*probe.axes, AS_SYSTEM_TURN)) for probe in crossed
            ]
    prompts = made.prompts | {probe.prompt.key: probe.prompt for probe in extra_probes}
    return replace(made, probes=(*made.probes, *extra_probes), prompts=prompts)


def _sampling(numbers: Mapping[str, float]) -> Sampling:
    """Return the sampling that a log states.

    Values that it does not state are left to whoever answered.
    """
    unstated = [name for name in MAY_BE_LEFT if name not in numbers]
    defaults = Sampling()
    return Sampling(
        temperature=numbers.get("temperature", defaults.temperature),
        top_p=numbers.get("top_p", defaults.top_p),
        max_new_tokens=int(numbers.get("max_tokens", 0)),
        server=",".join((*unstated, NOT_STATED)),
    )


def _without_stored(
    store: Store,
    made: Plan,
    card: ModelCard,
    entries: Sequence[tuple[bytes, Logged]],
    *,
    is_named: bool,
) -> Matched:
    """Return a run with the answers that are not stored yet.

    It has the revision of the import that they continue.
    """
    counts = Counter[tuple[bytes, str]]()
    for key, entry in entries:
        counts[key, entry.answer or ""] += entry.count
    seeds = {seed_of(key, entry) for key, entry in entries if entry.uid}
    sampling = made.design.sampling
    # Earlier versions stored the settings that a log does not state in this form.
    older_sampling = replace(sampling, server=",".join(sampling.left))
    earlier_imports = [
        (stored_sampling, earlier)
        for stored_sampling in (sampling, older_sampling)
        for earlier in store.runs.earlier_imports(card.name, stored_sampling)
    ]
    for import_sampling, earlier in earlier_imports:
        if earlier.seeds & seeds:
            new = [
                (key, entry) for key, entry in entries if seed_of(key, entry) not in earlier.seeds
            ]
        elif _continues(earlier, counts, card, has_uids=bool(seeds)):
            new = _rest(entries, earlier.answers)
        else:
            continue
        stored = Counter[bytes]()
        for (prompt, _), n_answers in earlier.answers.items():
            stored[prompt] += n_answers
        _check_counts(new, stored)
        continued = replace(made, design=replace(made.design, sampling=import_sampling))
        return Matched(continued, entries, new, replace(card, revision=earlier.revision), is_named)
    return Matched(made, entries, list(entries), card, is_named)


def _continues(
    earlier: EarlierImport, counts: Counter[tuple[bytes, str]], card: ModelCard, *, has_uids: bool
) -> bool:
    """Return whether a file is an earlier one, a part of it, or that and more.

    With uids, equal answers of another file are other answers.
    """
    if has_uids:
        return earlier.revision == card.revision
    return earlier.answers <= counts or counts <= earlier.answers


def _rest(
    entries: Sequence[tuple[bytes, Logged]], stored: Counter[tuple[bytes, str]]
) -> list[tuple[bytes, Logged]]:
    """Return the entries beyond those that are stored."""
    unmatched = stored.copy()
    beyond = []
    for key, entry in entries:
        text = entry.answer or ""
        n_stored = min(entry.count, unmatched[key, text])
        unmatched[key, text] -= n_stored
        if entry.count > n_stored:
            beyond.append((key, replace(entry, count=entry.count - n_stored)))
    return beyond


OTHER_TEXT = "its text is sent by no template, word for word"
OTHER_SYSTEM = (
    "a system message was sent before its prompt that no template or persona of this store has"
)
OTHER_MESSAGES = (
    "its prompt was sent without the messages that its template has before it, or with others"
)
CONTRADICTING = "its request (id, custom_id) has another answer in this file already"
OTHER_KEY = "its prompt_key names no prompt of these templates and statements"
TEXT_AS_NAME = (
    "its statement is a text where a name is meant; texts go in the column wording "
    "(--map wording=statement)"
)
NO_STATEMENT = "its statement is none of the instrument"
OTHER_TEMPLATE = "its template is none of this family"


class _PromptIndex:
    """The prompts by their text, and by statement, variant, template and order."""

    def __init__(self, probes: Sequence[Probe], wordings: Mapping[str, tuple[str, str]]) -> None:
        self._texts: dict[Turns, Prompt | None] = {}
        self._about: dict[tuple[str, str, str, str], Prompt | None] = {}
        self._keys = {key_of(probe.prompt): probe.prompt for probe in probes}
        self._wordings = wordings
        self._refs = {probe.statement for probe in probes}
        self._templates = {probe.template for probe in probes}
        self._orders = {(probe.template, probe.inverted) for probe in probes}
        self._last_turns: set[str] = set()
        for probe in probes:
            messages = probe.prompt.messages
            for turns in _ways_to_send(messages):
                _record_prompt(self._texts, turns, probe.prompt)
            self._last_turns.add(messages[-1].content.strip())
            if probe.bare is None:
                order = "swapped" if probe.inverted else "printed"
                _record_prompt(
                    self._about,
                    (probe.statement, probe.variant, probe.template, order),
                    probe.prompt,
                )

    def prompt_of(self, entry: Logged) -> Prompt | str:
        """Return the prompt of an answer, or the reason why there is none.

        If the log has the sent text, that alone decides, word for word.
        """
        return self._of_turns(entry.turns) if entry.turns else self._of_names(entry.about)

    def _of_turns(self, turns: Turns) -> Prompt | str:
        sent = tuple((role, text.strip()) for role, text in turns)
        if sent in self._texts:
            return (
                self._texts[sent] or "several prompts have its text; a column key tells them apart"
            )
        if sent[-1][1] in self._last_turns:
            return OTHER_SYSTEM if sent[0][0] == "system" else OTHER_MESSAGES
        return OTHER_TEXT

    def _of_names(self, about: Mapping[str, str]) -> Prompt | str:
        if (prompt := self._keys.get(about.get("key", "")[:DIGITS])) is not None:
            return prompt
        if not about.keys() & {"ref", "statement", "wording"}:
            return (
                OTHER_KEY
                if "key" in about
                else "it has neither what was sent nor the name of a statement"
            )
        ref = about.get("ref") or about.get("statement", "")
        variant = about.get("variant", "original")
        if "wording" in about:
            ref, variant = self._wordings.get(about["wording"], (ref, variant))
        if ref not in self._refs:
            return TEXT_AS_NAME if ref in self._wordings else NO_STATEMENT
        template = about.get("template") or (
            next(iter(self._templates)) if len(self._templates) == 1 else ""
        )
        orders = [
            "swapped" if inverted else "printed"
            for name, inverted in self._orders
            if name == template
        ]
        if not orders:
            return OTHER_TEMPLATE if template else "it names no template, and there are several"
        order = about.get("order") or (orders[0] if len(orders) == 1 else "")
        if not order:
            return f"it has no order, and {template} has both (printed, swapped)"
        if order not in orders:
            return f"its order is none that {template} has ({', '.join(sorted(orders))})"
        cell = ref, variant, template, order
        if cell not in self._about:
            return "its statement has no such variant"
        return self._about[cell] or "several prompts are meant; a column key tells them apart"


def _ways_to_send(messages: Sequence[Message]) -> set[Turns]:
    """Return the turns that send a prompt: as they are, or as one text."""
    turns = tuple((message.role, message.content.strip()) for message in messages)
    texts = [text for _, text in turns]
    return {turns, (("user", "\n\n".join(texts)),), (("user", "\n".join(texts)),)}


def _record_prompt(prompt_by_name: dict[Name, Prompt | None], name: Name, prompt: Prompt) -> None:
    """Record the prompt of a name. A name of several prompts gets None."""
    if (other := prompt_by_name.setdefault(name, prompt)) is not None and other.key != prompt.key:
        prompt_by_name[name] = None


# ── storing ───────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class StoredImport:
    """The jobs and the number of answers that an import wrote."""

    jobs: tuple[int, ...]
    answers: int


def check_partial(answers: ImportedAnswers, *, skip: bool) -> None:
    """Raise UsageError if more than a tenth of the answers would be excluded without consent."""
    if answers.leaves_out_much and not skip:
        count = answers.count + answers.count_left_out
        message = (
            f"{answers.count_left_out:,} of {count:,} answers would be left out. --skip (in "
            "Python: skip=True) imports the others."
        )
        raise UsageError("\n".join((message, *answers._said_left_out())))


def store_answers(store: Store, imported: ImportedAnswers) -> StoredImport:
    """Store imported answers, in one job for each model with new ones."""
    jobs: list[int] = []
    answers = 0
    for run in imported.runs:
        if run.new:
            job, count = _put_run(store, imported.program, run)
            jobs.append(job)
            answers += count
    return StoredImport(tuple(jobs), answers)


def _put_run(store: Store, program: str, run: Matched) -> tuple[int, int]:
    """Store the new answers of a run, and return the number of the job and of the answers."""
    n_planned = {key: sum(count for _, count in texts) for key, texts in run.answers.items()}
    design = replace(run.plan.design, samples=max(n_planned.values()), tries=1)
    job = store.jobs.create(SAMPLE, design.as_json(), run.count_new)
    attempt = store.jobs.claim(job, code_version())
    stored = 0
    try:
        store.runs.add_probes(
            design.audit,
            design.instrument,
            run.plan.design.language,
            run.plan.templates,
            run.plan.probes,
            design.personas,
        )
        ids = store.runs.begin(run.card, design.sampling)
        for count in sorted(set(n_planned.values())):
            store.runs.note_plan(
                *ids, [key for key, n_answers in n_planned.items() if n_answers == count], count
            )
        reader = BatchReader.for_probes(store, run.plan.templates, run.plan.probes)
        draws = _draws(run)
        for first in range(0, len(draws), AT_ONCE):
            batch = draws[first : first + AT_ONCE]
            readings = reader.read(batch)
            n_done = stored + sum(draw.n for draw in batch)
            progress = {
                "answers": n_done,
                "unreadable": reader.unreadable,
                "refused": reader.refused,
                "truncated": reader.truncated,
            }
            state = (job, n_done, json.dumps(progress))
            store.runs.add(*ids, attempt, batch, job=state, readings=readings)
            stored = n_done
    except BaseException:
        message = f"{plural(stored, 'answer')} imported; import the file again"
        store.jobs.finish(job, attempt, "failed", message)
        raise
    dates = f"; collected {run.dates}" if run.dates else ""
    store.jobs.finish(
        job, attempt, "done", f"{plural(stored, 'answer')} imported from {program}{dates}"
    )
    return job, stored


def seed_of(key: bytes, entry: Logged) -> int:
    """Return the number that stands for an answer in place of a seed, which nobody knows."""
    digest = sha256(key + entry.uid.encode()).digest()
    return int.from_bytes(digest[:SEED_BYTES])


def _draws(run: Matched) -> list[Answered]:
    """Return the draws to store: one for each answer with a uid, otherwise one for each prompt."""
    by_prompt: dict[bytes, Counter[str]] = {}
    draws = []
    for key, entry in run.new:
        if entry.uid:
            draws.append(
                Answered(
                    key,
                    seed_of(key, entry),
                    entry.count,
                    ((entry.answer or "", entry.count),),
                    fingerprint=entry.fingerprint,
                )
            )
        else:
            by_prompt.setdefault(key, Counter())[entry.answer or ""] += entry.count
    for key, texts in by_prompt.items():
        digest = sha256(
            key + repr(sorted(texts.items())).encode() + run.card.revision.encode()
        ).digest()
        seed = int.from_bytes(digest[:SEED_BYTES])
        draws.append(Answered(key, seed, texts.total(), tuple(texts.items())))
    return draws
