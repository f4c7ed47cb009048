"""The command that writes an instrument out."""

from __future__ import annotations

from workbench.cli.output import print_json, say
from workbench.cli.verbs import Namespace, verb
from workbench.options.option import Option, Type, flag
from workbench.options.shared import INSTRUMENT, JSON, STORE

PEOPLE = ("counts", "pseudonyms", "none")
"as `pipeline.exporting` has them: what an export says of people"


@verb(
    STORE,
    Option(
        "folder",
        "not there yet, or empty",
        Type.PATH,
        positional=True,
        required=True,
        metavar="DIR",
    ),
    INSTRUMENT,
    Option(
        "format",
        "csv imports back identically (default), choices does so for multiple-choice questions and answers of models "
        "(default where all statements are such); probvaa is the published layout; jsonl holds the statements",
        choices=("csv", "probvaa", "jsonl", "choices"),
    ),
    Option(
        "people",
        "what is said of who annotated and answered, in files of their own",
        default="counts",
        choices=PEOPLE,
    ),
    flag("force", "replace files of the same name; others stay"),
    JSON,
)
def export(options: Namespace) -> int:
    """Write an instrument: all of its files, or none. What the format cannot hold is said."""
    from stores.core.store import Store
    from workbench.pipeline.exporting import prepared

    with Store.open(options.store) as store:
        instrument = store.instruments.get(options.instrument or store.instruments.only())
        asked = len(instrument.choices) == len(instrument.statements)
        export = prepared(store, instrument.name, options.format or ("choices" if asked else "csv"), options.people)
    written = export.write(options.folder, force=options.force)
    said = {"left_out": written.left_out, "notes": written.notes, "left_alone": written.left_alone}
    if options.json:
        about = {"instrument": instrument.name, "format": written.format, "folder": str(written.folder)}
        print_json(about | {"files": [str(path) for path in written.files]} | said)
        return 0
    say(f"{instrument.name}: {len(instrument.statements):,} statements as {written.format} in {written.folder}")
    for path in written.files:
        say(f"  {path.relative_to(written.folder)}  {path.stat().st_size:,} bytes")
    for heading, lines in zip(("Left out:", "Note:", "In the folder before, not touched:"), said.values(), strict=True):
        if lines:
            say("\n- ".join((heading, *lines)))
    place = written.files[0] if written.format == "jsonl" else written.folder
    say(f"Import it: workbench import OTHER_STORE --format {written.format} {place}")
    return 0
