"""From a model's name to the model: backends are imported when they are asked for."""

from __future__ import annotations

from workbench.inference.base import Model
from workbench.inference.dtypes import check_dtype


def load(name: str, *, dtype: str = "", cluster: str = "") -> Model:
    """Return the model of a name: `scripted…`, `openai:…` (served; see remote_address), or anything the local backend
    knows (`smollm2`, hub ids, folders, GGUF).

    `dtype` empty: float32 on a CPU, bfloat16 on a GPU. `cluster`: the workers of a Ray cluster load it and answer.

    Raises ModelError, saying what was tried, where there is none; UsageError for a dtype that is unknown or has no
    effect on this model.
    """
    check_dtype(name, dtype)
    if cluster:
        from workbench.inference.cluster import load_cluster

        return load_cluster(name, dtype, cluster)
    if name == "scripted" or name.startswith("scripted:"):
        from workbench.inference.scripted import load_scripted

        return load_scripted(name)
    if name.startswith("openai:"):
        from workbench.inference.remote import load_remote

        return load_remote(name)
    from workbench.inference.local import load_local

    return load_local(name, dtype)
