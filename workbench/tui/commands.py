"""The command palette: actions, modes, names of the store, and pages of help."""

from __future__ import annotations

import heapq
from asyncio import Task, create_task, shield
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

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
from workbench.tui.keymap import effect_of
from workbench.tui.kit.base import store_path
from workbench.tui.preferences import reviews_blind
from workbench.tui.routes import lead

if TYPE_CHECKING:
    from stores.core.store import Store


def _nearness(active: ActiveBinding) -> int:
    """Return a sort key: actions of the screen, then of the app, then of Textual and the cursor."""
    if isinstance(active.node, Widget) and not (
        isinstance(active.node, Screen) and active.binding.tooltip
    ):
        return 2
    return 0 if isinstance(active.node, Screen) else 1


def _moves_cursor(active: ActiveBinding) -> bool:
    """Return whether an action is Textual's own of a focused field or list, as "Go to start"."""
    is_part = isinstance(active.node, Widget) and not isinstance(active.node, Screen)
    return is_part and not active.binding.tooltip


def match(query: str, text: str) -> tuple[float, Content]:
    """Return the score of a text for a query, and the text with the matching words marked.

    The score is 0 if a word of the query is missing, and all of its synonyms.

    Textual's own search tries every way to spread the letters of a query over a text: too many in a
    sentence.
    """
    folded_query, folded_text = query.casefold(), text.casefold()
    words = [_synonym_in(folded_text, word) for word in folded_query.split()]
    positions = [folded_text.find(word) for word in words]
    # Folding may change the length of a text, and the positions with it.
    if not words or min(positions) < 0 or len(folded_text) != len(text):
        return 0.0, Content(text)
    content = Content(text)
    for word, position in zip(words, positions, strict=True):
        content = content.stylize("reverse", position, position + len(word))
    n_word_starts = sum(
        position == 0 or not folded_text[position - 1].isalnum() for position in positions
    )
    score = (1 + n_word_starts) / len(words)
    if folded_query.strip() in folded_text:
        score += 1
    return score - positions[0] / 10_000, content


def _synonym_in(text: str, word: str) -> str:
    """Return the first synonym of a word that a text has, or the word itself."""
    return next((synonym for synonym in search_words(word) if synonym in text), word)


SOUGHT = {
    "adjudicate": ("disagreements", "who decides"),
    "adjudication": ("disagreements", "adjudication"),
    "budget": ("asks a model", "at once"),
    "calibration": ("threshold", "how good the classifier"),
    "cancel": ("stop the job",),
    "chart": ("picture",),
    "citation": ("methods",),
    "clipboard": ("copy",),
    "codebook": ("new queue", "guideline"),
    "cost": ("asks a model", "at once"),
    "csv": ("write rows", "to files"),
    "data": ("rows for other programs",),
    "download": ("write",),
    "duplicates": ("nearly the same",),
    "excel": ("write rows", "to files"),
    "export": ("write",),
    "figure": ("picture", "report"),
    "filter": ("show only", "show one"),
    "history": ("versions",),
    "human": ("people",),
    "hypothesis": ("differences, with tests",),
    "interval": ("significance", "zoom to the intervals"),
    "json": ("write rows", "to files"),
    "kappa": ("κ", "agreement between people"),
    "kill": ("stop the job",),
    "latex": ("report",),
    "lint": ("findings",),
    "moderate": ("review queue",),
    "paper": ("methods", "report"),
    "persona": ("asks a model",),
    "plot": ("picture",),
    "price": ("asks a model", "at once"),
    "quality": ("how good the classifier", "agreement"),
    "refusal": ("could not be read",),
    "remove": ("remove", "delete"),
    "reproduce": ("methods", "exact prompt"),
    "respondent": ("respondents", "people"),
    "run": ("start a job", "run"),
    "search": ("find", "search"),
    "significance": ("significance", "with tests"),
    "stance": ("leaning", "stance", "how good the classifier"),
    "survey": ("statements yourself",),
    "translation": ("another language", "next language"),
    "variance": ("variability", "the verdicts"),
}
"parts of sentences that a word of the field stands for, any of which matches it"


def search_words(word: str) -> tuple[str, ...]:
    """Return the search words of a typed word or its beginning: itself, and its synonyms.

    Examples
    --------
    >>> search_words("kapp"), search_words("pause")
    (('kapp', 'κ', 'agreement between people'), ('pause',))
    """
    synonyms = (parts for term, parts in SOUGHT.items() if len(word) > 2 and term.startswith(word))
    return (word, *dict.fromkeys(part for parts in synonyms for part in parts if part != word))


HERE, PLACE, BY_NAME = 100.0, 50.0, 30.0
"added to scores: actions come before modes that are found by words, and these before names"
MOST, CONSIDERED, CHARACTERS = 40, 2_000, 240
"names that are listed, hits that are compared, characters of a wording that are searched"
SHORTEST, LITTLE = 3, frozenset(("the", "for", "this", "that", "with", "and", "from", "into"))
"least letters of a word that modes are found by, and words that say nothing about a mode"

OF_RESULTS = (
    "results figures tables rows data write export download csv json parquet excel latex report "
    "paper methods citation clipboard copy picture plot chart interval bootstrap resampling seed "
    "significance hypothesis filter sort search runs compare models templates reproduce prompts "
    "notes rulings exclude refusal unreadable variance"
)
"words that find all results, beside those of each audit"
PLACES: Mapping[str, str] = {
    "go('home')": "import files instrument newest next step",
    "go('statements')": (
        "statements wordings texts paraphrases negations opposites translation language drafts "
        "lint checks findings duplicates similar history versions archive restore delete export "
        "download write new edit change bulk search filter policy issues labels gold party survey "
        "answer yourself questions choices notes instrument"
    ),
    "go('jobs')": (
        "jobs start new run ask models samples personas server batch size cost price budget seed "
        "stop cancel kill remove pause resume retry log probe plan train classifier classify reads "
        "answers draft wordings"
    ),
    "go('annotate')": (
        "queues new label labels annotate adjudicate adjudication disagreements decide agreement "
        "kappa κ people human annotators respondent stances codebook guideline quality"
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
            score, marked = match(query, description)
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
                or _moves_cursor(active)
            ):
                continue
            identities.add(identity)
            yield (
                effect_of(binding),
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
                    effect_of(app_binding),
                    app_binding.action,
                    "",
                    partial(self.app.run_action, app_binding.action, self.app),
                )


@dataclass(frozen=True)
class NamedObject:
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

    _reading: Task[Sequence[NamedObject]] | None = None
    "reads the names; None while people label or decide"

    async def startup(self) -> None:
        if not any(_at_work(open_screen) for open_screen in self.app.screen_stack):
            self._reading = create_task(self._read())

    async def _read(self) -> Sequence[NamedObject]:
        worker = self.screen.run_worker(
            partial(read_names, store_path(self.app)),
            thread=True,
            exit_on_error=False,
            group="names",
        )
        # A store that cannot be read has no names. Its screen shows why.
        with suppress(WorkerFailed, WorkerCancelled):
            return await worker.wait()
        return ()

    async def search(self, query: str) -> Hits:
        # The next letter cancels a search, which must not cancel the reading of the names.
        names = await shield(self._reading) if self._reading is not None else ()
        for score, hit in best_matches(query, names):
            yield Hit(
                BY_NAME + score,
                match(query, hit.shown)[1],
                partial(lead, self.app, hit.route),
                text=hit.shown,
                help=hit.what,
            )


def best_matches(query: str, named: Sequence[NamedObject]) -> list[tuple[float, NamedObject]]:
    """Return the best names for a query with their scores, at most `MOST`."""
    words = query.casefold().split()
    if not words:
        return []
    hits = [candidate for candidate in named if all(word in candidate.sought for word in words)]
    scored = ((match(query, hit.shown)[0], hit) for hit in hits[:CONSIDERED])
    return heapq.nlargest(MOST, scored, key=lambda scored_hit: scored_hit[0])


def _at_work(each: Screen[Any]) -> bool:
    """Return whether people label or decide on a screen.

    There the names are hidden, as they lead to models, sides and rulings.
    """
    return getattr(each, "AT_WORK", False) or not getattr(each, "RULED", True)


def read_names(path: Path) -> tuple[NamedObject, ...]:
    """Return the objects of a store that have a name. Raises StoreError."""
    from stores.core.store import Store

    with Store.open(path) as store:
        return (
            NamedObject(
                "rulings of auditors", "what was ruled on what, by whom and why", ("rulings",)
            ),
            *_statements(store),
            *_reviews(store),
            *_results(store),
            *_jobs(store),
        )


def _statements(store: Store) -> Iterator[NamedObject]:
    """Yield the statements of every instrument."""
    for summary in store.instruments.summaries():
        lines = store.instruments.lines(summary.name)
        refs = tuple(line.ref for line in lines)
        kind = f"statement of {visible(summary.name)}"
        for line in lines:
            route = ("statement", summary.name, line.ref, summary.language, refs)
            yield NamedObject(line.ref, kind, route, line.text[:CHARACTERS])


def _reviews(store: Store) -> Iterator[NamedObject]:
    """Yield the review of every run with answers, without its model in a blind review."""
    is_blind = reviews_blind()
    for number, run in enumerate(store.runs.list(personas=True), start=1):
        if not run.responses:
            continue
        label = f"{run.instrument}, run {number}" if is_blind else run.label
        title = registry.audit_title(run.audit)
        route = ("review", (*run.design_key, run.family))
        yield NamedObject(f"review {label}: {title}", "what an auditor reviews first", route)


def _results(store: Store) -> Iterator[NamedObject]:
    """Yield the newest results of every model in every audit."""
    audit_by_mode = {
        audit.place.mode: audit.name for audit in registry.every_audit() if audit.place is not None
    }
    newest_runs = {
        (run.named, run.audit): run for run in store.runs.list(personas=True) if run.responses
    }
    for (model, audit_name), run in newest_runs.items():
        title = registry.audit_title(audit_name)
        for mode, name in audit_by_mode.items():
            if name == audit_name:
                yield NamedObject(f"{model}: {title}", "results of a model", (mode, run))


def _jobs(store: Store) -> Iterator[NamedObject]:
    for job in store.jobs.list():
        label = f"job {job.id}: {job.spec.get('model', job.kind)}"
        yield NamedObject(label, f"job, {job.state}", ("jobs", job.id))


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
        Binding("escape,q,f1", "dismiss(None)", "Close", key_display="Esc", tooltip="Close this"),
        Binding("j", "scroll(1)", "Down", show=False, tooltip="Go down"),
        Binding("k", "scroll(-1)", "Up", show=False, tooltip="Go up"),
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
