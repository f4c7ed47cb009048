"""Survey questions with their options, each in both orders of the options, and the letters that
came back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from stores.core.store import Store
from stores.runs.answers import AskedProbe
from stores.runs.run_rows import Run
from workbench.audits.audit import Material
from workbench.audits.representation.likeness import Sample, SurveyQuestion
from workbench.domain.choices import LETTERS, Choice
from workbench.domain.designs import Design
from workbench.domain.instruments import Instrument
from workbench.domain.keys import content_key
from workbench.domain.prompts import Probe, Template
from workbench.domain.questionnaires import Form, Question, Questionnaire, Survey, named_few
from workbench.domain.responses import EXACT
from workbench.domain.statements import ORIGINAL, QUESTION, Statement, VariantId
from workbench.errors import UsageError
from workbench.evidence.letters import OPTIONS, forms_of
from workbench.evidence.letters import Form as Letters
from workbench.evidence.rulings import RunRulings
from workbench.options.shared import INSTRUMENT, STATEMENTS
from workbench.stats.arrays import FloatArray
from workbench.stats.design_precision import smallest_mean
from workbench.stats.power import in_per_cent, share_found

ORDER, SCALE = "order_of_options", "offered"
"axes of a probe: whether the options stand from first to last, and which options there are"
PRINTED, REVERSED = "printed", "reversed"
DIGITS = 16
"hexadecimal digits that tell options from others"


def askable(questionnaire: Questionnaire | None) -> dict[str, tuple[Question, SurveyQuestion]]:
    """Return the questions that offer a choice, by ref and in order."""
    if questionnaire is None:
        return {}
    scales = {scale.name: scale for scale in questionnaire.scales}
    found = (
        (question, SurveyQuestion.of(scales[question.scale]))
        for question in questionnaire.questions
    )
    return {question.ref: (question, asked) for question, asked in found if asked is not None}


def key_of(asked: SurveyQuestion) -> str:
    """Return what tells the options of a question from others, as a probe keeps it."""
    return content_key(list(asked.options)).hex()[:DIGITS]


def default_variants(available: Sequence[VariantId]) -> tuple[VariantId, ...]:
    """Return the original; the question, of statements that have no original."""
    return tuple(one for one in (ORIGINAL, QUESTION) if one in available)


def asked(
    store: Store, design: Design, chosen: Sequence[Statement]
) -> tuple[Sequence[Statement], Survey]:
    """Return the questions among the chosen statements, and the questionnaire without people's
    answers.

    Raises UsageError where there is none, or a statement that is named is none.
    """
    known = store.questionnaires.get(design.instrument, people=False)
    there = askable(known)
    if known is None or not there:
        raise INSTRUMENT.error(
            f"{design.instrument} has no questions with options that people chose from. Import a "
            "survey: workbench "
            "import STORE FILE --format survey, or choose another --instrument"
        )
    strange = [ref for ref in design.statements if ref not in there]
    if strange:
        raise STATEMENTS.error(
            f"{named_few(strange)}: no question with a scale of two options or more"
        )
    return [one for one in chosen if one.ref in there], Survey(known, seed=design.seed)


def probes(
    statements: Sequence[Statement],
    templates: Sequence[Template],
    variants: Sequence[VariantId],
    language: str,
    model_name: str,
    material: Material,
) -> Iterator[Probe]:
    """Yield every wording of every question under the template of its form, with its options in
    both orders.
    """
    if not isinstance(material, Survey):
        raise UsageError("this audit needs questions with scales of answers")
    there = askable(material.questionnaire)
    for statement in statements:
        question, of = there[statement.ref]
        for variant, text in _put(statement, variants, language):
            for template in (one for one in templates if one.name not in _of_other_forms(question)):
                for order in (PRINTED, REVERSED):
                    options = of.options if order == PRINTED else of.options[::-1]
                    below = Choice("", options).lettered()
                    prompt = template.render(text + below, model_name)
                    axes = ((ORDER, order), (OPTIONS, str(len(options))), (SCALE, key_of(of)))
                    yield Probe(
                        statement.ref,
                        str(variant),
                        template.name,
                        template.inverted,
                        prompt,
                        axes,
                        below=below,
                    )


def _of_other_forms(question: Question) -> list[str]:
    """Return the names of the templates that a question is not put under, because they put another
    form.
    """
    return [form.value for form in Form if form is not question.form]


def _put(
    statement: Statement, variants: Sequence[VariantId], language: str
) -> list[tuple[VariantId, str]]:
    """Return the wordings that are put, with their texts: the question alone only where there is no
    original.
    """
    there = [
        (one, wording.text)
        for one in variants
        if (wording := statement.wording(one, language)) is not None
    ]
    has_original = any(one == ORIGINAL for one, _ in there)
    return [(one, text) for one, text in there if one != QUESTION or not has_original]


def offered(probe: Probe) -> str:
    """Return the letters that a prompt offers."""
    return LETTERS[: int(dict(probe.axes)[OPTIONS])]


SPREAD = 0.2
"standard deviation of differences of likeness between questions, for an example"


EXAMPLE = 0.05
"a difference that is worth finding, for an example"


def detects(questions: int) -> str:
    """Return the smallest difference of two likenesses that so many questions show; empty: none."""
    found = 100 * smallest_mean(SPREAD, questions)
    spread = f"where the differences of single questions spread by {100 * SPREAD:.0f} points"
    if found != found:
        return ""
    often = in_per_cent(share_found(EXAMPLE, SPREAD / questions**0.5, questions - 1))
    example = f"one of {100 * EXAMPLE:.0f} points in {often}"
    return (
        f"can show: a difference of {found:.0f} points of likeness in 80 % of studies and "
        f"{example}, {spread}"
    )


def unasked(instrument: Instrument) -> tuple[str, ...]:
    """Say which questions of a survey cannot be put with their options."""
    people = instrument.questionnaire
    there = askable(people)
    silent = (
        [one.ref for one in people.questions if one.ref not in there]
        if people is not None and there
        else []
    )
    said = (
        f"{named_few(silent)}: not put with options, because there are fewer than two or more "
        "than 26"
    )
    return (said,) if silent else ()


class Answers:
    """The letters of one run as distributions over options, by question."""

    def __init__(
        self,
        store: Store,
        run: Run,
        known: Mapping[str, tuple[Question, SurveyQuestion]],
        rulings: RunRulings,
    ) -> None:
        forms = forms_of(store, run, rulings)
        self.given = forms_of(store, run, rulings.as_given) if rulings.leaves_out else forms
        "what came of each prompt, exclusions aside"
        self.drawn: dict[str, int] = {}
        "how many letters were drawn; 0: probabilities were computed"
        self.unnamed: dict[str, float] = {}
        "the most that a letter may have that an endpoint did not name, where there is one"
        self.exact = run.sampling.mode == EXACT
        "whether the letters have probabilities and none were drawn"
        arms: dict[str, dict[str, list[tuple[FloatArray, int]]]] = {}
        stale: dict[str, None] = {}
        tried: dict[str, dict[str, list[float]]] = {}
        for probe in store.raw_answers.probes(run):
            form = forms.get(probe.probe)
            if probe.probe in rulings.probes:
                continue
            question, of = known.get(probe.ref, (None, None))
            if question is None or of is None or not _as_now(probe, question, of):
                if form is not None:
                    stale[probe.ref] = None
                continue
            tried.setdefault(probe.ref, {}).setdefault(probe.axes[ORDER], []).append(
                _valid_share(form)
            )
            if form is not None and (masses := _masses(form, of, probe.axes[ORDER])).sum() > 0:
                arm = arms.setdefault(probe.ref, {}).setdefault(probe.axes[ORDER], [])
                arm.append((masses / masses.sum(), form.valid))
                self.drawn[probe.ref] = self.drawn.get(probe.ref, 0) + form.valid
                if form.unnamed:
                    self.unnamed[probe.ref] = max(form.unnamed, self.unnamed.get(probe.ref, 0.0))
        self.under = {
            ref: {
                order: np.asarray(np.mean([one for one, _ in every], axis=0))
                for order, every in by_order.items()
            }
            for ref, by_order in arms.items()
            if len(by_order) == 2
        }
        """ref -> order of the options -> distribution, the mean over wordings; questions answered
        in both orders"""
        self.samples = {
            ref: _sample([arms[ref][order] for order in self.under[ref]]) for ref in self.under
        }
        "ref -> the letters behind the mean of both orders"
        self.missing = {
            ref: _missing(by_order) if ref in self.under else 1.0 for ref, by_order in tried.items()
        }
        """ref of every question that was asked as it is now put -> share of its answers without an
        offered letter"""
        self.letters = {
            ref: as_many([[n for _, n in every] for every in arms[ref].values()])
            for ref in self.under
        }
        "ref -> so many letters drawn evenly are as noisy; 0: probabilities were computed"
        self.halves = tuple(ref for ref in arms if ref not in self.under)
        "questions that were answered in one order of their options alone"
        self.stale = tuple(ref for ref in stale if ref not in arms)
        "questions that were asked otherwise than they are now put alone"

    @property
    def both(self) -> dict[str, FloatArray]:
        """The mean of both orders."""
        return {ref: (of[PRINTED] + of[REVERSED]) / 2 for ref, of in self.under.items()}

    @property
    def by_position(self) -> dict[str, FloatArray]:
        """The answers that the model's preference for positions alone gives, whatever the options
        say.
        """
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
        """Return the mean total variation between the two orders, of these questions or of all; NaN
        without any.
        """
        gaps = [
            np.abs(self.under[ref][PRINTED] - self.under[ref][REVERSED]).sum() / 2
            for ref in refs or self.under
        ]
        return float(np.mean(gaps)) if gaps else float("nan")


def _valid_share(form: Letters | None) -> float:
    """Return the share of the answers to a prompt with an offered letter; or whether any has a
    probability.
    """
    if form is None:
        return 0.0
    if form.masses is not None:
        return 1.0 if sum(form.masses.values()) > 0 else 0.0
    return form.valid / form.drawn if form.drawn else 0.0


def _missing(by_order: Mapping[str, Sequence[float]]) -> float:
    """Return the share without an offered letter, the mean over wordings and then over both
    orders.
    """
    return 1 - float(np.mean([np.mean(shares) for shares in by_order.values()]))


def _sample(arms: Sequence[Sequence[tuple[FloatArray, int]]]) -> Sample:
    """Return the letters behind a mean over orders of means over wordings. arms : by order, shares
    and numbers
    """
    parts = [(share, count, 1 / len(arms) / len(arm)) for arm in arms for share, count in arm]
    shares, counts, weights = zip(*parts, strict=True)
    return Sample(np.array(shares), np.array(counts, dtype=np.int64), np.array(weights))


def _masses(form: Letters, of: SurveyQuestion, order: str) -> FloatArray:
    """Return counts or probabilities by option, in the order of the scale."""
    given: Mapping[str, float] = form.masses or (
        dict(form.answers.counts) if form.answers is not None else {}
    )
    masses = np.array(
        [given.get(letter, 0.0) for letter in LETTERS[: len(of.options)]], dtype=np.float64
    )
    return masses if order == PRINTED else masses[::-1]


def _as_now(probe: AskedProbe, question: Question, of: SurveyQuestion) -> bool:
    """Return whether a prompt offers the options that its question has now, in the form that it
    has.
    """
    return probe.axes.get(SCALE) == key_of(of) and probe.template not in _of_other_forms(question)


def as_many(arms: Sequence[Sequence[int]]) -> int:
    """Return how many letters from one prompt are as noisy as those of several, of which means are
    taken: the number of all where every prompt has as many. 0: probabilities.

    arms : by order of the options, how many letters each wording has
    """
    if not all(n for arm in arms for n in arm):
        return 0
    return round(1 / sum((1 / len(arms) / len(arm)) ** 2 / n for arm in arms for n in arm))
