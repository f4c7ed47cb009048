"""Control samples. Like rulings they name answers by content keys, so they are valid in every store."""

from __future__ import annotations

import json
import secrets
import sqlite3
from collections.abc import Iterable, Mapping, Sequence

from stores.core.base import Aggregate, named, now
from workbench.domain.control_samples import ControlItem, ControlSample, Drawn
from workbench.domain.keys import content_key
from workbench.domain.readings import ReaderCard, ReaderKind


class ControlSamples(Aggregate):
    """The methods on control samples. A stored sample never changes; one on which nobody decided can be removed."""

    def add(
        self,
        run: Mapping[str, str],
        reader: ReaderCard,
        seed: int,
        strata: Mapping[str, Drawn],
        items: Sequence[ControlItem],
        drawn_by: str,
    ) -> None:
        """Write a sample in one transaction."""
        uid = secrets.token_bytes(16)
        sample = ControlSample(uid, dict(run), reader, seed, dict(strata), drawn_by, now(), tuple(items))
        with self.store.write() as connection:
            _insert(connection, sample)

    def remove(self, uid: bytes) -> None:
        """Delete a sample in one transaction: for one on which nobody has decided."""
        with self.store.write() as connection:
            connection.execute("delete from control_item where sample = ?", (uid,))
            connection.execute("delete from control_sample where uid = ?", (uid,))

    def every(self) -> tuple[ControlSample, ...]:
        """Return all samples, the oldest first."""
        return tuple(map(self._sample, named(self.connection, "select * from control_sample order by at, uid")))

    def merge(self, samples: Iterable[ControlSample]) -> int:
        """Add the samples of another store, with their times; return how many were new."""
        with self.store.write() as connection:
            return sum(_insert(connection, one) for one in samples)

    def newest(self, run: Mapping[str, str]) -> ControlSample | None:
        """Return the newest sample of a run, of any reader; None if there is none."""
        rows = named(
            self.connection, "select * from control_sample where run = ? order by at desc, uid desc", (_written(run),)
        )
        return next((self._sample(row) for row in rows), None)

    def any(self) -> bool:
        """Return whether there is any sample."""
        return self.connection.execute("select 1 from control_sample limit 1").fetchone() is not None

    def of_run(self, run: Mapping[str, str], reader: ReaderCard) -> tuple[ControlSample, ...]:
        """Return the samples of a run for one reader, the oldest first."""
        rows = named(
            self.connection, "select * from control_sample where run_key = ? order by at, uid", (_key(run, reader),)
        ).fetchall()
        return tuple(map(self._sample, rows))

    def _sample(self, row: sqlite3.Row) -> ControlSample:
        return ControlSample(
            bytes(row["uid"]),
            json.loads(row["run"]),
            ReaderCard(ReaderKind(row["reader_kind"]), row["reader"], row["reader_version"]),
            row["seed"],
            {name: Drawn(*sizes) for name, sizes in json.loads(row["strata"]).items()},
            row["drawn_by"],
            row["at"],
            self._items(bytes(row["uid"])),
        )

    def _items(self, sample: bytes) -> tuple[ControlItem, ...]:
        rows = named(self.connection, "select * from control_item where sample = ? order by ordinal", (sample,))
        return tuple(
            ControlItem(
                row["ref"], row["stratum"], bytes(row["prompt"]), bytes(row["text"]), row["label"], row["answers"],
                tuple(json.loads(row["places"])),
            )
            for row in rows
        )  # fmt: skip


def _insert(connection: sqlite3.Connection, one: ControlSample) -> int:
    """Write a sample with its items; return 1, or 0 if it exists. Call inside a transaction."""
    sizes = json.dumps({name: [of.size, of.drawn] for name, of in one.strata.items()})
    added = connection.execute(
        "insert into control_sample (uid, run_key, run, reader_kind, reader, reader_version, seed, strata, drawn_by, "
        "at) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (uid) do nothing",
        (
            one.uid, _key(one.run, one.reader), _written(one.run), one.reader.kind.value, one.reader.name,
            one.reader.version, one.seed, sizes, one.drawn_by, one.at,
        ),
    ).rowcount  # fmt: skip
    if added:
        connection.executemany(
            "insert into control_item (sample, ordinal, ref, stratum, prompt, text, label, answers, places) "
            "values (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                (one.uid, n, of.ref, of.stratum, of.prompt, of.text, of.label, of.answers, json.dumps(of.places))
                for n, of in enumerate(one.items)
            ),
        )
    return added


def _written(run: Mapping[str, str]) -> str:
    return json.dumps(dict(run), sort_keys=True, ensure_ascii=False)


def _key(run: Mapping[str, str], reader: ReaderCard) -> bytes:
    return content_key({"run": dict(run), "reader": [reader.kind.value, reader.name, reader.version]})
