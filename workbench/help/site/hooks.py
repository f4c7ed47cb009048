"""What mkdocs is given: every help page as a file of the site, with the README as its first
page.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

from workbench.help import topics

ROOT = Path(__file__).parents[3]
AUDITS = ROOT / "workbench" / "audits"
PICTURES = (".svg", ".png", ".gif")
PAPER = re.compile(r"-20\d\d")
LINK = re.compile(r"(!?\[([^\]]*)\])\(([^)#]+)(#[^)]*)?\)")
"a link or a picture: its text in brackets, the text, the target, the place there"


def on_config(config: Any) -> Any:
    """List the pages in the menu: tutorials first, then audits, screens, topics and papers."""
    names = [page.name for page in topics()]
    audits = [name for name in names if (AUDITS / name).is_dir()]
    groups = {
        "Tutorials": [name for name in names if name.startswith("tutorial-")],
        "Audits": audits,
        "On screen": [name for name in names if name.startswith("screens-")],
        "Papers": [name for name in names if PAPER.search(name)],
    }
    taken = {name for group in groups.values() for name in group}
    groups["Topics"] = [name for name in names if name not in taken]
    order = ("Tutorials", "Topics", "Audits", "On screen", "Papers")
    config["nav"] = [
        {"Home": "index.md"},
        *({group: [f"{one}.md" for one in groups[group]]} for group in order),
    ]
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the pages, the README and the pictures."""
    for page in topics():
        files.append(File.generated(config, f"{page.name}.md", content=_linked(page.text)))
    files.append(
        File.generated(
            config, "index.md", content=_linked((ROOT / "README.md").read_text(encoding="utf-8"))
        )
    )
    for picture in sorted(
        path for path in (ROOT / "workbench" / "help").rglob("*") if path.suffix in PICTURES
    ):
        files.append(File.generated(config, f"pictures/{picture.name}", abs_src_path=str(picture)))
    return files


def _linked(text: str) -> str:
    """Return a page whose links to other pages and pictures stay in the site; of other files the
    names stay.
    """
    known = {page.name for page in topics()}

    def to(found: re.Match[str]) -> str:
        shown, words, target, anchor = found[1], found[2], Path(found[3]), found[4] or ""
        if re.match(r"[a-z]+:", found[3]):
            return found[0]
        if target.suffix in PICTURES:
            return f"{shown}(pictures/{target.name})"
        name = target.parent.name if target.name == "help.md" else target.stem
        return f"{shown}({name}.md{anchor})" if name in known else words

    return LINK.sub(to, text)
