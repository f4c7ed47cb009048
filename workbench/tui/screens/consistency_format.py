"""What stands around the consistency views: their names, choices, empty states, and the cells they share; pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text
from textual.content import Content

from workbench.domain.verdicts import Estimate
from workbench.tui.format import percent, visible
from workbench.tui.screens.consistency_view import OF_MODELS, VIEWS, Loaded, Look, Settings
from workbench.tui.screens.results_format import WIDE
from workbench.tui.screens.template_words import heading
from workbench.tui.widgets.leaning_bar import place

if TYPE_CHECKING:
    from workbench.domain.verdicts import MeanSd
    from workbench.pipeline.consistency import ConsistencyJudged

FEW = "•"
MOST_BAR = 61
STANCE_MARKS = {1: "+", -1: "−", 0: "·"}
ANSWER_WORDS = {1: "+ agree", -1: "− disagree", 0: "= neutral", None: "  no answer"}
FORMULA_NAMES = {"signed": "signed support", "tacl": "tacl (published)", "v1": "v1 (published)"}

NO_INSTRUMENT = "The store holds no instrument yet.\n\nh goes home: i there imports the shipped one."
NO_PARTIES = "The instrument has no parties, so nobody's leaning can be compared."
NO_RESPONDENTS = (
    "The instrument has no parties, and nobody answered its survey.\n\n2 goes to Statements: v asks a person."
)
NO_LABELS = """No statement has a policy-issue label.

2 goes to Statements: g there labels statements for policy issues."""
NO_PEOPLE = """No statement has a policy-issue label that two people gave, or that was adjudicated.

l goes back to the gold labels; 2, then g labels statements for policy issues."""
NO_ANSWERS = """No model has answered yet.

3 goes to Jobs: n there starts one. To choose templates, a few statements of each country are enough:
workbench pilot STORE --model MODEL"""
ONE_MODEL = "One model only.\n\nWith a second one, their difference and its interval stand here."
NO_SCALES = "The instrument has no answers of parties, so there is no scale of answers to look at."


def empty_text(loaded: Loaded, view: str) -> str:
    """Say why a view has no rows, and what to do next."""
    judged = loaded.judged
    if judged is None:
        return NO_INSTRUMENT if not loaded.instruments else ""
    if view == "scales":
        return NO_SCALES
    if view in OF_MODELS and not judged.runs:
        return NO_ANSWERS
    if view == "models":
        return ONE_MODEL
    if view == "issues":
        return NO_LABELS if loaded.settings.labels == "gold" else NO_PEOPLE
    return NO_PARTIES if view == "leaning" else NO_RESPONDENTS


def is_empty(loaded: Loaded, view: str) -> bool:
    """Return whether what an instrument lacks leaves a view without any number."""
    judged = loaded.judged
    if judged is None:
        return True
    land = judged.result.land
    if view == "scales":
        return not loaded.scales
    if view in OF_MODELS:
        return len(judged.runs) < (2 if view == "models" else 1)
    if view == "issues":
        return not judged.labelled
    return not land.parties if view == "leaning" else not (land.parties or judged.result.people)


def issue_name(issue: str) -> str:
    return visible(issue).replace("_", " ")


def tabs(look: Look, *, several: bool) -> Content:
    """Return the names of the views, the one in sight marked, and who is looked at."""
    names = [
        (f"▸{view} ", "bold $text-accent") if view == look.view else (f" {view} ", "$text-muted") for view in VIEWS
    ]
    fixed = {"leaning": f"matches: {look.match}", "parties": "", "scales": ""}
    pair = f"{look.name} − {look.other}" if look.other else ""
    subject = pair if look.view == "models" else fixed.get(look.view, look.name)
    turn = (" ← →" if several and subject and look.view not in fixed else "", "$text-muted")
    return Content.assemble(*names, " ", (visible(subject), "bold"), turn)


def options_line(judged: ConsistencyJudged, settings: Settings, look: Look, width: int) -> str:
    """Return every choice that is in force, in one line."""
    rules = settings.rules
    parts = [visible(judged.instrument)]
    if not judged.runs and look.view not in ("parties", "scales"):
        parts.append("no model has answered: baselines alone")
    if look.view in ("issues", "parties", "models", "tests"):
        parts.append(FORMULA_NAMES[look.formula])
    tests = "all tests" if len(rules.tests) == 5 else ", ".join(rules.tests) or "no test"
    parts.append(f"reliable: {tests}" + (f" ({rules.rule})" if rules.rule != "printed" else ""))
    parts.append("gold labels" if settings.labels == "gold" else "people's labels")
    if width >= WIDE:
        parts.append(f"read by {visible(rules.reader)}")
    parts.append(f"seed {settings.seed}")
    parts += heading(one.run for one in judged.runs)
    return " · ".join(parts)


# ── cells that several tables have ──────────────────────────────────────────────────────────────────────────────────


def bar_width(width: int, others: int) -> int:
    """Return how wide a picture may be beside columns of that width together."""
    return max(11, min(MOST_BAR, width - others - (12 if width >= 100 else 0)))


def short_issue(issue: str, width: int) -> str:
    """Return a policy issue in a few characters.

    Examples
    --------
    >>> short_issue("law_and_order", 5), short_issue("expanded_social_welfare_state", 5)
    ('lao', 'esws')
    """
    words = issue_name(issue)
    if len(words) <= width:
        return words
    parts = words.split()
    each = max(1, width // max(1, len(parts)))
    return "".join(part[:each] for part in parts)[:width]


def stance_marks(stances: Sequence[int]) -> Text:
    """Return one mark a template: `++−·`."""
    return Text(" " + "".join(STANCE_MARKS[stance] for stance in stances), no_wrap=True)


def share_bar(value: Estimate, width: int) -> Text:
    """Return a share from 0 to 100 % as a filled bar with its interval: `▆▆▆├──●──┤`."""
    if not value.defined or math.isnan(value.value):
        return Text((value.undefined or "–")[:width].ljust(width), style="dim italic", no_wrap=True)
    at = place(value.value, width)
    signs = ["▆" if column < at else " " for column in range(width)]
    if not math.isnan(value.low):
        first, last = place(value.low, width), place(value.high, width)
        for column in range(first, last + 1):
            signs[column] = "─"
        signs[first], signs[last] = "├", "┤"
    signs[at] = "●"
    return Text("".join(signs), no_wrap=True)


def share_scale(width: int) -> str:
    """Return the heading of a column of shares."""
    return f"0{'50'.center(max(0, width - 6))}100 %"[:width] if width >= 11 else "0 … 100"[:width]


def share_cell(value: Estimate) -> Text:
    """Return `43 % [38, 49]`."""
    if not value.defined or math.isnan(value.value):
        return Text(" undefined", style="dim italic")
    ends = "" if math.isnan(value.low) else f" [{100 * value.low:.0f}, {100 * value.high:.0f}]"
    return Text.assemble((f" {percent(value.value):>5}", "bold"), (ends, "dim"), no_wrap=True)


def percent_cell(share: float, width: int = 7) -> Text:
    return Text(f"{'–' if math.isnan(share) else percent(share):>{width}}", no_wrap=True)


def sd(found: MeanSd, times: float = 1.0) -> str:
    """Return a deviation with two decimals; of percentages, `times` 100, with one."""
    if math.isnan(found.sd):
        return "–"
    return f"{found.sd:.2f}" if times == 1 else f"{times * found.sd:.1f}"


def mean_share(found: MeanSd) -> str:
    """Return `43 % (sd 2.1)`; a single template has no deviation."""
    return percent(found.mean) + ("" if math.isnan(found.sd) else f" (sd {sd(found, 100)})")
