"""Political consistency as cells, sentences and explanations; pure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.text import Text
from textual.content import Content

from workbench.domain.verdicts import Estimate
from workbench.tui.format import literal, percent, plural, visible
from workbench.tui.screens.consistency_view import VIEWS, Loaded, Look, Settings, Shown
from workbench.tui.screens.results_format import WIDE, number_cell, signed
from workbench.tui.widgets.leaning_bar import place
from workbench.tui.widgets.record_table import Column, Record
from workbench.tui.widgets.whisker import whisker, whisker_scale

if TYPE_CHECKING:
    from workbench.audits.consistency import IssueStance, PartyShare
    from workbench.audits.consistency_leaning import FamilyShare
    from workbench.pipeline.consistency import ConsistencyJudged
    from workbench.pipeline.pilot import PilotJudged
    from workbench.stats.describe import MeanSd

FEW = "•"
MOST_BAR = 61
NAME, VALUE = 30, 20
STANCE_MARKS = {1: "+", -1: "−", 0: "·"}
ANSWER_WORDS = {1: "+ agree", -1: "− disagree", 0: "= neutral", None: "  no answer"}

NO_INSTRUMENT = "The store holds no instrument yet.\n\nh goes home: i there imports the shipped one."
NO_PARTIES = "The instrument has no parties, so nobody's leaning can be compared."
NO_ISSUES = """No statement has a policy-issue label.

2 goes to Statements: g there labels statements for policy issues."""
NO_MODELS = "No two models have answered.\n\nWith a second one, their difference and its interval stand here."
NO_TEMPLATES = """No model has answered yet.

3 goes to Jobs: n there starts one. Few statements are enough to choose templates by."""
EMPTY = {"leaning": NO_PARTIES, "parties": NO_PARTIES, "issues": NO_ISSUES, "models": NO_MODELS,
         "templates": NO_TEMPLATES}  # fmt: skip


def issue_name(issue: str) -> str:
    return visible(issue).replace("_", " ")


def tabs(look: Look, *, several: bool) -> Content:
    """Return the names of the views, the one in sight marked, and who is looked at."""
    names = [
        (f"▸{view} ", "bold $text-accent") if view == look.view else (f" {view} ", "$text-muted") for view in VIEWS
    ]
    subject = {"leaning": f"matches: {look.match}", "parties": "", "models": f"{look.name} − {look.other}"}.get(
        look.view, look.name
    )
    turn = (" ← →" if several and look.view not in ("leaning", "parties") else "", "$text-muted")
    return Content.assemble(*names, "  ", (visible(subject), "bold"), turn)


def options_line(judged: ConsistencyJudged, settings: Settings, look: Look, width: int) -> str:
    """Return every choice that is in force, in one line."""
    rules = settings.rules
    parts = [visible(judged.instrument)]
    if look.view in ("issues", "parties", "models"):
        parts.append({"signed": "signed support", "tacl": "tacl (published)", "v1": "v1 (published)"}[look.formula])
    tests = "all tests" if len(rules.tests) == 5 else ", ".join(rules.tests) or "no test"
    parts.append(f"reliable: {tests}" + (f" ({rules.rule})" if rules.rule != "printed" else ""))
    parts.append("gold labels" if settings.labels == "gold" else "people's labels")
    if width >= WIDE:
        parts.append(f"read by {visible(rules.reader)}")
    parts.append(f"seed {settings.seed}")
    return " · ".join(parts)


# ── the tables ──────────────────────────────────────────────────────────────────────────────────────────────────────


def view_columns(view: str, shown: Shown, loaded: Loaded | None, width: int) -> tuple[Column, ...]:
    """Return the columns of a view for a width."""
    if view == "issues":
        return _issue_columns(width, shown)
    if view == "leaning":
        return (Column("name", "", 22), Column("family", "parties", 9), Column("bar", share_scale(_bar(width, 58)),
                _bar(width, 58)), Column("share", " share", 18), Column("sd", "  sd", 6, least=100),
                Column("parties", " n", 5, least=100))  # fmt: skip
    if view == "parties":
        issues = loaded.judged.result.land.issues if loaded and loaded.judged else ()
        cell = 6 if width < WIDE else 12
        return (Column("party", "party", None), Column("family", "", 8),
                *(Column(issue, f" {_short(issue, cell - 1)}", cell) for issue in issues))  # fmt: skip
    if view == "models":
        first, second = shown.look.name, shown.look.other
        return (Column("issue", "", NAME), Column("bar", whisker_scale(_bar(width, 66), 2.0), _bar(width, 66)),
                Column("difference", " difference", VALUE), Column("first", f" {visible(first)[:10]}", 12, least=100),
                Column("second", f" {visible(second)[:10]}", 12, least=100))  # fmt: skip
    return (Column("rank", "", 4), Column("template", "template", 22), Column("address", "", 11, least=100),
            Column("bar", share_scale(_bar(width, 52)), _bar(width, 52)), Column("readable", " readable", 18),
            Column("agree", " agree", 8), Column("chosen", "", 3))  # fmt: skip


def view_records(shown: Shown, loaded: Loaded, width: int) -> list[Record]:
    """Return the rows of a view for a width; their keys are names of issues, parties or families."""
    look = shown.look
    if look.view == "issues":
        return [_issue_record(shown, at, width) for at in range(len(shown.issues))]
    if look.view == "leaning":
        return [
            _family_record(name, of, first=at == 0, width=_bar(width, 58))
            for name, leaning in shown.leanings
            for at, of in enumerate(leaning.families)
        ]
    if look.view == "parties":
        parties = [
            (f"{one.party.country}/{one.party.name}", str(one.family or "–"), one.issues) for one in shown.parties
        ]
        people = [(name, "person", issues) for name, issues in shown.people]
        return [_respondent_record(*row, width) for row in (*parties, *people)]
    if look.view == "models":
        return [_difference_record(shown, at, _bar(width, 66)) for at in range(len(shown.differences))]
    pilot = loaded.pilots.get(look.name)
    return [_template_record(rank, _bar(width, 52)) for rank in pilot.ranks] if pilot else []


def _bar(width: int, others: int) -> int:
    return max(11, min(MOST_BAR, width - others - (12 if width >= 100 else 0)))


def _short(issue: str, width: int) -> str:
    """Return a policy issue in a few characters: `law and o`, `expenvpro`."""
    words = issue_name(issue)
    if len(words) <= width:
        return words
    parts = words.split()
    each = max(1, width // len(parts))
    return "".join(part[:each] for part in parts)[:width]


def _issue_columns(width: int, shown: Shown) -> tuple[Column, ...]:
    others = [name for name in ("signed", "tacl", "v1") if name != shown.look.formula]
    bar = _bar(width, NAME + VALUE + 10) if width < WIDE else max(21, min(MOST_BAR, width - NAME - VALUE - 36))
    return (
        Column("issue", "policy issue", NAME),
        Column("bar", whisker_scale(bar), bar),
        Column("value", f" {shown.look.formula}", VALUE),
        Column("reliable", "    n", 7),
        Column("labels", " labels", 10, least=WIDE),
        Column("one", f" {others[0]}", 8, least=WIDE),
        Column("two", f" {others[1]}", 8, least=WIDE),
    )


def _issue_record(shown: Shown, at: int, width: int) -> Record:
    stance, (one, two), (agree, _) = shown.issues[at], shown.published[at], shown.baselines[at]
    value = stance.value
    bar = _issue_columns(width, shown)[1].width or 11
    return stance.issue, (
        literal(issue_name(stance.issue), NAME),
        whisker(value.value, value.low, value.high, bar, reference=agree, undefined=value.undefined),
        number_cell(value),
        Text(f"{stance.reliable:>5.1f}{FEW if stance.few else ' '}", style="dim" if stance.few else ""),
        Text(f" +{stance.supporting} −{stance.opposing}", style="dim"),
        Text(f" {signed(one.value.value)}", style="dim"),
        Text(f" {signed(two.value.value)}", style="dim"),
    )


def _family_record(name: str, share: FamilyShare, *, first: bool, width: int) -> Record:
    value = share.share
    cells = (
        Text(visible(name)[:22] if first else "", style="bold", no_wrap=True),
        Text(share.family.value),
        share_bar(value, width),
        share_cell(value),
        Text(f"{100 * share.templates.sd:>5.1f}" if not math.isnan(share.templates.sd) else "    –", style="dim"),
        Text(f"{share.parties:>3}", style="dim"),
    )
    return f"{name}\n{share.family.value}", cells


def _respondent_record(name: str, family: str, issues: Sequence[IssueStance], width: int) -> Record:
    wide = width >= WIDE
    cells = [
        Text(f" {signed(of.value.value)}{FEW if of.few and wide else ''}", style="dim" if of.few else "")
        for of in issues
    ]
    return name, (literal(name, 60), Text(family, style="dim"), *cells)


def _difference_record(shown: Shown, at: int, width: int) -> Record:
    found = shown.differences[at]
    value = found.difference
    return f"{at}", (
        literal(issue_name(found.name), NAME),
        whisker(value.value, value.low, value.high, width, limit=2.0, undefined=value.undefined),
        number_cell(value),
        Text(f" {signed(found.first)}", style="dim"),
        Text(f" {signed(found.second)}", style="dim"),
    )


def _template_record(rank: object, width: int) -> Record:
    from workbench.audits.consistency_pilot import TemplateRank

    assert isinstance(rank, TemplateRank)
    return rank.template, (
        Text(f"{rank.rank:>3}"),
        literal(rank.template, 22),
        Text(rank.address, style="dim"),
        share_bar(rank.readable, width),
        share_cell(rank.readable),
        Text("      –" if math.isnan(rank.agree) else f" {percent(rank.agree):>5}"),
        Text(" ✓" if rank.chosen else ""),
    )


def share_bar(value: Estimate, width: int) -> Text:
    """Return a share from 0 to 100 % as a filled bar with its interval: `▇▇▇▇├──●──┤`."""
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
    return Text.assemble((f" {percent(value.value)}", "bold"), (ends, "dim"), no_wrap=True)


# ── below the tables ────────────────────────────────────────────────────────────────────────────────────────────────


def details(shown: Shown, loaded: Loaded, key: str | None) -> Content:
    """Return what is behind the row under the cursor."""
    view = shown.look.view
    if key is None:
        return Content("")
    if view == "issues":
        return _issue_details(next(s for s in shown.issues if s.issue == key), loaded)
    if view == "leaning":
        return _leaning_details(shown, key)
    if view == "templates":
        pilot = loaded.pilots.get(shown.look.name)
        return Content("\n").join(_pilot_lines(pilot)) if pilot else Content("")
    if view == "models":
        found = shown.differences[int(key)]
        said = found.difference
        where = f"{plural(said.n, 'statement')} with a reliable stance of both"
        return Content(f"{issue_name(found.name)}: {where}; the interval draws the same statements for both.")
    return Content.styled("A party's own answers, all taken as reliable; a neutral one is no stance.", "$text-muted")


def _issue_details(stance: IssueStance, loaded: Loaded) -> Content:
    from workbench.audits.consistency import MEASURES

    lines = [Content.styled(issue_name(stance.issue), "bold")]
    if meaning := loaded.definitions.get(stance.issue):
        lines.append(Content(visible(meaning)))
    tally = (
        [sum(column) / len(stance.tallies) for column in zip(*stance.tallies, strict=True)] if stance.tallies else []
    )
    if tally:
        a, d, against, opposing = (f"{n:.1f}" for n in tally)
        lines.append(Content(
            f"for it: {a} agreed, {d} disagreed · against it: {against} disagreed, {opposing} agreed"
            f" · {plural(len(stance.tallies), 'template')}, sd {_sd(stance.templates)}"
        ))  # fmt: skip
    if stance.few:
        lines.append(Content.styled(f"{FEW} fewer than six reliable statements: it says little", "$text-warning"))
    if not stance.value.defined:
        lines.append(Content.styled(f"undefined: {stance.value.undefined}", "$text-warning"))
    if stance.zero_by_rule:
        lines.append(Content.styled(f"0 by the formula's own rule in {stance.zero_by_rule} templates", "$text-warning"))
    lines.append(Content.styled(MEASURES[stance.formula], "$text-muted"))
    return Content("\n").join(lines)


def _leaning_details(shown: Shown, key: str) -> Content:
    name, _, family = key.partition("\n")
    leaning = dict(shown.leanings)[name]
    found = next(of for of in leaning.families if of.family.value == family)
    lines = [Content.assemble((visible(name), "bold"), f" and {_parties(found.parties)} of the {family}")]
    if found.share.defined:
        over = f"mean {percent(found.templates.mean, digits=1)}, sd {_sd(found.templates, 100)}"
        lines.append(Content(f"on {plural(found.share.n, 'statement')}; over templates: {over}"))
    else:
        lines.append(Content.styled(found.share.undefined, "$text-warning"))
    if leaning.unplaced:
        left_out = f"{_parties(leaning.unplaced)} without a left-right position left out"
        lines.append(Content.styled(left_out, "$text-muted"))
    return Content("\n").join(lines)


def _parties(n: int) -> str:
    return "1 party" if n == 1 else f"{n} parties"


def _pilot_lines(pilot: PilotJudged) -> Iterator[Content]:
    yield Content.styled("What fewer tests would change (sd: over templates, mean of the issues)", "bold")
    for weaker in pilot.weaker:
        spread = f" · sd of the issues {weaker.spread.mean:.2f}" if not math.isnan(weaker.spread.mean) else ""
        yield Content(f"  {weaker.name:<40} {percent(weaker.passed.mean):>5} pass{spread}")
    agree, disagree = pilot.types.mean("agree"), pilot.types.mean("disagree")
    yield Content(f"  agrees with {percent(agree.mean)} of the statements (sd {_sd(agree, 100)}), disagrees with "
                  f"{percent(disagree.mean)} (sd {_sd(disagree, 100)})")  # fmt: skip
    full = [scale for scale in pilot.scales if len(scale.answers) > 3]
    for scale in full[:4]:
        kept = f"{scale.every.value:.2f}" if scale.every.defined else scale.every.undefined
        said = f"party distances on three answers instead of {len(scale.answers)}: rank correlation {kept}"
        yield Content.styled(f"  {scale.country}: {said}", "$text-muted")


def _sd(found: MeanSd, times: float = 1.0) -> str:
    return "–" if math.isnan(found.sd) else f"{times * found.sd:.2f}" if times == 1 else f"{times * found.sd:.1f}"


# ── one issue's statements, one respondent's parties ────────────────────────────────────────────────────────────────


def statement_columns(templates: int) -> tuple[Column, ...]:
    return (Column("ref", "id", 12), Column("text", "statement", None), Column("label", " label", 11),
            Column("stances", " stance", max(8, min(templates, 24) + 2)), Column("for", " for", 5),
            Column("against", " against", 9))  # fmt: skip


def stance_marks(stances: Sequence[int]) -> Text:
    """Return one mark a template: `++−·`."""
    return Text(" " + "".join(STANCE_MARKS[stance] for stance in stances), no_wrap=True)


def party_columns(width: int) -> tuple[Column, ...]:
    return (Column("party", "party", 24), Column("family", "", 8), Column("bar", share_scale(_bar(width, 62)),
            _bar(width, 62)), Column("share", "  share", 8), Column("agree", "  both +", 8),
            Column("disagree", "  both −", 8), Column("of", "   of", 6))  # fmt: skip


def party_record(share: PartyShare, width: int) -> Record:
    party = share.party
    value = share.share.mean
    shown = Estimate(value, math.nan, math.nan, share.statements, 0, "" if share.statements else "nothing asked")
    return f"{party.country}\n{party.name}", (
        literal(f"{party.country}/{party.name}", 24),
        Text(str(share.family or "–"), style="dim"),
        share_bar(shown, _bar(width, 62)),
        Text("      –" if math.isnan(value) else f" {percent(value):>6}"),
        Text(f" {percent(share.agree):>6}" if share.statements else "      –", style="dim"),
        Text(f" {percent(share.disagree):>6}" if share.statements else "      –", style="dim"),
        Text(f"{share.statements:>5}", style="dim"),
    )
