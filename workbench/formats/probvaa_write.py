"""The part of an instrument that ProbVAA's layout can hold, and notes on the rest."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from workbench.csv_files import csv_text, guarded
from workbench.domain.instruments import (
    GOLD,
    Instrument,
    IssueLabel,
    Party,
    PartyAnswer,
    SurveyAnswer,
)
from workbench.domain.prompts import SLOT, Template
from workbench.domain.statements import ORIGINAL, QUESTION, Statement, Wording
from workbench.errors import InputError, UsageError
from workbench.formats.people import StanceRule
from workbench.formats.probvaa import (
    AGNOSTIC,
    ANNOTATED,
    ANNOTATIONS,
    CLF_TEMPLATES,
    CODES,
    GPT_TEMPLATES,
    LANGUAGES,
    LEFT_RIGHT,
    LLAMA_CHAT,
    MAPPING,
    SURVEY,
    SURVEYED,
    label_pair,
    layout_names,
    read,
)

FAMILIES = ("chat", "generation", "gpt")
NOTHING_ELSE = (
    "The name, title, version, language, source, citation, licence, notes and issue definitions "
    "of the instrument.",
)
LANGUAGE = re.compile("[a-z]{2}")


def held(instrument: Instrument) -> tuple[Instrument, tuple[str, ...]]:
    """Return the part that the layout can hold, and sentences about the rest.

    The part has the instrument's own names.
    """
    reduced = _reduced(instrument)
    return reduced, (
        *_lost_statements(instrument, reduced),
        *_lost_people(instrument, reduced),
        *NOTHING_ELSE,
    )


def _reduced(instrument: Instrument) -> Instrument:
    """Return the part of an instrument that the layout can hold."""
    statements = [
        statement for statement in map(_statement, instrument.statements) if statement.wordings
    ]
    country_by_ref = {statement.ref: statement.country or "" for statement in statements}
    issues = tuple(issue for issue in instrument.issues if issue not in ANNOTATED)
    labels = _fitting_labels(instrument.issue_labels, country_by_ref, issues)
    party_answers = tuple(_fitting_party_answers(instrument.party_answers, country_by_ref))
    answering = {(answer.country, answer.party) for answer in party_answers}
    parties = [party for party in instrument.parties if (party.country, party.name) in answering]
    survey = [answer for answer in instrument.survey if _is_surveyed(answer)]
    return replace(
        instrument,
        statements=tuple(statements),
        issues=issues,
        definitions=(),
        issue_labels=tuple(labels),
        parties=tuple(parties),
        party_answers=party_answers,
        survey=tuple(answer for answer in survey if answer.statement in country_by_ref),
        templates=tuple(filter(fits, instrument.templates)),
        questionnaire=None,
        notes=(),
    )


def _fitting_labels(
    labels: Iterable[IssueLabel], refs: Collection[str], issues: Collection[str]
) -> Iterator[IssueLabel]:
    """Yield the gold labels of statements and issues that the layout has."""
    for label in labels:
        if label.annotator == GOLD and label.statement in refs and label.issue in issues:
            yield label


def _fitting_party_answers(
    answers: Iterable[PartyAnswer], country_by_ref: Mapping[str, str]
) -> Iterator[PartyAnswer]:
    """Yield the answers of parties to statements of their own country, in known words."""
    for answer in answers:
        if country_by_ref.get(answer.statement) == answer.country and _is_known(answer):
            yield answer


def fits(template: Template) -> bool:
    """Return whether one of the two files of templates can hold a template."""
    text = template.system or template.user
    if (
        template.audit != "reliability"
        or template.scale
        or template.family not in FAMILIES
        or _has_marker(template)
    ):
        return False
    if template.family == "generation":
        return not template.chat and template.system is None
    if not template.chat:
        return False
    # The statement is inside the instruction, which a chat row cannot express.
    if template.system is None:
        return template.family == "gpt" and template.user.strip() != SLOT and text == text.strip()
    if template.user != SLOT:
        return False
    if template.family == "gpt":
        return bool(text.strip())
    match = LLAMA_CHAT.fullmatch(chat_row(template))
    return match is not None and match[1] == template.system


def chat_row(template: Template) -> str:
    """Return a chat template as the authors write it, in the markup of Llama 2."""
    return f"<s>[INST] <<SYS>> {template.system} <</SYS>> %s [/INST]"


def _has_marker(template: Template) -> bool:
    """Return whether a template contains `%s`, where the layout puts the statement."""
    return "%s" in template.user or "%s" in (template.system or "")


def _statement(statement: Statement) -> Statement:
    """Return a statement with the fields that its row can hold."""
    wordings = tuple(
        replace(wording, author=None, stated=None)
        for wording in statement.wordings
        if _wording_fits(wording)
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
    return StanceRule().stance(answer.answer) == (True, answer.stance)


def _lost_statements(instrument: Instrument, reduced_instrument: Instrument) -> list[str]:
    """Return sentences about the parts of statements that the layout has no column for."""
    statements = instrument.statements
    wordings = [wording for statement in statements for wording in statement.wordings]
    n_lost = len(statements) - len(reduced_instrument.statements)
    counts = {"{} of statements without a wording that the layout can hold": n_lost}
    counts |= _lost_wordings(wordings)
    counts |= _lost_fields(statements)
    return _sentences(counts.items())


def _lost_wordings(wordings: Sequence[Wording]) -> dict[str, int]:
    """Return the number of wordings that are left out or lose a field, by a phrase about it."""
    kinds = [wording.variant.kind for wording in wordings if wording.variant not in CODES]
    n_by_kind = Counter(kind.value.replace("_", " ") for kind in kinds)
    counts = {
        f"{{}} of the {kind} wordings: the layout has three paraphrases, a negation and an "
        "opposite": count
        for kind, count in sorted(n_by_kind.items())
    }
    counts["{} wordings in languages without a two-letter code"] = sum(
        LANGUAGE.fullmatch(wording.language) is None
        for wording in wordings
        if wording.variant in CODES
    )
    counts["The authors of {} wordings"] = sum(wording.author is not None for wording in wordings)
    counts["The expected relation of {} wordings that differs from their kind's"] = sum(
        wording.relation is not wording.variant.relation for wording in wordings
    )
    return counts


def _lost_fields(statements: Sequence[Statement]) -> dict[str, int]:
    """Return the number of statements that lose a field, by a phrase about it."""
    return {
        f"Tags of {{}} statements, other than {AGNOSTIC}": sum(
            bool({*statement.tags} - {AGNOSTIC}) for statement in statements
        ),
        "The dimension or leaning of {} statements": sum(
            statement.dimension is not None or statement.leaning is not None
            for statement in statements
        ),
        "The source of {} statements": sum(
            statement.source is not None for statement in statements
        ),
        "The origins of {} statements": sum(
            statement.derived_from is not None for statement in statements
        ),
        "The version of {} statements": sum(statement.version != 1 for statement in statements),
    }


def _lost_people(instrument: Instrument, reduced_instrument: Instrument) -> list[str]:
    """Return sentences about the labels, answers and templates that are excluded."""
    n_by_family = Counter(
        template.family for template in instrument.templates if not fits(template)
    )
    labels = [label for label in instrument.issue_labels if label.annotator != GOLD]
    lost_parties: list[Party] = [
        party for party in instrument.parties if party not in reduced_instrument.parties
    ]
    counts = [
        ("{} labels of single annotators: the layout has gold labels only", len(labels)),
        (
            "{} gold labels of statements or issues that it lacks",
            len(instrument.issue_labels) - len(labels) - len(reduced_instrument.issue_labels),
        ),
        (
            "{} answers of parties to other countries' statements, or in words that the layout "
            "lacks",
            len(instrument.party_answers) - len(reduced_instrument.party_answers),
        ),
        ("{} parties without an answer", len(lost_parties)),
        (
            "{} answers of people: the layout asks for original, first paraphrase, negation and "
            "opposite",
            len(instrument.survey) - len(reduced_instrument.survey),
        ),
        *(
            (f"{{}} templates of the family {family!r}", count)
            for family, count in n_by_family.items()
        ),
    ]
    return _sentences(counts)


def _sentences(counts: Iterable[tuple[str, int]]) -> list[str]:
    return [phrase.format(f"{count:,}") + "." for phrase, count in counts if count]


DATA = "data/"


class ProbvaaFiles:
    """An instrument as files of the layout."""

    def __init__(self, instrument: Instrument):
        self.instrument, self.left_out = held(instrument)
        "the part that the layout holds, and sentences about the rest"
        self.names = layout_names(self.instrument)
        if not self.instrument.statements:
            raise UsageError(f"{instrument.name!r} has no wording that ProbVAA's layout could hold")

    def files(self) -> dict[str, str]:
        """Return the files as path -> text."""
        mapping = self.names.mapping()
        return {
            f"{DATA}vaa/probvaa.csv": csv_text(("ID", "statement"), self._wordings()),
            **{
                f"{DATA}vaa/{code}.csv": self._answers(country)
                for country, code in self.names.countries.items()
            },
            f"{DATA}{ANNOTATIONS}": self._annotations(),
            f"{DATA}{SURVEY}": self._survey(),
            f"{DATA}{CLF_TEMPLATES}": self._clf_templates(),
            f"{DATA}{GPT_TEMPLATES}": self._gpt_templates(),
            LEFT_RIGHT: self._positions(),
            **({MAPPING: mapping} if mapping else {}),
        }

    def notes(self) -> tuple[str, ...]:
        """Return sentences for the users of the files."""
        texts = [
            wording.text
            for statement in self.instrument.statements
            for wording in statement.wordings
        ]
        notes = []
        if self.names.mapping():
            notes.append(
                "Names that are not country_number or the number of a template are in "
                f"{MAPPING}, which is read back."
            )
        if any(_own_labels(template) for template in self.instrument.templates):
            notes.append(
                "Labels other than the authors' pairs are in two additional columns: positive, "
                "negative."
            )
        if n := sum(guarded(text) != text for text in texts):
            notes.append(
                f"{n:,} texts begin like formulas and are written unchanged: a spreadsheet would "
                "run them."
            )
        return tuple(notes)

    def check(self, folder: Path) -> None:
        """Raise UsageError if the files do not read back to the same data."""
        try:
            read_back = read(folder)
        except InputError as error:
            faults = "\n".join(str(finding) for finding in error.findings[: error.shown])
            raise UsageError(
                f"ProbVAA's layout could not be read back, so nothing was written:\n{faults}"
            ) from error
        differing = [
            name for name, part in PARTS.items() if part(read_back) != part(self.instrument)
        ]
        if differing:
            raise UsageError(
                f"ProbVAA's layout cannot hold the {', '.join(differing)} of "
                f"{self.instrument.name!r} unchanged, so "
                "nothing was written. Format csv can hold them."
            )

    def _wordings(self) -> Iterable[tuple[str, str]]:
        for statement in self.instrument.statements:
            for wording in statement.wordings:
                yield self._id(statement, wording), wording.text

    def _id(self, statement: Statement, wording: Wording) -> str:
        """Return the ID of a wording, `country_number_code_language`."""
        language = self.instrument.language
        default_languages = (
            language if language in statement.languages else statement.languages[0],
        )
        is_translated = wording.language not in LANGUAGES.get(
            statement.country or "", default_languages
        )
        code = f"{CODES[wording.variant]}{int(AGNOSTIC in statement.tags)}{int(is_translated)}"
        return f"{self.names.refs[statement.ref]}_{code}_{wording.language}"

    def _answers(self, country: str) -> str:
        texts = {
            statement.ref: _text(statement, LANGUAGES.get(statement.country or "", ()))
            for statement in self.instrument.statements
        }
        rows = [
            (self._number(answer.statement), texts[answer.statement], answer.answer, answer.party)
            for answer in self.instrument.party_answers
            if answer.country == country
        ]
        return csv_text(("statementID", "statement", "position", "party"), rows)

    def _number(self, ref: str) -> str:
        return self.names.refs[ref].partition("_")[2]

    def _positions(self) -> str:
        rows = [
            (self.names.countries[party.country], party.name, "", repr(party.position))
            for party in self.instrument.parties
            if party.position is not None
        ]
        return csv_text(("country", "party", "ches_key", "lrgen"), rows)

    def _annotations(self) -> str:
        labels = {
            (label.statement, label.issue): f"{label.label:.1f}"
            for label in self.instrument.issue_labels
        }
        rows = [
            (
                *(self._about_id(statement), _text(statement, ("en",)), statement.topic or ""),
                *(labels.get((statement.ref, issue), "") for issue in self.instrument.issues),
            )
            for statement in self.instrument.statements
        ]
        return csv_text(("ID", "statement", "policy_domain", *self.instrument.issues), rows)

    def _about_id(self, statement: Statement) -> str:
        return self._id(statement, Wording(ORIGINAL, statement.languages[0], ""))

    def _survey(self) -> str:
        statements = {statement.ref: statement for statement in self.instrument.statements}
        answers_by_key: dict[tuple[str, str], dict[str, str]] = {}
        columns = {variant: column for column, variant in SURVEYED.items()}
        for answer in self.instrument.survey:
            row = answers_by_key.setdefault((answer.respondent, answer.statement), {})
            row[columns[answer.variant]] = str(int(answer.agrees))
        header = ("paraphrase", "opposite", "negation", "original")
        rows = [
            (
                *(row.get(column, "") for column in header),
                self._about_id(statements[ref]),
                respondent,
            )
            for (respondent, ref), row in answers_by_key.items()
        ]
        return csv_text((*header, "ID", "annotator"), rows)

    def _clf_templates(self) -> str:
        """Return chat and generation templates.

        `inverted` is 1 for the printed order here, but 0 in the other file.
        """
        templates = [template for template in self.instrument.templates if template.family != "gpt"]
        rows = [
            (
                self.names.templates[template.family, template.name],
                chat_row(template) if template.chat else template.user.replace(SLOT, "%s"),
                *(
                    template.language,
                    "chat" if template.chat else "generation",
                    template.address,
                    str(int(not template.inverted)),
                    str(number),
                ),
            )
            for number, template in enumerate(templates)
        ]
        header = (
            "template_id",
            "template",
            "lang",
            "model_type",
            "prompt_type",
            "inverted",
            "final_template_id",
        )
        return _with_labels(header, rows, templates)

    def _gpt_templates(self) -> str:
        templates = [template for template in self.instrument.templates if template.family == "gpt"]
        rows = [
            (
                *(str(number), self.names.templates[template.family, template.name]),
                template.user.replace(SLOT, "%s") if template.system is None else template.system,
                *(template.language, "chat", template.address, str(int(template.inverted))),
            )
            for number, template in enumerate(templates)
        ]
        header = (
            "template_id",
            "inversion_id",
            "template",
            "lang",
            "model_type",
            "prompt_type",
            "inverted",
        )
        return _with_labels(header, rows, templates)


def _with_labels(
    header: Sequence[str], rows: Sequence[tuple[str, ...]], templates: Sequence[Template]
) -> str:
    """Return a file of templates.

    It has two additional columns if the text does not show the two labels.
    """
    if not any(map(_own_labels, templates)):
        return csv_text(header, rows)
    label_pairs = [
        (template.positive, template.negative) if _own_labels(template) else ("", "")
        for template in templates
    ]
    return csv_text(
        (*header, "positive", "negative"),
        [(*row, *pair) for row, pair in zip(rows, label_pairs, strict=True)],
    )


def _own_labels(template: Template) -> bool:
    return label_pair(template.system, template.user) != (template.positive, template.negative)


def _text(statement: Statement, languages: Iterable[str]) -> str:
    """Return the original, or the question, in the first available of these languages.

    If none is available, any language counts.
    """
    for language in (*languages, *statement.languages):
        for variant in (ORIGINAL, QUESTION):
            wording = statement.wording(variant, language)
            if wording is not None:
                return wording.text
    return ""


def _statements(instrument: Instrument) -> object:
    return {
        statement.ref: (
            statement.country,
            statement.topic,
            frozenset(statement.wordings),
            frozenset(statement.tags),
        )
        for statement in instrument.statements
    }, [statement.ref for statement in instrument.statements]


PARTS: dict[str, Callable[[Instrument], object]] = {
    "statements": _statements,
    "labels": lambda instrument: Counter(instrument.issue_labels),
    "issues": lambda instrument: instrument.issues,
    "answers of parties": lambda instrument: Counter(instrument.party_answers),
    "parties": lambda instrument: Counter(instrument.parties),
    "answers of people": lambda instrument: Counter(instrument.survey),
    "templates": lambda instrument: Counter(replace(template) for template in instrument.templates),
}
"parts that must read back unchanged"
