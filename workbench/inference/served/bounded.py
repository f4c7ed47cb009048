"""The bounds of what comes in from a server: no more than can be held, and never its key.

A reply is read in parts and unpacked as it comes. One beyond the limit ends the call with its
reason. A server that sends the key back, in an answer, an error or the name of a version, has it
taken out before anything else sees the reply. `secret` says in which forms it is found.
"""

from __future__ import annotations

from typing import Any

from workbench.inference.served.secret import secret_of

MIB = 2**20
MOST = 64 * MIB
"bytes of a reply, unpacked: 50 answers with the logprobs of 2,000 tokens each have about 30 MiB"
MOST_OF_FILE = 2048 * MIB
"bytes of a file of batch results"


class TooLong(Exception):
    """The error of a reply with more bytes than may be held."""

    def __init__(self, most: int) -> None:
        super().__init__(f"the reply has more than {most // MIB:,} MiB")


def bounded_client(openai: Any, key: str | None, **options: Any) -> Any:
    """Return the package's HTTP client, whose replies are bounded and without the key.

    openai : the module, which takes long to import
    """
    secret = secret_of(key)

    class BoundedClient(openai.DefaultAsyncHttpxClient):  # type: ignore[misc]
        async def send(self, request: Any, *, stream: bool = False, **how: Any) -> Any:
            reply = await super().send(request, stream=True, **how)
            if stream:
                return reply
            is_file = request.url.path.endswith("/content")
            try:
                content = await _read(reply, MOST_OF_FILE if is_file else MOST)
            finally:
                await reply.aclose()
            if secret is not None:
                take_out = secret.remove_from_lines if is_file else secret.remove_from_reply
                content = take_out(content)
                # The content is in UTF-8 now, whatever charset the server names.
                if kind := reply.headers.get("content-type"):
                    reply.headers["content-type"] = kind.partition(";")[0]
            packing = (b"content-encoding", b"content-length", b"transfer-encoding")
            return type(reply)(
                reply.status_code,
                headers=[
                    (name, value)
                    for name, value in reply.headers.raw
                    if name.lower() not in packing
                ],
                content=content,
                request=request,
                extensions=reply.extensions,
            )

    return BoundedClient(**options)


async def _read(reply: Any, most: int) -> bytes:
    chunks, size = [], 0
    async for chunk in reply.aiter_bytes():
        size += len(chunk)
        if size > most:
            raise TooLong(most)
        chunks.append(chunk)
    return b"".join(chunks)
