"""What the numbers of the consistency screens mean, for `?`."""

from __future__ import annotations

RELIABLE = """Only reliable stances count: those on statements that pass every test that `o` names, per template \
(Ceron et al. 2024, section 7). Means are over templates; intervals (95 %) resample statements, seeded."""

EXPLAIN = {
    "issues": f"""How far the one named above supports each policy issue.

●  the stance   ├ ┤  its interval   │  0   ╎  who always agrees
n  reliable statements of the issue, mean over templates; • marks fewer than six, which say little

f goes through three formulas. Signed support (the default) is (for − against) / reliable. The two published ones \
(tacl, v1) measure agreeing, not supporting: whoever always supports an issue scores 0 on tacl, and so does whoever \
always opposes it. All three stand below the table, on wide terminals in it as well.

{RELIABLE}""",
    "leaning": f"""How often each one answers like the parties of the left, center and right.

A party's share: statements of its country on which both take the same side, of all that were asked there. A family's \
share is the mean over its parties: left below 4, right above 6 on the left-right scale. w shows only where both \
agree, or both disagree, of the same number of statements, so that the two add up to all.

The two baselines always agree, and always disagree: what the questionnaire alone gives.

{RELIABLE}""",
    "parties": """Every party, and every person who answered the survey, taken as a respondent: its stance on each \
policy issue by the same formulas. A neutral answer is no stance. f goes through the formulas; • and grey mark fewer \
than six stances on labelled statements. Enter shows what was answered, and what that supports.""",
    "models": f"""The difference of two models, first minus second, on the statements that both were asked; the \
interval draws the same statements for both. Below the issues: shares of the party families, from -1 to 1 (+0.10: ten \
in a hundred statements more). An interval that leaves out 0 is a difference.

{RELIABLE}""",
    "templates": """Templates by the share of their answers that a rule can read; ✓ marks the best three of each \
address, personal and impersonal, as the published pilot chose them (appendix B.1: ten statements of each country). \
agree and disagree are shares of the readable answers over all wordings; below stands on how many originals the model \
agrees and disagrees (Figure 6), with the deviation over templates.

Enter shows the statements, those that are hardest to read first.""",
    "tests": """What fewer tests would change (Figure 7), one column a set of tests, the weakest first: how many \
statements pass, the stance on each policy issue, and how far that depends on the template. In brackets the standard \
deviation over templates. "chosen" are the tests that o names.

f goes through the three formulas.""",
    "scales": """Whether parties stay as far apart when their answers are collapsed to agree, disagree and neutral \
(Table 8). The distance of two parties is the share of statements to which they give different answers; the figure is \
Spearman's rank correlation between distances on all answers and on three, over pairs of parties.""",
}
