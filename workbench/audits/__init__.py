"""The audits, one per folder: prompts from statements, and verdicts from counts."""
