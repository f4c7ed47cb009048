"""The screen Home: the state of the project, and the next step if something is missing."""

from __future__ import annotations

from asyncio import get_running_loop
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
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
from workbench.errors import WorkbenchError
from workbench.figures.shown import estimate, number
from workbench.figures.table import Kind
from workbench.figures.visible import visible
from workbench.help.sections import section
from workbench.tui.format import bar, human_duration, job_mark, percent
from workbench.tui.home.drawn_results import drawn_results, written_result
from workbench.tui.jobs.job_lines import job_details
from workbench.tui.kit.awaited import Awaited
from workbench.tui.kit.base import StoreScreen, app_of, in_background, say, worker
from workbench.tui.kit.key_gate import gate_of
from workbench.tui.overview import (
    Judgement,
    LintCount,
    Overview,
    VisitCounts,
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
    from workbench.pipeline.todo import PendingTask
    from workbench.tui.overview import AuditLines, ClassifierScore

Line = tuple[str, Content]
"a key, and the text of the line"

JOBS_SHOWN = 3
INDENT, BELOW = 12, 62
"columns before the text of a line, and columns of the text in a terminal of 80 columns"
AROUND = 80 - INDENT - BELOW
"terminal columns beside these"
TASKS_SHOWN = 8
"number of pending tasks until the user opens all, so that the lines below stay visible"
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
"keys that lead to a screen or mode with pending tasks, by its name"
LOOKING = "looking for what waits …"
RESULTS_BESIDE = 120
"terminal columns from which results are drawn beside the lines"
NAME_LEAST, TAIL = 16, 9
"least columns of a model's name when a figure needs room, and columns after the figure"
CLEAN = LintCount(0, 0, 0)


def home_lines(
    overview: Overview,
    judgement: Judgement | None,
    width: int = 80,
    *,
    every_task: bool = False,
    seen: VisitCounts | None = None,
) -> list[Line]:
    """Return the lines of Home, each under a key that stays the same between refreshes.

    Pending tasks of people come first, then news, a line for each audit, and the contents.

    `width`: columns of the terminal. A line that is too long has its text truncated, never its key.
    `seen`: the contents at the last visit of Home, or None at the first visit.
    """
    room = width - INDENT - AROUND
    return [
        *_to_do(overview, judgement, room, every_task=every_task),
        *_news(overview, seen, room),
        *_results(judgement, room),
        *_instrument_lines(overview, judgement, room),
        *_responses(overview),
        *_jobs(overview, room),
        *_labels(overview),
        *_classifiers(judgement, room),
    ]


def _news(overview: Overview, seen: VisitCounts | None, room: int) -> list[Line]:
    """Return the line on the changes since the last visit, or nothing without changes."""
    news_text = seen.news(overview) if seen is not None else ""
    if seen is None or not news_text:
        return []
    return [("job:new", _line("New", news_text, f"since {seen.at}", room=room))]


def _results(judgement: Judgement | None, room: int) -> list[Line]:
    """Return a line for each audit with a result, and for each audit that could not be judged."""
    if judgement is None:
        return []
    fault_lines = [(line.key, _fault(line, room)) for line in judgement.faults]
    return [*audit_lines(judgement.audits, room), *fault_lines]


def _instrument_lines(overview: Overview, judgement: Judgement | None, room: int) -> list[Line]:
    """Return a line for each instrument. Several without errors and warnings share one line."""
    faults = judgement.faults if judgement else ()
    has_failed_lint = any(fault.label == "Lint" for fault in faults)
    clean_instruments = [] if has_failed_lint else _clean(overview, judgement)
    lines = []
    if len(clean_instruments) > 1:
        lines.append(("instrument:", _instruments(clean_instruments)))
    for summary in overview.instruments:
        if len(clean_instruments) > 1 and summary in clean_instruments:
            continue
        lint = judgement.lint.get(summary.name) if judgement else None
        content = _instrument(summary, lint, room, failed=has_failed_lint)
        lines.append((f"instrument:{summary.name}", content))
    return lines


def _responses(overview: Overview) -> list[Line]:
    if not overview.answers:
        return []
    detail = f"the store has answers of {plural(overview.models, 'model')}"
    return [("responses:", _line("Responses", f"{overview.answers:,}", detail))]


def _jobs(overview: Overview, room: int) -> list[Line]:
    """Return a line for each active job, or else for the newest one."""
    jobs = overview.active or overview.jobs[:1]
    return [(f"job:{job.id}", _job(job, room)) for job in jobs[:JOBS_SHOWN]]


def _classifiers(judgement: Judgement | None, room: int) -> list[Line]:
    if not judgement or not judgement.classifier:
        return []
    return [("classifier:", _classifier(judgement.classifier, room))]


def _to_do(
    overview: Overview, judgement: Judgement | None, room: int, *, every_task: bool
) -> list[Line]:
    """Return a line for each pending task, or the next step if no task is pressing."""
    tasks = judgement.tasks if judgement else ()
    visible_tasks = tasks if every_task else first_of_each_kind(tasks, TASKS_SHOWN)
    lines = [
        (f"todo:{task.key}", _task(task, room, first=not index))
        for index, task in enumerate(visible_tasks)
    ]
    n_hidden = len(tasks) - len(visible_tasks)
    if n_hidden:
        lines.append(("more:", _line("", f"{n_hidden} more", "Enter lists them", style="")))
    has_started = overview.answers or overview.jobs or overview.imported
    if judgement is None and has_started:
        return [*lines, ("looking:todo", _line("To do", LOOKING, "", style="dim"))]
    has_pressing_task = any(task.pressing for task in tasks)
    next_step = None if has_pressing_task else _next_step(overview, judgement)
    if next_step is not None:
        return [*lines, next_step]
    has_faults = judgement is not None and bool(judgement.faults)
    if not lines and overview.instruments and not overview.active and not has_faults:
        lines.append(("nothing:todo", _line("To do", "nothing is pending", "", style="dim")))
    return lines


def pressed(key: str) -> str:
    """Return a key as it is written on a keyboard: `F9`, `4`."""
    return key.upper() if key[1:].isdigit() else key


def first_of_each_kind(tasks: Sequence[PendingTask], most: int) -> Sequence[PendingTask]:
    """Return at most `most` tasks in their order: the first of each kind, then the second, …"""
    n_by_kind: Counter[str] = Counter()
    ranked = []
    for position, task in enumerate(tasks):
        kind = task.key.partition(" ")[0]
        ranked.append((n_by_kind[kind], position))
        n_by_kind[kind] += 1
    indices = sorted(index for _, index in sorted(ranked)[:most])
    return [tasks[index] for index in indices]


def line_details(key: str, overview: Overview, judgement: Judgement | None, room: int) -> Content:
    """Return the details of a line, such as all instruments or the details of a job.

    A line that belongs to no audit and has no details stands for the results of all audits.
    """
    kind, _, name = key.partition(":")
    if kind == "instrument":
        lines = _every_instrument(overview, judgement, room)
    elif kind == "job":
        lines = _job_texts(overview, name)
    elif kind == "labels":
        lines = _queues(overview, room)
    else:
        lines = _every_result(judgement, kind, room)
    return Content("\n\n").join(lines)


def _every_instrument(overview: Overview, judgement: Judgement | None, room: int) -> list[Content]:
    lint = judgement.lint if judgement else {}
    return [
        _instrument(summary, lint.get(summary.name), room, failed=False)
        for summary in overview.instruments
    ]


def _job_texts(overview: Overview, name: str) -> list[Content]:
    """Return the details of the job with a number, or of the newest jobs for `new`."""
    jobs = [job for job in overview.jobs if name in (str(job.id), "new")]
    return [job_details(job) for job in jobs[:JOBS_SHOWN]]


def _queues(overview: Overview, room: int) -> list[Content]:
    return [
        _line("Queue", queue.name, f"{queue.done:,} of {queue.needed:,} labels", room=room)
        for queue in overview.queues
    ]


def _every_result(judgement: Judgement | None, mode: str, room: int) -> list[Content]:
    """Return the results of the audit with a mode, or of all audits if none has it."""
    audits = judgement.audits if judgement else ()
    matching_audits = [audit for audit in audits if audit.mode == mode]
    lines = []
    for audit in matching_audits or audits:
        drawing = drawn_results(audit.lines, room + INDENT)
        if drawing is not None:
            lines.append(drawing)
        if drawing is None or matching_audits:
            lines += [written_result(line) for line in audit.lines]
        n_more = audit.models - len(audit.lines)
        if audit.lines and n_more > 0:
            more_text = f"and {plural(n_more, 'more model')}: {pressed(audit.key)}"
            lines.append(Content.styled(more_text, "$text-muted"))
    return lines


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
    """Return a line. `room`: columns after the label.

    Text that does not fit there goes below it, text that fits does not.
    """
    first_line = Content.assemble((visible(main), style), "  ", visible(detail))
    label_part, indent = (f"{label:<{INDENT}}", "$text-muted"), "\n" + " " * INDENT
    if (
        below is not None
        and "\n" not in below.plain
        and first_line.cell_length + 2 + below.cell_length <= room
    ):
        return Content.assemble(label_part, first_line, "  ", below)
    if detail and 0 < room < first_line.cell_length:
        first_line = Content.assemble((visible(main), style), indent, visible(detail))
    return Content.assemble(label_part, first_line, *((indent, below) if below is not None else ()))


def _clean(overview: Overview, judgement: Judgement | None) -> Sequence[InstrumentSummary]:
    """Return the instruments without errors and warnings of the checks."""
    lint = judgement.lint if judgement else {}
    counts_by_summary = [(summary, lint.get(summary.name)) for summary in overview.instruments]
    return [
        summary
        for summary, count in counts_by_summary
        if count is not None and not count.errors and not count.warnings
    ]


def _instruments(clean: Sequence[InstrumentSummary]) -> Content:
    """Return one line for the instruments without errors and warnings."""
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
    texts = [plural(summary.statements, "statement"), plural(summary.wordings, "wording")]
    if languages:
        texts.append(", ".join(languages))
    detail = " · ".join(texts)
    lint_content = (
        Content.styled("lint could not be worked out", "$text-warning") if failed else _lint(lint)
    )
    return _line("Instrument", summary.name, detail, below=lint_content, room=room)


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
    subject = str(spec.get("model") or spec.get("name") or spec.get("classifier") or "")
    mark = job_mark(job.state, stopping=job.stopping, pausing=job.pausing)
    detail = f"{mark}  {bar(job.done, job.total)} {percent(job.done, job.total)}"
    name_content, n_columns = Content(visible(subject)), room - Content(detail).cell_length - 2
    subject = (
        name_content.truncate(max(1, n_columns), ellipsis=True).plain
        if name_content.cell_length > n_columns
        else name_content.plain
    )
    progress = pace(job)
    parts = [
        (f"{job.done:,} of {job.total:,} {job.unit}", "dim"),
    ]
    if progress.per_second is not None:
        parts.append((f"{progress.per_second:,.1f}/s", "dim"))
    if progress.eta_seconds is not None:
        parts.append((f"ETA {human_duration(progress.eta_seconds)}", "dim"))
    if job.question:
        parts.append(("waits for your decision: 3, then Enter", "$text-warning"))
    elif job.state in ("lost", "failed", "cancelled", "paused"):
        parts.append(("3, then R resumes it", "dim"))
    line = _line(f"Job {job.id}", subject, detail, below=_packed(parts), room=room)
    return (
        line
        if job.state != "done" or "\n" not in line.plain
        else _line(f"Job {job.id}", subject, detail)
    )


@dataclass(frozen=True, slots=True)
class _AuditRow:
    """The newest result of an audit, as texts of a line."""

    audit: AuditLines
    line: HomeLine
    name: str
    "name of the result's model"
    detail: str
    others: str
    "number of other results, or empty without any"

    @classmethod
    def from_lines(cls, audit: AuditLines) -> _AuditRow:
        """Return the row of an audit with at least one result."""
        line = audit.lines[0]
        n_others = max(len(audit.lines), audit.models) - 1
        others = f"  +{n_others}" if n_others > 0 else ""
        return cls(audit, line, visible(line.main), visible(line.detail), others)

    def content(self, name_width: int, room: int) -> Content:
        """Return the line, with its name in a column, its figures, its key and any warnings."""
        tail = f"{self.others}  → {pressed(self.audit.key)}"
        name = shortened(self.name, name_width)
        name += " " * (name_width - Content(name).cell_length)
        n_columns = room - name_width - len(tail) - 2
        detail = self.detail
        if Content(detail).cell_length > n_columns:
            detail = shorten(detail, n_columns, placeholder=" …")
        style = "dim" if self.line.dim else "bold"
        content = _line(self.line.label, name, detail, style=style)
        content = content.append(Content.styled(tail, "$text-muted"))
        warnings = [(visible(text), "$text-warning") for text, warns in self.line.below if warns]
        if not warnings:
            return content
        return content.append(Content("\n" + " " * INDENT).append(_packed(warnings)))


def audit_lines(audits: Sequence[AuditLines], room: int) -> list[Line]:
    """Return the newest result of each audit in a line, with the number of others and its key.

    Only warnings stand below.
    """
    rows = [_AuditRow.from_lines(audit) for audit in audits if audit.lines]
    if not rows:
        return []
    longest_name = max(Content(row.name).cell_length for row in rows)
    longest_detail = max(Content(row.detail).cell_length for row in rows)
    name_width = min(longest_name, max(NAME_LEAST, room - longest_detail - TAIL - 2))
    return [(f"{row.audit.mode}:{row.line.key}", row.content(name_width, room)) for row in rows]


def _fault(line: HomeLine, room: int) -> Content:
    """Return the lines of a figure that could not be computed."""
    parts = [(visible(text), "$text-warning" if warns else "dim") for text, warns in line.below]
    return _line(
        line.label,
        line.main,
        line.detail,
        style="dim" if line.dim else "bold",
        below=_packed(parts) if parts else None,
        room=room,
    )


def _packed(parts: Sequence[tuple[str, str]]) -> Content:
    """Return texts with their styles, in lines of a small terminal. No line starts with a dot."""
    lines: list[list[Content]] = [[]]
    for text, style in parts:
        if lines[-1] and sum(part.cell_length + 3 for part in lines[-1]) + len(text) > BELOW:
            lines.append([])
        lines[-1].append(Content.styled(text, style))
    separator, line_break = Content.styled(" · ", "dim"), Content("\n" + " " * INDENT)
    return line_break.join([separator.join(line) for line in lines])


def _labels(overview: Overview) -> list[Line]:
    if not overview.queues:
        return []
    n_single, n_several, n_open = overview.labels
    detail = f"{n_single:,} single · {n_several:,} by several people · {n_open:,} to adjudicate"
    below = _missing_labels(overview)
    content = _line("Labels", f"{n_single + n_several:,}", detail, below=below)
    return [("labels:", content)]


def _missing_labels(overview: Overview) -> Content | None:
    """Return the progress of the unfinished queues, or None if every queue has its labels."""
    unfinished = [
        f"{queue.name} {queue.done:,}/{queue.needed:,}"
        for queue in overview.queues
        if queue.done < queue.needed
    ]
    if unfinished:
        return Content.styled(visible(f"labels given: {' · '.join(unfinished)}"), "dim")
    has_more_than_needed = any(queue.done > queue.needed for queue in overview.queues)
    return Content.styled("every queue has its labels", "dim") if has_more_than_needed else None


def _classifier(score: ClassifierScore, room: int) -> Content:
    kept_share = number(score.kept, Kind.SHARE)
    detail = f"macro F1 {estimate(score.macro_f1, Kind.COEFFICIENT)} at 0.9, keeps {kept_share}"
    warnings = [(f"! {score.shortcoming}", "$text-warning")] if score.shortcoming else []
    return _line(
        "Classifier",
        score.name,
        detail,
        below=_packed([*warnings, (visible(score.rests_on), "dim")]),
        room=room,
    )


def _task(task: PendingTask, room: int, *, first: bool) -> Content:
    """Return the line of a pending task, with its key at the end. The first has the label."""
    key = TASK_KEYS.get(str(task.route[0]), "")
    tail = f"  → {key}" if key else ""
    task_text = (task.blind if reviews_blind() else "") or task.what
    n_columns = room - Content(visible(task.count)).cell_length - 2 - Content(tail).cell_length
    content = _line("To do" if first else "", task.count, shortened(visible(task_text), n_columns))
    return content.append(Content.styled(tail, "$text-accent"))


def shortened(text: str, room: int) -> str:
    """Return a text truncated to so many columns with …, and with its open brackets closed.

    Examples
    --------
    >>> shortened("wait: a-model (reliability)", 20)
    'wait: a-model (rel…)'
    """
    content = Content(text)
    if content.cell_length <= room:
        return text
    truncated = content.truncate(max(1, room), ellipsis=True).plain
    if truncated.count("(") > truncated.count(")"):
        truncated = content.truncate(max(1, room - 1), ellipsis=True).plain
        if truncated.count("(") > truncated.count(")"):
            truncated += ")"
    return truncated


@dataclass(frozen=True, slots=True)
class _Step:
    """A next step of the project."""

    line_key: str
    keyboard_key: str
    "key that leads there"
    detail: str
    hint: str = ""

    def line(self) -> Line:
        """Return the step as a line of Home."""
        hint = Content.styled(self.hint, "dim") if self.hint else None
        style = "bold $text-accent"
        return self.line_key, _line(
            "Next step", self.keyboard_key, self.detail, style=style, below=hint
        )


IMPORT_SHIPPED = _Step(
    "next:import",
    "Enter",
    "import the shipped instrument veldania (a fictional country)",
    "i imports your own files, with a preview · 2, then I: write a new instrument",
)
WRITE_STATEMENT = _Step(
    "statements:next",
    "2",
    "then n: write the first statement",
    "or turn a question into one; a model drafts variants, people review them",
)
ASK_MODEL = _Step(
    "next:job", "3", "then n: ask a model", "a form shows the plan before anything starts"
)
DRAW_ANSWERS = _Step(
    "annotate:next",
    "5",
    "then n: draw answers for people to label",
    "two people label a test set and one a training set; then a classifier reads the rest",
)
LABEL_ITEMS = _Step(
    "annotate:next",
    "5",
    "label the waiting items",
    "Enter on a queue labels it, d decides disagreements",
)
TRAIN_CLASSIFIER = _Step("jobs:next", "3", "then n, t: train the stance classifier")


def _next_step(overview: Overview, judgement: Judgement | None) -> Line | None:
    """Return the next step of the project, or None if it waits for a job or all is done."""
    has_sampled = bool(overview.answers or overview.jobs)
    n_open = overview.labels[2]
    if not overview.instruments:
        return IMPORT_SHIPPED.line()
    if not has_sampled and overview.imported:
        return _first_result(judgement)
    if not any(summary.statements for summary in overview.instruments):
        return WRITE_STATEMENT.line()
    if not has_sampled:
        return ASK_MODEL.line()
    if overview.active:
        return None
    if overview.free_answers and not overview.queues:
        return DRAW_ANSWERS.line()
    if n_open:
        return replace(LABEL_ITEMS, detail=f"{n_open:,} to adjudicate").line()
    if any(queue.done < queue.needed for queue in overview.queues):
        return LABEL_ITEMS.line()
    if overview.queues and not overview.classifiers:
        return TRAIN_CLASSIFIER.line()
    return _first_result(judgement)


def _first_result(judgement: Judgement | None) -> Line | None:
    """Return the first result that can be inspected, or None."""
    return next(_todo(judgement.audits), None) if judgement else None


def _todo(audits: Sequence[AuditLines]) -> Iterator[Line]:
    """Yield the results that can be inspected, as next steps."""
    for audit in audits:
        for line in audit.lines:
            if line.todo:
                hint = Content.styled(line.todo_below, "dim")
                yield (
                    f"{audit.mode}:next",
                    _line(
                        "Next step",
                        pressed(audit.key),
                        line.todo,
                        style="bold $text-accent",
                        below=hint,
                    ),
                )


REFRESH_S = 1.0
IDLE_TICKS = 5
"seconds between two polls without an active job, because another terminal may start one"
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
"mode that Enter on a line opens, by kind, if it is not the mode of that name"


def explain() -> str:
    """Return the help on the lines, including those of every audit."""
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
        Binding(
            "enter", "select", "Open", key_display="Enter", tooltip="Open what is under the cursor"
        )
    ]


class HomeScreen(StoreScreen):
    """The screen of the store's contents, its running jobs and its pending tasks."""

    CSS_PATH = "home.tcss"
    PLACE = "home"
    HORIZONTAL_BREAKPOINTS = [(0, "-below"), (RESULTS_BESIDE, "-beside")]  # noqa: RUF012  as in the base class
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
        "first line of the initial cursor, which moves on to a task unless the user moves it"
        self._reading = self._judging = self._every_task = False
        self._review: Awaited | None = None
        "the review queue, requested before the pending tasks were known"
        self._ticks = 0
        self._seen: VisitCounts | None = None
        "contents at the last visit of Home in this store, before the terminal was opened"

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
        """Poll the store, each second while a job is active, else at intervals after a write."""
        self._ticks += 1
        active = self._overview is not None and bool(self._overview.active)
        if (
            self.is_current
            and (active or self._ticks % IDLE_TICKS == 0)
            and (self.has_changed() or active)
        ):
            self._look_again()

    def _is_new(self, overview: Overview) -> bool:
        """Return whether results have to be judged again, and take note of it.

        Work of people counts at once, output of an active job once it has ended. A job may end
        without new answers.
        """
        jobs = tuple(
            (job.id, job.state, job.question, job.active or job.done) for job in overview.jobs
        )
        previous, work_state = self._judged_for, (overview.work, jobs)
        results_state = (
            previous[1] if previous is not None and overview.active else overview.output_state
        )
        self._judged_for = (work_state, results_state)
        return self._judged_for != previous

    def show_notice(self) -> None:
        """Show the notice of the store, and personal keys that are ignored."""
        notices = (self._overview.notice if self._overview is not None else "", app_of(self).notice)
        notice = "\n".join(filter(None, notices))
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
        """Show the details of the line under the cursor beside the lines."""
        current, detail_panel = self.facts.highlighted_option, self.query_one("#unfolded", Static)
        if current is not None and self._overview is not None and self.has_class("-beside"):
            room = detail_panel.content_size.width - INDENT
            detail_panel.update(
                line_details(str(current.id), self._overview, self._judgement, room)
            )

    def _run_of(self, key: str) -> Run | None:
        """Return the run of a line, or None if it has none."""
        audits = self._judgement.audits if self._judgement is not None else ()
        return next(
            (
                line.run
                for audit in audits
                for line in audit.lines
                if f"{audit.mode}:{line.key}" == key
            ),
            None,
        )

    def _begin(self, key: str) -> None:
        """Open the screen where a task is done."""
        tasks = self._judgement.tasks if self._judgement is not None else ()
        task = next((candidate for candidate in tasks if candidate.key == key), None)
        if task is not None:
            lead(self.app, task.route)

    def failed(self, error: WorkbenchError) -> None:
        if self._judging:
            self._judged_for = None  # The next poll of the store tries again.
        self._reading = self._judging = False
        if self._review is not None:
            gate_of(self).arrived(self._review, failed=True)
            self._review = None
        self.title_bar.note = ""
        super().failed(error)
        if self._overview is None:
            self.facts.clear_options()

    def action_row(self, step: int) -> None:
        """Go to the next or the previous line."""
        if step > 0:
            self.facts.action_cursor_down()
        else:
            self.facts.action_cursor_up()

    def action_edge(self, end: int) -> None:
        """Go to the last or the first line."""
        if end > 0:
            self.facts.action_last()
        else:
            self.facts.action_first()

    def action_refresh(self) -> None:
        """Read the store again and judge it anew, whether or not it has changed."""
        self._judged_for = None
        self._look()

    def action_report(self) -> None:
        """Ask where to write a report."""
        from workbench.tui.kit.command_dialog import ReportDialog

        self.app.push_screen(ReportDialog())

    def action_review(self) -> None:
        """Open the review queue that the tasks name, or that of the run with the latest answer.

        If the tasks are still being computed, the queue opens once they are known.
        """
        if self._judgement is None and any(
            running_worker.group == "judge" and not running_worker.is_finished
            for running_worker in self.workers
        ):
            self._review, self.title_bar.note = gate_of(self).expect(self, "screen"), WAITING
            return
        lead(self.app, self.review_route())

    def review_route(self) -> Sequence[object]:
        """Return the route to the review queue that the tasks name, as far as they are known."""
        tasks = self._judgement.tasks if self._judgement is not None else ()
        return next((task.route for task in tasks if task.route[0] == "review"), ("review",))

    def action_import(self) -> None:
        self.app.push_screen(screen("import", self.say_imported))

    def _look_again(self) -> None:
        """Poll the store again. Before the first result, keys wait for it."""
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
        current_keys = [option.id for option in self.facts.options]
        if current_keys == [key for key, _ in lines]:
            for key, prompt in lines:
                if self.facts.get_option(key).prompt != prompt:
                    self.facts.replace_option_prompt(key, prompt)
            self.unfold()
            return
        current_key = self.facts.highlighted_option.id if self.facts.highlighted_option else None
        keys = [key for key, _ in lines]
        n_to_do = next((index for index, key in enumerate(keys) if not is_to_do(key)), 0)
        options: list[Option | None] = [Option(prompt, id=key) for key, prompt in lines]
        if n_to_do:
            options.insert(n_to_do, None)  # a line between the tasks and the rest
        self.facts.set_options(options)
        first_index = next((index for index, key in enumerate(keys) if is_to_do(key)), 0)
        cursor_stays = current_key in keys and current_key != self._began
        self.facts.highlighted = keys.index(str(current_key)) if cursor_stays else first_index
        self._began = keys[first_index] if self._judgement is None else None

    @worker("look")
    async def look(self) -> None:
        overview = await self.with_store(read_overview)
        self._reading = False
        if self._overview is None:
            self._seen = VisitCounts.read(remembered(self._seen_name))
        self._overview = overview
        if (
            not overview.active
        ):  # An active job is polled every second, so the visit is stored without one.
            keep(
                self._seen_name,
                overview.seen(datetime.now().astimezone().strftime("%Y-%m-%d %H:%M")).to_json(),
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

        def tell(step: str) -> None:
            loop.call_soon_threadsafe(self._say_judging, step)

        judgement = await self.with_store(lambda store: read_judgement(store, tell))
        self._judgement, self._judging = judgement, False
        self.title_bar.note = ""
        self._show()
        awaited_review, self._review = self._review, None
        if awaited_review is not None and gate_of(self).is_awaited(awaited_review):
            if self.is_current:
                self.action_review()
            gate_of(self).arrived(awaited_review)

    def _say_judging(self, what: str) -> None:
        if self._judging and self.is_attached:
            self.title_bar.note = f"{WAITING if self._review is not None else JUDGING} {what}"

    @worker("import", newest=False)
    async def bring_shipped(self) -> None:
        self.say_imported(await self.with_store(import_shipped))
