"""What the columns of a survey mean, as a person types it."""

from __future__ import annotations

from pathlib import Path

from workbench.commands.import_file import OF_SURVEY, ImportCommand
from workbench.formats.surveys import SurveyColumns


def columns_of_text(text: str) -> SurveyColumns:
    """Return what columns mean from a text such as `weight=w groups=cntry,agea:18-29/30+`."""
    return ImportCommand(Path("survey.csv")).with_words(text, OF_SURVEY).survey_columns()
