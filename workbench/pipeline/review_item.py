"""An item of an auditor's queue: a statement or a drawn answer, with what the model gave and what
rules on it.
"""

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
from workbench.domain.reviews import READERS_DISAGREE, Ranked
from workbench.evidence.ruling_subjects import (
    UNREADABLE,
    ReadBy,
    readings_of_statement,
    short_answer,
    short_prompt,
)
from workbench.figures.shown import number
from workbench.figures.table import Column, Kind, Table
from workbench.pipeline.review import Progress, Review, Waiting, answers_of, name, take_next
from workbench.pipeline.review_tables import why

NOT_READ = "not read"
HIDDEN = "hidden"
"in the place of the reading of a drawn answer that is decided blind"
LIKELIEST = 6
"continuations or next tokens of a prompt that are shown"
FIRST = 10
"""answers of an item that a terminal shows unless all are asked for: those that a reason is about
come first"""
NOTHING_ANSWERED = "There are no answers."
LISTED = 200
"prompts of which probabilities are shown: a question may be put as hundreds of people"


@dataclass(frozen=True, slots=True)
class ItemAnswer:
    """What a model gave to one prompt: an answer, or probabilities."""

    variant: str
    template: str
    inverted: bool
    prompt: bytes
    "key"
    key: bytes | None
    "of the answer's text; None: probabilities"
    text: str
    count: int
    reads: str
    "what the reader made of it; empty where an answer stands for itself, as a letter does"
    because: tuple[str, ...] = ()
    """the reasons of the item that are about just this answer or its prompt: `disagree 26/30`,
    `readers disagree`"""
    factors: str = ""
    "what an audit varies besides wording and template, in words"
    reason: str = ""
    "why it is read so: what decided, or how sure a classifier is"
    start: int | None = None
    stop: int | None = None
    "the deciding words are `text[start:stop]`"
    readers: tuple[ReadBy, ...] = ()
    "what each reader makes of it, where they differ and that is why the item waits"

    @property
    def subject(self) -> str:
        """Return the command that rules on the item."""
        return (
            short_prompt(self.prompt) if self.key is None else short_answer(self.prompt, self.key)
        )

    @property
    def meant(self) -> bool:
        """Return whether a reason of the item is about just this answer or its prompt."""
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
    """Return an answer without what readers make of it, for who decides on it blind."""
    return replace(row, reads=HIDDEN, reason="", start=None, stop=None, readers=())


@dataclass(frozen=True, slots=True)
class Shown:
    """An item with what the model gave."""

    item: Waiting
    wordings: tuple[tuple[str, str], ...]
    "(variant, text) of the wordings that the answers are about"
    rows: tuple[ItemAnswer, ...]
    left_out: int = 0
    "prompts of which probabilities are not shown"

    @property
    def subject(self) -> str:
        return name(self.item)

    @property
    def computed(self) -> bool:
        """Whether probabilities stand in the place of answers."""
        return bool(self.rows) and self.rows[0].key is None

    def told(self, *, blind: bool = False) -> tuple[str, ...]:
        """Say what the item is, why it is in the queue, and what was asked."""
        asked = (f"{variant}: {text}" for variant, text in self.wordings)
        more = f"{plural(self.left_out, 'more prompt')} not shown" if self.left_out else ""
        return (
            f"Next: {self.subject}",
            f"because: {why(self.item, blind=blind)}",
            *asked,
            *filter(None, [more]),
        )

    def acts(
        self,
        auditor: str | None,
        instrument: str = "",
        labels: Sequence[str] = (),
        by: str | None = None,
        model: str = "",
    ) -> tuple[str, ...]:
        """Say how to rule on it; a command stands alone and works as it stands, so that it can be
        copied.

        `instrument`: to be named where the store has several; `labels`: possible readings of a
        drawn answer; `by`: the reader, where it is not the usual one; `model`: to be named where
        the store has several
        """
        how = (
            f"--model {shlex.quote(model)} " * bool(model)
            + f"--reason TEXT --as {shlex.quote(auditor or 'NAME')}"
        )
        of = f" --instrument {shlex.quote(instrument)}" * bool(instrument)
        rule = f"workbench rule STORE {shlex.quote(self.subject)}"
        if isinstance(self.item, Ranked):
            variant = self.wordings[0][0] if self.wordings else "original"
            wording = f"a wording ({self.subject}/{variant} wording-at-fault)"
            answers = ", or on an answer by its name (ANSWER misread --reading LABEL)"
            prompts = ", or on a prompt by its name (PROMPT template-at-fault)"
            below = (
                answers
                if any(row.key is not None for row in self.rows)
                else prompts
                if self.rows
                else ""
            )
            names = f"workbench rulings STORE --of {shlex.quote(self.subject)}{of}"
            said = f"Rule on the statement, on {wording}{below}:", f"{rule} confirmed{of} {how}"
            return said if self.rows else (*said, "What else can be ruled on:", names)
        read = {row.reads for row in self.rows}
        anew = how if by is None else f"--reader {shlex.quote(by)} {how}"
        misread = (
            f"{rule} misread --reading {shlex.quote(label)} {anew}"
            for label in labels
            if label not in read
        )
        return "Decide with one of:", f"{rule} confirmed {how}", *misread

    def plain(self, *, blind: bool = False) -> dict[str, Any]:
        """Return the item as plain values."""
        kind = "statement" if isinstance(self.item, Ranked) else "control"
        return {
            "kind": kind,
            "subject": self.subject,
            "statement": self.item.ref,
            "why": why(self.item, blind=blind),
        }


def next_item(store: Store, progress: Progress, *, blind: bool = False) -> Shown | None:
    """Return an auditor's next item, leased to them; None if nothing is pending. `blind`: of a
    drawn answer its reading is hidden.
    """
    item = take_next(store, progress)
    if item is None:
        return None
    found = shown(store, progress.of, item)
    if blind and not isinstance(item, Ranked):
        return replace(found, rows=tuple(map(unread, found.rows)))
    return found


def shown(store: Store, of: Review, item: Waiting) -> Shown:
    """Return an item with the model's answers.

    Of a statement that is what it gave to the wordings that its reasons are about, to all of them
    where a reason is about the statement as a whole. Answers that a reason is about stand first,
    then those to the prompts that one is about, then those to the wordings of the heaviest reason.
    What auditors ruled is not shown.
    """
    if of.run.sampling.mode == EXACT:
        return _computed(store, of, item)
    every = (
        answers_of(store, of, item.ref)
        if of.reader is not None
        else store.review_queries.given(of.run, item.ref)
    )
    if isinstance(item, Ranked):
        chosen = [one for one in every if not item.variants or one.variant in item.variants]
        at = {variant: place for place, variant in enumerate(item.variants)}
        chosen.sort(
            key=lambda one: (
                (one.prompt, one.text) not in item.answers,
                not _is_put(one, item),
                at.get(one.variant, 0),
            )
        )
    else:
        chosen = [one for one in every if (one.prompt, one.text) == (item.prompt, item.text)]
    read_by = _readers(store, of, item)
    rows = tuple(
        _answer(
            store,
            of,
            one,
            because=_reasons(one, item),
            read_by=read_by.get((one.prompt, one.text), ()),
        )
        for one in chosen
    )
    return Shown(item, _wordings(store, of, item, [row.variant for row in rows]), rows)


def _readers(
    store: Store, of: Review, item: Waiting
) -> Mapping[tuple[bytes, bytes], Sequence[ReadBy]]:
    """Return each reader's reading of the answers on which they disagree; of a drawn answer nobody
    is told.
    """
    if not isinstance(item, Ranked) or all(one.reason != READERS_DISAGREE for one in item.signals):
        return {}
    by_rule = of.card is not None and of.card.kind is ReaderKind.RULE
    return readings_of_statement(store, of.run, item.ref, by_rule=by_rule)


def _is_put(one: ReadAnswer, item: Waiting) -> bool:
    """Return whether an answer is to a prompt that a reason is about."""
    return isinstance(item, Ranked) and (one.variant, one.template, one.inverted) in item.prompts


def _reasons(one: ReadAnswer, item: Waiting) -> tuple[str, ...]:
    """Say which reasons are about an answer."""
    return (
        item.about((one.prompt, one.text), (one.variant, one.template, one.inverted))
        if isinstance(item, Ranked)
        else ()
    )


def _answer(
    store: Store,
    of: Review,
    one: ReadAnswer,
    *,
    because: tuple[str, ...],
    read_by: Sequence[ReadBy],
) -> ItemAnswer:
    unread = NOT_READ if registry.audit(of.run.audit).nature.free_text else ""
    reads = (one.label or UNREADABLE) if of.reader is not None else unread
    text = store.review_queries.text(one.text)
    sure = (
        "" if one.confidence is None else f"confidence {number(one.confidence, Kind.COEFFICIENT)}"
    )
    return ItemAnswer(
        one.variant,
        one.template,
        one.inverted,
        one.prompt,
        one.text,
        text,
        one.count,
        reads,
        because,
        reason=one.reason or sure,
        start=one.start,
        stop=one.stop,
        readers=tuple(read_by),
    )


def _computed(store: Store, of: Review, item: Waiting) -> Shown:
    """Return an item of a run with computed probabilities."""
    every = store.review_queries.prompts(of.run, item.ref)
    wanted = item.variants if isinstance(item, Ranked) else ()
    chosen = [one for one in every if not wanted or one.variant in wanted]
    rows = tuple(
        ItemAnswer(
            one.variant,
            one.template,
            one.inverted,
            one.key,
            None,
            probabilities(store, of, one.probe),
            1,
            "",
            factors=", ".join(f"{axis} {value}" for axis, value in one.axes.items()),
        )
        for one in chosen[:LISTED]
    )
    wordings = _wordings(store, of, item, [one.variant for one in chosen])
    return Shown(item, wordings, rows, left_out=len(chosen) - len(rows))


def probabilities(store: Store, of: Review, probe: int) -> str:
    """Say what a model holds likeliest to follow a prompt: the labels that were scored, else the
    next tokens.
    """
    found = store.scores.of_probe(of.run, probe)
    if found is None or found.failed:
        return f"not scored: {found.failed}" if found is not None else "not scored"
    pairs = found.scores or (found.table.tokens if found.table is not None else ())
    likeliest = sorted(pairs, key=lambda pair: -pair[1])[:LIKELIEST]
    return ", ".join(
        f"{text.strip() or repr(text)} {number(math.exp(log), Kind.SHARE)}"
        for text, log in likeliest
    )


def _wordings(
    store: Store, of: Review, item: Waiting, variants: Sequence[str]
) -> tuple[tuple[str, str], ...]:
    wanted = set(variants) or set(item.variants if isinstance(item, Ranked) else ())
    instrument = store.runs.instrument(of.run)
    statement = next((one for one in instrument.statements if one.ref == item.ref), None)
    if statement is None:
        return ()
    here = [one for one in statement.wordings if one.language == of.run.language]
    return tuple(
        (str(one.variant), one.text) for one in here if not wanted or str(one.variant) in wanted
    )


def answers(item: Shown) -> Table[ItemAnswer]:
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


def answers_in_short(item: Shown, most: int | None = FIRST) -> Table[ItemAnswer]:
    """Return the same for a terminal: an answer's name beside its words, and in one column what it
    answers and why it is here. `most`: rows that are shown; None: all.
    """
    computed = item.computed
    rows = item.rows[:most]
    left = len(item.rows) - len(rows)
    more = (
        f"{plural(left, f'more {_unit(computed)}')} not shown: --all prints all {len(item.rows):,}"
    )
    to: Column[ItemAnswer] = Column("to", "asked", _asked, Kind.PROSE, least=14)
    return Table(
        "answers",
        "Probabilities" if computed else "Answers",
        rows,
        [
            _subject(computed),
            *([] if computed else [_count()]),
            *([_reads()] if any(row.reads for row in rows) else []),
            to,
            _text(computed, least=24),
        ],
        key=_key,
        notes=[more] if left else [],
        empty=NOTHING_ANSWERED,
    )


def _unit(computed: bool) -> str:
    return "prompt" if computed else "answer"


def _key(row: ItemAnswer) -> tuple[str, ...]:
    return row.subject, row.variant, row.template, row.order


def _asked(row: ItemAnswer) -> str:
    """Say which prompt an answer is to, and which reasons are about just this answer."""
    put = " ".join(filter(None, (row.variant, row.template, "swapped" * row.inverted, row.factors)))
    return f"{put}: {', '.join(row.because)}" if row.because else put


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


def readers_of(item: Shown) -> Table[tuple[ItemAnswer, ReadBy]]:
    """Return each reader's reading of the answers on which they disagree; no rows where they
    agree.
    """
    return Table(
        "readers",
        "Readers that disagree",
        tuple((row, one) for row in item.rows for one in row.readers),
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


def deciding(text: str, one: ReadBy) -> str:
    """Return the words of an answer that decide its reading; empty if unknown."""
    return text[one.start : one.stop] if one.start is not None and one.stop is not None else ""
