"""An instrument in the column layout of the published ProbVAA data set (Ceron et al. 2024), for the authors' scripts.

The files have the paths of the download, and format `probvaa` reads them back. Cells are written as the authors write
them, without the apostrophes of our own files, which their scripts would read as text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from workbench.csv_files import csv_text, guarded
from workbench.domain.instruments import Instrument
from workbench.domain.prompts import SLOT, Template
from workbench.domain.statements import ORIGINAL, QUESTION, Statement, Wording
from workbench.errors import InputError, UsageError
from workbench.formats.probvaa import (
    AGNOSTIC,
    ANNOTATIONS,
    CLF_TEMPLATES,
    CODES,
    GPT_TEMPLATES,
    LANGUAGES,
    LEFT_RIGHT,
    SURVEY,
    SURVEYED,
    label_pair,
    read,
)
from workbench.formats.probvaa_held import chat_row, held
from workbench.formats.probvaa_names import MAPPING, layout_names

DATA = "data/"


class Layout:
    """An instrument as files of the layout."""

    def __init__(self, instrument: Instrument):
        self.instrument, self.left_out = held(instrument)
        "the part that the layout holds, and sentences about the rest"
        self.names = layout_names(self.instrument)
        if not self.instrument.statements:
            raise UsageError(f"{instrument.name!r} has no wording that ProbVAA's layout could hold")

    def files(self) -> dict[str, str]:
        """Return path -> text."""
        mapping = self.names.mapping()
        return {
            f"{DATA}vaa/probvaa.csv": csv_text(("ID", "statement"), self._wordings()),
            **{f"{DATA}vaa/{code}.csv": self._answers(country) for country, code in self.names.countries.items()},
            f"{DATA}{ANNOTATIONS}": self._annotations(),
            f"{DATA}{SURVEY}": self._survey(),
            f"{DATA}{CLF_TEMPLATES}": self._clf_templates(),
            f"{DATA}{GPT_TEMPLATES}": self._gpt_templates(),
            LEFT_RIGHT: self._positions(),
            **({MAPPING: mapping} if mapping else {}),
        }

    def notes(self) -> tuple[str, ...]:
        """Return sentences about what users of the files should know."""
        texts = [w.text for s in self.instrument.statements for w in s.wordings]
        notes = []
        if self.names.mapping():
            notes.append(
                f"Names that are not country_number or the number of a template are in {MAPPING}, which is read back."
            )
        if any(_own_labels(template) for template in self.instrument.templates):
            notes.append("Labels other than the authors' pairs are in two additional columns: positive, negative.")
        if n := sum(guarded(text) != text for text in texts):
            notes.append(f"{n:,} texts begin like formulas and are written unchanged: a spreadsheet would run them.")
        return tuple(notes)

    def check(self, folder: Path) -> None:
        """Raise UsageError if the files do not read back to what they should hold."""
        try:
            found = read(folder)
        except InputError as error:
            places = "\n".join(str(finding) for finding in error.findings[: error.shown])
            raise UsageError(f"ProbVAA's layout could not be read back, so nothing was written:\n{places}") from error
        differ = [name for name, part in PARTS.items() if part(found) != part(self.instrument)]
        if differ:
            raise UsageError(
                f"ProbVAA's layout cannot hold the {', '.join(differ)} of {self.instrument.name!r} unchanged, so "
                "nothing was written. Format csv can hold them."
            )

    def _wordings(self) -> Iterable[tuple[str, str]]:
        for statement in self.instrument.statements:
            for wording in statement.wordings:
                yield self._id(statement, wording), wording.text

    def _id(self, statement: Statement, wording: Wording) -> str:
        """Return `country_number_code_language`."""
        language = self.instrument.language
        usual = (language if language in statement.languages else statement.languages[0],)
        translated = wording.language not in LANGUAGES.get(statement.country or "", usual)
        code = f"{CODES[wording.variant]}{int(AGNOSTIC in statement.tags)}{int(translated)}"
        return f"{self.names.refs[statement.ref]}_{code}_{wording.language}"

    def _answers(self, country: str) -> str:
        texts = {s.ref: _text(s, LANGUAGES.get(s.country or "", ())) for s in self.instrument.statements}
        rows = [
            (self._number(one.statement), texts[one.statement], one.answer, one.party)
            for one in self.instrument.party_answers
            if one.country == country
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
        labels = {(one.statement, one.issue): f"{one.label:.1f}" for one in self.instrument.issue_labels}
        rows = [
            (
                *(self._about_id(s), _text(s, ("en",)), s.topic or ""),
                *(labels.get((s.ref, issue), "") for issue in self.instrument.issues),
            )
            for s in self.instrument.statements
        ]
        return csv_text(("ID", "statement", "policy_domain", *self.instrument.issues), rows)

    def _about_id(self, statement: Statement) -> str:
        return self._id(statement, Wording(ORIGINAL, statement.languages[0], ""))

    def _survey(self) -> str:
        statements = {s.ref: s for s in self.instrument.statements}
        given: dict[tuple[str, str], dict[str, str]] = {}
        columns = {variant: column for column, variant in SURVEYED.items()}
        for one in self.instrument.survey:
            row = given.setdefault((one.respondent, one.statement), {})
            row[columns[one.variant]] = str(int(one.agrees))
        header = ("paraphrase", "opposite", "negation", "original")
        rows = [
            (*(row.get(column, "") for column in header), self._about_id(statements[ref]), respondent)
            for (respondent, ref), row in given.items()
        ]
        return csv_text((*header, "ID", "annotator"), rows)

    def _clf_templates(self) -> str:
        """Return chat and generation templates; `inverted` is 1 for the printed order here, but 0 in the other file."""
        chosen = [t for t in self.instrument.templates if t.family != "gpt"]
        rows = [
            (
                self.names.templates[t.family, t.name],
                chat_row(t) if t.chat else t.user.replace(SLOT, "%s"),
                *(t.language, "chat" if t.chat else "generation", t.address, str(int(not t.inverted)), str(n)),
            )
            for n, t in enumerate(chosen)
        ]
        header = ("template_id", "template", "lang", "model_type", "prompt_type", "inverted", "final_template_id")
        return _with_labels(header, rows, chosen)

    def _gpt_templates(self) -> str:
        chosen = [t for t in self.instrument.templates if t.family == "gpt"]
        rows = [
            (
                *(str(n), self.names.templates[t.family, t.name]),
                t.user.replace(SLOT, "%s") if t.system is None else t.system,
                *(t.language, "chat", t.address, str(int(t.inverted))),
            )
            for n, t in enumerate(chosen)
        ]
        header = ("template_id", "inversion_id", "template", "lang", "model_type", "prompt_type", "inverted")
        return _with_labels(header, rows, chosen)


def _with_labels(header: Sequence[str], rows: Sequence[tuple[str, ...]], templates: Sequence[Template]) -> str:
    """Return a file of templates; with two additional columns if the text does not show the two labels."""
    if not any(map(_own_labels, templates)):
        return csv_text(header, rows)
    more = [(t.positive, t.negative) if _own_labels(t) else ("", "") for t in templates]
    return csv_text((*header, "positive", "negative"), [(*row, *pair) for row, pair in zip(rows, more, strict=True)])


def _own_labels(template: Template) -> bool:
    return label_pair(template.system, template.user) != (template.positive, template.negative)


def _text(statement: Statement, languages: Iterable[str]) -> str:
    """Return the original, or the question, in the first available of these languages, else in any language."""
    for language in (*languages, *statement.languages):
        for variant in (ORIGINAL, QUESTION):
            wording = statement.wording(variant, language)
            if wording is not None:
                return wording.text
    return ""


def _statements(instrument: Instrument) -> object:
    return {s.ref: (s.country, s.topic, frozenset(s.wordings), frozenset(s.tags)) for s in instrument.statements}, [
        s.ref for s in instrument.statements
    ]


PARTS: dict[str, Callable[[Instrument], object]] = {
    "statements": _statements,
    "labels": lambda instrument: Counter(instrument.issue_labels),
    "issues": lambda instrument: instrument.issues,
    "answers of parties": lambda instrument: Counter(instrument.party_answers),
    "parties": lambda instrument: Counter(instrument.parties),
    "answers of people": lambda instrument: Counter(instrument.survey),
    "templates": lambda instrument: Counter(replace(t) for t in instrument.templates),
}
"parts that must read back unchanged"
