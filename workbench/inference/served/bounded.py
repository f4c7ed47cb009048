"""What comes in from a server: no more than can be held, and never the key that was sent there.

A reply is read in parts and unpacked as it comes; one beyond the limit ends the call with its reason. A server that
sends the key back, in an answer, an error or the name of a version, as it is, in base64 or as in an address, has it
taken out before anything else sees the reply.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

MIB = 2**20
MOST = 64 * MIB
"bytes of a reply, unpacked: 50 answers with the logprobs of 2,000 tokens each have about 30 MiB"
MOST_OF_FILE = 2048 * MIB
"bytes of a file of batch results"
SHORTEST = 8
"characters of a key that is looked for: a shorter one could be a word of an answer"
HIDDEN = b"[key removed]"


class TooLong(Exception):
    """A reply has more bytes than may be held."""

    def __init__(self, most: int) -> None:
        super().__init__(f"the reply has more than {most // MIB:,} MiB")


def bounded_client(openai: Any, key: str | None, **options: Any) -> Any:
    """Return the package's HTTP client, whose replies are bounded and without the key.

    openai : the module, which takes long to import
    """
    hidden = written_forms(key)

    class BoundedClient(openai.DefaultAsyncHttpxClient):  # type: ignore[misc]
        async def send(self, request: Any, *, stream: bool = False, **how: Any) -> Any:
            reply = await super().send(request, stream=True, **how)
            if stream:
                return reply
            most = MOST_OF_FILE if request.url.path.endswith("/content") else MOST
            try:
                content = await _read(reply, most)
            finally:
                await reply.aclose()
            packing = (b"content-encoding", b"content-length", b"transfer-encoding")
            return type(reply)(
                reply.status_code,
                headers=[(name, value) for name, value in reply.headers.raw if name.lower() not in packing],
                content=hidden.sub(HIDDEN, content) if hidden is not None else content,
                request=request,
                extensions=reply.extensions,
            )

    return BoundedClient(**options)


async def _read(reply: Any, most: int) -> bytes:
    parts, size = [], 0
    async for part in reply.aiter_bytes():
        size += len(part)
        if size > most:
            raise TooLong(most)
        parts.append(part)
    return b"".join(parts)


def written_forms(key: str | None) -> re.Pattern[bytes] | None:
    """Return what finds a key in bytes, however a server may write it; None without a key, or for a short one."""
    if key is None or len(key) < SHORTEST:
        return None
    forms = {key, quote(key, safe=""), json.dumps(key)[1:-1], json.dumps(key)[1:-1].replace("/", "\\/"), *_packed(key)}
    return re.compile(b"|".join(re.escape(form.encode()) for form in sorted(forms, key=len, reverse=True)))


def _packed(key: str) -> Iterator[str]:
    """Yield a key in base64, by itself and within a longer text, wherever it begins there."""
    data = key.encode()
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        for before in range(3):
            text = encode(bytes(before) + data).decode().rstrip("=")
            first, last = -(-before * 8 // 6), (before + len(data)) * 8 // 6
            yield text[first:last]
