"""The wordings of a statement under a template: differences from the original, and answers."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content

from workbench.audits.reliability import AUDIT
from workbench.domain.statements import ORIGINAL
from workbench.figures.book import Subject
from workbench.figures.table import Link
from workbench.figures.visible import visible
from workbench.tui.format import word_diff
from workbench.tui.kit.base import read_store
from workbench.tui.results.behind import BehindScreen, ScreenRoutes, behind
from workbench.tui.results.loaded import Loaded, Opened, Routes, Settings
from workbench.tui.results.responses import PromptKey, ResponsesScreen
from workbench.tui.results.result_screen import load
from workbench.tui.results.sheet import Sheet
from workbench.tui.rulings.ruling import RuledText
from workbench.tui.statements.statement_format import marked

if TYPE_CHECKING:
    from stores.core.store import Store
    from stores.runs.run_rows import Run
    from stores.runs.scores import ProbeScores
    from workbench.audits.reliability.judged import ReliabilityJudged
    from workbench.audits.result import Result
    from workbench.domain.prompts import Prompt

PLACE = "audit"
PROBES = "probes"
"key under which a result caches the rowids of its prompts"
BASELINE = "A baseline has no answers to show."
GONE = "The answers are no longer in the store."


class WordingsScreen(BehindScreen):
    """The answers to each wording of a statement. Enter shows the answers."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("t", "template(1)", "Template", tooltip="Show the next template"),
        Binding(
            "T",
            "template(-1)",
            "Previous template",
            show=False,
            tooltip="Show the previous template",
        ),
        Binding(
            "d", "diff", "Diff", tooltip="Show the differences from the original, word by word"
        ),
        Binding("p", "prompt", "Prompt", tooltip="Show the exact prompt"),
    ]

    def on_mount(self) -> None:
        self._diff = False
        self.view.remark = self._differs

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return (
            len(self._templates) > 1
            if action == "template"
            else super().check_action(action, parameters)
        )

    def action_template(self, step: int) -> None:
        """Go to a neighbouring template, around the ends."""
        ref, template = self._links[self._at].subject
        templates = self._templates
        neighbour = templates[(templates.index(template) + step) % len(templates)]
        links = list(self._links)
        # Neighbouring rows are other statements, so all of them change the template.
        if len({link.subject[1] for link in links}) == 1:
            links, index = (
                [Link(link.table, (link.subject[0], neighbour)) for link in links],
                self._at,
            )
        else:
            index = next(
                position for position, link in enumerate(links) if link.subject == (ref, neighbour)
            )
        self.bring_instead(self._loaded, links, index)

    def action_diff(self) -> None:
        self._diff = not self._diff
        self.view.follow()

    def action_prompt(self) -> None:
        row_index = self._sheet.row(self.view.table.current)
        if row_index is not None and (link := self._sheet.link_of(row_index)) is not None:
            self.bring(self._loaded, [Link("prompt", link.subject)], 0)

    @property
    def _templates(self) -> tuple[str, ...]:
        result: ReliabilityJudged = self._loaded.source
        return result.report.counts.templates

    def _differs(self, at: int) -> Content | None:
        """Return the differences of a row's wording from the original, or None if switched off."""
        link = self._sheet.link_of(at)
        if not self._diff or link is None:
            return None
        figures = self._loaded.source.figures()
        ref, variant, *_ = link.subject
        if variant == str(ORIGINAL):
            return Content.styled("This wording is the original.", "$text-muted")
        left, right = word_diff(figures.text(ref, str(ORIGINAL)), figures.text(ref, variant))
        heading = Content.assemble(
            (visible(variant), "bold"), ("  compared with the original", "$text-muted")
        )
        return Content("\n").join([heading, marked(left, "−"), marked(right, "+"), Content("")])


def answers(path: Path, loaded: Loaded, subject: Subject) -> Opened | str:
    """Return the screen of the answers to a prompt, or of its probabilities without sampling.

    The subject is a statement, a wording, a template and the order of the labels.
    """
    from stores.core.store import Store

    result: ReliabilityJudged = loaded.source
    ref, variant, template, order = subject
    with Store.open(path) as store:
        probe = _probe(store, loaded, subject)
        scores = (
            store.scores.of_probe(result.run, probe) if probe and result.exact is not None else None
        )
    if not probe or (result.exact is not None and scores is None):
        return (
            f"{variant} was not {'asked' if result.exact is None else 'scored'} under "
            f"{visible(template)}."
        )
    prompt_key = PromptKey(
        ref, variant, template, order, result.figures().text(ref, variant), probe
    )
    if scores is None:
        return lambda: ResponsesScreen(result, prompt_key)
    sheet = _probabilities(scores, result, prompt_key)
    return lambda: BehindScreen(loaded, sheet, (), 0, ScreenRoutes(PLACE, ROUTES))


def prompt(path: Path, loaded: Loaded, subject: Subject) -> Opened | str:
    """Return a function that opens the sent prompt. The subject is that of `answers`."""
    from stores.core.store import Store

    with Store.open(path) as store:
        probe = _probe(store, loaded, subject)
        sent_prompt = store.runs.prompt(probe) if probe else None
    if sent_prompt is None:
        return f"{subject[1]} was not asked under {visible(subject[2])}."
    title, text = f"Prompt: {' · '.join(subject)}", prompt_text(sent_prompt)
    return lambda: RuledText(title, text)


def of_respondent(path: Path, loaded: Loaded, subject: Subject) -> Opened | str:
    """Return a function that opens the wordings that a stance rests on.

    The subject is a respondent, a statement and, optionally, a template.
    """
    name, ref, *wanted_templates = subject
    comparison_result: Result = loaded.judged
    run = comparison_result.runs.get(name)
    if run is None:
        return BASELINE
    cached = loaded.opened.get(name)
    settings = Settings(
        loaded.settings.options.rules(),
        run=run,
        templates=loaded.settings.templates,
        readings=loaded.settings.readings,
    )
    result = read_store(
        path,
        lambda store: load(store, AUDIT, settings, cached if isinstance(cached, Loaded) else None),
    )
    if result.problem is not None:
        raise result.problem
    if result.book is None:
        return GONE
    loaded.opened[name] = result
    templates: tuple[str, ...] = result.source.report.counts.templates
    links = [Link("wordings", (ref, template)) for template in templates]
    index = (
        templates.index(wanted_templates[0])
        if wanted_templates and wanted_templates[0] in templates
        else 0
    )
    sheet = Sheet(result.book.behind["wordings"](*links[index].subject), links[index].subject)
    screen_routes = ScreenRoutes(
        PLACE,
        ROUTES,
        SCREENS,
        again=lambda store, loaded_run: load(store, AUDIT, loaded_run.settings, loaded_run),
    )
    return lambda: behind(result, sheet, links, index, screen_routes)


ROUTES: Routes = {"answers": answers, "prompt": prompt}
SCREENS = {"wordings": WordingsScreen}


def _probe(store: Store, loaded: Loaded, subject: Subject) -> int:
    """Return the rowid of a prompt, or 0 if it was not asked."""
    if PROBES not in loaded.opened:
        loaded.opened[PROBES] = _probes(store, loaded.source.run)
    probes = loaded.opened[PROBES]
    return int(probes.get(subject, 0)) if isinstance(probes, dict) else 0


def _probes(store: Store, run: Run) -> dict[tuple[str, ...], int]:
    return {
        (
            ref,
            f"{kind}-{number}" if number else kind,
            template,
            "swapped" if is_inverted else "printed",
        ): probe
        for ref, kind, number, template, is_inverted, probe, _ in store.runs.cells(run)
    }


def _probabilities(found: ProbeScores, judged: ReliabilityJudged, asked: PromptKey) -> Sheet:
    """Return the table of all probabilities that were computed for one prompt."""
    from workbench.audits.reliability.wordings import beginnings, beginnings_table

    run, table = judged.run, found.table
    form_probabilities = [
        (form, math.exp(log_probability)) for form, log_probability in found.scores
    ]
    tokens = (
        [(text, math.exp(log_probability)) for text, log_probability in table.tokens]
        if table is not None
        else None
    )
    remaining = table.rest if table is not None else math.nan
    rows = [] if found.failed else list(beginnings(form_probabilities, tokens, remaining))
    source = (
        run.model,
        run.version,
        run.computed,
        f"{found.template} {found.order}",
        f"{found.at[:19].replace('T', ' ')} UTC",
        f"workbench {found.code_version}",
        f"job {found.job}",
    )
    notes = [" · ".join(source)]
    if found.failed:
        notes.insert(0, f"✗ not scored: {found.failed}")
    return Sheet(beginnings_table(f"{asked.title}: {asked.wording}", rows, notes))


def prompt_text(given: Prompt) -> Content:
    """Return the prompt that the model was given, turn by turn."""
    format_text = (
        "chat turns, in the model's own format"
        if given.chat
        else "raw text for the model to continue"
    )
    parts = [Content.styled(format_text, "$text-muted")]
    parts += [
        Content.assemble(
            (message.role, "bold $text-accent"), "\n", visible(message.content, lines=True)
        )
        for message in given.messages
    ]
    return Content("\n\n").join(parts)
