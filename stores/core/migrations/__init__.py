"""The schema, as migrations that are only ever appended to.

Identity: what is the same everywhere has a 16-byte content key (`workbench.domain.keys`), so two stores merge by
`insert or ignore`; rowids are private to one file. Samples of one prompt are exchangeable, so a draw keeps the
multiset of its answers: thirty equal answers are one row. A rule reads a text once per template, not once per sample.
At ten million responses `response` costs about 15 bytes a row, `draw` about 60 bytes a prompt.

A migration runs without foreign keys, which are turned on when the schema is up to date: a table may be made anew under
its old name. sqlite-utils' `transform` does that, too, but leaves out WITHOUT ROWID, STRICT and triggers.
"""

from stores.core.migrations import v01_to_04, v05_to_09, v10_to_18, v19_on
from stores.core.migrations.steps import migrations

__all__ = ["APPLICATION_ID", "migrations", "v01_to_04", "v05_to_09", "v10_to_18", "v19_on"]

APPLICATION_ID = 0x574B4231
"marks a file as a workbench store ('WKB1')"
