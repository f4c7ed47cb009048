"""The command that writes a report: one page for people who will never open a terminal, with its data beside it."""

from __future__ import annotations

import sys

from workbench.cli.output import print_json, say
from workbench.cli.verbs import Namespace, verb
from workbench.options.option import Option, Type, flag
from workbench.options.shared import JSON, STORE
from workbench.report.options import CHOOSING, ReportChoice

PROGRESS = flag("progress", "print each step as a line: share of the work done, and the next step")


@verb(
    STORE,
    Option("folder", "a new or empty folder", Type.PATH, positional=True, required=True, metavar="OUT"),
    CHOOSING,
    PROGRESS,
    JSON,
    about="Write a report: a page that opens offline, with every figure, its methods and raw answers, and next to it "
    "tables, pictures, references and a list of the files. The same store gives the same bytes.",
)
def report(options: Namespace) -> int:
    """Write a report: all of its files, or none."""
    from stores.core.store import Store
    from workbench.report.written import write_report

    choice = ReportChoice.of(options)

    def tell(share: float, what: str) -> None:
        if options.progress:
            print(f"{share:.2f} {what}", file=sys.stderr, flush=True)

    with Store.open(options.store) as store:
        page = write_report(store, options.folder, choice, tell)
    files = sorted(path for path in page.parent.rglob("*") if path.is_file())
    if options.json:
        print_json({"page": str(page), "files": [str(path) for path in files]})
        return 0
    size = sum(path.stat().st_size for path in files)
    say(f"{page}  {page.stat().st_size:,} bytes")
    say(f"and {len(files) - 1:,} more files, {size:,} bytes in all")
    return 0
