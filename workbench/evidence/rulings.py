"""The effects of auditors' rulings on the answers of a run, and the notes on them.

A ruling changes only its subject. *Misread* gives an answer text to one prompt the correct reading.
Rulings on answers apply to the model in whose review they were made, unless the auditor ruled for
all models. *Excluded* and *at fault* leave a subject out: its answers are shown and counted, and
stay planned, but count as unreadable. *Confirmed* and *look again* change nothing. If auditors
contradict each other about a subject, none of their rulings on it counts.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from stores.core.store import Store
from stores.runs.run_rows import ResponseRow, Run
from workbench.classifier.config import LABELS
from workbench.classifier.dataset import Example, normalised
from workbench.domain.annotations import Purpose
from workbench.domain.keys import text_key
from workbench.domain.names import plural
from workbench.domain.readings import ReaderCard, ReaderKind, nature
from workbench.domain.rulings import (
    NOTHING,
    Effect,
    Ruled,
    Ruling,
    RulingVerdict,
    disputed,
    effect,
    ruling_values,
)
from workbench.domain.statements import VariantId, VariantKind

K = TypeVar("K")
READ_ANEW, LEFT_OUT = "read anew", "left out"
OF_ANSWERS = (Ruled.ANSWER, Ruled.READING)
OUT = Effect(left_out=True)
NAMED = 8
"most names in a sentence"


@dataclass(frozen=True, eq=False, slots=True)
class RunRulings:
    """The effects of rulings in one run."""

    probes: frozenset[int] = frozenset()
    "rowids of probes whose answers are left out by a ruling on their prompt, wording or statement"
    answers: Mapping[int, Mapping[bytes, Effect]] = field(default_factory=dict)
    "probe -> key of an answer's text -> effect, for probes that are not left out"
    read_anew: Mapping[int, Mapping[bytes, Effect]] = field(default_factory=dict)
    "the effects of right readings alone, for every probe"
    counting: tuple[Ruling, ...] = ()
    "rulings with an effect, one per subject"
    disputed: tuple[Ruling, ...] = ()
    "rulings without effect because auditors contradict each other"
    touched: frozenset[str] = frozenset()
    "refs of changed statements"
    confirmed: frozenset[tuple[int, bytes]] = frozenset()
    "(probe, key of an answer's text) of answers whose reading is right"

    @property
    def texts(self) -> frozenset[bytes]:
        """The keys of the answers with rulings."""
        return frozenset(key for effects in self.answers.values() for key in effects)

    @property
    def as_given(self) -> RunRulings:
        """The effects of right readings without those of exclusions: what the model answered.

        Shares of unreadable, refused, truncated and unread answers are about that, so no exclusion
        changes them.
        """
        if not self.leaves_out:
            return self
        return RunRulings(answers=self.read_anew, counting=self.counting, confirmed=self.confirmed)

    @property
    def faults(self) -> RunRulings:
        """The effects of exclusions without right readings.

        They are what the reader said, of what is in order.
        """
        exclusions = {
            probe: {text: change for text, change in changes.items() if change.left_out}
            for probe, changes in self.answers.items()
        }
        return RunRulings(
            self.probes,
            {probe: changes for probe, changes in exclusions.items() if changes},
            counting=self.counting,
        )

    @property
    def leaves_out(self) -> bool:
        """Whether a ruling leaves answers out."""
        return bool(self.probes) or any(
            change.left_out for changes in self.answers.values() for change in changes.values()
        )

    def effect(self, probe: int, text: bytes) -> Effect:
        """Return the effect on an answer (key of its text) to a probe."""
        return OUT if probe in self.probes else self.answers.get(probe, {}).get(text, NOTHING)


NO_RULINGS = RunRulings()


def as_ruled(row: ResponseRow, probe: int, rulings: RunRulings) -> ResponseRow:
    """Return an answer to a probe with the reading that figures use when rulings count."""
    on_answer = NOTHING if row.truncated else rulings.effect(probe, text_key(row.text))
    combined = OUT if probe in rulings.probes else on_answer
    if combined == NOTHING:
        return row
    label, mark = (row.label, LEFT_OUT) if combined.left_out else (combined.label, READ_ANEW)
    return replace(row, label=label, ruled=mark, unruled=row.label)


def rulings_of_run(store: Store, run: Run, card: ReaderCard | None) -> RunRulings:
    """Return the effects of the rulings in force in a run with a given reader."""
    in_force = [ruling for group in store.rulings.standing().values() for ruling in group]
    if not in_force:
        return NO_RULINGS
    model = store.runs.model_key(run).hex()
    in_force = [ruling for ruling in in_force if _is_about(ruling, run, model, card)]
    run_probes = _RunProbes.from_run(store, run, in_force)
    newest = _newest_of_auditors(in_force, run_probes)
    agreed = {thing: rulings for thing, rulings in newest.items() if not disputed(rulings)}
    counted = [_that_counts(rulings) for rulings in agreed.values()]
    counting = [ruling for ruling in counted if ruling is not None]
    on_prompts = [ruling for ruling in counting if ruling.subject.kind not in OF_ANSWERS]
    probes = frozenset(probe for ruling in on_prompts for probe in run_probes.of_subject(ruling))
    answers, read_anew = _effects_on_answers(counting, run_probes, probes)
    disputes = [
        ruling
        for thing, rulings in newest.items()
        if thing not in agreed
        for ruling in rulings
        if ruling.verdict is not RulingVerdict.LOOK_AGAIN
    ]
    return RunRulings(
        probes=probes,
        confirmed=frozenset(_confirmed_answers(agreed.values(), run_probes)),
        answers=answers,
        read_anew=read_anew,
        counting=tuple(counting),
        disputed=tuple(disputes),
        touched=frozenset(run_probes.refs[probe] for probe in (*probes, *answers)),
    )


def _newest_of_auditors(
    in_force: Iterable[Ruling], run_probes: _RunProbes
) -> dict[tuple[Any, ...], tuple[Ruling, ...]]:
    """Return the newest ruling of each auditor on each thing that a run was asked or answered."""
    by_thing: dict[tuple[Any, ...], dict[str, Ruling]] = {}
    for ruling in sorted(in_force, key=lambda ruling: (ruling.at, ruling.uid)):
        if run_probes.of_subject(ruling):
            by_thing.setdefault(subject_key(ruling), {})[ruling.auditor] = ruling
    return {thing: tuple(by_auditor.values()) for thing, by_auditor in by_thing.items()}


def _effects_on_answers(
    counting: Iterable[Ruling], run_probes: _RunProbes, probes: Container[int]
) -> tuple[dict[int, dict[bytes, Effect]], dict[int, dict[bytes, Effect]]]:
    """Return the effects by probe and text, and those that change a reading.

    The first are without the probes that a ruling leaves out as a whole.
    """
    answers: dict[int, dict[bytes, Effect]] = {}
    read_anew: dict[int, dict[bytes, Effect]] = {}
    for ruling in counting:
        if ruling.subject.kind not in OF_ANSWERS:
            continue
        text, change = bytes.fromhex(ruling.subject.named["text"]), effect(ruling)
        for probe in run_probes.of_subject(ruling):
            if probe not in probes:
                answers.setdefault(probe, {})[text] = change
            if change.read:
                read_anew.setdefault(probe, {})[text] = change
    return answers, read_anew


def _confirmed_answers(
    agreed: Iterable[Sequence[Ruling]], run_probes: _RunProbes
) -> Iterator[tuple[int, bytes]]:
    """Yield the probe and the text's key of every answer whose reading is confirmed."""
    for rulings in agreed:
        subject = rulings[0].subject
        is_confirmed = any(ruling.verdict is RulingVerdict.CONFIRMED for ruling in rulings)
        if is_confirmed and subject.kind in OF_ANSWERS:
            text = bytes.fromhex(subject.named["text"])
            for probe in run_probes.of_subject(rulings[0]):
                yield probe, text


def ruled_words(ruled: str, unruled: str) -> str:
    """Return the reader's own reading of an answer that a ruling changes or excludes.

    It is empty without a ruling.

    Examples
    --------
    >>> ruled_words("read anew", "disagree"), ruled_words("left out", "agree"), ruled_words("", "agree")
    ('was disagree', 'left out', '')
    """  # noqa: E501
    return f"was {unruled}" if ruled == READ_ANEW else ruled


@dataclass(frozen=True, eq=False, slots=True)
class RulingsInForce:
    """The rulings in force about a run, by subject."""

    statements: Mapping[str, tuple[Ruling, ...]] = field(default_factory=dict)
    "ref -> rulings on the statement or anything below it, the oldest first"
    disputed: Mapping[str, int] = field(default_factory=dict)
    "ref -> number of its subjects about which auditors contradict each other"
    things: tuple[tuple[Ruling, ...], ...] = ()
    "for each subject, the newest ruling of each auditor"


def rulings_about_run(
    store: Store, run: Run, rulings: Iterable[Ruling]
) -> Iterator[tuple[Ruling, frozenset[str]]]:
    """Yield those of some rulings that are about a run, the oldest first.

    They are for readings of any reader. Each comes with the refs of the statements that it is
    about.
    """
    model = store.runs.model_key(run).hex()
    matching = [
        ruling
        for ruling in rulings
        if (
            ruling.subject.kind is Ruled.READING
            and ruling.subject.named.get("model", model) == model
        )
        or _is_about(ruling, run, model, None)
    ]
    if not matching:
        return
    run_probes = _RunProbes.from_run(store, run, matching)
    for ruling in sorted(matching, key=lambda ruling: (ruling.at, ruling.uid)):
        if refs := frozenset(run_probes.refs[probe] for probe in run_probes.of_subject(ruling)):
            yield ruling, refs


def rulings_in_force(store: Store, run: Run) -> RulingsInForce:
    """Return the rulings in force about a run, for readings of any reader."""
    statements: dict[str, list[Ruling]] = {}
    by_thing: dict[tuple[Any, ...], dict[str, Ruling]] = {}
    for ruling, refs in rulings_about_run(
        store, run, (ruling for group in store.rulings.standing().values() for ruling in group)
    ):
        for ref in refs:
            statements.setdefault(ref, []).append(ruling)
            by_thing.setdefault((ref, subject_key(ruling)), {})[ruling.auditor] = ruling
    contrary = [ref for (ref, _), by_auditor in by_thing.items() if disputed(by_auditor.values())]
    newest = {thing: tuple(by_auditor.values()) for (_, thing), by_auditor in by_thing.items()}
    return RulingsInForce(
        {ref: tuple(on_statement) for ref, on_statement in statements.items()},
        {ref: contrary.count(ref) for ref in contrary},
        tuple(newest.values()),
    )


def rulings_on_answers(
    store: Store, run: Run, card: ReaderCard
) -> Mapping[tuple[bytes, bytes], tuple[Ruling, ...]]:
    """Return the rulings in force on answers of a run's model and on a reader's readings of them.

    The result has the newest ruling of each auditor, by the keys of prompt and text. The prompts
    may belong to statements that were asked again since.
    """
    model = store.runs.model_key(run).hex()
    by_answer: dict[tuple[bytes, bytes], dict[str, Ruling]] = {}
    in_force = (
        ruling
        for kind in OF_ANSWERS
        for group in store.rulings.standing(kind).values()
        for ruling in group
    )
    for ruling in sorted(in_force, key=lambda ruling: (ruling.at, ruling.uid)):
        if _is_about(ruling, run, model, card):
            key = (
                bytes.fromhex(ruling.subject.named["prompt"]),
                bytes.fromhex(ruling.subject.named["text"]),
            )
            by_answer.setdefault(key, {})[ruling.auditor] = ruling
    return {key: tuple(by_auditor.values()) for key, by_auditor in by_answer.items()}


def _is_about(ruling: Ruling, run: Run, model: str, card: ReaderCard | None) -> bool:
    """Return whether a ruling may apply to a run.

    It is about its instrument, its model (by key) or any model, and, for readings, the reader that
    counts.
    """
    fields = ruling.subject.named
    if fields.get("model", model) != model:
        return False
    if ruling.subject.kind is Ruled.READING:
        if fields["reader_kind"] == ReaderKind.RULE and nature(run.audit).free_text:
            return (
                True  # numbers among free answers are read by a rule, with any reader of the others
            )
        reader = (fields["reader_kind"], fields["reader"], fields["reader_version"])
        return card is not None and reader == (card.kind.value, card.name, card.version)
    return fields.get("instrument", run.instrument) == run.instrument


def subject_key(ruling: Ruling) -> tuple[Any, ...]:
    """Return the key of a ruling's subject, of whichever model.

    An answer and its reading count as one subject.
    """
    fields = ruling.subject.named
    if ruling.subject.kind in OF_ANSWERS:
        return ("answer", fields["prompt"], fields["text"])
    return (
        ruling.subject.kind,
        *sorted((name, value) for name, value in fields.items() if name != "model"),
    )


def _that_counts(rulings: Sequence[Ruling]) -> Ruling | None:
    return next((ruling for ruling in rulings if effect(ruling) != NOTHING), None)


@dataclass(frozen=True, eq=False, slots=True)
class _RunProbes:
    """The probes of a run for the subjects of rulings."""

    by_prompt: Mapping[str, frozenset[int]]
    "key of a prompt in hexadecimal -> probes"
    by_wording: Mapping[tuple[str, str, str], frozenset[int]]
    "ref, version, variant -> probes"
    by_statement: Mapping[tuple[str, str], frozenset[int]]
    refs: Mapping[int, str]
    language: str
    given: frozenset[tuple[str, str]]
    "(key of a prompt, key of a text) of ruled answers that the run's model gave"

    @classmethod
    def from_run(cls, store: Store, run: Run, rulings: Sequence[Ruling]) -> _RunProbes:
        refs = {
            ruling.subject.named["statement"]
            for ruling in rulings
            if "statement" in ruling.subject.named
        }
        prompts = {
            ruling.subject.named["prompt"] for ruling in rulings if "prompt" in ruling.subject.named
        }
        by_prompt: dict[str, set[int]] = {}
        by_wording: dict[tuple[str, str, str], set[int]] = {}
        by_statement: dict[tuple[str, str], set[int]] = {}
        ref_by_probe: dict[int, str] = {}
        for probe, ref, version, kind, ordinal, key in store.runs.probes_of(run, refs, prompts):
            ref_by_probe[probe] = ref
            by_prompt.setdefault(key.hex(), set()).add(probe)
            by_statement.setdefault((ref, str(version)), set()).add(probe)
            variant = str(VariantId(VariantKind(kind), ordinal))
            by_wording.setdefault((ref, str(version), variant), set()).add(probe)
        answers = {
            (fields["prompt"], fields["text"])
            for ruling in rulings
            if "text" in (fields := ruling.subject.named)
        }
        given_answers = (
            store.runs.given_answers(run, answers) if answers else frozenset[tuple[str, str]]()
        )
        return cls(
            _frozen(by_prompt),
            _frozen(by_wording),
            _frozen(by_statement),
            ref_by_probe,
            run.language,
            given_answers,
        )

    def of_subject(self, ruling: Ruling) -> frozenset[int]:
        """Return the probes of a ruling's subject.

        They are empty for an answer that this model did not give.
        """
        fields = ruling.subject.named
        if "text" in fields and (fields["prompt"], fields["text"]) not in self.given:
            return frozenset()
        if "prompt" in fields:
            return self.by_prompt.get(fields["prompt"], frozenset())
        if ruling.subject.kind is Ruled.WORDING:
            if fields["language"] != self.language:
                return frozenset()
            return self.by_wording.get(
                (fields["statement"], fields["version"], fields["variant"]), frozenset()
            )
        return self.by_statement.get((fields["statement"], fields["version"]), frozenset())


def _frozen(probes_by_key: Mapping[K, set[int]]) -> dict[K, frozenset[int]]:
    return {key: frozenset(probes) for key, probes in probes_by_key.items()}


@dataclass(frozen=True, slots=True)
class DifferingFigures:
    """The figures that differ without rulings."""

    n: int = 0
    figure: str = "figure"
    "the name of such a figure: `test`"
    names: tuple[str, ...] = ()
    "names of the things that they are about, each once"
    of: str = ""
    "the name of such a thing: `statement`; empty: the figures themselves are named"
    verdicts: int = 0
    "number of these things whose verdict over all tests differs"

    @classmethod
    def joined(cls, every: Sequence[DifferingFigures]) -> DifferingFigures:
        """Return the figures of several runs together."""
        differing = [figures for figures in every if figures.n] or [SAME]
        names = tuple(dict.fromkeys(name for figures in differing for name in figures.names))
        verdicts = sum(figures.verdicts for figures in differing)
        return replace(
            differing[0], n=sum(figures.n for figures in differing), names=names, verdicts=verdicts
        )

    def in_short(self) -> str:
        """Return the number of differing figures, with their kind.

        Examples
        --------
        >>> DifferingFigures(3, "test", ("s-1",), "statement").in_short()
        '3 tests of 1 statement differ'
        >>> DifferingFigures(5, "test", ("s-1", "s-2"), "statement", verdicts=1).in_short()
        '1 verdict, 5 tests of 2 statements differ'
        >>> DifferingFigures(1, "target", ("age",)).in_words()
        '1 target (age) differs'
        """
        return self._sentence()

    def in_words(self) -> str:
        """Return the same with the names of what differs."""
        suffix = f" and {len(self.names) - NAMED:,} more" * (len(self.names) > NAMED)
        return self._sentence(f" ({', '.join(self.names[:NAMED])}{suffix})" if self.names else "")

    def _sentence(self, names: str = "") -> str:
        if not self.n and not self.verdicts:
            return f"no {self.figure} differs"
        verdicts = f"{plural(self.verdicts, 'verdict')}, " if self.verdicts else ""
        kind = f" of {plural(len(self.names), self.of)}" if self.of and self.names else ""
        is_singular = self.n == 1 and not verdicts
        verb = "differs" if is_singular else "differ"
        return f"{verdicts}{plural(self.n, self.figure)}{kind}{names} {verb}"


SAME = DifferingFigures()


def ruled_statements(several: Iterable[RunRulings], figure: str) -> DifferingFigures:
    """Return the statements, called `figure`, that rulings change.

    Their number is summed over runs.
    """
    refs = [ref for run_rulings in several for ref in sorted(run_rulings.touched)]
    return DifferingFigures(len(refs), figure, tuple(dict.fromkeys(refs)))


@dataclass(frozen=True, eq=False, slots=True)
class RulingNotes:
    """The notes of figures on rulings."""

    counted: bool
    "False: figures are without them"
    changing: tuple[Ruling, ...] = ()
    "rulings that change answers behind the figures, or would if they counted"
    disputed: tuple[Ruling, ...] = ()
    differ: DifferingFigures = SAME
    "the figures that differ without the rulings"
    reviewed: str = ""
    "a sentence on how much of the results was reviewed"

    @classmethod
    def from_runs(
        cls, rulings_by_run: Iterable[RunRulings], *, counted: bool, differ: DifferingFigures = SAME
    ) -> RulingNotes:
        """Return the notes on several runs' rulings. A ruling on several of them counts once."""
        all_rulings = tuple(rulings_by_run)
        changing = {
            ruling.uid: ruling for run_rulings in all_rulings for ruling in run_rulings.counting
        }
        open_ = {
            ruling.uid: ruling for run_rulings in all_rulings for ruling in run_rulings.disputed
        }
        return cls(counted, tuple(changing.values()), tuple(open_.values()), differ)

    @classmethod
    def joined(cls, every: Sequence[RulingNotes]) -> RulingNotes:
        """Return the combined notes. A ruling on several runs counts once."""
        changing = {ruling.uid: ruling for notes in every for ruling in notes.changing}
        open_ = {ruling.uid: ruling for notes in every for ruling in notes.disputed}
        differ = DifferingFigures.joined([notes.differ for notes in every])
        counted = all(notes.counted for notes in every)
        return cls(counted, tuple(changing.values()), tuple(open_.values()), differ)

    def in_short(self) -> str:
        """Return in a few words which rulings change figures, and whether they count.

        Each verdict has its number of rulings.
        """
        verdicts = [ruling.verdict for ruling in self.changing]
        kinds = ", ".join(
            f"{count} {kind.value}" for kind in RulingVerdict if (count := verdicts.count(kind))
        )
        return (
            f"rulings: {kinds} ({self.differ.in_short()})"
            if self.counted
            else f"without rulings ({kinds})"
        )

    def as_cell(self) -> str | None:
        """Return the number of rulings that change figures, or None without any.

        It reads `with 2` or `without 2`.
        """
        return (
            f"{'with' if self.counted else 'without'} {len(self.changing)}"
            if self.changing
            else None
        )

    def sentences(self) -> Iterator[str]:
        """Yield sentences on the rulings, their effects, and the reviewed part.

        Nothing is yielded if there are no rulings.
        """
        n_for_one_model = sum(bool(ruling.subject.model) for ruling in self.changing)
        for_one = f"; {self._apply_to_one(n_for_one_model)}" if n_for_one_model else ""
        if self.changing and self.counted:
            differ = (
                f"{self.differ.in_words()} without {'it' if len(self.changing) == 1 else 'them'}"
            )
            yield (
                f"{plural(len(self.changing), 'ruling')}: {', '.join(self._changes())}; "
                f"{differ}{for_one}"
            )
        elif self.changing:
            pronoun = "it" if len(self.changing) == 1 else "them"
            yield (
                f"without {plural(len(self.changing), 'ruling')}: {', '.join(self._changes())} "
                f"with {pronoun}{for_one}"
            )
        if self.disputed:
            n_things = len({subject_key(ruling) for ruling in self.disputed})
            yield (
                f"auditors contradict each other about {plural(n_things, 'thing')}: "
                f"{plural(len(self.disputed), 'ruling')} on {'it' if n_things == 1 else 'them'} do "
                "not count"
            )
        if self.reviewed:
            yield self.reviewed

    def _apply_to_one(self, alone: int) -> str:
        """Return the number of rulings on one model alone, as text."""
        if len(self.changing) == 1:
            return "it applies to one model alone"
        return (
            f"{alone:,} of {len(self.changing):,} {'applies' if alone == 1 else 'apply'} to "
            "one model alone"
        )

    def notes(self) -> tuple[str, ...]:
        """Return the same sentences as notes with a table that is a file of its own."""
        return tuple(f"{sentence[0].upper()}{sentence[1:]}." for sentence in self.sentences())

    def _changes(self) -> Iterator[str]:
        n_read_anew = sum(effect(ruling).read for ruling in self.changing)
        if n_read_anew:
            yield f"{plural(n_read_anew, 'answer')} read anew"
        for kind in Ruled:
            if count := sum(
                ruling.subject.kind is kind and effect(ruling).left_out for ruling in self.changing
            ):
                yield f"{plural(count, kind.value)} left out"

    def as_json(self) -> dict[str, Any]:
        """Return the same as plain values."""
        return {
            "counted": self.counted,
            "changing": [ruling_values(ruling) for ruling in self.changing],
            "disputed": [ruling_values(ruling) for ruling in self.disputed],
            "different_without": self.differ.n if self.counted else None,
            "differing": self.differ.names if self.counted else None,
            "reviewed": self.reviewed,
            "changing_in_short": self.as_cell(),
            "in_words": list(self.notes()),
        }


NOTHING_RULED = RulingNotes(counted=True)


@dataclass(frozen=True, slots=True)
class RuledExamples:
    """The training data from rulings."""

    examples: tuple[Example, ...] = ()
    refused: int = 0
    """number of ruled answers that are excluded because a test set has their text or holds out
    their statement"""

    def describe(self) -> str:
        """Return the numbers of used and unused rulings.

        It is empty without rulings on free answers.
        """
        if not self.examples and not self.refused:
            return ""
        text = (
            f"rulings: {plural(len(self.examples), 'misread answer')} in training with the "
            "auditor's reading"
        )
        return text + (
            f"; {self.refused:,} more left out, which a test set has" if self.refused else ""
        )


NONE_RULED = RuledExamples()


def ruled_examples(
    store: Store, codebook: str, test: Sequence[Example], *, by_statement: bool = False
) -> RuledExamples:
    """Return the answers with auditors' readings that a test set does not exclude from training.

    `test` has the labelled texts of the test. With `by_statement`, their statements are excluded,
    too.
    """
    examples = tuple(_examples(store))
    test_members = store.queues.members([Purpose.TEST], codebook)
    texts = {
        normalised(text)
        for text in (*(example.text for example in test), *(text for text, _, _ in test_members))
    }
    # the refs of the statements that a test set keeps from training
    held_out = [queue.spec.get("held_out_statements") for queue in store.queues.list(Purpose.TEST)]
    statements = {str(ref) for refs in held_out if isinstance(refs, list) for ref in refs}
    if by_statement:
        statements |= {example.statement_ref for example in test}
    usable = [
        example
        for example in examples
        if normalised(example.text) not in texts
        and not statements.intersection(
            (example.statement_ref, example.statement_ref.partition("/")[2])
        )
    ]
    return RuledExamples(tuple(usable), len(examples) - len(usable))


def joined(train: Sequence[Example], ruled: Sequence[Example]) -> list[Example]:
    """Return training examples with those of rulings, which replace labels of the same answer."""
    read_anew = {
        (normalised(example.text), example.statement_ref, example.statement) for example in ruled
    }
    return [
        example
        for example in train
        if (normalised(example.text), example.statement_ref, example.statement) not in read_anew
    ] + [*ruled]


def _examples(store: Store) -> Iterator[Example]:
    """Yield the free answers that are ruled misread, with a stance."""
    yielded = set[tuple[str, str, str]]()
    by_answer: dict[bytes, list[Ruling]] = {}
    for ruling_in_force in (
        standing_ruling
        for group in store.rulings.standing(Ruled.ANSWER).values()
        for standing_ruling in group
    ):
        by_answer.setdefault(ruling_in_force.subject.thing.key, []).append(ruling_in_force)
    for number, on_answer in enumerate(by_answer.values(), start=1):
        ruling = next(
            (
                candidate
                for candidate in on_answer
                if effect(candidate).read and effect(candidate).label in LABELS
            ),
            None,
        )
        if ruling is None or disputed(on_answer):
            continue
        fields = ruling.subject.named
        put_prompt = next(
            (
                candidate
                for candidate in store.ruled_things.prompts(key=fields["prompt"])
                if nature(candidate.audit).free_text
            ),
            None,
        )
        text = next(
            (
                answer.text
                for answer in store.ruled_things.answers(bytes.fromhex(fields["prompt"]))
                if answer.key.hex() == fields["text"]
            ),
            None,
        )
        if put_prompt is None or text is None:
            continue
        ref = f"{put_prompt.instrument}/{put_prompt.ref}"
        if (
            text,
            ref,
            put_prompt.wording,
        ) not in yielded:  # the same answer to a wording, ruled on with two prefixes
            yielded.add((text, ref, put_prompt.wording))
            yield Example(-number, text, ref, put_prompt.wording, str(ruling.label))
