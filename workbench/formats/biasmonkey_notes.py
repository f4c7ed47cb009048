"""Sentences about known oddities of the BiasMonkey download, with their numbers.

They are not faults of the given file. They decide which definitions of a bias can be used: answers that were not
offered, and letters that were not renamed, count under the published definition and are left out or corrected under
another.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from workbench.domain.choices import (
    LETTERS,
    AnsweredPair,
    AnswerSet,
    ArmAnswers,
    Bias,
    ChoicePair,
    Perturbation,
)
from workbench.domain.counting import plural
from workbench.domain.questionnaire_tallies import named_few
from workbench.formats.biasmonkey_files import GROUPS, REWORD, Stem
from workbench.formats.biasmonkey_prompts import Prompts

USUAL = 50
"answers per form of a question, the denominator of the published percentages"
FIRST = 50
"number of keys of a file that the published results of perturbations cover"


def prompt_notes(prompts: Prompts, stems: Sequence[Stem]) -> Iterator[str]:
    """Describe oddities of the questions. `stems`: those of the files that were read."""
    if not stems:
        return
    yield "Questions: " + ", ".join(f"{len(pairs)} {stem}" for stem, pairs in prompts.pairs.items()) + "."
    missing = [str(stem) for stem in _usual() if stem not in stems]
    if missing and len(stems) > 1:
        yield f"There are no prompts for {', '.join(missing)}."
    for pair in prompts.all():
        if pair.changed and pair.bias is Bias.ACQUIESCENCE and len(pair.original.options) != 2:
            numbers = f"{len(pair.original.options)} options and its changed form {len(pair.changed.options)}"
            yield f"{Stem(pair.bias, pair.variant)}: the original of {pair.key} has {numbers}."
    for stem, n in prompts.misnumbered.items():
        yield f"{stem}: {n} questions record one option more than their text has, which is the original with errors."


def answer_notes(sets: Sequence[AnswerSet], prompts: Prompts) -> Iterator[str]:
    """Describe oddities of the answers, by model."""
    for model in dict.fromkeys(one.model for one in sets):
        own = [one for one in sets if one.model == model]
        yield f"{model}: {_summary(own)}"
        for note in _of_model(own, prompts):
            yield f"{model}, {note}"


def not_offered(one: AnswerSet) -> int:
    """Return how many answers are letters that were not offered; renamed letters (d to e) count as offered."""
    renamed = one.bias is Bias.ODD_EVEN and one.condition is None
    return sum(
        _beyond(pair.original, pair.original.offered)
        + _beyond(pair.changed, pair.changed.offered + (renamed and pair.changed.recorded == pair.changed.offered))
        for pair in one.pairs
    )


def _beyond(arm: ArmAnswers, limit: int) -> int:
    return sum(n for letter, n in arm.counts.items() if letter and LETTERS.index(letter) >= limit)


def _of_model(sets: Sequence[AnswerSet], prompts: Prompts) -> Iterator[str]:
    missing = [str(stem) for stem in _usual() if stem not in {_stem(one) for one in sets}]
    if missing and len(sets) > 1:
        yield f"there are no answers for {', '.join(missing)}."
    for one in sets:
        name = _stem(one)
        known = prompts.of(name)
        notes = (*_renaming(one), *_rejected(one), *_options(one, known), *_strange(one), *_numbers(one))
        yield from (f"{name}: {note}" for note in (*notes, *_blanks(one), *_left(one, known)))
    if any(one.variant == REWORD for one in sets):
        yield f"acquiescence_{REWORD} is acquiescence in milder wordings, a set of its own (variant {REWORD!r})."
    yield from _orders(sets, prompts)


def _summary(sets: Sequence[AnswerSet]) -> str:
    arms = [arm for one in sets for pair in one.pairs for arm in (pair.original, pair.changed)]
    answers = sum(sum(arm.counts.values()) for arm in arms)
    blank, beyond = sum(arm.counts.get("", 0) for arm in arms), sum(map(not_offered, sets))
    files = f"{len(sets)} file" + ("s" if len(sets) > 1 else "")
    return f"{files}, {answers:,} answers; {blank:,} without a letter, {beyond:,} with letters that were not offered."


def _renaming(one: AnswerSet) -> Iterator[str]:
    """Say where the letters of the form without a middle option were renamed to the original's, and where not."""
    if one.bias is not Bias.ODD_EVEN or one.condition is not None:
        return
    kept = [pair.changed for pair in one.pairs if pair.changed.recorded > pair.changed.offered]
    named = [pair.changed for pair in one.pairs if pair.changed.recorded == pair.changed.offered]
    if kept:
        yield (
            f"{len(kept)} of {len(one.pairs)} questions record {_several(a.recorded for a in kept)} options for the "
            f"form without the middle one, which offered {_several(a.offered for a in kept)}: its letters were not "
            f"renamed (c to d, d to e), and {not_offered(one)} answers are letters that it did not offer."
        )
    if named:
        still = sum(arm.counts.get("c", 0) for arm in named)
        yield f"in {len(named)} of {len(one.pairs)} the letters were renamed; {still} answers c remain in these."


def _rejected(one: AnswerSet) -> Iterator[str]:
    """Say where the last option was offered but could not be answered, because too few options were recorded."""
    arms = [pair.changed for pair in one.pairs if pair.changed.recorded < pair.changed.offered]
    if arms and one.bias is Bias.OPINION_FLOAT:
        last = sum(arm.counts.get(LETTERS[arm.offered - 1], 0) for arm in arms)
        yield (
            f"{len(arms)} of {len(one.pairs)} questions record {_several(a.recorded for a in arms)} options for the "
            f"form with {_several(a.offered for a in arms)}: the last one, no opinion, was drawn again whenever it was "
            f"answered, and is answered {last} times."
        )


def _options(one: AnswerSet, known: Mapping[str, ChoicePair]) -> Iterator[str]:
    """Say where the numbers of options differ from the prompts, or between the forms."""
    odd = [p for p in one.pairs if p.key in known and p.original.recorded != len(known[p.key].original.options)]
    if odd:
        numbers = _several(pair.original.recorded for pair in odd)
        keys = _few(odd)
        were = f"{plural(len(odd), 'question')} {'was' if len(odd) == 1 else 'were'}"
        yield f"{were} asked with {numbers} options, unlike the prompts here: {keys}."
    if one.bias is Bias.ACQUIESCENCE and one.condition is None:
        odd = [pair for pair in one.pairs if pair.changed.recorded != pair.changed.offered]
        for pair in odd:
            numbers = f"{pair.original.offered} options in its original and {pair.changed.offered} in its changed form"
            beyond = _beyond(pair.changed, pair.changed.offered)
            yield (
                f"{pair.key} has {numbers}, for which {pair.changed.recorded} are recorded: {beyond} answers are "
                "letters that it did not offer."
            )


def _strange(one: AnswerSet) -> Iterator[str]:
    """Say where answers have letters that the form neither offered nor records."""
    odd: dict[str, int] = {}
    for pair in one.pairs:
        limits = [max(arm.recorded, arm.offered) for arm in (pair.original, pair.changed)]
        if one.bias is Bias.ODD_EVEN and one.condition is None:
            limits[1] = max(limits)  # letters of the original, to which those of the changed form are renamed
        odd[pair.key] = _beyond(pair.original, limits[0]) + _beyond(pair.changed, limits[1])
    odd = {key: n for key, n in odd.items() if n}
    if odd:
        yield (
            f"{_answers_to(odd)} letters that were neither offered nor recorded as offered, as if answers to other "
            f"questions had been mixed in: {named_few(list(odd))}."
        )


def _numbers(one: AnswerSet) -> Iterator[str]:
    """Say where the number of answers is not 50."""
    totals = {pair.key: sum(pair.original.counts.values()) for pair in one.pairs}
    odd = [key for key, n in totals.items() if n != USUAL]
    if odd:
        said = _several(totals[key] for key in odd)
        have = f"{plural(len(odd), 'question')} {'has' if len(odd) == 1 else 'have'}"
        yield f"{have} {said} answers to a form and not {USUAL}: {named_few(odd)}."


def _blanks(one: AnswerSet) -> Iterator[str]:
    blank = {p.key: p.original.counts.get("", 0) + p.changed.counts.get("", 0) for p in one.pairs}
    blank = {key: n for key, n in blank.items() if n}
    if blank:
        yield f"{_answers_to(blank)} without a letter: {named_few(list(blank))}."


def _answers_to(odd: Mapping[str, int]) -> str:
    """Return `2 answers to 1 question are`, from counts by key."""
    n = sum(odd.values())
    return f"{plural(n, 'answer')} to {plural(len(odd), 'question')} {'is' if n == 1 else 'are'}"


def _left(one: AnswerSet, known: Mapping[str, ChoicePair]) -> Iterator[str]:
    there = {pair.key for pair in one.pairs}
    left = [key for key in known if key not in there]
    if left:
        yield f"{len(left)} of {len(known)} questions have no answers: {named_few(left)}."


def _orders(sets: Sequence[AnswerSet], prompts: Prompts) -> Iterator[str]:
    """Name the files in another order than the prompts, and say whether the published results can be identified."""
    other = []
    for one in sets:
        keys = [pair.key for pair in one.pairs]
        known, there = prompts.of(_stem(one)), set(keys)
        if known and keys != [key for key in known if key in there]:
            other.append(str(_stem(one)))
    if other:
        yield f"the keys are in another order than in the prompts in {', '.join(other)}."


def first_notes(sets: Sequence[AnswerSet]) -> Iterator[str]:
    """Say whether the first keys of the perturbation files, which the published results cover, agree."""
    same: dict[bool, list[str]] = {}
    for bias in Bias:
        own = [one for one in sets if one.bias is bias and one.condition and len(one.pairs) > FIRST]
        firsts = {frozenset(pair.key for pair in one.pairs[:FIRST]) for one in own}
        if len(own) > 1:
            same.setdefault(len(firsts) == 1, []).append(bias)
    words = {True: "are the same questions in all files of perturbations of", False: "are not the same questions in"}
    for alike, biases in same.items():
        told = f"The first {FIRST} keys, which the published results of perturbations cover, {words[alike]}"
        yield f"{told} {', '.join(biases)}."


def _usual() -> tuple[Stem, ...]:
    """Return the usual files of a model: five biases, each with three kinds of errors."""
    return tuple(Stem(bias, "", condition) for bias in GROUPS for condition in (None, *Perturbation))


def _stem(one: AnswerSet) -> Stem:
    return Stem(one.bias, one.variant, one.condition)


def _several(numbers: Iterable[int]) -> str:
    """Return distinct numbers in order: `3, 4`."""
    return ", ".join(map(str, sorted(set(numbers))))


def _few(pairs: Sequence[AnsweredPair]) -> str:
    return named_few([pair.key for pair in pairs])
