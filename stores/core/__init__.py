"""The database file: connection, schema, permissions, and the identity of the file."""
