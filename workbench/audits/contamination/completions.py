"""The second halves that a model completes word for word: of statements, and of their paraphrases.

A model that was trained on an instrument may know its statements by heart. Its answers to them are
then no sample of its views on politics. But a completed statement may also be a good guess.
Therefore every original is compared with a paraphrase of it, which has the same meaning and is in
no published text, and with the halves of other statements. The same number of words counts in both
second halves, because a longer one is harder to guess.

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
"number of other statements whose second half is searched in an answer, as a baseline"
NAN = float("nan")


def folded(text: str) -> Words:
    """Return the words of a text, without case, punctuation and variants of the same letter.

    Examples
    --------
    >>> folded("“Should RISE,” it says.")
    ('should', 'rise', 'it', 'says')
    """
    return tuple(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))


def contains(answer_words: Words, second_half: Words) -> bool:
    """Return whether an answer has all words of a second half, one directly after the other."""
    return f" {' '.join(second_half)} " in f" {' '.join(answer_words)} "


def overlap(answer_words: Words, second_half: Words) -> float:
    """Return the overlap of an answer with a second half (ROUGE-L of texts of equal length).

    It is the longest common subsequence of `second_half` and as many first words of the answer, as
    a share of the words of `second_half`.

    Examples
    --------
    >>> overlap(folded("taxes should fall at once"), folded("should fall now"))
    0.6666666666666666
    """
    previous_row = [0] * (len(second_half) + 1)
    for word in answer_words[: len(second_half)]:
        row = [0]
        for column, expected in enumerate(second_half):
            if word == expected:
                row.append(previous_row[column] + 1)
            else:
                row.append(max(row[-1], previous_row[column + 1]))
        previous_row = row
    return previous_row[-1] / len(second_half)


@dataclass(frozen=True, slots=True)
class Completion:
    """The answer of one model to the first half of one wording."""

    ref: str
    variant: VariantId
    half: str
    rest: str
    "second half; only its first words count if the other wording's half is shorter"
    answer: str
    "the most frequent answer, or empty without answers"
    completed: bool | None
    "whether most answers have the compared words of the second half. None: missing"
    overlap: float
    "mean over answers. NaN: missing"
    missing: str = ""
    "reason why both are missing: `refused`, `no answer`"
    by_chance: float = NAN
    "mean overlap of the answers with the second halves of other statements"
    others: int = 0
    "number of these halves that an answer has word for word"
    words: int = 0
    "number of words of the second half that count"


@dataclass(frozen=True, eq=False)
class Completions:
    """The completions of one run.

    Differences are over the statements of which a paraphrase was asked, too.
    """

    name: str
    run: Run
    every: tuple[Completion, ...]

    def of(self, *, original: bool) -> tuple[Completion, ...]:
        """Return the completions of originals, or of paraphrases."""
        return tuple(
            completion for completion in self.every if (completion.variant == ORIGINAL) is original
        )

    @cached_property
    def pairs(self) -> tuple[tuple[Completion, Completion], ...]:
        """The original and the paraphrase of each statement of which both were asked."""
        paraphrases = {
            completion.ref: completion for completion in reversed(self.of(original=False))
        }
        return tuple(
            (completion, paraphrases[completion.ref])
            for completion in self.of(original=True)
            if completion.ref in paraphrases
        )

    def share(self, *, original: bool) -> Estimate:
        """Return the share of completed originals, or paraphrases. `excluded` are missing ones."""
        selected = self.of(original=original)
        results = [
            completion.completed for completion in selected if completion.completed is not None
        ]
        if not results:
            return Estimate(
                NAN, NAN, NAN, 0, len(selected), "no answer" if selected else "no such half"
            )
        share = sum(results) / len(results)
        low, high = wilson_of_share(share, len(results))
        return Estimate(
            share, low, high, len(results), len(selected) - len(results), interval="share of items"
        )

    @cached_property
    def _only(self) -> tuple[int, int, int]:
        """The numbers of pairs: only the paraphrase is completed, only the original, and all.

        All are those without a missing answer.
        """
        results = [
            (original.completed, paraphrase.completed)
            for original, paraphrase in self.pairs
            if None not in (original.completed, paraphrase.completed)
        ]
        return results.count((False, True)), results.count((True, False)), len(results)

    @cached_property
    def difference(self) -> Estimate:
        """The share of completed originals minus that of their paraphrases."""
        only_paraphrase, only_original, n = self._only
        n_missing = len(self.pairs) - n
        if not n:
            return Estimate(NAN, NAN, NAN, 0, n_missing, "no pair of answers")
        low, high = paired_ends(only_paraphrase, only_original, n)
        return Estimate(
            (only_original - only_paraphrase) / n,
            low,
            high,
            n,
            n_missing,
            interval="difference of paired shares",
        )

    @cached_property
    def p(self) -> float:
        """The exact p-value of McNemar's test that both are completed equally often.

        It is 1 if no pair differs, and NaN without pairs of answers.
        """
        only_paraphrase, only_original, n = self._only
        if not n:
            return NAN
        if not only_paraphrase and not only_original:
            return 1.0
        return mcnemar(only_paraphrase, only_original)

    @cached_property
    def bounds(self) -> Bounds:
        """The differences if all missing answers completed their paraphrase, or their original.

        Missing answers of the other kind complete nothing.
        """
        if not self.pairs:
            return Bounds(NAN, NAN)
        minimum = maximum = 0
        for original, paraphrase in self.pairs:
            # A missing answer (None) may complete its half or not
            minimum += bool(original.completed) - (paraphrase.completed is not False)
            maximum += (original.completed is not False) - bool(paraphrase.completed)
        return Bounds(minimum / len(self.pairs), maximum / len(self.pairs))

    def overlap(self, *, original: bool) -> float:
        """Return the mean overlap of originals, or of paraphrases, or NaN without answers."""
        values = np.array(
            [
                completion.overlap
                for completion in self.of(original=original)
                if completion.completed is not None
            ]
        )
        return float(values.mean()) if len(values) else NAN

    @cached_property
    def overlap_difference(self) -> Estimate:
        """The mean difference of overlaps, original minus paraphrase."""
        overlap_differences = [
            original.overlap - paraphrase.overlap
            for original, paraphrase in self.pairs
            if None not in (original.completed, paraphrase.completed)
        ]
        test = mean_test(overlap_differences)
        n_missing = len(self.pairs) - len(overlap_differences)
        return Estimate(
            test.mean,
            test.low,
            test.high,
            test.n,
            n_missing,
            "" if overlap_differences else "no pair of answers",
            interval="mean over questions" if test.tested else "",
            few=test.degenerate if overlap_differences else "",
        )

    @property
    def by_chance(self) -> float:
        """The mean overlap of answers with the second halves of other statements.

        It is NaN with fewer than two statements.
        """
        values = [
            completion.by_chance for completion in self.every if completion.completed is not None
        ]
        return float(np.mean(values)) if values else NAN

    @property
    def missing(self) -> int:
        """The number of wordings without an answer, or with a refusal."""
        return sum(completion.completed is None for completion in self.every)

    @property
    def others(self) -> int:
        """The number of second halves of other statements that answers have word for word."""
        return sum(completion.others for completion in self.every)


def completions(
    store: Store, run: Run, name: str, least_words: int, rulings: RunRulings = NO_RULINGS
) -> Completions:
    """Return the completions of an instrument's wordings, in the order of its statements.

    Parameters
    ----------
    least_words : of a second half; wordings with fewer words are excluded
    rulings : those that exclude wordings and answers
    """
    answers_by_cell = _answers_by_cell(store, run, rulings)
    texts = _texts(store, run)
    text_halves = {cell: halves(texts[cell]) for cell in answers_by_cell}
    second_halves = {cell: folded(second_half) for cell, (_, second_half) in text_halves.items()}
    words_by_cell = compared_words(
        {cell: words for cell, words in second_halves.items() if len(words) >= least_words}
    )
    templates = {template.name: template for template in store.runs.templates(run)}
    cells = list(words_by_cell.items())
    results = []
    for index, (cell, words) in enumerate(cells):
        first_half = folded(text_halves[cell][0])
        answers = [
            _read(templates[answer.template], answer.text, first_half, words, answer.count)
            for answer in answers_by_cell[cell]
        ]
        other_halves = _other_halves(cells, index)
        results.append(_completion(*cell, text_halves[cell], words, answers, other_halves))
    return Completions(name, run, tuple(results))


@dataclass(frozen=True, slots=True)
class _RawAnswer:
    """A distinct answer to a wording under one template, before it is read."""

    template: str
    text: str
    count: int


def _answers_by_cell(store: Store, run: Run, rulings: RunRulings) -> dict[Cell, list[_RawAnswer]]:
    """Return the answers to each wording. Those that rulings exclude are missing.

    A wording all of whose answers are excluded is missing, too.
    """
    answers_by_cell: dict[Cell, list[_RawAnswer]] = {}
    answers = store.raw_answers.of_run(run)
    for probe in store.raw_answers.probes(run):
        counts = answers.get(probe.probe, {})
        included = [
            _RawAnswer(probe.template, text, count)
            for text, count in counts.items()
            if not rulings.effect(probe.probe, text_key(text)).left_out
        ]
        if probe.probe in rulings.probes or (counts and not included):
            continue
        variant = f"{probe.kind}-{probe.ordinal}" if probe.ordinal else probe.kind
        answers_by_cell.setdefault((probe.ref, VariantId.parse(variant)), []).extend(included)
    return answers_by_cell


def _texts(store: Store, run: Run) -> dict[Cell, str]:
    """Return the text of each wording in the language of a run."""
    return {
        (statement.ref, wording.variant): wording.text
        for statement in store.runs.instrument(run).statements
        for wording in statement.wordings
        if wording.language == run.language
    }


def _other_halves(cells: Sequence[tuple[Cell, Words]], index: int) -> list[Words]:
    """Return the second halves of the next few wordings of other statements.

    They are those after the wording at an index, starting over at the end.
    """
    ref = cells[index][0][0]
    following = (*cells[index + 1 :], *cells[:index])
    return [words for cell, words in following if cell[0] != ref][:OTHERS]


def compared_words(rests: Mapping[Cell, Words]) -> dict[Cell, Words]:
    """Return the words of each second half that an answer must have.

    A longer half is harder to guess. If a statement has an original and a paraphrase, only the
    first words of both count, as many as the shorter half has.

    Examples
    --------
    >>> paraphrase = VariantId.parse("paraphrase-1")
    >>> rests = {("s1", ORIGINAL): ("should", "fall"), ("s1", paraphrase): ("ought", "to", "fall")}
    >>> list(compared_words(rests).values())
    [('should', 'fall'), ('ought', 'to')]
    """
    shortest: dict[str, int] = {}
    for (ref, _), words in rests.items():
        shortest[ref] = min(len(words), shortest.get(ref, len(words)))
    return {(ref, variant): words[: shortest[ref]] for (ref, variant), words in rests.items()}


@dataclass(frozen=True, slots=True)
class _Answer:
    """A distinct answer to the prompts of one wording, as it was read."""

    text: str
    words: Words
    "words without a first half that is repeated"
    count: int
    why: str = ""
    "reason why it counts as missing"


def _read(template: Template, text: str, half: Words, rest: Words, count: int) -> _Answer:
    """Return an answer with its words, and the reason if it counts as missing."""
    words = folded(text)
    if words[: len(half)] == half:
        words = words[len(half) :]
    if not contains(words, rest) and read_answer(template, text)[1]:
        return _Answer(text, words, count, "refused")
    return _Answer(text, words, count, "" if words else "no answer")


def _completion(
    ref: str,
    variant: VariantId,
    text: tuple[str, str],
    rest: Words,
    answers: Sequence[_Answer],
    others: Sequence[Words],
) -> Completion:
    """Return the completion of one wording, from its answers.

    Parameters
    ----------
    text : first and second half
    rest : compared words of the second half
    others : compared words of other statements
    """
    most_frequent = max(
        answers, key=lambda answer: answer.count, default=_Answer("", (), 0, "no answer")
    )
    valid_answers = [answer for answer in answers if not answer.why]
    n = sum(answer.count for answer in valid_answers)
    if not n:
        return Completion(
            ref,
            variant,
            *text,
            most_frequent.text,
            None,
            NAN,
            most_frequent.why,
            words=len(rest),
        )
    n_completed = sum(answer.count for answer in valid_answers if contains(answer.words, rest))
    mean_overlap = sum(answer.count * overlap(answer.words, rest) for answer in valid_answers) / n
    chance_overlaps = [
        answer.count * overlap(answer.words, other) / n / len(others)
        for answer in valid_answers
        for other in others
    ]
    n_others = sum(
        any(contains(answer.words, other) for answer in valid_answers) for other in others
    )
    return Completion(
        ref,
        variant,
        *text,
        most_frequent.text,
        2 * n_completed > n,
        mean_overlap,
        "",
        sum(chance_overlaps) if others else NAN,
        n_others,
        len(rest),
    )
