"""The command palette: every action of the keys by its name, and every statement, model and job of the store."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
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
from workbench.tui.format import visible
from workbench.tui.key_words import does
from workbench.tui.kit.base import store_path
from workbench.tui.leading import lead


def _nearness(active: ActiveBinding) -> int:
    """Sort key: what this screen does, what works everywhere, what Textual's own keys and the cursor's do."""
    if isinstance(active.node, Widget) and not (isinstance(active.node, Screen) and active.binding.tooltip):
        return 2
    return 0 if isinstance(active.node, Screen) else 1


class ActionProvider(Provider):
    """Finds the actions that are bound to keys where the palette was opened."""

    async def discover(self) -> Hits:
        for name, help_text, run in self._actions():
            yield DiscoveryHit(Content(name), run, help=help_text)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for name, help_text, run in self._actions():
            score = matcher.match(name)
            if score > 0:
                yield Hit(score, matcher.highlight(name), run, text=name, help=help_text)

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


@dataclass(frozen=True, slots=True)
class Named:
    """Something of the store that has a name."""

    name: str
    what: str
    "in a few words: `statement of veldania`"
    route: tuple[object, ...]
    "name of the mode or the screen, and what it is about"


class NameProvider(Provider):
    """Finds statements, models and jobs by their names."""

    _named: tuple[Named, ...] = ()

    async def startup(self) -> None:
        if any(_at_work(each) for each in self.app.screen_stack):
            return
        worker = self.screen.run_worker(
            partial(read_names, store_path(self.app)), thread=True, exit_on_error=False, group="names"
        )
        with suppress(WorkerFailed, WorkerCancelled):  # a store that cannot be read has no names; its screen says why
            self._named = await worker.wait()

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for one in self._named:
            shown = visible(one.name)
            if (score := matcher.match(shown)) > 0:
                yield Hit(
                    score, matcher.highlight(shown), partial(lead, self.app, one.route), text=shown, help=one.what
                )


def _at_work(each: Screen[Any]) -> bool:
    """Return whether people label or decide on a screen: what names lead to shows models, sides and rulings."""
    return getattr(each, "AT_WORK", False) or not getattr(each, "RULED", True)


def read_names(path: Path) -> tuple[Named, ...]:
    """Return what a store has that has a name. Raises StoreError."""
    from stores.core.store import Store

    found = [Named("rulings of auditors", "what was ruled on what, by whom and why", ("rulings",))]
    with Store.open(path) as store:
        for one in store.instruments.summaries():
            refs = tuple(each.ref for each in store.instruments.get(one.name).statements)
            what = f"statement of {visible(one.name)}"
            found += [Named(ref, what, ("statement", one.name, ref, one.language, refs)) for ref in refs]
        answered = {place.mode: audit for audit in registry.every_audit() if (place := audit.place) is not None}
        found += [
            Named(
                f"review {run.label}: {in_words(run.audit)}",
                "what an auditor reviews first",
                ("review", (*run.way, run.family)),
            )
            for run in store.runs.list(personas=True)
            if run.responses
        ]
        newest = {(run.named, run.audit): run for run in store.runs.list(personas=True) if run.responses}
        for (model, name), run in newest.items():
            for mode, audit in answered.items():
                if audit.name == name:
                    found.append(Named(f"{model}: {in_words(audit.name)}", "results of a model", (mode, run)))
        found += [
            Named(f"job {job.id}: {job.spec.get('model', job.kind)}", f"job, {job.state}", ("jobs", job.id))
            for job in store.jobs.list()
        ]
    return tuple(found)
