"""Which prefixes of several runs are the same: by their texts, not by their names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from stores.core.store import Store
from stores.runs.run_rows import Run
from workbench.domain.prompts import Template
from workbench.evidence.runs import told_apart

Places = Mapping[tuple[str, str], Mapping[str, str]]
"(model of the report, instrument) -> name of a template -> prefix of the report"


@dataclass(slots=True)
class _Prefix:
    """One text, in the label orders in which it was asked."""

    first: Template
    instrument: str
    keys: dict[bool, bytes] = field(default_factory=dict)

    def is_of(self, template: Template) -> bool:
        return (template.family, template.name) == (self.first.family, self.first.name)


def prefixes(store: Store, runs: Mapping[str, Sequence[Run]]) -> tuple[tuple[str, ...], Places]:
    """Return the prefixes of a report, and what each template of a run is called there: by its name, with as much of
    its family, version and instrument as tells it from others of that name.
    """
    known: list[_Prefix] = []
    places: dict[tuple[str, str], dict[str, _Prefix]] = {}
    for model, of in runs.items():
        for run in of:
            orders: dict[str, dict[bool, Template]] = {}
            for template in store.runs.templates(run):
                orders.setdefault(template.name, {})[template.inverted] = template
            places[model, run.instrument] = {
                name: _placed(known, found, run.instrument) for name, found in orders.items()
            }
    names = told_apart(
        [prefix.first.name for prefix in known],
        [f"family {prefix.first.family}" for prefix in known],
        [f"version {prefix.first.version}" for prefix in known],
        [prefix.instrument for prefix in known],
        [f"text {place}" for place in range(1, len(known) + 1)],
    )
    called = {id(prefix): name for prefix, name in zip(known, names, strict=True)}
    return tuple(names), {
        where: {name: called[id(prefix)] for name, prefix in found.items()} for where, found in places.items()
    }


def _placed(known: list[_Prefix], orders: Mapping[bool, Template], instrument: str) -> _Prefix:
    """Return the prefix that has these texts, a new one where none has."""
    first = next(iter(orders.values()))
    keys = {order: template.key for order, template in orders.items()}
    for prefix in known:
        common = prefix.keys.keys() & keys.keys()
        if prefix.is_of(first) and common and all(prefix.keys[order] == keys[order] for order in common):
            prefix.keys |= keys
            return prefix
    known.append(_Prefix(first, instrument, keys))
    return known[-1]


__all__ = ["Places", "prefixes"]
