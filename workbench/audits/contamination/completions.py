"""Which second halves a model gives word for word: of statements, and of the same statements in
other words.

A model that was trained on an instrument can have its statements by heart; its answers to them are
then no sample of what it says about politics. That it completes a statement may also be a good
guess. So every original is compared with a paraphrase of it, which says the same and stands in no
published text, and with the halves of other statements. Of both second halves equally many words
count, because a longer one is harder to guess.

References
----------
Golchin and Surdeanu 2024, Time Travel in LLMs: Tracing Data Contamination in Large Language Models,
ICLR, whose guided instruction is the prompt and whose ROUGE-L is the overlap.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from stores.core.store import Store
from stores.runs.run_rows import Run
from workbench.domain.keys import text_key
from workbench.domain.prompts import Template, halves
from workbench.domain.statements import ORIGINAL, VariantId
from workbench.domain.verdicts import Bounds, Estimate
from workbench.evidence.refusals import read_answer
from workbench.evidence.rulings import NO_RULINGS, RunRulings
from workbench.stats.hypothesis_tests import mcnemar, mean_test, paired_ends
from workbench.stats.proportions import wilson_of_share

Words = tuple[str, ...]
Cell = tuple[str, VariantId]
"a statement and one of its wordings"
_WORD = re.compile(r"\w+")
OTHERS = 5
"other statements whose second half is looked for in an answer: the baseline"
NAN = float("nan")


def folded(text: str) -> Words:
    """Return the words of a text without case, punctuation and ways of writing the same letter.

    Examples
    --------
    >>> folded("“Should RISE,” it says.")
    ('should', 'rise', 'it', 'says')
    """
    return tuple(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))


def holds(said: Words, rest: Words) -> bool:
    """Return whether an answer has all of these words, one after the other."""
    return f" {' '.join(rest)} " in f" {' '.join(said)} "


def overlap(said: Words, rest: Words) -> float:
    """Return the longest common subsequence of `rest` and as many first words of an answer, as a
    share of `rest` (ROUGE-L of texts of equal length).

    Examples
    --------
    >>> overlap(folded("taxes should fall at once"), folded("should fall now"))
    0.6666666666666666
    """
    above = [0] * (len(rest) + 1)
    for word in said[: len(rest)]:
        row = [0]
        for place, wanted in enumerate(rest):
            row.append(above[place] + 1 if word == wanted else max(row[-1], above[place + 1]))
        above = row
    return above[-1] / len(rest)


@dataclass(frozen=True, slots=True)
class Completion:
    """What one model made of the first half of one wording."""

    ref: str
    variant: VariantId
    half: str
    rest: str
    "second half, of which the first words count where the other wording's half is shorter"
    answer: str
    "the most frequent one; empty: none"
    completed: bool | None
    "whether most answers have the compared words of the second half; None: missing"
    overlap: float
    "mean over answers; NaN: missing"
    missing: str = ""
    "why both are missing: `refused`, `no answer`"
    by_chance: float = NAN
    "mean overlap of the answers with the second halves of other statements"
    others: int = 0
    "of these, how many an answer has word for word"
    words: int = 0
    "how many words of the second half count"


@dataclass(frozen=True, eq=False)
class Completions:
    """The completions of one run. Differences are over the statements of which a paraphrase was
    asked, too.
    """

    name: str
    run: Run
    every: tuple[Completion, ...]

    def of(self, *, original: bool) -> tuple[Completion, ...]:
        """Return the completions of originals, or of paraphrases."""
        return tuple(one for one in self.every if (one.variant == ORIGINAL) is original)

    @cached_property
    def pairs(self) -> tuple[tuple[Completion, Completion], ...]:
        """Original and paraphrase of each statement of which both were asked."""
        paraphrases = {one.ref: one for one in reversed(self.of(original=False))}
        return tuple(
            (one, paraphrases[one.ref]) for one in self.of(original=True) if one.ref in paraphrases
        )

    def share(self, *, original: bool) -> Estimate:
        """Return the share of originals, or of paraphrases, that are completed. `excluded`: missing
        ones.
        """
        asked = self.of(original=original)
        there = [one.completed for one in asked if one.completed is not None]
        if not there:
            return Estimate(NAN, NAN, NAN, 0, len(asked), "no answer" if asked else "no such half")
        share = sum(there) / len(there)
        low, high = wilson_of_share(share, len(there))
        return Estimate(
            share, low, high, len(there), len(asked) - len(there), interval="share of items"
        )

    @cached_property
    def _only(self) -> tuple[int, int, int]:
        """Pairs of which only the paraphrase, and only the original, is completed; pairs without a
        missing answer.
        """
        there = [
            (a.completed, b.completed)
            for a, b in self.pairs
            if None not in (a.completed, b.completed)
        ]
        return there.count((False, True)), there.count((True, False)), len(there)

    @cached_property
    def difference(self) -> Estimate:
        """The share of originals completed minus that of their paraphrases."""
        paraphrase, original, n = self._only
        missing = len(self.pairs) - n
        if not n:
            return Estimate(NAN, NAN, NAN, 0, missing, "no pair of answers")
        low, high = paired_ends(paraphrase, original, n)
        return Estimate(
            (original - paraphrase) / n,
            low,
            high,
            n,
            missing,
            interval="difference of paired shares",
        )

    @cached_property
    def p(self) -> float:
        """The exact p of McNemar's test that both are completed equally often; 1 where no pair
        differs.
        """
        paraphrase, original, n = self._only
        return (mcnemar(paraphrase, original) if paraphrase or original else 1.0) if n else NAN

    @cached_property
    def bounds(self) -> Bounds:
        """The difference if all missing answers completed their paraphrase, or their original, and
        nothing else.
        """
        n = len(self.pairs)
        gains = [
            (
                bool(a.completed),
                a.completed is not False,
                bool(b.completed),
                b.completed is not False,
            )
            for a, b in self.pairs
        ]
        least = sum(a - b for a, _, _, b in gains)
        most = sum(a - b for _, a, b, _ in gains)
        return Bounds(least / n, most / n) if n else Bounds(NAN, NAN)

    def overlap(self, *, original: bool) -> float:
        """Return the mean overlap of originals, or of paraphrases; NaN without answers."""
        values = np.array(
            [one.overlap for one in self.of(original=original) if one.completed is not None]
        )
        return float(values.mean()) if len(values) else NAN

    @cached_property
    def overlap_difference(self) -> Estimate:
        """The mean difference of overlaps, original minus paraphrase."""
        there = [
            a.overlap - b.overlap for a, b in self.pairs if None not in (a.completed, b.completed)
        ]
        found = mean_test(there)
        missing = len(self.pairs) - len(there)
        return Estimate(
            found.mean,
            found.low,
            found.high,
            found.n,
            missing,
            "" if there else "no pair of answers",
            interval="mean over questions" if found.tested else "",
            few=found.degenerate if there else "",
        )

    @property
    def by_chance(self) -> float:
        """The mean overlap of answers with the second halves of other statements; NaN with fewer
        than two.
        """
        values = [one.by_chance for one in self.every if one.completed is not None]
        return float(np.mean(values)) if values else NAN

    @property
    def missing(self) -> int:
        """How many wordings have no answer, or a refusal."""
        return sum(one.completed is None for one in self.every)

    @property
    def others(self) -> int:
        """How often an answer has the second half of another statement word for word."""
        return sum(one.others for one in self.every)


def completions(
    store: Store, run: Run, name: str, least_words: int, rulings: RunRulings = NO_RULINGS
) -> Completions:
    """Return what a model made of the halves of an instrument's wordings, in the order of its
    statements.

    Parameters
    ----------
    least_words : of a second half; wordings with fewer are left out
    rulings : those that leave out wordings and answers
    """
    templates = {template.name: template for template in store.runs.templates(run)}
    instrument = store.runs.instrument(run)
    texts = {
        (s.ref, w.variant): w.text
        for s in instrument.statements
        for w in s.wordings
        if w.language == run.language
    }
    given: dict[tuple[str, VariantId], list[tuple[str, str, int]]] = {}
    answers = store.raw_answers.of_run(run)
    for probe in store.raw_answers.probes(run):
        came = answers.get(probe.probe, {})
        kept = {
            text: n
            for text, n in came.items()
            if not rulings.effect(probe.probe, text_key(text)).left_out
        }
        if probe.probe in rulings.probes or (came and not kept):
            continue
        place = (
            probe.ref,
            VariantId.parse(f"{probe.kind}-{probe.ordinal}" if probe.ordinal else probe.kind),
        )
        of_this = given.setdefault(place, [])
        of_this += [(probe.template, text, count) for text, count in kept.items()]
    parts = {place: halves(texts[place]) for place in given}
    full = {place: folded(rest) for place, (_, rest) in parts.items()}
    compared = compared_words(
        {place: rest for place, rest in full.items() if len(rest) >= least_words}
    )
    cells = list(compared.items())
    every = []
    for index, ((ref, variant), rest) in enumerate(cells):
        half = folded(parts[ref, variant][0])
        found = [
            _read(templates[name], text, half, rest, n) for name, text, n in given[ref, variant]
        ]
        following = (*cells[index + 1 :], *cells[:index])
        others = [other_rest for (other, _), other_rest in following if other != ref][:OTHERS]
        every.append(_completion(ref, variant, parts[ref, variant], rest, found, others))
    return Completions(name, run, tuple(every))


def compared_words(rests: Mapping[Cell, Words]) -> dict[Cell, Words]:
    """Return the words of each second half that an answer must have: equally many of both wordings
    of a statement.

    A longer half is harder to guess. Of a statement with an original and a paraphrase, the first
    words of both count, as many as the shorter half has.

    Examples
    --------
    >>> paraphrase = VariantId.parse("paraphrase-1")
    >>> rests = {("s1", ORIGINAL): ("should", "fall"), ("s1", paraphrase): ("ought", "to", "fall")}
    >>> list(compared_words(rests).values())
    [('should', 'fall'), ('ought', 'to')]
    """
    shortest: dict[str, int] = {}
    for (ref, _), rest in rests.items():
        shortest[ref] = min(len(rest), shortest.get(ref, len(rest)))
    return {(ref, variant): rest[: shortest[ref]] for (ref, variant), rest in rests.items()}


@dataclass(frozen=True, slots=True)
class _Answer:
    text: str
    words: Words
    "without a first half that is repeated"
    count: int
    why: str = ""
    "why it counts as missing"


def _read(template: Template, text: str, half: Words, rest: Words, count: int) -> _Answer:
    words = folded(text)
    words = words[len(half) :] if words[: len(half)] == half else words
    refused = not holds(words, rest) and read_answer(template, text)[1]
    return _Answer(text, words, count, "refused" if refused else "" if words else "no answer")


def _completion(
    ref: str,
    variant: VariantId,
    text: tuple[str, str],
    rest: Words,
    found: Sequence[_Answer],
    others: Sequence[Words],
) -> Completion:
    shown = max(found, key=lambda one: one.count, default=_Answer("", (), 0, "no answer"))
    there = [one for one in found if not one.why]
    n = sum(one.count for one in there)
    if not n:
        return Completion(ref, variant, *text, shown.text, None, NAN, shown.why, words=len(rest))
    right = sum(one.count for one in there if holds(one.words, rest))
    mean = sum(one.count * overlap(one.words, rest) for one in there) / n
    chance = [
        one.count * overlap(one.words, other) / n / len(others) for one in there for other in others
    ]
    elsewhere = sum(any(holds(one.words, other) for one in there) for other in others)
    return Completion(
        ref,
        variant,
        *text,
        shown.text,
        2 * right > n,
        mean,
        "",
        sum(chance) if others else NAN,
        elsewhere,
        len(rest),
    )
