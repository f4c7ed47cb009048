"""Survey questions with their options in both orders, and the letters that were answered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from stores.core.store import Store
from stores.runs.answers import AskedProbe
from stores.runs.run_rows import Run
from workbench.audits.audit import Material
from workbench.audits.representation.likeness import ComparedQuestion, LetterSample
from workbench.domain.choices import LETTERS, Choice
from workbench.domain.designs import Design
from workbench.domain.instruments import Instrument
from workbench.domain.keys import content_key
from workbench.domain.prompts import Probe, Template
from workbench.domain.questionnaires import Form, Question, Questionnaire, Survey, named_few
from workbench.domain.responses import EXACT
from workbench.domain.statements import ORIGINAL, QUESTION, Statement, VariantId
from workbench.errors import UsageError
from workbench.evidence.letters import OPTIONS, asked_forms
from workbench.evidence.letters import AskedForm as Letters
from workbench.evidence.rulings import RunRulings
from workbench.options.shared import INSTRUMENT, STATEMENTS
from workbench.stats.arrays import FloatArray
from workbench.stats.design_precision import smallest_mean
from workbench.stats.power import in_per_cent, share_found

ORDER, SCALE = "order_of_options", "offered"
"axes of a probe: the order of the options, and a key of the options"
PRINTED, REVERSED = "printed", "reversed"
DIGITS = 16
"number of hexadecimal digits that identify options"


def askable(questionnaire: Questionnaire | None) -> dict[str, tuple[Question, ComparedQuestion]]:
    """Return the questions that offer a choice, by ref and in order."""
    if questionnaire is None:
        return {}
    scales = {scale.name: scale for scale in questionnaire.scales}
    questions_with_choices = (
        (question, ComparedQuestion.of(scales[question.scale]))
        for question in questionnaire.questions
    )
    return {
        question.ref: (question, survey_question)
        for question, survey_question in questions_with_choices
        if survey_question is not None
    }


def key_of(asked: ComparedQuestion) -> str:
    """Return the key of the options of a question, as a probe stores it."""
    return content_key(list(asked.options)).hex()[:DIGITS]


def default_variants(available: Sequence[VariantId]) -> tuple[VariantId, ...]:
    """Return the original and the question wording, as far as they are available."""
    return tuple(variant for variant in (ORIGINAL, QUESTION) if variant in available)


def asked(
    store: Store, design: Design, chosen: Sequence[Statement]
) -> tuple[Sequence[Statement], Survey]:
    """Return the questions among the selected statements, and the questionnaire without answers.

    Raises UsageError if there is none, or if a named statement is not a question.
    """
    questionnaire = store.questionnaires.get(design.instrument, people=False)
    questions = askable(questionnaire)
    if questionnaire is None or not questions:
        raise INSTRUMENT.error(
            f"{design.instrument} has no questions with options that people chose from. Import a "
            "survey: workbench import STORE FILE --format survey, or choose another --instrument"
        )
    other_refs = [ref for ref in design.statements if ref not in questions]
    if other_refs:
        raise STATEMENTS.error(
            f"{named_few(other_refs)}: no question with a scale of two options or more"
        )
    return [statement for statement in chosen if statement.ref in questions], Survey(
        questionnaire, seed=design.seed
    )


def probes(
    statements: Sequence[Statement],
    templates: Sequence[Template],
    variants: Sequence[VariantId],
    language: str,
    model_name: str,
    material: Material,
) -> Iterator[Probe]:
    """Yield every wording of every question, with its options in both orders.

    A question is only asked under the template of its form.
    """
    if not isinstance(material, Survey):
        raise UsageError("this audit needs questions with scales of answers")
    survey_questions = askable(material.questionnaire)
    for statement in statements:
        question, survey_question = survey_questions[statement.ref]
        for variant, text in _put(statement, variants, language):
            for template in (
                candidate
                for candidate in templates
                if candidate.name not in _of_other_forms(question)
            ):
                for order in (PRINTED, REVERSED):
                    options = (
                        survey_question.options
                        if order == PRINTED
                        else survey_question.options[::-1]
                    )
                    options_text = Choice("", options).lettered()
                    prompt = template.render(text + options_text, model_name)
                    axes = (
                        (ORDER, order),
                        (OPTIONS, str(len(options))),
                        (SCALE, key_of(survey_question)),
                    )
                    yield Probe(
                        statement.ref,
                        str(variant),
                        template.name,
                        template.inverted,
                        prompt,
                        axes,
                        below=options_text,
                    )


def _of_other_forms(question: Question) -> list[str]:
    """Return the names of the templates for other forms, under which a question is not asked."""
    return [form.value for form in Form if form is not question.form]


def _put(
    statement: Statement, variants: Sequence[VariantId], language: str
) -> list[tuple[VariantId, str]]:
    """Return the wordings that are asked, with their texts.

    The question wording is only asked if there is no original.
    """
    available = [
        (variant, wording.text)
        for variant in variants
        if (wording := statement.wording(variant, language)) is not None
    ]
    has_original = any(variant == ORIGINAL for variant, _ in available)
    return [
        (variant, text) for variant, text in available if variant != QUESTION or not has_original
    ]


def offered(probe: Probe) -> str:
    """Return the letters that a prompt offers."""
    return LETTERS[: int(dict(probe.axes)[OPTIONS])]


SPREAD = 0.2
"standard deviation of differences of likeness between questions, for an example"


EXAMPLE = 0.05
"a difference that is worth finding, for an example"


def detects(questions: int) -> str:
    """Return a sentence on the smallest difference that so many questions show, or "" for none.

    The difference is one of two likenesses.
    """
    points = 100 * smallest_mean(SPREAD, questions)
    spread_text = f"where the differences of single questions spread by {100 * SPREAD:.0f} points"
    if points != points:
        return ""
    study_share = in_per_cent(share_found(EXAMPLE, SPREAD / questions**0.5, questions - 1))
    example = f"one of {100 * EXAMPLE:.0f} points in {study_share}"
    return (
        f"can show: a difference of {points:.0f} points of likeness in 80 % of studies and "
        f"{example}, {spread_text}"
    )


def unasked(instrument: Instrument) -> tuple[str, ...]:
    """Return a note on the questions of a survey that cannot be asked with their options."""
    questionnaire = instrument.questionnaire
    questions = askable(questionnaire)
    excluded = (
        [question.ref for question in questionnaire.questions if question.ref not in questions]
        if questionnaire is not None and questions
        else []
    )
    sentence = (
        f"{named_few(excluded)}: not put with options, because there are fewer than two or more "
        "than 26"
    )
    return (sentence,) if excluded else ()


class _OrderLetters(NamedTuple):
    """The letters of one prompt."""

    shares: FloatArray
    "of the options in the order of the question, not of the prompt"
    number: int
    "0: probabilities were computed"


def _letters_of(
    form: Letters | None, question: ComparedQuestion, order: str
) -> _OrderLetters | None:
    """Return the letters of a prompt, or None if none of them was offered."""
    if form is None:
        return None
    masses = _masses(form, question, order)
    total = masses.sum()
    return _OrderLetters(masses / total, form.valid) if total > 0 else None


class Answers:
    """The letters of one run as distributions over options, by question."""

    def __init__(
        self,
        store: Store,
        run: Run,
        question_by_ref: Mapping[str, tuple[Question, ComparedQuestion]],
        rulings: RunRulings,
    ) -> None:
        forms = asked_forms(store, run, rulings)
        self.given = asked_forms(store, run, rulings.as_given) if rulings.leaves_out else forms
        "the answers to each prompt, before exclusions"
        self.drawn: dict[str, int] = {}
        "number of letters that were drawn, by question; 0: probabilities were computed"
        self.unnamed: dict[str, float] = {}
        "the largest probability of a letter that an endpoint did not name, by question"
        self.exact = run.sampling.mode == EXACT
        "whether the letters have probabilities and none were drawn"
        letters_by_order: dict[str, dict[str, list[_OrderLetters]]] = {}
        stale: dict[str, None] = {}
        valid_shares: dict[str, dict[str, list[float]]] = {}
        for probe in store.raw_answers.probes(run):
            if probe.probe in rulings.probes:
                continue
            form, order = forms.get(probe.probe), probe.axes[ORDER]
            question, survey_question = question_by_ref.get(probe.ref, (None, None))
            if (
                question is None
                or survey_question is None
                or not _as_now(probe, question, survey_question)
            ):
                if form is not None:
                    stale[probe.ref] = None
                continue
            shares_by_order = valid_shares.setdefault(probe.ref, {})
            shares_by_order.setdefault(order, []).append(_valid_share(form))
            letters = _letters_of(form, survey_question, order)
            if form is not None and letters is not None:
                letters_by_order.setdefault(probe.ref, {}).setdefault(order, []).append(letters)
                self._add_counts(probe.ref, form)
        self.under = {
            ref: {
                order: np.asarray(np.mean([letters.shares for letters in parts], axis=0))
                for order, parts in by_order.items()
            }
            for ref, by_order in letters_by_order.items()
            if len(by_order) == 2
        }
        """ref -> order of the options -> distribution, the mean over wordings; only questions that
        were answered in both orders"""
        self.samples = {
            ref: _sample([letters_by_order[ref][order] for order in self.under[ref]])
            for ref in self.under
        }
        "ref -> the letters behind the mean of both orders"
        self.missing = {
            ref: _missing(by_order) if ref in self.under else 1.0
            for ref, by_order in valid_shares.items()
        }
        """ref of every question that was asked in its current form -> share of its answers without
        an offered letter"""
        self.letters = {
            ref: as_many(
                [[letters.number for letters in parts] for parts in letters_by_order[ref].values()]
            )
            for ref in self.under
        }
        "ref -> number of letters from one prompt that are as noisy; 0: probabilities were computed"
        self.halves = tuple(ref for ref in letters_by_order if ref not in self.under)
        "questions that were answered in only one order of their options"
        self.stale = tuple(ref for ref in stale if ref not in letters_by_order)
        "questions that were only asked in another form than the current one"

    def _add_counts(self, ref: str, form: Letters) -> None:
        """Add the letters of a form to the counts of its question."""
        self.drawn[ref] = self.drawn.get(ref, 0) + form.valid
        if form.unnamed:
            self.unnamed[ref] = max(form.unnamed, self.unnamed.get(ref, 0.0))

    @property
    def both(self) -> dict[str, FloatArray]:
        """The mean distribution of both orders, by question."""
        return {
            ref: (by_order[PRINTED] + by_order[REVERSED]) / 2
            for ref, by_order in self.under.items()
        }

    @property
    def by_position(self) -> dict[str, FloatArray]:
        """The answers that the model's preference for positions gives to any options."""
        by_size: dict[int, list[FloatArray]] = {}
        for by_order in self.under.values():
            letters = (by_order[PRINTED] + by_order[REVERSED][::-1]) / 2
            by_size.setdefault(len(letters), []).append(letters)
        letters_of = {size: np.mean(letters, axis=0) for size, letters in by_size.items()}
        expected = {
            size: np.asarray((letters + letters[::-1]) / 2) for size, letters in letters_of.items()
        }
        return {ref: expected[len(by_order[PRINTED])] for ref, by_order in self.under.items()}

    def moved(self, *refs: str) -> float:
        """Return the mean total variation between the two orders, or NaN without questions.

        It is over these questions, or over all if none are named.
        """
        distances = [
            np.abs(self.under[ref][PRINTED] - self.under[ref][REVERSED]).sum() / 2
            for ref in refs or self.under
        ]
        return float(np.mean(distances)) if distances else float("nan")


def _valid_share(form: Letters | None) -> float:
    """Return the share of the answers to a prompt with an offered letter.

    For probabilities it is that of the offered letters together, as if answers had been drawn.
    """
    if form is None:
        return 0.0
    if form.masses is not None:
        return min(1.0, float(sum(form.masses.values())))
    return form.valid / form.drawn if form.drawn else 0.0


def _missing(by_order: Mapping[str, Sequence[float]]) -> float:
    """Return the share without an offered letter, the mean over wordings and then over orders."""
    return 1 - float(np.mean([np.mean(shares) for shares in by_order.values()]))


def _sample(arms: Sequence[Sequence[_OrderLetters]]) -> LetterSample:
    """Return the letters behind a mean over orders of means over wordings.

    Parameters
    ----------
    arms : the letters of each wording, by order
    """
    parts = [
        (share, count, 1 / len(arms) / len(order_parts))
        for order_parts in arms
        for share, count in order_parts
    ]
    shares, counts, weights = zip(*parts, strict=True)
    return LetterSample(np.array(shares), np.array(counts, dtype=np.int64), np.array(weights))


def _masses(form: Letters, question: ComparedQuestion, order: str) -> FloatArray:
    """Return the counts or probabilities of the options, in the order of the scale."""
    value_by_letter: Mapping[str, float] = form.masses or (
        dict(form.answers.counts) if form.answers is not None else {}
    )
    masses = np.array(
        [value_by_letter.get(letter, 0.0) for letter in LETTERS[: len(question.options)]],
        dtype=np.float64,
    )
    return masses if order == PRINTED else masses[::-1]


def _as_now(probe: AskedProbe, question: Question, current_question: ComparedQuestion) -> bool:
    """Return whether a prompt offers the current options of its question, in its current form."""
    return probe.axes.get(SCALE) == key_of(
        current_question
    ) and probe.template not in _of_other_forms(question)


def as_many(arms: Sequence[Sequence[int]]) -> int:
    """Return the number of letters from one prompt that are as noisy as the mean over several.

    It is the number of all letters if every prompt has as many, and 0 for probabilities.

    Parameters
    ----------
    arms : by order of the options, the number of letters of each wording
    """
    if not all(n_letters for order_counts in arms for n_letters in order_counts):
        return 0
    return round(
        1
        / sum(
            (1 / len(arms) / len(order_counts)) ** 2 / n_letters
            for order_counts in arms
            for n_letters in order_counts
        )
    )
