"""Reads the ProbVAA download, and converts an instrument's names to its layout and back.

IDs are `country_number_…`, and templates have numbers. Names that do not fit get a free code or
number, which `mapping.csv` beside the data records. Reading restores the instrument's own names.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
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
from workbench.domain.statements import (
    MOST_CHARACTERS,
    NEGATION,
    OPPOSITE,
    ORIGINAL,
    QUESTION,
    Statement,
    VariantId,
    VariantKind,
    Wording,
)
from workbench.errors import UsageError
from workbench.formats.about import check_issue_list
from workbench.formats.people import StanceRule, party_answer
from workbench.formats.records import Findings
from workbench.formats.tabular import Row, choice, is_new, number, read_rows

MAPPING = "mapping.csv"
COLUMNS = ("what", "layout", "name")
COUNTRY, STATEMENT, TEMPLATE = "country", "statement", "template"
FREE_CODES = tuple(f"x{letter}" for letter in "xabcdefghijklmnopqrstuvwyz")
"codes that ISO 3166 reserves for users"
NOWHERE = ""
"the country of statements without one"


@dataclass(frozen=True, slots=True)
class LayoutNames:
    """The names of the instrument and those of the layout."""

    countries: Mapping[str, str]
    "country, or NOWHERE -> code of two letters"
    refs: Mapping[str, str]
    "ref -> `code_number`"
    templates: Mapping[tuple[str, str], str]
    "(family, name) -> number"

    def mapping(self) -> str:
        """Return the file of renamings, or an empty string if there are none."""
        rows = [
            *((COUNTRY, code, name) for name, code in self.countries.items() if code != name),
            *((STATEMENT, layout, ref) for ref, layout in self.refs.items() if layout != ref),
            *(
                (TEMPLATE, f"{family}-{template_number}", name)
                for (family, name), template_number in self.templates.items()
                if f"{family}-{template_number}" != name
            ),
        ]
        return csv_text(COLUMNS, ([guarded(cell) for cell in row] for row in rows)) if rows else ""


@dataclass(frozen=True, slots=True)
class OwnNames:
    """The contents of `mapping.csv`: names of the layout and of the instrument."""

    countries: Mapping[str, str] = field(default_factory=dict)
    refs: Mapping[str, str] = field(default_factory=dict)
    templates: Mapping[str, str] = field(default_factory=dict)

    def back(self, instrument: Instrument) -> Instrument:
        """Return an instrument that was read from the layout, with its own names restored."""
        own_ref = {**self.refs}.get
        own_country = {**self.countries}.get
        return replace(
            instrument,
            statements=tuple(
                replace(
                    statement,
                    ref=own_ref(statement.ref, statement.ref),
                    country=own_country(statement.country or "", statement.country) or None,
                )
                for statement in instrument.statements
            ),
            issue_labels=tuple(
                replace(label, statement=own_ref(label.statement, label.statement))
                for label in instrument.issue_labels
            ),
            parties=tuple(
                replace(party, country=own_country(party.country, party.country))
                for party in instrument.parties
            ),
            party_answers=tuple(
                replace(
                    answer,
                    country=own_country(answer.country, answer.country),
                    statement=own_ref(answer.statement, answer.statement),
                )
                for answer in instrument.party_answers
            ),
            survey=tuple(
                replace(answer, statement=own_ref(answer.statement, answer.statement))
                for answer in instrument.survey
            ),
            templates=tuple(
                replace(template, name=self.templates.get(template.name, template.name))
                for template in instrument.templates
            ),
        )


def layout_names(instrument: Instrument) -> LayoutNames:
    """Return the layout's names of an instrument's countries, statements and templates."""
    countries = _codes(
        dict.fromkeys(statement.country or NOWHERE for statement in instrument.statements)
    )
    refs: dict[str, str] = {}
    for country, code in countries.items():
        country_refs = [
            statement.ref
            for statement in instrument.statements
            if (statement.country or NOWHERE) == country
        ]
        numbers = _numbers(country_refs, code)
        refs |= {ref: f"{code}_{numbers[ref]}" for ref in country_refs}
    return LayoutNames(
        countries,
        {statement.ref: refs[statement.ref] for statement in instrument.statements},
        _template_numbers(instrument.templates),
    )


def read_mapping(path: Path, findings: Findings) -> OwnNames:
    """Return the contents of a mapping file, or an empty mapping if the file is missing."""
    if not path.is_file():
        return OwnNames()
    names_by_kind: dict[str, dict[str, str]] = {COUNTRY: {}, STATEMENT: {}, TEMPLATE: {}}
    seen: dict[object, int] = {}
    for row in read_rows(path, findings, required=COLUMNS, may_be_empty=("name",), guarded=True):
        kind, layout = row.get("what"), row.get("layout")
        if kind not in names_by_kind:
            findings.add(path, row.line, "what", repr(kind), "one of " + ", ".join(names_by_kind))
        elif is_new(seen, (kind, layout), row, "layout", findings):
            names_by_kind[kind][layout] = row.get("name")
    return OwnNames(names_by_kind[COUNTRY], names_by_kind[STATEMENT], names_by_kind[TEMPLATE])


def _codes(countries: Iterable[str]) -> dict[str, str]:
    names = list(countries)
    fitting = {name for name in names if re.fullmatch("[a-z]{2}", name)}
    free_codes = (code for code in FREE_CODES if code not in fitting)
    return {name: name if name in fitting else next(free_codes) for name in names}


def _numbers(refs: list[str], code: str) -> dict[str, str]:
    """Return the number of each ref: its own if the ref is `code_number`, or else a free one."""
    fitting = {
        ref: match[1] for ref in refs if (match := re.fullmatch(rf"{code}_([0-9]+)", ref, re.ASCII))
    }
    used = {int(number) for number in fitting.values()}
    free_numbers = (number for number in range(1, len(refs) + len(used) + 1) if number not in used)
    return {ref: fitting.get(ref) or str(next(free_numbers)) for ref in refs}


def _template_numbers(templates: Iterable[Template]) -> dict[tuple[str, str], str]:
    names: dict[str, dict[str, None]] = {}
    for template in templates:
        names.setdefault(template.family, {})[template.name] = None
    numbers_by_name: dict[tuple[str, str], str] = {}
    for family, family_names in names.items():
        numbers = _template_numbers_of(family, list(family_names))
        numbers_by_name |= {(family, name): numbers[name] for name in family_names}
    return numbers_by_name


def _template_numbers_of(family: str, names: list[str]) -> dict[str, str]:
    fitting = {
        name: match[1]
        for name in names
        if (match := re.fullmatch(rf"{re.escape(family)}-(0|[1-9][0-9]*)", name))
    }
    used = {int(number) for number in fitting.values()}
    free_numbers = (number for number in range(len(names) + len(used) + 1) if number not in used)
    return {name: fitting.get(name) or str(next(free_numbers)) for name in names}


LANGUAGES = {
    "ch": ("de", "fr", "it"),
    **{country: (country,) for country in ("de", "es", "hu", "it", "nl", "pl")},
}
"the countries of the download, and the original languages of their statements"
ISSUES = (
    "open_foreign_policy",
    "liberal_economic_policy",
    "restrictive_financial_policy",
    "law_and_order",
    "restrictive_migration_policy",
    "expanded_environ_protection",
    "expanded_social_welfare_state",
    "liberal_society",
)
LABELS: Mapping[str, int | None] = {"1.0": 1, "0.0": 0, "-1.0": -1, "1": 1, "0": 0, "-1": -1}
PAIRS = (
    ("agree", "disagree"),
    ("support", "oppose"),
    ("beneficial", "harmful"),
    ("favorable", "detrimental"),
)
STATEMENT_ID = re.compile(r"([a-z]{2})_([0-9]+)_([0-9]{5})([01])[01]_([a-z]{2})")
OTHER_ID = re.compile(r"([a-z]{2})_([0-9]+)_.*")
VARIANTS = {
    "10000": ORIGINAL,
    "10100": VariantId(VariantKind.PARAPHRASE, 1),
    "10200": VariantId(VariantKind.PARAPHRASE, 2),
    "10300": VariantId(VariantKind.PARAPHRASE, 3),
    "00010": OPPOSITE,
    "00001": NEGATION,
    "01000": QUESTION,
}
"""the first five digits of a statement's code: original wording, question, paraphrase number,
opposite, negation"""
CODES = {variant: code for code, variant in VARIANTS.items()}
AGNOSTIC = "country-agnostic"
"tag of statements without reference to a country, which is the sixth digit"
ANNOTATED = ("ID", "statement", "policy_domain")
"columns of the annotations that are not issues"
SURVEYED = {
    "original": ORIGINAL,
    "paraphrase": VariantId(VariantKind.PARAPHRASE, 1),
    "negation": NEGATION,
    "opposite": OPPOSITE,
}
LLAMA_CHAT = re.compile(r"\s*<s>\[INST\] <<SYS>>\s*(.*?)\s*<</SYS>>\s*%s\s*\[/INST\]\s*", re.DOTALL)

ANNOTATIONS = "human_annotations/annotations_spiderweb_gold.csv"
SURVEY = "human_annotations/survey_vaas.csv"
CLF_TEMPLATES = "prompt_instructions/en_clf_templates_final.csv"
GPT_TEMPLATES = "prompt_instructions/en_gpt_templates_final.csv"
PARTS = (ANNOTATIONS, SURVEY, CLF_TEMPLATES, GPT_TEMPLATES)
"other parts of a download besides the statements and the answers of each country's parties"
LEFT_RIGHT = "derived/party_lrgen.csv"

NOTES = (
    "The survey has one paraphrase per statement and does not say which; it is kept as "
    "paraphrase-1.",
    "Chat templates: the Llama 2 markup around the text is removed, because each model's own "
    "chat format is added; "
    "the text between <<SYS>> marks is the system turn, the statement the user turn.",
    "Both encodings of the label order are normalised: printed is inverted = 1 in the clf file, "
    "0 in the gpt file.",
)


def read(path: Path, name: str = "probvaa", left_right: Path | None = None) -> Instrument:
    """Read the download: its root, its `data` folder, or any folder with `vaa/probvaa.csv`.

    `left_right` is a CSV of party positions (country, party, lrgen), by default
    `derived/party_lrgen.csv`, if it exists.

    Raises UsageError if the path is not such a download, and InputError for malformed files.
    """
    data = _data_folder(path)
    findings = Findings()
    notes = list(NOTES)
    wordings, agnostic = _wordings(data / "vaa" / "probvaa.csv", findings, notes)
    labels, topics, all_issues = _annotations(data / ANNOTATIONS, findings)
    positions = _positions(left_right or data.parent / LEFT_RIGHT, findings, left_right is not None)
    answers = [
        answer
        for country in sorted(file.stem for file in (data / "vaa").glob("[a-z][a-z].csv"))
        for answer in _party_answers(data / "vaa", country, findings)
    ]
    survey = _survey(data / SURVEY, findings)
    templates = _templates(data, findings, notes)
    own_names = read_mapping(data.parent / MAPPING, findings)
    findings.check()
    parties = dict.fromkeys((answer.country, answer.party) for answer in answers)
    notes += _exclusion_notes(answers, wordings)
    notes += _missing_parts(data, wordings)
    instrument = Instrument(
        name=name,
        title="ProbVAA: policy statements of voting advice applications in seven countries",
        statements=_statements(wordings, agnostic, topics, labels),
        language="en",
        source="github.com/tceron/eval_political_worldviews",
        citation="Ceron, Falk, Barić, Nikolaev, Padó (2024), Beyond prompt brittleness: "
        "Evaluating the reliability and "
        "consistency of political worldviews in LLMs, TACL",
        licence="none stated; the questionnaires belong to third parties",
        issues=all_issues,
        templates=templates,
        issue_labels=tuple(labels),
        parties=tuple(Party(*key, positions.get(key)) for key in parties),
        party_answers=tuple(answers),
        survey=tuple(survey),
        notes=tuple(notes),
    )
    return own_names.back(instrument)


def _data_folder(path: Path) -> Path:
    """Return the folder of a download that has its data. Raises UsageError if none has."""
    for folder in (path, path / "data"):
        if (folder / "vaa" / "probvaa.csv").is_file():
            return folder
    raise UsageError(
        f"{path}: no ProbVAA download; looked for vaa/probvaa.csv and data/vaa/probvaa.csv in it"
    )


def _statements(
    wordings: Mapping[str, Sequence[Wording]],
    agnostic: Container[str],
    topics: Mapping[str, str],
    labels: Iterable[IssueLabel],
) -> tuple[Statement, ...]:
    """Return the statements. `agnostic` are those without reference to a country."""
    issues: dict[str, dict[str, int]] = {}
    for label in labels:
        issues.setdefault(label.statement, {})[label.issue] = label.label
    return tuple(
        Statement(
            ref,
            tuple(texts),
            ref.partition("_")[0],
            topics.get(ref),
            issues.get(ref, {}),
            tuple(dict.fromkeys(wording.language for wording in texts)),
            tags=(AGNOSTIC,) if ref in agnostic else (),
        )
        for ref, texts in wordings.items()
    )


def _missing_parts(data: Path, refs: Iterable[str]) -> list[str]:
    """Return a sentence for each file that a folder lacks."""
    refs = list(refs)
    countries = sorted({ref.partition("_")[0] for ref in refs} | _usual_countries(refs))
    parts = (*(f"vaa/{country}.csv" for country in countries), *PARTS)
    return [f"{part} is not in the download." for part in parts if not (data / part).is_file()]


def _usual_countries(wordings: Iterable[str]) -> set[str]:
    """Return the countries of the download if a folder has any of its statements."""
    return set(LANGUAGES) if any(ref.partition("_")[0] in LANGUAGES for ref in wordings) else set()


def _exclusion_notes(answers: Iterable[PartyAnswer], refs: Container[str]) -> list[str]:
    """Return sentences about the answers to statements that the instrument does not have."""
    n_by_ref = Counter(answer.statement for answer in answers if answer.statement not in refs)
    return [
        f"Answers for the unknown statement {ref} ({count} rows) are left out."
        for ref, count in sorted(n_by_ref.items())
    ]


def _wordings(
    path: Path, findings: Findings, notes: list[str]
) -> tuple[dict[str, list[Wording]], set[str]]:
    """Return the wordings of each statement, and the statements without reference to a country.

    Statements are by country and number. The code may differ between languages. The first row
    decides the digit for statements without reference to a country.
    """
    wordings: dict[str, list[Wording]] = {}
    agnostic: dict[str, str] = {}
    differing_refs: dict[str, None] = {}
    seen: dict[tuple[str, VariantId, str], int] = {}
    for row in read_rows(path, findings, required=("ID", "statement")):
        match = STATEMENT_ID.fullmatch(row.get("ID"))
        if match is None or match[3] not in VARIANTS:
            expected = "country_number_code_language: nl_1_1000001_en"
            findings.add(path, row.line, "ID", repr(row.get("ID")), expected)
            continue
        ref, variant, language = f"{match[1]}_{match[2]}", VARIANTS[match[3]], match[5]
        if agnostic.setdefault(ref, match[4]) != match[4]:
            differing_refs[ref] = None
        first_line = seen.setdefault((ref, variant, language), row.line)
        if first_line != row.line:
            findings.add(
                path,
                row.line,
                "ID",
                f"{variant} of {ref} in {language} again, after line {first_line}",
                "it once",
            )
            continue
        if len(row.cells["statement"]) > MOST_CHARACTERS:
            problem = f"a text of {len(row.cells['statement']):,} characters"
            findings.add(
                path, row.line, "statement", problem, f"at most {MOST_CHARACTERS:,} characters"
            )
        wordings.setdefault(ref, []).append(Wording(variant, language, row.cells["statement"]))
    if differing_refs:
        notes.append(
            "The digit for statements without reference to a country differs between languages "
            f"of {', '.join(differing_refs)}."
        )
    return wordings, {ref for ref, digit in agnostic.items() if digit == "1"}


def _ref(row: Row, column: str, findings: Findings) -> str | None:
    match = OTHER_ID.fullmatch(row.get(column))
    if match is None:
        findings.add(row.file, row.line, column, repr(row.get(column)), "country_number_…")
        return None
    return f"{match[1]}_{match[2]}"


def _annotations(
    path: Path, findings: Findings
) -> tuple[list[IssueLabel], dict[str, str], tuple[str, ...]]:
    """Return labels, topics and the issues, which are all other columns.

    Empty cells are not labels.
    """
    labels: list[IssueLabel] = []
    topics: dict[str, str] = {}
    seen: dict[Hashable, int] = {}
    rows = _optional(path, findings, ("ID",))
    issues = (
        tuple(column for column in rows[0].cells if column not in ANNOTATED) if rows else ISSUES
    )
    check_issue_list(path, 1, "issues", issues, findings)
    for row in rows:
        ref = _ref(row, "ID", findings)
        if ref is None or not is_new(seen, ref, row, "ID", findings):
            continue
        if row.get("policy_domain"):
            topics[ref] = row.get("policy_domain")
        for issue in issues:
            _, label = choice(row, issue, findings, {"": None, **LABELS})
            if label is not None:
                labels.append(IssueLabel(ref, issue, GOLD, label))
    return labels, topics, issues


def _positions(path: Path, findings: Findings, wanted: bool) -> dict[tuple[str, str], float]:
    if not path.exists() and not wanted:
        return {}
    if not path.exists():
        raise UsageError(f"{path}: found no such file of party positions")
    rows = read_rows(path, findings, required=("country", "party", "lrgen"), any_columns=True)
    position_by_party = {
        (row.get("country"), row.get("party")): number(row, "lrgen", findings, low=0, high=10)
        for row in rows
    }
    return {key: value for key, value in position_by_party.items() if value is not None}


def _party_answers(folder: Path, country: str, findings: Findings) -> Iterable[PartyAnswer]:
    seen: dict[Hashable, int] = {}
    for row in _optional(folder / f"{country}.csv", findings, ("statementID", "party", "position")):
        ref = f"{country}_{row.get('statementID')}"
        answer = party_answer(
            row, "position", (country, row.get("party"), ref), StanceRule(), findings
        )
        if re.fullmatch("[0-9]+", row.get("statementID")) is None:
            findings.add(
                row.file, row.line, "statementID", repr(row.get("statementID")), "a number"
            )
        elif (
            is_new(seen, (row.get("party"), row.get("statementID")), row, "statementID", findings)
            and answer
        ):
            yield answer


def _survey(path: Path, findings: Findings) -> Iterable[SurveyAnswer]:
    answers = []
    seen: dict[Hashable, int] = {}
    for row in _optional(
        path, findings, (*SURVEYED, "ID", "annotator"), may_be_empty=tuple(SURVEYED)
    ):
        ref = _ref(row, "ID", findings)
        is_new(seen, (row.get("annotator"), ref), row, "ID", findings)
        for column, variant in SURVEYED.items():
            _, agrees = choice(row, column, findings, {"": None, "1": 1, "0": 0})
            if agrees is not None and ref is not None:
                answers.append(SurveyAnswer(row.get("annotator"), ref, variant, bool(agrees)))
    return answers


def _templates(folder: Path, findings: Findings, notes: list[str]) -> tuple[Template, ...]:
    templates = []
    clf_rows = _optional(
        folder / CLF_TEMPLATES, findings, ("template_id", "template", "model_type", "inverted")
    )
    for row in clf_rows:
        _, is_printed = choice(row, "inverted", findings, {"1": 1, "0": 0})
        text, chat = row.cells["template"], row.get("model_type") == "chat"
        match = LLAMA_CHAT.fullmatch(text)
        if (chat and match is None) or (not chat and text.count("%s") != 1):
            expected = "<s>[INST] <<SYS>> … <</SYS>> %s [/INST]" if chat else "one %s"
            findings.add(row.file, row.line, "template", repr(text[:60]), expected)
            continue
        system, user = (match[1], SLOT) if match else (None, text.replace("%s", SLOT))
        templates.append(
            _template(row, row.get("template_id"), not is_printed, system, user, chat, findings)
        )
    gpt_rows = _optional(folder / GPT_TEMPLATES, findings, ("inversion_id", "template", "inverted"))
    for row in gpt_rows:
        _, is_swapped = choice(row, "inverted", findings, {"1": 1, "0": 0})
        instruction, name = row.cells["template"], row.get("inversion_id")
        parts: tuple[str | None, str] = (instruction, SLOT)
        if "%s" in instruction:
            # the statement goes where the template says, and is not repeated
            notes.append(
                f"{row.file.name}, line {row.line}: contains a literal %s, which the published "
                "prompts sent unchanged; "
                "here it is replaced by the statement, and the whole text is one user turn."
            )
            parts = (None, instruction.replace("%s", SLOT))
        templates.append(_template(row, name, bool(is_swapped), *parts, True, findings, "gpt"))
    return tuple(template for template in templates if template is not None)


def _template(
    row: Row,
    number_: str,
    inverted: bool,
    system: str | None,
    user: str,
    chat: bool,
    findings: Findings,
    family: str = "",
) -> Template | None:
    family = family or ("chat" if chat else "generation")
    pair = label_pair(system, user)
    if row.get("positive") and row.get("negative"):
        pair = (row.get("positive"), row.get("negative"))
    if pair is None:
        findings.add(
            row.file,
            row.line,
            "template",
            "no known pair of labels",
            " or ".join("/".join(labels) for labels in PAIRS),
        )
        return None
    return Template(
        name=f"{family}-{number_}",
        inverted=inverted,
        user=user,
        positive=pair[0],
        negative=pair[1],
        system=system,
        chat=chat,
        family=family,
        address=row.get("prompt_type") or "personal",
        language=row.get("lang") or "en",
    )


def label_pair(system: str | None, user: str) -> tuple[str, str] | None:
    """Return the two labels that a template names, or None if they are no pair of the authors."""
    words = set(re.findall(r"[a-z]+", f"{system or ''} {user}".lower()))
    return next(
        (
            (positive, negative)
            for positive, negative in PAIRS
            if positive in words and negative in words
        ),
        None,
    )


def _optional(
    path: Path, findings: Findings, required: tuple[str, ...], may_be_empty: tuple[str, ...] = ()
) -> list[Row]:
    if not path.exists():
        return []
    # the published answers of German parties have two columns `party`, a short name and a long one
    return read_rows(
        path,
        findings,
        required=required,
        any_columns=True,
        may_be_empty=may_be_empty,
        first_counts=("party",),
    )
