"""The result of the audit of response biases: tables, comparison, findings and headline."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from stores.core.store import Store
from workbench.audits.audit import Opened
from workbench.audits.claims import AdjustedFinding, Finding, OfModel, Reach, shown
from workbench.audits.comparison.judge import (
    MODEL,
    SAMPLING,
    TEMPLATES,
    Compared,
    Judged,
    Side,
    VerdictKind,
    factors_of,
)
from workbench.audits.reported import TJUATJA, ModelFigures, ReportedItem, of_all_models
from workbench.audits.response_bias import question_tables, tables
from workbench.audits.response_bias.answers import (
    ARMS,
    CONDITIONS,
    Place,
    kind_name,
    place_of,
    place_order,
    place_said,
)
from workbench.audits.response_bias.changes import LARGEST, RESOLUTION, human_sign
from workbench.audits.response_bias.judged import ResponseBiasJudged, judge_response_bias, methods
from workbench.audits.response_bias.options import ChangeOptions, Definition
from workbench.audits.response_bias.questions import Changes, QuestionView, about_subject
from workbench.audits.response_bias.reading import Subject
from workbench.audits.response_bias.score import (
    DEFINITIONS,
    HOLM,
    ChangeCell,
    definition_said,
    test_said,
)
from workbench.audits.result import Headline, Result
from workbench.domain.keys import SEED
from workbench.domain.names import plural
from workbench.domain.statements import ORIGINAL
from workbench.domain.verdicts import Estimate
from workbench.errors import UnknownName
from workbench.evidence.answered import (
    answered_data,
    answered_entry,
    answered_header,
    refusal_entries,
)
from workbench.evidence.answered import refusal_sentences as refused
from workbench.evidence.runs import AnswerSelection
from workbench.figures.book import Book, Entry
from workbench.figures.shown import number
from workbench.figures.table import AnyTable, Kind
from workbench.stats.hypothesis_tests import mean_test
from workbench.stats.power import detectable


def book(changes: Changes) -> Book:
    """Return the tables of response biases."""
    judged = changes.judged
    return Book(
        title=f"{changes.instrument}: response biases",
        contents=tuple(_contents(changes)),
        behind=_behind(changes),
        told=(
            *answered_header(judged.answered),
            *judged.rulings.sentences(),
            f"{changes.instrument}: {plural(len(judged.pairs), 'question')}.",
            *refused(changes.refusals, "without an offered letter, drawn again"),
            definition_said(changes.options.definition),
            test_said(changes.options),
        ),
        header=answered_header(judged.answered),
        methods=methods(judged),
        notes=tuple(changes.notes),
        about=about(changes),
    )


def about(changes: Changes) -> dict[str, Any]:
    """Return the choices behind the figures, for programs."""
    options, judged = changes.options, changes.judged
    return {
        "instrument": changes.instrument,
        "definition_in_words": DEFINITIONS[options.definition],
        "holm_in_words": HOLM[options.holm],
        "questions_with_texts": len(judged.pairs),
        "answered": answered_data(judged.answered),
        "methods": methods(judged),
    }


Make = Callable[[Changes], AnyTable]
ONLY_PUBLISHED = (
    "The score and `most human-like` are published definitions. They count significant biases, "
    "whatever their size.\n\n"
    "--as-published shows them; f chooses the published definition here."
)


def _contents(changes: Changes) -> Iterator[Entry]:
    """Yield the entries of the tables."""
    names = tuple(changes.reports)
    subjects = ((), *((name,) for name in names)) if len(names) > 1 else ((),)
    tests = ("definition", "alpha", "holm")

    published = "" if changes.options.definition is Definition.PAPER else ONLY_PUBLISHED

    def of_all(name: str, title: str, make: Make, *choices: str, empty: str = "") -> Entry:
        return Entry(name, title, lambda: make(changes), choices=choices, empty=empty)

    def of_each(name: str, title: str, make: Make, *choices: str, empty: str = "") -> Entry:
        """Return an entry about all models, or about one at a time."""
        return Entry(
            name,
            title,
            _about_some(changes, make),
            subjects,
            choices,
            empty,
            whole=lambda: make(changes),
        )

    yield of_all("matrix", "biases by model", tables.matrix, *tests, "without_typos")
    yield of_all("scores", "published score", tables.scores, *tests, empty=published)
    yield of_each("likeness", "most human-like", tables.likeness, *tests, empty=published)
    yield of_each("cells", "changes with tests", tables.cells, *tests, "entropy")
    yield of_each("entropies", "entropies", tables.entropies)
    yield of_all("uncertainty", "change against uncertainty", tables.uncertainty)
    yield of_each("left_out", "questions left out", tables.left_out, "definition")
    yield of_each("topics", "topics", tables.topics, "definition")
    yield of_each("draws", "draws of perturbations", tables.draws, "definition", "alpha")
    yield of_each("draw_spread", "spread of the draws", tables.draw_spread, "definition", "alpha")
    yield of_all("valid_answers", "valid answers", tables.valid_answers)
    yield of_each("validity", "valid answers, by share", tables.validity)
    yield of_each("validity_shares", "valid answers, by question", tables.validity_shares)
    if changes.personas:
        yield of_all("personas", "by persona", question_tables.by_persona, *tests)
    yield of_all("people", "likeness to people", tables.people)
    yield of_each("people_questions", "likeness, by question", tables.people_questions)
    yield of_each("questions", "questions", question_tables.questions, "definition")
    yield of_all("subjects", "who answered", tables.subjects)
    yield answered_entry(changes.judged.answered)
    yield from refusal_entries(lambda: changes.refusals, SEED)[:1]


def _about_some(changes: Changes, make: Make) -> Callable[..., AnyTable]:
    """Return a function that makes a table of named models, or of all if none is named."""

    def made(*names: str) -> AnyTable:
        if not names:
            return make(changes)
        table = make(changes.of(*names))
        return replace(table, title=f"{table.title}: {', '.join(names)}", subject=names)

    return made


def _behind(changes: Changes) -> dict[str, Callable[..., AnyTable]]:
    """Return the functions that make the tables behind links. The first draw is the default."""

    def place(bias: str, condition: str) -> Place:
        return place_of(bias, condition, changes.every_kind)

    def question(name: str, bias: str, condition: str, key: str, draw: str = "") -> QuestionView:
        if draw and not draw.isdecimal():
            raise UnknownName(f"there is no draw {draw!r}; give its number")
        return changes.question(name, place(bias, condition), key, int(draw) if draw else None)

    def of_question(make: Callable[[QuestionView], AnyTable]) -> Callable[..., AnyTable]:
        def table(name: str, bias: str, condition: str, key: str, draw: str = "") -> AnyTable:
            return make(question(name, bias, condition, key, draw))

        return table

    def answers(
        name: str, bias: str, condition: str, key: str, draw_or_arm: str, arm: str = ""
    ) -> AnyTable:
        draw, arm = (draw_or_arm, arm) if arm else ("", draw_or_arm)
        if arm not in ARMS:
            raise UnknownName(f"there is no form {arm!r}. Available: {', '.join(ARMS)}")
        view = question(name, bias, condition, key, draw)
        return question_tables.answers(view, changes.forms(view), arm)

    def questions(name: str, bias: str, condition: str) -> AnyTable:
        return question_tables.questions_of(changes, place(bias, condition), name)

    published: dict[str, Callable[..., AnyTable]] = {}
    if changes.options.definition is Definition.PAPER:
        published["likeness"] = _about_some(changes, tables.likeness)
    return {
        "place": lambda bias, condition: tables.place(changes, place(bias, condition)),
        "validity": _about_some(changes, tables.validity),
        **published,
        "people_questions": _about_some(changes, tables.people_questions),
        "questions": questions,
        "options": of_question(question_tables.options),
        "forms": of_question(partial(_forms, changes)),
        "prompts": of_question(partial(_prompts, changes)),
        "answers": answers,
    }


def _forms(changes: Changes, shown: QuestionView) -> AnyTable:
    """Return the table of both forms of a question."""
    return question_tables.forms(changes, shown, changes.forms(shown))


def _prompts(changes: Changes, shown: QuestionView) -> AnyTable:
    """Return the table of the prompts of a question."""
    return question_tables.prompts(shown, changes.forms(shown))


MOVED, DIRECTION = "moved", "direction"
KINDS = (
    VerdictKind(
        MOVED,
        "moved by the change",
        "moved",
        "not moved",
        "change",
        tested=False,
        neither=("no test",),
    ),
    VerdictKind(
        DIRECTION,
        "direction of biases",
        "human-like",
        "against people",
        "bias",
        tested=False,
        neither=("none", "no test"),
    ),
)
"""the cells of the matrix are no sample but all there are: no pair of them is tested, but each
change over questions is"""


def compared(judged: ResponseBiasJudged, changes: Changes, names: Sequence[str]) -> Compared:
    """Return the comparison of subjects, by bias and perturbation.

    It is over the questions that count for all of them.

    Parameters
    ----------
    changes : source of the tables of differences
    """
    reports = {name: judged.reports[name] for name in names}
    alpha = judged.options.alpha
    shared: dict[Place, set[str]] = {}
    for place in sorted(
        {cell.place for report in reports.values() for cell in report.cells}, key=place_order
    ):
        cells = [report.find(*place) for report in reports.values()]
        keys = [set(cell.deltas.keys) for cell in cells if cell is not None]
        if len(keys) == len(cells):
            shared[place] = set.intersection(*keys)
    sides = [_side(judged.subjects[name], reports[name].cells, shared, alpha) for name in names]
    n_left_out = {
        name: sum(
            len(set(cell.deltas.keys) - shared.get(cell.place, set()))
            for cell in reports[name].cells
        )
        for name in names
    }
    counts = ", ".join(
        f"{name} {n_questions:,}" for name, n_questions in n_left_out.items() if n_questions
    )
    return Compared(
        f"{judged.instrument.name}: {' and '.join(names)}",
        KINDS,
        sides,
        {place_said(*place): CONDITIONS[place[1]] for place in shared},
        differences=[
            partial(make, changes)
            for make in (
                question_tables.compared,
                question_tables.compared_means,
                question_tables.sampling,
            )
        ],
        left_out=(
            "Every verdict is over the questions that count in all of these; left out: "
            f"{counts or 'none'}. A change moves a model if the unadjusted p < {alpha:g}.",
        ),
    )


def _side(
    subject: Subject, cells: Sequence[ChangeCell], shared: Mapping[Place, set[str]], alpha: float
) -> Side:
    """Return the verdicts on the cells of a subject, over the shared questions."""
    verdicts_by_kind: dict[str, dict[str, Judged]] = {MOVED: {}, DIRECTION: {}}
    for cell in cells:
        # the test of a cell's mean change over some of its questions
        keys = shared.get(cell.place, set(cell.deltas.keys))
        rows = [row for row, key in enumerate(cell.deltas.keys) if key in keys]
        values, chance = cell.deltas.values[rows], cell.deltas.by_chance[rows]
        delta = mean_test(values, RESOLUTION, LARGEST)
        shared_cell = replace(
            cell, delta=delta, beyond=mean_test(values - chance, RESOLUTION, 2 * LARGEST)
        )
        test, is_moved = shared_cell.delta, shared_cell.claim < alpha
        verdicts_by_kind[MOVED][place_said(*cell.place)] = Judged(
            "moved" if is_moved else "not moved" if test.tested else "no test",
            kind_name(cell.bias, cell.variant),
        )
        if cell.condition is None:
            sign = human_sign(cell.bias, cell.deltas.definition) * np.sign(test.mean)
            word = "none" if test.tested else "no test"
            verdicts_by_kind[DIRECTION][place_said(*cell.place)] = Judged(
                ("human-like" if sign > 0 else "against people") if is_moved else word
            )
    run = subject.run
    factors = {MODEL: subject.model} if run is None else factors_of(run)
    sampling = (
        f"{subject.way}, {run.sampling}"
        if run is not None and subject.way != "exact"
        else subject.way
    )
    templates = ", ".join(filter(None, (factors.get(TEMPLATES, ""), subject.template)))
    factors |= {SAMPLING: sampling, TEMPLATES: templates}
    return Side(
        subject.name, subject.model, factors, verdicts_by_kind, "" if run is None else run.last
    )


FIRST = ("subjects", "personas", "matrix", "scores")
LIMITS = (
    "A change is a mean over questions: single questions may move the other way. The tables of "
    "questions show them.",
    "Human-like means that the change has the direction that studies found in people, not the "
    "same size.",
)


def judge(store: Store, which: AnswerSelection, options: ChangeOptions, opened: Opened) -> Result:
    """Return the response biases of the selected answers."""
    judged = judge_response_bias(store, which, options)
    metadata = {
        "models": {name: about_subject(store, judged.subjects[name]) for name in judged.reports}
    }
    return replace(_result(judged, opened), about=metadata)


def _result(judged: ResponseBiasJudged, opened: Opened) -> Result:
    """Return the result of judged answers."""
    changes = Changes(judged, opened)

    def again(options: ChangeOptions) -> Result:
        return _result(judged.by(options), opened)

    return Result(
        which=judged.which,
        options=judged.options,
        instrument=judged.instrument,
        runs={
            name: subject.run
            for name, subject in judged.subjects.items()
            if subject.run is not None
        },
        names=tuple(judged.reports),
        book=book(changes),
        first=FIRST,
        findings=tuple(_findings(judged)),
        all_models=lambda: _all_models(changes),
        headline=_headline(judged),
        rulings=judged.rulings,
        answered=judged.answered,
        items=_items(judged),
        limits=LIMITS,
        references=[TJUATJA],
        compared=(lambda names: compared(judged, changes, names))
        if len(judged.reports) > 1
        else None,
        again=again,
        judged=changes,
    )


def _findings(judged: ResponseBiasJudged) -> Iterator[Finding]:
    """Yield the findings on each model: its biases, and its changes by typos."""
    for name, report in judged.reports.items():
        scored = [cell for cell in report.cells if cell.scored and cell.judged]
        if scored:
            yield _claim(name, scored, partial(_biases, name, scored, judged.options), "biases")
        else:
            yield OfModel("Not enough answers to test a response bias", name)
        if scored and (
            typos := [cell for cell in report.cells if cell.condition is not None and cell.judged]
        ):
            yield _claim(name, typos, partial(_typos, name, typos, judged.options), "typos")


SCORE_WORDS = (
    " The score adds +1 for a significant change in people's direction and -1 for one against it."
)


def _all_models(changes: Changes) -> AnyTable:
    """Return the table of the mean change by bias, for every model."""
    biases = [place for place in changes.places if place[1] is None and not place[2]]
    signs = {
        kind_name(place[0]): human_sign(place[0], changes.options.definition) for place in biases
    }
    values: dict[str, dict[str, Estimate | float | None]] = {}
    published = changes.options.definition is Definition.PAPER
    for name, report in changes.reports.items():
        change = tables.change_of(changes, name)
        values[name] = {kind_name(place[0]): change(place) for place in biases}
        values[name]["human_like"] = report.score.human_like if report.score.biases else None
    return of_all_models(
        "Mean change by bias",
        [ModelFigures(name, model_values) for name, model_values in values.items()],
        {
            name: f"{changes.words.get(name, name)}{' (people: below 0)' * (sign < 0)}"
            for name, sign in signs.items()
        },
        Kind.POINTS,
        more={"human_like": ("score", Kind.BALANCE)} if published else {},
        axis="mean change of the answers",
        definition="Change of the answers, in percentage points, when a question is put in "
        "another form: a line for "
        "each bias. Without a bias it is 0; above 0 is the direction in which studies found "
        "people to move, unless a "
        f"bias says otherwise.{SCORE_WORDS if published else ''}",
    )


def _claim(
    name: str,
    cells: Sequence[ChangeCell],
    said: Callable[[Sequence[float]], Iterator[OfModel]],
    question: str,
) -> AdjustedFinding:
    """Return a finding whose text follows from the adjusted p values."""
    p = tuple(cell.claim if cell.delta.tested else math.nan for cell in cells)
    return AdjustedFinding(p, said, question, (name,) * len(p))


LARGEST_CHANGE = 0.5
"the largest plausible change by another form: half of the answers"


def change_reach(cells: Sequence[ChangeCell], moved: Sequence[ChangeCell]) -> Reach | None:
    """Return the precision of the least precise test without a change, or None if all show one."""
    errors: dict[tuple[int, int], float] = {}
    for cell in cells:
        test = cell.delta if math.isnan(cell.beyond.sd) else cell.beyond
        if cell not in moved and test.tested:
            se = test.sd / test.n**0.5
            if cell.position.se > se:
                se = cell.position.se
            errors[test.n, test.df] = max(errors.get((test.n, test.df), 0.0), se / 100)
    if not errors:
        return None
    (n_questions, freedom), error = max(
        errors.items(), key=lambda item: detectable(item[1], item[0][1])
    )
    return Reach(
        error,
        LARGEST_CHANGE,
        Kind.POINTS,
        plural(n_questions, "question"),
        "that forms move the answers",
        freedom,
    )


def _biases(
    name: str, cells: Sequence[ChangeCell], options: ChangeOptions, adjusted: Sequence[float]
) -> Iterator[OfModel]:
    """Yield the findings on the number of significant biases, and on the largest one."""
    moved = _moved(cells, options, adjusted)
    beyond_text = (
        ", beyond what random letters give" if options.definition is Definition.CORRECTED else ""
    )
    n_human_like = sum(cell.human_like == 1 for cell in moved)
    p = shown(adjusted) if moved else math.nan
    names = ", ".join(place_said(*cell.place) for cell in moved)
    details = f": {names} ({n_human_like or 'none'} in people's direction)" if moved else ""
    by_position = ", ".join(place_said(*cell.place) for cell in cells if cell.within_position)
    if by_position:
        details += f"; may be position: {by_position}"
    yield OfModel(
        f"Significant response biases{beyond_text}",
        name,
        f"{len(moved)} of {len(cells)}{details}",
        p,
        reach=change_reach(cells, moved),
    )
    if moved:
        yield OfModel(
            "Largest significant response bias",
            name,
            _said(max(moved, key=lambda cell: abs(cell.delta.mean))),
            p,
        )


def _typos(
    name: str, cells: Sequence[ChangeCell], options: ChangeOptions, adjusted: Sequence[float]
) -> Iterator[OfModel]:
    """Yield the finding on significant changes by typos."""
    moved = _moved(cells, options, adjusted)
    n_moved = len(moved)
    p = shown(adjusted) if n_moved else math.nan
    title = "Significant changes by typos, which people overlook"
    yield OfModel(
        title,
        name,
        f"{n_moved} of {plural(len(cells), 'test')}",
        p,
        reach=change_reach(cells, moved),
    )


def _moved(
    cells: Sequence[ChangeCell], options: ChangeOptions, adjusted: Sequence[float]
) -> list[ChangeCell]:
    """Return the cells with a significant change, by p values adjusted over all claims."""
    return [
        cell for cell, p in zip(cells, adjusted, strict=True) if cell.effect and p < options.alpha
    ]


def _said(cell: ChangeCell) -> str:
    """Return the change of a cell with its interval, direction and references, as text."""
    interval = ", ".join(
        number(bound / 100, Kind.POINTS, bare=True) for bound in (cell.delta.low, cell.delta.high)
    )
    reference_text = ""
    if cell.by_chance:
        chance = number(cell.by_chance / 100, Kind.POINTS)
        reference_text += f", random letters give {chance}"
    if not math.isnan(cell.position.change):
        by_position = number(cell.position.change / 100, Kind.POINTS)
        reference_text += f", its preference for positions gives {by_position}"
    direction = "in people's direction" if cell.human_like == 1 else "against people's direction"
    change = number(cell.delta.mean / 100, Kind.POINTS)
    return f"{place_said(*cell.place)} {change} [{interval}], {direction}{reference_text}"


def _headline(judged: ResponseBiasJudged) -> Headline:
    """Return the headline on the model that answered last here, or elsewhere if none did here.

    A model with a finished plan comes before the others.
    """
    unfinished = {part.name for part in judged.answered if part.partial}
    runs = {name: subject.run for name, subject in judged.subjects.items() if subject.run}
    recency = {
        name: (unfinished.isdisjoint((name, run.named)), run.last) for name, run in runs.items()
    }
    newest = runs[max(recency, key=lambda name: recency[name])].model if runs else ""
    name = [name for name in judged.reports if newest in ("", judged.subjects[name].model)][-1]
    report, short_forms = judged.reports[name], judged.subjects[name].short
    effects = Counter(cell.scored for cell in report.cells if cell.effect)
    typos = [cell for cell in report.cells if cell.condition is not None]
    n_tested, n_biases = sum(cell.delta.n > 1 for cell in typos), report.score.biases
    details = []
    if effects[True]:
        details.append(
            (
                f"{sum(cell.human_like == 1 for cell in report.cells if cell.scored)} human-like",
                False,
            )
        )
    if short_forms:
        details.append((f"! {plural(len(short_forms), 'prompt')} with too few valid answers", True))
    if n_tested:
        details.append(
            (f"typos: {sum(cell.effect != 0 for cell in typos)} of {n_tested} significant", False)
        )
    asked_models = {subject.model for subject in judged.subjects.values() if subject.run}
    imported_models = {subject.model for subject in judged.subjects.values() if not subject.run}
    if asked_models:
        details.append((f"{plural(len(asked_models), 'model')} asked", False))
    if imported_models:
        details.append((f"{len(imported_models):,} imported", False))
    main_text = (
        f"{effects[True]} of {plural(n_biases, 'bias')} significant"
        if n_biases
        else "no bias has a test yet"
    )
    return Headline(name, main_text, [*details, (judged.instrument.name, False)])


def _items(judged: ResponseBiasJudged) -> Mapping[str, Sequence[ReportedItem]]:
    """Return the questions without a verdict, because a bias is over many of them."""
    items = []
    for statement in judged.instrument.statements:
        if statement.ref in judged.items:
            wording = statement.wording(ORIGINAL, judged.instrument.language)
            bias = str(judged.items[statement.ref].bias)
            items.append(
                ReportedItem(statement.ref, wording.text if wording else "", None, (bias,))
            )
    return {
        name: tuple(items) for name, subject in judged.subjects.items() if subject.run is not None
    }
