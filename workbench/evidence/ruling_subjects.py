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

from stores.annotation.reviews import AnswerLabel, ReadAnswer
from stores.annotation.rulings import DIGITS, GivenAnswer, GivenReading, PutPrompt
from stores.core.store import Store
from stores.runs.run_rows import Run
from workbench.domain.choices import LETTERS
from workbench.domain.names import plural
from workbench.domain.prompts import LETTER
from workbench.domain.readings import LABEL_WORDS, STANCES, ReaderCard, ReaderKind, Stance, nature
from workbench.domain.responses import EXACT
from workbench.domain.reviews import READERS_DISAGREE, Signal
from workbench.domain.rulings import RULED_ON, Ruled, Ruling, RulingVerdict, Subject, of_one_model
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
class RulingSubject:
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
        """The reach of a ruling on it, such as `this answer`.

        That of a ruling on a prompt is `all answers to this prompt (personal-1 swapped)`.
        """
        fields, last_part = self.subject.named, self.name.rpartition("/")[2]
        if self.subject.kind is Ruled.STATEMENT:
            return f"this statement ({self.name})"
        if self.subject.kind is Ruled.WORDING:
            return f"this wording ({last_part})"
        if self.subject.kind is Ruled.PROMPT:
            return f"all answers to this prompt ({self.words.partition(' under ')[2]})"
        if self.subject.kind is Ruled.READING:
            return f"this answer as {fields['reader']} reads it"
        return "this answer, whoever reads it"

    @property
    def right_readings(self) -> tuple[str, ...]:
        """The possible right readings of a misread answer: all but its reader's own."""
        return tuple(label for label in self.labels if self.read is None or label != self.read[1])

    def no_misreading(self, label: str) -> str:
        """Return why an answer with this right reading is not misread, and what to do."""
        assert self.read is not None, "somebody reads it so"
        who = (
            f"{self.read[0]}, the reader that counts,"
            if self.subject.kind is Ruled.ANSWER
            else self.read[0]
        )
        return (
            f"{who} already reads it as {label}; to say that it is right, rule: "
            f"{RulingVerdict.CONFIRMED}"
        )


def statement_subject(store: Store, instrument: str, ref: str) -> RulingSubject:
    """Return a statement in the latest version asked. Raises UnknownName."""
    versions = store.ruled_things.versions(instrument, ref)
    if not versions:
        raise UnknownName(
            f"{instrument} has no statement {ref!r}; workbench statements STORE lists them"
        )
    return statement_version(store, instrument, ref, versions[-1])


def statement_version(store: Store, instrument: str, ref: str, version: int) -> RulingSubject:
    """Return a statement in a version."""
    wordings = store.ruled_things.variants(instrument, ref, version)
    fields = {"instrument": instrument, "statement": ref, "version": str(version)}
    return RulingSubject(Subject(Ruled.STATEMENT, fields), ref, wordings[0][2] if wordings else "")


def wording_subjects(store: Store, statement: RulingSubject) -> tuple[RulingSubject, ...]:
    """Return the wordings of a statement in all languages.

    If it has several languages, names include the language.
    """
    fields = statement.subject.named
    variants = store.ruled_things.variants(
        fields["instrument"], fields["statement"], int(fields["version"])
    )
    has_several_languages = len({language for language, _, _ in variants}) > 1
    return tuple(
        RulingSubject(
            Subject(Ruled.WORDING, {**fields, "language": language, "variant": variant}),
            f"{fields['statement']}/{variant}{f':{language}' * has_several_languages}",
            text,
        )
        for language, variant, text in variants
    )


def prompt_subject(prompt: PutPrompt, name: str = "") -> RulingSubject:
    """Return a prompt as a subject of rulings. Without a name, it is named by its key."""
    axes = ", ".join(f"{axis} {value}" for axis, value in prompt.axes.items())
    text = f"{prompt.ref} {prompt.variant} under {prompt.template} {prompt.order}" + (
        f" ({axes})" if axes else ""
    )
    key = prompt.key.hex()
    return RulingSubject(Subject(Ruled.PROMPT, {"prompt": key}), name or f"@{key[:DIGITS]}", text)


def answer_subject(
    store: Store,
    prompt: PutPrompt,
    answer: GivenAnswer,
    prompt_name: str,
    reader_name: str | None = None,
) -> RulingSubject:
    """Return an answer to a named prompt as a subject of rulings.

    It has the label of the reader `reader_name`, by default of the reader that figures count.
    """
    key = answer.key.hex()
    subject = Subject(Ruled.ANSWER, {"prompt": prompt.key.hex(), "text": key})
    labels = labels_of(prompt)
    counted = _counted_reading(store, prompt, answer, reader_name)
    as_read = (
        None
        if counted is None
        else (counted.reader, counted.label if counted.label in labels else UNREADABLE)
    )
    return RulingSubject(subject, f"{prompt_name}/={key[:DIGITS]}", answer.text, labels, as_read)


def _counted_reading(
    store: Store, prompt: PutPrompt, answer: GivenAnswer, reader_name: str | None
) -> GivenReading | None:
    """Return the reading of an answer that figures count.

    It is None if annotators' labels count, or nobody has read the answer. See `Readings.by`.
    """
    readings = store.ruled_things.readings(prompt.key, answer.key)
    rules = [given_reading for given_reading in readings if given_reading.kind == ReaderKind.RULE]
    if nature(prompt.audit).free_text:
        # A rule reads numbers, and leaves words to others.
        number = next((given_reading for given_reading in rules if given_reading.label), None)
        newest = next((classifier.name for classifier in reversed(store.classifiers.list())), "")
        by_classifier = (
            given_reading
            for given_reading in readings
            if given_reading.kind == ReaderKind.CLASSIFIER
            and given_reading.reader == (reader_name or newest)
        )
        return number or next(by_classifier, None)
    label_readers = readers()
    rule_name = reader_name if reader_name in label_readers else LABEL_WORDS
    return next(
        (
            given_reading
            for given_reading in rules
            if given_reading.reader == rule_name or given_reading.reader not in label_readers
        ),
        None,
    )


def with_reading_of(store: Store, subject: RulingSubject, reader_name: str | None) -> RulingSubject:
    """Return a subject, with the label of a reader if it is an answer.

    `reader_name` is as in `answer_subject`.
    """
    fields = subject.subject.named
    if reader_name is None or subject.subject.kind is not Ruled.ANSWER:
        return subject
    put_prompt = store.ruled_things.prompts(key=fields["prompt"])[0]
    given_answer = GivenAnswer(put_prompt.key, bytes.fromhex(fields["text"]), subject.words, 0)
    return replace(
        subject, read=answer_subject(store, put_prompt, given_answer, "", reader_name).read
    )


def short_prompt(key: bytes) -> str:
    """Return the name of a prompt by its key."""
    return f"@{key.hex()[:DIGITS]}"


def short_answer(prompt: bytes, text: bytes) -> str:
    """Return the name of an answer by the keys of prompt and text."""
    return f"{short_prompt(prompt)}/={text.hex()[:DIGITS]}"


def reading_subject(answer: RulingSubject, reading: GivenReading) -> RulingSubject:
    """Return a reader's reading of an answer as a subject."""
    reader_fields = {
        "reader_kind": reading.kind,
        "reader": reading.reader,
        "reader_version": reading.version,
    }
    as_read = (
        reading.reader,
        (reading.label if reading.label in answer.labels else None) or UNREADABLE,
    )
    subject = Subject(Ruled.READING, {**answer.subject.named, **reader_fields})
    return RulingSubject(
        subject,
        f"{answer.name}@{reading.reader}",
        f"{reading.kind} {as_read[0]} reads: {as_read[1]}",
        answer.labels,
        as_read,
    )


def labels_of(prompt: PutPrompt) -> tuple[str, ...]:
    """Return the possible readings of an answer to a prompt, or none if answers are not read."""
    if nature(prompt.audit).free_text:
        return (*map(str, STANCES), UNREADABLE)
    return (*possible_readings(prompt.axes, letters=prompt.scale == LETTER), UNREADABLE)


def possible_readings(axes: Mapping[str, str], *, letters: bool = False) -> tuple[str, ...]:
    """Return the readings of an answer that figures count.

    They are the offered letters, or agreement and disagreement.
    """
    if letters or OFFERED in axes:
        return tuple(LETTERS[: int(axes.get(OFFERED, len(LETTERS)))])
    return Stance.AGREE.value, Stance.DISAGREE.value


def subjects_below(store: Store, subject: RulingSubject) -> tuple[RulingSubject, ...]:
    """Return the subjects directly below a subject.

    They are wordings of a statement, prompts of a wording, answers to a prompt, or readings of an
    answer.
    """
    fields = subject.subject.named
    if subject.subject.kind is Ruled.STATEMENT:
        return wording_subjects(store, subject)
    if subject.subject.kind is Ruled.WORDING:
        put_prompts = _prompts_of_wording(store, subject)
        return tuple(
            prompt_subject(put_prompt, name)
            for put_prompt, name in zip(put_prompts, _names(subject.name, put_prompts), strict=True)
        )
    if subject.subject.kind is Ruled.PROMPT:
        (put_prompt, *_) = store.ruled_things.prompts(key=fields["prompt"])
        return tuple(
            answer_subject(store, put_prompt, given_answer, subject.name)
            for given_answer in store.ruled_things.answers(put_prompt.key)
        )
    if subject.subject.kind is Ruled.ANSWER:
        readings = store.ruled_things.readings(
            bytes.fromhex(fields["prompt"]), bytes.fromhex(fields["text"])
        )
        return tuple(reading_subject(subject, given_reading) for given_reading in readings)
    return ()


def _prompts_of_wording(store: Store, wording: RulingSubject) -> tuple[PutPrompt, ...]:
    fields = wording.subject.named
    return tuple(
        put_prompt
        for put_prompt in store.ruled_things.prompts(
            instrument=fields["instrument"], ref=fields["statement"]
        )
        if (str(put_prompt.version), put_prompt.language, put_prompt.variant)
        == (fields["version"], fields["language"], fields["variant"])
    )


def _names(wording_name: str, prompts: Sequence[PutPrompt]) -> list[str]:
    """Return the names of a wording's prompts, by template and order.

    A prompt whose name is not unique is named by its key.
    """
    names = [
        f"{wording_name}/{put_prompt.template}{f'/{SWAPPED}' * put_prompt.inverted}"
        for put_prompt in prompts
    ]
    return [
        name if names.count(name) == 1 else f"@{put_prompt.key.hex()[:DIGITS]}"
        for name, put_prompt in zip(names, prompts, strict=True)
    ]


def find_subject(store: Store, name: str, instrument: str | None = None) -> RulingSubject:
    """Return the subject of a name, as the module describes it. Raises UnknownName, UsageError."""
    head, slash, tail = name.partition("/=")
    if slash and "@" in tail:
        answer_, _, _ = tail.partition("@")
        candidates = subjects_below(store, find_subject(store, f"{head}/={answer_}", instrument))
        return _only(
            name,
            [
                candidate
                for candidate in candidates
                if candidate.name.endswith(tail[len(answer_) :])
            ],
            candidates,
        )
    if slash:
        parent = find_subject(store, head, instrument)
        digits = ANSWER.fullmatch(f"={tail}")
        if parent.subject.kind is not Ruled.PROMPT or digits is None:
            raise UsageError(
                f"found {name!r}; give an answer as PROMPT/=DIGITS, with {LEAST} digits or more "
                "of its key"
            )
        return _only(
            name,
            [
                candidate
                for candidate in subjects_below(store, parent)
                if candidate.subject.named["text"].startswith(digits[1])
            ],
        )
    if key_match := KEY.fullmatch(name):
        return _only(
            name,
            list(
                {
                    candidate.subject.key: candidate
                    for candidate in map(
                        prompt_subject, store.ruled_things.prompts(key=key_match[1])
                    )
                }.values()
            ),
        )
    return _by_parts(store, instrument or store.instruments.only(), name)


def _by_parts(store: Store, instrument: str, name: str) -> RulingSubject:
    """Return a statement, a wording or a prompt.

    A ref may contain slashes, so the longest known one counts.
    """
    parts = name.split("/")
    n_of_ref = next(
        (
            length
            for length in range(len(parts), 0, -1)
            if store.ruled_things.versions(instrument, "/".join(parts[:length]))
        ),
        0,
    )
    if not n_of_ref:
        raise UnknownName(
            f"{instrument} has no statement {parts[0]!r}; workbench statements STORE lists them"
        )
    thing = statement_subject(store, instrument, "/".join(parts[:n_of_ref]))
    if len(parts) > n_of_ref:
        children = subjects_below(store, thing)
        thing = _only(
            name,
            [child for child in children if child.name.rpartition("/")[2] == parts[n_of_ref]],
            children,
        )
    if len(parts) > n_of_ref + 1:
        children = subjects_below(store, thing)
        full_name = f"{thing.name}/{'/'.join(parts[n_of_ref + 1 :])}"
        thing = _only(name, [child for child in children if child.name == full_name], children)
    return thing


def _only(
    name: str, matches: Sequence[RulingSubject], candidates: Sequence[RulingSubject] = ()
) -> RulingSubject:
    if len(matches) == 1:
        return matches[0]
    if matches:
        names = ", ".join(match.name for match in matches[:8])
        raise UsageError(f"{name!r} means {len(matches)} things: {names}; name one")
    available = (
        f". Available: {', '.join(thing.name for thing in candidates[:12])}" if candidates else ""
    )
    raise UnknownName(f"no prompt or answer is named {name!r}{available}")


def add_ruling(
    store: Store,
    thing: RulingSubject,
    verdict: RulingVerdict,
    *,
    auditor: str,
    reason: str,
    reading: str | None,
    model: str = "",
) -> Ruling:
    """Rule on a subject.

    Raises UsageError if the verdict does not apply to it, or a reading is missing, invalid or not
    allowed.

    Parameters
    ----------
    model : key of the model that it applies to alone, where it can, see `of_one_model`; empty: it
        applies to all models
    """
    check_ruling(thing, verdict, reading)
    label = None if reading in (None, UNREADABLE) else reading
    subject = thing.subject.of_model(model if of_one_model(thing.subject.kind, verdict) else "")
    return store.rulings.rule(subject, verdict, auditor=auditor, reason=reason, label=label)


def models_of(store: Store, subject: Subject) -> frozenset[int]:
    """Return the rowids of the models that gave an answer, or were asked a statement."""
    fields = subject.named
    if "text" in fields:
        return frozenset(
            giver.model_id for giver in store.ruled_things.givers(fields["prompt"], fields["text"])
        )
    runs = store.runs.list(instrument=fields.get("instrument"), personas=True)
    return frozenset(run.model_id for run in runs if run.responses or run.computed)


def ruled_model(
    store: Store, thing: RulingSubject, verdict: RulingVerdict, name: str | None = None
) -> str:
    """Return the key of the model that a ruling is about, or an empty string for any model.

    A model is named by its name, or by `@` and digits of its key. None means the only one. Raises
    UsageError.
    """
    if not of_one_model(thing.subject.kind, verdict):
        return ""
    rows = store.data_rows.models()
    row_by_id = {rowid: rows[rowid] for rowid in models_of(store, thing.subject)}
    if name is None:
        selected = row_by_id
    elif name.startswith("@"):
        selected = {
            rowid: row for rowid, row in row_by_id.items() if row["key"].hex().startswith(name[1:])
        }
    else:
        selected = {
            rowid: row for rowid, row in row_by_id.items() if rowid in models_named(store, name)
        }
    if len(selected) == 1:
        return str(next(iter(selected.values()))["key"].hex())
    if not row_by_id and name is None:
        return ""
    names = ", ".join(
        sorted(
            f"{row['name']} (@{row['key'].hex()[:DIGITS]})"
            for row in (selected or row_by_id).values()
        )
    )
    subject = f"{len(selected)} models" if selected else f"no model {name!r}"
    raise UsageError(
        f"found {subject} that answered {thing.name}. Available: {names}; name one with --model, "
        "by its name or digits, or give --all-models"
    )


def rulings_in_force_on(
    standing: Mapping[bytes, Sequence[Ruling]], subject: Subject, models: Iterable[str]
) -> tuple[Ruling, ...]:
    """Return the rulings in force on a thing, the oldest first.

    They apply to all models or to some of these (keys).
    """
    keys = (subject.thing.key, *(subject.of_model(model).key for model in models))
    return tuple(
        sorted(
            (ruling for key in keys for ruling in standing.get(key, ())),
            key=lambda ruling: (ruling.at, ruling.uid),
        )
    )


def every_model(store: Store) -> tuple[str, ...]:
    """Return the keys of all models of a store."""
    return tuple(row["key"].hex() for row in store.data_rows.models().values())


def check_ruling(thing: RulingSubject, verdict: RulingVerdict, reading: str | None) -> None:
    """Raise UsageError for an invalid ruling."""
    kind, kinds = thing.subject.kind, RULED_ON[verdict]
    if kind not in kinds:
        raise UsageError(
            f"{verdict} applies to {' or '.join(sorted(kinds))}; {thing.name} is a {kind}"
        )
    if verdict is not RulingVerdict.MISREAD and reading is not None:
        raise UsageError(f"only {RulingVerdict.MISREAD} takes a right reading; {verdict} has none")
    if verdict is RulingVerdict.MISREAD and reading not in thing.labels:
        description = "no right reading" if reading is None else f"the reading {reading!r}"
        raise UsageError(
            f"found {description} of {thing.name}; give one of {', '.join(thing.labels)}"
        )
    if (
        verdict is RulingVerdict.MISREAD
        and reading is not None
        and reading not in thing.right_readings
    ):
        raise UsageError(f"{thing.name} is not misread: {thing.no_misreading(reading)}")


def typed_name(store: Store, subject: Subject) -> str:
    """Return the name of a ruling's subject as it is typed, or its keys if the store lacks it."""
    return locate_subject(store, subject)[1]


def display_name(name: str, ref: str = "") -> str:
    """Return the name of a subject for people, who read and do not type it.

    `ref` is that of its statement, which may hold slashes.

    Examples
    --------
    >>> display_name("env-03/negation/personal-1/swapped/=02e830c3@label-words")
    'env-03 · negation · personal-1 swapped · an answer as label-words reads it'
    """
    prompt_part, answer_part, tail = name.partition("/=")
    head = [ref] if ref and prompt_part.startswith(ref) else []
    parts = [*head, *filter(None, prompt_part.removeprefix("".join(head)).split("/"))]
    if parts[-1] == SWAPPED and len(parts) > 1:
        parts[-2:] = [f"{parts[-2]} {SWAPPED}"]
    reader = tail.partition("@")[2]
    as_read = f" as {reader} reads it" if reader else ""
    return " · ".join([*parts, *[f"an answer{as_read}"] * bool(answer_part)])


def subject_phrase(store: Store, subject: Subject) -> str:
    """Return a ruling's subject for a sentence.

    It is its name in words, or the quoted words of an answer.
    """
    key = subject.named.get("text")
    name = display_name(typed_name(store, subject).partition("/=")[0])
    if key is None or (text := store.ruled_things.text(bytes.fromhex(key))) is None:
        return name
    quotation = " ".join(text.split()) or "(blank)"
    if len(quotation) > TOLD:
        quotation = f"{quotation[: TOLD + 1].rpartition(' ')[0].rstrip() or quotation[:TOLD]} …"
    return f"“{quotation}” in answer to {name}"


def take_back(store: Store, ruling: Ruling, *, auditor: str, reason: str = "") -> str:
    """Take a ruling back, and return a sentence that says so.

    The sentence has whose ruling it was, and which earlier one of the same auditor stands again.
    Raises ConflictError, UsageError.
    """
    store.rulings.undo(ruling, auditor=auditor, reason=reason)
    models = [ruling.subject.model] if ruling.subject.model else every_model(store)
    now_in_force = rulings_in_force_on(
        store.rulings.standing(ruling.subject.kind), ruling.subject, models
    )
    earlier = next(
        (other for other in reversed(now_in_force) if other.auditor == ruling.auditor), None
    )
    owner, pronoun = (
        (f"{ruling.auditor}'s ", "their") if ruling.auditor != auditor else ("", "your")
    )
    again_note = (
        f"; {pronoun} earlier {earlier.verdict} stands again" if earlier is not None else ""
    )
    return f"undone: {owner}{ruling.verdict} on {subject_phrase(store, ruling.subject)}{again_note}"


def locate_subject(store: Store, subject: Subject, *, told_apart: bool = True) -> tuple[str, str]:
    """Return the instrument and the name of a ruling's subject.

    The instrument is empty if the store lacks it.

    Parameters
    ----------
    told_apart : False: a prompt is named by its wording, template and order even if another
        template has that name, and a wording without its language
    """
    fields = subject.named
    if "statement" in fields:
        if "variant" not in fields:
            return fields["instrument"], fields["statement"]
        return fields["instrument"], _wording_name(store, fields, told_apart=told_apart)
    instrument, name = "", f"@{fields['prompt'][:DIGITS]}"
    if prompts := store.ruled_things.prompts(key=fields["prompt"]):
        instrument = prompts[0].instrument
        same_wording = _prompts_of_same_wording(store, prompts[0]) if told_apart else [prompts[0]]
        names = _names(
            _wording_name(store, _wording_of(prompts[0]), told_apart=told_apart), same_wording
        )
        name = names[[other.key for other in same_wording].index(prompts[0].key)]
    answer_ = f"/={fields['text'][:DIGITS]}" if "text" in fields else ""
    return instrument, name + answer_ + (f"@{fields['reader']}" if "reader" in fields else "")


def _wording_of(prompt: PutPrompt) -> Mapping[str, str]:
    """Return the identifying fields of a prompt's wording."""
    return {
        "instrument": prompt.instrument,
        "statement": prompt.ref,
        "version": str(prompt.version),
        "language": prompt.language,
        "variant": str(prompt.variant),
    }


def _wording_name(store: Store, named: Mapping[str, str], *, told_apart: bool) -> str:
    """Return the name of a wording, with its language if the statement has wordings in several."""
    statement_ = {name: named[name] for name in STATEMENT}
    key = Subject(
        Ruled.WORDING, {**statement_, "language": named["language"], "variant": named["variant"]}
    ).key
    candidates = (
        wording_subjects(
            store, RulingSubject(Subject(Ruled.STATEMENT, statement_), named["statement"], "")
        )
        if told_apart
        else ()
    )
    return next(
        (candidate.name for candidate in candidates if candidate.subject.key == key),
        f"{named['statement']}/{named['variant']}",
    )


def _prompts_of_same_wording(store: Store, prompt: PutPrompt) -> list[PutPrompt]:
    """Return all prompts with the same wording as a prompt, including itself."""
    wording = (prompt.version, prompt.language, prompt.variant)
    return [
        other
        for other in store.ruled_things.prompts(instrument=prompt.instrument, ref=prompt.ref)
        if (other.version, other.language, other.variant) == wording
    ]


NO_STANCE = "no stance"
"common name of unreadable, neutral and unrelated readings"
At = tuple[bytes, bytes]
"(key of a prompt, key of the text of an answer)"


@dataclass(frozen=True, slots=True)
class ReaderReading:
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
    readings, counts = _readings_by_answer(store, run, by_rule=by_rule)
    disputed_by_ref: dict[str, list[tuple[At, str, int]]] = {}
    for key, answer_readings in readings.items():
        if _differ(answer_readings):
            ref, variant, n_answers = counts[key]
            disputed_by_ref.setdefault(ref, []).append((key, variant, n_answers))
    for ref, disputed_answers in disputed_by_ref.items():
        variants = tuple(dict.fromkeys(variant for _, variant, _ in disputed_answers))
        total = sum(count for _, _, count in disputed_answers)
        example = ", ".join(
            f"{answer_reading.who}: {answer_reading.reads}"
            for answer_reading in readings[disputed_answers[0][0]]
        )
        keys = tuple(key for key, _, _ in disputed_answers)
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
) -> Mapping[At, Sequence[ReaderReading]]:
    """Return the answers about a statement that are read differently.

    Each has the readings of all readers.
    """
    return {
        key: answer_readings
        for key, answer_readings in _readings_by_answer(store, run, ref, by_rule=by_rule)[0].items()
        if _differ(answer_readings)
    }


def _readings_by_answer(
    store: Store, run: Run, ref: str | None = None, *, by_rule: bool
) -> tuple[Mapping[At, Sequence[ReaderReading]], Mapping[At, tuple[str, str, int]]]:
    """Return each reader's reading of the answers on which readers may differ.

    The second mapping has (ref, wording, count) of these answers.
    """
    readings: dict[At, list[ReaderReading]] = {}
    counts: dict[At, tuple[str, str, int]] = {}
    if run.sampling.mode == EXACT:
        return readings, counts
    labels = [label for label in store.review_queries.labelled(run) if ref in (None, label.ref)]
    for name, answers in (
        _answers_by_rule(store, run, ref, {label.text for label in labels}) if by_rule else ()
    ):
        for answer_read in answers:
            readings.setdefault((answer_read.prompt, answer_read.text), []).append(
                ReaderReading(
                    name, answer_read.label, answer_read.reason, answer_read.start, answer_read.stop
                )
            )
            counts[answer_read.prompt, answer_read.text] = (
                answer_read.ref,
                answer_read.variant,
                answer_read.count,
            )
    for key, answer_labels in _labels_by_answer(labels):
        readings.setdefault(key, []).extend(
            ReaderReading(f"{label.kind} {label.who}", label.label) for label in answer_labels
        )
        counts.setdefault(key, (answer_labels[0].ref, answer_labels[0].variant, 1))
    return readings, counts


def _differ(readings: Sequence[ReaderReading]) -> bool:
    return len({_stance(answer_reading.label) for answer_reading in readings}) > 1


def _answers_by_rule(
    store: Store, run: Run, ref: str | None, labelled: Collection[bytes]
) -> Iterator[tuple[str, Sequence[ReadAnswer]]]:
    """Yield each shipped rule's readings of answers.

    The answers are those that rules read differently, and the labelled ones.

    Rules agree on most answers, which are not loaded.
    """
    rules = read_by_all(store, run)
    queries = store.review_queries
    texts = queries.read_differently(run, [rowid for rowid, _ in rules]) | queries.rowids(labelled)
    for rowid, card in rules if texts else ():
        yield card.name, queries.answers(run, rowid, ref, texts=texts)


def read_by_all(store: Store, run: Run) -> Sequence[tuple[int, ReaderCard]]:
    """Let each shipped rule read the unread answers of a run. Return the rules' rowids and cards.

    The published rule reads only single words of the letters a-z, and is left out for other labels.
    """
    rules_read = []
    for name in RULES:
        try:
            rules_read.append(read(store, run, name))
        except UsageError:
            if name == LABEL_WORDS:
                raise
    return rules_read


def _labels_by_answer(
    labels: Iterable[AnswerLabel],
) -> Iterator[tuple[tuple[bytes, bytes], Sequence[AnswerLabel]]]:
    """Yield the labels of classifiers and people for each answer.

    A decision replaces what it settles.
    """
    groups: dict[tuple[bytes, bytes], list[AnswerLabel]] = {}
    for label in labels:
        groups.setdefault((label.prompt, label.text), []).append(label)
    for key, answer_labels in groups.items():
        decided = any(
            label.kind == ReaderKind.ADJUDICATION and label.label for label in answer_labels
        )
        counting = [
            label
            for label in answer_labels
            if label.label and not (decided and label.kind == ReaderKind.PERSON)
        ]
        counting += [
            label
            for label in answer_labels
            if not label.label and label.kind == ReaderKind.CLASSIFIER
        ]
        if counting:
            yield key, counting


def _stance(label: str | None) -> str:
    return label if label in (Stance.AGREE, Stance.DISAGREE) and label is not None else NO_STANCE
