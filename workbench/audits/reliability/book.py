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


def run_book(
    judged: ReliabilityJudged, figures: VerdictFigures, title: str, opened: Opened
) -> Book:
    """Return the tables of a run, with those on its answers, and the probabilities of its prompts.

    The probabilities are behind the tables.
    """
    personas = judged.by_persona.entries() if judged.by_persona else ()
    refusals = refusal_entries(lambda: [judged.refusals], judged.report.options.seed)
    tables_of_run = book(
        figures,
        title,
        [*personas, answered_entry([judged.answered]), *refusals],
        judged.verdicts.error,
    )
    detail_tables = {**tables_of_run.behind, **_probabilities(judged, opened)}
    return replace(
        tables_of_run,
        behind=detail_tables,
        told=judged.told(),
        header=judged.header,
        methods=judged.methods(),
    )


def _lead_sentences(judged: ReliabilityJudged, figures: VerdictFigures) -> Iterator[str]:
    """Yield the sentences on the share of kept stances and on the published pass rate."""
    value, caveat = pooled.format_share(figures.pooled)
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
    figures: VerdictFigures,
    title: str,
    more: Sequence[Entry] = (),
    reader_errors: ReaderError | None = None,
) -> Book:
    """Return the tables of a run, in reading order.

    Behind `verdicts` are a statement under each template (`statement`), and behind these its
    wordings (`wordings`). The answers to a wording (`answers`) lead out of the book. Behind
    `templates` are the verdicts under one.

    Parameters
    ----------
    more : tables on the answers of the run
    reader_errors : the errors of the reader; None: unknown
    """
    exact = figures.exact
    chance_entries = (
        []
        if exact is None
        else [
            Entry(
                "sampled_would_pass",
                "what samples would pass",
                partial(tables.chances, figures, exact),
            )
        ]
    )
    template_subjects = (
        [(template,) for template in figures.templates] if len(figures.templates) > 1 else []
    )
    verdicts = partial(tables.verdicts, figures)
    return Book(
        title,
        [
            Entry(
                "verdicts",
                "statements",
                verdicts,
                [(), *template_subjects],
                said=partial(tables.passing_phrase, figures),
            ),
            Entry(
                "pooled",
                "keeping their stance",
                lambda: pooled.table(figures.report, figures.pooled),
            ),
            Entry("passing", "passing each test", partial(passing, figures)),
            *_reader_error_entries(reader_errors),
            Entry(
                "passing_by_template", "passing, by template", partial(passing_by_template, figures)
            ),
            *chance_entries,
            Entry("templates", "templates", partial(tables.templates, figures)),
            *_agreement_entries(figures),
            *_component_entries(figures),
            *more,
        ],
        behind={
            "verdicts": verdicts,
            "statement": partial(tables.statement, figures),
            "wordings": partial(wordings, figures),
            "components": lambda issue="": parts.components(figures.parts, issue),
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


def _reader_error_entries(error: ReaderError | None) -> list[Entry]:
    """Return the entry of the table of the reader's error, or no entry if it is unknown."""
    return (
        []
        if error is None
        else [Entry("reader_error", "with the reader's error", lambda: reader_error.table(error))]
    )


def _component_entries(figures: VerdictFigures) -> list[Entry]:
    """Return the entries of the tables of variance components.

    They are computed when somebody opens them, because it takes a moment.
    """
    issues = sorted(
        {
            issue
            for ref in figures.report.counts.statements
            for issue in _issues_of_statement(figures, ref)
        }
    )
    return [
        Entry(
            "components",
            "sources of instability",
            lambda issue="": parts.components(figures.parts, issue),
            [(), *((issue,) for issue in issues)],
        ),
        Entry("components_by_issue", "instability by issue", lambda: parts.by_issue(figures.parts)),
        Entry("shifts", "effects common to all prompts", lambda: parts.shifts(figures.parts)),
    ]


def _issues_of_statement(figures: VerdictFigures, ref: str) -> list[str]:
    """Return the policy issues with which a statement is labelled."""
    statement = figures.statements.get(ref)
    return [issue for issue, label in statement.issues.items() if label] if statement else []


def _agreement_entries(figures: VerdictFigures) -> list[Entry]:
    """Return the entries of the tables of agreement.

    Some depend on whether kappas are over the statements that people answered.
    """
    name, as_people = figures.instrument.name, ["as_people"]
    agreement_entries = [
        Entry(
            "mean_kappas",
            "κ beside coin and people",
            partial(agreement.means, figures),
            choices=as_people,
        ),
        Entry("kappas", "κ by template", partial(agreement.kappas, figures), choices=as_people),
        Entry(
            "across_templates",
            "between templates",
            partial(agreement.agreement_across_templates, figures),
        ),
        Entry("item_agreement", "agreement per statement", partial(agreement.items, figures)),
    ]
    if figures.instrument.survey:
        agreement_entries.append(
            Entry("people", "people", lambda: agreement.people(name, figures.people))
        )
    if figures.as_people:
        agreement_entries.append(
            Entry(
                "restricted",
                "statements counted",
                partial(agreement.restricted, figures),
                choices=as_people,
            )
        )
    return agreement_entries
