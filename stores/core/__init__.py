"""The database file: connection, schema, what may be read and written, and who holds the file."""
