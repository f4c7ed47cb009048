"""Move the answers of people who answered an instrument themselves."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.commands.command import ImmediateCommand, Outcome, option, shared_option
from workbench.domain.names import plural
from workbench.errors import UnknownName, UsageError
from workbench.options.option import Type
from workbench.options.shared import INSTRUMENT
from workbench.whole_folders import whole_file

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.audits.audit import Printed


@dataclass(frozen=True)
class SurveyCommand(ImmediateCommand):
    """The base of commands about people's answers to the wordings of an instrument."""

    VERB = "survey"

    instrument: str | None = shared_option(INSTRUMENT)


@dataclass(frozen=True)
class ImportSurveyAnswersCommand(SurveyCommand):
    """Add people's answers to wordings from a file."""

    ACT = "import_"

    import_: Path = option(None, "add the answers of a survey.csv", type=Type.PATH)

    def run(self, store: Store) -> Outcome:
        """Add the answers. Raises WorkbenchError for a file that cannot be read."""
        from workbench.formats.people import read_survey
        from workbench.formats.records import Findings

        if not self.import_.is_file():
            raise UsageError(
                f"{self.import_}: no such file; give a CSV with respondent, ref, variant and answer"
            )
        name = surveyed_instrument(store, self.instrument)
        findings = Findings()
        statements = store.instruments.get(name).statements
        answers = read_survey(self.import_, statements, findings)
        findings.check()
        if not answers:
            raise UsageError(f"{self.import_} has no answers; nothing was changed")
        merged = store.surveys.add(name, answers)
        return Outcome(
            f"{merged.added:,} answers of {plural(len(merged.respondents), 'respondent')} added to "
            f"{name}, {merged.changed:,} changed, {merged.known:,} stored already",
            merged,
        )


@dataclass(frozen=True)
class ExportSurveyAnswersCommand(SurveyCommand):
    """Write people's answers to the current wordings to a file."""

    ACT = "export"
    READS_ONLY = True

    export: Path = option(None, "write the answers as a survey.csv", type=Type.PATH)

    def run(self, store: Store) -> Outcome:
        """Write the answers. Raises UsageError if there are none, or the file exists already."""
        from workbench.domain.instruments import Instrument
        from workbench.formats.native import csv_files

        if self.export.suffix != ".csv":
            raise UsageError(f"{self.export}: give a name that ends in .csv")
        name = surveyed_instrument(store, self.instrument)
        answers = store.surveys.answers(name)
        if not answers:
            raise UsageError(f"nobody has answered {name} yet; nothing was written")
        text = csv_files(Instrument(name, name, (), survey=answers))["survey.csv"]
        with whole_file(self.export) as file:
            file.write(text)
        respondents = store.surveys.respondents(name)
        n_older = sum(respondent.answered - respondent.current for respondent in respondents)
        sentence = f"Wrote {len(answers):,} answers to {self.export}."
        if n_older:
            sentence += f" {n_older:,} answers to earlier versions of statements are left out."
        data = {
            "file": str(self.export),
            "answers": len(answers),
            "to_earlier_versions": n_older,
        }
        return Outcome(sentence, data)


def respondents_printed(store: Store, instrument: str | None) -> Printed:
    """Return how many wordings each person was asked, and how many they answered.

    instrument : leave out those of others
    """
    from workbench.audits.audit import Printed
    from workbench.pipeline.surveys import respondents

    lines = store.surveys.respondents(instrument)
    table = respondents(lines, "workbench survey STORE")
    return Printed([table], {"instrument": instrument}, "People who answered")


def surveyed_instrument(store: Store, name: str | None) -> str:
    """Return the named instrument, or the only one.

    Raises UsageError if there are several, UnknownName if there is none.
    """
    names = store.instruments.names()
    if name is not None and name not in names:
        raise UnknownName(
            f"the store has no instrument {name!r}. Available: {', '.join(names) or 'none'}"
        )
    if name is None and len(names) > 1:
        raise UsageError(
            f"the store has several instruments; name one with --instrument: {', '.join(names)}"
        )
    if not names:
        raise UnknownName(
            "the store has no instrument yet; import one with: workbench import STORE --format "
            "csv PATH"
        )
    return name or names[0]
