"""The part of an instrument that ProbVAA's layout can hold, and a sentence about each part that it cannot."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from workbench.domain.instruments import Instrument, Party, PartyAnswer, SurveyAnswer
from workbench.domain.issue_gold import GOLD
from workbench.domain.prompts import SLOT, Template
from workbench.domain.statements import Statement, Wording
from workbench.formats.people import ANSWERS
from workbench.formats.probvaa import AGNOSTIC, ANNOTATED, CODES, LLAMA_CHAT, SURVEYED

FAMILIES = ("chat", "generation", "gpt")
NOTHING_ELSE = (
    "The name, title, version, language, source, citation, licence, notes and issue definitions of the instrument.",
)
LANGUAGE = re.compile("[a-z]{2}")


def held(instrument: Instrument) -> tuple[Instrument, tuple[str, ...]]:
    """Return the part that the layout can hold, under the instrument's own names, and what is left out."""
    statements = tuple(statement for statement in map(_statement, instrument.statements) if statement.wordings)
    refs = {s.ref: s.country or "" for s in statements}
    issues = tuple(issue for issue in instrument.issues if issue not in ANNOTATED)
    answers = tuple(a for a in instrument.party_answers if refs.get(a.statement) == a.country and _is_known(a))
    answering = {(answer.country, answer.party) for answer in answers}
    kept = replace(
        instrument,
        statements=statements,
        issues=issues,
        definitions=(),
        issue_labels=tuple(
            o for o in instrument.issue_labels if o.annotator == GOLD and o.statement in refs and o.issue in issues
        ),
        parties=tuple(party for party in instrument.parties if (party.country, party.name) in answering),
        party_answers=answers,
        survey=tuple(answer for answer in instrument.survey if _is_surveyed(answer) and answer.statement in refs),
        templates=tuple(template for template in instrument.templates if fits(template)),
        questionnaire=None,
        notes=(),
    )
    return kept, (*_lost_statements(instrument, kept), *_lost_people(instrument, kept), *NOTHING_ELSE)


def fits(template: Template) -> bool:
    """Return whether one of the two files of templates can hold a template."""
    text = template.system or template.user
    if template.audit != "reliability" or template.scale or template.family not in FAMILIES or _has_marker(template):
        return False
    if template.family == "generation":
        return not template.chat and template.system is None
    if not template.chat:
        return False
    if template.system is None:  # the statement is inside the instruction, which a chat row cannot express
        return template.family == "gpt" and template.user.strip() != SLOT and text == text.strip()
    if template.user != SLOT:
        return False
    if template.family == "gpt":
        return bool(text.strip())
    match = LLAMA_CHAT.fullmatch(chat_row(template))
    return match is not None and match[1] == template.system


def chat_row(template: Template) -> str:
    """Return a chat template as the authors write it: in the markup of Llama 2."""
    return f"<s>[INST] <<SYS>> {template.system} <</SYS>> %s [/INST]"


def _has_marker(template: Template) -> bool:
    """Return whether a template contains `%s`, where the layout puts the statement."""
    return "%s" in template.user or "%s" in (template.system or "")


def _statement(statement: Statement) -> Statement:
    """Return a statement with the fields that its row can hold."""
    wordings = tuple(
        replace(wording, author=None, stated=None) for wording in statement.wordings if _wording_fits(wording)
    )
    return replace(
        statement,
        wordings=wordings,
        languages=tuple(dict.fromkeys(wording.language for wording in wordings)),
        dimension=None,
        leaning=None,
        source=None,
        tags=(AGNOSTIC,) if AGNOSTIC in statement.tags else (),
        derived_from=None,
        version=1,
    )


def _wording_fits(wording: Wording) -> bool:
    return wording.variant in CODES and LANGUAGE.fullmatch(wording.language) is not None


def _is_surveyed(answer: SurveyAnswer) -> bool:
    return answer.variant in SURVEYED.values()


def _is_known(answer: PartyAnswer) -> bool:
    return answer.answer.casefold() in ANSWERS and ANSWERS[answer.answer.casefold()] == answer.stance


def _lost_statements(instrument: Instrument, kept: Instrument) -> list[str]:
    """Return a sentence about each part of statements that the layout has no column for."""
    statements = instrument.statements
    every = [wording for statement in statements for wording in statement.wordings]
    kinds = Counter(w.variant.kind.value.replace("_", " ") for w in every if w.variant not in CODES)
    counts = {
        "{} of statements without a wording that the layout can hold": len(statements) - len(kept.statements),
        **{f"{{}} of the {kind} wordings: the layout has three paraphrases, a negation and an opposite": n
           for kind, n in sorted(kinds.items())},
        "{} wordings in languages without a two-letter code": sum(
            LANGUAGE.fullmatch(w.language) is None for w in every if w.variant in CODES
        ),
        "The authors of {} wordings": sum(w.author is not None for w in every),
        "The expected relation of {} wordings that differs from their kind's": sum(
            w.relation is not w.variant.relation for w in every
        ),
        f"Tags of {{}} statements, other than {AGNOSTIC}": sum(bool({*s.tags} - {AGNOSTIC}) for s in statements),
        "The dimension or leaning of {} statements": sum(s.dimension is not None or s.leaning is not None
                                                          for s in statements),
        "The source of {} statements": sum(s.source is not None for s in statements),
        "The origins of {} statements": sum(s.derived_from is not None for s in statements),
        "The version of {} statements": sum(s.version != 1 for s in statements),
    }  # fmt: skip
    return _sentences(counts.items())


def _lost_people(instrument: Instrument, kept: Instrument) -> list[str]:
    """Return sentences about labels, answers and templates that are left out."""
    names = Counter(t.family for t in instrument.templates if not fits(t))
    labels = [label for label in instrument.issue_labels if label.annotator != GOLD]
    lost: list[Party] = [party for party in instrument.parties if party not in kept.parties]
    counts = [
        ("{} labels of single annotators: the layout has gold labels only", len(labels)),
        (
            "{} gold labels of statements or issues that it lacks",
            len(instrument.issue_labels) - len(labels) - len(kept.issue_labels),
        ),
        (
            "{} answers of parties to other countries' statements, or in words that the layout lacks",
            len(instrument.party_answers) - len(kept.party_answers),
        ),
        ("{} parties without an answer", len(lost)),
        (
            "{} answers of people: the layout asks for original, first paraphrase, negation and opposite",
            len(instrument.survey) - len(kept.survey),
        ),
        *((f"{{}} templates of the family {family!r}", n) for family, n in names.items()),
    ]
    return _sentences(counts)


def _sentences(counts: Iterable[tuple[str, int]]) -> list[str]:
    return [words.format(f"{n:,}") + "." for words, n in counts if n]
