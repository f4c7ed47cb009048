"""Control samples as they were drawn. Like rulings they name answers by content keys, so they hold in every store."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence

from stores.core.base import Aggregate, named, now
from workbench.domain.control_samples import ControlItem, ControlSample, Drawn
from workbench.domain.keys import content_key
from workbench.domain.readings import ReaderCard, ReaderKind


class ControlSamples(Aggregate):
    """The verbs on control samples. Nothing changes one that is there."""

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
        sizes = json.dumps({name: [one.size, one.drawn] for name, one in strata.items()})
        with self.store.write() as connection:
            connection.execute(
                "insert into control_sample (uid, run_key, run, reader_kind, reader, reader_version, seed, strata, "
                "drawn_by, at) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    uid, _key(run, reader), json.dumps(dict(run), sort_keys=True, ensure_ascii=False),
                    reader.kind.value, reader.name, reader.version, seed, sizes, drawn_by, now(),
                ),
            )  # fmt: skip
            connection.executemany(
                "insert into control_item (sample, ordinal, ref, stratum, prompt, text, label, answers, places) "
                "values (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    (uid, n, one.ref, one.stratum, one.prompt, one.text, one.label, one.answers,
                     json.dumps(one.places))
                    for n, one in enumerate(items)
                ),
            )  # fmt: skip

    def of_run(self, run: Mapping[str, str], reader: ReaderCard) -> tuple[ControlSample, ...]:
        """Return the samples of a run as a reader read it, the oldest first."""
        rows = named(
            self.connection, "select * from control_sample where run_key = ? order by at, uid", (_key(run, reader),)
        ).fetchall()
        return tuple(
            ControlSample(
                bytes(row["uid"]),
                json.loads(row["run"]),
                ReaderCard(ReaderKind(row["reader_kind"]), row["reader"], row["reader_version"]),
                row["seed"],
                {name: Drawn(*sizes) for name, sizes in json.loads(row["strata"]).items()},
                row["drawn_by"],
                row["at"],
                self._items(bytes(row["uid"])),
            )
            for row in rows
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


def _key(run: Mapping[str, str], reader: ReaderCard) -> bytes:
    return content_key({"run": dict(run), "reader": [reader.kind.value, reader.name, reader.version]})
