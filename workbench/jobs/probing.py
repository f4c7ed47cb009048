"""Probes a run: about twenty answers are drawn and read before hours are spent on the rest.

Its prompts are drawn at random from the plan, evenly from its templates, and its answers use
separate seeds. They count in no figure: a prompt's answers are drawn together from one seed, so an
earlier one would change the others. A run asks the same prompts with and without its probe. Prompts
with long contexts come from few contexts, to save costs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from stores.core.store import Store
from workbench import registry
from workbench.data import languages
from workbench.domain.designs import Design
from workbench.domain.probe_results import (
    BY_WORDS,
    CUT_OFF,
    EMPTY,
    ENOUGH,
    FAILED,
    PROBED,
    REFUSAL,
    UNREADABLE,
    FamilyReadability,
    ProbedAnswer,
    ProbeResult,
)
from workbench.domain.prompts import FREE, FREE_TEXT, LETTER, Probe, Prompt, Template
from workbench.domain.responses import EXACT, Request
from workbench.domain.thinking import split
from workbench.errors import (
    BudgetSpent,
    ModelError,
    SnapshotsAlternate,
    UnknownName,
    WorkbenchError,
)
from workbench.evidence.readings import stance_reader
from workbench.evidence.refusals import read_answer
from workbench.pipeline.design_checks import decided_for
from workbench.pipeline.planning import Plan, derived_seed, plan
from workbench.pipeline.scoring import (
    TOP,
    begins_in_thought,
    closing_of,
    labels_of,
    scored_one_by_one,
)
from workbench.readers.verbalizers import PUBLISHED_TOP, forms_by_prompt, mass, verbalizers
from workbench.stats.resampling import derive_rng

if TYPE_CHECKING:
    from workbench.audits.audit import Audit
    from workbench.inference.base import Model

WORTH_IT = 5 * PROBED
"""fewest answers of a run for a probe, or prompts if probabilities are computed

A shorter run is hardly more than its probe.
"""
OTHERS = 3
"most other families of templates that are tried if too few answers are readable"
LONGEST = 4000
"most stored characters of an answer"
SHOWN_TOKENS = 3
"number of most likely next tokens shown"


@dataclass(frozen=True, slots=True)
class _ProbePrompt:
    """One prompt of a probe."""

    probe: Probe
    template: Template
    n: int

    def answer(self, text: str, label: str = "", fault: str = "", reason: str = "") -> ProbedAnswer:
        """Return an answer to it, truncated if it is very long."""
        n_hidden = len(text) - LONGEST
        visible_text = (
            f"{text[:LONGEST]} … ({n_hidden:,} characters more)" if n_hidden > 0 else text
        )
        order = "swapped" if self.probe.inverted else "printed"
        return ProbedAnswer(
            self.probe.statement,
            self.probe.variant,
            self.probe.template,
            order,
            visible_text,
            label,
            fault,
            reason,
        )


def is_new(store: Store, design: Design) -> bool:
    """Return whether no job of this store has asked a model these templates with these settings."""
    settings = _manner(design)
    for job in store.jobs.list():
        if job.done and "sampling" in job.spec and _manner(Design.from_json(job.spec)) == settings:
            return False
    return True


def _manner(design: Design) -> tuple[object, ...]:
    return (
        design.audit,
        design.model,
        design.dtype,
        design.chat_format,
        design.family,
        design.sampling,
        design.language,
    )


def is_worth_it(store: Store, plan: Plan) -> bool:
    """Return whether a run should begin with a probe.

    It should if it is long enough, and new to the store. A cluster loads its model for each call,
    so it gets no probe.
    """
    return (
        plan.samples_needed >= WORTH_IT and not plan.design.cluster and is_new(store, plan.design)
    )


def probe(
    store: Store,
    plan: Plan,
    model: Model,
    should_stop: Callable[[], bool] = lambda: False,
    say: Callable[[str], None] = lambda _: None,
) -> ProbeResult | None:
    """Ask the probe of a plan, and read its answers, or return None if it was stopped.

    Nothing is written. If too few answers are readable, other families of templates are asked, too.
    `say` receives the progress.
    """
    result = _probed(plan, model, should_stop, say)
    if result is None or result.exact or result.all_failed or result.share >= ENOUGH:
        return result
    family_shares = []
    for other_plan in _families(store, plan, model):
        other_result = _probed(other_plan, model, should_stop, say)
        if other_result is None:
            return None
        if not other_result.all_failed:
            family_shares.append(
                FamilyReadability(
                    other_plan.design.family, other_result.readable, len(other_result.answers)
                )
            )
    return replace(result, others=tuple(family_shares))


def _probed(
    plan: Plan, model: Model, should_stop: Callable[[], bool], say: Callable[[str], None]
) -> ProbeResult | None:
    items = chosen_prompts(plan)
    exact = plan.design.sampling.mode == EXACT
    answers: list[ProbedAnswer] = []
    for new_answers in (_computed if exact else _sampled_answers)(plan, model, items):
        answers += new_answers
        say(
            f"probe, family {plan.design.family}: {len(answers)} of "
            f"{sum(item.n for item in items)} have come"
        )
        if should_stop():
            return None
    by_rule = exact or not _free(registry.audit(plan.design.audit), plan.templates)
    return ProbeResult(plan.design.family, plan.design.seed, tuple(answers), by_rule, exact)


def chosen_prompts(plan: Plan) -> list[_ProbePrompt]:
    """Return the prompts of a probe, always the same for a plan.

    A random one of each template and label order follows in turn, with answers distributed evenly,
    until there are enough.
    """
    rng = derive_rng(plan.design.seed, "probe")
    by_name = {(template.name, template.inverted): template for template in plan.templates}
    first = {probe.prompt.key: probe for probe in reversed(plan.probes)}
    probes = [first[key] for key in plan.prompts]
    order = [probes[index] for index in rng.permutation(len(probes))]
    if order[0].prompt.context:
        picked = _of_few_contexts(order)
    else:
        groups: dict[tuple[str, bool], list[Probe]] = defaultdict(list)
        for drawn_probe in order:
            groups[drawn_probe.template, drawn_probe.inverted].append(drawn_probe)
        picked = list(_alternate(list(groups.values())))[:PROBED]
    exact = plan.design.sampling.mode == EXACT
    answers_each, remainder = divmod(PROBED, len(picked))
    return [
        _ProbePrompt(
            picked_probe,
            by_name[picked_probe.template, picked_probe.inverted],
            1 if exact else answers_each + (index < remainder),
        )
        for index, picked_probe in enumerate(picked)
    ]


def _of_few_contexts(order: Sequence[Probe]) -> list[Probe]:
    contexts: dict[object, list[Probe]] = defaultdict(list)
    for drawn_probe in order:
        contexts[drawn_probe.prompt.messages[: drawn_probe.prompt.context]].append(drawn_probe)
    return [probe_ for group in contexts.values() for probe_ in group][:PROBED]


def _alternate(groups: Sequence[Sequence[Probe]]) -> Iterator[Probe]:
    for index in range(max(map(len, groups))):
        yield from (group[index] for group in groups if index < len(group))


def _families(store: Store, original: Plan, model: Model) -> Iterator[Plan]:
    """Yield plans with other families of templates, with the audit's settings for them."""
    design, audit = original.design, registry.audit(original.design.audit)
    language = design.template_language or design.language
    templates = audit.templates_for(store.instruments.get(design.instrument), language)
    names = sorted({template.family for template in templates} - {design.family})
    usual_tokens = audit.defaults.sampling_of(design.family).max_new_tokens
    for family in names[:OTHERS]:
        tokens = design.sampling.max_new_tokens
        if tokens == usual_tokens:
            tokens = audit.defaults.sampling_of(family).max_new_tokens
        other_design = replace(
            design,
            family=family,
            templates=(),
            sampling=replace(design.sampling, max_new_tokens=tokens),
        )
        try:
            yield plan(store, other_design, card=model.card)
        except WorkbenchError:
            continue


def _sampled_answers(
    plan: Plan, model: Model, asked: Sequence[_ProbePrompt]
) -> Iterator[list[ProbedAnswer]]:
    """Yield the answers to each prompt, read as the run reads them."""
    audit = registry.audit(plan.design.audit)
    rules = decided_for(plan.templates, plan.probes) if plan.design.sampling.stop else {}
    seed = int(derive_rng(plan.design.seed, "probe answers").integers(2**31))
    requests = [
        Request(
            asked_prompt.probe.prompt,
            asked_prompt.n,
            derived_seed(seed, asked_prompt.probe.prompt.key, 0),
            rules.get(asked_prompt.probe.prompt.key),
        )
        for asked_prompt in asked
    ]
    with closing_of(model.generate(requests, plan.design.sampling)) as answers:
        for drawn in answers:
            item = asked[drawn.request]
            read = [
                _read_output(audit, item, text)
                for text, count in drawn.answers
                for _ in range(count)
            ]
            yield [
                *read,
                *(item.answer("", fault=FAILED, reason=drawn.reason) for _ in range(drawn.failed)),
            ]


def _read_output(audit: Audit, prompt: _ProbePrompt, output: str) -> ProbedAnswer:
    """Return the reading of an answer by the rule of its template.

    Free text is read by words, if possible.
    """
    answer = split(output).answer
    if answer is None:
        return prompt.answer(output, fault=CUT_OFF)
    if not answer.strip():
        return prompt.answer(output, fault=EMPTY)
    label, refused = read_answer(prompt.template, answer)
    if label is None and _free(audit, [prompt.template]):
        return prompt.answer(output, label=_provisional_reading(prompt.template, answer))
    if label is None:
        other_language = languages(prompt.template.words).other(answer, prompt.template.language)
        reason = f"in another language: {other_language}" if other_language else ""
        return prompt.answer(output, fault=REFUSAL if refused else UNREADABLE, reason=reason)
    if prompt.template.scale == LETTER and label not in audit.offered(prompt.probe):
        return prompt.answer(output, fault=UNREADABLE, reason=f"{label} is not offered")
    return prompt.answer(output, label=label)


def _free(audit: Audit, templates: Iterable[Template]) -> bool:
    """Return whether answers are free text, which no rule has to read."""
    return audit.nature.free_text or any(template.scale in FREE for template in templates)


def _provisional_reading(template: Template, answer: str) -> str:
    """Return a reading of a free-text answer by its words, or an empty string if they do not tell.

    Of the completion of a statement it is a refusal or nothing. Classifiers read free text later.
    """
    try:
        rule = stance_reader(template)
    except UnknownName:
        return ""
    reading = rule.read(answer)
    label = reading.label if template.scale == FREE_TEXT else None
    text = label or (REFUSAL if reading.reason == REFUSAL else "")
    return f"{text}{BY_WORDS}" if text else ""


def _computed(
    plan: Plan, model: Model, asked: Sequence[_ProbePrompt]
) -> Iterator[list[ProbedAnswer]]:
    """Yield the computed result of each prompt."""
    prompts = [asked_prompt.probe.prompt for asked_prompt in asked]
    if registry.audit(plan.design.audit).defaults.exact_by == "next tokens":
        yield from _next(plan, model, asked, prompts)
        return
    likeliest = _likeliest(model, prompts)
    forms = forms_by_prompt(plan.templates, [asked_prompt.probe for asked_prompt in asked])
    options = [forms[prompt.key] for prompt in prompts]
    with closing_of(scored_one_by_one(model, prompts, options)) as scores:
        for scored in scores:
            item, (tokens, thought_fault) = (
                asked[scored.prompt],
                likeliest.get(scored.prompt, ("", "")),
            )
            reason = scored.reason or thought_fault
            if reason or np.isnan(scored.log_probabilities).any():
                yield [
                    item.answer(tokens, fault=FAILED, reason=reason or "a probability is undefined")
                ]
                continue
            shares = dict(
                zip(options[scored.prompt], np.exp(scored.log_probabilities), strict=True)
            )
            yield [_label_shares(item, shares, tokens)]


def _label_shares(prompt: _ProbePrompt, shares: Mapping[str, float], tokens: str) -> ProbedAnswer:
    """Return the probabilities of a template's two labels."""
    forms = verbalizers(prompt.template)
    first, second = (
        sum(float(shares[form]) for form in side) for side in (forms.positive, forms.negative)
    )
    label = prompt.template.positive if first >= second else prompt.template.negative
    text = (
        f"{prompt.template.positive} {first:.1%}, {prompt.template.negative} {second:.1%}; "
        f"together {first + second:.1%} of how an answer may begin"
        f"{tokens and f'; likeliest next: {tokens}'}"
    )
    return prompt.answer(text, label=label)


def _likeliest(model: Model, prompts: Sequence[Prompt]) -> dict[int, tuple[str, str]]:
    """Return the most likely next tokens of prompts, by index, with the reason of failures.

    It is empty if the backend offers none.
    """
    tokens_by_prompt = {}
    try:
        with closing_of(model.next_tokens(prompts, TOP)) as tables:
            for table in tables:
                if not table.reason:
                    tokens_by_prompt[table.prompt] = (
                        _named(table.texts, table.log_probabilities),
                        begins_in_thought(table),
                    )
    except (BudgetSpent, SnapshotsAlternate):
        raise
    except ModelError:
        return tokens_by_prompt
    return tokens_by_prompt


def _next(
    plan: Plan, model: Model, asked: Sequence[_ProbePrompt], prompts: Sequence[Prompt]
) -> Iterator[list[ProbedAnswer]]:
    labels = labels_of(plan)
    with closing_of(model.next_tokens(prompts, TOP, labels)) as tables:
        for table in tables:
            item = asked[table.prompt]
            if reason := table.reason or begins_in_thought(table):
                yield [item.answer("", fault=FAILED, reason=reason)]
                continue
            tokens = list(zip(table.texts, map(float, table.log_probabilities), strict=True))
            masses = {word: mass(tokens[:PUBLISHED_TOP], word) for word in labels}
            label = max(masses, key=lambda word: masses[word])
            text = f"likeliest next: {_named(table.texts, table.log_probabilities)}"
            yield [
                item.answer(text, label=label)
                if masses[label]
                else item.answer(text, fault=UNREADABLE)
            ]


def _named(texts: Sequence[str], logs: Sequence[float] | np.ndarray) -> str:
    return ", ".join(
        f"{text!r} {np.exp(log_probability):.0%}"
        for text, log_probability in list(zip(texts, logs, strict=True))[:SHOWN_TOKENS]
    )
