"""Parses a served model's name into its endpoint, and decides which key that endpoint may see.

    openai:gpt-4o-mini                                 the endpoint of $OPENAI_BASE_URL, else the official one
    openai:Qwen/Qwen3-8B@http://gpu7:8000/v1           an endpoint of its own: vLLM, SGLang, transformers serve, …
    openai:Qwen/Qwen3-8B-Base@http://gpu7:8000/v1#completions
                                                       a base model: chats too are sent as text to
                                                       be continued
    openai:Qwen/Qwen3-8B@http://gpu7:8000/v1#tgi       a server that cannot be recognised, with its dialect

Chats go to `/chat/completions`, with `#responses` to `/responses`, and raw prompts to
`/completions`. The ending `#completions` sends both there, and `#tgi,completions` sets both. Keys come only
from the environment, and so do the hosts that may see them: $OPENAI_API_KEY goes to the official
endpoint and to the host of $OPENAI_BASE_URL, $WORKBENCH_ENDPOINT_KEY to the hosts that
$WORKBENCH_ENDPOINT_HOSTS lists. A model's name may come from another person's file or store, so a
host that only a name mentions is asked without a key.
"""  # noqa: E501

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

from workbench.errors import ModelError
from workbench.inference.served.providers import providers

PREFIX = "openai:"
LAUNCHED = "vllm:"
"prefix of a model whose server is started here, see `launched`"
OFFICIAL = "https://api.openai.com/v1"
BASE_URL, API_KEY, ENDPOINT_KEY = "OPENAI_BASE_URL", "OPENAI_API_KEY", "WORKBENCH_ENDPOINT_KEY"
ENDPOINT_HOSTS = "WORKBENCH_ENDPOINT_HOSTS"
PORTS = {"http": 80, "https": 443}
RAW, RESPONSES = "completions", "responses"
EXPLICIT = re.compile(r"@(?=https?://)", re.IGNORECASE)
"model ids may contain `@`, so only one before a URL is a separator"
BARE_HOST = re.compile(r"@[^@]*(:\d+|/|\.|localhost$)|:[^@]*@")
"an `@` followed by a port, a path or a domain without http://, or preceded by a password"
FORM = (
    "write openai:MODEL or openai:MODEL@http://HOST:PORT/v1, with #completions at the end for "
    "a base model"
)


@dataclass(frozen=True, slots=True)
class Address:
    """The endpoint of a served model. It contains no secret."""

    name: str
    "the name as given by the user"
    model: str
    "the server's id of the model"
    url: str
    "the endpoint including its version: `https://api.openai.com/v1`"
    raw: bool
    "whether chats also go to `/completions`"
    key_variable: str
    "the environment variable that may hold this endpoint's key"
    trusted: bool
    "whether the environment allows this host to see that key"
    responses: bool = False
    "whether chats go to `/responses` instead of `/chat/completions`"
    dialect: str = ""
    """key of the provider given in the name

    It is empty if the server is recognised by its own description.
    """

    @property
    def host(self) -> str:
        return (urlsplit(self.url).hostname or "").lower()

    @property
    def port(self) -> int:
        parts = urlsplit(self.url)
        return parts.port or PORTS[parts.scheme]

    @property
    def official(self) -> bool:
        return _is_official(self.host)

    def spoken(self, dialect: str) -> str:
        """Return the name with a kind of server at its end."""
        return f"{self.name}{',' if '#' in self.name else '#'}{dialect}"

    @property
    def is_loopback(self) -> bool:
        """Whether the endpoint is on this machine, so that no proxy is used."""
        if self.host == "localhost":
            return True
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return False


def _is_official(host: str) -> bool:
    return host == "api.openai.com" or host.endswith(".api.openai.com")


def parse_address(name: str, environ: Mapping[str, str]) -> Address:
    """Return the endpoint of a name, without contacting a server.

    Raises ModelError if the name has no model, its endpoint has no http(s)://, its URL contains a
    user, password or query, which must not be stored, or $WORKBENCH_ENDPOINT_HOSTS contains an
    invalid host.
    """
    endpoint_name, separator, mode = name.removeprefix(PREFIX).partition("#")
    modes = mode.split(",") if separator else []
    raw = RAW in modes
    dialects = [part for part in modes if part not in (RAW, RESPONSES)]
    if (
        {RAW, RESPONSES} <= set(modes)
        or len(dialects) > 1
        or len(set(modes)) < len(modes)
        or (dialects and dialects[0] not in known_dialects())
    ):
        raise ModelError(
            f"{_without_password(name)!r}: after # only `completions` or `responses` is known, and "
            f"one kind of server: {', '.join(known_dialects())}; {FORM}"
        )
    model, *explicit = EXPLICIT.split(endpoint_name, maxsplit=1)
    if not model or re.search(r"[\s\x00-\x1f\x7f]", model):
        raise ModelError(
            f"{_without_password(name)!r}: no model id before the endpoint, or one with spaces; "
            f"{FORM}"
        )
    if explicit:
        url, origin = explicit[0], f"the endpoint of {model}"
    else:
        url, origin = environ.get(BASE_URL) or OFFICIAL, f"${BASE_URL}"
    without_key = Address(
        name,
        model,
        checked_url(url, origin),
        raw,
        key_variable=ENDPOINT_KEY,
        trusted=False,
        responses=RESPONSES in modes,
        dialect="".join(dialects),
    )
    address = _with_key(without_key, environ)
    if not explicit and "@" in model and (address.official or BARE_HOST.search(model)):
        base = model.partition("@")[0]
        raise ModelError(
            f"{PREFIX}{base}@…: no http:// or https:// follows the @, so it names no endpoint; "
            f"{FORM}"
        )
    return address


def known_dialects() -> tuple[str, ...]:
    """Return the kinds of servers that may follow the `#` of a name."""
    return tuple(sorted(provider.key for provider in providers()))


def _with_key(address: Address, environ: Mapping[str, str]) -> Address:
    """Return an address with the variable of its key, and whether its host may see that key.

    The environment decides.
    """
    hosts = _named_hosts(environ)
    if address.official or _scheme_host_port(
        checked_url(environ.get(BASE_URL) or OFFICIAL, f"${BASE_URL}")
    ) == _scheme_host_port(address.url):
        return replace(address, key_variable=API_KEY, trusted=True)
    return replace(
        address, trusted=bool({(address.host, None), (address.host, address.port)} & hosts)
    )


def _scheme_host_port(url: str) -> tuple[str, str, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname or "", parts.port or PORTS.get(parts.scheme)


def _named_hosts(environ: Mapping[str, str]) -> set[tuple[str, int | None]]:
    """Return the hosts to which $WORKBENCH_ENDPOINT_KEY may be sent.

    Each comes with its port, or None for any port.

    Raises ModelError for an invalid host.
    """
    hosts: set[tuple[str, int | None]] = set()
    for entry in re.split(r"[,\s]+", environ.get(ENDPOINT_HOSTS, "").strip()):
        if not entry:
            continue
        try:
            parts = urlsplit(f"//{entry}")
            host, port = parts.hostname, parts.port
        except ValueError:
            host = port = None
        if (
            not host
            or parts.path
            or parts.query
            or parts.fragment
            or parts.username is not None
            or "*" in host
        ):
            raise ModelError(
                f"${ENDPOINT_HOSTS} lists {re.sub('.*@', '…@', entry)!r}, which is no host; write "
                "HOST or HOST:PORT, separated by commas: gpu7:8000, llm.example.org"
            )
        hosts.add((host.lower(), port))
    return hosts


def checked_url(url: str, where: str) -> str:
    """Return an endpoint's URL without a trailing slash.

    Raises ModelError, which repeats no secret of the URL.
    """
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname, parts.port
    except ValueError:
        raise ModelError(f"{where} is no URL that can be asked; {FORM}") from None
    if parts.username is not None or parts.password is not None:
        raise ModelError(
            f"{where} holds a user name or password, which would be stored with every answer; "
            f"{_KEYS}"
        )
    if parts.query or parts.fragment:
        raise ModelError(
            f"{where} holds a query, which may be a secret and would be stored with every "
            f"answer; {_KEYS}"
        )
    if (
        parts.scheme.lower() not in ("http", "https")
        or not host
        or re.search(r"[\s\x00-\x1f\x7f]", url.strip())
    ):
        raise ModelError(f"{where} is no http(s) URL with a host; {FORM}")
    if _is_official(host.lower()) and parts.scheme.lower() == "http":
        raise ModelError(
            f"{where}: the official endpoint is asked over https only, or the key could be read "
            "on the way"
        )
    return _joined(parts, host, port)


_KEYS = f"keys are read from ${API_KEY} or ${ENDPOINT_KEY}"


def _joined(parts: SplitResult, host: str, port: int | None) -> str:
    bracketed = f"[{host}]" if ":" in host else host
    with_port = bracketed if port is None else f"{bracketed}:{port}"
    return f"{parts.scheme.lower()}://{with_port}{parts.path.rstrip('/')}"


def _without_password(name: str) -> str:
    """Return a name without a possible password."""
    return re.sub(
        r"//[^/@\s]*@", "//…@", re.sub(r"(@https?:/+).*@", r"\1…@", name, flags=re.IGNORECASE)
    )


def endpoint_key(address: Address, environ: Mapping[str, str]) -> str | None:
    """Return the key for an endpoint, or None if there is none or its host is not listed.

    The key is never stored, logged or shown. Raises ModelError if the official endpoint has none,
    or the key cannot be sent.
    """
    key = environ.get(address.key_variable, "").strip() if address.trusted else ""
    if not key:
        if address.official:
            raise ModelError(
                f"{address.name}: {address.host} wants a key and ${address.key_variable} is not "
                "set. Set it in the environment that starts workbench; it is read from there alone"
            )
        return None
    if not re.fullmatch(r"[\x21-\x7e]+", key):
        raise ModelError(
            f"${address.key_variable} holds spaces, line breaks or letters that no key has; set "
            "it anew"
        )
    return key
