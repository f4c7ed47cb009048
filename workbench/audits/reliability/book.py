"""All figures of one run of the reliability audit, in the order in which one reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from workbench.audits.reliability import agreement_tables as agreement
from workbench.audits.reliability import components_tables as parts
from workbench.audits.reliability import tables
from workbench.audits.reliability.beside import Reliability
from workbench.audits.reliability.passing import passing, passing_by_template
from workbench.audits.reliability.wordings import wordings
from workbench.figures.book import Book, Entry


def book(
    of: Reliability,
    title: str,
    *,
    told: Sequence[str] = (),
    header: Sequence[str] = (),
    about: Mapping[str, object] | None = None,
    methods: str = "",
    more: Sequence[Entry] = (),
) -> Book:
    """Return the figures of a run. `more`: tables of what its answers are, beside the figures on them.

    Behind `verdicts` stand a statement under each template (`statement`), and behind these its wordings (`wordings`);
    what a wording was answered (`answers`) leads out of the book. Behind `templates` stand the verdicts under one.
    """
    exact = of.exact
    chances = [] if exact is None else [
        Entry("sampled_would_pass", "what samples would pass", partial(tables.chances, of, exact))
    ]  # fmt: skip
    under = [(template,) for template in of.templates] if len(of.templates) > 1 else []
    return Book(
        title,
        [
            Entry("verdicts", "statements", partial(tables.verdicts, of), [(), *under]),
            Entry("passing", "passing each test", partial(passing, of)),
            Entry("passing_by_template", "passing, by template", partial(passing_by_template, of)),
            *chances,
            Entry("templates", "templates", partial(tables.templates, of)),
            *_agreement(of),
            *_instability(of),
            *more,
        ],
        behind={
            "verdicts": partial(tables.verdicts, of),
            "statement": partial(tables.statement, of),
            "wordings": partial(wordings, of),
            "components": lambda issue="": parts.components(of.parts, issue),
        },
        told=told,
        header=header,
        notes=(
            "Stance: the side of most readable answers to a prompt; a tie has none and fails tests that compare it.",
            f"{tables.VOID_NOTE}.",
            agreement.OVER_STATEMENTS,
            agreement.COIN,
            agreement.PEOPLE,
        ),
        methods=methods,
        about=about or {},
    )


def _instability(of: Reliability) -> list[Entry]:
    """Return the tables of variance components; they are made when somebody looks, which takes a moment."""
    issues = sorted({issue for ref in of.report.counts.statements for issue in _labelled(of, ref)})
    return [
        Entry(
            "components",
            "sources of instability",
            lambda issue="": parts.components(of.parts, issue),
            [(), *((issue,) for issue in issues)],
        ),
        Entry("components_by_issue", "instability by issue", lambda: parts.by_issue(of.parts)),
        Entry("shifts", "effects common to all prompts", lambda: parts.shifts(of.parts)),
    ]


def _labelled(of: Reliability, ref: str) -> list[str]:
    statement = of.statements.get(ref)
    return [issue for issue, label in statement.issues.items() if label] if statement else []


def _agreement(of: Reliability) -> list[Entry]:
    """Return the tables of agreement; some depend on whether kappas are over the statements that people answered."""
    name, as_people = of.instrument.name, ["people"]
    found = [
        Entry("mean_kappas", "κ beside coin and people", partial(agreement.means, of), choices=as_people),
        Entry("kappas", "κ by template", partial(agreement.kappas, of), choices=as_people),
        Entry("across_templates", "between templates", partial(agreement.across, of)),
        Entry("item_agreement", "agreement per statement", partial(agreement.items, of)),
    ]
    if of.instrument.survey:
        found.append(Entry("people", "people", lambda: agreement.people(name, of.people)))
    if of.as_people:
        found.append(Entry("restricted", "statements counted", partial(agreement.restricted, of), choices=as_people))
    return found
