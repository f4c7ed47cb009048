"""Installed packages: those that run models here, and those with an import name of ours."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from collections.abc import Iterator
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote, urlsplit

from workbench.errors import MissingPackage
from workbench.version import __version__

DISTRIBUTION = "llm-audit-workbench"
OURS = ("workbench", "stores")
"import names that other packages on PyPI have too"
LOCAL = {
    "torch": "torch",
    "transformers": "transformers",
    "accelerate": "accelerate",
    "gguf": "gguf",
    "safetensors": "safetensors",
    "sentence_transformers": "sentence-transformers",
}
"import name -> distribution, of the extra `local`"
CPU = "https://download.pytorch.org/whl/cpu"
"PyTorch without the 3 GB for NVIDIA's GPUs, which PyPI's has on Linux"
COPY = Path(__file__).parents[1]
"of the repository, if the program runs from one"


def code_version() -> str:
    """Return the versions of all code that processes answers.

    They are stored with every response.
    """
    return f"{__version__} ({', '.join(map(_version, ('transformers', 'torch')))})"


def _version(package: str) -> str:
    try:
        return f"{package} {metadata.version(package)}"
    except metadata.PackageNotFoundError:
        return f"without {package}"


def install(extra: str) -> str:
    """Return the command that adds an extra to this program in the place where it is installed.

    No index has the program.
    """
    source = _source()
    editable = "-e " * (source == str(COPY))
    requirement = (
        f"{DISTRIBUTION}[{extra}] @ {source}" if "://" in source else f"{source or '.'}[{extra}]"
    )
    parts = [
        _installer(),
        *_without_gpu() * ("local" in extra),
        editable + shlex.quote(requirement),
    ]
    return " ".join(parts) + ("" if source else ", in a copy of the repository")


def install_package(name: str, *, alone: bool = False) -> str:
    """Return the command that adds a package of PyPI to this program's environment.

    With `alone`, it leaves out what the package needs.
    """
    return f"{_installer()} {'--no-deps ' * alone}{name}"


def _installer() -> str:
    prefix = Path(sys.prefix)
    if (prefix / "pipx_metadata.json").is_file():
        return f"pipx runpip {shlex.quote(prefix.name)} install"
    if _of_uv():
        return f"uv pip install --python {shlex.quote(sys.executable)}"
    return f"{shlex.quote(sys.executable)} -m pip install"


def _of_uv() -> bool:
    return (Path(sys.prefix) / "uv-receipt.toml").is_file() or find_spec("pip") is None


def _without_gpu() -> list[str]:
    if sys.platform != "linux" or shutil.which("nvidia-smi"):
        return []
    pipx = (Path(sys.prefix) / "pipx_metadata.json").is_file()
    return ["--torch-backend cpu"] if _of_uv() and not pipx else [f"--extra-index-url {CPU}"]


def _source() -> str:
    """Return the path or address from which the program was installed.

    It is empty if that is unknown or no longer there.
    """
    if (COPY / "pyproject.toml").is_file():
        return str(COPY)
    try:
        origin = json.loads(
            metadata.distribution(DISTRIBUTION).read_text("direct_url.json") or "{}"
        )
    except metadata.PackageNotFoundError:
        return ""
    url = str(origin.get("url", ""))
    if url.startswith("file:"):
        path = unquote(urlsplit(url).path)
        return path if Path(path).exists() else ""
    vcs_info = origin.get("vcs_info", {})
    return (
        f"{vcs_info['vcs']}+{url}@{vcs_info.get('requested_revision') or vcs_info['commit_id']}"
        if vcs_info
        else url
    )


def need_local(what: str) -> None:
    """Raise MissingPackage if a package is missing that models on this machine need."""
    if missing := [name for package, name in LOCAL.items() if find_spec(package) is None]:
        raise MissingPackage(
            f"{what}: models that run on this machine need {', '.join(missing)}, not installed "
            f"here. Install with: {install('local')}"
        )


def package_folder(name: str, package: str, distribution: str) -> Path:
    """Return the folder of the package that carries a model, without importing it.

    The package's own imports are not installed. Raises MissingPackage.
    """
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise MissingPackage(
            f"{name}: the package {distribution} is missing. Install it: "
            f"{install_package(distribution, alone=True)}"
        )
    return Path(spec.submodule_search_locations[0])


def sharing() -> Iterator[tuple[str, str]]:
    """Yield (import name, distribution) of other installed packages with an import name of ours."""
    distributions_by_name = metadata.packages_distributions()
    for name in OURS:
        for distribution in dict.fromkeys(distributions_by_name.get(name, ())):
            if distribution != DISTRIBUTION:
                yield name, f"{distribution} {metadata.version(distribution)}"
