"""Home: the state of the project at a glance, and the next step where something is missing."""

from __future__ import annotations

from asyncio import get_running_loop
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from textwrap import shorten
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.getters import query_one
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from workbench import registry
from workbench.domain.names import plural
from workbench.domain.questionnaires import named_few
from workbench.errors import WorkbenchError
from workbench.figures.shown import estimate, number
from workbench.figures.table import Kind
from workbench.figures.visible import visible
from workbench.help.sections import section
from workbench.tui.format import bar, human_duration, job_mark, percent
from workbench.tui.jobs.job_lines import job_details
from workbench.tui.kit.awaited import Awaited
from workbench.tui.kit.base import StoreScreen, app_of, in_background, say, worker
from workbench.tui.kit.key_gate import gate_of
from workbench.tui.overview import (
    Judgement,
    LintCount,
    Overview,
    Seen,
    import_shipped,
    read_judgement,
    read_overview,
)
from workbench.tui.preferences import keep, remembered, reviews_blind
from workbench.tui.routes import lead, screen

if TYPE_CHECKING:
    from stores.instruments.instruments import InstrumentSummary
    from stores.jobs.job_rows import Job
    from stores.runs.run_rows import Run
    from workbench.audits.audit import HomeLine
    from workbench.pipeline.todo import Task
    from workbench.tui.overview import AuditLines, ClassifierScore

Line = tuple[str, Content]
"a key, and what the line says"

JOBS_SHOWN = 3
INDENT, BELOW = 12, 62
"columns before what a line says, and of what stands there in a terminal of 80 columns"
AROUND = 80 - INDENT - BELOW
"columns of a terminal beside these"
TASKS_SHOWN = 8
"of what waits, until somebody asks for all of it: what there is stays in sight below"
TASK_KEYS = {
    "review": "V",
    "jobs": "3",
    "drafts": "2, P",
    "annotate": "5",
    "adjudicate": "5, d",
    "agreement": "5, v",
    "classify": "3, n",
    **{place.mode: place.key for place in registry.places() if place.key},
}
"name of a screen or mode where something waits -> the keys that lead there"
LOOKING = "looking for what waits …"
NAME_LEAST, TAIL = 16, 9
"""columns that the name of a model keeps where an audit's figure needs the room, and of what stands
behind the figure"""
CLEAN = LintCount(0, 0, 0)
UNITS = {"sample": "answers", "train": "steps", "classify": "responses"}


def home_lines(
    overview: Overview,
    judgement: Judgement | None,
    width: int = 80,
    *,
    every_task: bool = False,
    seen: Seen | None = None,
) -> list[Line]:
    """Return what Home says, each line under a key that stays the same between refreshes: first
    what waits for people, then what is new, a line for each audit, and what there is.

    `width`: columns of the terminal. Where a line is too long its words are cut, never its key.
    `seen`: what there was when Home was last looked at; None: this is the first time
    """
    room = width - INDENT - AROUND
    lines = _to_do(overview, judgement, room, every_task=every_task)
    if seen is not None and (new := seen.news(overview)):
        lines.append(("job:new", _line("New", new, f"since {seen.at}", room=room)))
    audits, faults = (judgement.audits, judgement.faults) if judgement else ((), ())
    lines += _of_audits(audits, room)
    lines += [(line.key, _audit(line, room)) for line in faults]
    failed = any(line.label == "Lint" for line in faults)
    clean = _clean(overview, judgement) if not failed else ()
    if len(clean) > 1:
        lines.append(("instrument:", _instruments(clean)))
    for summary in overview.instruments:
        if len(clean) < 2 or summary not in clean:
            lint = judgement.lint.get(summary.name) if judgement else None
            lines.append(
                (f"instrument:{summary.name}", _instrument(summary, lint, room, failed=failed))
            )
    if overview.answers:
        models = plural(overview.models, "model")
        lines.append(
            (
                "responses:",
                _line("Responses", f"{overview.answers:,}", f"the store has answers of {models}"),
            )
        )
    lines += [
        (f"job:{job.id}", _job(job, room))
        for job in (overview.active or overview.jobs[:1])[:JOBS_SHOWN]
    ]
    lines += _labels(overview)
    if judgement and judgement.classifier:
        lines.append(("classifier:", _classifier(judgement.classifier, room)))
    return lines


def _to_do(
    overview: Overview, judgement: Judgement | None, room: int, *, every_task: bool
) -> list[Line]:
    """Return what waits, a line each, and what comes next where nothing presses."""
    tasks = judgement.tasks if judgement else ()
    shown = tasks if every_task else few_of_each(tasks, TASKS_SHOWN)
    lines = [
        (f"todo:{task.key}", _task(task, room, first=not place)) for place, task in enumerate(shown)
    ]
    if more := len(tasks) - len(shown):
        lines.append(("more:", _line("", f"{more} more", "Enter lists them", style="")))
    begun = overview.answers or overview.jobs or overview.imported
    if judgement is None and begun:
        lines.append(("looking:todo", _line("To do", LOOKING, "", style="dim")))
    elif (
        not any(task.pressing for task in tasks)
        and (step := _next_step(overview, judgement)) is not None
    ):
        lines.append(step)
    elif (
        not lines
        and overview.instruments
        and not overview.active
        and not (judgement and judgement.faults)
    ):
        lines.append(("nothing:todo", _line("To do", "nothing is pending", "", style="dim")))
    return lines


def pressed(key: str) -> str:
    """Return a key as it is written on a keyboard: `F9`, `4`."""
    return key.upper() if key[1:].isdigit() else key


def few_of_each(tasks: Sequence[Task], most: int) -> Sequence[Task]:
    """Return no more than so many tasks, in their order: of each kind the first, then the
    second, …
    """
    seen: Counter[str] = Counter()
    ranked = []
    for place, task in enumerate(tasks):
        kind = task.key.partition(" ")[0]
        ranked.append((seen[kind], place))
        seen[kind] += 1
    kept = sorted(place for _, place in sorted(ranked)[:most])
    return [tasks[place] for place in kept]


def unfolded(key: str, overview: Overview, judgement: Judgement | None, room: int) -> Content:
    """Return all that the line of a key stands for, as every instrument, or a job's details: what
    is not of one audit, and has no more to it than its line, stands for every result.
    """
    kind, _, name = key.partition(":")
    audits = judgement.audits if judgement else ()
    if kind == "instrument":
        lint = judgement.lint if judgement else {}
        lines = [
            _instrument(one, lint.get(one.name), room, failed=False) for one in overview.instruments
        ]
    elif kind == "job":
        lines = [job_details(job) for job in overview.jobs if name in (str(job.id), "new")][
            :JOBS_SHOWN
        ]
    elif kind == "labels":
        said = [
            (queue.name, f"{queue.done:,} of {queue.needed:,} labels") for queue in overview.queues
        ]
        lines = [_line("Queue", *one, room=room) for one in said]
    else:
        lines = []
        for of in [of for of in audits if of.mode == kind] or audits:
            lines += [_audit(line, room) for line in of.lines]
            if of.lines and (more := of.models - len(of.lines)) > 0:
                lines.append(
                    Content.styled(
                        " " * INDENT + f"and {plural(more, 'more model')}: {pressed(of.key)}",
                        "$text-muted",
                    )
                )
    return Content("\n\n").join(lines)


def is_to_do(key: str) -> bool:
    """Return whether a line is about something to do."""
    return key.startswith(("todo:", "next:", "more:")) or key.endswith((":next", ":todo"))


def _line(
    label: str,
    main: str,
    detail: str,
    *,
    style: str = "bold",
    below: Content | None = None,
    room: int = 0,
) -> Content:
    """Return a line; `room`: columns after the label. What does not fit there stands below, what
    fits does not.
    """
    first = Content.assemble((visible(main), style), "  ", visible(detail))
    head, indent = (f"{label:<{INDENT}}", "$text-muted"), "\n" + " " * INDENT
    if (
        below is not None
        and "\n" not in below.plain
        and first.cell_length + 2 + below.cell_length <= room
    ):
        return Content.assemble(head, first, "  ", below)
    if detail and 0 < room < first.cell_length:
        first = Content.assemble((visible(main), style), indent, visible(detail))
    return Content.assemble(head, first, *((indent, below) if below is not None else ()))


def _clean(overview: Overview, judgement: Judgement | None) -> Sequence[InstrumentSummary]:
    """Return the instruments in which the checks found nothing to act on."""
    lint = judgement.lint if judgement else {}
    found = [(summary, lint.get(summary.name)) for summary in overview.instruments]
    return [
        summary for summary, of in found if of is not None and not of.errors and not of.warnings
    ]


def _instruments(clean: Sequence[InstrumentSummary]) -> Content:
    """Return one line for instruments with which nothing is wrong."""
    statements = plural(sum(summary.statements for summary in clean), "statement")
    wordings = plural(sum(summary.wordings for summary in clean), "wording")
    return (
        _line("Instruments", f"{len(clean)}", f"{statements} · {wordings}")
        .append(Content("  "))
        .append(_lint(CLEAN))
    )


def _instrument(
    summary: InstrumentSummary, lint: LintCount | None, room: int, *, failed: bool
) -> Content:
    languages = [name for name in summary.languages if name]
    counts = [plural(summary.statements, "statement"), plural(summary.wordings, "wording")]
    detail = " · ".join([*counts, *([", ".join(languages)] if languages else [])])
    below = (
        Content.styled("lint could not be worked out", "$text-warning") if failed else _lint(lint)
    )
    return _line("Instrument", summary.name, detail, below=below, room=room)


def _lint(lint: LintCount | None) -> Content:
    if lint is None:
        return Content.styled("lint …", "dim")
    if not lint.errors and not lint.warnings:
        return Content.assemble("lint ", ("✓", "$text-success"))
    parts = [Content("lint")]
    if lint.errors:
        parts.append(Content.styled(f"✗ {plural(lint.errors, 'error')}", "bold $text-error"))
    if lint.warnings:
        parts.append(Content.styled(f"! {plural(lint.warnings, 'warning')}", "$text-warning"))
    return Content(" ").join(parts).append(Content.styled(" → 2, f", "dim"))


def _job(job: Job, room: int) -> Content:
    from workbench.jobs.launch import pace

    spec = job.spec
    what = str(spec.get("model") or spec.get("name") or spec.get("classifier") or "")
    mark = job_mark(job.state, stopping=job.stopping, pausing=job.pausing)
    detail = f"{mark}  {bar(job.done, job.total)} {percent(job.done, job.total)}"
    named, left = Content(visible(what)), room - Content(detail).cell_length - 2
    what = (
        named.truncate(max(1, left), ellipsis=True).plain
        if named.cell_length > left
        else named.plain
    )
    going = pace(job)
    parts = [
        (
            f"{job.done:,} of {job.total:,} {'prompts' if job.exact else UNITS.get(job.kind, '')}",
            "dim",
        )
    ]
    if going.per_second is not None:
        parts.append((f"{going.per_second:,.1f}/s", "dim"))
    if going.eta_seconds is not None:
        parts.append((f"ETA {human_duration(going.eta_seconds)}", "dim"))
    if job.question:
        parts.append(("waits for your decision: 3, then Enter", "$text-warning"))
    elif job.state in ("lost", "failed", "cancelled", "paused"):
        parts.append(("3, then R resumes it", "dim"))
    line = _line(f"Job {job.id}", what, detail, below=_packed(parts), room=room)
    return (
        line
        if job.state != "done" or "\n" not in line.plain
        else _line(f"Job {job.id}", what, detail)
    )


def _of_audits(audits: Sequence[AuditLines], room: int) -> Iterator[Line]:
    """Yield for each audit its newest result in one line, how many more there are, and the key that
    leads there. Only what warns stands below.
    """
    more = [max(len(of.lines), of.models) - 1 for of in audits]
    first = [
        (of, of.lines[0], f"  +{n}" * (n > 0))
        for of, n in zip(audits, more, strict=True)
        if of.lines
    ]
    names = [Content(visible(line.main)).cell_length for _, line, _ in first]
    widest = max((Content(visible(line.detail)).cell_length for _, line, _ in first), default=0)
    column = min(max(names, default=0), max(NAME_LEAST, room - widest - TAIL - 2))
    for of, line, others in first:
        tail = f"{others}  → {pressed(of.key)}"
        name = shortened(visible(line.main), column)
        name += " " * (column - Content(name).cell_length)
        detail, left = visible(line.detail), room - column - len(tail) - 2
        detail = (
            detail
            if Content(detail).cell_length <= left
            else shorten(detail, left, placeholder=" …")
        )
        said = _line(line.label, name, detail, style="dim" * line.dim or "bold")
        said = said.append(Content.styled(tail, "$text-muted"))
        warned = [(visible(words), "$text-warning") for words, warns in line.below if warns]
        below = Content("\n" + " " * INDENT).append(_packed(warned)) if warned else Content("")
        yield f"{of.mode}:{line.key}", said.append(below)


def _audit(line: HomeLine, room: int) -> Content:
    """Return what an audit says of its newest result."""
    parts = [(visible(words), "$text-warning" if warns else "dim") for words, warns in line.below]
    if line.run is not None and line.run.personas:
        behind = f"with {line.run.persona_name}" if line.run.persona else "without a persona"
        others = [name for name in line.run.personas if name != line.run.persona_name]
        parts.append(
            (
                visible(f"{behind}; asked with {named_few(others, 3)}, too" if others else behind),
                "dim",
            )
        )
    below = _packed(parts) if parts else None
    return _line(
        line.label,
        line.main,
        line.detail,
        style="dim" if line.dim else "bold",
        below=below,
        room=room,
    )


def _packed(parts: Sequence[tuple[str, str]]) -> Content:
    """Return words with their styles, in as many lines as a small terminal needs; none begins with
    a dot.
    """
    lines: list[list[Content]] = [[]]
    for text, style in parts:
        if lines[-1] and sum(part.cell_length + 3 for part in lines[-1]) + len(text) > BELOW:
            lines.append([])
        lines[-1].append(Content.styled(text, style))
    between, below = Content.styled(" · ", "dim"), Content("\n" + " " * INDENT)
    return below.join([between.join(line) for line in lines])


def _labels(overview: Overview) -> list[Line]:
    if not overview.queues:
        return []
    single, several, open_ = overview.labels
    needed = sum(queue.needed - queue.done for queue in overview.queues)
    detail = f"{single:,} single · {several:,} by several people · {open_:,} to adjudicate"
    waiting = [
        f"{queue.name} {queue.done:,}/{queue.needed:,}"
        for queue in overview.queues
        if queue.done < queue.needed
    ]
    given = f"labels given: {' · '.join(waiting)}" if waiting else "every queue has its labels"
    below = Content.styled(visible(given), "dim")
    return [
        (
            "labels:",
            _line(
                "Labels",
                f"{single + several:,}",
                detail,
                below=below if needed or waiting else None,
            ),
        )
    ]


def _classifier(score: ClassifierScore, room: int) -> Content:
    kept = number(score.kept, Kind.SHARE)
    detail = f"macro F1 {estimate(score.macro_f1, Kind.COEFFICIENT)} at 0.9, keeps {kept}"
    poor = [(f"! {score.shortcoming}", "$text-warning")] if score.shortcoming else []
    return _line(
        "Classifier",
        score.name,
        detail,
        below=_packed([*poor, (visible(score.rests_on), "dim")]),
        room=room,
    )


def _task(task: Task, room: int, *, first: bool) -> Content:
    """Return one line of what waits, with its key at the end; the label stands on the first."""
    key = TASK_KEYS.get(str(task.route[0]), "")
    tail = f"  → {key}" if key else ""
    what = (task.blind if reviews_blind() else "") or task.what
    left = room - Content(visible(task.count)).cell_length - 2 - Content(tail).cell_length
    said = _line("To do" if first else "", task.count, shortened(visible(what), left))
    return said.append(Content.styled(tail, "$text-accent"))


def shortened(text: str, room: int) -> str:
    """Return a text cut to so many columns with …, and with the brackets closed that it opens.

    Examples
    --------
    >>> shortened("wait: a-model (reliability)", 20)
    'wait: a-model (rel…)'
    """
    shown = Content(text)
    if shown.cell_length <= room:
        return text
    cut = shown.truncate(max(1, room), ellipsis=True).plain
    if cut.count("(") > cut.count(")"):
        cut = shown.truncate(max(1, room - 1), ellipsis=True).plain
        cut += ")" * (cut.count("(") > cut.count(")"))
    return cut


def _next_step(overview: Overview, judgement: Judgement | None) -> Line | None:
    if not overview.instruments:
        return (
            "next:import",
            _line(
                "Next step",
                "Enter",
                "import the shipped instrument veldania (a fictional country)",
                style="bold $text-accent",
                below=Content.styled(
                    "i imports your own files, with a preview · 2, then I: write a new instrument",
                    "dim",
                ),
            ),
        )
    if not overview.answers and not overview.jobs and overview.imported:
        return next(_todo(judgement.audits), None) if judgement else None
    if not any(summary.statements for summary in overview.instruments):
        below = Content.styled(
            "or turn a question into one; a model drafts variants, people review them", "dim"
        )
        detail = "then n: write the first statement"
        return (
            "statements:next",
            _line("Next step", "2", detail, style="bold $text-accent", below=below),
        )
    if not overview.answers and not overview.jobs:
        below = Content.styled("a form shows the plan before anything starts", "dim")
        detail = "then n: ask a model"
        return ("next:job", _line("Next step", "3", detail, style="bold $text-accent", below=below))
    if overview.active:
        return None
    if overview.free_answers and not overview.queues:
        below = Content.styled(
            "two people label a test set and one a training set; then a classifier reads the rest",
            "dim",
        )
        detail = "then n: draw answers for people to label"
        return (
            "annotate:next",
            _line("Next step", "5", detail, style="bold $text-accent", below=below),
        )
    if any(queue.done < queue.needed for queue in overview.queues) or overview.labels[2]:
        below = Content.styled("Enter on a queue labels it, d decides disagreements", "dim")
        detail = (
            f"{overview.labels[2]:,} to adjudicate"
            if overview.labels[2]
            else "label the waiting items"
        )
        return (
            "annotate:next",
            _line("Next step", "5", detail, style="bold $text-accent", below=below),
        )
    if overview.queues and not overview.classifiers:
        detail = "then n, t: train the stance classifier"
        return ("jobs:next", _line("Next step", "3", detail, style="bold $text-accent"))
    return next(_todo(judgement.audits), None) if judgement else None


def _todo(audits: Sequence[AuditLines]) -> Iterator[Line]:
    """Yield the results that can be looked at, as next steps."""
    for of in audits:
        for line in of.lines:
            if line.todo:
                below = Content.styled(line.todo_below, "dim")
                yield (
                    f"{of.mode}:next",
                    _line(
                        "Next step",
                        pressed(of.key),
                        line.todo,
                        style="bold $text-accent",
                        below=below,
                    ),
                )


REFRESH_S = 1.0
IDLE_TICKS = 5
"seconds between two looks while no job is active: another terminal may start one"
JUDGING = "Judging the answers …"
WAITING = "Looking for what waits for an auditor …"

STORE_HELP = section("screens-home", "Home")
PEOPLE_HELP = section("screens-home", "Home: people and classifiers")
MODE_OF = {
    "instrument": "statements",
    "job": "jobs",
    "responses": "audit",
    "labels": "annotate",
    "classifier": "results",
}
"kind of a line -> where Enter on it goes, where that is not a mode of this name"


def explain() -> str:
    """Return what the lines mean, those of every audit included."""
    audits = (audit.home_help for audit in registry.every_audit() if audit.home_help)
    return "\n".join((STORE_HELP, *audits, PEOPLE_HELP))


def keys_to_audits() -> list[BindingType]:
    """Return the keys that lead to the results of audits: their digits, and a letter."""
    return [
        Binding(
            ",".join(filter(None, (place.key, place.letter))),
            f"app.go('{place.mode}')",
            place.label or place.mode.capitalize(),
            show=bool(place.label),
            tooltip=place.tooltip,
        )
        for place in registry.places()
    ]


class FactList(OptionList):
    """The lines of Home."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select", "Open", key_display="Enter")
    ]


class HomeScreen(StoreScreen):
    """What there is, what runs, and what waits."""

    CSS_PATH = "home.tcss"
    PLACE = "home"
    EXPLAIN = explain()
    FOOTER_FIRST = ("select", "review")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("2,s", "app.go('statements')", "Statements", tooltip="Go to Statements"),
        Binding("3", "app.go('jobs')", "Jobs", tooltip="Go to Jobs"),
        Binding(
            "5,a",
            "app.go('annotate')",
            "Label",
            tooltip="Go to Annotate: queues, labels, adjudication",
        ),
        Binding(
            "i",
            "import",
            "Import",
            tooltip="Import statements, questions or answers from files, with a preview",
        ),
        Binding("j", "row(1)", "Row below", show=False, tooltip="Go to the next line"),
        Binding("k", "row(-1)", "Row above", show=False, tooltip="Go to the previous line"),
        Binding("g", "edge(-1)", "First row", show=False, tooltip="Go to the first line"),
        Binding("G", "edge(1)", "Last row", show=False, tooltip="Go to the last line"),
        *keys_to_audits(),
        Binding(
            "V", "review", "Review", tooltip="Open the review queue: what an auditor reviews first"
        ),
        Binding(
            "W",
            "report",
            "Report",
            tooltip="Write a report: a page with all figures, for a browser",
        ),
    ]

    facts = query_one("#facts", OptionList)
    notice = query_one("#notice", Static)

    def __init__(self) -> None:
        super().__init__()
        self._overview: Overview | None = None
        self._judgement: Judgement | None = None
        self._judged_for: tuple[object, object] | None = None
        self._began: str | None = None
        """line that the cursor was put on before all lines were known: unless a person moves it, it
        goes on to a task"""
        self._reading = self._judging = self._every_task = False
        self._review: Awaited | None = None
        "the review queue, asked for before it was known what waits"
        self._ticks = 0
        self._seen: Seen | None = None
        """what there was when somebody last looked at Home of this store, before the terminal was
        opened"""

    def compose_body(self) -> ComposeResult:
        yield Static(id="notice", markup=False)
        opening = Option(Content.styled("Opening the store …", "dim"), id="opening")
        with Vertical(classes="parts"):
            yield FactList(opening, id="facts", classes="list", markup=False)
            with VerticalScroll(classes="about", can_focus=False):
                yield Static(id="unfolded", markup=False)

    def on_mount(self) -> None:
        self.facts.focus()
        self.set_interval(REFRESH_S, self.tick)

    def on_screen_resume(self) -> None:
        self._look_again()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        return action not in ("review", "report") or (
            self._overview is not None and bool(self._overview.answers)
        )

    def on_resize(self) -> None:
        self._show()

    def tick(self) -> None:
        """Look again: each second while a job is active, otherwise now and then where something was
        written.
        """
        self._ticks += 1
        active = self._overview is not None and bool(self._overview.active)
        if (
            self.is_current
            and (active or self._ticks % IDLE_TICKS == 0)
            and (self.anew() or active)
        ):
            self._look_again()

    def _is_new(self, overview: Overview) -> bool:
        """Return whether something is to be judged anew, and take note of it. What people do counts
        at once, what an active job writes counts when it has ended. A job may end without an answer
        more.
        """
        jobs = tuple(
            (job.id, job.state, job.question, job.active or job.done) for job in overview.jobs
        )
        before, work = self._judged_for, (overview.work, jobs)
        made = before[1] if before is not None and overview.active else overview.made
        self._judged_for = (work, made)
        return self._judged_for != before

    def show_notice(self) -> None:
        """Show what the store has to say, and what of a person's own keys is not used."""
        said = (self._overview.notice if self._overview is not None else "", app_of(self).notice)
        notice = "\n".join(filter(None, said))
        self.notice.update(Content(visible(notice, lines=True)))
        self.notice.set_class(bool(notice), "-shown")

    def say_imported(self, sentence: str) -> None:
        self.title_bar.note = ""
        say(self, sentence)
        self.action_refresh()

    @on(OptionList.OptionSelected)
    def open_line(self, event: OptionList.OptionSelected) -> None:
        kind = (event.option_id or "").partition(":")[0]
        mode = MODE_OF.get(kind, kind)
        if event.option_id == "next:import":
            self.title_bar.note = "Importing veldania …"
            self.bring_shipped()
        elif event.option_id == "next:job":
            self.app.switch_mode("jobs")
        elif kind == "more":
            self._every_task = True
            self._show()
        elif kind == "todo":
            self._begin((event.option_id or "").partition(":")[2])
        elif (run := self._run_of(event.option_id or "")) is not None:
            lead(self.app, (mode, run))
        elif mode in self.app.MODES:
            self.app.switch_mode(mode)

    @on(OptionList.OptionHighlighted)
    def unfold(self) -> None:
        """Show beside the lines what the one under the cursor stands for."""
        at, beside = self.facts.highlighted_option, self.query_one("#unfolded", Static)
        if at is not None and self._overview is not None and self.has_class("-beside"):
            room = beside.content_size.width - INDENT
            beside.update(unfolded(str(at.id), self._overview, self._judgement, room))

    def _run_of(self, key: str) -> Run | None:
        """Return the run that a line is about."""
        audits = self._judgement.audits if self._judgement is not None else ()
        return next(
            (one.run for of in audits for one in of.lines if f"{of.mode}:{one.key}" == key), None
        )

    def _begin(self, key: str) -> None:
        """Go where a task is done."""
        tasks = self._judgement.tasks if self._judgement is not None else ()
        task = next((one for one in tasks if one.key == key), None)
        if task is not None:
            lead(self.app, task.route)

    def failed(self, error: WorkbenchError) -> None:
        if self._judging:
            self._judged_for = None  # the next look at the store tries again
        self._reading = self._judging = False
        if self._review is not None:
            gate_of(self).came(self._review, failed=True)
            self._review = None
        self.title_bar.note = ""
        super().failed(error)
        if self._overview is None:
            self.facts.clear_options()

    def action_row(self, step: int) -> None:
        """Go to the next line, or the one before."""
        if step > 0:
            self.facts.action_cursor_down()
        else:
            self.facts.action_cursor_up()

    def action_edge(self, end: int) -> None:
        """Go to the last line, or the first one."""
        if end > 0:
            self.facts.action_last()
        else:
            self.facts.action_first()

    def action_refresh(self) -> None:
        """Read the store again and judge it anew, whether or not it has changed."""
        self._judged_for = None
        self._look()

    def action_report(self) -> None:
        """Ask where a report is to be written."""
        from workbench.tui.kit.command_dialog import ReportDialog

        self.app.push_screen(ReportDialog())

    def action_review(self) -> None:
        """Open the review queue that the list of what to do names, else that of the run that was
        answered last.

        Where that list is still being worked out, the queue opens when it is there.
        """
        if self._judgement is None and any(
            one.group == "judge" and not one.is_finished for one in self.workers
        ):
            self._review, self.title_bar.note = gate_of(self).expect(self, "screen"), WAITING
            return
        lead(self.app, self.review_route())

    def review_route(self) -> Sequence[object]:
        """Return what leads to the review queue that the list of what to do names, as far as it is
        known.
        """
        tasks = self._judgement.tasks if self._judgement is not None else ()
        return next((one.route for one in tasks if one.route[0] == "review"), ("review",))

    def action_import(self) -> None:
        self.app.push_screen(screen("import", self.say_imported))

    def _look_again(self) -> None:
        """Look what changed; before the first look there is nothing that keys could be about."""
        if self._overview is None:
            self._look()
        else:
            with in_background():
                self._look()

    def _look(self) -> None:
        if not self._reading:
            self._reading = True
            self.look()

    def _show(self) -> None:
        if self._overview is None:
            return
        width = (self.facts if self.has_class("-beside") else self).size.width or 80
        lines = home_lines(
            self._overview, self._judgement, width, every_task=self._every_task, seen=self._seen
        )
        self.refresh_bindings()
        held = [option.id for option in self.facts.options]
        if held == [key for key, _ in lines]:
            for key, prompt in lines:
                if self.facts.get_option(key).prompt != prompt:
                    self.facts.replace_option_prompt(key, prompt)
            self.unfold()
            return
        at = self.facts.highlighted_option.id if self.facts.highlighted_option else None
        keys = [key for key, _ in lines]
        ends = next((n for n, key in enumerate(keys) if not is_to_do(key)), 0)
        options = [Option(prompt, id=key) for key, prompt in lines]
        self.facts.set_options([*options[:ends], *([None] * bool(ends)), *options[ends:]])
        first = next((n for n, key in enumerate(keys) if is_to_do(key)), 0)
        stays = at in keys and at != self._began
        self.facts.highlighted = keys.index(str(at)) if stays else first
        self._began = keys[first] if self._judgement is None else None

    @worker("look")
    async def look(self) -> None:
        overview = await self.with_store(read_overview)
        self._reading = False
        if self._overview is None:
            self._seen = Seen.read(remembered(self._seen_name))
        self._overview = overview
        if not overview.active:  # a job that is active is looked at every second
            keep(
                self._seen_name,
                overview.seen(datetime.now().astimezone().strftime("%Y-%m-%d %H:%M")).written(),
            )
        self.trouble.hide()
        self.show_notice()
        self._show()
        if not self._judging and self._is_new(overview):
            self._judging = True
            self.title_bar.note = JUDGING
            self.judge()

    @property
    def _seen_name(self) -> str:
        return f"seen of {self.store_path.absolute()}"

    @worker("judge", beside=True)
    async def judge(self) -> None:
        loop = get_running_loop()

        def tell(what: str) -> None:
            loop.call_soon_threadsafe(self._say_judging, what)

        judgement = await self.with_store(lambda store: read_judgement(store, tell))
        self._judgement, self._judging = judgement, False
        self.title_bar.note = ""
        self._show()
        asked, self._review = self._review, None
        if asked is not None and gate_of(self).is_awaited(asked):
            if self.is_current:
                self.action_review()
            gate_of(self).came(asked)

    def _say_judging(self, what: str) -> None:
        if self._judging and self.is_attached:
            self.title_bar.note = f"{WAITING if self._review is not None else JUDGING} {what}"

    @worker("import", newest=False)
    async def bring_shipped(self) -> None:
        self.say_imported(await self.with_store(import_shipped))
