"""Workbench: annotate and audit the political and survey-response biases of language models."""

__version__ = "0.2.0"
DISTRIBUTION = "llm-audit-workbench"
"by which `start` knows that this package is ours"
