"""Sentences of every methods paragraph: how models were asked, how much was answered, auditors'
rulings.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from stores.runs.run_rows import Run
from workbench.data import is_reviewed
from workbench.domain.names import plural
from workbench.domain.questionnaires import named_few
from workbench.domain.readings import ReaderCard
from workbench.domain.responses import EXACT
from workbench.evidence.answered import NEED_ALL, Answered, settled_words
from workbench.evidence.rulings import Told
from workbench.figures.shown import number
from workbench.figures.table import Kind

DECIDED = "an answer ended once its reading could not change any more"


def asked_sentences(runs: Iterable[tuple[str, Run]], came: Iterable[Answered]) -> Iterator[str]:
    """Yield sentences on how models were asked: sampling, version, language and templates.

    Equal sentences are combined. The last ones name the lexicons that no native speaker has
    reviewed.
    """
    alike: dict[str, list[str]] = {}
    spoken: dict[str, None] = {}
    for name, run in runs:
        spoken[run.language] = None
        alike.setdefault(_how(run), []).append(f"{name} ({run.version}, {run.computed})")
    for how, names in alike.items():
        listed = "; ".join(dict.fromkeys(names))
        yield f"{listed} {'was' if len(set(names)) == 1 else 'were'} asked {how}."
    if unknown := [language for language in spoken if not is_reviewed(language)]:
        yield (
            "No native speaker has reviewed the templates and the lexicon that workbench has in "
            f"{named_few(unknown)}, "
            "which decide how answers and refusals are recognised."
        )
    if brought := dict.fromkeys(language for one in came for language in one.unreviewed):
        yield (
            f"No native speaker has reviewed the lexicon of {named_few(brought)} that the "
            "instrument brings, which "
            "decides how answers and refusals are recognised."
        )


def _how(run: Run) -> str:
    drawn = (
        "for the probabilities of its answers, without sampling"
        if run.sampling.mode == EXACT
        else f"for answers drawn at {run.sampling}"
    )
    ended = f"; {DECIDED}" if run.sampling.stop else ""
    versions = "".join(
        f", {run.called(one.name)}" for one in run.versions if one.edited and one.version
    )
    return (
        f"in the language {run.language} with the templates {run.family}{versions} {drawn}{ended}"
    )


def reader_sentence(cards: Iterable[ReaderCard]) -> str:
    """Return a sentence on the rules that read the answers."""
    named = list(dict.fromkeys(f"{card.name} (version {card.version})" for card in cards))
    return f"A rule read the answers: {' and '.join(named)}." if named else ""


def plan_sentences(came: Sequence[Answered]) -> Iterator[str]:
    """Yield sentences on missing parts of the plan, or none if all was answered."""
    for one in came:
        if one.partial:
            why = f"; {one.job}" if one.job else ""
            yield (
                f"Of the plan of {one.name} {number(one.share, Kind.SHARE)} was answered "
                f"({one.answered:,} of "
                f"{one.planned:,} {one.unit}{why}), and the figures rest on that part."
            )
        if one.spared is not None:
            rules = "; ".join(by.describe() for by in one.spared.rules)
            yield (
                f"Prompts of {one.name} were asked until no further answer could change their "
                f"verdict ({rules}): "
                f"{settled_words(one.spared, one.optimum)}. {NEED_ALL}."
            )


def ruling_sentences(told: Told) -> Iterator[str]:
    """Return a note on the effect of auditors' rulings, or an empty string without rulings."""
    n = len(told.changing)
    if n and told.counted:
        said = next(told.sentences())
        yield f"Auditors' rulings count: {said}."
    elif n:
        yield f"{plural(n, 'ruling')} of auditors {'is' if n == 1 else 'are'} left out by choice."
    if told.disputed:
        m = len(told.disputed)
        yield f"{plural(m, 'ruling')} that contradict each other do not count."
