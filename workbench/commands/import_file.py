"""Import a file: an instrument, people's answers, answers of models, or labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from workbench import entry_points
from workbench.commands.command import Command, option, shared_option
from workbench.domain.annotations import PURPOSES
from workbench.domain.names import listed
from workbench.errors import UsageError
from workbench.formats.log_values import LARGEST_COUNT, MOST_COUNT
from workbench.formats.packed import MOST_BYTES, RATIO
from workbench.formats.party_files import MANIFESTO
from workbench.formats.read import (
    ANSWERS,
    BESIDE,
    ISSUE_LABELS,
    LABELS,
    LOG,
    MAPPED,
    SURVEY,
    WITH_PARTIES,
)
from workbench.formats.read import FORMATS as READ
from workbench.formats.records import AS_IS, ReadSettings
from workbench.options.option import Type
from workbench.options.shared import INSTRUMENT, PERSONAS

if TYPE_CHECKING:
    from workbench.formats.surveys import SurveyColumns
    from workbench.pipeline.importing import ImportRequest

FORMATS = entry_points.names(entry_points.FORMATS, (*READ, *BESIDE))
OF_TABLE = (
    "header_row",
    "no_header",
    "decimal",
    "language",
    "ignore",
    "election",
    "left_right",
    "most_bytes",
    "keep_map",
)
"options on how a table is read, beside those for its columns, answers, sheet and encoding"
OF_PEOPLE = (
    "questions",
    "unordered",
    "respondent",
    "weight",
    "drop_unweighted",
    "groups",
    "missing",
)
"options on columns or values of people's answers"
OF_LOG = ("model", "audit", "family", "personas", "most_count")
OF_LABELS = ("into", "purpose", "codebook")
OF_SURVEY = (*OF_PEOPLE, "language", "instrument")
FORMATS_BY_OPTIONS = {
    OF_LABELS: (LABELS,),
    OF_LOG: (LOG,),
    ("questions", "unordered", "respondent"): (SURVEY,),
    ("weight", "drop_unweighted", "groups"): (SURVEY, ANSWERS),
}
"options -> the formats that they belong to"


@dataclass(frozen=True)
class ImportCommand(Command):
    """Import a file, all of it or nothing.

    It holds an instrument, people's answers to one, answers of models that were collected
    elsewhere, or labels of these.
    """

    VERB = "import"

    path: Path = option(None, type=Type.PATH, positional=True, required=True)
    format: str | None = option(None, "see data/README.md", none="recognised", choices=FORMATS)
    name: str | None = option(
        None, "name of the instrument in the store", none="the name in the file"
    )
    instrument: str | None = shared_option(
        INSTRUMENT.but(
            help="answers, log, manifesto: the instrument with the questions, statements or parties"
        )
    )
    audit: str | None = option(
        None,
        "log: the audit whose prompts were asked",
        none="the one with the most matches",
        metavar="AUDIT",
    )
    family: str | None = option(
        None,
        "log: the templates that were used",
        none="those with the most matches",
        metavar="NAME",
    )
    model: str | None = option(
        None, "log: name of the model", none="as the file says", metavar="NAME"
    )
    personas: str | None = shared_option(
        PERSONAS.but(
            help="log: personas or system prompts that stood before the prompts",
            none="those of the store",
        )
    )
    most_count: int | None = option(
        None,
        "log: answers that one row (count) may stand for",
        type=Type.WHOLE,
        none=f"{MOST_COUNT:,}",
        least=1,
        most=LARGEST_COUNT,
    )
    codebook: str | None = option(
        None, "labels: for rows that name none", none="stance", metavar="NAME"
    )
    into: str | None = option(
        None, "labels: make this queue for items that are in no queue", metavar="QUEUE"
    )
    purpose: str | None = option(
        None, "labels: purpose of that queue", none="training", choices=PURPOSES
    )
    missing: str | None = option(
        None,
        "survey, answers: values that mean no answer, as in --missing=-99,99",
        metavar="CODE,…",
    )
    questions: str | None = option(
        None,
        "survey: columns that are questions",
        none="those with labels of answers",
        metavar="COLUMN,…",
    )
    unordered: str | None = option(
        None, "survey: questions whose answers have no order", metavar="COLUMN,…"
    )
    weight: str | None = option(
        None,
        "survey, answers: columns of weights, multiplied, as in pspwght*pweight",
        metavar="COLUMN*…",
    )
    drop_unweighted: bool = option(False, "survey, answers: leave out people without a weight")
    groups: str | None = option(
        None,
        "survey, answers: columns of groups, as in cntry,age=agea:18-29/30-64/65+",
        metavar="COLUMN,…",
    )
    respondent: str | None = option(
        None,
        "survey: columns that name a person",
        none="the number of the row",
        metavar="COLUMN,…",
    )
    map: str | None = option(
        None,
        "the file's columns under our names, or a file with them",
        metavar="NAME=COLUMN,…",
    )
    ignore: str | None = option(
        None,
        "columns to leave out; of answers: columns that are not questions",
        metavar="COLUMN,…",
    )
    answers: str | None = option(
        None,
        "what parties' answers stand for: agree, disagree, neutral, no opinion",
        none="known words",
        metavar="WORD=STANCE,…",
    )
    language: str | None = option(
        None,
        "of the texts, where the file does not say it",
        none="that of its layout, or en",
        metavar="CODE",
    )
    election: str | None = option(
        None,
        "manifesto: country, month (202409) or both",
        none="the newest of the parties' country",
        metavar="WHICH",
    )
    sheet: str | None = option(
        None, "of a spreadsheet, or a list of a JSON file", none="the only one", metavar="NAME"
    )
    encoding: str | None = option(
        None, "of a text", none="UTF-8, or UTF-16 with its mark", metavar="NAME"
    )
    no_header: bool = option(False, "the first row is data; columns are called 1, 2, …")
    header_row: int | None = option(
        None,
        "row or line that names the columns, if a title or comments stand above it",
        type=Type.WHOLE,
        none="the first that is not empty",
        least=1,
    )
    decimal: str | None = option(
        None,
        "sign before decimals of numbers in a table: . or ,",
        none="a point",
        choices=(".", ","),
    )
    most_bytes: int | None = option(
        None,
        "that a packed file (.gz, .zst, .zip) may come to",
        type=Type.WHOLE,
        none=f"{MOST_BYTES}, and {RATIO} times its size",
        least=1,
    )
    keep_map: Path | None = option(
        None,
        "write what --map and the options below it say into a file, for --map",
        type=Type.PATH,
    )
    skip: bool = option(
        False,
        "biasmonkey, published shares, log, labels: skip what has errors, no prompt or an "
        "unknown text",
    )
    left_right: Path | None = option(
        None, "probvaa: parties' left-right positions", type=Type.PATH, metavar="CSV"
    )

    def read_settings(self, ignored: Sequence[str] = ()) -> ReadSettings:
        """Return how the file is read. `ignored`: columns that are left out.

        Raises UsageError for options that cannot be read, InputError for a mapping file with
        faults.
        """
        from workbench.formats import mapping

        return mapping.how_of(
            self.map or "",
            self.sheet or "",
            self.encoding or "",
            ignored,
            header=not self.no_header,
            answers=self.answers or "",
            language=self.language or "",
            decimal=self.decimal or "",
            header_row=self.header_row or 0,
        )

    def recognised_format(self) -> str:
        """Return the format as given, or else as the content of the file shows it.

        Raises WorkbenchError for a file that cannot be recognised.
        """
        from workbench.formats.read import recognised

        has_people = any(getattr(self, name) for name in OF_PEOPLE)
        return self.format or recognised(self.path, self.read_settings(), of_people=has_people)

    def request(self) -> ImportRequest:
        """Return the request of the import.

        Raises UsageError for an option that does not belong to the format, and as `read_settings`
        and `recognised_format`.
        """
        from workbench.formats.personas import given_personas
        from workbench.pipeline.importing import ImportRequest
        from workbench.pipeline.label_imports import LabelOptions

        format_name, ignored = self.recognised_format(), listed(self.ignore)
        settings = self.read_settings()
        if format_name != ANSWERS:  # The reader of answers knows the columns that are no questions.
            settings, ignored = self.read_settings(ignored), ()
        self._check_options(format_name, settings)
        survey_columns = self.survey_columns(settings.language)
        return ImportRequest(
            self.path,
            format_name,
            self.name,
            self.instrument,
            survey_columns.missing,
            ignored,
            self.skip,
            self.left_right,
            settings,
            survey_columns,
            self.election or "",
            self.audit or "",
            self.family or "",
            self.model or "",
            given_personas(self.personas),
            self.most_count or MOST_COUNT,
            LabelOptions(self.codebook or "stance", self.into or "", self.purpose or "training"),
        )

    def survey_columns(self, language: str = "") -> SurveyColumns:
        """Return what the columns of a survey, or of answers, mean.

        Raises UsageError for columns that cannot be read.
        """
        from workbench.formats.surveys import TYPED, wanted_of

        texts = {name: getattr(self, name) or "" for name in TYPED}
        texts["language"] = language or texts["language"]
        return wanted_of(texts, drop_unweighted=self.drop_unweighted)

    def save_mapping(self) -> None:
        """Write how the columns are read to the file `keep_map`, if it is given."""
        if self.keep_map is not None:
            from workbench.formats import mapping

            mapping.write(self.request().how, self.keep_map)

    def _check_options(self, format_name: str, settings: ReadSettings) -> None:
        """Raise UsageError for an option that does not belong to the format that is imported."""
        self._check_parties(format_name, settings)
        self._check_table(format_name, settings)
        self._check_own_options(format_name)
        if format_name == ANSWERS:
            self._check_answers()
        elif format_name not in (LOG, MANIFESTO, ISSUE_LABELS):
            self._check_instrument(format_name)

    def _check_parties(self, format_name: str, settings: ReadSettings) -> None:
        """Raise UsageError for an option on parties' answers or a language without effect."""
        if settings.answers and format_name not in WITH_PARTIES:
            raise UsageError(
                f"--answers belongs to formats with parties' answers ({', '.join(WITH_PARTIES)}), "
                f"not to {format_name}"
            )
        is_csv_folder = format_name == "csv" and self.path.is_dir()
        has_language = format_name in (*WITH_PARTIES, SURVEY) and not is_csv_folder
        if settings.language and not has_language:
            raise UsageError(
                "--language belongs to a table or list of statements; a folder has it in "
                "instrument.toml"
            )
        if self.election and format_name != MANIFESTO:
            raise UsageError(f"--election belongs to --format {MANIFESTO}, not to {format_name}")
        if self.left_right is not None and format_name != "probvaa":
            raise UsageError(
                "--left-right belongs to --format probvaa; the csv format has parties.csv for "
                "positions"
            )

    def _check_table(self, format_name: str, settings: ReadSettings) -> None:
        """Raise UsageError for an option on the columns of a table if the file is none."""
        is_mapped = replace(settings, answers={}, language="") != AS_IS
        if is_mapped and self.path.is_dir():
            raise UsageError(
                "--map and the options below it belong to a single table; this is a folder"
            )
        if is_mapped and format_name not in MAPPED:
            raise UsageError(
                f"--map and the options below it belong to tables ({', '.join(MAPPED)}), not to "
                f"{format_name}"
            )

    def _check_own_options(self, format_name: str) -> None:
        """Raise UsageError for an option of a log, a survey, its respondents or labels alone."""
        for names, formats in FORMATS_BY_OPTIONS.items():
            used = [name for name in names if getattr(self, name)]
            if not used or format_name in formats:
                continue
            message = (
                f"--{used[0].replace('_', '-')} belongs to --format {' and '.join(formats)}; "
                f"this is {format_name}"
            )
            if format_name == "csv" and SURVEY in formats and not self.format:
                message += (
                    ". If a title stands above the names of its columns, name their row: "
                    "--header-row N"
                )
            raise UsageError(message)

    def _check_answers(self) -> None:
        """Raise UsageError if answers are for two instruments."""
        if self.name and self.instrument and self.name != self.instrument:
            raise UsageError(
                "found --name and --instrument, which both name an instrument; give one of them"
            )

    def _check_instrument(self, format_name: str) -> None:
        """Raise UsageError for an option that the format of an instrument does not take."""
        if format_name == LABELS and self.name is not None:
            raise UsageError(
                "--name names an instrument; labels belong to answers. Name a new queue with "
                "--into."
            )
        if self.instrument is not None:
            raise UsageError(
                "--instrument belongs to --format answers; --name names a new instrument"
            )
        if self.missing is not None and format_name != SURVEY:
            raise UsageError(
                "--missing belongs to --format answers and survey; for a folder, instrument.toml "
                "says which values of answers.csv are not answers, under missing"
            )
        if self.skip and format_name not in ("biasmonkey", SURVEY, LOG, LABELS):
            raise UsageError(
                "--skip belongs to --format biasmonkey, survey, log and labels; the files of other "
                "formats are one whole"
            )
