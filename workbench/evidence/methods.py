"""Sentences of every methods paragraph.

They tell how models were asked, how much was answered, and what auditors ruled.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from stores.runs.run_rows import Run
from workbench.data import is_reviewed
from workbench.domain.names import plural
from workbench.domain.questionnaires import named_few
from workbench.domain.readings import ReaderCard
from workbench.domain.responses import EXACT
from workbench.evidence.answered import NEED_ALL, AnsweredPlan, settled_words
from workbench.evidence.rulings import RulingNotes
from workbench.figures.shown import number
from workbench.figures.table import Kind

DECIDED = "an answer ended once its reading could not change any more"


def asked_sentences(runs: Iterable[tuple[str, Run]], came: Iterable[AnsweredPlan]) -> Iterator[str]:
    """Yield sentences on how models were asked: sampling, version, language and templates.

    Equal sentences are combined. The last ones name the lexicons that no native speaker has
    reviewed.
    """
    names_by_method: dict[str, list[str]] = {}
    languages: dict[str, None] = {}
    for name, run in runs:
        languages[run.language] = None
        names_by_method.setdefault(_how(run), []).append(f"{name} ({run.version}, {run.computed})")
    for method, names in names_by_method.items():
        joined_names = "; ".join(dict.fromkeys(names))
        yield f"{joined_names} {'was' if len(set(names)) == 1 else 'were'} asked {method}."
    if unknown := [language for language in languages if not is_reviewed(language)]:
        yield (
            "No native speaker has reviewed the templates and the lexicon that workbench has in "
            f"{named_few(unknown)}, which decide how answers and refusals are recognised."
        )
    if unreviewed := dict.fromkeys(language for model in came for language in model.unreviewed):
        yield (
            f"No native speaker has reviewed the lexicon of {named_few(unreviewed)} that the "
            "instrument brings, which decides how answers and refusals are recognised."
        )


def _how(run: Run) -> str:
    manner = (
        "for the probabilities of its answers, without sampling"
        if run.sampling.mode == EXACT
        else f"for answers drawn at {run.sampling}"
    )
    ended = f"; {DECIDED}" if run.sampling.stop else ""
    versions = "".join(
        f", {run.called(template.name)}"
        for template in run.versions
        if template.edited and template.version
    )
    return (
        f"in the language {run.language} with the templates {run.family}{versions} {manner}{ended}"
    )


def reader_sentence(cards: Iterable[ReaderCard]) -> str:
    """Return a sentence on the rules that read the answers."""
    rule_names = list(dict.fromkeys(f"{card.name} (version {card.version})" for card in cards))
    return f"A rule read the answers: {' and '.join(rule_names)}." if rule_names else ""


def plan_sentences(came: Sequence[AnsweredPlan]) -> Iterator[str]:
    """Yield sentences on missing parts of the plan, or none if all was answered."""
    for model in came:
        if model.partial:
            reason = f"; {model.job}" if model.job else ""
            yield (
                f"Of the plan of {model.name} {number(model.share, Kind.SHARE)} was answered "
                f"({model.answered:,} of "
                f"{model.planned:,} {model.unit}{reason}), and the figures rest on that part."
            )
        if model.spared is not None:
            rules = "; ".join(rule.describe() for rule in model.spared.rules)
            yield (
                f"Prompts of {model.name} were asked until no further answer could change their "
                f"verdict ({rules}): {settled_words(model.spared, model.optimum)}. {NEED_ALL}."
            )


def ruling_sentences(notes: RulingNotes) -> Iterator[str]:
    """Yield a sentence on the effect of auditors' rulings, or nothing if there are none."""
    n = len(notes.changing)
    if n and notes.counted:
        sentence = next(notes.sentences())
        yield f"Auditors' rulings count: {sentence}."
    elif n:
        yield f"{plural(n, 'ruling')} of auditors {'is' if n == 1 else 'are'} left out by choice."
    if notes.disputed:
        m = len(notes.disputed)
        yield f"{plural(m, 'ruling')} that contradict each other do not count."
