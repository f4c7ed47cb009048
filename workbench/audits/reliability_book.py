"""All figures of one run of the reliability audit, in the order in which one reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from workbench.audits import reliability_agreement_tables as agreement
from workbench.audits import reliability_tables as tables
from workbench.audits.reliability_beside import Reliability
from workbench.audits.reliability_passing import passing, passing_by_template
from workbench.audits.reliability_wordings import wordings
from workbench.figures.book import Book, Entry


def book(of: Reliability, title: str, *, told: Sequence[str] = (), about: Mapping[str, object] | None = None) -> Book:
    """Return the figures of a run.

    Behind `verdicts` stand a statement under each template (`statement`), and behind these its wordings (`wordings`);
    what a wording was answered (`answers`) leads out of the book. Behind `templates` stand the verdicts under one.
    """
    name = of.instrument.name
    exact = of.exact
    chances = [] if exact is None else [
        Entry("sampled_would_pass", "what samples would pass", partial(tables.chances, of, exact))
    ]  # fmt: skip
    under = [(template,) for template in of.templates] if len(of.templates) > 1 else []
    people = [Entry("people", "people", lambda: agreement.people(name, of.people))] if of.instrument.survey else []
    return Book(
        title,
        [
            Entry("verdicts", "statements", partial(tables.verdicts, of), [(), *under]),
            Entry("passing", "passing each test", partial(passing, of)),
            Entry("passing_by_template", "passing, by template", partial(passing_by_template, of)),
            *chances,
            Entry("templates", "templates", partial(tables.templates, of)),
            Entry("mean_kappas", "κ beside coin and people", partial(agreement.means, of)),
            Entry("kappas", "κ by template", partial(agreement.kappas, of)),
            Entry("across_templates", "between templates", partial(agreement.across, of)),
            Entry("item_agreement", "agreement per statement", partial(agreement.items, of)),
            *people,
        ],
        behind={
            "verdicts": partial(tables.verdicts, of),
            "statement": partial(tables.statement, of),
            "wordings": partial(wordings, of),
        },
        told=told,
        notes=(
            "Stance: the side of most readable answers to a prompt; a tie has none, and fails what compares it.",
            f"{tables.VOID_NOTE}.",
        ),
        about=about or {},
    )
