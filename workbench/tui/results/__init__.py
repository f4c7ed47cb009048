"""Results: a list of tables, a table, the details of a row, and what stands behind it."""
