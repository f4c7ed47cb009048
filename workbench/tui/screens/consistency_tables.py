"""The tables of the consistency screens: which columns and rows each view has at a width; pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from workbench.domain.counting import plural
from workbench.domain.verdicts import Estimate
from workbench.tui.format import literal, percent, visible
from workbench.tui.screens.consistency_format import (
    FEW,
    bar_width,
    issue_name,
    percent_cell,
    sd,
    share_bar,
    share_cell,
    share_scale,
    short_issue,
)
from workbench.tui.screens.consistency_view import FORMULAS, IssueRow, LeaningRow, Loaded, Shown, row_key
from workbench.tui.screens.results_format import WIDE, number_cell, signed
from workbench.tui.screens.results_format import bar_width as whisker_width
from workbench.tui.widgets.record_table import Column, Record
from workbench.tui.widgets.whisker import whisker, whisker_scale

if TYPE_CHECKING:
    from workbench.audits.consistency import IssueStance, PartyShare
    from workbench.audits.consistency_leaning import FamilyShare
    from workbench.audits.consistency_pilot import ScaleCollapse, TemplateRank, WeakerTests

NAME, VALUE = 30, 21
"columns of the longest published issue, and of `-1.00 [-1.00, -1.00]`"
LEANING, PARTY, RANK = 58, 62, 64
"columns beside the pictures of these tables"
SET_NAMES = {"sampling, label order and paraphrase": "+order, para", "all": "chosen"}
"what sets of tests are called over a column"


def view_columns(view: str, shown: Shown, loaded: Loaded | None, width: int) -> tuple[Column, ...]:
    """Return the columns of a view for a width."""
    if view == "issues":
        return _issue_columns(width, shown)
    if view == "leaning":
        return _leaning_columns(width)
    if view == "parties":
        return _party_stance_columns(loaded.judged.result.land.issues if loaded and loaded.judged else (), width)
    if view == "models":
        return _difference_columns(shown, width)
    if view == "tests":
        sets = (Column(f"set-{n}", f" {_set_name(of)}", _set_width(width)) for n, of in enumerate(shown.weaker))
        return (Column("name", "", None), *sets)
    return SCALE_COLUMNS if view == "scales" else _template_columns(width)


def view_records(shown: Shown, loaded: Loaded, width: int) -> list[Record]:
    """Return the rows of a view for a width; their keys are `row_key`s."""
    look = shown.look
    if look.view == "issues":
        bar = (_issue_columns(width, shown)[1].width or 12) - 1
        return [_issue_record(row, bar) for row in shown.issues]
    if look.view == "leaning":
        return [
            _family_record(row, at, bar_width(width, _leaning_rest(width)))
            for row in shown.leanings
            for at in range(len(row.leaning.families))
        ]
    if look.view == "parties":
        parties = [
            (("party", one.party.country, one.party.name), str(one.family or "–"), one.issues) for one in shown.parties
        ]
        people = [(("person", name), "person", issues) for name, issues in shown.people]
        return [_respondent_record(*row, width) for row in (*parties, *people)]
    if look.view == "models":
        return [_difference_record(shown, at, width) for at in range(len(shown.differences))]
    if look.view == "tests":
        return _test_records(shown.weaker)
    if look.view == "scales":
        return [_scale_record(scale) for scale in loaded.scales]
    return [_template_record(rank, bar_width(width, RANK)) for rank in shown.ranks]


def _issue_columns(width: int, shown: Shown) -> tuple[Column, ...]:
    others = [name for name in FORMULAS if name != shown.look.formula]
    bar = whisker_width(width, NAME + VALUE + 8 + (26 if width >= WIDE else 0))
    return (
        Column("issue", "policy issue", NAME),
        Column("bar", whisker_scale(bar), bar + 1),
        Column("value", f" {shown.look.formula}", VALUE),
        Column("reliable", "     n", 8),
        Column("labels", " labels", 10, least=WIDE),
        Column("one", f" {others[0]}", 8, least=WIDE),
        Column("two", f" {others[1]}", 8, least=WIDE),
    )


def _issue_record(row: IssueRow, bar: int) -> Record:
    stance, value = row.stance, row.stance.value
    return row_key(stance.issue), (
        literal(issue_name(stance.issue), NAME),
        whisker(value.value, value.low, value.high, bar, reference=row.agrees, undefined=value.undefined),
        number_cell(value),
        Text(f" {stance.reliable:>5.1f}{FEW if stance.few else ' '}", style="dim" if stance.few else ""),
        Text(f" +{stance.supporting} −{stance.opposing}", style="dim"),
        *(Text(f" {signed(other.value.value)}", style="dim") for other in row.others),
    )


def _leaning_rest(width: int) -> int:
    return LEANING + (16 if width >= WIDE else 0)


def _leaning_columns(width: int) -> tuple[Column, ...]:
    bar = bar_width(width, _leaning_rest(width))
    return (
        Column("name", "", 22),
        Column("family", "parties", 9),
        Column("bar", share_scale(bar), bar),
        Column("share", " share", 18),
        Column("sd", "    sd", 7, least=100),
        Column("parties", "    n", 6, least=100),
        Column("agree", "  both +", 8, least=WIDE),
        Column("disagree", "  both −", 8, least=WIDE),
    )


def _family_record(row: LeaningRow, at: int, width: int) -> Record:
    share: FamilyShare = row.leaning.families[at]
    cells = (
        Text(visible(row.name)[:21] if at == 0 else "", style="bold", no_wrap=True),
        Text(share.family.value),
        share_bar(share.share, width),
        share_cell(share.share),
        Text(f"{sd(share.templates, 100):>6}", style="dim"),
        Text(f"{share.parties:>5}", style="dim"),
        percent_cell(row.agree.families[at].share.value, 8),
        percent_cell(row.disagree.families[at].share.value, 8),
    )
    return row_key(row.name, share.family.value), cells


def _stance_width(width: int) -> int:
    return 6 if width < WIDE else 12


def _party_stance_columns(issues: Sequence[str], width: int) -> tuple[Column, ...]:
    cell = _stance_width(width)
    heads = (Column(f"issue-{n}", f" {short_issue(of, cell - 1)}", cell) for n, of in enumerate(issues))
    return (Column("party", "party", None), Column("family", "", 8), *heads)


def _respondent_record(key: tuple[str, ...], family: str, issues: Sequence[IssueStance], width: int) -> Record:
    wide = width >= WIDE
    cells = [
        Text(f" {signed(of.value.value)}{FEW if of.few and wide else ''}", style="dim" if of.few else "")
        for of in issues
    ]
    return row_key(*key), (literal("/".join(key[1:]), 60), Text(f" {family}", style="dim"), *cells)


def _difference_columns(shown: Shown, width: int) -> tuple[Column, ...]:
    first, second = (f" {visible(name)[:10]}" for name in (shown.look.name, shown.look.other))
    bar = whisker_width(width, NAME + VALUE + (24 if width >= 100 else 0))
    return (
        Column("issue", "", NAME),
        Column("bar", whisker_scale(bar, 2.0), bar + 1),
        Column("difference", " difference", VALUE),
        Column("first", first, 12, least=100),
        Column("second", second, 12, least=100),
    )


def _difference_record(shown: Shown, at: int, width: int) -> Record:
    found = shown.differences[at]
    value, kind = found.difference, "family" if at >= len(shown.differences) - 3 else "issue"
    name = f"{found.name} parties" if kind == "family" else issue_name(found.name)
    bar = (_difference_columns(shown, width)[1].width or 12) - 1
    return row_key(kind, found.name), (
        literal(name, NAME, style="italic" if kind == "family" else ""),
        whisker(value.value, value.low, value.high, bar, limit=2.0, undefined=value.undefined),
        number_cell(value),
        Text(f" {signed(found.first)}", style="dim"),
        Text(f" {signed(found.second)}", style="dim"),
    )


def _template_columns(width: int) -> tuple[Column, ...]:
    bar = bar_width(width, RANK)
    return (
        Column("rank", "", 4),
        Column("template", "template", 22),
        Column("address", "", 11, least=100),
        Column("bar", share_scale(bar), bar),
        Column("readable", " readable", 18),
        Column("agree", "  agree", 7),
        Column("disagree", " disagree", 9),
        Column("chosen", "", 3),
    )


def _template_record(rank: TemplateRank, width: int) -> Record:
    return row_key(rank.template), (
        Text(f"{rank.rank:>3}"),
        literal(rank.template, 22),
        Text(rank.address, style="dim"),
        share_bar(rank.readable, width),
        share_cell(rank.readable),
        percent_cell(rank.agree),
        percent_cell(rank.disagree, 8),
        Text(" ✓" if rank.chosen else ""),
    )


# ── what weaker tests and coarser scales would change ───────────────────────────────────────────────────────────────


def _set_width(width: int) -> int:
    return 14 if width < WIDE else 24


def _set_name(of: WeakerTests) -> str:
    return SET_NAMES.get(of.name, of.name)


def _test_records(weaker: Sequence[WeakerTests]) -> list[Record]:
    """Return what passes, the stance on each issue, and how far it depends on the template: a column a set of tests."""
    if not weaker:
        return []
    passed = [Text(f" {_with_sd(percent(of.passed.mean), sd(of.passed, 100))}", style="bold") for of in weaker]
    spread = [Text(f" {'–' if math.isnan(of.spread.mean) else f'{of.spread.mean:.2f}':>5}") for of in weaker]
    return [
        (row_key("passed"), (Text("statements that pass"), *passed)),
        *(
            (
                row_key("issue", stance.issue),
                (literal(issue_name(stance.issue), NAME), *(_tested(of.issues[at]) for of in weaker)),
            )
            for at, stance in enumerate(weaker[-1].issues)
        ),
        (row_key("spread"), (Text("mean sd of the issues"), *spread)),
    ]


def _tested(stance: IssueStance) -> Text:
    if math.isnan(stance.value.value):
        return Text("     –", style="dim")
    shown = _with_sd(signed(stance.value.value), sd(stance.templates))
    return Text(f" {shown}{FEW if stance.few else ''}", style="dim" if stance.few else "", no_wrap=True)


def _with_sd(value: str, deviation: str) -> str:
    return f"{value:>5} ({deviation})"


SCALE_COLUMNS = (
    Column("country", "country", 12),
    Column("statements", " statements", 12),
    Column("kinds", " answers", 9),
    Column("placed", " placed parties", 24),
    Column("every", " all parties", None),
)


def _scale_record(scale: ScaleCollapse) -> Record:
    return row_key(scale.country), (
        literal(scale.country, 11),
        Text(f"{scale.statements:>11,}"),
        Text(f"{len(scale.answers):>8}"),
        _correlation(scale.placed),
        _correlation(scale.every),
    )


def _correlation(value: Estimate) -> Text:
    if not value.defined:
        return Text(" undefined", style="dim italic")
    pairs = f" {plural(value.n, 'pair')}"
    return Text.assemble((f" {value.value:.2f}", "bold"), (pairs, "dim"), no_wrap=True)


# ── behind a figure: statements, parties, templates' statements ─────────────────────────────────────────────────────


def statement_columns(templates: int) -> tuple[Column, ...]:
    return (Column("ref", "id", 12), Column("text", "statement", None), Column("label", " label", 11),
            Column("stances", " stance", max(8, min(templates, 24) + 2)), Column("for", " for", 5),
            Column("against", " against", 9))  # fmt: skip


def party_columns(width: int) -> tuple[Column, ...]:
    bar = bar_width(width, PARTY)
    return (Column("party", "party", 24), Column("family", "", 8), Column("bar", share_scale(bar), bar),
            Column("share", "  share", 8), Column("agree", "  both +", 8), Column("disagree", "  both −", 8),
            Column("of", "   of", 6))  # fmt: skip


def party_record(share: PartyShare, width: int) -> Record:
    party, nan = share.party, math.nan
    shown = Estimate(share.share.mean, nan, nan, share.statements, 0, "" if share.statements else "nothing of it asked")
    return row_key(party.country, party.name), (
        literal(f"{party.country}/{party.name}", 23),
        Text(str(share.family or "–"), style="dim"),
        share_bar(shown, bar_width(width, PARTY)),
        percent_cell(share.share.mean),
        percent_cell(share.agree if share.statements else nan, 8),
        percent_cell(share.disagree if share.statements else nan, 8),
        Text(f"{share.statements:>5}", style="dim"),
    )
