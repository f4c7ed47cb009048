"""The runs, texts and readings that count, read from a store: the basis of all audits."""
