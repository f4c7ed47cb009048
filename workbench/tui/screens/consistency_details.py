"""What stands below a consistency view about the row under the cursor; pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from textual.content import Content

from workbench.domain.counting import plural
from workbench.tui.format import literal, percent, visible
from workbench.tui.screens.consistency_format import FEW, issue_name, mean_share, sd, short_issue
from workbench.tui.screens.consistency_view import IssueRow, Loaded, Shown, row_parts
from workbench.tui.screens.results_format import WIDE, number

if TYPE_CHECKING:
    from workbench.audits.consistency import Difference, IssueStance


def details(shown: Shown, loaded: Loaded, key: str | None, width: int) -> Content:
    """Return what is behind the row of a key, for a terminal of that width."""
    if key is None:
        return Content("")
    view, parts = shown.look.view, row_parts(key)
    lines = _respondent(shown, parts, width) if view == "parties" else MAKERS[view](shown, loaded, parts)
    return Content("\n").join(lines)


Lines = Iterator[Content]


def _issue(shown: Shown, loaded: Loaded, key: tuple[str, ...]) -> Lines:
    from workbench.audits.consistency import MEASURES

    row = next((row for row in shown.issues if (row.stance.issue,) == key), None)
    if row is None:
        return
    stance = row.stance
    few = (f"  {FEW} fewer than six reliable statements: it says little", "$text-warning") if stance.few else ""
    yield Content.assemble((issue_name(stance.issue), "bold"), few)
    yield from _values(row)
    yield Content.styled(MEASURES[stance.formula], "$text-muted")
    yield from _tally(stance)
    if meaning := loaded.definitions.get(stance.issue):
        yield Content.assemble(("defined: ", "$text-muted"), visible(meaning))


def _values(row: IssueRow) -> Lines:
    stance = row.stance
    if not stance.value.defined:
        yield Content.styled(f"undefined: {stance.value.undefined}", "$text-warning")
        yield Content.styled("o chooses which tests make a stance reliable", "$text-muted")
        return
    beside = " · ".join(f"{other.formula} {number(other.value)}" for other in row.others)
    yield Content.assemble((f"{stance.formula} {number(stance.value)}", "bold"), f" · {beside}")


def _tally(stance: IssueStance) -> Lines:
    if stance.tallies:
        n = len(stance.tallies)
        a, d, against, opposing = (f"{sum(column) / n:.1f}" for column in zip(*stance.tallies, strict=True))
        yield Content(
            f"for: {a} agreed, {d} disagreed · against: {against} disagreed, {opposing} agreed · "
            f"{plural(n, 'template')}, sd {sd(stance.templates)}"
        )
    if stance.zero_by_rule:
        why = f"0 by the formula's own rule under {plural(stance.zero_by_rule, 'template')}: nothing supports it"
        yield Content.styled(why, "$text-warning")


def _leaning(shown: Shown, loaded: Loaded, key: tuple[str, ...]) -> Lines:  # noqa: ARG001
    row = next((row for row in shown.leanings if row.name == key[0]), None)
    if row is None:
        return
    at = next(at for at, of in enumerate(row.leaning.families) if of.family.value == key[1])
    found, agree, disagree = (each.families[at] for each in (row.leaning, row.agree, row.disagree))
    yield Content.assemble((visible(row.name), "bold"), f" and {_parties(found.parties)} of the {key[1]}")
    if found.share.defined:
        both = f"both agree {percent(agree.share.value, digits=1)}, both disagree"
        yield Content(f"{both} {percent(disagree.share.value, digits=1)} of {plural(found.share.n, 'statement')}")
        over = f"mean {percent(found.templates.mean, digits=1)}, sd {sd(found.templates, 100)}"
        yield Content(f"over templates: {over}")
    else:
        yield Content.styled(found.share.undefined, "$text-warning")
    left_out = [f"{_parties(row.leaning.unplaced)} without a left-right position"] * bool(row.leaning.unplaced)
    left_out += [f"{_parties(row.leaning.unasked)} of countries not asked"] * bool(row.leaning.unasked)
    if left_out:
        yield Content.styled(f"left out: {', '.join(left_out)}", "$text-muted")


def _parties(n: int) -> str:
    return "1 party" if n == 1 else f"{n} parties"


def _respondent(shown: Shown, key: tuple[str, ...], width: int) -> Lines:
    kind, *names = key
    if kind == "party":
        party = next((of for of in shown.parties if [of.party.country, of.party.name] == names), None)
        issues = party.issues if party else ()
        position = party.party.position if party else None
        said = "no left-right position" if position is None else f"position {position:g} of 10"
    else:
        issues = dict(shown.people).get(names[0], ())
        said = "answered the survey"
    head = (f"  {said} · {shown.look.formula}; n: stances on labelled statements", "$text-muted")
    yield Content.assemble((visible("/".join(names)), "bold"), head)
    yield from _issue_grid(issues, width)


def _issue_grid(issues: Sequence[IssueStance], width: int) -> Lines:
    """Yield every issue by its name, two a line; where there is room with intervals."""
    wide = width >= WIDE
    name, cell = (30, 32) if wide else (20, 12)
    said = []
    for of in issues:
        value = number(of.value) if wide or not of.value.defined else f"{of.value.value:+.2f}"
        head = f"{short_issue(of.issue, 5):<6}" if not wide else ""
        words = literal(issue_name(of.issue), name).plain.ljust(name)
        said.append(f"{head}{words} {f'{value} n {of.reliable:.0f}{FEW if of.few else str()}':<{cell}}")
    for at in range(0, len(said), 2):
        yield Content("".join(said[at : at + 2]).rstrip())


def _difference(shown: Shown, loaded: Loaded, key: tuple[str, ...]) -> Lines:  # noqa: ARG001
    from workbench.audits.consistency import MEASURES

    found = _found(shown, key)
    if found is None:
        return
    first, second = visible(shown.look.name), visible(shown.look.other)
    what = f"{key[1]} parties, matches: {shown.look.match}" if key[0] == "family" else issue_name(key[1])
    yield Content.assemble((what, "bold"), f"  {first} {_signed(found.first)} − {second} {_signed(found.second)}")
    if found.difference.defined:
        where = "statements that both were asked" if key[0] == "family" else "statements with a reliable stance of both"
        yield Content(f"n {found.difference.n:,} {where}; the same draws for both")
    else:
        yield Content.styled(f"undefined: {found.difference.undefined}", "$text-warning")
    if key[0] == "issue":
        yield Content.styled(MEASURES[shown.look.formula], "$text-muted")


def _signed(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:+.2f}"


def _found(shown: Shown, key: tuple[str, ...]) -> Difference | None:
    """Return the difference of a row: an issue may be called as a family is."""
    issues, families = shown.differences[:-3], shown.differences[-3:]
    return next((of for of in (families if key[0] == "family" else issues) if of.name == key[1]), None)


def _template(shown: Shown, loaded: Loaded, key: tuple[str, ...]) -> Lines:
    rank, types = next((of for of in shown.ranks if (of.template,) == key), None), shown.types
    run = loaded.run(shown.look.name)
    if rank is None or types is None or run is None:
        return
    share = percent(rank.readable.value, digits=1)
    best = f", ✓ among the best three of the {rank.address} ones" if rank.chosen and rank.address else ""
    yield Content.assemble((visible(rank.template), "bold"), f"  {share} of {rank.readable.n:,} answers readable{best}")
    at = run.report.counts.templates.index(rank.template)
    columns = (types.agree, types.disagree, types.reliable_agree, types.reliable_disagree)
    agree, disagree, reliable, unreliable = (percent(column[at]) for column in columns)
    yield Content(f"stance on the originals: agrees {agree}, disagrees {disagree}; of the reliable ones: "
                  f"agrees {reliable}, disagrees {unreliable}")  # fmt: skip
    means = [types.mean(name) for name in ("agree", "disagree", "reliable_agree", "reliable_disagree")]
    all_agree, all_disagree, agree, disagree = map(mean_share, means)
    yield Content(f"over all templates: agrees {all_agree}, disagrees {all_disagree}; of the reliable ones: "
                  f"agrees {agree}, disagrees {disagree}")  # fmt: skip
    yield Content.styled("agree, disagree in the table: of the readable answers, over all wordings", "$text-muted")


def _tests(shown: Shown, loaded: Loaded, key: tuple[str, ...]) -> Lines:  # noqa: ARG001
    from workbench.audits.consistency import MEASURES

    if not shown.weaker:
        return
    if key[0] == "passed":
        yield Content("Share of the statements that pass the tests of a column: mean over templates.")
    elif key[0] == "spread":
        yield Content("How far stances depend on the template: mean over issues of the sd over templates (Figure 7).")
    else:
        stances = [next(stance for stance in of.issues if stance.issue == key[1]) for of in shown.weaker]
        reliable = " · ".join(f"{of.reliable:.1f}" for of in stances)
        yield Content.assemble((issue_name(key[1]), "bold"), f"  labelled statements that count: {reliable}")
        yield Content.styled(MEASURES[shown.look.formula], "$text-muted")
    sets = "; ".join(_set_words(of.name, of.tests) for of in shown.weaker)
    yield Content.styled(f"In brackets: sd over templates. Columns: {sets}", "$text-muted")


def _set_words(name: str, tests: Sequence[str]) -> str:
    return f"chosen: {', '.join(tests) or 'no test'}" if name == "all" else name


def _scale(shown: Shown, loaded: Loaded, key: tuple[str, ...]) -> Lines:  # noqa: ARG001
    found = next((of for of in loaded.scales if (of.country,) == key), None)
    if found is None:
        return
    answers = visible(", ".join(found.answers))
    yield Content.assemble((visible(found.country), "bold"), f"  parties answered: {answers}")
    for name, value in (("placed", found.placed), ("all", found.every)):
        if not value.defined:
            yield Content.styled(f"{name} parties: undefined, {value.undefined}", "$text-warning")
    yield Content.styled(COLLAPSED, "$text-muted")


COLLAPSED = """Rank correlation of the distances between parties, on all their answers and on agree, neutral and \
disagree alone (Table 8): 1 where collapsing the scale changes nothing."""

MAKERS: Mapping[str, Callable[[Shown, Loaded, tuple[str, ...]], Lines]] = {
    "issues": _issue,
    "leaning": _leaning,
    "models": _difference,
    "templates": _template,
    "tests": _tests,
    "scales": _scale,
}
"view -> what it says of the row of a key; parties are told for a width"
