"""Tables of the wordings of a statement: the answers to each, or probabilities of labels."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from workbench.audits.reliability.counting import TEMPLATE
from workbench.audits.reliability.expected import ExactReport, ExactRow
from workbench.audits.reliability.judge import ReliabilityReport, TestContribution, VariantRow
from workbench.audits.reliability.judged import VerdictFigures
from workbench.audits.reliability.options import EVERY, TESTS
from workbench.audits.reliability.tables import failure_reasons, since
from workbench.domain.names import plural
from workbench.domain.readings import Stance
from workbench.domain.statements import ORIGINAL
from workbench.domain.verdicts import Estimate, Verdict
from workbench.figures.table import MARKS, AnyTable, Column, Kind, Link, Table
from workbench.readers.verbalizers import RULES
from workbench.stats.proportions import wilson_interval

Row = TypeVar("Row")
Place = tuple[str, str, str, str]
"statement, variant, template, label order"
Tokens = Mapping[Place, tuple[tuple[tuple[str, float], ...], float]]
"likeliest next tokens with their probabilities, and the probability of all others"
PRINTED_ORDER = "printed"
LIKELIEST = 8
"number of next tokens in the row of a prompt; a table of their own has all"


def wordings(figures: VerdictFigures, ref: str, template: str) -> AnyTable:
    """Return the table of the answers to each wording of a statement under one template.

    It has one row per wording and label order.
    """
    reasons = [*failure_reasons(figures, ref, template, (*TESTS, TEMPLATE))] or [
        "✓ passes every test under this template"
    ]
    notes = [*reasons, *since(figures.changed, ref), *figures.of_those_drawn]
    title = f"{ref} under {template}: {figures.text(ref)}"
    if figures.exact is not None:
        return _exact_wordings(figures, figures.exact, (ref, template), title, notes)
    return Table(
        "wordings",
        title,
        figures.report.variants(ref, template),
        [
            *_wording_columns(figures, ref, _itself),
            _adds_to(_itself),
            Column(
                "leaning",
                "agree",
                _leaning,
                Kind.SHARE,
                help="share of the readable answers that agree, with its exact 95 % bootstrap "
                "interval",
                scale=(0.0, 1.0),
                reference=_limits_of(figures.report),
            ),
            Column(
                "leaning_wilson",
                "agree, Wilson's",
                _wilson,
                Kind.SHARE,
                aside=True,
                help="the same share with Wilson's interval, which is a confidence interval of it",
            ),
            Column(
                "readable",
                "readable",
                lambda row: row.readable,
                Kind.COUNT,
                help="readable answers",
            ),
            Column(
                "answers",
                "answers",
                lambda row: row.total,
                Kind.COUNT,
                aside=True,
                help="answers given",
            ),
            Column(
                "cut_off",
                "cut off",
                lambda row: row.truncated,
                Kind.COUNT,
                aside=True,
                help="in thought",
            ),
            Column(
                "left_out",
                "left out",
                lambda row: row.left_out,
                Kind.COUNT,
                aside=True,
                help="by a ruling",
            ),
            *_stances(figures.report, _itself),
        ],
        key=lambda row: (row.variant, row.order),
        definition=f"A prompt needs {figures.report.required_text} readable answers. A wording "
        "leans "
        "clearly "
        f"if the interval excludes {_in_words(_limits(figures.report))} (rule as "
        f"{figures.report.options.rule}; Ceron et al. "
        "2024, section 5.4).",
        notes=notes,
        empty="The statement has no wording.",
        link=lambda row: Link("answers", (ref, row.variant, template, row.order)),
        subject=(ref, template),
        minor=_minor,
    )


def _exact_wordings(
    figures: VerdictFigures,
    exact: ExactReport,
    subject: tuple[str, str],
    title: str,
    notes: Sequence[str],
) -> Table[ExactRow]:
    """Return the table of the probabilities of each wording's labels."""
    ref, template = subject
    return Table(
        "wordings",
        title,
        exact.exact_rows(ref, template),
        [
            *_wording_columns(figures, ref, _inner),
            _adds_to(_inner),
            *_probability_columns(exact, _same),
            *_stances(exact, _inner),
            *_sample_columns(exact, _same),
        ],
        key=lambda row: (row.row.variant, row.row.order),
        definition=_exact_definition(exact),
        notes=notes,
        empty="The statement has no wording.",
        link=lambda row: Link("answers", (ref, row.row.variant, template, row.row.order)),
        subject=subject,
        minor=lambda row: _minor(row.row),
    )


def _minor(row: VariantRow) -> bool:
    """Return whether a row only matters for the agreement per statement.

    These are the swapped wordings, except the original.
    """
    return row.order != PRINTED_ORDER and row.variant != str(ORIGINAL)


def _itself(row: VariantRow) -> VariantRow:
    """Return the row."""
    return row


def _same(row: ExactRow) -> ExactRow:
    """Return the row."""
    return row


def _inner(row: ExactRow) -> VariantRow:
    """Return the row of the wording in a row of probabilities."""
    return row.row


def _leaning(row: VariantRow) -> Estimate:
    """Return the share of agreement with its exact bootstrap interval."""
    undefined = "" if row.readable else "no readable answer"
    name = "leaning" if row.readable else ""
    return Estimate(
        row.leaning,
        row.low,
        row.high,
        row.readable,
        row.total - row.readable,
        undefined,
        interval=name,
    )


def _wilson(row: VariantRow) -> Estimate:
    """Return the share of agreement with Wilson's interval."""
    share = _leaning(row)
    if not share.defined:
        return share
    low, high = map(float, wilson_interval(row.positive, row.readable))
    return replace(share, low=low, high=high, interval="leaning, Wilson's")


def _limits(report: ReliabilityReport) -> tuple[float, ...]:
    """Return the limits that the interval of a clear leaning excludes."""
    options = report.options
    return (options.high,) if options.rule == "coded" else (options.low, options.high)


def _limits_of(report: ReliabilityReport) -> Callable[[VariantRow], tuple[float, ...]]:
    """Return a function that gives every row the limits of a clear leaning."""
    return lambda row: _limits(report)  # noqa: ARG005  every row has the same


def _in_words(ends: Sequence[float]) -> str:
    """Return limits as text, as in `45 % and 55 %`."""
    return " and ".join(f"{100 * limit:g} %" for limit in ends)


def _wording_columns(
    figures: VerdictFigures, ref: str, inner: Callable[[Row], VariantRow]
) -> list[Column[Row]]:
    """Return the columns of the wording's name, label order and text."""
    return [
        Column("variant", "wording", lambda row: inner(row).variant),
        Column(
            "order",
            "labels",
            lambda row: inner(row).order,
            help="order of the two answer labels in the prompt",
        ),
        Column(
            "text", "text", lambda row: figures.text(ref, inner(row).variant), main=True, aside=True
        ),
    ]


def _stances(report: ReliabilityReport, inner: Callable[[Row], VariantRow]) -> list[Column[Row]]:
    """Return the columns of the stance of the answers, and of the expected stance."""
    side_text = (
        "of one half"
        if isinstance(report, ExactReport)
        else "stance of most readable answers; a tie has none"
    )
    return [
        Column(
            "stance",
            "stance",
            lambda row: stance_name(inner(row).stance),
            help=f"the side {side_text}",
        ),
        Column(
            "expected",
            "expected",
            lambda row: stance_name(inner(row).expected),
            help="expected from the stance on the original: the same on paraphrases and swapped "
            "labels, the opposite "
            "stance on negation and opposite",
        ),
    ]


def _adds_to(inner: Callable[[Row], VariantRow]) -> Column[Row]:
    """Return the column of the tests to which a row contributes."""
    return Column(
        "tests",
        "tests",
        lambda row: decides(inner(row).tests),
        Kind.WORDS,
        help="tests that the row counts in, failed tests first",
    )


def stance_name(stance_of_row: Stance | None) -> str | None:
    """Return the name of a stance, or None if there is no stance."""
    return stance_of_row.value if stance_of_row else None


def decides(tests: Sequence[TestContribution]) -> list[str]:
    """Return the outcome of a prompt for each test, the failed ones first, as in `✗ neg`."""
    order = [Verdict.FAIL, Verdict.INSUFFICIENT, Verdict.PASS, Verdict.VOID]
    contributions = sorted(tests, key=lambda contribution: order.index(contribution.verdict))
    return [
        f"{MARKS[contribution.verdict]} {EVERY[contribution.test].short}"
        for contribution in contributions
    ]


# ── probabilities of labels ───────────────────────────────────────────────────────────────────────


def _probability_columns(
    exact: ExactReport, exact_row: Callable[[Row], ExactRow]
) -> list[Column[Row]]:
    """Return the columns of the probabilities of the labels."""
    return [
        Column(
            "positive",
            "p(agree)",
            lambda row: exact_row(row).positive,
            Kind.SHARE,
            aside=True,
            help="of the label that agrees",
        ),
        Column(
            "negative",
            "p(disagree)",
            lambda row: exact_row(row).negative,
            Kind.SHARE,
            aside=True,
            help="of the other label",
        ),
        Column(
            "leaning",
            "agree",
            lambda row: exact_row(row).row.leaning,
            Kind.SHARE,
            help="p(agree) / (p(agree) + p(disagree))",
            scale=(0.0, 1.0),
            reference=lambda row: (exact.options.low, exact.options.high),  # noqa: ARG005  every row has the same
        ),
        Column(
            "named",
            "on labels",
            lambda row: exact_row(row).named,
            Kind.SHARE,
            help=f"share of the model's probability on the two labels: {RULES[exact.mass.version]}",
        ),
    ]


def _sample_columns(exact: ExactReport, exact_row: Callable[[Row], ExactRow]) -> list[Column[Row]]:
    """Return the columns of the probabilities of each outcome of samples."""
    n = exact.options.beside
    return [
        Column(
            "sampled_reliable",
            f"clear in {n}",
            lambda row: exact_row(row).reliable,
            Kind.SHARE,
            help=f"probability that {n} samples lean clearly by the rule as {exact.options.rule}",
        ),
        *(
            Column(
                f"sampled_{name}",
                f"{title} in {n}",
                _outcome_probability(exact_row, name),
                Kind.SHARE,
                aside=True,
                help=f"probability that {meaning} of {n} samples",
            )
            for name, title, meaning in (
                ("agree", "agree", "most agree"),
                ("disagree", "disagree", "most disagree"),
                ("tie", "tie", "agree and disagree equally often"),
                ("few", "too few", "too few readable"),
            )
        ),
    ]


def _outcome_probability(exact_row: Callable[[Row], ExactRow], name: str) -> Callable[[Row], float]:
    """Return the function that reads the probability of one outcome of samples from a row."""
    return lambda row: float(getattr(exact_row(row), name))


def _exact_definition(exact: ExactReport) -> str:
    """Return the definition of the tables of exact probabilities."""
    options = exact.options
    return (
        "The leaning is the share of agreement among answers that begin with a label, computed "
        "instead of sampled. A prompt leans clearly outside "
        f"{100 * options.low:g}–{100 * options.high:g} %. If the labels have less than "
        f"{100 * exact.options.named:g} % of the probability, the prompt is insufficient."
    )


@dataclass(frozen=True, slots=True)
class PromptProbabilities:
    """The probabilities of one prompt, with its statement, variant, template and label order."""

    place: Place
    row: ExactRow
    tokens: tuple[tuple[str, float], ...] | None
    "likeliest next tokens with their probabilities; None: the backend names none"
    rest: float = math.nan
    "probability of all other tokens"

    @property
    def failed(self) -> bool:
        """Whether the prompt could not be scored."""
        return math.isnan(self.row.named)


def scored_prompts(
    exact: ExactReport, tokens: Tokens, statement: str = "", template: str = ""
) -> Iterator[PromptProbabilities]:
    """Yield each prompt that was asked: of a statement or all, under a template or all.

    Raises UnknownName.
    """
    for ref in [statement] if statement else exact.counts.statements:
        for name in [template] if template else exact.counts.templates:
            for row in exact.exact_rows(ref, name):
                prompt = (ref, row.row.variant, name, row.row.order)
                if not math.isnan(row.named) or exact.failed(*prompt):
                    yield PromptProbabilities(prompt, row, *tokens.get(prompt, (None, math.nan)))


def prompts(exact: ExactReport, rows: Sequence[PromptProbabilities]) -> Table[PromptProbabilities]:
    """Return the table of the probabilities of prompts."""
    return Table(
        "prompts",
        "Probabilities of the answer labels",
        rows,
        [
            Column("statement", "statement", lambda row: row.place[0]),
            Column("variant", "variant", lambda row: row.place[1]),
            Column("template", "template", lambda row: row.place[2]),
            Column("order", "labels", lambda row: row.place[3]),
            *_probability_columns(exact, _row_of),
            Column(
                "stance",
                "stance",
                lambda row: "failed" if row.failed else stance_name(row.row.row.stance),
            ),
            *_sample_columns(exact, _row_of),
            Column("next_tokens", "likeliest next tokens", _likeliest, Kind.WORDS),
            Column("rest", "other tokens", lambda row: row.rest, Kind.SHARE, aside=True),
        ],
        key=lambda row: row.place,
        definition=_exact_definition(exact),
        notes=[
            "p(agree), p(disagree): probability that the answer begins with the label that "
            "agrees, or rejects"
        ],
        empty="No prompt was scored.",
    )


def _row_of(row: PromptProbabilities) -> ExactRow:
    """Return the row of probabilities of a prompt."""
    return row.row


def _likeliest(row: PromptProbabilities) -> list[str]:
    """Return the likeliest next tokens of a prompt, with their probabilities, as texts."""
    if row.failed:
        return []
    if row.tokens is None:
        return ["not offered by this backend"]
    return [f"{spaced(text)} {100 * share:.1f} %," for text, share in row.tokens[:LIKELIEST]]


def spaced(token: str) -> str:
    """Return a token with visible spaces."""
    return token.replace(" ", "␣") or "(nothing)"


def next_tokens(
    rows: Sequence[PromptProbabilities],
) -> Table[tuple[PromptProbabilities, str, float]]:
    """Return the table of the likeliest next tokens of prompts, one per row."""
    return Table(
        "next_tokens",
        "Likeliest next tokens",
        [(row, text, share) for row in rows for text, share in row.tokens or ()],
        [
            Column("statement", "statement", lambda row: row[0].place[0]),
            Column("variant", "variant", lambda row: row[0].place[1]),
            Column("template", "template", lambda row: row[0].place[2]),
            Column("order", "labels", lambda row: row[0].place[3]),
            Column("text", "token", lambda row: row[1]),
            Column("probability", "probability", lambda row: row[2], Kind.SHARE),
        ],
        key=lambda row: (*row[0].place, row[1]),
        empty="The backend names no next tokens.",
    )


@dataclass(frozen=True, slots=True)
class Beginning:
    """A possible beginning of an answer to a prompt, with its probability."""

    what: str
    text: str | None
    "None: all beginnings that have no row of their own; `others` is their number"
    probability: float
    others: int = 0
    "number of beginnings in the row; 0 if it is unknown"


LEAST = 0.0005
"smallest probability with which a spelling has a row of its own"


def beginnings(
    spelled: Sequence[tuple[str, float]], tokens: Sequence[tuple[str, float]] | None, rest: float
) -> Iterator[Beginning]:
    """Yield the spellings of the labels with their probabilities, and the known next tokens.

    Parameters
    ----------
    spelled : spellings with their probabilities
    tokens : likeliest next tokens with their probabilities; None: unknown
    rest : probability of all tokens that are not named
    """
    frequent = [spelling for spelling in spelled if spelling[1] >= LEAST]
    yield from (Beginning("label", text, share) for text, share in frequent)
    if n_others := len(spelled) - len(frequent):
        yield Beginning(
            "label",
            None,
            sum(share for _, share in spelled) - sum(share for _, share in frequent),
            n_others,
        )
    if tokens is not None:
        yield from (Beginning("next token", text, share) for text, share in tokens)
        yield Beginning("next token", None, rest)


def beginnings_table(
    title: str, rows: Sequence[Beginning], notes: Sequence[str]
) -> Table[Beginning]:
    """Return the table of the beginnings of answers to one prompt.

    Parameters
    ----------
    notes : notes on the prompt, and on the source of the figures
    """
    has_tokens = any(row.what == "next token" for row in rows)
    return Table(
        "beginnings",
        title,
        rows,
        [
            Column(
                "what",
                "what",
                lambda row: row.what,
                help="a spelling of a label, or the likeliest next tokens",
            ),
            Column("text", "text", _beginning, help="␣ is a space"),
            Column(
                "probability",
                "probability",
                lambda row: row.probability,
                Kind.SHARE,
                scale=(0.0, 1.0),
            ),
        ],
        key=lambda row: (row.what, row.text if row.text is not None else "all others"),
        definition="Probability of each beginning of the model's answer. The labels are those of "
        "the prompt, in "
        "each spelling that counts for them.",
        notes=[*notes, *([] if has_tokens or not rows else ["The backend names no next tokens."])],
        empty="Nothing was scored.",
    )


def _beginning(row: Beginning) -> str:
    """Return the text of a beginning, with visible spaces."""
    if row.text is not None:
        return spaced(row.text)
    return plural(row.others, "other spelling") if row.others else "all others"
