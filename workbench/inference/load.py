"""From a model's name to the model: backends are imported when they are asked for."""

from __future__ import annotations

from workbench.inference.base import Model


def load(name: str) -> Model:
    """Return the model of a name: `scripted…`, `openai:…` (served; see remote_address), or anything the local backend
    knows (`smollm2`, hub ids, folders, GGUF).

    Raises ModelError, saying what was tried, where there is none.
    """
    if name == "scripted" or name.startswith("scripted:"):
        from workbench.inference.scripted import load_scripted

        return load_scripted(name)
    if name.startswith("openai:"):
        from workbench.inference.remote import load_remote

        return load_remote(name)
    from workbench.inference.local import load_local

    return load_local(name)
