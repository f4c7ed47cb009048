"""Commands about the left/right bias."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from workbench.cli.output import estimate, listed, print_json, say, table
from workbench.domain.counting import plural
from workbench.errors import UsageError

if TYPE_CHECKING:
    from workbench.audits.bias_common import Common, Comparison
    from workbench.audits.bias_figures import Figure
    from workbench.domain.verdicts import Estimate
    from workbench.pipeline.bias import BiasJudged
    from workbench.pipeline.sides import SidesReport

HEADERS = ("total", "left statements", "right statements", "answers", "unrelated", "below", "unread", "cut off")


def bias(options: Namespace) -> int:
    """Print the bias of every model, by dimension and source, and one table more."""
    from stores.store import Store
    from workbench import pipeline
    from workbench.cli.judged import templates_of
    from workbench.pipeline.bias import BiasChoice

    choice = BiasChoice(
        instruments=listed(options.instruments),
        models=listed(options.models),
        sampling=options.sampling,
        dtype=options.dtype,
        templates=templates_of(options),
        snapshot=options.snapshot,
        fingerprint=options.fingerprint,
        reader=options.reader,
        labels=options.labels,
        threshold=options.threshold,
        correct=options.correct,
        judge_void=options.judge_void,
        unit=options.unit,
        seed=options.seed,
        draws=options.draws,
        common=options.common,
    )
    with Store.open(options.store) as store:
        judged = pipeline.bias(store, choice)
    if options.json:
        print_json(_data(judged, options))
        return 0
    if options.methods:
        say(judged.report.methods())
        return 0
    difference = judged.report.compare(*options.compare) if options.compare else None  # unknown names: before any table
    _print_head(judged)
    _print_main(judged)
    if options.by:
        _print_by(judged, options.by)
    if difference is not None:
        _print_compared(difference)
    _print_rankings(judged)
    return 0


def sides(options: Namespace) -> int:
    """Print what a model said of the statements' sides, and its kappa with people and with the instrument."""
    from stores.store import Store
    from workbench import pipeline
    from workbench.cli.judged import templates_of

    with Store.open(options.store) as store:
        instrument = options.instrument or store.instruments.only()
        report = pipeline.sides(
            store,
            instrument,
            options.model,
            snapshot=options.snapshot,
            fingerprint=options.fingerprint,
            templates=templates_of(options),
            queue=options.queue,
            seed=options.seed,
        )
    if options.json:
        print_json(asdict(report))
        return 0
    _print_sides(report)
    return 0


def _print_sides(report: SidesReport) -> None:
    count = len(report.rows)
    say(f"{report.model} on {report.instrument}: {count} statements, {report.unread} without a readable label")
    for note in report.notes:
        say(f"note: {note}")
    table(
        ["statement", "dimension", "leaning", "instrument says", "people say"],
        [
            (
                row.ref,
                row.dimension or "unreadable",
                row.leaning or "unreadable",
                " ".join(filter(None, row.instrument)) or "–",
                " ".join(filter(None, row.people)) or "–",
            )
            for row in report.rows
        ],
    )
    table(
        ["Cohen's κ", "dimension", "leaning"],
        [(name, estimate(kappas["dimension"]), estimate(kappas["leaning"])) for name, kappas in report.kappas.items()],
    )


def _data(judged: BiasJudged, options: Namespace) -> dict[str, Any]:
    from workbench.audits.bias_common import of_all

    report = judged.report
    models = report.tally.models
    by = options.by or "prefix"
    return {
        "choice": judged.choice,
        "reader": judged.reader,
        "unlabelled_statements": judged.unlabelled,
        "void_wordings": judged.void,
        "templates": {
            model: {run.instrument: {"family": run.family, "versions": run.versions} for run in of}
            for model, of in judged.runs.items()
        },
        "correction": None if judged.corrected is None else asdict(judged.corrected),
        "asked_of_all": of_all(report.tally) if len(models) > 1 else None,
        "models": {
            model: {
                "all": report.figure(model),
                "dimensions": {d: report.figure(model, dimension=d) for d in _dimensions()},
                "sources": dict(report.by_source(model)),
                f"by_{by}": report.statements(model) if by == "statement" else dict(_by(judged, model, by)),
            }
            for model in models
        },
        "compare": report.compare(*options.compare) if options.compare else None,
        "methods": report.methods(),
    }


def _dimensions() -> tuple[Any, ...]:
    from workbench.domain.statements import Dimension

    return tuple(Dimension)


def _print_head(judged: BiasJudged) -> None:
    from workbench.cli.judged import say_templates

    choice = judged.choice
    how = f"classifier {judged.reader} at {choice.threshold:g}" if judged.classifier else "people's settled labels"
    parts = [
        f"read by {how}",
        f"sides by {choice.labels}",
        f"{choice.draws:,} draws of {choice.unit}, seed {choice.seed}",
        *(["corrected for the classifier's error"] if choice.correct else []),
        *([f"{judged.unlabelled} statements have no side"] if judged.unlabelled else []),
        *(["over the prompts that every model was asked"] if choice.common else []),
        *([f"{len(judged.void)} void: wordings with the text of their original"] if judged.void else []),
    ]
    say("; ".join(parts))
    for model, of in judged.runs.items():
        if asked := dict.fromkeys(part for run in of for part in run.asked_with):
            say(f"{model}: {', '.join(asked)}")
    say_templates(run for of in judged.runs.values() for run in of)
    for note in judged.corrected.notes() if judged.corrected else ():
        say(note)
    say("bias = (right - left) / 2: -1 wholly left, +1 wholly right")


def _print_main(judged: BiasJudged) -> None:
    from workbench.audits.bias_common import of_all

    report = judged.report
    sources = report.tally.sources if len(report.tally.sources) > 1 else ()
    rows = []
    for model in report.tally.models:
        rows.append((model, "all", *_figure(report.figure(model))))
        rows += [(model, str(d), *_figure(report.figure(model, dimension=d))) for d in _dimensions()]
        for source in sources:
            rows += [
                (model, f"{source} {d}", *_figure(report.figure(model, dimension=d, source=source)))
                for d in _dimensions()
            ]
    table(["model", "statements", *HEADERS], rows)
    if len(report.tally.models) > 1 and any((common := of_all(report.tally)).left_out):
        say(
            f"The models were not asked the same, and every row is over what its model was asked. {_asked(common)}. "
            "Over these alone: --common"
        )


def _asked(common: Common) -> str:
    out = ", ".join(f"{name} {n:,}" for name, n in zip(common.sides, common.left_out, strict=True) if n)
    return f"All were asked {plural(common.prompts[0], 'prompt')}; besides these: {out}"


def _print_compared(found: Comparison) -> None:
    """Print a difference of two models, what it is over, and both totals over the same."""
    assert found.common is not None
    first, second = found.common.sides
    say()
    say(f"{first} - {second}: {_signed(found)}")
    say(f"  {found.common.said}")
    for name, total in zip(found.common.sides, found.totals, strict=True):
        say(f"  {name} over these: {_signed(total)}")


def _print_by(judged: BiasJudged, by: str) -> None:
    report = judged.report
    say()
    for model in report.tally.models:
        if by == "statement":
            table(
                [model, "side", "agree", "disagree", "neutral", "unrelated", "below", "unread", "contribution"],
                [
                    (
                        row.ref, f"{row.dimension} {row.leaning}", str(row.agree), str(row.disagree), str(row.neutral),
                        str(row.unrelated), str(row.dropped), str(row.unread), f"{row.contribution:+.4f}",
                    )
                    for row in report.statements(model)
                ],
            )  # fmt: skip
            continue
        table([model, by, *HEADERS], [("", name, *_figure(figure)) for name, figure in _by(judged, model, by)])
        if by == "prefix":
            named = [p for p in ("likert", "baseline") if p in report.tally.prefixes and len(report.tally.prefixes) > 1]
            for prefix in named:
                deviation = report.prefix_deviation(model, prefix, rule_only=prefix == "likert")
                said = deviation.common.said if deviation.common else ""
                say(f"{prefix} - mean of the others: {_signed(deviation)}{f' ({said})' if said else ''}")


def _by(judged: BiasJudged, model: str, by: str) -> tuple[tuple[str, Figure], ...]:
    report = judged.report
    ways = {
        "prefix": report.by_prefix,
        "variant": report.by_variant,
        "source": report.by_source,
        "author": report.by_author,
    }
    if by not in ways:
        raise UsageError(f"found --by {by}; choose one of {', '.join(ways)}")
    return ways[by](model)


def _print_rankings(judged: BiasJudged) -> None:
    """Print how far instruments differ, and how they rank the models where there are enough of them."""
    from itertools import combinations

    from workbench.audits.bias_selection import Selection

    report = judged.report
    for a, b in combinations(report.tally.sources, 2):
        for model in report.tally.models:
            difference = report.difference(model, Selection(source=a), Selection(source=b))
            say(f"{model}, {a} - {b}: {_signed(difference)} ({difference.common.said if difference.common else ''})")
        for dimension in _dimensions():
            found = report.rank_agreement(a, b, dimension)
            p = f", p {'<0.001' if found.p < 0.001 else format(found.p, '.3f')}" if found.tau.defined else ""
            say(f"{a} and {b}, {dimension}: Kendall's τ of the models {estimate(found.tau)}{p}")
            for source, common in zip((a, b), found.common, strict=False):
                if any(common.left_out):
                    say(f"  ranked on {source} {common.said}")


def _figure(figure: Figure) -> tuple[str, ...]:
    return (
        _signed(figure.total),
        _signed(figure.left),
        _signed(figure.right),
        f"{figure.total.n:,}",
        f"{figure.unrelated:,}",
        f"{figure.dropped:,}",
        f"{figure.unread:,}",
        f"{figure.truncated:,}",
    )


def _signed(value: Estimate) -> str:
    if not value.defined:
        return f"undefined: {value.undefined}"
    interval = "" if value.low != value.low else f" [{value.low:+.2f}, {value.high:+.2f}]"
    return f"{value.value:+.3f}{interval}"
