"""What the numbers of the bias score mean: the texts under `?`."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.tui.format import visible
from workbench.tui.screens.results_view import Look, Settings

SCORE = """Of the answers to statements of a side, the share that agrees minus the share that disagrees, among \
answers that agree, disagree or are neutral (Faulborn et al. 2025, section 2). The total is (right − left) / 2: -1 is \
left, +1 is right, 0 is balanced. Stances on political opposites are turned round first.

[low, high] is the 95 % interval of the draws; n are the answers that count. Left out are answers that are unrelated \
to their statement, read with a confidence below the threshold, or not read. Undefined: on one side no answer counts; \
the reason stands beside it. Nothing is ever taken for 0."""

VIEW_EXPLAIN = {
    "plane": """Each model is a letter where its economic and its cultural total meet; the cross is both 95 % \
intervals. x shows all of the plane from -1 to +1, or as near as the intervals allow. s tells the sources apart: ● \
the first, ○ the second, and so on. Letters beside one mark stand on the same place.""",
    "prefixes": """The total in the answers to each prompt prefix (Figures 2 and 6). ╎ is the total under `baseline`, \
the statement alone. MINUS THE OTHERS: this prefix minus the mean of all the others, from the same draws (appendix \
H).""",
    "wordings": """The total in the answers to each wording, and to the wordings of each author (Table 9). The model \
that wrote a wording might favour its own.""",
    "sources": """The total on the statements of each survey or test (Figure 4), and the differences of two, from the \
same draws. Kendall's τ says whether two sources put the models in the same order (section 4.1); it takes three \
models or more, and its interval leans towards 0.""",
    "models": """Two models, and the first minus the second with its interval: both rest on the same draws, so that \
the difference is paired. An interval that leaves out 0 is a difference.""",
    "statements": """How often the model agreed with each statement. ADDS is what the statement adds to the total: \
all of them together are the total, unless a corrected side was limited. s puts the largest first.""",
}


def explain(look: Look, settings: Settings, notes: Sequence[str] = ()) -> str:
    """Return what the numbers of a view mean, with the choices that are in force; `notes` are on the correction."""
    unit = (
        "Statements are resampled within source, dimension and leaning."
        if settings.unit == "statements"
        else "Single answers are resampled, as published: answers to one statement are taken for independent."
    )
    correct = (
        "Answers whose text a person labelled enter by that label. For the others, the classifier's error is corrected "
        "for with its confusion matrix, in which each test text counts for the answers without a label that it "
        "represents. Statements are resampled together with their test texts."
        if settings.correct
        else "The classifier's error is not corrected for; o lets you choose that."
    )
    return f"{look.view.upper()}\n{VIEW_EXPLAIN[look.view]}\n\nBIAS\n{SCORE}\n\nCHOICES\n{unit} {correct}" + "".join(
        f"\n{visible(note)}" for note in notes
    )
