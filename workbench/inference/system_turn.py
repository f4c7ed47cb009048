"""Checks whether a model's chat template writes a system turn, from its file, without loading the model.

Gemma's templates raise an error for a system turn, others leave it out. For a GGUF file, or a template of the hub that
is not in the cache, the answer is known only when the model is loaded, from `ChatTurns.encoding`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NoReturn

from workbench.inference.chat_formats import FILE, SUFFIX, parted
from workbench.inference.embedded import EMBEDDED

FOLDED = "system turn at the beginning of the user turn"
"part of `ModelCard.encoding` if a chat template has no place for a system turn"
EARLIER_FOLDED = "earlier turns at the beginning of the last one"
"part of `ModelCard.encoding` if a chat template writes only the last turn"
CONFIG = "tokenizer_config.json"
MARK = "qqsystemturn"


class _Refused(Exception):
    """Raised by a template that does not accept these turns."""


def writes_system_turn(model: str, chat_format: str = "") -> bool | None:
    """Return whether the chat template of a model writes a system turn; None if unknown before loading."""
    source = _source(parted(chat_format)[0] or model)
    if source is None:
        return None
    return writes(source)


def writes(source: str) -> bool | None:
    """Return whether a chat template writes a system turn; None if it cannot run here.

    Examples
    --------
    >>> writes("{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}")
    True
    >>> writes("{% for m in messages %}{% if m.role == 'user' %}{{ m.content }}{% endif %}{% endfor %}")
    False
    >>> writes("{% if messages[0].role == 'system' %}{{ raise_exception('no system role') }}{% endif %}")
    False
    """
    try:
        from jinja2.sandbox import ImmutableSandboxedEnvironment
    except ImportError:
        return None
    tools = {"extensions": ["jinja2.ext.loopcontrols"], "trim_blocks": True, "lstrip_blocks": True}
    environment: Any = ImmutableSandboxedEnvironment(**tools)
    environment.globals |= {"raise_exception": _refuse, "strftime_now": lambda _: "", "bos_token": "", "eos_token": ""}
    turns = [{"role": "system", "content": MARK}, {"role": "user", "content": "?"}]
    try:
        return MARK in environment.from_string(source).render(messages=turns, add_generation_prompt=True)
    except _Refused:
        return False
    except Exception:  # any error of a template that needs more than is available here
        return None


def _refuse(message: object = "") -> NoReturn:
    raise _Refused(str(message))


def _source(name: str) -> str | None:
    """Return the chat template of a `.jinja` file, a folder, or a model in the hub's cache."""
    path = Path(name).expanduser()
    if name in EMBEDDED or name.partition(":")[0] in ("openai", "scripted"):
        return None
    try:
        if path.suffix == SUFFIX:
            return path.read_text(encoding="utf-8")
        for place in (path / FILE, path / CONFIG) if path.is_dir() else _cached(name):
            if place.is_file() and (found := _read(place)):
                return found
    except (OSError, UnicodeDecodeError, ValueError):
        pass
    return None


def _read(place: Path) -> str | None:
    text = place.read_text(encoding="utf-8")
    if place.suffix == SUFFIX:
        return text
    found = json.loads(text).get("chat_template")
    if isinstance(found, list):  # templates by their names
        found = next((one.get("template") for one in found if one.get("name") == "default"), None)
    return found if isinstance(found, str) else None


def _cached(name: str) -> list[Path]:
    if name.startswith((".", "/", "~")) or name.count("/") > 1:
        return []
    try:
        from huggingface_hub import try_to_load_from_cache
    except ImportError:
        return []
    from workbench.domain.names import parted as revised

    base, revision = revised(name)
    found = [try_to_load_from_cache(base, file, revision=revision or None) for file in (FILE, CONFIG)]
    return [Path(one) for one in found if isinstance(one, str)]


__all__ = ["EARLIER_FOLDED", "FOLDED", "writes", "writes_system_turn"]
