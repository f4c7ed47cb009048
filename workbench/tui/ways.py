"""How a person comes to each screen, and which acts can be done as soon as they are there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from workbench import registry

ROOTS: Mapping[str, str] = {
    "HomeScreen": "home",
    "StatementsScreen": "statements",
    "JobsScreen": "jobs",
    "QueuesScreen": "annotate",
    "ReviewScreen": "review",
    "RulingsScreen": "rulings",
    **{
        place.screen.rpartition(".")[2] or f"{place.mode.title().replace('_', '')}Screen": place.mode
        for place in registry.places()
    },
}
"class of a screen -> its mode, or its route, which needs nothing chosen before"


@dataclass(frozen=True, slots=True)
class Way:
    """How a screen is opened from the one before it."""

    above: str
    "class of the screen before; empty: whichever screen asks"
    by: str = ""
    "action there that opens it; empty: Enter"
    on: str = ""
    "what has to be chosen first; empty: nothing. Where no screen is before it: when it is in sight"


_ASKED = Way("", on="where a question is asked")
_NAMED = Way("", on="where a name is asked for")
_TEXT = Way("", on="where a text is shown")
_STORES = Way("", on="in the list of stores, before one is open")

WAYS: Mapping[str, Way] = {
    "ImportScreen": Way("HomeScreen", "import"),
    "JobKindDialog": Way("JobsScreen", "new"),
    "JobForm": Way("JobKindDialog", "choose('sample')"),
    "TrainForm": Way("JobKindDialog", "choose('train')"),
    "ClassifyForm": Way("JobKindDialog", "choose('classify')"),
    "DraftForm": Way("JobKindDialog", "choose('draft')"),
    "ProbeScreen": Way("JobsScreen", "probe", "a job with a probe"),
    "NumberDialog": Way("JobsScreen", "at_once", "a job that asks a model"),
    "StatementScreen": Way("StatementsScreen", on="a statement"),
    "StatementForm": Way("StatementsScreen", "new"),
    "InstrumentForm": Way("StatementsScreen", "new_instrument"),
    "BulkForm": Way("StatementsScreen", "bulk", "marked statements"),
    "ChoiceForm": Way("StatementsScreen", "forms", "marked questions"),
    "ArchivedScreen": Way("StatementsScreen", "go('archived')"),
    "SimilarScreen": Way("StatementsScreen", "go('similar')"),
    "DraftsScreen": Way("StatementsScreen", "go('drafts')"),
    "ExportScreen": Way("StatementsScreen", "go('export')"),
    "ChecksScreen": Way("StatementsScreen", "go('checks')"),
    "SurveyScreen": Way("StatementsScreen", "go('survey')"),
    "IssueGridScreen": Way("StatementsScreen", "go('issue_grid')"),
    "IssueGoldScreen": Way("StatementsScreen", "go('issue_gold')"),
    "IssueCasesScreen": Way("IssueGoldScreen", "decide"),
    "CheckForm": Way("ChecksScreen", "run"),
    "WaiveDialog": Way("ChecksScreen", "waive", "a finding"),
    "DraftEditor": Way("DraftsScreen", "edit", "a draft"),
    "AboutForm": Way("StatementScreen", "about"),
    "SplitForm": Way("StatementScreen", "split"),
    "WordingForm": Way("StatementScreen", "edit", "a wording"),
    "HistoryScreen": Way("StatementScreen", "versions"),
    "VersionAnswersScreen": Way("HistoryScreen", on="a version"),
    "CodebookScreen": Way("QueuesScreen", "codebook"),
    "CodebookForm": Way("CodebookScreen", "edit"),
    "FoundAnswersScreen": Way("", on="after F3 and the words to find"),
    "QueueForm": Way("QueuesScreen", "new"),
    "PeopleScreen": Way("QueuesScreen", "people"),
    "PersonForm": Way("PeopleScreen", on="a person"),
    "AnnotateScreen": Way("QueuesScreen", on="a queue"),
    "AdjudicateScreen": Way("QueuesScreen", "adjudicate", "a queue with disagreements"),
    "AnnotatorsScreen": Way("QueuesScreen", "agreement", "a queue"),
    "GivenScreen": Way("AnnotateScreen", "given"),
    "ReviewItemScreen": Way("ReviewScreen", on="an item"),
    "ClassifierScreen": Way("ResultsScreen", "open_view('classifier')"),
    "TextsScreen": Way("ClassifierScreen", "misread"),
    "ChoicesScreen": Way("ResultsScreen", "choices"),
    "OptionsScreen": Way("AuditScreen", "options"),
    "RunsScreen": Way("AuditScreen", "runs"),
    "TemplatesScreen": Way("AuditScreen", "templates"),
    "CompareScreen": Way("AuditScreen", "side_by_side"),
    "ComparisonScreen": Way("CompareScreen", on="two ticked runs"),
    "ReportDialog": Way("AuditScreen", "report"),
    "RowsDialog": Way("AuditScreen", "rows"),
    "SortDialog": Way("AuditScreen", "sort"),
    "PictureScreen": Way("AuditScreen", "picture", "a table with a picture"),
    "BehindScreen": Way("AuditScreen", on="a row"),
    "WordingsScreen": Way("AuditScreen", on="a statement"),
    "ResponsesScreen": Way("WordingsScreen", on="a wording"),
    "WholeAnswerScreen": Way("", on="on a whole answer"),
    "RulingDialog": Way("AuditScreen", "rule", "a row"),
    "QuestionsScreen": Way("QuestionnaireScreen", "open_view"),
    "PromptScreen": Way("QuestionnaireScreen", on="an answer"),
    "QuestionScreen": Way("ResponseBiasScreen", on="a question"),
    "FormScreen": Way("QuestionScreen", on="a form"),
    "ConfirmScreen": _ASKED,
    "StoreGoneDialog": Way("", on="where the store's file is gone"),
    "PersonDialog": _NAMED,
    "EditorDialog": _NAMED,
    "NoteDialog": Way("", on="where a note is written"),
    "TextScreen": _TEXT,
    "RuledText": _TEXT,
    "PageScreen": Way("", on="on a help page"),
    "WelcomeScreen": _STORES,
    "NewStoreDialog": _STORES,
}
"class of a screen -> how it is opened; one of a mode or a route of its own is in `ROOTS`"

RUNS: Mapping[str, str] = {
    "HomeScreen": "import",
    "JobsScreen": "new hidden",
    "JobKindDialog": "choose",
    "StatementsScreen": "new new_instrument search go cycle",
    "SimilarScreen": "step",
    "DraftsScreen": "draft kind unusable",
    "ChecksScreen": "run",
    "IssueGoldScreen": "decide issues label",
    "QueuesScreen": "new people person",
    "SheetView": "sort find failed every all picture",
    "BookScreen": "methods notes report rows rulings side_by_side templates view instrument",
    "Following": "near review list_rulings",
    "AuditScreen": "agreement narrow options people runs subject",
    "ClassifierScreen": "classifier misread threshold",
    "ConsistencyScreen": "formula labels match options",
    "QuestionnaireScreen": "open_view option",
    "ResultScreen": "choices",
    "ResponseBiasScreen": "option",
    "ResultsScreen": "open_view option",
    "BlindKey": "blind",
    "ReviewScreen": "draw following notes runs",
    "RulingsScreen": "turn_auditor",
}
"class of a screen or table -> its actions that need nothing chosen and change nothing without asking"

ON: Mapping[str, str] = {
    "JobsScreen.pause": "a running job",
    "JobsScreen.cancel": "an active job",
    "JobsScreen.resume": "a paused or failed job",
    "JobsScreen.retry": "a failed job",
    "JobsScreen.at_once": "a job that asks a model",
    "JobsScreen.edit": "a paused or failed job",
    "JobsScreen.probe": "a job with a probe",
    "JobsScreen.log": "a job",
    "JobsScreen.hide": "an ended job",
    "JobsScreen.delete": "a failed job",
    "StatementsScreen.mark": "a statement",
    "StatementsScreen.bulk": "marked statements",
    "StatementsScreen.draft": "marked statements",
    "StatementsScreen.forms": "marked questions",
    "ArchivedScreen.restore": "a statement",
    "ArchivedScreen.versions": "a statement",
    "ChecksScreen.waive": "a finding",
    "ChecksScreen.unwaive": "a waived finding",
    "DraftsScreen.accept": "a draft",
    "DraftsScreen.edit": "a draft",
    "DraftsScreen.reject": "a draft",
    "QueuesScreen.adjudicate": "a queue with disagreements",
    "QueuesScreen.agreement": "a queue",
    "QuestionsScreen.change": "a question",
    "QuestionsScreen.means": "an answer",
    "RulingKeys.rule": "a row",
    "AuditScreen.statement": "a statement",
    "BehindScreen.statement": "a row",
    "FigureTable.select_cursor": "a row",
}
"class and action -> what it is done on"
