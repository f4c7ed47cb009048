"""The effects of auditors' rulings on the answers of a run, and the notes on them.

A ruling changes only its subject. *Misread* gives an answer text to one prompt the correct reading.
Rulings on answers apply to the model in whose review they were made, unless the auditor ruled for
all models. *Excluded* and *at fault* leave a subject out: its answers are shown and counted, and
stay planned, but count as unreadable. *Confirmed* and *look again* change nothing. If auditors
contradict each other about a subject, none of their rulings on it counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
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
    Verdict,
    disputed,
    effect,
    plain,
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
        """Return the keys of the answers with rulings."""
        return frozenset(key for of in self.answers.values() for key in of)

    @property
    def as_given(self) -> RunRulings:
        """Return the effects of right readings without those of exclusions: what the model
        answered.

        Shares of unreadable, refused, truncated and unread answers are about that, so no exclusion
        changes them.
        """
        if not self.leaves_out:
            return self
        return RunRulings(answers=self.read_anew, counting=self.counting, confirmed=self.confirmed)

    @property
    def faults(self) -> RunRulings:
        """Return the effects of exclusions without right readings: what the reader said, of what is
        in order.
        """
        out = {
            probe: {text: one for text, one in of.items() if one.left_out}
            for probe, of in self.answers.items()
        }
        return RunRulings(
            self.probes, {probe: of for probe, of in out.items() if of}, counting=self.counting
        )

    @property
    def leaves_out(self) -> bool:
        """Return whether a ruling leaves answers out."""
        return bool(self.probes) or any(
            one.left_out for of in self.answers.values() for one in of.values()
        )

    def effect(self, probe: int, text: bytes) -> Effect:
        """Return the effect on an answer (key of its text) to a probe."""
        return OUT if probe in self.probes else self.answers.get(probe, {}).get(text, NOTHING)


NO_RULINGS = RunRulings()


def as_ruled(row: ResponseRow, probe: int, rulings: RunRulings) -> ResponseRow:
    """Return an answer to a probe with the reading that figures use when rulings count."""
    on_answer = NOTHING if row.truncated else rulings.effect(probe, text_key(row.text))
    of = OUT if probe in rulings.probes else on_answer
    if of == NOTHING:
        return row
    label, ruled = (row.label, LEFT_OUT) if of.left_out else (of.label, READ_ANEW)
    return replace(row, label=label, ruled=ruled, unruled=row.label)


def of_run(store: Store, run: Run, card: ReaderCard | None) -> RunRulings:
    """Return the effects of the rulings in force in a run with a given reader."""
    standing = [ruling for of in store.rulings.standing().values() for ruling in of]
    if not standing:
        return NO_RULINGS
    model = store.runs.model_key(run).hex()
    standing = [ruling for ruling in standing if _is_about(ruling, run, model, card)]
    places = _Places.of(store, run, standing)
    things: dict[tuple[Any, ...], dict[str, Ruling]] = {}
    for ruling in sorted(standing, key=lambda one: (one.at, one.uid)):
        if places.of_subject(ruling):
            things.setdefault(thing_of(ruling), {})[ruling.auditor] = (
                ruling  # the newest of each auditor
            )
    agreed = {at: tuple(of.values()) for at, of in things.items() if not disputed(of.values())}
    counting = [one for of in agreed.values() if (one := _that_counts(of)) is not None]
    whole = [one for one in counting if one.subject.kind not in OF_ANSWERS]
    probes = frozenset(probe for one in whole for probe in places.of_subject(one))
    answers: dict[int, dict[bytes, Effect]] = {}
    read_anew: dict[int, dict[bytes, Effect]] = {}
    for one in counting:
        if one.subject.kind in OF_ANSWERS:
            text, found = bytes.fromhex(one.subject.named["text"]), effect(one)
            for probe in places.of_subject(one):
                if probe not in probes:
                    answers.setdefault(probe, {})[text] = found
                if found.read:
                    read_anew.setdefault(probe, {})[text] = found
    confirmed = frozenset(
        (probe, bytes.fromhex(of[0].subject.named["text"]))
        for of in agreed.values()
        if of[0].subject.kind in OF_ANSWERS and any(one.verdict is Verdict.CONFIRMED for one in of)
        for probe in places.of_subject(of[0])
    )
    return RunRulings(
        probes=probes,
        confirmed=confirmed,
        answers=answers,
        read_anew=read_anew,
        counting=tuple(counting),
        disputed=tuple(
            one
            for at, of in things.items()
            if at not in agreed
            for one in of.values()
            if one.verdict is not Verdict.LOOK_AGAIN
        ),
        touched=frozenset(places.refs[probe] for probe in (*probes, *answers)),
    )


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
class RulingsOn:
    """The rulings in force about a run, by subject."""

    statements: Mapping[str, tuple[Ruling, ...]] = field(default_factory=dict)
    "ref -> rulings on the statement or anything below it, the oldest first"
    disputed: Mapping[str, int] = field(default_factory=dict)
    "ref -> number of its subjects about which auditors contradict each other"
    things: tuple[tuple[Ruling, ...], ...] = ()
    "for each subject, the newest ruling of each auditor"


def about_run(
    store: Store, run: Run, rulings: Iterable[Ruling]
) -> Iterator[tuple[Ruling, frozenset[str]]]:
    """Yield those of some rulings that are about a run, for readings of any reader, the oldest
    first, each with the refs of the statements that it is about.
    """
    model = store.runs.model_key(run).hex()
    meant = [
        one
        for one in rulings
        if (one.subject.kind is Ruled.READING and one.subject.named.get("model", model) == model)
        or _is_about(one, run, model, None)
    ]
    if not meant:
        return
    places = _Places.of(store, run, meant)
    for one in sorted(meant, key=lambda one: (one.at, one.uid)):
        if refs := frozenset(places.refs[probe] for probe in places.of_subject(one)):
            yield one, refs


def rulings_on(store: Store, run: Run) -> RulingsOn:
    """Return the rulings in force about a run, for readings of any reader."""
    statements: dict[str, list[Ruling]] = {}
    things: dict[tuple[Any, ...], dict[str, Ruling]] = {}
    for one, refs in about_run(
        store, run, (one for of in store.rulings.standing().values() for one in of)
    ):
        for ref in refs:
            statements.setdefault(ref, []).append(one)
            things.setdefault((ref, thing_of(one)), {})[one.auditor] = one
    contrary = [ref for (ref, _), of in things.items() if disputed(of.values())]
    every = {thing: tuple(of.values()) for (_, thing), of in things.items()}
    return RulingsOn(
        {ref: tuple(of) for ref, of in statements.items()},
        {ref: contrary.count(ref) for ref in contrary},
        tuple(every.values()),
    )


def on_answers(
    store: Store, run: Run, card: ReaderCard
) -> Mapping[tuple[bytes, bytes], tuple[Ruling, ...]]:
    """Return the rulings in force on answers of a run's model and on a reader's readings of them.

    The result has the newest ruling of each auditor, by the keys of prompt and text. The prompts
    may belong to statements that were asked again since.
    """
    model = store.runs.model_key(run).hex()
    found: dict[tuple[bytes, bytes], dict[str, Ruling]] = {}
    every = (
        one for kind in OF_ANSWERS for of in store.rulings.standing(kind).values() for one in of
    )
    for one in sorted(every, key=lambda one: (one.at, one.uid)):
        if _is_about(one, run, model, card):
            at = (
                bytes.fromhex(one.subject.named["prompt"]),
                bytes.fromhex(one.subject.named["text"]),
            )
            found.setdefault(at, {})[one.auditor] = one
    return {at: tuple(of.values()) for at, of in found.items()}


def _is_about(ruling: Ruling, run: Run, model: str, card: ReaderCard | None) -> bool:
    """Return whether a ruling may apply to a run: it is about its instrument, its model (by key) or
    any model, and, for readings, the reader that counts.
    """
    named = ruling.subject.named
    if named.get("model", model) != model:
        return False
    if ruling.subject.kind is Ruled.READING:
        if named["reader_kind"] == ReaderKind.RULE and nature(run.audit).free_text:
            return (
                True  # numbers among free answers are read by a rule, with any reader of the others
            )
        of = (named["reader_kind"], named["reader"], named["reader_version"])
        return card is not None and of == (card.kind.value, card.name, card.version)
    return named.get("instrument", run.instrument) == run.instrument


def thing_of(ruling: Ruling) -> tuple[Any, ...]:
    """Return the key of a ruling's subject, of whichever model: an answer and its reading count as
    one subject.
    """
    named = ruling.subject.named
    if ruling.subject.kind in OF_ANSWERS:
        return ("answer", named["prompt"], named["text"])
    return (
        ruling.subject.kind,
        *sorted((name, part) for name, part in named.items() if name != "model"),
    )


def _that_counts(rulings: Sequence[Ruling]) -> Ruling | None:
    return next((ruling for ruling in rulings if effect(ruling) != NOTHING), None)


@dataclass(frozen=True, eq=False, slots=True)
class _Places:
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
    def of(cls, store: Store, run: Run, rulings: Sequence[Ruling]) -> _Places:
        refs = {
            one.subject.named["statement"] for one in rulings if "statement" in one.subject.named
        }
        prompts = {one.subject.named["prompt"] for one in rulings if "prompt" in one.subject.named}
        by_prompt: dict[str, set[int]] = {}
        by_wording: dict[tuple[str, str, str], set[int]] = {}
        by_statement: dict[tuple[str, str], set[int]] = {}
        of: dict[int, str] = {}
        for probe, ref, version, kind, ordinal, key in store.runs.probes_of(run, refs, prompts):
            of[probe] = ref
            by_prompt.setdefault(key.hex(), set()).add(probe)
            by_statement.setdefault((ref, str(version)), set()).add(probe)
            variant = str(VariantId(VariantKind(kind), ordinal))
            by_wording.setdefault((ref, str(version), variant), set()).add(probe)
        answers = {
            (named["prompt"], named["text"])
            for one in rulings
            if "text" in (named := one.subject.named)
        }
        given = store.runs.given_answers(run, answers) if answers else frozenset[tuple[str, str]]()
        return cls(
            _frozen(by_prompt), _frozen(by_wording), _frozen(by_statement), of, run.language, given
        )

    def of_subject(self, ruling: Ruling) -> frozenset[int]:
        """Return the probes of a ruling's subject, or none for an answer that this model did not
        give.
        """
        named = ruling.subject.named
        if "text" in named and (named["prompt"], named["text"]) not in self.given:
            return frozenset()
        if "prompt" in named:
            return self.by_prompt.get(named["prompt"], frozenset())
        if ruling.subject.kind is Ruled.WORDING:
            if named["language"] != self.language:
                return frozenset()
            return self.by_wording.get(
                (named["statement"], named["version"], named["variant"]), frozenset()
            )
        return self.by_statement.get((named["statement"], named["version"]), frozenset())


def _frozen(of: Mapping[K, set[int]]) -> dict[K, frozenset[int]]:
    return {key: frozenset(probes) for key, probes in of.items()}


@dataclass(frozen=True, slots=True)
class Differing:
    """The figures that differ without rulings."""

    n: int = 0
    figure: str = "figure"
    "the name of such a figure: `test`"
    names: tuple[str, ...] = ()
    "what they are about, each once"
    of: str = ""
    "the name of such a thing: `statement`; empty: the figures themselves are named"
    verdicts: int = 0
    "number of these things whose verdict over all tests differs"

    @classmethod
    def joined(cls, every: Sequence[Differing]) -> Differing:
        """Return the figures of several runs together."""
        found = [one for one in every if one.n] or [SAME]
        names = tuple(dict.fromkeys(name for one in found for name in one.names))
        verdicts = sum(one.verdicts for one in found)
        return replace(found[0], n=sum(one.n for one in found), names=names, verdicts=verdicts)

    def in_short(self) -> str:
        """Return the number of differing figures, with their kind.

        Examples
        --------
        >>> Differing(3, "test", ("s-1",), "statement").in_short()
        '3 tests of 1 statement differ'
        >>> Differing(5, "test", ("s-1", "s-2"), "statement", verdicts=1).in_short()
        '1 verdict, 5 tests of 2 statements differ'
        >>> Differing(1, "target", ("age",)).in_words()
        '1 target (age) differs'
        """
        return self._said()

    def in_words(self) -> str:
        """Return the same with the names of what differs."""
        more = f" and {len(self.names) - NAMED:,} more" * (len(self.names) > NAMED)
        return self._said(f" ({', '.join(self.names[:NAMED])}{more})" if self.names else "")

    def _said(self, names: str = "") -> str:
        if not self.n and not self.verdicts:
            return f"no {self.figure} differs"
        verdicts = f"{plural(self.verdicts, 'verdict')}, " if self.verdicts else ""
        of = f" of {plural(len(self.names), self.of)}" if self.of and self.names else ""
        one = self.n == 1 and not verdicts
        return (
            f"{verdicts}{plural(self.n, self.figure)}{of}{names} {'differs' if one else 'differ'}"
        )


SAME = Differing()


def touched(several: Iterable[RunRulings], figure: str) -> Differing:
    """Return the statements, called `figure`, that rulings change. Their number is summed over
    runs.
    """
    refs = [ref for found in several for ref in sorted(found.touched)]
    return Differing(len(refs), figure, tuple(dict.fromkeys(refs)))


@dataclass(frozen=True, eq=False, slots=True)
class Told:
    """The notes of figures on rulings."""

    counted: bool
    "False: figures are without them"
    changing: tuple[Ruling, ...] = ()
    "rulings that change answers behind the figures, or would if they counted"
    disputed: tuple[Ruling, ...] = ()
    differ: Differing = SAME
    "the figures that differ without the rulings"
    reviewed: str = ""
    "a sentence on how much of the results was reviewed"

    @classmethod
    def of(cls, found: Iterable[RunRulings], *, counted: bool, differ: Differing = SAME) -> Told:
        """Return the notes on several runs' rulings. A ruling on several of them counts once."""
        every = tuple(found)
        changing = {ruling.uid: ruling for one in every for ruling in one.counting}
        open_ = {ruling.uid: ruling for one in every for ruling in one.disputed}
        return cls(counted, tuple(changing.values()), tuple(open_.values()), differ)

    @classmethod
    def joined(cls, every: Sequence[Told]) -> Told:
        """Return the combined notes. A ruling on several runs counts once."""
        changing = {ruling.uid: ruling for one in every for ruling in one.changing}
        open_ = {ruling.uid: ruling for one in every for ruling in one.disputed}
        differ = Differing.joined([one.differ for one in every])
        counted = all(one.counted for one in every)
        return cls(counted, tuple(changing.values()), tuple(open_.values()), differ)

    def in_short(self) -> str:
        """Return in a few words which rulings change figures, how many of them, and whether they
        count.
        """
        verdicts = [one.verdict for one in self.changing]
        kinds = ", ".join(f"{n} {kind.value}" for kind in Verdict if (n := verdicts.count(kind)))
        return (
            f"rulings: {kinds} ({self.differ.in_short()})"
            if self.counted
            else f"without rulings ({kinds})"
        )

    def as_cell(self) -> str | None:
        """Return the number of rulings that change figures, `with 2` or `without 2`, or None
        without any.
        """
        return (
            f"{'with' if self.counted else 'without'} {len(self.changing)}"
            if self.changing
            else None
        )

    def sentences(self) -> Iterator[str]:
        """Yield sentences on the rulings, their effects, and the reviewed part, or none without
        rulings.
        """
        alone = sum(bool(one.subject.model) for one in self.changing)
        for_one = f"; {self._apply_to_one(alone)}" if alone else ""
        if self.changing and self.counted:
            differ = (
                f"{self.differ.in_words()} without {'it' if len(self.changing) == 1 else 'them'}"
            )
            yield (
                f"{plural(len(self.changing), 'ruling')}: {', '.join(self._changes())}; "
                f"{differ}{for_one}"
            )
        elif self.changing:
            them = "it" if len(self.changing) == 1 else "them"
            yield (
                f"without {plural(len(self.changing), 'ruling')}: {', '.join(self._changes())} "
                f"with {them}{for_one}"
            )
        if self.disputed:
            things = len({thing_of(ruling) for ruling in self.disputed})
            yield (
                f"auditors contradict each other about {plural(things, 'thing')}: "
                f"{plural(len(self.disputed), 'ruling')} on {'it' if things == 1 else 'them'} do "
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
        return tuple(f"{one[0].upper()}{one[1:]}." for one in self.sentences())

    def _changes(self) -> Iterator[str]:
        anew = sum(effect(one).read for one in self.changing)
        if anew:
            yield f"{plural(anew, 'answer')} read anew"
        for kind in Ruled:
            if n := sum(one.subject.kind is kind and effect(one).left_out for one in self.changing):
                yield f"{plural(n, kind.value)} left out"

    def as_json(self) -> dict[str, Any]:
        """Return the same as plain values."""
        return {
            "counted": self.counted,
            "changing": [plain(one) for one in self.changing],
            "disputed": [plain(one) for one in self.disputed],
            "different_without": self.differ.n if self.counted else None,
            "differing": self.differ.names if self.counted else None,
            "reviewed": self.reviewed,
            "changing_in_short": self.as_cell(),
            "in_words": list(self.notes()),
        }


NOTHING_RULED = Told(counted=True)


@dataclass(frozen=True, slots=True)
class RuledExamples:
    """The training data from rulings."""

    examples: tuple[Example, ...] = ()
    refused: int = 0
    """number of ruled answers that are excluded because a test set has their text or holds out
    their statement"""

    def describe(self) -> str:
        """Return the numbers of used and unused rulings, or an empty string without rulings on free
        answers.
        """
        if not self.examples and not self.refused:
            return ""
        said = (
            f"rulings: {plural(len(self.examples), 'misread answer')} in training with the "
            "auditor's reading"
        )
        return said + (
            f"; {self.refused:,} more left out, which a test set has" if self.refused else ""
        )


NONE_RULED = RuledExamples()


def ruled_examples(
    store: Store, codebook: str, test: Sequence[Example], *, by_statement: bool = False
) -> RuledExamples:
    """Return the answers with auditors' readings, without those that a test set excludes from
    training.

    `test`: the labelled texts of the test; `by_statement`: their statements are excluded, too.
    """
    found = tuple(_examples(store))
    drawn = store.queues.members([Purpose.TEST], codebook)
    texts = {
        normalised(text)
        for text in (*(example.text for example in test), *(text for text, _, _ in drawn))
    }
    # the refs of the statements that a test set keeps from training
    held = [queue.spec.get("held_out_statements") for queue in store.queues.list(Purpose.TEST)]
    statements = {str(ref) for refs in held if isinstance(refs, list) for ref in refs}
    if by_statement:
        statements |= {example.statement_ref for example in test}
    kept = [
        one
        for one in found
        if normalised(one.text) not in texts
        and not statements.intersection((one.statement_ref, one.statement_ref.partition("/")[2]))
    ]
    return RuledExamples(tuple(kept), len(found) - len(kept))


def joined(train: Sequence[Example], ruled: Sequence[Example]) -> list[Example]:
    """Return training examples with those of rulings, which replace labels of the same answer."""
    read = {(normalised(one.text), one.statement_ref, one.statement) for one in ruled}
    return [
        one for one in train if (normalised(one.text), one.statement_ref, one.statement) not in read
    ] + [*ruled]


def _examples(store: Store) -> Iterator[Example]:
    """Yield the free answers that are ruled misread, with a stance."""
    seen = set[tuple[str, str, str]]()
    every: dict[bytes, list[Ruling]] = {}
    for one in (one for of in store.rulings.standing(Ruled.ANSWER).values() for one in of):
        every.setdefault(one.subject.thing.key, []).append(one)
    for number, of in enumerate(every.values(), start=1):
        ruling = next((one for one in of if effect(one).read and effect(one).label in LABELS), None)
        if ruling is None or disputed(of):
            continue
        named = ruling.subject.named
        put = next(
            (
                one
                for one in store.ruled_things.prompts(key=named["prompt"])
                if nature(one.audit).free_text
            ),
            None,
        )
        text = next(
            (
                one.text
                for one in store.ruled_things.answers(bytes.fromhex(named["prompt"]))
                if one.key.hex() == named["text"]
            ),
            None,
        )
        if put is None or text is None:
            continue
        ref = f"{put.instrument}/{put.ref}"
        if (
            text,
            ref,
            put.wording,
        ) not in seen:  # the same answer to a wording, ruled on with two prefixes
            seen.add((text, ref, put.wording))
            yield Example(-number, text, ref, put.wording, str(ruling.label))
