"""Tables of the reliability audit: which statements pass each test, and details of verdicts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from workbench.audits.codes import PASS, VOID, verdict
from workbench.audits.reliability.counting import ALL, TEMPLATE
from workbench.audits.reliability.expected import ExactReport, ExpectedRow
from workbench.audits.reliability.judge import (
    ReliabilityReport,
    StatementVerdicts,
    SummaryRow,
    TemplateShares,
)
from workbench.audits.reliability.judged import VerdictFigures
from workbench.audits.reliability.options import EVERY, TESTS
from workbench.audits.reliability.pooled import answers_words, published_words
from workbench.domain.names import in_words as spoken
from workbench.domain.statements import Statement
from workbench.domain.verdicts import RepeatedVerdict, Verdict
from workbench.figures.pictures.of_table import Forest, Matrix
from workbench.figures.shown import number
from workbench.figures.table import MARKS, WORDS, Column, Kind, Link, Table, Value, in_words

KAPPA = (
    "Cohen's κ between the stances on the original and on its paraphrases, over pairs of "
    "conditions (template × label order × paraphrase) of this statement"
)
VOID_NOTE = (
    "∅ void: there is no such wording, or the test compares a prompt with itself, so it cannot "
    "fail, or a ruling leaves it out; no denominator includes it"
)
Changed = Mapping[str, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class VerdictLine:
    """One statement with its verdicts."""

    item: StatementVerdicts
    statement: Statement | None
    text: str
    outcomes: Mapping[str, Verdict | RepeatedVerdict]
    sampled: float
    "probability that samples would pass `all`; NaN if there are samples"
    version: tuple[int, int] | None
    "the version that was asked and the current one, if they differ"

    @property
    def ref(self) -> str:
        """The name of the statement."""
        return self.item.statement

    @property
    def labels(self) -> list[str]:
        """The labels of policy issues, as in `+law_and_order`."""
        labels = self.statement.issues.items() if self.statement else ()
        return [f"{'+' if label > 0 else '−'}{issue}" for issue, label in sorted(labels) if label]


def verdicts(figures: VerdictFigures, template: str = "", failed: str = "") -> Table[VerdictLine]:
    """Return the table of the verdicts on each statement, by test.

    Parameters
    ----------
    template : judge only under this one; empty: under all together
    failed : keep the statements that do not pass this test. Raises UnknownName
    """
    lines = [
        line
        for line in _verdict_lines(figures, template)
        if not failed or _fails(line.item.verdict(failed))
    ]
    chances = [_column_of_samples(figures.exact)] if figures.exact else []
    return Table(
        "verdicts",
        " ".join(
            ["Statements", *_failing_words(failed), *([f"under {template}"] if template else [])]
        ),
        lines,
        [
            Column("statement", "statement", lambda row: row.ref, short="id", help="its name"),
            Column(
                "text",
                "text",
                lambda row: row.text,
                main=True,
                aside=True,
                help="the original wording",
            ),
            Column(
                "country",
                "country",
                lambda row: row.statement.country if row.statement else None,
                aside=True,
            ),
            Column(
                "issues",
                "policy issues",
                lambda row: row.labels,
                Kind.WORDS,
                aside=True,
                words=in_words({name for line in lines for name in line.labels}),
            ),
            *(
                Column(
                    name,
                    spoken(name),
                    _outcome(name),
                    Kind.VERDICT,
                    help=test.meaning,
                    short=test.short,
                )
                for name, test in EVERY.items()
            ),
            *chances,
            Column(
                "kappa_paraphrase",
                "κ paraphrase",
                lambda row: row.item.kappa_paraphrase,
                Kind.COEFFICIENT,
                help=f"{KAPPA}; in brackets the pairs behind it",
                short="κ para",
                beside=_pairs_behind,
            ),
            Column(
                "pairs",
                "pairs",
                lambda row: row.item.kappa_paraphrase.n,
                Kind.COUNT,
                help="pairs behind κ",
                short="n",
                aside=True,
            ),
            Column(
                "changed",
                "changed",
                lambda row: row.version is not None,
                Kind.MARK,
                mark="°",
                short="old",
                help="the statement has changed since it was asked; the text asked is judged",
            ),
        ],
        key=lambda row: (row.ref,),
        notes=list(_verdict_notes(figures, lines, template)),
        empty="No statement matches." if failed else "No statement was asked.",
        link=lambda row: link_to_details(figures, row.ref, template),
        subject=(template,) if template else (),
        detail=lambda row: _failure_reasons(figures, row.ref, template),
        pictures=[Matrix(columns=tuple(EVERY), rows=["statement"])],
    )


def _pairs_behind(row: VerdictLine) -> str:
    """Return the number of pairs behind κ, with the number of all pairs if some are unreadable."""
    kappa = row.item.kappa_paraphrase
    if not kappa.excluded:
        return f"({kappa.n})"
    return f"({kappa.n} of {kappa.n + kappa.excluded})"


def _failing_words(failed: str) -> list[str]:
    """Return the words of a title that name the failed test, or nothing without one."""
    return (
        [f"that do not pass {'all tests' if failed == ALL else failed.replace('_', ' ')}"]
        if failed
        else []
    )


def _failure_reasons(figures: VerdictFigures, ref: str, template: str) -> list[str]:
    """Return the reasons why a statement fails tests, under one template or under each."""
    names = [template] if template else figures.templates
    reasons_by_template = {name: list(failure_reasons(figures, ref, name)) for name in names}
    if len(names) == 1:
        return [
            *reasons_by_template[names[0]],
            *failure_reasons(figures, ref, names[0], (TEMPLATE,)),
        ]
    reasons_over_templates = failure_reasons(figures, ref, names[0], (TEMPLATE,))
    return [
        *reasons_over_templates,
        *(
            f"{name}: {template_reason}"
            for name, template_reasons in reasons_by_template.items()
            for template_reason in template_reasons
        ),
    ]


def _column_of_samples(exact: ExactReport) -> Column[VerdictLine]:
    """Return the column of the probability that samples would pass all tests."""
    n = exact.options.beside
    return Column(
        "sampled_would_pass",
        f"ALL of {n} samples",
        lambda row: row.sampled,
        Kind.SHARE,
        help=f"probability that {n} samples per prompt would pass every test that counts",
        short=f"of {n}",
    )


def _outcome(test: str) -> Callable[[VerdictLine], Value]:
    """Return the accessor of the verdict on a test."""
    return lambda row: row.outcomes[test]


def _fails(result: Verdict) -> bool:
    """Return whether a test's result is neither passed nor void."""
    return result not in (Verdict.PASS, Verdict.VOID)


def link_to_details(figures: VerdictFigures, ref: str, template: str = "") -> Link:
    """Return the link from a statement to its templates, or to its wordings under one template."""
    if template or len(figures.templates) == 1:
        return Link("wordings", (ref, template or figures.templates[0]))
    return Link("statement", (ref,))


def _verdict_lines(figures: VerdictFigures, template: str) -> Iterator[VerdictLine]:
    """Yield a line for each statement, with its verdict on each test."""
    report = figures.report
    has_several_templates = not template and len(figures.templates) > 1
    codes_by_test = (
        {test: np.atleast_2d(report.verdicts(test)) for test in (*TESTS, ALL)}
        if has_several_templates
        else {}
    )
    passed = {test: (codes == PASS).sum(axis=0) for test, codes in codes_by_test.items()}
    tested = {test: (codes != VOID).sum(axis=0) for test, codes in codes_by_test.items()}
    chances = None if figures.exact is None else _chances(figures.exact, ALL, template)
    for row, item in enumerate(report.items(template or None)):
        outcomes: dict[str, Verdict | RepeatedVerdict] = {
            test: item.verdict(test) for test in EVERY
        }
        for test in codes_by_test:
            outcomes[test] = RepeatedVerdict(
                item.verdict(test), int(passed[test][row]), int(tested[test][row])
            )
        yield VerdictLine(
            item,
            figures.statements.get(item.statement),
            figures.text(item.statement),
            outcomes,
            float("nan") if chances is None else float(chances[row]),
            figures.changed.get(item.statement),
        )


def _verdict_notes(
    figures: VerdictFigures, lines: Sequence[VerdictLine], template: str
) -> Iterator[str]:
    """Yield the notes under the table of verdicts."""
    if not template and len(figures.templates) > 1:
        yield (
            f"✓ passes under all {len(figures.templates)} templates, ✗ fails under one or more, "
            "· too "
            "few readable answers; "
            "next to it: templates passed, of those under which the test can fail"
        )
    if any(line.item.verdict(test) is Verdict.VOID for line in lines for test in EVERY):
        yield VOID_NOTE
    if n_changed := sum(line.version is not None for line in lines):
        yield (
            f"° {n_changed:,} changed since: the text asked is judged; running again asks the new "
            "text"
        )


def chances(figures: VerdictFigures, exact: ExactReport, template: str = "") -> Table[int]:
    """Return the table of the probability that samples would pass, by statement and test."""

    def chance(test: str) -> Callable[[int], float]:
        chance_by_row = _chances(exact, test, template)
        return lambda row: float(chance_by_row[row])

    return Table(
        "sampled_would_pass",
        f"Probability that {exact.options.beside} samples per prompt would pass",
        range(len(exact.counts.statements)),
        [
            Column("statement", "statement", lambda row: exact.counts.statements[row]),
            *(
                Column(
                    name,
                    spoken(name),
                    chance(name),
                    Kind.SHARE,
                    help=test.meaning,
                    short=test.short,
                )
                for name, test in EVERY.items()
            ),
        ],
        key=lambda row: (exact.counts.statements[row],),
        definition="Summed over all outcomes; prompts are independent. Over all templates: "
        "passes under each.",
        link=lambda row: link_to_details(figures, exact.counts.statements[row], template),
    )


def passing_phrase(figures: VerdictFigures, template: str = "") -> str:
    """Return a phrase on the number of statements that pass every test that counts.

    On exact probabilities, it adds the number that is expected with samples.
    """
    verdicts_on_all = [item.verdict(ALL) for item in figures.report.items(template or None)]
    n_tested = len(verdicts_on_all) - verdicts_on_all.count(Verdict.VOID)
    text = f"✓ {verdicts_on_all.count(Verdict.PASS)} of {n_tested} pass all"
    if figures.exact is None:
        return f"{text} at {answers_words(figures.report)} answers"
    expected = number(sum(_chances(figures.exact, ALL, template)), Kind.COUNT)
    return f"{text} ({figures.exact.options.beside} samples: {expected})"


def _chances(exact: ExactReport, test: str, template: str) -> Sequence[float]:
    """Return the probability that samples of each statement would pass a test."""
    passed = exact.expected.of(test).passed
    if not template or passed.ndim == 1:
        passed = exact.expected.over_templates(test)
    else:
        passed = passed[exact.counts.template(template)]
    return [float(chance) for chance in passed]


def templates(figures: VerdictFigures) -> Table[tuple[TemplateShares, int]]:
    """Return the table of readable and agreeing answers, and of passing statements (Figure 6).

    It has one row per template.
    """
    is_exact = figures.exact is not None
    passed = next(row.passed for row in figures.report.summary() if row.test == ALL)
    readable = "of the probability on the two labels, mean" if is_exact else "of the answers"
    return Table(
        "templates",
        "Templates",
        list(zip(figures.report.shares(), passed, strict=True)),
        [
            Column("template", "template", lambda row: row[0].template),
            Column(
                "answers",
                "prompts scored" if is_exact else "answers",
                lambda row: row[0].answers,
                Kind.COUNT,
                help="prompts with probabilities"
                if is_exact
                else "answers that no ruling leaves out",
            ),
            Column(
                "readable",
                "on the labels" if is_exact else "readable",
                lambda row: row[0].readable,
                Kind.SHARE,
                help=readable,
                scale=(0.0, 1.0),
            ),
            Column(
                "agree",
                "agree",
                lambda row: row[0].agree,
                Kind.SHARE,
                help="of these",
                scale=(0.0, 1.0),
            ),
            Column(
                "passed",
                "pass ALL",
                lambda row: row[1],
                Kind.COUNT,
                help="statements that pass every test",
            ),
        ],
        key=lambda row: (row[0].template,),
        definition="Over all wordings and both label orders.",
        notes=figures.of_those_drawn,
        link=lambda row: Link("verdicts", (row[0].template,)),
        pictures=[Forest(values=["readable", "agree"], rows=["template"], axis="share of answers")],
    )


def statement(figures: VerdictFigures, ref: str) -> Table[str]:
    """Return the table of the verdicts on one statement under each template, with reasons."""
    report, row = figures.report, figures.report.counts.statement(ref)

    def code(test: str) -> Callable[[str], Verdict]:
        codes_of_test = report.verdicts(test)
        return lambda template: verdict(codes_of_test[report.counts.template(template), row])

    template_verdict = verdict(report.verdicts(TEMPLATE)[row])
    return Table(
        "statement",
        f"{ref}: {figures.text(ref)}",
        figures.templates,
        [
            Column("template", "template", lambda name: name),
            *(
                Column(
                    test,
                    spoken(test),
                    code(test),
                    Kind.VERDICT,
                    help=EVERY[test].meaning,
                    short=EVERY[test].short,
                )
                for test in (*TESTS, ALL)
            ),
            Column(
                "why",
                "why",
                lambda name: "; ".join(failure_reasons(figures, ref, name)) or None,
                aside=True,
            ),
        ],
        key=lambda name: (name,),
        notes=[
            f"{MARKS[template_verdict]} template {WORDS[template_verdict]}: "
            f"{report.reason(ref, figures.templates[0], TEMPLATE)}",
            *since(figures.changed, ref),
        ],
        link=lambda name: Link("wordings", (ref, name)),
        subject=(ref,),
        detail=lambda name: list(failure_reasons(figures, ref, name)),
    )


def since(changed: Changed, ref: str) -> Iterator[str]:
    """Yield a note that a statement was changed since it was asked."""
    if ref in changed:
        asked_version, current_version = changed[ref]
        yield f"version {asked_version}, as it was asked; version {current_version} is current"


def failure_reasons(
    figures: VerdictFigures, ref: str, template: str, tests: Sequence[str] = TESTS
) -> Iterator[str]:
    """Yield a reason for every test that a statement does not pass under a template.

    Void tests are among them.
    """
    report = figures.report
    for test in tests:
        codes_of_test = np.atleast_2d(report.verdicts(test))
        row = 0 if test == TEMPLATE else report.counts.template(template)
        outcome = verdict(codes_of_test[row, report.counts.statement(ref)])
        if outcome is not Verdict.PASS:
            name = test.replace("_", " ")
            yield f"{MARKS[outcome]} {name} {WORDS[outcome]}: {report.reason(ref, template, test)}"


MODEL, COIN = "model", "coin flips"


@dataclass(frozen=True, slots=True)
class Passing:
    """The numbers of statements that pass a test: of the model, of samples, of coin flips."""

    model: SummaryRow
    sampled: ExpectedRow | None
    coin: SummaryRow | None


def passing(figures: VerdictFigures) -> Table[Passing]:
    """Return the table of statements that pass each test (Ceron et al. 2024, Figure 3)."""
    exact = figures.exact
    sampled = {row.test: row for row in exact.expected_summary()} if exact else {}
    coins = {row.test: row for row in figures.coin.summary()}
    rows = [
        Passing(row, sampled.get(row.test), coins.get(row.test)) for row in figures.report.summary()
    ]
    n = exact.options.beside if exact else 0
    share_of_samples: list[Column[Passing]] = [
        Column(
            "sampled_share",
            f"expected of {n} samples",
            lambda row: row.sampled.share if row.sampled else None,
            Kind.SHARE,
            help="of answers drawn from the whole distribution: a nucleus, such as the published "
            "top-p 0.85, would not "
            "draw unlikely labels",
        ),
    ]
    passed_of_samples: list[Column[Passing]] = [
        Column(
            "sampled_passed",
            "of samples",
            lambda row: _words(row.sampled.passed, 1) if row.sampled else (),
            Kind.WORDS,
        ),
    ]
    coin: Column[Passing] = Column(
        "coin_share",
        COIN,
        lambda row: row.coin.share if row.coin else None,
        Kind.SHARE,
        help="fair flips, as many per prompt as samples, put through the same tests (section 6.1)",
    )
    shares = ["share", *(["sampled_share"] if exact else []), "coin_share"]
    return Table(
        "passing",
        f"Statements that {published_words(figures.report)}, test by test",
        rows,
        [
            Column("test", "test", lambda row: row.model.test, words=in_words(TESTS)),
            Column(
                "share",
                "exact" if exact else "model",
                lambda row: row.model.share,
                Kind.SHARE,
                scale=(0.0, 1.0),
                help="share of the statements that pass",
            ),
            *(share_of_samples if exact else ()),
            coin,
            Column("passed", "passed", lambda row: _words(row.model.passed), Kind.WORDS),
            *(passed_of_samples if exact else ()),
            Column("failed", "failed", lambda row: _words(row.model.failed), Kind.WORDS),
            Column(
                "insufficient",
                "too few",
                lambda row: _words(row.model.insufficient),
                Kind.WORDS,
                help="statements with too few readable answers to judge",
            ),
            Column(
                "void",
                "void",
                lambda row: _words(row.model.void),
                Kind.WORDS,
                help="statements that cannot fail the test: nothing to compare, or a prompt with "
                "itself",
            ),
        ],
        key=lambda row: (row.model.test,),
        definition="Share of the statements whose test is not void: mean and sd over templates. "
        "Too few "
        "readable answers do not pass.",
        notes=[f"passed, failed, too few, void: statements under {', '.join(figures.templates)}"],
        link=lambda row: Link("verdicts", ("", row.model.test)),
        pictures=[
            Forest(values=shares, rows=["test"], axis="statements that pass", baselines=[COIN])
        ],
    )


def _words(numbers: Sequence[float], digits: int = 0) -> list[str]:
    """Return numbers as texts."""
    return [f"{number:.{digits}f}" for number in numbers]


@dataclass(frozen=True, slots=True)
class TemplateCounts:
    """The numbers of statements that pass a test under one template."""

    answers: str
    "`model` or `coin flips`"
    test: str
    template: str
    passed: int
    failed: int
    insufficient: int
    void: int
    sampled: float | None


def passing_by_template(figures: VerdictFigures) -> Table[TemplateCounts]:
    """Return the table of the number of statements that pass each test, by template.

    `passing` has the means.
    """
    exact = figures.exact
    sampled = {row.test: row.passed for row in exact.expected_summary()} if exact else {}
    rows = list(_tallies(MODEL, figures.report, sampled))
    rows += _tallies(COIN, figures.coin, {})
    return Table(
        "passing_by_template",
        f"Statements that {published_words(figures.report)}, under each template",
        rows,
        [
            Column("answers", "answers of", lambda row: row.answers),
            Column("test", "test", lambda row: row.test, words=in_words(TESTS)),
            Column("template", "template", lambda row: row.template),
            Column("passed", "passed", lambda row: row.passed, Kind.COUNT),
            Column("failed", "failed", lambda row: row.failed, Kind.COUNT),
            Column("insufficient", "too few", lambda row: row.insufficient, Kind.COUNT),
            Column("void", "void", lambda row: row.void, Kind.COUNT),
            Column(
                "sampled_would_pass", "expected of samples", lambda row: row.sampled, Kind.COUNT
            ),
        ],
        key=lambda row: (row.answers, row.test, row.template),
        link=lambda row: _link_to_verdicts(figures, row),
        notes=["the test `template` is over all templates and has one row"],
    )


def _link_to_verdicts(figures: VerdictFigures, row: TemplateCounts) -> Link | None:
    """Return the link to the failing statements of a row, or None for coin flips.

    Coin flips have no answers to look at.
    """
    template = row.template if row.template in figures.templates else ""
    return Link("verdicts", (template, row.test)) if row.answers == MODEL else None


def _tallies(
    answers: str, report: ReliabilityReport, sampled: Mapping[str, Sequence[float]]
) -> Iterator[TemplateCounts]:
    """Yield the numbers of a report by test and template."""
    for row in report.summary():
        names = report.counts.templates if row.test != TEMPLATE else ("all templates",)
        for column, name in enumerate(names):
            chance = sampled[row.test][column] if row.test in sampled else None
            yield TemplateCounts(
                answers,
                row.test,
                name,
                row.passed[column],
                row.failed[column],
                row.insufficient[column],
                row.void[column],
                chance,
            )
