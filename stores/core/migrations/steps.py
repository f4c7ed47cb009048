"""What every migration uses: the set that it belongs to, and how a script is run."""

from __future__ import annotations

from stores.core.sqlite import Database, Migrations

migrations = Migrations("workbench")


def run(db: Database, script: str) -> None:
    """Execute statements one by one: `executescript` would commit the migration's transaction."""
    for statement in script.split(";"):
        if statement.strip():
            db.execute(statement)
