"""Checks: what is odd about an instrument, the way to each place, and the findings that somebody
lets stand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.getters import query_one
from textual.widgets import Static

from workbench.domain.findings import LintFinding, Quoted
from workbench.domain.names import plural
from workbench.errors import WorkbenchError
from workbench.figures.visible import visible
from workbench.help.sections import section
from workbench.tui import routes
from workbench.tui.format import job_mark, percent
from workbench.tui.kit.base import StoreScreen, say, worker
from workbench.tui.kit.dialogs import WaiveDialog, with_answer
from workbench.tui.kit.person_dialog import as_person
from workbench.tui.results.sheet import Sheet
from workbench.tui.results.sheet_view import SheetView
from workbench.tui.rulings.ruling import RuledText, RulingKeys
from workbench.tui.rulings.standing import RuledPlace
from workbench.tui.statements.statement_format import difference, marked

if TYPE_CHECKING:
    from stores.core.store import Store
    from stores.instruments.checks import Waiver
    from stores.jobs.job_rows import Job
    from workbench.pipeline.checking import CheckedFinding, CheckReport

EXPLAINED = {
    "orders-equal": "Both label orders give the same prompt, so the test of label order cannot "
    "fail: it is void.",
    "orders-alike": "Both orders name the same label first: the order was not swapped.",
    "orders-differ": "More than the order differs, so a change of stance may have another cause.",
    "one-order": "Without the swapped order, the test of label order leaves this template out.",
    "template-slot": "The statement replaces the slot, so a template needs exactly one slot.",
    "template-label": "A model cannot answer with a label that the template does not show.",
    "no-original": "Every test compares with the original; without it the statement cannot be "
    "asked.",
    "missing-variant": "Other statements have this variant. A test that needs it leaves this "
    "statement out.",
    "rare-variant": "A test that needs this variant rests on the few statements that have it.",
    "missing-language": "Audits in this language leave the statement out.",
    "unusable-text": "A model cannot be asked this text. Imports keep it unchanged.",
    "stray-blanks": "Leading and trailing spaces reach the model and change its input.",
    "double-blanks": "Double spaces reach the model; most are left over from editing.",
    "duplicate-statement": "The same statement is asked twice for one country, so it counts twice.",
    "duplicate-question": "A question listed twice under a bias counts twice.",
    "no-options": "A question is a text followed by one option per line: A. …, B. …",
    "no-changed-form": "A bias is the difference between the answers to two forms. Write or make "
    "the changed form.",
    "second-changed": "A bias compares one pair of forms. Move this text into the changed form, "
    "or delete it.",
    "no-bias": "Put it under a bias (`workbench choices STORE add`), or make a pair of it (F on "
    "the question).",
    "not-of-bias": "Changed answers are counted by letter, which have that meaning only in the "
    "bias's own form.",
    "bias-wording": "The changed form may not shift people's answers as intended. Read both forms.",
    "other-options": "Typos are compared with the original. Make them again after the original "
    "changes.",
    "other-shares": "The shares of people's answers belong to the options those people saw.",
    "near-duplicate": "Two statements with the same meaning count twice. Merge them, or waive "
    "this if they differ.",
    "unknown-origin": "The statement it derives from is missing, or its ref has changed.",
    "circular-origin": "Two statements cannot derive from each other.",
    "unknown-statement": "These labels or answers are kept, but no figure counts them.",
    "half-labelled": "The left/right bias needs both the dimension and the side.",
    "issue-twice": "Two issues with the same name are counted as one.",
    "issue-undefined": "Without a definition, annotators label by their own idea of the issue.",
    "few-labels": "With fewer than six statements the stance on an issue says little, and tables "
    "mark it.",
    "too-far": "The encoder finds it as far from its original as an unrelated statement. Does it "
    "mean the same, or, "
    "for a negation or opposite, the contrary? A cosine cannot tell: read both.",
    "too-near": "A nearly identical wording tests little: the model sees almost the same input.",
    "nli-contradicts": "The entailment model finds a contradiction where the two should mean the "
    "same.",
    "nli-entails": "The entailment model finds that one follows from the other where they should "
    "be contraries.",
    "nli-neutral": "The entailment model finds no relation. These models are often wrong about "
    "demands.",
    "nli-one-way": "Only one follows from the other: the two do not claim exactly the same.",
    "two-in-one": "Somebody who agrees with only one half cannot answer.",
    "several-sentences": "Somebody who agrees with only one of the sentences cannot answer.",
    "double-negation": "People lose count of negations, and models more so.",
    "absolute-word": "One exception is enough to disagree, even for somebody who agrees overall.",
    "vague-word": "People who agree may mean quite different amounts.",
    "loaded-wording": "The wording implies the right answer, so it measures its own effect.",
    "leading-wording": "The opening suggests the expected answer.",
    "negation-without-negator": "A negation denies its original explicitly. This one may repeat "
    "the original.",
    "opposite-with-negator": "An opposite uses no negator, so that it tests more than the word "
    "“not”.",
    "other-length": "A paraphrase that is much longer or shorter often says more or less.",
    "hard-to-read": "Flesch: 206.835 − 1.015 words a sentence − 84.6 syllables a word. Short "
    "texts vary a lot.",
    "long": "Readers of a long statement often respond to its first half.",
    "long-word": "People stumble over long words; models split them into pieces.",
    "capitals": "Capitals add emphasis, and models read them as different tokens.",
    "question": "Agree and disagree do not answer a question. Rewrite it as a statement.",
    "direction-mark": "It reverses letters on screen: the displayed text is not the text the "
    "model gets.",
    "hidden-character": "It is invisible on screen, but the model sees it.",
    "mixed-scripts": "Letters that look alike are different letters to a model and to a search.",
    "not-nfc": "The same letters have two encodings; searches and comparisons may miss this one.",
}
"codes and what they mean; those that end in `-equals-KIND` are explained together"
EQUAL = (
    "The two texts are identical, so the model gets the same input twice: a test that "
    "compares them is void."
)


def explanation(code: str) -> str:
    """Return what a code means, "" where its message says all."""
    return EQUAL if "-equals-" in code else EXPLAINED.get(code, "")


def counts_line(report: CheckReport) -> str:
    """Return `6 errors · 111 warnings · 302 notes · 2 waived`."""
    parts = [plural(n, severity) for severity, n in report.counts.items()]
    if report.waived:
        parts.append(f"{len(report.waived):,} waived")
    return " · ".join(parts)


def models_line(report: CheckReport) -> str:
    """Return by which models similarities and entailments are."""
    if report.encoder is None and report.nli is None:
        return "Not checked by a model yet; R runs the check."
    parts = []
    if report.encoder is not None:
        parts.append(f"similarities by {report.encoder.name} of {report.encoder.texts:,} texts")
    if report.nli is not None:
        parts.append(f"entailments by {report.nli.name} of {report.nli.texts:,}")
    return " · ".join(parts)


def empty_text(report: CheckReport) -> str:
    """Return what stands where there is nothing that nobody waived."""
    waived = len(report.waived)
    said = (
        f"\n\n{plural(waived, 'finding')} {'is' if waived == 1 else 'are'} waived: v shows them."
        if waived
        else ""
    )
    return f"No findings for {visible(report.instrument.name)}.{said}\n\n{models_line(report)}"


MOST_QUOTED = 2_000
"characters of a text that stands alone"
TEXTS = ("first_name", "first_text", "second_name", "second_text")
TAKEN_AS_READ = ("key", "instrument", "ref", "variant", "language", *TEXTS)
"columns that say no more than the place and the texts do, which stand below"


class FindingsView(SheetView):
    """Findings, errors first; Enter leads to the wording that one is about."""

    DEFAULT_CSS = """
    FindingsView #details {
        max-height: 50%;
    }
    """
    EVERY = "v"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("s", "narrow('severity')", "Severity", tooltip="Show errors, warnings, notes, all"),
        Binding("c", "narrow('code')", "Kind", tooltip="Show one kind of finding after another"),
        Binding("S", "sort", "Sort", show=False, tooltip="Sort by a column"),
        Binding("0", "all", "All", show=False, tooltip="Show all rows again"),
        Binding("v", "every", "Waived", tooltip="Show waived findings too, or leave them out"),
        Binding(
            "l", "whole", "Whole", show=False, tooltip="Show the texts below from beginning to end"
        ),
    ]

    @property
    def finding(self) -> CheckedFinding | None:
        """The finding under the cursor."""
        return self.row[1] if self.row is not None else None

    def told(self, at: int) -> Content:
        if self.sheet is None:
            return Content("")
        return Content("\n").join([*self.ruled(at), finding_details(self.sheet.table.rows[at][1])])

    def action_narrow(self, column: str) -> None:
        self.narrow(column)

    def action_whole(self) -> None:
        self.show_whole()

    def show_whole(self) -> None:
        if (one := self.finding) is not None and (at := self.row_index) is not None:
            ruled = self.rulings(at) if self.rulings is not None else ()
            self.app.push_screen(
                RuledText(one.finding.code, finding_details(one), wide=True, rulings=ruled)
            )


def findings_sheet(report: CheckReport) -> Sheet:
    """Return the findings of an instrument as a sheet, without columns that are empty."""
    from workbench.pipeline.checking import findings

    name = report.instrument.name
    table = findings([(name, one) for one in report.checked])
    columns = [
        column
        for column in table.columns
        if column.key not in TAKEN_AS_READ
        and any(column.value(row) is not None for row in table.rows)
    ]
    return Sheet(replace(table, columns=columns))


def finding_details(one: CheckedFinding) -> Content:
    """Return what the finding means, the texts side by side, and the waiver."""
    finding = one.finding
    lines = [
        Content.assemble(
            (visible(finding.code), "bold $text-accent"),
            (f"  {visible(_place(finding))}", "$text-muted"),
        ),
        Content(visible(finding.message)),
    ]
    if one.waiver is not None:
        waiver = one.waiver
        said = (
            f"by {visible(waiver.person)}, {visible(waiver.at[:10])}: "
            f"{visible(waiver.reason or '')}"
        )
        lines.append(Content.assemble(("○ waived ", "bold"), said))
    lines += _compared(finding.texts)
    if explained := explanation(finding.code):
        lines += [Content(""), Content.styled(explained, "$text-muted")]
    return Content("\n").join(lines)


def _place(finding: LintFinding) -> str:
    parts = [
        finding.subject,
        str(finding.variant) if finding.variant else "",
        finding.language or "",
    ]
    return " · ".join(part for part in parts if part)


def _compared(texts: Sequence[Quoted]) -> Iterator[Content]:
    """Yield two texts with what differs between them marked, or the texts as they are."""
    if len(texts) == 2:
        left, right = difference(texts[0].text, texts[1].text)
        for quoted, parts, mark in zip(texts, (left, right), "−+", strict=True):
            yield Content("")
            yield Content.styled(visible(quoted.name), "bold")
            yield marked(parts, mark)
        return
    for quoted in texts:
        yield Content("")
        yield Content.styled(visible(quoted.name), "bold")
        yield Content(visible(_ends(quoted.text), lines=True))


def _ends(text: str) -> str:
    """Return a text with its outer blanks in sight."""
    cut = text if len(text) <= MOST_QUOTED else f"{text[:MOST_QUOTED]}…"
    inner = cut.strip(" ")
    if not inner:
        return "␣" * len(cut) or "(empty)"
    before, after = len(cut) - len(cut.lstrip(" ")), len(cut) - len(cut.rstrip(" "))
    return "␣" * before + inner + "␣" * after


LOOK_AT_JOB_S = 1.0

EXPLAIN = section("screens-statements", "Findings")


class ChecksScreen(RulingKeys, StoreScreen):
    """The findings of one instrument, errors first."""

    CSS_PATH = "checks.tcss"
    EXPLAIN = EXPLAIN
    READS_ONLY = True
    DECIDES: ClassVar[frozenset[str]] = frozenset({"waive", "unwaive"})
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("w", "waive", "Waive", tooltip="Waive this finding, with a reason"),
        Binding("u", "unwaive", "Unwaive", tooltip="Remove the waiver"),
        Binding(
            "R", "run", "Run models", tooltip="Start a job that checks the wordings with models"
        ),
        Binding("escape", "leave", "Back", key_display="Esc", tooltip="Go back"),
    ]

    view = query_one(FindingsView)

    def __init__(self, instrument: str) -> None:
        super().__init__()
        self._instrument = instrument
        self._report: CheckReport | None = None
        self._job: int | None = None
        self._looking = False
        self.PLACE = f"statements › {instrument} › findings"

    def compose_body(self) -> ComposeResult:
        yield Static("Checking …", id="counts", markup=False)
        yield FindingsView()
        yield Static(id="models", markup=False)

    def on_screen_resume(self) -> None:
        self.read_standing()

    def on_mount(self) -> None:
        self.set_interval(LOOK_AT_JOB_S, self.tick)
        self.look()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        current = self.current
        if action == "waive":
            return current is not None and current.waiver is None
        if action == "unwaive":
            return current is not None and current.waiver is not None
        if action == "rule":
            return self.ruled_place() is not None
        return True

    @property
    def current(self) -> CheckedFinding | None:
        """The finding under the cursor."""
        return self.view.finding

    @on(SheetView.Current)
    def offer_what_fits(self) -> None:
        self.refresh_bindings()

    @on(SheetView.Opened)
    def go_there(self, event: SheetView.Opened) -> None:
        """Open the editor at the wording that the finding is about."""
        if self._report is None or (current := self.current) is None:
            return
        ref, _, language = event.links[event.at].subject
        refs = tuple(dict.fromkeys(link.subject[0] for link in event.links))
        in_language = language or self._report.instrument.language
        editor = routes.screen(
            "statement", self._instrument, ref, in_language, refs, current.finding.variant
        )
        self.app.push_screen(editor, lambda _: self.action_refresh())

    def ruled_place(self) -> RuledPlace | None:
        """Return the wording that the finding under the cursor is about, or the statement; a
        template has no place.
        """
        return self._place(self.view.row_index) if self.view.row_index is not None else None

    def show_standing(self) -> None:
        self.view.rulings = self._rulings_on
        self.view.follow()

    def _rulings_on(self, at: int) -> Sequence[str]:
        place = self._place(at) if self.standing.rulings else None
        return self.standing.on_place(place) if place is not None else ()

    def _place(self, at: int) -> RuledPlace | None:
        sheet = self.view.sheet
        finding = (
            sheet.table.rows[at][1].finding
            if sheet is not None and at < len(sheet.table.rows)
            else None
        )
        if finding is None or finding.ref is None:
            return None
        words: tuple[str, ...] = (finding.ref,)
        if finding.variant is not None:
            words = (finding.ref, str(finding.variant))
        return RuledPlace((self._instrument,), words, language=finding.language or "")

    def action_refresh(self) -> None:
        self.look()

    def action_leave(self) -> None:
        """Show all findings again; with all in sight, go back."""
        if not self.view.show_all_rows():
            self.app.pop_screen()

    def action_waive(self) -> None:
        """Ask for the reason, and who gives it, and let the finding stand."""
        current, report = self.current, self._report
        if current is None or report is None:
            return

        def waive(reason: str, person: str) -> None:
            name, finding = self._instrument, current.finding
            self.decide(
                current,
                lambda store: store.checks.waive(name, finding, reason=reason, person=person),
                report,
            )

        def as_somebody(reason: str) -> None:
            as_person(self, self._instrument, lambda person: waive(reason, person))

        with_answer(self, WaiveDialog(current.finding), as_somebody)

    def action_unwaive(self) -> None:
        current, report = self.current, self._report
        if current is None or report is None:
            return

        def unwaive(store: Store, person: str) -> None:
            store.checks.unwaive(self._instrument, current.finding, person=person)

        as_person(
            self,
            self._instrument,
            lambda person: self.decide(current, lambda store: unwaive(store, person), report),
        )

    def action_run(self) -> None:

        form = routes.screen("start_job", "check", instrument=self._instrument)
        with_answer(self, form, self._started)

    def tick(self) -> None:
        """See how far the models are."""
        if self._job is not None and self.is_current and not self._looking:
            self._looking = True
            self.look_at_job(self._job)

    def failed(self, error: WorkbenchError) -> None:
        self._looking = False
        if self._report is None:
            self.query_one("#counts", Static).update("")
        super().failed(error)

    def _started(self, job: int) -> None:
        self._job = job
        say(self, f"Job {job} is running. Its findings appear here when it is done.")

    def _show(self, report: CheckReport, sheet: Sheet) -> None:
        """Show the findings; the cursor stays on its finding, or where it was."""
        self._report = report
        self.query_one("#counts", Static).update(Content(counts_line(report)).stylize("bold"))
        if self._job is None:
            self.query_one("#models", Static).update(Content(visible(models_line(report))))
        self.view.empty = empty_text(report)
        self.view.show(sheet)
        self.refresh_bindings()

    @worker("look")
    async def look(self) -> None:
        def load(store: Store) -> tuple[CheckReport, Sheet, Job | None]:
            from workbench.pipeline.checking import check_report, running_check

            report = check_report(store, self._instrument)
            return report, findings_sheet(report), running_check(store, self._instrument)

        report, sheet, job = await self.with_store(load)
        self.trouble.hide()
        if job is not None:
            self._job = job.id
        self._show(report, sheet)

    @worker("decide", newest=False)
    async def decide(
        self, one: CheckedFinding, act: Callable[[Store], Waiver | None], report: CheckReport
    ) -> None:
        """Store a waiver, or take one back, and show it: to check a large instrument again would
        take seconds.
        """

        def write(store: Store) -> tuple[CheckReport, Sheet]:
            waiver = act(store)
            checked = (
                replace(each, waiver=waiver) if each is one else each for each in report.checked
            )
            changed = replace(report, checked=tuple(checked))
            return changed, findings_sheet(changed)

        self._show(*await self.with_store(write))

    @worker("job", beside=True)
    async def look_at_job(self, number: int) -> None:
        job = await self.with_store(lambda store: store.jobs.get(number))
        self._looking = False
        if job.active:
            line = (
                f"job {job.id} {job_mark(job.state)} {percent(job.done, job.total)} · "
                f"{visible(job.message)}"
            )
            self.query_one("#models", Static).update(Content(line))
            return
        self._job = None
        said = f"Job {job.id} {job.stands}: {visible(job.message)}"
        self.notify(said, markup=False, severity="information" if job.state == "done" else "error")
        self.look()
