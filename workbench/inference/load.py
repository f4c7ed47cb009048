"""Loads a model by name; backends are imported on use."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from workbench.inference.base import Model
from workbench.inference.chat_turns import check_chat_format
from workbench.inference.dtypes import check_dtype
from workbench.inference.served.address import LAUNCHED
from workbench.installed import need_local


def load(
    name: str,
    *,
    dtype: str = "",
    cluster: str = "",
    chat_format: str = "",
    device: str = "",
    beside: Path | None = None,
    should_stop: Callable[[], bool] = lambda: False,
) -> Model:
    """Return the model of a name: `scripted…`, `openai:…` (served; see remote_address), `vllm:…` (served by a server
    that is started here; see `launched`), or a model of the local backend (`smollm2`, hub ids, folders, GGUF).

    `device`: of a local model; empty: $WORKBENCH_DEVICE, else the first GPU, else the CPU. `beside`: the log file of a
    server that is started here; `should_stop`: polled while it starts.

    `dtype` empty: float32 on a CPU, bfloat16 on a GPU. `cluster`: the address of a Ray cluster that loads the model and
    answers. `chat_format`: the source of the chat template instead of the model's own: a folder, hub id, `smollm2` or
    .jinja file. With `+no-default-system` after it, or alone, the template's default system turn is left empty.

    Raises ModelError, saying what was tried, if there is no such model; UsageError for a dtype or chat format that has
    no effect on this model, or an unknown dtype.
    """
    check_dtype(name, dtype)
    check_chat_format(name, chat_format)
    if cluster:
        from workbench.inference.cluster.model import load_cluster

        return load_cluster(name, dtype, cluster, chat_format=chat_format)
    if name == "scripted" or name.startswith("scripted:"):
        from workbench.inference.scripted.named import load_scripted

        return load_scripted(name)
    if name.startswith("openai:"):
        from workbench.inference.served.model import load_remote

        return load_remote(name)
    if name.startswith(LAUNCHED):
        from workbench.inference.served.launched import load_launched

        return load_launched(name, beside=beside, should_stop=should_stop)
    need_local(name)
    from workbench.inference.local.model import load_local

    return load_local(name, dtype, device, chat_format=chat_format)
