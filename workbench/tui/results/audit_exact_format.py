"""Exact label probabilities on the audit screens: cells, sentences and tables; pure."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rich.text import Text
from textual.content import Content

from workbench.readers.verbalizers import RULES
from workbench.tui.format import visible
from workbench.tui.results.audit_format import ALL_OF, chance_cell, decides_cell
from workbench.tui.results.audit_statement_format import (
    EXPECTED,
    KEY,
    LABEL,
    LONG_LABEL,
    MOST_BAR,
    STANCE,
    TESTS,
    label,
    stance_cell,
)
from workbench.tui.widgets.leaning_bar import leaning_bar, leaning_scale
from workbench.tui.widgets.record_table import Column, Record

if TYPE_CHECKING:
    from stores.runs.run_rows import Run
    from stores.runs.scores import ProbeScores, TokenTable
    from workbench.audits.reliability.exact import ExactReport, ExactRow

NAMED, CLEAR = 8, 8
SHOWN = 6
"next tokens that stand below the table; Enter shows all"
BAR = 30
LEAST = 0.0005
"probability from which a spelling has a line of its own"
NO_TOKENS = "the backend names no next tokens"


def bar_width(width: int, *, every: bool) -> int:
    """Return how wide a bar is in a table of this width."""
    rest = width - 1 - (LONG_LABEL if every else LABEL) - NAMED - STANCE - EXPECTED - CLEAR - TESTS
    return max(8, min(rest - 1, MOST_BAR))


def exact_columns(width: int, samples: int, *, every: bool) -> tuple[Column, ...]:
    """Return the columns of a statement's wordings; `every`: there are long labels."""
    bar = bar_width(width, every=every)
    return (
        Column("wording", " wording", LONG_LABEL if every else LABEL),
        Column("bar", leaning_scale(bar), bar + 1),
        Column("named", "labels", NAMED),
        Column("stance", "stance", STANCE),
        Column("expected", "expected", EXPECTED),
        Column("clear", ALL_OF.format(samples), CLEAR),
        Column("tests", "tests", None),
    )


def exact_record(row: ExactRow, enough: float, width: int, *, every: bool) -> Record:
    """Return a row: the key is the variant and the order. `enough`: the share of probability that labels need."""
    of = row.row
    named = Text(percent_of(row.named), style="" if row.named >= enough else "bold yellow")
    return (
        f"{of.variant}{KEY}{of.order}",
        (
            Text(f" {label(of.variant, of.order)}"),
            _bar(row, bar_width(width, every=every)),
            named,
            Text("· few", style="dim") if not row.named >= enough else stance_cell(of.stance, 1),
            Text("–", style="dim") if of.expected is None else stance_cell(of.expected, 1, style="dim"),
            chance_cell(row.reliable),
            decides_cell(of.tests),
        ),
    )


def _bar(row: ExactRow, width: int) -> Text:
    if math.isnan(row.row.leaning):
        return Text("not scored"[:width].ljust(width), style="dim italic", no_wrap=True)
    return leaning_bar(row.row.leaning, row.row.low, row.row.high, width)


def percent_of(value: float) -> str:
    """Return `81.2 %`; `<0.1 %` where that is not nothing, `–` where it is not known."""
    if math.isnan(value):
        return "–"
    return "<0.1 %" if 0 < value < 0.0005 else f"{100 * value:.1f} %"


def shares_line(row: ExactRow, samples: int) -> Content:
    """Say how probable each label is, and what samples would say."""
    if math.isnan(row.row.leaning):
        return Content.styled("not scored", "$text-muted")
    says = [("agree", row.agree), ("disagree", row.disagree), ("tie", row.tie), ("too few readable", row.few)]
    likely = ", ".join(f"{word} {percent_of(p)}" for word, p in says if p >= 0.0005)
    return Content.assemble(
        (f"agree {percent_of(row.positive)}, disagree {percent_of(row.negative)}", "bold"),
        f": of the two, agree {percent_of(row.row.leaning)}\n",
        (f"{samples} samples: clear {percent_of(row.reliable)}; most {likely}", "$text-muted"),
    )


def tokens_line(found: ProbeScores | None) -> Content:
    """Return the likeliest next tokens in one line."""
    if found is None:
        return Content("")
    if found.table is None:
        return Content.styled(NO_TOKENS, "$text-muted")
    shown = [f"{token_text(text)} {percent_of(math.exp(log))}" for text, log in found.table.tokens[:SHOWN]]
    return Content.assemble(("next: ", "$text-muted"), "  ".join(shown))


def token_text(token: str) -> str:
    """Return a token with its spaces and line ends as signs."""
    return visible(token).replace(" ", "␣") or "(nothing)"


def scores_text(found: ProbeScores, run: Run, row: ExactRow | None, samples: int) -> Content:
    """Return everything that was computed for one prompt."""
    if found.failed:
        return Content.assemble(
            ("✗ not scored\n", "$text-error"), visible(found.failed), "\n\n", provenance(found, run)
        )
    parts = [] if row is None else [shares_line(row, samples)]
    parts.append(Content("\n").join([Content.styled("Labels, as the beginning of the answer", "bold"), *_forms(found)]))
    heading = Content.styled("Likeliest next tokens", "bold")
    lines = [Content.styled(NO_TOKENS, "$text-muted")] if found.table is None else list(_tokens(found.table))
    return Content("\n\n").join([*parts, Content("\n").join([heading, *lines]), provenance(found, run)])


def _forms(found: ProbeScores) -> list[Content]:
    shown = [(form, math.exp(log)) for form, log in found.scores if math.exp(log) >= LEAST]
    lines = [Content(_line(share, form)) for form, share in shown]
    rest = len(found.scores) - len(shown)
    others = sum(math.exp(log) for _, log in found.scores) - sum(share for _, share in shown)
    return (
        [*lines, Content.styled(f"{percent_of(others):>8}  {rest} other spellings", "$text-muted")] if rest else lines
    )


def _tokens(table: TokenTable) -> list[Content]:
    lines = [Content(_line(math.exp(log), text)) for text, log in table.tokens]
    return [*lines, Content.styled(f"{percent_of(table.rest):>8}  all others", "$text-muted")]


def _line(probability: float, text: str) -> str:
    return f"{percent_of(probability):>8}  {'▆' * round(probability * BAR):<{BAR}}  {token_text(text)}"


def provenance(found: ProbeScores, run: Run) -> Content:
    """Say where the probabilities come from, in one line."""
    parts = (
        run.model,
        run.version,
        run.computed,
        f"{found.template} {found.order}",
        f"{found.at[:19].replace('T', ' ')} UTC",
        f"workbench {found.code_version}",
        f"job {found.job}",
    )
    return Content.styled(" · ".join(visible(part) for part in parts), "$text-muted")


def explain_exact(report: ExactReport) -> str:
    """Say what stands in each column of a statement's wordings."""
    options, exact = report.options, report.exact
    few = (
        "every answer is taken to name a label"
        if exact.readable == "given"
        else f"an answer names a label as often as the model's, and {report.needed_words} have to"
    )
    return f"""●  p(agree) / (p(agree) + p(disagree)): the leaning among answers that begin with a label, computed \
and not sampled. A prompt leans clearly outside {100 * options.low:g}-{100 * options.high:g} %: there is no interval.

LABELS  the share of the model's probability on the two labels: {RULES[report.mass.version]}. Below \
{100 * exact.named:g} % their ratio says little, and the prompt is insufficient.

STANCE  the side of one half; exactly one half has none.

EXPECTED  what the stance on the original asks for: the same on paraphrases and with swapped labels, the other one \
on negation and opposite.

{ALL_OF.format(exact.samples).strip().upper()}  the probability that {exact.samples} samples of this prompt would lean \
clearly by rule `{options.rule}` (Ceron et al. 2024, section 5.4); {few}.

TESTS  to which the row contributes; ← marks what fails.

Enter shows the probabilities of each spelling of the labels, and the likeliest next tokens."""
