"""What the form of a new sampling job offers, and how it shows the settings of a sampling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from workbench import registry
from workbench.options.shared import MAX_NEW_TOKENS, SAMPLES, TEMPERATURE, TOP_K, TOP_P

if TYPE_CHECKING:
    from workbench.audits.audit import Defaults
    from workbench.commands.run import RunCommand

SAMPLING = (SAMPLES, TEMPERATURE, TOP_P, TOP_K, MAX_NEW_TOKENS)
"options on how answers are sampled, for which each audit has its own defaults"
SAMPLED_WHOLE, UNTIL_DECIDED, EXACT_LABELS = "sampled", "until decided", "exact"
ANSWERS = (
    ("sampled", SAMPLED_WHOLE),
    ("decided", UNTIL_DECIDED),
    ("exact", EXACT_LABELS),
)
"""(label, value) of the kinds of answers: whole answers, answers up to their label, and the
probability of each label"""
WHOLE_OR_EXACT = tuple(kind for kind in ANSWERS if kind[1] != UNTIL_DECIDED)
"the kinds for answers that no rule can end early"
EXACT_OR_COUNTED = WHOLE_OR_EXACT[::-1]
"the kinds if probabilities are published, and answers are sampled where an endpoint gives none"
Texts = Mapping[str, str]
"option -> its text in the form"


@dataclass(frozen=True, slots=True)
class AuditChoices:
    """What an audit of an instrument offers."""

    audit: str
    families: tuple[str, ...]
    "the audit's default first"
    templates: tuple[tuple[str, str], ...]
    "(family, name)"
    variants: tuple[str, ...]
    "wordings that it asks by default"
    sampling: Texts
    "the audit's own sampling"
    max_new_tokens: Texts = field(default_factory=dict)
    "family -> most tokens of an answer, if they differ"

    def sampling_of(self, family: str) -> dict[str, str]:
        """Return the texts of the audit's own sampling for a family of templates."""
        texts = dict(self.sampling)
        if family in self.max_new_tokens:
            texts["max_new_tokens"] = self.max_new_tokens[family]
        return texts


@dataclass(frozen=True, slots=True)
class InstrumentChoices:
    """What an instrument offers."""

    instrument: str
    statements: int
    variants: tuple[str, ...]
    "all wordings"
    languages: tuple[str, ...]
    "the instrument's own first"
    audits: tuple[AuditChoices, ...]
    fitting: frozenset[str] = frozenset()
    "audits with material of their own that the instrument has"
    ticks: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)
    "audit -> option -> the names that the instrument offers for it"

    def fits(self, audit: str) -> bool:
        """Return whether the instrument has what an audit asks about."""
        return audit in self.fitting or not registry.audit(audit).own_material


def sampling_of_audit(defaults: Defaults) -> dict[str, str]:
    """Return the texts of the sampling that an audit is meant to be asked with."""
    sampling = defaults.typed
    return {
        "samples": str(defaults.counted_samples or defaults.samples),
        "temperature": f"{sampling.temperature:g}",
        "top_p": f"{sampling.top_p:g}",
        "top_k": "" if sampling.top_k is None else str(sampling.top_k),
        "max_new_tokens": str(sampling.max_new_tokens),
    }


def computes_probabilities(audit: str, answers: str) -> bool:
    """Return whether an audit samples nothing for this kind of answers."""
    defaults = registry.audit(audit).defaults
    return answers == EXACT_LABELS or not (
        defaults.drawn or (defaults.counted is not None and answers)
    )


def sampling_values(audit: str, answers: str, texts: Texts) -> dict[str, Any]:
    """Return the options of a command for a kind of answers and the texts of its sampling."""
    if computes_probabilities(audit, answers):
        return {"exact": True}
    return {
        **texts,
        "top_k": texts["top_k"].strip() or "0",
        "until_decided": answers == UNTIL_DECIDED,
    }


def sampling_note(audit_name: str, answers: str, texts: Texts, usual: Texts) -> str:
    """Return a line on whether answers are sampled as the audit is meant to be asked.

    It has the usual settings if others are given.
    """
    audit = registry.audit(audit_name)
    if not audit.defaults.drawn:
        if computes_probabilities(audit_name, answers):
            return "no sampling: probabilities of the next token, one pass per prompt"
        return (
            "answers are counted: another measure than probabilities, for endpoints that name none"
        )
    if answers == EXACT_LABELS:
        more = "".join(f"{name.replace('_', ' ')}, " for name in audit.drawn_again)
        return f"no sampling: samples, {more}temperature, top-p, top-k and tokens are ignored"
    origin = "our defaults" if audit.defaults.ours else "published"
    settings = _settings_text(usual)
    changed = [name for name, text in usual.items() if texts[name].strip() != text]
    if not changed:
        return f"as {origin}: {settings}" if origin == "published" else f"{origin}: {settings}"
    is_whole_vocabulary = "top_k" in changed and not texts["top_k"].strip()
    return f"{'whole vocabulary' if is_whole_vocabulary else 'changed'} · {origin}: {settings}"


def _settings_text(texts: Texts) -> str:
    top_k = f"top-k {texts['top_k']}" if texts["top_k"] else "whole vocabulary"
    n_tokens = texts["max_new_tokens"]
    return (
        f"{texts['samples']} × T {texts['temperature']}, top-p {texts['top_p']}, {top_k}, "
        f"{n_tokens} token{'' if n_tokens == '1' else 's'}"
    )


def answers_of(command: RunCommand) -> str:
    """Return the kind of answers that a command asks for, see `ANSWERS`."""
    if command.exact or command.samples is None:
        return EXACT_LABELS
    return UNTIL_DECIDED if command.until_decided else SAMPLED_WHOLE


def switched(texts: Texts, before: Texts, after: Texts) -> dict[str, str]:
    """Return texts under other defaults: typed ones stay, and defaults become the other defaults.

    `before` and `after` are the two defaults.
    """
    return {
        name: after[name] if text.strip() == before[name] else text for name, text in texts.items()
    }
