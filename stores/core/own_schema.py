"""Compares the schema of a file with the schema that the migrations of this program make.

The comparison is an allow list: every table, index, view and trigger has to be one of ours, with
our text, and none may be missing. A token that SQLite ignores or writes in several ways (blanks,
comments, case, quotes around names) makes no difference. Columns that SQLite derives from the text
(`type`) are compared, too, but never trusted: SQLite itself reads the text alone.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Sequence
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeAlias

from stores.core.base import Database, Migrations
from stores.core.migrations import BASELINE, make_baseline
from stores.core.migrations import migrations as own_migrations
from workbench.errors import StoreError

DIGESTS = {
    33: "ab09544cb7dadda5",
    34: "b0078dc1834a8aac",
    35: "fe4c7c453269576f",
    36: "728f8166c874eb43",
}
"schema -> digest of its objects, since making the schema anew takes 30 ms"
WRITTEN = {
    33: "db7b24d8bcc8492a",
    34: "c85620d481370ef9",
    35: "9ac27b98d3367df6",
    36: "4750e464eafd0b75",
}
"""schema -> digest of its text as this program writes it, since comparing tokens takes 10 ms.
Another version of SQLite, or a migration from an older schema, may have written the same schema
otherwise."""
DIGEST_LENGTH = 16
SHOWN_TOKENS = 6
"tokens of a changed definition that a message quotes"
SHOWN_DIFFERENCES = 5
LONGEST_NAME = 60
"characters of a foreign name that a message quotes"

Row: TypeAlias = tuple[Any, ...]
"type, name, table and text of an object, as the file has them, each of any type"
Tokens: TypeAlias = tuple[str, ...]
Objects: TypeAlias = dict[tuple[str, str, str], list[Tokens]]
"(type, name, table) -> the definitions with this name, of which a sound file has one"

TOKEN = re.compile(
    r"""[ \t\n\f\r]+|--[^\n]*|/\*.*?(?:\*/|\Z)
    |[xX]?'(?:[^']|'')*'
    |"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]
    |[\w$\u0080-\U0010ffff]+
    |.""",
    re.ASCII | re.DOTALL | re.VERBOSE,
)
"""The tokens of SQLite: blanks and comments; strings and blobs; quoted names; words and numbers;
any other character."""
PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]*", re.ASCII)
WORDS = """
    abort action add after all alter always analyze and as asc attach autoincrement before begin
    between by cascade case cast check collate column commit conflict constraint create cross
    current current_date current_time current_timestamp database default deferrable deferred delete
    desc detach distinct do drop each else end escape except exclude exclusive exists explain fail
    false filter first following for foreign from full generated glob group groups having if ignore
    immediate in index indexed initially inner insert instead intersect into is isnull join last
    left like limit match materialized natural no not nothing notnull null nulls of offset on or
    order others outer over partition plan pragma preceding primary query raise range recursive
    references regexp reindex release rename replace restrict returning right rollback row rows
    savepoint select set stored strict table temp temporary then ties to transaction trigger true
    unbounded union unique update using vacuum values view virtual when where window with without
"""
KEYWORDS = frozenset(WORDS.split())
"""keywords, which quotes turn into names: `"null"` is not `null`"""
INTERNAL = {
    "sqlite_sequence": "create table sqlite_sequence(name,seq)",
    "sqlite_stat1": "create table sqlite_stat1(tbl,idx,stat)",
    "sqlite_stat4": "create table sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)",
}
"tables that SQLite makes by itself, or by `analyze`"


def tokens_of(sql: object) -> Tokens:
    """Return the tokens of a definition without blanks, comments, case, and redundant quotes."""
    if sql is None:
        return ()
    if not isinstance(sql, str):
        return (repr(sql),)
    tokens = [_normal_token(token) for token in TOKEN.findall(sql)]
    return tuple(token for token in tokens if token)


@lru_cache(maxsize=4096)
def _normal_token(token: str) -> str:
    """Return the normal form of a token, or an empty string if it is a blank or a comment."""
    if token[0] in " \t\n\f\r" or token.startswith(("--", "/*")):
        return ""
    if len(token) > 1 and token[0] in '"`[':
        return _without_quotes(token)
    if "'" in token or not token.isascii():
        return token
    return token.lower()


def _without_quotes(text: str) -> str:
    """Return a quoted name as a word if it means the same without quotes.

    Otherwise it is in double quotes.
    """
    quote = text[-1]
    name = text[1:-1] if quote == "]" else text[1:-1].replace(quote * 2, quote)
    if PLAIN_NAME.fullmatch(name) and name.lower() not in KEYWORDS:
        return name.lower()
    return f'"{name}"'


def kind_of(sql: object) -> str:
    """Return the kind of object that a definition makes, such as `table` or `virtual table`.

    Examples
    --------
    >>> kind_of("CREATE/**/VIRTUAL  TABLE t using fts5(a)"), kind_of("create temp view v as select 1")
    ('virtual table', 'view')
    """  # noqa: E501
    tokens = [token for token in tokens_of(sql)[1:4] if token not in ("temp", "temporary")]
    if tokens[:1] in (["virtual"], ["unique"]):
        return " ".join(tokens[:2])
    return tokens[0] if tokens else "automatic index"


def refuse_foreign(
    connection: sqlite3.Connection, path: Path, version: int, migrations: Migrations
) -> None:
    """Raise StoreError if the schema of a file is not that of its version.

    Call it before any of the schema runs.
    """
    phrases = differences(connection, version, migrations)
    if not phrases:
        return
    remainder = (
        f"; and {len(phrases) - SHOWN_DIFFERENCES} more" if len(phrases) > SHOWN_DIFFERENCES else ""
    )
    raise StoreError(
        f"{path}: the file does not have the schema of a store: "
        f"{'; '.join(phrases[:SHOWN_DIFFERENCES])}{remainder}. Nothing of it was used. For a clean "
        f"copy of its rows: workbench doctor {path} --rescue NEW"
    )


def differences(
    connection: sqlite3.Connection, version: int, migrations: Migrations
) -> tuple[str, ...]:
    """Return the differences between the schemas of a file and a version, a phrase per object."""
    return _compared(version, schema_rows(connection), migrations)


def is_own(connection: sqlite3.Connection) -> bool:
    """Return whether a file has the schema of its version. Then its tables may be read by name."""
    version = int(connection.execute("pragma user_version").fetchone()[0])
    return version >= BASELINE and not differences(connection, version, own_migrations)


def schema_rows(connection: sqlite3.Connection) -> tuple[Row, ...]:
    """Return the rows of a file's schema, in which texts that are not UTF-8 are escaped.

    Raises sqlite3.DatabaseError for a schema that SQLite itself refuses.
    """
    factory = connection.text_factory
    connection.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
    try:
        rows = connection.execute("select type, name, tbl_name, sql from sqlite_schema").fetchall()
    except (
        UnicodeDecodeError
    ) as error:  # SQLite quotes the name of a malformed object in its message
        raise sqlite3.DatabaseError("malformed database schema") from error
    finally:
        connection.text_factory = factory
    return tuple(rows)


@lru_cache(maxsize=8)
def _compared(version: int, rows: tuple[Row, ...], migrations: Migrations) -> tuple[str, ...]:
    if WRITTEN.get(version) == digest(rows):
        return ()
    objects = _objects(rows)
    if DIGESTS.get(version) == digest(objects.items()):
        return ()
    expected = expected_objects(version, migrations)
    phrases = []
    for key, definitions in objects.items():
        if key not in expected:
            phrases.append(_foreign_phrase(key, definitions[0]))
        elif definitions != expected[key]:
            phrases.append(_change_phrase(key, definitions, expected[key][0]))
    missing = [key for key in expected if key not in objects]
    phrases += [f"{kind} {name} is missing" for kind, name, _ in missing]
    return tuple(phrases)


def _objects(rows: Sequence[Row]) -> Objects:
    """Return the objects of a schema, without those that SQLite adds by itself."""
    objects: Objects = {}
    for kind, name, table, sql in rows:
        tokens = tokens_of(sql)
        if (
            kind == "table"
            and name == table
            and name in INTERNAL
            and tokens == tokens_of(INTERNAL[name])
        ):
            continue
        key = tuple(
            value if isinstance(value, str) else repr(value) for value in (kind, name, table)
        )
        objects.setdefault(key, []).append(tokens)  # type: ignore[arg-type]
    return objects


def digest(parts: Iterable[object]) -> str:
    """Return a digest of the rows or objects of a schema, in any order."""
    text = "\n".join(sorted(map(repr, parts)))
    return sha256(text.encode()).hexdigest()[:DIGEST_LENGTH]


def make_schema(db: Database, version: int, migrations: Migrations) -> None:
    """Make the schema of a version in an empty database. Call inside a transaction."""
    make_baseline(db)
    later_names = [migration.name for migration in migrations.pending(db)][version - BASELINE :]
    migrations.apply(db, stop_before=later_names[:1] or None)


@lru_cache(maxsize=4)
def expected_objects(version: int, migrations: Migrations) -> Objects:
    """Return the objects of the schema of a version."""
    return _objects(expected_rows(version, migrations))


def expected_rows(version: int, migrations: Migrations) -> tuple[Row, ...]:
    """Return the rows of the schema of a version, as the migrations up to it make them."""
    db = Database(memory=True)
    make_schema(db, version, migrations)
    rows = schema_rows(db.conn)
    db.close()
    return rows


def _foreign_phrase(key: tuple[str, str, str], tokens: Tokens) -> str:
    kind = kind_of(" ".join(tokens)) if tokens else key[0]
    return f"{printable(kind)} {printable(key[1])} is foreign"


def _change_phrase(
    key: tuple[str, str, str], definitions: Sequence[Tokens], expected: Tokens
) -> str:
    kind, name, _ = key
    if len(definitions) > 1:
        return f"{kind} {name} is defined {len(definitions)} times"
    tokens = definitions[0]
    pairs = zip(tokens, expected, strict=False)
    first_difference = next((index for index, pair in enumerate(pairs) if pair[0] != pair[1]), None)
    start = min(len(tokens), len(expected)) if first_difference is None else first_difference
    actual_text = printable(" ".join(tokens[start : start + SHOWN_TOKENS])) or "its end"
    expected_text = " ".join(expected[start : start + SHOWN_TOKENS]) or "its end"
    return f"{kind} {name} has `{actual_text}` in place of `{expected_text}`"


def printable(text: str) -> str:
    """Return a text of a foreign file on one line, without control characters, and shortened."""
    line = "".join(character if character.isprintable() else "?" for character in text)
    return line if len(line) <= LONGEST_NAME else line[: LONGEST_NAME - 1] + "…"
