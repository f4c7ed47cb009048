"""The kinds of jobs, by the names that a store has for them."""

from __future__ import annotations

SAMPLE = "sample"
"asking a model an audit's prompts"
TRAIN = "train"
"training a stance classifier"
CLASSIFY = "classify"
"reading answers with a classifier"
DRAFT = "draft"
"drafting wordings with a model"
CHECK = "check"
"computing similarities and entailments of wordings"
UNITS = {TRAIN: "steps", CLASSIFY: "responses", CHECK: "texts", DRAFT: "prompts"}
"kind -> what its numbers count; a sampling job counts answers, or prompts without sampling"
