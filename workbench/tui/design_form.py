"""What the form of a new sampling job says, as a design: pure but for the refs that a store knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from workbench.audits.questionnaire.options import CONTEXT_QUESTIONS, EVERY, RESPONDENTS
from workbench.domain.designs import PUBLISHED_SAMPLES, TRIES, Design
from workbench.domain.questionnaires import Contexts
from workbench.domain.responses import EXACTLY, WHEN_DECIDED, Sampling
from workbench.domain.statements import ORIGINAL
from workbench.errors import UnknownName, UsageError
from workbench.options.shared import MAX_NEW_TOKENS, SAMPLES, SEED, TEMPERATURE, TOP_K, TOP_P, TRIED
from workbench.registry import DEFAULT_AUDIT

if TYPE_CHECKING:
    from workbench.audits.audit import Defaults

DEFAULT_MODEL = "smollm2"
DRAWN = ("samples", "temperature", "top_p", "top_k", "max_tokens")
"fields that say how answers are drawn; each audit has its own defaults for them"
SAMPLED_WHOLE, UNTIL_DECIDED, EXACT_LABELS = "sampled", "until decided", "exact"
ANSWERS = (
    ("sampled", SAMPLED_WHOLE),
    ("decided", UNTIL_DECIDED),
    ("exact", EXACT_LABELS),
)
"(words, value) of what is asked for: whole answers, answers up to their label, or how likely each label is"
WHOLE_OR_EXACT = tuple(one for one in ANSWERS if one[1] != UNTIL_DECIDED)
"of answers that no rule here can end early"
OURS = ("statement_labels",)
"audits whose sampling is not published but ours"
QUESTIONNAIRE = "questionnaire"
"the audit whose context is a person's answers, and of which nothing is sampled"
RESPONSE_BIAS = "response_bias"
"the audit of multiple-choice questions, whose answers are drawn until they are letters that are offered"
EVERY_WORDING, ORIGINAL_ONLY = "all", "original only"
WORDINGS = ((EVERY_WORDING, EVERY_WORDING), (ORIGINAL_ONLY, ORIGINAL_ONLY))
"(words, value) of the wordings of a questionnaire's targets that are asked"


@dataclass(frozen=True, slots=True)
class FormValues:
    """The form as typed."""

    instrument: str
    audit: str = DEFAULT_AUDIT
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
    answers: str = SAMPLED_WHOLE
    "see `ANSWERS`"
    dtype: str = ""
    "empty: as the device has it"
    cluster: str = ""
    "empty: none"
    conditions: str = ", ".join(Contexts().conditions)
    "of a questionnaire, with commas between; `permuted`, `reduced` and `all` stand for several"
    respondents: str = ""
    "of a questionnaire; empty: all"
    every: str = str(Contexts().every)
    "of a questionnaire: one respondent in so many is asked in the other wordings"
    questions: str = ""
    "of a questionnaire: the first so many context questions; empty: all"
    wordings: str = EVERY_WORDING
    "of a questionnaire, see `WORDINGS`"
    chat_format: str = ""
    "empty: the model's own"
    biases: tuple[str, ...] | None = None
    "of multiple-choice questions, those asked about; None: all"
    tries: str = str(TRIES)
    "of multiple-choice questions: at most so many times `samples` are drawn of a prompt"


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
        return replace(self.usual, family=family, max_tokens=self.tokens.get(family, self.usual.max_tokens))


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
    has_questionnaire: bool = False
    "whether it has target questions"
    biases: tuple[str, ...] = ()
    "of its multiple-choice questions, those that they are about; empty where it has no such question"

    def fits(self, audit: str) -> bool:
        """Return whether there is what an audit asks about."""
        return {QUESTIONNAIRE: self.has_questionnaire, RESPONSE_BIAS: bool(self.biases)}.get(audit, True)


def usual_values(instrument: str, audit: str, defaults: Defaults) -> FormValues:
    """Return the form as an audit is meant to be asked."""
    drawn = defaults.sampling
    return FormValues(
        instrument,
        audit,
        family=defaults.family,
        samples=str(defaults.samples),
        temperature=f"{drawn.temperature:g}",
        top_p=f"{drawn.top_p:g}",
        top_k="" if drawn.top_k is None else str(drawn.top_k),
        max_tokens=str(drawn.max_new_tokens),
    )


def sampling_note(values: FormValues, usual: FormValues) -> str:
    """Return one line: whether answers are drawn as the audit means it, and how that is where they are not."""
    if values.audit == QUESTIONNAIRE:
        return "nothing is sampled: p(yes) and p(no) of the next token, one pass a prompt"
    if values.answers == EXACT_LABELS:
        tries = "tries, " if values.audit == RESPONSE_BIAS else ""
        return f"nothing is sampled: samples, {tries}temperature, top-p, top-k and tokens do not count"
    origin = "our defaults" if usual.audit in OURS else "published"
    drawn = f"{usual.samples} × T {usual.temperature}, top-p {usual.top_p}, {_top_k(usual)}, {_tokens(usual)}"
    differing = [name for name in DRAWN if getattr(values, name).strip() != getattr(usual, name)]
    if not differing:
        return f"as {origin}: {drawn}" if origin == "published" else f"{origin}: {drawn}"
    whole_vocabulary = "top_k" in differing and not values.top_k.strip()
    return f"{'whole vocabulary' if whole_vocabulary else 'changed'} · {origin}: {drawn}"


def _top_k(values: FormValues) -> str:
    return f"top-k {values.top_k}" if values.top_k else "whole vocabulary"


def _tokens(values: FormValues) -> str:
    return f"{values.max_tokens} token{'' if values.max_tokens == '1' else 's'}"


def as_design(values: FormValues, refs: Sequence[str]) -> Design:
    """Return the design. `refs` are the statements in order that may be asked: those of an instrument, its targets, or
    its questions about the chosen biases. Raises UsageError, naming the field.
    """
    if not values.model.strip():
        raise UsageError("model: give a name, for example smollm2, a hub id or a folder")
    if values.audit == QUESTIONNAIRE:
        return _questionnaire_design(values, refs)
    exact = values.answers == EXACT_LABELS
    return Design(
        instrument=values.instrument,
        model=values.model.strip(),
        audit=values.audit,
        samples=1 if exact else SAMPLES.needed(values.samples),
        sampling=EXACTLY if exact else _sampling(values),
        seed=SEED.needed(values.seed),
        language=values.language,
        family=values.family,
        statements=_statements(values.statements, refs) if values.audit != RESPONSE_BIAS else _questions(values, refs),
        variants=values.variants,
        templates=values.templates,
        dtype=values.dtype,
        cluster=values.cluster.strip(),
        chat_format=values.chat_format.strip(),
        tries=TRIES if exact or values.audit != RESPONSE_BIAS else TRIED.needed(values.tries),
    )


def _questionnaire_design(values: FormValues, refs: Sequence[str]) -> Design:
    """Return the design of a questionnaire audit. `refs` are its targets in order."""
    return Design(
        instrument=values.instrument,
        model=values.model.strip(),
        audit=values.audit,
        samples=1,
        sampling=EXACTLY,
        seed=SEED.needed(values.seed),
        language=values.language,
        family=values.family,
        statements=_statements(values.statements, refs),
        variants=(str(ORIGINAL),) if values.wordings == ORIGINAL_ONLY else (),
        dtype=values.dtype,
        cluster=values.cluster.strip(),
        chat_format=values.chat_format.strip(),
        contexts=as_contexts(values),
    )


def as_contexts(values: FormValues) -> Contexts:
    """Return what stands before the targets, and whose answers. Raises UsageError, naming the field."""
    from workbench.audits.questionnaire.conditions import expanded

    names = tuple(dict.fromkeys(name.strip().casefold() for name in values.conditions.split(",") if name.strip()))
    try:
        expanded(names)
    except UnknownName as error:
        raise UsageError(f"conditions: {error}") from None
    if not names:
        raise UsageError("conditions: name one or more, for example qm, zero-shot, random")
    return Contexts(
        conditions=names,
        respondents=RESPONDENTS.read(values.respondents) or 0,
        every=EVERY.needed(values.every),
        questions=CONTEXT_QUESTIONS.read(values.questions) or 0,
    )


def _sampling(values: FormValues) -> Sampling:
    return Sampling(
        temperature=TEMPERATURE.needed(values.temperature),
        top_p=TOP_P.needed(values.top_p),
        top_k=TOP_K.read(values.top_k) or None,
        max_new_tokens=MAX_NEW_TOKENS.needed(values.max_tokens),
        stop=WHEN_DECIDED if values.answers == UNTIL_DECIDED else "",
    )


def switched(typed: Mapping[str, str], before: FormValues, after: FormValues) -> dict[str, str]:
    """Return fields under another audit: what was typed stays, what stood at a default becomes the other audit's.

    `before` and `after` are the usual values of the two audits.
    """
    return {
        name: getattr(after, name) if text.strip() == getattr(before, name) else text for name, text in typed.items()
    }


def _statements(text: str, refs: Sequence[str]) -> tuple[str, ...]:
    text = text.strip()
    if text.casefold() in ("", "all"):
        return ()
    if text.isdecimal() and text not in refs:
        if int(text) < 1:
            raise UsageError("statements: 0 were asked for; give 1 or more, refs, or nothing for all")
        return tuple(refs[: int(text)])
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _questions(values: FormValues, refs: Sequence[str]) -> tuple[str, ...]:
    """Return the multiple-choice questions that are asked; `refs` are those about the chosen biases."""
    if values.biases == ():
        raise UsageError("biases: tick one or more")
    if values.variants and str(ORIGINAL) not in values.variants:
        raise UsageError("variants: tick the original too; each other form is compared with it")
    typed = _statements(values.statements, refs)
    others = [ref for ref in typed if ref not in refs]
    if others:
        raise UsageError(f"statements: {', '.join(others[:5])}: no question about a bias that is ticked")
    return typed or (() if values.biases is None else tuple(refs))
