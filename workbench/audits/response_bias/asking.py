"""BiasMonkey: does a change of a question that moves people's answers move a model's, and do typos
not?

Every form of a question is put with its lettered options; the answer is one token, drawn until it
is a letter that is offered (Tjuatja, Chen, Wu, Talwalkar, Neubig 2024, section 3 and appendix C).
Where a backend gives the probabilities of the next token, those of the letters are what ever more
samples would come to. Prompts that steer a model away from one bias are put to the questions of
that bias alone (appendix D). What is said of the answers: `score`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from stores.core.store import Store
from workbench.audits.audit import Given, Material
from workbench.audits.response_bias.answers import find_kind, kind_name
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
    ChoiceItem,
    ChoiceItems,
    Fault,
    Perturbation,
    over_biases,
    parse_choice,
)
from workbench.domain.designs import TRIES, Design
from workbench.domain.instruments import PERTURBATION_OF
from workbench.domain.names import listed, plural
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
"how the names of templates begin that are about one bias"


def default_variants(available: Sequence[VariantId]) -> tuple[VariantId, ...]:
    """Return both forms of a question and every draw of typos."""
    return tuple(v for v in available if v in (ORIGINAL, CHANGED) or v.kind in PERTURBATION_OF)


def probes(
    statements: Sequence[Statement],
    templates: Sequence[Template],
    variants: Sequence[VariantId],
    language: str,
    model_name: str = "",
    material: Material = None,
) -> Iterator[Probe]:
    """Yield the forms of every question that can be compared, under every template: see `left_out`
    for the others.
    """
    if material is None or isinstance(material, Survey):
        raise UsageError("this audit needs multiple-choice questions")
    for statement in statements:
        if statement.ref in material:
            forms, _ = _forms(statement, variants, language)
            for variant, (text, options) in forms.items():
                for template in templates:
                    if (about := steered(template.name)) is None or about is material[
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
    """Say which forms are not asked: those that cannot be read, and of questions with nothing to be
    compared with.
    """
    faults, alone = [], []
    for statement in statements:
        if statement.ref in items:
            forms, wrong = _forms(statement, variants, language)
            faults += wrong
            alone += [statement.ref] if not forms and not wrong else []
    said = [
        "note: not asked, because "
        f"{'this is no question' if len(faults) == 1 else 'these are no questions'}: "
        f"{'; '.join(faults[:3])}"
    ]
    more = f"; and {len(faults) - 3} more" if len(faults) > 3 else ""
    notes = [said[0] + more] if faults else []
    if alone:
        notes.append(
            f"note: {plural(len(alone), 'question')} not asked, for lack of a form to compare "
            "with the original: "
            f"{named_few(alone)}"
        )
    return (*notes, *(f"note: {said}" for said in uncounted(statements, language, items)))


def uncounted(
    statements: Sequence[Statement], language: str, items: ChoiceItems
) -> tuple[str, ...]:
    """Say of which questions the corrected definition of a change takes no account, because of
    their options.
    """
    why: dict[str, list[str]] = {}
    for statement in statements:
        if statement.ref in items and (
            reason := _unfit(statement, language, items[statement.ref].bias)
        ):
            why.setdefault(reason, []).append(statement.ref)
    return tuple(
        f"no figure of the bias counts {plural(len(refs), 'question')} by the definition "
        f"{Definition.CORRECTED}, for "
        f"{reason}: {named_few(refs)}"
        for reason, refs in why.items()
    )


def _unfit(statement: Statement, language: str, bias: Bias) -> str:
    """Return why the formula of a bias fits the options of a question not at all; "" where it does,
    as in `deltas`.
    """
    forms, _ = _forms(statement, (ORIGINAL, CHANGED), language)
    numbers = [options for _, options in forms.values()]
    if not numbers:
        return ""
    if bias is Bias.ALLOW_FORBID:
        return NOT_TWO if set(numbers) != {2} else ""
    about_middle = bias in (Bias.OPINION_FLOAT, Bias.ODD_EVEN)
    return NO_MIDDLE if about_middle and not (numbers[0] % 2 and numbers[0] >= 3) else ""


def _forms(
    statement: Statement, variants: Sequence[VariantId], language: str
) -> tuple[dict[VariantId, tuple[str, int]], list[str]]:
    """Return the forms that are asked as (text, options), and what is wrong with others. An
    original by itself, and another form without its original, are compared with nothing.
    """
    forms: dict[VariantId, tuple[str, int]] = {}
    faults = []
    for variant in variants:
        wording = statement.wording(variant, language)
        found = parse_choice(wording.text) if wording is not None else None
        if isinstance(found, Fault):
            faults.append(f"{statement.ref} {variant} is {found.found}")
        elif wording is not None and found is not None:
            forms[variant] = (wording.text, len(found.options))
    return (forms if ORIGINAL in forms and len(forms) > 1 else {}), faults


def steered(template: str) -> Bias | None:
    """Return the bias that a template speaks of; None for one that is put to every question."""
    return next((bias for name, bias in STEERS.items() if template.startswith(name)), None)


def offered(probe: Probe) -> str:
    """Return the letters that a probe's prompt offers: `abcd`."""
    return LETTERS[: int(dict(probe.axes)[OPTIONS])]


def condition_of(kind: str) -> Perturbation | None:
    """Return the perturbation that a kind of wording is; None for the original and the changed
    form.
    """
    return PERTURBATION_OF.get(VariantKind(kind))


def questions(store: Store, design: Design) -> ChoiceItems:
    """Return which statements are multiple-choice questions. Raises UsageError where none is, or
    one is not.
    """
    items = store.choices.items(design.instrument)
    if not items:
        raise INSTRUMENT.error(
            f"{design.instrument} has no multiple-choice questions. Import some: workbench "
            "import STORE --format "
            "choices PATH (data/README.md), or choose another --instrument"
        )
    others = [ref for ref in design.statements if ref not in items]
    if others:
        raise STATEMENTS.error(
            f"{named_few(others)} of {design.instrument}: not a multiple-choice question"
        )
    return items


def designed(store: Store, design: Design, own: Given) -> Design:
    """Return a design that asks the questions of some biases alone, and so often as told. Raises
    UsageError.
    """
    if design.variants and str(ORIGINAL) not in design.variants:
        raise VARIANTS.error("choose the original too; each other form is compared with it")
    tries = TRIES if own.tries is None else own.tries
    if own.bias is None:
        return replace(design, tries=tries)
    if not listed(own.bias):
        raise BIASES.error("found no value; name one or more, or leave it out")
    items = questions(store, design)
    known = [(item.bias, item.variant) for item in items.values()]
    wanted = [find_kind(name, known) for name in listed(own.bias)]
    of_these = over_biases(item for item in items.values() if (item.bias, item.variant) in wanted)
    return replace(design, tries=tries, statements=tuple(of_these))


def biases_of(store: Store, instrument: str) -> tuple[str, ...]:
    """Return the biases that an instrument's questions are about, with the variants of their
    wordings.
    """
    kinds = {(item.bias, item.variant) for item in store.choices.items(instrument).values()}
    in_order = sorted(kinds, key=lambda kind: (list(Bias).index(kind[0]), kind[1]))
    return tuple(kind_name(*kind) for kind in in_order)


SPREAD = 0.2
"standard deviation of the changes of single questions, for an example"


def detects(probes: Sequence[Probe], items: Mapping[str, ChoiceItem]) -> str:
    """Return the smallest mean change that shows with the questions of the bias that has the most,
    and the fewest.
    """
    asked = {probe.statement for probe in probes}
    questions = Counter(items[ref].bias for ref in asked if ref in items)
    if not questions:
        return ""
    most, fewest = max(questions.values()), min(questions.values())
    shown = [f"{_smallest(most)} (with {most} questions a bias)"]
    shown += [f"or {_smallest(fewest)} (with {fewest})"] if fewest < most else []
    often = (
        in_per_cent(share_found(EXAMPLE, SPREAD / fewest**0.5, fewest - 1))
        if fewest > 1
        else "no study"
    )
    spread = f"where the changes of single questions spread by {100 * SPREAD:.0f} points"
    example = f"one of {100 * EXAMPLE:.0f} points in {often} (with {fewest} questions)"
    return (
        f"can show: a mean change of {' '.join(shown)} in 80 % of studies and {example}, {spread}"
    )


def _smallest(questions: int) -> str:
    found = 100 * smallest_mean(SPREAD, questions)
    return f"{found:.0f} points or more" if found == found else "no size"


EXAMPLE = 0.1
"a change that is worth finding, for an example"
A_BIAS = 20
"""questions of each bias: a change of 10 points is then found in most studies, and with 5 questions
in 5 %. 50 answers to each form take about eight minutes on two cores that are otherwise idle
"""


def design(store: Store, model: str) -> Design:
    """Return a design on the first questions of each bias: those on scales are the same under
    both.
    """
    chosen: Counter[Bias] = Counter()
    refs = []
    for ref, item in store.choices.items(SHIPPED_CHOICES).items():
        if chosen[item.bias] < A_BIAS:
            chosen[item.bias] += 1
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
