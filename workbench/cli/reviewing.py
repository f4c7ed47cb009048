"""What waits for an auditor under a run, why, and how far auditors are; a control sample, and the next item."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench import registry
from workbench.audits.audit import Medium
from workbench.cli.audit_options import AUDIT
from workbench.cli.figures import FIGURES, medium, put_out
from workbench.cli.verbs import Namespace, Section, verb
from workbench.errors import UsageError
from workbench.options.option import Option, Type, flag
from workbench.options.shared import OF_RUN, READER, SEED, STORE

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.figures.table import AnyTable
    from workbench.pipeline.review import Review
    from workbench.pipeline.review_progress import Progress


@verb(
    STORE,
    AUDIT.but(choices=tuple(one.name for one in registry.asking())),
    OF_RUN,
    READER.but(help="run whose readings are reviewed", none="as in the figures"),
    Section(
        "The queue",
        (
            Option(
                "as_",
                "your name: items you have reviewed leave the queue, and what others decided on the control sample is "
                "not shown before your own decisions",
                metavar="NAME",
            ),
            flag(
                "next",
                "print only the next item, with the answers and the names for `workbench rule`; with --as "
                "nobody else is given the item for half an hour",
            ),
            flag("all", "with --next: print every answer to the item, not the first ten"),
            flag("blind", "hide the model and other auditors' rulings"),
        ),
    ),
    Section(
        "A control sample",
        (
            Option(
                "draw",
                "draw N answers, to passed and other statements, and mix them in",
                Type.WHOLE,
                least=2,
                metavar="N",
            ),
            SEED.but(help="seed of the draw"),
            flag("undraw", "take back the control sample, if nobody has decided on an answer of it"),
        ),
        "Only this sample estimates how often a reader errs: statements with a reason are not a random sample.",
    ),
    FIGURES,
    about="Print what an auditor should review first, and why: each reason has a weight, and the weights add up. "
    "Rule with `workbench rule`; answers of the control sample are decided by confirmed or misread.",
)
def review(options: Namespace) -> int:
    """Print the queue, or its next item; draw a control sample first where that is asked for."""
    from stores.core.store import Store
    from workbench.domain.names import person_name
    from workbench.pipeline.control import draw, take_back
    from workbench.pipeline.review_progress import progress_of

    auditor = person_name(options.as_, "auditor") if options.as_ else None
    if options.seed != SEED.default and options.draw is None:
        raise UsageError("--seed belongs to --draw; give --draw N, or leave it out")
    if options.all and not options.next:
        raise UsageError("--all belongs to --next, which prints the first ten answers of an item; leave it out")
    with Store.open(options.store) as store:
        of = _review(store, options)
        if options.undraw:
            take_back(store, of)
        if options.draw is not None:
            draw(store, of, options.draw, seed=options.seed, drawn_by=auditor or "")
        progress = progress_of(store, of, auditor)
        return _next(store, options, progress) if options.next else _show(options, progress)


def _review(store: Store, options: Namespace) -> Review:
    from workbench.domain.readings import Readings
    from workbench.evidence.runs import run_of
    from workbench.pipeline.review import review as of_run

    run = run_of(store, options)
    return of_run(store, run, Readings(options.reader))


def _show(options: Namespace, progress: Progress) -> int:
    from workbench.pipeline import review_tables as tables

    of, control = progress.of, progress.control
    blind, kept_back = options.blind, tables.withheld(progress, blind=options.blind)
    made: list[AnyTable] = [tables.queue(progress, blind=blind), tables.reasons()]
    made += [tables.auditors(progress, blind=blind)]
    made += [tables.agreement(progress, blind=blind)] if tables.shared(progress, blind=blind) else []
    if control is not None:
        of_whom = (progress.auditor or "") if kept_back else None
        made += [tables.errors(control, kept_back), tables.answers_drawn(control, of_whom)]
    shown = made if options.json or options.csv or options.parquet else [one for one in made if one.name != "drawn"]
    told = tables.told(progress, blind=options.blind)
    put_out(options, shown, _about(options, progress), title=tables.title(of, options.blind), told=told)
    return 0


def _next(store: Store, options: Namespace, progress: Progress) -> int:
    from workbench.domain.reviews import Ranked
    from workbench.evidence import ruling_subjects as subjects
    from workbench.pipeline import review_item as item
    from workbench.pipeline import review_tables as tables

    shown = item.next_item(store, progress, blind=options.blind)
    plain = None if shown is None else shown.plain(blind=options.blind)
    about = _about(options, progress) | {"item": plain}
    title, told = tables.title(progress.of, options.blind), tables.told(progress, blind=options.blind)
    if shown is None:
        put_out(options, [], about, title=title, told=(*told, _nothing(progress)))
        return 0
    told = (*told, *shown.told(blind=options.blind))
    if medium(options) is Medium.PEOPLE and options.html is None and options.latex is None:
        made: list[AnyTable] = [item.answers_in_short(shown, None if options.all else item.FIRST)]
    else:
        made = [item.answers(shown)]
    made += [item.readers_of(shown)] if any(row.readers for row in shown.rows) else []
    instrument = progress.of.run.instrument if len(store.instruments.names()) > 1 else ""
    labels = () if isinstance(shown.item, Ranked) else subjects.find(store, shown.subject).labels
    acts = shown.acts(progress.auditor, instrument, labels, options.reader)
    put_out(options, made, about, title=title, told=told, notes=acts)
    return 0


def _nothing(progress: Progress) -> str:
    from workbench.pipeline.review_tables import nothing_waits

    if not progress.items:
        return nothing_waits(progress)
    others = sorted({progress.holder(one) for one in progress.of.queue} - {""})
    at_it = (
        f" {' and '.join(others)} {'is' if len(others) == 1 else 'are'} reviewing the remaining items."
        if others
        else ""
    )
    return f"Nothing is pending.{at_it}"


def _about(options: Namespace, progress: Progress) -> dict[str, Any]:
    from workbench.evidence.runs import about
    from workbench.pipeline.review_tables import withheld

    of, kept_back = progress.of, withheld(progress, blind=options.blind)
    sample = None if progress.control is None else progress.control.sample
    told = {} if sample is None or kept_back else {"drawn_by": sample.drawn_by}
    return {
        "run": {"instrument": of.run.instrument, "language": of.run.language} if options.blind else about(of.run),
        "auditor": progress.auditor,
        "blind": options.blind,
        "reader": of.card,
        "control": None if sample is None else {"seed": sample.seed, **told, "at": sample.at, "withheld": kept_back},
    }
