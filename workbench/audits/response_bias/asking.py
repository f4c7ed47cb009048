"""BiasMonkey: the audit of whether changes of a question that move people also move a model.

Typos, which do not move people, should not move the model. Every form of a question is presented
with its lettered options. The answer is one token, drawn until it is an offered letter (Tjuatja,
Chen, Wu, Talwalkar, Neubig 2024, section 3 and appendix C). If a backend gives the probabilities of
the next token, those of the letters are the limit of ever more samples. Prompts that steer a model
away from one bias are only used for the questions of that bias (appendix D). `score` computes the
figures.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from stores.core.store import Store
from workbench.audits.audit import Given, Material
from workbench.audits.response_bias.answers import find_kind, kind_name, place_said
from workbench.audits.response_bias.changes import NO_MIDDLE, NOT_TWO
from workbench.audits.response_bias.options import (
    AUDIT,
    BIASES,
    DEFAULTS,
    Definition,
)
from workbench.data import SHIPPED_CHOICES
from workbench.domain.choices import (
    LETTERS,
    Bias,
    ChoiceFault,
    ChoiceItem,
    ChoiceItems,
    Perturbation,
    over_biases,
    parse_choice,
)
from workbench.domain.designs import TRIES, Design
from workbench.domain.instruments import PERTURBATION_OF
from workbench.domain.names import enumerated, listed, plural
from workbench.domain.prompts import Probe, Template
from workbench.domain.questionnaires import Survey, named_few
from workbench.domain.statements import CHANGED, ORIGINAL, Statement, VariantId, VariantKind
from workbench.errors import UsageError
from workbench.evidence.letters import OPTIONS
from workbench.options.shared import INSTRUMENT, STATEMENTS, VARIANTS
from workbench.stats.design_precision import smallest_mean
from workbench.stats.power import in_per_cent, share_found

STEERS: Mapping[str, Bias] = {
    "steer-allow-forbid": Bias.ALLOW_FORBID,
    "steer-response-order": Bias.RESPONSE_ORDER,
}
"the first part of the names of templates that are about one bias"


def default_variants(available: Sequence[VariantId]) -> tuple[VariantId, ...]:
    """Return both forms of a question and every draw of typos."""
    return tuple(
        variant
        for variant in available
        if variant in (ORIGINAL, CHANGED) or variant.kind in PERTURBATION_OF
    )


def probes(
    statements: Sequence[Statement],
    templates: Sequence[Template],
    variants: Sequence[VariantId],
    language: str,
    model_name: str = "",
    material: Material = None,
) -> Iterator[Probe]:
    """Yield the forms of every question that can be compared, under every template.

    `left_out` describes the others.
    """
    if material is None or isinstance(material, Survey):
        raise UsageError("this audit needs multiple-choice questions")
    for statement in statements:
        if statement.ref in material:
            forms, _ = _forms(statement, variants, language)
            for variant, (text, options) in forms.items():
                for template in templates:
                    if (steered_bias := steered(template.name)) is None or steered_bias is material[
                        statement.ref
                    ].bias:
                        prompt = template.render(text, model_name)
                        axes = ((OPTIONS, str(options)),)
                        yield Probe(
                            statement.ref,
                            str(variant),
                            template.name,
                            template.inverted,
                            prompt,
                            axes,
                        )


def left_out(
    statements: Sequence[Statement],
    variants: Sequence[VariantId],
    language: str,
    items: ChoiceItems,
) -> tuple[str, ...]:
    """Return notes on the forms that are not asked.

    These are the forms that cannot be read, and those of questions with nothing to compare.
    """
    faults, single_refs = [], []
    for statement in statements:
        if statement.ref in items:
            forms, form_faults = _forms(statement, variants, language)
            faults += form_faults
            single_refs += [statement.ref] if not forms and not form_faults else []
    fault_note = [
        "note: not asked, because "
        f"{'this is no question' if len(faults) == 1 else 'these are no questions'}: "
        f"{'; '.join(faults[:3])}"
    ]
    rest_text = f"; and {len(faults) - 3} more" if len(faults) > 3 else ""
    notes = [fault_note[0] + rest_text] if faults else []
    if single_refs:
        notes.append(
            f"note: {plural(len(single_refs), 'question')} not asked, for lack of a form to "
            f"compare with the original: {named_few(single_refs)}"
        )
    return (*notes, *(f"note: {sentence}" for sentence in uncounted(statements, language, items)))


def uncounted(
    statements: Sequence[Statement], language: str, items: ChoiceItems
) -> tuple[str, ...]:
    """Return notes on the questions that the corrected definition does not count.

    Their options do not fit the formula.
    """
    refs_by_reason: dict[str, list[str]] = {}
    for statement in statements:
        if statement.ref in items and (
            reason := _unfit(statement, language, items[statement.ref].bias)
        ):
            refs_by_reason.setdefault(reason, []).append(statement.ref)
    return tuple(
        f"no figure of the bias counts {plural(len(refs), 'question')} by the definition "
        f"{Definition.CORRECTED}, for {reason}: {named_few(refs)}"
        for reason, refs in refs_by_reason.items()
    )


def _unfit(statement: Statement, language: str, bias: Bias) -> str:
    """Return the reason why the formula of a bias does not fit a question, or "" if it does.

    The rule is that of `deltas`.
    """
    forms, _ = _forms(statement, (ORIGINAL, CHANGED), language)
    numbers = [options for _, options in forms.values()]
    if not numbers:
        return ""
    if bias is Bias.ALLOW_FORBID:
        return NOT_TWO if set(numbers) != {2} else ""
    needs_middle = bias in (Bias.OPINION_FLOAT, Bias.ODD_EVEN)
    return NO_MIDDLE if needs_middle and not (numbers[0] % 2 and numbers[0] >= 3) else ""


def _forms(
    statement: Statement, variants: Sequence[VariantId], language: str
) -> tuple[dict[VariantId, tuple[str, int]], list[str]]:
    """Return the forms that are asked as (text, options), and the faults of others.

    An original by itself, and another form without its original, have nothing to compare.
    """
    forms: dict[VariantId, tuple[str, int]] = {}
    faults = []
    for variant in variants:
        wording = statement.wording(variant, language)
        parsed = parse_choice(wording.text) if wording is not None else None
        if isinstance(parsed, ChoiceFault):
            faults.append(f"{statement.ref} {variant} is {parsed.found}")
        elif wording is not None and parsed is not None:
            forms[variant] = (wording.text, len(parsed.options))
    return (forms if ORIGINAL in forms and len(forms) > 1 else {}), faults


def steered(template: str) -> Bias | None:
    """Return the bias that a template is about, or None if it is used for every question."""
    return next((bias for name, bias in STEERS.items() if template.startswith(name)), None)


def offered(probe: Probe) -> str:
    """Return the letters that a probe's prompt offers, as in `abcd`."""
    return LETTERS[: int(dict(probe.axes)[OPTIONS])]


def condition_of(kind: str) -> Perturbation | None:
    """Return the perturbation of a kind of wording, or None for original and changed form."""
    return PERTURBATION_OF.get(VariantKind(kind))


def questions(store: Store, design: Design) -> ChoiceItems:
    """Return the multiple-choice questions of a design.

    Raises UsageError if it has none, or if a statement is not one.
    """
    items = store.choices.items(design.instrument)
    if not items:
        raise INSTRUMENT.error(
            f"{design.instrument} has no multiple-choice questions. Import some: workbench import "
            "STORE --format choices PATH (data/README.md), or choose another --instrument"
        )
    other_refs = [ref for ref in design.statements if ref not in items]
    if other_refs:
        raise STATEMENTS.error(
            f"{named_few(other_refs)} of {design.instrument}: not a multiple-choice question"
        )
    return items


def designed(store: Store, design: Design, own: Given) -> Design:
    """Return a design for only some biases, with the number of tries that the user set.

    Raises UsageError.
    """
    if design.variants and str(ORIGINAL) not in design.variants:
        raise VARIANTS.error("choose the original too; each other form is compared with it")
    tries = TRIES if own.tries is None else own.tries
    if own.bias is None:
        return replace(design, tries=tries)
    if not listed(own.bias):
        raise BIASES.error("found no value; name one or more, or leave it out")
    items = questions(store, design)
    available_kinds = [(item.bias, item.variant) for item in items.values()]
    selected_kinds = [find_kind(name, available_kinds) for name in listed(own.bias)]
    refs = over_biases(
        item for item in items.values() if (item.bias, item.variant) in selected_kinds
    )
    return replace(design, tries=tries, statements=tuple(refs))


def biases_of(store: Store, instrument: str) -> tuple[str, ...]:
    """Return the biases of an instrument's questions, with the variants of their wordings."""
    kinds = {(item.bias, item.variant) for item in store.choices.items(instrument).values()}
    sorted_kinds = sorted(kinds, key=lambda kind: (list(Bias).index(kind[0]), kind[1]))
    return tuple(kind_name(*kind) for kind in sorted_kinds)


SPREAD = 0.2
"standard deviation of the changes of single questions, for an example"


def detects(probes: Sequence[Probe], items: Mapping[str, ChoiceItem]) -> str:
    """Return a sentence on the smallest mean change that the questions can show.

    It covers the bias with the most questions, and the one with the fewest.
    """
    refs = {probe.statement for probe in probes}
    n_questions_by_bias = Counter(items[ref].bias for ref in refs if ref in items)
    if not n_questions_by_bias:
        return ""
    most, fewest = max(n_questions_by_bias.values()), min(n_questions_by_bias.values())
    sizes = [f"{_smallest(most)} (with {most} questions a bias)"]
    sizes += [f"or {_smallest(fewest)} (with {fewest})"] if fewest < most else []
    study_share = (
        in_per_cent(share_found(EXAMPLE, SPREAD / fewest**0.5, fewest - 1))
        if fewest > 1
        else "no study"
    )
    spread_text = f"where the changes of single questions spread by {100 * SPREAD:.0f} points"
    example = f"one of {100 * EXAMPLE:.0f} points in {study_share} (with {fewest} questions)"
    return (
        f"can show: a mean change of {' '.join(sizes)} in 80 % of studies and {example}, "
        f"{spread_text}"
    ) + _preferences_note(n_questions_by_bias)


AGAINST_PREFERENCES = (Bias.ALLOW_FORBID, Bias.ODD_EVEN, Bias.OPINION_FLOAT)
"biases that a preference of the model for positions or for *yes* may give"


def _preferences_note(biases: Iterable[Bias]) -> str:
    """Return the end of the sentence on biases that are also tested against preferences."""
    names = [place_said(bias, None) for bias in AGAINST_PREFERENCES if bias in set(biases)]
    if not names:
        return ""
    return (
        f"; {enumerated(names)} take more, as the model's preferences for positions and yes count"
    )


def _smallest(questions: int) -> str:
    """Return the smallest mean change that some questions can show, as text."""
    points = 100 * smallest_mean(SPREAD, questions)
    return f"{points:.0f} points or more" if points == points else "no size"


EXAMPLE = 0.1
"a change that is worth finding, for an example"
A_BIAS = 20
"""number of questions of each bias: a change of 10 points is then found in most studies, and with 5
questions in 5 %. 50 answers to each form take about eight minutes on two cores that are otherwise
idle"""


def design(store: Store, model: str) -> Design:
    """Return a design on the first questions of each bias.

    The questions on scales are the same under both biases.
    """
    n_selected: Counter[Bias] = Counter()
    refs = []
    for ref, item in store.choices.items(SHIPPED_CHOICES).items():
        if n_selected[item.bias] < A_BIAS:
            n_selected[item.bias] += 1
            refs.append(ref)
    return Design(
        SHIPPED_CHOICES,
        model,
        AUDIT,
        DEFAULTS.samples,
        DEFAULTS.sampling,
        family=DEFAULTS.family,
        statements=tuple(refs),
    )
