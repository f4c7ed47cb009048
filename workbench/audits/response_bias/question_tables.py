"""Tables of questions and their two forms, and of two ways of asking."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from workbench.audits.by_persona import PersonaRow
from workbench.audits.by_persona import columns as of_persona
from workbench.audits.response_bias import tables as columns
from workbench.audits.response_bias.answers import Place, kind_name, place_said, subject_of
from workbench.audits.response_bias.questions import (
    AnswerRow,
    ArmView,
    Changes,
    FormView,
    OptionRow,
    QuestionRow,
    QuestionView,
)
from workbench.audits.response_bias.score import (
    BiasComparison,
    MeansCompared,
    SamplingAgreement,
    formula,
)
from workbench.domain.choices import Arm
from workbench.domain.prompts import Message
from workbench.evidence.rulings import ruled_words
from workbench.figures.table import Column, Kind, Link, Table
from workbench.stats.hypothesis_tests import benjamini_hochberg, holm

Asked = tuple[str, Place, QuestionRow]
"name of the report, the cell, and one of its questions"
UNKNOWN = "(text unknown)"


def questions(changes: Changes) -> Table[Asked]:
    """Return the table of the questions of all selected cells, the largest change of each first."""
    return _questions(
        changes, [(name, cell.place) for name, cell in changes.lines], "Questions", ()
    )


def questions_of(changes: Changes, place: Place, *names: str) -> Table[Asked]:
    """Return the table of the questions of one cell, the largest change first.

    It includes every report that has the cell, unless some are named. Raises UnknownName for a
    name without a report.
    """
    names = tuple(map(changes.judged.name, names))
    report_cells = [
        (name, place)
        for name in names or changes.reports
        if changes.reports[name].find(*place) is not None
    ]
    title = f"{', '.join((*names, place_said(*place)))}: questions"
    return _questions(changes, report_cells, title, (*names, *subject_of(place)))


def _questions(
    changes: Changes, cells: Iterable[tuple[str, Place]], title: str, subject: tuple[str, ...]
) -> Table[Asked]:
    """Return the table of the questions of some cells."""
    return Table(
        "questions",
        f"{title}, the largest change first",
        [(name, place, row) for name, place in cells for row in changes.questions(name, place)],
        list(_question_columns(changes)),
        key=lambda row: (row[0], *subject_of(row[1]), row[2].key),
        empty="No model was asked this.",
        link=lambda row: Link("options", (row[0], *subject_of(row[1]), row[2].key)),
        detail=_question_detail,
        subject=subject,
    )


def _question_detail(row: Asked) -> list[str]:
    """Return the reason why a question does not count, and its text."""
    left_out, stem = row[2].left_out, row[2].stem
    reasons = [f"Left out: {left_out}."] * bool(left_out)
    return [*reasons, stem or "Its text is unknown: only answers to it were imported."]


def _question_columns(changes: Changes) -> Iterator[Column[Asked]]:
    """Yield the columns of a question."""
    yield columns.model(lambda row: row[0])
    yield from columns.places(changes, lambda row: row[1])
    yield Column("key", "question", lambda row: row[2].key)
    yield Column("topic", "topic", lambda row: row[2].topic)
    yield Column(
        "change",
        "change",
        lambda row: row[2].delta / 100,
        Kind.POINTS,
        scale=(-1, 1),
        reference=columns.zero,
    )
    yield Column("left_out", "left out because", lambda row: row[2].left_out, short="left out")
    yield Column(
        "entropy",
        "entropy",
        lambda row: row[2].entropy,
        Kind.COEFFICIENT,
        scale=(0, 1),
        help="of the answers to the original: 0 all equal, 1 spread evenly over the options",
    )
    yield Column(
        "valid_original",
        "valid q",
        lambda row: row[2].valid[0],
        Kind.SHARE,
        help="offered letters among all answers drawn to the original",
    )
    yield Column(
        "valid_changed",
        "valid q'",
        lambda row: row[2].valid[1],
        Kind.SHARE,
        help="offered letters among all answers drawn to the changed form",
    )
    yield Column(
        "draws",
        "draws",
        lambda row: row[2].over_draws,
        Kind.COUNT,
        aside=True,
        help="of the perturbation, over which the change is a mean",
    )
    yield Column("ref", "statement", lambda row: row[2].ref, aside=True)
    yield Column(
        "question", "text", lambda row: row[2].stem, words={"": UNKNOWN}, main=True, aside=True
    )


def forms(changes: Changes, shown: QuestionView, made: Sequence[FormView]) -> Table[FormView]:
    """Return the table of both forms of a question, with the numbers of answers that count."""
    exact = _exact(shown)

    def lettered(form: FormView) -> str:
        return form.shown.choice.lettered() if form.shown.choice is not None else ""

    return Table(
        "forms",
        _title(shown, "its two forms"),
        made,
        [
            Column("form", "form", lambda form: form.shown.arm),
            Column(
                "valid",
                "valid",
                lambda form: _drawn(form, form.shown.valid),
                Kind.COUNT,
                aside=exact,
            ),
            Column(
                "drawn",
                "drawn",
                lambda form: form.shown.drawn,
                Kind.COUNT,
                help="all answers",
                aside=exact,
            ),
            Column(
                "invalid",
                "no offered letter",
                lambda form: _drawn(form, form.shown.invalid),
                Kind.COUNT,
                help="answers without an offered letter, which were drawn again",
                aside=exact,
            ),
            Column(
                "truncated",
                "cut off",
                lambda form: _drawn(form, form.shown.truncated),
                Kind.COUNT,
                help="answers that were cut off in thought, and drawn again",
                aside=exact,
            ),
            Column(
                "probability",
                "probability",
                _probability,
                Kind.SHARE,
                aside=not exact,
                help="of all offered letters together",
            ),
            Column(
                "others",
                "letters not offered",
                lambda form: [f"{letter}:{number}" for letter, number in form.shown.others],
                Kind.WORDS,
                help="letters answered but not offered, with counts",
            ),
            Column(
                "entropy",
                "entropy",
                lambda form: form.shown.entropy,
                Kind.COEFFICIENT,
                scale=(0, 1),
            ),
            Column("made_by", "made by", lambda form: form.made_by, aside=True),
            Column(
                "text", "text", lettered, Kind.PROSE, words={"": UNKNOWN}, main=True, aside=True
            ),
            Column("at", "computed at", lambda form: form.at, aside=True),
            Column("code_version", "workbench", lambda form: form.code_version, aside=True),
        ],
        key=lambda form: (form.shown.arm,),
        definition=change_said(changes, shown),
        detail=lambda form: [lettered(form) or "The text of this form is unknown."],
        link=lambda form: Link("answers", (*_subject(shown), form.shown.arm)),
        subject=_subject(shown),
    )


def _exact(shown: QuestionView) -> bool:
    """Return whether probabilities were computed, instead of drawing answers."""
    arms = (shown.original, shown.changed)
    return any(option.probability == option.probability for arm in arms for option in arm.options)


def _drawn(form: FormView, number: float) -> float:
    """Return a number of answers, or NaN if probabilities were computed instead."""
    return number if form.shown.drawn == form.shown.drawn else float("nan")


def _probability(form: FormView) -> float:
    """Return the probability of all offered letters of a form."""
    return sum(option.probability for option in form.shown.options)


def change_said(changes: Changes, shown: QuestionView) -> str:
    """Return a sentence on the change of a question, with its formula."""
    from workbench.figures.shown import number

    place, row = _place(shown), shown.row
    if row.left_out:
        return f"This question is left out: {row.left_out}."
    draws_text = f", mean over {row.over_draws} draws" if row.over_draws > 1 else ""
    question_deltas = changes.reports[shown.subject].cell(*place).deltas
    rule = formula(place, question_deltas.definition, question_deltas.source)
    form_text = "with typos" if shown.condition else "changed form"
    return (
        f"Change {number(row.delta / 100, Kind.POINTS)}{draws_text}: {rule} (q original, q' "
        f"{form_text})."
    )


Option = tuple[ArmView, OptionRow, float | None]
"the form, one of its options, and the share of people who chose it"


def options(shown: QuestionView) -> Table[Option]:
    """Return the table of the options of both forms in their order, with their answers."""
    exact = _exact(shown)
    rows: list[Option] = [
        (
            arm,
            option,
            shown.shares[index] if arm.arm is Arm.ORIGINAL and index < len(shown.shares) else None,
        )
        for arm in (shown.original, shown.changed)
        for index, option in enumerate(arm.options)
    ]
    return Table(
        "options",
        _title(shown, "answers to both forms"),
        rows,
        [
            Column("form", "form", lambda row: row[0].arm),
            Column("letter", "letter", lambda row: row[1].letter),
            Column(
                "letter_in_original",
                "in the original",
                lambda row: row[1].original,
                words={"": "new"},
                short="original",
                aside=all(row[1].original in ("", row[1].letter) for row in rows),
                help="letter of the same option in the original",
            ),
            Column(
                "share",
                "share",
                lambda row: row[1].share,
                Kind.SHARE,
                scale=(0, 1),
                help="of the valid answers",
            ),
            Column("count", "answers", lambda row: row[1].count, Kind.COUNT, aside=exact),
            Column(
                "probability",
                "probability",
                lambda row: row[1].probability,
                Kind.SHARE,
                scale=(0, 1),
                aside=not exact,
                help="of the letter as the next token",
            ),
            Column(
                "people",
                "people",
                lambda row: row[2],
                Kind.SHARE,
                scale=(0, 1),
                aside=not shown.shares,
                help="who chose this option",
            ),
            Column("option", "option", lambda row: row[1].text, words={"": UNKNOWN}),
        ],
        key=lambda row: (row[0].arm, row[1].letter),
        link=lambda row: Link("answers", (*_subject(shown), row[0].arm)),
        subject=_subject(shown),
    )


def prompts(shown: QuestionView, made: Sequence[FormView]) -> Table[tuple[Arm, Message]]:
    """Return the table of the prompts of both forms.

    For imported answers it has only the questions, because the prompts are unknown.
    """
    rows = [(form.shown.arm, message) for form in made for message in _messages(form)]
    imported = "role question: the instrument's form; the original prompt is unknown."
    return Table(
        "prompts",
        _title(shown, "prompts"),
        rows,
        [
            Column("form", "form", lambda row: row[0]),
            Column("role", "role", lambda row: row[1].role),
            Column("content", "text", lambda row: row[1].content, Kind.PROSE),
        ],
        key=lambda row: (row[0], row[1].role, row[1].content),
        notes=[imported] * any(not form.messages for form in made),
        empty="The texts of both forms are unknown: only answers to them were imported.",
        subject=_subject(shown),
    )


def _messages(form: FormView) -> tuple[Message, ...]:
    """Return the messages of a form, or the question if they are unknown."""
    if form.messages or form.shown.choice is None:
        return form.messages
    return (Message("question", form.shown.choice.lettered()),)


Answer = tuple[FormView, AnswerRow]


def answers(shown: QuestionView, made: Sequence[FormView], arm: str = "") -> Table[Answer]:
    """Return the table of every distinct answer of a draw, or of the likeliest next tokens.

    It is about one form, or about both.
    """
    rows = [
        (form, answer) for form in made if arm in ("", form.shown.arm) for answer in form.answers
    ]
    return Table(
        "answers",
        _title(shown, f"answers to the {arm} form" if arm else "answers as written"),
        rows,
        [
            Column("form", "form", lambda row: row[0].shown.arm),
            Column("text", "as written", lambda row: row[1].text, words=_with_blanks(rows)),
            Column("letter", "read as", lambda row: row[1].letter, words={"": "no letter"}),
            Column(
                "ruling",
                "ruling",
                lambda row: ruled_words(row[1].ruled, row[1].unruled or "no letter"),
                help="an auditor's; the letter that the rule had read in an answer that it "
                "reads anew",
                least=14,
            ),
            Column("offered", "offered", _offered),
            Column("count", "times", lambda row: row[1].count, Kind.COUNT, aside=_exact(shown)),
            Column(
                "probability",
                "probability",
                lambda row: row[1].probability,
                Kind.SHARE,
                scale=(0, 1),
                aside=not _exact(shown),
            ),
            Column(
                "share",
                "share",
                _share(rows),
                Kind.SHARE,
                scale=(0, 1),
                aside=True,
                help="of all answers to this form",
            ),
            *_origin(),
        ],
        key=lambda row: (
            row[0].shown.arm,
            row[1].text,
            str(row[1].seed or ""),
            str(row[1].job),
            row[1].at,
        ),
        empty="The store has no texts of answers to this question: imported answers are only "
        "counts.",
        subject=(*_subject(shown), *([arm] if arm else [])),
    )


def _with_blanks(rows: Iterable[Answer]) -> dict[str, str]:
    """Return texts with visible blanks, for those that are empty, or have blanks at an end."""
    texts = {answer.text for _, answer in rows}
    return {text: blanks_shown(text) for text in texts if text != text.strip(" ") or not text}


def blanks_shown(text: str) -> str:
    """Return a text with visible blanks at its ends: ` A` and `A` are two answers.

    Examples
    --------
    >>> blanks_shown(" A"), blanks_shown("A"), blanks_shown(" The answer "), blanks_shown("  ")
    ('␣A', 'A', '␣The answer␣', '␣␣')
    """
    if not text:
        return "(empty)"
    n_before, n_after = len(text) - len(text.lstrip(" ")), len(text) - len(text.rstrip(" "))
    return "␣" * n_before + text.strip(" ") + "␣" * (n_after if text.strip(" ") else 0)


def _share(rows: Sequence[Answer]) -> Callable[[Answer], float | None]:
    """Return the accessor of the share of an answer among those to its form.

    The share of a probability is None.
    """
    totals = Counter[Arm]()
    for form, answer in rows:
        totals[form.shown.arm] += answer.count or 0

    def share(row: Answer) -> float | None:
        return row[1].count / totals[row[0].shown.arm] if row[1].count else None

    return share


def _offered(row: Answer) -> bool:
    """Return whether the letter of an answer was offered."""
    return bool(row[1].letter) and row[1].letter in {
        option.letter for option in row[0].shown.options
    }


def _origin() -> Iterator[Column[Answer]]:
    """Yield the columns of the origin of an answer."""
    texts: dict[str, Callable[[Answer], str]] = {
        "at": lambda row: row[1].at,
        "code_version": lambda row: row[1].code_version,
        "template": lambda row: row[1].template,
    }
    yield Column("thinking", "thought", lambda row: row[1].thinking, Kind.PROSE, aside=True)
    yield Column("truncated", "cut off in thought", lambda row: row[1].truncated, aside=True)
    yield Column("seed", "seed", lambda row: row[1].seed and str(row[1].seed), aside=True)
    yield Column("job", "job", lambda row: row[1].job, Kind.COUNT, aside=True)
    yield from (
        Column(key, key.replace("_", " "), accessor, aside=True) for key, accessor in texts.items()
    )


def _place(shown: QuestionView) -> Place:
    """Return the place of the cell of a question."""
    return shown.bias, shown.condition, shown.variant


def _subject(shown: QuestionView) -> tuple[str, ...]:
    """Return the parts of a link to a question."""
    draw_part = (str(shown.draw),) if shown.condition else ()
    return (shown.subject, *subject_of(_place(shown)), shown.row.key, *draw_part)


def _title(shown: QuestionView, what: str) -> str:
    """Return the title of a table about a question."""
    topic = f" · {shown.row.topic}" if shown.row.topic else ""
    draw_text = f", draw {shown.draw} of {len(shown.draws)}" if shown.condition else ""
    return (
        f"{shown.row.key}{topic} · {place_said(*_place(shown))}{draw_text} · {shown.subject}: "
        f"{what}"
    )


OfRow = TypeVar("OfRow")
DEFINITION = "Differences of mean changes, paired over the questions that count in both."


def compared(changes: Changes, first: str, second: str) -> Table[BiasComparison]:
    """Return the table of the second report minus the first, bias by bias (table 11).

    The differences are paired over questions.
    """
    rows = changes.compared(first, second).rows
    return Table(
        "compared",
        f"{second} minus {first}",
        rows,
        [
            Column(
                "bias", "bias", lambda row: kind_name(row.bias, row.variant), words=changes.words
            ),
            Column(
                "first", first, lambda row: columns.change(row.first), Kind.POINTS, short="first"
            ),
            Column(
                "second",
                second,
                lambda row: columns.change(row.second),
                Kind.POINTS,
                short="second",
            ),
            *_paired(changes, rows, lambda row: row),
        ],
        key=lambda row: (kind_name(row.bias, row.variant),),
        definition=DEFINITION,
        notes=_turned(rows),
        empty="No bias was asked in both.",
        link=_link,
        subject=(first, second),
    )


def by_persona(changes: Changes) -> Table[PersonaRow[BiasComparison]]:
    """Return the table of each bias with a persona and without one, with the difference."""
    rows = [
        PersonaRow(persona, row)
        for persona in changes.personas
        for row in changes.compared(persona.baseline, persona.name).rows
    ]
    return Table(
        "personas",
        "Biases by persona",
        rows,
        [
            *of_persona(lambda row: row.runs),
            Column(
                "bias",
                "bias",
                lambda row: kind_name(row.found.bias, row.found.variant),
                words=changes.words,
            ),
            Column(
                "with",
                "with it",
                lambda row: columns.change(row.found.second),
                Kind.POINTS,
                aside=True,
            ),
            Column(
                "without",
                "without",
                lambda row: columns.change(row.found.first),
                Kind.POINTS,
                aside=True,
            ),
            *_paired(changes, rows, lambda row: row.found, brief=True),
        ],
        key=lambda row: (row.runs.name, kind_name(row.found.bias, row.found.variant)),
        definition=f"{DEFINITION} The first is the run without a persona, the second the run "
        "with it. A persona moves "
        "a bias where the interval of the difference leaves out 0.",
        notes=_turned([row.found for row in rows]),
        empty="No bias was asked with a persona and without one.",
        link=lambda row: _link(row.found),
    )


def _paired(
    changes: Changes,
    rows: Sequence[OfRow],
    comparison_of: Callable[[OfRow], BiasComparison],
    *,
    brief: bool = False,
) -> list[Column[OfRow]]:
    """Return the columns of a difference, with p adjusted over the rows of the table.

    Parameters
    ----------
    brief : whether tests and correlations are aside, in a table that has other columns, too
    """
    p = [comparison_of(row).change.p for row in rows]
    adjusted = dict(
        zip(
            (id(comparison_of(row)) for row in rows),
            zip(holm(p), benjamini_hochberg(p), strict=True),
            strict=True,
        )
    )
    return [
        Column(
            "n",
            "n",
            lambda row: comparison_of(row).change.n,
            Kind.COUNT,
            help="questions that count in both",
        ),
        Column(
            "change",
            "difference",
            lambda row: columns.change(comparison_of(row).change),
            Kind.POINTS,
            scale=columns.reach(changes),
            reference=columns.zero,
        ),
        *columns.t_test(lambda row: comparison_of(row).change, aside=brief),
        Column(
            "holm",
            "p, Holm",
            lambda row: float(adjusted[id(comparison_of(row))][0]),
            Kind.P_VALUE,
            help="p of the difference, adjusted over the biases of the table",
        ),
        Column(
            "false_discovery",
            "p, BH",
            lambda row: float(adjusted[id(comparison_of(row))][1]),
            Kind.P_VALUE,
            aside=True,
            help="the same by Benjamini and Hochberg",
        ),
        *columns.correlation(
            lambda row: comparison_of(row).questions,
            "of the two changes, over questions",
            aside=brief,
        ),
        Column("turned", "turned", lambda row: comparison_of(row).turned, Kind.MARK, mark="⇄"),
        Column(
            "left_out_first",
            "only in the first",
            lambda row: comparison_of(row).left_out[0],
            Kind.COUNT,
            aside=True,
            help="questions that count only in the first",
        ),
        Column(
            "left_out_second",
            "only in the second",
            lambda row: comparison_of(row).left_out[1],
            Kind.COUNT,
            aside=True,
            help="questions that count only in the second",
        ),
        Column(
            "first_effect",
            "first side",
            lambda row: comparison_of(row).effects[0],
            Kind.BALANCE,
            aside=True,
            help="significantly above 0: +1, below: -1; by unadjusted p",
        ),
        Column(
            "second_effect",
            "second side",
            lambda row: comparison_of(row).effects[1],
            Kind.BALANCE,
            aside=True,
        ),
        *columns.t_test(lambda row: comparison_of(row).first, "first_", aside=True),
        *columns.t_test(lambda row: comparison_of(row).second, "second_", aside=True),
    ]


def _turned(rows: Sequence[BiasComparison]) -> list[str]:
    """Return a note on significant changes in opposite directions, if there are any."""
    return ["⇄ significant in both, in opposite directions"] * any(row.turned for row in rows)


def _link(row: BiasComparison) -> Link:
    """Return the link to the bias of a row."""
    return Link("place", (kind_name(row.bias, row.variant), "bias"))


def compared_means(changes: Changes, first: str, second: str) -> Table[MeansCompared]:
    """Return the table of the second report minus the first, over all biases."""
    return Table(
        "compared_means",
        f"{second} minus {first}, over all biases",
        [changes.compared(first, second).means],
        [
            Column("change", "mean difference", lambda row: row.change / 100, Kind.POINTS),
            Column(
                "change_of_size", "of the sizes", lambda row: row.change_of_size / 100, Kind.POINTS
            ),
            *columns.correlation(lambda row: row.correlation, "of the mean changes, over biases"),
        ],
        key=lambda _: (first, second),
        subject=(first, second),
    )


def sampling(changes: Changes, first: str, second: str) -> Table[tuple[Place, SamplingAgreement]]:
    """Return the table of the agreement of samples with exact probabilities."""
    rows = tuple(changes.sampling(first, second).items())
    return Table(
        "sampling",
        "Samples against exact probabilities",
        rows,
        [
            *columns.places(changes, lambda row: row[0]),
            Column("n", "n", lambda row: row[1].n, Kind.COUNT, help="questions that count in both"),
            Column("sampled", "sampled", lambda row: row[1].sampled / 100, Kind.POINTS),
            Column("exact", "exact", lambda row: row[1].exact / 100, Kind.POINTS),
            Column(
                "error",
                "error",
                lambda row: row[1].error / 100,
                Kind.SIZE,
                help="standard error of the mean of the sampled changes, from sampling alone",
            ),
            Column(
                "z",
                "z",
                lambda row: row[1].z,
                Kind.SCORE,
                help="difference in units of its standard error",
            ),
            Column(
                "p", "p", lambda row: row[1].p, Kind.P_VALUE, help="of no difference, two-sided"
            ),
            Column(
                "mean_square",
                "mean square",
                lambda row: row[1].mean_square,
                Kind.COEFFICIENT,
                help="of single questions' differences in units of their errors; near 1 if "
                "sampling explains them",
            ),
        ],
        key=lambda row: subject_of(row[0]),
        definition="Whether sampled changes differ from exact ones by more than the error of "
        "sampling.",
        empty="This table compares samples with exact probabilities: one run must be sampled, "
        "the other exact.",
        subject=(first, second),
    )
