"""Which runs, texts and readings count: what audits of every kind rest on, read from a store."""
