"""Figures of the wordings of a statement: what a model answered to each, sampled or as
probabilities of the labels.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from workbench.audits.reliability.counting import TEMPLATE
from workbench.audits.reliability.expected import ExactReport, ExactRow
from workbench.audits.reliability.judge import Decides, ReliabilityReport, VariantRow
from workbench.audits.reliability.judged import VerdictFigures
from workbench.audits.reliability.options import EVERY, TESTS
from workbench.audits.reliability.tables import since, why
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
"next tokens of a prompt that stand in its row; a table of their own has all"


def wordings(of: VerdictFigures, ref: str, template: str) -> AnyTable:
    """Return what was answered to each wording of a statement in each label order under one
    template.
    """
    found = [*why(of, ref, template, (*TESTS, TEMPLATE))] or [
        "✓ passes every test under this template"
    ]
    notes = [*found, *since(of.changed, ref), *of.of_those_drawn]
    title = f"{ref} under {template}: {of.text(ref)}"
    if of.exact is not None:
        return _exact_wordings(of, of.exact, (ref, template), title, notes)
    return Table(
        "wordings",
        title,
        of.report.variants(ref, template),
        [
            *_wording(of, ref, _itself),
            _adds_to(_itself),
            Column(
                "leaning",
                "agree",
                _leaning,
                Kind.SHARE,
                help="share of the readable answers that agree, with its exact 95 % bootstrap "
                "interval",
                scale=(0.0, 1.0),
                reference=_limits_of(of.report),
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
            *_stances(of.report, _itself),
        ],
        key=lambda row: (row.variant, row.order),
        definition=f"A prompt needs {of.report.needed_words} readable answers. A wording leans "
        "clearly "
        f"if the interval excludes {_in_words(_limits(of.report))} (rule as "
        f"{of.report.options.rule}; Ceron et al. "
        "2024, section 5.4).",
        notes=notes,
        empty="The statement has no wording.",
        link=lambda row: Link("answers", (ref, row.variant, template, row.order)),
        subject=(ref, template),
        minor=_minor,
    )


def _exact_wordings(
    of: VerdictFigures,
    exact: ExactReport,
    subject: tuple[str, str],
    title: str,
    notes: Sequence[str],
) -> Table[ExactRow]:
    ref, template = subject
    return Table(
        "wordings",
        title,
        exact.exact_rows(ref, template),
        [
            *_wording(of, ref, _inner),
            _adds_to(_inner),
            *_probabilities(exact, _same),
            *_stances(exact, _inner),
            *_samples(exact, _same),
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
    """Return whether a row takes part in the agreement per statement alone: a swapped wording, save
    the original.
    """
    return row.order != PRINTED_ORDER and row.variant != str(ORIGINAL)


def _itself(row: VariantRow) -> VariantRow:
    return row


def _same(row: ExactRow) -> ExactRow:
    return row


def _inner(row: ExactRow) -> VariantRow:
    return row.row


def _leaning(row: VariantRow) -> Estimate:
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
    found = _leaning(row)
    if not found.defined:
        return found
    low, high = map(float, wilson_interval(row.positive, row.readable))
    return replace(found, low=low, high=high, interval="leaning, Wilson's")


def _limits(report: ReliabilityReport) -> tuple[float, ...]:
    """Return what the interval of a clear leaning leaves out."""
    options = report.options
    return (options.high,) if options.rule == "coded" else (options.low, options.high)


def _limits_of(report: ReliabilityReport) -> Callable[[VariantRow], tuple[float, ...]]:
    return lambda row: _limits(report)  # noqa: ARG005  every row has the same


def _in_words(ends: Sequence[float]) -> str:
    """Return `45 % and 55 %`."""
    return " and ".join(f"{100 * end:g} %" for end in ends)


def _wording(of: VerdictFigures, ref: str, inner: Callable[[Row], VariantRow]) -> list[Column[Row]]:
    return [
        Column("variant", "wording", lambda row: inner(row).variant),
        Column(
            "order",
            "labels",
            lambda row: inner(row).order,
            help="order of the two answer labels in the prompt",
        ),
        Column("text", "text", lambda row: of.text(ref, inner(row).variant), main=True, aside=True),
    ]


def _stances(report: ReliabilityReport, inner: Callable[[Row], VariantRow]) -> list[Column[Row]]:
    """Return what the answers say, what the original asks for, and what comes of it."""
    side = (
        "of one half"
        if isinstance(report, ExactReport)
        else "stance of most readable answers; a tie has none"
    )
    return [
        Column("stance", "stance", lambda row: stance(inner(row).stance), help=f"the side {side}"),
        Column(
            "expected",
            "expected",
            lambda row: stance(inner(row).expected),
            help="expected from the stance on the original: the same on paraphrases and swapped "
            "labels, the opposite "
            "stance on negation and opposite",
        ),
    ]


def _adds_to(inner: Callable[[Row], VariantRow]) -> Column[Row]:
    return Column(
        "tests",
        "tests",
        lambda row: decides(inner(row).tests),
        Kind.WORDS,
        help="tests that the row counts in, failed tests first",
    )


def stance(found: Stance | None) -> str | None:
    return found.value if found else None


def decides(tests: Sequence[Decides]) -> list[str]:
    """Return what a prompt does to each test, the failing first: `✗ neg`."""
    order = [Verdict.FAIL, Verdict.INSUFFICIENT, Verdict.PASS, Verdict.VOID]
    found = sorted(tests, key=lambda one: order.index(one.verdict))
    return [f"{MARKS[one.verdict]} {EVERY[one.test].short}" for one in found]


# ── probabilities of labels ───────────────────────────────────────────────────────────────────────


def _probabilities(exact: ExactReport, of: Callable[[Row], ExactRow]) -> list[Column[Row]]:
    return [
        Column(
            "positive",
            "p(agree)",
            lambda row: of(row).positive,
            Kind.SHARE,
            aside=True,
            help="of the label that agrees",
        ),
        Column(
            "negative",
            "p(disagree)",
            lambda row: of(row).negative,
            Kind.SHARE,
            aside=True,
            help="of the other label",
        ),
        Column(
            "leaning",
            "agree",
            lambda row: of(row).row.leaning,
            Kind.SHARE,
            help="p(agree) / (p(agree) + p(disagree))",
            scale=(0.0, 1.0),
            reference=lambda row: (exact.options.low, exact.options.high),  # noqa: ARG005  every row has the same
        ),
        Column(
            "named",
            "on labels",
            lambda row: of(row).named,
            Kind.SHARE,
            help=f"share of the model's probability on the two labels: {RULES[exact.mass.version]}",
        ),
    ]


def _samples(exact: ExactReport, of: Callable[[Row], ExactRow]) -> list[Column[Row]]:
    """Return what samples would say."""
    n = exact.options.beside
    return [
        Column(
            "sampled_reliable",
            f"clear in {n}",
            lambda row: of(row).reliable,
            Kind.SHARE,
            help=f"probability that {n} samples lean clearly by the rule as {exact.options.rule}",
        ),
        *(
            Column(
                f"sampled_{name}",
                f"{title} in {n}",
                _sampled(of, name),
                Kind.SHARE,
                aside=True,
                help=f"probability that {says} of {n} samples",
            )
            for name, title, says in (
                ("agree", "agree", "most agree"),
                ("disagree", "disagree", "most disagree"),
                ("tie", "tie", "agree and disagree equally often"),
                ("few", "too few", "too few readable"),
            )
        ),
    ]


def _sampled(of: Callable[[Row], ExactRow], name: str) -> Callable[[Row], float]:
    return lambda row: float(getattr(of(row), name))


def _exact_definition(exact: ExactReport) -> str:
    options = exact.options
    return (
        "The leaning is the share of agreement among answers that begin with a label, computed "
        "instead of sampled. A "
        f"prompt leans clearly outside {100 * options.low:g}–{100 * options.high:g} %. If the "
        "labels have less than "
        f"{100 * exact.options.named:g} % of the probability, the prompt is insufficient."
    )


@dataclass(frozen=True, slots=True)
class ScoredPrompt:
    """The probabilities of one prompt, wherever it stands."""

    place: Place
    row: ExactRow
    tokens: tuple[tuple[str, float], ...] | None
    "the likeliest next tokens with their probabilities; None: the backend names none"
    rest: float = math.nan
    "probability of all other tokens"

    @property
    def failed(self) -> bool:
        return math.isnan(self.row.named)


def scored_prompts(
    exact: ExactReport, tokens: Tokens, statement: str = "", template: str = ""
) -> Iterator[ScoredPrompt]:
    """Yield each prompt that was asked: of a statement or of all, under a template or under all.
    Raises UnknownName.
    """
    for ref in [statement] if statement else exact.counts.statements:
        for name in [template] if template else exact.counts.templates:
            for row in exact.exact_rows(ref, name):
                place = (ref, row.row.variant, name, row.row.order)
                if not math.isnan(row.named) or exact.failed(*place):
                    yield ScoredPrompt(place, row, *tokens.get(place, (None, math.nan)))


def prompts(exact: ExactReport, rows: Sequence[ScoredPrompt]) -> Table[ScoredPrompt]:
    """Return what was computed for prompts."""
    return Table(
        "prompts",
        "Probabilities of the answer labels",
        rows,
        [
            Column("statement", "statement", lambda row: row.place[0]),
            Column("variant", "variant", lambda row: row.place[1]),
            Column("template", "template", lambda row: row.place[2]),
            Column("order", "labels", lambda row: row.place[3]),
            *_probabilities(exact, _row_of),
            Column(
                "stance",
                "stance",
                lambda row: "failed" if row.failed else stance(row.row.row.stance),
            ),
            *_samples(exact, _row_of),
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


def _row_of(row: ScoredPrompt) -> ExactRow:
    return row.row


def _likeliest(row: ScoredPrompt) -> list[str]:
    if row.failed:
        return []
    if row.tokens is None:
        return ["not offered by this backend"]
    return [f"{spaced(text)} {100 * share:.1f} %," for text, share in row.tokens[:LIKELIEST]]


def spaced(token: str) -> str:
    """Return a token so that its spaces can be seen."""
    return token.replace(" ", "␣") or "(nothing)"


def next_tokens(rows: Sequence[ScoredPrompt]) -> Table[tuple[ScoredPrompt, str, float]]:
    """Return the likeliest next tokens of prompts, each in a row."""
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
    """How an answer to a prompt may begin, and how probable that is."""

    what: str
    text: str | None
    "None: all that have no row of their own, counted in `others`"
    probability: float
    others: int = 0
    "how many; 0 where nobody knows"


LEAST = 0.0005
"probability from which a spelling has a row of its own"


def beginnings(
    spelled: Sequence[tuple[str, float]], tokens: Sequence[tuple[str, float]] | None, rest: float
) -> Iterator[Beginning]:
    """Yield the spellings of the labels with their probabilities, and the likeliest next tokens
    where they are known.

    `rest`: the probability of all tokens that are not named.
    """
    shown = [one for one in spelled if one[1] >= LEAST]
    yield from (Beginning("label", text, share) for text, share in shown)
    if others := len(spelled) - len(shown):
        yield Beginning(
            "label",
            None,
            sum(share for _, share in spelled) - sum(share for _, share in shown),
            others,
        )
    if tokens is not None:
        yield from (Beginning("next token", text, share) for text, share in tokens)
        yield Beginning("next token", None, rest)


def beginnings_table(
    title: str, rows: Sequence[Beginning], told: Sequence[str]
) -> Table[Beginning]:
    """Return the probabilities of one prompt. `told`: what is to be said of it, and where the
    figures come from.
    """
    named = any(row.what == "next token" for row in rows)
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
        notes=[*told, *([] if named or not rows else ["The backend names no next tokens."])],
        empty="Nothing was scored.",
    )


def _beginning(row: Beginning) -> str:
    if row.text is not None:
        return spaced(row.text)
    return plural(row.others, "other spelling") if row.others else "all others"
