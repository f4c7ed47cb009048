"""RO-Crate 1.1 (https://w3id.org/ro/crate/1.1): a description of each file of a report, for archives and programs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import Any

from workbench.report.collected import Collected
from workbench.report.page import title_of

NAME = "ro-crate-metadata.json"
TYPES = {
    ".html": "text/html", ".csv": "text/csv", ".tex": "application/x-tex", ".svg": "image/svg+xml",
    ".pdf": "application/pdf", ".md": "text/markdown", ".bib": "application/x-bibtex", ".json": "application/json",
    ".txt": "text/plain",
}  # fmt: skip
WORDS = {
    "report.html": "The report: a page that opens offline",
    "methods.md": "How the figures came about, with every choice and its source",
    "references.bib": "The publications and instruments that the report rests on",
}
KINDS = {"tables": "A table of the report", "figures": "A picture of the report", "answers": "Answers, word for word"}


def crate(found: Collected, files: Sequence[tuple[str, int]]) -> str:
    """Return the metadata of a report. files : (path in the folder, bytes)"""
    return json.dumps(
        {"@context": "https://w3id.org/ro/crate/1.1/context", "@graph": list(_graph(found, files))},
        indent=2,
        ensure_ascii=False,
    ) + "\n"  # fmt: skip


def _graph(found: Collected, files: Sequence[tuple[str, int]]) -> Iterator[dict[str, Any]]:
    yield {
        "@id": NAME,
        "@type": "CreativeWork",
        "conformsTo": {"@id": "https://w3id.org/ro/crate/1.1"},
        "about": {"@id": "./"},
    }
    instruments = [{"@id": f"#instrument-{place}"} for place in range(1, len(found.instruments) + 1)]
    yield {
        "@id": "./",
        "@type": "Dataset",
        "name": title_of(found),
        "description": "An audit report: figures with definitions and intervals, methods, and raw answers.",
        "datePublished": found.date,
        "license": "See the licences of the instruments that it is about.",
        "identifier": f"sha256:{found.hash}",
        "hasPart": [{"@id": path} for path, _ in files],
        "about": [*instruments, *({"@id": f"#model-{place}"} for place in range(1, len(found.asked) + 1))],
        "isBasedOn": {"@id": "#store"},
    }
    yield {
        "@id": "#store",
        "@type": "Dataset",
        "name": "The store that the report was made of",
        "dateModified": found.at,
        "identifier": f"sha256:{found.hash}",
    }
    yield from _things(found)
    for path, size in files:
        yield _file(path, size)
    software = [
        {"@id": f"#software-{name.lower()}", "@type": "SoftwareApplication", "name": name, "version": number}
        for name, number in found.software.items()
    ]
    yield from software
    yield {
        "@id": "#made",
        "@type": "CreateAction",
        "name": "Writing of the report",
        "endTime": found.at,
        "instrument": [{"@id": one["@id"]} for one in software],
        "object": {"@id": "#store"},
        "result": {"@id": "./"},
    }


def _things(found: Collected) -> Iterator[dict[str, Any]]:
    for place, instrument in enumerate(found.instruments, 1):
        said = {
            "name": instrument.title or instrument.name,
            "version": instrument.version,
            "license": instrument.licence,
            "citation": instrument.citation,
            "isBasedOn": instrument.source,
        }
        yield {"@id": f"#instrument-{place}", "@type": "CreativeWork"} | {k: v for k, v in said.items() if v}
    for place, one in enumerate(found.asked, 1):
        yield {
            "@id": f"#model-{place}",
            "@type": "SoftwareApplication",
            "name": one.name,
            "version": one.run.version,
            "description": f"{one.run.computed}; {one.run.sampling}",
        }


def _file(path: str, size: int) -> dict[str, Any]:
    pure = PurePosixPath(path)
    words = WORDS.get(path) or KINDS.get(pure.parts[0], "")
    kind = TYPES.get(pure.suffix, "application/octet-stream")
    return {"@id": path, "@type": "File", "name": words, "encodingFormat": kind, "contentSize": str(size)}
