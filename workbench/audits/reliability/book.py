"""The book of reliability: all tables of a run."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from workbench.audits.audit import Opened
from workbench.audits.reliability import agreement_tables as agreement
from workbench.audits.reliability import components as parts
from workbench.audits.reliability import pooled, reader_error
from workbench.audits.reliability import tables as tables
from workbench.audits.reliability.expected import ExactReport
from workbench.audits.reliability.findings import passing_said
from workbench.audits.reliability.judged import ReliabilityJudged, VerdictFigures
from workbench.audits.reliability.reader_error import ReaderError
from workbench.audits.reliability.tables import passing, passing_by_template
from workbench.audits.reliability.wordings import (
    PRINTED_ORDER,
    PromptProbabilities,
    next_tokens,
    prompts,
    scored_prompts,
    wordings,
)
from workbench.errors import UsageError
from workbench.evidence.answered import answered_entry, refusal_entries
from workbench.figures.book import Book, Entry
from workbench.figures.table import AnyTable


def run_book(judged: ReliabilityJudged, of: VerdictFigures, title: str, opened: Opened) -> Book:
    """Return the tables of a run, with those on its answers, and the probabilities of its prompts.

    The probabilities are behind the tables.
    """
    personas = judged.by_persona.entries() if judged.by_persona else ()
    refusals = refusal_entries(lambda: [judged.refusals], judged.report.options.seed)
    tables_of_run = book(
        of, title, [*personas, answered_entry([judged.answered]), *refusals], judged.verdicts.error
    )
    detail_tables = {**tables_of_run.behind, **_probabilities(judged, opened)}
    return replace(
        tables_of_run,
        behind=detail_tables,
        told=judged.told(),
        header=judged.header,
        methods=judged.methods(),
    )


def _leads(judged: ReliabilityJudged, of: VerdictFigures) -> Iterator[str]:
    """Yield the share of statements that keep their stance, and the published pass rate."""
    value, caveat = pooled.format_share(of.pooled)
    yield (
        f"{pooled.KEEP}{pooled.tests_words(judged.report)}: "
        f"{value}.{f' ({caveat})' if caveat else ''}"
    )
    label, value, range_text = passing_said(judged.report)
    yield f"{label}: {value}{f'; {range_text}' if range_text else ''}."


def _probabilities(judged: ReliabilityJudged, opened: Opened) -> dict[str, Callable[..., AnyTable]]:
    """Return the tables of every prompt's labels and next tokens.

    They are of one statement or under one template if these are named.
    """

    def scored(statement: str, template: str) -> tuple[ExactReport, list[PromptProbabilities]]:
        if (exact := judged.exact) is None:
            raise UsageError(
                f"the answers of {judged.run.label} were sampled, without probabilities; compute "
                "them with: workbench run STORE --exact --model NAME"
            )
        with opened() as opened_store:
            token_tables = opened_store.scores.tables_of_run(judged.run)
            cells = opened_store.runs.cells(judged.run)
        tokens = {
            (
                ref,
                f"{kind}-{ordinal}" if ordinal else kind,
                template_name,
                "swapped" if inverted else PRINTED_ORDER,
            ): (
                tuple(
                    (text, math.exp(log_probability))
                    for text, log_probability in token_tables[probe].tokens
                ),
                token_tables[probe].rest,
            )
            for ref, kind, ordinal, template_name, inverted, probe, _ in cells
            if probe in token_tables
        }
        return exact, list(scored_prompts(exact, tokens, statement, template))

    return {
        "prompts": lambda statement="", template="": prompts(*scored(statement, template)),
        "next_tokens": lambda statement="", template="": next_tokens(
            scored(statement, template)[1]
        ),
    }


def book(
    of: VerdictFigures, title: str, more: Sequence[Entry] = (), of_reader: ReaderError | None = None
) -> Book:
    """Return the tables of a run, in reading order.

    Behind `verdicts` are a statement under each template (`statement`), and behind these its
    wordings (`wordings`). The answers to a wording (`answers`) lead out of the book. Behind
    `templates` are the verdicts under one.

    Parameters
    ----------
    more : tables on the answers of the run
    of_reader : the errors of the reader; None: unknown
    """
    exact = of.exact
    chance_entries = (
        []
        if exact is None
        else [
            Entry(
                "sampled_would_pass", "what samples would pass", partial(tables.chances, of, exact)
            )
        ]
    )
    template_subjects = [(template,) for template in of.templates] if len(of.templates) > 1 else []
    verdicts = partial(tables.verdicts, of)
    return Book(
        title,
        [
            Entry(
                "verdicts",
                "statements",
                verdicts,
                [(), *template_subjects],
                said=partial(tables.passing_words, of),
            ),
            Entry("pooled", "keeping their stance", lambda: pooled.table(of.report, of.pooled)),
            Entry("passing", "passing each test", partial(passing, of)),
            *_reader_error(of_reader),
            Entry("passing_by_template", "passing, by template", partial(passing_by_template, of)),
            *chance_entries,
            Entry("templates", "templates", partial(tables.templates, of)),
            *_agreement(of),
            *_instability(of),
            *more,
        ],
        behind={
            "verdicts": verdicts,
            "statement": partial(tables.statement, of),
            "wordings": partial(wordings, of),
            "components": lambda issue="": parts.components(of.parts, issue),
        },
        notes=(
            "Stance: the side of most readable answers to a prompt; a tie has none and fails "
            "tests that compare it.",
            f"{tables.VOID_NOTE}.",
            agreement.OVER_STATEMENTS,
            agreement.COIN,
            agreement.PEOPLE,
        ),
    )


def _reader_error(of: ReaderError | None) -> list[Entry]:
    """Return the table of the reader's error, or nothing if it is unknown."""
    return (
        []
        if of is None
        else [Entry("reader_error", "with the reader's error", lambda: reader_error.table(of))]
    )


def _instability(of: VerdictFigures) -> list[Entry]:
    """Return the tables of variance components.

    They are computed when somebody opens them, because it takes a moment.
    """
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


def _labelled(of: VerdictFigures, ref: str) -> list[str]:
    """Return the policy issues with which a statement is labelled."""
    statement = of.statements.get(ref)
    return [issue for issue, label in statement.issues.items() if label] if statement else []


def _agreement(of: VerdictFigures) -> list[Entry]:
    """Return the tables of agreement.

    Some depend on whether kappas are over the statements that people answered.
    """
    name, as_people = of.instrument.name, ["as_people"]
    agreement_entries = [
        Entry(
            "mean_kappas",
            "κ beside coin and people",
            partial(agreement.means, of),
            choices=as_people,
        ),
        Entry("kappas", "κ by template", partial(agreement.kappas, of), choices=as_people),
        Entry("across_templates", "between templates", partial(agreement.across, of)),
        Entry("item_agreement", "agreement per statement", partial(agreement.items, of)),
    ]
    if of.instrument.survey:
        agreement_entries.append(
            Entry("people", "people", lambda: agreement.people(name, of.people))
        )
    if of.as_people:
        agreement_entries.append(
            Entry(
                "restricted",
                "statements counted",
                partial(agreement.restricted, of),
                choices=as_people,
            )
        )
    return agreement_entries
