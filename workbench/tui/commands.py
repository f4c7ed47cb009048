"""The command palette: every action of the keys by its name, and every statement, model and job of the store."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from textual.binding import ActiveBinding
from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.screen import Screen
from textual.widget import Widget
from textual.worker import WorkerCancelled, WorkerFailed

from workbench import registry
from workbench.domain.names import in_words
from workbench.tui.acts import Act, acts
from workbench.tui.doing import do
from workbench.tui.format import visible
from workbench.tui.key_words import does, meant
from workbench.tui.kit.base import store_path
from workbench.tui.leading import lead
from workbench.tui.preferences import reviews_blind


def _nearness(active: ActiveBinding) -> int:
    """Sort key: what this screen does, what works everywhere, what Textual's own keys and the cursor's do."""
    if isinstance(active.node, Widget) and not (isinstance(active.node, Screen) and active.binding.tooltip):
        return 2
    return 0 if isinstance(active.node, Screen) else 1


def found(query: str, text: str) -> tuple[float, Content]:
    """Return how well a text answers a query, 0 where a word of it is missing and nothing that it means is there, and
    the text with those words marked.

    Textual's own search tries every way to spread the letters of a query over a text: too many in a sentence.
    """
    within = text.casefold()
    sought = [next((one for one in meant(word) if one in within), word) for word in query.casefold().split()]
    at = [within.find(word) for word in sought]
    if not sought or min(at) < 0 or len(within) != len(text):
        return 0.0, Content(text)
    shown = Content(text)
    for word, place in zip(sought, at, strict=True):
        shown = shown.stylize("reverse", place, place + len(word))
    begins = sum(place == 0 or not within[place - 1].isalnum() for place in at)
    return (1 + begins) / len(sought) + (query.casefold().strip() in within) - at[0] / 10_000, shown


HERE, ELSEWHERE, BY_NAME = 100.0, 50.0, 30.0
"added to scores: what this screen does stands before what is done elsewhere, and that before names"


MOST, CONSIDERED, CHARACTERS = 40, 2_000, 240
"names that are listed, hits that are compared, characters of a wording that are searched"


class ActionProvider(Provider):
    """Finds what the keys do: at once what can be done where the palette was opened, then every act of every screen."""

    _every: asyncio.Task[tuple[Act, ...]] | None = None
    "reads the bindings of all screens; the first time it imports them, in a thread of its own"

    async def startup(self) -> None:
        self._every = asyncio.create_task(asyncio.to_thread(acts))

    async def shutdown(self) -> None:
        if self._every is not None:
            self._every.cancel()

    async def discover(self) -> Hits:
        for name, help_text, run in self._actions():
            yield DiscoveryHit(Content(name), run, help=help_text)

    async def search(self, query: str) -> Hits:
        here = {name: (help_text, run) for name, help_text, run in self._actions()}
        for name, (help_text, run) in here.items():
            score, shown = found(query, name)
            if score:
                yield Hit(HERE + score, shown, run, text=name, help=help_text)
        at_work = any(_at_work(each) for each in self.app.screen_stack)
        for act in () if self._every is None else await asyncio.shield(self._every):
            if (act.says in here and act.root in ("", type(self.screen).__name__)) or (
                at_work and act.root in AUDITING
            ):
                continue
            score, shown = found(query, act.says)
            if score:
                run = partial(do, self.app, act)
                yield Hit(ELSEWHERE + score, shown, run, text=f"{act.says} ({act.root})", help=act.words(self.app))

    def _actions(self) -> Iterator[tuple[str, str, Callable[[], Any]]]:
        seen: set[tuple[int, str]] = set()
        for active in sorted(self.screen.active_bindings.values(), key=_nearness):
            binding = active.binding
            identity = (id(active.node), binding.action)
            if not binding.description or not active.enabled or identity in seen or binding.system:
                continue
            seen.add(identity)
            key = self.app.get_key_display(binding)
            yield (
                does(binding),
                f"key {key}",
                partial(self.app.run_action, binding.action, active.node),
            )


AUDITING = ("ReviewScreen", "RulingsScreen")
"places that do not open where people label or decide"


@dataclass(frozen=True)
class Named:
    """Something of the store that has a name."""

    name: str
    what: str
    "in a few words: `statement of veldania`"
    route: tuple[object, ...]
    "name of the mode or the screen, and what it is about"
    text: str = ""
    "the original wording of a statement, which is found by its words, too"

    @property
    def shown(self) -> str:
        return visible(f"{self.name}: {self.text}" if self.text else self.name)

    @cached_property
    def sought(self) -> str:
        """What a query is looked for in."""
        return self.shown.casefold()


class NameProvider(Provider):
    """Finds statements by their names and original wordings, and models and jobs by their names."""

    _named: Sequence[Named] = ()

    async def startup(self) -> None:
        if any(_at_work(each) for each in self.app.screen_stack):
            return
        worker = self.screen.run_worker(
            partial(read_names, store_path(self.app)), thread=True, exit_on_error=False, group="names"
        )
        with suppress(WorkerFailed, WorkerCancelled):  # a store that cannot be read has no names; its screen says why
            self._named = await worker.wait()

    async def search(self, query: str) -> Hits:
        for score, one in best(query, self._named):
            yield Hit(
                BY_NAME + score, found(query, one.shown)[1], partial(lead, self.app, one.route), text=one.shown,
                help=one.what,
            )  # fmt: skip


def best(query: str, named: Sequence[Named]) -> list[tuple[float, Named]]:
    """Return the names that answer a query best, no more than a person looks through."""
    words = query.casefold().split()
    hits = [one for one in named if all(word in one.sought for word in words)] if words else []
    scored = ((found(query, one.shown)[0], one) for one in hits[:CONSIDERED])
    return heapq.nlargest(MOST, scored, key=lambda of: of[0])


def _at_work(each: Screen[Any]) -> bool:
    """Return whether people label or decide on a screen: what names lead to shows models, sides and rulings."""
    return getattr(each, "AT_WORK", False) or not getattr(each, "RULED", True)


def read_names(path: Path) -> tuple[Named, ...]:
    """Return what a store has that has a name. Raises StoreError."""
    from stores.core.store import Store

    named = [Named("rulings of auditors", "what was ruled on what, by whom and why", ("rulings",))]
    with Store.open(path) as store:
        for one in store.instruments.summaries():
            lines = store.instruments.lines(one.name)
            refs = tuple(line.ref for line in lines)
            what = f"statement of {visible(one.name)}"
            named += [
                Named(line.ref, what, ("statement", one.name, line.ref, one.language, refs), line.text[:CHARACTERS])
                for line in lines
            ]
        answered = {place.mode: audit for audit in registry.every_audit() if (place := audit.place) is not None}
        blind = reviews_blind()
        named += [
            Named(
                f"review {f'{run.instrument}, run {n}' if blind else run.label}: {in_words(run.audit)}",
                "what an auditor reviews first",
                ("review", (*run.way, run.family)),
            )
            for n, run in enumerate(store.runs.list(personas=True), start=1)
            if run.responses
        ]
        newest = {(run.named, run.audit): run for run in store.runs.list(personas=True) if run.responses}
        for (model, name), run in newest.items():
            for mode, audit in answered.items():
                if audit.name == name:
                    named.append(Named(f"{model}: {in_words(audit.name)}", "results of a model", (mode, run)))
        named += [
            Named(f"job {job.id}: {job.spec.get('model', job.kind)}", f"job, {job.state}", ("jobs", job.id))
            for job in store.jobs.list()
        ]
    return tuple(named)
