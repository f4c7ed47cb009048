"""Loads a scripted model by name: `scripted`, a shipped persona, a file, or an instrument's oracle."""

from __future__ import annotations

from pathlib import Path

from workbench.data import shipped_persona, shipped_personas
from workbench.errors import InputError, ModelError, UsageError
from workbench.inference.scripted.ideal import describes_population, load_ideal, load_shipped_ideal
from workbench.inference.scripted.model import ScriptedModel
from workbench.inference.scripted.persona_files import read_persona
from workbench.toml_files import TomlFile


def load_scripted(name: str) -> ScriptedModel:
    """Return the scripted model `scripted`, `scripted:PERSONA`, `scripted:FILE.toml` or `scripted:ideal@INSTRUMENT`.

    Raises ModelError, with every fault, for an invalid file, UnknownName if there is no shipped instrument of that
    name.
    """
    _, _, file = name.partition(":")
    if not file:
        return ScriptedModel(name=name)
    if file.startswith("ideal@"):
        return load_shipped_ideal(file.removeprefix("ideal@"), name)
    path = shipped_persona(file) if file in shipped_personas() else Path(file)
    try:
        read = TomlFile.read(path)
        return load_ideal(path, name) if describes_population(read.table) else ScriptedModel(read_persona(read), name)
    except UsageError as error:
        raise ModelError(f"{name}: {error}") from error
    except InputError as error:
        faults = "\n".join(map(str, error.findings))
        raise ModelError(
            f"{name}: the persona cannot be read; see 'Scripted personas' in data/README.md\n{faults}"
        ) from error
