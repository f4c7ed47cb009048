"""Descriptions of rows, made from their columns: a data dictionary, a page for people, a Croissant record."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workbench import __version__
from workbench.csv_files import csv_text, guarded
from workbench.domain.instruments import Instrument
from workbench.tidy.columns import Field, Rows, Type

DICTIONARY, CROISSANT, PAGE = "dictionary.csv", "croissant.json", "README.md"
MEDIA_TYPES = {"csv": "text/csv", "jsonl": "application/jsonlines", "parquet": "application/x-parquet"}
CONTEXT: Mapping[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
"the context of Croissant 1.0 (https://docs.mlcommons.org/croissant/docs/croissant-spec.html, appendix 1)"
DATA_TYPES = {
    Type.TEXT: "sc:Text",
    Type.WHOLE: "sc:Integer",
    Type.NUMBER: "sc:Float",
    Type.TRUTH: "sc:Boolean",
    Type.TIME: "sc:DateTime",
    Type.RECORDS: "sc:Text",
}
FORMULAS = (
    "A cell of a CSV file that a spreadsheet would run as a formula (it begins with = + - @, a tab or a line end, and "
    "is no number) is neutralised: an apostrophe stands before it. A text that begins with apostrophes and then such a "
    "sign has one apostrophe more, so taking one apostrophe off gives every text back. Parquet and JSON Lines hold "
    "texts as they are."
)
EMPTY = (
    "An empty cell of a CSV file is a value that is missing, or an empty text; Parquet and JSON Lines tell them apart."
)
PSEUDONYMS = (
    "People stand under pseudonyms (p-…): a keyed hash of the name, whose key is the identity of the store. They are "
    "the same in all files of one store, differ between stores, and cannot be turned back without the store. What "
    "people wrote in their own words (notes, reasons) is word for word."
)
NAMED = "People stand under their names, because --names was given. Think before you pass these files on."
EXPANDED = "Rows are expanded: one stands for one answer."
COLLAPSED = "One row stands for all answers of a draw that are alike; count says how many. --expand repeats rows."


@dataclass(frozen=True, slots=True)
class File:
    """One written file of rows."""

    of: Rows
    name: str
    rows: int
    bytes: int
    sha256: str


def dictionary(files: Iterable[File]) -> str:
    """Return the data dictionary, one line per column."""
    header = ("file", "column", "type", "meaning", "empty")
    return csv_text(header, [[guarded(cell) for cell in line] for file in files for line in _lines(file)])


def _lines(file: File) -> Iterator[Sequence[str]]:
    for field in file.of.fields:
        yield (file.name, field.name, field.type.value, field.meaning, _empty(field))
        for part in field.parts:
            yield (file.name, f"{field.name}[].{part.name}", part.type.value, part.meaning, _empty(part))


def _empty(field: Field) -> str:
    return field.empty or "never empty, unless a text is"


def page(files: Sequence[File], sentences: Iterable[str], left_out: Iterable[str]) -> str:
    """Return the page for people."""
    held = "\n".join(f"- `{file.name}`: {file.rows:,} rows. {file.of.about}" for file in files)
    notes = dict.fromkeys((*sentences, *(note for file in files for note in file.of.notes)))
    told = "\n".join(f"- {_literal(note)}" for note in notes)
    missing = "\n".join(f"- {_literal(note)}" for note in left_out)
    gone = f"\n## Left out\n\n{missing}\n" if missing else ""
    return (
        f"# Data of a workbench store\n\nWritten by workbench {__version__}. `{DICTIONARY}` says what each column "
        f"means, and what an empty cell means. `{CROISSANT}` describes the files for programs (MLCommons Croissant "
        f"1.0).\n\n{held}\n\n## To know\n\n{told}\n{gone}"
    )


def _literal(text: str) -> str:
    """Return text that Markdown shows unchanged, on one line."""
    from workbench.figures.visible import visible

    return visible(" ".join(text.split())).replace("<", "\\<")


def croissant(
    name: str, files: Sequence[File], instruments: Sequence[Instrument], format_: str, last: str, about: Iterable[str]
) -> str:
    """Return the Croissant record (MLCommons Croissant 1.0) of the files, as JSON-LD.

    last : time of the newest data; the record has no other date, so that it is reproducible
    """
    licences = list(dict.fromkeys(one.licence for one in instruments if one.licence))
    citations = list(dict.fromkeys(one.citation for one in instruments if one.citation))
    record: dict[str, Any] = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": name,
        "description": " ".join((*(f"{file.of.title}: {file.of.about}" for file in files), *about)),
        "version": "1.0.0",
        **({"datePublished": last[:10]} if last else {}),
        **({"license": licences[0] if len(licences) == 1 else licences} if licences else {}),
        **({"citeAs": " ".join(citations)} if citations else {}),
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": file.name,
                "name": file.name,
                "contentUrl": file.name,
                "contentSize": f"{file.bytes} B",
                "encodingFormat": MEDIA_TYPES[format_],
                "sha256": file.sha256,
            }
            for file in files
        ],
        "recordSet": [
            {
                "@type": "cr:RecordSet",
                "@id": file.of.name,
                "name": file.of.name,
                "description": file.of.about,
                "field": [_field(file, field, nested=format_ != "csv") for field in file.of.fields],
            }
            for file in files
        ],
    }
    return json.dumps(record, indent=2, ensure_ascii=False) + "\n"


def _field(file: File, field: Field, *, nested: bool) -> dict[str, Any]:
    """Return a field. Records are `nested` if the format has lists; else they are text."""
    place = f"{file.of.name}/{field.name}"
    told = {
        "@type": "cr:Field",
        "@id": place,
        "name": field.name,
        "description": f"{field.meaning}. Empty: {field.empty}." if field.empty else f"{field.meaning}.",
    }
    source = {"fileObject": {"@id": file.name}, "extract": {"column": field.name}}
    if not (field.parts and nested):
        return told | {"dataType": DATA_TYPES[field.type], "source": source}
    parts = [
        {
            "@type": "cr:Field",
            "@id": f"{place}/{part.name}",
            "name": f"{field.name}/{part.name}",
            "description": f"{part.meaning}.",
            "dataType": DATA_TYPES[part.type],
            "source": source | {"transform": {"jsonPath": f"$.{part.name}"}},
        }
        for part in field.parts
    ]
    return told | {"repeated": True, "subField": parts}
