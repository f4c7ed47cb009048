"""Answers that rules, classifiers and people read differently, with the reading of each."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from stores.annotation.review_queries import Labelled, ReadAnswer
from stores.core.store import Store
from stores.runs.run_rows import Run
from workbench.domain.counting import plural
from workbench.domain.readings import LABEL_WORDS, ReaderCard, ReaderKind, Stance
from workbench.domain.responses import EXACT
from workbench.domain.reviews import READERS_DISAGREE, Signal
from workbench.errors import UsageError
from workbench.evidence.rule_reading import RULES, read
from workbench.evidence.ruling_subjects import UNREADABLE

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
        yield ref, Signal(READERS_DISAGREE, f"{plural(total, 'answer')}, as {example}", variants, keys, size=total)


def readers(store: Store, run: Run, ref: str, *, by_rule: bool) -> Mapping[At, Sequence[ReadBy]]:
    """Return the answers about a statement that are read differently, with each reader's reading."""
    return {at: of for at, of in _said(store, run, ref, by_rule=by_rule)[0].items() if _differ(of)}


def _said(
    store: Store, run: Run, ref: str | None = None, *, by_rule: bool
) -> tuple[Mapping[At, Sequence[ReadBy]], Mapping[At, tuple[str, str, int]]]:
    """Return each reader's reading of the answers on which readers may differ, and (ref, wording, count) of these
    answers.
    """
    said: dict[At, list[ReadBy]] = {}
    counted: dict[At, tuple[str, str, int]] = {}
    if run.sampling.mode == EXACT:
        return said, counted
    labels = [one for one in store.review_queries.labelled(run) if ref in (None, one.ref)]
    for name, answers in _by_rules(store, run, ref, {one.text for one in labels}) if by_rule else ():
        for one in answers:
            said.setdefault((one.prompt, one.text), []).append(ReadBy(name, one.label, one.reason, one.start, one.stop))
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
    """Yield each shipped rule's readings of answers that rules read differently, and of labelled answers.

    Rules agree on most answers, which are not loaded.
    """
    rules = read_by_all(store, run)
    of = store.review_queries
    texts = of.read_differently(run, [rowid for rowid, _ in rules]) | of.rowids(labelled)
    for rowid, card in rules if texts else ():
        yield card.name, of.answers(run, rowid, ref, texts=texts)


def read_by_all(store: Store, run: Run) -> Sequence[tuple[int, ReaderCard]]:
    """Let each shipped rule read the answers of a run that it has not read; return the rules' rowids and cards.

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


def _by_people(labels: Iterable[Labelled]) -> Iterator[tuple[tuple[bytes, bytes], Sequence[Labelled]]]:
    """Yield the labels of classifiers and people for each answer; a decision replaces the labels that it settles."""
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


__all__ = ["ReadBy", "contradictions", "read_by_all", "readers"]
