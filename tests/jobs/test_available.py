"""A served model is refused before a job is queued where the endpoint does not have it, and never
because of a list.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.widgets import Input

from stores.core.store import Store
from tests.conftest import instrument, new_store
from tests.jobs.faulty_server import FaultyServer
from tests.tui.conftest import shown, until
from workbench.domain.designs import Design
from workbench.errors import ModelError
from workbench.inference.load import check_reachable
from workbench.inference.served import examine as available
from workbench.inference.served.client import RetryPolicy, served_models_text
from workbench.jobs import launch
from workbench.tui.app import WorkbenchApp

KEY = "sk-very-secret"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultyServer]:
    """A server that lists one model, and is sent a key."""
    monkeypatch.setenv("WORKBENCH_ENDPOINT_KEY", KEY)
    monkeypatch.setenv("WORKBENCH_ENDPOINT_HOSTS", "127.0.0.1")
    with FaultyServer() as running:
        yield running


def refused(name: str) -> str:
    with pytest.raises(ModelError) as found:
        check_reachable(name)
    assert KEY not in str(found.value)
    return str(found.value)


def other(server: FaultyServer) -> str:
    return f"openai:parrot-2@{server.url}"


@pytest.mark.parametrize("fault", ["404", "no such model"])
def test_a_model_that_the_endpoint_does_not_have_is_refused_with_what_it_serves(
    filled: Store, server: FaultyServer, fault: str
) -> None:
    server.fault = lambda _call, _body: fault
    with pytest.raises(ModelError) as found:
        launch.start(filled, Design("small", other(server), samples=2))
    assert filled.jobs.list() == ()
    said = str(found.value)
    assert KEY not in said
    for part in (
        "'parrot-2'" if fault != "404" else "parrot-2@",
        server.url,
        "It serves: parrot-1. Name one of these",
    ):
        assert part in said


def test_one_token_is_asked_of_a_model_that_is_not_listed_and_it_passes_if_it_answers(
    server: FaultyServer,
) -> None:
    check_reachable(other(server))
    assert [call.body["max_tokens"] for call in server.asked] == [1]


def test_an_endpoint_without_a_list_is_asked_for_one_token(server: FaultyServer) -> None:
    server.models = None
    check_reachable(other(server))
    server.fault = lambda _call, _body: "404"
    assert "Look whether the address ends as the server's own does" in refused(other(server))


def test_a_listed_model_elsewhere_is_asked_for_one_token_because_anybody_may_read_the_list(
    server: FaultyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_reachable(server.name)
    assert server.asked == []
    monkeypatch.setattr("workbench.inference.served.address.Address.is_loopback", False)
    check_reachable(server.name)
    assert len(server.asked) == 1
    server.fault = lambda _call, _body: "401"
    assert "refused the key of $WORKBENCH_ENDPOINT_KEY (401)" in refused(server.name)
    for passes in ("429", "500", "wait an hour", "no temperature"):
        server.fault = lambda _call, _body, fault=passes: fault  # type: ignore[misc]
        check_reachable(server.name)


def test_what_says_nothing_about_the_model_passes(server: FaultyServer) -> None:
    for fault in ("429", "wait an hour", "no seed", "new limit", "no temperature"):
        server.fault = lambda _call, _body, fault=fault: fault  # type: ignore[misc]
        check_reachable(other(server))


def test_a_server_that_is_silent_is_named(
    server: FaultyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(available, "QUICK", RetryPolicy(tries=1, long_tries=1, reply_s=0.2))
    server.fault = lambda _call, _body: "hang"
    assert "which it does not list: no whole reply in 0.2 s. It serves: parrot-1." in refused(
        other(server)
    )
    monkeypatch.setattr("workbench.inference.served.client.LIST_S", 0.2)
    server.hangs_when_listed = True
    said = refused(server.name)
    assert (
        "was asked which models it serves: no whole reply in 0.2 s. Look whether the server is well"
        in said
    )


def test_the_names_nearest_to_what_was_asked_come_first_of_thousands() -> None:
    ids = [f"maker/model-{n}" for n in range(3000)] + ["Qwen/Qwen3-8B", "Qwen/Qwen3-32B"]
    said = served_models_text("qwen/qwen3-8b", ids)
    assert said.startswith("It serves: Qwen/Qwen3-8B, Qwen/Qwen3-32B, ")
    assert said.endswith("and 2,992 more")


@pytest.mark.e2e
@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
async def test_the_form_says_the_same_and_starts_once_it_is_mended(
    tmp_path: Path, server: FaultyServer, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch, "spawn", lambda _path, _job: None)
    path = tmp_path / "audit.db"
    with new_store(path) as store:
        store.instruments.add(instrument())
    server.fault = lambda _call, _body: "404"
    app = WorkbenchApp(path, start="jobs")
    async with app.run_test(size=size) as pilot:
        await pilot.press("n", "s")
        await until(pilot, lambda: "72 prompts planned" in shown(app, "#plan"))
        app.screen.query_one("#model", Input).value = other(server)
        await until(
            pilot,
            lambda: "calls" in shown(app, "#plan") and not app.screen.query_one("#start").disabled,
        )
        await pilot.press("f5")
        await until(pilot, lambda: "It serves: parrot-1. Name one of these" in shown(app, "#plan"))
        with Store.open(path) as store:
            assert store.jobs.list() == ()
        server.fault = lambda _call, _body: ""
        await pilot.press("f5")
        await until(pilot, lambda: not app.screen.query("#model"))
    with Store.open(path) as store:
        assert len(store.jobs.list()) == 1
