"""The names of subjects of rulings, and the possible readings of an answer.

    s-01                                   a statement, in the latest version asked
    s-01/negation                          a wording
    s-01/negation/personal-1[/swapped]     a prompt: the wording under a template, with its labels swapped
    s-01/negation/personal-1/=8f14e45f     an answer to it, by the first digits of the key of its text
    @3c59dc04, @3c59dc04/=8f14e45f         a prompt by the first digits of its key, and an answer to it
    ANSWER@label-words                     the reading of an answer by a rule or a classifier

`rulings STORE --of s-01` prints these names.
"""  # noqa: E501

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from stores.annotation.reviews import Labelled, ReadAnswer
from stores.annotation.rulings import DIGITS, GivenAnswer, GivenReading, PutPrompt
from stores.core.store import Store
from stores.runs.run_rows import Run
from workbench.domain.choices import LETTERS
from workbench.domain.names import plural
from workbench.domain.prompts import LETTER
from workbench.domain.readings import LABEL_WORDS, STANCES, ReaderCard, ReaderKind, Stance, nature
from workbench.domain.responses import EXACT
from workbench.domain.reviews import READERS_DISAGREE, Signal
from workbench.domain.rulings import RULED_ON, Ruled, Ruling, Subject, Verdict, of_one_model
from workbench.errors import UnknownName, UsageError
from workbench.evidence.readings import RULES, read, readers
from workbench.evidence.runs import models_named

UNREADABLE = "unreadable"
"reading of a misread answer without readable content"
OFFERED = "options"
"axis of a prompt: the number of offered letters"
SWAPPED = "swapped"
STATEMENT = ("instrument", "statement", "version")
"fields that identify a statement"
TOLD = 40
"most characters of an answer quoted in a sentence"
LEAST = 4
"fewest digits of a key in a name"
KEY = re.compile(rf"@([0-9a-f]{{{LEAST},32}})")
ANSWER = re.compile(rf"=([0-9a-f]{{{LEAST},32}})")


@dataclass(frozen=True, slots=True)
class Thing:
    """A subject of a ruling."""

    subject: Subject
    name: str
    "its name, as typed by people"
    words: str
    "the text of it"
    labels: tuple[str, ...] = field(default=())
    "possible readings of an answer; empty for other subjects"
    read: tuple[str, str] | None = None
    """(reader, label): how the reader that counts reads an answer, or the reader of a reading reads
    it; None: unknown"""

    @property
    def scope(self) -> str:
        """The reach of a ruling on it: `this answer`, `all answers to this prompt (personal-1
        swapped)`.
        """
        named, below = self.subject.named, self.name.rpartition("/")[2]
        if self.subject.kind is Ruled.STATEMENT:
            return f"this statement ({self.name})"
        if self.subject.kind is Ruled.WORDING:
            return f"this wording ({below})"
        if self.subject.kind is Ruled.PROMPT:
            return f"all answers to this prompt ({self.words.partition(' under ')[2]})"
        if self.subject.kind is Ruled.READING:
            return f"this answer as {named['reader']} reads it"
        return "this answer, whoever reads it"

    @property
    def right_readings(self) -> tuple[str, ...]:
        """The possible right readings of a misread answer: all but its reader's own."""
        return tuple(label for label in self.labels if self.read is None or label != self.read[1])

    def no_misreading(self, label: str) -> str:
        """Return why an answer is not misread where its right reading is this, and what to do."""
        assert self.read is not None, "somebody reads it so"
        who = (
            f"{self.read[0]}, the reader that counts,"
            if self.subject.kind is Ruled.ANSWER
            else self.read[0]
        )
        return (
            f"{who} already reads it as {label}; to say that it is right, rule: {Verdict.CONFIRMED}"
        )


def statement(store: Store, instrument: str, ref: str) -> Thing:
    """Return a statement in the latest version asked. Raises UnknownName."""
    versions = store.ruled_things.versions(instrument, ref)
    if not versions:
        raise UnknownName(
            f"{instrument} has no statement {ref!r}; workbench statements STORE lists them"
        )
    return statement_version(store, instrument, ref, versions[-1])


def statement_version(store: Store, instrument: str, ref: str, version: int) -> Thing:
    """Return a statement in a version."""
    wordings = store.ruled_things.variants(instrument, ref, version)
    named = {"instrument": instrument, "statement": ref, "version": str(version)}
    return Thing(Subject(Ruled.STATEMENT, named), ref, wordings[0][2] if wordings else "")


def wordings(store: Store, of: Thing) -> tuple[Thing, ...]:
    """Return the wordings of a statement in all languages. With several, names include the
    language.
    """
    named = of.subject.named
    found = store.ruled_things.variants(
        named["instrument"], named["statement"], int(named["version"])
    )
    several = len({language for language, _, _ in found}) > 1
    return tuple(
        Thing(
            Subject(Ruled.WORDING, {**named, "language": language, "variant": variant}),
            f"{named['statement']}/{variant}{f':{language}' * several}",
            text,
        )
        for language, variant, text in found
    )


def prompt(put: PutPrompt, name: str = "") -> Thing:
    """Return a prompt as a subject of rulings. name : empty: the key is used"""
    axes = ", ".join(f"{axis} {value}" for axis, value in put.axes.items())
    words = f"{put.ref} {put.variant} under {put.template} {put.order}" + (
        f" ({axes})" if axes else ""
    )
    key = put.key.hex()
    return Thing(Subject(Ruled.PROMPT, {"prompt": key}), name or f"@{key[:DIGITS]}", words)


def answer(
    store: Store, put: PutPrompt, given: GivenAnswer, of: str, by: str | None = None
) -> Thing:
    """Return an answer to a prompt called `of`. `by` is the reader that counts, by default the
    usual one.
    """
    key = given.key.hex()
    subject = Subject(Ruled.ANSWER, {"prompt": put.key.hex(), "text": key})
    labels = labels_of(put)
    counts = _that_counts(store, put, given, by)
    read = (
        None
        if counts is None
        else (counts.reader, counts.label if counts.label in labels else UNREADABLE)
    )
    return Thing(subject, f"{of}/={key[:DIGITS]}", given.text, labels, read)


def _that_counts(
    store: Store, put: PutPrompt, given: GivenAnswer, by: str | None
) -> GivenReading | None:
    """Return the reading of an answer that figures count, or None if people's labels count or there
    is none.

    See `Readings.by`.
    """
    found = store.ruled_things.readings(put.key, given.key)
    rules = [one for one in found if one.kind == ReaderKind.RULE]
    if nature(put.audit).free_text:
        # A rule reads numbers, and leaves words to others.
        number = next((one for one in rules if one.label), None)
        newest = next((one.name for one in reversed(store.classifiers.list())), "")
        others = (
            one
            for one in found
            if one.kind == ReaderKind.CLASSIFIER and one.reader == (by or newest)
        )
        return number or next(others, None)
    of_labels = readers()
    wanted = by if by in of_labels else LABEL_WORDS
    return next((one for one in rules if one.reader == wanted or one.reader not in of_labels), None)


def read_by(store: Store, thing: Thing, by: str | None) -> Thing:
    """Return a subject as a reader reads it, if it is an answer. `by` is as in `answer`."""
    named = thing.subject.named
    if by is None or thing.subject.kind is not Ruled.ANSWER:
        return thing
    put = store.ruled_things.prompts(key=named["prompt"])[0]
    given = GivenAnswer(put.key, bytes.fromhex(named["text"]), thing.words, 0)
    return replace(thing, read=answer(store, put, given, "", by).read)


def short_prompt(key: bytes) -> str:
    """Return the name of a prompt by its key."""
    return f"@{key.hex()[:DIGITS]}"


def short_answer(prompt: bytes, text: bytes) -> str:
    """Return the name of an answer by the keys of prompt and text."""
    return f"{short_prompt(prompt)}/={text.hex()[:DIGITS]}"


def reading(of: Thing, given: GivenReading) -> Thing:
    """Return a reader's reading of an answer as a subject."""
    named = {"reader_kind": given.kind, "reader": given.reader, "reader_version": given.version}
    read = given.reader, (given.label if given.label in of.labels else None) or UNREADABLE
    subject = Subject(Ruled.READING, {**of.subject.named, **named})
    return Thing(
        subject,
        f"{of.name}@{given.reader}",
        f"{given.kind} {read[0]} reads: {read[1]}",
        of.labels,
        read,
    )


def labels_of(put: PutPrompt) -> tuple[str, ...]:
    """Return the possible readings of an answer to a prompt, or none if answers are not read."""
    if nature(put.audit).free_text:
        return (*map(str, STANCES), UNREADABLE)
    return (*possible(put.axes, letters=put.scale == LETTER), UNREADABLE)


def possible(axes: Mapping[str, str], *, letters: bool = False) -> tuple[str, ...]:
    """Return the readings of an answer that figures count: the offered letters, or agreement and
    disagreement.
    """
    if letters or OFFERED in axes:
        return tuple(LETTERS[: int(axes.get(OFFERED, len(LETTERS)))])
    return Stance.AGREE.value, Stance.DISAGREE.value


def below(store: Store, of: Thing) -> tuple[Thing, ...]:
    """Return the subjects directly below a subject: wordings, prompts of a wording, answers to a
    prompt.
    """
    named = of.subject.named
    if of.subject.kind is Ruled.STATEMENT:
        return wordings(store, of)
    if of.subject.kind is Ruled.WORDING:
        put = _of_wording(store, of)
        return tuple(prompt(one, name) for one, name in zip(put, _names(of.name, put), strict=True))
    if of.subject.kind is Ruled.PROMPT:
        (put_, *_) = store.ruled_things.prompts(key=named["prompt"])
        return tuple(
            answer(store, put_, given, of.name) for given in store.ruled_things.answers(put_.key)
        )
    if of.subject.kind is Ruled.ANSWER:
        found = store.ruled_things.readings(
            bytes.fromhex(named["prompt"]), bytes.fromhex(named["text"])
        )
        return tuple(reading(of, given) for given in found)
    return ()


def _of_wording(store: Store, of: Thing) -> tuple[PutPrompt, ...]:
    named = of.subject.named
    return tuple(
        put
        for put in store.ruled_things.prompts(
            instrument=named["instrument"], ref=named["statement"]
        )
        if (str(put.version), put.language, put.variant)
        == (named["version"], named["language"], named["variant"])
    )


def _names(of: str, every: Sequence[PutPrompt]) -> list[str]:
    """Return the names of a wording's prompts: by template and order if these are unique, else by
    keys.
    """
    names = [f"{of}/{put.template}{f'/{SWAPPED}' * put.inverted}" for put in every]
    return [
        name if names.count(name) == 1 else f"@{put.key.hex()[:DIGITS]}"
        for name, put in zip(names, every, strict=True)
    ]


def find(store: Store, name: str, instrument: str | None = None) -> Thing:
    """Return the subject of a name, as the module describes it. Raises UnknownName, UsageError."""
    head, slash, tail = name.partition("/=")
    if slash and "@" in tail:
        answer_, _, _ = tail.partition("@")
        every = below(store, find(store, f"{head}/={answer_}", instrument))
        return _only(name, [one for one in every if one.name.endswith(tail[len(answer_) :])], every)
    if slash:
        of = find(store, head, instrument)
        digits = ANSWER.fullmatch(f"={tail}")
        if of.subject.kind is not Ruled.PROMPT or digits is None:
            raise UsageError(
                f"found {name!r}; give an answer as PROMPT/=DIGITS, with {LEAST} digits or more "
                "of its key"
            )
        return _only(
            name,
            [one for one in below(store, of) if one.subject.named["text"].startswith(digits[1])],
        )
    if found := KEY.fullmatch(name):
        return _only(
            name,
            list(
                {
                    one.subject.key: one
                    for one in map(prompt, store.ruled_things.prompts(key=found[1]))
                }.values()
            ),
        )
    return _by_parts(store, instrument or store.instruments.only(), name)


def _by_parts(store: Store, instrument: str, name: str) -> Thing:
    """Return a statement, a wording or a prompt. A ref may contain slashes, so the longest known
    one counts.
    """
    parts = name.split("/")
    at = next(
        (
            n
            for n in range(len(parts), 0, -1)
            if store.ruled_things.versions(instrument, "/".join(parts[:n]))
        ),
        0,
    )
    if not at:
        raise UnknownName(
            f"{instrument} has no statement {parts[0]!r}; workbench statements STORE lists them"
        )
    thing = statement(store, instrument, "/".join(parts[:at]))
    if len(parts) > at:
        every = below(store, thing)
        thing = _only(
            name, [one for one in every if one.name.rpartition("/")[2] == parts[at]], every
        )
    if len(parts) > at + 1:
        every = below(store, thing)
        wanted = f"{thing.name}/{'/'.join(parts[at + 1 :])}"
        thing = _only(name, [one for one in every if one.name == wanted], every)
    return thing


def _only(name: str, found: Sequence[Thing], every: Sequence[Thing] = ()) -> Thing:
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(
            f"{name!r} means {len(found)} things: {', '.join(one.name for one in found[:8])}; "
            "name one"
        )
    there = f". Available: {', '.join(one.name for one in every[:12])}" if every else ""
    raise UnknownName(f"no prompt or answer is named {name!r}{there}")


def rule(
    store: Store,
    thing: Thing,
    verdict: Verdict,
    *,
    auditor: str,
    reason: str,
    reading: str | None,
    model: str = "",
) -> Ruling:
    """Rule on a subject. Raises UsageError if the verdict does not apply to it, or a reading is
    missing, invalid or not allowed.

    model : key of the model that it applies to alone, where it can, see `of_one_model`; empty: it
        applies to all models
    """
    check(thing, verdict, reading)
    label = None if reading in (None, UNREADABLE) else reading
    subject = thing.subject.of_model(model if of_one_model(thing.subject.kind, verdict) else "")
    return store.rulings.rule(subject, verdict, auditor=auditor, reason=reason, label=label)


def models_of(store: Store, subject: Subject) -> frozenset[int]:
    """Return the rowids of the models that gave an answer, or were asked a statement."""
    named = subject.named
    if "text" in named:
        return frozenset(
            one.model_id for one in store.ruled_things.givers(named["prompt"], named["text"])
        )
    runs = store.runs.list(instrument=named.get("instrument"), personas=True)
    return frozenset(run.model_id for run in runs if run.responses or run.computed)


def model_meant(store: Store, thing: Thing, verdict: Verdict, name: str | None = None) -> str:
    """Return the key of the model that a ruling is about, or an empty string for any model.

    A model is named by its name, or by `@` and digits of its key. None means the only one. Raises
    UsageError.
    """
    if not of_one_model(thing.subject.kind, verdict):
        return ""
    rows = store.data_rows.models()
    there = {at: rows[at] for at in models_of(store, thing.subject)}
    if name is None:
        meant = there
    elif name.startswith("@"):
        meant = {at: row for at, row in there.items() if row["key"].hex().startswith(name[1:])}
    else:
        meant = {at: row for at, row in there.items() if at in models_named(store, name)}
    if len(meant) == 1:
        return str(next(iter(meant.values()))["key"].hex())
    if not there and name is None:
        return ""
    names = ", ".join(
        sorted(f"{row['name']} (@{row['key'].hex()[:DIGITS]})" for row in (meant or there).values())
    )
    found = f"{len(meant)} models" if meant else f"no model {name!r}"
    raise UsageError(
        f"found {found} that answered {thing.name}. Available: {names}; name one with --model, "
        "by its name or digits, "
        "or give --all-models"
    )


def standing_on(
    standing: Mapping[bytes, Sequence[Ruling]], subject: Subject, models: Iterable[str]
) -> tuple[Ruling, ...]:
    """Return the rulings in force on a thing that apply to all models or to some of these (keys),
    the oldest first.
    """
    keys = (subject.thing.key, *(subject.of_model(model).key for model in models))
    return tuple(
        sorted(
            (one for key in keys for one in standing.get(key, ())),
            key=lambda one: (one.at, one.uid),
        )
    )


def every_model(store: Store) -> tuple[str, ...]:
    """Return the keys of all models of a store."""
    return tuple(row["key"].hex() for row in store.data_rows.models().values())


def check(thing: Thing, verdict: Verdict, reading: str | None) -> None:
    """Raise UsageError for an invalid ruling."""
    kind, kinds = thing.subject.kind, RULED_ON[verdict]
    if kind not in kinds:
        raise UsageError(
            f"{verdict} applies to {' or '.join(sorted(kinds))}; {thing.name} is a {kind}"
        )
    if verdict is not Verdict.MISREAD and reading is not None:
        raise UsageError(f"only {Verdict.MISREAD} takes a right reading; {verdict} has none")
    if verdict is Verdict.MISREAD and reading not in thing.labels:
        found = "no right reading" if reading is None else f"the reading {reading!r}"
        raise UsageError(f"found {found} of {thing.name}; give one of {', '.join(thing.labels)}")
    if verdict is Verdict.MISREAD and reading is not None and reading not in thing.right_readings:
        raise UsageError(f"{thing.name} is not misread: {thing.no_misreading(reading)}")


def called(store: Store, subject: Subject) -> str:
    """Return the name of a ruling's subject as it is typed, or its keys if the store lacks it."""
    return placed(store, subject)[1]


def spoken(name: str, ref: str = "") -> str:
    """Return the name of a subject for people, who read and do not type it. `ref`: of its
    statement, which may hold slashes

    Examples
    --------
    >>> spoken("env-03/negation/personal-1/swapped/=02e830c3@label-words")
    'env-03 · negation · personal-1 swapped · an answer as label-words reads it'
    """
    prompt, answer, tail = name.partition("/=")
    head = [ref] if ref and prompt.startswith(ref) else []
    parts = [*head, *filter(None, prompt.removeprefix("".join(head)).split("/"))]
    if parts[-1] == SWAPPED and len(parts) > 1:
        parts[-2:] = [f"{parts[-2]} {SWAPPED}"]
    reader = tail.partition("@")[2]
    as_read = f" as {reader} reads it" if reader else ""
    return " · ".join([*parts, *[f"an answer{as_read}"] * bool(answer)])


def told(store: Store, subject: Subject) -> str:
    """Return a ruling's subject for a sentence: its name in words, or the quoted words of an
    answer.
    """
    key = subject.named.get("text")
    name = spoken(called(store, subject).partition("/=")[0])
    if key is None or (text := store.ruled_things.text(bytes.fromhex(key))) is None:
        return name
    words = " ".join(text.split()) or "(blank)"
    if len(words) > TOLD:
        words = f"{words[: TOLD + 1].rpartition(' ')[0].rstrip() or words[:TOLD]} …"
    return f"“{words}” in answer to {name}"


def take_back(store: Store, ruling: Ruling, *, auditor: str, reason: str = "") -> str:
    """Take a ruling back, and say so: whose it was, and which earlier one of the same auditor
    stands again. Raises ConflictError, UsageError.
    """
    store.rulings.undo(ruling, auditor=auditor, reason=reason)
    models = [ruling.subject.model] if ruling.subject.model else every_model(store)
    again = standing_on(store.rulings.standing(ruling.subject.kind), ruling.subject, models)
    earlier = next((one for one in reversed(again) if one.auditor == ruling.auditor), None)
    whose, their = (f"{ruling.auditor}'s ", "their") if ruling.auditor != auditor else ("", "your")
    stands = f"; {their} earlier {earlier.verdict} stands again" if earlier is not None else ""
    return f"undone: {whose}{ruling.verdict} on {told(store, ruling.subject)}{stands}"


def placed(store: Store, subject: Subject, *, told_apart: bool = True) -> tuple[str, str]:
    """Return the instrument of a ruling's subject, empty if the store lacks it, and the subject's
    name.

    told_apart : False: a prompt is named by its wording, template and order even if another
        template has that name, and
    a wording without its language
    """
    named = subject.named
    if "statement" in named:
        if "variant" not in named:
            return named["instrument"], named["statement"]
        return named["instrument"], _wording_name(store, named, told_apart=told_apart)
    instrument, name = "", f"@{named['prompt'][:DIGITS]}"
    if put := store.ruled_things.prompts(key=named["prompt"]):
        instrument = put[0].instrument
        beside = _of_same_wording(store, put[0]) if told_apart else [put[0]]
        names = _names(_wording_name(store, _wording_of(put[0]), told_apart=told_apart), beside)
        name = names[[one.key for one in beside].index(put[0].key)]
    answer_ = f"/={named['text'][:DIGITS]}" if "text" in named else ""
    return instrument, name + answer_ + (f"@{named['reader']}" if "reader" in named else "")


def _wording_of(put: PutPrompt) -> Mapping[str, str]:
    """Return the identifying fields of a prompt's wording."""
    return {
        "instrument": put.instrument,
        "statement": put.ref,
        "version": str(put.version),
        "language": put.language,
        "variant": str(put.variant),
    }


def _wording_name(store: Store, named: Mapping[str, str], *, told_apart: bool) -> str:
    """Return the name of a wording, with its language if the statement has wordings in several."""
    statement_ = {name: named[name] for name in STATEMENT}
    key = Subject(
        Ruled.WORDING, {**statement_, "language": named["language"], "variant": named["variant"]}
    ).key
    every = (
        wordings(store, Thing(Subject(Ruled.STATEMENT, statement_), named["statement"], ""))
        if told_apart
        else ()
    )
    return next(
        (one.name for one in every if one.subject.key == key),
        f"{named['statement']}/{named['variant']}",
    )


def _of_same_wording(store: Store, put: PutPrompt) -> list[PutPrompt]:
    """Return all prompts with the same wording as a prompt, including itself."""
    wording = (put.version, put.language, put.variant)
    return [
        one
        for one in store.ruled_things.prompts(instrument=put.instrument, ref=put.ref)
        if (one.version, one.language, one.variant) == wording
    ]


NO_STANCE = "no stance"
"common name of unreadable, neutral and unrelated readings"
At = tuple[bytes, bytes]
"(key of a prompt, key of the text of an answer)"


@dataclass(frozen=True, slots=True)
class ReadBy:
    """A reader's reading of an answer."""

    who: str
    "`person ada`, `classifier stance`, or the name of a rule"
    label: str | None
    "None: unreadable"
    reason: str = ""
    start: int | None = None
    stop: int | None = None
    "the deciding words are `text[start:stop]`; a classifier and people name none"

    @property
    def reads(self) -> str:
        return self.label or UNREADABLE


def contradictions(store: Store, run: Run, *, by_rule: bool) -> Iterator[tuple[str, Signal]]:
    """Yield the statements with an answer on which two rules, a classifier or people disagree."""
    said, counted = _said(store, run, by_rule=by_rule)
    found: dict[str, list[tuple[At, str, int]]] = {}
    for at, of in said.items():
        if _differ(of):
            ref, variant, n = counted[at]
            found.setdefault(ref, []).append((at, variant, n))
    for ref, places in found.items():
        variants = tuple(dict.fromkeys(variant for _, variant, _ in places))
        total = sum(count for _, _, count in places)
        example = ", ".join(f"{one.who}: {one.reads}" for one in said[places[0][0]])
        keys = tuple(at for at, _, _ in places)
        yield (
            ref,
            Signal(
                READERS_DISAGREE,
                f"{plural(total, 'answer')}, as {example}",
                variants,
                keys,
                size=total,
            ),
        )


def readings_of_statement(
    store: Store, run: Run, ref: str, *, by_rule: bool
) -> Mapping[At, Sequence[ReadBy]]:
    """Return the answers about a statement that are read differently, with each reader's
    reading.
    """
    return {at: of for at, of in _said(store, run, ref, by_rule=by_rule)[0].items() if _differ(of)}


def _said(
    store: Store, run: Run, ref: str | None = None, *, by_rule: bool
) -> tuple[Mapping[At, Sequence[ReadBy]], Mapping[At, tuple[str, str, int]]]:
    """Return each reader's reading of the answers on which readers may differ, and (ref, wording,
    count) of these answers.
    """
    said: dict[At, list[ReadBy]] = {}
    counted: dict[At, tuple[str, str, int]] = {}
    if run.sampling.mode == EXACT:
        return said, counted
    labels = [one for one in store.review_queries.labelled(run) if ref in (None, one.ref)]
    for name, answers in (
        _by_rules(store, run, ref, {one.text for one in labels}) if by_rule else ()
    ):
        for one in answers:
            said.setdefault((one.prompt, one.text), []).append(
                ReadBy(name, one.label, one.reason, one.start, one.stop)
            )
            counted[one.prompt, one.text] = one.ref, one.variant, one.count
    for at, of in _by_people(labels):
        said.setdefault(at, []).extend(ReadBy(f"{one.kind} {one.who}", one.label) for one in of)
        counted.setdefault(at, (of[0].ref, of[0].variant, 1))
    return said, counted


def _differ(of: Sequence[ReadBy]) -> bool:
    return len({_stance(one.label) for one in of}) > 1


def _by_rules(
    store: Store, run: Run, ref: str | None, labelled: Collection[bytes]
) -> Iterator[tuple[str, Sequence[ReadAnswer]]]:
    """Yield each shipped rule's readings of answers that rules read differently, and of labelled
    answers.

    Rules agree on most answers, which are not loaded.
    """
    rules = read_by_all(store, run)
    of = store.review_queries
    texts = of.read_differently(run, [rowid for rowid, _ in rules]) | of.rowids(labelled)
    for rowid, card in rules if texts else ():
        yield card.name, of.answers(run, rowid, ref, texts=texts)


def read_by_all(store: Store, run: Run) -> Sequence[tuple[int, ReaderCard]]:
    """Let each shipped rule read the unread answers of a run. Return the rules' rowids and cards.

    The published rule reads only single words of the letters a-z, and is left out for other labels.
    """
    found = []
    for name in RULES:
        try:
            found.append(read(store, run, name))
        except UsageError:
            if name == LABEL_WORDS:
                raise
    return found


def _by_people(
    labels: Iterable[Labelled],
) -> Iterator[tuple[tuple[bytes, bytes], Sequence[Labelled]]]:
    """Yield the labels of classifiers and people for each answer. A decision replaces what it
    settles.
    """
    groups: dict[tuple[bytes, bytes], list[Labelled]] = {}
    for one in labels:
        groups.setdefault((one.prompt, one.text), []).append(one)
    for at, of in groups.items():
        decided = any(one.kind == ReaderKind.ADJUDICATION and one.label for one in of)
        kept = [one for one in of if one.label and not (decided and one.kind == ReaderKind.PERSON)]
        kept += [one for one in of if not one.label and one.kind == ReaderKind.CLASSIFIER]
        if kept:
            yield at, kept


def _stance(label: str | None) -> str:
    return label if label in (Stance.AGREE, Stance.DISAGREE) and label is not None else NO_STANCE
