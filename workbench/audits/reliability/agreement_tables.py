"""Tables of the agreement between versions of statements: of a model, a coin and people."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from workbench.audits.reliability.agreement import (
    KINDS,
    LABEL_ORDER,
    AcrossTemplates,
    AgreementRow,
    Bound,
    ComparisonSize,
    ItemAgreementRow,
    as_people,
)
from workbench.audits.reliability.judge import ReliabilityReport
from workbench.audits.reliability.judged import VerdictFigures
from workbench.audits.reliability.options import KIND_OF_TEST
from workbench.audits.reliability.tables import link_to_details
from workbench.domain.instruments import SurveyAnswer
from workbench.domain.names import plural
from workbench.domain.statements import RELATION_OF, Relation
from workbench.domain.verdicts import Estimate, MeanSd
from workbench.figures.pictures.of_table import Forest
from workbench.figures.table import Column, Kind, Link, Table, in_words

FLIPPED = "flipped"
VARIANTS = in_words([LABEL_ORDER])
SCALE = (-1.0, 1.0)
OVER_STATEMENTS = (
    "Cohen's κ between the stance on the original and on the variant, over statements (Ceron et "
    "al. 2024, section 6.2). The stance on a negation or an opposite should flip: perfect "
    "consistency is -1 raw (nearer 0 where one stance prevails) and 1 after flipping."
)
COIN = (
    "Coin: fair flips, as many per prompt as the run has samples, through the same tests "
    "(section 6.1)."
)
PEOPLE = (
    "People: respondents who answered the same wordings, the upper bound for a model (section 6.1)."
)


@dataclass(frozen=True, slots=True)
class MeanKappaRow:
    """The mean κ of one comparison: that of the model, of a coin and of people."""

    name: str
    flipped: bool
    model: MeanSd
    coin: MeanSd
    people: MeanSd | None
    bound: Estimate | None
    pairs: int | None
    answered: int | None
    "number of respondents who answered such a variant"


def means(figures: VerdictFigures) -> Table[MeanKappaRow]:
    """Return the table of mean κ for the model, for coin flips and for people (section 6.1)."""
    people = {row.name: row for row in figures.people}
    coins = {row.name: row for row in figures.coin_means}
    notes = [
        *(_comparison_note(comparison) for comparison in figures.restricted),
        *_undefined("the model", figures.kappas),
        *_undefined("coin flips", figures.coin_means),
    ]
    if not figures.people:
        notes.append(
            "Nobody has answered the instrument; to measure people as the upper bound: workbench "
            "survey STORE"
        )
    return Table(
        "mean_kappas",
        "Mean κ beside coin flips and people",
        [
            line
            for row in figures.kappas
            for line in _beside(row, coins[row.name], people.get(row.name))
        ],
        [
            *_compared(),
            Column(
                "model",
                "model",
                lambda row: row.model,
                Kind.COEFFICIENT,
                help="mean and sd over templates",
            ),
            Column(
                "coin",
                "coin flips",
                lambda row: row.coin,
                Kind.COEFFICIENT,
                help="mean and sd over templates of fair flips, as many per prompt as the run "
                "has samples",
                short="coin",
            ),
            Column(
                "people",
                f"people ({figures.respondents})",
                lambda row: row.people,
                Kind.COEFFICIENT,
                help="mean and sd over respondents who answered the same wordings: the upper "
                "bound for a model",
                aside=True,
            ),
            Column(
                "bound",
                f"people ({figures.respondents}), interval",
                lambda row: row.bound,
                Kind.COEFFICIENT,
                help="95 % bootstrap over respondents and, within each, over statements",
                scale=SCALE,
                short=f"people ({figures.respondents})",
            ),
            Column(
                "respondents",
                "n",
                lambda row: row.bound.n if row.bound else None,
                Kind.COUNT,
                help="with a κ",
                aside=True,
            ),
            Column("answered", "who answered", lambda row: row.answered, Kind.COUNT, aside=True),
            Column(
                "pairs",
                "pairs",
                lambda row: row.pairs,
                Kind.COUNT,
                aside=True,
                help="people's answers",
            ),
        ],
        key=lambda row: (row.name, FLIPPED if row.flipped else ""),
        definition="The model's and the coin's κ over templates, people's over respondents: the "
        "upper bound for a "
        "model.",
        notes=notes,
        pictures=[
            Forest(
                values=["model", "coin", "bound"],
                rows=["variant", "flipped"],
                axis="κ",
                baselines=["coin flips"],
                whole=True,
            )
        ],
    )


def _beside(row: AgreementRow, coin: AgreementRow, bound: Bound | None) -> Iterator[MeanKappaRow]:
    """Yield the raw κ of a comparison, and the flipped one if the stances should flip."""
    for is_flipped in _ways(row.relation):
        model, flips = (
            agreement.flipped_mean if is_flipped else agreement.raw_mean
            for agreement in (row, coin)
        )
        if bound is None:
            yield MeanKappaRow(row.name, is_flipped, model, flips, None, None, None, None)
        else:
            people = _mean((bound, is_flipped)), _bound((bound, is_flipped))
            yield MeanKappaRow(
                row.name, is_flipped, model, flips, *people, bound.pairs, bound.respondents
            )


def _compared() -> list[Column[MeanKappaRow]]:
    """Return the columns that name a comparison."""
    return [
        Column("variant", "variant", lambda row: row.name, words=VARIANTS),
        Column(
            "flipped",
            "",
            lambda row: row.flipped,
            Kind.MARK,
            mark=FLIPPED,
            help="with the variant's stances flipped",
        ),
    ]


def _comparison_note(comparison: ComparisonSize) -> str:
    """Return a note on how many statements a comparison with people is over."""
    subset = f"over the {plural(comparison.statements, 'statement')} that people answered"
    return f"{comparison.name}: {subset}; left out: {comparison.left_out:,}"


def _undefined(who: str, rows: Sequence[AgreementRow]) -> Iterator[str]:
    """Yield a sentence on why means are undefined, with each reason once."""
    undefined_rows = [row for row in rows if row.raw_mean.n == 0]
    reasons = dict.fromkeys(
        kappa.undefined for row in undefined_rows for kappa in row.raw if kappa.undefined
    )
    if reasons:
        yield f"undefined for {who}: {'; '.join(reasons)}"


AGREEMENT = "Cohen's κ: agreement beyond chance, 1 perfect, 0 as by chance"


@dataclass(frozen=True, slots=True)
class Kappa:
    """κ of one comparison under one template, or of one respondent."""

    name: str
    by: str
    raw: Estimate
    flipped: Estimate | None
    "None if the stances should be the same"
    void: int | None


def restricted(figures: VerdictFigures) -> Table[ComparisonSize]:
    """Return the table of the number of statements behind each comparison with people."""
    return Table(
        "restricted",
        "Statements that people answered",
        figures.restricted,
        [
            Column("variant", "variant", lambda row: row.name, words=VARIANTS),
            Column("statements", "statements", lambda row: row.statements, Kind.COUNT),
            Column("left_out", "left out", lambda row: row.left_out, Kind.COUNT),
        ],
        key=lambda row: (row.name,),
        empty="The kappas are over all statements.",
    )


def kappas(figures: VerdictFigures) -> Table[Kappa]:
    """Return the table of the model's κ under each template (Table 2)."""
    return kappa_table(
        "kappas",
        "κ under each template",
        "template",
        figures.kappas,
        [_comparison_note(comparison) for comparison in figures.restricted],
        link=lambda row: Link("verdicts", (row.by,)),
        published=figures.report.options.as_published,
    )


def kappa_table(
    name: str,
    title: str,
    column_title: str,
    rows: Sequence[AgreementRow],
    notes: Sequence[str] = (),
    subject: tuple[str, ...] = (),
    link: Callable[[Kappa], Link | None] | None = None,
    *,
    published: bool = True,
) -> Table[Kappa]:
    """Return the table of κ by template, or by respondent.

    Parameters
    ----------
    published : whether negations and opposites also have the raw κ, as the paper prints it
    """
    kappa_columns: list[Column[Kappa]] = [
        Column("raw", "κ", lambda row: row.raw, Kind.COEFFICIENT, scale=SCALE, help=AGREEMENT),
        Column(
            "flipped",
            "κ after flipping",
            lambda row: row.flipped,
            Kind.COEFFICIENT,
            scale=SCALE,
            short="flipped",
        ),
    ]
    if not published:
        kappa_columns = [
            Column(
                "kappa",
                "κ",
                lambda row: row.raw if row.flipped is None else row.flipped,
                Kind.COEFFICIENT,
                scale=SCALE,
                help=f"{AGREEMENT}; of negations and opposites after their stances are flipped",
            )
        ]
    void_column: list[Column[Kappa]] = [
        Column(
            "void",
            "void",
            lambda row: row.void,
            Kind.COUNT,
            aside=True,
            help="pairs of one prompt with itself, left out",
        )
    ]
    return Table(
        name,
        title,
        [kappa for row in rows for kappa in _kappas(row)],
        [
            Column("variant", "variant", lambda row: row.name, words=VARIANTS),
            Column(column_title, column_title, lambda row: row.by),
            *kappa_columns,
            Column(
                "n", "pairs", lambda row: row.raw.n, Kind.COUNT, help="with a stance on both sides"
            ),
            Column(
                "excluded",
                "left out",
                lambda row: row.raw.excluded,
                Kind.COUNT,
                help="pairs without",
                short="out",
            ),
            *(void_column if any(row.void for row in rows) else ()),
        ],
        key=lambda row: (row.name, row.by),
        definition=f"{OVER_STATEMENTS} The interval is a seeded 95 % bootstrap over statements.",
        notes=notes,
        subject=subject,
        link=link,
        pictures=[
            Forest(values=[kappa_columns[0].key], rows=["variant"], series=column_title, whole=True)
        ],
    )


def _kappas(row: AgreementRow) -> Iterator[Kappa]:
    """Yield the κ of a comparison by template, or by respondent."""
    n_void: Sequence[int | None] = row.void or [None] * len(row.by)
    is_flipped = row.relation is Relation.FLIPPED
    for template, raw, flipped, n_void_pairs in zip(
        row.by, row.raw, row.flipped, n_void, strict=True
    ):
        yield Kappa(row.name, template, raw, flipped if is_flipped else None, n_void_pairs)


def agreement_across_templates(figures: VerdictFigures) -> Table[AcrossTemplates]:
    """Return the table of the agreement between templates on the originals (Table 3)."""
    n_alike = int(figures.report.voids.template.sum())
    verb = "is" if n_alike == 1 else "are"
    notes = (
        [f"{plural(n_alike, 'statement')} with one text under all templates {verb} in neither"]
        if n_alike
        else []
    )
    return Table(
        "across_templates",
        "Agreement between templates",
        [figures.report.across_templates],
        [
            Column(
                "alpha",
                "Krippendorff's α",
                lambda row: row.alpha,
                Kind.COEFFICIENT,
                help="nominal; units are statements, raters are templates",
                scale=SCALE,
            ),
            Column("units", "statements", lambda row: row.alpha.n, Kind.COUNT),
            Column(
                "same",
                "same stance under all",
                lambda row: row.same,
                Kind.SHARE,
                help="of the statements with enough readable answers under each template",
                scale=(0.0, 1.0),
            ),
            Column("known", "of statements", lambda row: row.same.n, Kind.COUNT),
            Column(
                "excluded",
                "too few",
                lambda row: row.same.excluded,
                Kind.COUNT,
                help="statements left out",
            ),
        ],
        key=lambda row: ("all",),  # noqa: ARG005  there is one row
        definition="Stance on the originals in printed label order, under every template "
        "(section 6.2).",
        notes=notes,
    )


def items(figures: VerdictFigures) -> Table[tuple[str, str, ItemAgreementRow]]:
    """Return the table of the agreement between each statement and its other wordings."""
    report = figures.report
    rows = [
        (ref, kind, report.item_agreement(kind).of(row))
        for row, ref in enumerate(report.counts.statements)
        for kind in KIND_OF_TEST
    ]
    return Table(
        "item_agreement",
        "Agreement per statement",
        rows,
        [
            Column("statement", "statement", lambda row: row[0]),
            Column("variant", "variant", lambda row: row[1], words=VARIANTS),
            Column(
                "kappa_flipped",
                "κ",
                lambda row: row[2].kappa_flipped,
                Kind.COEFFICIENT,
                scale=SCALE,
                help="Cohen's κ: agreement beyond chance, 1 perfect, 0 as by chance",
            ),
            Column(
                "observed_flipped",
                "observed",
                lambda row: row[2].observed_flipped,
                Kind.SHARE,
                scale=(0.0, 1.0),
            ),
            Column(
                "ac1_flipped",
                "Gwet's AC1",
                lambda row: row[2].ac1_flipped,
                Kind.COEFFICIENT,
                scale=SCALE,
                help="agreement beyond chance, defined where κ is not because all stances are "
                "equal",
            ),
            Column("n", "pairs", lambda row: row[2].kappa.n, Kind.COUNT),
            Column(
                "kappa",
                "κ, raw",
                lambda row: row[2].kappa,
                Kind.COEFFICIENT,
                aside=True,
                help="before flipping",
            ),
            Column(
                "observed", "observed, raw", lambda row: row[2].observed, Kind.SHARE, aside=True
            ),
            Column("ac1", "AC1, raw", lambda row: row[2].ac1, Kind.COEFFICIENT, aside=True),
        ],
        key=lambda row: (row[0], row[1]),
        definition="Between the original and its variants, over paired conditions (template × "
        "label order × "
        "paraphrase); flipped where the stance should flip, except in the raw columns.",
        notes=[
            "[ ]: 95 % interval over templates. κ has none: too few templates for a valid interval"
        ],
        link=lambda row: link_to_details(figures, row[0]),
    )


def people(name: str, bounds: Sequence[Bound], named: str = "people") -> Table[tuple[Bound, bool]]:
    """Return the table of people's mean κ, the upper bound for models (section 6.1).

    Parameters
    ----------
    named : name of the table
    """
    return Table(
        named,
        f"{name}: people's mean κ, the upper bound for models",
        [(bound, is_flipped) for bound in bounds for is_flipped in _ways(bound.relation)],
        [
            Column("variant", "variant", lambda row: row[0].name, words=VARIANTS),
            Column(
                "flipped",
                "",
                lambda row: row[1],
                Kind.MARK,
                mark=FLIPPED,
                help="with the variant's stances flipped",
            ),
            Column(
                "mean",
                "mean",
                lambda row: _mean(row),
                Kind.COEFFICIENT,
                help="mean and sd over respondents",
            ),
            Column(
                "bound",
                "interval",
                lambda row: _bound(row),
                Kind.COEFFICIENT,
                help="95 % bootstrap",
                scale=SCALE,
            ),
            Column(
                "n",
                "respondents",
                lambda row: _bound(row).n,
                Kind.COUNT,
                help="with a κ",
                short="n",
            ),
            Column(
                "answered", "who answered", lambda row: row[0].respondents, Kind.COUNT, aside=True
            ),
            Column("pairs", "pairs", lambda row: row[0].pairs, Kind.COUNT),
        ],
        key=lambda row: (row[0].name, FLIPPED if row[1] else ""),
        definition="The interval resamples respondents and, within each, statements.",
        empty="Nobody has answered the instrument.",
        subject=(name,),
    )


def _ways(relation: Relation) -> tuple[bool, ...]:
    """Return whether a relation is shown as it is and flipped, or only as it is."""
    return (False, True) if relation is Relation.FLIPPED else (False,)


def _mean(row: tuple[Bound, bool]) -> MeanSd:
    """Return the mean of a row, flipped if the row is."""
    return row[0].flipped_mean if row[1] else row[0].raw_mean


def _bound(row: tuple[Bound, bool]) -> Estimate:
    """Return the interval of a row, flipped if the row is."""
    return row[0].flipped if row[1] else row[0].raw


def people_kappas(name: str, rows: Sequence[AgreementRow]) -> Table[Kappa]:
    """Return the table of the κ of each respondent."""
    return kappa_table(
        "people_kappas", f"{name}: κ of each respondent", "respondent", rows, subject=(name,)
    )


PEOPLE_LAST = "people"
UNANSWERED = "No model has answered yet."


@dataclass(frozen=True, slots=True)
class MeanKappas:
    """The mean κ over templates, or over respondents, for each comparison."""

    name: str
    raw: Mapping[str, MeanSd]
    "by comparison: paraphrase, negation, opposite, label_order"
    flipped: Mapping[str, MeanSd]
    "with the variant's stances turned round if they should be"
    statements: Mapping[str, int] = field(default_factory=dict)
    "number of statements of each comparison; empty for people"
    people: bool = False


def model_kappas(
    reports: Mapping[str, ReliabilityReport],
    people: Sequence[Bound],
    survey: Sequence[SurveyAnswer],
    *,
    restricted: bool,
) -> Table[MeanKappas]:
    """Return the table of the mean κ of every model, and of people (Ceron et al. 2024, Table 2).

    Parameters
    ----------
    restricted : whether a model's κ is only over the statements that people answered, as
        published. Raises UsageError if nobody answered
    """
    rows = [_of_model(name, report, survey, restricted) for name, report in reports.items()]
    if people:
        raw = {bound.name: bound.raw_mean for bound in people}
        rows.append(
            MeanKappas(
                PEOPLE_LAST, raw, {bound.name: bound.flipped_mean for bound in people}, people=True
            )
        )
    kinds = [kind.value for kind in KINDS]
    flipped_kinds = [kind.value for kind in KINDS if RELATION_OF[kind] is Relation.FLIPPED]
    subset = "the statements that people answered" if restricted else "all statements"
    return Table(
        "model_kappas_as_people" if restricted else "model_kappas",
        f"Mean κ of each model over {subset}",
        rows,
        [
            Column("model", "model", lambda row: row.name),
            *(_kappa(name, name, "raw") for name in kinds),
            *(
                _kappa(f"{name}_flipped", f"{name}, flipped", "flipped", name, aside=True)
                for name in flipped_kinds
            ),
            _kappa(LABEL_ORDER, "label order", "raw", aside=True),
            *(_statements(name) for name in kinds),
        ],
        key=lambda row: ("people" if row.people else "model", row.name),
        definition=f"{OVER_STATEMENTS} Mean and sd over templates; people's are over respondents.",
        notes=[]
        if people
        else ["Nobody has answered the instrument; people answer with: workbench survey STORE"],
        empty=UNANSWERED,
    )


def _of_model(
    name: str, report: ReliabilityReport, survey: Sequence[SurveyAnswer], restricted: bool
) -> MeanKappas:
    """Return the mean κ of one model."""
    refs_by_comparison, comparisons = as_people(report, survey) if restricted else (None, ())
    agreements: Sequence[AgreementRow] = report.agreement(refs_by_comparison)
    n_statements = dict.fromkeys((row.name for row in agreements), len(report.counts.statements))
    return MeanKappas(
        name,
        {row.name: row.raw_mean for row in agreements},
        {row.name: row.flipped_mean for row in agreements},
        n_statements | {comparison.name: comparison.statements for comparison in comparisons},
    )


def _kappa(
    key: str, title: str, way: str, name: str = "", *, aside: bool = False
) -> Column[MeanKappas]:
    """Return a column of mean κ."""
    return Column(
        key,
        title,
        lambda row: getattr(row, way).get(name or key),
        Kind.COEFFICIENT,
        aside=aside,
        help="mean (sd)",
    )


def _statements(name: str) -> Column[MeanKappas]:
    """Return the column of the number of statements behind a comparison."""
    return Column(
        f"{name}_statements",
        f"{name}: statements",
        lambda row: row.statements.get(name),
        Kind.COUNT,
        aside=True,
    )
