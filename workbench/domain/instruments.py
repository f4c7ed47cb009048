"""An instrument: statements with everything people have said about them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from workbench.domain.choices import AnswerSet, ChoiceItem
from workbench.domain.prompts import Template
from workbench.domain.questionnaires import Questionnaire
from workbench.domain.statements import Statement, VariantId


@dataclass(frozen=True, slots=True)
class Party:
    """A party of one country. Names repeat between countries: the key is (country, name)."""

    country: str
    name: str
    position: float | None = None
    "general left-right position, 0 left to 10 right; None where no expert placed it"


@dataclass(frozen=True, slots=True)
class PartyAnswer:
    """What a party said to a statement."""

    country: str
    party: str
    statement: str
    answer: str
    "as published: `rather agree`"
    stance: int | None
    "+1 agree, -1 disagree, 0 neutral, None no opinion"


@dataclass(frozen=True, slots=True)
class IssueDefinition:
    """What a policy issue is called, and what supporting it means."""

    name: str
    "as labels name it: `law_and_order`"
    title: str = ""
    definition: str = ""


@dataclass(frozen=True, slots=True)
class IssueLabel:
    """One annotator's label of one statement for one policy issue."""

    statement: str
    issue: str
    annotator: str
    "`gold` where a source gives only the adjudicated label"
    label: int
    "+1 agreeing supports the issue, -1 disagreeing supports it, 0 not related"


@dataclass(frozen=True, slots=True)
class SurveyAnswer:
    """A person's own stance on one wording."""

    respondent: str
    statement: str
    variant: VariantId
    agrees: bool


@dataclass(frozen=True, slots=True)
class BroughtLexicon:
    """The words by which answers to an instrument are read in one language, in place of those of workbench."""

    language: str
    text: str
    "TOML, see `workbench.readers.lexicon`"


@dataclass(frozen=True, slots=True)
class Instrument:
    """A set of statements that is administered as one."""

    name: str
    title: str
    statements: tuple[Statement, ...]
    language: str = "en"
    "the language that audits use unless told otherwise"
    version: str = "1"
    source: str = ""
    citation: str = ""
    licence: str = ""
    issues: tuple[str, ...] = ()
    "names of the policy issues, in their order"
    definitions: tuple[IssueDefinition, ...] = ()
    "of those issues that it defines itself"
    templates: tuple[Template, ...] = ()
    issue_labels: tuple[IssueLabel, ...] = ()
    parties: tuple[Party, ...] = ()
    party_answers: tuple[PartyAnswer, ...] = ()
    survey: tuple[SurveyAnswer, ...] = ()
    questionnaire: Questionnaire | None = None
    "roles and answers of the questions; a store keeps them apart, for they may be many"
    choices: tuple[ChoiceItem, ...] = ()
    "what the statements that are multiple-choice questions are, in the order of the statements"
    answer_sets: tuple[AnswerSet, ...] = ()
    "models' answers that came with the questions, without the prompts that were put"
    notes: tuple[str, ...] = ()
    "what the importer mended or left out, in sentences, for the person who imports"
    lexicons: tuple[BroughtLexicon, ...] = ()
    "those that it brings, by language"


def with_words(templates: Iterable[Template], lexicons: Sequence[BroughtLexicon]) -> tuple[Template, ...]:
    """Return templates with the lexicons that an instrument brings for their languages; `de-CH` has that of `de` where
    there is none of its own.
    """
    held = {one.language: one.text for one in lexicons}
    if not held:
        return tuple(templates)
    return tuple(
        replace(one, words=held.get(one.language) or held.get(one.language.partition("-")[0], "")) for one in templates
    )
