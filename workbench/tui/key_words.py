"""The names of keys and sentences on their effects, for lists, texts and dialogs."""

from __future__ import annotations

from textual.binding import Binding
from textual.keys import REPLACED_KEYS, Keys, _character_to_key, key_to_character

NAMED_KEYS = frozenset(named_key.value for named_key in Keys)
SHARED = {
    "+1": "Decide +1: agreeing supports the issue",
    "0": "Decide 0: not related to the issue",
    "Previous answer": "Go to the previous answer",
    "Apply": "Apply the choices",
    "Back": "Go back",
    "Beginning": "Go to the beginning of the text",
    "Bottom": "Go to the end",
    "Choose": "Choose what is under the cursor",
    "Close": "Close this",
    "Compare": "Compare the ticked runs",
    "Previous condition": "Show the previous condition",
    "Copy selected text": "Copy the selected text",
    "Previous definition": "Show the previous definition",
    "Dismiss menu": "Close the list",
    "Down": "Go down",
    "End": "Go to the end",
    "Explain the fields": "Explain what the fields mean",
    "Previous failed test": "Show the rows that fail the previous test",
    "Fewer readable answers": "Ask for fewer readable answers",
    "First": "Go to the first one",
    "First row": "Go to the first row",
    "Focus Next": "Go to the next part of the screen",
    "Focus Previous": "Go to the previous part of the screen",
    "Home": "Go to the first column",
    "Next issue": "Go to the next issue",
    "Previous issue": "Go to the previous issue",
    "Previous item": "Go to the previous item",
    "Last": "Go to the last one",
    "Last row": "Go to the last row",
    "Leave": "Leave this screen",
    "Leave it": "Leave the store as it is",
    "Cancel": "Close without changing anything",
    "Left": "Go left",
    "Less": "Make the number smaller",
    "Line above": "Scroll up by a line",
    "Line below": "Scroll down by a line",
    "Make": "Make the queue",
    "Previous model": "Show the previous model",
    "More": "Make the number larger",
    "More readable answers": "Ask for more readable answers",
    "Next answer": "Go to the next answer",
    "Next model": "Show the next model",
    "Next reason": "Choose the next reason",
    "No": "Say no",
    "Previous one": "Show the previous classifier",
    "Open": "Open what is under the cursor",
    "Other button": "Go to the other button",
    "Page Down": "Go down by a page",
    "Page Left": "Go left by a page",
    "Page Right": "Go right by a page",
    "Page Up": "Go up by a page",
    "Page above": "Go up by a page",
    "Page below": "Go down by a page",
    "Page down": "Go down by a page",
    "Page up": "Go up by a page",
    "Press button": "Press this button",
    "Previous question": "Go to the previous question",
    "Quit": "Leave the program",
    "Scroll up": "Show the text above",
    "Scroll down": "Show the text below",
    "Refresh": "Read the store again",
    "Right": "Go right",
    "Row above": "Go to the row above",
    "Previous row": "Show what the previous row rests on",
    "Row below": "Go to the row below",
    "Save": "Save what was typed",
    "Scroll Down": "Scroll down by a line",
    "Scroll End": "Scroll to the end",
    "Scroll Home": "Scroll to the beginning",
    "Scroll Left": "Scroll left",
    "Scroll Right": "Scroll right",
    "Scroll Up": "Scroll up by a line",
    "Select": "Choose what is under the cursor",
    "Show menu": "Open the list to choose from",
    "Start": "Start the job",
    "Subject": "Go to the next subject of a ruling",
    "Previous subject": "Go to the previous subject of a ruling",
    "Submit": "Take what was typed",
    "Undo ruling": "Undo your ruling",
    "Previous template": "Show the previous template",
    "Lower threshold": "Lower the threshold",
    "To the names": "Go to the list of names",
    "Toggle": "Tick or untick it",
    "Toggle option": "Tick or untick it",
    "Top": "Go to the beginning",
    "Up": "Go up",
    "Version above": "Go to the version above",
    "Version below": "Go to the version below",
    "Previous view": "Show the previous table",
    "Whole answer": "Show the whole answer",
    "Write": "Write the files",
    "Yes": "Say yes",
    "Accept this text": "Accept the draft with this text",
    "Ask a model": "Start a job that asks a model",
    "Classify responses": "Start a job in which a classifier reads answers",
    "Draft wordings": "Start a job in which a model drafts wordings",
    "Train a classifier": "Start a job that trains a classifier",
    "Confirmed": "Rule: confirmed",
    "Reviewed": "Rule: reviewed, nothing more to rule on",
    "Excluded": "Rule: excluded from the figures",
    "Look again": "Rule: somebody should look again",
    "Mark": "Tick or untick this run",
    "Misread": "Rule: misread; the right reading comes next",
    "Template at fault": "Rule: the template is at fault",
    "Wording at fault": "Rule: the wording is at fault",
    "Cut": "Cut the selected text",
    "Copy": "Copy the selected text",
    "Paste": "Paste the copied text",
    "Redo": "Redo the change that was undone",
    "Undo": "Undo the last change",
}
"effect of a key, by its name in a footer"

SOUGHT = {
    "adjudicate": ("disagreements", "who decides"),
    "adjudication": ("disagreements", "adjudication"),
    "baseline": ("κ",),
    "bootstrap": ("resampling",),
    "budget": ("asks a model", "at once"),
    "calibration": ("threshold", "how good the classifier"),
    "cancel": ("stop the job",),
    "chart": ("picture",),
    "citation": ("methods",),
    "clipboard": ("copy",),
    "codebook": ("new queue", "guideline"),
    "cost": ("asks a model", "at once"),
    "csv": ("write rows", "to files"),
    "data": ("rows for other programs",),
    "download": ("write",),
    "duplicates": ("nearly the same",),
    "excel": ("write rows", "to files"),
    "export": ("write",),
    "figure": ("picture", "report"),
    "filter": ("show only", "show one"),
    "history": ("versions",),
    "human": ("people",),
    "hypothesis": ("differences, with tests",),
    "interval": ("significance", "zoom to the intervals"),
    "json": ("write rows", "to files"),
    "kappa": ("κ", "agreement between people"),
    "kill": ("stop the job",),
    "latex": ("report",),
    "lint": ("findings",),
    "moderate": ("review queue",),
    "multiple": ("form",),
    "paper": ("methods", "report"),
    "persona": ("asks a model",),
    "plot": ("picture",),
    "price": ("asks a model", "at once"),
    "quality": ("how good the classifier", "agreement"),
    "refusal": ("could not be read",),
    "remove": ("remove", "delete"),
    "reproduce": ("methods", "exact prompt"),
    "respondent": ("respondents", "people"),
    "run": ("start a job", "run"),
    "search": ("find", "search"),
    "seed": ("draws", "resampling"),
    "significance": ("significance", "with tests"),
    "stance": ("leaning", "stance", "how good the classifier"),
    "survey": ("statements yourself",),
    "translation": ("another language", "next language"),
    "variance": ("variability", "the verdicts"),
}
"parts of sentences that a word of the field stands for, any of which matches it"


def search_words(word: str) -> tuple[str, ...]:
    """Return the search words of a typed word or its beginning: itself, and its synonyms.

    Examples
    --------
    >>> search_words("kapp"), search_words("pause")
    (('kapp', 'κ', 'agreement between people'), ('pause',))
    """
    synonyms = (parts for term, parts in SOUGHT.items() if len(word) > 2 and term.startswith(word))
    return (word, *dict.fromkeys(part for parts in synonyms for part in parts if part != word))


def effect_of(binding: Binding) -> str:
    """Return a sentence on the effect of a key.

    Examples
    --------
    >>> effect_of(Binding("tab", "app.focus_next", "Focus Next"))
    'Go to the next part of the screen'
    >>> effect_of(Binding("left", "cursor_left", "Cursor left"))
    'Move the cursor left'
    """
    sentence = binding.tooltip or SHARED.get(binding.description, binding.description)
    return (
        f"Move the {sentence[:1].lower()}{sentence[1:].lower()}"
        if sentence.startswith("Cursor ")
        else sentence
    )


def is_key(key: str) -> bool:
    """Return whether a terminal can send a key of this name."""
    *modifiers, name = key.split("+")
    if key in NAMED_KEYS:
        return True
    if not name or not set(modifiers) <= {"ctrl", "shift", "alt", "meta", "super"}:
        return False
    character = name if len(name) == 1 else key_to_character(REPLACED_KEYS.get(name, name))
    return name in NAMED_KEYS or (character is not None and _character_to_key(character) == name)
