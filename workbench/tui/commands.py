"""The command palette: what can be done here, the places to go to, every statement, model and job
of the store, and the pages of help.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import ActiveBinding, Binding, BindingType
from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen, Screen
from textual.widget import Widget
from textual.worker import WorkerCancelled, WorkerFailed

from workbench import registry
from workbench.figures.visible import visible
from workbench.help import Topic, topics
from workbench.tui.key_words import does, meant
from workbench.tui.kit.base import store_path
from workbench.tui.preferences import reviews_blind
from workbench.tui.routes import lead


def _nearness(active: ActiveBinding) -> int:
    """Sort key: what this screen does, what works everywhere, what Textual's own keys and the
    cursor's do.
    """
    if isinstance(active.node, Widget) and not (
        isinstance(active.node, Screen) and active.binding.tooltip
    ):
        return 2
    return 0 if isinstance(active.node, Screen) else 1


def found(query: str, text: str) -> tuple[float, Content]:
    """Return how well a text answers a query, 0 where a word of it is missing and nothing that it
    means is there, and the text with those words marked.

    Textual's own search tries every way to spread the letters of a query over a text: too many in a
    sentence.
    """
    within = text.casefold()
    sought = [
        next((one for one in meant(word) if one in within), word)
        for word in query.casefold().split()
    ]
    at = [within.find(word) for word in sought]
    if not sought or min(at) < 0 or len(within) != len(text):
        return 0.0, Content(text)
    shown = Content(text)
    for word, place in zip(sought, at, strict=True):
        shown = shown.stylize("reverse", place, place + len(word))
    begins = sum(place == 0 or not within[place - 1].isalnum() for place in at)
    return (1 + begins) / len(sought) + (query.casefold().strip() in within) - at[0] / 10_000, shown


HERE, PLACE, BY_NAME = 100.0, 50.0, 30.0
"""added to scores: what is done here stands before places that are found by their words, and these
before names"""
MOST, CONSIDERED, CHARACTERS = 40, 2_000, 240
"names that are listed, hits that are compared, characters of a wording that are searched"
SHORTEST, LITTLE = 3, frozenset(("the", "for", "this", "that", "with", "and", "from", "into"))
"letters of a typed word that places are looked for by, and words that say nothing of a place"

OF_RESULTS = (
    "results figures tables rows data write export download csv json parquet excel latex report "
    "paper methods citation "
    "clipboard copy picture plot chart interval bootstrap resampling seed significance "
    "hypothesis filter sort search "
    "runs compare models templates reproduce prompts notes rulings exclude refusal unreadable "
    "variance"
)
"words by which all results are found, beside those of each audit"
PLACES: Mapping[str, str] = {
    "go('home')": "import files instrument newest next step",
    "go('statements')": (
        "statements wordings texts paraphrases negations opposites translation language drafts "
        "lint checks findings "
        "duplicates similar history versions archive restore delete export download write new "
        "edit change bulk search "
        "filter policy issues labels gold party survey answer yourself questions choices notes "
        "instrument"
    ),
    "go('jobs')": (
        "jobs start new run ask models samples personas server batch size cost price budget seed "
        "stop cancel kill "
        "remove pause resume retry log probe plan train classifier classify reads answers draft "
        "wordings"
    ),
    "go('annotate')": (
        "queues new label labels annotate adjudicate adjudication disagreements decide agreement "
        "kappa κ people human "
        "annotators respondent stances codebook guideline quality"
    ),
    "review": "review audit queue moderate rulings rule exclude misread confirmed blind random "
    "sample notes",
    "find_answers": "search words texts",
    **{f"go('{place.mode}')": f"{place.words} {OF_RESULTS}" for place in registry.places()},
}
"action of the whole terminal that leads to a place -> words for what is done there"


def words_there(query: str, place: str) -> list[str]:
    """Return the words of a place that begin as the typed ones; none where one of these begins no
    word of it.

    Examples
    --------
    >>> words_there("adjud kapp", "go('annotate')"), words_there("kappa of jobs", "go('jobs')")
    (['adjudicate', 'kappa'], [])
    """
    typed = [
        word for word in query.casefold().split() if len(word) >= SHORTEST and word not in LITTLE
    ]
    words = PLACES.get(place, "").split()
    there = [next((one for one in words if one.startswith(word)), "") for word in typed]
    return there if all(there) else []


class ActionProvider(Provider):
    """Finds what the keys do where the palette was opened, and places by the words for what is done
    there.
    """

    async def discover(self) -> Hits:
        for does_it, _, help_text, run in self._actions():
            yield DiscoveryHit(Content(does_it), run, help=help_text)

    async def search(self, query: str) -> Hits:
        led = set()
        for does_it, action, help_text, run in self._actions():
            score, shown = found(query, does_it)
            if score:
                yield Hit(HERE + score, shown, run, text=does_it, help=help_text)
            elif action not in led and (there := words_there(query, action)):
                led.add(action)
                about = ": ".join(filter(None, [help_text, ", ".join(dict.fromkeys(there))]))
                yield Hit(PLACE, Content(does_it), run, text=does_it, help=about)

    def _actions(self) -> Iterator[tuple[str, str, str, Callable[[], Any]]]:
        """Yield (what it does, action, key, what runs it)."""
        seen: set[tuple[int, str]] = set()
        for active in sorted(self.screen.active_bindings.values(), key=_nearness):
            binding = active.binding
            identity = (id(active.node), binding.action)
            if not binding.description or not active.enabled or identity in seen or binding.system:
                continue
            seen.add(identity)
            yield (
                does(binding),
                binding.action.removeprefix("app."),
                f"key {self.app.get_key_display(binding)}",
                partial(self.app.run_action, binding.action, active.node),
            )
        if self.screen.is_modal or any(map(_at_work, self.app.screen_stack)):
            return
        keyed = {action.removeprefix("app.") for _, action in seen}
        for one in type(self.app).BINDINGS:  # a screen may have another use for the key of a place
            if isinstance(one, Binding) and one.action in PLACES and one.action not in keyed:
                keyed.add(one.action)
                yield does(one), one.action, "", partial(self.app.run_action, one.action, self.app)


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
            partial(read_names, store_path(self.app)),
            thread=True,
            exit_on_error=False,
            group="names",
        )
        # A store that cannot be read has no names; its screen says why.
        with suppress(WorkerFailed, WorkerCancelled):
            self._named = await worker.wait()

    async def search(self, query: str) -> Hits:
        for score, one in best(query, self._named):
            yield Hit(
                BY_NAME + score,
                found(query, one.shown)[1],
                partial(lead, self.app, one.route),
                text=one.shown,
                help=one.what,
            )


def best(query: str, named: Sequence[Named]) -> list[tuple[float, Named]]:
    """Return the names that answer a query best, no more than a person looks through."""
    words = query.casefold().split()
    hits = [one for one in named if all(word in one.sought for word in words)] if words else []
    scored = ((found(query, one.shown)[0], one) for one in hits[:CONSIDERED])
    return heapq.nlargest(MOST, scored, key=lambda of: of[0])


def _at_work(each: Screen[Any]) -> bool:
    """Return whether people label or decide on a screen: what names lead to shows models, sides and
    rulings.
    """
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
                Named(
                    line.ref,
                    what,
                    ("statement", one.name, line.ref, one.language, refs),
                    line.text[:CHARACTERS],
                )
                for line in lines
            ]
        answered = {
            place.mode: audit
            for audit in registry.every_audit()
            if (place := audit.place) is not None
        }
        blind = reviews_blind()
        named += [
            Named(
                f"review {f'{run.instrument}, run {n}' if blind else run.label}: "
                f"{registry.audit_title(run.audit)}",
                "what an auditor reviews first",
                ("review", (*run.way, run.family)),
            )
            for n, run in enumerate(store.runs.list(personas=True), start=1)
            if run.responses
        ]
        newest = {
            (run.named, run.audit): run for run in store.runs.list(personas=True) if run.responses
        }
        for (model, name), run in newest.items():
            for mode, audit in answered.items():
                if audit.name == name:
                    title = registry.audit_title(audit.name)
                    named.append(Named(f"{model}: {title}", "results of a model", (mode, run)))
        named += [
            Named(
                f"job {job.id}: {job.spec.get('model', job.kind)}",
                f"job, {job.state}",
                ("jobs", job.id),
            )
            for job in store.jobs.list()
        ]
    return tuple(named)


PREFIX = "Help: "


class HelpProvider(Provider):
    """Finds pages by their titles."""

    async def discover(self) -> Hits:
        for page in topics():
            title = PREFIX + page.title
            yield DiscoveryHit(
                Content(title), partial(self.app.push_screen, PageScreen(page)), help=page.name
            )

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for page in topics():
            title = PREFIX + page.title
            if (score := max(matcher.match(title), matcher.match(page.name))) > 0:
                show = partial(self.app.push_screen, PageScreen(page))
                yield Hit(score, matcher.highlight(title), show, text=title, help=page.name)


class PageScreen(ModalScreen[None]):
    """A page to read."""

    DEFAULT_CSS = """
    PageScreen {
        align: center middle;
        background: $background 60%;
    }
    PageScreen .page {
        width: 100%;
        max-width: 124;
        height: 90%;
        padding: 0 1;
        border: round $accent;
        border-title-color: $text-accent;
        border-subtitle-color: $text-muted;
        background: $surface;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,f1", "dismiss(None)", "Close", key_display="Esc"),
        Binding("j", "scroll(1)", "Down", show=False),
        Binding("k", "scroll(-1)", "Up", show=False),
    ]

    def __init__(self, page: Topic) -> None:
        super().__init__()
        self._page = page

    def compose(self) -> ComposeResult:
        from textual.widgets import Markdown  # brings a parser that only this screen needs

        with Vertical(classes="page") as page:
            page.border_title = Content(self._page.name)
            page.border_subtitle = f"Esc back · workbench help {self._page.name} prints this page"
            with VerticalScroll():
                yield Markdown(visible(self._page.words, lines=True), open_links=False)

    def on_mount(self) -> None:
        self.query_one(VerticalScroll).focus()

    def action_scroll(self, lines: int) -> None:
        self.query_one(VerticalScroll).scroll_relative(y=lines, animate=False)
