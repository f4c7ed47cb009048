"""Names of served models: which endpoint they stand for, and which key that endpoint may see."""

from __future__ import annotations

import pytest

from workbench.errors import ModelError
from workbench.inference.served.address import endpoint_key, parse_address

OWN = {"OPENAI_BASE_URL": "https://gateway.example/v1/", "OPENAI_API_KEY": "sk-1"}


@pytest.mark.parametrize(
    ("name", "environ", "model", "url", "raw"),
    [
        ("openai:gpt-4o", {}, "gpt-4o", "https://api.openai.com/v1", False),
        ("openai:gpt-4o", OWN, "gpt-4o", "https://gateway.example/v1", False),
        ("openai:ft:gpt-4o:org::id", {}, "ft:gpt-4o:org::id", "https://api.openai.com/v1", False),
        ("openai:a/b@http://gpu7:8000/v1/", OWN, "a/b", "http://gpu7:8000/v1", False),
        ("openai:a@main@http://gpu7/v1", {}, "a@main", "http://gpu7/v1", False),
        ("openai:/models/a@HTTPS://GPU7/V1#completions", {}, "/models/a", "https://gpu7/V1", True),
        ("openai:a@http://[::1]:8000/v1", {}, "a", "http://[::1]:8000/v1", False),
        ("openai:davinci-002#completions", {}, "davinci-002", "https://api.openai.com/v1", True),
    ],
)
def test_a_name_stands_for_a_model_at_an_endpoint(
    name: str, environ: dict[str, str], model: str, url: str, raw: bool
) -> None:
    address = parse_address(name, environ)
    assert (address.name, address.model, address.url, address.raw) == (name, model, url, raw)


@pytest.mark.parametrize(
    ("name", "environ", "said"),
    [
        ("openai:", {}, "no model id"),
        ("openai:@http://gpu7/v1", {}, "no model id"),
        ("openai:two words", {}, "no model id"),
        ("openai:a\x1b[31m@http://gpu7/v1", {}, "no model id"),
        ("openai:a#chat", {}, "only `completions` or `responses` is known"),
        ("openai:a@http://", {}, "no http"),
        ("openai:a@http://host:port/v1", {}, "no URL"),
        ("openai:a@http://gpu7/v1/x y", {}, "no http"),
        ("openai:a@http://user:hunter2@gpu7/v1", {}, "user name or password"),
        ("openai:a@http://hunter2@gpu7/v1", {}, "user name or password"),
        ("openai:a@127.0.0.1:9", {}, "no http:// or https:// follows"),
        (
            "openai:a@u:hunter2@gpu7:80/v1",
            {"OPENAI_BASE_URL": "http://gateway/v1"},
            "no http:// or https:// follows",
        ),
        (
            "openai:a@http://u:hunter2@gpu7/v1#chat",
            {},
            "only `completions` or `responses` is known",
        ),
        ("openai:a@https://gpu7/v1?api-key=hunter2", {}, "holds a query"),
        ("openai:a@http://api.openai.com/v1", {}, "https only"),
        (
            "openai:a",
            {"OPENAI_BASE_URL": "https://u:hunter2@gateway/v1"},
            r"\$OPENAI_BASE_URL holds a user name",
        ),
        ("openai:a", {"OPENAI_BASE_URL": "gateway/v1"}, r"\$OPENAI_BASE_URL is no http"),
    ],
)
def test_names_that_cannot_be_asked_or_stored_are_refused_without_their_secrets(
    name: str, environ: dict[str, str], said: str
) -> None:
    with pytest.raises(ModelError, match=said) as error:
        parse_address(name, environ)
    assert "hunter2" not in str(error.value)
    assert "\x1b" not in str(error.value)


def key_of(name: str, environ: dict[str, str]) -> str | None:
    return endpoint_key(parse_address(name, environ), environ)


def test_a_key_goes_to_the_hosts_that_the_environment_names_and_to_no_other() -> None:
    both = OWN | {"WORKBENCH_ENDPOINT_KEY": "other"}
    assert key_of("openai:a", both) == "sk-1"
    assert key_of("openai:a@http://gpu7/v1", both) is None, "only the name spells this host out"
    assert key_of("openai:a@http://127.0.0.1:8000/v1", both) is None, (
        "a port of this machine may be somebody else's"
    )
    assert key_of("openai:a@https://gateway.example/v1", OWN) == "sk-1"
    assert key_of("openai:a@https://gateway.example/v2", OWN) == "sk-1", "the same host"
    assert key_of("openai:a@http://gateway.example/v1", both) is None, (
        "another port, and nobody encrypts on the way"
    )
    named = both | {"WORKBENCH_ENDPOINT_HOSTS": "gpu7, GPU8:8000\n[::1]:9"}
    assert key_of("openai:a@http://gpu7/v1", named) == "other"
    assert key_of("openai:a@http://gpu7:9000/v1", named) == "other", (
        "a host without a port means all of them"
    )
    assert key_of("openai:a@http://gpu8:8000/v1", named) == "other"
    assert key_of("openai:a@http://gpu8/v1", named) is None
    assert key_of("openai:a@http://[::1]:9/v1", named) == "other"
    assert key_of("openai:a@http://gpu7.evil.example/v1", named) is None
    assert key_of("openai:a@http://evil-gpu7/v1", named) is None
    assert key_of("openai:a", named) == "sk-1", "the other key stays where it belongs"


def test_a_host_that_looks_like_the_official_one_is_not() -> None:
    keys = {"OPENAI_API_KEY": "sk-1", "WORKBENCH_ENDPOINT_KEY": "other"}
    assert key_of("openai:a@https://api.openai.com/v1", keys) == "sk-1"
    assert key_of("openai:a@https://api.openai.com.evil.example/v1", keys) is None
    assert key_of("openai:a@https://xapi.openai.com/v1", keys) is None
    assert not parse_address("openai:a@https://api.openai.com.evil.example/v1", {}).official


@pytest.mark.parametrize(
    "entry", ["http://gpu7:8000/v1", "gpu7/v1", "*.example", "u:hunter2@gpu7", "gpu7:port", ":80"]
)
def test_what_is_no_host_among_the_named_ones_is_said(entry: str) -> None:
    with pytest.raises(
        ModelError, match=r"\$WORKBENCH_ENDPOINT_HOSTS lists .* which is no host"
    ) as error:
        parse_address("openai:a@http://gpu7/v1", {"WORKBENCH_ENDPOINT_HOSTS": f"gpu1, {entry}"})
    assert "hunter2" not in str(error.value)


@pytest.mark.parametrize("key", ["sk 1", "sk-\n1", "sk-ä", "“sk-1”"])
def test_a_key_that_no_header_can_hold_is_refused_and_not_shown(key: str) -> None:
    with pytest.raises(ModelError, match=r"\$OPENAI_API_KEY holds") as error:
        endpoint_key(parse_address("openai:a", {}), {"OPENAI_API_KEY": key})
    assert key not in str(error.value)


def test_this_machine_is_asked_directly() -> None:
    here = ["http://localhost:1/v1", "http://127.0.0.1:1/v1", "http://[::1]/v1"]
    assert all(parse_address(f"openai:a@{url}", {}).is_loopback for url in here)
    assert not parse_address("openai:a@http://10.0.0.1/v1", {}).is_loopback
