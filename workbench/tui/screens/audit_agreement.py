"""Agreement over statements and templates, beside what a coin and what people would reach."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widgets import Static
from textual.worker import Worker, WorkerState, get_current_worker

from workbench.domain.counting import plural
from workbench.domain.statements import Relation
from workbench.tui.format import decimals, estimate, visible
from workbench.tui.screens.audit_format import name_of, two
from workbench.tui.screens.audit_view import Judged
from workbench.tui.screens.base import as_trouble
from workbench.tui.screens.dialogs import TextScreen

if TYPE_CHECKING:
    from workbench.audits.human_bound import Bound
    from workbench.audits.reliability_agreement import AcrossTemplates, AgreementRow, Restricted
    from workbench.domain.verdicts import Estimate, MeanSd

COMPUTING = "Computing the coefficients and their intervals …"
NOTES = """κ is Cohen's, between the stance on the original and on the variant, over statements (Ceron et al. 2024, \
section 6.2). On negation and opposite the stance should flip: raw, perfect consistency is -1.00 (nearer 0 where one \
stance prevails); after flipping it is 1.00. Intervals are seeded 95 % bootstraps over statements. n: pairs with a \
stance on both sides.

Coin: fair flips, as many a prompt as the run has samples, through the same tests (section 6.1). People: respondents \
who answered the same wordings, the upper bound for a model (section 6.1); mean (sd) over the n respondents whose κ is \
defined, with a seeded 95 % bootstrap over respondents and, within each, over statements."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """All coefficients of a run, with what to hold them against."""

    rows: tuple[AgreementRow, ...]
    across: AcrossTemplates
    coin: tuple[AgreementRow, ...]
    people: tuple[Bound, ...]
    "empty where nobody was asked"
    respondents: int
    restricted: tuple[Restricted, ...] = ()
    "what the model's and the coin's are over, where that is what people answered"


def compute(judged: Judged, *, like_people: bool = False) -> Agreement:
    """Return the coefficients; takes a second or two. `like_people`: over the statements that people answered alone."""
    from workbench.audits.reliability_beside import Reliability

    of = Reliability(judged.report, judged.instrument, judged.run.language, like_people)
    return Agreement(
        of.kappas, judged.report.across_templates, of.coin_kappas, of.people, of.respondents, of.restricted
    )


class AgreementScreen(TextScreen):
    """The coefficients, computed while it is open."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "dismiss(None)", "Close", show=False),
        Binding("p", "people", "As people", tooltip="Only the statements that people answered, or all"),
    ]

    @dataclass
    class Computed(Message):
        """The coefficients are there."""

        agreement: Agreement

    def __init__(self, judged: Judged) -> None:
        super().__init__(f"Agreement: {judged.run.label}", COMPUTING, wide=True)
        self._judged = judged
        self._like_people = False

    def on_mount(self) -> None:
        self.compute()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR and event.worker.error is not None:
            self.query_one("#text", Static).update(Content(visible(str(as_trouble(event.worker.error)), lines=True)))

    @on(Computed)
    def show(self, event: Computed) -> None:
        self.query_one("#text", Static).update(Content("\n").join(agreement_lines(event.agreement)))

    def action_people(self) -> None:
        """Turn between the statements that people answered and all."""
        self._like_people = not self._like_people
        self.query_one("#text", Static).update(COMPUTING)
        self.compute()

    @work(thread=True, exclusive=True, exit_on_error=False, group="agreement")
    def compute(self) -> None:
        worker = get_current_worker()
        agreement = compute(self._judged, like_people=self._like_people)
        if not worker.is_cancelled:
            self.post_message(self.Computed(agreement))


def agreement_lines(agreement: Agreement) -> Iterator[Content]:
    """Yield the panel from top to bottom: means with what to hold them against, across templates, each template."""
    for one in agreement.restricted:
        over = f"over the {plural(one.statements, 'statement')} that people answered; left out: {one.left_out:,}"
        yield Content.styled(f"{name_of(one.name)}: {over}", "$text-muted")
    yield from _means(agreement)
    if agreement.people:
        yield Content.styled("  p: over the statements that people answered, or over all", "$text-muted")
    yield Content()
    yield Content.styled("Across templates, stance on the originals (section 6.2)", "bold")
    yield Content(f"  Krippendorff's α            {estimate(agreement.across.alpha)}")
    same = agreement.across.same
    left_out = f", {same.excluded} left out" if same.excluded else ""
    yield Content(f"  same stance in all          {estimate(same)}{left_out}")
    for row in agreement.rows:
        yield Content()
        yield from _block(row)
    yield Content()
    yield Content.styled(NOTES, "$text-muted")


def _means(agreement: Agreement) -> Iterator[Content]:
    people = f"people ({agreement.respondents})" if agreement.people else ""
    yield Content.styled("Mean κ (sd) over templates; people's over respondents, with its interval", "bold")
    yield Content.styled(f"  {'':<17}{'model':<12}{'coin':<12}{people}", "$text-muted")
    coins = {row.name: row for row in agreement.coin}
    humans = {row.name: row for row in agreement.people}
    for row in agreement.rows:
        coin, human = coins.get(row.name), humans.get(row.name)
        means = [each.raw_mean if each else None for each in (row, coin)]
        yield _mean_line(name_of(row.name), means, bound_words(human.raw_mean, human.raw) if human else "")
        if row.relation is Relation.FLIPPED:
            means = [each.flipped_mean if each else None for each in (row, coin)]
            bound = bound_words(human.flipped_mean, human.flipped) if human else ""
            yield _mean_line("  after flipping", means, bound)
    why = {
        "model": undefined_because(agreement.rows),
        "coin": undefined_because(agreement.coin),
        "people": tuple(dict.fromkeys(row.raw.undefined for row in agreement.people if row.raw.undefined)),
    }
    for who, reasons in why.items():
        if reasons:
            yield Content.styled(f"  undefined for {who}: {'; '.join(reasons)}", "$text-muted")
    if not agreement.people:
        yield Content.styled(
            "  Nobody has answered the instrument: people's upper bound is not known (workbench survey).", "$text-muted"
        )


def undefined_because(rows: Sequence[AgreementRow]) -> tuple[str, ...]:
    """Return why means are undefined, each reason once."""
    without = [row for row in rows if math.isnan(row.raw_mean.mean)]
    return tuple(dict.fromkeys(each.undefined for row in without for each in row.raw if each.undefined))


def _mean_line(name: str, means: Sequence[MeanSd | None], bound: str) -> Content:
    return Content((f"  {name:<17}" + "".join(f"{mean_words(mean):<12}" for mean in means) + bound).rstrip())


def bound_words(mean: MeanSd, of: Estimate) -> str:
    """Return `0.90 (.08) [.84, .96] n 6`; n is the respondents whose κ is defined."""
    interval = "" if math.isnan(of.low) else f" [{decimals(of.low)}, {decimals(of.high)}]"
    return f"{mean_words(mean)}{interval} n {of.n}" if of.defined else mean_words(mean)


def mean_words(mean: MeanSd | None) -> str:
    """Return `0.61 (.08)`, or that it is undefined."""
    if mean is None:
        return ""
    if math.isnan(mean.mean):
        return "undefined"
    sd = "" if math.isnan(mean.sd) else f" ({mean.sd:.2f})".replace("(0.", "(.")
    return f"{two(mean.mean)}{sd}"


def _block(row: AgreementRow) -> Iterator[Content]:
    flips = row.relation is Relation.FLIPPED
    wide = max((len(by) for by in row.by), default=0) + 2
    title = f"{name_of(row.name)}: κ per template" + (", raw and after flipping" if flips else "")
    yield Content.styled(title, "bold")
    for by, raw, flipped in zip(row.by, row.raw, row.flipped, strict=True):
        after = f"   after flipping {estimate(flipped)}" if flips and flipped.defined else ""
        left_out = f" ({raw.excluded} left out)" if raw.excluded else ""
        yield Content(f"  {visible(by):<{wide}}{estimate(raw)}{after}{left_out}")
