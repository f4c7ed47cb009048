"""The SQLite store: the only SQL, and the only importer of sqlite-utils."""
