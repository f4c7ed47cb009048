"""The loading of a model by name, and the check before a job is queued whether it is available.

Backends are imported on use.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path

from workbench.domain.names import parted
from workbench.domain.responses import IMPORTED
from workbench.errors import ModelError, UsageError
from workbench.inference.base import Model, check_dtype
from workbench.inference.chat_turns import FILE, SUFFIX, check_chat_format, split_chat_format
from workbench.inference.embedded import EMBEDDED
from workbench.inference.served.address import LAUNCHED, PREFIX
from workbench.installed import need_local, package_folder
from workbench.options.shared import CHAT_FORMAT
from workbench.regular_files import check_regular


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
    """Return the model of a name.

    A name is `scripted…`, `openai:…` (served, see `remote_address`), `vllm:…` (served by a server
    that is started here, see `launched`), or that of a model of the local backend (`smollm2`, hub
    ids, folders, GGUF).

    `device`: the device of a local model, or empty for $WORKBENCH_DEVICE, else the first GPU, else
    the CPU. `beside`: the log file of a server that is started here. `should_stop`: polled while it
    starts.

    `dtype` empty: float32 on a CPU, bfloat16 on a GPU. `cluster`: the address of a Ray cluster that
    loads the model and answers. `chat_format`: the source of the chat template instead of the
    model's own: a folder, hub id, `smollm2` or .jinja file. With `+no-default-system` after it, or
    alone, the template's default system turn is left empty.

    Raises ModelError, saying what was tried, if there is no such model, and UsageError for a dtype
    or chat format that has no effect on this model, or an unknown dtype.
    """
    check_dtype(name, dtype)
    check_chat_format(name, chat_format)
    if cluster:
        from workbench.inference.cluster.model import load_cluster

        return load_cluster(name, dtype, cluster, chat_format=chat_format)
    if name.startswith(IMPORTED):
        raise ModelError(
            f"{name}: its answers were collected elsewhere and imported; nothing here asks it. "
            "Import further answers the same way: workbench import STORE FILE"
        )
    if name == "scripted" or name.startswith("scripted:"):
        from workbench.inference.scripted.personas import load_scripted

        return load_scripted(name)
    if name.startswith("openai:"):
        from workbench.inference.served.model import load_remote

        return load_remote(name)
    if name.startswith(LAUNCHED):
        from workbench.inference.served.launched import load_launched

        return load_launched(name, beside=beside, should_stop=should_stop)
    need_local(name)
    check_regular(Path(name).expanduser())
    from workbench.inference.local.model import load_local

    return load_local(name, dtype, device, chat_format=chat_format)


def is_local(name: str) -> bool:
    """Return whether a name is that of a model of the local backend."""
    is_scripted = name == "scripted" or name.startswith("scripted:")
    return bool(name) and not is_scripted and not name.startswith((IMPORTED, PREFIX, LAUNCHED))


HUB_S = 10.0
"timeout in seconds for asking the hub about a model"
CONFIG, MORE = "tokenizer_config.json", "additional_chat_templates"
"other places for chat templates in a model's folder"


def check_reachable(
    name: str, *, cluster: str = "", batched: bool = False, environ: Mapping[str, str] = os.environ
) -> None:
    """Look for a model at the endpoint, on the hub or on disk, without loading it.

    See `served.examine`.

    Models loaded by a cluster's machines are not checked. Raises ModelError that says what was
    tried, UsageError for a pipe, socket or device, MissingPackage for an embedded model or a client
    that is not installed. `batched`: also check that it takes batches.
    """
    if name.startswith(IMPORTED):
        load(name)  # raises the error that explains it
    if cluster or name.partition(":")[0] == "scripted":
        return
    if name.startswith(PREFIX):
        from workbench.inference.served.examine import check_served

        check_served(name, environ, batched=batched)
        return
    if name.startswith(LAUNCHED):
        from workbench.inference.served.launched import executable

        executable(environ)
        if batched:
            raise ModelError(f"{name}: vLLM is not known to take batches; leave --batch out")
        return
    need_local(name)
    if name in EMBEDDED:
        package, distribution, _ = EMBEDDED[name]
        package_folder(name, package, distribution)
    elif _is_path(name):
        if not check_regular(Path(name).expanduser()).exists():
            raise ModelError(f"{name}: there is no such folder or GGUF file")
    else:
        _check_hub(name)


def _is_path(name: str) -> bool:
    """Return whether a name is a path. A link is one, wherever it leads."""
    return (
        name.startswith((".", "/", "~"))
        or name.count("/") > 1
        or os.path.lexists(Path(name).expanduser())
    )


def _check_hub(name: str, *, ask: bool = True) -> None:
    """Raise ModelError if the hub has no such model.

    Without `ask`, every name that may be a hub id passes.
    """
    from huggingface_hub import HfApi, constants, try_to_load_from_cache
    from huggingface_hub.errors import (
        GatedRepoError,
        HfHubHTTPError,
        HFValidationError,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    # The HTTP client differs by version of the package. A wrong proxy raises a ValueError or
    # ImportError.
    unreachable: tuple[type[Exception], ...] = (
        *HfHubHTTPError.__bases__,
        OSError,
        ValueError,
        ImportError,
    )
    base, revision = parted(name)
    local = f"{name} is no embedded model ({', '.join(EMBEDDED)}), no folder"
    try:
        if isinstance(try_to_load_from_cache(base, "config.json", revision=revision or None), str):
            return
        if not ask:
            return
        if constants.HF_HUB_OFFLINE:
            raise ModelError(
                f"{local}, and not in the cache of the hub, which is not asked: $HF_HUB_OFFLINE "
                "is set"
            )
        HfApi().model_info(base, revision=revision or None, timeout=HUB_S)
    except HFValidationError:
        raise ModelError(f"{local}, and no id of the hub, which reads OWNER/NAME") from None
    except GatedRepoError:
        raise ModelError(
            f"{name} is gated: accept its terms on the hub, and set $HF_TOKEN"
        ) from None
    except RevisionNotFoundError:
        raise ModelError(f"the hub has {base}, but no revision {revision!r} of it") from None
    except RepositoryNotFoundError:
        raise ModelError(
            f"{local}, and the hub has no model of this name; a private one needs $HF_TOKEN"
        ) from None
    except unreachable as error:
        raise ModelError(
            f"{local}, and not in the cache of the hub, which cannot be asked "
            f"({type(error).__name__})"
        ) from None


def check_chat_format_there(chat_format: str, *, cluster: str = "", ask_hub: bool = False) -> None:
    """Look for a borrowed chat format on disk and in the hub's cache, without loading anything.

    With `ask_hub` it is also looked for on the hub.

    Files on a cluster's machines are not checked. Raises FieldError that says what was tried.
    Properties that only the worker can determine, such as whether the template works, are not
    checked.
    """
    name, _ = split_chat_format(chat_format)
    if not name or cluster or name in EMBEDDED:
        return
    try:
        path = check_regular(Path(name).expanduser())
    except UsageError as error:
        raise CHAT_FORMAT.error(str(error)) from None
    if path.suffix == SUFFIX or path.is_dir():
        _check_template_file(name, path)
    elif path.exists():
        if path.suffix != ".gguf":
            raise CHAT_FORMAT.error(f"{name} is a file, but neither a {SUFFIX} nor a GGUF file")
    elif _is_path(name):
        raise CHAT_FORMAT.error(
            f"there is no file or folder {name}; name a {SUFFIX} file or a model's folder"
        )
    else:
        _check_template_of_hub(name, ask_hub=ask_hub)


def _check_template_file(name: str, path: Path) -> None:
    """Raise FieldError if a template's file, or that of a folder, is missing or empty."""
    if path.is_dir():
        if (path / FILE).is_file():
            path = path / FILE
        elif _has_template(path / CONFIG) or (path / MORE).is_dir():
            return
        else:
            raise CHAT_FORMAT.error(
                f"the folder {name} has no chat template. Name a model that was tuned for chats, "
                f"or a {SUFFIX} file"
            )
    if not path.is_file():
        raise CHAT_FORMAT.error(f"there is no file {name}")
    try:
        is_empty = not path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise CHAT_FORMAT.error(f"{path} cannot be read ({error})") from None
    if is_empty:
        raise CHAT_FORMAT.error(f"{path} is empty")


def _check_template_of_hub(name: str, *, ask_hub: bool) -> None:
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    base, revision = parted(name)
    try:
        cached_files = [
            try_to_load_from_cache(base, file, revision=revision or None) for file in (FILE, CONFIG)
        ]
    except HFValidationError:
        cached_files = []
    template, config = (*cached_files, None, None)[:2]
    if isinstance(template, str):
        return
    if isinstance(config, str):
        if not _has_template(Path(config)):
            raise CHAT_FORMAT.error(
                f"{name} has no chat template. Name a model that was tuned for chats, or a "
                f"{SUFFIX} file"
            )
        return
    try:
        _check_hub(name, ask=ask_hub)
    except ModelError as error:
        raise CHAT_FORMAT.error(
            f"{error}. Name smollm2, a model's folder, a hub id or a {SUFFIX} file"
        ) from None


def _has_template(config: Path) -> bool:
    """Return whether a tokenizer's configuration contains a chat template."""
    try:
        return bool(json.loads(config.read_text(encoding="utf-8")).get("chat_template"))
    except (OSError, ValueError, AttributeError):
        return False
