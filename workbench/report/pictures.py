"""Pictures drawn by a process of their own, while the report is judged and written: they take as long as the rest.

What passes between the two lies in a folder; the pipes carry numbers alone, so neither process waits for the other to
read. The process ends with its standard input: when its parent closes it, or is gone.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Literal

from workbench.domain.names import plural
from workbench.figures.pictures.of_table import pictures_of
from workbench.figures.pictures.picture import Picture
from workbench.figures.write.pictures import cleaned, drawn
from workbench.report.collected import Shown, Stems
from workbench.report.page import Drawn

WORTH = 12
"pictures from which on a process is started: the start takes as long as to draw eight of them"
FORMS: tuple[Literal["svg"], Literal["pdf"]] = ("svg", "pdf")


class DrawingProcess:
    """Draws pictures that were announced with `begin`; what no process has drawn, `drawn` draws here."""

    def __init__(self) -> None:
        self._waiting: list[Picture] = []
        self._sent: list[Picture] = []
        self._finished = 0
        self._process: subprocess.Popen[str] | None = None
        self._folder = Path()
        self._closing = ExitStack()

    def __enter__(self) -> DrawingProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.close()

    def begin(self, pictures: Iterable[Picture]) -> None:
        """Let the process draw these next; it is started once there are enough for it."""
        self._waiting += pictures
        if self._process is None and len(self._waiting) >= WORTH:
            self._process = self._started()
        while self._process is not None and self._process.poll() is None and self._waiting:
            self._send(self._process, self._waiting.pop(0))

    def drawn(self, picture: Picture) -> tuple[bytes, bytes]:
        """Return a picture as SVG and as PDF, as matplotlib writes it. Raises MissingPackage without matplotlib."""
        number = next((number for number, sent in enumerate(self._sent) if sent is picture), None)
        if number is not None and self._process is not None and self._has(self._process, number):
            svg, pdf = ((self._folder / f"{number}.{form}").read_bytes() for form in FORMS)
        else:
            svg, pdf = drawn(picture, *FORMS)
        return svg, pdf

    def _started(self) -> subprocess.Popen[str]:
        self._folder = Path(self._closing.enter_context(TemporaryDirectory(prefix="workbench-pictures-")))
        process = subprocess.Popen(
            [sys.executable, "-m", __name__, str(self._folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            text=True,
        )
        self._closing.callback(process.communicate)
        self._closing.callback(process.kill)  # it has nothing to tidy up
        return process

    def _send(self, process: subprocess.Popen[str], picture: Picture) -> None:
        try:
            (self._folder / f"{len(self._sent)}.picture").write_bytes(pickle.dumps(picture))
            print(len(self._sent), file=process.stdin, flush=True)
        except OSError:  # it has ended, or there is no room: `drawn` finds out
            process.kill()
        self._sent.append(picture)

    def _has(self, process: subprocess.Popen[str], number: int) -> bool:
        """Wait until a picture is drawn; return whether it is, which it is not where the process has ended before."""
        while self._finished <= number and process.stdout is not None and process.stdout.readline():
            self._finished += 1
        return number < self._finished


def main(folder: Path) -> None:
    """Draw the pictures whose numbers come over standard input, and say each number once its files are there."""
    for line in sys.stdin:
        number = line.strip()
        picture: Picture = pickle.loads((folder / f"{number}.picture").read_bytes())  # noqa: S301  our parent's
        for form, content in zip(FORMS, drawn(picture, *FORMS), strict=True):
            (folder / f"{number}.{form}").write_bytes(content)
        print(number, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))


MOST_PAGES = 4
"most pages of multi-page pictures in a report: drawing a page takes as long as judging 10,000 prompts"


@dataclass(frozen=True, slots=True)
class Drawing:
    """A picture on the page, with its files."""

    table: str
    "stem of its table"
    shown: Drawn
    files: tuple[tuple[str, bytes], ...]


def declared(tables: Sequence[Shown]) -> list[tuple[Shown, Picture]]:
    """Return the pictures of the tables that are on the page."""
    return [(one, picture) for one in tables if one.on_page for picture in pictures_of(one.table)]


def chosen(
    every: Sequence[tuple[Shown, Picture]], parts: int
) -> tuple[list[tuple[Shown, Picture]], list[tuple[str, str]]]:
    """Return the pictures that a report draws, by page, and (part, reason) for each one left out.

    Of pictures that take several pages, those are drawn for which `MOST_PAGES` has room, as shared among `parts`.
    """
    found: list[tuple[Shown, Picture]] = []
    left: list[tuple[str, str]] = []
    room = MOST_PAGES // max(1, parts)
    for one, picture in every:
        pages = picture.pages()
        if len(pages) > max(1, room):
            said = f"takes {plural(len(pages), 'page')}; --figures FOLDER draws it"
            left.append((one.part, f"The picture of {picture.title}: {said} beside the command that prints the table."))
            continue
        room -= len(pages) if len(pages) > 1 else 0
        found += [(one, page) for page in pages]
    return found, left


def drawings(pictures: Sequence[tuple[Shown, Picture]], stems: Stems, process: DrawingProcess) -> Iterator[Drawing]:
    """Yield pictures with their files. Raises MissingPackage without matplotlib."""
    from markupsafe import Markup

    for one, picture in pictures:
        stem = stems.of(f"{one.stem}-picture" if picture.of == 1 else f"{one.stem}-picture-{picture.page}")
        svg, pdf = process.drawn(picture)
        inside = Markup(cleaned(svg, picture, within=stem))  # noqa: S704  what the SVG writer escaped
        files = ((f"figures/{stem}.svg", cleaned(svg, picture).encode()), (f"figures/{stem}.pdf", pdf))
        yield Drawing(one.stem, Drawn(inside, picture.heading, stem), files)
