"""Which commit of the hub a model's name stands for: the commit is the model's identity, a branch
or a tag may move.
"""

from __future__ import annotations

import re
from pathlib import Path

COMMIT = re.compile(r"/snapshots/([0-9a-f]{40})/")
"in the path of a file in the hub's cache"


def commit_of(repository: str, revision: str = "") -> str | None:
    """Return the commit that a branch or a tag of a repository stands for, empty: of its default
    branch; None where that cannot be told. Asks the hub, or offline its cache.

    Raises OSError as transformers does where there is no such repository or revision.
    """
    from transformers.utils.hub import cached_file

    file = cached_file(repository, "config.json", revision=revision or "main")
    found = COMMIT.search(Path(file).as_posix()) if file else None
    return found[1] if found else None
