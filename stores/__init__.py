"""The SQLite store: the only SQL, and the only importer of sqlite-utils."""

DISTRIBUTION = "llm-audit-workbench"
"by which `workbench.start` knows that this package is ours"
