"""Lines of the audit as cells, headings and explanations; pure."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from workbench.domain.counting import plural
from workbench.domain.verdicts import Estimate, Verdict
from workbench.figures.marks import MARKS, WORDS
from workbench.tui.format import decimals, issue_sign, literal, visible
from workbench.tui.kit.template_words import heading
from workbench.tui.results.audit_view import (
    ALL,
    ANY,
    COLUMNS,
    INSUFFICIENT,
    VOID,
    WITHIN,
    Filter,
    Finding,
    ItemLine,
    Judged,
    Outcome,
)
from workbench.tui.widgets.record_table import Column, Record

if TYPE_CHECKING:
    from workbench.audits.reliability.rows import Decides

WIDE = 120
"columns from which marks stand with their words"
CELL_CHARACTERS = 300
FOOTNOTES = "*†‡§"

SHORT = {
    "sampling": "samp",
    "paraphrase": "para",
    "negation": "neg",
    "opposite": "opp",
    "label_order": "ord",
    "template": "tmpl",
    "all": "ALL",
}
STYLES = {Verdict.PASS: "green", Verdict.FAIL: "bold red", Verdict.INSUFFICIENT: "yellow", Verdict.VOID: "dim"}
STANCE_MARKS = {"agree": "+", "disagree": "−", None: "·"}

SAMPLED = "sampled"
"the column of what samples would have said"
ALL_OF = "of {}"
"heading of a probability among so many samples"

UNDEFINED_BECAUSE = {
    "all answers equal": "all paired answers equal",
    "no pairs": "no pair of conditions with a stance on both sides",
}


def name_of(test: str) -> str:
    """Return a test's name as people write it."""
    return test.replace("_", " ")


# ── the table ───────────────────────────────────────────────────────────────────────────────────────────────────────


def item_columns(width: int, ref_width: int, samples: int = 0) -> tuple[Column, ...]:
    """Return the table's columns for a width; each begins with a blank, for there is no padding.

    `samples`: of the sampling verdict that stands beside an exact one; 0: answers were sampled.
    """
    wide = width >= WIDE
    tests = [Column(test, f" {SHORT[test]}", _test_width(test, wide) + 1) for test in COLUMNS if test != ALL]
    return (
        Column("ref", " id", ref_width + 2),
        Column("statement", "statement", None),
        *tests,
        Column("kappa", " κ paraphrase" if wide else " κpara", 20 if wide else 6),
        Column("n", "   n", 4),
        Column(ALL, f" {SHORT[ALL]}", _test_width(ALL, wide) + 1),
        *([Column(SAMPLED, f" {ALL_OF.format(samples)}", 7)] if samples else []),
    )


def _test_width(test: str, wide: bool) -> int:
    if test == ALL:
        return 10 if wide else 5
    if not wide:
        return 4 if test in ("sampling", "paraphrase", "template") else 3
    return 6 if test == "template" else 10


OLD = "°"
"stands before a statement that was changed since it was asked"


def ref_width(lines: Iterable[ItemLine]) -> int:
    """Return how wide the ids are, within reason."""
    return max(4, min(12, max((len(line.ref) for line in lines), default=4)))


def item_record(line: ItemLine, width: int, notes: Sequence[str], refs: int, old: Container[str] = ()) -> Record:
    """Return a row of the table; `notes` are the reasons that footnotes explain, `old` the statements changed since."""
    wide = width >= WIDE
    tests = [outcome_cell(line.outcomes[test], words=wide, tally=wide) for test in COLUMNS if test != ALL]
    cells = (
        Text(OLD if line.ref in old else " ").append_text(literal(line.ref, refs)),
        literal(line.text, CELL_CHARACTERS),
        *tests,
        kappa_cell(line.kappa, notes, wide=wide),
        Text(f"{line.kappa.n:>4}", style="dim"),
        outcome_cell(line.outcomes[ALL], words=wide, tally=True),
        *([] if line.sampled is None else [Text(" ").append_text(chance_cell(line.sampled))]),
    )
    return line.ref, cells


def chance_cell(probability: float) -> Text:
    """Return a probability as `84 %`, dim where it is next to certain either way."""
    if math.isnan(probability):
        return Text("–", style="dim")
    sure = probability < 0.005 or probability > 0.995
    shown = "<1 %" if 0 < probability < 0.005 else ">99 %" if 0.995 < probability < 1 else f"{100 * probability:.0f} %"
    return Text(f"{shown:>5}", style="dim" if sure else "bold")


def outcome_cell(outcome: Outcome, *, words: bool, tally: bool) -> Text:
    """Return `✓ pass 6/6`, `✗ 4/6` or `✓`."""
    text = Text(" ", no_wrap=True).append(MARKS[outcome.verdict], style=STYLES[outcome.verdict])
    if words:
        text.append(f" {WORDS[outcome.verdict]}", style=STYLES[outcome.verdict])
    if tally and outcome.passed is not None and outcome.verdict is not Verdict.VOID and outcome.templates > 1:
        text.append(f" {outcome.passed}/{outcome.templates}", style="dim")
    return text


def kappa_cell(kappa: Estimate, notes: Sequence[str], *, wide: bool) -> Text:
    """Return `0.58 [.41, .72]`, `0.58`, or the sign of the footnote that says why there is none."""
    if not kappa.defined:
        sign = _sign(notes.index(kappa.undefined)) if kappa.undefined in notes else ""
        return Text(f" undefined{sign}" if wide else f" —{sign}", style="dim")
    text = Text(f" {two(kappa.value)}")
    if wide and not math.isnan(kappa.low):
        text.append(f" [{decimals(kappa.low)}, {decimals(kappa.high)}]", style="dim")
    return text


def two(value: float) -> str:
    """Return two decimals; what rounds to zero has no sign."""
    shown = f"{value:.2f}"
    return "0.00" if shown == "-0.00" else shown


def _sign(place: int) -> str:
    return FOOTNOTES[place] if place < len(FOOTNOTES) else f"({place + 1})"


def undefined_reasons(lines: Iterable[ItemLine]) -> tuple[str, ...]:
    """Return why κ is undefined anywhere, each reason once."""
    return tuple(dict.fromkeys(line.kappa.undefined for line in lines if not line.kappa.defined))


def footnotes(notes: Sequence[str], old: int = 0) -> str:
    """Return `* κ undefined: all paired answers equal`, and what the mark of changed statements means."""
    found = [f"{_sign(n)} κ undefined: {UNDEFINED_BECAUSE.get(note, note)}" for n, note in enumerate(notes)]
    if old:
        found.append(f"{OLD} {old:,} changed since: the text that was asked is judged; running again asks the new one")
    return "   ".join(found)


# ── what stands above it ────────────────────────────────────────────────────────────────────────────────────────────


def head(judged: Judged) -> Text:
    """Say what is judged, and by which rules."""
    report, run = judged.report, judged.run
    counts, options = report.counts, report.options
    prompts = len({(template, order) for _, _, template, order in judged.probes})
    exact = judged.exact
    first = Text.assemble(
        (visible(run.model), "bold"),
        f" · {visible(run.instrument)} · {len(counts.statements)} statements × {prompts} prompts a wording"
        + (f" × {planned(counts.sizes)} samples" if exact is None else ", scored"),
    )
    if exact is not None:
        reading = "" if exact.exact.readable == "given" else f", ≥{report.needed_words} readable"
        asked = "".join(f" · {part}" for part in heading([run], families="m"))
        second = (
            f"{run.sampling}{asked} · {100 * options.low:g}-{100 * options.high:g} % unclear"
            f" · labels ≥{100 * exact.exact.named:g} % · of {counts.samples}: {options.rule}{reading}"
        )
        return Text("\n").join([first, Text(second + _fewer_tests(options.tests), style="dim"), *_failed(judged)])
    asked = "".join(f" · {part}" for part in heading([run], families="m"))
    second = f"{run.sampling}{asked} · {judged.card.name} · rule {options.rule} · ≥{report.needed_words} readable"
    return Text("\n").join([first, Text(second + _fewer_tests(options.tests), style="dim"), *_failed(judged)])


def planned(sizes: tuple[int, int]) -> str:
    """Say how many answers are planned for a prompt: `30`, or `30-60` where plans differ."""
    fewest, most = sizes
    return str(most) if fewest == most else f"{fewest}-{most}"


def _failed(judged: Judged) -> list[Text]:
    """Say how much of what was asked is not here because it failed, and why; nothing where nothing did."""
    failures, run = judged.failures, judged.run
    if failures is None or not failures.probes:
        return []
    whole = len(failures.statements)
    left_out = f", with them all of {plural(whole, 'statement')}" if whole else ""
    reason = f": {visible(failures.reason)}" if failures.reason else ""
    return [Text(f"✗ {run.prompts - run.answered:,} of {run.prompts:,} prompts failed{left_out}{reason}", style="red")]


def _fewer_tests(tests: tuple[str, ...]) -> str:
    return "" if set(tests) == set(WITHIN) else f" · ALL = {' + '.join(SHORT[test] for test in tests)}"


def filter_line(judged: Judged, chosen: Filter, shown: int) -> Text:
    """Say how many statements pass, under what, and which are shown."""
    total = sum(line.outcomes[ALL].verdict is not Verdict.VOID for line in judged.lines[chosen.template])
    templates = judged.templates
    under = f"all {len(templates)} templates" if len(templates) > 1 else "the one template"
    if chosen.template:
        under = f"{visible(chosen.template)} ({templates.index(chosen.template) + 1} of {len(templates)})"
    parts: list[str | tuple[str, str]] = [
        (f"✓ {judged.passing_under(chosen.template)} of {total} pass all", "bold green"),
        " under ",
        (under, "bold" if chosen.template else ""),
        _beside(judged, chosen.template),
        " · ",
        f"{shown} shown" if chosen.narrows else "all shown",
    ]
    if chosen.failed:
        parts += [" · ", (failed_words(chosen.failed), "bold")]
    for name in ("issue", "country"):
        if value := getattr(chosen, name):
            parts += [f" · {name} ", (visible(value).replace("_", " "), "bold")]
    if chosen.find:
        parts += [" · find ", (visible(chosen.find), "bold underline")]
    return Text.assemble(*parts)


def _beside(judged: Judged, template: str) -> str:
    """Return how many statements would be expected to pass with samples; nothing where they were sampled."""
    if judged.exact is None:
        return ""
    found = sum(line.sampled or 0.0 for line in judged.lines[template])
    return f" ({judged.exact.exact.samples} samples: {found:.1f})"


def failed_words(failed: str) -> str:
    """Return what a choice of `x` means."""
    return {"": "all", ANY: "failed any test", INSUFFICIENT: "a test has too few readable", VOID: "a test is void"}.get(
        failed, f"failed {name_of(failed)}"
    )


# ── a statement ─────────────────────────────────────────────────────────────────────────────────────────────────────


def issue_list(line: ItemLine) -> str:
    return "  ".join(issue_sign(issue, label) for issue, label in line.issues)


def decides_cell(tests: Sequence[Decides]) -> Text:
    """Return `✗ neg fail ←  ✓ samp pass`: what a wording does to each test, the failing first."""
    order = [Verdict.FAIL, Verdict.INSUFFICIENT, Verdict.PASS, Verdict.VOID]
    parts = []
    for item in sorted(tests, key=lambda decides: order.index(decides.verdict)):
        arrow = " ←" if item.verdict is Verdict.FAIL else ""
        label = f"{MARKS[item.verdict]} {SHORT[item.test]}{arrow}"
        parts.append(Text(label, style=STYLES[item.verdict]))
    return Text("  ").join(parts)


def finding_line(finding: Finding) -> Text:
    """Return `✗ negation fail: original agree 30/30, …`."""
    return Text.assemble(
        (f"{MARKS[finding.verdict]} {name_of(finding.test)} {WORDS[finding.verdict]}", STYLES[finding.verdict]),
        ": ",
        visible(finding.sentence),
    )


# ── explanations ────────────────────────────────────────────────────────────────────────────────────────────────────

_PAPER = "Ceron et al. 2024"
EXPLAIN = {
    "ref": "The statement's id in its instrument.",
    "statement": "The original wording, in the language of the run.",
    "sampling": "Every wording (printed label order) leans clearly to one side: the 95 % bootstrap interval of its "
    "share of agreeing answers leaves out 45 % and 55 % (rule `printed`; the released code asks only for "
    f"55 %: rule `coded`). {_PAPER}, section 5.4.",
    "paraphrase": "The stance on the original and on each of its paraphrases is the same. "
    f"{_PAPER}, sections 4.3 and 6.1.",
    "negation": f"The stance on the negation is the other one. {_PAPER}, sections 4.3 and 6.1.",
    "opposite": f"The stance on the opposite is the other one. {_PAPER}, sections 4.3 and 6.1.",
    "label_order": "The stance on the original is the same with the two answer labels in either order. "
    f"{_PAPER}, section 5.2.",
    "template": "The stance on the original, in printed order, is the same under every template. "
    f"{_PAPER}, section 5.2.",
    "kappa": "Cohen's κ between the stance on the original and on its paraphrases, over paired conditions "
    "(template x label order x paraphrase) of this statement. So few templates allow no interval of κ. "
    "1: always the same; 0: no more often than by chance. Undefined where all paired answers are equal: "
    "chance then expects full agreement already. Samples of one prompt are never paired.",
    "n": "How many paired conditions κ rests on. Pairs with a side that has no stance are left out.",
    "all": "Passes every test that counts (sampling, paraphrase, negation, opposite, label order, unless chosen "
    "otherwise with o). 4/6: passes under 4 of 6 templates; ✓ only under all of them. "
    f"{_PAPER}, section 6.2.",
}
EXPLAIN_EXACT = {
    "sampling": "Every wording (printed label order) leans clearly to one side: its share of agreement among answers "
    "that begin with a label lies outside 45-55 %. The probabilities were computed, so there is no interval; "
    f"the limits are those of {_PAPER}, section 5.4.",
    SAMPLED: "The probability that the statement would pass every test that counts if each prompt were sampled, summed "
    "over all outcomes; prompts are independent. Over all templates: that it passes under every one.",
}
"in place of, or after, those above where label probabilities were computed"
VOID_MEANS = """\
∅ void: the test compares one prompt with itself, so it cannot fail: a variant has the original's text, or both label
orders have one. It is in no denominator; o judges it like the others, as published."""
READING_EXACT = f"""✓ pass   ✗ fail   · few: the labels have too little of the probability; neither a pass nor a fail.
{VOID_MEANS}
Stance: the side of one half of p(agree) / (p(agree) + p(disagree)). Exactly one half has none."""
READING = f"""✓ pass   ✗ fail   · few: too few readable answers to say; neither a pass nor a fail.
{VOID_MEANS}
Stance: the side of most readable answers. A tie has no stance, and fails what compares it."""


def explain_items(column: str, line: ItemLine | None, notes: Sequence[str], *, exact: bool = False) -> str:
    """Explain the marked column first, then the row's own numbers, then the other columns."""
    columns = EXPLAIN | EXPLAIN_EXACT if exact else EXPLAIN
    parts = [f"{_title(column)}\n{columns[column]}"]
    if line is not None and not line.kappa.defined:
        why = UNDEFINED_BECAUSE.get(line.kappa.undefined, line.kappa.undefined)
        parts.append(f"{line.ref}: κ is undefined, because {why} (n {line.kappa.n}, {line.kappa.excluded} left out).")
    parts.append(READING_EXACT if exact else READING)
    parts += [f"{_title(name)}\n{text}" for name, text in columns.items() if name != column]
    if notes:
        parts.append(footnotes(notes))
    return "\n\n".join(parts)


def _title(column: str) -> str:
    return {"kappa": "κ paraphrase", "ref": "id", SAMPLED: "of n samples"}.get(column, name_of(column)).upper()
