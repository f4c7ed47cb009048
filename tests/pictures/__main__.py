"""`make pictures`: draw them anew."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.pictures.screens import FOLDER, every, make_store


def main() -> None:
    """Write every picture."""
    with TemporaryDirectory() as folder:
        os.environ["XDG_STATE_HOME"] = folder
        for name, svg in asyncio.run(every(make_store(Path(folder)))).items():
            (FOLDER / name).write_text(svg, encoding="utf-8")
            print(FOLDER / name)


if __name__ == "__main__":
    main()
