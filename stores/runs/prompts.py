"""Stored prompts: a context shared by many prompts is stored once."""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from stores.core.texts import restored, text_ids
from workbench.domain.prompts import Message, Probe, Prompt, Template
from workbench.errors import ConflictError


def read_prompt(connection: sqlite3.Connection, probe_id: int) -> Prompt:
    """Return the prompt of a probe."""
    chat, messages, body = connection.execute(_PROMPT, (probe_id,)).fetchone()
    context = [] if body is None else json.loads(restored(body))
    turns = tuple(Message(role, content) for role, content in [*context, *json.loads(messages)])
    return Prompt(turns, bool(chat), len(context))


def wordings_of(
    connection: sqlite3.Connection,
    instrument: str,
    language: str,
    templates: Sequence[Template],
    probes: Sequence[Probe],
) -> dict[tuple[str, str], int]:
    """Return the rowid of the wording for each (ref, variant): that of the newest version, preferring the current one,
    with the texts of all prompts of its statement.
    """
    held: dict[str, dict[int, dict[str, tuple[int, str]]]] = defaultdict(lambda: defaultdict(dict))
    for ref, version, kind, ordinal, rowid, body in connection.execute(
        "select s.ref, s.version, w.kind, w.ordinal, w.id, x.body from wording w "
        "join text x on x.id = w.text_id join statement s on s.id = w.statement_id "
        "join instrument i on i.id = s.instrument_id where i.name = ? and w.language = ? "
        "order by s.current desc, s.version desc",
        (instrument, language),
    ):
        held[ref][version][f"{kind}-{ordinal}" if ordinal else kind] = (rowid, restored(body))
    named = {(t.name, t.inverted): t for t in templates}
    planned: dict[str, list[Probe]] = defaultdict(list)
    for probe in probes:
        planned[probe.statement].append(probe)
    found: dict[tuple[str, str], int] = {}
    for ref, of in planned.items():
        texts = next((texts for texts in held[ref].values() if all(_puts(p, named, texts) for p in of)), None)
        if texts is None:
            raise ConflictError(
                f"{ref} was changed, renamed or taken out while this was planned; nothing was asked. Start or resume "
                "it again: it asks what is there now"
            )
        found |= {(ref, probe.variant): texts[probe.variant][0] for probe in of}
    return found


def _puts(probe: Probe, named: Mapping[tuple[str, bool], Template], texts: Mapping[str, tuple[int, str]]) -> bool:
    """Return whether a prompt has the text of a version."""
    if probe.variant not in texts:
        return False
    template = named[probe.template, probe.inverted]
    rendered = template.render(texts[probe.variant][1], dict(probe.axes).get("model_name", ""))
    prompt = probe.bare or probe.prompt
    return (rendered.messages[-1:] if prompt.context else rendered.messages) == prompt.messages[prompt.context :]


def add_prompts(connection: sqlite3.Connection, prompts: Iterable[Prompt]) -> None:
    """Write new prompts; a context shared by many is written once."""
    prompts = list(prompts)
    contexts: dict[tuple[Message, ...], str] = {}
    for prompt in prompts:
        if prompt.context:
            shared = prompt.messages[: prompt.context]
            if shared not in contexts:
                contexts[shared] = _messages(shared)
    ids = text_ids(connection, contexts.values())
    connection.executemany(
        "insert into prompt (key, chat, messages, context_id) values (?, ?, ?, ?) on conflict (key) do nothing",
        (
            (
                prompt.key,
                prompt.chat,
                _messages(prompt.messages[prompt.context :]),
                ids[contexts[prompt.messages[: prompt.context]]] if prompt.context else None,
            )
            for prompt in prompts
        ),
    )


def _messages(messages: Sequence[Message]) -> str:
    return json.dumps([[m.role, m.content] for m in messages], ensure_ascii=False)


_PROMPT = """
    select p.chat, p.messages, x.body
    from probe b join prompt p on p.id = b.prompt_id left join text x on x.id = p.context_id where b.id = ?
"""
