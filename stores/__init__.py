"""The SQLite store: the only package with SQL, and the only one that imports sqlite-utils."""

DISTRIBUTION = "llm-audit-workbench"
"`workbench.start` uses it to recognise this package as ours"
