"""Borrowed chat formats: a base model is asked in the chat format of its tuned relative.

Base models have no chat template; in Questionnaire Modeling they get the same chat syntax as the tuned ones (Haller
et al. 2025, appendix). A template is text in Jinja, which transformers renders in its sandbox.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from workbench.errors import ModelError, UsageError
from workbench.installed import need_local

SUFFIX = ".jinja"
FILE = "chat_template.jinja"
"file of the template in a model's folder"
MARKUP = re.compile(r"<\|?[^<>\s|]+\|?>|\[/?[A-Z_]{3,}\]")
"marks that templates put around turns: `<|im_start|>`, `<start_of_turn>`, `[INST]`"
TRIED = (("user", "qqtryone"), ("assistant", "qqtrytwo"), ("user", "qqtrythree"))
"a chat of several turns, in words that no template contains"
NO_DEFAULT = "+no-default-system"
"after a chat format, or alone for the model's own: the template's default system turn is left empty"


def check_chat_format(model: str, chat_format: str) -> None:
    """Raise UsageError if a chat format (empty: the model's own) has no effect on a model of that name."""
    if not chat_format:
        return
    if model.startswith(("openai:", "vllm:")):
        raise UsageError(
            f"{model}: a chat format ({chat_format}) has no effect here, because the server formats what it is sent; "
            "leave it out"
        )
    if model == "scripted" or model.startswith("scripted:"):
        raise UsageError(f"{model}: a chat format ({chat_format}) has no effect on a scripted model; leave it out")


def parted(chat_format: str) -> tuple[str, bool]:
    """Return the name of the chat template (empty: the model's own), and whether it may add a default system turn.

    Examples
    --------
    >>> parted("smollm2"), parted("+no-default-system"), parted("a/b+no-default-system")
    (('smollm2', True), ('', False), ('a/b', False))
    """
    return chat_format.removesuffix(NO_DEFAULT), not chat_format.endswith(NO_DEFAULT)


def chat_template(chat_format: str) -> str:
    """Return the template of a name: a `.jinja` file, a model's folder, a hub id or `smollm2`.

    Raises ModelError if there is none.
    """
    path = Path(chat_format).expanduser()
    if path.suffix == SUFFIX:
        return _of_file(path)
    if path.is_dir() and (path / FILE).is_file():
        return _of_file(path / FILE)
    return _of_tokenizer(chat_format, path)


def _of_file(path: Path) -> str:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ModelError(f"{path}: the chat template cannot be read ({error})") from error
    if not text.strip():
        raise ModelError(f"{path}: the chat template is empty")
    return text


def _of_tokenizer(name: str, path: Path) -> str:
    need_local(name)
    from transformers import AutoTokenizer

    from workbench.inference.embedded import Source, locate

    source = Source(str(path), None) if path.is_dir() else locate(name)
    try:
        tokenizer: Any = AutoTokenizer.from_pretrained(source.place, trust_remote_code=False, **source.version)
        found: Any = tokenizer.chat_template
    except (OSError, ValueError, KeyError, ImportError) as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise ModelError(
            f"{name}: no chat format could be read. Tried it as an embedded model, a {SUFFIX} file, a folder and a hub "
            f"id; transformers says: {reason}"
        ) from error
    template = found.get("default") if isinstance(found, dict) else found
    if not template:
        raise ModelError(f"{name}: it has no chat template. Name a model that was tuned for chats, or a {SUFFIX} file")
    return str(template)


def give_chat_format(tokenizer: Any, chat_format: str, template: str) -> tuple[str, ...]:
    """Make a tokenizer write chats with the template of a borrowed format; return notes for the user.

    Raises ModelError, naming the format and the fault, if it does not write all turns of a chat.
    """
    tokenizer.chat_template = template
    text = _tried(tokenizer, chat_format)
    said = f"it is asked in the chat format of {chat_format}"
    plain = sorted({mark for mark in MARKUP.findall(text) if not _is_token(tokenizer, mark)})
    if not plain:
        return (said,)
    return (f"{said}; its vocabulary lacks {', '.join(plain)}, which are written as plain characters",)


def _tried(tokenizer: Any, chat_format: str) -> str:
    chat = [{"role": role, "content": content} for role, content in TRIED]
    try:
        text: str = tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
    except Exception as error:  # any error of a template: Jinja's own errors, or those of functions it calls
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise ModelError(
            f"{chat_format}: the chat template cannot be used: {type(error).__name__}: {reason}"
        ) from error
    places = [text.find(content) for _, content in TRIED]
    if -1 in places or places != sorted(places):
        raise ModelError(
            f"{chat_format}: the chat template does not write all turns of a chat in their order, so the model would "
            "not see what it is asked"
        )
    return text


def _is_token(tokenizer: Any, text: str) -> bool:
    return len(tokenizer(text, add_special_tokens=False).input_ids) == 1
