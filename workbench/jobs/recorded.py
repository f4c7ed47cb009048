"""Answers that another program collected, as a run: matched to the prompts of a design by their text, or by what they
were about, and stored as imported. Audits, rulings and comparisons work on them; nothing asks their model again.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import TypeVar

from stores.core.store import Store
from workbench import registry
from workbench.domain.designs import Design
from workbench.domain.names import plural
from workbench.domain.prompts import Probe, Prompt
from workbench.domain.responses import MAY_BE_LEFT, Drawn, ModelCard, Request, Sampling
from workbench.errors import ModelError, UsageError
from workbench.formats.answer_logs import Logged, read_log
from workbench.formats.prompt_files import key_of
from workbench.formats.records import AS_IS, Findings, How
from workbench.inference.base import NextTokens, Scored, Work
from workbench.inference.load import IMPORTED
from workbench.pipeline.asking import collect
from workbench.pipeline.planning import Plan, plan
from workbench.regular_files import check_file

Name = TypeVar("Name")
SHOWN = 5
"answers that match nothing, of which the places are told"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the answers of a file are to. Audit and family are, where they are empty, those with the most matches."""

    instrument: str
    audit: str = ""
    family: str = ""
    language: str = ""
    model: str = ""


@dataclass(frozen=True, slots=True)
class Matched:
    """The answers of one model, by the prompts that they are to."""

    plan: Plan
    answers: Mapping[bytes, Sequence[tuple[str, int]]]
    "prompt key -> (text, how often), in the order of the file"
    card: ModelCard
    when: str = ""
    "the dates that the log has, in words"

    @property
    def count(self) -> int:
        """Return how many answers there are."""
        return sum(n for texts in self.answers.values() for _, n in texts)

    @property
    def new(self) -> int:
        """Return how many of them are not stored yet."""
        held = self.plan.stored
        return sum(max(0, sum(n for _, n in of) - held.get(key, 0)) for key, of in self.answers.items())


@dataclass(frozen=True, slots=True)
class Found:
    """What a file comes to."""

    program: str
    runs: tuple[Matched, ...]
    unmatched: tuple[Logged, ...]
    unanswered: int = 0
    "calls that the log has without an answer"

    def said(self) -> Iterator[str]:
        """Yield sentences on what would come, and what is left out."""
        yield f"{self.program}: {plural(sum(run.count for run in self.runs), 'answer')}"
        for run in self.runs:
            design = run.plan.design
            yield (
                f"- {design.model}: {plural(run.count, 'answer')} to {plural(len(run.answers), 'prompt')} of "
                f"{design.instrument}, {design.audit} (templates {design.family}); {design.sampling}; {run.new:,} new"
            )
        if left := self.unmatched:
            places = ", ".join(f"{one.place:,}" for one in left[:SHOWN]) + (" …" if len(left) > SHOWN else "")
            yield f"- left out: {plural(len(left), 'answer')} to no prompt of these templates (entries {places})"
        if self.unanswered:
            yield f"- left out: {plural(self.unanswered, 'call')} that failed or got no answer"

    def data(self) -> dict[str, object]:
        """Return the same for a program."""
        runs = [
            {"model": run.card.name, "audit": run.plan.design.audit, "family": run.plan.design.family,
             "answers": run.count, "prompts": len(run.answers)}
            for run in self.runs
        ]  # fmt: skip
        left = [one.place for one in self.unmatched]
        return {"program": self.program, "runs": runs, "left_out": left, "unanswered": self.unanswered}

    def next(self, store: Path) -> str:
        """Return the command that shows what audits make of the answers."""
        return f"workbench show {shlex.quote(str(store))} {self.runs[0].plan.design.audit}"


class Recorded:
    """A model that answers from a file."""

    def __init__(self, found: Matched) -> None:
        self._found, self._work = found, Work()

    @property
    def card(self) -> ModelCard:
        return self._found.card

    @property
    def work(self) -> Work:
        return self._work

    def generate(self, requests: Sequence[Request], sampling: Sampling) -> Iterator[Drawn]:  # noqa: ARG002
        for position, request in enumerate(requests):
            every = [text for text, n in self._found.answers[request.prompt.key] for _ in range(n)]
            given = Counter(every[request.first : request.first + request.n])
            yield Drawn(position, tuple(given.items()), more=True)

    def score(
        self,
        prompts: Sequence[Prompt],  # noqa: ARG002
        options: Sequence[Sequence[str]],  # noqa: ARG002
        *,
        whole_words: bool = False,  # noqa: ARG002
    ) -> Iterator[Scored]:
        raise ModelError(f"{self.card.name}: a file of answers has no probabilities")

    def next_tokens(
        self,
        prompts: Sequence[Prompt],  # noqa: ARG002
        k: int,  # noqa: ARG002
        words: Sequence[str] = (),  # noqa: ARG002
    ) -> Iterator[NextTokens]:
        raise ModelError(f"{self.card.name}: a file of answers has no probabilities")

    def close(self) -> None:
        pass


def match(store: Store, path: Path, program: str, wanted: Wanted, how: How = AS_IS) -> Found:
    """Read a log and match its answers to the prompts of the templates that fit most of them. Reads the store only.

    Raises UsageError where nothing matches, InputError for faults of the file.
    """
    findings = Findings()
    every = read_log(path, program, findings, how)
    findings.check()
    logged = [one for one in every if one.answer is not None]
    if not logged:
        raise UsageError(f"{path}: {program} without an answer; nothing was changed")
    instrument = store.instruments.get(wanted.instrument)
    tried = [
        (audit.name, family)
        for audit in registry.asking()
        if wanted.audit in ("", audit.name)
        for family in dict.fromkeys(
            one.family for one in audit.templates_for(instrument, wanted.language or instrument.language)
        )
        if wanted.family in ("", family)
    ]
    revision = sha256(check_file(path).read_bytes()).hexdigest()[:12]
    best: tuple[tuple[Matched, ...], tuple[Logged, ...]] = ((), tuple(logged))
    refused: list[UsageError] = []
    for audit, family in tried:
        try:
            found = _matched(store, logged, replace(wanted, audit=audit, family=family), revision)
        except UsageError as error:  # an audit that asks nothing of this instrument
            refused.append(error)
            continue
        if found[0] and best[0] and len(found[1]) == len(best[1]):
            alike = " or ".join(f"--audit {name} --family {of}" for name, of in ((_named(best[0])), (audit, family)))
            raise UsageError(f"{path}: {program}: its answers fit several sets of templates; give {alike}")
        best = min(best, found, key=lambda one: len(one[1]))
    if not best[0]:
        if tried and len(refused) == len(tried):
            raise refused[-1]
        first = logged[0]
        told = " ".join(first.turns[-1][1].split())[:160] if first.turns else str(dict(first.about))
        raise UsageError(
            f"{path}: found {program} with {plural(len(logged), 'answer')}, none of them to a prompt of "
            f"{wanted.instrument} (templates tried: {', '.join(map('/'.join, tried)) or 'none'}). The first: {told}. "
            "Import an instrument with these templates, or name prompts by ref, variant, template and order."
        )
    return Found(program, *best, len(every) - len(logged))


def _named(runs: Sequence[Matched]) -> tuple[str, str]:
    return runs[0].plan.design.audit, runs[0].plan.design.family


def put(store: Store, found: Found) -> list[int]:
    """Store the answers, a job for each model with new ones; return the jobs' numbers. What is stored already is not
    stored again.
    """
    from workbench.jobs.launch import SAMPLE
    from workbench.jobs.worker import code_version

    jobs = []
    for run in found.runs:
        if not run.new:
            continue
        by_count: dict[int, list[bytes]] = {}
        for key, texts in run.answers.items():
            by_count.setdefault(sum(n for _, n in texts), []).append(key)
        asked = replace(run.plan.design, samples=max(by_count), tries=1)
        job = store.jobs.create(SAMPLE, asked.as_json(), run.count)
        attempt = store.jobs.claim(job, code_version())
        new = 0
        try:
            for count, keys in sorted(by_count.items()):
                new += collect(store, _part(run.plan, count, keys), Recorded(run), attempt=attempt, job=job).answers
        except BaseException:
            store.jobs.finish(job, attempt, "failed", f"{plural(new, 'answer')} imported; import the file again")
            raise
        store.jobs.plan(job, run.count, run.count)
        told = f"{plural(new, 'answer')} imported from {found.program}{run.when}"
        store.jobs.finish(job, attempt, "done", told)
        jobs.append(job)
    return jobs


def _part(whole: Plan, count: int, keys: Sequence[bytes]) -> Plan:
    """Return the part of a plan with prompts that have so many answers each."""
    held = set(keys)
    probes = tuple(one for one in whole.probes if one.prompt.key in held)
    prompts = {key: prompt for key, prompt in whole.prompts.items() if key in held}
    stored = {key: n for key, n in whole.stored.items() if key in held}
    return replace(whole, design=replace(whole.design, samples=count), probes=probes, prompts=prompts, stored=stored)


def _matched(
    store: Store, logged: Sequence[Logged], wanted: Wanted, revision: str
) -> tuple[tuple[Matched, ...], tuple[Logged, ...]]:
    """Return the runs of a family of templates, and the answers that are to none of its prompts."""
    statements = store.instruments.get(wanted.instrument).statements
    wordings = {w.text: (one.ref, str(w.variant)) for one in statements for w in one.wordings}
    by_model: dict[tuple[str, tuple[tuple[str, float], ...]], list[Logged]] = {}
    for one in logged:
        model = wanted.model or one.model or "unknown"
        by_model.setdefault((model, tuple(sorted(one.sampling.items()))), []).append(one)
    runs, unmatched = [], []
    for (model, numbers), answers in by_model.items():
        card = ModelCard(f"{IMPORTED}{model}", revision, IMPORTED.rstrip(":"), "none", "none")
        design = Design(wanted.instrument, card.name, wanted.audit, samples=1, sampling=_sampling(dict(numbers)),
                        language=wanted.language, family=wanted.family)  # fmt: skip
        made = plan(store, design, card=card)
        drawn = made.tally.drawn if made.tally is not None else made.stored
        made = replace(made, tally=None, stored=dict(drawn))
        places = _Places(made.probes, wordings)
        found: dict[bytes, list[tuple[str, int]]] = {}
        for one in answers:
            if (prompt := places.of(one)) is None:
                unmatched.append(one)
            else:
                found.setdefault(prompt.key, []).append((one.answer or "", one.count))
        if found:
            dates = sorted({one.at[:10] for one in answers if one.at})
            when = f"; collected {' to '.join(dict.fromkeys((dates[0], dates[-1])))}" if dates else ""
            runs.append(Matched(made, found, card, when))
    return tuple(runs), tuple(unmatched)


def _sampling(numbers: Mapping[str, float]) -> Sampling:
    """Return the sampling that a log tells; what it does not tell is left to whoever answered."""
    unknown = [name for name in MAY_BE_LEFT if name not in numbers]
    usual = Sampling()
    return Sampling(
        temperature=numbers.get("temperature", usual.temperature),
        top_p=numbers.get("top_p", usual.top_p),
        max_new_tokens=int(numbers.get("max_tokens", 0)),
        server=",".join(unknown),
    )


class _Places:
    """Prompts by their text, and by what they are about."""

    def __init__(self, probes: Sequence[Probe], wordings: Mapping[str, tuple[str, str]]) -> None:
        self._texts: dict[tuple[str, ...], Prompt | None] = {}
        self._about: dict[tuple[str, str, str, str], Prompt | None] = {}
        self._keys = {key_of(probe.prompt): probe.prompt for probe in probes}
        self._wordings = wordings
        self._templates = {probe.template for probe in probes}
        self._orders = {(probe.template, probe.inverted) for probe in probes}
        for probe in probes:
            messages = [one.content.strip() for one in probe.prompt.messages]
            for texts in {tuple(messages), ("\n\n".join(messages),), ("\n".join(messages),)}:
                _put(self._texts, texts, probe.prompt)
            order = "swapped" if probe.inverted else "printed"
            _put(self._about, (probe.statement, probe.variant, probe.template, order), probe.prompt)

    def of(self, one: Logged) -> Prompt | None:
        """Return the prompt that an answer is to: where the log has what was sent, by that alone. None: none, or more
        than one may be meant.
        """
        if one.turns:
            return self._texts.get(tuple(text.strip() for _, text in one.turns))
        about = one.about
        if (known := self._keys.get(about.get("key", ""))) is not None:
            return known
        ref, variant = about.get("ref", ""), about.get("variant", "original")
        if "statement" in about:
            ref, variant = self._wordings.get(about["statement"], (ref, variant))
        template = about.get("template") or (next(iter(self._templates)) if len(self._templates) == 1 else "")
        orders = ["swapped" if inverted else "printed" for name, inverted in self._orders if name == template]
        order = about.get("order") or (orders[0] if len(orders) == 1 else "")
        return self._about.get((ref, variant, template, order))


def _put(known: dict[Name, Prompt | None], name: Name, prompt: Prompt) -> None:
    """Keep which prompt a name names; that of several prompts names none."""
    if (other := known.setdefault(name, prompt)) is not None and other.key != prompt.key:
        known[name] = None
