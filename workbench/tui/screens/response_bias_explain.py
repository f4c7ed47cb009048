"""What the numbers of the screens of response biases mean, for `?`."""

from __future__ import annotations

BIASES = """People's answers to a survey move when a question is put differently, in ways that are known. A model is \
asked each question in both forms, 50 answers each; Δ is how far the share of an answer moves, in percentage points \
(Tjuatja, Chen, Wu, Talwalkar, Neubig 2024).

acquiescence    people say yes more readily than no. q offers two positions, q' asks whether one of them holds; Δ: \
how much more often the position is taken when it is the `yes`
allow/forbid    people would `not allow` what they would not `forbid`. Δ: how much more often `not allow` is answered \
than `forbid`
response order  people choose what is read first. q' has the options in reverse; Δ: how much more often the first \
option is chosen when it stands first than when it stands last
opinion float   people take the middle less when they may say `don't know`. q' adds that option; Δ: how much less \
often the middle is chosen then
odd/even        people go to the weak sides when there is no middle. q' lacks the middle option; Δ: how much more \
often its neighbours are chosen then"""

DEFINITIONS = """corrected  shares of the valid answers, of every question that fits the formula; above 0 is \
human-like for every bias
paper      the published tables: shares of all 50, only the first 50 questions of most errors of typing, allow/forbid \
with its sign reversed: there human-like is below 0
all keys   the same over all questions
head       the authors' last code: allow/forbid above 0 is human-like, eight of its questions are left out
Under the last three the errors of typing of opinion float repeat the figures of odd/even."""

MATRIX = f"""How far each model shows the response biases of people. Beneath each bias, errors of typing, which people \
overlook: a model that moves under those as well is not moved by the bias alone.

A cell: +24.9 *** human-like
number   mean Δ over questions, in percentage points
stars    * p below alpha, ** below .01, *** below .001 (a two-sided t-test of the questions' Δ against 0, adjusted \
where Holm is on); none: not significant
word     human-like: significant as people move; opposite: significant against it; not sig.; of errors of typing: \
changes. Beside a comparison they are shorter: human, against, n.s. ✓: human-like, and no error of typing moves it

{BIASES}

score            +1 for each bias that is human-like, −1 for each that is opposite, of those that have a test
as published     the score by the definition's own sign, above or below 0; shown where it is another number
most human-like  biases that move the model as people, while no error of typing does; open: not all were tested
valid answers    share of the drawn answers that were a letter on offer, mean over questions
like people      1 − the distance of the model's and people's answers to the original (1: alike), where known

f definition · m Holm's adjustment for many tests: none (published), over the biases, or over all cells · a alpha · \
e entropy by the options really offered, or as published · x rows of the errors of typing
d marks a model; of two marked ones the difference B − A stands beside, paired over their common questions, with its \
95 % interval; ⇄ both significant, to opposite sides. v shows all that is known of a cell: draws, topics, what is left \
out. Enter opens its questions.

{DEFINITIONS}"""

QUESTIONS = f"""The questions of one cell, the largest change first; those that take no part last, with the reason.

Δ         change of this question in percentage points, by the definition that the first line names
entropy   of the answers to the original: 0 all alike, 1 spread evenly over the options
valid     share of the drawn answers that were a letter on offer, to the original and the changed form

c goes through bias, key typo, middle random and letter swap; b through the biases; ← → through the models. / finds in \
keys, topics and texts, t goes through the topics. Enter opens the question.

{DEFINITIONS}

{BIASES}"""

QUESTION = f"""Both forms of one question with the answers, in the order in which the options were offered.

The bar is the share of the valid answers, or of the probability of the offered letters; then how often it was \
answered, or the probability of the letter as the next token. `=c` says which option of the original it is. people: \
the share of people who chose it, where that is known. [words] in brackets differ between the forms.

Below: letters that were not on offer; answers without such a letter, which were drawn again; the normalised entropy.

c goes through bias and errors of typing, [ ] through the draws of an error of typing, ← → through the models, n N \
through the questions. p shows the prompts as the model saw them, Enter the answers as they were written.

{BIASES}"""

FORM = """One form of a question as the model was asked it, and what it answered.

Above, the prompt: roles stand before each turn; the model's own chat template puts its signs around them. Below, each \
distinct answer of a draw, how often it was given, and the letter that was read from it. An answer without a letter on \
offer does not count: it was drawn again, and is kept. Where probabilities were asked for instead of answers, the \
likeliest next tokens. ␣ is a blank at an end.

The dim line is where an answer comes from: the model and its revision, what ran it, the sampling, the seed, the \
template, when, and the code and job that asked. Imported answers have none of this: only counts came with them.

o shows the other form, Tab goes to the prompt or the answers, y copies the prompt."""
