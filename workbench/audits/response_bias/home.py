"""What Home says of the newest answers to multiple-choice questions, and whose answers there are."""

from __future__ import annotations

from collections.abc import Sequence

from stores.core.store import Store
from stores.runs.run_rows import Run
from workbench.audits.audit import HomeLine
from workbench.audits.response_bias.figures import Cell
from workbench.audits.response_bias.judged import ResponseBiasChoice, judge_response_bias
from workbench.audits.response_bias.rows import AUDIT
from workbench.domain.counting import plural
from workbench.errors import WorkbenchError
from workbench.figures.shown import number
from workbench.figures.table import Kind

TODO = "see which changes to a question move the answers"
TODO_BELOW = "Enter on a row shows the questions and their two forms"


def lines(store: Store) -> Sequence[HomeLine]:
    """Return one line, of the model that answered last, here or, where nobody did here, elsewhere."""
    runs, elsewhere = store.predictions.runs(AUDIT), store.choices.instruments_with_answers()
    if not runs and not elsewhere:
        return ()
    instrument = runs[-1].instrument if runs else elsewhere[-1]
    asked = {run.model for run in runs if run.instrument == instrument}
    imported = len(store.choices.models(instrument))
    about = [
        *([f"{plural(len(asked), 'model')} asked"] if asked else []),
        *([f"{imported:,} imported"] if imported else []),
        instrument,
    ]
    below = [(words, False) for words in about]
    try:
        judged = judge_response_bias(store, ResponseBiasChoice(instrument))
    except WorkbenchError as error:
        return [_line("no response biases yet", str(error), below, dim=True)]
    own = [name for name, subject in judged.subjects.items() if not runs or subject.model == runs[-1].model]
    subject = (own or list(judged.subjects))[-1]
    report = judged.reports[subject]
    found = _found(report.cells, report.score.biases)
    run = judged.subjects[subject].run
    part = [
        (f"! {number(one.share, Kind.SHARE)} of the plan was answered", True)
        for one in judged.answered
        if one.partial and run is not None and one.name in (subject, run.named)
    ]
    return [_line(subject, found, [*part, *_more(report.cells, len(judged.subjects[subject].short)), *below], run=run)]


def _line(
    main: str, detail: str, below: Sequence[tuple[str, bool]], *, dim: bool = False, run: Run | None = None
) -> HomeLine:
    return HomeLine("choices:", "Choices", main, detail, below, dim, TODO, TODO_BELOW, run)


def _found(cells: Sequence[Cell], biases: int) -> str:
    """Say how many biases that have a test have a significant change."""
    if not biases:
        return "no bias has a test yet"
    significant = sum(cell.effect != 0 for cell in cells if cell.scored)
    return f"{significant} of {biases} {'bias' if biases == 1 else 'biases'} significant"


def _more(cells: Sequence[Cell], short: int) -> list[tuple[str, bool]]:
    """Say how many are human-like, which prompts have too few answers, and what typos do."""
    scored = [cell for cell in cells if cell.scored]
    typos = [cell for cell in cells if cell.condition is not None]
    tested = sum(cell.delta.n > 1 for cell in typos)
    more = []
    if any(cell.effect != 0 for cell in scored):
        more.append((f"{sum(cell.human_like == 1 for cell in scored)} human-like", False))
    if short:
        more.append((f"! {plural(short, 'prompt')} with too few valid answers", True))
    if tested:
        more.append((f"typos: {sum(cell.effect != 0 for cell in typos)} of {tested} significant", False))
    return more
