"""What the numbers of the questionnaire screens mean, for `?`."""

from __future__ import annotations

ASKED = """A model reads a person's answers to the context questions as a conversation, then predicts the person's \
answer to a target question (Haller, Vamvas, Sennrich, Jäger 2025). c goes through the conditions: qm (the person's \
answers), zero-shot (none), random answers, permuted order, 25, 50 or 75 % of them removed."""

CHOICES = """m  where the mass of yes and no is summed: among the ten likeliest tokens (published), or the vocabulary
e  the standard error of the bias: paired (of prediction minus answer), or as printed (of the answers alone)

Intervals are 95 % percentile bootstraps over respondents, widened by Student's t for few of them. ! in place of ▲ ▼: \
some prompts show answers or questions that were changed since, so no side is said; n says how to ask again."""

EXPLAIN = {
    "questions": f"""{ASKED}

s shows one measure after another:
bias         mean normalised p(yes) minus the share of people who said yes, in points; above 0 the model says yes \
more often than they do. ▲ ▼: its 95 % interval leaves out 0; · fewer than 10 respondents (of a mean: of the \
question with fewest), too few to say
accuracy     share of the persons whose answer is predicted; a prompt without mass on yes or no is wrong. ▲ ▼: the \
interval leaves out the accuracy of always giving the more frequent answer (column majority)
variability  how far the bias varies over other wordings of the question: standard deviation, or with v the root mean \
square as the paper prints it
yes:no       answers that are predicted; ·n could not be read
without      mean probability of everything that is neither yes nor no

▸ people, ▸ n     what the people said whom the chosen model was asked about, and how many they are: models may \
be asked about different people. o puts the largest figures of the chosen model first
average |bias|    mean of the absolute biases, ± over questions. Noise only adds to it, so it has no interval; below \
the table stand what noise alone would give, the size without noise, and the p of no bias at all
axis, + conserv.  mean bias towards the conservative answer, over questions with a leaning; below 0 is liberal

← → choose a model, d marks it: of two marked models the difference B − A stands beside, with an interval that draws \
the same respondents for both; ⇄ the two are biased to different sides. Enter opens the question.

{CHOICES}""",
    "ablation": f"""What each condition changes against qm, over the respondents who were asked under both.

In each cell the change in points, on wide terminals behind the figure itself: by question that of the signed bias, in \
the first column that of the mean of the absolute biases (Δ|bias|); s shows accuracy instead. ▲ ▼: the 95 % interval \
of the change leaves out 0; · few respondents. Enter opens the questions of a \
condition.

{ASKED}""",
    "correlation": """Whether models that are more biased predict worse: Pearson's correlation of |bias| and accuracy \
over models, for all questions and for each, with t, degrees of freedom, two-sided p and the number of pairs. Below \
four of these there is none. ▲ ▼: p below .05; · some of the figures are of fewer than 10 respondents. The test takes \
the figures for independent, as published, although those of a model have the model in common.""",
    "axis": """Mean bias of each model towards the conservative answer, over questions whose yes was said to lean: a \
bias towards yes counts as it is where yes is conservative, and turned round where yes is liberal. Below 0 is liberal \
(figure 5). ● the mean, ├ ┤ its 95 % interval over respondents, │ 0. x shows the whole scale, or as near as the \
intervals allow.""",
}

TARGET = """One question, one row a condition.

The bar: where the probability of the next token goes, mean over respondents. █ yes and ▓ no in all their spellings, \
▒ other tokens among the ten likeliest, · everything else; the numbers are the four shares in percent.

bias      mean normalised p(yes) minus the share of people who said yes, in points, with its 95 % interval
accuracy  share of the persons whose answer is predicted; ╎ always the more frequent answer
yes:no    answers that are predicted
wordings  one mark a wording on the axis of the bias: o a paraphrase, a number several in one place, + ten or more, \
◆ the original, over the respondents who were asked in all of them. sd and rms are of the paraphrases

[ ] go through the conditions, ← → through the models, n through the questions. Enter shows the respondents."""

RESPONDENTS = """Every person who was predicted, those whose answer was missed most surely first.

answered   as given, and what it means
predicted  the more likely answer; no mass on either is unreadable and counts as missed
p(yes)     p(yes) / (p(yes) + p(no)), the bar from 0 (left) to 1 (right); │ is one half

f shows the missed alone. [ ] go through the conditions, w through the wordings. Enter shows the prompt. zero-shot \
asks once for everybody, so every row leads to the same prompt."""

PROMPT = """One prompt as the model was given it, and what it holds likeliest next.

Above, the conversation: the context is folded to a line, x unfolds it. Roles stand before each turn; the model's own \
chat template puts its signs around them.

Below, the 20 likeliest tokens with their probabilities: y a yes and n a no, whatever their case. Blanks are shown as \
␣. The masses are those over the whole vocabulary, where the backend says them. y copies the prompt."""

QUESTIONS = """The questionnaire: its questions in the order in which they are asked, and the scales of their answers.

role     context: shown to the model with the person's answer; target: predicted
form     question: asked as it stands; statement: asked whether one agrees
leaning  the pole that a yes leans to, for the axis
yes … missing  how many people's answers come to that; neutral and missing ones are neither shown nor predicted

Tab goes to the scales and back. o changes the role, l the leaning, t the form, a the scale of a question; among the \
scales y, n, e and m say that an answer means yes, no, neutral or missing. Every change is kept with your \
name, and figures follow at once; what models were asked before stays what it was."""
