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
always opposes it. All three stand side by side on wide terminals.

{RELIABLE}""",
    "leaning": f"""How often each one answers like the parties of the left, center and right.

A party's share: statements of its country on which both take the same side, of all that were asked there. A family's \
share is the mean over its parties: left below 4, right above 6 on the left-right scale. w shows only where both \
agree, or both disagree, of the same number of statements, so that the two add up to all.

The two baselines always agree, and always disagree: what the questionnaire alone gives.

{RELIABLE}""",
    "parties": """Every party, and every person who answered the survey, taken as a respondent: its stance on each \
policy issue by the same formulas. A neutral answer is no stance. f goes through the formulas.""",
    "models": f"""The difference of two models, first minus second, on the statements that both were asked; the \
interval draws the same statements for both. Below the issues: shares of the party families.

{RELIABLE}""",
    "templates": """Templates by the share of their answers that a rule can read; ✓ marks the best three of each \
kind, as the published pilot chose them. Below: what share passes under fewer tests, and how much the stances on \
issues then depend on the template (Figure 7); how often the model agrees (Figure 6); whether parties stay as far \
apart when a scale of five answers is collapsed to three (Table 8).""",
}
