"""What the numbers of the screens of response biases mean, for `?`."""

from __future__ import annotations

from collections.abc import Mapping

DEFINITION_WORDS: Mapping[str, str] = {
    "corrected": "valid answers, every question that fits; human-like above 0",
    "paper": "as printed: 50 questions of each typo; allow/forbid human-like below 0",
    "all keys": "as printed, but all questions; allow/forbid human-like below 0",
    "head": "authors' last code: without 8 allow/forbid; human-like above 0",
}
"what every figure on the screen rests on, in one line of a small terminal"

BIASES = """People's answers to a survey move when a question is put differently, in ways that are known. A model is \
asked each question in both forms, by default 50 answers each. The change says how far the share of an answer moves, \
in percentage points (Tjuatja, Chen, Wu, Talwalkar, Neubig 2024).

acquiescence    People say yes more readily than no. q offers two positions, q' asks whether one of them holds. \
Change: how much more often the position is taken when it is the `yes`.
allow/forbid    People would `not allow` what they would not `forbid`. Change: how much more often `not allow` is \
answered than `forbid`.
response order  People choose what they read first. q' has the options in reverse. Change: how much more often the \
first option is chosen when it stands first than when it stands last.
opinion float   People take the middle less when they may say `don't know`. q' adds that option. Change: how much \
less often the middle is chosen then.
odd/even        People go to the weak sides when there is no middle. q' lacks the middle option. Change: how much \
more often its neighbours are chosen then.

People overlook errors of typing: a model that moves under those as well is not moved by the bias alone."""

KEYS = """f definition · p adjustment of p for many tests (Holm) · a alpha · e entropy · y rows of the errors of \
typing. Space marks a model; a second mark shows the difference. v shows everything that is known of a row."""

QUESTION = f"""Both forms of one question with the answers, in the order in which the options were offered.

The bar is the share of the valid answers, or of the probability of the offered letters. Then comes how often the \
option was answered, or the probability of the letter as the next token. `=C` says which option of the original it \
is. people: the share of people who chose it, where that is known. [words] in brackets differ between the forms.

Below stand letters that were not on offer; answers without such a letter, which were drawn again; and the normalised \
entropy.

c goes through the bias and the errors of typing, d through the draws of an error of typing, ← → through the models, \
[ ] through the questions. Enter shows the prompts as the model saw them and the answers as they were written.

{BIASES}"""

FORM = """One form of a question as the model was asked it, and what it answered.

Above stands the prompt: roles stand before each turn; the model's own chat template puts its signs around them. Below \
stands each distinct answer of a draw, how often it was given, and the letter that was read from it. An answer without \
a letter on offer does not count: it was drawn again, and is kept. Where probabilities were asked for instead of \
answers, the likeliest next tokens stand there. ␣ is a blank at an end.

The details of an answer say where it comes from: the seed, the template, when it was drawn, and the code and job that \
asked. Imported answers have none of this: only counts came with them.

o shows the other form, Tab goes to the prompt or the answers, Enter shows a whole answer, y copies the prompt."""


def definitions_said() -> str:
    """Return what each definition of a change is, a line each."""
    from workbench.audits.response_bias.words import DEFINITIONS

    return "\n".join(f"{name:<10} {words}." for name, words in DEFINITIONS.items())
