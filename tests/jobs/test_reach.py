"""A model that cannot be had is refused before a job is queued, with what was tried and what to
do.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from stores.core.store import Store
from tests.jobs.faulty_server import FaultyServer
from workbench.domain.designs import Design
from workbench.errors import FieldError, UsageError, WorkbenchError
from workbench.inference.load import check_chat_format_there, check_reachable, load
from workbench.jobs import launch
from workbench.pipeline.design_checks import check_there


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("smolm2", "is no embedded model (smollm2), no folder, and not in the cache of the hub"),
        ("nobody/nothing-1b", "not in the cache of the hub"),
        ("./no-such-folder", "there is no such folder or GGUF file"),
        ("not an id", "no id of the hub, which reads OWNER/NAME"),
        ("openai:gpt-4o-mini", "$OPENAI_API_KEY is not set"),
        ("openai:m@http://127.0.0.1:9/v1", "nothing answers at http://127.0.0.1:9/v1"),
    ],
)
def test_a_model_that_cannot_be_had_is_refused_before_it_is_queued(
    filled: Store, monkeypatch: pytest.MonkeyPatch, name: str, said: str
) -> None:
    for variable in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(variable, raising=False)
    with pytest.raises(WorkbenchError) as found:
        launch.start(filled, Design("small", name, samples=2))
    assert said in str(found.value)
    assert filled.jobs.list() == ()


def test_models_that_are_there_pass(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    check_reachable("smollm2")
    check_reachable("scripted:anything.toml")
    check_reachable(str(tmp_path / "model"))
    check_reachable("nobody/nothing", cluster="auto")
    with FaultyServer() as server:
        check_reachable(server.name)
        assert server.asked == [], "no prompt is asked"


def test_a_hub_that_cannot_be_reached_is_named(
    filled: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")
    for design in (
        Design("small", "no/suchmodel"),
        Design("small", "smollm2", chat_format="no/suchmodel"),
    ):
        with pytest.raises(
            WorkbenchError, match=r"no/suchmodel is no .* which cannot be asked \(ConnectError\)"
        ):
            launch.start(filled, design)
    assert filled.jobs.list() == ()


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("pipe", "a pipe, not"),
        ("link", "a device, not"),
        ("loop", "a link that leads back to itself"),
    ],
)
def test_a_special_file_is_no_model_and_no_chat_format(
    filled: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    Path("link").symlink_to("/dev/zero")
    Path("loop").symlink_to("loop")
    for design in (Design("small", kind), Design("small", "smollm2", chat_format=kind)):
        with pytest.raises(UsageError, match=f"{kind}: {said}"):
            launch.start(filled, design)
    with pytest.raises(UsageError, match=said):
        load(kind)
    check_there(filled, kind)  # it is no word that nobody knows
    assert filled.jobs.list() == ()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "scripted",
            "scripted is no embedded model (smollm2), no folder, and not in the cache of the hub",
        ),
        ("not a name", "no id of the hub, which reads OWNER/NAME"),
        ("missing.jinja", "there is no file missing.jinja"),
        ("./no-such-folder", "there is no file or folder ./no-such-folder"),
        ("{tmp}/empty.jinja", "empty.jinja is empty"),
        ("{tmp}/base", "base has no chat template"),
        ("{tmp}/notes.txt", "neither a .jinja nor a GGUF file"),
    ],
)
def test_a_chat_format_that_cannot_be_had_is_refused_before_it_is_queued(
    filled: Store, tmp_path: Path, name: str, said: str
) -> None:
    (tmp_path / "empty.jinja").write_text(" \n")
    (tmp_path / "notes.txt").write_text("{{ messages }}")
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "tokenizer_config.json").write_text("{}")
    with pytest.raises(FieldError) as found:
        launch.start(
            filled, Design("small", "smollm2", samples=2, chat_format=name.format(tmp=tmp_path))
        )
    assert said in str(found.value)
    assert found.value.label == "chat format"
    assert found.value.flag == "--chat-format"
    assert filled.jobs.list() == ()


def test_chat_formats_that_are_there_pass(tmp_path: Path) -> None:
    (tmp_path / "chat.jinja").write_text("{{ messages }}")
    (tmp_path / "tuned").mkdir()
    (tmp_path / "tuned" / "tokenizer_config.json").write_text('{"chat_template": "{{ messages }}"}')
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "chat_template.jinja").write_text("{{ messages }}")
    for name in ("", "smollm2", "+no-default-system", "smollm2+no-default-system"):
        check_chat_format_there(name, ask_hub=True)
    for name in ("chat.jinja", "tuned", "other", "other+no-default-system"):
        check_chat_format_there(str(tmp_path / name), ask_hub=True)
    check_chat_format_there("missing.jinja", cluster="auto", ask_hub=True)
    check_chat_format_there("somebody/tuned")
