"""Pictures drawn by a separate process, while the report is judged and written.

They take as long as the rest. The data of the two processes are in a folder. The pipes carry
numbers alone, so neither process waits for the other to read. The process ends with its standard
input: when its parent closes it, or is gone.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Literal

from workbench.figures.pictures.picture import Picture
from workbench.figures.write.pictures import cleaned, drawn, prepare
from workbench.report.collected import Shown
from workbench.report.page import PagePicture

FORMS: tuple[Literal["svg"], Literal["pdf"]] = ("svg", "pdf")


class DrawingProcess:
    """A process that draws the pictures that were announced with `begin`.

    A picture that no process has drawn is drawn here by `drawn`. The files of the process are in a
    folder within `place`.
    """

    def __init__(self, place: Path) -> None:
        self._place = place
        self._sent: list[Picture] = []
        self._finished = 0
        self._process: subprocess.Popen[str] | None = None
        self._folder = Path()
        self._closing = ExitStack()

    def __enter__(self) -> DrawingProcess:
        self._process = self._started()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closing.close()

    def begin(self, pictures: Iterable[Picture]) -> None:
        """Let the process draw these pictures next."""
        for picture in pictures:
            if self._process is not None and self._process.poll() is None:
                self._send(self._process, picture)

    def drawn(self, picture: Picture) -> tuple[bytes, bytes]:
        """Return a picture as SVG and as PDF, as matplotlib writes it.

        Raises MissingPackage without matplotlib.
        """
        number = next(
            (number for number, announced in enumerate(self._sent) if announced is picture), None
        )
        if number is not None and self._process is not None and self._has(self._process, number):
            svg, pdf = ((self._folder / f"{number}.{form}").read_bytes() for form in FORMS)
        else:
            svg, pdf = drawn(picture, *FORMS)
        return svg, pdf

    def _started(self) -> subprocess.Popen[str]:
        self._folder = Path(
            self._closing.enter_context(TemporaryDirectory(prefix="pictures-", dir=self._place))
        )
        process = subprocess.Popen(
            [sys.executable, "-m", __name__, str(self._folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            text=True,
            env=os.environ | {"TMPDIR": str(self._folder)},
        )
        self._closing.callback(process.communicate)
        self._closing.callback(process.kill)  # the process has nothing to tidy up
        return process

    def _send(self, process: subprocess.Popen[str], picture: Picture) -> None:
        try:
            (self._folder / f"{len(self._sent)}.picture").write_bytes(pickle.dumps(picture))
            print(len(self._sent), file=process.stdin, flush=True)
        except OSError:  # the process has ended, or the disk is full: `drawn` finds out
            process.kill()
        self._sent.append(picture)

    def _has(self, process: subprocess.Popen[str], number: int) -> bool:
        """Wait until a picture is drawn, and return whether it is.

        It is not if the process has ended before.
        """
        while self._finished <= number and process.stdout is not None and process.stdout.readline():
            self._finished += 1
        return number < self._finished


def main(folder: Path) -> None:
    """Draw the pictures whose numbers come over standard input.

    Print each number once its files are there.
    """
    prepare()
    for line in sys.stdin:
        number = line.strip()
        picture: Picture = pickle.loads((folder / f"{number}.picture").read_bytes())  # noqa: S301  our parent's
        for form, content in zip(FORMS, drawn(picture, *FORMS), strict=True):
            (folder / f"{number}.{form}").write_bytes(content)
        print(number, flush=True)


def drawing(
    shown: Shown, picture: Picture, process: DrawingProcess
) -> tuple[PagePicture, dict[str, bytes]]:
    """Return a picture for the page, and its files. Raises MissingPackage without matplotlib."""
    from markupsafe import Markup

    svg, pdf = process.drawn(picture)
    stem = shown.stem if picture.name == shown.table.name else f"{shown.stem}-{picture.name}"
    stem = f"{stem}-{picture.page}" if picture.of > 1 else stem
    markup = Markup(cleaned(svg, picture, within=f"p{stem}"))  # noqa: S704  what the SVG writer escaped
    files = {f"figures/{stem}.svg": cleaned(svg, picture).encode(), f"figures/{stem}.pdf": pdf}
    return PagePicture(markup, picture.heading, stem), files


if __name__ == "__main__":
    main(Path(sys.argv[1]))
