"""An item of an auditor's queue: a statement or a sampled answer, with the model's answers."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from stores.annotation.reviews import ReadAnswer
from stores.core.store import Store
from workbench import registry
from workbench.domain.names import plural
from workbench.domain.readings import ReaderKind
from workbench.domain.responses import EXACT
from workbench.domain.reviews import READERS_DISAGREE, RankedStatement
from workbench.evidence.ruling_subjects import (
    UNREADABLE,
    ReaderReading,
    readings_of_statement,
    short_answer,
    short_prompt,
)
from workbench.figures.shown import number
from workbench.figures.table import Column, Kind, Table
from workbench.pipeline.review import (
    Review,
    ReviewProgress,
    Waiting,
    answers_of,
    item_name,
    take_next,
)
from workbench.pipeline.review_tables import reason_in_queue

NOT_READ = "not read"
HIDDEN = "hidden"
"stands in place of the reading of a sampled answer that is decided blind"
LIKELIEST = 6
"number of continuations or next tokens of a prompt that are shown"
FIRST = 10
"number of answers of an item that a terminal shows by default, those that a reason is about first"
NOTHING_ANSWERED = "There are no answers."
LISTED = 200
"number of prompts whose probabilities are shown, as a question may be asked as hundreds of people"


@dataclass(frozen=True, slots=True)
class ItemAnswer:
    """The answer of a model to one prompt, or its probabilities."""

    variant: str
    template: str
    inverted: bool
    prompt: bytes
    "key"
    key: bytes | None
    "key of the answer's text, or None for probabilities"
    text: str
    count: int
    reads: str
    "the reading of the reader, or empty if an answer stands for itself, as a letter does"
    because: tuple[str, ...] = ()
    """the reasons of the item that are about exactly this answer or its prompt

    They read as `disagree 26/30` or `readers disagree`.
    """
    factors: str = ""
    "further factors of the audit besides wording and template, in words"
    reason: str = ""
    "the reason of the reading: the deciding words, or the confidence of a classifier"
    start: int | None = None
    stop: int | None = None
    "the deciding words are `text[start:stop]`"
    readers: tuple[ReaderReading, ...] = ()
    "the readings of all readers, if they differ and that is why the item is pending"

    @property
    def subject(self) -> str:
        """The name of the item in the command that rules on it."""
        return (
            short_prompt(self.prompt) if self.key is None else short_answer(self.prompt, self.key)
        )

    @property
    def meant(self) -> bool:
        """Whether a reason of the item is about exactly this answer or its prompt."""
        return bool(self.because)

    @property
    def order(self) -> str:
        return "swapped" if self.inverted else "printed"

    @property
    def thinking(self) -> str:
        return ""

    @property
    def truncated(self) -> bool:
        return False


def unread(row: ItemAnswer) -> ItemAnswer:
    """Return an answer without its readings, for a blind decision."""
    return replace(row, reads=HIDDEN, reason="", start=None, stop=None, readers=())


@dataclass(frozen=True, slots=True)
class ShownItem:
    """An item with the answers of the model."""

    item: Waiting
    wordings: tuple[tuple[str, str], ...]
    "(variant, text) of the wordings that the answers are about"
    rows: tuple[ItemAnswer, ...]
    left_out: int = 0
    "prompts of which probabilities are not shown"

    @property
    def subject(self) -> str:
        return item_name(self.item)

    @property
    def computed(self) -> bool:
        """Whether there are probabilities in place of answers."""
        return bool(self.rows) and self.rows[0].key is None

    def lines(self, *, blind: bool = False) -> tuple[str, ...]:
        """Return the lines on the item, the reason for it, and its wordings."""
        wordings = (f"{variant}: {text}" for variant, text in self.wordings)
        remainder = f"{plural(self.left_out, 'more prompt')} not shown" if self.left_out else ""
        return (
            f"Next: {self.subject}",
            f"because: {reason_in_queue(self.item, blind=blind)}",
            *wordings,
            *filter(None, [remainder]),
        )

    def ruling_commands(
        self,
        auditor: str | None,
        instrument: str = "",
        labels: Sequence[str] = (),
        reader: str | None = None,
        model: str = "",
    ) -> tuple[str, ...]:
        """Return the commands that rule on the item.

        Each command has its own line and works as it is, so that it can be copied.

        `instrument` and `model` are named if the store has several. `labels` are the possible
        readings of a sampled answer. `reader` is named if it is not the default one.
        """
        options = (
            f"--model {shlex.quote(model)} " * bool(model)
            + f"--reason TEXT --as {shlex.quote(auditor or 'NAME')}"
        )
        instrument_option = f" --instrument {shlex.quote(instrument)}" * bool(instrument)
        command = f"workbench rule STORE {shlex.quote(self.subject)}"
        if isinstance(self.item, RankedStatement):
            variant = self.wordings[0][0] if self.wordings else "original"
            wording = f"a wording ({self.subject}/{variant} wording-at-fault)"
            answers = ", or on an answer by its name (ANSWER misread --reading LABEL)"
            prompts = ", or on a prompt by its name (PROMPT template-at-fault)"
            subjects = (
                answers
                if any(row.key is not None for row in self.rows)
                else prompts
                if self.rows
                else ""
            )
            names = f"workbench rulings STORE --of {shlex.quote(self.subject)}{instrument_option}"
            lines = (
                f"Rule on the statement, on {wording}{subjects}:",
                f"{command} confirmed{instrument_option} {options}",
            )
            return lines if self.rows else (*lines, "What else can be ruled on:", names)
        readings = {row.reads for row in self.rows}
        misread_options = options if reader is None else f"--reader {shlex.quote(reader)} {options}"
        misread = (
            f"{command} misread --reading {shlex.quote(label)} {misread_options}"
            for label in labels
            if label not in readings
        )
        return "Decide with one of:", f"{command} confirmed {options}", *misread

    def plain(self, *, blind: bool = False) -> dict[str, Any]:
        """Return the item as plain values."""
        kind = "statement" if isinstance(self.item, RankedStatement) else "control"
        return {
            "kind": kind,
            "subject": self.subject,
            "statement": self.item.ref,
            "why": reason_in_queue(self.item, blind=blind),
        }


def next_item(store: Store, progress: ReviewProgress, *, blind: bool = False) -> ShownItem | None:
    """Return an auditor's next item, leased to them, or None if nothing is pending.

    A `blind` item hides the reading of a sampled answer.
    """
    item = take_next(store, progress)
    if item is None:
        return None
    next_shown = show_item(store, progress.of, item)
    if blind and not isinstance(item, RankedStatement):
        return replace(next_shown, rows=tuple(map(unread, next_shown.rows)))
    return next_shown


def show_item(store: Store, review: Review, item: Waiting) -> ShownItem:
    """Return an item with the model's answers.

    Of a statement these are the answers to the wordings that its reasons are about, or to all of
    them if a reason is about the statement as a whole. Answers that a reason is about come first,
    then those to the prompts that one is about, then those to the wordings of the heaviest reason.
    Rulings of auditors are not shown.
    """
    if review.run.sampling.mode == EXACT:
        return _computed_item(store, review, item)
    all_answers = (
        answers_of(store, review, item.ref)
        if review.reader is not None
        else store.review_queries.given(review.run, item.ref)
    )
    if isinstance(item, RankedStatement):
        selected = [
            answer for answer in all_answers if not item.variants or answer.variant in item.variants
        ]
        index_by_variant = {variant: index for index, variant in enumerate(item.variants)}
        selected.sort(
            key=lambda answer: (
                (answer.prompt, answer.text) not in item.answers,
                not _is_put(answer, item),
                index_by_variant.get(answer.variant, 0),
            )
        )
    else:
        selected = [
            answer
            for answer in all_answers
            if (answer.prompt, answer.text) == (item.prompt, item.text)
        ]
    read_by = _readers(store, review, item)
    rows = tuple(
        _item_answer(
            store,
            review,
            answer,
            because=_reasons(answer, item),
            read_by=read_by.get((answer.prompt, answer.text), ()),
        )
        for answer in selected
    )
    return ShownItem(item, _wordings(store, review, item, [row.variant for row in rows]), rows)


def _readers(
    store: Store, review: Review, item: Waiting
) -> Mapping[tuple[bytes, bytes], Sequence[ReaderReading]]:
    """Return each reader's reading of the answers on which they disagree.

    The readings of a sampled answer are withheld.
    """
    if not isinstance(item, RankedStatement) or all(
        signal.reason != READERS_DISAGREE for signal in item.signals
    ):
        return {}
    by_rule = review.card is not None and review.card.kind is ReaderKind.RULE
    return readings_of_statement(store, review.run, item.ref, by_rule=by_rule)


def _is_put(answer: ReadAnswer, item: Waiting) -> bool:
    """Return whether an answer is to a prompt that a reason is about."""
    return (
        isinstance(item, RankedStatement)
        and (answer.variant, answer.template, answer.inverted) in item.prompts
    )


def _reasons(answer: ReadAnswer, item: Waiting) -> tuple[str, ...]:
    """Return the reasons that are about an answer."""
    return (
        item.about((answer.prompt, answer.text), (answer.variant, answer.template, answer.inverted))
        if isinstance(item, RankedStatement)
        else ()
    )


def _item_answer(
    store: Store,
    review: Review,
    answer: ReadAnswer,
    *,
    because: tuple[str, ...],
    read_by: Sequence[ReaderReading],
) -> ItemAnswer:
    no_reading = NOT_READ if registry.audit(review.run.audit).nature.free_text else ""
    reads = (answer.label or UNREADABLE) if review.reader is not None else no_reading
    text = store.review_queries.text(answer.text)
    confidence = (
        ""
        if answer.confidence is None
        else f"confidence {number(answer.confidence, Kind.COEFFICIENT)}"
    )
    return ItemAnswer(
        answer.variant,
        answer.template,
        answer.inverted,
        answer.prompt,
        answer.text,
        text,
        answer.count,
        reads,
        because,
        reason=answer.reason or confidence,
        start=answer.start,
        stop=answer.stop,
        readers=tuple(read_by),
    )


def _computed_item(store: Store, review: Review, item: Waiting) -> ShownItem:
    """Return an item of a run with computed probabilities."""
    prompts = store.review_queries.prompts(review.run, item.ref)
    variants = item.variants if isinstance(item, RankedStatement) else ()
    selected = [prompt for prompt in prompts if not variants or prompt.variant in variants]
    rows = tuple(
        ItemAnswer(
            prompt.variant,
            prompt.template,
            prompt.inverted,
            prompt.key,
            None,
            probabilities(store, review, prompt.probe),
            1,
            "",
            factors=", ".join(f"{axis} {value}" for axis, value in prompt.axes.items()),
        )
        for prompt in selected[:LISTED]
    )
    wordings = _wordings(store, review, item, [prompt.variant for prompt in selected])
    return ShownItem(item, wordings, rows, left_out=len(selected) - len(rows))


def probabilities(store: Store, review: Review, probe: int) -> str:
    """Return the likeliest continuations of a prompt.

    They are the labels that were scored, or else the next tokens.
    """
    scored = store.scores.of_probe(review.run, probe)
    if scored is None or scored.failed:
        return f"not scored: {scored.failed}" if scored is not None else "not scored"
    pairs = scored.scores or (scored.table.tokens if scored.table is not None else ())
    likeliest = sorted(pairs, key=lambda pair: -pair[1])[:LIKELIEST]
    return ", ".join(
        f"{text.strip() or repr(text)} {number(math.exp(log), Kind.SHARE)}"
        for text, log in likeliest
    )


def _wordings(
    store: Store, review: Review, item: Waiting, variants: Sequence[str]
) -> tuple[tuple[str, str], ...]:
    """Return (variant, text) of the wordings of a statement that an item is about."""
    selected = set(variants) or set(item.variants if isinstance(item, RankedStatement) else ())
    instrument = store.runs.instrument(review.run)
    statement = next(
        (candidate for candidate in instrument.statements if candidate.ref == item.ref), None
    )
    if statement is None:
        return ()
    in_language = [
        wording for wording in statement.wordings if wording.language == review.run.language
    ]
    return tuple(
        (str(wording.variant), wording.text)
        for wording in in_language
        if not selected or str(wording.variant) in selected
    )


def answers(item: ShownItem) -> Table[ItemAnswer]:
    """Return the model's answers, their readings and their names for `rule`."""
    computed = item.computed
    factors: Column[ItemAnswer] = Column("factors", "factors", lambda row: row.factors, aside=True)
    return Table(
        "answers",
        "Probabilities" if computed else "Answers",
        item.rows,
        [
            _subject(computed),
            Column("variant", "wording", lambda row: row.variant),
            Column("template", "template", lambda row: row.template),
            Column("order", "labels", lambda row: row.order, aside=True),
            *([] if computed else [_count()]),
            *([_reads()] if any(row.reads for row in item.rows) else []),
            *([_because()] if any(row.because for row in item.rows) else []),
            *([factors] if any(row.factors for row in item.rows) else []),
            _text(computed, least=20),
        ],
        key=_key,
        empty=NOTHING_ANSWERED,
    )


def answers_in_short(item: ShownItem, most: int | None = FIRST) -> Table[ItemAnswer]:
    """Return the answers for a terminal, at most `most` of them, or all for None.

    The answer's name is beside its text, and one column has its prompt and its reasons.
    """
    computed = item.computed
    rows = item.rows[:most]
    left = len(item.rows) - len(rows)
    note = (
        f"{plural(left, f'more {_unit(computed)}')} not shown: --all prints all {len(item.rows):,}"
    )
    prompt_column: Column[ItemAnswer] = Column("to", "asked", _prompt_words, Kind.PROSE, least=14)
    return Table(
        "answers",
        "Probabilities" if computed else "Answers",
        rows,
        [
            _subject(computed),
            *([] if computed else [_count()]),
            *([_reads()] if any(row.reads for row in rows) else []),
            prompt_column,
            _text(computed, least=24),
        ],
        key=_key,
        notes=[note] if left else [],
        empty=NOTHING_ANSWERED,
    )


def _unit(computed: bool) -> str:
    return "prompt" if computed else "answer"


def _key(row: ItemAnswer) -> tuple[str, ...]:
    return row.subject, row.variant, row.template, row.order


def _prompt_words(row: ItemAnswer) -> str:
    """Return the prompt of an answer, and the reasons that are about exactly this answer."""
    prompt = " ".join(
        filter(None, (row.variant, row.template, "swapped" * row.inverted, row.factors))
    )
    return f"{prompt}: {', '.join(row.because)}" if row.because else prompt


def _subject(computed: bool) -> Column[ItemAnswer]:
    return Column("subject", _unit(computed), lambda row: row.subject, least=10 if computed else 19)


def _count() -> Column[ItemAnswer]:
    return Column("count", "n", lambda row: row.count, Kind.COUNT)


def _reads() -> Column[ItemAnswer]:
    return Column("reads", "read as", lambda row: row.reads)


def _because() -> Column[ItemAnswer]:
    return Column(
        "because",
        "why",
        lambda row: list(row.because),
        Kind.WORDS,
        help="reasons that apply to exactly this answer",
    )


def _text(computed: bool, least: int) -> Column[ItemAnswer]:
    return Column(
        "text",
        "likeliest next" if computed else "text",
        lambda row: row.text,
        Kind.PROSE,
        least=least,
    )


def readers_of(item: ShownItem) -> Table[tuple[ItemAnswer, ReaderReading]]:
    """Return each reader's reading of the answers on which they disagree.

    There are no rows if they agree.
    """
    return Table(
        "readers",
        "Readers that disagree",
        tuple((row, reading) for row in item.rows for reading in row.readers),
        [
            Column("subject", "answer", lambda row: row[0].subject, least=19),
            Column("reader", "reader", lambda row: row[1].who),
            Column("reads", "read as", lambda row: row[1].reads),
            Column(
                "words",
                "because of these words",
                lambda row: deciding(row[0].text, row[1]),
                Kind.PROSE,
                least=20,
            ),
            Column("reason", "reason", lambda row: row[1].reason, Kind.PROSE, aside=True),
        ],
        key=lambda row: (row[0].subject, row[0].variant, row[0].template, row[0].order, row[1].who),
        empty="Readers agree on every answer.",
    )


def deciding(text: str, answer: ReaderReading) -> str:
    """Return the words of an answer that decide its reading, or empty if unknown."""
    if answer.start is None or answer.stop is None:
        return ""
    return text[answer.start : answer.stop]
