"""Which packages are installed: those that run models here, and others that share an import name
with this program.
"""

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
"of the repository, where the program runs from one"


def code_version() -> str:
    """Return the versions of all code that processes answers, which are stored with every
    response.
    """
    return f"{__version__} ({', '.join(map(_version, ('transformers', 'torch')))})"


def _version(package: str) -> str:
    try:
        return f"{package} {metadata.version(package)}"
    except metadata.PackageNotFoundError:
        return f"without {package}"


def install(extra: str) -> str:
    """Return the command that adds an extra to this program where it is installed. No index has the
    program.
    """
    source = _source()
    editable = "-e " * (source == str(COPY))
    needed = (
        f"{DISTRIBUTION}[{extra}] @ {source}" if "://" in source else f"{source or '.'}[{extra}]"
    )
    words = [_installer(), *_without_gpu() * ("local" in extra), editable + shlex.quote(needed)]
    return " ".join(words) + ("" if source else ", in a copy of the repository")


def install_package(name: str, *, alone: bool = False) -> str:
    """Return the command that adds a package of PyPI to this program's environment, `alone` without
    what it needs.
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
    """Return from which path or address the program was installed, empty where that is not known or
    no longer there.
    """
    if (COPY / "pyproject.toml").is_file():
        return str(COPY)
    try:
        told = json.loads(metadata.distribution(DISTRIBUTION).read_text("direct_url.json") or "{}")
    except metadata.PackageNotFoundError:
        return ""
    url = str(told.get("url", ""))
    if url.startswith("file:"):
        path = unquote(urlsplit(url).path)
        return path if Path(path).exists() else ""
    version = told.get("vcs_info", {})
    return (
        f"{version['vcs']}+{url}@{version.get('requested_revision') or version['commit_id']}"
        if version
        else url
    )


def need_local(what: str) -> None:
    """Raise MissingPackage where a package is missing that running models on this machine takes."""
    if missing := [name for package, name in LOCAL.items() if find_spec(package) is None]:
        raise MissingPackage(
            f"{what}: models that run on this machine need {', '.join(missing)}, not installed "
            "here. Install with: "
            f"{install('local')}"
        )


def package_folder(name: str, package: str, distribution: str) -> Path:
    """Return the folder of the package that carries a model, without importing it: its own imports
    are not installed.

    Raises MissingPackage.
    """
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise MissingPackage(
            f"{name}: the package {distribution} is missing. Install it: "
            f"{install_package(distribution, alone=True)}"
        )
    return Path(spec.submodule_search_locations[0])


def sharing() -> Iterator[tuple[str, str]]:
    """Yield (import name, distribution) of every other installed package with an import name of
    this program.
    """
    of = metadata.packages_distributions()
    for name in OURS:
        for distribution in dict.fromkeys(of.get(name, ())):
            if distribution != DISTRIBUTION:
                yield name, f"{distribution} {metadata.version(distribution)}"
