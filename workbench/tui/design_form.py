"""What the form of a new sampling job says, as a design."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from workbench import registry
from workbench.audits.audit import Given
from workbench.domain.designs import PUBLISHED_SAMPLES, Design
from workbench.domain.responses import EXACTLY, WHEN_DECIDED, Sampling, sampled
from workbench.formats.personas import given_personas
from workbench.inference.extra_fields import extra_fields
from workbench.options.shared import (
    MAX_NEW_TOKENS,
    MODEL,
    SAMPLES,
    SEED,
    TEMPERATURE,
    THINKING,
    TOP_K,
    TOP_P,
)

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.audits.audit import Audit, Defaults

DEFAULT_MODEL = "smollm2"
DRAWN = ("samples", "temperature", "top_p", "top_k", "max_tokens")
"fields that say how answers are drawn; each audit has its own defaults for them"
SAMPLED_WHOLE, UNTIL_DECIDED, EXACT_LABELS = "sampled", "until decided", "exact"
ANSWERS = (
    ("sampled", SAMPLED_WHOLE),
    ("decided", UNTIL_DECIDED),
    ("exact", EXACT_LABELS),
)
"""(words, value) of what is asked for: whole answers, answers up to their label, or how likely each
label is"""
WHOLE_OR_EXACT = tuple(one for one in ANSWERS if one[1] != UNTIL_DECIDED)
"of answers that no rule here can end early"
EXACT_OR_COUNTED = WHOLE_OR_EXACT[::-1]
"where probabilities are what is published, and answers are drawn where an endpoint names none"


@dataclass(frozen=True, slots=True)
class FormValues:
    """The form as typed."""

    instrument: str
    audit: str = registry.DEFAULT_AUDIT
    model: str = DEFAULT_MODEL
    family: str = "chat"
    language: str = ""
    statements: str = ""
    "empty: all; `8`: the first eight; else refs with commas between"
    variants: tuple[str, ...] = ()
    "empty: those that the audit asks by default"
    templates: tuple[str, ...] = ()
    "empty: all of the family"
    samples: str = str(PUBLISHED_SAMPLES)
    temperature: str = f"{Sampling().temperature:g}"
    top_p: str = f"{Sampling().top_p:g}"
    top_k: str = ""
    "empty: the whole vocabulary"
    max_tokens: str = f"{Sampling().max_new_tokens}"
    seed: str = SEED.text()
    answers: str = ""
    "see `ANSWERS`; empty: as the audit is meant to be asked"
    dtype: str = ""
    "empty: as the device has it"
    cluster: str = ""
    "empty: none"
    serve: str = ""
    "the program that serves the model here; empty: none"
    device: str = ""
    "empty: the usual one"
    chat_format: str = ""
    "empty: the model's own"
    thinking: str = ""
    "empty: as the model does by itself"
    extra_body: str = ""
    "empty: no further fields"
    personas: str = ""
    "a file or a JSON list; empty: none"
    template_language: str = ""
    "empty: that of the statements"
    batch: str = ""
    "`batches`: requests are sent in batches; no part of the design"
    own: Mapping[str, str] = field(default_factory=dict)
    "what was typed for the audit's own options, by their names;  or nothing: the default"


@dataclass(frozen=True, slots=True)
class AuditChoices:
    """What an audit of an instrument lets one choose from."""

    audit: str
    families: tuple[str, ...]
    "the audit's default first"
    templates: tuple[tuple[str, str], ...]
    "(family, name)"
    variants: tuple[str, ...]
    "wordings that it asks by default"
    usual: FormValues
    "the audit's own sampling and family, as typed"
    tokens: Mapping[str, str] = field(default_factory=dict)
    "family -> most tokens of an answer, where they are not as usual"

    def usual_of(self, family: str) -> FormValues:
        """Return the form as the audit is meant to be asked with these templates."""
        return replace(
            self.usual, family=family, max_tokens=self.tokens.get(family, self.usual.max_tokens)
        )


@dataclass(frozen=True, slots=True)
class Choices:
    """What an instrument lets one choose from."""

    instrument: str
    statements: int
    variants: tuple[str, ...]
    "every wording that there is"
    languages: tuple[str, ...]
    "the instrument's own first"
    audits: tuple[AuditChoices, ...]
    fitting: frozenset[str] = frozenset()
    "audits that ask about more than statements, of which the instrument has what they ask about"
    ticks: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)
    "audit -> option -> the names that the instrument offers for it"

    def fits(self, audit: str) -> bool:
        """Return whether there is what an audit asks about."""
        return audit in self.fitting or not registry.audit(audit).own_material


def usual_values(instrument: str, audit: str, defaults: Defaults) -> FormValues:
    """Return the form as an audit is meant to be asked."""
    drawn = defaults.typed
    return FormValues(
        instrument,
        audit,
        family=defaults.family,
        samples=str(defaults.counted_samples or defaults.samples),
        answers=SAMPLED_WHOLE if defaults.drawn else EXACT_LABELS,
        temperature=f"{drawn.temperature:g}",
        top_p=f"{drawn.top_p:g}",
        top_k="" if drawn.top_k is None else str(drawn.top_k),
        max_tokens=str(drawn.max_new_tokens),
    )


def sampling_note(values: FormValues, usual: FormValues) -> str:
    """Return one line: whether answers are drawn as the audit means it, and how that is where they
    are not.
    """
    audit = registry.audit(values.audit)
    if not audit.defaults.drawn and is_exact(values):
        return "no sampling: probabilities of the next token, one pass per prompt"
    if not audit.defaults.drawn:
        return (
            "answers are counted: another measure than probabilities, for endpoints that name none"
        )
    if values.answers == EXACT_LABELS:
        more = "".join(f"{name.replace('_', ' ')}, " for name in audit.drawn_again)
        return f"no sampling: samples, {more}temperature, top-p, top-k and tokens are ignored"
    origin = "our defaults" if audit.defaults.ours else "published"
    drawn = (
        f"{usual.samples} × T {usual.temperature}, top-p {usual.top_p}, {_top_k(usual)}, "
        f"{_tokens(usual)}"
    )
    differing = [name for name in DRAWN if getattr(values, name).strip() != getattr(usual, name)]
    if not differing:
        return f"as {origin}: {drawn}" if origin == "published" else f"{origin}: {drawn}"
    whole_vocabulary = "top_k" in differing and not values.top_k.strip()
    return f"{'whole vocabulary' if whole_vocabulary else 'changed'} · {origin}: {drawn}"


def is_exact(values: FormValues) -> bool:
    """Return whether probabilities are computed and nothing is drawn."""
    defaults = registry.audit(values.audit).defaults
    return values.answers == EXACT_LABELS or not (
        defaults.drawn or (defaults.counted and values.answers)
    )


def _top_k(values: FormValues) -> str:
    return f"top-k {values.top_k}" if values.top_k else "whole vocabulary"


def _tokens(values: FormValues) -> str:
    return f"{values.max_tokens} token{'' if values.max_tokens == '1' else 's'}"


def as_design(store: Store, values: FormValues) -> Design:
    """Return the design. Raises UsageError, a FieldError where it is about one field."""
    from workbench.pipeline.design_checks import check_there, served_by
    from workbench.pipeline.planning import statements

    if not values.model.strip():
        raise MODEL.error("give a name such as smollm2, a hub id or a folder")
    check_there(store, served_by(values.model.strip(), values.serve), values.cluster.strip())
    audit = registry.audit(values.audit)
    exact = is_exact(values)
    design = Design(
        instrument=values.instrument,
        model=served_by(values.model.strip(), values.serve),
        audit=values.audit,
        samples=1 if exact else SAMPLES.needed(values.samples),
        sampling=replace(
            EXACTLY if exact else _sampling(values),
            extra=extra_fields(values.extra_body),
            thinking=_thinking(values),
        ),
        seed=SEED.needed(values.seed),
        language=values.language,
        family=values.family,
        variants=values.variants,
        templates=values.templates,
        dtype=values.dtype,
        cluster=values.cluster.strip(),
        device=values.device.strip(),
        chat_format=values.chat_format.strip(),
        template_language=values.template_language.strip(),
        personas=given_personas(values.personas),
    )
    design = audit.designed(store, design, own_values(audit, values.own, exact=exact))
    there = audit.may_be_asked(store, values.instrument) or ()
    return replace(
        design, statements=statements(values.statements, design.statements, there, design.seed)
    )


def own_values(audit: Audit, typed: Mapping[str, str], *, exact: bool) -> Given:
    """Return the values of an audit's own options; those that mean nothing where nothing is sampled
    are not read.

    Raises FieldError.
    """
    unread = audit.drawn_again if exact else ()
    texts = {
        option: "" if option.name in unread else typed.get(option.name, "").strip()
        for option in audit.run_options
    }
    return Given(
        **{
            option.name: option.read(text) if text else option.default
            for option, text in texts.items()
        }
    )


def _sampling(values: FormValues) -> Sampling:
    drawn = {
        "temperature": TEMPERATURE.needed(values.temperature),
        "top_p": TOP_P.needed(values.top_p),
        "top_k": TOP_K.read(values.top_k) or 0,
        "max_new_tokens": MAX_NEW_TOKENS.needed(values.max_tokens),
    }
    return replace(
        sampled(Sampling(), drawn), stop=WHEN_DECIDED if values.answers == UNTIL_DECIDED else ""
    )


def _thinking(values: FormValues) -> str:
    typed = values.thinking.strip()
    return str(THINKING.needed(typed)) if typed else ""


def refilled(told: Mapping[str, Any]) -> dict[str, str]:
    """Return what stands in the fields of a form for the options of a job, by the names of
    `asked_again`; a field of which a job was told nothing stays as it is.

    Examples
    --------
    >>> refilled({"model": "m", "top_k": 0, "max_new_tokens": 20, "temperature": 0.5})
    {'model': 'm', 'temperature': '0.5', 'top_k': '', 'max_tokens': '20'}
    """
    texts = (
        "model",
        "statements",
        "cluster",
        "device",
        "chat_format",
        "thinking",
        "extra_body",
        "personas",
        "template_language",
    )
    options = {
        "seed": SEED,
        "samples": SAMPLES,
        "temperature": TEMPERATURE,
        "top_p": TOP_P,
        "top_k": TOP_K,
    }
    found = {name: str(told[name]) for name in texts if name in told}
    found |= {name: option.text(told[name]) for name, option in options.items() if name in told}
    if "top_k" in told and not told["top_k"]:
        found["top_k"] = ""
    if "max_new_tokens" in told:
        found["max_tokens"] = MAX_NEW_TOKENS.text(told["max_new_tokens"])
    return found


def answers_of(told: Mapping[str, Any]) -> str:
    """Return which kind of answers a job was told to bring, see `ANSWERS`."""
    if told.get("exact") or "samples" not in told:
        return EXACT_LABELS
    return UNTIL_DECIDED if told.get("until_decided") else SAMPLED_WHOLE


def switched(typed: Mapping[str, str], before: FormValues, after: FormValues) -> dict[str, str]:
    """Return fields under another audit: what was typed stays, what stood at a default becomes the
    other audit's.

    `before` and `after` are the usual values of the two audits.
    """
    return {
        name: getattr(after, name) if text.strip() == getattr(before, name) else text
        for name, text in typed.items()
    }
