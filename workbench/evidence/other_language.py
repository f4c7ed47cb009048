"""Answers in another language than their prompts: see `workbench.readers.languages`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

from stores.annotation.review_queries import ReadAnswer
from stores.core.store import Store
from stores.runs.run_rows import Run
from workbench.data import languages
from workbench.domain.counting import plural
from workbench.domain.keys import text_key
from workbench.domain.prompts import Template
from workbench.domain.responses import EXACT
from workbench.domain.reviews import OTHER_LANGUAGE, Signal


def teller(templates: Iterable[Template]) -> Callable[[str], str] | None:
    """Return a function that names the other language of a text, "" if it is in none; None if the templates are in
    several languages.
    """
    spoken = {(template.language, template.words) for template in templates}
    if len(spoken) != 1:
        return None
    language, words = spoken.pop()
    tells = languages(words)
    return lru_cache(maxsize=100_000)(lambda text: tells.other(text, language))


def in_other_languages(store: Store, run: Run) -> Iterator[tuple[str, Signal]]:
    """Yield the statements with an answer in another language than its prompt."""
    tell = None if run.sampling.mode == EXACT else teller(store.runs.templates(run))
    if tell is None:
        return
    texts = {text for answers in store.raw_answers.of_statements(run).values() for text in answers}
    told = {text_key(text): other for text in texts if (other := tell(text))}
    found: dict[str, list[tuple[ReadAnswer, str]]] = {}
    for one in store.review_queries.given(run, texts=store.review_queries.rowids(told)) if told else ():
        found.setdefault(one.ref, []).append((one, told[one.text]))
    for ref, places in found.items():
        others = ", ".join(dict.fromkeys(other for _, other in places))
        words = f"{plural(sum(one.count for one, _ in places), 'answer')} in {others}"
        variants = tuple(dict.fromkeys(one.variant for one, _ in places))
        yield (
            ref,
            Signal(
                OTHER_LANGUAGE,
                words,
                variants,
                tuple((one.prompt, one.text) for one, _ in places),
                size=sum(one.count for one, _ in places),
            ),
        )


__all__ = ["in_other_languages", "teller"]
