"""The commands by the kind of their job or by their verb. Each is imported when it is used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from workbench.commands.command import ImmediateCommand, JobCommand

JOB_COMMANDS = {
    "sample": "run.RunCommand",
    "train": "train.TrainCommand",
    "classify": "train.ClassifyCommand",
    "draft": "draft.DraftCommand",
    "check": "check.CheckCommand",
}
"kind of the job -> module and class, below `workbench.commands`"
IMMEDIATE_COMMANDS = {
    "report": "report.ReportCommand",
    "export": "export.ExportCommand",
    "prompts": "prompts.PromptsCommand",
    "sample": "sample.SampleCommand",
    "start_instrument": "statements.StartInstrumentCommand",
    "add_statement": "statements.AddStatementCommand",
    "edit_wording": "statements.EditWordingCommand",
    "add_wording": "statements.AddWordingCommand",
    "delete_wording": "statements.DeleteWordingCommand",
    "set_relation": "statements.SetRelationCommand",
    "rename_statement": "statements.RenameStatementCommand",
    "derive_statement": "statements.DeriveStatementCommand",
    "tag_statements": "statements.TagStatementsCommand",
    "untag_statements": "statements.UntagStatementsCommand",
    "set_field": "statements.SetFieldCommand",
    "replace_text": "statements.ReplaceTextCommand",
    "strip_spaces": "statements.StripSpacesCommand",
    "archive_statements": "statements.ArchiveStatementsCommand",
    "restore_statements": "statements.RestoreStatementsCommand",
    "undo_edit": "statements.UndoEditCommand",
    "add_question": "choices.AddQuestionCommand",
    "make_forms": "choices.MakeFormsCommand",
    "perturb_questions": "choices.PerturbQuestionsCommand",
    "set_scale": "questionnaire.SetScaleCommand",
    "set_question": "questionnaire.SetQuestionCommand",
    "describe_person": "people.DescribePersonCommand",
    "set_issues": "issues.SetIssuesCommand",
    "label_issue": "issues.LabelIssueCommand",
    "adjudicate_issue": "issues.AdjudicateIssueCommand",
    "set_gold_minimum": "issues.SetGoldMinimumCommand",
    "import_issue_labels": "issues.ImportIssueLabelsCommand",
    "export_issue_labels": "issues.ExportIssueLabelsCommand",
    "import_survey_answers": "survey.ImportSurveyAnswersCommand",
    "export_survey_answers": "survey.ExportSurveyAnswersCommand",
    "pause_job": "jobs.PauseJobCommand",
    "resume_job": "jobs.ResumeJobCommand",
    "cancel_job": "jobs.CancelJobCommand",
    "retry_job": "jobs.RetryJobCommand",
    "set_concurrency": "jobs.SetConcurrencyCommand",
    "hide_job": "jobs.HideJobCommand",
    "unhide_job": "jobs.UnhideJobCommand",
    "delete_job": "jobs.DeleteJobCommand",
    "export_labels": "labels.ExportLabelsCommand",
    "import_labels": "labels.ImportLabelsCommand",
    "merge_labels": "labels.MergeLabelsCommand",
    "adjudicate": "labels.AdjudicateCommand",
    "export_codebook": "labels.ExportCodebookCommand",
    "change_codebook": "labels.ChangeCodebookCommand",
    "restore_codebook": "labels.RestoreCodebookCommand",
    "draw_control_sample": "review.DrawControlSampleCommand",
    "withdraw_control_sample": "review.WithdrawControlSampleCommand",
    "rule": "rulings.RuleCommand",
    "undo_ruling": "rulings.UndoRulingCommand",
    "export_rulings": "rulings.ExportRulingsCommand",
    "import_rulings": "rulings.ImportRulingsCommand",
}
"method of the Python interface that does a command at once -> module and class"


def job_command(kind: str) -> type[JobCommand]:
    """Return the command that starts jobs of a kind. Raises KeyError for another kind."""
    return cast("type[JobCommand]", _command(JOB_COMMANDS[kind]))


def immediate_command(method: str) -> type[ImmediateCommand]:
    """Return the command that a method of the Python interface does. Raises KeyError."""
    return cast("type[ImmediateCommand]", _command(IMMEDIATE_COMMANDS[method]))


def _command(path: str) -> Any:
    module, _, name = path.rpartition(".")
    return getattr(import_module(f"workbench.commands.{module}"), name)
