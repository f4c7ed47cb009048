"""The command palette: actions, modes, names of the store, and pages of help."""

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
    """Return a sort key: actions of the screen, then of the app, then of Textual and the cursor."""
    if isinstance(active.node, Widget) and not (
        isinstance(active.node, Screen) and active.binding.tooltip
    ):
        return 2
    return 0 if isinstance(active.node, Screen) else 1


def found(query: str, text: str) -> tuple[float, Content]:
    """Return the score of a text for a query, and the text with the matching words marked.

    The score is 0 if a word of the query is missing, and all of its synonyms.

    Textual's own search tries every way to spread the letters of a query over a text: too many in a
    sentence.
    """
    folded_text = text.casefold()
    sought_words = [
        next((synonym for synonym in meant(word) if synonym in folded_text), word)
        for word in query.casefold().split()
    ]
    positions = [folded_text.find(word) for word in sought_words]
    if not sought_words or min(positions) < 0 or len(folded_text) != len(text):
        return 0.0, Content(text)
    content = Content(text)
    for word, position in zip(sought_words, positions, strict=True):
        content = content.stylize("reverse", position, position + len(word))
    n_word_starts = sum(start == 0 or not folded_text[start - 1].isalnum() for start in positions)
    return (1 + n_word_starts) / len(sought_words) + (
        query.casefold().strip() in folded_text
    ) - positions[0] / 10_000, content


HERE, PLACE, BY_NAME = 100.0, 50.0, 30.0
"added to scores: actions come before modes that are found by words, and these before names"
MOST, CONSIDERED, CHARACTERS = 40, 2_000, 240
"names that are listed, hits that are compared, characters of a wording that are searched"
SHORTEST, LITTLE = 3, frozenset(("the", "for", "this", "that", "with", "and", "from", "into"))
"least letters of a word that modes are found by, and words that say nothing about a mode"

OF_RESULTS = (
    "results figures tables rows data write export download csv json parquet excel latex report "
    "paper methods citation "
    "clipboard copy picture plot chart interval bootstrap resampling seed significance "
    "hypothesis filter sort search "
    "runs compare models templates reproduce prompts notes rulings exclude refusal unreadable "
    "variance"
)
"words that find all results, beside those of each audit"
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
"words for what can be done in a mode, by the action that leads there"


def words_there(query: str, place: str) -> list[str]:
    """Return the words of a mode that begin like the typed ones, or none if one has no match.

    Examples
    --------
    >>> words_there("adjud kapp", "go('annotate')"), words_there("kappa of jobs", "go('jobs')")
    (['adjudicate', 'kappa'], [])
    """
    typed = [
        word for word in query.casefold().split() if len(word) >= SHORTEST and word not in LITTLE
    ]
    words = PLACES.get(place, "").split()
    matches = [
        next((place_word for place_word in words if place_word.startswith(word)), "")
        for word in typed
    ]
    return matches if all(matches) else []


class ActionProvider(Provider):
    """A provider of the actions of the current keys, and of modes by words for their actions."""

    async def discover(self) -> Hits:
        for description, _, help_text, run in self._actions():
            yield DiscoveryHit(Content(description), run, help=help_text)

    async def search(self, query: str) -> Hits:
        found_actions = set()
        for description, action, help_text, run in self._actions():
            score, marked = found(query, description)
            if score:
                yield Hit(HERE + score, marked, run, text=description, help=help_text)
            elif action not in found_actions and (place_words := words_there(query, action)):
                found_actions.add(action)
                help_line = ": ".join(
                    filter(None, [help_text, ", ".join(dict.fromkeys(place_words))])
                )
                yield Hit(PLACE, Content(description), run, text=description, help=help_line)

    def _actions(self) -> Iterator[tuple[str, str, str, Callable[[], Any]]]:
        """Yield the description, action, key help and callback of each action."""
        identities: set[tuple[int, str]] = set()
        for active in sorted(self.screen.active_bindings.values(), key=_nearness):
            binding = active.binding
            identity = (id(active.node), binding.action)
            if (
                not binding.description
                or not active.enabled
                or identity in identities
                or binding.system
            ):
                continue
            identities.add(identity)
            yield (
                does(binding),
                binding.action.removeprefix("app."),
                f"key {self.app.get_key_display(binding)}",
                partial(self.app.run_action, binding.action, active.node),
            )
        if self.screen.is_modal or any(map(_at_work, self.app.screen_stack)):
            return
        actions_with_key = {action.removeprefix("app.") for _, action in identities}
        for app_binding in type(
            self.app
        ).BINDINGS:  # a screen may have another use for the key of a place
            if (
                isinstance(app_binding, Binding)
                and app_binding.action in PLACES
                and app_binding.action not in actions_with_key
            ):
                actions_with_key.add(app_binding.action)
                yield (
                    does(app_binding),
                    app_binding.action,
                    "",
                    partial(self.app.run_action, app_binding.action, self.app),
                )


@dataclass(frozen=True)
class Named:
    """An object of the store that has a name."""

    name: str
    what: str
    "its kind, as in `statement of veldania`"
    route: tuple[object, ...]
    "name of the mode or the screen, and its arguments"
    text: str = ""
    "original wording of a statement, whose words are searched, too"

    @property
    def shown(self) -> str:
        return visible(f"{self.name}: {self.text}" if self.text else self.name)

    @cached_property
    def sought(self) -> str:
        """The text in which a query is searched."""
        return self.shown.casefold()


class NameProvider(Provider):
    """A provider of statements by name or original wording, and of models and jobs by name."""

    _named: Sequence[Named] = ()

    async def startup(self) -> None:
        if any(_at_work(open_screen) for open_screen in self.app.screen_stack):
            return
        worker = self.screen.run_worker(
            partial(read_names, store_path(self.app)),
            thread=True,
            exit_on_error=False,
            group="names",
        )
        # A store that cannot be read has no names. Its screen shows why.
        with suppress(WorkerFailed, WorkerCancelled):
            self._named = await worker.wait()

    async def search(self, query: str) -> Hits:
        for score, hit in best(query, self._named):
            yield Hit(
                BY_NAME + score,
                found(query, hit.shown)[1],
                partial(lead, self.app, hit.route),
                text=hit.shown,
                help=hit.what,
            )


def best(query: str, named: Sequence[Named]) -> list[tuple[float, Named]]:
    """Return the best names for a query with their scores, at most `MOST`."""
    words = query.casefold().split()
    hits = (
        [candidate for candidate in named if all(word in candidate.sought for word in words)]
        if words
        else []
    )
    scored = ((found(query, hit.shown)[0], hit) for hit in hits[:CONSIDERED])
    return heapq.nlargest(MOST, scored, key=lambda scored_hit: scored_hit[0])


def _at_work(each: Screen[Any]) -> bool:
    """Return whether people label or decide on a screen.

    There the names are hidden, as they lead to models, sides and rulings.
    """
    return getattr(each, "AT_WORK", False) or not getattr(each, "RULED", True)


def read_names(path: Path) -> tuple[Named, ...]:
    """Return the objects of a store that have a name. Raises StoreError."""
    from stores.core.store import Store

    named = [Named("rulings of auditors", "what was ruled on what, by whom and why", ("rulings",))]
    with Store.open(path) as store:
        for summary in store.instruments.summaries():
            lines = store.instruments.lines(summary.name)
            refs = tuple(line.ref for line in lines)
            kind = f"statement of {visible(summary.name)}"
            named += [
                Named(
                    line.ref,
                    kind,
                    ("statement", summary.name, line.ref, summary.language, refs),
                    line.text[:CHARACTERS],
                )
                for line in lines
            ]
        audit_by_mode = {
            place.mode: audit
            for audit in registry.every_audit()
            if (place := audit.place) is not None
        }
        is_blind = reviews_blind()
        named += [
            Named(
                f"review {f'{run.instrument}, run {number}' if is_blind else run.label}: "
                f"{registry.audit_title(run.audit)}",
                "what an auditor reviews first",
                ("review", (*run.design_key, run.family)),
            )
            for number, run in enumerate(store.runs.list(personas=True), start=1)
            if run.responses
        ]
        newest_runs = {
            (run.named, run.audit): run for run in store.runs.list(personas=True) if run.responses
        }
        for (model, name), run in newest_runs.items():
            for mode, audit in audit_by_mode.items():
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
    """A provider of help pages by their titles."""

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
        from textual.widgets import Markdown  # It brings a parser that only this screen needs.

        with Vertical(classes="page") as page:
            page.border_title = Content(self._page.name)
            page.border_subtitle = f"Esc back · workbench help {self._page.name} prints this page"
            with VerticalScroll():
                yield Markdown(visible(self._page.words, lines=True), open_links=False)

    def on_mount(self) -> None:
        self.query_one(VerticalScroll).focus()

    def action_scroll(self, lines: int) -> None:
        self.query_one(VerticalScroll).scroll_relative(y=lines, animate=False)
