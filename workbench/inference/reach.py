"""Whether a model can be had at all, asked before a job is queued: a mistyped name costs no waiting."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from workbench.domain.names import parted
from workbench.errors import ModelError
from workbench.inference.embedded import EMBEDDED
from workbench.inference.served.address import PREFIX
from workbench.installed import need_local, package_folder

HUB_S = 10.0
"seconds in which the hub has to say whether it has a model"


def check_reachable(name: str, *, cluster: str = "", environ: Mapping[str, str] = os.environ) -> None:
    """Ask the endpoint, the hub or the disk for a model, without loading it.

    Of a model that a cluster's machines load nothing is known here. Raises ModelError that says what was tried,
    MissingPackage for an embedded model or a client that is not installed.
    """
    if cluster or name.partition(":")[0] == "scripted":
        return
    if name.startswith(PREFIX):
        from workbench.inference.served.model import load_remote

        load_remote(name, environ=environ).close()
        return
    need_local(name)
    if name in EMBEDDED:
        package, distribution, _ = EMBEDDED[name]
        package_folder(name, package, distribution)
    elif _is_path(name):
        if not Path(name).expanduser().exists():
            raise ModelError(f"{name}: there is no such folder or GGUF file")
    else:
        _check_hub(name)


def _is_path(name: str) -> bool:
    return name.startswith((".", "/", "~")) or name.count("/") > 1 or Path(name).expanduser().exists()


def _check_hub(name: str) -> None:
    from huggingface_hub import HfApi, constants, try_to_load_from_cache
    from huggingface_hub.errors import GatedRepoError, HFValidationError, RepositoryNotFoundError, RevisionNotFoundError

    base, revision = parted(name)
    here = f"{name} is no embedded model ({', '.join(EMBEDDED)}), no folder"
    try:
        if isinstance(try_to_load_from_cache(base, "config.json", revision=revision or None), str):
            return
        if constants.HF_HUB_OFFLINE:
            raise ModelError(f"{here}, and not in the cache of the hub, which is not asked: $HF_HUB_OFFLINE is set")
        HfApi().model_info(base, revision=revision or None, timeout=HUB_S)
    except HFValidationError:
        raise ModelError(f"{here}, and no id of the hub, which reads OWNER/NAME") from None
    except GatedRepoError:
        raise ModelError(f"{name} is gated: accept its terms on the hub, and set $HF_TOKEN") from None
    except RevisionNotFoundError:
        raise ModelError(f"the hub has {base}, but no revision {revision!r} of it") from None
    except RepositoryNotFoundError:
        raise ModelError(f"{here}, and the hub has no model of this name; a private one needs $HF_TOKEN") from None
    except OSError as error:
        raise ModelError(
            f"{here}, and not in the cache of the hub, which cannot be asked ({type(error).__name__})"
        ) from None
