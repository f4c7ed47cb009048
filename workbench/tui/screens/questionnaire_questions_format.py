"""A questionnaire as cells and sentences: its questions, its scales, and what a change to them means; pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from rich.text import Text
from textual.content import Content

from workbench.domain.counting import plural
from workbench.domain.questionnaire_tallies import Tallied
from workbench.domain.questionnaires import Form, Meaning, Option, Pole, Question, Role, Scale, folded
from workbench.tui.format import literal, visible
from workbench.tui.row_keys import row_key
from workbench.tui.screens.questionnaire_format import WIDE
from workbench.tui.widgets.record_table import Column, Record

LEANINGS = (None, Pole.LIBERAL, Pole.CONSERVATIVE)
"what `l` goes through"
COUNTED = (Meaning.YES, Meaning.NO, Meaning.NEUTRAL, Meaning.MISSING)
EFFECTS = {
    Meaning.YES: "shown to the model, and counted, as yes",
    Meaning.NO: "shown to the model, and counted, as no",
    Meaning.NEUTRAL: "neutral: neither shown to the model nor predicted",
    Meaning.MISSING: "missing: neither shown to the model nor predicted",
}


@dataclass(frozen=True, eq=False, slots=True)
class Held:
    """A questionnaire with what is said of its questions elsewhere."""

    tallied: Tallied
    scales: Mapping[str, Scale]
    "every scale that a question may have: its own, and the shipped ones"
    texts: Mapping[str, str]
    topics: Mapping[str, str]

    @property
    def questions(self) -> tuple[Question, ...]:
        return self.tallied.questionnaire.questions

    @property
    def people(self) -> int:
        return self.tallied.respondents

    def question(self, ref: str | None) -> Question | None:
        return next((question for question in self.questions if question.ref == ref), None)

    def of_scale(self, name: str) -> tuple[Question, ...]:
        """Return the questions that have a scale."""
        return tuple(question for question in self.questions if question.scale == name)

    def given(self, scale: Scale, option: Option) -> int:
        """Return how often an answer of a scale was given."""
        answers = (self.tallied.given.get(question.ref, {}) for question in self.of_scale(scale.name))
        values = {folded(value) for value in option.values}
        return sum(n for given in answers for value, n in given.items() if folded(value) in values)

    def blank(self, scale: Scale) -> int:
        """Return how often questions of a scale were left without an answer."""
        answers = (self.tallied.given.get(question.ref, {}) for question in self.of_scale(scale.name))
        return sum(self.people - sum(given.values()) for given in answers)


# ── questions ───────────────────────────────────────────────────────────────────────────────────────────────────────


def question_columns(width: int) -> tuple[Column, ...]:  # noqa: ARG001  columns say themselves where they fit
    """Return the columns of the questions for a width."""
    return (
        Column("place", "", 4),
        Column("ref", "question", 15),
        Column("role", "role", 10),
        Column("leaning", "yes leans", 13),
        Column("scale", "scale", 12),
        Column("form", "form", 11, least=WIDE),
        Column("counts", "  yes   no neut miss", 21),
        Column("topic", "topic", 20, least=WIDE),
        Column("text", "text", None, least=100),
    )


def question_record(place: int, question: Question, of: Held) -> Record:
    """Return the row of a question."""
    target = question.role is Role.TARGET
    counts = of.tallied.meanings(question)
    numbers = "".join(f"{counts.get(meaning, 0):>5,}" for meaning in COUNTED)
    return question.ref, (
        Text(f"{place:>3}", style="dim"),
        literal(question.ref, 14, style="bold" if target else ""),
        Text("▸ target" if target else "  context ", style="bold" if target else "dim"),
        Text(question.leaning.value if question.leaning else "–", style="" if question.leaning else "dim"),
        literal(question.scale, 11),
        Text(question.form.value, style="dim"),
        Text(numbers, style="dim"),
        literal(of.topics.get(question.ref, ""), 19, style="dim"),
        literal(of.texts.get(question.ref, ""), 200),
    )


def question_details(question: Question, of: Held) -> Content:
    """Return the text of a question and what its answers come to."""
    ask = "Do you agree with the following statement? " if question.form is Form.STATEMENT else ""
    counts = of.tallied.meanings(question)
    said = " · ".join(f"{counts.get(meaning, 0):,} {meaning.value}" for meaning in COUNTED)
    topic = of.topics.get(question.ref, "")
    parts = [topic] if topic else []
    parts.append(f"{question.form.value} on {question.scale}: {scale_words(of.scales[question.scale])}")
    return Content.assemble(
        f"{ask}{visible(of.texts.get(question.ref, ''))}\n",
        (visible(" · ".join(parts)), "$text-muted"),
        f"\n{plural(of.people, 'respondent')}: {said}",
    )


def scale_words(scale: Scale) -> str:
    """Return the answers of a scale and what they mean."""
    return ", ".join(f"{option.values[0]} = {option.meaning.value}" for option in scale.options)


def about(of: Held, name: str) -> Content:
    """Say what the questionnaire holds."""
    roles = [f"{len(of.tallied.questionnaire.of_role(role)):,} {role.value}" for role in Role]
    scales = len({question.scale for question in of.questions})
    return Content.assemble(
        (visible(name), "bold"),
        f" · {plural(len(of.questions), 'question')}: {', '.join(roles)}"
        f" · {plural(of.people, 'respondent')} · {plural(scales, 'scale')}",
    )


# ── scales ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def scale_columns(width: int) -> tuple[Column, ...]:  # noqa: ARG001  the same at every width
    return (Column("scale", "scale", 14), Column("answer", "answer", 22), Column("meaning", "means", 12),
            Column("given", "   given", 10), Column("also", "also written", None))  # fmt: skip


def scale_records(of: Held) -> list[Record]:
    """Return the answers of all scales; a row's key is the scale and the answer."""
    return [
        _option_record(scale, place, option, of.given(scale, option), of.blank(scale))
        for scale in of.tallied.questionnaire.scales
        for place, option in enumerate(scale.options)
    ]


def _option_record(scale: Scale, place: int, option: Option, times: int, blank: int) -> Record:
    marks = {Meaning.YES: "+", Meaning.NO: "−", Meaning.NEUTRAL: "=", Meaning.MISSING: "·"}
    left = [f"and {blank:,} left blank"] if blank and option.meaning is Meaning.MISSING else []
    return row_key(scale.name, option.values[0]), (
        literal(scale.name if place == 0 else "", 13, style="bold"),
        literal(option.values[0], 21),
        Text(f"{marks[option.meaning]} {option.meaning.value}"),
        Text(f"{times:>8,}", style="dim"),
        literal(", ".join((*option.values[1:], *left)), 60, style="dim"),
    )


def scale_details(of: Held, scale: Scale, value: str) -> Content:
    """Say where an answer's scale is used and what the answer comes to."""
    used = of.of_scale(scale.name)
    targets = [question.ref for question in used if question.role is Role.TARGET]
    option = scale.option(value)
    means = EFFECTS[option.meaning] if option else ""
    named = f": {', '.join(targets[:6])}{' …' if len(targets) > 6 else ''}" if targets else ""
    named += f"; {blank:,} left blank are missing, too" if (blank := of.blank(scale)) else ""
    return Content.assemble(
        (visible(value), "bold"),
        f"  is {means}\n",
        (
            visible(f"{scale.name}: {plural(len(used), 'question')}, {len(targets)} of them targets{named}"),
            "$text-muted",
        ),
    )


# ── what a change means ─────────────────────────────────────────────────────────────────────────────────────────────


def next_leaning(leaning: Pole | None) -> Pole | None:
    return LEANINGS[(LEANINGS.index(leaning) + 1) % len(LEANINGS)]


def next_scale(names: Sequence[str], name: str) -> str:
    return names[(names.index(name) + 1) % len(names)] if name in names else names[0]


def change_words(before: Question, after: Question, people: int) -> str:
    """Say what a change to a question does, in sentences."""
    return f"{before.ref}: " + " ".join(_changes(before, after, people))


def _changes(before: Question, after: Question, people: int) -> Iterator[str]:
    if after.role is not before.role:
        yield f"{before.role.value} → {after.role.value}."
        if after.role is Role.TARGET:
            yield "Its answers are then predicted, and no longer shown to the model."
        else:
            yield f"Its answers by {plural(people, 'respondent')} are then shown to the model, and no longer predicted."
        yield "What was asked so far had another context: run the audit again."
    if after.leaning != before.leaning:
        names = (leaning.value if leaning else "neither" for leaning in (before.leaning, after.leaning))
        yield "a yes leans to: " + " → ".join(names) + "."
        yield "Only the liberal-conservative axis changes, at once; nothing is asked again."
    if after.form is not before.form:
        yield f"{before.form.value} → {after.form.value}."
        yield "The model is then asked in other words: run the audit again."
    if after.scale != before.scale:
        yield f"scale {before.scale} → {after.scale}."
        yield "Answers that are not on that scale are refused. Figures follow at once; contexts may change."


def remapped(scale: Scale, value: str, meaning: Meaning) -> Scale:
    return scale.remapped({value: meaning})


def mapping_words(of: Held, scale: Scale, value: str, meaning: Meaning) -> str:
    """Say what another meaning of an answer does, in sentences."""
    option = scale.option(value)
    assert option is not None
    used = of.of_scale(scale.name)
    times = of.given(scale, option)
    return (
        f"{scale.name}: {value!r} means {option.meaning.value} → {meaning.value}. It was given {times:,} "
        f"time{'s' * (times != 1)}, to {plural(len(used), 'question')}, and is then {EFFECTS[meaning]}. Answers to "
        "targets count so at once; contexts that hold it were asked otherwise: run the audit again."
    )


def with_change(question: Question, what: str, scales: Sequence[str]) -> Question:
    """Return a question after one step of `role`, `leaning`, `form` or `scale`."""
    if what == "role":
        return replace(question, role=Role.CONTEXT if question.role is Role.TARGET else Role.TARGET)
    if what == "leaning":
        return replace(question, leaning=next_leaning(question.leaning))
    if what == "form":
        return replace(question, form=Form.QUESTION if question.form is Form.STATEMENT else Form.STATEMENT)
    return replace(question, scale=next_scale(scales, question.scale))
