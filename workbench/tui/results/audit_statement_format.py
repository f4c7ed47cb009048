"""The wordings of an audited statement as cells and sentences; pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text
from textual.content import Content

from workbench.domain.prompts import Prompt
from workbench.domain.readings import Stance
from workbench.domain.statements import ORIGINAL
from workbench.domain.verdicts import Verdict
from workbench.figures.marks import MARKS, WORDS
from workbench.tui.format import visible
from workbench.tui.results.audit_format import STANCE_MARKS, decides_cell, finding_line, issue_list
from workbench.tui.results.audit_view import ALL, Judged, findings
from workbench.tui.statements.statement_format import marked
from workbench.tui.widgets.leaning_bar import leaning_bar, leaning_scale
from workbench.tui.widgets.record_table import Column, Record
from workbench.tui.worddiff import word_diff

if TYPE_CHECKING:
    from workbench.audits.reliability.judge import Report
    from workbench.audits.reliability.rows import VariantRow

READABLE, STANCE, EXPECTED, TESTS = 9, 11, 11, 19
LABEL, LONG_LABEL = 15, 23
MOST_BAR = 62
"a longer bar says no more"
KEY = " · "


def bar_width(width: int, *, every: bool) -> int:
    """Return how wide a bar is in a table of this width."""
    rest = width - 1 - (LONG_LABEL if every else LABEL) - READABLE - STANCE - EXPECTED - TESTS
    return max(8, min(rest - 1, MOST_BAR))


def variant_columns(width: int, *, every: bool) -> tuple[Column, ...]:
    """Return the columns; `every`: there are long labels."""
    bar = bar_width(width, every=every)
    return (
        Column("wording", " wording", LONG_LABEL if every else LABEL),
        Column("bar", leaning_scale(bar), bar + 1),
        Column("readable", "readable", READABLE),
        Column("stance", "stance", STANCE),
        Column("expected", "expected", EXPECTED),
        Column("tests", "tests", None),
    )


def variant_record(row: VariantRow, width: int, *, every: bool) -> Record:
    """Return a row: the key is the variant and the order."""
    few = row.readable < row.total
    return (
        f"{row.variant}{KEY}{row.order}",
        (
            Text(f" {label(row.variant, row.order)}"),
            leaning_bar(row.leaning, row.low, row.high, bar_width(width, every=every)),
            Text(f"{row.readable}/{row.total}", style="bold" if few else ""),
            stance_cell(row.stance, row.readable),
            Text("–", style="dim") if row.expected is None else stance_cell(row.expected, 1, style="dim"),
            decides_cell(row.tests),
        ),
    )


def label(variant: str, order: str) -> str:
    """Return `negation`, `swapped` for the original with swapped labels, `swapped negation`."""
    if order == "printed":
        return variant
    return "swapped" if variant == str(ORIGINAL) else f"swapped {variant}"


def row_key(key: str | None) -> tuple[str, str]:
    """Return the variant and the order of a row's key; the original where there is no row yet."""
    variant, _, order = (key or f"{ORIGINAL}{KEY}printed").partition(KEY)
    return variant, order


def stance_cell(stance: Stance | None, readable: int, style: str = "") -> Text:
    """Return `+ agree`, `− disagree`, `· none`."""
    if stance is None:
        return Text("· none", style="dim") if readable else Text("· unread.", style="dim")
    return Text(f"{STANCE_MARKS[stance.value]} {stance.value}", style=style)


def statement_head(judged: Judged, ref: str, template: str) -> Content:
    """Say which statement it is, under which template, and how it fares."""
    line = next(line for line in judged.lines[template] if line.ref == ref)
    over = next(line for line in judged.lines[""] if line.ref == ref)
    versions = judged.outdated.get(ref)
    since = f"version {versions[0]}, as it was asked; version {versions[1]} is current" if versions else ""
    about = " · ".join(filter(None, (since, visible(line.country or ""), issue_list(line))))
    verdict = line.outcomes[ALL].verdict
    colour = {
        Verdict.PASS: "$text-success",
        Verdict.FAIL: "$text-error",
        Verdict.INSUFFICIENT: "$text-warning",
        Verdict.VOID: "$text-muted",
    }
    place = judged.templates.index(template) + 1
    under = Content.assemble(
        "under ", (visible(template), "bold $text-accent"), f" ({place} of {len(judged.templates)}): ",
        (f"{MARKS[verdict]} {WORDS[verdict]}", f"bold {colour[verdict]}"),
        (f" · passes under {over.outcomes[ALL].passed} of {len(judged.templates)} templates", "$text-muted"),
    )  # fmt: skip
    text = Content.assemble((visible(ref), "bold"), "  ", visible(line.text))
    return Content("\n").join([text, Content.styled(about, "$text-muted"), under] if about else [text, under])


def details(judged: Judged, ref: str, template: str, row: tuple[str, str], *, diff: bool) -> Content:
    """Return why tests are not passed, and the wording of the row (or how it differs from the original)."""
    variant, order = row
    why = [Content.from_rich_text(finding_line(finding)) for finding in findings(judged, ref, template)]
    parts = [Content("\n").join(why) if why else Content("✓ passes every test under this template")]
    original, wording = judged.wording(ref, str(ORIGINAL)), judged.wording(ref, variant)
    heading = Content.styled(label(variant, order), "bold")
    if diff and variant != str(ORIGINAL):
        left, right = word_diff(original, wording)
        both = [marked(left, "−"), marked(right, "+")]
        parts.append(Content.assemble(heading, ("  against the original", "$text-muted"), "\n"))
        parts[-1] = parts[-1].append(Content("\n").join(both))
    else:
        note = "  (the original has nothing to differ from)" if diff else ""
        parts.append(Content.assemble(heading, (note, "$text-muted"), "\n", visible(wording, lines=True)))
    return Content("\n\n").join(parts)


def prompt_text(prompt: Prompt) -> Content:
    """Return what the model was given, turn by turn."""
    how = "chat turns, in the model's own format" if prompt.chat else "raw text, to be continued"
    parts = [Content.styled(how, "$text-muted")]
    parts += [
        Content.assemble((message.role, "bold $text-accent"), "\n", visible(message.content, lines=True))
        for message in prompt.messages
    ]
    return Content("\n\n").join(parts)


def explain_variants(report: Report) -> str:
    """Say what stands in each column."""
    options = report.options
    limits = (
        f"{100 * options.high:g} %"
        if options.rule == "coded"
        else f"{100 * options.low:g} and {100 * options.high:g} %"
    )
    return f"""●  the share of readable answers that agree; ├─┤ its exact 95 % bootstrap interval.

│  stand at 45 and 55 %. Where the interval covers one it is drawn ┼ (╪ at an end). The test `sampling` asks that \
the interval leaves out {limits} (rule `{options.rule}`; Ceron et al. 2024, section 5.4).

READABLE  answers that could be read, of those given; {report.needed_words} planned for a prompt are needed to say \
anything. Answers that failed or were not drawn yet count as planned.

STANCE  the side of most readable answers; a tie has none.

EXPECTED  what the stance on the original asks for: the same on paraphrases and with swapped labels, the other one \
on negation and opposite.

TESTS  to which the row contributes; ← marks what fails.

swapped: the two answer labels stand in the other order. s shows the other wordings so, too: they take part in κ per \
statement, but not in the tests under one template."""
