"""The commit of the hub that a model's name stands for.

The commit is the model's identity, as a branch or a tag may move.
"""

from __future__ import annotations

import re
from pathlib import Path

COMMIT = re.compile(r"/snapshots/([0-9a-f]{40})/")
"in the path of a file in the hub's cache"


def commit_of(repository: str, revision: str = "") -> str | None:
    """Return the commit that a branch or a tag of a repository stands for, or None if unknown.

    An empty revision is the default branch. The hub is asked, or offline its cache. Raises OSError,
    as transformers does, if there is no such repository or revision.
    """
    from transformers.utils.hub import cached_file

    file = cached_file(repository, "config.json", revision=revision or "main")
    match = COMMIT.search(Path(file).as_posix()) if file else None
    return match[1] if match else None
